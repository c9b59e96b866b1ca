//! Random code in random schedules, run on a machine of two lanes that ignores dependences.

use super::*;
use std::collections::BTreeMap;

/// A sequence of numbers (a linear congruential generator; Knuth's constants).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

struct Random {
    writer: Writer,
    vectors: Vec<Operand>,
    scalars: Vec<Operand>,
    pair: Slice,
    dice: Dice,
}

impl Random {
    fn new(seed: u64) -> Random {
        let mut writer = Writer::new();
        let vectors = (0..6).map(|_| writer.v()).collect();
        let scalars = (0..4).map(|_| writer.s()).collect();
        let pair = writer.function.register(File::Vector, 2);
        Random { writer, vectors, scalars, pair, dice: Dice(seed) }
    }

    fn v(&mut self) -> Operand {
        match self.dice.below(5) {
            0 => {
                let part = self.dice.below(2) as u8;
                Operand::Reg(self.pair.part(part))
            }
            _ => self.dice.of(&self.vectors),
        }
    }

    fn s(&mut self) -> Operand {
        self.dice.of(&self.scalars)
    }

    fn inst(&mut self) -> Inst {
        let (a, b, c) = (self.v(), self.v(), self.v());
        let (s, t) = (self.s(), self.s());
        let mut inst = match self.dice.below(24) {
            0..=3 => Inst::real(O::Load32, &[a], &[b, s]),
            4 => Inst::real(O::Store32, &[], &[a, b, s]),
            5 => Inst::real(O::LdsRead, &[a], &[b]),
            6 => Inst::real(O::LdsWrite, &[], &[a, b]),
            7 => Inst::real(O::Swizzle, &[a], &[b]),
            8 => Inst::real(O::LoadScalar32, &[s], &[t, Operand::Constant(0)]),
            9 => Inst::real(O::ScalarAdd, &[s], &[t, s]),
            10 => Inst::real(O::ScalarCompare, &[], &[s, t]),
            11 => Inst::real(O::ScalarSelect, &[s], &[t, s]),
            12 => Inst::real(O::Compare, &[self.dice.of(&[VCC, s])], &[a, b]),
            13 => Inst::real(O::Select, &[a], &[b, c, self.dice.of(&[VCC, s])]),
            14 => Inst::real(O::AddWithCarryOut, &[a, VCC], &[b, c]),
            15 => Inst::real(O::ReadLane, &[s], &[a, Operand::Constant(1)]),
            16 => Inst::real(O::WriteLane, &[a], &[s, self.dice.of(&[M0, Operand::Constant(1)])]),
            17 => Inst::real(O::ScalarMove, &[self.dice.of(&[EXEC, M0, s])], &[t]),
            18 => Inst::real(O::ScalarMove, &[Operand::Special(Special::VccLow)], &[s]),
            19 => Inst::new(Code::Pseudo(Pseudo::Copy), &[a], &[b]),
            20 => Inst::new(Code::Pseudo(Pseudo::Copy), &[s], &[t]),
            21 => Inst::real(O::SaveExecAnd, &[s], &[t]),
            22 => Inst::real(O::LdsAtomic, &[a], &[b, c]),
            _ => Inst::real(O::AddU32, &[a], &[b, c]),
        };
        let is_vector = matches!(inst.operation(), Some(O::AddU32 | O::Swizzle)) || inst.operation().is_none();
        inst.keeps = inst.operation() == Some(O::WriteLane) || is_vector && self.dice.below(3) == 0;
        if inst.operation() == Some(O::AddU32) && self.dice.below(3) == 0 {
            inst.modifiers.dpp = Some(Dpp::Rows(Dpp16::new(DppControl::RowMirror)));
        }
        if matches!(inst.operation(), Some(O::Load32 | O::LoadScalar32)) {
            inst.modifiers.region = self.dice.of(&[Region::Buffers, Region::Constant, Region::Private]);
        }
        if matches!(inst.operation(), Some(O::Load32 | O::Store32 | O::LdsRead)) && self.dice.below(4) == 0 {
            inst.modifiers.coherent = Some(Reach::Device);
        }
        inst
    }

    /// Random code of one block, after which some registers, the memories and the flags are needed.
    fn function(mut self) -> Function {
        for _ in 0..10 + self.dice.below(50) {
            let inst = self.inst();
            self.writer.put(inst);
        }
        let mut kept: Vec<Operand> = (0..3).map(|_| self.v()).collect();
        kept.extend([self.s(), VCC]);
        self.writer.keep(&kept);
        let (s, at) = (self.s(), self.v());
        self.writer.raw(O::ScalarSelect, &[s], &[s, s]);
        self.writer.store(at, s);
        let Writer { mut function, insts, .. } = self.writer;
        function.blocks.push(Block { label: Label(0), insts });
        function
    }
}

/// Mixes numbers into one (the finalizer of SplitMix64).
fn mix(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0x9e37_79b9_7f4a_7c15, |sum, number| {
        let mut z = (sum ^ number).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^= z >> 29;
        z.wrapping_mul(0x94d0_49bb_1331_11eb) ^ z >> 31
    })
}

/// The places of the machine that contain a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    Part(Slice, usize),
    Scc,
    Vcc(u8),
    Exec,
    M0,
    Memory(u8),
    /// Everything observable, in order.
    Seen,
}

#[derive(Default)]
struct Machine(BTreeMap<Place, u64>);

impl Machine {
    fn get(&self, place: Place) -> u64 {
        self.0.get(&place).copied().unwrap_or(mix(&[7]))
    }

    fn set(&mut self, place: Place, to: u64) {
        self.0.insert(place, to);
    }

    fn is_active(&self, lane: usize) -> bool {
        self.get(Place::Exec) >> lane & 1 != 0
    }

    fn operand(&self, operand: Operand, lane: usize) -> u64 {
        match operand {
            Operand::Reg(slice) => {
                let parts: Vec<u64> = (0..slice.count).map(|n| self.get(Place::Part(slice.part(n), lane))).collect();
                mix(&parts)
            }
            Operand::Special(Special::Vcc) => mix(&[self.get(Place::Vcc(0)), self.get(Place::Vcc(1))]),
            Operand::Special(Special::M0) => self.get(Place::M0),
            Operand::Constant(bits) => bits.into(),
            _ => 0,
        }
    }

    fn write(&mut self, operand: Operand, lane: usize, to: u64) {
        match operand {
            Operand::Reg(slice) => {
                (0..slice.count).for_each(|n| self.set(Place::Part(slice.part(n), lane), mix(&[to, n.into()])));
            }
            Operand::Special(Special::Vcc) => [0, 1].into_iter().for_each(|half| self.set(Place::Vcc(half), to)),
            Operand::Special(Special::VccLow) => self.set(Place::Vcc(0), to),
            Operand::Special(Special::Exec) => self.set(Place::Exec, to),
            Operand::Special(Special::M0) => self.set(Place::M0, to),
            _ => {}
        }
    }

    fn run(&mut self, inst: &Inst, registers: &[RegInfo]) {
        let tag = mix(&[inst.modifiers.immediate.map_or(0, u64::from)]);
        let is_vector = |operand: &Operand| matches!(operand, Operand::Reg(slice) if registers[slice.reg.index()].file == File::Vector);
        let operation = inst.operation();
        let is_copy_of_vector = operation.is_none() && inst.defs.iter().any(is_vector);
        match operation {
            Some(O::ReadLane) => {
                let value = mix(&[tag, self.operand(inst.uses[0], 1)]);
                self.broadcast(inst.defs[0], value);
            }
            Some(O::WriteLane) => {
                let value = mix(&[tag, self.operand(inst.uses[0], 0)]);
                self.write(inst.defs[0], 1, mix(&[value, self.operand(inst.uses[1], 0)]));
            }
            Some(O::Load32 | O::LoadScalar32 | O::LdsRead | O::Store32 | O::LdsWrite | O::LdsAtomic) => {
                self.access(inst, tag, is_vector);
            }
            Some(O::ScalarAdd | O::ScalarCompare | O::ScalarSelect | O::ScalarMove | O::SaveExecAnd) => {
                self.scalar(inst, tag);
            }
            None if !is_copy_of_vector => {
                let value = inst.uses.first().map_or(0, |operand| self.operand(*operand, 0));
                inst.defs.iter().for_each(|def| self.broadcast(*def, value));
            }
            _ => self.vector(inst, tag, is_vector),
        }
    }

    fn broadcast(&mut self, operand: Operand, value: u64) {
        [0, 1].into_iter().for_each(|lane| self.write(operand, lane, value));
    }

    fn scalar(&mut self, inst: &Inst, tag: u64) {
        let mut value = inst.uses.iter().fold(tag, |sum, operand| mix(&[sum, self.operand(*operand, 0)]));
        match inst.operation() {
            Some(O::ScalarSelect) => value = mix(&[value, self.get(Place::Scc)]),
            Some(O::SaveExecAnd) => {
                let old = self.get(Place::Exec);
                self.set(Place::Exec, old & value);
                self.set(Place::Scc, mix(&[old, value]));
                value = old;
            }
            Some(O::ScalarMove) => {}
            _ => self.set(Place::Scc, value),
        }
        inst.defs.iter().for_each(|def| self.broadcast(*def, value));
    }

    fn vector(&mut self, inst: &Inst, tag: u64, is_vector: impl Fn(&Operand) -> bool) {
        let exec = self.get(Place::Exec) & 3;
        let of_lane = |lane: usize| {
            let from = |at: usize| if at == 0 && inst.modifiers.dpp.is_some() { 1 - lane } else { lane };
            inst.uses.iter().enumerate().fold(tag, |sum, (at, operand)| mix(&[sum, self.operand(*operand, from(at))]))
        };
        let values = [of_lane(0), of_lane(1)];
        for def in &inst.defs {
            match is_vector(def) {
                true => {
                    (0..2).filter(|lane| exec >> lane & 1 != 0).for_each(|lane| self.write(*def, lane, values[lane]))
                }
                false => self.broadcast(*def, mix(&[values[0], values[1], exec])),
            }
        }
    }

    fn access(&mut self, inst: &Inst, tag: u64, is_vector: impl Fn(&Operand) -> bool) {
        use O::{LdsAtomic, LdsRead, LdsWrite, Load32, LoadScalar32, Store32};
        let operation = inst.operation().expect("it is an access");
        let memory = match (operation, inst.modifiers.region) {
            (LdsRead | LdsWrite | LdsAtomic, _) => 3,
            (_, region) => region as u8,
        };
        let limit = if memory == 3 { self.get(Place::M0) } else { 0 };
        let is_scalar = operation == LoadScalar32;
        let is_constant = memory == Region::Constant as u8 && matches!(operation, Load32 | LoadScalar32);
        let held = self.get(Place::Memory(memory));
        let mut next = held;
        let active = [0, 1].map(|lane| is_scalar || self.is_active(lane));
        for lane in (0..2).filter(|lane| active[*lane]) {
            let inputs = inst.uses.iter().fold(tag, |sum, operand| mix(&[sum, self.operand(*operand, lane)]));
            let value = mix(&[inputs, limit, if is_constant { 0 } else { held }]);
            inst.defs.iter().for_each(|def| self.write(*def, lane, value));
            next = mix(&[next, inputs, limit]);
        }
        debug_assert!(inst.defs.iter().all(|def| is_vector(def) != is_scalar));
        let is_seen = inst.modifiers.coherent.is_some();
        if matches!(operation, Store32 | LdsWrite | LdsAtomic) || is_seen {
            self.set(Place::Memory(memory), next);
        }
        if is_seen {
            self.set(Place::Seen, mix(&[self.get(Place::Seen), tag]));
        }
    }
}

/// The memories after a block has run.
fn left(function: &Function) -> Vec<u64> {
    let mut machine = Machine::default();
    machine.set(Place::Exec, 3);
    function.blocks[0].insts.iter().for_each(|inst| machine.run(inst, &function.registers));
    let places = [0, 1, 2, 3].map(Place::Memory).into_iter().chain([Place::Seen, Place::Exec, Place::M0]);
    places.map(|place| machine.get(place)).collect()
}

/// The function with its stretches in other orders.
fn reordered(function: &Function, arch: &Arch, most: Counts, window: u32) -> Function {
    let mut other = function.clone();
    for (block, range, stretch) in stretches(function, arch).0 {
        for (to, from) in range.clone().zip(stretch.ordered(most, window)) {
            other.blocks[block].insts[to] = function.blocks[block].insts[range.start + from as usize].clone();
        }
    }
    other
}

#[test]
fn orders_leave_the_same_behind() {
    let mut changed = 0;
    for seed in 0..600 {
        let function = Random::new(seed).function();
        let expected = left(&function);
        for (profile, most, window) in [
            ("gfx803", [64, 64], 256),
            ("gfx900", [11, 8], 256),
            ("gfx1030-wave64", [64, 64], 8),
            ("gfx1100-wave32", [256, 100], 256),
            ("gfx1201-wave32", [12, 100], 256),
        ] {
            let other = reordered(&function, &arch(profile), most, window);
            assert_eq!(left(&other), expected, "{profile}, function {seed}");
            changed += usize::from(other.blocks[0].insts != function.blocks[0].insts);
        }
    }
    assert!(changed > 2000, "{changed}");
}

/// The registers counted during scheduling are the live registers.
#[test]
fn pressure_is_that_of_the_order() {
    for seed in 0..200 {
        let function = Random::new(seed).function();
        let arch = arch("gfx1100-wave32");
        let other = reordered(&function, &arch, [256, 100], 64);
        let alive = bases(&other, &Live::new(&other, |_| false));
        for (_, range, stretch) in stretches(&function, &arch).0 {
            let mut level = stretch.lives.level();
            for (at, n) in (range.start + 1..).zip(stretch.ordered([256, 100], 64)) {
                assert_eq!(level.now, alive[at], "function {seed}, instruction {at}");
                level.pass(n);
            }
        }
    }
}
