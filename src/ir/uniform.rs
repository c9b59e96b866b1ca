//! Uniformity (WGSL 15.2): control flow in which the invocations of a workgroup, or of a quad, may diverge.
//!
//! A value is uniform or not; values from memory that invocations write are not uniform.

use super::calls::callees_first;
use super::{
    Binding, BlockId, BuiltIn, Case, FuncId, Function, GlobalId, ImageOp, Inst, InstId, LocalId, Module, Op, Space,
    TypeId, Types, Value,
};
use crate::lane::{Depends, Group, LaneOp, Width};
use crate::limits;
use rustc_hash::{FxHashMap, FxHashSet};

/// The instructions that `asks` selects and that a part of the workgroup may not reach, in the order of discovery.
/// `same` are the variables that no invocation changes.
pub fn parted(module: &Module, same: FxHashSet<GlobalId>, asks: impl Fn(&Op) -> bool) -> Vec<(FuncId, InstId)> {
    let (found, seen, calls) = (Vec::new(), FxHashSet::default(), FxHashMap::default());
    let mut search = Search { module, same, asks: &asks, found, seen, calls, depth: 0 };
    for entry in &module.entry_points {
        Walk::new(&mut search, entry.function, Vec::new(), false, true).run();
    }
    search.found
}

/// Returns true if some function writes to a variable.
pub fn is_written(module: &Module, id: GlobalId) -> bool {
    let is_part = |f: &Function, pointer| match pointer {
        Value::Inst(at) => matches!(f.insts[at].op, Op::Access { base, .. } if base == Value::Global(id)),
        other => other == Value::Global(id),
    };
    let writes = |f: &Function| {
        limits::spend(f.insts.len());
        f.insts.iter().any(|(_, inst)| match inst.op {
            Op::Store { pointer, .. } | Op::Atomic { pointer, .. } => is_part(f, pointer),
            _ => false,
        })
    };
    module.functions.iter().any(|(_, f)| writes(f))
}

/// Returns true for an input that is the same in a whole workgroup.
fn is_of_workgroup(binding: Binding) -> bool {
    use BuiltIn::{NumSubgroups, NumWorkgroups, WorkgroupId};
    matches!(binding, Binding::BuiltIn(WorkgroupId | NumWorkgroups | NumSubgroups))
}

/// Returns true for an operation that gives all invocations of the workgroup one value.
fn is_of_whole_workgroup(op: LaneOp) -> bool {
    let signature = op.signature();
    signature.depends == Depends::Span && signature.span.width() == Some(Width::WORKGROUP)
}

/// A call: the function, the varying arguments (for pointers their targets), and the control flow.
type Call = (FuncId, Vec<bool>, bool);

struct Search<'a> {
    module: &'a Module,
    /// Variables that are the same in all invocations.
    same: FxHashSet<GlobalId>,
    asks: &'a dyn Fn(&Op) -> bool,
    /// Requested instructions in divergent control flow.
    found: Vec<(FuncId, InstId)>,
    seen: FxHashSet<(FuncId, InstId)>,
    /// The results of calls: whether they differ, and where pointers point.
    calls: FxHashMap<Call, (bool, Vec<bool>)>,
    /// Blocks and calls around the present place.
    depth: usize,
}

/// Depth at which calls are no longer followed, so that the stack suffices.
const DEEP: usize = 256;

impl Search<'_> {
    /// The worst results of a call that is not followed: everything varies, and everything in it may be reached apart.
    fn give_up(&mut self, callee: FuncId, arguments: usize) -> (bool, Vec<bool>) {
        for id in callees_first(self.module, [callee]) {
            let asked = self.module.functions[id].insts.iter().filter(|(_, inst)| (self.asks)(&inst.op));
            let new = asked.map(|(inst, _)| (id, inst)).filter(|at| self.seen.insert(*at));
            self.found.extend(new);
        }
        (true, vec![true; arguments])
    }
}

/// The state of one invocation group on its way through a function.
#[derive(Clone, Default, PartialEq)]
struct State {
    /// Variables whose contents differ.
    locals: FxHashSet<LocalId>,
    /// For each argument: whether the value, or a pointer's target, varies.
    arguments: Vec<bool>,
    /// True if some invocations may be elsewhere.
    is_parted: bool,
}

impl State {
    /// Merges another path, except its control flow.
    fn join(&mut self, other: &State) {
        limits::spend(other.locals.len() + other.arguments.len());
        self.locals.extend(&other.locals);
        for (mine, other) in self.arguments.iter_mut().zip(&other.arguments) {
            *mine |= other;
        }
    }
}

/// An enclosing loop or switch.
#[derive(Default)]
struct Around {
    breaks: Option<State>,
    continues: Option<State>,
    is_loop: bool,
}

/// The ways that lead out of a block (WGSL 9.8, Statements Behavior Analysis).
#[derive(Clone, Copy, Default)]
struct Ends {
    falls: bool,
    breaks: bool,
    continues: bool,
    returns: bool,
}

impl Ends {
    const FALLS: Ends = Ends { falls: true, breaks: false, continues: false, returns: false };
    const RETURNS: Ends = Ends { falls: false, breaks: false, continues: false, returns: true };

    /// Returns true if some path leads elsewhere than to the next statement.
    fn jump(self) -> bool {
        self.breaks || self.continues || self.returns
    }

    fn or(self, other: Ends) -> Ends {
        Ends {
            falls: self.falls || other.falls,
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
            returns: self.returns || other.returns,
        }
    }
}

struct Walk<'s, 'a> {
    search: &'s mut Search<'a>,
    id: FuncId,
    f: &'a Function,
    /// Results that differ.
    values: FxHashSet<InstId>,
    state: State,
    result: bool,
    /// At the returns of the function: whether the target of each pointer argument varies.
    returned: Vec<bool>,
    around: Vec<Around>,
    /// For each selection being walked, true if a yielded value differs.
    yields: Vec<bool>,
    /// The findings at the heads of loops, by their bodies.
    heads: FxHashMap<BlockId, State>,
    is_entry: bool,
}

impl<'s, 'a> Walk<'s, 'a> {
    fn new(
        search: &'s mut Search<'a>,
        id: FuncId,
        arguments: Vec<bool>,
        is_parted: bool,
        is_entry: bool,
    ) -> Walk<'s, 'a> {
        let f = &search.module.functions[id];
        let returned = vec![false; arguments.len()];
        Walk {
            search,
            id,
            f,
            values: FxHashSet::default(),
            state: State { arguments, is_parted, ..State::default() },
            result: false,
            returned,
            around: Vec::new(),
            yields: Vec::new(),
            heads: FxHashMap::default(),
            is_entry,
        }
    }

    /// Returns true if the results vary, with the targets of pointer arguments.
    fn run(mut self) -> (bool, Vec<bool>) {
        if self.blocks(&[self.f.body]).falls {
            self.give_back();
        }
        (self.result, self.returned)
    }

    fn give_back(&mut self) {
        self.returned.iter_mut().zip(&self.state.arguments).for_each(|(all, now)| *all |= now);
    }

    /// Returns true if a value differs, at its use.
    fn value(&self, value: Value) -> bool {
        match value {
            Value::Param(index) => {
                !self.is_pointer(self.f.params[index as usize].ty)
                    && self.state.arguments.get(index as usize).copied().unwrap_or(true)
            }
            Value::Inst(id) => self.values.contains(&id) || self.state.is_parted,
            Value::Const(_) | Value::Global(_) | Value::Local(_) => self.state.is_parted,
        }
    }

    fn is_pointer(&self, ty: TypeId) -> bool {
        matches!(self.search.module.types.pointee(ty), Some((Space::Function | Space::Private, _)))
    }

    /// The variable that a pointer points into, and true if an index on the way differs.
    fn root(&self, pointer: Value) -> (Value, bool) {
        let Value::Inst(id) = pointer else { return (pointer, false) };
        match self.f.insts[id].op {
            Op::Access { base, indices } => (
                base,
                self.f.values(indices).iter().any(|index| !matches!(index, Value::Const(_)) && self.value(*index)),
            ),
            _ => (pointer, false),
        }
    }

    /// Returns true if a pointer's target varies.
    fn contents(&self, pointer: Value) -> bool {
        let (root, differs) = self.root(pointer);
        differs
            || match root {
                Value::Local(local) => self.state.locals.contains(&local),
                Value::Param(index) => self.state.arguments.get(index as usize).is_none_or(|it| *it),
                Value::Global(id) => {
                    let global = &self.search.module.globals[id];
                    let is_argument = self.is_entry && global.space == Space::Input;
                    !(self.search.same.contains(&id)
                        || global.space == Space::Handle
                        || is_argument && is_of_workgroup(global.binding))
                }
                _ => true,
            }
    }

    /// Gives memory of the function a value.
    fn store(&mut self, pointer: Value, differs: bool) {
        let (root, by_index) = self.root(pointer);
        let is_whole = root == pointer;
        let differs = differs || by_index || self.state.is_parted;
        match root {
            Value::Local(local) if differs => drop(self.state.locals.insert(local)),
            Value::Local(local) if is_whole => drop(self.state.locals.remove(&local)),
            Value::Param(index) => {
                if let Some(argument) = self.state.arguments.get_mut(index as usize) {
                    *argument = differs || *argument && !is_whole;
                }
            }
            _ => {}
        }
    }

    /// Consecutive blocks.
    fn blocks(&mut self, blocks: &[BlockId]) -> Ends {
        let mut all = Ends::FALLS;
        self.search.depth += 1;
        for id in blocks.iter().flat_map(|block| &self.f.blocks[*block].insts) {
            let ends = self.instruction(*id, &self.f.insts[*id]);
            all = Ends { falls: ends.falls, ..all.or(ends) };
            if !ends.falls {
                break;
            }
        }
        self.search.depth -= 1;
        all
    }

    fn instruction(&mut self, id: InstId, inst: &'a Inst) -> Ends {
        limits::spend(1);
        match inst.op {
            Op::If { condition, then, otherwise, .. } => {
                self.yields.push(self.value(condition));
                let ends = self.choice(condition, &[vec![then], vec![otherwise]]);
                let differs = self.yields.pop().unwrap_or(true);
                self.results(id, inst, differs);
                return ends;
            }
            Op::Switch { selector, cases, .. } => return self.switch(selector, self.f.arms(cases)),
            Op::Loop { body, continuing, break_if, .. } => return self.turns(body, continuing, break_if),
            Op::Break => {
                self.leave(|around| Some(&mut around.breaks));
                return Ends { breaks: true, ..Ends::default() };
            }
            Op::Continue => {
                self.leave(|around| around.is_loop.then_some(&mut around.continues));
                return Ends { continues: true, ..Ends::default() };
            }
            Op::Return(value) => {
                self.result |= self.state.is_parted || value.is_some_and(|value| self.value(value));
                self.give_back();
                return Ends::RETURNS;
            }
            Op::Discard | Op::Unreachable | Op::End(..) => {
                self.result |= self.state.is_parted;
                self.give_back();
                return Ends::RETURNS;
            }
            Op::Yield(value) => {
                let differs = self.value(value);
                if let Some(all) = self.yields.last_mut() {
                    *all |= differs;
                }
            }
            Op::Barrier { .. } => self.note(id, inst),
            Op::Store { pointer, value } => self.store(pointer, self.value(value)),
            Op::Call(callee, args) => self.call(callee, self.f.values(args), (id, inst)),
            Op::Access { .. } => {}
            _ => {
                self.note(id, inst);
                let differs = self.computed(inst);
                self.results(id, inst, differs);
            }
        }
        Ends::FALLS
    }

    /// Records a selected instruction, if invocations may have diverged.
    fn note(&mut self, id: InstId, inst: &Inst) {
        if self.state.is_parted && (self.search.asks)(&inst.op) && self.search.seen.insert((self.id, id)) {
            self.search.found.push((self.id, id));
        }
    }

    /// Returns true if a result differs.
    fn computed(&mut self, inst: &Inst) -> bool {
        let any = |walk: &Self| {
            let mut differs = false;
            inst.op.each_operand(walk.f, |operand| differs |= walk.value(operand));
            differs
        };
        match inst.op {
            Op::Load(pointer) => self.contents(pointer),
            Op::ArrayLength { .. } => false,
            Op::Atomic { .. } => true,
            Op::Lane(LaneOp::LaneCount(Group::Subgroup), _) => !self.is_entry,
            Op::Lane(op, _) => !is_of_whole_workgroup(op),
            Op::Image { op: ImageOp::Read, operands, .. } if self.is_changed(self.f.values(operands)[0]) => true,
            _ => any(self),
        }
    }

    /// Returns true if a storage texture may be written.
    fn is_changed(&self, image: Value) -> bool {
        let root = match image {
            Value::Inst(id) => match self.f.insts[id].op {
                Op::Load(pointer) => self.root(pointer).0,
                _ => return true,
            },
            other => other,
        };
        match root {
            Value::Global(id) => !self.search.same.contains(&id),
            _ => true,
        }
    }

    fn results(&mut self, id: InstId, inst: &Inst, differs: bool) {
        if inst.ty == Types::VOID {
            return;
        }
        if differs || self.state.is_parted {
            self.values.insert(id);
        } else {
            self.values.remove(&id);
        }
    }

    /// Adds the state to the exits of the innermost construct with such an exit.
    fn leave(&mut self, exit: impl Fn(&mut Around) -> Option<&mut Option<State>>) {
        if let Some(exit) = self.around.iter_mut().rev().find_map(exit) {
            exit.get_or_insert_with(|| self.state.clone()).join(&self.state);
        }
    }

    /// Alternative blocks, one of which runs.
    fn choice(&mut self, condition: Value, arms: &[Vec<BlockId>]) -> Ends {
        let differs = self.value(condition);
        self.choose(differs, arms)
    }

    fn choose(&mut self, differs: bool, arms: &[Vec<BlockId>]) -> Ends {
        limits::spend((1 + arms.len()) * (1 + self.state.locals.len() + self.state.arguments.len()));
        let before = self.state.clone();
        let mut all = Ends::default();
        let mut after: Option<State> = None;
        let mut is_parted = false;
        for arm in arms {
            self.state = State { is_parted: before.is_parted || differs, ..before.clone() };
            let ends = self.blocks(arm);
            is_parted |= self.state.is_parted;
            all = all.or(ends);
            if ends.falls {
                after.get_or_insert_with(|| self.state.clone()).join(&self.state);
            }
        }
        self.state = after.unwrap_or_else(|| before.clone());
        self.state.is_parted = if all.jump() { is_parted } else { before.is_parted };
        all
    }

    /// Arms that a break leaves, with the arms that they fall into.
    fn switch(&mut self, selector: Value, cases: &[Case]) -> Ends {
        let was_parted = self.state.is_parted;
        let mut arms: Vec<Vec<BlockId>> = (0..cases.len())
            .map(|at| {
                let falling = cases[at..].iter().take_while(|arm| arm.falls_through).count();
                cases[at..].iter().take(falling + 1).map(|arm| arm.body).collect()
            })
            .collect();
        if !cases.iter().any(|arm| arm.default) {
            arms.push(Vec::new());
        }
        self.around.push(Around::default());
        let ends = self.choice(selector, &arms);
        let breaks = self.around.pop().and_then(|around| around.breaks);
        let all = Ends { falls: ends.falls || breaks.is_some(), breaks: false, ..ends };
        self.meet(breaks, ends.falls);
        if !all.jump() {
            self.state.is_parted = was_parted;
        }
        all
    }

    /// Continues with the merged state of several paths, including this one if it is reachable.
    fn meet(&mut self, others: Option<State>, is_reached: bool) {
        match others {
            Some(others) if is_reached => self.state.join(&others),
            Some(others) => self.state = State { is_parted: self.state.is_parted, ..others },
            None => {}
        }
    }

    fn turns(&mut self, body: BlockId, continuing: BlockId, break_if: Option<Value>) -> Ends {
        let was_parted = self.state.is_parted;
        loop {
            limits::spend(1 + 4 * self.state.locals.len());
            let mut head = self.heads.remove(&body).unwrap_or_else(|| self.state.clone());
            head.join(&self.state);
            head.is_parted |= self.state.is_parted;
            self.heads.insert(body, head.clone());
            self.state = head.clone();
            self.around.push(Around { is_loop: true, ..Around::default() });
            let ends = self.blocks(&[body]);
            let continues = self.around.last_mut().and_then(|around| around.continues.take());
            let turns = ends.falls || continues.is_some();
            self.meet(continues, ends.falls);
            if turns {
                self.blocks(&[continuing]);
                if let Some(condition) = break_if {
                    self.state.is_parted |= self.value(condition);
                    self.leave(|around| Some(&mut around.breaks));
                }
            }
            let breaks = self.around.pop().and_then(|around| around.breaks);
            let mut next = head.clone();
            if turns {
                next.join(&self.state);
                next.is_parted |= self.state.is_parted;
            }
            if next != head {
                self.state = next;
                continue;
            }
            let falls = breaks.is_some();
            self.state = breaks.unwrap_or_default();
            self.state.is_parted = if ends.returns { head.is_parted } else { was_parted };
            return Ends { falls, returns: ends.returns, ..Ends::default() };
        }
    }

    fn call(&mut self, callee: FuncId, args: &[Value], (id, inst): (InstId, &Inst)) {
        let params = &self.search.module.functions[callee].params;
        let points: Vec<bool> = params.iter().map(|param| self.is_pointer(param.ty)).collect();
        let given: Vec<bool> = args
            .iter()
            .zip(&points)
            .map(|(arg, points)| if *points { self.contents(*arg) } else { self.value(*arg) })
            .collect();
        let call = (callee, given, self.state.is_parted);
        let (differs, after) = match self.search.calls.get(&call) {
            Some(known) => known.clone(),
            None => {
                let found = match self.search.depth > DEEP {
                    true => self.search.give_up(callee, args.len()),
                    false => Walk::new(self.search, callee, call.1.clone(), call.2, false).run(),
                };
                self.search.calls.insert(call, found.clone());
                found
            }
        };
        for (at, arg) in args.iter().enumerate().filter(|(at, _)| points[*at]) {
            self.store(*arg, after.get(at).is_none_or(|it| *it));
        }
        self.results(id, inst, differs);
    }
}
