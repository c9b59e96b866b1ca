//! Facts about functions that lowering needs in advance: which variables must be in memory, what loops write, and where
//! control leaves early.
//!
//! A variable is in memory if any access to it has a run-time index, except for the component of a vector, or if it has
//! more than [`PROMOTED_LIMIT`] scalars. A `return`, or a `break` of a switch, is early unless nothing can run after it
//! in its function, or its arm: then it is just the end.

use super::shape::Shapes;
use crate::ir::calls::callees_first;
use crate::ir::flow::DeadEnds;
use crate::ir::{
    Block, BlockId, Case, FuncId, Function, GlobalId, Inst, InstId, LocalId, MathFn, Module, Op, Space, Type, TypeId,
    Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Scalars above which a variable is memory.
const PROMOTED_LIMIT: u32 = 256;

/// The variable or parameter that a pointer of a function is derived from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Root {
    Local(LocalId),
    Param(u32),
    Global(GlobalId),
    /// Not a variable of the shader: true if `demote` has made the invocation a helper.
    Helper,
}

impl Root {
    fn of(value: Value) -> Option<Root> {
        match value {
            Value::Local(id) => Some(Root::Local(id)),
            Value::Param(index) => Some(Root::Param(index)),
            Value::Global(id) => Some(Root::Global(id)),
            Value::Inst(_) | Value::Const(_) => None,
        }
    }
}

/// The facts about one function.
#[derive(Default, Debug)]
pub struct FunctionFacts {
    /// Variables that are memory.
    memory: FxHashSet<Root>,
    /// Variables written, in the order of the writes.
    stores: Vec<Root>,
    /// The part of `stores` that is inside each loop.
    loops: FxHashMap<InstId, (usize, usize)>,
    /// A `return` after which something could run.
    pub returns_early: bool,
    dead_ends: DeadEnds,
    /// Switches with a `break` after which something of its arm, or the next, could run.
    breaks_early: FxHashSet<InstId>,
}

impl FunctionFacts {
    pub fn is_memory(&self, root: Root) -> bool {
        self.memory.contains(&root)
    }

    /// The variables that a loop writes, each once.
    pub fn written_in(&self, id: InstId) -> Vec<Root> {
        let (start, end) = self.loops.get(&id).copied().unwrap_or_default();
        let mut roots = self.stores[start..end].to_vec();
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// Returns true if nothing runs after an instruction, although a jump in it may simply be the end.
    pub fn is_dead_end(&self, id: InstId) -> bool {
        self.dead_ends.has(id)
    }

    /// Returns true if the arm of a switch falls through to the next one.
    pub fn falls_through(&self, arm: &Case) -> bool {
        arm.falls_through && !self.dead_ends.has_block(arm.body)
    }

    pub fn breaks_early(&self, switch: InstId) -> bool {
        self.breaks_early.contains(&switch)
    }
}

/// The facts about all functions that an entry point reaches.
#[derive(Default)]
pub struct Facts {
    functions: FxHashMap<FuncId, Rc<FunctionFacts>>,
    memory: FxHashSet<GlobalId>,
    used: FxHashSet<GlobalId>,
    /// True if the shader asks whether the invocation is a helper.
    pub asks_helper: bool,
    /// Constant composites that are indexed at run time, in the order of their use.
    pub tables: Vec<crate::ir::ConstId>,
}

impl Facts {
    pub fn of(module: &Module, shapes: &mut Shapes, entry: FuncId) -> Facts {
        let mut facts = Facts::default();
        for id in callees_first(module, [entry]) {
            facts.function(module, shapes, id);
        }
        facts.tables.sort_unstable();
        facts.tables.dedup();
        facts
    }

    /// The facts of a function that the entry point reaches.
    pub fn get(&self, id: FuncId) -> Rc<FunctionFacts> {
        self.functions.get(&id).cloned().unwrap_or_default()
    }

    /// Returns true if anything mentions a variable.
    pub fn is_used(&self, id: GlobalId) -> bool {
        self.used.contains(&id)
    }

    pub fn is_memory(&self, id: GlobalId) -> bool {
        self.memory.contains(&id)
    }

    /// Analyzes a function, after its callees.
    fn function(&mut self, module: &Module, shapes: &mut Shapes, id: FuncId) {
        let function = &module.functions[id];
        let facts = FunctionFacts { dead_ends: DeadEnds::of(function), ..FunctionFacts::default() };
        let mut walk = Walk { module, shapes, all: self, function, facts, switches: Vec::new() };
        walk.block(function.body, true);
        let facts = Rc::new(walk.facts);
        self.functions.insert(id, facts);
    }
}

/// Returns true if a value of a type is too large for SSA form.
pub fn is_large(shapes: &mut Shapes, ty: TypeId) -> bool {
    shapes.count(ty).is_none_or(|count| count > PROMOTED_LIMIT)
}

/// A `Switch`, or a loop that hides the constructs around it.
struct Around {
    switch: Option<InstId>,
    /// True if nothing in the arm can run after this point.
    tail: bool,
}

struct Walk<'w> {
    module: &'w Module,
    shapes: &'w mut Shapes,
    all: &'w mut Facts,
    function: &'w Function,
    facts: FunctionFacts,
    /// The constructs that `Break` leaves, innermost last.
    switches: Vec<Around>,
}

impl Walk<'_> {
    /// Walks a block; `tail` is true if the function ends after it. Unreachable code is skipped.
    fn block(&mut self, id: BlockId, tail: bool) {
        let function = self.function;
        let Block { insts } = &function.blocks[id];
        let arm_tail = self.switches.last().is_some_and(|around| around.tail);
        for (at, id) in insts.iter().enumerate() {
            let (rest, dead_end) = (&insts[at + 1..], self.facts.dead_ends.has(*id));
            if let Some(around) = self.switches.last_mut() {
                around.tail = arm_tail && (dead_end || is_bare(function, rest, Op::Break));
            }
            self.instruction(
                *id,
                &function.insts[*id],
                tail && (dead_end || is_bare(function, rest, Op::Return(None))),
            );
            if dead_end {
                break;
            }
        }
        if let Some(around) = self.switches.last_mut() {
            around.tail = arm_tail;
        }
    }

    fn instruction(&mut self, id: InstId, inst: &Inst, tail: bool) {
        match inst.op {
            Op::If { then, otherwise, .. } => {
                self.block(then, tail);
                self.block(otherwise, tail);
            }
            Op::Loop { body, continuing, .. } => self.loop_(id, body, continuing),
            Op::Switch { cases, .. } => self.switch(id, self.function.arms(cases), tail),
            Op::Break => {
                if let Some(Around { switch: Some(switch), tail: false }) = self.switches.last() {
                    self.facts.breaks_early.insert(*switch);
                }
            }
            Op::Return(value) => {
                self.operands(value.as_slice());
                self.facts.returns_early |= !tail;
            }
            Op::Call(callee, args) => self.call(callee, self.function.values(args)),
            _ => self.plain(inst),
        }
    }

    fn loop_(&mut self, id: InstId, body: BlockId, continuing: BlockId) {
        let start = self.facts.stores.len();
        self.switches.push(Around { switch: None, tail: false });
        self.block(body, false);
        self.block(continuing, false);
        self.switches.pop();
        self.facts.loops.insert(id, (start, self.facts.stores.len()));
    }

    fn switch(&mut self, id: InstId, arms: &[Case], tail: bool) {
        for (at, arm) in arms.iter().enumerate() {
            let falls = self.facts.falls_through(arm) && at + 1 < arms.len();
            self.switches.push(Around { switch: Some(id), tail: !falls });
            self.block(arm.body, tail && !falls);
            self.switches.pop();
        }
    }

    fn call(&mut self, callee: FuncId, args: &[Value]) {
        self.operands(args);
        let facts = self.all.get(callee);
        let root = |root: Root| match root {
            Root::Param(index) => args.get(index as usize).and_then(|arg| self.pointer_root(*arg)),
            Root::Global(_) | Root::Helper => Some(root),
            Root::Local(_) => None,
        };
        let mut written: Vec<Root> = facts.stores.clone();
        written.sort_unstable();
        written.dedup();
        let stores: Vec<Root> = written.into_iter().filter_map(root).collect();
        let memory: Vec<Root> = facts.memory.iter().copied().filter_map(root).collect();
        self.facts.stores.extend(stores);
        memory.into_iter().for_each(|root| self.demote(root));
    }

    /// The variable that a pointer is derived from.
    fn pointer_root(&self, pointer: Value) -> Option<Root> {
        let Value::Inst(id) = pointer else { return Root::of(pointer) };
        match self.function.insts[id].op {
            Op::Access { base, .. } => Root::of(base),
            _ => None,
        }
    }

    fn demote(&mut self, root: Root) {
        if let Root::Global(id) = root {
            self.all.memory.insert(id);
        }
        self.facts.memory.insert(root);
    }

    fn plain(&mut self, inst: &Inst) {
        match inst.op {
            Op::Store { pointer, value } => {
                self.operands(&[pointer, value]);
                self.facts.stores.extend(self.pointer_root(pointer));
            }
            Op::Access { base, indices } => {
                self.operands(&[base]);
                self.access(base, self.function.values(indices));
            }
            Op::Load(pointer) | Op::ArrayLength { block: pointer } => self.operands(&[pointer]),
            Op::Atomic { pointer, args, .. } => {
                self.operands(&[pointer]);
                self.operands(self.function.values(args));
            }
            Op::Interpolate { pointer, args, .. } => {
                self.operands(&[pointer]);
                self.operands(self.function.values(args));
            }
            Op::Demote => self.facts.stores.push(Root::Helper),
            Op::Math(MathFn::IsHelper, _) => self.all.asks_helper = true,
            Op::Image { operands, .. } => self.operands(self.function.values(operands)),
            Op::ExtractDynamic { composite: Value::Const(id), index } if !matches!(index, Value::Const(_)) => {
                self.all.tables.push(id);
            }
            _ => {}
        }
    }

    fn operands(&mut self, values: &[Value]) {
        for value in values {
            if let Value::Global(id) = value {
                self.all.used.insert(*id);
            }
        }
    }

    fn access(&mut self, base: Value, indices: &[Value]) {
        let Some((root, mut ty)) = Root::of(base).zip(self.pointee(base)) else { return };
        for index in indices {
            let known = matches!(index, Value::Const(_));
            if !known && !matches!(self.shapes.types.get(ty), Type::Vector { .. }) {
                return self.demote(root);
            }
            let number = self.const_index(*index).unwrap_or(0);
            let Some(part) = self.shapes.types.element(ty, number) else { return };
            ty = part;
        }
    }

    fn const_index(&mut self, index: Value) -> Option<u32> {
        let Value::Const(id) = index else { return None };
        self.shapes.number(id)
    }

    /// Type of the target of a variable or a pointer parameter.
    fn pointee(&self, base: Value) -> Option<TypeId> {
        match base {
            Value::Local(id) => Some(self.function.locals[id].ty),
            Value::Global(id) => Some(self.module.globals[id].ty),
            Value::Param(index) => match self.shapes.types.get(self.function.params[index as usize].ty) {
                Type::Pointer { pointee, .. } => Some(pointee),
                _ => None,
            },
            Value::Inst(_) | Value::Const(_) => None,
        }
    }
}

/// Returns true if nothing follows, or only this jump.
fn is_bare(function: &Function, rest: &[InstId], jump: Op) -> bool {
    match rest {
        [] => true,
        [only] => function.insts[*only].op == jump,
        _ => false,
    }
}

/// Returns true if variables of a space can be SSA values.
pub const fn is_promotable(space: Space) -> bool {
    matches!(space, Space::Function | Space::Private)
}
