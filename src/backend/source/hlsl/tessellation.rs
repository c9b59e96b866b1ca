//! Hull and domain shaders: their signatures, and their additional inputs and outputs.

use super::Hlsl;
use super::hull::{is_divided, is_of_patch};
use super::stage::system_value;
use crate::backend::source::function::Body;
use crate::backend::source::ports::{Given, named};
use crate::backend::source::writer::Writer;
use crate::ir::{
    BuiltIn, Crowd, EntryPoint, Function, Global, GlobalId, Module, Op, PrimitiveMode, Space, Stage, Type, Value,
};

/// Advice for an unknown domain or an unknown number of control points.
pub(super) const TOGETHER: &str =
    "compile the shaders of both stages with one command: `crosslane compile a.tesc a.tese -o DIRECTORY/`";

/// The domains, each with its name and the counts of its levels outside and inside.
const DOMAINS: [(PrimitiveMode, &str, u32, u32); 3] = [
    (PrimitiveMode::Triangles, "tri", 3, 1),
    (PrimitiveMode::Quads, "quad", 4, 2),
    (PrimitiveMode::Isolines, "isoline", 2, 0),
];

/// The name of the domain of patches.
pub(super) fn domain(modes: &[PrimitiveMode]) -> Option<&'static str> {
    row(modes).map(|(_, name, ..)| *name)
}

fn row(modes: &[PrimitiveMode]) -> Option<&'static (PrimitiveMode, &'static str, u32, u32)> {
    DOMAINS.iter().find(|(mode, ..)| modes.contains(mode))
}

/// The levels of a patch's edges.
pub(super) fn outer_levels(modes: &[PrimitiveMode]) -> u32 {
    row(modes).map_or(0, |(_, _, count, _)| *count)
}

/// The levels inside of a patch.
pub(super) fn inner_levels(modes: &[PrimitiveMode]) -> u32 {
    row(modes).map_or(0, |(_, _, _, count)| *count)
}

/// The levels of a patch with their names.
const LEVELS: [(BuiltIn, &str); 2] =
    [(BuiltIn::TessLevelOuter, "gl_TessLevelOuter"), (BuiltIn::TessLevelInner, "gl_TessLevelInner")];

/// The names and types that only these stages have.
#[derive(Default)]
pub(in crate::backend::source) struct Names {
    /// The function of the patch.
    pub function: String,
    /// The struct of per-patch values, and its parameter.
    pub patch_type: String,
    pub patch: String,
    /// The parameter with the control points that a control shader assigns.
    pub points: String,
    /// The levels without a variable, because all uses name a level of the domain.
    direct: Vec<BuiltIn>,
}

/// Returns true for the stages of this file.
pub(super) const fn is_tessellation(stage: Stage) -> bool {
    matches!(stage, Stage::TessControl | Stage::TessEvaluation)
}

/// The input control points: the number in the source, or the number that constant indices need.
///
/// `None` if control points of an evaluation shader that is compiled alone have indices that are not constant.
pub(super) fn points_in(module: &Module, entry: &EntryPoint) -> Option<u32> {
    let is_known = entry.primitives.iter().any(|mode| matches!(mode, PrimitiveMode::OutputVertices(_)));
    let is_control = entry.stage == Stage::TessControl;
    if !is_control && is_known {
        return Some(points_out(entry));
    }
    let mut most = points_out(entry);
    for (_, f) in module.functions.iter() {
        for (_, inst) in f.insts.iter() {
            let mut used = Vec::new();
            inst.op.each_operand(f, |value| used.extend(if let Value::Global(id) = value { Some(id) } else { None }));
            for id in used.into_iter().filter(|id| is_crowd(module, entry, &module.globals[*id])) {
                let index = match inst.op {
                    Op::Access { base: Value::Global(base), indices } if base == id => {
                        f.values(indices).first().copied()
                    }
                    _ => None,
                };
                match index.and_then(|index| module.known_u32(index)) {
                    Some(index) => most = most.max(index.saturating_add(1)),
                    None if is_control => {}
                    None => return None,
                }
            }
        }
    }
    Some(most)
}

/// The control points that a control shader assigns.
pub(super) fn points_out(entry: &EntryPoint) -> u32 {
    let count =
        |mode: &PrimitiveMode| if let PrimitiveMode::OutputVertices(count) = mode { Some(*count) } else { None };
    entry.primitives.iter().find_map(count).unwrap_or(1)
}

/// Returns true for an input with an element for each control point.
fn is_crowd(module: &Module, entry: &EntryPoint, global: &Global) -> bool {
    let crowd = entry.stage.crowd(global.space, global.binding.interpolation());
    let is_array = matches!(module.types.get(global.ty), Type::Array { .. });
    global.space == Space::Input && is_array && crowd.is_some() && !is_of_patch(module, global)
}

impl Hlsl {
    /// Declares what these stages need in addition to the source's inputs and outputs.
    pub fn declare_tessellation(&self, t: &mut Writer, entry: &EntryPoint) {
        if !is_tessellation(entry.stage) {
            return;
        }
        let space = if entry.stage == Stage::TessControl { Space::Output } else { Space::Input };
        let module = t.module;
        for (of, name) in LEVELS {
            let known = module.globals.iter().find(|(_, global)| global.binding == crate::ir::Binding::BuiltIn(of));
            let count = if of == BuiltIn::TessLevelOuter { 4 } else { 2 };
            let float = t.types.vector(crate::ir::Scalar::F32, 1);
            let ty = match known {
                Some((_, global)) => global.ty,
                None => t.types.array(float, crate::ir::ArrayLen::Fixed(count)),
            };
            t.note_port(of, space, name, ty);
        }
        let function = if is_divided(module) { t.names.unique("patch_constants", None) } else { String::new() };
        let patch_type = t.names.unique("PatchConstants", None);
        t.hlsl.tessellation = Names { function, patch_type, ..Names::default() };
    }

    /// Names the parameters of a function of these stages.
    pub fn name_tessellation(&self, b: &mut Body) {
        let Some(entry) = b.entry.filter(|entry| is_tessellation(entry.stage)) else { return };
        let [patch, points] = ["patch", "points"].map(|name| b.named(name));
        let direct = LEVELS.into_iter().map(|(of, _)| of).filter(|of| self.is_direct(b, entry, *of)).collect();
        let Names { function, patch_type, .. } = std::mem::take(&mut b.t.hlsl.tessellation);
        b.t.hlsl.tessellation = Names { function, patch_type, patch, points, direct };
    }

    /// Returns true if all uses of levels name a level of the domain.
    fn is_direct(&self, b: &Body, entry: &EntryPoint, of: BuiltIn) -> bool {
        let module = b.t.module;
        let count = self.levels(entry, of);
        let is_whole = count == if of == BuiltIn::TessLevelOuter { 4 } else { 2 };
        let is_it = |value: Value| matches!(value, Value::Global(id) if module.globals[id].binding == crate::ir::Binding::BuiltIn(of));
        let is_shared = b.t.ports.built_in.iter().any(|given| given.of == of && given.is_shared);
        !is_shared
            && (is_whole
                || b.f.insts.iter().all(|(_, inst)| match inst.op {
                    Op::Access { base, indices } if is_it(base) => {
                        let first = b.f.values(indices).first();
                        first.and_then(|index| module.known_u32(*index)).is_some_and(|index| index < count)
                    }
                    op => {
                        let mut names = false;
                        op.each_operand(b.f, |value| names |= is_it(value));
                        !names
                    }
                }))
    }

    /// The levels of one kind that the domain has.
    pub fn levels(&self, entry: &EntryPoint, of: BuiltIn) -> u32 {
        match of {
            BuiltIn::TessLevelOuter => outer_levels(&entry.primitives),
            BuiltIn::TessLevelInner => inner_levels(&entry.primitives),
            _ => 0,
        }
    }

    /// The struct or parameter that contains the levels, if they are not a variable.
    pub fn level_holder(&self, b: &Body, of: BuiltIn) -> Option<String> {
        let names = &b.t.hlsl.tessellation;
        let is_it = b.entry.is_some() && names.direct.contains(&of);
        let is_control = b.t.stage() == Some(Stage::TessControl);
        is_it.then(|| if is_control { b.t.ports.output.clone() } else { names.patch.clone() })
    }

    /// Returns true for the function of the patch.
    pub fn is_patch_function(&self, b: &Body) -> bool {
        let first = b.t.module.entry_points.first().map(|entry| entry.function);
        is_divided(b.t.module) && b.entry.is_some_and(|entry| Some(entry.function) != first)
    }

    /// The variable whose values for all output control points are in this variable.
    pub fn own_of(&self, t: &Writer, id: GlobalId) -> Option<GlobalId> {
        if !is_divided(t.module) {
            return None;
        }
        let all = &t.module.globals[id];
        let Type::Array { element, .. } = t.types.get(all.ty) else { return None };
        let is_own = |(other, own): &(GlobalId, &Global)| {
            other.index() < id.index()
                && own.space == Space::Output
                && (own.binding, &own.name) == (all.binding, &all.name)
                && own.ty == element
        };
        let found = t.module.globals.iter().filter(|_| all.space == Space::Output).find(is_own);
        found.map(|(other, _)| other)
    }

    /// The outputs of a function at locations, for the stage or for one of its two functions.
    pub fn located_outputs(&self, b: &Body) -> Vec<GlobalId> {
        let mut located = b.t.ports.located[1].clone();
        if is_divided(b.t.module) {
            let is_patch = self.is_patch_function(b);
            located.retain(|id| {
                is_of_patch(b.t.module, &b.t.module.globals[*id]) == is_patch && self.own_of(b.t, *id).is_none()
            });
        }
        located
    }

    /// The built-in outputs of a function.
    pub fn built_in_outputs(&self, b: &Body) -> Vec<Given> {
        let mut given = b.t.ports.built_in_of(Space::Output);
        if is_divided(b.t.module) {
            let is_level = |given: &Given| LEVELS.iter().any(|(of, _)| *of == given.of);
            let is_patch = self.is_patch_function(b);
            given.retain(|given| is_level(given) == is_patch);
        }
        given
    }

    /// Returns true if a function has outputs.
    pub fn gives(&self, b: &Body) -> bool {
        !self.located_outputs(b).is_empty() || !self.built_in_outputs(b).is_empty()
    }

    /// The type of the outputs of a function.
    pub fn output_type(&self, b: &Body) -> String {
        if self.is_patch_function(b) { b.t.hlsl.tessellation.patch_type.clone() } else { b.t.ports.types[1].clone() }
    }

    /// The members of the struct of a patch for its levels.
    fn level_lines(&self, t: &Writer, entry: &EntryPoint) -> Vec<String> {
        let line = |(of, _): (BuiltIn, &str)| {
            let given = t.ports.built_in.iter().find(|given| given.of == of)?;
            let semantic = system_value(of, t.ports.depth)?.semantic;
            Some((self.levels(entry, of), format!("    float {}[", given.name), semantic))
        };
        let lines = LEVELS.into_iter().filter_map(line).filter(|(count, ..)| *count > 0);
        lines.map(|(count, name, semantic)| format!("{name}{count}] : {semantic};")).collect()
    }

    /// The member for levels in a struct of outputs; `None` for other built-in values.
    pub fn level_line(&self, b: &Body, of: BuiltIn) -> Option<Vec<String>> {
        LEVELS.iter().find(|(level, _)| *level == of)?;
        let entry = b.entry?;
        let name = &b.t.ports.find(of, Space::Output)?.name;
        let semantic = system_value(of, b.t.ports.depth)?.semantic;
        let count = self.levels(entry, of);
        Some((count > 0).then(|| format!("    float {name}[{count}] : {semantic};")).into_iter().collect())
    }

    /// Gives back levels. Returns false for other built-in values.
    pub fn give_back_levels(&self, b: &mut Body, Given { of, name, .. }: &Given) -> bool {
        let Some(entry) = b.entry.filter(|_| LEVELS.iter().any(|(level, _)| level == of)) else { return false };
        if self.level_holder(b, *of).is_none() {
            let output = b.t.ports.output.clone();
            for index in 0..self.levels(entry, *of) {
                b.line(format!("{output}.{name}[{index}] = {name}[{index}]"));
            }
        }
        true
    }

    /// Returns true if a function uses a built-in value, directly or through calls.
    pub fn uses_built_in(&self, b: &Body, given: &Given) -> bool {
        given.is_shared || uses(b.t.module, b.f, given.of, given.space)
    }

    /// The parameter with the input control points.
    fn points_param(&self, b: &mut Body, entry: &EntryPoint, word: &str) -> Option<String> {
        let lines = self.crowd_lines(b.t, Space::Input, Crowd::PatchVertices);
        let Some(count) = points_in(b.t.module, entry) else {
            b.t.unsupported(
                "an evaluation shader alone, since its control shader says how many control points there are,",
            );
            b.t.advise(TOGETHER);
            return None;
        };
        let ty = b.t.ports.types[0].clone();
        if !self.is_patch_function(b) {
            let unread = || vec!["    float4 position : SV_Position;".to_string()];
            b.t.declare_struct(&ty, if lines.is_empty() { unread() } else { lines });
        }
        self.share_vertices(b, count);
        Some(format!("{word}<{ty}, {count}> {}", b.t.ports.input))
    }

    /// The signature of one of the two functions of a control shader.
    pub fn hull_signature(&self, b: &mut Body, entry: &EntryPoint, inputs: Vec<String>) -> String {
        let mut params: Vec<String> = self.points_param(b, entry, "InputPatch").into_iter().collect();
        let points = points_out(entry);
        let [function, own] = [b.t.hlsl.tessellation.function.clone(), b.t.ports.entry.clone()];
        let result = if self.gives(b) { self.output_type(b) } else { "void".to_string() };
        if self.gives(b) {
            self.declare_outputs(b);
        }
        if self.is_patch_function(b) {
            let uses_points = b.f.insts.iter().any(|(_, inst)| {
                let mut uses = false;
                inst.op.each_operand(b.f, |value| {
                    uses |= matches!(value, Value::Global(id) if self.own_of(b.t, id).is_some());
                });
                uses
            });
            if uses_points {
                params.push(format!("OutputPatch<{}, {points}> {}", b.t.ports.types[1], b.t.hlsl.tessellation.points));
            }
            params.extend(inputs);
            return format!("{result} {function}({}) {{", params.join(", "));
        }
        params.extend(inputs);
        let has = |mode| entry.primitives.contains(&mode);
        let spacing = match () {
            () if has(PrimitiveMode::SpacingFractionalEven) => "fractional_even",
            () if has(PrimitiveMode::SpacingFractionalOdd) => "fractional_odd",
            () => "integer",
        };
        let topology = match () {
            () if has(PrimitiveMode::PointMode) => "point",
            () if has(PrimitiveMode::Isolines) => "line",
            () if has(PrimitiveMode::VertexOrderCw) => "triangle_cw",
            () => "triangle_ccw",
        };
        let domain = domain(&entry.primitives).unwrap_or_default();
        let attributes = [
            format!("[domain(\"{domain}\")]"),
            format!("[partitioning(\"{spacing}\")]"),
            format!("[outputtopology(\"{topology}\")]"),
            format!("[outputcontrolpoints({points})]"),
            format!("[patchconstantfunc(\"{function}\")]"),
        ];
        format!("{}\n{result} {own}({}) {{", attributes.join("\n"), params.join(", "))
    }

    /// The parameter with the per-patch values, in an evaluation shader.
    pub fn patch_param(&self, b: &mut Body, entry: &EntryPoint, located: &[GlobalId]) -> String {
        let mut lines = self.port_lines(b.t, located);
        lines.extend(self.level_lines(b.t, entry));
        let (ty, patch) = (b.t.hlsl.tessellation.patch_type.clone(), b.t.hlsl.tessellation.patch.clone());
        b.t.declare_struct(&ty, lines);
        for (of, _) in LEVELS {
            let Some(given) = b.t.ports.find(of, Space::Input).cloned() else { continue };
            if self.level_holder(b, of).is_some() || !self.uses_built_in(b, &given) {
                continue;
            }
            let (own, dims) = b.t.declared(given.ty);
            let name = &given.name;
            if !given.is_shared {
                let zero = b.t.zero(given.ty).text;
                b.setup_line(format!("{own} {name}{dims} = {zero}"));
            }
            for index in 0..self.levels(entry, of) {
                b.setup_line(format!("{name}[{index}] = {patch}.{name}[{index}]"));
            }
        }
        format!("{ty} {patch}")
    }

    /// The head of an evaluation shader.
    pub fn domain_signature(&self, b: &mut Body, entry: &EntryPoint, mut params: Vec<String>) -> String {
        let has_points =
            b.t.module
                .globals
                .iter()
                .any(|(id, _)| self.crowd_of(b.t, id) == Some(Crowd::PatchVertices) && b.t.ports.named.contains(&id))
                || entry.primitives.iter().any(|mode| matches!(mode, PrimitiveMode::OutputVertices(_)));
        if has_points {
            params.extend(self.points_param(b, entry, "const OutputPatch"));
        }
        let result = if self.gives(b) { self.output_type(b) } else { "void".to_string() };
        if self.gives(b) {
            self.declare_outputs(b);
        }
        let domain = domain(&entry.primitives).unwrap_or("tri");
        format!("[domain(\"{domain}\")]\n{result} {}({}) {{", b.t.ports.entry.clone(), params.join(", "))
    }

    /// The parameter of a built-in value that is specific to these stages or different in them; `None` for others.
    pub fn tessellation_param(&self, b: &mut Body, given: &Given) -> Option<Option<String>> {
        let entry = b.entry.filter(|entry| is_tessellation(entry.stage))?;
        let Given { of, name, ty, is_shared, .. } = given;
        let (own, _) = b.t.declared(*ty);
        let declared = if *is_shared { String::new() } else { format!("{own} ") };
        match of {
            _ if LEVELS.iter().any(|(level, _)| level == of) => Some(None),
            _ if !self.uses_built_in(b, given) => Some(None),
            BuiltIn::PatchVertices => {
                match points_in(b.t.module, entry) {
                    Some(count) => b.setup_line(format!("{declared}{name} = {count}")),
                    None => {
                        b.t.unsupported("an evaluation shader alone, since its control shader says how many control points there are,");
                        b.t.advise(TOGETHER);
                    }
                }
                Some(None)
            }
            BuiltIn::TessCoord if domain(&entry.primitives) != Some("tri") || *is_shared => {
                let param = b.named("location");
                let value = if domain(&entry.primitives) == Some("tri") {
                    param.clone()
                } else {
                    format!("float3({param}, 0.0)")
                };
                b.setup_line(format!("{declared}{name} = {value}"));
                let size = if domain(&entry.primitives) == Some("tri") { 3 } else { 2 };
                Some(Some(format!("float{size} {param} : SV_DomainLocation")))
            }
            // The patch function sets it, if functions read it.
            BuiltIn::InvocationId if self.is_patch_function(b) => Some(None),
            BuiltIn::InvocationId => {
                let param = if *is_shared { b.named(&format!("{name}_in")) } else { name.clone() };
                if *is_shared {
                    b.setup_line(format!("{name} = {param}"));
                }
                Some(Some(format!("int {param} : SV_OutputControlPointID")))
            }
            _ => None,
        }
    }
}

/// Returns true if a function uses a built-in value.
fn uses(module: &Module, f: &Function, of: BuiltIn, space: Space) -> bool {
    f.insts.iter().any(|(_, inst)| {
        let mut uses = false;
        inst.op.each_operand(f, |value| {
            let Value::Global(id) = value else { return };
            let is_it = module.globals[id].space == space;
            uses |= is_it && named(module, f, inst.op, id).iter().any(|(other, ..)| *other == of);
        });
        uses
    })
}
