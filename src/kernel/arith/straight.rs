//! Operations whose result in a lane depends only on that lane's operands.

use super::{bin, bit_insert, cmp, convert, map, tern, un, zip};
use crate::kernel::Op;
use crate::lane::AluOp;

/// Computes the result row, and returns the lanes in which the operation itself is undefined.
pub(crate) fn compute<'a>(op: Op, out: &mut [u64], row: impl Fn(usize) -> &'a [u64]) -> u64 {
    match op {
        Op::Un(op, ty) => un(op, ty, out, row(0)),
        Op::Bin(op, ty) => return bin(op, ty, out, row(0), row(1)),
        Op::Cmp(op, ty) => cmp(op, ty, out, row(0), row(1)),
        Op::Tern(op, ty) => return tern(op, ty, out, [row(0), row(1), row(2)]),
        Op::BitInsert(ty) => return bit_insert(ty, out, [row(0), row(1), row(2), row(3)]),
        Op::Convert(from, to) => return convert(from, to, out, row(0)),
        Op::Join | Op::MaskFromWords => zip(out, row(0), row(1), |low, high| low | high << 32),
        Op::Low => map(out, row(0), |x| x & 0xffff_ffff),
        Op::High => map(out, row(0), |x| x >> 32),
        Op::MaskAlu(op) => return mask(op, out, row),
        // These are not per-lane, or are handled elsewhere.
        _ => return u64::MAX,
    }
    0
}

/// Arithmetic on masks; returns the lanes in which its result is undefined.
fn mask<'a>(op: AluOp, out: &mut [u64], row: impl Fn(usize) -> &'a [u64]) -> u64 {
    match op {
        AluOp::BallotAnd => zip(out, row(0), row(1), |a, b| a & b),
        AluOp::BallotOr => zip(out, row(0), row(1), |a, b| a | b),
        AluOp::BallotNot => map(out, row(0), |a| !a),
        AluOp::BallotIsEmpty => map(out, row(0), |a| (a == 0).into()),
        AluOp::BallotIsSome => map(out, row(0), |a| (a != 0).into()),
        AluOp::BallotSize => map(out, row(0), |a| a.count_ones().into()),
        AluOp::BallotFromMask => out.copy_from_slice(row(0)),
        AluOp::BallotWord => {
            // Words 2 and 3 are beyond all lanes.
            zip(out, row(0), row(1), |a, word| if word < 2 { a >> (32 * word) & 0xffff_ffff } else { 0 });
            return row(1).iter().enumerate().fold(0, |all, (lane, word)| all | u64::from(*word > 3) << lane);
        }
        _ => return u64::MAX,
    }
    0
}
