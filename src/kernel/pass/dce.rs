//! Dead code elimination. Removes unused instructions, whole constructs, and unused parameters and results of the
//! constructs that stay.
//!
//! Effects (stores, atomics, barriers, ends of the invocation) are needed, and everything that they depend on. A
//! construct is needed if something in it is, or one of its results. A store to private memory is needed only if a
//! needed instruction reads it. A loop without effect is removed unless it certainly never ends, or may wait for other
//! invocations' writes: both kinds can keep control from the instructions after them.

use super::simplify_cfg::ends_loop;
use crate::ir::InstFlags;
use crate::kernel::image;
use crate::kernel::names::Names;
use crate::kernel::tree::{Flows, Tree};
use crate::kernel::{BlockId, Def, InstId, Kernel, MemoryAccess, MemorySpace, Op, Value};
use crate::lane::Gives;
use rustc_hash::FxHashMap;

/// Removes dead code. Returns true if there was any.
pub fn run(kernel: &mut Kernel) -> bool {
    let tree = Tree::new(kernel);
    let mut live = Live::new(kernel, &tree);
    live.trace();
    let Live { values, insts, .. } = live;
    let dropped = sweep(kernel, &tree, &insts);
    shrink(kernel, &tree, &insts, &values) | dropped
}

/// Returns true if an instruction has observable effects.
fn has_effect(op: &Op) -> bool {
    match op {
        Op::Store(access) if private(*access).is_some() => access.volatile,
        Op::Store(_) | Op::Atomic { .. } | Op::Barrier { .. } | Op::Return => true,
        Op::Output { .. } | Op::Kill => true,
        Op::Image { op, .. } => image::writes(*op),
        Op::Load(MemoryAccess { volatile, .. }) => *volatile,
        Op::Lane { op, .. } => op.signature().gives == Gives::Nothing,
        Op::Prim { primitive, .. } => primitive.is_sync(),
        _ => false,
    }
}

/// Returns true if an instruction reads memory that other invocations may write meanwhile.
fn is_watched(kernel: &Kernel, inst: InstId) -> bool {
    match kernel.insts[inst].op {
        Op::Load(access) => access.coherent || access.volatile,
        Op::Image { image, .. } => {
            let watched = InstFlags::COHERENT | InstFlags::VOLATILE;
            kernel.images[image as usize].coherent || kernel.insts[inst].flags.intersects(watched)
        }
        _ => false,
    }
}

/// The accessed variable in the invocation's memory.
fn private(access: MemoryAccess) -> Option<usize> {
    match access.space {
        MemorySpace::Private(variable) => Some(variable as usize),
        _ => None,
    }
}

/// The needed instructions found so far.
struct Live<'k> {
    kernel: &'k Kernel,
    tree: &'k Tree,
    flows: Flows,
    /// Terminators that lead to a loop or scope from anywhere inside it.
    leaving: FxHashMap<InstId, Vec<InstId>>,
    /// Stores to each private variable, while no needed instruction reads it.
    private_stores: FxHashMap<usize, Vec<InstId>>,
    values: Vec<bool>,
    insts: Vec<bool>,
    open: Vec<Item>,
}

enum Item {
    Value(Value),
    Inst(InstId),
}

impl<'k> Live<'k> {
    fn new(kernel: &'k Kernel, tree: &'k Tree) -> Live<'k> {
        let mut live = Live {
            kernel,
            tree,
            flows: Flows::new(kernel, tree),
            leaving: FxHashMap::default(),
            private_stores: FxHashMap::default(),
            values: vec![false; kernel.values.len()],
            insts: vec![false; kernel.insts.len()],
            open: Vec::new(),
        };
        for inst in tree.blocks.iter().flat_map(|block| &kernel.blocks[*block].insts) {
            match kernel.insts[*inst].op {
                Op::Exit(target) | Op::Continue(target) => live.leaving.entry(target).or_default().push(*inst),
                op if has_effect(&op) => live.need_inst(*inst),
                Op::Store(access) => {
                    private(access).into_iter().for_each(|n| live.private_stores.entry(n).or_default().push(*inst));
                }
                _ => {}
            }
        }
        live.need_endless_loops();
        live.need_waiting_loops();
        live
    }

    /// Marks the loops around loads of memory that other invocations may write meanwhile. If the load decides nothing,
    /// it is removed anyway, and its loop in the next run.
    fn need_waiting_loops(&mut self) {
        for inst in self.tree.insts(self.kernel).into_iter().filter(|inst| is_watched(self.kernel, *inst)) {
            let mut block = self.tree.block_of(inst);
            while let Some(owner) = block.and_then(|block| self.tree.owner(block)) {
                if matches!(self.kernel.insts[owner].op, Op::Loop { .. }) {
                    // The enclosing constructs are found with it.
                    self.need_inst(owner);
                    break;
                }
                block = self.tree.block_of(owner);
            }
        }
    }

    /// Marks the loops without exits, once the exits of each loop are known.
    fn need_endless_loops(&mut self) {
        let leaves = self.tree.leaving(self.kernel);
        for inst in self.tree.blocks.iter().flat_map(|block| &self.kernel.blocks[*block].insts) {
            let Op::Loop { continuing, .. } = self.kernel.insts[*inst].op else { continue };
            let mut ways = self.leaving.get(inst).into_iter().flatten();
            let is_left = ways.any(|way| matches!(self.kernel.insts[*way].op, Op::Exit(_)));
            if !is_left && !leaves[inst.index()] && !ends_loop(self.kernel, continuing) {
                self.need_inst(*inst);
            }
        }
    }

    fn need(&mut self, value: Value) {
        if !std::mem::replace(&mut self.values[value.index()], true) {
            self.open.push(Item::Value(value));
        }
    }

    fn need_inst(&mut self, inst: InstId) {
        if !std::mem::replace(&mut self.insts[inst.index()], true) {
            self.open.push(Item::Inst(inst));
        }
    }

    fn trace(&mut self) {
        while let Some(item) = self.open.pop() {
            match item {
                Item::Value(value) => self.value(value),
                Item::Inst(inst) => self.inst(inst),
            }
        }
    }

    fn value(&mut self, value: Value) {
        match self.kernel.values[value].def {
            Def::Const(_) | Def::Undef => return,
            Def::Inst(inst, _) => self.need_inst(inst),
            Def::Param(block, _) => self.need_owner(block),
        }
        for at in 0..self.flows.sources(value).len() {
            self.need(self.flows.sources(value)[at]);
        }
    }

    fn need_owner(&mut self, block: BlockId) {
        if let Some(owner) = self.tree.owner(block) {
            self.need_inst(owner);
        }
    }

    /// Marks the parts that a needed instruction needs: the construct around it, its operands, the ways through it.
    fn inst(&mut self, inst: InstId) {
        if let Some(block) = self.tree.block_of(inst) {
            self.need_owner(block);
        }
        let op = self.kernel.insts[inst].op;
        match op {
            Op::If { .. } | Op::Repeat => self.need(self.kernel.args(inst)[0]),
            Op::Loop { .. } | Op::Scope { .. } => {
                self.leaving.remove(&inst).into_iter().flatten().for_each(|way| self.need_inst(way));
            }
            Op::Yield | Op::Exit(_) | Op::Continue(_) => {}
            Op::Load(access) => {
                self.need(self.kernel.args(inst)[0]);
                let stores = private(access).and_then(|variable| self.private_stores.remove(&variable));
                stores.into_iter().flatten().for_each(|store| self.need_inst(store));
            }
            _ => self.kernel.args(inst).iter().for_each(|arg| self.need(*arg)),
        }
        for block in self.kernel.inner_blocks(inst) {
            if let Some(last) = self.kernel.blocks[block].insts.last() {
                self.need_inst(*last);
            }
        }
    }
}

/// Removes the instructions that are not needed. Terminators of remaining blocks are all needed, except the body's.
fn sweep(kernel: &mut Kernel, tree: &Tree, needed: &[bool]) -> bool {
    let mut dropped = false;
    for block in &tree.blocks {
        let insts = &kernel.insts;
        let list = &mut kernel.blocks[*block].insts;
        let before = list.len();
        list.retain(|inst| needed[inst.index()] || insts[*inst].op.is_terminator());
        dropped |= list.len() != before;
    }
    dropped
}

/// Takes the parameters and results away that are not needed.
fn shrink(kernel: &mut Kernel, tree: &Tree, needed: &[bool], values: &[bool]) -> bool {
    let is_live = |value: &Value| values[value.index()];
    let mut names = Names::default();
    // Operands first, because their destinations are derived from the instructions that are still there.
    let passing: Vec<InstId> = tree.passing(kernel).collect();
    for inst in &passing {
        let to = tree.destinations(kernel, *inst);
        if to.iter().flatten().all(is_live) {
            continue;
        }
        let kept = to.iter().zip(kernel.args(*inst)).filter(|(to, _)| to.as_ref().is_none_or(is_live));
        let kept: Vec<Value> = kept.map(|(_, arg)| *arg).collect();
        kernel.set_args(*inst, &kept);
    }
    let mut shrunk = false;
    for block in &tree.blocks {
        shrunk |= kernel.retain_params(*block, is_live);
    }
    for inst in passing {
        let is_kept = needed[inst.index()] && kernel.insts[inst].op.is_structured();
        if is_kept && !kernel.results(inst).all(|v| is_live(&v)) {
            shrunk = true;
            shrink_results(kernel, inst, is_live, &mut names);
        }
    }
    names.apply_all(kernel);
    shrunk
}

fn shrink_results(kernel: &mut Kernel, inst: InstId, is_live: impl Fn(&Value) -> bool, names: &mut Names) {
    let kept: Vec<Value> = kernel.results(inst).filter(is_live).collect();
    let types: Vec<_> = kept.iter().map(|value| kernel.ty(*value)).collect();
    kernel.set_results(inst, &types);
    names.replace_all(kept, kernel.results(inst));
}
