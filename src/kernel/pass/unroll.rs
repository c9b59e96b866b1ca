//! Unrolls loops with a known trip count, so that values that depend on the iteration become constants: a shuffle by
//! `i ^ k` in a loop over `k` is a fixed permutation in each iteration.
//!
//! The trip count is found by running the loop on its constants. Early exits of some lanes stay: each iteration is a
//! scope that `Continue` leaves, inside a scope that `Exit` leaves.
//!
//! [`run_partly`] partially unrolls a small loop with more iterations, so that its exit condition is tested once for
//! several of them: if the trip count is constant, or if an index grows up to a limit. [`counted`] gives the trip count
//! to back ends that have hardware loops.

mod stride;
mod trial;
mod write;

use crate::diagnostic::{Code, Diagnostic};
use crate::ir::InstFlags;
use crate::kernel::lower::INSTRUCTION_LIMIT;
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, InstId, Kernel, MemoryAccess, MemorySpace, Op, Value};
use crate::profile::LoopCopies;
use crate::source::SourceMap;
use rustc_hash::FxHashSet;
use std::fmt;
pub use trial::Count;
use trial::{Miss, count, decided, rounds};
use write::Writer;

/// Maximum number of iterations to unroll.
const ROUNDS: usize = 64;

/// The limit for a loop with cross-lane operations that lanes may leave early: each iteration is nested in an arm of
/// the previous one, and lanes can reconverge from a limited number of arms.
const ROUNDS_LEFT_EARLY: usize = 4;

/// Limit of the instructions of an unrolled loop.
const SIZE: usize = 512;

/// The limit for the loops that benefit most: loops with cross-lane operations and, if no later compiler unrolls, loops
/// whose iterations index private arrays, which then become values.
const SIZE_IF_WORTH_IT: usize = 2048;

/// The limit for a loop with an unroll attribute, and for its trip count.
const SIZE_IF_ASKED: usize = 16384;
const ROUNDS_IF_ASKED: usize = 1024;

/// Rounds of a loop that is counted, and instructions looked at to count them.
const ROUNDS_COUNTED: usize = 4096;
const STEPS_COUNTED: usize = 16384;

/// Minimum number of copies of the body of a loop with more iterations.
const LEAST_COPIES: usize = 4;

/// Unroll factor of a loop over an index with a limit.
const ROUNDS_AT_ONCE: u32 = 4;

/// Unrolls loops, inner ones first, and `further` if that turns arrays into values. Returns true if any were unrolled.
pub fn run(kernel: &mut Kernel, further: bool) -> bool {
    let mut changed = false;
    for inst in loops(kernel).into_iter().rev() {
        changed |= unroll(kernel, inst, further);
    }
    changed
}

/// A warning for each remaining loop with an unroll attribute, at the first line of the loop.
pub fn refused(kernel: &Kernel, sources: &SourceMap) -> Vec<Diagnostic> {
    let is_asked = |flags: InstFlags| flags.contains(InstFlags::UNROLL);
    if !kernel.insts.iter().any(|(_, inst)| is_asked(inst.flags)) {
        return Vec::new();
    }
    let asked = loops(kernel).into_iter().filter(|inst| is_asked(kernel.insts[*inst].flags));
    let warning = |inst| {
        let why = rounds_of(kernel, inst, false).err()?;
        let warning = Diagnostic::warning(Code::NOT_UNROLLED, "`[[unroll]]` has no effect on this loop");
        let warning = warning.at(sources.first_line(kernel.insts[inst].span), why.to_string());
        Some(warning.help("give the loop a smaller trip count that constants determine, or remove `[[unroll]]`"))
    };
    let mut warnings: Vec<Diagnostic> = asked.filter_map(warning).collect();
    warnings.sort_by_key(Diagnostic::span);
    warnings.dedup_by_key(|warning| warning.span());
    warnings
}

/// The loops of a kernel, outer ones first.
fn loops(kernel: &Kernel) -> Vec<InstId> {
    let is_loop = |inst: &InstId| matches!(kernel.insts[*inst].op, Op::Loop { .. });
    Tree::new(kernel).insts(kernel).into_iter().filter(is_loop).collect()
}

fn unroll(kernel: &mut Kernel, inst: InstId, further: bool) -> bool {
    if kernel.insts[inst].flags.contains(InstFlags::DONT_UNROLL) {
        return false;
    }
    let Ok(rounds) = rounds_of(kernel, inst, further) else { return false };
    Writer::of(kernel, inst).is_some_and(|writer| writer.unroll(rounds))
}

/// Repeats the bodies of inner loops. Returns true if there were some.
pub fn run_partly(kernel: &mut Kernel, limits: LoopCopies) -> bool {
    loops(kernel).into_iter().fold(false, |changed, inst| repeat(kernel, inst, limits) | changed)
}

/// Partially unrolls a loop if its exit condition is constant in every iteration, or if an index ends it. A loop with
/// `[[dont_unroll]]` stays as it is.
fn repeat(kernel: &mut Kernel, inst: InstId, limits: LoopCopies) -> bool {
    let (Op::Loop { body, continuing }, flags) = (kernel.insts[inst].op, kernel.insts[inst].flags) else {
        return false;
    };
    let Some(copies) = size(kernel, body, continuing, false).ok().and_then(|size| copies(size, limits)) else {
        return false;
    };
    if flags.contains(InstFlags::DONT_UNROLL) {
        return false;
    }
    // A loop with an unroll attribute stays a loop if unrolling was refused.
    let decided = match flags.contains(InstFlags::UNROLL) {
        true => None,
        false => decided(kernel, inst, copies, ROUNDS_COUNTED, STEPS_COUNTED),
    };
    let stride = if decided.is_none() { stride::stride(kernel, inst) } else { None };
    match (decided, stride, Writer::of(kernel, inst)) {
        (Some(decided), _, Some(writer)) => writer.repeat(copies, &decided),
        (None, Some(stride), Some(writer)) => writer.stride(ROUNDS_AT_ONCE, &stride),
        _ => false,
    }
}

/// The unroll factor of an inner loop, a power of two; `None` if it is too large.
fn copies(size: Size, limits: LoopCopies) -> Option<usize> {
    let copies = (limits.insts / size.insts.max(1)).checked_ilog2().map(|log| limits.most.min(1 << log))?;
    (copies >= LEAST_COPIES && !size.has_loops).then_some(copies)
}

/// The trip count of a loop without nested loops, if constants determine it exactly.
pub fn counted(kernel: &Kernel, inst: InstId) -> Option<Count> {
    let Op::Loop { body, continuing } = kernel.insts[inst].op else { return None };
    let is_inner = size(kernel, body, continuing, true).is_ok_and(|size| !size.has_loops);
    is_inner.then(|| count(kernel, inst, ROUNDS_COUNTED, STEPS_COUNTED)).flatten()
}

/// Why a loop is not unrolled.
enum Refusal {
    /// Its trip count is not constant, or too large.
    Uncounted(usize),
    LeftEarly,
    TooLarge(usize),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Uncounted(most) => write!(f, "constants do not tell that it has at most {most} iterations"),
            Refusal::LeftEarly => write!(
                f,
                "it has cross-lane operations and more than {ROUNDS_LEFT_EARLY} iterations, and lanes may leave it early"
            ),
            Refusal::TooLarge(most) => write!(f, "it would become more than {most} instructions"),
        }
    }
}

/// The trip count of a loop that can be unrolled.
fn rounds_of(kernel: &Kernel, inst: InstId, further: bool) -> Result<usize, Refusal> {
    let Op::Loop { body, continuing } = kernel.insts[inst].op else { return Err(Refusal::Uncounted(0)) };
    let is_asked = kernel.insts[inst].flags.contains(InstFlags::UNROLL);
    let Size { insts, mut limit, has_lanes, .. } = size(kernel, body, continuing, is_asked)?;
    if further && chooses_parts(kernel, [body, continuing]) {
        limit = limit.max(SIZE_IF_WORTH_IT);
    }
    let most = if is_asked { ROUNDS_IF_ASKED } else { ROUNDS };
    let rounds = rounds(kernel, inst, limit, most).map_err(|miss| match miss {
        Miss::Uncounted => Refusal::Uncounted(most),
        Miss::TooLong => Refusal::TooLarge(limit),
    })?;
    if has_lanes && rounds > ROUNDS_LEFT_EARLY && is_left_early(kernel, inst, [body, continuing]) {
        return Err(Refusal::LeftEarly);
    }
    let is_small = rounds * insts <= limit && kernel.insts.len() + rounds * insts <= INSTRUCTION_LIMIT;
    if is_small { Ok(rounds) } else { Err(Refusal::TooLarge(limit)) }
}

/// Returns true if a loop has more than one exit, so that some iterations may not run.
fn is_left_early(kernel: &Kernel, inst: InstId, blocks: [BlockId; 2]) -> bool {
    let mut ways = 0;
    let mut open = blocks.to_vec();
    while let Some(block) = open.pop() {
        for inner in &kernel.blocks[block].insts {
            ways += u32::from(match kernel.insts[*inner].op {
                Op::Exit(of) => of == inst,
                Op::Repeat if block == blocks[1] => kernel.as_constant(kernel.args(*inner)[0]) != Some(0),
                Op::Return => true,
                _ => false,
            });
            open.extend(kernel.inner_blocks(*inner));
        }
    }
    ways > 1
}

/// How large a loop is, and how large it may become.
struct Size {
    insts: usize,
    limit: usize,
    has_lanes: bool,
    has_loops: bool,
}

/// The size of a loop.
///
/// # Errors
/// Returns an error if the loop is too large to be unrolled at all.
fn size(kernel: &Kernel, body: BlockId, continuing: BlockId, is_asked: bool) -> Result<Size, Refusal> {
    let (limit, most) = if is_asked { (SIZE_IF_ASKED, SIZE_IF_ASKED) } else { (SIZE, SIZE_IF_WORTH_IT) };
    let mut size = Size { insts: 0, limit, has_lanes: false, has_loops: false };
    let mut open = vec![body, continuing];
    while let Some(block) = open.pop() {
        let insts = &kernel.blocks[block].insts;
        size.insts += insts.len();
        if size.insts > most {
            return Err(Refusal::TooLarge(most));
        }
        for inst in insts {
            match kernel.insts[*inst].op {
                Op::Lane { .. } => (size.limit, size.has_lanes) = (most, true),
                Op::Loop { .. } => size.has_loops = true,
                _ => {}
            }
            open.extend(kernel.inner_blocks(*inst));
        }
    }
    Ok(size)
}

/// Returns true if the address of a private memory access depends on the values that a loop carries.
fn chooses_parts(kernel: &Kernel, [body, continuing]: [BlockId; 2]) -> bool {
    if kernel.private.is_empty() {
        return false;
    }
    let mut carried: FxHashSet<Value> = kernel.blocks[body].params.iter().copied().collect();
    // In text order.
    let mut open = vec![continuing, body];
    while let Some(block) = open.pop() {
        for inst in &kernel.blocks[block].insts {
            let (op, args) = (kernel.insts[*inst].op, kernel.args(*inst));
            match op {
                Op::Load(MemoryAccess { space: MemorySpace::Private(_), .. })
                | Op::Store(MemoryAccess { space: MemorySpace::Private(_), .. })
                    if carried.contains(&args[0]) =>
                {
                    return true;
                }
                op if op.is_pure() && args.iter().any(|arg| carried.contains(arg)) => {
                    carried.extend(kernel.results(*inst));
                }
                _ => {}
            }
        }
        let inner = kernel.blocks[block].insts.iter().flat_map(|inst| kernel.inner_blocks(*inst));
        let first = open.len();
        open.extend(inner);
        open[first..].reverse();
    }
    false
}
