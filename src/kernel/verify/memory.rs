//! Accesses to memory.

use super::operation::Signature;
use super::{Check, Verifier, ensure};
use crate::ir::{AtomicOp, Scalar};
use crate::kernel::{InstId, MemoryAccess, MemorySpace, Op, Ty};

/// The effect of an operation on memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Read,
    Write,
}

impl Verifier<'_> {
    pub fn memory(&self, op: Op) -> Check<Signature> {
        match op {
            Op::Load(access) => {
                self.access(access, Does::Read)?;
                Ok(Signature::new([address(access)], components(access)))
            }
            Op::Store(access) => {
                self.access(access, Does::Write)?;
                let args: Vec<Ty> = [address(access)].into_iter().chain(components(access)).collect();
                Ok(Signature::new(args, []))
            }
            Op::Atomic { op, ty, access, .. } => self.atomic(op, ty, access),
            Op::BufferBytes(buffer) => {
                ensure!((buffer as usize) < self.kernel.buffers.len(), "there is no buffer {buffer}");
                Ok(Signature::new([], [Ty::B32]))
            }
            _ => Err("it is not an access".to_owned()),
        }
    }

    fn atomic(&self, op: AtomicOp, ty: Scalar, access: MemoryAccess) -> Check<Signature> {
        self.access(access, if op == AtomicOp::Load { Does::Read } else { Does::Write })?;
        ensure!(access.components == 1 && u32::from(access.bytes) == ty.bytes(), "it is on more or less than a value");
        let shares = !matches!(access.space, MemorySpace::Private(_) | MemorySpace::Push);
        ensure!(shares, "this memory is not shared");
        ensure!(!ty.is_bool(), "it is on a bool");
        let values = match op {
            AtomicOp::Load => 0,
            AtomicOp::CompareExchange => 2,
            _ => 1,
        };
        let args: Vec<Ty> = [address(access)].into_iter().chain(vec![Ty::of(ty); values]).collect();
        let results = if op == AtomicOp::Store { vec![] } else { vec![Ty::of(ty)] };
        Ok(Signature::new(args, results))
    }

    /// Checks the alignment that an access to memory with our own layout assumes, if the address is a constant. The
    /// user is responsible for the addresses of other memory.
    pub(super) fn claim(&self, inst: InstId) -> Check {
        let (Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. }) = self.kernel.insts[inst].op else {
            return Ok(());
        };
        let is_own = matches!(access.space, MemorySpace::Private(_) | MemorySpace::Shared);
        let address = self.kernel.args(inst).first().and_then(|address| self.kernel.as_constant(*address));
        let Some(address) = address.filter(|_| is_own) else { return Ok(()) };
        let (byte, align) = ((address as u32).wrapping_add(access.offset), access.align);
        ensure!(byte.is_multiple_of(align), "byte {byte} is not a multiple of {align}, as it claims");
        Ok(())
    }

    fn access(&self, access: MemoryAccess, does: Does) -> Check {
        let MemoryAccess { bytes, components, align, .. } = access;
        ensure!(matches!(bytes, 1 | 2 | 4 | 8), "a component of {bytes} bytes");
        ensure!((1..=4).contains(&components), "{components} components");
        ensure!(align.is_power_of_two(), "an alignment of {align}");
        let is_writable = match access.space {
            MemorySpace::Buffer(buffer) => {
                let found = self.kernel.buffers.get(buffer as usize);
                let found = found.ok_or_else(|| format!("there is no buffer {buffer}"))?;
                found.is_writable()
            }
            MemorySpace::Push => false,
            MemorySpace::Private(variable) => {
                let found = self.kernel.private.get(variable as usize);
                let start = found.ok_or_else(|| format!("there is no variable {variable}"))?.start;
                ensure!(access.offset >= start, "offset {} is below the variable's start, {start}", access.offset);
                true
            }
            MemorySpace::Shared | MemorySpace::Physical => true,
        };
        ensure!(is_writable || does == Does::Read, "it writes to memory that is read-only");
        Ok(())
    }
}

/// Type of an address.
fn address(access: MemoryAccess) -> Ty {
    if access.space == MemorySpace::Physical { Ty::B64 } else { Ty::B32 }
}

fn components(access: MemoryAccess) -> Vec<Ty> {
    vec![access.component(); access.components.into()]
}
