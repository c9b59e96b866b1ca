//! The GLSL front end: preprocess ([`token`] stream), [`parse`] into an [`ast`], resolve into [`crate::ir`].

pub mod ast;
pub mod builtin;
pub mod convert;
pub mod dump;
pub mod env;
pub mod keyword;
pub mod lex;
pub mod number;
pub mod parse;
pub mod preprocess;
mod sema;
pub mod token;
pub mod types;

pub use sema::resolve;
