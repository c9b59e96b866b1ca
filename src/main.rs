//! The `crosslane` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    crosslane::cli::run(std::env::args_os())
}
