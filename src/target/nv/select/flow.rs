//! Control flow, as [`crate::target::nv::exits`] decided it. Parameters of blocks and results of constructs are registers
//! that every way there fills.

use super::{Selector, rest_of};
use crate::ir::Scalar;
use crate::kernel::{BlockId, Def, InstId, Op, UnOp, Value};
use crate::target::nv::exits::{Goal, Rest, goal};
use crate::target::nv::machine::{ANY, Class, Kind, Line, Operand, Reg, Test};

/// An open `REP`.
#[derive(Debug)]
pub struct Open {
    /// What leaving it leads to.
    goal: Goal,
    /// True once something inside an inner `REP` wants to leave this one.
    flag: Option<Reg>,
    /// The line before the `REP`, where the flag begins as false.
    before: usize,
    /// Outer goals that something inside leaves for.
    crossing: Vec<Goal>,
}

impl Selector<'_> {
    /// The whole kernel.
    pub fn body(&mut self) {
        self.block(self.kernel.body, 0);
    }

    /// A block from an instruction on.
    fn block(&mut self, block: BlockId, from: usize) {
        let kernel = self.kernel;
        for (at, inst) in kernel.blocks[block].insts.iter().enumerate().skip(from) {
            self.begin(*inst);
            match kernel.insts[*inst].op {
                Op::If { then, otherwise } => {
                    let rest = self.exits.rest(*inst);
                    self.if_(*inst, [then, otherwise], (block, at + 1));
                    if rest != Rest::Behind {
                        return;
                    }
                }
                Op::Scope { body } => self.scope(*inst, body),
                Op::Loop { body, continuing } => self.loop_(*inst, body, continuing),
                op if op.is_terminator() => self.terminator(*inst, block),
                _ => self.plain(*inst, rest_of(kernel, block, at)),
            }
        }
    }

    /// Says where an instruction comes from.
    fn begin(&mut self, inst: InstId) {
        let data = &self.kernel.insts[inst];
        self.span = data.span;
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

    /// Registers for values, which stand for them from here on.
    fn registers_for(&mut self, values: impl Iterator<Item = Value>) {
        for value in values {
            let reg = self.registers.add(self.class(value), ANY);
            self.give(value, Operand::Reg(reg));
        }
    }

    fn if_(&mut self, inst: InstId, [then, otherwise]: [BlockId; 2], behind: (BlockId, usize)) {
        self.registers_for(self.kernel.results(inst));
        let (condition, test) = self.condition(self.kernel.args(inst)[0]);
        let rest = self.exits.rest(inst);
        self.lines.push(Line::If(condition, test));
        self.block(then, 0);
        if rest == Rest::InThen {
            self.block(behind.0, behind.1);
        }
        self.lines.push(Line::Else);
        self.block(otherwise, 0);
        if rest == Rest::InElse {
            self.block(behind.0, behind.1);
        }
        self.lines.push(Line::EndIf);
    }

    /// The register of a bool and the test that says whether it holds: a condition is not inverted, its test is.
    fn condition(&mut self, mut value: Value) -> (Reg, Test) {
        let mut test = Test::True;
        while let Def::Inst(inst, _) = self.kernel.values[value].def
            && self.kernel.insts[inst].op == Op::Un(UnOp::Not, Scalar::BOOL)
        {
            value = self.kernel.args(inst)[0];
            test = test.inverted();
        }
        let condition = self.uint(value);
        (self.in_reg(condition), test)
    }

    fn scope(&mut self, inst: InstId, body: BlockId) {
        self.registers_for(self.kernel.results(inst));
        if self.exits.repeats(inst) {
            self.once(Goal::End(inst), body);
        } else {
            self.block(body, 0);
        }
    }

    /// A `REP` that runs once.
    fn once(&mut self, goal: Goal, body: BlockId) {
        self.open(goal);
        self.block(body, 0);
        self.lines.push(Line::Break);
        self.close();
    }

    fn loop_(&mut self, inst: InstId, body: BlockId, continuing: BlockId) {
        let kernel = self.kernel;
        self.registers_for(kernel.results(inst));
        for block in [body, continuing] {
            self.registers_for(kernel.blocks[block].params.iter().copied());
        }
        self.assign(&kernel.blocks[body].params, kernel.args(inst));
        self.open(Goal::End(inst));
        if !self.exits.continues(inst) {
            self.block(body, 0);
            self.lines.push(Line::Break);
            return self.close();
        }
        if self.exits.repeats(inst) {
            self.once(Goal::Next(inst), body);
        } else {
            self.block(body, 0);
        }
        self.block(continuing, 0);
        self.close();
    }

    /// The end of a continuing block: the loop's own `BRK`.
    fn repeat(&mut self, inst: InstId, of: InstId) {
        let kernel = self.kernel;
        let Op::Loop { body, .. } = kernel.insts[of].op else { return };
        let params = &kernel.blocks[body].params;
        let (leave, values) = kernel.args(inst).split_at(1);
        let (again, results) = values.split_at(params.len());
        match self.uint(leave[0]) {
            Operand::Constant(0, _) => self.lines.push(Line::BreakNever),
            Operand::Constant(..) => {
                self.assign_results(of, results);
                return self.lines.push(Line::Break);
            }
            _ => {
                self.assign_results(of, results);
                let (leave, test) = self.condition(leave[0]);
                self.lines.push(Line::BreakIf(leave, test));
            }
        }
        self.assign(params, again);
    }

    fn terminator(&mut self, inst: InstId, block: BlockId) {
        let kernel = self.kernel;
        let args = kernel.args(inst);
        let owner = self.tree.owner(block);
        match (kernel.insts[inst].op, owner) {
            (Op::Repeat, Some(of)) => return self.repeat(inst, of),
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

    // `REP`s.

    fn open(&mut self, goal: Goal) {
        let before = self.lines.len();
        self.lines.extend([Line::Empty, Line::Repeat]);
        self.repeats.push(Open { goal, flag: None, before, crossing: Vec::new() });
    }

    /// Ends the innermost `REP`. What left it for a goal further out goes on from there.
    fn close(&mut self) {
        self.lines.push(Line::EndRepeat);
        let Some(closed) = self.repeats.pop() else { return };
        for goal in closed.crossing {
            let flag = self.flag(goal);
            self.lines.push(Line::BreakIf(flag, Test::True));
            self.cross(goal);
        }
    }

    /// Jumps to a goal that does not come next.
    fn leave(&mut self, goal: Goal) {
        if goal == Goal::Return {
            return self.lines.push(Line::Return);
        }
        if self.repeats.last().is_some_and(|innermost| innermost.goal != goal) {
            let flag = self.flag(goal);
            self.copy(flag, Operand::Constant(u32::MAX, Kind::Uint));
            self.cross(goal);
        }
        self.lines.push(Line::Break);
    }

    /// Notes that the innermost `REP` is left for a goal, if that is not its own.
    fn cross(&mut self, goal: Goal) {
        if let Some(innermost) = self.repeats.last_mut()
            && innermost.goal != goal
            && !innermost.crossing.contains(&goal)
        {
            innermost.crossing.push(goal);
        }
    }

    /// The flag of the `REP` with this goal.
    fn flag(&mut self, goal: Goal) -> Reg {
        let found = self.repeats.iter_mut().find(|open| open.goal == goal);
        if let Some(Open { flag: Some(flag), .. }) = &found {
            return *flag;
        }
        let reg = self.registers.add(Class::Word, ANY);
        if let Some(open) = found {
            open.flag = Some(reg);
            let before = open.before;
            self.copy(reg, Operand::Constant(0, Kind::Uint));
            // It is written before the `REP`, whose place was kept free.
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

    /// Copies values into the registers of others, all at once: a register that is still to be read is not overwritten.
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
        self.parallel(pending);
    }

    /// Copies in an order in which each source is read before it is written; a ring is opened with one more register.
    fn parallel(&mut self, mut pending: Vec<(Reg, Operand)>) {
        while !pending.is_empty() {
            let read: std::collections::BTreeSet<Reg> =
                pending.iter().flat_map(|(_, from)| from.regs().collect::<Vec<_>>()).collect();
            let (free, held): (Vec<_>, Vec<_>) = pending.into_iter().partition(|(to, _)| !read.contains(to));
            let stuck = free.is_empty();
            for (to, from) in free {
                self.copy(to, from);
            }
            pending = held;
            if stuck {
                self.open_ring(&mut pending);
            }
        }
    }

    /// Keeps what the first target holds in a register of its own, for those that still read it.
    fn open_ring(&mut self, pending: &mut [(Reg, Operand)]) {
        let Some((first, _)) = pending.first().cloned() else { return };
        let kept = self.registers.add(self.registers.class(first), ANY);
        self.copy(kept, Operand::Reg(first));
        for (_, from) in pending.iter_mut().filter(|(_, from)| *from == Operand::Reg(first)) {
            *from = Operand::Reg(kept);
        }
    }
}
