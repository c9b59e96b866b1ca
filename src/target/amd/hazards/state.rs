//! What is pending at a place in the program: instructions that others must not follow too soon.

use super::rows::{Clock, Cure, Event, Fix, Row, Touch};
use crate::target::amd::view::{Access, Cell, Kinds, Roles, Traits, View};
use std::collections::BTreeMap;

/// A rule whose first instruction has run, and its register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    row: u8,
    /// The middle instruction has run too, or there is none.
    is_armed: bool,
    cell: Cell,
}

/// All that is pending, and how much longer by its rule's clock.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    pending: BTreeMap<Key, u8>,
}

/// What an instruction needs before it.
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

impl State {
    /// Adds what is pending on another way to the same place; tells whether that is more.
    pub fn join(&mut self, other: &State) -> bool {
        let mut is_more = false;
        for (key, left) in &other.pending {
            let mine = self.pending.entry(*key).or_insert(0);
            is_more |= *left > *mine;
            *mine = (*mine).max(*left);
        }
        is_more
    }

    /// What must stand before an instruction that is next, but for what has been put there.
    pub fn need(&self, rows: &[Row], view: &View, there: &[Fix]) -> Need {
        let mut need = Need::default();
        for (key, left) in self.pending.iter().filter(|(key, _)| key.is_armed) {
            let row = &rows[usize::from(key.row)];
            if !(is_event(&row.last, view)
                && touches(&row.last, row, view, key.cell)
                && self.has_partner(row, key, view))
            {
                continue;
            }
            match row.cure {
                Cure::States => need.states = need.states.max(*left),
                Cure::Before(fix) if there.contains(&fix) => {}
                Cure::Before(fix) => need.fix = need.fix.or(Some(fix)),
            }
        }
        need
    }

    fn has_partner(&self, row: &Row, key: &Key, view: &View) -> bool {
        let others = || view.reads.iter().filter(|access| access.cell != key.cell);
        let partner = |cell| Key { row: key.row + 1, is_armed: true, cell };
        !row.with_next || others().any(|access| self.pending.contains_key(&partner(access.cell)))
    }

    /// Lets an instruction run.
    pub fn pass(&mut self, rows: &[Row], view: &View) {
        self.pending.retain(|key, left| {
            let row = &rows[usize::from(key.row)];
            let ends = row.ends[usize::from(key.is_armed && row.middle.is_some())];
            let by_others = row.ended_by_other_scalars && !key.is_armed && reads_other_scalars(view, key.cell);
            if ends.intersects(view.traits) || by_others {
                return false;
            }
            let counts = key.is_armed || row.window > 0;
            *left = left.saturating_sub(if counts { ticks(row, view, key.cell) } else { 0 });
            *left > 0
        });
        for (n, row) in (0..).zip(rows) {
            // One instruction may read and write a register.
            self.begin(n, row, view);
            self.arm(n, row, view);
        }
    }

    /// Middle instructions.
    fn arm(&mut self, n: u8, row: &Row, view: &View) {
        let Some(middle) = row.middle.filter(|middle| is_event(middle, view)) else { return };
        let first = Key { row: n, is_armed: false, cell: Cell::FIRST };
        let armed: Vec<Key> = self
            .pending
            .range(first..)
            .map(|(key, _)| *key)
            .take_while(|key| key.row == n && !key.is_armed)
            .filter(|key| touches(&middle, row, view, key.cell))
            .collect();
        self.pending.extend(armed.into_iter().map(|key| (Key { is_armed: true, ..key }, row.reach)));
    }

    /// First instructions.
    fn begin(&mut self, n: u8, row: &Row, view: &View) {
        if !is_event(&row.first, view) {
            return;
        }
        let (is_armed, left) = match row.middle {
            None => (true, row.reach),
            Some(_) => (false, row.window.max(1)),
        };
        let mut add = |cell| {
            self.pending.remove(&Key { row: n, is_armed: true, cell });
            self.pending.insert(Key { row: n, is_armed, cell }, left);
        };
        match row.first.touch {
            Touch::Nothing => add(Cell::NONE),
            Touch::Reads(kinds, roles) => touched(&view.reads, kinds, roles, row).for_each(add),
            Touch::Writes(kinds, roles) => touched(&view.writes, kinds, roles, row).for_each(add),
        }
    }
}

fn is_event(event: &Event, view: &View) -> bool {
    let is_one = event.traits.is_empty() || event.traits.intersects(view.traits);
    is_one && !event.without.intersects(view.traits)
}

/// Whether an event has to do with a register that a rule has pending.
fn touches(event: &Event, row: &Row, view: &View, cell: Cell) -> bool {
    match event.touch {
        Touch::Nothing => true,
        Touch::Reads(kinds, roles) => touched(&view.reads, kinds, roles, row).any(|found| found == cell),
        Touch::Writes(kinds, roles) => touched(&view.writes, kinds, roles, row).any(|found| found == cell),
    }
}

/// The registers of some accesses, as a rule counts them.
fn touched<'v>(accesses: &'v [Access], kinds: Kinds, roles: Roles, row: &Row) -> impl Iterator<Item = Cell> + use<'v> {
    let in_pairs = row.in_pairs;
    let fits = move |access: &&Access| {
        kinds.intersects(access.cell.kind()) && (roles.is_empty() || roles.intersects(access.roles))
    };
    accesses.iter().filter(fits).map(move |access| if in_pairs { access.cell.pair() } else { access.cell })
}

/// Whether a vector instruction reads a scalar register but this one, or a literal.
fn reads_other_scalars(view: &View, cell: Cell) -> bool {
    let scalars = Kinds::SCALAR.union(Kinds::VCC);
    let reads_it = view.reads.iter().any(|access| access.cell == cell);
    let others = view.reads.iter().any(|access| access.cell != cell && scalars.intersects(access.cell.kind()));
    view.traits.contains(Traits::VALU_OF_SCALAR) && !reads_it && (others || !reads_any(view, scalars))
}

fn reads_any(view: &View, kinds: Kinds) -> bool {
    view.reads.iter().any(|access| kinds.intersects(access.cell.kind()))
}

/// How far an instruction moves a rule's clock.
fn ticks(row: &Row, view: &View, cell: Cell) -> u8 {
    let reads_it = || view.reads.iter().any(|access| access.cell == cell || row.in_pairs && access.cell.pair() == cell);
    match row.clock {
        Clock::States => view.states,
        Clock::Vector => u8::from(view.traits.contains(Traits::VALU)),
        Clock::Scalar => u8::from(view.traits.contains(Traits::SALU) && !reads_it()),
        Clock::None => 0,
    }
}
