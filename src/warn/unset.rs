//! Reads of variables that are certainly uninitialized.
//!
//! A variable may have a value after the first place, in text order, that can assign one: a store to it or to a part of
//! it, a call, or any other operation that takes its address. A read before all of these gets a warning. A read in a
//! loop that the first iteration may skip gets one only if nothing in the outermost loop around it assigns the
//! variable, because an earlier iteration may have done so. A variable that has a value on some paths gets no warning.
//!
//! The members of a struct, the components of a vector, and elements with known indices are tracked separately. A read
//! of several of them needs a value in each; a read of the whole needs a value in at least one. An `out` parameter is
//! such a variable too.

use super::slice;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{BlockId, Cases, Function, Inst, InstId, LocalId, MatrixOp, Module, Op, Value};
use crate::source::Span;
use std::cell::OnceCell;

/// The warnings about a function.
pub fn reads(module: &Module, function: &Function) -> Vec<Diagnostic> {
    search(module, function).found
}

/// The variables of a function that the warnings are about.
pub fn variables(module: &Module, function: &Function) -> Vec<LocalId> {
    let said = search(module, function).said;
    function.locals.handles().filter(|id| said[id.index()]).collect()
}

fn search<'m>(module: &'m Module, function: &'m Function) -> Search<'m> {
    let locals = function.locals.iter().map(|(_, local)| local.init.is_none());
    let is_empty = locals.chain(function.params.iter().map(|param| param.is_out));
    let given: Vec<Parts> = is_empty.map(|is_empty| if is_empty { 0 } else { WHOLE }).collect();
    let mut search = Search {
        module,
        function,
        said: vec![false; given.len()],
        given,
        journal: Vec::new(),
        used: OnceCell::new(),
        empty: vec![0; function.insts.len()],
        loops: 0,
        arms: 0,
        skips: false,
        pending: Vec::new(),
        found: Vec::new(),
    };
    search.block(function.body);
    search
}

/// Parts of a variable, one bit each; the last bit represents all further ones.
type Parts = u64;

const WHOLE: Parts = Parts::MAX;

fn part(n: u64) -> Parts {
    1 << n.min(63)
}

struct Search<'m> {
    module: &'m Module,
    function: &'m Function,
    /// The parts that may have a value here: of the variables, then of the memory that each parameter points to.
    given: Vec<Parts>,
    /// The added parts, in order.
    journal: Vec<(usize, Parts)>,
    /// The parts of each instruction's result that are used, from the first read on that may lack a value.
    used: OnceCell<Vec<Parts>>,
    /// The parts of each instruction's result that come from a variable without a value.
    empty: Vec<Parts>,
    /// Number of enclosing loops.
    loops: usize,
    /// Number of enclosing branches inside the outermost loop.
    arms: usize,
    /// True if an iteration may have ended early.
    skips: bool,
    /// Reads in the outermost loop.
    pending: Vec<(usize, Parts, Span)>,
    /// The variables that have a warning.
    said: Vec<bool>,
    found: Vec<Diagnostic>,
}

/// Finds the parts of results that are used for more than to be copied, or changed in part.
fn used(module: &Module, function: &Function) -> Vec<Parts> {
    let mut used = vec![0; function.insts.len()];
    // Uses come after the value.
    for (id, inst) in function.insts.iter().rev() {
        let kept = match inst.op {
            Op::Shuffle { .. } => {
                let parts = used[id.index()];
                let picks = picks(module, function, inst).enumerate();
                let picks = picks.filter(|(n, _)| parts & part(*n as u64) != 0);
                picks.for_each(|(_, (value, n))| mark(&mut used, value, part(n)));
                continue;
            }
            Op::Extract { composite, index } => {
                let is_used = used[id.index()] != 0;
                mark(&mut used, composite, if is_used { part(index.into()) } else { 0 });
                continue;
            }
            // The elements that a view clips keep their values.
            Op::Cooperative(MatrixOp::LoadTensor(_), list) => function.values(list).get(1).copied(),
            Op::Cooperative(_, list) => function.values(list).first().copied(),
            Op::Insert { composite, .. } | Op::InsertDynamic { composite, .. } => Some(composite),
            Op::Store { pointer, value } if slice::variable(function, pointer).is_some() => Some(value),
            _ => None,
        };
        inst.op.each_operand(function, |value| mark(&mut used, value, if kept == Some(value) { 0 } else { WHOLE }));
    }
    used
}

fn mark(used: &mut [Parts], value: Value, parts: Parts) {
    if let Value::Inst(id) = value {
        used[id.index()] |= parts;
    }
}

/// For each component of a shuffle, its operand and its number there.
fn picks(module: &Module, function: &Function, inst: &Inst) -> impl Iterator<Item = (Value, u64)> + use<> {
    let Op::Shuffle { a, b, mask } = inst.op else { unreachable!("only shuffles pick") };
    let size = |ty| module.types.components(ty).unwrap_or(1);
    let of_a = match a {
        Value::Inst(id) => size(function.insts[id].ty),
        Value::Const(id) => size(module.constants.get(id).ty),
        Value::Param(n) => size(function.params[n as usize].ty),
        Value::Global(_) | Value::Local(_) => 1,
    };
    let from = move |n: u8| if n < of_a { (a, n.into()) } else { (b, (n - of_a).into()) };
    mask.into_iter().take(size(inst.ty).into()).map(from)
}

impl Search<'_> {
    fn block(&mut self, block: BlockId) {
        for id in &self.function.blocks[block].insts {
            self.inst(*id, &self.function.insts[*id]);
        }
    }

    fn inst(&mut self, id: InstId, inst: &Inst) {
        match inst.op {
            Op::If { condition, then, otherwise, .. } => self.branch(condition, then, otherwise),
            Op::Switch { cases, .. } => self.choice(cases),
            Op::Loop { body, continuing, .. } => {
                self.loops += 1;
                let arms = self.arms;
                if self.loops == 1 {
                    (self.arms, self.skips) = (0, false);
                }
                self.block(body);
                self.block(continuing);
                self.loops -= 1;
                self.arms = arms;
                self.settle();
            }
            Op::Continue => self.skips = true,
            Op::Load(pointer) => self.load(id, pointer, inst.span),
            Op::Shuffle { .. } => self.empty[id.index()] = self.shuffled(inst),
            Op::Store { pointer, value } => self.store(pointer, value),
            Op::Access { .. } => {}
            op if op.is_arithmetic() => {}
            op => op.each_operand(self.function, |value| self.give(value)),
        }
    }

    /// The components of a shuffle's result without a value.
    fn shuffled(&self, inst: &Inst) -> Parts {
        let is_empty = |value, n| matches!(value, Value::Inst(id) if self.empty[id.index()] & part(n) != 0);
        let picks = picks(self.module, self.function, inst).enumerate();
        picks.filter(|(_, (value, n))| !is_empty(*value, *n)).fold(WHOLE, |empty, (n, _)| empty & !part(n as u64))
    }

    fn store(&mut self, pointer: Value, value: Value) {
        let Some((variable, parts)) = self.variable(pointer) else { return };
        let is_whole = slice::variable(self.function, pointer).is_some();
        self.mark(variable, if is_whole { parts & !self.left_empty(pointer, value) } else { parts });
    }

    /// The parts of a whole variable that a store leaves without a value.
    fn left_empty(&self, pointer: Value, value: Value) -> Parts {
        let Value::Inst(id) = value else { return 0 };
        let kept = match self.function.insts[id].op {
            // The components that are not written are loaded and stored.
            Op::Shuffle { a: Value::Inst(a), mask, .. } if self.function.insts[a].op == Op::Load(pointer) => {
                let same = mask.iter().enumerate().filter(|(n, from)| *n == usize::from(**from));
                same.fold(0, |kept, (n, _)| kept | part(n as u64))
            }
            _ => 0,
        };
        kept | self.empty[id.index()]
    }

    /// The variable that a pointer points into, and the parts that it may point to.
    fn variable(&self, pointer: Value) -> Option<(usize, Parts)> {
        let (base, indices) = slice::place(self.function, pointer);
        let parts = match indices.first() {
            Some(Value::Const(id)) => self.module.constants.bits(*id).map_or(WHOLE, part),
            _ => WHOLE,
        };
        slice::variable(self.function, base).map(|variable| (variable, parts))
    }

    fn has_value(&self, variable: usize, parts: Parts) -> bool {
        let given = self.given[variable];
        if parts == WHOLE { given != 0 } else { parts & !given == 0 }
    }

    fn load(&mut self, id: InstId, pointer: Value, span: Span) {
        let Some((variable, parts)) = self.variable(pointer) else { return };
        if self.given[variable] == WHOLE {
            return;
        }
        let used = self.used.get_or_init(|| used(self.module, self.function))[id.index()];
        let is_whole = slice::variable(self.function, pointer).is_some();
        // In a later iteration it may have the value from this one.
        if self.loops == 0 {
            let has_value = self.has_value(variable, parts);
            self.empty[id.index()] = if is_whole { !self.given[variable] } else { WHOLE * Parts::from(!has_value) };
        }
        let parts = if is_whole { used } else { parts };
        if used != 0 && !span.is_none() && !self.has_value(variable, parts) {
            match self.loops == 0 || self.loops == 1 && self.arms == 0 && !self.skips {
                true => self.decide(variable, parts, span),
                false => self.pending.push((variable, parts, span)),
            }
        }
    }

    /// Decides about the reads in a loop, at the end of the outermost one.
    fn settle(&mut self) {
        if self.loops == 0 {
            let pending = std::mem::take(&mut self.pending);
            pending.into_iter().for_each(|(variable, parts, span)| self.decide(variable, parts, span));
        }
    }

    /// Warns about a read of a variable without a value, once per variable.
    fn decide(&mut self, variable: usize, parts: Parts, span: Span) {
        if !self.has_value(variable, parts) && !std::mem::replace(&mut self.said[variable], true) {
            let is_part = self.given[variable] != 0;
            self.found.push(self.warning(variable, is_part, span));
        }
    }

    fn warning(&self, variable: usize, is_part: bool, span: Span) -> Diagnostic {
        let locals = &self.function.locals;
        let (name, declared, label) = match variable.checked_sub(locals.len()) {
            Some(n) => {
                let param = &self.function.params[n];
                (&param.name, param.span, "an `out` parameter has no value at first")
            }
            None => {
                let local = &locals[LocalId::from_index(variable)];
                (&local.name, local.span, "declared without a value")
            }
        };
        let of = if is_part { "a part of " } else { "" };
        let message = format!("{of}`{name}` is read before it has a value");
        let warning = Diagnostic::warning(Code::UNINITIALIZED, message).at(span, "this value is undefined");
        let warning = warning.help(format_args!("assign all of `{name}` before this"));
        if declared.is_none() { warning } else { warning.with(declared, label) }
    }

    /// If a pointer points to a variable, that variable may have a value from here on.
    fn give(&mut self, pointer: Value) {
        if let Some((variable, parts)) = self.variable(pointer) {
            self.mark(variable, parts);
        }
    }

    fn mark(&mut self, variable: usize, parts: Parts) {
        let new = parts & !self.given[variable];
        if new != 0 {
            self.given[variable] |= new;
            self.journal.push((variable, new));
        }
    }

    /// Undoes the values given since a mark in the journal.
    fn rewind(&mut self, to: usize) -> Vec<(usize, Parts)> {
        let since = self.journal.split_off(to);
        since.iter().for_each(|(variable, parts)| self.given[*variable] &= !parts);
        since
    }

    fn branch(&mut self, condition: Value, then: BlockId, otherwise: BlockId) {
        let truth = match condition {
            Value::Const(id) => self.module.constants.bits(id).map(|bits| bits != 0),
            _ => None,
        };
        let mark = self.journal.len();
        self.arms += 1;
        if truth != Some(false) {
            self.block(then);
        }
        let first = self.rewind(mark);
        if truth != Some(true) {
            self.block(otherwise);
        }
        first.into_iter().for_each(|(variable, parts)| self.mark(variable, parts));
        self.arms -= 1;
    }

    fn choice(&mut self, cases: Cases) {
        let mark = self.journal.len();
        let mut before = Vec::new();
        self.arms += 1;
        for case in self.function.arms(cases) {
            self.block(case.body);
            if !case.falls_through {
                before.append(&mut self.rewind(mark));
            }
        }
        before.into_iter().for_each(|(variable, parts)| self.mark(variable, parts));
        self.arms -= 1;
    }
}
