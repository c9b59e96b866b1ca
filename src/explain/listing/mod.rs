//! A plan as lines of the target's own assembly language.
//!
//! The lines are what an emitter writes for the plan alone: registers are numbered from 0, operands are in the first of
//! them, nothing around the operation is known. Which steps a plan has is the planner's decision and which name an
//! instruction has the target's; here stands how a step becomes an instruction. A step that no line can be written for is
//! reported, never left out.

pub mod amd;
pub mod nv;
mod registers;
pub mod spirv;
#[cfg(test)]
mod tests;

use crate::lane::{Plan, Request};
use crate::profile::{Profile, Target};
use serde::Serialize;

/// What runs an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// AMD's vector unit.
    Vector,
    /// AMD's scalar unit.
    Scalar,
    /// AMD's pipe to the local data share.
    Lds,
    /// NVIDIA's shuffles and quad swizzles.
    Shuffle,
    /// NVIDIA's votes and ballots.
    Vote,
    /// NVIDIA's and SPIR-V's arithmetic.
    Arithmetic,
    /// SPIR-V's subgroup instructions, whatever a driver makes of them.
    Subgroup,
    /// Nothing: it waits.
    Wait,
}

impl Unit {
    /// The units of a target, in the order in which counts are shown.
    pub const fn of(target: Target) -> &'static [Unit] {
        match target {
            Target::Amd => &[Unit::Vector, Unit::Scalar, Unit::Lds],
            Target::Nv => &[Unit::Shuffle, Unit::Vote, Unit::Arithmetic],
            Target::Spirv => &[Unit::Subgroup, Unit::Arithmetic],
        }
    }

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Vector => "vector",
            Unit::Scalar => "scalar",
            Unit::Lds => "LDS",
            Unit::Shuffle => "shuffle",
            Unit::Vote => "vote",
            Unit::Arithmetic => "arithmetic",
            Unit::Subgroup => "subgroup",
            Unit::Wait => "wait",
        }
    }
}

/// One line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Line {
    pub text: String,
    pub unit: Unit,
}

/// A plan as text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// Where each operand is; constants as numbers.
    pub inputs: Vec<String>,
    /// What can be hoisted and shared.
    pub setup: Vec<Line>,
    /// What stands at the operation.
    pub lines: Vec<Line>,
    /// Where the result is; two places for a sort with values, none for what has no result.
    pub results: Vec<String>,
    /// Wait states among the lines.
    pub wait_states: u32,
}

impl Listing {
    /// Instructions of a unit at the operation.
    pub fn count(&self, unit: Unit) -> usize {
        self.lines.iter().filter(|line| line.unit == unit).count()
    }

    /// Instructions at the operation; waiting is none.
    pub fn instructions(&self) -> usize {
        self.lines.len() - self.count(Unit::Wait)
    }
}

/// Why a plan has no listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unwritten(pub String);

/// The lines of a plan.
///
/// # Errors
/// When a step has no spelling on this target.
pub fn list(plan: &Plan, request: &Request, profile: &Profile) -> Result<Listing, Unwritten> {
    match profile.target {
        Target::Amd => amd::list(plan, request, profile),
        Target::Nv => nv::list(plan, request),
        Target::Spirv => spirv::list(plan, request, profile),
    }
}
