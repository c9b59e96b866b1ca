//! Runs a plan on lanes: every step on every active lane at once, with poison where hardware promises nothing.
//!
//! The semantics here are those of the primitives and of lane arithmetic, whatever a plan is meant for.

mod alu;
mod group;
mod hardware;

use super::op::MaskOp;
use super::plan::{CompareOp, LaneFact, Operand, Plan, Step, StepOp, StepType};
use super::primitive::Primitive;
use super::value::{self, Domain, LaneValue, Lanes};
use std::borrow::Cow;

/// One value a lane; what inactive lanes hold is never looked at.
pub type Row<T> = Vec<LaneValue<T>>;

/// A plan that is no program: a step uses what is not there, or operands of the wrong kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    pub step: Step,
}

/// Result of one step, or none if its operands are of the wrong kind.
type Outcome<T> = Option<Row<T>>;

/// What a plan computes: its result, and the second one where it has two.
pub fn run<D: Domain>(
    domain: &mut D,
    plan: &Plan,
    inputs: &[Row<D::Data>],
    lanes: Lanes,
) -> Result<Vec<Row<D::Data>>, Malformed> {
    trace(domain, plan, inputs, lanes).map(|trace| trace.results)
}

/// What every step of a plan computes.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace<T> {
    pub setup: Vec<Row<T>>,
    pub steps: Vec<Row<T>>,
    /// The result, and the second one where the plan has two.
    pub results: Vec<Row<T>>,
}

/// The same with the results of all steps.
pub fn trace<D: Domain>(
    domain: &mut D,
    plan: &Plan,
    inputs: &[Row<D::Data>],
    lanes: Lanes,
) -> Result<Trace<D::Data>, Malformed> {
    let inputs = if plan.whole.is_empty() { Cow::Borrowed(inputs) } else { Cow::Owned(only_active(inputs, lanes)) };
    let mut machine = Machine { inputs: &inputs, lanes, setup: Vec::new(), steps: Vec::new() };
    for step in &plan.setup {
        let row = machine.step(domain, step).ok_or(Malformed { step: *step })?;
        machine.setup.push(row);
    }
    for (n, step) in plan.steps.iter().enumerate() {
        machine.lanes = if plan.whole.contains(&(n as u16)) { Lanes::full(lanes.size) } else { lanes };
        let row = machine.step(domain, step).ok_or(Malformed { step: *step })?;
        machine.steps.push(row);
    }
    let results = [Some(plan.result), plan.second].into_iter().flatten();
    let row = |operand| machine.row(operand).map(Cow::into_owned).ok_or(Malformed { step: no_step(operand) });
    let results = results.map(row).collect::<Result<_, Malformed>>()?;
    Ok(Trace { setup: machine.setup, steps: machine.steps, results })
}

/// The operands, undefined in inactive lanes.
fn only_active<T: Copy>(inputs: &[Row<T>], lanes: Lanes) -> Vec<Row<T>> {
    let value = |(i, value): (u32, &LaneValue<T>)| if lanes.is_active(i) { *value } else { LaneValue::Poison };
    inputs.iter().map(|row| (0..).zip(row).map(value).collect()).collect()
}

/// Stands in messages for a result that names no step.
fn no_step(operand: Operand) -> Step {
    Step { op: StepOp::Select, args: [operand, Operand::None, Operand::None], ty: StepType::None }
}

/// Values of the steps so far. Rows are undefined in inactive lanes, except for masks, constants and scalars.
struct Machine<'a, T: Copy> {
    inputs: &'a [Row<T>],
    lanes: Lanes,
    setup: Vec<Row<T>>,
    steps: Vec<Row<T>>,
}

impl<T: Copy + PartialEq> Machine<'_, T> {
    fn row(&self, operand: Operand) -> Option<Cow<'_, [LaneValue<T>]>> {
        let all = |value| Some(Cow::Owned(vec![value; self.lanes.size as usize]));
        match operand {
            Operand::None => None,
            Operand::Input(n) => self.inputs.get(n as usize).map(|row| Cow::Borrowed(row.as_slice())),
            Operand::Setup(n) => self.setup.get(n as usize).map(|row| Cow::Borrowed(row.as_slice())),
            Operand::Step(n) => self.steps.get(n as usize).map(|row| Cow::Borrowed(row.as_slice())),
            Operand::Const(value) => all(LaneValue::Index(value)),
            Operand::Bool(value) => all(LaneValue::Bool(value)),
        }
    }

    fn step<D: Domain<Data = T>>(&self, domain: &mut D, step: &Step) -> Outcome<T> {
        let rows: Vec<Cow<[LaneValue<T>]>> = step.operands().iter().map(|arg| self.row(*arg)).collect::<Option<_>>()?;
        let rows: Vec<&[LaneValue<T>]> = rows.iter().map(|row| &**row).collect();
        match (step.op, rows.as_slice()) {
            (StepOp::Prim(primitive), rows) => self.primitive(domain, primitive, rows),
            (StepOp::FoldMoved(op, primitive), [own, moved @ ..]) if primitive.fuses() => {
                hardware::fold_moved(domain, op, primitive, own, moved, self.lanes)
            }
            (StepOp::FoldMoved(op, primitive), [own, moved @ ..]) => {
                let moved = self.primitive(domain, primitive, moved)?;
                self.each(|i| value::fold(domain, op, own[i], moved[i]))
            }
            (StepOp::Fact(LaneFact::InSet(set)), []) => self.everywhere(|i| Some(LaneValue::Bool(set >> i & 1 != 0))),
            (StepOp::Fact(fact), []) => self.each(|i| Some(fact_of(fact, i as u32, self.lanes))),
            (StepOp::Alu(op), [a]) if op.result() != StepType::Index => self.everywhere(|i| alu::apply(op, &[a[i]])),
            (StepOp::Alu(op), [a, b]) if op.result() != StepType::Index => {
                self.everywhere(|i| alu::apply(op, &[a[i], b[i]]))
            }
            (StepOp::Alu(op), [a]) => self.each(|i| alu::apply(op, &[a[i]])),
            (StepOp::Alu(op), [a, b]) => self.each(|i| alu::apply(op, &[a[i], b[i]])),
            (StepOp::Fold(op), [a, b]) => self.each(|i| value::fold(domain, op, a[i], b[i])),
            (StepOp::Compare(op), [a, b]) => self.each(|i| compare(domain, op, a[i], b[i])),
            (StepOp::Select, [condition, accept, reject]) => self.each(|i| select(condition[i], accept[i], reject[i])),
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

    /// The operand whose type a constant has.
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

    /// One result for each lane, active or not: what scalar registers and masks hold.
    fn everywhere(&self, f: impl FnMut(usize) -> Option<LaneValue<T>>) -> Outcome<T> {
        (0..self.lanes.size as usize).map(f).collect()
    }

    /// The scalar that an instruction gives, in all lanes.
    fn spread(&self, mut row: Row<T>) -> Row<T> {
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
        LaneFact::Mask(op) => LaneValue::Ballot((0..lanes.size).filter(|j| compares(op, *j, i)).map(|j| 1 << j).sum()),
    }
}

/// Whether lane `j` belongs to the mask of lane `i`.
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
