//! Logic on predicates.
//!
//! NVIDIA's assembler combines `x & y` with an operation on `x | y` that reads `x` again, such as `(x | y) ^ x`, into
//! one instruction with two results, one of which is wrong (ptxas 13.0 for sm_90; docs/verified/nv-flow.md). So a
//! predicate that is a function of two others is written in the form that reads each of them once, however deeply
//! nested. The assembler also combines two different functions of the same two predicates, and if it computes the pair
//! again later, it keeps one result for both. The second function therefore becomes a selection of numbers.

use super::{Class, Reg, Selector};
use crate::ir::Scalar;
use crate::kernel::{BinOp, CmpOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A predicate as a function of two, which may be the same: bit `x + 2y` of the table is its value for `x` and `y`.
#[derive(Clone, Copy)]
struct Function {
    x: Reg,
    y: Reg,
    table: u8,
}

const X: u8 = 0b1010;
const Y: u8 = 0b1100;
const ALL: u8 = 0b1111;

impl Function {
    const fn itself(reg: Reg) -> Function {
        Function { x: reg, y: reg, table: X }
    }

    /// An operation on two functions, if the result depends on at most two predicates; with the tables of both over
    /// these.
    fn joined(op: BinOp, f: Function, g: Function) -> Option<(Function, [u8; 2])> {
        let mut parts = [f.x, f.y, g.x, g.y];
        parts.sort_unstable();
        let (x, y) = (parts[0], parts[3]);
        let tables = parts[1..3].iter().all(|part| *part == x || *part == y).then(|| [f, g].map(|f| f.over(x, y)))?;
        let table = match op {
            BinOp::And => tables[0] & tables[1],
            BinOp::Or => tables[0] | tables[1],
            _ => tables[0] ^ tables[1],
        };
        Some((Function { x, y, table }, tables))
    }

    /// The table over two predicates that include the function's.
    fn over(self, x: Reg, y: Reg) -> u8 {
        let is_set = |choice: &u8| {
            let at = |leaf| if leaf == x { choice & 1 } else { choice >> 1 };
            debug_assert!([self.x, self.y].iter().all(|leaf| *leaf == x || *leaf == y), "another predicate");
            self.table >> (at(self.x) + 2 * at(self.y)) & 1 == 1
        };
        (0..4).filter(is_set).map(|choice| 1 << choice).sum()
    }

    fn count(self) -> usize {
        if self.x == self.y { 1 } else { 2 }
    }

    const fn inverse(self) -> Function {
        Function { table: !self.table & ALL, ..self }
    }
}

/// The views of a predicate: as itself, as a function of its operands, and as a function of their operands.
type Views = SmallVec<[Function; 3]>;

/// The predicates of a kernel.
#[derive(Default)]
pub(super) struct Predicates {
    /// The views of each predicate except itself, by register number.
    views: Vec<Views>,
    /// The visible comparisons, with the predicate of the first of each kind, and true if that is the inverse.
    comparisons: FxHashMap<String, (Reg, bool)>,
    visible: Vec<String>,
    /// The functions of two predicates that are written as logic, each with the first table.
    written: FxHashMap<(Reg, Reg), u8>,
}

impl Predicates {
    /// The comparisons that are visible now, for [`Predicates::forget`].
    pub fn visible(&self) -> usize {
        self.visible.len()
    }

    /// Forgets the comparisons of a block that ends.
    pub fn forget(&mut self, visible: usize) {
        for key in self.visible.drain(visible..) {
            self.comparisons.remove(&key);
        }
    }

    fn views(&self, reg: Reg) -> Views {
        let others = self.views.get(reg.number as usize).into_iter().flatten().copied();
        [Function::itself(reg)].into_iter().chain(others).collect()
    }

    fn note(&mut self, reg: Reg, view: Function) {
        let at = reg.number as usize;
        if self.views.len() <= at {
            self.views.resize(at + 1, Views::new());
        }
        self.views[at].push(view);
    }

    /// Records a comparison. An earlier equal or opposite one replaces it.
    pub fn compared(&mut self, (op, scalar): (CmpOp, Scalar), [a, b]: [&str; 2], reg: Reg) {
        let (name, is_swapped, is_inverse) = kind(op, scalar.is_float());
        let is_swapped = is_swapped || matches!(op, CmpOp::Eq | CmpOp::Ne) && b < a;
        let (a, b) = if is_swapped { (b, a) } else { (a, b) };
        let key = format!("{name} {scalar:?} {a} {b}");
        match self.comparisons.get(&key) {
            Some((first, inverse)) => {
                let (first, table) = (*first, if *inverse == is_inverse { X } else { !X & ALL });
                self.note(reg, Function { x: first, y: first, table });
            }
            None => {
                self.comparisons.insert(key.clone(), (reg, is_inverse));
                self.visible.push(key);
            }
        }
    }
}

/// A comparison as one of three kinds: the kind, true if the operands are swapped, and true if it is the opposite.
const fn kind(op: CmpOp, is_float: bool) -> (&'static str, bool, bool) {
    match op {
        CmpOp::Eq => ("eq", false, false),
        CmpOp::Ne => ("eq", false, true),
        CmpOp::Lt => ("lt", false, false),
        CmpOp::Gt => ("lt", true, false),
        // With a NaN, neither `<` nor `>=` is true.
        CmpOp::Le if is_float => ("le", false, false),
        CmpOp::Ge if is_float => ("le", true, false),
        CmpOp::Le => ("lt", true, true),
        CmpOp::Ge => ("lt", false, true),
    }
}

impl Selector<'_> {
    /// `a op b`, if the operation is a conjunction, a disjunction or an exclusive or.
    pub fn logic(&mut self, op: BinOp, a: Reg, b: Reg) -> Reg {
        let (views, others) = (self.predicates.views(a), self.predicates.views(b));
        let pairs = || views.iter().flat_map(|f| others.iter().map(move |g| (*f, *g)));
        for (f, g) in pairs() {
            match Function::joined(op, f, g) {
                Some((function, [of_a, _])) if function.table == of_a => return a,
                Some((function, [_, of_b])) if function.table == of_b => return b,
                Some((function, _)) if f.count() + g.count() > function.count() => return self.written(function),
                _ => {}
            }
        }
        let mut seen = pairs().filter_map(|(f, g)| Some(Function::joined(op, f, g)?.0));
        let ends: SmallVec<[Function; 2]> = [seen.next(), seen.next_back()].into_iter().flatten().collect();
        let made = self.apart(op, a, b, &ends);
        ends.into_iter().for_each(|view| self.predicates.note(made, view));
        made
    }

    /// `a op b` for these functions: as logic, or as a selection if another function of the same two predicates is
    /// already logic.
    fn apart(&mut self, op: BinOp, a: Reg, b: Reg, functions: &[Function]) -> Reg {
        let is_joined = functions.iter().fold(false, |joined, Function { x, y, table }| {
            *self.predicates.written.entry((*x, *y)).or_insert(*table) != *table || joined
        });
        if !is_joined {
            return self.plain_logic(op, a, b);
        }
        let number = self.word("selp.b32", format_args!("1, 0, {a}"));
        let chosen = match op {
            BinOp::And => format!("{number}, 0, {b}"),
            BinOp::Or => format!("1, {number}, {b}"),
            _ => {
                let inverse = self.word("selp.b32", format_args!("0, 1, {a}"));
                format!("{inverse}, {number}, {b}")
            }
        };
        let chosen = self.word("selp.b32", chosen);
        self.inst(Class::Pred, "setp.ne.s32", format_args!("{chosen}, 0"))
    }

    /// The inverse of a predicate.
    pub fn inverse(&mut self, a: Reg) -> Reg {
        let inverses: Views = self.predicates.views(a).iter().map(|view| view.inverse()).collect();
        for Function { x, y, table } in &inverses {
            match *table {
                X => return *x,
                Y => return *y,
                _ => {}
            }
        }
        let made = self.inst(Class::Pred, "not.pred", a);
        inverses.into_iter().for_each(|view| self.predicates.note(made, view));
        made
    }

    fn plain_logic(&mut self, op: BinOp, a: Reg, b: Reg) -> Reg {
        let name = match op {
            BinOp::And => "and.pred",
            BinOp::Or => "or.pred",
            _ => "xor.pred",
        };
        self.inst(Class::Pred, name, format_args!("{a}, {b}"))
    }

    /// False or true.
    fn constant_predicate(&mut self, table: u8) -> Reg {
        let made = self.inst(Class::Pred, "mov.pred", u8::from(table == ALL));
        self.predicates.note(made, Function { x: made, y: made, table });
        made
    }

    /// A predicate in the form that reads each of the two that it depends on once.
    fn written(&mut self, function: Function) -> Reg {
        let Function { x, y, table } = function;
        let (op, invert) = match table {
            0 | ALL => return self.constant_predicate(table),
            X => return x,
            Y => return y,
            _ if table == !X & ALL => return self.inverse(x),
            _ if table == !Y & ALL => return self.inverse(y),
            _ if table == X ^ Y => (BinOp::Xor, [false, false]),
            _ if table == !(X ^ Y) & ALL => (BinOp::Xor, [true, false]),
            // True for one combination.
            _ if table.is_power_of_two() => {
                let choice = table.trailing_zeros();
                (BinOp::And, [choice & 1 == 0, choice >> 1 == 0])
            }
            // False for one combination.
            _ => {
                let choice = table.trailing_ones();
                (BinOp::Or, [choice & 1 == 1, choice >> 1 == 1])
            }
        };
        let [a, b] =
            [(x, invert[0]), (y, invert[1])].map(|(leaf, invert)| if invert { self.inverse(leaf) } else { leaf });
        let made = self.apart(op, a, b, &[function]);
        self.predicates.note(made, function);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn predicate(number: u32) -> Reg {
        Reg { class: Class::Pred, number }
    }

    /// Swapping two predicates exchanges the mixed entries of a table.
    #[test]
    fn tables_follow_their_predicates() {
        let (x, y) = (predicate(0), predicate(1));
        let only_x = Function { x, y, table: 0b0010 };
        assert_eq!([only_x.over(x, y), only_x.over(y, x)], [0b0010, 0b0100]);
        let inverse = Function { x: y, y, table: !X & ALL };
        assert_eq!([inverse.over(x, y), inverse.over(y, x)], [!Y & ALL, !X & ALL]);
    }

    #[test]
    fn a_comparison_and_its_opposite_are_one_predicate() {
        let mut predicates = Predicates::default();
        let int = |op| (op, Scalar::I32);
        predicates.compared(int(CmpOp::Lt), ["%r0", "%r1"], predicate(0));
        let before = predicates.visible();
        predicates.compared(int(CmpOp::Le), ["%r1", "%r0"], predicate(1));
        predicates.compared(int(CmpOp::Gt), ["%r1", "%r0"], predicate(2));
        predicates.compared((CmpOp::Ge, Scalar::F32), ["%r0", "%r1"], predicate(3));
        predicates.compared(int(CmpOp::Ne), ["%r1", "%r0"], predicate(4));
        predicates.compared(int(CmpOp::Eq), ["%r0", "%r1"], predicate(5));
        let found = |number| {
            let Function { x, y, table } = *predicates.views(predicate(number)).last().unwrap();
            (x.number, y.number, table)
        };
        let inverse = !X & ALL;
        assert_eq!([1, 2, 3, 4, 5].map(found), [(0, 0, inverse), (0, 0, X), (3, 3, X), (4, 4, X), (4, 4, inverse)]);
        predicates.forget(before);
        predicates.compared(int(CmpOp::Eq), ["%r0", "%r1"], predicate(6));
        assert_eq!(predicates.views(predicate(6)).len(), 1);
    }
}
