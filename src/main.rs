//! The `crosslane` command.

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// A compilation creates thousands of small vectors, and a batch does so on every core: the system's allocator took a
/// seventh of the time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    crosslane::cli::run(std::env::args_os())
}
