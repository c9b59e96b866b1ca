//! Control flow: blocks stay blocks, as both forms are structured.

use super::function::Body;
use crate::ir::{self, Case, Cases, Inst, InstId, MemoryKinds, ScalarKind, Scope, Value};
use naga::{Barrier, Block, Expression, Handle, Statement, SwitchCase, SwitchValue};

/// Instructions that arms which fall through may copy into those before them.
const MOST_COPIES: usize = 64;

impl Body<'_, '_> {
    /// An instruction that moves control, or waits.
    pub fn control(&mut self, inst: &Inst) -> Option<Handle<Expression>> {
        use ir::Op as O;
        match inst.op {
            O::If { condition, then, otherwise, .. } => return self.conditional(condition, [then, otherwise], inst.ty),
            O::Loop { body, continuing, break_if, .. } => self.repeat(body, continuing, break_if),
            O::Switch { selector, cases, .. } => self.switch(selector, cases),
            O::Break => self.statement(Statement::Break),
            O::Continue => self.go_on(),
            O::Return(value) => self.give_back(value),
            O::Yield(value) => self.give(value),
            O::Discard => self.discard(),
            O::Demote => self.statement(Statement::Kill),
            O::Unreachable => self.leave(),
            O::End(..) => self.t.lacks("shaders that end so"),
            _ => self.t.internal("an instruction that it does not know"),
        }
        None
    }

    fn conditional(
        &mut self,
        condition: Value,
        blocks: [ir::BlockId; 2],
        ty: ir::TypeId,
    ) -> Option<Handle<Expression>> {
        let condition = self.value(condition);
        let chosen = (ty != ir::Types::VOID).then(|| self.variable("chosen", ty));
        self.yields.push(chosen);
        let [accept, reject] = blocks.map(|block| self.nested(block));
        self.yields.pop();
        self.statement(Statement::If { condition, accept, reject });
        chosen.map(|pointer| self.emit(Expression::Load { pointer }))
    }

    fn give(&mut self, value: Value) {
        let value = self.value(value);
        match self.yields.last().copied().flatten() {
            Some(pointer) => self.statement(Statement::Store { pointer, value }),
            None => self.t.internal("a value of no selection"),
        }
    }

    fn repeat(&mut self, body: ir::BlockId, continuing: ir::BlockId, break_if: Option<Value>) {
        let outside = (self.leaves_chain.take(), std::mem::take(&mut self.inner_switches));
        let body = self.nested(body);
        let mut condition = None;
        let continuing = self.within(|inner| {
            inner.block(continuing);
            condition = break_if.map(|value| inner.value(value));
        });
        (self.leaves_chain, self.inner_switches) = outside;
        if condition.is_none() && !leaves(&body) {
            self.t.lacks("loops that never end");
        }
        self.statement(Statement::Loop { body, continuing, break_if: condition });
    }

    fn switch(&mut self, selector: Value, cases: Cases) {
        let f = self.f;
        let arms = f.arms(cases);
        let Some((scalar, _)) = self.shape_of(selector) else { return self.t.internal("a switch over such a value") };
        let selector = self.value(selector);
        if (1..arms.len()).any(|at| arms[at - 1].falls_through && self.sees_others(arms[at].body)) {
            return self.chain(selector, scalar, arms);
        }
        let mut made = Vec::new();
        self.inner_switches += 1;
        for (index, arm) in arms.iter().enumerate() {
            let body = self.arm(&arms[index..]);
            add_labels(&mut made, arm, scalar.kind, body);
        }
        self.inner_switches -= 1;
        if !arms.iter().any(|arm| arm.default) {
            let value = SwitchValue::Default;
            made.push(SwitchCase { value, body: Block::new(), fall_through: false });
        }
        self.statement(Statement::Switch { selector, cases: made });
    }

    /// The code of the first arm, with copies of those into which it falls.
    fn arm(&mut self, arms: &[Case]) -> Block {
        let falling = arms.iter().take_while(|arm| arm.falls_through).count();
        if falling > MOST_COPIES {
            self.t.unsupported("switches in which so many arms fall through");
            return Block::new();
        }
        self.within(|body| {
            for arm in arms {
                body.block(arm.body);
                if !arm.falls_through || body.ends().has_block(arm.body) {
                    break;
                }
            }
        })
    }

    /// Returns true if a block does what depends on the invocations that run it.
    fn sees_others(&self, block: ir::BlockId) -> bool {
        use ir::Op as O;
        let f = self.f;
        f.blocks[block].insts.iter().any(|id| match f.insts[*id].op {
            O::Lane(..) | O::Call(..) | O::Barrier { .. } | O::Image { .. } => true,
            O::Math(function, _) => function.is_derivative(),
            O::If { then, otherwise, .. } => self.sees_others(then) || self.sees_others(otherwise),
            O::Loop { body, continuing, .. } => self.sees_others(body) || self.sees_others(continuing),
            O::Switch { cases, .. } => f.arms(cases).iter().any(|arm| self.sees_others(arm.body)),
            _ => false,
        })
    }

    /// A switch as a loop that runs once: each arm runs in the invocations that its labels choose and in those that fall
    /// into it, together.
    fn chain(&mut self, selector: Handle<Expression>, scalar: ir::Scalar, arms: &[Case]) {
        let runs = self.variable("runs", ir::Types::BOOL);
        let none = self.append(Expression::Literal(naga::Literal::Bool(false)));
        self.statement(Statement::Store { pointer: runs, value: none });
        let outer = (self.leaves_chain.replace(None), std::mem::take(&mut self.inner_switches));
        let body = self.within(|body| {
            for arm in arms {
                body.choose_arm(selector, scalar, arms, arm, runs);
                let condition = body.emit(Expression::Load { pointer: runs });
                let accept = body.within(|inner| {
                    inner.block(arm.body);
                    if !arm.falls_through && !inner.ends().has_block(arm.body) {
                        inner.statement(Statement::Break);
                    }
                });
                body.statement(Statement::If { condition, accept, reject: Block::new() });
            }
            body.statement(Statement::Break);
        });
        let continues = self.leaves_chain.flatten();
        (self.leaves_chain, self.inner_switches) = outer;
        self.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
        if let Some(pointer) = continues {
            let condition = self.emit(Expression::Load { pointer });
            let accept = self.within(|body| {
                body.statement(Statement::Store { pointer, value: none });
                body.go_on();
            });
            self.statement(Statement::If { condition, accept, reject: Block::new() });
        }
    }

    /// Sets `runs` where the labels of an arm choose it.
    fn choose_arm(
        &mut self,
        selector: Handle<Expression>,
        scalar: ir::Scalar,
        arms: &[Case],
        arm: &Case,
        runs: Handle<Expression>,
    ) {
        use naga::BinaryOperator as B;
        let (join, compare) = if arm.default { (B::LogicalAnd, B::NotEqual) } else { (B::LogicalOr, B::Equal) };
        let labels: Vec<u64> = match arm.default {
            false => arm.values.clone(),
            true => arms.iter().filter(|other| !other.default).flat_map(|other| other.values.clone()).collect(),
        };
        let mut chosen = None;
        for label in labels {
            let label = self.scalar_constant(scalar, label);
            let test = self.plain(compare, selector, label);
            chosen = Some(chosen.map_or(test, |before| self.plain(join, before, test)));
        }
        let value = match chosen {
            Some(chosen) => {
                let already = self.emit(Expression::Load { pointer: runs });
                self.plain(B::LogicalOr, already, chosen)
            }
            None => self.append(Expression::Literal(naga::Literal::Bool(true))),
        };
        self.statement(Statement::Store { pointer: runs, value });
    }

    /// Goes on with the next round of the innermost loop of the source.
    fn go_on(&mut self) {
        let Some(chain) = self.leaves_chain else { return self.statement(Statement::Continue) };
        if self.inner_switches > 0 {
            return self.t.unsupported("`continue` in a switch in an arm that another falls into");
        }
        let pointer = match chain {
            Some(known) => known,
            None => {
                let none = self.append(Expression::Literal(naga::Literal::Bool(false)));
                let ty = self.t.value_type(ir::Types::BOOL);
                let local = self.new_local("continues", ty, Some(none));
                self.append(Expression::LocalVariable(local))
            }
        };
        self.leaves_chain = Some(Some(pointer));
        let value = self.append(Expression::Literal(naga::Literal::Bool(true)));
        self.statement(Statement::Store { pointer, value });
        self.statement(Statement::Break);
    }

    fn give_back(&mut self, value: Option<Value>) {
        if self.stage.is_some() {
            return self.epilogue();
        }
        let value = value.map(|value| self.value(value));
        self.statement(Statement::Return { value });
    }

    /// Ends the invocation: it goes on as a helper, whose writes do nothing.
    fn discard(&mut self) {
        self.statement(Statement::Kill);
        self.leave();
    }

    /// Returns from the function with any value.
    fn leave(&mut self) {
        if self.stage.is_some() {
            return self.epilogue();
        }
        let value = (self.f.ret != ir::Types::VOID).then(|| {
            let ty = self.t.value_type(self.f.ret);
            self.append(Expression::ZeroValue(ty))
        });
        self.statement(Statement::Return { value });
    }

    /// Barriers in a row are one: those of the language order memory in the workgroup and wait for it too (WGSL 17.11).
    pub fn barriers(&mut self, run: &[InstId]) {
        let mut flags = Barrier::empty();
        let mut waits = false;
        for id in run {
            let inst = &self.f.insts[*id];
            let ir::Op::Barrier { execution, memory, kinds, .. } = inst.op else { continue };
            self.t.span = inst.span;
            waits |= execution == Some(Scope::Workgroup);
            let is_of_subgroup = execution.unwrap_or(memory) == Scope::Subgroup;
            if is_of_subgroup {
                self.t.lacks("barriers of the subgroup");
            } else if !matches!(memory, Scope::Workgroup | Scope::Subgroup) && self.t.is_coherent {
                self.t.lacks("memory barriers of the device, which accesses to `coherent` memory need");
            }
            flags.set(Barrier::STORAGE, flags.contains(Barrier::STORAGE) || kinds.intersects(BUFFERS));
            flags.set(Barrier::TEXTURE, flags.contains(Barrier::TEXTURE) || kinds.contains(MemoryKinds::IMAGE));
            flags.set(Barrier::WORK_GROUP, flags.contains(Barrier::WORK_GROUP) || kinds.contains(MemoryKinds::SHARED));
        }
        if !waits {
            self.t.lacks("memory barriers apart from `barrier()`");
        }
        flags.set(Barrier::WORK_GROUP, flags.contains(Barrier::WORK_GROUP) || flags.is_empty());
        self.statement(Statement::ControlBarrier(flags));
    }
}

/// Memory that `storageBarrier` orders.
const BUFFERS: MemoryKinds = MemoryKinds::BUFFER.union(MemoryKinds::ATOMIC_COUNTER);

/// Returns true if the body of a loop leaves it (WGSL 9.7, Statement Behavior Analysis).
fn leaves(block: &Block) -> bool {
    block
        .iter()
        .any(|statement| matches!(statement, Statement::Break) || returns(statement) || inner(statement).any(leaves))
}

/// Returns true if a statement of a loop's body returns, in loops and switches too.
fn returns(statement: &Statement) -> bool {
    let of = |block: &Block| block.iter().any(returns);
    match statement {
        Statement::Return { .. } => true,
        Statement::Loop { body, .. } => of(body),
        Statement::Switch { cases, .. } => cases.iter().any(|case| of(&case.body)),
        other => inner(other).any(of),
    }
}

/// The blocks in a statement from which `break` leaves the loop around it.
fn inner(statement: &Statement) -> impl Iterator<Item = &Block> {
    let blocks = match statement {
        Statement::Block(block) => [Some(block), None],
        Statement::If { accept, reject, .. } => [Some(accept), Some(reject)],
        _ => [None, None],
    };
    blocks.into_iter().flatten()
}

/// Adds an arm with each of its labels; all but the last have no code.
fn add_labels(made: &mut Vec<SwitchCase>, arm: &Case, kind: ScalarKind, body: Block) {
    let number = |value: u64| match kind {
        ScalarKind::Sint => SwitchValue::I32(value as i32),
        _ => SwitchValue::U32(value as u32),
    };
    let mut labels: Vec<SwitchValue> = arm.values.iter().map(|value| number(*value)).collect();
    labels.extend(arm.default.then_some(SwitchValue::Default));
    let Some(last) = labels.pop() else { return };
    made.extend(labels.into_iter().map(|value| SwitchCase { value, body: Block::new(), fall_through: true }));
    made.push(SwitchCase { value: last, body, fall_through: false });
}
