//! Module-scope variables: resources, memory of workgroups and invocations, inputs and outputs.

use super::writer::Writer;
use crate::diagnostic::Code;
use crate::grammar::{self, VariableSource};
use crate::ir::format::format_name;
use crate::ir::{
    Access, Binding, BuiltIn, FuncId, Global, GlobalId, ImageOp, Interpolation, Op, Sampling, Scalar, Space, Stage,
    StructId, Type, TypeId, Value,
};
use rustc_hash::FxHashSet;

impl Writer<'_> {
    /// Gives names to all that has one in the whole module, before anything in a function gets one.
    pub fn name_all(&mut self, functions: &[FuncId], entry: FuncId) {
        for (id, global) in self.module.globals.iter() {
            self.name_global(id, global);
        }
        for id in functions.iter().rev().filter(|id| **id != entry) {
            let name = self.names.unique(&self.module.functions[*id].name, None);
            self.function_names.insert(*id, name);
        }
        for (number, name) in &self.module.spec_names {
            let name = self.names.unique(name, None);
            self.spec_names.insert(*number, name);
        }
        let referred: Vec<StructId> = self.types.iter().filter_map(|(id, _)| self.types.referred(id)).collect();
        for id in referred {
            let name = self.names.unique(&self.types.structs[id].name, None);
            self.references.insert(id, name);
        }
        // A block without a layout is named when a value of it is.
        let structs = &self.module.types.structs;
        let blocks: FxHashSet<StructId> =
            structs.iter().filter(|(_, item)| item.block).filter_map(|(_, item)| item.logical).collect();
        for (id, item) in structs.iter() {
            if item.logical.is_none() && !item.block && !blocks.contains(&id) {
                let name = self.names.unique(&item.name, None);
                self.struct_names.insert(id, name);
            }
        }
        for (id, global) in self.module.globals.iter() {
            if let Some(of) = self.block_of(global.ty) {
                let name = self.names.unique(&self.types.structs[of].name, None);
                self.block_names.insert(id, name);
            }
        }
    }

    fn name_global(&mut self, id: GlobalId, global: &Global) {
        if matches!(global.binding, Binding::BuiltIn(_)) {
            return;
        }
        match self.block_of(global.ty) {
            Some(of) if global.name.is_empty() => {
                let members = self.types.structs[of].members.clone();
                let names = members.iter().map(|member| match member.binding {
                    Binding::BuiltIn(_) => member.name.to_string(),
                    _ => self.names.unique(&member.name, None),
                });
                let names = names.collect();
                self.block_members.insert(id, names);
            }
            _ => {
                let name = self.names.unique(if global.name.is_empty() { "variable" } else { &global.name }, None);
                self.global_names.insert(id, name);
            }
        }
    }

    /// The variable that the language has for a built-in value; none where it has none.
    pub fn built_in_name(&mut self, of: BuiltIn, space: Space) -> Option<&'static str> {
        let stage = self.stage();
        if !self.dialect.is_vulkan {
            match of {
                BuiltIn::VertexIndex => return Some("gl_VertexID"),
                BuiltIn::InstanceIndex if self.dialect.is_es => return Some("gl_InstanceID"),
                BuiltIn::InstanceIndex => return None,
                _ => {}
            }
        }
        if of == BuiltIn::SampleMask {
            return Some(if space == Space::Output { "gl_SampleMask" } else { "gl_SampleMaskIn" });
        }
        let is_early = matches!(stage, Some(Stage::Vertex | Stage::TessEvaluation)) && space == Space::Output;
        if is_early && matches!(of, BuiltIn::Layer | BuiltIn::ViewportIndex) {
            self.need("GL_ARB_shader_viewport_layer_array");
        }
        let rows = grammar::VARIABLES.iter().filter(|row| row.source == VariableSource::BuiltIn(of));
        let rows: Vec<_> = rows.filter(|row| stage.is_none_or(|stage| row.stages.contains(stage))).collect();
        let is_core = |row: &&&grammar::Variable| {
            let (since, version) = if self.dialect.is_es { (row.es, 320) } else { (row.core, 450) };
            row.extensions.is_empty() && since <= version && !(self.dialect.is_es && since == 0)
        };
        if let Some(row) = rows.iter().find(is_core) {
            return Some(row.name);
        }
        let brought = rows.iter().find_map(|row| {
            let brings = if row.extensions.is_empty() { row.earlier } else { row.extensions };
            Some((row.name, preferred(brings)?))
        });
        let (name, extension) = brought?;
        self.need(extension);
        Some(name)
    }

    fn stage(&self) -> Option<Stage> {
        self.module.entry_points.first().map(|entry| entry.stage)
    }

    /// The name of a variable, which is declared where it is not yet.
    pub fn global(&mut self, id: GlobalId) -> String {
        if let Some(known) = self.globals.get(&id) {
            return known.clone();
        }
        let module = self.module;
        let global = &module.globals[id];
        let outside = std::mem::replace(&mut self.span, global.span);
        if global.span == crate::source::Span::NONE {
            self.span = outside;
        }
        let name = self.declare_global(id, global);
        self.span = outside;
        self.globals.insert(id, name.clone());
        name
    }

    fn declare_global(&mut self, id: GlobalId, global: &Global) -> String {
        if let Binding::BuiltIn(of) = global.binding {
            return self.built_in(of, global.space);
        }
        match self.types.get(global.ty) {
            Type::Struct(of) if self.types.structs[of].block => return self.declare_block(id, global, of, ""),
            Type::Array { .. } => {
                let (_, dims) = self.dims_of(global.ty);
                if let Some(of) = self.block_of(global.ty) {
                    return self.declare_block(id, global, of, &dims);
                }
            }
            _ => {}
        }
        let name = self.global_names.get(&id).cloned().unwrap_or_default();
        let (ty, dims) = match self.types.get(self.innermost(global.ty)) {
            Type::Sampler if self.compares(id) => ("samplerShadow".to_string(), self.dims_of(global.ty).1),
            _ => self.declared(global.ty),
        };
        let before = self.qualifiers(global);
        let init = match (global.space, global.init) {
            (Space::Private, Some(init)) => format!(" = {}", self.initial(init)),
            (Space::Workgroup, Some(_)) if !self.dialect.is_vulkan => {
                self.lacks("initial values of shared variables");
                String::new()
            }
            (Space::Workgroup, Some(_)) => {
                self.need("GL_EXT_null_initializer");
                " = { }".to_string()
            }
            _ => String::new(),
        };
        self.variables.push(format!("{before}{ty} {name}{dims}{init};"));
        name
    }

    /// A variable that the language declares.
    fn built_in(&mut self, of: BuiltIn, space: Space) -> String {
        match self.built_in_name(of, space) {
            Some(name) => name.to_string(),
            None => {
                self.unsupported(&format!("built-in value {of:?}"));
                "gl_".to_string()
            }
        }
    }

    fn innermost(&self, ty: TypeId) -> TypeId {
        match self.types.get(ty) {
            Type::Array { element, .. } => self.innermost(element),
            _ => ty,
        }
    }

    /// The struct of a block, or of an array of blocks.
    fn block_of(&self, ty: TypeId) -> Option<StructId> {
        match self.types.get(self.innermost(ty)) {
            Type::Struct(of) if self.types.structs[of].block => Some(of),
            _ => None,
        }
    }

    fn dims_of(&mut self, ty: TypeId) -> (TypeId, String) {
        let mut dims = String::new();
        let mut ty = ty;
        while let Type::Array { element, len, .. } = self.types.get(ty) {
            if len == crate::ir::ArrayLen::Runtime {
                self.need("GL_EXT_nonuniform_qualifier");
            }
            let one = format!("[{}]", self.length(len));
            dims.push_str(&one);
            ty = element;
        }
        (ty, dims)
    }

    fn declare_block(&mut self, id: GlobalId, global: &Global, of: StructId, dims: &str) -> String {
        let item = self.types.structs[of].clone();
        if item.members.iter().any(|member| matches!(member.binding, Binding::BuiltIn(_))) {
            return self.built_in_block(&item, global);
        }
        let is_port = matches!(global.space, Space::Input | Space::Output);
        let layout = match is_port {
            true => None,
            false => match self.block_layout(of, global.space) {
                Some(layout) => Some(layout),
                None => {
                    let text = format!("{} has no rule that lays this block out as it is", self.dialect.language);
                    self.fail(Code::NOT_SUPPORTED, text);
                    None
                }
            },
        };
        let block_name = self.block_names.get(&id).cloned().unwrap_or_default();
        let members = match self.block_members.get(&id) {
            Some(names) => names.clone(),
            None => self.member_names(of),
        };
        let rule = layout.as_ref().map(|layout| layout.rule);
        let before = self.block_qualifiers(global, rule);
        let mut lines = vec![format!("{before}{block_name} {{")];
        for (index, (member, name)) in item.members.iter().zip(members.iter()).enumerate() {
            let said = layout.as_ref().map_or("", |layout| layout.members[index].as_str());
            let said = if said.is_empty() { String::new() } else { format!("layout({said}) ") };
            let access = access_words(member.access);
            let port = if is_port { self.port_words(member.binding, member.ty, global.space) } else { String::new() };
            let (ty, dims) = self.declared(member.ty);
            lines.push(format!("    {port}{said}{access}{ty} {name}{dims};"));
        }
        let instance = self.global_names.get(&id).cloned().unwrap_or_default();
        let space = if instance.is_empty() { "" } else { " " };
        lines.push(format!("}}{space}{instance}{dims};"));
        self.variables.extend(lines);
        instance
    }

    /// `gl_PerVertex`, whose members the language declares; those of arrays need their length.
    fn built_in_block(&mut self, item: &crate::ir::Struct, global: &Global) -> String {
        if global.space == Space::Input {
            self.unsupported("inputs that are blocks of built-in values");
        }
        for member in &item.members {
            if member.access.contains(Access::INVARIANT) {
                self.variables.push(format!("invariant {};", member.name));
            }
        }
        String::new()
    }

    fn binding_words(&mut self, binding: Binding) -> Vec<String> {
        match binding {
            Binding::Resource { set, binding } => self.set_and_binding(set, binding),
            Binding::Attachment { set, binding, index } => {
                let mut words = vec![format!("input_attachment_index = {index}")];
                words.extend(self.set_and_binding(set, binding));
                words
            }
            _ => Vec::new(),
        }
    }

    fn set_and_binding(&mut self, set: u32, binding: u32) -> Vec<String> {
        match (self.dialect.is_vulkan, set) {
            (true, _) => vec![format!("set = {set}"), format!("binding = {binding}")],
            (false, 0) => vec![format!("binding = {binding}")],
            (false, _) => {
                self.fail(Code::NOT_SUPPORTED, format!("OpenGL has no descriptor sets, and this is in set {set}"));
                self.advise("`--place SET:BINDING=0:N` and `--push-constants 0:N` put resources into set 0");
                Vec::new()
            }
        }
    }

    fn block_qualifiers(&mut self, global: &Global, rule: Option<&str>) -> String {
        let is_usual = global.space == Space::PushConstant && rule == Some("std430");
        let mut words: Vec<String> = rule.filter(|_| !is_usual).map(str::to_string).into_iter().collect();
        words.extend(self.binding_words(global.binding));
        let access = access_words(global.access);
        let space = match global.space {
            Space::Uniform => "uniform",
            Space::Storage => "buffer",
            Space::Workgroup => {
                self.need("GL_EXT_shared_memory_block");
                "shared"
            }
            Space::PushConstant if self.dialect.is_vulkan => {
                words.push("push_constant".to_string());
                "uniform"
            }
            Space::PushConstant => {
                self.lacks("push constants");
                self.advise("`--push-constants 0:BINDING` puts them into a uniform block");
                "uniform"
            }
            Space::Input | Space::Output => {
                let port = self.port_words(global.binding, global.ty, global.space);
                let word = if global.space == Space::Input { "in" } else { "out" };
                return format!("{port}{word} ");
            }
            _ => {
                self.unsupported("blocks of this kind");
                ""
            }
        };
        let layout = if words.is_empty() { String::new() } else { format!("layout({}) ", words.join(", ")) };
        format!("{layout}{access}{space} ")
    }

    fn qualifiers(&mut self, global: &Global) -> String {
        match global.space {
            Space::Private => String::new(),
            Space::Workgroup => "shared ".to_string(),
            Space::Input => format!("{}in ", self.port_words(global.binding, global.ty, global.space)),
            Space::Output => {
                let invariant = if global.access.contains(Access::INVARIANT) { "invariant " } else { "" };
                format!("{}{invariant}out ", self.port_words(global.binding, global.ty, global.space))
            }
            Space::Handle => self.handle_qualifiers(global),
            _ => {
                self.unsupported("variables of this kind");
                String::new()
            }
        }
    }

    fn handle_qualifiers(&mut self, global: &Global) -> String {
        let mut words = self.binding_words(global.binding);
        let mut precision = "";
        if let Type::Image(image) = self.types.get(self.innermost(global.ty))
            && image.storage
        {
            match format_name(image.format) {
                Some(name) => words.push(name.to_string()),
                None if image.dim == crate::ir::ImageDim::SubpassInput => {}
                None if !global.access.contains(Access::WRITEONLY) => self.need("GL_EXT_shader_image_load_formatted"),
                None if self.dialect.is_es => self.lacks("images without a format"),
                None => {}
            }
        }
        if self.dialect.is_es {
            precision = "highp ";
        }
        let layout = if words.is_empty() { String::new() } else { format!("layout({}) ", words.join(", ")) };
        format!("{layout}{}uniform {precision}", access_words(global.access))
    }

    /// Layout and interpolation of an input or output, or of a member of one.
    fn port_words(&mut self, binding: Binding, ty: TypeId, space: Space) -> String {
        let Binding::Location { location, component, index, interpolation, sampling } = binding else {
            return String::new();
        };
        let mut words: Vec<String> = location.map(|location| format!("location = {location}")).into_iter().collect();
        if component != 0 {
            words.push(format!("component = {component}"));
        }
        if index != 0 {
            words.push(format!("index = {index}"));
        }
        let mut text = if words.is_empty() { String::new() } else { format!("layout({}) ", words.join(", ")) };
        let stays = self.types.scalar_of(self.innermost(ty)).is_some_and(|s| s.is_int() || s == Scalar::F64);
        let passes = self.stage().is_some_and(|stage| stage.passes(space));
        text.push_str(match interpolation {
            _ if !passes => "",
            Interpolation::Perspective if stays => "flat ",
            Interpolation::Perspective => "",
            Interpolation::Flat => "flat ",
            Interpolation::Linear => "noperspective ",
            Interpolation::PerVertex => {
                self.need("GL_EXT_fragment_shader_barycentric");
                "pervertexEXT "
            }
            Interpolation::Explicit | Interpolation::PerPrimitive { .. } | Interpolation::Patch => {
                self.unsupported("inputs that are interpolated so");
                ""
            }
        });
        text.push_str(match sampling {
            _ if !passes => "",
            Sampling::Center => "",
            Sampling::Centroid => "centroid ",
            Sampling::Sample => "sample ",
        });
        text
    }

    /// The name of a buffer reference's type, which is declared where it is not yet.
    pub fn reference_name(&mut self, pointee: StructId) -> String {
        let name = self.references.get(&pointee).cloned().unwrap_or_default();
        if !self.declared_references.insert(pointee) {
            return name;
        }
        if !self.dialect.is_vulkan {
            self.lacks("buffer references");
        }
        self.need("GL_EXT_buffer_reference");
        let item = self.types.structs[pointee].clone();
        // Structs may refer to each other.
        self.structs.push(format!("layout(buffer_reference) buffer {name};"));
        let Some(layout) = self.block_layout(pointee, Space::Physical) else {
            self.fail(
                Code::NOT_SUPPORTED,
                format!("{} has no rule that lays this block out as it is", self.dialect.language),
            );
            return name;
        };
        let align = self.module.types.reference_align(pointee);
        let members = self.member_names(pointee);
        let mut lines = vec![format!(
            "layout({}, buffer_reference, buffer_reference_align = {align}) buffer {name} {{",
            layout.rule
        )];
        for ((member, named), said) in item.members.iter().zip(members.iter()).zip(&layout.members) {
            let said = if said.is_empty() { String::new() } else { format!("layout({said}) ") };
            let (ty, dims) = self.declared(member.ty);
            lines.push(format!("    {said}{}{ty} {named}{dims};", access_words(member.access)));
        }
        lines.push("};".to_string());
        self.structs.extend(lines);
        name
    }

    /// Returns true if a sampler is used for comparisons.
    fn compares(&self, sampler: GlobalId) -> bool {
        let module = self.module;
        module.functions.iter().any(|(_, f)| {
            let root = |value| match value {
                Value::Inst(id) => match f.insts[id].op {
                    Op::Load(Value::Global(global)) => Some(global),
                    Op::Load(Value::Inst(at)) => match f.insts[at].op {
                        Op::Access { base: Value::Global(global), .. } => Some(global),
                        _ => None,
                    },
                    _ => None,
                },
                _ => None,
            };
            f.insts.iter().any(|(_, inst)| match inst.op {
                Op::Image { op: ImageOp::Combine, operands, .. } => {
                    let is_shadow = matches!(self.types.get(inst.ty), Type::SampledImage(image) if image.depth);
                    is_shadow && f.values(operands).get(1).is_some_and(|value| root(*value) == Some(sampler))
                }
                _ => false,
            })
        })
    }
}

/// Memory qualifiers, each with a space after it.
pub(super) fn access_words(access: Access) -> String {
    const WORDS: [(Access, &str); 5] = [
        (Access::COHERENT, "coherent "),
        (Access::VOLATILE, "volatile "),
        (Access::RESTRICT, "restrict "),
        (Access::READONLY, "readonly "),
        (Access::WRITEONLY, "writeonly "),
    ];
    WORDS.iter().filter(|(flag, _)| access.contains(*flag)).map(|(_, word)| *word).collect()
}

/// The extension of a set that is to be turned on: the one that most compilers know.
pub(super) fn preferred(set: crate::grammar::ExtensionSet) -> Option<&'static str> {
    const ORDER: [&str; 3] = ["GL_KHR_", "GL_EXT_", "GL_ARB_"];
    let rank = |name: &str| ORDER.iter().position(|prefix| name.starts_with(prefix)).unwrap_or(ORDER.len());
    set.iter().map(|extension| extension.name).min_by_key(|name| rank(name))
}
