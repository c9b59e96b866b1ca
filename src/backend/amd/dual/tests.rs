//! Each rule for pairs, with a pair that satisfies it and one that violates it.

use super::*;
use crate::backend::amd::machine::{Block, File, Label, Operand, RegisterRange, Special};
use crate::backend::amd::mnemonic::Operation as O;
use crate::backend::amd::print::Printer;
use crate::kernel::Origin;
use crate::profile::Profile;

fn arch(profile: &str) -> Arch {
    Arch::of(&Profile::named(profile).expect("it is embedded")).expect("it is AMD's")
}

fn v(first: u16) -> Operand {
    Operand::Hardware(RegisterRange { file: File::Vector, first, count: 1 })
}

fn s(first: u16) -> Operand {
    Operand::Hardware(RegisterRange { file: File::Scalar, first, count: 1 })
}

const VCC: Operand = Operand::Special(Special::Vcc);
const ONE: Operand = Operand::Constant(1);
const LITERAL: Operand = Operand::Constant(0x4049_0fdb);
const OTHER_LITERAL: Operand = Operand::Constant(0x402d_f854);

fn inst(operation: O, to: u16, uses: &[Operand]) -> Inst {
    let inst = Inst::real(operation, &[v(to)], uses);
    Inst { keeps: operation == O::FmacF32, ..inst }
}

/// The text of a block after pairing.
fn joined(profile: &str, insts: &[Inst]) -> Vec<String> {
    let arch = arch(profile);
    let mut function = Function::default();
    function.blocks.push(Block { label: Label(0), insts: insts.to_vec() });
    pair(&mut function, &arch);
    let printer = Printer { arch, shared_vector: 0 };
    function.blocks[0].insts.iter().filter_map(|inst| printer.inst(inst)).collect()
}

/// The dual instruction that two instructions are combined into, if any.
fn pair_of(profile: &str, insts: [Inst; 2]) -> Option<String> {
    let mut lines = joined(profile, &insts);
    if lines.len() == 1 { lines.pop() } else { None }
}

fn add(to: u16, a: Operand, b: Operand) -> Inst {
    inst(O::AddF32, to, &[a, b])
}

#[test]
fn names_are_those_of_the_generation() {
    let both = || [inst(O::MaxF32, 0, &[v(2), v(3)]), inst(O::AddU32, 1, &[v(5), v(6)])];
    let old = "v_dual_max_f32 v0, v2, v3 :: v_dual_add_nc_u32 v1, v5, v6";
    for profile in ["gfx1100", "gfx1150"] {
        assert_eq!(pair_of(profile, both()).as_deref(), Some(old));
    }
    let new = "v_dual_max_num_f32 v0, v2, v3 :: v_dual_add_nc_u32 v1, v5, v6";
    assert_eq!(pair_of("gfx1201-wave32", both()).as_deref(), Some(new));
    for profile in ["gfx1030-wave32", "gfx1100-wave64", "gfx1201-wave64", "gfx900"] {
        assert_eq!(pair_of(profile, both()), None, "{profile}");
    }
}

#[test]
fn the_first_one_need_not_be_the_earlier_one() {
    let shift_first = [inst(O::ShlB32, 0, &[Operand::Constant(2), v(2)]), inst(O::Select, 1, &[v(4), v(5), VCC])];
    let expected = "v_dual_cndmask_b32 v1, v4, v5 :: v_dual_lshlrev_b32 v0, 2, v2";
    assert_eq!(pair_of("gfx1100", shift_first).as_deref(), Some(expected));
    let integers = [inst(O::ShlB32, 0, &[ONE, v(2)]), inst(O::AndB32, 1, &[ONE, v(5)])];
    assert_eq!(pair_of("gfx1100", integers), None);
}

#[test]
fn results_are_an_even_and_an_odd_register() {
    assert!(pair_of("gfx1100", [add(0, ONE, v(2)), add(3, ONE, v(5))]).is_some());
    assert!(pair_of("gfx1100", [add(0, ONE, v(2)), add(2, ONE, v(5))]).is_none());
}

#[test]
fn sources_are_in_different_banks() {
    let sums = |a, b| [add(0, v(8), v(9)), add(1, v(a), v(b))];
    let text = |profile, a, b| pair_of(profile, sums(a, b));
    assert!(text("gfx1100", 5, 6).is_some());
    assert!(text("gfx1201-wave32", 6, 7).is_some());
    // Four banks are two on RDNA 3.
    assert!(text("gfx1100", 6, 10).is_none());
    // The sources that may change places do.
    let swapped = "v_dual_add_f32 v0, v8, v9 :: v_dual_add_f32 v1, v11, v10";
    assert_eq!(text("gfx1100", 10, 11).as_deref(), Some(swapped));
    let less = [add(0, v(8), v(9)), inst(O::SubF32, 1, &[v(10), v(11)])];
    let expected = "v_dual_add_f32 v0, v8, v9 :: v_dual_subrev_f32 v1, v11, v10";
    assert_eq!(pair_of("gfx1100", less).as_deref(), Some(expected));
    let selects = [add(0, ONE, v(9)), inst(O::Select, 1, &[v(10), v(11), VCC])];
    assert!(pair_of("gfx1100", selects).is_none());
}

#[test]
fn moves_have_another_port() {
    let moves = || [inst(O::Move, 0, &[v(8)]), inst(O::Move, 1, &[v(10)])];
    let sum = "v_dual_mov_b32 v0, v8 :: v_dual_add_nc_u32 v1, 0, v10";
    assert_eq!(pair_of("gfx1100", moves()).as_deref(), Some(sum));
    let plain = "v_dual_mov_b32 v0, v8 :: v_dual_mov_b32 v1, v10";
    assert_eq!(pair_of("gfx1201-wave32", moves()).as_deref(), Some(plain));
}

#[test]
fn the_third_source_has_a_parity() {
    let sums = |at| [inst(O::FmacF32, 0, &[v(8), v(9)]), inst(O::FmamkF32, 1, &[v(5), LITERAL, v(at)])];
    assert!(pair_of("gfx1100", sums(7)).is_some());
    assert!(pair_of("gfx1100", sums(6)).is_none());
}

#[test]
fn one_literal_and_two_scalars_are_read() {
    let moves = |a, b| [inst(O::Move, 0, &[a]), inst(O::Move, 1, &[b])];
    assert!(pair_of("gfx1100", moves(LITERAL, LITERAL)).is_some());
    assert!(pair_of("gfx1100", moves(LITERAL, OTHER_LITERAL)).is_none());
    assert!(pair_of("gfx1100", moves(LITERAL, s(3))).is_some());
    assert!(pair_of("gfx1100", moves(s(2), s(3))).is_some());
    let selects = |a, b| [inst(O::Select, 0, &[a, v(2), VCC]), inst(O::Select, 1, &[b, v(3), VCC])];
    assert!(pair_of("gfx1100", selects(ONE, ONE)).is_some());
    assert!(pair_of("gfx1100", selects(s(3), ONE)).is_none());
    assert!(pair_of("gfx1100", selects(ONE, LITERAL)).is_none());
    let sum = |factor| [inst(O::FmaakF32, 0, &[factor, v(2), LITERAL]), add(1, ONE, v(3))];
    assert!(pair_of("gfx1100", sum(v(4))).is_some());
    assert!(pair_of("gfx1100", sum(s(4))).is_none());
}

#[test]
fn masks_are_vcc_and_second_sources_vectors() {
    let select = inst(O::Select, 1, &[v(4), v(5), s(7)]);
    assert!(pair_of("gfx1100", [add(0, ONE, v(2)), select]).is_none());
    assert!(pair_of("gfx1100", [add(0, ONE, v(2)), add(1, v(3), s(4))]).is_some());
    assert!(pair_of("gfx1100", [add(0, ONE, v(2)), add(1, s(3), s(4))]).is_none());
}

#[test]
fn modifiers_are_not_to_be_had() {
    let mut negated = add(1, v(4), v(3));
    negated.modifiers.neg = 1;
    assert!(pair_of("gfx1100", [add(0, ONE, v(2)), negated]).is_none());
}

#[test]
fn the_second_one_may_overwrite_on_rdna3_alone() {
    let overwrites = || [add(0, ONE, v(3)), add(3, ONE, v(4))];
    assert!(pair_of("gfx1100", overwrites()).is_some());
    assert!(pair_of("gfx1201-wave32", overwrites()).is_none());
    assert!(pair_of("gfx1100", [add(0, ONE, v(2)), add(3, ONE, v(0))]).is_none());
}

#[test]
fn one_of_two_moves_to_the_other() {
    let other = |to, uses: &[Operand]| Inst::real(O::MulLoU32, &[v(to)], uses);
    // The later one has its operands.
    let early = joined("gfx1100", &[add(0, ONE, v(2)), other(6, &[v(0), v(7)]), add(1, ONE, v(5))]);
    assert_eq!(early[0], "v_dual_add_f32 v0, 1, v2 :: v_dual_add_f32 v1, 1, v5");
    // The later one waits for a product, but nothing waits for the earlier one.
    let late = joined("gfx1100", &[add(0, ONE, v(2)), other(5, &[v(8), v(7)]), add(1, ONE, v(5))]);
    assert_eq!(late[1], "v_dual_add_f32 v0, 1, v2 :: v_dual_add_f32 v1, 1, v5");
    let neither = joined("gfx1100", &[add(0, ONE, v(2)), other(5, &[v(0), v(7)]), add(1, ONE, v(5))]);
    assert_eq!(neither.len(), 3);
    // A third instruction between two pairs.
    let crossed = [add(0, ONE, v(2)), add(4, v(0), v(9)), add(1, ONE, v(5)), add(7, v(4), v(1))];
    assert_eq!(joined("gfx1100", &crossed).len(), 3);
}

#[test]
fn nothing_passes_lane_masks_and_waits() {
    let between = |between: Inst| joined("gfx1100", &[add(0, ONE, v(2)), between, add(1, ONE, v(5))]).len();
    let exec = Operand::Special(Special::Exec);
    assert_eq!(between(Inst::real(O::ScalarMove, &[exec], &[s(2)])), 3);
    assert_eq!(between(Inst::real(O::WaitCounters, &[], &[Operand::Field("vmcnt", 0)])), 3);
    assert_eq!(between(Inst::real(O::ScalarMove, &[s(3)], &[s(2)])), 2);
}

#[test]
fn only_one_origin_is_in_a_line() {
    let of = |origin, number| add(number, ONE, v(4 + number)).made_for(origin);
    let pair = |a, b| pair_of("gfx1100", [of(a, 0), of(b, 1)]).is_some();
    assert!(pair(Origin::Operation(3), Origin::Operation(3)));
    assert!(!pair(Origin::Operation(3), Origin::Code));
    assert!(!pair(Origin::Operation(3), Origin::Operation(4)));
}
