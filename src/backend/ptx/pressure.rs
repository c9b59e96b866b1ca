//! The minimum number of registers of a kernel, and the number of workgroups that a multiprocessor should run at once.
//!
//! If there are loads to hoist, `ptxas` uses as many registers as `.reqntid` allows: up to 128 for a workgroup of 512.
//! Then one workgroup fills a multiprocessor, which idles while that waits at a barrier.

use super::isa::{REGISTERS, RESIDENT};
use crate::kernel::{BlockId, Def, Kernel, Op, Ty, Value};

/// The number of workgroups for `.minnctapersm`: two, if they fit with a register for each word; small ones fit anyway.
pub fn workgroups(kernel: &Kernel) -> Option<u32> {
    let invocations = AT_ONCE * kernel.invocations();
    let fits = (RESIDENT / 2..=RESIDENT).contains(&invocations);
    (fits && words(kernel) <= REGISTERS / invocations).then_some(AT_ONCE)
}

const AT_ONCE: u32 = 2;

/// The maximum number of words in live values.
///
/// Instructions are numbered in text order. A value is live from its definition to its last use, and to the end of the
/// loops around that use that do not contain the definition.
fn words(kernel: &Kernel) -> u32 {
    let mut walk =
        Walk { kernel, now: 0, loops: Vec::new(), lives: vec![Live { from: 0, to: 0 }; kernel.values.len()] };
    walk.block(kernel.body);
    walk.most()
}

#[derive(Clone, Copy)]
struct Live {
    from: u32,
    to: u32,
}

struct Walk<'k> {
    kernel: &'k Kernel,
    /// The number of the instruction.
    now: u32,
    /// The loops around it: their first numbers, and the values from outside that they use.
    loops: Vec<(u32, Vec<Value>)>,
    lives: Vec<Live>,
}

impl Walk<'_> {
    fn block(&mut self, block: BlockId) {
        let kernel = self.kernel;
        kernel.blocks[block].params.iter().for_each(|param| self.define(*param));
        for inst in &kernel.blocks[block].insts {
            self.now += 1;
            kernel.args(*inst).iter().for_each(|arg| self.read(*arg));
            let is_loop = matches!(kernel.insts[*inst].op, Op::Loop { .. });
            if is_loop {
                self.loops.push((self.now, Vec::new()));
            }
            if kernel.insts[*inst].op.is_structured() {
                kernel.inner_blocks(*inst).for_each(|inner| self.block(inner));
                self.now += 1;
            }
            if is_loop {
                let (_, used) = self.loops.pop().expect("it was pushed above");
                used.iter().for_each(|value| self.lives[value.index()].to = self.now);
            }
            kernel.results(*inst).for_each(|result| self.define(result));
        }
    }

    fn define(&mut self, value: Value) {
        self.lives[value.index()] = Live { from: self.now, to: self.now };
    }

    fn read(&mut self, value: Value) {
        if matches!(self.kernel.values[value].def, Def::Const(_) | Def::Undef) {
            return;
        }
        let live = &mut self.lives[value.index()];
        live.to = self.now;
        let around = self.loops.partition_point(|(start, _)| *start <= live.from);
        if let Some((_, used)) = self.loops.get_mut(around) {
            used.push(value);
        }
    }

    fn most(&self) -> u32 {
        let mut changes = vec![0_i32; self.now as usize + 2];
        for ((_, value), live) in self.kernel.values.iter().zip(&self.lives).filter(|(_, live)| live.from < live.to) {
            let words = words_of(value.ty);
            changes[live.from as usize] += words;
            changes[live.to as usize] -= words;
        }
        let mut alive = 0;
        changes
            .iter()
            .map(|change| {
                alive += change;
                alive
            })
            .max()
            .unwrap_or(0) as u32
    }
}

/// Number of 32-bit registers; predicates have separate ones.
const fn words_of(ty: Ty) -> i32 {
    match ty {
        Ty::Bool => 0,
        Ty::B16 | Ty::B32 | Ty::Mask => 1,
        Ty::B64 => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Scalar;
    use crate::kernel::{BinOp, Buffer, Builder, MemoryAccess, MemorySpace};

    fn builder(invocations: u32) -> Builder {
        let mut kernel = Kernel::new("main", [invocations, 1, 1]);
        kernel.buffers.push(Buffer::storage("data", 0));
        Builder::new(kernel)
    }

    fn load(b: &mut Builder, count: u32) -> Vec<Value> {
        let word = |n| MemoryAccess::words(MemorySpace::Buffer(0), 4 * n, 1);
        let address = b.u32(0);
        (0..count).flat_map(|n| b.load(word(n), address)).collect()
    }

    fn sum(b: &mut Builder, values: &[Value]) -> Value {
        let first = values[0];
        values[1..].iter().fold(first, |sum, value| b.bin(BinOp::Add, Scalar::U32, sum, *value))
    }

    #[test]
    fn values_that_are_loaded_before_their_sum_are_alive_at_once() {
        let mut b = builder(32);
        let values = load(&mut b, 9);
        sum(&mut b, &values);
        assert_eq!(words(&b.kernel), 9);
        let mut b = builder(32);
        for _ in 0..9 {
            let values = load(&mut b, 2);
            sum(&mut b, &values);
        }
        assert_eq!(words(&b.kernel), 2);
    }

    #[test]
    fn values_from_outside_live_as_long_as_the_loop_that_uses_them() {
        let mut b = builder(32);
        let outside = load(&mut b, 5);
        let (body, continuing) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
        let whole = b.inst(Op::Loop { body, continuing }, &[], &[]);
        b.switch_to(body);
        sum(&mut b, &outside);
        let inside = load(&mut b, 3);
        sum(&mut b, &inside);
        b.effect(Op::Continue(whole), &[]);
        assert_eq!(words(&b.kernel), 8);
    }

    #[test]
    fn large_workgroups_that_need_few_registers_come_in_twos() {
        let asked = |invocations: u32, values: u32| {
            let mut b = builder(invocations);
            let values = load(&mut b, values);
            sum(&mut b, &values);
            workgroups(&b.kernel)
        };
        assert_eq!(asked(512, 64), Some(2));
        assert_eq!(asked(512, 65), None);
        assert_eq!(asked(256, 128), Some(2));
        assert_eq!([asked(128, 8), asked(1024, 8)], [None; 2]);
    }
}
