//! A plan: the small SSA program that implements one cross-lane operation on one profile.
//!
//! A plan is straight-line code that every active lane runs at once, with at most one branch: the loop of [`Turns`] or
//! the choice of [`Fork`]. It consists of primitives and lane arithmetic, never target syntax. [`crate::lane::planner`]
//! creates plans, [`crate::lane::check`] checks them.

use super::op::{InvertibleOp, MaskOp, ReduceOp};
use super::primitive::Primitive;
use super::request::{Known, Request};
use serde::Deserialize;
use std::ops::Range;

/// The source of a step's operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operand {
    /// No operand: fills the rest of [`Step::args`].
    None,
    /// Operand `n` of the operation, in the order that [`crate::lane::LaneOp`] lists.
    Input(u8),
    /// Result of `Plan::setup[n]`.
    Setup(u16),
    /// Result of `Plan::steps[n]`.
    Step(u16),
    /// A constant of type [`StepType::Index`].
    Const(u32),
    /// A constant of type [`StepType::Bool`].
    Bool(bool),
}

/// Type of a step's result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StepType {
    /// The type of the operation's operand `n`, scalar or vector.
    Like(u8),
    /// A 32-bit unsigned scalar: lane indices, words of masks.
    Index,
    /// A scalar bool.
    Bool,
    /// One bit per lane, 128 bits: `uvec4`, lane 0 in the lowest bit of `x`.
    Ballot,
    /// No result.
    None,
}

impl StepType {
    /// The type of the operation's first operand.
    pub const DATA: StepType = StepType::Like(0);
}

/// A fact of a lane about itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum LaneFact {
    /// `i`. Index.
    Index,
    /// `S`. Index.
    Size,
    /// Lanes below `S` with this relation to `i`. Ballot.
    Mask(MaskOp),
    /// True if `i` is in this set, bit `j` for lane `j`. Bool, defined in inactive lanes too, because AMD keeps such
    /// sets as constants in scalar registers.
    InSet(u64),
}

/// Arithmetic on 32-bit unsigned indices, bools and ballots; all wrap, shift amounts are below 32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum AluOp {
    // Index, Index -> Index.
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    Max,
    /// Index -> Index: bitwise complement.
    Not,
    /// Index -> Index: number of set bits.
    BitCount,
    /// Index -> Index: number of the lowest set bit; undefined of 0.
    FindLsb,
    /// Index -> Index: number of the highest set bit; undefined of 0.
    FindMsb,

    // Index, Index -> Bool.
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,

    // Bools.
    BoolAnd,
    BoolOr,
    BoolXor,
    BoolNot,

    // Ballots.
    BallotAnd,
    BallotOr,
    BallotNot,
    /// Ballot -> Bool: true if no bit is set.
    BallotIsEmpty,
    /// Ballot -> Bool: true if any bit is set.
    BallotIsSome,
    /// Ballot -> Index: number of set bits.
    BallotSize,
    /// Ballot, Index -> Index: 32-bit word 0 to 3.
    BallotWord,
    /// A 64-bit integer -> Ballot: the low 64 bits, the rest zero.
    BallotFromMask,
}

/// Comparison of two values of one type, which must be scalars except for `Eq`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CompareOp {
    /// All components equal; floats by IEEE `==`.
    Eq,
    /// All components have the same bits.
    Same,
    /// Floats by IEEE `<`; false below true.
    Lt,
}

/// Returns true if an operand of a plan is known to be uniform: it depends only on constants, the subgroup size and
/// uniform operands of the operation.
pub fn is_same_everywhere(operand: Operand, request: &Request, setup: &[Step], steps: &[Step]) -> bool {
    let step = match operand {
        Operand::Input(n) => return request.inputs[usize::from(n)].known != Known::Varying,
        Operand::Setup(n) => &setup[usize::from(n)],
        Operand::Step(n) => &steps[usize::from(n)],
        Operand::Const(_) | Operand::Bool(_) | Operand::None => return true,
    };
    match step.op {
        StepOp::Fact(fact) => fact == LaneFact::Size,
        StepOp::Alu(_) => step.operands().iter().all(|operand| is_same_everywhere(*operand, request, setup, steps)),
        _ => false,
    }
}

/// The operation of one step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StepOp {
    /// A cross-lane instruction; operands as [`Primitive`] lists them.
    Prim(Primitive),
    /// `[]`.
    Fact(LaneFact),
    /// One or two operands.
    Alu(AluOp),
    /// `[a, b]`: `a op b`, component by component.
    Combine(ReduceOp),
    /// `[total, part]`: removes the value `part` from the `total` that includes it, component by component:
    /// `total - part` or `total ^ part`. Not for floats, which round.
    Remove(InvertibleOp),
    /// `[own, moved, operand of the primitive]`: `own op primitive(moved)` as one instruction, if the hardware fuses
    /// both.
    CombineMoved(ReduceOp, Primitive),
    /// `[a, b]`: gives a bool.
    Compare(CompareOp),
    /// `[condition, if true, if false]`.
    Select,
    /// `[]`: the reduction's identity in the type of the step: +0, 1, the largest value or +infinity, the smallest
    /// value or -infinity, all ones, zero, zero; for bools, true for `And` and false for `Or` and `Xor`.
    Identity(ReduceOp),
    /// `[]`: the value that leaves any other bit-for-bit unchanged when combined with it: the identity, but -0 for
    /// `Add` of floats.
    Neutral(ReduceOp),
    /// `[]`: zero or false.
    Zero,
}

/// One instruction of a plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    pub op: StepOp,
    pub args: [Operand; 3],
    pub ty: StepType,
}

impl StepOp {
    /// Returns true if it is a constant of the operand's type.
    pub const fn is_constant(self) -> bool {
        matches!(self, StepOp::Identity(_) | StepOp::Neutral(_) | StepOp::Zero)
    }
}

impl Step {
    /// The operands that are there.
    pub fn operands(&self) -> &[Operand] {
        let len = self.args.iter().position(|arg| *arg == Operand::None).unwrap_or(3);
        &self.args[..len]
    }
}

/// The lanes of the subgroup that run an operation, as far as known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Activity {
    /// Any set of lanes.
    #[default]
    Any,
    /// The lanes below some number.
    FirstLanes,
    /// All lanes.
    Full,
}

/// The program for one operation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Plan {
    /// Name of its rule, for explanations and messages.
    pub rule: &'static str,
    /// Steps that depend only on the lane and on constants: they may be hoisted to the function's entry and shared
    /// among plans. They refer to each other by [`Operand::Setup`].
    pub setup: Vec<Step>,
    /// Steps that depend on the operation's operands or on which lanes are active, in order.
    pub steps: Vec<Step>,
    pub result: Operand,
    /// The second member of a result that is a struct of two (a sort with values).
    pub second: Option<Operand>,
    /// The activity that the caller must guarantee for the plan to be right.
    pub assumes: Activity,
    /// The steps that run in all lanes of the wave, active or not (AMD's whole-wave mode); empty if there are none. In
    /// inactive lanes, only values from steps of the same range, from scalars and from constants are defined.
    pub whole: Range<u16>,
    /// The steps that run in turns, if any.
    pub turns: Option<Turns>,
    /// The conditional steps, if any.
    pub fork: Option<Fork>,
    /// True if all active lanes get the same result, so that it can stay in a scalar register.
    pub uniform: bool,
    /// The fewest lanes that the subgroup must have for the plan to be right.
    pub least_size: u32,
}

/// Steps of a plan that run repeatedly, each time in the remaining lanes. A lane leaves with the values of the turn in
/// which `done` is true for it; at least one lane leaves per turn.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Turns {
    pub steps: Range<u16>,
    /// A bool from one of the steps.
    pub done: Operand,
}

/// Two sides with one result each; all active lanes take the same side. The next step selects between the two results:
/// its condition, uniform in all active lanes, decides which steps run.
///
/// The second side is right for any condition, so a target may always take it ([`Plan::by_second_way`]).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fork {
    /// The steps that run if the condition is true: the common case.
    pub accept: Range<u16>,
    /// The steps that run if it is false, following the others.
    pub reject: Range<u16>,
}

impl Fork {
    /// Number of the select.
    pub const fn select(&self) -> u16 {
        self.reject.end
    }
}

impl Plan {
    /// Instructions at the operation: `steps` without constants.
    pub fn count(&self) -> usize {
        self.steps.iter().filter(|step| !step.op.is_constant()).count()
    }

    /// The type of an operand of a step; [`StepType::None`] if there is no operand.
    ///
    /// # Panics
    /// When the plan has no such step.
    pub fn ty(&self, operand: Operand) -> StepType {
        match operand {
            Operand::Input(n) => StepType::Like(n),
            Operand::Setup(n) => self.setup[usize::from(n)].ty,
            Operand::Step(n) => self.steps[usize::from(n)].ty,
            Operand::Const(_) => StepType::Index,
            Operand::Bool(_) => StepType::Bool,
            Operand::None => StepType::None,
        }
    }

    /// The plan that always takes the second side; `None` if it has no fork.
    pub fn by_second_way(&self) -> Option<Plan> {
        let select = self.fork.as_ref()?.select();
        let mut plan = self.clone();
        plan.steps.get_mut(usize::from(select))?.args[0] = Operand::Bool(false);
        Some(plan)
    }

    /// All steps, setup first.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.setup.iter().chain(&self.steps)
    }
}

impl AluOp {
    /// Type of its result.
    pub const fn result(self) -> StepType {
        use AluOp as A;
        match self {
            A::Add | A::Sub | A::Mul | A::And | A::Or | A::Xor | A::Shl | A::Shr | A::Min | A::Max => StepType::Index,
            A::Not | A::BitCount | A::FindLsb | A::FindMsb | A::BallotWord | A::BallotSize => StepType::Index,
            A::Eq | A::Ne | A::Lt | A::Le | A::Gt | A::Ge => StepType::Bool,
            A::BoolAnd | A::BoolOr | A::BoolXor | A::BoolNot | A::BallotIsEmpty | A::BallotIsSome => StepType::Bool,
            A::BallotAnd | A::BallotOr | A::BallotNot | A::BallotFromMask => StepType::Ballot,
        }
    }

    /// The result on two indices, as a constant operand; `None` if the operation takes something else.
    pub fn on_constants(self, a: u32, b: u32) -> Option<Operand> {
        let index = |value: u32| Some(Operand::Const(value));
        let truth = |value: bool| Some(Operand::Bool(value));
        match self {
            AluOp::Add => index(a.wrapping_add(b)),
            AluOp::Sub => index(a.wrapping_sub(b)),
            AluOp::Mul => index(a.wrapping_mul(b)),
            AluOp::And => index(a & b),
            AluOp::Or => index(a | b),
            AluOp::Xor => index(a ^ b),
            AluOp::Shl => a.checked_shl(b).map(Operand::Const),
            AluOp::Shr => a.checked_shr(b).map(Operand::Const),
            AluOp::Min => index(a.min(b)),
            AluOp::Max => index(a.max(b)),
            AluOp::Eq => truth(a == b),
            AluOp::Ne => truth(a != b),
            AluOp::Lt => truth(a < b),
            AluOp::Le => truth(a <= b),
            AluOp::Gt => truth(a > b),
            AluOp::Ge => truth(a >= b),
            _ => None,
        }
    }
}
