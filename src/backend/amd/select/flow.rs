//! Control flow: scalar branches where all lanes agree, EXEC where they do not.
//!
//! At least one lane is active at every instruction, except at instructions that change EXEC: if a change may leave
//! none, a branch to waiting lanes follows. A mask contains the lanes that wait at a reconvergence point: all that
//! entered it if none can leave for an outer target, otherwise the ones that have arrived.

use super::emit::{EXEC, FALSE};
use super::{Selector, Words};
use crate::backend::amd::machine::{Block, Code, File, Inst, Label, Operand, Pseudo, Slice};
use crate::backend::amd::mnemonic::Operation;
use crate::backend::amd::reconvergence::ReconvergencePoint;
use crate::backend::copies::{Step, in_order};
use crate::ir::InstFlags;
use crate::kernel::{BlockId, Def, InstId, Op, Ty, Value};
use crate::lane::plan::Activity;
use std::collections::BTreeSet;

/// A construct around the instruction that is being selected.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    point: ReconvergencePoint,
    /// The label where lanes reconverge.
    end: Label,
    /// The label where the next lanes are activated when none is left.
    rest: Label,
    diverges: bool,
    /// The waiting lanes, if its end diverges.
    waiting: Option<Operand>,
}

impl Selector<'_> {
    // Blocks.

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// Ends the current block and starts the one with this label.
    fn begin(&mut self, label: Label) {
        let mut done = std::mem::replace(&mut self.block, Block { label, insts: Vec::new() });
        // Nothing after a jump runs.
        let is_final = |inst: &Inst| inst.operation().is_some_and(Operation::is_final);
        if let Some(last) = done.insts.iter().position(is_final) {
            done.insts.truncate(last + 1);
        }
        self.function.blocks.push(done);
        (self.clean_from, self.swapped) = (0, None);
        self.flat.clear();
        self.divided.clear();
        self.literals.clear();
        self.descriptors.clear();
        self.image_operands.clear();
    }

    fn branch(&mut self, operation: Operation, to: Label) {
        self.raw(operation, &[], &[Operand::Label(to)]);
        if !operation.is_final() {
            let behind = self.label();
            self.begin(behind);
        }
    }

    /// The whole kernel.
    pub fn body(&mut self) {
        self.block(self.kernel.body);
        self.span = crate::source::Span::NONE;
        self.is_lane = false;
        let end = self.start.end;
        self.begin(end);
        self.raw(Operation::End, &[], &[]);
    }

    fn block(&mut self, block: BlockId) {
        let (kernel, outer) = (self.kernel, self.origin);
        for inst in &kernel.blocks[block].insts {
            self.take_facts(*inst);
            let data = &kernel.insts[*inst];
            self.is_lane = data.op.is_cross_lane();
            match data.op {
                Op::If { then, otherwise } => self.if_(*inst, then, otherwise),
                Op::Scope { body } => self.scope(*inst, body),
                Op::Loop { body, continuing } => self.loop_(*inst, body, continuing),
                Op::Whole { body } => self.whole_wave(*inst, body),
                op if op.is_terminator() => self.terminator(*inst, block),
                _ => self.plain(*inst),
            }
        }
        self.origin = outer;
    }

    /// Notes which instruction is being selected.
    fn take_facts(&mut self, inst: InstId) {
        let data = &self.kernel.insts[inst];
        (self.span, self.origin) = (data.span, data.origin);
        self.is_exact = data.flags.contains(InstFlags::PRECISE);
    }

    // Masks.

    fn move_mask(&mut self, to: Operand, from: Operand) {
        let operation = self.sized(Operation::ScalarMove, Operation::ScalarMove64);
        self.raw(operation, &[to], &[from]);
    }

    fn with_masks(&mut self, of_32: Operation, of_64: Operation, to: Operand, uses: &[Operand]) {
        let operation = self.sized(of_32, of_64);
        self.raw(operation, &[to], uses);
    }

    /// The label to jump to if no lane is left: the innermost point where some may wait.
    fn rest(&self) -> Label {
        self.open.iter().rev().find(|open| open.diverges).map_or(self.start.end, |open| open.rest)
    }

    /// Opens a construct whose lanes may wait at `end`.
    fn enter(&mut self, point: ReconvergencePoint, end: Label) {
        let points = self.subject.reconvergence;
        let (diverges, leaks) = (points.diverges(point), points.leaks(point));
        let waiting = diverges.then(|| {
            let mask = self.mask_register();
            self.move_mask(mask, if leaks { FALSE } else { EXEC });
            mask
        });
        self.open.push(Open { point, end, rest: end, diverges, waiting });
    }

    /// Reconverges: waiting lanes continue with the arriving lanes.
    fn reconverge(&mut self) {
        let Some(open) = self.open.pop() else { return };
        self.begin(open.end);
        let Some(waiting) = open.waiting else { return };
        if self.subject.reconvergence.leaks(open.point) {
            self.with_masks(Operation::ScalarOr, Operation::ScalarOr64, EXEC, &[EXEC, waiting]);
            let rest = self.rest();
            self.branch(Operation::BranchExecZero, rest);
        } else {
            self.move_mask(EXEC, waiting);
        }
    }

    /// Jumps to a reconvergence point, or to the end of the invocation.
    fn jump(&mut self, goal: Option<ReconvergencePoint>) {
        let found = goal.and_then(|goal| self.open.iter().rposition(|open| open.point == goal));
        let inner = &self.open[found.map_or(0, |at| at + 1)..];
        let Some(nearest) = inner.iter().rev().find(|open| open.diverges).copied() else {
            let to = found.map_or(self.start.end, |at| self.open[at].end);
            return self.branch(Operation::Branch, to);
        };
        if let Some(open) = found.map(|at| self.open[at])
            && let Some(waiting) = open.waiting
            && self.subject.reconvergence.leaks(open.point)
        {
            self.with_masks(Operation::ScalarOr, Operation::ScalarOr64, waiting, &[waiting, EXEC]);
        }
        self.move_mask(EXEC, FALSE);
        self.branch(Operation::Branch, nearest.rest);
    }

    // Constructs.

    fn if_(&mut self, inst: InstId, then: BlockId, otherwise: BlockId) {
        let condition = self.kernel.args(inst)[0];
        if self.subject.reconvergence.diverges(ReconvergencePoint::End(inst)) {
            return self.divergent_if(inst, condition, [then, otherwise]);
        }
        self.begin_results(inst, false);
        let (other, end) = (self.label(), self.label());
        self.branch_unless(condition, other);
        self.open.push(Open { point: ReconvergencePoint::End(inst), end, rest: end, diverges: false, waiting: None });
        self.block(then);
        self.branch(Operation::Branch, end);
        self.begin(other);
        self.block(otherwise);
        self.reconverge();
    }

    /// Branches where a condition on which all lanes agree is false.
    fn branch_unless(&mut self, condition: Value, to: Label) {
        let is_set = self.condition(condition);
        self.branch(if is_set { Operation::BranchScc0 } else { Operation::BranchScc1 }, to);
    }

    fn divergent_if(&mut self, inst: InstId, condition: Value, [then, otherwise]: [BlockId; 2]) {
        for (leaves, stays, are_stayers) in [(then, otherwise, false), (otherwise, then, true)] {
            if let Some(goal) = self.plain_leave(leaves) {
                return self.leave_some(inst, condition, are_stayers, goal, stays);
            }
        }
        let point = ReconvergencePoint::End(inst);
        let leaks = self.subject.reconvergence.leaks(point);
        let mask = self.mask(condition);
        let results = self.begin_results(inst, true);
        let has_else = self.kernel.blocks[otherwise].insts.len() > 1 || results > 0 || leaks;
        let (other, end) = (self.label(), self.label());
        let entered = self.mask_register();
        self.with_masks(Operation::SaveExecAnd, Operation::SaveExecAnd64, entered, &[mask]);
        let waiting = if leaks {
            self.with_masks(Operation::ScalarXor, Operation::ScalarXor64, entered, &[entered, EXEC]);
            self.mask_register()
        } else {
            entered
        };
        let skipped = if has_else { other } else { end };
        if self.some_lane_has(inst, condition) {
            let entered = self.label();
            self.begin(entered);
        } else {
            self.branch(Operation::BranchExecZero, skipped);
        }
        self.open.push(Open { point, end, rest: skipped, diverges: true, waiting: Some(waiting) });
        self.block(then);
        if has_else {
            self.begin(other);
            self.switch_to_else(leaks, entered, waiting);
            self.branch(Operation::BranchExecZero, end);
            if let Some(open) = self.open.last_mut() {
                open.rest = end;
            }
            self.block(otherwise);
        }
        self.reconverge();
    }

    /// Returns true if a condition is sure to be true for a lane that is active at a construct.
    fn some_lane_has(&self, inst: InstId, condition: Value) -> bool {
        self.known_set(condition).is_some_and(|set| match self.subject.uniformity.activity(inst) {
            Activity::Any => false,
            Activity::FirstLanes => set & 1 != 0,
            Activity::Full => set != 0,
        })
    }

    /// The reconvergence point that a block leaves for and does nothing else, or `None` for the end of the invocation.
    fn plain_leave(&self, block: BlockId) -> Option<Option<ReconvergencePoint>> {
        let [last] = self.kernel.blocks[block].insts[..] else { return None };
        let goal = match self.kernel.insts[last].op {
            Op::Return => return Some(None),
            Op::Exit(of) => ReconvergencePoint::End(of),
            Op::Continue(of) => ReconvergencePoint::Next(of),
            _ => return None,
        };
        let waits = self.open.iter().any(|open| open.point == goal && open.waiting.is_some());
        let to = self.subject.tree.destinations(self.kernel, last);
        let is_there = |(to, from): (&Option<Value>, &Value)| match to {
            Some(to) => self.needs_no_copy(*to, *from),
            None => true,
        };
        (waits && to.iter().zip(self.kernel.args(last)).all(is_there)).then_some(Some(goal))
    }

    /// Returns true if a result holds a value without a copy, or nothing reads it.
    fn needs_no_copy(&self, to: Value, from: Value) -> bool {
        let is_undefined = matches!(self.kernel.values[from].def, Def::Undef);
        is_undefined || self.uses[to.index()] == 0 || self.subject.kept.by(to) == Some(from)
    }

    /// Lanes with a condition leave; the others continue without waiting for them. With `are_stayers` it is the
    /// condition of the lanes that stay.
    fn leave_some(
        &mut self,
        inst: InstId,
        condition: Value,
        are_stayers: bool,
        goal: Option<ReconvergencePoint>,
        stays: BlockId,
    ) {
        let point = ReconvergencePoint::End(inst);
        let mask = self.mask(condition);
        self.begin_results(inst, true);
        if let Some(open) = goal.and_then(|goal| self.open.iter().rfind(|open| open.point == goal)).copied()
            && let Some(waiting) = open.waiting
            && self.subject.reconvergence.leaks(open.point)
        {
            let leaving = self.kept_lanes(mask, !are_stayers);
            self.with_masks(Operation::ScalarOr, Operation::ScalarOr64, waiting, &[waiting, leaving]);
        }
        let (of_32, of_64) = kept_by(are_stayers);
        self.with_masks(of_32, of_64, EXEC, &[EXEC, mask]);
        let (rest, end) = (self.rest(), self.label());
        self.branch(Operation::BranchExecZero, rest);
        self.open.push(Open { point, end, rest: end, diverges: false, waiting: None });
        self.block(stays);
        self.reconverge();
    }

    /// The active lanes inside or outside of a mask.
    fn kept_lanes(&mut self, mask: Operand, are_in: bool) -> Operand {
        let (of_32, of_64) = kept_by(are_in);
        self.on_masks(of_32, of_64, &[EXEC, mask])
    }

    /// Switches from the lanes of the first block to the lanes of the second.
    fn switch_to_else(&mut self, leaks: bool, entered: Operand, waiting: Operand) {
        if leaks {
            // `entered` are the lanes of the second block.
            self.move_mask(waiting, EXEC);
            self.move_mask(EXEC, entered);
        } else {
            self.with_masks(Operation::ScalarXor, Operation::ScalarXor64, EXEC, &[entered, EXEC]);
        }
    }

    fn scope(&mut self, inst: InstId, body: BlockId) {
        let point = ReconvergencePoint::End(inst);
        self.begin_results(inst, self.subject.reconvergence.diverges(point));
        let end = self.label();
        self.enter(point, end);
        self.block(body);
        self.reconverge();
    }

    fn loop_(&mut self, inst: InstId, body: BlockId, continuing: BlockId) {
        let kernel = self.kernel;
        let (outer, inner) = (ReconvergencePoint::End(inst), ReconvergencePoint::Next(inst));
        self.begin_results(inst, self.subject.reconvergence.diverges(outer));
        let initial = self.sources(&kernel.blocks[body].params, kernel.args(inst));
        self.variables(&kernel.blocks[body].params, false);
        self.assign(&kernel.blocks[body].params, initial, false);
        for result in kernel.results(inst) {
            let holder = self.subject.kept.by(result).and_then(|param| self.values[param.index()].clone());
            holder.into_iter().for_each(|words| self.give(result, words));
        }
        let (head, next, end) = (self.label(), self.label(), self.label());
        self.enter(outer, end);
        self.begin(head);
        self.variables(&kernel.blocks[continuing].params, self.subject.reconvergence.diverges(inner));
        self.enter(inner, next);
        self.start.heads.push((inst, head));
        self.block(body);
        self.reconverge();
        self.block(continuing);
        self.reconverge();
    }

    /// The end of a continuing block: leaves the loop, or jumps back to its head.
    fn repeat(&mut self, inst: InstId, of: InstId) {
        let kernel = self.kernel;
        let Op::Loop { body, .. } = kernel.insts[of].op else { return };
        let params = &kernel.blocks[body].params;
        let Some(head) = self.start.heads.iter().rev().find(|(owner, _)| *owner == of).map(|(_, head)| *head) else {
            return;
        };
        let (leave, values) = (kernel.args(inst)[0], &kernel.args(inst)[1..]);
        let (again, results) = values.split_at(params.len());
        let targets: Vec<Value> = kernel.results(of).collect();
        let diverges = self.subject.reconvergence.diverges(ReconvergencePoint::End(of));
        let again = self.sources(params, again);
        if kernel.as_constant(leave) != Some(0) {
            // Parameters that hold results are assigned below.
            let pairs = targets.iter().zip(results).filter(|(to, _)| self.subject.kept.by(**to).is_none());
            let (targets, results): (Vec<Value>, Vec<Value>) = pairs.unzip();
            let results = self.sources(&targets, &results);
            self.assign(&targets, results, diverges);
        }
        match kernel.as_constant(leave) {
            Some(0) => {
                self.assign(params, again, false);
                self.branch(Operation::Branch, head);
            }
            Some(_) => {}
            None if self.is_uniform(leave) => {
                let end = self.open.last().map_or(head, |open| open.end);
                let is_set = self.condition(leave);
                self.branch(if is_set { Operation::BranchScc1 } else { Operation::BranchScc0 }, end);
                self.assign(params, again, false);
                self.branch(Operation::Branch, head);
            }
            None => self.repeat_some(leave, head, params, again),
        }
    }

    /// Some lanes leave, the others continue to the next iteration.
    fn repeat_some(&mut self, leave: Value, head: Label, params: &[Value], again: Vec<Words>) {
        let leave = self.mask(leave);
        let leave = self.mask_in_register(leave);
        self.assign(params, again, false);
        if let Some(open) = self.open.last().copied()
            && let Some(waiting) = open.waiting
            && self.subject.reconvergence.leaks(open.point)
        {
            let leaving = self.on_masks(Operation::ScalarAnd, Operation::ScalarAnd64, &[leave, EXEC]);
            self.with_masks(Operation::ScalarOr, Operation::ScalarOr64, waiting, &[waiting, leaving]);
        }
        self.with_masks(Operation::ScalarAndNot, Operation::ScalarAndNot64, EXEC, &[EXEC, leave]);
        self.branch(Operation::BranchExecSome, head);
    }

    fn terminator(&mut self, inst: InstId, block: BlockId) {
        let kernel = self.kernel;
        let args = kernel.args(inst);
        let owner = self.subject.tree.owner(block);
        match (kernel.insts[inst].op, owner) {
            (Op::Repeat, Some(of)) => self.repeat(inst, of),
            (Op::Yield, Some(of)) => self.assign_results(of, args),
            (Op::Exit(of), _) => {
                self.assign_results(of, args);
                self.jump(Some(ReconvergencePoint::End(of)));
            }
            (Op::Continue(of), _) => {
                if let Op::Loop { continuing, .. } = kernel.insts[of].op {
                    let params = &kernel.blocks[continuing].params;
                    let sources = self.sources(params, args);
                    self.assign(params, sources, self.subject.reconvergence.diverges(ReconvergencePoint::Next(of)));
                }
                self.jump(Some(ReconvergencePoint::Next(of)));
            }
            (Op::Return, Some(_)) => self.jump(None),
            _ => {}
        }
    }

    /// A loop that counts a scalar register down to zero.
    pub fn repeat_while(&mut self, rounds: Operand, round: impl FnOnce(&mut Self)) {
        let head = self.label();
        self.begin(head);
        round(self);
        self.raw(Operation::ScalarSub, &[rounds], &[rounds, Operand::Constant(1)]);
        self.compare_scalars("lg_u32", rounds, FALSE);
        self.branch(Operation::BranchScc1, head);
    }

    /// A loop that handles a set of lanes in each iteration, which then leave.
    pub fn repeat_lanes(&mut self, round: impl FnOnce(&mut Self) -> Operand) {
        let head = self.label();
        self.begin(head);
        let done = round(self);
        self.with_masks(Operation::ScalarAndNot, Operation::ScalarAndNot64, EXEC, &[EXEC, done]);
        self.branch(Operation::BranchExecSome, head);
    }

    /// A waterfall loop: runs code for the lanes with the same words as the first one, with these words in scalar
    /// registers, until no lane is left.
    pub fn for_each_group(&mut self, words: &[Operand], run: impl FnOnce(&mut Self, &[Operand])) {
        let entered = self.mask_register();
        self.move_mask(entered, EXEC);
        let head = self.label();
        self.begin(head);
        let firsts: Words = words.iter().map(|word| self.in_scalar(*word)).collect();
        let mut group = None;
        for (word, first) in words.iter().zip(&firsts) {
            let same = self.compare_lanes("eq_u32", *first, *word);
            group = Some(match group {
                None => same,
                Some(others) => self.on_masks(Operation::ScalarAnd, Operation::ScalarAnd64, &[others, same]),
            });
        }
        let left = self.mask_register();
        self.with_masks(Operation::SaveExecAnd, Operation::SaveExecAnd64, left, group.as_slice());
        run(self, &firsts);
        self.with_masks(Operation::ScalarXor, Operation::ScalarXor64, EXEC, &[left, EXEC]);
        self.branch(Operation::BranchExecSome, head);
        self.move_mask(EXEC, entered);
    }

    /// Code for all lanes of the wave. Its values are visible after it under the names of its results.
    fn whole_wave(&mut self, inst: InstId, body: BlockId) {
        let kernel = self.kernel;
        self.is_lane = true;
        let saved = self.all_lanes();
        let outer = self.start.active.replace(saved);
        self.divided.clear();
        (self.clean_from, self.swapped) = (self.block.insts.len(), None);
        for inner in &kernel.blocks[body].insts {
            self.take_facts(*inner);
            if kernel.insts[*inner].op == Op::Yield {
                let yielded: Vec<Words> = kernel.args(*inner).iter().map(|value| self.words(*value)).collect();
                kernel.results(inst).zip(yielded).for_each(|(result, words)| self.give(result, words));
            } else {
                self.plain(*inner);
            }
        }
        self.start.active = outer;
        (self.is_lane, self.origin) = (true, kernel.insts[inst].origin);
        self.only_lanes(saved);
        self.divided.clear();
        (self.clean_from, self.swapped) = (self.block.insts.len(), None);
    }

    /// Activates all lanes. Returns the previous EXEC.
    pub fn all_lanes(&mut self) -> Operand {
        let saved = self.mask_register();
        self.with_masks(Operation::SaveExecOr, Operation::SaveExecOr64, saved, &[Operand::Constant(u32::MAX)]);
        saved
    }

    /// Switches off all lanes but these.
    pub fn only_lanes(&mut self, saved: Operand) {
        self.move_mask(EXEC, saved);
    }

    // Variables: results of constructs and parameters of blocks.

    /// Registers for the results of a construct from here on. Returns their number.
    fn begin_results(&mut self, inst: InstId, diverges: bool) -> usize {
        let needs = |value: &Value| self.uses[value.index()] > 0 && self.subject.kept.by(*value).is_none();
        let results: Vec<Value> = self.kernel.results(inst).filter(needs).collect();
        self.variables(&results, diverges);
        results.len()
    }

    /// Registers for values that are written at several places, by groups of lanes if they diverge.
    fn variables(&mut self, values: &[Value], diverges: bool) {
        for value in values {
            let ty = self.kernel.ty(*value);
            let width = self.width(ty);
            let file = match ty {
                Ty::Bool => File::Scalar,
                _ if self.is_uniform(*value) => File::Scalar,
                _ => File::Vector,
            };
            let register = match file {
                File::Scalar => self.scalars(width),
                File::Vector => self.vectors(width),
            };
            if diverges && ty == Ty::Bool {
                self.move_mask(register, FALSE);
            } else if diverges && file == File::Vector {
                self.declare(register);
            }
            self.give_one(*value, register);
        }
    }

    fn assign_results(&mut self, of: InstId, from: &[Value]) {
        let results: Vec<Value> = self.kernel.results(of).collect();
        let diverges = self.subject.reconvergence.diverges(ReconvergencePoint::End(of));
        let from = self.sources(&results, from);
        self.assign(&results, from, diverges);
    }

    /// The words for variables; empty if no copy is needed.
    fn sources(&mut self, to: &[Value], from: &[Value]) -> Vec<Words> {
        let pairs = to.iter().zip(from);
        pairs
            .map(|(to, from)| if self.needs_no_copy(*to, *from) { Words::new() } else { self.source(*to, *from) })
            .collect()
    }

    /// One operand of the variable's file and width.
    fn source(&mut self, to: Value, from: Value) -> Words {
        let file = match self.kernel.ty(to) {
            Ty::Bool => return [self.mask(from)].into_iter().collect(),
            _ if self.is_uniform(to) => File::Scalar,
            _ => File::Vector,
        };
        let words = self.words(from);
        match words.len() {
            1 if file == File::Scalar => [self.scalar_operand(words[0])].into_iter().collect(),
            1 => words,
            _ => [self.whole(&words, file)].into_iter().collect(),
        }
    }

    /// Copies into variables, in parallel: a register that is still to be read is not overwritten. If lanes come from
    /// several places, only the active ones are written.
    fn assign(&mut self, to: &[Value], from: Vec<Words>, some_lanes: bool) {
        let mut pending = Vec::new();
        for (to, from) in to.iter().zip(from) {
            let (Some(words), Some(from)) = (self.values[to.index()].clone(), from.first()) else { continue };
            let is_mask = self.kernel.ty(*to) == Ty::Bool;
            let width = self.width(self.kernel.ty(*to));
            let variable = self.variable(&words, width);
            if variable != *from {
                pending.push(Copy { to: variable, from: *from, is_mask, some_lanes });
            }
        }
        let read = |copy: &Copy, read: &mut BTreeSet<u32>| read.extend(register(copy.from));
        in_order(
            pending,
            |copy| register(copy.to),
            read,
            |step| match step {
                Step::Copy(copy) => self.copy(copy),
                Step::OpenRing(first, readers) => self.open_ring(first.to, readers),
            },
        );
    }

    /// The whole register of a variable.
    fn variable(&self, words: &[Operand], width: u8) -> Operand {
        match words.first() {
            Some(Operand::Reg(slice)) => Operand::Reg(Slice { count: width, ..*slice }),
            other => other.copied().unwrap_or(FALSE),
        }
    }

    /// Copies a register for the instructions that still read its old value.
    fn open_ring(&mut self, held: Operand, readers: &mut [Copy]) {
        let Operand::Reg(slice) = held else { return };
        let kept = if self.is_vector(held) { self.vectors(slice.count) } else { self.scalars(slice.count) };
        self.put(Inst::new(Code::Pseudo(Pseudo::Copy), &[kept], &[held]));
        let Operand::Reg(Slice { reg, .. }) = kept else { return };
        for copy in readers {
            match &mut copy.from {
                Operand::Reg(from) if from.reg == slice.reg => from.reg = reg,
                _ => {}
            }
        }
    }

    fn copy(&mut self, copy: Copy) {
        let Copy { to, from, is_mask, some_lanes } = copy;
        if is_mask {
            return self.copy_mask(to, from, some_lanes);
        }
        let keeps = some_lanes && self.is_vector(to);
        self.move_to(to, from).keeps = keeps;
    }

    fn copy_mask(&mut self, to: Operand, from: Operand, some_lanes: bool) {
        if !some_lanes {
            return self.move_mask(to, from);
        }
        let others = self.on_masks(Operation::ScalarAndNot, Operation::ScalarAndNot64, &[to, EXEC]);
        let own = self.on_masks(Operation::ScalarAnd, Operation::ScalarAnd64, &[from, EXEC]);
        self.with_masks(Operation::ScalarOr, Operation::ScalarOr64, to, &[others, own]);
    }
}

/// The operations that keep the lanes inside or outside a mask.
const fn kept_by(are_in: bool) -> (Operation, Operation) {
    match are_in {
        true => (Operation::ScalarAnd, Operation::ScalarAnd64),
        false => (Operation::ScalarAndNot, Operation::ScalarAndNot64),
    }
}

/// A copy into a variable.
#[derive(Clone, Copy, Debug)]
struct Copy {
    to: Operand,
    from: Operand,
    is_mask: bool,
    some_lanes: bool,
}

fn register(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Reg(slice) => Some(slice.reg.0),
        _ => None,
    }
}
