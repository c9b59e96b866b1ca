//! Prints clap's help, version or error.

use super::Exit;
use super::args::Cli;
use super::spellings;
use crate::build::kind;
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::visible::{is_hidden, visible};
use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Options, commands and values of other tools, with ours. glslc's options are accepted as they are ([`spellings`]).
#[rustfmt::skip]
static FOREIGN: &[(&str, &str)] = &[
    ("--target", "--profile"), ("--arch", "--profile"), ("--gpu", "--profile"), ("--gpu-architecture", "--profile"),
    ("-march", "--profile"), ("-mcpu", "--profile"), ("-arch", "--profile"), ("--platform", "--profile"),
    ("--output", "-o"), ("--out", "-o"), ("-Fo", "-o"), ("--include", "-I"), ("--include-dir", "-I"), ("--define", "-D"),
    ("--language", "--lang"), ("--entry-point", "--entry"), ("--entrypoint", "--entry"), ("--format", "--emit"),
    ("--disassemble", "--assembly"), ("--optimise", "--optimize"), ("--subgroup-size", "--wave-size"),
    ("--version", "-V"), ("version", "--version"), ("list", "profiles"), ("targets", "profiles"), ("translate", "compile"),
    ("validate", "check"), ("disassemble", "compile"), ("new", "build"), ("watch", "build --watch"),
    ("spirv-asm", "spirv-text"), ("spvasm", "spirv-text"), ("asm", "spirv-text"), ("spv", "spirv"), ("binary", "spirv"),
    ("metal", "msl"), ("cuda", "ptx"), ("json", "reflection"), ("amd", "s"), ("i", "preprocessed"), ("compute", "comp"),
    ("vertex", "vert"), ("fragment", "frag"), ("pixel", "frag"), ("ps", "frag"), ("vs", "vert"), ("cs", "comp"),
];

/// Prints the error; `words` are the arguments. A closed pipe is ignored.
pub fn print(mut error: clap::Error, words: &[OsString]) -> ExitCode {
    name_whole_word(&mut error, words);
    advise(&mut error, words);
    let printed = write(&error, words);
    let is_full = printed.is_err_and(|failure| failure.kind() != io::ErrorKind::BrokenPipe);
    ExitCode::from(if error.use_stderr() || is_full { Exit::CommandWrong as u8 } else { Exit::Done as u8 })
}

/// Prints in colours where clap does, unless an argument contains terminal control characters.
fn write(error: &clap::Error, words: &[OsString]) -> io::Result<()> {
    match words.iter().any(|word| word.to_string_lossy().contains(is_hidden)) {
        true => io::stderr().lock().write_all(visible(&error.render().to_string()).as_bytes()),
        false => error.print(),
    }
}

/// clap reads `-fPIC` as letters and reports `-f`, but the user looks for `-fPIC`.
fn name_whole_word(error: &mut clap::Error, words: &[OsString]) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(letter)) = error.get(ContextKind::InvalidArg) else { return };
    let Some(word) = word_of(letter, words) else { return };
    error.insert(ContextKind::InvalidArg, ContextValue::String(word));
    // The advice speaks of the letter.
    error.remove(ContextKind::Suggested);
}

/// The word that starts with a letter's option, otherwise the first cluster that contains the letter.
fn word_of(option: &str, words: &[OsString]) -> Option<String> {
    let letter = option.strip_prefix('-').filter(|rest| rest.chars().count() == 1)?;
    let clusters = || words.iter().filter_map(|word| word.to_str()).filter(|word| !word.starts_with("--"));
    let first = clusters().find(|word| word.starts_with(option));
    first.or_else(|| clusters().find(|word| word.starts_with('-') && word.contains(letter))).map(str::to_string)
}

/// Replaces clap's advice, which only compares letters, by ours.
fn advise(error: &mut clap::Error, words: &[OsString]) {
    let (kind, among) = match error.kind() {
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, Among::Options),
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, Among::Commands),
        ErrorKind::InvalidValue => (ContextKind::InvalidValue, Among::Values),
        _ => return,
    };
    let Some(ContextValue::String(wrong)) = error.get(kind) else { return };
    let wrong = wrong.clone();
    let mut cli = Cli::command();
    cli.build();
    let command = words.get(1).and_then(|word| cli.find_subcommand(word)).unwrap_or(&cli).clone();
    let tip = tip(&wrong, among, &command, error);
    for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue] {
        error.remove(kind);
    }
    error.remove(ContextKind::Suggested);
    if among == Among::Options {
        // clap's usage line repeats its suggestion.
        error.insert(ContextKind::Usage, ContextValue::StyledStr(command.clone().render_usage()));
    }
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
}

/// The names that a wrong word may stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Among {
    Options,
    Commands,
    Values,
}

fn tip(wrong: &str, among: Among, command: &clap::Command, error: &clap::Error) -> Option<String> {
    let path = Path::new(wrong);
    if wrong.starts_with("-O") && among == Among::Options {
        return Some(format!("the levels of optimization are {}", spellings::starting_with("-O").join(", ")));
    }
    if among == Among::Commands && (kind::of(path).is_some() || path.is_file()) {
        return Some(format!("to compile a shader, write 'crosslane compile {wrong}'"));
    }
    let is_manifest = path.extension().is_some_and(|ending| ending == "toml");
    if is_manifest && command.get_arguments().any(|arg| arg.get_long() == Some("manifest")) {
        return Some(format!("a manifest is named by an option: '--manifest {wrong}'"));
    }
    let known = names(among, command, error);
    let name = wrong.split('=').next().unwrap_or(wrong);
    let foreign = FOREIGN.iter().filter(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours);
    let ours = foreign.into_iter().find(|ours| known.iter().any(|known| ours.split(' ').next() == Some(known)));
    let mut longer = known.iter().filter(|known| known.starts_with(name)).map(|known| &**known);
    let only = longer.next().filter(|_| longer.next().is_none());
    let near = ours.or(only).or_else(|| nearest(name, known.iter().map(|known| &**known)))?;
    let what = match among {
        Among::Options => "an option",
        Among::Commands => "a command",
        Among::Values => "a value",
    };
    Some(format!("{what} for that is '{near}'"))
}

/// The names that could have been written.
fn names(among: Among, command: &clap::Command, error: &clap::Error) -> Vec<String> {
    match among {
        Among::Options => {
            let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
            let spelled = shown.flat_map(|arg| {
                let short = arg.get_short().map(|short| format!("-{short}"));
                arg.get_long().map(|long| format!("--{long}")).into_iter().chain(short)
            });
            spelled.collect()
        }
        Among::Commands => {
            let commands = Cli::command();
            let named = commands.get_subcommands().map(|command| command.get_name().to_string());
            named.chain(["help".into(), "--version".into()]).collect()
        }
        Among::Values => match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(values)) => values.clone(),
            _ => Vec::new(),
        },
    }
}
