//! Emits control flow in the shape that [`crate::backend::nv::exits`] chose. Parameters of blocks and results of
//! constructs are registers that every path to them assigns.

use super::{Selector, rest_of};
use crate::backend::copies::{Step, in_order};
use crate::backend::nv::exits::{Goal, Rest, Way, goal};
use crate::backend::nv::machine::{ANY, Class, Kind, Line, Operand, Reg, Test};
use crate::ir::InstFlags;
use crate::kernel::pass::{Count, counted};
use crate::kernel::{BlockId, InstId, Op, Value};
use crate::lane::{LaneFact, MaskOp};
use std::collections::BTreeSet;

/// An open construct that jumps leave.
#[derive(Debug)]
pub struct Open {
    /// The goal of leaving it.
    goal: Goal,
    way: OpenWay,
    /// Set by a jump that has left a construct inside and not reached its goal yet.
    flag: Option<Reg>,
    /// The line before the construct, where the flag is reset to false.
    before: usize,
    /// Number of jumps so far that set the flag.
    jumps: u32,
}

/// How an open construct is left.
#[derive(Debug)]
enum OpenWay {
    /// A `REP`, with the outer goals of jumps that leave it.
    Repeat(Vec<Goal>),
    /// Its flag guards the rest of its blocks.
    Guard,
    /// The program. A `RET` outside of all loops tests its flag.
    Program,
}

impl Selector<'_> {
    /// The whole kernel.
    pub fn body(&mut self) {
        self.begin_open(Goal::Return, OpenWay::Program);
        self.block(self.kernel.body, 0);
        self.open.pop();
    }

    /// A block from an instruction on.
    fn block(&mut self, block: BlockId, from: usize) {
        let kernel = self.kernel;
        let mut is_guarded = false;
        let outer = self.origin;
        for (at, inst) in kernel.blocks[block].insts.iter().enumerate().skip(from) {
            self.begin(*inst);
            let jumps = self.guarded_jumps();
            match kernel.insts[*inst].op {
                Op::If { .. } if self.is_counted_test(*inst) => {}
                Op::If { then, otherwise } => {
                    let rest = self.exits.rest(*inst);
                    self.if_(*inst, [then, otherwise], (block, at + 1));
                    if rest != Rest::Behind {
                        break;
                    }
                }
                Op::Scope { body } => self.scope(*inst, body),
                Op::Loop { body, continuing } => self.loop_(*inst, body, continuing),
                op if op.is_terminator() => self.terminator(*inst, block),
                _ => self.plain(*inst, rest_of(kernel, block, at)),
            }
            self.origin = outer;
            if self.guarded_jumps() != jumps && !kernel.insts[*inst].op.is_terminator() {
                is_guarded = self.guard(is_guarded);
            }
        }
        self.origin = outer;
        self.unguard(is_guarded);
    }

    /// Number of jumps so far that set the flag of the innermost open construct, if it is guarded.
    fn guarded_jumps(&self) -> u32 {
        match self.open.last() {
            Some(Open { way: OpenWay::Guard, jumps, .. }) => *jumps,
            _ => 0,
        }
    }

    /// Starts lines that run unless the innermost open construct is being left, and ends the lines of the previous
    /// guard. Returns true if there is a guard.
    fn guard(&mut self, is_guarded: bool) -> bool {
        self.unguard(is_guarded);
        let Some(flag) = self.open.last().and_then(|open| open.flag) else { return false };
        let flag = self.per_lane(flag);
        self.flow(Line::If(flag, Test::False));
        true
    }

    fn unguard(&mut self, is_guarded: bool) {
        if is_guarded {
            self.flow(Line::EndIf);
        }
    }

    /// A line of control flow.
    fn flow(&mut self, line: Line) {
        if self.flow_origin != self.origin {
            self.flow_origin = self.origin;
            self.lines.push(Line::Origin(self.origin));
        }
        self.lines.push(line);
    }

    /// Emits the origin of an instruction.
    fn begin(&mut self, inst: InstId) {
        let data = &self.kernel.insts[inst];
        (self.span, self.origin) = (data.span, data.origin);
        self.is_exact = data.flags.contains(InstFlags::PRECISE);
        if data.span.is_none() {
            return;
        }
        let source = Line::Source(data.span);
        if self.debug && self.line.as_ref() != Some(&source) {
            self.lines.push(source.clone());
            self.line = Some(source);
        }
        let lane = Line::Lane(data.span);
        if matches!(data.op, Op::Prim { .. }) && self.lane_comment.as_ref() != Some(&lane) {
            self.lines.push(lane.clone());
            self.lane_comment = Some(lane);
        }
    }

    /// Registers for values from here on.
    fn registers_for(&mut self, values: impl Iterator<Item = Value>) {
        for value in values {
            let reg = self.registers.add(self.class(value), ANY);
            self.give(value, Operand::Reg(reg));
        }
    }

    fn if_(&mut self, inst: InstId, [then, otherwise]: [BlockId; 2], behind: (BlockId, usize)) {
        self.registers_for(self.kernel.results(inst));
        let (condition, test) = self.condition(inst, self.kernel.args(inst)[0]);
        let rest = self.exits.rest(inst);
        self.flow(Line::If(condition, test));
        self.arm((condition, test), then, (rest == Rest::InThen).then_some(behind));
        self.flow(Line::Else);
        self.arm((condition, test.inverted()), otherwise, (rest == Rest::InElse).then_some(behind));
        self.flow(Line::EndIf);
    }

    /// An arm, and the instructions after its `If` if they move into it.
    fn arm(&mut self, condition: (Reg, Test), block: BlockId, rest: Option<(BlockId, usize)>) {
        self.arms.push(condition);
        let jumps = self.guarded_jumps();
        self.block(block, 0);
        if let Some((block, from)) = rest {
            let is_guarded = self.guarded_jumps() != jumps && self.guard(false);
            self.block(block, from);
            self.unguard(is_guarded);
        }
        self.arms.pop();
    }

    /// The register of an instruction's condition, and the test for it: the test is inverted instead of the condition.
    fn condition(&mut self, inst: InstId, value: Value) -> (Reg, Test) {
        let misleads = self.votes.as_ref().is_some_and(|votes| votes.mislead(inst, value));
        let (value, is_inverse) = self.kernel.positive(value);
        let test = if is_inverse { Test::False } else { Test::True };
        let condition = self.uint(value);
        let condition = self.in_reg(condition);
        (if misleads { self.per_lane(condition) } else { condition }, test)
    }

    /// A per-lane condition that is true if another one is: see [`crate::backend::nv::votes`].
    fn per_lane(&mut self, condition: Reg) -> Reg {
        let own = self.fact(LaneFact::Mask(MaskOp::Eq));
        let bit = self.word("AND.U", &[Operand::Reg(condition), own]);
        self.in_reg(bit)
    }

    fn scope(&mut self, inst: InstId, body: BlockId) {
        self.registers_for(self.kernel.results(inst));
        self.until(self.exits.way(inst), Goal::End(inst), body);
    }

    /// A block whose end is a goal.
    fn until(&mut self, way: Way, goal: Goal, body: BlockId) {
        match way {
            Way::Fall => self.block(body, 0),
            Way::Break => {
                self.repeat(goal, None);
                self.block(body, 0);
                self.flow(Line::Break);
                self.close();
            }
            Way::Guard => {
                self.begin_open(goal, OpenWay::Guard);
                self.block(body, 0);
                self.open.pop();
            }
        }
    }

    fn loop_(&mut self, inst: InstId, body: BlockId, continuing: BlockId) {
        let kernel = self.kernel;
        self.registers_for(kernel.results(inst));
        for block in [body, continuing] {
            self.registers_for(kernel.blocks[block].params.iter().copied());
        }
        self.assign(&kernel.blocks[body].params, kernel.args(inst));
        let count = self.exits.continues(inst).then(|| counted(kernel, inst)).flatten();
        self.repeat(Goal::End(inst), count.as_ref().map(|count| count.rounds as u32));
        if !self.exits.continues(inst) {
            self.block(body, 0);
            self.flow(Line::Break);
            return self.close();
        }
        self.counted = count.map(|count| (inst, count));
        self.until(self.exits.way(inst), Goal::Next(inst), body);
        self.block(continuing, 0);
        self.close();
        self.counted_out(inst);
    }

    /// Assigns the results of a loop that `REP.S` ends instead of the test at the start of its body.
    fn counted_out(&mut self, inst: InstId) {
        if let Some((_, Count { test: Some(test), .. })) = self.counted.take() {
            self.assign_results(inst, self.kernel.args(test.exit));
        }
    }

    /// Returns true for a test that the trip count replaces.
    fn is_counted_test(&self, inst: InstId) -> bool {
        let test = self.counted.as_ref().and_then(|(_, count)| count.test.as_ref());
        test.is_some_and(|test| test.branch == inst)
    }

    /// The end of a continuing block: the loop's own `BRK`.
    fn next_iteration(&mut self, inst: InstId, of: InstId) {
        let kernel = self.kernel;
        let Op::Loop { body, .. } = kernel.insts[of].op else { return };
        let params = &kernel.blocks[body].params;
        let (leave, values) = kernel.args(inst).split_at(1);
        let (again, results) = values.split_at(params.len());
        if let Some((_, Count { test, .. })) = self.counted.as_ref().filter(|(counted, _)| *counted == of) {
            if test.is_none() {
                self.assign_results(of, results);
            }
            return self.assign(params, again);
        }
        match self.uint(leave[0]) {
            Operand::Constant(0, _) => self.flow(Line::BreakNever),
            Operand::Constant(..) => {
                self.assign_results(of, results);
                return self.flow(Line::Break);
            }
            _ => {
                self.assign_results(of, results);
                let (leave, test) = self.condition(inst, leave[0]);
                self.flow(Line::BreakIf(leave, test));
            }
        }
        self.assign(params, again);
    }

    fn terminator(&mut self, inst: InstId, block: BlockId) {
        let kernel = self.kernel;
        let args = kernel.args(inst);
        let owner = self.tree.owner(block);
        match (kernel.insts[inst].op, owner) {
            (Op::Repeat, Some(of)) => return self.next_iteration(inst, of),
            (Op::Yield, Some(of)) | (Op::Exit(of), _) => self.assign_results(of, args),
            (Op::Continue(of), _) => {
                if let Op::Loop { continuing, .. } = kernel.insts[of].op {
                    self.assign(&kernel.blocks[continuing].params, args);
                }
            }
            _ => {}
        }
        if let Some(goal) = goal(kernel, inst)
            && !self.exits.falls(inst)
        {
            self.leave(goal);
        }
    }

    // Opens a construct that jumps leave.

    fn begin_open(&mut self, goal: Goal, way: OpenWay) {
        let before = self.lines.len();
        self.lines.push(Line::Empty);
        self.open.push(Open { goal, way, flag: None, before, jumps: 0 });
    }

    /// Starts a `REP`, with its number of iterations if known.
    fn repeat(&mut self, goal: Goal, rounds: Option<u32>) {
        self.begin_open(goal, OpenWay::Repeat(Vec::new()));
        self.flow(Line::Repeat(rounds));
    }

    /// Ends the innermost `REP`. Invocations that left it for an outer goal continue from there.
    fn close(&mut self) {
        self.flow(Line::EndRepeat);
        let Some(Open { way: OpenWay::Repeat(crossing), .. }) = self.open.pop() else { return };
        for goal in crossing {
            let repeat = self.repeat_within(goal);
            if repeat.is_none() && goal != Goal::Return {
                continue;
            }
            let flag = self.flag(goal);
            let flag = if self.exits.has_lanes() { self.per_lane(flag) } else { flag };
            if let Some(repeat) = repeat {
                self.flow(Line::BreakIf(flag, Test::True));
                self.cross(repeat, goal);
            } else {
                [Line::If(flag, Test::True), Line::Return, Line::EndIf].into_iter().for_each(|line| self.flow(line));
            }
        }
    }

    /// Jumps to a goal that does not come next. Around cross-lane operations, a return from inside a loop leaves the
    /// loop first, because NVIDIA's compiler does not reconverge invocations that leave a loop with a `RET`.
    fn leave(&mut self, goal: Goal) {
        let repeat = self.repeat_within(goal);
        if goal == Goal::Return && (repeat.is_none() || !self.exits.has_lanes()) {
            return self.flow(Line::Return);
        }
        let from = self.open.iter().position(|open| open.goal == goal).unwrap_or_default();
        for at in from..self.open.len() {
            let is_guard = goal != Goal::Return && matches!(self.open[at].way, OpenWay::Guard);
            if is_guard || at == from && repeat != Some(from) {
                self.set_flag(self.open[at].goal);
            }
        }
        if let Some(repeat) = repeat {
            self.cross(repeat, goal);
            self.flow(Line::Break);
        }
    }

    /// The innermost `REP` that a jump to a goal leaves.
    fn repeat_within(&self, goal: Goal) -> Option<usize> {
        let from = self.open.iter().position(|open| open.goal == goal)?;
        (from..self.open.len()).rev().find(|at| matches!(self.open[*at].way, OpenWay::Repeat(_)))
    }

    /// Records that a `REP` is left for a goal, if that is not its own.
    fn cross(&mut self, repeat: usize, goal: Goal) {
        let Open { goal: own, way: OpenWay::Repeat(crossing), .. } = &mut self.open[repeat] else { return };
        if *own != goal && !crossing.contains(&goal) {
            crossing.push(goal);
        }
    }

    /// Sets the flag of a goal. Around cross-lane operations the condition of the arm is used for it: NVIDIA's compiler
    /// would let a block that ends with a constant jump past the test.
    fn set_flag(&mut self, goal: Goal) {
        let flag = self.flag(goal);
        match self.arms.last().filter(|_| self.exits.has_lanes()) {
            Some((condition, Test::True)) => self.copy(flag, Operand::Reg(*condition)),
            Some((condition, Test::False)) => self.write("NOT.U", flag, &[Operand::Reg(*condition)]),
            None => self.copy(flag, Operand::Constant(u32::MAX, Kind::Uint)),
        }
        if let Some(open) = self.open.iter_mut().find(|open| open.goal == goal) {
            open.jumps += 1;
        }
    }

    /// The flag of the construct with this goal.
    fn flag(&mut self, goal: Goal) -> Reg {
        let found = self.open.iter_mut().find(|open| open.goal == goal);
        if let Some(Open { flag: Some(flag), .. }) = &found {
            return *flag;
        }
        let reg = self.registers.add(Class::Word, ANY);
        if let Some(open) = found {
            open.flag = Some(reg);
            let before = open.before;
            self.copy(reg, Operand::Constant(0, Kind::Uint));
            // The reset precedes the construct, on a reserved line.
            if let Some(line) = self.lines.pop() {
                self.lines[before] = line;
            }
        }
        reg
    }

    // Values.

    fn assign_results(&mut self, of: InstId, from: &[Value]) {
        let results: Vec<Value> = self.kernel.results(of).collect();
        self.assign(&results, from);
    }

    /// Copies values into the registers of others, in parallel: a register that is still to be read is not overwritten.
    fn assign(&mut self, to: &[Value], from: &[Value]) {
        let mut pending: Vec<(Reg, Operand)> = Vec::new();
        for (to, from) in to.iter().zip(from) {
            let is_undefined = matches!(self.kernel.values[*from].def, crate::kernel::Def::Undef);
            let Some(Operand::Reg(reg)) = self.values[to.index()].clone() else { continue };
            if !is_undefined {
                let operand = self.any_arg(*from);
                if operand != Operand::Reg(reg) {
                    pending.push((reg, operand));
                }
            }
        }
        let read = |(_, from): &(Reg, Operand), read: &mut BTreeSet<Reg>| read.extend(from.regs());
        in_order(
            pending,
            |(to, _)| Some(*to),
            read,
            |step| match step {
                Step::Copy((to, from)) => self.copy(to, from),
                Step::OpenRing((held, _), readers) => self.open_ring(held, readers),
            },
        );
    }

    /// Copies a register for the instructions that still read its old value.
    fn open_ring(&mut self, held: Reg, readers: &mut [(Reg, Operand)]) {
        let kept = self.registers.add(self.registers.class(held), ANY);
        self.copy(kept, Operand::Reg(held));
        for (_, from) in readers.iter_mut().filter(|(_, from)| *from == Operand::Reg(held)) {
            *from = Operand::Reg(kept);
        }
    }
}
