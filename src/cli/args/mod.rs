//! The options of every subcommand, one file per subject.

mod build;
mod compile;
mod completion;
mod emit;
mod examples;
mod report;
mod run;
mod source;

pub use build::{BuildArgs, SnapshotArgs};
pub use compile::{CompileArgs, DepsArgs, DepsFormat, DialectArgs, PlaceArgs, Unused, WordForm};
pub use emit::{Emit, Emitted};
pub use examples::kinds as warning_kinds;
pub use report::{CheckArgs, CompletionsArgs, ExplainArgs, ExplainCodeArgs, LspArgs, ManArgs, OpsArgs, ProfilesArgs};
pub use run::{Machine, RunArgs};
pub use source::{Color, Lang, MessageArgs, MessageFormat, SourceArgs, TargetArgs};

use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;

#[derive(Parser)]
#[command(name = "crosslane", version = crate::version::TEXT, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Compile a shader, or several, for a profile, or for several.
    #[command(args_override_self = true, after_help = examples::COMPILE)]
    Compile(Box<CompileArgs>),
    /// Build every output that crosslane.toml names, and only those that are not current.
    #[command(after_help = examples::BUILD)]
    Build(Box<BuildArgs>),
    /// Compare the listings of what crosslane.toml names with those that were committed.
    #[command(after_help = examples::SNAPSHOT)]
    Snapshot(Box<SnapshotArgs>),
    /// Run a compute shader on the CPU, with the operations of a profile, or on a GPU.
    #[command(after_help = examples::RUN)]
    Run(Box<RunArgs>),
    /// Show what each cross-lane operation of a shader becomes, and why.
    #[command(after_help = examples::EXPLAIN)]
    Explain(Box<ExplainArgs>),
    /// Show which profiles can run a shader.
    #[command(after_help = examples::CHECK)]
    Check(Box<CheckArgs>),
    /// List the target profiles, or show one.
    #[command(after_help = examples::PROFILES)]
    Profiles(ProfilesArgs),
    /// List the cross-lane operations and what each profile makes of them, or look one up by its name in any language.
    #[command(after_help = examples::OPS)]
    Ops(OpsArgs),
    /// Serve editors: messages, completion, prices and the rest, by the Language Server Protocol on standard input and output.
    #[command(after_help = examples::LSP)]
    Lsp(LspArgs),
    /// Compile as glslc does, with its options (`crosslane glslc --help` lists them).
    #[command(disable_help_flag = true)]
    Glslc(StandInArgs),
    /// Compile as glslangValidator does, with its options (`crosslane glslang --help` lists them).
    #[command(disable_help_flag = true)]
    Glslang(StandInArgs),
    /// Print the JSON Schema of what `compile --emit reflection` prints.
    #[command(after_help = examples::SCHEMA)]
    Schema,
    /// List the kinds of warnings, which `-W` of other subcommands takes.
    #[command(after_help = examples::WARNINGS, after_long_help = examples::warnings())]
    Warnings,
    /// Print what the code of a message means, with an example.
    #[command(after_help = examples::EXPLAIN_CODE)]
    ExplainCode(ExplainCodeArgs),
    /// Print a script for a shell that completes options, profiles and operations; print it again for each version.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write all pages.
    #[command(after_help = examples::MAN)]
    Man(ManArgs),
}

impl Command {
    /// How its messages are to be printed, where there is a choice.
    pub fn messages(&self) -> Option<&MessageArgs> {
        match self {
            Command::Compile(args) => Some(&args.messages),
            Command::Build(args) => Some(&args.messages),
            Command::Snapshot(args) => Some(&args.messages),
            Command::Run(args) => Some(&args.messages),
            Command::Explain(args) => Some(&args.messages),
            Command::Check(args) => Some(&args.messages),
            Command::Profiles(_) | Command::Ops(_) | Command::Schema | Command::Warnings => None,
            Command::ExplainCode(_) | Command::Lsp(_) => None,
            Command::Completions(_) | Command::Man(_) | Command::Glslc(_) | Command::Glslang(_) => None,
        }
    }
}

/// Another compiler's command line.
#[derive(Args)]
pub struct StandInArgs {
    /// Its options and inputs.
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}
