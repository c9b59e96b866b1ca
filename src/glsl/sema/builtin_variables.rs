//! Built-in variables and constants: made when first named.

use super::Sema;
use super::expressions::Lowered;
use super::lvalue::{LValue, Mutability};
use super::ray_query;
use crate::glsl::builtin;
use crate::glsl::token::Symbol;
use crate::grammar::{self, Constant, Stages, Variable, VariableSource};
use crate::ir::build::Builder;
use crate::ir::{Access, ArrayLen, Binding, BuiltIn, Global, GlobalId, Scalar, Space, Types, Value};
use crate::source::Span;

/// Built-in variables of stages and languages that are not compiled (GLSL 4.60 section 7.1), by which a shader of another
/// kind is known.
#[rustfmt::skip]
const OTHER_STAGES: &[&str] = &[
    "gl_FragData", "gl_InstanceID", "gl_InvocationID", "gl_PatchVerticesIn", "gl_TessCoord",
    "gl_TessLevelInner", "gl_TessLevelOuter", "gl_VertexID", "gl_in", "gl_out",
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
            VariableSource::WorkgroupSize => Lowered::Value(self.workgroup_size_value(b, ty)),
        }
    }

    /// A built-in variable of the pipeline: an output in some stages, an input in the others.
    pub fn builtin_lvalue(&mut self, b: &mut Builder<'_>, variable: &Variable, builtin: BuiltIn) -> LValue {
        let output = variable.output.contains(Stages::from(self.env.stage));
        let space = if output { Space::Output } else { Space::Input };
        let id = match self.builtins.get(&(builtin, space)) {
            Some(known) => *known,
            None => self.new_builtin(b, variable, builtin, space),
        };
        let mutability = if output { Mutability::Writable } else { Mutability::Input };
        LValue { mutability, ..LValue::new(Value::Global(id), space, b.module.globals[id].ty) }
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
        let element = variable.ty.intern(&mut b.module.types);
        let ty = match variable.array {
            None => element,
            Some(0) => b.module.types.array(element, ArrayLen::Runtime),
            Some(len) => b.module.types.array(element, ArrayLen::Fixed(len)),
        };
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
