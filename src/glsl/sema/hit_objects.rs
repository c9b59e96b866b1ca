//! Hit objects and the order of invocations (GL_NV_shader_invocation_reorder, GL_EXT_shader_invocation_reorder). A hit
//! object is a variable like a ray query, see [`super::ray_query`]. Its attributes are in variables with locations,
//! like payloads.

use super::Sema;
use super::expressions::Lowered;
use crate::diagnostic::Code;
use crate::glsl::ast::{ExprId, List, Name};
use crate::grammar::Stages;
use crate::ir::build::Builder;
use crate::ir::{
    ArrayLen, ForeignInstruction, Passing, RayOperand as Operand, Requirements, Scalar, Space, Stage, Type, TypeId,
    Types, Value,
};
use crate::source::Span;
use smallvec::SmallVec;

/// The stages that have hit objects.
pub const STAGES: Stages = Stages::of(&[Stage::RayGeneration, Stage::ClosestHit, Stage::Miss]);
/// The stages that support invocation reordering.
const REORDERING: Stages = Stages::of(&[Stage::RayGeneration]);

const RAY_TRACING: u32 = 4479;
const REORDER_NV: u32 = 5383;
const REORDER: u32 = 5388;
/// The extensions for single functions, and the SPIR-V capabilities that they require.
const MOTION: Option<(&str, u32)> = Some(("GL_NV_ray_tracing_motion_blur", 5341));
const CLUSTERS: Option<(&str, u32)> = Some(("GL_NV_cluster_acceleration_structure", 5437));
const SPHERES: Option<(&str, u32)> = Some(("GL_NV_linear_swept_spheres", 5418));
const SWEPT: Option<(&str, u32)> = Some(("GL_NV_linear_swept_spheres", 5419));
const POSITIONS: Option<(&str, u32)> = Some(("GL_EXT_ray_tracing_position_fetch", 5336));

/// The extension of one of the two forms.
pub const fn extension(nvidia: bool) -> &'static str {
    if nvidia { "GL_NV_shader_invocation_reorder" } else { "GL_EXT_shader_invocation_reorder" }
}

/// An argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arg {
    /// The hit object.
    Hit,
    Query,
    Of(Operand),
    /// The location of a payload.
    Payload,
    /// The location of attributes.
    Attributes,
}

/// The result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Nothing,
    Bool,
    Int,
    Uint,
    Float,
    Uvec2,
    Vec3,
    Matrix,
    /// An array of this many vectors of a size, for the last argument.
    Array(u8, u32),
}

impl Gives {
    fn ty(self, types: &mut Types) -> TypeId {
        match self {
            Gives::Nothing => Types::VOID,
            Gives::Bool => Types::BOOL,
            Gives::Int => Types::I32,
            Gives::Uint => Types::U32,
            Gives::Float => Types::F32,
            Gives::Uvec2 => types.vector(Scalar::U32, 2),
            Gives::Vec3 => types.vector(Scalar::F32, 3),
            Gives::Matrix => types.matrix(Scalar::F32, 4, 3),
            Gives::Array(size, count) => {
                let one = types.vector(Scalar::F32, size);
                types.array(one, ArrayLen::Fixed(count))
            }
        }
    }
}

/// A function: its name without the suffix of its form, the opcodes of both forms (0 if a form lacks it), its arguments
/// and result, and an additional extension if it needs one.
type Row = (&'static str, [u32; 2], &'static [Arg], Gives, Option<(&'static str, u32)>);

const FLOAT: Arg = Arg::Of(Operand::Float);
const INT: Arg = Arg::Of(Operand::Int);
const TOP: Arg = Arg::Of(Operand::Structure);
const UINT: Arg = Arg::Of(Operand::Uint);
const VEC3: Arg = Arg::Of(Operand::Vec3);
use Arg::{Attributes, Hit, Payload};

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("hitObjectTraceRay", [5260, 5316],
        &[Hit, TOP, UINT, UINT, UINT, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, Payload], Gives::Nothing, None),
    ("hitObjectTraceRayMotion", [5256, 5317],
        &[Hit, TOP, UINT, UINT, UINT, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, FLOAT, Payload], Gives::Nothing, MOTION),
    ("hitObjectRecordHit", [5261, 0],
        &[Hit, TOP, INT, INT, INT, UINT, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, Attributes], Gives::Nothing, None),
    ("hitObjectRecordHitMotion", [5249, 0],
        &[Hit, TOP, INT, INT, INT, UINT, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, FLOAT, Attributes], Gives::Nothing, MOTION),
    ("hitObjectRecordHitWithIndex", [5262, 0],
        &[Hit, TOP, INT, INT, INT, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, Attributes], Gives::Nothing, None),
    ("hitObjectRecordHitWithIndexMotion", [5250, 0],
        &[Hit, TOP, INT, INT, INT, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, FLOAT, Attributes], Gives::Nothing, MOTION),
    ("hitObjectRecordFromQuery", [0, 5304], &[Hit, Arg::Query, UINT, Attributes], Gives::Nothing, None),
    ("hitObjectRecordFromQuery", [0, 5304], &[Hit, Arg::Query, UINT, Attributes, UINT], Gives::Nothing, None),
    ("hitObjectRecordMiss", [5263, 0], &[Hit, UINT, VEC3, FLOAT, VEC3, FLOAT], Gives::Nothing, None),
    ("hitObjectRecordMiss", [0, 5305], &[Hit, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT], Gives::Nothing, None),
    ("hitObjectRecordMissMotion", [5251, 0], &[Hit, UINT, VEC3, FLOAT, VEC3, FLOAT, FLOAT], Gives::Nothing, MOTION),
    ("hitObjectRecordMissMotion", [0, 5306], &[Hit, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, FLOAT], Gives::Nothing, MOTION),
    ("hitObjectRecordEmpty", [5259, 5318], &[Hit], Gives::Nothing, None),
    ("hitObjectExecuteShader", [5264, 5319], &[Hit, Payload], Gives::Nothing, None),
    ("hitObjectReorderExecute", [0, 5310], &[Hit, Payload], Gives::Nothing, None),
    ("hitObjectReorderExecute", [0, 5310], &[Hit, UINT, UINT, Payload], Gives::Nothing, None),
    ("hitObjectTraceReorderExecute", [0, 5311],
        &[Hit, TOP, UINT, UINT, UINT, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, Payload], Gives::Nothing, None),
    ("hitObjectTraceReorderExecute", [0, 5311],
        &[Hit, TOP, UINT, UINT, UINT, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, UINT, UINT, Payload], Gives::Nothing, None),
    ("hitObjectTraceMotionReorderExecute", [0, 5312],
        &[Hit, TOP, UINT, UINT, UINT, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, FLOAT, Payload], Gives::Nothing, MOTION),
    ("hitObjectTraceMotionReorderExecute", [0, 5312],
        &[Hit, TOP, UINT, UINT, UINT, UINT, UINT, VEC3, FLOAT, VEC3, FLOAT, FLOAT, UINT, UINT, Payload], Gives::Nothing, MOTION),
    ("hitObjectSetShaderBindingTableRecordIndex", [0, 5309], &[Hit, UINT], Gives::Nothing, None),
    ("hitObjectIsEmpty", [5276, 5350], &[Hit], Gives::Bool, None),
    ("hitObjectIsMiss", [5278, 5352], &[Hit], Gives::Bool, None),
    ("hitObjectIsHit", [5277, 5351], &[Hit], Gives::Bool, None),
    ("hitObjectGetRayTMin", [5275, 5347], &[Hit], Gives::Float, None),
    ("hitObjectGetRayTMax", [5274, 5333], &[Hit], Gives::Float, None),
    ("hitObjectGetRayFlags", [0, 5308], &[Hit], Gives::Uint, None),
    ("hitObjectGetWorldRayOrigin", [5273, 5330], &[Hit], Gives::Vec3, None),
    ("hitObjectGetWorldRayDirection", [5272, 5329], &[Hit], Gives::Vec3, None),
    ("hitObjectGetObjectRayOrigin", [5255, 5327], &[Hit], Gives::Vec3, None),
    ("hitObjectGetObjectRayDirection", [5254, 5328], &[Hit], Gives::Vec3, None),
    ("hitObjectGetWorldToObject", [5252, 5332], &[Hit], Gives::Matrix, None),
    ("hitObjectGetObjectToWorld", [5253, 5331], &[Hit], Gives::Matrix, None),
    ("hitObjectGetInstanceCustomIndex", [5271, 5326], &[Hit], Gives::Int, None),
    ("hitObjectGetInstanceId", [5270, 5325], &[Hit], Gives::Int, None),
    ("hitObjectGetGeometryIndex", [5269, 5324], &[Hit], Gives::Int, None),
    ("hitObjectGetPrimitiveIndex", [5268, 5323], &[Hit], Gives::Int, None),
    ("hitObjectGetHitKind", [5267, 5322], &[Hit], Gives::Uint, None),
    ("hitObjectGetAttributes", [5266, 5321], &[Hit, Attributes], Gives::Nothing, None),
    ("hitObjectGetCurrentTime", [5265, 5320], &[Hit], Gives::Float, MOTION),
    ("hitObjectGetShaderBindingTableRecordIndex", [5258, 5348], &[Hit], Gives::Uint, None),
    ("hitObjectGetShaderRecordBufferHandle", [5257, 5349], &[Hit], Gives::Uvec2, None),
    ("hitObjectGetIntersectionTriangleVertexPositions", [0, 5307], &[Hit], Gives::Array(3, 3), POSITIONS),
    ("hitObjectGetClusterId", [5346, 0], &[Hit], Gives::Int, CLUSTERS),
    ("hitObjectGetSpherePosition", [5432, 0], &[Hit], Gives::Vec3, SPHERES),
    ("hitObjectGetSphereRadius", [5433, 0], &[Hit], Gives::Float, SPHERES),
    ("hitObjectIsSphereHit", [5436, 0], &[Hit], Gives::Bool, SPHERES),
    ("hitObjectGetLSSPositions", [5434, 0], &[Hit], Gives::Array(3, 2), SWEPT),
    ("hitObjectGetLSSRadii", [5435, 0], &[Hit], Gives::Array(1, 2), SWEPT),
    ("hitObjectIsLSSHit", [5437, 0], &[Hit], Gives::Bool, SWEPT),
    ("reorderThread", [5280, 5314], &[UINT, UINT], Gives::Nothing, None),
    ("reorderThread", [5279, 5315], &[Hit], Gives::Nothing, None),
    ("reorderThread", [5279, 5315], &[Hit, UINT, UINT], Gives::Nothing, None),
];

/// A function of one form with its overloads.
#[derive(Clone)]
pub struct Function {
    nvidia: bool,
    rows: SmallVec<[&'static Row; 3]>,
}

/// The function called `name`.
pub fn function(name: &str) -> Option<Function> {
    let (stem, nvidia) = match name.strip_suffix("NV") {
        Some(stem) => (stem, true),
        None => (name.strip_suffix("EXT")?, false),
    };
    let rows: SmallVec<_> = ROWS.iter().filter(|row| row.0 == stem && row.1[usize::from(!nvidia)] != 0).collect();
    (!rows.is_empty()).then_some(Function { nvidia, rows })
}

/// A function with the argument order of its calls.
pub struct Spelled {
    pub name: String,
    pub extensions: SmallVec<[&'static str; 2]>,
    /// True if the last three arguments of the instruction are a payload and two hints, while the function has the
    /// payload last.
    pub payload_last: bool,
}

/// The function of an instruction with this many operands.
pub fn hit_call(opcode: u32, operands: usize) -> Option<Spelled> {
    let of_form = |row: &&Row| row.1.iter().position(|known| *known == opcode);
    let row = ROWS.iter().find(|row| of_form(row).is_some() && row.2.len() == operands)?;
    let nvidia = of_form(&row) == Some(0);
    Some(Spelled {
        name: format!("{}{}", row.0, if nvidia { "NV" } else { "EXT" }),
        extensions: [extension(nvidia)].into_iter().chain(row.4.map(|(name, _)| name)).collect(),
        payload_last: has_hints(row),
    })
}

/// Arguments that a call has.
fn count(row: &Row) -> usize {
    row.2.len() + usize::from(matches!(row.3, Gives::Array(..)))
}

/// Returns true if a function puts invocations in another order.
fn reorders(row: &Row) -> bool {
    row.0 == "reorderThread" || row.0.ends_with("ReorderExecute")
}

/// Returns true if an instruction has hints, which follow the payload: a call has the payload last.
fn has_hints(row: &Row) -> bool {
    reorders(row) && row.2.ends_with(&[UINT, UINT, Payload])
}

/// The argument order of an instruction.
fn in_instruction_order(row: &Row, operands: &mut SmallVec<[Value; 16]>, arguments: &mut [Passing]) {
    if has_hints(row) {
        let last = operands.len() - 3;
        operands[last..].rotate_right(1);
        arguments[last..].rotate_right(1);
    }
}

impl Sema<'_> {
    /// Checks that the extension of a form is on and the stage has hit objects.
    pub fn need_hit_objects(&mut self, nvidia: bool, span: Span) -> Option<()> {
        let name = extension(nvidia);
        if !self.env.is_enabled(name) {
            self.needs_extension("hit objects need", name, span);
            return None;
        }
        if !self.env.has_stage(STAGES) {
            let message = format!("{} shaders have no hit objects", self.env.stage.name());
            self.error(Code::WRONG_STAGE, span, message, "not in this stage");
            return None;
        }
        Some(())
    }

    /// A call of one of these functions.
    pub fn hit_object_call(
        &mut self,
        b: &mut Builder<'_>,
        function: &Function,
        callee: Name,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Lowered> {
        let (name, given) = (self.text(callee.symbol), &self.ast[args]);
        self.check_hit_function(function, callee)?;
        let row = function.rows.iter().copied().find(|row| count(row) == given.len());
        let Some(row) = row else {
            self.wrong_count(name, count(function.rows[0]), whole);
            return None;
        };
        let (_, opcodes, wanted, gives, _) = *row;
        let (mut operands, mut arguments) = (SmallVec::<[Value; 16]>::new(), Vec::new());
        for (arg, wanted) in given.iter().zip(wanted) {
            let (value, passing) = self.hit_argument(b, function.nvidia, *arg, *wanted)?;
            operands.push(value);
            arguments.push(passing);
        }
        in_instruction_order(row, &mut operands, &mut arguments);
        let result = gives.ty(&mut b.module.types);
        let target = match given.get(wanted.len()) {
            Some(arg) => Some((self.array_target(b, *arg, result)?, self.ast[*arg].span)),
            None => None,
        };
        let of_form = if function.nvidia { REORDER_NV } else { REORDER };
        let capabilities = [RAY_TRACING, of_form].into_iter().chain(row.4.map(|(_, capability)| capability)).collect();
        let requires = Requirements { extensions: Vec::new(), capabilities };
        let opcode = opcodes[usize::from(!function.nvidia)];
        let instruction = b.known_instruction(ForeignInstruction { set: None, opcode, arguments, requires });
        b.span = whole;
        let value = b.foreign(instruction, &operands, result);
        if let Some((target, span)) = target {
            self.write(b, &target, value, span, whole)?;
            return Some(Lowered::Void);
        }
        Some(if gives == Gives::Nothing { Lowered::Void } else { Lowered::Value(value) })
    }

    fn check_hit_function(&mut self, function: &Function, callee: Name) -> Option<()> {
        let row = function.rows[0];
        let of_form = Some(extension(function.nvidia));
        let missing = of_form.into_iter().chain(row.4.map(|(name, _)| name)).find(|name| !self.env.is_enabled(name));
        if let Some(missing) = missing {
            self.needs_extension("this function needs", missing, callee.span);
            return None;
        }
        let stages = if reorders(row) { REORDERING } else { STAGES };
        if self.env.has_stage(stages) {
            return Some(());
        }
        let message = format!("`{}` does not exist in {} shaders", self.text(callee.symbol), self.env.stage.name());
        self.error(Code::WRONG_STAGE, callee.span, message, "used here");
        None
    }

    fn hit_argument(
        &mut self,
        b: &mut Builder<'_>,
        nvidia: bool,
        arg: ExprId,
        wanted: Arg,
    ) -> Option<(Value, Passing)> {
        let attributes = if nvidia { Space::HitObjectAttributeNv } else { Space::HitObjectAttribute };
        let value = match wanted {
            Arg::Of(operand) => return Some((self.ray_operand(b, arg, operand)?, Passing::Value)),
            Arg::Hit => self.valueless(b, arg, Type::HitObject { nvidia })?,
            Arg::Query => self.valueless(b, arg, Type::RayQuery)?,
            Arg::Payload => Value::Global(self.handed_on(b, arg, &[Space::RayPayload, Space::IncomingRayPayload])?),
            Arg::Attributes => Value::Global(self.handed_on(b, arg, &[attributes])?),
        };
        Some((value, Passing::Reference))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_their_names() {
        let rows = |name| function(name).map(|function| (function.nvidia, function.rows.len()));
        assert_eq!(rows("hitObjectTraceRayNV"), Some((true, 1)));
        assert_eq!(rows("hitObjectGetRayFlagsEXT"), Some((false, 1)));
        assert_eq!(rows("reorderThreadNV"), Some((true, 3)));
        for other in ["hitObjectGetRayFlagsNV", "hitObjectRecordHitEXT", "hitObjectTraceRay", "NV", "EXT"] {
            assert_eq!(rows(other), None, "{other}");
        }
    }

    #[test]
    fn opcodes_are_those_of_the_names() {
        use rspirv::spirv::Op;
        for (stem, opcodes, args, ..) in ROWS {
            for (opcode, suffix) in opcodes.iter().zip(["NV", "EXT"]).filter(|(opcode, _)| **opcode != 0) {
                let more = match *stem {
                    "reorderThread" if args.first() == Some(&Hit) => "WithHitObject",
                    "reorderThread" => "WithHint",
                    "hitObjectReorderExecute" => "Shader",
                    _ => "",
                };
                let name = Op::from_u32(*opcode).map(|op| format!("{op:?}")).unwrap_or_default();
                assert_eq!(name.to_lowercase(), format!("{stem}{more}{suffix}").to_lowercase());
            }
        }
    }

    #[test]
    fn overloads_differ_in_their_number_of_arguments() {
        for (at, row) in ROWS.iter().enumerate() {
            let is_like = |other: &&Row| other.0 == row.0 && (0..2).any(|form| other.1[form] * row.1[form] != 0);
            for other in ROWS[..at].iter().filter(is_like) {
                assert_ne!(count(other), count(row), "{}", row.0);
            }
        }
    }
}
