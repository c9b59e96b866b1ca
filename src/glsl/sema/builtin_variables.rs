//! Built-in variables and constants, created on first use.

use super::Sema;
use super::expressions::Lowered;
use super::lvalue::{LValue, Mutability};
use super::open_arrays::OpenArray;
use super::ray_query;
use crate::glsl::builtin;
use crate::glsl::token::Symbol;
use crate::grammar::{self, Blocks, Constant, Variable, VariableSource};
use crate::ir::build::Builder;
use crate::ir::{
    Access, ArrayLen, BinaryOp, Binding, BuiltIn, Crowd, Global, GlobalId, Interpolation, MathFn, Member, Scalar,
    Space, Stage, Struct, Type, TypeId, Types, Value,
};
use crate::source::Span;

/// Built-in variables of unsupported stages and languages (GLSL 4.60 section 7.1), which reveal a shader of another
/// kind.
#[rustfmt::skip]
const OTHER_STAGES: &[&str] = &[
    "gl_FragData",
];

/// Returns true if no supported stage has the built-in variable.
pub fn belongs_to_another_stage(name: &str) -> bool {
    OTHER_STAGES.contains(&name)
}

impl Sema<'_> {
    /// A name that the user has not declared.
    pub fn builtin_variable(&mut self, b: &mut Builder<'_>, symbol: Symbol, span: Span) -> Option<Lowered> {
        let name = self.text(symbol);
        if let Some(variable) = builtin::variable(&self.env, name) {
            let usable = builtin::check_variable(&self.env, variable, span);
            self.check(usable)?;
            self.note_indices(variable, span);
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
            VariableSource::BuiltIn(BuiltIn::FragCoord) if self.has_integer_centers => {
                Lowered::Value(self.integer_centred_coordinate(b, variable))
            }
            VariableSource::BuiltIn(builtin) => Lowered::LValue(self.builtin_lvalue(b, variable, builtin)),
            VariableSource::Transposed(builtin) => Lowered::Value(self.transposed_builtin(b, builtin, ty)),
            VariableSource::Lane(op) => Lowered::Value(b.lane_as(op, ty, &[])),
            VariableSource::Output(location) => Lowered::LValue(self.located_output(b, variable, location)),
            VariableSource::Blocks(blocks) => Lowered::LValue(self.builtin_blocks(b, variable, blocks)),
            VariableSource::WorkgroupSize => Lowered::Value(self.workgroup_size_value(b, ty)),
        }
    }

    /// A built-in variable of the pipeline: an output in some stages, an input in the others.
    pub fn builtin_lvalue(&mut self, b: &mut Builder<'_>, variable: &Variable, builtin: BuiltIn) -> LValue {
        let space = self.builtin_space(variable);
        let id = self.builtin_global(b, variable, builtin, space, builtin.crowd());
        let mutability = if space == Space::Output { Mutability::Writable } else { Mutability::Input };
        LValue { mutability, ..LValue::new(Value::Global(id), space, b.module.globals[id].ty) }
    }

    /// `gl_FragCoord` if pixel centres are at integers (GLSL 4.60 section 4.4.1.3). Vulkan has no such mode
    /// (VUID-StandaloneSpirv-PixelCenterInteger-04654) and neither do most languages.
    fn integer_centred_coordinate(&mut self, b: &mut Builder<'_>, variable: &Variable) -> Value {
        let place = self.builtin_lvalue(b, variable, BuiltIn::FragCoord);
        let coordinate = b.load(place.root);
        let [half, zero] = [0.5, 0.0].map(|part| b.const_f32(part));
        let offset = b.construct(place.ty, &[half, half, zero, zero]);
        b.binary(BinaryOp::Sub, coordinate, offset)
    }

    /// The transpose of a built-in matrix, of type `ty`.
    fn transposed_builtin(&mut self, b: &mut Builder<'_>, builtin: BuiltIn, ty: TypeId) -> Value {
        let plain = grammar::VARIABLES.iter().find(|variable| variable.source == VariableSource::BuiltIn(builtin));
        let Some(plain) = plain else { return b.undef(ty) };
        let place = self.builtin_lvalue(b, plain, builtin);
        let matrix = b.load(place.root);
        b.math_as(MathFn::Transpose, ty, &[matrix])
    }

    fn builtin_space(&self, variable: &Variable) -> Space {
        if variable.output.contains(self.env.stage) { Space::Output } else { Space::Input }
    }

    /// The variable of a built-in, created on first use: a single one, or one per owner of an array.
    pub fn builtin_global(
        &mut self,
        b: &mut Builder<'_>,
        variable: &Variable,
        builtin: BuiltIn,
        space: Space,
        crowd: Option<Crowd>,
    ) -> GlobalId {
        if let Some(known) = self.builtins.get(&(builtin, space)) {
            return *known;
        }
        let id = self.new_builtin(b, variable, builtin, space);
        if let Some(crowd) = crowd {
            let each = b.module.globals[id].ty;
            let length = self.crowd_length(crowd);
            b.module.globals[id].ty = b.module.types.array(each, length);
        }
        id
    }

    /// `gl_in`, `gl_out`, or the outputs of mesh shaders.
    pub fn builtin_blocks(&mut self, b: &mut Builder<'_>, variable: &Variable, blocks: &'static Blocks) -> LValue {
        let space = self.builtin_space(variable);
        let mut known = self.built_in_blocks.iter();
        let known = known.find(|(_, known, of)| (*known, *of) == (blocks, space)).map(|(id, ..)| *id);
        let id = known.unwrap_or_else(|| self.new_blocks(b, variable, blocks, space));
        let mutability = self.port_mutability(space, Interpolation::Perspective);
        LValue { mutability, ..LValue::new(Value::Global(id), space, b.module.globals[id].ty) }
    }

    fn new_blocks(
        &mut self,
        b: &mut Builder<'_>,
        variable: &Variable,
        blocks: &'static Blocks,
        space: Space,
    ) -> GlobalId {
        let known = blocks.members.iter().filter_map(|name| grammar::variable(name));
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
            name: blocks.name.into(),
            span: Span::NONE,
            members,
            block: false,
            logical: None,
        });
        let crowd = self.env.stage.crowd(space, interpolation_of(blocks));
        let length = crowd.map_or(ArrayLen::Runtime, |crowd| self.crowd_length(crowd));
        let ty = b.module.types.array(ty, length);
        let (name, span) = (variable.name.into(), Span::NONE);
        let id = b.module.globals.push(Global { name, span, space, ty, binding, access, init: None });
        self.built_in_blocks.push((id, blocks, space));
        id
    }

    /// The variable that a member of such a block is: `gl_in[i].gl_Position`.
    pub fn member_variable(
        &mut self,
        b: &mut Builder<'_>,
        lowered: &Lowered,
        name: &str,
        span: Span,
    ) -> Option<LValue> {
        let Lowered::LValue(LValue { root: Value::Global(id), path, space, mutability, .. }) = lowered else {
            return None;
        };
        let (_, blocks, _) = *self.built_in_blocks.iter().find(|(known, ..)| known == id)?;
        let [at] = path[..] else { return None };
        let variable = grammar::variable(name)?;
        let VariableSource::BuiltIn(builtin) = variable.source else { return None };
        let allowed = builtin::check_member(&self.env, variable, span);
        self.check(allowed);
        let crowd = self.env.stage.crowd(*space, interpolation_of(blocks));
        let global = self.builtin_global(b, variable, builtin, *space, crowd);
        let each = b.module.types.element(b.module.globals[global].ty, 0)?;
        let whole = LValue::new(Value::Global(global), *space, b.module.globals[global].ty);
        let place = LValue { mutability: *mutability, ..whole.part(at, each) };
        Some(match b.module.types.get(each) {
            Type::Struct(_) => {
                let member = b.module.types.element(each, 0)?;
                place.part(b.const_u32(0), member)
            }
            _ => place,
        })
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
        let own = builtin_type(b, variable);
        let (ty, binding) = match builtin {
            BuiltIn::CullPrimitive | BuiltIn::PrimitiveShadingRate if self.env.stage == Stage::Mesh => {
                (block_of(b, variable, own, builtin), Binding::None)
            }
            _ => (own, Binding::BuiltIn(builtin)),
        };
        let name = variable.name.into();
        let (span, access) = (Span::NONE, Access::empty());
        let id = b.module.globals.push(Global { name, span, space, ty, binding, access, init: None });
        self.builtins.insert((builtin, space), id);
        if variable.array == Some(0) {
            self.open_arrays.push(OpenArray::built_in(id));
        }
        id
    }
}

/// A block with a built-in variable as its only member: SPIR-V's validator accepts arrays of some built-ins only as
/// members.
fn block_of(b: &mut Builder<'_>, variable: &Variable, ty: TypeId, builtin: BuiltIn) -> TypeId {
    let (span, access, binding) = (Span::NONE, Access::empty(), Binding::BuiltIn(builtin));
    let members = vec![Member { name: variable.name.into(), span, ty, offset: None, access, binding }];
    b.module.types.add_struct(Struct { name: variable.name.into(), span, members, block: true, logical: None })
}

/// The interpolation of the members of blocks, as far as it determines the array's owners.
pub const fn interpolation_of(blocks: &Blocks) -> Interpolation {
    match blocks.of_primitives {
        true => Interpolation::PerPrimitive { nvidia: false },
        false => Interpolation::Perspective,
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
