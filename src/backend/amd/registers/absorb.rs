//! Makes an instruction write directly to the destination of a later copy of its result in the same block.
//!
//! A copy into a register that keeps lanes cannot share a place with its source, because both are live in between. If
//! the same lanes are active and nothing accesses the destination meanwhile, the instruction can write there directly.

use super::webs::copied;
use crate::backend::amd::machine::{File, Function, Inst, Operand, Reg, RegInfo, Slice, Specials};

/// Does this for all suitable copies, and removes them.
pub fn absorb(function: &mut Function) {
    let counts = Counts::new(function);
    let mut seen = Seen { at: vec![Accesses::default(); function.registers.len()], exec: 0 };
    let mut number = 0;
    for block in &mut function.blocks {
        number += 1;
        seen.exec = number;
        let start = number;
        for at in 0..block.insts.len() {
            number += 1;
            let copy = copied(&block.insts[at]).filter(|(to, from)| {
                let is_vector = function.registers[to.reg.index()].file == File::Vector;
                block.insts[at].keeps && is_vector && counts.is_only_for_a_copy(*from, &function.registers)
            });
            let writer = copy.and_then(|(to, from)| Some((seen.writer(to.reg, from.reg)?, to, from)));
            match writer {
                Some((writer, to, from)) if redirect(&mut block.insts[(writer - start) as usize - 1], to, from) => {
                    block.insts[at].uses[0] = Operand::Reg(to);
                    seen.at[to.reg.index()].written = number;
                }
                _ => seen.pass(&block.insts[at], number),
            }
        }
        block.insts.retain(|inst| copied(inst).is_none_or(|(to, from)| to != from));
    }
}

/// Makes the instruction that writes `from` write `to`.
fn redirect(inst: &mut Inst, to: Slice, from: Slice) -> bool {
    if inst.keeps {
        return false;
    }
    let Some(def) = inst.defs.iter_mut().find(|def| **def == Operand::Reg(from)) else { return false };
    *def = Operand::Reg(to);
    inst.keeps = true;
    true
}

/// How often registers are read and written in the whole function.
struct Counts {
    reads: Vec<u32>,
    writes: Vec<u32>,
}

impl Counts {
    fn new(function: &Function) -> Counts {
        let none = vec![0; function.registers.len()];
        let mut counts = Counts { reads: none.clone(), writes: none };
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            inst.reads().for_each(|slice| counts.reads[slice.reg.index()] += 1);
            inst.writes(&function.registers).for_each(|(slice, _)| counts.writes[slice.reg.index()] += 1);
        }
        counts
    }

    /// Returns true if a whole register is written once and read once.
    fn is_only_for_a_copy(&self, slice: Slice, registers: &[RegInfo]) -> bool {
        let reg = slice.reg.index();
        slice.count == registers[reg].width && self.reads[reg] == 1 && self.writes[reg] == 1
    }
}

/// The numbers of the instructions that last accessed a register.
#[derive(Clone, Copy, Default)]
struct Accesses {
    read: u32,
    written: u32,
}

/// The effects of the instructions so far.
struct Seen {
    at: Vec<Accesses>,
    /// The last write of EXEC, or the start of the block.
    exec: u32,
}

impl Seen {
    /// The writer of `from`, if it could write to `to` instead.
    fn writer(&self, to: Reg, from: Reg) -> Option<u32> {
        let writer = self.at[from.index()].written;
        let target = self.at[to.index()];
        // The writer itself may read the target.
        (writer > self.exec && target.written < writer && target.read <= writer).then_some(writer)
    }

    fn pass(&mut self, inst: &Inst, number: u32) {
        inst.reads().for_each(|slice| self.at[slice.reg.index()].read = number);
        let defs =
            inst.defs.iter().filter_map(|def| if let Operand::Reg(slice) = def { Some(slice.reg) } else { None });
        defs.for_each(|reg| self.at[reg.index()].written = number);
        if inst.specials_written().contains(Specials::EXEC) {
            self.exec = number;
        }
    }
}
