//! Files to save.

use crate::answer::Emitted;
use crate::open::{Open, first_error};
use crate::question::Form;
use crosslane::build::kind::stem;
use crosslane::compile::{Compilation, EmitKind, Options, Verdict, compile};
use std::path::Path;

/// The output of a shader for a profile as a file.
pub fn emit(open: &Open, profile: &str, form: Form) -> Result<Emitted, String> {
    let profile = open.profile(profile)?;
    let row = profile.target.row();
    let (emit, ending) = match form {
        Form::Text => (EmitKind::Assembly, row.text_ending),
        Form::Binary => (EmitKind::Binary, row.ending),
        Form::Reflection => (EmitKind::Reflection, ".json"),
    };
    let name = format!("{}.{}{ending}", stem(Path::new(open.input().name)), profile.name);
    let options = Options { emit, ..open.options_for(profile) };
    let Compilation { verdict, diagnostics, .. } = compile(&open.input(), &options, open.files());
    match verdict {
        Verdict::Done(artifact) => Ok(Emitted { name, bytes: artifact.to_bytes() }),
        _ => Err(first_error(diagnostics.iter())),
    }
}
