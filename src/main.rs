//! The `crosslane` command.

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// A compilation makes thousands of small vectors, and a batch does so on every core: a seventh of its time was the system's
/// allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    crosslane::cli::run(std::env::args_os())
}
