//! Arithmetic: operators and built-in functions as tables from the operation to naga's, or as short expansions.

use super::function::Body;
use super::types::scalar_of;
use crate::ir::{BinaryOp, MathFn, Scalar, ScalarKind, Type, TypeId, UnaryOp};
use naga::{BinaryOperator, DerivativeAxis, DerivativeControl, Expression, Handle, MathFunction, RelationalFunction};

/// A call of a built-in function.
struct Call<'c> {
    args: &'c [Handle<Expression>],
    types: &'c [TypeId],
    ty: TypeId,
    /// Of the first argument.
    scalar: Scalar,
    size: u8,
}

/// How a function is computed.
enum Form {
    No,
    Math(MathFunction),
    /// The same; the result is bits of another kind of integer.
    Bits(MathFunction),
    Derivative(DerivativeAxis, DerivativeControl),
    Relational(RelationalFunction),
    Expand(fn(&mut Body<'_, '_>, &Call<'_>) -> Handle<Expression>),
}

fn row(function: MathFn) -> Form {
    use DerivativeAxis::{Width, X, Y};
    use DerivativeControl::{Coarse, Fine, None as Any};
    use Form::{Bits, Derivative, Expand, Math};
    use MathFn as F;
    use MathFunction as M;
    match function {
        F::Radians => Math(M::Radians),
        F::Degrees => Math(M::Degrees),
        F::Sin => Math(M::Sin),
        F::Cos => Math(M::Cos),
        F::Tan => Math(M::Tan),
        F::Asin => Math(M::Asin),
        F::Acos => Math(M::Acos),
        F::Atan => Math(M::Atan),
        F::Atan2 => Math(M::Atan2),
        F::Sinh => Math(M::Sinh),
        F::Cosh => Math(M::Cosh),
        F::Tanh => Math(M::Tanh),
        F::Asinh => Math(M::Asinh),
        F::Acosh => Math(M::Acosh),
        F::Atanh => Math(M::Atanh),
        F::Pow => Math(M::Pow),
        F::Exp => Math(M::Exp),
        F::Log => Math(M::Log),
        F::Exp2 => Math(M::Exp2),
        F::Log2 => Math(M::Log2),
        F::Sqrt => Math(M::Sqrt),
        F::InverseSqrt => Math(M::InverseSqrt),
        F::Abs => Math(M::Abs),
        F::Sign => Expand(sign),
        F::Floor => Math(M::Floor),
        F::Trunc => Math(M::Trunc),
        // Both round halves to even, which GLSL allows.
        F::Round | F::RoundEven => Math(M::Round),
        F::Ceil => Math(M::Ceil),
        F::Fract => Math(M::Fract),
        F::Mod => Expand(floored_remainder),
        F::Modf => Expand(|body, call| body.pair_of(M::Modf, call)),
        F::Frexp => Expand(frexp),
        F::Min => Math(M::Min),
        F::Max => Math(M::Max),
        F::Clamp => Math(M::Clamp),
        F::Mix => Math(M::Mix),
        F::Step => Math(M::Step),
        F::SmoothStep => Math(M::SmoothStep),
        F::IsNan => Expand(|body, call| body.magnitude(call, BinaryOperator::Greater)),
        F::IsInf => Expand(|body, call| body.magnitude(call, BinaryOperator::Equal)),
        F::Fma => Math(M::Fma),
        F::Ldexp => Math(M::Ldexp),
        F::PackSnorm4x8 => Math(M::Pack4x8snorm),
        F::UnpackSnorm4x8 => Math(M::Unpack4x8snorm),
        F::PackUnorm4x8 => Math(M::Pack4x8unorm),
        F::UnpackUnorm4x8 => Math(M::Unpack4x8unorm),
        F::PackSnorm2x16 => Math(M::Pack2x16snorm),
        F::UnpackSnorm2x16 => Math(M::Unpack2x16snorm),
        F::PackUnorm2x16 => Math(M::Pack2x16unorm),
        F::UnpackUnorm2x16 => Math(M::Unpack2x16unorm),
        F::PackHalf2x16 => Math(M::Pack2x16float),
        F::UnpackHalf2x16 => Math(M::Unpack2x16float),
        F::Length => Math(M::Length),
        F::Distance => Math(M::Distance),
        F::Dot => Expand(dot),
        F::Cross => Math(M::Cross),
        F::Normalize => Expand(normalize),
        F::FaceForward => Expand(face_forward),
        F::Reflect => Expand(reflect),
        F::Refract => Expand(refract),
        F::MatrixCompMult => Expand(component_product),
        F::Transpose => Math(M::Transpose),
        F::Determinant => Math(M::Determinant),
        F::Inverse => Expand(inverse),
        F::Any => Form::Relational(RelationalFunction::Any),
        F::All => Form::Relational(RelationalFunction::All),
        F::AddCarry => Expand(add_carry),
        F::SubBorrow => Expand(sub_borrow),
        F::MulExtended => Expand(wide_product),
        F::BitfieldExtract | F::BitfieldInsert => Expand(bit_field),
        F::BitfieldReverse => Math(M::ReverseBits),
        F::BitCount => Bits(M::CountOneBits),
        F::FindLsb => Bits(M::FirstTrailingBit),
        F::FindMsb => Bits(M::FirstLeadingBit),
        F::CountLeadingZeros => Bits(M::CountLeadingZeros),
        F::CountTrailingZeros => Bits(M::CountTrailingZeros),
        F::DerivX => Derivative(X, Any),
        F::DerivY => Derivative(Y, Any),
        F::DerivWidth => Derivative(Width, Any),
        F::DerivXFine => Derivative(X, Fine),
        F::DerivYFine => Derivative(Y, Fine),
        F::DerivWidthFine => Derivative(Width, Fine),
        F::DerivXCoarse => Derivative(X, Coarse),
        F::DerivYCoarse => Derivative(Y, Coarse),
        F::DerivWidthCoarse => Derivative(Width, Coarse),
        F::DotPacked => Expand(packed_dot),
        F::PackDouble2x32 | F::UnpackDouble2x32 | F::DotInt | F::DotIntAccSat | F::DotPackedAccSat | F::IsHelper => {
            Form::No
        }
    }
}

impl Body<'_, '_> {
    pub fn unary(&mut self, op: UnaryOp, expr: Handle<Expression>, of: TypeId) -> Handle<Expression> {
        let op = match op {
            UnaryOp::Neg => match self.t.shape(of) {
                Some((scalar, size)) if scalar.kind == ScalarKind::Uint => {
                    let left = self.zero(scalar, size);
                    return self.emit(Expression::Binary { op: BinaryOperator::Subtract, left, right: expr });
                }
                _ => naga::UnaryOperator::Negate,
            },
            UnaryOp::Not => naga::UnaryOperator::BitwiseNot,
            UnaryOp::LogicalNot => naga::UnaryOperator::LogicalNot,
        };
        if let Type::Matrix { .. } = self.t.types.get(of) {
            return self.by_column(of, |body, n| {
                let expr = body.emit(Expression::AccessIndex { base: expr, index: n });
                body.emit(Expression::Unary { op, expr })
            });
        }
        self.emit(Expression::Unary { op, expr })
    }

    /// A matrix made column by column.
    fn by_column(
        &mut self,
        ty: TypeId,
        mut column: impl FnMut(&mut Self, u32) -> Handle<Expression>,
    ) -> Handle<Expression> {
        let Type::Matrix { columns, .. } = self.t.types.get(ty) else { return self.broken("columns of no matrix") };
        let parts = (0..u32::from(columns)).map(|n| column(self, n)).collect();
        self.compose(ty, parts)
    }

    pub fn plain(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Handle<Expression> {
        self.emit(Expression::Binary { op, left, right })
    }

    fn apply(&mut self, fun: MathFunction, args: &[Handle<Expression>]) -> Handle<Expression> {
        let rest = |n: usize| args.get(n).copied();
        self.emit(Expression::Math { fun, arg: args[0], arg1: rest(1), arg2: rest(2), arg3: rest(3) })
    }

    pub fn binary(
        &mut self,
        op: BinaryOp,
        [left, right]: [Handle<Expression>; 2],
        of: [TypeId; 2],
        ty: TypeId,
    ) -> Handle<Expression> {
        use BinaryOperator as B;
        let is_bool = self.t.types.scalar_of(of[0]).is_some_and(Scalar::is_bool);
        let is_vector = self.t.types.components(of[0]).is_some_and(|size| size > 1);
        let op = match op {
            BinaryOp::Add => B::Add,
            BinaryOp::Sub => B::Subtract,
            BinaryOp::Mul => B::Multiply,
            BinaryOp::Div => return self.quotient(B::Divide, [left, right], of[0]),
            BinaryOp::Rem => return self.quotient(B::Modulo, [left, right], of[0]),
            BinaryOp::And => B::And,
            BinaryOp::Or => B::InclusiveOr,
            BinaryOp::Xor if is_bool => B::NotEqual,
            BinaryOp::Xor => B::ExclusiveOr,
            BinaryOp::Shl => return self.shift(B::ShiftLeft, [left, right], of),
            BinaryOp::Shr => return self.shift(B::ShiftRight, [left, right], of),
            BinaryOp::LogicalAnd if is_vector => B::And,
            BinaryOp::LogicalOr if is_vector => B::InclusiveOr,
            BinaryOp::LogicalAnd => B::LogicalAnd,
            BinaryOp::LogicalOr => B::LogicalOr,
            BinaryOp::Eq => B::Equal,
            BinaryOp::Ne => B::NotEqual,
            BinaryOp::Lt => B::Less,
            BinaryOp::Le => B::LessEqual,
            BinaryOp::Gt => B::Greater,
            BinaryOp::Ge => B::GreaterEqual,
            BinaryOp::TimesScalar
            | BinaryOp::MatrixTimesVector
            | BinaryOp::VectorTimesMatrix
            | BinaryOp::MatrixTimesMatrix => B::Multiply,
            BinaryOp::OuterProduct => {
                return self.by_column(ty, |body, n| {
                    let factor = body.emit(Expression::AccessIndex { base: right, index: n });
                    body.plain(B::Multiply, left, factor)
                });
            }
        };
        self.plain(op, left, right)
    }

    /// Division: by a zero that is known the value is undefined, and the language refuses it.
    fn quotient(
        &mut self,
        op: BinaryOperator,
        [left, right]: [Handle<Expression>; 2],
        of: TypeId,
    ) -> Handle<Expression> {
        if let Type::Matrix { .. } = self.t.types.get(of) {
            return self.by_column(of, |body, n| {
                let parts = [left, right].map(|base| body.emit(Expression::AccessIndex { base, index: n }));
                body.plain(op, parts[0], parts[1])
            });
        }
        let is_int = self.t.types.scalar_of(of).is_some_and(Scalar::is_int);
        if is_int && self.is_constant(right) {
            // A constant divisor is zero in some component, or is not: only the first is refused.
            let right = self.not_zero(right, of);
            return self.plain(op, left, right);
        }
        self.plain(op, left, right)
    }

    fn is_constant(&self, value: Handle<Expression>) -> bool {
        matches!(
            self.out.expressions[value],
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_)
        )
    }

    /// A constant with 1 for zero.
    fn not_zero(&mut self, value: Handle<Expression>, of: TypeId) -> Handle<Expression> {
        use naga::Literal as L;
        match &self.out.expressions[value] {
            Expression::Literal(L::I32(0)) => self.append(Expression::Literal(L::I32(1))),
            Expression::Literal(L::U32(0)) => self.append(Expression::Literal(L::U32(1))),
            Expression::Literal(_) => value,
            Expression::Constant(id) if self.has_no_zero(*id) => value,
            _ => {
                let Some((scalar, size)) = self.t.shape(of) else { return value };
                let (zero, one) = (self.zero(scalar, size), self.splat_constant(scalar, size, 1));
                let is_zero = self.plain(BinaryOperator::Equal, value, zero);
                let copy = self.variable("divisor", of);
                let chosen = self.choose(is_zero, (one, value));
                self.statement(naga::Statement::Store { pointer: copy, value: chosen });
                self.emit(Expression::Load { pointer: copy })
            }
        }
    }

    /// Returns true if all components of a constant are literals other than zero.
    fn has_no_zero(&self, id: Handle<naga::Constant>) -> bool {
        use naga::Literal as L;
        let parts = &self.t.out.global_expressions;
        let Expression::Compose { components, .. } = &parts[self.t.out.constants[id].init] else { return false };
        components
            .iter()
            .all(|part| matches!(parts[*part], Expression::Literal(L::I32(1..) | L::I32(..=-1) | L::U32(1..))))
    }

    /// Shift amounts are unsigned, and constant ones less than the width.
    fn shift(
        &mut self,
        op: BinaryOperator,
        [left, right]: [Handle<Expression>; 2],
        of: [TypeId; 2],
    ) -> Handle<Expression> {
        let Some((scalar, size)) = self.t.shape(of[1]) else { return self.broken("a shift by such a value") };
        let unsigned = match scalar.kind {
            ScalarKind::Uint => right,
            _ => self.as_kind(right, ScalarKind::Uint),
        };
        let most = self.splat_constant(Scalar::U32, size, 31);
        let amount = match self.out.expressions[right] {
            Expression::Literal(naga::Literal::U32(amount)) if amount < 32 => unsigned,
            Expression::Literal(naga::Literal::I32(amount)) if (0..32).contains(&amount) => {
                self.append(Expression::Literal(naga::Literal::U32(amount as u32)))
            }
            _ if self.is_constant(right) => self.plain(BinaryOperator::And, unsigned, most),
            _ => unsigned,
        };
        self.plain(op, left, amount)
    }

    pub fn math_of(
        &mut self,
        function: MathFn,
        args: &[Handle<Expression>],
        types: &[TypeId],
        ty: TypeId,
    ) -> Handle<Expression> {
        let first = types.first().copied();
        let Some(scalar) = first.and_then(|first| self.t.types.scalar_of(first)) else {
            return self.lacking("such built-in function");
        };
        let size = first.and_then(|first| self.t.types.components(first)).unwrap_or(1);
        match row(function) {
            Form::No => self.lacking("such built-in function"),
            Form::Math(MathFunction::Abs) if scalar.kind == ScalarKind::Uint => args[0],
            Form::Math(fun) => self.apply(fun, args),
            Form::Bits(fun) => {
                let value = self.apply(fun, args);
                match self.t.types.scalar_of(ty) {
                    Some(to) if to.kind != scalar.kind => self.as_kind(value, to.kind),
                    _ => value,
                }
            }
            Form::Derivative(axis, ctrl) => self.emit(Expression::Derivative { axis, ctrl, expr: args[0] }),
            Form::Relational(fun) => self.emit(Expression::Relational { fun, argument: args[0] }),
            Form::Expand(expand) => expand(self, &Call { args, types, ty, scalar, size }),
        }
    }

    /// A function with two results, as the pair of the module.
    fn pair_of(&mut self, fun: MathFunction, call: &Call) -> Handle<Expression> {
        let scalar = scalar_of(call.scalar);
        let size = (call.size > 1).then(|| super::types::size_of(call.size));
        let ty = match fun {
            MathFunction::Modf => naga::PredeclaredType::ModfResult { size, scalar },
            _ => naga::PredeclaredType::FrexpResult { size, scalar },
        };
        self.t.out.generate_predeclared_type(ty);
        let _ = self.t.layouter.update(self.t.out.to_ctx());
        let both = self.apply(fun, call.args);
        let parts = [0, 1].map(|index| self.emit(Expression::AccessIndex { base: both, index }));
        self.compose(call.ty, parts.to_vec())
    }

    /// 1 as a float.
    fn one(&mut self, scalar: Scalar) -> Handle<Expression> {
        self.scalar_constant(scalar, if scalar.width == 16 { 0x3c00 } else { 0x3f80_0000 })
    }

    /// Compares a float's bits without the sign with those of infinity.
    fn magnitude(&mut self, call: &Call, op: BinaryOperator) -> Handle<Expression> {
        let wide = match call.scalar.width {
            32 => call.args[0],
            _ => self.emit(Expression::As { expr: call.args[0], kind: naga::ScalarKind::Float, convert: Some(4) }),
        };
        let bits = self.as_kind(wide, ScalarKind::Uint);
        let mask = self.splat_constant(Scalar::U32, call.size, 0x7fff_ffff);
        let magnitude = self.plain(BinaryOperator::And, bits, mask);
        let infinity = self.splat_constant(Scalar::U32, call.size, 0x7f80_0000);
        self.plain(op, magnitude, infinity)
    }
}

fn frexp(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    body.pair_of(MathFunction::Frexp, call)
}

fn inverse(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    body.apply(MathFunction::Inverse, call.args)
}

fn sign(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    match call.scalar.kind {
        ScalarKind::Uint => {
            let one = body.splat_constant(call.scalar, call.size, 1);
            body.apply(MathFunction::Min, &[call.args[0], one])
        }
        _ => body.apply(MathFunction::Sign, call.args),
    }
}

/// `x - y * floor(x / y)`; `y` may be a scalar.
fn floored_remainder(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    let x = call.args[0];
    let is_scalar = call.types.get(1).and_then(|ty| body.t.types.components(*ty)) == Some(1);
    let y = if is_scalar { body.splat(call.args[1], call.size) } else { call.args[1] };
    let quotient = body.plain(BinaryOperator::Divide, x, y);
    let whole = body.apply(MathFunction::Floor, &[quotient]);
    let product = body.plain(BinaryOperator::Multiply, y, whole);
    body.plain(BinaryOperator::Subtract, x, product)
}

/// Of scalars too.
fn dot(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    match call.size {
        1 => body.plain(BinaryOperator::Multiply, call.args[0], call.args[1]),
        _ => body.apply(MathFunction::Dot, call.args),
    }
}

fn normalize(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    match call.size {
        1 => body.apply(MathFunction::Sign, call.args),
        _ => body.apply(MathFunction::Normalize, call.args),
    }
}

fn face_forward(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    if call.size > 1 {
        return body.apply(MathFunction::FaceForward, call.args);
    }
    let product = body.plain(BinaryOperator::Multiply, call.args[1], call.args[2]);
    let zero = body.zero(call.scalar, 1);
    let keeps = body.plain(BinaryOperator::Less, product, zero);
    let other = body.emit(Expression::Unary { op: naga::UnaryOperator::Negate, expr: call.args[0] });
    body.choose(keeps, (call.args[0], other))
}

fn reflect(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    if call.size > 1 {
        return body.apply(MathFunction::Reflect, call.args);
    }
    let (incident, normal) = (call.args[0], call.args[1]);
    let product = body.plain(BinaryOperator::Multiply, normal, incident);
    let double = body.plain(BinaryOperator::Add, product, product);
    let along = body.plain(BinaryOperator::Multiply, double, normal);
    body.plain(BinaryOperator::Subtract, incident, along)
}

fn refract(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    use BinaryOperator as B;
    if call.size > 1 {
        return body.apply(MathFunction::Refract, call.args);
    }
    let (incident, normal, eta) = (call.args[0], call.args[1], call.args[2]);
    let cosine = body.plain(B::Multiply, normal, incident);
    let (squared, ratio) = (body.plain(B::Multiply, cosine, cosine), body.plain(B::Multiply, eta, eta));
    let unit = body.one(call.scalar);
    let sine = body.plain(B::Subtract, unit, squared);
    let bent = body.plain(B::Multiply, ratio, sine);
    let k = body.plain(B::Subtract, unit, bent);
    let root = body.apply(MathFunction::Sqrt, &[k]);
    let along = body.plain(B::Multiply, eta, cosine);
    let factor = body.plain(B::Add, along, root);
    let (straight, turned) = (body.plain(B::Multiply, eta, incident), body.plain(B::Multiply, factor, normal));
    let through = body.plain(B::Subtract, straight, turned);
    let zero = body.zero(call.scalar, 1);
    let reflects = body.plain(B::Less, k, zero);
    body.choose(reflects, (zero, through))
}

fn component_product(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    body.by_column(call.ty, |body, n| {
        let parts = [0, 1].map(|at| body.emit(Expression::AccessIndex { base: call.args[at], index: n }));
        body.plain(BinaryOperator::Multiply, parts[0], parts[1])
    })
}

fn add_carry(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    let sum = body.plain(BinaryOperator::Add, call.args[0], call.args[1]);
    let carries = body.plain(BinaryOperator::Less, sum, call.args[0]);
    let carry = body.as_words(carries, call.size);
    body.compose(call.ty, vec![sum, carry])
}

fn sub_borrow(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    let difference = body.plain(BinaryOperator::Subtract, call.args[0], call.args[1]);
    let borrows = body.plain(BinaryOperator::Less, call.args[0], call.args[1]);
    let borrow = body.as_words(borrows, call.size);
    body.compose(call.ty, vec![difference, borrow])
}

/// The low and the high half of a product, from those of halves of the factors. A negative factor of signed ones takes the
/// other one from the high half.
fn wide_product(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    use BinaryOperator as B;
    let size = call.size;
    let is_signed = call.scalar.is_signed();
    let words: Vec<_> =
        call.args.iter().map(|arg| if is_signed { body.as_kind(*arg, ScalarKind::Uint) } else { *arg }).collect();
    let (mask, sixteen) = (body.splat_constant(Scalar::U32, size, 0xffff), body.splat_constant(Scalar::U32, size, 16));
    let halves: Vec<_> =
        words.iter().map(|word| [body.plain(B::And, *word, mask), body.plain(B::ShiftRight, *word, sixteen)]).collect();
    let product = |body: &mut Body<'_, '_>, a: usize, b: usize| body.plain(B::Multiply, halves[0][a], halves[1][b]);
    let (low, cross, other, high) =
        (product(body, 0, 0), product(body, 1, 0), product(body, 0, 1), product(body, 1, 1));
    let carried = body.plain(B::ShiftRight, low, sixteen);
    let middle = body.plain(B::Add, cross, carried);
    let (middle_low, middle_high) = (body.plain(B::And, middle, mask), body.plain(B::ShiftRight, middle, sixteen));
    let second = body.plain(B::Add, other, middle_low);
    let second_high = body.plain(B::ShiftRight, second, sixteen);
    let sum = body.plain(B::Add, high, middle_high);
    let mut upper = body.plain(B::Add, sum, second_high);
    let mut lower = body.plain(B::Multiply, words[0], words[1]);
    if is_signed {
        for (of, other) in [(0, 1), (1, 0)] {
            let zero = body.zero(call.scalar, size);
            let is_negative = body.plain(B::Less, call.args[of], zero);
            let none = body.zero(Scalar::U32, size);
            let taken = body.choose(is_negative, (words[other], none));
            upper = body.plain(B::Subtract, upper, taken);
        }
        [lower, upper] = [lower, upper].map(|word| body.as_kind(word, ScalarKind::Sint));
    }
    body.compose(call.ty, vec![lower, upper])
}

/// Offset and count are unsigned.
fn bit_field(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    let mut args = call.args.to_vec();
    let first = args.len() - 2;
    for (arg, ty) in args.iter_mut().zip(call.types).skip(first) {
        if body.t.types.scalar_of(*ty).is_some_and(Scalar::is_signed) {
            *arg = body.as_kind(*arg, ScalarKind::Uint);
        }
    }
    let fun = if first == 1 { MathFunction::ExtractBits } else { MathFunction::InsertBits };
    body.apply(fun, &args)
}

fn packed_dot(body: &mut Body<'_, '_>, call: &Call) -> Handle<Expression> {
    let kinds = [0, 1].map(|at| body.t.types.scalar_of(call.types[at]).map(|scalar| scalar.kind));
    let words: Vec<_> = call.args.iter().map(|arg| body.as_kind(*arg, ScalarKind::Uint)).collect();
    let (fun, given) = match kinds {
        [Some(ScalarKind::Uint), Some(ScalarKind::Uint)] => (MathFunction::Dot4U8Packed, ScalarKind::Uint),
        [Some(ScalarKind::Sint), Some(ScalarKind::Sint)] => (MathFunction::Dot4I8Packed, ScalarKind::Sint),
        _ => return body.lacking("dot products of bytes with and without signs"),
    };
    let sum = body.apply(fun, &words);
    match body.t.types.scalar_of(call.ty) {
        Some(to) if to.kind != given => body.as_kind(sum, to.kind),
        _ => sum,
    }
}
