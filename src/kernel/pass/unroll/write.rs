//! Writes the iterations of a loop one after the other.

use super::stride::Stride;
use super::trial::Decided;
use crate::ir::{InstFlags, Scalar};
use crate::kernel::pass::copy::Copier;
use crate::kernel::{BinOp, BlockId, CmpOp, InstId, Kernel, Op, Ty, Value};

/// Writes copies of the blocks of a loop.
pub struct Writer<'k> {
    kernel: &'k mut Kernel,
    inst: InstId,
    body: BlockId,
    continuing: BlockId,
}

impl<'k> Writer<'k> {
    /// A writer for an instruction that is a loop.
    pub fn of(kernel: &'k mut Kernel, inst: InstId) -> Option<Writer<'k>> {
        match kernel.insts[inst].op {
            Op::Loop { body, continuing } => Some(Writer { kernel, inst, body, continuing }),
            _ => None,
        }
    }

    /// Writes this many iterations instead of the loop, which becomes a scope, so that lanes can still leave it.
    pub fn unroll(mut self, rounds: usize) -> bool {
        self.kernel.insts[self.inst].flags.remove(InstFlags::UNROLL);
        let to = self.kernel.add_block(&[]);
        let mut params = self.kernel.args(self.inst).to_vec();
        for round in 1..=rounds {
            let passed = self.write_body(&params, to, &Decided::default(), 0);
            params = self.write_continuing(&passed, to, round == rounds, false);
        }
        self.kernel.insts[self.inst].op = Op::Scope { body: to };
        self.kernel.set_args(self.inst, &[]);
        true
    }

    /// Writes `copies` of the body into the loop, with the known conditions in each. The loop is not unrolled again.
    pub fn repeat(mut self, copies: usize, decided: &Decided) -> bool {
        let types = self.types(self.body);
        let to = self.kernel.add_block(&types);
        let mut params = self.kernel.blocks[to].params.clone();
        for position in 0..copies - 1 {
            let passed = self.write_body(&params, to, decided, position);
            params = self.write_continuing(&passed, to, false, decided.goes_on(position));
        }
        let mut copier = Copier::default();
        copier.set_all(&self.kernel.blocks[self.body].params, &params);
        copier.append(self.kernel, self.body, to);
        self.fix(&copier, decided, copies - 1);
        if decided.goes_on(copies - 1) {
            self.go_on();
        }
        self.kernel.insts[self.inst].op = Op::Loop { body: to, continuing: self.continuing };
        self.kernel.insts[self.inst].flags.insert(InstFlags::DONT_UNROLL);
        true
    }

    /// Adds a loop before this one that runs `rounds` iterations at a time while enough remain.
    pub fn stride(mut self, rounds: u32, stride: &Stride) -> bool {
        let (types, span) = (self.types(self.body), self.kernel.insts[self.inst].span);
        let [whole, body, continuing] = [&[][..], &types, &types].map(|params| self.kernel.add_block(params));
        let (args, looped) = (self.kernel.args(self.inst).to_vec(), Op::Loop { body, continuing });
        let wide = self.kernel.add_inst(looped, &args, &types, InstFlags::DONT_UNROLL, span);
        self.kernel.blocks[whole].insts.push(wide);
        let mut params = self.kernel.blocks[body].params.clone();
        self.write_test(wide, body, &params, stride, rounds);
        let decided = Decided::always(stride.test.branch, 1);
        for _ in 0..rounds {
            let passed = self.write_body(&params, body, &decided, 0);
            params = self.write_continuing(&passed, body, false, true);
        }
        self.push(body, Op::Continue(wide), &params, &[]);
        let next = self.kernel.blocks[continuing].params.clone();
        let goes_on = self.kernel.constant(Ty::Bool, 0);
        self.push(continuing, Op::Repeat, &[&[goes_on], &next[..], &next[..]].concat(), &[]);
        self.write_rest(whole, wide);
        true
    }

    /// Leaves a loop unless this many iterations remain. Below the limit, the unsigned distance to it is exact.
    fn write_test(&mut self, wide: InstId, body: BlockId, params: &[Value], stride: &Stride, rounds: u32) {
        let (index, limit) = (params[stride.index], stride.limit);
        let is_below = self.push(body, Op::Cmp(CmpOp::Lt, stride.scalar), &[index, limit], &[Ty::Bool]);
        let distance = self.push(body, Op::Bin(BinOp::Sub, Scalar::U32), &[limit, index], &[Ty::B32]);
        let last = self.kernel.constant(Ty::B32, (stride.step * (rounds - 1)).into());
        let [is_below, distance] = [is_below, distance].map(|inst| self.result(inst));
        let is_far = self.push(body, Op::Cmp(CmpOp::Gt, Scalar::U32), &[distance, last], &[Ty::Bool]);
        let is_far = self.result(is_far);
        let remain = self.push(body, Op::Bin(BinOp::And, Scalar::BOOL), &[is_below, is_far], &[Ty::Bool]);
        let remain = self.result(remain);
        let [then, otherwise] = [(); 2].map(|()| self.kernel.add_block(&[]));
        self.push(then, Op::Yield, &[], &[]);
        self.push(otherwise, Op::Exit(wide), params, &[]);
        self.push(body, Op::If { then, otherwise }, &[remain], &[]);
    }

    /// Writes the loop itself after the wide one; a block with both replaces it.
    fn write_rest(&mut self, whole: BlockId, wide: InstId) {
        let given: Vec<Value> = self.kernel.results(wide).collect();
        self.kernel.set_args(self.inst, &given);
        let rest = Copier::default().copy(self.kernel, self.inst);
        self.kernel.insts[rest].flags.insert(InstFlags::DONT_UNROLL);
        self.kernel.blocks[whole].insts.push(rest);
        let results: Vec<Value> = self.kernel.results(rest).collect();
        self.push(whole, Op::Yield, &results, &[]);
        self.kernel.insts[self.inst].op = Op::Scope { body: whole };
        self.kernel.set_args(self.inst, &[]);
    }

    /// Appends an instruction to a block.
    fn push(&mut self, block: BlockId, op: Op, args: &[Value], results: &[Ty]) -> InstId {
        let span = self.kernel.insts[self.inst].span;
        let inst = self.kernel.add_inst(op, args, results, InstFlags::empty(), span);
        self.kernel.blocks[block].insts.push(inst);
        inst
    }

    fn result(&self, inst: InstId) -> Value {
        self.kernel.result(inst).expect("it was made with one result")
    }

    /// Makes the continuing block always start another iteration.
    fn go_on(&mut self) {
        let repeat = *self.kernel.blocks[self.continuing].insts.last().expect("a block ends with its terminator");
        let mut args = self.kernel.args(repeat).to_vec();
        args[0] = self.kernel.constant(Ty::Bool, 0);
        self.kernel.set_args(repeat, &args);
    }

    fn types(&self, block: BlockId) -> Vec<Ty> {
        self.kernel.blocks[block].params.iter().map(|param| self.kernel.ty(*param)).collect()
    }

    /// One iteration's body as a scope; returns the values for the continuing block.
    fn write_body(&mut self, params: &[Value], to: BlockId, decided: &Decided, position: usize) -> Vec<Value> {
        let types = self.types(self.continuing);
        let (flags, span) = (self.kernel.insts[self.inst].flags, self.kernel.insts[self.inst].span);
        let block = self.kernel.add_block(&[]);
        let scope = self.kernel.add_inst(Op::Scope { body: block }, &[], &types, flags, span);
        let mut copier = Copier::default();
        copier.set_all(&self.kernel.blocks[self.body].params, params);
        copier.turn(Op::Continue(self.inst), Op::Exit(scope));
        copier.append(self.kernel, self.body, block);
        self.fix(&copier, decided, position);
        self.kernel.blocks[to].insts.push(scope);
        self.kernel.results(scope).collect()
    }

    /// Sets the known conditions of the branches in a copy.
    fn fix(&mut self, copier: &Copier, decided: &Decided, position: usize) {
        for (branch, condition) in decided.at(position) {
            if let Some(copy) = copier.construct(branch) {
                let known = self.kernel.constant(Ty::Bool, condition);
                self.kernel.set_args(copy, &[known]);
            }
        }
    }

    /// Writes the continuing block between two iterations, or the end of the last one; returns the parameters of the
    /// next iteration.
    fn write_continuing(&mut self, passed: &[Value], to: BlockId, is_last: bool, goes_on: bool) -> Vec<Value> {
        let kernel = &mut *self.kernel;
        let mut copier = Copier::default();
        copier.set_all(&kernel.blocks[self.continuing].params, passed);
        copier.append(kernel, self.continuing, to);
        let repeat = kernel.blocks[to].insts.pop().expect("a block ends with its terminator");
        let results = kernel.results(self.inst).len();
        let args = kernel.args(repeat).to_vec();
        let (params, given) = args[1..].split_at(args.len() - 1 - results);
        let (flags, span) = (kernel.insts[self.inst].flags, kernel.insts[self.inst].span);
        if is_last {
            let end = kernel.add_inst(Op::Yield, given, &[], flags, span);
            kernel.blocks[to].insts.push(end);
            return Vec::new();
        }
        if !goes_on && kernel.as_constant(args[0]) != Some(0) {
            let (then, otherwise) = (kernel.add_block(&[]), kernel.add_block(&[]));
            for (block, op, args) in [(then, Op::Exit(self.inst), given), (otherwise, Op::Yield, &[])] {
                let end = kernel.add_inst(op, args, &[], flags, span);
                kernel.blocks[block].insts.push(end);
            }
            let choice = kernel.add_inst(Op::If { then, otherwise }, &args[..1], &[], flags, span);
            kernel.blocks[to].insts.push(choice);
        }
        params.to_vec()
    }
}
