//! AMD's assembly language: complete kernels of code object version 5 for LLVM's assembler.
//!
//! [`emit`] takes a kernel whose cross-lane operations are lowered for a `gfx*` profile. There is one file per stage:
//! `interface` (arguments), `reconvergence` (where lanes wait for others), `kept` (results of loops without copies),
//! `select` (instructions), `tidy` (redundant control flow), `combine` (two steps in one instruction), `schedule` (the
//! order in each block), `live` and `registers` (hardware registers), `rotate` (the tests of loops), `shorten`
//! (encodings), `waits` and `hazards` (dependences that the hardware does not enforce), between them `dual` (VOPD
//! pairs), `clauses` (loads that run together), `print`, `descriptor` and `text`, `reflection` (the caller's bindings).
//! `machine` is the form between the stages; `arch`, `mnemonic` and `unit` are tables. Refused, with a message at the
//! place: atomics of less than 32 bits, fused multiply-add of halves before gfx8, and more memory than the hardware
//! has.

pub mod arch;
mod clauses;
mod combine;
mod descriptor;
pub mod dpp;
mod dual;
mod forward;
pub mod hazards;
mod interface;
mod kept;
pub mod live;
pub mod machine;
pub mod mnemonic;
mod pending;
mod print;
mod quiet;
mod reconvergence;
pub mod reflection;
pub mod registers;
mod rotate;
mod schedule;
mod select;
mod shorten;
mod text;
mod tidy;
pub mod unit;
pub mod view;
pub mod waits;

#[cfg(test)]
mod tests;

use crate::backend::written::{Unit, Written};
use crate::backend::{self, Backend, KernelWriter, Made, Options, Writer};
use crate::diagnostic::{Code, Diagnostic};
use crate::kernel::Kernel;
use crate::kernel::lane_rows::LaneRows;
use crate::kernel::tree::Tree;
use crate::kernel::uniform::Uniformity;
use crate::source::SourceMap;
use arch::Arch;
use descriptor::Usage;
use interface::{Interface, Needs};
use kept::Kept;
use machine::File;
use quiet::QuietLoads;
use reconvergence::Reconvergence;
pub use reflection::Reflection;
use registers::{Allocation, Failure, Limits, absorb, allocate, occupancy};
use select::{Selected, Subject, select};
use std::cmp::Reverse;
use std::sync::Arc;

/// The row of the back end.
pub(super) const BACKEND: Backend = Backend {
    units: &[Unit::Vector, Unit::Scalar, Unit::Lds, Unit::Memory, Unit::Control],
    unit: unit_of,
    mnemonic: mnemonic::of,
    writer: Writer::Kernel(KernelWriter { draft, is_shared: false, written }),
};

fn draft(kernel: &Kernel, options: &Options, sources: &SourceMap) -> Made<Arc<dyn backend::Draft>> {
    Ok(Arc::new(emit(kernel, options, sources)?))
}

/// The unit that runs a line.
fn unit_of(line: &str) -> Unit {
    let begins = |names: &[&str]| names.iter().any(|name| line.starts_with(name));
    match line {
        _ if begins(&[".L"]) => Unit::Label,
        _ if begins(&["s_nop", "s_wait", "v_nop"]) => Unit::Wait,
        _ if begins(&["s_branch", "s_cbranch", "s_clause"]) => Unit::Control,
        _ if begins(&["s_"]) => Unit::Scalar,
        _ if begins(&["v_"]) => Unit::Vector,
        _ if begins(&["ds_"]) => Unit::Lds,
        _ => Unit::Memory,
    }
}

/// A kernel and the facts for its caller.
pub type Program = backend::Listed<Reflection>;

/// Vector registers that instructions can name.
const NAMED_VECTORS: u16 = 256;

/// Writes the text of a lowered kernel.
///
/// # Errors
/// Returns one diagnostic for each construct that the target, or crosslane so far, cannot express.
pub fn emit(kernel: &Kernel, options: &Options, sources: &SourceMap) -> Result<Program, Vec<Diagnostic>> {
    with_parts(kernel, options, sources, |parts| Program {
        text: text::write(parts),
        reflection: parts.reflection.clone(),
    })
}

/// The code of a lowered kernel as in the text of its program, with the origin of each line.
///
/// # Errors
/// Like [`emit`].
pub fn written(kernel: &Kernel, options: &Options, sources: &SourceMap) -> Result<Vec<Written>, Vec<Diagnostic>> {
    with_parts(kernel, options, sources, text::written)
}

/// Runs every stage but the last, which is `write`.
fn with_parts<T>(
    kernel: &Kernel,
    options: &Options,
    sources: &SourceMap,
    write: impl FnOnce(&text::Parts) -> T,
) -> Result<T, Vec<Diagnostic>> {
    let Some(arch) = Arch::of(&options.profile) else {
        let message = format!("the profile {} names no processor and wave size that are known", options.profile.name);
        return Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message)]);
    };
    let tree = Tree::new(kernel);
    let uniformity = Uniformity::new(kernel, arch.wave);
    let frames = Reconvergence::of(kernel, &tree, &uniformity);
    let interface = Interface::of(kernel, &tree, &arch)?;
    let subject = Subject {
        kernel,
        tree: &tree,
        uniformity: &uniformity,
        reconvergence: &frames,
        rows: &LaneRows::new(kernel, arch.wave),
        quiet: &QuietLoads::of(kernel, &tree),
        kept: &Kept::of(kernel, &tree, &uniformity, &frames),
        interface: &interface,
        arch,
    };
    let (selected, allocation) = place(subject)?;
    let usage = usage(&arch, &selected.needs, &allocation);
    let symbol = text::symbol(&kernel.name);
    let reflection = Reflection::of(kernel, &symbol, &arch, &interface, &usage);
    Ok(write(&text::Parts {
        arch,
        options,
        sources,
        interface: &interface,
        selected: &selected,
        usage: &usage,
        reflection: &reflection,
    }))
}

/// Walks over the instructions and registers of a function after selection, except passes that count their own steps.
const PASSES: usize = 20;

/// Selects instructions and allocates registers; repeats this with scratch memory set up if there are not enough
/// registers.
fn place(subject: Subject<'_>) -> Result<(Selected, Allocation), Vec<Diagnostic>> {
    let limits = Limits::new(&subject.arch, subject.kernel.invocations());
    let mut failure = Failure::NeedsScratch;
    for spills in [false, true] {
        let mut selected = select(subject, spills)?;
        let insts: usize = selected.function.blocks.iter().map(|block| block.insts.len()).sum();
        crate::limits::spend(PASSES * (insts + selected.function.registers.len()));
        tidy::tidy(&mut selected.function);
        combine::combine(&mut selected.function, &subject.arch);
        let mut limits = limits;
        if selected.needs.shared_vector {
            limits.vectors = limits.vectors.min(NAMED_VECTORS - descriptor::SHARED_GRANULE);
        }
        match arrange(&mut selected, &subject.arch, &limits) {
            Ok(allocation) => {
                // Copies that became nothing leave empty blocks.
                tidy::tidy(&mut selected.function);
                if rotate::rotate(&mut selected.function) {
                    tidy::tidy(&mut selected.function);
                }
                shorten::shorten(&mut selected.function, &subject.arch);
                waits::insert(&mut selected.function, &subject.arch);
                dual::pair(&mut selected.function, &subject.arch);
                hazards::mend(&mut selected.function, &subject.arch);
                clauses::mark(&mut selected.function, &subject.arch);
                return Ok((selected, allocation));
            }
            Err(why) => failure = why,
        }
    }
    let file = match failure {
        Failure::Full(File::Vector) => "vector",
        _ => "scalar",
    };
    let message = format!("the shader needs more {file} registers at once than {} has", subject.arch.processor.name);
    Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message)])
}

/// Registers that the allocator may need in addition to the live ones, because rows must be consecutive. If one number
/// is too small, the next is tried.
const SLACKS: [u16; 3] = [2, 8, 24];

/// Orders the instructions and allocates registers. The source order stays if another one would spill more values or
/// reduce occupancy.
fn arrange(selected: &mut Selected, arch: &Arch, limits: &Limits) -> Result<Allocation, Failure> {
    absorb(&mut selected.function);
    let shared_vectors = if selected.needs.shared_vector { descriptor::SHARED_GRANULE } else { 0 };
    // The fewer values are spilled and the more waves run, the better.
    let price = |found: &Result<Allocation, Failure>| {
        let allocation = found.as_ref().ok()?;
        let spilled = allocation.spilled_vectors + allocation.spilled_scalars;
        Some((spilled, Reverse(usage(arch, &selected.needs, allocation).occupancy)))
    };
    let mut last = None;
    for slack in SLACKS {
        let function = &selected.function;
        let Some(mut scheduled) = schedule::schedule(function, arch, limits, shared_vectors, slack) else { break };
        let found = allocate(&mut scheduled.function, arch, limits);
        if price(&found).is_some_and(|own| own <= (0, Reverse(scheduled.waves.into()))) {
            selected.function = scheduled.function;
            return found;
        }
        last = Some((scheduled.function, found));
    }
    let other = allocate(&mut selected.function, arch, limits);
    let is_better = |found: &Result<Allocation, Failure>| {
        price(found).is_some_and(|own| price(&other).is_none_or(|other| own <= other))
    };
    match last.filter(|(_, found)| is_better(found)) {
        Some((function, found)) => {
            selected.function = function;
            found
        }
        None => other,
    }
}

/// The registers of the kernel: at least the ones that the hardware fills. Shared vector registers follow the others,
/// which therefore end at a multiple of the allocation granule.
fn usage(arch: &Arch, needs: &Needs, allocation: &Allocation) -> Usage {
    let shared_vectors = if needs.shared_vector { descriptor::SHARED_GRANULE } else { 0 };
    let vectors = allocation.vectors.max(1).next_multiple_of(shared_vectors.max(1));
    let scalars = allocation.scalars.max(needs.filled_scalars as u16);
    Usage {
        vectors,
        scalars,
        shared_vectors,
        scratch_bytes: allocation.scratch_bytes,
        spilled: [allocation.spilled_vectors, allocation.spilled_scalars],
        occupancy: occupancy(arch, vectors + shared_vectors, scalars).into(),
    }
}
