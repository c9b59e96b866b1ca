//! Opaque types as the tables name them: their operation and dimensions.

use crate::ir::{ImageDim, ImageType, Scalar, Type, TypeId, Types};

/// How the texels are reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpaqueClass {
    /// Image and sampler in one.
    Sampled,
    /// An image to be sampled, without a sampler.
    Texture,
    Storage,
    Subpass,
    /// A color attachment with the pixel's current value.
    Attachment,
}

/// An opaque type except the scalar of its texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opaque {
    pub class: OpaqueClass,
    pub dim: ImageDim,
    pub arrayed: bool,
    pub multisampled: bool,
    /// True if sampling compares.
    pub shadow: bool,
}

impl Opaque {
    /// The shape of an image type, of a sampled image or of a pointer to one, and the scalar of its texels.
    pub fn of(types: &Types, id: TypeId) -> Option<(Opaque, Scalar)> {
        match types.get(id) {
            Type::SampledImage(image) => Some((Opaque::new(OpaqueClass::Sampled, image), image.sampled)),
            Type::Image(image) => {
                let class = match (image.dim, image.storage) {
                    (ImageDim::SubpassInput, _) => OpaqueClass::Subpass,
                    (ImageDim::Tile, _) => OpaqueClass::Attachment,
                    (_, true) => OpaqueClass::Storage,
                    (_, false) => OpaqueClass::Texture,
                };
                Some((Opaque::new(class, image), image.sampled))
            }
            Type::Pointer { pointee, .. } => Opaque::of(types, pointee),
            _ => None,
        }
    }

    const fn new(class: OpaqueClass, image: ImageType) -> Opaque {
        let ImageType { dim, arrayed, multisampled, depth, .. } = image;
        Opaque { class, dim, arrayed, multisampled, shadow: depth }
    }

    /// Coordinates within one layer.
    pub const fn dimensions(self) -> u8 {
        match self.dim {
            ImageDim::D1 | ImageDim::Buffer => 1,
            ImageDim::D2 | ImageDim::Rect | ImageDim::SubpassInput | ImageDim::Tile => 2,
            ImageDim::D3 | ImageDim::Cube => 3,
        }
    }

    /// Coordinates including the layer. Cube arrays that are read or written count faces as layers.
    pub const fn coordinates(self) -> u8 {
        let layered =
            self.arrayed && !(matches!(self.class, OpaqueClass::Storage) && matches!(self.dim, ImageDim::Cube));
        self.dimensions() + layered as u8
    }
}
