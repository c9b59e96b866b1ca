//! The plan of a manifest: every output with its shader, profile and macros. This module matches globs and reads
//! profiles. It reads no shader and writes nothing.

use super::super::CommandError;
use super::manifest::{Build, Emit, Manifest, Scalar, Settings, Values};
use super::search::search;
use super::target::BuildTarget;
use crate::build::claims::Claims;
use crate::build::files::{FileLoader, normal};
use crate::build::identity::Identity;
use crate::build::kind::{self, Kind, stem};
use crate::compile::EmitKind;
use crate::glsl::preprocess::{MacroOption, check_name};
use crate::profile;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything to build, in the manifest's order.
pub struct Plan {
    /// The jobs of one shader of one `[[build]]` are adjacent.
    pub jobs: Vec<Job>,
    /// Folders of outputs, each once.
    pub out_dirs: Vec<PathBuf>,
    /// Folders that globs searched: a new file there may be a new shader.
    pub searched: BTreeSet<PathBuf>,
    /// Files that profiles were read from.
    pub profile_files: BTreeSet<PathBuf>,
    /// The files that must not be overwritten: the manifest and the profiles' files so far.
    pub claims: Claims,
}

/// One output.
pub struct Job {
    /// Jobs with the same number have the same shader and differ in profile and macros.
    pub group: usize,
    pub shader: Arc<Shader>,
    /// The other stages of its program, with which it agrees.
    pub others: Arc<[Arc<Shader>]>,
    pub target: Arc<BuildTarget>,
    pub macros: Arc<[MacroOption]>,
    pub common: Arc<Common>,
    /// Line of the manifest where its `[[build]]` names shaders.
    line: usize,
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
    /// The stem of its outputs' names: its path after the fixed part of the glob, without the extension.
    stem: String,
}

/// The options that all jobs of a `[[build]]` share.
pub struct Common {
    pub settings: Settings,
    /// The settings as text, for the hash of an output's inputs.
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
    /// Returns an error if a glob matches nothing or no shader, a profile does not exist or lacks the wave size, or two
    /// outputs have the same name.
    pub fn new(manifest: &Manifest, claims: &Claims) -> Result<Plan, CommandError> {
        let mut plan = Plan {
            jobs: Vec::new(),
            out_dirs: Vec::new(),
            searched: BTreeSet::new(),
            profile_files: BTreeSet::new(),
            claims: claims.clone(),
        };
        for build in &manifest.builds {
            plan.add(manifest, build)?;
        }
        plan.check_names(manifest)?;
        plan.check_inputs()?;
        Ok(plan)
    }

    fn add(&mut self, manifest: &Manifest, build: &Build) -> Result<(), CommandError> {
        let shaders = self.shaders(manifest, build)?;
        check_size(manifest, build, self.jobs.len(), &dimensions(build, shaders.len()))?;
        let choices = choices(manifest, build)?;
        let targets = self.targets(manifest, build)?;
        let directories = build.options.include_dirs.iter().map(|dir| normal(&manifest.folder().join(dir))).collect();
        let settings = build.options.clone();
        let settings_text = format!("{settings:?}");
        let common = Arc::new(Common {
            settings,
            settings_text,
            loader: FileLoader { directories, claims: self.claims.clone() },
        });
        let line = manifest.place(build.shaders.span()).0;
        let out_dir = self.out_dir(normal(&manifest.folder().join(&build.out_dir)));
        for shader in &shaders {
            let others = if build.link { others(shader, &shaders) } else { Vec::new() };
            check_stages(manifest, build, shader, &others)?;
            let others: Arc<[Arc<Shader>]> = others.into();
            let group = self.jobs.last().map_or(0, |job| job.group + 1);
            for choice in &choices {
                for target in &targets {
                    self.jobs.push(job(
                        group,
                        (shader, &others),
                        choice,
                        target,
                        &common,
                        line,
                        (out_dir, &self.out_dirs[out_dir]),
                    ));
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

    /// The shaders of all globs, each once, ordered by name within a glob.
    fn shaders(&mut self, manifest: &Manifest, build: &Build) -> Result<Vec<Arc<Shader>>, CommandError> {
        let mut seen = BTreeSet::new();
        let mut shaders = Vec::new();
        for pattern in build.shaders.get_ref() {
            let found = search(manifest.folder(), pattern.get_ref());
            let found = found.map_err(|why| manifest.error(pattern.span(), &why))?;
            self.searched.extend(found.folders);
            for path in found.files.into_iter().filter(|path| seen.insert(path.clone())) {
                let Some(kind) = kind::of(&path) else {
                    let message =
                        format!("{} does not have the extension of a shader (.comp, .wgsl, …)", path.display());
                    return Err(manifest.error(pattern.span(), &message));
                };
                let below = path.strip_prefix(&found.fixed).unwrap_or(&path);
                shaders.push(Arc::new(Shader { stem: stem(below), kind, path }));
            }
        }
        Ok(shaders)
    }

    /// Each profile at each wave size.
    fn targets(&mut self, manifest: &Manifest, build: &Build) -> Result<Vec<Arc<BuildTarget>>, CommandError> {
        let targets = targets(manifest, build, &self.claims)?;
        self.profile_files.extend(targets.iter().flat_map(|target| &target.files).map(PathBuf::from));
        Ok(targets.into_iter().map(Arc::new).collect())
    }

    fn check_names(&self, manifest: &Manifest) -> Result<(), CommandError> {
        let mut makers: FxHashMap<&Path, &Job> = FxHashMap::default();
        for job in &self.jobs {
            if let Some(other) = makers.insert(&job.output, job) {
                let [one, two] = [other, job].map(|job| job.describe(manifest));
                return Err(CommandError(format!("two outputs are called {}: {one} and {two}", job.output.display())));
            }
        }
        Ok(())
    }

    /// The shaders, each once for its `[[build]]`.
    pub fn inputs(&self) -> impl Iterator<Item = &Path> {
        self.jobs.chunk_by(|one, other| one.group == other.group).map(|group| &*group[0].shader.path)
    }

    /// Refuses outputs that are shaders, through any link.
    fn check_inputs(&self) -> Result<(), CommandError> {
        let known = |path| Some((Identity::of(path)?, path));
        let shaders: FxHashMap<Identity, &Path> = self.inputs().filter_map(known).collect();
        for job in &self.jobs {
            let shader = Identity::of(&job.output).and_then(|identity| shaders.get(&identity));
            if let Some(shader) = shader {
                let (output, shader) = (job.output.display(), shader.display());
                return Err(CommandError(format!("the output {output} is the same file as the shader {shader}")));
            }
        }
        Ok(())
    }
}

impl Job {
    /// Distinguishes it from the other outputs of a manifest.
    fn describe(&self, manifest: &Manifest) -> String {
        let defines: Vec<String> = self.macros.iter().filter_map(MacroOption::defined).map(define).collect();
        let with = if defines.is_empty() { String::new() } else { format!(" with {}", defines.join(", ")) };
        let (shader, target) = (self.shader.path.display(), self.target.name());
        format!("{shader} for {target}{with} ({}:{})", manifest.path.display(), self.line)
    }
}

fn define((name, value): (String, String)) -> String {
    format!("{name}={value}")
}

fn job(
    group: usize,
    (shader, others): (&Arc<Shader>, &Arc<[Arc<Shader>]>),
    choice: &Choice,
    target: &Arc<BuildTarget>,
    common: &Arc<Common>,
    line: usize,
    (out_dir, folder): (usize, &Path),
) -> Job {
    let extension = extension(common.settings.emit, target.profile.target);
    let name = format!("{}{}{}{extension}", shader.stem, choice.part, target.part);
    Job {
        group,
        output: folder.join(&name),
        shader: shader.clone(),
        others: others.clone(),
        target: target.clone(),
        macros: choice.macros.clone(),
        common: common.clone(),
        line,
        name,
        out_dir,
    }
}

/// The other stages of a shader's program.
fn others(shader: &Shader, all: &[Arc<Shader>]) -> Vec<Arc<Shader>> {
    let name = kind::program(&shader.path);
    all.iter().filter(|other| other.path != shader.path && kind::program(&other.path) == name).cloned().collect()
}

/// # Errors
/// Returns an error if a program has two shaders of the same stage.
fn check_stages(
    manifest: &Manifest,
    build: &Build,
    shader: &Shader,
    others: &[Arc<Shader>],
) -> Result<(), CommandError> {
    match others.iter().find(|other| other.kind.stage == shader.kind.stage) {
        Some(other) => {
            let (one, two) = (shader.path.display(), other.path.display());
            let message = format!("{one} and {two} are of one stage, and cannot be linked");
            Err(manifest.error(build.shaders.span(), &message))
        }
        None => Ok(()),
    }
}

impl Emit {
    /// The compiler's kind of output.
    pub fn kind(self) -> EmitKind {
        match self {
            Emit::Binary => EmitKind::Binary,
            Emit::Assembly => EmitKind::Assembly,
            Emit::Reflection => EmitKind::Reflection,
        }
    }
}

fn extension(emit: Emit, target: profile::Target) -> &'static str {
    match emit {
        Emit::Reflection => ".json",
        Emit::Binary => target.row().ending,
        Emit::Assembly => target.row().text_ending,
    }
}

/// Outputs that a manifest may name.
const OUTPUT_LIMIT: usize = 100_000;

/// # Errors
/// Returns an error if a `[[build]]` makes the plan too large; the message names the dimensions.
fn check_size(manifest: &Manifest, build: &Build, before: usize, dimensions: &[Dimension]) -> Result<(), CommandError> {
    let total = dimensions.iter().fold(1_usize, |total, dimension| total.saturating_mul(dimension.values));
    if before.saturating_add(total) <= OUTPUT_LIMIT {
        return Ok(());
    }
    let several = dimensions.iter().filter(|dimension| dimension.values > 1);
    let product: Vec<String> = several.map(|it| format!("{} ({})", it.name, it.values)).collect();
    let more = if before > 0 { format!(", with {before} of other builds") } else { String::new() };
    let message = format!("more than {OUTPUT_LIMIT} outputs: the product of {}{more}", product.join(" and "));
    Err(manifest.error(build.shaders.span(), &message))
}

/// A dimension of the product of a `[[build]]`'s outputs.
struct Dimension {
    name: String,
    values: usize,
}

/// The dimensions of the product.
fn dimensions(build: &Build, shaders: usize) -> Vec<Dimension> {
    let of = |name: &str, values: usize| Dimension { name: name.to_string(), values };
    let lists = [
        of("shaders", shaders),
        of("profiles", build.profiles.get_ref().len()),
        of("wave-sizes", build.wave_sizes.len().max(1)),
    ];
    let defines = build.defines.iter().map(|(name, values)| match values.get_ref() {
        Values::One(_) => of(name, 1),
        Values::Many(list) => of(name, list.len()),
    });
    lists.into_iter().chain(defines).collect()
}

/// Every combination of macro values; only macros with a choice are part of a name. Each profile of a `[[build]]` at
/// each wave size.
///
/// # Errors
/// Returns an error if a profile does not exist, its file is wrong, or it lacks the wave size.
pub fn targets(manifest: &Manifest, build: &Build, claims: &Claims) -> Result<Vec<BuildTarget>, CommandError> {
    let mut targets = Vec::new();
    let is_reproducible = build.options.reproducible;
    let mut add = |mut target: BuildTarget| {
        target.profile.reproducible |= is_reproducible;
        targets.push(target);
    };
    for name in build.profiles.get_ref() {
        let read = BuildTarget::read(name.get_ref(), manifest.folder(), claims);
        let own = read.map_err(|CommandError(why)| manifest.error(name.span(), &why))?;
        for size in &build.wave_sizes {
            let target = own.at_wave_size(*size.get_ref());
            add(target.map_err(|why| manifest.error(size.span(), &why))?);
        }
        if build.wave_sizes.is_empty() {
            add(own);
        }
    }
    Ok(targets)
}

/// The first choice of values for the macros of a `[[build]]`.
///
/// # Errors
/// Returns an error if a macro's name is not an identifier.
pub fn first_macros(manifest: &Manifest, build: &Build) -> Result<Arc<[MacroOption]>, CommandError> {
    Ok(choices(manifest, build)?.into_iter().next().map_or_else(|| Arc::new([]) as Arc<[_]>, |choice| choice.macros))
}

fn choices(manifest: &Manifest, build: &Build) -> Result<Vec<Choice>, CommandError> {
    let mut choices = vec![(Vec::new(), String::new())];
    for (name, values) in &build.defines {
        let (list, is_choice) = match values.get_ref() {
            Values::One(value) => (std::slice::from_ref(value), false),
            Values::Many(list) => (&list[..], list.len() > 1),
        };
        check_name(name).map_err(|why| manifest.error(values.span(), &why))?;
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

/// A macro's value, with `_` for characters that are not portable in file names.
fn file_name(value: &str) -> String {
    value.chars().map(|c| if c.is_ascii_alphanumeric() || "+-_".contains(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_the_path_without_its_ending() {
        let stems = ["sub/a.comp", "a.comp.glsl", "a.vert", "a.frag.glsl", "a.wgsl"].map(|path| stem(Path::new(path)));
        assert_eq!(stems, ["sub/a", "a", "a.vert", "a.frag", "a"]);
    }

    #[test]
    fn values_are_safe_in_names() {
        assert_eq!(file_name("a/b (1)"), "a_b__1_");
    }
}
