//! The GLSL front end: preprocess ([`token`] stream), parse, resolve into [`crate::ir`].

pub mod token;
