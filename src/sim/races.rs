//! Data races in workgroup memory: two waves access a byte, at least one of them writes it, and no barrier orders the
//! accesses.
//!
//! The lanes of a wave run in lockstep, so they do not race with each other. Atomic operations do not race with each
//! other, and a store that leaves the byte as it is races with nothing: every order of the accesses gives the same.
//! Only the first [`OBSERVED`] bytes are observed.

use crate::source::Span;
use std::ops::Range;

/// Bytes of workgroup memory that are observed, more than any GPU has.
const OBSERVED: usize = 1 << 20;

/// The last access of a kind to a byte.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// Number of the phase that it belongs to; 0 before the first.
    phase: u32,
    /// Number of the wave, or [`SEVERAL`].
    wave: u32,
    span: Span,
}

/// Stands for more than one wave.
const SEVERAL: u32 = u32::MAX;

/// How bytes are accessed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    /// A store that changes them.
    Write,
    Atomic,
}

/// The accesses of a workgroup since its last barrier.
pub(super) struct Races {
    phase: u32,
    /// For each byte the last access of each [`Touch`].
    bytes: Vec<[Mark; 3]>,
}

impl Races {
    /// Observes memory of this many bytes.
    pub fn new(bytes: usize) -> Races {
        Races { phase: 0, bytes: vec![Default::default(); bytes.min(OBSERVED)] }
    }

    /// Orders all accesses so far before those that follow.
    pub fn order(&mut self) {
        self.phase += 1;
    }

    /// Adds an access of a wave. Returns the place of an access that races with it.
    pub fn touch(&mut self, at: Range<usize>, touch: Touch, wave: u32, span: Span) -> Option<Span> {
        let own = Mark { phase: self.phase, wave, span };
        let others: &[Touch] = match touch {
            Touch::Read => &[Touch::Write, Touch::Atomic],
            Touch::Write => &[Touch::Read, Touch::Write, Touch::Atomic],
            Touch::Atomic => &[Touch::Read, Touch::Write],
        };
        for marks in self.bytes.get_mut(at)? {
            let races = |other: &&Touch| {
                let mark = marks[**other as usize];
                mark.phase == own.phase && mark.wave != own.wave
            };
            if let Some(other) = others.iter().find(races) {
                return Some(marks[*other as usize].span);
            }
            let mark = &mut marks[touch as usize];
            let is_shared = mark.phase == own.phase && mark.wave != own.wave;
            *mark = Mark { wave: if is_shared { SEVERAL } else { own.wave }, ..own };
        }
        None
    }
}
