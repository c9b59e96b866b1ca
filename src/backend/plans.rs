//! Plans of cross-lane operations for back ends that write modules, and the execution of a plan.

use super::Options;
use crate::ir::{Module, Scalar, Value};
use crate::lane::{Activity, Input, Known, LaneOp, LaneType, Plan, Refusal, Request, Step, StepType};
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

impl Options {
    /// The plan for an operation of a module: the one in the options, or the planner's choice.
    ///
    /// # Errors
    /// Like [`plan`](crate::lane::plan()).
    pub fn plan_of(&self, op: LaneOp, inputs: Vec<Input>) -> Result<Arc<Plan>, Refusal> {
        if let Some(plan) = &self.plan {
            return Ok(Arc::new(plan.clone()));
        }
        let request = Request { op, inputs: inputs.into(), activity: Activity::Any, index: None, fragment: false };
        self.plans.get(&request, &self.profile)
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

/// A back end's representation of a value.
pub trait Shaped {
    fn shape(&self) -> Shape;
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

    /// Writes the steps of the plan in order: each with `step`, which returns its result, and steps that repeat until
    /// the last lane leaves with `turns`, which adds their results; most plans have none of the latter.
    pub fn write<W>(
        &mut self,
        writer: &mut W,
        step: impl Fn(&mut W, &Step, &Self) -> A,
        turns: impl FnOnce(&mut W, &mut Self, Range<usize>),
    ) {
        let plan = self.plan;
        let repeated = plan.turns.as_ref().map(|turns| turns.steps.start.into()..turns.steps.end.into());
        let Range { start, end } = repeated.clone().unwrap_or_default();
        let each = |run: &mut Self, writer: &mut W, range: Range<usize>| {
            for one in &plan.steps[range] {
                let result = step(writer, one, run);
                run.steps.push(result);
            }
        };
        each(self, writer, 0..start);
        if let Some(repeated) = repeated {
            turns(writer, self, repeated);
        }
        each(self, writer, end..plan.steps.len());
    }
}
