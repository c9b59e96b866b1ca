//! Entry points: their stage, their workgroup's size, and the zeroing of their workgroup memory.
//!
//! WGSL 7.3 initialises workgroup variables to zero. The invocations share the work and then wait for each other.
//! Nothing is emitted for variables that the entry point does not reach. Mesh and ray tracing stages are refused.

use super::function::{Body, Origin};
use super::{Outcome, Shader};
use crate::ir::{
    self, Access, ArrayLen, BinaryOp, Binding, BuiltIn, ConstId, ControlHint, DepthPromise, FragmentModes, Global,
    Scalar, Space, Stage, Types, Value,
};
use naga::{ConservativeDepth, EarlyDepthTest, Handle};

/// How the invocations of a workgroup share work.
pub(super) struct Turns {
    /// The invocation's index in its workgroup.
    index: Value,
    /// Invocations of the workgroup.
    size: Value,
}

/// Name and type of the variable for a built-in input.
fn variable(of: BuiltIn) -> (&'static str, u8) {
    match of {
        BuiltIn::GlobalInvocationId => ("global_invocation_id", 3),
        BuiltIn::LocalInvocationId => ("local_invocation_id", 3),
        BuiltIn::WorkgroupId => ("workgroup_id", 3),
        BuiltIn::NumWorkgroups => ("num_workgroups", 3),
        BuiltIn::NumSubgroups => ("num_subgroups", 1),
        BuiltIn::SubgroupId => ("subgroup_id", 1),
        _ => ("local_invocation_index", 1),
    }
}

impl Shader<'_> {
    /// Translates entry point number `index` and everything that it reaches.
    pub(super) fn entry_point(&mut self, out: &mut ir::Module, index: usize) -> Outcome<()> {
        let naga = self.naga;
        let entry = &naga.entry_points[index];
        let stage = self.stage(entry)?;
        self.stage = stage;
        for (handle, _) in naga.overrides.iter() {
            if self.computed_override(handle).is_none() {
                self.override_const(out, handle)?;
            }
        }
        let size = self.workgroup_size(out, entry)?;
        let origin = Origin {
            function: &entry.function,
            info: self.info.get_entry_point(index),
            key: super::super::carrier::FunctionKey::Entry(index),
        };
        let span = entry.function.body.span_iter().next().map_or(naga::Span::UNDEFINED, |(_, span)| *span);
        let span = self.span(span);
        let mut body = Body::new(self, out, origin, span, Vec::new(), Types::VOID);
        body.b.function.name = entry.name.as_str().into();
        body.inputs(&entry.function, (stage, size))?;
        body.outputs(&entry.function, stage)?;
        if stage == Stage::Compute {
            body.zero_workgroup_memory(size)?;
        }
        body.start_private_memory()?;
        body.run()?;
        let function = body.b.finish_into(None);
        out.entry_points.push(ir::EntryPoint {
            name: entry.name.as_str().into(),
            stage,
            function,
            workgroup_size: size,
            reconvergence: ir::Reconvergence::Default,
            derivatives: None,
            fragment: fragment_modes(entry.early_depth_test),
            primitives: Vec::new(),
        });
        Ok(())
    }

    fn stage(&self, entry: &naga::EntryPoint) -> Outcome<Stage> {
        match entry.stage {
            naga::ShaderStage::Compute => return Ok(Stage::Compute),
            naga::ShaderStage::Vertex => return Ok(Stage::Vertex),
            naga::ShaderStage::Fragment => return Ok(Stage::Fragment),
            _ => {}
        }
        let at = entry.function.body.span_iter().next().map_or(naga::Span::UNDEFINED, |(_, span)| *span);
        Err(self.unsupported("an entry point of this stage", at))
    }

    fn workgroup_size(&mut self, out: &mut ir::Module, entry: &naga::EntryPoint) -> Outcome<[ConstId; 3]> {
        let mut size = entry.workgroup_size.map(|n| out.constants.u32(n));
        for (slot, by) in size.iter_mut().zip(entry.workgroup_size_overrides.into_iter().flatten()) {
            if let Some(by) = by {
                let value = self.constant(out, by)?;
                *slot = as_u32(out, value);
            }
        }
        Ok(size)
    }
}

/// The fragment modes of `@early_depth_test`.
fn fragment_modes(early: Option<EarlyDepthTest>) -> FragmentModes {
    let depth = match early {
        Some(EarlyDepthTest::Allow { conservative: ConservativeDepth::GreaterEqual }) => DepthPromise::Greater,
        Some(EarlyDepthTest::Allow { conservative: ConservativeDepth::LessEqual }) => DepthPromise::Less,
        Some(EarlyDepthTest::Allow { conservative: ConservativeDepth::Unchanged }) => DepthPromise::Unchanged,
        Some(EarlyDepthTest::Force) | None => DepthPromise::Any,
    };
    FragmentModes { early_tests: early == Some(EarlyDepthTest::Force), depth, ..FragmentModes::default() }
}

/// A constant as a `u32`.
fn as_u32(out: &mut ir::Module, value: ConstId) -> ConstId {
    if out.constants.get(value).ty == Types::U32 {
        return value;
    }
    match out.constants.bits(value) {
        Some(bits) => out.constants.u32(bits as u32),
        None => {
            let op = ir::ConstValue::SpecOp { op: ir::SpecOp::Bitcast, args: Box::new([value]) };
            out.constants.intern(Types::U32, op)
        }
    }
}

/// The number of elements of an array whose size is known at pipeline creation.
pub(super) fn length(b: &mut ir::Builder<'_>, len: ArrayLen) -> Value {
    match len {
        ArrayLen::Fixed(len) => b.const_u32(len),
        ArrayLen::Spec(id) => Value::Const(as_u32(b.module, id)),
        ArrayLen::Runtime => b.const_u32(0),
    }
}

impl Body<'_, '_, '_> {
    /// The value of a built-in variable, which is added when it is first read.
    pub(super) fn load_input(&mut self, of: BuiltIn) -> Value {
        let key = (self.shader.stage, of);
        let id = match self.shader.inputs.get(&key) {
            Some(known) => *known,
            None => {
                let id = self.add_input(of);
                self.shader.inputs.insert(key, id);
                id
            }
        };
        self.b.load(Value::Global(id))
    }

    fn add_input(&mut self, of: BuiltIn) -> ir::GlobalId {
        let (name, size) = variable(of);
        let ty = self.b.module.types.vector(Scalar::U32, size);
        self.b.module.globals.push(Global {
            name: name.into(),
            span: self.b.span,
            space: Space::Input,
            ty,
            binding: Binding::BuiltIn(of),
            access: Access::empty(),
            init: None,
        })
    }

    fn zero_workgroup_memory(&mut self, size: [ConstId; 3]) -> Outcome<()> {
        let used = self.used_workgroup_variables();
        if used.is_empty() {
            return Ok(());
        }
        let index = self.load_input(BuiltIn::LocalInvocationIndex);
        let [x, y, z] = size.map(Value::Const);
        let plane = self.b.binary(BinaryOp::Mul, x, y);
        let turns = Turns { index, size: self.b.binary(BinaryOp::Mul, plane, z) };
        for handle in used {
            let place = self.shader.global(self.b.module, handle)?;
            let ty = self.shader.logical(self.b.module, self.shader.naga.global_variables[handle].ty)?;
            self.zero_memory(&place, ty, &turns);
        }
        self.workgroup_barrier();
        Ok(())
    }

    fn used_workgroup_variables(&self) -> Vec<Handle<naga::GlobalVariable>> {
        let Some(origin) = self.origin else { return Vec::new() };
        let variables = self.shader.naga.global_variables.iter();
        let used = variables
            .filter(|(handle, var)| var.space == naga::AddressSpace::WorkGroup && !origin.info[*handle].is_empty());
        used.map(|(handle, _)| handle).collect()
    }

    /// Does something in the first invocation.
    pub(super) fn by_the_first(&mut self, turns: &Turns, what: impl FnOnce(&mut Self)) {
        let zero = self.b.const_u32(0);
        let first = self.b.binary(BinaryOp::Eq, turns.index, zero);
        self.when(first, what);
    }

    pub(super) fn when(&mut self, condition: Value, what: impl FnOnce(&mut Self)) {
        self.b.push_block();
        what(self);
        let then = self.b.pop_block();
        let otherwise = self.b.block(|_| {});
        self.b.if_(condition, then, otherwise, ControlHint::None);
    }

    /// Does something for every index below `len`, shared out among the invocations.
    pub(super) fn by_turns(&mut self, turns: &Turns, len: Value, what: impl FnOnce(&mut Self, Value)) {
        match (self.known(len), self.known(turns.size)) {
            (Some(len), Some(size)) if len == size => what(self, turns.index),
            (Some(count), Some(size)) if count < size => {
                let mine = self.b.binary(BinaryOp::Lt, turns.index, len);
                self.when(mine, |body| what(body, turns.index));
            }
            _ => self.strided_loop(turns, len, what),
        }
    }

    fn known(&self, value: Value) -> Option<u64> {
        match value {
            Value::Const(id) => self.b.module.constants.bits(id),
            _ => None,
        }
    }

    fn strided_loop(&mut self, turns: &Turns, len: Value, what: impl FnOnce(&mut Self, Value)) {
        let counter = self.b.local("", Types::U32, None);
        self.b.store(counter, turns.index);
        self.b.push_block();
        let at = self.b.load(counter);
        let done = self.b.binary(BinaryOp::Ge, at, len);
        self.when(done, |body| body.b.break_());
        what(self, at);
        let body = self.b.pop_block();
        self.b.push_block();
        let at = self.b.load(counter);
        let next = self.b.binary(BinaryOp::Add, at, turns.size);
        self.b.store(counter, next);
        let continuing = self.b.pop_block();
        self.b.loop_(body, continuing, None, ControlHint::None);
    }
}
