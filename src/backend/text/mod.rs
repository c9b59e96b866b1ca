//! WGSL as a target, which naga writes.
//!
//! A module becomes naga's form, and naga's writer makes the text. Cross-lane operations are planned for the language.
//! Lane operations that naga's form lacks are calls of functions without a body, which [`finish`] replaces in the text by
//! the language's own; so are the marks where the lines of an operation begin and end.
//! One file per subject: `types`, `constants`, `globals`, `entry` (stage inputs and outputs), `function` (bodies),
//! `control`, `memory`, `math`, `image`, `lane`, `sizes` (of arrays), `uniform` (divergent control flow), `language`.

mod constants;
mod control;
mod entry;
mod finish;
mod function;
mod globals;
mod image;
mod lane;
mod language;
mod math;
mod memory;
mod reflection;
mod sizes;
mod translator;
mod types;
mod uniform;

use super::written::{Code as WrittenCode, Unit};
use super::{Artifact, Backend, Form, Made, ModuleWriter, Options, Writer};
use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::ir::Module;
use crate::profile::Profile;
use crate::source::{SourceMap, Span};
use translator::Translator;

/// The row of WGSL.
pub(super) const WGSL: Backend = Backend {
    units: &[Unit::Subgroup, Unit::Arithmetic, Unit::Control],
    unit: language::unit,
    mnemonic: |_| None,
    writer: Writer::Module(ModuleWriter { write, written, losses }),
};

fn losses(module: &Module, profile: &Profile) -> Vec<Diagnostic> {
    super::losses::losses(module, profile, language::KEPT)
}

fn write(module: &Module, form: Form, options: &Options, _: &SourceMap) -> Made<Artifact> {
    let module = &*options.places.applied(module, options.profile.target);
    let shader = Shader::new(module, options)?;
    Ok(Artifact::Text(match form {
        Form::Binary | Form::Text => shader.text(),
        Form::Reflection => reflection::webgpu(&shader, module, options)?,
    }))
}

fn written(module: &Module, options: &Options, _: &SourceMap) -> Made<WrittenCode> {
    let module = options.places.applied(module, options.profile.target);
    Ok(Shader::new(&module, options)?.code())
}

/// The text of a module as naga writes it, and what is said in it by calls.
struct Shader {
    text: String,
    notes: finish::Notes,
    samplers: Vec<reflection::Sampler>,
}

impl Shader {
    /// # Errors
    /// One diagnostic for each construct that the language, or crosslane so far, cannot express.
    fn new(module: &Module, options: &Options) -> Made<Shader> {
        let mut translator = Translator::new(module, options);
        translator.run();
        let samplers = translator.samplers();
        let Translator { out, mut notes, sizes, diagnostics, .. } = translator;
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let name = options.profile.target.row().language;
        let (text, parted) = finish::to_text(out).map_err(|refusal| {
            let message = format!("{}: {}", cannot_write("this shader", name), refusal.why);
            let entry = module.entry_points.first().map(|entry| module.functions[entry.function].span);
            let span = if refusal.span.is_none() { entry.unwrap_or(Span::NONE) } else { refusal.span };
            vec![Diagnostic::error(Code::NOT_SUPPORTED, message).at(span, "")]
        })?;
        if let Some(span) = parted.barrier {
            return Err(vec![parted_barrier(name, span)]);
        }
        notes.needs.parted_derivatives = parted.derivatives;
        Ok(Shader { text: sizes.put(text, module), notes, samplers })
    }
}

/// The error for a barrier that a part of the workgroup may not reach.
fn parted_barrier(language: &str, span: naga::Span) -> Diagnostic {
    let message = format!("{language} has no barriers where invocations of the workgroup may part");
    let error = Diagnostic::error(Code::NOT_SUPPORTED, message);
    let error = error.at(translator::source_span(span), "some may have gone another way, or have returned");
    error.note(
        "values of memory that invocations write, of private variables and of other lanes may differ to the language",
    )
}
