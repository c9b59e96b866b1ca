//! The names of the rows of a picture.

use crate::backend::amd::dpp::control as control_text;
use crate::lane::primitive::{LdsOp, NvOp, PermlaneOp, ScalarOp};
use crate::lane::{GroupOp, GroupReduce, LaneOp, Param, Primitive, ReduceOp, Role, ShuffleMode, Step, StepOp};
use crate::profile::Target;

/// Operand `n` of an operation; the symbols of a second value have a `b`.
pub fn operand(op: LaneOp, n: usize) -> String {
    match op.signature().params.get(n) {
        Some(Param { name, role: Role::Same | Role::SameNumber | Role::Rider }) => format!("{name} (b)"),
        Some(Param { name, .. }) => (*name).into(),
        None => "index".into(),
    }
}

/// A step of a plan for a target.
pub fn step(step: &Step, target: Target) -> String {
    match step.op {
        StepOp::Prim(primitive) => primitive_text(primitive, target),
        StepOp::CombineMoved(op, primitive) => format!("{} + {}", primitive_text(primitive, target), fold(op)),
        StepOp::Combine(op) => fold(op).into(),
        _ => "select".into(),
    }
}

const fn fold(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "add",
        ReduceOp::Mul => "mul",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::And => "and",
        ReduceOp::Or => "or",
        ReduceOp::Xor => "xor",
    }
}

fn primitive_text(primitive: Primitive, target: Target) -> String {
    match primitive {
        Primitive::Group(op) => group(op).into(),
        Primitive::Nv(NvOp::Shuffle(mode)) if target == Target::Ptx => ptx(mode).into(),
        Primitive::Nv(op) => nv(op).into(),
        Primitive::Dpp16(dpp) => control_text(dpp.control),
        Primitive::Dpp8(_) => "dpp8".into(),
        Primitive::Lds(op) => lds(op).into(),
        Primitive::Permlane(op) => permlane(op).into(),
        Primitive::Scalar(op) => scalar(op).into(),
    }
}

const fn group(op: GroupOp) -> &'static str {
    match op {
        GroupOp::Shuffle => "shuffle",
        GroupOp::ShuffleXor => "shuffle xor",
        GroupOp::ShuffleUp => "shuffle up",
        GroupOp::ShuffleDown => "shuffle down",
        GroupOp::Rotate(_) => "rotate",
        GroupOp::Broadcast | GroupOp::BroadcastFirst => "broadcast",
        GroupOp::QuadBroadcast => "quad broadcast",
        GroupOp::QuadSwap(_) => "quad swap",
        GroupOp::SwizzleAmd(_) | GroupOp::SwizzleMaskedAmd { .. } => "swizzle",
        GroupOp::WriteAmd => "write lane",
        GroupOp::Reduce(_, GroupReduce::Inclusive) => "inclusive scan",
        GroupOp::Reduce(_, GroupReduce::Exclusive) => "exclusive scan",
        GroupOp::Reduce(..) => "reduce",
        _ => "ballot",
    }
}

const fn nv(op: NvOp) -> &'static str {
    match op {
        NvOp::Shuffle(ShuffleMode::Index) => "SHFIDX",
        NvOp::Shuffle(ShuffleMode::Xor) => "SHFXOR",
        NvOp::Shuffle(ShuffleMode::Up) => "SHFUP",
        NvOp::Shuffle(ShuffleMode::Down) => "SHFDOWN",
        NvOp::QuadSwizzle(_) => "QSWZ",
        NvOp::ShuffleValid(_) | NvOp::Vote(_) | NvOp::Ballot | NvOp::MatchAll | NvOp::Sync => "vote",
        NvOp::Reduce(_) => "redux",
        NvOp::Match => "match",
    }
}

const fn ptx(mode: ShuffleMode) -> &'static str {
    match mode {
        ShuffleMode::Index => "shfl.idx",
        ShuffleMode::Xor => "shfl.bfly",
        ShuffleMode::Up => "shfl.up",
        ShuffleMode::Down => "shfl.down",
    }
}

const fn lds(op: LdsOp) -> &'static str {
    match op {
        LdsOp::Swizzle(_) => "ds_swizzle",
        LdsOp::Bpermute { .. } => "ds_bpermute",
        LdsOp::Permute { .. } => "ds_permute",
        LdsOp::Bounce => "through LDS",
    }
}

const fn permlane(op: PermlaneOp) -> &'static str {
    match op {
        PermlaneOp::Row { across: false, .. } | PermlaneOp::RowVar { across: false, .. } => "permlane16",
        PermlaneOp::Row { .. } | PermlaneOp::RowVar { .. } => "permlanex16",
        PermlaneOp::Half => "permlane64",
        PermlaneOp::SwapFirst { block: 16, .. } | PermlaneOp::SwapSecond { block: 16, .. } => "permlane16_swap",
        PermlaneOp::SwapFirst { .. } | PermlaneOp::SwapSecond { .. } => "permlane32_swap",
        PermlaneOp::Shared { .. } => "shared VGPR",
    }
}

const fn scalar(op: ScalarOp) -> &'static str {
    match op {
        ScalarOp::ReadLane => "readlane",
        ScalarOp::ReadFirstLane => "readfirstlane",
        ScalarOp::WriteLane => "writelane",
        ScalarOp::CountBelowLow | ScalarOp::CountBelowHigh => "mbcnt",
        _ => "mask",
    }
}
