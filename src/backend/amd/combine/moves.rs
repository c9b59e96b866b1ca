//! Shares moves of constants and scalars into vector registers, which memory instructions need repeatedly.

use super::{Walk, is_own, slices};
use crate::backend::amd::machine::{Function, Inst, Operand, Reg, Slice};
use crate::backend::amd::mnemonic::Operation;
use rustc_hash::FxHashMap;

/// Number of instructions for which a moved value is kept: it occupies a register as long as it may be reused.
const REACH: u32 = 48;

/// A value in a vector register.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    from: Operand,
    to: Reg,
    /// The number of the instruction that moves it.
    number: u32,
}

/// Removed registers, and the registers with their values.
pub type Renamed = FxHashMap<Reg, Slice>;

/// Replaces registers by the registers with their values.
pub fn rename(function: &mut Function, renamed: &Renamed) {
    if renamed.is_empty() {
        return;
    }
    let insts = function.blocks.iter_mut().flat_map(|block| &mut block.insts);
    insts.flat_map(|inst| &mut inst.uses).for_each(|operand| *operand = held(*operand, renamed));
}

/// The operand with the same value as another one.
fn held(operand: Operand, renamed: &Renamed) -> Operand {
    match operand {
        Operand::Reg(slice) => match renamed.get(&slice.reg) {
            Some(by) => Operand::Reg(Slice { first: by.first + slice.first, reg: by.reg, ..slice }),
            None => operand,
        },
        _ => operand,
    }
}

/// The operand and the register of a plain move.
fn moved(inst: &Inst) -> Option<(Operand, Reg)> {
    let is_plain = inst.operation() == Some(Operation::Move) && inst.modifiers.is_empty() && !inst.keeps;
    match (&inst.defs[..], &inst.uses[..]) {
        ([Operand::Reg(to)], [from]) if is_plain && is_own(inst) => Some((*from, to.reg)),
        _ => None,
    }
}

impl Walk<'_> {
    /// Removes a move if a register already has its value in all active lanes.
    pub fn share_move(&mut self, at: usize) {
        let Some((from, to)) = moved(&self.block.insts[at]) else { return };
        let is_single = self.accesses.writes[to.index()] == 1 && self.info(to).width == 1;
        if !is_single {
            return;
        }
        let number = self.accesses.number;
        self.moves.retain(|known| known.number + REACH > number);
        let is_same = |known: &Moved| {
            let unchanged = |slice: Slice| self.accesses.written[slice.reg.index()] <= known.number;
            known.from == from && self.exec < known.number && slices(&[from]).all(unchanged)
        };
        match self.moves.iter().copied().find(is_same) {
            Some(known) => self.stand_in(at, known.to, to),
            None => self.moves.push(Moved { from, to, number }),
        }
    }

    /// Removes an instruction whose result another register has.
    pub fn stand_in(&mut self, at: usize, by: Reg, of: Reg) {
        self.accesses.count(&self.block.insts[at], -1);
        self.gone[at] = true;
        self.accesses.reads[by.index()] += self.accesses.reads[of.index()];
        self.changes.renamed.insert(of, Slice { reg: by, first: 0, count: 1 });
    }

    /// The operand with the register that has its value.
    pub fn resolved(&self, operand: Operand) -> Operand {
        held(operand, &self.changes.renamed)
    }
}
