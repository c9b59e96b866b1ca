//! Straight-line instructions on the rows of one wave: arithmetic, facts, and calls of the modules for the others.
//!
//! Pure operations run on all lanes, active or not; the results of inactive lanes are never read.

use super::fault::{AccessKind, Fault, FaultKind};
use super::group::Env;
use super::program::{Inst, RowIndex};
use super::wave::{Wave, lanes_of, low_lanes};
use crate::ir::BuiltIn;
use crate::kernel::arith::{self, compute};
use crate::kernel::{BinOp, MemorySpace, Op};
use crate::lane::eval::compares;
use crate::lane::{LaneFact, ReduceOp};

/// Nothing, or the fault that ends the run.
pub(super) type Outcome = Result<(), Box<Fault>>;

impl Wave {
    /// Runs one straight-line instruction on the active lanes.
    pub(super) fn straight(&mut self, env: &mut Env, inst: &Inst, op: Op) -> Outcome {
        match op {
            Op::Load(access) if access.space == MemorySpace::Physical => {
                return self.by_address(env, inst, (AccessKind::Load, access), Wave::load);
            }
            Op::Store(access) if access.space == MemorySpace::Physical => {
                return self.by_address(env, inst, (AccessKind::Store, access), Wave::store);
            }
            Op::Atomic { op, ty, access, .. } if access.space == MemorySpace::Physical => {
                let act = |wave: &mut Wave, env: &mut Env, inst: &Inst, to| wave.atomic(env, inst, op, ty, to);
                return self.by_address(env, inst, (AccessKind::Atomic, access), act);
            }
            Op::Load(access) => return self.load(env, inst, access),
            Op::Store(access) => return self.store(env, inst, access),
            Op::Atomic { op, ty, access, .. } => return self.atomic(env, inst, op, ty, access),
            op if op.is_cross_lane() => return self.across(env, inst, op),
            Op::Select => self.select(env.program.args(inst), inst.out),
            Op::BuiltIn(builtin, component) => self.builtin(env, inst.out, builtin, component),
            Op::BufferBytes(n) => {
                let bytes = env.buffers.get(n as usize).map_or(0, |buffer| buffer.len());
                self.fill(inst.out, |_| bytes as u32 as u64);
            }
            Op::Fact(fact) => self.fact(inst.out, fact),
            _ => self.arithmetic(env.program.args(inst), inst.out, op),
        }
        Ok(())
    }

    /// One value per lane, defined in all lanes.
    fn fill(&mut self, out: RowIndex, value: impl Fn(u32) -> u64) {
        let at = out as usize * self.size;
        for (lane, bits) in self.rows[at..at + self.size].iter_mut().enumerate() {
            *bits = value(lane as u32);
        }
        self.undefined[out as usize] = 0;
    }

    /// An operation that is a formula of its operands in each lane.
    fn arithmetic(&mut self, args: &[RowIndex], out: RowIndex, op: Op) {
        let size = self.size;
        let (before, after) = self.rows.split_at_mut(out as usize * size);
        let result = &mut after[..size];
        let row = |n: usize| &before[args[n] as usize * size..][..size];
        let made = compute(op, result, row);
        let undefined = args.iter().fold(made, |all, row| all | self.undefined[*row as usize]);
        self.undefined[out as usize] = undefined;
        if undefined != 0 {
            self.absorb(args, out, op);
        }
    }

    /// An operand of `And` or `Or` that decides the result alone hides an undefined other operand.
    fn absorb(&mut self, args: &[RowIndex], out: RowIndex, op: Op) {
        let decides = match op {
            Op::Bin(BinOp::And, _) => 0,
            Op::Bin(BinOp::Or, ty) => arith::identity(ReduceOp::And, ty),
            _ => return,
        };
        for lane in lanes_of(self.undefined[out as usize] & low_lanes(self.size as u32)) {
            let at = |row: &RowIndex| (self.undefined[*row as usize] >> lane & 1, self.row(*row)[lane]);
            if args.iter().any(|row| at(row) == (0, decides)) {
                self.rows[out as usize * self.size + lane] = decides;
                self.undefined[out as usize] &= !(1 << lane);
            }
        }
    }

    fn select(&mut self, args: &[RowIndex], out: RowIndex) {
        let size = self.size;
        let (before, after) = self.rows.split_at_mut(out as usize * size);
        let row = |n: usize| &before[args[n] as usize * size..][..size];
        let (condition, accept, reject) = (row(0), row(1), row(2));
        let mut accepted = 0;
        for (lane, out) in after[..size].iter_mut().enumerate() {
            *out = if condition[lane] != 0 { accept[lane] } else { reject[lane] };
            accepted |= (condition[lane] & 1) << lane;
        }
        let of = |n: usize| self.undefined[args[n] as usize];
        self.undefined[out as usize] = of(0) | of(1) & accepted | of(2) & !accepted;
    }

    fn builtin(&mut self, env: &Env, out: RowIndex, builtin: BuiltIn, component: u8) {
        let kernel = env.program.kernel;
        let (n, size, [x, y, _]) = (usize::from(component), self.size as u32, kernel.workgroup_size);
        let first = self.index * size;
        match builtin {
            BuiltIn::WorkgroupId => self.fill(out, |_| env.group[n].into()),
            BuiltIn::NumWorkgroups => self.fill(out, |_| env.groups[n].into()),
            BuiltIn::LocalInvocationIndex => self.fill(out, |lane| (first + lane).into()),
            BuiltIn::LocalInvocationId => self.fill(out, |lane| {
                let index = first + lane;
                [index % x, index / x % y, index / x / y][n].into()
            }),
            BuiltIn::SubgroupId => {
                let index = self.index;
                self.fill(out, |_| index.into());
            }
            BuiltIn::NumSubgroups => self.fill(out, |_| kernel.invocations().div_ceil(size).into()),
            // These do not occur in kernels.
            _ => self.undefined[out as usize] = u64::MAX,
        }
    }

    fn fact(&mut self, out: RowIndex, fact: LaneFact) {
        let size = self.size as u32;
        match fact {
            LaneFact::Index => self.fill(out, |lane| lane.into()),
            LaneFact::Size => self.fill(out, |_| size.into()),
            LaneFact::InSet(set) => self.fill(out, |lane| set >> lane & 1),
            LaneFact::Mask(op) => self.fill(out, |lane| {
                (0..size).fold(0, |mask, other| mask | u64::from(compares(op, other, lane)) << other)
            }),
        }
    }

    fn across(&mut self, env: &mut Env, inst: &Inst, op: Op) -> Outcome {
        if !env.lanes.run(env.program, self, inst, op) {
            return Err(env.fault(self, FaultKind::Malformed(format!("{op:?}").into()), inst.span, self.active));
        }
        if let Some(watch) = &mut env.watch {
            watch.keep(env.program, self, env.group, inst, op);
        }
        Ok(())
    }
}
