//! NVIDIA's assembly: complete compute, vertex and fragment programs of NV_gpu_program5 that OpenGL loads.
//!
//! [`emit`] takes a kernel whose cross-lane operations are lowered for an `nv-*` profile. There is one file per stage:
//! `interface` (bindings), `converge` and `votes` (reconvergence), `exits` (shape of control flow), `select`
//! (instructions), `trim` (instructions without effect), `order` (of instructions), `live` and `registers` (variables),
//! `print` (text), `reflection` (the caller's bindings, as JSON). Refused, with a message at the place: physical
//! addresses, atomics that the hardware lacks, and more buffers or memory than NVIDIA's drivers offer.

mod converge;
mod exits;
mod interface;
mod live;
mod machine;
pub mod mnemonic;
mod order;
mod print;
pub mod reflection;
mod registers;
mod select;
mod trim;
mod votes;

#[cfg(test)]
mod tests;

use crate::backend::written::{Unit, Written};
use crate::backend::{self, Backend, KernelWriter, Made, Options, Writer};
use crate::diagnostic::{Code, Diagnostic};
use crate::kernel::Kernel;
use crate::kernel::tree::Tree;
use crate::limits;
use crate::profile::Profile;
use crate::source::SourceMap;
use interface::Interface;
pub use reflection::Reflection;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The row of the back end.
pub(super) const BACKEND: Backend = Backend {
    units: &[Unit::Shuffle, Unit::Vote, Unit::Arithmetic, Unit::Control],
    unit,
    mnemonic: mnemonic::of,
    writer: Writer::Kernel(KernelWriter { draft, is_shared: true, written }),
};

fn draft(kernel: &Kernel, options: &Options, sources: &SourceMap) -> Made<Arc<dyn backend::Draft>> {
    Ok(Arc::new(Draft::of(kernel, options, sources)?))
}

impl backend::Draft for Draft {
    fn text(&self, profile: &Profile) -> String {
        self.text(profile)
    }

    fn reflection(&self, interface: &backend::reflection::Interface) -> String {
        backend::reflection::json(interface, &self.reflection)
    }
}

/// The unit that runs a line.
fn unit(line: &str) -> Unit {
    let begins = |names: &[&str]| names.iter().any(|name| line.starts_with(name));
    match line {
        _ if begins(&["SHF", "QSWZ"]) => Unit::Shuffle,
        _ if begins(&["TG"]) => Unit::Vote,
        _ if begins(&["IF ", "ELSE", "ENDIF", "REP", "ENDREP", "BRK"]) => Unit::Control,
        _ => Unit::Arithmetic,
    }
}

/// A program and the facts for its caller.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Program {
    pub text: String,
    pub reflection: Reflection,
}

/// Limit of a program's variables, which every implementation of NV_gpu_program4 supports.
const VARIABLE_LIMIT: u32 = 4096;

/// Returns true if the program accesses private arrays: most of them have been promoted to registers.
fn uses_private(lines: &[machine::Line]) -> bool {
    lines.iter().any(|line| match line {
        machine::Line::Inst(inst) => inst.arrays().any(|place| place.array == select::private::PRIVATE),
        _ => false,
    })
}

/// Writes the program of a lowered kernel.
///
/// # Errors
/// Returns one diagnostic for each construct that the target, or crosslane so far, cannot express.
pub fn emit(kernel: &Kernel, options: &Options, sources: &SourceMap) -> Result<Program, Vec<Diagnostic>> {
    let draft = Draft::of(kernel, options, sources)?;
    Ok(Program { text: draft.text(&options.profile), reflection: draft.reflection })
}

/// A program without a profile's name: profiles with an equal kernel share it.
#[derive(Debug)]
pub struct Draft {
    /// Its first line.
    header: &'static str,
    /// The words after the profile's name.
    rest: String,
    pub reflection: Reflection,
}

impl Draft {
    /// The program of a lowered kernel; the profile in the options is not used.
    ///
    /// # Errors
    /// Like [`emit`].
    pub fn of(kernel: &Kernel, options: &Options, sources: &SourceMap) -> Result<Draft, Vec<Diagnostic>> {
        with_program(kernel, options, sources, |program| Draft {
            header: print::header(program.kernel.stage),
            rest: print::print(program),
            reflection: Reflection::of(program.kernel, program.interface),
        })
    }

    /// The text of the program for a profile.
    pub fn text(&self, profile: &Profile) -> String {
        let Draft { header, rest, .. } = self;
        format!("{header}\n{}{rest}", backend::head("#", profile))
    }
}

/// The code of a lowered kernel as in the text of its program, with the origin of each line.
///
/// # Errors
/// Like [`emit`].
pub fn written(kernel: &Kernel, options: &Options, sources: &SourceMap) -> Result<Vec<Written>, Vec<Diagnostic>> {
    with_program(kernel, options, sources, print::written)
}

/// Walks over the lines and registers of a program after selection.
const PASSES: usize = 10;

/// Runs every stage but the last, which is `print`.
fn with_program<T>(
    kernel: &Kernel,
    options: &Options,
    sources: &SourceMap,
    print: impl FnOnce(&print::Program) -> T,
) -> Result<T, Vec<Diagnostic>> {
    let kernel = &*converge::converge(kernel);
    let tree = Tree::new(kernel);
    let interface = Interface::of(kernel, &tree)?;
    let mut selected = select::select(kernel, &tree, &interface, options)?;
    limits::spend(PASSES * (selected.lines.len() + selected.registers.regs.len()));
    trim::trim(&mut selected.lines, selected.registers.regs.len());
    selected.lines.retain(|line| *line != machine::Line::Empty);
    order::order(&mut selected.lines, &selected.registers);
    converge::check_nesting(&selected.lines, &options.profile)?;
    let assignment = registers::assign(&mut selected.lines, &selected.registers);
    trim::trim_arms(&mut selected.lines, selected.registers.regs.len());
    trim::trim_breaks(&mut selected.lines);
    let private = if uses_private(&selected.lines) { kernel.private_bytes.div_ceil(4) } else { 0 };
    if assignment.words.saturating_add(assignment.longs).saturating_add(private) > VARIABLE_LIMIT {
        let message = format!("the shader needs more than the {VARIABLE_LIMIT} variables that a program can have");
        return Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message)]);
    }
    Ok(print(&print::Program {
        kernel,
        interface: &interface,
        options,
        sources,
        lines: &selected.lines,
        registers: &selected.registers,
        assignment: &assignment,
        private,
        needs: &selected.needs,
    }))
}
