//! Images, textures and samplers (GLSL 4.60 sections 8.9, 8.12 and 8.15).

use super::expr::Expr;
use super::function::Body;
use crate::ir::{
    AtomicOp, ImageDim, ImageOp, ImageParts, ImageType, MemoryKinds, Order, Scalar, Scope, Type, TypeId, Value, Values,
};
use smallvec::SmallVec;

/// An operation with its operands.
struct ImageCall {
    image: ImageType,
    has_sampler: bool,
    parts: ImageParts,
    texts: SmallVec<[Expr; 8]>,
    values: SmallVec<[Value; 8]>,
}

impl ImageCall {
    /// Place of a part's first operand.
    fn at(&self, part: ImageParts) -> Option<usize> {
        let before = self.parts.intersection(ImageParts::from_bits_truncate(part.bits() - 1));
        let pair = usize::from(before.contains(ImageParts::GRADIENTS));
        self.parts.contains(part).then(|| 1 + before.bits().count_ones() as usize + pair)
    }

    fn text(&self, part: ImageParts) -> Option<Expr> {
        self.at(part).map(|at| self.texts[at].clone())
    }
}

impl Body<'_, '_> {
    pub fn image(&mut self, op: ImageOp, parts: ImageParts, list: Values, ty: TypeId) -> Option<Expr> {
        let values: SmallVec<[Value; 8]> = SmallVec::from_slice(self.f.values(list));
        if op == ImageOp::Combine {
            let texts = self.list(list);
            let name = self.t.type_name(ty);
            return Some(Expr::call(&name, &texts));
        }
        let of = self.pointee_of(values[0]).map_or_else(|| self.type_of(values[0]), |(_, pointee)| pointee);
        let (image, has_sampler) = match self.t.types.get(of) {
            Type::Image(image) => (image, false),
            Type::SampledImage(image) => (image, true),
            _ => return Some(self.t.broken("an image operation on no image")),
        };
        if matches!(self.t.types.get(ty), Type::Struct(_)) {
            return Some(self.t.stand_in("residency of texels"));
        }
        let texts = values.iter().map(|value| self.value(*value)).collect();
        let asked = ImageCall { image, has_sampler, parts, texts, values };
        if parts.contains(ImageParts::MIN_LOD) {
            return Some(self.t.stand_in("minimum levels of detail"));
        }
        let is_texture = !image.storage && image.dim != ImageDim::SubpassInput;
        if is_texture && !has_sampler {
            self.t.need("GL_EXT_samplerless_texture_functions");
        }
        Some(match op {
            ImageOp::Sample | ImageOp::SampleProjected => self.sampled(op, &asked),
            ImageOp::Gather => self.gathered(&asked),
            ImageOp::Fetch => self.fetched(&asked),
            ImageOp::Read if image.dim == ImageDim::SubpassInput => {
                let args: Vec<Expr> =
                    [Some(asked.texts[0].clone()), asked.text(ImageParts::SAMPLE)].into_iter().flatten().collect();
                Expr::call("subpassLoad", &args)
            }
            ImageOp::Read => {
                let args = self.texel(&asked, ImageParts::empty());
                Expr::call("imageLoad", &args).reading_memory(true)
            }
            ImageOp::Write => {
                let args = self.texel(&asked, ImageParts::DATA);
                let call = Expr::call("imageStore", &args);
                self.line(call.text);
                return None;
            }
            ImageOp::Atomic(op, scope, order) => return self.image_atomic(op, (scope, order), &asked),
            ImageOp::Size if image.storage => self.answer("imageSize", &asked, ty),
            ImageOp::Size => self.answer("textureSize", &asked, ty),
            ImageOp::Levels => self.answer("textureQueryLevels", &asked, ty),
            ImageOp::Samples if image.storage => self.answer("imageSamples", &asked, ty),
            ImageOp::Samples => self.answer("textureSamples", &asked, ty),
            ImageOp::QueryLod => {
                let coordinate = asked.text(ImageParts::COORDINATE).unwrap_or_else(|| Expr::primary("0"));
                Expr::call("textureQueryLod", &[asked.texts[0].clone(), coordinate])
            }
            _ => self.t.stand_in("such operations on images"),
        })
    }

    /// The coordinate with what texels are compared with, which the language takes in one vector if there is room.
    fn coordinate(&mut self, op: ImageOp, asked: &ImageCall) -> Vec<Expr> {
        let coordinate = asked.text(ImageParts::COORDINATE).unwrap_or_else(|| Expr::primary("0"));
        let Some(reference) = asked.text(ImageParts::REFERENCE) else { return vec![coordinate] };
        let at = asked.at(ImageParts::COORDINATE).unwrap_or(0);
        let size = self.shape_of(asked.values[at]).map_or(1, |(_, size)| size);
        let is_projected = op == ImageOp::SampleProjected;
        if op == ImageOp::Gather || (size == 4 && !is_projected) {
            return vec![coordinate, reference];
        }
        if is_projected {
            // The divisor is last; shadows of one dimension have an unused component (GLSL 4.60 section 8.9.2).
            let ty = self.type_of(asked.values[at]);
            let whole = if coordinate.is_plain() { coordinate } else { self.name("t", ty, &coordinate) };
            let parts = match size {
                2 => vec![whole.part(".x"), Expr::primary("0.0"), reference, whole.part(".y")],
                _ => vec![whole.part(".xy"), reference, whole.part(".z")],
            };
            return vec![Expr::call("vec4", &parts)];
        }
        // So do shadows of one dimension without a projection.
        let mut parts = vec![coordinate];
        let has_gap = size == 1;
        parts.extend(has_gap.then(|| Expr::primary("0.0")));
        parts.push(reference);
        vec![Expr::call(&format!("vec{}", size + 1 + u8::from(has_gap)), &parts)]
    }

    fn sampled(&mut self, op: ImageOp, asked: &ImageCall) -> Expr {
        use ImageParts as P;
        let mut name = "texture".to_string();
        name.push_str(if op == ImageOp::SampleProjected { "Proj" } else { "" });
        // Rectangles have one level, which the language does not name.
        let lod = asked.text(P::LOD).filter(|_| asked.image.dim != ImageDim::Rect);
        name.push_str(if lod.is_some() { "Lod" } else { "" });
        name.push_str(if asked.parts.contains(P::GRADIENTS) { "Grad" } else { "" });
        name.push_str(if asked.parts.contains(P::OFFSET) { "Offset" } else { "" });
        let mut args = vec![asked.texts[0].clone()];
        args.extend(self.coordinate(op, asked));
        args.extend(lod);
        if let Some(at) = asked.at(P::GRADIENTS) {
            args.extend(asked.texts[at..at + 2].iter().cloned());
        }
        if let Some(at) = asked.at(P::OFFSET) {
            if !matches!(asked.values[at], Value::Const(_)) {
                return self.t.stand_in("offsets of samples that are not constants");
            }
            args.push(asked.texts[at].clone());
        }
        args.extend(asked.text(P::BIAS));
        let is_layered = asked.image.arrayed && asked.image.dim != ImageDim::D1 || asked.image.dim == ImageDim::Cube;
        if asked.parts.contains(P::REFERENCE) && is_layered && asked.parts.intersects(P::LOD | P::BIAS) {
            self.t.need("GL_EXT_texture_shadow_lod");
        }
        Expr::call(&name, &args)
    }

    fn gathered(&mut self, asked: &ImageCall) -> Expr {
        use ImageParts as P;
        let suffix = match (asked.parts.contains(P::OFFSETS), asked.parts.contains(P::OFFSET)) {
            (true, _) => "Offsets",
            (_, true) => "Offset",
            _ => "",
        };
        let mut args = vec![asked.texts[0].clone()];
        args.extend(self.coordinate(ImageOp::Gather, asked));
        args.extend([P::OFFSETS, P::OFFSET].into_iter().find_map(|part| asked.text(part)));
        args.extend(asked.text(P::COMPONENT));
        Expr::call(&format!("textureGather{suffix}"), &args)
    }

    fn fetched(&mut self, asked: &ImageCall) -> Expr {
        use ImageParts as P;
        let name = if asked.parts.contains(P::OFFSET) { "texelFetchOffset" } else { "texelFetch" };
        let mut args = vec![asked.texts[0].clone()];
        args.extend(asked.text(P::COORDINATE));
        args.extend(asked.text(P::SAMPLE));
        let has_levels = !asked.image.multisampled && !matches!(asked.image.dim, ImageDim::Buffer | ImageDim::Rect);
        if has_levels {
            args.push(asked.text(P::LOD).unwrap_or_else(|| Expr::primary("0")));
        }
        args.extend(asked.text(P::OFFSET));
        Expr::call(name, &args)
    }

    /// Image, coordinate, sample and what follows.
    fn texel(&mut self, asked: &ImageCall, more: ImageParts) -> Vec<Expr> {
        let mut args = vec![asked.texts[0].clone()];
        args.extend(asked.text(ImageParts::COORDINATE));
        args.extend(asked.text(ImageParts::SAMPLE));
        args.extend(more.iter().filter_map(|part| asked.text(part)));
        args
    }

    fn image_atomic(&mut self, op: AtomicOp, how: (Scope, Order), asked: &ImageCall) -> Option<Expr> {
        let (scalar, size) = asked.image.atomic_texel();
        if size > 1 {
            return Some(self.t.stand_in("atomic operations on such images"));
        }
        match (scalar.is_float(), op) {
            (true, AtomicOp::Min | AtomicOp::Max) => self.t.need("GL_EXT_shader_atomic_float2"),
            (true, AtomicOp::Exchange) => {}
            (true, _) => self.t.need("GL_EXT_shader_atomic_float"),
            _ => {}
        }
        let mut args = self.texel(asked, ImageParts::COMPARED | ImageParts::DATA);
        let is_store = op == AtomicOp::Store;
        let op = self.plain_atomic(op, &mut args, scalar);
        let is_scoped = how.1 != Order::Relaxed || matches!(op, AtomicOp::Load | AtomicOp::Store);
        let name = match op {
            AtomicOp::Add | AtomicOp::Sub => "imageAtomicAdd",
            AtomicOp::Min => "imageAtomicMin",
            AtomicOp::Max => "imageAtomicMax",
            AtomicOp::And => "imageAtomicAnd",
            AtomicOp::Or => "imageAtomicOr",
            AtomicOp::Xor => "imageAtomicXor",
            AtomicOp::CompareExchange => "imageAtomicCompSwap",
            AtomicOp::Exchange => "imageAtomicExchange",
            AtomicOp::Load => "imageAtomicLoad",
            AtomicOp::Store => "imageAtomicStore",
        };
        if op == AtomicOp::Sub
            && let Some(last) = args.last_mut()
        {
            *last = Expr::unary("-", last);
        }
        if is_scoped {
            self.add_scope(&mut args, op, MemoryKinds::IMAGE, how);
        }
        let call = Expr::call(name, &args).reading_memory(true);
        if is_store {
            self.line(call.text);
            return None;
        }
        Some(call)
    }

    /// A query whose result is an `int` in GLSL.
    fn answer(&mut self, name: &str, asked: &ImageCall, ty: TypeId) -> Expr {
        let mut args = vec![asked.texts[0].clone()];
        let has_levels = !asked.image.storage
            && !asked.image.multisampled
            && !matches!(asked.image.dim, ImageDim::Buffer | ImageDim::Rect)
            && name == "textureSize";
        if has_levels {
            args.push(asked.text(ImageParts::LOD).unwrap_or_else(|| Expr::primary("0")));
        }
        if asked.has_sampler && name == "textureSamples" && self.t.dialect.is_es {
            return self.t.lacking("numbers of samples");
        }
        let call = Expr::call(name, &args);
        match self.t.shape(ty) {
            Some((scalar, size)) if scalar != Scalar::I32 => {
                let name = self.t.vector_name(scalar, size);
                Expr::call(&name, &[call])
            }
            _ => call,
        }
    }
}
