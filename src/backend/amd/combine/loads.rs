//! Loads of signed 8- and 16-bit numbers, which extend the sign themselves.

use super::Walk;
use crate::backend::amd::machine::{Code, Operand};
use crate::backend::amd::mnemonic::Operation;

/// The load that extends the sign of this many bits.
fn signed(load: Operation, bits: u32) -> Option<Operation> {
    match (load, bits) {
        (Operation::LoadU8, 8) => Some(Operation::LoadI8),
        (Operation::LoadU16, 16) => Some(Operation::LoadI16),
        _ => None,
    }
}

impl Walk<'_> {
    /// Removes a sign extension whose operand is a load without other uses.
    pub fn extend_load(&mut self, at: usize) {
        let inst = &self.block.insts[at];
        let is_plain = inst.modifiers.is_empty() && inst.operation() == Some(Operation::BfeI32);
        let [_, Operand::Constant(0), Operand::Constant(bits)] = inst.uses[..] else { return };
        let [Operand::Reg(result)] = inst.defs[..] else { return };
        let is_single = self.accesses.writes[result.reg.index()] == 1 && self.info(result.reg).width == 1;
        let Some(load_at) = self.maker(at, 0).filter(|_| is_plain && is_single) else { return };
        let load = &mut self.block.insts[load_at];
        let (Some(signed), [Operand::Reg(loaded)]) =
            (load.operation().and_then(|load| signed(load, bits)), &load.defs[..])
        else {
            return;
        };
        let loaded = loaded.reg;
        load.code = Code::Real(signed);
        self.stand_in(at, loaded, result.reg);
    }
}
