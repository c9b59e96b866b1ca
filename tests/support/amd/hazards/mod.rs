//! The rules that programs must follow because the hardware does not enforce them: wait states of gfx6 to gfx9, and
//! RDNA's hazards.

mod caches;
mod clause;
mod rdna1;
mod rdna3;
mod rdna4;
mod states;
mod walk;

pub use walk::walk;

use super::inst::{Inst, Unit};
use super::operand::{Reg, integer};
use super::target::Target;

/// Everything that has happened in a wave as far as hazards go.
pub struct Hazards {
    caches: caches::Caches,
    clause: Option<clause::Clause>,
    states: states::WaitStates,
    rdna1: Option<rdna1::Rdna1>,
    permlane: Option<rdna1::AfterCmpx>,
    rdna3: Option<rdna3::Rdna3>,
    rdna4: Option<rdna4::Rdna4>,
}

impl Hazards {
    pub fn new(target: &Target) -> Self {
        let version = target.version;
        let is = |holds: bool| holds.then_some(());
        Self {
            caches: caches::Caches::default(),
            clause: clause::Clause::of(version),
            states: states::WaitStates::new(version),
            rdna1: is(version == 1010).map(|()| rdna1::Rdna1::default()),
            permlane: is(version == 1010 || version >= 1100).map(|()| rdna1::AfterCmpx::default()),
            rdna3: is((1100..1200).contains(&version)).map(|()| rdna3::Rdna3::new(target)),
            rdna4: is(version >= 1200).map(|()| rdna4::Rdna4::default()),
        }
    }

    /// Checks that an instruction may run now.
    pub fn check(&self, inst: &Inst) -> Result<(), String> {
        self.caches.check(inst)?;
        self.clause.as_ref().map_or(Ok(()), |clause| clause.check(inst))?;
        self.states.check(inst)?;
        self.rdna1.as_ref().map_or(Ok(()), |hazards| hazards.check(inst))?;
        self.permlane.as_ref().map_or(Ok(()), |hazards| hazards.check(inst))?;
        self.rdna3.as_ref().map_or(Ok(()), |hazards| hazards.check(inst))?;
        self.rdna4.as_ref().map_or(Ok(()), |hazards| hazards.check(inst))
    }

    /// Records an executed instruction.
    pub fn record(&mut self, inst: &Inst) -> Result<(), String> {
        let waited = Waited::by(inst)?;
        self.caches.record(inst);
        self.clause.iter_mut().for_each(|clause| clause.record(inst));
        self.states.record(inst);
        self.rdna1.iter_mut().for_each(|hazards| hazards.record(inst, waited));
        self.permlane.iter_mut().for_each(|hazards| hazards.record(inst));
        self.rdna3.iter_mut().for_each(|hazards| hazards.record(inst, waited));
        self.rdna4.iter_mut().for_each(|hazards| hazards.record(inst, waited));
        Ok(())
    }
}

/// The counters that S_WAITCNT_DEPCTR or S_WAIT_ALU waits for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waited {
    pub scalar_results: bool,
    pub vcc: bool,
    pub memory_sources: bool,
    pub vector_scalar_results: bool,
    pub vector_results: bool,
}

/// The fields of their number: name, first bit, bits.
const FIELDS: [(&str, u32, u32); 7] = [
    ("sa_sdst", 0, 1),
    ("va_vcc", 1, 1),
    ("vm_vsrc", 2, 3),
    ("hold_cnt", 7, 1),
    ("va_ssrc", 8, 1),
    ("va_sdst", 9, 3),
    ("va_vdst", 12, 4),
];

impl Waited {
    fn by(inst: &Inst) -> Result<Self, String> {
        if inst.name != "s_waitcnt_depctr" && inst.name != "s_wait_alu" {
            return Ok(Self::default());
        }
        let number = match integer(&inst.rest) {
            Some(number) => number as u32,
            None => named_fields(&inst.rest)?,
        };
        let is_zero =
            |name: &str| FIELDS.iter().any(|(own, at, bits)| *own == name && number >> at & ((1 << bits) - 1) == 0);
        Ok(Self {
            scalar_results: is_zero("sa_sdst"),
            vcc: is_zero("va_vcc"),
            memory_sources: is_zero("vm_vsrc"),
            vector_scalar_results: is_zero("va_sdst"),
            vector_results: is_zero("va_vdst"),
        })
    }
}

/// `depctr_va_sdst(0) depctr_va_vcc(0)`.
fn named_fields(text: &str) -> Result<u32, String> {
    let mut number = 0xffff;
    for part in text.split(['&', ',', ' ', '|']).filter(|part| !part.is_empty()) {
        let wrong = || format!("{part} is not understood");
        let (name, value) = part.strip_suffix(')').and_then(|part| part.split_once('(')).ok_or_else(wrong)?;
        let name = name.strip_prefix("depctr_").ok_or_else(wrong)?;
        let (_, at, bits) = FIELDS.iter().find(|(own, ..)| *own == name).ok_or_else(wrong)?;
        let value = integer(value).ok_or_else(wrong)? as u32;
        number = number & !(((1 << bits) - 1) << at) | value << at;
    }
    Ok(number)
}

/// The scalar registers that an instruction reads.
fn scalars_read(inst: &Inst) -> impl Iterator<Item = usize> {
    inst.reads.iter().filter_map(|(reg, _)| match reg {
        Reg::Scalar(n) => Some(*n),
        Reg::Vector(_) => None,
    })
}

/// The scalar registers that it writes.
fn scalars_written(inst: &Inst) -> impl Iterator<Item = usize> {
    inst.writes.iter().filter_map(|reg| match reg {
        Reg::Scalar(n) => Some(*n),
        Reg::Vector(_) => None,
    })
}

fn is_memory(inst: &Inst) -> bool {
    matches!(inst.unit, Unit::Vmem | Unit::Flat | Unit::Lds)
}
