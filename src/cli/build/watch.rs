//! `--watch`: builds again when an input changes, or when a file appears or disappears in a folder that is searched for
//! shaders.
//!
//! It polls the files' times a few times per second. This works on every system and file system, and takes less than a
//! thousandth of a processor for hundreds of shaders.

use super::super::args::BuildArgs;
use super::super::{Exit, Outcome, messages};
use super::once;
use crate::build::claims::Claims;
use crate::build::identity::Stamp;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Time between two polls.
const PAUSE: Duration = Duration::from_millis(150);

/// The stamps of the watched paths from before they were read; `None` for a path that did not exist.
pub type Stamps = BTreeMap<PathBuf, Option<Stamp>>;

/// Builds until the process is terminated.
pub fn run(args: &BuildArgs) -> Outcome {
    loop {
        let mut stamps = Stamps::from([(args.manifest.clone(), Stamp::of(&args.manifest))]);
        let built = once(args, &mut stamps, &Claims::default());
        if let Err(error) = &built {
            messages::command_failed(Some(&args.messages), error);
        }
        if !args.quiet {
            let state = if matches!(built, Ok(Exit::Done)) { "done" } else { "failed" };
            messages::say(&format!("{state}; watching {} files and folders", stamps.len()));
        }
        while stamps.iter().all(|(path, known)| Stamp::of(path) == *known) {
            std::thread::sleep(PAUSE);
        }
    }
}
