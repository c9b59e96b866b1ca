//! How cross-lane operations are written: `all_reduce.add<16>`, `shuffle.xor`, `vote.any<quad>`.

use super::words::snake;
use crate::lane::{Group, LaneOp, Members, QuadMove, ReduceKind, ReduceOp, Width};

fn width_text(width: Width) -> String {
    match width.lanes() {
        Some(lanes) => format!("<{lanes}>"),
        None if width == Width::WORKGROUP => "<workgroup>".to_owned(),
        None => "<subgroup>".to_owned(),
    }
}

fn group_text(group: Group) -> String {
    match group {
        Group::Segment(width) => width_text(width),
        group => format!("<{}>", snake(group)),
    }
}

fn move_text(mv: QuadMove) -> String {
    match mv {
        QuadMove::Lane(lane) => lane.to_string(),
        mv => snake(mv),
    }
}

fn reduction_text(op: ReduceOp, kind: ReduceKind) -> String {
    format!("{}.{}", snake(kind), snake(op))
}

/// An operation without its operands.
pub fn lane_text(op: LaneOp) -> String {
    match op {
        LaneOp::Quad { mv, float_only } => {
            format!("quad.{}{}", move_text(mv), if float_only { ".float_only" } else { "" })
        }
        LaneOp::QuadAdd(mv) => format!("quad_add.{}", move_text(mv)),
        LaneOp::QuadPermute(mode) => format!("quad_permute<{mode:#04x}>"),
        LaneOp::QuadPermuteZero(mode) => format!("quad_permute_zero<{mode:#04x}>"),
        LaneOp::Swap(swap, width) => format!("{}{}", snake(swap), width_text(width)),
        LaneOp::Shuffle(mode) => format!("shuffle.{}", snake(mode)),
        LaneOp::Rotate(width) => format!("rotate{}", width_text(width)),
        LaneOp::ShuffleNv(mode) => format!("shuffle_nv.{}", snake(mode)),
        LaneOp::ShuffleNvValid(mode) => format!("shuffle_nv_valid.{}", snake(mode)),
        LaneOp::SwizzleMasked { and, or, xor } => format!("swizzle_masked<and {and}, or {or}, xor {xor}>"),
        LaneOp::Reduce { op, kind, width, members } => {
            let active = if members == Members::Active { ".active" } else { "" };
            format!("{}{active}{}", reduction_text(op, kind), width_text(width))
        }
        LaneOp::Segmented { op, width } => format!("segmented.{}{}", snake(op), width_text(width)),
        LaneOp::Partitioned { op, kind } => format!("partitioned.{}", reduction_text(op, kind)),
        LaneOp::Sort { width } => format!("sort{}", width_text(width)),
        LaneOp::Vote { op, group } => format!("vote.{}{}", snake(op), group_text(group)),
        LaneOp::Ballot(group) => format!("ballot{}", group_text(group)),
        LaneOp::BallotCount(count) => format!("ballot_count.{}", snake(count)),
        LaneOp::LaneIndex(group) => format!("lane_index{}", group_text(group)),
        LaneOp::LaneCount(group) => format!("lane_count{}", group_text(group)),
        LaneOp::SegmentLast(width) => format!("segment_last{}", width_text(width)),
        LaneOp::LaneMask(mask, group) => format!("lane_mask.{}{}", snake(mask), group_text(group)),
        // The variant's name is complete.
        other => snake(other),
    }
}
