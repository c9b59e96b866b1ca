//! Arithmetic: operators, and built-in functions by the tables of the language.

use super::dialect::{Lanes, is_common};
use super::{Dialect, versions};
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::{Body, Made};
use crate::backend::source::operators::operator;
use crate::backend::source::writer::Writer;
use crate::grammar::{self, Lowering, Shape};
use crate::ir::{BinaryOp, MathFn, Scalar, ScalarKind, TypeId, Types, UnaryOp, Values};

/// The function that compares vectors.
const fn comparison(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Eq => "equal",
        BinaryOp::Ne => "notEqual",
        BinaryOp::Lt => "lessThan",
        BinaryOp::Le => "lessThanEqual",
        BinaryOp::Gt => "greaterThan",
        BinaryOp::Ge => "greaterThanEqual",
        _ => return None,
    })
}

impl Dialect {
    pub fn unary(&self, t: &mut Writer, op: UnaryOp, a: &Expr, of: TypeId) -> Expr {
        match op {
            UnaryOp::Neg => self.opposite(t, a, of),
            UnaryOp::Not => Expr::unary("~", a),
            UnaryOp::LogicalNot if t.types.components(of) == Some(1) => a.not(),
            UnaryOp::LogicalNot => Expr::call("not", std::slice::from_ref(a)),
        }
    }

    /// A negation. NVIDIA's compiler loses its sign in combined minima and maxima of integers, but not that of a
    /// complement plus 1 (docs/verified/nv-flow.md).
    fn opposite(&self, t: &Writer, a: &Expr, of: TypeId) -> Expr {
        let one = match t.types.scalar_of(of).map(|scalar| scalar.kind) {
            Some(ScalarKind::Sint) => "1",
            Some(ScalarKind::Uint) => "1u",
            _ => return Expr::unary("-", a),
        };
        match self.lanes {
            Lanes::Nv => Expr::binary("+", Level::Sum, &Expr::unary("~", a), &Expr::primary(one.to_string())),
            _ => Expr::unary("-", a),
        }
    }

    /// An operator; `None` if its expansion needs the operands more than once.
    pub fn binary(&self, t: &mut Writer, op: BinaryOp, [a, b]: [&Expr; 2], of: [TypeId; 2]) -> Option<Expr> {
        let scalar = t.types.scalar_of(of[0]);
        let size = t.types.components(of[0]).unwrap_or(1);
        let is_bool = scalar.is_some_and(Scalar::is_bool);
        let (text, level) = operator(op);
        let both = [a.clone(), b.clone()];
        Some(match (op, comparison(op)) {
            (BinaryOp::OuterProduct, _) => Expr::call("outerProduct", &both),
            (_, Some(function)) if size > 1 => Expr::call(function, &both),
            (BinaryOp::And | BinaryOp::LogicalAnd, _) if is_bool && size > 1 => {
                self.joined(t, "&", Level::And, both, size)
            }
            (BinaryOp::Or | BinaryOp::LogicalOr, _) if is_bool && size > 1 => {
                self.joined(t, "|", Level::Or, both, size)
            }
            (BinaryOp::Xor, _) if is_bool && size > 1 => Expr::call("notEqual", &both),
            (BinaryOp::And, _) if is_bool => Expr::binary("&&", Level::LogicalAnd, a, b),
            (BinaryOp::Or, _) if is_bool => Expr::binary("||", Level::LogicalOr, a, b),
            (BinaryOp::Xor, _) if is_bool => Expr::binary("!=", Level::Equality, a, b),
            // `%` is undefined for negative numbers and not there for floats.
            (BinaryOp::Rem, _) if scalar.is_some_and(|scalar| scalar.kind != ScalarKind::Uint) => return None,
            (BinaryOp::Sub, _) if self.lanes == Lanes::Nv && matches!(a.text.as_str(), "0" | "0u") => {
                self.opposite(t, b, of[1])
            }
            (BinaryOp::Mul, _) if t.types.components(of[0]).is_none() => Expr::call("matrixCompMult", &both),
            _ => Expr::binary(text, level, a, b),
        })
    }

    /// Combines bool vectors with a bitwise operator.
    fn joined(&self, t: &mut Writer, op: &str, level: Level, both: [Expr; 2], size: u8) -> Expr {
        let words = t.vector_name(Scalar::U32, size);
        let [a, b] = both.map(|value| Expr::call(&words, &[value]));
        let joined = Expr::binary(op, level, &a, &b);
        let bools = t.vector_name(Scalar::BOOL, size);
        Expr::call(&bools, &[joined])
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
        let is_unsigned = scalar.is_some_and(|scalar| scalar.kind == ScalarKind::Uint);
        let is_int = scalar.is_some_and(Scalar::is_int);
        match function {
            MathFn::Abs if is_unsigned => return args.first().cloned(),
            MathFn::Sign if is_unsigned => {
                let one = t.literal(scalar?, 1);
                return Some(Expr::call("min", &[args[0].clone(), one]));
            }
            MathFn::CountLeadingZeros | MathFn::CountTrailingZeros => return self.zeros(t, function, args, of[0], ty),
            MathFn::Dot if is_int => return None,
            _ => {}
        }
        let shape = of.first().and_then(|of| Shape::of(&t.types, *of));
        let row = row_of(function, shape, of.len())?;
        let Some(brings) = self.brings([row.extensions, row.earlier], (row.core, row.es)) else {
            let since = self.before((row.core, row.es));
            return Some(t.lacking(&format!("function `{}`{since}", row.name)));
        };
        // The types' own uses enable their extensions.
        let is_narrow = scalar.is_some_and(|scalar| !matches!(scalar.width, 1 | 32));
        if !is_narrow && let Some(extension) = self.preferred(brings) {
            t.need(extension);
        }
        let call = Expr::call(row.name, args);
        Some(match function {
            MathFn::BitCount | MathFn::FindLsb | MathFn::FindMsb => self.bits_as(t, call, ty),
            _ => call,
        })
    }

    /// Bit-counting functions, whose result is `int` in the language.
    fn bits_as(&self, t: &mut Writer, call: Expr, ty: TypeId) -> Expr {
        match t.shape(ty) {
            Some((scalar, _)) if scalar == Scalar::I32 => call,
            Some((scalar, size)) => {
                let name = t.vector_name(scalar, size);
                Expr::call(&name, &[call])
            }
            None => call,
        }
    }

    /// Zeros above the highest or below the lowest set bit; 32 for zero.
    fn zeros(&self, t: &mut Writer, function: MathFn, args: &[Expr], of: TypeId, ty: TypeId) -> Option<Expr> {
        let (scalar, size) = t.shape(of)?;
        if scalar.width != 32 {
            return None;
        }
        let words = t.vector_name(Scalar::U32, size);
        let word = match scalar.kind {
            ScalarKind::Uint => args[0].clone(),
            _ => Expr::call(&words, args),
        };
        if function == MathFn::CountLeadingZeros {
            let highest = Expr::call("findMSB", &[word]);
            let below = Expr::binary("-", Level::Sum, &Expr::primary("31"), &highest);
            return Some(self.bits_as(t, below, ty));
        }
        // -1 is the largest as an unsigned number.
        let lowest = Expr::call("findLSB", &[word]);
        let lowest = Expr::call(&words, &[lowest]);
        let least = Expr::call("min", &[lowest, Expr::primary("32u")]);
        match t.types.scalar_of(ty) {
            Some(Scalar::U32) => Some(least),
            _ => {
                let name = t.type_name(ty);
                Some(Expr::call(&name, &[least]))
            }
        }
    }
}

/// The row of a built-in function for such a first argument.
fn row_of(function: MathFn, shape: Option<Shape>, args: usize) -> Option<&'static grammar::Overload> {
    let all = grammar::FUNCTIONS.iter().flat_map(|item| item.overloads);
    let is_it = |row: &&grammar::Overload| {
        is_common(row) && row.lowering == Lowering::Math(function) && row.params.len() >= args
    };
    let takes = |row: &&grammar::Overload| {
        row.params.first().is_none_or(|param| match param.ty {
            grammar::TypeExpr::Generic => shape.is_some_and(|shape| row.generic.contains(shape)),
            other => other == shape.map_or(other, grammar::TypeExpr::Is),
        })
    };
    let rows = || all.clone().filter(is_it);
    rows().filter(takes).min_by_key(|row| !row.extensions.is_empty()).or_else(|| rows().next())
}

impl Dialect {
    /// The remainder with the sign of the dividend.
    pub fn remainder(&self, b: &mut Body, both: [Expr; 2], ty: TypeId) -> Expr {
        let is_float = b.t.types.scalar_of(ty).is_some_and(Scalar::is_float);
        let [a, c] = both.map(|value| b.plain(value, ty));
        let quotient = Expr::binary("/", Level::Product, &a, &c);
        let whole = if is_float { Expr::call("trunc", &[quotient]) } else { quotient };
        let product = Expr::binary("*", Level::Product, &whole, &c);
        Expr::binary("-", Level::Sum, &a, &product)
    }

    pub fn math(&self, b: &mut Body, function: MathFn, args: Values, ty: TypeId) -> Made {
        // Offset and number of bits are `int` in the language.
        let (args, of) = b.operands(function, args, Types::I32);
        match function {
            MathFn::Modf => b.two_results("modf", args, ty, ["fraction", "whole"]),
            MathFn::Frexp => {
                self.require(b.t, &versions::BIT_FUNCTIONS);
                b.two_results("frexp", args, ty, ["significand", "exponent"])
            }
            MathFn::AddCarry => {
                self.require(b.t, &versions::BIT_FUNCTIONS);
                b.two_results("uaddCarry", args, ty, ["sum", "carry"])
            }
            MathFn::SubBorrow => {
                self.require(b.t, &versions::BIT_FUNCTIONS);
                b.two_results("usubBorrow", args, ty, ["difference", "borrow"])
            }
            MathFn::MulExtended => self.wide_product(b, &args, of[0], ty),
            MathFn::Dot if b.t.types.scalar_of(of[0]).is_some_and(Scalar::is_int) => {
                Made::One(b.integer_dot(args, of[0]))
            }
            MathFn::IsHelper => {
                b.t.need("GL_EXT_demote_to_helper_invocation");
                Made::One(Expr::primary("helperInvocationEXT()").reading_memory(true))
            }
            _ => match b.t.function_of(function, &args, &of, ty) {
                Some(made) => Made::One(made),
                None => Made::One(b.t.stand_in("such built-in function")),
            },
        }
    }

    /// The low and the high half of a product.
    fn wide_product(&self, b: &mut Body, args: &[Expr], of: TypeId, ty: TypeId) -> Made {
        let is_signed = b.t.types.scalar_of(of).is_some_and(Scalar::is_signed);
        let [low, high] = b.members_of(ty);
        let (high, low) = (b.variable("high", high), b.variable("low", low));
        self.require(b.t, &versions::BIT_FUNCTIONS);
        let function = if is_signed { "imulExtended" } else { "umulExtended" };
        b.line(format!("{function}({}, {}, {}, {})", args[0].text, args[1].text, high.text, low.text));
        Made::Pair([low, high])
    }
}
