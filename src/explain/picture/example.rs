//! Operands for the picture of an operation: symbols for the lanes' own values, constants unchanged, examples for the
//! rest.

use super::MarkRow;
use super::mark::Mark;
use crate::lane::check::role;
use crate::lane::value::{LaneValue, low_bits};
use crate::lane::{Input, Known, LaneOp, Request, Role, ShuffleMode};

/// The rows of all operands, and whether any of them is an example.
pub fn inputs(request: &Request, size: u32) -> (Vec<MarkRow>, bool) {
    let rows = request.inputs.iter().enumerate().map(|(n, input)| row(request, n, input, size));
    let is_example = |(n, input): (usize, &Input)| {
        role(request.op, n, input.ty.kind) != Role::Data
            && !matches!(input.known, Known::Constant(_))
            && (n != 1 || request.index.is_none())
    };
    (rows.collect(), request.inputs.iter().enumerate().any(is_example))
}

fn row(request: &Request, n: usize, input: &Input, size: u32) -> MarkRow {
    let lanes = 0..size;
    match (input.known, role(request.op, n, input.ty.kind)) {
        (_, Role::Data | Role::Same | Role::Number | Role::SameNumber | Role::Bits) => {
            lanes.map(|lane| LaneValue::Data(Mark::of(n, lane, 0))).collect()
        }
        (_, Role::Class) => lanes.map(|lane| LaneValue::Data(Mark::of(n, lane, lane / 4 % 2))).collect(),
        (_, Role::Key | Role::Rider) => lanes.map(|lane| LaneValue::Data(Mark::of(n, lane, key(n, lane)))).collect(),
        (Known::Constant(value), _) => lanes.map(|_| LaneValue::Index(value)).collect(),
        (_, Role::Index) => lanes.map(|lane| LaneValue::Index(index(request, n, lane, size))).collect(),
        (_, Role::NvWidth) => lanes.map(|_| LaneValue::Index(8)).collect(),
        (_, Role::Bool) => lanes.map(|lane| LaneValue::Bool(predicate(request.op, lane))).collect(),
        (_, Role::Partition) => lanes.map(|lane| LaneValue::Ballot(EVEN << (lane % 2) & low_bits(size))).collect(),
        (_, Role::Ballot | Role::Mask) => lanes.map(|_| LaneValue::Ballot(BALLOT)).collect(),
    }
}

/// All, one, none and half of each group of four lanes.
const PATTERN: u32 = 0b0011_0000_0010_1111;

/// That pattern for every 16 of 64 lanes.
const BALLOT: u128 = PATTERN as u128 * 0x0001_0001_0001_0001;

/// Every other lane from lane 0 on: partitions of even and of odd lanes.
const EVEN: u128 = u128::MAX / 3;

/// Heads of runs start at a few odd places.
fn predicate(op: LaneOp, lane: u32) -> bool {
    match op {
        LaneOp::Segmented { .. } => matches!(lane % 16, 3 | 5 | 12),
        _ => PATTERN >> (lane % 16) & 1 != 0,
    }
}

/// Keys that are out of order, all different among 64 lanes; values follow their keys.
fn key(n: usize, lane: u32) -> u32 {
    if n == 0 { lane * 37 % 64 } else { lane }
}

/// A lane or a distance: equal in all lanes if it must be, otherwise varied.
fn index(request: &Request, n: usize, lane: u32, size: u32) -> u32 {
    if let (1, Some(row)) = (n, request.index.as_deref()) {
        return row.get(lane as usize).copied().unwrap_or(0);
    }
    match request.op {
        LaneOp::Shuffle(ShuffleMode::Index) | LaneOp::Bpermute | LaneOp::Permute => {
            (lane * 5 + 3) % size.min(8) + lane / 8 * 8
        }
        LaneOp::ShuffleNv(ShuffleMode::Index) | LaneOp::ShuffleNvValid(ShuffleMode::Index) => (lane * 5 + 3) % 8,
        _ => 2,
    }
}
