//! `crosslane build`: makes every output of a manifest that is not current, in parallel.
//!
//! `manifest` reads, `plan` expands, `engine` makes, `state` remembers and writes, `report` prints.

mod engine;
pub mod manifest;
mod ninja;
pub mod plan;
mod report;
pub mod search;
pub mod snapshot;
mod sources;
mod state;
pub mod target;
mod tokens;
mod watch;
mod words;

use super::args::BuildArgs;
use super::{Exit, Outcome};
use crate::build::claims::Claims;
use crate::build::identity::Stamp;
use engine::{Choices, Engine};
use manifest::Manifest;
use plan::Plan;
use report::Progress;
use watch::Stamps;

pub fn run(args: &BuildArgs, claims: &Claims) -> Outcome {
    if let Some(file) = &args.emit_ninja {
        let manifest = Manifest::read(&args.manifest, claims)?;
        return ninja::run(&manifest, &Plan::new(&manifest, claims)?, file);
    }
    if args.watch { watch::run(args) } else { once(args, &mut Stamps::new(), claims) }
}

/// Builds once, and adds the inputs of the build to the stamps.
fn once(args: &BuildArgs, stamps: &mut Stamps, claims: &Claims) -> Result<Exit, super::CommandError> {
    let manifest = Manifest::read(&args.manifest, claims)?;
    let plan = Plan::new(&manifest, claims)?;
    for path in plan.searched.iter().chain(&plan.profile_files) {
        stamps.insert(path.clone(), Stamp::of(path));
    }
    let choices = Choices {
        deny_warnings: args.messages.deny_warnings,
        no_warnings: args.messages.no_warnings,
        warnings: args.messages.warnings.clone(),
        is_check: args.check,
        jobs: args.jobs,
        emit: None,
    };
    let progress = Progress::new(args);
    let engine = Engine::new(&plan, &choices, manifest.folder());
    let results = engine.run(&progress);
    progress.end();
    engine.add_stamps(stamps);
    Ok(report::print(args, &plan, &results?))
}
