//! The price of one step: its execution unit, and the number of its instructions.

use crate::lane::op::{MaskOp, ReduceOp};
use crate::lane::plan::{AluOp, CompareOp, LaneFact, StepOp};
use crate::lane::primitive::{PermlaneOp, Primitive};
use crate::lane::request::{LaneType, ScalarKind};
use crate::profile::{Cost, CostClass, Profile, Target};

/// An execution unit of the hardware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Arithmetic in each lane.
    Vector,
    /// Multiplication of integers in each lane.
    Multiply,
    /// A comparison in each lane, with a mask as the result.
    Compare,
    /// Arithmetic on scalars and on masks of lanes.
    Scalar,
}

/// The work of a step: this many instructions of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    pub unit: Unit,
    pub count: u32,
}

const fn work(unit: Unit, count: u32) -> Work {
    Work { unit, count }
}

/// The instructions for steps that differ between targets.
pub struct Table {
    /// The price class of a unit; `None` if it has no price.
    pub class: fn(Unit) -> Option<CostClass>,
    /// Instructions that read a lane index or a mask of lanes, if these are built-in values; otherwise they are
    /// computed.
    pub built_in: Option<u32>,
    /// The number of the highest bit.
    pub find_msb: Work,
    /// Finding the lowest set bit, if it takes more than one instruction.
    pub find_lsb: Option<Work>,
    /// A select between two bools, if bools are not lane values.
    pub select_bool: Option<Work>,
    /// Instructions around a move of a bool, if it is moved as a word.
    pub moved_bool: u32,
    /// Instructions of a comparison of one component.
    pub compare: fn(CompareOp, LaneType) -> u32,
    /// Instructions of the loop around the turns of a plan, including copies of its results, in a wave of this many
    /// times 32 lanes.
    pub turns: fn(u32) -> u32,
    /// Instructions of the branch of a plan, with the copies of its result.
    pub fork: u32,
}

/// The table of a target.
pub const fn table(target: Target) -> Table {
    // An ordering comparison of bools is NOT and AND.
    let usual = Table {
        class: |_| None,
        built_in: None,
        find_msb: work(Unit::Vector, 1),
        find_lsb: None,
        select_bool: None,
        moved_bool: 0,
        compare: |op, ty| if ty == LaneType::BOOL && matches!(op, CompareOp::Lt) { 2 } else { 1 },
        turns: |_| 0,
        fork: 0,
    };
    match target {
        Target::Spirv | Target::Wgsl | Target::Glsl | Target::Hlsl | Target::Msl => usual,
        Target::Ptx => Table {
            class: |_| Some(CostClass::NvAlu),
            built_in: Some(1),
            // The highest bit of the reversed word.
            find_lsb: Some(work(Unit::Vector, 2)),
            // `selp` does not take predicates.
            select_bool: Some(work(Unit::Vector, 4)),
            // A select to 0 or 1 before the move, and a comparison after it.
            moved_bool: 2,
            turns: |_| 9,
            ..usual
        },
        Target::Nv => Table {
            // All lane arithmetic costs the same.
            class: |_| Some(CostClass::NvAlu),
            // Instructions read them as operands.
            built_in: Some(0),
            // Comparisons of floats return floats, which another instruction turns into a bool.
            compare: |op, ty| match op {
                CompareOp::Lt if ty == LaneType::BOOL => 2,
                CompareOp::Eq | CompareOp::Lt if ty.is_float() => 2,
                _ => 1,
            },
            turns: |_| 4,
            // A condition code; IF, ELSE, ENDIF. In divergent control flow, the back end makes the condition per lane.
            fork: 4,
            ..usual
        },
        Target::Amd => Table {
            class: |unit| {
                Some(match unit {
                    Unit::Vector => CostClass::AmdAlu,
                    Unit::Multiply => CostClass::AmdMultiply,
                    Unit::Compare => CostClass::AmdBallot,
                    Unit::Scalar => CostClass::AmdMask,
                })
            },
            // The hardware counts leading zeros, and returns -1 for none.
            find_msb: work(Unit::Vector, 4),
            select_bool: Some(work(Unit::Scalar, 3)),
            // Exclusive or, and its complement; or NOT and AND.
            compare: |_, ty| if ty == LaneType::BOOL { 2 } else { 1 },
            // EXEC is saved and changed, and the mask of finished lanes and each half of the result are copied.
            turns: |halves| 3 + 3 * halves,
            ..usual
        },
    }
}

/// The cost of an instruction without a price.
const UNPRICED: Cost = Cost {
    instructions: 1,
    latency: 0,
    lds: 0,
    wait_before: 0,
    wait_index: 0,
    wait_after: 0,
    registers: 0,
    scalars: 0,
};

/// The cost of a step without instructions.
pub const FREE: Cost = Cost { instructions: 0, ..UNPRICED };

/// The profile's price of a unit's instruction.
pub fn of_unit(profile: &Profile, unit: Unit) -> Cost {
    (table(profile.target).class)(unit).and_then(|class| profile.costs.of(class)).unwrap_or(UNPRICED)
}

/// The profile's price of a primitive. AMD's views of EXEC and of masks are not instructions.
pub fn of_primitive(profile: &Profile, primitive: Primitive) -> Cost {
    match (primitive.instruction().cost_class(), primitive) {
        (Some(class), _) => profile.costs.of(class).unwrap_or(UNPRICED),
        (None, Primitive::Scalar(_)) => FREE,
        (None, _) => UNPRICED,
    }
}

/// 32-bit registers of a component.
pub fn words(ty: LaneType) -> u32 {
    u32::from(ty.width).div_ceil(32)
}

/// 32-bit registers of a value.
pub fn registers(ty: LaneType) -> u32 {
    words(ty) * u32::from(ty.components)
}

/// `a op b` of values of this type.
pub fn of_combine(op: ReduceOp, ty: LaneType) -> Work {
    let one = match (op, ty.kind, words(ty)) {
        (_, ScalarKind::Bool, _) => work(Unit::Scalar, 1),
        (ReduceOp::Mul, ScalarKind::Float, _) | (_, ScalarKind::Float, _) => work(Unit::Vector, 1),
        (ReduceOp::Mul, _, 1) => work(Unit::Multiply, 1),
        // Three products of halves and two sums; a comparison and two selects.
        (ReduceOp::Mul, _, _) => work(Unit::Multiply, 6),
        (ReduceOp::Min | ReduceOp::Max, _, 2) => work(Unit::Vector, 3),
        (_, _, words) => work(Unit::Vector, words),
    };
    Work { count: one.count * u32::from(ty.components), ..one }
}

/// Lane arithmetic in a wave of `halves` times 32 lanes; `scalar` if all operands are in scalar registers.
pub fn of_alu(op: AluOp, scalar: bool, word_is_constant: bool, halves: u32) -> Work {
    use AluOp as A;
    match op {
        A::BallotFromMask => work(Unit::Scalar, 0),
        A::BallotWord if word_is_constant => work(Unit::Scalar, 0),
        A::BallotWord => work(Unit::Vector, 2),
        A::BoolAnd | A::BoolOr | A::BoolXor | A::BoolNot => work(Unit::Scalar, 1),
        _ if scalar => work(Unit::Scalar, 1),
        A::Eq | A::Ne | A::Lt | A::Le | A::Gt | A::Ge => work(Unit::Compare, 1),
        A::Mul => work(Unit::Multiply, 1),
        A::BallotAnd | A::BallotOr | A::BallotNot => work(Unit::Vector, halves),
        A::BallotSize | A::BallotIsEmpty | A::BallotIsSome => work(Unit::Vector, 2),
        _ => work(Unit::Vector, 1),
    }
}

/// The work for a per-lane fact, in a wave of `halves` times 32 lanes.
pub fn of_fact(fact: LaneFact, halves: u32) -> Work {
    match fact {
        // The low bits of the invocation's number, which is in a register if workgroups are one-dimensional.
        LaneFact::Index => work(Unit::Vector, 1),
        LaneFact::Size => work(Unit::Scalar, 0),
        LaneFact::InSet(_) => work(Unit::Scalar, halves),
        // Ones shifted by the lane index, which is computed first; their complement for the lanes below.
        LaneFact::Mask(MaskOp::Lt | MaskOp::Le) => work(Unit::Vector, 2 + halves),
        LaneFact::Mask(_) => work(Unit::Vector, 2),
    }
}

/// Constants that the primitive takes from scalar registers: selectors that do not fit in the instruction. One may be a
/// literal.
pub fn selector_constants(op: StepOp) -> u32 {
    let (StepOp::Prim(primitive) | StepOp::CombineMoved(_, primitive)) = op else { return 0 };
    match primitive {
        Primitive::Permlane(PermlaneOp::Row { selectors, .. }) => {
            let wide = [selectors as u32, (selectors >> 32) as u32].into_iter().filter(|word| !is_inline(*word));
            (wide.count() as u32).saturating_sub(1)
        }
        _ => 0,
    }
}

/// Returns true if an operator's identity or neutral value does not fit in an instruction as an inline constant.
pub fn is_literal(op: ReduceOp, ty: LaneType, neutral: bool) -> bool {
    match (op, ty.kind) {
        (_, ScalarKind::Bool) => false,
        // -0.
        (ReduceOp::Add, ScalarKind::Float) => neutral,
        (ReduceOp::Min | ReduceOp::Max, ScalarKind::Float | ScalarKind::Sint) => true,
        _ => false,
    }
}

/// Returns true if an integer is an inline constant: -16 to 64.
fn is_inline(word: u32) -> bool {
    (-16..=64).contains(&(word as i32))
}
