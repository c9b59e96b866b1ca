//! Module-scope variables: resources at their registers, memory of workgroups and of invocations.

use super::Hlsl;
use super::layout::{Packing, Part, bytes, lay_out, lies_alike};
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::writer::Writer;
use crate::ir::{Access, ArrayLen, Binding, Global, GlobalId, ImageDim, ImageType, Space, StructId, Type, TypeId};

/// The register space of push constants, of which no descriptor set has the number.
const PUSH_SPACE: u32 = 255;

/// Bytes of a structured buffer's element at most (`D3D12_REQ_MULTI_ELEMENT_STRUCTURE_SIZE_IN_BYTES`).
const MOST_STRIDE: u32 = 2048;

/// How a block of a buffer is spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::backend::source) enum Form {
    /// `ConstantBuffer<T>`, or a `cbuffer` of its members where the block has no name of its own.
    Constants,
    /// A `cbuffer` of rows, where the language cannot lay the block out as it is.
    Rows,
    /// `StructuredBuffer<T>` of the elements of its only member.
    Elements,
    /// `ByteAddressBuffer`.
    Bytes,
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
        let init = global.init.map_or_else(String::new, |init| format!(" = {}", t.initial(init)));
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
                let place = places.of(set, binding);
                let chosen = place.map(|place| (place.group.unwrap_or(set), place.number));
                // An array takes as many registers, which others may have.
                let own = if is_many {
                    (set.saturating_add(1).saturating_mul(1000).saturating_add(binding), 0)
                } else {
                    (set, binding)
                };
                let (space, index) = chosen.unwrap_or(own);
                (if is_brought { Role::Sampler(set, binding) } else { Role::Resource(set, binding) }, space, index)
            }
            _ => {
                let chosen = places.push_constants.map(|place| (place.group.unwrap_or(0), place.number));
                let (space, index) = chosen.unwrap_or((PUSH_SPACE, 0));
                (Role::PushConstants, space, index)
            }
        };
        t.slots.push(Slot { name: name.to_string(), role, kind, space, index, span: t.span });
        match space {
            0 => format!(" : register({kind}{index})"),
            _ => format!(" : register({kind}{index}, space{space})"),
        }
    }

    /// Lengths of an array of resources.
    fn dims_of(&self, t: &mut Writer, ty: TypeId) -> String {
        let mut dims = String::new();
        let mut ty = ty;
        while let Type::Array { element, len, .. } = t.types.get(ty) {
            let length = t.length(len);
            dims.push_str(&format!("[{length}]"));
            ty = element;
        }
        dims
    }

    fn handle(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let name = t.global_names.get(&id).cloned().unwrap_or_default();
        let inner = t.types.get(t.innermost(global.ty));
        let dims = self.dims_of(t, global.ty);
        match inner {
            Type::Sampler => {
                let ty = sampler_type(t.compares(id));
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
            Type::AccelerationStructure => t.unsupported("ray queries"),
            _ => t.unsupported("variables of this kind"),
        }
        name
    }

    fn texture(&self, t: &mut Writer, (name, dims): (&str, &str), global: &Global, image: ImageType) {
        let ty = t.handle_name(Type::Image(image));
        let kind = if image.storage { "u" } else { "t" };
        let register = self.register(t, name, global, kind);
        let before = if image.storage { coherence(global.access) } else { "" };
        t.variables.push(format!("{before}{ty} {name}{dims}{register};"));
    }

    /// The name of the sampler that a texture brings with it.
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
        if let Some(known) = t.hlsl.forms.get(&id) {
            return *known;
        }
        let global = &t.module.globals[id];
        let form = match (global.space, t.block_of(global.ty)) {
            // Not every compiler takes arrays of structured buffers.
            (Space::Storage, Some(of))
                if !matches!(t.types.get(global.ty), Type::Array { .. }) && self.element_of(t, of).is_some() =>
            {
                Form::Elements
            }
            (Space::Storage, _) => Form::Bytes,
            (_, Some(of)) if lay_out(t, of, Packing::Rows, None).is_some() => Form::Constants,
            _ => Form::Rows,
        };
        t.hlsl.forms.insert(id, form);
        form
    }

    /// The type of the elements that are all of a block, and their stride, if the language lays them out as they are.
    pub fn element_of(&self, t: &Writer, block: StructId) -> Option<(TypeId, u32)> {
        let [member] = t.types.structs[block].members.as_slice() else { return None };
        let Type::Array { element, len: ArrayLen::Runtime, stride: Some(stride) } = t.types.get(member.ty) else {
            return None;
        };
        let is_one = !matches!(t.types.get(element), Type::Array { .. } | Type::Matrix { .. });
        (is_one
            && stride <= MOST_STRIDE
            && member.offset == Some(0)
            && lies_alike(t, element, Packing::Scalars, stride))
        .then_some((element, stride))
    }

    fn block(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let Some(of) = t.block_of(global.ty) else {
            t.unsupported("variables of this kind");
            return String::new();
        };
        let dims = self.dims_of(t, global.ty);
        let form = self.form(t, id);
        let block_name = t.block_names.get(&id).cloned().unwrap_or_default();
        let own = t.global_names.get(&id).cloned();
        let members = t.block_members.get(&id).cloned();
        let is_written = !access_of(t, global, of).contains(Access::READONLY);
        let name = match (&own, &members, form) {
            (Some(own), ..) => own.clone(),
            (None, Some(members), Form::Elements) => members[0].clone(),
            _ => block_name.clone(),
        };
        let before = coherence(access_of(t, global, of));
        match form {
            Form::Constants if own.is_none() => {
                let register = self.register(t, &name, global, "b");
                let names = members.unwrap_or_else(|| t.member_names(of));
                let lines = self.member_lines(t, of, (Packing::Rows, None), &names);
                t.variables.push(format!("cbuffer {block_name}{register} {{"));
                t.variables.extend(lines);
                t.variables.push("};".to_string());
            }
            Form::Constants => {
                let register = self.register(t, &name, global, "b");
                let names = t.member_names(of);
                let lines = self.member_lines(t, of, (Packing::Rows, None), &names);
                t.structs.push(format!("struct {block_name} {{"));
                t.structs.extend(lines);
                t.structs.push("};".to_string());
                t.variables.push(format!("ConstantBuffer<{block_name}> {name}{dims}{register};"));
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
            Form::Elements => {
                let (kind, word) = if is_written { ("u", "RW") } else { ("t", "") };
                let register = self.register(t, &name, global, kind);
                let (element, stride) = self.element_of(t, of).unwrap_or((global.ty, 0));
                let ty = self.laid_name(t, element, (Packing::Scalars, Some(stride)));
                t.variables.push(format!("{before}{word}StructuredBuffer<{ty}> {name}{dims}{register};"));
            }
            Form::Bytes => {
                let (kind, word) = if is_written { ("u", "RW") } else { ("t", "") };
                let register = self.register(t, &name, global, kind);
                t.variables.push(format!("{before}{word}ByteAddressBuffer {name}{dims}{register};"));
            }
        }
        name
    }

    /// The declarations of a laid-out struct's members, with those that pad.
    fn member_lines(
        &self,
        t: &mut Writer,
        of: StructId,
        (packing, stride): (Packing, Option<u32>),
        names: &[String],
    ) -> Vec<String> {
        let Some(laid) = lay_out(t, of, packing, stride) else {
            t.internal("a struct that it does not lay out");
            return Vec::new();
        };
        let members = t.types.structs[of].members.clone();
        let mut lines = Vec::new();
        for part in &laid.parts {
            match part {
                Part::Pad { offset, words } => lines.extend(pad_lines(packing, *offset, *words)),
                Part::Member(index) => {
                    let ty = members[*index].ty;
                    let order = matrix_order(t, ty);
                    let dims = self.dims_of(t, ty);
                    let stride = stride_of(t, ty);
                    let base = self.laid_name(t, t.innermost(ty), (packing, stride));
                    lines.push(format!("    {order}{base} {}{dims};", names[*index]));
                }
            }
        }
        lines
    }

    /// The name of a laid-out type that is no array: structs that the language lays out as they are keep theirs.
    fn laid_name(&self, t: &mut Writer, ty: TypeId, how: (Packing, Option<u32>)) -> String {
        let Type::Struct(of) = t.types.get(ty) else {
            return t.type_name(ty);
        };
        if is_as_logical(t, of, how) {
            return t.struct_name(of);
        }
        if let Some(known) = t.hlsl.laid_names.get(&(of, how.0 == Packing::Rows, how.1)) {
            return known.clone();
        }
        let base = t.types.structs[t.logical(of)].name.clone();
        let name = t.names.unique(&format!("{base}_laid_out"), None);
        t.hlsl.laid_names.insert((of, how.0 == Packing::Rows, how.1), name.clone());
        let names = t.member_names(of);
        let lines = self.member_lines(t, of, how, &names);
        t.structs.push(format!("struct {name} {{"));
        t.structs.extend(lines);
        t.structs.push("};".to_string());
        name
    }
}

/// Members for so many words from an offset on. In rows an array has a row for each element, so that it holds whole rows.
fn pad_lines(packing: Packing, offset: u32, words: u32) -> Vec<String> {
    let whole = match packing {
        Packing::Scalars if words > 1 => return vec![format!("    uint pad_{offset}[{words}];")],
        Packing::Scalars => 0,
        Packing::Rows => words.saturating_sub((4 - offset % 16 / 4) % 4) / 4,
    };
    let head = if whole > 0 { (4 - offset % 16 / 4) % 4 } else { words };
    let single = |from: u32, count: u32| (0..count).map(move |n| format!("    uint pad_{};", from + 4 * n));
    let rows = (whole > 0).then(|| format!("    uint4 pad_{}[{whole}];", offset + 4 * head));
    let tail = single(offset + 4 * head + 16 * whole, words - head - 4 * whole);
    single(offset, head).chain(rows).chain(tail).collect()
}

/// The stride of the innermost array of a type.
fn stride_of(t: &Writer, ty: TypeId) -> Option<u32> {
    match t.types.get(ty) {
        Type::Array { element, stride, .. } => match t.types.get(element) {
            Type::Array { .. } => stride_of(t, element),
            _ => stride,
        },
        _ => None,
    }
}

/// Returns true if a laid-out struct is spelled as the logical one.
fn is_as_logical(t: &Writer, of: StructId, (packing, stride): (Packing, Option<u32>)) -> bool {
    let Some(laid) = lay_out(t, of, packing, stride) else { return false };
    let has_no_pads = laid.parts.iter().all(|part| matches!(part, Part::Member(_)));
    has_no_pads && t.types.structs[of].members.iter().all(|member| is_plain(t, member.ty, packing, None))
}

/// Returns true if a laid-out type is spelled as the logical one.
pub(super) fn is_plain(t: &Writer, ty: TypeId, packing: Packing, stride: Option<u32>) -> bool {
    match t.types.get(ty) {
        Type::Struct(of) => is_as_logical(t, of, (packing, stride)),
        Type::Array { element, stride, .. } => is_plain(t, element, packing, stride),
        Type::Matrix { layout: Some(layout), .. } => !layout.row_major,
        _ => true,
    }
}

/// The order of a matrix's components in memory, where a type is one or an array of such.
pub(super) fn matrix_order(t: &Writer, ty: TypeId) -> &'static str {
    match t.types.get(t.innermost(ty)) {
        Type::Matrix { layout: Some(layout), .. } if layout.row_major => "column_major ",
        Type::Matrix { .. } => "row_major ",
        _ => "",
    }
}

/// Bytes of a laid-out block.
fn size_of(t: &Writer, of: StructId) -> u32 {
    let ends = t.types.structs[of].members.iter().map(|member| member.offset.unwrap_or(0) + size(t, member.ty));
    ends.max().unwrap_or(0)
}

fn size(t: &Writer, ty: TypeId) -> u32 {
    match t.types.get(ty) {
        Type::Matrix { columns, rows, layout: Some(layout), .. } => {
            layout.stride * u32::from(if layout.row_major { rows } else { columns })
        }
        Type::Array { len: ArrayLen::Fixed(len), stride: Some(stride), .. } => stride.saturating_mul(len),
        Type::Struct(of) => size_of(t, of),
        _ => {
            let each = t.types.scalar_of(ty).map_or(4, bytes);
            u32::from(t.types.components(ty).unwrap_or(1)) * each
        }
    }
}

/// Qualifiers of a block, and those that all of its members have.
fn access_of(t: &Writer, global: &Global, of: StructId) -> Access {
    let members = &t.types.structs[of].members;
    let shared = members.iter().map(|member| member.access).reduce(|a, b| a & b).unwrap_or_default();
    let any = members.iter().map(|member| member.access & Access::COHERENT.union(Access::VOLATILE));
    any.fold(global.access | shared, |all, one| all | one)
}

/// The type of a sampler, of one that compares or not.
pub(super) const fn sampler_type(compares: bool) -> &'static str {
    if compares { "SamplerComparisonState" } else { "SamplerState" }
}

fn coherence(access: Access) -> &'static str {
    if access.intersects(Access::COHERENT | Access::VOLATILE) { "globallycoherent " } else { "" }
}
