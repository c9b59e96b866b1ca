//! Finds the constructs that lanes leave at different times, so that some wait in a mask while others run.
//!
//! A reconvergence point is the end of an `If`, a `Scope`, a `Loop`, or of the body of a `Loop`, where the continuing
//! block starts. A point *diverges* if lanes may reach its end at different times, and *leaks* if lanes inside may
//! leave for a target beyond its end.

use crate::kernel::tree::Tree;
use crate::kernel::uniform::Uniformity;
use crate::kernel::{BlockId, InstId, Kernel, Op};
use smallvec::SmallVec;

/// The end of a construct, where lanes may wait for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReconvergencePoint {
    /// The end of a construct.
    End(InstId),
    /// The end of a loop's body.
    Next(InstId),
}

impl ReconvergencePoint {
    const fn index(self) -> usize {
        match self {
            ReconvergencePoint::End(inst) => 2 * inst.index(),
            ReconvergencePoint::Next(inst) => 2 * inst.index() + 1,
        }
    }
}

/// The facts about all reconvergence points of a kernel.
#[derive(Debug)]
pub struct Reconvergence {
    diverges: Vec<bool>,
    leaks: Vec<bool>,
}

/// The points from a jump outward, the goal last; the goal is `None` for the end of the invocation.
type Chain = SmallVec<[ReconvergencePoint; 8]>;

impl Reconvergence {
    pub fn of(kernel: &Kernel, tree: &Tree, uniformity: &Uniformity) -> Reconvergence {
        let count = 2 * kernel.insts.len();
        let mut points = Reconvergence { diverges: vec![false; count], leaks: vec![false; count] };
        let mut jumps = Vec::new();
        for inst in tree.insts(kernel) {
            match kernel.insts[inst].op {
                Op::If { .. } => {
                    points.diverges[ReconvergencePoint::End(inst).index()] =
                        !uniformity.is_uniform(kernel.args(inst)[0]);
                }
                Op::Repeat => points.note_repeat(kernel, tree, uniformity, inst),
                Op::Exit(_) | Op::Continue(_) | Op::Return => jumps.push(inst),
                _ => {}
            }
        }
        let chains: Vec<(Chain, bool)> = jumps.iter().map(|jump| chain(kernel, tree, *jump)).collect();
        points.note_leaks(&chains);
        while points.spread(&chains) {}
        points
    }

    pub fn diverges(&self, point: ReconvergencePoint) -> bool {
        self.diverges[point.index()]
    }

    pub fn leaks(&self, point: ReconvergencePoint) -> bool {
        self.leaks[point.index()]
    }

    /// A loop whose iterations end for some lanes only.
    fn note_repeat(&mut self, kernel: &Kernel, tree: &Tree, uniformity: &Uniformity, inst: InstId) {
        if let Some(owner) = tree.block_of(inst).and_then(|block| tree.owner(block))
            && !uniformity.is_uniform(kernel.args(inst)[0])
        {
            self.diverges[ReconvergencePoint::End(owner).index()] = true;
        }
    }

    fn note_leaks(&mut self, chains: &[(Chain, bool)]) {
        for (chain, ends) in chains {
            let passed = if *ends { &chain[..] } else { &chain[..chain.len().saturating_sub(1)] };
            passed.iter().for_each(|point| self.leaks[point.index()] = true);
        }
    }

    /// The goal of a jump diverges if others wait at a point on the way. No lanes start to wait at the points in
    /// between.
    fn spread(&mut self, chains: &[(Chain, bool)]) -> bool {
        let mut changed = false;
        for (chain, _) in chains.iter().filter(|(_, ends)| !ends) {
            let Some((goal, passed)) = chain.split_last() else { continue };
            if !self.diverges(*goal) && passed.iter().any(|point| self.diverges(*point)) {
                self.diverges[goal.index()] = true;
                changed = true;
            }
        }
        changed
    }
}

/// The points that a jump leaves, and its target or the end of the invocation.
fn chain(kernel: &Kernel, tree: &Tree, jump: InstId) -> (Chain, bool) {
    let goal = match kernel.insts[jump].op {
        Op::Exit(of) => Some(ReconvergencePoint::End(of)),
        Op::Continue(of) => Some(ReconvergencePoint::Next(of)),
        _ => None,
    };
    let mut chain = Chain::new();
    let mut place = tree.block_of(jump);
    while let Some((block, owner)) = place.and_then(|block| Some((block, tree.owner(block)?))) {
        for point in points_of(kernel, owner, block) {
            chain.push(point);
            if Some(point) == goal {
                return (chain, false);
            }
        }
        place = tree.block_of(owner);
    }
    (chain, true)
}

/// The points that contain a block of a construct, inner first.
fn points_of(kernel: &Kernel, owner: InstId, block: BlockId) -> SmallVec<[ReconvergencePoint; 2]> {
    match kernel.insts[owner].op {
        Op::Loop { body, .. } if body == block => {
            [ReconvergencePoint::Next(owner), ReconvergencePoint::End(owner)].into_iter().collect()
        }
        _ => [ReconvergencePoint::End(owner)].into_iter().collect(),
    }
}
