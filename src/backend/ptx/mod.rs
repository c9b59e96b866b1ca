//! PTX, NVIDIA's virtual assembly language: complete kernels that CUDA's driver loads and `ptxas` assembles.
//!
//! [`emit`] takes a kernel whose cross-lane operations are lowered for a `ptx-*` profile. PTX has unlimited registers,
//! so registers are not allocated. There is one file per stage: `interface` (parameters), `select` (instructions),
//! `pressure` (registers needed), `text` (the file), `reflection` (the caller's arguments); `isa` and `mnemonic` are
//! tables. Refused, with a message at the place: atomics of less than 32 bits, fused multiply-add of halves before
//! sm_53, and more memory than the hardware has.
//!
//! # The lanes of a cross-lane instruction
//!
//! From sm_70 on each lane of a warp has its own program counter, and every `.sync` instruction names the lanes that
//! execute it together. `select::flow` represents the set of lanes that are active in the language as a value:
//!
//! - The kernel starts with the lanes of the warp that the workgroup fills. Wherever [`Uniformity`] proves that either
//!   all lanes of a warp reach a place or none, this is the set.
//! - A divergent `If` takes the ballot of its condition over the current set: one arm gets the ballot, the other the
//!   rest. A divergent `Repeat` takes the ballot of the lanes that stay.
//! - After a construct the set is restored, unless lanes jumped from inside to an outer construct. If only one arm
//!   continues, the set is that arm's. Otherwise all lanes that entered reach the end of the construct, with the number
//!   of their target in a register if they jump. A ballot there selects the lanes that continue; the others jump on.
//!
//! By induction over the constructs, all lanes of a set run the same sequence of instructions that name this set. So
//! each `.sync` instruction is executed by exactly the lanes that it names, and no lane waits for one that never
//! arrives. `activemask`, which guarantees nothing about convergence, is not used. Ballots are emitted only if a
//! cross-lane operation in divergent control flow follows. Before sm_70 the lanes of a warp reconverge where their
//! paths join, and the jumps to the ends of constructs make these the points of reconvergence.
//!
//! [`Uniformity`]: crate::kernel::uniform::Uniformity

mod interface;
mod isa;
mod mnemonic;
mod pressure;
pub mod reflection;
mod select;
mod text;

use crate::backend::written::{Unit, Written};
use crate::backend::{self, Backend, KernelWriter, Made, Options, Writer};
use crate::diagnostic::Diagnostic;
use crate::kernel::Kernel;
use crate::limits;
use crate::source::SourceMap;
use interface::Interface;
use isa::Isa;
pub use reflection::Reflection;
use std::sync::Arc;

/// The row of the back end.
pub(super) const BACKEND: Backend = Backend {
    units: &[Unit::Shuffle, Unit::Vote, Unit::Arithmetic, Unit::Memory, Unit::Control],
    unit,
    mnemonic: mnemonic::of,
    writer: Writer::Kernel(KernelWriter { draft, is_shared: false, written }),
};

fn draft(kernel: &Kernel, options: &Options, sources: &SourceMap) -> Made<Arc<dyn backend::Draft>> {
    Ok(Arc::new(emit(kernel, options, sources)?))
}

/// The unit that runs a line.
fn unit(line: &str) -> Unit {
    let name = line
        .trim_start()
        .split_once(' ')
        .map_or(line, |(first, rest)| if first.starts_with('@') { rest } else { first });
    let begins = |names: &[&str]| names.iter().any(|known| name.starts_with(known));
    match name {
        _ if line.trim_end().ends_with(':') => Unit::Label,
        _ if begins(&["shfl"]) => Unit::Shuffle,
        _ if begins(&["vote", "match", "redux", "bar.warp"]) => Unit::Vote,
        _ if begins(&["bra", "ret", "bar", "nanosleep"]) => Unit::Control,
        _ if begins(&["ld.", "st.", "atom", "red.", "membar"]) => Unit::Memory,
        _ => Unit::Arithmetic,
    }
}

/// A kernel and the facts for its caller.
pub type Program = backend::Listed<Reflection>;

/// Writes the text of a lowered kernel.
///
/// # Errors
/// Returns one diagnostic for each construct that the target, or crosslane so far, cannot express.
pub fn emit(kernel: &Kernel, options: &Options, sources: &SourceMap) -> Result<Program, Vec<Diagnostic>> {
    with_parts(kernel, options, sources, |parts| Program {
        text: text::write(parts),
        reflection: Reflection::of(kernel, parts.interface, parts.isa),
    })
}

/// The code of a lowered kernel as in the text of its program, with the origin of each line.
///
/// # Errors
/// Like [`emit`].
pub fn written(kernel: &Kernel, options: &Options, sources: &SourceMap) -> Result<Vec<Written>, Vec<Diagnostic>> {
    with_parts(kernel, options, sources, |parts| text::written(parts.selected, sources))
}

/// Walks over a kernel in addition to selection.
const WALKS: usize = 6;

/// Runs every stage but the last, which is `write`.
fn with_parts<T>(
    kernel: &Kernel,
    options: &Options,
    sources: &SourceMap,
    write: impl FnOnce(&text::Parts) -> T,
) -> Result<T, Vec<Diagnostic>> {
    // Uniformity, nesting, negations and register pressure are computed before and after selection.
    limits::spend(WALKS * (kernel.insts.len() + kernel.values.len()));
    let isa = Isa::of(&options.profile);
    let interface = Interface::of(kernel)?;
    let selected = select::select(kernel, &interface, isa, options.debug.has_lines())?;
    let workgroups = pressure::workgroups(kernel);
    Ok(write(&text::Parts { kernel, interface: &interface, isa, options, sources, selected: &selected, workgroups }))
}
