//! Arithmetic: operators and intrinsic functions (Microsoft's reference, "Intrinsic Functions").

use super::Hlsl;
use super::constants::{first_typed, parts_of, typed};
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::{Body, Made};
use crate::backend::source::operators::operator;
use crate::backend::source::writer::Writer;
use crate::ir::{BinaryOp, MathFn, Scalar, ScalarKind, Type, TypeId, Types, UnaryOp, Values};

/// The language's function with the same operands and result as the module's.
const fn intrinsic(function: MathFn) -> Option<&'static str> {
    Some(match function {
        MathFn::Radians => "radians",
        MathFn::Degrees => "degrees",
        MathFn::Sin => "sin",
        MathFn::Cos => "cos",
        MathFn::Tan => "tan",
        MathFn::Asin => "asin",
        MathFn::Acos => "acos",
        MathFn::Atan => "atan",
        MathFn::Atan2 => "atan2",
        MathFn::Sinh => "sinh",
        MathFn::Cosh => "cosh",
        MathFn::Tanh => "tanh",
        MathFn::Pow => "pow",
        MathFn::Exp => "exp",
        MathFn::Log => "log",
        MathFn::Exp2 => "exp2",
        MathFn::Log2 => "log2",
        MathFn::Sqrt => "sqrt",
        MathFn::InverseSqrt => "rsqrt",
        MathFn::Abs => "abs",
        MathFn::Floor => "floor",
        MathFn::Trunc => "trunc",
        MathFn::Round | MathFn::RoundEven => "round",
        MathFn::Ceil => "ceil",
        MathFn::Fract => "frac",
        MathFn::Min => "min",
        MathFn::Max => "max",
        MathFn::Clamp => "clamp",
        MathFn::Mix => "lerp",
        MathFn::Step => "step",
        MathFn::SmoothStep => "smoothstep",
        MathFn::IsNan => "isnan",
        MathFn::IsInf => "isinf",
        MathFn::Length => "length",
        MathFn::Distance => "distance",
        MathFn::Dot => "dot",
        MathFn::Cross => "cross",
        MathFn::Normalize => "normalize",
        MathFn::FaceForward => "faceforward",
        MathFn::Reflect => "reflect",
        MathFn::Refract => "refract",
        MathFn::Transpose => "transpose",
        MathFn::Determinant => "determinant",
        MathFn::Any => "any",
        MathFn::All => "all",
        MathFn::DerivX => "ddx",
        MathFn::DerivY => "ddy",
        MathFn::DerivWidth => "fwidth",
        MathFn::DerivXFine => "ddx_fine",
        MathFn::DerivYFine => "ddy_fine",
        MathFn::DerivXCoarse => "ddx_coarse",
        MathFn::DerivYCoarse => "ddy_coarse",
        _ => return None,
    })
}

/// A function that the writer adds.
const fn added(function: MathFn) -> Option<&'static str> {
    Some(match function {
        MathFn::Mod => "mod",
        MathFn::Asinh => "asinh",
        MathFn::Acosh => "acosh",
        MathFn::Atanh => "atanh",
        MathFn::Ldexp => "ldexp_exact",
        MathFn::PackSnorm4x8 => "pack_snorm4x8",
        MathFn::UnpackSnorm4x8 => "unpack_snorm4x8",
        MathFn::PackUnorm4x8 => "pack_unorm4x8",
        MathFn::UnpackUnorm4x8 => "unpack_unorm4x8",
        MathFn::PackSnorm2x16 => "pack_snorm2x16",
        MathFn::UnpackSnorm2x16 => "unpack_snorm2x16",
        MathFn::PackUnorm2x16 => "pack_unorm2x16",
        MathFn::UnpackUnorm2x16 => "unpack_unorm2x16",
        MathFn::PackHalf2x16 => "pack_half2x16",
        MathFn::UnpackHalf2x16 => "unpack_half2x16",
        MathFn::UnpackDouble2x32 => "unpack_double",
        MathFn::BitfieldExtract => "bitfield_extract",
        MathFn::BitfieldInsert => "bitfield_insert",
        _ => return None,
    })
}

/// Functions that support doubles.
const fn takes_doubles(function: MathFn) -> bool {
    matches!(
        function,
        MathFn::Abs
            | MathFn::Min
            | MathFn::Max
            | MathFn::Clamp
            | MathFn::Fma
            | MathFn::Transpose
            | MathFn::MatrixCompMult
            | MathFn::PackDouble2x32
            | MathFn::UnpackDouble2x32
    )
}

impl Hlsl {
    pub fn unary(&self, _: &mut Writer, op: UnaryOp, a: &Expr) -> Expr {
        match op {
            UnaryOp::Neg => Expr::unary("-", a),
            UnaryOp::Not => Expr::unary("~", a),
            UnaryOp::LogicalNot => a.not(),
        }
    }

    /// An operator; `None` if its expansion needs the operands more than once.
    pub fn binary(&self, t: &mut Writer, op: BinaryOp, [a, b]: [&Expr; 2], of: [TypeId; 2]) -> Option<Expr> {
        let scalar = t.types.scalar_of(of[0]);
        let size = t.types.components(of[0]).unwrap_or(1);
        let is_bool = scalar.is_some_and(Scalar::is_bool);
        let (text, level) = operator(op);
        let both = first_typed(t, &[a.clone(), b.clone()], of[0]);
        let [a, b] = [&both[0], &both[1]];
        Some(match op {
            // Columns are the language's rows.
            BinaryOp::MatrixTimesVector | BinaryOp::VectorTimesMatrix | BinaryOp::MatrixTimesMatrix => {
                Expr::call("mul", &[b.clone(), a.clone()])
            }
            BinaryOp::OuterProduct => {
                let (columns, rows) = (t.types.components(of[1]).unwrap_or(1), size);
                let stem = t.vector_name(scalar.unwrap_or(Scalar::F32), 1);
                let column =
                    Expr::new(format!("({stem}1x{rows}){}", a.at(Level::Primary)), Level::Unary).reading(&a.reads);
                let row =
                    Expr::new(format!("({stem}{columns}x1){}", b.at(Level::Primary)), Level::Unary).reading(&b.reads);
                Expr::call("mul", &[row, column])
            }
            BinaryOp::And | BinaryOp::LogicalAnd if is_bool && size > 1 => {
                self.joined(t, "&", Level::And, [a, b], size)
            }
            BinaryOp::Or | BinaryOp::LogicalOr if is_bool && size > 1 => self.joined(t, "|", Level::Or, [a, b], size),
            BinaryOp::And if is_bool => Expr::binary("&&", Level::LogicalAnd, a, b),
            BinaryOp::Or if is_bool => Expr::binary("||", Level::LogicalOr, a, b),
            BinaryOp::Xor if is_bool => Expr::binary("!=", Level::Equality, a, b),
            // Compilers may assume that no number differs from itself, but a NaN does.
            BinaryOp::Ne if a.text == b.text && scalar.is_some_and(Scalar::is_float) => {
                Expr::call("isnan", std::slice::from_ref(a))
            }
            BinaryOp::Eq if a.text == b.text && scalar.is_some_and(Scalar::is_float) => {
                Expr::call("isnan", std::slice::from_ref(a)).not()
            }
            BinaryOp::Rem if scalar.is_some_and(Scalar::is_float) => return None,
            BinaryOp::Shl | BinaryOp::Shr if size == 1 => Expr::binary(text, level, &typed(t, a, of[0]), b),
            _ => Expr::binary(text, level, a, b),
        })
    }

    /// Vectors of bools joined bit by bit.
    fn joined(&self, t: &mut Writer, op: &str, level: Level, both: [&Expr; 2], size: u8) -> Expr {
        let words = t.vector_name(Scalar::U32, size);
        let [a, b] = both.map(|value| Expr::call(&words, std::slice::from_ref(value)));
        let joined = Expr::binary(op, level, &a, &b);
        let bools = t.vector_name(Scalar::BOOL, size);
        Expr::call(&bools, &[joined])
    }

    /// The remainder of floats with the sign of the dividend.
    pub fn remainder(&self, b: &mut Body, both: [Expr; 2], ty: TypeId) -> Expr {
        let [x, y] = both.map(|value| b.plain(value, ty));
        let quotient = Expr::call("trunc", &[Expr::binary("/", Level::Product, &x, &y)]);
        Expr::binary("-", Level::Sum, &x, &Expr::binary("*", Level::Product, &y, &quotient))
    }

    /// A call of a built-in function with one result; `None` if the language lacks it.
    pub fn function_of(
        &self,
        t: &mut Writer,
        function: MathFn,
        args: &[Expr],
        of: &[TypeId],
        ty: TypeId,
    ) -> Option<Expr> {
        let scalar = of.first().and_then(|of| t.types.scalar_of(*of));
        let kind = scalar.map(|scalar| scalar.kind);
        if scalar == Some(Scalar::F64) && !takes_doubles(function) {
            return Some(t.lacking("such functions of doubles"));
        }
        let args = &of.first().map_or_else(Vec::new, |of| first_typed(t, args, *of))[..];
        match function {
            MathFn::Abs if kind == Some(ScalarKind::Uint) => return args.first().cloned(),
            MathFn::Sign => return Some(self.sign(t, args, scalar?, ty)),
            MathFn::Fma => return Some(Expr::call(if scalar == Some(Scalar::F64) { "fma" } else { "mad" }, args)),
            MathFn::MatrixCompMult => return Some(Expr::binary("*", Level::Product, &args[0], &args[1])),
            MathFn::Normalize if t.types.components(of[0]) == Some(1) => return Some(Expr::call("sign", args)),
            MathFn::Inverse => {
                let Type::Matrix { columns, .. } = t.types.get(of[0]) else { return None };
                return Some(Expr::call(t.help_invert(of[0], columns), args));
            }
            MathFn::PackDouble2x32 => {
                let words = parts_of(&args[0], 2);
                return Some(Expr::call("asdouble", &words));
            }
            MathFn::BitCount | MathFn::FindLsb | MathFn::FindMsb | MathFn::BitfieldReverse => {
                return Some(self.bits(t, function, args, of[0], ty));
            }
            MathFn::CountLeadingZeros | MathFn::CountTrailingZeros => return self.zeros(t, function, args, of[0], ty),
            MathFn::DerivWidthFine | MathFn::DerivWidthCoarse => {
                let names = if function == MathFn::DerivWidthFine {
                    ["ddx_fine", "ddy_fine"]
                } else {
                    ["ddx_coarse", "ddy_coarse"]
                };
                let [x, y] = names.map(|name| Expr::call("abs", &[Expr::call(name, args)]));
                return Some(Expr::binary("+", Level::Sum, &x, &y));
            }
            MathFn::IsHelper if t.options.profile.version >= (6, 6) => return Some(Expr::primary("IsHelperLane()")),
            MathFn::IsHelper => return Some(t.lacking("tests for helper lanes before Shader Model 6.6")),
            _ => {}
        }
        if let Some(name) = added(function) {
            return Some(self.helped(t, name, args, of[0]));
        }
        Some(Expr::call(intrinsic(function)?, args))
    }

    /// The language returns integers.
    fn sign(&self, t: &mut Writer, args: &[Expr], scalar: Scalar, ty: TypeId) -> Expr {
        match scalar.kind {
            ScalarKind::Uint => {
                let one = t.literal(scalar, 1);
                Expr::call("min", &[args[0].clone(), one])
            }
            ScalarKind::Sint if scalar.width == 32 => Expr::call("sign", args),
            ScalarKind::Sint => self.helped(t, "sign_of", args, ty),
            _ => Expr::call(&t.type_name(ty), &[Expr::call("sign", args)]),
        }
    }

    /// Functions of words, with unsigned results in the language.
    fn bits(&self, t: &mut Writer, function: MathFn, args: &[Expr], of: TypeId, ty: TypeId) -> Expr {
        let Some((scalar, size)) = t.shape(of) else { return t.broken("bits of such types") };
        // Compilers differ in the highest bit of negative numbers.
        if function == MathFn::FindMsb && scalar == Scalar::I32 {
            let highest = self.helped(t, "find_msb", args, of);
            return t.converted(&highest, of, ty);
        }
        let name = match function {
            MathFn::BitCount => "countbits",
            MathFn::FindLsb => "firstbitlow",
            MathFn::FindMsb => "firstbithigh",
            _ => "reversebits",
        };
        let unsigned = Scalar { kind: ScalarKind::Uint, ..scalar };
        let is_cast = scalar.kind == ScalarKind::Sint && function != MathFn::FindMsb;
        let arg = if is_cast { Expr::call(&t.vector_name(unsigned, size), args) } else { args[0].clone() };
        let call = Expr::call(name, &[arg]);
        let given = if function == MathFn::BitfieldReverse { unsigned } else { Scalar::U32 };
        match t.shape(ty) {
            Some((wanted, size)) if wanted != given => Expr::call(&t.vector_name(wanted, size), &[call]),
            _ => call,
        }
    }

    /// Zeros above the highest or below the lowest set bit; 32 for zero.
    fn zeros(&self, t: &mut Writer, function: MathFn, args: &[Expr], of: TypeId, ty: TypeId) -> Option<Expr> {
        let (scalar, size) = t.shape(of)?;
        if scalar.width != 32 {
            return None;
        }
        let words = t.vector_name(Scalar::U32, size);
        let word = if scalar.kind == ScalarKind::Uint { args[0].clone() } else { Expr::call(&words, args) };
        let made = if function == MathFn::CountLeadingZeros {
            // The result for zero is -1.
            Expr::binary("-", Level::Sum, &Expr::primary("31u"), &Expr::call("firstbithigh", &[word]))
        } else {
            Expr::call("min", &[Expr::call("firstbitlow", &[word]), Expr::primary("32u")])
        };
        match t.types.scalar_of(ty) {
            Some(Scalar::U32) => Some(made),
            _ => Some(Expr::call(&t.type_name(ty), &[made])),
        }
    }

    pub fn math(&self, b: &mut Body, function: MathFn, args: Values, ty: TypeId) -> Made {
        let (args, of) = b.operands(function, args, Types::U32);
        match function {
            MathFn::Modf => b.two_results("modf", args, ty, ["fraction", "whole"]),
            MathFn::Frexp => self.frexp(b, args, of[0], ty),
            MathFn::AddCarry | MathFn::SubBorrow => self.carried(b, function, args, &of, ty),
            MathFn::MulExtended => self.wide_product(b, args, &of, ty),
            MathFn::Dot if b.t.types.scalar_of(of[0]).is_some_and(Scalar::is_int) => {
                Made::One(b.integer_dot(args, of[0]))
            }
            _ => match self.function_of(b.t, function, &args, &of, ty) {
                Some(made) => Made::One(made),
                None => Made::One(b.t.stand_in("such built-in function")),
            },
        }
    }

    /// Significand and exponent, from the bits of a float or half.
    fn frexp(&self, b: &mut Body, args: Vec<Expr>, of: TypeId, ty: TypeId) -> Made {
        let Some((scalar, size)) = b.t.shape(of) else { return Made::One(b.t.broken("the parts of no number")) };
        let wide = b.t.types.vector(Scalar::F32, size);
        let name = self.help(b.t, "frexp_exact", wide);
        if scalar == Scalar::F32 {
            return b.two_results(name, args, ty, ["significand", "exponent"]);
        }
        let [first, second] = b.members_of(ty);
        let value = b.t.converted(&args[0], of, wide);
        let exponent = b.variable("exponent", second);
        let call = b.t.converted(&Expr::call(name, &[value, exponent.clone()]), wide, first);
        Made::Pair([b.name("significand", first, &call), exponent])
    }

    /// A sum and its carry, or a difference and its borrow.
    fn carried(&self, b: &mut Body, function: MathFn, args: Vec<Expr>, of: &[TypeId], ty: TypeId) -> Made {
        let [first, second] = b.members_of(ty);
        let [x, y] = [0, 1].map(|at| b.plain(args[at].clone(), of[at]));
        let bools = b.t.types.components(of[0]).map_or(Types::BOOL, |size| b.t.types.vector(Scalar::BOOL, size));
        let (name, value) = match function {
            MathFn::AddCarry => ("sum", Expr::binary("+", Level::Sum, &x, &y)),
            _ => ("difference", Expr::binary("-", Level::Sum, &x, &y)),
        };
        let value = b.name(name, first, &value);
        let test = match function {
            MathFn::AddCarry => Expr::binary("<", Level::Relation, &value, &x),
            _ => Expr::binary("<", Level::Relation, &x, &y),
        };
        let carry = b.t.converted(&test, bools, second);
        let name = if function == MathFn::AddCarry { "carry" } else { "borrow" };
        Made::Pair([value, b.name(name, second, &carry)])
    }

    /// The low and the high half of a product.
    fn wide_product(&self, b: &mut Body, args: Vec<Expr>, of: &[TypeId], ty: TypeId) -> Made {
        let Some((scalar, size)) = b.t.shape(of[0]) else { return Made::One(b.t.broken("a product of no numbers")) };
        if scalar.width != 32 {
            return Made::One(b.t.stand_in("both halves of such products"));
        }
        let [low, high] = b.members_of(ty);
        let [x, y] = [0, 1].map(|at| b.plain(args[at].clone(), of[at]));
        let words = b.t.types.vector(Scalar::U32, size);
        self.help(b.t, "umul_high", words);
        let name = if scalar.is_signed() { "imul_high" } else { "umul_high" };
        let product = self.helped(b.t, name, &[x.clone(), y.clone()], of[0]);
        let high = b.name("high", high, &product);
        Made::Pair([b.name("low", low, &Expr::binary("*", Level::Product, &x, &y)), high])
    }
}
