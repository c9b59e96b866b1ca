//! glslc's command line (shaderc 2025.2).

use super::flags::{self, Flag, Found, Means, Reader, Takes, Word, flag};
use super::{compile_one, counted, environment, say};
use crate::build::claims::Claims;
use crate::build::kind;
use crate::cli::CommandError;
use crate::cli::output::to_stdout;
use crate::ir::Stage;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const HLSL: &str = "it concerns HLSL alone, which is not read";

/// The options and their effects.
#[rustfmt::skip]
pub static FLAGS: &[Flag] = &[
    flag("-c", Takes::Nothing, Means::Own),
    flag("-S", Takes::Nothing, Means::Own),
    flag("-E", Takes::Nothing, Means::Own).but("spaces between tokens may differ"),
    flag("-o", Takes::Either, Means::Own),
    flag("-x", Takes::Either, Means::Own).but("`hlsl` is refused; `wgsl` is taken too"),
    flag("-std=", Takes::Joined, Means::Ours("--std=")).but("the warning is on the `#version` line"),
    flag("-D", Takes::Joined, Means::Ours("-D=")),
    flag("-U", Takes::Joined, Means::Ours("-U=")).but("glslc has no such option"),
    flag("-I", Takes::Either, Means::Ours("-I=")),
    flag("-g", Takes::Nothing, Means::Ours("--debug=lines")),
    flag("-g0", Takes::Nothing, Means::Ours("--debug=none")).but("glslc has no such option"),
    flag("-g2", Takes::Nothing, Means::Ours("--debug=full")).but("glslc has no such option"),
    flag("-gVS", Takes::Nothing, Means::Ours("--debug=full")).but("glslc has no such option"),
    flag("-O", Takes::Nothing, Means::Own).but("this program's passes: `compile --optimize=speed`"),
    flag("-Os", Takes::Nothing, Means::Own).but("this program's passes: `compile --optimize=size`"),
    flag("-O0", Takes::Nothing, Means::Own),
    flag("-w", Takes::Nothing, Means::Ours("-w")),
    flag("-Werror", Takes::Nothing, Means::Ours("--deny-warnings")),
    flag("-W", Takes::Joined, Means::Ours("-W=")).but("glslc has no such option"),
    flag("-fentry-point=", Takes::Joined, Means::Nothing("GLSL starts at `main`")).but("chooses an entry point of WGSL"),
    flag("-fshader-stage=", Takes::Joined, Means::Own),
    flag("-fauto-bind-uniforms", Takes::Nothing, Means::Ours("--auto-bindings")).but("what the shader does not use gets free bindings too, not 0"),
    flag("-fauto-map-locations", Takes::Nothing, Means::Ours("--auto-locations")),
    flag("-fauto-combined-image-sampler", Takes::Nothing, Means::Refused("textures and samplers stay apart")),
    flag("-fpreserve-bindings", Takes::Nothing, Means::Ours("--keep-unused=bindings")),
    flag("-finvert-y", Takes::Nothing, Means::Nothing("glslc inverts HLSL alone")),
    flag("-fnan-clamp", Takes::Nothing, Means::Ours("--nan-clamp")),
    flag("-flimit=", Takes::Joined, Means::Own).but("names and numbers are checked; limits are those of the language"),
    flag("-flimit-file", Takes::Next, Means::Own).but("as -flimit="),
    flag("-fubo-binding-base", Takes::StageAnd(1), Means::Own),
    flag("-fcbuffer-binding-base", Takes::StageAnd(1), Means::Own),
    flag("-fssbo-binding-base", Takes::StageAnd(1), Means::Own),
    flag("-fimage-binding-base", Takes::StageAnd(1), Means::Own),
    flag("-ftexture-binding-base", Takes::StageAnd(1), Means::Own),
    flag("-fsampler-binding-base", Takes::StageAnd(1), Means::Own),
    flag("-fuav-binding-base", Takes::StageAnd(1), Means::Nothing(HLSL)),
    flag("-fresource-set-binding", Takes::StageAnd(3), Means::Nothing(HLSL)),
    flag("-fhlsl-iomap", Takes::Nothing, Means::Nothing(HLSL)),
    flag("-fhlsl-16bit-types", Takes::Nothing, Means::Nothing(HLSL)),
    flag("-fhlsl_functionality1", Takes::Nothing, Means::Nothing(HLSL)),
    flag("-fhlsl-functionality1", Takes::Nothing, Means::Nothing(HLSL)),
    flag("-fhlsl-offsets", Takes::Nothing, Means::Refused("HLSL's rules for the members of blocks are not known")),
    flag("-mfmt=", Takes::Joined, Means::Own),
    flag("-M", Takes::Nothing, Means::Own),
    flag("-MM", Takes::Nothing, Means::Own),
    flag("-MD", Takes::Nothing, Means::Own),
    flag("-MF", Takes::Either, Means::Own),
    flag("-MT", Takes::Either, Means::Own),
    flag("--target-env=", Takes::Joined, Means::Own).but("opengl with `--target-spv=spv1.1` or later is refused"),
    flag("--target-spv=", Takes::Joined, Means::Own),
    flag("--show-limits", Takes::Nothing, Means::Own),
    flag("--version", Takes::Nothing, Means::Own).but("this program's"),
    flag("--help", Takes::Nothing, Means::Own).but("this table"),
    flag("-h", Takes::Nothing, Means::Own).but("this table"),
];

/// Options that add to bindings, and the kinds of resources that they apply to.
const BASES: [(&str, &str); 6] = [
    ("-fubo-binding-base", "uniform"),
    ("-fcbuffer-binding-base", "uniform"),
    ("-fssbo-binding-base", "storage"),
    ("-fimage-binding-base", "image"),
    ("-ftexture-binding-base", "texture"),
    ("-fsampler-binding-base", "sampler"),
];

/// Forms of binaries, with their names in complaints.
const FORMS: [(&str, &str); 3] =
    [("bin", "a binary"), ("num", "a list of hex numbers"), ("c", "a C-style initializer list")];

/// A shader to compile, with the preceding options that affect later inputs.
struct Input {
    path: PathBuf,
    stage: Option<String>,
    language: Option<String>,
    entry: Option<String>,
}

/// A command line.
#[derive(Default)]
struct Request {
    inputs: Vec<Input>,
    /// For `crosslane compile`.
    words: Vec<String>,
    compile_only: bool,
    assembly: bool,
    preprocess: bool,
    /// The goal of `-O` or `-Os`.
    optimize: Option<&'static str>,
    deps_only: bool,
    deps: bool,
    deps_file: Option<String>,
    deps_target: Option<String>,
    output: Option<String>,
    form: Option<&'static (&'static str, &'static str)>,
    environment: Option<&'static str>,
    version: Option<&'static str>,
    stage: Option<String>,
    language: Option<String>,
    entry: Option<String>,
    /// Text to print instead of compiling.
    print: Option<String>,
}

type Read<T> = Result<T, String>;

/// Runs glslc's command line: the exit code.
pub fn run(words: &[OsString], claims: &Claims) -> u8 {
    let request = match read(words, claims) {
        Ok(request) => request,
        Err(why) => {
            say(&format!("glslc: error: {why}"));
            return 1;
        }
    };
    match &request.print {
        Some(text) => report(to_stdout(text.as_bytes())),
        None => request.run(claims),
    }
}

fn report(outcome: Result<(), CommandError>) -> u8 {
    match outcome {
        Ok(()) => 0,
        Err(CommandError(why)) => {
            say(&format!("glslc: error: {why}"));
            1
        }
    }
}

fn read(words: &[OsString], claims: &Claims) -> Read<Request> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let names = super::stage_names();
    let stages: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut request = Request::default();
    for word in Reader::new(FLAGS, &stages, &words) {
        match word {
            Word::Option(found) => request.option(&found, claims)?,
            Word::Input(path) => request.input(path),
            Word::Missing(flag) if flag.name == "-D" => say("glslc: error: argument to '-D' is missing"),
            Word::Missing(flag) => return Err(format!("argument to '{}' is missing (expected 1 value)", flag.name)),
            Word::Unknown(word) if word.starts_with("-O") => {
                return Err(format!("invalid value '{}' in '{word}'", &word[2..]));
            }
            Word::Unknown(word) => return Err(flags::unknown(FLAGS, word)),
        }
        if request.print.is_some() {
            return Ok(request);
        }
    }
    request.check()?;
    Ok(request)
}

impl Request {
    fn input(&mut self, path: &str) {
        let Request { stage, language, entry, .. } = self;
        let (stage, language, entry) = (stage.clone(), language.clone(), entry.clone());
        self.inputs.push(Input { path: path.into(), stage, language, entry });
    }

    fn option(&mut self, found: &Found<'_>, claims: &Claims) -> Read<()> {
        let value = found.value();
        let invalid = || Err(format!("invalid value '{value}' in '{}{value}'", found.flag.name));
        match found.flag.name {
            "-fentry-point=" => self.entry = Some(value.to_string()),
            "-fshader-stage=" => {
                Stage::named(value).ok_or_else(|| format!("stage not recognized: '{value}'"))?;
                self.stage = Some(value.to_string());
            }
            "-x" => match value {
                "glsl" | "wgsl" => self.language = Some(value.to_string()),
                "hlsl" => return Err("HLSL is not read: '-x hlsl'".into()),
                _ => return Err(format!("language not recognized: '{value}'")),
            },
            "-c" => self.compile_only = true,
            "-S" => self.assembly = true,
            "-E" => self.preprocess = true,
            "-o" => self.output = Some(value.to_string()),
            "-O" => self.optimize = Some("speed"),
            "-Os" => self.optimize = Some("size"),
            "-O0" => self.optimize = None,
            "-M" | "-MM" => self.deps_only = true,
            "-MD" => self.deps = true,
            "-MF" => self.deps_file = Some(value.to_string()),
            "-MT" => self.deps_target = Some(value.to_string()),
            "-mfmt=" => match FORMS.iter().find(|(name, _)| *name == value) {
                Some(form) => self.form = Some(form),
                None => return invalid(),
            },
            "--target-env=" => match environment::named(value) {
                Some(profile) => self.environment = Some(profile),
                None => return invalid(),
            },
            "--target-spv=" => match value.strip_prefix("spv").and_then(environment::of_spirv) {
                Some(profile) => self.version = Some(profile),
                None => return invalid(),
            },
            "-std=" => match crate::glsl::is_version(value) {
                true => self.words.extend(found.flag.words(value)),
                false => return invalid(),
            },
            "-flimit=" => limits(value).map_err(|why| format!("-flimit error: {why}"))?,
            "-flimit-file" => limit_file(value, claims)?,
            "--show-limits" => self.print = Some(LIMITS.to_string()),
            "--version" => self.print = Some(format!("crosslane {}\n", crate::version::TEXT)),
            "-h" | "--help" => self.print = Some(help()),
            name if BASES.iter().any(|(base, _)| *base == name) => self.base(found)?,
            _ => return self.plain(found),
        }
        Ok(())
    }

    /// An option that the table describes completely.
    fn plain(&mut self, found: &Found<'_>) -> Read<()> {
        if let Means::Refused(why) = found.flag.means {
            return Err(format!("'{}' is not supported: {why}", found.flag.name));
        }
        self.words.extend(found.flag.words(found.value()));
        Ok(())
    }

    fn base(&mut self, found: &Found<'_>) -> Read<()> {
        let name = found.flag.name;
        let kind = BASES.iter().find(|(base, _)| *base == name).map_or("", |(_, kind)| kind);
        let (stage, number) = match found.values[..] {
            [stage, number] => (format!(":{stage}"), number),
            _ => (String::new(), found.value()),
        };
        let parsed: Result<u32, _> = number.parse();
        let number = parsed.map_err(|_| format!("invalid offset value {number} for {name}"))?;
        self.words.push(format!("--binding-base={kind}{stage}={number}"));
        Ok(())
    }

    /// Checks the options against each other.
    fn check(&self) -> Read<()> {
        let binary = !self.preprocess && !self.deps_only && !self.assembly;
        let named = self.deps_file.is_some() || self.deps_target.is_some();
        match self.inputs.len() {
            _ if self.deps && self.deps_only => {
                Err("both -M (or -MM) and -MD are specified. Only one should be used at one time.".into())
            }
            _ if named && !self.deps && !self.deps_only => {
                Err("to generate dependencies you must specify either -M (-MM) or -MD".into())
            }
            0 => Err("no input files".into()),
            2.. if named => Err("to specify dependency info file name or dependency info target, only one input file \
                                 is allowed."
                .into()),
            _ if self.form.is_some() && !binary => Err(format!(
                "cannot emit output as {} when only preprocessing the source",
                self.form.map_or("", |(_, name)| name)
            )),
            2.. if self.output.is_some() && !self.preprocess && !self.deps_only => {
                Err("cannot specify -o when generating multiple output files".into())
            }
            2.. if binary && !self.compile_only => {
                Err("linking multiple files is not supported yet. Use -c to compile files individually.".into())
            }
            _ => Ok(()),
        }
    }

    fn run(&self, claims: &Claims) -> u8 {
        let (mut errors, mut warnings, mut failed) = (0, 0, false);
        for input in &self.inputs {
            match self.compile(input, claims) {
                Ok(made) => {
                    errors += made.errors;
                    warnings += made.warnings;
                    failed |= made.exit != crate::cli::Exit::Done;
                }
                Err(CommandError(why)) => {
                    say(&format!("glslc: error: {why}"));
                    failed = true;
                }
            }
        }
        if let Some(counted) = counted(warnings, errors) {
            say(&format!("{counted} generated."));
        }
        u8::from(failed)
    }

    fn compile(&self, input: &Input, claims: &Claims) -> Result<super::Made, CommandError> {
        let names = if self.optimize.is_some() { "none" } else { "names" };
        let mut words = vec![format!("--debug={names}"), "--message-format=lines".into()];
        words.extend(self.words.iter().cloned());
        words.push(format!("--profile={}", environment::profile(self.environment, self.version)?));
        let hint = kind::of(&input.path);
        let is_wgsl = hint.is_some_and(|kind| kind.language == crate::compile::Language::Wgsl);
        let language = input.language.as_deref().unwrap_or(if is_wgsl { "wgsl" } else { "glsl" });
        words.push(format!("--lang={language}"));
        match &input.stage {
            Some(stage) => words.push(format!("--stage={stage}")),
            None if hint.is_none() && input.language.is_none() => check_ending(&input.path)?,
            None => {}
        }
        words.extend(input.entry.iter().filter(|_| language == "wgsl").map(|name| format!("--entry={name}")));
        words.push(self.optimize.map_or("--keep-unused=all".into(), |goal| format!("--optimize={goal}")));
        words.extend(self.form.map(|(name, _)| format!("--words={name}")));
        self.outputs(input, &mut words);
        compile_one(&words, &input.path, claims)
    }

    /// The places of the result and its dependencies.
    fn outputs(&self, input: &Input, words: &mut Vec<String>) {
        let name = input.path.file_name().unwrap_or_default().to_string_lossy();
        let name = named_after(&name);
        let is_text = self.assembly && !self.deps_only;
        let natural = format!("{name}.{}", if is_text { "spvasm" } else { "spv" });
        let linked = !self.compile_only && !self.assembly;
        let output = match &self.output {
            Some(output) => output.clone(),
            None if self.preprocess || self.deps_only => "-".into(),
            None if linked => "a.spv".into(),
            None => natural.clone(),
        };
        let words_of_mode = match () {
            () if self.deps_only => Some("--deps-only"),
            () if self.preprocess => Some("-E"),
            () if self.assembly => Some("-S"),
            () => None,
        };
        words.extend(words_of_mode.map(str::to_string));
        if self.deps || self.deps_only {
            words.push("--deps-format=line".into());
            let made = self.output.clone().filter(|_| !self.preprocess && !self.deps_only).unwrap_or(natural);
            let beside = format!("{made}.d");
            words.extend(self.deps.then(|| format!("--deps-file={}", self.deps_file.as_ref().unwrap_or(&beside))));
            words.extend(self.deps.then(|| "--deps".to_string()));
            words.push(match &self.deps_target {
                Some(target) => format!("--deps-target={target}"),
                None => format!("--deps-target-quoted={made}"),
            });
        }
        words.push(format!("-o={output}"));
    }
}

/// The part of a file's name that outputs are named after: the whole name if it ends in one of glslc's original stages.
fn named_after(name: &str) -> &str {
    const KEPT: [&str; 6] = ["vert", "frag", "comp", "geom", "tesc", "tese"];
    match name.rsplit_once('.') {
        Some((stem, ending)) if !KEPT.contains(&ending) => stem,
        _ => name,
    }
}

/// Refuses file names that end in neither a stage nor `.glsl`.
fn check_ending(path: &Path) -> Result<(), CommandError> {
    if path.as_os_str() == "-" {
        return Ok(());
    }
    Err(CommandError(format!("'{}': file not recognized: File format not recognized", path.display())))
}

/// Names of limits with values, between blanks.
fn limits(text: &str) -> Read<()> {
    let mut words = text.split_whitespace();
    while let Some(name) = words.next() {
        if !LIMITS.lines().any(|line| line.split(' ').next() == Some(name)) {
            return Err(format!("invalid resource limit: {name}"));
        }
        let value = words.next().ok_or_else(|| format!("missing value after limit: {name}"))?;
        value.parse::<i32>().map_err(|_| format!("invalid integer: {value}"))?;
    }
    Ok(())
}

pub fn limit_file(path: &str, claims: &Claims) -> Read<()> {
    let bytes = claims.read(Path::new(path), crate::build::read::TEXT_LIMIT);
    let bytes = bytes.map_err(|error| format!("cannot read limits file: {path}: {error}"))?;
    limits(&String::from_utf8_lossy(&bytes)).map_err(|why| format!("-flimit-file error: {why}"))
}

fn help() -> String {
    format!(
        "glslc, as crosslane: compiles shaders to SPIR-V\n\nUsage: glslc [options] file...\n\nOptions:\n{}",
        flags::help(FLAGS)
    )
}

/// The output of `--show-limits`.
pub const LIMITS: &str = include_str!("limits.txt");
