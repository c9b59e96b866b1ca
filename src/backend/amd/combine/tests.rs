//! Each row on the generations with its instruction, and pairs that must stay.

use super::*;
use crate::backend::amd::machine::{Dpp, Label, Pseudo, Special};
use crate::backend::amd::mnemonic::Operation as O;
use crate::lane::primitive::{Dpp16, DppControl};
use crate::profile::Profile;

const PROFILES: [&str; 7] =
    ["gfx701", "gfx803", "gfx900", "gfx950", "gfx1030-wave64", "gfx1100-wave32", "gfx1201-wave32"];

fn arch(profile: &str) -> Arch {
    Arch::of(&Profile::named(profile).expect("a profile")).expect("a processor")
}

fn number(bits: u32) -> Operand {
    Operand::Constant(bits)
}

fn float(value: f32) -> Operand {
    number(value.to_bits())
}

/// Registers for the operands of a few instructions.
struct Registers {
    function: Function,
    /// Vector registers that nothing in the block writes.
    v: [Operand; 3],
    /// Scalar registers that nothing in the block writes.
    s: [Operand; 3],
}

impl Registers {
    fn new() -> Registers {
        let mut function = Function::default();
        let v = std::array::from_fn(|_| Operand::Reg(function.register(File::Vector, 1)));
        let s = std::array::from_fn(|_| Operand::Reg(function.register(File::Scalar, 1)));
        Registers { function, v, s }
    }

    fn register(&mut self, file: File) -> Operand {
        Operand::Reg(self.function.register(file, 1))
    }

    /// The instructions of a block after the pass.
    fn combined(mut self, insts: &[Inst], profile: &str) -> Vec<Inst> {
        self.function.blocks.push(Block { label: Label(0), insts: insts.to_vec() });
        combine(&mut self.function, &arch(profile));
        self.function.blocks.remove(0).insts
    }

    /// Two instructions; the result of the first replaces `None` in the second.
    fn pair(mut self, inner: (O, &[Operand]), outer: (O, &[Option<Operand>])) -> Pairs {
        let unit =
            |operation: O| if operation.name().unwrap_or("").starts_with("s_") { File::Scalar } else { File::Vector };
        let (first, second) = (self.register(unit(inner.0)), self.register(unit(outer.0)));
        let uses: Vec<Operand> = outer.1.iter().map(|operand| operand.unwrap_or(first)).collect();
        let insts = vec![Inst::real(inner.0, &[first], inner.1), Inst::real(outer.0, &[second], &uses)];
        Pairs { registers: self, insts }
    }
}

struct Pairs {
    registers: Registers,
    insts: Vec<Inst>,
}

impl Pairs {
    /// The only remaining instruction; `None` if the pass has changed nothing.
    fn fused(self, profile: &str) -> Option<Inst> {
        let insts = self.registers.combined(&self.insts, profile);
        match &insts[..] {
            [one] => Some(one.clone()),
            _ => {
                assert_eq!(insts, self.insts, "{profile}");
                None
            }
        }
    }
}

/// An inner and an outer instruction.
type Apart<'c> = (O, &'c [Operand], O, &'c [Option<Operand>]);

/// An inner and an outer instruction, and the fused one.
type Case<'c> = (O, &'c [Operand], O, &'c [Option<Operand>], O, &'c [Operand]);

/// The operation that replaces a pair, with its operands.
type Fused = Option<(O, Vec<Operand>)>;

fn fused(profile: &str, inner: (O, &[Operand]), outer: (O, &[Option<Operand>])) -> Fused {
    let inst = Registers::new().pair(inner, outer).fused(profile)?;
    Some((inst.operation()?, inst.uses.to_vec()))
}

#[test]
fn rows_of_the_vector_unit() {
    let Registers { v: [a, b, c], .. } = Registers::new();
    let (some, n) = (|operand| Some(operand), number);
    let cases: &[Case<'_>] = &[
        (O::ShlB32, &[n(3), a], O::AddU32, &[None, some(c)], O::ShlAddU32, &[a, n(3), c]),
        (O::ShlB32, &[b, a], O::AddU32, &[some(c), None], O::ShlAddU32, &[a, b, c]),
        (O::AddU32, &[a, b], O::ShlB32, &[some(n(4)), None], O::AddShlU32, &[a, b, n(4)]),
        (O::AddU32, &[a, b], O::AddU32, &[None, some(c)], O::Add3U32, &[a, b, c]),
        (O::XorB32, &[a, b], O::AddU32, &[None, some(c)], O::XorAddU32, &[a, b, c]),
        (O::ShlB32, &[n(3), a], O::OrB32, &[some(c), None], O::ShlOrB32, &[a, n(3), c]),
        (O::AndB32, &[a, b], O::OrB32, &[None, some(c)], O::AndOrB32, &[a, b, c]),
        (O::OrB32, &[a, b], O::OrB32, &[None, some(c)], O::Or3B32, &[a, b, c]),
        (O::XorB32, &[a, b], O::XorB32, &[None, some(c)], O::Xor3B32, &[a, b, c]),
        (O::NotB32, &[a], O::AndB32, &[None, some(b)], O::BfiB32, &[a, n(0), b]),
        (O::NotB32, &[a], O::OrB32, &[some(b), None], O::BfiB32, &[a, b, n(u32::MAX)]),
        (O::MulU24, &[a, b], O::AddU32, &[None, some(c)], O::MadU24, &[a, b, c]),
        (O::MulI24, &[a, b], O::AddU32, &[some(c), None], O::MadI24, &[a, b, c]),
        (O::CountBelowLow, &[n(u32::MAX), n(0)], O::AddU32, &[None, some(c)], O::CountBelowLow, &[n(u32::MAX), c]),
        (O::BitCount, &[a, n(0)], O::AddU32, &[some(c), None], O::BitCount, &[a, c]),
        (O::ShrB32, &[n(5), a], O::AndB32, &[some(n(63)), None], O::BfeU32, &[a, n(5), n(6)]),
        (O::ShrB32, &[b, a], O::AndB32, &[some(n(1)), None], O::BfeU32, &[a, b, n(1)]),
        (O::AndB32, &[n(0xff00), a], O::ShrB32, &[some(n(8)), None], O::BfeU32, &[a, n(8), n(8)]),
        (O::ShlB32, &[n(8), a], O::ShrB32, &[some(n(24)), None], O::BfeU32, &[a, n(16), n(8)]),
        (O::ShlB32, &[n(24), a], O::AshrI32, &[some(n(24)), None], O::BfeI32, &[a, n(0), n(8)]),
        (O::AndB32, &[n(0xffff), a], O::BfeI32, &[None, some(n(0)), some(n(16))], O::BfeI32, &[a, n(0), n(16)]),
        (O::AndB32, &[n(0xff0), a], O::BfeU32, &[None, some(n(4)), some(n(8))], O::BfeU32, &[a, n(4), n(8)]),
        (O::BfeI32, &[a, n(0), n(8)], O::BfeI32, &[None, some(n(0)), some(n(16))], O::BfeI32, &[a, n(0), n(8)]),
        (O::ShrB32, &[n(5), a], O::ShlB32, &[some(n(5)), None], O::AndB32, &[n(0xffff_ffe0), a]),
        (O::ShrB32, &[n(20), b], O::ShlOrB32, &[some(a), some(n(12)), None], O::AlignBits, &[a, b, n(20)]),
        (O::ShrB32, &[n(1), a], O::ShlAddU32, &[some(a), some(n(31)), None], O::AlignBits, &[a, a, n(1)]),
        (O::MinU32, &[a, b], O::MinU32, &[None, some(c)], O::Min3U32, &[a, b, c]),
        (O::MaxI32, &[a, b], O::MaxI32, &[None, some(c)], O::Max3I32, &[a, b, c]),
        (O::MinF32, &[a, b], O::MinF32, &[None, some(c)], O::Min3F32, &[a, b, c]),
        (O::MaxU32, &[n(3), a], O::MinU32, &[some(n(9)), None], O::Median3U32, &[a, n(3), n(9)]),
        (
            O::MinI32,
            &[n(9), a],
            O::MaxI32,
            &[some(n(-4_i32 as u32)), None],
            O::Median3I32,
            &[a, n(-4_i32 as u32), n(9)],
        ),
        (O::MaxF32, &[a, n(0)], O::MinF32, &[None, some(float(1.0))], O::Median3F32, &[a, n(0), float(1.0)]),
        (O::MaxI32, &[a, b], O::MinI32, &[None, some(c)], O::MaxMinI32, &[a, b, c]),
        (O::MinF32, &[a, b], O::MaxF32, &[None, some(c)], O::MinMaxF32, &[a, b, c]),
    ];
    for (inner, inner_uses, outer, outer_uses, operation, uses) in cases {
        for profile in PROFILES {
            let has_it = operation.spelling(arch(profile).generation).is_some();
            let expected = has_it.then(|| (*operation, uses.to_vec()));
            let found = fused(profile, (*inner, inner_uses), (*outer, outer_uses));
            assert_eq!(found, expected, "{profile}: {inner:?} in {outer:?}");
        }
    }
}

#[test]
fn generations_of_the_forms() {
    let has = |operation: O, profile: &str| operation.spelling(arch(profile).generation).is_some();
    assert!(!has(O::ShlAddU32, "gfx803") && has(O::ShlAddU32, "gfx900"));
    assert!(!has(O::Xor3B32, "gfx950") && has(O::Xor3B32, "gfx1030-wave64"));
    assert!(!has(O::MaxMinU32, "gfx1030-wave64") && has(O::MaxMinU32, "gfx1100-wave32"));
    assert!(has(O::Min3U32, "gfx701") && !has(O::Min3F32, "gfx803") && has(O::Min3F32, "gfx900"));
}

#[test]
fn rows_of_the_scalar_unit() {
    let Registers { v: [a, ..], s: [s, t, u], .. } = Registers::new();
    let (some, n) = (|operand| Some(operand), number);
    let cases: &[Case<'_>] = &[
        (O::ScalarShl, &[s, n(5)], O::AddU32, &[None, some(a)], O::ShlAddU32, &[s, n(5), a]),
        (O::ScalarAnd, &[s, n(15)], O::OrB32, &[None, some(a)], O::AndOrB32, &[s, n(15), a]),
        (O::ScalarShl, &[s, n(1)], O::ScalarAdd, &[None, some(t)], O::ScalarShl1Add, &[s, t]),
        (O::ScalarShl, &[s, n(4)], O::ScalarAdd, &[some(t), None], O::ScalarShl4Add, &[s, t]),
        (O::ScalarNot, &[s], O::ScalarAnd, &[some(u), None], O::ScalarAndNot, &[u, s]),
    ];
    for (inner, inner_uses, outer, outer_uses, operation, uses) in cases {
        for profile in ["gfx701", "gfx900", "gfx1100-wave32"] {
            let has_it = operation.spelling(arch(profile).generation).is_some();
            let expected = has_it.then(|| (*operation, uses.to_vec()));
            assert_eq!(fused(profile, (*inner, inner_uses), (*outer, outer_uses)), expected, "{profile}: {inner:?}");
        }
    }
    let by_five = fused("gfx900", (O::ScalarShl, &[s, n(5)]), (O::ScalarAdd, &[None, Some(t)]));
    assert_eq!(by_five, None);
}

#[test]
fn vector_instructions_are_fused_first() {
    let mut some = Registers::new();
    let ([a, b, _], [s, ..]) = (some.v, some.s);
    let [shifted, sum, total] = [File::Scalar, File::Vector, File::Vector].map(|file| some.register(file));
    let insts = [
        Inst::real(O::ScalarShl, &[shifted], &[s, number(5)]),
        Inst::real(O::AddU32, &[sum], &[shifted, a]),
        Inst::real(O::AddU32, &[total], &[sum, b]),
    ];
    let left = some.combined(&insts, "gfx900");
    assert_eq!(left[1..], [Inst::real(O::Add3U32, &[total], &[shifted, a, b])]);
}

#[test]
fn a_choice_of_bits_takes_three() {
    let mut some = Registers::new();
    let [a, b, _] = some.v;
    let [first, second, all] = [(); 3].map(|()| some.register(File::Vector));
    let insts = [
        Inst::real(O::AndB32, &[first], &[number(0xff00), a]),
        Inst::real(O::AndB32, &[second], &[number(!0xff00), b]),
        Inst::real(O::OrB32, &[all], &[first, second]),
    ];
    let left = some.combined(&insts, "gfx1100-wave32");
    assert_eq!(left, [Inst::real(O::BfiB32, &[all], &[number(0xff00), a, b])]);
}

#[test]
fn constants_decide() {
    let Registers { v: [a, ..], .. } = Registers::new();
    let n = number;
    let pairs: [Apart<'_>; 7] = [
        // Not the lowest bits, and not a mask of the shifted value.
        (O::ShrB32, &[n(5), a], O::AndB32, &[Some(n(62)), None]),
        (O::AndB32, &[n(0xf0f0), a], O::ShrB32, &[Some(n(4)), None]),
        // A smaller shift down than up, and the reverse order.
        (O::ShlB32, &[n(8), a], O::ShrB32, &[Some(n(4)), None]),
        (O::ShrB32, &[n(5), a], O::ShlB32, &[Some(n(4)), None]),
        // Words that leave a gap.
        (O::ShrB32, &[n(21), a], O::ShlOrB32, &[Some(a), Some(n(12)), None]),
        // Bounds that cross each other, and a bound of zero above.
        (O::MaxU32, &[n(9), a], O::MinU32, &[Some(n(3)), None]),
        (O::MaxF32, &[a, float(-1.0)], O::MinF32, &[None, Some(n(0))]),
    ];
    for (inner, inner_uses, outer, outer_uses) in pairs {
        assert_eq!(fused("gfx900", (inner, inner_uses), (outer, outer_uses)), None, "{inner:?} in {outer:?}");
    }
    // A count that does not start at zero.
    let counted = fused("gfx900", (O::BitCount, &[a, a]), (O::AddU32, &[None, Some(a)]));
    assert_eq!(counted, None);
}

#[test]
fn scalars_and_literals_have_limits() {
    let Registers { v: [a, ..], s: [s, t, u], .. } = Registers::new();
    let sum = |profile, uses: &[Operand; 2], other| {
        fused(profile, (O::AddU32, uses), (O::AddU32, &[None, Some(other)])).is_some()
    };
    assert!(sum("gfx900", &[s, a], a) && sum("gfx900", &[s, a], s));
    assert!(!sum("gfx900", &[s, a], t) && sum("gfx1030-wave64", &[s, a], t));
    let literal = number(1000);
    assert!(!sum("gfx900", &[literal, a], a) && sum("gfx1030-wave64", &[literal, a], a));
    assert!(sum("gfx1030-wave64", &[literal, a], s) && !sum("gfx1030-wave64", &[literal, a], number(1001)));
    let three = fused("gfx1030-wave64", (O::ScalarAdd, &[s, t]), (O::AddU32, &[None, Some(u)]));
    assert_eq!(three, None);
}

/// How many of two sums are removed after a change to the list that contains both.
fn interrupted(change: impl FnOnce(&mut Registers, Operand, &mut Vec<Inst>)) -> usize {
    let mut some = Registers::new();
    let [a, b, c] = some.v;
    let [sum, total] = [(); 2].map(|()| some.register(File::Vector));
    let mut insts = vec![Inst::real(O::AddU32, &[sum], &[a, b]), Inst::real(O::AddU32, &[total], &[sum, c])];
    change(&mut some, sum, &mut insts);
    let before = insts.len();
    before - some.combined(&insts, "gfx1100-wave32").len()
}

#[test]
fn pairs_that_stay() {
    assert_eq!(interrupted(|_, _, _| {}), 1);
    let read_twice = interrupted(|some, sum, insts| {
        let third = some.register(File::Vector);
        insts.push(Inst::real(O::NotB32, &[third], &[sum]));
    });
    let both = interrupted(|_, sum, insts| insts[1].uses[1] = sum);
    let written_twice = interrupted(|some, sum, insts| {
        let a = some.v[0];
        insts.push(Inst::real(O::Move, &[sum], &[a]));
    });
    let declared = interrupted(|_, sum, insts| insts.insert(0, Inst::new(Code::Pseudo(Pseudo::Declare), &[sum], &[])));
    let source_changes = interrupted(|some, _, insts| {
        let a = some.v[0];
        insts.insert(1, Inst::real(O::Move, &[a], &[number(0)]));
    });
    let lanes_change = interrupted(|_, _, insts| {
        insts.insert(1, Inst::real(O::ScalarMove, &[Operand::Special(Special::Exec)], &[number(0)]));
    });
    let keeps = interrupted(|_, _, insts| insts[0].keeps = true);
    let is_planned = interrupted(|_, _, insts| insts[1].origin = Origin::Operation(0));
    let is_lane = interrupted(|_, _, insts| insts[0].is_lane = true);
    let moves = interrupted(|_, _, insts| {
        insts[1].modifiers.dpp = Some(Dpp::Rows(Dpp16::new(DppControl::RowMirror)));
    });
    let stay =
        [read_twice, both, written_twice, declared, source_changes, lanes_change, keeps, is_planned, is_lane, moves];
    assert_eq!(stay, [0; 10]);
    // The outer one may disable lanes or change an operand of the inner one.
    let kept = interrupted(|some, _, insts| {
        insts[1].keeps = true;
        insts[1].defs[0] = some.v[0];
    });
    assert_eq!(kept, 1);
}

#[test]
fn a_condition_that_is_read_stays() {
    for (user, less) in [(O::ScalarNot, 1), (O::ScalarSelect, 0)] {
        let mut some = Registers::new();
        let [s, t, _] = some.s;
        let [shifted, sum, last] = [(); 3].map(|()| some.register(File::Scalar));
        let uses: &[Operand] = if user == O::ScalarNot { &[t] } else { &[t, s] };
        let insts = [
            Inst::real(O::ScalarShl, &[shifted], &[s, number(2)]),
            Inst::real(user, &[last], uses),
            Inst::real(O::ScalarAdd, &[sum], &[shifted, t]),
        ];
        assert_eq!(insts.len() - some.combined(&insts, "gfx900").len(), less, "{user:?}");
    }
}

#[test]
fn a_sum_with_a_carry_loses_it() {
    let mut some = Registers::new();
    let [a, b, c] = some.v;
    let [product, sum] = [(); 2].map(|()| some.register(File::Vector));
    let insts = [
        Inst::real(O::MulU24, &[product], &[a, b]),
        Inst::real(O::AddU32, &[sum, Operand::Special(Special::Vcc)], &[product, c]),
    ];
    assert_eq!(some.combined(&insts, "gfx701"), [Inst::real(O::MadU24, &[sum], &[a, b, c])]);
}

/// The signs that an instruction absorbs from the previous one.
fn signs(profile: &str, sign: (O, u32), outer: O, suffix: &'static str, count: usize) -> Option<(u8, u8)> {
    let some = Registers::new();
    let [a, b, c] = some.v;
    let uses = [None, Some(b), Some(c)];
    let mut pair = some.pair((sign.0, &[number(sign.1), a]), (outer, &uses[..count]));
    pair.insts[1].modifiers.suffix = suffix;
    let inst = pair.fused(profile)?;
    assert_eq!((inst.operation(), inst.uses[0]), (Some(outer), a));
    Some((inst.modifiers.neg, inst.modifiers.abs))
}

#[test]
fn signs_become_modifiers() {
    let (minus, positive) = ((O::XorB32, 1 << 31), (O::AndB32, !(1 << 31)));
    for profile in PROFILES {
        assert_eq!(signs(profile, minus, O::AddF32, "", 2), Some((1, 0)));
        assert_eq!(signs(profile, positive, O::FmaF32, "", 3), Some((0, 1)));
        assert_eq!(signs(profile, minus, O::CubeFace, "", 3), Some((1, 0)));
        assert_eq!(signs(profile, minus, O::Select, "", 3), Some((1, 0)));
        assert_eq!(signs(profile, minus, O::Compare, "lt_f32", 2), Some((1, 0)));
        assert_eq!(signs(profile, positive, O::Convert, "i32_f32", 1), Some((0, 1)));
        assert_eq!(signs(profile, minus, O::Compare, "lt_u32", 2), None);
        assert_eq!(signs(profile, minus, O::Convert, "f32_u32", 1), None);
        assert_eq!(signs(profile, (O::XorB32, 1), O::AddF32, "", 2), None);
    }
}

#[test]
fn signs_add_up() {
    let mut some = Registers::new();
    let [a, b, _] = some.v;
    let [positive, minus, sum] = [(); 3].map(|()| some.register(File::Vector));
    let insts = [
        Inst::real(O::AndB32, &[positive], &[number(0x7fff_ffff), a]),
        Inst::real(O::XorB32, &[minus], &[number(1 << 31), positive]),
        Inst::real(O::MulF32, &[sum], &[b, minus]),
    ];
    let left = some.combined(&insts, "gfx900");
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].modifiers.neg, left[0].modifiers.abs, &left[0].uses[..]), (2, 2, &[b, a][..]));
}

#[test]
fn a_literal_leaves_no_room_for_signs_before_gfx10() {
    for (profile, less) in [("gfx900", 0), ("gfx1030-wave64", 1)] {
        let mut some = Registers::new();
        let [a, ..] = some.v;
        let [minus, product] = [(); 2].map(|()| some.register(File::Vector));
        let insts = [
            Inst::real(O::XorB32, &[minus], &[number(1 << 31), a]),
            Inst::real(O::MulF32, &[product], &[float(0.1), minus]),
        ];
        assert_eq!(insts.len() - some.combined(&insts, profile).len(), less, "{profile}");
    }
}

/// The number of two moves and a store of both that are removed, with another instruction between the moves.
fn shared_moves(from: Operand, between: Option<Inst>) -> usize {
    let mut some = Registers::new();
    let [a, b] = [(); 2].map(|()| some.register(File::Vector));
    let moves = [a, b].map(|to| Inst::real(O::Move, &[to], &[from]));
    let [first, second] = moves;
    let store = Inst::real(O::LdsWrite, &[], &[a, b]);
    let insts: Vec<Inst> = [first].into_iter().chain(between).chain([second, store]).collect();
    let left = some.combined(&insts, "gfx900");
    let stored = &left[left.len() - 1].uses;
    assert_eq!(stored[0] == stored[1], left.len() < insts.len());
    insts.len() - left.len()
}

#[test]
fn moves_of_a_value_are_shared() {
    let scalar = Registers::new().s[0];
    assert_eq!(shared_moves(number(0), None), 1);
    assert_eq!(shared_moves(scalar, None), 1);
    let lanes = Inst::real(O::ScalarMove64, &[Operand::Special(Special::Exec)], &[number(u32::MAX)]);
    assert_eq!(shared_moves(number(0), Some(lanes)), 0);
    let changes = Inst::real(O::ScalarMove, &[scalar], &[number(1)]);
    assert_eq!(shared_moves(number(0), Some(changes.clone())), 1);
    assert_eq!(shared_moves(scalar, Some(changes)), 0);
}

/// Loads from workgroup memory at this many bytes from an address.
fn loads(registers: &mut Registers, offsets: &[u32]) -> Vec<Inst> {
    let load = |offset: &u32| {
        let mut load = Inst::real(O::LdsRead, &[registers.register(File::Vector)], &[registers.v[0]]);
        load.modifiers.offset = *offset;
        load
    };
    offsets.iter().map(load).collect()
}

/// The constants of sums, and the offsets of loads, in order.
fn places(insts: &[Inst]) -> Vec<(O, u32, Option<u32>)> {
    let place = |inst: &Inst| match inst.uses[0] {
        Operand::Constant(distance) => (inst.operation().expect("an instruction"), distance, None),
        _ => (inst.operation().expect("an instruction"), inst.modifiers.offset, inst.modifiers.second),
    };
    insts.iter().map(place).collect()
}

#[test]
fn pairs_far_from_their_address_share_a_base() {
    let mut registers = Registers::new();
    let insts = loads(&mut registers, &[4, 0, 1024, 1040, 1028, 1048]);
    let found = registers.combined(&insts, "gfx1100-wave32");
    let two = |first, second| (O::LdsReadTwo, first, Some(second));
    assert_eq!(places(&found), [two(1, 0), (O::AddU32, 1024, None), two(0, 4), two(1, 6)]);
    let base = found[1].defs[0];
    assert_eq!([found[2].uses[0], found[3].uses[0]], [base; 2]);
}

#[test]
fn a_base_is_made_for_the_earliest_pair() {
    let mut registers = Registers::new();
    // The first load is paired after the 8-byte loads.
    let mut insts = loads(&mut registers, &[2048, 2048, 2056, 2052]);
    for inst in &mut insts[1..3] {
        let to = Operand::Reg(registers.function.register(File::Vector, 2));
        (inst.code, inst.defs) = (Code::Real(O::LdsRead64), [to].into_iter().collect());
    }
    let found = registers.combined(&insts, "gfx900");
    let expected = [(O::AddU32, 2048, None), (O::LdsReadTwo, 0, Some(1)), (O::LdsReadTwo64, 0, Some(1))];
    assert_eq!(places(&found), expected);
    let base = found[0].defs[0];
    assert_eq!([found[1].uses[0], found[2].uses[0]], [base; 2]);
}

#[test]
fn no_base_is_made_by_a_sum_with_a_carry() {
    let mut registers = Registers::new();
    let insts = loads(&mut registers, &[1024, 1028]);
    assert_eq!(registers.combined(&insts, "gfx803"), insts);
}

#[test]
fn no_base_outlives_its_address() {
    let mut registers = Registers::new();
    let mut insts = loads(&mut registers, &[1024, 1028]);
    insts.push(Inst::real(O::AddU32, &[registers.v[0]], &[registers.v[1], registers.v[2]]));
    insts.extend(loads(&mut registers, &[1032, 1036]));
    let found = registers.combined(&insts, "gfx1030-wave64");
    let sums = found.iter().filter(|inst| inst.uses[0] == number(1024)).count();
    assert_eq!(sums, 2, "{:?}", places(&found));
}

#[test]
fn loads_extend_signs() {
    let extended = |load, bits| {
        let mut registers = Registers::new();
        let (loaded, wide, sum) =
            (registers.register(File::Vector), registers.register(File::Vector), registers.register(File::Vector));
        let mut first = Inst::real(load, &[loaded], &[registers.v[0], registers.s[0]]);
        first.modifiers.prefix = "global_";
        let insts = [
            first,
            Inst::real(O::BfeI32, &[wide], &[loaded, number(0), number(bits)]),
            Inst::real(O::NotB32, &[sum], &[wide]),
        ];
        let found = registers.combined(&insts, "gfx1100-wave32");
        let operations: Vec<O> = found.iter().filter_map(Inst::operation).collect();
        (operations, found.last().map(|inst| inst.uses[0]) == Some(loaded))
    };
    assert_eq!(extended(O::LoadU8, 8), (vec![O::LoadI8, O::NotB32], true));
    assert_eq!(extended(O::LoadU16, 16), (vec![O::LoadI16, O::NotB32], true));
    assert_eq!(extended(O::LoadU16, 8), (vec![O::LoadU16, O::BfeI32, O::NotB32], false));
}

/// The instructions after a comparison that switches lanes, with another instruction between the two.
fn switched(profile: &str, relation: &'static str, switch: O, between: Option<Inst>) -> Vec<(O, &'static str, usize)> {
    let exec = Operand::Special(Special::Exec);
    let mut some = Registers::new();
    let [a, b, _] = some.v;
    let mask = some.register(File::Scalar);
    let mut compare = Inst::real(O::Compare, &[mask], &[a, b]);
    compare.modifiers.suffix = relation;
    let last = match switch {
        O::SaveExecAnd => Inst::real(switch, &[some.register(File::Scalar)], &[mask]),
        _ => Inst::real(switch, &[exec], &[exec, mask]),
    };
    let insts: Vec<Inst> = [compare].into_iter().chain(between).chain([last]).collect();
    let found = some.combined(&insts, profile);
    found.iter().map(|inst| (inst.operation().expect("real"), inst.modifiers.suffix, inst.defs.len())).collect()
}

#[test]
fn comparisons_switch_lanes() {
    for profile in ["gfx1030-wave32", "gfx1100-wave32", "gfx1201-wave32"] {
        let one = |relation| vec![(O::CompareExec, relation, 0)];
        assert_eq!(switched(profile, "lt_u32", O::ScalarAnd, None), one("lt_u32"));
        assert_eq!(switched(profile, "lt_u32", O::ScalarAndNot, None), one("ge_u32"));
        assert_eq!(switched(profile, "lt_f32", O::ScalarAndNot, None), one("nlt_f32"));
        assert_eq!(switched(profile, "neq_f64", O::ScalarAndNot, None), one("eq_f64"));
        assert_eq!(switched(profile, "class_f32", O::ScalarAndNot, None).len(), 2);
        let saving = [(O::ScalarMove, "", 1), (O::CompareExec, "lt_u32", 0)];
        assert_eq!(switched(profile, "lt_u32", O::SaveExecAnd, None), saving);
    }
}

#[test]
fn comparisons_of_other_lanes_switch_none() {
    let exec = Operand::Special(Special::Exec);
    let other = Inst::real(O::ScalarMove, &[exec], &[number(u32::MAX)]);
    assert_eq!(switched("gfx1100-wave32", "lt_u32", O::ScalarAnd, Some(other)).len(), 3);
    // Otherwise a wait would follow, or an instruction would also write a mask.
    for profile in ["gfx900", "gfx942", "gfx1010-wave32"] {
        assert_eq!(switched(profile, "lt_u32", O::ScalarAnd, None).len(), 2);
    }
}

#[test]
fn moves_of_bytes_are_one_instruction() {
    let mut some = Registers::new();
    let [a, b, _] = some.v;
    let [low, joined] = [(); 2].map(|()| some.register(File::Vector));
    let insts =
        [Inst::real(O::AndB32, &[low], &[number(0xff), a]), Inst::real(O::ShlOrB32, &[joined], &[b, number(8), low])];
    assert_eq!(
        some.combined(&insts, "gfx1100-wave32"),
        [Inst::real(O::PermuteBytes, &[joined], &[a, b, number(0x0201_0004)])]
    );
    // The selector would need an instruction too.
    let mut some = Registers::new();
    let _ = [(); 2].map(|()| some.register(File::Vector));
    assert_eq!(some.combined(&insts, "gfx900"), insts);
}

#[test]
fn a_scalar_register_selects_bytes_where_literals_cannot() {
    let mut some = Registers::new();
    let [a, b, _] = some.v;
    let [first, second, two, third, three] = [(); 5].map(|()| some.register(File::Vector));
    let insts = [
        Inst::real(O::AndB32, &[first], &[number(0xff), a]),
        Inst::real(O::AndB32, &[second], &[number(0xff00), b]),
        Inst::real(O::OrB32, &[two], &[first, second]),
        Inst::real(O::AndB32, &[third], &[number(0x00ff_0000), a]),
        Inst::real(O::OrB32, &[three], &[two, third]),
    ];
    let found = some.combined(&insts, "gfx900");
    let [load, permute] = &found[..] else { panic!("{found:?}") };
    assert_eq!((load.operation(), &load.uses[..]), (Some(O::ScalarMove), &[number(0x0c06_0104)][..]));
    assert_eq!((permute.operation(), &permute.uses[..]), (Some(O::PermuteBytes), &[a, b, load.defs[0]][..]));
}

#[test]
fn bytes_of_three_registers_stay_apart() {
    let mut some = Registers::new();
    let [a, b, c] = some.v;
    let [low, upper, joined] = [(); 3].map(|()| some.register(File::Vector));
    let insts = [
        Inst::real(O::AndB32, &[low], &[number(0xff), a]),
        Inst::real(O::AndOrB32, &[upper], &[number(0xff00), b, low]),
        Inst::real(O::AndOrB32, &[joined], &[number(0xffff_0000), c, upper]),
    ];
    let found = some.combined(&insts, "gfx1030-wave64");
    let operations: Vec<Option<O>> = found.iter().map(Inst::operation).collect();
    assert_eq!(operations, [Some(O::PermuteBytes), Some(O::AndOrB32)]);
}

#[test]
fn a_shift_with_several_readers_is_done_again() {
    let mut some = Registers::new();
    let [a, ..] = some.v;
    let [shifted, top, low, upper, all] = [(); 5].map(|()| some.register(File::Vector));
    // The bytes of a word in the other order.
    let insts = [
        Inst::real(O::ShrB32, &[shifted], &[number(8), a]),
        Inst::real(O::AndB32, &[low], &[number(0xff00), shifted]),
        Inst::real(O::BfeU32, &[top], &[shifted, number(16), number(8)]),
        Inst::real(O::ShlOrB32, &[upper], &[a, number(24), low]),
        Inst::real(O::Or3B32, &[all], &[upper, top, number(0)]),
    ];
    let found = some.combined(&insts, "gfx1100-wave32");
    assert_eq!(found, [Inst::real(O::PermuteBytes, &[all], &[a, a, number(0x040c_0607)])]);
}

#[test]
fn conversions_take_bytes() {
    let converted = |inner: O, uses: &[Operand], suffix| {
        let some = Registers::new();
        let mut pair = some.pair((inner, uses), (O::Convert, &[None]));
        pair.insts[1].modifiers.suffix = suffix;
        pair.fused("gfx701").map(|inst| (inst.modifiers.suffix, inst.uses[0]))
    };
    let a = Registers::new().v[0];
    assert_eq!(converted(O::BfeU32, &[a, number(8), number(8)], "f32_u32"), Some(("f32_ubyte1", a)));
    assert_eq!(converted(O::AndB32, &[number(0xff), a], "f32_i32"), Some(("f32_ubyte0", a)));
    assert_eq!(converted(O::ShrB32, &[number(24), a], "f32_u32"), Some(("f32_ubyte3", a)));
    assert_eq!(converted(O::ShrB32, &[number(16), a], "f32_u32"), None);
    assert_eq!(converted(O::AndB32, &[number(0xff), a], "f16_u16"), None);
}

#[test]
fn instructions_read_parts_of_registers() {
    let fused = |inner: (O, &[Operand]), outer: O, other: Operand, profile: &str| {
        let inst = Registers::new().pair(inner, (outer, &[Some(other), None])).fused(profile)?;
        let part = inst.modifiers.parts?[1];
        Some((part.name(), part.is_signed, inst.uses[1]))
    };
    let registers = Registers::new();
    let ([a, b, _], s) = (registers.v, registers.s[0]);
    let bytes = (O::BfeU32, &[a, number(8), number(8)][..]);
    for profile in ["gfx803", "gfx900", "gfx950", "gfx1030-wave64"] {
        assert_eq!(fused(bytes, O::XorB32, b, profile), Some(("BYTE_1", false, a)), "{profile}");
    }
    for profile in ["gfx701", "gfx1100-wave32", "gfx1201-wave32"] {
        assert_eq!(fused(bytes, O::XorB32, b, profile), None, "{profile}");
    }
    type Found = Option<(&'static str, bool, Operand)>;
    let parts: &[(O, &[Operand], Found)] = &[
        (O::AndB32, &[number(0xff), a], Some(("BYTE_0", false, a))),
        (O::AndB32, &[a, number(0xffff)], Some(("WORD_0", false, a))),
        (O::ShrB32, &[number(24), a], Some(("BYTE_3", false, a))),
        (O::AshrI32, &[number(16), a], Some(("WORD_1", true, a))),
        (O::BfeI32, &[a, number(16), number(8)], Some(("BYTE_2", true, a))),
        (O::BfeU32, &[a, number(4), number(8)], None),
        (O::AndB32, &[number(0x7f), a], None),
        (O::AndB32, &[number(0xff), s], None),
    ];
    for (operation, uses, expected) in parts {
        assert_eq!(fused((*operation, uses), O::MinI32, b, "gfx900"), *expected, "{operation:?} {uses:?}");
    }
    // The other operand is scalar from gfx9 on, and never a constant. A carry would be written to VCC.
    assert_eq!(fused(bytes, O::XorB32, s, "gfx803"), None);
    assert_eq!(fused(bytes, O::XorB32, s, "gfx900"), Some(("BYTE_1", false, a)));
    assert_eq!(fused(bytes, O::XorB32, number(1), "gfx900"), None);
    assert_eq!(fused(bytes, O::AddU32, b, "gfx803"), None);
    // A float has no sign to extend.
    let signed = (O::BfeI32, &[a, number(16), number(16)][..]);
    assert_eq!(fused(signed, O::AddF16, b, "gfx900"), None);
    assert_eq!(fused((O::ShrB32, &[number(16), a]), O::AddF16, b, "gfx900"), Some(("WORD_1", false, a)));
}
