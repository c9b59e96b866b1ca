//! Images, samplers, texel buffers, acceleration structures, draws and traced rays on Vulkan, from the parts of the compiler's own runs.

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
