//! Rules for image operations: operand types, operand counts, results.

use super::body::Body;
use super::{Check, ensure};
use crate::ir::{AtomicOp, ImageOp, ImageParts, ImageType, Scalar, Space, Type, TypeId, Types, Values};

impl Body<'_> {
    pub fn image(&mut self, ty: TypeId, op: ImageOp, parts: ImageParts, operands: Values) -> Check {
        let types = self.list_types(operands)?;
        let extra = u32::from(parts.contains(ImageParts::GRADIENTS));
        ensure!(types.len() as u32 == 1 + parts.bits().count_ones() + extra, "{} operands", types.len());
        let image = self.image_of(op, types[0])?;
        let expected = self.image_result(op, parts, image);
        match expected {
            Some(texel) if self.gives_residency(op, ty) => {
                let pair = self.types.pair(Types::I32, texel);
                self.expect(ty, pair)
            }
            Some(expected) => self.expect(ty, expected),
            None => Ok(()),
        }
    }

    /// Returns true if an operation returns a pair: a texel's residency code, and the texel.
    fn gives_residency(&self, op: ImageOp, ty: TypeId) -> bool {
        use ImageOp::{Fetch, Gather, Read, Sample, SampleProjected};
        matches!(self.types.get(ty), Type::Struct(_)) && matches!(op, Sample | SampleProjected | Gather | Fetch | Read)
    }

    /// The image that the first operand is, contains or points to.
    fn image_of(&mut self, op: ImageOp, of: TypeId) -> Result<ImageType, String> {
        let of = match (op, self.types.get(of)) {
            (ImageOp::Atomic(..), Type::Pointer { space: Space::Handle, pointee }) => pointee,
            _ => of,
        };
        match self.types.get(of) {
            Type::Image(image) | Type::SampledImage(image) => Ok(image),
            _ => Err(format!("{} is not an image", self.name(of))),
        }
    }

    /// The result type, if it does not depend on how sizes are queried.
    fn image_result(&mut self, op: ImageOp, parts: ImageParts, image: ImageType) -> Option<TypeId> {
        let (scalar, compares) = (self.types.scalar(image.sampled), parts.contains(ImageParts::REFERENCE));
        match op {
            ImageOp::Sample | ImageOp::SampleProjected if compares => Some(scalar),
            ImageOp::FragmentMask => Some(Types::U32),
            ImageOp::Sample
            | ImageOp::SampleProjected
            | ImageOp::Gather
            | ImageOp::Fetch
            | ImageOp::FragmentFetch
            | ImageOp::Attachment
            | ImageOp::Read => Some(self.types.vector(image.sampled, 4)),
            ImageOp::Write => Some(Types::VOID),
            ImageOp::Atomic(AtomicOp::Store, ..) => Some(Types::VOID),
            ImageOp::Atomic(..) => {
                let (scalar, size) = image.atomic_texel();
                Some(self.types.vector(scalar, size))
            }
            ImageOp::Weighted | ImageOp::BoxFilter | ImageOp::BlockMatch { .. } => {
                Some(self.types.vector(Scalar::F32, 4))
            }
            ImageOp::QueryLod => Some(self.types.vector(Scalar::F32, 2)),
            ImageOp::Levels | ImageOp::Samples => Some(Types::I32),
            ImageOp::Size | ImageOp::Combine => None,
        }
    }
}
