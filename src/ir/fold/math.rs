//! Built-in functions: those of GLSL 4.60 sections 8.1 to 8.3; the other functions are in submodules.

use super::arith::binary;
use super::number::{Num, round_to};
use super::{Folder, Vector};
use crate::ir::{BinaryOp, ConstId, ConstValue, MathFn, Scalar, TypeId};

impl Folder<'_> {
    pub fn math(&mut self, function: MathFn, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        use MathFn::*;
        match function {
            MatrixCompMult | Transpose | Determinant | Inverse => self.matrix_function(function, ty, args),
            Length | Distance | Dot | Cross | Normalize | FaceForward | Reflect | Refract => {
                self.geometric(function, ty, args)
            }
            DotInt | DotIntAccSat | DotPacked | DotPackedAccSat | IsHelper => None,
            Any | All => self.any_or_all(function, ty, args),
            Modf | Frexp | AddCarry | SubBorrow | MulExtended => self.two_results(function, ty, args),
            _ => match super::pack::is_packing(function) {
                true => self.packing(function, ty, args),
                false => self.by_component(function, ty, args),
            },
        }
    }

    fn by_component(&mut self, function: MathFn, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        let mut vectors = [Vector::new(Scalar::I32, 1, |_| Num::Int(0)); 4];
        for (vector, arg) in vectors.iter_mut().zip(args) {
            *vector = self.vector(*arg)?;
        }
        let scalar = vectors[0].scalar;
        let count = args.len().min(4);
        self.lanes(ty, |index| {
            let lanes = vectors.map(|vector| vector.lane(index));
            match &lanes[..count] {
                [Num::Float(x)] => float1(function, scalar, *x),
                [Num::Float(x), Num::Float(y)] => float2(function, scalar, *x, *y),
                [Num::Float(x), Num::Float(y), Num::Float(z)] => float3(function, scalar, *x, *y, *z),
                [Num::Float(x), Num::Int(exponent)] if function == MathFn::Ldexp => {
                    Some(Num::Float(round_to(scalar.width, scale(*x, *exponent))))
                }
                ints => super::bits::on_ints(function, scalar, ints),
            }
        })
    }

    fn any_or_all(&mut self, function: MathFn, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        let flags = self.vector(*args.first()?)?;
        let mut set = flags.lanes().iter().map(|flag| *flag == Num::Bool(true));
        let value = if function == MathFn::Any { set.any(|flag| flag) } else { set.all(|flag| flag) };
        self.lanes(ty, |_| Some(Num::Bool(value)))
    }

    /// Functions with a struct of two results.
    fn two_results(&mut self, function: MathFn, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        let a = self.vector(*args.first()?)?;
        let b = args.get(1).map_or(Some(a), |arg| self.vector(*arg))?;
        let both = |index| match (function, a.lane(index), b.lane(index)) {
            (MathFn::Modf, Num::Float(x), _) => Some(modf(x)),
            (MathFn::Frexp, Num::Float(x), _) => frexp(x),
            (_, Num::Int(x), Num::Int(y)) => super::bits::two_results(function, a.scalar, x, y),
            _ => None,
        };
        let (first, second) = (self.types.element(ty, 0)?, self.types.element(ty, 1)?);
        let first = self.lanes(first, |index| both(index).map(|pair| pair.0))?;
        let second = self.lanes(second, |index| both(index).map(|pair| pair.1))?;
        Some(self.constants.intern(ty, ConstValue::Composite(Box::new([first, second]))))
    }
}

fn float1(function: MathFn, scalar: Scalar, x: f64) -> Option<Num> {
    use MathFn::*;
    let value = match function {
        Radians => x.to_radians(),
        Degrees => x.to_degrees(),
        Sin => x.sin(),
        Cos => x.cos(),
        Tan => x.tan(),
        Asin => x.asin(),
        Acos => x.acos(),
        Atan => x.atan(),
        Sinh => x.sinh(),
        Cosh => x.cosh(),
        Tanh => x.tanh(),
        Asinh => x.asinh(),
        Acosh => x.acosh(),
        Atanh => x.atanh(),
        Exp => x.exp(),
        Log => x.ln(),
        Exp2 => x.exp2(),
        Log2 => x.log2(),
        Sqrt => x.sqrt(),
        InverseSqrt => 1.0 / x.sqrt(),
        IsNan => return Some(Num::Bool(x.is_nan())),
        IsInf => return Some(Num::Bool(x.is_infinite())),
        _ => rounding(function, x)?,
    };
    Some(Num::Float(round_to(scalar.width, value)))
}

/// Functions with an exact result.
fn rounding(function: MathFn, x: f64) -> Option<f64> {
    Some(match function {
        MathFn::Abs => x.abs(),
        MathFn::Sign if x == 0.0 || x.is_nan() => x,
        MathFn::Sign => x.signum(),
        MathFn::Floor => x.floor(),
        MathFn::Trunc => x.trunc(),
        // `round` of a half is implementation-defined; here it equals `roundEven`.
        MathFn::Round | MathFn::RoundEven => x.round_ties_even(),
        MathFn::Ceil => x.ceil(),
        MathFn::Fract => x - x.floor(),
        _ => return None,
    })
}

/// `x op y` in the width of `scalar`.
fn op(scalar: Scalar, x: f64, op: BinaryOp, y: f64) -> f64 {
    binary(op, scalar, Num::Float(x), Num::Float(y)).and_then(Num::float).unwrap_or(f64::NAN)
}

fn float2(function: MathFn, scalar: Scalar, x: f64, y: f64) -> Option<Num> {
    let value = match function {
        MathFn::Atan2 => x.atan2(y),
        MathFn::Pow => x.powf(y),
        MathFn::Mod => {
            let whole = op(scalar, x, BinaryOp::Div, y).floor();
            op(scalar, x, BinaryOp::Sub, op(scalar, y, BinaryOp::Mul, whole))
        }
        MathFn::Min => min(x, y),
        MathFn::Max => max(x, y),
        MathFn::Step => f64::from(u8::from(y >= x)),
        _ => return None,
    };
    Some(Num::Float(round_to(scalar.width, value)))
}

fn min(x: f64, y: f64) -> f64 {
    if y < x { y } else { x }
}

fn max(x: f64, y: f64) -> f64 {
    if x < y { y } else { x }
}

fn float3(function: MathFn, scalar: Scalar, x: f64, y: f64, z: f64) -> Option<Num> {
    let value = match function {
        MathFn::Clamp => min(max(x, y), z),
        MathFn::Mix => {
            let rest = op(scalar, 1.0, BinaryOp::Sub, z);
            op(scalar, op(scalar, x, BinaryOp::Mul, rest), BinaryOp::Add, op(scalar, y, BinaryOp::Mul, z))
        }
        MathFn::SmoothStep => smooth_step(scalar, x, y, z),
        MathFn::Fma if scalar.width == 32 => f64::from((x as f32).mul_add(y as f32, z as f32)),
        MathFn::Fma => x.mul_add(y, z),
        _ => return None,
    };
    Some(Num::Float(round_to(scalar.width, value)))
}

/// `t * t * (3 - 2 * t)`, where `t` is the position of `x` between the edges.
fn smooth_step(scalar: Scalar, low: f64, high: f64, x: f64) -> f64 {
    use BinaryOp::{Div, Mul, Sub};
    let place = op(scalar, op(scalar, x, Sub, low), Div, op(scalar, high, Sub, low));
    let t = min(max(place, 0.0), 1.0);
    op(scalar, op(scalar, t, Mul, t), Mul, op(scalar, 3.0, Sub, op(scalar, 2.0, Mul, t)))
}

/// Fraction and whole part, both with the sign of `x`.
fn modf(x: f64) -> (Num, Num) {
    let fraction = if x.is_infinite() { 0.0f64.copysign(x) } else { (x - x.trunc()).copysign(x) };
    (Num::Float(fraction), Num::Float(x.trunc()))
}

/// Significand in `[0.5, 1)` and exponent; not defined for infinities and NaN.
fn frexp(x: f64) -> Option<(Num, Num)> {
    if !x.is_finite() {
        return None;
    }
    if x == 0.0 {
        return Some((Num::Float(x), Num::Int(0)));
    }
    // A multiplication normalizes subnormal numbers.
    let shift = if x.abs() < f64::MIN_POSITIVE { 64 } else { 0 };
    let bits = (x * 2f64.powi(shift)).to_bits();
    let exponent = i128::from(bits >> 52 & 0x7ff) - 1022 - i128::from(shift);
    let significand = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    Some((Num::Float(significand), Num::Int(exponent)))
}

/// `x * 2^exponent`, in steps that neither overflow nor underflow before the result does.
fn scale(x: f64, exponent: i128) -> f64 {
    let exponent = exponent.clamp(-3000, 3000) as i32;
    let third = exponent / 3;
    x * 2f64.powi(third) * 2f64.powi(third) * 2f64.powi(exponent - 2 * third)
}
