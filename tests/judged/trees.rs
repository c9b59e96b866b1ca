//! Public compute shaders as text in each shading language: how many compile, and how many of those a judge of the
//! language accepts. `CROSSLANE_TREES=SET,SET` names folders, and files with a glslc command on each line;
//! `CROSSLANE_VERIFIED` names the page (docs/verified/texts.md) whose tables are written.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crosslane::build::files::FileLoader;
use crosslane::compile::{Artifact, Input, Language, Options};
use crosslane::glsl::preprocess::MacroOption;
use crosslane::ir::Stage;
use crosslane::profile::Target;
use support::by_text::{self, named};
use support::trial::{Trial, trial};
use support::{compiler, dawn, dxc, judge, metal, report};

/// A language and the judge of its texts.
struct Way {
    profile: &'static str,
    takes: fn(&str) -> Result<(), String>,
}

static WAYS: [Way; 4] = [
    Way { profile: "wgsl", takes: wgsl },
    Way { profile: "glsl-450-khr", takes: |text| judge::glslang_stage(text, "comp").map(drop) },
    Way { profile: "hlsl-6.7", takes: |text| dxc::takes(text, Stage::Compute, (6, 7)) },
    Way { profile: "msl-3.0", takes: |text| metal::takes(&[text]) },
];

/// naga and Tint.
fn wgsl(text: &str) -> Result<(), String> {
    compiler::module_of(Target::Wgsl, Artifact::Text(text.to_owned()), Stage::Compute)?;
    dawn::takes(text)
}

/// The sets of shaders.
const SETS: &str = "CROSSLANE_TREES";

/// Returns true if sets of shaders are named.
pub fn are_asked_for() -> bool {
    std::env::var_os(SETS).is_some()
}

pub fn trials() -> Vec<Trial> {
    let Ok(sets) = std::env::var(SETS) else { return Vec::new() };
    vec![trial("texts", move || count(&sets))]
}

/// A shader as a command of glslc names it.
struct Command {
    path: PathBuf,
    macros: Vec<MacroOption>,
    directories: Vec<PathBuf>,
}

impl Command {
    fn read(line: &str) -> Option<Command> {
        let (mut path, mut macros, mut directories) = (None, Vec::new(), Vec::new());
        for word in line.split_whitespace() {
            if let Some(define) = word.strip_prefix("-D") {
                let (name, value) = define.split_once('=').unwrap_or((define, "1"));
                macros.push(MacroOption::Define { name: name.to_owned(), value: value.to_owned() });
            } else if let Some(folder) = word.strip_prefix("-I") {
                directories.push(folder.into());
            } else if !word.starts_with('-') {
                path = Some(PathBuf::from(word));
            }
        }
        Some(Command { path: path?, macros, directories })
    }

    /// The text for a profile, or why there is none.
    fn text(&self, profile: &str) -> Result<Result<String, by_text::Refusal>, String> {
        let source = std::fs::read(&self.path).map_err(|e| format!("{}: {e}", self.path.display()))?;
        let name = self.path.display().to_string();
        let loader = FileLoader { directories: self.directories.clone(), ..FileLoader::default() };
        let mut options =
            Options { stage: Some(Stage::Compute), macros: self.macros.clone(), ..Options::new(named(profile)?) };
        if options.profile.target == Target::Wgsl {
            options.places.push_constants = Some(by_text::PUSH_CONSTANTS);
        }
        by_text::text(&Input { name: &name, bytes: &source, language: Language::Glsl }, &options, &loader)
    }
}

/// The compute shaders of a folder, or the commands of a file.
fn commands(set: &Path) -> Result<Vec<Command>, String> {
    if !set.is_dir() {
        let text = std::fs::read_to_string(set).map_err(|e| format!("{}: {e}", set.display()))?;
        return Ok(text.lines().filter_map(Command::read).collect());
    }
    let mut found = Vec::new();
    let mut folders = vec![set.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|e| e.to_string())? {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "comp") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found.into_iter().map(|path| Command { path, macros: Vec::new(), directories: Vec::new() }).collect())
}

/// Counts for the shaders of a set in one language.
#[derive(Default, Clone)]
struct Count {
    made: usize,
    taken: usize,
}

/// Counts, and the reasons by profile and set.
#[derive(Default)]
struct Found {
    rows: Vec<Vec<String>>,
    reasons: BTreeMap<(String, String, String), usize>,
    wrong: Vec<String>,
}

fn count(sets: &str) -> Result<(), String> {
    let mut found = Found::default();
    for set in sets.split(',').map(Path::new) {
        found.set(set)?;
    }
    let page = found.page();
    println!("{page}");
    if let Some(path) = std::env::var_os("CROSSLANE_VERIFIED") {
        write(Path::new(&path), &page)?;
    }
    if found.wrong.is_empty() { Ok(()) } else { Err(found.wrong.join("\n")) }
}

impl Found {
    fn set(&mut self, set: &Path) -> Result<(), String> {
        let title = set.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut counts = vec![Count::default(); WAYS.len()];
        let mut all = 0;
        // Shaders that cannot be read at all are counted in other tables.
        for command in commands(set)?.iter().filter(|command| is_read(command)) {
            all += 1;
            for (way, count) in WAYS.iter().zip(&mut counts) {
                self.shader(command, way, &title, count);
            }
        }
        let shown = counts.iter().map(|count| format!("{} of {}", count.taken, count.made));
        self.rows.push([title.clone(), all.to_string()].into_iter().chain(shown).collect());
        Ok(())
    }

    fn shader(&mut self, command: &Command, way: &Way, set: &str, count: &mut Count) {
        let place = format!("{} for {}", command.path.display(), way.profile);
        let reason = match command.text(way.profile) {
            Err(said) => general(said.lines().next().unwrap_or_default()),
            Ok(Err(refusal)) => general(&refusal.first),
            Ok(Ok(text)) => {
                count.made += 1;
                let Err(why) = (way.takes)(&text) else {
                    count.taken += 1;
                    return;
                };
                self.wrong.push(format!("{place}: {why}"));
                "the judge does not take the text".to_owned()
            }
        };
        *self.reasons.entry((way.profile.to_owned(), reason, set.to_owned())).or_default() += 1;
    }

    fn page(&self) -> String {
        let profiles = WAYS.iter().map(|way| way.profile);
        let head: Vec<&str> = ["set", "shaders"].into_iter().chain(profiles).collect();
        let reason = |((profile, reason, set), shaders): (&(String, String, String), &usize)| {
            vec![profile.clone(), reason.clone(), set.clone(), shaders.to_string()]
        };
        let reasons: Vec<Vec<String>> = self.reasons.iter().map(reason).collect();
        let mut page = report::table(&head, &self.rows);
        let _ = write!(page, "\n{}", report::table(&["profile", "refused", "set", "shaders"], &reasons));
        page
    }
}

/// Returns true if a shader compiles to SPIR-V.
fn is_read(command: &Command) -> bool {
    // Binary output where text was requested.
    matches!(command.text("spirv-1.6"), Err(said) if said == by_text::WORDS)
}

/// A message without the names of the shader.
fn general(message: &str) -> String {
    let parts = message.split('`').enumerate().map(|(at, part)| if at % 2 == 1 { "…" } else { part });
    parts.collect::<Vec<_>>().join("`").replace('|', "\\|")
}

/// Replaces the page's tables, from its first table to its first section.
fn write(path: &Path, tables: &str) -> Result<(), String> {
    let there = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let head: Vec<&str> = there.lines().take_while(|line| !line.starts_with('|')).collect();
    let rest = there.find("\n## ").map_or("", |at| &there[at..]);
    std::fs::write(path, format!("{}\n{tables}{rest}", head.join("\n"))).map_err(|e| format!("{}: {e}", path.display()))
}
