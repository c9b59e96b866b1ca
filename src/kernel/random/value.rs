//! Operands, arithmetic and cross-lane operations.

use super::{Generator, Known, SCALARS, U64};
use crate::ir::Scalar;
use crate::kernel::{BinOp, CmpOp, Op, Ty, UnOp};
use crate::lane::{CountOp, Group, LaneOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, Swap, VoteOp, Width};

impl Generator {
    /// A value of this type, if need be a constant.
    pub(super) fn operand(&mut self, scalar: Scalar, defined: bool) -> Known {
        let fits: Vec<Known> =
            self.values.iter().filter(|known| known.scalar == scalar && (known.defined || !defined)).copied().collect();
        if fits.is_empty() || self.chance(8) {
            return self.constant(scalar);
        }
        let first = if self.chance(3) { 0 } else { fits.len() - fits.len().min(6) };
        self.one_of(&fits[first..])
    }

    fn constant(&mut self, scalar: Scalar) -> Known {
        let bits = match scalar {
            Scalar::F32 => u64::from(self.one_of(&[0.0f32, -0.0, 1.0, -1.5, 2.0, 0.25, 3.0e10]).to_bits()),
            Scalar::BOOL => u64::from(self.chance(2)),
            _ => self.one_of(&[0, 1, 2, 3, 4, 8, 31, 0xff, 0x8000_0000, 0xffff_ffff]),
        };
        Known { scalar, value: self.b.constant(Ty::of(scalar), bits), defined: true }
    }

    pub fn arithmetic(&mut self) {
        let scalar = self.one_of(&SCALARS);
        let choice = self.below(12);
        match choice {
            0 => self.comparison(),
            1 => self.selection(scalar),
            2 => self.conversion(),
            3 => self.unary(scalar),
            _ => self.binary(scalar),
        }
    }

    fn binary(&mut self, scalar: Scalar) {
        use BinOp as B;
        let op = match scalar {
            Scalar::BOOL => self.one_of(&[B::And, B::Or, B::Xor]),
            Scalar::F32 => self.one_of(&[B::Add, B::Sub, B::Mul, B::Min, B::Max, B::Div]),
            _ => self.one_of(&[
                B::Add,
                B::Sub,
                B::Mul,
                B::And,
                B::Or,
                B::Xor,
                B::Shl,
                B::Shr,
                B::Min,
                B::Max,
                B::Div,
                B::Rem,
                B::MulHigh,
            ]),
        };
        let a = self.operand(scalar, false);
        let b = match op {
            B::Shl | B::Shr => {
                let amount = self.below(u32::from(scalar.width));
                let value = self.b.u32(amount);
                Known { scalar: Scalar::U32, value, defined: true }
            }
            // By a constant that is not zero; the smallest value by -1 overflows.
            B::Div | B::Rem if !scalar.is_float() => {
                let by = self.one_of(&[1, 2, 3, 4, 10, 64]);
                Known { scalar, value: self.b.constant(Ty::of(scalar), by), defined: true }
            }
            _ => self.operand(scalar, false),
        };
        let value = self.b.bin(op, scalar, a.value, b.value);
        self.add(scalar, value, a.defined && b.defined);
    }

    fn unary(&mut self, scalar: Scalar) {
        let op = match scalar {
            Scalar::BOOL => UnOp::Not,
            Scalar::F32 => self.one_of(&[UnOp::Neg, UnOp::Abs, UnOp::Floor]),
            _ => self.one_of(&[UnOp::Neg, UnOp::Not, UnOp::BitCount, UnOp::BitReverse, UnOp::FindMsb]),
        };
        let a = self.operand(scalar, false);
        let value = self.b.un(op, scalar, a.value);
        self.add(scalar, value, a.defined);
    }

    pub fn comparison(&mut self) {
        let scalar = self.one_of(&SCALARS);
        let ops = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];
        let op = self.one_of(if scalar.is_bool() { &ops[..2] } else { &ops });
        let (a, b) = (self.operand(scalar, false), self.operand(scalar, false));
        let value = self.b.cmp(op, scalar, a.value, b.value);
        self.add(Scalar::BOOL, value, a.defined && b.defined);
    }

    fn selection(&mut self, scalar: Scalar) {
        let condition = self.operand(Scalar::BOOL, true);
        let (a, b) = (self.operand(scalar, false), self.operand(scalar, false));
        let value = self.b.select(condition.value, a.value, b.value);
        self.add(scalar, value, a.defined && b.defined);
    }

    fn conversion(&mut self) {
        let (from, to) = self.one_of(&[
            (Scalar::U32, Scalar::F32),
            (Scalar::I32, Scalar::F32),
            (Scalar::U32, Scalar::I32),
            (Scalar::BOOL, Scalar::U32),
            (Scalar::U32, Scalar::BOOL),
            (Scalar::U32, U64),
            (Scalar::I32, U64),
        ]);
        let a = self.operand(from, false);
        let value = match self.below(3) {
            0 if to == U64 => {
                let high = self.operand(Scalar::U32, true);
                self.b.value(Op::Join, &[a.value, high.value], Ty::B64)
            }
            _ => self.b.convert(from, to, a.value),
        };
        self.add(to, value, a.defined);
        if to == U64 {
            let op = self.one_of(&[Op::Low, Op::High]);
            let half = self.b.value(op, &[value], Ty::B32);
            self.add(Scalar::U32, half, a.defined);
        }
    }

    /// A cross-lane operation. Its result may be undefined if it reads lanes that need not be active.
    pub fn lane(&mut self) {
        let width = Width::new(self.one_of(&[2, 4, 8])).expect("a width");
        let scalar = self.one_of(&[Scalar::U32, Scalar::I32, Scalar::F32]);
        match self.below(8) {
            0 => self.lane_fact(),
            1 => self.vote(),
            2 => self.ballot(),
            3 => self.moved(scalar, LaneOp::BroadcastFirst, true),
            4 => self.fold(width),
            5 => self.shuffle(scalar),
            6 => self.moved(scalar, LaneOp::Swap(Swap::Butterfly, width), false),
            _ => {
                let mv = self.one_of(&[QuadMove::X, QuadMove::Y, QuadMove::Lane(2)]);
                self.moved(scalar, LaneOp::Quad { mv, float_only: false }, false);
            }
        }
    }

    fn moved(&mut self, scalar: Scalar, op: LaneOp, stays_defined: bool) {
        let a = self.operand(scalar, false);
        let value = self.b.value(Op::Lane { op, ty: [scalar, Scalar::BOOL] }, &[a.value], Ty::of(scalar));
        self.add(scalar, value, stays_defined && a.defined);
    }

    fn shuffle(&mut self, scalar: Scalar) {
        let mode = self.one_of(&[ShuffleMode::Xor, ShuffleMode::Up, ShuffleMode::Down]);
        let (a, by) = (self.operand(scalar, false), self.below(8));
        let by = if self.chance(2) { self.b.u32(by) } else { self.operand(Scalar::U32, true).value };
        let seven = self.b.u32(7);
        let by = self.b.bin(BinOp::And, Scalar::U32, by, seven);
        let op = Op::Lane { op: LaneOp::Shuffle(mode), ty: [scalar, Scalar::U32] };
        let value = self.b.value(op, &[a.value, by], Ty::of(scalar));
        self.add(scalar, value, false);
    }

    fn lane_fact(&mut self) {
        let (op, scalar) = self.one_of(&[
            (LaneOp::LaneIndex(Group::Subgroup), Scalar::U32),
            (LaneOp::LaneCount(Group::Subgroup), Scalar::U32),
            (LaneOp::Elect, Scalar::BOOL),
        ]);
        let value = self.b.value(Op::Lane { op, ty: [Scalar::BOOL; 2] }, &[], Ty::of(scalar));
        self.add(scalar, value, true);
    }

    fn vote(&mut self) {
        let op = LaneOp::Vote {
            op: self.one_of(&[VoteOp::All, VoteOp::Any]),
            group: self.one_of(&[Group::Subgroup, Group::Quad]),
        };
        let a = self.operand(Scalar::BOOL, true);
        let value = self.b.value(Op::Lane { op, ty: [Scalar::BOOL; 2] }, &[a.value], Ty::Bool);
        self.add(Scalar::BOOL, value, true);
    }

    fn ballot(&mut self) {
        let a = self.operand(Scalar::BOOL, true);
        let op = LaneOp::Ballot(Group::Subgroup);
        let mask = self.b.value(Op::Lane { op, ty: [Scalar::BOOL; 2] }, &[a.value], Ty::Mask);
        let op = LaneOp::BallotCount(self.one_of(&[CountOp::All, CountOp::Inclusive, CountOp::Exclusive]));
        let value = self.b.value(Op::Lane { op, ty: [Scalar::BOOL; 2] }, &[mask], Ty::B32);
        self.add(Scalar::U32, value, true);
    }

    fn fold(&mut self, width: Width) {
        let scalar = self.one_of(&[Scalar::U32, Scalar::I32]);
        let op =
            self.one_of(&[ReduceOp::Add, ReduceOp::Min, ReduceOp::Max, ReduceOp::And, ReduceOp::Or, ReduceOp::Xor]);
        let kind = self.one_of(&[ReduceKind::AllReduce, ReduceKind::Inclusive, ReduceKind::Exclusive]);
        let width = if self.chance(2) { Width::SUBGROUP } else { width };
        let members = if self.chance(3) { Members::All } else { Members::Active };
        let op = LaneOp::Reduce { op, kind, width, members };
        self.moved(scalar, op, members == Members::Active);
    }
}
