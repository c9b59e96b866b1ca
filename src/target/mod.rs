//! Targets: each reads an [`crate::ir::Module`] and writes one output format. A target knows no source language.

pub mod spirv;
