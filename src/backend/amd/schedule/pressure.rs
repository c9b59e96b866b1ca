//! The register pressure of a region in a given order.
//!
//! A value is a part of a register from one killing write to the next. The value occupies a register from its first
//! write, or from the start of the region, to its last access, or to the end of the region if it is needed after it.

use crate::backend::amd::live::Live;
use crate::backend::amd::machine::Slice;

/// How an instruction touches a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Read,
    /// It writes some lanes of it.
    Keep,
    Write,
    /// The value starts, and occupies nothing yet.
    Declare,
}

#[derive(Clone, Copy, Debug)]
struct Value {
    part: Slice,
    is_vector: bool,
    /// The remaining accesses.
    left: u32,
    is_alive: bool,
    is_needed_after: bool,
}

/// The index that means no value.
const NONE: u32 = u32::MAX;

/// Vector and scalar registers.
pub type Counts = [i32; 2];

/// The values of a stretch.
#[derive(Debug)]
pub struct Lives {
    values: Vec<Value>,
    /// The first access of each instruction.
    firsts: Vec<u32>,
    accesses: Vec<(u32, Mode)>,
    /// Registers occupied at the start.
    base: Counts,
    /// Places of the start and the end in the numbers of [`Live`].
    start: u32,
}

impl Lives {
    /// An empty region that starts at an instruction with this number, with this many registers occupied.
    pub fn new(start: u32, base: Counts) -> Lives {
        Lives { values: Vec::new(), firsts: vec![0], accesses: Vec::new(), base, start }
    }

    /// The index of a value from before the region; whether it is live is known at the end.
    pub fn live_before(&mut self, part: Slice, is_vector: bool) -> u32 {
        self.values.push(Value { part, is_vector, left: 0, is_alive: true, is_needed_after: true });
        self.values.len() as u32 - 1
    }

    /// The index of a value that replaces another one.
    pub fn begun(&mut self, part: Slice, is_vector: bool, before: u32) -> u32 {
        if before != NONE {
            self.values[before as usize].is_needed_after = false;
        }
        self.values.push(Value { part, is_vector, left: 0, is_alive: false, is_needed_after: true });
        self.values.len() as u32 - 1
    }

    /// Records that the next instruction accesses a value; repeated calls count once.
    pub fn access(&mut self, value: u32, mode: Mode) {
        let first = self.firsts[self.firsts.len() - 1] as usize;
        match self.accesses[first..].iter_mut().find(|(known, _)| *known == value) {
            Some((_, known)) if *known == Mode::Read => *known = mode,
            Some(_) => {}
            None => {
                self.accesses.push((value, mode));
                self.values[value as usize].left += u32::from(matches!(mode, Mode::Read | Mode::Keep));
            }
        }
    }

    pub fn end_of_inst(&mut self) {
        self.firsts.push(self.accesses.len() as u32);
    }

    /// Determines which values are live at the start and at the end, once the region is complete.
    pub fn complete(&mut self, live: &Live) {
        let count = self.firsts.len() as u32 - 1;
        let (start, end) = (2 * self.start, 2 * (self.start + count - 1) + 1);
        for value in &mut self.values {
            let ranges = &live.parts(value.part)[0];
            let holds = |from: u32, to: u32| {
                let next = ranges.partition_point(|range| range.to < to);
                ranges.get(next).is_some_and(|range| range.from <= from)
            };
            value.is_alive = value.is_alive && holds(start - 1, start);
            value.is_needed_after = value.is_needed_after && holds(end, end + 1);
        }
    }

    fn accesses(&self, n: u32) -> &[(u32, Mode)] {
        &self.accesses[self.firsts[n as usize] as usize..self.firsts[n as usize + 1] as usize]
    }

    /// The registers before the first instruction.
    pub fn level(&self) -> Level<'_> {
        Level { lives: self, values: self.values.clone(), now: self.base, peak: self.base }
    }

    /// The maximum number of registers occupied at once in an order.
    pub fn peak(&self, order: impl Iterator<Item = u32>) -> Counts {
        let mut level = self.level();
        order.for_each(|n| level.pass(n));
        level.peak
    }
}

/// The registers occupied while instructions pass one by one.
pub struct Level<'l> {
    lives: &'l Lives,
    values: Vec<Value>,
    pub now: Counts,
    peak: Counts,
}

impl Level<'_> {
    /// The change in pressure by an instruction.
    pub fn change(&self, n: u32) -> Counts {
        let mut change = [0; 2];
        for (value, mode) in self.lives.accesses(n) {
            let value = &self.values[*value as usize];
            let left = value.left - u32::from(matches!(mode, Mode::Read | Mode::Keep));
            let stays = left > 0 || value.is_needed_after;
            let is_written = matches!(mode, Mode::Write | Mode::Keep);
            change[usize::from(!value.is_vector)] += match (value.is_alive, stays) {
                (true, false) => -1,
                (false, true) if is_written => 1,
                _ => 0,
            };
        }
        change
    }

    /// Lets an instruction pass.
    pub fn pass(&mut self, n: u32) {
        let change = self.change(n);
        let mut dropped = [0; 2];
        for (value, mode) in self.lives.accesses(n) {
            let value = &mut self.values[*value as usize];
            value.left -= u32::from(matches!(mode, Mode::Read | Mode::Keep));
            let stays = value.left > 0 || value.is_needed_after;
            let is_written = matches!(mode, Mode::Write | Mode::Keep);
            dropped[usize::from(!value.is_vector)] += i32::from(is_written && !value.is_alive && !stays);
            value.is_alive = stays && (value.is_alive || is_written);
        }
        for file in 0..2 {
            self.now[file] += change[file];
            self.peak[file] = self.peak[file].max(self.now[file] + dropped[file]);
        }
    }
}
