//! The command line: one file per subcommand, shared option structs in `args`. All code that touches files, streams and
//! the environment is below this module; the compiler itself does not touch them.
//!
//! Exit codes: 0 success, 1 the shader is wrong, 2 the command is wrong or a file cannot be read or written, 3 the
//! profile cannot express the shader. A closed pipe is not an error.

mod args;
mod assemble;
mod build;
mod check;
mod compile;
mod deps;
mod describe;
mod dropin;
mod endings;
mod explain;
mod explain_code;
mod input;
mod lsp;
mod messages;
mod ops;
mod output;
mod profiles;
mod program;
mod response;
mod run;
mod spellings;
mod terminal;
mod usage;
mod words;

use crate::build::claims::Claims;
use args::{Cli, Command};
use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;

/// How a command ended; the number is the exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    Done = 0,
    ShaderWrong = 1,
    CommandWrong = 2,
    ProfileLacks = 3,
}

impl Exit {
    /// The exit code for several outputs: wrong commands and disk errors take precedence.
    fn worst(exits: impl IntoIterator<Item = Exit>) -> Exit {
        let weight = |exit: &Exit| match exit {
            Exit::CommandWrong => 3,
            Exit::ShaderWrong => 2,
            Exit::ProfileLacks => 1,
            Exit::Done => 0,
        };
        exits.into_iter().max_by_key(weight).unwrap_or(Exit::Done)
    }
}

/// A failure that is not the shader's fault: a sentence for standard error.
pub struct CommandError(pub String);

impl From<String> for CommandError {
    fn from(text: String) -> CommandError {
        CommandError(text)
    }
}

type Outcome = Result<Exit, CommandError>;

/// Runs the command that `arguments` (program name first) describe.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    describe::complete();
    let claims = Claims::default();
    let arguments = match response::expand(dropin::by_name(arguments.into_iter().collect()), &claims) {
        Ok(arguments) if dropin::is_meant(&arguments) => arguments,
        Ok(arguments) => explain_code::from_help(spellings::translate(arguments)),
        Err(error) => {
            messages::command_failed(None, &error);
            return ExitCode::from(Exit::CommandWrong as u8);
        }
    };
    let words = arguments.clone();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage::print(error, &words),
    };
    let outcome = match &cli.command {
        Command::Compile(args) => compile::run(args, &claims),
        Command::Build(args) => build::run(args, &claims),
        Command::Snapshot(args) => build::snapshot::run(args, &claims),
        Command::Run(args) => run::run(args, &claims),
        Command::Explain(args) => explain::run(args, &claims),
        Command::Check(args) => check::run(args, &claims),
        Command::Profiles(args) => profiles::run(args, &claims),
        Command::Ops(args) => ops::run(args, &claims),
        Command::Lsp(args) => lsp::run(args),
        Command::Schema => describe::schema(),
        Command::Warnings => describe::warnings(),
        Command::ExplainCode(args) => explain_code::run(args),
        Command::Completions(args) => describe::completions(args),
        Command::Man(args) => describe::man(args, &claims),
        Command::Glslc(args) => return dropin::run(dropin::Tool::Glslc, args, &claims),
        Command::Glslang(args) => return dropin::run(dropin::Tool::Glslang, args, &claims),
    };
    let exit = outcome.unwrap_or_else(|error| {
        messages::command_failed(cli.command.messages(), &error);
        Exit::CommandWrong
    });
    ExitCode::from(exit as u8)
}
