//! The pending events at a point of the program: instructions that others must not follow too soon.

use super::clause::Clauses;
use super::forwarding::Forwarding;
use super::rows::{self, Clock, Cure, Event, Fix, Hazard, Table, Touch};
use crate::backend::amd::pending::Pending;
use crate::backend::amd::view::{Access, Cell, Kinds, Roles, Traits, View};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A rule whose first instruction has run, and its register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    hazard: u8,
    /// The middle instruction has run too, or there is none.
    is_armed: bool,
    cell: Cell,
}

/// Everything pending, and its remaining time by its rule's clock.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    pending: BTreeMap<Key, u8>,
    forwarding: Forwarding,
    clauses: Clauses,
}

/// The requirements of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Need {
    pub states: u8,
    pub fix: Option<Fix>,
}

impl Need {
    pub const fn is_none(&self) -> bool {
        self.states == 0 && self.fix.is_none()
    }
}

impl Pending for State {
    fn join(&mut self, other: &State) -> bool {
        let mut is_more = false;
        for (key, left) in &other.pending {
            let mine = self.pending.entry(*key).or_insert(0);
            is_more |= *left > *mine;
            *mine = (*mine).max(*left);
        }
        is_more |= self.forwarding.join(&other.forwarding);
        is_more |= self.clauses.join(&other.clauses);
        is_more
    }
}

impl State {
    /// The fixes that must precede the next instruction, except those already there.
    pub fn need(&self, table: &Table, view: &View, there: &[Fix]) -> Need {
        let mut need = Need { states: u8::from(self.clauses.endangers(view)), fix: None };
        let mut add = |fix| need.fix = need.fix.or((!there.contains(&fix)).then_some(fix));
        if self.forwarding.endangers(view) {
            add(rows::PARTIAL_FORWARDING);
        }
        for (key, left) in self.pending.iter().filter(|(key, _)| key.is_armed) {
            let hazard = &table.rows[usize::from(key.hazard)];
            if !(is_event(&hazard.last, view) && touches(&hazard.last, view, key.cell)) {
                continue;
            }
            match hazard.cure {
                Cure::States => need.states = need.states.max(*left),
                Cure::Before(fix) => add(fix),
            }
        }
        need
    }

    /// Lets an instruction run.
    pub fn pass(&mut self, table: &Table, view: &View) {
        if table.forwards_partially {
            self.forwarding.pass(view);
        }
        self.clauses.pass(table.replays, view);
        let rows = table.rows;
        self.end(rows, view);
        for (n, hazard) in (0..).zip(rows) {
            // One instruction may read and write a register.
            self.begin(n, hazard, view);
            self.arm(n, hazard, view);
        }
    }

    /// Removes the events that an instruction ends.
    fn end(&mut self, rows: &[Hazard], view: &View) {
        self.pending.retain(|key, left| {
            let hazard = &rows[usize::from(key.hazard)];
            if hazard.ends[usize::from(key.is_armed && hazard.middle.is_some())].intersects(view.traits) {
                return false;
            }
            *left = left.saturating_sub(if key.is_armed { ticks(hazard, view) } else { 0 });
            *left > 0
        });
    }

    /// Middle instructions.
    fn arm(&mut self, n: u8, hazard: &Hazard, view: &View) {
        let Some(middle) = hazard.middle.filter(|middle| is_event(middle, view)) else { return };
        let waiting = |cell| Key { hazard: n, is_armed: false, cell };
        let armed: SmallVec<[Cell; 8]> = match middle.touch {
            Touch::Nothing => {
                let from_first = self.pending.range(waiting(Cell::FIRST)..=waiting(Cell::NONE));
                from_first.map(|(key, _)| key.cell).collect()
            }
            Touch::Reads(kinds, roles) => touched(&view.reads, kinds, roles).collect(),
            Touch::Writes(kinds, roles) => touched(&view.writes, kinds, roles).collect(),
        };
        for cell in armed {
            let first = waiting(hazard.first_cell(cell));
            if self.pending.contains_key(&first) {
                self.pending.insert(Key { hazard: n, is_armed: true, cell }, hazard.reach);
            }
            if hazard.arms_once {
                self.pending.remove(&first);
            }
        }
    }

    /// First instructions.
    fn begin(&mut self, n: u8, hazard: &Hazard, view: &View) {
        if !is_event(&hazard.first, view) {
            return;
        }
        let (is_armed, left) = match hazard.middle {
            None => (true, hazard.reach),
            Some(_) => (false, 1),
        };
        let add = |cell| {
            // A pending count starts over.
            self.pending.remove(&Key { hazard: n, is_armed: true, cell });
            self.pending.insert(Key { hazard: n, is_armed, cell: hazard.first_cell(cell) }, left);
        };
        match hazard.first.touch {
            Touch::Nothing => [Cell::NONE].into_iter().for_each(add),
            Touch::Reads(kinds, roles) => touched(&view.reads, kinds, roles).for_each(add),
            Touch::Writes(kinds, roles) => touched(&view.writes, kinds, roles).for_each(add),
        }
    }
}

impl Hazard {
    /// The register under which the first instruction for a cell is recorded.
    fn first_cell(&self, cell: Cell) -> Cell {
        if self.in_pairs { cell.pair() } else { cell }
    }
}

fn is_event(event: &Event, view: &View) -> bool {
    let is_one = event.traits.is_empty() || event.traits.intersects(view.traits);
    is_one && !event.without.intersects(view.traits)
}

/// Returns true if an event involves a register that a rule has pending.
fn touches(event: &Event, view: &View, cell: Cell) -> bool {
    match event.touch {
        Touch::Nothing => true,
        Touch::Reads(kinds, roles) => touched(&view.reads, kinds, roles).any(|found| found == cell),
        Touch::Writes(kinds, roles) => touched(&view.writes, kinds, roles).any(|found| found == cell),
    }
}

/// The registers of accesses of some kinds and purposes.
fn touched(accesses: &[Access], kinds: Kinds, roles: Roles) -> impl Iterator<Item = Cell> + '_ {
    let fits = move |access: &&Access| {
        kinds.intersects(access.cell.kind()) && (roles.is_empty() || roles.intersects(access.roles))
    };
    accesses.iter().filter(fits).map(|access| access.cell)
}

/// The number of ticks by which an instruction advances a rule's clock.
fn ticks(hazard: &Hazard, view: &View) -> u8 {
    match hazard.clock {
        Clock::States => view.states,
        Clock::Vector => u8::from(view.traits.contains(Traits::VALU)),
        Clock::None => 0,
    }
}
