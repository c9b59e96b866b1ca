//! Ray queries and ray tracing stages (the DirectX Raytracing specification). The values passed between them are
//! parameters of the entry point and variables in calls, each a struct.

use super::Hlsl;
use super::globals::matrix_order;
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::writer::Writer;
use crate::ir::{
    Binding, BuiltIn, Ending, EntryPoint, Global, GlobalId, RayModes, RayOp, RayOperand, Scalar, Space, Stage, Type,
    TypeId, Types, Value, Values,
};

/// A built-in value of the stages of rays: a function without parameters.
pub(super) struct RayValue {
    of: BuiltIn,
    pub function: &'static str,
    pub scalar: Scalar,
    /// The first Shader Model that has it.
    since: (u8, u8),
}

const fn row(of: BuiltIn, function: &'static str, scalar: Scalar) -> RayValue {
    RayValue { of, function, scalar, since: (6, 3) }
}

const VALUES: [RayValue; 15] = [
    row(BuiltIn::LaunchId, "DispatchRaysIndex", Scalar::U32),
    row(BuiltIn::LaunchSize, "DispatchRaysDimensions", Scalar::U32),
    row(BuiltIn::PrimitiveId, "PrimitiveIndex", Scalar::U32),
    row(BuiltIn::InstanceId, "InstanceIndex", Scalar::U32),
    row(BuiltIn::InstanceCustomIndex, "InstanceID", Scalar::U32),
    RayValue { since: (6, 5), ..row(BuiltIn::RayGeometryIndex, "GeometryIndex", Scalar::U32) },
    row(BuiltIn::WorldRayOrigin, "WorldRayOrigin", Scalar::F32),
    row(BuiltIn::WorldRayDirection, "WorldRayDirection", Scalar::F32),
    row(BuiltIn::ObjectRayOrigin, "ObjectRayOrigin", Scalar::F32),
    row(BuiltIn::ObjectRayDirection, "ObjectRayDirection", Scalar::F32),
    row(BuiltIn::RayTmin, "RayTMin", Scalar::F32),
    row(BuiltIn::RayTmax, "RayTCurrent", Scalar::F32),
    row(BuiltIn::IncomingRayFlags, "RayFlags", Scalar::U32),
    row(BuiltIn::HitKind, "HitKind", Scalar::U32),
    // Their rows are the columns of the source, as in all matrices here.
    row(BuiltIn::ObjectToWorld, "ObjectToWorld4x3", Scalar::F32),
];
const WORLD_TO_OBJECT: RayValue = row(BuiltIn::WorldToObject, "WorldToObject4x3", Scalar::F32);

/// The function for a built-in value in the stages of rays.
pub(super) fn ray_value(of: BuiltIn) -> Option<&'static RayValue> {
    VALUES.iter().chain([&WORLD_TO_OBJECT]).find(|row| row.of == of)
}

/// The methods for a property of an intersection: of the candidate, and of the committed intersection.
const PROPERTIES: [(RayOp, &str, &str); 12] = [
    (RayOp::IntersectionType, "CandidateType", "CommittedStatus"),
    (RayOp::IntersectionT, "CandidateTriangleRayT", "CommittedRayT"),
    (RayOp::InstanceCustomIndex, "CandidateInstanceID", "CommittedInstanceID"),
    (RayOp::InstanceId, "CandidateInstanceIndex", "CommittedInstanceIndex"),
    (
        RayOp::RecordOffset,
        "CandidateInstanceContributionToHitGroupIndex",
        "CommittedInstanceContributionToHitGroupIndex",
    ),
    (RayOp::GeometryIndex, "CandidateGeometryIndex", "CommittedGeometryIndex"),
    (RayOp::PrimitiveIndex, "CandidatePrimitiveIndex", "CommittedPrimitiveIndex"),
    (RayOp::Barycentrics, "CandidateTriangleBarycentrics", "CommittedTriangleBarycentrics"),
    (RayOp::FrontFace, "CandidateTriangleFrontFace", "CommittedTriangleFrontFace"),
    (RayOp::ObjectRayDirection, "CandidateObjectRayDirection", "CommittedObjectRayDirection"),
    (RayOp::ObjectRayOrigin, "CandidateObjectRayOrigin", "CommittedObjectRayOrigin"),
    (RayOp::ObjectToWorld, "CandidateObjectToWorld4x3", "CommittedObjectToWorld4x3"),
];
const TO_OBJECT: (RayOp, &str, &str) = (RayOp::WorldToObject, "CandidateWorldToObject4x3", "CommittedWorldToObject4x3");

/// Methods for facts about the whole query.
const METHODS: [(RayOp, &str); 8] = [
    (RayOp::Terminate, "Abort"),
    (RayOp::GenerateIntersection, "CommitProceduralPrimitiveHit"),
    (RayOp::ConfirmIntersection, "CommitNonOpaqueTriangleHit"),
    (RayOp::Proceed, "Proceed"),
    (RayOp::RayTMin, "RayTMin"),
    (RayOp::RayFlags, "RayFlags"),
    (RayOp::WorldRayDirection, "WorldRayDirection"),
    (RayOp::WorldRayOrigin, "WorldRayOrigin"),
];

/// `OpReportIntersectionKHR`, `OpTraceRayKHR` and `OpExecuteCallableKHR`, and the latter two in NVIDIA's form, which
/// refer to variables by location.
const REPORT: u32 = 5334;
const TRACE: u32 = 4445;
const CALL: u32 = 4446;
const TRACE_NV: u32 = 5337;
const CALL_NV: u32 = 5344;

/// `OpIgnoreIntersectionNV` and `OpTerminateRayNV`.
const ENDINGS_NV: [(u32, Ending); 2] = [(5335, Ending::IgnoreIntersection), (5336, Ending::TerminateRay)];

/// Returns true for values passed between ray tracing stages.
pub(super) const fn is_passed(space: Space) -> bool {
    comes_in(space) || matches!(space, Space::RayPayload | Space::CallableData)
}

/// Returns true for parameters of the entry point, and for arguments of calls in an intersection shader.
pub(super) const fn comes_in(space: Space) -> bool {
    matches!(space, Space::IncomingRayPayload | Space::IncomingCallableData | Space::HitAttribute)
}

/// The attributes of triangles, and their only member.
const TRIANGLES: (&str, &str) = ("BuiltInTriangleIntersectionAttributes", "barycentrics");

/// The stages that access a payload, which its members state from Shader Model 6.7 on.
const ALL_STAGES: &str = " : read(caller, closesthit, miss, anyhit) : write(caller, closesthit, miss, anyhit)";

fn says_payloads(t: &Writer) -> bool {
    t.options.profile.version >= (6, 7)
}

impl Hlsl {
    /// Rejects features of these stages that the language lacks.
    pub fn check_rays(&self, t: &mut Writer, entry: &EntryPoint) {
        if entry.stage.is_of_rays() && t.options.profile.version < (6, 3) {
            t.lacks("ray tracing shaders before Shader Model 6.3");
        }
        if t.module.rays.contains(RayModes::PRIMITIVE_CULLING) || t.module.rays.contains(RayModes::OPACITY_MICROMAPS) {
            t.unsupported("such modes of rays");
        }
    }

    /// Refuses a built-in value that the language lacks in these stages.
    pub fn check_ray_value(&self, t: &mut Writer, of: BuiltIn) {
        match ray_value(of) {
            Some(row) if t.options.profile.version < row.since => {
                t.lacks(&format!("built-in value {of:?} before Shader Model {}.{}", row.since.0, row.since.1));
            }
            Some(_) => {}
            None => t.lacks(&format!("built-in value {of:?} in this stage")),
        }
    }

    /// The path to a value passed between stages. Records the struct that contains it, and its type.
    pub fn declare_passed(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        let name = t.global_names.get(&id).cloned().unwrap_or_default();
        let is_pair = matches!(t.types.get(global.ty), Type::Vector { scalar: Scalar::F32, size: 2 });
        let (ty, dims) = t.declared(global.ty);
        let is_payload = matches!(global.space, Space::RayPayload | Space::IncomingRayPayload);
        let is_said = is_payload && says_payloads(t);
        let is_struct = !is_said && dims.is_empty() && matches!(t.types.get(global.ty), Type::Struct(_));
        let (ty, variable, path) = match is_struct {
            true => (ty, name.clone(), name),
            false if is_pair && global.space == Space::HitAttribute => {
                (TRIANGLES.0.to_string(), name.clone(), format!("{name}.{}", TRIANGLES.1))
            }
            false => {
                let order = matrix_order(t, global.ty);
                let (wrapped, variable) =
                    (t.names.unique(&format!("{name}_data"), None), t.names.unique(&format!("{name}_in"), None));
                let (before, access) = if is_said { ("[raypayload] ", ALL_STAGES) } else { ("", "") };
                let head = format!("{before}{wrapped}");
                t.declare_struct(&head, vec![format!("    {order}{ty} {name}{dims}{access};")]);
                (wrapped, variable.clone(), format!("{variable}.{name}"))
            }
        };
        if !comes_in(global.space) || t.stage() == Some(Stage::Intersection) {
            t.variables.push(format!("static {ty} {variable};"));
        }
        t.hlsl.passed.insert(id, (ty, variable));
        path
    }

    /// The head of a shader of these stages.
    pub fn ray_signature(&self, b: &mut Body, entry: &EntryPoint) -> String {
        let (word, spaces): (_, &[(Space, &str)]) = match entry.stage {
            Stage::RayGeneration => ("raygeneration", &[]),
            Stage::Intersection => ("intersection", &[]),
            Stage::AnyHit => ("anyhit", &[(Space::IncomingRayPayload, "inout"), (Space::HitAttribute, "in")]),
            Stage::ClosestHit => ("closesthit", &[(Space::IncomingRayPayload, "inout"), (Space::HitAttribute, "in")]),
            Stage::Miss => ("miss", &[(Space::IncomingRayPayload, "inout")]),
            _ => ("callable", &[(Space::IncomingCallableData, "inout")]),
        };
        let params: Vec<String> = spaces.iter().map(|(space, mode)| self.passed_param(b, *space, mode)).collect();
        format!("[shader(\"{word}\")]\nvoid {}({}) {{", b.t.ports.entry.clone(), params.join(", "))
    }

    fn passed_param(&self, b: &mut Body, space: Space, mode: &str) -> String {
        let used = b.t.module.globals.iter().filter(|(_, global)| global.space == space);
        let used = used.filter_map(|(id, _)| b.t.hlsl.passed.get(&id)).next().cloned();
        let (ty, name) = match used {
            Some(known) => known,
            None if space == Space::HitAttribute => (TRIANGLES.0.to_string(), b.named("attributes")),
            None => {
                let ty = b.t.names.unique("Unused", None);
                let is_said = space == Space::IncomingRayPayload && says_payloads(b.t);
                let (before, access) = if is_said { ("[raypayload] ", ALL_STAGES) } else { ("", "") };
                b.t.declare_struct(&format!("{before}{ty}"), vec![format!("    uint unused{access};")]);
                (ty, b.named("unused"))
            }
        };
        format!("{mode} {ty} {name}")
    }

    /// The struct that a call passes, in one of these spaces.
    fn handed_on(&self, b: &mut Body, value: Option<&Value>, spaces: [Space; 2]) -> Expr {
        let module = b.t.module;
        let located = |value: Value| {
            let number = module.known_u32(value);
            let is_it = |global: &Global| {
                let place = match global.binding {
                    Binding::Location { location, .. } => location,
                    _ => None,
                };
                spaces.contains(&global.space) && place == number
            };
            module.globals.iter().find(|(_, global)| is_it(global)).map(|(id, _)| id)
        };
        let found = match value {
            Some(Value::Global(id)) => Some(*id),
            Some(other) => located(*other),
            None => None,
        };
        let Some(id) = found else { return b.t.broken("a call without a variable") };
        b.t.global(id);
        match b.t.hlsl.passed.get(&id) {
            Some((_, variable)) => Expr::primary(variable.clone()),
            None => b.t.broken("a call without a variable"),
        }
    }

    /// The description of a ray: its origin, least distance, direction and largest distance.
    fn described(&self, b: &mut Body, parts: &[Expr]) -> Expr {
        let name = b.named("ray");
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        b.line(format!("RayDesc {name} = {{ {} }}", texts.join(", ")));
        Expr::primary(name)
    }

    /// An instruction of these stages; `None` for others.
    pub fn ray_instruction(&self, b: &mut Body, opcode: u32, args: Values) -> Option<Option<Expr>> {
        let f = b.f;
        let values = f.values(args);
        if let Some((_, ending)) = ENDINGS_NV.iter().find(|(known, _)| *known == opcode) {
            self.end_hit(b, *ending);
            return Some(None);
        }
        match (opcode, values) {
            (TRACE | TRACE_NV, [structure, flags, mask, offset, stride, miss, rest @ ..]) => {
                let ray: Vec<Expr> = rest.iter().take(4).map(|value| b.value(*value)).collect();
                let mut list: Vec<Expr> =
                    [structure, flags, mask, offset, stride, miss].map(|value| b.value(*value)).to_vec();
                list.push(self.described(b, &ray));
                list.push(self.handed_on(b, rest.last(), [Space::RayPayload, Space::IncomingRayPayload]));
                b.line(Expr::call("TraceRay", &list).text);
                Some(None)
            }
            (CALL | CALL_NV, [index, data]) => {
                let spaces = [Space::CallableData, Space::IncomingCallableData];
                let list = [b.value(*index), self.handed_on(b, Some(data), spaces)];
                b.line(Expr::call("CallShader", &list).text);
                Some(None)
            }
            (REPORT, [distance, kind]) => {
                let mut list = vec![b.value(*distance), b.value(*kind)];
                let of = b.t.module.globals.iter().find(|(_, global)| global.space == Space::HitAttribute);
                list.push(match of.map(|(id, _)| id) {
                    Some(id) => self.handed_on(b, Some(&Value::Global(id)), [Space::HitAttribute; 2]),
                    None => {
                        let name = b.named("attributes");
                        b.line(format!("{} {name} = ({})0", TRIANGLES.0, TRIANGLES.0));
                        Expr::primary(name)
                    }
                });
                Some(Some(Expr::call("ReportHit", &list).reading_memory(true)))
            }
            _ => None,
        }
    }

    /// Ends an any-hit shader.
    pub fn end_hit(&self, b: &mut Body, ending: Ending) {
        let call = if ending == Ending::IgnoreIntersection { "IgnoreHit()" } else { "AcceptHitAndEndSearch()" };
        b.line(call.to_string());
        b.leave();
    }

    /// An operation on a ray query.
    pub fn ray(&self, b: &mut Body, op: RayOp, on: Value, args: Values, ty: TypeId) -> Option<Expr> {
        if b.t.options.profile.version < (6, 5) {
            return Some(b.t.lacking("ray queries before Shader Model 6.5"));
        }
        if op == RayOp::Structure {
            return Some(b.t.lacking("acceleration structures at addresses"));
        }
        let query = b.value(on);
        let mut list = b.list(args);
        if op == RayOp::Initialize {
            let ray = self.described(b, &list[3..]);
            list.truncate(3);
            list.push(ray);
            b.line(Expr::call(&format!("{}.TraceRayInline", query.text), &list).text);
            return None;
        }
        let method = match op.operands() {
            [RayOperand::Which] => {
                let row = PROPERTIES.iter().chain([&TO_OBJECT]).find(|(of, ..)| *of == op);
                let which = list.remove(0);
                row.map(|(_, candidate, committed)| if which.text == "0" { *candidate } else { *committed })
            }
            _ if op == RayOp::CandidateAabbOpaque => Some("CandidateProceduralPrimitiveNonOpaque"),
            _ => METHODS.iter().find(|(of, _)| *of == op).map(|(_, method)| *method),
        };
        let Some(method) = method else {
            return Some(b.t.stand_in("such functions of ray queries"));
        };
        let call = Expr::call(&format!("{}.{method}", query.text), &list).reading_memory(true);
        match ty {
            ty if ty == Types::VOID => {
                b.line(call.text);
                None
            }
            ty if ty == Types::I32 => Some(Expr::call("int", &[call])),
            _ if op == RayOp::CandidateAabbOpaque => Some(call.not()),
            _ => Some(call),
        }
    }

    /// The type of ray queries.
    pub fn query_type(&self, t: &mut Writer) -> String {
        if t.options.profile.version < (6, 5) {
            t.lacks("ray queries before Shader Model 6.5");
        }
        "RayQuery<RAY_FLAG_NONE>".to_string()
    }
}
