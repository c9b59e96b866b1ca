//! Parts of rules that several targets share: decoding of requests, and steps that need no target-specific instruction.

pub mod facts;
pub mod moves;
pub mod nv_shuffle;
pub mod quads;
pub mod reductions;
pub mod scans;
pub mod sort;
pub mod votes;
