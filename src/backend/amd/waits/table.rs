//! The counters: the events that each counts, its maximum, and the instruction that waits for it; one table per
//! generation.
//!
//! Sources: the counters in AMD's ISA guides (GCN 3, Vega, RDNA 1 to 4) and LLVM's `SIInsertWaitcnts`; the cache
//! controls are from the memory models in LLVM's `AMDGPUUsage`.

use crate::backend::amd::arch::Arch;
use crate::backend::amd::machine::{Fence, Reach};
use crate::backend::amd::mnemonic::Operation;
use crate::profile::processor::Counters;

/// A pending event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Event {
    /// A load of the vector unit, or an atomic with a result.
    Load,
    Store,
    /// An access to workgroup memory or its crossbar.
    Lds,
    /// The share of a flat access that workgroup memory might have.
    Flat,
    ScalarLoad,
    /// Reading of the stored data.
    StoreData,
    /// A read of a texture through a sampler.
    Sample,
}

impl Event {
    pub const ALL: [Event; 7] =
        [Event::Load, Event::Store, Event::Lds, Event::Flat, Event::ScalarLoad, Event::StoreData, Event::Sample];

    /// Events of one class and counter complete in order; `None` if they do not.
    pub const fn class(self) -> Option<u8> {
        match self {
            Event::Load | Event::Store | Event::Sample => Some(0),
            Event::Lds => Some(1),
            Event::Flat => Some(2),
            Event::StoreData => Some(3),
            Event::ScalarLoad => None,
        }
    }
}

/// A counter of pending events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counter {
    /// Its field in instructions that wait for several counters.
    pub field: &'static str,
    /// The instruction that waits for it alone; `None` if there is only one for several.
    pub alone: Option<Operation>,
    /// Its largest value.
    pub max: u8,
}

/// How many counters there can be.
pub const COUNTERS: usize = 5;

/// One generation.
#[derive(Debug)]
pub struct Table {
    pub counters: &'static [Counter],
    /// The counter of each event, in the order of [`Event::ALL`].
    of: [Option<u8>; 7],
    /// Two counters that one instruction can wait for.
    pub fused: &'static [(u8, u8, Operation)],
    /// All must complete before a barrier: exceptions cannot be taken there (LLVM: no `FeatureBackOffBarrier`).
    pub barriers_wait: bool,
    /// The kinds of loads that write their results in issue order (LLVM: `FeatureVmemWriteVgprInOrder`, and
    /// `FeaturePointSampleAccel` for samples that become loads).
    pub in_order: &'static [Event],
    /// The instructions that write caches back, so that other waves see stores at each reach.
    write_back: [&'static [Operation]; 2],
    /// The instructions that make loads see the stores of other waves at each reach.
    invalidate: [&'static [Operation]; 2],
}

const fn old(field: &'static str, max: u8) -> Counter {
    Counter { field, alone: None, max }
}

const fn new(alone: Operation, max: u8) -> Counter {
    Counter { field: "", alone: Some(alone), max }
}

static GCN_COUNTERS: &[Counter] = &[old("vmcnt", 15), old("lgkmcnt", 15), old("expcnt", 7)];
static VEGA_COUNTERS: &[Counter] = &[old("vmcnt", 63), old("lgkmcnt", 15)];
static RDNA_COUNTERS: &[Counter] = &[old("vmcnt", 63), old("lgkmcnt", 63), new(Operation::WaitStores, 63)];
static RDNA4_COUNTERS: &[Counter] = &[
    new(Operation::WaitLoads, 63),
    new(Operation::WaitLdsCount, 63),
    new(Operation::WaitStores, 63),
    new(Operation::WaitScalarLoads, 31),
    new(Operation::WaitSamples, 63),
];

const VECTOR_CACHE: &[Operation] = &[Operation::InvalidateVectorCache];
/// The outer one first, because the inner one is filled from it.
const BOTH_CACHES: &[Operation] = &[Operation::InvalidateArrayCache, Operation::InvalidateVectorCache];

const GCN1: Table = Table {
    counters: GCN_COUNTERS,
    of: [Some(0), Some(0), Some(1), Some(1), Some(1), Some(2), Some(0)],
    fused: &[],
    barriers_wait: true,
    in_order: &[Event::Load, Event::Sample],
    write_back: [&[], &[]],
    invalidate: [&[], VECTOR_CACHE],
};
const GCN2: Table = Table { of: [Some(0), Some(0), Some(1), Some(1), Some(1), None, Some(0)], ..GCN1 };
const VEGA: Table = Table { counters: VEGA_COUNTERS, ..GCN2 };
const CDNA2: Table = Table { barriers_wait: false, ..VEGA };
const CDNA3: Table = Table {
    write_back: [&[], &[Operation::WriteBackSecondCache]],
    invalidate: [&[], &[Operation::InvalidateSecondCache]],
    ..CDNA2
};
const RDNA1: Table = Table {
    counters: RDNA_COUNTERS,
    of: [Some(0), Some(2), Some(1), Some(1), Some(1), None, Some(0)],
    invalidate: [VECTOR_CACHE, BOTH_CACHES],
    ..CDNA2
};
const RDNA35: Table = Table { in_order: &[Event::Load], ..RDNA1 };
const RDNA4: Table = Table {
    counters: RDNA4_COUNTERS,
    of: [Some(0), Some(2), Some(1), Some(1), Some(3), None, Some(4)],
    fused: &[(0, 1, Operation::WaitLoadsAndLds), (2, 1, Operation::WaitStoresAndLds)],
    in_order: &[],
    invalidate: [VECTOR_CACHE, &[Operation::InvalidateArrayCache]],
    ..RDNA1
};

impl Table {
    /// The table of a processor.
    pub fn of(arch: &Arch) -> &'static Table {
        match arch.processor.counters {
            Counters::Gcn1 => &GCN1,
            Counters::Gcn2 => &GCN2,
            Counters::Vega => &VEGA,
            Counters::Cdna2 => &CDNA2,
            Counters::Cdna3 => &CDNA3,
            Counters::Rdna1 => &RDNA1,
            Counters::Rdna35 => &RDNA35,
            Counters::Rdna4 => &RDNA4,
        }
    }

    pub const fn counter(&self, event: Event) -> Option<usize> {
        match self.of[event as usize] {
            Some(counter) => Some(counter as usize),
            None => None,
        }
    }

    /// The cache controls before the waits of a fence.
    pub fn write_back(&self, fence: &Fence) -> &'static [Operation] {
        at(fence.release.filter(|_| fence.buffers), self.write_back)
    }

    /// The cache controls that make other waves' stores visible to loads.
    pub fn invalidate(&self, reach: Option<Reach>) -> &'static [Operation] {
        at(reach, self.invalidate)
    }
}

fn at(reach: Option<Reach>, of: [&'static [Operation]; 2]) -> &'static [Operation] {
    match reach {
        None => &[],
        Some(Reach::Workgroup) => of[0],
        Some(Reach::Device) => of[1],
    }
}
