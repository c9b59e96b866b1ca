//! Module-scope variables: resources are arguments of the entry point, and of the functions that use them.

use super::argument_buffers::{ID, Member};
use super::dialect::Part;
use super::{Extra, Msl};
use crate::backend::losses::SEEN_BY_OTHERS;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::{Body, Made};
use crate::backend::source::globals::access_of;
use crate::backend::source::image::Root;
use crate::backend::source::layout::{How, Packing, elements, lay_out};
use crate::backend::source::place::Form;
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::writer::Writer;
use crate::ir::{
    Access, ArrayLen, Binding, BuiltIn, FuncId, Function, Global, GlobalId, ImageDim, Op, Space, Stage, StructId, Type,
    TypeId, Value,
};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const BUFFER: &str = "buffer";
const TEXTURE: &str = "texture";
const SAMPLER: &str = "sampler";

/// A resource as an argument.
pub(in crate::backend::source) struct Argument {
    /// Its declaration.
    pub text: String,
    pub name: String,
    pub role: Role,
    pub kind: &'static str,
    /// Number of indices.
    pub count: u32,
    /// The space and the number that options choose for it.
    pub chosen: Option<(u32, u32)>,
    pub span: Span,
    /// The variable, if the order of its accesses may matter.
    pub id: Option<GlobalId>,
    /// Its kind in an argument buffer.
    pub member: Option<Member>,
}

impl Argument {
    /// An argument with one index.
    pub fn new(text: String, name: String, role: Role, kind: &'static str, span: Span) -> Argument {
        Argument { text, name, role, kind, count: 1, chosen: None, span, id: None, member: None }
    }

    /// The text that declares it, as a member of an argument buffer or as a parameter.
    fn declared_mut(&mut self, is_member: bool) -> &mut String {
        self.member.as_mut().filter(|_| is_member).map_or(&mut self.text, |member| &mut member.declared)
    }
}

impl Msl {
    /// The name of a variable. Its struct is declared; the uses declare everything else.
    pub fn declare(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        match global.space {
            Space::Private | Space::Workgroup | Space::Input | Space::Output | Space::Handle | Space::TaskPayload => {}
            Space::Uniform | Space::PushConstant | Space::Storage => self.declare_block(t, id, global),
            _ => t.unsupported("variables of this kind"),
        }
        t.global_names.get(&id).cloned().unwrap_or_default()
    }

    /// A variable at its use.
    pub fn global(&self, b: &mut Body, id: GlobalId) -> Made {
        let global = &b.t.module.globals[id];
        if matches!(global.space, Space::Input | Space::Output) {
            return Made::One(self.port(b, id));
        }
        b.t.msl.used.insert(Extra::Global(id));
        let name = Expr::primary(b.t.global(id));
        match b.t.types.get(b.t.innermost(global.ty)) {
            Type::SampledImage(_) => Made::Pair([name, Expr::primary(self.sampler_name(b.t, id))]),
            _ => Made::One(name),
        }
    }

    /// How a block is spelled.
    pub fn form(&self, t: &mut Writer, id: GlobalId) -> Form {
        if let Some(known) = t.forms.get(&id) {
            return *known;
        }
        let packing = Packing::Vectors;
        let block = t.block_of(t.module.globals[id].ty);
        let only = block.and_then(|of| t.only_array(of));
        let form = match only.map(|(element, stride)| elements(t, element, packing, stride)) {
            Some(Some(is_packed)) => Form::Elements { packing, is_packed },
            _ if block.is_some_and(|of| lay_out(t, of, How::of(packing)).is_some()) => Form::Struct(packing),
            _ => Form::Bytes,
        };
        t.forms.insert(id, form);
        form
    }

    /// The name of a block's variable without an instance name.
    pub fn block_variable(&self, t: &mut Writer, id: GlobalId, of: StructId) -> String {
        let form = self.form(t, id);
        let item = &t.types.structs[of];
        if let (Form::Elements { .. }, Some(member)) = (form, item.members.first()) {
            return member.name.to_string();
        }
        let mut name = item.name.to_string();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        name
    }

    fn declare_block(&self, t: &mut Writer, id: GlobalId, global: &Global) {
        let Some(of) = t.block_of(global.ty) else { return t.unsupported("variables of this kind") };
        match self.form(t, id) {
            Form::Struct(packing) => {
                let name = t.block_names.get(&id).cloned().unwrap_or_default();
                let names = t.member_names(of);
                let lines = t.member_lines(of, How::of(packing), &names);
                t.declare_struct_of(&name, lines, t.types.structs[of].span);
            }
            Form::Elements { .. } => {
                let _ = self.element_type(t, of);
            }
            _ => {}
        }
    }

    fn element_type(&self, t: &mut Writer, of: StructId) -> String {
        let Some((element, stride)) = t.only_array(of) else { return String::new() };
        let how = How::of(Packing::Vectors).element(stride);
        let is_packed = elements(t, element, Packing::Vectors, stride).unwrap_or(false);
        let dims = t.dims_of(element);
        if dims.is_empty() {
            return t.laid_name(element, how, is_packed);
        }
        t.not_yet("buffers of arrays")
    }

    /// The name of a combined texture's sampler.
    pub fn sampler_name(&self, t: &mut Writer, id: GlobalId) -> String {
        if let Some(known) = t.msl.sampler_names.get(&id) {
            return known.clone();
        }
        let base = format!("{}_sampler", t.global_names.get(&id).map_or("", String::as_str));
        let name = t.names.unique(&base, None);
        t.msl.sampler_names.insert(id, name.clone());
        name
    }

    /// The type of a block's data as an argument: a pointer or reference.
    fn block_type(&self, t: &mut Writer, id: GlobalId, global: &Global, of: StructId) -> (String, &'static str) {
        let access = access_of(t, global, of);
        let space = self.space_words(t, id);
        let coherent = access.intersects(SEEN_BY_OTHERS) && self.has(t, Part::CoherentMemory);
        let before = if coherent { "coherent " } else { "" };
        let (ty, sign) = match self.form(t, id) {
            Form::Struct(_) => (t.block_names.get(&id).cloned().unwrap_or_default(), "&"),
            Form::Elements { .. } => (self.element_type(t, of), "*"),
            _ => ("char".to_string(), "*"),
        };
        (format!("{before}{space}{ty}"), sign)
    }

    /// The address space of a block, before a type.
    pub fn space_words(&self, t: &Writer, id: GlobalId) -> &'static str {
        let global = &t.module.globals[id];
        let is_read_only = t.block_of(global.ty).is_some_and(|of| access_of(t, global, of).contains(Access::READONLY));
        match global.space {
            Space::Storage if is_read_only => "device const ",
            Space::Storage => "device ",
            _ => "constant ",
        }
    }

    /// The parameters of a function for a variable that it uses.
    pub fn params_of(&self, b: &mut Body, extra: Extra) -> Vec<String> {
        let t = &mut *b.t;
        match extra {
            Extra::Lane => vec![format!("uint {}", t.msl.names.lane)],
            Extra::Lanes => vec![format!("uint {}", t.msl.names.lanes)],
            Extra::Inputs => vec![format!("thread {}& {}", t.ports.types[0], t.msl.names.inputs)],
            Extra::Sizes => vec![format!("constant uint* {}", t.msl.names.sizes)],
            Extra::BuiltIn(at) => vec![self.built_in_param(t, at)],
            Extra::Own(owner) => vec![self.owner_param(t, owner)],
            Extra::Global(id) => {
                let is_changed = t.msl.changed.get(&b.id).is_some_and(|changed| changed.contains(&id));
                self.variable_params(t, id, is_changed)
            }
        }
    }

    fn variable_params(&self, t: &mut Writer, id: GlobalId, is_changed: bool) -> Vec<String> {
        let global = &t.module.globals[id];
        let name = t.global(id);
        match global.space {
            Space::Handle => self.handle_params(t, id, global),
            Space::TaskPayload => vec![self.payload_param(t, id, global)],
            Space::Private | Space::Output if is_changed => vec![self.referred(t, "thread ", global.ty, &name)],
            Space::Workgroup => vec![self.referred(t, "threadgroup ", global.ty, &name)],
            Space::Input | Space::Private | Space::Output if t.shape(global.ty).is_some() => {
                let ty = t.type_name(global.ty);
                vec![format!("{ty} {name}")]
            }
            Space::Input | Space::Private | Space::Output => {
                vec![self.referred(t, "thread const ", global.ty, &name)]
            }
            _ => {
                let Some(of) = t.block_of(global.ty) else { return Vec::new() };
                let (ty, sign) = self.block_type(t, id, global, of);
                let dims = t.dims_of(global.ty);
                if self.is_open(t, global.ty) {
                    return vec![format!("{ty}* const device* {name}")];
                }
                vec![match (dims.as_str(), sign) {
                    ("", _) => format!("{ty}{sign} {name}"),
                    (dims, _) => format!("{ty}* const thread (&{name}){dims}"),
                }]
            }
        }
    }

    /// A parameter that refers to a variable.
    pub fn referred(&self, t: &mut Writer, space: &str, ty: TypeId, name: &str) -> String {
        let (ty, dims) = t.declared(ty);
        match dims.as_str() {
            "" => format!("{space}{ty}& {name}"),
            dims => format!("{space}{ty} (&{name}){dims}"),
        }
    }

    fn built_in_param(&self, t: &mut Writer, at: usize) -> String {
        let given = t.ports.built_in[at].clone();
        let scalar = super::stage::given(t.stage(), given.of).filter(|_| !super::stage::is_array(given.of));
        let size = t.types.components(given.ty);
        let ty = match (scalar, size) {
            (Some(scalar), Some(size)) => t.vector_name(scalar, size),
            _ => {
                let space = match given.space {
                    Space::Input => "thread const ",
                    _ if super::tessellation::is_level(given.of) => "threadgroup ",
                    _ => "thread ",
                };
                return self.referred(t, space, given.ty, &given.name);
            }
        };
        match given.space {
            Space::Input => format!("{ty} {}", given.name),
            _ => format!("thread {ty}& {}", given.name),
        }
    }

    /// Textures and samplers as parameters.
    fn handle_params(&self, t: &mut Writer, id: GlobalId, global: &Global) -> Vec<String> {
        let name = t.global(id);
        let Some((texture, sampler)) = self.handle_types(t, id, global) else { return Vec::new() };
        let is_open = self.is_open(t, global.ty);
        let dims = self.array_length_of(t, global.ty);
        let words = Self::array_words(t);
        let of = |ty: &str, name: &str| match dims {
            _ if is_open => format!("device const Handle<{ty}>* {name}"),
            None => format!("{ty} {name}"),
            Some(count) => format!("{words} array<{ty}, {count}>& {name}"),
        };
        let mut made: Vec<String> = texture.iter().map(|ty| of(ty, &name)).collect();
        if sampler {
            let name = self.sampler_of(t, id, global, name);
            made.push(of("sampler", &name));
        }
        made
    }

    /// The name of the sampler that a variable is or contains.
    fn sampler_of(&self, t: &mut Writer, id: GlobalId, global: &Global, name: String) -> String {
        match t.types.get(t.innermost(global.ty)) {
            Type::Sampler => name,
            _ => self.sampler_name(t, id),
        }
    }

    /// The type of a variable's texture, and true if it has a sampler.
    fn handle_types(&self, t: &mut Writer, id: GlobalId, global: &Global) -> Option<(Option<String>, bool)> {
        let of = t.image_use(Root::Global(id));
        match t.types.get(t.innermost(global.ty)) {
            Type::Sampler => Some((None, true)),
            Type::Image(image) => Some((Some(self.texture_name(t, image, of)), false)),
            Type::SampledImage(image) => {
                let has_sampler = image.dim != ImageDim::Buffer;
                Some((Some(self.texture_name(t, image, of)), has_sampler))
            }
            structure @ Type::AccelerationStructure => {
                if matches!(t.types.get(global.ty), Type::Array { .. }) {
                    t.unsupported("arrays of acceleration structures");
                }
                Some((Some(t.handle_name(structure)), false))
            }
            _ => {
                t.unsupported("variables of this kind");
                None
            }
        }
    }

    /// The number of resources in an array.
    fn array_length_of(&self, t: &mut Writer, ty: TypeId) -> Option<u32> {
        match t.types.get(ty) {
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
                if matches!(t.types.get(element), Type::Array { .. }) {
                    t.unsupported("arrays of arrays of resources");
                }
                Some(len)
            }
            Type::Array { .. } if !self.is_open(t, ty) => {
                t.unsupported("arrays of resources whose length is not known");
                Some(1)
            }
            _ => None,
        }
    }

    /// Returns true for a runtime-sized array of resources: a buffer of their handles or addresses (section 2.13,
    /// Argument Buffers).
    pub fn is_open(&self, t: &mut Writer, ty: TypeId) -> bool {
        let Type::Array { element, len: ArrayLen::Runtime, .. } = t.types.get(ty) else { return false };
        let is_handle = matches!(t.types.get(element), Type::Sampler | Type::Image(_) | Type::SampledImage(_));
        let is_block = matches!(t.types.get(element), Type::Struct(of) if t.types.structs[of].block);
        if is_handle || is_block {
            self.needs(t, Part::OpenArrays);
        }
        t.msl.has_handles |= is_handle;
        is_handle || is_block
    }

    /// The arguments of the entry point that are resources, with their numbers.
    pub fn resource_arguments(&self, b: &mut Body, used: &[Extra]) -> Vec<String> {
        let is_used = |id: &GlobalId| used.contains(&Extra::Global(*id));
        let mut list = Vec::new();
        let module = b.t.module;
        let mut ids: Vec<GlobalId> = module.globals.handles().collect();
        ids.sort_by_key(|id| (place_of(&module.globals[*id]), id.index()));
        for id in ids {
            let global = &module.globals[id];
            let role = role_of(global);
            match global.space {
                Space::Handle | Space::Uniform | Space::Storage | Space::PushConstant if !is_used(&id) => {
                    if Self::is_in_set(b.t, role) {
                        self.left_out(b.t, global, role, &mut list);
                    }
                    continue;
                }
                _ if !is_used(&id) => continue,
                _ => b.t.span = global.span,
            }
            let first = list.len();
            match global.space {
                Space::Handle => self.handle_arguments(b, id, global, &mut list),
                Space::Uniform | Space::PushConstant | Space::Storage => {
                    self.block_arguments(b, id, global, &mut list);
                }
                _ => {}
            }
            let is_member = Self::is_in_set(b.t, role);
            b.t.remark_on_argument(id, list.get_mut(first).map(|argument| argument.declared_mut(is_member)));
        }
        let (members, others): (Vec<_>, Vec<_>) =
            list.into_iter().partition(|argument| Self::is_in_set(b.t, argument.role));
        let mut list = self.argument_buffers(b, members);
        list.extend(others);
        self.stage_arguments(b.t, used, &mut list);
        let of_host = self.host_argument(b, used);
        list.extend(of_host.map(|(text, name, role, span)| Argument::new(text, name, role, BUFFER, span)));
        if used.contains(&Extra::Sizes) {
            let name = b.t.msl.names.sizes.clone();
            let text = format!("constant uint* {name}");
            list.push(Argument::new(text, name, Role::BufferSizes, BUFFER, b.t.span));
        }
        self.numbered(b.t, list)
    }

    /// The buffers that pass values between tessellation stages.
    fn stage_arguments(&self, t: &mut Writer, used: &[Extra], list: &mut Vec<Argument>) {
        let mut add = |text: String, name: String, role: &'static str| {
            list.push(Argument::new(text, name, Role::Stage(role), BUFFER, t.span));
        };
        self.capture_arguments(t, used).into_iter().for_each(|(text, name, role)| add(text, name, role));
        if t.stage() != Some(Stage::TessControl) {
            return;
        }
        for extra in used {
            match *extra {
                Extra::Own(owner) if t.stage() == Some(Stage::TessControl) => {
                    let (text, name, role) = self.owner_argument(t, owner);
                    add(text, name, role);
                }
                Extra::BuiltIn(at) if t.ports.built_in[at].of == BuiltIn::PatchVertices => {
                    let name = t.ports.built_in[at].name.clone();
                    add(format!("constant uint& {name}"), name, "patch_vertices");
                }
                _ => {}
            }
        }
    }

    fn block_arguments(&self, b: &mut Body, id: GlobalId, global: &Global, list: &mut Vec<Argument>) {
        let name = b.t.global(id);
        let Some(of) = b.t.block_of(global.ty) else { return };
        let (ty, sign) = self.block_type(b.t, id, global, of);
        let role = role_of(global);
        let chosen = self.chosen(b.t, global);
        let Some(count) = self.array_length_of(b.t, global.ty) else {
            let (ty, sign) = match self.is_open(b.t, global.ty) {
                true => (format!("{ty}* const device"), "*"),
                false => (ty, sign),
            };
            let member = Some(Member::buffer(&ty, sign, &name));
            let text = format!("{ty}{sign} {name}");
            let argument = Argument::new(text, name, role, BUFFER, global.span);
            return list.push(Argument { chosen, id: Some(id), member, ..argument });
        };
        // Pointers in the entry point are the elements.
        let mut names = Vec::new();
        for n in 0..count {
            crate::limits::spend(1);
            let own = b.named(&format!("{name}_{n}"));
            let text = format!("{ty}* {own}");
            let chosen = chosen.map(|(space, first)| (space, first.saturating_add(n)));
            let member = Some(Member::buffer(&ty, "*", &own));
            let argument = Argument::new(text, own.clone(), role, BUFFER, global.span);
            list.push(Argument { chosen, id: Some(id), member, ..argument });
            names.push(own);
        }
        b.setup_line(format!("{ty}* const {name}[] = {{ {} }}", names.join(", ")));
    }

    fn handle_arguments(&self, b: &mut Body, id: GlobalId, global: &Global, list: &mut Vec<Argument>) {
        let name = b.t.global(id);
        let Some((texture, sampler)) = self.handle_types(b.t, id, global) else { return };
        let is_open = self.is_open(b.t, global.ty);
        let count = self.array_length_of(b.t, global.ty);
        let of = |ty: &str| match count {
            _ if is_open => format!("device const Handle<{ty}>*"),
            None => ty.to_string(),
            Some(count) => format!("array<{ty}, {count}>"),
        };
        let is_structure = matches!(b.t.types.get(b.t.innermost(global.ty)), Type::AccelerationStructure);
        let [textures, samplers] = if is_open || is_structure { [BUFFER; 2] } else { [TEXTURE, SAMPLER] };
        let chosen = self.chosen(b.t, global);
        let is_array = count.is_some();
        let count = count.unwrap_or(1);
        let role = role_of(global);
        let argument = |ty: &str, name: String, role: Role, kind: &'static str| {
            let member = Some(if is_array { Member::array(ty, &name) } else { Member::value(ty, &name) });
            Argument { count, member, ..Argument::new(format!("{ty} {name}"), name, role, kind, global.span) }
        };
        if let Some(ty) = &texture {
            let argument = argument(&of(ty), name.clone(), role, textures);
            list.push(Argument { chosen, id: Some(id), ..argument });
        }
        if sampler {
            let name = self.sampler_of(b.t, id, global, name);
            let role = match role {
                Role::Resource(set, binding) if texture.is_some() => Role::Sampler(set, binding),
                other => other,
            };
            let chosen = chosen.filter(|_| texture.is_none());
            list.push(Argument { chosen, ..argument(&of("sampler"), name, role, samplers) });
        }
    }

    /// The space and the number that options set for a resource; the space is its argument buffer's, if it is in one.
    pub fn chosen(&self, t: &Writer, global: &Global) -> Option<(u32, u32)> {
        let places = &t.options.places;
        let place = match global.binding {
            Binding::Resource { set, binding } | Binding::Attachment { set, binding, .. } => places.of(set, binding),
            _ => places.push_constants,
        };
        place.map(|place| (place.group.unwrap_or_else(|| own_space(t, role_of(global))), place.number))
    }

    /// The arguments with their numbers: chosen numbers first, then for each argument in order the first free number of
    /// its kind.
    pub fn placed(&self, t: &Writer, list: Vec<Argument>) -> Vec<(Argument, Slot)> {
        let mut taken: BTreeSet<(&str, u32, u32)> = BTreeSet::new();
        let kind_of = |argument: &Argument| if Self::is_in_set(t, argument.role) { ID } else { argument.kind };
        for argument in &list {
            if let Some((space, first)) = argument.chosen {
                let numbers = (0..argument.count).map(|n| first.saturating_add(n));
                taken.extend(numbers.map(|number| (kind_of(argument), space, number)));
            }
        }
        let mut free: BTreeMap<(&str, u32), u32> = BTreeMap::new();
        let number = |argument: Argument| {
            let (kind, count) = (kind_of(&argument), argument.count);
            let (space, index) = argument.chosen.unwrap_or_else(|| {
                let space = own_space(t, argument.role);
                let next = free.entry((kind, space)).or_default();
                while (0..count).any(|n| taken.contains(&(kind, space, next.saturating_add(n)))) {
                    crate::limits::spend(1);
                    *next = next.saturating_add(1);
                }
                let index = *next;
                *next = next.saturating_add(count);
                (space, index)
            });
            let (name, role, span) = (argument.name.clone(), argument.role, argument.span);
            (argument, Slot { name, role, kind, space, index, count, span })
        };
        list.into_iter().map(number).collect()
    }

    fn numbered(&self, t: &mut Writer, list: Vec<Argument>) -> Vec<String> {
        let placed = self.placed(t, list).into_iter().map(|(argument, slot)| {
            let attribute = self.ordered_attribute(t, argument.id, format!("{}({})", slot.kind, slot.index));
            let text = format!("{} [[{attribute}]]", argument.text);
            t.slots.push(slot);
            text
        });
        placed.collect()
    }

    /// Finds the buffers whose size the shader queries, in the order of their bindings.
    pub fn find_sized(&self, t: &mut Writer) {
        let module = t.module;
        let mut found: Vec<GlobalId> = Vec::new();
        for (_, f) in module.functions.iter() {
            for (_, inst) in f.insts.iter() {
                let Op::ArrayLength { block } = inst.op else { continue };
                let root = match block {
                    Value::Inst(id) => match f.insts[id].op {
                        Op::Access { base, .. } => base,
                        _ => continue,
                    },
                    other => other,
                };
                if let Value::Global(id) = root {
                    found.push(id);
                }
            }
        }
        found.sort_by_key(|id| (place_of(&module.globals[*id]), id.index()));
        found.dedup();
        t.msl.sized = found;
    }

    /// Finds the arrays that are assigned, passed or returned as a whole, which the language's arrays cannot be.
    pub fn find_array_values(&self, t: &mut Writer) {
        let module = t.module;
        let mut found: BTreeSet<usize> = BTreeSet::new();
        let mut list = Vec::new();
        let mut add = |t: &mut Writer, ty: TypeId| {
            let mut ty = t.types.logical(ty);
            while let Type::Array { element, .. } = t.types.get(ty) {
                if found.insert(ty.index()) {
                    list.push(ty);
                }
                ty = element;
            }
        };
        for (_, f) in module.functions.iter() {
            add(t, f.ret);
            f.params.iter().for_each(|param| add(t, param.ty));
            for (_, inst) in f.insts.iter() {
                match inst.op {
                    Op::Store { value: Value::Const(id), pointer } if !matches!(pointer, Value::Local(_)) => {
                        add(t, module.constants.get(id).ty);
                    }
                    // A struct with a different layout is assembled from its parts.
                    Op::Load(pointer) if is_in_buffer(t, f, pointer) => {
                        arrays_in(&t.types, inst.ty).into_iter().for_each(|ty| add(t, ty));
                    }
                    _ => add(t, inst.ty),
                }
            }
        }
        t.array_values.extend(list);
    }
}

/// Returns true if a pointer points into a buffer.
fn is_in_buffer(t: &mut Writer, f: &Function, pointer: Value) -> bool {
    let module = t.module;
    module
        .pointee_of(f, &t.types, pointer)
        .is_some_and(|(space, _)| matches!(space, Space::Uniform | Space::Storage | Space::PushConstant))
}

/// A type if it is an array, and the arrays in it.
fn arrays_in(types: &crate::ir::Types, ty: TypeId) -> Vec<TypeId> {
    match types.get(ty) {
        Type::Array { element, .. } => std::iter::once(ty).chain(arrays_in(types, element)).collect(),
        Type::Struct(of) => types.structs[of].members.iter().flat_map(|member| arrays_in(types, member.ty)).collect(),
        _ => Vec::new(),
    }
}

/// The number of words for a buffer, or an array of them, in the buffer of sizes.
fn size_count(t: &Writer, id: GlobalId) -> u32 {
    match t.types.get(t.module.globals[id].ty) {
        Type::Array { len: ArrayLen::Fixed(len), .. } => len,
        _ => 1,
    }
}

/// The role of a resource.
fn role_of(global: &Global) -> Role {
    match global.binding {
        Binding::Resource { set, binding } | Binding::Attachment { set, binding, .. } => Role::Resource(set, binding),
        _ => Role::PushConstants,
    }
}

/// The space of resource numbers: for an argument buffer its set.
fn own_space(t: &Writer, role: Role) -> u32 {
    let set = role.binding().filter(|_| Msl::is_in_set(t, role));
    set.map_or(0, |(set, binding)| t.options.places.of(set, binding).and_then(|place| place.group).unwrap_or(set))
}

/// The sort key of a resource: by set and binding, push constants last.
fn place_of(global: &Global) -> (bool, u32, u32) {
    match role_of(global) {
        Role::Resource(set, binding) => (false, set, binding),
        _ => (true, 0, 0),
    }
}

impl Msl {
    /// The additional arguments of a call, for resources that the function uses.
    pub fn extra_arguments(&self, b: &mut Body, callee: FuncId) -> Vec<Expr> {
        let extras = b.t.msl.extras.get(&callee).cloned().unwrap_or_default();
        let mut list = Vec::new();
        for extra in extras.iter() {
            b.t.msl.used.insert(*extra);
            match *extra {
                Extra::Lane => list.push(self.lane_index(b)),
                Extra::Lanes => list.push(self.lane_count(b)),
                Extra::Inputs => list.push(Expr::primary(self.inputs(b))),
                Extra::Sizes => list.push(Expr::primary(b.t.msl.names.sizes.clone())),
                Extra::Own(owner) => list.push(Expr::primary(self.mesh_argument(b.t, owner))),
                Extra::Global(id) if b.t.module.globals[id].space == Space::TaskPayload => {
                    list.push(Expr::primary(self.payload_argument(b.t, id)));
                }
                Extra::BuiltIn(at) => {
                    let (of, space) = (b.t.ports.built_in[at].of, b.t.ports.built_in[at].space);
                    list.extend(self.built_in(b, of, space));
                }
                Extra::Global(id) => match self.global(b, id) {
                    Made::Pair(parts)
                        if matches!(b.t.types.get(b.t.innermost(b.t.module.globals[id].ty)),
                        Type::SampledImage(image) if image.dim == ImageDim::Buffer) =>
                    {
                        list.push(parts[0].clone());
                    }
                    Made::Pair(parts) => list.extend(parts),
                    Made::One(value) => list.push(value),
                    Made::Bytes(_) | Made::Laid(_) => b.t.internal("an address as an argument"),
                },
            }
        }
        list
    }

    /// The size of a buffer, or of an element of an array of buffers, in the buffer of sizes.
    pub fn size_index(&self, b: &mut Body, id: GlobalId, element: Option<Expr>) -> Option<Expr> {
        let sized = b.t.msl.sized.clone();
        let at = sized.iter().position(|known| *known == id)?;
        let first: u32 = sized[..at].iter().map(|id| size_count(b.t, *id)).sum();
        b.t.msl.used.insert(Extra::Sizes);
        let sizes = b.t.msl.names.sizes.clone();
        Some(match element {
            None => Expr::primary(format!("{sizes}[{first}]")),
            Some(index) => {
                let at = match (first, index.text.parse::<u32>()) {
                    (_, Ok(known)) => first.saturating_add(known).to_string(),
                    (0, Err(_)) => index.text.clone(),
                    (_, Err(_)) => format!("{first} + {}", index.at(Level::Sum)),
                };
                Expr::primary(format!("{sizes}[{at}]")).reading(&index.reads)
            }
        })
    }

    /// The names of the buffers whose size is queried; array elements have separate names.
    pub fn sized_names(&self, t: &Writer) -> Vec<String> {
        let name = |id: &GlobalId| t.global_names.get(id).cloned().unwrap_or_default();
        let of = |id: &GlobalId| match t.types.get(t.module.globals[*id].ty) {
            Type::Array { .. } => (0..size_count(t, *id)).map(|n| format!("{}_{n}", name(id))).collect(),
            _ => vec![name(id)],
        };
        t.msl.sized.iter().flat_map(of).collect()
    }
}
