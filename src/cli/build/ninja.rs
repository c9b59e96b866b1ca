//! `--emit-ninja`: writes the plan as a `build.ninja` with one action per output, so that distributed builds and caches
//! based on ninja work for shaders too. Paths are relative to the working directory, where you run `ninja -f FILE`.

use super::super::endings::Format;
use super::super::output::Sink;
use super::super::{CommandError, Exit, Outcome};
use super::manifest::{Emit, Manifest};
use super::plan::{Job, Plan};
use crate::backend::Optimize;
use crate::compile::Language;
use crate::glsl::preprocess::MacroOption;
use crate::ir::DepthRange;
use crate::profile::{Placing, Target};
use crate::wgsl::BoundsChecks;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Writes the file.
pub fn run(manifest: &Manifest, plan: &Plan, file: &Path) -> Outcome {
    let program =
        std::env::current_exe().map_err(|error| CommandError(format!("cannot find this program: {error}")))?;
    check_names(plan, file, &program)?;
    let sink = Sink::of_format(file.to_path_buf(), Format::Ninja)?;
    plan.inputs().for_each(|shader| plan.claims.add_input(shader));
    sink.write(text(manifest, plan, file, &program).as_bytes(), &plan.claims)?;
    Ok(Exit::Done)
}

/// Characters in names that ninja cannot read. Line breaks and `|` end a name in its file; the others end a name in the
/// dependencies of an output, which would then be rebuilt every time.
const UNREADABLE: [char; 9] = ['\n', '\r', '|', '*', ';', '<', '>', '^', '`'];

/// # Errors
/// Returns an error if a name is not UTF-8, or has a character that ninja cannot read.
fn check_names(plan: &Plan, file: &Path, program: &Path) -> Result<(), CommandError> {
    let jobs = plan.jobs.iter().flat_map(|job| [&*job.output, &*job.shader.path]);
    let folders = plan.jobs.iter().flat_map(|job| &job.common.loader.directories);
    let others = plan.searched.iter().chain(&plan.profile_files).chain(folders).map(PathBuf::as_path);
    let mut names = jobs.chain(others).chain([file, program]);
    match names.find(|path| path.to_str().is_none_or(|name| name.contains(UNREADABLE))) {
        Some(path) => Err(CommandError(format!("a file for ninja cannot contain the name {path:?}"))),
        None => Ok(()),
    }
}

/// Writing into a `String` cannot fail, so its results are not looked at here and below.
fn text(manifest: &Manifest, plan: &Plan, file: &Path, program: &Path) -> String {
    let mut text =
        String::from("# Written by `crosslane build --emit-ninja`; it writes itself again when shaders come or go.\n");
    let _ = writeln!(text, "ninja_required_version = 1.5\ncrosslane = {}\n", escaped(&program.display().to_string()));
    text += "rule shader\n  command = $crosslane compile $in -o $out -MD -MF $out.d $options\n  depfile = $out.d\n  deps = gcc\n";
    text += "  restat = 1\n  description = $out\n\n";
    if file.as_os_str() != "-" {
        regenerate(&mut text, manifest, plan, file);
    }
    for job in &plan.jobs {
        let (output, shader) = (path(&job.output), path(&job.shader.path));
        let _ = writeln!(text, "build {output}: shader {shader} | $crosslane\n  options = {}", options(job));
    }
    text
}

/// The file depends on the manifest, on the profiles' files, and on the folders that are searched for shaders, except
/// folders that the build itself writes to.
fn regenerate(text: &mut String, manifest: &Manifest, plan: &Plan, file: &Path) {
    let (from, to) = (manifest.path.display().to_string(), file.display().to_string());
    let command = format!("$crosslane build --manifest {} --emit-ninja={}", argument(&from), argument(&to));
    let _ = writeln!(
        text,
        "rule manifest\n  command = {command}\n  generator = 1\n  restat = 1\n  description = {}",
        escaped(&to)
    );
    let is_written = |folder: &PathBuf| folder.as_os_str().is_empty() || plan.out_dirs.contains(folder);
    let folders = plan.searched.iter().filter(|folder| !is_written(folder));
    let inputs: String = folders.chain(&plan.profile_files).map(|input| format!(" {}", path(input))).collect();
    let _ = writeln!(text, "\nbuild {}: manifest {} | $crosslane{inputs}\n", escaped(&to), escaped(&from));
}

/// The options that make `compile` produce the same output as the build.
fn options(job: &Job) -> String {
    let settings = &job.common.settings;
    let mut options = vec!["-p".to_string(), job.target.argument.clone()];
    options.extend(job.target.wave_size.iter().map(|lanes| format!("--wave-size={lanes}")));
    options.extend(job.common.loader.directories.iter().map(|dir| format!("-I{}", dir.display())));
    options.extend(job.macros.iter().map(|option| match option {
        MacroOption::Define { name, value } => format!("-D{name}={value}"),
        MacroOption::Name(name) => format!("-D{name}"),
        MacroOption::Undefine(name) => format!("-U{name}"),
    }));
    options.extend(job.others.iter().map(|other| format!("--link-with={}", other.path.display())));
    options.extend(settings.entry.iter().map(|entry| format!("--entry={entry}")));
    let checks = Some(settings.bounds_checks).filter(|checks| *checks != BoundsChecks::Unchecked);
    let checks = checks.filter(|_| job.shader.kind.language == Language::Wgsl);
    options.extend(checks.map(|checks| format!("--bounds-checks={}", checks.word())));
    options.extend(settings.fp_contract.map(|choice| format!("--fp-contract={}", choice.word())));
    let range = Some(settings.depth_range).filter(|range| *range != DepthRange::Source);
    options.extend(range.map(|range| format!("--depth-range={}", range.word())));
    let optimize = Some(settings.optimize).filter(|optimize| *optimize != Optimize::None);
    options.extend(optimize.map(|optimize| format!("--optimize={}", optimize.word())));
    if job.target.profile.target.row().placing != Placing::Fixed {
        options.extend(settings.push_constants.map(|place| format!("--push-constants={place}")));
        let inputs = settings.vertex_inputs.iter();
        options.extend(inputs.map(|(location, place)| format!("--vertex-input={location}={place}")));
        options.extend(settings.places.iter().map(|(bound, place)| format!("--place={bound}={place}")));
    }
    let flags = [
        (settings.debug, "-g"),
        (settings.flip_y, "--flip-y"),
        (settings.comments, "--comments"),
        (settings.line_directives, "--line-directives"),
        (settings.argument_buffers && job.target.profile.target == Target::Msl, "--argument-buffers"),
        (settings.reproducible, "--reproducible"),
        (settings.deny_warnings, "--deny-warnings"),
        (settings.no_warnings, "--no-warnings"),
        (settings.emit == Emit::Assembly, "-S"),
        (settings.emit == Emit::Reflection, "--emit=reflection"),
    ];
    // Notes on subgroup sizes are for single compilations, not for builds.
    options.extend(job.target.wave_size.iter().filter(|lanes| *lanes == "any").map(|_| "-Wno-wave-size".to_string()));
    options.extend(settings.warnings.iter().map(|choice| format!("-W{choice}")));
    options.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_string()));
    options.iter().map(|option| argument(option)).collect::<Vec<_>>().join(" ")
}

/// A word of a command: quoted if necessary, then escaped for ninja.
fn argument(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=./:,@".contains(c);
    let quoted = if word.chars().all(is_plain) { word.to_string() } else { quoted(word) };
    quoted.replace('$', "$$")
}

/// A word quoted for the shell that ninja runs.
#[cfg(not(windows))]
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A word quoted for a Windows command line, which ninja passes on without a shell.
#[cfg(windows)]
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\\\""))
}

fn path(path: &Path) -> String {
    escaped(&path.display().to_string())
}

/// A path as ninja reads it.
fn escaped(text: &str) -> String {
    text.replace('$', "$$").replace(' ', "$ ").replace(':', "$:")
}
