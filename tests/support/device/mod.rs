//! Dispatches with more than buffers, draws and ray tracing launches on real drivers: Vulkan, and NVIDIA's OpenGL.

mod draw;
pub mod gl;
mod launch;
mod resource;
pub mod vulkan;

pub use draw::{Attribute, Draw, Rate, Shader, Target, Topology};
pub use launch::{Launch, Numbered};
pub use resource::{
    Address, Image, ImageBinding, ImageKind, Resources, Sampler, SamplerBinding, StructureBinding, TexelBinding, View,
};
