//! WGSL's built-in functions (WGSL 17.5): most are also functions in `ir`, the rest is spelled out here.

use super::Outcome;
use super::function::Body;
use crate::ir::{BinaryOp, MathFn, Scalar, ScalarKind, TypeId, Value};
use naga::{Expression, Handle, MathFunction};

/// Operands of a built-in function.
type Args = [Value];

/// The functions with the same meaning in `ir`, for both floats and integers.
fn same(function: MathFunction) -> Option<MathFn> {
    use MathFunction as F;
    Some(match function {
        F::Min => MathFn::Min,
        F::Max => MathFn::Max,
        F::Clamp => MathFn::Clamp,
        F::Cos => MathFn::Cos,
        F::Cosh => MathFn::Cosh,
        F::Sin => MathFn::Sin,
        F::Sinh => MathFn::Sinh,
        F::Tan => MathFn::Tan,
        F::Tanh => MathFn::Tanh,
        F::Acos => MathFn::Acos,
        F::Asin => MathFn::Asin,
        F::Atan => MathFn::Atan,
        F::Atan2 => MathFn::Atan2,
        F::Asinh => MathFn::Asinh,
        F::Acosh => MathFn::Acosh,
        F::Atanh => MathFn::Atanh,
        F::Radians => MathFn::Radians,
        F::Degrees => MathFn::Degrees,
        F::Ceil => MathFn::Ceil,
        F::Floor => MathFn::Floor,
        // WGSL rounds ties to even.
        F::Round => MathFn::RoundEven,
        F::Fract => MathFn::Fract,
        F::Trunc => MathFn::Trunc,
        F::Modf => MathFn::Modf,
        F::Ldexp => MathFn::Ldexp,
        F::Exp => MathFn::Exp,
        F::Exp2 => MathFn::Exp2,
        F::Log => MathFn::Log,
        F::Log2 => MathFn::Log2,
        F::Pow => MathFn::Pow,
        F::Cross => MathFn::Cross,
        F::Distance => MathFn::Distance,
        F::Length => MathFn::Length,
        F::Normalize => MathFn::Normalize,
        F::FaceForward => MathFn::FaceForward,
        F::Reflect => MathFn::Reflect,
        F::Refract => MathFn::Refract,
        F::Sign => MathFn::Sign,
        F::Fma => MathFn::Fma,
        F::Step => MathFn::Step,
        F::SmoothStep => MathFn::SmoothStep,
        F::Sqrt => MathFn::Sqrt,
        F::InverseSqrt => MathFn::InverseSqrt,
        F::Inverse => MathFn::Inverse,
        F::Transpose => MathFn::Transpose,
        F::Determinant => MathFn::Determinant,
        F::Pack4x8snorm => MathFn::PackSnorm4x8,
        F::Pack4x8unorm => MathFn::PackUnorm4x8,
        F::Pack2x16snorm => MathFn::PackSnorm2x16,
        F::Pack2x16unorm => MathFn::PackUnorm2x16,
        F::Pack2x16float => MathFn::PackHalf2x16,
        F::Unpack4x8snorm => MathFn::UnpackSnorm4x8,
        F::Unpack4x8unorm => MathFn::UnpackUnorm4x8,
        F::Unpack2x16snorm => MathFn::UnpackSnorm2x16,
        F::Unpack2x16unorm => MathFn::UnpackUnorm2x16,
        F::Unpack2x16float => MathFn::UnpackHalf2x16,
        _ => return None,
    })
}

/// Bit functions whose result has the operand's type.
fn on_bits(function: MathFunction) -> Option<MathFn> {
    use MathFunction as F;
    Some(match function {
        F::CountOneBits => MathFn::BitCount,
        F::ReverseBits => MathFn::BitfieldReverse,
        F::FirstTrailingBit => MathFn::FindLsb,
        F::FirstLeadingBit => MathFn::FindMsb,
        F::CountLeadingZeros => MathFn::CountLeadingZeros,
        F::CountTrailingZeros => MathFn::CountTrailingZeros,
        _ => return None,
    })
}

impl Body<'_, '_, '_> {
    pub(super) fn math(
        &mut self,
        function: MathFunction,
        at: Handle<Expression>,
        args: [Option<Handle<Expression>>; 4],
    ) -> Outcome<Value> {
        let args = args.into_iter().flatten().map(|arg| self.value(arg)).collect::<Outcome<Vec<Value>>>()?;
        if let Some(function) = same(function) {
            return Ok(self.b.math(function, &args));
        }
        if let Some(function) = on_bits(function) {
            let ty = self.b.type_of(args[0]);
            return Ok(self.b.math_as(function, ty, &args));
        }
        match self.spelled_out(function, &args) {
            Some(value) => Ok(value),
            None => self.packing(function, &args).ok_or_else(|| self.unsupported("this built-in function", at)),
        }
    }

    fn spelled_out(&mut self, function: MathFunction, args: &Args) -> Option<Value> {
        Some(match function {
            MathFunction::Abs => self.abs(args[0]),
            MathFunction::Saturate => self.saturate(args[0]),
            MathFunction::Mix => self.mix(args),
            MathFunction::Dot => self.dot(args[0], args[1]),
            MathFunction::Outer => self.b.binary(BinaryOp::OuterProduct, args[0], args[1]),
            MathFunction::ExtractBits => self.extract_bits(args),
            MathFunction::InsertBits => self.insert_bits(args),
            MathFunction::QuantizeToF16 => self.quantize(args[0]),
            MathFunction::Frexp => self.frexp(args[0]),
            _ => return None,
        })
    }

    fn abs(&mut self, value: Value) -> Value {
        let (_, scalar, _) = self.shape(value);
        let unsigned = scalar.is_int() && !scalar.is_signed();
        if unsigned { value } else { self.b.math(MathFn::Abs, &[value]) }
    }

    fn saturate(&mut self, value: Value) -> Value {
        let (_, scalar, size) = self.shape(value);
        let one = match scalar.width {
            16 => 0x3C00,
            32 => u64::from(1f32.to_bits()),
            _ => 1f64.to_bits(),
        };
        let (low, high) = (self.number(scalar, 0, size), self.number(scalar, one, size));
        self.b.math(MathFn::Clamp, &[value, low, high])
    }

    /// The weight may be one number for all components.
    fn mix(&mut self, args: &Args) -> Value {
        let size = self.b.components_of(args[0]);
        let weight = match self.b.components_of(args[2]) {
            1 => self.b.splat(args[2], size),
            _ => args[2],
        };
        self.b.math(MathFn::Mix, &[args[0], args[1], weight])
    }

    /// naga gives exponents the width of the significand; WGSL 17.5.28 requires `i32` for all of them.
    fn frexp(&mut self, value: Value) -> Value {
        let parts = self.b.math(MathFn::Frexp, &[value]);
        let (ty, scalar, _) = self.shape(value);
        if scalar.width == 32 {
            return parts;
        }
        let (significand, exponent) = (self.b.extract(parts, 0), self.b.extract(parts, 1));
        let exponent = self.convert(exponent, Scalar { kind: ScalarKind::Sint, width: scalar.width });
        let exponents = self.b.type_of(exponent);
        let pair = self.b.module.types.pair(ty, exponents);
        self.b.construct(pair, &[significand, exponent])
    }

    /// Also for integer vectors.
    fn dot(&mut self, a: Value, b: Value) -> Value {
        let (_, scalar, size) = self.shape(a);
        if scalar.is_float() {
            return self.b.math(MathFn::Dot, &[a, b]);
        }
        let products = self.b.binary(BinaryOp::Mul, a, b);
        let first = self.b.extract(products, 0);
        (1..u32::from(size)).fold(first, |sum, index| {
            let next = self.b.extract(products, index);
            self.b.binary(BinaryOp::Add, sum, next)
        })
    }

    /// WGSL 17.5.20: `o = min(offset, w)`, `c = min(count, w - o)`.
    fn clamped_field(&mut self, of: Value, offset: Value, count: Value) -> (Value, Value) {
        let (_, scalar, _) = self.shape(of);
        let width = self.number(Scalar::U32, u64::from(scalar.width), 1);
        let offset = self.b.math(MathFn::Min, &[offset, width]);
        let rest = self.b.binary(BinaryOp::Sub, width, offset);
        let count = self.b.math(MathFn::Min, &[count, rest]);
        (offset, count)
    }

    fn extract_bits(&mut self, args: &Args) -> Value {
        let (offset, count) = self.clamped_field(args[0], args[1], args[2]);
        self.b.math(MathFn::BitfieldExtract, &[args[0], offset, count])
    }

    fn insert_bits(&mut self, args: &Args) -> Value {
        let (offset, count) = self.clamped_field(args[0], args[2], args[3]);
        self.b.math(MathFn::BitfieldInsert, &[args[0], args[1], offset, count])
    }

    /// Converts to half precision and back, component by component.
    fn quantize(&mut self, value: Value) -> Value {
        let (ty, _, size) = self.shape(value);
        let zero = self.b.const_f32(0.0);
        let parts: Vec<Value> = (0..size).map(|at| self.quantize_one(value, at, size, zero)).collect();
        if size == 1 { parts[0] } else { self.b.construct(ty, &parts) }
    }

    fn quantize_one(&mut self, of: Value, at: u8, size: u8, zero: Value) -> Value {
        let part = if size == 1 { of } else { self.b.extract(of, u32::from(at)) };
        let pair = self.pair_type();
        let two = self.b.construct(pair, &[part, zero]);
        let packed = self.b.math(MathFn::PackHalf2x16, &[two]);
        let two = self.b.math(MathFn::UnpackHalf2x16, &[packed]);
        self.b.extract(two, 0)
    }

    fn pair_type(&mut self) -> TypeId {
        self.b.module.types.vector(Scalar::F32, 2)
    }
}
