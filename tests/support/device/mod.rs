//! Dispatches with more than buffers, and draws, on real drivers: Vulkan, and NVIDIA's OpenGL.

mod draw;
pub mod gl;
mod resource;
pub mod vulkan;

pub use draw::{Attribute, Draw, Rate, Shader, Target, Topology};
pub use resource::{Address, Image, ImageBinding, ImageKind, Resources, Sampler, SamplerBinding, TexelBinding, View};
