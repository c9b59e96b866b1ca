//! Operations over segments that are wider than the subgroup, by way of workgroup memory.
//!
//! All invocations of the workgroup run such an operation. Its segment is the aligned block of invocations with
//! consecutive numbers; each aligned block of [`Spanning::part`] of them lies within one subgroup, which combines it
//! with ordinary cross-lane operations. The parts exchange values in workgroup memory: each exchange writes slots,
//! waits for the workgroup, and reads slots. [`plan`] creates these programs, [`check`] proves them.

pub mod check;
mod draft;
mod parts;
mod plan;

use super::op::LaneOp;
use super::plan::{Operand, StepOp, StepType};
use super::request::{Input, Request};
pub use plan::{Given, plan};

/// The operation of one step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SpanOp {
    /// A cross-lane operation inside the subgroup; operands as [`LaneOp`] lists them.
    Lane(LaneOp),
    /// `[sort]`: the values that a sort has moved with their keys.
    Riders,
    /// `[]`: the number of the invocation in its workgroup. Index.
    Number,
    /// Arithmetic within one invocation, as in [`Plan`](super::Plan): never a primitive or a fact of the lane.
    Plain(StepOp),
    /// `[slot, value]` or `[slot, value, condition]`: writes a slot of the column, where the condition is true.
    Put(Column),
    /// `[slot]`: reads a slot of the column.
    Get(Column),
    /// Waits for all invocations of the workgroup. Writes before it are visible after it.
    Barrier,
}

/// The slots for one value of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Column {
    /// Number of the exchange in [`Spanning::exchanges`]. Consecutive exchanges use different memory.
    pub exchange: u8,
    /// Number of the value.
    pub value: u8,
}

/// The owner of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Owner {
    /// Each invocation has a slot, with its number.
    Invocation,
    /// Each aligned block of this many invocations has a slot, with the number of the block.
    Block(u32),
    /// The workgroup has a single slot.
    Workgroup,
}

/// Values that cross subgroups together, with one barrier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchange {
    pub owner: Owner,
    /// The type of each column.
    pub columns: Vec<StepType>,
}

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SpanStep {
    pub op: SpanOp,
    /// [`Operand::Step`] refers to [`Spanning::steps`].
    pub args: [Operand; 3],
    pub ty: StepType,
}

impl SpanStep {
    /// The operands that are there.
    pub fn operands(&self) -> &[Operand] {
        let len = self.args.iter().position(|arg| *arg == Operand::None).unwrap_or(3);
        &self.args[..len]
    }
}

/// The last steps of a program, which only some parts of a segment run. Elsewhere the result is undefined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tail {
    /// Number of the first of these steps. No barrier follows.
    pub start: u16,
    /// A value that all invocations of a part share, true in those that run the steps.
    pub condition: Operand,
}

/// The program of one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spanning {
    /// Invocations of a segment: a power of two, or those of the workgroup.
    pub width: u32,
    /// Invocations that are known to be in one subgroup, in aligned blocks.
    pub part: u32,
    pub steps: Vec<SpanStep>,
    pub exchanges: Vec<Exchange>,
    /// Where few invocations need the result: the others may skip the steps from `Tail::start` on.
    pub tail: Option<Tail>,
    pub result: Operand,
    /// The values of a sort that has some.
    pub second: Option<Operand>,
}

impl Spanning {
    /// Returns true if another program does the same in every invocation.
    pub fn is_like(&self, other: &Spanning) -> bool {
        (self.width, self.tail, &self.steps, &self.exchanges)
            == (other.width, other.tail, &other.steps, &other.exchanges)
    }

    /// Number of barriers.
    pub fn barriers(&self) -> usize {
        self.exchanges.len()
    }

    /// The operations inside the subgroup, in the order of the steps, as requests to the planner. Their operands may
    /// differ from lane to lane.
    pub fn inside(&self, request: &Request<'_>) -> Vec<Request<'static>> {
        let input = |operand: &Operand| match operand {
            Operand::Input(n) => Input::varying(request.input_ty(*n)),
            Operand::Step(n) => Input::varying(request.ty(self.steps[usize::from(*n)].ty)),
            Operand::Bool(_) => Input::varying(request.ty(StepType::Bool)),
            Operand::Const(_) | Operand::Setup(_) | Operand::None => Input::varying(request.ty(StepType::Index)),
        };
        let of = |step: &SpanStep| {
            let SpanOp::Lane(op) = step.op else { return None };
            let inputs = step.operands().iter().map(input).collect();
            let Request { activity, fragment, .. } = *request;
            Some(Request { op, inputs, activity, index: None, fragment })
        };
        self.steps.iter().filter_map(of).collect()
    }

    /// The slots of an exchange's columns in a workgroup of this many invocations. Segments are complete, even if the
    /// workgroup does not fill the last one.
    pub fn slots(&self, exchange: &Exchange, invocations: u32) -> u32 {
        let padded = invocations.next_multiple_of(self.width);
        match exchange.owner {
            Owner::Invocation => padded,
            Owner::Block(size) => padded.div_ceil(size),
            Owner::Workgroup => 1,
        }
    }
}
