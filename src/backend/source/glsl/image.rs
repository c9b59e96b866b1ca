//! Images, textures and samplers (GLSL 4.60 sections 8.9, 8.12 and 8.15).

use super::dialect::is_common;
use super::{Dialect, versions};
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::image::ImageCall;
use crate::grammar::{self, Opaque, OpaqueClass, Overload, TypeExpr};
use crate::ir::{AtomicOp, ImageDim, ImageOp, ImageParts, MemoryKinds, Order, Scalar, Scope, TypeId, Types, Value};

/// A texel lookup function.
struct Lookup {
    name: String,
    args: Vec<Expr>,
    /// The arguments that follow a texel that the function returns.
    last: Vec<Expr>,
}

impl Dialect {
    pub fn image(&self, b: &mut Body, op: ImageOp, asked: &ImageCall, ty: TypeId) -> Option<Expr> {
        let image = asked.image;
        Some(match op {
            ImageOp::Sample | ImageOp::SampleProjected | ImageOp::Gather | ImageOp::Fetch => {
                let Lookup { name, args, last } = self.lookup(b, op, asked)?;
                self.call_of(b, &name, asked, &[args, last].concat())
            }
            ImageOp::Read if image.dim == ImageDim::SubpassInput => {
                let args: Vec<Expr> =
                    [Some(asked.texts[0].clone()), asked.text(ImageParts::SAMPLE)].into_iter().flatten().collect();
                Expr::call("subpassLoad", &args)
            }
            ImageOp::Read => {
                let args = self.texel(b, asked, ImageParts::empty());
                Expr::call("imageLoad", &args).reading_memory(true)
            }
            ImageOp::Write => {
                let args = self.texel(b, asked, ImageParts::DATA);
                let call = Expr::call("imageStore", &args);
                b.line(call.text);
                return None;
            }
            ImageOp::Atomic(op, scope, order) => return self.image_atomic(b, op, (scope, order), asked),
            ImageOp::Size if image.storage => self.answer(b, "imageSize", asked, ty),
            ImageOp::Size => self.answer(b, "textureSize", asked, ty),
            ImageOp::Levels => self.answer(b, "textureQueryLevels", asked, ty),
            ImageOp::Samples if image.storage => self.answer(b, "imageSamples", asked, ty),
            ImageOp::Samples => self.answer(b, "textureSamples", asked, ty),
            ImageOp::QueryLod => {
                let coordinate = asked.text(ImageParts::COORDINATE).unwrap_or_else(|| Expr::primary("0"));
                self.call_of(b, "textureQueryLod", asked, &[asked.texts[0].clone(), coordinate])
            }
            _ => b.t.stand_in("such operations on images"),
        })
    }

    /// A call of a texture or image function; a function that the dialect lacks is reported.
    fn call_of(&self, b: &mut Body, name: &str, asked: &ImageCall, args: &[Expr]) -> Expr {
        let own = Opaque::of(&b.t.types, b.type_of(asked.values[0])).map(|(own, _)| match (own.class, own.dim) {
            (OpaqueClass::Texture, ImageDim::Buffer) => Opaque { class: OpaqueClass::Sampled, ..own },
            _ => own,
        });
        let own = own.map(TypeExpr::Opaque);
        let takes = |row: &&Overload| {
            row.params.len() == args.len() && row.params.first().is_some_and(|param| Some(param.ty) == own)
        };
        let mut rows = grammar::functions(name).iter().filter(|row| is_common(row)).filter(takes).peekable();
        if let Some(row) = rows.peek().copied() {
            let brought = rows.filter_map(|row| self.brings([row.extensions, row.earlier], (row.core, row.es)));
            match brought.min_by_key(|brings| !brings.is_empty()) {
                Some(brings) => self.preferred(brings).into_iter().for_each(|extension| b.t.need(extension)),
                None => b.t.lacks(&format!("function `{}`{}", row.signature, self.before((row.core, row.es)))),
            }
        }
        Expr::call(name, args)
    }

    /// The coordinate with the depth reference, combined in one vector if there is room.
    fn coordinate(&self, b: &mut Body, op: ImageOp, asked: &ImageCall) -> Vec<Expr> {
        let coordinate = asked.text(ImageParts::COORDINATE).unwrap_or_else(|| Expr::primary("0"));
        let Some(reference) = asked.text(ImageParts::REFERENCE) else { return vec![coordinate] };
        let at = asked.at(ImageParts::COORDINATE).unwrap_or(0);
        let size = b.shape_of(asked.values[at]).map_or(1, |(_, size)| size);
        let is_projected = op == ImageOp::SampleProjected;
        if op == ImageOp::Gather || (size == 4 && !is_projected) {
            return vec![coordinate, reference];
        }
        if let Some(whole) = b.coordinate_with_reference(asked).filter(|_| !is_projected) {
            return vec![b.value(whole)];
        }
        if is_projected {
            // The divisor is last; one-dimensional shadows have an unused component (GLSL 4.60 section 8.9.2).
            let ty = b.type_of(asked.values[at]);
            let whole = if coordinate.is_plain() { coordinate } else { b.name("t", ty, &coordinate) };
            let parts = match size {
                2 => vec![whole.part(".x"), Expr::primary("0.0"), reference, whole.part(".y")],
                _ => vec![whole.part(".xy"), reference, whole.part(".z")],
            };
            return vec![Expr::call("vec4", &parts)];
        }
        // One-dimensional shadows without a projection do too.
        let mut parts = vec![coordinate];
        let has_gap = size == 1;
        parts.extend(has_gap.then(|| Expr::primary("0.0")));
        parts.push(reference);
        vec![Expr::call(&format!("vec{}", size + 1 + u8::from(has_gap)), &parts)]
    }

    /// The residency code, and the texel, which the function returns in an argument (GL_ARB_sparse_texture2).
    pub fn resident(&self, b: &mut Body, op: ImageOp, asked: &ImageCall, texel: TypeId) -> Option<[Expr; 2]> {
        let Lookup { name, mut args, last } = match op {
            ImageOp::Read => {
                let args = self.texel(b, asked, ImageParts::empty());
                Lookup { name: "imageLoad".to_string(), args, last: Vec::new() }
            }
            _ => self.lookup(b, op, asked)?,
        };
        let place = b.variable("texel", texel);
        args.push(place.clone());
        args.extend(last);
        let (first, rest) = name.split_at(1);
        let name = format!("sparse{}{}", first.to_uppercase(), rest.strip_suffix("ARB").unwrap_or(rest)) + "ARB";
        let code = self.call_of(b, &name, asked, &args);
        Some([b.name("code", Types::I32, &code), place])
    }

    /// A lookup with a sampler, or of one texel.
    fn lookup(&self, b: &mut Body, op: ImageOp, asked: &ImageCall) -> Option<Lookup> {
        match op {
            ImageOp::Gather => Some(self.gathered(b, asked)),
            ImageOp::Fetch => Some(self.fetched(b, asked)),
            _ => self.sampled(b, op, asked),
        }
    }

    fn sampled(&self, b: &mut Body, op: ImageOp, asked: &ImageCall) -> Option<Lookup> {
        use ImageParts as P;
        let mut name = "texture".to_string();
        name.push_str(if op == ImageOp::SampleProjected { "Proj" } else { "" });
        // Rectangles have one level, which the language does not name.
        let lod = asked.text(P::LOD).filter(|_| asked.image.dim != ImageDim::Rect);
        name.push_str(if lod.is_some() { "Lod" } else { "" });
        name.push_str(if asked.parts.contains(P::GRADIENTS) { "Grad" } else { "" });
        name.push_str(if asked.parts.contains(P::OFFSET) { "Offset" } else { "" });
        name.push_str(if asked.parts.contains(P::MIN_LOD) { "ClampARB" } else { "" });
        let mut args = vec![asked.texts[0].clone()];
        args.extend(self.coordinate(b, op, asked));
        args.extend(lod);
        if let Some(at) = asked.at(P::GRADIENTS) {
            args.extend(asked.texts[at..at + 2].iter().cloned());
        }
        if let Some(at) = asked.at(P::OFFSET) {
            if !matches!(asked.values[at], Value::Const(_)) {
                b.t.unsupported("offsets of samples that are not constants");
                return None;
            }
            args.push(asked.texts[at].clone());
        }
        args.extend(asked.text(P::MIN_LOD));
        Some(Lookup { name, args, last: asked.text(P::BIAS).into_iter().collect() })
    }

    fn gathered(&self, b: &mut Body, asked: &ImageCall) -> Lookup {
        use ImageParts as P;
        let suffix = match (asked.parts.contains(P::OFFSETS), asked.parts.contains(P::OFFSET)) {
            (true, _) => "Offsets",
            (_, true) => "Offset",
            _ => "",
        };
        let mut args = vec![asked.texts[0].clone()];
        args.extend(self.coordinate(b, ImageOp::Gather, asked));
        args.extend([P::OFFSETS, P::OFFSET].into_iter().find_map(|part| asked.text(part)));
        if asked.at(P::OFFSET).is_some_and(|at| !matches!(asked.values[at], Value::Const(_))) {
            self.require(b.t, &versions::CHANGING_OFFSETS);
        }
        let last = asked.text(P::COMPONENT).into_iter().collect();
        Lookup { name: format!("textureGather{suffix}"), args, last }
    }

    fn fetched(&self, _: &mut Body, asked: &ImageCall) -> Lookup {
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
        Lookup { name: name.to_string(), args, last: Vec::new() }
    }

    /// Image, coordinate, sample and further arguments.
    fn texel(&self, _b: &mut Body, asked: &ImageCall, more: ImageParts) -> Vec<Expr> {
        let mut args = vec![asked.texts[0].clone()];
        args.extend(asked.text(ImageParts::COORDINATE));
        args.extend(asked.text(ImageParts::SAMPLE));
        args.extend(more.iter().filter_map(|part| asked.text(part)));
        args
    }

    fn image_atomic(&self, b: &mut Body, op: AtomicOp, how: (Scope, Order), asked: &ImageCall) -> Option<Expr> {
        let (scalar, size) = asked.image.atomic_texel();
        if size > 1 {
            return Some(b.t.stand_in("atomic operations on such images"));
        }
        self.require(b.t, &versions::IMAGE_ATOMICS);
        match (scalar.is_float(), op) {
            (true, AtomicOp::Min | AtomicOp::Max) => b.t.need("GL_EXT_shader_atomic_float2"),
            (true, AtomicOp::Exchange) => self.require(b.t, &versions::FLOAT_EXCHANGES),
            (true, _) => b.t.need("GL_EXT_shader_atomic_float"),
            _ => {}
        }
        let mut args = self.texel(b, asked, ImageParts::COMPARED | ImageParts::DATA);
        let is_store = op == AtomicOp::Store;
        let op = self.plain_atomic(b, op, &mut args, scalar);
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
            self.add_scope(b, &mut args, op, MemoryKinds::IMAGE, how);
        }
        let call = Expr::call(name, &args).reading_memory(true);
        if is_store {
            b.line(call.text);
            return None;
        }
        Some(call)
    }

    /// A query whose result is an `int` in GLSL.
    fn answer(&self, b: &mut Body, name: &str, asked: &ImageCall, ty: TypeId) -> Expr {
        let mut args = vec![asked.texts[0].clone()];
        let has_levels = !asked.image.storage
            && !asked.image.multisampled
            && !matches!(asked.image.dim, ImageDim::Buffer | ImageDim::Rect)
            && name == "textureSize";
        if has_levels {
            args.push(asked.text(ImageParts::LOD).unwrap_or_else(|| Expr::primary("0")));
        }
        let call = self.call_of(b, name, asked, &args);
        match b.t.shape(ty) {
            Some((scalar, size)) if scalar != Scalar::I32 => {
                let name = b.t.vector_name(scalar, size);
                Expr::call(&name, &[call])
            }
            _ => call,
        }
    }
}
