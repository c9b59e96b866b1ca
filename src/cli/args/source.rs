//! Options about the source and the target, which several subcommands share.

use super::completion::profiles;
use crate::diagnostic::warning::Choice;
use crate::ir::{FpContract, Stage};
use crate::profile::WaveSize;
use crate::wgsl::BoundsChecks;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Where source text comes from and what is defined in it.
#[derive(Args, Clone)]
#[command(next_help_heading = "Source")]
pub struct SourceArgs {
    /// Shader to read; `-` is standard input.
    #[arg(value_name = "IN", help_heading = None::<&str>)]
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

/// The heading of options about the target.
pub const TARGET: &str = "Target";

/// The targets to compile for.
#[derive(Args, Clone)]
#[command(next_help_heading = TARGET)]
pub struct TargetArgs {
    /// Target profile, may be repeated, or several with commas: a name from `crosslane profiles`, or a .toml file. By default
    /// spirv-1.3, or wgsl for an output that ends in .wgsl.
    #[arg(long, short = 'p', value_name = "PROFILE", value_delimiter = ',', add = profiles())]
    pub profile: Vec<String>,
    /// The profile that glslc's `--target-env` and `--target-spv` mean, of which the last one counts; `-p` takes precedence.
    #[arg(long, hide = true, value_name = "PROFILE")]
    pub environment: Option<String>,
    /// Lanes of a subgroup: 32, 64, `16..` for 16 and more, or `any` where only the driver knows. Your program asks the driver for
    /// them. `#pragma crosslane wave_size(…)` in the shader holds too.
    #[arg(long, value_name = "LANES")]
    pub wave_size: Option<WaveSize>,
    /// Promise the same bits of float reductions and scans on every target; turns contraction off.
    #[arg(long)]
    pub reproducible: bool,
}

/// How messages are printed.
#[derive(Args, Clone)]
#[command(next_help_heading = "Messages")]
pub struct MessageArgs {
    /// Treat warnings as errors (also `-Werror`).
    #[arg(long)]
    pub deny_warnings: bool,
    /// Print no warnings (also `-w`).
    #[arg(long, short = 'w')]
    pub no_warnings: bool,
    /// Give a kind of warning; `-Wno-NAME` does not give it, `-Werror=NAME` makes it an error. `crosslane warnings` lists them.
    #[arg(short = 'W', value_name = "NAME")]
    pub warnings: Vec<Choice>,
    /// Colours in messages.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Form of messages: for people, a JSON object each, or a line each.
    #[arg(long, value_name = "FORMAT", default_value = "human", overrides_with = "message_format")]
    pub message_format: MessageFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lang {
    Glsl,
    Wgsl,
}

impl ValueEnum for BoundsChecks {
    fn value_variants<'a>() -> &'a [BoundsChecks] {
        &BoundsChecks::ALL
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
