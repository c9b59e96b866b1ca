//! Puts consecutive loads into clauses (`s_clause`, from gfx10 on), which the memory unit runs without loads of other
//! waves in between.
//!
//! Runs last, so that nothing gets between the loads of a clause. Sources: "Instruction Clauses" in AMD's RDNA ISA
//! guides, and LLVM's `maxHardClauseLength`.

use super::arch::Arch;
use super::machine::{Function, Inst, Operand};
use super::mnemonic::Operation;
use super::unit::Unit;
use crate::kernel::Origin;

/// Maximum number of instructions in a clause, by generation.
const LONGEST: [usize; 6] = [0, 0, 0, 63, 32, 32];

/// The kinds of loads in clauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Scalar,
    /// Memory clauses of buffers and scratch, by instructions that name the address space.
    Memory,
    Flat,
}

/// Marks the clauses of a function that is otherwise complete.
pub fn mark(function: &mut Function, arch: &Arch) {
    let longest = LONGEST[arch.generation as usize];
    if longest == 0 {
        return;
    }
    for block in &mut function.blocks {
        let insts = std::mem::take(&mut block.insts);
        for run in insts.chunk_by(|a, b| kind(a).is_some() && kind(a) == kind(b)) {
            for clause in run.chunks(if run.len() > 1 { longest } else { 1 }) {
                block.insts.extend((clause.len() > 1).then(|| head(clause)));
                block.insts.extend_from_slice(clause);
            }
        }
    }
}

fn kind(inst: &Inst) -> Option<Kind> {
    let operation = inst.operation()?;
    match operation.unit() {
        Unit::ScalarMemory => Some(Kind::Scalar),
        // gfx10.1 excludes instructions with non-consecutive address registers (LLVM: `hasNSAClauseBug`).
        Unit::Memory if inst.modifiers.image.is_some() => None,
        Unit::Memory if operation.is_load() && inst.modifiers.prefix == "flat_" => Some(Kind::Flat),
        Unit::Memory if operation.is_load() => Some(Kind::Memory),
        _ => None,
    }
}

/// The instruction before a clause.
fn head(clause: &[Inst]) -> Inst {
    let same = clause.iter().all(|inst| inst.origin == clause[0].origin);
    let origin = if same { clause[0].origin } else { Origin::Code };
    Inst::real(Operation::Clause, &[], &[Operand::Constant(clause.len() as u32 - 1)]).made_for(origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::amd::machine::{Block, File, Label, RegisterRange};
    use crate::profile::Profile;

    fn load(operation: Operation) -> Inst {
        let v = |first| Operand::Hardware(RegisterRange { file: File::Vector, first, count: 1 });
        Inst::real(operation, &[v(1)], &[v(0)])
    }

    fn marked(profile: &str, insts: Vec<Inst>) -> Vec<(Operation, Option<Operand>)> {
        let arch = Arch::of(&Profile::named(profile).expect("a profile")).expect("a processor");
        let mut function = Function::default();
        function.blocks.push(Block { label: Label(0), insts });
        mark(&mut function, &arch);
        let insts = &function.blocks[0].insts;
        insts.iter().filter_map(|inst| Some((inst.operation()?, inst.uses.first().copied()))).collect()
    }

    fn lengths(marked: &[(Operation, Option<Operand>)]) -> Vec<Operand> {
        marked
            .iter()
            .filter(|(operation, _)| *operation == Operation::Clause)
            .filter_map(|(_, length)| *length)
            .collect()
    }

    #[test]
    fn loads_of_a_kind_share_a_clause() {
        use Operation as O;
        let insts = || [O::Load32, O::Load128, O::LoadScalar32, O::Move, O::LoadScalar64, O::LoadScalar32].map(load);
        let found: Vec<Operation> =
            marked("gfx1100", insts().into()).into_iter().map(|(operation, _)| operation).collect();
        let expected =
            [O::Clause, O::Load32, O::Load128, O::LoadScalar32, O::Move, O::Clause, O::LoadScalar64, O::LoadScalar32];
        assert_eq!(found, expected);
        assert!(lengths(&marked("gfx900", insts().into())).is_empty());
    }

    #[test]
    fn clauses_have_a_greatest_length() {
        let many = |profile| lengths(&marked(profile, vec![load(Operation::Load32); 66]));
        assert_eq!(many("gfx1030"), [Operand::Constant(62), Operand::Constant(2)]);
        assert_eq!(many("gfx1201-wave32"), [Operand::Constant(31), Operand::Constant(31), Operand::Constant(1)]);
    }
}
