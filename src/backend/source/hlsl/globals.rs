//! Module-scope variables: resources at their registers, memory of workgroups and of invocations.

use super::rays::is_passed;
use super::{Hlsl, State};
use crate::backend::source::globals::access_of;
use crate::backend::source::globals::is_indexed;
use crate::backend::source::image::Root;
use crate::backend::source::layout::{How, Packing, elements, lay_out, size_of};
use crate::backend::source::place::Form;
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::writer::Writer;
use crate::ir::{
    Access, ArrayLen, Binding, ConstId, ConstValue, Global, GlobalId, ImageDim, ImageType, Space, StructId, Type,
    TypeId,
};

/// The register space of push constants, which no descriptor set uses.
const PUSH_SPACE: u32 = 255;

/// The last constant buffer of a version without spaces: push constants; the host's constants precede it.
pub(super) const LAST_CONSTANTS: u32 = 13;

/// The layout of constant buffers.
const ROWS: How = How::of(Packing::Rows);

/// Bytes of a structured buffer's element at most (`D3D12_REQ_MULTI_ELEMENT_STRUCTURE_SIZE_IN_BYTES`).
const MOST_STRIDE: u32 = 2048;

/// True if the entry point assigns the initial value of a variable: a constant that holds a struct. If a function constructs
/// a struct or a part of it and assigns it once, DXC takes the two for the same memory and loses the initial value.
pub(super) fn is_assigned_at_entry(t: &Writer, init: ConstId) -> bool {
    let constant = t.module.constants.get(init);
    let is_list = matches!(constant.value, ConstValue::Composite(_));
    is_list && t.types.holds(constant.ty, |ty| matches!(ty, Type::Struct(_)))
}

/// True if a variable without an initial value gets zeros: a struct that holds a matrix or an array. DXC takes one that is
/// assigned once and the assigned struct for the same memory, and makes an invalid module where their matrices or vectors
/// lie in different ways.
fn is_zeroed(t: &Writer, ty: TypeId) -> bool {
    let is_many = |ty| matches!(ty, Type::Matrix { .. } | Type::Array { .. });
    matches!(t.types.get(ty), Type::Struct(_)) && t.types.holds(ty, is_many)
}

impl State {
    /// The prefix of the names of writable views.
    pub fn writable_word(&self) -> &'static str {
        if self.is_ordered { "RasterizerOrdered" } else { "RW" }
    }
}

impl Hlsl {
    pub fn declare(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        match global.space {
            Space::Private => self.private(t, id, global),
            Space::Workgroup => {
                let name = t.global_names.get(&id).cloned().unwrap_or_default();
                let (ty, dims) = t.declared(global.ty);
                t.variables.push(format!("groupshared {ty} {name}{dims};"));
                name
            }
            Space::Input | Space::Output => self.declare_port(t, id, global),
            Space::Handle => self.handle(t, id, global),
            space if is_passed(space) => self.declare_passed(t, id, global),
            Space::ShaderRecord => {
                t.unsupported("shader records");
                String::new()
            }
            Space::TaskPayload => self.declare_payload(t, id, global),
            Space::Uniform | Space::PushConstant | Space::Storage => self.block(t, id, global),
            _ => {
                t.unsupported("variables of this kind");
                String::new()
            }
        }
    }

    fn private(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let name = t.global_names.get(&id).cloned().unwrap_or_default();
        let (ty, dims) = t.declared(global.ty);
        let init = global.init.filter(|init| !is_assigned_at_entry(t, *init));
        let init = match init {
            Some(init) => format!(" = {}", t.initial(init)),
            None if is_zeroed(t, global.ty) => format!(" = {}", self.zero(t, global.ty).text),
            None => String::new(),
        };
        t.variables.push(format!("static {ty} {name}{dims}{init};"));
        name
    }

    /// The register of a resource, as it follows a declaration.
    fn register(&self, t: &mut Writer, name: &str, global: &Global, kind: &'static str) -> String {
        let places = &t.options.places;
        let is_many = matches!(t.types.get(global.ty), Type::Array { len, .. } if len != ArrayLen::Fixed(1));
        let is_brought = kind == "s" && !matches!(t.types.get(t.innermost(global.ty)), Type::Sampler);
        let (role, space, index) = match global.binding {
            Binding::Resource { set, binding } | Binding::Attachment { set, binding, .. } => {
                // Without spaces, the registers were assigned earlier.
                let place = places.of(set, binding).filter(|_| self.has_spaces);
                let chosen = place.map(|place| (place.group.unwrap_or(set), place.number));
                // An array occupies several registers, which may conflict with others.
                let own = if is_many && self.has_spaces {
                    (set.saturating_add(1).saturating_mul(1000).saturating_add(binding), 0)
                } else {
                    (set, binding)
                };
                let (space, index) = chosen.unwrap_or(own);
                (if is_brought { Role::Sampler(set, binding) } else { Role::Resource(set, binding) }, space, index)
            }
            _ => {
                let chosen = places.push_constants.map(|place| (place.group.unwrap_or(0), place.number));
                let own = if self.has_spaces { (PUSH_SPACE, 0) } else { (0, LAST_CONSTANTS) };
                let (space, index) = chosen.unwrap_or(own);
                (Role::PushConstants, space, index)
            }
        };
        t.slots.push(Slot { name: name.to_string(), role, kind, space, index, count: 1, span: t.span });
        match space {
            0 => format!(" : register({kind}{index})"),
            _ => format!(" : register({kind}{index}, space{space})"),
        }
    }

    fn handle(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let name = t.global_names.get(&id).cloned().unwrap_or_default();
        let inner = t.types.get(t.innermost(global.ty));
        let dims = t.dims_of(global.ty);
        self.check_array(t, id);
        match inner {
            Type::Sampler => {
                let ty = sampler_type(t.image_use(Root::Global(id)).compares);
                let register = self.register(t, &name, global, "s");
                t.variables.push(format!("{ty} {name}{dims}{register};"));
            }
            Type::Image(image) => self.texture(t, (&name, &dims), global, image),
            Type::SampledImage(image) => {
                self.texture(t, (&name, &dims), global, image);
                if image.dim != ImageDim::Buffer {
                    let sampler = self.sampler_name(t, id);
                    let ty = sampler_type(image.depth);
                    let register = self.register(t, &sampler, global, "s");
                    t.variables.push(format!("{ty} {sampler}{dims}{register};"));
                }
            }
            Type::AccelerationStructure => {
                let register = self.register(t, &name, global, "t");
                t.variables.push(format!("RaytracingAccelerationStructure {name}{dims}{register};"));
            }
            _ => t.unsupported("variables of this kind"),
        }
        name
    }

    fn texture(&self, t: &mut Writer, (name, dims): (&str, &str), global: &Global, image: ImageType) {
        let ty = t.handle_name(Type::Image(image));
        let kind = if image.is_writable() { "u" } else { "t" };
        let register = self.register(t, name, global, kind);
        let before = if image.is_writable() { coherence(global.access) } else { "" };
        t.variables.push(format!("{before}{ty} {name}{dims}{register};"));
    }

    /// Rejects resource arrays that Shader Model 5.0 lacks and that did not become variables.
    fn check_array(&self, t: &mut Writer, id: GlobalId) {
        let Type::Array { len, .. } = t.types.get(t.module.globals[id].ty) else { return };
        match len {
            _ if self.has_spaces => {}
            ArrayLen::Runtime => t.lacks("arrays of resources of any length before Shader Model 5.1"),
            _ if is_indexed(t.module, id) => {
                t.lacks("arrays of so many resources at an index that is not a constant before Shader Model 5.1");
            }
            _ => {}
        }
    }

    /// A constant buffer with a struct, before Shader Model 5.1.
    fn constants_of(&self, t: &mut Writer, block_name: &str, name: &str, register: &str) {
        let buffer = t.names.unique(&format!("{block_name}_buffer"), None);
        t.variables.push(format!("cbuffer {buffer}{register} {{"));
        t.variables.push(format!("    {block_name} {name};"));
        t.variables.push("};".to_string());
    }

    /// The name of a combined texture's sampler.
    pub fn sampler_name(&self, t: &mut Writer, id: GlobalId) -> String {
        if let Some(known) = t.hlsl.sampler_names.get(&id) {
            return known.clone();
        }
        let base = format!("{}_sampler", t.global_names.get(&id).map_or("", String::as_str));
        let name = t.names.unique(&base, None);
        t.hlsl.sampler_names.insert(id, name.clone());
        name
    }

    /// How a block is spelled.
    pub fn form(&self, t: &mut Writer, id: GlobalId) -> Form {
        if let Some(known) = t.forms.get(&id) {
            return *known;
        }
        let global = &t.module.globals[id];
        // Not every compiler supports arrays of structured buffers.
        let is_many = matches!(t.types.get(global.ty), Type::Array { .. });
        let form = match (global.space, t.block_of(global.ty)) {
            (Space::Storage, Some(of)) if !is_many && self.element_of(t, of).is_some() => {
                Form::Elements { packing: Packing::Scalars, is_packed: false }
            }
            (Space::Storage, _) => Form::Bytes,
            (_, Some(of)) if lay_out(t, of, ROWS).is_some() => Form::Struct(Packing::Rows),
            _ => Form::Rows,
        };
        t.forms.insert(id, form);
        form
    }

    /// The type and stride of the elements that make up a block, if the language's layout of them is the same.
    pub fn element_of(&self, t: &mut Writer, block: StructId) -> Option<(TypeId, u32)> {
        let (element, stride) = t.only_array(block)?;
        let is_one = !matches!(t.types.get(element), Type::Array { .. } | Type::Matrix { .. });
        let is_it = is_one && stride <= MOST_STRIDE && elements(t, element, Packing::Scalars, stride).is_some();
        is_it.then_some((element, stride))
    }

    fn block(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let Some(of) = t.block_of(global.ty) else {
            t.unsupported("variables of this kind");
            return String::new();
        };
        let dims = t.dims_of(global.ty);
        self.check_array(t, id);
        let form = self.form(t, id);
        let block_name = t.block_names.get(&id).cloned().unwrap_or_default();
        let own = t.global_names.get(&id).cloned();
        let members = t.block_members.get(&id).cloned();
        let before = coherence(access_of(t, global, of));
        // Only an unordered access view is coherent with other invocations' writes.
        let is_view = !before.is_empty() || !access_of(t, global, of).contains(Access::READONLY);
        let name = match (&own, &members, form) {
            (Some(own), ..) => own.clone(),
            (None, Some(members), Form::Elements { .. }) => members[0].clone(),
            _ => block_name.clone(),
        };
        match form {
            Form::Struct(_) if own.is_none() => {
                let register = self.register(t, &name, global, "b");
                let names = members.unwrap_or_else(|| t.member_names(of));
                let lines = t.member_lines(of, ROWS, &names);
                t.variables.push(format!("cbuffer {block_name}{register} {{"));
                t.variables.extend(lines);
                t.variables.push("};".to_string());
            }
            Form::Struct(_) => {
                let register = self.register(t, &name, global, "b");
                let names = t.member_names(of);
                let lines = t.member_lines(of, ROWS, &names);
                t.declare_struct_of(&block_name, lines, t.types.structs[of].span);
                match self.has_spaces {
                    true => t.variables.push(format!("ConstantBuffer<{block_name}> {name}{dims}{register};")),
                    false => self.constants_of(t, &block_name, &name, &register),
                }
            }
            Form::Rows => {
                let register = self.register(t, &name, global, "b");
                if !dims.is_empty() {
                    t.unsupported("arrays of blocks that constant buffers lay out otherwise");
                }
                let rows = size_of(t, of).div_ceil(16);
                t.variables.push(format!("cbuffer {block_name}{register} {{"));
                t.variables.push(format!("    uint4 {name}_rows[{rows}];"));
                t.variables.push("};".to_string());
                return format!("{name}_rows");
            }
            Form::Elements { .. } => {
                let (kind, word) = if is_view { ("u", t.hlsl.writable_word()) } else { ("t", "") };
                let register = self.register(t, &name, global, kind);
                let (element, stride) = self.element_of(t, of).unwrap_or((global.ty, 0));
                let ty = t.laid_name(element, How::of(Packing::Scalars).element(stride), false);
                t.variables.push(format!("{before}{word}StructuredBuffer<{ty}> {name}{dims}{register};"));
            }
            Form::Bytes => {
                let (kind, word) = if is_view { ("u", t.hlsl.writable_word()) } else { ("t", "") };
                let register = self.register(t, &name, global, kind);
                t.variables.push(format!("{before}{word}ByteAddressBuffer {name}{dims}{register};"));
            }
        }
        name
    }
}

/// Padding members for this many words from an offset on. With row packing an array has a row per element, so it
/// consists of whole rows.
pub(super) fn pad_lines(packing: Packing, offset: u32, words: u32) -> Vec<String> {
    let whole = match packing {
        Packing::Scalars if words > 1 => return vec![format!("    uint pad_{offset}[{words}];")],
        _ if packing != Packing::Rows => 0,
        _ => words.saturating_sub((4 - offset % 16 / 4) % 4) / 4,
    };
    let head = if whole > 0 { (4 - offset % 16 / 4) % 4 } else { words };
    let single = |from: u32, count: u32| (0..count).map(move |n| format!("    uint pad_{};", from + 4 * n));
    let rows = (whole > 0).then(|| format!("    uint4 pad_{}[{whole}];", offset + 4 * head));
    let tail = single(offset + 4 * head + 16 * whole, words - head - 4 * whole);
    single(offset, head).chain(rows).chain(tail).collect()
}

/// The component order of a matrix, or an array of matrices, in memory.
pub(super) fn matrix_order(t: &Writer, ty: TypeId) -> &'static str {
    match t.types.get(t.innermost(ty)) {
        Type::Matrix { layout: Some(layout), .. } if layout.row_major => "column_major ",
        Type::Matrix { .. } => "row_major ",
        _ => "",
    }
}

/// The type of a sampler, with or without comparison.
pub(super) const fn sampler_type(compares: bool) -> &'static str {
    if compares { "SamplerComparisonState" } else { "SamplerState" }
}

fn coherence(access: Access) -> &'static str {
    if access.intersects(Access::COHERENT | Access::VOLATILE) { "globallycoherent " } else { "" }
}
