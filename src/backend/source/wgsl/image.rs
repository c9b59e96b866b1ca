//! Textures and samplers (WGSL 17.7).

use super::Wgsl;
use crate::backend::source::constants::component;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::image::{ImageCall, is_depth};
use crate::ir::{ImageDim, ImageOp, ImageParts, ImageType, Scalar, TypeId, Types, Value};

/// Components of a coordinate without the layer.
const fn axes(image: ImageType) -> u8 {
    match image.dim {
        ImageDim::D1 => 1,
        ImageDim::D3 | ImageDim::Cube => 3,
        _ => 2,
    }
}

impl Wgsl {
    pub fn image(&self, b: &mut Body, op: ImageOp, call: &ImageCall, ty: TypeId) -> Option<Expr> {
        if let Some(construct) = self.lack(b, op, call) {
            return Some(b.t.lacking(construct));
        }
        let [texture, sampler] = b.texture_and_sampler(call);
        Some(match op {
            ImageOp::Sample | ImageOp::SampleProjected => self.sampled(b, op, call, [texture, sampler], ty),
            ImageOp::Gather => self.gathered(b, call, [texture, sampler]),
            ImageOp::Fetch | ImageOp::Read => self.texel(b, call, &texture, ty),
            ImageOp::Write => {
                self.write_texel(b, call, &texture);
                return None;
            }
            ImageOp::Atomic(..) => b.t.lacking("atomic operations on textures"),
            ImageOp::Size => self.size(b, call, &texture, ty),
            ImageOp::Levels | ImageOp::Samples => {
                let name = if op == ImageOp::Levels { "textureNumLevels" } else { "textureNumSamples" };
                b.t.converted(&Expr::call(name, &[texture]), Types::U32, ty)
            }
            _ => b.t.stand_in("such operations on images"),
        })
    }

    /// A part of an operation that the language's function does not support.
    fn lack(&self, b: &Body, op: ImageOp, call: &ImageCall) -> Option<&'static str> {
        use ImageParts as P;
        let known = match op {
            ImageOp::Sample | ImageOp::SampleProjected => {
                P::SAMPLER | P::REFERENCE | P::BIAS | P::LOD | P::GRADIENTS | P::OFFSET
            }
            ImageOp::Gather => P::SAMPLER | P::REFERENCE | P::COMPONENT | P::OFFSET,
            ImageOp::Fetch | ImageOp::Read => P::LOD | P::SAMPLE | P::OFFSET,
            ImageOp::Write => P::DATA,
            ImageOp::Size | ImageOp::Levels | ImageOp::Samples => P::LOD,
            _ => return None,
        };
        let is_constant = |part| call.at(part).is_none_or(|at| matches!(call.values[at], Value::Const(_)));
        let filters = matches!(op, ImageOp::Sample | ImageOp::SampleProjected);
        let samples = filters || op == ImageOp::Gather;
        if !(call.parts - known - P::COORDINATE).is_empty() {
            Some("such operations on images")
        } else if call.image.storage && call.image.multisampled {
            Some("storage textures of several samples")
        } else if samples && !is_constant(P::OFFSET) {
            Some("offsets of samples that are not constants")
        } else if filters && !call.image.sampled.is_float() {
            Some("samples of textures of integers")
        } else if filters && call.parts.contains(P::REFERENCE) && !self.compares_plainly(b, call) {
            Some("comparisons at a level that is not the one of derivatives or 0")
        } else {
            None
        }
    }

    /// Returns true if a comparison uses the level from derivatives, or level 0.
    fn compares_plainly(&self, b: &Body, call: &ImageCall) -> bool {
        let is_zero = |at: usize| match call.values[at] {
            Value::Const(id) => b.t.module.constants.bits(id) == Some(0),
            _ => false,
        };
        !call.parts.intersects(ImageParts::BIAS | ImageParts::GRADIENTS) && call.at(ImageParts::LOD).is_none_or(is_zero)
    }

    /// The coordinates in the module's form, with a name if they have several parts.
    fn coordinates(&self, b: &mut Body, call: &ImageCall) -> (Expr, Scalar, u8) {
        let Some(at) = call.at(ImageParts::COORDINATE) else { return (b.t.broken("no coordinate"), Scalar::F32, 1) };
        let ty = b.type_of(call.values[at]);
        let Some((scalar, size)) = b.t.shape(ty) else { return (b.t.broken("no coordinate"), Scalar::F32, 1) };
        let whole = call.texts[at].clone();
        let whole = if size > axes(call.image) { b.plain(whole, ty) } else { whole };
        (whole, scalar, size)
    }

    /// Coordinates, and the layer of an array as an integer.
    fn place(&self, b: &mut Body, call: &ImageCall, is_projected: bool) -> Vec<Expr> {
        if call.image.arrayed
            && !is_projected
            && let Some((place, layer)) = b.coordinate_parts(call, axes(call.image))
        {
            return vec![place, self.layer(b, layer)];
        }
        let (whole, scalar, size) = self.coordinates(b, call);
        let axes = axes(call.image);
        let place = self.leading(&whole, size, axes.min(size));
        if is_projected {
            let divisor = whole.part(&component(u32::from(size) - 1));
            return vec![Expr::binary("/", Level::Product, &place, &divisor)];
        }
        let mut made = vec![place];
        if call.image.arrayed && size > axes {
            let layer = whole.part(&component(axes.into()));
            made.push(match scalar.is_float() {
                true => Expr::call("i32", &[Expr::call("round", &[layer])]),
                false => layer,
            });
        }
        made
    }

    /// The layer of an array: converted integers stay integers.
    fn layer(&self, b: &mut Body, layer: Value) -> Expr {
        let whole = b.converted_from(layer);
        if let Some(number) = b.t.whole_number(layer) {
            return Expr::primary(number.to_string());
        }
        let value = b.value(whole.unwrap_or(layer));
        match b.shape_of(whole.unwrap_or(layer)) {
            Some((scalar, _)) if scalar.is_float() => Expr::call("i32", &[Expr::call("round", &[value])]),
            _ => value,
        }
    }

    /// The depth reference.
    fn reference(&self, b: &mut Body, call: &ImageCall, is_projected: bool) -> Option<Expr> {
        let value = call.text(ImageParts::REFERENCE)?;
        if !is_projected {
            return Some(value);
        }
        let (whole, _, size) = self.coordinates(b, call);
        let divisor = whole.part(&component(u32::from(size) - 1));
        Some(Expr::binary("/", Level::Product, &value, &divisor))
    }

    fn sampled(&self, b: &mut Body, op: ImageOp, call: &ImageCall, [texture, sampler]: [Expr; 2], ty: TypeId) -> Expr {
        let is_projected = op == ImageOp::SampleProjected;
        let mut args = vec![texture, sampler];
        args.extend(self.place(b, call, is_projected));
        let reference = self.reference(b, call, is_projected);
        let compares = reference.is_some();
        args.extend(reference);
        let is_of_depths = is_depth(call.image, b.image_use(call.values[0]));
        let name = match (call.text(ImageParts::BIAS), call.text(ImageParts::LOD), call.at(ImageParts::GRADIENTS)) {
            (Some(bias), ..) => {
                args.push(bias);
                "textureSampleBias"
            }
            (_, Some(_), _) if compares => "textureSampleCompareLevel",
            (_, Some(lod), _) => {
                // Levels of depth textures are integers.
                let at = call.at(ImageParts::LOD).unwrap_or(0);
                let of = b.type_of(call.values[at]);
                let lod = if is_of_depths { b.t.converted(&lod, of, Types::I32) } else { lod };
                args.push(lod);
                "textureSampleLevel"
            }
            (_, _, Some(at)) => {
                args.extend_from_slice(&call.texts[at..at + 2]);
                "textureSampleGrad"
            }
            _ if compares => "textureSampleCompare",
            _ => "textureSample",
        };
        args.extend(call.text(ImageParts::OFFSET));
        let made = Expr::call(name, &args);
        self.as_texel(b, made, is_of_depths || compares, ty)
    }

    /// Texels of depth textures are numbers, while the module has vectors.
    fn as_texel(&self, b: &mut Body, texel: Expr, is_number: bool, ty: TypeId) -> Expr {
        match b.t.shape(ty) {
            Some((scalar, 4)) if is_number => {
                let [zero, one] = [0, scalar.one_bits()].map(|bits| b.t.literal(scalar, bits));
                Expr::call(&b.t.type_name(ty), &[texel, zero.clone(), zero, one])
            }
            _ => texel,
        }
    }

    fn gathered(&self, b: &mut Body, call: &ImageCall, [texture, sampler]: [Expr; 2]) -> Expr {
        let component = match call.at(ImageParts::COMPONENT).map(|at| b.t.module.known_u32(call.values[at])) {
            None => 0,
            Some(Some(component)) => component,
            Some(None) => return b.t.lacking("gathers of a component that is not a constant"),
        };
        let compares = call.parts.contains(ImageParts::REFERENCE);
        let mut args = Vec::new();
        if !is_depth(call.image, b.image_use(call.values[0])) {
            args.push(Expr::primary(component.to_string()));
        }
        args.extend([texture, sampler]);
        args.extend(self.place(b, call, false));
        args.extend(self.reference(b, call, false));
        args.extend(call.text(ImageParts::OFFSET));
        Expr::call(if compares { "textureGatherCompare" } else { "textureGather" }, &args)
    }

    fn texel(&self, b: &mut Body, call: &ImageCall, texture: &Expr, ty: TypeId) -> Expr {
        let mut place = self.place(b, call, false);
        if let Some(offset) = call.text(ImageParts::OFFSET) {
            place[0] = Expr::binary("+", Level::Sum, &place[0], &offset);
        }
        let mut args = vec![texture.clone()];
        args.append(&mut place);
        if !call.image.storage {
            let level = if call.image.multisampled { ImageParts::SAMPLE } else { ImageParts::LOD };
            args.push(call.text(level).unwrap_or_else(|| Expr::primary("0")));
        }
        let is_of_depths = is_depth(call.image, b.image_use(call.values[0]));
        let made = Expr::call("textureLoad", &args).reading_memory(call.image.storage);
        self.as_texel(b, made, is_of_depths, ty)
    }

    fn write_texel(&self, b: &mut Body, call: &ImageCall, texture: &Expr) {
        let Some(data) = call.text(ImageParts::DATA) else { return b.t.internal("a write without data") };
        let mut args = vec![texture.clone()];
        args.extend(self.place(b, call, false));
        args.push(data);
        b.line(Expr::call("textureStore", &args).text);
    }

    /// Sizes are unsigned in the language, and the number of layers is separate.
    fn size(&self, b: &mut Body, call: &ImageCall, texture: &Expr, ty: TypeId) -> Expr {
        let mut args = vec![texture.clone()];
        args.extend(call.text(ImageParts::LOD));
        let size = Expr::call("textureDimensions", &args);
        let Some((_, count)) = b.t.shape(ty) else { return b.t.broken("sizes of no numbers") };
        let words = b.t.types.vector(Scalar::U32, count);
        let size = match call.image.arrayed {
            true => {
                let layers = Expr::call("textureNumLayers", std::slice::from_ref(texture));
                Expr::call(&b.t.type_name(words), &[size, layers])
            }
            false => size,
        };
        b.t.converted(&size, words, ty)
    }
}
