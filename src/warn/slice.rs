//! The part of a module that the walk must examine: the watched operations, the conditions on the way to them, and
//! their operands. It is small in most shaders.
//!
//! Marking goes backwards from the watched operations until it finds nothing new. If a reduction leaves its result in
//! one lane, everything that the result reaches matters too, so the whole module is walked.

use super::check::{is_watched, uniform_operand, watches};
use crate::ir::{BlockId, FuncId, Function, InstId, Module, Op, Space, Value, Values};
use crate::lane::{LaneOp, ReduceKind, Role};

/// Marking passes after which everything is examined. Two are usual; a value that travels from variable to variable
/// around loops takes one more for each.
const PASSES: usize = 8;

/// The marked part of a module.
pub struct Slice<'m> {
    module: &'m Module,
    size: u8,
    functions: Vec<Needs>,
    globals: Vec<bool>,
    /// True if the whole module is marked.
    whole: bool,
    /// True if a new mark affects previously examined functions.
    spreads: bool,
}

/// Why the walk examines an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    /// Needed for its effects, not for its result.
    Walked,
    /// Its result is needed.
    Wanted,
}

/// The marked part of a function.
#[derive(Default)]
struct Needs {
    /// True if it or a function that it calls contains watched lanes, ends lanes, or changes variables of the module.
    acts: bool,
    /// True if the walk reaches it.
    is_called: bool,
    /// True if a new mark may affect other marks in it.
    is_stale: bool,
    insts: Vec<Mark>,
    /// The variables, then the memory that each parameter points to.
    variables: Vec<bool>,
    params: Vec<bool>,
    result: bool,
}

/// The variable that a pointer points into, and the indices after it.
pub fn place(function: &Function, pointer: Value) -> (Value, &[Value]) {
    let Value::Inst(id) = pointer else { return (pointer, &[]) };
    match function.insts[id].op {
        Op::Access { base, indices } => (base, function.values(indices)),
        _ => (pointer, &[]),
    }
}

/// The number of a variable, or of the memory that a parameter points to.
pub fn variable(function: &Function, base: Value) -> Option<usize> {
    match base {
        Value::Local(id) => Some(id.index()),
        Value::Param(n) => Some(function.locals.len() + n as usize),
        Value::Const(_) | Value::Inst(_) | Value::Global(_) => None,
    }
}

/// The constructs around an instruction.
#[derive(Clone, Copy, Default)]
struct Around {
    /// Loops.
    depth: usize,
    /// True if the construct is marked that a `break`, a `continue` or a result value belongs to.
    breaks: bool,
    continues: bool,
    yields: bool,
}

impl<'m> Slice<'m> {
    /// The slice of the functions in `order`, whose callees precede their callers, for subgroups of 2 to the `size`.
    pub fn new(module: &'m Module, order: &[FuncId], size: u8) -> Slice<'m> {
        let functions = module.functions.iter().map(|_| Needs::default()).collect();
        let globals = vec![false; module.globals.len()];
        let mut slice = Slice { module, size, functions, globals, whole: false, spreads: false };
        for id in order {
            slice.open(*id);
        }
        if let Some(last) = order.last() {
            slice.functions[last.index()].call(false);
        }
        slice.mark(order);
        slice
    }

    /// Everything.
    #[cfg(test)]
    pub fn whole(module: &'m Module) -> Slice<'m> {
        Slice { whole: true, ..Slice::new(module, &[], 0) }
    }

    /// Returns true if the walk visits a function.
    pub fn calls(&self, id: FuncId) -> bool {
        self.whole || self.functions[id.index()].is_called
    }

    /// Returns true if the walk examines an instruction.
    pub fn has(&self, function: FuncId, inst: InstId) -> bool {
        self.whole || self.functions[function.index()].insts[inst.index()] != Mark::None
    }

    fn open(&mut self, id: FuncId) {
        let function = &self.module.functions[id];
        let mut acts = false;
        for (_, inst) in function.insts.iter() {
            match inst.op {
                Op::Lane(LaneOp::Reduce { kind: ReduceKind::Reduce | ReduceKind::ReduceLow, .. }, _) => {
                    self.whole = true
                }
                op if watches(op) => acts = true,
                Op::Discard | Op::End(..) => acts = true,
                Op::Store { pointer, .. } => acts |= self.is_private(place(function, pointer).0),
                Op::Call(callee, _) => acts |= self.functions[callee.index()].acts,
                _ => {}
            }
        }
        let params = function.params.len();
        self.functions[id.index()] = Needs {
            acts,
            insts: vec![Mark::None; function.insts.len()],
            variables: vec![false; function.locals.len() + params],
            params: vec![false; params],
            ..Needs::default()
        };
    }

    /// Returns true if a value is a module variable with one instance per invocation.
    fn is_private(&self, base: Value) -> bool {
        matches!(base, Value::Global(id) if self.module.globals[id].space == Space::Private)
    }

    fn mark(&mut self, order: &[FuncId]) {
        for _ in 0..PASSES {
            order.iter().rev().for_each(|id| self.pass(*id));
            if self.whole || !order.iter().any(|id| self.functions[id.index()].is_stale) {
                return;
            }
        }
        self.whole = true;
    }

    /// Marks a function, from its end to its start.
    fn pass(&mut self, id: FuncId) {
        let mut needs = std::mem::take(&mut self.functions[id.index()]);
        if self.whole || !std::mem::take(&mut needs.is_stale) {
            self.functions[id.index()] = needs;
            return;
        }
        let function = &self.module.functions[id];
        let mut pass = Pass { slice: self, function, needs };
        pass.block(function.body, Around::default());
        let needs = pass.needs;
        self.functions[id.index()] = needs;
        if std::mem::take(&mut self.spreads) {
            self.functions.iter_mut().for_each(|needs| needs.is_stale = needs.is_called);
        }
    }
}

impl Needs {
    /// Marks a call, and its result if it is needed.
    fn call(&mut self, is_wanted: bool) {
        self.is_stale |= !self.is_called || is_wanted && !self.result;
        self.is_called = true;
        self.result |= is_wanted;
    }
}

/// A pass over one function.
struct Pass<'s, 'm> {
    slice: &'s mut Slice<'m>,
    function: &'m Function,
    needs: Needs,
}

impl Pass<'_, '_> {
    /// Returns true if anything in a block was marked because of divergence, or if a variable changes.
    fn block(&mut self, block: BlockId, around: Around) -> bool {
        let mut acts = false;
        for inst in self.function.blocks[block].insts.iter().rev() {
            acts |= self.inst(*inst, around);
        }
        acts
    }

    fn inst(&mut self, id: InstId, around: Around) -> bool {
        let mark = self.needs.insts[id.index()];
        let op = self.function.insts[id].op;
        let acts = self.acts(op, mark, around);
        if acts && mark == Mark::None {
            self.needs.insts[id.index()] = Mark::Walked;
        }
        if mark == Mark::Wanted {
            self.made_of(op, around);
        }
        acts
    }

    fn acts(&mut self, op: Op, mark: Mark, around: Around) -> bool {
        match op {
            Op::If { condition, then, otherwise, .. } => {
                let within = Around { yields: mark == Mark::Wanted, ..around };
                let acts = self.block(otherwise, within) | self.block(then, within);
                self.want_if(acts, Some(condition))
            }
            Op::Switch { selector, cases, .. } => {
                let within = Around { breaks: mark != Mark::None, ..around };
                let mut acts = false;
                for case in self.function.arms(cases).iter().rev() {
                    acts |= self.block(case.body, within);
                }
                self.needs.is_stale |= acts && mark == Mark::None;
                self.want_if(acts, Some(selector))
            }
            Op::Loop { body, continuing, break_if, .. } => {
                let is_marked = self.want_if(mark != Mark::None, break_if);
                let within = Around { depth: around.depth + 1, breaks: is_marked, continues: is_marked, ..around };
                let acts = self.block(continuing, within) | self.block(body, within);
                self.needs.is_stale |= acts && !is_marked;
                acts
            }
            Op::Break => around.breaks,
            Op::Continue => around.continues,
            Op::Discard | Op::End(..) => true,
            Op::Barrier { .. } => watches(op),
            Op::Return(value) => {
                self.want_if(self.needs.result, value);
                true
            }
            Op::Yield(value) => self.want_if(around.yields, Some(value)),
            Op::Store { pointer, value } => self.store(pointer, value),
            Op::Call(callee, args) => self.call(callee, args, mark == Mark::Wanted, around),
            Op::Lane(op, args) if is_watched(op) => {
                let index = uniform_operand(op, self.slice.size).map(|(n, _)| n);
                let index = index.or(op.signature().bound.and(op.signature().position(Role::Index)));
                self.want_if(true, index.map(|n| self.function.values(args)[n]))
            }
            _ => false,
        }
    }

    /// Marks the operands of a needed result.
    fn made_of(&mut self, op: Op, around: Around) {
        match op {
            Op::Load(pointer) => self.want_behind(pointer, around),
            // The body of the called function is marked separately.
            Op::Call(..) => {}
            _ => op.each_operand(self.function, |value| self.want(value)),
        }
    }

    fn store(&mut self, pointer: Value, value: Value) -> bool {
        let (base, indices) = place(self.function, pointer);
        let is_wanted = self.is_wanted(base);
        indices.iter().for_each(|index| _ = self.want_if(is_wanted, Some(*index)));
        self.want_if(is_wanted, Some(value))
    }

    /// Returns true if the contents of a variable are needed.
    fn is_wanted(&self, base: Value) -> bool {
        match (variable(self.function, base), base) {
            (Some(variable), _) => self.needs.variables[variable],
            (None, Value::Global(id)) => self.slice.globals[id.index()],
            _ => false,
        }
    }

    fn call(&mut self, callee: FuncId, args: Values, is_wanted: bool, around: Around) -> bool {
        let args = self.function.values(args);
        let locals = self.slice.module.functions[callee].locals.len();
        let mut acts = is_wanted || self.slice.functions[callee.index()].acts;
        for (n, arg) in args.iter().enumerate() {
            let (base, _) = place(self.function, *arg);
            if self.is_wanted(base) {
                let called = &mut self.slice.functions[callee.index()];
                called.is_stale |= !std::mem::replace(&mut called.variables[locals + n], true);
                acts = true;
            }
        }
        if !acts {
            return false;
        }
        self.slice.functions[callee.index()].call(is_wanted);
        for (n, arg) in args.iter().enumerate() {
            let called = &self.slice.functions[callee.index()];
            if called.params[n] || called.variables[locals + n] {
                self.want_behind(*arg, around);
            }
        }
        true
    }

    /// Marks a value if a condition holds, and returns the condition.
    fn want_if(&mut self, holds: bool, value: Option<Value>) -> bool {
        value.filter(|_| holds).into_iter().for_each(|value| self.want(value));
        holds
    }

    fn want(&mut self, value: Value) {
        match value {
            Value::Inst(id) => self.needs.insts[id.index()] = Mark::Wanted,
            // Callers were marked before.
            Value::Param(n) => self.slice.spreads |= !std::mem::replace(&mut self.needs.params[n as usize], true),
            Value::Const(_) | Value::Global(_) | Value::Local(_) => {}
        }
    }

    /// Marks the memory that a pointer points to, or a value that is not a pointer.
    fn want_behind(&mut self, pointer: Value, around: Around) {
        let (base, indices) = place(self.function, pointer);
        indices.iter().for_each(|index| self.want(*index));
        self.want(base);
        if let Some(variable) = variable(self.function, base) {
            let is_new = !std::mem::replace(&mut self.needs.variables[variable], true);
            // Stores of earlier iterations follow.
            self.needs.is_stale |= is_new && around.depth > 0;
        }
        if let Value::Global(id) = base {
            self.slice.spreads |= !std::mem::replace(&mut self.slice.globals[id.index()], true);
        }
    }
}
