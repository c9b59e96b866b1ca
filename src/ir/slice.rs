//! Slices of a function: the instructions that some of its effects need.
//!
//! The slices of a function may run separately if each computes everything it needs. Control flow is kept: an
//! instruction needs the enclosing constructs, their conditions and the jumps that leave them.

use super::{BlockId, FuncId, Function, GlobalId, ImageOp, InstId, LocalId, Module, Op, Space, Types, Value, calls};
use crate::limits;
use rustc_hash::{FxHashMap, FxHashSet};

/// Memory that a function's own stores fill.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    Local(LocalId),
    Global(GlobalId),
}

/// The variable that a pointer points into; `None` for parameters and buffer references.
pub fn memory_of(f: &Function, pointer: Value) -> Option<Memory> {
    match pointer {
        Value::Local(id) => Some(Memory::Local(id)),
        Value::Global(id) => Some(Memory::Global(id)),
        Value::Inst(id) => match f.insts[id].op {
            Op::Access { base, .. } => memory_of(f, base),
            _ => None,
        },
        _ => None,
    }
}

/// The module's variables that a function uses, directly or through calls.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    pub globals: FxHashSet<GlobalId>,
    pub writes: FxHashSet<GlobalId>,
    /// True if its execution may be observable, through memory or otherwise.
    pub is_seen: bool,
}

impl Effects {
    /// The slices of every function that `roots` reach, by function index.
    pub fn of(module: &Module, roots: impl IntoIterator<Item = FuncId>) -> Vec<Effects> {
        let mut all = vec![Effects::default(); module.functions.len()];
        for id in calls::callees_first(module, roots) {
            let f = &module.functions[id];
            let mut own = Effects::default();
            for (_, inst) in f.insts.iter() {
                own.add(module, f, inst.op);
                if let Op::Call(callee, _) = inst.op {
                    let inner = &all[callee.index()];
                    limits::spend(inner.globals.len());
                    own.globals.extend(&inner.globals);
                    own.writes.extend(&inner.writes);
                    own.is_seen |= inner.is_seen;
                }
            }
            all[id.index()] = own;
        }
        all
    }

    fn add(&mut self, module: &Module, f: &Function, op: Op) {
        op.each_operand(f, |value| self.globals.extend(if let Value::Global(id) = value { Some(id) } else { None }));
        self.is_seen |= is_seen(module, f, op);
        if let Op::Store { pointer, .. } | Op::Atomic { pointer, .. } = op
            && let Some(Memory::Global(id)) = memory_of(f, pointer)
        {
            self.writes.insert(id);
        }
        if let Op::Call(_, args) = op {
            let pointers = f.values(args).iter().filter_map(|arg| memory_of(f, *arg));
            self.writes.extend(pointers.filter_map(|memory| match memory {
                Memory::Global(id) => Some(id),
                Memory::Local(_) => None,
            }));
        }
    }
}

/// Returns true if an instruction itself, not a function that it calls, has an observable effect. Stores to outputs do
/// not count.
pub fn is_seen(module: &Module, f: &Function, op: Op) -> bool {
    match op {
        Op::Store { pointer, .. } => match memory_of(f, pointer) {
            Some(Memory::Local(_)) => false,
            Some(Memory::Global(id)) => !matches!(module.globals[id].space, Space::Private | Space::Output),
            // A parameter points to a variable of the caller.
            None => !matches!(pointer, Value::Param(_)) && !points_to_param(f, pointer),
        },
        Op::Image { op, .. } => matches!(op, ImageOp::Write | ImageOp::Atomic(..)),
        Op::Atomic { .. } | Op::Print { .. } | Op::Foreign(..) | Op::Interlock { .. } | Op::Discard | Op::Demote => {
            true
        }
        Op::End(..) => true,
        _ => false,
    }
}

fn points_to_param(f: &Function, pointer: Value) -> bool {
    matches!(pointer, Value::Inst(id) if matches!(f.insts[id].op, Op::Access { base: Value::Param(_), .. }))
}

/// The position of an instruction in its function.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The construct around it.
    pub parent: Option<InstId>,
    /// Its block.
    pub block: BlockId,
    /// Its number in text order.
    pub at: u32,
}

/// The positions of a function's instructions, and the jumps that leave each construct.
#[derive(Debug, Default)]
pub struct Outline {
    places: FxHashMap<InstId, Place>,
    jumps: FxHashMap<InstId, Vec<InstId>>,
    returns: Vec<InstId>,
}

impl Outline {
    pub fn of(f: &Function) -> Outline {
        let mut outline = Outline::default();
        outline.block(f, f.body, None, [None; 2]);
        outline
    }

    /// `None` for instructions in no block.
    pub fn place(&self, id: InstId) -> Option<Place> {
        self.places.get(&id).copied()
    }

    /// The constructs around an instruction, innermost first, each with the nested block that contains the instruction.
    pub fn around(&self, id: InstId) -> impl Iterator<Item = (InstId, BlockId)> + '_ {
        let outer = |id: InstId| self.place(id).and_then(|place| Some((place.parent?, place.block)));
        std::iter::successors(outer(id), move |(parent, _)| outer(*parent))
    }

    /// `within` are the loop or switch that a `Break` leaves and the loop that a `Continue` continues.
    fn block(&mut self, f: &Function, block: BlockId, parent: Option<InstId>, within: [Option<InstId>; 2]) {
        for id in &f.blocks[block].insts {
            let at = self.places.len() as u32;
            self.places.insert(*id, Place { parent, block, at });
            let op = f.insts[*id].op;
            let target = match op {
                Op::Break => within[0],
                Op::Continue => within[1],
                _ => None,
            };
            if let Some(target) = target {
                self.jumps.entry(target).or_default().push(*id);
            }
            if matches!(op, Op::Return(_)) {
                self.returns.push(*id);
            }
            let inner = match op {
                Op::Loop { .. } => [Some(*id); 2],
                Op::Switch { .. } => [Some(*id), within[1]],
                _ => within,
            };
            f.inner_blocks(op).into_iter().for_each(|block| self.block(f, block, Some(*id), inner));
        }
    }
}

/// The instructions of a part being found.
struct Part<'a> {
    f: &'a Function,
    outline: &'a Outline,
    effects: &'a [Effects],
    tracks: &'a dyn Fn(GlobalId) -> bool,
    writers: FxHashMap<Memory, Vec<InstId>>,
    kept: FxHashSet<InstId>,
    filled: FxHashSet<Memory>,
    open: Vec<InstId>,
}

/// The instructions of a function that `roots` need, including `roots`. For module variables in `tracks`, it includes
/// the function's stores to them.
pub fn part(
    f: &Function,
    outline: &Outline,
    effects: &[Effects],
    roots: impl IntoIterator<Item = InstId>,
    tracks: &dyn Fn(GlobalId) -> bool,
) -> FxHashSet<InstId> {
    let writers = writers(f, outline, effects);
    let (kept, filled, open) = (FxHashSet::default(), FxHashSet::default(), Vec::new());
    let mut part = Part { f, outline, effects, tracks, writers, kept, filled, open };
    roots.into_iter().for_each(|root| part.keep(root));
    part.run();
    while part.keep_returns() {
        part.run();
    }
    part.kept
}

/// The instructions that write to each variable.
fn writers(f: &Function, outline: &Outline, effects: &[Effects]) -> FxHashMap<Memory, Vec<InstId>> {
    let mut writers: FxHashMap<Memory, Vec<InstId>> = FxHashMap::default();
    let mut all: Vec<InstId> = outline.places.keys().copied().collect();
    all.sort_unstable_by_key(|id| id.index());
    for id in all {
        let mut add = |memory: Memory| writers.entry(memory).or_default().push(id);
        match f.insts[id].op {
            Op::Store { pointer, .. } | Op::Atomic { pointer, .. } | Op::Ray { on: pointer, .. } => {
                memory_of(f, pointer).into_iter().for_each(&mut add);
            }
            Op::Call(callee, args) => {
                f.values(args).iter().filter_map(|arg| memory_of(f, *arg)).for_each(&mut add);
                let mut writes: Vec<GlobalId> = effects[callee.index()].writes.iter().copied().collect();
                writes.sort_unstable_by_key(|id| id.index());
                writes.into_iter().for_each(|global| add(Memory::Global(global)));
            }
            op @ Op::Foreign(..) => op.each_operand(f, |value| memory_of(f, value).into_iter().for_each(&mut add)),
            _ => {}
        }
    }
    writers
}

impl Part<'_> {
    fn keep(&mut self, id: InstId) {
        if self.kept.insert(id) {
            self.open.push(id);
        }
    }

    fn run(&mut self) {
        while let Some(id) = self.open.pop() {
            self.needs_of(id);
        }
    }

    fn needs_of(&mut self, id: InstId) {
        let inst = &self.f.insts[id];
        if let Some(parent) = self.outline.place(id).and_then(|place| place.parent) {
            self.keep(parent);
        }
        inst.op.each_operand(self.f, |value| self.need(value));
        match inst.op {
            Op::Call(callee, _) => {
                let effects = self.effects;
                effects[callee.index()].globals.iter().for_each(|global| self.need(Value::Global(*global)));
            }
            Op::If { then, otherwise, .. } if inst.ty != Types::VOID => {
                let yields = [then, otherwise].map(|block| self.f.blocks[block].insts.last().copied());
                yields.into_iter().flatten().for_each(|last| self.keep(last));
            }
            Op::Loop { break_if, .. } => break_if.into_iter().for_each(|value| self.need(value)),
            _ => {}
        }
        let outline = self.outline;
        outline.jumps.get(&id).into_iter().flatten().for_each(|jump| self.keep(*jump));
    }

    fn need(&mut self, value: Value) {
        let memory = match value {
            Value::Inst(id) => return self.keep(id),
            Value::Local(id) => Memory::Local(id),
            Value::Global(id) if (self.tracks)(id) => Memory::Global(id),
            _ => return,
        };
        if self.filled.insert(memory) {
            let writers = self.writers.get(&memory).cloned().unwrap_or_default();
            writers.into_iter().for_each(|writer| self.keep(writer));
        }
    }

    /// Keeps the returns that precede a kept instruction. Returns true if there was one.
    fn keep_returns(&mut self) -> bool {
        let outline = self.outline;
        let at = |id: InstId| outline.place(id).map_or(0, |place| place.at);
        let last = self.kept.iter().map(|id| at(*id)).max().unwrap_or(0);
        let repeats = |id| {
            let mut around = outline.around(id);
            around.any(|(outer, _)| self.kept.contains(&outer) && matches!(self.f.insts[outer].op, Op::Loop { .. }))
        };
        let is_needed = |id: &&InstId| !self.kept.contains(*id) && (at(**id) < last || repeats(**id));
        let found: Vec<InstId> = outline.returns.iter().filter(is_needed).copied().collect();
        found.iter().for_each(|id| self.keep(*id));
        !found.is_empty()
    }
}

/// Takes all other instructions out of a function.
pub fn keep_only(f: &mut Function, kept: &FxHashSet<InstId>) {
    let Function { blocks, insts, .. } = f;
    for (_, block) in blocks.iter_mut() {
        block.insts.retain(|id| kept.contains(id) || matches!(insts[*id].op, Op::Unreachable));
    }
    let all: Vec<InstId> = insts.handles().filter(|id| !kept.contains(id)).collect();
    for id in all {
        (insts[id].op, insts[id].ty) = (Op::Unreachable, Types::VOID);
    }
}

/// Puts other values into the places of some.
pub fn replace(f: &mut Function, with: &FxHashMap<Value, Value>) {
    let other = |value: Value| with.get(&value).copied().unwrap_or(value);
    f.operands.iter_mut().for_each(|value| *value = other(*value));
    f.insts.iter_mut().for_each(|(_, inst)| inst.op = inst.op.map_operands(other));
}
