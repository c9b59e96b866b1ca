//! Built-in variables and constants: made when first named.

use super::Sema;
use super::expressions::Lowered;
use super::place::{Mutability, Place};
use crate::glsl::builtin;
use crate::glsl::token::Symbol;
use crate::grammar::{self, Constant, Variable, VariableSource};
use crate::ir::build::Builder;
use crate::ir::{Access, Binding, BuiltIn, Global, Scalar, Space, TypeId, Value};
use crate::source::Span;

/// Built-in variables of other stages (GLSL 4.60 sections 7.1.1 to 7.1.5), by which a shader of another stage is known.
#[rustfmt::skip]
const OTHER_STAGES: &[&str] = &[
    "gl_BaseInstance", "gl_BaseVertex", "gl_ClipDistance", "gl_CullDistance", "gl_DrawID", "gl_FragColor", "gl_FragCoord",
    "gl_FragData", "gl_FragDepth", "gl_FrontFacing", "gl_HelperInvocation", "gl_InstanceID", "gl_InstanceIndex",
    "gl_InvocationID", "gl_Layer", "gl_PatchVerticesIn", "gl_PointCoord", "gl_PointSize", "gl_Position", "gl_PrimitiveID",
    "gl_SampleID", "gl_SampleMask", "gl_SampleMaskIn", "gl_SamplePosition", "gl_TessCoord", "gl_TessLevelInner",
    "gl_TessLevelOuter", "gl_VertexID", "gl_VertexIndex", "gl_ViewportIndex", "gl_in", "gl_out",
];

/// Whether no compute shader has the built-in variable.
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
            return Some(Lowered::Value(constant_value(b, constant)));
        }
        self.unknown_name(symbol, span);
        None
    }

    fn read_builtin(&mut self, b: &mut Builder<'_>, variable: &Variable) -> Lowered {
        let ty = variable.ty.intern(&mut b.module.types);
        match variable.source {
            VariableSource::BuiltIn(input) => {
                let global = self.builtin_input(b, input, variable.name, ty);
                let place = Place::new(Value::Global(global), Space::Input, ty);
                Lowered::Place(Place { mutability: Mutability::Input, ..place })
            }
            VariableSource::Lane(op) => Lowered::Value(b.lane(op, ty, &[])),
            VariableSource::WorkgroupSize => Lowered::Value(self.workgroup_size_value(b, ty)),
        }
    }

    fn builtin_input(&mut self, b: &mut Builder<'_>, builtin: BuiltIn, name: &str, ty: TypeId) -> crate::ir::GlobalId {
        *self.builtin_inputs.entry(builtin).or_insert_with(|| {
            b.module.globals.push(Global {
                name: name.into(),
                span: Span::NONE,
                space: Space::Input,
                ty,
                binding: Binding::BuiltIn(builtin),
                access: Access::empty(),
                init: None,
            })
        })
    }
}

/// An `int`, or an `ivec3`.
fn constant_value(b: &mut Builder<'_>, constant: &Constant) -> Value {
    let parts: Vec<Value> = constant.value.iter().map(|part| b.const_i32(*part)).collect();
    match parts.as_slice() {
        [single] => *single,
        _ => {
            let ty = b.module.types.vector(Scalar::I32, parts.len() as u8);
            b.construct(ty, &parts)
        }
    }
}
