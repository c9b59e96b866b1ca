//! Specialization constants: expressions that are evaluated at pipeline creation, and their values.

use super::{Expr, Folder, fold};
use crate::ir::{BinaryOp, ConstId, ConstValue, Constants, Scalar, SpecOp, TypeId, Types, UnaryOp, typing};

impl Folder<'_> {
    /// The specialization-constant expression for an operation that depends on specialization constants, if SPIR-V's
    /// OpSpecConstantOp supports it under the Shader capability (SPIR-V 1.6 section 3.52.9): operations on integers and
    /// bools and conversions among integers and bools or among floats, but no float arithmetic and no built-in
    /// functions.
    pub fn open_expression(&mut self, expr: Expr, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        let is_open = args.iter().any(|arg| self.constants.is_spec(*arg));
        let has_undef = args.iter().any(|arg| self.constants.get(*arg).value == ConstValue::Undef);
        if !is_open || has_undef {
            return None;
        }
        let (to, _) = self.shape(ty)?;
        let (from, _) = self.shape(self.constants.get(*args.last()?).ty)?;
        let op = open_operation(expr, from, to)?;
        Some(self.constants.intern(ty, ConstValue::SpecOp { op, args: args.into() }))
    }
}

/// The operation on operands of type `from`, if it can be evaluated at pipeline creation.
fn open_operation(expr: Expr, from: Scalar, to: Scalar) -> Option<SpecOp> {
    let (op, allowed) = match expr {
        Expr::Unary(op @ UnaryOp::LogicalNot) => (SpecOp::Unary(op), from.is_bool()),
        Expr::Unary(op) => (SpecOp::Unary(op), from.is_int()),
        Expr::Binary(op) => (SpecOp::Binary(op), binary_is_open(op, from)),
        Expr::Convert => (SpecOp::Convert, convert_is_open(from, to)),
        Expr::Bitcast => (SpecOp::Bitcast, from.is_int() && to.is_int() && from.width == to.width),
        Expr::Select => (SpecOp::Select, true),
        _ => return None,
    };
    allowed.then_some(op)
}

fn binary_is_open(op: BinaryOp, operands: Scalar) -> bool {
    match op {
        BinaryOp::LogicalAnd | BinaryOp::LogicalOr => operands.is_bool(),
        BinaryOp::Eq | BinaryOp::Ne => operands.is_int() || operands.is_bool(),
        _ => operands.is_int() && typing::is_by_component(op),
    }
}

/// Bools become numbers by a select, integers become bools by a comparison.
fn convert_is_open(from: Scalar, to: Scalar) -> bool {
    let is_whole = |scalar: Scalar| scalar.is_int() || scalar.is_bool();
    from.is_bool() || (from.is_int() && is_whole(to)) || (from.is_float() && to.is_float())
}

/// Replaces specialization constants by values, in a whole module at a pace that callers set.
///
/// Operands of a constant always precede it, so one walk in order evaluates each once, however many users it has.
#[derive(Clone, Debug, Default)]
pub struct Specializer {
    /// The values of the constants up to here; `None` for undefined ones.
    done: Vec<Option<ConstId>>,
}

impl Specializer {
    pub fn new() -> Specializer {
        Specializer::default()
    }

    /// The value of `id` if each specialization constant `n` has the bits `given(n)`, otherwise its default; `None` if
    /// an operation on the way is undefined. Use the same `given` for all calls.
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
            ConstValue::MatrixLength(_) => None,
        }
    }

    fn known(&self, ids: &[ConstId]) -> Option<Vec<ConstId>> {
        ids.iter().map(|id| self.done[id.index()]).collect()
    }
}

/// Fixes specialization constants: `given(n, default)` returns the bits of the constant `n`, if it is set. Expressions
/// that also depend on unset constants stay.
///
/// # Errors
/// Returns the first constant whose operation is undefined for these values.
pub fn fix(
    types: &mut Types,
    constants: &mut Constants,
    given: impl Fn(u32, u64) -> Option<u64>,
) -> Result<(), ConstId> {
    for id in (0..constants.len()).map(ConstId::from_index) {
        let constant = constants.get(id).clone();
        let value = match constant.value {
            ConstValue::Spec { id: number, default } => given(number, default).map(ConstValue::Bits),
            ConstValue::SpecOp { op, args } if !args.iter().any(|arg| constants.is_spec(*arg)) => {
                let known = fold(types, constants, expr_of(op), constant.ty, &args).ok_or(id)?;
                Some(constants.get(known).value.clone())
            }
            _ => None,
        };
        if let Some(value) = value {
            constants.replace(id, value);
        }
    }
    Ok(())
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
