//! Gives virtual registers their components of `TEMP` and `LONG TEMP` variables.
//!
//! First, copies whose ends are never live at the same time become one register. Then registers and groups are placed
//! in the order in which they become live, each in the lowest variable with its components free. There is no spilling:
//! the driver compiles the program again and has memory for that.

use super::live;
use super::machine::{Class, Components, Line, Reg, RegInfo, Registers};
use crate::backend::range::{self, JoinBudget, Ranges};
use crate::limits;
use smallvec::{SmallVec, smallvec};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// A component of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct TempComponent {
    pub variable: u32,
    /// 0 for `x`.
    pub component: u8,
}

/// The place of every virtual register.
#[derive(Debug)]
pub struct Assignment {
    components: Vec<TempComponent>,
    /// How many `TEMP` variables there are.
    pub words: u32,
    /// How many `LONG TEMP` variables.
    pub longs: u32,
}

impl Assignment {
    pub fn component(&self, reg: Reg) -> TempComponent {
        self.components[reg.index()]
    }
}

/// Ranges of two registers that are always merged.
const SHORT: usize = 256;

/// Finds places for all registers, and removes copies that become moves onto themselves.
pub fn assign(lines: &mut [Line], registers: &Registers) -> Assignment {
    let mut webs = Webs::new(lines, registers);
    webs.coalesce(lines);
    let assignment = Placement::new(&webs).run();
    for line in lines {
        let is_idle = |inst: &super::machine::Inst| {
            inst.copies().is_some_and(|(from, to)| assignment.component(from) == assignment.component(to))
        };
        if matches!(line, Line::Inst(inst) if is_idle(inst)) {
            *line = Line::Empty;
        }
    }
    assignment
}

/// Registers that share a place.
struct Webs {
    /// A register of the same web, or itself for the representative.
    parent: Vec<Reg>,
    ranges: Vec<Ranges>,
    info: Vec<RegInfo>,
    budget: JoinBudget,
}

impl Webs {
    fn new(lines: &[Line], registers: &Registers) -> Webs {
        let count = registers.regs.len();
        let ranges = live::ranges(lines, count);
        Webs {
            parent: (0..count as u32).map(Reg).collect(),
            budget: JoinBudget::new(SHORT, ranges.iter().map(|list| list.len())),
            ranges,
            info: registers.regs.clone(),
        }
    }

    fn find(&mut self, reg: Reg) -> Reg {
        let mut root = reg;
        while self.parent[root.index()] != root {
            let above = self.parent[root.index()];
            self.parent[root.index()] = self.parent[above.index()];
            root = above;
        }
        root
    }

    fn coalesce(&mut self, lines: &[Line]) {
        for line in lines {
            if let Line::Inst(inst) = line
                && let Some((from, to)) = inst.copies()
            {
                self.join(from, to);
            }
        }
    }

    /// Merges two webs if possible.
    fn join(&mut self, a: Reg, b: Reg) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let (first, second) = (self.info[a.index()], self.info[b.index()]);
        let (ours, theirs) = (&self.ranges[a.index()], &self.ranges[b.index()]);
        let fits = first.class == second.class
            && first.allowed & second.allowed != 0
            && (first.group.is_none() || second.group.is_none())
            && self.budget.allows(ours.len() + theirs.len());
        if !fits {
            return;
        }
        limits::spend(ours.len() + theirs.len());
        if range::overlap(ours, theirs) {
            return;
        }
        self.ranges[a.index()] = range::merged(ours, theirs);
        self.ranges[b.index()] = Ranges::new();
        self.parent[b.index()] = a;
        self.info[a.index()].allowed &= second.allowed;
        self.info[a.index()].group = first.group.or(second.group);
    }
}

/// Registers placed together, in one variable.
struct Unit {
    start: u32,
    members: SmallVec<[Reg; 4]>,
}

struct Placement<'w> {
    webs: &'w Webs,
    components: Vec<TempComponent>,
    words: Bank,
    longs: Bank,
    /// When places become free again.
    ends: BinaryHeap<Reverse<(u32, bool, TempComponent)>>,
}

impl<'w> Placement<'w> {
    fn new(webs: &'w Webs) -> Placement<'w> {
        let places = vec![TempComponent::default(); webs.parent.len()];
        Placement { webs, components: places, words: Bank::default(), longs: Bank::default(), ends: BinaryHeap::new() }
    }

    fn run(mut self) -> Assignment {
        for unit in units(self.webs) {
            self.release(unit.start);
            self.component(&unit);
        }
        for reg in 0..self.components.len() {
            let mut root = reg;
            while self.webs.parent[root].index() != root {
                root = self.webs.parent[root].index();
            }
            self.components[reg] = self.components[root];
        }
        Assignment {
            components: self.components,
            words: self.words.free.len() as u32,
            longs: self.longs.free.len() as u32,
        }
    }

    fn bank(&mut self, is_long: bool) -> &mut Bank {
        if is_long { &mut self.longs } else { &mut self.words }
    }

    /// Frees the registers that are dead before a place in the program.
    fn release(&mut self, at: u32) {
        while let Some(Reverse((end, is_long, component))) = self.ends.peek().copied()
            && end < at
        {
            self.ends.pop();
            self.bank(is_long).give_back(component);
        }
    }

    fn component(&mut self, unit: &Unit) {
        let webs = self.webs;
        let info = |reg: &Reg| webs.info[reg.index()];
        let is_long = unit.members.first().is_some_and(|reg| info(reg).class == Class::Long);
        let places: SmallVec<[TempComponent; 4]> = match &unit.members[..] {
            [reg] => smallvec![self.bank(is_long).take_one(info(reg).allowed)],
            members => {
                let needed = members.iter().fold(0, |all, reg| all | info(reg).allowed);
                let variable = self.bank(is_long).take_all(needed);
                let component = |reg: &Reg| info(reg).allowed.trailing_zeros() as u8;
                members.iter().map(|reg| TempComponent { variable, component: component(reg) }).collect()
            }
        };
        for (reg, component) in unit.members.iter().zip(places) {
            self.components[reg.index()] = component;
            let end = self.webs.ranges[reg.index()].last().map_or(unit.start, |range| range.to);
            self.ends.push(Reverse((end, is_long, component)));
        }
    }
}

/// The webs to place, in order of the start of their live ranges.
fn units(webs: &Webs) -> Vec<Unit> {
    let mut of_group: std::collections::BTreeMap<u32, Unit> = std::collections::BTreeMap::new();
    let mut units = Vec::new();
    for (at, info) in webs.info.iter().enumerate() {
        let reg = Reg(at as u32);
        let Some(first) = webs.ranges[at].first() else { continue };
        let unit = Unit { start: first.from, members: smallvec![reg] };
        match info.group {
            None => units.push(unit),
            Some(group) => {
                let known = of_group.entry(group).or_insert(Unit { start: first.from, members: SmallVec::new() });
                known.start = known.start.min(unit.start);
                known.members.push(reg);
            }
        }
    }
    units.extend(of_group.into_values());
    units.sort_by_key(|unit| (unit.start, unit.members[0]));
    units
}

/// Components in allocation order: loads write to `x` and shuffles to `y`, so other values leave those free.
const PREFERENCE: [u8; 4] = [3, 2, 0, 1];

/// Variables of one size.
#[derive(Default)]
struct Bank {
    /// The free components of each.
    free: Vec<Components>,
    /// The variables with exactly these free components.
    by_free: [BTreeSet<u32>; 16],
}

impl Bank {
    /// The lowest variable whose free components satisfy the condition, or a new one.
    fn lowest(&mut self, fits: impl Fn(Components) -> bool) -> u32 {
        let sets = (1..16).filter(|free| fits(*free));
        let found = sets.filter_map(|free| self.by_free[usize::from(free)].first().copied()).min();
        found.unwrap_or_else(|| {
            let variable = self.free.len() as u32;
            self.free.push(15);
            self.by_free[15].insert(variable);
            variable
        })
    }

    fn set(&mut self, variable: u32, free: Components) {
        let before = std::mem::replace(&mut self.free[variable as usize], free);
        self.by_free[usize::from(before)].remove(&variable);
        self.by_free[usize::from(free)].insert(variable);
    }

    fn take_one(&mut self, allowed: Components) -> TempComponent {
        let variable = self.lowest(|free| free & allowed != 0);
        let free = self.free[variable as usize];
        let is_free = |component: &u8| free & allowed & 1 << component != 0;
        let component = PREFERENCE.into_iter().find(is_free).unwrap_or(0);
        self.set(variable, free & !(1 << component));
        TempComponent { variable, component }
    }

    fn take_all(&mut self, needed: Components) -> u32 {
        let variable = self.lowest(|free| free & needed == needed);
        self.set(variable, self.free[variable as usize] & !needed);
        variable
    }

    fn give_back(&mut self, component: TempComponent) {
        self.set(component.variable, self.free[component.variable as usize] | 1 << component.component);
    }
}
