//! Runs machine code with a few operations, over virtual registers or over hardware registers.
//!
//! It knows nothing about liveness: every virtual register is a separate word. So allocated code must store the same
//! values as the original code.

use crate::backend::amd::machine::{Code, File, Function, Inst, Operand, Pseudo, Special};
use crate::backend::amd::mnemonic::Operation as O;
use std::collections::BTreeMap;

pub const LANES: usize = 64;

/// A store: the address, the lane and the value.
pub type Trace = Vec<(u32, usize, u32)>;

/// The location of a word: a virtual register's part or a hardware register.
type Key = (bool, u32, u16);

#[derive(Default)]
pub struct Machine {
    vectors: BTreeMap<Key, [u32; LANES]>,
    scalars: BTreeMap<Key, u32>,
    exec: u64,
    scc: bool,
    scratch: BTreeMap<(u32, usize), u32>,
    pub trace: Trace,
}

impl Machine {
    /// The trace of a function; the hardware has filled the `fixed` registers with their number plus the lane.
    pub fn run(function: &Function, garbage: u32) -> Trace {
        let mut machine = Machine { exec: !0 >> 4, ..Machine::default() };
        machine.fill(function, garbage);
        let positions = function.positions();
        let (mut block, mut steps) = (0, 0);
        'blocks: while block < function.blocks.len() {
            for inst in &function.blocks[block].insts {
                steps += 1;
                assert!(steps < 100_000, "it does not end");
                if inst.operation() == Some(O::End) {
                    break 'blocks;
                }
                if let Some(to) = machine.step(function, inst, garbage) {
                    block = positions[to as usize];
                    continue 'blocks;
                }
            }
            block += 1;
        }
        machine.trace
    }

    fn fill(&mut self, function: &Function, garbage: u32) {
        for n in 0..256 {
            self.vectors.insert((true, 0, n), [garbage; LANES]);
            self.scalars.insert((true, 0, n), garbage);
        }
        for (reg, info) in function.registers.iter().enumerate() {
            let Some(first) = info.fixed else { continue };
            for part in 0..u16::from(info.width) {
                let number = u32::from(first + part);
                for key in [(false, reg as u32, part), (true, 0, first + part)] {
                    match info.file {
                        File::Vector => {
                            let lanes = std::array::from_fn(|lane| number + lane as u32);
                            self.vectors.insert(key, lanes);
                        }
                        File::Scalar => {
                            self.scalars.insert(key, number);
                        }
                    }
                }
            }
        }
    }

    /// The words of a register operand: its file and their keys.
    fn keys(function: &Function, operand: Operand) -> Option<(File, Vec<Key>)> {
        match operand {
            Operand::Reg(slice) => {
                let parts = slice.first..slice.first + slice.count;
                let keys = parts.map(|part| (false, slice.reg.0, u16::from(part))).collect();
                Some((function.registers[slice.reg.index()].file, keys))
            }
            Operand::Hardware(place) => Some((place.file, place.each().map(|n| (true, 0, n)).collect())),
            _ => None,
        }
    }

    fn word(&self, function: &Function, operand: Operand, part: usize, lane: usize) -> u32 {
        match operand {
            Operand::Constant(bits) => bits,
            Operand::Special(Special::Exec) => (self.exec >> (32 * part)) as u32,
            _ => {
                let (file, keys) = Machine::keys(function, operand).expect("an operand that is read");
                match file {
                    File::Vector => self.vectors.get(&keys[part]).map_or(0, |lanes| lanes[lane]),
                    File::Scalar => self.scalars.get(&keys[part]).copied().unwrap_or(0),
                }
            }
        }
    }

    fn mask(&self, function: &Function, operand: Operand) -> u64 {
        match operand {
            Operand::Constant(bits) => i64::from(bits as i32) as u64,
            _ => (0..2).map(|part| u64::from(self.word(function, operand, part, 0)) << (32 * part)).sum(),
        }
    }

    fn set_vector(&mut self, key: Key, value: impl Fn(&Machine, usize) -> u32) {
        let values: [u32; LANES] = std::array::from_fn(|lane| value(self, lane));
        let exec = self.exec;
        let lanes = self.vectors.entry(key).or_insert([0; LANES]);
        for lane in active(exec) {
            lanes[lane] = values[lane];
        }
    }

    fn set_mask(&mut self, function: &Function, operand: Operand, value: u64) {
        if operand == Operand::Special(Special::Exec) {
            self.exec = value;
            return;
        }
        let (_, keys) = Machine::keys(function, operand).expect("a mask is written to registers");
        for (part, key) in keys.into_iter().enumerate() {
            self.scalars.insert(key, (value >> (32 * part)) as u32);
        }
    }

    fn declare(&mut self, function: &Function, operand: Operand, garbage: u32) {
        let (file, keys) = Machine::keys(function, operand).expect("declarations name registers");
        for key in keys {
            match file {
                File::Vector => drop(self.vectors.insert(key, [garbage; LANES])),
                File::Scalar => drop(self.scalars.insert(key, garbage)),
            }
        }
    }

    /// Copies words, possibly of several registers.
    fn copy(&mut self, function: &Function, to: Operand, from: Operand) {
        let (file, keys) = Machine::keys(function, to).expect("copies write registers");
        let before: Vec<[u32; LANES]> =
            (0..keys.len()).map(|part| std::array::from_fn(|lane| self.word(function, from, part, lane))).collect();
        for (part, key) in keys.into_iter().enumerate() {
            match file {
                File::Vector => self.set_vector(key, |_, lane| before[part][lane]),
                File::Scalar => drop(self.scalars.insert(key, before[part][0])),
            }
        }
    }

    /// Runs an instruction; returns the label that it jumps to.
    fn step(&mut self, function: &Function, inst: &Inst, garbage: u32) -> Option<u32> {
        let operation = match inst.code {
            Code::Pseudo(Pseudo::Declare) => {
                self.declare(function, inst.defs[0], garbage);
                return None;
            }
            Code::Pseudo(_) => {
                self.copy(function, inst.defs[0], inst.uses[0]);
                return None;
            }
            Code::Real(operation) => operation,
        };
        let word = |machine: &Machine, n: usize, lane| machine.word(function, inst.uses[n], 0, lane);
        match operation {
            O::Move | O::ScalarMove => self.copy(function, inst.defs[0], inst.uses[0]),
            O::AddU32 => {
                let (_, keys) = Machine::keys(function, inst.defs[0]).expect("a register");
                self.set_vector(keys[0], |machine, lane| word(machine, 0, lane).wrapping_add(word(machine, 1, lane)));
            }
            O::ScalarAdd => {
                let (_, keys) = Machine::keys(function, inst.defs[0]).expect("a register");
                let sum = word(self, 0, 0).wrapping_add(word(self, 1, 0));
                self.scalars.insert(keys[0], sum);
            }
            O::ScalarCompare => self.scc = word(self, 0, 0) < word(self, 1, 0),
            O::ScalarMove64 => {
                let mask = self.mask(function, inst.uses[0]);
                self.set_mask(function, inst.defs[0], mask);
            }
            O::ScalarXor64 | O::ScalarAndNot64 => {
                let (a, b) = (self.mask(function, inst.uses[0]), self.mask(function, inst.uses[1]));
                let value = if operation == O::ScalarXor64 { a ^ b } else { a & !b };
                self.set_mask(function, inst.defs[0], value);
            }
            O::SaveExecAnd64 | O::SaveExecOr64 => {
                let (mask, before) = (self.mask(function, inst.uses[0]), self.exec);
                self.exec = if operation == O::SaveExecAnd64 { before & mask } else { before | mask };
                self.set_mask(function, inst.defs[0], before);
            }
            O::ReadLane => {
                let lane = word(self, 1, 0) as usize;
                let (_, keys) = Machine::keys(function, inst.defs[0]).expect("a register");
                let value = word(self, 0, lane % LANES);
                self.scalars.insert(keys[0], value);
            }
            O::WriteLane => self.write_lane(function, inst),
            O::Store32 | O::Store64 | O::Store128 => self.store(function, inst),
            O::Load32 | O::Load64 | O::Load128 => self.load(function, inst),
            O::Branch => return target(inst),
            O::BranchExecZero => return target(inst).filter(|_| self.exec == 0),
            O::BranchExecSome => return target(inst).filter(|_| self.exec != 0),
            O::BranchScc1 => return target(inst).filter(|_| self.scc),
            other => panic!("the interpreter has no {other:?}"),
        }
        None
    }

    fn write_lane(&mut self, function: &Function, inst: &Inst) {
        let (_, keys) = Machine::keys(function, inst.defs[0]).expect("a register");
        let (value, lane) = (self.word(function, inst.uses[0], 0, 0), self.word(function, inst.uses[1], 0, 0));
        self.vectors.entry(keys[0]).or_insert([0; LANES])[lane as usize % LANES] = value;
    }

    /// Stores to scratch memory, or to the trace if the address is a constant.
    fn store(&mut self, function: &Function, inst: &Inst) {
        let is_traced = inst.modifiers.prefix == "global_";
        let (_, keys) = Machine::keys(function, inst.uses[1]).expect("stores have data");
        for (part, _) in keys.iter().enumerate() {
            for lane in active(self.exec) {
                let value = self.word(function, inst.uses[1], part, lane);
                let address = self.address(function, inst, lane) + 4 * part as u32;
                if is_traced {
                    self.trace.push((address, lane, value));
                } else {
                    self.scratch.insert((address, lane), value);
                }
            }
        }
    }

    fn load(&mut self, function: &Function, inst: &Inst) {
        let (_, keys) = Machine::keys(function, inst.defs[0]).expect("loads write registers");
        let addresses: [u32; LANES] = std::array::from_fn(|lane| self.address(function, inst, lane));
        for (part, key) in keys.into_iter().enumerate() {
            self.set_vector(key, |machine, lane| {
                machine.scratch.get(&(addresses[lane] + 4 * part as u32, lane)).copied().unwrap_or(0xdead)
            });
        }
    }

    fn address(&self, function: &Function, inst: &Inst, lane: usize) -> u32 {
        let base = if inst.uses[0] == Operand::Off { 0 } else { self.word(function, inst.uses[0], 0, lane) };
        base + inst.modifiers.offset
    }
}

fn active(exec: u64) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| exec >> lane & 1 != 0)
}

fn target(inst: &Inst) -> Option<u32> {
    match inst.uses.first() {
        Some(Operand::Label(label)) => Some(label.0),
        _ => None,
    }
}
