//! The SPIR-V front end: a module in, `ir` out.
//!
//! `binary` takes the words apart, `module` reads names, decorations and entry points, `types`, `constants` and
//! `variables` what is outside functions, and `body`, with one file per kind of instruction, the functions that the
//! chosen entry points reach. The meaning of opcodes comes from the tables of the writer
//! (`backend/spirv/inverse.rs`). Messages point into a listing of the module, which is the source text.
//!
//! Every id, index and type of an untrusted module is checked where it is used, and the verifier checks the whole.

mod arithmetic;
mod binary;
mod body;
mod composite;
mod constants;
mod control;
mod entry;
mod extended;
mod fault;
mod flow;
mod image;
mod instruction;
mod lane;
mod memory;
mod module;
mod types;
mod variables;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::verify::verify;
use crate::ir::{Module, Stage};
use crate::source::{SourceLanguage, SourceMap};
pub use binary::is_module;
use fault::{Fault, Read};
use module::Reader;

/// The options of a compilation, apart from the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModuleOptions<'a> {
    /// Name of the entry point; `None` selects all of them.
    pub entry: Option<&'a str>,
    /// The stage of the entry points; `None` selects all stages.
    pub stage: Option<Stage>,
}

/// Reads a module, and adds its listing to the sources under its name. Returns `None` if `diagnostics` has errors.
pub fn compile(
    name: &str,
    bytes: &[u8],
    sources: &mut SourceMap,
    options: &ModuleOptions<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Module> {
    sources.language = SourceLanguage::Unknown;
    let Some(words) = binary::words(bytes) else {
        let message = format!("{name} does not begin with the magic number of SPIR-V");
        diagnostics.push(Diagnostic::error(Code::BAD_MODULE, message));
        return None;
    };
    if !bytes.len().is_multiple_of(4) {
        let message = format!("{name} has {} bytes, and the words of SPIR-V have 4 each", bytes.len());
        diagnostics.push(Diagnostic::error(Code::BAD_MODULE, message));
        return None;
    }
    let insns = match binary::instructions(&words) {
        Ok(insns) => insns,
        Err(fault) => {
            diagnostics.push(fault.diagnostic(|_| crate::source::Span::NONE));
            return None;
        }
    };
    let (listing, starts) = binary::listing(&insns);
    let Ok(file) = sources.add(name, listing) else {
        diagnostics.push(Diagnostic::error(Code::TOO_LARGE, "the listing of the module is too large"));
        return None;
    };
    let mut reader = Reader { insns, starts, base: sources.file(file).base, ..Reader::default() };
    match reader.module(options) {
        Ok(module) => checked(module, diagnostics),
        Err(error) => {
            diagnostics.push(*error);
            None
        }
    }
}

/// A fault as a message about the module of a reader.
fn not_read(reader: &Reader<'_>, fault: Fault) -> Box<Diagnostic> {
    Box::new(fault.diagnostic(|line| reader.span(line)))
}

impl Reader<'_> {
    fn module(&mut self, options: &ModuleOptions<'_>) -> Result<Module, Box<Diagnostic>> {
        let mut m = Module::new();
        self.declarations(&mut m).map_err(|fault| not_read(self, *fault))?;
        let chosen = self.choose(options)?;
        let read = chosen.iter().try_for_each(|entry| self.add_entry(&mut m, entry));
        read.and_then(|()| self.bodies(&mut m)).map_err(|fault| not_read(self, *fault))?;
        Ok(m)
    }

    /// Names, decorations, types and constants.
    fn declarations(&mut self, m: &mut Module) -> Read<()> {
        self.survey()?;
        let mut outside = true;
        for index in 0..self.insns.len() {
            let insn = self.insns[index];
            match insn.op {
                rspirv::spirv::Op::Function => outside = false,
                rspirv::spirv::Op::FunctionEnd => outside = true,
                _ if outside => {
                    let _ = self.declare_type(m, &insn)? || self.declare_constant(m, &insn)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The bodies of the declared functions, and of those that they call.
    fn bodies(&mut self, m: &mut Module) -> Read<()> {
        let mut next = 0;
        while let Some(instance) = self.functions.get(next).cloned() {
            self.read_body(m, &instance)?;
            next += 1;
        }
        Ok(())
    }
}

/// The module, if it keeps the rules of `ir`: what the reader has not noticed.
fn checked(module: Module, diagnostics: &mut Diagnostics) -> Option<Module> {
    let Err(errors) = verify(&module) else { return Some(module) };
    for error in errors {
        let message = Diagnostic::error(Code::BAD_MODULE, format!("the module breaks a rule: {}", error.message));
        let has_place = !error.span.is_none();
        diagnostics.push(if has_place { message.at(error.span, "in this instruction") } else { message });
    }
    None
}
