//! Textures, samplers and writable textures (Microsoft's reference, "Texture2D Methods" and its like).

use super::Hlsl;
use crate::backend::source::constants::component;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::image::ImageCall;
use crate::ir::format::components;
use crate::ir::{AtomicOp, ImageDim, ImageOp, ImageParts, ImageType, Scalar, TypeId, Types, Value};

/// Components of a coordinate without the layer.
const fn axes(image: ImageType) -> u8 {
    match image.dim {
        ImageDim::D1 | ImageDim::Buffer => 1,
        ImageDim::D3 | ImageDim::Cube => 3,
        _ => 2,
    }
}

impl Hlsl {
    pub fn image(&self, b: &mut Body, op: ImageOp, call: &ImageCall, ty: TypeId) -> Option<Expr> {
        let [texture, sampler] = b.texture_and_sampler(call);
        Some(match op {
            ImageOp::Sample | ImageOp::SampleProjected => self.sampled(b, op, call, [texture, sampler], ty),
            ImageOp::Gather => self.gathered(b, call, [texture, sampler]),
            ImageOp::Fetch => self.fetched(b, call, &texture, ty),
            ImageOp::Read => self.read_texel(b, call, &texture, ty),
            ImageOp::Write => {
                self.write_texel(b, call, &texture);
                return None;
            }
            ImageOp::Atomic(op, ..) => return self.image_atomic(b, op, call, &texture),
            ImageOp::Size => self.size(b, call, &texture, ty),
            ImageOp::Levels | ImageOp::Samples => self.count(b, op, call, &texture, ty),
            ImageOp::QueryLod => {
                let at = self.coordinate(b, call).0;
                let [clamped, whole] = ["CalculateLevelOfDetail", "CalculateLevelOfDetailUnclamped"]
                    .map(|name| Expr::call(&format!("{}.{name}", texture.text), &[sampler.clone(), at.clone()]));
                let name = b.t.type_name(ty);
                Expr::call(&name, &[clamped, whole])
            }
            _ => return Some(b.t.stand_in("such operations on images")),
        })
    }

    /// The coordinate for sampling, including the layer, and its type; a projection is divided.
    fn coordinate(&self, b: &mut Body, call: &ImageCall) -> (Expr, u8) {
        let Some(at) = call.at(ImageParts::COORDINATE) else { return (b.t.broken("no coordinate"), 1) };
        let size = b.shape_of(call.values[at]).map_or(1, |(_, size)| size);
        (call.texts[at].clone(), size)
    }

    fn projected(&self, b: &mut Body, call: &ImageCall) -> Expr {
        let (whole, size) = self.coordinate(b, call);
        let ty = b.t.types.vector(Scalar::F32, size);
        let whole = b.plain(whole, ty);
        let axes = axes(call.image);
        let letters: String = (0..u32::from(axes)).map(|n| component(n)[1..].to_string()).collect();
        let divisor = whole.part(&component(u32::from(size) - 1));
        Expr::binary("/", Level::Product, &whole.part(&format!(".{letters}")), &divisor)
    }

    fn sampled(&self, b: &mut Body, op: ImageOp, call: &ImageCall, [texture, sampler]: [Expr; 2], ty: TypeId) -> Expr {
        use ImageParts as P;
        if !call.image.sampled.is_float() {
            return b.t.lacking("samples of textures of integers");
        }
        let is_compared = call.parts.contains(P::REFERENCE);
        let at = if op == ImageOp::SampleProjected { self.projected(b, call) } else { self.coordinate(b, call).0 };
        let mut args = vec![sampler, at];
        let mut reference = call.text(P::REFERENCE);
        if let (Some(value), ImageOp::SampleProjected) = (&reference, op) {
            let (whole, size) = self.coordinate(b, call);
            let ty = b.t.types.vector(Scalar::F32, size);
            let whole = b.plain(whole, ty);
            let divisor = whole.part(&component(u32::from(size) - 1));
            reference = Some(Expr::binary("/", Level::Product, value, &divisor));
        }
        args.extend(reference);
        let lod = call.text(P::LOD);
        let is_zero = |value: Value| match value {
            Value::Const(id) => b.t.module.constants.is_zero(id),
            _ => false,
        };
        // Zero gradients also select the largest level.
        let is_at_zero = match (call.at(P::LOD), call.at(P::GRADIENTS)) {
            (Some(at), _) => is_zero(call.values[at]),
            (_, Some(at)) => call.values[at..at + 2].iter().all(|value| is_zero(*value)),
            _ => false,
        };
        let name = match (is_compared, call.parts) {
            (true, _) if is_at_zero => "SampleCmpLevelZero",
            (true, parts) if parts.contains(P::LOD) && b.t.options.profile.version >= (6, 7) => "SampleCmpLevel",
            (true, parts) if parts.contains(P::GRADIENTS) && b.t.options.profile.version >= (6, 8) => "SampleCmpGrad",
            (true, parts) if parts.contains(P::BIAS) && b.t.options.profile.version >= (6, 8) => "SampleCmpBias",
            (true, parts) if parts.intersects(P::LOD | P::GRADIENTS | P::BIAS) => {
                return b.t.lacking("comparisons at such levels of detail in this Shader Model");
            }
            (true, _) => "SampleCmp",
            (_, parts) if parts.contains(P::LOD) => "SampleLevel",
            (_, parts) if parts.contains(P::GRADIENTS) => "SampleGrad",
            (_, parts) if parts.contains(P::BIAS) => "SampleBias",
            _ => "Sample",
        };
        if name != "SampleCmpLevelZero" {
            args.extend(lod);
            if let Some(at) = call.at(P::GRADIENTS) {
                args.extend(call.texts[at..at + 2].iter().cloned());
            }
        }
        args.extend(call.text(P::BIAS));
        args.extend(self.texel_offset(b, call));
        if call.parts.contains(P::MIN_LOD) {
            if !call.parts.contains(P::OFFSET) {
                let none = b.t.types.vector(Scalar::I32, axes(call.image));
                args.push(b.t.zero(none));
            }
            args.extend(call.text(P::MIN_LOD));
        }
        let made = Expr::call(&format!("{}.{name}", texture.text), &args);
        self.as_result(b, made, call, ty)
    }

    fn texel_offset(&self, b: &mut Body, call: &ImageCall) -> Option<Expr> {
        let at = call.at(ImageParts::OFFSET)?;
        if !matches!(call.values[at], Value::Const(_)) {
            b.t.unsupported("offsets of samples that are not constants");
        }
        Some(call.texts[at].clone())
    }

    /// The texel as the module has it, which may be of fewer components.
    fn as_result(&self, b: &mut Body, made: Expr, call: &ImageCall, ty: TypeId) -> Expr {
        let size = b.t.types.components(ty).unwrap_or(4);
        match (call.parts.contains(ImageParts::REFERENCE), size) {
            (true, 4) => {
                let scalar = b.t.types.vector(Scalar::F32, 1);
                let one = b.plain(made, scalar);
                let name = b.t.type_name(ty);
                Expr::call(&name, &[one, Expr::primary("0.0"), Expr::primary("0.0"), Expr::primary("1.0")])
            }
            _ => made,
        }
    }

    fn gathered(&self, b: &mut Body, call: &ImageCall, [texture, sampler]: [Expr; 2]) -> Expr {
        use ImageParts as P;
        let mut args = vec![sampler, self.coordinate(b, call).0];
        let name = match (call.text(P::REFERENCE), call.at(P::COMPONENT)) {
            (Some(reference), _) => {
                args.push(reference);
                if call.parts.contains(P::OFFSETS) { "GatherCmpRed" } else { "GatherCmp" }
            }
            (None, Some(at)) => match b.t.module.known_u32(call.values[at]) {
                Some(0) => "GatherRed",
                Some(1) => "GatherGreen",
                Some(2) => "GatherBlue",
                Some(_) => "GatherAlpha",
                None => return b.t.lacking("gathers of a component that is not a constant"),
            },
            (None, None) => "GatherRed",
        };
        if let Some(at) = call.at(P::OFFSETS) {
            let offsets = call.texts[at].clone();
            args.extend((0..4).map(|n| offsets.part(&format!("[{n}]"))));
        }
        args.extend(call.text(P::OFFSET));
        Expr::call(&format!("{}.{name}", texture.text), &args)
    }

    fn fetched(&self, b: &mut Body, call: &ImageCall, texture: &Expr, ty: TypeId) -> Expr {
        use ImageParts as P;
        let (at, size) = self.coordinate(b, call);
        let name = format!("{}.Load", texture.text);
        let mut args = match (call.image.dim, call.image.multisampled) {
            (ImageDim::Buffer, _) => vec![at],
            (_, true) => vec![at, call.text(P::SAMPLE).unwrap_or_else(|| Expr::primary("0"))],
            _ => {
                let lod = call.text(P::LOD).unwrap_or_else(|| Expr::primary("0"));
                let name = b.t.vector_name(Scalar::I32, size + 1);
                vec![Expr::call(&name, &[at, lod])]
            }
        };
        args.extend(self.texel_offset(b, call));
        let made = Expr::call(&name, &args);
        self.as_result(b, made, call, ty)
    }

    /// Components of a texel in the language.
    fn texel_size(call: &ImageCall) -> u8 {
        components(call.image.format) as u8
    }

    fn place(&self, b: &mut Body, call: &ImageCall, texture: &Expr) -> Expr {
        let (at, _) = self.coordinate(b, call);
        let sample = call.text(ImageParts::SAMPLE);
        match sample.filter(|_| call.image.multisampled) {
            Some(sample) => texture.part(&format!(".sample[{}][{}]", sample.text, at.text)),
            None => texture.part(&format!("[{}]", at.text)),
        }
        .reading(&at.reads)
    }

    /// A texel of four components, as the module has it.
    fn read_texel(&self, b: &mut Body, call: &ImageCall, texture: &Expr, ty: TypeId) -> Expr {
        let texel = self.place(b, call, texture).reading_memory(true);
        let (size, wanted) = (Self::texel_size(call), b.t.types.components(ty).unwrap_or(4));
        if size == wanted || size == 3 {
            return texel;
        }
        let scalar = call.image.sampled;
        let [zero, one] = [0, scalar.one_bits()].map(|bits| b.t.literal(scalar, bits));
        let given = b.t.types.vector(scalar, size);
        let texel = b.name("texel", given, &texel);
        let mut parts = vec![texel];
        parts.extend((size..3).map(|_| zero.clone()));
        parts.push(one);
        let name = b.t.type_name(ty);
        Expr::call(&name, &parts)
    }

    fn write_texel(&self, b: &mut Body, call: &ImageCall, texture: &Expr) {
        let place = self.place(b, call, texture);
        let Some(at) = call.at(ImageParts::DATA) else { return b.t.internal("a write of nothing") };
        let (size, given) = (Self::texel_size(call), b.shape_of(call.values[at]).map_or(4, |(_, size)| size));
        let data = &call.texts[at];
        let value = match size {
            _ if given <= size => data.clone(),
            1 => data.part(".x"),
            2 => data.part(".xy"),
            _ => data.clone(),
        };
        b.line(format!("{} = {}", place.text, value.text));
    }

    fn image_atomic(&self, b: &mut Body, op: AtomicOp, call: &ImageCall, texture: &Expr) -> Option<Expr> {
        let (scalar, size) = call.image.atomic_texel();
        if size > 1 {
            return Some(b.t.stand_in("atomic operations on such images"));
        }
        let place = self.place(b, call, texture);
        let args = [ImageParts::DATA, ImageParts::COMPARED].into_iter().filter_map(|part| call.text(part)).collect();
        let ty = b.t.types.scalar(scalar);
        self.interlocked(b, op, (scalar, ty), ("", &place), args)
    }

    /// Sizes, from a method that returns them in variables.
    fn size(&self, b: &mut Body, call: &ImageCall, texture: &Expr, ty: TypeId) -> Expr {
        let image = call.image;
        let has_levels = !image.storage && !image.multisampled && image.dim != ImageDim::Buffer;
        let count = if image.dim == ImageDim::Cube { 2 } else { axes(image) } + u8::from(image.arrayed);
        // A writable cube is an array of faces.
        let is_faces = image.storage && image.dim == ImageDim::Cube;
        let names = ["width", "height", "depth"];
        let mut places: Vec<Expr> = (0..count).map(|n| b.variable(names[usize::from(n)], Types::U32)).collect();
        let kept = places.clone();
        if is_faces && !image.arrayed {
            places.push(b.variable("faces", Types::U32));
        }
        let mut args = Vec::new();
        if has_levels {
            let lod = call.text(ImageParts::LOD).unwrap_or_else(|| Expr::primary("0"));
            args.push(Expr::call("uint", &[lod]));
        }
        args.extend(places);
        if has_levels {
            args.push(b.variable("levels", Types::U32));
        }
        if image.multisampled {
            args.push(b.variable("samples", Types::U32));
        }
        let list: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        b.line(format!("{}.GetDimensions({})", texture.text, list.join(", ")));
        let mut parts = kept;
        if let (true, Some(last)) = (is_faces && image.arrayed, parts.last_mut()) {
            *last = Expr::binary("/", Level::Product, last, &Expr::primary("6"));
        }
        let given = b.t.types.vector(Scalar::U32, count);
        let whole = match count {
            1 => parts[0].clone(),
            _ => Expr::call(&b.t.type_name(given), &parts),
        };
        b.t.converted(&whole, given, ty)
    }

    fn count(&self, b: &mut Body, op: ImageOp, call: &ImageCall, texture: &Expr, ty: TypeId) -> Expr {
        let image = call.image;
        let count = if image.dim == ImageDim::Cube { 2 } else { axes(image) } + u8::from(image.arrayed);
        let mut args: Vec<Expr> = (op == ImageOp::Levels).then(|| Expr::primary("0")).into_iter().collect();
        args.extend((0..count).map(|_| b.variable("size", Types::U32)));
        let name = if op == ImageOp::Levels { "levels" } else { "samples" };
        let made = b.variable(name, Types::U32);
        args.push(made.clone());
        let list: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        b.line(format!("{}.GetDimensions({})", texture.text, list.join(", ")));
        b.t.converted(&made, Types::U32, ty)
    }
}
