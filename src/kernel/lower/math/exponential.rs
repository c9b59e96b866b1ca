//! GLSL 4.60 section 8.2 and the hyperbolic functions, for 32-bit floats, through base-two exponentials and logarithms.

use super::Lower;
use crate::ir::{MathFn, Scalar};
use crate::kernel::{UnOp, Value};
use std::f64::consts::{LN_2, LOG2_E};

const F: Scalar = Scalar::F32;

impl Lower<'_> {
    pub fn exponential(&mut self, function: MathFn, args: &[Value]) -> Value {
        let x = args[0];
        match function {
            MathFn::Exp => self.exp(x),
            MathFn::Exp2 => self.b.un(UnOp::Exp2, F, x),
            MathFn::Log => self.log(x),
            MathFn::Log2 => self.b.un(UnOp::Log2, F, x),
            MathFn::Sqrt => self.b.un(UnOp::Sqrt, F, x),
            MathFn::InverseSqrt => self.b.un(UnOp::InverseSqrt, F, x),
            MathFn::Pow => {
                let log = self.b.un(UnOp::Log2, F, x);
                let power = self.mul(F, args[1], log);
                self.b.un(UnOp::Exp2, F, power)
            }
            _ => self.hyperbolic(function, x),
        }
    }

    fn exp(&mut self, x: Value) -> Value {
        let factor = self.real(F, LOG2_E);
        let power = self.mul(F, x, factor);
        self.b.un(UnOp::Exp2, F, power)
    }

    fn log(&mut self, x: Value) -> Value {
        let log = self.b.un(UnOp::Log2, F, x);
        let factor = self.real(F, LN_2);
        self.mul(F, log, factor)
    }

    fn hyperbolic(&mut self, function: MathFn, x: Value) -> Value {
        match function {
            MathFn::Sinh | MathFn::Cosh => {
                let negative = self.b.un(UnOp::Neg, F, x);
                let (up, down) = (self.exp(x), self.exp(negative));
                let sum = if function == MathFn::Sinh { self.sub(F, up, down) } else { self.add(F, up, down) };
                let half = self.real(F, 0.5);
                self.mul(F, sum, half)
            }
            MathFn::Tanh => self.tanh(x),
            MathFn::Asinh => self.asinh(x),
            MathFn::Acosh => {
                let one = self.real(F, 1.0);
                let square = self.mul(F, x, x);
                let below = self.sub(F, square, one);
                let root = self.b.un(UnOp::Sqrt, F, below);
                let sum = self.add(F, x, root);
                self.log(sum)
            }
            _ => self.atanh(x),
        }
    }

    /// `1 - 2 / (exp(2 * |x|) + 1)` with the sign of `x`, which is right even if the exponential overflows.
    fn tanh(&mut self, x: Value) -> Value {
        let (one, two) = (self.real(F, 1.0), self.real(F, 2.0));
        let magnitude = self.b.un(UnOp::Abs, F, x);
        let twice = self.mul(F, two, magnitude);
        let power = self.exp(twice);
        let below = self.add(F, power, one);
        let rest = self.div(F, two, below);
        let value = self.sub(F, one, rest);
        self.with_sign_of(F, value, x)
    }

    /// `log(|x| + sqrt(x * x + 1))` with the sign of `x`.
    fn asinh(&mut self, x: Value) -> Value {
        let one = self.real(F, 1.0);
        let square = self.mul(F, x, x);
        let above = self.add(F, square, one);
        let root = self.b.un(UnOp::Sqrt, F, above);
        let magnitude = self.b.un(UnOp::Abs, F, x);
        let sum = self.add(F, magnitude, root);
        let log = self.log(sum);
        self.with_sign_of(F, log, x)
    }

    /// `log((1 + x) / (1 - x)) / 2`.
    fn atanh(&mut self, x: Value) -> Value {
        let one = self.real(F, 1.0);
        let (above, below) = (self.add(F, one, x), self.sub(F, one, x));
        let ratio = self.div(F, above, below);
        let log = self.log(ratio);
        let half = self.real(F, 0.5);
        self.mul(F, log, half)
    }
}
