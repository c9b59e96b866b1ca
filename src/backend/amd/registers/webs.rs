//! Webs: registers that share a place so that copies between them are free.
//!
//! A web is a row of hardware registers, each with its occupied ranges. A copy merges two webs if one place suits both,
//! and if they are live at the same time only while they hold the copied value.

use crate::backend::amd::arch::Arch;
use crate::backend::amd::live::Live;
use crate::backend::amd::machine::{Code, File, Function, Inst, Operand, Pseudo, Reg, RegInfo, Slice};
use crate::backend::range::{JoinBudget, Range, Ranges, common, merged};
use crate::limits;

/// Number of ranges up to which two webs are always merged.
const SHORT: usize = 512;
/// Maximum number of consecutive hardware registers of a merged web: long rows are hard to place.
const WIDTH_LIMIT: usize = 16;

/// Hardware registers that a web may start at, given by a residue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// A power of two.
    pub modulus: u16,
    pub residue: u16,
}

impl Grid {
    /// For a web that contains a register with this alignment at an offset.
    fn behind(alignment: u16, offset: u16) -> Grid {
        Grid { modulus: alignment, residue: offset.wrapping_neg() & (alignment - 1) }
    }

    /// For the same web begun earlier.
    fn moved(self, by: u16) -> Grid {
        Grid { residue: self.residue.wrapping_sub(by) & (self.modulus - 1), ..self }
    }

    fn both(self, other: Grid) -> Option<Grid> {
        let (fine, coarse) = if self.modulus < other.modulus { (self, other) } else { (other, self) };
        (coarse.residue & (fine.modulus - 1) == fine.residue).then_some(coarse)
    }

    pub fn has(self, first: u16) -> bool {
        first & (self.modulus - 1) == self.residue
    }
}

/// A row of hardware registers and the occupied ranges of each.
#[derive(Clone, Debug)]
pub struct Web {
    pub file: File,
    pub grid: Grid,
    /// Its first hardware register, if one of its registers has a fixed place.
    pub fixed: Option<u16>,
    pub slots: Vec<Ranges>,
    /// The positions of each register's writes.
    writes: Vec<Vec<u32>>,
    /// Its registers with their offsets from the start.
    pub members: Vec<(Reg, u16)>,
}

impl Web {
    fn single(reg: Reg, info: &RegInfo, arch: &Arch, live: &Live) -> Web {
        let whole = Slice { reg, first: 0, count: info.width };
        Web {
            file: info.file,
            grid: Grid::behind(info.alignment(arch), 0),
            fixed: info.fixed,
            slots: live.parts(whole).to_vec(),
            writes: live.writes(whole).to_vec(),
            members: vec![(reg, 0)],
        }
    }

    /// The position where it becomes live; `None` if it never does.
    pub fn start(&self) -> Option<u32> {
        self.slots.iter().filter_map(|slot| slot.first()).map(|range| range.from).min()
    }

    /// The total length of its registers' ranges.
    pub fn length(&self) -> u64 {
        self.slots.iter().flatten().map(|range| u64::from(range.to - range.from) + 1).sum()
    }

    fn ranges(&self) -> usize {
        self.slots.iter().map(|ranges| ranges.len()).sum()
    }

    /// The union of the web and another one that starts `shift` later; `None` if they cannot share a row. `copied`
    /// extends from the copy to the end of its block.
    fn united(&self, other: &Web, shift: i32, copied: Range, budget: &mut JoinBudget) -> Option<Web> {
        let front = shift.min(0).unsigned_abs() as u16;
        let (mine, theirs) = (front, (shift + i32::from(front)) as u16);
        let width = (self.slots.len() + usize::from(mine)).max(other.slots.len() + usize::from(theirs));
        let grid = self.grid.moved(mine).both(other.grid.moved(theirs))?;
        let firsts = [(self.fixed, mine), (other.fixed, theirs)];
        let fixed = common_start(firsts)?.filter(|first| grid.has(*first));
        if fixed.is_none() && firsts.iter().any(|(fixed, _)| fixed.is_some()) {
            return None;
        }
        let is_narrow = width <= WIDTH_LIMIT.max(self.slots.len()).max(other.slots.len());
        if self.file != other.file || !is_narrow || !budget.allows(self.ranges() + other.ranges()) {
            return None;
        }
        limits::spend(self.ranges() + other.ranges());
        let (mut slots, mut writes) = (vec![Ranges::new(); width], vec![Vec::new(); width]);
        slots[usize::from(mine)..][..self.slots.len()].clone_from_slice(&self.slots);
        writes[usize::from(mine)..][..self.writes.len()].clone_from_slice(&self.writes);
        for (n, ranges) in (usize::from(theirs)..).zip(&other.slots) {
            let others = &other.writes[n - usize::from(theirs)];
            if !agree((&slots[n], &writes[n]), (ranges, others), copied) {
                return None;
            }
            slots[n] = merged(&slots[n], ranges);
            writes[n].extend(others);
            // Two ordered lists, which a stable sort merges in linear time.
            writes[n].sort();
        }
        Some(Web { file: self.file, grid, fixed, slots, writes, members: Vec::new() })
    }
}

/// Returns true if two registers, each with its ranges and its writes, can be one: they are live at the same time only
/// after the copy, and before either is written again.
fn agree(a: (&[Range], &[u32]), b: (&[Range], &[u32]), copied: Range) -> bool {
    let is_written = |writes: &[u32], to: u32| {
        let behind = writes.partition_point(|at| *at <= copied.from);
        writes.get(behind).is_some_and(|at| *at <= to)
    };
    common(a.0, b.0).all(|both| {
        both.from == copied.from && both.to <= copied.to && !is_written(a.1, both.to) && !is_written(b.1, both.to)
    })
}

/// The start of a row, if parts of it at these offsets have fixed places; `None` if they contradict each other.
fn common_start(parts: [(Option<u16>, u16); 2]) -> Option<Option<u16>> {
    let mut start = None;
    for (fixed, behind) in parts {
        let Some(fixed) = fixed else { continue };
        let first = fixed.checked_sub(behind)?;
        if start.is_some_and(|start| start != first) {
            return None;
        }
        start = Some(first);
    }
    Some(start)
}

/// All webs of a function.
#[derive(Debug)]
pub struct Webs {
    /// Webs merged into others are empty.
    pub webs: Vec<Web>,
    /// The web of each register, and the register's offset from its start.
    homes: Vec<(u32, u16)>,
    budget: JoinBudget,
}

impl Webs {
    /// One web for each register.
    pub fn single(function: &Function, arch: &Arch, live: &Live) -> Webs {
        let infos = (0..).map(Reg).zip(&function.registers);
        let webs: Vec<Web> = infos.map(|(reg, info)| Web::single(reg, info, arch, live)).collect();
        let homes = (0..webs.len() as u32).map(|web| (web, 0)).collect();
        let budget = JoinBudget::new(SHORT, webs.iter().map(Web::ranges));
        Webs { webs, homes, budget }
    }

    /// Webs joined by copies, the copies in the innermost loops first.
    pub fn joined(function: &Function, arch: &Arch, live: &Live, depths: &[u32]) -> Webs {
        let mut webs = Webs::single(function, arch, live);
        let mut copies: Vec<(u32, Slice, Slice, Range)> = Vec::new();
        for (at, (block, depth)) in function.blocks.iter().zip(depths).enumerate() {
            let found = block.insts.iter().enumerate().filter_map(|(n, inst)| Some((n, copied(inst)?)));
            copies.extend(found.map(|(n, (to, from))| (*depth, to, from, live.behind(at, n))));
        }
        copies.sort_by_key(|(depth, ..)| std::cmp::Reverse(*depth));
        copies.into_iter().for_each(|(_, to, from, behind)| webs.join(to, from, behind));
        webs
    }

    /// The web of a register, and the register's offset from its start.
    pub fn home(&self, reg: Reg) -> (usize, u16) {
        let (web, offset) = self.homes[reg.index()];
        (web as usize, offset)
    }

    fn join(&mut self, a: Slice, b: Slice, behind: Range) {
        let ((first, at), (second, other_at)) = (self.home(a.reg), self.home(b.reg));
        if first == second {
            return;
        }
        let shift = i32::from(at) + i32::from(a.first) - i32::from(other_at) - i32::from(b.first);
        let united = self.webs[first].united(&self.webs[second], shift, behind, &mut self.budget);
        let Some(united) = united else { return };
        let is_first_longer = self.webs[first].members.len() >= self.webs[second].members.len();
        let (into, out_of) = if is_first_longer { (first, second) } else { (second, first) };
        let front = shift.min(0).unsigned_abs() as u16;
        let offsets = [(first, front), (second, (shift + i32::from(front)) as u16)];
        let moved = |web: usize| if offsets[0].0 == web { offsets[0].1 } else { offsets[1].1 };
        let mut members = std::mem::take(&mut self.webs[into].members);
        let (stay, come) = (moved(into), moved(out_of));
        if stay != 0 {
            members.iter_mut().for_each(|(_, offset)| *offset += stay);
        }
        let newcomers = self.webs[out_of].members.len();
        members.extend(self.webs[out_of].members.drain(..).map(|(reg, offset)| (reg, offset + come)));
        let known = if stay == 0 { members.len() - newcomers } else { 0 };
        for (reg, offset) in &members[known..] {
            self.homes[reg.index()] = (into as u32, *offset);
        }
        self.webs[out_of].slots.clear();
        self.webs[out_of].writes.clear();
        self.webs[into] = Web { members, ..united };
    }
}

/// The source and destination of a copy, if both are virtual registers.
pub fn copied(inst: &Inst) -> Option<(Slice, Slice)> {
    match (inst.code, &inst.defs[..], &inst.uses[..]) {
        (Code::Pseudo(Pseudo::Copy), [Operand::Reg(to)], [Operand::Reg(from)]) => Some((*to, *from)),
        _ => None,
    }
}
