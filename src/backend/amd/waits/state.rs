//! The pending events at a point of the program.

use super::table::{COUNTERS, Event, Table};
use crate::backend::amd::machine::Reach;
use crate::backend::amd::pending::Pending;
use crate::backend::amd::view::Cell;
use std::collections::BTreeMap;

/// The values that counters must have dropped to; `None` if it does not matter.
pub type Waits = [Option<u8>; COUNTERS];

/// The pending events. An age is the number of later events on the same counter: when the counter has dropped to it,
/// the event has completed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    /// Registers that an event of a kind will write, or still has to read.
    cells: BTreeMap<(Event, Cell), u8>,
    /// The youngest event of each kind.
    youngest: [Option<u8>; Event::ALL.len()],
    /// The scope of the fences since the last barrier that make other waves' stores visible.
    pub acquired: Option<Reach>,
}

impl Pending for State {
    fn join(&mut self, other: &State) -> bool {
        let mut is_more = false;
        for (key, age) in &other.cells {
            let mine = self.cells.entry(*key).or_insert_with(|| {
                is_more = true;
                *age
            });
            is_more |= *age < *mine;
            *mine = (*mine).min(*age);
        }
        for (mine, age) in self.youngest.iter_mut().zip(other.youngest) {
            let both = match (*mine, age) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            is_more |= *mine != both;
            *mine = both;
        }
        is_more |= other.acquired > self.acquired;
        self.acquired = self.acquired.max(other.acquired);
        is_more
    }
}

impl State {
    /// Records the waits before an instruction that writes a register, which follows the events of one kind in any
    /// case.
    pub fn before_write(&self, table: &Table, cell: Cell, after: Option<Event>, waits: &mut Waits) {
        for event in Event::ALL.into_iter().filter(|event| Some(*event) != after) {
            if let (Some(counter), Some(age)) = (table.counter(event), self.cells.get(&(event, cell))) {
                self.demand(table, counter, *age, waits);
            }
        }
    }

    /// Records the waits before an instruction that reads a register; pending reads of it do not matter.
    pub fn before_read(&self, table: &Table, cell: Cell, waits: &mut Waits) {
        self.before_write(table, cell, Some(Event::StoreData), waits);
    }

    /// Records the waits before an instruction that needs all events of a kind completed.
    pub fn before_fence(&self, table: &Table, event: Event, waits: &mut Waits) {
        if let (Some(counter), Some(age)) = (table.counter(event), self.youngest[event as usize]) {
            self.demand(table, counter, age, waits);
        }
    }

    /// Waiting for an age is useful only while the counter's events complete in order.
    fn demand(&self, table: &Table, counter: usize, age: u8, waits: &mut Waits) {
        let down_to = if self.is_ordered(table, counter) { age } else { 0 };
        waits[counter] = Some(waits[counter].map_or(down_to, |other| other.min(down_to)));
    }

    fn is_ordered(&self, table: &Table, counter: usize) -> bool {
        let under_way = Event::ALL
            .into_iter()
            .filter(|event| table.counter(*event) == Some(counter) && self.youngest[*event as usize].is_some());
        let mut class = None;
        for event in under_way {
            match (event.class(), class) {
                (None, _) => return false,
                (Some(new), Some(old)) if new != old => return false,
                (new, _) => class = new,
            }
        }
        true
    }

    /// Lowers counters.
    pub fn wait(&mut self, table: &Table, waits: &Waits) {
        for (counter, down_to) in waits.iter().enumerate() {
            let Some(down_to) = *down_to else { continue };
            self.cells.retain(|(of, _), age| table.counter(*of) != Some(counter) || *age < down_to);
            for event in Event::ALL.into_iter().filter(|event| table.counter(*event) == Some(counter)) {
                let youngest = &mut self.youngest[event as usize];
                *youngest = youngest.filter(|age| *age < down_to);
            }
        }
    }

    /// Adds an event with the registers that it will write or read.
    pub fn begin(&mut self, table: &Table, event: Event, cells: impl Iterator<Item = Cell>) {
        let Some(counter) = table.counter(event) else { return };
        // The counter saturates there, so more events are never pending.
        let oldest = table.counters[counter].max - 1;
        let older = |age: &mut u8| *age = (*age + 1).min(oldest);
        let counted = self.cells.iter_mut().filter(|((of, _), _)| table.counter(*of) == Some(counter));
        counted.for_each(|(_, age)| older(age));
        for other in Event::ALL.into_iter().filter(|other| table.counter(*other) == Some(counter)) {
            self.youngest[other as usize].iter_mut().for_each(older);
        }
        self.youngest[event as usize] = Some(0);
        self.cells.extend(cells.map(|cell| ((event, cell), 0)));
    }
}
