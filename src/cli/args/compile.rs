//! The options of `compile`.

use super::emit::{EmitParser, Emitted};
use super::source::{MessageArgs, SourceArgs, TargetArgs};
use crate::backend::places::Place;
use crate::backend::{DebugInfo, Optimize};
use crate::ir::DepthRange;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Headings of options.
const OUTPUT: &str = "Output";
const PIPELINE: &str = "Pipeline";

#[derive(Args, Clone)]
pub struct CompileArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// More shaders.
    #[arg(value_name = "IN", help_heading = None::<&str>)]
    pub more: Vec<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
    /// File to write; `-` is standard output. By default the input's name with the output's extension. Of several shaders or
    /// profiles, the directory of the outputs, which is made if need be; by default the working directory.
    #[arg(short = 'o', value_name = "OUT", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
    /// Another stage of the same program, with which the output agrees and which is not compiled; may be repeated. Shaders that
    /// are compiled in one command agree anyway.
    #[arg(long, value_name = "SHADER", conflicts_with = "more", help_heading = PIPELINE)]
    pub link_with: Vec<PathBuf>,
    /// Stop after preprocessing and write the text.
    #[arg(short = 'E', help_heading = OUTPUT)]
    pub preprocess: bool,
    /// Write assembly text instead of a binary.
    #[arg(short = 'S', help_heading = OUTPUT)]
    pub assembly: bool,
    /// The output to write. `kernel@PASS` is the kernel form after the last run of a pass, `kernel@PASS.2` after its
    /// second run, and `kernel@all` after each run that changes it.
    #[arg(
        long,
        value_name = "KIND",
        value_parser = EmitParser,
        conflicts_with_all = ["preprocess", "assembly"],
        help_heading = OUTPUT
    )]
    pub emit: Option<Emitted>,
    /// The debug information (also `-g0`, `-g`, `-g2`).
    #[arg(long, value_name = "LEVEL", default_value = "none", overrides_with = "debug", help_heading = OUTPUT)]
    pub debug: DebugLevel,
    /// Directory of llvm-mc and ld.lld; by default they are looked for on the PATH, the newest version first.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub llvm_dir: Option<PathBuf>,
    /// Keep the source's comments in GLSL, HLSL, MSL and WGSL.
    #[arg(long, help_heading = OUTPUT)]
    pub comments: bool,
    /// Write `#line` directives in GLSL, HLSL and MSL, so that the next compiler's messages and debug information name the lines
    /// of the source.
    #[arg(long, help_heading = OUTPUT)]
    pub line_directives: bool,
    /// Value of a specialization constant, or of an override of WGSL, by name or number; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", help_heading = PIPELINE)]
    pub set: Vec<String>,
    /// Turn `y` of clip space around at the end of vertex and tessellation evaluation shaders.
    #[arg(long, help_heading = PIPELINE)]
    pub flip_y: bool,
    /// The depths of clip space, likewise: as the source has them, from OpenGL's -w to w into the 0 to w of the others, or the
    /// other way.
    #[arg(long, value_name = "RANGE", default_value = "source", help_heading = PIPELINE)]
    pub depth_range: DepthRange,
    /// Report what is wrong, and write nothing.
    #[arg(long, help_heading = OUTPUT)]
    pub check_only: bool,
    #[command(flatten)]
    pub places: PlaceArgs,
    #[command(flatten)]
    pub dialect: DialectArgs,
    #[command(flatten)]
    pub deps: DepsArgs,
    #[command(flatten)]
    pub messages: MessageArgs,
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

impl ValueEnum for DepthRange {
    fn value_variants<'a>() -> &'a [DepthRange] {
        &DepthRange::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
    }
}
