//! Variables in SSA form: the current value of each scalar, and the values at merges of control flow.
//!
//! Each variable has consecutive slots, one per scalar. Writes go to a journal, so that a construct sees the writes
//! since its start, and undoes them before its next block, at a cost proportional to the writes.

use crate::kernel::{BlockId, Value};

/// A position in the journal, and the number of variables at that time.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    journal: usize,
    slots: u32,
}

/// The content of each slot.
#[derive(Default, Debug)]
pub struct Variables {
    now: Vec<Value>,
    /// Slots written, and their previous values.
    journal: Vec<(u32, Value)>,
}

impl Variables {
    /// Adds slots; returns the first.
    pub fn add(&mut self, initial: &[Value]) -> u32 {
        let first = self.now.len() as u32;
        self.now.extend_from_slice(initial);
        first
    }

    pub fn get(&self, slot: u32) -> Value {
        self.now[slot as usize]
    }

    /// The values of consecutive slots.
    pub fn range(&self, first: u32, count: usize) -> &[Value] {
        &self.now[first as usize..first as usize + count]
    }

    pub fn set(&mut self, slot: u32, value: Value) {
        let before = std::mem::replace(&mut self.now[slot as usize], value);
        self.journal.push((slot, before));
    }

    pub fn mark(&self) -> Mark {
        Mark { journal: self.journal.len(), slots: self.now.len() as u32 }
    }

    /// The slots from before a mark that were written since, in ascending order, with their values.
    pub fn changes(&self, since: Mark) -> Vec<(u32, Value)> {
        let written = self.journal[since.journal..].iter().map(|(slot, _)| *slot);
        let mut slots: Vec<u32> = written.filter(|slot| *slot < since.slots).collect();
        slots.sort_unstable();
        slots.dedup();
        slots.into_iter().map(|slot| (slot, self.get(slot))).collect()
    }

    /// Undoes the writes since a mark.
    pub fn rewind(&mut self, to: Mark) {
        while self.journal.len() > to.journal {
            if let Some((slot, before)) = self.journal.pop() {
                self.now[slot as usize] = before;
            }
        }
    }
}

/// A path on which control reaches the end of a construct.
#[derive(Debug)]
pub struct End {
    /// The block that it leaves, which has no terminator yet.
    pub block: BlockId,
    /// True if it leaves early, by an `Exit`.
    pub exits: bool,
    /// The values that it yields in addition to variables.
    pub values: super::Scalars,
    /// The slots written on the path.
    pub changes: Vec<(u32, Value)>,
}

impl End {
    fn value(&self, slot: u32) -> Option<Value> {
        let at = self.changes.binary_search_by_key(&slot, |change| change.0).ok()?;
        Some(self.changes[at].1)
    }
}

/// A slot that changes in a construct, with its value at each end.
#[derive(Debug)]
pub struct Joined {
    pub slot: u32,
    pub values: Vec<Value>,
}

impl Variables {
    /// The slots that change in a construct with these ends. The variables are in the state of its start.
    pub fn join(&self, ends: &[End]) -> Vec<Joined> {
        let mut slots: Vec<u32> = ends.iter().flat_map(|end| &end.changes).map(|change| change.0).collect();
        slots.sort_unstable();
        slots.dedup();
        let joined = slots.into_iter().map(|slot| {
            let before = self.get(slot);
            let values: Vec<Value> = ends.iter().map(|end| end.value(slot).unwrap_or(before)).collect();
            (before, Joined { slot, values })
        });
        joined.filter(|(before, joined)| joined.values.iter().any(|value| value != before)).map(|pair| pair.1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::SmallVec;

    fn value(n: usize) -> Value {
        Value::from_index(n)
    }

    fn end(changes: Vec<(u32, Value)>) -> End {
        End { block: BlockId::from_index(0), exits: false, values: SmallVec::new(), changes }
    }

    #[test]
    fn writes_are_seen_and_taken_back() {
        let mut vars = Variables::default();
        vars.add(&[value(0), value(1)]);
        let mark = vars.mark();
        let inner = vars.add(&[value(9)]);
        vars.set(1, value(5));
        vars.set(1, value(6));
        vars.set(inner, value(7));
        assert_eq!(vars.changes(mark), [(1, value(6))]);
        vars.rewind(mark);
        assert_eq!(vars.range(0, 2), [value(0), value(1)]);
    }

    #[test]
    fn only_what_differs_is_joined() {
        let mut vars = Variables::default();
        vars.add(&[value(0), value(1), value(2)]);
        let ends = [end(vec![(0, value(0)), (2, value(7))]), end(vec![])];
        let joined = vars.join(&ends);
        assert_eq!(joined.len(), 1);
        assert_eq!((joined[0].slot, &joined[0].values[..]), (2, &[value(7), value(2)][..]));
    }
}
