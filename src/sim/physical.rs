//! Memory by address. Buffers are at multiples of 4 GiB, in the order of the kernel's list; nothing else has an
//! address. An access visits the buffers that its lanes address one after the other.

use super::fault::{AccessKind, FaultKind, Use};
use super::group::Env;
use super::program::Inst;
use super::straight::Outcome;
use super::wave::{Wave, lanes_of};
use crate::kernel::{MemoryAccess, MemorySpace};
use smallvec::SmallVec;

/// Bits of an address that count the bytes of a buffer.
const BYTE_BITS: u32 = 32;

/// The address of the first byte of a buffer, by its index in [`crate::kernel::Kernel::buffers`].
pub const fn address_of(buffer: usize) -> u64 {
    (buffer as u64 + 1) << BYTE_BITS
}

/// The buffer at an address.
fn buffer_at(address: u64, buffers: usize) -> Option<u32> {
    let number = (address >> BYTE_BITS).checked_sub(1)?;
    u32::try_from(number).ok().filter(|number| (*number as usize) < buffers)
}

impl Wave {
    /// Performs an access by address: `act` performs it on one buffer, for the active lanes.
    pub(super) fn by_address(
        &mut self,
        env: &mut Env,
        inst: &Inst,
        (kind, access): (AccessKind, MemoryAccess),
        act: impl Fn(&mut Wave, &mut Env, &Inst, MemoryAccess) -> Outcome,
    ) -> Outcome {
        let row = env.program.args(inst)[0];
        let undefined = self.undefined_in(row);
        if undefined != 0 {
            return Err(env.fault(self, FaultKind::Undefined(Use::Address), inst.span, undefined));
        }
        let all = self.active;
        let results = inst.out as usize..inst.out as usize + inst.results as usize;
        let mut unknown: SmallVec<[u64; 4]> = SmallVec::from_elem(0, results.len());
        let mut rest = all;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let address = self.row(row)[lane].wrapping_add(access.offset.into());
            let Some(buffer) = buffer_at(address, env.buffers.len()) else {
                let access = env.access(kind, access, address);
                return Err(env.fault(self, FaultKind::OutOfRange(access), inst.span, 1 << lane));
            };
            let high = self.row(row)[lane] >> BYTE_BITS;
            let group = lanes_of(rest).filter(|lane| self.row(row)[*lane] >> BYTE_BITS == high);
            self.active = group.fold(0, |lanes, lane| lanes | 1 << lane);
            rest &= !self.active;
            let done = act(self, env, inst, MemoryAccess { space: MemorySpace::Buffer(buffer), ..access });
            let lanes = std::mem::replace(&mut self.active, all);
            done?;
            unknown.iter_mut().zip(&self.undefined[results.clone()]).for_each(|(all, own)| *all |= own & lanes);
        }
        self.undefined[results].copy_from_slice(&unknown);
        Ok(())
    }
}
