//! A wave's registers, each bit of which may be undefined.

use super::operand::{Arg, EXEC, Kind, M0, NULL, Operand, SCALARS, SCC, VCC, VECTORS, constant};
use super::target::Target;

/// Maximum number of lanes in a wave.
pub const LANES: usize = 64;

/// One value and its undefined bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Value {
    pub bits: u64,
    pub undefined: u64,
}

impl Value {
    pub const fn of(bits: u64) -> Self {
        Self { bits, undefined: 0 }
    }

    pub const UNDEFINED: Value = Value { bits: JUNK, undefined: u64::MAX };

    /// The bits, if all of them are defined; `what` describes their use.
    pub fn defined(self, what: &str) -> Result<u64, String> {
        if self.undefined == 0 { Ok(self.bits) } else { Err(format!("{what} is undefined")) }
    }
}

/// The bits of undefined values.
const JUNK: u64 = 0x5bad_c0de_5bad_c0de;

/// One value for each lane.
pub type Row = [Value; LANES];

/// A vector register.
#[derive(Clone)]
struct Vector {
    lanes: [u32; LANES],
    /// Undefined bits of each lane; `None` if all are defined.
    undefined: Option<Box<[u32; LANES]>>,
}

impl Vector {
    fn new() -> Self {
        Self { lanes: [JUNK as u32; LANES], undefined: Some(Box::new([u32::MAX; LANES])) }
    }

    fn get(&self, lane: usize) -> (u32, u32) {
        (self.lanes[lane], self.undefined.as_ref().map_or(0, |undefined| undefined[lane]))
    }

    fn set(&mut self, lane: usize, bits: u32, undefined: u32) {
        self.lanes[lane] = bits;
        match &mut self.undefined {
            Some(own) => own[lane] = undefined,
            None if undefined != 0 => self.mark(lane, undefined),
            None => {}
        }
    }

    fn mark(&mut self, lane: usize, undefined: u32) {
        let mut row = Box::new([0; LANES]);
        row[lane] = undefined;
        self.undefined = Some(row);
    }

    /// Drops the undefined bits if none is left.
    fn settle(&mut self) {
        if self.undefined.as_ref().is_some_and(|row| row.iter().all(|bits| *bits == 0)) {
            self.undefined = None;
        }
    }
}

/// All registers of a wave.
#[derive(Clone)]
pub struct State {
    pub target: Target,
    vectors: Vec<Vector>,
    scalars: [u32; SCALARS],
    undefined: [u32; SCALARS],
    /// The first vector register shared by lanes that are 32 apart (gfx10 and gfx11, waves of 64).
    shared_from: usize,
    /// True if the mode flushes 32-bit subnormals, as output modifiers require. Results keep them here.
    pub flushes: bool,
}

impl State {
    /// Everything undefined except EXEC, which has these lanes at first.
    pub fn new(target: Target, exec: u64) -> Self {
        let mut state = Self {
            target,
            vectors: vec![Vector::new(); VECTORS],
            scalars: [JUNK as u32; SCALARS],
            undefined: [u32::MAX; SCALARS],
            shared_from: VECTORS,
            flushes: false,
        };
        state.set_scalars(EXEC, 2, Value::of(exec));
        state
    }

    pub fn exec(&self) -> u64 {
        (u64::from(self.scalars[EXEC + 1]) << 32 | u64::from(self.scalars[EXEC])) & self.target.all_lanes()
    }

    pub fn set_exec(&mut self, mask: u64) {
        self.set_scalars(EXEC, self.target.wave / 32, Value::of(mask));
    }

    /// The lanes that are active.
    pub fn active(&self) -> impl Iterator<Item = usize> + use<> {
        let exec = self.exec();
        (0..self.target.wave).filter(move |lane| exec >> lane & 1 == 1)
    }

    // Scalar registers.

    /// One or two scalar registers.
    pub fn scalars(&self, first: usize, count: usize) -> Value {
        let word = |n: usize| {
            let at = first + n;
            if first == NULL { (0, 0) } else { (u64::from(self.scalars[at]), u64::from(self.undefined[at])) }
        };
        let mut value = Value::default();
        for n in 0..count.min(2) {
            let (bits, undefined) = word(n);
            value.bits |= bits << (32 * n);
            value.undefined |= undefined << (32 * n);
        }
        value
    }

    pub fn set_scalars(&mut self, first: usize, count: usize, value: Value) {
        if first == NULL {
            return;
        }
        for n in 0..count.min(2) {
            self.scalars[first + n] = (value.bits >> (32 * n)) as u32;
            self.undefined[first + n] = (value.undefined >> (32 * n)) as u32;
        }
    }

    pub fn scc(&self) -> Result<bool, String> {
        self.scalars(SCC, 1).defined("SCC").map(|bits| bits != 0)
    }

    pub fn set_scc(&mut self, value: bool, defined: bool) {
        self.set_scalars(SCC, 1, Value { bits: value.into(), undefined: u64::from(!defined) });
    }

    /// A mask with a bit for each lane.
    pub fn mask(&self, first: usize) -> Value {
        let all = self.target.all_lanes();
        let value = self.scalars(first, self.target.wave / 32);
        Value { bits: value.bits & all, undefined: value.undefined & all }
    }

    pub fn set_mask(&mut self, first: usize, value: Value) {
        self.set_scalars(first, self.target.wave / 32, value);
    }

    pub fn vcc(&self) -> Value {
        self.mask(VCC)
    }

    pub fn m0(&self) -> Value {
        self.scalars(M0, 1)
    }

    // Vector registers.

    /// From this register on, both halves of the wave share registers.
    pub fn share_from(&mut self, first: usize) {
        self.shared_from = first;
    }

    /// The lane that holds a register for a lane.
    fn owner(&self, register: usize, lane: usize) -> usize {
        if register < self.shared_from { lane } else { lane & 31 }
    }

    /// One or two registers of a lane.
    pub fn lane(&self, first: usize, count: usize, lane: usize) -> Value {
        let (bits, undefined) = self.vectors[first].get(self.owner(first, lane));
        let mut value = Value { bits: bits.into(), undefined: undefined.into() };
        if count > 1 {
            let (bits, undefined) = self.vectors[first + 1].get(self.owner(first + 1, lane));
            value.bits |= u64::from(bits) << 32;
            value.undefined |= u64::from(undefined) << 32;
        }
        value
    }

    pub fn set_lane(&mut self, first: usize, count: usize, lane: usize, value: Value) {
        let (low, high) = (self.owner(first, lane), self.owner(first + 1, lane));
        self.vectors[first].set(low, value.bits as u32, value.undefined as u32);
        if count > 1 {
            self.vectors[first + 1].set(high, (value.bits >> 32) as u32, (value.undefined >> 32) as u32);
        }
    }

    /// Writes the lanes of a mask.
    pub fn set_row(&mut self, first: usize, count: usize, row: &Row, mask: u64) {
        for lane in (0..self.target.wave).filter(|lane| mask >> lane & 1 == 1) {
            self.set_lane(first, count, lane, row[lane]);
        }
        (first..first + count).for_each(|n| self.vectors[n].settle());
    }

    /// A copy of a register in all lanes.
    pub fn register(&self, n: usize) -> Row {
        std::array::from_fn(|lane| if lane < self.target.wave { self.lane(n, 1, lane) } else { Value::default() })
    }

    // Operands.

    /// The value of an operand that is the same in all lanes.
    pub fn uniform(&self, arg: &Arg, kind: Kind) -> Result<Value, String> {
        match arg.operand {
            Operand::Scalar { first, count } => Ok(self.scalars(first, count.min(kind.registers()))),
            Operand::Vector { .. } => Err("a scalar operand is expected here".to_owned()),
            _ => constant(&arg.operand, kind).map(Value::of),
        }
    }

    /// The unmodified value of an operand in each lane.
    pub fn row(&self, arg: &Arg, kind: Kind) -> Result<Row, String> {
        if let Operand::Vector { first, .. } = arg.operand {
            let mut row = [Value::default(); LANES];
            for (lane, value) in row.iter_mut().enumerate().take(self.target.wave) {
                *value = self.lane(first, kind.registers(), lane);
            }
            return Ok(row);
        }
        self.uniform(arg, kind).map(|value| [value; LANES])
    }
}
