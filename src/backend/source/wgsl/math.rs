//! Arithmetic: operators (WGSL 8.6 to 8.9) and built-in functions (WGSL 17).

use super::Wgsl;
use super::constants::typed;
use crate::backend::source::constants::component;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::{Body, Made};
use crate::backend::source::operators::operator;
use crate::backend::source::writer::Writer;
use crate::ir::{
    BinaryOp, ConstId, LocalId, MathFn, Op, Scalar, ScalarKind, Type, TypeId, Types, UnaryOp, Value, Values,
};

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
        MathFn::Asinh => "asinh",
        MathFn::Acosh => "acosh",
        MathFn::Atanh => "atanh",
        MathFn::Pow => "pow",
        MathFn::Exp => "exp",
        MathFn::Log => "log",
        MathFn::Exp2 => "exp2",
        MathFn::Log2 => "log2",
        MathFn::Sqrt => "sqrt",
        MathFn::InverseSqrt => "inverseSqrt",
        MathFn::Abs => "abs",
        MathFn::Sign => "sign",
        MathFn::Floor => "floor",
        MathFn::Trunc => "trunc",
        // Both round halves to even, which GLSL allows.
        MathFn::Round | MathFn::RoundEven => "round",
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
        MathFn::PackSnorm4x8 => "pack4x8snorm",
        MathFn::UnpackSnorm4x8 => "unpack4x8snorm",
        MathFn::PackUnorm4x8 => "pack4x8unorm",
        MathFn::UnpackUnorm4x8 => "unpack4x8unorm",
        MathFn::PackSnorm2x16 => "pack2x16snorm",
        MathFn::UnpackSnorm2x16 => "unpack2x16snorm",
        MathFn::PackUnorm2x16 => "pack2x16unorm",
        MathFn::UnpackUnorm2x16 => "unpack2x16unorm",
        MathFn::PackHalf2x16 => "pack2x16float",
        MathFn::UnpackHalf2x16 => "unpack2x16float",
        MathFn::Length => "length",
        MathFn::Distance => "distance",
        MathFn::Dot => "dot",
        MathFn::Cross => "cross",
        MathFn::Normalize => "normalize",
        MathFn::FaceForward => "faceForward",
        MathFn::Reflect => "reflect",
        MathFn::Refract => "refract",
        MathFn::Transpose => "transpose",
        MathFn::Determinant => "determinant",
        MathFn::Any => "any",
        MathFn::All => "all",
        MathFn::BitfieldExtract => "extractBits",
        MathFn::BitfieldInsert => "insertBits",
        MathFn::BitfieldReverse => "reverseBits",
        MathFn::BitCount => "countOneBits",
        MathFn::FindLsb => "firstTrailingBit",
        MathFn::FindMsb => "firstLeadingBit",
        MathFn::CountLeadingZeros => "countLeadingZeros",
        MathFn::CountTrailingZeros => "countTrailingZeros",
        MathFn::DerivX => "dpdx",
        MathFn::DerivY => "dpdy",
        MathFn::DerivWidth => "fwidth",
        MathFn::DerivXFine => "dpdxFine",
        MathFn::DerivYFine => "dpdyFine",
        MathFn::DerivWidthFine => "fwidthFine",
        MathFn::DerivXCoarse => "dpdxCoarse",
        MathFn::DerivYCoarse => "dpdyCoarse",
        MathFn::DerivWidthCoarse => "fwidthCoarse",
        _ => return None,
    })
}

/// Bit functions, whose result has the operand's type.
const fn is_of_bits(function: MathFn) -> bool {
    matches!(
        function,
        MathFn::BitfieldReverse
            | MathFn::BitCount
            | MathFn::FindLsb
            | MathFn::FindMsb
            | MathFn::CountLeadingZeros
            | MathFn::CountTrailingZeros
    )
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
            | MathFn::Step
            | MathFn::SmoothStep
            | MathFn::Fma
            | MathFn::Ldexp
    )
}

impl Wgsl {
    pub fn unary(&self, t: &mut Writer, op: UnaryOp, a: &Expr, of: TypeId) -> Expr {
        let Some((scalar, size)) = t.shape(of) else {
            // Matrices have no negation.
            let by = t.types.scalar_of(of).unwrap_or(Scalar::F32);
            let by = self.number(t, by, -1.0);
            return Expr::binary("*", Level::Product, a, &by);
        };
        match op {
            UnaryOp::Not if scalar.is_bool() => a.not(),
            UnaryOp::LogicalNot => a.not(),
            UnaryOp::Not => Expr::unary("~", &typed(a, scalar)),
            UnaryOp::Neg if scalar.kind == ScalarKind::Uint => {
                let zero = t.zero(of);
                let zero = if size == 1 { zero } else { Expr::call(&t.type_name(of), &[]) };
                Expr::binary("-", Level::Sum, &zero, a)
            }
            UnaryOp::Neg => Expr::unary("-", &typed(a, scalar)),
        }
    }

    /// An operator; all of them need their operands once.
    pub fn binary(&self, t: &mut Writer, op: BinaryOp, [a, b]: [&Expr; 2], of: [TypeId; 2]) -> Expr {
        let (text, level) = operator(op);
        let is_matrix = |t: &Writer, ty| matches!(t.types.get(ty), Type::Matrix { .. });
        let (Some(left), Some(right)) = (t.shape(of[0]), t.shape(of[1])) else {
            return match op {
                BinaryOp::Div | BinaryOp::Mul if is_matrix(t, of[0]) && is_matrix(t, of[1]) => {
                    Expr::call(&self.help_by_column(t, text, of[0]), &[a.clone(), b.clone()])
                }
                _ => infix((text, level), a, b),
            };
        };
        let is_bool = left.0.is_bool();
        let size = left.1.max(right.1);
        match op {
            BinaryOp::OuterProduct => {
                let ty = t.types.matrix(left.0, right.1, left.1);
                Expr::call(&self.help_outer_product(t, ty), &[a.clone(), b.clone()])
            }
            // Component by component, of vectors.
            BinaryOp::And | BinaryOp::LogicalAnd if is_bool && size > 1 => Expr::binary("&", Level::And, a, b),
            BinaryOp::Or | BinaryOp::LogicalOr if is_bool && size > 1 => Expr::binary("|", Level::Or, a, b),
            BinaryOp::And if is_bool => Expr::binary("&&", Level::LogicalAnd, a, b),
            BinaryOp::Or if is_bool => Expr::binary("||", Level::LogicalOr, a, b),
            BinaryOp::Xor if is_bool => infix(("!=", Level::Equality), a, b),
            BinaryOp::Shl | BinaryOp::Shr => {
                let words = t.types.vector(Scalar::U32, right.1);
                let by = t.converted(b, of[1], words);
                infix((text, level), &typed(a, left.0), &by)
            }
            _ => infix((text, level), a, b),
        }
    }

    /// Operands of an operator without values that the language rejects at shader creation: constants get a name if all
    /// operands are constant, or if one of them is invalid.
    pub fn guarded(
        &self,
        b: &mut Body,
        op: BinaryOp,
        [x, y]: [Value; 2],
        [mut left, mut right]: [Expr; 2],
    ) -> [Expr; 2] {
        let [left_ty, right_ty] = [x, y].map(|value| b.type_of(value));
        let is_int = b.t.types.scalar_of(left_ty).is_some_and(Scalar::is_int);
        let is_computed = !matches!(
            op,
            BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::LogicalAnd
                | BinaryOp::LogicalOr
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
        );
        if is_computed && self.is_known(b, x) && self.is_known(b, y) {
            left = self.at_run_time(b, left, left_ty);
        }
        let is_wrong = |bits: u64| match op {
            BinaryOp::Div | BinaryOp::Rem => is_int && bits == 0,
            BinaryOp::Shl | BinaryOp::Shr => bits > 31,
            _ => false,
        };
        if numbers(b, y).is_some_and(|all| all.into_iter().any(is_wrong)) {
            right = self.at_run_time(b, right, right_ty);
        }
        [left, right]
    }

    /// A value that the language does not compute at shader creation.
    fn at_run_time(&self, b: &mut Body, value: Expr, ty: TypeId) -> Expr {
        let value = b.t.types.scalar_of(ty).map_or(value.clone(), |scalar| typed(&value, scalar));
        b.changing("known", ty, &value)
    }

    /// Returns true if a name can replace a variable: compilers that look through names reject indices that are out of
    /// range.
    pub fn can_name(&self, b: &mut Body, local: LocalId, value: Value) -> bool {
        let Some(id) = self.constant_of(b, value) else { return true };
        if b.uses.is_index(b.f, local) {
            return false;
        }
        b.t.wgsl.named_constants.insert(local, id);
        true
    }

    /// The constant that a value is, or that its name represents.
    fn constant_of(&self, b: &Body, value: Value) -> Option<ConstId> {
        match value {
            Value::Const(id) => Some(id),
            Value::Inst(id) => match b.f.insts[id].op {
                Op::Load(Value::Local(local)) => b.t.wgsl.named_constants.get(&local).copied(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if a value is an expression of constants.
    fn is_known(&self, b: &Body, value: Value) -> bool {
        const DEPTH: u32 = 8;
        self.is_known_to(b, value, DEPTH)
    }

    fn is_known_to(&self, b: &Body, value: Value, depth: u32) -> bool {
        crate::limits::spend(1);
        match value {
            _ if self.constant_of(b, value).is_some_and(|id| self.is_constant(b.t, id)) => true,
            Value::Inst(id) => {
                let has_name = matches!(b.values.get(&id), Some(Made::One(made)) if made.is_plain());
                let is_pure = matches!(
                    b.f.insts[id].op,
                    Op::Unary(..)
                        | Op::Binary(..)
                        | Op::Math(..)
                        | Op::Convert(_)
                        | Op::Bitcast(_)
                        | Op::Select { .. }
                        | Op::Construct(_)
                        | Op::Splat(_)
                        | Op::Extract { .. }
                        | Op::Shuffle { .. }
                );
                let mut all = depth > 0 && is_pure && !has_name;
                if all {
                    b.f.insts[id].op.each_operand(b.f, |operand| all &= self.is_known_to(b, operand, depth - 1));
                }
                all
            }
            _ => false,
        }
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
        let first = *of.first()?;
        let scalar = t.types.scalar_of(first)?;
        let is_scalar = t.types.components(first) == Some(1);
        Some(match function {
            MathFn::Abs if scalar.kind == ScalarKind::Uint => args[0].clone(),
            MathFn::Sign if scalar.kind == ScalarKind::Uint => {
                let one = t.literal(scalar, 1);
                let one = self.all_of(t, ty, one);
                Expr::call("min", &[args[0].clone(), one])
            }
            MathFn::Mod => {
                let args = self.alike(t, args, of, ty);
                Expr::call(&self.help(t, "modulo", ty), &args)
            }
            MathFn::IsNan => self.is_special(t, "is_nan", &args[0], first),
            MathFn::IsInf => self.is_special(t, "is_inf", &args[0], first),
            MathFn::Dot if is_scalar => Expr::binary("*", Level::Product, &args[0], &args[1]),
            MathFn::Normalize if is_scalar => Expr::call("sign", args),
            MathFn::FaceForward if is_scalar => Expr::call(&self.help(t, "face_forward", first), args),
            MathFn::Reflect if is_scalar => Expr::call(&self.help(t, "reflected", first), args),
            MathFn::Refract if is_scalar => Expr::call(&self.help(t, "refracted", first), args),
            MathFn::MatrixCompMult => Expr::call(&self.help_by_column(t, "*", first), args),
            MathFn::Inverse => Expr::call(&self.help_invert(t, first)?, args),
            MathFn::DotPacked => return self.packed_dot(t, args, of, ty),
            _ if is_of_bits(function) => {
                let args: Vec<Expr> = args.iter().map(|arg| typed(arg, scalar)).collect();
                t.converted(&Expr::call(intrinsic(function)?, &args), first, ty)
            }
            _ if takes_one_type(function) => {
                let args = self.alike(t, args, of, ty);
                Expr::call(intrinsic(function)?, &args)
            }
            _ => Expr::call(intrinsic(function)?, args),
        })
    }

    /// The number itself, or a vector of it.
    pub fn all_of(&self, t: &mut Writer, ty: TypeId, part: Expr) -> Expr {
        if t.types.components(ty) == Some(1) { part } else { Expr::call(&t.type_name(ty), &[part]) }
    }

    /// Arguments of one shape: numbers next to vectors become vectors.
    fn alike(&self, t: &mut Writer, args: &[Expr], of: &[TypeId], ty: TypeId) -> Vec<Expr> {
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

    /// A bit test for special numbers; a half is tested as a float.
    fn is_special(&self, t: &mut Writer, name: &'static str, a: &Expr, of: TypeId) -> Expr {
        let size = t.types.components(of).unwrap_or(1);
        let wide = t.types.vector(Scalar::F32, size);
        let a = t.converted(a, of, wide);
        Expr::call(&self.help(t, name, wide), &[a])
    }

    /// The sum of the products of the bytes of two words.
    fn packed_dot(&self, t: &mut Writer, args: &[Expr], of: &[TypeId], ty: TypeId) -> Option<Expr> {
        let kinds = [t.types.scalar_of(of[0])?.kind, t.types.scalar_of(of[1])?.kind];
        let (name, given) = match kinds {
            [ScalarKind::Uint, ScalarKind::Uint] => ("dot4U8Packed", Types::U32),
            [ScalarKind::Sint, ScalarKind::Sint] => ("dot4I8Packed", Types::I32),
            _ => {
                t.unsupported("dot products of bytes with and without signs");
                return Some(Expr::primary("0"));
            }
        };
        let words: Vec<Expr> = args.iter().zip(of).map(|(arg, of)| t.reinterpreted(arg, *of, Types::U32)).collect();
        Some(t.reinterpreted(&Expr::call(name, &words), given, ty))
    }

    pub fn math(&self, b: &mut Body, function: MathFn, args: Values, ty: TypeId) -> Made {
        let f = b.f;
        let list = f.values(args);
        let (mut args, of) = b.operands(function, args, Types::U32);
        self.guard_arguments(b, function, list, &mut args, &of);
        match function {
            MathFn::Modf => self.two_parts(b, "modf", args, ["fract", "whole"]),
            MathFn::Frexp => self.two_parts(b, "frexp", args, ["fract", "exp"]),
            MathFn::AddCarry | MathFn::SubBorrow => self.carried(b, function, args, &of, ty),
            MathFn::MulExtended => self.wide_product(b, args, &of, ty),
            _ => match self.function_of(b.t, function, &args, &of, ty) {
                Some(made) => Made::One(made),
                None => Made::One(b.t.stand_in("such built-in function")),
            },
        }
    }

    /// Gives constants a name if all arguments of a function are constant, or if their order or size is invalid.
    fn guard_arguments(&self, b: &mut Body, function: MathFn, list: &[Value], args: &mut [Expr], of: &[TypeId]) {
        let pair = match function {
            MathFn::Clamp => Some((1, 2)),
            MathFn::SmoothStep => Some((0, 1)),
            MathFn::BitfieldExtract => Some((1, 2)),
            MathFn::BitfieldInsert => Some((2, 3)),
            _ => None,
        };
        let is_wrong = pair.is_some_and(|(low, high)| match [list[low], list[high]].map(|value| numbers(b, value)) {
            [Some(low), Some(high)] => {
                let scalar = b.t.types.scalar_of(of[usize::from(function != MathFn::SmoothStep)]);
                low.iter().cycle().zip(&high).any(|(low, high)| match function {
                    MathFn::BitfieldExtract | MathFn::BitfieldInsert => low + high > 32,
                    _ => !is_below(scalar, *low, *high, function == MathFn::Clamp),
                })
            }
            _ => false,
        });
        let is_known = !list.is_empty() && list.iter().all(|value| self.is_known(b, *value));
        let is_special = function == MathFn::Ldexp && numbers(b, list[1]).is_some();
        if let Some((low, _)) = pair.filter(|_| is_wrong) {
            let ty =
                if list.len() > 2 && low + 2 == list.len() && function != MathFn::Clamp { Types::U32 } else { of[low] };
            args[low] = self.at_run_time(b, args[low].clone(), ty);
        } else if is_special {
            args[1] = self.at_run_time(b, args[1].clone(), of[1]);
        } else if is_known {
            args[0] = self.at_run_time(b, args[0].clone(), of[0]);
        }
    }

    /// A function that returns its results in one of the language's structs.
    fn two_parts(&self, b: &mut Body, function: &str, args: Vec<Expr>, parts: [&str; 2]) -> Made {
        // The type of the struct has no name.
        let whole = Expr::primary(b.named("parts"));
        b.define_as(&whole.text, &Expr::call(function, &args));
        Made::Pair(parts.map(|part| whole.part(&format!(".{part}"))))
    }

    /// A sum and its carry, or a difference and its borrow.
    fn carried(&self, b: &mut Body, function: MathFn, args: Vec<Expr>, of: &[TypeId], ty: TypeId) -> Made {
        let [first, second] = b.members_of(ty);
        let [x, y] = [0, 1].map(|at| b.plain(args[at].clone(), of[at]));
        let (name, op, carry) = match function {
            MathFn::AddCarry => ("sum", "+", "carry"),
            _ => ("difference", "-", "borrow"),
        };
        let value = b.name(name, first, &Expr::binary(op, Level::Sum, &x, &y));
        let test = match function {
            MathFn::AddCarry => Expr::binary("<", Level::Relation, &value, &x),
            _ => Expr::binary("<", Level::Relation, &x, &y),
        };
        let converted = Expr::call(&b.t.type_name(second), &[test]);
        Made::Pair([value, b.name(carry, second, &converted)])
    }

    /// The low and the high half of a product.
    fn wide_product(&self, b: &mut Body, args: Vec<Expr>, of: &[TypeId], ty: TypeId) -> Made {
        let [low, high] = b.members_of(ty);
        let [x, y] = [0, 1].map(|at| b.plain(args[at].clone(), of[at]));
        let product = Expr::call(&self.help_high_product(b.t, of[0]), &[x.clone(), y.clone()]);
        let high = b.name("high", high, &product);
        Made::Pair([b.name("low", low, &Expr::binary("*", Level::Product, &x, &y)), high])
    }

    /// A select for each component separately, or between scalars and vectors.
    pub fn select(&self, [condition, accept, reject]: &[Expr; 3]) -> Expr {
        call("select", &[reject.clone(), accept.clone(), condition.clone()])
    }

    /// The first components of a value, by swizzle letters.
    pub fn leading(&self, whole: &Expr, size: u8, wanted: u8) -> Expr {
        if size == wanted {
            return whole.clone();
        }
        let letters: String = (0..u32::from(wanted)).map(|n| component(n)[1..].to_string()).collect();
        whole.part(&format!(".{letters}"))
    }
}

/// An operator: comparisons of comparisons, and shifts of shifts, need parentheses.
pub(super) fn infix((op, level): (&str, Level), a: &Expr, b: &Expr) -> Expr {
    let compares = |level| matches!(level, Level::Relation | Level::Equality);
    let is_chained =
        |side: &Expr| compares(level) && compares(side.level) || level == Level::Shift && side.level == level;
    let [a, b] = [a, b].map(|side| if is_chained(side) { side.grouped() } else { side.clone() });
    Expr::binary(op, level, &a, &b)
}

/// A call whose arguments may be comparisons: `a < b, c > d` looks like a list of types.
pub(super) fn call(function: &str, args: &[Expr]) -> Expr {
    let compares = |arg: &Expr| matches!(arg.level, Level::Relation | Level::LogicalAnd | Level::LogicalOr);
    if args.len() < 2 || !args.iter().any(|arg| compares(arg) && arg.text.contains('<')) {
        return Expr::call(function, args);
    }
    let args: Vec<Expr> = args
        .iter()
        .map(|arg| match compares(arg) && args.iter().any(|other| other.text.contains('>')) {
            true => arg.grouped(),
            false => arg.clone(),
        })
        .collect();
    Expr::call(function, &args)
}

/// The bits of the components of a constant.
fn numbers(b: &Body, value: Value) -> Option<Vec<u64>> {
    components(b, super::WGSL.constant_of(b, value)?)
}

fn components(b: &Body, id: ConstId) -> Option<Vec<u64>> {
    use crate::ir::ConstValue;
    let constant = b.t.module.constants.get(id);
    match &constant.value {
        ConstValue::Bits(bits) => Some(vec![*bits]),
        ConstValue::Zero | ConstValue::Undef => Some(vec![0; b.t.types.components(constant.ty)?.into()]),
        ConstValue::Composite(parts) if b.t.types.components(constant.ty).is_some() => {
            parts.iter().map(|part| components(b, *part)?.first().copied()).collect()
        }
        _ => None,
    }
}

/// Returns true if a number is below another, or equal to it if that is allowed.
fn is_below(scalar: Option<Scalar>, low: u64, high: u64, or_same: bool) -> bool {
    let as_float = |bits: u64| match scalar.map(|scalar| (scalar.kind, scalar.width)) {
        Some((ScalarKind::Float, 16)) => half::f16::from_bits(bits as u16).to_f64(),
        Some((ScalarKind::Float, _)) => f64::from(f32::from_bits(bits as u32)),
        Some((ScalarKind::Sint, _)) => f64::from(bits as i32),
        _ => bits as f64,
    };
    let (low, high) = (as_float(low), as_float(high));
    low < high || or_same && low == high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Options;
    use crate::backend::source::wgsl::WGSL;
    use crate::ir::Module;
    use crate::profile::Profile;

    /// The text of an expression that needs a writer.
    fn text(make: impl FnOnce(&mut Writer) -> Expr) -> String {
        let module = Module::default();
        let options = Options::new(Profile::named("wgsl").unwrap());
        make(&mut Writer::new(&module, &options)).text
    }

    #[test]
    fn comparisons_and_shifts_do_not_chain() {
        let [a, b, c] = ["a", "b", "c"].map(Expr::primary);
        let less = infix(("<", Level::Relation), &a, &b);
        assert_eq!(infix(("==", Level::Equality), &less, &c).text, "(a < b) == c");
        let shifted = infix(("<<", Level::Shift), &a, &b);
        assert_eq!(infix((">>", Level::Shift), &shifted, &c).text, "(a << b) >> c");
        assert_eq!(infix(("<", Level::Relation), &shifted, &c).text, "a << b < c");
    }

    #[test]
    fn arguments_do_not_look_like_types() {
        let [a, b, c] = ["a", "b", "c"].map(Expr::primary);
        let (less, more) = (infix(("<", Level::Relation), &a, &b), infix((">", Level::Relation), &b, &c));
        assert_eq!(call("f", &[less.clone(), more]).text, "f((a < b), (b > c))");
        assert_eq!(call("f", &[a, less]).text, "f(a, a < b)");
    }

    #[test]
    fn shifts_are_by_unsigned_numbers() {
        let shift = |a: &str, b: &str, ty| {
            text(|t| WGSL.binary(t, BinaryOp::Shl, [&Expr::primary(a), &Expr::primary(b)], [Types::I32, ty]))
        };
        assert_eq!(shift("x", "3", Types::I32), "x << 3u");
        assert_eq!(shift("1", "n", Types::I32), "1i << u32(n)");
        assert_eq!(shift("x", "n", Types::U32), "x << n");
    }

    #[test]
    fn functions_take_operands_of_one_type() {
        let least = text(|t| {
            let (v, x) = (t.types.vector(Scalar::F32, 3), Types::F32);
            let args = ["v", "0.5"].map(Expr::primary);
            WGSL.function_of(t, MathFn::Max, &args, &[v, x], v).unwrap()
        });
        assert_eq!(least, "max(v, vec3f(0.5))");
        let highest =
            text(|t| WGSL.function_of(t, MathFn::FindMsb, &[Expr::primary("x")], &[Types::U32], Types::I32).unwrap());
        assert_eq!(highest, "i32(firstLeadingBit(x))");
    }

    #[test]
    fn numbers_become_others() {
        let converted = |value: &str, from, to| text(|t| WGSL.converted(t, &Expr::primary(value), from, to));
        assert_eq!(converted("5u", Types::U32, Types::I32), "5");
        assert_eq!(converted("5", Types::I32, Types::U32), "5u");
        assert_eq!(converted("-5", Types::I32, Types::U32), "u32(-5i)");
        assert_eq!(converted("i", Types::I32, Types::U32), "u32(i)");
        assert_eq!(converted("0.5", Types::F32, Types::I32), "i32(0.5f)");
    }
}
