//! The inputs and outputs of an entry point in the pipeline (WGSL 13.3): built-in values and locations, alone or as
//! members of structs. Each becomes a variable of the module; a `return` writes the outputs.

use super::Outcome;
use super::function::{Body, Slot};
use crate::ir::{
    Access, ArrayLen, BinaryOp, Binding, BuiltIn, ConstId, Global, GlobalId, Interpolation, Sampling, Space, Stage,
    TypeId, Types, Value,
};
use crate::lane::{Group, LaneOp};
use naga::{Handle, TypeInner};

/// An output, and its member of the returned struct, if any.
#[derive(Clone, Copy)]
pub(super) struct Output {
    id: GlobalId,
    member: Option<u32>,
}

/// The source of a built-in value.
enum Source {
    Variable(BuiltIn),
    Lane(LaneOp),
    /// The index of an invocation or a workgroup in the whole grid.
    Linear(BuiltIn),
}

/// Built-in values by stage and direction, because `position` is two of them.
fn source(of: naga::BuiltIn, stage: Stage) -> Option<Source> {
    use naga::BuiltIn as B;
    Some(Source::Variable(match of {
        B::SubgroupSize => return Some(Source::Lane(LaneOp::LaneCount(Group::Subgroup))),
        B::SubgroupInvocationId => return Some(Source::Lane(LaneOp::LaneIndex(Group::Subgroup))),
        B::GeometryIndex => return Some(Source::Linear(BuiltIn::GlobalInvocationId)),
        B::InstanceCustomData => return Some(Source::Linear(BuiltIn::WorkgroupId)),
        B::GlobalInvocationId => BuiltIn::GlobalInvocationId,
        B::LocalInvocationId => BuiltIn::LocalInvocationId,
        B::LocalInvocationIndex => BuiltIn::LocalInvocationIndex,
        B::WorkGroupId => BuiltIn::WorkgroupId,
        B::NumWorkGroups => BuiltIn::NumWorkgroups,
        B::NumSubgroups => BuiltIn::NumSubgroups,
        B::SubgroupId => BuiltIn::SubgroupId,
        B::Position { .. } if stage == Stage::Fragment => BuiltIn::FragCoord,
        B::Position { .. } => BuiltIn::Position,
        B::VertexIndex => BuiltIn::VertexIndex,
        B::InstanceIndex => BuiltIn::InstanceIndex,
        B::BaseVertex => BuiltIn::BaseVertex,
        B::BaseInstance => BuiltIn::BaseInstance,
        B::DrawIndex => BuiltIn::DrawIndex,
        B::ViewIndex => BuiltIn::ViewIndex,
        B::PointSize => BuiltIn::PointSize,
        B::ClipDistances => BuiltIn::ClipDistance,
        B::CullDistance => BuiltIn::CullDistance,
        B::FrontFacing => BuiltIn::FrontFacing,
        B::FragDepth => BuiltIn::FragDepth,
        B::PointCoord => BuiltIn::PointCoord,
        B::SampleIndex => BuiltIn::SampleId,
        B::SampleMask => BuiltIn::SampleMask,
        B::PrimitiveIndex => BuiltIn::PrimitiveId,
        B::Barycentric { perspective: true } => BuiltIn::BaryCoord,
        B::Barycentric { perspective: false } => BuiltIn::BaryCoordNoPerspective,
        _ => return None,
    }))
}

const fn interpolation(of: naga::Interpolation) -> Interpolation {
    match of {
        naga::Interpolation::Perspective => Interpolation::Perspective,
        naga::Interpolation::Linear => Interpolation::Linear,
        naga::Interpolation::Flat => Interpolation::Flat,
        naga::Interpolation::PerVertex => Interpolation::PerVertex,
    }
}

/// Vulkan uses the first vertex for flat values, which both `first` and `either` allow.
const fn sampling(of: naga::Sampling) -> Sampling {
    match of {
        naga::Sampling::Centroid => Sampling::Centroid,
        naga::Sampling::Sample => Sampling::Sample,
        naga::Sampling::Center | naga::Sampling::First | naga::Sampling::Either => Sampling::Center,
    }
}

/// The stage of an entry point, and the size of its workgroups.
pub(super) type StageAndSize = (Stage, [ConstId; 3]);

/// One value between stages: its name, its destination, its type.
struct Port<'a> {
    name: &'a str,
    binding: &'a naga::Binding,
    ty: Handle<naga::Type>,
}

impl<'a> Body<'_, 'a, '_> {
    /// Reads the inputs of an entry point.
    pub(super) fn inputs(&mut self, function: &'a naga::Function, of: StageAndSize) -> Outcome<()> {
        for argument in &function.arguments {
            let name = argument.name.as_deref().unwrap_or("");
            let value = match &argument.binding {
                Some(binding) => self.input(&Port { name, binding, ty: argument.ty }, of)?,
                None => self.input_struct(argument.ty, of)?,
            };
            self.arguments.push(Slot::Value(value));
        }
        Ok(())
    }

    fn input_struct(&mut self, ty: Handle<naga::Type>, of: StageAndSize) -> Outcome<Value> {
        let ports = self.ports_of(ty)?;
        let parts = ports.iter().map(|port| self.input(port, of)).collect::<Outcome<Vec<Value>>>()?;
        let ty = self.shader.logical(self.b.module, ty)?;
        Ok(self.b.construct(ty, &parts))
    }

    /// The members of a struct that passes between stages.
    fn ports_of(&self, ty: Handle<naga::Type>) -> Outcome<Vec<Port<'a>>> {
        let naga = self.shader.naga;
        let members = match &naga.types[ty].inner {
            TypeInner::Struct { members, .. } => members.as_slice(),
            _ => &[],
        };
        let port = |member: &'a naga::StructMember| {
            let name = member.name.as_deref().unwrap_or("");
            Some(Port { name, binding: member.binding.as_ref()?, ty: member.ty })
        };
        let all: Option<Vec<Port<'a>>> = members.iter().map(port).collect();
        let all = all.filter(|ports| !ports.is_empty());
        all.ok_or_else(|| self.unexpected("an input or output without a binding", naga.types.get_span(ty)))
    }

    fn input(&mut self, port: &Port<'a>, (stage, size): StageAndSize) -> Outcome<Value> {
        let from = match port.binding {
            naga::Binding::BuiltIn(of) => source(*of, stage),
            naga::Binding::Location { .. } => None,
        };
        let id = match (from, port.binding) {
            (Some(Source::Lane(op)), _) => return Ok(self.b.lane(op, Types::U32, &[])),
            (Some(Source::Linear(of)), _) => return Ok(self.linear_index(of, size)),
            (Some(Source::Variable(of)), _) if is_of_workgroups(of) => return Ok(self.load_input(of)),
            (Some(Source::Variable(of)), _) => self.built_in(port, of, Space::Input)?,
            (None, naga::Binding::Location { .. }) => self.located(port, stage, Space::Input)?,
            (None, _) => return Err(self.port_unsupported(port)),
        };
        let value = self.b.load(Value::Global(id));
        let is_mask = matches!(port.binding, naga::Binding::BuiltIn(naga::BuiltIn::SampleMask));
        Ok(if is_mask { self.b.extract(value, 0) } else { value })
    }

    /// The index of an invocation or a workgroup, counted along x, then y, then z (WGSL 13.3.1, linear_indexing).
    fn linear_index(&mut self, of: BuiltIn, size: [ConstId; 3]) -> Value {
        let [place, counts] = [of, BuiltIn::NumWorkgroups].map(|of| self.load_input(of));
        let [x, y, z] = [0, 1, 2].map(|n| self.b.extract(place, n));
        let [width, height] = [0, 1].map(|n| {
            let count = self.b.extract(counts, n);
            match of {
                BuiltIn::GlobalInvocationId => {
                    let size = Value::Const(size[n as usize]);
                    self.b.binary(BinaryOp::Mul, count, size)
                }
                _ => count,
            }
        });
        let planes = self.b.binary(BinaryOp::Mul, z, height);
        let rows = self.b.binary(BinaryOp::Add, planes, y);
        let before = self.b.binary(BinaryOp::Mul, rows, width);
        self.b.binary(BinaryOp::Add, before, x)
    }

    /// Declares the outputs of an entry point.
    pub(super) fn outputs(&mut self, function: &'a naga::Function, stage: Stage) -> Outcome<()> {
        let Some(result) = &function.result else { return Ok(()) };
        if let Some(binding) = &result.binding {
            let id = self.output(&Port { name: "result", binding, ty: result.ty }, stage)?;
            self.outputs.push(Output { id, member: None });
            return Ok(());
        }
        for (index, port) in self.ports_of(result.ty)?.iter().enumerate() {
            let id = self.output(port, stage)?;
            self.outputs.push(Output { id, member: Some(index as u32) });
        }
        Ok(())
    }

    fn output(&mut self, port: &Port<'a>, stage: Stage) -> Outcome<GlobalId> {
        match port.binding {
            naga::Binding::BuiltIn(of) => match source(*of, stage) {
                Some(Source::Variable(of)) => self.built_in(port, of, Space::Output),
                _ => Err(self.port_unsupported(port)),
            },
            naga::Binding::Location { .. } => self.located(port, stage, Space::Output),
        }
    }

    /// Writes an entry point's return value to its outputs.
    pub(super) fn give_outputs(&mut self, value: Value) {
        for index in 0..self.outputs.len() {
            let Output { id, member } = self.outputs[index];
            let part = member.map_or(value, |member| self.b.extract(value, member));
            let ty = self.b.module.globals[id].ty;
            let is_mask = self.b.module.globals[id].binding == Binding::BuiltIn(BuiltIn::SampleMask);
            let part = if is_mask { self.b.construct(ty, &[part]) } else { part };
            self.b.store(Value::Global(id), part);
        }
    }

    fn built_in(&mut self, port: &Port<'a>, of: BuiltIn, space: Space) -> Outcome<GlobalId> {
        let ty = self.shader.logical(self.b.module, port.ty)?;
        // Vulkan has room for more samples than a number has bits.
        let is_mask = of == BuiltIn::SampleMask;
        let ty = if is_mask { self.b.module.types.array(ty, ArrayLen::Fixed(1)) } else { ty };
        let invariant = matches!(port.binding, naga::Binding::BuiltIn(naga::BuiltIn::Position { invariant: true }));
        let access = if invariant { Access::INVARIANT } else { Access::empty() };
        let key = (self.shader.stage, of);
        match self.shader.inputs.get(&key) {
            Some(known) if space == Space::Input => Ok(*known),
            _ => {
                let id = self.port(port.name, space, ty, Binding::BuiltIn(of), access);
                if space == Space::Input {
                    self.shader.inputs.insert(key, id);
                }
                Ok(id)
            }
        }
    }

    /// A value at a location. Its interpolation matters between vertices and fragments.
    fn located(&mut self, port: &Port<'a>, stage: Stage, space: Space) -> Outcome<GlobalId> {
        let naga::Binding::Location { location, interpolation: how, sampling: at, blend_src, per_primitive } =
            *port.binding
        else {
            return Err(self.port_unsupported(port));
        };
        if per_primitive {
            return Err(self.port_unsupported(port));
        }
        let passes = matches!((stage, space), (Stage::Vertex, Space::Output) | (Stage::Fragment, Space::Input));
        let (interpolation, sampling) = match passes {
            true => (how.map(interpolation).unwrap_or_default(), at.map(sampling).unwrap_or_default()),
            false => (Interpolation::default(), Sampling::default()),
        };
        let ty = self.shader.logical(self.b.module, port.ty)?;
        let index = blend_src.unwrap_or(0);
        let binding = Binding::Location { location: Some(location), component: 0, index, interpolation, sampling };
        Ok(self.port(port.name, space, ty, binding, Access::empty()))
    }

    fn port(&mut self, name: &str, space: Space, ty: TypeId, binding: Binding, access: Access) -> GlobalId {
        let (name, span) = (name.into(), self.b.span);
        self.b.module.globals.push(Global { name, span, space, ty, binding, access, init: None })
    }

    fn port_unsupported(&self, port: &Port<'a>) -> super::Failure {
        let what = format!("`{}`, as an input or output of this stage,", port.name);
        self.shader.unsupported(&what, self.shader.naga.types.get_span(port.ty))
    }
}

/// Values that cross-lane operations and the zeroing of memory read too, through one variable.
const fn is_of_workgroups(of: BuiltIn) -> bool {
    matches!(
        of,
        BuiltIn::GlobalInvocationId
            | BuiltIn::LocalInvocationId
            | BuiltIn::LocalInvocationIndex
            | BuiltIn::WorkgroupId
            | BuiltIn::NumWorkgroups
            | BuiltIn::NumSubgroups
            | BuiltIn::SubgroupId
    )
}
