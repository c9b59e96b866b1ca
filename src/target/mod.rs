//! Targets: each reads an [`crate::ir::Module`] and writes one output format. A target knows no source language.

pub mod amd;
pub mod nv;
pub mod spirv;
