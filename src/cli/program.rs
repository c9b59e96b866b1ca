//! `crosslane compile` with several shaders or several profiles: one output of each shader for each profile, in one
//! directory. As in `crosslane build`, a failed output does not keep the others from being written.
//!
//! The shaders are the stages of one program if each has a different stage. Otherwise, shaders whose names differ only
//! in the extension form a program.

use super::args::{CompileArgs, SourceArgs, TargetArgs};
use super::build::target;
use super::compile::{self, Draft, named_output};
use super::messages::{self, Said};
use super::output::make_folder;
use super::{CommandError, Exit, Outcome, input};
use crate::build::claims::Claims;
use crate::build::files::FileLoader;
use crate::build::kind;
use crate::compile::Reading;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Returns true if the arguments request several outputs, or an output in a directory.
pub fn is_meant(args: &CompileArgs) -> bool {
    !args.more.is_empty() || profiles(args).len() > 1 || args.output.as_deref().is_some_and(is_directory)
}

/// Returns true if a path can only be a directory.
fn is_directory(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::is_separator)
}

/// The named profiles, each once.
fn profiles(args: &CompileArgs) -> Vec<&String> {
    let mut names = Vec::new();
    for name in &args.target.profile {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// One output: the arguments of its compilation, and its path.
struct Unit {
    args: CompileArgs,
    output: PathBuf,
}

/// A shader that is not compiled yet.
type Begun = (Unit, Result<compile::Begun, CommandError>);

/// An output that is not written yet.
type Made = (Unit, Result<Draft, CommandError>);

/// Compiles every shader for every profile.
///
/// # Errors
/// Returns an error if the arguments do not fit several outputs, or two outputs have the same name. Nothing has been
/// compiled then.
pub fn run(args: &CompileArgs, claims: &Claims) -> Outcome {
    check(args)?;
    let units = units(args, claims)?;
    check_names(&units)?;
    let mut begun: Vec<Begun> = units.into_iter().map(|unit| begin(unit, claims)).collect();
    link_programs(&mut begun);
    let made: Vec<Made> = begun.into_iter().map(finish).collect();
    for shader in made.chunk_by(|(one, _), (other, _)| one.args.source.input == other.args.source.input) {
        say(args, shader);
    }
    let is_any_right = made.iter().any(|(_, draft)| draft.as_ref().is_ok_and(|draft| draft.made.exit == Exit::Done));
    if let Some(folder) = args.output.as_deref().filter(|_| is_any_right && !args.check_only) {
        make_folder(folder)?;
    }
    let exits: Vec<Exit> = made.into_iter().map(|made| written(args, made, claims)).collect();
    Ok(Exit::worst(exits))
}

/// Refuses options that name a single file or entity.
fn check(args: &CompileArgs) -> Result<(), CommandError> {
    let deps = &args.deps;
    let options = [
        (deps.deps_only, "--deps-only (-M)"),
        (deps.deps_file.is_some(), "--deps-file (-MF)"),
        (!deps.deps_target.is_empty(), "--deps-target (-MT)"),
        (!deps.deps_target_quoted.is_empty(), "--deps-target-quoted (-MQ)"),
        (args.output.as_deref().is_some_and(|path| path.as_os_str() == "-"), "-o -"),
        (inputs(args).any(input::is_stdin), "standard input"),
    ];
    match options.iter().find(|(is_given, _)| *is_given) {
        Some((_, name)) => Err(CommandError(format!("{name}: only for one shader, one profile and one output file"))),
        None => Ok(()),
    }
}

fn inputs(args: &CompileArgs) -> impl Iterator<Item = &Path> {
    std::iter::once(&args.source.input).chain(&args.more).map(PathBuf::as_path)
}

/// The outputs, grouped by shader.
fn units(args: &CompileArgs, claims: &Claims) -> Result<Vec<Unit>, CommandError> {
    let names = profiles(args).into_iter().map(|name| vec![name.clone()]);
    let names: Vec<Vec<String>> = if names.len() == 0 { vec![Vec::new()] } else { names.collect() };
    let has_part = names.len() > 1;
    let one = |input: &Path, profile: &Vec<String>| {
        let source = SourceArgs { input: input.to_path_buf(), ..args.source.clone() };
        let target = TargetArgs { profile: profile.clone(), ..args.target.clone() };
        let args = CompileArgs { source, target, more: Vec::new(), is_one_of_many: has_part, ..args.clone() };
        unit(args, has_part, claims)
    };
    inputs(args).flat_map(|input| names.iter().map(move |profile| (input, profile))).map(|(i, p)| one(i, p)).collect()
}

/// `a.vert` gives `a.vert.hlsl`, or `a.vert.hlsl-6.5.hlsl` if there are several profiles.
fn unit(args: CompileArgs, has_part: bool, claims: &Claims) -> Result<Unit, CommandError> {
    let files = FileLoader { claims: claims.clone(), ..FileLoader::default() };
    let profile = compile::profile(&args.target, None, &files)?;
    let part = if has_part { target::part(&profile.name) } else { String::new() };
    let name = named_output(&args, &part, profile.target)?;
    let output = args.output.as_ref().map_or(name.clone(), |folder| folder.join(&name));
    Ok(Unit { args: CompileArgs { output: Some(output.clone()), ..args }, output })
}

/// # Errors
/// Returns an error if two outputs have the same name.
fn check_names(units: &[Unit]) -> Result<(), CommandError> {
    let mut makers = BTreeMap::new();
    for Unit { args, output } in units {
        let maker = match args.target.profile.first() {
            Some(profile) => format!("{} for {profile}", args.source.input.display()),
            None => args.source.input.display().to_string(),
        };
        if let Some(other) = makers.insert(output, maker.clone()) {
            return Err(CommandError(format!("two outputs are called {}: {other} and {maker}", output.display())));
        }
    }
    Ok(())
}

fn begin(unit: Unit, claims: &Claims) -> Begun {
    let begun = compile::begin(&unit.args, claims);
    (unit, begun)
}

fn finish((unit, begun): Begun) -> Made {
    let draft = begun.and_then(|begun| begun.finish(&unit.args));
    (unit, draft)
}

/// Makes the stages of each program agree, for each profile.
fn link_programs(begun: &mut [Begun]) {
    let is_one = stages_differ(begun.iter_mut());
    let mut programs: BTreeMap<(Vec<String>, PathBuf), Vec<&mut Begun>> = BTreeMap::new();
    for stage in begun {
        let args = &stage.0.args;
        let name = if is_one { PathBuf::new() } else { kind::program(&args.source.input) };
        programs.entry((args.target.profile.clone(), name)).or_default().push(stage);
    }
    for mut program in programs.into_values() {
        if stages_differ(program.iter_mut().map(|stage| &mut **stage)) {
            let stages = program.iter_mut().filter_map(|(_, begun)| begun.as_mut().ok()?.reading());
            Reading::link(&mut stages.collect::<Vec<_>>());
        }
    }
}

/// Returns true if each stage occurs once for each profile.
fn stages_differ<'a>(begun: impl Iterator<Item = &'a mut Begun>) -> bool {
    let mut seen = Vec::new();
    for (unit, begun) in begun {
        let stage = begun.as_mut().ok().and_then(compile::Begun::reading).and_then(|reading| reading.stage());
        let Some(stage) = stage else { continue };
        let key = (unit.args.target.profile.clone(), stage);
        if seen.contains(&key) {
            return false;
        }
        seen.push(key);
    }
    true
}

/// Prints the messages about the outputs of one shader.
fn say(args: &CompileArgs, shader: &[Made]) {
    let said = shader.iter().filter_map(|(unit, draft)| {
        let Draft { sources, diagnostics, .. } = draft.as_ref().ok()?;
        Some(Said { output: &unit.output, sources, diagnostics })
    });
    let text = messages::once(&args.messages, &said.collect::<Vec<_>>(), shader.len());
    let _ = io::stderr().lock().write_all(&text);
}

/// Writes an output, if its shader is valid, and returns the exit code.
fn written(args: &CompileArgs, (unit, draft): Made, claims: &Claims) -> Exit {
    let done = draft.and_then(|draft| draft.write(&unit.args, claims));
    done.map(|made| made.exit).unwrap_or_else(|error| {
        messages::command_failed(Some(&args.messages), &error);
        Exit::CommandWrong
    })
}
