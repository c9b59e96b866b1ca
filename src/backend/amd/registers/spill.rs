//! Spills webs: vector registers to scratch memory, scalar ones to lanes of vector registers.
//!
//! Each use loads and each definition stores, under the EXEC of the instruction itself. So inactive lanes keep their
//! values in memory, as they would in a register. Registers whose inactive lanes are read are not spilled.

use super::Failure;
use super::place::Costs;
use super::webs::{Web, Webs, copied};
use crate::backend::amd::arch::Arch;
use crate::backend::amd::machine::{Code, Dpp, File, Function, Inst, Operand, Pseudo, Reg, Scratch, Slice};
use crate::backend::amd::mnemonic::{Generation, Operation};
use crate::limits;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Memory for spilled registers.
#[derive(Debug)]
pub struct Room {
    arch: Arch,
    /// Registers from this one on are temporary: they hold a value around one instruction.
    first_temporary: u32,
    /// Vector registers whose lanes hold scalars, and the number of used lanes of the last one.
    holders: Vec<Slice>,
    /// The declarations of holders that are not in the function yet.
    declared: Vec<Inst>,
    lanes: u32,
    words: u32,
    scalars: u32,
}

impl Room {
    pub fn new(function: &Function, arch: &Arch) -> Room {
        let first_temporary = function.registers.len() as u32;
        Room {
            arch: *arch,
            first_temporary,
            holders: Vec::new(),
            declared: Vec::new(),
            lanes: arch.wave,
            words: 0,
            scalars: 0,
        }
    }

    pub fn spilled_vectors(&self) -> u32 {
        self.words
    }

    pub fn spilled_scalars(&self) -> u32 {
        self.scalars
    }

    /// Memory for a web.
    fn home(&mut self, function: &mut Function, web: &Web) -> Result<Home, Failure> {
        let words = web.slots.len() as u32;
        match web.file {
            File::Vector if function.scratch.is_none() => Err(Failure::NeedsScratch),
            File::Vector => {
                let base = function.scratch_bytes.next_multiple_of(4);
                function.scratch_bytes = base + 4 * words;
                self.words += words;
                Ok(Home::Scratch(base))
            }
            File::Scalar => {
                self.scalars += words;
                Ok(Home::Lanes((0..words).map(|_| self.lane(function)).collect()))
            }
        }
    }

    fn lane(&mut self, function: &mut Function) -> (Slice, u32) {
        if self.lanes == self.arch.wave {
            let holder = function.register(File::Vector, 1);
            self.declared.push(Inst::new(Code::Pseudo(Pseudo::Declare), &[Operand::Reg(holder)], &[]));
            self.holders.push(holder);
            self.lanes = 0;
        }
        self.lanes += 1;
        (self.holders[self.holders.len() - 1], self.lanes - 1)
    }
}

/// The places of the words of a web.
#[derive(Clone, Debug)]
enum Home {
    /// Bytes from the start of the invocation's scratch memory.
    Scratch(u32),
    /// One lane of a vector register for each scalar register.
    Lanes(Vec<(Slice, u32)>),
}

/// The cost of keeping each web in memory: its accesses, weighted by loop depth, relative to its length; `None` if it
/// must stay in registers.
pub fn costs(function: &Function, webs: &Webs, depths: &[u32], room: &Room) -> Costs {
    let mut accesses = vec![0_u64; webs.webs.len()];
    let mut stays: BTreeSet<Reg> = BTreeSet::new();
    if let Some(Scratch::Buffer { resource }) = function.scratch {
        stays.insert(resource.reg);
    }
    for (block, depth) in function.blocks.iter().zip(depths) {
        let weight = 1_u64 << (3 * depth.min(&8));
        limits::spend(block.insts.len());
        for inst in &block.insts {
            let across = read_across(inst).map(|slice| slice.reg);
            stays.extend(across.filter(|reg| function.registers[reg.index()].file == File::Vector));
            let written = inst.writes(&function.registers).map(|(slice, _)| slice);
            inst.reads().chain(written).for_each(|slice| accesses[webs.home(slice.reg).0] += weight);
        }
    }
    let may_leave = |web: &Web| {
        let moves = |(reg, _): &(Reg, u16)| reg.0 < room.first_temporary && !stays.contains(reg);
        web.fixed.is_none() && web.members.iter().all(moves)
    };
    let cost = |(web, accesses): (&Web, u64)| may_leave(web).then(|| (accesses << 20) / web.length().max(1));
    webs.webs.iter().zip(accesses).map(cost).collect()
}

/// Vector registers whose inactive lanes an instruction reads or writes.
fn read_across(inst: &Inst) -> impl Iterator<Item = Slice> + '_ {
    use Operation as O;
    let fetches = match inst.modifiers.dpp {
        Some(Dpp::Rows(dpp)) => dpp.fetch_inactive,
        Some(Dpp::Eights(dpp)) => dpp.fetch_inactive,
        None => inst.modifiers.op_sel & 1 != 0 || inst.modifiers.swap_fetch[1],
    };
    let always =
        matches!(inst.operation(), Some(O::ReadLane | O::WriteLane | O::Permlane64 | O::BpermuteFetchInactive));
    let operands = inst.uses.iter().chain(&inst.defs).filter(move |_| fetches || always);
    operands.filter_map(|operand| if let Operand::Reg(slice) = operand { Some(*slice) } else { None })
}

/// Moves webs to memory.
///
/// # Errors
/// Returns an error if the moves need scratch memory and the function has none.
pub fn spill(function: &mut Function, webs: &Webs, evicted: &BTreeSet<usize>, room: &mut Room) -> Result<(), Failure> {
    let first_new = function.registers.len() as u32;
    let mut homes = BTreeMap::new();
    for web in evicted {
        homes.insert(*web, room.home(function, &webs.webs[*web])?);
    }
    // The last one comes first.
    function.blocks[0].insts.splice(0..0, room.declared.drain(..).rev());
    let blocks = std::mem::take(&mut function.blocks);
    let generation = room.arch.generation;
    let mut writer = Writer { function, webs, homes, generation, first_new, insts: Vec::new() };
    for mut block in blocks {
        for inst in block.insts.drain(..) {
            writer.rewrite(inst);
        }
        block.insts = std::mem::take(&mut writer.insts);
        writer.function.blocks.push(block);
    }
    Ok(())
}

struct Writer<'f> {
    function: &'f mut Function,
    webs: &'f Webs,
    homes: BTreeMap<usize, Home>,
    generation: Generation,
    /// Registers from this one on are not in a web.
    first_new: u32,
    /// The block that is being written.
    insts: Vec<Inst>,
}

impl Writer<'_> {
    /// The place of a register in memory: its home, and its first word there.
    fn home(&self, slice: Slice) -> Option<(Home, u32)> {
        if slice.reg.0 >= self.first_new {
            return None;
        }
        let (web, offset) = self.webs.home(slice.reg);
        let home = self.homes.get(&web)?;
        Some((home.clone(), u32::from(offset) + u32::from(slice.first)))
    }

    fn rewrite(&mut self, mut inst: Inst) {
        if let Some((to, from)) = copied(&inst)
            && self.copy(&inst, to, from)
        {
            return;
        }
        let mut loaded: SmallVec<[(Slice, Slice); 4]> = SmallVec::new();
        for n in 0..inst.uses.len() {
            let Operand::Reg(slice) = inst.uses[n] else { continue };
            let Some((home, word)) = self.home(slice) else { continue };
            let known = loaded.iter().find(|(of, _)| *of == slice).map(|(_, temporary)| *temporary);
            let temporary = known.unwrap_or_else(|| self.loaded(&inst, slice, &home, word));
            loaded.push((slice, temporary));
            inst.uses[n] = Operand::Reg(temporary);
        }
        let mut stores: SmallVec<[(Slice, Home, u32); 2]> = SmallVec::new();
        for n in 0..inst.defs.len() {
            let Operand::Reg(slice) = inst.defs[n] else { continue };
            let Some((home, word)) = self.home(slice) else { continue };
            if inst.code == Code::Pseudo(Pseudo::Declare) {
                return;
            }
            let temporary = if inst.keeps { self.loaded(&inst, slice, &home, word) } else { self.temporary(slice) };
            inst.defs[n] = Operand::Reg(temporary);
            stores.push((temporary, home, word));
        }
        let like = inst.clone();
        self.insts.push(inst);
        for (temporary, home, word) in stores {
            self.store(&like, temporary, &home, word);
        }
    }

    /// A copy with one end in memory is a single load or store.
    fn copy(&mut self, copy: &Inst, to: Slice, from: Slice) -> bool {
        match (self.home(to), self.home(from)) {
            (None, None) => return false,
            (Some((home, word)), None) => self.store(copy, from, &home, word),
            (None, Some((home, word))) => self.load(copy, to, copy.keeps, &home, word),
            (Some(_), Some(_)) if self.is_same_memory(to, from) => {}
            (Some((target, to_word)), Some((source, from_word))) => {
                let temporary = self.loaded(copy, from, &source, from_word);
                self.store(copy, temporary, &target, to_word);
            }
        }
        true
    }

    fn is_same_memory(&self, a: Slice, b: Slice) -> bool {
        let ((first, at), (second, other_at)) = (self.webs.home(a.reg), self.webs.home(b.reg));
        first == second && at + u16::from(a.first) == other_at + u16::from(b.first)
    }

    fn temporary(&mut self, like: Slice) -> Slice {
        let file = self.function.registers[like.reg.index()].file;
        self.function.register(file, like.count)
    }

    fn loaded(&mut self, like: &Inst, slice: Slice, home: &Home, word: u32) -> Slice {
        let temporary = self.temporary(slice);
        self.load(like, temporary, false, home, word);
        temporary
    }

    fn load(&mut self, like: &Inst, to: Slice, keeps: bool, home: &Home, word: u32) {
        let pieces = pieces(home, to);
        if pieces.len() > 1 && !keeps && to.count == self.function.registers[to.reg.index()].width {
            self.put(like, Inst::new(Code::Pseudo(Pseudo::Declare), &[Operand::Reg(to)], &[]));
        }
        for piece in pieces {
            let at = word + u32::from(piece.first - to.first);
            let mut load = match home {
                Home::Scratch(base) => self.scratch_access(like, load_of(piece.count), None, base + 4 * at),
                Home::Lanes(lanes) => lane_access(Operation::ReadLane, None, lanes[at as usize]),
            };
            load.defs = [Operand::Reg(piece)].into_iter().collect();
            load.keeps = keeps;
            self.put(like, load);
        }
    }

    fn store(&mut self, like: &Inst, from: Slice, home: &Home, word: u32) {
        for piece in pieces(home, from) {
            let at = word + u32::from(piece.first - from.first);
            let data = Some(Operand::Reg(piece));
            let store = match home {
                Home::Scratch(base) => self.scratch_access(like, store_of(piece.count), data, base + 4 * at),
                Home::Lanes(lanes) => lane_access(Operation::WriteLane, data, lanes[at as usize]),
            };
            self.put(like, store);
        }
    }

    fn put(&mut self, like: &Inst, inst: Inst) {
        limits::spend(1);
        limits::hold::<Inst>(1);
        self.insts.push(Inst { span: like.span, origin: like.origin, ..inst });
    }

    /// A load, or a store of `data`; an address out of the range of the instruction's offset is in a register.
    fn scratch_access(&mut self, like: &Inst, operation: Operation, data: Option<Operand>, byte: u32) -> Inst {
        let reach = reach(self.generation);
        let mut address = Operand::Off;
        if byte > reach {
            let register = self.function.register(File::Vector, 1);
            address = Operand::Reg(register);
            let base = Operand::Constant(byte - byte % (reach + 1));
            self.put(like, Inst::real(Operation::Move, &[address], &[base]));
        }
        let mut uses: SmallVec<[Operand; 4]> = SmallVec::new();
        let is_buffer = matches!(self.function.scratch, Some(Scratch::Buffer { .. }));
        match self.function.scratch {
            Some(Scratch::Buffer { resource }) => {
                uses.extend(data);
                uses.extend([address, Operand::Reg(resource), Operand::Constant(0)]);
            }
            _ => {
                uses.push(address);
                uses.extend(data);
                uses.push(Operand::Off);
            }
        }
        let mut inst = Inst::real(operation, &[], &uses);
        inst.modifiers.prefix = if is_buffer { "buffer_" } else { "scratch_" };
        inst.modifiers.offen = is_buffer && byte > reach;
        inst.modifiers.offset = byte % (reach + 1);
        inst
    }
}

/// The largest offset of scratch instructions that all of a generation support, of the form 2^n - 1.
const fn reach(generation: Generation) -> u32 {
    match generation {
        Generation::Rdna1 => 0x7ff,
        _ => 0xfff,
    }
}

/// A slice in pieces that one instruction moves.
fn pieces(home: &Home, slice: Slice) -> SmallVec<[Slice; 4]> {
    let mut pieces = SmallVec::new();
    let mut first = slice.first;
    let end = slice.first + slice.count;
    while first < end {
        let count = match (home, end - first) {
            (Home::Lanes(_), _) => 1,
            (Home::Scratch(_), 4..) => 4,
            (Home::Scratch(_), 2..) => 2,
            (Home::Scratch(_), _) => 1,
        };
        pieces.push(Slice { first, count, ..slice });
        first += count;
    }
    pieces
}

const fn load_of(words: u8) -> Operation {
    match words {
        4 => Operation::Load128,
        2 => Operation::Load64,
        _ => Operation::Load32,
    }
}

const fn store_of(words: u8) -> Operation {
    match words {
        4 => Operation::Store128,
        2 => Operation::Store64,
        _ => Operation::Store32,
    }
}

/// V_READLANE or V_WRITELANE of a lane.
fn lane_access(operation: Operation, data: Option<Operand>, (holder, lane): (Slice, u32)) -> Inst {
    let (holder, lane) = (Operand::Reg(holder), Operand::Constant(lane));
    match data {
        None => Inst::real(operation, &[], &[holder, lane]),
        Some(data) => {
            let mut write = Inst::real(operation, &[holder], &[data, lane]);
            write.keeps = true;
            write
        }
    }
}
