//! Structured control flow (SPIR-V 1.6 section 2.11): selections, loops, switches, and their merge blocks.
//!
//! A block of the IR becomes a run of SPIR-V blocks. Nothing is written after a terminator. An unreachable merge block
//! has `OpUnreachable`, or a branch in a continue construct: see [`Body::dead_end`]. A conditional jump out of a loop
//! or switch, `if (c) break;`, needs no merge block.

use super::Version;
use super::constants::shape;
use super::function::Body;
use super::memory::Part;
use super::promote::{Edge, State};
use crate::ir::{self, BlockId, Case, Cases, ControlHint, Ending, Inst, Scalar, Space, Type, TypeId, Value, Values};
use rspirv::spirv::{LoopControl, Op, SelectionControl, Word};
use smallvec::SmallVec;
use std::ops::Range;

/// A construct around the current block.
pub(super) struct Scope {
    /// The merge block.
    merge: Word,
    merge_reached: bool,
    kind: Kind,
    /// Values that the two blocks of an `If` yielded, with their source blocks.
    yields: Vec<Word>,
    /// Unreachable blocks that still branch to the merge block.
    dead: Vec<Word>,
    /// The promoted variables that the construct stores to.
    pub list: Range<usize>,
    /// Their values at the start of each of its parts.
    before: State,
    /// The ways to the merge block.
    edges: Vec<Edge>,
    /// The positions of the values of a loop's iterations in the code.
    pub rounds: Vec<usize>,
    /// The instructions that all of its parts may share.
    mark: usize,
}

enum Kind {
    If,
    Switch,
    Loop { header: Word, continuing: Word, continue_edges: Vec<Edge>, stage: Stage },
}

/// The current part of a loop.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Body,
    Continuing,
}

impl Body<'_, '_> {
    /// Writes the instructions of a block, up to the point where no path continues.
    pub fn block(&mut self, id: BlockId) {
        let f = self.f;
        for inst in &f.blocks[id].insts {
            if !self.live {
                return;
            }
            self.instruction(*inst);
        }
    }

    fn interlock(&mut self, begin: bool) {
        self.m.globals.interlocked = true;
        self.emit_void(if begin { Op::BeginInvocationInterlockEXT } else { Op::EndInvocationInterlockEXT }, &[]);
    }

    pub fn control(&mut self, inst: &Inst) -> Word {
        match inst.op {
            ir::Op::If { condition, then, otherwise, hint } => {
                return self.conditional(condition, (then, otherwise), hint, inst.ty);
            }
            ir::Op::Loop { body, continuing, break_if, hint } => self.repeat(body, continuing, break_if, hint),
            ir::Op::Switch { selector, cases, hint } => self.switch(selector, cases, hint),
            ir::Op::Break | ir::Op::Continue => self.jump(&inst.op),
            ir::Op::Return(value) => self.give_back(value),
            ir::Op::Yield(value) => self.give(value),
            ir::Op::Unreachable => self.end_block(Op::Unreachable, &[]),
            ir::Op::Discard if self.m.version >= Version::V1_6 => {
                self.end_block(Op::TerminateInvocation, &[]);
            }
            ir::Op::Discard => self.end_block(Op::Kill, &[]),
            ir::Op::End(ending, operands) => self.end_invocation(ending, operands),
            ir::Op::Interlock { begin } => self.interlock(begin),
            ir::Op::Demote => self.emit_void(Op::DemoteToHelperInvocation, &[]),
            _ => {
                self.m.internal("control flow that is none");
            }
        }
        0
    }

    fn end_invocation(&mut self, ending: Ending, operands: Values) {
        let mut words: SmallVec<[Word; 4]> = self.f.values(operands).iter().map(|value| self.value(*value)).collect();
        match ending {
            Ending::MeshTasks => {
                let mut globals = self.m.module.globals.iter();
                if let Some((payload, _)) = globals.find(|(_, global)| global.space == Space::TaskPayload) {
                    words.push(self.value(Value::Global(payload)));
                }
                self.end_block(Op::EmitMeshTasksEXT, &words);
            }
            Ending::IgnoreIntersection => self.end_block(Op::IgnoreIntersectionKHR, &words),
            Ending::TerminateRay => self.end_block(Op::TerminateRayKHR, &words),
        }
    }

    fn end_block(&mut self, op: Op, operands: &[Word]) {
        self.place_again();
        self.emit_void(op, operands);
        self.live = false;
    }

    fn branch(&mut self, target: Word) {
        self.end_block(Op::Branch, &[target]);
    }

    /// Enters a construct that stores to the variables of a list.
    fn enter(&mut self, merge: Word, kind: Kind, list: Range<usize>, rounds: Vec<usize>) {
        let (before, mark) = (self.state(list.clone()), self.shared.mark());
        let (yields, dead, edges) = (Vec::new(), Vec::new(), Vec::new());
        self.scopes.push(Scope { merge, merge_reached: false, kind, yields, dead, list, before, edges, rounds, mark });
    }

    /// Starts a part of the innermost construct, with the values at the start of all parts.
    fn begin_part(&mut self) {
        let Some(Scope { list, before, mark, .. }) = self.scopes.last() else { return };
        let (list, before, mark) = (list.clone(), before.clone(), *mark);
        self.set_state(list, &before);
        self.shared.leave(mark);
    }

    /// The edge from the current block out of the construct at a depth.
    fn edge(&mut self, depth: usize) -> Edge {
        let list = self.scopes[depth].list.clone();
        Edge { from: self.label, state: self.state(list) }
    }

    /// Adds the edge from a block before the innermost construct to its merge block.
    fn skip(&mut self, from: Word) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.merge_reached = true;
            scope.edges.push(Edge { from, state: scope.before.clone() });
        }
    }

    /// Adds the edge from the current block to the merge block of the construct at a depth.
    fn reach_merge(&mut self, depth: usize) -> Word {
        if !self.scopes[depth].list.is_empty() {
            let edge = self.edge(depth);
            self.scopes[depth].edges.push(edge);
        }
        self.scopes[depth].merge_reached = true;
        self.scopes[depth].merge
    }

    /// Branches from the end of a construct's block to its merge block, if the end is reachable.
    fn go_to_merge(&mut self) {
        if self.live
            && let Some(depth) = self.scopes.len().checked_sub(1)
        {
            let merge = self.reach_merge(depth);
            self.branch(merge);
        }
    }

    /// Leaves the innermost construct and starts its merge block.
    fn leave(&mut self) -> Option<Scope> {
        self.begin_part();
        let scope = self.scopes.pop()?;
        self.start_block(scope.merge);
        self.live = scope.merge_reached;
        match self.live {
            true => self.join(scope.list.clone(), &scope.edges),
            false => self.dead_end(),
        }
        Some(scope)
    }

    /// Ends an unreachable merge block. All structural paths through a continue construct lead to its back edge
    /// (section 2.11.1: the back-edge block post-dominates the continue target), so there the block continues as if it
    /// were reachable.
    fn dead_end(&mut self) {
        self.place_again();
        let is_continuing = |scope: &Scope| matches!(scope.kind, Kind::Loop { stage: Stage::Continuing, .. });
        if !self.scopes.iter().any(is_continuing) {
            return self.emit_void(Op::Unreachable, &[]);
        }
        let label = self.label;
        let Some(depth) = self.scopes.len().checked_sub(1) else { return };
        let edge = self.edge(depth);
        let scope = &mut self.scopes[depth];
        let target = match scope.kind {
            Kind::Loop { header, stage: Stage::Continuing, .. } => {
                self.close_round();
                header
            }
            Kind::If | Kind::Switch | Kind::Loop { .. } => {
                scope.dead.push(label);
                scope.edges.push(edge);
                scope.merge
            }
        };
        self.branch(target);
    }

    fn start(&mut self, label: Word) {
        self.start_block(label);
        self.live = true;
    }

    fn is_empty(&self, block: BlockId) -> bool {
        self.f.blocks[block].insts.is_empty()
    }

    fn conditional(&mut self, condition: Value, blocks: (BlockId, BlockId), hint: ControlHint, ty: TypeId) -> Word {
        // Nothing depends on the condition; from 1.6 on the targets of a branch must differ (section 3.49.17).
        if self.is_empty(blocks.0) && self.is_empty(blocks.1) || self.jump_if(condition, blocks) {
            return 0;
        }
        if let Some(word) = self.flattened(condition, blocks, hint, ty) {
            return word;
        }
        let list = self.stored_by(self.at);
        let condition = self.value(condition);
        let given = self.given_at_once(blocks);
        let merge = self.m.id();
        let mut targets = [blocks.0, blocks.1].map(|block| if self.is_empty(block) { merge } else { self.m.id() });
        let mut yields = Vec::new();
        if let Some((arm, value)) = given {
            targets[arm] = merge;
            yields = vec![if self.is_truth(value, arm == 0) { condition } else { self.value(value) }, self.label];
        }
        self.emit_void(Op::SelectionMerge, &[merge, selection_control(hint)]);
        self.end_block(Op::BranchConditional, &[condition, targets[0], targets[1]]);
        self.enter(merge, Kind::If, list, Vec::new());
        if targets.contains(&merge) {
            self.skip(self.label);
        }
        for (block, target) in [blocks.0, blocks.1].into_iter().zip(targets) {
            self.arm(block, target, merge);
        }
        let Some(Scope { yields: others, dead, .. }) = self.leave() else { return 0 };
        yields.extend(others);
        if ty == ir::Types::VOID || yields.is_empty() {
            return 0;
        }
        if !dead.is_empty() {
            let undefined = self.m.undef(ty);
            yields.extend(dead.into_iter().flat_map(|label| [undefined, label]));
        }
        let ty = self.m.value_type(ty);
        self.emit(Op::Phi, ty, &yields)
    }

    /// Starts a loop that lanes leave one by one; returns the labels of its header, its continuing block and its merge
    /// block.
    pub fn begin_turns(&mut self) -> [Word; 3] {
        let [header, body, continuing, merge] = [(); 4].map(|()| self.m.id());
        self.branch(header);
        self.start(header);
        self.place_again();
        self.emit_void(Op::LoopMerge, &[merge, continuing, LoopControl::NONE.bits()]);
        self.branch(body);
        self.start(body);
        [header, continuing, merge]
    }

    /// Ends it: a lane leaves when `done` is true for it.
    pub fn end_turns(&mut self, [header, continuing, merge]: [Word; 3], done: Word) {
        self.end_block(Op::BranchConditional, &[done, merge, continuing]);
        self.start(continuing);
        self.branch(header);
        self.start(merge);
    }

    /// Returns true if a value is the constant that a condition has on one side of its branch. Using the condition
    /// instead saves NVIDIA's driver a branch: a kernel that sorts by `a || b` took 1.14 times as long with the
    /// constant.
    fn is_truth(&self, value: Value, truth: bool) -> bool {
        let constants = &self.m.module.constants;
        let is_it = |id| constants.get(id).ty == ir::Types::BOOL && constants.bits(id) == Some(truth.into());
        matches!(value, Value::Const(id) if is_it(id))
    }

    /// The arm of a selection that only yields a value, like the one of `a || b`: it needs no separate block. `None` if
    /// both arms do, because the branch needs two targets.
    fn given_at_once(&self, (then, otherwise): (BlockId, BlockId)) -> Option<(usize, Value)> {
        let f = self.f;
        let given = |block: BlockId| match f.blocks[block].insts.as_slice() {
            [only] => match f.insts[*only].op {
                ir::Op::Yield(value) => Some(value),
                _ => None,
            },
            _ => None,
        };
        match (given(then), given(otherwise)) {
            (Some(value), None) => Some((0, value)),
            (None, Some(value)) => Some((1, value)),
            _ => None,
        }
    }

    /// One block of a selection; for an empty one, the merge block itself.
    fn arm(&mut self, block: BlockId, target: Word, merge: Word) {
        if target == merge {
            return;
        }
        self.begin_part();
        self.start(target);
        self.block(block);
        self.go_to_merge();
    }

    /// `if (condition) break;`, `continue;`, or such a jump as the only content of the `else`, like the test of a loop,
    /// as a conditional branch with the rest of the code as its other target. Drivers recognize counted loops by that
    /// form.
    fn jump_if(&mut self, condition: Value, (then, otherwise): (BlockId, BlockId)) -> bool {
        let f = self.f;
        let (block, is_then) = if self.is_empty(otherwise) { (then, true) } else { (otherwise, false) };
        let [only] = f.blocks[block].insts.as_slice() else { return false };
        let op = f.insts[*only].op;
        if !is_then && !self.is_empty(then) || !matches!(op, ir::Op::Break | ir::Op::Continue) {
            return false;
        }
        let Some(target) = self.jump_target(&op) else { return false };
        let (condition, next) = (self.value(condition), self.m.id());
        let targets = if is_then { [target, next] } else { [next, target] };
        self.end_block(Op::BranchConditional, &[condition, targets[0], targets[1]]);
        self.start(next);
        true
    }

    fn jump(&mut self, op: &ir::Op) {
        match self.jump_target(op) {
            Some(target) => self.branch(target),
            None => {
                self.m.internal("a jump out of nothing");
            }
        }
    }

    /// The target of `Break` or `Continue`, which is marked as reached.
    fn jump_target(&mut self, op: &ir::Op) -> Option<Word> {
        let depth = self.scopes.iter().rposition(|scope| match scope.kind {
            Kind::Loop { .. } => true,
            Kind::Switch => matches!(op, ir::Op::Break),
            Kind::If => false,
        })?;
        match op {
            ir::Op::Break => Some(self.reach_merge(depth)),
            _ => self.reach_continuing(depth),
        }
    }

    /// Adds the edge from the current block to the continuing block of the loop at a depth.
    fn reach_continuing(&mut self, depth: usize) -> Option<Word> {
        let edge = self.edge(depth);
        let Kind::Loop { continuing, continue_edges, .. } = &mut self.scopes[depth].kind else { return None };
        continue_edges.push(edge);
        Some(*continuing)
    }

    fn give_back(&mut self, value: Option<Value>) {
        match value {
            Some(value) => {
                let word = self.value(value);
                self.end_block(Op::ReturnValue, &[word]);
            }
            None => self.end_block(Op::Return, &[]),
        }
    }

    fn give(&mut self, value: Value) {
        let (word, label) = (self.value(value), self.label);
        if let Some(scope) = self.scopes.last_mut() {
            scope.yields.extend([word, label]);
        }
        self.go_to_merge();
    }

    fn repeat(&mut self, body: BlockId, continuing: BlockId, break_if: Option<Value>, hint: ControlHint) {
        let (list, from) = (self.stored_by(self.at), self.label);
        let [header, first, next, merge] = [(); 4].map(|()| self.m.id());
        self.branch(header);
        self.start(header);
        let rounds = self.begin_rounds(list.clone(), from);
        self.place_again();
        self.emit_void(Op::LoopMerge, &[merge, next, loop_control(hint)]);
        self.branch(first);
        let kind = Kind::Loop { header, continuing: next, continue_edges: Vec::new(), stage: Stage::Body };
        self.enter(merge, kind, list.clone(), rounds);
        self.start(first);
        self.shared.epoch += Word::from(self.synchronizes);
        self.block(body);
        if self.live {
            self.reach_continuing(self.scopes.len() - 1);
            self.branch(next);
        }
        let ways = self.begin_continuing();
        self.start_block(next);
        self.live = true;
        self.join(list, &ways);
        if ways.is_empty() {
            self.close_round();
            self.branch(header);
        } else {
            self.block(continuing);
            self.back_edge(header, break_if);
        }
        self.leave();
    }

    /// Switches from the body of the innermost loop to its continuing block; returns the edges to it.
    fn begin_continuing(&mut self) -> Vec<Edge> {
        self.begin_part();
        match self.scopes.last_mut() {
            Some(Scope { kind: Kind::Loop { continue_edges, stage, .. }, .. }) => {
                *stage = Stage::Continuing;
                std::mem::take(continue_edges)
            }
            _ => Vec::new(),
        }
    }

    fn back_edge(&mut self, header: Word, break_if: Option<Value>) {
        if !self.live {
            return;
        }
        self.close_round();
        let Some(condition) = break_if else { return self.branch(header) };
        let condition = self.value(condition);
        if let Some(depth) = self.scopes.len().checked_sub(1) {
            let merge = self.reach_merge(depth);
            self.end_block(Op::BranchConditional, &[condition, merge, header]);
        }
    }

    /// Arms are in source order, so that one that falls through directly precedes its successor both in the list of
    /// targets and in the code (section 2.11.2).
    fn switch(&mut self, selector: Value, cases: Cases, hint: ControlHint) {
        let f = self.f;
        let (arms, list) = (f.arms(cases), self.stored_by(self.at));
        let wide = self.shape_of(selector).is_some_and(|(scalar, _)| scalar.width == 64);
        let selector = self.value(selector);
        let merge = self.m.id();
        let labels: Vec<Word> = arms.iter().map(|_| self.m.id()).collect();
        let default = arms.iter().position(|arm| arm.default).map_or(merge, |index| labels[index]);
        self.emit_void(Op::SelectionMerge, &[merge, selection_control(hint)]);
        self.emit_switch(selector, default, arms, &labels, wide);
        let from = self.label;
        self.enter(merge, Kind::Switch, list.clone(), Vec::new());
        if default == merge {
            self.skip(from);
        }
        let mut fallen: Option<Edge> = None;
        for (index, arm) in arms.iter().enumerate() {
            self.begin_part();
            self.start(labels[index]);
            if let Some(fallen) = fallen.take() {
                let entry = Edge { from, state: self.state(list.clone()) };
                self.join(list.clone(), &[entry, fallen]);
            }
            self.block(arm.body);
            match labels.get(index + 1) {
                Some(next) if arm.falls_through && self.live => {
                    fallen = Some(self.edge(self.scopes.len() - 1));
                    self.branch(*next);
                }
                _ => self.go_to_merge(),
            }
        }
        self.leave();
    }

    fn emit_switch(&mut self, selector: Word, default: Word, arms: &[Case], labels: &[Word], wide: bool) {
        let start = self.code.begin(Op::Switch);
        self.code.extend(&[selector, default]);
        let mut words = 3;
        for (arm, label) in arms.iter().zip(labels) {
            for value in &arm.values {
                self.code.push(*value as Word);
                if wide {
                    self.code.push((*value >> 32) as Word);
                }
                self.code.push(*label);
                words += 3;
            }
        }
        if words > super::words::MAX_WORDS {
            self.m.unsupported("switches with more than 21844 labels");
            return;
        }
        self.code.end(start);
        self.live = false;
    }

    /// A choice between two values: component by component with a bool vector, of anything with a scalar bool.
    pub fn select(&mut self, condition: Value, accept: Value, reject: Value, ty: TypeId) -> Word {
        let conditions = self.shape_of(condition).map_or(1, |(_, size)| size);
        let [condition, accept, reject] = [condition, accept, reject].map(|value| self.value(value));
        self.choose(condition, conditions, (accept, reject), ty)
    }

    /// Before 1.4 `OpSelect` supports only scalars and vectors, with one condition per component (section 3.49.14).
    fn choose(&mut self, condition: Word, conditions: u8, values: (Word, Word), ty: TypeId) -> Word {
        let types = &self.m.module.types;
        match shape(types, ty) {
            Some(shape) if conditions == 1 => self.choose_vector(condition, values, shape),
            None if !self.m.version.has_1_4() => self.choose_parts(condition, values, ty),
            _ => {
                let ty = self.m.value_type(ty);
                self.emit(Op::Select, ty, &[condition, values.0, values.1])
            }
        }
    }

    /// A scalar or vector chosen by a scalar.
    pub fn choose_vector(&mut self, condition: Word, values: (Word, Word), (scalar, size): (Scalar, u8)) -> Word {
        let ty = self.m.vector_type(scalar, size);
        let mut condition = condition;
        if !self.m.version.has_1_4() {
            let bools = self.m.vector_type(Scalar::BOOL, size);
            condition = self.splat(bools, condition, size);
        }
        self.emit(Op::Select, ty, &[condition, values.0, values.1])
    }

    fn choose_parts(&mut self, condition: Word, values: (Word, Word), ty: TypeId) -> Word {
        let Some(parts) = self.parts_of(ty) else {
            return self.m.unsupported("a choice between such values before SPIR-V 1.4");
        };
        let column = self.columns_of(ty).map(|(scalar, _, rows)| (scalar, rows));
        let mut chosen = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            let values = (self.part(values.0, index, part), self.part(values.1, index, part));
            chosen.push(match (part.id, column) {
                (None, Some(shape)) => self.choose_vector(condition, values, shape),
                (id, _) => self.choose(condition, 1, values, id.unwrap_or(ty)),
            });
        }
        let word = self.m.value_type(ty);
        self.emit(Op::CompositeConstruct, word, &chosen)
    }

    fn part(&mut self, composite: Word, index: usize, part: &Part) -> Word {
        self.emit(Op::CompositeExtract, part.value, &[composite, index as Word])
    }

    /// The scalar, columns and rows of a matrix type, on which SPIR-V does arithmetic column by column.
    pub fn columns_of(&self, ty: TypeId) -> Option<(Scalar, u8, u8)> {
        match self.m.module.types.get(ty) {
            Type::Matrix { scalar, columns, rows, .. } => Some((scalar, columns, rows)),
            _ => None,
        }
    }
}

const fn selection_control(hint: ControlHint) -> Word {
    match hint {
        ControlHint::Flatten => SelectionControl::FLATTEN.bits(),
        ControlHint::DontFlatten => SelectionControl::DONT_FLATTEN.bits(),
        _ => SelectionControl::NONE.bits(),
    }
}

const fn loop_control(hint: ControlHint) -> Word {
    match hint {
        ControlHint::Unroll => LoopControl::UNROLL.bits(),
        ControlHint::DontUnroll => LoopControl::DONT_UNROLL.bits(),
        _ => LoopControl::NONE.bits(),
    }
}
