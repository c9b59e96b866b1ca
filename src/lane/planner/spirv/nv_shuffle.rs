//! NV_shader_thread_shuffle: four shuffles within segments that report whether the source was in range, and return the
//! lane's own value if it was not. Known indices and widths are folded, and a guard is emitted only if it can fail.

use crate::lane::op::{LaneOp, ShuffleMode};
use crate::lane::plan::Operand;
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::nv_shuffle::{Call, call, in_range, target, valid};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::GroupOp;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "range of an NV shuffle", needs: &[], build: valid },
    Rule { name: "NV shuffle that keeps its place", needs: &[], build: own_value },
    Rule { name: "NV shuffle inside a quad", needs: &[Feature::Quad], build: in_quad },
    Rule { name: "guarded shuffle", needs: &[Feature::Shuffle], build: guarded },
];

/// The call of an operation that moves a value.
fn moving_call(b: &mut Builder) -> Result<Call, No> {
    match b.request.op {
        LaneOp::ShuffleNv(mode) => Ok(call(b, mode, 1)),
        _ => Err(No::NotMine),
    }
}

fn own_value(b: &mut Builder) -> Answer {
    let call = moving_call(b)?;
    let stays = call.mode != ShuffleMode::Index && call.index == Operand::Const(0);
    if stays || in_range(b, call) == Operand::Bool(false) { Ok(b.value()) } else { Err(No::NotMine) }
}

fn in_quad(b: &mut Builder) -> Answer {
    match moving_call(b)? {
        Call { mode: ShuffleMode::Index, index: index @ Operand::Const(0..4), width: Operand::Const(4) } => {
            Ok(b.mover(GroupOp::QuadBroadcast, b.value(), index))
        }
        _ => Err(No::NotMine),
    }
}

fn guarded(b: &mut Builder) -> Answer {
    let call = moving_call(b)?;
    let (value, range) = (b.value(), in_range(b, call));
    let moved = match call.mode {
        ShuffleMode::Up => b.shuffle_up(value, call.index),
        ShuffleMode::Down => b.shuffle_down(value, call.index),
        ShuffleMode::Xor => b.shuffle_xor(value, call.index),
        ShuffleMode::Index => {
            let source = target(b, call);
            indexed(b, source)
        }
    };
    Ok(b.select(range, moved, value))
}

/// `v[source]`, as a broadcast if the source is uniform.
fn indexed(b: &mut Builder, source: Operand) -> Operand {
    let value = b.value();
    match source {
        Operand::Const(_) if b.has(Feature::Ballot) => b.mover(GroupOp::Broadcast, value, source),
        _ => b.shuffle(value, source),
    }
}
