//! Memory and control flow.

use super::{Generator, Known, Leavable, SCALARS, WORDS};
use crate::ir::Scalar;
use crate::kernel::{BinOp, BlockId, CmpOp, MemoryAccess, MemorySpace, Op, Ty, Value};

impl Generator {
    /// Some statements, which a terminator may end early.
    pub fn statements(&mut self, count: u32) {
        for _ in 0..count {
            if self.room == 0 || self.b.is_terminated() {
                return;
            }
            self.room -= 1;
            self.statement();
        }
    }

    fn statement(&mut self) {
        let nested = self.depth < 4;
        match self.below(20) {
            0 | 1 if nested => self.branch(),
            2 if nested => self.counted_loop(),
            3 if nested => self.scope(),
            4 if nested && !self.targets.is_empty() => self.leave(),
            5..=16 if self.places.are_there() => self.access_statement(),
            5 => self.load(),
            6 | 7 => {
                let private = MemorySpace::Private(self.below(2));
                let space = self.one_of(&[MemorySpace::Shared, private, MemorySpace::Buffer(1)]);
                let word = self.below(WORDS);
                self.store_something(space, word);
            }
            8..=10 if self.lanes => self.lane(),
            _ => self.arithmetic(),
        }
    }

    /// The address of a word of this invocation, and the access's offset.
    fn place(&mut self, space: MemorySpace, word: u32) -> (Value, u32) {
        let base = match space {
            MemorySpace::Private(0) => self.b.u32(0),
            MemorySpace::Private(_) => return (self.index(), (WORDS + word % 4) * 4),
            MemorySpace::Shared => self.own_shared,
            _ => self.own,
        };
        if self.chance(2) {
            return (base, word * 4);
        }
        let four = self.b.u32(word * 4);
        let op = self.one_of(&[BinOp::Add, BinOp::Or]);
        (self.b.bin(op, Scalar::U32, base, four), 0)
    }

    /// The byte offset of one of the first four words, at run time or constant.
    fn index(&mut self) -> Value {
        let number = self.operand(Scalar::U32, true);
        let (three, two) = (self.b.u32(3), self.b.u32(2));
        let word = self.b.bin(BinOp::And, Scalar::U32, number.value, three);
        self.b.bin(BinOp::Shl, Scalar::U32, word, two)
    }

    fn load(&mut self) {
        let private = MemorySpace::Private(self.below(2));
        let spaces = [MemorySpace::Buffer(0), MemorySpace::Buffer(1), MemorySpace::Shared, private];
        let space = self.one_of(&spaces);
        let word = self.below(WORDS - 1);
        let components = self.one_of(&[1, 1, 2]);
        let (address, offset) = self.place(space, word);
        let values = self.b.load(MemoryAccess::words(space, offset, components), address);
        for value in values {
            let scalar = self.one_of(&[Scalar::U32, Scalar::I32]);
            self.add(scalar, value, space == MemorySpace::Buffer(0));
        }
    }

    pub fn store_something(&mut self, space: MemorySpace, word: u32) {
        let scalar = self.one_of(&[Scalar::U32, Scalar::I32, Scalar::F32]);
        let value = self.operand(scalar, false);
        let (address, offset) = self.place(space, word);
        self.b.store(MemoryAccess::words(space, offset, 1), address, &[value.value]);
    }

    fn types(&mut self) -> Vec<Scalar> {
        let count = self.below(3);
        (0..count).map(|_| self.one_of(&SCALARS)).collect()
    }

    /// Values of these types.
    fn gather(&mut self, scalars: &[Scalar], defined: bool) -> Vec<Value> {
        scalars.iter().map(|scalar| self.operand(*scalar, defined).value).collect()
    }

    fn nested(&mut self, block: BlockId, write: impl FnOnce(&mut Generator)) {
        let (outer, visible) = (self.b.switch_to(block), self.values.len());
        self.depth += 1;
        write(self);
        self.depth -= 1;
        self.values.truncate(visible);
        self.b.switch_to(outer);
    }

    /// Ends a block with its usual terminator, unless it has one.
    fn end(&mut self, op: Op, scalars: &[Scalar]) {
        if !self.b.is_terminated() {
            let values = self.gather(scalars, true);
            self.b.effect(op, &values);
        }
    }

    fn add_results(&mut self, inst: crate::kernel::InstId, scalars: &[Scalar]) {
        let results: Vec<Value> = self.b.kernel.results(inst).collect();
        for (scalar, value) in scalars.iter().zip(results) {
            self.add(*scalar, value, true);
        }
    }

    fn branch(&mut self) {
        let condition = self.operand(Scalar::BOOL, true);
        let scalars = self.types();
        let tys: Vec<Ty> = scalars.iter().map(|scalar| Ty::of(*scalar)).collect();
        let (then, otherwise) = (self.b.kernel.add_block(&[]), self.b.kernel.add_block(&[]));
        let inst = self.b.inst(Op::If { then, otherwise }, &[condition.value], &tys);
        for block in [then, otherwise] {
            let count = self.below(5);
            self.nested(block, |g| {
                g.statements(count);
                g.end(Op::Yield, &scalars);
            });
        }
        self.add_results(inst, &scalars);
    }

    fn scope(&mut self) {
        let scalars = self.types();
        let tys: Vec<Ty> = scalars.iter().map(|scalar| Ty::of(*scalar)).collect();
        let body = self.b.kernel.add_block(&[]);
        let inst = self.b.inst(Op::Scope { body }, &[], &tys);
        self.targets.push(Leavable { inst, results: scalars.clone(), counter: None });
        self.nested(body, |g| {
            g.statements(6);
            g.end(Op::Yield, &scalars);
        });
        self.targets.pop();
        self.add_results(inst, &scalars);
    }

    /// Conditionally leaves a construct, continues to a loop's next iteration, or ends the invocation.
    fn leave(&mut self) {
        let condition = self.operand(Scalar::BOOL, true);
        let (then, otherwise) = (self.b.kernel.add_block(&[]), self.b.kernel.add_block(&[]));
        self.b.inst(Op::If { then, otherwise }, &[condition.value], &[]);
        let at = self.below(self.targets.len() as u32) as usize;
        let target = self.targets[at].clone();
        self.nested(then, |g| {
            let count = g.below(4);
            g.statements(count);
            g.jump(&target);
        });
        self.nested(otherwise, |g| g.end(Op::Yield, &[]));
    }

    /// A jump to a construct's end or next iteration, or out of the kernel.
    fn jump(&mut self, target: &Leavable) {
        match target.counter {
            _ if self.chance(8) => self.end(Op::Return, &[]),
            Some(counter) if self.chance(2) => {
                let rest = self.gather(&target.results, true);
                let args: Vec<Value> = [counter].into_iter().chain(rest).collect();
                self.b.effect(Op::Continue(target.inst), &args);
            }
            _ => self.end(Op::Exit(target.inst), &target.results),
        }
    }

    /// A loop with a counter, which ends at a constant or at a number that depends on the invocation.
    fn counted_loop(&mut self) {
        self.loop_of(|g| g.statements(6));
    }

    /// A loop with the given statements.
    pub(super) fn loop_of(&mut self, write: impl FnOnce(&mut Generator)) {
        let scalars = self.types();
        let with_counter: Vec<Scalar> = [Scalar::U32].iter().chain(&scalars).copied().collect();
        let tys: Vec<Ty> = with_counter.iter().map(|scalar| Ty::of(*scalar)).collect();
        let limit = self.limit();
        let (body, continuing) = (self.b.kernel.add_block(&tys), self.b.kernel.add_block(&tys));
        let initial: Vec<Value> = [self.b.u32(0)].into_iter().chain(self.gather(&scalars, true)).collect();
        let inst = self.b.inst(Op::Loop { body, continuing }, &initial, &tys[1..]);
        let counter = Some(self.b.kernel.blocks[body].params[0]);
        self.targets.push(Leavable { inst, results: scalars.clone(), counter });
        self.nested(body, |g| g.round(body, inst, limit, &scalars, write));
        self.targets.last_mut().expect("it was pushed").counter = None;
        self.nested(continuing, |g| g.next_round(continuing, &scalars));
        self.targets.pop();
        self.add_results(inst, &scalars);
    }

    fn limit(&mut self) -> Value {
        let rounds = 1 + self.below(4);
        if self.chance(2) {
            return self.b.u32(rounds);
        }
        let (value, most) = (self.operand(Scalar::U32, true).value, self.b.u32(3));
        self.b.bin(BinOp::And, Scalar::U32, value, most)
    }

    fn round(
        &mut self,
        body: BlockId,
        inst: crate::kernel::InstId,
        limit: Value,
        scalars: &[Scalar],
        write: impl FnOnce(&mut Generator),
    ) {
        let params = self.b.kernel.blocks[body].params.clone();
        let more = self.b.cmp(CmpOp::Lt, Scalar::U32, params[0], limit);
        let (then, otherwise) = (self.b.kernel.add_block(&[]), self.b.kernel.add_block(&[]));
        self.b.inst(Op::If { then, otherwise }, &[more], &[]);
        self.nested(then, |g| g.end(Op::Yield, &[]));
        self.nested(otherwise, |g| {
            g.b.effect(Op::Exit(inst), &params[1..]);
        });
        self.values.push(Known { scalar: Scalar::U32, value: params[0], defined: true });
        for (scalar, param) in scalars.iter().zip(&params[1..]) {
            self.add(*scalar, *param, true);
        }
        write(self);
        if !self.b.is_terminated() {
            let rest = self.gather(scalars, true);
            let args: Vec<Value> = params[..1].iter().copied().chain(rest).collect();
            self.b.effect(Op::Continue(inst), &args);
        }
    }

    fn next_round(&mut self, continuing: BlockId, scalars: &[Scalar]) {
        let params = self.b.kernel.blocks[continuing].params.clone();
        for (scalar, param) in scalars.iter().zip(&params[1..]) {
            self.add(*scalar, *param, true);
        }
        let one = self.b.u32(1);
        let next = self.b.bin(BinOp::Add, Scalar::U32, params[0], one);
        let leave = if self.chance(3) { self.operand(Scalar::BOOL, true).value } else { self.b.bool(false) };
        let (again, results) = (self.gather(scalars, true), self.gather(scalars, true));
        let args: Vec<Value> = [leave, next].into_iter().chain(again).chain(results).collect();
        self.b.effect(Op::Repeat, &args);
    }
}
