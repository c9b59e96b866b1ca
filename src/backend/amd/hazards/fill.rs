//! Instructions that move forward to fill wait states, after register allocation.
//!
//! Instructions that access memory stay. EXEC, VCC and the condition code are registers like others, so an instruction
//! does not pass a change of EXEC that it depends on.

use crate::backend::amd::forward::Step;
use crate::backend::amd::view::{Access, Cell, Traits, View};
use std::collections::BTreeSet;

/// Number of instructions to examine.
pub const WINDOW: usize = 24;

/// The reads and writes of the instructions in between.
#[derive(Default)]
pub struct Passed {
    reads: BTreeSet<Cell>,
    writes: BTreeSet<Cell>,
}

impl Step for View {
    type Passed = Passed;

    fn is_movable(&self) -> bool {
        self.traits.intersects(Traits::VALU | Traits::SALU) && !self.traits.contains(Traits::IDLE)
    }

    /// Returns true if nothing moves across it: it waits, branches, or has no unit.
    fn is_fence(&self) -> bool {
        let units = Traits::VALU | Traits::SALU | Traits::SMEM | Traits::LOAD | Traits::STORE | Traits::LDS;
        !self.traits.intersects(units)
    }

    fn pass(&self, passed: &mut Passed) {
        passed.reads.extend(self.reads.iter().map(|access| access.cell));
        passed.writes.extend(self.writes.iter().map(|access| access.cell));
    }

    fn is_free_of(&self, passed: &Passed) -> bool {
        let is_written = |access: &Access| passed.writes.contains(&access.cell);
        let is_read = |access: &Access| passed.reads.contains(&access.cell);
        !self.reads.iter().any(is_written) && !self.writes.iter().any(|access| is_written(access) || is_read(access))
    }
}
