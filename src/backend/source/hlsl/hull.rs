//! Control shaders as hull shaders: one function for each control point, and another for the patch.
//!
//! A control shader runs once for each control point that it outputs, and all its invocations may write per-patch
//! values. In HLSL, a separate function writes those; it sees all input and output control points. Both functions are
//! slices of the shader (`ir::slice`), each with the code that its outputs need. The patch function runs the work of
//! one invocation, or of all, one after the other, phase by phase.

use super::tessellation::{self, TOGETHER, inner_levels, outer_levels, points_out};
use crate::backend::Made;
use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::ir::inline::inline;
use crate::ir::slice::{self, Effects, Memory, Outline, keep_only, memory_of, part, replace};
use crate::ir::{
    BinaryOp, Binding, BlockId, BuiltIn, ConstValue, EntryPoint, FuncId, Function, Global, GlobalId, ImageOp, Inst,
    InstFlags, InstId, Interpolation, Local, Module, Op, Space, Stage, Type, TypeId, Types, Value, Values, calls,
};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// The name of the variable that counts invocations.
const COUNTER: &str = "invocation";

type Insts = FxHashSet<InstId>;

/// The module of a tessellation shader in HLSL's form; `None` if that is the module itself. A control shader gets an
/// entry point for each of its two functions.
///
/// # Errors
/// Reports constructs that the two functions cannot express.
pub(super) fn divided(module: &Module) -> Made<Option<Module>> {
    match module.entry_points.as_slice() {
        [entry] if entry.stage == Stage::TessControl => {
            if tessellation::domain(&entry.primitives).is_none() {
                let what = "a control shader alone, since its evaluation shader says domain and spacing,";
                let span = module.functions[entry.function].span;
                return Err(refused(what, span).into_iter().map(|error| error.note(TOGETHER)).collect());
            }
            Division::of(module, entry)?.run().map(Some)
        }
        [entry] if entry.stage == Stage::TessEvaluation => Ok(without_points(module, entry)),
        _ => Ok(None),
    }
}

/// Returns true if a module has two entry points because a control shader is two functions.
pub(super) fn is_divided(module: &Module) -> bool {
    module.entry_points.len() == 2 && module.entry_points.iter().all(|entry| entry.stage == Stage::TessControl)
}

/// An evaluation shader without point sizes, because points are one pixel wide; `None` if it does not read them.
fn without_points(module: &Module, entry: &EntryPoint) -> Option<Module> {
    let f = &module.functions[entry.function];
    let is_size = |value: Value| matches!(value, Value::Global(id) if module.globals[id].binding == Binding::BuiltIn(BuiltIn::PointSize));
    let mut reads = false;
    for (_, inst) in f.insts.iter() {
        inst.op.each_operand(f, |value| reads |= is_size(value));
    }
    if !reads {
        return None;
    }
    let (outline, effects) = (Outline::of(f), Effects::of(module, [entry.function]));
    let is_root = |id: &InstId| match f.insts[*id].op {
        Op::Store { pointer, .. } => match memory_of(f, pointer) {
            Some(Memory::Global(to)) => module.globals[to].space != Space::Private && !is_size(Value::Global(to)),
            Some(Memory::Local(_)) => false,
            None => true,
        },
        op => op.calls() || slice::is_seen(module, f, op),
    };
    let roots = f.insts.handles().filter(|id| outline.place(*id).is_some()).filter(is_root);
    let tracks = |id: GlobalId| module.globals[id].space == Space::Private;
    let kept = part(f, &outline, &effects, roots, &tracks);
    let mut made = module.clone();
    keep_only(&mut made.functions[entry.function], &kept);
    Some(made)
}

/// Returns true for per-patch values.
pub(super) fn is_of_patch(module: &Module, global: &Global) -> bool {
    match (global.binding, module.types.get(module.types.innermost(global.ty))) {
        (Binding::BuiltIn(of), _) => matches!(of, BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner),
        (Binding::Location { interpolation: Interpolation::Patch, .. }, _) => true,
        (_, Type::Struct(of)) => {
            let first = module.types.structs[of].members.first();
            first.is_some_and(|member| member.binding.interpolation() == Interpolation::Patch)
        }
        _ => false,
    }
}

fn refused(construct: &str, span: Span) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::NOT_SUPPORTED, cannot_write(construct, "HLSL")).at(span, "")]
}

/// The invocations whose work the patch function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Workers {
    /// Any one, because all do the same.
    Any,
    /// The invocation with this index.
    One(u32),
    All,
}

struct Division<'a> {
    module: &'a Module,
    entry: &'a EntryPoint,
    f: &'a Function,
    outline: Outline,
    effects: Vec<Effects>,
    /// The number of the invocation.
    number: Option<GlobalId>,
    /// Stores to outputs of control points, and all observable effects except the outputs of the patch.
    of_points: Vec<InstId>,
    of_patch: Vec<InstId>,
    /// The barriers, in text order.
    barriers: Vec<InstId>,
}

impl<'a> Division<'a> {
    fn of(module: &'a Module, entry: &'a EntryPoint) -> Made<Division<'a>> {
        let f = &module.functions[entry.function];
        let outline = Outline::of(f);
        let effects = Effects::of(module, [entry.function]);
        let is_number = |global: &Global| global.binding == Binding::BuiltIn(BuiltIn::InvocationId);
        let number = module.globals.iter().find(|(_, global)| is_number(global)).map(|(id, _)| id);
        let (of_points, of_patch, barriers) = (Vec::new(), Vec::new(), Vec::new());
        let mut division = Division { module, entry, f, outline, effects, number, of_points, of_patch, barriers };
        division.sort_effects()?;
        Ok(division)
    }

    fn at(&self, id: InstId) -> u32 {
        self.outline.place(id).map_or(0, |place| place.at)
    }

    /// The instructions that are in a block, in text order.
    fn placed(&self) -> Vec<InstId> {
        let mut all: Vec<InstId> = self.f.insts.handles().filter(|id| self.outline.place(*id).is_some()).collect();
        all.sort_unstable_by_key(|id| self.at(*id));
        all
    }

    fn global(&self, id: GlobalId) -> &'a Global {
        &self.module.globals[id]
    }

    fn is_output(&self, id: GlobalId) -> bool {
        self.global(id).space == Space::Output
    }

    fn is_patch(&self, id: GlobalId) -> bool {
        self.is_output(id) && is_of_patch(self.module, self.global(id))
    }

    fn is_point(&self, id: GlobalId) -> bool {
        self.is_output(id) && !is_of_patch(self.module, self.global(id))
    }

    /// Divides the effects between the two functions.
    fn sort_effects(&mut self) -> Made<()> {
        let mut orders = Vec::new();
        for id in self.placed() {
            let inst = &self.f.insts[id];
            match inst.op {
                Op::Store { pointer, .. } => match memory_of(self.f, pointer) {
                    Some(Memory::Global(to)) if self.is_patch(to) => {
                        self.of_patch.extend((!self.is_beyond(to, pointer)).then_some(id));
                    }
                    // Points are one pixel wide.
                    Some(Memory::Global(to)) if self.global(to).binding == Binding::BuiltIn(BuiltIn::PointSize) => {}
                    Some(Memory::Global(to)) if self.is_point(to) => self.of_points.push(id),
                    _ if slice::is_seen(self.module, self.f, inst.op) => self.of_points.push(id),
                    _ => {}
                },
                Op::Call(callee, args) => {
                    let effects = &self.effects[callee.index()];
                    let args = self.f.values(args).iter().filter_map(|arg| memory_of(self.f, *arg));
                    let named = args.filter_map(|memory| if let Memory::Global(id) = memory { Some(id) } else { None });
                    if effects.globals.iter().copied().chain(named).any(|id| self.is_output(id)) {
                        let what = "functions that use the outputs of a control shader and return from inside of loops";
                        return Err(refused(what, inst.span));
                    }
                    if effects.is_seen {
                        self.of_points.push(id);
                    }
                }
                op if op.waits_for_workgroup() => self.barriers.push(id),
                Op::Barrier { execution: None, .. } => orders.push(id),
                op if slice::is_seen(self.module, self.f, op) => self.of_points.push(id),
                _ => {}
            }
        }
        // Only observable effects need an order.
        if self.of_points.iter().any(|id| !self.is_store_to_output(*id)) {
            self.of_points.extend(orders);
        }
        Ok(())
    }

    /// Returns true for a level that patches of this domain do not have.
    fn is_beyond(&self, to: GlobalId, pointer: Value) -> bool {
        let count = match self.global(to).binding {
            Binding::BuiltIn(BuiltIn::TessLevelOuter) => outer_levels(&self.entry.primitives),
            Binding::BuiltIn(BuiltIn::TessLevelInner) => inner_levels(&self.entry.primitives),
            _ => return false,
        };
        let index = self.indices(pointer).first().and_then(|index| self.module.known_u32(*index));
        count == 0 || index.is_some_and(|index| index >= count)
    }

    /// The indices of a pointer to a part of a variable.
    fn indices(&self, pointer: Value) -> &'a [Value] {
        match pointer {
            Value::Inst(id) => match self.f.insts[id].op {
                Op::Access { indices, .. } => self.f.values(indices),
                _ => &[],
            },
            _ => &[],
        }
    }

    fn run(self) -> Made<Module> {
        let mut made = self.module.clone();
        let patch = self.patch_function(&mut made)?;
        self.point_function(&mut made)?;
        made.entry_points.push(EntryPoint { function: patch, ..self.entry.clone() });
        Ok(made)
    }

    // The function of a control point.

    fn point_function(&self, made: &mut Module) -> Made<()> {
        let tracks = |id: GlobalId| matches!(self.global(id).space, Space::Private | Space::Output);
        let kept = part(self.f, &self.outline, &self.effects, self.of_points.iter().copied(), &tracks);
        if !self.barriers.is_empty() {
            self.check_memory(&kept, "control points that depend on memory that invocations write before a barrier")?;
        }
        let mut f = self.f.clone();
        keep_only(&mut f, &kept);
        let mut with = FxHashMap::default();
        for id in f.insts.handles().filter(|id| kept.contains(id)).collect::<Vec<_>>() {
            let Inst { op, span, .. } = f.insts[id];
            let is_direct = |value: Value| matches!(value, Value::Global(id) if self.is_point(id));
            match op {
                Op::Access { base: base @ Value::Global(of), indices } if self.is_point(of) => {
                    if !f.values(indices).first().is_some_and(|index| self.is_number(*index)) {
                        let what = "control points that depend on outputs of other invocations";
                        return Err(refused(what, span));
                    }
                    let rest = Values { start: indices.start + 1, len: indices.len - 1 };
                    match rest.len {
                        0 => {
                            f.insts[id].op = Op::Unreachable;
                            f.insts[id].ty = Types::VOID;
                            with.insert(Value::Inst(id), base);
                        }
                        _ => f.insts[id].op = Op::Access { base, indices: rest },
                    }
                }
                op => {
                    let mut names = false;
                    op.each_operand(&f, |value| names |= is_direct(value));
                    if names {
                        return Err(refused("outputs of all control points as one value", span));
                    }
                }
            }
        }
        let dead: Insts =
            with.keys().filter_map(|value| if let Value::Inst(id) = value { Some(*id) } else { None }).collect();
        for (_, block) in f.blocks.iter_mut() {
            block.insts.retain(|id| !dead.contains(id));
        }
        replace(&mut f, &with);
        for (id, global) in self.module.globals.iter().filter(|(id, _)| self.is_point(*id)) {
            if let Type::Array { element, .. } = self.module.types.get(global.ty) {
                made.globals[id].ty = element;
            }
        }
        self.keep_patch_values(made, &mut f, &kept)?;
        made.functions[self.entry.function] = f;
        Ok(())
    }

    /// Returns true for the number of the invocation.
    fn is_number(&self, value: Value) -> bool {
        let Value::Inst(id) = value else { return false };
        match self.f.insts[id].op {
            Op::Load(Value::Global(from)) => Some(from) == self.number,
            Op::Convert(value) | Op::Bitcast(value) => self.is_number(value),
            _ => false,
        }
    }

    /// Gives the control point function separate copies of the per-patch values, if all invocations write the same
    /// there.
    fn keep_patch_values(&self, made: &mut Module, f: &mut Function, kept: &Insts) -> Made<()> {
        let mut with = FxHashMap::default();
        for (id, global) in self.module.globals.iter().filter(|(id, _)| self.is_patch(*id)) {
            let mut uses = f.insts.iter().filter(|(inst, _)| kept.contains(inst)).filter(|(_, inst)| {
                let mut is_used = false;
                inst.op.each_operand(f, |value| is_used |= value == Value::Global(id));
                is_used
            });
            let Some((_, first)) = uses.next() else { continue };
            let stores = self.of_patch.iter().copied().filter(|store| self.is_store_to(*store, id));
            let tracks = |id: GlobalId| matches!(self.global(id).space, Space::Private | Space::Output);
            let needed = part(self.f, &self.outline, &self.effects, stores, &tracks);
            if self.depends_on_number(&needed) {
                let what = "control points that depend on what one invocation writes for the patch";
                return Err(refused(what, first.span));
            }
            let own = Global { space: Space::Private, binding: Binding::None, ..global.clone() };
            with.insert(Value::Global(id), Value::Global(made.globals.push(own)));
        }
        replace(f, &with);
        let own: FxHashSet<Value> = with.into_values().collect();
        for (_, inst) in f.insts.iter_mut() {
            if let (Op::Access { base, .. }, Type::Pointer { pointee, .. }) = (inst.op, made.types.get(inst.ty))
                && own.contains(&base)
            {
                inst.ty = made.types.pointer(Space::Private, pointee);
            }
        }
        Ok(())
    }

    fn is_store_to_output(&self, store: InstId) -> bool {
        let Op::Store { pointer, .. } = self.f.insts[store].op else { return false };
        matches!(memory_of(self.f, pointer), Some(Memory::Global(id)) if self.is_output(id))
    }

    fn is_store_to(&self, store: InstId, id: GlobalId) -> bool {
        let Op::Store { pointer, .. } = self.f.insts[store].op else { return false };
        memory_of(self.f, pointer) == Some(Memory::Global(id))
    }

    fn depends_on_number(&self, insts: &Insts) -> bool {
        let names = |id: &InstId| {
            let mut names = false;
            let op = self.f.insts[*id].op;
            op.each_operand(self.f, |value| names |= Some(value) == self.number.map(Value::Global));
            if let Op::Call(callee, _) = op {
                names |= self.number.is_some_and(|number| self.effects[callee.index()].globals.contains(&number));
            }
            names
        };
        insts.iter().any(names)
    }

    // The function of the patch.

    fn patch_function(&self, made: &mut Module) -> Made<FuncId> {
        let tracks = |id: GlobalId| self.global(id).space == Space::Private;
        let needed = |roots: &[InstId]| part(self.f, &self.outline, &self.effects, roots.iter().copied(), &tracks);
        let all = needed(&self.of_patch);
        self.check_patch(&all)?;
        let workers = self.workers(&all);
        let mut f = self.f.clone();
        match workers {
            Workers::Any => keep_only(&mut f, &all),
            Workers::One(number) => {
                keep_only(&mut f, &all);
                self.run_as(made, &mut f, number);
            }
            Workers::All => return self.run_all(made, &needed),
        }
        self.see_points(made, &mut f);
        Ok(made.functions.push(f))
    }

    /// Rejects code that the patch function cannot compute like the invocations.
    fn check_patch(&self, kept: &Insts) -> Made<()> {
        self.check_memory(kept, "what a patch has once, where it depends on memory that the shader writes,")?;
        let mut kept: Vec<InstId> = kept.iter().copied().collect();
        kept.sort_unstable_by_key(|id| self.at(*id));
        for id in kept {
            let Inst { op, span, .. } = self.f.insts[id];
            let is_effect = match op {
                Op::Call(callee, _) => self.effects[callee.index()].is_seen,
                op => slice::is_seen(self.module, self.f, op),
            };
            if is_effect || matches!(op, Op::Lane(..)) {
                let what = "what a patch has once, where it depends on operations that other invocations see,";
                return Err(refused(what, span));
            }
            let mut used = Vec::new();
            op.each_operand(self.f, |value| used.extend(if let Value::Global(id) = value { Some(id) } else { None }));
            if !matches!(op, Op::Store { .. })
                && used.into_iter().any(|of| self.is_point(of) && self.changes_after(of, id))
            {
                return Err(refused("reads of outputs that the control shader writes again later", span));
            }
        }
        Ok(())
    }

    /// Refuses reads of memory that the shader writes, because the two functions' invocations have no order.
    fn check_memory(&self, kept: &Insts, what: &str) -> Made<()> {
        let is_outer = |memory: &Memory| matches!(memory, Memory::Global(id) if !self.is_output(*id));
        let own = self.of_points.iter().filter_map(|id| self.written_by(*id)).filter(is_outer);
        let mut written: FxHashSet<Memory> = own.collect();
        for id in &self.of_points {
            if let Op::Call(callee, _) = self.f.insts[*id].op {
                written.extend(self.effects[callee.index()].writes.iter().map(|id| Memory::Global(*id)));
            }
        }
        let writes_images =
            self.of_points.iter().any(|id| matches!(self.f.insts[*id].op, Op::Image { .. } | Op::Call(..)));
        let reads = |id: &InstId| match self.f.insts[*id].op {
            Op::Load(pointer) => memory_of(self.f, pointer).is_some_and(|memory| written.contains(&memory)),
            Op::Image { op: ImageOp::Read, .. } => writes_images,
            _ => false,
        };
        let first = kept.iter().copied().filter(reads).min_by_key(|id| self.at(*id));
        first.map_or(Ok(()), |id| Err(refused(what, self.f.insts[id].span)))
    }

    fn written_by(&self, id: InstId) -> Option<Memory> {
        match self.f.insts[id].op {
            Op::Store { pointer, .. } | Op::Atomic { pointer, .. } => memory_of(self.f, pointer),
            _ => None,
        }
    }

    /// Returns true if an output of control points may change after an instruction.
    fn changes_after(&self, of: GlobalId, id: InstId) -> bool {
        let loops = |id: InstId| {
            let around = self.outline.around(id).map(|(outer, _)| outer);
            around.filter(|outer| matches!(self.f.insts[*outer].op, Op::Loop { .. })).collect::<Vec<_>>()
        };
        let own = loops(id);
        let mut stores = self.of_points.iter().copied().filter(|store| self.is_store_to(*store, of));
        stores.any(|store| self.at(store) > self.at(id) || loops(store).iter().any(|around| own.contains(around)))
    }

    fn workers(&self, kept: &Insts) -> Workers {
        if !self.depends_on_number(kept) {
            return Workers::Any;
        }
        let mut numbers = self.of_patch.iter().map(|store| self.worker(*store));
        match numbers.next() {
            Some(Some(first)) if numbers.all(|other| other == Some(first)) => Workers::One(first),
            _ => Workers::All,
        }
    }

    /// The index of the only invocation that runs an instruction, if enclosing conditions or an earlier return
    /// determine it.
    fn worker(&self, id: InstId) -> Option<u32> {
        let around = self.outline.around(id).find_map(|(outer, block)| {
            let Op::If { condition, then, otherwise, .. } = self.f.insts[outer].op else { return None };
            match self.comparison(condition)? {
                (BinaryOp::Eq, number) => (block == then).then_some(number),
                (_, number) => (block == otherwise).then_some(number),
            }
        });
        around.or_else(|| {
            let before =
                self.f.blocks[self.f.body].insts.iter().copied().take_while(|other| self.at(*other) < self.at(id));
            before.into_iter().find_map(|other| {
                let Op::If { condition, then, otherwise, .. } = self.f.insts[other].op else { return None };
                let returns = |block: BlockId| {
                    let last = self.f.blocks[block].insts.last();
                    last.is_some_and(|last| matches!(self.f.insts[*last].op, Op::Return(_)))
                };
                match self.comparison(condition)? {
                    (BinaryOp::Ne, number) => returns(then).then_some(number),
                    (_, number) => returns(otherwise).then_some(number),
                }
            })
        })
    }

    /// A comparison of the invocation's index with a constant.
    fn comparison(&self, condition: Value) -> Option<(BinaryOp, u32)> {
        let Value::Inst(id) = condition else { return None };
        let Op::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) = self.f.insts[id].op else { return None };
        let number = match [a, b].map(|value| self.is_number(value)) {
            [true, false] => self.module.known_u32(b),
            [false, true] => self.module.known_u32(a),
            _ => None,
        };
        Some((op, number?))
    }

    /// Reduces a function to the work of one invocation.
    fn run_as(&self, made: &mut Module, f: &mut Function, number: u32) {
        self.decide(f, f.body, number);
        let Some(of) = self.number else { return };
        let ty = self.global(of).ty;
        let constant = Value::Const(made.constants.intern(ty, ConstValue::Bits(number.into())));
        let is_load = |inst: &Inst| matches!(inst.op, Op::Load(Value::Global(from)) if from == of);
        let loads = f.insts.iter().filter(|(_, inst)| is_load(inst)).map(|(id, _)| (Value::Inst(id), constant));
        let with: FxHashMap<Value, Value> = loads.collect();
        replace(f, &with);
        let outline = Outline::of(f);
        let roots = self.of_patch.iter().copied().filter(|id| outline.place(*id).is_some());
        let tracks = |id: GlobalId| self.global(id).space == Space::Private;
        let kept = part(f, &outline, &self.effects, roots, &tracks);
        keep_only(f, &kept);
        if self.shares_number(f) {
            self.set_number(f, f.body, constant);
        }
    }

    /// Returns true if a called function reads the invocation's index.
    fn shares_number(&self, f: &Function) -> bool {
        let asks = |callee: FuncId| {
            self.effects
                .get(callee.index())
                .is_some_and(|effects| self.number.is_some_and(|number| effects.globals.contains(&number)))
        };
        calls::callees(f).any(|(callee, _)| asks(callee))
    }

    /// Sets the invocation's index at the start of a block, from a value that is not in a block yet or a constant.
    fn set_number(&self, f: &mut Function, block: BlockId, value: Value) {
        let Some(number) = self.number else { return };
        let op = Op::Store { pointer: Value::Global(number), value };
        let store = f.insts.push(Inst { op, ty: Types::VOID, span: self.f.span, flags: InstFlags::empty() });
        let list = &f.blocks[block].insts;
        // The test of a loop comes first.
        let test = list.iter().position(|id| matches!(f.insts[*id].op, Op::If { .. }));
        let at = if block == f.body { 0 } else { test.map_or(0, |at| at + 1) };
        let of_value = if let Value::Inst(id) = value { Some(id) } else { None };
        f.blocks[block].insts.insert_many(at, of_value.into_iter().chain([store]));
    }

    /// Replaces selections that compare the invocation's index by the arm that it takes.
    fn decide(&self, f: &mut Function, block: BlockId, number: u32) {
        let mut left = Vec::new();
        for id in f.blocks[block].insts.clone() {
            let Inst { op, ty, .. } = f.insts[id];
            f.inner_blocks(op).into_iter().for_each(|inner| self.decide(f, inner, number));
            match op {
                Op::If { condition, then, otherwise, .. } if ty == Types::VOID => match self.comparison(condition) {
                    Some((op, other)) => {
                        let arm = if (op == BinaryOp::Eq) == (other == number) { then } else { otherwise };
                        left.extend(f.blocks[arm].insts.iter().copied());
                    }
                    None => left.push(id),
                },
                _ => left.push(id),
            }
            if left.last().is_some_and(|last| f.insts[*last].op.is_terminator()) {
                break;
            }
        }
        f.blocks[block].insts = left.into();
    }

    /// Gives the patch function access to the output control points.
    fn see_points(&self, made: &mut Module, f: &mut Function) {
        let mut with = FxHashMap::default();
        for (id, global) in self.module.globals.iter().filter(|(id, _)| self.is_point(*id)) {
            let mut is_used = false;
            for (_, inst) in f.insts.iter() {
                inst.op.each_operand(f, |value| is_used |= value == Value::Global(id));
            }
            if is_used {
                with.insert(Value::Global(id), Value::Global(made.globals.push(global.clone())));
            }
        }
        replace(f, &with);
    }

    /// Runs the work of all invocations, one after the other in each phase between barriers.
    fn run_all(&self, made: &mut Module, needed: &dyn Fn(&[InstId]) -> Insts) -> Made<FuncId> {
        let Some(number) = self.number else { return Err(refused("such control shaders", self.f.span)) };
        if let Some(inner) =
            self.barriers.iter().find(|id| self.outline.place(**id).is_some_and(|at| at.parent.is_some()))
        {
            return Err(refused("barriers of control shaders inside of control flow", self.f.insts[*inner].span));
        }
        let counter = Global {
            name: COUNTER.into(),
            space: Space::Private,
            binding: Binding::None,
            ..self.global(number).clone()
        };
        let ty = counter.ty;
        let counter = Value::Global(made.globals.push(counter));
        let mut phases = Vec::new();
        let mut whole = Function::new("patch_constants", self.f.span, Vec::new(), Types::VOID);
        for phase in 0..=self.barriers.len() {
            let roots: Vec<InstId> = self.of_patch.iter().copied().filter(|id| self.phase(*id) == phase).collect();
            if roots.is_empty() {
                continue;
            }
            let kept = needed(&roots);
            self.check_phase(&kept, phase)?;
            let mut f = self.f.clone();
            keep_only(&mut f, &kept);
            self.see_points(made, &mut f);
            replace(&mut f, &FxHashMap::from_iter([(Value::Global(number), counter)]));
            let callee = made.functions.push(f);
            phases.push(callee);
            self.add_loop(made, &mut whole, (counter, ty), callee);
        }
        let function = made.functions.push(whole);
        let (functions, entries) = (made.functions.clone(), made.entry_points.clone());
        made.entry_points = vec![EntryPoint { function, ..self.entry.clone() }];
        inline(made, usize::MAX, usize::MAX);
        let mut whole = made.functions[function].clone();
        (made.functions, made.entry_points) = (functions, entries);
        if calls::callees(&whole).any(|(callee, _)| phases.contains(&callee)) {
            let what = "what each invocation writes for the patch by functions, or after returns, in loops";
            return Err(refused(what, self.f.span));
        }
        if self.shares_number(&whole) {
            let turns: Vec<BlockId> = whole.blocks[whole.body]
                .insts
                .iter()
                .filter_map(|id| match whole.insts[*id].op {
                    Op::Loop { body, .. } => Some(body),
                    _ => None,
                })
                .collect();
            for turn in turns {
                let load =
                    whole.insts.push(Inst { op: Op::Load(counter), ty, span: self.f.span, flags: InstFlags::empty() });
                self.set_number(&mut whole, turn, Value::Inst(load));
            }
        }
        let span = self.global(number).span;
        let name = COUNTER.into();
        let local = whole.locals.push(Local { name, span, scope: span, ty, restrict: false, init: None });
        replace(&mut whole, &FxHashMap::from_iter([(counter, Value::Local(local))]));
        made.functions[function] = whole;
        for phase in phases {
            made.functions[phase] = Function::new("", self.f.span, Vec::new(), Types::VOID);
        }
        Ok(function)
    }

    fn phase(&self, id: InstId) -> usize {
        self.barriers.iter().filter(|barrier| self.at(**barrier) < self.at(id)).count()
    }

    /// Refuses values from an earlier phase that may have changed.
    fn check_phase(&self, kept: &Insts, phase: usize) -> Made<()> {
        for id in kept {
            let Inst { op, span, .. } = self.f.insts[*id];
            let mut used = Vec::new();
            op.each_operand(self.f, |value| used.extend(if let Value::Global(id) = value { Some(id) } else { None }));
            let own = self.phase(*id);
            let is_late = |of: GlobalId| {
                let mut stores = self.of_patch.iter().filter(|store| self.is_store_to(**store, of));
                self.is_patch(of) && own < phase && stores.any(|store| self.phase(*store) >= own)
            };
            if used.iter().any(|of| is_late(*of)) {
                return Err(refused("what a patch has once, where it depends on earlier values of such,", span));
            }
            if used.iter().any(|of| self.global(*of).space == Space::Private) {
                return Err(refused(
                    "what each invocation writes for the patch by variables outside of functions",
                    span,
                ));
            }
        }
        Ok(())
    }

    /// Adds a loop over all invocations.
    fn add_loop(&self, made: &mut Module, f: &mut Function, (counter, ty): (Value, TypeId), callee: FuncId) {
        let [zero, one, count] =
            [0, 1, points_out(self.entry)].map(|n| Value::Const(made.constants.intern(ty, ConstValue::Bits(n.into()))));
        let span = self.f.span;
        let add = |f: &mut Function, op: Op, ty: TypeId| {
            let flags = InstFlags::empty();
            f.insts.push(Inst { op, ty, span, flags })
        };
        let block = |f: &mut Function, insts: &[InstId]| {
            f.blocks.push(crate::ir::Block { insts: insts.iter().copied().collect() })
        };
        let first = add(f, Op::Store { pointer: counter, value: zero }, Types::VOID);
        let now = add(f, Op::Load(counter), ty);
        let goes_on = add(f, Op::Binary(BinaryOp::Lt, Value::Inst(now), count), Types::BOOL);
        let leave = add(f, Op::Break, Types::VOID);
        let [then, otherwise] = [block(f, &[]), block(f, &[leave])];
        let hint = crate::ir::ControlHint::None;
        let test = add(f, Op::If { condition: Value::Inst(goes_on), then, otherwise, hint }, Types::VOID);
        let none = f.list(&[]);
        let call = add(f, Op::Call(callee, none), Types::VOID);
        let body = block(f, &[now, goes_on, test, call]);
        let last = add(f, Op::Load(counter), ty);
        let next = add(f, Op::Binary(BinaryOp::Add, Value::Inst(last), one), ty);
        let step = add(f, Op::Store { pointer: counter, value: Value::Inst(next) }, Types::VOID);
        let continuing = block(f, &[last, next, step]);
        let turns = add(f, Op::Loop { body, continuing, break_if: None, hint }, Types::VOID);
        let outer = f.body;
        f.blocks[outer].insts.extend([first, turns]);
    }
}
