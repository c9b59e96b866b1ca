//! The stages between vertices and fragments: their layouts, and the inputs and outputs of each vertex or primitive.

use super::{Dialect, versions};
use crate::backend::source::writer::Writer;
use crate::glsl::spelling;
use crate::grammar::{self, VariableSource};
use crate::ir::{
    Access, Binding, BuiltIn, EntryPoint, Global, GlobalId, Interpolation, Op, PrimitiveMode, Space, Stage, Type, Value,
};

/// The extensions of task and mesh shaders: the multi-vendor one, and NVIDIA's.
pub(super) const MESHES: [&str; 2] = ["GL_EXT_mesh_shader", "GL_NV_mesh_shader"];

/// A position in an array of blocks whose members are built-in values.
struct Seat {
    /// The row of the array.
    array: &'static grammar::Variable,
    blocks: &'static grammar::Blocks,
    member: &'static str,
}

impl Dialect {
    /// Enables the extension of task and mesh shaders, in NVIDIA's form or the other.
    pub fn need_meshes(&self, t: &mut Writer, nvidia: bool) {
        if !self.is_vulkan {
            t.unsupported("task and mesh shaders, and values of primitives,");
        }
        t.need(MESHES[usize::from(nvidia)]);
    }

    /// The layout lines for a stage's input and output primitives.
    pub fn primitive_layouts(&self, t: &mut Writer, entry: &EntryPoint) -> Vec<String> {
        let is_repeated = |mode: &PrimitiveMode| matches!(mode, PrimitiveMode::Invocations(count) if *count > 1);
        let has_streams = t.module.streams.iter().any(|(_, stream)| *stream > 0);
        if entry.stage == Stage::Geometry && (has_streams || entry.primitives.iter().any(is_repeated)) {
            self.require(t, &versions::GEOMETRY_INVOCATIONS);
        }
        let mut lines = Vec::new();
        for (space, word) in [(Space::Input, "in"), (Space::Output, "out")] {
            let modes = entry.primitives.iter().filter(|mode| !spelling::is_usual(entry.stage, **mode));
            let words = modes.filter_map(|mode| spelling::primitive_word(entry.stage, *mode));
            // The input primitive passes through (GL_NV_geometry_shader_passthrough).
            let is_passed = entry.stage == Stage::Geometry && !t.module.passed.is_empty() && space == Space::Output;
            let words: Vec<String> = words
                .filter(|(_, of, _)| *of == space && !is_passed)
                .map(|(name, _, value)| value.map_or_else(|| name.to_string(), |value| format!("{name} = {value}")))
                .collect();
            if !words.is_empty() {
                lines.push(format!("layout({}) {word};", words.join(", ")));
            }
        }
        self.redeclare(t, entry.stage);
        for id in &t.module.passed {
            t.global(*id);
        }
        lines
    }

    /// The array of blocks that has a built-in variable of each vertex or primitive.
    fn seat_of(&self, t: &Writer, global: &Global) -> Option<Seat> {
        let stage = t.stage()?;
        let Type::Array { element, .. } = t.types.get(global.ty) else { return None };
        let of = match (global.binding, t.types.get(element)) {
            (Binding::BuiltIn(of), _) => of,
            (Binding::None, Type::Struct(of)) => match t.types.structs[of].members.as_slice() {
                [member] => match member.binding {
                    Binding::BuiltIn(of) => of,
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        let name = |member: &&&str| {
            let source = grammar::variable(member).map(|variable| variable.source);
            source == Some(VariableSource::BuiltIn(of))
        };
        self.arrays(t, stage, global.space).find_map(|(array, blocks)| {
            let member = blocks.members.iter().find(name)?;
            Some(Seat { array, blocks, member })
        })
    }

    /// The built-in block arrays of a stage, in the form of the module's extensions.
    fn arrays(
        &self,
        t: &Writer,
        stage: Stage,
        space: Space,
    ) -> impl Iterator<Item = (&'static grammar::Variable, &'static grammar::Blocks)> {
        let other = MESHES[usize::from(!t.module.nvidia_meshes)];
        let rows = grammar::VARIABLES.iter().filter(move |row| {
            let is_there = row.stages.contains(stage) && row.output.contains(stage) == (space == Space::Output);
            is_there && !row.extensions.iter().any(|extension| extension.name == other)
        });
        rows.filter_map(|row| match row.source {
            VariableSource::Blocks(blocks) => Some((row, blocks)),
            _ => None,
        })
    }

    /// The array of blocks that contains a built-in variable, or is the variable.
    pub fn array_of_blocks(&self, t: &mut Writer, global: &Global) -> Option<&'static str> {
        if let Some(seat) = self.seat_of(t, global) {
            if let Some(extension) = grammar::variable(seat.member).and_then(|row| self.preferred(row.extensions))
                && !MESHES.contains(&extension)
            {
                t.need(extension);
            }
            self.need_point_size(t, seat.member);
            return Some(seat.array.name);
        }
        let stage = t.stage()?;
        self.arrays(t, stage, global.space).map(|(array, _)| array.name).find(|name| *name == &*global.name)
    }

    /// The sizes of points are an extension's in GLSL ES after the vertex stage.
    pub fn need_point_size(&self, t: &mut Writer, name: &str) {
        match t.stage() {
            Some(Stage::Geometry) if self.is_es && name == "gl_PointSize" => t.need("GL_EXT_geometry_point_size"),
            Some(Stage::TessControl | Stage::TessEvaluation) if self.is_es && name == "gl_PointSize" => {
                t.need("GL_EXT_tessellation_point_size");
            }
            _ => {}
        }
    }

    /// The member that a built-in variable is in the elements of its array of blocks.
    pub fn member_of_blocks(&self, t: &Writer, id: GlobalId) -> Option<String> {
        self.seat_of(t, &t.module.globals[id]).map(|seat| format!(".{}", seat.member))
    }

    /// Redeclares the arrays of blocks with members whose length the shader sets, and the built-in outputs with
    /// qualifiers.
    fn redeclare(&self, t: &mut Writer, stage: Stage) {
        for space in [Space::Input, Space::Output] {
            let arrays: Vec<_> = self.arrays(t, stage, space).collect();
            for (array, blocks) in arrays {
                self.redeclare_array(t, (array, blocks), space);
            }
        }
        self.redeclare_outputs(t);
    }

    fn redeclare_array(
        &self,
        t: &mut Writer,
        (array, blocks): (&'static grammar::Variable, &'static grammar::Blocks),
        space: Space,
    ) {
        let module = t.module;
        let mut members = Vec::new();
        for (id, global) in module.globals.iter().filter(|(_, global)| global.space == space) {
            let Some(seat) = self.seat_of(t, global).filter(|seat| seat.blocks == blocks) else { continue };
            let Type::Array { element, .. } = t.types.get(global.ty) else { continue };
            let has_length = matches!(t.types.get(element), Type::Array { .. });
            members.push((seat.member, element, has_length, module.passed.contains(&id)));
        }
        members.sort_by_key(|(name, ..)| blocks.members.iter().position(|known| known == name));
        let passes = members.iter().any(|(.., passes)| *passes);
        if !passes && !members.iter().any(|(_, _, has_length, _)| *has_length) {
            return;
        }
        let (word, layout) = match (space, passes) {
            (Space::Input, true) => ("in", "layout(passthrough) "),
            (Space::Input, false) => ("in", ""),
            _ => ("out", ""),
        };
        if passes {
            t.need("GL_NV_geometry_shader_passthrough");
        }
        // NVIDIA's form needs the qualifier on each member.
        let owner = if blocks.of_primitives && module.nvidia_meshes { "perprimitiveNV " } else { "" };
        self.require(t, &versions::PORT_LOCATIONS);
        t.variables.push(format!("{layout}{word} {} {{", blocks.name));
        for (name, ty, ..) in members {
            let (ty, dims) = t.declared(ty);
            t.variables.push(format!("    {owner}{ty} {name}{dims};"));
        }
        t.variables.push(format!("}} {}[];", array.name));
    }

    /// Redeclares `gl_PerVertex` if transform feedback captures a part of it, or it belongs to another vertex stream.
    pub fn redeclare_outputs(&self, t: &mut Writer) {
        const MEMBERS: [BuiltIn; 4] =
            [BuiltIn::Position, BuiltIn::PointSize, BuiltIn::ClipDistance, BuiltIn::CullDistance];
        let module = t.module;
        let of_block = |global: &Global| {
            global.space == Space::Output && matches!(global.binding, Binding::BuiltIn(of) if MEMBERS.contains(&of))
        };
        let mut members: Vec<GlobalId> =
            module.globals.iter().filter(|(_, global)| of_block(global)).map(|(id, _)| id).collect();
        members.sort_by_key(|id| MEMBERS.iter().position(|of| module.globals[*id].binding == Binding::BuiltIn(*of)));
        let stream = members.iter().find_map(|id| self.stream_word(t, *id));
        let fed = module.feedback.iter().find(|fed| members.contains(&fed.global));
        if stream.is_none() && fed.is_none() {
            return;
        }
        let buffer = fed.map(|fed| [format!("xfb_buffer = {}", fed.buffer), format!("xfb_stride = {}", fed.stride)]);
        let words: Vec<String> = stream.into_iter().chain(buffer.into_iter().flatten()).collect();
        self.check_feedback(t);
        self.require(t, &versions::PORT_LOCATIONS);
        t.variables.push(format!("layout({}) out gl_PerVertex {{", words.join(", ")));
        for id in members {
            let global = &module.globals[id];
            let fed = module.feedback.iter().find(|fed| fed.global == id);
            let offset = fed.map_or_else(String::new, |fed| format!("layout(xfb_offset = {}) ", fed.offset));
            let (ty, dims) = t.declared(global.ty);
            t.variables.push(format!("    {offset}{ty} {}{dims};", global.name));
        }
        t.variables.push("};".to_string());
    }

    /// The layout that puts an output into a stream of vertices.
    pub fn stream_word(&self, t: &Writer, id: GlobalId) -> Option<String> {
        let (_, stream) = t.module.streams.iter().find(|(known, _)| *known == id)?;
        Some(format!("stream = {stream}"))
    }

    fn check_feedback(&self, t: &mut Writer) {
        if !t.module.feedback.is_empty() {
            self.require(t, &versions::FEEDBACK);
        }
    }

    /// The layout words that a variable or block gets from its stage and from transform feedback.
    pub fn stage_words(&self, t: &mut Writer, id: GlobalId) -> Vec<String> {
        let mut words: Vec<String> = self.stream_word(t, id).into_iter().collect();
        let fed: Vec<_> = t.module.feedback.iter().filter(|fed| fed.global == id).copied().collect();
        if let Some(first) = fed.first() {
            self.check_feedback(t);
            words.push(format!("xfb_buffer = {}", first.buffer));
            words.push(format!("xfb_stride = {}", first.stride));
            words.extend(first.member.is_none().then(|| format!("xfb_offset = {}", first.offset)));
        }
        if t.module.passed.contains(&id) {
            t.need("GL_NV_geometry_shader_passthrough");
            words.push("passthrough".to_string());
        }
        words
    }

    /// The layout words that a member of a block gets from transform feedback.
    pub fn member_words_of(&self, t: &Writer, id: GlobalId, member: usize) -> Option<String> {
        let is_it = |fed: &&crate::ir::Feedback| fed.global == id && fed.member == Some(member as u32);
        t.module.feedback.iter().find(is_it).map(|fed| format!("xfb_offset = {}", fed.offset))
    }

    /// How a variable, or the first member of a block, is interpolated.
    pub fn interpolation_of(&self, t: &Writer, global: &Global) -> Interpolation {
        match (global.binding.interpolation(), t.block_of(global.ty)) {
            (Interpolation::Perspective, Some(of)) => t.types.structs[of]
                .members
                .first()
                .map(|member| member.binding.interpolation())
                .filter(|of| matches!(of, Interpolation::Patch | Interpolation::PerPrimitive { .. }))
                .unwrap_or_default(),
            (known, _) => known,
        }
    }

    /// The array dimensions of an input or output, without the one over primitives or vertices.
    pub fn port_dims(&self, t: &mut Writer, global: &Global, dims: String) -> String {
        let Some(stage) = t.stage().filter(|stage| *stage != Stage::Fragment) else { return dims };
        let interpolation = self.interpolation_of(t, global);
        let is_crowd = matches!(global.space, Space::Input | Space::Output)
            && stage.crowd(global.space, interpolation).is_some()
            && matches!(t.types.get(global.ty), Type::Array { .. });
        match dims.split_once(']') {
            Some((_, rest)) if is_crowd => format!("[]{rest}"),
            _ => dims,
        }
    }

    /// The qualifier of a value per patch or primitive, which is not interpolated.
    pub fn owner_word(&self, t: &mut Writer, interpolation: Interpolation) -> Option<&'static str> {
        match interpolation {
            Interpolation::Patch => Some("patch "),
            Interpolation::PerPrimitive { nvidia } => {
                self.need_meshes(t, nvidia);
                Some(if nvidia { "perprimitiveNV " } else { "perprimitiveEXT " })
            }
            _ => None,
        }
    }

    /// `invariant gl_Position;`, and other outputs with qualifiers.
    pub fn built_in_words(&self, t: &mut Writer, id: GlobalId, of: BuiltIn, name: &str) {
        let global = &t.module.globals[id];
        if global.access.contains(Access::INVARIANT) {
            t.variables.push(format!("invariant {name};"));
        }
        if let (true, Type::Array { .. }) = (self.is_indexed(t, id, of), t.types.get(global.ty)) {
            let word = if global.space == Space::Output { "out" } else { "in" };
            let (ty, dims) = t.declared(global.ty);
            t.variables.push(format!("{word} {ty} {name}{dims};"));
        }
        let modes = t.module.layer;
        if of != BuiltIn::Layer || global.space != Space::Output {
            return;
        }
        let offset = modes.secondary_offset.map(|offset| format!("secondary_view_offset = {offset}"));
        if offset.is_some() {
            t.need("GL_NV_stereo_view_rendering");
        }
        if modes.viewport_relative {
            t.need("GL_NV_viewport_array2");
        }
        let relative = modes.viewport_relative.then(|| "viewport_relative".to_string());
        let words: Vec<String> = relative.into_iter().chain(offset).collect();
        if !words.is_empty() {
            t.variables.push(format!("layout({}) out int {name};", words.join(", ")));
        }
    }

    /// Returns true if an array of distances is indexed such that neither constants nor a redeclared block show its
    /// size.
    fn is_indexed(&self, t: &Writer, id: GlobalId, of: BuiltIn) -> bool {
        let module = t.module;
        let names_length = |index: &Value| module.known_u32(*index).is_none();
        let is_redeclared = module.feedback.iter().any(|fed| fed.global == id) || self.stream_word(t, id).is_some();
        matches!(of, BuiltIn::ClipDistance | BuiltIn::CullDistance)
            && !is_redeclared
            && module.functions.iter().any(|(_, f)| {
                f.insts.iter().any(|(_, inst)| match inst.op {
                    Op::Access { base: Value::Global(base), indices } if base == id => {
                        f.values(indices).first().is_some_and(names_length)
                    }
                    Op::Load(Value::Global(base)) | Op::Store { pointer: Value::Global(base), .. } => base == id,
                    _ => false,
                })
            })
    }

    /// The type of an input or output as it is declared, with its lengths.
    pub fn port_type(&self, t: &mut Writer, global: &Global) -> (String, String) {
        let (name, dims) = t.declared(global.ty);
        let dims = self.port_dims(t, global, dims);
        (name, dims)
    }
}
