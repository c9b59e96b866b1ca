//! Runs a plan on lanes: every step on all active lanes at once, with poison where hardware guarantees nothing.
//!
//! This module implements primitives and lane arithmetic, independently of a plan's purpose.

mod alu;
mod group;
mod hardware;

use super::op::MaskOp;
use super::plan::{CompareOp, Fork, LaneFact, Operand, Plan, Step, StepOp, StepType, Turns};
use super::primitive::Primitive;
use super::value::{self, Domain, LaneRow, LaneValue, Lanes, low_bits};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;

/// A plan that is not a valid program: a step uses a missing operand, or operands of the wrong kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    pub step: Step,
}

/// Result of one step, or `None` if its operands are of the wrong kind.
type Outcome<T> = Option<LaneRow<T>>;

/// Runs a plan and returns its result, and the second one if there is one.
pub fn run<D: Domain>(
    domain: &mut D,
    plan: &Plan,
    inputs: &[LaneRow<D::Data>],
    lanes: Lanes,
) -> Result<Vec<LaneRow<D::Data>>, Malformed> {
    trace(domain, plan, inputs, lanes).map(|trace| trace.results)
}

/// The values that every step of a plan computes.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace<T> {
    pub setup: Vec<LaneRow<T>>,
    pub steps: Vec<LaneRow<T>>,
    /// The result, and the second one if the plan has two.
    pub results: Vec<LaneRow<T>>,
}

/// The results, with the results of all steps.
pub fn trace<D: Domain>(
    domain: &mut D,
    plan: &Plan,
    inputs: &[LaneRow<D::Data>],
    lanes: Lanes,
) -> Result<Trace<D::Data>, Malformed> {
    let setup = set_up(domain, plan, lanes)?;
    let (steps, results) = steps_after(domain, plan, &setup, inputs, lanes)?;
    Ok(Trace { setup, steps, results })
}

/// Results of the setup, for every run with the same or fewer active lanes.
pub fn set_up<D: Domain>(domain: &mut D, plan: &Plan, lanes: Lanes) -> Result<Vec<LaneRow<D::Data>>, Malformed> {
    let mut setup: Vec<LaneRow<D::Data>> = Vec::with_capacity(plan.setup.len());
    for step in &plan.setup {
        let machine = Machine { inputs: &[], lanes, setup: &setup, steps: Vec::new() };
        let row = machine.step(domain, step).ok_or(Malformed { step: *step })?;
        setup.push(row);
    }
    Ok(setup)
}

/// Runs a plan after its setup. If whole-wave steps read the setup, it must have run for these lanes.
pub fn run_after<D: Domain>(
    domain: &mut D,
    plan: &Plan,
    setup: &[LaneRow<D::Data>],
    inputs: &[LaneRow<D::Data>],
    lanes: Lanes,
) -> Result<Vec<LaneRow<D::Data>>, Malformed> {
    steps_after(domain, plan, setup, inputs, lanes).map(|(_, results)| results)
}

/// Rows of the steps, and of the results.
type Steps<T> = (Vec<LaneRow<T>>, Vec<LaneRow<T>>);

fn steps_after<D: Domain>(
    domain: &mut D,
    plan: &Plan,
    setup: &[LaneRow<D::Data>],
    inputs: &[LaneRow<D::Data>],
    lanes: Lanes,
) -> Result<Steps<D::Data>, Malformed> {
    let inputs: Vec<LaneRow<D::Data>> = inputs.iter().map(|row| only_active(row, lanes)).collect();
    let mut machine = Machine { inputs: &inputs, lanes, setup, steps: Vec::with_capacity(plan.steps.len()) };
    let mut passed_over = 0..0;
    for (n, step) in plan.steps.iter().enumerate() {
        match &plan.turns {
            Some(turns) if n == usize::from(turns.steps.start) => {
                machine.steps = take_turns(domain, plan, turns, &machine)?;
            }
            _ => {}
        }
        if n < machine.steps.len() {
            continue;
        }
        if let Some(fork) = plan.fork.as_ref().filter(|fork| n == usize::from(fork.accept.start)) {
            passed_over = machine.way_not_taken(plan, fork)?;
        }
        if passed_over.contains(&(n as u16)) {
            machine.steps.push(vec![LaneValue::Poison; lanes.size as usize]);
            continue;
        }
        machine.lanes = if plan.whole.contains(&(n as u16)) { Lanes::full(lanes.size) } else { lanes };
        let row = machine.step(domain, step).ok_or(Malformed { step: *step })?;
        machine.steps.push(row);
    }
    let row = |operand| machine.arg(operand).map(|arg| arg.row(lanes.size).into_owned());
    let results = [Some(plan.result), plan.second].into_iter().flatten();
    let results =
        results.map(|operand| row(operand).ok_or(Malformed { step: no_step(operand) })).collect::<Result<_, _>>()?;
    Ok((machine.steps, results))
}

/// Rows of the steps up to the end of the turns. Each turn runs in the remaining lanes.
fn take_turns<D: Domain>(
    domain: &mut D,
    plan: &Plan,
    turns: &Turns,
    machine: &Machine<D::Data>,
) -> Result<Vec<LaneRow<D::Data>>, Malformed> {
    let (start, end) = (usize::from(turns.steps.start), usize::from(turns.steps.end));
    let size = machine.lanes.size;
    let mut rows = machine.steps.clone();
    rows.resize(end, vec![LaneValue::Poison; size as usize]);
    let mut left = machine.lanes;
    while left.active != 0 {
        let inputs: Vec<LaneRow<D::Data>> = machine.inputs.iter().map(|row| only_active(row, left)).collect();
        let mut turn = Machine { inputs: &inputs, lanes: left, setup: machine.setup, steps: machine.steps.clone() };
        for step in &plan.steps[start..end] {
            let row = turn.step(domain, step).ok_or(Malformed { step: *step })?;
            turn.steps.push(row);
        }
        let done = turn.leaving(turns.done).ok_or(Malformed { step: no_step(turns.done) })?;
        for lane in (Lanes { size, active: done }).iter().map(|lane| lane as usize) {
            (start..end).for_each(|n| rows[n][lane] = turn.steps[n][lane]);
        }
        left.active &= !done;
    }
    Ok(rows)
}

/// An operand, undefined in inactive lanes.
fn only_active<T: Copy>(row: &LaneRow<T>, lanes: Lanes) -> LaneRow<T> {
    if lanes.is_full() {
        return row.clone();
    }
    let mut active = vec![LaneValue::Poison; lanes.size as usize];
    for i in lanes.iter() {
        active[i as usize] = row[i as usize];
    }
    active
}

/// Placeholder in messages for a result that is not a step.
fn no_step(operand: Operand) -> Step {
    Step { op: StepOp::Select, args: [operand, Operand::None, Operand::None], ty: StepType::None }
}

/// Runs one instruction: `StepOp::Prim` or `StepOp::CombineMoved`. Inactive lanes may have values, from scalars and
/// masks, so the operands are used unmasked. `None` if they are of the wrong kind.
pub fn instruction<D: Domain>(
    domain: &mut D,
    op: StepOp,
    inputs: &[LaneRow<D::Data>],
    lanes: Lanes,
) -> Option<LaneRow<D::Data>> {
    let machine = Machine { inputs: &[], lanes, setup: &[], steps: Vec::new() };
    let rows: SmallVec<[&[LaneValue<D::Data>]; 3]> = inputs.iter().map(Vec::as_slice).collect();
    machine.instruction(domain, op, &rows)
}

/// Runs one step of arithmetic within each lane, on these operands. `inputs` are the operands of the operation. `None` if
/// the operands are of the wrong kind.
pub fn arithmetic<D: Domain>(
    domain: &mut D,
    step: &Step,
    operands: &[LaneRow<D::Data>],
    inputs: &[LaneRow<D::Data>],
    lanes: Lanes,
) -> Option<LaneRow<D::Data>> {
    let machine = Machine { inputs, lanes, setup: &[], steps: Vec::new() };
    let args: SmallVec<[Arg<D::Data>; 3]> = operands.iter().map(|row| Arg::Row(row)).collect();
    machine.arithmetic(domain, step, &args)
}

/// An operand of a step: one value per lane, or one for all lanes.
#[derive(Clone, Copy)]
enum Arg<'a, T> {
    Row(&'a [LaneValue<T>]),
    All(LaneValue<T>),
}

impl<'a, T: Copy> Arg<'a, T> {
    fn at(self, lane: usize) -> LaneValue<T> {
        match self {
            Arg::Row(row) => row[lane],
            Arg::All(value) => value,
        }
    }

    fn row(self, size: u32) -> Cow<'a, [LaneValue<T>]> {
        match self {
            Arg::Row(row) => Cow::Borrowed(row),
            Arg::All(value) => Cow::Owned(vec![value; size as usize]),
        }
    }
}

/// Values of the steps so far. Rows are undefined in inactive lanes, except for masks, constants and scalars.
struct Machine<'a, T: Copy> {
    inputs: &'a [LaneRow<T>],
    lanes: Lanes,
    setup: &'a [LaneRow<T>],
    steps: Vec<LaneRow<T>>,
}

impl<T: Copy + PartialEq> Machine<'_, T> {
    fn arg(&self, operand: Operand) -> Option<Arg<'_, T>> {
        match operand {
            Operand::None => None,
            Operand::Input(n) => self.inputs.get(n as usize).map(|row| Arg::Row(row.as_slice())),
            Operand::Setup(n) => self.setup.get(n as usize).map(|row| Arg::Row(row.as_slice())),
            Operand::Step(n) => self.steps.get(n as usize).map(|row| Arg::Row(row.as_slice())),
            Operand::Const(value) => Some(Arg::All(LaneValue::Index(value))),
            Operand::Bool(value) => Some(Arg::All(LaneValue::Bool(value))),
        }
    }

    /// The active lanes in which a bool is true; `None` unless it is defined in all of them and true in at least one.
    fn leaving(&self, done: Operand) -> Option<u128> {
        let done = self.arg(done)?;
        let mut lanes = self.lanes.iter();
        let bits = lanes.try_fold(0, |bits, lane| Some(bits | u128::from(done.at(lane as usize).bool()?) << lane))?;
        (bits != 0).then_some(bits)
    }

    /// The steps of a fork that do not run. Its condition must be defined and uniform in all active lanes.
    fn way_not_taken(&self, plan: &Plan, fork: &Fork) -> Result<Range<u16>, Malformed> {
        let malformed = || Malformed { step: plan.steps[usize::from(fork.accept.start)] };
        let select = plan.steps.get(usize::from(fork.select())).filter(|step| step.op == StepOp::Select);
        let condition = select.and_then(|select| self.arg(select.args[0])).ok_or_else(malformed)?;
        let mut lanes = self.lanes.iter().map(|lane| condition.at(lane as usize).bool());
        let first = lanes.next().flatten().ok_or_else(malformed)?;
        match lanes.all(|other| other == Some(first)) {
            true => Ok(if first { fork.reject.clone() } else { fork.accept.clone() }),
            false => Err(malformed()),
        }
    }

    fn step<D: Domain<Data = T>>(&self, domain: &mut D, step: &Step) -> Outcome<T> {
        let args: SmallVec<[Arg<T>; 3]> = step.operands().iter().map(|arg| self.arg(*arg)).collect::<Option<_>>()?;
        match step.op {
            StepOp::Prim(_) | StepOp::CombineMoved(..) => {
                let rows: SmallVec<[Cow<[LaneValue<T>]>; 3]> =
                    args.iter().map(|arg| arg.row(self.lanes.size)).collect();
                let rows: SmallVec<[&[LaneValue<T>]; 3]> = rows.iter().map(|row| &**row).collect();
                self.instruction(domain, step.op, &rows)
            }
            _ => self.arithmetic(domain, step, &args),
        }
    }

    /// A step that moves values between lanes or combines several.
    fn instruction<D: Domain<Data = T>>(&self, domain: &mut D, op: StepOp, rows: &[&[LaneValue<T>]]) -> Outcome<T> {
        match (op, rows) {
            (StepOp::Prim(primitive), rows) => self.primitive(domain, primitive, rows),
            (StepOp::CombineMoved(op, primitive), [own, moved @ ..]) if primitive.fuses() => {
                hardware::combine_moved(domain, op, primitive, own, moved, self.lanes)
            }
            (StepOp::CombineMoved(op, primitive), [own, moved @ ..]) => {
                let moved = self.primitive(domain, primitive, moved)?;
                self.each(|i| value::combine(domain, op, own[i], moved[i]))
            }
            _ => None,
        }
    }

    /// A step that works within each lane.
    fn arithmetic<D: Domain<Data = T>>(&self, domain: &mut D, step: &Step, args: &[Arg<T>]) -> Outcome<T> {
        match (step.op, args) {
            (StepOp::Fact(LaneFact::InSet(set)), []) => self.everywhere(|i| Some(LaneValue::Bool(set >> i & 1 != 0))),
            (StepOp::Fact(fact), []) => self.each(|i| Some(fact_of(fact, i as u32, self.lanes))),
            (StepOp::Alu(op), [a]) if op.result() != StepType::Index => self.everywhere(|i| alu::apply(op, &[a.at(i)])),
            (StepOp::Alu(op), [a, b]) if op.result() != StepType::Index => {
                self.everywhere(|i| alu::apply(op, &[a.at(i), b.at(i)]))
            }
            (StepOp::Alu(op), [a]) => self.each(|i| alu::apply(op, &[a.at(i)])),
            (StepOp::Alu(op), [a, b]) => self.each(|i| alu::apply(op, &[a.at(i), b.at(i)])),
            (StepOp::Combine(op), [a, b]) => self.each(|i| value::combine(domain, op, a.at(i), b.at(i))),
            (StepOp::Remove(op), [total, part]) => self.each(|i| value::remove(domain, op, total.at(i), part.at(i))),
            (StepOp::Compare(op), [a, b]) => self.each(|i| compare(domain, op, a.at(i), b.at(i))),
            (StepOp::Select, [condition, accept, reject]) => {
                self.each(|i| select(condition.at(i), accept.at(i), reject.at(i)))
            }
            (StepOp::Identity(op), []) => {
                let identity = value::identity(domain, op, self.like(step));
                self.everywhere(|_| Some(identity))
            }
            (StepOp::Neutral(op), []) => {
                let neutral = value::neutral(domain, op, self.like(step));
                self.everywhere(|_| Some(neutral))
            }
            (StepOp::Zero, []) => {
                let zero = value::zero(domain, self.like(step));
                self.everywhere(|_| Some(zero))
            }
            _ => None,
        }
    }

    /// The operand that determines a constant's type.
    fn like(&self, step: &Step) -> &[LaneValue<T>] {
        match step.ty {
            StepType::Like(n) => self.inputs.get(n as usize).map_or(&[], |row| row.as_slice()),
            _ => &[],
        }
    }

    /// One result for each active lane.
    fn each(&self, mut f: impl FnMut(usize) -> Option<LaneValue<T>>) -> Outcome<T> {
        let mut row = vec![LaneValue::Poison; self.lanes.size as usize];
        for lane in self.lanes.iter() {
            row[lane as usize] = f(lane as usize)?;
        }
        Some(row)
    }

    /// One result for each lane, active or not: the contents of scalar registers and masks.
    fn everywhere(&self, mut f: impl FnMut(usize) -> Option<LaneValue<T>>) -> Outcome<T> {
        let mut row = Vec::with_capacity(self.lanes.size as usize);
        for lane in 0..self.lanes.size as usize {
            row.push(f(lane)?);
        }
        Some(row)
    }

    /// The scalar result of an instruction, in all lanes.
    fn spread(&self, mut row: LaneRow<T>) -> LaneRow<T> {
        let scalar = self.lanes.iter().next().map_or(LaneValue::Poison, |first| row[first as usize]);
        row.fill(scalar);
        row
    }

    fn primitive<D: Domain<Data = T>>(
        &self,
        domain: &mut D,
        primitive: Primitive,
        rows: &[&[LaneValue<T>]],
    ) -> Outcome<T> {
        match primitive {
            Primitive::Group(op) => group::apply(domain, op, rows, self.lanes),
            Primitive::Scalar(op) if op.is_scalar() => {
                hardware::apply(domain, primitive, rows, self.lanes).map(|row| self.spread(row))
            }
            _ => hardware::apply(domain, primitive, rows, self.lanes),
        }
    }
}

fn fact_of<T>(fact: LaneFact, i: u32, lanes: Lanes) -> LaneValue<T> {
    match fact {
        LaneFact::Index => LaneValue::Index(i),
        LaneFact::Size => LaneValue::Index(lanes.size),
        LaneFact::InSet(set) => LaneValue::Bool(set >> i & 1 != 0),
        LaneFact::Mask(op) => LaneValue::Ballot(lanes_that_compare(op, i) & low_bits(lanes.size)),
    }
}

/// A lane's mask of lanes, within the range of a ballot.
fn lanes_that_compare(op: MaskOp, i: u32) -> u128 {
    let (below, own) = (low_bits(i), 1 << i);
    match op {
        MaskOp::Eq => own,
        MaskOp::Ge => !below,
        MaskOp::Gt => !(below | own),
        MaskOp::Le => below | own,
        MaskOp::Lt => below,
    }
}

/// Returns true if lane `j` belongs to the mask of lane `i`.
pub fn compares(op: MaskOp, j: u32, i: u32) -> bool {
    match op {
        MaskOp::Eq => j == i,
        MaskOp::Ge => j >= i,
        MaskOp::Gt => j > i,
        MaskOp::Le => j <= i,
        MaskOp::Lt => j < i,
    }
}

fn compare<D: Domain>(
    domain: &D,
    op: CompareOp,
    a: LaneValue<D::Data>,
    b: LaneValue<D::Data>,
) -> Option<LaneValue<D::Data>> {
    if a == LaneValue::Poison || b == LaneValue::Poison {
        return Some(LaneValue::Poison);
    }
    let truth = match op {
        CompareOp::Eq => value::equal(domain, a, b)?,
        CompareOp::Same => value::same(domain, a, b)?,
        CompareOp::Lt => value::less(domain, a, b)?,
    };
    Some(LaneValue::Bool(truth))
}

fn select<T: Copy>(condition: LaneValue<T>, accept: LaneValue<T>, reject: LaneValue<T>) -> Option<LaneValue<T>> {
    match condition {
        LaneValue::Bool(true) => Some(accept),
        LaneValue::Bool(false) => Some(reject),
        LaneValue::Poison => Some(LaneValue::Poison),
        _ => None,
    }
}
