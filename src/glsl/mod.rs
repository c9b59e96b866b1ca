//! The GLSL front end: preprocess ([`token`] stream), [`parse`] into an [`ast`], resolve into [`crate::ir`].

pub mod ast;
pub mod builtin;
pub mod convert;
pub mod dump;
pub mod env;
pub mod keyword;
pub mod parse;
mod sema;
pub mod token;
pub mod types;

pub use sema::resolve;
