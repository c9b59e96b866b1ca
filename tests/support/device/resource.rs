//! The contents of descriptor sets: buffers, images and samplers, each with its location.

use crosslane::run::BufferBinding;
use serde::{Deserialize, Serialize};

/// All resources of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Blocks.
    pub buffers: Vec<BufferBinding>,
    /// Texel buffers.
    pub texels: Vec<TexelBinding>,
    /// Storage images, textures and input attachments.
    pub images: Vec<ImageBinding>,
    /// Separate samplers.
    pub samplers: Vec<SamplerBinding>,
    /// Acceleration structures.
    pub structures: Vec<StructureBinding>,
}

impl From<Vec<BufferBinding>> for Resources {
    fn from(buffers: Vec<BufferBinding>) -> Self {
        Self { buffers, ..Self::default() }
    }
}

/// One texel buffer of a job: its location and texels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TexelBinding {
    /// The descriptor set.
    pub set: u32,
    /// The binding within the set.
    pub binding: u32,
    /// The element, if the binding is an array.
    pub element: u32,
    /// True if it is an `imageBuffer`, which can be written, or a `samplerBuffer`.
    pub storage: bool,
    /// The format, as an [`Image`] names it.
    pub format: String,
    /// The texels.
    pub data: Vec<u8>,
}

/// The kind of view through which a shader sees an image (`VkImageViewType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum View {
    /// `1D`
    Line,
    /// `1DArray`
    LineArray,
    /// `2D` and `2DMS`
    Plane,
    /// `2DArray` and `2DMSArray`
    PlaneArray,
    /// `3D`
    Volume,
    /// `Cube`, of six layers
    Cube,
    /// `CubeArray`, of six layers for each cube
    CubeArray,
}

/// An image and its texels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The format as a layout qualifier of GLSL names it (`rgba8`, `r32ui`), or `d32` for depth.
    pub format: String,
    /// The shape.
    pub view: View,
    /// Width, height and depth of level 0; 1 for missing dimensions.
    pub size: [u32; 3],
    /// Layers; 1 if it is not an array.
    pub layers: u32,
    /// Levels of the mipmap.
    pub levels: u32,
    /// Samples of a texel.
    pub samples: u32,
    /// The texels: level by level, then layer by layer, then row by row. Multisampled images start as the first texel
    /// everywhere, and multisampled attachments end as their resolved samples. A run replaces the texels.
    pub data: Vec<u8>,
}

impl Image {
    /// Width, height and depth of a level.
    pub fn size_of(&self, level: u32) -> [u32; 3] {
        self.size.map(|size| (size >> level).max(1))
    }

    /// Texels of all levels and layers.
    pub fn texels(&self) -> usize {
        let texels = |level| self.size_of(level).iter().product::<u32>() * self.layers;
        (0..self.levels).map(texels).sum::<u32>() as usize
    }
}

/// The kind of an image in the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImageKind {
    /// `image2D` and its kin: read and written.
    Storage,
    /// `texture2D` and its kin.
    Sampled,
    /// `sampler2D` and its kin.
    Combined(Sampler),
    /// `subpassInput`: the n-th one has the `input_attachment_index` n.
    Input,
}

/// One image of a job: its location and texels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageBinding {
    /// The descriptor set.
    pub set: u32,
    /// The binding within the set.
    pub binding: u32,
    /// The element, if the binding is an array.
    pub element: u32,
    /// How it is used: stored to, sampled or attached.
    pub kind: ImageKind,
    /// The texels.
    pub image: Image,
}

/// The address mode of a sampler beyond the edge of a texture (`VkSamplerAddressMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Address {
    /// Starts again.
    Repeat,
    /// Goes back.
    Mirror,
    /// Stays at the edge.
    Clamp,
    /// Reads opaque black.
    Border,
}

/// How textures are sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sampler {
    /// Mixes neighbouring texels and levels instead of taking the nearest.
    pub linear: bool,
    /// Beyond the edge.
    pub address: Address,
    /// Compares depths: 1 if the reference is less or equal.
    pub compare: bool,
}

/// One sampler of a job, without a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplerBinding {
    /// The descriptor set.
    pub set: u32,
    /// The binding within the set.
    pub binding: u32,
    /// The element, if the binding is an array.
    pub element: u32,
    /// How it samples.
    pub sampler: Sampler,
}

/// One top-level acceleration structure of a job, with the scene that all tests share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StructureBinding {
    /// The descriptor set.
    pub set: u32,
    /// The binding within the set.
    pub binding: u32,
    /// The element, if the binding is an array.
    pub element: u32,
    /// The offset in the push constants for its 64-bit address, in bytes.
    pub address_at: Option<usize>,
}
