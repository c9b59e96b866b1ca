//! Cycles from the issue of an instruction to the issue of a reader of its result, one row per generation.
//!
//! Sources: the wave issue rules in AMD's GCN 3 and RDNA 2 to 4 ISA guides, and ACO's figures for run-time estimates
//! (`aco_statistics`). Memory latencies are rough averages: they only decide what to start early.

use crate::backend::amd::arch::{Arch, Generation};

/// One generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Latencies {
    /// Cycles from one vector instruction of a wave to the next one, for 32 or for 64 lanes.
    issue: [u32; 2],
    /// Cycles from a scalar instruction to the next one.
    pub scalar_issue: u32,
    pub vector: u32,
    pub transcendental: u32,
    /// Latency of a scalar register or mask that the vector unit writes.
    pub vector_to_scalar: u32,
    pub scalar: u32,
    /// Workgroup memory and its crossbar.
    pub shared: u32,
    pub scalar_load: u32,
    pub memory: u32,
}

/// A wave issues an instruction every four cycles, which completes by then.
const GCN: Latencies = Latencies {
    issue: [4, 4],
    scalar_issue: 4,
    vector: 4,
    transcendental: 4,
    vector_to_scalar: 8,
    scalar: 4,
    shared: 64,
    scalar_load: 200,
    memory: 400,
};
const RDNA: Latencies = Latencies {
    issue: [1, 2],
    scalar_issue: 1,
    vector: 5,
    transcendental: 10,
    vector_to_scalar: 8,
    scalar: 2,
    shared: 64,
    scalar_load: 200,
    memory: 320,
};

impl Latencies {
    /// The latencies of a generation.
    pub const fn of(generation: Generation) -> &'static Latencies {
        const ROWS: [Latencies; 6] = [GCN, GCN, GCN, RDNA, RDNA, RDNA];
        &ROWS[generation as usize]
    }

    /// Cycles of a vector instruction for a whole wave.
    pub const fn vector_issue(&self, arch: &Arch) -> u32 {
        self.issue[(arch.wave / 64) as usize]
    }
}
