//! Inlining: replaces calls by the code of the functions.
//!
//! A function is inlined if it is small or called from one place only, and if its control flow allows it: it returns at
//! its end, or from selections one of whose sides always returns; the code after such a selection moves into the other
//! side. Each invocation runs the same operations in the same order as before, together with the same neighbours.
//!
//! Growth is linear in the size of the module: copies of functions that are neither small nor called once take from a budget,
//! and a function whose only call was inlined is given up.

use super::calls::callees_first;
use super::depth::DEPTH_LIMIT;
use super::{
    BlockId, Case, Cases, ConstValue, FuncId, Function, Inst, InstFlags, InstId, Local, LocalId, Module, Op, TypeId,
    Types, Value, Values,
};
use crate::limits;
use crate::source::Span;
use smallvec::SmallVec;

/// Inlines the functions that are called once, and those of at most `small` instructions; the copies of others have at most
/// `most` instructions together.
pub fn inline(module: &mut Module, small: usize, most: usize) {
    let roots: Vec<FuncId> = module.entry_points.iter().map(|entry| entry.function).collect();
    let order = callees_first(module, roots.iter().copied());
    let mut plans: Vec<Option<Plan>> = (0..module.functions.len()).map(|_| None).collect();
    let calls = count_calls(module, &order);
    let mut is_called_once: Vec<bool> = calls.iter().map(|count| *count == 1).collect();
    roots.iter().for_each(|root| is_called_once[root.index()] = false);
    give_up_unreached(module, &order);
    let mut left = most;
    for id in order {
        let stand_in = Function::bodiless(module.functions[id].ret);
        let mut function = std::mem::replace(&mut module.functions[id], stand_in);
        Inliner { module, plans: &plans, is_called_once: &is_called_once, left: &mut left, function: &mut function }
            .run();
        let is_free = |size: usize| calls[id.index()] == 1 || size <= small;
        plans[id.index()] =
            Plan::of(&function).map(|plan| Plan { price: if is_free(plan.size) { 0 } else { plan.size }, ..plan });
        module.functions[id] = function;
    }
}

/// Functions that no entry point reaches keep no body: what they call may be given up.
fn give_up_unreached(module: &mut Module, reached: &[FuncId]) {
    let mut is_reached = vec![false; module.functions.len()];
    reached.iter().for_each(|id| is_reached[id.index()] = true);
    for (_, function) in module.functions.iter_mut().filter(|(id, _)| !is_reached[id.index()]) {
        *function = Function::new("", function.span, Vec::new(), Types::VOID);
    }
}

/// The number of places that call each function; a function that is named otherwise too has one more.
fn count_calls(module: &Module, reached: &[FuncId]) -> Vec<usize> {
    let mut calls = vec![0; module.functions.len()];
    for id in reached {
        for (_, inst) in module.functions[*id].insts.iter() {
            let weight = if matches!(inst.op, Op::Call(..)) { 1 } else { 2 };
            inst.op.callees().into_iter().flatten().for_each(|callee| calls[callee.index()] += weight);
        }
    }
    calls
}

/// A function that may be inlined.
struct Plan {
    /// Its instructions.
    size: usize,
    /// Those that a copy takes from the budget.
    price: usize,
    /// Blocks that its own blocks lie in, at most, with the selections that what follows them is moved into.
    depth: usize,
    /// True if its only return is at its end.
    is_straight: bool,
    /// True if it can end the invocation.
    ends: bool,
}

/// The ways in which a block of an inlinee ends, and its nesting depth.
#[derive(Clone, Copy, Default)]
struct Seen {
    falls: bool,
    returns: bool,
    depth: usize,
}

impl Plan {
    /// None where control flow does not allow it.
    fn of(function: &Function) -> Option<Plan> {
        let mut plan = Plan { size: 0, price: 0, depth: 0, is_straight: true, ends: false };
        let seen = plan.block(function, function.body, true)?;
        plan.depth = seen.depth;
        let ends = seen.returns || seen.falls;
        ends.then_some(plan)
    }

    /// Looks at a block; `may_return` if it is not in a loop or switch. None for a return where there may be none.
    fn block(&mut self, function: &Function, block: BlockId, may_return: bool) -> Option<Seen> {
        let mut all = Seen { falls: true, returns: false, depth: 1 };
        let mut moved = 0;
        let insts = &function.blocks[block].insts;
        for (at, id) in insts.iter().enumerate() {
            self.size += 1;
            let is_last = at + 1 == insts.len();
            let seen = self.instruction(function, &function.insts[*id], may_return)?;
            self.is_straight &= !seen.returns || is_last && matches!(function.insts[*id].op, Op::Return(_));
            all.depth = all.depth.max(moved + seen.depth);
            // The code after a selection that returns moves to its innermost side that goes on.
            if seen.returns && !is_last {
                moved += seen.depth;
            }
            all.returns |= seen.returns;
            all.falls &= seen.falls;
        }
        Some(all)
    }

    fn instruction(&mut self, function: &Function, inst: &Inst, may_return: bool) -> Option<Seen> {
        let goes_on = Seen { falls: true, returns: false, depth: 1 };
        Some(match inst.op {
            Op::Return(_) if may_return => Seen { falls: false, returns: true, depth: 1 },
            Op::Return(_) => return None,
            Op::If { then, otherwise, .. } => {
                let may_return = may_return && inst.ty == Types::VOID;
                let (then, otherwise) =
                    (self.block(function, then, may_return)?, self.block(function, otherwise, may_return)?);
                let returns = then.returns || otherwise.returns;
                if returns && then.falls && otherwise.falls {
                    return None;
                }
                let depth = 1 + then.depth.max(otherwise.depth);
                Seen { falls: inst.ty != Types::VOID || then.falls || otherwise.falls, returns, depth }
            }
            Op::Loop { body, continuing, .. } => {
                let depth =
                    1 + self.block(function, body, false)?.depth.max(self.block(function, continuing, false)?.depth);
                Seen { depth, ..goes_on }
            }
            Op::Switch { cases, .. } => {
                let mut depth = 1;
                for arm in function.arms(cases) {
                    depth = depth.max(1 + self.block(function, arm.body, false)?.depth);
                }
                Seen { depth, ..goes_on }
            }
            Op::Break | Op::Continue | Op::Yield(_) => Seen { falls: false, ..goes_on },
            Op::Discard | Op::End(..) | Op::Unreachable => {
                self.ends = true;
                Seen { falls: false, ..goes_on }
            }
            _ => goes_on,
        })
    }
}

/// Where a block of the caller is.
#[derive(Clone, Copy)]
struct Within {
    /// Blocks that it lies in.
    depth: usize,
    /// False in the continuing blocks of loops: nothing there ends the invocation.
    may_end: bool,
}

impl Within {
    fn takes(self, plan: &Plan) -> bool {
        self.depth + plan.depth <= DEPTH_LIMIT && (self.may_end || !plan.ends)
    }
}

/// Puts the code of functions in the place of calls in one function.
struct Inliner<'a> {
    module: &'a mut Module,
    plans: &'a [Option<Plan>],
    /// For each function, true if nothing needs it but one call.
    is_called_once: &'a [bool],
    /// The rest of the budget.
    left: &'a mut usize,
    function: &'a mut Function,
}

/// One call that is being replaced.
struct Copying<'c> {
    from: &'c Function,
    args: SmallVec<[Value; 8]>,
    values: Vec<Option<Value>>,
    /// Index of the first local of the caller that replaces a local of the inlinee.
    locals: usize,
    /// Where the returns put their value; none if the only one is at the end.
    result: Option<LocalId>,
    /// The value of the only return.
    returned: Option<Value>,
    span: Span,
}

impl Inliner<'_> {
    fn run(&mut self) {
        let has_any = self.function.insts.iter().any(|(_, inst)| self.plan(&inst.op).is_some());
        if has_any {
            let mut replaced = vec![None; self.function.insts.len()];
            let body = Within { depth: 1, may_end: true };
            self.block(self.function.body, body, &mut replaced);
            self.rename(&replaced);
        }
    }

    fn plan(&self, op: &Op) -> Option<&Plan> {
        let Op::Call(callee, _) = op else { return None };
        self.plans[callee.index()].as_ref()
    }

    /// Returns true if a call is to be replaced, and takes its price.
    fn takes(&mut self, op: &Op, within: Within) -> bool {
        let price = self.plan(op).filter(|plan| within.takes(plan)).map(|plan| plan.price);
        let left = price.and_then(|price| self.left.checked_sub(price));
        *self.left = left.unwrap_or(*self.left);
        left.is_some()
    }

    /// Replaces the calls in a block.
    fn block(&mut self, block: BlockId, within: Within, replaced: &mut Vec<Option<Value>>) {
        let old = std::mem::take(&mut self.function.blocks[block].insts);
        let mut new = SmallVec::with_capacity(old.len());
        for id in old {
            let inst = self.function.insts[id];
            let nested = Within { depth: within.depth + 1, ..within };
            match inst.op {
                Op::Call(callee, args) if self.takes(&inst.op, within) => {
                    replaced[id.index()] = self.call(callee, args, inst, &mut new);
                    // It is in no block any more, and calls nothing.
                    self.function.insts[id].op = Op::Unreachable;
                    continue;
                }
                Op::If { then, otherwise, .. } => {
                    [then, otherwise].into_iter().for_each(|block| self.block(block, nested, replaced));
                }
                Op::Loop { body, continuing, .. } => {
                    self.block(body, nested, replaced);
                    self.block(continuing, Within { may_end: false, ..nested }, replaced);
                }
                Op::Switch { cases, .. } => {
                    let arms: SmallVec<[BlockId; 8]> = self.function.arms(cases).iter().map(|arm| arm.body).collect();
                    arms.into_iter().for_each(|arm| self.block(arm, nested, replaced));
                }
                _ => {}
            }
            new.push(id);
        }
        self.function.blocks[block].insts = new;
    }

    /// Adds the code of a call; gives its value.
    fn call(&mut self, callee: FuncId, args: Values, inst: Inst, into: &mut SmallVec<[InstId; 4]>) -> Option<Value> {
        let from = std::mem::replace(&mut self.module.functions[callee], Function::bodiless(inst.ty));
        let is_straight = self.plans[callee.index()].as_ref().is_some_and(|plan| plan.is_straight);
        let mut copying = Copying {
            args: SmallVec::from_slice(self.function.values(args)),
            values: vec![None; from.insts.len()],
            locals: self.function.locals.len(),
            result: None,
            returned: None,
            span: inst.span,
            from: &from,
        };
        limits::spend(from.locals.len());
        limits::hold::<Local>(from.locals.len());
        limits::hold::<Option<Value>>(from.insts.len());
        for (_, local) in from.locals.iter() {
            let id = self.function.locals.push(local.clone());
            self.start_local(id, local, inst.span, into);
        }
        if !is_straight && inst.ty != Types::VOID {
            copying.result = Some(self.result_local(inst.ty, inst.span));
        }
        self.copy_block(&mut copying, &from.blocks[from.body].insts, into);
        let value = match copying.result {
            Some(result) => Some(self.add(inst.ty, Op::Load(Value::Local(result)), inst.span, into)),
            None => copying.returned,
        };
        let is_given_up = self.is_called_once[callee.index()];
        self.module.functions[callee] =
            if is_given_up { Function::new("", from.span, Vec::new(), Types::VOID) } else { from };
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
        self.put(Inst { op, ty, span, flags: InstFlags::empty() }, into)
    }

    fn put(&mut self, inst: Inst, into: &mut SmallVec<[InstId; 4]>) -> Value {
        limits::spend(1);
        limits::hold::<Inst>(1);
        let id = self.function.insts.push(inst);
        into.push(id);
        Value::Inst(id)
    }

    /// Copies instructions up to the end of their block.
    fn copy_block(&mut self, copying: &mut Copying<'_>, insts: &[InstId], into: &mut SmallVec<[InstId; 4]>) {
        for (at, id) in insts.iter().enumerate() {
            let inst = copying.from.insts[*id];
            match inst.op {
                Op::Return(value) => return self.copy_return(copying, value, into),
                Op::If { then, otherwise, .. } if returns(copying.from, then) || returns(copying.from, otherwise) => {
                    return self.copy_fork(copying, inst, &insts[at + 1..], into);
                }
                _ => {
                    let value = self.copy(copying, inst, into);
                    copying.values[id.index()] = Some(value);
                }
            }
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

    /// A selection that returns on one side at least: what follows it becomes part of the side that goes on.
    fn copy_fork(&mut self, copying: &mut Copying<'_>, inst: Inst, rest: &[InstId], into: &mut SmallVec<[InstId; 4]>) {
        let Op::If { condition, then, otherwise, hint } = inst.op else { return };
        let condition = copying.value(condition);
        let [then, otherwise] = [then, otherwise].map(|side| {
            let block = self.function.blocks.push(super::Block::default());
            let mut code = copying.from.blocks[side].insts.clone();
            // Selections in the side that return take the rest into their own other side.
            if falls(copying.from, side) {
                code.extend_from_slice(rest);
            }
            let mut insts = SmallVec::new();
            self.copy_block(copying, &code, &mut insts);
            self.function.blocks[block].insts = insts;
            block
        });
        self.put(Inst { op: Op::If { condition, then, otherwise, hint }, ..inst }, into);
    }

    fn copy(&mut self, copying: &mut Copying<'_>, inst: Inst, into: &mut SmallVec<[InstId; 4]>) -> Value {
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
        // A pointer to all of what an argument points to is the argument.
        if let Op::Access { base, indices } = op
            && indices.len == 0
        {
            return base;
        }
        self.put(Inst { op, ..inst }, into)
    }

    fn copy_nested(&mut self, copying: &mut Copying<'_>, from: BlockId) -> BlockId {
        limits::hold::<super::Block>(1);
        let block = self.function.blocks.push(super::Block::default());
        let mut insts = SmallVec::new();
        self.copy_block(copying, &copying.from.blocks[from].insts, &mut insts);
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

    /// Copies an access chain. If its base is a chain that the caller passed, both become one: chains are flat.
    fn copy_access(&mut self, copying: &mut Copying<'_>, base: Value, indices: Values) -> Op {
        let indices: SmallVec<[Value; 8]> =
            copying.from.values(indices).iter().map(|value| copying.value(*value)).collect();
        let base = copying.value(base);
        if let Value::Inst(id) = base
            && let Op::Access { base: root, indices: outer } = self.function.insts[id].op
        {
            let mut all: SmallVec<[Value; 8]> = SmallVec::from_slice(self.function.values(outer));
            all.extend(indices);
            return Op::Access { base: root, indices: self.function.list(&all) };
        }
        Op::Access { base, indices: self.function.list(&indices) }
    }

    /// Puts the values of calls in the places of the calls.
    fn rename(&mut self, replaced: &[Option<Value>]) {
        let resolve = |value: Value| {
            let mut value = value;
            while let Value::Inst(id) = value
                && let Some(Some(new)) = replaced.get(id.index())
            {
                value = *new;
            }
            value
        };
        for id in (0..self.function.insts.len()).map(InstId::from_index) {
            self.function.insts[id].op = self.function.insts[id].op.map_operands(resolve);
        }
        self.function.operands.iter_mut().for_each(|value| *value = resolve(*value));
    }
}

impl Copying<'_> {
    fn value(&self, value: Value) -> Value {
        match value {
            Value::Inst(id) => self.values[id.index()].unwrap_or(value),
            Value::Param(number) => self.args[number as usize],
            Value::Local(id) => Value::Local(LocalId::from_index(self.locals + id.index())),
            Value::Const(_) | Value::Global(_) => value,
        }
    }
}

/// Returns true if a block returns from its function; there are no returns in loops and switches here.
fn returns(function: &Function, block: BlockId) -> bool {
    limits::spend(function.blocks[block].insts.len());
    function.blocks[block].insts.iter().any(|id| match function.insts[*id].op {
        Op::Return(_) => true,
        Op::If { then, otherwise, .. } => returns(function, then) || returns(function, otherwise),
        _ => false,
    })
}

/// Returns true if control goes past the end of a block.
fn falls(function: &Function, block: BlockId) -> bool {
    limits::spend(function.blocks[block].insts.len());
    function.blocks[block].insts.iter().all(|id| match function.insts[*id].op {
        Op::If { then, otherwise, .. } if function.insts[*id].ty == Types::VOID => {
            falls(function, then) || falls(function, otherwise)
        }
        op => !op.is_terminator(),
    })
}
