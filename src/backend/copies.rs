//! Parallel copies as a sequence.

use crate::limits;
use std::collections::{BTreeMap, BTreeSet};

/// The next step.
pub enum Step<'a, C> {
    Copy(C),
    /// Each remaining copy writes a register that another still reads: the overwritten value must be saved in a
    /// separate register for its readers, which follow.
    OpenRing(C, &'a mut [C]),
}

/// Orders copies so that each register is read before it is written: in rounds, each with all copies that nothing
/// blocks at its start. `written` returns the register that a copy writes, if others can read it, and `read` adds the
/// registers that it reads.
pub fn in_order<C: Clone, R: Ord>(
    pending: Vec<C>,
    written: impl Fn(&C) -> Option<R>,
    read: impl Fn(&C, &mut BTreeSet<R>),
    mut act: impl FnMut(Step<'_, C>),
) {
    limits::spend(pending.len());
    let mut queue = Queue::new(pending, written, read);
    let mut first = 0;
    while let Some(at) = (first..queue.pending.len()).find(|at| queue.pending[*at].is_some()) {
        first = at;
        if queue.free.is_empty() {
            queue.open_ring(first, &mut act);
        } else {
            queue.round(&mut act);
        }
    }
}

/// The copies that read or write a register.
struct Uses {
    /// Copies that read it at first, in order.
    readers: Vec<usize>,
    writers: Vec<usize>,
    /// The number of remaining readers.
    awaited: usize,
}

struct Queue<C, R, W, S> {
    pending: Vec<Option<C>>,
    uses: BTreeMap<R, Uses>,
    /// The copies of the next round.
    free: Vec<usize>,
    written: W,
    read: S,
}

impl<C: Clone, R: Ord, W: Fn(&C) -> Option<R>, S: Fn(&C, &mut BTreeSet<R>)> Queue<C, R, W, S> {
    fn new(copies: Vec<C>, written: W, read: S) -> Queue<C, R, W, S> {
        let mut queue = Queue { pending: Vec::new(), uses: BTreeMap::new(), free: Vec::new(), written, read };
        for (at, copy) in copies.iter().enumerate() {
            for register in queue.sources(copy) {
                let uses = queue.of(register);
                uses.readers.push(at);
                uses.awaited += 1;
            }
            if let Some(register) = (queue.written)(copy) {
                queue.of(register).writers.push(at);
            }
        }
        let is_free = |copy: &C| (queue.written)(copy).is_none_or(|to| queue.uses[&to].awaited == 0);
        queue.free = (0..copies.len()).filter(|at| is_free(&copies[*at])).collect();
        queue.pending = copies.into_iter().map(Some).collect();
        queue
    }

    fn sources(&self, copy: &C) -> BTreeSet<R> {
        let mut sources = BTreeSet::new();
        (self.read)(copy, &mut sources);
        sources
    }

    fn of(&mut self, register: R) -> &mut Uses {
        self.uses.entry(register).or_insert_with(|| Uses { readers: Vec::new(), writers: Vec::new(), awaited: 0 })
    }

    fn round(&mut self, act: &mut impl FnMut(Step<'_, C>)) {
        for at in std::mem::take(&mut self.free) {
            let Some(copy) = self.pending[at].take() else { continue };
            self.forget_reads(&copy);
            act(Step::Copy(copy));
        }
        self.free.sort_unstable();
    }

    /// Records that a copy no longer reads its sources, and releases the copies that waited for it.
    fn forget_reads(&mut self, copy: &C) {
        for register in self.sources(copy) {
            let uses = self.uses.get_mut(&register).expect("every source was noted");
            uses.awaited -= 1;
            if uses.awaited == 0 {
                self.free.extend(uses.writers.iter().filter(|at| self.pending[**at].is_some()));
            }
        }
    }

    fn open_ring(&mut self, first: usize, act: &mut impl FnMut(Step<'_, C>)) {
        let copy = self.pending[first].clone().expect("it is pending");
        let register = (self.written)(&copy).expect("a copy into nothing is free");
        let readers = self.uses[&register].readers.iter().copied();
        let readers: Vec<usize> = readers.filter(|at| self.pending[*at].is_some()).collect();
        let mut moved: Vec<C> = readers.iter().filter_map(|at| self.pending[*at].clone()).collect();
        let before: Vec<C> = moved.clone();
        act(Step::OpenRing(copy, &mut moved));
        for (at, copy) in readers.into_iter().zip(moved) {
            for register in self.sources(&copy) {
                self.of(register).awaited += 1;
            }
            self.pending[at] = Some(copy);
        }
        before.iter().for_each(|copy| self.forget_reads(copy));
        self.free.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of copies `(to, from)` of numbered registers; cycles save overwritten values in registers from 100 on.
    fn ordered(copies: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let (mut made, mut next) = (Vec::new(), 100);
        in_order(
            copies.to_vec(),
            |(to, _)| Some(*to),
            |(_, from), read| _ = read.insert(*from),
            |step| match step {
                Step::Copy(copy) => made.push(copy),
                Step::OpenRing((held, _), readers) => {
                    made.push((next, held));
                    readers.iter_mut().for_each(|(_, from)| *from = next);
                    next += 1;
                }
            },
        );
        made
    }

    #[test]
    fn registers_are_read_before_they_are_written() {
        assert_eq!(ordered(&[(1, 0), (2, 1), (3, 2)]), [(3, 2), (2, 1), (1, 0)]);
        assert_eq!(ordered(&[(1, 0), (2, 0), (4, 3)]), [(1, 0), (2, 0), (4, 3)]);
        assert_eq!(ordered(&[(0, 1), (1, 0)]), [(100, 0), (0, 1), (1, 100)]);
        let two = [(100, 0), (0, 1), (1, 100), (101, 2), (2, 3), (3, 101)];
        assert_eq!(ordered(&[(0, 1), (1, 0), (2, 3), (3, 2)]), two);
    }

    #[test]
    fn a_chain_and_many_rings_take_time_in_proportion() {
        let count = 200_000;
        let chain: Vec<(u32, u32)> = (0..count).map(|n| (1000 + n + 1, 1000 + n)).collect();
        assert_eq!(ordered(&chain).len(), count as usize);
        let rings: Vec<(u32, u32)> = (0..count).map(|n| (10_000_000 + n, 10_000_000 + (n ^ 1))).collect();
        assert_eq!(ordered(&rings).len(), 3 * count as usize / 2);
    }
}
