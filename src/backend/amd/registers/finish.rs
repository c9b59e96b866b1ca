//! Writes places into instructions. Copies become moves or nothing, and declarations disappear.

use super::webs::copied;
use crate::backend::amd::machine::{Code, File, Function, Inst, Operand, Pseudo, RegisterRange, Slice};
use crate::backend::amd::mnemonic::Operation;
use smallvec::SmallVec;

/// Replaces virtual registers by hardware registers; `first_of` returns the first register of each.
pub fn finish(function: &mut Function, first_of: impl Fn(Slice) -> u16) {
    let files: Vec<File> = function.registers.iter().map(|info| info.file).collect();
    let place = |slice: Slice| {
        let first = first_of(slice) + u16::from(slice.first);
        RegisterRange { file: files[slice.reg.index()], first, count: slice.count }
    };
    for block in &mut function.blocks {
        let insts = std::mem::take(&mut block.insts);
        for mut inst in insts {
            match copied(&inst) {
                Some((to, from)) => block.insts.extend(moves(&inst, place(to), place(from))),
                None if inst.code == Code::Pseudo(Pseudo::Declare) => {}
                None => {
                    inst.defs.iter_mut().chain(&mut inst.uses).for_each(|operand| {
                        if let Operand::Reg(slice) = *operand {
                            *operand = Operand::Hardware(place(slice));
                        }
                    });
                    block.insts.push(inst);
                }
            }
        }
    }
}

/// The moves for a copy. If both ends overlap, none overwrites a register that another still reads.
fn moves(copy: &Inst, to: RegisterRange, from: RegisterRange) -> SmallVec<[Inst; 2]> {
    if to == from {
        return SmallVec::new();
    }
    let (operation, step) = match to.file {
        File::Vector => (Operation::Move, 1),
        File::Scalar if to.count == 2 && to.first.is_multiple_of(2) && from.first.is_multiple_of(2) => {
            (Operation::ScalarMove64, 2)
        }
        File::Scalar => (Operation::ScalarMove, 1),
    };
    let word = |place: RegisterRange, n: u8| {
        Operand::Hardware(RegisterRange { first: place.first + u16::from(n), count: step, ..place })
    };
    let mut moves: SmallVec<[Inst; 2]> = (0..to.count)
        .step_by(usize::from(step))
        .map(|n| Inst {
            code: Code::Real(operation),
            defs: [word(to, n)].into_iter().collect(),
            uses: [word(from, n)].into_iter().collect(),
            ..copy.clone()
        })
        .collect();
    if to.first > from.first {
        moves.reverse();
    }
    moves
}
