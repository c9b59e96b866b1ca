//! Arithmetic: operators (section 3, Operators) and built-in functions (sections 6.3 to 6.7 and 6.11).

use super::Msl;
use super::bits::unsigned;
use super::dialect::Part;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::{Body, Made};
use crate::backend::source::operators::operator;
use crate::backend::source::writer::Writer;
use crate::ir::{BinaryOp, MathFn, Scalar, ScalarKind, Type, TypeId, Types, UnaryOp, Values};

/// The language's function with the same operands and result as the module's.
const fn intrinsic(function: MathFn) -> Option<&'static str> {
    Some(match function {
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
        MathFn::Asinh => "asinh",
        MathFn::Acosh => "acosh",
        MathFn::Atanh => "atanh",
        MathFn::Pow => "pow",
        MathFn::Exp => "exp",
        MathFn::Log => "log",
        MathFn::Exp2 => "exp2",
        MathFn::Log2 => "log2",
        MathFn::Sqrt => "sqrt",
        MathFn::InverseSqrt => "rsqrt",
        MathFn::Abs => "abs",
        MathFn::Sign => "sign",
        MathFn::Floor => "floor",
        MathFn::Trunc => "trunc",
        // To even numbers.
        MathFn::Round | MathFn::RoundEven => "rint",
        MathFn::Ceil => "ceil",
        MathFn::Fract => "fract",
        MathFn::Min => "min",
        MathFn::Max => "max",
        MathFn::Clamp => "clamp",
        MathFn::Mix => "mix",
        MathFn::Step => "step",
        MathFn::SmoothStep => "smoothstep",
        MathFn::Fma => "fma",
        MathFn::Ldexp => "ldexp",
        MathFn::PackSnorm4x8 => "pack_float_to_snorm4x8",
        MathFn::UnpackSnorm4x8 => "unpack_snorm4x8_to_float",
        MathFn::PackUnorm4x8 => "pack_float_to_unorm4x8",
        MathFn::UnpackUnorm4x8 => "unpack_unorm4x8_to_float",
        MathFn::PackSnorm2x16 => "pack_float_to_snorm2x16",
        MathFn::UnpackSnorm2x16 => "unpack_snorm2x16_to_float",
        MathFn::PackUnorm2x16 => "pack_float_to_unorm2x16",
        MathFn::UnpackUnorm2x16 => "unpack_unorm2x16_to_float",
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
        MathFn::BitfieldExtract => "extract_bits",
        MathFn::BitfieldInsert => "insert_bits",
        // The language does not specify how coarse they are.
        MathFn::DerivX | MathFn::DerivXFine | MathFn::DerivXCoarse => "dfdx",
        MathFn::DerivY | MathFn::DerivYFine | MathFn::DerivYCoarse => "dfdy",
        MathFn::DerivWidth | MathFn::DerivWidthFine | MathFn::DerivWidthCoarse => "fwidth",
        _ => return None,
    })
}

/// A function of vectors that the writer adds for scalars.
const fn of_scalars(function: MathFn) -> Option<&'static str> {
    Some(match function {
        MathFn::FaceForward => "face_forward",
        MathFn::Reflect => "reflected",
        MathFn::Refract => "refracted",
        _ => return None,
    })
}

/// Functions whose operands must have one type, while the module's may mix scalars and vectors.
const fn takes_one_type(function: MathFn) -> bool {
    matches!(
        function,
        MathFn::Atan2
            | MathFn::Pow
            | MathFn::Mod
            | MathFn::Min
            | MathFn::Max
            | MathFn::Clamp
            | MathFn::Mix
            | MathFn::Step
            | MathFn::SmoothStep
            | MathFn::Fma
            | MathFn::Ldexp
    )
}

impl Msl {
    pub fn unary(&self, t: &mut Writer, op: UnaryOp, a: &Expr, of: TypeId) -> Expr {
        let Some((scalar, size)) = t.shape(of) else { return Expr::unary("-", a) };
        match op {
            UnaryOp::Not if scalar.is_bool() => a.not(),
            UnaryOp::LogicalNot => a.not(),
            UnaryOp::Not => narrowed(t, Expr::unary("~", a), (scalar, size)),
            UnaryOp::Neg if wraps((scalar, size)) && !is_literal(a) => {
                let inner = Expr::unary("-", &as_unsigned(t, a, (scalar, size)));
                as_signed(t, inner, (scalar, size))
            }
            UnaryOp::Neg => narrowed(t, Expr::unary("-", a), (scalar, size)),
        }
    }

    /// An operator; all of them need their operands once.
    pub fn binary(&self, t: &mut Writer, op: BinaryOp, [a, b]: [&Expr; 2], of: [TypeId; 2]) -> Expr {
        let (text, level) = operator(op);
        let scalar = t.types.scalar_of(of[0]);
        let is_float = scalar.is_some_and(Scalar::is_float);
        let (Some(left), Some(right)) = (t.shape(of[0]), t.shape(of[1])) else {
            return Expr::binary(text, level, a, b);
        };
        let is_bool = left.0.is_bool();
        let size = left.1.max(right.1);
        match op {
            BinaryOp::OuterProduct => {
                let ty = t.types.matrix(left.0, right.1, left.1);
                Expr::call(self.help_outer_product(t, ty), &[a.clone(), b.clone()])
            }
            // Component by component, of vectors.
            BinaryOp::And | BinaryOp::LogicalAnd if is_bool && size > 1 => Expr::binary("&", Level::And, a, b),
            BinaryOp::Or | BinaryOp::LogicalOr if is_bool && size > 1 => Expr::binary("|", Level::Or, a, b),
            BinaryOp::And if is_bool => Expr::binary("&&", Level::LogicalAnd, a, b),
            BinaryOp::Or if is_bool => Expr::binary("||", Level::LogicalOr, a, b),
            BinaryOp::Xor if is_bool => Expr::binary("!=", Level::Equality, a, b),
            // Fast arithmetic assumes that no number differs from itself, but a NaN does.
            BinaryOp::Ne if is_float && a.text == b.text => self.is_special(t, "is_nan", a, of[0]),
            BinaryOp::Eq if is_float && a.text == b.text => self.is_special(t, "is_nan", a, of[0]).not(),
            BinaryOp::Rem if is_float => Expr::call("fmod", &[a.clone(), b.clone()]),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::TimesScalar => {
                wrapped(t, (text, level), [a, b], [left, right])
            }
            BinaryOp::Shl | BinaryOp::Shr if size > 1 && left.0.width != right.0.width => {
                let by = t.types.vector(left.0, right.1);
                let by = t.converted(b, of[1], by);
                Expr::binary(text, level, a, &by)
            }
            BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr => narrowed(t, Expr::binary(text, level, a, b), (left.0, size)),
            _ => Expr::binary(text, level, a, b),
        }
    }

    /// A select for each component separately.
    pub fn mixed(&self, b: &mut Body, [c, a, r]: &[Expr; 3], ty: TypeId) -> Expr {
        if !b.t.types.scalar_of(ty).is_some_and(Scalar::is_bool) {
            return Expr::call("select", &[r.clone(), a.clone(), c.clone()]);
        }
        let c = b.plain(c.clone(), ty);
        let both = |x: &Expr, y: &Expr| Expr::binary("&", Level::And, x, y);
        Expr::binary("|", Level::Or, &both(&c, a), &both(&c.not(), r))
    }

    /// A bit test for special numbers; a half is tested as a float.
    fn is_special(&self, t: &mut Writer, name: &'static str, a: &Expr, of: TypeId) -> Expr {
        let size = t.types.components(of).unwrap_or(1);
        let wide = t.types.vector(Scalar::F32, size);
        let a = t.converted(a, of, wide);
        Expr::call(self.help(t, name, wide), &[a])
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
        let Some(first) = of.first() else { return self.is_helper(t, function) };
        let scalar = t.types.scalar_of(*first)?;
        let is_scalar = t.types.components(*first) == Some(1);
        let product = |a: &Expr, b: &Expr| Expr::binary("*", Level::Product, a, b);
        Some(match function {
            MathFn::Abs if scalar.kind == ScalarKind::Uint => args[0].clone(),
            MathFn::Sign if scalar.is_int() => self.sign_of_integer(t, &args[0], scalar, ty),
            MathFn::Radians => product(&args[0], &self.number(t, scalar, 1f32.to_radians())),
            MathFn::Degrees => product(&args[0], &self.number(t, scalar, 1f32.to_degrees())),
            MathFn::Mod => {
                let args = alike(t, args, of, ty);
                Expr::call(self.help(t, "mod", ty), &args)
            }
            MathFn::IsNan => self.is_special(t, "is_nan", &args[0], *first),
            MathFn::IsInf => self.is_special(t, "is_inf", &args[0], *first),
            MathFn::PackHalf2x16 => Expr::call("as_type<uint>", &[Expr::call("half2", args)]),
            MathFn::UnpackHalf2x16 => Expr::call("float2", &[Expr::call("as_type<half2>", args)]),
            MathFn::Length if is_scalar => Expr::call("abs", args),
            MathFn::Distance if is_scalar => Expr::call("abs", &[Expr::binary("-", Level::Sum, &args[0], &args[1])]),
            MathFn::Dot if is_scalar => product(&args[0], &args[1]),
            MathFn::Normalize if is_scalar => Expr::call("sign", args),
            MathFn::FaceForward | MathFn::Reflect | MathFn::Refract if is_scalar => {
                Expr::call(self.help(t, of_scalars(function)?, *first), args)
            }
            MathFn::MatrixCompMult => Expr::call(self.help_comp_mult(t, *first), args),
            MathFn::Inverse => {
                let Type::Matrix { columns, .. } = t.types.get(*first) else { return None };
                Expr::call(t.help_invert(*first, columns), args)
            }
            MathFn::PackDouble2x32 | MathFn::UnpackDouble2x32 => t.lacking("numbers of 64 bits with a fraction"),
            MathFn::BitCount => self.count(t, "popcount", args, *first, ty),
            MathFn::CountLeadingZeros => self.count(t, "clz", args, *first, ty),
            MathFn::CountTrailingZeros => self.count(t, "ctz", args, *first, ty),
            MathFn::BitfieldReverse => self.count(t, "reverse_bits", args, *first, ty),
            MathFn::FindLsb | MathFn::FindMsb => self.find(t, function, args, *first, ty),
            _ if takes_one_type(function) => {
                let args = alike(t, args, of, ty);
                Expr::call(intrinsic(function)?, &args)
            }
            _ => Expr::call(intrinsic(function)?, args),
        })
    }

    fn is_helper(&self, t: &mut Writer, function: MathFn) -> Option<Expr> {
        if function != MathFn::IsHelper {
            return None;
        }
        self.needs(t, Part::HelperThreads);
        Some(Expr::primary("simd_is_helper_thread()"))
    }

    fn sign_of_integer(&self, t: &mut Writer, a: &Expr, scalar: Scalar, ty: TypeId) -> Expr {
        let one = t.literal(scalar, 1);
        let one = self.all_of(t, ty, one);
        if scalar.kind == ScalarKind::Uint {
            return Expr::call("min", &[a.clone(), one]);
        }
        let minus_one = t.literal(scalar, u64::MAX >> (64 - u32::from(scalar.width)));
        let minus_one = self.all_of(t, ty, minus_one);
        Expr::call("clamp", &[a.clone(), minus_one, one])
    }

    /// The number itself, or a vector of it.
    fn all_of(&self, t: &mut Writer, ty: TypeId, part: Expr) -> Expr {
        if t.types.components(ty) == Some(1) { part } else { self.splat(t, ty, &part) }
    }

    /// A bit function, whose result has the operand's type.
    fn count(&self, t: &mut Writer, name: &str, args: &[Expr], of: TypeId, ty: TypeId) -> Expr {
        t.converted(&Expr::call(name, args), of, ty)
    }

    /// The lowest or the highest significant bit; -1 if there is none.
    fn find(&self, t: &mut Writer, function: MathFn, args: &[Expr], of: TypeId, ty: TypeId) -> Expr {
        let Some((scalar, size)) = t.shape(of) else { return t.broken("bits of such types") };
        let numbers = t.types.vector(Scalar::I32, size);
        if function == MathFn::FindMsb && scalar.kind == ScalarKind::Uint {
            let zeros = t.converted(&Expr::call("clz", args), of, ty);
            let last = match t.types.scalar_of(ty) {
                Some(Scalar::U32) => Expr::primary(format!("{}u", scalar.width - 1)),
                _ => Expr::primary((scalar.width - 1).to_string()),
            };
            return Expr::binary("-", Level::Sum, &last, &zeros);
        }
        let name = if function == MathFn::FindMsb { "find_msb" } else { "find_lsb" };
        let found = Expr::call(self.help(t, name, of), args);
        t.converted(&found, numbers, ty)
    }

    pub fn math(&self, b: &mut Body, function: MathFn, args: Values, ty: TypeId) -> Made {
        let (args, of) = b.operands(function, args, Types::U32);
        match function {
            MathFn::Modf => b.two_results("modf", args, ty, ["fraction", "whole"]),
            MathFn::Frexp => b.two_results("frexp", args, ty, ["significand", "exponent"]),
            MathFn::AddCarry | MathFn::SubBorrow => self.carried(b, function, args, &of, ty),
            MathFn::MulExtended => self.wide_product(b, args, &of, ty),
            MathFn::Dot if b.t.types.scalar_of(of[0]).is_some_and(Scalar::is_int) => {
                Made::One(self.integer_dot(b, args, of[0]))
            }
            MathFn::DotInt | MathFn::DotIntAccSat | MathFn::DotPacked | MathFn::DotPackedAccSat => {
                Made::One(self.widened_dot(b, args, &of, ty))
            }
            _ => match self.function_of(b.t, function, &args, &of, ty) {
                Some(made) => Made::One(made),
                None => Made::One(b.t.stand_in("such built-in function")),
            },
        }
    }

    /// An integer dot product, in unsigned arithmetic if it must wrap.
    fn integer_dot(&self, b: &mut Body, args: Vec<Expr>, of: TypeId) -> Expr {
        let Some((scalar, size)) = b.t.shape(of) else { return b.t.broken("a product of no numbers") };
        if !scalar.is_signed() {
            let sum = b.integer_dot(args, of);
            return narrowed(b.t, sum, (scalar, 1));
        }
        let words = b.t.types.vector(unsigned(scalar), size);
        let args = args.iter().map(|arg| as_unsigned(b.t, arg, (scalar, size))).collect();
        let sum = b.integer_dot(args, words);
        as_signed(b.t, sum, (scalar, 1))
    }

    /// The sum of the products of integers of any signedness, or of the bytes of words, in the result's type; a third
    /// operand is added with saturation.
    fn widened_dot(&self, b: &mut Body, mut args: Vec<Expr>, of: &[TypeId], ty: TypeId) -> Expr {
        let added = args.get(2).cloned();
        args.truncate(2);
        let Some((result, _)) = b.t.shape(ty) else { return b.t.broken("a product of no numbers") };
        let mut wide = ty;
        for (arg, of) in args.iter_mut().zip(of) {
            let Some((scalar, size)) = b.t.shape(*of) else { return b.t.broken("a product of no numbers") };
            let (from, size) = match size {
                1 => (b.t.types.vector(Scalar { width: 8, ..scalar }, 4), 4),
                _ => (*of, size),
            };
            wide = b.t.types.vector(result, size);
            let parts = b.t.reinterpreted(arg, *of, from);
            *arg = b.t.converted(&parts, from, wide);
        }
        let sum = self.integer_dot(b, args, wide);
        match added {
            Some(added) => Expr::call("addsat", &[sum, added]),
            None => sum,
        }
    }

    /// A sum and its carry, or a difference and its borrow.
    fn carried(&self, b: &mut Body, function: MathFn, args: Vec<Expr>, of: &[TypeId], ty: TypeId) -> Made {
        let [first, second] = b.members_of(ty);
        let [x, y] = [0, 1].map(|at| b.plain(args[at].clone(), of[at]));
        let bools = b.t.types.components(of[0]).map_or(Types::BOOL, |size| b.t.types.vector(Scalar::BOOL, size));
        let (name, value) = match function {
            MathFn::AddCarry => ("sum", self.binary(b.t, BinaryOp::Add, [&x, &y], [of[0], of[1]])),
            _ => ("difference", self.binary(b.t, BinaryOp::Sub, [&x, &y], [of[0], of[1]])),
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
        let [low, high] = b.members_of(ty);
        let [x, y] = [0, 1].map(|at| b.plain(args[at].clone(), of[at]));
        let high = b.name("high", high, &Expr::call("mulhi", &[x.clone(), y.clone()]));
        let product = self.binary(b.t, BinaryOp::Mul, [&x, &y], [of[0], of[1]]);
        Made::Pair([b.name("low", low, &product), high])
    }
}

/// A scalar and the number of components.
type Shape = (Scalar, u8);

/// Arguments of one shape: numbers next to vectors become vectors.
fn alike(t: &mut Writer, args: &[Expr], of: &[TypeId], ty: TypeId) -> Vec<Expr> {
    let size = t.types.components(ty).unwrap_or(1);
    let mut made = Vec::with_capacity(args.len());
    for (arg, of) in args.iter().zip(of) {
        made.push(match t.shape(*of) {
            Some((scalar, 1)) if size > 1 => Expr::call(&t.vector_name(scalar, size), std::slice::from_ref(arg)),
            _ => arg.clone(),
        });
    }
    made
}

/// Returns true if overflow of such numbers is undefined in the language: of signed ones. Narrow scalars are computed
/// as `int`, which the result fits in.
fn wraps((scalar, size): Shape) -> bool {
    scalar.is_signed() && (scalar.width >= 32 || size > 1)
}

/// A sum, difference or product that wraps.
fn wrapped(t: &mut Writer, (op, level): (&str, Level), both: [&Expr; 2], of: [Shape; 2]) -> Expr {
    let shape = (of[0].0, of[0].1.max(of[1].1));
    if !wraps(shape) || both.iter().all(|value| is_literal(value)) {
        // The product of two such numbers does not fit in an `int`.
        let overflows = op == "*" && shape == (Scalar::U16, 1);
        let left = if overflows { Expr::call("uint", std::slice::from_ref(both[0])) } else { both[0].clone() };
        return narrowed(t, Expr::binary(op, level, &left, both[1]), shape);
    }
    let [a, b] = [0, 1].map(|at| as_unsigned(t, both[at], of[at]));
    let inner = Expr::binary(op, level, &a, &b);
    as_signed(t, inner, shape)
}

/// The result converted to its type, if the language computes with wider numbers.
fn narrowed(t: &mut Writer, value: Expr, (scalar, size): Shape) -> Expr {
    match scalar.is_int() && scalar.width < 32 && size == 1 {
        true => Expr::call(&t.vector_name(scalar, 1), &[value]),
        false => value,
    }
}

/// Returns true for a whole number that is not negative.
fn is_literal(value: &Expr) -> bool {
    let digits = value.text.trim_end_matches('l');
    !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit())
}

/// A signed number as the unsigned one with the same bits.
pub(super) fn as_unsigned(t: &mut Writer, value: &Expr, (scalar, size): Shape) -> Expr {
    if let Some(inner) = &value.unsigned {
        return (**inner).clone();
    }
    let name = t.vector_name(unsigned(scalar), size);
    let signed = t.vector_name(scalar, size);
    let parts = value.text.strip_prefix(&signed).and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
    let with_sign =
        |part: &str| part.strip_suffix('l').map_or_else(|| format!("{part}u"), |digits| format!("{digits}ul"));
    match parts {
        _ if is_literal(value) => Expr::primary(with_sign(&value.text)),
        Some(parts) if scalar.width >= 32 && parts.split(", ").all(|part| is_literal(&Expr::primary(part))) => {
            let parts: Vec<Expr> = parts.split(", ").map(|part| Expr::primary(with_sign(part))).collect();
            Expr::call(&name, &parts)
        }
        _ => Expr::call(&name, std::slice::from_ref(value)),
    }
}

/// An unsigned number as the signed one with the same bits.
pub(super) fn as_signed(t: &mut Writer, inner: Expr, (scalar, size): Shape) -> Expr {
    let value = Expr::call(&t.vector_name(scalar, size), std::slice::from_ref(&inner));
    Expr { unsigned: Some(Box::new(inner)), ..value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Options;
    use crate::backend::source::msl::MSL;
    use crate::ir::Module;
    use crate::profile::Profile;

    /// The text of an expression that needs a writer.
    fn text(make: impl FnOnce(&mut Writer) -> Expr) -> String {
        let module = Module::default();
        let options = Options::new(Profile::named("msl-3.0").unwrap());
        make(&mut Writer::new(&module, &options)).text
    }

    fn binary(op: BinaryOp, scalar: Scalar, [a, b]: [&str; 2]) -> String {
        text(|t| {
            let ty = t.types.scalar(scalar);
            MSL.binary(t, op, [&Expr::primary(a), &Expr::primary(b)], [ty, ty])
        })
    }

    #[test]
    fn signed_numbers_wrap() {
        assert_eq!(binary(BinaryOp::Add, Scalar::I32, ["i", "1"]), "int(uint(i) + 1u)");
        assert_eq!(binary(BinaryOp::Mul, Scalar::I64, ["i", "j"]), "long(ulong(i) * ulong(j))");
        assert_eq!(binary(BinaryOp::Add, Scalar::U32, ["i", "1u"]), "i + 1u");
        assert_eq!(binary(BinaryOp::Add, Scalar::F32, ["x", "y"]), "x + y");
        assert_eq!(binary(BinaryOp::Sub, Scalar::I32, ["2", "3"]), "2 - 3");
        let chain = text(|t| {
            let [i, j, one] = ["i", "j", "1"].map(Expr::primary);
            let sum = MSL.binary(t, BinaryOp::Add, [&i, &one], [Types::I32; 2]);
            MSL.binary(t, BinaryOp::Mul, [&sum, &j], [Types::I32; 2])
        });
        assert_eq!(chain, "int((uint(i) + 1u) * uint(j))");
    }

    #[test]
    fn narrow_numbers_stay_narrow() {
        assert_eq!(binary(BinaryOp::Add, Scalar::I16, ["a", "b"]), "short(a + b)");
        assert_eq!(binary(BinaryOp::Mul, Scalar::U16, ["a", "b"]), "ushort(uint(a) * b)");
        assert_eq!(binary(BinaryOp::Shl, Scalar::U8, ["a", "b"]), "uchar(a << b)");
    }

    #[test]
    fn functions_take_operands_of_one_type() {
        let least = text(|t| {
            let (v, x) = (t.types.vector(Scalar::F32, 3), Types::F32);
            let args = ["v", "0.5"].map(Expr::primary);
            MSL.function_of(t, MathFn::Max, &args, &[v, x], v).unwrap()
        });
        assert_eq!(least, "max(v, float3(0.5))");
        let highest =
            text(|t| MSL.function_of(t, MathFn::FindMsb, &[Expr::primary("x")], &[Types::U32], Types::U32).unwrap());
        assert_eq!(highest, "31u - clz(x)");
        let highest =
            text(|t| MSL.function_of(t, MathFn::FindMsb, &[Expr::primary("x")], &[Types::U32], Types::I32).unwrap());
        assert_eq!(highest, "31 - int(clz(x))");
    }
}
