//! The options of the subcommands that tell about shaders, profiles, operations and messages.

use super::compile::PlaceArgs;
use super::completion::{operations, profiles};
use super::source::{MessageArgs, SourceArgs, TARGET};
use crate::profile::WaveSize;
use clap::Args;
use std::path::PathBuf;

/// The heading of options about the form of a report.
const REPORT: &str = "Report";

#[derive(Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Target profile, may be repeated, or several with commas: a name from `crosslane profiles`, or a .toml file.
    #[arg(long, short = 'p', value_name = "PROFILE", value_delimiter = ',', default_value = "spirv-1.3", add = profiles(), help_heading = TARGET)]
    pub profile: Vec<String>,
    /// Lanes of a subgroup: 32, 64, `16..` for 16 and more, or `any` where only the driver knows.
    #[arg(long, value_name = "LANES", help_heading = TARGET)]
    pub wave_size: Option<WaveSize>,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "html", help_heading = REPORT)]
    pub json: bool,
    /// Write a page with pictures of the lanes; `-` is standard output.
    #[arg(long, value_name = "FILE", help_heading = REPORT)]
    pub html: Option<PathBuf>,
    /// Width of the text; profiles are side by side where it is enough for them. By default the terminal's, otherwise
    /// 100.
    #[arg(long, value_name = "COLUMNS", help_heading = REPORT)]
    pub width: Option<usize>,
    #[command(flatten)]
    pub places: PlaceArgs,
    #[command(flatten)]
    pub messages: MessageArgs,
}

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Target profile, may be repeated, or several with commas; all of them without it. The exit status is 3 if one that is
    /// named cannot run the shader.
    #[arg(long, short = 'p', value_name = "PROFILE", value_delimiter = ',', add = profiles(), help_heading = TARGET)]
    pub profile: Vec<String>,
    /// Lanes of a subgroup in the named profiles: 32, 64, `16..` for 16 and more, or `any` where only the driver knows.
    #[arg(long, value_name = "LANES", requires = "profile", help_heading = TARGET)]
    pub wave_size: Option<WaveSize>,
    /// Look at the other profiles too. The exit status is 0 whichever of those can run the shader.
    #[arg(long, help_heading = TARGET)]
    pub all_profiles: bool,
    /// Print one JSON object.
    #[arg(long, help_heading = REPORT)]
    pub json: bool,
    /// Width of the text; by default the terminal's, otherwise that of the longest line.
    #[arg(long, value_name = "COLUMNS", help_heading = REPORT)]
    pub width: Option<usize>,
    #[command(flatten)]
    pub places: PlaceArgs,
    #[command(flatten)]
    pub messages: MessageArgs,
}

#[derive(Args)]
pub struct ProfilesArgs {
    /// Profiles to show.
    #[arg(value_name = "NAME", value_delimiter = ',', add = profiles())]
    pub names: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct OpsArgs {
    /// Show these profiles only; may be repeated, or several with commas.
    #[arg(long, short = 'p', value_name = "PROFILE", value_delimiter = ',', add = profiles())]
    pub profile: Vec<String>,
    /// Name of an operation in any language: GLSL, WGSL, HLSL, MSL, SPIR-V, CUDA, PTX, OpenCL, assembly; or a part of names.
    #[arg(value_name = "NAME", add = operations())]
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

#[derive(Args)]
pub struct LspArgs {
    /// Target profiles of shaders that no crosslane.toml names; may be repeated, and have commas.
    #[arg(long, short = 'p', value_name = "PROFILE", value_delimiter = ',', add = profiles())]
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
