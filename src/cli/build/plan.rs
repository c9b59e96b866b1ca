//! What a manifest comes to: every output with its shader, profile and macros. Globs are matched and profiles read here;
//! no shader is, and nothing is written.

use super::super::CommandError;
use super::manifest::{Build, Emit, Lanes, Manifest, Scalar, Settings, Values};
use super::target::Target;
use crate::build::files::{FileLoader, normal};
use crate::build::kind::{self, Kind, stem};
use crate::cli::compile::check_macro;
use crate::compile::EmitKind;
use crate::glsl::preprocess::MacroOption;
use crate::profile;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// Everything to build, in the manifest's order.
pub struct Plan {
    /// The jobs of one shader of one `[[build]]` stand together.
    pub jobs: Vec<Job>,
    /// Folders of outputs, each once.
    pub out_dirs: Vec<PathBuf>,
    /// Folders that globs looked into: a file that appears there may be one more shader.
    pub searched: BTreeSet<PathBuf>,
    /// Files that profiles were read from.
    pub profile_files: BTreeSet<PathBuf>,
}

/// One output.
pub struct Job {
    /// The jobs of one number are of one shader and differ in profile and macros.
    pub group: usize,
    pub shader: Arc<Shader>,
    pub target: Arc<Target>,
    pub macros: Arc<[MacroOption]>,
    pub common: Arc<Common>,
    /// Path below the out-dir, with `/` on every system.
    pub name: String,
    /// Number of its folder among [`Plan::out_dirs`].
    pub out_dir: usize,
    /// The whole path.
    pub output: PathBuf,
}

/// A shader that a glob matched.
pub struct Shader {
    pub path: PathBuf,
    pub kind: Kind,
    /// What its outputs' names begin with: its path behind the fixed part of the glob, without the extension.
    stem: String,
}

/// What all jobs of a `[[build]]` share.
pub struct Common {
    pub settings: Settings,
    /// The settings as text, for what an output hangs on.
    pub settings_text: String,
    pub loader: FileLoader,
}

/// A choice of values for the macros.
struct Choice {
    macros: Arc<[MacroOption]>,
    /// Its part of the output's name.
    part: String,
}

impl Plan {
    /// # Errors
    /// When a glob matches nothing or no shader, a profile does not exist or has no such waves, or two outputs have one
    /// name.
    pub fn new(manifest: &Manifest) -> Result<Plan, CommandError> {
        let mut plan =
            Plan { jobs: Vec::new(), out_dirs: Vec::new(), searched: BTreeSet::new(), profile_files: BTreeSet::new() };
        for build in &manifest.builds {
            plan.add(manifest, build)?;
        }
        plan.check_names()?;
        Ok(plan)
    }

    fn add(&mut self, manifest: &Manifest, build: &Build) -> Result<(), CommandError> {
        let shaders = self.shaders(manifest, build)?;
        let choices = choices(manifest, build)?;
        let targets = self.targets(manifest, build)?;
        let directories = build.options.include_dirs.iter().map(|dir| normal(&manifest.folder().join(dir))).collect();
        let settings = build.options.clone();
        let settings_text = format!("{settings:?}");
        let common = Arc::new(Common { settings, settings_text, loader: FileLoader { directories } });
        let out_dir = self.out_dir(normal(&manifest.folder().join(&build.out_dir)));
        for shader in shaders {
            let group = self.jobs.last().map_or(0, |job| job.group + 1);
            for choice in &choices {
                for target in &targets {
                    self.jobs.push(job(group, &shader, choice, target, &common, (out_dir, &self.out_dirs[out_dir])));
                }
            }
        }
        Ok(())
    }

    fn out_dir(&mut self, path: PathBuf) -> usize {
        let known = self.out_dirs.iter().position(|dir| *dir == path);
        known.unwrap_or_else(|| {
            self.out_dirs.push(path);
            self.out_dirs.len() - 1
        })
    }

    /// The shaders of all globs, each once, those of a glob in the order of their names.
    fn shaders(&mut self, manifest: &Manifest, build: &Build) -> Result<Vec<Arc<Shader>>, CommandError> {
        let mut seen = BTreeSet::new();
        let mut shaders = Vec::new();
        for pattern in build.shaders.get_ref() {
            let matched = matches(manifest, pattern)?;
            let fixed = fixed_part(pattern.get_ref());
            self.searched.extend(folders(&manifest.folder().join(&fixed), pattern.get_ref()));
            for path in matched.into_iter().filter(|path| seen.insert(path.clone())) {
                let Some(kind) = kind::of(&path) else {
                    let message = format!("{} is no shader by its extension (.comp, .wgsl, …)", path.display());
                    return Err(manifest.error(pattern.span(), &message));
                };
                let below = path.strip_prefix(normal(&manifest.folder().join(&fixed))).unwrap_or(&path);
                shaders.push(Arc::new(Shader { stem: stem(below), kind, path }));
            }
        }
        Ok(shaders)
    }

    /// Each profile at each wave size.
    fn targets(&mut self, manifest: &Manifest, build: &Build) -> Result<Vec<Arc<Target>>, CommandError> {
        let mut targets = Vec::new();
        let is_reproducible = build.options.reproducible;
        let mut add = |mut target: Target| {
            target.profile.reproducible |= is_reproducible;
            targets.push(Arc::new(target));
        };
        for name in build.profiles.get_ref() {
            let read = Target::read(name.get_ref(), manifest.folder());
            let own = read.map_err(|CommandError(why)| manifest.error(name.span(), &why))?;
            self.profile_files.extend(own.files.iter().map(PathBuf::from));
            for lanes in &build.wave_sizes {
                let target = match lanes.get_ref() {
                    Lanes::Fixed(lanes) => own.at_wave_size(Some(*lanes)),
                    Lanes::Any(_) => own.at_wave_size(None),
                };
                add(target.map_err(|why| manifest.error(lanes.span(), &why))?);
            }
            if build.wave_sizes.is_empty() {
                add(own);
            }
        }
        Ok(targets)
    }

    fn check_names(&self) -> Result<(), CommandError> {
        let mut makers: FxHashMap<&Path, &Job> = FxHashMap::default();
        for job in &self.jobs {
            if let Some(other) = makers.insert(&job.output, job) {
                let [one, two] =
                    [other, job].map(|job| format!("{} for {}", job.shader.path.display(), job.target.name()));
                return Err(CommandError(format!("two outputs are called {}: {one} and {two}", job.output.display())));
            }
        }
        Ok(())
    }
}

fn job(
    group: usize,
    shader: &Arc<Shader>,
    choice: &Choice,
    target: &Arc<Target>,
    common: &Arc<Common>,
    (out_dir, folder): (usize, &Path),
) -> Job {
    let extension = extension(common.settings.emit, target.profile.target);
    let name = format!("{}{}{}{extension}", shader.stem, choice.part, target.part);
    Job {
        group,
        output: folder.join(&name),
        shader: shader.clone(),
        target: target.clone(),
        macros: choice.macros.clone(),
        common: common.clone(),
        name,
        out_dir,
    }
}

impl Emit {
    /// What the compiler is asked for.
    pub fn kind(self) -> EmitKind {
        match self {
            Emit::Binary => EmitKind::Binary,
            Emit::Assembly => EmitKind::Assembly,
            Emit::Reflection => EmitKind::Reflection,
        }
    }
}

fn extension(emit: Emit, target: profile::Target) -> &'static str {
    match (emit, target) {
        (Emit::Reflection, _) => ".json",
        (Emit::Binary, profile::Target::Spirv) => ".spv",
        (Emit::Assembly, profile::Target::Spirv) => ".spvasm",
        (_, profile::Target::Nv) => ".glasm",
        (_, profile::Target::Amd) => ".s",
    }
}

/// The files that a glob matches, by name.
fn matches(manifest: &Manifest, pattern: &Spanned<String>) -> Result<Vec<PathBuf>, CommandError> {
    let wrong = |message: String| manifest.error(pattern.span(), &message);
    let folder = glob::Pattern::escape(&manifest.folder().to_string_lossy());
    let whole = Path::new(&folder).join(pattern.get_ref());
    let options =
        glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
    let found = glob::glob_with(&whole.to_string_lossy(), options).map_err(|error| wrong(error.to_string()))?;
    let paths: Result<Vec<PathBuf>, glob::GlobError> = found.collect();
    let mut paths = paths.map_err(|error| wrong(error.to_string()))?;
    paths.retain(|path| !path.is_dir());
    paths.iter_mut().for_each(|path| *path = normal(path));
    paths.sort();
    if paths.is_empty() {
        return Err(wrong(format!("`{}` matches no file", pattern.get_ref())));
    }
    Ok(paths)
}

/// The folders of a glob before the first that has something to match; those of a plain path.
fn fixed_part(pattern: &str) -> PathBuf {
    let folder = Path::new(pattern).parent().unwrap_or(Path::new(""));
    let plain = |part: &std::path::Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    folder.components().take_while(plain).collect()
}

/// The folders that a glob looks into.
fn folders(fixed: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![normal(fixed)];
    let is_deep = Path::new(pattern).parent().is_some_and(|folder| fixed_part(pattern) != folder);
    let mut next = 0;
    while is_deep && next < found.len() {
        let here = if found[next].as_os_str().is_empty() { Path::new(".") } else { &found[next] };
        let entries = std::fs::read_dir(here).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let is_plain = |path: &PathBuf| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        found.extend(folders.map(|entry| normal(&entry.path())).filter(is_plain).collect::<Vec<_>>());
        next += 1;
    }
    found
}

/// Every choice of one value for each macro. Only macros with a choice are part of a name.
fn choices(manifest: &Manifest, build: &Build) -> Result<Vec<Choice>, CommandError> {
    let mut choices = vec![(Vec::new(), String::new())];
    for (name, values) in &build.defines {
        let (list, is_choice) = match values.get_ref() {
            Values::One(value) => (std::slice::from_ref(value), false),
            Values::Many(list) => (&list[..], list.len() > 1),
        };
        check_macro(name).map_err(|CommandError(why)| manifest.error(values.span(), &why))?;
        let with = |(macros, part): &(Vec<MacroOption>, String)| -> Vec<(Vec<MacroOption>, String)> {
            list.iter().map(|value| chosen(macros, part, name, value, is_choice)).collect()
        };
        choices = choices.iter().flat_map(with).collect();
    }
    Ok(choices.into_iter().map(|(macros, part)| Choice { macros: macros.into(), part }).collect())
}

fn chosen(
    macros: &[MacroOption],
    part: &str,
    name: &str,
    value: &Scalar,
    is_choice: bool,
) -> (Vec<MacroOption>, String) {
    let mut macros = macros.to_vec();
    let mut part = part.to_string();
    let text = value.text();
    if is_choice {
        part += &match value {
            Scalar::Bool(false) => String::new(),
            Scalar::Bool(true) => format!(".{name}"),
            _ => format!(".{name}-{}", file_name(text.as_deref().unwrap_or_default())),
        };
    }
    macros.extend(text.map(|value| MacroOption::Define { name: name.to_string(), value }));
    (macros, part)
}

/// A macro's value with `_` for what file names do not take everywhere.
fn file_name(value: &str) -> String {
    value.chars().map(|c| if c.is_ascii_alphanumeric() || "+-_".contains(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_the_path_behind_the_globs_fixed_part() {
        assert_eq!(fixed_part("shaders/**/*.comp"), Path::new("shaders"));
        assert_eq!(fixed_part("shaders/x/a.comp"), Path::new("shaders/x"));
        assert_eq!(fixed_part("*.comp"), Path::new(""));
        let stems = ["sub/a.comp", "a.comp.glsl", "a.vert", "a.frag.glsl", "a.wgsl"].map(|path| stem(Path::new(path)));
        assert_eq!(stems, ["sub/a", "a", "a.vert", "a.frag", "a"]);
    }

    #[test]
    fn values_are_safe_in_names() {
        assert_eq!(file_name("a/b (1)"), "a_b__1_");
    }
}
