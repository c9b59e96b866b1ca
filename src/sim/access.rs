//! Loads, stores and atomic operations of the active lanes, in ascending order.
//!
//! Undefined values stay undefined in private and workgroup memory. A buffer accepts them only if the run allows it.

use super::fault::{AccessKind, Fault, FaultKind, Use};
use super::group::Env;
use super::memory::Memory;
use super::program::{Inst, RowIndex};
use super::races::{Races, Touch};
use super::straight::Outcome;
use super::wave::{Wave, lanes_of};
use crate::ir::{AtomicOp, Scalar};
use crate::kernel::arith;
use crate::kernel::{BinOp, MemoryAccess, MemorySpace};
use crate::source::Span;

/// The memory that an access may touch, the same for all lanes.
#[derive(Clone, Copy)]
struct Reach {
    access: MemoryAccess,
    /// Bytes of a lane's memory.
    size: usize,
    /// Bytes between the memories of consecutive lanes.
    stride: usize,
}

impl Reach {
    fn new(env: &Env, access: MemoryAccess) -> Reach {
        let size = match access.space {
            MemorySpace::Buffer(n) => env.buffers[n as usize].len(),
            MemorySpace::Push => env.push.len(),
            MemorySpace::Shared => env.shared.len(),
            MemorySpace::Private(_) => env.program.kernel.private_bytes as usize,
            MemorySpace::Physical => 0,
        };
        let stride = if matches!(access.space, MemorySpace::Private(_)) { size } else { 0 };
        Reach { access, size, stride }
    }

    /// The first byte from the start of a lane's memory; it wraps at 32 bits, as an address does.
    fn offset(self, address: u64) -> u32 {
        (address as u32).wrapping_add(self.access.offset)
    }

    fn is_inside(self, offset: u32) -> bool {
        offset as usize + self.bytes() * usize::from(self.access.components) <= self.size
    }

    fn is_aligned(self, offset: u32) -> bool {
        offset.is_multiple_of(self.access.align.max(1))
    }

    /// Place of a lane's first byte; `None` if the access is out of range or misaligned.
    fn place(self, lane: usize, address: u64) -> Option<usize> {
        let offset = self.offset(address);
        (self.is_inside(offset) && self.is_aligned(offset)).then_some(lane * self.stride + offset as usize)
    }

    /// Notes that a wave touches `count` components from a place on. Returns an access that races with it.
    fn touch(
        self,
        races: &mut Races,
        (at, count): (usize, usize),
        touch: Touch,
        (wave, inst): (u32, &Inst),
    ) -> Option<Span> {
        let is_shared = self.access.space == MemorySpace::Shared;
        is_shared.then(|| races.touch(at..at + count * self.bytes(), touch, wave, inst.span))?
    }

    /// Bytes of a component.
    fn bytes(self) -> usize {
        self.access.bytes.into()
    }

    /// Why a lane's access is impossible.
    fn fault(self, env: &Env, wave: &Wave, inst: &Inst, kind: AccessKind, lane: usize) -> Box<Fault> {
        let offset = self.offset(wave.row(env.program.args(inst)[0])[lane]);
        let access = env.access(kind, self.access, offset.into());
        let kind = match self.is_inside(offset) {
            true => FaultKind::Misaligned(access, self.access.align),
            false => FaultKind::OutOfRange(access),
        };
        env.fault(wave, kind, inst.span, 1 << lane)
    }
}

/// The memory of an address space; `private` is the wave's.
fn memory<'a>(buffers: &'a mut [Memory], env: [&'a mut Memory; 3], space: MemorySpace) -> &'a mut Memory {
    let [push, shared, private] = env;
    match space {
        MemorySpace::Buffer(n) => &mut buffers[n as usize],
        MemorySpace::Push => push,
        MemorySpace::Shared => shared,
        MemorySpace::Private(_) | MemorySpace::Physical => private,
    }
}

impl Wave {
    fn check_address(&self, env: &Env, inst: &Inst) -> Outcome {
        match self.undefined_in(env.program.args(inst)[0]) {
            0 => Ok(()),
            lanes => Err(env.fault(self, FaultKind::Undefined(Use::Address), inst.span, lanes)),
        }
    }

    /// Buffers are visible to the caller, so nothing undefined gets there unless requested.
    fn check_values(&self, env: &Env, inst: &Inst, values: &[RowIndex], space: MemorySpace) -> Outcome {
        let lanes = values.iter().fold(0, |all, row| all | self.undefined_in(*row));
        match space {
            MemorySpace::Buffer(_) if lanes != 0 && !env.keeps_undefined => {
                Err(env.fault(self, FaultKind::Undefined(Use::Memory), inst.span, lanes))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn load(&mut self, env: &mut Env, inst: &Inst, access: MemoryAccess) -> Outcome {
        self.check_address(env, inst)?;
        let (reach, address) = (Reach::new(env, access), env.program.args(inst)[0]);
        let (size, out) = (self.size, inst.out as usize);
        let memory = memory(env.buffers, [&mut env.push, &mut env.shared, &mut self.private], access.space);
        let (before, after) = self.rows.split_at_mut(out * size);
        let addresses = &before[address as usize * size..][..size];
        self.undefined[out..][..inst.results as usize].fill(0);
        for lane in lanes_of(self.active) {
            let Some(at) = reach.place(lane, addresses[lane]) else {
                return Err(reach.fault(env, self, inst, AccessKind::Load, lane));
            };
            let components = (at, inst.results as usize);
            if let Some(other) = reach.touch(&mut env.races, components, Touch::Read, (self.index, inst)) {
                return Err(env.race(self, inst, lane, other));
            }
            for n in 0..inst.results as usize {
                let at = at + n * reach.bytes();
                after[n * size + lane] = memory.read(at, reach.bytes());
                self.undefined[out + n] |= u64::from(memory.is_undefined(at, reach.bytes())) << lane;
            }
        }
        Ok(())
    }

    pub(super) fn store(&mut self, env: &mut Env, inst: &Inst, access: MemoryAccess) -> Outcome {
        let args = env.program.args(inst);
        self.check_address(env, inst)?;
        self.check_values(env, inst, &args[1..], access.space)?;
        let (reach, size) = (Reach::new(env, access), self.size);
        let memory = memory(env.buffers, [&mut env.push, &mut env.shared, &mut self.private], access.space);
        for lane in lanes_of(self.active) {
            let Some(at) = reach.place(lane, self.rows[args[0] as usize * size + lane]) else {
                return Err(reach.fault(env, self, inst, AccessKind::Store, lane));
            };
            for (n, row) in args[1..].iter().enumerate() {
                let undefined = self.undefined[*row as usize] >> lane & 1 != 0;
                let value = self.rows[*row as usize * size + lane];
                let at = at + n * reach.bytes();
                if !memory.holds(at, reach.bytes(), value, undefined)
                    && let Some(other) = reach.touch(&mut env.races, (at, 1), Touch::Write, (self.index, inst))
                {
                    return Err(env.race(self, inst, lane, other));
                }
                memory.write(at, reach.bytes(), value, undefined);
            }
        }
        Ok(())
    }

    pub(super) fn atomic(
        &mut self,
        env: &mut Env,
        inst: &Inst,
        op: AtomicOp,
        ty: Scalar,
        access: MemoryAccess,
    ) -> Outcome {
        let args = env.program.args(inst);
        self.check_address(env, inst)?;
        self.check_values(env, inst, &args[1..], access.space)?;
        let (reach, size, bytes) = (Reach::new(env, access), self.size, usize::from(access.bytes));
        let memory = memory(env.buffers, [&mut env.push, &mut env.shared, &mut self.private], access.space);
        let mut undefined = 0;
        for lane in lanes_of(self.active) {
            let value = |n: usize| args.get(n).map_or(0, |row| self.rows[*row as usize * size + lane]);
            let Some(at) = reach.place(lane, value(0)) else {
                return Err(reach.fault(env, self, inst, AccessKind::Atomic, lane));
            };
            if let Some(other) = reach.touch(&mut env.races, (at, 1), Touch::Atomic, (self.index, inst)) {
                return Err(env.race(self, inst, lane, other));
            }
            let operands = args[1..].iter().fold(0, |all, row| all | self.undefined[*row as usize]) >> lane & 1;
            let (old, unknown) = (memory.read(at, bytes), memory.is_undefined(at, bytes));
            if let Some(new) = updated(op, ty, old, [value(1), value(2)]) {
                memory.write(at, bytes, new, operands != 0 || unknown && reads(op));
            }
            undefined |= u64::from(unknown) << lane;
            if inst.results > 0 {
                self.rows[inst.out as usize * size + lane] = old;
            }
        }
        if inst.results > 0 {
            self.undefined[inst.out as usize] = undefined;
        }
        Ok(())
    }
}

/// Returns true if the result of an atomic operation depends on the old value.
fn reads(op: AtomicOp) -> bool {
    !matches!(op, AtomicOp::Store | AtomicOp::Exchange)
}

/// The value that an atomic operation writes, if any.
fn updated(op: AtomicOp, ty: Scalar, old: u64, [value, compared]: [u64; 2]) -> Option<u64> {
    let op = match op {
        AtomicOp::Load => return None,
        AtomicOp::Store | AtomicOp::Exchange => return Some(value),
        AtomicOp::CompareExchange => return Some(if old == compared { value } else { old }),
        AtomicOp::Add => BinOp::Add,
        AtomicOp::Sub => BinOp::Sub,
        AtomicOp::Min => BinOp::Min,
        AtomicOp::Max => BinOp::Max,
        AtomicOp::And => BinOp::And,
        AtomicOp::Or => BinOp::Or,
        AtomicOp::Xor => BinOp::Xor,
    };
    let mut new = [0];
    arith::bin(op, ty, &mut new, &[old], &[value]);
    Some(new[0])
}
