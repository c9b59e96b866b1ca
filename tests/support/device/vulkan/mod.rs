//! Images, samplers, texel buffers and draws on Vulkan, from the parts of the compiler's own runs.

mod bound;
mod format;
mod image;
mod pass;
mod raster;
mod render;

pub use format::Format;
pub use render::draw;
