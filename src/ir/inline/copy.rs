//! Replaces the chosen calls in a function by the code of other functions.

use super::Chosen;
use super::plan::Plan;
use crate::ir::{
    Block, BlockId, Case, Cases, ConstValue, FuncId, Function, Inst, InstFlags, InstId, Local, LocalId, Module, Op,
    TypeId, Types, Value, Values,
};
use crate::limits;
use crate::source::Span;
use smallvec::SmallVec;

/// The function being inlined into, temporarily taken out of its module.
pub(super) struct Inliner<'a> {
    module: &'a mut Module,
    chosen: &'a [Chosen],
    function: Function,
    /// True for each instruction that is a call to be replaced.
    taken: Vec<bool>,
    /// The value of each replaced call.
    replaced: Vec<Option<Value>>,
}

/// A call that is being replaced.
struct Copying<'c> {
    from: &'c Function,
    chosen: &'c Chosen,
    plan: &'c Plan,
    args: SmallVec<[Value; 8]>,
    values: Vec<Option<Value>>,
    /// Index of the first local of the caller that replaces a local of the inlinee.
    locals: usize,
    /// The variable for the return value; `None` if the only return is at the end.
    result: Option<LocalId>,
    /// The value of the only return.
    returned: Option<Value>,
    span: Span,
}

/// The instructions from a position in a block, and the code after the enclosing selections.
#[derive(Clone, Copy)]
struct Code<'c> {
    insts: &'c [InstId],
    after: Option<&'c Code<'c>>,
}

/// Replaces the chosen calls in a function.
pub(super) fn replace_calls_in(module: &mut Module, chosen: &[Chosen], id: FuncId) {
    let taken = &chosen[id.index()].taken;
    if taken.is_empty() {
        return;
    }
    let stand_in = Function::bodiless(module.functions[id].ret);
    let function = std::mem::replace(&mut module.functions[id], stand_in);
    let replaced = vec![None; function.insts.len()];
    let mut inliner = Inliner { module, chosen, taken: taken.clone(), replaced, function };
    inliner.block(inliner.function.body);
    inliner.rename();
    inliner.module.functions[id] = inliner.function;
}

impl Inliner<'_> {
    /// Replaces the calls in a block, and the calls in the inlined code.
    fn block(&mut self, block: BlockId) {
        let mut open = std::mem::take(&mut self.function.blocks[block].insts);
        open.reverse();
        let mut done = SmallVec::with_capacity(open.len());
        while let Some(id) = open.pop() {
            limits::spend(1);
            let inst = self.function.insts[id];
            match inst.op {
                Op::Call(callee, args) if self.taken[id.index()] => {
                    let mut code = SmallVec::new();
                    self.replaced[id.index()] = self.call(callee, args, inst, &mut code);
                    // The instruction is no longer in a block, so it must not count as a call.
                    self.function.insts[id].op = Op::Unreachable;
                    open.extend(code.into_iter().rev());
                }
                op => {
                    self.function.inner_blocks(op).into_iter().for_each(|inner| self.block(inner));
                    done.push(id);
                }
            }
        }
        self.function.blocks[block].insts = done;
    }

    /// Adds the code of a call and returns its value. The calls inside are still to be replaced.
    fn call(&mut self, callee: FuncId, args: Values, inst: Inst, into: &mut SmallVec<[InstId; 4]>) -> Option<Value> {
        let chosen = &self.chosen[callee.index()];
        let plan = chosen.plan.as_ref()?;
        let from = std::mem::replace(&mut self.module.functions[callee], Function::bodiless(inst.ty));
        let mut copying = Copying {
            args: SmallVec::from_slice(self.function.values(args)),
            values: vec![None; from.insts.len()],
            locals: self.function.locals.len(),
            result: None,
            returned: None,
            span: inst.span,
            from: &from,
            chosen,
            plan,
        };
        limits::spend(from.locals.len());
        limits::hold::<Local>(from.locals.len());
        limits::hold::<Option<Value>>(from.insts.len());
        for (_, local) in from.locals.iter() {
            let id = self.function.locals.push(local.clone());
            self.start_local(id, local, inst.span, into);
        }
        if !plan.is_straight && inst.ty != Types::VOID {
            copying.result = Some(self.result_local(inst.ty, inst.span));
        }
        self.copy_code(&mut copying, Code { insts: &from.blocks[from.body].insts, after: None }, into);
        let value = match copying.result {
            Some(result) => Some(self.add(inst.ty, Op::Load(Value::Local(result)), inst.span, into)),
            None => copying.returned,
        };
        self.module.functions[callee] = from;
        value
    }

    /// Gives a variable its first value, which it has at each call.
    fn start_local(&mut self, id: LocalId, local: &Local, span: Span, into: &mut SmallVec<[InstId; 4]>) {
        self.function.locals[id].init = None;
        let Some(init) = local.init else { return };
        if !matches!(self.module.constants.get(init).value, ConstValue::Undef) {
            let store = Op::Store { pointer: Value::Local(id), value: Value::Const(init) };
            self.add(Types::VOID, store, span, into);
        }
    }

    fn result_local(&mut self, ty: TypeId, span: Span) -> LocalId {
        let local = Local { name: "".into(), span, scope: Span::NONE, ty, restrict: false, init: None };
        self.function.locals.push(local)
    }

    fn add(&mut self, ty: TypeId, op: Op, span: Span, into: &mut SmallVec<[InstId; 4]>) -> Value {
        self.put(Inst { op, ty, span, flags: InstFlags::empty() }, false, into)
    }

    fn put(&mut self, inst: Inst, is_taken: bool, into: &mut SmallVec<[InstId; 4]>) -> Value {
        limits::spend(1);
        limits::hold::<Inst>(1);
        let id = self.function.insts.push(inst);
        self.taken.push(is_taken);
        self.replaced.push(None);
        into.push(id);
        Value::Inst(id)
    }

    /// Copies instructions up to the end of their block, then the code after it.
    fn copy_code(&mut self, copying: &mut Copying<'_>, code: Code<'_>, into: &mut SmallVec<[InstId; 4]>) {
        let mut code = Some(code);
        while let Some(Code { insts, after }) = code {
            for (at, id) in insts.iter().enumerate() {
                let inst = copying.from.insts[*id];
                match inst.op {
                    Op::Return(value) => return self.copy_return(copying, value, into),
                    Op::If { then, otherwise, .. } if copying.returns(then) || copying.returns(otherwise) => {
                        return self.copy_fork(copying, inst, Code { insts: &insts[at + 1..], after }, into);
                    }
                    _ => {
                        let value = self.copy(copying, *id, inst, into);
                        copying.values[id.index()] = Some(value);
                    }
                }
            }
            code = after.copied();
        }
    }

    fn copy_return(&mut self, copying: &mut Copying<'_>, value: Option<Value>, into: &mut SmallVec<[InstId; 4]>) {
        let value = value.map(|value| copying.value(value));
        match (copying.result, value) {
            (Some(result), Some(value)) => {
                self.add(Types::VOID, Op::Store { pointer: Value::Local(result), value }, copying.span, into);
            }
            _ => copying.returned = value,
        }
    }

    /// A selection that returns on at least one side: the code after it becomes part of the side that continues.
    fn copy_fork(&mut self, copying: &mut Copying<'_>, inst: Inst, rest: Code<'_>, into: &mut SmallVec<[InstId; 4]>) {
        let Op::If { condition, then, otherwise, hint } = inst.op else { return };
        let condition = copying.value(condition);
        let from = copying.from;
        let [then, otherwise] = [then, otherwise].map(|side| {
            // Selections in the side that return move the rest into their own other side.
            let after = copying.plan.ways(side).falls.then_some(&rest);
            self.copy_to_block(copying, Code { insts: &from.blocks[side].insts, after })
        });
        self.put(Inst { op: Op::If { condition, then, otherwise, hint }, ..inst }, false, into);
    }

    fn copy(&mut self, copying: &mut Copying<'_>, id: InstId, inst: Inst, into: &mut SmallVec<[InstId; 4]>) -> Value {
        let op = match inst.op {
            Op::If { condition, then, otherwise, hint } => {
                let condition = copying.value(condition);
                let [then, otherwise] = [then, otherwise].map(|block| self.copy_nested(copying, block));
                Op::If { condition, then, otherwise, hint }
            }
            Op::Loop { body, continuing, break_if, hint } => {
                let [body, continuing] = [body, continuing].map(|block| self.copy_nested(copying, block));
                Op::Loop { body, continuing, break_if: break_if.map(|value| copying.value(value)), hint }
            }
            Op::Switch { selector, cases, hint } => {
                let selector = copying.value(selector);
                Op::Switch { selector, cases: self.copy_arms(copying, cases), hint }
            }
            Op::Access { base, indices } => self.copy_access(copying, base, indices),
            op => {
                let from = copying.from;
                let op = op.map_operands(|value| copying.value(value));
                op.map_list(|list| {
                    let values: SmallVec<[Value; 8]> =
                        from.values(list).iter().map(|value| copying.value(*value)).collect();
                    limits::hold::<Value>(values.len());
                    self.function.list(&values)
                })
            }
        };
        // A pointer to the whole target of an argument is the argument.
        if let Op::Access { base, indices } = op
            && indices.len == 0
        {
            return base;
        }
        self.put(Inst { op, ..inst }, copying.chosen.takes(id), into)
    }

    fn copy_nested(&mut self, copying: &mut Copying<'_>, from: BlockId) -> BlockId {
        let insts = &copying.from.blocks[from].insts;
        self.copy_to_block(copying, Code { insts, after: None })
    }

    fn copy_to_block(&mut self, copying: &mut Copying<'_>, code: Code<'_>) -> BlockId {
        limits::hold::<Block>(1);
        let block = self.function.blocks.push(Block::default());
        let mut insts = SmallVec::new();
        self.copy_code(copying, code, &mut insts);
        self.function.blocks[block].insts = insts;
        block
    }

    fn copy_arms(&mut self, copying: &mut Copying<'_>, cases: Cases) -> Cases {
        let arms: Vec<Case> = copying.from.arms(cases).to_vec();
        let copied: Vec<Case> =
            arms.into_iter().map(|arm| Case { body: self.copy_nested(copying, arm.body), ..arm }).collect();
        let (start, len) = (self.function.cases.len() as u32, copied.len() as u32);
        self.function.cases.extend(copied);
        Cases { start, len }
    }

    /// Copies an access chain. If its base is a chain from the caller, the two become one, because chains are flat.
    fn copy_access(&mut self, copying: &mut Copying<'_>, base: Value, indices: Values) -> Op {
        let indices: SmallVec<[Value; 8]> =
            copying.from.values(indices).iter().map(|value| copying.value(*value)).collect();
        let base = copying.value(base);
        if !indices.is_empty()
            && let Value::Inst(id) = base
            && let Op::Access { base: root, indices: outer } = self.function.insts[id].op
        {
            let mut all: SmallVec<[Value; 8]> = SmallVec::from_slice(self.function.values(outer));
            all.extend(indices);
            return Op::Access { base: root, indices: self.function.list(&all) };
        }
        Op::Access { base, indices: self.function.list(&indices) }
    }

    /// Puts the values of calls in the places of the calls.
    fn rename(&mut self) {
        let Inliner { function, replaced, .. } = self;
        for id in function.insts.handles().collect::<Vec<_>>() {
            function.insts[id].op = function.insts[id].op.map_operands(|value| resolve(replaced, value));
        }
        function.operands.iter_mut().for_each(|value| *value = resolve(replaced, *value));
    }
}

/// The value that replaces another; the result of a call may be the result of another call.
fn resolve(replaced: &mut [Option<Value>], value: Value) -> Value {
    let next = |replaced: &[Option<Value>], value| match value {
        Value::Inst(id) => replaced[id.index()],
        _ => None,
    };
    let mut last = value;
    while let Some(new) = next(replaced, last) {
        last = new;
    }
    // The next search is short.
    let mut at = value;
    while let (Value::Inst(id), Some(new)) = (at, next(replaced, at)) {
        replaced[id.index()] = Some(last);
        at = new;
    }
    last
}

impl Copying<'_> {
    /// Returns true if a block of the inlinee returns from it.
    fn returns(&self, block: BlockId) -> bool {
        self.plan.ways(block).returns
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::Inst(id) => self.values[id.index()].unwrap_or(value),
            Value::Param(number) => self.args[number as usize],
            Value::Local(id) => Value::Local(LocalId::from_index(self.locals + id.index())),
            Value::Const(_) | Value::Global(_) => value,
        }
    }
}
