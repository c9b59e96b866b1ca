//! Unrolls loops whose number of iterations is known, so that values that depend on the iteration become constants: a
//! shuffle by `i ^ k` in a loop over `k` is a fixed permutation in each iteration.
//!
//! The number of iterations is found by running the loop on the constants in it. Early exits of some lanes stay: each
//! iteration is a scope that `Continue` leaves, inside a scope that `Exit` leaves.

mod trial;

use super::copy::Copier;
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, InstId, Kernel, Op, Value};
use trial::rounds;

/// Rounds that are unrolled at most.
const ROUNDS: usize = 64;

/// The same for a loop with cross-lane operations that lanes may leave early: each round is inside an arm of the one
/// before, and lanes can join from only so many arms.
const ROUNDS_LEFT_EARLY: usize = 4;

/// Instructions that unrolling a loop may make.
const SIZE: usize = 512;

/// The same for a loop with cross-lane operations, which gain most.
const SIZE_WITH_LANES: usize = 2048;

/// Unrolls loops, inner ones first. Gives whether there were some.
pub fn run(kernel: &mut Kernel) -> bool {
    let tree = Tree::new(kernel);
    let is_loop = |inst: &InstId| matches!(kernel.insts[*inst].op, Op::Loop { .. });
    let loops: Vec<InstId> = tree.insts(kernel).into_iter().filter(is_loop).collect();
    let mut changed = false;
    for inst in loops.into_iter().rev() {
        changed |= unroll(kernel, inst);
    }
    changed
}

fn unroll(kernel: &mut Kernel, inst: InstId) -> bool {
    let Op::Loop { body, continuing } = kernel.insts[inst].op else { return false };
    let Some(size) = size(kernel, body, continuing) else { return false };
    let most =
        if size.has_lanes && is_left_early(kernel, inst, [body, continuing]) { ROUNDS_LEFT_EARLY } else { ROUNDS };
    let Some(rounds) = rounds(kernel, inst, size.limit, most) else { return false };
    if rounds * size.insts > size.limit {
        return false;
    }
    write(kernel, inst, rounds);
    true
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

/// The size of a loop; none if it is too large to be unrolled at all.
fn size(kernel: &Kernel, body: BlockId, continuing: BlockId) -> Option<Size> {
    let mut size = Size { insts: 0, limit: SIZE, has_lanes: false };
    let mut open = vec![body, continuing];
    while let Some(block) = open.pop() {
        let insts = &kernel.blocks[block].insts;
        size.insts += insts.len();
        if size.insts > SIZE_WITH_LANES {
            return None;
        }
        for inst in insts {
            if matches!(kernel.insts[*inst].op, Op::Lane { .. }) {
                (size.limit, size.has_lanes) = (SIZE_WITH_LANES, true);
            }
            open.extend(kernel.inner_blocks(*inst));
        }
    }
    Some(size)
}

/// Writes the iterations one after the other. The loop becomes a scope, so that lanes can still leave it.
fn write(kernel: &mut Kernel, inst: InstId, rounds: usize) {
    let Op::Loop { body, continuing } = kernel.insts[inst].op else { return };
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
