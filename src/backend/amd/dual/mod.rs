//! Pairs vector instructions (VOPD), from RDNA 3 on in waves of 32 lanes.
//!
//! Runs after the waits for memory, which nothing crosses, and before hazards are resolved. Each instruction looks
//! ahead for the nearest one that can be the other half: one that can move up to it, or that it can move down to. Only
//! instructions with the same origin are paired, so that each line belongs to at most one cross-lane operation.

mod table;

use super::arch::Arch;
use super::forward::Step;
use super::machine::{Code, Function, Inst};
use super::view::{Access, Cell, View};
use smallvec::SmallVec;
use table::{Half, Rules, halves, rules};

/// Number of instructions to examine.
const WINDOW: usize = 32;

/// Pairs instructions of a function after register allocation.
pub fn pair(function: &mut Function, arch: &Arch) {
    let Some(rules) = rules(arch) else { return };
    for block in &mut function.blocks {
        let insts = std::mem::take(&mut block.insts);
        block.insts = Pairing::new(rules, insts, arch).run();
    }
}

/// A set of registers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Cells([u64; Cell::COUNT / 64]);

impl Cells {
    fn of(accesses: &[Access]) -> Cells {
        let mut cells = Cells::default();
        accesses.iter().for_each(|access| cells.0[access.cell.index() / 64] |= 1 << (access.cell.index() % 64));
        cells
    }

    fn meets(&self, other: &Cells) -> bool {
        self.0.iter().zip(other.0).any(|(a, b)| a & b != 0)
    }

    fn add(&mut self, other: &Cells) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
    }
}

/// The registers of one or several instructions.
#[derive(Clone, Copy, Default)]
struct Touched {
    reads: Cells,
    writes: Cells,
}

impl Touched {
    /// Returns true if an instruction and these can change places.
    fn pass(&self, other: &Touched) -> bool {
        !self.writes.meets(&other.reads) && !self.writes.meets(&other.writes) && !self.reads.meets(&other.writes)
    }

    fn add(&mut self, other: &Touched) {
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
    }
}

/// An instruction of a block.
struct Place {
    /// `None` if it has become part of a pair.
    inst: Option<Inst>,
    halves: SmallVec<[Half; 2]>,
    touched: Touched,
    is_fence: bool,
}

impl Place {
    fn new(inst: Inst, arch: &Arch) -> Place {
        let view = View::new(&inst, arch);
        Place {
            halves: halves(&inst),
            touched: Touched { reads: Cells::of(&view.reads), writes: Cells::of(&view.writes) },
            is_fence: view.is_fence(),
            inst: Some(inst),
        }
    }

    /// The operation that it belongs to, and the text of a cross-lane one.
    fn owner(&self) -> Option<impl PartialEq> {
        self.inst.as_ref().map(|inst| (inst.origin, inst.is_lane.then_some(inst.span)))
    }
}

/// A partner that was found.
struct Found {
    at: usize,
    /// The halves in order, and true if the earlier instruction is the second one.
    halves: [Half; 2],
    is_swapped: bool,
    /// The pair replaces the later instruction.
    is_late: bool,
}

struct Pairing<'r> {
    rules: &'r Rules,
    places: Vec<Place>,
}

impl<'r> Pairing<'r> {
    fn new(rules: &'r Rules, insts: Vec<Inst>, arch: &Arch) -> Pairing<'r> {
        Pairing { rules, places: insts.into_iter().map(|inst| Place::new(inst, arch)).collect() }
    }

    fn run(mut self) -> Vec<Inst> {
        for at in 0..self.places.len() {
            if let Some(found) = self.partner(at) {
                self.join(at, found);
            }
        }
        self.places.into_iter().filter_map(|place| place.inst).collect()
    }

    /// The nearest partner of an instruction among those after it.
    fn partner(&self, at: usize) -> Option<Found> {
        let own = &self.places[at];
        if own.halves.is_empty() {
            return None;
        }
        let mut between = Touched::default();
        let after = self.places.iter().enumerate().skip(at + 1).take(WINDOW);
        for (n, place) in after.filter(|(_, place)| place.inst.is_some()) {
            if place.is_fence {
                break;
            }
            let is_early = between.pass(&place.touched);
            if (is_early || between.pass(&own.touched))
                && let Some((halves, is_swapped)) = self.fit(own, place)
            {
                return Some(Found { at: n, halves, is_swapped, is_late: !is_early });
            }
            between.add(&place.touched);
        }
        None
    }

    /// The halves for two instructions, and true if the second one comes first.
    fn fit(&self, earlier: &Place, later: &Place) -> Option<([Half; 2], bool)> {
        if earlier.owner() != later.owner() || earlier.touched.writes.meets(&later.touched.reads) {
            return None;
        }
        let pairs = earlier.halves.iter().flat_map(|a| later.halves.iter().map(move |b| (a, b)));
        pairs.into_iter().find_map(|(a, b)| match (self.rules.take(a, b), self.rules.take(b, a)) {
            (true, _) => Some(([a.clone(), b.clone()], false)),
            (_, true) => Some(([b.clone(), a.clone()], true)),
            _ => None,
        })
    }

    fn join(&mut self, at: usize, found: Found) {
        let Some((earlier, later)) = self.places[at].inst.take().zip(self.places[found.at].inst.take()) else { return };
        let (first, second) = if found.is_swapped { (later, earlier) } else { (earlier, later) };
        let [a, b] = found.halves;
        let whole = Inst { second: Some(Box::new(become_half(second, b))), ..become_half(first, a) };
        let mut touched = self.places[at].touched;
        touched.add(&self.places[found.at].touched);
        let place = &mut self.places[if found.is_late { found.at } else { at }];
        (place.inst, place.touched) = (Some(whole), touched);
        place.halves.clear();
    }
}

fn become_half(inst: Inst, half: Half) -> Inst {
    Inst { code: Code::Real(half.operation), uses: half.uses, ..inst }
}

#[cfg(test)]
mod tests;
