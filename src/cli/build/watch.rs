//! `--watch`: builds again when a file that was read changes, or one comes or goes where shaders are looked for.
//!
//! It asks for the files' times a few times a second. That sees every change on every system and file system, and costs
//! less than a thousandth of a processor for hundreds of shaders.

use super::super::args::BuildArgs;
use super::super::{Exit, Outcome, messages};
use super::once;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(150);

/// When a file was last changed, and its bytes; none while it is not there.
pub type Stamp = Option<(SystemTime, u64)>;

/// What is looked at, as it was before it was read.
pub type Stamps = BTreeMap<PathBuf, Stamp>;

pub fn stamp(path: &Path) -> Stamp {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

/// Builds until the process is ended from outside.
pub fn run(args: &BuildArgs) -> Outcome {
    loop {
        let mut stamps = Stamps::from([(args.manifest.clone(), stamp(&args.manifest))]);
        let built = once(args, &mut stamps);
        if let Err(error) = &built {
            messages::command_failed(Some(&args.messages), error);
        }
        if !args.quiet {
            let state = if matches!(built, Ok(Exit::Done)) { "done" } else { "failed" };
            eprintln!("{state}; watching {} files and folders", stamps.len());
        }
        while stamps.iter().all(|(path, known)| stamp(path) == *known) {
            std::thread::sleep(PAUSE);
        }
    }
}
