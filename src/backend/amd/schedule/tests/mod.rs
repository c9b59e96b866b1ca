//! One tempting exchange for each kind of dependence, and one for each benefit.

mod random;

use super::*;
use crate::backend::amd::machine::{Block, Dpp, Fence, Label, Modifiers, Reach, Region, Slice, Special};
use crate::backend::amd::mnemonic::Operation as O;
use crate::lane::primitive::{Dpp16, DppControl};
use crate::profile::Profile;

fn arch(profile: &str) -> Arch {
    Arch::of(&Profile::named(profile).expect("a profile")).expect("a processor")
}

const EXEC: Operand = Operand::Special(Special::Exec);
const VCC: Operand = Operand::Special(Special::Vcc);
const M0: Operand = Operand::Special(Special::M0);

/// A hand-written block. Its instructions are identified by their immediates, which count from 0.
struct Writer {
    function: Function,
    insts: Vec<Inst>,
    base: Operand,
}

impl Writer {
    fn new() -> Writer {
        let mut function = Function::default();
        let base = Operand::Reg(function.fixed_register(File::Scalar, 0, 2));
        Writer { function, insts: Vec::new(), base }
    }

    fn v(&mut self) -> Operand {
        Operand::Reg(self.function.register(File::Vector, 1))
    }

    fn s(&mut self) -> Operand {
        Operand::Reg(self.function.register(File::Scalar, 1))
    }

    fn put(&mut self, mut inst: Inst) -> &mut Inst {
        inst.modifiers.immediate = Some(self.insts.len() as u32);
        self.insts.push(inst);
        self.insts.last_mut().expect("it was put")
    }

    fn raw(&mut self, operation: O, defs: &[Operand], uses: &[Operand]) -> &mut Inst {
        self.put(Inst::real(operation, defs, uses))
    }

    fn load(&mut self, to: Operand, at: Operand, region: Region) {
        let uses = [at, self.base];
        let inst = self.raw(O::Load32, &[to], &uses);
        inst.modifiers = Modifiers { prefix: "global_", region, ..inst.modifiers };
    }

    fn store(&mut self, at: Operand, data: Operand) {
        let uses = [at, data, self.base];
        self.raw(O::Store32, &[], &uses).modifiers.prefix = "global_";
    }

    /// Keeps registers live to the end.
    fn keep(&mut self, operands: &[Operand]) {
        self.put(Inst::new(Code::Pseudo(Pseudo::Fence(Fence::default())), &[], &[]));
        operands.iter().for_each(|operand| self.store(*operand, *operand));
    }

    /// The order of the immediates.
    fn order(mut self, profile: &str) -> Vec<u32> {
        self.function.blocks.push(Block { label: Label(0), insts: self.insts });
        let arch = arch(profile);
        let scheduled = schedule(&self.function, &arch, &Limits::new(&arch, 64), 0, 2);
        let function = scheduled.map_or(self.function, |scheduled| scheduled.function);
        function.blocks[0].insts.iter().filter_map(|inst| inst.modifiers.immediate).collect()
    }

    /// The position of an instruction in the order.
    fn place(self, profile: &str, immediate: u32) -> usize {
        self.order(profile).iter().position(|known| *known == immediate).expect("it is there")
    }
}

/// A use directly after its load, and a later load that could come first. Instruction 0 loads, 1 uses.
fn waiting() -> (Writer, Operand) {
    let mut w = Writer::new();
    let (at, loaded, sum) = (w.v(), w.v(), w.v());
    w.load(loaded, at, Region::Buffers);
    w.raw(O::AddU32, &[sum], &[loaded, loaded]);
    (w, sum)
}

#[test]
fn loads_come_before_uses_of_others() {
    let (mut w, sum) = waiting();
    let (at, loaded, shifted) = (w.v(), w.v(), w.v());
    w.raw(O::ShlB32, &[shifted], &[Operand::Constant(2), at]);
    w.load(loaded, shifted, Region::Buffers);
    w.keep(&[sum, loaded]);
    assert_eq!(w.order("gfx1100")[..4], [2, 0, 3, 1]);
}

#[test]
fn scalar_loads_and_those_of_workgroup_memory_come_early() {
    let (mut w, sum) = waiting();
    let (s, v) = (w.s(), w.v());
    let base = w.base;
    w.raw(O::LoadScalar32, &[s], &[base, Operand::Constant(0)]).modifiers.region = Region::Constant;
    w.raw(O::LdsRead, &[v], &[v]);
    w.keep(&[sum, s, v]);
    assert_eq!(w.order("gfx1100")[..4], [2, 0, 3, 1]);
}

#[test]
fn nothing_changes_where_nothing_waits() {
    let mut w = Writer::new();
    let [a, b, c] = [w.v(), w.v(), w.v()];
    w.raw(O::AddU32, &[b], &[a, a]);
    w.raw(O::AddU32, &[c], &[a, a]);
    w.store(a, b);
    w.store(a, c);
    w.keep(&[]);
    assert_eq!(w.order("gfx900"), [0, 1, 2, 3, 4]);
}

/// Two chains of moves from the neighbouring lane, one after the other.
#[test]
fn chains_take_turns_where_moves_wait() {
    let chains = |profile| {
        let mut w = Writer::new();
        let mut ends = Vec::new();
        for _ in 0..2 {
            let chain: Vec<Operand> = (0..4).map(|_| w.v()).collect();
            for pair in chain.windows(2) {
                let dpp = Some(Dpp::Rows(Dpp16::new(DppControl::RowMirror)));
                w.raw(O::Move, &[pair[1]], &[pair[0]]).modifiers.dpp = dpp;
            }
            ends.push(chain[3]);
        }
        w.keep(&ends);
        w.order(profile)
    };
    assert_eq!(chains("gfx900")[..6], [0, 3, 1, 4, 2, 5]);
    assert_eq!(chains("gfx701")[..6], [0, 1, 2, 3, 4, 5]);
}

#[test]
fn loads_stay_behind_stores_that_may_write_what_they_read() {
    let after_store = |region| {
        let (mut w, sum) = waiting();
        let (at, loaded) = (w.v(), w.v());
        w.store(at, sum);
        w.load(loaded, at, region);
        w.keep(&[loaded]);
        w.place("gfx1100", 3)
    };
    assert_eq!(after_store(Region::Buffers), 3);
    assert_eq!(after_store(Region::Constant), 1);
    assert_eq!(after_store(Region::Private), 1);
}

#[test]
fn workgroup_memory_is_apart_from_buffers() {
    let (mut w, sum) = waiting();
    let (at, loaded) = (w.v(), w.v());
    w.store(at, sum);
    w.raw(O::LdsRead, &[loaded], &[at]);
    w.keep(&[loaded]);
    assert_eq!(w.place("gfx1100", 3), 1);
    let (mut w, sum) = waiting();
    let (at, loaded) = (w.v(), w.v());
    w.raw(O::LdsWrite, &[], &[at, sum]);
    w.raw(O::LdsRead, &[loaded], &[at]);
    w.keep(&[loaded]);
    assert_eq!(w.place("gfx1100", 3), 3);
}

#[test]
fn stores_stay_behind_loads() {
    let (mut w, sum) = waiting();
    let [at, late, used] = [w.v(), w.v(), w.v()];
    w.raw(O::AddU32, &[late], &[sum, at]);
    w.load(used, late, Region::Buffers);
    w.store(at, at);
    w.keep(&[used]);
    assert_eq!(w.order("gfx1100")[..5], [0, 1, 2, 3, 4]);
}

#[test]
fn accesses_that_others_must_see_stay_in_order() {
    let order = |coherent| {
        let (mut w, sum) = waiting();
        let (at, loaded) = (w.v(), w.v());
        w.insts[0].modifiers.coherent = coherent;
        w.raw(O::LdsRead, &[loaded], &[sum]).modifiers.coherent = coherent;
        let other = w.v();
        w.load(other, at, Region::Buffers);
        w.insts[3].modifiers.coherent = coherent;
        w.keep(&[loaded, other]);
        w.order("gfx1100")
    };
    assert_eq!(order(None)[..4], [0, 3, 1, 2]);
    assert_eq!(order(Some(Reach::Device))[..4], [0, 1, 2, 3]);
}

#[test]
fn nothing_passes_fences_and_barriers() {
    for cut in [Code::Pseudo(Pseudo::Fence(Fence::default())), Code::Real(O::Barrier)] {
        let (mut w, sum) = waiting();
        let (at, loaded) = (w.v(), w.v());
        w.put(Inst::new(cut, &[], &[]));
        w.load(loaded, at, Region::Constant);
        w.keep(&[sum, loaded]);
        assert_eq!(w.place("gfx1030", 3), 3);
    }
}

#[test]
fn nothing_passes_a_change_of_lanes() {
    let (mut w, sum) = waiting();
    let (at, loaded, s) = (w.v(), w.v(), w.s());
    let base = w.base;
    w.raw(O::ScalarMove, &[EXEC], &[Operand::Constant(1)]);
    w.load(loaded, at, Region::Constant);
    // Scalar loads are not affected.
    let next = w.s();
    w.raw(O::LoadScalar32, &[s], &[base, Operand::Constant(0)]).modifiers.region = Region::Constant;
    w.raw(O::LoadScalar32, &[next], &[base, s]).modifiers.region = Region::Constant;
    w.keep(&[sum, loaded, next]);
    assert_eq!(w.order("gfx1100")[..6], [4, 0, 5, 1, 2, 3]);
}

#[test]
fn copies_of_vector_registers_mind_the_lanes() {
    let (mut w, sum) = waiting();
    let (from, to) = (w.v(), w.v());
    w.raw(O::ScalarMove, &[EXEC], &[Operand::Constant(1)]);
    w.put(Inst::new(Code::Pseudo(Pseudo::Copy), &[to], &[from])).keeps = true;
    w.keep(&[sum, to]);
    assert_eq!(w.order("gfx1100")[..4], [0, 1, 2, 3]);
}

#[test]
fn the_condition_code_reaches_who_needs_it() {
    let (mut w, sum) = waiting();
    let [a, b, c, d, e, f] = [w.s(), w.s(), w.s(), w.s(), w.s(), w.s()];
    let (base, four) = (w.base, Operand::Constant(4));
    w.raw(O::ReadFirstLane, &[a], &[sum]);
    w.raw(O::ScalarCompare, &[], &[a, Operand::Constant(0)]);
    w.raw(O::ScalarSelect, &[b], &[a, a]);
    // These write the condition code, which is not needed: they pass each other, but not the selection.
    w.raw(O::ScalarAdd, &[f], &[b, four]);
    w.raw(O::ScalarAdd, &[c], &[b, b]);
    w.raw(O::ScalarAdd, &[d], &[four, four]);
    w.raw(O::LoadScalar32, &[e], &[base, d]).modifiers.region = Region::Constant;
    w.raw(O::ScalarCompare, &[], &[c, four]);
    w.keep(&[c, e, f]);
    assert_eq!(w.order("gfx1100")[..7], [0, 1, 2, 3, 4, 5, 7]);
}

#[test]
fn halves_of_vcc_are_one() {
    let (mut w, sum) = waiting();
    let (mask, chosen, other) = (w.s(), w.v(), w.v());
    w.raw(O::ReadFirstLane, &[mask], &[sum]);
    w.raw(O::ScalarMove, &[Operand::Special(Special::VccLow)], &[mask]);
    w.raw(O::ScalarMove, &[Operand::Special(Special::VccHigh)], &[Operand::Constant(0)]);
    w.raw(O::Select, &[chosen], &[sum, sum, VCC]);
    w.raw(O::AddU32, &[other, VCC], &[Operand::Constant(1), Operand::Constant(1)]);
    w.keep(&[chosen, other]);
    assert_eq!(w.order("gfx803")[..7], [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn workgroup_memory_needs_its_limit() {
    let (mut w, sum) = waiting();
    let [lane, at, loaded, written] = [w.s(), w.v(), w.v(), w.v()];
    w.raw(O::ReadFirstLane, &[lane], &[sum]);
    w.raw(O::ScalarMove, &[M0], &[lane]);
    w.raw(O::WriteLane, &[written], &[lane, M0]).keeps = true;
    w.raw(O::ScalarMove, &[M0], &[Operand::Constant(u32::MAX)]);
    w.raw(O::LdsRead, &[loaded], &[at]);
    w.keep(&[loaded, written]);
    assert_eq!(w.order("gfx803")[..7], [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn parts_of_a_register_are_apart() {
    let (mut w, sum) = waiting();
    let pair = w.function.register(File::Vector, 2);
    let [low, high] = [0, 1].map(|n| Operand::Reg(pair.part(n)));
    let (at, loaded) = (w.v(), w.v());
    w.put(Inst::new(Code::Pseudo(Pseudo::Declare), &[Operand::Reg(pair)], &[]));
    w.raw(O::Move, &[low], &[sum]);
    w.load(high, at, Region::Buffers);
    w.raw(O::AddU32, &[loaded], &[low, high]);
    w.keep(&[loaded]);
    assert_eq!(w.order("gfx1100")[..6], [2, 0, 4, 1, 3, 5]);
}

#[test]
fn what_is_overwritten_has_been_read() {
    let (mut w, sum) = waiting();
    let (at, old) = (w.v(), w.v());
    w.raw(O::AddU32, &[sum], &[sum, old]);
    w.load(old, at, Region::Buffers);
    w.keep(&[sum, old]);
    assert_eq!(w.order("gfx1100")[..4], [0, 1, 2, 3]);
}

/// The source of a copy is not written while its target is read, so that both can share a place.
#[test]
fn copies_stay_free() {
    let mut w = Writer::new();
    let [count, next, at, loaded, sum] = [w.v(), w.v(), w.v(), w.v(), w.v()];
    w.raw(O::ShlB32, &[at], &[Operand::Constant(2), count]);
    w.load(loaded, at, Region::Buffers);
    w.raw(O::AddU32, &[sum], &[loaded, count]);
    w.raw(O::AddU32, &[next], &[Operand::Constant(1), count]);
    w.put(Inst::new(Code::Pseudo(Pseudo::Copy), &[count], &[next])).keeps = true;
    w.keep(&[sum, count]);
    assert_eq!(w.order("gfx1100")[..5], [0, 1, 2, 3, 4]);
}

/// Many loads, each added at once. They come first as far as registers allow: 24 on GCN 3 for ten waves.
#[test]
fn loads_leave_as_many_waves() {
    let most = |profile: &str| {
        let mut w = Writer::new();
        let at = w.v();
        let mut sum = w.v();
        for _ in 0..120 {
            let (loaded, next) = (w.v(), w.v());
            w.load(loaded, at, Region::Buffers);
            w.raw(O::AddU32, &[next], &[loaded, sum]);
            sum = next;
        }
        w.keep(&[sum]);
        w.function.blocks.push(Block { label: Label(0), insts: w.insts });
        let arch = arch(profile);
        let scheduled = schedule(&w.function, &arch, &Limits::new(&arch, 64), 0, 2).expect("it is better");
        stretches(&scheduled.function, &arch).1[0]
    };
    let (gcn, rdna) = (most("gfx803"), most("gfx1100"));
    assert!((10..=24).contains(&gcn) && (60..=96).contains(&rdna), "{gcn} {rdna}");
}
