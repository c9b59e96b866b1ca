//! Switches with cross-lane operations as selections.
//!
//! All lanes that enter a case, by any label or by falling through, run its operations together
//! (`docs/dev/semantics.md`). Vulkan guarantees less: invocations reconverge at merge blocks, and cases are not merge
//! blocks. NVIDIA's driver separates the lanes of one case if they enter through different labels, even if a selection
//! before the `switch` has made their values equal.
//!
//! The cases therefore become consecutive selections, with conditions for entry and fall-through.

use super::calls::callees_first;
use super::flow::DeadEnds;
use super::{
    BinaryOp, Block, BlockId, Case, Cases, ConstValue, ControlHint, FuncId, Function, Inst, InstFlags, InstId, Module,
    Op, Scope, TypeId, Types, UnaryOp, Value,
};
use crate::lane::Depends;
use crate::limits;
use smallvec::SmallVec;

type Insts = SmallVec<[InstId; 4]>;

/// The switches of a module that must become selections, by block.
pub struct Diverging(Vec<(FuncId, BlockId, Vec<InstId>)>);

impl Diverging {
    /// Finds them in the code that entry points reach.
    pub fn of(module: &Module) -> Diverging {
        let mut found = Vec::new();
        if module.functions.iter().all(|(_, function)| function.cases.is_empty()) {
            return Diverging(found);
        }
        let mut meets = vec![false; module.functions.len()];
        for id in callees_first(module, module.entry_points.iter().map(|entry| entry.function)) {
            let function = &module.functions[id];
            let meeting = Meeting::of(function, |callee| meets[callee.index()]);
            for (block, held) in function.blocks.iter().filter(|_| meeting.any) {
                let diverges = |inst: &&InstId| match function.insts[**inst].op {
                    Op::Switch { cases, .. } => diverges(function.arms(cases), &meeting),
                    _ => false,
                };
                let switches: Vec<InstId> = held.insts.iter().filter(diverges).copied().collect();
                if !switches.is_empty() {
                    found.push((id, block, switches));
                }
            }
            meets[id.index()] = meeting.any;
        }
        Diverging(found)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Changes them in their module.
    pub fn converge(self, module: &mut Module) {
        for blocks in self.0.chunk_by(|a, b| a.0 == b.0) {
            let id = blocks[0].0;
            let mut function = std::mem::replace(&mut module.functions[id], Function::bodiless(Types::VOID));
            let ends = DeadEnds::of(&function);
            for (_, block, switches) in blocks {
                let (mut insts, mut switches) = (Insts::new(), switches.iter().peekable());
                for inst in std::mem::take(&mut function.blocks[*block].insts) {
                    match function.insts[inst].op {
                        Op::Switch { selector, cases, .. } if switches.next_if_eq(&&inst).is_some() => {
                            let ty = module.type_of(&function, selector);
                            let made = std::mem::take(&mut insts);
                            let function = &mut function;
                            insts = Change { module, function, inst, selector, ty, made }.switch(cases, ends.has(inst));
                        }
                        _ => insts.push(inst),
                    }
                    if ends.has(inst) {
                        break;
                    }
                }
                function.blocks[*block].insts = insts;
            }
            module.functions[id] = function;
        }
    }
}

/// The cross-lane operations of a function.
#[derive(Default)]
struct Meeting {
    any: bool,
    blocks: Vec<bool>,
}

impl Meeting {
    fn of(function: &Function, meets: impl Fn(FuncId) -> bool) -> Meeting {
        let mut parents: Vec<Option<BlockId>> = vec![None; function.blocks.len()];
        for (block, held) in function.blocks.iter() {
            for inst in &held.insts {
                let inner = function.inner_blocks(function.insts[*inst].op);
                inner.into_iter().for_each(|inner| parents[inner.index()] = Some(block));
            }
        }
        let mut meeting = Meeting { any: false, blocks: vec![false; function.blocks.len()] };
        for (block, held) in function.blocks.iter() {
            if held.insts.iter().any(|inst| is_met(&function.insts[*inst], &meets)) {
                meeting.mark(block, &parents);
            }
        }
        meeting
    }

    /// Marks a block and the enclosing blocks.
    fn mark(&mut self, block: BlockId, parents: &[Option<BlockId>]) {
        self.any = true;
        let mut at = Some(block);
        while let Some(block) = at.filter(|block| !self.blocks[block.index()]) {
            self.blocks[block.index()] = true;
            at = parents[block.index()];
        }
    }

    fn has(&self, arm: &Case) -> bool {
        self.blocks[arm.body.index()]
    }
}

/// Returns true for an instruction whose result depends on which lanes run it together.
fn is_met(inst: &Inst, meets: impl Fn(FuncId) -> bool) -> bool {
    match inst.op {
        Op::Lane(op, _) => !matches!(op.signature().depends, Depends::Size | Depends::Lane | Depends::Operands),
        Op::Barrier { execution: Some(Scope::Subgroup), .. } | Op::Foreign(..) => true,
        op => op.callees().into_iter().flatten().any(meets),
    }
}

/// Returns true if lanes enter an arm with cross-lane operations by several edges.
fn diverges(arms: &[Case], meeting: &Meeting) -> bool {
    let falls = |n: usize| n > 0 && arms[n - 1].falls_through;
    let enters_apart = |(n, arm): (usize, &Case)| falls(n) || arm.default || arm.values.len() > 1;
    arms.iter().enumerate().any(|(n, arm)| meeting.has(arm) && enters_apart((n, arm)))
}

/// Removes the `Break` at the end of an arm, because the end of a selection has the same effect.
fn drop_break(function: &mut Function, arm: &Case) {
    let insts = &function.blocks[arm.body].insts;
    if insts.last().is_some_and(|last| function.insts[*last].op == Op::Break) {
        function.blocks[arm.body].insts.pop();
    }
}

/// Returns true if a block breaks out of its switch.
fn breaks(function: &Function, block: BlockId) -> bool {
    function.blocks[block].insts.iter().any(|inst| match function.insts[*inst].op {
        Op::Break => true,
        Op::If { then, otherwise, .. } => breaks(function, then) || breaks(function, otherwise),
        _ => false,
    })
}

/// The rewrite of one switch.
struct Change<'m> {
    module: &'m mut Module,
    function: &'m mut Function,
    inst: InstId,
    selector: Value,
    /// The selector's type.
    ty: TypeId,
    /// The instructions of its block before it.
    made: Insts,
}

impl Change<'_> {
    /// Returns the instructions with the replacement of the switch.
    fn switch(mut self, cases: Cases, is_end: bool) -> Insts {
        let arms = self.function.arms(cases).to_vec();
        arms.iter().for_each(|arm| drop_break(self.function, arm));
        let before = self.made.len();
        self.selections(&arms);
        if is_end {
            self.put(Op::Unreachable, Types::VOID);
        }
        if arms.iter().any(|arm| breaks(self.function, arm.body)) {
            self.enclose(before);
        }
        self.made
    }

    /// Puts the arms into selections, each with its condition.
    fn selections(&mut self, arms: &[Case]) {
        let labels: Vec<Option<Value>> = arms.iter().map(|arm| self.label(arm)).collect();
        let listed = labels.iter().flatten().copied().reduce(|a, b| self.either(a, b));
        let other = listed.map(|listed| self.put(Op::Unary(UnaryOp::LogicalNot, listed), Types::BOOL));
        let always = Value::Const(self.module.constants.bool(true));
        let mut fallen: Option<Value> = None;
        for (arm, label) in arms.iter().zip(labels) {
            let rest = arm.default.then(|| other.unwrap_or(always));
            let ways = [fallen, label, rest].into_iter().flatten();
            let condition = ways.reduce(|a, b| self.either(a, b)).unwrap_or(always);
            let otherwise = self.function.blocks.push(Block::default());
            let hint = ControlHint::None;
            self.put(Op::If { condition, then: arm.body, otherwise, hint }, Types::VOID);
            fallen = arm.falls_through.then_some(condition);
        }
    }

    /// Moves the instructions from `before` on into a switch with a single arm, so that a `Break` in them leaves it.
    fn enclose(&mut self, before: usize) {
        let body = self.function.blocks.push(Block { insts: self.made.drain(before..).collect() });
        let start = self.function.cases.len() as u32;
        self.function.cases.push(Case { values: Vec::new(), default: true, body, falls_through: false });
        let selector = Value::Const(self.module.constants.u32(0));
        let cases = Cases { start, len: 1 };
        self.put(Op::Switch { selector, cases, hint: ControlHint::None }, Types::VOID);
    }

    /// The condition that the selector equals one of an arm's literals; `None` if the arm has no literal.
    fn label(&mut self, arm: &Case) -> Option<Value> {
        let equal = |change: &mut Self, bits: u64| {
            let literal = Value::Const(change.module.constants.intern(change.ty, ConstValue::Bits(bits)));
            change.put(Op::Binary(BinaryOp::Eq, change.selector, literal), Types::BOOL)
        };
        let tests: Vec<Value> = arm.values.iter().map(|bits| equal(self, *bits)).collect();
        tests.into_iter().reduce(|a, b| self.either(a, b))
    }

    fn either(&mut self, a: Value, b: Value) -> Value {
        self.put(Op::Binary(BinaryOp::LogicalOr, a, b), Types::BOOL)
    }

    fn put(&mut self, op: Op, ty: TypeId) -> Value {
        limits::spend(1);
        limits::hold::<Inst>(1);
        let Inst { span, .. } = self.function.insts[self.inst];
        let inst = self.function.insts.push(Inst { op, ty, span, flags: InstFlags::empty() });
        self.made.push(inst);
        Value::Inst(inst)
    }
}
