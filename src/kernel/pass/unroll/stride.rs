//! Loops over an index that grows by a constant up to a limit that is known when the loop starts.
//!
//! While enough iterations remain, several of them need only one test, and their loads wait together.

use super::trial::{FirstTest, first_test};
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::{BinOp, BlockId, CmpOp, Def, InstId, Kernel, MemoryAccess, MemorySpace, Op, Value};

/// A loop that such an index ends.
pub struct Stride {
    pub test: FirstTest,
    /// The type of the index.
    pub scalar: Scalar,
    /// The index: a parameter of the body, by its number.
    pub index: usize,
    pub limit: Value,
    /// The amount that each iteration adds to the index.
    pub step: u32,
}

/// The index of an innermost loop, if only the index ends it, lanes may run its iterations at different times, and it
/// loads from buffers or workgroup memory.
pub fn stride(kernel: &Kernel, inst: InstId) -> Option<Stride> {
    let Op::Loop { body, continuing } = kernel.insts[inst].op else { return None };
    let test = first_test(kernel, inst).filter(|test| test.leaves == 0)?;
    let compare = kernel.definition(kernel.args(test.branch)[0])?;
    let (scalar, [index, limit]) = match (kernel.insts[compare].op, kernel.args(compare)) {
        (Op::Cmp(CmpOp::Lt, scalar), [a, b]) => (scalar, [*a, *b]),
        (Op::Cmp(CmpOp::Gt, scalar), [a, b]) => (scalar, [*b, *a]),
        _ => return None,
    };
    let is_word = scalar.width == 32 && matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint);
    let params = &kernel.blocks[body].params;
    let place = params.iter().position(|param| *param == index)?;
    let next = only_way_on(kernel, inst, [body, continuing], &test)?;
    let step = step(kernel, &next, next.repeat[1 + place], index)?;
    let is_known = is_from_outside(kernel, limit, [body, continuing]);
    (is_word && is_known).then_some(Stride { test, scalar, index: place, limit, step })
}

/// The operands of the only `Continue` of a loop and of its `Repeat`.
struct NextRound<'k> {
    passed: (&'k [Value], &'k [Value]),
    repeat: &'k [Value],
}

/// The path to the next iteration, if only the loop's test ends it and all its instructions satisfy [`is_free`],
/// including a load.
fn only_way_on<'k>(
    kernel: &'k Kernel,
    inst: InstId,
    [body, continuing]: [BlockId; 2],
    test: &FirstTest,
) -> Option<NextRound<'k>> {
    let (mut loads, mut open) = (false, vec![body, continuing]);
    let last = *kernel.blocks[body].insts.last()?;
    let repeat = *kernel.blocks[continuing].insts.last()?;
    while let Some(block) = open.pop() {
        for inner in &kernel.blocks[block].insts {
            let op = kernel.insts[*inner].op;
            loads |= matches!(op, Op::Load(MemoryAccess { space, .. }) if is_far(space));
            let is_way = match op {
                Op::Exit(_) => *inner == test.exit,
                Op::Continue(_) => *inner == last,
                Op::Repeat => *inner == repeat,
                op => is_free(op),
            };
            if !is_way {
                return None;
            }
            open.extend(kernel.inner_blocks(*inner));
        }
    }
    let (repeat, passed) = (kernel.args(repeat), (&kernel.blocks[continuing].params[..], kernel.args(last)));
    let goes_on = kernel.insts[last].op == Op::Continue(inst) && kernel.as_constant(*repeat.first()?) == Some(0);
    (loads && goes_on).then_some(NextRound { passed, repeat })
}

/// Returns true for memory whose latency several iterations can share.
const fn is_far(space: MemorySpace) -> bool {
    matches!(space, MemorySpace::Buffer(_) | MemorySpace::Physical | MemorySpace::Shared)
}

/// Returns true for operations that an invocation may run while others are in other iterations.
fn is_free(op: Op) -> bool {
    match op {
        Op::Load(access) | Op::Store(access) => !access.volatile && !access.coherent,
        Op::If { .. } | Op::Yield => true,
        op => op.is_pure(),
    }
}

/// The sum of the positive constants that lead from the index to its value in the next iteration.
fn step(kernel: &Kernel, next: &NextRound<'_>, mut value: Value, index: Value) -> Option<u32> {
    let mut step = 0_u32;
    loop {
        let (params, args) = next.passed;
        if let Some(n) = params.iter().position(|param| *param == value) {
            value = args[n];
        }
        if value == index {
            return (1..=LONGEST_STEP).contains(&step).then_some(step);
        }
        let made = kernel.definition(value)?;
        let (Op::Bin(BinOp::Add, _), [a, by]) = (kernel.insts[made].op, kernel.args(made)) else { return None };
        step = step.checked_add(kernel.as_constant(*by)?.try_into().ok()?)?;
        value = *a;
    }
}

/// Several steps must stay far below the maximum of a word.
const LONGEST_STEP: u32 = 1 << 20;

/// Returns true if a value is defined outside a loop with these blocks.
fn is_from_outside(kernel: &Kernel, value: Value, blocks: [BlockId; 2]) -> bool {
    match kernel.values[value].def {
        Def::Inst(inst, _) => blocks.iter().all(|block| !kernel.blocks[*block].insts.contains(&inst)),
        Def::Param(block, _) => !blocks.contains(&block),
        Def::Const(_) | Def::Undef => true,
    }
}
