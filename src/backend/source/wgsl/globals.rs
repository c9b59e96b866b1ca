//! Module-scope variables other than a stage's inputs and outputs (WGSL 7.3 and 14.3).

use super::Wgsl;
use super::function::sampler_name;
use super::types::CLOSE;
use crate::backend::source::globals::access_of;
use crate::backend::source::image::Root;
use crate::backend::source::layout::{self, How, Packing};
use crate::backend::source::place::{Form, is_buffer};
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::writer::Writer;
use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::ir::uniform::is_written;
use crate::ir::{
    Access, Binding, ConstValue, Function, Global, GlobalId, Module, Op, Other, ResourceClass, Space, Stage, StructId,
    Type, TypeId, Value, link,
};
use crate::limits;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Bytes of a row of a uniform buffer; arrays and structs start a new row (WGSL 14.4.5).
const ROW: u32 = 16;

/// The arrays of resources that do not become separate variables.
const ARRAYS: &str = "arrays of resources with more than 16 elements, or without a length";

impl Wgsl {
    /// Declares a variable.
    pub fn declare(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let name = t.global_names.get(&id).cloned().unwrap_or_default();
        match global.space {
            Space::Private => self.declare_private(t, &name, global),
            Space::Workgroup => {
                // It starts as zeros.
                let ty = self.memory_type(t, global.ty, How::of(Packing::Free), is_reached(t, id, global.ty));
                t.variables.push(format!("var<workgroup> {name}: {ty};"));
            }
            Space::Handle => self.declare_handle(t, &name, id, global),
            Space::Uniform | Space::Storage => self.declare_block(t, &name, id, global),
            Space::PushConstant => self.lacks_push_constants(t),
            Space::Input | Space::Output => {}
            _ => t.unsupported("variables of this kind"),
        }
        name
    }

    fn declare_private(&self, t: &mut Writer, name: &str, global: &Global) {
        let ty = t.type_name(global.ty);
        let init = global.init.filter(|init| !is_zero(t, *init));
        if init.is_some_and(|init| !self.is_constant(t, init)) {
            t.unsupported("variables that start with specialization constants, infinities or NaN");
        }
        let init = init.map_or_else(String::new, |init| format!(" = {}", t.spelled(init).text));
        t.variables.push(format!("var<private> {name}: {ty}{init};"));
    }

    fn lacks_push_constants(&self, t: &mut Writer) {
        let message = cannot_write("push constants", t.language.name());
        let advice = "`--push-constants GROUP:BINDING` puts them into a uniform buffer";
        let error = Diagnostic::error(Code::NOT_SUPPORTED, message).at(t.span, "").note(advice);
        t.diagnostics.push(error);
    }

    fn declare_handle(&self, t: &mut Writer, name: &str, id: GlobalId, global: &Global) {
        let of = t.image_use(Root::Global(id));
        let access = global.access;
        let ty = match t.types.get(global.ty) {
            Type::Sampler => sampler_name(of.compares).to_string(),
            Type::Image(image) | Type::SampledImage(image) => {
                let (reads, writes) =
                    (of.reads && !access.contains(Access::WRITEONLY), of.writes && !access.contains(Access::READONLY));
                if writes && t.module.entry_points.iter().any(|entry| entry.stage == Stage::Vertex) {
                    t.lacks("storage textures that vertex shaders write");
                }
                let of = crate::backend::source::image::ImageUse { reads, writes, ..of };
                self.texture_name(t, image, of)
            }
            Type::Array { .. } => return t.lacks(ARRAYS),
            Type::AccelerationStructure => return t.unsupported("ray queries"),
            Type::AtomicCounter => return t.unsupported("atomic counters"),
            _ => return t.unsupported("variables of this kind"),
        };
        self.declare_bound(t, name, global, &format!("var {name}: {ty};"));
    }

    /// Declares a variable at its group and binding.
    fn declare_bound(&self, t: &mut Writer, name: &str, global: &Global, line: &str) {
        let (Binding::Resource { set, binding } | Binding::Attachment { set, binding, .. }) = global.binding else {
            return t.unsupported("variables of this kind");
        };
        let slot = Slot {
            name: name.to_string(),
            role: Role::Resource(set, binding),
            kind: "resource",
            space: set,
            index: binding,
            count: 1,
            span: global.span,
        };
        // Variables of several entry points may share a place.
        let is_alone = t.module.entry_points.len() == 1;
        if is_alone && t.slots.iter().any(|other| (other.space, other.index) == (set, binding)) {
            t.lacks("two variables at one binding");
        }
        t.slots.push(slot);
        t.variables.push(format!("@group({set}) @binding({binding}) {line}"));
    }

    fn declare_block(&self, t: &mut Writer, name: &str, id: GlobalId, global: &Global) {
        if matches!(t.types.get(global.ty), Type::Array { .. }) {
            return t.lacks(ARRAYS);
        }
        let Some(of) = t.block_of(global.ty) else { return t.unsupported("variables of this kind") };
        let ty = match self.form(t, id) {
            Form::Elements { packing, .. } => {
                let member = t.types.structs[of].members[0].ty;
                let is_atomic = t.atomic_members.contains(&(of, 0));
                self.memory_type(t, member, How::of(packing), is_atomic)
            }
            Form::Bytes => return t.lacks(CLOSE),
            _ => self.block_name(t, id, of),
        };
        if global.space == Space::Uniform && !self.is_in_rows(t, global.ty) {
            t.lacks("uniform buffers with arrays and structs closer to each other than 16 bytes");
        }
        let space = match global.space {
            Space::Uniform => "uniform".to_string(),
            _ => format!("storage, {}", self.storage_access(t, id, global, of)),
        };
        self.declare_bound(t, name, global, &format!("var<{space}> {name}: {ty};"));
    }

    /// The struct of a block, which is declared on first use.
    fn block_name(&self, t: &mut Writer, id: GlobalId, of: StructId) -> String {
        let how = How::of(Packing::Sized);
        if let Some(known) = t.laid_names.get(&(of, how)) {
            return known.clone();
        }
        let name = t.block_names.get(&id).cloned().unwrap_or_default();
        t.laid_names.insert((of, how), name.clone());
        let names = t.member_names(of);
        let lines = self.member_lines(t, of, how, &names);
        t.declare_struct_of(&name, lines, t.types.structs[of].span);
        name
    }

    /// Blocks are read-only if they, or all of their members, are declared so. Vertex shaders have no others.
    fn storage_access(&self, t: &mut Writer, id: GlobalId, global: &Global, of: StructId) -> &'static str {
        if access_of(t, global, of).contains(Access::READONLY) {
            return "read";
        }
        let stages = &t.module.entry_points;
        let of_vertices = stages.iter().filter(|entry| entry.stage == Stage::Vertex).count();
        if of_vertices > 0 {
            if !is_written(t.module, id) {
                return "read";
            } else if of_vertices == stages.len() {
                t.lacks("buffers that vertex shaders write");
            }
        }
        "read_write"
    }

    /// The form of a block: one with a single member is that member, unless the shader copies it as a whole.
    pub fn form(&self, t: &mut Writer, id: GlobalId) -> Form {
        if let Some(known) = t.forms.get(&id) {
            return *known;
        }
        let global = &t.module.globals[id];
        let form = match t.block_of(global.ty) {
            _ if !is_buffer(global.space) => Form::Struct(Packing::Free),
            // It was already refused at its declaration.
            Some(of) if layout::lay_out(t, of, How::of(Packing::Sized)).is_none() => Form::Bytes,
            Some(of) if is_alone(t, of) && !self.is_copied(t, id) => {
                Form::Elements { packing: Packing::Sized, is_packed: false }
            }
            _ => Form::Struct(Packing::Sized),
        };
        t.forms.insert(id, form);
        form
    }

    /// Returns true if a function loads or stores all of a variable.
    fn is_copied(&self, t: &mut Writer, id: GlobalId) -> bool {
        let module = t.module;
        t.wgsl.copied.get_or_insert_with(|| copied(module)).contains(&id)
    }

    /// The name of a block's variable without an instance name.
    pub fn block_variable(&self, t: &mut Writer, id: GlobalId, of: StructId) -> String {
        let is_elements = is_buffer(t.module.globals[id].space) && t.is_elements(id);
        let item = &t.types.structs[of];
        if let (true, Some(member)) = (is_elements, item.members.first()) {
            return member.name.to_string();
        }
        let mut name = item.name.to_string();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        name
    }

    /// Returns true if a type has a layout that the language allows in uniform buffers.
    fn is_in_rows(&self, t: &Writer, ty: TypeId) -> bool {
        match t.types.get(ty) {
            Type::Array { element, stride, .. } => {
                stride.is_some_and(|stride| stride.is_multiple_of(ROW)) && self.is_in_rows(t, element)
            }
            Type::Matrix { scalar, rows, layout: Some(layout), .. } => {
                layout::is_natural(scalar, rows, layout) || layout.stride.is_multiple_of(ROW)
            }
            Type::Struct(of) => {
                let members = &t.types.structs[of].members;
                let is_composite = |ty: TypeId| matches!(t.types.get(ty), Type::Struct(_) | Type::Array { .. });
                let is_it = |at: usize| {
                    let member = &members[at];
                    let start = member.offset.unwrap_or(0);
                    let next = members.get(at + 1).and_then(|next| next.offset);
                    let is_struct = matches!(t.types.get(member.ty), Type::Struct(_));
                    let is_apart = next.is_none_or(|next| {
                        let Type::Struct(inner) = t.types.get(member.ty) else { return true };
                        next - start >= layout::size_of(t, inner).next_multiple_of(ROW)
                    });
                    (!is_composite(member.ty) || start.is_multiple_of(ROW))
                        && (!is_struct || is_apart)
                        && self.is_in_rows(t, member.ty)
                };
                (0..members.len()).all(is_it)
            }
            _ => true,
        }
    }

    /// The name of the sampler that belongs to a combined texture. The samplers of a group follow all of its resources,
    /// in the order of the textures' bindings; those of other stages of the program count too, so that the stages
    /// agree.
    pub fn sampler_of(&self, t: &mut Writer, id: GlobalId) -> String {
        if let Some(known) = t.wgsl.samplers.get(&id) {
            return known.clone();
        }
        let global = &t.module.globals[id];
        let base = format!("{}_sampler", t.global_names.get(&id).map_or("", String::as_str));
        let name = t.names.unique(&base, None);
        t.wgsl.samplers.insert(id, name.clone());
        let Binding::Resource { set, binding } = global.binding else { return name };
        let mut resources = link::resources(t.module);
        resources.extend(&t.module.others);
        let is_sampled = |other: &Other| other.class == ResourceClass::SampledTexture;
        let of_group = || resources.iter().filter(|other| other.set == set);
        let next = of_group().next_back().map_or(0, |last| last.binding + 1);
        let before: BTreeSet<u32> = of_group()
            .filter(|other| is_sampled(other) && other.binding < binding)
            .map(|other| other.binding)
            .collect();
        let index = next + before.len() as u32;
        let role = Role::Sampler(set, index);
        t.slots.push(Slot {
            name: name.clone(),
            role,
            kind: "resource",
            space: set,
            index,
            count: 1,
            span: global.span,
        });
        let compares = t.image_use(Root::Global(id)).compares;
        t.variables.push(format!("@group({set}) @binding({index}) var {name}: {};", sampler_name(compares)));
        name
    }
}

/// Returns true if a constant is zero of its type.
fn is_zero(t: &Writer, id: crate::ir::ConstId) -> bool {
    matches!(t.module.constants.get(id).value, ConstValue::Zero | ConstValue::Undef)
}

/// Returns true if atomic operations access a variable, or its elements.
fn is_reached(t: &Writer, id: GlobalId, ty: TypeId) -> bool {
    t.atomic_globals.contains(&id) && t.types.components(t.innermost(ty)) == Some(1)
}

/// Returns true if a block consists of one member at its start.
fn is_alone(t: &Writer, of: StructId) -> bool {
    matches!(t.types.structs[of].members.as_slice(), [member] if member.offset == Some(0))
}

/// The variables that functions load or store as a whole.
fn copied(module: &Module) -> FxHashSet<GlobalId> {
    let of_pointer = |pointer| if let Value::Global(id) = pointer { Some(id) } else { None };
    let of_function = |f: &Function| {
        limits::spend(f.insts.len());
        let mut found = Vec::new();
        for (_, inst) in f.insts.iter() {
            match inst.op {
                Op::Load(pointer) | Op::Store { pointer, .. } => found.extend(of_pointer(pointer)),
                Op::Call(_, args) => found.extend(f.values(args).iter().filter_map(|arg| of_pointer(*arg))),
                _ => {}
            }
        }
        found
    };
    module.functions.iter().flat_map(|(_, f)| of_function(f)).collect()
}
