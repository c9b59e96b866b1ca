//! Descriptions of the command itself: shell completions and manual pages, generated from its option definitions, and
//! the schema of reflections.

use super::args::{self, Cli, CompletionsArgs, ManArgs};
use super::output::{Sink, make_folder, to_stdout};
use super::{CommandError, Exit, Outcome};
use crate::backend::reflection;
use crate::build::claims::Claims;
use clap::CommandFactory;
use clap_complete::env::{CompleteEnv, Shells};

/// The version in the header of a page, which is one line.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of the command in completion scripts.
const NAME: &str = "crosslane";
/// The environment variable that names the shell requesting completions.
const ASKS: &str = "CROSSLANE_COMPLETE";

/// If a shell requests completions, prints them and exits.
pub fn complete() {
    CompleteEnv::with_factory(Cli::command).var(ASKS).complete();
}

/// `crosslane completions`: a script that makes the shell request completions.
pub fn completions(args: &CompletionsArgs) -> Outcome {
    let mut text = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell.to_string());
    let shell = shell.ok_or_else(|| CommandError(format!("no completions for {}", args.shell)))?;
    let written = shell.write_registration(ASKS, NAME, NAME, NAME, &mut text);
    written.map_err(|error| CommandError(format!("cannot write the script: {error}")))?;
    to_stdout(&text).map(|()| Exit::Done)
}

/// `crosslane warnings`.
pub fn warnings() -> Outcome {
    to_stdout(args::warning_kinds("").as_bytes()).map(|()| Exit::Done)
}

/// `crosslane schema`.
pub fn schema() -> Outcome {
    to_stdout(reflection::SCHEMA.as_bytes()).map(|()| Exit::Done)
}

/// `crosslane man`: the page of the whole command, or all pages in a folder.
pub fn man(args: &ManArgs, claims: &Claims) -> Outcome {
    let mut command = Cli::command().version(VERSION).propagate_version(true);
    command.build();
    let Some(folder) = &args.out_dir else {
        return to_stdout(&page(command)?).map(|()| Exit::Done);
    };
    make_folder(folder)?;
    let inner: Vec<clap::Command> =
        command.get_subcommands().filter(|inner| inner.get_name() != "help").cloned().collect();
    for inner in inner {
        let name = format!("crosslane-{}", inner.get_name());
        let path = folder.join(format!("{name}.1"));
        Sink::File(path).write(&page(inner)?, claims)?;
    }
    Sink::File(folder.join("crosslane.1")).write(&page(command)?, claims)?;
    Ok(Exit::Done)
}

fn page(command: clap::Command) -> Result<Vec<u8>, CommandError> {
    let mut text = Vec::new();
    let written = clap_mangen::Man::new(command).render(&mut text);
    written.map_err(|error| CommandError(format!("cannot write a page: {error}")))?;
    Ok(text)
}
