//! Unrolls loops whose number of iterations is known, so that values that depend on the iteration become constants: a
//! shuffle by `i ^ k` in a loop over `k` is a fixed permutation in each iteration.
//!
//! The number of iterations is found by running the loop on the constants in it. Early exits of some lanes stay: each
//! iteration is a scope that `Continue` leaves, inside a scope that `Exit` leaves.

mod trial;

use super::copy::Copier;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::InstFlags;
use crate::kernel::lower::INSTRUCTION_LIMIT;
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, InstId, Kernel, Op, Value};
use crate::source::SourceMap;
use std::fmt;
use trial::{Miss, rounds};

/// Rounds that are unrolled at most.
const ROUNDS: usize = 64;

/// The same for a loop with cross-lane operations that lanes may leave early: each round is inside an arm of the one
/// before, and lanes can join from only so many arms.
const ROUNDS_LEFT_EARLY: usize = 4;

/// Instructions that unrolling a loop may make.
const SIZE: usize = 512;

/// The same for a loop with cross-lane operations, which gain most.
const SIZE_WITH_LANES: usize = 2048;

/// The same for a loop whose source asks for it, and the rounds that it may have.
const SIZE_IF_ASKED: usize = 16384;
const ROUNDS_IF_ASKED: usize = 1024;

/// Unrolls loops, inner ones first. Gives whether there were some.
pub fn run(kernel: &mut Kernel) -> bool {
    let mut changed = false;
    for inst in loops(kernel).into_iter().rev() {
        changed |= unroll(kernel, inst);
    }
    changed
}

/// A warning for each loop that is there although its source asks to unroll it; it points to the first line of the loop.
pub fn refused(kernel: &Kernel, sources: &SourceMap) -> Vec<Diagnostic> {
    let is_asked = |flags: InstFlags| flags.contains(InstFlags::UNROLL);
    if !kernel.insts.iter().any(|(_, inst)| is_asked(inst.flags)) {
        return Vec::new();
    }
    let asked = loops(kernel).into_iter().filter(|inst| is_asked(kernel.insts[*inst].flags));
    let warning = |inst| {
        let why = rounds_of(kernel, inst).err()?;
        let warning = Diagnostic::warning(Code::NOT_UNROLLED, "`[[unroll]]` has no effect on this loop");
        Some(warning.at(sources.first_line(kernel.insts[inst].span), why.to_string()))
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

fn unroll(kernel: &mut Kernel, inst: InstId) -> bool {
    if kernel.insts[inst].flags.contains(InstFlags::DONT_UNROLL) {
        return false;
    }
    let Ok(rounds) = rounds_of(kernel, inst) else { return false };
    write(kernel, inst, rounds);
    true
}

/// Why a loop stays one.
enum Refusal {
    /// The constants in it do not tell the number of its rounds, or there are too many.
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

/// The rounds of a loop that can be unrolled.
fn rounds_of(kernel: &Kernel, inst: InstId) -> Result<usize, Refusal> {
    let Op::Loop { body, continuing } = kernel.insts[inst].op else { return Err(Refusal::Uncounted(0)) };
    let is_asked = kernel.insts[inst].flags.contains(InstFlags::UNROLL);
    let Size { insts, limit, has_lanes } = size(kernel, body, continuing, is_asked)?;
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

/// Returns true if a loop has more than one way out, so that not all are taken for the number of rounds.
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
}

/// The size of a loop.
///
/// # Errors
/// If it is too large to be unrolled at all.
fn size(kernel: &Kernel, body: BlockId, continuing: BlockId, is_asked: bool) -> Result<Size, Refusal> {
    let (limit, with_lanes) = if is_asked { (SIZE_IF_ASKED, SIZE_IF_ASKED) } else { (SIZE, SIZE_WITH_LANES) };
    let mut size = Size { insts: 0, limit, has_lanes: false };
    let mut open = vec![body, continuing];
    while let Some(block) = open.pop() {
        let insts = &kernel.blocks[block].insts;
        size.insts += insts.len();
        if size.insts > with_lanes {
            return Err(Refusal::TooLarge(with_lanes));
        }
        for inst in insts {
            if matches!(kernel.insts[*inst].op, Op::Lane { .. }) {
                (size.limit, size.has_lanes) = (with_lanes, true);
            }
            open.extend(kernel.inner_blocks(*inst));
        }
    }
    Ok(size)
}

/// Writes the iterations one after the other. The loop becomes a scope, so that lanes can still leave it.
fn write(kernel: &mut Kernel, inst: InstId, rounds: usize) {
    let Op::Loop { body, continuing } = kernel.insts[inst].op else { return };
    kernel.insts[inst].flags.remove(InstFlags::UNROLL);
    let unrolled = kernel.add_block(&[]);
    let mut params = kernel.args(inst).to_vec();
    for round in 0..rounds {
        let passed = write_body(kernel, inst, body, &params, continuing, unrolled);
        params = write_continuing(kernel, inst, continuing, &passed, unrolled, round + 1 == rounds);
    }
    kernel.insts[inst].op = Op::Scope { body: unrolled };
    kernel.set_args(inst, &[]);
}

/// One round's body as a scope; gives what it passes to the continuing block.
fn write_body(
    kernel: &mut Kernel,
    inst: InstId,
    body: BlockId,
    params: &[Value],
    continuing: BlockId,
    to: BlockId,
) -> Vec<Value> {
    let types: Vec<_> = kernel.blocks[continuing].params.iter().map(|param| kernel.ty(*param)).collect();
    let (flags, span) = (kernel.insts[inst].flags, kernel.insts[inst].span);
    let block = kernel.add_block(&[]);
    let scope = kernel.add_inst(Op::Scope { body: block }, &[], &types, flags, span);
    let mut copier = Copier::default();
    copier.set_all(&kernel.blocks[body].params, params);
    copier.turn(Op::Continue(inst), Op::Exit(scope));
    copier.append(kernel, body, block);
    kernel.blocks[to].insts.push(scope);
    kernel.results(scope).collect()
}

/// Writes the instructions between two rounds, and the end of the last one; returns the parameters of the next round.
fn write_continuing(
    kernel: &mut Kernel,
    inst: InstId,
    continuing: BlockId,
    passed: &[Value],
    to: BlockId,
    is_last: bool,
) -> Vec<Value> {
    let mut copier = Copier::default();
    copier.set_all(&kernel.blocks[continuing].params, passed);
    copier.append(kernel, continuing, to);
    let repeat = kernel.blocks[to].insts.pop().expect("a block ends with its terminator");
    let results = kernel.results(inst).len();
    let args = kernel.args(repeat).to_vec();
    let (params, given) = args[1..].split_at(args.len() - 1 - results);
    let (flags, span) = (kernel.insts[inst].flags, kernel.insts[inst].span);
    if is_last {
        let end = kernel.add_inst(Op::Yield, given, &[], flags, span);
        kernel.blocks[to].insts.push(end);
        return Vec::new();
    }
    if kernel.as_constant(args[0]) != Some(0) {
        let (then, otherwise) = (kernel.add_block(&[]), kernel.add_block(&[]));
        for (block, op, args) in [(then, Op::Exit(inst), given), (otherwise, Op::Yield, &[])] {
            let end = kernel.add_inst(op, args, &[], flags, span);
            kernel.blocks[block].insts.push(end);
        }
        let choice = kernel.add_inst(Op::If { then, otherwise }, &args[..1], &[], flags, span);
        kernel.blocks[to].insts.push(choice);
    }
    params.to_vec()
}
