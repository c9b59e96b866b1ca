//! Propagates constants through variables, operations and selections. Loops with a constant trip count are unrolled on
//! the way ([`super::unroll`]).
//!
//! A variable has a constant value from a store of one until the next store, or until the end of a construct that
//! stores to it. The pass is one walk in code order. It moves nothing, so cross-lane operations see the same
//! invocations as before.

use super::fold::{self, Expr};
use super::plain::{plain_locals, root_local};
use super::unroll::Budget;
use super::{
    BlockId, ConstId, Function, Inst, InstFlags, InstId, LocalId, Module, Op, Scalar, ScalarKind, Type, TypeId, Types,
    Value, Values,
};
use crate::source::Span;
use smallvec::SmallVec;

/// Propagates constants in a function, which is taken out of its module meanwhile, and unrolls loops.
pub fn propagate(module: &mut Module, function: &mut Function, budget: Budget) {
    let is_plain = plain_locals(function, |_, _| true);
    let mut walk = Walk {
        holds: vec![None; function.locals.len()],
        stored: Vec::new(),
        replaced: vec![None; function.insts.len()],
        is_plain,
        budget,
        module,
        function,
    };
    for (id, local) in walk.function.locals.iter() {
        walk.holds[id.index()] = local.init.filter(|_| walk.is_plain[id.index()]);
    }
    walk.block(walk.function.body, true);
}

pub(super) struct Walk<'a> {
    module: &'a mut Module,
    pub(super) function: &'a mut Function,
    /// The remaining budget of unrolled instructions.
    pub(super) budget: Budget,
    /// Variables whose changes are all known.
    pub(super) is_plain: Vec<bool>,
    /// The constant value of each variable.
    pub(super) holds: Vec<Option<ConstId>>,
    /// Variables stored to, in order, with their previous values.
    stored: Vec<(LocalId, Option<ConstId>)>,
    /// The values of instructions that are not needed for them.
    pub(super) replaced: Vec<Option<Value>>,
}

impl Walk<'_> {
    /// Walks a block; `may_end` is true unless the block must yield a value.
    fn block(&mut self, block: BlockId, may_end: bool) {
        let insts = std::mem::take(&mut self.function.blocks[block].insts);
        let mut left = SmallVec::with_capacity(insts.len());
        self.instructions(&insts, may_end, &mut left);
        self.function.blocks[block].insts = left;
    }

    /// Walks instructions; the ones to keep go to `left`. Returns true if they end their block.
    pub(super) fn instructions(&mut self, insts: &[InstId], may_end: bool, left: &mut SmallVec<[InstId; 4]>) -> bool {
        for id in insts {
            self.rename(*id);
            let inst = self.function.insts[*id];
            match inst.op {
                Op::Access { base, indices } => self.veil_indices(base, indices, inst.span, left),
                Op::If { condition, then, otherwise, .. } => {
                    let chosen = self.known_bool(condition).map(|is_true| if is_true { then } else { otherwise });
                    match chosen.filter(|chosen| may_end || !self.ends(*chosen)) {
                        Some(chosen) => {
                            if self.arm(*id, chosen, may_end, left) {
                                return true;
                            }
                            continue;
                        }
                        None => self.fork(&[then, otherwise], inst.ty == Types::VOID),
                    }
                }
                Op::Loop { body, continuing, .. } => match self.unroll(&inst, may_end, left) {
                    Some(true) => return true,
                    Some(false) => continue,
                    None => {
                        self.repeat(body, continuing);
                        self.rename(*id);
                    }
                },
                Op::Switch { cases, .. } => {
                    let arms: SmallVec<[BlockId; 8]> = self.function.arms(cases).iter().map(|arm| arm.body).collect();
                    let falls = self.function.arms(cases).iter().any(|arm| arm.falls_through);
                    if falls {
                        arms.iter().for_each(|arm| self.forget_stores(*arm));
                    }
                    self.fork(&arms, true);
                }
                Op::Load(pointer) => {
                    if let Some(constant) = self.held(pointer).filter(|_| inst.flags.is_empty() || is_relaxed(&inst)) {
                        self.replaced[id.index()] = Some(Value::Const(constant));
                        continue;
                    }
                }
                Op::Store { pointer, value } => self.store(pointer, value),
                _ => {
                    if let Some(constant) = self.folded(&inst) {
                        self.replaced[id.index()] = Some(Value::Const(constant));
                        continue;
                    }
                }
            }
            left.push(*id);
            if inst.op.is_terminator() {
                return true;
            }
        }
        false
    }

    /// Replaces a selection by the side that is always taken. Returns true if its instructions end the block.
    fn arm(&mut self, id: InstId, chosen: BlockId, may_end: bool, left: &mut SmallVec<[InstId; 4]>) -> bool {
        let insts = std::mem::take(&mut self.function.blocks[chosen].insts);
        let gives = match insts.last().map(|last| self.function.insts[*last].op) {
            Some(Op::Yield(value)) => Some(value),
            _ => None,
        };
        let insts = if gives.is_some() { &insts[..insts.len() - 1] } else { &insts[..] };
        let ended = self.instructions(insts, may_end, left);
        self.replaced[id.index()] = gives.map(|value| self.resolve(value));
        ended
    }

    /// Returns true if a block ends other than by a yield.
    fn ends(&self, block: BlockId) -> bool {
        let last = self.function.blocks[block].insts.last().map(|last| self.function.insts[*last].op);
        last.is_some_and(|op| op.is_terminator() && !matches!(op, Op::Yield(_)))
    }

    /// Walks blocks of which at most one runs.
    fn fork(&mut self, blocks: &[BlockId], may_end: bool) {
        let first = self.stored.len();
        for block in blocks {
            let start = self.stored.len();
            self.block(*block, may_end);
            for (local, before) in self.stored[start..].iter().rev() {
                self.holds[local.index()] = *before;
            }
        }
        self.forget(first);
    }

    fn repeat(&mut self, body: BlockId, continuing: BlockId) {
        let first = self.stored.len();
        [body, continuing].into_iter().for_each(|block| self.forget_stores(block));
        self.block(body, true);
        self.forget(first);
        self.block(continuing, true);
        self.forget(first);
    }

    /// Forgets the values of the variables stored to since a point.
    fn forget(&mut self, first: usize) {
        for (local, _) in &self.stored[first..] {
            self.holds[local.index()] = None;
        }
    }

    /// Forgets the values of the variables that a block's code stores to.
    fn forget_stores(&mut self, block: BlockId) {
        let Walk { function, holds, stored, .. } = self;
        each_store(function, block, |local| stored.push((local, holds[local.index()].take())));
    }

    fn store(&mut self, pointer: Value, value: Value) {
        let Some(local) = root_local(self.function, pointer) else { return };
        self.stored.push((local, self.holds[local.index()]));
        self.holds[local.index()] = match (pointer, value) {
            (Value::Local(_), Value::Const(constant)) if self.is_plain[local.index()] => Some(constant),
            _ => None,
        };
    }

    /// Makes constant indices unknown again if they are out of range: chains must not contain them ([`super::verify`]),
    /// and the access, which the source guards or which is undefined, stays as it was.
    fn veil_indices(&mut self, base: Value, indices: Values, span: Span, left: &mut SmallVec<[InstId; 4]>) {
        let Some(mut of) = self.accessed(base) else { return };
        for at in indices.start as usize..(indices.start + indices.len) as usize {
            let index = self.function.operands[at];
            if self.is_outside(of, index) {
                let veiled = self.veiled(index, span);
                left.push(veiled);
                self.function.operands[at] = Value::Inst(veiled);
            }
            let number = self.module.known_u32(index).unwrap_or(0);
            let Some(part) = self.module.types.element(of, number) else { return };
            of = part;
        }
    }

    /// The type of the memory that a pointer or a reference names.
    fn accessed(&mut self, base: Value) -> Option<TypeId> {
        let Module { types, .. } = &*self.module;
        if let Some((_, pointee)) = self.module.pointee_of(self.function, types, base) {
            return Some(pointee);
        }
        let referred = types.referred(self.module.value_type(self.function, base)?)?;
        Some(self.module.types.intern(Type::Struct(referred)))
    }

    /// Returns true if a constant index is outside of a composite.
    fn is_outside(&self, of: TypeId, index: Value) -> bool {
        let Value::Const(id) = index else { return false };
        let types = &self.module.types;
        let (count, index) = (types.part_count(of), self.module.constants.as_int(types, id));
        count.zip(index).is_some_and(|(count, index)| !(0..i128::from(count)).contains(&index))
    }

    /// An integer constant as the result of a bitcast from the other signedness, which is not folded.
    fn veiled(&mut self, constant: Value, span: Span) -> InstId {
        let ty = self.module.value_type(self.function, constant);
        let scalar = ty.and_then(|ty| self.module.types.scalar_of(ty)).unwrap_or(Scalar::I32);
        let kind = if scalar.is_signed() { ScalarKind::Uint } else { ScalarKind::Sint };
        let ty = self.module.types.scalar(Scalar { kind, ..scalar });
        let id = self.function.insts.push(Inst { ty, op: Op::Bitcast(constant), span, flags: InstFlags::empty() });
        self.replaced.resize(self.function.insts.len(), None);
        id
    }

    /// The constant in the memory that a pointer points to.
    fn held(&mut self, pointer: Value) -> Option<ConstId> {
        let local = root_local(self.function, pointer)?;
        let mut held = self.holds[local.index()]?;
        let Value::Inst(id) = pointer else { return Some(held) };
        let Op::Access { indices, .. } = self.function.insts[id].op else { return None };
        let Module { types, constants, .. } = &mut *self.module;
        for index in self.function.values(indices) {
            let Value::Const(index) = index else { return None };
            let index = u32::try_from(constants.as_int(types, *index)?).ok()?;
            let ty = types.element(constants.get(held).ty, index)?;
            held = fold::fold(types, constants, Expr::Extract(index), ty, &[held])?;
        }
        Some(held)
    }

    pub(super) fn known_bool(&self, condition: Value) -> Option<bool> {
        let Value::Const(id) = condition else { return None };
        self.module.constants.bits(id).map(|bits| bits != 0)
    }

    /// The constant result of an operation on constants.
    pub(super) fn folded(&mut self, inst: &Inst) -> Option<ConstId> {
        if inst.flags.intersects(InstFlags::NON_UNIFORM | InstFlags::SATURATED) {
            return None;
        }
        let one = |value: Value| SmallVec::<[Value; 4]>::from_slice(&[value]);
        let (expr, args): (Expr, SmallVec<[Value; 4]>) = match inst.op {
            Op::Unary(op, a) => (Expr::Unary(op), one(a)),
            Op::Binary(op, a, b) => (Expr::Binary(op), SmallVec::from_slice(&[a, b])),
            Op::Math(function, list) if !function.is_derivative() => (Expr::Math(function), self.list(list)),
            Op::Convert(a) => (Expr::Convert, one(a)),
            Op::Bitcast(a) => (Expr::Bitcast, one(a)),
            Op::Select { condition, accept, reject } => {
                (Expr::Select, SmallVec::from_slice(&[condition, accept, reject]))
            }
            Op::Construct(list) => (Expr::Construct, self.list(list)),
            Op::Splat(a) => (Expr::Splat, one(a)),
            Op::Extract { composite, index } => (Expr::Extract(index), one(composite)),
            Op::ExtractDynamic { composite, index } => {
                (Expr::ExtractDynamic, SmallVec::from_slice(&[composite, index]))
            }
            Op::Insert { composite, index, part } => (Expr::Insert(index), SmallVec::from_slice(&[composite, part])),
            Op::InsertDynamic { composite, index, part } => {
                (Expr::InsertDynamic, SmallVec::from_slice(&[composite, index, part]))
            }
            Op::Shuffle { a, b, mask } => (Expr::Shuffle(mask), SmallVec::from_slice(&[a, b])),
            _ => return None,
        };
        self.fold(expr, inst.ty, &args)
    }

    fn fold(&mut self, expr: Expr, ty: TypeId, args: &[Value]) -> Option<ConstId> {
        let constant = |value: &Value| if let Value::Const(id) = value { Some(*id) } else { None };
        let args: SmallVec<[ConstId; 4]> = args.iter().map(constant).collect::<Option<_>>()?;
        let Module { types, constants, .. } = &mut *self.module;
        fold::fold(types, constants, expr, ty, &args)
    }

    fn list(&self, list: Values) -> SmallVec<[Value; 4]> {
        SmallVec::from_slice(self.function.values(list))
    }

    pub(super) fn resolve(&self, value: Value) -> Value {
        match value {
            Value::Inst(id) => self.replaced[id.index()].unwrap_or(value),
            other => other,
        }
    }

    /// Replaces an instruction's operands by their values known so far.
    fn rename(&mut self, id: InstId) {
        let op = self.function.insts[id].op;
        let op = op.map_operands(|value| self.resolve(value));
        let replaced = &self.replaced;
        let _ = op.map_list(|list| {
            let range = list.start as usize..(list.start + list.len) as usize;
            for value in &mut self.function.operands[range] {
                if let Value::Inst(other) = *value {
                    *value = replaced[other.index()].unwrap_or(*value);
                }
            }
            list
        });
        self.function.insts[id].op = op;
    }
}

/// Calls `see` for each store to a variable in a block and its nested blocks.
pub(super) fn each_store(function: &Function, block: BlockId, mut see: impl FnMut(LocalId)) {
    let mut open = vec![block];
    while let Some(block) = open.pop() {
        for id in &function.blocks[block].insts {
            match function.insts[*id].op {
                Op::Store { pointer, .. } => root_local(function, pointer).into_iter().for_each(&mut see),
                op => open.extend(function.inner_blocks(op)),
            }
        }
    }
}

/// Returns true if an instruction has no flags other than relaxed precision.
fn is_relaxed(inst: &Inst) -> bool {
    inst.flags == InstFlags::RELAXED
}
