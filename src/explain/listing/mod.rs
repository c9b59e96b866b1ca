//! A plan as lines of the target's assembly language.
//!
//! Back ends record the operation of each line ([`Emitted`]). The lines come from the shader's program, or from a
//! module of the operation alone.

mod emitted;

use super::alone::alone;
pub use crate::backend::written::Unit;
use crate::backend::{Backend, Options, Writer};
use crate::diagnostic::Diagnostic;
use crate::kernel;
use crate::lane::{Plan, Request};
use crate::profile::Profile;
use crate::source::SourceMap;
pub use emitted::Emitted;
use serde::Serialize;

/// One line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Line {
    pub text: String,
    pub unit: Unit,
}

/// A plan as text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// Place of each operand; constants as numbers.
    pub inputs: Vec<String>,
    /// Lines that can be hoisted and shared.
    pub setup: Vec<Line>,
    /// Lines at the operation.
    pub lines: Vec<Line>,
    /// Place of the result; two places for a sort with values, none without a result.
    pub results: Vec<String>,
    /// Wait states among the lines.
    pub wait_states: u32,
    /// Setup instructions among the lines, placed at the instruction that reads them.
    pub set_up_among: usize,
}

impl Listing {
    /// Instructions of a unit at the operation.
    pub fn count(&self, unit: Unit) -> usize {
        self.lines.iter().filter(|line| line.unit == unit).count()
    }

    /// Instructions of the setup, wherever they are.
    pub fn set_up_instructions(&self) -> usize {
        self.setup.iter().filter(|line| line.unit.works()).count() + self.set_up_among
    }

    /// Instructions at the operation, without waits.
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
/// Reports constructs that the target cannot express.
pub fn list(plan: &Plan, request: &Request, profile: &Profile) -> Result<Listing, Unwritten> {
    let module = alone(request, profile);
    let backend = Backend::of(profile.target);
    let emitted = match &backend.writer {
        Writer::Module(writer) => {
            let options = Options { plan: Some(plan.clone()), ..Options::new(profile.clone()) };
            let made = Emitted::of_module(backend, writer, &module, &options, &SourceMap::default());
            made.map_err(Unwritten::because)?.0
        }
        Writer::Kernel(writer) => {
            let kernel = kernel::finish_by(&module, plan, profile).map_err(Unwritten::because)?;
            Emitted::of_kernel(backend, writer, &kernel, profile)?
        }
    };
    Ok(emitted.whole())
}
