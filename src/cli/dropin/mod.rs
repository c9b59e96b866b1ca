//! The command as a replacement for glslc and glslangValidator. Under their names (or as `crosslane glslc`,
//! `crosslane glslang`) it accepts their options, writes their files and returns their exit codes. `flags` maps each
//! option; `crosslane compile` does the compilation.

pub mod environment;
pub mod flags;
mod glslang;
pub mod glslc;
pub mod trace;

use super::args::{Cli, Command, CompileArgs, StandInArgs};
use super::compile::{self, Draft, Made};
use super::{CommandError, messages};
use crate::build::claims::Claims;
use crate::diagnostic::warning::{self, Choice};
use crate::ir::Stage;
use clap::Parser;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// A compiler that this command replaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    Glslc,
    Glslang,
}

/// Names of the command, and the subcommands that they select.
const NAMES: [(&str, &str); 3] = [("glslc", "glslc"), ("glslangValidator", "glslang"), ("glslang", "glslang")];

/// Puts the subcommand into the arguments (program name first) when the program goes by another compiler's name.
pub fn by_name(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let name = arguments.first().and_then(|path| Path::new(path).file_stem()).map(|name| name.to_os_string());
    if let Some((_, subcommand)) = NAMES.iter().find(|(known, _)| name.as_deref().is_some_and(|name| name == *known)) {
        arguments.insert(1, subcommand.into());
    }
    arguments
}

/// Returns true if the arguments are another compiler's, which must not be rewritten.
pub fn is_meant(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|word| NAMES.iter().any(|(_, subcommand)| word == subcommand))
}

/// Runs the command as the other compiler.
pub fn run(tool: Tool, args: &StandInArgs, claims: &Claims) -> ExitCode {
    ExitCode::from(match tool {
        Tool::Glslc => glslc::run(&args.words, claims),
        Tool::Glslang => glslang::run(&args.words, claims),
    })
}

/// Compiles one input with the arguments of `crosslane compile`, as glslc does. Warnings that the other program does
/// not have are off unless the user enables them: some builds treat any text on standard error as a failure.
fn compile_one(words: &[String], input: &Path, claims: &Claims) -> Result<Made, CommandError> {
    let mut args = parse(words, input)?;
    args.dialect.compares_profiles = true;
    let (draft, args) = draft_args(args, claims)?;
    draft.write(&args, claims)
}

/// Compiles one input without writing anything.
fn draft_one(words: &[String], input: &Path, claims: &Claims) -> Result<(Draft, Box<CompileArgs>), CommandError> {
    draft_args(parse(words, input)?, claims)
}

fn draft_args(mut args: Box<CompileArgs>, claims: &Claims) -> Result<(Draft, Box<CompileArgs>), CommandError> {
    let quiet = warning::ALL.iter().filter(|warning| warning.is_of_analysis()).map(Choice::off);
    args.messages.warnings.splice(0..0, quiet);
    args.any_ending = true;
    args.dialect.needs_stage = true;
    Ok((compile::draft(&args, claims)?, args))
}

fn parse(words: &[String], input: &Path) -> Result<Box<CompileArgs>, CommandError> {
    let start = ["crosslane", "compile"].map(OsString::from);
    let words = start.into_iter().chain(words.iter().map(OsString::from)).chain(["--".into(), input.into()]);
    match Cli::try_parse_from(words) {
        Ok(Cli { command: Command::Compile(args) }) => Ok(args),
        Ok(_) => Err(CommandError("the words do not describe a compilation".into())),
        Err(error) => Err(CommandError(first_line(&error.to_string()))),
    }
}

/// The sentence of clap's complaint.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_string()
}

/// `1 warning and 2 errors`; `None` if there are neither.
fn counted(warnings: usize, errors: usize) -> Option<String> {
    let one = |count: usize, name: &str| match count {
        0 => None,
        1 => Some(format!("1 {name}")),
        _ => Some(format!("{count} {name}s")),
    };
    match (one(warnings, "warning"), one(errors, "error")) {
        (Some(warnings), Some(errors)) => Some(format!("{warnings} and {errors}")),
        (warnings, errors) => warnings.or(errors),
    }
}

/// The names of stages in options.
fn stage_names() -> Vec<String> {
    Stage::ALL.iter().flat_map(|stage| [stage.word(), stage.ending()]).map(str::to_string).collect()
}

fn say(text: &str) {
    messages::say(text);
}
