//! The options of every subcommand, and the option groups that several share.

use crate::backend::places::Place;
use crate::backend::{DebugInfo, Optimize};
use crate::diagnostic::warning::{self, Choice};
use crate::ir::{DepthRange, FpContract, Stage};
use crate::wgsl::BoundsChecks;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Args, Parser, Subcommand, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

#[derive(Parser)]
#[command(name = "crosslane", version = crate::version::TEXT, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Compile a shader, or several, for a profile, or for several.
    #[command(args_override_self = true)]
    Compile(Box<CompileArgs>),
    /// Build every output that crosslane.toml names, and only those that are not current.
    Build(Box<BuildArgs>),
    /// Compare the listings of what crosslane.toml names with those that were committed.
    Snapshot(Box<SnapshotArgs>),
    /// Run a compute shader on the CPU, with the operations of a profile, or on a GPU.
    Run(Box<RunArgs>),
    /// Show what each cross-lane operation of a shader becomes, and why.
    Explain(Box<ExplainArgs>),
    /// Show which profiles can run a shader.
    Check(Box<CheckArgs>),
    /// List the target profiles, or show one.
    Profiles(ProfilesArgs),
    /// List the cross-lane operations and what each profile makes of them.
    Ops(OpsArgs),
    /// Serve editors: messages, completion, prices and the rest, by the Language Server Protocol on standard input and output.
    Lsp(LspArgs),
    /// Compile as glslc does, with its options (`crosslane glslc --help` lists them).
    #[command(disable_help_flag = true)]
    Glslc(StandInArgs),
    /// Compile as glslangValidator does, with its options (`crosslane glslang --help` lists them).
    #[command(disable_help_flag = true)]
    Glslang(StandInArgs),
    /// Print the JSON Schema of what `compile --emit reflection` prints.
    Schema,
    /// Print what the code of a message means, with an example.
    ExplainCode(ExplainCodeArgs),
    /// Print completions for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write all pages.
    Man(ManArgs),
}

impl Command {
    /// How its messages are to be printed, where there is a choice.
    pub fn messages(&self) -> Option<&MessageArgs> {
        match self {
            Command::Compile(args) => Some(&args.messages),
            Command::Build(args) => Some(&args.messages),
            Command::Snapshot(args) => Some(&args.messages),
            Command::Run(args) => Some(&args.messages),
            Command::Explain(args) => Some(&args.messages),
            Command::Check(args) => Some(&args.messages),
            Command::Profiles(_) | Command::Ops(_) | Command::Schema | Command::ExplainCode(_) | Command::Lsp(_) => {
                None
            }
            Command::Completions(_) | Command::Man(_) | Command::Glslc(_) | Command::Glslang(_) => None,
        }
    }
}

/// Another compiler's command line.
#[derive(Args)]
pub struct StandInArgs {
    /// Its options and inputs.
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}

/// Where source text comes from and what is defined in it.
#[derive(Args, Clone)]
pub struct SourceArgs {
    /// Shader to read; `-` is standard input.
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Language; by default what the extension says (.comp, .glsl: GLSL; .wgsl: WGSL).
    #[arg(long, short = 'x', value_name = "LANG")]
    pub lang: Option<Lang>,
    /// Pipeline stage; by default what the extension says (.comp, .vert, .rgen and so on) or the
    /// shader's `#pragma shader_stage(STAGE)`, otherwise compute.
    #[arg(long, value_name = "STAGE")]
    pub stage: Option<Stage>,
    /// Entry point of a WGSL module; by default all of them for SPIR-V, and the only one for other targets.
    #[arg(long, short = 'e', value_name = "NAME")]
    pub entry: Option<String>,
    /// The effect of an index out of range in WGSL: nothing is checked, the index becomes the last one, or a read gives
    /// zero and a write does nothing.
    #[arg(long, value_name = "CHECKS")]
    pub bounds_checks: Option<BoundsChecks>,
    /// Contraction of floats: `a * b + c` may be rounded once, or each operation is. `#pragma crosslane fp_contract(…)` in
    /// the shader takes precedence, and `precise` results are exact in either case. The default is fast, with
    /// `--reproducible` off.
    #[arg(long, value_name = "CHOICE")]
    pub fp_contract: Option<FpContract>,
    /// Directory to look for includes in; may be repeated.
    #[arg(short = 'I', value_name = "DIR")]
    pub include_dirs: Vec<PathBuf>,
    /// Define a macro; the value is 1 when none is given.
    #[arg(short = 'D', value_name = "NAME[=V]")]
    pub defines: Vec<String>,
    /// Undefine a macro.
    #[arg(short = 'U', value_name = "NAME")]
    pub undefines: Vec<String>,
}

/// The targets to compile for.
#[derive(Args, Clone)]
pub struct TargetArgs {
    /// Target profile, may be repeated, or several with commas: a name from `crosslane profiles`, or a .toml file. By default
    /// spirv-1.3, or wgsl for an output that ends in .wgsl.
    #[arg(long, short = 'p', value_name = "PROFILE", value_delimiter = ',')]
    pub profile: Vec<String>,
    /// The profile that glslc's `--target-env` and `--target-spv` mean, of which the last one counts; `-p` takes precedence.
    #[arg(long, hide = true, value_name = "PROFILE")]
    pub environment: Option<String>,
    /// Lanes of a subgroup; `any` where only the driver knows.
    #[arg(long, value_name = "LANES")]
    pub wave_size: Option<Lanes>,
    /// Promise the same bits of float reductions and scans on every target; turns contraction off.
    #[arg(long)]
    pub reproducible: bool,
}

/// How messages are printed.
#[derive(Args, Clone)]
pub struct MessageArgs {
    /// Treat warnings as errors (also `-Werror`).
    #[arg(long)]
    pub deny_warnings: bool,
    /// Print no warnings (also `-w`).
    #[arg(long, short = 'w')]
    pub no_warnings: bool,
    /// Give a kind of warning; `-Wno-NAME` does not give it, `-Werror=NAME` makes it an error.
    #[arg(short = 'W', value_name = "NAME", long_help = about_warnings())]
    pub warnings: Vec<Choice>,
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    #[arg(long, value_name = "FORMAT", default_value = "human", overrides_with = "message_format")]
    pub message_format: MessageFormat,
}

/// The help of `-W`.
fn about_warnings() -> String {
    let kinds = warning::ALL.iter().map(|warning| format!("\n- {}: {}", warning.name, warning.about));
    let list: String = kinds.collect();
    format!("Give a kind of warning; `-Wno-NAME` does not give it, `-Werror=NAME` makes it an error:{list}")
}

#[derive(Args, Clone)]
pub struct CompileArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// More shaders.
    #[arg(value_name = "IN")]
    pub more: Vec<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub messages: MessageArgs,
    /// File to write; `-` is standard output. By default the input's name with the output's extension. Of several shaders or
    /// profiles, the directory of the outputs, which is made if need be; by default the working directory.
    #[arg(short = 'o', value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Another stage of the same program, with which the output agrees and which is not compiled; may be repeated. Shaders that
    /// are compiled in one command agree anyway.
    #[arg(long, value_name = "SHADER", conflicts_with = "more")]
    pub link_with: Vec<PathBuf>,
    /// Stop after preprocessing and write the text.
    #[arg(short = 'E')]
    pub preprocess: bool,
    /// Write assembly text instead of a binary.
    #[arg(short = 'S')]
    pub assembly: bool,
    /// The output to write. `kernel@PASS` is the kernel form after the last run of a pass, `kernel@PASS.2` after its
    /// second run, and `kernel@all` after each run that changes it.
    #[arg(long, value_name = "KIND", value_parser = EmitParser, conflicts_with_all = ["preprocess", "assembly"])]
    pub emit: Option<Emitted>,
    /// The debug information (also `-g0`, `-g`, `-g2`).
    #[arg(long, value_name = "LEVEL", default_value = "none", overrides_with = "debug")]
    pub debug: DebugLevel,
    /// Directory of llvm-mc and ld.lld; by default they are looked for on the PATH, the newest version first.
    #[arg(long, value_name = "DIR")]
    pub llvm_dir: Option<PathBuf>,
    #[command(flatten)]
    pub deps: DepsArgs,
    #[command(flatten)]
    pub dialect: DialectArgs,
    #[command(flatten)]
    pub places: PlaceArgs,
    /// Keep the source's comments in GLSL, HLSL, MSL and WGSL.
    #[arg(long)]
    pub comments: bool,
    /// Write `#line` directives in GLSL, HLSL and MSL, so that the next compiler's messages and debug information name the lines
    /// of the source.
    #[arg(long)]
    pub line_directives: bool,
    /// Value of a specialization constant, or of an override of WGSL, by name or number; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Turn `y` of clip space around at the end of vertex and tessellation evaluation shaders.
    #[arg(long)]
    pub flip_y: bool,
    /// The depths of clip space, likewise: as the source has them, from OpenGL's -w to w into the 0 to w of the others, or the
    /// other way.
    #[arg(long, value_name = "RANGE", default_value = "source")]
    pub depth_range: DepthRange,
    /// Report what is wrong, and write nothing.
    #[arg(long)]
    pub check_only: bool,
    /// The output may have any ending.
    #[arg(skip)]
    pub any_ending: bool,
    /// There are outputs of other profiles, which options may be for.
    #[arg(skip)]
    pub is_one_of_many: bool,
}

/// How the shader is read and the module written, as glslc and glslangValidator let it be chosen.
#[derive(Args, Clone)]
#[command(next_help_heading = "As glslc and glslangValidator")]
pub struct DialectArgs {
    /// Version of GLSL that takes the place of the shader's own, as in 450core (also `-std=`).
    #[arg(long, value_name = "VERSION")]
    pub std: Option<String>,
    /// The stage must be named.
    #[arg(skip)]
    pub needs_stage: bool,
    /// Versions differ too where only one of them names a profile.
    #[arg(skip)]
    pub compares_profiles: bool,
    /// Name of the entry point in the module, in place of `main`.
    #[arg(long, value_name = "NAME")]
    pub entry_name: Option<String>,
    /// Text to read after the `#version` line; may be repeated.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub preamble: Vec<String>,
    /// Give resources without a binding the next free one (also `-fauto-bind-uniforms`).
    #[arg(long)]
    pub auto_bindings: bool,
    /// Give inputs, outputs and OpenGL's uniforms without a location the next one (also `-fauto-map-locations`).
    #[arg(long)]
    pub auto_locations: bool,
    /// The first location that `--auto-locations` gives a uniform.
    #[arg(long, value_name = "N", default_value = "0")]
    pub uniform_base: u32,
    /// The location that `--auto-locations` gives the uniform of this name; may be repeated.
    #[arg(long, value_name = "NAME=N")]
    pub uniform_location: Vec<String>,
    /// Number to add to the bindings of a kind of resource (uniform, storage, texture, sampler, image), perhaps of one stage
    /// and one descriptor set; may be repeated.
    #[arg(long, value_name = "KIND[:STAGE[:SET]]=N")]
    pub binding_base: Vec<String>,
    /// Let `min`, `max` and `clamp` give the operand that is not a NaN (also `-fnan-clamp`).
    #[arg(long)]
    pub nan_clamp: bool,
    /// The unused variables that SPIR-V declares (`bindings` also `-fpreserve-bindings`).
    #[arg(long, value_name = "WHAT", default_value = "none")]
    pub keep_unused: Unused,
    /// The work that is done on SPIR-V before it is written (`speed` also `-O`, `size` also `-Os`, `none` also `-O0`). The
    /// other targets have one level.
    #[arg(long, value_name = "FOR", default_value = "none")]
    pub optimize: Goal,
    /// Form of a SPIR-V binary: bytes, hexadecimal numbers with commas, the same in braces, or lines of them (also `-mfmt=`).
    #[arg(long, value_name = "FORM", default_value = "bin")]
    pub words: WordForm,
    /// Write a SPIR-V binary as an array in C of this name.
    #[arg(long, value_name = "NAME")]
    pub array_name: Option<String>,
}

/// Where resources are in WGSL, GLSL, HLSL and MSL.
#[derive(Args, Clone)]
#[command(next_help_heading = "Resources in shading languages")]
pub struct PlaceArgs {
    /// Put push constants into a uniform buffer at this place: group and binding in WGSL and GLSL, space and register in
    /// HLSL, the number of a buffer in MSL.
    #[arg(long, value_name = "[GROUP:]N")]
    pub push_constants: Option<Place>,
    /// Put the resource of a set and binding at another place, likewise; may be repeated.
    #[arg(long, value_name = "SET:BINDING=[GROUP:]N")]
    pub place: Vec<String>,
    /// Put the vertex input at a location at another one, or give it a semantic of HLSL, such as `TEXCOORD1`; may be repeated.
    #[arg(long, value_name = "LOCATION=PLACE")]
    pub vertex_input: Vec<String>,
    /// Make each descriptor set an argument buffer of MSL.
    #[arg(long)]
    pub argument_buffers: bool,
}

/// Variables that nothing uses.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Unused {
    None,
    /// Resources.
    Bindings,
    /// Resources, inputs, outputs and push constants.
    All,
}

/// The goal of optimization.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Goal {
    /// None: the straight translation.
    None,
    /// Speed.
    Speed,
    /// Size.
    Size,
}

impl From<Goal> for Optimize {
    fn from(goal: Goal) -> Optimize {
        match goal {
            Goal::None => Optimize::None,
            Goal::Speed => Optimize::Speed,
            Goal::Size => Optimize::Size,
        }
    }
}

/// The debug information in an output.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DebugLevel {
    /// Nothing.
    None,
    /// Names.
    Names,
    /// Names, source text and lines.
    Lines,
    /// The same with functions, scopes, variables and types.
    Full,
}

impl From<DebugLevel> for DebugInfo {
    fn from(level: DebugLevel) -> DebugInfo {
        match level {
            DebugLevel::None => DebugInfo::None,
            DebugLevel::Names => DebugInfo::Names,
            DebugLevel::Lines => DebugInfo::Lines,
            DebugLevel::Full => DebugInfo::Full,
        }
    }
}

/// How the words of a SPIR-V binary are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WordForm {
    Bin,
    Num,
    C,
    Lines,
}

/// Options for files that list dependencies.
#[derive(Args, Clone)]
#[command(next_help_heading = "Dependencies")]
pub struct DepsArgs {
    /// Write the names of the files that the shader reads, and compile nothing (also `-M`, `-MM`).
    #[arg(long, group = "dependencies")]
    pub deps_only: bool,
    /// Write them beside the output too, to its name with `.d` after (also `-MD`, `-MMD`).
    #[arg(long, group = "dependencies")]
    pub deps: bool,
    /// File to write them to; `-` is standard output (also `-MF`).
    #[arg(long, value_name = "FILE", requires = "dependencies")]
    pub deps_file: Option<PathBuf>,
    /// Name of the output in them, as it is; may be repeated (also `-MT`).
    #[arg(long, value_name = "TARGET", requires = "dependencies")]
    pub deps_target: Vec<String>,
    /// The same, escaped for make (also `-MQ`).
    #[arg(long, value_name = "TARGET", requires = "dependencies")]
    pub deps_target_quoted: Vec<String>,
    /// Add an empty rule for every file but the shader, so that make goes on when one is gone (also `-MP`).
    #[arg(long, requires = "dependencies")]
    pub deps_phony: bool,
    /// Form of them: a rule of make, one JSON object, or paths that each end with a NUL.
    #[arg(long, value_name = "FORMAT", default_value = "make")]
    pub deps_format: DepsFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DepsFormat {
    Make,
    /// A rule of make on one line with names in the order and form of glslc.
    Line,
    Json,
    Zero,
}

#[derive(Args)]
pub struct BuildArgs {
    /// Manifest that names shaders, profiles and macros; paths in it start from its folder.
    #[arg(long, value_name = "FILE", default_value = "crosslane.toml")]
    pub manifest: PathBuf,
    /// Outputs to make at once; by default what cargo or make lends, otherwise one for each processor.
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u16).range(1..).map(usize::from))]
    pub jobs: Option<usize>,
    /// Write nothing; the exit status is 1 when outputs are not what would be made.
    #[arg(long, conflicts_with_all = ["watch", "emit_ninja"])]
    pub check: bool,
    /// Build again whenever a file changes, until stopped.
    #[arg(long, conflicts_with = "emit_ninja")]
    pub watch: bool,
    /// Build nothing; write a file with which ninja does, from the working directory.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "build.ninja")]
    pub emit_ninja: Option<PathBuf>,
    /// Say nothing but errors and warnings.
    #[arg(long, short = 'q')]
    pub quiet: bool,
    #[command(flatten)]
    pub messages: MessageArgs,
}

#[derive(Args)]
pub struct SnapshotArgs {
    /// Manifest that names shaders, profiles and macros; paths in it start from its folder.
    #[arg(long, value_name = "FILE", default_value = "crosslane.toml")]
    pub manifest: PathBuf,
    /// Folder of the committed listings, from the manifest's folder.
    #[arg(long, value_name = "DIR", default_value = "snapshots")]
    pub dir: PathBuf,
    /// Write every listing that differs, and remove those that nothing makes any more.
    #[arg(long, group = "decision")]
    pub accept: bool,
    /// Ask about each.
    #[arg(long, group = "decision")]
    pub review: bool,
    /// Print names and costs, not what differs.
    #[arg(long, group = "decision")]
    pub check: bool,
    /// Listings to make at once; by default what cargo or make lends, otherwise one for each processor.
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u16).range(1..).map(usize::from))]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub messages: MessageArgs,
}

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub messages: MessageArgs,
    /// Profile to run it as: a name from `crosslane profiles`, or a .toml file. Cross-lane operations run as the
    /// instructions of a profile of hardware, as what they mean with a SPIR-V profile.
    #[arg(long, short = 'p', value_name = "PROFILE", default_value = "spirv-1.6")]
    pub profile: String,
    /// Lanes of a wave: 4, 8, 16, 32 or 64; by default the profile's, or 32.
    #[arg(long, value_name = "LANES", value_parser = wave_size)]
    pub wave_size: Option<u32>,
    /// Contents of the buffer at a binding: a file of raw little-endian bytes, zeros:TYPE:COUNT, iota:TYPE:COUNT,
    /// random:TYPE:COUNT:SEED or TYPE:1,2,3; may be repeated.
    #[arg(long, short = 'b', value_name = "[SET.]BINDING=FILE|…")]
    pub buffer: Vec<String>,
    /// Push constants, written as buffers are.
    #[arg(long, value_name = "FILE|…")]
    pub push: Option<String>,
    /// Value of a specialization constant, by name or number; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Workgroups to run.
    #[arg(long, value_name = "X[,Y[,Z]]", default_value = "1")]
    pub groups: String,
    /// Buffer to print afterwards, its number type, and how many numbers; may be repeated. By default every buffer that
    /// the shader may write is printed as u32.
    #[arg(long, value_name = "[SET.]BINDING[:TYPE[:COUNT]]")]
    pub print: Vec<String>,
    /// File to write a buffer to afterwards, as raw bytes; may be repeated.
    #[arg(long, value_name = "[SET.]BINDING=FILE")]
    pub out: Vec<String>,
    /// Instructions that a wave may run before its loop is said not to end.
    #[arg(long, value_name = "N", default_value_t = crate::sim::MAX_STEPS)]
    pub max_steps: u64,
    /// Run the operations as what they mean, before any pass, whatever the profile.
    #[arg(long)]
    pub reference: bool,
    /// Where to run it; with several, what they leave in the buffers is compared and the first one's is printed.
    #[arg(long, value_name = "MACHINE[,MACHINE]", value_delimiter = ',', default_value = "sim")]
    pub on: Vec<Machine>,
    /// Share of a float within which two machines agree, for functions that drivers may compute approximately.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub within: f64,
    /// Let undefined values be stored in buffers; they are printed as `?`.
    #[arg(long)]
    pub keep_undefined: bool,
}

/// Where a shader can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Machine {
    /// The simulator.
    Sim,
    /// NVIDIA's CUDA, for ptx- profiles.
    Cuda,
    /// NVIDIA's OpenGL, for nv- profiles.
    Gl,
    /// Vulkan's first device, for spirv- profiles.
    Vulkan,
}

/// Lanes that the simulator has waves of.
fn wave_size(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(lanes @ (4 | 8 | 16 | 32 | 64)) => Ok(lanes),
        _ => Err("a wave has 4, 8, 16, 32 or 64 lanes".into()),
    }
}

#[derive(Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub messages: MessageArgs,
    #[command(flatten)]
    pub places: PlaceArgs,
    /// Target profile, may be repeated, or several with commas: a name from `crosslane profiles`, or a .toml file.
    #[arg(long, short = 'p', value_name = "PROFILE", value_delimiter = ',', default_value = "spirv-1.3")]
    pub profile: Vec<String>,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "html")]
    pub json: bool,
    /// Write a page with pictures of the lanes; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Width of the text; profiles are side by side where it is enough for them. By default the terminal's, otherwise
    /// 100.
    #[arg(long, value_name = "COLUMNS")]
    pub width: Option<usize>,
}

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub messages: MessageArgs,
    #[command(flatten)]
    pub places: PlaceArgs,
    /// Target profile, may be repeated, or several with commas; all of them without it. The exit status is 3 if one that is
    /// named cannot run the shader.
    #[arg(long, short = 'p', value_name = "PROFILE", value_delimiter = ',')]
    pub profile: Vec<String>,
    /// Look at the other profiles too. The exit status is 0 whichever of those can run the shader.
    #[arg(long)]
    pub all_profiles: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Width of the text; by default the terminal's, otherwise that of the longest line.
    #[arg(long, value_name = "COLUMNS")]
    pub width: Option<usize>,
}

#[derive(Args)]
pub struct ProfilesArgs {
    /// Profiles to show.
    #[arg(value_name = "NAME", value_delimiter = ',')]
    pub names: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct LspArgs {
    /// Target profiles of shaders that no crosslane.toml names; may be repeated, and have commas.
    #[arg(long, short = 'p', value_name = "PROFILE", value_delimiter = ',')]
    pub profile: Vec<String>,
    /// Set by editors alone.
    #[arg(long, hide = true)]
    pub stdio: bool,
}

#[derive(Args)]
pub struct ExplainCodeArgs {
    /// Code of a message, such as E0501.
    pub code: String,
}

#[derive(Args)]
pub struct CompletionsArgs {
    pub shell: clap_complete::Shell,
}

#[derive(Args)]
pub struct ManArgs {
    /// Folder for a page of each subcommand; by default the command's own page goes to standard output.
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
}

#[derive(Args)]
pub struct OpsArgs {
    /// Show these profiles only; may be repeated, or several with commas.
    #[arg(long, short = 'p', value_name = "PROFILE", value_delimiter = ',')]
    pub profile: Vec<String>,
    /// Name of an operation in any language: GLSL, WGSL, HLSL, MSL, SPIR-V, CUDA, PTX, OpenCL, assembly; or a part of names.
    #[arg(value_name = "NAME")]
    pub filter: Option<String>,
    /// Width of the text: a column for each profile where they fit, otherwise a paragraph for each operation. By
    /// default the terminal's, otherwise the table's.
    #[arg(long, value_name = "COLUMNS", conflicts_with_all = ["json", "header", "pages", "dictionary"])]
    pub width: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Print crosslane.glsl: the portable operations as functions on Khronos' extensions, for editors and other compilers.
    #[arg(long, conflicts_with_all = ["json", "filter", "profile", "pages"])]
    pub header: bool,
    /// Print the names in all languages as a page in Markdown, as this program's book has it.
    #[arg(long, conflicts_with_all = ["json", "filter", "profile", "pages", "header"])]
    pub dictionary: bool,
    /// Write a page in Markdown about each operation into a folder, as this program's book has them.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "filter"])]
    pub pages: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lang {
    Glsl,
    Wgsl,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lanes {
    #[value(name = "32")]
    ThirtyTwo,
    #[value(name = "64")]
    SixtyFour,
    Any,
}

impl Lanes {
    /// The number; none when only the running driver knows.
    pub fn lanes(self) -> Option<u32> {
        match self {
            Lanes::ThirtyTwo => Some(32),
            Lanes::SixtyFour => Some(64),
            Lanes::Any => None,
        }
    }
}

impl ValueEnum for BoundsChecks {
    fn value_variants<'a>() -> &'a [BoundsChecks] {
        &BoundsChecks::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
    }
}

impl ValueEnum for DepthRange {
    fn value_variants<'a>() -> &'a [DepthRange] {
        &DepthRange::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
    }
}

impl ValueEnum for FpContract {
    fn value_variants<'a>() -> &'a [FpContract] {
        &FpContract::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
    }
}

impl ValueEnum for Stage {
    fn value_variants<'a>() -> &'a [Stage] {
        &Stage::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()).alias(self.ending()))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// A SPIR-V binary.
    Spirv,
    /// SPIR-V as text.
    SpirvText,
    /// The typed intermediate form.
    Ir,
    /// The kernel form that assembly is written from.
    Kernel,
    /// An NVIDIA assembly program.
    Nv,
    /// An AMD kernel as assembly text.
    S,
    /// A PTX kernel.
    Ptx,
    /// A cubin, by CUDA's `ptxas`.
    Cubin,
    /// WGSL.
    Wgsl,
    /// GLSL.
    Glsl,
    /// HLSL.
    Hlsl,
    /// Metal's language.
    Msl,
    /// A code object for AMD's runtimes, by LLVM's assembler and linker.
    Hsaco,
    /// The resources that the caller must bind and the values that it must set, as JSON.
    Reflection,
    /// The preprocessed source.
    Preprocessed,
}

/// A value of `--emit`.
#[derive(Clone)]
pub struct Emitted {
    pub form: Emit,
    /// The text after `@`.
    pub moment: Option<String>,
}

/// Reads `FORM` and `FORM@MOMENT`.
#[derive(Clone)]
pub struct EmitParser;

impl TypedValueParser for EmitParser {
    type Value = Emitted;

    fn parse_ref(&self, cmd: &clap::Command, arg: Option<&Arg>, value: &OsStr) -> Result<Emitted, clap::Error> {
        let split = value.to_str().and_then(|value| value.split_once('@'));
        let (form, moment) = split.map_or((value, None), |(form, moment)| (OsStr::new(form), Some(moment)));
        let form = EnumValueParser::<Emit>::new().parse_ref(cmd, arg, form)?;
        Ok(Emitted { form, moment: moment.map(str::to_owned) })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Emit::value_variants().iter().filter_map(Emit::to_possible_value)))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    Human,
    Json,
    /// A line each, as in `a.comp:3: error: …`, which editors know.
    Lines,
    /// A line each on standard output, as glslang prints them.
    #[value(hide = true)]
    Glslang,
    /// The same with columns.
    #[value(hide = true)]
    GlslangColumns,
    #[value(hide = true)]
    None,
}
