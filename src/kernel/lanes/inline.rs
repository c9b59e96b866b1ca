//! The steps of a plan as instructions: one each, except a comparison of bools, which takes two.

use super::{Lowering, Operation, setup_key};
use crate::ir::{InstFlags, Scalar, ScalarKind};
use crate::kernel::arith;
use crate::kernel::{BinOp, BlockId, CmpOp, InstId, OWN_WORD, Op, Origin, Ty, UnOp, Value};
use crate::lane::primitive::LdsOp;
use crate::lane::{AluOp, CompareOp, Fork, LaneFact, Operand, Plan, Step, StepOp, StepType, Turns};
use crate::source::Span;
use std::ops::Range;

/// A value with its scalar type; masks have none.
#[derive(Clone, Copy)]
struct Arg {
    value: Value,
    scalar: Option<Scalar>,
}

/// One use of a plan.
struct Run<'p> {
    plan: &'p Plan,
    /// See [`Operation::steady`].
    steady: Option<InstId>,
    inputs: Vec<Arg>,
    setup: Vec<Arg>,
    /// `None` for steps without a result.
    steps: Vec<Option<Arg>>,
    flags: InstFlags,
    span: Span,
}

impl Lowering<'_> {
    /// Writes the steps instead of an operation.
    pub fn inline(&mut self, operation: &Operation, plan: &Plan, out: &mut Vec<InstId>) {
        let Operation { inst, steady, .. } = *operation;
        let inputs = self.inputs(inst);
        let (flags, span) = (self.kernel.insts[inst].flags, self.kernel.insts[inst].span);
        let mut run = Run { plan, steady, inputs, setup: Vec::new(), steps: Vec::new(), flags, span };
        let number = self.kernel.set_ups.len() as u32;
        let bounces = plan.steps.iter().any(|step| step.op == StepOp::Prim(LdsOp::Bounce.into()));
        self.kernel.set_ups.push(if bounces { vec![OWN_WORD] } else { Vec::new() });
        for step in &plan.setup {
            let result = self.set_up(step, &run);
            run.setup.extend(result);
        }
        self.origin = Origin::Operation(number);
        self.write_steps(&mut run, out);
        let given = [Some(plan.result), plan.second].into_iter().flatten();
        for (result, operand) in self.kernel.results(inst).zip(given) {
            if let Some(arg) = self.operand(operand, &run) {
                self.names.replace(result, arg.value);
            }
        }
    }

    /// An instruction with the current origin.
    fn add(&mut self, op: Op, args: &[Value], results: &[Ty], run: &Run) -> InstId {
        let inst = self.kernel.add_inst(op, args, results, run.flags, run.span);
        self.kernel.insts[inst].origin = self.origin;
        inst
    }

    fn inputs(&self, inst: InstId) -> Vec<Arg> {
        let Op::Lane { ty, .. } = self.kernel.insts[inst].op else { return Vec::new() };
        let scalars = [ty[0], ty[1], Scalar::U32];
        let arg = |(value, scalar): (&Value, Scalar)| {
            let scalar = Some(scalar).filter(|_| self.kernel.ty(*value) != Ty::Mask);
            Arg { value: *value, scalar }
        };
        self.kernel.args(inst).iter().zip(scalars).map(arg).collect()
    }

    /// A step at the kernel's start, shared with an equal one.
    fn set_up(&mut self, step: &Step, run: &Run) -> Option<Arg> {
        let args: Vec<Value> =
            step.operands().iter().filter_map(|arg| self.operand(*arg, run)).map(|arg| arg.value).collect();
        let key = setup_key(step, &args);
        let scalar = scalar_of(step.ty, run);
        let known = self.setup.get(&key).copied();
        let number = known.map_or(self.setup.len() as u32, |(_, number)| number);
        self.kernel.set_ups.last_mut()?.push(number);
        if let Some((value, _)) = known {
            return Some(Arg { value, scalar });
        }
        self.origin = Origin::SetUp(number);
        let mut insts = std::mem::take(&mut self.setup_insts);
        let result = self.step(step, run, &mut insts);
        self.setup_insts = insts;
        self.setup.insert(key, (result?.value, number));
        result
    }

    /// Writes all steps; steps that all lanes run go into a separate block.
    fn write_steps(&mut self, run: &mut Run, out: &mut Vec<InstId>) {
        let plan = run.plan;
        if let Some(turns) = &plan.turns {
            let (start, end) = (usize::from(turns.steps.start), usize::from(turns.steps.end));
            self.write(&plan.steps[..start], run, out);
            self.write_turns(&plan.steps[start..end], turns, run, out);
            self.write(&plan.steps[end..], run, out);
            return;
        }
        if let Some(fork) = &plan.fork {
            self.write_test(&plan.steps[..usize::from(fork.accept.start)], run, out);
            self.write_fork(fork, run, out);
            self.write(&plan.steps[usize::from(fork.select()) + 1..], run, out);
            return;
        }
        let whole = usize::from(plan.whole.start)..usize::from(plan.whole.end);
        let (before, rest) = plan.steps.split_at(whole.start);
        let (inside, after) = rest.split_at(whole.len());
        self.write(before, run, out);
        if !inside.is_empty() {
            let mut insts = Vec::new();
            self.write(inside, run, &mut insts);
            self.close_whole(insts, run, out);
        }
        self.write(after, run, out);
    }

    /// Emits steps as the body of a loop that each lane leaves when it is done.
    fn write_turns(&mut self, steps: &[Step], turns: &Turns, run: &mut Run, out: &mut Vec<InstId>) {
        let start = run.steps.len();
        let mut insts = Vec::new();
        self.write(steps, run, &mut insts);
        let made: Vec<Value> = run.steps[start..].iter().flatten().map(|arg| arg.value).collect();
        let done = self.operand(turns.done, run).map(|arg| arg.value);
        let types: Vec<Ty> = made.iter().map(|value| self.kernel.ty(*value)).collect();
        let (body, continuing) = (self.kernel.add_block(&[]), self.kernel.add_block(&types));
        let turn = self.add(Op::Loop { body, continuing }, &[], &types, run);
        insts.push(self.add(Op::Continue(turn), &made, &[], run));
        let passed = self.kernel.blocks[continuing].params.clone();
        let done = made.iter().position(|value| Some(*value) == done).map(|n| passed[n]);
        let repeat: Vec<Value> = done.into_iter().chain(passed).collect();
        let repeat = self.add(Op::Repeat, &repeat, &[], run);
        self.kernel.blocks[body].insts = insts;
        self.kernel.blocks[continuing].insts.push(repeat);
        out.push(turn);
        let results: Vec<Value> = self.kernel.results(turn).collect();
        for (arg, result) in run.steps[start..].iter_mut().flatten().zip(results) {
            arg.value = result;
        }
    }

    /// Emits the steps before a fork. If the active lanes stay the same in a loop, they are tested once, before it.
    fn write_test(&mut self, steps: &[Step], run: &mut Run, out: &mut Vec<InstId>) {
        let reads_input = |step: &Step| step.operands().iter().any(|operand| matches!(operand, Operand::Input(_)));
        match run.steady.filter(|_| !steps.iter().any(reads_input)) {
            Some(steady) => {
                let mut before = Vec::new();
                self.write(steps, run, &mut before);
                self.before_loops.push((steady, before));
            }
            None => self.write(steps, run, out),
        }
    }

    /// Emits the two sides of a fork as a branch, or only the second side if branches are deeply nested.
    fn write_fork(&mut self, fork: &Fork, run: &mut Run, out: &mut Vec<InstId>) {
        let plan = run.plan;
        let steps = |range: &Range<u16>| &plan.steps[usize::from(range.start)..usize::from(range.end)];
        let [test, accepted, rejected] = plan.steps[usize::from(fork.select())].args;
        if !self.may_branch() {
            run.steps.extend(steps(&fork.accept).iter().map(|_| None));
            self.write(steps(&fork.reject), run, out);
            let result = self.operand(rejected, run);
            return run.steps.push(result);
        }
        let condition = self.operand(test, run).map(|arg| arg.value);
        let mut way = |range: &Range<u16>, result: Operand| {
            let mut insts = Vec::new();
            self.write(steps(range), run, &mut insts);
            let result = self.operand(result, run);
            let values: Vec<Value> = result.iter().map(|arg| arg.value).collect();
            insts.push(self.add(Op::Yield, &values, &[], run));
            let block = self.kernel.add_block(&[]);
            self.kernel.blocks[block].insts = insts;
            (block, result)
        };
        let (then, result) = way(&fork.accept, accepted);
        let (otherwise, _) = way(&fork.reject, rejected);
        let types: Vec<Ty> = result.iter().map(|arg| self.kernel.ty(arg.value)).collect();
        let branch = self.add(Op::If { then, otherwise }, condition.as_slice(), &types, run);
        out.push(branch);
        let value = self.kernel.result(branch);
        run.steps.push(result.zip(value).map(|(arg, value)| Arg { value, ..arg }));
    }

    /// Returns true if a branch here certainly respects the profile's nesting limit for cross-lane instructions. Each
    /// construct counts as two at most, because a loop gets a branch around it.
    fn may_branch(&self) -> bool {
        self.profile.lane_nesting.is_none_or(|most| 2 * (self.depth as u32 + 1) < most)
    }

    fn write(&mut self, steps: &[Step], run: &mut Run, out: &mut Vec<InstId>) {
        for step in steps {
            let result = self.step(step, run, out);
            run.steps.push(result);
        }
    }

    /// Makes a block of the instructions that all lanes run; afterwards their values are its results.
    fn close_whole(&mut self, insts: Vec<InstId>, run: &mut Run, out: &mut Vec<InstId>) {
        let start = usize::from(run.plan.whole.start);
        let made: Vec<Arg> = run.steps[start..].iter().flatten().copied().collect();
        let is_made_here = |arg: &Arg| self.kernel.definition(arg.value).is_some_and(|inst| insts.contains(&inst));
        let yielded: Vec<Arg> = made.into_iter().filter(is_made_here).collect();
        let values: Vec<Value> = yielded.iter().map(|arg| arg.value).collect();
        let types: Vec<Ty> = values.iter().map(|value| self.kernel.ty(*value)).collect();
        let end = self.add(Op::Yield, &values, &[], run);
        let body: BlockId = self.kernel.add_block(&[]);
        self.kernel.blocks[body].insts = insts;
        self.kernel.blocks[body].insts.push(end);
        let whole = self.add(Op::Whole { body }, &[], &types, run);
        out.push(whole);
        let results: Vec<Value> = self.kernel.results(whole).collect();
        for arg in run.steps[start..].iter_mut().flatten() {
            if let Some(n) = values.iter().position(|value| *value == arg.value) {
                arg.value = results[n];
            }
        }
    }

    fn operand(&mut self, operand: Operand, run: &Run) -> Option<Arg> {
        match operand {
            Operand::None => None,
            Operand::Input(n) => run.inputs.get(usize::from(n)).copied(),
            Operand::Setup(n) => run.setup.get(usize::from(n)).copied(),
            Operand::Step(n) => run.steps.get(usize::from(n)).copied().flatten(),
            Operand::Const(value) => Some(self.constant(Scalar::U32, value.into())),
            Operand::Bool(value) => Some(self.constant(Scalar::BOOL, value.into())),
        }
    }

    fn constant(&mut self, scalar: Scalar, bits: u64) -> Arg {
        Arg { value: self.kernel.constant(Ty::of(scalar), bits), scalar: Some(scalar) }
    }

    /// Emits one step and returns its result.
    fn step(&mut self, step: &Step, run: &Run, out: &mut Vec<InstId>) -> Option<Arg> {
        let args: Vec<Arg> = step.operands().iter().filter_map(|operand| self.operand(*operand, run)).collect();
        let scalar = scalar_of(step.ty, run);
        let own = scalar.unwrap_or(Scalar::U32);
        let op = match step.op {
            StepOp::Prim(primitive) => {
                Op::Prim { primitive, ty: args.first().and_then(|arg| arg.scalar).unwrap_or(Scalar::U32) }
            }
            StepOp::CombineMoved(op, primitive) => Op::CombineMoved { op, ty: own, primitive },
            StepOp::Fact(LaneFact::Size) => return Some(self.constant(Scalar::U32, self.profile.wave_size?.into())),
            StepOp::Fact(fact) => Op::Fact(fact),
            StepOp::Alu(op) => alu(op),
            StepOp::Combine(op) => Op::Bin(arith::fold_op(op), own),
            StepOp::Remove(op) => Op::Bin(arith::unfold_op(op), own),
            StepOp::Compare(op) => return Some(self.compare(op, &args, run, out)),
            StepOp::Select => Op::Select,
            StepOp::Identity(op) => return Some(self.constant(own, arith::identity(op, own))),
            StepOp::Neutral(op) => return Some(self.constant(own, arith::neutral(op, own))),
            StepOp::Zero => return Some(self.constant(own, 0)),
        };
        let values: Vec<Value> = args.iter().map(|arg| arg.value).collect();
        self.emit(op, &values, step.ty, scalar, run, out)
    }

    fn emit(
        &mut self,
        op: Op,
        args: &[Value],
        ty: StepType,
        scalar: Option<Scalar>,
        run: &Run,
        out: &mut Vec<InstId>,
    ) -> Option<Arg> {
        let results: &[Ty] = match ty {
            StepType::None => &[],
            _ => &[scalar.map_or(Ty::Mask, Ty::of)],
        };
        let inst = self.add(op, args, results, run);
        // The proof is of sums and products that round each.
        let is_float = matches!(op, Op::Bin(_, ty) | Op::CombineMoved { ty, .. } if ty.is_float());
        self.kernel.insts[inst].flags.set(InstFlags::PRECISE, is_float || run.flags.contains(InstFlags::PRECISE));
        out.push(inst);
        self.kernel.result(inst).map(|value| Arg { value, scalar })
    }

    /// `a == b` or `a < b`; of bools `a < b` is `!a & b`.
    fn compare(&mut self, op: CompareOp, args: &[Arg], run: &Run, out: &mut Vec<InstId>) -> Arg {
        let scalar = args[0].scalar.unwrap_or(Scalar::U32);
        let (a, b, bool) = (args[0].value, args[1].value, Some(Scalar::BOOL));
        let result = match op {
            CompareOp::Lt if scalar.is_bool() => {
                let not = self.emit(Op::Un(UnOp::Not, Scalar::BOOL), &[a], StepType::Bool, bool, run, out);
                let not = not.map_or(a, |not| not.value);
                self.emit(Op::Bin(BinOp::And, Scalar::BOOL), &[not, b], StepType::Bool, bool, run, out)
            }
            CompareOp::Eq => self.emit(Op::Cmp(CmpOp::Eq, scalar), &[a, b], StepType::Bool, bool, run, out),
            CompareOp::Same => {
                let bits = Scalar { kind: if scalar.is_bool() { scalar.kind } else { ScalarKind::Uint }, ..scalar };
                self.emit(Op::Cmp(CmpOp::Eq, bits), &[a, b], StepType::Bool, bool, run, out)
            }
            CompareOp::Lt => self.emit(Op::Cmp(CmpOp::Lt, scalar), &[a, b], StepType::Bool, bool, run, out),
        };
        result.expect("a comparison has a result")
    }
}

fn scalar_of(ty: StepType, run: &Run) -> Option<Scalar> {
    match ty {
        StepType::Like(n) => run.inputs.get(usize::from(n))?.scalar,
        StepType::Index => Some(Scalar::U32),
        StepType::Bool => Some(Scalar::BOOL),
        StepType::Ballot | StepType::None => None,
    }
}

/// The kernel operation for a lane arithmetic operation.
fn alu(op: AluOp) -> Op {
    use AluOp as A;
    let index = |op| Op::Bin(op, Scalar::U32);
    let truth = |op| Op::Bin(op, Scalar::BOOL);
    let compared = |op| Op::Cmp(op, Scalar::U32);
    match op {
        A::Add => index(BinOp::Add),
        A::Sub => index(BinOp::Sub),
        A::Mul => index(BinOp::Mul),
        A::And => index(BinOp::And),
        A::Or => index(BinOp::Or),
        A::Xor => index(BinOp::Xor),
        A::Shl => index(BinOp::Shl),
        A::Shr => index(BinOp::Shr),
        A::Min => index(BinOp::Min),
        A::Max => index(BinOp::Max),
        A::Not => Op::Un(UnOp::Not, Scalar::U32),
        A::BitCount => Op::Un(UnOp::BitCount, Scalar::U32),
        A::FindLsb => Op::Un(UnOp::FindLsb, Scalar::U32),
        A::FindMsb => Op::Un(UnOp::FindMsb, Scalar::U32),
        A::Eq => compared(CmpOp::Eq),
        A::Ne => compared(CmpOp::Ne),
        A::Lt => compared(CmpOp::Lt),
        A::Le => compared(CmpOp::Le),
        A::Gt => compared(CmpOp::Gt),
        A::Ge => compared(CmpOp::Ge),
        A::BoolAnd => truth(BinOp::And),
        A::BoolOr => truth(BinOp::Or),
        A::BoolXor => truth(BinOp::Xor),
        A::BoolNot => Op::Un(UnOp::Not, Scalar::BOOL),
        A::BallotAnd | A::BallotOr | A::BallotNot | A::BallotIsEmpty | A::BallotIsSome | A::BallotSize => {
            Op::MaskAlu(op)
        }
        A::BallotWord | A::BallotFromMask => Op::MaskAlu(op),
    }
}
