//! The start of a kernel: it loads its arguments and computes its position.

use super::emit::part;
use super::{Selector, Words};
use crate::backend::amd::arch::{Addressing, GroupIds};
use crate::backend::amd::interface::WAVE_BYTES;
use crate::backend::amd::machine::{File, Label, Operand, Region, Scratch, Special};
use crate::backend::amd::mnemonic::{Generation, Operation};
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::{BinOp, InstId, MemorySpace, OWN_WORD, Op, Origin, Value};
use crate::lane::primitive::LdsOp;
use crate::lane::{LaneFact, Primitive};
use std::collections::{BTreeMap, BTreeSet};

/// Limit of the push constant words in registers.
const PUSHED_WORDS: usize = 32;

/// The values that the prologue prepares, and the values that live as long as the kernel.
#[derive(Debug, Default)]
pub struct Start {
    /// The pointer to the arguments.
    pub arguments: Option<Operand>,
    /// Each buffer's address, or on gfx6 its resource.
    pub buffers: Vec<Option<Operand>>,
    pub sizes: Vec<Option<Operand>>,
    /// Words of the push constants, by their offsets.
    pub push: BTreeMap<u32, Operand>,
    built_ins: BTreeMap<(u8, u8), Operand>,
    /// The lane's number.
    pub lane: Option<Operand>,
    pub own_word: Option<OwnWord>,
    /// A resource over all memory (gfx6).
    pub all_memory: Option<Operand>,
    /// The end of the invocation.
    pub end: Label,
    /// The enclosing loops, and the start of their bodies.
    pub heads: Vec<(InstId, Label)>,
    /// The saved EXEC while all lanes run.
    pub active: Option<Operand>,
}

/// The address of a lane's own word of workgroup memory, in bytes from the start of the first wave's part.
#[derive(Clone, Copy, Debug)]
pub struct OwnWord {
    pub own: Operand,
    /// The wave's part, if there are several waves.
    pub part: Option<Operand>,
}

/// The facts that the kernel reads.
#[derive(Default)]
struct Wanted {
    groups: [bool; 3],
    locals: [bool; 3],
    index: bool,
    group_counts: bool,
    /// The use of the lane index, if there is one.
    lane: Option<Origin>,
    own_word: bool,
    physical: bool,
    scratch: bool,
    shared: bool,
}

impl Selector<'_> {
    /// Writes the start of the kernel.
    pub fn begin_kernel(&mut self, spills: bool) {
        self.start.end = Label(self.labels);
        self.labels += 1;
        let wanted = self.wanted(spills);
        let groups = self.inputs(&wanted);
        self.load_arguments(&wanted);
        if !spills {
            self.load_push_constants();
        }
        self.find_place(&wanted, groups);
        match wanted.lane {
            lane if wanted.own_word => self.made_for(Origin::SetUp(OWN_WORD), |s| s.find_own_word(lane)),
            Some(lane) => self.made_for(lane, Self::find_lane),
            None => {}
        }
        if (wanted.shared || wanted.own_word) && self.arch.generation < Generation::Vega {
            let origin = if wanted.shared { Origin::Code } else { Origin::SetUp(OWN_WORD) };
            self.made_for(origin, Self::unclamp_shared);
        }
    }

    /// Writes instructions with another origin than the code around them.
    fn made_for(&mut self, origin: Origin, write: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.origin, origin);
        write(self);
        self.origin = outer;
    }

    /// Before gfx9 M0 is the limit of addresses in workgroup memory.
    pub fn unclamp_shared(&mut self) {
        self.raw(Operation::ScalarMove, &[Operand::Special(Special::M0)], &[Operand::Constant(u32::MAX)]);
    }

    fn wanted(&self, spills: bool) -> Wanted {
        let mut wanted = Wanted { scratch: spills || self.kernel.private_bytes > 0, ..Wanted::default() };
        for inst in self.subject.tree.insts(self.kernel) {
            match self.kernel.insts[inst].op {
                Op::BuiltIn(BuiltIn::WorkgroupId, n) => wanted.groups[usize::from(n)] = true,
                Op::BuiltIn(BuiltIn::LocalInvocationId, n) => wanted.locals[usize::from(n)] = true,
                Op::BuiltIn(BuiltIn::LocalInvocationIndex, _) => wanted.index = true,
                Op::BuiltIn(BuiltIn::NumWorkgroups, _) => wanted.group_counts = true,
                Op::Fact(LaneFact::Index | LaneFact::Mask(_)) => {
                    wanted.lane.get_or_insert(self.kernel.insts[inst].origin);
                }
                Op::Prim { primitive: Primitive::Lds(LdsOp::Bounce), .. } => wanted.own_word = true,
                Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => {
                    wanted.shared |= access.space == MemorySpace::Shared;
                    wanted.physical |= access.space == MemorySpace::Physical;
                }
                _ => {}
            }
        }
        // In a one-dimensional workgroup the invocation index is in a register, and gives the lane index.
        let is_row = self.kernel.workgroup_size[1..] == [1, 1];
        if wanted.index || wanted.own_word || wanted.lane.is_some() && is_row {
            wanted.locals = [true, self.kernel.workgroup_size[1] > 1, self.kernel.workgroup_size[2] > 1];
            wanted.index = true;
        }
        wanted
    }

    /// Registers that the hardware fills: resource of scratch memory, arguments, workgroup indices. Returns the latter.
    fn inputs(&mut self, wanted: &Wanted) -> [Option<Operand>; 3] {
        let has_instructions = self.arch.processor.scratch_instructions;
        let by_resource = wanted.scratch && !has_instructions;
        let mut next = 0;
        let resource = by_resource.then(|| self.input(&mut next, 4));
        self.start.arguments = Some(self.input(&mut next, 2));
        self.needs.user_scalars = next.into();
        self.needs.scratch = wanted.scratch;
        self.needs.scratch_resource = by_resource;
        self.needs.group_ids = [true, wanted.groups[1], wanted.groups[2]];
        let groups = self.group_inputs(wanted, &mut next);
        if wanted.scratch && has_instructions {
            self.function.scratch = Some(Scratch::Instructions);
        }
        if let Some(resource) = resource {
            let offset = self.input(&mut next, 1);
            self.use_resource(resource, offset);
        }
        self.needs.filled_scalars = next.into();
        self.function.scratch_bytes = self.kernel.private_bytes.next_multiple_of(4);
        groups
    }

    fn input(&mut self, next: &mut u16, width: u8) -> Operand {
        let slice = self.function.fixed_register(File::Scalar, *next, width);
        *next += u16::from(width);
        Operand::Reg(slice)
    }

    fn group_inputs(&mut self, wanted: &Wanted, next: &mut u16) -> [Option<Operand>; 3] {
        match self.arch.group_ids() {
            GroupIds::Ttmp => [None; 3],
            ids => {
                let count = self.needs.group_ids.iter().filter(|wanted| **wanted).count() as u16;
                if ids == GroupIds::PaddedScalars {
                    *next = (*next).max(16 - count);
                    self.needs.user_scalars = (*next).into();
                }
                [0, 1, 2].map(|n| {
                    let id = self.needs.group_ids[n].then(|| self.input(next, 1));
                    id.filter(|_| wanted.groups[n])
                })
            }
        }
    }

    /// The wave's part of scratch memory starts at an offset, which is added to the resource's base.
    fn use_resource(&mut self, given: Operand, offset: Operand) {
        let resource = self.scalars(4);
        self.declare(resource);
        self.raw(Operation::ScalarAddCarryOut, &[part(resource, 0)], &[part(given, 0), offset]);
        self.raw(Operation::ScalarAddCarryIn, &[part(resource, 1)], &[part(given, 1), Operand::Constant(0)]);
        self.move_to(part(resource, 2), part(given, 2));
        self.move_to(part(resource, 3), part(given, 3));
        if let Operand::Reg(resource) = resource {
            self.function.scratch = Some(Scratch::Buffer { resource });
        }
    }

    // Arguments.

    /// Loads the words of the argument segment at an offset into a register of that size.
    pub fn load_argument(&mut self, offset: u32, to: Operand, words: u8) {
        let offset = match self.arch.generation {
            // The constant has 8 bits there, and a register is in bytes.
            Generation::Gcn1 if offset / 4 > 0xff => self.in_scalar(Operand::Constant(offset)),
            _ => self.scalar_offset(offset),
        };
        self.load_argument_at(offset, 0, to, words);
    }

    /// Loads the words at an offset plus the value of a scalar register.
    pub fn load_indexed_argument(&mut self, offset: u32, index: Operand, to: Operand, words: u8) {
        if self.arch.has_indexed_scalar_loads() && offset <= self.scalar_reach() {
            return self.load_argument_at(index, offset, to, words);
        }
        let sum = self.word_binary(BinOp::Add, Scalar::U32, [index, Operand::Constant(offset)]);
        self.load_argument_at(sum, 0, to, words);
    }

    fn load_argument_at(&mut self, at: Operand, offset: u32, to: Operand, words: u8) {
        let operation = match words {
            1 => Operation::LoadScalar32,
            2 => Operation::LoadScalar64,
            4 => Operation::LoadScalar128,
            _ => Operation::LoadScalar256,
        };
        let Some(arguments) = self.start.arguments else { return };
        let inst = self.raw(operation, &[to], &[arguments, at]);
        (inst.modifiers.offset, inst.modifiers.region) = (offset, Region::Constant);
    }

    /// The offset of a scalar load: in dwords on gfx6 and gfx7.
    pub fn scalar_offset(&self, bytes: u32) -> Operand {
        let in_dwords = self.arch.generation == Generation::Gcn1;
        Operand::Constant(if in_dwords { bytes / 4 } else { bytes })
    }

    fn load_arguments(&mut self, wanted: &Wanted) {
        self.load_addresses();
        self.start.sizes = (0..self.kernel.buffers.len())
            .map(|n| self.subject.interface.sizes[n])
            .map(|size| {
                size.map(|offset| {
                    let to = Operand::Reg(self.function.register(File::Scalar, 1));
                    self.load_argument(offset, to, 1);
                    to
                })
            })
            .collect();
        if let (true, Some(offset)) = (wanted.group_counts, self.subject.interface.groups) {
            for n in 0..3 {
                let to = self.scalars(1);
                self.load_argument(offset + 4 * u32::from(n), to, 1);
                self.start.built_ins.insert((key(BuiltIn::NumWorkgroups), n), to);
            }
        }
        if wanted.physical && self.arch.processor.addressing == Addressing::Buffer {
            self.start.all_memory = Some(self.resource(None));
        }
    }

    /// Loads the push constants at known offsets once, neighbours together, if registers can hold them for the whole
    /// kernel.
    fn load_push_constants(&mut self) {
        let wanted = self.pushed_words();
        if wanted.len() > PUSHED_WORDS {
            return;
        }
        let end = self.kernel.push_bytes.next_multiple_of(4);
        let mut left = wanted.iter().copied();
        let mut next = left.next();
        while let Some(first) = next {
            let is_worth = |count: &u32| {
                let last = first + 4 * count;
                last <= end && 4 * wanted.range(first..last).count() as u32 >= 3 * count
            };
            let count = [8, 4, 2].into_iter().find(is_worth).unwrap_or(1);
            let to = self.scalars(count as u8);
            self.load_argument(self.subject.interface.push + first, to, count as u8);
            self.start.push.extend((0..count).map(|n| (first + 4 * n, part(to, n as u8))));
            next = left.find(|offset| *offset >= first + 4 * count);
        }
    }

    /// The offsets of the words of push constants that the kernel loads at constant addresses.
    fn pushed_words(&self) -> BTreeSet<u32> {
        let mut words = BTreeSet::new();
        for inst in self.subject.tree.insts(self.kernel) {
            let Op::Load(access) = self.kernel.insts[inst].op else { continue };
            let index = self.kernel.as_constant(self.kernel.args(inst)[0]).and_then(|index| u32::try_from(index).ok());
            let is_whole = access.bytes >= 4 && access.align >= 4 && !access.volatile;
            let (MemorySpace::Push, Some(index), true) = (access.space, index, is_whole) else { continue };
            let Some(first) = index.checked_add(access.offset) else { continue };
            let count = u32::from(access.components) * u32::from(access.bytes) / 4;
            words.extend((0..count).filter_map(|n| first.checked_add(4 * n)));
        }
        words
    }

    /// Loads the addresses of the buffers, several per load.
    fn load_addresses(&mut self) {
        let used = self.subject.interface.is_used.clone();
        self.start.buffers = vec![None; used.len()];
        let mut n = 0;
        while n < used.len() {
            if !used[n] {
                n += 1;
                continue;
            }
            let offset = self.subject.interface.addresses[n];
            if self.arch.processor.addressing == Addressing::Buffer {
                self.start.buffers[n] = Some(self.resource(Some(offset)));
                n += 1;
                continue;
            }
            let together = if used[n..].starts_with(&[true; 4]) {
                4
            } else if used[n..].starts_with(&[true; 2]) {
                2
            } else {
                1
            };
            let to = self.scalars(2 * together as u8);
            self.load_argument(offset, to, 2 * together as u8);
            for pair in 0..together {
                let words = [part(to, 2 * pair as u8), part(to, 2 * pair as u8 + 1)];
                self.start.buffers[n + pair] = Some(self.whole(&words, File::Scalar));
            }
            n += together;
        }
    }

    /// A buffer resource (gfx6): the address from the arguments, or all memory; the maximum size, so that nothing is
    /// out of range; 32-bit data without a format (LLVM's default data format of gfx6).
    fn resource(&mut self, address: Option<u32>) -> Operand {
        let to = self.scalars(4);
        self.declare(to);
        match (address, to) {
            (Some(offset), Operand::Reg(slice)) => {
                let pair = crate::backend::amd::machine::Slice { count: 2, ..slice };
                self.load_argument(offset, Operand::Reg(pair), 2);
            }
            _ => {
                self.move_to(part(to, 0), Operand::Constant(0));
                self.move_to(part(to, 1), Operand::Constant(0));
            }
        }
        self.move_to(part(to, 2), Operand::Constant(u32::MAX));
        self.move_to(part(to, 3), Operand::Constant(0xf000));
        to
    }

    // Computes the position of the invocation.

    fn find_place(&mut self, wanted: &Wanted, groups: [Option<Operand>; 3]) {
        self.needs.local_ids = (0..3).rev().find(|n| wanted.locals[*n]).unwrap_or(0) as u8;
        for n in (0..3).filter(|n| wanted.groups[*n]) {
            let id = groups[n].unwrap_or_else(|| self.group_in_ttmp(n));
            self.start.built_ins.insert((key(BuiltIn::WorkgroupId), n as u8), id);
        }
        let locals = self.local_inputs(wanted);
        for (n, local) in locals.into_iter().enumerate() {
            if let Some(local) = local {
                self.start.built_ins.insert((key(BuiltIn::LocalInvocationId), n as u8), local);
            }
        }
        if wanted.index {
            let index = self.linear_index(locals);
            self.start.built_ins.insert((key(BuiltIn::LocalInvocationIndex), 0), index);
        }
    }

    /// gfx12: x in TTMP9, y and z in the halves of TTMP7.
    fn group_in_ttmp(&mut self, n: usize) -> Operand {
        let ttmp = |n| Operand::Special(Special::Ttmp(n));
        match n {
            0 => self.scalar(Operation::ScalarMove, &[ttmp(9)]),
            1 => self.scalar(Operation::ScalarAnd, &[ttmp(7), Operand::Constant(0xffff)]),
            _ => self.scalar(Operation::ScalarShr, &[ttmp(7), Operand::Constant(16)]),
        }
    }

    /// The local indices, in separate registers or ten bits each. If only x is requested, the other bits are zero: LLVM
    /// relies on this too.
    fn local_inputs(&mut self, wanted: &Wanted) -> [Option<Operand>; 3] {
        if !wanted.locals.contains(&true) {
            return [None; 3];
        }
        if !self.arch.processor.packed_ids {
            return [0, 1, 2].map(|n| {
                wanted.locals[usize::from(n)].then(|| Operand::Reg(self.function.fixed_register(File::Vector, n, 1)))
            });
        }
        let is_alone = wanted.locals == [true, false, false];
        let packed = Operand::Reg(self.function.fixed_register(File::Vector, 0, 1));
        [0, 1, 2].map(|n: u32| {
            wanted.locals[n as usize].then(|| match n {
                0 if is_alone => packed,
                0 => self.vector(Operation::AndB32, &[Operand::Constant(0x3ff), packed]),
                _ => self.vector(Operation::BfeU32, &[packed, Operand::Constant(10 * n), Operand::Constant(10)]),
            })
        })
    }

    /// `x + width * (y + height * z)`.
    fn linear_index(&mut self, locals: [Option<Operand>; 3]) -> Operand {
        let [width, height, _] = self.kernel.workgroup_size;
        let mut index = None;
        for (local, factor) in [(locals[2], height), (locals[1], width), (locals[0], 1)] {
            index = match (index, local) {
                (None, local) => local,
                (Some(sum), None) => Some(sum),
                (Some(sum), Some(local)) => Some(self.vector(Operation::AddU32, &[local, sum])),
            };
            if factor > 1
                && let Some(sum) = index
            {
                index = Some(self.multiply_by(sum, factor));
            }
        }
        index.unwrap_or(Operand::Constant(0))
    }

    /// The lane index: the low bits of the invocation index if that is known, because waves start at multiples of their
    /// size.
    fn find_lane(&mut self) {
        let index = self.start.built_ins.get(&(key(BuiltIn::LocalInvocationIndex), 0)).copied();
        match index {
            Some(index) if self.kernel.invocations() <= self.arch.wave => self.start.lane = Some(index),
            Some(index) => {
                let low = self.vector(Operation::AndB32, &[Operand::Constant(self.arch.wave - 1), index]);
                self.start.lane = Some(low);
            }
            None => self.count_lanes(),
        }
    }

    fn count_lanes(&mut self) {
        let all = Operand::Constant(u32::MAX);
        let mut lane = self.vector(Operation::CountBelowLow, &[all, Operand::Constant(0)]);
        if self.arch.wave == 64 {
            lane = self.vector(Operation::CountBelowHigh, &[all, lane]);
        }
        self.start.lane = Some(lane);
    }

    /// The lane's word is at four times the lane index in the wave's part of workgroup memory, which the wave index
    /// selects. The instructions' offset is the start of all waves' parts. Whole-wave code uses the address in all
    /// lanes, so all lanes compute it.
    fn find_own_word(&mut self, lane: Option<Origin>) {
        let part = (self.kernel.invocations() > self.arch.wave).then(|| {
            let index = self.start.built_ins[&(key(BuiltIn::LocalInvocationIndex), 0)];
            let index = self.in_scalar(index);
            let wave = self.scalar(Operation::ScalarShr, &[index, Operand::Constant(self.arch.wave.trailing_zeros())]);
            self.scalar(Operation::ScalarShl, &[wave, Operand::Constant(WAVE_BYTES.trailing_zeros())])
        });
        let saved = self.all_lanes();
        self.made_for(lane.unwrap_or(self.origin), Self::count_lanes);
        let lane = self.start.lane.unwrap_or(Operand::Constant(0));
        let mut own = self.vector(Operation::ShlB32, &[Operand::Constant(2), lane]);
        if let Some(part) = part {
            own = self.vector(Operation::AddU32, &[part, own]);
        }
        self.only_lanes(saved);
        self.start.own_word = Some(OwnWord { own, part });
    }

    pub fn built_in(&mut self, built_in: BuiltIn, component: u8) -> Words {
        match self.start.built_ins.get(&(key(built_in), component)) {
            Some(operand) => [*operand].into_iter().collect(),
            None => self.refused("this built-in variable"),
        }
    }

    pub fn buffer_bytes(&mut self, buffer: u32) -> Words {
        match self.start.sizes.get(buffer as usize).copied().flatten() {
            Some(size) => [size].into_iter().collect(),
            None => self.refused("the size of this buffer"),
        }
    }

    /// A value in scalar registers, which must be uniform.
    pub fn uniform_word(&mut self, value: Value) -> Operand {
        let word = self.word(value);
        self.scalar_operand(word)
    }
}

/// The built-in variables that the start computes, in the order of a map.
const fn key(built_in: BuiltIn) -> u8 {
    match built_in {
        BuiltIn::WorkgroupId => 0,
        BuiltIn::NumWorkgroups => 1,
        BuiltIn::LocalInvocationId => 2,
        BuiltIn::LocalInvocationIndex => 3,
        _ => u8::MAX,
    }
}
