//! Arithmetic: operators, and built-in functions by the tables of the language.

use super::dialect::{Lanes, is_common};
use super::expr::{Expr, Level};
use super::function::{Body, Made};
use super::writer::Writer;
use crate::grammar::{self, Lowering, Shape};
use crate::ir::{BinaryOp, MathFn, Scalar, ScalarKind, TypeId, Types, UnaryOp, Value, Values};

/// How operators are written between scalars, and the function that compares vectors.
const fn operator(op: BinaryOp) -> (&'static str, Level, Option<&'static str>) {
    match op {
        BinaryOp::Add => ("+", Level::Sum, None),
        BinaryOp::Sub => ("-", Level::Sum, None),
        BinaryOp::Div => ("/", Level::Product, None),
        BinaryOp::Rem => ("%", Level::Product, None),
        BinaryOp::And => ("&", Level::And, None),
        BinaryOp::Or => ("|", Level::Or, None),
        BinaryOp::Xor => ("^", Level::Xor, None),
        BinaryOp::Shl => ("<<", Level::Shift, None),
        BinaryOp::Shr => (">>", Level::Shift, None),
        BinaryOp::LogicalAnd => ("&&", Level::LogicalAnd, None),
        BinaryOp::LogicalOr => ("||", Level::LogicalOr, None),
        BinaryOp::Eq => ("==", Level::Equality, Some("equal")),
        BinaryOp::Ne => ("!=", Level::Equality, Some("notEqual")),
        BinaryOp::Lt => ("<", Level::Relation, Some("lessThan")),
        BinaryOp::Le => ("<=", Level::Relation, Some("lessThanEqual")),
        BinaryOp::Gt => (">", Level::Relation, Some("greaterThan")),
        BinaryOp::Ge => (">=", Level::Relation, Some("greaterThanEqual")),
        BinaryOp::Mul
        | BinaryOp::TimesScalar
        | BinaryOp::MatrixTimesVector
        | BinaryOp::VectorTimesMatrix
        | BinaryOp::MatrixTimesMatrix
        | BinaryOp::OuterProduct => ("*", Level::Product, None),
    }
}

impl Writer<'_> {
    pub fn unary(&mut self, op: UnaryOp, a: &Expr, of: TypeId) -> Expr {
        match op {
            UnaryOp::Neg => self.opposite(a, of),
            UnaryOp::Not => Expr::unary("~", a),
            UnaryOp::LogicalNot if self.types.components(of) == Some(1) => a.not(),
            UnaryOp::LogicalNot => Expr::call("not", std::slice::from_ref(a)),
        }
    }

    /// A negation. NVIDIA's compiler loses its sign in joined minima and maxima of integers, but not that of an inverse and 1
    /// (docs/verified/nv-flow.md).
    fn opposite(&self, a: &Expr, of: TypeId) -> Expr {
        let one = match self.types.scalar_of(of).map(|scalar| scalar.kind) {
            Some(ScalarKind::Sint) => "1",
            Some(ScalarKind::Uint) => "1u",
            _ => return Expr::unary("-", a),
        };
        match self.dialect.lanes {
            Lanes::Nv => Expr::binary("+", Level::Sum, &Expr::unary("~", a), &Expr::primary(one.to_string())),
            _ => Expr::unary("-", a),
        }
    }

    /// An operator; none for those that need the operands more than once.
    pub fn binary(&mut self, op: BinaryOp, [a, b]: [&Expr; 2], of: [TypeId; 2]) -> Option<Expr> {
        let scalar = self.types.scalar_of(of[0]);
        let size = self.types.components(of[0]).unwrap_or(1);
        let is_bool = scalar.is_some_and(Scalar::is_bool);
        let (text, level, of_vectors) = operator(op);
        let both = [a.clone(), b.clone()];
        Some(match (op, of_vectors) {
            (BinaryOp::OuterProduct, _) => Expr::call("outerProduct", &both),
            (_, Some(function)) if size > 1 => Expr::call(function, &both),
            (BinaryOp::And | BinaryOp::LogicalAnd, _) if is_bool && size > 1 => {
                self.joined("&", Level::And, both, size)
            }
            (BinaryOp::Or | BinaryOp::LogicalOr, _) if is_bool && size > 1 => self.joined("|", Level::Or, both, size),
            (BinaryOp::Xor, _) if is_bool && size > 1 => Expr::call("notEqual", &both),
            (BinaryOp::And, _) if is_bool => Expr::binary("&&", Level::LogicalAnd, a, b),
            (BinaryOp::Or, _) if is_bool => Expr::binary("||", Level::LogicalOr, a, b),
            (BinaryOp::Xor, _) if is_bool => Expr::binary("!=", Level::Equality, a, b),
            // `%` is undefined for negative numbers and not there for floats.
            (BinaryOp::Rem, _) if scalar.is_some_and(|scalar| scalar.kind != ScalarKind::Uint) => return None,
            (BinaryOp::Sub, _) if self.dialect.lanes == Lanes::Nv && matches!(a.text.as_str(), "0" | "0u") => {
                self.opposite(b, of[1])
            }
            (BinaryOp::Mul, _) if self.types.components(of[0]).is_none() => Expr::call("matrixCompMult", &both),
            _ => Expr::binary(text, level, a, b),
        })
    }

    /// Vectors of bools joined bit by bit.
    fn joined(&mut self, op: &str, level: Level, both: [Expr; 2], size: u8) -> Expr {
        let words = self.vector_name(Scalar::U32, size);
        let [a, b] = both.map(|value| Expr::call(&words, &[value]));
        let joined = Expr::binary(op, level, &a, &b);
        let bools = self.vector_name(Scalar::BOOL, size);
        Expr::call(&bools, &[joined])
    }

    /// A call of a built-in function with one result; none where the language has none such.
    pub fn function_of(&mut self, function: MathFn, args: &[Expr], of: &[TypeId], ty: TypeId) -> Option<Expr> {
        let scalar = of.first().and_then(|of| self.types.scalar_of(*of));
        let is_unsigned = scalar.is_some_and(|scalar| scalar.kind == ScalarKind::Uint);
        let is_int = scalar.is_some_and(Scalar::is_int);
        match function {
            MathFn::Abs if is_unsigned => return args.first().cloned(),
            MathFn::Sign if is_unsigned => {
                let one = self.literal(scalar?, 1);
                return Some(Expr::call("min", &[args[0].clone(), one]));
            }
            MathFn::CountLeadingZeros | MathFn::CountTrailingZeros => return self.zeros(function, args, of[0], ty),
            MathFn::Dot if is_int => return None,
            _ => {}
        }
        let shape = of.first().and_then(|of| Shape::of(&self.types, *of));
        let row = row_of(function, shape, of.len())?;
        let version = if self.dialect.is_es { 320 } else { 450 };
        let since = if self.dialect.is_es { row.es } else { row.core };
        let brings = match (row.extensions.is_empty(), since <= version && since != 0) {
            (false, _) => row.extensions,
            (true, true) => Default::default(),
            (true, false) => row.earlier,
        };
        // Extensions that bring types are on where the types are.
        let is_narrow = scalar.is_some_and(|scalar| !matches!(scalar.width, 1 | 32));
        if !is_narrow && let Some(extension) = super::globals::preferred(brings) {
            self.need(extension);
        }
        let call = Expr::call(row.name, args);
        Some(match function {
            MathFn::BitCount | MathFn::FindLsb | MathFn::FindMsb => self.bits_as(call, ty),
            _ => call,
        })
    }

    /// The numbers of bits that the language gives as `int`.
    fn bits_as(&mut self, call: Expr, ty: TypeId) -> Expr {
        match self.shape(ty) {
            Some((scalar, _)) if scalar == Scalar::I32 => call,
            Some((scalar, size)) => {
                let name = self.vector_name(scalar, size);
                Expr::call(&name, &[call])
            }
            None => call,
        }
    }

    /// Zeros above the highest and below the lowest set bit; 32 of nothing.
    fn zeros(&mut self, function: MathFn, args: &[Expr], of: TypeId, ty: TypeId) -> Option<Expr> {
        let (scalar, size) = self.shape(of)?;
        if scalar.width != 32 {
            return None;
        }
        let words = self.vector_name(Scalar::U32, size);
        let word = match scalar.kind {
            ScalarKind::Uint => args[0].clone(),
            _ => Expr::call(&words, args),
        };
        if function == MathFn::CountLeadingZeros {
            let highest = Expr::call("findMSB", &[word]);
            let below = Expr::binary("-", Level::Sum, &Expr::primary("31"), &highest);
            return Some(self.bits_as(below, ty));
        }
        // -1 is the largest as an unsigned number.
        let lowest = Expr::call("findLSB", &[word]);
        let lowest = Expr::call(&words, &[lowest]);
        let least = Expr::call("min", &[lowest, Expr::primary("32u")]);
        match self.types.scalar_of(ty) {
            Some(Scalar::U32) => Some(least),
            _ => {
                let name = self.type_name(ty);
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

impl Body<'_, '_> {
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Expr {
        let of = [self.type_of(a), self.type_of(b)];
        let (left, right) = (self.value(a), self.value(b));
        match self.t.binary(op, [&left, &right], of) {
            Some(made) => made,
            None => self.remainder([left, right], of[0]),
        }
    }

    /// The remainder with the sign of the dividend.
    fn remainder(&mut self, both: [Expr; 2], ty: TypeId) -> Expr {
        let is_float = self.t.types.scalar_of(ty).is_some_and(Scalar::is_float);
        let [a, b] = both.map(|value| if value.is_plain() { value } else { self.name("t", ty, &value) });
        let quotient = Expr::binary("/", Level::Product, &a, &b);
        let whole = if is_float { Expr::call("trunc", &[quotient]) } else { quotient };
        let product = Expr::binary("*", Level::Product, &whole, &b);
        Expr::binary("-", Level::Sum, &a, &product)
    }

    pub fn math(&mut self, function: MathFn, args: Values, ty: TypeId) -> Made {
        let f = self.f;
        let of: Vec<TypeId> = f.values(args).iter().map(|value| self.type_of(*value)).collect();
        let mut args = self.list(args);
        if matches!(function, MathFn::BitfieldExtract | MathFn::BitfieldInsert) {
            // Offset and number of bits are `int` in the language.
            let last = args.len().saturating_sub(2)..;
            for (arg, ty) in args[last.clone()].iter_mut().zip(&of[last]) {
                *arg = self.t.converted(arg, *ty, Types::I32);
            }
        }
        match function {
            MathFn::Modf => self.two_results("modf", args, ty, ["fraction", "whole"]),
            MathFn::Frexp => self.two_results("frexp", args, ty, ["significand", "exponent"]),
            MathFn::AddCarry => self.two_results("uaddCarry", args, ty, ["sum", "carry"]),
            MathFn::SubBorrow => self.two_results("usubBorrow", args, ty, ["difference", "borrow"]),
            MathFn::MulExtended => self.wide_product(&args, of[0], ty),
            MathFn::Dot if self.t.types.scalar_of(of[0]).is_some_and(Scalar::is_int) => {
                Made::One(self.integer_dot(args, of[0]))
            }
            MathFn::IsHelper => {
                self.t.need("GL_EXT_demote_to_helper_invocation");
                Made::One(Expr::primary("helperInvocationEXT()").reading_memory(true))
            }
            _ => match self.t.function_of(function, &args, &of, ty) {
                Some(made) => Made::One(made),
                None => Made::One(self.t.stand_in("such built-in function")),
            },
        }
    }

    fn integer_dot(&mut self, args: Vec<Expr>, ty: TypeId) -> Expr {
        let size = self.t.types.components(ty).unwrap_or(1);
        let args: Vec<Expr> =
            args.into_iter().map(|arg| if arg.is_plain() { arg } else { self.name("t", ty, &arg) }).collect();
        if size == 1 {
            return Expr::binary("*", Level::Product, &args[0], &args[1]);
        }
        let product = |n: u32| {
            let part = super::constants::component(n);
            Expr::binary("*", Level::Product, &args[0].part(&part), &args[1].part(&part))
        };
        let first = product(0);
        (1..u32::from(size)).fold(first, |sum, n| Expr::binary("+", Level::Sum, &sum, &product(n)))
    }

    /// A function that returns its first result and puts its second into its last argument.
    fn two_results(&mut self, function: &str, mut args: Vec<Expr>, ty: TypeId, names: [&str; 2]) -> Made {
        let [first, second] = self.members_of(ty);
        let place = self.variable(names[1], second);
        args.push(place.clone());
        let call = Expr::call(function, &args);
        let value = self.name(names[0], first, &call);
        Made::Pair([value, place])
    }

    /// The low and the high half of a product.
    fn wide_product(&mut self, args: &[Expr], of: TypeId, ty: TypeId) -> Made {
        let is_signed = self.t.types.scalar_of(of).is_some_and(Scalar::is_signed);
        let [low, high] = self.members_of(ty);
        let (high, low) = (self.variable("high", high), self.variable("low", low));
        let function = if is_signed { "imulExtended" } else { "umulExtended" };
        self.line(format!("{function}({}, {}, {}, {})", args[0].text, args[1].text, high.text, low.text));
        Made::Pair([low, high])
    }

    fn members_of(&mut self, ty: TypeId) -> [TypeId; 2] {
        [0, 1].map(|index| self.t.types.element(ty, index).unwrap_or(ty))
    }
}
