//! GLSL 4.60 section 8.1, for 32-bit floats. Inverse functions use one polynomial for the arctangent between 0 and 1.

use super::Lower;
use crate::ir::{MathFn, Scalar};
use crate::kernel::{BinOp, CmpOp, UnOp, Value};
use std::f64::consts::{FRAC_PI_2, PI};

const F: Scalar = Scalar::F32;

/// `atan(t) / t` for `t` from 0 to 1 as a polynomial in `t * t`, the constant first. It interpolates at the Chebyshev
/// nodes of that range; the largest relative error is 4e-8 in exact arithmetic and 1.3e-7 in 32 bits.
const ARCTANGENT: [f64; 9] = [
    1.0,
    -0.333_330_36,
    0.199_918_72,
    -0.141_977_98,
    0.106_183_71,
    -0.074_568_55,
    0.042_137_623,
    -0.015_731_25,
    0.002_766_283_5,
];

impl Lower<'_> {
    pub fn trigonometric(&mut self, function: MathFn, args: &[Value]) -> Value {
        let x = args[0];
        match function {
            MathFn::Sin => self.b.un(UnOp::Sin, F, x),
            MathFn::Cos => self.b.un(UnOp::Cos, F, x),
            MathFn::Tan => {
                let (sine, cosine) = (self.b.un(UnOp::Sin, F, x), self.b.un(UnOp::Cos, F, x));
                self.div(F, sine, cosine)
            }
            MathFn::Atan => self.atan(x),
            MathFn::Atan2 => self.atan2(x, args[1]),
            MathFn::Asin => {
                let root = self.other_side(x);
                self.atan2(x, root)
            }
            _ => {
                let root = self.other_side(x);
                self.atan2(root, x)
            }
        }
    }

    /// `sqrt(1 - x * x)`, as `(1 - x) * (1 + x)` under the root: exact near 1.
    fn other_side(&mut self, x: Value) -> Value {
        let one = self.real(F, 1.0);
        let (below, above) = (self.sub(F, one, x), self.add(F, one, x));
        let square = self.mul(F, below, above);
        self.b.un(UnOp::Sqrt, F, square)
    }

    /// The angle of a slope from 0 to 1.
    fn shallow_angle(&mut self, slope: Value) -> Value {
        let square = self.mul(F, slope, slope);
        let mut sum = self.real(F, ARCTANGENT[ARCTANGENT.len() - 1]);
        for coefficient in ARCTANGENT.iter().rev().skip(1) {
            let coefficient = self.real(F, *coefficient);
            sum = self.fma(F, sum, square, coefficient);
        }
        self.mul(F, sum, slope)
    }

    /// `angle`, or `whole` minus it if `turned`.
    fn turned_angle(&mut self, angle: Value, whole: f64, turned: Value) -> Value {
        let whole = self.real(F, whole);
        let rest = self.sub(F, whole, angle);
        self.b.select(turned, rest, angle)
    }

    fn atan(&mut self, x: Value) -> Value {
        let one = self.real(F, 1.0);
        let magnitude = self.b.un(UnOp::Abs, F, x);
        let steep = self.b.cmp(CmpOp::Gt, F, magnitude, one);
        let inverse = self.div(F, one, magnitude);
        let slope = self.b.select(steep, inverse, magnitude);
        let angle = self.shallow_angle(slope);
        let angle = self.turned_angle(angle, FRAC_PI_2, steep);
        self.with_sign_of(F, angle, x)
    }

    /// The angle of the point `(x, y)`; zero at the origin, where GLSL leaves it undefined.
    fn atan2(&mut self, y: Value, x: Value) -> Value {
        let zero = self.real(F, 0.0);
        let (width, height) = (self.b.un(UnOp::Abs, F, x), self.b.un(UnOp::Abs, F, y));
        let steep = self.b.cmp(CmpOp::Gt, F, height, width);
        let (short, long) = (self.b.bin(BinOp::Min, F, width, height), self.b.bin(BinOp::Max, F, width, height));
        let ratio = self.div(F, short, long);
        let is_origin = self.b.cmp(CmpOp::Eq, F, long, zero);
        let slope = self.b.select(is_origin, zero, ratio);
        let angle = self.shallow_angle(slope);
        let angle = self.turned_angle(angle, FRAC_PI_2, steep);
        let leftward = self.less(F, x, zero);
        let angle = self.turned_angle(angle, PI, leftward);
        self.with_sign_of(F, angle, y)
    }
}
