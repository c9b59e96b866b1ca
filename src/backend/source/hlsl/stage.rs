//! Inputs and outputs of a stage.

use super::Hlsl;
use super::corners::is_per_vertex;
use super::globals::matrix_order;
use super::primitives;
use super::rays::ray_value;
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::ports::{Given, is_invariant, location_of, zeroed};
use crate::backend::source::writer::Writer;
use crate::ir::{
    Binding, BuiltIn, DepthPromise, EntryPoint, Global, GlobalId, InstId, Interpolation, Module, Op, Sampling, Scalar,
    Space, Stage, StructId, TypeId, Types, Value,
};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// A built-in value in the language (Microsoft's reference, "System-Value Semantics").
pub(super) struct SystemValue {
    pub semantic: &'static str,
    pub scalar: Scalar,
    /// The first Shader Model that has it.
    pub since: (u8, u8),
}

const fn value(semantic: &'static str, scalar: Scalar) -> Option<SystemValue> {
    since(semantic, scalar, (0, 0))
}

const fn since(semantic: &'static str, scalar: Scalar, since: (u8, u8)) -> Option<SystemValue> {
    Some(SystemValue { semantic, scalar, since })
}

pub(super) const fn system_value(of: BuiltIn, depth: DepthPromise) -> Option<SystemValue> {
    match of {
        BuiltIn::WorkgroupId => value("SV_GroupID", Scalar::U32),
        BuiltIn::LocalInvocationId => value("SV_GroupThreadID", Scalar::U32),
        BuiltIn::GlobalInvocationId => value("SV_DispatchThreadID", Scalar::U32),
        BuiltIn::LocalInvocationIndex => value("SV_GroupIndex", Scalar::U32),
        BuiltIn::Position | BuiltIn::FragCoord => value("SV_Position", Scalar::F32),
        BuiltIn::VertexIndex => value("SV_VertexID", Scalar::U32),
        BuiltIn::InstanceIndex => value("SV_InstanceID", Scalar::U32),
        BuiltIn::BaseVertex => since("SV_StartVertexLocation", Scalar::I32, (6, 8)),
        BuiltIn::BaseInstance => since("SV_StartInstanceLocation", Scalar::U32, (6, 8)),
        BuiltIn::FrontFacing => value("SV_IsFrontFace", Scalar::BOOL),
        BuiltIn::SampleId => value("SV_SampleIndex", Scalar::U32),
        BuiltIn::SampleMask => value("SV_Coverage", Scalar::U32),
        BuiltIn::FragDepth => value(
            match depth {
                DepthPromise::Greater => "SV_DepthGreaterEqual",
                DepthPromise::Less => "SV_DepthLessEqual",
                DepthPromise::Any | DepthPromise::Unchanged => "SV_Depth",
            },
            Scalar::F32,
        ),
        BuiltIn::FragStencilRef => value("SV_StencilRef", Scalar::U32),
        BuiltIn::PrimitiveId => value("SV_PrimitiveID", Scalar::U32),
        BuiltIn::Layer => value("SV_RenderTargetArrayIndex", Scalar::U32),
        BuiltIn::ViewportIndex => value("SV_ViewportArrayIndex", Scalar::U32),
        BuiltIn::ViewIndex => since("SV_ViewID", Scalar::U32, (6, 1)),
        BuiltIn::BaryCoord => since("SV_Barycentrics", Scalar::F32, (6, 1)),
        BuiltIn::BaryCoordNoPerspective => since("SV_Barycentrics1", Scalar::F32, (6, 1)),
        BuiltIn::ShadingRate | BuiltIn::PrimitiveShadingRate => since("SV_ShadingRate", Scalar::U32, (6, 4)),
        BuiltIn::ClipDistance => value("SV_ClipDistance", Scalar::F32),
        BuiltIn::CullDistance => value("SV_CullDistance", Scalar::F32),
        BuiltIn::InvocationId => value("SV_GSInstanceID", Scalar::U32),
        BuiltIn::TessCoord => value("SV_DomainLocation", Scalar::F32),
        BuiltIn::TessLevelOuter => value("SV_TessFactor", Scalar::F32),
        BuiltIn::TessLevelInner => value("SV_InsideTessFactor", Scalar::F32),
        BuiltIn::CullPrimitive => since("SV_CullPrimitive", Scalar::BOOL, (6, 5)),
        _ => None,
    }
}

/// The language's scalar type for a built-in value.
pub(super) fn given(of: BuiltIn) -> Option<Scalar> {
    Some(system_value(of, DepthPromise::Any)?.scalar)
}

/// The rank of a built-in value in the order that all stages share.
pub(super) fn register_rank(of: BuiltIn) -> usize {
    const ORDER: [&[BuiltIn]; 7] = [
        &[BuiltIn::Position, BuiltIn::FragCoord],
        &[BuiltIn::ClipDistance],
        &[BuiltIn::CullDistance],
        &[BuiltIn::Layer],
        &[BuiltIn::ViewportIndex],
        &[BuiltIn::TessLevelOuter],
        &[BuiltIn::TessLevelInner],
    ];
    ORDER.iter().position(|alike| alike.contains(&of)).unwrap_or(ORDER.len())
}

/// Returns true if a shader may use the last component of the fragment's position.
fn reads_w(module: &Module) -> bool {
    let is_position = |value| matches!(value, Value::Global(id) if module.globals[id].binding == Binding::BuiltIn(BuiltIn::FragCoord));
    module.functions.iter().any(|(_, f)| {
        let loads: FxHashSet<InstId> = f
            .insts
            .iter()
            .filter(|(_, inst)| matches!(inst.op, Op::Load(pointer) if is_position(pointer)))
            .map(|(id, _)| id)
            .collect();
        let is_load = |value| matches!(value, Value::Inst(id) if loads.contains(&id));
        f.insts.iter().any(|(_, inst)| match inst.op {
            Op::Load(_) | Op::Extract { index: 0..=2, .. } => false,
            Op::Shuffle { a, b, mask } if is_load(a) && b == a => mask.iter().any(|at| at % 4 == 3),
            Op::Access { base, indices } if is_position(base) => {
                f.values(indices).first().and_then(|index| module.known_u32(*index)).is_none_or(|index| index > 2)
            }
            op => {
                let mut names = false;
                op.each_operand(f, |value| names |= is_load(value) || is_position(value));
                names
            }
        })
    })
}

/// The semantic of a location. A location with a component offset has the component's letter.
pub(super) fn location_semantic(location: u32, component: u32) -> String {
    format!("LOC{}{location}", ["", "Y", "Z", "W"].get(component as usize).unwrap_or(&""))
}

/// The first component of an input or output in its location.
pub(super) fn component_of(binding: Binding) -> u32 {
    if let Binding::Location { component, .. } = binding { component } else { 0 }
}

impl Hlsl {
    /// Declares the inputs and outputs that functions share.
    pub fn declare_ports(&self, t: &mut Writer, entry: &EntryPoint) {
        let needs_index = |given: &Given| matches!(given.of, BuiltIn::SubgroupId | BuiltIn::NumSubgroups);
        if t.ports.built_in.iter().any(needs_index) || zeroed(t.module).next().is_some() {
            t.note_built_in(BuiltIn::LocalInvocationIndex, "local_index", Types::U32);
        }
        if t.ports.built_in.iter().any(|given| given.of == BuiltIn::SamplePosition) {
            t.note_built_in(BuiltIn::SampleId, "gl_SampleID", Types::I32);
        }
        let begins = |op| matches!(op, Op::Interlock { .. });
        t.hlsl.is_ordered = t.module.functions.iter().any(|(_, f)| f.insts.iter().any(|(_, inst)| begins(inst.op)));
        self.declare_tessellation(t, entry);
        // Registers follow from the order. The stage before has a position.
        if entry.stage == Stage::Fragment && t.ports.built_in.iter().any(|given| given.of.is_passed_on()) {
            let position = t.types.vector(Scalar::F32, 4);
            t.note_built_in(BuiltIn::FragCoord, "gl_FragCoord", position);
        }
        t.ports.built_in.sort_by_key(|given| register_rank(given.of));
        self.share_names(t, entry);
        t.hlsl.reads_w = reads_w(t.module);
        for given in t.ports.built_in.clone() {
            let outside = std::mem::replace(&mut t.span, given.span);
            if entry.stage.is_of_rays() {
                self.check_ray_value(t, given.of);
                t.span = outside;
                continue;
            }
            self.check_built_in(t, &given, entry);
            t.span = outside;
            let is_of_vertices = given.space == Space::Input
                && primitives::has_crowds(entry.stage)
                && matches!(given.of, BuiltIn::Position | BuiltIn::ClipDistance | BuiltIn::CullDistance);
            if given.is_shared && given.of != BuiltIn::PointSize && !is_of_vertices && !self.is_from_host(t, given.of) {
                let (ty, dims) = t.declared(given.ty);
                t.variables.push(format!("static {ty} {}{dims};", given.name));
            }
        }
        self.declare_host_blocks(t);
    }

    /// Gives outputs the names of inputs that are members of a struct.
    fn share_names(&self, t: &mut Writer, entry: &EntryPoint) {
        let is_of_vertices = |of| matches!(of, BuiltIn::Position | BuiltIn::ClipDistance | BuiltIn::CullDistance);
        if !primitives::has_crowds(entry.stage) {
            return;
        }
        for at in 0..t.ports.built_in.len() {
            let Given { of, space, .. } = t.ports.built_in[at];
            if space == Space::Output
                && is_of_vertices(of)
                && let Some(input) = t.ports.find(of, Space::Input)
            {
                t.ports.built_in[at].name = input.name.clone();
            }
        }
    }

    /// Rejects built-in values that the language lacks.
    fn check_built_in(&self, t: &mut Writer, Given { of, space, name, ty, .. }: &Given, entry: &EntryPoint) {
        match system_value(*of, t.ports.depth) {
            // Points are one pixel wide.
            _ if *of == BuiltIn::PointSize && *space == Space::Input => {}
            _ if *of == BuiltIn::PointSize => {
                let (ty, dims) = t.declared(*ty);
                t.variables.push(format!("static {ty} {name}{dims};"));
            }
            // Only these stages have it, with a fixed number.
            _ if *of == BuiltIn::PatchVertices => {}
            // The vertex list of each primitive is a separate parameter.
            _ if of.crowd().is_some() => {}
            _ if matches!(of, BuiltIn::SubgroupId | BuiltIn::NumSubgroups) => {
                let [x, y, z] = entry.workgroup_size.map(|id| t.module.constants.bits(id));
                if x.is_none() || y != Some(1) || z != Some(1) {
                    t.unsupported(
                        "numbers of waves in workgroups of several dimensions or of a size that is not known",
                    );
                }
            }
            _ if *of == BuiltIn::HelperInvocation && t.options.profile.version < (6, 6) => {
                t.lacks("tests for helper lanes before Shader Model 6.6");
            }
            _ if *of == BuiltIn::HelperInvocation => {}
            // Points are one pixel wide.
            _ if *of == BuiltIn::PointCoord => {}
            // A function gives it.
            _ if *of == BuiltIn::SamplePosition => {}
            _ if self.is_from_host(t, *of) => {}
            Some(system) if t.options.profile.version < system.since => {
                let (major, minor) = system.since;
                t.lacks(&format!("built-in value {of:?} before Shader Model {major}.{minor}"));
            }
            Some(_) => {}
            None => t.unsupported(&format!("built-in value {of:?}")),
        }
    }

    /// Returns true if a built-in value is stored in the struct of the outputs while the stage runs.
    pub fn is_member(&self, t: &Writer, of: BuiltIn) -> bool {
        let is_other = matches!(
            of,
            BuiltIn::ClipDistance
                | BuiltIn::CullDistance
                | BuiltIn::SampleMask
                | BuiltIn::PointSize
                | BuiltIn::TessLevelOuter
                | BuiltIn::TessLevelInner
        );
        let is_precise = of == BuiltIn::Position && is_invariant(t);
        let is_own = t.ports.find(of, Space::Output).is_some_and(|given| !given.is_shared);
        let has_one = t.stage().is_some_and(|stage| !matches!(stage, Stage::Task | Stage::Mesh) && !stage.is_of_rays());
        is_own && has_one && !is_other && !is_precise && system_value(of, t.ports.depth).is_some()
    }

    /// Names the entry point's own variables.
    pub fn begin(&self, b: &mut Body) {
        if b.entry.is_some() {
            b.t.ports.input = b.named("input");
            b.t.ports.output = b.named("output");
            self.name_primitives(b);
            self.name_tessellation(b);
        }
    }

    /// The name of an input or output as a variable of the shader.
    pub fn declare_port(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        if let Binding::BuiltIn(of) = global.binding {
            return t.ports.find(of, global.space).map_or_else(String::new, |given| given.name.clone());
        }
        let name = self.port_name(t, id);
        if t.ports.shared.contains(&id) && self.crowd_of(t, id).is_none() {
            let (ty, dims) = self.port_type(t, id, global);
            t.variables.push(format!("static {ty} {name}{dims};"));
        }
        name
    }

    /// The name of an input or output, or of its block.
    pub fn port_name(&self, t: &Writer, id: GlobalId) -> String {
        t.global_names.get(&id).or_else(|| t.block_names.get(&id)).cloned().unwrap_or_default()
    }

    /// The type of an input or output: blocks are separate structs.
    pub fn port_type(&self, t: &mut Writer, id: GlobalId, global: &Global) -> (String, String) {
        let Some(of) = t.block_of(global.ty) else { return t.declared(global.ty) };
        let name = t.block_names.get(&id).cloned().unwrap_or_default();
        let name = if t.global_names.contains_key(&id) { name } else { format!("{name}_block") };
        if t.hlsl.declared_ports.insert(id) {
            let names = self.block_member_names(t, id, of);
            let members = t.types.structs[of].members.clone();
            let mut lines = Vec::new();
            let mut next = location_of(t, global).unwrap_or(0);
            for (member, named) in members.iter().zip(names.iter()) {
                let (ty, dims) = t.declared(member.ty);
                let own = if let Binding::Location { location: Some(_), .. } = member.binding {
                    member.binding
                } else {
                    global.binding
                };
                let location =
                    if let Binding::Location { location: Some(at), .. } = member.binding { at } else { next };
                next = location + t.types.locations(member.ty);
                let how = self.interpolation_words(t, own, member.ty, global.space);
                let order = matrix_order(t, member.ty);
                let semantic = location_semantic(location, component_of(member.binding));
                lines.push(format!("    {how}{order}{ty} {named}{dims} : {semantic};"));
            }
            t.declare_struct(&name, lines);
        }
        (name, t.dims_of(global.ty))
    }

    pub fn block_member_names(&self, t: &mut Writer, id: GlobalId, of: StructId) -> Rc<[String]> {
        match t.block_members.get(&id) {
            Some(names) => names.clone(),
            None => t.member_names(of),
        }
    }

    pub fn interpolation_words(&self, t: &mut Writer, binding: Binding, ty: TypeId, space: Space) -> String {
        let Binding::Location { interpolation, sampling, .. } = binding else { return String::new() };
        if !t.stage().is_some_and(|stage| stage.passes(space)) {
            return String::new();
        }
        let is_int = t.types.scalar_of(t.innermost(ty)).is_some_and(|scalar| !scalar.is_float());
        let mut text = match interpolation {
            Interpolation::Patch => "",
            _ if is_int => "nointerpolation ",
            Interpolation::Perspective => "",
            Interpolation::Flat | Interpolation::PerVertex => "nointerpolation ",
            Interpolation::Linear => "noperspective ",
            Interpolation::PerPrimitive { .. } if space == Space::Output => "",
            Interpolation::PerPrimitive { .. } => "nointerpolation ",
            _ => {
                t.unsupported("inputs that are interpolated so");
                ""
            }
        }
        .to_string();
        text.push_str(match sampling {
            Sampling::Center => "",
            Sampling::Centroid => "centroid ",
            Sampling::Sample => "sample ",
        });
        text
    }

    /// An input or output at its use.
    pub fn port(&self, b: &mut Body, id: GlobalId) -> Expr {
        let global = &b.t.module.globals[id];
        if let Some(crowd) = self.crowd_of(b.t, id) {
            return self.crowd_array(b, id, crowd);
        }
        if let (true, Binding::BuiltIn(of)) = (b.t.stage().is_some_and(Stage::is_of_rays), global.binding) {
            let function = ray_value(of).map_or("", |row| row.function);
            return Expr::primary(format!("{function}()"));
        }
        let name = b.t.global(id);
        let is_own = b.entry.is_some() && !b.t.ports.shared.contains(&id);
        match global.binding {
            Binding::BuiltIn(of) if self.level_holder(b, of).is_some() => {
                let holder = self.level_holder(b, of).unwrap_or_default();
                Expr::primary(format!("{holder}.{name}"))
            }
            Binding::BuiltIn(of) if global.space == Space::Output && self.is_member(b.t, of) => {
                Expr::primary(format!("{}.{name}", b.t.ports.output))
            }
            Binding::BuiltIn(_) => Expr::primary(name),
            _ if !is_own || is_per_vertex(global) => Expr::primary(name),
            _ if global.space == Space::Input && b.t.stage() == Some(Stage::TessEvaluation) => {
                Expr::primary(format!("{}.{name}", b.t.hlsl.tessellation.patch))
            }
            _ if global.space == Space::Input => Expr::primary(format!("{}.{name}", b.t.ports.input)),
            _ => Expr::primary(format!("{}.{name}", b.t.ports.output)),
        }
    }
}
