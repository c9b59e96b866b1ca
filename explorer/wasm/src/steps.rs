//! The executions of one operation in a run, lane by lane and step by step.

use crate::answer::{Execution, Steps};
use crate::open::{Open, first_error};
use crate::question::Request;
use crate::trial::{self, Setup};
use crosslane::explain::picture::{Executed, executed};
use crosslane::explain::{OnProfile, Report};
use crosslane::profile::Target;
use crosslane::sim;
use crosslane::simulate::{Semantics, watch};
use crosslane::source::{SourceMap, Span};

/// Runs the shader by the meaning of its operations, and shows one execution of an operation by the plan of a profile.
pub fn steps(open: &Open, operation: usize, execution: usize, request: &Request) -> Result<Steps, String> {
    let report = open.report()?;
    let options = trial::options(open, request)?;
    let (shader, sources) = trial::read_shader(open, &options, request, Semantics::Meaning)?;
    let setup = Setup::new(&shader, request)?;
    let span = span(report, operation, &sources)?;
    let (mut runs, fault) =
        watch(&shader.kernel, shader.wave_size, &setup.dispatch(request), setup.before.clone(), span);
    // One call can be several operations.
    runs.retain(|run| report.operations[operation].is(run.op));
    let executed =
        runs.get(execution).and_then(|run| by_plan(report, operation, run, &request.profile, options.profile.target));
    Ok(Steps {
        executions: executions(&runs),
        executed,
        fault: fault.map(|fault| first_error(std::iter::once(&fault))),
    })
}

/// Where an operation of a report is in the sources of a run.
fn span(report: &Report, operation: usize, sources: &SourceMap) -> Result<Span, String> {
    let place = report.operations.get(operation).map(|operation| &operation.place.physical);
    let (name, start, end) = place.ok_or("the shader has no such operation")?;
    let file = sources.files().iter().find(|file| file.name == *name).ok_or("the profile does not read its file")?;
    Ok(Span::new(file.base + *start as u32, file.base + *end as u32))
}

/// An execution with the steps of the plan of a profile, if it has one.
fn by_plan(report: &Report, operation: usize, run: &sim::Execution, profile: &str, target: Target) -> Option<Executed> {
    let number = report.profiles.iter().position(|known| known.name == profile);
    match number.map(|number| &report.operations[operation].profiles[number]) {
        Some(OnProfile::Planned(lowering)) => lowering.executed(run, target),
        _ => executed(run, None),
    }
}

/// Who ran each.
fn executions(runs: &[sim::Execution]) -> Vec<Execution> {
    let mut insts: Vec<u32> = runs.iter().map(|run| run.inst).collect();
    insts.sort_unstable();
    insts.dedup();
    let is_same =
        |a: &sim::Execution, b: &sim::Execution| (a.workgroup, a.wave, a.inst) == (b.workgroup, b.wave, b.inst);
    let one = |(n, run): (usize, &sim::Execution)| Execution {
        workgroup: run.workgroup,
        wave: run.wave,
        part: insts.iter().position(|inst| *inst == run.inst).unwrap_or(0),
        round: runs[..n].iter().filter(|other| is_same(other, run)).count(),
    };
    runs.iter().enumerate().map(one).collect()
}
