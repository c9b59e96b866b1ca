//! Kernels of memory accesses: components of 1 to 8 bytes, alone and as vectors, at addresses that may alias through
//! several buffers, pointers, and workgroup and private memory, in runs longer than passes track.
//!
//! Buffers 1 to 3 are one memory, and pointers lead to it. Each invocation has its own part, so that there are no
//! races. Kernels are compared by all bytes of that memory.

use super::{GROUPS, Generator, Known, U64, WORDS};
use crate::ir::{AtomicOp, BuiltIn, MemoryKinds, Order, Scalar, ScalarKind, Scope};
use crate::kernel::{
    BinOp, Buffer, BufferWrites, Builder, Kernel, MemoryAccess, MemorySpace, Op, PrivateVariable, Ty, Value, verify,
};
use crate::sim::{Dispatch, FaultKind, Memory, Program, Undefined, address_of};

/// Invocations of a workgroup.
const SIZE: u32 = 8;

/// Bytes per invocation in a buffer, in workgroup memory, and in each private variable.
const IN_BUFFER: u32 = 256;
const IN_SHARED: u32 = 64;
const IN_VARIABLE: u32 = 32;

/// The buffer that all other buffers and pointers refer to, which is compared.
const WHOLE: u32 = 1;
/// The same memory through a read-only variable, and through one that also writes it.
const READ_ALIAS: u32 = 2;
const WRITTEN_ALIAS: u32 = 3;
/// Memory that never changes.
const CONSTANT: u32 = 4;

const U16: Scalar = Scalar { kind: ScalarKind::Uint, width: 16 };

/// A place to access.
#[derive(Clone, Copy)]
struct Place {
    space: MemorySpace,
    address: Value,
    /// Bytes before the invocation's own, excluded from the address.
    start: u32,
    /// Bytes after the start that belong to the invocation.
    room: u32,
    /// The known alignment of address and start.
    align: u32,
}

/// The addresses that such a kernel has.
#[derive(Default)]
pub(super) struct Places {
    all: Vec<Place>,
    /// The bytes of every component in the invocation's memory, if they are all the same.
    uniform: Option<u8>,
}

impl Places {
    /// Returns true for a kernel of memory accesses.
    pub(super) fn are_there(&self) -> bool {
        !self.all.is_empty()
    }
}

/// The kernel of a seed.
pub fn kernel(seed: u64) -> Kernel {
    let mut kernel = Kernel::new("memory", [SIZE, 1, 1]);
    let writes =
        [BufferWrites::Elsewhere, BufferWrites::Here, BufferWrites::Elsewhere, BufferWrites::Here, BufferWrites::Never];
    for (binding, writes) in (0..).zip(writes) {
        kernel.buffers.push(Buffer { writes, ..Buffer::storage("bytes", binding) });
    }
    kernel.push_bytes = 8;
    kernel.shared_bytes = SIZE * IN_SHARED;
    kernel.private_bytes = 2 * IN_VARIABLE;
    let variable = |start| PrivateVariable { start, bytes: IN_VARIABLE, align: 16 };
    kernel.private = [0, IN_VARIABLE].map(variable).into();
    let mut generator = Generator::new(seed ^ 0x6d65_6d6f, Builder::new(kernel), false);
    generator.room = 48 + (seed % 3) as u32 * 40;
    generator.write_accesses();
    assert_eq!(verify::verify(&generator.b.kernel), Ok(()), "seed {seed}");
    generator.b.kernel
}

/// Runs such a kernel and returns its bytes, `None` for undefined ones.
pub fn run(kernel: &Kernel) -> Result<Vec<Option<u8>>, FaultKind> {
    let mut kernel = kernel.clone();
    for inst in kernel.insts.iter_mut().map(|(_, inst)| inst) {
        if let Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } = &mut inst.op
            && let MemorySpace::Buffer(READ_ALIAS | WRITTEN_ALIAS) = access.space
        {
            access.space = MemorySpace::Buffer(WHOLE);
        }
    }
    let random = |bytes: u32, salt: u32| {
        let word = |n: u32| (n ^ salt).wrapping_mul(0x9e37_79b1).rotate_left(n % 31);
        Memory::from((0..bytes / 4).flat_map(|n| word(n).to_le_bytes()).collect::<Vec<u8>>())
    };
    let invocations = SIZE * GROUPS;
    let mut buffers = [
        random(invocations * WORDS * 4, 1),
        random(invocations * IN_BUFFER, 2),
        Memory::default(),
        Memory::default(),
        random(invocations * IN_BUFFER, 3),
    ];
    let push = address_of(WHOLE as usize).to_le_bytes();
    let dispatch =
        Dispatch { undefined: Undefined::Keep, max_steps: 100_000, push: &push, ..Dispatch::new([GROUPS, 1, 1]) };
    let program = Program::new(&kernel, SIZE).expect("a kernel that the simulator takes");
    program.run(&dispatch, &mut buffers).map_err(|fault| fault.kind)?;
    let left = &buffers[WHOLE as usize];
    Ok((0..left.len()).map(|at| (!left.is_undefined(at, 1)).then(|| left.bytes()[at])).collect())
}

impl Generator {
    fn write_accesses(&mut self) {
        let local = self.b.value(Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
        let group = self.b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
        let size = self.b.u32(SIZE);
        let first = self.b.bin(BinOp::Mul, Scalar::U32, group, size);
        let global = self.b.bin(BinOp::Add, Scalar::U32, first, local);
        let words = self.b.u32(WORDS * 4);
        self.own = self.b.bin(BinOp::Mul, Scalar::U32, global, words);
        self.read_inputs();
        self.places.uniform = if self.chance(2) { Some(self.one_of(&[2, 4, 8])) } else { None };
        let pushed = MemoryAccess { bytes: 8, align: 8, ..MemoryAccess::words(MemorySpace::Push, 0, 1) };
        let zero = self.b.u32(0);
        let base = self.b.load(pushed, zero)[0];
        self.own_parts(global, local, base);
        self.fill();
        self.statements(200);
        for _ in 0..16 {
            self.store_to(|place| matches!(place.space, MemorySpace::Buffer(_)));
        }
        self.b.effect(Op::Return, &[]);
    }

    /// The start of the invocation's part of each memory, and other addresses in it.
    fn own_parts(&mut self, global: Value, local: Value, base: Value) {
        let [in_buffer, in_shared] = [(global, IN_BUFFER), (local, IN_SHARED)].map(|(number, bytes)| {
            let bytes = self.b.u32(bytes);
            self.b.bin(BinOp::Mul, Scalar::U32, number, bytes)
        });
        let long = self.b.convert(Scalar::U32, U64, in_buffer);
        let pointer = self.b.bin(BinOp::Add, U64, base, long);
        let zero = self.b.u32(0);
        let mut add = |space, address, start, room| {
            self.places.all.push(Place { space, address, start, room, align: 16 });
        };
        for buffer in [WHOLE, READ_ALIAS, WRITTEN_ALIAS, CONSTANT] {
            add(MemorySpace::Buffer(buffer), in_buffer, 0, IN_BUFFER);
        }
        add(MemorySpace::Physical, pointer, 0, IN_BUFFER);
        add(MemorySpace::Shared, in_shared, 0, IN_SHARED);
        for variable in 0..2 {
            add(MemorySpace::Private(variable), zero, variable * IN_VARIABLE, IN_VARIABLE);
        }
        for _ in 0..12 {
            let place = self.further();
            self.places.all.push(place);
        }
    }

    /// Writes the memory of the workgroup and of the invocation once.
    fn fill(&mut self) {
        let bytes = self.places.uniform.unwrap_or(4);
        for place in self.places.all.clone().into_iter().take(8) {
            let bytes = match place.space {
                MemorySpace::Shared => 4,
                MemorySpace::Private(_) => bytes,
                _ => continue,
            };
            for at in (0..place.room).step_by(bytes.into()) {
                let access = Access { place, offset: at, bytes, components: 1 };
                self.store_at(access);
            }
        }
    }

    /// Another address in a part: a constant or run-time offset from a known one.
    fn further(&mut self) -> Place {
        let at = self.below(8) as usize;
        let place = self.places.all[at];
        let unit = match (place.space, self.places.uniform) {
            (MemorySpace::Private(_), Some(bytes)) => u32::from(bytes),
            _ => self.one_of(&[4, 8, 16]),
        };
        let half = place.room / 2;
        if self.chance(3) {
            let by = unit * (1 + self.below(half.min(48) / unit));
            let op = self.one_of(&[BinOp::Add, BinOp::Or]);
            let op = if place.space == MemorySpace::Physical { BinOp::Add } else { op };
            return self.moved_place(place, op, by, unit);
        }
        let number = self.operand(Scalar::U32, true).value;
        let (most, factor) = (if 3 * unit > half { 1 } else { self.one_of(&[1, 3]) }, self.b.u32(unit));
        let mask = self.b.u32(most);
        let index = self.b.bin(BinOp::And, Scalar::U32, number, mask);
        let index = if self.chance(2) {
            self.b.bin(BinOp::Mul, Scalar::U32, index, factor)
        } else {
            let by = self.b.u32(unit.ilog2());
            self.b.bin(BinOp::Shl, Scalar::U32, index, by)
        };
        let address = self.sum(place.space, place.address, index);
        // The largest offset cannot be used after it.
        Place { address, room: place.room - most * unit, align: unit.min(place.align), ..place }
    }

    fn moved_place(&mut self, place: Place, op: BinOp, by: u32, unit: u32) -> Place {
        let (scalar, constant) = match place.space {
            MemorySpace::Physical => (U64, self.b.constant(Ty::B64, by.into())),
            _ => (Scalar::U32, self.b.u32(by)),
        };
        let address = self.b.bin(op, scalar, place.address, constant);
        Place { address, room: place.room - by, align: unit.min(place.align), ..place }
    }

    fn sum(&mut self, space: MemorySpace, address: Value, index: Value) -> Value {
        if space == MemorySpace::Physical {
            let index = self.b.convert(Scalar::U32, U64, index);
            return self.b.bin(BinOp::Add, U64, address, index);
        }
        self.b.bin(BinOp::Add, Scalar::U32, address, index)
    }

    /// A statement of such a kernel.
    pub(super) fn access_statement(&mut self) {
        match self.below(16) {
            0..=4 => self.load_from(|_| true),
            5..=8 => self.store_to(|_| true),
            9 => self.many_loads(),
            10 => self.many_at_one_address(),
            11 => self.many_addresses(),
            12 => self.add_to_memory(),
            13 => self.order(),
            _ => self.narrow_or_widen(),
        }
    }

    /// A place that satisfies a condition; sometimes a fresh address.
    fn place_where(&mut self, fits: impl Fn(&Place) -> bool) -> Place {
        let fitting: Vec<Place> = self.places.all.iter().filter(|place| fits(place)).copied().collect();
        if self.chance(6) {
            let place = self.further();
            if fits(&place) {
                return place;
            }
        }
        self.one_of(&fitting)
    }

    fn access_at(&mut self, place: Place) -> Access {
        let bytes = match (place.space, self.places.uniform) {
            (MemorySpace::Private(_), Some(bytes)) => bytes,
            _ => self.one_of(&[1, 2, 4, 4, 4, 4, 8, 8]),
        };
        self.access_of(place, bytes)
    }

    /// An access to components of this many bytes, which are aligned as they need.
    fn access_of(&mut self, place: Place, bytes: u8) -> Access {
        let bytes = bytes.min(place.align as u8);
        let most = (16 / bytes).min(4);
        let components = if self.chance(2) { 1 } else { 1 + self.below(most.into()) as u8 };
        let size = u32::from(bytes) * u32::from(components);
        // Often near the start, where others are.
        let all = (place.room - size) / u32::from(bytes) + 1;
        let most = if self.chance(3) { all } else { all.min(6) };
        Access { place, offset: self.below(most) * u32::from(bytes), bytes, components }
    }

    fn load_from(&mut self, fits: impl Fn(&Place) -> bool) {
        let place = self.place_where(fits);
        let access = self.access_at(place);
        self.load_at(access);
    }

    fn load_at(&mut self, access: Access) {
        let flags = self.flags();
        let values = self.b.load(access.with(flags), access.place.address);
        for value in values {
            let scalar = match access.bytes {
                1 | 2 => U16,
                4 => self.one_of(&[Scalar::U32, Scalar::I32]),
                _ => U64,
            };
            self.add(scalar, value, false);
        }
    }

    fn store_to(&mut self, fits: impl Fn(&Place) -> bool) {
        let place = self.place_where(|place| {
            let read_only = matches!(place.space, MemorySpace::Buffer(READ_ALIAS | CONSTANT));
            !read_only && fits(place)
        });
        let access = self.access_at(place);
        self.store_at(access);
    }

    fn store_at(&mut self, access: Access) {
        let flags = self.flags();
        let values: Vec<Value> = (0..access.components).map(|_| self.stored(access.bytes)).collect();
        self.b.store(access.with(flags), access.place.address, &values);
    }

    /// A value of this many bytes.
    fn stored(&mut self, bytes: u8) -> Value {
        match bytes {
            1 | 2 => self.operand(U16, false).value,
            4 => {
                let scalar = self.one_of(&[Scalar::U32, Scalar::I32]);
                self.operand(scalar, false).value
            }
            _ => self.operand(U64, false).value,
        }
    }

    /// Coherent and volatile flags, usually neither.
    fn flags(&mut self) -> [bool; 2] {
        match self.below(24) {
            0 => [true, false],
            1 => [false, true],
            _ => [false; 2],
        }
    }

    /// More loads than the tracked places, sometimes with a store.
    fn many_loads(&mut self) {
        for _ in 0..34 {
            self.load_from(|place| !matches!(place.space, MemorySpace::Private(_)));
            if self.chance(16) {
                self.store_to(|_| true);
            }
        }
    }

    /// More accesses at one address than a group can have members, sometimes with an access of another kind.
    fn many_at_one_address(&mut self) {
        let place = self.place_where(|place| place.room >= 64);
        let is_written = !matches!(place.space, MemorySpace::Buffer(READ_ALIAS | CONSTANT));
        let (stores, bytes) = (is_written && self.chance(2), self.one_of(&[4, 4, 8]));
        for _ in 0..36 {
            let bytes = if self.chance(10) { self.one_of(&[1, 2, 4, 8]) } else { bytes };
            let access = self.access_of(place, bytes);
            let other = self.chance(14);
            if is_written && stores != other { self.store_at(access) } else { self.load_at(access) }
        }
    }

    /// Accesses at more addresses than there are open groups, each twice.
    fn many_addresses(&mut self) {
        let mut fresh: Vec<Place> = (0..18).map(|_| self.further()).collect();
        fresh.retain(|place| place.room >= 16);
        for round in 0..2 {
            for place in fresh.clone() {
                let access = self.access_at(place);
                let is_written = !matches!(place.space, MemorySpace::Buffer(READ_ALIAS | CONSTANT));
                if is_written && self.chance(4 + 4 * round) { self.store_at(access) } else { self.load_at(access) }
            }
        }
    }

    /// A sum in memory; the statement may itself be in a loop.
    fn add_to_memory(&mut self) {
        let is_shared = self.chance(2);
        let place = self.place_where(|place| match place.space {
            MemorySpace::Shared => true,
            MemorySpace::Buffer(WHOLE | WRITTEN_ALIAS) | MemorySpace::Physical => !is_shared,
            _ => false,
        });
        let access = Access { components: 1, ..self.access_of(place, 4) };
        let Access { place: Place { address, .. }, bytes: 4, .. } = access else { return };
        let by = self.operand(Scalar::U32, false).value;
        if self.chance(3) {
            let order = self.one_of(&[Order::Relaxed, Order::AcquireRelease]);
            let op = self.one_of(&[AtomicOp::Add, AtomicOp::Exchange]);
            let atomic =
                Op::Atomic { op, ty: Scalar::U32, access: access.with([false; 2]), scope: Scope::Device, order };
            let value = self.b.value(atomic, &[address, by], Ty::B32);
            return self.add(Scalar::U32, value, false);
        }
        if self.chance(2) {
            return self.sum_in_loop(access);
        }
        self.increase(access, by);
    }

    fn increase(&mut self, access: Access, by: Value) {
        let memory = access.with([false; 2]);
        let before = self.b.load(memory, access.place.address)[0];
        let after = self.b.bin(BinOp::Add, Scalar::U32, before, by);
        self.b.store(memory, access.place.address, &[after]);
    }

    /// A word that a loop adds to, which is stored before it; sometimes the loop accesses other memory too.
    fn sum_in_loop(&mut self, access: Access) {
        self.store_at(access);
        let own = access.place.space;
        let others = self.below(2);
        self.loop_of(|g| {
            let by = g.operand(Scalar::U32, false).value;
            g.increase(access, by);
            for _ in 0..others {
                let overlapping = g.chance(2);
                g.load_from(|place| overlapping || place.space != own);
                if overlapping {
                    g.store_to(|_| true);
                }
            }
        });
    }

    /// Orders accesses, without waiting for other invocations.
    fn order(&mut self) {
        let kinds = self.one_of(&[MemoryKinds::BUFFER, MemoryKinds::SHARED]);
        let order = Order::AcquireRelease;
        self.b.effect(Op::Barrier { execution: None, memory: Scope::Device, kinds, order }, &[]);
    }

    /// Converts numbers to 16 bits and back.
    fn narrow_or_widen(&mut self) {
        let (from, to) =
            self.one_of(&[(U16, Scalar::U32), (Scalar::U32, U16), (U16, U64), (U64, U16), (U64, Scalar::U32)]);
        let a = self.operand(from, false);
        let value = self.b.convert(from, to, a.value);
        self.add(to, value, a.defined);
        let Known { value: other, .. } = self.operand(to, false);
        let mixed = self.b.bin(BinOp::Xor, to, value, other);
        self.add(to, mixed, false);
    }
}

/// An access at a place.
#[derive(Clone, Copy)]
struct Access {
    place: Place,
    /// Bytes after the place's start.
    offset: u32,
    bytes: u8,
    components: u8,
}

impl Access {
    fn with(self, [coherent, volatile]: [bool; 2]) -> MemoryAccess {
        let Access { place, offset, bytes, components } = self;
        let offset = place.start + offset;
        MemoryAccess { space: place.space, offset, bytes, components, align: bytes.into(), coherent, volatile }
    }
}
