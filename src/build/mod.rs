//! Compiling from build scripts, and the file handling that they share with the command: reading, atomic writes, and
//! dependencies. The compiler itself touches no file.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), crosslane::build::Error> {
//!     crosslane::build::compile_dir("shaders")
//! }
//! ```
//!
//! ```ignore
//! // src/main.rs
//! mod shaders {
//!     include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
//! }
//! let words: &[u32] = shaders::reduce::SPIRV_1_3;
//! ```

mod blocks;
mod builder;
mod cargo;
pub mod claims;
pub mod deps;
mod error;
pub mod files;
pub mod identity;
pub mod kind;
pub mod read;
mod rust;
mod twins;
pub mod walk;
pub mod write;

pub use crate::backend::places::{Bound, Place};
pub use crate::ir::{ClipSpace, DepthRange, FpContract};
pub use builder::Builder;
pub use error::Error;
use std::path::Path;

/// Compiles every shader of a folder to SPIR-V 1.3, and writes the results to `shaders.rs`. A [`Builder`] has more
/// options.
///
/// # Errors
/// Returns an error if a shader is wrong or a file cannot be read or written; the error has already been reported to
/// cargo.
pub fn compile_dir(folder: impl AsRef<Path>) -> Result<(), Error> {
    Builder::new().compile_dir(folder)
}
