//! Images, and textures with their samplers: a kernel's declarations, and the operands of operations.
//!
//! An operation names its image by number. Its operands are scalars, grouped by part in the order of the bits of
//! [`ImageParts`]. Projected coordinates are divided before the operation. If the image is an array, its index follows,
//! and then the index of its sampler if the samplers are a separate array. An index past the end accesses an
//! unspecified element of the array.

use crate::ir::{AtomicOp, ImageDim, ImageOp, ImageParts, ImageType, Scalar};
use crate::kernel::tree::Tree;
use crate::kernel::{InstId, Kernel, Op, Ty, Value};
use crate::source::Span;

/// A binding point: set, binding, and array element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BindingPoint {
    pub set: u32,
    pub binding: u32,
    /// 0 if it is not an array.
    pub element: u32,
}

impl BindingPoint {
    /// This many elements from this one on.
    fn elements(self, count: u32) -> impl Iterator<Item = BindingPoint> {
        (0..count).map(move |n| BindingPoint { element: self.element + n, ..self })
    }
}

/// The elements of an array that an index selects from: `index * step` after the first one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Choices {
    pub count: u32,
    pub step: u32,
}

impl Choices {
    /// A single element, without an index.
    pub const ONE: Choices = Choices { count: 1, step: 1 };

    /// Elements from the first one to the last.
    pub const fn span(self) -> u32 {
        (self.count - 1) * self.step + 1
    }

    /// Returns true if there is something to choose.
    pub const fn is_indexed(self) -> bool {
        self.count > 1
    }
}

/// An image that is read and written directly, or a texture with its sampler; or an array of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    pub name: Box<str>,
    /// Binding point of the image, or of an array's first element.
    pub place: BindingPoint,
    pub choices: Choices,
    /// Binding point of the sampler, or of the first one of an array, if it is bound separately from its texture.
    pub sampler: Option<BindingPoint>,
    /// Choices of an index that applies to the samplers alone.
    pub sampler_choices: Choices,
    pub ty: ImageType,
    /// True if texels are compared with a reference.
    pub compares: bool,
    pub writable: bool,
    /// Writes must be visible to other invocations, or theirs to this one.
    pub coherent: bool,
    pub volatile: bool,
    pub span: Span,
}

impl Image {
    /// Binding points of the images, from the first to the last.
    pub fn places(&self) -> impl Iterator<Item = BindingPoint> {
        self.place.elements(self.choices.span())
    }

    /// Binding point of the texture's sampler, or of an array's first one.
    pub fn sampling_place(&self) -> BindingPoint {
        self.sampler.unwrap_or(self.place)
    }

    /// The choices of that sampler.
    pub fn sampling_choices(&self) -> Choices {
        if self.sampler.is_some() { self.sampler_choices } else { self.choices }
    }

    /// Binding points of the samplers, from the first to the last.
    pub fn sampling_places(&self) -> impl Iterator<Item = BindingPoint> {
        self.sampling_place().elements(self.sampling_choices().span())
    }

    /// Returns true if operations have an index for the image, and one for the sampler.
    const fn indexed(&self) -> [bool; 2] {
        [self.choices.is_indexed(), self.sampler_choices.is_indexed()]
    }

    /// Number of indices of an operation.
    pub fn indices(&self) -> usize {
        self.indexed().into_iter().filter(|indexed| *indexed).count()
    }
}

impl Kernel {
    /// The indices of an operation into the arrays of images and of samplers, if they are arrays.
    pub fn image_indices(&self, inst: InstId) -> [Option<Value>; 2] {
        let Op::Image { image, .. } = self.insts[inst].op else { return [None; 2] };
        let (image, args) = (&self.images[image as usize], self.args(inst));
        let mut indices = args[args.len() - image.indices()..].iter().copied();
        image.indexed().map(|indexed| if indexed { indices.next() } else { None })
    }

    /// Puts textures before images, each in binding order, and drops unused ones.
    pub fn sort_images(&mut self) {
        let mut order: Vec<usize> = (0..self.images.len()).collect();
        order.sort_by_key(|at| {
            let Image { place, choices, sampler, sampler_choices, ty, compares, .. } = &self.images[*at];
            (ty.storage, *place, *choices, *sampler, *sampler_choices, *compares)
        });
        let mut is_named = vec![false; order.len()];
        for inst in Tree::new(self).insts(self) {
            if let Op::Image { image, .. } = self.insts[inst].op {
                is_named[image as usize] = true;
            }
        }
        order.retain(|at| is_named[*at]);
        let mut numbers = vec![0; self.images.len()];
        for (new, old) in order.iter().enumerate() {
            numbers[*old] = new as u32;
        }
        self.images = order.iter().map(|at| self.images[*at].clone()).collect();
        for inst in self.insts.handles().collect::<Vec<_>>() {
            if let Op::Image { image, .. } = &mut self.insts[inst].op {
                *image = numbers[*image as usize];
            }
        }
    }
}

/// Number of coordinates, without layers.
pub const fn dimensions(dim: ImageDim) -> usize {
    match dim {
        ImageDim::D1 | ImageDim::Buffer => 1,
        ImageDim::D2 | ImageDim::Rect | ImageDim::SubpassInput | ImageDim::Tile => 2,
        ImageDim::D3 | ImageDim::Cube => 3,
    }
}

/// Scalars of a coordinate. A storage image counts the faces of all its cubes as layers.
fn coordinates(ty: ImageType, op: ImageOp) -> usize {
    let layered = ty.arrayed && op != ImageOp::QueryLod && !(ty.storage && ty.dim == ImageDim::Cube);
    dimensions(ty.dim) + usize::from(layered)
}

/// The parts of an operation with the number of scalars that each has.
pub fn arguments(ty: ImageType, op: ImageOp, parts: ImageParts) -> impl Iterator<Item = (ImageParts, usize)> {
    let dimensions = dimensions(ty.dim);
    parts.iter().map(move |part| {
        let count = match part {
            ImageParts::COORDINATE => coordinates(ty, op),
            ImageParts::GRADIENTS => 2 * dimensions,
            ImageParts::OFFSET => dimensions,
            // Four offsets in two dimensions.
            ImageParts::OFFSETS => 8,
            ImageParts::DATA if op == ImageOp::Write => 4,
            _ => 1,
        };
        (part, count)
    })
}

/// The position of a part's scalars among the operands; `None` if the operation lacks the part.
pub fn argument(ty: ImageType, op: ImageOp, parts: ImageParts, wanted: ImageParts) -> Option<std::ops::Range<usize>> {
    let mut start = 0;
    for (part, count) in arguments(ty, op, parts) {
        if part == wanted {
            return Some(start..start + count);
        }
        start += count;
    }
    None
}

/// Types of the results.
pub fn results(ty: ImageType, op: ImageOp, parts: ImageParts) -> Vec<Ty> {
    let count = match op {
        ImageOp::Sample if parts.contains(ImageParts::REFERENCE) => 1,
        ImageOp::Sample | ImageOp::Gather | ImageOp::Fetch | ImageOp::Read => 4,
        ImageOp::Write | ImageOp::Atomic(AtomicOp::Store, ..) => 0,
        ImageOp::QueryLod => 2,
        // A cube's faces are as high as wide.
        ImageOp::Size => dimensions(ty.dim).min(if ty.dim == ImageDim::Cube { 2 } else { 3 }) + usize::from(ty.arrayed),
        _ => 1,
    };
    vec![Ty::of(Scalar::U32); count]
}

/// Returns true if an operation changes the contents of an image.
pub const fn writes(op: ImageOp) -> bool {
    matches!(op, ImageOp::Write | ImageOp::Atomic(..))
}

/// Returns true if an operation depends on the differences of coordinates in a quad.
pub fn takes_derivatives(op: ImageOp, parts: ImageParts) -> bool {
    let given = parts.intersects(ImageParts::LOD | ImageParts::GRADIENTS);
    matches!(op, ImageOp::Sample | ImageOp::QueryLod) && !given
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUBES: ImageType = ImageType {
        sampled: Scalar::F32,
        dim: ImageDim::Cube,
        arrayed: true,
        multisampled: false,
        depth: false,
        storage: false,
        format: 0,
    };

    #[test]
    fn operands_lie_in_the_order_of_the_parts() {
        let parts = ImageParts::COORDINATE | ImageParts::REFERENCE | ImageParts::GRADIENTS;
        let at = |part| argument(CUBES, ImageOp::Sample, parts, part);
        assert_eq!(at(ImageParts::COORDINATE), Some(0..4));
        assert_eq!(at(ImageParts::REFERENCE), Some(4..5));
        assert_eq!(at(ImageParts::GRADIENTS), Some(5..11));
        assert_eq!(at(ImageParts::LOD), None);
    }

    #[test]
    fn storage_images_count_faces_as_layers() {
        let stored = ImageType { storage: true, ..CUBES };
        let parts = ImageParts::COORDINATE;
        assert_eq!(argument(stored, ImageOp::Read, parts, parts), Some(0..3));
        assert_eq!(argument(CUBES, ImageOp::QueryLod, parts, parts), Some(0..3));
    }

    #[test]
    fn sizes_have_a_number_for_the_layers() {
        assert_eq!(results(CUBES, ImageOp::Size, ImageParts::LOD).len(), 3);
        assert_eq!(results(ImageType { arrayed: false, ..CUBES }, ImageOp::Size, ImageParts::LOD).len(), 2);
    }
}
