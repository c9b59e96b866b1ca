use super::*;
use crate::backend::amd::machine::{Block, File, Label};
use crate::backend::amd::mnemonic::Operation as O;

fn write(to: Slice) -> Inst {
    Inst::real(O::Move, &[Operand::Reg(to)], &[Operand::Constant(1)])
}

fn keep(to: Slice) -> Inst {
    Inst { keeps: true, ..write(to) }
}

fn read(from: Slice) -> Inst {
    Inst::real(O::Store32, &[], &[Operand::Off, Operand::Reg(from)])
}

fn declare(to: Slice) -> Inst {
    Inst::new(Code::Pseudo(Pseudo::Declare), &[Operand::Reg(to)], &[])
}

fn branch(operation: O, to: u32) -> Inst {
    Inst::real(operation, &[], &[Operand::Label(Label(to))])
}

/// The ranges of a register's parts in blocks with the labels 0, 1 and so on.
fn ranges(function: &mut Function, blocks: Vec<Vec<Inst>>, slice: Slice) -> Vec<Vec<(u32, u32)>> {
    function.blocks = (0..).zip(blocks).map(|(label, insts)| Block { label: Label(label), insts }).collect();
    let live = Live::new(function, |_| false);
    live.parts(slice).iter().map(|part| part.iter().map(|range| (range.from, range.to)).collect()).collect()
}

#[test]
fn from_the_write_to_the_last_read() {
    let mut function = Function::default();
    let a = function.register(File::Vector, 1);
    let insts = vec![write(a), read(a), read(a), write(a), read(a)];
    assert_eq!(ranges(&mut function, vec![insts], a), [[(3, 6), (9, 10)]]);
}

#[test]
fn a_kept_write_needs_what_was_there() {
    let mut function = Function::default();
    let a = function.register(File::Vector, 1);
    let insts = vec![write(a), keep(a), read(a)];
    assert_eq!(ranges(&mut function, vec![insts], a), [[(3, 6)]]);
}

#[test]
fn a_declared_register_begins_with_its_first_write() {
    let mut function = Function::default();
    let (a, other) = (function.register(File::Vector, 2), function.register(File::Vector, 1));
    let insts = vec![declare(a), write(other), write(a.part(1)), write(a.part(0)), read(a)];
    assert_eq!(ranges(&mut function, vec![insts], a), [[(9, 10)], [(7, 10)]]);
}

/// Block 1 is the `if` block, block 2 its `else` block.
#[test]
fn lanes_of_an_if_wait_through_its_else() {
    let mut function = Function::default();
    let a = function.register(File::Vector, 1);
    let blocks = vec![vec![declare(a), branch(O::BranchExecZero, 2)], vec![keep(a)], vec![keep(a)], vec![read(a)]];
    // Block 0 has the numbers 0 to 2, block 1 has 3 and 4, block 2 has 5 and 6, block 3 has 7 and 8.
    assert_eq!(ranges(&mut function, blocks, a), [[(9, 16)]]);
}

/// A value that leaves a loop in some lanes is live through all later iterations.
#[test]
fn results_of_loops_have_no_holes() {
    let mut function = Function::default();
    let (result, other) = (function.register(File::Vector, 1), function.register(File::Vector, 1));
    let blocks =
        vec![vec![declare(result)], vec![write(other), keep(result), branch(O::BranchExecSome, 1)], vec![read(result)]];
    assert_eq!(ranges(&mut function, blocks.clone(), result), [[(4, 14)]]);
    assert_eq!(ranges(&mut function, blocks, other), [[(7, 7)]]);
}

#[test]
fn fixed_registers_are_there_from_the_start() {
    let mut function = Function::default();
    let a = function.fixed_register(File::Scalar, 0, 2);
    let blocks = vec![vec![write(a.part(1)), read(a.part(0))]];
    let found = ranges(&mut function, blocks, a);
    assert_eq!(found[0], [(1, 4)]);
}
