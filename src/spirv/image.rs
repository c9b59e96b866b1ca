//! Images: types, and the instructions that sample, read, write and query them.

use super::arithmetic::{shape_of, typed, with_kind};
use super::binary::Insn;
use super::body::Body;
use super::fault::Read;
use super::module::Reader;
use crate::backend::spirv::inverse::{atomic_of, dim_of};
use crate::ir::{
    AtomicOp, ImageDim, ImageOp, ImageParts, ImageType, Module, Scalar, ScalarKind, Type, TypeId, Types, Value,
};
use rspirv::spirv::{Dim, ImageOperands, Op, Word};

/// How an instruction on images is read.
#[derive(Clone, Copy)]
struct Form {
    op: ImageOp,
    /// What follows the coordinate: a depth reference, a gathered component, or nothing.
    third: Option<ImageParts>,
}

const fn form(op: Op) -> Option<Form> {
    let (op, third) = match op {
        Op::ImageSampleImplicitLod | Op::ImageSampleExplicitLod => (ImageOp::Sample, None),
        Op::ImageSampleDrefImplicitLod | Op::ImageSampleDrefExplicitLod => {
            (ImageOp::Sample, Some(ImageParts::REFERENCE))
        }
        Op::ImageSampleProjImplicitLod | Op::ImageSampleProjExplicitLod => (ImageOp::SampleProjected, None),
        Op::ImageSampleProjDrefImplicitLod | Op::ImageSampleProjDrefExplicitLod => {
            (ImageOp::SampleProjected, Some(ImageParts::REFERENCE))
        }
        Op::ImageGather => (ImageOp::Gather, Some(ImageParts::COMPONENT)),
        Op::ImageDrefGather => (ImageOp::Gather, Some(ImageParts::REFERENCE)),
        Op::ImageFetch => (ImageOp::Fetch, None),
        Op::ImageRead => (ImageOp::Read, None),
        Op::ImageWrite => (ImageOp::Write, Some(ImageParts::DATA)),
        _ => return None,
    };
    Some(Form { op, third })
}

/// Components of a coordinate without the layer.
const fn dimensions(dim: ImageDim) -> u8 {
    match dim {
        ImageDim::D1 | ImageDim::Buffer => 1,
        ImageDim::D2 | ImageDim::Rect | ImageDim::SubpassInput | ImageDim::Tile => 2,
        ImageDim::D3 | ImageDim::Cube => 3,
    }
}

impl Reader<'_> {
    pub fn image_type(&self, m: &mut Module, insn: &Insn<'_>) -> Read<TypeId> {
        let Type::Scalar(sampled) = m.types.get(self.ty(insn, insn.arg(0)?)?.logical) else {
            return Err(insn.unread("images without a type of their texels are not read"));
        };
        let dim = Dim::from_u32(insn.arg(1)?).and_then(dim_of);
        let dim = dim
            .filter(|dim| *dim != ImageDim::Tile)
            .ok_or_else(|| insn.unread("images of this dimension are not read"))?;
        let storage = match insn.arg(5)? {
            1 => false,
            2 => true,
            _ => return Err(insn.unread("images that are known to be sampled only later are not read")),
        };
        let format = u8::try_from(insn.arg(6)?).map_err(|_| insn.wrong("there is no such format"))?;
        let image = ImageType {
            sampled,
            dim,
            depth: insn.arg(2)? == 1,
            arrayed: insn.arg(3)? != 0,
            multisampled: insn.arg(4)? != 0,
            storage,
            format,
        };
        Ok(m.types.intern(Type::Image(image)))
    }
}

impl<'w> Body<'_, '_, 'w> {
    /// Returns true for instructions on images.
    pub fn is_image(op: Op) -> bool {
        let queries = matches!(
            op,
            Op::ImageQuerySizeLod
                | Op::ImageQuerySize
                | Op::ImageQueryLevels
                | Op::ImageQuerySamples
                | Op::ImageQueryLod
        );
        queries || form(op).is_some() || matches!(op, Op::SampledImage | Op::Image | Op::ImageTexelPointer)
    }

    pub fn image(&mut self, insn: &Insn<'w>) -> Read<()> {
        match (insn.op, form(insn.op)) {
            (_, Some(form)) => self.texel(insn, form),
            (Op::SampledImage, _) => self.combine(insn),
            // The operations of `ir` take the image of a sampled image from it themselves.
            (Op::Image, _) => {
                let value = self.value(insn, insn.arg(0)?)?;
                self.image_of(insn, value)?;
                self.define(insn, value);
                Ok(())
            }
            (Op::ImageTexelPointer, _) => {
                self.texels.insert(insn.id, [insn.arg(0)?, insn.arg(1)?, insn.arg(2)?]);
                Ok(())
            }
            _ => self.query(insn),
        }
    }

    /// The image type of an image or a sampled image.
    fn image_of(&mut self, insn: &Insn<'w>, value: Value) -> Read<ImageType> {
        let ty = self.b.type_of(value);
        match self.b.module.types.get(ty) {
            Type::Image(image) | Type::SampledImage(image) => Ok(image),
            _ => Err(insn.wrong("its operand is not an image")),
        }
    }

    fn combine(&mut self, insn: &Insn<'w>) -> Read<()> {
        let args = self.values(insn, insn.args)?;
        let [image, sampler] = args[..] else { return Err(insn.wrong("it has two operands")) };
        let (of, with) = (self.b.type_of(image), self.b.type_of(sampler));
        let Type::Image(of) = self.b.module.types.get(of) else {
            return Err(insn.unread("a sampled image of the image of another one is not read"));
        };
        if self.b.module.types.get(with) != Type::Sampler {
            return Err(insn.wrong("its second operand is not a sampler"));
        }
        let ty = self.result_type(insn)?;
        // Whether it compares depths is a matter of the sampled image.
        match self.b.module.types.get(ty) {
            Type::SampledImage(wanted) if wanted == (ImageType { depth: wanted.depth, ..of }) => {}
            _ => return Err(insn.wrong("its result is not a sampled image of its image")),
        }
        let value = self.b.image(ImageOp::Combine, ImageParts::SAMPLER, &[image, sampler], ty);
        self.deliver(insn, value)
    }

    /// The coordinate, without components that the image does not need.
    fn coordinate(&mut self, insn: &Insn<'w>, image: ImageType, id: Word, projected: bool) -> Read<Value> {
        let value = self.value(insn, id)?;
        let value = with_kind(&mut self.b, value, ScalarKind::Sint);
        // The faces of all layers are the layers of a cube that is read and written directly.
        let layers = image.arrayed && !(image.storage && image.dim == ImageDim::Cube);
        let wanted = dimensions(image.dim) + u8::from(layers || projected);
        match shape_of(&mut self.b, value) {
            Some((scalar, size)) if size >= wanted && scalar.is_number() => {
                let picked: Vec<u8> = (0..wanted).collect();
                Ok(if size == wanted { value } else { self.b.swizzle(value, &picked) })
            }
            _ => Err(insn.wrong("the coordinate does not have as many components as the image needs")),
        }
    }

    fn texel(&mut self, insn: &Insn<'w>, Form { op, third }: Form) -> Read<()> {
        let operand = self.value(insn, insn.arg(0)?)?;
        let image = self.image_of(insn, operand)?;
        let samples = matches!(op, ImageOp::Sample | ImageOp::SampleProjected | ImageOp::Gather);
        let ty = self.b.type_of(operand);
        if samples && !matches!(self.b.module.types.get(ty), Type::SampledImage(_)) {
            return Err(insn.wrong("its operand is not a sampled image"));
        }
        let compares = third == Some(ImageParts::REFERENCE);
        if compares != image.depth && samples && compares {
            return Err(insn.unread("a comparison with an image that is not declared as one of depths is not read"));
        }
        let projected = op == ImageOp::SampleProjected;
        let mut parts = vec![(ImageParts::COORDINATE, self.coordinate(insn, image, insn.arg(1)?, projected)?)];
        let mut next = 2;
        if let Some(part) = third {
            let value = self.value(insn, insn.arg(2)?)?;
            parts.push((part, self.third(insn, part, image, value)?));
            next = 3;
        }
        self.optional(insn, next, &mut parts)?;
        self.emit_image(insn, op, (operand, image), parts)
    }

    fn third(&mut self, insn: &Insn<'w>, part: ImageParts, image: ImageType, value: Value) -> Read<Value> {
        let (scalar, size) = shape_of(&mut self.b, value).ok_or_else(|| insn.wrong("an operand is not a number"))?;
        match part {
            ImageParts::REFERENCE if (scalar, size) == (Scalar::F32, 1) => Ok(value),
            ImageParts::COMPONENT if size == 1 && scalar.is_int() => {
                Ok(with_kind(&mut self.b, value, ScalarKind::Sint))
            }
            ImageParts::DATA => {
                let value = with_kind(&mut self.b, value, image.sampled.kind);
                if shape_of(&mut self.b, value).map(|(scalar, _)| scalar) != Some(image.sampled) {
                    return Err(insn.wrong("the texel does not have the type of the image's texels"));
                }
                let whole = self.b.module.types.vector(image.sampled, 4);
                let one = self.b.module.types.scalar(image.sampled);
                let zero = self.b.zero(one);
                let parts: Vec<Value> = std::iter::once(value).chain((size..4).map(|_| zero)).collect();
                Ok(if size == 4 { value } else { self.b.construct(whole, &parts) })
            }
            _ => Err(insn.wrong("an operand has a type that it does not take")),
        }
    }

    /// The optional operands, in the order of their bits.
    fn optional(&mut self, insn: &Insn<'w>, at: usize, parts: &mut Vec<(ImageParts, Value)>) -> Read<()> {
        const TABLE: [(ImageOperands, ImageParts, usize); 8] = [
            (ImageOperands::BIAS, ImageParts::BIAS, 1),
            (ImageOperands::LOD, ImageParts::LOD, 1),
            (ImageOperands::GRAD, ImageParts::GRADIENTS, 2),
            (ImageOperands::CONST_OFFSET, ImageParts::OFFSET, 1),
            (ImageOperands::OFFSET, ImageParts::OFFSET, 1),
            (ImageOperands::CONST_OFFSETS, ImageParts::OFFSETS, 1),
            (ImageOperands::SAMPLE, ImageParts::SAMPLE, 1),
            (ImageOperands::MIN_LOD, ImageParts::MIN_LOD, 1),
        ];
        let Some((mask, ids)) = insn.args.get(at..).and_then(<[Word]>::split_first) else { return Ok(()) };
        let mask = ImageOperands::from_bits(*mask).ok_or_else(|| insn.unread("its image operands are not read"))?;
        let mut ids = ids.iter();
        let mut known = ImageOperands::NON_PRIVATE_TEXEL
            | ImageOperands::VOLATILE_TEXEL
            | ImageOperands::SIGN_EXTEND
            | ImageOperands::ZERO_EXTEND;
        for (bit, part, count) in TABLE {
            known |= bit;
            for _ in 0..if mask.contains(bit) { count } else { 0 } {
                let id = ids.next().ok_or_else(|| insn.wrong("an image operand is missing"))?;
                let value = self.value(insn, *id)?;
                parts.push((part, with_kind(&mut self.b, value, ScalarKind::Sint)));
            }
        }
        match known.contains(mask) {
            true => Ok(()),
            false => Err(insn.unread("its image operands are not read")),
        }
    }

    fn emit_image(
        &mut self,
        insn: &Insn<'w>,
        op: ImageOp,
        (operand, image): (Value, ImageType),
        mut parts: Vec<(ImageParts, Value)>,
    ) -> Read<()> {
        parts.sort_by_key(|(part, _)| part.bits());
        let mask = parts.iter().fold(ImageParts::empty(), |all, (part, _)| all | *part);
        let distinct = parts.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].0 == ImageParts::GRADIENTS);
        if !distinct {
            return Err(insn.wrong("an image operand is there twice"));
        }
        let operands: Vec<Value> = std::iter::once(operand).chain(parts.iter().map(|(_, value)| *value)).collect();
        if op == ImageOp::Write {
            self.b.image(op, mask, &operands, Types::VOID);
            return Ok(());
        }
        let compares = mask.contains(ImageParts::REFERENCE) && op != ImageOp::Gather;
        let ty = self.b.module.types.vector(image.sampled, if compares { 1 } else { 4 });
        let value = self.b.image(op, mask, &operands, ty);
        let wanted = self.result_type(insn)?;
        let size = self.b.module.types.components(wanted).unwrap_or(0);
        let picked: Vec<u8> = (0..size.clamp(1, 4)).collect();
        let value = if compares || size == 4 { value } else { self.b.swizzle(value, &picked) };
        self.deliver(insn, value)
    }

    fn query(&mut self, insn: &Insn<'w>) -> Read<()> {
        let operand = self.value(insn, insn.arg(0)?)?;
        let image = self.image_of(insn, operand)?;
        let size = dimensions(image.dim) + u8::from(image.arrayed) - u8::from(image.dim == ImageDim::Cube);
        let (op, part, ty) = match insn.op {
            Op::ImageQuerySizeLod => {
                (ImageOp::Size, Some(ImageParts::LOD), self.b.module.types.vector(Scalar::I32, size))
            }
            Op::ImageQuerySize => (ImageOp::Size, None, self.b.module.types.vector(Scalar::I32, size)),
            Op::ImageQueryLevels => (ImageOp::Levels, None, Types::I32),
            Op::ImageQuerySamples => (ImageOp::Samples, None, Types::I32),
            _ => (ImageOp::QueryLod, Some(ImageParts::COORDINATE), self.b.module.types.vector(Scalar::F32, 2)),
        };
        let mut operands = vec![operand];
        match part {
            Some(ImageParts::LOD) => {
                let lod = self.value(insn, insn.arg(1)?)?;
                operands.push(typed(&mut self.b, lod, Types::I32).map_err(|message| insn.wrong(message))?);
            }
            Some(_) => {
                operands.push(self.coordinate(insn, ImageType { arrayed: false, ..image }, insn.arg(1)?, false)?)
            }
            None => {}
        }
        let value = self.b.image(op, part.unwrap_or(ImageParts::empty()), &operands, ty);
        self.deliver(insn, value)
    }

    /// An atomic operation on the texel that an `OpImageTexelPointer` points to.
    pub fn texel_atomic(&mut self, insn: &Insn<'w>, [image, coordinate, sample]: [Word; 3]) -> Read<()> {
        let pointer = self.value(insn, image)?;
        let of = self.b.pointee_type(pointer);
        let Type::Image(of) = self.b.module.types.get(of) else {
            return Err(insn.unread("atomic operations on images that are parameters are not read"));
        };
        let (op, signed, first) = super::memory::operation(insn).ok_or_else(|| insn.unread("it is not read"))?;
        let signs_differ = signed.is_some_and(|signed| signed != of.sampled.is_signed());
        if signs_differ && matches!(op, AtomicOp::Min | AtomicOp::Max) || of.atomic_texel().1 != 1 {
            return Err(insn.unread("this atomic operation on texels of this type is not read"));
        }
        let (scope, (order, _)) = (self.scope(insn, insn.arg(1)?)?, self.semantics(insn, insn.arg(2)?)?);
        let texel = self.b.module.types.scalar(of.sampled);
        let mut parts = vec![(ImageParts::COORDINATE, self.coordinate(insn, of, coordinate, false)?)];
        if of.multisampled {
            parts.push((ImageParts::SAMPLE, self.value(insn, sample)?));
        }
        let mut data = Vec::new();
        for id in insn.args.get(first..).unwrap_or_default() {
            let value = self.value(insn, *id)?;
            data.push(typed(&mut self.b, value, texel).map_err(|message| insn.wrong(message))?);
        }
        if matches!(insn.op, Op::AtomicIIncrement | Op::AtomicIDecrement) {
            let one = crate::ir::ConstValue::Bits(of.sampled.one_bits());
            data.push(Value::Const(self.b.module.constants.intern(texel, one)));
        }
        match (op, data.as_slice()) {
            (AtomicOp::Load, []) => {}
            (AtomicOp::CompareExchange, [new, compared]) => {
                parts.extend([(ImageParts::COMPARED, *compared), (ImageParts::DATA, *new)]);
            }
            (AtomicOp::CompareExchange | AtomicOp::Load, _) => {
                return Err(insn.wrong("it has too many or too few operands"));
            }
            (_, [value]) => parts.push((ImageParts::DATA, *value)),
            _ => return Err(insn.wrong("it has too many or too few operands")),
        }
        debug_assert!(atomic_of(insn.op).is_some() || first >= 3);
        let mask = parts.iter().fold(ImageParts::empty(), |all, (part, _)| all | *part);
        let operands: Vec<Value> = std::iter::once(pointer).chain(parts.iter().map(|(_, value)| *value)).collect();
        let ty = if op == AtomicOp::Store { Types::VOID } else { texel };
        let value = self.b.image(ImageOp::Atomic(op, scope, order), mask, &operands, ty);
        if op == AtomicOp::Store { Ok(()) } else { self.deliver(insn, value) }
    }
}
