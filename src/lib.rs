//! crosslane compiles GLSL and WGSL with portable cross-lane operations to each vendor's best code.

pub mod backend;
#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "cli")]
pub mod cli;
pub mod compile;
pub mod diagnostic;
pub mod dictionary;
pub mod editor;
pub mod explain;
pub mod glsl;
pub mod grammar;
mod guard;
pub mod ir;
pub mod kernel;
pub mod lane;
pub mod limits;
pub mod profile;
pub mod run;
pub mod sim;
pub mod simulate;
pub mod source;
pub mod spirv;
pub mod symbols;
pub mod version;
pub mod warn;
pub mod wgsl;

/// The example of the guide is compiled and run with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide/library.md")]
struct Guide;
