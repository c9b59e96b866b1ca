//! Targets: each writes one output format, SPIR-V from an [`crate::ir::Module`], assembly from a [`crate::kernel::Kernel`].
//! A target knows no source language.

pub mod amd;
pub mod nv;
mod range;
pub mod reflection;
pub mod spirv;
pub mod written;
