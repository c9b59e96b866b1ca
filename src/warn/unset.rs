//! Reads of variables that certainly have no value yet.
//!
//! A variable has a value from the first place on that may give it one, in the order of the text: a store to it or to a
//! part of it, a call, or any other operation that takes its address. A read before all of those is warned of. A read in a
//! loop that the first round may miss is warned of only if nothing in the outermost loop around it gives the variable a
//! value, since an earlier round may have done so. Nothing is said of a variable that has a value on some paths.
//!
//! The members of a struct, and elements by known indices, count each for itself; a read of the whole needs one of them.

use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{BlockId, Cases, Constants, Function, Inst, InstId, LocalId, MatrixOp, Op, Value};
use crate::source::Span;

/// The warnings about a function.
pub fn reads(constants: &Constants, function: &Function) -> Vec<Diagnostic> {
    let mut search = Search {
        constants,
        function,
        given: function.locals.iter().map(|(_, local)| if local.init.is_some() { WHOLE } else { 0 }).collect(),
        journal: Vec::new(),
        used: used(function),
        is_empty: vec![false; function.insts.len()],
        loops: 0,
        arms: 0,
        skips: false,
        pending: Vec::new(),
        said: vec![false; function.locals.len()],
        found: Vec::new(),
    };
    search.block(function.body);
    search.found
}

/// Parts of a variable, one bit each; the last bit is that of all further ones.
type Parts = u64;

const WHOLE: Parts = Parts::MAX;

struct Search<'m> {
    constants: &'m Constants,
    function: &'m Function,
    /// The parts of variables that may have a value here.
    given: Vec<Parts>,
    /// Those that came to it, in order.
    journal: Vec<(LocalId, Parts)>,
    /// For each instruction whether something is made of its result.
    used: Vec<bool>,
    /// For each instruction whether its result is what a variable without a value holds.
    is_empty: Vec<bool>,
    /// Loops around.
    loops: usize,
    /// Branches around, inside the outermost loop.
    arms: usize,
    /// Whether a round of it may have ended early.
    skips: bool,
    /// Reads in the outermost of them.
    pending: Vec<(LocalId, Parts, Span)>,
    /// The variables that were warned of.
    said: Vec<bool>,
    found: Vec<Diagnostic>,
}

/// Marks the instructions whose results are used for more than to be copied, or changed in part.
fn used(function: &Function) -> Vec<bool> {
    let mut used = vec![false; function.insts.len()];
    for (_, inst) in function.insts.iter() {
        let kept = match inst.op {
            Op::Shuffle { a, .. } => Some(a),
            // The elements that a view clips stay as they were.
            Op::Cooperative(MatrixOp::LoadTensor { .. }, list) => function.values(list).get(1).copied(),
            Op::Cooperative(_, list) => function.values(list).first().copied(),
            Op::Insert { composite, .. } | Op::InsertDynamic { composite, .. } => Some(composite),
            Op::Store { pointer: Value::Local(_), value } => Some(value),
            _ => None,
        };
        inst.op.each_operand(function, |value| {
            if let Value::Inst(id) = value {
                used[id.index()] |= kept != Some(value);
            }
        });
    }
    used
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
            Op::Store { pointer: Value::Local(_), value: Value::Inst(from) } if self.is_empty[from.index()] => {}
            Op::Access { .. } => {}
            op => op.each_operand(self.function, |value| self.give(value)),
        }
    }

    /// The variable that a pointer points into, and the parts that it may point to.
    fn variable(&self, mut pointer: Value) -> Option<(LocalId, Parts)> {
        let mut parts = WHOLE;
        while let Value::Inst(id) = pointer
            && let Op::Access { base, indices } = self.function.insts[id].op
        {
            pointer = base;
            parts = match self.function.values(indices).first() {
                Some(Value::Const(id)) => self.constants.bits(*id).map_or(WHOLE, |n| 1 << n.min(63)),
                _ => WHOLE,
            };
        }
        if let Value::Local(id) = pointer { Some((id, parts)) } else { None }
    }

    fn has_value(&self, local: LocalId, parts: Parts) -> bool {
        self.given[local.index()] & parts != 0
    }

    fn load(&mut self, id: InstId, pointer: Value, span: Span) {
        let Some((local, parts)) = self.variable(pointer).filter(|(local, parts)| !self.has_value(*local, *parts))
        else {
            return;
        };
        // In a later round it may hold what that round found.
        self.is_empty[id.index()] = self.loops == 0;
        if self.used[id.index()] && !span.is_none() {
            match self.loops == 0 || self.loops == 1 && self.arms == 0 && !self.skips {
                true => self.decide(local, parts, span),
                false => self.pending.push((local, parts, span)),
            }
        }
    }

    /// Decides about the reads in a loop, after the outermost one.
    fn settle(&mut self) {
        if self.loops == 0 {
            let pending = std::mem::take(&mut self.pending);
            pending.into_iter().for_each(|(local, parts, span)| self.decide(local, parts, span));
        }
    }

    /// Warns of a read of a variable that has no value, once for each variable.
    fn decide(&mut self, local: LocalId, parts: Parts, span: Span) {
        if !self.has_value(local, parts) && !std::mem::replace(&mut self.said[local.index()], true) {
            let is_part = self.given[local.index()] != 0;
            self.found.push(self.warning(local, is_part, span));
        }
    }

    fn warning(&self, local: LocalId, is_part: bool, span: Span) -> Diagnostic {
        let local = &self.function.locals[local];
        let of = if is_part { "a part of " } else { "" };
        let message = format!("{of}`{}` is read before it has a value", local.name);
        let warning = Diagnostic::warning(Code::UNINITIALIZED, message).at(span, "this value is undefined");
        if local.span.is_none() { warning } else { warning.with(local.span, "declared without a value") }
    }

    /// The variable behind a pointer, if that is one, may have a value from here on.
    fn give(&mut self, pointer: Value) {
        if let Some((local, parts)) = self.variable(pointer) {
            self.mark(local, parts);
        }
    }

    fn mark(&mut self, local: LocalId, parts: Parts) {
        let new = parts & !self.given[local.index()];
        if new != 0 {
            self.given[local.index()] |= new;
            self.journal.push((local, new));
        }
    }

    /// Takes back what came to a value since a place in the journal.
    fn rewind(&mut self, to: usize) -> Vec<(LocalId, Parts)> {
        let since = self.journal.split_off(to);
        since.iter().for_each(|(local, parts)| self.given[local.index()] &= !parts);
        since
    }

    fn branch(&mut self, condition: Value, then: BlockId, otherwise: BlockId) {
        let truth = match condition {
            Value::Const(id) => self.constants.bits(id).map(|bits| bits != 0),
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
        first.into_iter().for_each(|(local, parts)| self.mark(local, parts));
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
        before.into_iter().for_each(|(local, parts)| self.mark(local, parts));
        self.arms -= 1;
    }
}
