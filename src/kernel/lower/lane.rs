//! Cross-lane operations: one per component of the data. Ballots are masks between operations and four words in the
//! shader's values.

use super::arith::unsigned;
use super::{Lower, Scalars};
use crate::ir::{self, Scalar, TypeId, Values};
use crate::kernel::{BinOp, Op, Ty, Value};
use crate::lane::{AluOp, Gives, LaneOp, Role, VoteOp};

impl Lower<'_> {
    pub fn lane(&mut self, op: LaneOp, ty: TypeId, args: Values) -> Scalars {
        let args = self.list(args);
        match op {
            LaneOp::Sync => {
                self.b.effect(Op::Lane { op, ty: [Scalar::BOOL; 2] }, &[]);
                Scalars::new()
            }
            LaneOp::Sort { .. } => self.sort(op, args),
            LaneOp::Vote { op: VoteOp::Equal, .. } => self.vote_equal(op, args),
            LaneOp::Partition => self.partition(op, args),
            _ if op.signature().gives == Gives::Ballot => {
                let mask = self.lane_op(op, args, 0, Ty::Mask);
                self.mask_words(mask)
            }
            _ => self.by_component(op, ty, args),
        }
    }

    /// An operation lowered component by component.
    fn by_component(&mut self, op: LaneOp, ty: TypeId, args: &[ir::Value]) -> Scalars {
        let scalars = self.shapes.scalars(ty);
        scalars.iter().enumerate().map(|(at, scalar)| self.lane_op(op, args, at, Ty::of(*scalar))).collect()
    }

    /// The operation on component `at` of its operands; scalars go with all components.
    fn lane_op(&mut self, op: LaneOp, args: &[ir::Value], at: usize, result: Ty) -> Value {
        let ty = self.lane_types(op, args);
        let mut operands = Scalars::new();
        for (n, arg) in args.iter().enumerate() {
            let values = self.values(*arg);
            let operand = match takes_ballot(op, n) {
                true => self.b.value(Op::MaskFromWords, &values, Ty::Mask),
                false => values.get(at).or(values.last()).copied().unwrap_or_else(|| self.b.u32(0)),
            };
            operands.push(operand);
        }
        self.b.value(Op::Lane { op, ty }, &operands, result)
    }

    /// The scalar types of the first two operands, `BOOL` for a ballot or a missing operand.
    fn lane_types(&mut self, op: LaneOp, args: &[ir::Value]) -> [Scalar; 2] {
        let mut ty = [Scalar::BOOL; 2];
        for (n, (ty, arg)) in ty.iter_mut().zip(args).enumerate() {
            if !takes_ballot(op, n) {
                *ty = self.scalar_of(*arg);
            }
        }
        ty
    }

    /// The keys in order, and the values that go with them.
    fn sort(&mut self, op: LaneOp, args: &[ir::Value]) -> Scalars {
        let operands: Scalars = args.iter().map(|arg| self.scalar(*arg)).collect();
        let ty = self.lane_types(op, args);
        let results: Vec<Ty> = ty.iter().take(args.len()).map(|scalar| Ty::of(*scalar)).collect();
        let inst = self.b.inst(Op::Lane { op, ty }, &operands, &results);
        self.b.kernel.results(inst).collect()
    }

    /// Vectors are equal if all components are.
    fn vote_equal(&mut self, op: LaneOp, args: &[ir::Value]) -> Scalars {
        let count = self.values(args[0]).len();
        let votes: Scalars = (0..count).map(|at| self.lane_op(op, args, at, Ty::Bool)).collect();
        let all = votes.into_iter().reduce(|all, vote| self.b.bin(BinOp::And, Scalar::BOOL, all, vote));
        all.into_iter().collect()
    }

    /// Lanes with equal vectors have equal components.
    fn partition(&mut self, op: LaneOp, args: &[ir::Value]) -> Scalars {
        let count = self.values(args[0]).len();
        let masks: Scalars = (0..count).map(|at| self.lane_op(op, args, at, Ty::Mask)).collect();
        let and = |lower: &mut Self, a, b| lower.b.value(Op::MaskAlu(AluOp::BallotAnd), &[a, b], Ty::Mask);
        match masks.into_iter().reduce(|all, mask| and(self, all, mask)) {
            Some(mask) => self.mask_words(mask),
            None => Scalars::new(),
        }
    }

    /// A mask as `uvec4`.
    fn mask_words(&mut self, mask: Value) -> Scalars {
        let word = |at: u32| {
            let at = self.b.u32(at);
            self.b.value(Op::MaskAlu(AluOp::BallotWord), &[mask, at], Ty::of(unsigned(32)))
        };
        (0..4).map(word).collect()
    }
}

/// Returns true if operand `n` is a ballot, which is a mask here.
fn takes_ballot(op: LaneOp, n: usize) -> bool {
    op.signature().role(n).is_some_and(Role::is_ballot)
}
