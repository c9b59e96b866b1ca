//! Loads and stores of buffers, workgroup memory, scratch memory and arguments, and barriers.
//!
//! An access is split into pieces of 1 to 4 words that its alignment allows. The scalar unit loads uniform values from
//! memory that is read-only or not written yet.

use super::Selector;
use super::arithmetic::number;
use super::emit::{FALSE, part};
use super::halves::Half;
use crate::backend::amd::arch::Addressing;
use crate::backend::amd::machine::{
    Code, Fence, File, Inst, Modifiers, Operand, Pseudo, Reach, Region, Scratch, Slice,
};
use crate::backend::amd::mnemonic::{Generation, Operation};
use crate::ir::{MemoryKinds, Order, Scalar, Scope};
use crate::kernel::{BinOp, InstId, MemoryAccess, MemorySpace, Value};
use smallvec::SmallVec;

/// Consecutive words, or one smaller component.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Index of its first word, or of its component.
    first: usize,
    count: usize,
    /// Bytes from the address of the access.
    offset: u32,
}

/// An address in the form of an instruction's operands.
#[derive(Clone, Debug)]
pub struct Address {
    /// Address register and offsets, in text order.
    pub operands: SmallVec<[Operand; 4]>,
    pub modifiers: Modifiers,
    /// The largest offset that the instruction can add.
    pub most: u32,
}

/// The place of a scalar load: a 64-bit base, a register to add to it, and an offset in bytes.
#[derive(Clone, Copy, Debug)]
struct ScalarPlace {
    base: Operand,
    index: Option<Operand>,
    offset: u32,
}

/// An address already computed for a flat instruction in the block.
#[derive(Clone, Copy, Debug)]
pub struct FlatAddress {
    /// Base, index and offset.
    parts: (Operand, Operand, u32),
    pair: Operand,
}

/// Limit of the cached addresses: each one occupies two registers as long as it may be reused.
const FLAT_ADDRESSES: usize = 4;

impl Address {
    /// The place some bytes later.
    fn plus(&self, bytes: u32) -> Address {
        let mut address = self.clone();
        address.modifiers.offset += bytes;
        address
    }
}

/// The pieces of an access: words if components have any, otherwise components. `widest` returns the number of words
/// that an instruction moves at an alignment of `align` bytes.
fn pieces(access: MemoryAccess, widest: impl Fn(u32) -> usize) -> Vec<Piece> {
    let components = usize::from(access.components);
    if access.bytes < 4 {
        let bytes = u32::from(access.bytes);
        return (0..components).map(|first| Piece { first, count: 1, offset: first as u32 * bytes }).collect();
    }
    let words = components * usize::from(access.bytes) / 4;
    let mut pieces = Vec::new();
    let mut first = 0;
    while first < words {
        let offset = 4 * first as u32;
        let align = if offset == 0 { access.align } else { access.align.min(1 << offset.trailing_zeros()) };
        let left = words - first;
        let count = widest(align).min(left);
        // Three words only if an instruction moves as many.
        let count = if count == 3 && widest(u32::MAX) < 4 { 2 } else { count };
        pieces.push(Piece { first, count, offset });
        first += count;
    }
    pieces
}

/// A 16-bit access split into an access of word pairs and an access of the remaining components.
#[derive(Clone, Copy, Debug)]
struct Pairs {
    words: Option<MemoryAccess>,
    rest: Option<MemoryAccess>,
}

/// Returns true if a 16-bit access moves words of two components.
pub fn packs(access: MemoryAccess) -> bool {
    access.bytes == 2 && access.align >= 4 && access.components > 1
}

/// The pairs of an access that its alignment allows.
fn pairs(access: MemoryAccess) -> Pairs {
    if !packs(access) {
        return Pairs { words: None, rest: Some(access) };
    }
    let count = access.components / 2;
    let words = MemoryAccess { bytes: 4, components: count, ..access };
    let offset = access.offset.saturating_add(4 * u32::from(count));
    let rest = MemoryAccess { components: 1, offset, align: 4, ..access };
    Pairs { words: Some(words), rest: (access.components % 2 == 1).then_some(rest) }
}

impl Selector<'_> {
    pub fn load(&mut self, inst: InstId, access: MemoryAccess) {
        let results: Vec<Value> = self.kernel.results(inst).collect();
        let pairs = pairs(access);
        if let Some(words) = pairs.words {
            let loaded = self.load_words(inst, words);
            let halves = loaded.iter().flat_map(|word| [false, true].map(|is_high| Half::of(*word, is_high)));
            results.iter().zip(halves).for_each(|(value, half)| self.give_half(*value, half));
        }
        let Some(rest) = pairs.rest else { return };
        let results = &results[results.len() - usize::from(rest.components)..];
        let words = self.load_words(inst, rest);
        let width = if access.bytes == 8 { 2 } else { 1 };
        for (value, words) in results.iter().zip(words.chunks(width)) {
            self.give(*value, words.into());
        }
    }

    fn load_words(&mut self, inst: InstId, access: MemoryAccess) -> Vec<Operand> {
        let address = self.kernel.args(inst)[0];
        match access.space {
            _ if self.is_scalar_load(inst, access, address) => self.load_scalars(access, address),
            MemorySpace::Push => self.load_push(access, address),
            MemorySpace::Shared => self.load_shared(access, address),
            _ => self.load_lanes(access, address),
        }
    }

    pub fn store(&mut self, inst: InstId, access: MemoryAccess) {
        let (address, values) = (self.kernel.args(inst)[0], &self.kernel.args(inst)[1..]);
        if access.bytes == 2 {
            return self.store_halves(access, address, values);
        }
        let mut words = Vec::new();
        for value in values {
            words.extend(self.words(*value));
        }
        self.store_words(access, address, &words, false);
    }

    /// Stores words, or halves of them.
    fn store_words(&mut self, access: MemoryAccess, address: Value, words: &[Operand], are_high: bool) {
        match access.space {
            MemorySpace::Shared => self.store_shared(access, address, words, are_high),
            _ => self.store_lanes(access, address, words, are_high),
        }
    }

    fn store_halves(&mut self, access: MemoryAccess, address: Value, values: &[Value]) {
        let pairs = pairs(access);
        let halves: Vec<Half> = values.iter().map(|value| self.half(*value)).collect();
        let mut rest = &halves[..];
        if let Some(words) = pairs.words {
            let (paired, others) = halves.split_at(2 * usize::from(words.components));
            rest = others;
            let packed: Vec<Operand> = paired.chunks(2).map(|pair| self.packed(pair[0], pair[1])).collect();
            self.store_words(words, address, &packed, false);
        }
        for (n, half) in rest.iter().enumerate() {
            let Some(access) = pairs.rest else { return };
            let offset = 2 * n as u32;
            let align = if offset == 0 { access.align } else { access.align.min(1 << offset.trailing_zeros()) };
            let access = MemoryAccess { components: 1, offset: access.offset.saturating_add(offset), align, ..access };
            self.store_half(access, address, *half);
        }
    }

    fn store_half(&mut self, access: MemoryAccess, address: Value, half: Half) {
        let can = half.is_high && self.exists(Operation::Store16High);
        let word = if can || !half.is_high { half.word } else { self.cleaned(half) };
        self.store_words(access, address, &[word], can);
    }

    // By the scalar unit.

    /// Returns true if all lanes load the same words of memory that does not change while the kernel runs, or has not
    /// changed yet.
    fn is_scalar_load(&self, inst: InstId, access: MemoryAccess, address: Value) -> bool {
        let is_constant = match access.space {
            MemorySpace::Push => true,
            MemorySpace::Buffer(buffer) => {
                let is_quiet = self.subject.quiet.contains(inst) && !access.coherent;
                is_quiet || self.kernel.buffers[buffer as usize].is_constant()
            }
            _ => false,
        };
        is_constant && access.bytes >= 4 && access.align >= 4 && self.is_uniform(address) && !access.volatile
    }

    fn load_scalars(&mut self, access: MemoryAccess, address: Value) -> Vec<Operand> {
        let base = match access.space {
            MemorySpace::Buffer(buffer) => self.start.buffers[buffer as usize],
            _ => self.start.arguments,
        };
        // On gfx6 the address is the start of a resource.
        let Some(Operand::Reg(base)) = base else { return Vec::new() };
        let base = Operand::Reg(Slice { count: 2, ..base });
        let added = match access.space {
            MemorySpace::Push => self.subject.interface.push,
            _ => 0,
        };
        let offset = access.offset.saturating_add(added);
        let words = usize::from(access.components) * usize::from(access.bytes) / 4;
        if access.space == MemorySpace::Push
            && let Some(known) = self.known_push(address, access.offset, words)
        {
            return known;
        }
        let place = self.scalar_place(base, address, offset, 4 * words as u32);
        let mut loaded = Vec::new();
        while loaded.len() < words {
            let count = [8, 4, 2, 1].into_iter().find(|count| *count <= words - loaded.len()).unwrap_or(1);
            let to = self.scalars(count as u8);
            let region = self.region(access);
            self.load_scalar(scalar_load(count), to, place, 4 * loaded.len() as u32, region);
            loaded.extend(self.words_of(to, count as u8));
        }
        loaded
    }

    /// One scalar load of words some bytes after a place.
    fn load_scalar(&mut self, operation: Operation, to: Operand, place: ScalarPlace, bytes: u32, region: Region) {
        let ScalarPlace { base, index, offset } = place;
        let offset = offset + bytes;
        let (index, offset) = match index {
            Some(index) => (index, offset),
            None => (self.scalar_offset(offset), 0),
        };
        let inst = self.raw(operation, &[to], &[base, index]);
        (inst.modifiers.offset, inst.modifiers.region) = (offset, region);
    }

    /// Push constants that the start has loaded.
    fn known_push(&mut self, address: Value, offset: u32, words: usize) -> Option<Vec<Operand>> {
        let Operand::Constant(index) = self.word(address) else { return None };
        let first = index.checked_add(offset)?;
        (0..words as u32).map(|n| self.start.push.get(&(first.checked_add(4 * n)?)).copied()).collect()
    }

    /// The place of a scalar load of this many bytes, such that its constant offset reaches the end.
    fn scalar_place(&mut self, base: Operand, address: Value, offset: u32, bytes: u32) -> ScalarPlace {
        let address = self.uniform_word(address);
        let reaches = offset.checked_add(bytes).is_some_and(|end| end <= self.scalar_reach());
        let (index, offset) = match (address, reaches) {
            (Operand::Constant(0), true) => return ScalarPlace { base, index: None, offset },
            (index, true) => (index, offset),
            (index, false) => (self.word_binary(BinOp::Add, Scalar::U32, [index, number(offset)]), 0),
        };
        if matches!(index, Operand::Reg(_)) && self.arch.has_indexed_scalar_loads() {
            return ScalarPlace { base, index: Some(index), offset };
        }
        let words = self.long_sum(false, &[part(base, 0), part(base, 1)], &[index, FALSE]);
        ScalarPlace { base: self.whole(&words, File::Scalar), index: None, offset }
    }

    /// Range of a scalar load's offset in bytes: 8 bits of dwords, 20 or more of bytes (GCN 3 and RDNA 2 ISA, SMEM).
    pub fn scalar_reach(&self) -> u32 {
        if self.arch.generation == Generation::Gcn1 { 255 * 4 } else { (1 << 20) - 1 }
    }

    // Push constants by lane.

    /// Push constants at an address that lanes compute: loaded from the arguments as from a buffer.
    fn load_push(&mut self, access: MemoryAccess, address: Value) -> Vec<Operand> {
        let added = self.subject.interface.push;
        let access = MemoryAccess { offset: access.offset.saturating_add(added), ..access };
        let Some(base) = self.start.arguments else { return Vec::new() };
        let base = match self.arch.processor.addressing {
            Addressing::Buffer => {
                let words = [part(base, 0), part(base, 1), number(u32::MAX), number(0xf000)];
                self.whole(&words, File::Scalar)
            }
            _ => base,
        };
        let index = self.word(address);
        let mut at = self.buffer_address(base, index, access);
        at.modifiers.region = self.region(access);
        self.load_pieces(access, &at)
    }

    // By lane.

    fn load_lanes(&mut self, access: MemoryAccess, address: Value) -> Vec<Operand> {
        match self.address(access, address) {
            Some(at) => self.load_pieces(access, &at),
            None => Vec::new(),
        }
    }

    /// Words that one instruction moves. Scratch memory behind a resource is interleaved lane by lane in single words,
    /// and an access must stay inside one (LLVM: `MaxPrivateElementSize`).
    fn widest_words(&self, space: MemorySpace) -> usize {
        match (space, self.function.scratch) {
            (MemorySpace::Private(_), Some(Scratch::Buffer { .. })) => 1,
            _ if Operation::Load96.spelling(self.arch.generation).is_some() => 4,
            _ => 2,
        }
    }

    fn load_pieces(&mut self, access: MemoryAccess, at: &Address) -> Vec<Operand> {
        let widest = self.widest_words(access.space);
        let mut loaded = Vec::new();
        for piece in pieces(access, |_| widest) {
            let to = self.vectors(piece.count as u8);
            let operation = match (access.bytes, piece.count) {
                (1, _) => Operation::LoadU8,
                (2, _) => Operation::LoadU16,
                (_, 1) => Operation::Load32,
                (_, 2) => Operation::Load64,
                (_, 3) => Operation::Load96,
                _ => Operation::Load128,
            };
            let at = self.reached(at.plus(piece.offset));
            self.raw(operation, &[to], &at.operands).modifiers = at.modifiers;
            loaded.extend(self.words_of(to, piece.count as u8));
        }
        loaded
    }

    fn store_lanes(&mut self, access: MemoryAccess, address: Value, words: &[Operand], are_high: bool) {
        let Some(at) = self.address(access, address) else { return };
        let widest = self.widest_words(access.space);
        for piece in pieces(access, |_| widest) {
            let data = self.whole(&words[piece.first..piece.first + piece.count], File::Vector);
            let operation = match (access.bytes, piece.count) {
                (1, _) => Operation::Store8,
                (2, _) if are_high => Operation::Store16High,
                (2, _) => Operation::Store16,
                (_, 1) => Operation::Store32,
                (_, 2) => Operation::Store64,
                (_, 3) => Operation::Store96,
                _ => Operation::Store128,
            };
            let at = self.reached(at.plus(piece.offset));
            let uses = stored(&at, data);
            self.raw(operation, &[], &uses).modifiers = at.modifiers;
        }
    }

    /// The place of an access; reports an error and returns `None` if it cannot be accessed.
    pub fn address(&mut self, access: MemoryAccess, address: Value) -> Option<Address> {
        let mut at = self.address_in_space(access, address)?;
        at.modifiers.region = self.region(access);
        Some(at)
    }

    /// The memory that an access may reach.
    fn region(&self, access: MemoryAccess) -> Region {
        match access.space {
            MemorySpace::Push => Region::Constant,
            MemorySpace::Buffer(buffer) if self.kernel.buffers[buffer as usize].is_constant() => Region::Constant,
            MemorySpace::Private(_) => Region::Private,
            _ => Region::Buffers,
        }
    }

    fn address_in_space(&mut self, access: MemoryAccess, address: Value) -> Option<Address> {
        match access.space {
            MemorySpace::Buffer(buffer) => {
                let base = self.start.buffers[buffer as usize]?;
                let index = self.word(address);
                Some(self.buffer_address(base, index, access))
            }
            MemorySpace::Physical => Some(self.physical_address(access, address)),
            MemorySpace::Private(_) => self.private_address(access, address),
            _ => {
                self.refused("this access to push constants");
                None
            }
        }
    }

    fn modifiers(prefix: &'static str, access: MemoryAccess) -> Modifiers {
        Modifiers { prefix, offset: access.offset, coherent: reach_of(access), ..Modifiers::default() }
    }

    /// A byte index into a buffer; `base` is its address, or its resource on gfx6.
    fn buffer_address(&mut self, base: Operand, index: Operand, access: MemoryAccess) -> Address {
        match self.arch.processor.addressing {
            Addressing::Buffer => {
                let index = self.in_vector(index);
                let modifiers = Modifiers { offen: true, ..Self::modifiers("buffer_", access) };
                Address { operands: [index, base, FALSE].into_iter().collect(), modifiers, most: 4095 }
            }
            Addressing::Flat => {
                let pair = self.flat_address(base, index, access.offset);
                let modifiers = Modifiers { offset: 0, ..Self::modifiers("flat_", access) };
                Address { operands: [pair].into_iter().collect(), modifiers, most: 0 }
            }
            Addressing::Global { offset_bits } => {
                let index = self.in_vector(index);
                let modifiers = Self::modifiers("global_", access);
                let most = (1 << (offset_bits - 1)) - 1;
                Address { operands: [index, base].into_iter().collect(), modifiers, most }
            }
        }
    }

    /// The sum of a base, an index and an offset in a pair of vector registers: one that the block has, or a new one.
    fn flat_address(&mut self, base: Operand, index: Operand, offset: u32) -> Operand {
        let parts = (base, index, offset);
        if let Some(known) = self.flat.iter().find(|known| known.parts == parts) {
            return known.pair;
        }
        let words = match self.lower_address(parts) {
            Some((lower, more)) => self.long_sum(false, &[part(lower, 0), part(lower, 1)], &[number(more), FALSE]),
            None => {
                let index = match offset {
                    0 => index,
                    _ => self.word_binary(BinOp::Add, Scalar::U32, [index, number(offset)]),
                };
                self.long_sum(false, &[part(base, 0), part(base, 1)], &[index, FALSE])
            }
        };
        let pair = self.whole(&words, File::Vector);
        if self.flat.len() == FLAT_ADDRESSES {
            self.flat.remove(0);
        }
        self.flat.push(FlatAddress { parts, pair });
        pair
    }

    /// An address of the block for the same base and index at a smaller offset, and how many bytes are between.
    fn lower_address(&self, (base, index, offset): (Operand, Operand, u32)) -> Option<(Operand, u32)> {
        self.flat.iter().find_map(|known| match known.parts {
            (b, i, lower) if (b, i) == (base, index) => Some((known.pair, offset.checked_sub(lower)?)),
            _ => None,
        })
    }

    fn physical_address(&mut self, access: MemoryAccess, address: Value) -> Address {
        let words = self.words(address);
        let modifiers = |prefix| Self::modifiers(prefix, access);
        match self.arch.processor.addressing {
            Addressing::Buffer => {
                let pair = self.whole(&words, File::Vector);
                let base = self.start.all_memory.unwrap_or(FALSE);
                let modifiers = Modifiers { addr64: true, ..modifiers("buffer_") };
                Address { operands: [pair, base, FALSE].into_iter().collect(), modifiers, most: 4095 }
            }
            Addressing::Flat => {
                let words = self.long_sum(false, &words, &[number(access.offset), FALSE]);
                let pair = self.whole(&words, File::Vector);
                let modifiers = Modifiers { offset: 0, ..modifiers("flat_") };
                Address { operands: [pair].into_iter().collect(), modifiers, most: 0 }
            }
            Addressing::Global { offset_bits } => {
                let pair = self.whole(&words, File::Vector);
                let most = (1 << (offset_bits - 1)) - 1;
                Address { operands: [pair, Operand::Off].into_iter().collect(), modifiers: modifiers("global_"), most }
            }
        }
    }

    fn private_address(&mut self, access: MemoryAccess, address: Value) -> Option<Address> {
        let index = self.word(address);
        let index = self.in_vector(index);
        match self.function.scratch? {
            Scratch::Buffer { resource } => {
                let modifiers = Modifiers { offen: true, ..Self::modifiers("buffer_", access) };
                let operands = [index, Operand::Reg(resource), FALSE].into_iter().collect();
                Some(Address { operands, modifiers, most: 4095 })
            }
            Scratch::Instructions => {
                let modifiers = Self::modifiers("scratch_", access);
                Some(Address { operands: [index, Operand::Off].into_iter().collect(), modifiers, most: 2047 })
            }
        }
    }

    /// An address with an offset that the instruction can encode: the rest is added to the address register.
    pub fn reached(&mut self, mut at: Address) -> Address {
        let offset = at.modifiers.offset;
        if offset <= at.most {
            return at;
        }
        at.modifiers.offset = 0;
        let base = at.operands[0];
        let is_pair = matches!(base, Operand::Reg(slice) if slice.count == 2);
        at.operands[0] = if is_pair {
            let words = self.long_sum(false, &[part(base, 0), part(base, 1)], &[number(offset), FALSE]);
            self.whole(&words, File::Vector)
        } else {
            self.vector(Operation::AddU32, &[number(offset), base])
        };
        at
    }

    // Workgroup memory.

    /// Words that an instruction moves at an alignment: two want 8 bytes, four 16.
    fn shared_widest(&self, align: u32) -> usize {
        let has_four = Operation::LdsRead128.spelling(self.arch.generation).is_some();
        match align {
            16.. if has_four => 4,
            8.. => 2,
            _ => 1,
        }
    }

    fn shared_pieces(&self, access: MemoryAccess) -> Vec<Piece> {
        // There is no instruction for three words.
        pieces(access, |align| if align == u32::MAX { 2 } else { self.shared_widest(align) })
    }

    /// The address register of an access to workgroup memory, and the offset of 16 bits.
    pub fn shared_address(&mut self, access: MemoryAccess, address: Value) -> (Operand, u32) {
        let index = self.word(address);
        let last = u32::from(access.bytes) * u32::from(access.components);
        // gfx6 goes wrong where the register alone is out of range (LLVM: `isDSOffsetLegal`).
        let is_simple = self.arch.processor.addressing != Addressing::Buffer || access.offset == 0;
        if is_simple && access.offset.checked_add(last).is_some_and(|end| end <= 0xffff) {
            return (self.in_vector(index), access.offset);
        }
        let sum = self.word_binary(BinOp::Add, Scalar::U32, [index, number(access.offset)]);
        (self.in_vector(sum), 0)
    }

    fn load_shared(&mut self, access: MemoryAccess, address: Value) -> Vec<Operand> {
        let (index, offset) = self.shared_address(access, address);
        let mut loaded = Vec::new();
        for piece in self.shared_pieces(access) {
            let to = self.vectors(piece.count as u8);
            let operation = match (access.bytes, piece.count) {
                (1, _) => Operation::LdsReadU8,
                (2, _) => Operation::LdsReadU16,
                (_, 1) => Operation::LdsRead,
                (_, 2) => Operation::LdsRead64,
                _ => Operation::LdsRead128,
            };
            self.raw(operation, &[to], &[index]).modifiers = shared_modifiers(access, offset + piece.offset);
            loaded.extend(self.words_of(to, piece.count as u8));
        }
        loaded
    }

    fn store_shared(&mut self, access: MemoryAccess, address: Value, words: &[Operand], are_high: bool) {
        let (index, offset) = self.shared_address(access, address);
        for piece in self.shared_pieces(access) {
            let data = self.whole(&words[piece.first..piece.first + piece.count], File::Vector);
            let operation = match (access.bytes, piece.count) {
                (1, _) => Operation::LdsWrite8,
                (2, _) if are_high => Operation::LdsWrite16High,
                (2, _) => Operation::LdsWrite16,
                (_, 1) => Operation::LdsWrite,
                (_, 2) => Operation::LdsWrite64,
                _ => Operation::LdsWrite128,
            };
            self.raw(operation, &[], &[index, data]).modifiers = shared_modifiers(access, offset + piece.offset);
        }
    }

    // Barriers.

    /// Waits for the wave's own accesses, so that others see them, and invalidates caches, so that it sees what others
    /// wrote. Accesses of one wave to workgroup memory complete in order (LLVM: `AMDGPUUsage`, "Memory Model").
    pub fn barrier(&mut self, execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order) {
        let orders = order != Order::Relaxed && !kinds.is_empty() && memory != Scope::Invocation;
        let far = matches!(memory, Scope::Device | Scope::QueueFamily);
        let reach = if far { Reach::Device } else { Reach::Workgroup };
        let buffers = orders && kinds != MemoryKinds::SHARED;
        let shared = orders && kinds.contains(MemoryKinds::SHARED) && !self.is_alone();
        let fence = |release, acquire| Code::Pseudo(Pseudo::Fence(Fence { buffers, shared, release, acquire }));
        let release = (order != Order::Acquire).then_some(reach);
        let acquire = (buffers && order != Order::Release).then_some(reach);
        let stops = execution == Some(Scope::Workgroup);
        if buffers || shared {
            self.put(Inst::new(fence(release, acquire.filter(|_| !stops)), &[], &[]));
        }
        if !stops {
            return;
        }
        self.stop();
        if acquire.is_some() {
            self.put(Inst::new(fence(None, acquire), &[], &[]));
        }
    }

    /// Returns true if the workgroup is one wave.
    fn is_alone(&self) -> bool {
        self.kernel.invocations() <= self.arch.wave
    }

    /// Waits for the other waves of the workgroup, if there are any.
    fn stop(&mut self) {
        if self.is_alone() {
            return;
        }
        if self.arch.generation < Generation::Rdna4 {
            self.raw(Operation::Barrier, &[], &[]);
            return;
        }
        for operation in [Operation::BarrierSignal, Operation::BarrierWait] {
            self.raw(operation, &[], &[number(u32::MAX)]);
        }
    }
}

/// How far an access must be seen.
fn reach_of(access: MemoryAccess) -> Option<Reach> {
    (access.coherent || access.volatile).then_some(Reach::Device)
}

fn shared_modifiers(access: MemoryAccess, offset: u32) -> Modifiers {
    Modifiers { offset, coherent: reach_of(access), ..Modifiers::default() }
}

pub const fn scalar_load(words: usize) -> Operation {
    match words {
        1 => Operation::LoadScalar32,
        2 => Operation::LoadScalar64,
        4 => Operation::LoadScalar128,
        _ => Operation::LoadScalar256,
    }
}

/// Operands of a store: buffer and image instructions name the data first, flat and global ones the address.
pub fn stored(at: &Address, data: Operand) -> SmallVec<[Operand; 4]> {
    let (first, rest) = at.operands.split_at(1);
    match at.modifiers.is_data_first() {
        true => [data].into_iter().chain(at.operands.iter().copied()).collect(),
        false => first.iter().copied().chain([data]).chain(rest.iter().copied()).collect(),
    }
}
