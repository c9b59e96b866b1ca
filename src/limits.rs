//! Limits of a compilation, for programs that compile untrusted input.
//!
//! Work and memory are counted, not measured, so that the same input with the same options ends the same way
//! everywhere. A count that exceeds its limit unwinds to `crate::guard::bounded`, which reports it without running a
//! panic hook. Outside such a call there are no limits. If panics abort, a limit aborts the program with a panic that
//! names it.

use std::cell::Cell;
use std::{fmt, panic};

/// The limits of a compilation. Each default is far beyond what shaders need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of the shader and all files that it includes; a file counts each time it is included. The default and the
    /// maximum are [`SOURCE_LIMIT`](crate::source::SOURCE_LIMIT). E0002.
    pub source_bytes: u64,
    /// Files that may be included, each counted as often as it is included; by default 65,536. E0125.
    pub includes: usize,
    /// Files that may include each other, the shader among them; by default 64. E0118.
    pub include_depth: usize,
    /// Tokens that all macros together may expand to; by default 2^20. E0123.
    pub macro_tokens: usize,
    /// Steps of the compilation; by default 2^34. A step takes some nanoseconds: the work on one token, on one
    /// instruction in one pass, or on one pair of values that a register allocator compares. Work that several outputs
    /// of one [`Reading`](crate::compile::Reading) share counts for the first of them. E0901.
    pub steps: u64,
    /// Bytes of all tokens, instructions, operands and lines that a compilation creates, including those that it drops
    /// again; by default 2^33. Its peak memory is usually lower, and can be up to twice as high. E0902.
    pub memory: u64,
}

impl Limits {
    /// The default limits.
    pub const DEFAULT: Limits = Limits {
        source_bytes: crate::source::SOURCE_LIMIT,
        includes: 1 << 16,
        include_depth: 64,
        macro_tokens: 1 << 20,
        steps: 1 << 34,
        memory: 1 << 33,
    };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

/// Usage of a compilation's [`Limits`]: equal for equal input and options on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Taken {
    /// Steps, as [`Limits::steps`] counts them.
    pub steps: u64,
    /// Bytes, as [`Limits::memory`] counts them.
    pub memory: u64,
}

impl std::ops::Add for Taken {
    type Output = Taken;

    fn add(self, other: Taken) -> Taken {
        Taken { steps: self.steps + other.steps, memory: self.memory + other.memory }
    }
}

/// The limit that ended a compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exceeded {
    Steps(u64),
    Memory(u64),
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exceeded::Steps(limit) => write!(f, "the shader takes more than {limit} steps to compile"),
            Exceeded::Memory(limit) => write!(f, "the shader takes more than {limit} bytes of memory to compile"),
        }
    }
}

/// The limits of a compilation on steps and memory, and the remaining amounts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limits: (u64, u64),
    left: (u64, u64),
}

impl Budget {
    /// A budget that never runs out.
    const UNLIMITED: Budget = Budget { limits: (u64::MAX, u64::MAX), left: (u64::MAX, u64::MAX) };

    pub(crate) fn new(limits: Limits) -> Budget {
        let limits = (limits.steps, limits.memory);
        Budget { limits, left: limits }
    }

    /// The used part of the limits.
    pub(crate) fn taken(&self) -> Taken {
        Taken { steps: self.limits.0 - self.left.0, memory: self.limits.1 - self.left.1 }
    }
}

thread_local! {
    static LIMITS: Cell<(u64, u64)> = const { Cell::new(Budget::UNLIMITED.limits) };
    static STEPS: Cell<u64> = const { Cell::new(Budget::UNLIMITED.left.0) };
    static MEMORY: Cell<u64> = const { Cell::new(Budget::UNLIMITED.left.1) };
}

/// Gives this thread a budget and returns the previous one.
pub(crate) fn replace(budget: Budget) -> Budget {
    let left = (STEPS.replace(budget.left.0), MEMORY.replace(budget.left.1));
    Budget { limits: LIMITS.replace(budget.limits), left }
}

/// This thread's budget, to continue with it on another thread.
pub(crate) fn current() -> Budget {
    Budget { limits: LIMITS.get(), left: (STEPS.get(), MEMORY.get()) }
}

/// Counts steps.
#[inline]
pub(crate) fn spend(steps: usize) {
    match STEPS.get().checked_sub(steps as u64) {
        Some(left) => STEPS.set(left),
        None => {
            STEPS.set(0);
            exceeded(Exceeded::Steps(LIMITS.get().0))
        }
    }
}

/// Counts memory for `count` more values of a type.
#[inline]
pub(crate) fn hold<T>(count: usize) {
    match MEMORY.get().checked_sub((count * size_of::<T>()) as u64) {
        Some(left) => MEMORY.set(left),
        None => {
            MEMORY.set(0);
            exceeded(Exceeded::Memory(LIMITS.get().1))
        }
    }
}

/// Counts bytes of text that a writer produces: memory, and the work of writing them.
#[inline]
pub(crate) fn write(bytes: usize) {
    spend(bytes / BYTES_PER_STEP);
    hold::<u8>(bytes);
}

/// Bytes of text that count as one step.
const BYTES_PER_STEP: usize = 16;

#[cold]
fn exceeded(limit: Exceeded) -> ! {
    if cfg!(panic = "unwind") {
        panic::resume_unwind(Box::new(limit));
    }
    panic!("{limit}")
}
