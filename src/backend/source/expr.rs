//! Expressions as text, with their precedence and effects.

use super::uses::local_of;
use crate::ir::{Function, LocalId, Value};
use crate::limits;
use smallvec::SmallVec;

/// The precedence of an expression, tightest first (GLSL 4.60 section 5.1, Operators).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    Primary,
    Unary,
    Product,
    Sum,
    Shift,
    Relation,
    Equality,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalXor,
    LogicalOr,
    Choice,
}

/// The mutable state that an expression reads.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Reads {
    /// Anything except the function's variables: memory, or the target of a parameter.
    pub memory: bool,
    pub locals: SmallVec<[LocalId; 2]>,
}

impl Reads {
    pub fn memory(memory: bool) -> Reads {
        Reads { memory, locals: SmallVec::new() }
    }

    pub fn local(id: LocalId) -> Reads {
        Reads { memory: false, locals: SmallVec::from_slice(&[id]) }
    }

    /// The state that a load through a pointer reads.
    pub fn of_place(f: &Function, pointer: Value) -> Reads {
        local_of(f, pointer).map_or_else(|| Reads::memory(true), Reads::local)
    }

    pub fn is_empty(&self) -> bool {
        !self.memory && self.locals.is_empty()
    }

    fn join(&mut self, other: &Reads) {
        self.memory |= other.memory;
        for id in &other.locals {
            if !self.locals.contains(id) {
                self.locals.push(*id);
            }
        }
    }

    fn of<'e>(parts: impl IntoIterator<Item = &'e Expr>) -> Reads {
        let mut all = Reads::default();
        parts.into_iter().for_each(|part| all.join(&part.reads));
        all
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub text: String,
    pub level: Level,
    pub reads: Reads,
    /// True if the expression has only literals, whose types the language chooses by their context.
    pub is_untyped: bool,
    /// The operand, if the expression is the negation of a bool.
    pub negated: Option<Box<Expr>>,
    /// The component that all of a vector's are.
    pub component: Option<Box<Expr>>,
    /// Operator and operands, if they can form a compound assignment.
    pub assigned: Option<Box<[String; 3]>>,
    /// The unsigned expression, if this one is its conversion to a signed number.
    pub unsigned: Option<Box<Expr>>,
    /// The vector and the letters of its components, if the expression is a swizzle.
    pub swizzled: Option<Box<(Expr, String)>>,
}

impl Expr {
    pub fn new(text: impl Into<String>, level: Level) -> Expr {
        let text = text.into();
        limits::spend(1);
        limits::write(text.len());
        let reads = Reads::default();
        Expr {
            text,
            level,
            reads,
            is_untyped: false,
            negated: None,
            component: None,
            assigned: None,
            unsigned: None,
            swizzled: None,
        }
    }

    /// A name, a literal or a call.
    pub fn primary(text: impl Into<String>) -> Expr {
        Expr::new(text, Level::Primary)
    }

    #[must_use]
    pub fn reading(mut self, reads: &Reads) -> Expr {
        self.reads.join(reads);
        self
    }

    #[must_use]
    pub fn reading_memory(self, reads: bool) -> Expr {
        self.reading(&Reads::memory(reads))
    }

    /// The text as an operand with at least the precedence `level`.
    pub fn at(&self, level: Level) -> String {
        if self.level <= level { self.text.clone() } else { format!("({})", self.text) }
    }

    /// A call with these arguments.
    pub fn call(function: &str, args: &[Expr]) -> Expr {
        let list: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        Expr::primary(format!("{function}({})", list.join(", "))).reading(&Reads::of(args))
    }

    /// `left op right`, for left-associative operators.
    pub fn binary(op: &str, level: Level, left: &Expr, right: &Expr) -> Expr {
        // Some compilers fold a specialization constant and a literal into modules that are not valid.
        let neutral = match op {
            "&&" => "true",
            "||" => "false",
            _ => "",
        };
        if right.text == neutral {
            return left.clone();
        }
        if left.text == neutral {
            return right.clone();
        }
        let tighter = TIGHTER[level as usize];
        let mixes = |side: &Expr| side.level > Level::Unary && side.level != level && is_bitwise(level, side.level);
        let left_text = if mixes(left) { format!("({})", left.text) } else { left.at(level) };
        let right_text = if mixes(right) { format!("({})", right.text) } else { right.at(tighter) };
        let made = Expr::new(format!("{left_text} {op} {right_text}"), level).reading(&Reads::of([left, right]));
        let is_assigned =
            matches!(level, Level::Product | Level::Sum | Level::Shift | Level::And | Level::Xor | Level::Or);
        let assigned = is_assigned.then(|| Box::new([op.to_string(), left_text, right.text.clone()]));
        Expr { assigned, is_untyped: left.is_untyped && right.is_untyped, ..made }
    }

    /// `op operand`.
    pub fn unary(op: &str, operand: &Expr) -> Expr {
        let made = Expr::new(format!("{op}{}", operand.at(Level::Primary)), Level::Unary).reading(&operand.reads);
        Expr { is_untyped: operand.is_untyped, ..made }
    }

    /// The negation of a bool.
    pub fn not(&self) -> Expr {
        match &self.negated {
            Some(inner) => (**inner).clone(),
            None => Expr { negated: Some(Box::new(self.clone())), ..Expr::unary("!", self) },
        }
    }

    pub fn choice(condition: &Expr, accept: &Expr, reject: &Expr) -> Expr {
        let [c, a, r] = [condition, accept, reject].map(|part| part.at(Level::LogicalOr));
        let made =
            Expr::new(format!("{c} ? {a} : {r}"), Level::Choice).reading(&Reads::of([condition, accept, reject]));
        Expr { is_untyped: accept.is_untyped && reject.is_untyped, ..made }
    }

    /// A member, component or element, with the text of its `suffix`.
    pub fn part(&self, suffix: &str) -> Expr {
        if let (Some(of), Some(letters)) = (&self.swizzled, suffix.strip_prefix('.')) {
            let (whole, own) = &**of;
            let places = letters.chars().map(|letter| "xyzw".find(letter).and_then(|at| own.chars().nth(at)));
            if let Some(letters) = places.collect::<Option<String>>() {
                return whole.swizzle(&letters).reading(&self.reads);
            }
        }
        Expr::primary(format!("{}{suffix}", self.at(Level::Primary))).reading(&self.reads)
    }

    /// The vector of components of a vector, by their letters.
    pub fn swizzle(&self, letters: &str) -> Expr {
        let made = self.part(&format!(".{letters}"));
        match made.swizzled {
            None if letters.len() > 1 => Expr { swizzled: Some(Box::new((self.clone(), letters.to_string()))), ..made },
            _ => made,
        }
    }

    /// This expression in parentheses.
    pub fn grouped(&self) -> Expr {
        Expr { text: format!("({})", self.text), level: Level::Primary, ..self.clone() }
    }

    /// Returns true for a name, a literal, or a path.
    pub fn is_plain(&self) -> bool {
        self.level == Level::Primary && !self.text.contains([' ', '('])
    }
}

/// The level above each.
const TIGHTER: [Level; 14] = [
    Level::Primary,
    Level::Primary,
    Level::Unary,
    Level::Product,
    Level::Sum,
    Level::Shift,
    Level::Relation,
    Level::Equality,
    Level::And,
    Level::Xor,
    Level::Or,
    Level::LogicalAnd,
    Level::LogicalXor,
    Level::LogicalOr,
];

/// Returns true if the precedences of an operator and its operand are easily confused.
fn is_bitwise(outer: Level, inner: Level) -> bool {
    let is_of_bits = |level| matches!(level, Level::Shift | Level::And | Level::Xor | Level::Or);
    let is_of_truths = |level| matches!(level, Level::LogicalAnd | Level::LogicalXor | Level::LogicalOr);
    is_of_bits(outer) || (is_of_truths(outer) && is_of_truths(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_stand_where_the_language_or_readers_need_them() {
        let [a, b, c] = ["a", "b", "c"].map(Expr::primary);
        let difference = Expr::binary("-", Level::Sum, &b, &c);
        assert_eq!(Expr::binary("-", Level::Sum, &a, &difference).text, "a - (b - c)");
        assert_eq!(Expr::binary("-", Level::Sum, &difference, &a).text, "b - c - a");
        assert_eq!(Expr::binary("*", Level::Product, &difference, &a).text, "(b - c) * a");
        assert_eq!(Expr::binary("&", Level::And, &difference, &a).text, "(b - c) & a");
        let minus = Expr::unary("-", &a);
        assert_eq!(Expr::unary("-", &minus).text, "-(-a)");
        assert_eq!(minus.part(".x").text, "(-a).x");
        assert_eq!(a.not().not().text, "a");
    }
}
