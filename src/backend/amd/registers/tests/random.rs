//! Random functions with divergent branches, loops, tuples, variables and whole-wave code.

use crate::backend::amd::machine::{
    Block, Code, File, Function, Inst, Label, Operand, Pseudo, Scratch, Slice, Special,
};
use crate::backend::amd::mnemonic::Operation as O;

const EXEC: Operand = Operand::Special(Special::Exec);

/// A sequence of numbers (a linear congruential generator; Knuth's constants).
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }
}

pub struct Writer {
    function: Function,
    block: Block,
    labels: u32,
    dice: Dice,
    /// Registers with a value in all active lanes.
    vectors: Vec<Slice>,
    scalars: Vec<Slice>,
    stores: u32,
}

/// A function of about this many constructs.
pub fn function(seed: u64, size: u64) -> Function {
    let mut function = Function { scratch: Some(Scratch::Instructions), ..Function::default() };
    let vectors = vec![function.fixed_register(File::Vector, 0, 1)];
    let scalars = vec![function.fixed_register(File::Scalar, 4, 1)];
    let block = Block { label: Label(0), insts: Vec::new() };
    let mut writer = Writer { function, block, labels: 1, dice: Dice(seed), vectors, scalars, stores: 0 };
    writer.body(size, 3);
    writer.keep_some_alive();
    writer.raw(O::End, &[], &[]);
    writer.function.blocks.push(writer.block);
    writer.function
}

impl Writer {
    fn put(&mut self, inst: Inst) {
        self.block.insts.push(inst);
    }

    fn raw(&mut self, operation: O, defs: &[Operand], uses: &[Operand]) {
        self.put(Inst::real(operation, defs, uses));
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn begin(&mut self, label: Label) {
        let done = std::mem::replace(&mut self.block, Block { label, insts: Vec::new() });
        self.function.blocks.push(done);
    }

    fn branch(&mut self, operation: O, to: Label) {
        self.raw(operation, &[], &[Operand::Label(to)]);
        let next = self.label();
        self.begin(next);
    }

    fn declare(&mut self, slice: Slice) {
        self.put(Inst::new(Code::Pseudo(Pseudo::Declare), &[Operand::Reg(slice)], &[]));
    }

    fn copy(&mut self, to: Slice, from: Slice, keeps: bool) {
        let mut copy = Inst::new(Code::Pseudo(Pseudo::Copy), &[Operand::Reg(to)], &[Operand::Reg(from)]);
        copy.keeps = keeps;
        self.put(copy);
    }

    fn any_vector(&mut self) -> Slice {
        self.vectors[self.dice.below(self.vectors.len() as u64) as usize]
    }

    fn any_scalar(&mut self) -> Slice {
        self.scalars[self.dice.below(self.scalars.len() as u64) as usize]
    }

    fn body(&mut self, size: u64, depth: u32) {
        let (vectors, scalars) = (self.vectors.len(), self.scalars.len());
        for _ in 0..size {
            match self.dice.below(if depth > 0 { 12 } else { 9 }) {
                0..3 => self.add(),
                3 | 4 => self.add_scalar(),
                5 => self.tuple(),
                6 => self.store(),
                7 => self.whole_wave(),
                8 => self.read_lane(),
                9 | 10 => self.if_(size / 2 + 1, depth - 1),
                _ => self.loop_(size / 2 + 1, depth - 1),
            }
        }
        self.vectors.truncate(vectors.max(1) + 3);
        self.scalars.truncate(scalars.max(1) + 3);
    }

    fn add(&mut self) {
        let (a, b) = (self.any_vector(), self.any_vector());
        let to = self.function.register(File::Vector, 1);
        self.raw(O::AddU32, &[Operand::Reg(to)], &[Operand::Reg(a), Operand::Reg(b)]);
        self.vectors.push(to);
    }

    fn add_scalar(&mut self) {
        let (a, b) = (self.any_scalar(), self.any_scalar());
        let to = self.function.register(File::Scalar, 1);
        self.raw(O::ScalarAdd, &[Operand::Reg(to)], &[Operand::Reg(a), Operand::Reg(b)]);
        self.scalars.push(to);
    }

    /// Some consecutive words, stored at once.
    fn tuple(&mut self) {
        let width = [2, 4][self.dice.below(2) as usize];
        let to = self.function.register(File::Vector, width);
        self.declare(to);
        for n in 0..width {
            let from = self.any_vector();
            self.copy(to.part(n), from, false);
        }
        self.store_of(to);
        let part = self.dice.below(u64::from(width)) as u8;
        self.vectors.push(to.part(part));
    }

    fn store(&mut self) {
        let data = self.any_vector();
        self.store_of(data);
    }

    fn store_of(&mut self, data: Slice) {
        self.stores += 1;
        let operation = [O::Store32, O::Store32, O::Store64, O::Store64, O::Store128][usize::from(data.count)];
        let address = Operand::Constant(self.stores * 64);
        let mut store = Inst::real(operation, &[], &[address, Operand::Reg(data)]);
        store.modifiers.prefix = "global_";
        self.put(store);
    }

    /// Writes a register in all lanes, so no waiting lane may have a value in it.
    fn whole_wave(&mut self) {
        let saved = self.function.register(File::Scalar, 2);
        self.raw(O::SaveExecOr64, &[Operand::Reg(saved)], &[Operand::Constant(u32::MAX)]);
        let (a, b) = (self.function.register(File::Vector, 1), self.function.register(File::Vector, 1));
        self.raw(O::Move, &[Operand::Reg(a)], &[Operand::Constant(77)]);
        self.raw(O::AddU32, &[Operand::Reg(b)], &[Operand::Reg(a), Operand::Reg(a)]);
        self.store_of(b);
        self.raw(O::ScalarMove64, &[EXEC], &[Operand::Reg(saved)]);
    }

    /// Reads a lane that is not active of a register that all lanes have written.
    fn read_lane(&mut self) {
        let saved = self.function.register(File::Scalar, 2);
        let source = self.function.register(File::Vector, 1);
        self.raw(O::SaveExecOr64, &[Operand::Reg(saved)], &[Operand::Constant(u32::MAX)]);
        self.raw(O::Move, &[Operand::Reg(source)], &[Operand::Constant(self.stores)]);
        self.raw(O::ScalarMove64, &[EXEC], &[Operand::Reg(saved)]);
        let to = self.function.register(File::Scalar, 1);
        self.raw(O::ReadLane, &[Operand::Reg(to)], &[Operand::Reg(source), Operand::Constant(63)]);
        self.scalars.push(to);
        let shown = self.function.register(File::Vector, 1);
        self.raw(O::Move, &[Operand::Reg(shown)], &[Operand::Reg(to)]);
        self.store_of(shown);
    }

    /// Some lanes take one arm, the others the other one; both write a variable.
    fn if_(&mut self, size: u64, depth: u32) {
        let variable = self.function.register(File::Vector, 1);
        self.declare(variable);
        let saved = self.function.register(File::Scalar, 2);
        let mask = self.function.register(File::Scalar, 2);
        let lanes = self.dice.below(1 << 30) as u32;
        self.raw(O::ScalarMove64, &[Operand::Reg(mask)], &[Operand::Constant(lanes)]);
        self.raw(O::SaveExecAnd64, &[Operand::Reg(saved)], &[Operand::Reg(mask)]);
        let (other, end) = (self.label(), self.label());
        self.branch(O::BranchExecZero, other);
        let (vectors, scalars) = (self.vectors.clone(), self.scalars.clone());
        self.arm(variable, size, depth);
        self.begin(other);
        (self.vectors, self.scalars) = (vectors.clone(), scalars.clone());
        self.raw(O::ScalarXor64, &[EXEC], &[Operand::Reg(saved), EXEC]);
        self.branch(O::BranchExecZero, end);
        self.arm(variable, size, depth);
        self.begin(end);
        (self.vectors, self.scalars) = (vectors, scalars);
        self.raw(O::ScalarMove64, &[EXEC], &[Operand::Reg(saved)]);
        self.vectors.push(variable);
    }

    fn arm(&mut self, variable: Slice, size: u64, depth: u32) {
        self.body(size, depth);
        let from = self.any_vector();
        self.copy(variable, from, true);
    }

    /// A counted loop that lanes leave one after another, with a carried value and a result per lane.
    fn loop_(&mut self, size: u64, depth: u32) {
        let result = self.function.register(File::Vector, 1);
        self.declare(result);
        let carried = self.function.register(File::Vector, 1);
        let initial = self.any_vector();
        self.copy(carried, initial, false);
        let entered = self.function.register(File::Scalar, 2);
        self.raw(O::ScalarMove64, &[Operand::Reg(entered)], &[EXEC]);
        let counter = self.function.register(File::Scalar, 1);
        self.raw(O::ScalarMove, &[Operand::Reg(counter)], &[Operand::Constant(0)]);
        let (head, end) = (self.label(), self.label());
        self.begin(head);
        let (vectors, scalars) = (self.vectors.clone(), self.scalars.clone());
        self.vectors.push(carried);
        self.body(size, depth);
        let taken = self.any_vector();
        self.copy(result, taken, true);
        let next = self.any_vector();
        self.copy(carried, next, false);
        let mask = self.function.register(File::Scalar, 2);
        let lanes = self.dice.below(1 << 30) as u32;
        self.raw(O::ScalarMove64, &[Operand::Reg(mask)], &[Operand::Constant(lanes)]);
        self.raw(O::ScalarAndNot64, &[EXEC], &[EXEC, Operand::Reg(mask)]);
        self.branch(O::BranchExecZero, end);
        self.raw(O::ScalarAdd, &[Operand::Reg(counter)], &[Operand::Reg(counter), Operand::Constant(1)]);
        self.raw(O::ScalarCompare, &[], &[Operand::Reg(counter), Operand::Constant(3)]);
        self.branch(O::BranchScc1, head);
        self.begin(end);
        (self.vectors, self.scalars) = (vectors, scalars);
        self.raw(O::ScalarMove64, &[EXEC], &[Operand::Reg(entered)]);
        self.vectors.push(result);
    }

    fn keep_some_alive(&mut self) {
        for slice in self.vectors.clone() {
            self.store_of(slice);
        }
        for slice in self.scalars.clone() {
            let shown = self.function.register(File::Vector, 1);
            self.raw(O::Move, &[Operand::Reg(shown)], &[Operand::Reg(slice)]);
            self.store_of(shown);
        }
    }
}
