//! Operations on images, textures and samplers.

use super::{AtomicOp, Order, Scope};
use serde::Deserialize;

/// An operation on an image. [`super::Op::Image`] has its operands: the image, then one operand for each part in
/// [`ImageParts`], in the order of the bits (two for the gradients). If the residency is requested, the result is a
/// pair of its code, an `i32`, and the texel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum ImageOp {
    /// A filtered texel of a sampled image; a scalar if there is a depth reference.
    Sample,
    /// A filtered texel, with all coordinates divided by the last one.
    SampleProjected,
    /// One component of four texels, or the results of four comparisons.
    Gather,
    /// A texel by integer coordinates, unfiltered.
    Fetch,
    /// A texel of a storage image, or of a subpass input.
    Read,
    Write,
    /// The pixel's value in a color attachment (SPV_EXT_shader_tile_image).
    Attachment,
    /// Operates on the texel of the image that the first operand *points* to; the data follow.
    Atomic(AtomicOp, Scope, Order),
    /// Integer sizes in each dimension, and the number of layers.
    Size,
    /// Level of detail that sampling would use: clamped, and unclamped.
    QueryLod,
    Levels,
    Samples,
    /// A sampled image of an image and a sampler.
    Combine,
    /// The fragments that the samples of a texel share, four bits per sample (SPV_AMD_shader_fragment_mask).
    FragmentMask,
    /// A fragment of a texel, by its number.
    FragmentFetch,
    /// The sum of texels around the coordinate, weighted by [`ImageParts::OTHER`] (SPV_QCOM_image_processing).
    Weighted,
    /// The mean of the texels in a box around the coordinate.
    BoxFilter,
    /// The difference between a block of the image and a block of [`ImageParts::OTHER`].
    BlockMatch {
        /// Differences are squared.
        squared: bool,
        window: BlockWindow,
    },
}

impl ImageOp {
    /// Returns true for lookups of texels of a texture, which shaders cannot write.
    pub const fn is_lookup(self) -> bool {
        matches!(self, ImageOp::Sample | ImageOp::SampleProjected | ImageOp::Gather | ImageOp::Fetch)
    }
}

/// The window that is compared with the reference block (SPV_QCOM_image_processing, SPV_QCOM_image_processing2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum BlockWindow {
    /// The block at the coordinate.
    Single,
    /// The best of the blocks in a window of the sampler.
    Window,
    /// Four blocks next to each other.
    Gather,
}

bitflags::bitflags! {
    /// Operands that follow the image.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct ImageParts: u16 {
        /// The layer of an array, or the divisor of a projection, is the last component.
        const COORDINATE = 1;
        const SAMPLER = 2;
        /// The depth reference that texels are compared with.
        const REFERENCE = 4;
        /// The component that a gather reads.
        const COMPONENT = 8;
        const BIAS = 16;
        const LOD = 32;
        /// Two operands: derivatives of the coordinates in x and in y.
        const GRADIENTS = 64;
        const OFFSET = 128;
        /// An array of four offsets.
        const OFFSETS = 256;
        const SAMPLE = 512;
        /// The value that an atomic operation compares with; before the data.
        const COMPARED = 1024;
        const DATA = 2048;
        /// A second sampled image, a coordinate in it, and a size in texels.
        const OTHER = 4096;
        const OTHER_COORDINATE = 8192;
        const EXTENT = 16384;
        /// The smallest level of detail.
        const MIN_LOD = 32768;
    }
}
