//! Random expressions whose results GLSL defines.
//!
//! Floats are small multiples of a power of two and never leave that set, so that each way to compute an expression
//! gives the same bits apart from the sign of zero; a kernel outputs them as integers.

use super::scope::{EFFECTS, Mode, Program};
use super::types::{BOOL, FLOAT, INT, Kind, Ty, UINT};

impl Program {
    /// An expression of type `ty`, in parentheses where needed.
    pub fn expr(&mut self, ty: &Ty, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(ty);
        }
        match self.rng.below(8) {
            0 => self.leaf(ty),
            1 => self.choice(ty, depth),
            2 if !self.constant => self.call(ty, depth).unwrap_or_else(|| self.operation(ty, depth)),
            3 => self.constructor(ty, depth),
            _ => self.operation(ty, depth),
        }
    }

    /// An expression without effects, as an index needs.
    pub fn pure(&mut self, ty: &Ty, depth: usize) -> String {
        match (depth, ty) {
            (0, _) => self.simple_leaf(ty),
            (_, Ty::Vector(Kind::Int, 1)) => {
                let (a, b) = (self.simple_leaf(&INT), self.simple_leaf(&UINT));
                format!("({a} + int({b} >> 3))")
            }
            _ => {
                let (a, b) = (self.simple_leaf(&UINT), self.simple_leaf(&INT));
                format!("({a} ^ uint({b}))")
            }
        }
    }

    /// A whole scalar variable, or a literal: without an index, so that indices do not nest endlessly.
    fn simple_leaf(&mut self, ty: &Ty) -> String {
        let found: Vec<String> = self
            .variables
            .iter()
            .filter(|v| &v.ty == ty && (v.constant || !self.constant))
            .map(|v| v.name.clone())
            .collect();
        if found.is_empty() || self.rng.once_in(5) { self.literal(ty) } else { self.rng.pick(&found).clone() }
    }

    fn leaf(&mut self, ty: &Ty) -> String {
        let literal = self.rng.once_in(4);
        match ty {
            Ty::Vector(_, 1) if literal => self.literal(ty),
            _ => self.part(ty, false).unwrap_or_else(|| self.built(ty, 0)),
        }
    }

    fn literal(&mut self, ty: &Ty) -> String {
        let small = self.rng.below(16);
        match ty {
            Ty::Vector(Kind::Int, _) => match self.rng.below(6) {
                0 => "-2147483647".to_string(),
                1 => "0x7fffffff".to_string(),
                2 => format!("-{}", small + 1),
                // The bits of 1.0, which differ from those of true.
                3 => ["-1", "0x3f800000"][small & 1].to_string(),
                _ => small.to_string(),
            },
            Ty::Vector(Kind::Uint, _) => match self.rng.below(6) {
                0 => "0xffffffffu".to_string(),
                // Not only the sign bit: lavapipe takes a selection between it and the bits of 1.0 for a conversion
                // from bool.
                1 => "0x80000001u".to_string(),
                2 => "0x3f800000u".to_string(),
                _ => format!("{small}u"),
            },
            Ty::Vector(Kind::Bool, _) => ["false", "true"][small & 1].to_string(),
            _ => format!("{}{}.{}", ["", "-"][small & 1], small / 2, [0, 25, 5, 75][small % 4]),
        }
    }

    /// `T(…)` from parts, for types that cannot be built otherwise.
    fn built(&mut self, ty: &Ty, depth: usize) -> String {
        let parts: Vec<Ty> = match ty {
            Ty::Vector(_, 1) => return self.literal(ty),
            Ty::Vector(kind, size) => self.split(*kind, *size),
            Ty::Matrix(columns, rows) => vec![Ty::Vector(Kind::Float, *rows); usize::from(*columns)],
            Ty::Array(element, len) => vec![(**element).clone(); usize::from(*len)],
            Ty::Struct(index) => self.structs.0[*index].clone(),
        };
        let parts: Vec<String> = parts.iter().map(|part| self.expr(part, depth)).collect();
        format!("{}({})", ty.name(), parts.join(", "))
    }

    /// Scalars and vectors that together make up a vector.
    fn split(&mut self, kind: Kind, size: u8) -> Vec<Ty> {
        let (mut left, mut parts) = (size, Vec::new());
        while left > 0 {
            let most = left.min(size - 1);
            let next = 1 + self.rng.below(usize::from(most)) as u8;
            parts.push(Ty::Vector(kind, next));
            left -= next;
        }
        parts
    }

    fn constructor(&mut self, ty: &Ty, depth: usize) -> String {
        match ty {
            Ty::Vector(kind, size) if self.rng.once_in(2) => self.converted(*kind, *size, depth),
            Ty::Vector(_, size) if *size > 1 && self.rng.once_in(3) => {
                let Ty::Vector(kind, _) = ty else { unreachable!("just matched") };
                let scalar = self.expr(&Ty::Vector(*kind, 1), depth - 1);
                format!("{}({scalar})", ty.name())
            }
            Ty::Matrix(..) if self.rng.once_in(3) => {
                let from = if self.rng.once_in(2) {
                    FLOAT
                } else {
                    Ty::Matrix(2 + self.rng.below(3) as u8, 2 + self.rng.below(3) as u8)
                };
                let inner = self.expr(&from, depth - 1);
                format!("{}({inner})", ty.name())
            }
            _ => self.built(ty, depth - 1),
        }
    }

    /// An exact conversion: floats are bounded and whole before they become integers.
    fn converted(&mut self, to: Kind, size: u8, depth: usize) -> String {
        let from = *self.rng.pick(&super::types::KINDS);
        let inner = self.expr(&Ty::Vector(from, size), depth - 1);
        let name = Ty::Vector(to, size).name();
        match (from, to) {
            (Kind::Float, Kind::Uint) => format!("{name}(clamp({inner}, 0.0, 8.0))"),
            (Kind::Float, Kind::Int) => format!("{name}(clamp({inner}, -8.0, 8.0))"),
            (Kind::Int | Kind::Uint, Kind::Float) => {
                format!("{name}({inner} & 7{})", if from == Kind::Uint { "u" } else { "" })
            }
            _ => format!("{name}({inner})"),
        }
    }

    /// An operand of a product: small, whatever it consists of. Constants cannot call `lim`; they contain few products.
    fn small(&self, operand: &str) -> String {
        if self.constant { operand.to_string() } else { format!("lim({operand})") }
    }

    fn choice(&mut self, ty: &Ty, depth: usize) -> String {
        let condition = self.expr(&BOOL, depth - 1);
        let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
        format!("({condition} ? {a} : {b})")
    }

    /// A call of a function in this kernel; it writes only variables that nothing else in an expression reads.
    fn call(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let found: Vec<_> = self.functions.iter().filter(|f| f.ret.as_ref() == Some(ty)).cloned().collect();
        if found.is_empty() || self.calls == 0 {
            return None;
        }
        self.calls -= 1;
        let function = self.rng.pick(&found).clone();
        let mut targets: Vec<&str> = EFFECTS.to_vec();
        let mut args = Vec::new();
        for (mode, ty) in &function.params {
            args.push(match mode {
                Mode::In => self.expr(ty, depth - 1),
                _ => {
                    let at = self.rng.below(targets.len());
                    targets.remove(at).to_string()
                }
            });
        }
        Some(format!("{}({})", function.name, args.join(", ")))
    }

    fn operation(&mut self, ty: &Ty, depth: usize) -> String {
        match ty {
            Ty::Vector(kind @ (Kind::Int | Kind::Uint), size) => self.integer(*kind, *size, depth),
            Ty::Vector(Kind::Float, size) => self.float(*size, depth),
            Ty::Vector(Kind::Bool, size) => self.bool(*size, depth),
            // The judge evaluates few constant operations on matrices.
            Ty::Matrix(columns, rows) if !self.constant => self.matrix(*columns, *rows, depth),
            _ => self.built(ty, depth - 1),
        }
    }

    fn integer(&mut self, kind: Kind, size: u8, depth: usize) -> String {
        let ty = Ty::Vector(kind, size);
        let uint = kind == Kind::Uint;
        let suffix = if uint { "u" } else { "" };
        let a = self.expr(&ty, depth - 1);
        // A scalar may be on the right of a vector, and an `int` next to a `uint`.
        let right_size = if self.rng.once_in(4) { 1 } else { size };
        let right_kind = if uint && self.rng.once_in(4) { Kind::Int } else { kind };
        let right = Ty::Vector(right_kind, right_size);
        match self.rng.below(14) {
            0 => format!("(- {a})"),
            1 => format!("(~{a})"),
            n @ 2..=7 => {
                let b = self.expr(&right, depth - 1);
                format!("({a} {} {b})", ["+", "-", "*", "&", "|", "^"][n - 2])
            }
            8 => {
                let b = self.expr(&right, depth - 1);
                let operator = self.rng.pick(&["<<", ">>"]);
                format!("({a} {operator} ({b} & 31))")
            }
            9 => {
                let b = self.expr(&ty, depth - 1);
                let (operator, mask) = *self.rng.pick(&[("/", ""), ("%", " & 0x7fffffff")]);
                format!(
                    "(({a}{mask}{}) {operator} (({b} & 255{suffix}) + 1{suffix}))",
                    if mask.is_empty() { "" } else { suffix }
                )
            }
            10 => {
                let b = self.expr(&ty, depth - 1);
                let function = self.rng.pick(&["min", "max"]);
                format!("{function}({a}, {b})")
            }
            11 => self.bits(&ty, &a, depth),
            12 if ty == INT && !self.constant => self.effect(depth),
            _ if uint => format!("max({a}, 3u)"),
            _ => format!("{}({a})", self.rng.pick(&["abs", "sign"])),
        }
    }

    fn bits(&mut self, ty: &Ty, a: &str, depth: usize) -> String {
        if self.constant {
            return format!("clamp({a}, {0}(2), {0}(99))", ty.name());
        }
        let b = self.expr(ty, depth - 1);
        match self.rng.below(6) {
            0 => format!("{}(bitCount({a}))", ty.name()),
            1 => format!("bitfieldReverse({a})"),
            2 => format!("{}(findMSB({a}))", ty.name()),
            3 => format!("{}(findLSB({a}))", ty.name()),
            4 => format!("bitfieldExtract({a}, {}, {})", self.rng.below(16), self.rng.below(17)),
            _ => format!("bitfieldInsert({a}, {b}, {}, {})", self.rng.below(16), self.rng.below(17)),
        }
    }

    /// An `int` with a side effect.
    fn effect(&mut self, depth: usize) -> String {
        let target = *self.rng.pick(&EFFECTS);
        match self.rng.below(4) {
            0 => format!("{target}++"),
            1 => format!("(--{target})"),
            2 => {
                let value = self.expr(&INT, depth - 1);
                format!("({target} {}= {value})", self.rng.pick(&["", "+", "^", "*"]))
            }
            _ => format!("tick({target}, {})", self.rng.below(9)),
        }
    }

    /// Few products in a row: the results stay within 24 bits.
    fn float(&mut self, size: u8, depth: usize) -> String {
        let ty = Ty::Vector(Kind::Float, size);
        let a = self.expr(&ty, depth - 1);
        let right = Ty::Vector(Kind::Float, if self.rng.once_in(4) { 1 } else { size });
        match self.rng.below(12) {
            0 => format!("(- {a})"),
            1 | 2 => {
                let b = self.expr(&right, depth - 1);
                format!("({a} {} {b})", self.rng.pick(&["+", "-"]))
            }
            3 => {
                let b = self.expr(&right, depth - 1);
                format!("({} * {})", self.small(&a), self.small(&b))
            }
            4 => {
                let b = self.expr(&ty, depth - 1);
                format!("{}({a}, {b})", self.rng.pick(&["min", "max", "step"]))
            }
            5 => format!("{}({a})", self.rng.pick(&["abs", "floor", "ceil", "trunc", "sign", "fract"])),
            6 => format!("clamp({a}, -3.0, 5.5)"),
            7 if size > 1 && !self.constant => self.product(size, depth),
            8 if size == 1 => {
                let other = Ty::Vector(Kind::Float, 2 + self.rng.below(3) as u8);
                let (a, b) = (self.expr(&other, depth - 1), self.expr(&other, depth - 1));
                format!("dot({}, {})", self.small(&a), self.small(&b))
            }
            9 => {
                let b = self.expr(&Ty::Vector(Kind::Int, size), depth - 1);
                format!("({a} + ({b} & 15))")
            }
            10 => {
                let (b, c) = (self.expr(&ty, depth - 1), self.expr(&Ty::Vector(Kind::Bool, size), depth - 1));
                format!("mix({a}, {b}, {c})")
            }
            _ => self.small(&a),
        }
    }

    /// A matrix times a vector, in either order.
    fn product(&mut self, size: u8, depth: usize) -> String {
        let other = 2 + self.rng.below(3) as u8;
        let vector = self.expr(&Ty::Vector(Kind::Float, other), depth - 1);
        if self.rng.once_in(2) {
            let matrix = self.expr(&Ty::Matrix(other, size), depth - 1);
            format!("({} * {})", self.small(&matrix), self.small(&vector))
        } else {
            let matrix = self.expr(&Ty::Matrix(size, other), depth - 1);
            format!("({} * {})", self.small(&vector), self.small(&matrix))
        }
    }

    fn matrix(&mut self, columns: u8, rows: u8, depth: usize) -> String {
        let ty = Ty::Matrix(columns, rows);
        let a = self.expr(&ty, depth - 1);
        match self.rng.below(8) {
            0 => format!("(- {a})"),
            1 => {
                let b = self.expr(&ty, depth - 1);
                format!("({a} {} {b})", self.rng.pick(&["+", "-"]))
            }
            2 => {
                let b = self.expr(&FLOAT, depth - 1);
                format!("({} * {})", self.small(&a), self.small(&b))
            }
            3 => {
                let b = self.expr(&FLOAT, depth - 1);
                format!("({b} - {a})")
            }
            4 => {
                let inner = 2 + self.rng.below(3) as u8;
                let left = self.expr(&Ty::Matrix(inner, rows), depth - 1);
                let right = self.expr(&Ty::Matrix(columns, inner), depth - 1);
                format!("({} * {})", self.small(&left), self.small(&right))
            }
            5 => {
                let b = self.expr(&Ty::Matrix(rows, columns), depth - 1);
                format!("transpose({b})")
            }
            6 => {
                let b = self.expr(&ty, depth - 1);
                format!("matrixCompMult({}, {})", self.small(&a), self.small(&b))
            }
            _ => {
                let (c, r) = (Ty::Vector(Kind::Float, rows), Ty::Vector(Kind::Float, columns));
                let (c, r) = (self.expr(&c, depth - 1), self.expr(&r, depth - 1));
                format!("outerProduct({}, {})", self.small(&c), self.small(&r))
            }
        }
    }

    fn bool(&mut self, size: u8, depth: usize) -> String {
        if size > 1 {
            return self.bool_vector(size, depth);
        }
        match self.rng.below(9) {
            n @ 0..=2 => {
                let (a, b) = (self.expr(&BOOL, depth - 1), self.expr(&BOOL, depth - 1));
                format!("({a} {} {b})", ["&&", "||", "^^"][n])
            }
            3 => format!("(!{})", self.expr(&BOOL, depth - 1)),
            4 => {
                let ty = self.composite();
                let (a, b) = (self.expr(&ty, depth - 1), self.expr(&ty, depth - 1));
                format!("({a} {} {b})", self.rng.pick(&["==", "!="]))
            }
            5 => {
                let inner = self.expr(&Ty::Vector(Kind::Bool, 3), depth - 1);
                format!("{}({inner})", self.rng.pick(&["any", "all"]))
            }
            6 if !self.constant => format!("(tick({}, {}) > 3)", self.rng.pick(&EFFECTS), self.rng.below(9)),
            _ => {
                let ty = self.rng.pick(&[INT, UINT, FLOAT]).clone();
                let (a, b) = (self.expr(&ty, depth - 1), self.expr(&ty, depth - 1));
                format!("({a} {} {b})", self.rng.pick(&["<", "<=", ">", ">="]))
            }
        }
    }

    /// A type whose values `==` compares; constant ones have no members that the judge cannot evaluate.
    fn composite(&mut self) -> Ty {
        if self.constant { Ty::random_basic(&mut self.rng) } else { Ty::random(&mut self.rng, self.structs.0.len()) }
    }

    fn bool_vector(&mut self, size: u8, depth: usize) -> String {
        if self.rng.once_in(4) {
            let inner = self.expr(&Ty::Vector(Kind::Bool, size), depth - 1);
            return format!("not({inner})");
        }
        let kind = *self.rng.pick(&[Kind::Int, Kind::Uint, Kind::Float]);
        let ty = Ty::Vector(kind, size);
        let (a, b) = (self.expr(&ty, depth - 1), self.expr(&ty, depth - 1));
        let names = ["lessThan", "lessThanEqual", "greaterThan", "greaterThanEqual", "equal", "notEqual"];
        format!("{}({a}, {b})", self.rng.pick(&names))
    }
}
