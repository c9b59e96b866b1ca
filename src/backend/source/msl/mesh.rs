//! Mesh and object functions (sections 5.1.7 and 5.1.8). A mesh shader writes its outputs in parts, so they are in
//! workgroup memory until its end, when each thread emits some of them.

use super::crowds::{Owner, OwnerNames};
use super::dialect::Part;
use super::{Extra, Msl};
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::ports;
use crate::backend::source::ports::built_in_of;
use crate::backend::source::tree::{Declared, Kind, Stmt};
use crate::backend::source::writer::Writer;
use crate::ir::{
    BuiltIn, Ending, EntryPoint, Function, Global, GlobalId, Inst, InstFlags, InstId, Module, Op, PrimitiveMode, Space,
    Stage, Type, TypeId, Types, Value, Values, calls::callees_first,
};
use std::borrow::Cow;

/// `OpSetMeshOutputsEXT`.
const SET_COUNTS: u32 = 5295;

/// The facts of a mesh or object function.
#[derive(Clone, Default, Debug)]
pub(in crate::backend::source) struct Mesh {
    /// The maximum numbers of vertices and primitives.
    most: [u32; 2],
    /// Vertices of a primitive.
    corners: u32,
    /// Names of the structs that the mesh has, and of its type.
    types: [String; 2],
    ty: String,
    /// The numbers of vertices and primitives, and the loops over these.
    counts: String,
    indices: [String; 2],
    /// The grid of mesh functions that an object function starts.
    grid: String,
    /// The struct of the payload if the source's is not a struct, and the name of its member.
    wrapped: Option<[String; 2]>,
    /// The bytes of the payload.
    pub payload: Option<u32>,
}

/// Returns true if the functions of a module must be part of its entry point, because one of them ends the invocation.
pub(super) fn joins(module: &Module) -> bool {
    let Some(entry) = module.entry_points.first().filter(|entry| entry.stage == Stage::Task) else { return false };
    let ends = |f: &Function| f.insts.iter().any(|(_, inst)| matches!(inst.op, Op::End(..)));
    module.functions.iter().any(|(id, f)| id != entry.function && ends(f))
}

/// Moves the body of a mesh shader with early returns to a function, so that all threads reach the end of the entry
/// point.
pub(super) fn outline(module: &mut Cow<Module>) {
    let Some(entry) = module.entry_points.first().filter(|entry| entry.stage == Stage::Mesh) else { return };
    let id = entry.function;
    let f = &module.functions[id];
    let last = f.blocks[f.body].insts.last().copied();
    let is_early = |at, op| matches!(op, Op::Return(_)) && Some(at) != last;
    if !f.insts.iter().any(|(at, inst)| is_early(at, inst.op)) {
        return;
    }
    let module = module.to_mut();
    let f = &mut module.functions[id];
    f.name = "mesh_main".into();
    let mut whole = Function::new("main", f.span, Vec::new(), Types::VOID);
    let args = whole.list(&[]);
    let call = Inst { op: Op::Call(id, args), ty: Types::VOID, span: f.span, flags: InstFlags::empty() };
    let call = whole.insts.push(call);
    let body = whole.body;
    whole.blocks[body].insts.push(call);
    let whole = module.functions.push(whole);
    module.entry_points[0].function = whole;
}

/// Adds a return after calls of functions that always end the invocation.
pub(super) fn return_after_ends(module: &mut Cow<Module>) {
    if module.entry_points.first().is_none_or(|entry| entry.stage != Stage::Task) {
        return;
    }
    for id in callees_first(module, [module.entry_points[0].function]) {
        let f = &module.functions[id];
        let ends = |at: &InstId| match f.insts[*at].op {
            Op::Call(callee, _) => always_ends(module, &module.functions[callee]),
            _ => false,
        };
        let blocks = f.blocks.iter().filter_map(|(block, of)| Some((block, of.insts.iter().position(ends)?)));
        for (block, at) in blocks.collect::<Vec<_>>() {
            let f = &mut module.to_mut().functions[id];
            let span = f.insts[f.blocks[block].insts[at]].span;
            let op = Op::Return(None);
            let leaves = f.insts.push(Inst { op, ty: Types::VOID, span, flags: InstFlags::empty() });
            f.blocks[block].insts.truncate(at + 1);
            f.blocks[block].insts.push(leaves);
        }
    }
}

/// Returns true if a function ends the invocation at its end, or by a call there, and never returns before.
fn always_ends(module: &Module, f: &Function) -> bool {
    let ends = |insts: &[InstId]| match insts.iter().map(|at| f.insts[*at].op).collect::<Vec<_>>().as_slice() {
        [.., Op::End(..)] => true,
        [.., Op::Call(callee, _), Op::Return(_)] => always_ends(module, &module.functions[*callee]),
        _ => false,
    };
    let returns = |insts: &[InstId]| insts.last().is_some_and(|at| matches!(f.insts[*at].op, Op::Return(_)));
    ends(&f.blocks[f.body].insts) && f.blocks.iter().all(|(_, block)| !returns(&block.insts) || ends(&block.insts))
}

/// Returns true if the entry point sets the numbers of vertices and primitives on every path.
fn sets_counts(b: &Body) -> bool {
    let sets = |at: &InstId| match b.f.insts[*at].op {
        Op::Foreign(of, _) => b.t.module.foreign.instructions[of as usize].opcode == SET_COUNTS,
        _ => false,
    };
    b.f.blocks[b.f.body].insts.iter().any(sets)
}

impl Msl {
    /// Collects the facts about a mesh or object function before writing.
    pub fn find_mesh(&self, t: &mut Writer, entry: &EntryPoint) {
        if !matches!(entry.stage, Stage::Mesh | Stage::Task) {
            return;
        }
        self.needs(t, Part::Meshes);
        if t.module.nvidia_meshes {
            t.unsupported("NVIDIA's form of task and mesh shaders");
        }
        t.note_built_in(BuiltIn::LocalInvocationIndex, "local_index", Types::U32);
        let mut mesh = Mesh { corners: 3, ..Mesh::default() };
        for mode in &entry.primitives {
            match mode {
                PrimitiveMode::OutputVertices(count) => mesh.most[0] = *count,
                PrimitiveMode::OutputPrimitives(count) => mesh.most[1] = *count,
                PrimitiveMode::OutputLines => mesh.corners = 2,
                PrimitiveMode::OutputPoints => mesh.corners = 1,
                _ => {}
            }
        }
        let mut name = |name: &str| t.names.unique(name, None);
        mesh.types = ["Vertex", "Primitive"].map(&mut name);
        mesh.ty = name("Mesh");
        mesh.counts = name("mesh_counts");
        mesh.indices = ["vertex_index", "primitive_index"].map(&mut name);
        mesh.grid = name("mesh_grid");
        let rows = [
            (Owner::MeshVertex, "VertexData", "mesh_vertices"),
            (Owner::MeshPrimitive, "PrimitiveData", "mesh_primitives"),
            (Owner::Mesh, "", "mesh_output"),
        ];
        for (owner, ty, own) in rows {
            let names = OwnerNames { ty: name(ty), buffer: String::new(), own: name(own) };
            t.msl.owners.insert(owner, names);
        }
        t.msl.mesh = mesh;
        self.name_owned(t);
        self.find_payload(t);
    }

    /// The payload is a struct: one is created if the source has another type.
    fn find_payload(&self, t: &mut Writer) {
        let module = t.module;
        let payload = module.globals.iter().find(|(_, global)| global.space == Space::TaskPayload);
        let Some((id, global)) = payload else { return };
        t.msl.mesh.payload = Some(super::crowds::size_of(t, global.ty).0);
        if !matches!(t.types.get(global.ty), Type::Struct(_)) {
            let names = ["Payload", "payload_data"].map(|name| t.names.unique(name, None));
            let member = t.global_names.get(&id).cloned().unwrap_or_default();
            t.global_names.insert(id, format!("{}.{member}", names[1]));
            t.msl.mesh.wrapped = Some([names[0].clone(), names[1].clone()]);
        }
    }

    /// The payload as a parameter or an argument, with its address space.
    pub fn payload_param(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let space = if t.stage() == Some(Stage::Task) { "object_data" } else { "const object_data" };
        match t.msl.mesh.wrapped.clone() {
            Some([ty, name]) => format!("{space} {ty}& {name}"),
            None => {
                let (ty, _) = t.declared(global.ty);
                format!("{space} {ty}& {}", t.global(id))
            }
        }
    }

    /// Declares a struct for a payload that has none in the source.
    fn declare_payload(&self, t: &mut Writer, id: GlobalId, global: &Global) {
        let Some([ty, _]) = t.msl.mesh.wrapped.clone() else { return };
        let name = t.global(id);
        let member = name.split_once('.').map_or(name.as_str(), |(_, member)| member);
        let (of, dims) = t.declared(global.ty);
        t.declare_struct(&ty, vec![format!("    {of} {member}{dims};")]);
    }

    /// The argument of a function for a payload, as a whole.
    pub fn payload_argument(&self, t: &mut Writer, id: GlobalId) -> String {
        match t.msl.mesh.wrapped.clone() {
            Some([_, name]) => name,
            None => t.global(id),
        }
    }

    /// The head of a mesh or object function.
    pub fn mesh_signature(&self, b: &mut Body, entry: &EntryPoint) -> String {
        let index = self.local_index(b);
        debug_assert!(!index.is_empty());
        self.declare_private(b);
        let used: Vec<Extra> = b.t.msl.used.iter().copied().collect();
        let mut params = Vec::new();
        if entry.stage == Stage::Mesh {
            params.push(self.declare_mesh(b));
        } else {
            params.push(format!("mesh_grid_properties {}", b.t.msl.mesh.grid));
        }
        for extra in &used {
            let Extra::Global(id) = *extra else { continue };
            let global = &b.t.module.globals[id];
            if global.space == Space::TaskPayload {
                self.declare_payload(b.t, id, global);
                params.push(format!("{} [[payload]]", self.payload_param(b.t, id, global)));
            }
        }
        params.extend(self.resource_arguments(b, &used));
        for extra in &used {
            params.extend(self.value_argument(b, *extra));
        }
        self.zero_shared(b);
        let word = if entry.stage == Stage::Mesh { "mesh" } else { "object" };
        let size = self.workgroup_size(b.t, entry);
        let name = b.t.ports.entry.clone();
        format!(
            "[[{word}, max_total_threads_per_threadgroup({size})]]\nvoid {name}(\n    {}) {{",
            params.join(",\n    ")
        )
    }

    fn local_index(&self, b: &mut Body) -> String {
        self.built_in(b, BuiltIn::LocalInvocationIndex, Space::Input).map_or_else(String::new, |index| index.text)
    }

    /// Declares the type of a mesh, and the memory for its vertices and primitives. Returns the mesh argument.
    fn declare_mesh(&self, b: &mut Body) -> String {
        let Mesh { most, corners, types, ty, counts, .. } = b.t.msl.mesh.clone();
        let origin = b.origin;
        let mut words = Vec::new();
        for ((owner, most), own) in [Owner::MeshVertex, Owner::MeshPrimitive].into_iter().zip(most).zip(types) {
            let names = self.names_of(b.t, owner);
            if b.t.msl.used.contains(&Extra::Own(owner)) {
                self.declare_record(b.t, owner);
                let line = format!("threadgroup {} {}[{most}];", names.ty, names.own);
                b.setup.insert(0, Stmt::new(origin, Kind::Line(line)));
            }
            let lines = self.mesh_lines(b.t, owner);
            if lines.is_empty() {
                words.push("void".to_string());
            } else {
                b.t.declare_struct(&own, lines);
                words.push(own);
            }
        }
        let topology = ["point", "line", "triangle"][corners.clamp(1, 3) as usize - 1];
        let [vertices, primitives] = most;
        let words = words.join(", ");
        b.t.structs.push(format!("using {ty} = metal::mesh<{words}, {vertices}, {primitives}, topology::{topology}>;"));
        b.setup.insert(0, Stmt::new(origin, Kind::Line(format!("threadgroup uint2 {counts};"))));
        if !sets_counts(b) {
            let index = self.local_index(b);
            let then = b.within(|b| b.line(format!("{counts} = uint2(0u)")));
            let condition = Expr::primary(format!("{index} == 0"));
            b.setup.push(Stmt::new(origin, Kind::If { condition, then, otherwise: Vec::new(), hint: "" }));
        }
        format!("{ty} {}", self.names_of(b.t, Owner::Mesh).own)
    }

    /// The members of a vertex or primitive of a mesh.
    fn mesh_lines(&self, t: &mut Writer, owner: Owner) -> Vec<String> {
        let mut lines = Vec::new();
        for id in self.owned(t, owner) {
            let global = &t.module.globals[id];
            t.span = global.span;
            let Some(of) = built_in_of(t, global) else {
                for leaf in self.leaves(t, id, global) {
                    self.add_line(t, &leaf, Space::Output, &mut lines);
                }
                continue;
            };
            let name = self.member_name(t, id);
            match of {
                BuiltIn::ClipDistance => {
                    let ty = self.type_for_one(t, id);
                    let count = t.types.part_count(ty).unwrap_or(1);
                    lines.push(format!("    float {name} [[clip_distance]] [{count}];"));
                    lines.extend((0..count).map(|n| format!("    float {name}_{n} [[user(clip{n})]];")));
                }
                BuiltIn::PointSize if t.msl.mesh.corners > 1 => {}
                _ => {
                    let Some(attribute) = super::stage::attribute(t.stage(), of, t.ports.depth) else { continue };
                    let ty = self.type_for_one(t, id);
                    let size = t.types.components(ty).unwrap_or(1);
                    let ty = t.vector_name(attribute.scalar, size);
                    let is_same = of == BuiltIn::Position && ports::is_invariant(t);
                    let invariant = if is_same { ", invariant" } else { "" };
                    lines.push(format!("    {ty} {name} [[{}{invariant}]];", attribute.text));
                }
            }
        }
        let has_position = lines.iter().any(|line| line.contains("[[position"));
        if owner == Owner::MeshVertex && !has_position {
            lines.push("    float4 position [[position]];".to_string());
        }
        lines
    }

    /// Hands on the vertices and primitives, some for each thread.
    pub fn end_mesh(&self, b: &mut Body) {
        let Mesh { types, counts, indices, .. } = b.t.msl.mesh.clone();
        let mesh = self.names_of(b.t, Owner::Mesh).own;
        let first = self.local_index(b);
        let size = b.entry.map_or_else(String::new, |entry| self.workgroup_size(b.t, entry));
        b.line("threadgroup_barrier(mem_flags::mem_threadgroup)".to_string());
        let condition = Expr::primary(format!("{first} == 0"));
        let then = b.within(|b| b.line(format!("{mesh}.set_primitive_count({counts}.y)")));
        b.push(Kind::If { condition, then, otherwise: Vec::new(), hint: "" });
        let rows = [(Owner::MeshVertex, "set_vertex", "x"), (Owner::MeshPrimitive, "set_primitive", "y")];
        for (((owner, set, count), ty), index) in rows.into_iter().zip(types).zip(indices) {
            if self.owned(b.t, owner).is_empty() && owner == Owner::MeshPrimitive {
                continue;
            }
            let made = b.named(if owner == Owner::MeshVertex { "vertex_out" } else { "primitive_out" });
            let body = b.within(|b| {
                b.line(format!("{ty} {made} = {{}}"));
                self.fill_one(b, owner, &made, &index);
                b.line(format!("{mesh}.{set}({index}, {made})"));
            });
            let value = Some(first.clone());
            let first =
                Declared { ty: "uint".into(), name: index.clone(), dims: String::new(), value, is_fixed: false };
            let condition = Some(format!("{index} < {counts}.{count}"));
            let steps = vec![format!("{index} += {size}")];
            b.push(Kind::For { first: Some(Box::new(first)), condition, steps, body, hint: "" });
        }
    }

    /// Fills a vertex or primitive of the mesh.
    fn fill_one(&self, b: &mut Body, owner: Owner, made: &str, index: &str) {
        let own = self.names_of(b.t, owner).own;
        for id in self.owned(b.t, owner) {
            let global = &b.t.module.globals[id];
            if !b.t.ports.named.contains(&id) {
                continue;
            }
            let Some(of) = built_in_of(b.t, global) else {
                for leaf in self.leaves(b.t, id, global) {
                    let (place, value) = self.output_place(b.t, &leaf);
                    b.line(format!("{made}.{place} = {value}"));
                }
                continue;
            };
            let name = self.member_name(b.t, id);
            let from = format!("{own}[{index}].{name}");
            let ty = self.type_for_one(b.t, id);
            match of {
                BuiltIn::ClipDistance => {
                    for n in 0..b.t.types.part_count(ty).unwrap_or(1) {
                        b.line(format!("{made}.{name}[{n}] = {from}[{n}]"));
                        b.line(format!("{made}.{name}_{n} = {from}[{n}]"));
                    }
                }
                BuiltIn::PointSize if b.t.msl.mesh.corners > 1 => {}
                _ => {
                    let is_signed = b.t.types.scalar_of(ty).is_some_and(|scalar| scalar.is_signed() && scalar.is_int());
                    let value = if is_signed { format!("uint({from})") } else { from };
                    b.line(format!("{made}.{name} = {value}"));
                }
            }
        }
    }

    /// The parameter of a function for mesh outputs.
    pub fn mesh_param(&self, t: &Writer, owner: Owner) -> String {
        let OwnerNames { ty, own, .. } = self.names_of(t, owner);
        match owner {
            Owner::Mesh => format!("{} {own}", t.msl.mesh.ty),
            Owner::Counts => format!("threadgroup uint2& {}", t.msl.mesh.counts),
            Owner::Grid => format!("thread mesh_grid_properties& {}", t.msl.mesh.grid),
            _ => format!("threadgroup {ty}* {own}"),
        }
    }

    /// The argument of a function for mesh outputs.
    pub fn mesh_argument(&self, t: &Writer, owner: Owner) -> String {
        match owner {
            Owner::Counts => t.msl.mesh.counts.clone(),
            Owner::Grid => t.msl.mesh.grid.clone(),
            _ => self.names_of(t, owner).own,
        }
    }

    /// The path to an input or output, relative to which the paths of its leaves are, and its type.
    pub fn leaf_root(&self, t: &Writer, id: GlobalId, name: &str) -> (String, TypeId) {
        let ty = t.module.globals[id].ty;
        match self.owner_of(t, id) {
            Some(owner @ (Owner::MeshVertex | Owner::MeshPrimitive)) => {
                let index = &t.msl.mesh.indices[usize::from(owner == Owner::MeshPrimitive)];
                (format!("{}[{index}].{name}", self.names_of(t, owner).own), self.type_for_one(t, id))
            }
            _ => (name.to_string(), ty),
        }
    }

    /// Stores the indices of a primitive, or one of them. Returns false for other pointers.
    pub fn store_corners(&self, b: &mut Body, pointer: Value, value: Value) -> bool {
        let Value::Inst(at) = pointer else { return false };
        let Op::Access { base: Value::Global(id), indices } = b.f.insts[at].op else { return false };
        if self.owner_of(b.t, id) != Some(Owner::Mesh) {
            return false;
        }
        b.t.msl.used.insert(Extra::Own(Owner::Mesh));
        let corners = b.t.msl.mesh.corners;
        let mesh = self.names_of(b.t, Owner::Mesh).own;
        let list = b.f.values(indices).to_vec();
        let ty = b.type_of(value);
        let value = b.value(value);
        let value = if value.is_plain() || corners == 1 { value } else { b.name("corners", ty, &value) };
        let number = b.value(list[0]);
        let number = match b.t.module.known_u32(list[0]) {
            Some(known) => Expr::primary(known.to_string()),
            None if number.is_plain() => number,
            None => b.name("primitive", Types::U32, &number),
        };
        let known = b.t.module.known_u32(list[0]).map(|known| known.saturating_mul(corners));
        let base = match (known, corners) {
            (Some(known), _) => known.to_string(),
            (None, 1) => number.text.clone(),
            _ => format!("{} * {corners}", number.at(Level::Product)),
        };
        let mut set = |at: String, value: &str| b.line(format!("{mesh}.set_index({at}, uchar({value}))"));
        match list.get(1) {
            Some(part) => {
                let part = b.value(*part).text;
                b.line(format!("{mesh}.set_index({base} + {part}, uchar({}))", value.text));
            }
            None if corners == 1 => set(base, &value.text),
            None => {
                for (n, letter) in (0..corners).zip(["x", "y", "z"]) {
                    let at = match known {
                        Some(known) => (known + n).to_string(),
                        None if n == 0 => base.clone(),
                        None => format!("{base} + {n}"),
                    };
                    set(at, &value.part(&format!(".{letter}")).text);
                }
            }
        }
        true
    }

    /// A foreign instruction.
    pub fn foreign(&self, b: &mut Body, at: u32, args: Values, ty: TypeId) -> Option<Expr> {
        let instruction = &b.t.module.foreign.instructions[at as usize];
        if instruction.set.is_some() || instruction.opcode != SET_COUNTS || ty != Types::VOID {
            return Some(b.t.stand_in("instructions of SPIR-V's own"));
        }
        b.t.msl.used.insert(Extra::Own(Owner::Counts));
        let index = self.local_index(b);
        let args = b.list(args);
        let counts = b.t.msl.mesh.counts.clone();
        let condition = Expr::primary(format!("{index} == 0"));
        let then = b.within(|b| b.line(format!("{counts} = {}", Expr::call("uint2", &args).text)));
        b.push(Kind::If { condition, then, otherwise: Vec::new(), hint: "" });
        None
    }

    /// The end of an invocation.
    pub fn end(&self, b: &mut Body, ending: Ending, args: Values) {
        if ending != Ending::MeshTasks {
            return b.t.unsupported("shaders that end so");
        }
        if b.entry.is_none() && !always_ends(b.t.module, b.f) {
            return b.t.unsupported("functions that start meshes on some of their ways");
        }
        b.t.msl.used.insert(Extra::Own(Owner::Grid));
        let index = self.local_index(b);
        let args = b.list(args);
        let grid = b.t.msl.mesh.grid.clone();
        let size = Expr::call("uint3", &args[..3.min(args.len())]).text;
        let condition = Expr::primary(format!("{index} == 0"));
        let then = b.within(|b| b.line(format!("{grid}.set_threadgroups_per_grid({size})")));
        b.push(Kind::If { condition, then, otherwise: Vec::new(), hint: "" });
        b.line("return".to_string());
    }
}
