//! A plan as lines of the target's own assembly language.
//!
//! Where a back end says what each line was made for ([`Emitted`]), the lines are its own: those of the shader's program, or
//! of a kernel of just the operation. For the other targets they are written for the plan alone: registers are numbered from
//! 0, operands are in the first of them, nothing around the operation is known. A step that no line can be written for is
//! reported, never left out.

pub mod amd;
mod emitted;
mod registers;
pub mod spirv;
#[cfg(test)]
mod tests;

use crate::diagnostic::Diagnostic;
use crate::kernel;
use crate::lane::{Plan, Request};
use crate::profile::{Profile, Target};
pub use emitted::Emitted;
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
    /// NVIDIA's branches and loops.
    Control,
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
            Target::Nv => &[Unit::Shuffle, Unit::Vote, Unit::Arithmetic, Unit::Control],
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
            Unit::Control => "control",
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

impl Unwritten {
    /// The first of the errors of a compilation.
    fn because(errors: Vec<Diagnostic>) -> Unwritten {
        Unwritten(errors.into_iter().next().map(|error| error.message).unwrap_or_default())
    }
}

/// The lines of a plan.
///
/// # Errors
/// When a step has no spelling on this target.
pub fn list(plan: &Plan, request: &Request, profile: &Profile) -> Result<Listing, Unwritten> {
    match profile.target {
        Target::Amd => amd::list(plan, request, profile),
        Target::Nv => alone(plan, request, profile),
        Target::Spirv => spirv::list(plan, request, profile),
    }
}

/// The lines of a plan in a kernel of just its operation.
fn alone(plan: &Plan, request: &Request, profile: &Profile) -> Result<Listing, Unwritten> {
    let kernel = kernel::alone(request, plan, profile).map_err(Unwritten::because)?;
    let emitted =
        Emitted::of(&kernel, profile).unwrap_or_else(|| Err(Unwritten("the target says no origins".into())))?;
    Ok(emitted.listing(&(0..kernel.set_ups.len() as u32).collect::<Vec<_>>()))
}
