//! Lets invocations join before cross-lane operations in loops.
//!
//! NVIDIA's compiler reconverges invocations where all paths through the program meet, and only there. A ballot in an
//! arm that ends with `BRK` or `RET` runs after the loop, for the invocations of all iterations at once; and
//! invocations do not reconverge at an `ENDIF` if a break in one of its arms jumps past it (seen on H100 and H200,
//! driver 580.159). Here the end of each such arm becomes a flag. The arms join first, and a break at the loop's own
//! level tests the flag. A `RET` in a nested arm likewise keeps invocations from reconverging in the other arms, so a
//! flag guards the rest of the program.

use super::machine::Line;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{InstFlags, Scalar};
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, Def, InstId, Kernel, Op, Ty, UnOp, Value};
use crate::profile::Profile;
use crate::source::Span;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Refuses cross-lane instructions inside more `IF`s and `REP`s than the profile's limit.
///
/// # Errors
/// Returns one diagnostic, at the first such instruction.
pub fn check_nesting(lines: &[Line], profile: &Profile) -> Result<(), Vec<Diagnostic>> {
    let Some(limit) = profile.lane_nesting else { return Ok(()) };
    let (mut depth, mut span) = (0_u32, Span::NONE);
    for line in lines {
        match line {
            Line::If(..) | Line::Repeat(_) => depth += 1,
            Line::EndIf | Line::EndRepeat => depth -= 1,
            Line::Lane(of) => span = *of,
            Line::Inst(inst) if depth > limit && inst.is_cross_lane() => {
                let message = format!(
                    "this cross-lane operation is inside {depth} branches and loops; NVIDIA's driver joins invocations \
                     correctly inside {limit}"
                );
                return Err(vec![Diagnostic::needed(Code::NOT_SUPPORTED, message, span)]);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Moves every exit from a loop with cross-lane operations to the loop's own level, in an arm without such operations,
/// and returns to the end of the program if such an operation may follow.
pub fn converge(kernel: &Kernel) -> Cow<'_, Kernel> {
    let mut kernel = Cow::Borrowed(kernel);
    if let Some(from) = nested_return(&kernel) {
        join_returns(kernel.to_mut(), from);
    }
    for (inst, body) in loops(&kernel).into_iter().rev() {
        if misses_join_in(&kernel, inst, body) {
            join_exits(kernel.to_mut(), inst, body);
        }
    }
    kernel
}

/// The first instruction of the kernel's body that contains a return deeper than in its own arm, if it or a later one
/// contains a cross-lane operation. A return from a loop of the body becomes a flag anyway.
fn nested_return(kernel: &Kernel) -> Option<usize> {
    let insts = &kernel.blocks[kernel.body].insts;
    let from = insts.iter().position(|inst| {
        let is_loop = matches!(kernel.insts[*inst].op, Op::Loop { .. });
        !is_loop && kernel.inner_blocks(*inst).any(|arm| has_inner_return(kernel, arm))
    })?;
    let lanes = Tree::new(kernel).holding(kernel, Op::is_cross_lane);
    insts[from..].iter().any(|inst| lanes[inst.index()]).then_some(from)
}

/// Returns true if a construct in a block contains a return.
fn has_inner_return(kernel: &Kernel, block: BlockId) -> bool {
    let returns = |inner: BlockId| {
        kernel.blocks[inner].insts.iter().any(|inst| kernel.insts[*inst].op == Op::Return)
            || has_inner_return(kernel, inner)
    };
    kernel.blocks[block].insts.iter().any(|inst| kernel.inner_blocks(*inst).any(returns))
}

/// Wraps the body from an instruction on in a scope; its returns leave the scope for the final one.
fn join_returns(kernel: &mut Kernel, from: usize) {
    let body = kernel.body;
    let inner = kernel.add_block(&[]);
    let tail = kernel.blocks[body].insts.split_off(from);
    let span = kernel.insts[tail[0]].span;
    kernel.blocks[inner].insts = tail;
    let scope = kernel.add_inst(Op::Scope { body: inner }, &[], &[], InstFlags::empty(), span);
    leave_for(kernel, inner, scope);
    let end = kernel.add_inst(Op::Return, &[], &[], InstFlags::empty(), span);
    kernel.blocks[body].insts.extend([scope, end]);
}

/// Makes the returns of a block, and of the blocks inside it, exits of a scope.
fn leave_for(kernel: &mut Kernel, block: BlockId, scope: InstId) {
    for inst in kernel.blocks[block].insts.clone() {
        if kernel.insts[inst].op == Op::Return {
            kernel.insts[inst].op = Op::Exit(scope);
        }
        let inner: SmallVec<[BlockId; 2]> = kernel.inner_blocks(inst).collect();
        inner.into_iter().for_each(|inner| leave_for(kernel, inner, scope));
    }
}

fn misses_join_in(kernel: &Kernel, of: InstId, body: BlockId) -> bool {
    nests_exit(kernel, of, body, &mut Vec::new()) || Cycle::of(kernel, of).misses_operation(body)
}

/// Returns true if a loop has an exit that [`converge`] moves.
#[cfg(test)]
pub fn misses_join(kernel: &Kernel) -> bool {
    loops(kernel).into_iter().any(|(inst, body)| misses_join_in(kernel, inst, body))
}

/// Loops that contain a cross-lane operation, outer before inner.
fn loops(kernel: &Kernel) -> Vec<(InstId, BlockId)> {
    let tree = Tree::new(kernel);
    let holds = tree.holding(kernel, Op::is_cross_lane);
    let body = |inst: InstId| match kernel.insts[inst].op {
        Op::Loop { body, .. } if holds[inst.index()] => Some((inst, body)),
        _ => None,
    };
    tree.passing(kernel).filter_map(body).collect()
}

/// Returns true if a block of a loop's body contains a jump out of the loop that is deeper than an arm of the body.
/// `around` are the constructs between the body and the block.
fn nests_exit(kernel: &Kernel, of: InstId, block: BlockId, around: &mut Vec<InstId>) -> bool {
    kernel.blocks[block].insts.iter().any(|inst| match kernel.insts[*inst].op {
        Op::Continue(target) if target == of => false,
        Op::Exit(target) | Op::Continue(target) => around.len() > 1 && !around.contains(&target),
        Op::Return => around.len() > 1,
        _ => {
            around.push(*inst);
            let found = kernel.inner_blocks(*inst).any(|inner| nests_exit(kernel, of, inner, around));
            around.pop();
            found
        }
    })
}

/// The blocks that can reach the next iteration of one loop.
struct Cycle<'k> {
    kernel: &'k Kernel,
    of: InstId,
    /// The constructs around the current block, inside the loop: whether their end and, for loops, their next iteration
    /// reach the loop's next iteration.
    open: Vec<(InstId, [bool; 2])>,
    /// True once an operation outside the cycle was met.
    missed: bool,
}

impl Cycle<'_> {
    fn of(kernel: &Kernel, of: InstId) -> Cycle<'_> {
        Cycle { kernel, of, open: Vec::new(), missed: false }
    }

    /// Returns true if the loop has a next iteration and contains an operation that cannot reach it.
    fn misses_operation(&mut self, body: BlockId) -> bool {
        !always_leaves(self.kernel, self.of) && self.block(body, false) && self.missed
    }

    /// Returns true if the loop's next iteration can be reached from the start of a block; `after` is true if it can be
    /// reached from the construct's end.
    fn block(&mut self, block: BlockId, after: bool) -> bool {
        let kernel = self.kernel;
        let insts = &kernel.blocks[block].insts;
        insts.iter().rev().fold(after, |reaches, inst| self.inst(*inst, reaches, after))
    }

    /// Returns true if it can be reached from before an instruction; `reaches` applies to the point after it.
    fn inst(&mut self, inst: InstId, reaches: bool, after: bool) -> bool {
        match self.kernel.insts[inst].op {
            Op::Yield => after,
            Op::Repeat => self.open.last().is_some_and(|(_, [_, next])| *next),
            op @ (Op::Exit(_) | Op::Continue(_) | Op::Return | Op::Unreachable) => self.jump(op),
            Op::If { then, otherwise } => {
                let arms = [then, otherwise].map(|arm| self.block(arm, reaches));
                arms[0] || arms[1]
            }
            Op::Scope { body } | Op::Whole { body } => {
                self.within(inst, [reaches, false], |this| this.block(body, reaches))
            }
            Op::Loop { body, continuing } => {
                let next = self
                    .within(inst, [reaches, false], |this| this.leaves_within(body) || this.leaves_within(continuing));
                self.within(inst, [reaches, next], |this| {
                    let _ = this.block(continuing, false);
                    this.block(body, false)
                })
            }
            op => {
                self.missed |= op.is_cross_lane() && !reaches;
                reaches
            }
        }
    }

    fn within<T>(&mut self, inst: InstId, reaches: [bool; 2], visit: impl FnOnce(&mut Self) -> T) -> T {
        self.open.push((inst, reaches));
        let result = visit(self);
        self.open.pop();
        result
    }

    /// Returns true if a jump leads to the loop's next iteration, directly or later.
    fn jump(&self, op: Op) -> bool {
        let reached = |target: InstId| self.open.iter().find(|(open, _)| *open == target).map(|(_, reaches)| *reaches);
        match op {
            Op::Continue(target) => target == self.of || reached(target).is_some_and(|[_, next]| next),
            Op::Exit(target) => reached(target).is_some_and(|[end, _]| end),
            _ => false,
        }
    }

    /// Returns true if a jump out of an inner loop's block, at any depth, leads to the loop's next iteration.
    fn leaves_within(&self, block: BlockId) -> bool {
        let kernel = self.kernel;
        kernel.blocks[block].insts.iter().any(|inst| match kernel.insts[*inst].op {
            Op::Repeat => self.open.last().is_some_and(|(_, [end, _])| *end),
            op @ (Op::Exit(_) | Op::Continue(_)) => self.jump(op),
            _ => kernel.inner_blocks(*inst).any(|inner| self.leaves_within(inner)),
        })
    }
}

/// Returns true if a loop's continuing block never starts another iteration.
fn always_leaves(kernel: &Kernel, of: InstId) -> bool {
    let Op::Loop { continuing, .. } = kernel.insts[of].op else { return true };
    kernel.blocks[continuing].insts.last().is_some_and(|last| {
        kernel.insts[*last].op == Op::Repeat
            && kernel.as_constant(kernel.args(*last)[0]).is_some_and(|leave| leave != 0)
    })
}

/// The arm of an `If` that an instruction is in: the condition, and its value there.
type Arm = Option<(Value, bool)>;

/// One exit of a loop's body.
struct Exit {
    block: BlockId,
    inst: InstId,
    arm: Arm,
}

/// The instructions of a loop's body from the first one on that may leave it.
#[derive(Default)]
struct Tail {
    exits: Vec<Exit>,
    insts: FxHashSet<InstId>,
    blocks: FxHashSet<BlockId>,
}

impl Tail {
    /// Adds instructions of a block, and of the blocks inside them.
    fn add(&mut self, kernel: &Kernel, block: BlockId, insts: &[InstId], mut arm: Arm) {
        for inst in insts {
            self.insts.insert(*inst);
            match kernel.insts[*inst].op {
                Op::Exit(target) | Op::Continue(target) if self.insts.contains(&target) => {}
                Op::Exit(_) | Op::Continue(_) | Op::Return => self.exits.push(Exit { block, inst: *inst, arm }),
                Op::If { then, otherwise } => {
                    let condition = kernel.args(*inst)[0];
                    self.add_block(kernel, then, Some((condition, true)));
                    self.add_block(kernel, otherwise, Some((condition, false)));
                    arm = arm_after(kernel, [then, otherwise], condition).or(arm);
                }
                _ => kernel.inner_blocks(*inst).for_each(|inner| self.add_block(kernel, inner, arm)),
            }
        }
    }

    fn add_block(&mut self, kernel: &Kernel, block: BlockId, arm: Arm) {
        self.blocks.insert(block);
        self.add(kernel, block, &kernel.blocks[block].insts, arm);
    }

    /// Returns true if a value is known before the tail.
    fn is_outside(&self, kernel: &Kernel, value: Value) -> bool {
        match kernel.values[value].def {
            Def::Const(_) | Def::Undef => true,
            Def::Inst(inst, _) => !self.insts.contains(&inst),
            Def::Param(block, _) => !self.blocks.contains(&block),
        }
    }
}

/// After an `If` with an arm that never reaches its end, the condition has the other arm's value.
fn arm_after(kernel: &Kernel, arms: [BlockId; 2], condition: Value) -> Arm {
    kernel.truth_after(arms[0], arms[1]).map(|truth| (condition, truth))
}

/// Moves every exit out of a loop's body to the end of the body.
fn join_exits(kernel: &mut Kernel, of: InstId, body: BlockId) {
    let all = std::mem::take(&mut kernel.blocks[body].insts);
    let may_leave = |inst: &InstId| {
        let mut tail = Tail::default();
        tail.add(kernel, body, &[*inst], None);
        !tail.exits.is_empty()
    };
    let from = all.iter().position(may_leave).unwrap_or(all.len());
    let mut tail = Tail::default();
    tail.add(kernel, body, &all[from..], None);
    kernel.blocks[body].insts = all[..from].to_vec();
    let span = all.get(from).map_or(Span::NONE, |first| kernel.insts[*first].span);
    let inner = kernel.add_block(&[]);
    kernel.blocks[inner].insts = all[from..].to_vec();
    tail.exits.iter_mut().filter(|exit| exit.block == body).for_each(|exit| exit.block = inner);
    Joiner { kernel, of, body, inner, tail, span }.join();
}

/// Writes the scope around a tail, and the jumps after it.
struct Joiner<'k> {
    kernel: &'k mut Kernel,
    of: InstId,
    body: BlockId,
    inner: BlockId,
    tail: Tail,
    span: Span,
}

/// A value of the exits of a tail: one entry per exit, `None` if it is not needed.
struct Column {
    ty: Ty,
    values: Vec<Option<Value>>,
}

impl Joiner<'_> {
    fn join(mut self) {
        let next = Op::Continue(self.of);
        let mut goals: Vec<Op> = Vec::new();
        for exit in &self.tail.exits {
            let op = self.kernel.insts[exit.inst].op;
            if op != next && !goals.contains(&op) {
                goals.push(op);
            }
        }
        let flags: Vec<Column> = goals.iter().map(|goal| self.flag(*goal)).collect();
        let args: Vec<Vec<Column>> = goals.iter().chain([&next]).map(|goal| self.args(*goal)).collect();
        let counts: Vec<usize> = args.iter().map(Vec::len).collect();
        let mut given = self.scope(flags.into_iter().chain(args.into_iter().flatten()).collect()).into_iter();
        let flags: Vec<Value> = given.by_ref().take(goals.len()).collect();
        for ((goal, flag), count) in goals.into_iter().zip(flags).zip(&counts) {
            let args: Vec<Value> = given.by_ref().take(*count).collect();
            self.leave(goal, flag, &args);
        }
        let rest: Vec<Value> = given.collect();
        self.end(self.body, next, &rest);
    }

    /// For each exit, whether it leads to a goal. Its arm's condition represents this, because NVIDIA's compiler would
    /// let a block that ends with a constant jump past the test.
    fn flag(&mut self, goal: Op) -> Column {
        let exits = std::mem::take(&mut self.tail.exits);
        let values = exits.iter().map(|exit| {
            let leads = self.kernel.insts[exit.inst].op == goal;
            Some(match exit.arm {
                None => self.kernel.constant(Ty::Bool, leads.into()),
                Some((condition, holds)) if holds == leads => condition,
                Some((condition, _)) => self.inverse(exit, condition),
            })
        });
        let values = values.collect();
        self.tail.exits = exits;
        Column { ty: Ty::Bool, values }
    }

    /// The inverse of a condition, computed right before an exit.
    fn inverse(&mut self, exit: &Exit, condition: Value) -> Value {
        let not = Op::Un(UnOp::Not, Scalar::BOOL);
        if let Some(inst) = self.kernel.definition(condition)
            && self.kernel.insts[inst].op == not
        {
            return self.kernel.args(inst)[0];
        }
        let made = self.kernel.add_inst(not, &[condition], &[Ty::Bool], InstFlags::empty(), self.span);
        self.tail.insts.insert(made);
        let insts = &mut self.kernel.blocks[exit.block].insts;
        insts.insert(insts.len() - 1, made);
        self.kernel.results(made).next().expect("it was made with one result")
    }

    /// The operands of the exits that lead to a goal.
    fn args(&self, goal: Op) -> Vec<Column> {
        let kernel = &*self.kernel;
        let args = |exit: &Exit| (kernel.insts[exit.inst].op == goal).then(|| kernel.args(exit.inst));
        let rows: Vec<Option<&[Value]>> = self.tail.exits.iter().map(args).collect();
        let first = rows.iter().flatten().next().copied().unwrap_or_default();
        let column = |n: usize| rows.iter().map(|row| row.map(|row| row[n])).collect();
        first.iter().enumerate().map(|(n, value)| Column { ty: kernel.ty(*value), values: column(n) }).collect()
    }

    /// Wraps the tail in a scope with the columns as results. Returns their values after it.
    fn scope(&mut self, columns: Vec<Column>) -> Vec<Value> {
        let known: Vec<Option<Value>> = columns.iter().map(|column| self.known(column)).collect();
        let kept: Vec<Column> =
            columns.into_iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(column, _)| column).collect();
        let types: Vec<Ty> = kept.iter().map(|column| column.ty).collect();
        let op = Op::Scope { body: self.inner };
        let scope = self.kernel.add_inst(op, &[], &types, InstFlags::empty(), self.span);
        self.kernel.blocks[self.body].insts.push(scope);
        for (n, exit) in self.tail.exits.iter().enumerate() {
            let args: Vec<Value> = kept
                .iter()
                .map(|column| column.values[n].unwrap_or_else(|| self.kernel.undefined(column.ty)))
                .collect();
            self.kernel.insts[exit.inst].op = Op::Exit(scope);
            self.kernel.set_args(exit.inst, &args);
        }
        let mut results = self.kernel.results(scope);
        known.into_iter().map(|known| known.or_else(|| results.next()).expect("one result for each column")).collect()
    }

    /// The value of a column whose exits agree on one from before the tail.
    fn known(&self, column: &Column) -> Option<Value> {
        let mut values = column.values.iter().flatten();
        let first = *values.next()?;
        (values.all(|value| *value == first) && self.tail.is_outside(self.kernel, first)).then_some(first)
    }

    /// `if (flag) goal(args)`, at the loop's own level.
    fn leave(&mut self, goal: Op, flag: Value, args: &[Value]) {
        let [then, otherwise] = [(); 2].map(|()| self.kernel.add_block(&[]));
        self.end(then, goal, args);
        self.end(otherwise, Op::Yield, &[]);
        let op = Op::If { then, otherwise };
        let branch = self.kernel.add_inst(op, &[flag], &[], InstFlags::empty(), self.span);
        self.kernel.blocks[self.body].insts.push(branch);
    }

    fn end(&mut self, block: BlockId, op: Op, args: &[Value]) {
        let end = self.kernel.add_inst(op, args, &[], InstFlags::empty(), self.span);
        self.kernel.blocks[block].insts.push(end);
    }
}
