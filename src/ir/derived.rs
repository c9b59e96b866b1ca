//! Functions of GLSL dialects that consist of lane operations, arithmetic or both, and lane operations whose result
//! type differs in a dialect. Both front ends use this module.

use super::build::Builder;
use super::op::{BinaryOp, MathFn};
use super::types::{Scalar, Type, TypeId, Types};
use super::{UnaryOp, Value, typing};
use crate::lane::{Group, LaneOp, MaskOp, Members, ReduceKind, ReduceOp, Width};
use smallvec::SmallVec;

/// The sum over the workgroup.
pub const SUM_OF_WORKGROUP: LaneOp =
    LaneOp::Reduce { op: ReduceOp::Add, kind: ReduceKind::AllReduce, width: Width::WORKGROUP, members: Members::All };

/// A function that consists of other operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Derived {
    /// `[predicate, n]`: the first word of the ballot, with bits from `n` (1 to 32) up cleared.
    BallotWord,
    /// `[predicate]`: the invocations of the workgroup with the predicate.
    CountInWorkgroup,
    /// `[lane]`: bits of the 32 lanes with this relation to lane 0 to 31.
    Lanes(MaskOp),
    /// `[]`: true in lane 0.
    IsFirstLane,
    /// `[]`: lanes of the subgroup, a constant.
    SubgroupSize,
    /// `[]`: the logarithm of that.
    Log2SubgroupSize,
    /// `[x, y, z]`: one of three values, component by component (GL_AMD_shader_trinary_minmax).
    Three(Rank),
}

/// The rank of the value among three.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rank {
    Min,
    Middle,
    Max,
}

impl Derived {
    /// Returns true if it is about the lanes of a subgroup.
    pub const fn is_of_lanes(self) -> bool {
        !matches!(self, Derived::Three(_))
    }

    /// Returns true if it is a constant that depends on the subgroup size, which must be known then.
    pub const fn needs_size(self) -> bool {
        matches!(self, Derived::SubgroupSize | Derived::Log2SubgroupSize)
    }
}

impl Builder<'_> {
    /// A derived function; `size` is the number of lanes if known.
    pub fn derived(&mut self, of: Derived, ty: TypeId, args: &[Value], size: Option<u32>) -> Value {
        let size = size.unwrap_or(0);
        let value = match (of, args) {
            (Derived::BallotWord, [predicate, count]) => self.ballot_word(*predicate, *count),
            (Derived::CountInWorkgroup, [predicate]) => self.count_in_workgroup(*predicate),
            (Derived::Lanes(op), [lane]) => self.lanes_that(op, *lane),
            (Derived::Three(rank), [x, y, z]) => self.one_of_three(rank, *x, *y, *z),
            (Derived::SubgroupSize, _) => self.const_u32(size),
            (Derived::Log2SubgroupSize, _) => self.const_u32(size.checked_ilog2().unwrap_or(0)),
            _ => {
                let (lane, zero) = (self.lane(LaneOp::LaneIndex(Group::Subgroup), Types::U32, &[]), self.const_u32(0));
                self.binary(BinaryOp::Eq, lane, zero)
            }
        };
        self.as_type(value, ty)
    }

    fn ballot_word(&mut self, predicate: Value, count: Value) -> Value {
        let vector = self.module.types.vector(Scalar::U32, 4);
        let ballot = self.lane(LaneOp::Ballot(Group::Subgroup), vector, &[predicate]);
        let (word, most, all) = (self.extract(ballot, 0), self.const_u32(32), self.const_u32(u32::MAX));
        let above = self.binary(BinaryOp::Sub, most, count);
        let mask = self.binary(BinaryOp::Shr, all, above);
        self.binary(BinaryOp::And, word, mask)
    }

    fn count_in_workgroup(&mut self, predicate: Value) -> Value {
        let own = self.convert(predicate, Types::U32);
        self.lane(SUM_OF_WORKGROUP, Types::U32, &[own])
    }

    fn one_of_three(&mut self, rank: Rank, x: Value, y: Value, z: Value) -> Value {
        let outer = match rank {
            Rank::Min => MathFn::Min,
            Rank::Middle | Rank::Max => MathFn::Max,
        };
        if rank != Rank::Middle {
            let pair = self.math(outer, &[x, y]);
            return self.math(outer, &[pair, z]);
        }
        let (low, high) = (self.math(MathFn::Min, &[x, y]), self.math(MathFn::Max, &[x, y]));
        let high = self.math(MathFn::Min, &[high, z]);
        self.math(outer, &[low, high])
    }

    fn lanes_that(&mut self, op: MaskOp, lane: Value) -> Value {
        let bit = self.const_u32(if matches!(op, MaskOp::Le | MaskOp::Gt) { 2 } else { 1 });
        let bit = self.binary(BinaryOp::Shl, bit, lane);
        if op == MaskOp::Eq {
            return bit;
        }
        let one = self.const_u32(1);
        let below = self.binary(BinaryOp::Sub, bit, one);
        if matches!(op, MaskOp::Ge | MaskOp::Gt) { self.unary(UnaryOp::Not, below) } else { below }
    }

    /// A lane operation with the result type `ty` of a dialect: a bool as a number, a ballot as 64 bits.
    pub fn lane_as(&mut self, op: LaneOp, ty: TypeId, args: &[Value]) -> Value {
        if op.signature().moved() > 0 {
            return self.lane_move(op, ty, args);
        }
        let types: SmallVec<[TypeId; 3]> = args.iter().map(|arg| self.type_of(*arg)).collect();
        let own = typing::lane(&mut self.module.types, op, &types);
        let value = self.lane(op, own, args);
        self.as_type(value, ty)
    }

    fn as_type(&mut self, value: Value, ty: TypeId) -> Value {
        let own = self.type_of(value);
        if own == ty {
            return value;
        }
        if let Type::Vector { .. } = self.module.types.get(own) {
            let low = self.swizzle(value, &[0, 1]);
            return self.bitcast(low, ty);
        }
        self.convert(value, ty)
    }
}
