//! The nesting of a kernel's blocks, and the data flow into the parameters and results of its constructs.
//!
//! Built in one walk for a pass that needs it. It is outdated when blocks or instructions move.

use super::{BlockId, Def, InstId, Kernel, Op, Value};
use crate::limits;
use smallvec::{SmallVec, smallvec};

/// The destinations of an instruction's operands.
type Destinations = SmallVec<[Option<Value>; 4]>;

/// The nesting of blocks and instructions.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Reachable blocks, outer before inner and otherwise in text order.
    pub blocks: Vec<BlockId>,
    owner: Vec<Option<InstId>>,
    place: Vec<Option<BlockId>>,
    /// Index of each block in `blocks`, and of the last block inside it.
    range: Vec<(u32, u32)>,
}

impl Tree {
    pub fn new(kernel: &Kernel) -> Tree {
        // Passes build a tree first, and usually take as long as a walk over instructions and operands.
        limits::spend(kernel.insts.len() + kernel.operands.len());
        let mut tree = Tree {
            blocks: Vec::with_capacity(kernel.blocks.len()),
            owner: vec![None; kernel.blocks.len()],
            place: vec![None; kernel.insts.len()],
            range: vec![(0, 0); kernel.blocks.len()],
        };
        let mut open = Vec::with_capacity(kernel.blocks.len());
        open.push(kernel.body);
        while let Some(block) = open.pop() {
            let number = tree.blocks.len() as u32;
            tree.range[block.index()] = (number, number);
            tree.blocks.push(block);
            tree.enter(kernel, block, &mut open);
        }
        tree.close();
        tree
    }

    /// Records the instructions of a block; nested blocks follow, the first one first.
    fn enter(&mut self, kernel: &Kernel, block: BlockId, open: &mut Vec<BlockId>) {
        let first = open.len();
        for inst in &kernel.blocks[block].insts {
            self.place[inst.index()] = Some(block);
            if kernel.insts[*inst].op.is_structured() {
                for inner in kernel.inner_blocks(*inst) {
                    self.owner[inner.index()] = Some(*inst);
                    open.push(inner);
                }
            }
        }
        open[first..].reverse();
    }

    /// Extends each block's range over its nested blocks, innermost first.
    fn close(&mut self) {
        for block in self.blocks.iter().rev() {
            if let Some(outer) = self.owner[block.index()].and_then(|owner| self.place[owner.index()]) {
                let last = self.range[block.index()].1;
                let range = &mut self.range[outer.index()];
                range.1 = range.1.max(last);
            }
        }
    }

    /// Instructions that can be reached, each block's in their order.
    pub fn insts(&self, kernel: &Kernel) -> Vec<InstId> {
        self.blocks.iter().flat_map(|block| kernel.blocks[*block].insts.iter().copied()).collect()
    }

    /// The instructions that pass values into constructs, through them or out of them.
    pub fn passing(&self, kernel: &Kernel) -> impl Iterator<Item = InstId> {
        let insts = self.blocks.iter().flat_map(|block| kernel.blocks[*block].insts.iter().copied());
        insts.filter(|inst| {
            let op = kernel.insts[*inst].op;
            op.is_structured() || op.is_terminator()
        })
    }

    /// True for each instruction that is such an operation, or a construct that contains one at any depth.
    pub fn holding(&self, kernel: &Kernel, is_such: impl Fn(Op) -> bool) -> Vec<bool> {
        let mut holds = vec![false; kernel.insts.len()];
        for block in self.blocks.iter().rev() {
            let mut any = false;
            for inst in &kernel.blocks[*block].insts {
                holds[inst.index()] |= is_such(kernel.insts[*inst].op);
                any |= holds[inst.index()];
            }
            if let Some(owner) = self.owner(*block) {
                holds[owner.index()] |= any;
            }
        }
        holds
    }

    /// The construct that contains a block; `None` for the body.
    pub fn owner(&self, block: BlockId) -> Option<InstId> {
        self.owner[block.index()]
    }

    /// The block of an instruction; `None` if it is unreachable.
    pub fn block_of(&self, inst: InstId) -> Option<BlockId> {
        self.place[inst.index()]
    }

    /// The depth and the height of every block.
    pub fn nesting(&self) -> Nesting {
        let mut heights = vec![0; self.owner.len()];
        for block in self.blocks.iter().rev() {
            if let Some(around) = self.owner(*block).and_then(|owner| self.block_of(owner)) {
                heights[around.index()] = heights[around.index()].max(heights[block.index()] + 1);
            }
        }
        Nesting { depths: self.depths(), heights }
    }

    /// Number of constructs around a block.
    fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.owner.len()];
        for block in &self.blocks {
            let around = self.owner(*block).and_then(|owner| self.block_of(owner));
            depths[block.index()] = around.map_or(0, |around| depths[around.index()] + 1);
        }
        depths
    }

    /// True for each construct from inside which control may go beyond its end: to the end of the invocation, or to the
    /// end or the next iteration of an enclosing construct.
    pub fn leaving(&self, kernel: &Kernel) -> Vec<bool> {
        let depths = self.depths();
        let depth = |inst: InstId| self.block_of(inst).map_or(0, |block| depths[block.index()]);
        // The outermost construct that is left from inside each instruction: its depth plus one, 0 for the invocation.
        let mut reach = vec![u32::MAX; kernel.insts.len()];
        let mut leaving = vec![false; kernel.insts.len()];
        for block in self.blocks.iter().rev() {
            for inst in &kernel.blocks[*block].insts {
                let far = match kernel.insts[*inst].op {
                    Op::Return => 0,
                    Op::Exit(target) | Op::Continue(target) => depth(target) + 1,
                    _ => reach[inst.index()],
                };
                leaving[inst.index()] = far <= depth(*inst);
                if let Some(owner) = self.owner(*block) {
                    reach[owner.index()] = reach[owner.index()].min(far);
                }
            }
        }
        leaving
    }

    /// Returns true if a block equals another one or contains it, at any depth.
    pub fn encloses(&self, outer: BlockId, inner: BlockId) -> bool {
        let ((first, last), (at, _)) = (self.range[outer.index()], self.range[inner.index()]);
        first <= at && at <= last
    }

    /// The blocks inside a block, at any depth.
    pub fn inside(&self, block: BlockId) -> &[BlockId] {
        let (first, last) = self.range[block.index()];
        &self.blocks[first as usize + 1..=last as usize]
    }

    /// The block that defines a value; `None` for constants.
    pub fn home(&self, kernel: &Kernel, value: Value) -> Option<BlockId> {
        match kernel.values[value].def {
            Def::Const(_) | Def::Undef => None,
            Def::Inst(inst, _) => self.block_of(inst),
            Def::Param(block, _) => Some(block),
        }
    }

    /// For each operand of a terminator or construct, the parameter or result that receives it; `None` for conditions.
    pub fn destinations(&self, kernel: &Kernel, inst: InstId) -> Destinations {
        let results = |of: InstId| kernel.results(of).map(Some);
        let params = |block: BlockId| kernel.blocks[block].params.iter().copied().map(Some);
        let owner = self.block_of(inst).and_then(|block| self.owner(block));
        match (kernel.insts[inst].op, owner) {
            (Op::Loop { body, .. }, _) => params(body).collect(),
            (Op::If { .. }, _) => smallvec![None],
            (Op::Yield, Some(owner)) => results(owner).collect(),
            (Op::Exit(target), _) => results(target).collect(),
            (Op::Continue(target), _) => match kernel.insts[target].op {
                Op::Loop { continuing, .. } => params(continuing).collect(),
                _ => SmallVec::new(),
            },
            (Op::Repeat, Some(owner)) => match kernel.insts[owner].op {
                Op::Loop { body, .. } => [None].into_iter().chain(params(body)).chain(results(owner)).collect(),
                _ => SmallVec::new(),
            },
            _ => SmallVec::new(),
        }
    }
}

/// The number of blocks around each block, and the depth of the blocks nested in it. A pass that moves blocks updates
/// the heights.
#[derive(Clone, Debug)]
pub struct Nesting {
    depths: Vec<u32>,
    heights: Vec<u32>,
}

impl Nesting {
    /// Number of constructs around a block.
    pub fn depth(&self, block: BlockId) -> usize {
        self.depths[block.index()] as usize
    }

    /// Nesting depth of the blocks inside a block.
    pub fn height(&self, block: BlockId) -> usize {
        self.heights[block.index()] as usize
    }

    /// Records that blocks are nested at least `height` levels deep in a block.
    pub fn add(&mut self, block: BlockId, height: usize) {
        let known = &mut self.heights[block.index()];
        *known = (*known).max(height as u32);
    }
}

/// The values that flow into each parameter and result of a construct.
#[derive(Clone, Debug)]
pub struct Flows {
    /// Start of the sources of each value, with one more entry at the end. Empty if there are none.
    starts: Vec<u32>,
    sources: Vec<Value>,
}

impl Flows {
    pub fn new(kernel: &Kernel, tree: &Tree) -> Flows {
        let mut pairs = Vec::new();
        for inst in tree.passing(kernel) {
            let to = tree.destinations(kernel, inst);
            pairs.extend(to.into_iter().zip(kernel.args(inst)).filter_map(|(to, from)| Some((to?, *from))));
        }
        if pairs.is_empty() {
            return Flows { starts: Vec::new(), sources: Vec::new() };
        }
        let mut starts = vec![0; kernel.values.len() + 1];
        pairs.iter().for_each(|(to, _)| starts[to.index() + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut sources: Vec<Value> = pairs.iter().map(|(_, from)| *from).collect();
        for (to, from) in pairs {
            let place = &mut next[to.index()];
            sources[*place as usize] = from;
            *place += 1;
        }
        Flows { starts, sources }
    }

    /// The values that a parameter or result may have, in text order.
    pub fn sources(&self, value: Value) -> &[Value] {
        match self.starts.get(value.index()..value.index() + 2) {
            Some(starts) => &self.sources[starts[0] as usize..starts[1] as usize],
            None => &[],
        }
    }
}
