//! `explain` and `check`: the code of each cross-lane operation of a shader on one or several profiles, and the reasons
//! for it.
//!
//! The planner decides. This module presents the decision as words, lines of assembly and pictures: data ([`Report`])
//! that [`text`], [`json`] and [`html`] print. It plans and prices nothing that the compiler would not.

pub mod alone;
pub mod book;
pub mod dictionary;
pub mod header;
pub mod html;
pub mod json;
pub mod listing;
mod lowering;
pub mod marks;
pub mod meaning;
mod operations;
pub mod picture;
pub mod prices;
mod shader;
mod spanning;
pub mod support;
pub mod text;
mod verdict;
mod whole;

pub use lowering::{Difference, Instructions, Lacking, Lowering, Rejected};
pub use operations::CallSite;
pub use shader::Failure;
pub use spanning::{Extent, Phase, SpanLine, Spanned};
pub use verdict::End;

use crate::compile::{Input as Source, Options, Readings};
use crate::ir::print::lane_text;
use crate::lane::{Known, LaneOp, LaneType};
use crate::profile::Profile;
use crate::source::Loader;
use operations::{Lines, Site};
use serde::Serialize;
use shader::{Cell, OperationRow, Shader};
use whole::Whole;

/// The report of `explain` on one shader.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    /// Name and version of the JSON form. The version changes when a reader must adapt.
    pub schema: &'static str,
    /// The shader's name.
    pub input: String,
    pub profiles: Vec<ProfileReport>,
    /// The result of the compilation for each profile.
    #[serde(skip)]
    pub ends: Vec<End>,
    pub operations: Vec<Operation>,
}

/// The name of the JSON form.
pub const SCHEMA: &str = "crosslane-explain-1";

/// One of the profiles requested.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ProfileReport {
    pub name: String,
    pub description: String,
    pub target: &'static str,
    /// Lanes of a subgroup; `None` if only the driver knows.
    pub wave_size: Option<u32>,
    /// The first error, if the shader cannot be compiled for the profile and the answers about operations do not show
    /// it.
    pub refused: Option<String>,
}

/// One operation of the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Operation {
    pub place: CallSite,
    /// Its name, as in `--emit ir`.
    pub name: String,
    /// The result in lane `i`, as a formula and in words.
    pub formula: String,
    pub meaning: String,
    pub operands: Vec<Operand>,
    /// For a part of a struct, array or matrix: the whole value, and the number of moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// One for each profile, in order.
    pub profiles: Vec<OnProfile>,
}

impl Operation {
    /// Returns true if it is an operation of this kind.
    pub fn is(&self, op: LaneOp) -> bool {
        self.name == lane_text(op)
    }
}

/// An operand of an operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Operand {
    #[serde(rename = "type")]
    pub ty: String,
    /// `varying`, `uniform` or the number.
    pub known: String,
}

/// A profile's lowering of an operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum OnProfile {
    Planned(Box<Lowering>),
    /// The segment spans subgroups, which exchange values through workgroup memory.
    Spanning(Box<Spanned>),
    /// The profile cannot do it, and the reason.
    Refused {
        reason: String,
    },
    /// No code is emitted: the result is unused or known without it.
    Gone,
    /// The operation is not in the source for this profile: the preprocessor excluded it, or the profile refuses the
    /// shader.
    Absent,
}

/// Explains a shader for the profiles of some options, which otherwise are equal.
///
/// # Errors
/// Returns an error if the shader is wrong for all profiles, or no profile's front end accepts it.
pub fn explain(input: &Source<'_>, options: &[Options], loader: &dyn Loader) -> Result<Report, Failure> {
    let mut readings = Readings::new(*input, loader, Vec::new());
    let shader = Shader::read(&mut readings, options, (Lines::Wanted, lowering::of))?;
    let is_no = |answer: &OnProfile| matches!(answer, OnProfile::Refused { .. });
    let answers = verdict::answers(&mut readings, options, &shader, is_no)?;
    let operation = |row: OperationRow<OnProfile>| {
        let mut operation = operation(&row.site, row.place);
        operation.profiles = row.cells.into_iter().map(on_profile).collect();
        operation
    };
    Ok(Report {
        schema: SCHEMA,
        input: input.name.into(),
        ends: answers.iter().map(|answer| answer.end).collect(),
        profiles: options.iter().zip(answers).map(|(o, answer)| profile_report(&o.profile, answer)).collect(),
        operations: shader.rows.into_iter().map(operation).collect(),
    })
}

/// One answer for all copies of an operation.
fn on_profile(cell: Cell<OnProfile>) -> OnProfile {
    match cell {
        Cell::Absent => OnProfile::Absent,
        Cell::Gone => OnProfile::Gone,
        Cell::Answers(answers) => first_with_copies(answers),
    }
}

/// The first refusal, otherwise the first plan with the other plans attached.
fn first_with_copies(answers: Vec<OnProfile>) -> OnProfile {
    let mut plans: Vec<Lowering> = Vec::new();
    for answer in answers {
        match answer {
            OnProfile::Planned(plan) if plans.iter().any(|other| other.is_copy(&plan)) => {}
            OnProfile::Planned(plan) => plans.push(*plan),
            other => return other,
        }
    }
    let mut plans = plans.into_iter();
    match plans.next() {
        Some(first) => OnProfile::Planned(Box::new(Lowering { copies: plans.collect(), ..first })),
        None => OnProfile::Gone,
    }
}

fn operation(site: &Site, place: CallSite) -> Operation {
    let meaning = meaning::meaning(site.op);
    let operand = |input: &crate::lane::Input| Operand { ty: type_text(input.ty), known: known_text(input.known) };
    Operation {
        place,
        name: lane_text(site.op),
        formula: meaning.formula,
        meaning: meaning.words,
        operands: site.inputs.iter().map(operand).collect(),
        part_of: site.whole.as_ref().map(whole_text),
        profiles: Vec::new(),
    }
}

/// `struct P of 3 members: 5 moves, 2 of them this one`.
fn whole_text(whole: &Whole) -> String {
    let all = format!("{}: {}", whole.words, text::count(whole.moves as u32, "move"));
    match whole.alike {
        alike if alike == whole.moves && alike > 1 => format!("{all}, all of them like this one"),
        1 => all,
        alike => format!("{all}, {alike} of them like this one"),
    }
}

fn known_text(known: Known) -> String {
    match known {
        Known::Varying => "varying".into(),
        Known::Uniform => "uniform".into(),
        Known::Constant(value) => value.to_string(),
    }
}

/// `f32`, `u32x4`, `bool`: as `--emit ir` writes types.
fn type_text(ty: LaneType) -> String {
    let scalar = ty.kind.name(ty.width);
    if ty.components == 1 { scalar } else { format!("{scalar}x{}", ty.components) }
}

fn profile_report(profile: &Profile, answer: verdict::Answer) -> ProfileReport {
    ProfileReport {
        name: profile.name.to_string(),
        description: profile.description.to_string(),
        target: profile.target.name(),
        wave_size: answer.wave_size,
        refused: answer.reason,
    }
}
