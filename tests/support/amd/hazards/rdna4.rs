//! The hazard of gfx12: scalar registers that a vector instruction has read and that are then overwritten
//! (VALUReadSGPR).

use super::super::inst::{Inst, Unit};
use super::super::operand::VCC;
use super::{Waited, scalars_read, scalars_written};

/// Scalar registers that the hazard is about: SGPRs and VCC.
const REGISTERS: usize = VCC + 2;

pub struct Rdna4 {
    /// True if a vector instruction has read a register of each pair.
    read: [bool; REGISTERS / 2],
    /// Whether the scalar or the vector unit has written each register since.
    by_scalar: [bool; REGISTERS],
    by_vector: [bool; REGISTERS],
}

impl Default for Rdna4 {
    fn default() -> Self {
        Self { read: [false; REGISTERS / 2], by_scalar: [false; REGISTERS], by_vector: [false; REGISTERS] }
    }
}

impl Rdna4 {
    pub fn check(&self, inst: &Inst) -> Result<(), String> {
        let is_vector = inst.unit == Unit::Vector;
        if !is_vector && !matches!(inst.unit, Unit::Scalar | Unit::Branch) {
            return Ok(());
        }
        for n in scalars_read(inst).filter(|n| *n < REGISTERS) {
            if self.by_scalar[n] || is_vector && self.by_vector[n] {
                return Err(format!("s{n} was read by a vector instruction, written and is read (VALUReadSGPR)"));
            }
        }
        Ok(())
    }

    pub fn record(&mut self, inst: &Inst, waited: Waited) {
        if waited.scalar_results {
            self.by_scalar.fill(false);
        }
        for (n, written) in self.by_vector.iter_mut().enumerate() {
            *written &= !if n < VCC { waited.vector_scalar_results } else { waited.vcc };
        }
        if inst.unit == Unit::Vector {
            scalars_read(inst).filter(|n| *n < REGISTERS).for_each(|n| self.read[n / 2] = true);
        }
        for n in scalars_written(inst).filter(|n| *n < REGISTERS && self.read[n / 2]) {
            match inst.unit {
                Unit::Scalar => self.by_scalar[n] = true,
                Unit::Vector => self.by_vector[n] = true,
                _ => {}
            }
        }
    }
}
