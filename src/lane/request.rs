//! The planner's question ([`Request`]) and its refusal ([`Refusal`]).

use super::encoding::Encoding;
use super::op::LaneOp;
use super::plan::{Activity, StepType};
use crate::diagnostic::Code;
use crate::profile::Feature;
use std::borrow::Cow;
use std::fmt;

/// The kind of a scalar value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ScalarKind {
    Bool,
    Sint,
    Uint,
    Float,
    /// Floats without arithmetic, which also excludes cross-lane operations.
    Encoded(Encoding),
}

impl ScalarKind {
    /// Its column in tables of arithmetic types: bool, signed, unsigned, float. Encoded floats are past the last
    /// column.
    pub const fn column(self) -> usize {
        match self {
            ScalarKind::Bool => 0,
            ScalarKind::Sint => 1,
            ScalarKind::Uint => 2,
            ScalarKind::Float => 3,
            ScalarKind::Encoded(_) => 4,
        }
    }

    /// The name of a scalar of this many bits, as in WGSL: `f16`, `u64`.
    pub fn name(self, bits: u8) -> String {
        match self {
            ScalarKind::Bool => "bool".to_owned(),
            ScalarKind::Sint => format!("i{bits}"),
            ScalarKind::Uint => format!("u{bits}"),
            ScalarKind::Float => format!("f{bits}"),
            ScalarKind::Encoded(encoding) => encoding.name().to_owned(),
        }
    }
}

/// A scalar or vector type as lanes see it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LaneType {
    pub kind: ScalarKind,
    /// Bits of a component: 8, 16, 32 or 64; 1 for bools.
    pub width: u8,
    /// 1 to 4.
    pub components: u8,
}

impl LaneType {
    pub const BOOL: LaneType = LaneType::scalar(ScalarKind::Bool, 1);
    pub const U32: LaneType = LaneType::scalar(ScalarKind::Uint, 32);
    pub const I32: LaneType = LaneType::scalar(ScalarKind::Sint, 32);
    pub const F32: LaneType = LaneType::scalar(ScalarKind::Float, 32);
    /// The type of ballots: `uvec4`.
    pub const BALLOT: LaneType = LaneType { kind: ScalarKind::Uint, width: 32, components: 4 };

    pub const fn scalar(kind: ScalarKind, width: u8) -> LaneType {
        LaneType { kind, width, components: 1 }
    }

    /// Unsigned integers with the same bits; bools stay bools.
    #[must_use]
    pub const fn bits(self) -> LaneType {
        match self.kind {
            ScalarKind::Bool => self,
            _ => LaneType { kind: ScalarKind::Uint, ..self },
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self.kind, ScalarKind::Float)
    }
}

/// Facts about an operand known at compile time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Known {
    /// Differs from lane to lane, or might.
    Varying,
    /// One value in all active lanes.
    Uniform,
    /// This integer.
    Constant(u32),
}

/// One operand of the operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Input {
    pub ty: LaneType,
    pub known: Known,
}

impl Input {
    pub const fn varying(ty: LaneType) -> Input {
        Input { ty, known: Known::Varying }
    }

    pub const fn constant(value: u32) -> Input {
        Input { ty: LaneType::U32, known: Known::Constant(value) }
    }
}

/// One cross-lane operation to plan.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Request<'a> {
    pub op: LaneOp,
    /// The operation's operands, as many as [`LaneOp`] lists.
    pub inputs: Cow<'a, [Input]>,
    /// The lanes known to run it; `Activity::Any` if nothing is known.
    pub activity: Activity,
    /// Operand 1 (an index, lane or distance) in each lane from 0 to `S - 1`, if it depends only on the lane and on
    /// constants; `None` if it or `S` is unknown. Must agree with [`Input::known`].
    pub index: Option<Cow<'a, [u32]>>,
    /// True if it runs in a fragment shader, where NVIDIA has an instruction for quad swizzles.
    pub fragment: bool,
}

impl Request<'_> {
    /// The type of operand `n`; a number if the operation has no such operand.
    pub fn input_ty(&self, n: u8) -> LaneType {
        self.inputs.get(usize::from(n)).map_or(LaneType::U32, |input| input.ty)
    }

    /// The result type of a step of a plan for this operation. Ballots are [`LaneType::BALLOT`], whatever their
    /// hardware form.
    pub fn ty(&self, ty: StepType) -> LaneType {
        match ty {
            StepType::Like(n) => self.input_ty(n),
            StepType::Bool => LaneType::BOOL,
            StepType::Ballot => LaneType::BALLOT,
            StepType::Index | StepType::None => LaneType::U32,
        }
    }
}

/// The reason that there is no plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The form spans more lanes than the profile's subgroup has.
    TooWide { width: u32, size: u32 },
    /// The profile lacks the hardware. `since` is the oldest profile of the same vendor that has a plan.
    NoHardware { feature: Feature, profile: Box<str>, since: Option<&'static str> },
    /// The target's language, or crosslane so far, lacks such values, as the message says.
    NoType { ty: LaneType, why: Box<str> },
    /// The operands do not fit the operation, which the front end should have reported.
    BadOperand(&'static str),
    /// The operation has no lowering yet.
    NotYet,
    /// There is a plan, but it is wrong, because of a bug in its rule.
    Unsound { rule: &'static str, why: String },
}

impl Refusal {
    /// The code of its message.
    pub const fn code(&self) -> Code {
        match self {
            Refusal::TooWide { .. } => Code::TOO_WIDE,
            Refusal::NoHardware { .. } => Code::PROFILE_LACKS,
            Refusal::BadOperand(_) => Code::BAD_LANE_OPERAND,
            Refusal::NoType { .. } | Refusal::NotYet => Code::NOT_SUPPORTED,
            Refusal::Unsound { .. } => Code::INTERNAL,
        }
    }
}

impl Refusal {
    /// The text of its message.
    pub fn message(&self) -> String {
        format!("this cross-lane operation cannot be compiled: {self}")
    }

    /// The reason without the profile's name, for use next to that name.
    pub fn reason(&self) -> String {
        match self {
            Refusal::NoHardware { feature, since: Some(since), .. } => {
                format!("lacks {feature}; {since} is the oldest that can")
            }
            Refusal::NoHardware { feature, since: None, .. } => format!("lacks {feature}"),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooWide { width, size } => {
                write!(f, "it spans {width} lanes and the subgroup has {size}")
            }
            Refusal::NoHardware { feature, profile, since } => {
                write!(f, "profile {profile} lacks {feature}")?;
                since.map_or(Ok(()), |name| write!(f, "; the oldest profile that can is {name}"))
            }
            Refusal::NoType { why, .. } => f.write_str(why),
            Refusal::BadOperand(what) => f.write_str(what),
            Refusal::NotYet => f.write_str("it is not lowered yet"),
            Refusal::Unsound { rule, why } => write!(f, "internal error: the plan \"{rule}\" is wrong: {why}"),
        }
    }
}
