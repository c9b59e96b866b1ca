//! Ray queries and ray tracing stages, and foreign instructions.

use super::Dialect;
use super::dialect::is_common;
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::writer::Writer;
use crate::glsl::spelling;
use crate::grammar::{self, Lowering, Overload, Shape, TypeExpr};
use crate::ir::{
    Binding, Ending, ForeignInstruction, Passing, RayModes, RayOp, Space, Type, TypeId, Types, Value, Values,
};

/// The first version for ray tracing if a text needs one of these extensions.
pub(super) const NEWER: (u16, [&str; 4]) =
    (460, ["GL_EXT_ray_query", spelling::RAY_TRACING, spelling::RAY_TRACING_NV, MICROMAPS]);

/// The extensions of the stages: the multi-vendor one, and NVIDIA's.
pub(super) const STAGES: [&str; 2] = [spelling::RAY_TRACING, spelling::RAY_TRACING_NV];

const MICROMAPS: &str = "GL_NV_displacement_micromap";

impl Dialect {
    fn is_nvidia(t: &Writer) -> bool {
        t.module.rays.contains(RayModes::NVIDIA)
    }

    /// Turns on the extension of the stages of rays.
    pub fn need_rays(&self, t: &mut Writer) {
        if !self.is_vulkan {
            t.lacks("ray tracing shaders");
        }
        t.need(STAGES[usize::from(Self::is_nvidia(t))]);
    }

    /// The layout lines that apply to all rays of the shader.
    pub fn ray_layouts(&self, t: &mut Writer) -> Vec<String> {
        let mut lines = Vec::new();
        if t.module.rays.contains(RayModes::PRIMITIVE_CULLING) {
            t.need("GL_EXT_ray_flags_primitive_culling");
            lines.push("layout(primitive_culling);".to_string());
        }
        if t.module.rays.contains(RayModes::OPACITY_MICROMAPS) {
            t.need("GL_EXT_opacity_micromap");
        }
        lines
    }

    /// The name of a type that only rays have.
    pub fn ray_type(&self, t: &mut Writer, ty: Type) -> String {
        if !self.is_vulkan {
            t.lacks("rays");
        }
        let is_of_rays = t.stage().is_some_and(crate::ir::Stage::is_of_rays);
        let name = match ty {
            Type::AccelerationStructure if Self::is_nvidia(t) => "accelerationStructureNV",
            Type::AccelerationStructure if is_of_rays => "accelerationStructureEXT",
            Type::AccelerationStructure => {
                t.need("GL_EXT_ray_query");
                "accelerationStructureEXT"
            }
            Type::HitObject { nvidia } => {
                t.need(spelling::hit_extension(nvidia));
                if nvidia { "hitObjectNV" } else { "hitObjectEXT" }
            }
            _ => {
                t.need("GL_EXT_ray_query");
                "rayQueryEXT"
            }
        };
        name.to_string()
    }

    /// The storage qualifier of a payload between ray tracing stages; `None` for other spaces.
    pub fn ray_word(&self, t: &mut Writer, space: Space) -> Option<&'static str> {
        let (word, extension) = spelling::ray_word(space, Self::is_nvidia(t))?;
        t.need(extension);
        Some(word)
    }

    /// An operation on a ray query or an acceleration structure.
    pub fn ray(&self, b: &mut Body, op: RayOp, on: Value, args: Values, ty: TypeId) -> Option<Expr> {
        let mut list = vec![b.value(on)];
        let Some((name, extension)) = spelling::ray_query_call(op) else {
            let name = b.t.handle_name(Type::AccelerationStructure);
            return Some(Expr::call(&name, &list));
        };
        b.t.need(extension);
        list.extend(b.list(args));
        if let Some(which) = list.get_mut(1).filter(|_| op.operands() == [crate::ir::RayOperand::Which]) {
            *which = Expr::primary(if which.text == "0" { "false" } else { "true" });
        }
        self.written_call(b, name, list, ty)
    }

    /// A call of a function that may return an array in its last argument; `None` without a result.
    fn written_call(&self, b: &mut Body, name: &str, mut list: Vec<Expr>, ty: TypeId) -> Option<Expr> {
        if matches!(b.t.types.get(ty), Type::Array { .. }) {
            let place = b.variable("parts", ty);
            list.push(place.clone());
            b.line(Expr::call(name, &list).text);
            return Some(place);
        }
        let call = Expr::call(name, &list).reading_memory(true);
        if ty == Types::VOID {
            b.line(call.text);
            return None;
        }
        Some(call)
    }

    /// A foreign instruction.
    pub fn foreign(&self, b: &mut Body, at: u32, args: Values, ty: TypeId) -> Option<Expr> {
        let module = b.t.module;
        let instruction = &module.foreign.instructions[at as usize];
        let f = b.f;
        let values = f.values(args);
        let mut list: Vec<Expr> = Vec::new();
        for (value, passing) in values.iter().zip(&instruction.arguments) {
            list.push(match passing {
                Passing::Reference => self.handed_on(b, *value),
                _ => b.value(*value),
            });
        }
        if let Some(row) = row_of(b, instruction, values, ty) {
            match self.brings([row.extensions, row.earlier], (row.core, row.es)) {
                Some(brings) => self.preferred(brings).into_iter().for_each(|extension| b.t.need(extension)),
                None => b.t.lacks(&format!("function `{}`", row.name)),
            }
            let skipped = list.len() - row.params.len();
            return self.written_call(b, row.name, list.split_off(skipped), ty);
        }
        if let Some((name, extensions)) = spelling::ray_call(instruction.opcode).filter(|_| instruction.set.is_none()) {
            extensions.iter().for_each(|extension| b.t.need(extension));
            return self.written_call(b, name, list, ty);
        }
        if let Some(spelled) = spelling::hit_call(instruction.opcode, list.len()).filter(|_| instruction.set.is_none())
        {
            spelled.extensions.iter().for_each(|extension| b.t.need(extension));
            if spelled.payload_last {
                let last = list.len() - 3;
                list[last..].rotate_left(1);
            }
            return self.written_call(b, &spelled.name, list, ty);
        }
        Some(b.t.stand_in("instructions of SPIR-V's own"))
    }

    /// A variable as the argument of a call; payloads are passed by location.
    fn handed_on(&self, b: &mut Body, value: Value) -> Expr {
        let Value::Global(id) = value else { return b.value(value) };
        let global = &b.t.module.globals[id];
        match global.binding {
            Binding::Location { location: Some(location), .. } => {
                b.t.global(id);
                Expr::primary(location.to_string())
            }
            _ => b.value(value),
        }
    }

    /// Ends the invocation.
    pub fn end(&self, b: &mut Body, ending: Ending, args: Values) {
        match ending {
            Ending::MeshTasks => {
                let args = b.list(args);
                b.line(Expr::call("EmitMeshTasksEXT", &args).text);
            }
            Ending::IgnoreIntersection => b.line("ignoreIntersectionEXT".to_string()),
            Ending::TerminateRay => b.line("terminateRayEXT".to_string()),
        }
    }
}

/// The function of an instruction with these operands and this result.
fn row_of(b: &Body, instruction: &ForeignInstruction, values: &[Value], ty: TypeId) -> Option<&'static Overload> {
    let capabilities = &instruction.requires.capabilities;
    let first = values.first().and_then(|value| b.t.module.known_u32(*value));
    let gives = |row: &Overload| match row.ret {
        TypeExpr::Is(shape) => Shape::of(&b.t.types, ty) == Some(shape),
        _ => true,
    };
    let all = grammar::FUNCTIONS.iter().flat_map(|function| function.overloads);
    let mut rows = all.filter(|row| is_common(row)).filter(|row| match row.lowering {
        Lowering::Instruction(known) => {
            known.opcode == instruction.opcode
                && known.set == instruction.set.as_deref()
                && known.capability.is_none_or(|capability| capabilities.contains(&capability))
                && row.params.len() + usize::from(known.first.is_some()) == values.len()
                && known.first.is_none_or(|known| first == Some(known))
                && gives(row)
                && row.results.is_empty()
        }
        _ => false,
    });
    rows.next()
}
