//! Which constructs lanes leave at different times, so that some wait in a mask while others run.
//!
//! A frame is what lanes can wait at the end of: an `If`, a `Scope`, a `Loop`, and the body of a `Loop`, at whose end the
//! continuing block begins. A frame *diverges* if lanes may come to its end at different times, and *leaks* if lanes inside
//! may leave for farther than its end.

use crate::kernel::tree::Tree;
use crate::kernel::uniform::Uniformity;
use crate::kernel::{BlockId, InstId, Kernel, Op};
use smallvec::SmallVec;

/// A place at which lanes may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frame {
    /// The end of a construct.
    End(InstId),
    /// The end of a loop's body.
    Next(InstId),
}

impl Frame {
    const fn index(self) -> usize {
        match self {
            Frame::End(inst) => 2 * inst.index(),
            Frame::Next(inst) => 2 * inst.index() + 1,
        }
    }
}

/// What is known of all frames of a kernel.
#[derive(Debug)]
pub struct Frames {
    diverges: Vec<bool>,
    leaks: Vec<bool>,
}

/// The frames from a jump outward, the goal last; the goal is none for the end of the invocation.
type Chain = SmallVec<[Frame; 8]>;

impl Frames {
    pub fn of(kernel: &Kernel, tree: &Tree, uniformity: &Uniformity) -> Frames {
        let count = 2 * kernel.insts.len();
        let mut frames = Frames { diverges: vec![false; count], leaks: vec![false; count] };
        let mut jumps = Vec::new();
        for inst in tree.insts(kernel) {
            match kernel.insts[inst].op {
                Op::If { .. } => {
                    frames.diverges[Frame::End(inst).index()] = !uniformity.is_uniform(kernel.args(inst)[0]);
                }
                Op::Repeat => frames.note_repeat(kernel, tree, uniformity, inst),
                Op::Exit(_) | Op::Continue(_) | Op::Return => jumps.push(inst),
                _ => {}
            }
        }
        let chains: Vec<(Chain, bool)> = jumps.iter().map(|jump| chain(kernel, tree, *jump)).collect();
        frames.note_leaks(&chains);
        while frames.spread(&chains) {}
        frames
    }

    pub fn diverges(&self, frame: Frame) -> bool {
        self.diverges[frame.index()]
    }

    pub fn leaks(&self, frame: Frame) -> bool {
        self.leaks[frame.index()]
    }

    /// A loop whose rounds end for some lanes alone.
    fn note_repeat(&mut self, kernel: &Kernel, tree: &Tree, uniformity: &Uniformity, inst: InstId) {
        if let Some(owner) = tree.block_of(inst).and_then(|block| tree.owner(block))
            && !uniformity.is_uniform(kernel.args(inst)[0])
        {
            self.diverges[Frame::End(owner).index()] = true;
        }
    }

    fn note_leaks(&mut self, chains: &[(Chain, bool)]) {
        for (chain, ends) in chains {
            let passed = if *ends { &chain[..] } else { &chain[..chain.len().saturating_sub(1)] };
            passed.iter().for_each(|frame| self.leaks[frame.index()] = true);
        }
    }

    /// Who leaves a frame while others wait inside it makes it diverge.
    fn spread(&mut self, chains: &[(Chain, bool)]) -> bool {
        let mut changed = false;
        for (chain, _) in chains {
            let mut others_wait = false;
            for frame in chain {
                let diverges = &mut self.diverges[frame.index()];
                changed |= others_wait && !*diverges;
                *diverges |= others_wait;
                others_wait |= *diverges;
            }
        }
        changed
    }
}

/// The frames that a jump leaves and the one at whose end it arrives; whether it ends the invocation instead.
fn chain(kernel: &Kernel, tree: &Tree, jump: InstId) -> (Chain, bool) {
    let goal = match kernel.insts[jump].op {
        Op::Exit(of) => Some(Frame::End(of)),
        Op::Continue(of) => Some(Frame::Next(of)),
        _ => None,
    };
    let mut chain = Chain::new();
    let mut place = tree.block_of(jump);
    while let Some((block, owner)) = place.and_then(|block| Some((block, tree.owner(block)?))) {
        for frame in frames_of(kernel, owner, block) {
            chain.push(frame);
            if Some(frame) == goal {
                return (chain, false);
            }
        }
        place = tree.block_of(owner);
    }
    (chain, true)
}

/// The frames that a block of a construct is in, inner first.
fn frames_of(kernel: &Kernel, owner: InstId, block: BlockId) -> SmallVec<[Frame; 2]> {
    match kernel.insts[owner].op {
        Op::Loop { body, .. } if body == block => [Frame::Next(owner), Frame::End(owner)].into_iter().collect(),
        _ => [Frame::End(owner)].into_iter().collect(),
    }
}
