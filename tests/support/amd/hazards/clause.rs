//! Accesses that follow each other directly, on processors that may run them again after a page fault (XNACK).

use super::super::inst::{Code, Inst, Unit};
use super::super::operand::Reg;
use std::collections::BTreeSet;

#[derive(Default)]
pub struct Clause {
    /// On gfx1010 only scalar loads matter.
    only_scalar: bool,
    /// The kind of the last accesses: scalar loads or others.
    scalar: bool,
    reads: BTreeSet<Reg>,
    writes: BTreeSet<Reg>,
}

impl Clause {
    /// `None` if the processor never replays accesses.
    pub fn of(version: u32) -> Option<Self> {
        let only_scalar = version == 1010;
        (only_scalar || (900..1000).contains(&version)).then(|| Self { only_scalar, ..Self::default() })
    }

    pub fn check(&self, inst: &Inst) -> Result<(), String> {
        let Some(scalar) = self.kind(inst).filter(|scalar| *scalar == self.scalar) else { return Ok(()) };
        if self.writes.is_empty() {
            return Ok(());
        }
        if !scalar && stores(inst) {
            return Err("a store directly after a load (XNACK)".to_owned());
        }
        let reads = || self.reads.iter().copied().chain(inst.reads.iter().map(|(reg, _)| *reg));
        match reads().find(|reg| self.writes.contains(reg) || inst.writes.contains(reg)) {
            Some(reg) => Err(format!("{reg:?} is read and written by accesses that may run again together (XNACK)")),
            None => Ok(()),
        }
    }

    pub fn record(&mut self, inst: &Inst) {
        let kind = self.kind(inst);
        if kind != Some(self.scalar) {
            *self = Self { only_scalar: self.only_scalar, scalar: kind == Some(true), ..Self::default() };
        }
        if kind.is_some() {
            self.reads.extend(inst.reads.iter().map(|(reg, _)| *reg));
            self.writes.extend(&inst.writes);
        }
    }

    /// Returns whether an access is scalar; `None` for other instructions.
    fn kind(&self, inst: &Inst) -> Option<bool> {
        match inst.unit {
            Unit::Smem => Some(true),
            Unit::Vmem | Unit::Flat
                if !self.only_scalar && !inst.name.contains("_inv") && !inst.name.contains("_wb") =>
            {
                Some(false)
            }
            _ => None,
        }
    }
}

fn stores(inst: &Inst) -> bool {
    matches!(&inst.code, Code::Access(access) if !access.data.is_empty())
}
