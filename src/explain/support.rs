//! `check`: which profiles can run a shader, operation by operation.

use super::operations::{CallSite, Lines, Site};
use super::shader::{Cell, Failure, OperationRow, Shader};
use super::spanning::{self, Extent};
use super::verdict::{self, Answer};
use super::{End, ProfileReport, profile_report, text, type_text};
use crate::compile::{Input as Source, Options, Readings};
use crate::ir::print::lane_text;
use crate::lane::{PlanCost, cost, plan};
use crate::profile::Profile;
use crate::source::Loader;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// The support matrix of one shader.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Matrix {
    /// Name and version of the JSON form.
    pub schema: &'static str,
    pub input: String,
    pub profiles: Vec<ProfileReport>,
    /// True if the module has no entry point. No profile was asked then, and `operations` is empty.
    pub library: bool,
    /// One for each profile, in order: true if it can run the shader, or read the library.
    pub can: Vec<bool>,
    /// One for each profile, in order: the smallest subgroup that can run the shader, if a driver may choose a smaller one.
    pub least_lanes: Vec<Option<u32>>,
    /// The result of the compilation for each profile.
    #[serde(skip)]
    pub ends: Vec<End>,
    pub operations: Vec<OperationSupport>,
}

/// The name of the JSON form.
pub const SCHEMA: &str = "crosslane-check-1";

/// One operation of the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OperationSupport {
    pub place: CallSite,
    pub name: String,
    /// Types of its operands.
    pub operands: Vec<String>,
    /// One for each profile, in order.
    pub profiles: Vec<Support>,
}

/// A profile's support of an operation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Support {
    /// The number of instructions of the operation, and how many of them use AMD's local data share or can be hoisted.
    Yes {
        instructions: u32,
        lds: u32,
        setup: u32,
        /// The program that runs instead where the driver's subgroups are narrower.
        narrower: Option<Extent>,
    },
    /// The segment spans subgroups, which exchange values through workgroup memory.
    Spanning(Extent),
    /// It was removed: its result is unused or known without it.
    Gone,
    No {
        reason: String,
    },
    /// The source for this profile does not have it.
    Absent,
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Support::Yes { instructions, narrower, .. } => {
                f.write_str("yes")?;
                if *instructions > 1 {
                    write!(f, ", {instructions} instructions")?;
                }
                let Some(extent) = narrower else { return Ok(()) };
                write!(f, "; in narrower subgroups {}: {extent}", extent.means())
            }
            Support::Spanning(extent) => write!(f, "yes, {}: {extent}", extent.means()),
            Support::Gone => f.write_str("yes, nothing is left of it"),
            Support::No { reason } => write!(f, "no: {reason}"),
            Support::Absent => f.write_str("not in the source"),
        }
    }
}

/// The support matrix of a shader for the profiles of some options, which otherwise are equal.
///
/// # Errors
/// Returns an error if the shader is wrong for all profiles, or no profile's front end accepts it.
pub fn matrix(input: &Source<'_>, options: &[Options], loader: &dyn Loader) -> Result<Matrix, Failure> {
    let mut readings = Readings::new(*input, loader, Vec::new());
    let shader = Shader::read(&mut readings, options, (Lines::Unneeded, support))?;
    let is_no = |answer: &Support| matches!(answer, Support::No { .. });
    let answers = verdict::answers(&mut readings, options, &shader, is_no)?;
    Ok(Matrix {
        schema: SCHEMA,
        input: input.name.into(),
        library: shader.is_library,
        can: answers.iter().map(Answer::can).collect(),
        least_lanes: answers.iter().map(|answer| answer.least_lanes.filter(|_| answer.can())).collect(),
        ends: answers.iter().map(|answer| answer.end).collect(),
        operations: shader.rows.into_iter().map(operation).collect(),
        profiles: options.iter().zip(answers).map(|(o, answer)| profile_report(&o.profile, answer)).collect(),
    })
}

fn operation(row: OperationRow<Support>) -> OperationSupport {
    OperationSupport {
        place: row.place,
        name: lane_text(row.site.op),
        operands: row.site.inputs.iter().map(|input| type_text(input.ty)).collect(),
        profiles: row.cells.into_iter().map(worst).collect(),
    }
}

/// The answer for the most expensive copy of an operation.
fn worst(cell: Cell<Support>) -> Support {
    match cell {
        Cell::Absent => Support::Absent,
        Cell::Gone => Support::Gone,
        Cell::Answers(all) => all.into_iter().max().unwrap_or(Support::Gone),
    }
}

fn support(site: &Site, profile: &Profile) -> Support {
    let narrower = match spanning::extent(site, profile).transpose() {
        Err(reason) => return Support::No { reason },
        Ok(Some(extent)) if extent.below.is_none() => return Support::Spanning(extent),
        Ok(narrower) => narrower,
    };
    let request = site.request();
    match plan(&request, profile) {
        Ok(plan) => {
            let PlanCost { instructions, lds, setup, .. } = cost::of(&plan, &request, profile);
            Support::Yes { instructions: instructions * site.parts, lds: lds * site.parts, setup, narrower }
        }
        Err(refusal) => Support::No { reason: refusal.reason() },
    }
}

impl Matrix {
    /// The matrix as text: for each operation the profiles, grouped by result, with lines wrapped at a given width.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut lines = Vec::new();
        for operation in &self.operations {
            let place = &operation.place;
            lines.push(format!("{}:{}:{}: {}", place.file, place.line, place.column, place.code));
            lines.extend(self.groups(&operation.profiles));
        }
        lines.push(self.verdict());
        lines.extend(self.refused());
        let lines = lines.iter().flat_map(|line| line.lines());
        lines.flat_map(|line| text::wrapped(line, width)).map(|line| line + "\n").collect()
    }

    /// One line per answer, best first, with its profiles.
    fn groups(&self, answers: &[Support]) -> Vec<String> {
        let mut kinds: Vec<&Support> = answers.iter().filter(|answer| **answer != Support::Absent).collect();
        kinds.sort_by_key(|answer| (*answer, answer.to_string()));
        let mut texts: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        texts.dedup();
        let names = |text: &String| self.names(answers, |answer| answer.to_string() == *text);
        texts.iter().map(|text| format!("  {text}: {}", names(text))).collect()
    }

    fn names<T>(&self, answers: &[T], is: impl Fn(&T) -> bool) -> String {
        let chosen = self.profiles.iter().zip(answers).filter(|(_, answer)| is(answer));
        chosen.map(|(profile, _)| profile.name.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn verdict(&self) -> String {
        if self.library {
            return "the module keeps the rules of WGSL; it has no entry point, and profiles were not asked".into();
        }
        if self.can.iter().all(|can| *can) {
            return self.with_sizes("every profile can run it".into());
        }
        let [able, unable] = [true, false].map(|asked| self.names(&self.can, |can| *can == asked));
        let able = if able.is_empty() { "none" } else { &able };
        self.with_sizes(format!("can run it: {able}")) + &format!("\ncannot: {unable}")
    }

    /// A line, and one for the profiles on which drivers may choose subgroups that are too small.
    fn with_sizes(&self, line: String) -> String {
        let sizes: BTreeSet<u32> = self.least_lanes.iter().flatten().copied().collect();
        sizes.iter().fold(line, |lines, size| {
            let names = self.names(&self.least_lanes, |least| *least == Some(*size));
            lines + &format!("\nonly on subgroups of {size} lanes and more: {names}")
        })
    }

    /// Why profiles refuse the shader.
    fn refused(&self) -> Vec<String> {
        let reasons = self.profiles.iter().filter_map(|profile| Some((&profile.name, profile.refused.as_ref()?)));
        reasons.map(|(name, reason)| format!("  {name}: {reason}")).collect()
    }
}
