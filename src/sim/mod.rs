//! Runs a kernel on the CPU, wave by wave: waves of 1 to 64 lanes, any workgroup and grid.
//!
//! Invocation `n` of a workgroup is lane `n mod S` of wave `n div S`. Lanes diverge, and reconverge at the end of the
//! structure. The waves of a workgroup take turns from barrier to barrier, and workgroups run one after the other, so
//! that every run gives the same bits. Cross-lane operations run by their meaning or, after lowering, as primitives;
//! both use the functions that prove plans. Undefined values are tracked. A run ends with a [`Fault`] when an undefined
//! value reaches a buffer, a branch or an address, when an access is out of range, when only some invocations reach a
//! barrier, when two waves race in workgroup memory, and when a wave exceeds its instruction limit. Races in buffers are
//! not detected.

mod access;
mod fault;
mod group;
mod lanes;
mod memory;
mod physical;
mod program;
mod races;
mod straight;
#[cfg(test)]
mod tests;
mod watch;
mod wave;

pub use fault::{Access, AccessKind, Fault, FaultKind, Invocation, Use};
pub use lanes::{Bits, Datum};
pub use memory::Memory;
pub use physical::address_of;
pub use program::{MAX_WAVE, Program};
pub use watch::{Execution, Row};

/// The treatment of undefined values stored in buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Undefined {
    /// The run ends with a fault.
    #[default]
    Refuse,
    /// The bytes are marked ([`Memory::is_undefined`]).
    Keep,
}

/// The default instruction limit of a wave.
pub const MAX_STEPS: u64 = 50_000_000;

/// The dispatch to run.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// Workgroups in x, y and z.
    pub groups: [u32; 3],
    pub push: &'a [u8],
    /// Instructions that a wave may run before its loop counts as endless.
    pub max_steps: u64,
    pub undefined: Undefined,
    /// True if waves may race in workgroup memory. Otherwise the run ends with a fault.
    pub allow_races: bool,
}

impl Dispatch<'_> {
    /// A dispatch of this many workgroups, with default settings.
    pub fn new(groups: [u32; 3]) -> Dispatch<'static> {
        Dispatch { groups, push: &[], max_steps: MAX_STEPS, undefined: Undefined::Refuse, allow_races: false }
    }
}

impl Program<'_> {
    /// Runs the kernel over its buffers, which are in the order of [`crate::kernel::Kernel::buffers`].
    ///
    /// # Errors
    /// Returns the first error of the shader.
    ///
    /// # Panics
    /// When there are fewer buffers than the kernel has.
    pub fn run(&self, dispatch: &Dispatch, buffers: &mut [Memory]) -> Result<(), Box<Fault>> {
        assert!(buffers.len() >= self.kernel.buffers.len(), "every buffer of the kernel is needed");
        group::Env::new(self, dispatch, buffers).run()
    }
}
