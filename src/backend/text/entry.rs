//! Entry points: a stage's inputs are arguments, its outputs the result (WGSL 13.3.1, Inter-stage Input and Output).
//!
//! Inputs and outputs that other functions use too, and those that are composites, are variables of the invocation: the
//! entry point fills them at its start and gives their values back at its end.

use super::function::Body;
use super::translator::Translator;
use super::types::scalar_of;
use crate::diagnostic::Code;
use crate::ir::{
    self, Access, ArrayLen, Binding, BuiltIn, EntryPoint, FuncId, GlobalId, ScalarKind, Space, Type, TypeId, Value,
};
use crate::limits;
use crate::profile::Feature;
use crate::source::Span;
use naga::{Expression, FunctionArgument, FunctionResult, GlobalVariable, Handle, Statement, TypeInner};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A value that the stage takes in or gives out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Port {
    Variable(GlobalId),
    LaneIndex,
    LaneCount,
}

pub(super) type Ports = BTreeSet<Port>;

/// The stage's side of an entry point.
pub(super) struct Stage {
    stage: ir::Stage,
    /// The parts of the outputs, in order.
    outputs: Vec<Leaf>,
    /// Arguments by the ports that they are.
    arguments: FxHashMap<Port, Handle<Expression>>,
}

/// Locations of one variable at most: each becomes a part of the text. No device has as many.
const MOST_LOCATIONS: u32 = 1024;

/// A scalar or vector that is an input or an output, or a part of one.
#[derive(Clone, Debug)]
struct Leaf {
    port: Port,
    /// The numbers of the parts that lead to it.
    path: Vec<u32>,
    name: String,
    binding: naga::Binding,
    /// The type in the module.
    ty: TypeId,
    /// The kind of scalar that the pipeline has, where it is another.
    kind: Option<ScalarKind>,
}

/// A built-in value and the kind of its scalars.
fn built_in(of: BuiltIn, is_invariant: bool) -> Option<(naga::BuiltIn, ScalarKind)> {
    use ScalarKind::{Bool, Float, Uint};
    use naga::BuiltIn as N;
    Some(match of {
        BuiltIn::NumWorkgroups => (N::NumWorkGroups, Uint),
        BuiltIn::WorkgroupId => (N::WorkGroupId, Uint),
        BuiltIn::LocalInvocationId => (N::LocalInvocationId, Uint),
        BuiltIn::GlobalInvocationId => (N::GlobalInvocationId, Uint),
        BuiltIn::LocalInvocationIndex => (N::LocalInvocationIndex, Uint),
        BuiltIn::NumSubgroups => (N::NumSubgroups, Uint),
        BuiltIn::SubgroupId => (N::SubgroupId, Uint),
        BuiltIn::Position => (N::Position { invariant: is_invariant }, Float),
        BuiltIn::FragCoord => (N::Position { invariant: false }, Float),
        BuiltIn::VertexIndex => (N::VertexIndex, Uint),
        BuiltIn::InstanceIndex => (N::InstanceIndex, Uint),
        BuiltIn::FrontFacing => (N::FrontFacing, Bool),
        BuiltIn::SampleId => (N::SampleIndex, Uint),
        BuiltIn::SampleMask => (N::SampleMask, Uint),
        BuiltIn::FragDepth => (N::FragDepth, Float),
        BuiltIn::PrimitiveId => (N::PrimitiveIndex, Uint),
        _ => return None,
    })
}

impl Translator<'_> {
    pub fn is_port(&self, id: GlobalId) -> bool {
        matches!(self.module.globals[id].space, Space::Input | Space::Output)
    }

    /// Inputs and outputs that the instructions of a function name.
    pub fn named_ports(&self, id: FuncId) -> Ports {
        let f = &self.module.functions[id];
        let mut ports = Ports::new();
        for (_, inst) in f.insts.iter() {
            inst.op.each_operand(f, |value| {
                if let Value::Global(id) = value
                    && self.is_port(id)
                {
                    ports.insert(Port::Variable(id));
                }
            });
        }
        ports
    }

    pub fn entry_point(&mut self, entry: &EntryPoint) {
        let function = &self.module.functions[entry.function];
        self.span = function.span;
        let stage = match entry.stage {
            ir::Stage::Vertex => naga::ShaderStage::Vertex,
            ir::Stage::Fragment => naga::ShaderStage::Fragment,
            ir::Stage::Compute => naga::ShaderStage::Compute,
            other if self.target().row().has_no_more_stages => {
                let message = format!("{} has no {} shaders", self.language(), other.name());
                return self.fail(Code::NOT_SUPPORTED, message);
            }
            other => return self.unsupported(&format!("{} shaders", other.name())),
        };
        if entry.fragment.early_tests {
            self.lacks("early tests of fragments");
        }
        let mut workgroup_size = [0; 3];
        if entry.stage.has_workgroups() {
            workgroup_size = self.workgroup_size(entry.workgroup_size);
        }
        let mut uses = self.named_ports(entry.function);
        for (callee, _) in ir::calls::callees(function) {
            uses.extend(self.uses.get(&callee).into_iter().flatten());
        }
        let outputs = self.leaves(&uses, Space::Output, entry.stage);
        let own = Stage { stage: entry.stage, outputs, arguments: FxHashMap::default() };
        let mut body = Body::new(self, entry.function, Some(own));
        body.uses = uses;
        body.result();
        let (mut function, _) = body.finish();
        function.name = None;
        self.out.entry_points.push(naga::EntryPoint {
            name: entry.name.to_string(),
            stage,
            early_depth_test: None,
            workgroup_size,
            workgroup_size_overrides: None,
            function,
            mesh_info: None,
            task_payload: None,
            incoming_ray_payload: None,
        });
    }

    /// The variable that holds an input or output for functions.
    fn share(&mut self, port: Port) -> Handle<GlobalVariable> {
        if let Some(known) = self.ports.get(&port) {
            return *known;
        }
        let (name, ty) = match port {
            Port::Variable(id) => {
                let global = &self.module.globals[id];
                let ty = self.value_type(global.ty);
                let name = match self.types.get(global.ty) {
                    Type::Struct(of) if global.name.is_empty() => self.types.structs[of].name.to_string(),
                    _ => global.name.to_string(),
                };
                (name, ty)
            }
            Port::LaneIndex => ("lane_index".to_string(), self.value_type(ir::Types::U32)),
            Port::LaneCount => ("lane_count".to_string(), self.value_type(ir::Types::U32)),
        };
        let made = self.private_variable(name, ty, None);
        self.ports.insert(port, made);
        made
    }

    /// The scalars and vectors that inputs or outputs are made of.
    fn leaves(&mut self, ports: &Ports, space: Space, stage: ir::Stage) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        for port in ports {
            let Port::Variable(id) = *port else { continue };
            let global = &self.module.globals[id];
            if global.space == space {
                self.span = self.place_of_global(id);
                if self.locations(global.ty) > MOST_LOCATIONS {
                    self.unsupported(&format!("inputs and outputs of more than {MOST_LOCATIONS} locations"));
                    continue;
                }
                let finder = Finder { port: *port, name: &global.name, stage, space };
                self.add_leaves(&finder, (global.ty, global.binding), Vec::new(), &mut leaves);
            }
        }
        add_blend_sources(&mut leaves);
        leaves
    }

    /// The declaration of a variable, or the first use of one that the language declares.
    fn place_of_global(&self, id: GlobalId) -> Span {
        let declared = self.module.globals[id].span;
        if declared != Span::NONE {
            return declared;
        }
        let names = |f: &ir::Function, inst: &ir::Inst| {
            let mut names = false;
            inst.op.each_operand(f, |value| names |= value == Value::Global(id));
            names
        };
        let mut uses = self.module.functions.iter().flat_map(|(_, f)| f.insts.iter().map(move |(_, inst)| (f, inst)));
        uses.find(|(f, inst)| names(f, inst)).map_or(Span::NONE, |(_, inst)| inst.span)
    }

    fn add_leaves(&mut self, of: &Finder, (ty, binding): (TypeId, Binding), path: Vec<u32>, leaves: &mut Vec<Leaf>) {
        let parts: Vec<(TypeId, Binding, Option<String>)> = match self.types.get(ty) {
            Type::Scalar(_) | Type::Vector { .. } => return self.add_leaf(of, (ty, binding), path, leaves),
            Type::Matrix { scalar, columns, rows, .. } => {
                let column = self.types.vector(scalar, rows);
                (0..u32::from(columns)).map(|n| (column, moved(binding, n), None)).collect()
            }
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
                let each = self.locations(element);
                (0..len).map(|n| (element, moved(binding, n * each), None)).collect()
            }
            Type::Struct(id) => {
                let members = self.types.structs[id].members.clone();
                let mut at = 0;
                let part = |member: ir::Member| {
                    let own = if member.binding == Binding::None { moved(binding, at) } else { member.binding };
                    at += self.locations(member.ty);
                    (member.ty, own, Some(member.name.to_string()))
                };
                members.into_iter().map(part).collect()
            }
            _ => return self.unsupported("inputs and outputs of such types"),
        };
        for (index, (ty, binding, name)) in (0..).zip(parts) {
            if path.is_empty() && !self.is_used(of.port, index) {
                continue;
            }
            let path = path.iter().copied().chain([index]).collect();
            let name = name.unwrap_or_else(|| of.name.to_string());
            self.add_leaves(&Finder { name: &name, ..*of }, (ty, binding), path, leaves);
        }
    }

    /// Locations that a value takes.
    fn locations(&self, ty: TypeId) -> u32 {
        match self.types.get(ty) {
            Type::Matrix { columns, .. } => columns.into(),
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => len.saturating_mul(self.locations(element)),
            Type::Struct(id) => {
                let members = self.types.structs[id].members.iter();
                members.fold(0, |all: u32, member| all.saturating_add(self.locations(member.ty)))
            }
            _ => 1,
        }
    }

    /// Returns true if some function names a part of an input or output, or all of it.
    fn is_used(&self, port: Port, part: u32) -> bool {
        let Port::Variable(id) = port else { return true };
        let is_block = matches!(self.types.get(self.module.globals[id].ty), Type::Struct(_));
        !is_block || self.module.functions.iter().any(|(_, f)| names_part(self.module, f, id, part))
    }

    /// Returns true if every program computes an output to the same value from the same expressions.
    fn is_invariant(&self, port: Port, path: &[u32]) -> bool {
        let Port::Variable(id) = port else { return false };
        let global = &self.module.globals[id];
        let of_member = match (self.types.get(global.ty), path) {
            (Type::Struct(id), [member, ..]) => self.types.structs[id].members[*member as usize].access,
            _ => Access::empty(),
        };
        (global.access | of_member).contains(Access::INVARIANT)
    }

    fn add_leaf(&mut self, of: &Finder, (ty, binding): (TypeId, Binding), path: Vec<u32>, leaves: &mut Vec<Leaf>) {
        let Some((scalar, _)) = self.shape(ty) else { return };
        let (binding, kind) = match binding {
            // Points are one pixel wide (WebGPU 10.3.4), so that nothing is to be said.
            Binding::BuiltIn(BuiltIn::PointSize) if self.is_always_one(of.port, &path) => return,
            Binding::BuiltIn(built) => match built_in(built, self.is_invariant(of.port, &path)) {
                Some((built, kind)) => {
                    let made = naga::Binding::BuiltIn(built);
                    if is_of_subgroups(&made) {
                        self.require(Feature::LaneFacts);
                    }
                    (made, (kind != scalar.kind).then_some(kind))
                }
                None => return self.lacks(&format!("built-in value {built:?}")),
            },
            Binding::Location { location: Some(location), component: 0, index, interpolation, sampling } => {
                let blend_src = (of.stage == ir::Stage::Fragment && index > 0).then_some(index);
                let passes = of.stage.passes(of.space);
                let interpolation = passes.then(|| self.interpolation(interpolation, scalar)).flatten();
                let sampling = (passes && !matches!(interpolation, None | Some(naga::Interpolation::Flat))).then_some(
                    match sampling {
                        ir::Sampling::Center => naga::Sampling::Center,
                        ir::Sampling::Centroid => naga::Sampling::Centroid,
                        ir::Sampling::Sample => naga::Sampling::Sample,
                    },
                );
                let binding =
                    naga::Binding::Location { location, interpolation, sampling, blend_src, per_primitive: false };
                (binding, None)
            }
            _ => return self.unsupported("inputs and outputs at parts of locations"),
        };
        leaves.push(Leaf { port: of.port, path, name: of.name.to_string(), binding, ty, kind });
    }

    /// Returns true if every store to a part of an output is of 1.
    fn is_always_one(&self, port: Port, path: &[u32]) -> bool {
        const ONE: u64 = 0x3f80_0000;
        let Port::Variable(id) = port else { return false };
        let constants = &self.module.constants;
        let bits = |value| if let Value::Const(id) = value { constants.bits(id) } else { None };
        let reaches = |f: &ir::Function, pointer| match pointer {
            Value::Global(base) => base == id,
            Value::Inst(at) => match f.insts[at].op {
                ir::Op::Access { base: Value::Global(base), indices } => {
                    let begins = path.iter().zip(f.values(indices));
                    base == id
                        && begins.into_iter().all(|(part, index)| bits(*index).is_none_or(|n| n == u64::from(*part)))
                }
                _ => false,
            },
            _ => false,
        };
        self.module.functions.iter().all(|(_, f)| {
            f.insts.iter().all(|(_, inst)| match inst.op {
                ir::Op::Store { pointer, value } => !reaches(f, pointer) || bits(value) == Some(ONE),
                ir::Op::Call(_, args) => f.values(args).iter().all(|arg| !reaches(f, *arg)),
                _ => true,
            })
        })
    }

    fn interpolation(&mut self, of: ir::Interpolation, scalar: ir::Scalar) -> Option<naga::Interpolation> {
        Some(match of {
            _ if !scalar.is_float() => naga::Interpolation::Flat,
            ir::Interpolation::Perspective => naga::Interpolation::Perspective,
            ir::Interpolation::Linear => naga::Interpolation::Linear,
            ir::Interpolation::Flat => naga::Interpolation::Flat,
            _ => {
                self.lacks("such interpolation");
                return None;
            }
        })
    }
}

/// The variable whose leaves are collected.
#[derive(Clone, Copy)]
struct Finder<'n> {
    port: Port,
    name: &'n str,
    stage: ir::Stage,
    space: Space,
}

/// The binding so many locations on.
fn moved(binding: Binding, by: u32) -> Binding {
    match binding {
        Binding::Location { location: Some(location), component, index, interpolation, sampling } => {
            Binding::Location { location: Some(location + by), component, index, interpolation, sampling }
        }
        other => other,
    }
}

/// Where one output is a second source of blending, the others say that they are the first.
fn add_blend_sources(leaves: &mut [Leaf]) {
    let source = |leaf: &mut Leaf| match &mut leaf.binding {
        naga::Binding::Location { blend_src, .. } => blend_src.take(),
        naga::Binding::BuiltIn(_) => None,
    };
    let sources: Vec<Option<u32>> = leaves.iter_mut().map(source).collect();
    if sources.iter().any(|source| source.is_some()) {
        for (leaf, own) in leaves.iter_mut().zip(sources) {
            if let naga::Binding::Location { blend_src, .. } = &mut leaf.binding {
                *blend_src = Some(own.unwrap_or(0));
            }
        }
    }
}

fn names_part(module: &ir::Module, f: &ir::Function, id: GlobalId, part: u32) -> bool {
    limits::spend(f.insts.len());
    f.insts.iter().any(|(_, inst)| match inst.op {
        ir::Op::Access { base: Value::Global(base), indices } if base == id => match f.values(indices).first() {
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

impl Body<'_, '_> {
    /// A pointer to an input or output, or the input itself where it is an argument.
    pub fn port(&mut self, port: Port) -> Handle<Expression> {
        self.uses.insert(port);
        let is_input = match port {
            Port::Variable(id) => {
                let global = &self.t.module.globals[id];
                global.space == Space::Input && self.t.shape(global.ty).is_some()
            }
            _ => true,
        };
        if self.stage.is_some() && is_input {
            return self.argument(port);
        }
        let variable = self.t.share(port);
        self.append(Expression::GlobalVariable(variable))
    }

    /// A number that the lane knows of itself.
    pub fn lane_port(&mut self, port: Port) -> Handle<Expression> {
        let place = self.port(port);
        match self.direct.contains(&place) {
            true => place,
            false => self.emit(Expression::Load { pointer: place }),
        }
    }

    /// The argument that an input is.
    fn argument(&mut self, port: Port) -> Handle<Expression> {
        if let Some(known) = self.stage.as_ref().and_then(|stage| stage.arguments.get(&port)) {
            return *known;
        }
        let leaves = match port {
            Port::Variable(_) => {
                let stage = self.stage.as_ref().map_or(ir::Stage::Compute, |stage| stage.stage);
                self.t.leaves(&Ports::from([port]), Space::Input, stage)
            }
            Port::LaneIndex => vec![lane_leaf(port, "lane_index", naga::BuiltIn::SubgroupInvocationId)],
            Port::LaneCount => vec![lane_leaf(port, "lane_count", naga::BuiltIn::SubgroupSize)],
        };
        let value = match leaves.first() {
            Some(leaf) => self.new_argument(leaf),
            None => self.u32(0),
        };
        self.direct.insert(value);
        if let Some(stage) = &mut self.stage {
            stage.arguments.insert(port, value);
        }
        value
    }

    fn new_argument(&mut self, leaf: &Leaf) -> Handle<Expression> {
        self.t.notes.needs.subgroups |= is_of_subgroups(&leaf.binding);
        let (scalar, size) = self.t.shape(leaf.ty).unwrap_or((ir::Scalar::U32, 1));
        let given = ir::Scalar { kind: leaf.kind.unwrap_or(scalar.kind), ..scalar };
        let ty = self.t.vector(scalar_of(given), size);
        let index = self.out.arguments.len() as u32;
        let binding = Some(leaf.binding.clone());
        self.out.arguments.push(FunctionArgument { name: Some(leaf.name.clone()), ty, binding });
        let value = self.append(Expression::FunctionArgument(index));
        let blocks = std::mem::take(&mut self.blocks);
        let value = match leaf.kind {
            Some(_) => self.as_kind(value, scalar.kind),
            None => value,
        };
        self.blocks = blocks;
        value
    }

    /// Fills the variables of inputs.
    pub fn prologue(&mut self) {
        let Some(stage) = self.stage.as_ref().map(|stage| stage.stage) else { return };
        let ports: Vec<Port> = self.uses.iter().copied().collect();
        for port in ports {
            let Some(variable) = self.t.ports.get(&port).copied() else { continue };
            let leaves = match port {
                Port::Variable(id) if self.t.module.globals[id].space == Space::Output => continue,
                Port::Variable(id) if self.t.shape(self.t.module.globals[id].ty).is_none() => {
                    self.t.leaves(&Ports::from([port]), Space::Input, stage)
                }
                _ => {
                    let value = self.argument(port);
                    let pointer = self.append(Expression::GlobalVariable(variable));
                    self.statement(Statement::Store { pointer, value });
                    continue;
                }
            };
            for leaf in leaves {
                let value = self.new_argument(&leaf);
                let pointer = self.leaf_place(variable, &leaf.path);
                self.statement(Statement::Store { pointer, value });
            }
        }
    }

    fn leaf_place(&mut self, variable: Handle<GlobalVariable>, path: &[u32]) -> Handle<Expression> {
        let mut place = self.append(Expression::GlobalVariable(variable));
        for index in path {
            place = self.emit(Expression::AccessIndex { base: place, index: *index });
        }
        place
    }

    /// The type of the result: the outputs, in a struct where there are several.
    fn result(&mut self) {
        let leaves = self.stage.as_ref().map_or_else(Vec::new, |stage| stage.outputs.clone());
        let types: Vec<Handle<naga::Type>> = leaves.iter().map(|leaf| self.given_type(leaf)).collect();
        self.out.result = match leaves.as_slice() {
            [] => None,
            [only] => Some(FunctionResult { ty: types[0], binding: Some(only.binding.clone()) }),
            several => {
                let mut members = Vec::new();
                let (mut end, mut align) = (0, naga::proc::Alignment::ONE);
                for (leaf, ty) in several.iter().zip(&types) {
                    let layout = self.t.layouter[*ty];
                    let offset = layout.alignment.round_up(end);
                    let (name, binding) = (Some(leaf.name.clone()), Some(leaf.binding.clone()));
                    members.push(naga::StructMember { name, ty: *ty, binding, offset });
                    end = offset + layout.size;
                    align = align.max(layout.alignment);
                }
                let span = align.round_up(end);
                let ty = self.t.add(Some("Outputs".into()), TypeInner::Struct { members, span });
                Some(FunctionResult { ty, binding: None })
            }
        };
    }

    fn given_type(&mut self, leaf: &Leaf) -> Handle<naga::Type> {
        let (scalar, size) = self.t.shape(leaf.ty).unwrap_or((ir::Scalar::U32, 1));
        let given = ir::Scalar { kind: leaf.kind.unwrap_or(scalar.kind), ..scalar };
        self.t.vector(scalar_of(given), size)
    }

    /// Returns the outputs.
    pub fn epilogue(&mut self) {
        let leaves = self.stage.as_ref().map_or_else(Vec::new, |stage| stage.outputs.clone());
        let mut values = Vec::new();
        for leaf in &leaves {
            let variable = self.t.share(leaf.port);
            let pointer = self.leaf_place(variable, &leaf.path);
            let value = self.emit(Expression::Load { pointer });
            values.push(match leaf.kind {
                None => value,
                Some(kind) => self.as_kind(value, kind),
            });
        }
        let value = match (values.as_slice(), &self.out.result) {
            ([], _) | (_, None) => None,
            ([only], _) => Some(*only),
            (_, Some(result)) => {
                let ty = result.ty;
                Some(self.emit(Expression::Compose { ty, components: values }))
            }
        };
        self.statement(Statement::Return { value });
    }
}

/// Returns true for a built-in value that the extension `subgroups` brings.
const fn is_of_subgroups(binding: &naga::Binding) -> bool {
    use naga::BuiltIn as B;
    matches!(
        binding,
        naga::Binding::BuiltIn(B::SubgroupId | B::NumSubgroups | B::SubgroupSize | B::SubgroupInvocationId)
    )
}

fn lane_leaf(port: Port, name: &str, built_in: naga::BuiltIn) -> Leaf {
    let binding = naga::Binding::BuiltIn(built_in);
    Leaf { port, path: Vec::new(), name: name.to_string(), binding, ty: ir::Types::U32, kind: None }
}
