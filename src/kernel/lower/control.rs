//! Control flow. Variables that differ between the paths to the end of a construct become its results; variables that a
//! loop writes become parameters of its blocks.
//!
//! A switch becomes one `If` per arm, in order: an arm runs for its labels, and for invocations that fall through into
//! it. All invocations that reach an arm therefore run it together.

use super::analyze::Root;
use super::pointer::Pointer;
use super::shape::register_bits;
use super::variables::{End, Joined, Mark};
use super::{Lower, Scalars};
use crate::ir::{self, Case, Cases, ControlHint, InstFlags, InstId as IrInst, Scalar, Types};
use crate::kernel::{BinOp, BlockId, CmpOp, InstId, Op, Ty, UnOp, Value};

/// A construct that a `Break` or `Continue` leaves.
pub enum OpenConstruct {
    Loop(OpenLoop),
    /// A switch in a scope.
    Scope(OpenScope),
    /// A switch in which every `Break` is the end of its arm.
    Arm,
}

/// A loop under construction.
pub struct OpenLoop {
    /// Slots that it writes.
    carried: Vec<u32>,
    /// Blocks that break or continue, with their slot values.
    breaks: Vec<(BlockId, Scalars)>,
    continues: Vec<(BlockId, Scalars)>,
}

/// A scope under construction.
pub struct OpenScope {
    /// The block around it.
    outer: BlockId,
    body: BlockId,
    mark: Mark,
    ends: Vec<End>,
}

impl<'m> Lower<'m> {
    /// The state of control at the end of the current block.
    fn end(&mut self, since: Mark, exits: bool, values: Scalars) -> End {
        End { block: self.b.block(), exits, values, changes: self.vars.changes(since) }
    }

    /// Lowers into a new block; returns the block and the result of `fill`.
    fn in_block<R>(&mut self, params: &[Ty], fill: impl FnOnce(&mut Self, &[Value]) -> R) -> (BlockId, R) {
        let block = self.b.kernel.add_block(params);
        let params = self.b.kernel.blocks[block].params.clone();
        let outer = self.b.switch_to(block);
        let result = fill(self, &params);
        self.b.switch_to(outer);
        (block, result)
    }

    pub fn if_(&mut self, id: IrInst, condition: ir::Value, then: ir::BlockId, otherwise: ir::BlockId) -> bool {
        let condition = self.scalar(condition);
        let ty = self.frame().function.insts[id].ty;
        let scalars = self.shapes.scalars(ty);
        let extra: Vec<Ty> = scalars.iter().map(|scalar| Ty::of(*scalar)).collect();
        let result = self.branch(condition, &extra, |lower| lower.block(then), |lower| lower.block(otherwise));
        if let Some(values) = &result {
            self.give(id, super::body::Operand::Values(values.clone()));
        }
        result.is_some()
    }

    /// An `If` with results of the types `extra`, which the blocks leave in the frame's `yielded`. `None` if neither
    /// block reaches its end.
    pub fn branch(
        &mut self,
        condition: Value,
        extra: &[Ty],
        then: impl FnOnce(&mut Self) -> bool,
        otherwise: impl FnOnce(&mut Self) -> bool,
    ) -> Option<Scalars> {
        let (span, flags) = (self.b.span, self.b.flags);
        let mark = self.vars.mark();
        let (then, first) = self.in_block(&[], |lower, _| lower.arm(mark, then));
        let (otherwise, second) = self.in_block(&[], |lower, _| lower.arm(mark, otherwise));
        (self.b.span, self.b.flags) = (span, flags);
        let ends: Vec<End> = first.into_iter().chain(second).collect();
        let inst = self.close(Op::If { then, otherwise }, &[condition], ends, extra)?;
        Some(self.b.kernel.results(inst).take(extra.len()).collect())
    }

    /// An `If` without another block.
    pub fn guarded(&mut self, condition: Value, fill: impl FnOnce(&mut Self)) {
        let filled = |lower: &mut Self| {
            fill(lower);
            true
        };
        self.branch(condition, &[], filled, |_| true);
    }

    /// Lowers a block of an `If`; returns its end, and undoes its writes.
    fn arm(&mut self, mark: Mark, fill: impl FnOnce(&mut Self) -> bool) -> Option<End> {
        let end = if fill(self) {
            let values = std::mem::take(&mut self.frame().yielded);
            Some(self.end(mark, false, values))
        } else {
            None
        };
        self.vars.rewind(mark);
        end
    }

    /// Adds an `If` or a `Scope` whose blocks are lowered: adds their terminators, and assigns the results to the
    /// slots. `None` if control does not continue after it.
    fn close(&mut self, op: Op, args: &[Value], ends: Vec<End>, extra: &[Ty]) -> Option<InstId> {
        let joined = self.vars.join(&ends);
        let (settled, joined): (Vec<Joined>, Vec<Joined>) =
            joined.into_iter().partition(|joined| self.settled(joined).is_some());
        let types = joined.iter().map(|joined| self.b.kernel.ty(self.vars.get(joined.slot)));
        let types: Vec<Ty> = extra.iter().copied().chain(types).collect();
        let inst = self.b.inst(op, args, &types);
        let outer = self.b.block();
        for (at, end) in ends.iter().enumerate() {
            let values: Vec<Value> =
                end.values.iter().copied().chain(joined.iter().map(|joined| joined.values[at])).collect();
            self.b.switch_to(end.block);
            self.b.effect(if end.exits { Op::Exit(inst) } else { Op::Yield }, &values);
        }
        self.b.switch_to(outer);
        if ends.is_empty() {
            self.b.effect(Op::Unreachable, &[]);
            return None;
        }
        for joined in settled {
            self.vars.set(joined.slot, joined.values[0]);
        }
        let results: Vec<Value> = self.b.kernel.results(inst).skip(extra.len()).collect();
        joined.iter().zip(results).for_each(|(joined, result)| self.vars.set(joined.slot, result));
        Some(inst)
    }

    /// The constant on which all ends of a slot agree.
    fn settled(&self, joined: &Joined) -> Option<Value> {
        let first = *joined.values.first()?;
        let same = joined.values.iter().all(|value| *value == first);
        (same && self.b.kernel.as_constant(first).is_some()).then_some(first)
    }

    // Scopes.

    /// Opens a scope; lowering continues in its block.
    pub fn open_scope(&mut self) -> OpenScope {
        let body = self.b.kernel.add_block(&[]);
        OpenScope { outer: self.b.switch_to(body), body, mark: self.vars.mark(), ends: Vec::new() }
    }

    /// Closes a scope; `falls` is true if control reaches the end of its block. Returns false if control does not
    /// continue after it.
    pub fn close_scope(&mut self, mut scope: OpenScope, falls: bool) -> bool {
        if falls {
            let end = self.end(scope.mark, false, Scalars::new());
            scope.ends.push(end);
        }
        self.vars.rewind(scope.mark);
        self.b.switch_to(scope.outer);
        self.close(Op::Scope { body: scope.body }, &[], scope.ends, &[]).is_some()
    }

    // Jumps.

    pub fn return_(&mut self, value: Option<ir::Value>) -> bool {
        if let Some(value) = value {
            let values = self.values(value);
            let first = self.frame().result.0;
            (first..).zip(values).for_each(|(slot, value)| self.vars.set(slot, value));
        }
        let frame = self.frame();
        if !frame.facts.returns_early {
            return true;
        }
        if frame.outermost {
            self.end_invocation();
            return false;
        }
        let Some(mut scope) = frame.scope.take() else { return true };
        self.leave(&mut scope);
        self.frame().scope = Some(scope);
        false
    }

    /// Leaves a scope from the current block; in the scope's own block, this is its end.
    fn leave(&mut self, scope: &mut OpenScope) {
        let exits = self.b.block() != scope.body;
        let end = self.end(scope.mark, exits, Scalars::new());
        scope.ends.push(end);
    }

    pub fn break_(&mut self) -> bool {
        let Some(target) = self.frame().open.pop() else { return false };
        let (target, falls) = match target {
            OpenConstruct::Arm => (OpenConstruct::Arm, true),
            OpenConstruct::Scope(mut scope) => {
                self.leave(&mut scope);
                (OpenConstruct::Scope(scope), false)
            }
            OpenConstruct::Loop(mut open) => {
                let held = self.held(&open.carried);
                open.breaks.push((self.b.block(), held));
                (OpenConstruct::Loop(open), false)
            }
        };
        self.frame().open.push(target);
        falls
    }

    pub fn continue_(&mut self) -> bool {
        let block = self.b.block();
        let frame = self.frames.last_mut().expect("lowering happens inside a function");
        let innermost = frame.open.iter_mut().rev().find_map(|target| match target {
            OpenConstruct::Loop(open) => Some(open),
            OpenConstruct::Scope(_) | OpenConstruct::Arm => None,
        });
        if let Some(open) = innermost {
            let held = open.carried.iter().map(|slot| self.vars.get(*slot)).collect();
            open.continues.push((block, held));
        }
        false
    }

    fn held(&self, slots: &[u32]) -> Scalars {
        slots.iter().map(|slot| self.vars.get(*slot)).collect()
    }

    // Loops.

    pub fn loop_(
        &mut self,
        id: IrInst,
        (body, continuing): (ir::BlockId, ir::BlockId),
        break_if: Option<ir::Value>,
        hint: ControlHint,
    ) -> bool {
        let (span, flags) = (self.b.span, self.b.flags);
        let carried = self.carried(id);
        let initial = self.held(&carried);
        let types: Vec<Ty> = initial.iter().map(|value| self.b.kernel.ty(*value)).collect();
        let mark = self.vars.mark();
        let open = OpenLoop { carried: carried.clone(), breaks: Vec::new(), continues: Vec::new() };
        self.frame().open.push(OpenConstruct::Loop(open));
        let (body, ()) = self.in_block(&types, |lower, params| {
            lower.assign(&carried, params);
            if lower.block(body) {
                lower.continue_();
            }
        });
        self.vars.rewind(mark);
        let Some(OpenConstruct::Loop(open)) = self.frame().open.pop() else { return false };
        let (continuing, (end, repeat)) = self.in_block(&types, |lower, params| {
            lower.assign(&carried, params);
            lower.continuing(continuing, break_if, &carried, open.continues.is_empty())
        });
        self.vars.rewind(mark);
        (self.b.span, self.b.flags) = (span, flags);
        let inst = self.b.inst(Op::Loop { body, continuing }, &initial, &types);
        self.b.kernel.insts[inst].flags |= wish(hint);
        let outer = self.b.block();
        self.end_blocks(&open.breaks, Op::Exit(inst));
        self.end_blocks(&open.continues, Op::Continue(inst));
        self.end_blocks(&[(end, repeat)], Op::Repeat);
        self.b.switch_to(outer);
        let results: Vec<Value> = self.b.kernel.results(inst).collect();
        self.assign(&carried, &results);
        let falls = break_if.is_some() || !open.breaks.is_empty();
        if !falls {
            self.b.effect(Op::Unreachable, &[]);
        }
        falls
    }

    /// The continuing block: its end and its values. If no `Continue` reaches the block, it leaves the loop, so that
    /// the loop does not look infinite.
    fn continuing(
        &mut self,
        block: ir::BlockId,
        break_if: Option<ir::Value>,
        carried: &[u32],
        unreached: bool,
    ) -> (BlockId, Scalars) {
        let leave = if unreached {
            self.b.bool(true)
        } else {
            self.block(block);
            match break_if {
                Some(value) => self.scalar(value),
                None => self.b.bool(false),
            }
        };
        let held = self.held(carried);
        let args = std::iter::once(leave).chain(held.iter().copied()).chain(held.iter().copied());
        (self.b.block(), args.collect())
    }

    fn end_blocks(&mut self, ends: &[(BlockId, Scalars)], terminator: Op) {
        for (block, values) in ends {
            self.b.switch_to(*block);
            self.b.effect(terminator, values);
        }
    }

    fn assign(&mut self, slots: &[u32], values: &[Value]) {
        slots.iter().zip(values).for_each(|(slot, value)| self.vars.set(*slot, *value));
    }

    /// The slots that a loop writes.
    fn carried(&mut self, id: IrInst) -> Vec<u32> {
        let mut slots = Vec::new();
        for root in self.frame().facts.clone().written_in(id) {
            let (first, count) = match self.root(root) {
                Pointer::Slots { first, ty } => (first, self.shapes.scalars(ty).len() as u32),
                Pointer::Component { first, count, .. } => (first, count),
                _ => continue,
            };
            slots.extend(first..first + count);
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    fn root(&mut self, root: Root) -> Pointer {
        match root {
            Root::Local(id) => self.pointer(ir::Value::Local(id)),
            Root::Param(index) => self.pointer(ir::Value::Param(index)),
            Root::Global(id) => self.global(id),
            Root::Helper => self.helper.map_or(Pointer::None, |first| Pointer::Slots { first, ty: Types::BOOL }),
        }
    }

    // Switches.

    pub fn switch(&mut self, id: IrInst, selector: ir::Value, cases: Cases) -> bool {
        let frame = self.frame();
        let arms = frame.function.arms(cases);
        let early = frame.facts.breaks_early(id);
        let target = if early { OpenConstruct::Scope(self.open_scope()) } else { OpenConstruct::Arm };
        self.frame().open.push(target);
        let falls = self.arms(selector, arms);
        match self.frame().open.pop() {
            Some(OpenConstruct::Scope(scope)) => self.close_scope(scope, falls),
            _ => falls,
        }
    }

    /// The condition of the arm at this index: true if the selector starts it. It is computed where it is tested; the
    /// default arm needs the labels of all arms.
    fn label(&mut self, labels: &mut Labels, arms: &[Case], at: usize) -> Value {
        let is_default = arms[at].default;
        let until = if is_default { arms.len() } else { at + 1 };
        while labels.of.len() < until {
            let matches = self.matches(labels, &arms[labels.of.len()]);
            labels.any = matches.map(|matches| self.either(labels.any, matches)).or(labels.any);
            labels.of.push(matches);
        }
        let other = is_default.then(|| match labels.any {
            Some(any) => self.b.un(UnOp::Not, Scalar::BOOL, any),
            None => self.b.bool(true),
        });
        match labels.of[at] {
            Some(label) => self.either(other, label),
            None => other.unwrap_or_else(|| self.b.bool(false)),
        }
    }

    /// The test whether the selector equals one of an arm's values; `None` for an arm without values.
    fn matches(&mut self, labels: &Labels, arm: &Case) -> Option<Value> {
        let scalar = labels.scalar;
        arm.values.iter().fold(None, |before, bits| {
            let label = self.b.constant(Ty::of(scalar), register_bits(scalar, *bits));
            let equal = self.b.cmp(CmpOp::Eq, scalar, labels.selector, label);
            Some(self.either(before, equal))
        })
    }

    fn either(&mut self, a: Option<Value>, b: Value) -> Value {
        match a {
            Some(a) => self.b.bin(BinOp::Or, Scalar::BOOL, a, b),
            None => b,
        }
    }

    /// The arms one after the other. Returns false if control does not reach the end.
    fn arms(&mut self, selector: ir::Value, arms: &[Case]) -> bool {
        let (scalar, selector) = (self.scalar_of(selector), self.scalar(selector));
        let mut labels = Labels { scalar, selector, of: Vec::new(), any: None };
        let mut fallen = None;
        for (at, arm) in arms.iter().enumerate() {
            let label = self.label(&mut labels, arms, at);
            let condition = self.either(fallen, label);
            if self.branch(condition, &[], |lower| lower.block(arm.body), |_| true).is_none() {
                return false;
            }
            fallen = self.frame().facts.falls_through(arm).then_some(condition);
        }
        true
    }
}

/// The tests of a switch so far.
struct Labels {
    scalar: Scalar,
    selector: Value,
    /// The test of each arm so far; `None` for an arm without values.
    of: Vec<Option<Value>>,
    /// True if one of these tests holds.
    any: Option<Value>,
}

/// The flag for a loop's control hint.
fn wish(hint: ControlHint) -> InstFlags {
    match hint {
        ControlHint::Unroll => InstFlags::UNROLL,
        ControlHint::DontUnroll => InstFlags::DONT_UNROLL,
        _ => InstFlags::empty(),
    }
}
