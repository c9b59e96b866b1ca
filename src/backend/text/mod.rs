//! Shading languages that naga writes as targets: WGSL, HLSL, MSL.
//!
//! A module becomes naga's form of it, and naga's writer makes the text. Cross-lane operations are planned for what the
//! language has. Lane operations that naga's form lacks are calls of functions without a body there, and become the
//! language's own in the text ([`finish`]); so do the places where the lines of an operation begin and end.
//! One file a subject: `types`, `constants`, `globals`, `entry` (stage inputs and outputs), `function` (bodies),
//! `control`, `memory`, `math`, `image`, `lane`, `sizes`, `finish` (from naga's text to ours). Languages are rows in
//! `language`.

mod constants;
mod control;
mod entry;
mod finish;
mod function;
mod globals;
mod hlsl;
mod image;
mod lane;
mod language;
mod math;
mod memory;
mod msl;
mod reflection;
mod sizes;
mod translator;
mod types;

use super::written::{Code as WrittenCode, Unit};
use super::{Artifact, Backend, Form, Made, ModuleWriter, Options, Writer};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Inst, InstFlags, Module, Op, Space};
use crate::source::SourceMap;
use language::{Asked, Language};
use translator::Translator;

/// The row of WGSL.
pub(super) const WGSL: Backend = backend(|line| language::WGSL.unit(line));

/// The row of HLSL.
pub(super) const HLSL: Backend = backend(|line| hlsl::HLSL.unit(line));

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

fn write(module: &Module, form: Form, options: &Options, _: &SourceMap) -> Made<Artifact> {
    let shader = Shader::new(module, options)?;
    Ok(Artifact::Text(match form {
        Form::Binary | Form::Text => shader.text(),
        Form::Reflection => (shader.language.reflection)(&shader, module, options)?,
    }))
}

fn written(module: &Module, options: &Options, _: &SourceMap) -> Made<WrittenCode> {
    Ok(Shader::new(module, options)?.code())
}

/// The first operation that is `precise`.
fn losses(module: &Module) -> Vec<Diagnostic> {
    let is_precise =
        |inst: &&Inst| inst.flags.contains(InstFlags::PRECISE) && matches!(inst.op, Op::Binary(..) | Op::Math(..));
    let all = module.functions.iter().flat_map(|(_, f)| f.insts.iter().map(|(_, inst)| inst));
    let warned = all.filter(is_precise).map(|inst| {
        let message = "the language of the target has no `precise`: this may be contracted with other operations";
        Diagnostic::warning(Code::PRECISE_LOST, message).at(inst.span, "")
    });
    warned.take(1).collect()
}

/// The text of a module as naga writes it, and what is said in it by calls.
struct Shader {
    language: &'static Language,
    text: String,
    notes: finish::Notes,
    samplers: Vec<reflection::Sampler>,
    /// The numbers of resources in MSL.
    slots: Vec<msl::Slot>,
    /// Those with arrays of a size that only the run knows.
    sized: Vec<String>,
}

impl Shader {
    /// # Errors
    /// One diagnostic for each construct that the language, or crosslane so far, cannot express.
    fn new(module: &Module, options: &Options) -> Made<Shader> {
        let mut translator = Translator::new(module, options);
        translator.run();
        let samplers = translator.samplers();
        let Translator { out, notes, sizes, macros, diagnostics, .. } = translator;
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let language = Language::of(options.profile.target);
        let (slots, sized) = (msl::slots(&out), msl::sized(&out));
        let zeroes_shared =
            module.globals.iter().any(|(_, global)| global.space == Space::Workgroup && global.init.is_some());
        let asked = Asked { profile: &options.profile, zeroes_shared, macros: &macros };
        match finish::to_text(out, language, &asked) {
            Ok(text) => Ok(Shader { language, text: sizes.put(text, module, language), notes, samplers, slots, sized }),
            Err(why) => {
                let message = format!("{} cannot express this shader: {why}", options.profile.target.row().language);
                Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message)])
            }
        }
    }
}
