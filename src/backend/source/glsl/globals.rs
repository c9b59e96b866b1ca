//! Module-scope variables: resources, memory of workgroups and invocations, inputs and outputs.

use super::Dialect;
use super::types::sampler_name;
use super::versions;
use crate::backend::source::globals::is_indexed;
use crate::backend::source::image::Root;
use crate::backend::source::sets::Point;
use crate::backend::source::writer::Writer;
use crate::diagnostic::Code;
use crate::glsl::spelling;
use crate::grammar::{self, VariableSource};
use crate::ir::format::format_name;
use crate::ir::{
    Access, ArrayLen, Binding, BuiltIn, Global, GlobalId, ImageDim, Interpolation, RayModes, Sampling, Scalar, Space,
    Stage, Struct, StructId, Type, TypeId, Types,
};

/// The formats of images in ES (GLSL ES 3.20 section 4.4.7).
const FORMATS_OF_ES: [&str; 13] = [
    "rgba32f",
    "rgba16f",
    "r32f",
    "rgba8",
    "rgba8_snorm",
    "rgba32i",
    "rgba16i",
    "rgba8i",
    "r32i",
    "rgba32ui",
    "rgba16ui",
    "rgba8ui",
    "r32ui",
];

impl Dialect {
    /// The language's variable for a built-in value, or `None` if there is none.
    pub fn built_in_name(&self, t: &mut Writer, of: BuiltIn, space: Space) -> Option<&'static str> {
        let stage = t.stage();
        if !self.is_vulkan {
            match of {
                BuiltIn::VertexIndex => return Some("gl_VertexID"),
                BuiltIn::InstanceIndex if self.is_es => return Some("gl_InstanceID"),
                BuiltIn::InstanceIndex => return Some(self.instance_index(t)),
                _ => {}
            }
        }
        if of == BuiltIn::SampleMask {
            self.require(t, &versions::SAMPLE_MASKS);
            return Some(if space == Space::Output { "gl_SampleMask" } else { "gl_SampleMaskIn" });
        }
        let is_early = matches!(stage, Some(Stage::Vertex | Stage::TessEvaluation)) && space == Space::Output;
        if is_early && matches!(of, BuiltIn::Layer | BuiltIn::ViewportIndex) {
            if self.is_es {
                return None;
            }
            t.need("GL_ARB_shader_viewport_layer_array");
        }
        let rows = grammar::VARIABLES.iter().filter(|row| row.source == VariableSource::BuiltIn(of));
        let is_of_form = |row: &&grammar::Variable| self.is_of_form(t, row);
        let is_output = space == Space::Output;
        let is_there =
            |row: &&grammar::Variable, stage| row.stages.contains(stage) && row.output.contains(stage) == is_output;
        let rows = rows.filter(|row| stage.is_none_or(|stage| is_there(row, stage))).filter(is_of_form);
        let brought =
            rows.filter_map(|row| Some((row.name, self.brings([row.extensions, row.earlier], (row.core, row.es))?)));
        let (name, brings) = brought.min_by_key(|(_, brings)| !brings.is_empty())?;
        if let Some(extension) = self.preferred(brings) {
            t.need(extension);
        }
        Some(name)
    }

    /// The index of an instance, which OpenGL counts from the first instance of the draw.
    fn instance_index(&self, t: &mut Writer) -> &'static str {
        if self.number >= 460 {
            return "(gl_InstanceID + gl_BaseInstance)";
        }
        t.need("GL_ARB_shader_draw_parameters");
        "(gl_InstanceID + gl_BaseInstanceARB)"
    }

    /// Returns true unless a row belongs to the other form of an extension with two forms.
    fn is_of_form(&self, t: &Writer, row: &grammar::Variable) -> bool {
        let is_nvidia = [t.module.nvidia_meshes, t.module.rays.contains(RayModes::NVIDIA)];
        let mut forms = [super::primitives::MESHES, super::rays::STAGES].into_iter().zip(is_nvidia);
        forms.all(|(forms, is_nvidia)| {
            let has = |name: &str| row.extensions.iter().any(|extension| extension.name == name);
            has(forms[usize::from(is_nvidia)]) || !has(forms[usize::from(!is_nvidia)])
        })
    }

    pub fn declare(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        if matches!(global.space, Space::Input | Space::Output)
            && let Some(name) = self.array_of_blocks(t, global)
        {
            return name.to_string();
        }
        if let Binding::BuiltIn(of) = global.binding {
            let name = self.built_in(t, of, global.space);
            self.need_point_size(t, &name);
            self.built_in_words(t, id, of, &name);
            return name;
        }
        match t.types.get(global.ty) {
            Type::Struct(of) if t.types.structs[of].block => return self.declare_block(t, id, global, of, ""),
            Type::Array { .. } => {
                let (_, dims) = self.dims_of(t, global.ty);
                let dims = self.port_dims(t, global, dims);
                if let Some(of) = t.block_of(global.ty) {
                    if !matches!(global.space, Space::Input | Space::Output) {
                        self.require_index(t, id);
                    }
                    if self.is_es && dims.matches('[').count() > 1 {
                        t.lacks("arrays of arrays of blocks");
                    }
                    return self.declare_block(t, id, global, of, &dims);
                }
            }
            _ => {}
        }
        let name = t.global_names.get(&id).cloned().unwrap_or_default();
        let (ty, dims) = match t.types.get(t.innermost(global.ty)) {
            Type::Sampler => (sampler_name(t, Root::Global(id)).to_string(), self.dims_of(t, global.ty).1),
            _ => self.port_type(t, global),
        };
        self.check_port(t, id, global);
        if global.space == Space::Handle && !dims.is_empty() {
            self.require_index(t, id);
        }
        let before = self.qualifiers(t, id, global);
        self.note_point(t, &name, global);
        let init = match (global.space, global.init) {
            (Space::Private, Some(init)) => format!(" = {}", t.initial(init)),
            (Space::Workgroup, Some(_)) if !self.is_vulkan => {
                t.lacks("initial values of shared variables");
                String::new()
            }
            (Space::Workgroup, Some(_)) => {
                t.need("GL_EXT_null_initializer");
                " = { }".to_string()
            }
            _ => String::new(),
        };
        t.variables.push(format!("{before}{ty} {name}{dims}{init};"));
        name
    }

    /// Early versions only allow constant indices of arrays of resources.
    fn require_index(&self, t: &mut Writer, id: GlobalId) {
        if is_indexed(t.module, id) {
            self.require(t, &versions::INDEXED_RESOURCES);
        }
    }

    /// Refuses inputs and outputs that ES does not have (GLSL ES 3.20 sections 4.3.4 and 4.3.6).
    fn check_port(&self, t: &mut Writer, id: GlobalId, global: &Global) {
        if !self.is_es || !matches!(global.space, Space::Input | Space::Output) {
            return;
        }
        let inner = t.innermost(global.ty);
        // Inputs of many vertices are arrays in any case.
        let crowd = t.stage().filter(|stage| !matches!(stage, Stage::Vertex | Stage::Fragment));
        let own = match (crowd, t.types.get(global.ty)) {
            (Some(_), Type::Array { element, .. }) => element,
            _ => global.ty,
        };
        let is_array = inner != own;
        match (t.stage(), global.space) {
            (Some(Stage::Vertex), Space::Input) if is_array => t.lacks("arrays as inputs of vertex shaders"),
            (Some(Stage::Fragment), Space::Output) if is_array && is_indexed(t.module, id) => {
                t.lacks("outputs of fragment shaders at an index that is not a constant");
            }
            (Some(Stage::Vertex), Space::Output) | (Some(_), Space::Input) => {
                self.check_port_struct(t, inner, is_array)
            }
            _ => {}
        }
    }

    fn check_port_struct(&self, t: &mut Writer, ty: TypeId, is_array: bool) {
        let Type::Struct(of) = t.types.get(ty) else { return };
        let members = &t.types.structs[of].members;
        let is_nested = |ty| matches!(t.types.get(ty), Type::Array { .. } | Type::Struct(_));
        if is_array || members.iter().any(|member| is_nested(member.ty)) {
            t.lacks("inputs and outputs that are structs with arrays or structs in them, or arrays of structs");
        }
    }

    /// A variable that the language declares.
    fn built_in(&self, t: &mut Writer, of: BuiltIn, space: Space) -> String {
        match self.built_in_name(t, of, space) {
            Some(name) => name.to_string(),
            None => {
                let value = format!("built-in value {of:?} in this stage");
                if self.is_es {
                    t.lacks(&value)
                } else {
                    t.unsupported(&value)
                }
                "gl_".to_string()
            }
        }
    }

    fn dims_of(&self, t: &mut Writer, ty: TypeId) -> (TypeId, String) {
        let mut dims = String::new();
        let mut ty = ty;
        while let Type::Array { element, len, .. } = t.types.get(ty) {
            if len == ArrayLen::Runtime {
                t.need("GL_EXT_nonuniform_qualifier");
            }
            let one = format!("[{}]", t.length(len));
            dims.push_str(&one);
            ty = element;
        }
        (ty, dims)
    }

    fn declare_block(&self, t: &mut Writer, id: GlobalId, global: &Global, of: StructId, dims: &str) -> String {
        let item = t.types.structs[of].clone();
        if item.members.iter().any(|member| matches!(member.binding, Binding::BuiltIn(_))) {
            return self.built_in_block(t, &item, global);
        }
        if global.space == Space::PushConstant && !self.is_vulkan {
            return self.declare_uniforms(t, id, of, &item);
        }
        let is_port = matches!(global.space, Space::Input | Space::Output);
        match global.space {
            Space::Input | Space::Output => {
                self.require(t, &versions::PORT_BLOCKS);
                let located = |binding| matches!(binding, Binding::Location { location: Some(_), .. });
                if located(global.binding) || item.members.iter().any(|member| located(member.binding)) {
                    self.require(t, &versions::PORT_BLOCK_LOCATIONS);
                }
            }
            Space::Storage => self.require(t, &versions::STORAGE),
            _ => {}
        }
        let layout = match is_port {
            true => None,
            false => match self.block_layout(t, of, global.space) {
                Some(layout) => Some(layout),
                None => {
                    let text = format!("{} has no rule that lays this block out as it is", self.language);
                    t.fail(Code::NOT_SUPPORTED, text);
                    None
                }
            },
        };
        let block_name = t.block_names.get(&id).cloned().unwrap_or_default();
        self.note_point(t, &block_name, global);
        let members = match t.block_members.get(&id) {
            Some(names) => names.clone(),
            None => t.member_names(of),
        };
        let rule = layout.as_ref().map(|layout| layout.rule);
        let before = self.block_qualifiers(t, id, global, rule);
        let mut lines = vec![format!("{before}{block_name} {{")];
        for (index, (member, name)) in item.members.iter().zip(members.iter()).enumerate() {
            let said = layout.as_ref().map_or("", |layout| layout.members[index].as_str());
            let fed = self.member_words_of(t, id, index);
            let said = fed.as_deref().unwrap_or(said);
            let said = if said.is_empty() { String::new() } else { format!("layout({said}) ") };
            let access = if global.space == Space::Uniform { String::new() } else { access_words(member.access) };
            let port =
                if is_port { self.member_port(t, member.binding, member.ty, global.space) } else { String::new() };
            let (ty, dims) = t.declared(member.ty);
            let line = format!("    {port}{said}{access}{ty} {name}{dims};");
            t.push_member(&mut lines, member.span, line);
        }
        let instance = t.global_names.get(&id).cloned().unwrap_or_default();
        let space = if instance.is_empty() { "" } else { " " };
        lines.push(format!("}}{space}{instance}{dims};"));
        t.variables.extend(lines);
        instance
    }

    /// Push constants without Vulkan: a uniform struct, or one uniform per member if the block has no name.
    fn declare_uniforms(&self, t: &mut Writer, id: GlobalId, of: StructId, item: &Struct) -> String {
        let names = match t.block_members.get(&id) {
            Some(names) => names.clone(),
            None => t.member_names(of),
        };
        let lines: Vec<String> = item
            .members
            .iter()
            .zip(names.iter())
            .map(|(member, name)| {
                let (ty, dims) = t.declared(member.ty);
                format!("{ty} {name}{dims};")
            })
            .collect();
        let Some(name) = t.global_names.get(&id).cloned() else {
            t.variables.extend(lines.iter().map(|line| format!("uniform {line}")));
            return String::new();
        };
        let block_name = t.block_names.get(&id).cloned().unwrap_or_default();
        t.declare_struct(&block_name, lines.iter().map(|line| format!("    {line}")).collect());
        t.variables.push(format!("uniform {block_name} {name};"));
        name
    }

    /// `gl_PerVertex`, with members that the language declares.
    fn built_in_block(&self, t: &mut Writer, item: &Struct, global: &Global) -> String {
        if global.space == Space::Input {
            t.unsupported("inputs that are blocks of built-in values");
        }
        for member in &item.members {
            if member.access.contains(Access::INVARIANT) {
                t.variables.push(format!("invariant {};", member.name));
            }
        }
        String::new()
    }

    fn binding_words(&self, t: &mut Writer, binding: Binding) -> Vec<String> {
        match binding {
            Binding::Resource { set, binding } => self.set_and_binding(t, set, binding),
            Binding::Attachment { set, binding, index } => {
                let index = self.is_vulkan.then(|| format!("input_attachment_index = {index}"));
                index.into_iter().chain(self.set_and_binding(t, set, binding)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Without binding points in layouts, the host assigns a resource's point by name.
    fn set_and_binding(&self, t: &mut Writer, set: u32, binding: u32) -> Vec<String> {
        if !self.has(&versions::BINDINGS) {
            return Vec::new();
        }
        self.require(t, &versions::BINDINGS);
        let set = self.is_vulkan.then(|| format!("set = {set}"));
        set.into_iter().chain([format!("binding = {binding}")]).collect()
    }

    /// Records the point of a resource that the host has to bind by name. The elements of an array of blocks have
    /// separate names.
    fn note_point(&self, t: &mut Writer, name: &str, global: &Global) {
        let Binding::Resource { binding: first, .. } = global.binding else { return };
        if self.has(&versions::BINDINGS) {
            return;
        }
        match (t.block_of(global.ty), t.types.get(global.ty)) {
            (Some(_), Type::Array { len: ArrayLen::Fixed(len), .. }) => {
                let element = |n| Point { name: format!("{name}[{n}]"), point: first + n };
                t.points.extend((0..len).map(element));
            }
            _ => t.points.push(Point { name: name.to_string(), point: first }),
        }
    }

    fn block_qualifiers(&self, t: &mut Writer, id: GlobalId, global: &Global, rule: Option<&str>) -> String {
        let is_usual = match global.space {
            Space::PushConstant => rule == Some("std430"),
            space => space == Space::TaskPayload,
        };
        let mut words: Vec<String> = rule.filter(|_| !is_usual).map(str::to_string).into_iter().collect();
        words.extend(self.binding_words(t, global.binding));
        // Uniforms have no memory qualifiers.
        let access = if global.space == Space::Uniform { String::new() } else { access_words(global.access) };
        let space = match global.space {
            Space::Uniform => "uniform",
            Space::Storage => "buffer",
            Space::Workgroup => {
                t.need("GL_EXT_shared_memory_block");
                "shared"
            }
            Space::PushConstant => {
                words.push("push_constant".to_string());
                "uniform"
            }
            Space::ShaderRecord => {
                let is_nvidia = t.module.rays.contains(RayModes::NVIDIA);
                words.insert(0, spelling::RECORDS[usize::from(is_nvidia)].to_string());
                "buffer"
            }
            Space::TaskPayload if t.stage() == Some(Stage::Task) => "taskNV out",
            Space::TaskPayload => "taskNV in",
            Space::Input | Space::Output => {
                let port = self.port_qualifiers(t, id, global);
                let word = if global.space == Space::Input { "in" } else { "out" };
                return format!("{port}{word} ");
            }
            _ => {
                t.unsupported("blocks of this kind");
                ""
            }
        };
        let layout = if words.is_empty() { String::new() } else { format!("layout({}) ", words.join(", ")) };
        format!("{layout}{access}{space} ")
    }

    fn qualifiers(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        match global.space {
            Space::Private => String::new(),
            Space::Workgroup => "shared ".to_string(),
            Space::Input => format!("{}in ", self.port_qualifiers(t, id, global)),
            Space::Output => {
                let invariant = if global.access.contains(Access::INVARIANT) { "invariant " } else { "" };
                format!("{}{invariant}out ", self.port_qualifiers(t, id, global))
            }
            Space::Handle => self.handle_qualifiers(t, id, global),
            Space::TaskPayload => "taskPayloadSharedEXT ".to_string(),
            space => match (self.ray_word(t, space), global.binding) {
                (Some(word), Binding::Location { location: Some(location), .. }) => {
                    format!("layout(location = {location}) {word} ")
                }
                (Some(word), _) => format!("{word} "),
                (None, _) => {
                    t.unsupported("variables of this kind");
                    String::new()
                }
            },
        }
    }

    /// The `readonly` or `writeonly` qualifier that ES requires for an image, unless its format is a single 32-bit
    /// component (GLSL ES 3.20 section 4.9).
    pub fn only_access(&self, t: &mut Writer, root: Root, (ty, access): (TypeId, Access)) -> Access {
        let Type::Image(image) = t.types.get(t.innermost(ty)) else { return Access::empty() };
        let is_free = matches!(format_name(image.format), Some("r32f" | "r32i" | "r32ui"));
        if !self.is_es || !image.storage || is_free || access.intersects(Access::READONLY | Access::WRITEONLY) {
            return Access::empty();
        }
        let uses = t.image_use(root);
        match (uses.reads, uses.writes) {
            (true, true) => {
                t.lacks("images of this format that are read and written");
                Access::empty()
            }
            (false, true) => Access::WRITEONLY,
            _ => Access::READONLY,
        }
    }

    fn handle_qualifiers(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let mut words = self.binding_words(t, global.binding);
        let mut precision = "";
        if let Type::Image(image) = t.types.get(t.innermost(global.ty))
            && image.storage
        {
            match format_name(image.format) {
                Some(name) => {
                    if self.is_es && !FORMATS_OF_ES.contains(&name) {
                        t.lacks(&format!("images of the format {name}"));
                    }
                    words.push(name.to_string());
                }
                None if image.dim == ImageDim::SubpassInput => {}
                None if !global.access.contains(Access::WRITEONLY) => t.need("GL_EXT_shader_image_load_formatted"),
                None if self.is_es => t.lacks("images without a format (GLSL ES 3.20 section 4.4.7)"),
                None => {}
            }
        }
        let mut access = global.access;
        if self.is_es {
            precision = "highp ";
            access |= self.only_access(t, Root::Global(id), (global.ty, global.access));
        }
        let layout = if words.is_empty() { String::new() } else { format!("layout({}) ", words.join(", ")) };
        format!("{layout}{}uniform {precision}", access_words(access))
    }

    /// Layout and interpolation of an input or output.
    fn port_qualifiers(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let words = self.stage_words(t, id);
        let of = self.interpolation_of(t, global);
        match self.owner_word(t, of) {
            Some(owner) => {
                let binding = global.binding.interpolated(Interpolation::Perspective);
                let is_passed_on = t.stage() == Some(Stage::Fragment) && is_uninterpolated(t, global.ty);
                let flat = if is_passed_on { "flat " } else { "" };
                self.port_words(t, binding, Types::VOID, global.space, words) + flat + owner
            }
            None => self.port_words(t, global.binding, global.ty, global.space, words),
        }
    }

    /// Layout and interpolation of a member of an input or output.
    fn member_port(&self, t: &mut Writer, binding: Binding, ty: TypeId, space: Space) -> String {
        match binding.interpolation() {
            Interpolation::Patch | Interpolation::PerPrimitive { .. } => {
                self.port_words(t, binding.interpolated(Interpolation::Perspective), Types::VOID, space, Vec::new())
            }
            _ => self.port_words(t, binding, ty, space, Vec::new()),
        }
    }

    fn port_words(&self, t: &mut Writer, binding: Binding, ty: TypeId, space: Space, more: Vec<String>) -> String {
        let Binding::Location { location, component, index, interpolation, sampling } = binding else {
            return if more.is_empty() { String::new() } else { format!("layout({}) ", more.join(", ")) };
        };
        let passes = t.stage().is_some_and(|stage| stage.passes(space));
        if passes && location.is_some() {
            self.require(t, &versions::PORT_LOCATIONS);
        }
        let mut words: Vec<String> = location.map(|location| format!("location = {location}")).into_iter().collect();
        if component != 0 {
            self.require(t, &versions::COMPONENTS);
            words.push(format!("component = {component}"));
        }
        if index != 0 {
            if self.is_es {
                t.need("GL_EXT_blend_func_extended");
            }
            words.push(format!("index = {index}"));
        }
        words.extend(more);
        let mut text = if words.is_empty() { String::new() } else { format!("layout({}) ", words.join(", ")) };
        let is_read = space == Space::Input && t.stage() != Some(Stage::Fragment);
        let is_kept = is_read || t.stage() == Some(Stage::TessControl);
        let stays = !is_kept && is_uninterpolated(t, ty);
        text.push_str(match interpolation {
            _ if !passes => "",
            Interpolation::Perspective if stays => "flat ",
            Interpolation::Perspective => "",
            Interpolation::Flat => "flat ",
            Interpolation::Linear => {
                if self.is_es {
                    t.need("GL_NV_shader_noperspective_interpolation");
                }
                "noperspective "
            }
            Interpolation::PerVertex => {
                t.need("GL_EXT_fragment_shader_barycentric");
                "pervertexEXT "
            }
            Interpolation::Explicit | Interpolation::PerPrimitive { .. } | Interpolation::Patch => {
                t.unsupported("inputs that are interpolated so");
                ""
            }
        });
        text.push_str(match sampling {
            _ if !passes => "",
            Sampling::Center => "",
            Sampling::Centroid => "centroid ",
            Sampling::Sample => {
                self.require(t, &versions::SAMPLES);
                "sample "
            }
        });
        text
    }

    /// The name of a buffer reference's type, which is declared on first use.
    pub fn reference_name(&self, t: &mut Writer, pointee: StructId) -> String {
        let name = t.references.get(&pointee).cloned().unwrap_or_default();
        if !t.declared_references.insert(pointee) {
            return name;
        }
        if !self.is_vulkan {
            t.lacks("buffer references");
        }
        t.need("GL_EXT_buffer_reference");
        let item = t.types.structs[pointee].clone();
        // Structs may refer to each other.
        t.structs.push(format!("layout(buffer_reference) buffer {name};"));
        let Some(layout) = self.block_layout(t, pointee, Space::Physical) else {
            t.fail(Code::NOT_SUPPORTED, format!("{} has no rule that lays this block out as it is", self.language));
            return name;
        };
        let align = t.module.types.reference_align(pointee);
        let members = t.member_names(pointee);
        let mut lines = vec![format!(
            "layout({}, buffer_reference, buffer_reference_align = {align}) buffer {name} {{",
            layout.rule
        )];
        for ((member, named), said) in item.members.iter().zip(members.iter()).zip(&layout.members) {
            let said = if said.is_empty() { String::new() } else { format!("layout({said}) ") };
            let (ty, dims) = t.declared(member.ty);
            lines.push(format!("    {said}{}{ty} {named}{dims};", access_words(member.access)));
        }
        lines.push("};".to_string());
        t.structs.extend(lines);
        name
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

/// Returns true for integers and doubles, which are not interpolated.
fn is_uninterpolated(t: &Writer, ty: TypeId) -> bool {
    t.types.scalar_of(t.innermost(ty)).is_some_and(|scalar| scalar.is_int() || scalar == Scalar::F64)
}
