//! The faults of gfx1010, and V_PERMLANE after V_CMPX, which later generations share.

use super::super::inst::{Inst, Unit};
use super::super::operand::{EXEC, integer};
use super::{Waited, is_memory, scalars_read, scalars_written};
use std::collections::BTreeSet;

/// The state that determines which instructions gfx1010 must not run yet.
#[derive(Default)]
pub struct Rdna1 {
    /// Scalar registers that memory instructions may still read: loads, stores, and the LDS pipe.
    loads: BTreeSet<usize>,
    stores: BTreeSet<usize>,
    lds: BTreeSet<usize>,
    /// Scalar registers that scalar loads may still read.
    smem: BTreeSet<usize>,
    /// True if something other than a vector instruction has read EXEC.
    exec_read: bool,
    /// Whether the last access used LDS, and whether a branch followed it.
    last_access: Option<bool>,
    branched: bool,
}

impl Rdna1 {
    pub fn check(&self, inst: &Inst) -> Result<(), String> {
        let pending = [&self.loads, &self.stores, &self.lds];
        let clash = |n: &usize| pending.iter().any(|set| set.contains(n));
        if matches!(inst.unit, Unit::Scalar | Unit::Smem) && scalars_written(inst).any(|n| clash(&n)) {
            return Err("a scalar write of what a memory instruction may still read (VMEMtoScalarWrite)".to_owned());
        }
        if inst.unit == Unit::Vector && scalars_written(inst).any(|n| self.smem.contains(&n)) {
            return Err("a vector write of what a scalar load may still read (SMEMtoVectorWrite)".to_owned());
        }
        if inst.is_cmpx() && self.exec_read {
            return Err("EXEC is written by a comparison while it may still be read (VcmpxExecWAR)".to_owned());
        }
        let other = self.last_access.is_some_and(|lds| lds != (inst.unit == Unit::Lds));
        if is_memory(inst) && other && self.branched {
            return Err("LDS and memory accesses on two sides of a branch (LdsBranchVmemWAR)".to_owned());
        }
        Ok(())
    }

    pub fn record(&mut self, inst: &Inst, waited: Waited) {
        match inst.unit {
            Unit::Vector => self.vector(inst),
            Unit::Vmem | Unit::Flat | Unit::Lds => self.access(inst),
            Unit::Smem => self.smem.extend(scalars_read(inst)),
            Unit::Scalar => self.smem.clear(),
            Unit::Branch => self.branched = true,
            Unit::Control => self.control(inst),
        }
        if inst.unit != Unit::Vector && scalars_read(inst).any(|n| n == EXEC) {
            self.exec_read = true;
        }
        if waited.memory_sources {
            [&mut self.loads, &mut self.stores, &mut self.lds].into_iter().for_each(BTreeSet::clear);
        }
        if waited.scalar_results {
            self.exec_read = false;
        }
    }

    fn vector(&mut self, inst: &Inst) {
        [&mut self.loads, &mut self.stores, &mut self.lds].into_iter().for_each(BTreeSet::clear);
        if scalars_written(inst).any(|n| n < EXEC) {
            self.exec_read = false;
        }
    }

    fn access(&mut self, inst: &Inst) {
        let set = match inst.unit {
            Unit::Lds => &mut self.lds,
            _ if inst.writes.is_empty() => &mut self.stores,
            _ => &mut self.loads,
        };
        set.extend(scalars_read(inst));
        if inst.unit == Unit::Flat {
            self.lds.extend(scalars_read(inst));
        }
        self.last_access = Some(inst.unit == Unit::Lds);
        self.branched = false;
    }

    fn control(&mut self, inst: &Inst) {
        let all = integer(&inst.rest) == Some(0);
        if inst.name == "s_waitcnt" {
            if all || inst.rest.contains("vmcnt(0)") {
                self.loads.clear();
            }
            if all || inst.rest.contains("lgkmcnt(0)") {
                self.lds.clear();
                self.smem.clear();
            }
        }
        let no_stores = inst.name == "s_waitcnt_vscnt" && inst.rest.ends_with(['0']) && !inst.rest.ends_with("10");
        if no_stores {
            self.stores.clear();
            self.last_access = None;
            self.branched = false;
        }
    }
}

/// The state after a V_CMPX that was the last vector instruction.
#[derive(Default)]
pub struct AfterCmpx {
    cmpx: bool,
}

impl AfterCmpx {
    pub fn check(&self, inst: &Inst) -> Result<(), String> {
        if self.cmpx && inst.name.starts_with("v_permlane") {
            return Err("V_PERMLANE directly after V_CMPX (VcmpxPermlane)".to_owned());
        }
        Ok(())
    }

    pub fn record(&mut self, inst: &Inst) {
        if inst.unit == Unit::Vector {
            self.cmpx = inst.is_cmpx();
        }
    }
}
