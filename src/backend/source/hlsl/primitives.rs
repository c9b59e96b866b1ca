//! Geometry, task and mesh shaders: inputs and outputs of each vertex or primitive, and the statements that emit them.

use super::Hlsl;
use super::globals::matrix_order;
use super::hull::is_of_patch;
use super::rays::comes_in;
use super::stage::{register_rank, system_value};
use super::tessellation::{is_tessellation, points_in, points_out};
use crate::backend::source::expr::Expr;
use crate::backend::source::function::{Body, Made};
use crate::backend::source::ports::built_in_of;
use crate::backend::source::writer::Writer;
use crate::ir::{
    ArrayLen, Binding, BuiltIn, Crowd, Ending, EntryPoint, FuncId, Global, GlobalId, Module, Op, PrimitiveMode, Space,
    Stage, Type, TypeId, Types, Value, Values,
};

/// The words for input primitives of a geometry shader.
const TAKEN: [(PrimitiveMode, &str); 5] = [
    (PrimitiveMode::InputPoints, "point"),
    (PrimitiveMode::InputLines, "line"),
    (PrimitiveMode::InputLinesAdjacency, "lineadj"),
    (PrimitiveMode::Triangles, "triangle"),
    (PrimitiveMode::InputTrianglesAdjacency, "triangleadj"),
];

/// The streams of primitives that a geometry shader assigns.
const GIVEN: [(PrimitiveMode, &str); 3] = [
    (PrimitiveMode::OutputPoints, "PointStream"),
    (PrimitiveMode::OutputLineStrip, "LineStream"),
    (PrimitiveMode::OutputTriangleStrip, "TriangleStream"),
];

/// `OpEmitVertex`, `OpEndPrimitive` and `OpSetMeshOutputsEXT`.
const EMIT: u32 = 218;
const END: u32 = 219;
const SET_COUNTS: u32 = 5295;

/// Names in the entry point of one of these stages in addition to its inputs and outputs.
#[derive(Default)]
pub(in crate::backend::source) struct Names {
    stream: String,
    vertices: String,
    primitives: String,
    payload: String,
}

/// Returns true if the functions of a module must be part of its entry point, because they use its parameters.
pub(super) fn joins(module: &Module) -> bool {
    let Some(entry) = module.entry_points.first() else { return false };
    let is_of_entry = |value: Value| {
        let Value::Global(id) = value else { return false };
        let (space, binding) = (module.globals[id].space, module.globals[id].binding);
        match entry.stage {
            Stage::TessEvaluation => return false,
            Stage::TessControl => {
                return space == Space::Output || binding == Binding::BuiltIn(BuiltIn::InvocationId);
            }
            _ => {}
        }
        comes_in(space) || !entry.stage.is_of_rays() && matches!(space, Space::Input | Space::Output)
    };
    let ends = |op| match op {
        Op::Foreign(..) => is_primitive(entry.stage) || entry.stage == Stage::Intersection,
        op => matches!(op, Op::End(..)),
    };
    let uses = |id: FuncId| {
        let f = &module.functions[id];
        f.insts.iter().any(|(_, inst)| {
            let mut uses = ends(inst.op);
            inst.op.each_operand(f, |value| uses |= is_of_entry(value));
            uses
        })
    };
    let others = module.functions.iter().map(|(id, _)| id).filter(|id| *id != entry.function);
    (has_crowds(entry.stage) || entry.stage.is_of_rays()) && others.into_iter().any(uses)
}

/// Returns true for the stages of this file.
pub(super) const fn is_primitive(stage: Stage) -> bool {
    matches!(stage, Stage::Geometry | Stage::Task | Stage::Mesh)
}

/// Returns true if inputs or outputs may have an element for each of several vertices or primitives.
pub(super) const fn has_crowds(stage: Stage) -> bool {
    is_primitive(stage) || is_tessellation(stage)
}

/// The input vertices.
fn vertices_in(module: &Module, entry: &EntryPoint) -> Option<u32> {
    let is_taken = |mode: &&PrimitiveMode| TAKEN.iter().any(|(taken, _)| taken == *mode);
    match entry.stage {
        Stage::Geometry => entry.primitives.iter().filter(is_taken).find_map(|mode| mode.vertices()),
        _ => points_in(module, entry),
    }
}

impl Hlsl {
    /// The vertices or primitives that own one element each of an input or output.
    pub fn crowd_of(&self, t: &Writer, id: GlobalId) -> Option<Crowd> {
        let global = &t.module.globals[id];
        let stage = t.stage().filter(|stage| has_crowds(*stage))?;
        let is_port = matches!(global.space, Space::Input | Space::Output);
        if !is_port || !matches!(t.types.get(global.ty), Type::Array { .. }) {
            return None;
        }
        if stage == Stage::TessControl && global.space == Space::Output {
            return self.own_of(t, id).map(|_| Crowd::OutputVertices);
        }
        if is_of_patch(t.module, global) {
            return None;
        }
        match built_in_of(t, global) {
            None => {
                stage.crowd(global.space, global.binding.interpolation()).map(|crowd| self.of_members(t, global, crowd))
            }
            Some(BuiltIn::PointSize) => None,
            Some(of) if of.crowd().is_some() => None,
            Some(BuiltIn::Position | BuiltIn::ClipDistance | BuiltIn::CullDistance) => {
                stage.crowd(global.space, Default::default())
            }
            Some(_) => (stage == Stage::Mesh).then_some(Crowd::OutputPrimitives),
        }
    }

    /// The members of a block may make it per-primitive.
    fn of_members(&self, t: &Writer, global: &Global, crowd: Crowd) -> Crowd {
        let first = t.block_of(global.ty).and_then(|of| t.types.structs[of].members.first());
        match first.map(|member| member.binding.interpolation()) {
            Some(crate::ir::Interpolation::PerPrimitive { .. }) => Crowd::OutputPrimitives,
            _ => crowd,
        }
    }

    /// The element's member that represents a variable.
    pub fn member_of(&self, t: &Writer, id: GlobalId) -> Option<String> {
        self.crowd_of(t, id)?;
        Some(format!(".{}", self.crowd_name(t, id)))
    }

    /// The name of a variable as a member of the struct of vertices or primitives.
    fn crowd_name(&self, t: &Writer, id: GlobalId) -> String {
        let global = &t.module.globals[id];
        match built_in_of(t, global) {
            Some(of) => match t.ports.find(of, global.space) {
                Some(given) => given.name.clone(),
                None => global.name.to_string(),
            },
            None => self.port_name(t, self.own_of(t, id).unwrap_or(id)),
        }
    }

    /// The array with an element for each vertex or primitive.
    pub fn crowd_array(&self, b: &mut Body, id: GlobalId, crowd: Crowd) -> Expr {
        b.t.global(id);
        if b.entry.is_none() {
            if matches!(crowd, Crowd::InputVertices | Crowd::PatchVertices) {
                return Expr::primary(self.shared_vertices(b.t));
            }
            b.t.unsupported("outputs of each vertex in functions that are not part of the entry point");
        }
        let names = &b.t.hlsl.primitive_names;
        Expr::primary(match crowd {
            Crowd::MeshVertices => names.vertices.clone(),
            Crowd::OutputPrimitives => names.primitives.clone(),
            Crowd::OutputVertices => b.t.hlsl.tessellation.points.clone(),
            _ => b.t.ports.input.clone(),
        })
    }

    /// The variable with all input vertices, for functions other than the entry point.
    fn shared_vertices(&self, t: &mut Writer) -> String {
        if let Some(known) = &t.hlsl.shared_vertices {
            return known.clone();
        }
        let count = t.module.entry_points.first().and_then(|entry| vertices_in(t.module, entry)).unwrap_or(1);
        let name = t.names.unique("all_input", None);
        t.variables.push(format!("static {} {name}[{count}];", t.ports.types[0]));
        t.hlsl.shared_vertices = Some(name.clone());
        name
    }

    /// Fills the variable from which functions read all vertices, if there is one.
    pub fn share_vertices(&self, b: &mut Body, count: u32) {
        let Some(name) = b.t.hlsl.shared_vertices.clone() else { return };
        let input = b.t.ports.input.clone();
        for vertex in 0..count {
            b.setup_line(format!("{name}[{vertex}] = {input}[{vertex}]"));
        }
    }

    /// The values of all input vertices as an array.
    pub fn all_of_crowd(&self, b: &mut Body, pointer: Value, ty: TypeId) -> Option<Made> {
        let Value::Global(id) = pointer else { return None };
        let (crowd, entry) = (self.crowd_of(b.t, id)?, b.entry?);
        let count = match crowd {
            Crowd::InputVertices | Crowd::PatchVertices => vertices_in(b.t.module, entry)?,
            Crowd::OutputVertices => points_out(entry),
            _ => return None,
        };
        let part = self.member_of(b.t, id)?;
        let array = self.crowd_array(b, id, crowd);
        let zero = b.t.zero(ty);
        let name = b.t.module.globals[id].name.to_string();
        let whole = b.changing(&name, ty, &zero);
        for vertex in 0..count {
            b.line(format!("{}[{vertex}] = {}[{vertex}]{part}", whole.text, array.text));
        }
        Some(Made::One(whole))
    }

    /// Names the entry point's own variables.
    pub fn name_primitives(&self, b: &mut Body) {
        let [stream, vertices, primitives] = ["stream", "all_vertices", "all_primitives"].map(|name| b.named(name));
        let payload = std::mem::take(&mut b.t.hlsl.primitive_names.payload);
        b.t.hlsl.primitive_names = Names { stream, vertices, primitives, payload };
    }

    /// The members of the struct of vertices or primitives.
    pub fn crowd_lines(&self, t: &mut Writer, space: Space, wanted: Crowd) -> Vec<String> {
        let list = if space == Space::Input { 0 } else { 1 };
        let located: Vec<GlobalId> =
            t.ports.located[list].iter().copied().filter(|id| self.crowd_of(t, *id) == Some(wanted)).collect();
        let mut lines = self.port_lines(t, &located);
        let module = t.module;
        let all = module.globals.iter().filter(|(_, global)| global.space == space);
        let own = all.filter(|(id, _)| self.crowd_of(t, *id) == Some(wanted));
        let mut built_in: Vec<(BuiltIn, GlobalId, &Global)> =
            own.filter_map(|(id, global)| Some((built_in_of(t, global)?, id, global))).collect();
        if wanted == Crowd::PatchVertices {
            // Registers follow from the order.
            built_in.sort_by_key(|(of, ..)| register_rank(*of));
            if built_in.first().is_some_and(|(of, ..)| *of != BuiltIn::Position) {
                let name = t.names.unique("position", None);
                lines.push(format!("    float4 {name} : SV_Position;"));
            }
        }
        for (of, id, global) in built_in {
            let Some(system) = system_value(of, t.ports.depth) else {
                t.span = global.span;
                t.unsupported(&format!("built-in value {of:?} in this stage"));
                continue;
            };
            let count = match t.types.get(global.ty) {
                Type::Array { element, .. } => match t.types.get(element) {
                    Type::Array { len: ArrayLen::Fixed(len), .. } => len,
                    _ => t.types.components(element).map_or(1, u32::from),
                },
                _ => 1,
            };
            if count > 4 {
                t.unsupported("more than four distances of each vertex");
            }
            let is_distance = matches!(of, BuiltIn::ClipDistance | BuiltIn::CullDistance);
            let ty = match t.vector_name(system.scalar, count.min(4) as u8) {
                name if is_distance && count == 1 => format!("{name}1"),
                name => name,
            };
            let name = self.crowd_name(t, id);
            lines.push(format!("    {ty} {name} : {};", system.semantic));
        }
        lines
    }

    /// The head of a geometry shader.
    pub fn geometry_signature(&self, b: &mut Body, entry: &EntryPoint, mut params: Vec<String>) -> String {
        let lines = self.crowd_lines(b.t, Space::Input, Crowd::InputVertices);
        let [input_type, output_type] = b.t.ports.types.clone();
        let find = |rows: &[(PrimitiveMode, &'static str)]| {
            let row = rows.iter().find(|(mode, _)| entry.primitives.contains(mode));
            row.map_or((1, ""), |(mode, word)| (mode.vertices().unwrap_or(1), *word))
        };
        let unread = || vec!["    float4 position : SV_Position;".to_string()];
        b.t.declare_struct(&input_type, if lines.is_empty() { unread() } else { lines });
        let (count, word) = find(&TAKEN);
        params.insert(0, format!("{word} {input_type} {}[{count}]", b.t.ports.input));
        self.share_vertices(b, count);
        if !b.t.ports.has_outputs() {
            b.t.unsupported("geometry shaders without outputs");
        }
        let instructions = &b.t.module.foreign.instructions;
        let gives = |op| matches!(op, Op::Foreign(at, _) if instructions[at as usize].opcode == EMIT);
        if !b.f.insts.iter().any(|(_, inst)| gives(inst.op)) {
            b.t.span = b.f.span;
            b.t.lacks("geometry shaders that give out no vertices");
        }
        self.declare_outputs(b);
        params.push(format!("inout {}<{output_type}> {}", find(&GIVEN).1, b.t.hlsl.primitive_names.stream));
        let mut attributes = String::new();
        for mode in &entry.primitives {
            match mode {
                PrimitiveMode::OutputVertices(count) => attributes.push_str(&format!("[maxvertexcount({count})]\n")),
                PrimitiveMode::Invocations(2..) => {
                    let PrimitiveMode::Invocations(count) = mode else { continue };
                    attributes.push_str(&format!("[instance({count})]\n"));
                }
                _ => {}
            }
        }
        format!("{attributes}void {}({}) {{", b.t.ports.entry.clone(), params.join(", "))
    }

    /// The head of a mesh shader.
    pub fn mesh_signature(&self, b: &mut Body, entry: &EntryPoint, mut params: Vec<String>) -> String {
        let mut most = [0, 0];
        let mut topology = "triangle";
        for mode in &entry.primitives {
            match mode {
                PrimitiveMode::OutputVertices(count) => most[0] = *count,
                PrimitiveMode::OutputPrimitives(count) => most[1] = *count,
                PrimitiveMode::OutputLines => topology = "line",
                PrimitiveMode::OutputPoints => b.t.lacks("points that mesh shaders give out"),
                _ => {}
            }
        }
        if let Some(payload) = self.payload_type(b.t) {
            let name = b.named("payload_in");
            b.setup_line(format!("{} = {name}", b.t.hlsl.primitive_names.payload.clone()));
            params.push(format!("in payload {payload} {name}"));
        }
        let names = &b.t.hlsl.primitive_names;
        let arrays = [names.vertices.clone(), names.primitives.clone()];
        let rows = [(Crowd::MeshVertices, "vertices", "Vertex"), (Crowd::OutputPrimitives, "primitives", "Primitive")];
        for ((row, name), most) in rows.into_iter().zip(arrays).zip(most) {
            let (crowd, word, ty) = row;
            let lines = self.crowd_lines(b.t, Space::Output, crowd);
            if !lines.is_empty() {
                let ty = b.t.names.unique(ty, None);
                b.t.declare_struct(&ty, lines);
                params.push(format!("out {word} {ty} {name}[{most}]"));
            }
        }
        let indices = [BuiltIn::PrimitiveTriangleIndices, BuiltIn::PrimitiveLineIndices];
        let given =
            indices.into_iter().find_map(|of| b.t.ports.find(of, Space::Output)).map(|given| given.name.clone());
        let name = given.unwrap_or_else(|| b.named("indices"));
        let size = if topology == "line" { 2 } else { 3 };
        params.push(format!("out indices uint{size} {name}[{}]", most[1]));
        let size = self.workgroup_size(b.t, entry);
        self.check_reads(b);
        let attributes = format!("[outputtopology(\"{topology}\")]\n{size}\n");
        format!("{attributes}void {}({}) {{", b.t.ports.entry.clone(), params.join(", "))
    }

    /// Mesh shaders cannot read their outputs.
    fn check_reads(&self, b: &mut Body) {
        let f = b.f;
        for (_, inst) in f.insts.iter() {
            let Op::Load(pointer) = inst.op else { continue };
            let root = match pointer {
                Value::Inst(id) => match f.insts[id].op {
                    Op::Access { base, .. } => base,
                    _ => continue,
                },
                other => other,
            };
            if matches!(root, Value::Global(id) if b.t.module.globals[id].space == Space::Output) {
                b.t.span = inst.span;
                b.t.lacks("reads of the outputs of mesh shaders");
            }
        }
    }

    /// The head of a task shader, which the language calls an amplification shader.
    pub fn task_signature(&self, b: &mut Body, entry: &EntryPoint, params: &[String]) -> String {
        let size = self.workgroup_size(b.t, entry);
        format!("{size}\nvoid {}({}) {{", b.t.ports.entry.clone(), params.join(", "))
    }

    /// The variable with the payload that task shaders hand to mesh shaders.
    pub fn declare_payload(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let name = t.global_names.get(&id).cloned().unwrap_or_default();
        let word = if t.stage() == Some(Stage::Task) { "groupshared" } else { "static" };
        let (ty, dims) = t.declared(global.ty);
        let is_struct = dims.is_empty() && matches!(t.types.get(global.ty), Type::Struct(_));
        let (ty, variable, path) = match is_struct {
            true => (ty, name.clone(), name),
            false => {
                let order = matrix_order(t, global.ty);
                let (wrapped, variable) = (t.names.unique("Payload", None), t.names.unique("payload", None));
                t.declare_struct(&wrapped, vec![format!("    {order}{ty} {name}{dims};")]);
                (wrapped, variable.clone(), format!("{variable}.{name}"))
            }
        };
        t.variables.push(format!("{word} {ty} {variable};"));
        t.hlsl.primitive_names.payload = variable;
        t.hlsl.payload_type = Some(ty);
        path
    }

    /// The type of the payload, if the shader uses one.
    fn payload_type(&self, t: &mut Writer) -> Option<String> {
        t.hlsl.payload_type.clone()
    }

    /// An instruction of one of these stages.
    pub fn primitive_instruction(&self, b: &mut Body, opcode: u32, args: Values) {
        match opcode {
            EMIT | END if b.entry.is_none() => {
                b.t.unsupported("primitives that functions give out which are not part of the entry point");
            }
            EMIT => {
                self.fill_outputs(b);
                let (stream, output) = (b.t.hlsl.primitive_names.stream.clone(), b.t.ports.output.clone());
                b.line(format!("{stream}.Append({output})"));
            }
            END => b.line(format!("{}.RestartStrip()", b.t.hlsl.primitive_names.stream.clone())),
            SET_COUNTS => {
                let args = b.list(args);
                b.line(Expr::call("SetMeshOutputCounts", &args).text);
            }
            220 | 221 => b.t.unsupported("streams of vertices"),
            _ => b.t.unsupported("instructions of SPIR-V's own"),
        }
    }

    /// Starts mesh shaders, which a task shader does once and as its last statement.
    pub fn start_meshes(&self, b: &mut Body, args: Values) {
        let f = b.f;
        let is_last = |at: Option<&crate::ir::InstId>| at.is_some_and(|id| Some(*id) == b.current);
        let is_once =
            b.t.module
                .functions
                .iter()
                .flat_map(|(_, f)| f.insts.iter())
                .filter(|(_, inst)| matches!(inst.op, Op::End(..)))
                .count()
                == 1;
        if b.entry.is_none() || !is_once || !is_last(f.blocks[f.body].insts.last()) {
            b.t.unsupported("task shaders that start meshes other than once, at the end of the entry point,");
            return;
        }
        let mut args = b.list(args);
        let payload = b.t.hlsl.primitive_names.payload.clone();
        if payload.is_empty() {
            let (ty, name) = (b.t.names.unique("Payload", None), b.t.names.unique("payload", None));
            b.t.declare_struct(&ty, vec!["    uint unused;".to_string()]);
            b.t.variables.push(format!("groupshared {ty} {name};"));
            args.push(Expr::primary(name));
        } else {
            args.push(Expr::primary(payload));
        }
        b.line(Expr::call("DispatchMesh", &args).text);
        b.line("return".to_string());
    }

    /// The end of an invocation.
    pub fn end(&self, b: &mut Body, ending: Ending, args: Values) {
        match ending {
            Ending::MeshTasks => self.start_meshes(b, args),
            _ => self.end_hit(b, ending),
        }
    }

    /// Rejects features of these stages that the language lacks.
    pub fn check_primitives(&self, t: &mut Writer, entry: &EntryPoint) {
        let is_mesh = matches!(entry.stage, Stage::Task | Stage::Mesh);
        if is_mesh && t.options.profile.version < (6, 5) {
            t.lacks("task and mesh shaders before Shader Model 6.5");
        }
        if t.module.nvidia_meshes {
            t.unsupported("NVIDIA's form of task and mesh shaders");
        }
        if t.module.globals.iter().any(|(id, global)| self.is_point_size(t, id, global)) {
            t.lacks("sizes of points");
        }
        let module = t.module;
        let instructions = &module.foreign.instructions;
        let sets = |op| matches!(op, Op::Foreign(at, _) if instructions[at as usize].opcode == SET_COUNTS);
        let mut calls = module.functions.iter().flat_map(|(_, f)| f.insts.iter()).filter(|(_, inst)| sets(inst.op));
        if let Some((_, second)) = calls.nth(1) {
            t.span = second.span;
            t.lacks("second call of `SetMeshOutputCounts`");
        }
        if !t.module.streams.is_empty() {
            t.unsupported("streams of vertices");
        }
        if !t.module.passed.is_empty() {
            t.unsupported("inputs that pass through");
        }
    }

    /// Returns true for the sizes of points that a geometry shader reads.
    fn is_point_size(&self, t: &Writer, id: GlobalId, global: &Global) -> bool {
        let is_it = global.space == Space::Input && global.binding == Binding::BuiltIn(BuiltIn::PointSize);
        is_it && t.ports.named.contains(&id)
    }

    /// The result of a foreign instruction.
    pub fn foreign(&self, b: &mut Body, at: u32, args: Values, ty: TypeId) -> Option<Expr> {
        let instruction = &b.t.module.foreign.instructions[at as usize];
        let opcode = instruction.opcode;
        if instruction.set.is_none()
            && let Some(made) = self.ray_instruction(b, opcode, args)
        {
            return made;
        }
        if ty != Types::VOID || instruction.set.is_some() {
            return Some(b.t.stand_in("instructions of SPIR-V's own"));
        }
        self.primitive_instruction(b, opcode, args);
        None
    }
}
