//! Parts of rules that several targets share: readings of requests, and steps that need no instruction of one target.

pub mod facts;
pub mod moves;
pub mod nv_shuffle;
pub mod quads;
pub mod reductions;
pub mod scans;
pub mod sort;
pub mod votes;
