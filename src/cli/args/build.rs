//! The options of `build` and `snapshot`.

use super::source::MessageArgs;
use clap::Args;
use clap::builder::TypedValueParser;
use std::path::PathBuf;

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
