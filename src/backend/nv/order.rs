//! Moves instructions within straight-line code, so that fewer values are live at the same time.
//!
//! A copy from a component that an instruction dictates moves right after that instruction. Then, from the end of
//! straight-line code, an instruction moves down to the first reader of a result if it has more results than last uses
//! of operands: that shortens more live ranges than it lengthens. Loads stay on their side of every store and barrier,
//! and cross-lane instructions stay in place.

use super::machine::{ANY, Inst, Line, Operand, Reg, Registers};

/// How often each register is read and written.
struct Counts {
    reads: Vec<u32>,
    writes: Vec<u32>,
}

impl Counts {
    fn of(lines: &[Line], registers: usize) -> Counts {
        let mut counts = Counts { reads: vec![0; registers], writes: vec![0; registers] };
        for line in lines {
            line.for_each_read(|reg| counts.reads[reg.index()] += 1);
            line.written().iter().for_each(|reg| counts.writes[reg.index()] += 1);
        }
        counts
    }

    /// Returns true if a register never changes.
    fn is_constant(&self, reg: Reg) -> bool {
        self.writes[reg.index()] == 1
    }
}

/// Reorders every region.
pub fn order(lines: &mut [Line], registers: &Registers) {
    let counts = Counts::of(lines, registers.regs.len());
    let mut marks = vec![Mark::default(); registers.regs.len()];
    let is_plain = |line: &Line| matches!(line, Line::Inst(_)) || line.is_remark();
    let (mut start, mut number) = (0, 0);
    while start < lines.len() {
        let end = start + lines[start..].iter().take_while(|line| is_plain(line)).count();
        if end > start + 1 {
            number += 1;
            raise_copies(&mut lines[start..end], &counts, registers);
            sink(&mut lines[start..end], &counts, &mut Stretch { marks: &mut marks, number });
        }
        start = end + 1;
    }
}

/// Moves copies out of dictated components directly after their definitions.
fn raise_copies(lines: &mut [Line], counts: &Counts, registers: &Registers) {
    let mut behind: Vec<Vec<Line>> = vec![Vec::new(); lines.len()];
    let mut writer: std::collections::BTreeMap<Reg, usize> = std::collections::BTreeMap::new();
    let dictated = |reg: Reg| {
        let info = registers.regs[reg.index()];
        info.allowed != ANY && info.group.is_none() && counts.reads[reg.index()] == 1
    };
    let raised = |from: Reg, to: Reg| dictated(from) && counts.is_constant(from) && counts.is_constant(to);
    for (at, line) in lines.iter_mut().enumerate() {
        let Line::Inst(inst) = &*line else { continue };
        let from = inst.copies().filter(|(from, to)| raised(*from, *to)).map(|(from, _)| from);
        match from.and_then(|from| writer.get(&from)) {
            Some(place) => behind[*place].push(std::mem::replace(line, Line::Empty)),
            None => writer.extend(inst.written().iter().map(|reg| (*reg, at))),
        }
    }
    rebuild(lines, |at, line, ordered| {
        ordered.push(line);
        ordered.append(&mut behind[at]);
    });
}

/// Rewrites the lines in the order in which `with` emits each line and its neighbours; the number of empty lines stays
/// constant.
fn rebuild(lines: &mut [Line], mut with: impl FnMut(usize, Line, &mut Vec<Line>)) {
    let mut ordered = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter_mut().enumerate() {
        with(at, std::mem::replace(line, Line::Empty), &mut ordered);
    }
    ordered.retain(|line| *line != Line::Empty);
    for (line, new) in lines.iter_mut().zip(ordered) {
        *line = new;
    }
}

/// The facts about a register in the current straight-line code, from its end up to some line.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// The number of the code region, so that nothing is cleared between regions.
    stretch: u32,
    /// Reads in the stretch.
    inside: u32,
    /// Reads so far, and the first of them in the new order.
    reads: u32,
    first: usize,
    /// True if a write was met.
    written: bool,
    /// True if a load of constant memory writes it, which may move to its use.
    follows: bool,
}

/// Moves instructions down.
fn sink(lines: &mut [Line], counts: &Counts, stretch: &mut Stretch<'_>) {
    for line in &*lines {
        line.for_each_read(|reg| stretch.get(reg).inside += 1);
        if matches!(line, Line::Inst(inst) if inst.name.starts_with(CONSTANT_LOAD)) {
            line.written().iter().for_each(|reg| stretch.get(*reg).follows = true);
        }
    }
    let effects = effects(lines);
    let mut before: Vec<Vec<Line>> = vec![Vec::new(); lines.len()];
    for at in (0..lines.len()).rev() {
        let place = match &lines[at] {
            Line::Inst(inst) => match place(inst, at, counts, stretch, &effects) {
                Some(reader) => above_comments(lines, reader),
                None => at,
            },
            _ => at,
        };
        lines[at].for_each_read(|reg| stretch.read(reg, place));
        lines[at].written().iter().for_each(|reg| stretch.get(*reg).written = true);
        if place != at {
            before[place].push(std::mem::replace(&mut lines[at], Line::Empty));
        }
    }
    rebuild(lines, |at, line, ordered| {
        ordered.extend(before[at].drain(..).rev());
        ordered.push(line);
    });
}

/// Instructions with an effect before each line.
fn effects(lines: &[Line]) -> Vec<u32> {
    let count = |sum: &mut u32, line: &Line| {
        let before = *sum;
        *sum += u32::from(matches!(line, Line::Inst(inst) if inst.effect));
        Some(before)
    };
    lines.iter().scan(0, count).collect()
}

/// The line before which an instruction moves; `None` if it stays.
fn place(inst: &Inst, at: usize, counts: &Counts, marks: &mut Stretch<'_>, effects: &[u32]) -> Option<usize> {
    let results = inst.written();
    let is_known = |reg: &Reg| counts.is_constant(*reg) && marks.get(*reg).reads == counts.reads[reg.index()];
    if inst.effect || inst.guard.is_some() || inst.is_cross_lane() || !results.iter().all(is_known) {
        return None;
    }
    let read = results.iter().filter(|reg| counts.reads[reg.index()] > 0);
    let first = read.map(|reg| marks.get(*reg).first).min()?;
    let last = inst.read().filter(|reg| {
        let mark = marks.get(*reg);
        mark.reads == 0 && mark.inside == counts.reads[reg.index()] && !mark.follows
    });
    let changes =
        last.count() >= results.len() || inst.read().any(|reg| marks.get(reg).written && !counts.is_constant(reg));
    let crosses = reads_memory(inst) && effects[at] != effects[first];
    (!changes && !crosses).then_some(first)
}

/// The first of the comments right above a line: they speak of that line.
fn above_comments(lines: &[Line], line: usize) -> usize {
    line - lines[..line].iter().rev().take_while(|line| line.is_remark() && **line != Line::Empty).count()
}

/// Loads from uniform buffers.
const CONSTANT_LOAD: &str = "LDC";

/// Returns true if an instruction reads memory that others may write: all but uniform buffers.
fn reads_memory(inst: &Inst) -> bool {
    let reads = |source: &Operand| match source {
        Operand::Array(_) => true,
        Operand::Named(name) => name.starts_with("image[") || name.starts_with("texture["),
        _ => false,
    };
    !inst.name.starts_with(CONSTANT_LOAD) && inst.sources.iter().any(reads)
}

/// The marks of one code region.
struct Stretch<'m> {
    marks: &'m mut [Mark],
    number: u32,
}

impl Stretch<'_> {
    fn get(&mut self, reg: Reg) -> &mut Mark {
        let mark = &mut self.marks[reg.index()];
        if mark.stretch != self.number {
            *mark = Mark { stretch: self.number, ..Mark::default() };
        }
        mark
    }

    fn read(&mut self, reg: Reg, place: usize) {
        let mark = self.get(reg);
        mark.first = if mark.reads == 0 { place } else { mark.first.min(place) };
        mark.reads += 1;
    }
}
