//! What the tests share: the judges, lavapipe in helper processes, input patterns, comparison, and the meaning of each
//! operation in plain Rust. Nothing here knows how the compiler works.

pub mod bless;
pub mod case;
pub mod compare;
pub mod compiler;
pub mod fixture;
pub mod glasm;
pub mod helper;
pub mod judge;
pub mod lavapipe;
#[cfg(feature = "gl")]
pub mod opengl;
pub mod pattern;
pub mod plan;
pub mod radv;
pub mod reference;
pub mod report;
pub mod rival;
pub mod scalar;
pub mod seeds;
pub mod simulator;
pub mod snapshot;
pub mod trial;
