//! A plan as lines of the target's own assembly language.
//!
//! Back ends say what each line was made for ([`Emitted`]), and the lines are theirs: those of the shader's program, or of a
//! module of just the operation.

mod emitted;

use super::alone::alone;
use crate::backend::spirv::SpirvOptions;
use crate::diagnostic::Diagnostic;
use crate::kernel;
use crate::lane::{Plan, Request};
use crate::profile::{Profile, Target};
use crate::source::SourceMap;
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
    /// AMD's way to buffers and scratch memory.
    Memory,
    /// Branches and loops.
    Control,
    /// SPIR-V's subgroup instructions, whatever a driver makes of them.
    Subgroup,
    /// Nothing: it waits.
    Wait,
    /// Nothing: it is branched to.
    Label,
}

impl Unit {
    /// Whether a line of it is an instruction that does something.
    pub const fn works(self) -> bool {
        !matches!(self, Unit::Wait | Unit::Label)
    }

    /// The units of a target, in the order in which counts are shown.
    pub const fn of(target: Target) -> &'static [Unit] {
        match target {
            Target::Amd => &[Unit::Vector, Unit::Scalar, Unit::Lds, Unit::Memory, Unit::Control],
            Target::Nv => &[Unit::Shuffle, Unit::Vote, Unit::Arithmetic, Unit::Control],
            Target::Spirv => &[Unit::Subgroup, Unit::Arithmetic, Unit::Control],
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
            Unit::Memory => "memory",
            Unit::Control => "control",
            Unit::Subgroup => "subgroup",
            Unit::Wait => "wait",
            Unit::Label => "label",
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
        self.lines.iter().filter(|line| line.unit.works()).count()
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

/// The lines of a plan in the program of a module of just its operation.
///
/// # Errors
/// With what the target cannot express.
pub fn list(plan: &Plan, request: &Request, profile: &Profile) -> Result<Listing, Unwritten> {
    let module = alone(request, profile);
    let emitted = match SpirvOptions::new(profile.clone()).filter(|_| profile.target == Target::Spirv) {
        Some(options) => {
            let options = SpirvOptions { plan: Some(plan.clone()), ..options };
            Emitted::of_module(&module, &options, &SourceMap::default())?.0
        }
        None => {
            let kernel = kernel::finish_by(&module, plan, profile).map_err(Unwritten::because)?;
            Emitted::of(&kernel, profile)?
        }
    };
    Ok(emitted.whole())
}
