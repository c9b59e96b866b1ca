//! Textures and samplers (WGSL 17.7): sampling, loading, storing, asking for sizes.
//!
//! A texture is represented by its path until an operation uses it, so that it can be passed to functions. The layer of
//! an array is the last coordinate. Texels are never written out of bounds (Vulkan 17.5); reads are checked if
//! requested.

use super::Outcome;
use super::function::Body;
use super::types::image_type;
use crate::ir::{
    AtomicOp, BinaryOp, ImageDim, ImageOp, ImageParts, ImageType, MathFn, Order, Scalar, Scope, Type, TypeId, Types,
    Value,
};
use naga::{AtomicFunction, DerivativeAxis, DerivativeControl, Expression, Handle, ImageQuery, SampleLevel, TypeInner};
use smallvec::{SmallVec, smallvec};

type Id = Handle<Expression>;

/// The parts of an image operation with their operands, in order.
type Parts = SmallVec<[(ImageParts, Value); 6]>;

/// The texture, the sampler and the operands of a sample.
pub(super) struct Sampling {
    pub image: Id,
    pub sampler: Id,
    pub gather: Option<naga::SwizzleComponent>,
    pub coordinate: Id,
    pub layer: Option<Id>,
    pub offset: Option<Id>,
    pub level: SampleLevel,
    pub reference: Option<Id>,
    pub clamp_to_edge: bool,
}

/// The texel that an access reads or writes.
pub(super) struct Texel {
    pub coordinate: Id,
    pub layer: Option<Id>,
    pub sample: Option<Id>,
    pub level: Option<Id>,
}

/// The values of a [`Texel`], with the layer as the last coordinate.
#[derive(Clone, Copy)]
pub(super) struct Located {
    pub coordinate: Value,
    pub level: Option<Value>,
    pub sample: Option<Value>,
}

impl Texel {
    pub(super) const fn at(coordinate: Id, layer: Option<Id>) -> Texel {
        Texel { coordinate, layer, sample: None, level: None }
    }
}

const fn derivative_of(axis: DerivativeAxis, control: DerivativeControl) -> MathFn {
    use DerivativeAxis as A;
    use DerivativeControl as C;
    match (axis, control) {
        (A::X, C::None) => MathFn::DerivX,
        (A::X, C::Fine) => MathFn::DerivXFine,
        (A::X, C::Coarse) => MathFn::DerivXCoarse,
        (A::Y, C::None) => MathFn::DerivY,
        (A::Y, C::Fine) => MathFn::DerivYFine,
        (A::Y, C::Coarse) => MathFn::DerivYCoarse,
        (A::Width, C::None) => MathFn::DerivWidth,
        (A::Width, C::Fine) => MathFn::DerivWidthFine,
        (A::Width, C::Coarse) => MathFn::DerivWidthCoarse,
    }
}

impl Body<'_, '_, '_> {
    pub(super) fn derivative(&mut self, axis: DerivativeAxis, control: DerivativeControl, of: Id) -> Outcome<Value> {
        let value = self.value(of)?;
        Ok(self.b.math(derivative_of(axis, control), &[value]))
    }

    /// The type of the texture to which an expression refers.
    fn image_of(&mut self, of: Id) -> Outcome<ImageType> {
        let naga = self.shader.naga;
        let inner = match self.origin {
            Some(origin) => origin.info[of].ty.inner_with(&naga.types),
            None => return Err(self.unexpected("a texture", self.expression_span(of))),
        };
        match *inner {
            TypeInner::Image { dim, arrayed, class } => {
                let at = self.expression_span(of);
                image_type(dim, arrayed, class).ok_or_else(|| self.shader.unsupported("this kind of texture", at))
            }
            _ => Err(self.unexpected("no texture", self.expression_span(of))),
        }
    }

    /// A texture or sampler as a value.
    fn handle(&mut self, of: Id) -> Outcome<Value> {
        let path = self.path(of)?;
        let pointer = self.pointer(&path);
        Ok(self.b.load(pointer))
    }

    /// Coordinates followed by the layer, which is converted to their kind of number.
    fn coordinates(&mut self, coordinate: Value, layer: Option<Id>) -> Outcome<Value> {
        let Some(layer) = layer else { return Ok(coordinate) };
        let (_, scalar, size) = self.shape(coordinate);
        let part = self.b.module.types.scalar(scalar);
        let layer = self.value(layer)?;
        let layer = match scalar.is_float() {
            true => self.b.convert(layer, part),
            false => self.b.bitcast(layer, part),
        };
        let ty = self.b.module.types.vector(scalar, size + 1);
        Ok(self.b.construct(ty, &[coordinate, layer]))
    }

    /// Emits the operation with its parts in the order that `ir` needs.
    fn image_op(&mut self, op: ImageOp, image: Value, mut parts: Parts, ty: TypeId) -> Value {
        parts.sort_by_key(|(part, _)| part.bits());
        let mask = parts.iter().fold(ImageParts::empty(), |all, (part, _)| all | *part);
        let operands: SmallVec<[Value; 8]> = std::iter::once(image).chain(parts.iter().map(|(_, v)| *v)).collect();
        self.b.image(op, mask, &operands, ty)
    }

    /// The four components of a texel; depth textures have one.
    fn texel(&mut self, op: ImageOp, image: Value, kind: ImageType, parts: Parts) -> Value {
        let ty = self.b.module.types.vector(kind.sampled, 4);
        let texel = self.image_op(op, image, parts, ty);
        if kind.depth && op != ImageOp::Gather { self.b.extract(texel, 0) } else { texel }
    }

    pub(super) fn sample(&mut self, of: &Sampling) -> Outcome<Value> {
        let kind = self.image_of(of.image)?;
        let (image, sampler) = (self.handle(of.image)?, self.handle(of.sampler)?);
        let mut coordinate = self.value(of.coordinate)?;
        if of.clamp_to_edge {
            coordinate = self.clamped_to_edge(image, coordinate);
        }
        let coordinate = self.coordinates(coordinate, of.layer)?;
        let mut parts: Parts = smallvec![(ImageParts::COORDINATE, coordinate)];
        if of.gather.is_none() {
            self.level(of.level, &mut parts)?;
        }
        if let Some(offset) = of.offset {
            parts.push((ImageParts::OFFSET, self.value(offset)?));
        }
        let sampled = self.b.module.types.intern(Type::SampledImage(kind));
        let image = self.image_op(ImageOp::Combine, image, smallvec![(ImageParts::SAMPLER, sampler)], sampled);
        if let Some(reference) = of.reference {
            parts.push((ImageParts::REFERENCE, self.value(reference)?));
        } else if let Some(component) = of.gather {
            parts.push((ImageParts::COMPONENT, self.b.const_i32(component as i32)));
        }
        match (of.gather, of.reference) {
            (Some(_), _) => Ok(self.texel(ImageOp::Gather, image, kind, parts)),
            (None, Some(_)) => {
                let ty = self.b.module.types.scalar(kind.sampled);
                Ok(self.image_op(ImageOp::Sample, image, parts, ty))
            }
            (None, None) => Ok(self.texel(ImageOp::Sample, image, kind, parts)),
        }
    }

    fn level(&mut self, level: SampleLevel, parts: &mut Parts) -> Outcome<()> {
        match level {
            SampleLevel::Auto => {}
            SampleLevel::Zero => parts.push((ImageParts::LOD, self.b.const_f32(0.0))),
            SampleLevel::Exact(level) => {
                let level = self.value(level)?;
                parts.push((ImageParts::LOD, self.b.convert(level, Types::F32)));
            }
            SampleLevel::Bias(bias) => parts.push((ImageParts::BIAS, self.value(bias)?)),
            SampleLevel::Gradient { x, y } => {
                let (x, y) = (self.value(x)?, self.value(y)?);
                parts.extend([(ImageParts::GRADIENTS, x), (ImageParts::GRADIENTS, y)]);
            }
        }
        Ok(())
    }

    /// `textureSampleBaseClampToEdge` (WGSL 17.7.11): at least half a texel from the edges.
    fn clamped_to_edge(&mut self, image: Value, coordinate: Value) -> Value {
        let zero = self.b.const_i32(0);
        let whole = self.b.module.types.vector(Scalar::I32, 2);
        let size = self.image_op(ImageOp::Size, image, smallvec![(ImageParts::LOD, zero)], whole);
        let ty = self.b.type_of(coordinate);
        let size = self.b.convert(size, ty);
        let (half, one) = (self.number(Scalar::F32, u64::from(0.5f32.to_bits()), 2), self.b.const_f32(1.0));
        let low = self.b.binary(BinaryOp::Div, half, size);
        let one = self.b.splat(one, 2);
        let high = self.b.binary(BinaryOp::Sub, one, low);
        self.b.math(MathFn::Clamp, &[coordinate, low, high])
    }

    pub(super) fn load_texel(&mut self, of: Id, at: &Texel) -> Outcome<Value> {
        let kind = self.image_of(of)?;
        let image = self.handle(of)?;
        let coordinate = self.value(at.coordinate)?;
        let coordinate = self.coordinates(coordinate, at.layer)?;
        let level = match at.level {
            Some(level) => Some(self.value(level)?),
            // External textures have one level.
            None => (!kind.storage && !kind.multisampled).then(|| self.b.const_i32(0)),
        };
        let sample = at.sample.map(|sample| self.value(sample)).transpose()?;
        let (at, condition) = self.texel_in_range(image, kind, Located { coordinate, level, sample });
        let mut parts: Parts = smallvec![(ImageParts::COORDINATE, at.coordinate)];
        parts.extend(at.level.map(|level| (ImageParts::LOD, level)));
        parts.extend(at.sample.map(|sample| (ImageParts::SAMPLE, sample)));
        let op = if kind.storage { ImageOp::Read } else { ImageOp::Fetch };
        Ok(self.value_if(condition, |body| body.texel(op, image, kind, parts)))
    }

    pub(super) fn store_texel(&mut self, of: Id, at: &Texel, value: Id) -> Outcome<()> {
        let image = self.handle(of)?;
        let coordinate = self.value(at.coordinate)?;
        let coordinate = self.coordinates(coordinate, at.layer)?;
        let data = self.value(value)?;
        let parts = smallvec![(ImageParts::COORDINATE, coordinate), (ImageParts::DATA, data)];
        self.image_op(ImageOp::Write, image, parts, Types::VOID);
        Ok(())
    }

    /// Relaxed, and for the whole device (WGSL 17.8).
    pub(super) fn texel_atomic(&mut self, of: Id, at: &Texel, function: AtomicFunction, value: Id) -> Outcome<()> {
        let kind = self.image_of(of)?;
        let path = self.path(of)?;
        let pointer = self.pointer(&path);
        let coordinate = self.value(at.coordinate)?;
        let coordinate = self.coordinates(coordinate, at.layer)?;
        let data = self.value(value)?;
        let op = super::memory::atomic_op(function).unwrap_or(AtomicOp::Exchange);
        let op = ImageOp::Atomic(op, Scope::Device, Order::Relaxed);
        let parts = smallvec![(ImageParts::COORDINATE, coordinate), (ImageParts::DATA, data)];
        let ty = self.b.module.types.scalar(kind.sampled);
        self.image_op(op, pointer, parts, ty);
        Ok(())
    }

    pub(super) fn query(&mut self, of: Id, query: ImageQuery) -> Outcome<Value> {
        let kind = self.image_of(of)?;
        let image = self.handle(of)?;
        match query {
            ImageQuery::NumLevels => Ok(self.count(ImageOp::Levels, image)),
            ImageQuery::NumSamples => Ok(self.count(ImageOp::Samples, image)),
            ImageQuery::Size { level } => {
                let level = level.map(|level| self.value(level)).transpose()?;
                let size = self.sizes(image, kind, level);
                Ok(match (kind.arrayed, dimensions(kind)) {
                    (false, _) => size,
                    (true, 1) => self.b.extract(size, 0),
                    (true, count) => self.b.swizzle(size, &[0, 1, 2][..usize::from(count)]),
                })
            }
            ImageQuery::NumLayers => {
                let size = self.sizes(image, kind, None);
                Ok(self.b.extract(size, u32::from(dimensions(kind))))
            }
        }
    }

    pub(super) fn count(&mut self, op: ImageOp, image: Value) -> Value {
        let count = self.image_op(op, image, Parts::new(), Types::I32);
        self.b.bitcast(count, Types::U32)
    }

    /// The size in each dimension, and the number of layers after them.
    pub(super) fn sizes(&mut self, image: Value, kind: ImageType, level: Option<Value>) -> Value {
        let ty = self.b.module.types.vector(Scalar::U32, dimensions(kind) + u8::from(kind.arrayed));
        let mut parts = Parts::new();
        if !kind.storage && !kind.multisampled {
            parts.push((ImageParts::LOD, level.unwrap_or_else(|| self.b.const_i32(0))));
        }
        self.image_op(ImageOp::Size, image, parts, ty)
    }
}

/// Sizes that a texture has, without its layers: faces of cubes are squares.
const fn dimensions(kind: ImageType) -> u8 {
    match kind.dim {
        ImageDim::D1 | ImageDim::Buffer => 1,
        ImageDim::D3 => 3,
        _ => 2,
    }
}
