//! `crosslane compile`: one shader, one profile, one output. `program` handles several.

use super::args::{CompileArgs, DialectArgs, Emit, Emitted, MessageArgs, PlaceArgs, SourceArgs, TargetArgs, Unused};
use super::endings::{self, Format};
use super::input::{self, Shader};
use super::output::Sink;
use super::{CommandError, Exit, Outcome, assemble, deps, messages, profiles, program, words};
use crate::backend::places::Places;
use crate::backend::{Kept, Manner, Notes};
use crate::build::claims::Claims;
use crate::build::files::{FileLoader, Include, Recorder};
use crate::build::kind;
use crate::compile::{Artifact, Compilation, EmitKind, Input, Language, Options, Reading, Verdict, compile};
use crate::diagnostic::warning::{self, Choice};
use crate::diagnostic::{Code, Diagnostics, Severity};
use crate::glsl::dialect::{self, BindingBase, Dialect, ResourceKind};
use crate::glsl::is_version;
use crate::glsl::preprocess::MacroOption;
use crate::ir::{ClipSpace, FpContract, Stage};
use crate::kernel::Specializations;
use crate::kernel::trace::Moment;

use crate::profile::{Placing, Profile, Target, WaveSize};
use crate::source::{IncludeKind, Loader, SourceMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn run(args: &CompileArgs, claims: &Claims) -> Outcome {
    if program::is_meant(args) {
        return program::run(args, claims);
    }
    make(args, claims).map(|made| made.exit)
}

/// The result of a compilation, and its messages.
pub struct Made {
    pub exit: Exit,
    pub errors: usize,
    pub warnings: usize,
}

/// A compilation that has not written anything yet.
pub struct Draft {
    pub made: Made,
    /// The files that the shader includes.
    pub includes: Vec<Include>,
    pub sources: Arc<SourceMap>,
    pub diagnostics: Diagnostics,
    output: Option<(Sink, Vec<u8>)>,
    deps: deps::Request,
    profile_files: Vec<Arc<str>>,
}

impl Draft {
    /// Writes the requested output, if the shader is right.
    pub fn write(self, args: &CompileArgs, claims: &Claims) -> Result<Made, CommandError> {
        if self.made.exit != Exit::Done {
            return Ok(self.made);
        }
        if let Some((sink, bytes)) = &self.output {
            sink.write(bytes, claims)?;
        }
        self.deps.write(&args.source.input, &self.includes, &self.profile_files, claims)?;
        Ok(self.made)
    }
}

/// Compiles the shader and writes the requested output.
pub fn make(args: &CompileArgs, claims: &Claims) -> Result<Made, CommandError> {
    draft(args, claims)?.write(args, claims)
}

/// Compiles the shader and prints the messages.
pub fn draft(args: &CompileArgs, claims: &Claims) -> Result<Draft, CommandError> {
    let draft = begin(args, claims)?.finish(args)?;
    messages::print(&args.messages, &draft.sources, &draft.diagnostics);
    Ok(draft)
}

/// A shader that was read, with the requested output.
pub struct Begun {
    step: Step,
    options: Options,
    sink: Sink,
    deps: deps::Request,
    includes: Vec<Include>,
    profile_files: Vec<Arc<str>>,
}

/// How far a compilation is.
enum Step {
    Read(Box<Reading>),
    /// It ended before there was a module.
    Ended(Compilation),
}

/// Reads the shader.
pub fn begin(args: &CompileArgs, claims: &Claims) -> Result<Begun, CommandError> {
    let disk = FileLoader { claims: claims.clone(), ..FileLoader::default() };
    let profile_files = Recorder::new(&disk);
    let profile = profile(&args.target, args.output.as_deref(), &profile_files)?;
    check_emit(args, &profile)?;
    let emit = emit_kind(args, profile.target)?;
    let sink = sink(args, emit, profile.target)?;
    let deps = deps::Request::new(args, &sink, profile.target)?;
    let shader = input::read(&args.source, claims)?;
    let options = Options {
        emit: if args.deps.deps_only { last_step(shader.language) } else { emit },
        debug: args.debug.into(),
        warnings: warnings(args),
        dialect: dialect(&args.dialect)?,
        clip_space: ClipSpace { flip_y: args.flip_y, depth: args.depth_range },
        manner: manner(args),
        places: places(&args.places, (!args.is_one_of_many).then_some(profile.target))?,
        settings: settings(&args.set)?,
        fp_contract: FpContract::chosen(args.source.fp_contract, args.target.reproducible),
        ..options(&args.source, &args.messages, &shader, profile)?
    };
    let disk = FileLoader { directories: args.source.include_dirs.clone(), claims: claims.clone() };
    let loader = Recorder::new(&disk);
    let mut step = step(&shader, &options, &loader);
    let others = others(args, &options, &loader, claims)?;
    link(&mut step, others)?;
    let mut includes = loader.into_includes();
    includes.extend(args.link_with.iter().map(|path| Include {
        name: path.display().to_string().into(),
        asked: path.display().to_string(),
        kind: IncludeKind::Quoted,
        from: shader.name.clone(),
    }));
    Ok(Begun { step, options, sink, deps, includes, profile_files: profile_files.into_found() })
}

/// The other stages of the program.
fn others(
    args: &CompileArgs,
    options: &Options,
    loader: &dyn Loader,
    claims: &Claims,
) -> Result<Vec<Reading>, CommandError> {
    let read = |path: &PathBuf| {
        // A language option for this shader does not apply to others whose extensions name a language.
        let lang = args.source.lang.filter(|_| kind::of(path).is_none());
        let source = SourceArgs { input: path.clone(), lang, stage: None, entry: None, ..args.source.clone() };
        let shader = input::read(&source, claims)?;
        let options = Options { stage: shader.stage, entry: None, ..options.clone() };
        let input = Input { name: &shader.name, bytes: &shader.bytes, language: shader.language };
        let reading = Reading::new(&input, &options, loader);
        match reading.module() {
            Some(_) => Ok(reading),
            None => {
                let reading = reading.compile(&options);
                messages::print(&args.messages, &reading.sources, &reading.diagnostics);
                Err(CommandError(format!("--link-with: {} is wrong", path.display())))
            }
        }
    };
    args.link_with.iter().map(read).collect()
}

/// Links the shader with the other stages of its program.
///
/// # Errors
/// Returns an error if two shaders have the same stage.
fn link(step: &mut Step, mut others: Vec<Reading>) -> Result<(), CommandError> {
    let Step::Read(own) = step else { return Ok(()) };
    let mut stages: Vec<&mut Reading> = std::iter::once(&mut **own).chain(&mut others).collect();
    let kinds: Vec<Option<Stage>> = stages.iter().map(|stage| stage.stage()).collect();
    if stages.len() > 1 && kinds.contains(&Some(Stage::Compute)) {
        return Err(CommandError("--link-with: a compute shader is a program of its own".into()));
    }
    let is_twice = |at: usize| kinds[at].is_some() && kinds[..at].contains(&kinds[at]);
    if let Some(at) = (1..kinds.len()).find(|at| is_twice(*at)) {
        let stage = kinds[at].map_or("", Stage::name);
        return Err(CommandError(format!("--link-with: the program has two {stage} shaders")));
    }
    if stages.len() > 1 {
        Reading::link(&mut stages);
    }
    Ok(())
}

/// If only the dependencies are requested, nothing after the preprocessor runs. WGSL has a single file, and its front
/// end is the shortest way to it.
fn last_step(language: Language) -> EmitKind {
    match language {
        Language::Glsl => EmitKind::Preprocessed,
        Language::Wgsl => EmitKind::Ir,
    }
}

fn step(shader: &Shader, options: &Options, loader: &dyn Loader) -> Step {
    let input = Input { name: &shader.name, bytes: &shader.bytes, language: shader.language };
    match options.emit {
        EmitKind::Preprocessed => Step::Ended(compile(&input, options, loader)),
        _ => Step::Read(Box::new(Reading::new(&input, options, loader))),
    }
}

impl Begun {
    /// The module and the messages so far; `None` if there will be no module.
    pub fn reading(&mut self) -> Option<&mut Reading> {
        match &mut self.step {
            Step::Read(reading) => Some(reading),
            Step::Ended(_) => None,
        }
    }

    /// Compiles the parsed shader.
    pub fn finish(self, args: &CompileArgs) -> Result<Draft, CommandError> {
        let Begun { step, options, sink, deps, includes, profile_files } = self;
        let compilation = match step {
            Step::Read(reading) => reading.compile(&options),
            Step::Ended(compilation) => compilation,
        };
        let (exit, artifact) = match &compilation.verdict {
            Verdict::Done(artifact) => (Exit::Done, Some(artifact)),
            Verdict::ShaderWrong => (Exit::ShaderWrong, None),
            Verdict::ProfileLacks => (Exit::ProfileLacks, None),
        };
        let artifact = artifact.filter(|_| !args.deps.deps_only && !args.check_only);
        let bytes = artifact.map(|artifact| output(args, &options.profile, artifact)).transpose()?;
        Ok(Draft {
            made: made(exit, &compilation.diagnostics),
            includes,
            sources: compilation.sources,
            diagnostics: compilation.diagnostics,
            output: bytes.map(|bytes| (sink, bytes)),
            deps,
            profile_files,
        })
    }
}

fn made(exit: Exit, diagnostics: &Diagnostics) -> Made {
    let warnings = diagnostics.iter().filter(|message| message.severity == Severity::Warning).count();
    Made { exit, errors: diagnostics.error_count(), warnings }
}

/// The choices of warnings. With `--wave-size any`, operations that depend on the subgroup size get a note.
fn warnings(args: &CompileArgs) -> Vec<Choice> {
    let asks = args.target.wave_size == Some(WaveSize::Any);
    let sizes = warning::of(Code::WAVE_SIZE).filter(|_| asks).map(Choice::on);
    sizes.into_iter().chain(args.messages.warnings.iter().copied()).collect()
}

/// The bytes to write: the artifact, or the output of LLVM's tools.
fn output(args: &CompileArgs, profile: &Profile, artifact: &Artifact) -> Result<Vec<u8>, CommandError> {
    match emit(args) {
        Some(Emit::Cubin) => assemble::cubin(&artifact.to_bytes(), profile),
        Some(Emit::Hsaco) => assemble::code_object(&artifact.to_bytes(), profile, args.llvm_dir.as_deref()),
        _ => Ok(match artifact {
            Artifact::Spirv(words) => words::written(words, &args.dialect),
            Artifact::Text(_) => artifact.to_bytes(),
        }),
    }
}

/// How SPIR-V and texts are written.
fn manner(args: &CompileArgs) -> Manner {
    let DialectArgs { nan_clamp, keep_unused, optimize, .. } = args.dialect;
    let notes = Notes { comments: args.comments, lines: args.line_directives };
    Manner { nan_clamp, keep_unused: kept(keep_unused), optimize: optimize.into(), notes }
}

fn kept(unused: Unused) -> Kept {
    match unused {
        Unused::None => Kept::None,
        Unused::Bindings => Kept::Bindings,
        Unused::All => Kept::All,
    }
}

/// The settings of the front end.
fn dialect(args: &DialectArgs) -> Result<Dialect, CommandError> {
    let unknown = |text: &String| CommandError(format!("--std: unknown GLSL version `{text}`"));
    let version =
        args.std.as_ref().map(|text| dialect::version(text).filter(|_| is_version(text)).ok_or(unknown(text)));
    let preamble: String = args.preamble.iter().flat_map(|text| [text, "\n"]).collect();
    Ok(Dialect {
        version: version.transpose()?,
        entry_name: args.entry_name.clone(),
        preamble: (!preamble.is_empty()).then_some(preamble),
        names_profile: args
            .std
            .as_ref()
            .filter(|_| args.compares_profiles)
            .map(|text| text.ends_with(char::is_alphabetic)),
        needs_stage: args.needs_stage,
        auto_bindings: args.auto_bindings,
        auto_locations: args.auto_locations,
        uniform_base: args.uniform_base,
        uniform_locations: args.uniform_location.iter().map(|text| uniform_location(text)).collect::<Result<_, _>>()?,
        bases: args.binding_base.iter().map(|text| binding_base(text)).collect::<Result<_, _>>()?,
    })
}

/// `NAME=N`
fn uniform_location(text: &str) -> Result<(String, u32), CommandError> {
    let parts = text.split_once('=').and_then(|(name, number)| Some((name.to_string(), number.parse().ok()?)));
    parts.ok_or_else(|| CommandError(format!("--uniform-location {text}: write NAME=N, as in color=4")))
}

/// `KIND[:STAGE[:SET]]=N`, with a stage that may be empty.
fn binding_base(text: &str) -> Result<BindingBase, CommandError> {
    let wrong = || CommandError(format!("--binding-base {text}: write KIND[:STAGE[:SET]]=N, as in uniform:vert=4"));
    let (place, number) = text.split_once('=').ok_or_else(wrong)?;
    let mut parts = place.split(':');
    let kind = match parts.next() {
        Some("uniform") => ResourceKind::Uniform,
        Some("storage") => ResourceKind::Storage,
        Some("texture") => ResourceKind::Texture,
        Some("sampler") => ResourceKind::Sampler,
        Some("image") => ResourceKind::Image,
        _ => return Err(wrong()),
    };
    let stage = parts.next().filter(|name| !name.is_empty());
    let stage = stage.map(|name| Stage::named(name).ok_or_else(wrong));
    let set = parts.next().map(|set| set.parse().map_err(|_| wrong()));
    let base = number.parse().map_err(|_| wrong())?;
    Ok(BindingBase { kind, stage: stage.transpose()?, set: set.transpose()?, base })
}

/// The values of specialization constants from `--set`.
pub fn settings(texts: &[String]) -> Result<Specializations, CommandError> {
    let mut settings = Specializations::new();
    for text in texts {
        let (name, value) =
            text.split_once('=').ok_or_else(|| CommandError(format!("--set {text}: write NAME=VALUE")))?;
        settings.set(name, value);
    }
    Ok(settings)
}

/// The places of resources.
///
/// # Errors
/// Returns an error if no target supports chosen places.
pub fn places(args: &PlaceArgs, targets: impl IntoIterator<Item = Target>) -> Result<Places, CommandError> {
    let PlaceArgs { push_constants, argument_buffers, .. } = *args;
    let mut places = Places { push_constants, argument_buffers, ..Places::default() };
    for text in &args.place {
        let wrong = |why: &str| CommandError(format!("--place {text}: {why}"));
        let (bound, place) = text.split_once('=').ok_or_else(|| wrong("write SET:BINDING=[GROUP:]N"))?;
        let bound = bound.parse().map_err(|why: String| wrong(&why))?;
        places.resources.insert(bound, place.parse().map_err(|why: String| wrong(&why))?);
    }
    for text in &args.vertex_input {
        let wrong = |why: &str| CommandError(format!("--vertex-input {text}: {why}"));
        let (location, place) = text.split_once('=').ok_or_else(|| wrong("write LOCATION=PLACE"))?;
        let location = location.parse().map_err(|_| wrong(&format!("`{location}` is not a location")))?;
        places.inputs.insert(location, place.parse().map_err(|why: String| wrong(&why))?);
    }
    let targets: Vec<Target> = targets.into_iter().collect();
    if argument_buffers && !targets.is_empty() && !targets.contains(&Target::Msl) {
        return Err(CommandError("--argument-buffers: only MSL has them".into()));
    }
    let mut rows = targets.into_iter().map(Target::row).peekable();
    match rows.peek().map(|row| row.language) {
        Some(language) if !places.is_empty() && rows.all(|row| row.placing == Placing::Fixed) => {
            Err(CommandError(format!("--place and --push-constants: {language} has the resources of the source")))
        }
        Some(language) if !places.inputs.is_empty() && rows.all(|row| row.placing == Placing::Fixed) => {
            Err(CommandError(format!("--vertex-input: {language} has the locations of the source")))
        }
        _ => Ok(places),
    }
}

/// The compile options for the arguments about the source and about messages.
pub fn options(
    args: &SourceArgs,
    messages: &MessageArgs,
    shader: &Shader,
    profile: Profile,
) -> Result<Options, CommandError> {
    let macros = macros(&args.defines, &args.undefines)?;
    if args.bounds_checks.is_some() && shader.language == Language::Glsl {
        return Err(CommandError("--bounds-checks: only WGSL has them".into()));
    }
    let bounds_checks = args.bounds_checks.unwrap_or_default();
    let (stage, entry) = (shader.stage, args.entry.clone());
    let fp_contract = FpContract::chosen(args.fp_contract, false);
    let MessageArgs { deny_warnings, no_warnings, .. } = *messages;
    let warnings = messages.warnings.clone();
    Ok(Options {
        stage,
        entry,
        macros,
        bounds_checks,
        fp_contract,
        deny_warnings,
        no_warnings,
        warnings,
        ..Options::new(profile)
    })
}

/// Some formats can be made only by profiles of their target.
fn check_emit(args: &CompileArgs, profile: &Profile) -> Result<(), CommandError> {
    let Some(form) = emit(args).map(Emit::form) else { return Ok(()) };
    let Some(target) = form.target.filter(|target| *target != profile.target) else { return Ok(()) };
    let (made, name) = (Format::of_target(profile.target, false).name(), &profile.name);
    let wanted = Profile::built_in().iter().rev().find(|profile| profile.target == target);
    let hint = wanted
        .map_or(String::new(), |profile| format!("; {} needs a profile such as {}", form.format.name(), profile.name));
    Err(CommandError(format!("--emit: the profile {name} makes {made}{hint}")))
}

/// The form that `--emit` names.
fn emit(args: &CompileArgs) -> Option<Emit> {
    args.emit.as_ref().map(|emitted| emitted.form)
}

fn emit_kind(args: &CompileArgs, target: Target) -> Result<EmitKind, CommandError> {
    if let Some(Emitted { form, moment: Some(moment) }) = &args.emit {
        let moment = match form {
            Emit::Kernel => Moment::parse(moment, target),
            _ => Err("`@` and a pass follow `kernel` only".to_owned()),
        };
        return moment.map(EmitKind::KernelAt).map_err(|why| CommandError(format!("--emit: {why}")));
    }
    Ok(match emit(args) {
        _ if args.preprocess => EmitKind::Preprocessed,
        _ if args.assembly => EmitKind::Assembly,
        emit => emit.map_or(EmitKind::Binary, |emit| emit.form().kind),
    })
}

/// Text goes to standard output unless you name a file; a binary goes to the working directory.
fn sink(args: &CompileArgs, emit: EmitKind, target: Target) -> Result<Sink, CommandError> {
    if let Some(path) = &args.output {
        let checked = !args.any_ending;
        return if checked {
            Sink::of_format(path.clone(), format(args, emit, target))
        } else {
            Ok(Sink::new(path.clone()))
        };
    }
    match emit {
        EmitKind::Binary if !input::is_stdin(&args.source.input) => default_output(args, target).map(Sink::File),
        _ => Ok(Sink::Stdout),
    }
}

/// The format of the output.
fn format(args: &CompileArgs, emit: EmitKind, target: Target) -> Format {
    if args.deps.deps_only { Format::Dependencies } else { written_format(args, emit, target) }
}

/// The format of a compilation's output.
fn written_format(args: &CompileArgs, emit: EmitKind, target: Target) -> Format {
    match self::emit(args).map(Emit::form) {
        _ if args.preprocess => Format::Preprocessed,
        Some(form) => form.format,
        None => Format::of_target(target, emit == EmitKind::Assembly),
    }
}

/// `dir/a.comp` gives `a.comp.spv` in the working directory, as in glslc, so that two stages with the same name never
/// collide.
pub fn default_output(args: &CompileArgs, target: Target) -> Result<PathBuf, CommandError> {
    let ending = match emit(args) {
        Some(Emit::Hsaco) => ".hsaco",
        Some(Emit::Cubin) => ".cubin",
        _ => target.row().ending,
    };
    named(&args.source.input, ending)
}

/// The default name for any kind of output, with a part before the ending.
pub fn named_output(args: &CompileArgs, part: &str, target: Target) -> Result<PathBuf, CommandError> {
    let format = written_format(args, emit_kind(args, target)?, target);
    named(&args.source.input, &format!("{part}.{}", format.ending()))
}

/// The name of a file with an extension appended.
fn named(input: &Path, ending: &str) -> Result<PathBuf, CommandError> {
    let name = input.file_name().ok_or_else(|| CommandError(format!("{} is not a file", input.display())))?;
    let mut name = name.to_os_string();
    name.push(ending);
    Ok(PathBuf::from(name))
}

/// The profile that the options name, otherwise the default for the output's extension, with the changes from the
/// options.
pub fn profile(args: &TargetArgs, output: Option<&Path>, files: &dyn Loader) -> Result<Profile, CommandError> {
    let by_ending = || output.and_then(endings::profile).unwrap_or("spirv-1.3");
    let named = args.profile.first().or(args.environment.as_ref());
    let profile = profiles::find_with(named.map_or_else(by_ending, String::as_str), files)?;
    let mut profile = profiles::promising(profile, args.wave_size)?;
    profile.reproducible |= args.reproducible;
    Ok(profile)
}

/// The macros of `-D` and `-U`.
pub fn macros(defines: &[String], undefines: &[String]) -> Result<Vec<MacroOption>, CommandError> {
    let undefined = undefines.iter().map(|name| MacroOption::Undefine(name.clone()));
    let macros: Vec<MacroOption> = defines.iter().map(|text| MacroOption::define(text)).chain(undefined).collect();
    macros.iter().try_for_each(MacroOption::check).map_err(CommandError)?;
    Ok(macros)
}
