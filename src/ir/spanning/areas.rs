//! The areas of workgroup memory that exchanges use, and the barriers before them.
//!
//! An exchange writes an area, waits, and reads. The next exchange may write the other area at once, because every
//! invocation has waited since that area was read. It may write the same area only after another barrier.

use super::Wide;
use crate::ir::calls::callees_first;
use crate::ir::{BlockId, Case, FuncId, Function, InstId, Module, Op};
use rustc_hash::FxHashMap;

/// The areas that some invocation may still be reading, two bits for each rung.
type Busy = u8;

const NONE: Busy = 0;
const BOTH: Busy = 3;

/// The same areas on each of the rungs.
fn on_all(rungs: usize, busy: Busy) -> Busy {
    (0..rungs).fold(NONE, |all, rung| all | busy << (2 * rung))
}

/// The areas that are busy on some rung.
fn on_any(busy: Busy) -> Busy {
    (busy | busy >> 2 | busy >> 4) & BOTH
}

/// Deepest nesting of loops at which saving a barrier is tried: each attempt walks the inner loops again.
const TRIED_LOOPS: usize = 3;

/// The choice for one operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The area of its first exchange: 0 or 1.
    pub area: u8,
    /// True if a barrier must come first.
    pub waits: bool,
}

/// The choices for all operations that exchange values.
pub fn choose(module: &Module, wide: &Wide) -> FxHashMap<(FuncId, InstId), Choice> {
    let mut choices = FxHashMap::default();
    let mut exits: FxHashMap<FuncId, Busy> = FxHashMap::default();
    let entries = || module.entry_points.iter().map(|entry| entry.function);
    for id in callees_first(module, entries()) {
        let f = &module.functions[id];
        // A function may be called while both areas are being read.
        let start = if entries().any(|entry| entry == id) { NONE } else { on_all(wide.rungs.len(), BOTH) };
        let mut walk = Walk { f, id, wide, exits: &exits, choices: &mut choices, around: Vec::new(), exit: None };
        let end = walk.block(f.body, Some(start));
        let exit = join(end, walk.exit);
        if uses_memory(f, id, wide, &exits) {
            exits.insert(id, exit.unwrap_or(NONE));
        }
    }
    choices
}

/// Returns true if a function waits for the workgroup or exchanges values.
fn uses_memory(f: &Function, id: FuncId, wide: &Wide, exits: &FxHashMap<FuncId, Busy>) -> bool {
    f.insts.iter().any(|(inst, of)| match of.op {
        Op::Lane(..) => wide.site(id, inst).is_some_and(|site| site.exchanging().next().is_some()),
        Op::Call(callee, _) => exits.contains_key(&callee),
        op => op.waits_for_workgroup(),
    })
}

/// The state after either of two paths; `None` if no path leads here.
fn join(a: Option<Busy>, b: Option<Busy>) -> Option<Busy> {
    a.zip(b).map(|(a, b)| a | b).or(a).or(b)
}

/// The paths that leave a loop or a switch early.
#[derive(Default)]
struct Around {
    breaks: Option<Busy>,
    continues: Option<Busy>,
    is_loop: bool,
}

struct Walk<'a> {
    f: &'a Function,
    id: FuncId,
    wide: &'a Wide<'a>,
    /// The states after the functions that use workgroup memory.
    exits: &'a FxHashMap<FuncId, Busy>,
    choices: &'a mut FxHashMap<(FuncId, InstId), Choice>,
    around: Vec<Around>,
    /// The state at the returns so far.
    exit: Option<Busy>,
}

impl Walk<'_> {
    fn block(&mut self, block: BlockId, mut at: Option<Busy>) -> Option<Busy> {
        let f = self.f;
        for inst in &f.blocks[block].insts {
            let Some(busy) = at else { break };
            at = self.instruction(*inst, f.insts[*inst].op, busy);
        }
        at
    }

    fn instruction(&mut self, inst: InstId, op: Op, busy: Busy) -> Option<Busy> {
        match op {
            Op::Lane(..) => Some(self.operation(inst, busy)),
            Op::Call(callee, _) => Some(self.exits.get(&callee).copied().unwrap_or(busy)),
            op if op.waits_for_workgroup() => Some(NONE),
            Op::If { then, otherwise, .. } => {
                let (then, otherwise) = (self.block(then, Some(busy)), self.block(otherwise, Some(busy)));
                join(then, otherwise)
            }
            Op::Switch { cases, .. } => self.arms(self.f.arms(cases), busy),
            Op::Loop { body, continuing, break_if, .. } => self.turns(body, continuing, break_if.is_some(), busy),
            Op::Break => self.leave(busy, |around| Some(&mut around.breaks)),
            Op::Continue => self.leave(busy, |around| around.is_loop.then_some(&mut around.continues)),
            Op::Return(_) | Op::End(..) | Op::Discard => {
                self.exit = join(self.exit, Some(busy));
                None
            }
            Op::Unreachable => None,
            _ => Some(busy),
        }
    }

    fn operation(&mut self, inst: InstId, busy: Busy) -> Busy {
        let rungs = self.wide.rungs.len();
        let barriers: Vec<usize> = (0..rungs).map(|rung| self.wide.barriers(self.id, inst, rung)).collect();
        if barriers.iter().all(|barriers| *barriers == 0) {
            return busy;
        }
        let (area, busy) = match on_any(busy) {
            BOTH => (0, None),
            any => (any & 1, Some(busy)),
        };
        self.choices.insert((self.id, inst), Choice { area, waits: busy.is_none() });
        let after = |all: Busy, (rung, barriers): (usize, usize)| match barriers {
            0 => all,
            _ => all & !(BOTH << (2 * rung)) | 1 << (2 * rung + (usize::from(area) + barriers - 1) % 2),
        };
        barriers.into_iter().enumerate().fold(busy.unwrap_or(NONE), after)
    }

    fn leave(&mut self, busy: Busy, exit: impl Fn(&mut Around) -> Option<&mut Option<Busy>>) -> Option<Busy> {
        if let Some(exit) = self.around.iter_mut().rev().find_map(exit) {
            *exit = join(*exit, Some(busy));
        }
        None
    }

    fn arms(&mut self, arms: &[Case], busy: Busy) -> Option<Busy> {
        self.around.push(Around::default());
        let mut fallen = None;
        let mut after = (!arms.iter().any(|arm| arm.default)).then_some(busy);
        for arm in arms {
            let end = self.block(arm.body, join(Some(busy), fallen));
            fallen = end.filter(|_| arm.falls_through);
            after = join(after, end.filter(|_| !arm.falls_through));
        }
        let breaks = self.around.pop().and_then(|around| around.breaks);
        join(join(after, fallen), breaks)
    }

    fn turns(&mut self, body: BlockId, continuing: BlockId, ends: bool, busy: Busy) -> Option<Busy> {
        // If the next iteration does not begin in the area that this one ends in, the loop needs no additional barrier.
        let rungs = self.wide.rungs.len();
        let hoped = if busy == NONE { on_all(rungs, 2) } else { busy };
        let is_tried = self.around.iter().filter(|around| around.is_loop).count() < TRIED_LOOPS;
        if is_tried {
            let (back, exit) = self.turn(body, continuing, ends, hoped);
            if back.is_none_or(|back| back & !hoped == 0) {
                return exit;
            }
        }
        self.turn(body, continuing, ends, on_all(rungs, BOTH)).1
    }

    /// The states before the next turn and after the loop.
    fn turn(&mut self, body: BlockId, continuing: BlockId, ends: bool, busy: Busy) -> (Option<Busy>, Option<Busy>) {
        self.around.push(Around { is_loop: true, ..Around::default() });
        let end = self.block(body, Some(busy));
        let continues = self.around.last_mut().and_then(|around| around.continues.take());
        let back = join(end, continues);
        let back = back.and_then(|back| self.block(continuing, Some(back)));
        let breaks = self.around.pop().and_then(|around| around.breaks);
        (back, join(breaks, back.filter(|_| ends)))
    }
}
