//! Constant expressions: lowered like any other, and constant if they fold to a constant of the IR.

use super::Sema;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::ExprId;
use crate::ir::build::Builder;
use crate::ir::{ConstId, Op, Scalar, ScalarKind, Type, Value};
use crate::source::Span;
use std::fmt::Display;

impl Sema<'_> {
    /// An expression that must be constant, specialization constants included.
    pub fn constant(&mut self, b: &mut Builder<'_>, expr: ExprId, what: impl Display) -> Option<ConstId> {
        match without_effects(b, |b| self.value(b, expr))? {
            (Value::Const(id), true) => Some(id),
            _ => {
                let message = format!("{what} must be a constant expression");
                let span = self.ast[expr].span;
                self.error(Code::NOT_CONSTANT, span, message, "not constant");
                None
            }
        }
    }

    /// An integer known at compile time, and its span.
    pub fn constant_int(&mut self, b: &mut Builder<'_>, expr: ExprId, what: impl Display + Copy) -> Option<i128> {
        let id = self.constant(b, expr, what)?;
        let value = b.module.constants.as_int(&b.module.types, id);
        if value.is_none() {
            let span = self.ast[expr].span;
            let spec = b.module.constants.is_spec(id);
            let label = if spec { "depends on a specialization constant" } else { "not an integer" };
            self.error(Code::NOT_CONSTANT, span, format!("{what} must be an integer known at compile time"), label);
        }
        value
    }

    /// A layout qualifier's value: a non-negative integer constant.
    pub fn layout_value(&mut self, b: &mut Builder<'_>, id: &crate::glsl::ast::LayoutId) -> Option<u32> {
        let what = self.text(id.name.symbol);
        let Some(expr) = id.value else {
            self.error(Code::BAD_LAYOUT, id.span, format!("`{what}` needs a value"), "no value");
            return None;
        };
        let value = self.constant_int(b, expr, format_args!("`{what}`"))?;
        let fits = u32::try_from(value).ok().filter(|value| *value <= i32::MAX as u32);
        if fits.is_none() {
            let span = self.ast[expr].span;
            self.error(Code::BAD_LAYOUT, span, format!("`{what}` cannot be {value}"), "out of range");
        }
        fits
    }

    /// Checks a constant index into something with `len` parts.
    pub fn check_index(&mut self, b: &Builder<'_>, index: Value, len: u32, span: Span) -> Option<()> {
        let Value::Const(id) = index else { return Some(()) };
        let value = b.module.constants.as_int(&b.module.types, id);
        match value {
            Some(at) if at < 0 || at >= i128::from(len) => {
                let message = format!("index {at} is outside 0..{len}");
                self.report(Diagnostic::error(Code::INDEX_RANGE, message).at(span, "out of range"));
                None
            }
            _ => Some(()),
        }
    }
}

/// Lowers an expression outside the flow of a function. Also returns true if it needs no instruction except addresses
/// through references: `(x = 3)` has the value 3, but is not a constant expression.
pub fn without_effects<'m>(
    b: &mut Builder<'m>,
    lower: impl FnOnce(&mut Builder<'m>) -> Option<Value>,
) -> Option<(Value, bool)> {
    let before = b.function.insts.len();
    let value = lower(b)?;
    let idle = b.function.insts.iter().skip(before).all(|(_, inst)| matches!(inst.op, Op::Bitcast(Value::Const(_))));
    Some((value, idle))
}

/// Returns true if a value is an integer scalar.
pub fn is_int_scalar(b: &mut Builder<'_>, value: Value) -> bool {
    let ty = b.type_of(value);
    let int = [ScalarKind::Sint, ScalarKind::Uint];
    matches!(b.module.types.get(ty), Type::Scalar(Scalar { kind, .. }) if int.contains(&kind))
}
