//! What a kernel's caller must know whatever the target: entry point, sizes, buffers. A target's own reflection has what its
//! callers need beside that.

use crate::ir::{ImageDim, ImageType};
use crate::kernel::{self, BindingPoint, Kernel};
use serde::{Deserialize, Serialize};

/// What a buffer is bound as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BindingKind {
    Storage,
    Uniform,
}

/// What the shader itself says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Reflection {
    pub entry_point: String,
    /// Invocations of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Lanes of a subgroup; none where the driver decides.
    pub subgroup_size: Option<u32>,
    /// Bytes of workgroup memory that it declares.
    pub shared_bytes: u32,
    /// Bytes of push constants.
    pub push_bytes: u32,
    pub buffers: Vec<Buffer>,
    /// Images, and textures with what samples them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// An image or a texture that is to be bound.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Image {
    pub name: String,
    pub set: u32,
    pub binding: u32,
    /// Which of an array of images.
    pub element: u32,
    /// The sampler that goes with a texture, where it is bound apart from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<SamplerBinding>,
    pub kind: ImageKind,
    /// `2d`, `cube array`, `buffer` and so on.
    pub shape: String,
    /// SPIR-V's number of the texel format (section 3.11, Image Format), 0 where the shader does not say it.
    pub format: u8,
    pub writable: bool,
}

/// Where a sampler is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SamplerBinding {
    pub set: u32,
    pub binding: u32,
    pub element: u32,
}

/// How an image is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageKind {
    /// Sampled.
    Texture,
    /// Read and written directly.
    Image,
}

/// A buffer that is to be bound.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Buffer {
    pub name: String,
    pub set: u32,
    pub binding: u32,
    pub kind: BindingKind,
    /// The least size in bytes.
    pub bytes: u32,
    pub writable: bool,
}

impl Reflection {
    /// The facts of a kernel, for subgroups of so many lanes.
    pub fn of(kernel: &Kernel, subgroup_size: Option<u32>) -> Reflection {
        Reflection {
            entry_point: kernel.name.to_string(),
            workgroup_size: kernel.workgroup_size,
            subgroup_size,
            shared_bytes: kernel.shared_bytes,
            push_bytes: kernel.push_bytes,
            buffers: kernel.buffers.iter().map(Buffer::of).collect(),
            images: kernel.images.iter().map(Image::of).collect(),
        }
    }
}

impl Image {
    /// An image of a kernel.
    pub fn of(image: &kernel::Image) -> Image {
        let BindingPoint { set, binding, element } = image.place;
        let place = |BindingPoint { set, binding, element }| SamplerBinding { set, binding, element };
        Image {
            name: image.name.to_string(),
            set,
            binding,
            element,
            sampler: image.sampler.map(place),
            kind: if image.ty.storage { ImageKind::Image } else { ImageKind::Texture },
            shape: shape(image.ty),
            format: image.ty.format,
            writable: image.writable,
        }
    }
}

fn shape(ty: ImageType) -> String {
    let dim = match ty.dim {
        ImageDim::D1 => "1d",
        ImageDim::D2 | ImageDim::SubpassInput | ImageDim::Tile => "2d",
        ImageDim::D3 => "3d",
        ImageDim::Cube => "cube",
        ImageDim::Rect => "rect",
        ImageDim::Buffer => "buffer",
    };
    let samples = if ty.multisampled { " multisampled" } else { "" };
    format!("{dim}{samples}{}", if ty.arrayed { " array" } else { "" })
}

impl Buffer {
    fn of(buffer: &kernel::Buffer) -> Buffer {
        Buffer {
            name: buffer.name.to_string(),
            set: buffer.set,
            binding: buffer.binding,
            kind: buffer.kind.into(),
            bytes: buffer.bytes,
            writable: buffer.writable,
        }
    }
}

impl From<kernel::BufferKind> for BindingKind {
    fn from(kind: kernel::BufferKind) -> BindingKind {
        match kind {
            kernel::BufferKind::Storage => BindingKind::Storage,
            kernel::BufferKind::Uniform => BindingKind::Uniform,
        }
    }
}
