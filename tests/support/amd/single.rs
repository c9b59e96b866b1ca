//! Runs a single instruction on registers that the caller chooses.

use super::inst::{Code, Inst, Unit};
use super::memory::access::{Access, Deed, Space};
use super::memory::atomic::Atomic;
pub use super::operand::Kind;
pub use super::operand::{EXEC, M0, SCC, VCC};
use super::state::{State, Value};
use super::target::Target;
use super::{packed, scalar, scalar_run, table, vector};

/// The destination of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A vector register of each lane, or two.
    Vector(Kind),
    Scalar(Kind),
    /// A bit for each lane, in scalar registers.
    Mask,
}

/// The operands that an instruction has in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// True if it runs in each lane, false if in the scalar unit.
    pub is_vector: bool,
    pub results: Vec<Place>,
    /// A comparison that writes EXEC and has no operand for its result.
    pub writes_exec: bool,
    pub sources: Vec<Kind>,
    /// True if the last source is a bit for each lane.
    pub takes_mask: bool,
    /// True if it reads the previous result.
    pub accumulates: bool,
    /// The first source is a scalar.
    pub first_is_scalar: bool,
    /// The sources after the first are scalars.
    pub others_are_scalar: bool,
    /// True if it depends on the mode of minima and maxima.
    pub has_mode: bool,
}

/// The form of an instruction that computes, if a processor has it under this name.
pub fn form(name: &str, target: &Target) -> Option<Form> {
    let operands = |count: usize| vec!["v0"; count].join(", ");
    let read = |count: usize| Inst::read(0, &format!("{name} {}", operands(count)), target).ok();
    let inst = (1..=5).find_map(read)?;
    if matches!(inst.code, Code::SaveExec { bits, .. } if bits != target.wave) {
        return None;
    }
    let (results, writes_exec) = results(&inst)?;
    let lanes = matches!(inst.code, Code::ReadLane | Code::WriteLane | Code::Permlane16 { by_lane: false, .. });
    Some(Form {
        is_vector: inst.unit == Unit::Vector,
        takes_mask: matches!(inst.code, Code::Select | Code::Carry { takes: true, .. }),
        accumulates: accumulates(&inst.code),
        first_is_scalar: inst.unit == Unit::Scalar || matches!(inst.code, Code::WriteLane),
        others_are_scalar: inst.unit == Unit::Scalar || lanes,
        has_mode: matches!(inst.code, Code::Extreme { ieee: true, .. })
            || is_packed_extreme(&inst)
            || scalar_run::has_mode(&inst),
        sources: inst.kinds,
        writes_exec,
        results,
    })
}

fn is_packed_extreme(inst: &Inst) -> bool {
    matches!(inst.code, Code::Packed { kind: Kind::Float16, .. })
        && ["v_pk_min_f16", "v_pk_max_f16"].contains(&&inst.name[..])
}

fn accumulates(code: &Code) -> bool {
    match code {
        Code::Plain(plain) => plain.accumulates,
        Code::Scalar(scalar) => scalar.accumulates,
        Code::Swap | Code::SwapRows { .. } => true,
        _ => false,
    }
}

/// The results named in the text, and whether EXEC is an implicit one.
fn results(inst: &Inst) -> Option<(Vec<Place>, bool)> {
    let vector = |kind: Kind| vec![Place::Vector(kind)];
    let results = match &inst.code {
        Code::Plain(plain) => vector(plain.result),
        Code::Extreme { kind, .. } | Code::DivFmas(kind) => vector(*kind),
        Code::Compare { exec, .. } | Code::Class { exec, .. } => {
            return Some((vec![Place::Mask; inst.results], *exec));
        }
        Code::Select => vector(inst.kinds[0]),
        Code::Carry { .. } => vec![Place::Vector(Kind::Int32), Place::Mask],
        Code::DivScale(kind) => vec![Place::Vector(*kind), Place::Mask],
        Code::MadWide { .. } => vec![Place::Vector(Kind::Int64), Place::Mask],
        Code::Mix { half: Some(_) } => vector(Kind::Float16),
        Code::Mix { half: None } => vector(Kind::Float32),
        Code::Packed { .. }
        | Code::CountBelow { .. }
        | Code::WriteLane
        | Code::Permlane16 { .. }
        | Code::Permlane64 => vector(Kind::Int32),
        Code::SwapRows { .. } | Code::Swap => vector(Kind::Int32),
        Code::ReadLane | Code::ReadFirstLane => vec![Place::Scalar(Kind::Int32)],
        Code::Scalar(scalar) => scalar.result.map(Place::Scalar).into_iter().collect(),
        Code::SaveExec { .. } => return Some((vec![Place::Scalar(inst.kinds[0])], true)),
        Code::Branch { .. } | Code::Access(_) | Code::Control | Code::Unknown(_) => return None,
    };
    Some((results, false))
}

/// An instruction with its registers.
pub struct Single {
    inst: Inst,
    state: State,
}

impl Single {
    /// Everything undefined, and all lanes active.
    pub fn new(text: &str, target: Target) -> Result<Self, String> {
        Ok(Self { inst: Inst::read(0, text, &target)?, state: State::new(target, target.all_lanes()) })
    }

    pub fn set_vector(&mut self, register: usize, lane: usize, bits: u32) {
        self.state.set_lane(register, 1, lane, Value::of(bits.into()));
    }

    /// The bits of a vector register in a lane, and which of them are undefined.
    pub fn vector(&self, register: usize, lane: usize) -> (u32, u32) {
        let value = self.state.lane(register, 1, lane);
        (value.bits as u32, value.undefined as u32)
    }

    pub fn set_scalars(&mut self, first: usize, count: usize, bits: u64) {
        self.state.set_scalars(first, count, Value::of(bits));
    }

    pub fn scalars(&self, first: usize, count: usize) -> (u64, u64) {
        let value = self.state.scalars(first, count);
        (value.bits, value.undefined)
    }

    /// Runs it; `ieee` is the mode of minima and maxima.
    pub fn run(&mut self, ieee: bool) -> Result<(), String> {
        match self.inst.unit {
            Unit::Vector => vector::run(&mut self.state, &self.inst, ieee),
            Unit::Scalar => scalar_run::run(&mut self.state, &self.inst, ieee),
            _ => Err("it does not compute".to_owned()),
        }
    }
}

/// The names of all instructions that compute, in any processor.
pub fn names() -> Vec<String> {
    let rows = table::names().chain(scalar::names()).chain(packed::names()).map(str::to_owned);
    let mut names: Vec<String> = rows.chain(super::inst::names()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The names of a processor's instructions that neither compute nor access memory.
pub fn control_names(target: &Target) -> Vec<String> {
    let mut names = super::inst::control_names();
    names.retain(|name| Inst::read(0, &format!("{name} 0"), target).is_ok());
    names
}

/// Operands that memory instructions have in some encoding.
const ADDRESSES: [&str; 12] = [
    "v0, v1",
    "v0, v1, v2",
    "v0, v1, v2, v3",
    "v0, v[2:3], off",
    "v[2:3], v0, off",
    "v0, v[2:3], v4, off glc",
    "v0, v[2:3], v4, off th:TH_ATOMIC_RETURN",
    "v0, v1, s[4:7], 0 offen",
    "v0, off, s[4:7], 0",
    "s0, s[2:3], 0x0",
    "v0, v1, s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D",
    "v0, v1, s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D",
];

/// A memory instruction of a name, if a processor has it.
fn access(name: &str, target: &Target) -> Option<Access> {
    let read = |operands: &str| Inst::read(0, &format!("{name} {operands}"), target).ok();
    ADDRESSES.into_iter().filter_map(read).find_map(|inst| match inst.code {
        Code::Access(access) => Some(access),
        _ => None,
    })
}

/// Returns true if a processor has a memory instruction of a name.
pub fn reaches_memory(name: &str, target: &Target) -> bool {
    access(name, target).is_some()
}

/// An atomic operation on memory or LDS.
#[derive(Debug, Clone, Copy)]
pub struct Atom {
    atomic: Atomic,
    version: u32,
    pub is_lds: bool,
}

/// The atomic operation of a name, if a processor has it.
pub fn atom(name: &str, target: &Target) -> Option<Atom> {
    let access = access(name, target)?;
    let Deed::Atomic { atomic, .. } = access.deed else { return None };
    Some(Atom { atomic, version: target.version, is_lds: access.space == Space::Lds })
}

impl Atom {
    pub fn bytes(self) -> usize {
        self.atomic.bytes
    }

    pub fn operands(self) -> usize {
        self.atomic.operands()
    }

    /// The new value from the old one and the operands in order.
    pub fn apply(self, old: u64, operands: [u64; 2]) -> u64 {
        let [value, compare] = self.atomic.ordered(operands, self.is_lds, self.version);
        self.atomic.apply(old, value, compare)
    }
}
