//! The dependences in a stretch of straight-line code, and the live ranges of its registers.
//!
//! An instruction depends on the last writer of its operands, and must follow it by a number of cycles. It also depends
//! on earlier readers and writers of its results. Registers are tracked in parts of 32 bits. EXEC, M0 and the shared
//! vector register are parts like others. Some instructions write the condition code or VCC as a side effect: such dead
//! writes are kept out of the ranges in which a value is needed, and are not ordered among themselves.
//!
//! The effort is linear: each reader is met by the next write and forgotten.

use super::Node;
use super::pressure::{Lives, Mode};
use crate::backend::amd::machine::{Code, File, Function, Inst, Operand, Pseudo, Region, Slice, Special, Specials};
use crate::backend::amd::mnemonic::Operation;
use crate::backend::amd::unit::Unit;
use crate::kernel::Origin;

/// No instruction, register or reader.
const NONE: u32 = u32::MAX;

/// An instruction that must come after another one, by this many cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub to: u32,
    /// 0 if only the order matters.
    pub latency: u32,
}

/// The dependences of a stretch. Instructions are numbered in the order of the source.
#[derive(Debug, Default)]
pub struct Graph {
    firsts: Vec<u32>,
    edges: Vec<Edge>,
    /// How many edges lead to each instruction.
    pub before: Vec<u32>,
}

impl Graph {
    fn new(count: usize, list: &[(u32, Edge)]) -> Graph {
        let (mut firsts, mut before) = (vec![0; count + 1], vec![0; count]);
        for (from, edge) in list {
            firsts[*from as usize + 1] += 1;
            before[edge.to as usize] += 1;
        }
        (0..count).for_each(|n| firsts[n + 1] += firsts[n]);
        let mut next = firsts.clone();
        let mut edges = vec![Edge { to: NONE, latency: 0 }; list.len()];
        for (from, edge) in list {
            let at = &mut next[*from as usize];
            edges[*at as usize] = *edge;
            *at += 1;
        }
        Graph { firsts, edges, before }
    }

    /// The instructions that depend on one.
    pub fn after(&self, n: u32) -> &[Edge] {
        &self.edges[self.firsts[n as usize] as usize..self.firsts[n as usize + 1] as usize]
    }
}

/// A part of a register in the current region.
#[derive(Clone, Copy)]
struct Cell {
    /// The region that the other fields refer to.
    stretch: u32,
    writer: u32,
    /// Index of its last reader in `Builder::readers`, which links to earlier ones.
    readers: u32,
    /// The number of its value in the stretch's lives.
    value: u32,
}

/// The parts of all registers, for one region after the other.
pub struct Cells {
    /// The first part of each register.
    firsts: Vec<u32>,
    cells: Vec<Cell>,
    stretch: u32,
}

/// Special registers that are cells, after the cells of the virtual registers.
const EXEC: u32 = 0;
const M0: u32 = 1;
const SHARED: u32 = 2;
const SPECIAL_CELLS: u32 = 3;

impl Cells {
    pub fn new(function: &Function) -> Cells {
        let mut count = 0;
        let firsts = function.registers.iter().map(|info| {
            let first = count;
            count += u32::from(info.width);
            first
        });
        let firsts = firsts.collect();
        let cell = Cell { stretch: 0, writer: NONE, readers: NONE, value: NONE };
        Cells { firsts, cells: vec![cell; (count + SPECIAL_CELLS) as usize], stretch: 0 }
    }

    fn special(&self, which: u32) -> u32 {
        self.cells.len() as u32 - SPECIAL_CELLS + which
    }

    fn at(&mut self, cell: u32) -> &mut Cell {
        let known = &mut self.cells[cell as usize];
        if known.stretch != self.stretch {
            *known = Cell { stretch: self.stretch, writer: NONE, readers: NONE, value: NONE };
        }
        known
    }
}

/// A flag register, some of whose writes are dead.
struct Flag {
    which: Specials,
    /// The last write whose value is needed.
    writer: u32,
    readers: Vec<u32>,
    /// The dead writes since, and the one that follows the readers.
    dead: Vec<u32>,
    gate: u32,
}

impl Flag {
    const fn new(which: Specials) -> Flag {
        Flag { which, writer: NONE, readers: Vec::new(), dead: Vec::new(), gate: NONE }
    }
}

/// Accesses to one memory.
struct Memory {
    /// The last access that must stay in place.
    last: u32,
    loads: Vec<u32>,
}

/// The memories that are independent of each other, and the chain of all accesses that others must see in order.
const SHARED_MEMORY: usize = 0;
const BUFFERS: usize = 1;
const PRIVATE: usize = 2;
const COHERENT: usize = 3;

/// Limit of the readers of a register that are kept away from its copies.
const COPY_READERS: usize = 16;

/// Builds the graph of one region.
pub struct Builder<'a> {
    function: &'a Function,
    cells: &'a mut Cells,
    nodes: &'a [Node],
    lives: &'a mut Lives,
    edges: Vec<(u32, Edge)>,
    readers: Vec<(u32, u32)>,
    flags: [Flag; 2],
    memories: [Memory; 4],
    /// Setups of cross-lane operations since the last gate, which is the first instruction of an operation after
    /// setups.
    set_ups: Vec<u32>,
    gate: u32,
}

impl<'a> Builder<'a> {
    pub fn new(function: &'a Function, cells: &'a mut Cells, nodes: &'a [Node], lives: &'a mut Lives) -> Builder<'a> {
        cells.stretch += 1;
        Builder {
            function,
            cells,
            nodes,
            lives,
            edges: Vec::new(),
            readers: Vec::new(),
            flags: [Flag::new(Specials::SCC), Flag::new(Specials::VCC)],
            memories: std::array::from_fn(|_| Memory { last: NONE, loads: Vec::new() }),
            set_ups: Vec::new(),
            gate: NONE,
        }
    }

    /// The dependences of the instructions.
    pub fn graph(mut self, insts: &[Inst]) -> Graph {
        let dead = dead_flags(insts);
        for (n, inst) in (0..).zip(insts) {
            self.specials(n, inst, dead[n as usize]);
            self.memory(n, inst);
            self.registers(n, inst);
            self.set_up(n, inst.origin);
            self.lives.end_of_inst();
        }
        Graph::new(insts.len(), &self.edges)
    }

    /// Keeps setups before the operations that follow them, so that listings of operations show them separately.
    fn set_up(&mut self, n: u32, origin: Origin) {
        match origin {
            Origin::Code => {}
            Origin::SetUp(_) => self.set_ups.push(n),
            Origin::Operation(_) | Origin::Within(_) => {
                self.edge(self.gate, n, 0);
                if !self.set_ups.is_empty() {
                    std::mem::take(&mut self.set_ups).into_iter().for_each(|set_up| self.edge(set_up, n, 0));
                    self.gate = n;
                }
            }
        }
    }

    fn edge(&mut self, from: u32, to: u32, latency: u32) {
        if from != NONE && from != to {
            self.edges.push((from, Edge { to, latency }));
        }
    }

    // Registers.

    fn registers(&mut self, n: u32, inst: &Inst) {
        for (at, operand) in inst.uses.iter().enumerate() {
            if let Operand::Reg(slice) = operand {
                let is_moved = at == 0 && inst.modifiers.dpp.is_some();
                self.parts(*slice).for_each(|cell| self.read(n, cell, is_moved));
                self.note(*slice, Mode::Read);
            }
        }
        self.keep_copies_free(n, inst);
        let is_declared = inst.code == Code::Pseudo(Pseudo::Declare);
        for (slice, kills) in inst.writes(&self.function.registers) {
            for cell in self.parts(slice) {
                if inst.keeps {
                    self.read(n, cell, false);
                }
                self.write(n, cell);
            }
            self.note(
                slice,
                if is_declared {
                    Mode::Declare
                } else if kills {
                    Mode::Write
                } else {
                    Mode::Keep
                },
            );
        }
    }

    fn parts(&self, slice: Slice) -> std::ops::Range<u32> {
        let first = self.cells.firsts[slice.reg.index()] + u32::from(slice.first);
        first..first + u32::from(slice.count)
    }

    fn read(&mut self, n: u32, cell: u32, is_moved: bool) {
        let writer = self.cells.at(cell).writer;
        if writer != NONE {
            let latency = self.nodes[writer as usize].latency;
            let latency = if is_moved { latency.max(self.nodes[n as usize].moved_latency) } else { latency };
            self.edge(writer, n, latency);
        }
        let last = self.cells.at(cell).readers;
        if last == NONE || self.readers[last as usize].0 != n {
            self.cells.at(cell).readers = self.readers.len() as u32;
            self.readers.push((n, last));
        }
    }

    fn write(&mut self, n: u32, cell: u32) {
        let Cell { writer, readers, .. } = *self.cells.at(cell);
        if writer != NONE {
            // Before anything else is written to a pending load's register, the load must be waited for.
            let node = &self.nodes[writer as usize];
            self.edge(writer, n, if node.load.is_some() { node.latency } else { 0 });
        }
        self.after_readers(n, readers, usize::MAX);
        let known = self.cells.at(cell);
        (known.writer, known.readers) = (n, NONE);
    }

    /// Puts an instruction after the last `most` readers of a chain, as far as they precede it in the source.
    fn after_readers(&mut self, n: u32, mut chain: u32, most: usize) {
        for _ in 0..most {
            if chain == NONE {
                break;
            }
            let (reader, next) = self.readers[chain as usize];
            if reader < n {
                self.edge(reader, n, 0);
            }
            chain = next;
        }
    }

    /// A copy is free if its ends share a place. So other reads of its source stay before it if they precede it in the
    /// source, and the source is written only after the remaining reads of the target.
    fn keep_copies_free(&mut self, n: u32, inst: &Inst) {
        let (Code::Pseudo(Pseudo::Copy), [Operand::Reg(to)], [Operand::Reg(from)]) =
            (inst.code, &inst.defs[..], &inst.uses[..])
        else {
            return;
        };
        for (to, from) in self.parts(*to).zip(self.parts(*from)) {
            let Cell { writer, readers, .. } = *self.cells.at(from);
            self.after_readers(n, readers, COPY_READERS);
            if writer != NONE {
                let others = self.cells.at(to).readers;
                self.after_readers(writer, others, COPY_READERS);
            }
        }
    }

    /// Notes an access in the lives of values.
    fn note(&mut self, slice: Slice, mode: Mode) {
        let is_vector = self.function.registers[slice.reg.index()].file == File::Vector;
        for (part, cell) in (0..).zip(self.parts(slice)) {
            let known = self.cells.at(cell).value;
            let value = match mode {
                Mode::Read | Mode::Keep if known != NONE => known,
                Mode::Read | Mode::Keep => self.lives.live_before(slice.part(part), is_vector),
                Mode::Write | Mode::Declare => self.lives.begun(slice.part(part), is_vector, known),
            };
            self.cells.at(cell).value = value;
            self.lives.access(value, mode);
        }
    }

    // Special registers.

    fn specials(&mut self, n: u32, inst: &Inst, dead: Specials) {
        let (reads, writes) = (specials_read(inst, self.function), inst.specials_written());
        for (special, which) in [(Specials::EXEC, EXEC), (Specials::M0, M0)] {
            let cell = self.cells.special(which);
            if reads.contains(special) {
                self.read(n, cell, false);
            }
            if writes.contains(special) {
                self.write(n, cell);
            }
        }
        if inst.defs.iter().chain(&inst.uses).any(|operand| *operand == Operand::Special(Special::SharedVector)) {
            let cell = self.cells.special(SHARED);
            self.read(n, cell, false);
            self.write(n, cell);
        }
        for at in 0..self.flags.len() {
            let which = self.flags[at].which;
            if reads.contains(which) || (writes.contains(which) && keeps_flag(inst, which)) {
                self.read_flag(n, at);
            }
            if writes.contains(which) {
                match dead.contains(which) {
                    true => self.write_dead_flag(n, at),
                    false => self.write_flag(n, at),
                }
            }
        }
    }

    fn read_flag(&mut self, n: u32, at: usize) {
        let writer = self.flags[at].writer;
        if writer != NONE {
            self.edge(writer, n, self.nodes[writer as usize].latency);
        }
        self.flags[at].readers.push(n);
    }

    fn write_flag(&mut self, n: u32, at: usize) {
        let which = self.flags[at].which;
        let Flag { writer, readers, dead, .. } = std::mem::replace(&mut self.flags[at], Flag::new(which));
        self.edge(writer, n, 0);
        readers.into_iter().chain(dead).for_each(|before| self.edge(before, n, 0));
        self.flags[at].writer = n;
    }

    fn write_dead_flag(&mut self, n: u32, at: usize) {
        let readers = std::mem::take(&mut self.flags[at].readers);
        let Flag { writer, gate, .. } = self.flags[at];
        self.edge(if gate == NONE { writer } else { gate }, n, 0);
        if !readers.is_empty() {
            readers.into_iter().for_each(|reader| self.edge(reader, n, 0));
            self.flags[at].gate = n;
        }
        self.flags[at].dead.push(n);
    }

    // Memory.

    fn memory(&mut self, n: u32, inst: &Inst) {
        let Some((memory, stays)) = accessed(inst) else { return };
        self.access(n, memory, stays);
        if inst.modifiers.coherent.is_some() {
            self.access(n, COHERENT, true);
        }
    }

    /// Loads may pass each other; everything else stays in source order.
    fn access(&mut self, n: u32, memory: usize, stays: bool) {
        let last = self.memories[memory].last;
        self.edge(last, n, 0);
        if stays {
            let loads = std::mem::take(&mut self.memories[memory].loads);
            loads.into_iter().for_each(|load| self.edge(load, n, 0));
            self.memories[memory].last = n;
        } else {
            self.memories[memory].loads.push(n);
        }
    }
}

/// Special registers that an instruction reads. A copy of a vector register becomes moves, which read EXEC.
fn specials_read(inst: &Inst, function: &Function) -> Specials {
    let is_vector = |operand: &Operand| matches!(operand, Operand::Reg(slice) if function.registers[slice.reg.index()].file == File::Vector);
    match inst.code {
        Code::Pseudo(Pseudo::Copy) if inst.defs.iter().any(is_vector) => inst.specials_read() | Specials::EXEC,
        _ => inst.specials_read(),
    }
}

/// The flags that each instruction writes without a reader. At the end of the region all are needed.
fn dead_flags(insts: &[Inst]) -> Vec<Specials> {
    let flags = Specials::SCC | Specials::VCC;
    let mut needed = flags;
    let mut dead = vec![Specials::empty(); insts.len()];
    for (n, inst) in insts.iter().enumerate().rev() {
        let writes = inst.specials_written() & flags;
        dead[n] = writes - needed;
        for flag in [Specials::SCC, Specials::VCC] {
            if writes.contains(flag) && !keeps_flag(inst, flag) {
                needed -= flag;
            }
        }
        needed |= inst.specials_read() & flags;
    }
    dead
}

/// Returns true if a write preserves a part of a flag, like a write of half of VCC.
fn keeps_flag(inst: &Inst, flag: Specials) -> bool {
    let is_half = |operand: &Operand| matches!(operand, Operand::Special(Special::VccLow | Special::VccHigh));
    flag == Specials::VCC && inst.defs.iter().any(is_half)
}

/// The memory that an instruction accesses, and true if it keeps its place among the accesses to it. `None` if it
/// accesses no memory, or read-only memory.
fn accessed(inst: &Inst) -> Option<(usize, bool)> {
    use Operation as O;
    let operation = inst.operation()?;
    let is_watched = inst.modifiers.coherent.is_some();
    let is_load = match operation.unit() {
        Unit::ScalarMemory => true,
        Unit::Memory => operation.is_load(),
        Unit::Lds => match operation {
            O::Swizzle | O::Bpermute | O::BpermuteFetchInactive | O::Permute => return None,
            _ => operation.is_shared_load(),
        },
        _ => return None,
    };
    let memory = match (operation.unit(), inst.modifiers.region) {
        (Unit::Lds, _) => SHARED_MEMORY,
        (_, Region::Constant) if is_load && !is_watched => return None,
        (_, Region::Private) => PRIVATE,
        _ => BUFFERS,
    };
    Some((memory, !is_load || is_watched))
}
