//! The facts about a shader that its caller needs for any target: stage, inputs and outputs, resources, sizes. A
//! target's reflection adds its own facts.

mod interface;
mod shape;

use super::Kept;
use crate::ir::layout::{Layouts, Rule, size_of};
use crate::ir::{EntryPoint, ImageDim, ImageType, Module, Space, Type, TypeId};
use crate::kernel::{self, BindingPoint};
pub(super) use interface::settled;
pub use interface::{
    Block, Fed, Interface, InterfacePlace, Payload, Port, Primitives, Resource, ResourceKind, SpecConstant, Texels,
};
use interface::{spec_constants, variables};
use serde::{Deserialize, Serialize};
pub use shape::{Member, Shape, Structure};

/// The descriptor type of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BindingKind {
    Storage,
    Uniform,
}

/// The target-independent interface of a shader.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Reflection {
    pub entry_point: String,
    /// Invocations of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Lanes of a subgroup; `None` if the driver decides.
    pub subgroup_size: Option<u32>,
    /// Bytes of workgroup memory that it declares.
    pub shared_bytes: u32,
    /// Bytes of push constants.
    pub push_bytes: u32,
    pub buffers: Vec<Buffer>,
    /// Images and textures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    #[serde(flatten)]
    pub interface: Interface,
}

/// An image or a texture to bind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Image {
    pub name: String,
    pub set: u32,
    pub binding: u32,
    /// The index in an array of images.
    pub element: u32,
    /// The sampler of a texture, if it is bound separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<SamplerBinding>,
    pub kind: ImageKind,
    /// `2d`, `cube array`, `buffer` and so on.
    pub shape: String,
    /// SPIR-V's number of the texel format (section 3.11, Image Format), 0 if the shader does not state it.
    pub format: u8,
    pub writable: bool,
}

/// The binding of a sampler.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SamplerBinding {
    pub set: u32,
    pub binding: u32,
    pub element: u32,
}

/// How an image is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageKind {
    /// Sampled.
    Texture,
    /// Read and written directly.
    Image,
}

/// A buffer to bind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Buffer {
    pub name: String,
    pub set: u32,
    pub binding: u32,
    pub kind: BindingKind,
    /// The smallest size in bytes.
    pub bytes: u32,
    pub writable: bool,
}

impl Reflection {
    /// The facts about an entry point, for subgroups of this many lanes, including the unused variables that are kept.
    pub fn of(module: &Module, entry: &EntryPoint, kept: Kept, subgroup_size: Option<u32>) -> Reflection {
        let spec_constants = spec_constants(module);
        let module = &mut settled(module);
        let mut interface = Interface::of(module, entry, kept);
        interface.spec_constants = spec_constants;
        Reflection {
            entry_point: entry.name.to_string(),
            workgroup_size: workgroup_size(module, entry),
            subgroup_size,
            shared_bytes: shared_bytes(module, entry),
            push_bytes: interface.push_constants.as_ref().map_or(0, |block| block.bytes),
            buffers: buffers(&interface.resources),
            images: interface.resources.iter().filter_map(Image::of_resource).collect(),
            interface,
        }
    }
}

/// The interface of an entry point and its target's own facts, as JSON.
pub fn json(interface: &Interface, target: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Whole<'a, T> {
        #[serde(flatten)]
        target: &'a T,
        #[serde(flatten)]
        interface: &'a Interface,
    }
    text(&Whole { target, interface })
}

/// The JSON Schema of all reflections from [`text`].
pub const SCHEMA: &str = include_str!("../../../docs/reflection.schema.json");

/// A reflection as JSON text, with the name of its schema.
pub fn text(value: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Named<'a, T> {
        schema: &'static str,
        #[serde(flatten)]
        value: &'a T,
    }
    let named = Named { schema: "crosslane-reflection-1", value };
    serde_json::to_string_pretty(&named).expect("numbers and names always serialize") + "\n"
}

fn workgroup_size(module: &Module, entry: &EntryPoint) -> [u32; 3] {
    let count = |id| module.constants.as_int(&module.types, id).and_then(|count| u32::try_from(count).ok());
    entry.workgroup_size.map(|id| if entry.stage.has_workgroups() { count(id).unwrap_or(0) } else { 1 })
}

/// The variables are consecutive; blocks share their memory, as GL_EXT_shared_memory_block requires.
fn shared_bytes(module: &mut Module, entry: &EntryPoint) -> u32 {
    let shared = variables(module, entry, Kept::None).filter(|(_, global)| global.space == Space::Workgroup);
    let types: Vec<TypeId> = shared.map(|(_, global)| global.ty).collect();
    let (mut layouts, mut top, mut most) = (Layouts::new(), 0u32, 0);
    for ty in types {
        if let Some(bytes) = size_of(&module.types, &module.constants, ty).filter(|_| is_block(module, ty)) {
            most = most.max(bytes);
        } else if let Ok(laid) = layouts.lay_out(module, ty, Rule::Scalar, false) {
            top = top.next_multiple_of(laid.align.max(1)).saturating_add(laid.size);
        }
    }
    top.max(most)
}

fn is_block(module: &Module, ty: TypeId) -> bool {
    matches!(module.types.get(ty), Type::Struct(id) if module.types.structs[id].block)
}

/// The buffers among resources, each place once.
fn buffers(resources: &[Resource]) -> Vec<Buffer> {
    let mut buffers: Vec<Buffer> = Vec::new();
    for buffer in resources.iter().filter_map(Buffer::of) {
        match buffers.iter_mut().find(|known| (known.set, known.binding) == (buffer.set, buffer.binding)) {
            Some(known) => known.merge(&buffer),
            None => buffers.push(buffer),
        }
    }
    buffers
}

impl Image {
    /// An image of a kernel.
    pub fn of(image: &kernel::Image) -> Image {
        let BindingPoint { set, binding, element } = image.place;
        let place = |BindingPoint { set, binding, element }| SamplerBinding { set, binding, element };
        Image {
            name: image.name.to_string(),
            set,
            binding,
            element,
            sampler: image.sampler.map(place),
            kind: if image.ty.storage { ImageKind::Image } else { ImageKind::Texture },
            shape: shape_of(image.ty),
            format: image.ty.format,
            writable: image.writable,
        }
    }

    /// An image or a texture among resources.
    fn of_resource(resource: &Resource) -> Option<Image> {
        let texels = resource.image.as_ref()?;
        let is_image = matches!(resource.kind, ResourceKind::Image | ResourceKind::StorageTexelBuffer);
        Some(Image {
            name: resource.name.clone(),
            set: resource.set?,
            binding: resource.binding?,
            element: 0,
            sampler: None,
            kind: if is_image { ImageKind::Image } else { ImageKind::Texture },
            shape: texels.shape.clone(),
            format: texels.format,
            writable: resource.writable,
        })
    }
}

fn shape_of(ty: ImageType) -> String {
    let dim = match ty.dim {
        ImageDim::D1 => "1d",
        ImageDim::D2 | ImageDim::SubpassInput | ImageDim::Tile => "2d",
        ImageDim::D3 => "3d",
        ImageDim::Cube => "cube",
        ImageDim::Rect => "rect",
        ImageDim::Buffer => "buffer",
    };
    let samples = if ty.multisampled { " multisampled" } else { "" };
    format!("{dim}{samples}{}", if ty.arrayed { " array" } else { "" })
}

impl Buffer {
    fn of(resource: &Resource) -> Option<Buffer> {
        let kind = match resource.kind {
            ResourceKind::UniformBuffer => BindingKind::Uniform,
            ResourceKind::StorageBuffer => BindingKind::Storage,
            _ => return None,
        };
        Some(Buffer {
            name: resource.name.clone(),
            set: resource.set?,
            binding: resource.binding?,
            kind,
            bytes: resource.bytes?,
            writable: resource.writable,
        })
    }

    /// Merges two views of the same buffer.
    fn merge(&mut self, other: &Buffer) {
        self.bytes = self.bytes.max(other.bytes);
        self.writable |= other.writable;
        if other.kind == BindingKind::Storage {
            self.kind = BindingKind::Storage;
        }
    }
}
