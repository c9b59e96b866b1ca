//! Runs memory instructions lane by lane.

use super::super::dpp::{swizzle, swizzle_pattern};
use super::super::inst::Inst;
use super::super::operand::{Arg, FLAT_SCRATCH, Kind, Operand, integer};
use super::super::state::{LANES, Row, State, Value};
use super::access::{Access, Deed, Shape, Space};
use super::atomic::{Atomic, Operation};
use super::{Bytes, Memory, texel};

/// Memory that other waves can access too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    Lds,
    Global,
}

/// Accessed bytes.
#[derive(Debug, Clone, Copy)]
pub struct Touch {
    pub shared: Shared,
    pub at: u64,
    pub len: usize,
    pub writes: bool,
}

/// The memory that a wave can access.
pub struct Reach<'m> {
    pub memory: &'m mut Memory,
    pub lds: &'m mut Bytes,
    /// Memory of each lane.
    pub scratch: &'m mut [Bytes],
    /// The beginning of the wave's scratch memory, relative to its descriptor.
    pub scratch_base: u64,
    pub touched: Vec<Touch>,
}

/// A place in memory.
#[derive(Debug, Clone, Copy)]
enum Place {
    Global(u64),
    Lds(u64),
    Scratch(usize, u64),
}

impl Reach<'_> {
    fn read(&mut self, place: Place, len: usize) -> Result<Value, String> {
        self.touch(place, len, false);
        match place {
            Place::Global(at) => self.memory.read(at, len),
            // Hardware reads zero there; programs must not rely on it.
            Place::Lds(at) => Ok(self.lds.read(at, len).unwrap_or(Value::UNDEFINED)),
            Place::Scratch(lane, at) => self.scratch[lane].read(at, len),
        }
    }

    fn write(&mut self, place: Place, len: usize, value: Value) -> Result<(), String> {
        self.touch(place, len, true);
        match place {
            Place::Global(at) => self.memory.write(at, len, value),
            Place::Lds(at) => self.lds.write(at, len, value),
            Place::Scratch(lane, at) => self.scratch[lane].write(at, len, value),
        }
    }

    fn touch(&mut self, place: Place, len: usize, writes: bool) {
        let (shared, at) = match place {
            Place::Global(at) => (Shared::Global, at),
            Place::Lds(at) => (Shared::Lds, at),
            Place::Scratch(..) => return,
        };
        self.touched.push(Touch { shared, at, len, writes });
    }
}

impl Place {
    fn plus(self, bytes: u64) -> Self {
        match self {
            Place::Global(at) => Place::Global(at.wrapping_add(bytes)),
            Place::Lds(at) => Place::Lds(at.wrapping_add(bytes)),
            Place::Scratch(lane, at) => Place::Scratch(lane, at.wrapping_add(bytes)),
        }
    }

    /// Checks the alignment of an access whose elements have this many bytes.
    fn check(self, element: usize) -> Result<(), String> {
        let (Place::Global(at) | Place::Lds(at) | Place::Scratch(_, at)) = self;
        if at.is_multiple_of(element as u64) {
            Ok(())
        } else {
            Err(format!("{at:#x} is not aligned to {element} bytes"))
        }
    }
}

/// Runs a memory instruction.
pub fn run(state: &mut State, inst: &Inst, access: &Access, reach: &mut Reach<'_>) -> Result<(), String> {
    if matches!(access.space, Space::Scalar | Space::ScalarBuffer) {
        return scalar_load(state, inst, access, reach);
    }
    match access.deed {
        Deed::Swizzle => swizzle_lanes(state, inst),
        Deed::Permute | Deed::Bpermute { .. } => permute(state, inst, access),
        Deed::LoadTexel | Deed::LoadTexelLevel | Deed::StoreTexel | Deed::ImageFacts | Deed::Sample(_) => {
            texel::run(state, inst, access, reach.memory)
        }
        Deed::Atomic { .. } if access.space == Space::Image || inst.modifier("idxen").is_some() => {
            texel::run(state, inst, access, reach.memory)
        }
        Deed::Load(_) if inst.modifier("idxen").is_some() => texel::run(state, inst, access, reach.memory),
        _ => Lanes::new(state, inst, access)?.run(reach),
    }
}

// Scalar loads.

fn scalar_load(state: &mut State, inst: &Inst, access: &Access, reach: &mut Reach<'_>) -> Result<(), String> {
    let Deed::Load(shape) = access.deed else { return Err("scalar memory is only loaded".to_owned()) };
    let base = state.scalars(inst.args[1].scalar()?, 2).defined("the address")?;
    let is_buffer = access.space == Space::ScalarBuffer;
    let base = if is_buffer { base & 0xffff_ffff_ffff } else { base };
    let offset = scalar_offset(state, inst)?;
    let at = (base & !3).wrapping_add(offset);
    let end = if is_buffer { offset_end(state, inst)? } else { u64::MAX };
    let first = inst.args[0].scalar()?;
    Place::Global(at).check(shape.bytes)?;
    for n in 0..shape.count {
        let step = 4 * n as u64;
        // Loads beyond the end of a buffer return zero.
        let is_outside = is_buffer && offset + step + shape.bytes as u64 > end;
        let value = if is_outside { Value::of(0) } else { reach.read(Place::Global(at + step), shape.bytes)? };
        state.set_scalars(first + n, 1, extended(value, shape));
    }
    Ok(())
}

/// The bytes of the buffer that a scalar load reads, of records of a byte.
fn offset_end(state: &State, inst: &Inst) -> Result<u64, String> {
    state.scalars(inst.args[1].scalar()? + 2, 1).defined("the buffer")
}

fn scalar_offset(state: &State, inst: &Inst) -> Result<u64, String> {
    let fixed = inst.modifier("offset").and_then(integer).unwrap_or(0);
    let offset = match inst.args[2].operand {
        Operand::Int(value) => value * state.target.scalar_offset_unit(),
        _ => state.uniform(&inst.args[2], Kind::Int32)?.defined("the offset")? as i64,
    };
    Ok((offset + fixed) as u64 & !3)
}

/// A loaded element of less than four bytes with zeros or its sign before it.
fn extended(value: Value, shape: Shape) -> Value {
    let shift = 64 - 8 * shape.bytes as u32;
    if !shape.signed {
        return value;
    }
    let extend = |bits: u64| ((bits << shift) as i64 >> shift) as u64;
    Value { bits: extend(value.bits), undefined: extend(value.undefined) }
}

// The crossbar.

fn swizzle_lanes(state: &mut State, inst: &Inst) -> Result<(), String> {
    let pattern = inst.modifier("offset").map_or(Ok(0), swizzle_pattern)?;
    let from = state.row(&inst.args[1], Kind::Int32)?;
    let (exec, mut row) = (state.exec(), [Value::of(0); LANES]);
    for lane in state.active() {
        let source = swizzle(pattern, lane, &state.target)?;
        if exec >> source & 1 == 1 {
            row[lane] = from[source];
        }
    }
    state.set_row(inst.args[0].vector()?, 1, &row, exec);
    Ok(())
}

fn permute(state: &mut State, inst: &Inst, access: &Access) -> Result<(), String> {
    let offset = inst.modifier("offset").and_then(integer).unwrap_or(0) as u64;
    let (addresses, data) = (state.row(&inst.args[1], Kind::Int32)?, state.row(&inst.args[2], Kind::Int32)?);
    let (reach, exec) = (state.target.permute_reach(), state.exec());
    let mut row = [Value::of(0); LANES];
    for lane in state.active() {
        let Ok(address) = addresses[lane].defined("the address") else {
            row[lane] = Value::UNDEFINED;
            continue;
        };
        let other = lane & !(reach - 1) | ((address + offset) as usize / 4 % reach);
        match access.deed {
            Deed::Permute => row[other] = data[lane],
            Deed::Bpermute { fetch_inactive } if exec >> other & 1 == 1 || fetch_inactive => row[lane] = data[other],
            _ => {}
        }
    }
    state.set_row(inst.args[0].vector()?, 1, &row, exec);
    Ok(())
}

// Accesses by lane.

/// An instruction with the addresses of its lanes.
struct Lanes<'s> {
    state: &'s mut State,
    inst: &'s Inst,
    access: &'s Access,
    addresses: Vec<Row>,
}

impl<'s> Lanes<'s> {
    fn new(state: &'s mut State, inst: &'s Inst, access: &'s Access) -> Result<Self, String> {
        if access.space == Space::Lds && state.target.bounds_lds_by_m0() {
            let bound = state.m0().defined("M0, which bounds LDS,")?;
            if bound < u64::from(state.target.most_lds()) {
                return Err(format!("M0 bounds LDS to {bound} bytes"));
            }
        }
        let mut addresses = Vec::new();
        if let Some(arg) = access.address.map(|n| &inst.args[n]).filter(|arg| arg.is_vector()) {
            let wide = matches!(arg.operand, Operand::Vector { count: 2, .. });
            addresses.push(state.row(arg, if wide { Kind::Int64 } else { Kind::Int32 })?);
        }
        Ok(Self { state, inst, access, addresses })
    }

    fn scalar(&self, n: usize) -> &'s Arg {
        &self.inst.args[self.access.scalars[n]]
    }

    fn offset(&self, name: &str) -> u64 {
        self.inst.modifier(name).and_then(integer).unwrap_or(0) as u64
    }

    /// The lane's address operand; zero if there is none.
    fn vector_address(&self, lane: usize) -> Result<u64, String> {
        self.addresses.first().map_or(Ok(0), |row| row[lane].defined("the address"))
    }

    fn place(&self, lane: usize, reach: &Reach<'_>) -> Result<Place, String> {
        let (address, offset) = (self.vector_address(lane)?, self.offset("offset"));
        Ok(match self.access.space {
            Space::Lds => Place::Lds(self.lds(address, offset)),
            Space::Flat => Place::Global(self.flat(address, offset)?),
            Space::Global => Place::Global(self.base()?.wrapping_add(address).wrapping_add(offset)),
            Space::Scratch => self.scratch(lane, address, offset, reach)?,
            _ => self.buffer(lane, address, offset, reach)?,
        })
    }

    /// Addresses of LDS wrap, but on gfx6.
    fn lds(&self, address: u64, offset: u64) -> u64 {
        if self.state.target.version < 700 { address + offset } else { (address + offset) & 0xffff_ffff }
    }

    fn flat(&self, address: u64, offset: u64) -> Result<u64, String> {
        let version = self.state.target.version;
        if offset != 0 && (version < 900 || version == 1010) {
            return Err("a flat access cannot have an offset here".to_owned());
        }
        Ok(address.wrapping_add(offset))
    }

    /// The scalar base of a global access.
    fn base(&self) -> Result<u64, String> {
        if self.scalar(0).is_word("off") {
            return Ok(0);
        }
        self.state.uniform(self.scalar(0), Kind::Int64)?.defined("the address")
    }

    fn scratch(&self, lane: usize, address: u64, offset: u64, reach: &Reach<'_>) -> Result<Place, String> {
        if self.state.target.version < 940 {
            let base = self.state.scalars(FLAT_SCRATCH, 2).defined("FLAT_SCRATCH")?;
            if base != reach.scratch_base {
                return Err(format!("FLAT_SCRATCH is {base:#x} instead of {:#x}", reach.scratch_base));
            }
        }
        let base = match self.scalar(0).is_word("off") {
            true => 0,
            false => self.state.uniform(self.scalar(0), Kind::Int32)?.defined("the address")?,
        };
        Ok(Place::Scratch(lane, address.wrapping_add(base).wrapping_add(offset) & 0xffff_ffff))
    }

    /// An address in a buffer: base and number of bytes come from four scalar registers.
    fn buffer(&self, lane: usize, address: u64, offset: u64, reach: &Reach<'_>) -> Result<Place, String> {
        let first = self.scalar(0).scalar()?;
        let low = self.state.scalars(first, 2).defined("the buffer")?;
        let high = self.state.scalars(first + 2, 2).defined("the buffer")?;
        let moved = self.state.uniform(self.scalar(1), Kind::Int32)?.defined("the offset")?;
        let (base, stride, records) = (low & 0xffff_ffff_ffff, low >> 48 & 0x3fff, high & 0xffff_ffff);
        if high >> 55 & 1 == 1 {
            return self.swizzled(lane, address + offset, base.wrapping_add(moved), reach);
        }
        if stride != 0 || self.inst.modifier("idxen").is_some() {
            return Err("buffers of records are not read here".to_owned());
        }
        if self.inst.modifier("addr64").is_some() {
            return Ok(Place::Global(base.wrapping_add(address).wrapping_add(offset).wrapping_add(moved)));
        }
        if address + offset >= records {
            return Err(format!("offset {:#x} is outside of the buffer's {records:#x} bytes", address + offset));
        }
        Ok(Place::Global(base + address + offset + moved))
    }

    /// Scratch memory through the dispatcher's buffer, which adds the lane by itself.
    fn swizzled(&self, lane: usize, offset: u64, base: u64, reach: &Reach<'_>) -> Result<Place, String> {
        if base != reach.scratch_base {
            return Err(format!("the scratch buffer begins at {base:#x} instead of {:#x}", reach.scratch_base));
        }
        Ok(Place::Scratch(lane, offset))
    }

    fn run(&mut self, reach: &mut Reach<'_>) -> Result<(), String> {
        match self.access.deed {
            Deed::Load(shape) => self.load(shape, reach),
            Deed::Store(shape) => self.store(shape, reach),
            Deed::LoadTwo { bytes, unit } => self.load_two(bytes, unit, reach),
            Deed::StoreTwo { bytes, unit } => self.store_two(bytes, unit, reach),
            Deed::Atomic { atomic, returns } => self.atomic(atomic, returns, reach),
            _ => Err("no access".to_owned()),
        }
    }

    /// The alignment of the whole access: LDS of the first generations requires it for the whole.
    fn alignment(&self, shape: Shape) -> usize {
        let strict = self.access.space == Space::Lds && self.state.target.version < 900;
        if strict { (shape.bytes * shape.count).next_power_of_two() } else { shape.bytes }
    }

    fn load(&mut self, shape: Shape, reach: &mut Reach<'_>) -> Result<(), String> {
        let result = self.access.result.ok_or("a load has a result")?;
        let first = self.inst.args[result].vector()?;
        for lane in self.state.active() {
            let place = self.place(lane, reach)?;
            place.check(self.alignment(shape))?;
            for n in 0..shape.count {
                let value = extended(reach.read(place.plus(4 * n as u64), shape.bytes)?, shape);
                let value = self.in_half(value, first + n, lane, shape);
                self.state.set_lane(first + n, 1, lane, value);
            }
        }
        Ok(())
    }

    /// Puts a short value into its half of a register.
    fn in_half(&self, value: Value, register: usize, lane: usize, shape: Shape) -> Value {
        let Some(upper) = shape.half else { return value };
        let old = self.state.lane(register, 1, lane);
        let put = |old: u64, new: u64| {
            if upper { old & 0xffff | new << 16 & 0xffff_0000 } else { old & 0xffff_0000 | new & 0xffff }
        };
        Value { bits: put(old.bits, value.bits), undefined: put(old.undefined, value.undefined) }
    }

    /// Words of data operand `n`.
    fn data(&self, n: usize) -> Result<usize, String> {
        self.inst.args[self.access.data[n]].vector()
    }

    fn store(&mut self, shape: Shape, reach: &mut Reach<'_>) -> Result<(), String> {
        let first = self.data(0)?;
        for lane in self.state.active() {
            let place = self.place(lane, reach)?;
            place.check(self.alignment(shape))?;
            for n in 0..shape.count {
                let mut value = self.state.lane(first + n, 1, lane);
                if shape.half == Some(true) {
                    value = Value { bits: value.bits >> 16, undefined: value.undefined >> 16 };
                }
                reach.write(place.plus(4 * n as u64), shape.bytes, value)?;
            }
        }
        Ok(())
    }

    /// The places of a pair of elements.
    fn pair(&self, lane: usize, bytes: usize, unit: u64) -> Result<[Place; 2], String> {
        let address = self.vector_address(lane)?;
        let place = |name| Place::Lds(self.lds(address, unit * self.offset(name)));
        let places = [place("offset0"), place("offset1")];
        places.iter().try_for_each(|place| place.check(if self.state.target.version < 900 { bytes } else { 4 }))?;
        Ok(places)
    }

    fn load_two(&mut self, bytes: usize, unit: u64, reach: &mut Reach<'_>) -> Result<(), String> {
        let result = self.access.result.ok_or("a load has a result")?;
        let first = self.inst.args[result].vector()?;
        for lane in self.state.active() {
            for (n, place) in self.pair(lane, bytes, unit)?.into_iter().enumerate() {
                let value = reach.read(place, bytes)?;
                self.state.set_lane(first + n * bytes / 4, bytes / 4, lane, value);
            }
        }
        Ok(())
    }

    fn store_two(&mut self, bytes: usize, unit: u64, reach: &mut Reach<'_>) -> Result<(), String> {
        for lane in self.state.active() {
            for (n, place) in self.pair(lane, bytes, unit)?.into_iter().enumerate() {
                let value = self.state.lane(self.data(n)?, bytes / 4, lane);
                reach.write(place, bytes, value)?;
            }
        }
        Ok(())
    }

    /// The operand and the comparand of a conditional swap: consecutive registers in memory instructions, two operands
    /// in LDS instructions, whose order changed in gfx11.
    fn atomic_data(&self, atomic: Atomic, lane: usize) -> Result<[Value; 2], String> {
        let words = atomic.bytes / 4;
        let value = |register| self.state.lane(register, words, lane);
        let first = self.data(0)?;
        if atomic.operands() == 1 {
            return Ok([value(first), Value::of(0)]);
        }
        let is_lds = self.access.space == Space::Lds;
        let second = if is_lds { self.data(1)? } else { first + words };
        Ok(atomic.ordered([value(first), value(second)], is_lds, self.state.target.version))
    }

    fn atomic(&mut self, atomic: Atomic, returns: bool, reach: &mut Reach<'_>) -> Result<(), String> {
        for lane in self.state.active() {
            let place = self.place(lane, reach)?;
            place.check(atomic.bytes)?;
            let [value, compare] = self.atomic_data(atomic, lane)?;
            let old = reach.read(place, atomic.bytes)?;
            let bits = atomic.apply(old.bits, value.bits, compare.bits);
            let known = old.undefined | value.undefined | compare.undefined == 0 || atomic.operation == Operation::Swap;
            let undefined = if known { value.undefined } else { u64::MAX };
            reach.write(place, atomic.bytes, Value { bits, undefined })?;
            if let Some(result) = self.access.result.filter(|_| returns) {
                self.state.set_lane(self.inst.args[result].vector()?, atomic.bytes / 4, lane, old);
            }
        }
        Ok(())
    }
}
