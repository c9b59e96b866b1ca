//! Textures and samplers (section 6.12, Texture Functions).

use super::Msl;
use super::dialect::Part;
use crate::backend::source::constants::component;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::image::{ImageCall, ImageUse, is_depth};
use crate::backend::source::tree::{Kind, Stmt};
use crate::backend::source::writer::Writer;
use crate::ir::{AtomicOp, ConstValue, ImageDim, ImageOp, ImageParts, ImageType, Scalar, TypeId, Types, Value};

/// Components of a coordinate without the layer.
const fn axes(image: ImageType) -> u8 {
    match image.dim {
        ImageDim::D1 | ImageDim::Buffer => 1,
        ImageDim::D3 | ImageDim::Cube => 3,
        _ => 2,
    }
}

/// The first components of a vector.
fn leading(whole: &Expr, size: u8, wanted: u8) -> Expr {
    if size == wanted {
        return whole.clone();
    }
    let letters: String = (0..u32::from(wanted)).map(|n| component(n)[1..].to_string()).collect();
    whole.part(&format!(".{letters}"))
}

fn is_zero(value: &Expr) -> bool {
    matches!(value.text.as_str(), "0" | "0u" | "0.0")
}

impl Msl {
    fn use_of(&self, b: &mut Body, call: &ImageCall) -> ImageUse {
        b.image_use(call.values[0])
    }

    pub fn image(&self, b: &mut Body, op: ImageOp, call: &ImageCall, ty: TypeId) -> Option<Expr> {
        let [texture, sampler] = b.texture_and_sampler(call);
        Some(match op {
            ImageOp::Sample | ImageOp::SampleProjected => self.sampled(b, op, call, [texture, sampler], ty),
            ImageOp::Gather => self.gathered(b, call, [texture, sampler]),
            ImageOp::Fetch | ImageOp::Read => self.texel(b, call, &texture, ty),
            ImageOp::Write => {
                self.write_texel(b, call, &texture);
                return None;
            }
            ImageOp::Atomic(op, scope, order) => {
                let ty = b.t.types.scalar(call.image.sampled);
                return self.ordered(b, (scope, order), ty, |b| self.image_atomic(b, op, call, &texture));
            }
            ImageOp::Size => self.size(b, call, &texture, ty),
            ImageOp::Levels | ImageOp::Samples => {
                let name = if op == ImageOp::Levels { "get_num_mip_levels" } else { "get_num_samples" };
                let count = Expr::call(&format!("{}.{name}", texture.text), &[]);
                b.t.converted(&count, Types::U32, ty)
            }
            ImageOp::QueryLod => self.level_of_detail(b, call, [texture, sampler], ty),
            _ => return Some(b.t.stand_in("such operations on images")),
        })
    }

    /// The coordinates in the module's form, with a name if they have several parts.
    fn coordinates(&self, b: &mut Body, call: &ImageCall) -> (Expr, Scalar, u8) {
        let Some(at) = call.at(ImageParts::COORDINATE) else { return (b.t.broken("no coordinate"), Scalar::F32, 1) };
        let ty = b.type_of(call.values[at]);
        let Some((scalar, size)) = b.t.shape(ty) else { return (b.t.broken("no coordinate"), Scalar::F32, 1) };
        let whole = call.texts[at].clone();
        let whole =
            if size > axes(call.image) || call.image.dim == ImageDim::Cube { b.plain(whole, ty) } else { whole };
        (whole, scalar, size)
    }

    /// Coordinates and layer of a sample.
    fn sample_place(&self, b: &mut Body, call: &ImageCall, is_projected: bool) -> Vec<Expr> {
        let is_split = call.image.arrayed && !is_projected && call.image.dim != ImageDim::Cube;
        if is_split && let Some((place, layer)) = b.coordinate_parts(call, axes(call.image)) {
            return vec![place, self.layer(b, layer)];
        }
        let (whole, scalar, size) = self.coordinates(b, call);
        let axes = axes(call.image);
        let as_floats = |b: &mut Body, value: Expr, size: u8| {
            let [from, to] = [scalar, Scalar::F32].map(|scalar| b.t.types.vector(scalar, size));
            b.t.converted(&value, from, to)
        };
        let place = as_floats(b, leading(&whole, size, axes.min(size)), axes.min(size));
        if is_projected {
            let divisor = as_floats(b, whole.part(&component(u32::from(size) - 1)), 1);
            return vec![Expr::binary("/", Level::Product, &place, &divisor)];
        }
        let mut made = vec![place];
        if call.image.arrayed && size > axes {
            let layer = as_floats(b, whole.part(&component(axes.into())), 1);
            let nearest = Expr::call("max", &[Expr::call("rint", &[layer]), Expr::primary("0.0")]);
            made.push(Expr::call("uint", &[nearest]));
        }
        made
    }

    /// The layer of an array: converted integers stay integers.
    fn layer(&self, b: &mut Body, layer: Value) -> Expr {
        if let Some(number) = b.t.whole_number(layer) {
            return Expr::primary(number.to_string());
        }
        let from = b.converted_from(layer);
        match from.and_then(|from| b.shape_of(from)) {
            Some((scalar, _)) if !scalar.is_signed() => b.value(from.unwrap_or(layer)),
            Some(_) => {
                let number = b.value(from.unwrap_or(layer));
                Expr::call("uint", &[Expr::call("max", &[number, Expr::primary("0")])])
            }
            None => {
                let number = b.value(layer);
                let nearest = Expr::call("max", &[Expr::call("rint", &[number]), Expr::primary("0.0")]);
                Expr::call("uint", &[nearest])
            }
        }
    }

    /// The depth reference.
    fn reference(&self, b: &mut Body, call: &ImageCall, is_projected: bool) -> Option<Expr> {
        let at = call.at(ImageParts::REFERENCE)?;
        let ty = b.type_of(call.values[at]);
        let value = b.t.converted(&call.texts[at], ty, Types::F32);
        if !is_projected {
            return Some(value);
        }
        let (whole, scalar, size) = self.coordinates(b, call);
        let from = b.t.types.scalar(scalar);
        let divisor = b.t.converted(&whole.part(&component(u32::from(size) - 1)), from, Types::F32);
        Some(Expr::binary("/", Level::Product, &value, &divisor))
    }

    fn sampled(&self, b: &mut Body, op: ImageOp, call: &ImageCall, [texture, sampler]: [Expr; 2], ty: TypeId) -> Expr {
        let is_projected = op == ImageOp::SampleProjected;
        let mut args = vec![sampler];
        args.extend(self.sample_place(b, call, is_projected));
        let reference = self.reference(b, call, is_projected);
        let name = if reference.is_some() { "sample_compare" } else { "sample" };
        args.extend(reference);
        args.extend(self.level(b, call));
        args.extend(self.constant_offset(b, call));
        let made = Expr::call(&format!("{}.{name}", texture.text), &args);
        self.as_result(b, made, call, ty)
    }

    /// The arguments that choose the level of detail.
    fn level(&self, b: &mut Body, call: &ImageCall) -> Vec<Expr> {
        use ImageParts as P;
        let mut made = Vec::new();
        if call.image.dim == ImageDim::D1 {
            // 1D textures have one level.
            return made;
        }
        let lod = call.text(P::LOD);
        let chooses = call.parts.intersects(P::BIAS | P::GRADIENTS) || lod.as_ref().is_some_and(|lod| !is_zero(lod));
        if call.parts.contains(P::REFERENCE) && chooses {
            self.needs(b.t, Part::CompareAtLevel);
        }
        made.extend(lod.map(|lod| Expr::call("level", &[lod])));
        made.extend(call.text(P::BIAS).map(|bias| Expr::call("bias", &[bias])));
        if let Some(at) = call.at(P::GRADIENTS) {
            let name = match call.image.dim {
                ImageDim::D3 => "gradient3d",
                ImageDim::Cube => "gradientcube",
                _ => "gradient2d",
            };
            made.push(Expr::call(name, &call.texts[at..at + 2]));
        }
        if let Some(least) = call.text(P::MIN_LOD) {
            self.needs(b.t, Part::LeastLevels);
            made.push(Expr::call("min_lod_clamp", &[least]));
        }
        made
    }

    /// An offset in texels.
    fn constant_offset(&self, b: &mut Body, call: &ImageCall) -> Option<Expr> {
        let at = call.at(ImageParts::OFFSET)?;
        if !matches!(call.values[at], Value::Const(_)) {
            b.t.lacks("offsets of samples that are not constants");
        }
        Some(call.texts[at].clone())
    }

    /// The texel with the module's type: depth textures return a scalar.
    fn as_result(&self, b: &mut Body, made: Expr, call: &ImageCall, ty: TypeId) -> Expr {
        let uses = self.use_of(b, call);
        let is_number = is_depth(call.image, uses) || call.parts.contains(ImageParts::REFERENCE);
        let Some((scalar, size)) = b.t.shape(ty) else { return b.t.broken("texels of no numbers") };
        if is_number && size > 1 {
            let [zero, one] = [0, scalar.one_bits()].map(|bits| b.t.literal(scalar, bits));
            let parts = [made, zero.clone(), zero, one];
            return Expr::call(&b.t.type_name(ty), &parts);
        }
        if is_number { made } else { leading(&made, 4, size) }
    }

    fn gathered(&self, b: &mut Body, call: &ImageCall, [texture, sampler]: [Expr; 2]) -> Expr {
        use ImageParts as P;
        let mut args = vec![sampler];
        args.extend(self.sample_place(b, call, false));
        let reference = self.reference(b, call, false);
        let uses = self.use_of(b, call);
        let is_plain = reference.is_none() && !is_depth(call.image, uses);
        let name = if reference.is_some() { "gather_compare" } else { "gather" };
        args.extend(reference);
        let component = match call.at(P::COMPONENT) {
            Some(at) => match b.t.module.known_u32(call.values[at]) {
                Some(number) => Some(number).filter(|number| *number > 0),
                None => return b.t.lacking("gathers of a component that is not a constant"),
            },
            None => None,
        };
        if component.is_some() && !is_plain {
            return b.t.lacking("gathers of a component of depth textures beyond the first");
        }
        let component = component.map(|number| {
            let letter = component_letter(number);
            Expr::primary(format!("component::{letter}"))
        });
        let call_of = |offset: Option<Expr>| {
            let mut args = args.clone();
            // A component follows an offset, except of cubes, which have none.
            let none = || (component.is_some() && call.image.dim != ImageDim::Cube).then(|| Expr::primary("int2(0)"));
            args.extend(offset.or_else(none));
            args.extend(component.clone());
            Expr::call(&format!("{}.{name}", texture.text), &args)
        };
        let Some(at) = call.at(P::OFFSETS) else {
            let offset = self.constant_offset(b, call);
            return call_of(offset);
        };
        let Some(offsets) = self.four_offsets(b, call.values[at]) else {
            return b.t.lacking("offsets of gathers that are not constants");
        };
        // The last component belongs to the texel at the offset.
        let texels: Vec<Expr> = offsets.into_iter().map(|offset| call_of(Some(offset)).part(".w")).collect();
        let name = b.t.vector_name(call.image.sampled, 4);
        Expr::call(&name, &texels)
    }

    fn four_offsets(&self, b: &mut Body, offsets: Value) -> Option<Vec<Expr>> {
        let Value::Const(id) = offsets else { return None };
        let constant = b.t.module.constants.get(id).clone();
        match constant.value {
            ConstValue::Composite(parts) => Some(parts.iter().map(|part| b.t.spelled(*part)).collect()),
            ConstValue::Zero => Some(vec![Expr::primary("int2(0)"); 4]),
            _ => None,
        }
    }

    /// Place of a texel: coordinates, face, layer.
    fn texel_place(&self, b: &mut Body, call: &ImageCall) -> Vec<Expr> {
        let (whole, scalar, size) = self.coordinates(b, call);
        let is_cube = call.image.dim == ImageDim::Cube;
        let axes = if is_cube { 2 } else { axes(call.image) };
        let mut place = leading(&whole, size, axes);
        if let Some(at) = call.at(ImageParts::OFFSET) {
            let of = [scalar, Scalar::I32].map(|scalar| b.t.types.vector(scalar, axes));
            let by = b.t.converted(&call.texts[at], of[1], of[0]);
            place = self.binary(b.t, crate::ir::BinaryOp::Add, [&place, &by], [of[0], of[0]]);
        }
        let words = |b: &mut Body, value: &Expr, size: u8| unsigned_words(b.t, value, (scalar, size));
        let mut made = vec![words(b, &place, axes)];
        let last = (size > axes).then(|| words(b, &whole.part(&component(axes.into())), 1));
        match last {
            // The faces of all layers are numbered.
            Some(face) if is_cube && call.image.arrayed => {
                for op in ["%", "/"] {
                    made.push(Expr::binary(op, Level::Product, &face, &Expr::primary("6u")));
                }
            }
            last => made.extend(last),
        }
        made
    }

    fn texel(&self, b: &mut Body, call: &ImageCall, texture: &Expr, ty: TypeId) -> Expr {
        use ImageParts as P;
        let mut args = self.texel_place(b, call);
        let more = match (call.image.multisampled, call.image.dim) {
            (true, _) => Some(call.text(P::SAMPLE).unwrap_or_else(|| Expr::primary("0"))),
            (false, ImageDim::D1 | ImageDim::Buffer) => None,
            (false, _) => call.text(P::LOD).filter(|lod| !is_zero(lod)),
        };
        let part = if call.image.multisampled { P::SAMPLE } else { P::LOD };
        let scalar = call.at(part).and_then(|at| b.shape_of(call.values[at])).map_or(Scalar::I32, |(scalar, _)| scalar);
        args.extend(more.map(|more| unsigned_words(b.t, &more, (scalar, 1))));
        let made = Expr::call(&format!("{}.read", texture.text), &args);
        let made = made.reading_memory(call.image.storage);
        self.as_result(b, made, call, ty)
    }

    fn write_texel(&self, b: &mut Body, call: &ImageCall, texture: &Expr) {
        let Some(at) = call.at(ImageParts::DATA) else { return b.t.internal("a write of nothing") };
        let value = self.four_of(b, call.values[at], &call.texts[at]);
        let mut args = vec![value];
        args.extend(self.texel_place(b, call));
        let list: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        b.line(format!("{}.write({})", texture.text, list.join(", ")));
        // An invocation does not see its own earlier writes.
        if self.use_of(b, call).reads {
            b.line(format!("{}.fence()", texture.text));
        }
    }

    /// A texel of four components.
    fn four_of(&self, b: &mut Body, value: Value, text: &Expr) -> Expr {
        let Some((scalar, size)) = b.shape_of(value) else { return b.t.broken("texels of no numbers") };
        if size == 4 {
            return text.clone();
        }
        let zero = b.t.literal(scalar, 0);
        let mut parts = vec![text.clone()];
        parts.extend((size..4).map(|_| zero.clone()));
        Expr::call(&b.t.vector_name(scalar, 4), &parts)
    }

    fn image_atomic(&self, b: &mut Body, op: AtomicOp, call: &ImageCall, texture: &Expr) -> Option<Expr> {
        if !self.needs(b.t, Part::TextureAtomics) {
            return Some(Expr::primary("0"));
        }
        let (scalar, size) = call.image.atomic_texel();
        if size > 1 || !scalar.is_int() || scalar.width != 32 || call.image.dim == ImageDim::Cube {
            return Some(b.t.lacking("atomic operations on such textures"));
        }
        let mut args = self.texel_place(b, call);
        let texel = b.t.types.vector(scalar, 4);
        let name = match op {
            AtomicOp::Load => "atomic_load",
            AtomicOp::Store | AtomicOp::Exchange => "atomic_exchange",
            AtomicOp::Add => "atomic_fetch_add",
            AtomicOp::Sub => "atomic_fetch_sub",
            AtomicOp::Min => "atomic_fetch_min",
            AtomicOp::Max => "atomic_fetch_max",
            AtomicOp::And => "atomic_fetch_and",
            AtomicOp::Or => "atomic_fetch_or",
            AtomicOp::Xor => "atomic_fetch_xor",
            AtomicOp::CompareExchange => return Some(self.compare_exchange(b, call, texture, (args, scalar))),
        };
        args.extend(call.text(ImageParts::DATA).map(|data| self.splat(b.t, texel, &data)));
        let made = Expr::call(&format!("{}.{name}", texture.text), &args);
        if op == AtomicOp::Store {
            b.line(made.text);
            return None;
        }
        Some(made.part(".x"))
    }

    /// The language's function may fail spuriously.
    fn compare_exchange(&self, b: &mut Body, call: &ImageCall, texture: &Expr, of: (Vec<Expr>, Scalar)) -> Expr {
        let (mut args, scalar) = of;
        let [texel, number] = [4, 1].map(|size| b.t.types.vector(scalar, size));
        let (Some(data), Some(compared)) = (call.text(ImageParts::DATA), call.text(ImageParts::COMPARED)) else {
            return b.t.broken("an exchange of nothing");
        };
        let compared = b.plain(compared, number);
        let found = b.variable("found", texel);
        let start = self.splat(b.t, texel, &compared);
        args.push(Expr::primary(format!("&{}", found.text)));
        args.push(self.splat(b.t, texel, &data));
        let attempt = Expr::call(&format!("{}.atomic_compare_exchange_weak", texture.text), &args);
        let condition = format!("!{} && {}.x == {}", attempt.text, found.text, compared.at(Level::Relation));
        let line = Kind::Line(format!("{} = {};", found.text, start.text));
        let ends = Expr::new(condition, Level::LogicalAnd).not();
        b.push(Kind::Do { body: vec![Stmt::new(b.origin, line)], ends, hint: "" });
        found.part(".x")
    }

    fn size(&self, b: &mut Body, call: &ImageCall, texture: &Expr, ty: TypeId) -> Expr {
        let image = call.image;
        let has_levels = !image.storage && !image.multisampled && axes(image) > 1;
        let at = call.at(ImageParts::LOD).filter(|at| has_levels && !is_zero(&call.texts[*at]));
        let lod = at.map(|at| {
            let scalar = b.shape_of(call.values[at]).map_or(Scalar::I32, |(scalar, _)| scalar);
            unsigned_words(b.t, &call.texts[at], (scalar, 1))
        });
        let lod: Vec<Expr> = lod.into_iter().collect();
        let count = if image.dim == ImageDim::Cube { 2 } else { axes(image) };
        let of = |name: &str, args: &[Expr]| Expr::call(&format!("{}.{name}", texture.text), args);
        let names = ["get_width", "get_height", "get_depth"];
        let mut parts: Vec<Expr> = names[..usize::from(count)].iter().map(|name| of(name, &lod)).collect();
        if image.arrayed {
            parts.push(of("get_array_size", &[]));
        }
        if let [one] = parts.as_slice() {
            return b.t.converted(one, Types::U32, ty);
        }
        let words = b.t.types.vector(Scalar::U32, parts.len() as u8);
        let whole = Expr::call(&b.t.type_name(words), &parts);
        b.t.converted(&whole, words, ty)
    }

    fn level_of_detail(&self, b: &mut Body, call: &ImageCall, [texture, sampler]: [Expr; 2], ty: TypeId) -> Expr {
        if !self.needs(b.t, Part::LevelQueries) {
            return Expr::primary("0");
        }
        let mut place = self.sample_place(b, call, false);
        place.truncate(1);
        let floats = b.t.types.vector(Scalar::F32, axes(call.image));
        let at = b.plain(place.remove(0), floats);
        let [clamped, whole] = ["calculate_clamped_lod", "calculate_unclamped_lod"]
            .map(|name| Expr::call(&format!("{}.{name}", texture.text), &[sampler.clone(), at.clone()]));
        Expr::call(&b.t.type_name(ty), &[clamped, whole])
    }
}

fn component_letter(number: u32) -> char {
    ['x', 'y', 'z', 'w'][number as usize & 3]
}

/// Converts integers to unsigned 32-bit ones.
fn unsigned_words(t: &mut Writer, value: &Expr, (scalar, size): (Scalar, u8)) -> Expr {
    let [from, to] = [scalar, Scalar::U32].map(|scalar| t.types.vector(scalar, size));
    t.converted(value, from, to)
}
