//! Walks a slice of the functions of a module until the facts about their values and their divergence no longer change.
//!
//! The walk treats variables as memory. A store to a whole variable begins a new version of it for the rest of its
//! block; for the code around that block it is one more possible value. A variable that is reused for something else is
//! therefore not confused with its old contents, and no block needs its own state. Facts only ever weaken, so the walk
//! ends.

use super::Work;
use super::fact::{Alike, Fact, Origin, Picks, lower};
use super::flow::{Cause, Leave, Leaves, Together, Toward, WalkedBlock, least, take};
use super::slice::{Slice, place, variable};
use crate::diagnostic::Diagnostic;
use crate::ir::{BlockId, Cases, FuncId, Function, GlobalId, InstFlags, InstId, Op, Space, Value, Values};
use crate::limits;
use crate::source::Span;
use rustc_hash::FxHashMap;

/// The facts about a function.
pub struct Known {
    /// One per instruction result; for a store, the contents of the version that it begins.
    pub facts: Vec<Option<Fact>>,
    /// One per variable at the start of the function, then one per pointer parameter for the memory it points to.
    entries: Vec<Option<Fact>>,
    /// Of the parameters, over all calls.
    pub params: Vec<Option<Fact>>,
    /// The facts of the memory that each pointer parameter refers to.
    outs: Vec<Option<Fact>>,
    result: Option<Fact>,
    /// How far lanes enter it together.
    entry: Together,
    /// How far lanes that end in it for good end together.
    discards: Together,
    /// How far lanes leave each loop together, so far.
    left: FxHashMap<InstId, Together>,
}

impl Known {
    fn new(function: &Function) -> Known {
        let params = function.params.len();
        let mut entries = vec![None; function.locals.len() + params];
        for ((_, local), entry) in function.locals.iter().zip(&mut entries) {
            *entry = local.init.map(|_| Fact::PLAIN);
        }
        Known {
            facts: vec![None; function.insts.len()],
            entries,
            params: vec![None; params],
            outs: vec![None; params],
            result: None,
            entry: Together::ALL,
            discards: Together::ALL,
            left: FxHashMap::default(),
        }
    }
}

/// The contents of a variable from a store to the end of the block.
#[derive(Clone, Copy)]
struct Version {
    store: InstId,
    /// Frames around the store.
    depth: usize,
    /// The version that the enclosing blocks see.
    outer: Option<usize>,
}

/// The walk, which visits one function at a time.
pub struct Walk<'m> {
    pub work: &'m Work<'m>,
    slice: &'m Slice<'m>,
    pub function: &'m Function,
    id: FuncId,
    known: Vec<Option<Known>>,
    globals: Vec<Option<Fact>>,
    pub frames: Vec<WalkedBlock>,
    /// The version of each variable; `None` before the first store.
    versions: Vec<Option<usize>>,
    begun: Vec<Version>,
    /// Versions to restore at the end of a block.
    undo: Vec<(usize, Option<usize>)>,
    /// The constructs that a `break` and a `continue` refer to.
    breaks: Vec<InstId>,
    continues: Vec<InstId>,
    yielded: Option<Fact>,
    changed: bool,
    pub found: Vec<Diagnostic>,
}

/// Walks after which a module gets no warnings. Two or three are usual; values that travel from variable to variable
/// around loops take one more for each.
const WALKS: usize = 32;

/// Walks `order`, whose callees precede their callers, and returns the warnings.
pub fn run(work: &Work<'_>, order: &[FuncId], slice: &Slice<'_>) -> Vec<Diagnostic> {
    let Some(last) = order.last() else { return Vec::new() };
    let module = work.module;
    let mut known: Vec<Option<Known>> = module.functions.iter().map(|_| None).collect();
    let order: Vec<FuncId> = order.iter().copied().filter(|id| slice.calls(*id)).collect();
    for id in &order {
        known[id.index()] = Some(Known::new(&module.functions[*id]));
    }
    let mut walk = Walk {
        work,
        slice,
        function: &module.functions[*last],
        id: *last,
        known,
        globals: module.globals.iter().map(|(_, global)| global.init.map(|_| Fact::PLAIN)).collect(),
        frames: Vec::new(),
        versions: Vec::new(),
        begun: Vec::new(),
        undo: Vec::new(),
        breaks: Vec::new(),
        continues: Vec::new(),
        yielded: None,
        changed: false,
        found: Vec::new(),
    };
    for n in 0..WALKS {
        walk.changed = false;
        walk.found.clear();
        // Results go from callees to callers, arguments from callers to callees.
        match n % 2 {
            0 => order.iter().for_each(|id| walk.enter(*id)),
            _ => order.iter().rev().for_each(|id| walk.enter(*id)),
        }
        if !walk.changed {
            return walk.found;
        }
    }
    Vec::new()
}

impl<'m> Walk<'m> {
    pub fn own(&self) -> &Known {
        self.known[self.id.index()].as_ref().expect("the walk is in a function of its order")
    }

    fn own_mut(&mut self) -> &mut Known {
        self.known[self.id.index()].as_mut().expect("the walk is in a function of its order")
    }

    pub fn frame(&mut self) -> &mut WalkedBlock {
        self.frames.last_mut().expect("the walk is in a block")
    }

    pub fn values(&self, list: Values) -> &'m [Value] {
        self.function.values(list)
    }

    fn enter(&mut self, id: FuncId) {
        self.function = &self.work.module.functions[id];
        self.id = id;
        self.versions.clear();
        self.versions.resize(self.own().entries.len(), None);
        self.begun.clear();
        let mut leaves = self.block(self.function.body, Together::ALL, None);
        let gone = take(&mut leaves, Toward::Discard);
        let before = self.own().discards;
        self.changed |= before.alike.meet(gone.alike) != before.alike;
        self.own_mut().discards = before.meet(gone);
    }

    /// Walks a block that lanes enter as far together as `entry` says. Returns the early exits.
    fn block(&mut self, block: BlockId, entry: Together, picks: Option<Picks>) -> Leaves {
        let overall = self.frames.last().map_or(entry.alike, |around| around.overall.meet(entry.alike));
        self.frames.push(WalkedBlock { together: entry, overall, picks, leaves: Vec::new() });
        let (mark, begun) = (self.undo.len(), self.begun.len());
        let function = self.function;
        let (slice, id) = (self.slice, self.id);
        let looked_at = function.blocks[block].insts.iter().filter(|inst| slice.has(id, **inst));
        looked_at.for_each(|inst| self.inst(*inst));
        for (variable, version) in self.undo.drain(mark..).rev() {
            self.versions[variable] = version;
        }
        self.begun.truncate(begun);
        self.frames.pop().map(|frame| frame.leaves).unwrap_or_default()
    }

    fn inst(&mut self, id: InstId) {
        limits::spend(1);
        let function = self.function;
        let inst = &function.insts[id];
        let fact = match inst.op {
            Op::If { condition, then, otherwise, .. } => self.branch(condition, then, otherwise, inst.span),
            Op::Loop { body, continuing, break_if, .. } => self.repetition(id, body, continuing, break_if),
            Op::Switch { selector, cases, .. } => self.choice(id, selector, cases, inst.span),
            Op::Break => self.leave(self.breaks.last().map(|id| Toward::End(*id)), Leave::Break, inst.span),
            Op::Continue => self.leave(self.continues.last().map(|id| Toward::Next(*id)), Leave::Continue, inst.span),
            Op::Return(value) => self.give_back(value, inst.span),
            Op::Discard | Op::End(..) => self.leave(Some(Toward::Discard), Leave::Discard, inst.span),
            Op::Yield(value) => {
                self.yielded = Some(self.fact(value));
                return;
            }
            Op::Store { pointer, value } => return self.store(id, pointer, value, inst.span),
            Op::Load(pointer) => {
                let fact = self.load(pointer, inst.flags);
                Some(Fact { origin: fact.origin.or(self.origin(id)), ..fact })
            }
            Op::Call(callee, args) => {
                let fact = self.call(callee, args, inst.span);
                Some(Fact { origin: self.origin(id), ..fact })
            }
            _ => {
                self.check(inst);
                Some(Fact { origin: self.origin(id), ..self.result(inst) })
            }
        };
        self.own_mut().facts[id.index()] = fact;
    }

    /// An instruction as the only origin of its result, if an invocation runs it once.
    fn origin(&self, id: InstId) -> Option<Origin> {
        self.continues.is_empty().then_some(Origin::Inst(id))
    }

    /// The fact, refined by the origin of the value.
    fn settled(&self, fact: Fact) -> Fact {
        match fact.origin {
            _ if fact.number.is_some() => fact.settled(),
            Some(Origin::Const(_)) => fact.regrouped(|_| Alike::ALL),
            Some(Origin::Inst(id)) => {
                self.own().facts[id.index()].map_or(fact, |own| Fact { origin: fact.origin, ..own })
            }
            None => fact,
        }
    }

    /// The facts about an operand. A pointer has none, except through the values it consists of.
    pub fn fact(&self, value: Value) -> Fact {
        match value {
            Value::Inst(id) => self.settled(self.own().facts[id.index()].unwrap_or(Fact::PLAIN)),
            Value::Const(id) => {
                let fact = self.work.module.constants.bits(id).map_or(Fact::PLAIN, Fact::constant);
                Fact { origin: Some(Origin::Const(id)), ..fact }
            }
            Value::Param(n) => {
                let known = self.own().params[n as usize].unwrap_or(Fact::OPEN);
                Fact { alike: Alike::param(n as usize), ..known }.settled()
            }
            Value::Global(_) | Value::Local(_) => Fact::PLAIN,
        }
    }

    /// In how large groups lanes have the same, over all calls of the function.
    pub fn lanes(&self, alike: Alike) -> u8 {
        if alike.params == 0 {
            return alike.lanes;
        }
        let params = self.own().params.iter().enumerate();
        let hangs_on = params.filter(|(n, _)| alike.params & Alike::param(*n).params != 0);
        hangs_on.filter_map(|(_, param)| *param).fold(alike.lanes, |least, param| least.min(param.alike.lanes))
    }

    /// The group size within which lanes arrive here together or not at all.
    pub fn here(&self) -> u8 {
        let own = self.frames.last().map_or(Alike::GROUP, |frame| self.lanes(frame.overall));
        own.min(self.own().entry.alike.lanes)
    }

    /// The cause that splits larger groups of lanes than those that arrive here together.
    pub fn cause(&self, lanes: u8) -> Cause {
        let parts = |frame: &&WalkedBlock| self.lanes(frame.together.alike) < lanes;
        self.frames.iter().rev().find(parts).map_or(self.own().entry.cause, |frame| frame.together.cause)
    }

    fn leave(&mut self, toward: Option<Toward>, how: Leave, at: Span) -> Option<Fact> {
        if let Some(toward) = toward {
            self.frame().leave(toward, how, at);
        }
        None
    }

    fn give_back(&mut self, value: Option<Value>, at: Span) -> Option<Fact> {
        if let Some(value) = value {
            let chosen = self.fact(value).outside().chosen(self.frame().overall);
            self.changed |= lower(&mut self.own_mut().result, chosen);
        }
        self.leave(Some(Toward::Return), Leave::Return, at)
    }

    /// The place that explains a condition: where it is computed.
    fn span_of(&self, value: Value, otherwise: Span) -> Span {
        match value {
            Value::Inst(id) if !self.function.insts[id].span.is_none() => self.function.insts[id].span,
            _ => otherwise,
        }
    }

    fn branch(&mut self, condition: Value, then: BlockId, otherwise: BlockId, at: Span) -> Option<Fact> {
        let fact = self.fact(condition);
        let at = self.span_of(condition, at);
        self.reach(fact, at);
        let entry = Together { alike: fact.alike, cause: Cause::branch(at) };
        let mut leaves = Leaves::new();
        if fact.number != Some(0) {
            leaves.extend(self.block(then, entry, fact.picks));
        }
        let first = self.yielded.take();
        if fact.number.is_none_or(|truth| truth == 0) {
            leaves.extend(self.block(otherwise, entry, None));
        }
        let second = self.yielded.take();
        self.frame().part(leaves);
        let value = first.zip(second).map(|(first, second)| first.meet(second)).or(first).or(second);
        value.map(|value| value.chosen(fact.alike))
    }

    fn choice(&mut self, id: InstId, selector: Value, cases: Cases, at: Span) -> Option<Fact> {
        let fact = self.fact(selector);
        let at = self.span_of(selector, at);
        self.reach(fact, at);
        let entry = Together { alike: fact.alike, cause: Cause::branch(at) };
        self.breaks.push(id);
        let mut leaves = Leaves::new();
        let mut fell = Together::ALL;
        let arms = self.function.arms(cases);
        let taken = fact.number.map(|number| {
            let labelled = arms.iter().position(|case| case.values.contains(&number));
            labelled.or_else(|| arms.iter().position(|case| case.default))
        });
        let mut is_reached = false;
        for (n, case) in arms.iter().enumerate() {
            is_reached |= taken.is_none_or(|taken| taken == Some(n));
            if !is_reached {
                continue;
            }
            is_reached = case.falls_through;
            let left = self.block(case.body, entry.meet(fell), None);
            fell = if case.falls_through { fell.meet(least(&left)) } else { Together::ALL };
            leaves.extend(left);
        }
        self.breaks.pop();
        leaves.retain(|(toward, _)| *toward != Toward::End(id));
        self.frame().part(leaves);
        None
    }

    /// Lanes that left in earlier iterations are missing in later ones.
    fn repetition(&mut self, id: InstId, body: BlockId, continuing: BlockId, break_if: Option<Value>) -> Option<Fact> {
        let before = self.own().left.get(&id).copied().unwrap_or(Together::ALL);
        self.breaks.push(id);
        self.continues.push(id);
        let mut leaves = self.block(body, before, None);
        take(&mut leaves, Toward::Next(id));
        let gone = least(&leaves);
        leaves.extend(self.block(continuing, before.meet(gone), None));
        self.breaks.pop();
        self.continues.pop();
        let last = break_if.map_or(Together::ALL, |condition| self.end_of_round(condition));
        let left = before.meet(least(&leaves)).meet(last);
        if left.alike != before.alike {
            self.changed = true;
            self.own_mut().left.insert(id, left);
        }
        leaves.retain(|(toward, _)| *toward != Toward::End(id));
        self.frame().part(leaves);
        None
    }

    /// The condition for leaving a loop after an iteration.
    fn end_of_round(&mut self, condition: Value) -> Together {
        let fact = self.fact(condition);
        let at = self.span_of(condition, Span::NONE);
        self.reach(fact, at);
        Together { alike: fact.alike, cause: Cause { condition: at, leave: Some((Leave::Break, Span::NONE)) } }
    }

    fn load(&mut self, pointer: Value, flags: InstFlags) -> Fact {
        let (base, indices) = place(self.function, pointer);
        let path = indices.iter().fold(Fact::PLAIN, |path, index| path.mix(self.fact(*index)));
        let held = self.contents(base);
        if let (Some(whole), [Value::Const(n)]) = (held.whole, indices) {
            let n = self.work.module.constants.bits(*n).unwrap_or(0);
            return self.work.component(whole, n as u8);
        }
        if flags.intersects(InstFlags::VOLATILE | InstFlags::COHERENT) {
            return Fact::LANE;
        }
        match self.part(indices) {
            None if indices.is_empty() => held,
            None => path.mix(held),
            Some(n) => path.mix(self.settled(held).part(n)),
        }
    }

    /// The part of a variable that indices select, if it is always the same.
    fn part(&self, indices: &[Value]) -> Option<u64> {
        match indices.first()? {
            Value::Const(id) => self.work.module.constants.bits(*id),
            _ => None,
        }
    }

    /// The facts about the memory that a pointer points to.
    fn contents(&self, base: Value) -> Fact {
        if let Some(variable) = variable(self.function, base) {
            return self.held_by(variable);
        }
        let Value::Global(id) = base else { return self.fact(base).made() };
        match self.work.module.globals[id].space {
            Space::Input => self.work.input(id),
            Space::Output => Fact::LANE,
            Space::Private => self.globals[id.index()].unwrap_or(Fact::PLAIN),
            // All lanes read the same value.
            _ => Fact::PLAIN,
        }
    }

    fn held_by(&self, variable: usize) -> Fact {
        let own = self.own();
        let fact = match self.versions[variable] {
            Some(version) => own.facts[self.begun[version].store.index()],
            None => own.entries[variable],
        };
        let param = variable.checked_sub(self.function.locals.len());
        match (fact, param) {
            (_, Some(n)) if self.versions[variable].is_none() => {
                let given = Fact { alike: Alike::param(n), ..own.params[n].unwrap_or(Fact::OPEN) };
                fact.map_or(given, |fact| fact.meet(given))
            }
            (fact, _) => fact.unwrap_or(Fact::PLAIN),
        }
    }

    fn store(&mut self, id: InstId, pointer: Value, value: Value, at: Span) {
        let (base, indices) = place(self.function, pointer);
        let path = indices.iter().fold(Fact::PLAIN, |path, index| path.mix(self.fact(*index)));
        let fact = self.fact(value);
        if let Some(variable) = variable(self.function, base) {
            match indices.is_empty() {
                true => self.begin(variable, id, fact),
                false => self.update(variable, self.stored(fact, path, indices)),
            }
            return;
        }
        match base {
            Value::Global(global) if self.work.module.globals[global].space == Space::Private => {
                self.keep(global, if indices.is_empty() { fact } else { self.stored(fact, path, indices) });
            }
            _ => self.reach(fact.mix(path), at),
        }
    }

    /// The facts about a variable after a store to a part of it.
    fn stored(&self, fact: Fact, path: Fact, indices: &[Value]) -> Fact {
        let fact = fact.mix(path);
        self.part(indices).map_or(fact, |n| fact.only_part(n))
    }

    /// Adds a possible value of a module variable, valid anywhere.
    fn keep(&mut self, global: GlobalId, fact: Fact) {
        let fact = fact.outside().regrouped(|alike| Alike::of(self.lanes(alike)));
        let here = Alike::of(self.here());
        self.changed |= lower(&mut self.globals[global.index()], fact.chosen(here));
    }

    /// Begins a version of a variable. From then on the enclosing blocks may see this value too.
    fn begin(&mut self, variable: usize, store: InstId, fact: Fact) {
        let depth = self.frames.len();
        let old = self.versions[variable];
        let outer = match old.map(|old| self.begun[old]) {
            Some(version) if version.depth == depth => version.outer,
            _ => {
                self.undo.push((variable, old));
                old
            }
        };
        lower(&mut self.own_mut().facts[store.index()], fact);
        self.update_around(variable, outer, fact, depth > 1);
        self.versions[variable] = Some(self.begun.len());
        self.begun.push(Version { store, depth, outer });
    }

    /// Adds a possible value of a variable, or of a part of it, from here on.
    fn update(&mut self, variable: usize, fact: Fact) {
        self.update_around(variable, self.versions[variable], fact, true);
    }

    /// Updates a version and the enclosing versions; `reaches_entry` includes the contents at the function's start.
    fn update_around(&mut self, variable: usize, from: Option<usize>, fact: Fact, reaches_entry: bool) {
        let mut next = from;
        while let Some(version) = next {
            let Version { store, depth, outer } = self.begun[version];
            let fact = fact.chosen(self.since(depth));
            let changed = lower(&mut self.own_mut().facts[store.index()], fact);
            self.changed |= changed && !self.continues.is_empty();
            next = outer;
        }
        let chosen = fact.chosen(self.since(1));
        if reaches_entry && !self.begins_whole(variable) {
            let changed = lower(&mut self.own_mut().entries[variable], chosen);
            self.changed |= changed && !self.continues.is_empty();
        }
        if let Some(n) = variable.checked_sub(self.function.locals.len()) {
            self.changed |= lower(&mut self.own_mut().outs[n], chosen.outside());
        }
    }

    /// Returns true if a version in the function's own block hides the initial contents of a variable.
    fn begins_whole(&self, variable: usize) -> bool {
        let mut next = self.versions[variable];
        while let Some(version) = next {
            let Version { depth, outer, .. } = self.begun[version];
            if depth == 1 {
                return true;
            }
            next = outer;
        }
        false
    }

    /// How far lanes that were together in a frame still are.
    fn since(&self, depth: usize) -> Alike {
        self.frames[depth..].iter().fold(Alike::ALL, |all, frame| all.meet(frame.together.alike))
    }

    fn call(&mut self, callee: FuncId, args: Values, at: Span) -> Fact {
        let args = self.function.values(args);
        let facts: Vec<Fact> = args.iter().map(|arg| self.argument(*arg)).collect();
        self.enter_call(callee, &facts);
        let Some(known) = &self.known[callee.index()] else { return Fact::LANE };
        let (result, outs, discards) = (known.result, known.outs.clone(), known.discards);
        for (arg, out) in args.iter().zip(outs) {
            let (base, indices) = place(self.function, *arg);
            let Some(out) = out.map(|out| resolve(out, &facts)) else { continue };
            let out = if indices.is_empty() { out } else { self.stored(out, Fact::PLAIN, indices) };
            match (variable(self.function, base), base) {
                (Some(variable), _) => self.update(variable, out),
                (None, Value::Global(global)) => self.keep(global, out),
                _ => {}
            }
        }
        if discards.alike != Alike::ALL {
            let alike = resolve(Fact::new(discards.alike), &facts).alike;
            let leave = discards.cause.leave.or(Some((Leave::Discard, at)));
            let gone = Together { alike, cause: Cause { leave, ..discards.cause } };
            self.frame().part(vec![(Toward::Discard, gone)]);
        }
        result.map_or(Fact::OPEN, |result| resolve(result, &facts))
    }

    /// The facts about an argument, or about the memory that it points to.
    fn argument(&self, arg: Value) -> Fact {
        let (base, indices) = place(self.function, arg);
        let is_pointer = match arg {
            Value::Local(_) | Value::Global(_) => true,
            Value::Param(n) => self.work.module.types.pointee(self.function.params[n as usize].ty).is_some(),
            Value::Inst(_) | Value::Const(_) => !indices.is_empty(),
        };
        if !is_pointer {
            return self.fact(arg);
        }
        let path = indices.iter().fold(Fact::PLAIN, |path, index| path.mix(self.fact(*index)));
        match self.part(indices) {
            None if indices.is_empty() => self.contents(base),
            None => self.contents(base).mix(path),
            Some(n) => self.settled(self.contents(base)).part(n).mix(path),
        }
    }

    /// Merges one more call into the facts about a function's arguments.
    fn enter_call(&mut self, callee: FuncId, facts: &[Fact]) {
        let here = self.here();
        let entry = Together { alike: Alike::of(here), cause: self.cause(here + 1) };
        let given: Vec<Fact> =
            facts.iter().map(|fact| fact.outside().regrouped(|alike| Alike::of(self.lanes(alike)))).collect();
        let Some(known) = &mut self.known[callee.index()] else { return };
        for (param, fact) in known.params.iter_mut().zip(given) {
            self.changed |= lower(param, fact);
        }
        if here < known.entry.alike.lanes {
            known.entry = entry;
            self.changed = true;
        }
    }
}

/// The facts about a value in a function that is called with these arguments.
fn resolve(fact: Fact, args: &[Fact]) -> Fact {
    fact.regrouped(|alike| {
        let hangs_on = args.iter().enumerate().filter(|(n, _)| alike.params & Alike::param(*n).params != 0);
        hangs_on.fold(Alike::of(alike.lanes), |all, (_, arg)| all.meet(arg.alike))
    })
}
