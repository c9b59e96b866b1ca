//! The events that may be pending at the start of each block, as a fixed point over the control flow.

use super::machine::{Block, Function};
use std::collections::VecDeque;

/// State that instructions leave for later ones; the default is empty.
pub trait Pending: Clone + Default {
    /// Adds pending events from another path. Returns true if there are more.
    fn join(&mut self, other: &Self) -> bool;
}

/// The pending events at the start of each block, merged over all paths; `pass` processes a block.
pub fn starts<P: Pending>(function: &Function, mut pass: impl FnMut(&Block, P) -> P) -> Vec<P> {
    let positions = function.positions();
    let count = function.blocks.len();
    let mut starts = vec![P::default(); count];
    let mut is_queued = vec![true; count];
    let mut queue: VecDeque<usize> = (0..count).collect();
    while let Some(at) = queue.pop_front() {
        is_queued[at] = false;
        let end = pass(&function.blocks[at], starts[at].clone());
        for next in function.successors(at, &positions) {
            if starts[next].join(&end) && !std::mem::replace(&mut is_queued[next], true) {
                queue.push_back(next);
            }
        }
    }
    starts
}
