//! Places for webs: a linear scan in the order in which they become live.
//!
//! Each web goes to the lowest row of hardware registers that is free in its live ranges, which may use holes in other
//! webs' ranges. If there is none, the web with the fewest uses for its length is spilled to memory.

use super::limits::Limits;
use super::webs::{Web, Webs};
use crate::backend::amd::machine::File;
use crate::backend::range::Range;
use crate::limits;
use std::collections::{BTreeMap, BTreeSet};

/// The places of webs, or the webs that must be spilled.
#[derive(Debug)]
pub struct Placement {
    /// The first hardware register of each web with a place.
    pub firsts: Vec<Option<u16>>,
    /// Webs without a place, in ascending order.
    pub evicted: BTreeSet<usize>,
}

/// No register is free for a value that cannot be spilled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full(pub File);

/// The cost of keeping each web in memory; `None` if that is impossible.
pub type Costs = Vec<Option<u64>>;

/// Finds places.
///
/// # Errors
/// Returns an error if webs that must not be spilled do not fit into the registers.
pub fn place(webs: &Webs, limits: &Limits, costs: &Costs) -> Result<Placement, Full> {
    let count = webs.webs.len();
    let mut scan = Scan {
        webs: &webs.webs,
        costs,
        vectors: Bank::new(limits.vectors, false),
        scalars: Bank::new(limits.scalars, limits.rotates_scalars),
        found: Placement { firsts: vec![None; count], evicted: BTreeSet::new() },
    };
    let mut order: Vec<(bool, u32, usize)> =
        (0..count).filter_map(|web| Some((webs.webs[web].fixed.is_none(), webs.webs[web].start()?, web))).collect();
    order.sort_unstable();
    for (_, _, web) in order {
        scan.place(web)?;
    }
    Ok(scan.found)
}

struct Scan<'w> {
    webs: &'w [Web],
    costs: &'w Costs,
    vectors: Bank,
    scalars: Bank,
    found: Placement,
}

impl Scan<'_> {
    fn bank(&mut self, file: File) -> &mut Bank {
        match file {
            File::Vector => &mut self.vectors,
            File::Scalar => &mut self.scalars,
        }
    }

    fn place(&mut self, at: usize) -> Result<(), Full> {
        let web = &self.webs[at];
        let bank = self.bank(web.file);
        match web.fixed.or_else(|| bank.free_row(web)) {
            Some(first) => {
                bank.take(first, web, at);
                self.found.firsts[at] = Some(first);
                Ok(())
            }
            None => self.make_room(at),
        }
    }

    /// Spills the web, or the webs in its way in the cheapest row.
    fn make_room(&mut self, at: usize) -> Result<(), Full> {
        let web = &self.webs[at];
        let costs = self.costs;
        let bank = self.bank(web.file);
        let mut least = costs[at].unwrap_or(u64::MAX);
        let mut cheapest = None;
        for first in bank.rows(web) {
            if let Some((cost, ways)) = bank.cost_of_row(first, web, costs, least) {
                (least, cheapest) = (cost, Some((first, ways)));
            }
        }
        match (cheapest, costs[at]) {
            (Some((first, ways)), _) => {
                for other in ways {
                    self.evict(other);
                }
                self.bank(web.file).take(first, web, at);
                self.found.firsts[at] = Some(first);
                Ok(())
            }
            (None, None) => Err(Full(web.file)),
            (None, Some(_)) => {
                self.found.evicted.insert(at);
                Ok(())
            }
        }
    }

    fn evict(&mut self, at: usize) {
        let web = &self.webs[at];
        if let Some(first) = self.found.firsts[at].take() {
            self.bank(web.file).give_back(first, web);
        }
        self.found.evicted.insert(at);
    }
}

/// The hardware registers of a file.
struct Bank {
    /// For each register its occupied intervals: start, end and web.
    taken: Vec<BTreeMap<u32, (u32, usize)>>,
    /// Start of the next search, if registers are taken in rotation.
    next: Option<u16>,
}

impl Bank {
    fn new(registers: u16, rotates: bool) -> Bank {
        Bank { taken: vec![BTreeMap::new(); usize::from(registers)], next: rotates.then_some(0) }
    }

    /// The rows where a web may start.
    fn rows(&self, web: &Web) -> impl Iterator<Item = u16> + use<> {
        let last = self.taken.len().checked_sub(web.slots.len()).map(|last| last as u16);
        let grid = web.grid;
        last.into_iter().flat_map(|last| 0..=last).filter(move |first| grid.has(*first))
    }

    fn free_row(&mut self, web: &Web) -> Option<u16> {
        let is_free = |first: &u16| {
            (usize::from(*first)..).zip(&web.slots).all(|(register, ranges)| self.is_free(register, ranges))
        };
        let from = self.next.unwrap_or(0);
        let found = self.rows(web).filter(|first| *first >= from).find(is_free);
        let found = found.or_else(|| self.rows(web).take_while(|first| *first < from).find(is_free))?;
        if let Some(next) = &mut self.next {
            *next = found + web.slots.len() as u16;
        }
        Some(found)
    }

    fn is_free(&self, register: usize, ranges: &[Range]) -> bool {
        limits::spend(1);
        ranges.iter().all(|range| self.meets(register, *range).next().is_none())
    }

    /// The webs that have a register somewhere in a range.
    fn meets(&self, register: usize, range: Range) -> impl Iterator<Item = usize> + '_ {
        let before = self.taken[register].range(..=range.to).rev();
        before.take_while(move |(_, (to, _))| *to >= range.from).map(|(_, (_, web))| *web)
    }

    /// The webs in the way of a web on a row, and the cost of keeping them in memory; `None` if that is not less than
    /// `bound`, or impossible. The search ends with the first web that shows this.
    fn cost_of_row(&self, first: u16, web: &Web, costs: &Costs, bound: u64) -> Option<(u64, BTreeSet<usize>)> {
        let (mut sum, mut ways) = (0_u64, BTreeSet::new());
        for (register, ranges) in (usize::from(first)..).zip(&web.slots) {
            for other in ranges.iter().flat_map(|range| self.meets(register, *range)) {
                limits::spend(1);
                if ways.insert(other) {
                    sum = sum.saturating_add(costs[other]?);
                }
                if sum >= bound {
                    return None;
                }
            }
        }
        Some((sum, ways))
    }

    fn take(&mut self, first: u16, web: &Web, at: usize) {
        for (register, ranges) in (usize::from(first)..).zip(&web.slots) {
            self.taken[register].extend(ranges.iter().map(|range| (range.from, (range.to, at))));
        }
    }

    fn give_back(&mut self, first: u16, web: &Web) {
        for (register, ranges) in (usize::from(first)..).zip(&web.slots) {
            for range in ranges {
                self.taken[register].remove(&range.from);
            }
        }
    }
}
