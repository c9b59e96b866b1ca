//! Instructions that run earlier in place of wait states.
//!
//! An instruction of the same block may come forward if it touches no memory and none of the instructions that it passes
//! writes what it reads, or reads or writes what it writes. EXEC, VCC and the condition code are registers like others, so
//! it passes neither the switching of lanes nor what depends on them.

use crate::target::amd::view::{Access, Cell, Traits, View};
use std::collections::BTreeSet;

/// Instructions that are looked at.
const WINDOW: usize = 24;

/// The first of the instructions behind the next one that may run before it, and `fits` there.
pub fn earlier(next: &[View], fits: impl Fn(&View) -> bool) -> Option<usize> {
    let mut passed = Passed::default();
    for (n, view) in next.iter().enumerate().take(WINDOW) {
        if n > 0 && is_movable(view) && passed.lets_by(view) && fits(view) {
            return Some(n);
        }
        if is_fence(view) {
            return None;
        }
        passed.add(view);
    }
    None
}

/// What waits or branches, and what has no unit, is passed by nothing.
fn is_fence(view: &View) -> bool {
    let units = Traits::VALU | Traits::SALU | Traits::SMEM | Traits::LOAD | Traits::STORE | Traits::LDS;
    !view.traits.intersects(units)
}

fn is_movable(view: &View) -> bool {
    view.traits.intersects(Traits::VALU | Traits::SALU) && !view.traits.contains(Traits::IDLE)
}

/// What the instructions that are passed read and write.
#[derive(Default)]
struct Passed {
    reads: BTreeSet<Cell>,
    writes: BTreeSet<Cell>,
}

impl Passed {
    fn add(&mut self, view: &View) {
        self.reads.extend(view.reads.iter().map(|access| access.cell));
        self.writes.extend(view.writes.iter().map(|access| access.cell));
    }

    fn lets_by(&self, view: &View) -> bool {
        let is_written = |access: &Access| self.writes.contains(&access.cell);
        let is_read = |access: &Access| self.reads.contains(&access.cell);
        !view.reads.iter().any(is_written) && !view.writes.iter().any(|access| is_written(access) || is_read(access))
    }
}
