//! Images: textures with samplers of their own. A texture that brings its sampler becomes two variables: the sampler takes
//! the next binding of the group that no resource has, in the order of first use.

use super::function::Body;
use super::translator::Translator;
use crate::ir::{
    self, Access, Binding, Function, GlobalId, ImageDim, ImageOp, ImageParts, ImageType, ScalarKind, Type, TypeId,
    Value, Values,
};
use naga::{
    AddressSpace, BinaryOperator, Expression, GlobalVariable, Handle, ImageClass, ImageDimension, ImageQuery,
    MathFunction, ResourceBinding, SampleLevel, Statement, StorageAccess, StorageFormat, SwizzleComponent, TypeInner,
};
use smallvec::SmallVec;

/// The formats of storage textures by SPIR-V's numbers (section 3.11, Image Format; WGSL 6.5.1).
const FORMATS: [(u8, StorageFormat); 25] = [
    (1, StorageFormat::Rgba32Float),
    (2, StorageFormat::Rgba16Float),
    (3, StorageFormat::R32Float),
    (4, StorageFormat::Rgba8Unorm),
    (5, StorageFormat::Rgba8Snorm),
    (6, StorageFormat::Rg32Float),
    (7, StorageFormat::Rg16Float),
    (8, StorageFormat::Rg11b10Ufloat),
    (9, StorageFormat::R16Float),
    (11, StorageFormat::Rgb10a2Unorm),
    (13, StorageFormat::Rg8Unorm),
    (15, StorageFormat::R8Unorm),
    (18, StorageFormat::Rg8Snorm),
    (20, StorageFormat::R8Snorm),
    (21, StorageFormat::Rgba32Sint),
    (22, StorageFormat::Rgba16Sint),
    (23, StorageFormat::Rgba8Sint),
    (24, StorageFormat::R32Sint),
    (25, StorageFormat::Rg32Sint),
    (30, StorageFormat::Rgba32Uint),
    (31, StorageFormat::Rgba16Uint),
    (32, StorageFormat::Rgba8Uint),
    (33, StorageFormat::R32Uint),
    (34, StorageFormat::Rgb10a2Uint),
    (35, StorageFormat::Rg32Uint),
];

const fn dimension(dim: ImageDim) -> Option<ImageDimension> {
    Some(match dim {
        ImageDim::D1 => ImageDimension::D1,
        ImageDim::D2 => ImageDimension::D2,
        ImageDim::D3 => ImageDimension::D3,
        ImageDim::Cube => ImageDimension::Cube,
        _ => return None,
    })
}

/// Returns true if the language has textures of this shape (WGSL 6.5).
fn is_there(dim: ImageDimension, image: ImageType) -> bool {
    match dim {
        ImageDimension::D1 | ImageDimension::D3 => !image.arrayed,
        ImageDimension::D2 => !image.multisampled || !image.arrayed && !image.storage,
        ImageDimension::Cube => !image.storage,
    }
}

/// Components of a coordinate without the layer.
const fn coordinates(dim: ImageDim) -> u8 {
    match dim {
        ImageDim::D1 => 1,
        ImageDim::D3 | ImageDim::Cube => 3,
        _ => 2,
    }
}

/// The functions' uses of an image or a sampler.
#[derive(Default)]
struct Uses {
    reads: bool,
    writes: bool,
    compares: bool,
}

/// The variable that an image or sampler is loaded from; of a combined one its part.
fn source(f: &Function, value: Value, part: usize) -> Option<GlobalId> {
    match value {
        Value::Global(id) => Some(id),
        Value::Inst(id) => match f.insts[id].op {
            ir::Op::Load(pointer) => source(f, pointer, part),
            ir::Op::Image { op: ImageOp::Combine, operands, .. } => source(f, f.values(operands)[part], 0),
            _ => None,
        },
        _ => None,
    }
}

impl Translator<'_> {
    /// The type of a texture.
    pub fn texture(&mut self, image: ImageType, access: StorageAccess) -> Option<TypeInner> {
        let dim = dimension(image.dim).filter(|dim| is_there(*dim, image))?;
        let class = match (image.storage, image.depth) {
            (true, _) => {
                let (_, format) = FORMATS.iter().find(|(number, _)| *number == image.format)?;
                ImageClass::Storage { format: *format, access }
            }
            (false, true) => ImageClass::Depth { multi: image.multisampled },
            (false, false) => {
                let kind = super::types::scalar_of(image.sampled).kind;
                ImageClass::Sampled { kind, multi: image.multisampled }
            }
        };
        Some(TypeInner::Image { dim, arrayed: image.arrayed, class })
    }

    /// The type of a variable that is a texture or a sampler.
    pub fn handle_type(&mut self, id: GlobalId) -> Option<Handle<naga::Type>> {
        let global = &self.module.globals[id];
        let uses = self.uses_of(id);
        let inner = match self.types.get(global.ty) {
            Type::Sampler => TypeInner::Sampler { comparison: uses.compares },
            Type::Image(image) | Type::SampledImage(image) => {
                let image = ImageType { depth: image.depth || uses.compares, ..image };
                let access = self.storage_image_access(id, global.access);
                match self.texture(image, access) {
                    Some(inner) => inner,
                    None => {
                        self.lacks("textures of this kind or format");
                        return None;
                    }
                }
            }
            _ => return None,
        };
        Some(self.add(None, inner))
    }

    fn storage_image_access(&self, id: GlobalId, declared: Access) -> StorageAccess {
        let uses = self.uses_of(id);
        let mut access = StorageAccess::empty();
        access.set(StorageAccess::LOAD, uses.reads && !declared.contains(Access::WRITEONLY));
        access.set(StorageAccess::STORE, uses.writes && !declared.contains(Access::READONLY));
        if access.is_empty() { StorageAccess::STORE } else { access }
    }

    fn uses_of(&self, id: GlobalId) -> Uses {
        let mut uses = Uses::default();
        for (_, f) in self.module.functions.iter() {
            for (_, inst) in f.insts.iter() {
                let ir::Op::Image { op, parts, operands } = inst.op else { continue };
                let values = f.values(operands);
                let is_it = |value: &Value| [0, 1].map(|part| source(f, *value, part)).contains(&Some(id));
                uses.compares |= parts.contains(ImageParts::REFERENCE) && values.iter().take(2).any(is_it);
                if values.first().and_then(|value| source(f, *value, 0)) == Some(id) {
                    uses.reads |= op == ImageOp::Read;
                    uses.writes |= op == ImageOp::Write;
                }
            }
        }
        uses
    }

    /// The samplers that textures brought with them, in the order of their bindings.
    pub fn samplers(&self) -> Vec<super::reflection::Sampler> {
        let made = self.samplers.values().filter_map(|handle| {
            let variable = &self.out.global_variables[*handle];
            let ResourceBinding { group, binding } = variable.binding?;
            Some(super::reflection::Sampler { name: variable.name.clone().unwrap_or_default(), group, binding })
        });
        let mut samplers: Vec<_> = made.collect();
        samplers.sort_by_key(|sampler| (sampler.group, sampler.binding));
        samplers
    }

    /// The sampler of a texture that brings its own.
    fn sampler_of(&mut self, id: GlobalId) -> Handle<GlobalVariable> {
        if let Some(known) = self.samplers.get(&id) {
            return *known;
        }
        let global = &self.module.globals[id];
        let group = match global.binding {
            Binding::Resource { set, .. } => set,
            _ => 0,
        };
        let taken = self.module.globals.iter().filter_map(|(_, other)| match other.binding {
            Binding::Resource { set, binding } if set == group => Some(binding),
            _ => None,
        });
        let taken = taken.max().map_or(0, |last| last + 1);
        let before = self.samplers.keys().filter(|other| match self.module.globals[**other].binding {
            Binding::Resource { set, .. } => set == group,
            _ => false,
        });
        let binding = taken + before.count() as u32;
        let ty = self.add(None, TypeInner::Sampler { comparison: self.uses_of(id).compares });
        let variable = GlobalVariable {
            name: Some(format!("{}_sampler", global.name)),
            space: AddressSpace::Handle,
            binding: Some(ResourceBinding { group, binding }),
            ty,
            init: None,
            memory_decorations: naga::MemoryDecorations::empty(),
        };
        let here = self.here();
        let made = self.out.global_variables.append(variable, here);
        self.samplers.insert(id, made);
        made
    }
}

/// An operation with its operands.
struct Asked {
    image: ImageType,
    texture: Handle<Expression>,
    sampler: Option<Handle<Expression>>,
    parts: ImageParts,
    values: SmallVec<[Value; 8]>,
    ty: TypeId,
    /// True if coordinates and reference are divided by the last component of the coordinates.
    is_projected: bool,
}

impl Asked {
    /// A part's first operand.
    fn part(&self, part: ImageParts) -> Option<Value> {
        let before = self.parts.intersection(ImageParts::from_bits_truncate(part.bits() - 1));
        let pair = usize::from(before.contains(ImageParts::GRADIENTS));
        self.parts.contains(part).then(|| self.values[1 + before.bits().count_ones() as usize + pair])
    }
}

impl Body<'_, '_> {
    pub fn image(&mut self, op: ImageOp, parts: ImageParts, list: Values, ty: TypeId) -> Option<Handle<Expression>> {
        let values = SmallVec::from_slice(self.f.values(list));
        // Its parts are asked for where it is used.
        if op == ImageOp::Combine {
            return None;
        }
        let Some(mut image) = self.image_of(values[0]) else {
            return Some(self.broken("an image operation on no image"));
        };
        image.depth |= source(self.f, values[0], 0).is_some_and(|id| self.t.uses_of(id).compares);
        let samples = matches!(op, ImageOp::Sample | ImageOp::SampleProjected | ImageOp::Gather);
        let Some((texture, sampler)) = self.texture_and_sampler(values[0], samples) else {
            return Some(self.nothing("images from arrays and parameters with samplers of their own"));
        };
        let mut asked =
            Asked { image, texture, sampler, parts, values, ty, is_projected: op == ImageOp::SampleProjected };
        if let Some(sampler) = asked.part(ImageParts::SAMPLER) {
            asked.sampler = Some(self.value(sampler));
        }
        if matches!(self.t.types.get(ty), Type::Struct(_)) {
            return Some(self.lacking("residency of texels"));
        }
        if let Some(construct) = self.lack(op, &asked) {
            return Some(self.lacking(construct));
        }
        Some(match op {
            ImageOp::Sample | ImageOp::SampleProjected => self.sampled(&asked, None),
            ImageOp::Gather => self.gathered(&asked),
            ImageOp::Fetch | ImageOp::Read => self.texel(&asked),
            ImageOp::Write => {
                self.write_texel(&asked);
                return None;
            }
            ImageOp::Size | ImageOp::Levels | ImageOp::Samples => self.query(op, &asked),
            ImageOp::Atomic(..) => self.lacking("atomic operations on textures"),
            _ => self.lacking("such operation on images"),
        })
    }

    /// A part of an operation that the language's function does not take.
    fn lack(&self, op: ImageOp, asked: &Asked) -> Option<&'static str> {
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
        let is_constant = |part| asked.part(part).is_none_or(|value| matches!(value, Value::Const(_)));
        let filters = matches!(op, ImageOp::Sample | ImageOp::SampleProjected);
        let samples = filters || op == ImageOp::Gather;
        if !(asked.parts - known - P::COORDINATE).is_empty() {
            Some("such operations on images")
        } else if asked.image.storage && asked.image.multisampled {
            Some("storage textures of several samples")
        } else if asked.image.dim == ImageDim::D1 && asked.parts.intersects(P::BIAS | P::GRADIENTS) {
            Some("samples of 1D textures with biases or gradients")
        } else if samples && !is_constant(P::OFFSET) {
            Some("offsets of samples that are not constants")
        } else if filters && !asked.image.sampled.is_float() {
            Some("samples of textures of integers")
        } else if filters && asked.parts.contains(P::REFERENCE) && !self.compares_plainly(asked) {
            Some("comparisons at a level that is not the one of derivatives or 0")
        } else {
            None
        }
    }

    /// Returns true if a comparison is at the level that derivatives say, or at level 0.
    fn compares_plainly(&self, asked: &Asked) -> bool {
        let is_zero = |value| matches!(value, Value::Const(id) if self.t.module.constants.bits(id) == Some(0));
        !asked.parts.intersects(ImageParts::BIAS | ImageParts::GRADIENTS)
            && asked.part(ImageParts::LOD).is_none_or(is_zero)
    }

    fn image_of(&self, value: Value) -> Option<ImageType> {
        let ty = self.pointee_of(value).map(|(_, pointee)| pointee).or_else(|| self.type_of(value))?;
        match self.t.types.get(ty) {
            Type::Image(image) | Type::SampledImage(image) => Some(image),
            _ => None,
        }
    }

    /// The variables that an image comes from; the sampler that it brings where one is needed.
    fn texture_and_sampler(
        &mut self,
        value: Value,
        samples: bool,
    ) -> Option<(Handle<Expression>, Option<Handle<Expression>>)> {
        let ty = self.pointee_of(value).map(|(_, pointee)| pointee).or_else(|| self.type_of(value))?;
        if !matches!(self.t.types.get(ty), Type::SampledImage(_)) {
            return Some((self.value(value), None));
        }
        let Value::Inst(id) = value else { return None };
        match self.f.insts[id].op {
            ir::Op::Image { op: ImageOp::Combine, operands, .. } => {
                let parts = self.list(operands);
                Some((parts[0], Some(parts[1])))
            }
            ir::Op::Load(Value::Global(id)) => {
                let texture = self.value(Value::Global(id));
                let sampler = samples.then(|| self.t.sampler_of(id));
                Some((texture, sampler.map(|sampler| self.append(Expression::GlobalVariable(sampler)))))
            }
            _ => None,
        }
    }

    /// The coordinate, and the layer of an array as an integer.
    fn coordinate(&mut self, asked: &Asked) -> Option<(Handle<Expression>, Option<Handle<Expression>>)> {
        let value = asked.part(ImageParts::COORDINATE)?;
        let (scalar, size) = self.shape_of(value)?;
        let mut whole = self.value(value);
        if let Some(divisor) = self.divisor(asked) {
            let divisor = self.splat(divisor, size);
            whole = self.plain(BinaryOperator::Divide, whole, divisor);
        }
        let own = coordinates(asked.image.dim);
        if size == own && !asked.image.arrayed {
            return Some((whole, None));
        }
        let coordinate = match own {
            1 => self.emit(Expression::AccessIndex { base: whole, index: 0 }),
            _ => {
                use SwizzleComponent::{W, X, Y, Z};
                let size = super::types::size_of(own);
                self.emit(Expression::Swizzle { size, vector: whole, pattern: [X, Y, Z, W] })
            }
        };
        let layer = asked.image.arrayed.then(|| {
            let layer = self.emit(Expression::AccessIndex { base: whole, index: own.into() });
            if !scalar.is_float() {
                return layer;
            }
            let nearest = Expression::Math { fun: MathFunction::Round, arg: layer, arg1: None, arg2: None, arg3: None };
            let nearest = self.emit(nearest);
            self.emit(Expression::As { expr: nearest, kind: naga::ScalarKind::Sint, convert: Some(4) })
        });
        Some((coordinate, layer))
    }

    /// The divisor of coordinates and reference.
    fn divisor(&mut self, asked: &Asked) -> Option<Handle<Expression>> {
        let value = asked.part(ImageParts::COORDINATE).filter(|_| asked.is_projected)?;
        let (_, size) = self.shape_of(value)?;
        let base = self.value(value);
        Some(self.emit(Expression::AccessIndex { base, index: u32::from(size) - 1 }))
    }

    /// The number that texels are compared with.
    fn reference(&mut self, asked: &Asked) -> Option<Handle<Expression>> {
        let value = asked.part(ImageParts::REFERENCE)?;
        let reference = self.value(value);
        Some(match self.divisor(asked) {
            Some(divisor) => self.plain(BinaryOperator::Divide, reference, divisor),
            None => reference,
        })
    }

    fn level(&mut self, asked: &Asked) -> SampleLevel {
        if let Some(bias) = asked.part(ImageParts::BIAS) {
            return SampleLevel::Bias(self.value(bias));
        }
        if let Some(lod) = asked.part(ImageParts::LOD) {
            let compares = asked.parts.contains(ImageParts::REFERENCE);
            return if compares { SampleLevel::Zero } else { SampleLevel::Exact(self.value(lod)) };
        }
        let Some(first) = asked.part(ImageParts::GRADIENTS) else { return SampleLevel::Auto };
        let at = asked.values.iter().position(|value| *value == first).unwrap_or(0);
        SampleLevel::Gradient { x: self.value(first), y: self.value(asked.values[at + 1]) }
    }

    fn sampled(&mut self, asked: &Asked, gather: Option<SwizzleComponent>) -> Handle<Expression> {
        let (Some(sampler), Some((coordinate, array_index))) = (asked.sampler, self.coordinate(asked)) else {
            return self.broken("a sample without sampler or coordinates");
        };
        let level = if gather.is_some() { SampleLevel::Zero } else { self.level(asked) };
        let offset = asked.part(ImageParts::OFFSET).map(|offset| self.value(offset));
        let depth_ref = self.reference(asked);
        let sample = self.emit(Expression::ImageSample {
            image: asked.texture,
            sampler,
            gather,
            coordinate,
            array_index,
            offset,
            level,
            depth_ref,
            clamp_to_edge: false,
        });
        let is_scalar = asked.image.depth && gather.is_none();
        self.as_texel(sample, is_scalar, asked.ty)
    }

    /// Texels of depth textures are numbers where the module has vectors.
    fn as_texel(&mut self, texel: Handle<Expression>, is_scalar: bool, ty: TypeId) -> Handle<Expression> {
        match self.t.shape(ty) {
            Some((scalar, 4)) if is_scalar => {
                let (zero, one) = (self.zero(scalar, 1), self.scalar_constant(ir::Scalar::F32, 0x3f80_0000));
                self.compose(ty, vec![texel, zero, zero, one])
            }
            _ => texel,
        }
    }

    fn gathered(&mut self, asked: &Asked) -> Handle<Expression> {
        const ALL: [SwizzleComponent; 4] =
            [SwizzleComponent::X, SwizzleComponent::Y, SwizzleComponent::Z, SwizzleComponent::W];
        let component = match asked.part(ImageParts::COMPONENT) {
            None => Some(0),
            Some(value) => self.t.module.known_u32(value),
        };
        match component.and_then(|component| ALL.get(component as usize)) {
            Some(component) => self.sampled(asked, Some(*component)),
            None => self.lacking("gathers of a component that is not a constant"),
        }
    }

    fn texel(&mut self, asked: &Asked) -> Handle<Expression> {
        let Some((mut coordinate, array_index)) = self.coordinate(asked) else {
            return self.broken("a texel without coordinates");
        };
        if let Some(offset) = asked.part(ImageParts::OFFSET) {
            let offset = self.value(offset);
            coordinate = self.plain(BinaryOperator::Add, coordinate, offset);
        }
        let sample = asked.part(ImageParts::SAMPLE).map(|sample| self.value(sample));
        let has_levels = !asked.image.storage && !asked.image.multisampled;
        let level = has_levels.then(|| match asked.part(ImageParts::LOD) {
            Some(lod) => self.value(lod),
            None => self.u32(0),
        });
        let image = asked.texture;
        let texel = self.emit(Expression::ImageLoad { image, coordinate, array_index, sample, level });
        self.as_texel(texel, asked.image.depth, asked.ty)
    }

    fn write_texel(&mut self, asked: &Asked) {
        let (Some((coordinate, array_index)), Some(data)) = (self.coordinate(asked), asked.part(ImageParts::DATA))
        else {
            return self.t.internal("a write without coordinates or data");
        };
        let value = self.value(data);
        self.statement(Statement::ImageStore { image: asked.texture, coordinate, array_index, value });
    }

    /// Sizes are unsigned in the language.
    fn query(&mut self, op: ImageOp, asked: &Asked) -> Handle<Expression> {
        let query = match op {
            ImageOp::Levels => ImageQuery::NumLevels,
            ImageOp::Samples => ImageQuery::NumSamples,
            _ => ImageQuery::Size { level: asked.part(ImageParts::LOD).map(|lod| self.value(lod)) },
        };
        let size = matches!(query, ImageQuery::Size { .. });
        let mut answer = self.emit(Expression::ImageQuery { image: asked.texture, query });
        if size && asked.image.arrayed {
            let layers = self.emit(Expression::ImageQuery { image: asked.texture, query: ImageQuery::NumLayers });
            let own = if asked.image.dim == ImageDim::Cube { 2 } else { coordinates(asked.image.dim) };
            let mut parts: Vec<_> = match own {
                1 => vec![answer],
                _ => (0..own.into()).map(|index| self.emit(Expression::AccessIndex { base: answer, index })).collect(),
            };
            parts.push(layers);
            let ty = self.t.vector(naga::Scalar::U32, own + 1);
            answer = self.emit(Expression::Compose { ty, components: parts });
        }
        match self.t.types.scalar_of(asked.ty) {
            Some(scalar) if scalar.kind == ScalarKind::Sint => self.as_kind(answer, ScalarKind::Sint),
            _ => answer,
        }
    }
}
