//! Consecutive memory accesses. With XNACK they run again together after a page fault, so none of them may overwrite an
//! operand of any, and no store may follow a load (LLVM: `checkSoftClauseHazards`).

use crate::backend::amd::view::{Access, Cell, Roles, Traits, View};
use std::collections::BTreeSet;

/// The reads and writes of the last accesses: vector accesses, and scalar loads. At most one of the two is not empty,
/// except where paths meet.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Clauses([Clause; 2]);

#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Clause {
    reads: BTreeSet<Cell>,
    writes: BTreeSet<Cell>,
}

const KINDS: [Traits; 2] = [Traits::LOAD.union(Traits::STORE), Traits::SMEM];

impl Clauses {
    pub fn join(&mut self, other: &Clauses) -> bool {
        let before = self.clone();
        for (mine, other) in self.0.iter_mut().zip(&other.0) {
            mine.reads.extend(&other.reads);
            mine.writes.extend(&other.writes);
        }
        before != *self
    }

    /// Returns true if an access must not follow directly.
    pub fn endangers(&self, view: &View) -> bool {
        let own = self.0.iter().zip(KINDS).filter(|(_, kind)| kind.intersects(view.traits));
        own.into_iter().any(|(clause, _)| !clause.writes.is_empty() && (stores(view) || clause.with(view).is_torn()))
    }

    /// Lets an instruction run; only accesses with some of the traits run again.
    pub fn pass(&mut self, replays: Traits, view: &View) {
        for (clause, kind) in self.0.iter_mut().zip(KINDS) {
            *clause = if (kind & replays).intersects(view.traits) { clause.with(view) } else { Clause::default() };
        }
    }
}

impl Clause {
    fn with(&self, view: &View) -> Clause {
        let and = |cells: &BTreeSet<Cell>, more: &[Access]| {
            cells.iter().copied().chain(more.iter().map(|access| access.cell)).collect()
        };
        Clause { reads: and(&self.reads, &view.reads), writes: and(&self.writes, &view.writes) }
    }

    /// Returns true if running it again would read other values.
    fn is_torn(&self) -> bool {
        !self.reads.is_disjoint(&self.writes)
    }
}

/// Returns true if an access writes memory.
fn stores(view: &View) -> bool {
    view.reads.iter().any(|access| access.roles.contains(Roles::DATA))
}
