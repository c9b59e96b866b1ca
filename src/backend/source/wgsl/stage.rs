//! Inputs and outputs of a stage (WGSL 13.3.1): scalars and vectors at locations, and built-in values.
//!
//! Inputs and outputs that other functions name are private variables, which entry points fill and copy back.

use super::Wgsl;
use crate::backend::losses::is_output;
use crate::backend::source::expr::Expr;
use crate::backend::source::function::{Body, Made};
use crate::backend::source::ports::{self, Given};
use crate::backend::source::writer::Writer;
use crate::diagnostic::Code;
use crate::ir::splice::Splice;
use crate::ir::{
    Access, ArrayLen, Binding, BuiltIn, ConstValue, EntryPoint, FuncId, Function, Global, GlobalId, Inst,
    Interpolation, Module, Op, Sampling, Scalar, Space, Stage, Type, TypeId, Types, Value, calls,
};
use crate::limits;
use crate::profile::Feature;
use crate::source::Span;
use std::collections::BTreeSet;

/// An input or output value of the stage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in crate::backend::source) enum Port {
    /// A variable at locations.
    Located(GlobalId),
    /// A built-in value, by its index in the ports.
    BuiltIn(usize),
    LaneIndex,
    LaneCount,
}

/// A scalar or vector that is an input or an output, or a part of one.
#[derive(Clone, Debug)]
pub(in crate::backend::source) struct Leaf {
    pub port: Port,
    /// The parts that lead to it, after the name of the variable.
    pub path: String,
    pub name: String,
    /// Location or built-in value, as attributes.
    pub attributes: String,
    /// The index of the blend source, if it has one.
    pub source: Option<u32>,
    /// The type in the module.
    pub ty: TypeId,
    /// The scalar that the language has, of scalars and vectors.
    pub given: Scalar,
}

/// Limit of the locations of one variable, each of which becomes a part of the text. No device has as many.
const MOST_LOCATIONS: u32 = 1024;

/// The name of a built-in value (WGSL 13.3.1.1), and its scalar.
pub(super) const fn built_in(of: BuiltIn) -> Option<(&'static str, Scalar)> {
    Some(match of {
        BuiltIn::NumWorkgroups => ("num_workgroups", Scalar::U32),
        BuiltIn::WorkgroupId => ("workgroup_id", Scalar::U32),
        BuiltIn::LocalInvocationId => ("local_invocation_id", Scalar::U32),
        BuiltIn::GlobalInvocationId => ("global_invocation_id", Scalar::U32),
        BuiltIn::LocalInvocationIndex => ("local_invocation_index", Scalar::U32),
        BuiltIn::NumSubgroups => ("num_subgroups", Scalar::U32),
        BuiltIn::SubgroupId => ("subgroup_id", Scalar::U32),
        BuiltIn::Position | BuiltIn::FragCoord => ("position", Scalar::F32),
        BuiltIn::VertexIndex => ("vertex_index", Scalar::U32),
        BuiltIn::InstanceIndex => ("instance_index", Scalar::U32),
        BuiltIn::FrontFacing => ("front_facing", Scalar::BOOL),
        BuiltIn::SampleId => ("sample_index", Scalar::U32),
        BuiltIn::SampleMask => ("sample_mask", Scalar::U32),
        BuiltIn::FragDepth => ("frag_depth", Scalar::F32),
        BuiltIn::PrimitiveId => ("primitive_index", Scalar::U32),
        BuiltIn::ClipDistance => ("clip_distances", Scalar::F32),
        _ => return None,
    })
}

/// Returns true for built-in values that the extension `subgroups` provides.
const fn is_of_subgroups(of: BuiltIn) -> bool {
    matches!(of, BuiltIn::NumSubgroups | BuiltIn::SubgroupId)
}

impl Wgsl {
    /// Finds which functions name which inputs and outputs.
    pub fn find_uses(&self, t: &mut Writer) {
        let module = t.module;
        let entries = || module.entry_points.iter().map(|entry| entry.function);
        for id in calls::callees_first(module, entries()) {
            let f = &module.functions[id];
            let mut uses = self.named_ports(t, f);
            for (callee, _) in calls::callees(f) {
                uses.extend(t.wgsl.uses.get(&callee).into_iter().flatten());
            }
            if !entries().any(|entry| entry == id) {
                t.wgsl.shared.extend(&uses);
            }
            t.wgsl.uses.insert(id, uses);
        }
    }

    /// The inputs and outputs that the instructions of a function name.
    fn named_ports(&self, t: &Writer, f: &Function) -> BTreeSet<Port> {
        let module = t.module;
        let mut found = BTreeSet::new();
        for (_, inst) in f.insts.iter() {
            inst.op.each_operand(f, |value| {
                let Value::Global(id) = value else { return };
                let global = &module.globals[id];
                if !matches!(global.space, Space::Input | Space::Output) {
                    return;
                }
                let of = ports::named(module, f, inst.op, id);
                let at = |of: BuiltIn| {
                    t.ports.built_in.iter().position(|given| given.of == of && given.space == global.space)
                };
                found.extend(of.iter().filter_map(|(of, ..)| at(*of)).map(Port::BuiltIn));
                if ports::location_of(t, global).is_some() || of.is_empty() {
                    found.insert(Port::Located(id));
                }
            });
        }
        found
    }

    /// The struct of a block of inputs or outputs has the name that the block reserved.
    pub fn name_port_structs(&self, t: &mut Writer) {
        for (id, global) in t.module.globals.iter() {
            let is_port = matches!(global.space, Space::Input | Space::Output);
            if let (true, Some(of), Some(name)) = (is_port, t.block_of(global.ty), t.block_names.get(&id)) {
                let (of, name) = (t.logical(of), name.clone());
                t.struct_names.entry(of).or_insert(name);
            }
        }
    }

    /// The value at a place, converted if the module declares an unsigned input as signed.
    pub fn load(&self, b: &mut Body, pointer: Value) -> Made {
        let made = b.load_place(pointer);
        match (made, pointer) {
            (Made::One(value), Value::Global(id)) if self.given_scalar(b.t, id) == Some(Scalar::U32) => {
                let place = b.value(pointer);
                let is_other = value.text != place.text;
                Made::One(Expr { unsigned: is_other.then(|| Box::new(place)), ..value })
            }
            (made, _) => made,
        }
    }

    /// Refuses stages and modes that are not written.
    pub fn check_stage(&self, t: &mut Writer, entry: &EntryPoint) {
        match entry.stage {
            Stage::Compute | Stage::Vertex | Stage::Fragment => {}
            other => t.lacks(&format!("{} shaders", other.name())),
        }
        if entry.fragment.early_tests {
            t.lacks("early tests of fragments");
        }
        let module = t.module;
        let functions = calls::callees_first(module, [entry.function]);
        let mut insts = functions.iter().flat_map(|id| module.functions[*id].insts.iter());
        let of_lanes = insts.find(|(_, inst)| matches!(inst.op, Op::Lane(..)));
        if let (Stage::Vertex, Some((_, inst))) = (entry.stage, of_lanes) {
            t.span = inst.span;
            t.lacks("cross-lane operations in vertex shaders");
        }
    }

    pub fn space_of(&self, t: &Writer, port: Port) -> Space {
        match port {
            Port::Located(id) => t.module.globals[id].space,
            Port::BuiltIn(at) => t.ports.built_in[at].space,
            Port::LaneIndex | Port::LaneCount => Space::Input,
        }
    }

    pub fn type_of_port(&self, t: &Writer, port: Port) -> TypeId {
        match port {
            Port::Located(id) => t.module.globals[id].ty,
            Port::BuiltIn(at) => t.ports.built_in[at].ty,
            Port::LaneIndex | Port::LaneCount => crate::ir::Types::U32,
        }
    }

    /// The name of the variable for an input or output.
    pub fn port_name(&self, t: &mut Writer, port: Port) -> String {
        match port {
            Port::Located(id) => t.global_names.get(&id).cloned().unwrap_or_default(),
            Port::BuiltIn(at) => t.ports.built_in[at].name.clone(),
            Port::LaneIndex => t.wgsl.lane_names[0].clone(),
            Port::LaneCount => t.wgsl.lane_names[1].clone(),
        }
    }

    /// The language's scalar type for a built-in value.
    pub fn given_scalar(&self, t: &Writer, id: GlobalId) -> Option<Scalar> {
        let global = &t.module.globals[id];
        let Binding::BuiltIn(of) = global.binding else { return None };
        let is_array = matches!(t.types.get(global.ty), Type::Array { .. });
        let own = t.types.scalar_of(global.ty);
        if is_array || global.space == Space::Output { own } else { built_in(of).map(|(_, scalar)| scalar).or(own) }
    }

    /// An input or output at its use.
    pub fn port(&self, b: &mut Body, id: GlobalId) -> Expr {
        let global = &b.t.module.globals[id];
        if let Binding::BuiltIn(of) = global.binding {
            return self.built_in(b, of, global.space).unwrap_or_else(|| Expr::primary(""));
        }
        self.place_of_port(b, Port::Located(id))
    }

    pub fn built_in(&self, b: &mut Body, of: BuiltIn, space: Space) -> Option<Expr> {
        let at = b.t.ports.built_in.iter().position(|given| given.of == of && given.space == space)?;
        Some(self.place_of_port(b, Port::BuiltIn(at)))
    }

    /// The variable or argument for an input or output.
    fn place_of_port(&self, b: &mut Body, port: Port) -> Expr {
        if b.entry.is_none() {
            return Expr::primary(self.private_port(b.t, port));
        }
        if let Some(known) = b.t.wgsl.places.get(&port) {
            return Expr::primary(known.clone());
        }
        // An input with the language's type is the argument itself.
        let name = self.port_name(b.t, port);
        let is_shared = b.t.wgsl.shared.contains(&port);
        let ty = self.type_of_port(b.t, port);
        let is_input = self.space_of(b.t, port) == Space::Input;
        let place = match (is_input && b.t.shape(ty).is_some(), is_shared) {
            (false, true) => self.private_port(b.t, port),
            (true, true) => b.named(&name),
            (_, false) => name,
        };
        b.t.wgsl.places.insert(port, place.clone());
        Expr::primary(place)
    }

    /// The private variable that provides an input or output to functions.
    pub fn private_port(&self, t: &mut Writer, port: Port) -> String {
        let name = self.port_name(t, port);
        if t.wgsl.private.insert(port) {
            let ty = self.type_of_port(t, port);
            let ty = match (port, t.shape(ty)) {
                (Port::BuiltIn(at), Some((scalar, size))) if t.ports.built_in[at].space == Space::Input => {
                    let given = built_in(t.ports.built_in[at].of).map_or(scalar, |(_, given)| given);
                    t.vector_name(given, size)
                }
                _ => t.type_name(ty),
            };
            t.variables.push(format!("var<private> {name}: {ty};"));
        }
        name
    }

    /// A number of the lane.
    pub fn lane_port(&self, b: &mut Body, port: Port) -> Expr {
        b.t.need("subgroups");
        b.t.wgsl.uses.entry(b.id).or_default().insert(port);
        if b.entry.is_none() {
            b.t.wgsl.shared.insert(port);
        }
        self.place_of_port(b, port)
    }

    /// Notes the numbers of lanes that a function which is called uses.
    pub fn pass_lanes(&self, b: &mut Body, callee: FuncId) {
        let lanes: Vec<Port> =
            uses_of(b.t, callee).into_iter().filter(|port| matches!(port, Port::LaneIndex | Port::LaneCount)).collect();
        b.t.wgsl.uses.entry(b.id).or_default().extend(lanes);
    }

    /// The scalars and vectors of a port.
    pub fn leaves(&self, t: &mut Writer, port: Port, stage: Stage) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        let outside = t.span;
        match port {
            Port::Located(id) => {
                let global = &t.module.globals[id];
                t.span = self.place_of_global(t, id, global);
                if t.types.locations(global.ty) > MOST_LOCATIONS {
                    t.unsupported(&format!("inputs and outputs of more than {MOST_LOCATIONS} locations"));
                } else {
                    let name = self.port_name(t, port);
                    let finder = Finder { port, name: &name, stage, space: global.space };
                    self.add_leaves(t, &finder, (global.ty, global.binding), String::new(), &mut leaves);
                }
            }
            Port::BuiltIn(at) => {
                let given = t.ports.built_in[at].clone();
                t.span = given.span;
                leaves.extend(self.built_in_leaf(t, port, &given));
            }
            Port::LaneIndex | Port::LaneCount => {
                let name = self.port_name(t, port);
                let of = if port == Port::LaneIndex { "subgroup_invocation_id" } else { "subgroup_size" };
                leaves.push(Leaf {
                    port,
                    path: String::new(),
                    name,
                    attributes: format!("@builtin({of})"),
                    source: None,
                    ty: crate::ir::Types::U32,
                    given: Scalar::U32,
                });
            }
        }
        t.span = outside;
        leaves
    }

    /// The place of an input or output in the source.
    pub fn span_of_port(&self, t: &Writer, port: Port) -> Span {
        match port {
            Port::Located(id) => self.place_of_global(t, id, &t.module.globals[id]),
            Port::BuiltIn(at) => t.ports.built_in[at].span,
            Port::LaneIndex | Port::LaneCount => t.span,
        }
    }

    /// The declaration of a variable, or the first use of a predeclared one.
    fn place_of_global(&self, t: &Writer, id: GlobalId, global: &Global) -> Span {
        if global.span != Span::NONE {
            return global.span;
        }
        let names = |f: &Function, inst: &Inst| {
            let mut names = false;
            inst.op.each_operand(f, |value| names |= value == Value::Global(id));
            names
        };
        let mut uses = t.module.functions.iter().flat_map(|(_, f)| f.insts.iter().map(move |(_, inst)| (f, inst)));
        uses.find(|(f, inst)| names(f, inst)).map_or(Span::NONE, |(_, inst)| inst.span)
    }

    fn built_in_leaf(&self, t: &mut Writer, port: Port, given: &Given) -> Option<Leaf> {
        let Given { of, space, ty, name, .. } = given;
        // Points are one pixel wide (WebGPU 10.3.4).
        if *of == BuiltIn::PointSize && *space == Space::Output {
            return None;
        }
        let is_clipping = *of == BuiltIn::ClipDistance;
        // Fragments do not see the distances (WGSL 13.3.1.1.1).
        let known = built_in(*of).filter(|_| !is_clipping || *space == Space::Output);
        let Some((text, scalar)) = known else {
            t.unsupported(&format!("built-in value {of:?}"));
            return None;
        };
        if is_of_subgroups(*of) {
            self.require(t, Feature::LaneFacts);
            t.need("subgroups");
        }
        if *of == BuiltIn::PrimitiveId {
            t.need("primitive_index");
        }
        if is_clipping {
            t.need("clip_distances");
        }
        let is_array = !is_clipping && matches!(t.types.get(*ty), Type::Array { .. });
        let invariant = *of == BuiltIn::Position && *space == Space::Output && ports::is_invariant(t);
        let ty = if is_clipping { *ty } else { t.innermost(*ty) };
        Some(Leaf {
            port,
            path: if is_array { "[0]".to_string() } else { String::new() },
            name: name.clone(),
            attributes: format!("{}@builtin({text})", if invariant { "@invariant " } else { "" }),
            source: None,
            ty,
            given: scalar,
        })
    }

    /// Reports a feature that the profile does not have.
    fn require(&self, t: &mut Writer, feature: Feature) {
        let profile = &t.options.profile;
        if !profile.has(feature) {
            let message = format!("profile {} lacks {feature}", profile.name);
            t.fail(Code::PROFILE_LACKS, message);
        }
    }

    fn add_leaves(
        &self,
        t: &mut Writer,
        of: &Finder,
        (ty, binding): (TypeId, Binding),
        path: String,
        leaves: &mut Vec<Leaf>,
    ) {
        let parts: Vec<(TypeId, Binding, String, String)> = match t.types.get(ty) {
            Type::Scalar(_) | Type::Vector { .. } => {
                return leaves.extend(self.located_leaf(t, of, (ty, binding), path));
            }
            Type::Matrix { scalar, columns, rows, .. } => {
                let column = t.types.vector(scalar, rows);
                (0..u32::from(columns))
                    .map(|n| (column, moved(binding, n), format!("[{n}]"), format!("{}_{n}", of.name)))
                    .collect()
            }
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
                let each = t.types.locations(element);
                (0..len)
                    .map(|n| (element, moved(binding, n * each), format!("[{n}]"), format!("{}_{n}", of.name)))
                    .collect()
            }
            Type::Struct(id) => {
                let names = t.member_names(id);
                let members = t.types.structs[id].members.clone();
                let mut at = 0;
                let mut made = Vec::new();
                for (member, name) in members.iter().zip(names.iter()) {
                    let own = if member.binding == Binding::None { moved(binding, at) } else { member.binding };
                    at += t.types.locations(member.ty);
                    made.push((member.ty, own, format!(".{name}"), name.clone()));
                }
                made
            }
            _ => return t.unsupported("inputs and outputs of such types"),
        };
        for (index, (ty, binding, suffix, name)) in (0..).zip(parts) {
            let is_kept = !path.is_empty() || self.is_used(t, of.port, index);
            if is_kept && !matches!(binding, Binding::BuiltIn(_)) {
                let path = format!("{path}{suffix}");
                self.add_leaves(t, &Finder { name: &name, ..*of }, (ty, binding), path, leaves);
            }
        }
    }

    /// Returns true if some function uses a part of an input or output, or all of it.
    fn is_used(&self, t: &Writer, port: Port, part: u32) -> bool {
        let Port::Located(id) = port else { return true };
        let is_block = matches!(t.types.get(t.module.globals[id].ty), Type::Struct(_));
        !is_block || t.module.functions.iter().any(|(_, f)| names_part(t.module, f, id, part))
    }

    fn located_leaf(
        &self,
        t: &mut Writer,
        of: &Finder,
        (ty, binding): (TypeId, Binding),
        path: String,
    ) -> Option<Leaf> {
        let (scalar, _) = t.shape(ty)?;
        let Binding::Location { location: Some(location), component: 0, index, interpolation, sampling } = binding
        else {
            t.unsupported("inputs and outputs at parts of locations");
            return None;
        };
        let is_target = of.stage == Stage::Fragment && of.space == Space::Output;
        let how = if of.stage.passes(of.space) { self.interpolation(t, interpolation, sampling, scalar) } else { "" };
        Some(Leaf {
            port: of.port,
            path,
            name: of.name.to_string(),
            attributes: format!("@location({location}){how}"),
            source: (is_target && index > 0).then_some(index),
            ty,
            given: scalar,
        })
    }

    fn interpolation(&self, t: &mut Writer, of: Interpolation, sampling: Sampling, scalar: Scalar) -> &'static str {
        match (of, sampling) {
            _ if !scalar.is_float() => " @interpolate(flat)",
            (Interpolation::Flat, _) => " @interpolate(flat)",
            (Interpolation::Perspective, Sampling::Center) => "",
            (Interpolation::Perspective, Sampling::Centroid) => " @interpolate(perspective, centroid)",
            (Interpolation::Perspective, Sampling::Sample) => " @interpolate(perspective, sample)",
            (Interpolation::Linear, Sampling::Center) => " @interpolate(linear)",
            (Interpolation::Linear, Sampling::Centroid) => " @interpolate(linear, centroid)",
            (Interpolation::Linear, Sampling::Sample) => " @interpolate(linear, sample)",
            _ => {
                t.lacks("such interpolation");
                ""
            }
        }
    }
}

/// The variable whose leaves are collected.
#[derive(Clone, Copy)]
struct Finder<'n> {
    port: Port,
    name: &'n str,
    stage: Stage,
    space: Space,
}

/// The binding at this distance in locations.
fn moved(binding: Binding, by: u32) -> Binding {
    match binding {
        Binding::Location { location: Some(location), component, index, interpolation, sampling } => {
            Binding::Location { location: Some(location + by), component, index, interpolation, sampling }
        }
        other => other,
    }
}

fn names_part(module: &Module, f: &Function, id: GlobalId, part: u32) -> bool {
    limits::spend(f.insts.len());
    f.insts.iter().any(|(_, inst)| match inst.op {
        Op::Access { base: Value::Global(base), indices } if base == id => match f.values(indices).first() {
            Some(Value::Const(index)) => module.constants.bits(*index) == Some(u64::from(part)),
            _ => true,
        },
        op => {
            let mut names = false;
            op.each_operand(f, |value| names |= value == Value::Global(id));
            names
        }
    })
}

/// The entry point's function, and the functions that it calls.
pub(super) fn uses_of(t: &Writer, id: FuncId) -> Vec<Port> {
    t.wgsl.uses.get(&id).into_iter().flatten().copied().collect()
}

/// Returns true for a vertex shader that writes no position, which WebGPU requires (WGSL 13.3.1.1.8).
pub(super) fn lacks_position(module: &Module) -> bool {
    let writes = |f: &Function, inst: &Inst| {
        let mut is_it = false;
        inst.op.each_operand(f, |value| is_it |= is_output(module, f, value, BuiltIn::Position));
        is_it
    };
    let is_vertex = module.entry_points.iter().any(|entry| entry.stage == Stage::Vertex);
    is_vertex && !module.functions.iter().any(|(_, f)| f.insts.iter().any(|(_, inst)| writes(f, inst)))
}

/// Adds a position, all zeros: no draw depends on an undefined one.
pub(super) fn add_position(module: &mut Module) {
    let ty = module.types.vector(Scalar::F32, 4);
    let (name, span, access) = ("gl_Position".into(), Span::NONE, Access::empty());
    let binding = Binding::BuiltIn(BuiltIn::Position);
    let position = module.globals.push(Global { name, span, space: Space::Output, ty, binding, access, init: None });
    let zero = module.constants.intern(ty, ConstValue::Zero);
    let store = Op::Store { pointer: Value::Global(position), value: Value::Const(zero) };
    for entry in module.entry_points.iter().filter(|entry| entry.stage == Stage::Vertex) {
        let mut splice = Splice::new(&mut module.functions[entry.function]);
        splice.add(store, Types::VOID);
        splice.at_start();
    }
}
