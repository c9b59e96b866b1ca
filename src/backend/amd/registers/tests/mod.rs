//! Allocated code computes what the original code computes.

mod interpreter;
mod random;

use super::*;
use crate::backend::amd::machine::{Block, Code, Label, Operand, Pseudo, Scratch, Slice};
use crate::profile::Profile;
use interpreter::Machine;

fn arch(profile: &str) -> Arch {
    Arch::of(&Profile::all().find(|known| *known.name == *profile).expect("it is embedded")).expect("it is AMD's")
}

fn limits(vectors: u16, scalars: u16) -> Limits {
    Limits { vectors, scalars, rotates_scalars: false }
}

/// Allocates registers, and compares the stores before and after.
fn check(function: &Function, arch: &Arch, limits: &Limits, name: &str) -> Allocation {
    let before = Machine::run(function, 0xaaaa_aaaa);
    assert_eq!(before, Machine::run(function, 0x5555_5555), "{name} reads what nothing has written");
    let mut after = function.clone();
    let allocation = allocate(&mut after, arch, limits).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
    assert!(allocation.vectors <= limits.vectors && allocation.scalars <= limits.scalars, "{name}: {allocation:?}");
    assert_eq!(before, Machine::run(&after, 0x1234_5678), "{name}");
    allocation
}

#[test]
fn random_functions_with_many_registers() {
    for seed in 0..24 {
        let function = random::function(seed, 4 + seed % 9);
        let allocation = check(&function, &arch("gfx900"), &limits(256, 102), &format!("function {seed}"));
        assert_eq!((allocation.spilled_vectors, allocation.spilled_scalars), (0, 0));
    }
}

#[test]
fn random_functions_with_few_registers() {
    let mut spilled = Allocation::default();
    for seed in 0..24 {
        let function = random::function(seed + 1000, 6 + seed % 9);
        let profile = ["gfx900", "gfx90a", "gfx1030-wave64"][seed as usize % 3];
        let allocation = check(&function, &arch(profile), &limits(9, 13), &format!("function {seed}"));
        spilled.spilled_vectors += allocation.spilled_vectors;
        spilled.spilled_scalars += allocation.spilled_scalars;
    }
    assert!(spilled.spilled_vectors > 20 && spilled.spilled_scalars > 20, "{spilled:?}");
}

/// A function of one block.
fn straight(write: impl FnOnce(&mut Function) -> Vec<Inst>) -> Function {
    let mut function = Function { scratch: Some(Scratch::Instructions), ..Function::default() };
    let mut insts = write(&mut function);
    insts.push(Inst::real(Operation::End, &[], &[]));
    function.blocks.push(Block { label: Label(0), insts });
    function
}

fn moved(to: Slice, bits: u32) -> Inst {
    Inst::real(Operation::Move, &[Operand::Reg(to)], &[Operand::Constant(bits)])
}

fn copy(to: Slice, from: Slice) -> Inst {
    Inst::new(Code::Pseudo(Pseudo::Copy), &[Operand::Reg(to)], &[Operand::Reg(from)])
}

fn stored(operation: Operation, data: Slice) -> Inst {
    let mut inst = Inst::real(operation, &[], &[Operand::Constant(0), Operand::Reg(data)]);
    inst.modifiers.prefix = "global_";
    inst
}

#[test]
fn a_tuple_is_made_where_it_is_needed() {
    let mut function = straight(|function| {
        let words: Vec<Slice> = (0..4).map(|_| function.register(File::Vector, 1)).collect();
        let tuple = function.register(File::Vector, 4);
        let mut insts: Vec<Inst> = (0..).zip(&words).map(|(n, word)| moved(*word, n)).collect();
        insts.push(Inst::new(Code::Pseudo(Pseudo::Declare), &[Operand::Reg(tuple)], &[]));
        insts.extend((0..).zip(&words).map(|(n, word)| copy(tuple.part(n), *word)));
        insts.push(stored(Operation::Store128, tuple));
        insts
    });
    let allocation = check(&function, &arch("gfx90a"), &limits(256, 102), "tuple");
    assert_eq!(allocation.vectors, 4);
    allocate(&mut function, &arch("gfx90a"), &limits(256, 102)).expect("it fits");
    assert_eq!(function.blocks[0].insts.len(), 6, "no copy is left");
}

/// Only `keeps` shows that the copy preserves other lanes' values; its source is still written in place.
#[test]
fn a_variable_is_written_in_place() {
    let mut function = straight(|function| {
        let (variable, next) = (function.register(File::Vector, 1), function.register(File::Vector, 1));
        let mut keeping = copy(variable, next);
        keeping.keeps = true;
        let uses = [Operand::Reg(variable), Operand::Reg(variable)];
        vec![
            moved(variable, 3),
            Inst::real(Operation::AddU32, &[Operand::Reg(next)], &uses),
            keeping,
            stored(Operation::Store32, variable),
        ]
    });
    check(&function, &arch("gfx900"), &limits(256, 102), "variable");
    allocate(&mut function, &arch("gfx900"), &limits(256, 102)).expect("it fits");
    assert_eq!(function.blocks[0].insts.len(), 4, "no move is left");
}

/// An instruction after the copy is the last to read both ends: they have the same value and become one register.
#[test]
fn copies_of_what_is_read_once_more_cost_nothing() {
    let scan = |reads_again: bool| {
        straight(|function| {
            let (value, scanned) = (function.register(File::Vector, 1), function.register(File::Vector, 1));
            let uses = [Operand::Reg(value), Operand::Reg(scanned)];
            let mut add = Inst::real(Operation::AddU32, &[Operand::Reg(scanned)], &uses);
            add.keeps = true;
            let mut insts = vec![moved(value, 3), copy(scanned, value), add, stored(Operation::Store32, scanned)];
            insts.extend(reads_again.then(|| stored(Operation::Store32, value)));
            insts
        })
    };
    for (reads_again, count) in [(false, 4), (true, 6)] {
        let mut function = scan(reads_again);
        check(&function, &arch("gfx900"), &limits(256, 102), "scan");
        allocate(&mut function, &arch("gfx900"), &limits(256, 102)).expect("it fits");
        assert_eq!(function.blocks[0].insts.len(), count);
    }
}

#[test]
fn too_little_for_one_instruction_is_an_error() {
    let mut function = straight(|function| {
        let tuple = function.register(File::Vector, 4);
        vec![stored(Operation::Store128, tuple)]
    });
    assert_eq!(allocate(&mut function, &arch("gfx900"), &limits(2, 102)), Err(Failure::Full(File::Vector)));
}

#[test]
fn without_scratch_nothing_is_spilled() {
    let mut function = random::function(3, 12);
    function.scratch = None;
    assert_eq!(allocate(&mut function, &arch("gfx900"), &limits(6, 102)), Err(Failure::NeedsScratch));
}

#[test]
fn pairs_are_aligned() {
    let mut function = straight(|function| {
        let (one, pair) = (function.register(File::Vector, 1), function.register(File::Vector, 2));
        vec![
            moved(one, 1),
            moved(pair.part(0), 2),
            moved(pair.part(1), 3),
            stored(Operation::Store64, pair),
            stored(Operation::Store32, one),
        ]
    });
    allocate(&mut function, &arch("gfx90a"), &limits(256, 102)).expect("it fits");
    let places: Vec<_> = function.blocks[0].insts.iter().flat_map(Inst::hardware_read).collect();
    assert!(places.iter().all(|place| place.count == 1 || place.first.is_multiple_of(2)), "{places:?}");
}

/// gfx90a misreads an amount in v7 if v8 does not belong to the wave.
#[test]
fn amounts_of_long_shifts_are_not_in_the_last_register() {
    let mut function = straight(|function| {
        let ids = function.fixed_register(File::Vector, 0, 4);
        let (value, amount) =
            (function.fixed_register(File::Vector, 4, 2), function.fixed_register(File::Vector, 7, 1));
        let to = function.register(File::Vector, 2);
        let uses = [Operand::Reg(amount), Operand::Reg(value)];
        vec![
            Inst::real(Operation::ShlB64, &[Operand::Reg(to)], &uses),
            stored(Operation::Store64, to),
            stored(Operation::Store128, ids),
        ]
    });
    let mut other = function.clone();
    let limits = limits(255, 102);
    assert_eq!(allocate(&mut function, &arch("gfx90a"), &limits).map(|found| found.vectors), Ok(9));
    assert_eq!(allocate(&mut other, &arch("gfx942"), &limits).map(|found| found.vectors), Ok(8));
}
