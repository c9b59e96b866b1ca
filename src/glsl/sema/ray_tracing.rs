//! Ray tracing pipelines (GL_EXT_ray_tracing, GL_NV_ray_tracing): the variables that pass between their shaders, and
//! the calls that pass them. Calls refer to payloads and callable data by their locations. SPV_KHR_ray_tracing refers
//! to the variables themselves, SPV_NV_ray_tracing to the locations.

use super::Sema;
use super::expressions::Lowered;
use super::hit_objects;
use super::lvalue::{LValue, Mutability};
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Declarator, ExprId, LayoutId, List, Name, RayStorage};
use crate::grammar::Stages;
use crate::ir::build::Builder;
use crate::ir::calls::callees_first;
use crate::ir::{
    Access, Binding, Ending, ForeignInstruction, FuncId, Global, GlobalId, Module, Passing, RayOperand as Operand,
    Requirements, Space, Stage, Struct, TypeId, Types, Value,
};
use crate::source::Span;
use smallvec::SmallVec;
use std::collections::BTreeSet;

pub const RAY_TRACING: &str = "GL_EXT_ray_tracing";
pub const RAY_TRACING_NV: &str = "GL_NV_ray_tracing";

/// The layouts that turn a block into a shader record.
pub const RECORDS: [&str; 2] = ["shaderRecordEXT", "shaderRecordNV"];

const MOTION_BLUR: &str = "GL_NV_ray_tracing_motion_blur";

/// The location of a ray variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Located {
    /// The layout must not have one.
    Never,
    /// The only variable of its kind in a shader: other shaders do not refer to it, and a call refers to it by its
    /// location.
    Perhaps,
    Always,
}

use Located::{Always, Never, Perhaps};

/// A storage qualifier: its word, its space, its stages, whether it has a location, and its extension.
type Row = (RayStorage, &'static str, Space, Stages, Located, &'static str);

const TRACERS: Stages = Stages::of(&[Stage::RayGeneration, Stage::ClosestHit, Stage::Miss]);
const HIT: Stages = Stages::of(&[Stage::AnyHit, Stage::ClosestHit, Stage::Miss]);
const ATTRIBUTED: Stages = Stages::of(&[Stage::Intersection, Stage::AnyHit, Stage::ClosestHit]);
const CALLERS: Stages = Stages::of(&[Stage::RayGeneration, Stage::ClosestHit, Stage::Miss, Stage::Callable]);
const CALLED: Stages = Stages::of(&[Stage::Callable]);

const STORAGES: &[Row] = &[
    (RayStorage::Payload, "rayPayloadEXT", Space::RayPayload, TRACERS, Always, RAY_TRACING),
    (RayStorage::PayloadNv, "rayPayloadNV", Space::RayPayload, TRACERS, Always, RAY_TRACING_NV),
    (RayStorage::PayloadIn, "rayPayloadInEXT", Space::IncomingRayPayload, HIT, Perhaps, RAY_TRACING),
    (RayStorage::PayloadInNv, "rayPayloadInNV", Space::IncomingRayPayload, HIT, Perhaps, RAY_TRACING_NV),
    (RayStorage::HitAttribute, "hitAttributeEXT", Space::HitAttribute, ATTRIBUTED, Never, RAY_TRACING),
    (RayStorage::HitAttributeNv, "hitAttributeNV", Space::HitAttribute, ATTRIBUTED, Never, RAY_TRACING_NV),
    (
        RayStorage::HitObjectAttributeNv,
        "hitObjectAttributeNV",
        Space::HitObjectAttributeNv,
        hit_objects::STAGES,
        Always,
        hit_objects::extension(true),
    ),
    (
        RayStorage::HitObjectAttribute,
        "hitObjectAttributeEXT",
        Space::HitObjectAttribute,
        hit_objects::STAGES,
        Always,
        hit_objects::extension(false),
    ),
    (RayStorage::CallableData, "callableDataEXT", Space::CallableData, CALLERS, Always, RAY_TRACING),
    (RayStorage::CallableDataNv, "callableDataNV", Space::CallableData, CALLERS, Always, RAY_TRACING_NV),
    (RayStorage::CallableDataIn, "callableDataInEXT", Space::IncomingCallableData, CALLED, Perhaps, RAY_TRACING),
    (RayStorage::CallableDataInNv, "callableDataInNV", Space::IncomingCallableData, CALLED, Perhaps, RAY_TRACING_NV),
];

/// A function that passes a variable on: its name, opcode, operands before the location, its stages, and the spaces
/// that the variable may be in.
pub struct Function {
    name: &'static str,
    opcode: u32,
    operands: &'static [Operand],
    stages: Stages,
    spaces: [Space; 2],
    form: &'static Form,
}

/// The extensions that provide a function.
struct Form {
    extensions: &'static [&'static str],
    /// The capabilities of SPIR-V that its instruction needs.
    capabilities: &'static [u32],
    /// True if the instruction takes the location of the variable.
    by_location: bool,
}

/// RayTracingKHR.
static KHR: Form = Form { extensions: &[RAY_TRACING], capabilities: &[4479], by_location: false };

/// RayTracingMotionBlurNV.
static MOTION: Form = Form { extensions: &[RAY_TRACING, MOTION_BLUR], capabilities: &[4479, 5341], by_location: false };

/// RayTracingNV.
static NVIDIA: Form = Form { extensions: &[RAY_TRACING_NV], capabilities: &[5340], by_location: true };

/// The operands of a traced ray: structure, flags, mask, offset, stride and index of records, origin, minimum distance,
/// direction and maximum distance; and the time of the ray.
const RAY: &[Operand] = &[
    Operand::Structure,
    Operand::Uint,
    Operand::Uint,
    Operand::Uint,
    Operand::Uint,
    Operand::Uint,
    Operand::Vec3,
    Operand::Float,
    Operand::Vec3,
    Operand::Float,
    Operand::Float,
];

const FUNCTIONS: &[Function] = &[
    Function {
        name: "traceRayEXT",
        opcode: 4445,
        operands: RAY.split_at(10).0,
        stages: TRACERS,
        spaces: [Space::RayPayload, Space::IncomingRayPayload],
        form: &KHR,
    },
    Function {
        name: "traceNV",
        opcode: 5337,
        operands: RAY.split_at(10).0,
        stages: TRACERS,
        spaces: [Space::RayPayload, Space::IncomingRayPayload],
        form: &NVIDIA,
    },
    Function {
        name: "traceRayMotionNV",
        opcode: 5339,
        operands: RAY,
        stages: TRACERS,
        spaces: [Space::RayPayload, Space::IncomingRayPayload],
        form: &MOTION,
    },
    Function {
        name: "executeCallableEXT",
        opcode: 4446,
        operands: &[Operand::Uint],
        stages: CALLERS,
        spaces: [Space::CallableData, Space::IncomingCallableData],
        form: &KHR,
    },
    Function {
        name: "executeCallableNV",
        opcode: 5344,
        operands: &[Operand::Uint],
        stages: CALLERS,
        spaces: [Space::CallableData, Space::IncomingCallableData],
        form: &NVIDIA,
    },
];

/// The last argument of these functions, as messages call it.
const LOCATION: &str = "the location of a payload";

/// The function called `name`.
pub fn function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// The function for an instruction, and the extensions that provide it.
pub fn ray_call(opcode: u32) -> Option<(&'static str, &'static [&'static str])> {
    FUNCTIONS.iter().find(|row| row.opcode == opcode).map(|row| (row.name, row.form.extensions))
}

/// The storage qualifier of a space, in NVIDIA's form or the other, and its extension.
pub fn ray_word(space: Space, nvidia: bool) -> Option<(&'static str, &'static str)> {
    let mut rows = STORAGES.iter().filter(|row| row.2 == space);
    let first = rows.clone().next();
    rows.find(|row| (row.5 == RAY_TRACING_NV) == nvidia).or(first).map(|row| (row.1, row.5))
}

impl Sema<'_> {
    pub fn need_for_rays(&mut self, what: &str, extension: &str, span: Span) -> Option<()> {
        if self.env.is_enabled(extension) {
            return Some(());
        }
        self.needs_extension(what, extension, span);
        None
    }

    /// `layout(location = 0) rayPayloadEXT vec4 payload;` and its kin.
    pub fn ray_variable(
        &mut self,
        b: &mut Builder<'_>,
        decl: &ast::Decl,
        (of, span): (RayStorage, Span),
        base: TypeId,
        declarator: &Declarator,
    ) -> Option<Entity> {
        let row = self.ray_storage(of, span)?;
        if let Some(init) = declarator.init {
            let message = format!("a `{}` variable has no initial value", row.1);
            self.error(Code::BAD_INITIALIZER, self.ast[init].span, message, "not allowed");
        }
        let binding = self.ray_binding(b, decl, row, declarator.name)?;
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        let ty = self.usable(b, ty, declarator.span)?;
        let ty = self.sized(b, ty, declarator)?;
        self.refuse_valueless(b, ty, declarator.span)?;
        self.refuse_private(b, ty, declarator.span)?;
        if !self.env.has_stage(row.3) {
            return Some(Entity::Idle);
        }
        let name = self.text(declarator.name.symbol);
        Some(Entity::LValue(self.ray_global(b, row, ty, binding, (name, declarator.name.span))))
    }

    /// `layout(location = 0) rayPayloadEXT Block { … } payload;`
    pub fn ray_block(
        &mut self,
        b: &mut Builder<'_>,
        decl: &ast::Decl,
        (of, span): (RayStorage, Span),
        block: &ast::Block,
    ) -> Option<()> {
        let row = self.ray_storage(of, span)?;
        let binding = self.ray_binding(b, decl, row, block.name)?;
        let members = self.struct_members(b, block.members, false)?;
        let name = self.text(block.name.symbol).into();
        let span = block.name.span;
        let ty = b.module.types.add_struct(Struct { name, span, members, block: false, logical: None });
        let members = self.ast[block.members].iter().flat_map(|line| &self.ast[line.declarators]);
        let names: Vec<Name> = members.map(|declarator| declarator.name).collect();
        if !self.env.has_stage(row.3) {
            let names = block.instance.as_ref().map_or(names, |instance| vec![instance.name]);
            names.into_iter().for_each(|name| self.declare(name, Entity::Idle));
            return Some(());
        }
        let Some(instance) = &block.instance else {
            let whole = self.ray_global(b, row, ty, binding, ("", span));
            for (index, name) in (0..).zip(names) {
                let part = b.module.types.element(ty, index)?;
                let place = whole.clone().part(b.const_u32(index), part);
                self.declare(name, Entity::LValue(place));
            }
            return Some(());
        };
        let ty = self.with_dimensions(b, ty, instance.dimensions)?;
        let ty = self.sized(b, ty, instance)?;
        let name = (self.text(instance.name.symbol), instance.name.span);
        let whole = self.ray_global(b, row, ty, binding, name);
        self.declare(instance.name, Entity::LValue(whole));
        Some(())
    }

    /// The row of a ray storage qualifier, if the stage has it, or may at least declare it: glslang allows any-hit
    /// shaders, which trace no rays, to declare payloads like tracing stages (VUID-StandaloneSpirv-RayPayloadKHR-04698
    /// is about their use).
    fn ray_storage(&mut self, of: RayStorage, span: Span) -> Option<&'static Row> {
        let row = STORAGES.iter().find(|(known, ..)| *known == of)?;
        self.need_for_rays("this qualifier needs", row.5, span)?;
        let is_idle = row.2 == Space::RayPayload && self.env.stage == Stage::AnyHit;
        if self.env.has_stage(row.3) || is_idle {
            return Some(row);
        }
        let message = format!("{} shaders have no `{}` variables", self.env.stage.name(), row.1);
        self.error(Code::BAD_QUALIFIER, span, message, "not in this stage");
        None
    }

    fn ray_binding(&mut self, b: &mut Builder<'_>, decl: &ast::Decl, row: &Row, name: Name) -> Option<Binding> {
        let (_, _, space, _, located, _) = *row;
        let mut location = None;
        for id in &self.layout_ids(decl.qualifiers) {
            match self.text(id.name.symbol) {
                "location" if located != Never => location = Some(self.layout_value(b, id)?),
                _ => self.unknown_layout_id(id),
            }
        }
        self.check_others(b, row, location, name)?;
        if located == Never {
            return Some(Binding::None);
        }
        let location = location.or_else(|| self.automatic_location(space, 1));
        match (location, located) {
            (None, Always) => self.needs_location(name),
            (None, _) => return Some(Binding::None),
            _ => {}
        }
        let (interpolation, sampling) = Default::default();
        location.map(|_| Binding::Location { location, component: 0, index: 0, interpolation, sampling })
    }

    /// A shader has one variable per location, and one hit attribute. It uses at most one incoming payload or callable
    /// data.
    fn check_others(&mut self, b: &Builder<'_>, row: &Row, location: Option<u32>, name: Name) -> Option<()> {
        let (_, word, space, ..) = *row;
        let of_space = |global: &Global| global.space == space;
        let is_single = !matches!(
            space,
            Space::RayPayload
                | Space::CallableData
                | Space::IncomingRayPayload
                | Space::IncomingCallableData
                | Space::HitObjectAttributeNv
                | Space::HitObjectAttribute
        );
        let mut others = b.module.globals.iter().map(|(_, global)| global).filter(|global| of_space(global));
        let clash = others.find(|global| is_single || location.is_some() && location_of(global) == location);
        let Some(first) = clash else { return Some(()) };
        let message = match (is_single, location) {
            (false, Some(location)) => format!("two `{word}` variables have location {location}"),
            _ => format!("a shader has one `{word}` variable"),
        };
        let diagnostic = Diagnostic::error(Code::BAD_DECLARATION, message).at(name.span, "the second one");
        self.report(diagnostic.with(first.span, "the first one"));
        None
    }

    /// Refuses a second incoming payload or callable data if the shader uses both.
    pub fn check_incoming(&mut self, module: &Module, main: FuncId) {
        let comes_in = |space| matches!(space, Space::IncomingRayPayload | Space::IncomingCallableData);
        if module.globals.iter().filter(|(_, global)| comes_in(global.space)).count() < 2 {
            return;
        }
        let mut used = BTreeSet::new();
        for function in callees_first(module, [main]).into_iter().map(|id| &module.functions[id]) {
            for (_, inst) in function.insts.iter() {
                inst.op.each_operand(function, |value| {
                    used.extend(match value {
                        Value::Global(id) if comes_in(module.globals[id].space) => Some(id),
                        _ => None,
                    });
                });
            }
        }
        let mut used = used.into_iter().map(|id| &module.globals[id]);
        let (Some(first), Some(second)) = (used.next(), used.next()) else { return };
        let message = "a shader uses one variable that comes in from its caller";
        let diagnostic = Diagnostic::error(Code::BAD_DECLARATION, message).at(second.span, "the second one");
        self.report(diagnostic.with(first.span, "the first one"));
    }

    fn ray_global(
        &self,
        b: &mut Builder<'_>,
        row: &Row,
        ty: TypeId,
        binding: Binding,
        (name, span): (&str, Span),
    ) -> LValue {
        let (space, access, name) = (row.2, Access::empty(), name.into());
        let id = b.module.globals.push(Global { name, span, space, ty, binding, access, init: None });
        let is_fixed = space == Space::HitAttribute && self.env.stage != Stage::Intersection;
        let mutability = if is_fixed { Mutability::Input } else { Mutability::Writable };
        LValue { mutability, ..LValue::new(Value::Global(id), space, ty) }
    }

    /// `layout(shaderRecordEXT) buffer Record { … };`
    pub fn shader_record(&mut self, b: &Builder<'_>, id: &LayoutId) -> Option<Space> {
        let span = id.span;
        let is_nvidia = self.text(id.name.symbol).ends_with("NV");
        self.need_for_rays("this layout needs", if is_nvidia { RAY_TRACING_NV } else { RAY_TRACING }, span)?;
        let complaint = match b.module.globals.iter().any(|(_, global)| global.space == Space::ShaderRecord) {
            _ if !self.env.stage.is_of_rays() => "shader records belong to ray tracing shaders",
            true => "a shader has one shader record",
            false => return Some(Space::ShaderRecord),
        };
        self.error(Code::BAD_LAYOUT, span, complaint, "not here");
        None
    }

    /// `traceRayEXT(…)` and `executeCallableEXT(…)`.
    pub fn ray_call(
        &mut self,
        b: &mut Builder<'_>,
        function: &Function,
        callee: Name,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Lowered> {
        let Function { name, opcode, operands: wanted, stages, spaces, form } = *function;
        for extension in form.extensions {
            self.need_for_rays("this function needs", extension, callee.span)?;
        }
        if !self.env.has_stage(stages) {
            let message = format!("`{name}` does not exist in {} shaders", self.env.stage.name());
            self.error(Code::WRONG_STAGE, callee.span, message, "used here");
            return None;
        }
        let given = &self.ast[args];
        if given.len() != wanted.len() + 1 {
            self.wrong_count(name, wanted.len() + 1, whole);
            return None;
        }
        let mut operands: SmallVec<[Value; 12]> = SmallVec::new();
        for (arg, operand) in given.iter().zip(wanted) {
            operands.push(self.ray_operand(b, *arg, *operand)?);
        }
        let last = given[wanted.len()];
        let mut arguments = vec![Passing::Value; wanted.len()];
        let (variable, passing) = match form.by_location {
            true => (Value::Const(self.constant(b, last, LOCATION)?), Passing::Value),
            false => (Value::Global(self.handed_on(b, last, &spaces)?), Passing::Reference),
        };
        operands.push(variable);
        arguments.push(passing);
        let requires = Requirements { extensions: Vec::new(), capabilities: form.capabilities.to_vec() };
        let instruction = b.known_instruction(ForeignInstruction { set: None, opcode, arguments, requires });
        b.span = whole;
        b.foreign(instruction, &operands, Types::VOID);
        Some(Lowered::Void)
    }

    /// The variable at the location that an argument names.
    pub fn handed_on(&mut self, b: &mut Builder<'_>, arg: ExprId, spaces: &[Space]) -> Option<GlobalId> {
        let span = self.ast[arg].span;
        let number = self.constant(b, arg, LOCATION)?;
        let number = b.module.constants.as_int(&b.module.types, number);
        let location = number.and_then(|number| u32::try_from(number).ok());
        let mut globals = b.module.globals.iter();
        let found = globals.find(|(_, global)| spaces.contains(&global.space) && location_of(global) == location);
        if let (Some((id, _)), Some(_)) = (found, location) {
            return Some(id);
        }
        let words = STORAGES.iter().filter(|(_, _, space, ..)| spaces.contains(space));
        let words: Vec<String> = words.map(|(_, word, ..)| format!("`{word}`")).collect();
        let message = format!("no {} variable has this location", words.join(" or "));
        self.error(Code::UNKNOWN_NAME, span, message, "no such variable");
        None
    }

    /// `ignoreIntersectionEXT;` and `terminateRayEXT;`
    pub fn end_hit(&mut self, b: &mut Builder<'_>, word: &str, ending: Ending, span: Span) {
        if self.need_for_rays("this statement needs", RAY_TRACING, span).is_none() {
            return;
        }
        if self.env.stage != Stage::AnyHit {
            let message = format!("`{word}` belongs to any-hit shaders");
            self.error(Code::BAD_STATEMENT, span, message, "not in this stage");
            return;
        }
        b.end(ending, &[]);
    }
}

const fn location_of(global: &Global) -> Option<u32> {
    match global.binding {
        Binding::Location { location, .. } => location,
        _ => None,
    }
}
