//! Plans of cross-lane operations in back ends that write from modules, and one run of a plan.

use super::Options;
use crate::ir::{Module, Scalar, Value};
use crate::kernel::arith;
use crate::lane::{Activity, Input, Known, LaneOp, LaneType, Plan, Plans, ReduceOp, Refusal, Request, StepType};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Scalar and number of components.
pub type Shape = (Scalar, u8);

/// The shape of lanes and distances.
pub const INDEX: Shape = (Scalar::U32, 1);
pub const BOOL: Shape = (Scalar::BOOL, 1);
/// The shape of sets of lanes.
pub const BALLOT: Shape = (Scalar::U32, 4);

/// The plans of a module's operations, each made when it is first asked for.
#[derive(Debug)]
pub struct ModulePlans<'a> {
    options: &'a Options,
    known: Plans,
}

impl ModulePlans<'_> {
    pub fn new(options: &Options) -> ModulePlans<'_> {
        ModulePlans { options, known: Plans::default() }
    }

    /// The plan that the options name, or the planner's choice.
    ///
    /// # Errors
    /// As [`plan`](crate::lane::plan).
    pub fn get(&self, op: LaneOp, inputs: Vec<Input>) -> Result<Arc<Plan>, Refusal> {
        if let Some(plan) = &self.options.plan {
            return Ok(Arc::new(plan.clone()));
        }
        let request = Request { op, inputs: inputs.into(), activity: Activity::Any, index: None, fragment: false };
        self.known.get(&request, &self.options.profile)
    }
}

/// An operand of an operation.
pub fn input(module: &Module, value: Value, (scalar, components): Shape) -> Input {
    let is_number = scalar.width == 32 && components == 1;
    let known = match (module.known_u32(value).filter(|_| is_number), value) {
        (Some(number), _) => Known::Constant(number),
        (None, Value::Const(_)) => Known::Uniform,
        _ => Known::Varying,
    };
    Input { ty: LaneType { kind: scalar.kind, width: scalar.width, components }, known }
}

/// The bits of an operator's identity.
pub fn identity(op: ReduceOp, scalar: Scalar) -> u64 {
    arith::identity(op, scalar) & (u64::MAX >> (64 - scalar.width))
}

/// A value as the back end writes it.
pub trait Shaped {
    fn shape(&self) -> Shape;
}

/// A part of a plan.
pub enum Part {
    /// The step of this number.
    Step(usize),
    /// The steps that are repeated until the last lane leaves; most plans have none.
    Turns(Range<usize>),
}

/// One run of a plan: the values that its steps can read so far.
pub struct Run<'p, A> {
    pub plan: &'p Plan,
    pub inputs: SmallVec<[A; 4]>,
    pub setup: SmallVec<[A; 4]>,
    pub steps: SmallVec<[A; 8]>,
}

impl<'p, A: Shaped> Run<'p, A> {
    pub fn new(plan: &'p Plan, inputs: impl Iterator<Item = A>) -> Run<'p, A> {
        Run { plan, inputs: inputs.collect(), setup: SmallVec::new(), steps: SmallVec::new() }
    }

    /// The shape of a step's result.
    pub fn shape(&self, ty: StepType) -> Shape {
        match ty {
            StepType::Like(n) => self.inputs[usize::from(n)].shape(),
            StepType::Index | StepType::None => INDEX,
            StepType::Bool => BOOL,
            StepType::Ballot => BALLOT,
        }
    }

    /// The parts of the plan, in order.
    pub fn parts(&self) -> Vec<Part> {
        let turns = self.plan.turns.as_ref().map(|turns| turns.steps.start.into()..turns.steps.end.into());
        let Range { start, end } = turns.clone().unwrap_or_default();
        let steps = |range: Range<usize>| range.map(Part::Step);
        steps(0..start).chain(turns.map(Part::Turns)).chain(steps(end..self.plan.steps.len())).collect()
    }
}
