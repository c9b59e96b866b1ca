//! Liveness of each 32-bit part of each virtual register.
//!
//! The rules come from [`machine`](super::machine), with two refinements that only shorten ranges: parts of a register
//! are live independently, and a part is not live before its first write after its declaration. The effort is
//! proportional to the result: for each part, each block in which it is live is visited twice.

use super::machine::{Code, Function, Inst, Operand, Pseudo, Slice};
use crate::backend::range::{Range, Ranges, joined};
use crate::limits;
use smallvec::SmallVec;

/// Ranges in which instruction `n` reads at `2 n` and writes at `2 n + 1`. The start of a block has a separate number.
#[derive(Debug)]
pub struct Live {
    /// The first part of each register.
    bases: Vec<u32>,
    ranges: Vec<Ranges>,
    writes: Vec<Vec<u32>>,
    /// The end of each block.
    ends: Vec<u32>,
}

impl Live {
    /// The live registers of a function; `is_early` selects the instructions that may write before they have read all
    /// operands.
    pub fn new(function: &Function, is_early: impl Fn(&Inst) -> bool) -> Live {
        let graph = Graph::new(function);
        let bases = bases(function);
        let events = Events::new(function, &graph, &bases, is_early).of;
        let mut solver = Solver::new(&graph);
        let ranges = events.iter().map(|events| solver.part(events)).collect();
        let written = |event: &Event| matches!(event.access, Access::Write | Access::Keep).then_some(event.at);
        let writes = events.iter().map(|events| events.iter().filter_map(written).collect()).collect();
        let ends = (0..function.blocks.len()).map(|block| graph.whole(block).to).collect();
        Live { bases, ranges, writes, ends }
    }

    /// The ranges of each part, ascending and disjoint.
    pub fn parts(&self, slice: Slice) -> &[Ranges] {
        &self.ranges[self.each(slice)]
    }

    /// The positions of each part's writes, in ascending order.
    pub fn writes(&self, slice: Slice) -> &[Vec<u32>] {
        &self.writes[self.each(slice)]
    }

    /// From after the writes of an instruction to the end of its block.
    pub fn behind(&self, block: usize, inst: usize) -> Range {
        let start = if block == 0 { 0 } else { self.ends[block - 1] / 2 + 1 };
        Range { from: 2 * (start + inst as u32 + 1) + 1, to: self.ends[block] }
    }

    fn each(&self, slice: Slice) -> std::ops::Range<usize> {
        let first = self.bases[slice.reg.index()] as usize + usize::from(slice.first);
        first..first + usize::from(slice.count)
    }
}

/// The first part of each register, and after them the number of all parts.
fn bases(function: &Function) -> Vec<u32> {
    let mut next = 0;
    let firsts = function.registers.iter().map(|info| {
        let first = next;
        next += u32::from(info.width);
        first
    });
    let mut bases: Vec<u32> = firsts.collect();
    bases.push(next);
    bases
}

/// Blocks, their edges and the numbers of their instructions.
struct Graph {
    /// The number of each block's start, and after them the number after the last instruction.
    starts: Vec<u32>,
    before: Vec<SmallVec<[u32; 2]>>,
    after: Vec<SmallVec<[usize; 2]>>,
}

impl Graph {
    fn new(function: &Function) -> Graph {
        let positions = function.positions();
        let count = function.blocks.len();
        let after: Vec<_> = (0..count).map(|at| function.successors(at, &positions)).collect();
        let mut before = vec![SmallVec::new(); count];
        for (at, successors) in after.iter().enumerate() {
            successors.iter().for_each(|next| before[*next].push(at as u32));
        }
        let mut starts = vec![0];
        for block in &function.blocks {
            let last = starts[starts.len() - 1];
            starts.push(last + block.insts.len() as u32 + 1);
        }
        Graph { starts, before, after }
    }

    /// From the start of a block to after its last instruction.
    fn whole(&self, block: usize) -> Range {
        Range { from: 2 * self.starts[block], to: 2 * self.starts[block + 1] - 1 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Access {
    Read,
    /// Nothing of the old value remains.
    Write,
    /// Some lanes or bits of the old value may remain.
    Keep,
    /// The register's old value is dead, and it has no new one yet.
    Declare,
}

/// An access to a part.
#[derive(Clone, Copy, Debug)]
struct Event {
    block: u32,
    /// In the numbers of ranges.
    at: u32,
    access: Access,
}

/// The events of each part, in text order.
struct Events<'b> {
    bases: &'b [u32],
    of: Vec<Vec<Event>>,
    /// The block in which a part was declared and not written since, plus one.
    fresh: Vec<u32>,
}

impl<'b> Events<'b> {
    fn new(function: &Function, graph: &Graph, bases: &'b [u32], is_early: impl Fn(&Inst) -> bool) -> Events<'b> {
        let parts = bases.last().map_or(0, |count| *count as usize);
        let mut events = Events { bases, of: vec![Vec::new(); parts], fresh: vec![0; parts] };
        events.fill_by_hardware(function);
        for (at, block) in function.blocks.iter().enumerate() {
            for (n, inst) in (graph.starts[at] + 1..).zip(&block.insts) {
                let written = if is_early(inst) { 2 * n } else { 2 * n + 1 };
                events.reads(inst, Event { block: at as u32, at: 2 * n, access: Access::Read });
                events.writes(function, inst, Event { block: at as u32, at: written, access: Access::Write });
            }
        }
        events
    }

    /// Registers with fixed places are written at the start of the entry.
    fn fill_by_hardware(&mut self, function: &Function) {
        for (reg, info) in function.registers.iter().enumerate().filter(|(_, info)| info.fixed.is_some()) {
            let first = self.bases[reg] as usize;
            let parts = &mut self.of[first..first + usize::from(info.width)];
            parts.iter_mut().for_each(|part| part.push(Event { block: 0, at: 1, access: Access::Keep }));
        }
    }

    fn reads(&mut self, inst: &Inst, event: Event) {
        for slice in inst.uses.iter().filter_map(slice_of) {
            self.each(slice).for_each(|part| self.of[part].push(event));
        }
    }

    fn writes(&mut self, function: &Function, inst: &Inst, event: Event) {
        let is_declared = inst.code == Code::Pseudo(Pseudo::Declare);
        for (slice, kills) in inst.writes(&function.registers) {
            for part in self.each(slice) {
                // The first write after a declaration has no old value to keep.
                let is_first = std::mem::take(&mut self.fresh[part]) == event.block + 1;
                let access = match (is_declared, kills || is_first) {
                    (true, _) => Access::Declare,
                    (false, true) => Access::Write,
                    (false, false) => Access::Keep,
                };
                if is_declared {
                    self.fresh[part] = event.block + 1;
                }
                self.of[part].push(Event { access, ..event });
            }
        }
    }

    fn each(&self, slice: Slice) -> std::ops::Range<usize> {
        let first = self.bases[slice.reg.index()] as usize + usize::from(slice.first);
        first..first + usize::from(slice.count)
    }
}

fn slice_of(operand: &Operand) -> Option<Slice> {
    match operand {
        Operand::Reg(slice) => Some(*slice),
        _ => None,
    }
}

/// The facts about one part in one block.
#[derive(Clone, Copy, Default)]
struct Local {
    /// True if the block reads the value from before it.
    exposed: bool,
    /// True if the value from before the block does not survive it.
    kills: bool,
    /// True if it has a value at the block's end; `None` if unchanged.
    defines: Option<bool>,
    live_in: bool,
    live_out: bool,
    /// A value may have been written before.
    defined_in: bool,
}

impl Local {
    fn of(events: &[Event]) -> Local {
        let exposed = matches!(events.first(), Some(Event { access: Access::Read | Access::Keep, .. }));
        let kills = events.iter().any(|event| matches!(event.access, Access::Write | Access::Declare));
        let written = events.iter().rev().find(|event| event.access != Access::Read);
        let defines = written.map(|event| event.access != Access::Declare);
        Local { exposed, kills, defines, live_in: exposed, ..Local::default() }
    }
}

struct Solver<'g> {
    graph: &'g Graph,
    locals: Vec<Local>,
    /// Blocks whose entry in `locals` is not the default.
    touched: Vec<usize>,
    queue: Vec<usize>,
}

impl<'g> Solver<'g> {
    fn new(graph: &'g Graph) -> Solver<'g> {
        let locals = vec![Local::default(); graph.before.len()];
        Solver { graph, locals, touched: Vec::new(), queue: Vec::new() }
    }

    fn part(&mut self, events: &[Event]) -> Ranges {
        for group in events.chunk_by(|a, b| a.block == b.block) {
            let block = group[0].block as usize;
            self.locals[block] = Local::of(group);
            self.touched.push(block);
        }
        self.live_before_uses();
        self.defined_behind_writes();
        let ranges = self.collect(events);
        self.touched.drain(..).for_each(|block| self.locals[block] = Local::default());
        joined(ranges)
    }

    fn live_before_uses(&mut self) {
        self.queue.extend(self.touched.iter().filter(|block| self.locals[**block].exposed));
        while let Some(block) = self.queue.pop() {
            limits::spend(1);
            for before in self.graph.before[block].iter().map(|before| *before as usize) {
                let local = &mut self.locals[before];
                if std::mem::replace(&mut local.live_out, true) {
                    continue;
                }
                if !local.kills && !std::mem::replace(&mut local.live_in, true) {
                    self.queue.push(before);
                }
                self.touched.push(before);
            }
        }
    }

    fn defined_behind_writes(&mut self) {
        self.queue.extend(self.touched.iter().filter(|block| self.locals[**block].defines == Some(true)));
        while let Some(block) = self.queue.pop() {
            limits::spend(1);
            for after in self.graph.after[block].iter().copied() {
                let local = &mut self.locals[after];
                if local.live_in && !std::mem::replace(&mut local.defined_in, true) && local.defines.is_none() {
                    self.queue.push(after);
                }
            }
        }
    }

    fn collect(&self, events: &[Event]) -> Ranges {
        let mut ranges = Ranges::new();
        for group in events.chunk_by(|a, b| a.block == b.block) {
            let block = group[0].block as usize;
            Stretch::default().run(group, self.locals[block], self.graph.whole(block), &mut ranges);
        }
        let through = self.touched.iter().filter(|block| {
            let local = self.locals[**block];
            local.live_in && local.live_out && local.defined_in && !local.exposed && local.defines.is_none()
        });
        ranges.extend(through.map(|block| self.graph.whole(*block)));
        ranges
    }
}

/// The open range while the events of a block are read.
#[derive(Default)]
struct Stretch {
    open: Option<Range>,
}

impl Stretch {
    fn run(mut self, events: &[Event], local: Local, whole: Range, ranges: &mut Ranges) {
        if local.live_in && local.defined_in {
            self.open = Some(Range { from: whole.from, to: whole.from });
        }
        for event in events {
            if matches!(event.access, Access::Write | Access::Declare) {
                ranges.extend(self.open.take());
            }
            match (&mut self.open, event.access) {
                (Some(open), _) => open.to = event.at,
                (None, Access::Read) => ranges.push(Range { from: event.at, to: event.at }),
                (None, Access::Declare) => {}
                (None, Access::Write | Access::Keep) => self.open = Some(Range { from: event.at, to: event.at }),
            }
        }
        if let Some(open) = &mut self.open
            && local.live_out
        {
            open.to = whole.to;
        }
        ranges.extend(self.open);
    }
}

#[cfg(test)]
mod tests;
