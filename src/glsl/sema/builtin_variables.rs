//! Built-in variables and constants: made when first named.

use super::Sema;
use super::expressions::Lowered;
use super::lvalue::{LValue, Mutability};
use super::ray_query;
use crate::glsl::builtin;
use crate::glsl::token::Symbol;
use crate::grammar::{self, Constant, Variable, VariableSource};
use crate::ir::build::Builder;
use crate::ir::{
    Access, ArrayLen, Binding, BuiltIn, Global, GlobalId, Interpolation, Member, Scalar, Space, Struct, TypeId, Types,
    Value,
};
use crate::source::Span;

/// Built-in variables of stages and languages that are not compiled (GLSL 4.60 section 7.1), by which a shader of another
/// kind is known.
#[rustfmt::skip]
const OTHER_STAGES: &[&str] = &[
    "gl_FragData", "gl_InstanceID", "gl_VertexID",
];

/// Whether no shader that is compiled has the built-in variable.
pub fn belongs_to_another_stage(name: &str) -> bool {
    OTHER_STAGES.contains(&name)
}

impl Sema<'_> {
    /// A name that the user has not declared.
    pub fn builtin_variable(&mut self, b: &mut Builder<'_>, symbol: Symbol, span: Span) -> Option<Lowered> {
        let name = self.text(symbol);
        if let Some(variable) = grammar::variable(name) {
            let usable = builtin::check_variable(&self.env, variable, span);
            self.check(usable)?;
            return Some(self.read_builtin(b, variable));
        }
        if let Some(constant) = grammar::constant(name).filter(|c| self.env.has_version(c.core, c.es)) {
            let usable = builtin::check_constant(&self.env, constant, span);
            self.check(usable)?;
            b.module.rays |= ray_query::modes_of_flag(name);
            return Some(Lowered::Value(constant_value(b, constant)));
        }
        self.unknown_name(symbol, span);
        None
    }

    fn read_builtin(&mut self, b: &mut Builder<'_>, variable: &Variable) -> Lowered {
        let ty = variable.ty.intern(&mut b.module.types);
        match variable.source {
            VariableSource::BuiltIn(builtin) => Lowered::LValue(self.builtin_lvalue(b, variable, builtin)),
            VariableSource::Lane(op) => Lowered::Value(b.lane_as(op, ty, &[])),
            VariableSource::Output(location) => Lowered::LValue(self.located_output(b, variable, location)),
            VariableSource::Blocks(members) => Lowered::LValue(self.builtin_blocks(b, variable, members)),
            VariableSource::WorkgroupSize => Lowered::Value(self.workgroup_size_value(b, ty)),
        }
    }

    /// A built-in variable of the pipeline: an output in some stages, an input in the others.
    pub fn builtin_lvalue(&mut self, b: &mut Builder<'_>, variable: &Variable, builtin: BuiltIn) -> LValue {
        let space = self.builtin_space(variable);
        let id = self.builtin_global(b, variable, builtin, space, false);
        let mutability = if space == Space::Output { Mutability::Writable } else { Mutability::Input };
        LValue { mutability, ..LValue::new(Value::Global(id), space, b.module.globals[id].ty) }
    }

    fn builtin_space(&self, variable: &Variable) -> Space {
        if variable.output.contains(self.env.stage) { Space::Output } else { Space::Input }
    }

    /// The variable of a built-in, made when it is first asked for: one, or one for each vertex.
    pub fn builtin_global(
        &mut self,
        b: &mut Builder<'_>,
        variable: &Variable,
        builtin: BuiltIn,
        space: Space,
        of_vertices: bool,
    ) -> GlobalId {
        if let Some(known) = self.builtins.get(&(builtin, space)) {
            return *known;
        }
        let id = self.new_builtin(b, variable, builtin, space);
        let crowd = self.env.stage.crowd(space, Interpolation::Perspective);
        if let (Some(crowd), true) = (crowd, of_vertices) {
            let each = b.module.globals[id].ty;
            let length = self.crowd_length(crowd);
            b.module.globals[id].ty = b.module.types.array(each, length);
        }
        id
    }

    /// `gl_in` or `gl_out`.
    pub fn builtin_blocks(&mut self, b: &mut Builder<'_>, variable: &Variable, members: &[&str]) -> LValue {
        let space = self.builtin_space(variable);
        let known = self.built_in_blocks.iter().find(|(_, known)| *known == space).map(|(id, _)| *id);
        let id = known.unwrap_or_else(|| self.new_blocks(b, variable, members, space));
        let mutability = self.port_mutability(space, Interpolation::Perspective);
        LValue { mutability, ..LValue::new(Value::Global(id), space, b.module.globals[id].ty) }
    }

    fn new_blocks(&mut self, b: &mut Builder<'_>, variable: &Variable, members: &[&str], space: Space) -> GlobalId {
        let known = members.iter().filter_map(|name| grammar::variable(name));
        let of_version = known.filter(|member| builtin::is_in_version(&self.env, member));
        let (offset, access, binding) = (None, Access::empty(), Binding::None);
        let members = of_version
            .map(|member| Member {
                name: member.name.into(),
                span: Span::NONE,
                ty: builtin_type(b, member),
                offset,
                access,
                binding,
            })
            .collect();
        let ty = b.module.types.add_struct(Struct {
            name: "gl_PerVertex".into(),
            span: Span::NONE,
            members,
            block: false,
            logical: None,
        });
        let crowd = self.env.stage.crowd(space, Interpolation::Perspective);
        let length = crowd.map_or(ArrayLen::Runtime, |crowd| self.crowd_length(crowd));
        let ty = b.module.types.array(ty, length);
        let (name, span) = (variable.name.into(), Span::NONE);
        let id = b.module.globals.push(Global { name, span, space, ty, binding, access, init: None });
        self.built_in_blocks.push((id, space));
        id
    }

    /// The variable that a member of such a block is: `gl_in[i].gl_Position`.
    pub fn member_variable(&mut self, b: &mut Builder<'_>, lowered: &Lowered, name: &str) -> Option<LValue> {
        let Lowered::LValue(LValue { root: Value::Global(id), path, space, mutability, .. }) = lowered else {
            return None;
        };
        self.built_in_blocks.iter().find(|(known, _)| known == id)?;
        let [at] = path[..] else { return None };
        let variable = grammar::variable(name)?;
        let VariableSource::BuiltIn(builtin) = variable.source else { return None };
        let global = self.builtin_global(b, variable, builtin, *space, true);
        let each = b.module.types.element(b.module.globals[global].ty, 0)?;
        let whole = LValue::new(Value::Global(global), *space, b.module.globals[global].ty);
        Some(LValue { mutability: *mutability, ..whole.part(at, each) })
    }

    /// A variable that is an output like those that shaders declare.
    fn located_output(&mut self, b: &mut Builder<'_>, variable: &Variable, location: u32) -> LValue {
        let ty = variable.ty.intern(&mut b.module.types);
        let known = self.located.iter().find(|(known, _)| *known == location).map(|(_, id)| *id);
        let id = known.unwrap_or_else(|| {
            let (interpolation, sampling) = Default::default();
            let binding =
                Binding::Location { location: Some(location), component: 0, index: 0, interpolation, sampling };
            let (name, space) = (variable.name.into(), Space::Output);
            let (span, access) = (Span::NONE, Access::empty());
            let id = b.module.globals.push(Global { name, span, space, ty, binding, access, init: None });
            self.located.push((location, id));
            id
        });
        LValue { mutability: Mutability::Writable, ..LValue::new(Value::Global(id), Space::Output, ty) }
    }

    fn new_builtin(&mut self, b: &mut Builder<'_>, variable: &Variable, builtin: BuiltIn, space: Space) -> GlobalId {
        let ty = builtin_type(b, variable);
        let (binding, name) = (Binding::BuiltIn(builtin), variable.name.into());
        let (span, access) = (Span::NONE, Access::empty());
        let id = b.module.globals.push(Global { name, span, space, ty, binding, access, init: None });
        self.builtins.insert((builtin, space), id);
        if variable.array == Some(0) {
            self.open_arrays.push((id, 0));
        }
        id
    }
}

/// The type of a built-in variable; arrays that the shader sizes have no length.
fn builtin_type(b: &mut Builder<'_>, variable: &Variable) -> TypeId {
    let element = variable.ty.intern(&mut b.module.types);
    match variable.array {
        None => element,
        Some(0) => b.module.types.array(element, ArrayLen::Runtime),
        Some(len) => b.module.types.array(element, ArrayLen::Fixed(len)),
    }
}

/// An `int`, a `uint`, or an `ivec3`.
fn constant_value(b: &mut Builder<'_>, constant: &Constant) -> Value {
    let parts: Vec<Value> = constant.value.iter().map(|part| b.const_i32(*part)).collect();
    match parts.as_slice() {
        [single] if constant.unsigned => b.bitcast(*single, Types::U32),
        [single] => *single,
        _ => {
            let ty = b.module.types.vector(Scalar::I32, parts.len() as u8);
            b.construct(ty, &parts)
        }
    }
}
