//! Uniformity analysis: the values that are the same in all lanes that compute them, and the lanes that run each
//! instruction.
//!
//! A value varies if it comes from the lane, from another varying value, or from a divergent choice: a branch, or the
//! iteration in which lanes leave a loop. The analysis assumes that everything is uniform and revises this, walk by
//! walk, until nothing changes. A walk takes linear time, and the number of walks depends on the nesting of divergent
//! loops.

mod source;

use super::tree::{Flows, Tree};
use super::{BlockId, InstId, Kernel, Op, Value};
use crate::kernel::Stage;
use crate::lane::Activity;
use source::Sources;

/// How far a value is the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extent {
    /// It may vary from lane to lane.
    Lane,
    /// In all active lanes of a wave.
    Wave,
    /// In all active invocations of a workgroup.
    Workgroup,
    /// In all of a dispatch.
    Dispatch,
}

/// The uniformity of a kernel's values and places.
#[derive(Clone, Debug)]
pub struct Uniformity {
    values: Vec<Extent>,
    /// For each instruction, the size of the groups of invocations that reach it together or not at all.
    flow: Vec<Extent>,
    /// That size among the invocations that entered the enclosing construct; in a loop, in any iteration.
    near: Vec<Extent>,
    /// True if the workgroup fills its last wave.
    fills: bool,
    /// True if waves have consecutive invocations of a workgroup. The order of vertices and fragments is unknown.
    in_order: bool,
}

impl Uniformity {
    /// Analyses a kernel that runs in waves of this many lanes.
    pub fn new(kernel: &Kernel, wave_size: u32) -> Uniformity {
        let tree = Tree::new(kernel);
        let mut walk = Walk {
            kernel,
            flows: Flows::new(kernel, &tree),
            tree: &tree,
            sources: Sources { kernel, wave_size },
            values: vec![Extent::Dispatch; kernel.values.len()],
            flow: vec![Extent::Dispatch; kernel.insts.len()],
            near: vec![Extent::Dispatch; kernel.insts.len()],
            left: vec![Extent::Dispatch; kernel.insts.len()],
            frames: Vec::new(),
            changed: true,
        };
        while std::mem::take(&mut walk.changed) {
            walk.block(kernel.body, Extent::Dispatch);
        }
        let fills = kernel.invocations().is_multiple_of(wave_size);
        let in_order = kernel.stage == Stage::Compute;
        Uniformity { values: walk.values, flow: walk.flow, near: walk.near, fills, in_order }
    }

    /// How far a value is the same.
    pub fn of(&self, value: Value) -> Extent {
        self.values.get(value.index()).copied().unwrap_or(Extent::Lane)
    }

    /// Returns true if all active lanes of a wave have the same value.
    pub fn is_uniform(&self, value: Value) -> bool {
        self.of(value) >= Extent::Wave
    }

    /// The group size within which invocations reach an instruction together or not at all.
    pub fn flow(&self, inst: InstId) -> Extent {
        self.flow.get(inst.index()).copied().unwrap_or(Extent::Lane)
    }

    /// The outermost loop around an instruction in which the same lanes of a wave run it in every iteration: all that
    /// reach the loop.
    pub fn steady_loop(&self, kernel: &Kernel, tree: &Tree, inst: InstId) -> Option<InstId> {
        let mut found = None;
        let mut at = inst;
        while self.near[at.index()] >= Extent::Wave {
            let Some(owner) = tree.block_of(at).and_then(|block| tree.owner(block)) else { break };
            match kernel.insts[owner].op {
                Op::Loop { .. } => found = Some(owner),
                Op::Scope { .. } => {}
                _ => break,
            }
            at = owner;
        }
        found
    }

    /// The lanes that run an instruction if any does.
    pub fn activity(&self, inst: InstId) -> Activity {
        match self.flow(inst) {
            Extent::Lane => Activity::Any,
            _ if !self.in_order => Activity::Any,
            _ if self.fills => Activity::Full,
            // The linear index gives the existing lanes.
            _ => Activity::FirstLanes,
        }
    }
}

/// The target of lanes that leave early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Toward {
    /// The end of a construct.
    End(InstId),
    /// The next iteration of a loop.
    Next(InstId),
    /// The end of the invocation.
    Return,
}

/// Divergent early exits, one per target.
type Leaves = Vec<(Toward, Extent)>;

/// A block that the walk has entered.
struct WalkedBlock {
    /// How much of the lanes that entered the enclosing construct is still together here.
    together: Extent,
    /// How much of the lanes that started the kernel is still together here.
    overall: Extent,
    leaves: Leaves,
}

struct Walk<'k> {
    kernel: &'k Kernel,
    tree: &'k Tree,
    flows: Flows,
    sources: Sources<'k>,
    values: Vec<Extent>,
    flow: Vec<Extent>,
    near: Vec<Extent>,
    /// How far lanes leave a loop together.
    left: Vec<Extent>,
    frames: Vec<WalkedBlock>,
    changed: bool,
}

impl Walk<'_> {
    fn frame(&mut self) -> &mut WalkedBlock {
        self.frames.last_mut().expect("the walk is in a block")
    }

    /// Walks a block that lanes enter as far together as `entry` says. Returns the early exits.
    fn block(&mut self, block: BlockId, entry: Extent) -> Leaves {
        let overall = self.frames.last().map_or(entry, |around| around.overall.min(entry));
        self.frames.push(WalkedBlock { together: entry, overall, leaves: Vec::new() });
        for inst in &self.kernel.blocks[block].insts {
            self.inst(*inst);
        }
        self.frames.pop().map(|frame| frame.leaves).unwrap_or_default()
    }

    fn inst(&mut self, inst: InstId) {
        let WalkedBlock { overall, together, .. } = *self.frame();
        (self.flow[inst.index()], self.near[inst.index()]) = (overall, together);
        match self.kernel.insts[inst].op {
            Op::If { then, otherwise } => self.branch(inst, then, otherwise),
            Op::Loop { body, continuing } => self.repetition(inst, body, continuing),
            Op::Scope { body } => self.scope(inst, body),
            Op::Whole { body } => {
                self.block(body, Extent::Dispatch);
                self.join(self.kernel.results(inst), Extent::Dispatch, None);
            }
            Op::Exit(target) => self.leave(Toward::End(target)),
            Op::Continue(target) => self.leave(Toward::Next(target)),
            Op::Return => self.leave(Toward::Return),
            op if op.is_terminator() => {}
            op => {
                let values = &self.values;
                let args = self.kernel.args(inst).iter().map(|arg| values[arg.index()]);
                let extent = self.sources.result(inst, &op, args.collect());
                self.kernel.results(inst).for_each(|result| self.lower(result, extent));
            }
        }
    }

    fn lower(&mut self, value: Value, extent: Extent) {
        let known = &mut self.values[value.index()];
        if extent < *known {
            *known = extent;
            self.changed = true;
        }
    }

    fn leave(&mut self, toward: Toward) {
        let together = self.frame().together;
        self.frame().leaves.push((toward, together));
    }

    fn branch(&mut self, inst: InstId, then: BlockId, otherwise: BlockId) {
        let condition = self.values[self.kernel.args(inst)[0].index()];
        let mut leaves = self.block(then, condition);
        leaves.extend(self.block(otherwise, condition));
        self.part(leaves);
        self.join(self.kernel.results(inst), condition, None);
    }

    fn scope(&mut self, inst: InstId, body: BlockId) {
        let mut leaves = self.block(body, Extent::Dispatch);
        let choice = take(&mut leaves, Toward::End(inst));
        self.part(leaves);
        self.join(self.kernel.results(inst), choice, None);
    }

    /// Lanes that left in earlier iterations are missing in later ones.
    fn repetition(&mut self, inst: InstId, body: BlockId, continuing: BlockId) {
        let before = self.left[inst.index()];
        let mut leaves = self.block(body, before);
        let next = take(&mut leaves, Toward::Next(inst));
        let gone = least(&leaves);
        leaves.extend(self.block(continuing, before.min(gone)));
        let choice = take(&mut leaves, Toward::End(inst)).min(self.leave_condition(continuing)).min(before);
        let left = choice.min(least(&leaves));
        if left < before {
            self.left[inst.index()] = left;
            self.changed = true;
        }
        self.part(leaves);
        self.join(self.kernel.blocks[body].params.iter().copied(), Extent::Dispatch, None);
        self.join(self.kernel.blocks[continuing].params.iter().copied(), next, None);
        self.join(self.kernel.results(inst), choice, Some(body));
    }

    /// The lanes that agree on leaving a loop after its continuing block.
    fn leave_condition(&self, continuing: BlockId) -> Extent {
        let last = self.kernel.blocks[continuing].insts.last();
        let repeat = last.filter(|last| self.kernel.insts[**last].op == Op::Repeat);
        repeat.map_or(Extent::Dispatch, |repeat| self.values[self.kernel.args(*repeat)[0].index()])
    }

    /// Adopts the exits from inside a construct that go beyond its end.
    fn part(&mut self, leaves: Leaves) {
        let frame = self.frame();
        for (toward, extent) in leaves {
            let extent = extent.min(frame.together);
            match frame.leaves.iter_mut().find(|(other, _)| *other == toward) {
                Some((_, known)) => *known = extent.min(*known),
                None => frame.leaves.push((toward, extent)),
            }
        }
        let gone = least(&frame.leaves);
        frame.together = frame.together.min(gone);
        frame.overall = frame.overall.min(gone);
    }

    /// Parameters or results that are one of several values, selected as uniformly as `choice` says. For a loop's
    /// results the iteration is selected too, which matters for values from inside.
    fn join(&mut self, values: impl Iterator<Item = Value>, choice: Extent, body: Option<BlockId>) {
        for value in values {
            let sources = self.flows.sources(value);
            let Some(first) = sources.first() else { continue };
            let chosen = sources.iter().any(|source| source != first);
            let inside = |source: &Value| {
                let home = self.tree.home(self.kernel, *source);
                body.is_some() && home.is_some_and(|home| !self.encloses_value(home, value))
            };
            let matters = chosen || sources.iter().any(inside);
            let least = sources.iter().map(|source| self.values[source.index()]).min().unwrap_or(Extent::Lane);
            self.lower(value, if matters { least.min(choice) } else { least });
        }
    }

    /// Returns true if a block contains the block that defines a value.
    fn encloses_value(&self, block: BlockId, value: Value) -> bool {
        self.tree.home(self.kernel, value).is_some_and(|home| self.tree.encloses(block, home))
    }
}

/// How far the leaving lanes are together.
fn least(leaves: &Leaves) -> Extent {
    leaves.iter().map(|(_, extent)| *extent).min().unwrap_or(Extent::Dispatch)
}

/// Removes the exits to one target and returns how uniform they are.
fn take(leaves: &mut Leaves, toward: Toward) -> Extent {
    let extents = leaves.iter().filter(|(other, _)| *other == toward).map(|(_, extent)| *extent);
    let least = extents.min().unwrap_or(Extent::Dispatch);
    leaves.retain(|(other, _)| *other != toward);
    least
}

#[cfg(test)]
mod tests;
