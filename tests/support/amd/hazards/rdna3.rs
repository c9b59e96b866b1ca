//! The hazards of gfx11: results of transcendental functions, registers written on both sides of a write to EXEC, masks
//! that are overwritten.

use super::super::inst::{Inst, Role, Unit};
use super::super::operand::{EXEC, M0, NULL, Reg, SCALARS, VCC, VECTORS};
use super::super::target::Target;
use super::{Waited, is_memory, scalars_written};

/// The writer of a scalar register that had been a mask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Scalar,
    Vector,
}

pub struct Rdna3 {
    wave64: bool,
    /// gfx1150 does not have the hazard for results of transcendental functions.
    slow_results: bool,
    /// Vector instructions and slow functions so far.
    vectors: u64,
    slow: u64,
    /// For each vector register: the number of the vector instruction that wrote it, and the number of the
    /// transcendental one.
    written: Vec<Option<u64>>,
    slow_written: Vec<Option<(u64, u64)>>,
    /// Numbers of the last vector instructions before which a scalar instruction wrote EXEC.
    exec_writes: Vec<u64>,
    /// For each scalar register: whether it was read as a mask, and what wrote it afterwards.
    masks: Vec<bool>,
    rewritten: Vec<Option<Writer>>,
}

/// After this many vector instructions no hazard remains.
const FAR: u64 = 8;

impl Rdna3 {
    pub fn new(target: &Target) -> Self {
        Self {
            wave64: target.wave == 64,
            slow_results: target.version < 1150,
            vectors: 0,
            slow: 0,
            written: vec![None; VECTORS],
            slow_written: vec![None; VECTORS],
            exec_writes: Vec::new(),
            masks: vec![false; SCALARS],
            rewritten: vec![None; SCALARS],
        }
    }

    pub fn check(&self, inst: &Inst) -> Result<(), String> {
        if matches!(inst.unit, Unit::Vector | Unit::Scalar | Unit::Branch) && self.wave64 {
            self.check_masks(inst)?;
        }
        if inst.unit != Unit::Vector {
            return Ok(());
        }
        let sources: Vec<usize> = vectors_read(inst);
        if self.slow_results {
            self.check_slow(&sources)?;
        }
        if self.wave64 { self.check_forwarding(&sources) } else { Ok(()) }
    }

    fn check_slow(&self, sources: &[usize]) -> Result<(), String> {
        let early = |n: &&usize| {
            self.slow_written[**n].is_some_and(|(vectors, slow)| self.vectors - vectors <= 5 && self.slow - slow <= 1)
        };
        match sources.iter().find(early) {
            Some(n) => Err(format!("v{n} is the result of a slow function and read too early (VALUTransUse)")),
            None => Ok(()),
        }
    }

    /// Two sources, one written before and one after a write to EXEC, all of them recent.
    fn check_forwarding(&self, sources: &[usize]) -> Result<(), String> {
        let written: Vec<u64> = sources.iter().filter_map(|n| self.written[*n]).collect();
        let after = |exec: u64| written.iter().copied().filter(|at| *at >= exec).max();
        let Some(exec) = self.exec_writes.iter().copied().rev().find(|exec| after(*exec).is_some()) else {
            return Ok(());
        };
        let (Some(post), Some(pre)) = (after(exec), written.iter().copied().filter(|at| *at < exec).max()) else {
            return Ok(());
        };
        let now = self.vectors;
        let (first, second, third) = (exec - 1 - pre, post - exec, now - 1 - post);
        if third <= 4 && second <= 2 && first <= 2 && first + second <= 2 {
            return Err("sources written on both sides of a write of EXEC (VALUPartialForwarding)".to_owned());
        }
        Ok(())
    }

    fn check_masks(&self, inst: &Inst) -> Result<(), String> {
        let spoiled = |(reg, _): &&(Reg, Role)| matches!(reg, Reg::Scalar(n) if self.rewritten[*n].is_some());
        match inst.reads.iter().find(spoiled) {
            Some((reg, _)) => Err(format!("{reg:?} was a mask, was written again and is read (VALUMaskWrite)")),
            None => Ok(()),
        }
    }

    pub fn record(&mut self, inst: &Inst, waited: Waited) {
        match inst.unit {
            Unit::Vector => self.vector(inst),
            Unit::Scalar => self.scalar(inst),
            _ => {}
        }
        if is_memory(inst) || waited.vector_results {
            self.written.fill(None);
            self.slow_written.fill(None);
            self.exec_writes.clear();
        }
        for at in 0..SCALARS {
            let is_done = match self.rewritten[at] {
                Some(Writer::Scalar) => waited.scalar_results,
                Some(Writer::Vector) => {
                    if is_vcc(at) {
                        waited.vcc
                    } else {
                        waited.vector_scalar_results
                    }
                }
                None => false,
            };
            if is_done {
                // Reads before the write are complete too.
                (self.rewritten[at], self.masks[at]) = (None, false);
            }
        }
    }

    fn vector(&mut self, inst: &Inst) {
        // An instruction may write the mask that it reads itself.
        self.rewrite(inst, Writer::Vector);
        self.read_masks(inst);
        for reg in &inst.writes {
            if let Reg::Vector(n) = reg {
                self.written[*n] = Some(self.vectors);
                self.slow_written[*n] = inst.is_transcendental().then_some((self.vectors + 1, self.slow + 1));
            }
        }
        // A dual instruction counts as one.
        self.vectors += u64::from(inst.pair.is_none());
        self.slow += u64::from(inst.is_transcendental());
        let now = self.vectors;
        self.exec_writes.retain(|at| now - at <= FAR);
    }

    fn scalar(&mut self, inst: &Inst) {
        if scalars_written(inst).any(|n| n == EXEC) {
            self.exec_writes.push(self.vectors);
        }
        self.rewrite(inst, Writer::Scalar);
    }

    fn rewrite(&mut self, inst: &Inst, writer: Writer) {
        for n in scalars_written(inst).filter(|n| ![EXEC, EXEC + 1, M0, NULL].contains(n)) {
            if self.masks[n] {
                self.rewritten[n] = Some(writer);
            }
        }
    }

    /// Only a new write to the register makes reads of a mask complete.
    fn read_masks(&mut self, inst: &Inst) {
        let masks = inst.reads.iter().filter(|(_, role)| matches!(role, Role::LaneMask | Role::Fmas));
        for (reg, _) in masks {
            if let Reg::Scalar(n) = reg {
                self.masks[*n] |= *n != EXEC && *n != EXEC + 1;
            }
        }
    }
}

fn is_vcc(at: usize) -> bool {
    at == VCC || at == VCC + 1
}

fn vectors_read(inst: &Inst) -> Vec<usize> {
    let mut sources: Vec<usize> =
        inst.reads.iter().filter_map(|(reg, _)| if let Reg::Vector(n) = reg { Some(*n) } else { None }).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}
