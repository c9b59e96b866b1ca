//! Inlining: replaces calls by the code of the functions.
//!
//! A function is inlined if it is small or called from only one place, and if its control flow allows it: it returns at
//! its end, or from selections one of whose sides always returns. The code after such a selection moves into the other
//! side. Each invocation runs the same operations in the same order as before, together with the same neighbours.
//!
//! Growth and time are linear in the size of the module. Copies of functions that are neither small nor called once use
//! up a budget, and a function without remaining calls is dropped. The calls to replace are chosen first, callees
//! before callers, by the size and shape that each function will have. Then code is copied from the original functions
//! directly to its final place, so that the end of a long chain of calls is copied only once.

mod copy;
mod plan;

use super::calls::{callees, callees_first};
use super::depth::DEPTH_LIMIT;
use super::{BlockId, FuncId, Function, InstId, Module, Op, Types};
use crate::limits;
use plan::Plan;

/// Inlines functions that are called once, and functions of at most `small` instructions. Copies of other functions
/// have at most `most` instructions in total.
pub fn inline(module: &mut Module, small: usize, most: usize) {
    let roots: Vec<FuncId> = module.entry_points.iter().map(|entry| entry.function).collect();
    let order = callees_first(module, roots.iter().copied());
    let calls = count_calls(module, &order);
    let mut chosen: Vec<Chosen> = (0..module.functions.len()).map(|_| Chosen::default()).collect();
    let mut left = most;
    for id in &order {
        let function = &module.functions[*id];
        let taken = Choice { function, chosen: &chosen, left: &mut left, taken: Vec::new() }.run();
        let is_free = |size: usize| calls[id.index()] == 1 || size <= small;
        let plan = Plan::of(module, function, &taken, &chosen);
        let price = plan.as_ref().map_or(0, |plan| if is_free(plan.size) { 0 } else { plan.size });
        chosen[id.index()] = Chosen { taken, plan, price };
    }
    replace_calls(module, &roots, &order, &chosen);
}

/// Inlines the chosen calls in the remaining functions and drops the others; callers first, because they copy their
/// callees' original code.
fn replace_calls(module: &mut Module, roots: &[FuncId], order: &[FuncId], chosen: &[Chosen]) {
    let mut stays = vec![false; module.functions.len()];
    roots.iter().for_each(|root| stays[root.index()] = true);
    for id in order.iter().rev().copied() {
        if stays[id.index()] {
            copy::replace_calls_in(module, chosen, id);
            callees(&module.functions[id]).for_each(|(callee, _)| stays[callee.index()] = true);
        } else {
            give_up(&mut module.functions[id]);
        }
    }
    // Unreachable functions may call dropped functions.
    module.functions.iter_mut().filter(|(id, _)| !stays[id.index()]).for_each(|(_, function)| give_up(function));
}

/// Leaves a function without a body.
fn give_up(function: &mut Function) {
    *function = Function::new("", function.span, Vec::new(), Types::VOID);
}

/// The number of call sites of each function. Any other use of a function counts as one more.
fn count_calls(module: &Module, reached: &[FuncId]) -> Vec<usize> {
    let mut calls = vec![0; module.functions.len()];
    for id in reached {
        for (_, inst) in module.functions[*id].insts.iter() {
            let weight = if matches!(inst.op, Op::Call(..)) { 1 } else { 2 };
            inst.op.callees().into_iter().flatten().for_each(|callee| calls[callee.index()] += weight);
        }
    }
    calls
}

/// The decisions about a function.
#[derive(Default)]
struct Chosen {
    /// True for each instruction that is a call to be replaced; empty if there is none.
    taken: Vec<bool>,
    /// How its calls are replaced; `None` if its control flow does not allow it.
    plan: Option<Plan>,
    /// The cost of a copy of it, in instructions of the budget.
    price: usize,
}

impl Chosen {
    fn takes(&self, call: InstId) -> bool {
        self.taken.get(call.index()).is_some_and(|taken| *taken)
    }
}

/// The position of a block of the caller.
#[derive(Clone, Copy)]
struct Within {
    /// Nesting depth.
    depth: usize,
    /// False in the continuing blocks of loops, where nothing may end the invocation.
    may_end: bool,
}

impl Within {
    fn takes(self, plan: &Plan) -> bool {
        self.depth + plan.depth <= DEPTH_LIMIT && (self.may_end || !plan.ends)
    }
}

/// Chooses the calls to replace in one function.
struct Choice<'a> {
    function: &'a Function,
    chosen: &'a [Chosen],
    /// The rest of the budget.
    left: &'a mut usize,
    taken: Vec<bool>,
}

impl Choice<'_> {
    fn run(mut self) -> Vec<bool> {
        let has_plan = |callee: FuncId| self.chosen[callee.index()].plan.is_some();
        if callees(self.function).any(|(callee, _)| has_plan(callee)) {
            self.block(self.function.body, Within { depth: 1, may_end: true });
        }
        self.taken
    }

    fn block(&mut self, block: BlockId, within: Within) {
        let function = self.function;
        limits::spend(function.blocks[block].insts.len());
        let nested = Within { depth: within.depth + 1, ..within };
        for id in &function.blocks[block].insts {
            match function.insts[*id].op {
                Op::Call(callee, _) => self.call(*id, callee, within),
                Op::Loop { body, continuing, .. } => {
                    self.block(body, nested);
                    self.block(continuing, Within { may_end: false, ..nested });
                }
                op => function.inner_blocks(op).into_iter().for_each(|inner| self.block(inner, nested)),
            }
        }
    }

    /// Chooses a call if it may be replaced and the budget allows it.
    fn call(&mut self, id: InstId, callee: FuncId, within: Within) {
        let Chosen { plan, price, .. } = &self.chosen[callee.index()];
        let fits = plan.as_ref().is_some_and(|plan| within.takes(plan));
        if fits && let Some(left) = self.left.checked_sub(*price) {
            *self.left = left;
            self.taken.resize(self.function.insts.len(), false);
            self.taken[id.index()] = true;
        }
    }
}
