//! Compiles shaders from a build script: reads files, reports to cargo, writes the results.

use super::cargo::Lines;
use super::claims::Claims;
use super::error::Error;
use super::files::{FileLoader, Recorder, not_utf8};
use super::read::SHADER_LIMIT;
use super::rust::{self, Item, constant_name, module_name};
use super::twins::{self, Maker};
use super::walk::{self, Reach, is_hidden};
use super::{kind, write};
use crate::backend::reflection::Reflection;
use crate::backend::{Kept, Manner, Notes, Optimize};
use crate::compile::{Artifact, Bound, Input, InputPlace, Options, Place, Places, Reading, Verdict};
use crate::diagnostic::Diagnostics;
use crate::diagnostic::warning::{Choice, UnknownWarning};
use crate::glsl::preprocess::MacroOption;
use crate::ir::{ClipSpace, FpContract};
use crate::kernel::{self, LaneContract};
use crate::lane::check;
use crate::profile::{Placing, Profile, WaveSize};
use crate::source::{IncludeKind, LoadError, Loader};
use crate::wgsl::BoundsChecks;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The default profile.
const DEFAULT_PROFILE: &str = "spirv-1.3";

/// The shaders to compile, the profiles and the options. Paths are relative to the package's folder, where cargo runs
/// build scripts.
#[derive(Default)]
#[must_use = "nothing happens before `compile` or `compile_dir`"]
pub struct Builder {
    profiles: Vec<String>,
    wave_size: Option<WaveSize>,
    macros: Vec<MacroOption>,
    include_dirs: Vec<PathBuf>,
    out_dir: Option<PathBuf>,
    name: Option<String>,
    loader: Option<Box<dyn Loader>>,
    deny_warnings: bool,
    warnings: Vec<String>,
    debug: bool,
    manner: Manner,
    bounds_checks: BoundsChecks,
    fp_contract: FpContract,
    clip_space: ClipSpace,
    places: Places,
    bytemuck: bool,
    is_silent: bool,
}

impl Builder {
    /// A builder for SPIR-V 1.3, unless you name other profiles.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Compiles for a profile: a name from `crosslane profiles`, or a `.toml` file. May be repeated.
    pub fn profile(mut self, name: impl Into<String>) -> Builder {
        self.profiles.push(name.into());
        self
    }

    /// Promises a subgroup size, or the least one, as `--wave-size` of the command does. Your program keeps the promise.
    pub fn wave_size(mut self, size: WaveSize) -> Builder {
        self.wave_size = Some(size);
        self
    }

    /// Defines a macro.
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Builder {
        self.macros.push(MacroOption::Define { name: name.into(), value: value.into() });
        self
    }

    /// Adds an include directory, searched after the earlier ones.
    pub fn include_dir(mut self, folder: impl Into<PathBuf>) -> Builder {
        self.include_dirs.push(folder.into());
        self
    }

    /// Writes to this folder instead of `OUT_DIR`.
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Builder {
        self.out_dir = Some(folder.into());
        self
    }

    /// Writes the results to `NAME.rs` instead of `shaders.rs`, and the individual outputs to a folder of that name.
    /// Each builder of a build script needs its own name, or an [`out_dir`](Builder::out_dir).
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.name = Some(name.into());
        self
    }

    /// Loads includes through this loader instead of the file system. The shaders themselves are files.
    pub fn loader(mut self, loader: impl Loader + 'static) -> Builder {
        self.loader = Some(Box::new(loader));
        self
    }

    /// Treats warnings as errors.
    pub fn deny_warnings(mut self, deny: bool) -> Builder {
        self.deny_warnings = deny;
        self
    }

    /// Configures a kind of warning, like the command's `-W`: `no-divergent-lanes` turns it off,
    /// `error=divergent-lanes` makes it an error. May be repeated.
    pub fn warning(mut self, choice: impl Into<String>) -> Builder {
        self.warnings.push(choice.into());
        self
    }

    /// Keeps names and source lines.
    pub fn debug(mut self, debug: bool) -> Builder {
        self.debug = debug;
        self
    }

    /// Optimizes SPIR-V, as `-O` and `-Os` of the command do. Assembly is always optimized.
    pub fn optimize(mut self, goal: Optimize) -> Builder {
        self.manner.optimize = goal;
        self
    }

    /// Keeps the source's comments in shading languages, or adds `#line` directives, like the command's `--comments`
    /// and `--line-directives`.
    pub fn notes(mut self, notes: Notes) -> Builder {
        self.manner.notes = notes;
        self
    }

    /// Checks indices in WGSL shaders; GLSL indices are never checked.
    pub fn bounds_checks(mut self, checks: BoundsChecks) -> Builder {
        self.bounds_checks = checks;
        self
    }

    /// Sets whether floating-point `a * b + c` may be rounded once, like the command's `--fp-contract`.
    pub fn fp_contract(mut self, choice: FpContract) -> Builder {
        self.fp_contract = choice;
        self
    }

    /// Changes the positions that vertex and tessellation evaluation shaders write, like the command's `--flip-y` and
    /// `--depth-range`.
    pub fn clip_space(mut self, space: ClipSpace) -> Builder {
        self.clip_space = space;
        self
    }

    /// Puts push constants into a uniform buffer at this place, for WGSL, GLSL, HLSL and MSL.
    pub fn push_constants(mut self, place: Place) -> Builder {
        self.places.push_constants = Some(place);
        self
    }

    /// Moves the resource of a set and binding to another place, for WGSL, GLSL, HLSL and MSL. May be repeated.
    pub fn place(mut self, resource: Bound, place: Place) -> Builder {
        self.places.resources.insert(resource, place);
        self
    }

    /// Turns each descriptor set into an argument buffer of MSL, as `--argument-buffers` of the command does.
    pub fn argument_buffers(mut self, make: bool) -> Builder {
        self.places.argument_buffers = make;
        self
    }

    /// Moves the vertex input at a location to another one, or gives it an HLSL semantic. May be repeated.
    pub fn vertex_input(mut self, location: u32, place: InputPlace) -> Builder {
        self.places.inputs.insert(location, place);
        self
    }

    /// Derives `bytemuck::Pod` and `bytemuck::Zeroable` for the structs of blocks. The crate that includes the results
    /// then depends on bytemuck with its features `derive` and `min_const_generics`.
    pub fn bytemuck(mut self, derive: bool) -> Builder {
        self.bytemuck = derive;
        self
    }

    /// Sets whether to report dependencies and errors to cargo; the default is true.
    pub fn cargo_metadata(mut self, print: bool) -> Builder {
        self.is_silent = !print;
        self
    }

    /// Compiles every shader below a folder, by extension: `.comp`, `.wgsl`, … A `.glsl` file without a stage in its
    /// name (unlike `a.comp.glsl`) is treated as an include file.
    ///
    /// # Errors
    /// Returns an error if a shader is wrong, a profile cannot express it, or a file cannot be read or written. The
    /// error has already been reported to cargo.
    pub fn compile_dir(self, folder: impl AsRef<Path>) -> Result<(), Error> {
        let folder = folder.as_ref();
        let mut lines = Lines::new(!self.is_silent);
        lines.file(&folder.display().to_string());
        let found = shaders_below(folder).and_then(|shaders| {
            let maker = self.maker(folder.display().to_string());
            self.compile_all(&shaders, maker, &mut lines, |path| kind::stem(path.strip_prefix(folder).unwrap_or(path)))
        });
        told(found, &mut lines)
    }

    /// Compiles these shaders, which are called after their files alone.
    ///
    /// # Errors
    /// Like [`Builder::compile_dir`].
    pub fn compile<P: AsRef<Path>>(self, shaders: impl IntoIterator<Item = P>) -> Result<(), Error> {
        let mut lines = Lines::new(!self.is_silent);
        let shaders: Vec<PathBuf> = shaders.into_iter().map(|path| path.as_ref().to_path_buf()).collect();
        let names: Vec<String> = shaders.iter().map(|path| path.display().to_string()).collect();
        let maker = self.maker(names.join(", "));
        let made =
            self.compile_all(&shaders, maker, &mut lines, |path| kind::stem(path.file_name().map_or(path, Path::new)));
        told(made, &mut lines)
    }

    /// Distinguishes the outputs of this builder, for these shaders, from others.
    fn maker(&self, shaders: String) -> Maker {
        let Builder { profiles, macros, include_dirs, debug, manner, bounds_checks, .. } = self;
        let Builder { fp_contract, clip_space, places, bytemuck, wave_size, .. } = self;
        let of_floats = format!("{fp_contract:?} {clip_space:?}");
        let options = format!("{debug} {manner:?} {bounds_checks:?} {of_floats} {places:?} {bytemuck} {wave_size:?}");
        let request = format!("{shaders} {profiles:?} {macros:?} {include_dirs:?} {options}");
        let profiles = if profiles.is_empty() { DEFAULT_PROFILE.to_string() } else { profiles.join(", ") };
        let defines = macros.iter().filter_map(MacroOption::defined).map(|(name, value)| format!(", {name}={value}"));
        Maker { request, title: format!("{shaders} for {profiles}{}", defines.collect::<String>()) }
    }

    fn compile_all(
        &self,
        shaders: &[PathBuf],
        maker: Maker,
        lines: &mut Lines,
        stem: impl Fn(&Path) -> String,
    ) -> Result<(), Error> {
        let claims = Claims::default();
        let (text_file, folder) = self.places(lines)?;
        let profiles = self.read_profiles(lines, &claims)?;
        let (mut items, mut failures) = (Vec::new(), Vec::new());
        for path in shaders {
            let name = path.to_str().ok_or_else(|| Error::Setup(not_utf8(path)))?;
            lines.file(name);
            let bytes = claims.read(path, SHADER_LIMIT).map_err(|error| cannot("read", path, &error))?;
            let stem = stem(path);
            let mut readings = Vec::new();
            for profile in &profiles {
                match self.compile_one(path, &bytes, profile, &mut readings, lines, &claims)? {
                    Some((artifact, reflection, least_subgroup_size)) => {
                        let (shader, module) = (path.display().to_string(), module_name(&stem));
                        let (ending, profile) = (profile.target.row().ending, profile.name.to_string());
                        items.push(Item { shader, module, profile, ending, artifact, reflection, least_subgroup_size });
                    }
                    None => failures.push(path.clone()),
                }
            }
        }
        failures.dedup();
        if !failures.is_empty() {
            return Err(Error::Shaders(failures));
        }
        check_names(&items)?;
        let files: Vec<PathBuf> = items.iter().map(|item| folder.join(file_name(item))).collect();
        claim([std::slice::from_ref(&text_file), &files].concat(), &maker)?;
        fs::create_dir_all(&folder).map_err(|error| cannot("make", &folder, &error))?;
        write_file(&text_file, rust::text(&items, self.bytemuck).as_bytes(), &claims)?;
        items.iter().zip(&files).try_for_each(|(item, file)| write_file(file, &item.artifact.to_bytes(), &claims))
    }

    /// The file of the constants, and the folder of the single outputs.
    fn places(&self, lines: &mut Lines) -> Result<(PathBuf, PathBuf), Error> {
        let out = self.out(lines)?;
        let Some(name) = &self.name else { return Ok((out.join("shaders.rs"), out)) };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(Error::Setup(format!(
                "a builder cannot be called {name:?}: letters, digits, `_` and `-` can be used"
            )));
        }
        Ok((out.join(format!("{name}.rs")), out.join(name)))
    }

    fn out(&self, lines: &mut Lines) -> Result<PathBuf, Error> {
        if let Some(folder) = &self.out_dir {
            fs::create_dir_all(folder).map_err(|error| cannot("make", folder, &error))?;
            return Ok(folder.clone());
        }
        lines.variable("OUT_DIR");
        let set = env::var_os("OUT_DIR").map(PathBuf::from);
        set.ok_or_else(|| {
            Error::Setup("OUT_DIR is not set: cargo sets it for build scripts, others name an out_dir".into())
        })
    }

    fn read_profiles(&self, lines: &mut Lines, claims: &Claims) -> Result<Vec<Profile>, Error> {
        let mut read = |name: &str| self.sized(read_profile(name, lines, claims)?);
        match self.profiles.as_slice() {
            [] => read(DEFAULT_PROFILE).map(|profile| vec![profile]),
            names => names.iter().map(|name| read(name)).collect(),
        }
    }

    /// The profile with the promised subgroup size.
    fn sized(&self, profile: Profile) -> Result<Profile, Error> {
        let Some(size) = self.wave_size else { return Ok(profile) };
        profile.promising(size).map_err(|why| Error::Setup(format!("wave size {size}: {why}")))
    }

    fn choices(&self) -> Result<Vec<Choice>, Error> {
        let read = |choice: &String| choice.parse().map_err(|error: UnknownWarning| Error::Setup(error.to_string()));
        self.warnings.iter().map(read).collect()
    }

    /// Compiles a shader and describes its bindings. Returns `None` and reports the errors to cargo if the shader is
    /// wrong. The shader is parsed once for all profiles that read it alike.
    fn compile_one(
        &self,
        path: &Path,
        bytes: &[u8],
        profile: &Profile,
        readings: &mut Vec<Reading>,
        lines: &mut Lines,
        claims: &Claims,
    ) -> Result<Option<(Artifact, Reflection, u32)>, Error> {
        let Some(kind) = kind::of(path) else {
            return Err(Error::Setup(format!("{} does not have the extension of a shader", path.display())));
        };
        let name = path.display().to_string();
        let input = Input { name: &name, bytes, language: kind.language };
        let files = FileLoader { directories: self.include_dirs.clone(), claims: claims.clone() };
        let recorder = Recorder::new(self.loader.as_deref().unwrap_or(&files));
        let options = Options {
            stage: kind.stage,
            macros: self.macros.clone(),
            deny_warnings: self.deny_warnings,
            warnings: self.choices()?,
            debug: self.debug.into(),
            manner: self.manner,
            bounds_checks: self.bounds_checks,
            fp_contract: self.fp_contract,
            clip_space: self.clip_space,
            places: self.places.clone(),
            ..Options::new(profile.clone())
        };
        let at = readings.iter().position(|reading| reading.serves(profile)).unwrap_or_else(|| {
            readings.push(Reading::new(&input, &options, &recorder));
            readings.len() - 1
        });
        let made = readings[at].compile(&options);
        lines.messages(&name, &made.sources, &made.diagnostics);
        recorder.into_found().iter().filter(|name| Path::new(&***name).exists()).for_each(|name| lines.file(name));
        let Verdict::Done(artifact) = made.verdict else { return Ok(None) };
        Ok(reflection(&name, &readings[at], &options, lines).map(|(facts, lanes)| (artifact, facts, lanes)))
    }
}

/// The bindings of a shader and its smallest subgroup; `None` if it has no kernel, which is reported to cargo.
fn reflection(shader: &str, reading: &Reading, options: &Options, lines: &mut Lines) -> Option<(Reflection, u32)> {
    let mut refusals = Diagnostics::new();
    let options = &*refusals.take(reading.narrowed(options))?;
    let Options { places, profile, .. } = options;
    let written = refusals.take(reading.written(profile))?;
    let module = &*places.applied(&written, profile.target.row().placing == Placing::Groups);
    let entry = refusals.take(kernel::only_entry(module).map_err(|error| vec![*error]));
    lines.messages(shader, reading.sources(), &refusals);
    let entry = entry?;
    let lanes = LaneContract::of_entry(module, entry).least_of(profile);
    Some((Reflection::of(module, entry, Kept::None, profile.wave_size), lanes))
}

/// Reports a setup error to cargo. Errors in shaders have been reported already.
fn told(result: Result<(), Error>, lines: &mut Lines) -> Result<(), Error> {
    if let Err(Error::Setup(why)) = &result {
        lines.error(why);
    }
    result
}

fn read_profile(name: &str, lines: &mut Lines, claims: &Claims) -> Result<Profile, Error> {
    if !name.ends_with(".toml") {
        return Profile::named(name).ok_or_else(|| Error::Setup(Profile::unknown(name)));
    }
    let files = FileLoader { claims: claims.clone(), ..FileLoader::default() };
    let recorder = Recorder::new(&files);
    let loaded = recorder.load(name, IncludeKind::Quoted, "").map_err(|error| match error {
        LoadError::NotFound(_) => Error::Setup(format!("cannot read {name}: there is no such file")),
        LoadError::Unreadable(why) => Error::Setup(why),
    })?;
    let profile = Profile::from_file(&loaded.text, &loaded.name, &recorder);
    recorder.into_found().iter().for_each(|file| lines.file(file));
    let profile = profile.map_err(|error| Error::Setup(error.to_string()))?;
    check::prove(&profile).map_err(|unsound| Error::Setup(format!("{name}: internal error: {unsound}")))?;
    Ok(profile)
}

/// The shaders below a folder, ordered by name, without hidden and include-only files.
fn shaders_below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let tree = walk::below(folder, Reach::default());
    let mut shaders = tree.map_err(|(folder, error)| cannot("read", &folder, &error))?.files;
    shaders.retain(|path| !is_hidden(path) && is_shader(path));
    shaders.sort();
    if shaders.is_empty() {
        Err(Error::Setup(format!("there is no shader in {}", folder.display())))
    } else {
        Ok(shaders)
    }
}

fn is_shader(path: &Path) -> bool {
    kind::of(path).is_some_and(|kind| kind.stage.is_some() || path.extension().is_some_and(|end| end == "wgsl"))
}

/// `sub_a.spirv-1.3.spv`
fn file_name(item: &Item) -> String {
    format!("{}.{}{}", item.module, item.profile, item.ending)
}

fn check_names(items: &[Item]) -> Result<(), Error> {
    let mut makers = BTreeMap::new();
    for item in items {
        let name = format!("{}::{}", item.module, constant_name(&item.profile));
        if let Some(other) = makers.insert(name.clone(), &item.shader) {
            let twins =
                if *other == item.shader { format!("{other}, twice") } else { format!("{other} and {}", item.shader) };
            return Err(Error::Setup(format!("two outputs are called {name}: {twins}")));
        }
    }
    Ok(())
}

/// Claims files that no other builder of this process may write.
fn claim(files: Vec<PathBuf>, maker: &Maker) -> Result<(), Error> {
    twins::claim(&files, maker).map_err(|(file, other)| {
        let (file, other, own) = (file.display(), &other.title, &maker.title);
        let advice = "give one of them another `Builder::name` or `out_dir`";
        Error::Setup(format!("two builders write {file}: that of {other} and that of {own}; {advice}"))
    })
}

fn write_file(path: &Path, bytes: &[u8], claims: &Claims) -> Result<(), Error> {
    write::whole(path, bytes, claims).map(drop).map_err(|error| cannot("write", path, &error))
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::Setup(format!("cannot {what} {}: {error}", path.display()))
}
