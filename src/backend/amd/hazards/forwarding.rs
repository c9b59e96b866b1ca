//! Vector registers of RDNA 3 in waves of 64 lanes that are written before and after a write of EXEC and soon read
//! together (LLVM: `VALUPartialForwardingHazard`): one half of the wave may get an old value.

use super::rows::FLUSHES;
use crate::backend::amd::view::{Access, Cell, Kinds, Traits, View};
use std::collections::BTreeMap;

/// Vector instructions from the first write to the second, and from there to the read.
const TO_SECOND: u8 = 3;
const TO_READ: u8 = 5;

/// The state of the hazard so far.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Forwarding {
    /// Written registers: the number of vector instructions for which that still matters, and whether EXEC was written
    /// since.
    written: BTreeMap<Cell, (u8, bool)>,
    /// Registers that were written before and after EXEC: the number of instructions that must not read them together.
    pairs: BTreeMap<(Cell, Cell), u8>,
}

impl Forwarding {
    pub fn join(&mut self, other: &Forwarding) -> bool {
        let before = (self.written.clone(), self.pairs.clone());
        for (cell, (left, is_before)) in &other.written {
            let mine = self.written.entry(*cell).or_default();
            *mine = (mine.0.max(*left), mine.1 || *is_before);
        }
        for (pair, left) in &other.pairs {
            let mine = self.pairs.entry(*pair).or_default();
            *mine = (*mine).max(*left);
        }
        before.0 != self.written || before.1 != self.pairs
    }

    /// Returns true if an instruction reads two registers too soon. As in LLVM, DPP counts as reading the old value of
    /// its result, even if no lane keeps it.
    pub fn endangers(&self, view: &View) -> bool {
        let old = if view.traits.contains(Traits::DPP) { &view.writes[..] } else { &[] };
        let reads = |cell: &Cell| view.reads.iter().chain(old).any(|access| access.cell == *cell);
        view.traits.contains(Traits::VALU) && self.pairs.keys().any(|(first, second)| reads(first) && reads(second))
    }

    /// Lets an instruction run.
    pub fn pass(&mut self, view: &View) {
        if view.traits.intersects(FLUSHES) {
            *self = Forwarding::default();
        } else if view.traits.contains(Traits::SALU_TO_EXEC) {
            self.written.values_mut().for_each(|(_, is_before)| *is_before = true);
        } else if view.traits.contains(Traits::VALU) {
            self.pass_vector(view);
        }
    }

    fn pass_vector(&mut self, view: &View) {
        self.pairs.retain(|_, left| age(left));
        for cell in vectors(&view.writes) {
            self.pairs.retain(|(first, second), _| *first != cell && *second != cell);
            let before = self.written.iter().filter(|(first, (_, is_before))| *is_before && **first != cell);
            self.pairs.extend(before.map(|(first, _)| ((*first, cell), TO_READ)));
        }
        self.written.retain(|_, (left, _)| age(left));
        self.written.extend(vectors(&view.writes).map(|cell| (cell, (TO_SECOND, false))));
    }
}

fn age(left: &mut u8) -> bool {
    *left = left.saturating_sub(1);
    *left > 0
}

fn vectors(accesses: &[Access]) -> impl Iterator<Item = Cell> + '_ {
    accesses.iter().map(|access| access.cell).filter(|cell| cell.kind() == Kinds::VECTOR)
}
