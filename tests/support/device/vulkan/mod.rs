//! Images, samplers, texel buffers, acceleration structures, draws and ray tracing on Vulkan, built on crosslane's own
//! runner.

mod bound;
mod format;
mod image;
mod pass;
mod raster;
mod render;
mod timed;
mod trace;
mod world;

pub use format::Format;
pub use render::draw;
pub use timed::Timed;
pub use trace::{Common, trace};
