//! Spreads instructions over virtual registers, so that fewer wait states are missing when registers have places.
//!
//! Where lanes are moved from a register that was just written, instructions of the same block come forward that
//! neither touch memory nor depend on what they pass. After allocation [`hazards`](super::hazards) does the same, but
//! by then chains of instructions that could take turns often share registers.

use super::arch::Arch;
use super::forward::{Step, earlier};
use super::hazards;
use super::machine::{Code, Function, Inst, Operand, Pseudo, Slice, Specials};
use super::unit::Unit;
use std::collections::VecDeque;

/// Instructions that are looked at.
const WINDOW: usize = 32;

/// Spreads the instructions of each block.
pub fn spread(function: &mut Function, arch: &Arch) {
    let states = usize::from(hazards::states_before_dpp(arch));
    if states == 0 {
        return;
    }
    for block in &mut function.blocks {
        let mut next: VecDeque<Inst> = std::mem::take(&mut block.insts).into();
        let mut done = Vec::with_capacity(next.len());
        while !next.is_empty() {
            let missing = |inst: &Inst| missing(inst, &done, states);
            let mut less = 0..missing(&next[0]);
            let at =
                less.find_map(|most| earlier(next.iter(), WINDOW, |inst: &Inst| missing(inst) <= most)).unwrap_or(0);
            done.extend(next.remove(at));
        }
        block.insts = done;
    }
}

/// Instructions that are missing between the one that wrote what an instruction reads from other lanes and that one.
fn missing(inst: &Inst, done: &[Inst], states: usize) -> usize {
    let (Some(_), Some(Operand::Reg(moved))) = (inst.modifiers.dpp, inst.uses.first()) else { return 0 };
    let mut real = done.iter().rev().filter(|inst| inst.operation().is_some()).take(states);
    let distance = real.position(|inst| slices(&inst.defs).any(|written| overlap(written, *moved)));
    distance.map_or(0, |distance| states - distance)
}

/// The reads and writes of the instructions that are passed.
#[derive(Default)]
pub struct Passed {
    reads: Vec<Slice>,
    writes: Vec<Slice>,
    specials_read: Specials,
    specials_written: Specials,
}

impl Step for Inst {
    type Passed = Passed;

    fn is_movable(&self) -> bool {
        self.operation().is_some_and(|operation| matches!(operation.unit(), Unit::Vector | Unit::Scalar))
    }

    /// The switching of lanes, waiting and branches.
    fn is_fence(&self) -> bool {
        let is_control = self.operation().is_some_and(|operation| operation.unit() == Unit::Control);
        let is_memory_fence = matches!(self.code, Code::Pseudo(Pseudo::Fence(_)));
        is_control || is_memory_fence || self.specials_written().contains(Specials::EXEC)
    }

    fn pass(&self, passed: &mut Passed) {
        passed.reads.extend(self.reads());
        passed.writes.extend(slices(&self.defs));
        passed.specials_read |= self.specials_read();
        passed.specials_written |= self.specials_written();
    }

    fn is_free_of(&self, passed: &Passed) -> bool {
        let meets = |known: &[Slice], slice: Slice| known.iter().any(|other| overlap(*other, slice));
        let (reads, writes) = (self.specials_read(), self.specials_written());
        let specials = passed.specials_written.intersects(reads | writes) || passed.specials_read.intersects(writes);
        let from_them = self.reads().any(|slice| meets(&passed.writes, slice));
        let over_them = slices(&self.defs).any(|slice| meets(&passed.writes, slice) || meets(&passed.reads, slice));
        !specials && !from_them && !over_them
    }
}

fn slices(operands: &[Operand]) -> impl Iterator<Item = Slice> + '_ {
    let slice = |operand: &Operand| if let Operand::Reg(slice) = operand { Some(*slice) } else { None };
    operands.iter().filter_map(slice)
}

fn overlap(a: Slice, b: Slice) -> bool {
    a.reg == b.reg && a.first < b.first + b.count && b.first < a.first + a.count
}

#[cfg(test)]
mod tests {
    use super::super::mnemonic::Operation;
    use super::*;
    use crate::backend::amd::machine::{Block, Dpp, File, Label};
    use crate::lane::primitive::{Dpp16, DppControl};
    use crate::profile::Profile;

    fn moved(to: Slice, from: Slice) -> Inst {
        let mut inst = Inst::real(Operation::Move, &[Operand::Reg(to)], &[Operand::Reg(from)]);
        inst.modifiers.dpp = Some(Dpp::Rows(Dpp16::new(DppControl::RowMirror)));
        inst
    }

    /// Two chains of moves, one after the other.
    fn chains(profile: &str) -> Vec<Inst> {
        let mut function = Function::default();
        let mut insts = Vec::new();
        for _ in 0..2 {
            let registers: Vec<Slice> = (0..4).map(|_| function.register(File::Vector, 1)).collect();
            insts.extend(registers.windows(2).map(|pair| moved(pair[1], pair[0])));
        }
        function.blocks.push(Block { label: Label(0), insts });
        let profile = Profile::all().find(|known| *known.name == *profile).expect("it is embedded");
        spread(&mut function, &Arch::of(&profile).expect("it is AMD's"));
        function.blocks.remove(0).insts
    }

    fn written(insts: &[Inst]) -> Vec<u32> {
        insts.iter().flat_map(|inst| slices(&inst.defs)).map(|slice| slice.reg.0).collect()
    }

    #[test]
    fn chains_take_turns_where_moves_wait() {
        assert_eq!(written(&chains("gfx900")), [1, 5, 2, 6, 3, 7]);
        assert_eq!(written(&chains("gfx1030-wave32")), [1, 2, 3, 5, 6, 7]);
    }

    #[test]
    fn nothing_passes_a_change_of_lanes() {
        let mut function = Function::default();
        let [a, b, c, d, e]: [Slice; 5] = std::array::from_fn(|_| function.register(File::Vector, 1));
        let exec = Operand::Special(crate::backend::amd::machine::Special::Exec);
        let switch = Inst::real(Operation::ScalarMove64, &[exec], &[Operand::Constant(0)]);
        function.blocks.push(Block { label: Label(0), insts: vec![moved(b, a), moved(c, b), switch, moved(e, d)] });
        let before = function.blocks[0].insts.clone();
        let profile = Profile::all().find(|known| &*known.name == "gfx900").expect("it is embedded");
        spread(&mut function, &Arch::of(&profile).expect("it is AMD's"));
        assert_eq!(function.blocks[0].insts, before);
    }
}
