//! The operators of all languages, and calls of the language's built-in functions.

use super::expr::{Expr, Level};
use super::function::{Body, Made};
use super::writer::Writer;
use crate::ir::{BinaryOp, MathFn, Scalar, TypeId, UnaryOp, Value, Values};

/// How operators are written between scalars.
pub(super) const fn operator(op: BinaryOp) -> (&'static str, Level) {
    match op {
        BinaryOp::Add => ("+", Level::Sum),
        BinaryOp::Sub => ("-", Level::Sum),
        BinaryOp::Div => ("/", Level::Product),
        BinaryOp::Rem => ("%", Level::Product),
        BinaryOp::And => ("&", Level::And),
        BinaryOp::Or => ("|", Level::Or),
        BinaryOp::Xor => ("^", Level::Xor),
        BinaryOp::Shl => ("<<", Level::Shift),
        BinaryOp::Shr => (">>", Level::Shift),
        BinaryOp::LogicalAnd => ("&&", Level::LogicalAnd),
        BinaryOp::LogicalOr => ("||", Level::LogicalOr),
        BinaryOp::Eq => ("==", Level::Equality),
        BinaryOp::Ne => ("!=", Level::Equality),
        BinaryOp::Lt => ("<", Level::Relation),
        BinaryOp::Le => ("<=", Level::Relation),
        BinaryOp::Gt => (">", Level::Relation),
        BinaryOp::Ge => (">=", Level::Relation),
        BinaryOp::Mul
        | BinaryOp::TimesScalar
        | BinaryOp::MatrixTimesVector
        | BinaryOp::VectorTimesMatrix
        | BinaryOp::MatrixTimesMatrix
        | BinaryOp::OuterProduct => ("*", Level::Product),
    }
}

impl Writer<'_> {
    pub fn unary(&mut self, op: UnaryOp, a: &Expr, of: TypeId) -> Expr {
        let language = self.language;
        language.unary(self, op, a, of)
    }

    /// An operator; `None` if its expansion needs the operands more than once.
    pub fn binary(&mut self, op: BinaryOp, both: [&Expr; 2], of: [TypeId; 2]) -> Option<Expr> {
        let language = self.language;
        language.binary(self, op, both, of)
    }

    /// A call of a built-in function with one result; `None` if the language lacks it.
    pub fn function_of(&mut self, function: MathFn, args: &[Expr], of: &[TypeId], ty: TypeId) -> Option<Expr> {
        let language = self.language;
        language.function_of(self, function, args, of, ty)
    }

    /// A number as another type, component by component.
    pub fn converted(&mut self, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        let language = self.language;
        language.converted(self, value, from, to)
    }

    /// Reinterprets the bits as another type.
    pub fn reinterpreted(&mut self, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        let language = self.language;
        language.reinterpreted(self, value, from, to)
    }
}

impl Body<'_, '_> {
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Expr {
        let of = [self.type_of(a), self.type_of(b)];
        let (mut left, mut right) = (self.value(a), self.value(b));
        // All languages accept a scalar next to a vector here.
        let is_arithmetic = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div);
        if is_arithmetic && self.t.types.scalar_of(of[0]).is_some_and(Scalar::is_float) && of[0] == of[1] {
            match (left.component.take(), right.component.take()) {
                (Some(part), None) => left = *part,
                (None, Some(part)) => right = *part,
                _ => {}
            }
        }
        let language = self.t.language;
        let [left, right] = language.guarded(self, op, [a, b], [left, right]);
        let is_signed = self.t.types.scalar_of(of[0]) == Some(Scalar::I32);
        if is_signed
            && self.t.language.has_undefined_overflow()
            && matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
            && self.is_in_range(op, [a, b])
        {
            let (text, level) = operator(op);
            return Expr::binary(text, level, &left, &right);
        }
        match self.t.binary(op, [&left, &right], of) {
            Some(made) => made,
            None => language.remainder(self, [left, right], of[0]),
        }
    }

    /// The value, with a name if it is more than a simple expression.
    pub fn plain(&mut self, value: Expr, ty: TypeId) -> Expr {
        if value.is_plain() { value } else { self.name("t", ty, &value) }
    }

    /// The sum of the products of integers.
    pub fn integer_dot(&mut self, args: Vec<Expr>, ty: TypeId) -> Expr {
        let size = self.t.types.components(ty).unwrap_or(1);
        let args: Vec<Expr> = args.into_iter().map(|arg| self.plain(arg, ty)).collect();
        if size == 1 {
            return Expr::binary("*", Level::Product, &args[0], &args[1]);
        }
        let product = |n: u32| {
            let part = super::constants::component(n);
            Expr::binary("*", Level::Product, &args[0].part(&part), &args[1].part(&part))
        };
        let first = product(0);
        (1..u32::from(size)).fold(first, |sum, n| Expr::binary("+", Level::Sum, &sum, &product(n)))
    }

    /// The operands of a built-in function with their types; offsets and numbers of bits become `count`.
    pub fn operands(&mut self, function: MathFn, args: Values, count: TypeId) -> (Vec<Expr>, Vec<TypeId>) {
        let f = self.f;
        let of: Vec<TypeId> = f.values(args).iter().map(|value| self.type_of(*value)).collect();
        let mut args = self.list(args);
        if matches!(function, MathFn::BitfieldExtract | MathFn::BitfieldInsert) {
            let last = args.len().saturating_sub(2)..;
            for (arg, ty) in args[last.clone()].iter_mut().zip(&of[last]) {
                *arg = self.t.converted(arg, *ty, count);
            }
        }
        (args, of)
    }

    /// A function that returns its first result and puts its second into its last argument, with the names of both.
    pub fn two_results(&mut self, function: &str, mut args: Vec<Expr>, ty: TypeId, names: [&str; 2]) -> Made {
        let [first, second] = self.members_of(ty);
        let place = self.variable(names[1], second);
        args.push(place.clone());
        let call = Expr::call(function, &args);
        Made::Pair([self.name(names[0], first, &call), place])
    }

    /// The types of a struct's two members.
    pub fn members_of(&mut self, ty: TypeId) -> [TypeId; 2] {
        [0, 1].map(|index| self.t.types.element(ty, index).unwrap_or(ty))
    }
}
