//! Specialization constants: which expressions stay open until a pipeline is made, and what they come to.

use super::{Expr, fold};
use crate::ir::{ConstId, ConstValue, Constants, SpecOp, Types};

/// Replaces specialization constants by values, in a whole module at a pace that callers set.
///
/// Operands of a constant always come before it, so one walk in order evaluates each once, however they are shared.
#[derive(Clone, Debug, Default)]
pub struct Specializer {
    /// What the constants up to here come to; none where it is not defined.
    done: Vec<Option<ConstId>>,
}

impl Specializer {
    pub fn new() -> Specializer {
        Specializer::default()
    }

    /// What `id` comes to when the specialization constant `n` has the bits `given(n)`, or else its default. None where
    /// an operation on the way is not defined. Use one `given` throughout.
    pub fn get(
        &mut self,
        types: &mut Types,
        constants: &mut Constants,
        id: ConstId,
        given: impl Fn(u32) -> Option<u64>,
    ) -> Option<ConstId> {
        while self.done.len() <= id.index() {
            let next = ConstId::from_index(self.done.len());
            let value = self.evaluate(types, constants, next, &given);
            self.done.push(value);
        }
        self.done[id.index()]
    }

    fn evaluate(
        &self,
        types: &mut Types,
        constants: &mut Constants,
        id: ConstId,
        given: &impl Fn(u32) -> Option<u64>,
    ) -> Option<ConstId> {
        let constant = constants.get(id);
        let ty = constant.ty;
        match &constant.value {
            ConstValue::Bits(_) | ConstValue::Zero | ConstValue::Undef => Some(id),
            ConstValue::Spec { id: number, default } => {
                let bits = given(*number).unwrap_or(*default);
                Some(constants.intern(ty, ConstValue::Bits(bits)))
            }
            ConstValue::Composite(parts) => {
                let parts = self.known(parts)?;
                Some(constants.intern(ty, ConstValue::Composite(parts.into_boxed_slice())))
            }
            ConstValue::SpecOp { op, args } => {
                let (expr, args) = (expr_of(*op), self.known(args)?);
                fold(types, constants, expr, ty, &args)
            }
        }
    }

    fn known(&self, ids: &[ConstId]) -> Option<Vec<ConstId>> {
        ids.iter().map(|id| self.done[id.index()]).collect()
    }
}

fn expr_of(op: SpecOp) -> Expr {
    match op {
        SpecOp::Unary(op) => Expr::Unary(op),
        SpecOp::Binary(op) => Expr::Binary(op),
        SpecOp::Math(function) => Expr::Math(function),
        SpecOp::Convert => Expr::Convert,
        SpecOp::Bitcast => Expr::Bitcast,
        SpecOp::Select => Expr::Select,
        SpecOp::Extract(index) => Expr::Extract(index),
    }
}
