//! glslangValidator's command line (glslang 15.2).

use super::flags::{self, Flag, Found, Means, Reader, Takes, Word, flag};
use super::{Draft, draft_one, environment, glslc, trace};
use crate::build::claims::Claims;
use crate::build::deps::{Deps, Format, RuleTarget};
use crate::build::kind;
use crate::cli::args::CompileArgs;
use crate::cli::output::{Sink, to_stdout};
use crate::cli::{CommandError, Exit};
use crate::ir::Stage;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const HLSL: &str = "it concerns HLSL alone, which is not read";
const REFLECTS: &str = "`crosslane compile --emit reflection` prints what a shader binds";
const RELAXED: &str = "shaders for OpenGL are not made into modules for Vulkan";
const SAMPLED: &str = "textures and samplers stay apart";
const PLACED: &str = "bindings are not set by name";

/// The options and their effects.
#[rustfmt::skip]
pub static FLAGS: &[Flag] = &[
    flag("-V", Takes::Perhaps, Means::Own).but("`VULKAN` is 100 always"),
    flag("-G", Takes::Perhaps, Means::Own).but("`GL_SPIRV` is 100 always; SPIR-V 1.1 and later are refused"),
    flag("-H", Takes::Nothing, Means::Own).but("prints this program's listing"),
    flag("-S", Takes::Next, Means::Own),
    flag("-e", Takes::Next, Means::Own).but("renames `main` only together with --source-entrypoint"),
    flag("--entry-point", Takes::Next, Means::Own).but("as -e"),
    flag("--source-entrypoint", Takes::Next, Means::Own),
    flag("--sep", Takes::Next, Means::Own),
    flag("-o", Takes::Next, Means::Own),
    flag("-D", Takes::Perhaps, Means::Own).but("alone, which is for HLSL, it is refused"),
    flag("--D", Takes::Next, Means::Ours("-D=")),
    flag("--define-macro", Takes::Next, Means::Ours("-D=")),
    flag("-U", Takes::Joined, Means::Ours("-U=")),
    flag("--U", Takes::Next, Means::Ours("-U=")),
    flag("--undef-macro", Takes::Next, Means::Ours("-U=")),
    flag("-I", Takes::Joined, Means::Ours("-I=")),
    flag("-P", Takes::Joined, Means::Ours("--preamble=")),
    flag("--P", Takes::Next, Means::Ours("--preamble=")),
    flag("--preamble-text", Takes::Next, Means::Ours("--preamble=")),
    flag("-E", Takes::Nothing, Means::Own).but("spaces between tokens may differ"),
    flag("-C", Takes::Nothing, Means::Nothing("several errors are reported anyway")),
    flag("-c", Takes::Nothing, Means::Own).but("the limits that `glslc --show-limits` prints"),
    flag("-d", Takes::Nothing, Means::Nothing("a shader says its version")),
    flag("-f", Takes::Joined, Means::Nothing(HLSL)),
    flag("-g", Takes::Nothing, Means::Ours("--debug=lines")),
    flag("-g0", Takes::Nothing, Means::Ours("--debug=none")),
    flag("-gV", Takes::Nothing, Means::Ours("--debug=full")).but("with the source text"),
    flag("-gVS", Takes::Nothing, Means::Ours("--debug=full")),
    flag("-h", Takes::Nothing, Means::Own).but("this table"),
    flag("--help", Takes::Nothing, Means::Own).but("this table"),
    flag("-i", Takes::Nothing, Means::Own).but("prints this program's intermediate form"),
    flag("-l", Takes::Nothing, Means::Nothing("each stage is a module, and stages are not compared")),
    flag("--no-link", Takes::Nothing, Means::Refused("modules without an entry point are not written")),
    flag("--lto", Takes::Nothing, Means::Nothing("each stage is a module, and stages are not compared")),
    flag("-m", Takes::Nothing, Means::Nothing("it is for those who work on glslang")),
    flag("-q", Takes::Nothing, Means::Own).but("prints this program's reflection, as JSON"),
    flag("-r", Takes::Nothing, Means::Nothing("errors are those of the language")),
    flag("--relaxed-errors", Takes::Nothing, Means::Nothing("errors are those of the language")),
    flag("-R", Takes::Nothing, Means::Nothing("what it allows stays an error")),
    flag("-s", Takes::Nothing, Means::Own),
    flag("-t", Takes::Nothing, Means::Nothing("shaders are compiled one after the other")),
    flag("-v", Takes::Nothing, Means::Own).but("this program's version"),
    flag("--version", Takes::Nothing, Means::Own).but("this program's version"),
    flag("-dumpversion", Takes::Nothing, Means::Own).but("this program's version"),
    flag("-dumpfullversion", Takes::Nothing, Means::Own).but("this program's version"),
    flag("-w", Takes::Nothing, Means::Ours("-w")),
    flag("--suppress-warnings", Takes::Nothing, Means::Ours("-w")),
    flag("-x", Takes::Nothing, Means::Ours("--words=lines")),
    flag("--variable-name", Takes::Next, Means::Ours("--array-name=")),
    flag("--vn", Takes::Next, Means::Ours("--array-name=")),
    flag("-u", Takes::Joined, Means::Own),
    flag("--uniform-base", Takes::Next, Means::Ours("--uniform-base=")),
    flag("--auto-map-bindings", Takes::Nothing, Means::Ours("--auto-bindings")),
    flag("--amb", Takes::Nothing, Means::Ours("--auto-bindings")),
    flag("--auto-map-locations", Takes::Nothing, Means::Ours("--auto-locations")),
    flag("--aml", Takes::Nothing, Means::Ours("--auto-locations")),
    flag("--absolute-path", Takes::Nothing, Means::Own),
    flag("--auto-sampled-textures", Takes::Nothing, Means::Refused(SAMPLED)),
    flag("--client", Takes::Next, Means::Own),
    flag("--target-env", Takes::Next, Means::Own),
    flag("--depfile", Takes::Next, Means::Own).but("names with blanks are escaped"),
    flag("--dump-builtin-symbols", Takes::Nothing, Means::Nothing("there is no such table")),
    flag("--flatten-uniform-arrays", Takes::Nothing, Means::Refused(HLSL)),
    flag("--fua", Takes::Nothing, Means::Refused(HLSL)),
    flag("--glsl-version", Takes::Next, Means::Own),
    flag("--hlsl-offsets", Takes::Nothing, Means::Refused("HLSL's rules for the members of blocks are not known")),
    flag("--hlsl-iomap", Takes::Nothing, Means::Nothing(HLSL)),
    flag("--hlsl-enable-16bit-types", Takes::Nothing, Means::Nothing(HLSL)),
    flag("--hlsl-dx9-compatible", Takes::Nothing, Means::Nothing(HLSL)),
    flag("--hlsl-dx-position-w", Takes::Nothing, Means::Nothing(HLSL)),
    flag("--invert-y", Takes::Nothing, Means::Nothing("glslang inverts HLSL alone")),
    flag("--iy", Takes::Nothing, Means::Nothing("glslang inverts HLSL alone")),
    flag("--enhanced-msgs", Takes::Nothing, Means::Nothing("messages are this program's anyway")),
    flag("--error-column", Takes::Nothing, Means::Ours("--message-format=glslang-columns")),
    flag("--keep-uncalled", Takes::Nothing, Means::Nothing("uncalled functions are never written")),
    flag("--ku", Takes::Nothing, Means::Nothing("uncalled functions are never written")),
    flag("--nan-clamp", Takes::Nothing, Means::Ours("--nan-clamp")),
    flag("--no-storage-format", Takes::Nothing, Means::Refused("images keep their formats")),
    flag("--nsf", Takes::Nothing, Means::Refused("images keep their formats")),
    flag("--quiet", Takes::Nothing, Means::Own),
    flag("--reflect-strict-array-suffix", Takes::Nothing, Means::Nothing(REFLECTS)),
    flag("--reflect-basic-array-suffix", Takes::Nothing, Means::Nothing(REFLECTS)),
    flag("--reflect-intermediate-io", Takes::Nothing, Means::Nothing(REFLECTS)),
    flag("--reflect-separate-buffers", Takes::Nothing, Means::Nothing(REFLECTS)),
    flag("--reflect-all-block-variables", Takes::Nothing, Means::Nothing(REFLECTS)),
    flag("--reflect-unwrap-io-blocks", Takes::Nothing, Means::Nothing(REFLECTS)),
    flag("--resource-set-binding", Takes::Numbers, Means::Refused(PLACED)),
    flag("--rsb", Takes::Numbers, Means::Refused(PLACED)),
    flag("--set-block-backing", Takes::Next, Means::Refused(RELAXED)),
    flag("--set-block-storage", Takes::Next, Means::Refused(RELAXED)),
    flag("--sbs", Takes::Next, Means::Refused(RELAXED)),
    flag("--set-atomic-counter-block", Takes::Next, Means::Refused(RELAXED)),
    flag("--sacb", Takes::Next, Means::Refused(RELAXED)),
    flag("--set-default-uniform-block", Takes::Next, Means::Refused(RELAXED)),
    flag("--sdub", Takes::Next, Means::Refused(RELAXED)),
    flag("--shift-image-binding", Takes::Numbers, Means::Own),
    flag("--sib", Takes::Numbers, Means::Own),
    flag("--shift-sampler-binding", Takes::Numbers, Means::Own),
    flag("--ssb", Takes::Numbers, Means::Own),
    flag("--shift-ssbo-binding", Takes::Numbers, Means::Own),
    flag("--sbb", Takes::Numbers, Means::Own),
    flag("--shift-texture-binding", Takes::Numbers, Means::Own),
    flag("--stb", Takes::Numbers, Means::Own),
    flag("--shift-uav-binding", Takes::Numbers, Means::Nothing(HLSL)),
    flag("--suavb", Takes::Numbers, Means::Nothing(HLSL)),
    flag("--shift-UBO-binding", Takes::Numbers, Means::Own),
    flag("--shift-ubo-binding", Takes::Numbers, Means::Own),
    flag("--sub", Takes::Numbers, Means::Own),
    flag("--shift-cbuffer-binding", Takes::Numbers, Means::Own),
    flag("--scb", Takes::Numbers, Means::Own),
    flag("--spirv-dis", Takes::Nothing, Means::Own).but("this program's listing"),
    flag("--spirv-val", Takes::Nothing, Means::Nothing("crosslane has no built-in validator; its tests run `spirv-val` on every module")),
    flag("--stdin", Takes::Nothing, Means::Own),
    flag("-Od", Takes::Nothing, Means::Own),
    flag("-Os", Takes::Nothing, Means::Own).but("this program's passes: `compile --optimize=size`"),
];

/// Options that add to bindings, and the kinds of resources that they apply to.
const BASES: [(&str, &str); 13] = [
    ("--shift-image-binding", "image"),
    ("--sib", "image"),
    ("--shift-sampler-binding", "sampler"),
    ("--ssb", "sampler"),
    ("--shift-ssbo-binding", "storage"),
    ("--sbb", "storage"),
    ("--shift-texture-binding", "texture"),
    ("--stb", "texture"),
    ("--shift-UBO-binding", "uniform"),
    ("--shift-ubo-binding", "uniform"),
    ("--sub", "uniform"),
    ("--shift-cbuffer-binding", "uniform"),
    ("--scb", "uniform"),
];

/// Exit statuses.
const USAGE: u8 = 1;
const COMPILE: u8 = 2;
const LINK: u8 = 3;

/// A command line.
#[derive(Default)]
struct Request {
    inputs: Vec<PathBuf>,
    words: Vec<String>,
    /// A module is written.
    makes_module: bool,
    preprocess: bool,
    listing: bool,
    /// Another form of the shader to print.
    prints: Option<&'static str>,
    links: bool,
    size: bool,
    quiet: bool,
    silent: bool,
    absolute: bool,
    stage: Option<String>,
    /// The profiles of the environment and of the version of SPIR-V, which takes precedence.
    environment: Option<&'static str>,
    version: Option<&'static str>,
    output: Option<String>,
    depfile: Option<String>,
    entry: Option<String>,
    source_entry: Option<String>,
    print: Option<(String, u8)>,
}

type Read<T> = Result<T, String>;

/// Runs glslangValidator's command line: the exit code.
pub fn run(words: &[OsString], claims: &Claims) -> u8 {
    let request = match read(words, claims) {
        Ok(request) => request,
        Err(why) => return wrong(&why),
    };
    if let Some((text, status)) = &request.print {
        return to_stdout(text.as_bytes()).map_or_else(|CommandError(why)| wrong(&why), |()| *status);
    }
    request.run(claims).unwrap_or_else(|CommandError(why)| wrong(&why))
}

fn wrong(why: &str) -> u8 {
    print(&format!("glslangValidator: Error: {why} (use -h for usage)\n"));
    USAGE
}

fn read(words: &[OsString], claims: &Claims) -> Read<Request> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let names = super::stage_names();
    let stages: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut request = Request::default();
    for word in Reader::new(FLAGS, &stages, &words) {
        match word {
            Word::Option(found) => request.option(&found, &stages)?,
            Word::Input(path) if path.ends_with(".conf") => glslc::limit_file(path, claims)?,
            Word::Input(path) => request.inputs.push(path.into()),
            Word::Missing(flag) => return Err(format!("{}: expects a value", flag.name)),
            Word::Unknown(word) => return Err(flags::unknown(FLAGS, word)),
        }
        if request.print.is_some() {
            return Ok(request);
        }
    }
    if request.inputs.is_empty() {
        request.print = Some((help(), USAGE));
    }
    request.check()?;
    Ok(request)
}

impl Request {
    fn option(&mut self, found: &Found<'_>, stages: &[&str]) -> Read<()> {
        let value = found.value();
        match found.flag.name {
            "-V" if matches!(value, "" | "100") => self.makes_module = true,
            "-G" if matches!(value, "" | "100") => self.opengl(),
            "-G" => return Err("unknown client version for -G, should be 100".into()),
            "-V" => return Err("unknown client version for -V, should be 100".into()),
            "-H" | "--spirv-dis" => {
                (self.listing, self.makes_module) = (true, self.makes_module || found.flag.name == "-H");
            }
            "-S" if stages.contains(&value) => self.stage = Some(value.to_string()),
            "-S" => return Err(format!("-S: unknown stage `{value}`")),
            "-e" | "--entry-point" => self.entry = Some(value.to_string()),
            "--source-entrypoint" | "--sep" => self.source_entry = Some(value.to_string()),
            "-o" => self.output = Some(value.to_string()),
            "-D" if value.is_empty() => return Err("-D: HLSL is not read".into()),
            "-D" => self.words.push(format!("-D={value}")),
            "-E" => self.preprocess = true,
            "-u" => self.uniform(value)?,
            "-c" => self.print = Some((glslc::LIMITS.to_string(), 0)),
            "-i" => self.prints = Some("ir"),
            "-q" => self.prints = Some("reflection"),
            "-l" => self.links = true,
            "-h" | "--help" => self.print = Some((help(), USAGE)),
            "-s" => self.silent = true,
            "-v" | "--version" | "-dumpversion" | "-dumpfullversion" => {
                self.print = Some((format!("crosslane {}\n", crate::version::TEXT), 0));
            }
            "--absolute-path" => self.absolute = true,
            "--client" if value == "vulkan100" => self.makes_module = true,
            "--client" if value == "opengl100" => self.opengl(),
            "--client" => return Err("--client expects vulkan100 or opengl100".into()),
            "--target-env" => self.environment(value)?,
            "--depfile" => self.depfile = Some(value.to_string()),
            "--glsl-version" if crate::glsl::is_version(value) => self.words.push(format!("--std={value}")),
            "--glsl-version" => return Err(format!("--glsl-version: unsupported version {value}")),
            "--quiet" => self.quiet = true,
            "--stdin" => self.inputs.push("-".into()),
            "-Os" => self.size = true,
            "-Od" => self.size = false,
            name if BASES.iter().any(|(base, _)| *base == name) => self.base(found)?,
            _ => match found.flag.means {
                Means::Refused(why) => return Err(format!("{}: not supported: {why}", found.flag.name)),
                _ => self.words.extend(found.flag.words(value)),
            },
        }
        Ok(())
    }

    /// A module for OpenGL.
    fn opengl(&mut self) {
        (self.environment, self.makes_module) = (Some(environment::OPENGL), true);
    }

    /// `NAME:LOCATION`
    fn uniform(&mut self, value: &str) -> Read<()> {
        let parts = value.split_once(':');
        let (name, location) = parts.ok_or_else(|| format!("-u{value}: expects NAME:LOCATION"))?;
        self.words.push(format!("--uniform-location={name}={location}"));
        Ok(())
    }

    fn environment(&mut self, value: &str) -> Read<()> {
        let (vulkan, spirv) = (value.strip_prefix("vulkan"), value.strip_prefix("spirv"));
        match (vulkan.and_then(environment::of_vulkan), spirv.and_then(environment::of_spirv)) {
            (Some(profile), _) => (self.environment, self.makes_module) = (Some(profile), true),
            (_, Some(profile)) => self.version = Some(profile),
            _ if value == "opengl" => self.opengl(),
            _ => {
                return Err(format!(
                    "--target-env expected one of: vulkan1.0 to vulkan1.4, opengl, spirv1.0 to spirv1.6; not {value}"
                ));
            }
        }
        Ok(())
    }

    /// `[stage] number`, or `[stage] number set number set …`.
    fn base(&mut self, found: &Found<'_>) -> Read<()> {
        let name = found.flag.name;
        let kind = BASES.iter().find(|(base, _)| *base == name).map_or("", |(_, kind)| kind);
        let stages = found.values.iter().take_while(|value| !value.starts_with(|c: char| c.is_ascii_digit()));
        let (stage, numbers) = found.values.split_at(stages.count());
        let stage = stage.first().copied().unwrap_or_default();
        match numbers {
            [] => return Err(format!("{name}: expects a number")),
            [base] => self.words.push(format!("--binding-base={kind}:{stage}={base}")),
            pairs => {
                for pair in pairs.chunks(2) {
                    let [base, set] = pair else { return Err(format!("{name}: expects a set for each number")) };
                    self.words.push(format!("--binding-base={kind}:{stage}:{set}={base}"));
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Read<()> {
        if self.prints == Some("reflection") && !self.links && !self.makes_module {
            return Err("reflection requires -l for linking".into());
        }
        if self.source_entry.as_deref().is_some_and(|name| name != "main") {
            return Err("--source-entrypoint: the entry point of GLSL is main".into());
        }
        if self.version.is_some() && !self.makes_module {
            return Err("To generate SPIR-V, also specify client semantics. See -G and -V.".into());
        }
        if self.output.is_some() && !self.makes_module {
            return Err("no binary generation requested (e.g., -V)".into());
        }
        if self.preprocess && self.makes_module {
            return Err("can't use -E when linking is selected".into());
        }
        match (&self.stage, self.inputs.iter().any(|path| path.as_os_str() == "-")) {
            (None, true) => Err("must provide -S when --stdin is given".into()),
            _ => Ok(()),
        }
    }

    /// Compiles all inputs; modules are written only if all are right.
    fn run(&self, claims: &Claims) -> Result<u8, CommandError> {
        let mut drafts = Vec::new();
        for input in &self.inputs {
            self.announce(input);
            drafts.push(self.draft(input, claims)?);
        }
        let stages: Vec<&str> = drafts.iter().map(|draft| draft.stage.as_str()).collect();
        let twice = (1..stages.len()).find(|at| self.makes_module && stages[..*at].contains(&stages[*at]));
        let status = match twice {
            _ if drafts.iter().any(|module| module.draft.made.exit != Exit::Done) => COMPILE,
            Some(_) => LINK,
            None => 0,
        };
        if let Some(at) = twice {
            print(&format!("ERROR: Linking {} stage: can't handle multiple entry points per stage\n\n", stages[at]));
        }
        if status != 0 {
            print(if self.makes_module { "SPIR-V is not generated for failed compile or link\n" } else { "" });
            return Ok(status);
        }
        let rules = self.rules(&drafts)?;
        for Module { draft, args, .. } in drafts {
            draft.write(&args, claims)?;
        }
        if let Some(path) = &self.depfile {
            Sink::new(path.into()).write(rules.as_bytes(), claims)?;
        }
        Ok(0)
    }

    /// Prints the name of an input.
    fn announce(&self, input: &Path) {
        let wants = self.makes_module || self.listing || self.inputs.len() > 1;
        if wants && !self.quiet && !self.silent && !self.preprocess {
            let name = if input.as_os_str() == "-" { "stdin".into() } else { input.display().to_string() };
            print(&format!("{name}\n"));
        }
    }

    /// The dependency file: a rule for each output, with all files that any input depends on.
    fn rules(&self, modules: &[Module]) -> Result<String, CommandError> {
        let mut includes = BTreeSet::new();
        for Module { draft, args, .. } in modules {
            let root = args.source.input.to_string_lossy();
            includes.append(&mut trace::as_glslang(&root, &draft.includes, &args.source.include_dirs));
        }
        let inputs = self.inputs.iter().map(|input| input.display().to_string());
        let inputs: Vec<String> = inputs.chain(includes).collect();
        let rule = |module: &Module| {
            let deps =
                Deps { targets: vec![RuleTarget::Path(module.output.clone())], inputs: inputs.clone(), phony: false };
            deps.to_text(Format::Line).map_err(|_| CommandError("--depfile: a name holds a line break".into()))
        };
        modules.iter().map(rule).collect()
    }

    fn draft(&self, input: &Path, claims: &Claims) -> Result<Module, CommandError> {
        let path = match self.absolute {
            true if input.as_os_str() != "-" => std::path::absolute(input).unwrap_or_else(|_| input.into()),
            _ => input.to_path_buf(),
        };
        let named = kind::of(&path).and_then(|kind| kind.stage).map(Stage::ending);
        let stage = self.stage.as_deref().and_then(Stage::named).map(Stage::ending).or(named);
        let Some(stage) = stage else {
            return Err(CommandError(format!("{}: cannot tell the stage from the name; use -S", input.display())));
        };
        let mut words = vec!["--message-format=glslang".to_string(), "--debug=names".into()];
        words.extend(self.words.iter().cloned());
        let profile = environment::profile(self.environment, self.version)?;
        words.push(format!("--profile={profile}"));
        words.extend(
            self.entry.iter().filter(|_| self.source_entry.is_some()).map(|name| format!("--entry-name={name}")),
        );
        words.extend(["--lang=glsl".into(), format!("--stage={stage}"), "-W=no-version-forced".into()]);
        words.extend(self.silent.then(|| "--message-format=none".to_string()));
        words.push(if self.size { "--optimize=size" } else { "--keep-unused=all" }.to_string());
        let output = self.output.clone().unwrap_or_else(|| format!("{stage}.spv"));
        if self.preprocess {
            words.extend(["-E", "-o=-", "--message-format=lines"].map(str::to_string));
        } else if self.makes_module {
            words.push(format!("-o={output}"));
        } else if !self.listing {
            words.push("--check-only".into());
        }
        let form = match self.prints {
            Some(form) => Some(vec![format!("--emit={form}"), "-o=-".into()]),
            None => self.listing.then(|| ["-S", "-o=-"].map(str::to_string).to_vec()),
        };
        if let Some(form) = form {
            let (draft, args) = draft_one(&printed(&words, &form), &path, claims)?;
            if !self.makes_module || draft.made.exit != Exit::Done {
                return Ok(Module { stage: stage.to_string(), output, draft, args });
            }
            draft.write(&args, claims)?;
            words.push("--message-format=none".into());
        }
        let (draft, args) = draft_one(&words, &path, claims)?;
        Ok(Module { stage: stage.to_string(), output, draft, args })
    }
}

/// An input that has been compiled.
struct Module {
    stage: String,
    output: String,
    draft: Draft,
    args: Box<CompileArgs>,
}

/// The arguments that print a form of the shader and write no module.
fn printed(words: &[String], form: &[String]) -> Vec<String> {
    words.iter().filter(|word| *word != "--check-only").chain(form).cloned().collect()
}

fn print(text: &str) {
    // If this fails, there is no way to report it.
    let _ = to_stdout(text.as_bytes());
}

fn help() -> String {
    format!(
        "glslangValidator, as crosslane: checks shaders, and compiles them to SPIR-V\n\nUsage: glslangValidator \
         [options] file...\n\nOptions:\n{}",
        flags::help(FLAGS)
    )
}
