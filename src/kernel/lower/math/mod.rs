//! Built-in functions: the file that computes each, and the calls of functions that work component by component.
//!
//! The results follow GLSL 4.60 chapter 8; the precision follows Vulkan's table "Precision of GLSL.std.450
//! Instructions". Functions that the kernel form lacks are composed of others, with the specification's formula if it
//! gives one.

mod bits;
mod common;
mod dot;
mod exponential;
mod geometric;
mod pack;
mod parts;
mod trigonometry;

use super::{Lower, Scalars};
use crate::ir::fold::f64_to_f16;
use crate::ir::{self, MathFn, Scalar, TypeId};
use crate::kernel::{BinOp, CmpOp, TernOp, UnOp, Value};

impl Lower<'_> {
    pub fn math(&mut self, function: MathFn, ty: TypeId, args: &[ir::Value]) -> Scalars {
        use MathFn::*;
        let scalar = args.first().map_or(Scalar::F32, |arg| self.scalar_of(*arg));
        if matches!(function, MatrixCompMult | Transpose | Determinant | Inverse) {
            return self.matrix_function(function, ty, args);
        }
        if function == IsHelper {
            return Scalars::from_elem(self.is_helper(), 1);
        }
        let types: Vec<Scalar> = args.iter().map(|arg| self.scalar_of(*arg)).collect();
        let args: Vec<Scalars> = args.iter().map(|arg| self.values(*arg)).collect();
        match function {
            Length | Distance | Dot | Cross | Normalize | FaceForward | Reflect | Refract => {
                self.geometric(function, scalar, &args)
            }
            DotInt | DotIntAccSat | DotPacked | DotPackedAccSat => {
                let to = self.shapes.types.scalar_of(ty).unwrap_or(Scalar::I32);
                Scalars::from_elem(self.int_dot(function, to, &types, &args), 1)
            }
            Any => self.fold_flags(BinOp::Or, &args[0]),
            All => self.fold_flags(BinOp::And, &args[0]),
            PackSnorm4x8 | PackUnorm4x8 | PackSnorm2x16 | PackUnorm2x16 | PackHalf2x16 | PackDouble2x32 => {
                Scalars::from_elem(self.pack(function, &args[0]), 1)
            }
            UnpackSnorm4x8 | UnpackUnorm4x8 | UnpackSnorm2x16 | UnpackUnorm2x16 | UnpackHalf2x16 | UnpackDouble2x32 => {
                self.unpack(function, args[0][0])
            }
            Modf | Frexp | AddCarry | SubBorrow | MulExtended => self.two_results(function, scalar, &args),
            _ => self.math_by_component(function, ty, &types, &args),
        }
    }

    fn fold_flags(&mut self, op: BinOp, flags: &[Value]) -> Scalars {
        flags.iter().copied().reduce(|all, flag| self.b.bin(op, Scalar::BOOL, all, flag)).into_iter().collect()
    }

    /// Single scalars are combined with all components of the other operands.
    fn math_by_component(&mut self, function: MathFn, ty: TypeId, types: &[Scalar], args: &[Scalars]) -> Scalars {
        let to = self.shapes.types.scalar_of(ty).unwrap_or(types[0]);
        let count = args.iter().map(|arg| arg.len()).max().unwrap_or(0);
        let component =
            |at: usize| -> Scalars { args.iter().filter_map(|arg| arg.get(at).or(arg.last()).copied()).collect() };
        (0..count).map(|at| self.component(function, types, to, &component(at))).collect()
    }

    /// One component of a function with the given operand types and a result of type `to`.
    fn component(&mut self, function: MathFn, types: &[Scalar], to: Scalar, args: &[Value]) -> Value {
        let scalar = types[0];
        if scalar.is_int() {
            return self.integer(function, types, to, args);
        }
        match function {
            MathFn::Ldexp => {
                let exponent = self.resized(types[1], 32, args[1]);
                self.ldexp(scalar, args[0], exponent)
            }
            _ if is_approximate(function) => self.approximate(function, scalar, args),
            _ => self.exact(function, scalar, args),
        }
    }

    /// Functions without an exact result, computed in at least 32 bits.
    fn approximate(&mut self, function: MathFn, scalar: Scalar, args: &[Value]) -> Value {
        let is_root = matches!(function, MathFn::Sqrt | MathFn::InverseSqrt);
        match scalar.width {
            16 => {
                let wide: Scalars = args.iter().map(|arg| self.b.convert(scalar, Scalar::F32, *arg)).collect();
                let value = self.approximation(function, &wide);
                self.b.convert(Scalar::F32, scalar, value)
            }
            64 if is_root => {
                let op = if function == MathFn::Sqrt { UnOp::Sqrt } else { UnOp::InverseSqrt };
                self.b.un(op, scalar, args[0])
            }
            64 => {
                self.not_yet("trigonometric and exponential functions of 64 bits");
                args[0]
            }
            _ => self.approximation(function, args),
        }
    }

    fn approximation(&mut self, function: MathFn, args: &[Value]) -> Value {
        use MathFn::*;
        match function {
            Sin | Cos | Tan | Asin | Acos | Atan | Atan2 => self.trigonometric(function, args),
            _ => self.exponential(function, args),
        }
    }

    // Short names for the operations in all functions.

    /// A float constant.
    fn real(&mut self, scalar: Scalar, value: f64) -> Value {
        match scalar.width {
            16 => self.b.constant(crate::kernel::Ty::B16, f64_to_f16(value).into()),
            32 => self.b.f32(value as f32),
            _ => self.b.constant(crate::kernel::Ty::B64, value.to_bits()),
        }
    }

    fn add(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        self.b.bin(BinOp::Add, scalar, a, b)
    }

    fn sub(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        self.b.bin(BinOp::Sub, scalar, a, b)
    }

    fn mul(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        self.b.bin(BinOp::Mul, scalar, a, b)
    }

    fn div(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        self.b.bin(BinOp::Div, scalar, a, b)
    }

    fn and(&mut self, scalar: Scalar, a: Value, bits: u64) -> Value {
        let bits = self.b.constant(crate::kernel::Ty::of(scalar), bits);
        self.b.bin(BinOp::And, scalar, a, bits)
    }

    fn less(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        self.b.cmp(CmpOp::Lt, scalar, a, b)
    }

    /// `a * b + c`, rounded once.
    fn fma(&mut self, scalar: Scalar, a: Value, b: Value, c: Value) -> Value {
        self.b.tern(TernOp::Fma, scalar, [a, b, c])
    }

    /// `value` with the sign of `sign`, for a value that is not negative.
    fn with_sign_of(&mut self, scalar: Scalar, value: Value, sign: Value) -> Value {
        let bits = super::arith::unsigned(scalar.width);
        let sign = self.and(bits, sign, 1 << (scalar.width - 1));
        self.b.bin(BinOp::Or, bits, value, sign)
    }
}

/// Returns true if a function's result need not be the nearest.
fn is_approximate(function: MathFn) -> bool {
    use MathFn::*;
    matches!(
        function,
        Sin | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Atan2
            | Sinh
            | Cosh
            | Tanh
            | Asinh
            | Acosh
            | Atanh
            | Pow
            | Exp
            | Log
            | Exp2
            | Log2
            | Sqrt
            | InverseSqrt
    )
}
