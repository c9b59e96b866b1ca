//! Functions with two results, and functions on the bits of floats: GLSL 4.60 sections 8.3 and 8.8.

use super::super::arith::unsigned;
use super::{Lower, Scalars};
use crate::ir::{MathFn, Scalar};
use crate::kernel::{BinOp, CmpOp, Op, Ty, UnOp, Value};

/// The fields of a float's most significant 32 bits.
struct Fields {
    /// Bits of the significand in there.
    significand: u32,
    /// Ones as wide as the exponent.
    exponent: u32,
    /// The exponent field of 1.
    bias: u32,
}

const SINGLE: Fields = Fields { significand: 23, exponent: 0xff, bias: 127 };
const DOUBLE: Fields = Fields { significand: 20, exponent: 0x7ff, bias: 1023 };

/// A power of two that makes every subnormal number normal.
const LIFT: u32 = 64;

const I: Scalar = Scalar::I32;
const U: Scalar = Scalar::U32;

impl Lower<'_> {
    /// All first results, then all second ones.
    pub fn two_results(&mut self, function: MathFn, scalar: Scalar, args: &[Scalars]) -> Scalars {
        let (mut first, mut second) = (Scalars::new(), Scalars::new());
        for (at, x) in args[0].iter().enumerate() {
            let y = args.get(1).and_then(|arg| arg.get(at)).copied().unwrap_or(*x);
            let pair = match function {
                MathFn::Modf => self.modf(scalar, *x),
                MathFn::Frexp => self.frexp(scalar, *x),
                _ => self.extended(function, scalar, *x, y),
            };
            first.push(pair.0);
            second.push(pair.1);
        }
        first.extend(second);
        first
    }

    fn extended(&mut self, function: MathFn, scalar: Scalar, x: Value, y: Value) -> (Value, Value) {
        let bits = unsigned(scalar.width);
        match function {
            MathFn::AddCarry => {
                let sum = self.add(scalar, x, y);
                let carry = self.less(bits, sum, x);
                (sum, self.b.convert(Scalar::BOOL, scalar, carry))
            }
            MathFn::SubBorrow => {
                let borrow = self.less(bits, x, y);
                (self.sub(scalar, x, y), self.b.convert(Scalar::BOOL, scalar, borrow))
            }
            _ => (self.mul(scalar, x, y), self.b.bin(BinOp::MulHigh, scalar, x, y)),
        }
    }

    /// Fraction and whole part, both with the sign of `x`; an infinity has no fraction.
    fn modf(&mut self, scalar: Scalar, x: Value) -> (Value, Value) {
        let whole = self.b.un(UnOp::Trunc, scalar, x);
        let rest = self.sub(scalar, x, whole);
        let rest = self.b.un(UnOp::Abs, scalar, rest);
        let is_whole = self.b.cmp(CmpOp::Eq, scalar, x, whole);
        let zero = self.real(scalar, 0.0);
        let fraction = self.b.select(is_whole, zero, rest);
        (self.with_sign_of(scalar, fraction, x), whole)
    }

    /// Significand in `[0.5, 1)` and exponent; both zero for zero.
    fn frexp(&mut self, scalar: Scalar, x: Value) -> (Value, Value) {
        if scalar.width == 16 {
            let wide = self.b.convert(scalar, Scalar::F32, x);
            let (significand, exponent) = self.frexp(Scalar::F32, wide);
            return (self.b.convert(Scalar::F32, scalar, significand), exponent);
        }
        let fields = fields(scalar);
        let (zero, least) = (self.real(scalar, 0.0), self.power(scalar, 1 - fields.bias as i32));
        let magnitude = self.b.un(UnOp::Abs, scalar, x);
        let is_small = self.less(scalar, magnitude, least);
        let lift = self.power(scalar, LIFT as i32);
        let lifted = self.mul(scalar, x, lift);
        let normal = self.b.select(is_small, lifted, x);
        let (significand, exponent) = self.split_normal(scalar, normal);
        let (down, none) = (self.b.u32(LIFT), self.b.u32(0));
        let down = self.b.select(is_small, down, none);
        let exponent = self.sub(I, exponent, down);
        let is_zero = self.b.cmp(CmpOp::Eq, scalar, x, zero);
        (self.b.select(is_zero, x, significand), self.b.select(is_zero, none, exponent))
    }

    /// Significand and exponent of a normal number.
    fn split_normal(&mut self, scalar: Scalar, x: Value) -> (Value, Value) {
        let fields = fields(scalar);
        let top = self.top_bits(scalar, x);
        let amount = self.b.u32(fields.significand);
        let shifted = self.b.bin(BinOp::Shr, U, top, amount);
        let field = self.and(U, shifted, fields.exponent.into());
        let before_half = self.b.u32(fields.bias - 1);
        let exponent = self.sub(I, field, before_half);
        let kept = self.and(U, top, (!(fields.exponent << fields.significand)).into());
        let half = self.b.u32((fields.bias - 1) << fields.significand);
        let top = self.b.bin(BinOp::Or, U, kept, half);
        (self.with_top_bits(scalar, x, top), exponent)
    }

    /// The most significant 32 bits.
    fn top_bits(&mut self, scalar: Scalar, x: Value) -> Value {
        if scalar.width == 64 { self.b.value(Op::High, &[x], Ty::B32) } else { x }
    }

    /// `x` with other most significant 32 bits.
    fn with_top_bits(&mut self, scalar: Scalar, x: Value, top: Value) -> Value {
        if scalar.width != 64 {
            return top;
        }
        let low = self.b.value(Op::Low, &[x], Ty::B32);
        self.b.value(Op::Join, &[low, top], Ty::B64)
    }

    /// A power of two as a constant.
    fn power(&mut self, scalar: Scalar, exponent: i32) -> Value {
        self.real(scalar, 2f64.powi(exponent))
    }

    /// `x * 2^exponent` in three steps, none of which overflows or underflows unless the result does.
    pub fn ldexp(&mut self, scalar: Scalar, x: Value, exponent: Value) -> Value {
        if scalar.width == 16 {
            let wide = self.b.convert(scalar, Scalar::F32, x);
            let scaled = self.ldexp(Scalar::F32, wide, exponent);
            return self.b.convert(Scalar::F32, scalar, scaled);
        }
        // Twice the range of exponents, including subnormals; a third of it is still a normal number's exponent.
        let most = fields(scalar).bias * 5 / 2;
        let (low, high) = (self.b.u32(most.wrapping_neg()), self.b.u32(most));
        let exponent = self.clamp(I, exponent, low, high);
        let three = self.b.u32(3);
        let third = self.b.bin(BinOp::Div, I, exponent, three);
        let two_thirds = self.add(I, third, third);
        let rest = self.sub(I, exponent, two_thirds);
        let (factor, last) = (self.computed_power(scalar, third), self.computed_power(scalar, rest));
        let once = self.mul(scalar, x, factor);
        let twice = self.mul(scalar, once, factor);
        self.mul(scalar, twice, last)
    }

    /// A power of two with the exponent of a normal number.
    fn computed_power(&mut self, scalar: Scalar, exponent: Value) -> Value {
        let fields = fields(scalar);
        let (bias, amount, zero) = (self.b.u32(fields.bias), self.b.u32(fields.significand), self.b.u32(0));
        let field = self.add(I, exponent, bias);
        let top = self.b.bin(BinOp::Shl, U, field, amount);
        if scalar.width == 64 { self.b.value(Op::Join, &[zero, top], Ty::B64) } else { top }
    }
}

fn fields(scalar: Scalar) -> Fields {
    if scalar.width == 64 { DOUBLE } else { SINGLE }
}
