//! Cache invalidations that do not have the intended effect.

use super::super::inst::{Inst, Unit};

/// The stale values that a wave's loads may still find in caches.
#[derive(Default)]
pub struct Caches {
    /// The outer cache was invalidated after the inner one, which may have been refilled from it in between.
    inner: bool,
    /// An invalidation preceded a barrier without a load in between: values that other waves bring into the cache
    /// before the barrier stay there.
    barrier: bool,
    /// There was no load since the last invalidation.
    unused: bool,
}

impl Caches {
    pub fn check(&self, inst: &Inst) -> Result<(), String> {
        if !reads_cache(inst) {
            return Ok(());
        }
        match (self.inner, self.barrier) {
            (true, _) => Err("BUFFER_GL1_INV comes after BUFFER_GL0_INV".to_owned()),
            (_, true) => Err("the cache is invalidated before the barrier and not after it".to_owned()),
            _ => Ok(()),
        }
    }

    pub fn record(&mut self, inst: &Inst) {
        match &inst.name[..] {
            "buffer_gl1_inv" => self.inner = true,
            "buffer_gl0_inv" | "buffer_wbinvl1" | "buffer_wbinvl1_vol" | "buffer_inv" | "global_inv" => {
                *self = Self { unused: true, ..Self::default() };
            }
            "s_barrier" | "s_barrier_wait" => self.barrier |= self.unused,
            _ if reads_cache(inst) => self.unused = false,
            _ => {}
        }
    }
}

/// Returns true for loads. Atomic operations run in the L2 cache, which has no stale values.
fn reads_cache(inst: &Inst) -> bool {
    matches!(inst.unit, Unit::Vmem | Unit::Flat) && !inst.writes.is_empty() && !inst.name.contains("_atomic_")
}
