//! Images, textures and samplers: their types, and the instructions that sample, read, write and query them (SPIR-V 1.6
//! sections 3.49.6 and 3.49.10; capabilities of "Dim" and "Image Format", sections 3.8 and 3.11). Rectangle images,
//! which Vulkan lacks (VUID-StandaloneSpirv-OpTypeImage-09638), are refused for it.

use super::Emitter;
use super::function::Body;
use crate::diagnostic::Code;
use crate::ir::{
    AtomicOp, ImageDim, ImageOp, ImageParts, ImageType, Order, Scalar, Scope, Type, TypeId, Value, Values,
};
use rspirv::spirv::{Capability, Dim, ImageFormat, ImageOperands, Op, StorageClass, Word};
use smallvec::{SmallVec, smallvec};

/// Formats that every device with storage images supports; the others need `StorageImageExtendedFormats`.
const COMMON_FORMATS: [ImageFormat; 13] = [
    ImageFormat::Rgba32f,
    ImageFormat::Rgba16f,
    ImageFormat::R32f,
    ImageFormat::Rgba8,
    ImageFormat::Rgba8Snorm,
    ImageFormat::Rgba32i,
    ImageFormat::Rgba16i,
    ImageFormat::Rgba8i,
    ImageFormat::R32i,
    ImageFormat::Rgba32ui,
    ImageFormat::Rgba16ui,
    ImageFormat::Rgba8ui,
    ImageFormat::R32ui,
];

/// Formats of 64-bit integers, whose capability covers them.
const LONG_FORMATS: [ImageFormat; 2] = [ImageFormat::R64ui, ImageFormat::R64i];

pub(super) const fn dim(dim: ImageDim) -> Dim {
    match dim {
        ImageDim::D1 => Dim::Dim1D,
        ImageDim::D2 => Dim::Dim2D,
        ImageDim::D3 => Dim::Dim3D,
        ImageDim::Cube => Dim::DimCube,
        ImageDim::Rect => Dim::DimRect,
        ImageDim::Buffer => Dim::DimBuffer,
        ImageDim::SubpassInput => Dim::DimSubpassData,
        ImageDim::Tile => Dim::DimTileImageDataEXT,
    }
}

/// The capability of an image type by dimension: sampled and storage, single images and arrays.
const fn dim_capability(image: ImageType) -> Option<Capability> {
    Some(match (image.dim, image.storage, image.arrayed) {
        (ImageDim::D1, false, _) => Capability::Sampled1D,
        (ImageDim::D1, true, _) => Capability::Image1D,
        (ImageDim::Rect, false, _) => Capability::SampledRect,
        (ImageDim::Rect, true, _) => Capability::ImageRect,
        (ImageDim::Buffer, false, _) => Capability::SampledBuffer,
        (ImageDim::Buffer, true, _) => Capability::ImageBuffer,
        (ImageDim::Cube, false, true) => Capability::SampledCubeArray,
        (ImageDim::Cube, true, true) => Capability::ImageCubeArray,
        (ImageDim::SubpassInput, ..) => Capability::InputAttachment,
        (ImageDim::Tile, ..) => Capability::TileImageColorReadAccessEXT,
        _ => return None,
    })
}

/// The operation that also returns the residency code.
pub(super) const fn with_residency(op: Op) -> Op {
    match op {
        Op::ImageSampleImplicitLod => Op::ImageSparseSampleImplicitLod,
        Op::ImageSampleExplicitLod => Op::ImageSparseSampleExplicitLod,
        Op::ImageSampleDrefImplicitLod => Op::ImageSparseSampleDrefImplicitLod,
        Op::ImageSampleDrefExplicitLod => Op::ImageSparseSampleDrefExplicitLod,
        Op::ImageFetch => Op::ImageSparseFetch,
        Op::ImageGather => Op::ImageSparseGather,
        Op::ImageDrefGather => Op::ImageSparseDrefGather,
        Op::ImageRead => Op::ImageSparseRead,
        other => other,
    }
}

impl Emitter<'_> {
    pub fn image_type(&mut self, image: ImageType) -> Word {
        if let Some((_, id)) = self.types.images.iter().find(|(known, _)| *known == image) {
            return *id;
        }
        let client = self.options.profile.client;
        if image.dim == ImageDim::Rect && !client.row().has_rectangles {
            let message = format!("{} has no rectangle textures and images", client.name());
            self.fail(Code::PROFILE_LACKS, message);
        }
        let sampled = self.scalar_type(image.sampled);
        self.need_image(image);
        let id = self.id();
        let flags = [image.depth, image.arrayed, image.multisampled].map(Word::from);
        let direct = if image.storage { 2 } else { 1 };
        let operands =
            [sampled, dim(image.dim) as Word, flags[0], flags[1], flags[2], direct, Word::from(image.format)];
        self.out.globals.named(Op::TypeImage, id, &operands);
        self.types.images.push((image, id));
        id
    }

    pub fn sampled_image_type(&mut self, image: ImageType) -> Word {
        let image = self.image_type(image);
        self.wrapped_type(Op::TypeSampledImage, image)
    }

    pub fn sampler_type(&mut self) -> Word {
        self.wrapped_type(Op::TypeSampler, 0)
    }

    /// A type with at most one operand type.
    pub fn wrapped_type(&mut self, op: Op, of: Word) -> Word {
        if let Some((_, id)) = self.types.wrapped.iter().find(|(known, _)| *known == (op, of)) {
            return *id;
        }
        let id = self.id();
        self.out.globals.named(op, id, if of == 0 { &[] } else { std::slice::from_ref(&of) });
        self.types.wrapped.push(((op, of), id));
        id
    }

    fn need_image(&mut self, image: ImageType) {
        if let Some(capability) = dim_capability(image) {
            self.needs.capability(capability);
        }
        if image.storage && image.multisampled && image.dim != ImageDim::SubpassInput {
            self.needs.capability(Capability::StorageImageMultisample);
            if image.arrayed {
                self.needs.capability(Capability::ImageMSArray);
            }
        }
        if image.sampled.width == 64 {
            self.needs.capability(Capability::Int64ImageEXT);
        }
        let is = |format: &ImageFormat| *format as u8 == image.format;
        let covered = image.format == 0 || COMMON_FORMATS.iter().chain(&LONG_FORMATS).any(is);
        if !covered {
            self.needs.capability(Capability::StorageImageExtendedFormats);
        }
    }
}

/// The operands of an operation by role.
pub(super) struct Operands {
    pub parts: ImageParts,
    pub words: SmallVec<[Word; 8]>,
    pub values: SmallVec<[Value; 8]>,
    pub dim: ImageDim,
    /// True if it accesses texels that others may see, in a memory model that requires this to be stated.
    pub shared: bool,
}

impl Operands {
    /// Place of a part's first operand.
    pub fn at(&self, part: ImageParts) -> Option<usize> {
        let before = self.parts.intersection(ImageParts::from_bits_truncate(part.bits() - 1));
        let pair = usize::from(before.contains(ImageParts::GRADIENTS));
        self.parts.contains(part).then(|| 1 + before.bits().count_ones() as usize + pair)
    }

    pub fn word(&self, part: ImageParts) -> Option<Word> {
        self.at(part).map(|at| self.words[at])
    }
}

impl Body<'_, '_> {
    pub fn image(&mut self, ty: TypeId, op: ImageOp, parts: ImageParts, list: Values) -> Word {
        let values: SmallVec<[Value; 8]> = SmallVec::from_slice(self.f.values(list));
        let words = values.iter().map(|value| self.value(*value)).collect();
        let mut operands = Operands { parts, words, values, dim: ImageDim::D2, shared: false };
        let Some(image) = self.image_of(operands.values[0]) else {
            return self.m.internal("an image operation on a value that is not an image");
        };
        operands.dim = image.dim;
        let texel = matches!(op, ImageOp::Read | ImageOp::Write) && image.dim != ImageDim::SubpassInput;
        operands.shared = texel && self.m.vulkan_memory;
        match op {
            ImageOp::Sample | ImageOp::SampleProjected => self.sample(ty, op, &operands),
            ImageOp::Gather => self.gather(ty, &operands),
            ImageOp::Fetch => self.fetch(ty, &operands),
            ImageOp::Read | ImageOp::Write => self.access_texel(ty, op, image, &operands),
            ImageOp::Atomic(op, scope, order) => self.image_atomic(ty, op, (scope, order), image, &operands),
            ImageOp::Attachment => self.fragment(Op::ColorAttachmentReadEXT, ty, &operands),
            ImageOp::FragmentMask => self.fragment(Op::FragmentMaskFetchAMD, ty, &operands),
            ImageOp::FragmentFetch => self.fragment(Op::FragmentFetchAMD, ty, &operands),
            ImageOp::Weighted | ImageOp::BoxFilter | ImageOp::BlockMatch { .. } => self.process(ty, op, &operands),
            ImageOp::Size | ImageOp::QueryLod | ImageOp::Levels | ImageOp::Samples => self.query(ty, op, &operands),
            ImageOp::Combine => {
                let ty = self.m.value_type(ty);
                self.emit(Op::SampledImage, ty, &operands.words)
            }
        }
    }

    /// The image type of an operand: an image, a sampled image, or a pointer to one.
    fn image_of(&self, value: Value) -> Option<ImageType> {
        let ty = self.pointee_of(value).map(|(_, pointee)| pointee).or_else(|| self.type_of(value))?;
        match self.m.module.types.get(ty) {
            Type::Image(image) | Type::SampledImage(image) => Some(image),
            _ => None,
        }
    }

    /// The image operand without its sampler.
    fn bare_image(&mut self, operands: &Operands) -> Word {
        let value = operands.values[0];
        let Some(Type::SampledImage(image)) = self.type_of(value).map(|ty| self.m.module.types.get(ty)) else {
            return operands.words[0];
        };
        let ty = self.m.image_type(image);
        let bare = self.emit(Op::Image, ty, &[operands.words[0]]);
        self.pass_non_uniform(value, bare);
        bare
    }

    /// The optional image operands (section 3.14): the mask and its operands, in the order of its bits.
    fn optional(&mut self, operands: &Operands) -> SmallVec<[Word; 8]> {
        let mut mask = ImageOperands::NONE;
        let mut words: SmallVec<[Word; 8]> = smallvec![0];
        let mut add = |bit: ImageOperands, values: &[Word]| {
            mask |= bit;
            words.extend_from_slice(values);
        };
        if let Some(bias) = operands.word(ImageParts::BIAS) {
            add(ImageOperands::BIAS, &[bias]);
        }
        match operands.word(ImageParts::LOD) {
            // Rectangles have one level and take no level operand (section 3.14); zero derivatives mean the same.
            Some(_) if operands.dim == ImageDim::Rect => {
                let ty = self.m.vector_type(Scalar::F32, 2);
                let none = self.m.null(ty);
                add(ImageOperands::GRAD, &[none; 2]);
            }
            Some(lod) => add(ImageOperands::LOD, &[lod]),
            None => {}
        }
        if let Some(at) = operands.at(ImageParts::GRADIENTS) {
            add(ImageOperands::GRAD, &operands.words[at..at + 2]);
        }
        let mut extended = operands.parts.contains(ImageParts::OFFSETS);
        if let Some(at) = operands.at(ImageParts::OFFSET) {
            let constant = matches!(operands.values[at], Value::Const(_));
            extended |= !constant;
            add(if constant { ImageOperands::CONST_OFFSET } else { ImageOperands::OFFSET }, &[operands.words[at]]);
        }
        if let Some(offsets) = operands.word(ImageParts::OFFSETS) {
            add(ImageOperands::CONST_OFFSETS, &[offsets]);
        }
        if let Some(sample) = operands.word(ImageParts::SAMPLE) {
            add(ImageOperands::SAMPLE, &[sample]);
        }
        if let Some(least) = operands.word(ImageParts::MIN_LOD) {
            add(ImageOperands::MIN_LOD, &[least]);
            self.m.needs.capability(Capability::MinLod);
        }
        if operands.shared {
            add(ImageOperands::NON_PRIVATE_TEXEL, &[]);
        }
        if extended {
            self.m.needs.capability(Capability::ImageGatherExtended);
        }
        words[0] = mask.bits();
        if mask.is_empty() { SmallVec::new() } else { words }
    }

    fn sample(&mut self, ty: TypeId, op: ImageOp, operands: &Operands) -> Word {
        let explicit = operands.parts.intersects(ImageParts::LOD | ImageParts::GRADIENTS);
        let reference = operands.word(ImageParts::REFERENCE);
        let opcode = match (op == ImageOp::SampleProjected, reference.is_some(), explicit) {
            (false, false, false) => Op::ImageSampleImplicitLod,
            (false, false, true) => Op::ImageSampleExplicitLod,
            (false, true, false) => Op::ImageSampleDrefImplicitLod,
            (false, true, true) => Op::ImageSampleDrefExplicitLod,
            (true, false, false) => Op::ImageSampleProjImplicitLod,
            (true, false, true) => Op::ImageSampleProjExplicitLod,
            (true, true, false) => Op::ImageSampleProjDrefImplicitLod,
            (true, true, true) => Op::ImageSampleProjDrefExplicitLod,
        };
        self.at_coordinate(opcode, ty, operands.words[0], reference, operands)
    }

    fn gather(&mut self, ty: TypeId, operands: &Operands) -> Word {
        if operands.parts.intersects(ImageParts::BIAS | ImageParts::LOD) {
            self.m.needs.capability(Capability::ImageGatherBiasLodAMD);
        }
        if let Some(reference) = operands.word(ImageParts::REFERENCE) {
            return self.at_coordinate(Op::ImageDrefGather, ty, operands.words[0], Some(reference), operands);
        }
        let first = self.m.scalar_constant(Scalar::I32, 0);
        let component = operands.word(ImageParts::COMPONENT).unwrap_or(first);
        self.at_coordinate(Op::ImageGather, ty, operands.words[0], Some(component), operands)
    }

    /// Image, coordinate and sample index, if present; optional operands are not among them.
    fn fragment(&mut self, op: Op, ty: TypeId, operands: &Operands) -> Word {
        let mut words: SmallVec<[Word; 3]> = smallvec![self.bare_image(operands)];
        let parts = [ImageParts::COORDINATE, ImageParts::SAMPLE];
        words.extend(parts.into_iter().filter_map(|part| operands.word(part)));
        let ty = self.m.value_type(ty);
        self.emit(op, ty, &words)
    }

    fn fetch(&mut self, ty: TypeId, operands: &Operands) -> Word {
        let image = self.bare_image(operands);
        self.at_coordinate(Op::ImageFetch, ty, image, None, operands)
    }

    /// Image, coordinate, possibly another operand, then the optional ones.
    fn at_coordinate(&mut self, op: Op, ty: TypeId, image: Word, more: Option<Word>, operands: &Operands) -> Word {
        let Some(coordinate) = operands.word(ImageParts::COORDINATE) else {
            return self.m.internal("an image operation without coordinates");
        };
        let mut words: SmallVec<[Word; 8]> = smallvec![image, coordinate];
        words.extend(more);
        words.extend(self.optional(operands));
        let sparse = matches!(self.m.module.types.get(ty), Type::Struct(_));
        let op = if sparse { with_residency(op) } else { op };
        let ty = self.m.value_type(ty);
        self.emit(op, ty, &words)
    }

    fn access_texel(&mut self, ty: TypeId, op: ImageOp, image: ImageType, operands: &Operands) -> Word {
        let formatless = image.format == 0 && image.dim != ImageDim::SubpassInput;
        if operands.word(ImageParts::LOD).is_some() {
            self.m.needs.capability(Capability::ImageReadWriteLodAMD);
        }
        if op == ImageOp::Read {
            if formatless {
                self.m.needs.capability(Capability::StorageImageReadWithoutFormat);
            }
            return self.at_coordinate(Op::ImageRead, ty, operands.words[0], None, operands);
        }
        if formatless {
            self.m.needs.capability(Capability::StorageImageWriteWithoutFormat);
        }
        let (Some(coordinate), Some(data)) = (operands.word(ImageParts::COORDINATE), operands.word(ImageParts::DATA))
        else {
            return self.m.internal("a write to an image without coordinates or data");
        };
        let mut words: SmallVec<[Word; 8]> = smallvec![operands.words[0], coordinate, data];
        words.extend(self.optional(operands));
        self.emit_void(Op::ImageWrite, &words);
        0
    }

    fn image_atomic(
        &mut self,
        ty: TypeId,
        op: AtomicOp,
        how: (Scope, Order),
        image: ImageType,
        operands: &Operands,
    ) -> Word {
        let (scalar, size) = image.atomic_texel();
        let of = if size == 1 { self.m.scalar_type(scalar) } else { self.m.vector_type(scalar, size) };
        let pointer = self.m.pointer_to(StorageClass::Image, of);
        let no_sample = self.m.scalar_constant(Scalar::I32, 0);
        let sample = operands.word(ImageParts::SAMPLE).unwrap_or(no_sample);
        let Some(coordinate) = operands.word(ImageParts::COORDINATE) else {
            return self.m.internal("an image operation without coordinates");
        };
        let texel = self.emit(Op::ImageTexelPointer, pointer, &[operands.words[0], coordinate, sample]);
        self.pass_non_uniform(operands.values[0], texel);
        let data: SmallVec<[Word; 2]> =
            [ImageParts::DATA, ImageParts::COMPARED].into_iter().filter_map(|part| operands.word(part)).collect();
        self.texel_atomic(ty, op, how, texel, (scalar, size), &data)
    }

    fn query(&mut self, ty: TypeId, op: ImageOp, operands: &Operands) -> Word {
        let ty = self.m.value_type(ty);
        if op == ImageOp::QueryLod {
            let coordinate = operands.word(ImageParts::COORDINATE).unwrap_or(0);
            return self.emit(Op::ImageQueryLod, ty, &[operands.words[0], coordinate]);
        }
        let image = self.bare_image(operands);
        match (op, operands.word(ImageParts::LOD)) {
            (ImageOp::Size, Some(lod)) => self.emit(Op::ImageQuerySizeLod, ty, &[image, lod]),
            (ImageOp::Size, None) => self.emit(Op::ImageQuerySize, ty, &[image]),
            (ImageOp::Levels, _) => self.emit(Op::ImageQueryLevels, ty, &[image]),
            _ => self.emit(Op::ImageQuerySamples, ty, &[image]),
        }
    }
}
