//! GLSL 4.60 section 8.3: functions that are compositions of arithmetic, comparison and rounding.

use super::Lower;
use crate::ir::{MathFn, Scalar};
use crate::kernel::{BinOp, CmpOp, UnOp, Value};

impl Lower<'_> {
    /// A function of floats.
    pub fn exact(&mut self, function: MathFn, scalar: Scalar, args: &[Value]) -> Value {
        match *args {
            [x] => self.exact1(function, scalar, x),
            [x, y] => self.exact2(function, scalar, x, y),
            [x, y, z] => self.exact3(function, scalar, x, y, z),
            _ => self.real(scalar, 0.0),
        }
    }

    fn exact1(&mut self, function: MathFn, scalar: Scalar, x: Value) -> Value {
        let op = match function {
            MathFn::Abs => UnOp::Abs,
            MathFn::Floor => UnOp::Floor,
            MathFn::Ceil => UnOp::Ceil,
            MathFn::Trunc => UnOp::Trunc,
            // `round` of a half is implementation-defined.
            MathFn::Round | MathFn::RoundEven => UnOp::RoundEven,
            _ => return self.composed1(function, scalar, x),
        };
        self.b.un(op, scalar, x)
    }

    fn composed1(&mut self, function: MathFn, scalar: Scalar, x: Value) -> Value {
        match function {
            MathFn::Radians => self.times(scalar, x, std::f64::consts::PI / 180.0),
            MathFn::Degrees => self.times(scalar, x, 180.0 / std::f64::consts::PI),
            MathFn::Fract => {
                let whole = self.b.un(UnOp::Floor, scalar, x);
                self.sub(scalar, x, whole)
            }
            MathFn::IsNan => self.b.cmp(CmpOp::Ne, scalar, x, x),
            MathFn::IsInf => {
                let (magnitude, infinity) = (self.b.un(UnOp::Abs, scalar, x), self.real(scalar, f64::INFINITY));
                self.b.cmp(CmpOp::Eq, scalar, magnitude, infinity)
            }
            _ => self.sign(scalar, x),
        }
    }

    fn times(&mut self, scalar: Scalar, x: Value, factor: f64) -> Value {
        let factor = self.real(scalar, factor);
        self.mul(scalar, x, factor)
    }

    /// 1 with the sign of `x`, or zero for zero.
    fn sign(&mut self, scalar: Scalar, x: Value) -> Value {
        let (zero, one, minus) = (self.real(scalar, 0.0), self.real(scalar, 1.0), self.real(scalar, -1.0));
        let positive = self.b.cmp(CmpOp::Gt, scalar, x, zero);
        let negative = self.less(scalar, x, zero);
        let rest = self.b.select(negative, minus, zero);
        self.b.select(positive, one, rest)
    }

    fn exact2(&mut self, function: MathFn, scalar: Scalar, x: Value, y: Value) -> Value {
        match function {
            MathFn::Min => self.b.bin(BinOp::Min, scalar, x, y),
            MathFn::Max => self.b.bin(BinOp::Max, scalar, x, y),
            MathFn::Mod => {
                let quotient = self.div(scalar, x, y);
                let whole = self.b.un(UnOp::Floor, scalar, quotient);
                let product = self.mul(scalar, y, whole);
                self.sub(scalar, x, product)
            }
            // Step: operands are the edge and `x`.
            _ => {
                let below = self.less(scalar, y, x);
                let (zero, one) = (self.real(scalar, 0.0), self.real(scalar, 1.0));
                self.b.select(below, zero, one)
            }
        }
    }

    fn exact3(&mut self, function: MathFn, scalar: Scalar, x: Value, y: Value, z: Value) -> Value {
        match function {
            MathFn::Fma => self.fma(scalar, x, y, z),
            MathFn::Clamp => self.clamp(scalar, x, y, z),
            MathFn::Mix => {
                let one = self.real(scalar, 1.0);
                let rest = self.sub(scalar, one, z);
                let (first, second) = (self.mul(scalar, x, rest), self.mul(scalar, y, z));
                self.add(scalar, first, second)
            }
            _ => self.smooth_step(scalar, x, y, z),
        }
    }

    pub fn clamp(&mut self, scalar: Scalar, x: Value, low: Value, high: Value) -> Value {
        let raised = self.b.bin(BinOp::Max, scalar, x, low);
        self.b.bin(BinOp::Min, scalar, raised, high)
    }

    /// `t * t * (3 - 2 * t)`, where `t` is the position of `x` between the edges.
    fn smooth_step(&mut self, scalar: Scalar, low: Value, high: Value, x: Value) -> Value {
        let (above, width) = (self.sub(scalar, x, low), self.sub(scalar, high, low));
        let place = self.div(scalar, above, width);
        let (zero, one) = (self.real(scalar, 0.0), self.real(scalar, 1.0));
        let t = self.clamp(scalar, place, zero, one);
        let (two, three) = (self.real(scalar, 2.0), self.real(scalar, 3.0));
        let twice = self.mul(scalar, two, t);
        let (square, factor) = (self.mul(scalar, t, t), self.sub(scalar, three, twice));
        self.mul(scalar, square, factor)
    }
}
