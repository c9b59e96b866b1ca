//! The plan and the cost of each operation on some profiles, by place, for display next to the source.

use super::meaning::meaning;
use super::operations::{Lines, Site};
use super::shader::{Cell, OperationRow, Shader};
use super::spanning::{self, Extent};
use crate::compile::{Options, Readings};
use crate::ir::print::lane_text;
use crate::lane::{PlanCost, cost, plan};
use crate::profile::Profile;
use std::ops::Range;
use std::sync::Arc;

/// One operation of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Priced {
    /// File and byte range of the operation, ignoring `#line`.
    pub file: Arc<str>,
    pub range: Range<usize>,
    /// Its name, as in `--emit ir`.
    pub name: String,
    /// The result in lane `i`, as a formula and in words.
    pub formula: String,
    pub meaning: String,
    /// One for each profile, in order.
    pub answers: Vec<Answer>,
}

/// A profile's lowering of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Planned {
        rule: &'static str,
        cost: PlanCost,
        /// The program that runs instead where the driver's subgroups are narrower.
        narrower: Option<Extent>,
    },
    /// The segment spans subgroups.
    Spanning(Extent),
    Refused(String),
    /// It was removed.
    Gone,
    /// The source for this profile does not have it.
    Absent,
}

/// The operations of a shader in source order; `None` if the shader cannot be analysed.
pub fn prices(readings: &mut Readings<'_>, options: &[Options]) -> Vec<Priced> {
    let shader = Shader::read(readings, options, (Lines::Unneeded, answer));
    shader.map(|shader| shader.rows.into_iter().map(priced).collect()).unwrap_or_default()
}

fn answer(site: &Site, profile: &Profile) -> Answer {
    let narrower = match spanning::extent(site, profile).transpose() {
        Err(reason) => return Answer::Refused(reason),
        Ok(Some(extent)) if extent.below.is_none() => return Answer::Spanning(extent),
        Ok(narrower) => narrower,
    };
    let request = site.request();
    match plan(&request, profile) {
        Ok(plan) => Answer::Planned { cost: cost::of(&plan, &request, profile), rule: plan.rule, narrower },
        Err(refusal) => Answer::Refused(refusal.reason().to_string()),
    }
}

fn priced(row: OperationRow<Answer>) -> Priced {
    let meaning = meaning(row.site.op);
    Priced {
        file: row.place.physical.0,
        range: row.place.physical.1..row.place.physical.2,
        name: lane_text(row.site.op),
        formula: meaning.formula,
        meaning: meaning.words,
        answers: row.cells.into_iter().map(dearest).collect(),
    }
}

/// The answer for the most expensive copy of an operation.
fn dearest(cell: Cell<Answer>) -> Answer {
    let weight = |answer: &Answer| match answer {
        Answer::Planned { cost, .. } => (0, cost.instructions, cost.latency),
        _ => (1, 0, 0),
    };
    match cell {
        Cell::Absent => Answer::Absent,
        Cell::Gone => Answer::Gone,
        Cell::Answers(all) => all.into_iter().max_by_key(weight).unwrap_or(Answer::Gone),
    }
}
