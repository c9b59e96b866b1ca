//! Random statements; every loop ends after a few iterations.

use super::scope::{EFFECTS, Mode, Program};
use super::types::{BOOL, INT, Kind, Ty, UINT};

/// Loops inside loops.
const DEEPEST: usize = 2;

impl Program {
    /// Statements in their own scope, between braces.
    pub fn block(&mut self, count: usize) {
        let known = self.variables.len();
        self.indent += 1;
        for _ in 0..count {
            self.statement();
        }
        self.indent -= 1;
        self.variables.truncate(known);
    }

    fn braces(&mut self, head: &str, tail: &str) {
        self.line(&format!("{head} {{"));
        let count = 1 + self.rng.below(3);
        self.block(count);
        self.line(&format!("}}{tail}"));
    }

    fn statement(&mut self) {
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        match self.rng.below(19) {
            0..=2 => self.declaration(),
            3..=7 => self.assignment(),
            8 => self.step(),
            9 | 10 => self.branch(),
            11 | 12 if self.loops < DEEPEST => self.repeat(),
            13 => self.switch(),
            14 => self.jump(),
            15 => self.call_statement(),
            16 => self.defined_by_cases(),
            17 => self.defined_by_condition(),
            18 => self.bit_field(),
            _ => self.assignment(),
        }
    }

    pub fn declaration(&mut self) {
        let ty = Ty::random(&mut self.rng, self.structs.0.len());
        let value = self.initializer(&ty);
        // Occasionally a name that hides another one.
        let hides = self.rng.once_in(8) && self.indent > 1;
        let name = if hides { format!("h{}", self.indent) } else { self.fresh("v") };
        if hides && self.variables.iter().any(|v| v.name == name) {
            return;
        }
        let constant = self.rng.once_in(6);
        let word = if constant { "const " } else { "" };
        self.line(&format!("{word}{} {name} = {value};", ty.name()));
        self.declare(&name, &ty, !constant, false);
    }

    /// An expression, or a braced initializer for types with parts.
    fn initializer(&mut self, ty: &Ty) -> String {
        if !self.rng.once_in(4) {
            return self.expr(ty, 2);
        }
        let parts: Vec<Ty> = match ty {
            Ty::Vector(kind, size) if *size > 1 => vec![Ty::Vector(*kind, 1); usize::from(*size)],
            Ty::Matrix(columns, rows) => vec![Ty::Vector(Kind::Float, *rows); usize::from(*columns)],
            Ty::Array(element, len) => vec![(**element).clone(); usize::from(*len)],
            Ty::Struct(index) => self.structs.0[*index].clone(),
            Ty::Vector(..) => return self.expr(ty, 2),
        };
        let parts: Vec<String> = parts.iter().map(|part| self.initializer(part)).collect();
        format!("{{ {} }}", parts.join(", "))
    }

    fn assignment(&mut self) {
        let ty = Ty::random(&mut self.rng, self.structs.0.len());
        let Some(target) = self.part(&ty, true) else { return };
        let depth = 1 + self.rng.below(3);
        let value = self.expr(&ty, depth);
        let line = match &ty {
            Ty::Vector(Kind::Int | Kind::Uint, _) if self.rng.once_in(2) => {
                format!("{target} {}= {value};", self.rng.pick(&["+", "-", "*", "&", "|", "^"]))
            }
            // Bounded, so that loops do not leave the exact floats.
            Ty::Vector(Kind::Float, _) | Ty::Matrix(..) => format!("{target} = lim({value});"),
            _ => format!("{target} = {value};"),
        };
        self.line(&line);
    }

    fn step(&mut self) {
        let kind = *self.rng.pick(&[Kind::Int, Kind::Uint]);
        let ty = Ty::Vector(kind, 1 + self.rng.below(4) as u8);
        let Some(target) = self.part(&ty, true) else { return };
        let line = match self.rng.below(4) {
            0 => format!("{target}++;"),
            1 => format!("--{target};"),
            2 => format!("{target} <<= {};", self.rng.below(9)),
            _ => format!("{target} >>= {};", self.rng.below(9)),
        };
        self.line(&line);
    }

    fn branch(&mut self) {
        let condition = self.expr(&BOOL, 2);
        self.braces(&format!("if ({condition})"), "");
        if self.rng.once_in(2) {
            self.braces("else", "");
        }
    }

    fn repeat(&mut self) {
        self.loops += 1;
        let counter = self.fresh("k");
        let times = 1 + self.rng.below(4);
        let condition = self.expr(&BOOL, 1);
        match self.rng.below(4) {
            0 | 1 => {
                self.declare(&counter, &INT, false, false);
                let extra = if self.rng.once_in(4) { format!(" && {condition}") } else { String::new() };
                self.braces(&format!("for (int {counter} = 0; {counter} < {times}{extra}; {counter}++)"), "");
                self.variables.retain(|v| v.name != counter);
            }
            2 => {
                self.line(&format!("int {counter} = 0;"));
                self.braces(&format!("while ({counter}++ < {times} && {condition})"), "");
            }
            _ => {
                self.line(&format!("int {counter} = 0;"));
                self.braces("do", &format!(" while (++{counter} < {times} && {condition});"));
            }
        }
        self.loops -= 1;
    }

    fn switch(&mut self) {
        let selector = self.expr(self.rng.clone().pick(&[INT, UINT]), 1);
        let uint = self.rng.once_in(2);
        let (name, suffix) = if uint { ("uint", "u") } else { ("int", "") };
        self.line(&format!("switch ({name}({selector}) & 3{suffix}) {{"));
        let default = self.rng.below(5);
        let count = 2 + self.rng.below(3);
        for case in 0..count {
            if case == default {
                self.line("default:");
            }
            self.line(&format!("case {}{suffix}:", (case * 3) % 4));
            let known = self.variables.len();
            self.indent += 1;
            self.line("{");
            let size = 1 + self.rng.below(2);
            self.block(size);
            self.line("}");
            if self.rng.once_in(2) {
                self.line("break;");
            }
            self.indent -= 1;
            self.variables.truncate(known);
        }
        self.line("}");
    }

    /// A variable that is assigned only in the cases of a switch, some of which fall through.
    fn defined_by_cases(&mut self) {
        let (ty, selector) = (self.scalar(), self.expr(&INT, 1));
        let (name, chosen) = (self.fresh("w"), self.fresh("w"));
        let values: Vec<String> = (0..5).map(|_| self.expr(&ty, 1)).collect();
        self.line(&format!("int {chosen} = {selector} & 3; {} {name};", ty.name()));
        self.line(&format!("switch ({chosen}) {{"));
        self.line(&format!("case 0: {name} = {};", values[0]));
        self.line(&format!("case 1: if ({chosen} == 1) {name} = {}; break;", values[1]));
        self.line(&format!("case 2: {name} = {};", values[2]));
        self.line(&format!("default: {name} = {chosen} == 2 && {name} == {} ? {name} : {};", values[3], values[4]));
        self.line("}");
        self.declare(&name, &ty, true, false);
    }

    /// A variable that is assigned under a condition, computations with it everywhere, and a use where it is defined.
    fn defined_by_condition(&mut self) {
        let ty = self.scalar();
        let Some(target) = self.part(&ty, true) else { return };
        let (name, is_defined, same) = (self.fresh("w"), self.fresh("w"), self.fresh("w"));
        let condition = self.expr(&BOOL, 2);
        let values: Vec<String> = (0..3).map(|_| self.expr(&ty, 1)).collect();
        self.line(&format!("bool {is_defined} = {condition}; {} {name};", ty.name()));
        self.line(&format!("if ({is_defined}) {name} = {};", values[0]));
        self.line(&format!("bool {same} = {name} == {};", values[1]));
        match self.rng.below(2) {
            0 => self.line(&format!("if ({is_defined} && {same}) {target} = {name};")),
            _ => self.line(&format!("{target} = {is_defined} ? ({same} ? {name} : {}) : {target};", values[2])),
        }
    }

    /// Reads or writes a bit field, which may extend beyond the word if the result is unused.
    fn bit_field(&mut self) {
        let ty = self.rng.pick(&[INT, UINT]).clone();
        let Some(target) = self.part(&ty, true) else { return };
        let (field, offset, bits) = (self.fresh("w"), self.fresh("w"), self.fresh("w"));
        let [first, second] = [INT, INT].map(|ty| self.expr(&ty, 1));
        let (base, insert) = (self.expr(&ty, 1), self.expr(&ty, 1));
        self.line(&format!("int {offset} = {first} & 31, {bits} = {second} & 31;"));
        let call = match self.rng.below(2) {
            0 => format!("bitfieldExtract({base}, {offset}, {bits})"),
            _ => format!("bitfieldInsert({base}, {insert}, {offset}, {bits})"),
        };
        self.line(&format!("{} {field} = {call};", ty.name()));
        self.line(&format!("if ({offset} + {bits} <= 32) {target} = {field};"));
    }

    /// A type that can be compared with `==` exactly.
    fn scalar(&mut self) -> Ty {
        self.rng.pick(&[INT, UINT, BOOL]).clone()
    }

    /// `break`, `continue` or `return` under a condition.
    fn jump(&mut self) {
        let condition = self.expr(&BOOL, 1);
        let jump = match self.rng.below(3) {
            0 if self.loops > 0 => "break;".to_string(),
            1 if self.loops > 0 => "continue;".to_string(),
            _ => match self.ret.clone() {
                Some(ty) => format!("return {};", self.expr(&ty, 1)),
                None => return,
            },
        };
        self.line(&format!("if ({condition}) {jump}"));
    }

    /// A call whose `out` arguments are parts of variables that no other argument reads.
    fn call_statement(&mut self) {
        let found: Vec<_> = self.functions.iter().filter(|f| f.ret.is_none()).cloned().collect();
        if found.is_empty() || self.calls < 2 {
            return;
        }
        self.calls -= 2;
        let function = self.rng.pick(&found).clone();
        let mut args = Vec::new();
        for (mode, ty) in &function.params {
            let arg = match mode {
                Mode::In => self.expr(ty, 1),
                _ => {
                    let value = self.expr(ty, 1);
                    let name = self.fresh("t");
                    self.line(&format!("{} {name} = {value};", ty.name()));
                    self.declare(&name, ty, true, false);
                    name
                }
            };
            args.push(arg);
        }
        self.line(&format!("{}({});", function.name, args.join(", ")));
        // A single `out` argument may be a part of anything.
        let [(mode, ty), rest @ ..] = function.params.as_slice() else { return };
        if *mode != Mode::In
            && rest.iter().all(|(mode, _)| *mode == Mode::In)
            && let Some(target) = self.part(ty, true)
        {
            let rest: Vec<String> = args[1..].iter().map(|arg| format!(", {arg}")).collect();
            self.line(&format!("{}({target}{});", function.name, rest.concat()));
        }
        let effect = *self.rng.pick(&EFFECTS);
        let amount = self.rng.below(99);
        self.line(&format!("{effect} += {amount};"));
    }
}
