//! The GLSL front end: preprocess ([`token`] stream), [`parse`] into an [`ast`], resolve into [`crate::ir`].

pub mod ast;
pub mod convert;
pub mod dump;
pub mod keyword;
pub mod parse;
pub mod token;
pub mod types;
