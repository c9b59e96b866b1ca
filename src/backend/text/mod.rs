//! Shading languages that naga writes as targets: WGSL, MSL.
//!
//! A module becomes naga's form, and naga's writer makes the text. Cross-lane operations are planned for the language.
//! Lane operations that naga's form lacks are calls of functions without a body, which [`finish`] replaces in the text by
//! the language's own; so are the marks where the lines of an operation begin and end.
//! One file per subject: `types`, `constants`, `globals`, `entry` (stage inputs and outputs), `function` (bodies),
//! `control`, `memory`, `math`, `image`, `lane`, `sizes` (of arrays), `slots` (numbers of resources),
//! `uniform` (divergent control flow), `msl`. Languages are rows in `language`.

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
mod msl;
mod reflection;
mod sizes;
mod slots;
mod translator;
mod types;
mod uniform;

use super::written::{Code as WrittenCode, Unit};
use super::{Artifact, Backend, Form, Made, ModuleWriter, Options, Writer};
use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::ir::{Module, Space};
use crate::profile::Profile;
use crate::source::{SourceMap, Span};
use language::{Asked, Language};
use translator::Translator;

/// The row of WGSL.
pub(super) const WGSL: Backend = backend(|line| language::WGSL.unit(line));

/// The row of MSL.
pub(super) const MSL: Backend = backend(|line| msl::MSL.unit(line));

/// The row of a language with the unit that runs a line.
const fn backend(unit: fn(&str) -> Unit) -> Backend {
    Backend {
        units: &[Unit::Subgroup, Unit::Arithmetic, Unit::Control],
        unit,
        mnemonic: |_| None,
        writer: Writer::Module(ModuleWriter { write, written, losses }),
    }
}

fn losses(module: &Module, profile: &Profile) -> Vec<Diagnostic> {
    super::losses::losses(module, profile, Language::of(profile.target).kept)
}

fn write(module: &Module, form: Form, options: &Options, _: &SourceMap) -> Made<Artifact> {
    let module = &*options.places.applied(module, options.profile.target);
    let shader = Shader::new(module, options)?;
    Ok(Artifact::Text(match form {
        Form::Binary | Form::Text => shader.text(),
        Form::Reflection => (shader.language.reflection)(&shader, module, options)?,
    }))
}

fn written(module: &Module, options: &Options, _: &SourceMap) -> Made<WrittenCode> {
    let module = options.places.applied(module, options.profile.target);
    Ok(Shader::new(&module, options)?.code())
}

/// The text of a module as naga writes it, and what is said in it by calls.
struct Shader {
    language: &'static Language,
    text: String,
    notes: finish::Notes,
    samplers: Vec<reflection::Sampler>,
    /// The numbers of resources, where each kind has its own.
    slots: Vec<slots::Slot>,
    /// Buffers with arrays of a size that only the run knows.
    sized: Vec<String>,
}

impl Shader {
    /// # Errors
    /// One diagnostic for each construct that the language, or crosslane so far, cannot express.
    fn new(module: &Module, options: &Options) -> Made<Shader> {
        let mut translator = Translator::new(module, options);
        translator.run();
        let samplers = translator.samplers();
        let Translator { out, mut notes, sizes, macros, diagnostics, .. } = translator;
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let language = Language::of(options.profile.target);
        let name = options.profile.target.row().language;
        let (slots, sized) = ((language.slots)(&out, &options.places), msl::sized(&out));
        let wrong = slots::check(&slots, language, name, module.entry_points.len() == 1);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let zeroes_shared =
            module.globals.iter().any(|(_, global)| global.space == Space::Workgroup && global.init.is_some());
        let asked = Asked { profile: &options.profile, zeroes_shared, slots: &slots, macros: &macros };
        let (text, parted) = finish::to_text(out, language, &asked).map_err(|refusal| {
            let message = format!("{}: {}", cannot_write("this shader", name), refusal.why);
            let entry = module.entry_points.first().map(|entry| module.functions[entry.function].span);
            let span = if refusal.span.is_none() { entry.unwrap_or(Span::NONE) } else { refusal.span };
            vec![Diagnostic::error(Code::NOT_SUPPORTED, message).at(span, "")]
        })?;
        if let Some(span) = parted.barrier {
            return Err(vec![parted_barrier(name, span)]);
        }
        notes.needs.parted_derivatives = parted.derivatives;
        Ok(Shader { language, text: sizes.put(text, module, language), notes, samplers, slots, sized })
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
