//! Pending accesses: registers that memory will write, and stores that other waves may not see yet.

use super::inst::{Code, Inst, Unit};
use super::memory::access::Deed;
use super::memory::run::Touch;
use super::operand::{Reg, integer};
use super::target::Target;

/// The counters that programs wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// `vmcnt`, `loadcnt`.
    Load,
    /// `vscnt`, `storecnt`.
    Store,
    /// `lgkmcnt`, `dscnt`.
    Lds,
    /// `kmcnt`; scalar loads before gfx12 are counted with LDS.
    Scalar,
    /// `samplecnt`; reads through samplers before gfx12 are counted with loads.
    Sample,
    /// Stores that have read their data.
    Data,
}

/// A pending access.
#[derive(Debug, Clone)]
struct Pending {
    line: usize,
    /// The counters that it still delays.
    counters: Vec<Counter>,
    unit: Unit,
    /// Whether it reads through a sampler.
    samples: bool,
    /// Registers that it will write.
    writes: Vec<Reg>,
    /// Registers that it has yet to read.
    reads: Vec<Reg>,
    /// Bytes that it writes.
    stores: Vec<Touch>,
    is_atomic: bool,
    /// The lanes that take part.
    lanes: u64,
}

/// A wave's pending accesses, in issue order.
#[derive(Debug, Default)]
pub struct Waits {
    pending: Vec<Pending>,
}

impl Waits {
    /// Checks that an instruction uses no registers with pending accesses. It may overwrite vector registers where
    /// memory writes other lanes than these.
    pub fn check(&self, inst: &Inst, lanes: u64) -> Result<(), String> {
        for pending in &self.pending {
            let reads = inst.reads.iter().find(|(reg, _)| pending.writes.contains(reg));
            if let Some((reg, _)) = reads {
                return Err(format!("{reg:?} is read before what line {} loads is waited for", pending.line));
            }
            let meets = |reg: &Reg| matches!(reg, Reg::Scalar(_)) || pending.lanes & lanes != 0;
            let overwritten = inst.writes.iter().find(|reg| pending.writes.contains(reg) && meets(reg));
            if let Some(reg) = overwritten.filter(|_| !in_order(pending, inst)) {
                return Err(format!("{reg:?} is overwritten before what line {} loads is waited for", pending.line));
            }
            if let Some(reg) = inst.writes.iter().find(|reg| pending.reads.contains(reg)) {
                return Err(format!("{reg:?} is overwritten while line {} still stores it", pending.line));
            }
        }
        Ok(())
    }

    /// Records an issued access.
    pub fn issue(&mut self, inst: &Inst, touched: &[Touch], target: &Target, lanes: u64) {
        let Code::Access(access) = &inst.code else { return };
        let stores = access.is_store();
        let loads = !inst.writes.is_empty();
        let mut counters = match inst.unit {
            Unit::Smem if target.version >= 1200 => vec![Counter::Scalar],
            Unit::Smem | Unit::Lds => vec![Counter::Lds],
            _ if access.takes_sampler() && target.version >= 1200 => vec![Counter::Sample],
            _ if !loads && target.counts_stores() => vec![Counter::Store],
            _ => vec![Counter::Load],
        };
        if inst.unit == Unit::Flat {
            counters.push(Counter::Lds);
        }
        let holds = stores && target.holds_store_data() && matches!(inst.unit, Unit::Vmem | Unit::Flat);
        if holds {
            counters.push(Counter::Data);
        }
        let reads =
            if holds { access.data.iter().flat_map(|n| inst.args[*n].registers()).collect() } else { Vec::new() };
        let is_atomic = matches!(access.deed, Deed::Atomic { .. });
        let stores = if stores || is_atomic {
            touched.iter().copied().filter(|touch| touch.writes).collect()
        } else {
            Vec::new()
        };
        self.pending.push(Pending {
            line: inst.line,
            counters,
            unit: inst.unit,
            samples: access.takes_sampler(),
            writes: inst.writes.clone(),
            reads,
            stores,
            is_atomic,
            lanes,
        });
    }

    /// The line of a store that may not be complete when another wave reads the data; `None` for an atomic where waves
    /// may race for it.
    pub fn unseen(&self, touch: &Touch, may_race: bool) -> Option<usize> {
        let overlaps = |store: &Touch| {
            store.shared == touch.shared
                && store.at < touch.at + touch.len as u64
                && touch.at < store.at + store.len as u64
        };
        let is_unseen = |pending: &&Pending| !(may_race && pending.is_atomic) && pending.stores.iter().any(overlaps);
        self.pending.iter().find(is_unseen).map(|pending| pending.line)
    }

    /// Returns true if no SMEM load is pending.
    pub fn has_scalar_loads(&self) -> bool {
        self.pending.iter().any(|pending| pending.unit == Unit::Smem)
    }

    /// Waits until at most `left` are pending. Only accesses of the same unit are ordered.
    fn wait(&mut self, counter: Counter, left: usize) {
        let counted = |pending: &Pending| pending.counters.contains(&counter);
        let units: Vec<Unit> =
            self.pending.iter().filter(|pending| counted(pending)).map(|pending| pending.unit).collect();
        // Scalar loads return in any order, and so do flat accesses as far as LDS is concerned.
        let is_lds = matches!(counter, Counter::Lds | Counter::Scalar);
        let is_ordered = units.iter().all(|unit| if is_lds { *unit == Unit::Lds } else { is_memory(*unit) });
        let is_sure = |pending: &Pending| left == 0 || is_ordered || is_lds && pending.unit == Unit::Lds;
        // LDS accesses return in order among themselves, regardless of scalar loads.
        let others = if is_lds { units.iter().filter(|unit| **unit != Unit::Lds).count() } else { 0 };
        let mut done = if left == 0 {
            units.len()
        } else if is_ordered {
            units.len().saturating_sub(left)
        } else if is_lds {
            units.len().saturating_sub(left + others)
        } else {
            0
        };
        let counted = self.pending.iter_mut().filter(|pending| pending.counters.contains(&counter));
        for pending in counted.filter(|pending| is_sure(pending)) {
            if done == 0 {
                break;
            }
            done -= 1;
            if matches!(counter, Counter::Load | Counter::Store | Counter::Sample) {
                // A finished access delays nothing.
                pending.counters.clear();
            }
            pending.counters.retain(|own| *own != counter);
            if counter == Counter::Data {
                pending.reads.clear();
            }
        }
        self.pending.retain(|pending| !pending.counters.is_empty());
    }

    /// Runs a waiting instruction; returns whether it was one.
    pub fn control(&mut self, inst: &Inst, target: &Target) -> Result<bool, String> {
        let number =
            |text: &str| integer(text.trim()).filter(|n| *n >= 0).ok_or_else(|| format!("{text} is not a count"));
        let all = [Counter::Load, Counter::Store, Counter::Lds, Counter::Scalar, Counter::Sample, Counter::Data];
        if let Some((_, counters)) = SINGLE.iter().find(|(name, _)| *name == inst.name) {
            let left = number(inst.rest.trim_start_matches("null,"))?;
            self.many(counters, left as usize);
            return Ok(true);
        }
        match &inst.name[..] {
            "s_waitcnt" => self.waitcnt(&inst.rest, target)?,
            "s_wait_idle" => all.into_iter().for_each(|counter| self.wait(counter, 0)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// One counter, or two in one number with LDS in its low bits.
    fn many(&mut self, counters: &[Counter], left: usize) {
        match counters {
            [first, second] => {
                self.wait(*first, left >> 8 & 63);
                self.wait(*second, left & 63);
            }
            _ => counters.iter().for_each(|counter| self.wait(*counter, left)),
        }
    }

    /// `vmcnt(0) lgkmcnt(1)`, or zero for all.
    fn waitcnt(&mut self, text: &str, target: &Target) -> Result<(), String> {
        let wrong = || format!("{text} is not understood");
        if integer(text) == Some(0) {
            [Counter::Load, Counter::Lds, Counter::Data].into_iter().for_each(|counter| self.wait(counter, 0));
            return Ok(());
        }
        for part in text.split(['&', ',', ' ']).filter(|part| !part.is_empty()) {
            let (name, count) = part.strip_suffix(')').and_then(|part| part.split_once('(')).ok_or_else(wrong)?;
            let left = integer(count).ok_or_else(wrong)? as usize;
            let counter = match name {
                "vmcnt" => Counter::Load,
                "lgkmcnt" => Counter::Lds,
                "expcnt" => Counter::Data,
                _ => return Err(wrong()),
            };
            let most = match counter {
                Counter::Load if target.version >= 900 => 63,
                Counter::Lds if target.version >= 1000 => 63,
                Counter::Load | Counter::Lds => 15,
                _ => 7,
            };
            if left > most {
                return Err(format!("{name} counts to {most}"));
            }
            self.wait(counter, left);
        }
        Ok(())
    }
}

/// Returns true if an instruction's results arrive after those of a pending access. Reads through samplers and other
/// reads are each in order only among themselves.
fn in_order(pending: &Pending, inst: &Inst) -> bool {
    is_memory(pending.unit) && is_memory(inst.unit) && pending.samples == samples(inst)
}

fn samples(inst: &Inst) -> bool {
    matches!(&inst.code, Code::Access(access) if access.takes_sampler())
}

fn is_memory(unit: Unit) -> bool {
    matches!(unit, Unit::Vmem | Unit::Flat)
}

/// Instructions that wait for one counter, or for two.
static SINGLE: &[(&str, &[Counter])] = &[
    ("s_waitcnt_vscnt", &[Counter::Store]),
    ("s_waitcnt_vmcnt", &[Counter::Load]),
    ("s_waitcnt_lgkmcnt", &[Counter::Lds]),
    ("s_waitcnt_expcnt", &[Counter::Data]),
    ("s_wait_loadcnt", &[Counter::Load]),
    ("s_wait_storecnt", &[Counter::Store]),
    ("s_wait_samplecnt", &[Counter::Sample]),
    ("s_wait_bvhcnt", &[]),
    ("s_wait_expcnt", &[Counter::Data]),
    ("s_wait_dscnt", &[Counter::Lds]),
    ("s_wait_kmcnt", &[Counter::Scalar]),
    ("s_wait_loadcnt_dscnt", &[Counter::Load, Counter::Lds]),
    ("s_wait_storecnt_dscnt", &[Counter::Store, Counter::Lds]),
];
