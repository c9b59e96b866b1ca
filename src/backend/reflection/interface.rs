//! The interface of a shader of any stage to its pipeline, derived from a [`Module`]: the same schema for all targets.

use super::shape::{Fields, Shape, Structure};
use crate::backend::Kept;
use crate::ir::fold::{f16_to_f64, fix};
use crate::ir::print::{snake, space_name};
use crate::ir::{
    Access, Binding, BuiltIn, ConstValue, Crowd, EntryPoint, ForeignDecoration, ForeignOperand, Global, GlobalId,
    ImageDim, ImageType, Interpolation, Module, PrimitiveMode, Sampling, Scalar, ScalarKind, Space, Stage, Type,
    TypeId, Value, calls,
};
use rspirv::spirv::Decoration;
use serde::Serialize;
use serde_json::Value as Json;

/// The inputs and outputs of a shader in the pipeline.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Interface {
    /// The stage's name in `#pragma shader_stage(…)`.
    pub stage: &'static str,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
    pub resources: Vec<Resource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push_constants: Option<Block>,
    /// The content of the shader binding table for the shader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shader_record: Option<Block>,
    /// The values that task, mesh and ray tracing shaders hand each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub payloads: Vec<Payload>,
    /// All that the shader declares, used or not. The size of a workgroup and a constant may share a number.
    pub spec_constants: Vec<SpecConstant>,
    /// The primitives of geometry, tessellation and mesh shaders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub primitives: Vec<Primitives>,
    /// The values that the pipeline writes to buffers for each vertex.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<Fed>,
    /// The structs that the others refer to, by index.
    pub structs: Vec<Structure>,
}

/// The place of an input or output, or of a member of an interface block.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct InterfacePlace {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<u32>,
    /// First component of the location; `None` for 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component: Option<u32>,
    /// The index of the blend source; `None` for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// SPIR-V's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub built_in: Option<String>,
    /// `None` for values that are not interpolated because of their type or stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpolation: Option<&'static str>,
    /// `None` for the center.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<&'static str>,
}

/// A stage input or output.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Port {
    pub name: String,
    #[serde(flatten)]
    pub place: InterfacePlace,
    #[serde(flatten)]
    pub shape: Shape,
    /// The owner of each element of the outermost array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// Vertex stream of a geometry shader's output; `None` for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
}

/// An output, or a member of a block of outputs, that transform feedback captures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Fed {
    pub output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<u32>,
    pub buffer: u32,
    /// Stride between vertices in bytes.
    pub stride: u32,
    /// Offset in the vertex in bytes.
    pub offset: u32,
}

/// Something at a set and a binding, or a color attachment that is read.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Resource {
    pub name: String,
    pub kind: ResourceKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<u32>,
    /// The location of a uniform outside of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<u32>,
    /// The bytes before an atomic counter in its buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// The number of the attachment that is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachment: Option<u32>,
    #[serde(flatten)]
    pub shape: Shape,
    /// The smallest size of a buffer in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Texels>,
    pub readable: bool,
    pub writable: bool,
}

/// The kind of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceKind {
    UniformBuffer,
    StorageBuffer,
    Sampler,
    Texture,
    /// A texture combined with its sampler.
    SampledTexture,
    Image,
    UniformTexelBuffer,
    StorageTexelBuffer,
    InputAttachment,
    /// A color attachment of the pixel.
    Tile,
    AccelerationStructure,
    AtomicCounter,
    /// A uniform outside of blocks.
    Uniform,
    /// A type that only SPIR-V has.
    Other,
}

/// The texels of an image or a texture.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Texels {
    /// `2d`, `cube array`, `buffer` and so on.
    pub shape: String,
    /// The type of a component.
    pub component: String,
    /// SPIR-V's number of the texel format (section 3.11, Image Format), 0 if the shader does not state it.
    pub format: u8,
}

/// Memory with a layout.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Block {
    pub name: String,
    pub bytes: u32,
    #[serde(flatten)]
    pub shape: Shape,
}

/// A variable that shaders of a pipeline share.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Payload {
    pub name: String,
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<u32>,
    #[serde(flatten)]
    pub shape: Shape,
}

/// A specialization constant.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SpecConstant {
    pub name: String,
    pub id: u32,
    #[serde(rename = "type")]
    pub ty: String,
    /// Null for floats without a JSON number.
    pub default: Json,
}

/// A declaration about primitives.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Primitives {
    pub mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// The shader with its specialization constants at their defaults.
pub fn settled(module: &Module) -> Module {
    let mut settled = module.clone();
    // A constant without a default value stays open, and its number is not reported.
    let _ = fix(&mut settled.types, &mut settled.constants, |_, default| Some(default));
    settled
}

/// The variables that an entry point reaches, in declaration order, including variables that pass through or are kept.
pub(super) fn variables<'m>(
    module: &'m Module,
    entry: &EntryPoint,
    kept: Kept,
) -> impl Iterator<Item = (GlobalId, &'m Global)> {
    let mut reached = vec![false; module.globals.len()];
    for id in calls::callees_first(module, [entry.function]) {
        let function = &module.functions[id];
        for (_, inst) in function.insts.iter() {
            inst.op.each_operand(function, |value| {
                if let Value::Global(global) = value {
                    reached[global.index()] = true;
                }
            });
        }
    }
    let is_there = move |(id, global): &(GlobalId, &Global)| {
        reached[id.index()] || module.passed.contains(id) || kept.keeps(global)
    };
    module.globals.iter().filter(is_there)
}

impl Interface {
    /// The interface of an entry point of a settled module.
    pub(super) fn of(module: &Module, entry: &EntryPoint, kept: Kept) -> Interface {
        let mut interface = Interface {
            stage: entry.stage.word(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            resources: Vec::new(),
            push_constants: None,
            shader_record: None,
            payloads: Vec::new(),
            spec_constants: Vec::new(),
            primitives: entry.primitives.iter().map(|mode| primitives(*mode)).collect(),
            feedback: Vec::new(),
            structs: Vec::new(),
        };
        let mut fields = Fields::new(module, entry.stage);
        for (id, global) in variables(module, entry, kept) {
            interface.add(&mut fields, id, global);
        }
        interface.structs = fields.finish();
        interface
    }

    fn add(&mut self, fields: &mut Fields<'_>, id: GlobalId, global: &Global) {
        let module = fields.module;
        let (name, shape) = (name_of(module, global), fields.shape(global.ty));
        let bytes = fields.bytes(innermost(module, global.ty));
        match global.space {
            Space::Input => self.inputs.push(port(fields, id, global)),
            Space::Output => {
                self.outputs.push(port(fields, id, global));
                let of_it = module.feedback.iter().filter(|feedback| feedback.global == id);
                self.feedback.extend(of_it.map(|fed| Fed {
                    output: name.clone(),
                    member: fed.member,
                    buffer: fed.buffer,
                    stride: fed.stride,
                    offset: fed.offset,
                }));
            }
            Space::PushConstant => self.push_constants = Some(Block { name, bytes, shape }),
            Space::ShaderRecord => self.shader_record = Some(Block { name, bytes, shape }),
            Space::Uniform | Space::Storage | Space::Handle | Space::Loose => {
                let bytes = matches!(global.space, Space::Uniform | Space::Storage).then_some(bytes);
                self.resources.push(resource(module, global, shape, bytes));
            }
            Space::TaskPayload
            | Space::RayPayload
            | Space::IncomingRayPayload
            | Space::HitAttribute
            | Space::HitObjectAttributeNv
            | Space::HitObjectAttribute
            | Space::CallableData
            | Space::IncomingCallableData => {
                let location = match global.binding {
                    Binding::Location { location, .. } => location,
                    _ => None,
                };
                self.payloads.push(Payload { name, kind: space_name(global.space), location, shape });
            }
            Space::Function | Space::Private | Space::Workgroup | Space::Physical => {}
        }
    }
}

/// The declared specialization constants of a module, by number.
pub(super) fn spec_constants(module: &Module) -> Vec<SpecConstant> {
    let name = |id| module.spec_names.iter().find(|(known, _)| *known == id).map(|(_, name)| name.to_string());
    let mut constants: Vec<SpecConstant> = spec_defaults(module)
        .map(|(ty, id, bits)| SpecConstant {
            name: name(id).unwrap_or_default(),
            id,
            ty: crate::ir::print::type_name(&module.types, ty),
            default: module.types.scalar_of(ty).map_or(Json::Null, |scalar| value(scalar, bits)),
        })
        .collect();
    constants.sort_by_key(|constant| constant.id);
    constants.dedup();
    constants
}

fn spec_defaults(module: &Module) -> impl Iterator<Item = (TypeId, u32, u64)> {
    module.constants.iter().filter_map(|(_, constant)| match constant.value {
        ConstValue::Spec { id, default } => Some((constant.ty, id, default)),
        _ => None,
    })
}

fn value(scalar: Scalar, bits: u64) -> Json {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => (bits != 0).into(),
        (ScalarKind::Sint, _) => crate::ir::constant::sign_extend(bits, scalar).into(),
        (ScalarKind::Uint, _) => bits.into(),
        (ScalarKind::Float, 16) => f16_to_f64(bits as u16).into(),
        (ScalarKind::Float, 32) => f64::from(f32::from_bits(bits as u32)).into(),
        (ScalarKind::Float, _) => f64::from_bits(bits).into(),
        (ScalarKind::Encoded(encoding), _) => encoding.format().decode(bits).into(),
    }
}

fn primitives(mode: PrimitiveMode) -> Primitives {
    let text = snake(mode);
    let mode = text.split('(').next().unwrap_or_default().to_owned();
    let count = text.split(['(', ')']).nth(1).and_then(|count| count.parse().ok());
    Primitives { mode, count }
}

/// The name of a variable for users: the block's if it has none.
fn name_of(module: &Module, global: &Global) -> String {
    match module.types.get(innermost(module, global.ty)) {
        Type::Struct(id) if global.name.is_empty() => module.types.structs[id].name.to_string(),
        _ => global.name.to_string(),
    }
}

/// The element type of arrays, and of arrays of arrays.
pub(super) fn innermost(module: &Module, ty: TypeId) -> TypeId {
    match module.types.get(ty) {
        Type::Array { element, .. } => innermost(module, element),
        _ => ty,
    }
}

fn port(fields: &mut Fields<'_>, id: GlobalId, global: &Global) -> Port {
    let module = fields.module;
    let crowd = match of_whole(module, global) {
        Binding::BuiltIn(built_in) => built_in.crowd().or_else(|| built_in_crowd(fields.stage, global.space, built_in)),
        binding => fields.stage.crowd(global.space, binding.interpolation()),
    };
    let is_array = matches!(module.types.get(global.ty), Type::Array { .. });
    let stream = module.streams.iter().find(|(known, _)| *known == id).map(|(_, stream)| *stream);
    let is_interpolated = fields.stage == Stage::Fragment && global.space == Space::Input;
    let place = match foreign_built_in(module, id) {
        None => place(module, global.binding, global.ty, is_interpolated),
        built_in => InterfacePlace { built_in, ..InterfacePlace::default() },
    };
    Port {
        name: name_of(module, global),
        place,
        shape: fields.shape(global.ty),
        each: crowd.filter(|_| is_array).map(snake),
        stream,
    }
}

/// The name of the built-in value from a decoration by number; its number if SPIR-V has no name for it.
fn foreign_built_in(module: &Module, id: GlobalId) -> Option<String> {
    let is_it = |known: &&ForeignDecoration| known.number == Decoration::BuiltIn as u32;
    let decoration = module.foreign.decorations_of(id).iter().find(is_it)?;
    let [ForeignOperand::Word(number)] = decoration.operands[..] else { return None };
    Some(
        rspirv::spirv::BuiltIn::from_u32(number).map_or_else(|| number.to_string(), |built_in| format!("{built_in:?}")),
    )
}

/// The place of a variable, or of the members of its block, which all have the same owners.
fn of_whole(module: &Module, global: &Global) -> Binding {
    let says = |binding: Binding| {
        matches!(binding, Binding::BuiltIn(_)) || binding.interpolation() != Interpolation::Perspective
    };
    match module.types.get(innermost(module, global.ty)) {
        Type::Struct(id) if !says(global.binding) => {
            module.types.structs[id].members.first().map_or(global.binding, |member| member.binding)
        }
        _ => global.binding,
    }
}

/// The owners of the elements of a built-in variable, which may itself be an array.
fn built_in_crowd(stage: Stage, space: Space, built_in: BuiltIn) -> Option<Crowd> {
    use BuiltIn as B;
    match built_in {
        B::TessLevelOuter | B::TessLevelInner => None,
        B::PrimitiveId | B::Layer | B::ViewportIndex | B::ViewportMask | B::CullPrimitive | B::PrimitiveShadingRate
            if stage == Stage::Mesh =>
        {
            Some(Crowd::OutputPrimitives)
        }
        _ => stage.crowd(space, Interpolation::Perspective),
    }
}

/// The place of a variable in the pipeline's interface.
pub(super) fn place(module: &Module, binding: Binding, ty: TypeId, is_interpolated: bool) -> InterfacePlace {
    match binding {
        Binding::BuiltIn(built_in) => {
            InterfacePlace { built_in: Some(format!("{built_in:?}")), ..InterfacePlace::default() }
        }
        Binding::Location { location, component, index, interpolation, sampling } => InterfacePlace {
            location,
            component: Some(component).filter(|component| *component != 0),
            index: Some(index).filter(|index| *index != 0),
            interpolation: interpolation_word(module, interpolation, ty, is_interpolated),
            sampling: match sampling {
                Sampling::Center => None,
                Sampling::Centroid => Some("centroid"),
                Sampling::Sample => Some("sample"),
            },
            ..InterfacePlace::default()
        },
        _ => InterfacePlace::default(),
    }
}

fn interpolation_word(module: &Module, how: Interpolation, ty: TypeId, is_interpolated: bool) -> Option<&'static str> {
    let scalar = module.types.scalar_of(innermost(module, ty));
    let is_flat = scalar.is_some_and(|scalar| scalar.is_int() || scalar == Scalar::F64);
    Some(match how {
        Interpolation::Perspective if !is_interpolated => return None,
        Interpolation::Perspective | Interpolation::Linear if is_interpolated && is_flat => "flat",
        Interpolation::Perspective => "perspective",
        Interpolation::Linear => "linear",
        Interpolation::Flat => "flat",
        Interpolation::PerVertex => "per_vertex",
        Interpolation::Explicit => "explicit",
        Interpolation::PerPrimitive { .. } => "per_primitive",
        Interpolation::Patch => "patch",
    })
}

fn resource(module: &Module, global: &Global, shape: Shape, bytes: Option<u32>) -> Resource {
    let (mut set, mut binding, mut attachment) = (None, None, None);
    let (mut location, mut offset) = (None, None);
    match global.binding {
        Binding::Uniform { location: l, binding: b } => (location, binding) = (Some(l), b),
        Binding::Counter { binding: b, offset: o } => (binding, offset) = (Some(b), Some(o)),
        Binding::Resource { set: s, binding: b } => (set, binding) = (Some(s), Some(b)),
        Binding::Attachment { set: s, binding: b, index } => {
            (set, binding, attachment) = (Some(s), Some(b), Some(index));
        }
        Binding::Tile { location } => attachment = Some(location),
        _ => {}
    }
    let of = module.types.get(innermost(module, global.ty));
    let (kind, image) = match (global.binding, resource_kind(global.space, of)) {
        // Some languages read it as a texture.
        (Binding::Attachment { .. }, (_, image)) => (ResourceKind::InputAttachment, image),
        (_, known) => known,
    };
    let is_written = matches!(
        kind,
        ResourceKind::StorageBuffer
            | ResourceKind::Image
            | ResourceKind::StorageTexelBuffer
            | ResourceKind::AtomicCounter
    );
    Resource {
        name: name_of(module, global),
        kind,
        set,
        binding,
        location,
        offset,
        attachment,
        shape,
        bytes,
        image: image.map(texels),
        readable: !global.access.contains(Access::WRITEONLY),
        writable: is_written && !global.access.contains(Access::READONLY),
    }
}

fn resource_kind(space: Space, of: Type) -> (ResourceKind, Option<ImageType>) {
    match (space, of) {
        (Space::Uniform, _) => (ResourceKind::UniformBuffer, None),
        (Space::Storage, _) => (ResourceKind::StorageBuffer, None),
        (Space::Loose, _) => (ResourceKind::Uniform, None),
        (_, Type::AtomicCounter) => (ResourceKind::AtomicCounter, None),
        (_, Type::Sampler) => (ResourceKind::Sampler, None),
        (_, Type::AccelerationStructure) => (ResourceKind::AccelerationStructure, None),
        (_, Type::SampledImage(image)) if image.dim == ImageDim::Buffer => {
            (ResourceKind::UniformTexelBuffer, Some(image))
        }
        (_, Type::SampledImage(image)) => (ResourceKind::SampledTexture, Some(image)),
        (_, Type::Image(image)) => {
            let kind = match image.dim {
                ImageDim::Tile => ResourceKind::Tile,
                ImageDim::Buffer if image.storage => ResourceKind::StorageTexelBuffer,
                ImageDim::Buffer => ResourceKind::UniformTexelBuffer,
                _ if image.storage => ResourceKind::Image,
                _ => ResourceKind::Texture,
            };
            (kind, Some(image))
        }
        _ => (ResourceKind::Other, None),
    }
}

fn texels(image: ImageType) -> Texels {
    let component = crate::ir::print::scalar_name(image.sampled);
    Texels { shape: super::shape_of(image), component, format: image.format }
}
