//! Tessellation. The evaluation stage is a post-tessellation vertex function (section 5.1.2). The language has no
//! control stage: it becomes a kernel, with a workgroup for each patch and a thread for each output control point.

use super::crowds::{Owner, OwnerNames, Part, Record};
use super::{Extra, Msl};
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::ports::Given;
use crate::backend::source::tree::{Declared, Kind, Stmt};
use crate::backend::source::writer::Writer;
use crate::ir::{Binding, BuiltIn, EntryPoint, GlobalId, Op, PrimitiveMode, Space, Stage, Type, Types, Value};
use std::collections::BTreeSet;

/// The attributes of vertices that a pipeline has (Metal Feature Set Tables).
const MOST_ATTRIBUTES: u32 = 31;

/// The shape that a patch is divided as.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::backend::source) enum Domain {
    #[default]
    Triangle,
    Quad,
}

impl Domain {
    pub const fn word(self) -> &'static str {
        match self {
            Domain::Triangle => "triangle",
            Domain::Quad => "quad",
        }
    }

    /// The struct of a patch's factors.
    pub const fn factors(self) -> &'static str {
        match self {
            Domain::Triangle => "MTLTriangleTessellationFactorsHalf",
            Domain::Quad => "MTLQuadTessellationFactorsHalf",
        }
    }

    /// The numbers of outer and inner levels.
    const fn levels(self) -> [u32; 2] {
        match self {
            Domain::Triangle => [3, 1],
            Domain::Quad => [4, 2],
        }
    }
}

/// The facts of a stage of tessellation.
#[derive(Clone, Default, Debug)]
pub(in crate::backend::source) struct Tessellation {
    pub domain: Domain,
    /// Output control points of the control stage; `None` if an evaluation stage is compiled alone.
    pub points: Option<u32>,
    /// True if a control stage reads levels, which are halves in the buffer.
    reads_levels: bool,
    /// The macros for the number of control points and for the attribute, if the number is unknown.
    macros: [String; 2],
    /// The index of a loop over control points.
    index: String,
    /// The members of the inputs that have the levels.
    levels: [String; 2],
    /// The attributes of an evaluation stage.
    pub attributes: Vec<Fetched>,
    /// The structs in buffers of a control stage.
    pub records: Vec<Record>,
}

/// An attribute that the pipeline fetches.
#[derive(Clone, Debug)]
pub(in crate::backend::source) struct Fetched {
    pub part: Part,
    pub number: u32,
    /// Its step function.
    pub step: &'static str,
}

/// Returns true for the levels of tessellation.
pub(super) const fn is_level(of: BuiltIn) -> bool {
    matches!(of, BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner)
}

impl Msl {
    /// Collects the facts about the tessellation before writing.
    pub fn find_tessellation(&self, t: &mut Writer, entry: &EntryPoint) {
        if !matches!(entry.stage, Stage::TessControl | Stage::TessEvaluation) {
            return;
        }
        let modes = entry.primitives.clone();
        let points = modes.iter().find_map(|mode| match mode {
            PrimitiveMode::OutputVertices(count) => Some(*count),
            _ => None,
        });
        if modes.contains(&PrimitiveMode::Isolines) {
            t.lacks("isolines: patches are triangles or quads (Metal Shading Language Specification, section 5.1.2)");
        }
        if modes.contains(&PrimitiveMode::PointMode) {
            t.lacks("points from tessellation (`point_mode`): it makes triangles (Metal Shading Language Specification, section 5.1.2)");
        }
        let domain = match () {
            () if modes.contains(&PrimitiveMode::Quads) => Domain::Quad,
            () if modes.contains(&PrimitiveMode::Triangles) => Domain::Triangle,
            () => domain_of_levels(t),
        };
        t.msl.names.inputs = t.names.unique("inputs", None);
        let macros = ["CONTROL_POINTS", "PATCH"].map(|name| t.names.unique(name, None));
        let index = t.names.unique("point_index", None);
        let levels = ["outer_levels", "inner_levels"].map(|name| t.names.unique(name, None));
        t.msl.tessellation =
            Tessellation { domain, points, macros, index, levels, reads_levels: reads_levels(t), ..Default::default() };
        let own = |t: &mut Writer, name: &str| {
            let known = t.module.globals.iter().find(|(_, global)| &*global.name == name).map(|(id, _)| id);
            known.and_then(|id| t.global_names.get(&id).cloned()).unwrap_or_else(|| t.names.unique(name, None))
        };
        let rows = match entry.stage {
            Stage::TessControl => {
                t.note_built_in(BuiltIn::PrimitiveId, "gl_PrimitiveID", Types::I32);
                vec![
                    (Owner::Vertex, "Vertex", "vertices", own(t, "gl_in")),
                    (Owner::ControlPoint, "ControlPoint", "control_points", own(t, "gl_out")),
                    (Owner::Patch, "Patch", "patches", t.names.unique("patch_out", None)),
                    (Owner::Factors, "", "tessellation_factors", t.names.unique("factors", None)),
                ]
            }
            _ => vec![(Owner::ControlPoint, "ControlPoint", "", own(t, "gl_in"))],
        };
        for (owner, ty, buffer, own) in rows {
            let mut name = |name: &str| if name.is_empty() { String::new() } else { t.names.unique(name, None) };
            let names = OwnerNames { ty: name(ty), buffer: name(buffer), own };
            t.msl.owners.insert(owner, names);
        }
        self.name_owned(t);
        let needs_count = entry.stage == Stage::TessControl
            && t.module
                .globals
                .handles()
                .any(|id| t.ports.named.contains(&id) && self.owner_of(t, id) == Some(Owner::Vertex));
        if needs_count {
            t.note_built_in(BuiltIn::PatchVertices, "gl_PatchVerticesIn", Types::I32);
        }
    }

    /// The macro for the attribute of a function whose number of control points the host sets.
    pub fn patch_macro(&self, t: &Writer) -> Vec<String> {
        let Tessellation { domain, points, macros: [count, attribute], .. } = &t.msl.tessellation;
        if t.stage() != Some(Stage::TessEvaluation) || points.is_some() {
            return Vec::new();
        }
        let word = domain.word();
        vec![
            format!("#ifdef {count}"),
            format!("#define {attribute} patch({word}, {count})"),
            "#else".to_string(),
            format!("#define {attribute} patch({word})"),
            "#endif".to_string(),
        ]
    }

    /// The words before the result of a post-tessellation vertex function.
    pub fn evaluation_head(&self, t: &Writer) -> String {
        let Tessellation { domain, points, macros, .. } = &t.msl.tessellation;
        match points {
            Some(points) => format!("[[patch({}, {points})]] vertex", domain.word()),
            None => format!("[[{}]] vertex", macros[1]),
        }
    }

    /// Declares the structs of an evaluation stage's inputs: one for a control point, and one for the patch with its
    /// control points.
    pub fn evaluation_inputs(&self, b: &mut Body) -> Option<String> {
        let mut fetched = self.patch_attributes(b);
        let points = self.point_attributes(b);
        let has_points = !points.is_empty();
        fetched.extend(points);
        number(b.t, &mut fetched);
        let names = self.names_of(b.t, Owner::ControlPoint);
        let line = |of: &Fetched| format!("    {} {} [[attribute({})]];", of.part.text, of.part.name, of.number);
        let (of_points, of_patch): (Vec<&Fetched>, Vec<&Fetched>) =
            fetched.iter().partition(|of| of.step == "control_point");
        let mut lines: Vec<String> = of_patch.into_iter().map(line).collect();
        if has_points {
            b.t.declare_struct(&names.ty, of_points.into_iter().map(line).collect());
            lines.push(format!("    patch_control_point<{}> {};", names.ty, names.own));
        }
        b.t.msl.tessellation.attributes = fetched;
        if lines.is_empty() {
            return None;
        }
        let (ty, input) = (b.t.ports.types[0].clone(), b.t.ports.input.clone());
        b.t.declare_struct(&ty, lines);
        Some(format!("{ty} {input} [[stage_in]]"))
    }

    /// The per-patch attributes, which fill variables of the entry point.
    fn patch_attributes(&self, b: &mut Body) -> Vec<Fetched> {
        let mut list = Vec::new();
        let input = b.t.ports.input.clone();
        for id in b.t.ports.located[0].clone() {
            if self.owner_of(b.t, id).is_some() {
                continue;
            }
            let global = &b.t.module.globals[id];
            b.t.span = global.span;
            self.check_width(b.t, global.ty);
            let is_filled = !self.is_member(b.t, global) && b.t.ports.named.contains(&id);
            if is_filled {
                self.declare_variable(b, id, global);
            }
            for part in self.parts_of_one(b.t, id) {
                if is_filled {
                    b.setup_line(format!("{} = {input}.{}", part.path, part.name));
                }
                list.push(Fetched { number: 0, step: "patch", part });
            }
        }
        let domain = b.t.msl.tessellation.domain;
        let rows: &[(usize, &str)] = match domain {
            Domain::Triangle => &[(0, "float4")],
            Domain::Quad => &[(0, "float4"), (1, "float2")],
        };
        let of = [BuiltIn::TessLevelOuter, BuiltIn::TessLevelInner];
        let is_read = of.map(|of| self.used_built_in(b.t, of, Space::Input).is_some());
        for (at, ty) in rows {
            if !is_read[*at] && (domain == Domain::Quad || !is_read[1]) {
                continue;
            }
            let name = b.t.msl.tessellation.levels[*at].clone();
            let part = Part {
                path: name.clone(),
                name,
                text: (*ty).to_string(),
                location: None,
                component: 0,
                built_in: Some(of[*at]),
                offset: if *at == 0 { 0 } else { 8 },
                bytes: (0, 1),
            };
            list.push(Fetched { part, number: 0, step: "factors" });
        }
        list
    }

    /// The attributes of each control point.
    fn point_attributes(&self, b: &mut Body) -> Vec<Fetched> {
        let mut list = Vec::new();
        let own = format!("{}.{}", b.t.ports.input, self.names_of(b.t, Owner::ControlPoint).own);
        for id in self.owned(b.t, Owner::ControlPoint) {
            let global = &b.t.module.globals[id];
            b.t.span = global.span;
            self.check_width(b.t, global.ty);
            let parts = self.parts_of_one(b.t, id);
            if !self.is_alone(b.t, id) && b.t.ports.named.contains(&id) {
                self.fill_points(b, id, &parts, &own);
            }
            list.extend(parts.into_iter().map(|part| Fetched { number: 0, step: "control_point", part }));
        }
        list
    }

    /// Puts the parts of each control point together in an array of the entry point.
    fn fill_points(&self, b: &mut Body, id: GlobalId, parts: &[Part], own: &str) {
        let (name, index) = (self.member_name(b.t, id), b.t.msl.tessellation.index.clone());
        let (ty, dims) = b.t.declared(b.t.module.globals[id].ty);
        b.setup_line(format!("{ty} {name}{dims}"));
        let origin = b.origin;
        let line = |part: &Part| {
            let path = part.path.strip_prefix(&name).unwrap_or_default();
            Stmt::new(origin, Kind::Line(format!("{name}[{index}]{path} = {own}[{index}].{};", part.name)))
        };
        let body = parts.iter().map(line).collect();
        let first = Declared {
            ty: "uint".to_string(),
            name: index.clone(),
            dims: String::new(),
            value: Some("0u".to_string()),
            is_fixed: false,
        };
        let condition = Some(format!("{index} < {}", self.point_count(b.t)));
        let steps = vec![format!("{index}++")];
        b.setup.push(Stmt::new(origin, Kind::For { first: Some(Box::new(first)), condition, steps, body, hint: "" }));
    }

    /// The number of input control points of an evaluation stage's patch.
    fn point_count(&self, t: &Writer) -> String {
        let own = self.names_of(t, Owner::ControlPoint).own;
        match t.msl.tessellation.points {
            Some(points) => format!("{points}u"),
            None => format!("uint({}.{own}.size())", t.ports.input),
        }
    }

    /// The argument of a built-in value of an evaluation stage, and the variables that the source has instead of it;
    /// `None` for values of other stages.
    pub fn evaluation_argument(&self, b: &mut Body, Given { of, name, ty, .. }: &Given) -> Option<Option<String>> {
        match of {
            BuiltIn::TessCoord if b.t.msl.tessellation.domain == Domain::Quad => {
                let at = b.named("patch_coord");
                b.setup_line(format!("float3 {name} = float3({at}, 0.0)"));
                Some(Some(format!("float2 {at} [[position_in_patch]]")))
            }
            BuiltIn::TessCoord => Some(Some(format!("float3 {name} [[position_in_patch]]"))),
            BuiltIn::PatchVertices => {
                let has_points = !self.owned(b.t, Owner::ControlPoint).is_empty();
                if b.t.msl.tessellation.points.is_none() && !has_points {
                    b.t.lacks("number of control points where no input has them: compile the control shader together with this one");
                }
                let count = self.point_count(b.t);
                b.setup_line(format!("uint {name} = {count}"));
                Some(None)
            }
            of if is_level(*of) => {
                let (own, dims) = b.t.declared(*ty);
                let parts = self.level_parts(b.t, *of).join(", ");
                b.setup_line(format!("{own} {name}{dims} = {{ {parts} }}"));
                Some(None)
            }
            BuiltIn::Position | BuiltIn::PointSize | BuiltIn::ClipDistance | BuiltIn::CullDistance => Some(None),
            _ => None,
        }
    }

    /// The levels as parts of the attributes that have them.
    fn level_parts(&self, t: &Writer, of: BuiltIn) -> Vec<String> {
        let Tessellation { domain, levels: [outer, inner], .. } = &t.msl.tessellation;
        let input = &t.ports.input;
        let (member, letters) = match (domain, of) {
            (Domain::Triangle, BuiltIn::TessLevelOuter) => (outer, "xyz"),
            (Domain::Triangle, _) => (outer, "w"),
            (Domain::Quad, BuiltIn::TessLevelOuter) => (outer, "xyzw"),
            (Domain::Quad, _) => (inner, "xy"),
        };
        letters.chars().map(|letter| format!("{input}.{member}.{letter}")).collect()
    }

    /// The head of a control stage.
    pub fn control_signature(&self, b: &mut Body) -> String {
        let points = b.t.msl.tessellation.points.unwrap_or(1);
        let used: Vec<Extra> = b.t.msl.used.iter().copied().collect();
        self.declare_private(b);
        let patch = self.built_in(b, BuiltIn::PrimitiveId, Space::Input).map_or_else(String::new, |patch| patch.text);
        for extra in &used {
            let Extra::Own(owner) = *extra else { continue };
            let OwnerNames { ty, buffer, own } = self.names_of(b.t, owner);
            if owner != Owner::Factors {
                let record = self.declare_record(b.t, owner);
                b.t.msl.tessellation.records.push(record);
            }
            let factors = b.t.msl.tessellation.domain.factors();
            let line = match owner {
                Owner::Vertex => {
                    let count = self.built_in(b, BuiltIn::PatchVertices, Space::Input);
                    let count = count.map_or_else(String::new, |count| count.text);
                    format!("device const {ty}* {own} = {buffer} + {patch} * {count}")
                }
                Owner::ControlPoint => format!("device {ty}* {own} = {buffer} + {patch} * {points}"),
                Owner::Patch => format!("device {ty}& {own} = {buffer}[{patch}]"),
                _ => format!("device {factors}& {own} = {buffer}[{patch}]"),
            };
            b.setup_line(line);
        }
        for given in b.t.ports.built_in.clone().iter().filter(|given| is_level(given.of)) {
            if b.t.msl.tessellation.reads_levels && self.used_built_in(b.t, given.of, Space::Output).is_some() {
                let (ty, dims) = b.t.declared(given.ty);
                let line = format!("threadgroup {ty} {}{dims};", given.name);
                b.setup.insert(0, Stmt::new(b.origin, Kind::Line(line)));
            }
        }
        let used: Vec<Extra> = b.t.msl.used.iter().copied().collect();
        let mut params = self.resource_arguments(b, &used);
        for extra in &used {
            params.extend(self.value_argument(b, *extra));
        }
        let name = b.t.ports.entry.clone();
        format!(
            "[[max_total_threads_per_threadgroup({points})]]\nkernel void {name}(\n    {}) {{",
            params.join(",\n    ")
        )
    }

    /// The parameter of a function for shared variables.
    pub fn owner_param(&self, t: &Writer, owner: Owner) -> String {
        let OwnerNames { ty, own, .. } = self.names_of(t, owner);
        match owner {
            Owner::Vertex => format!("device const {ty}* {own}"),
            Owner::ControlPoint => format!("device {ty}* {own}"),
            Owner::Patch => format!("device {ty}& {own}"),
            Owner::Factors => format!("device {}& {own}", t.msl.tessellation.domain.factors()),
            _ => self.mesh_param(t, owner),
        }
    }

    /// The buffer with the structs of an owner: its argument, its name and its part.
    pub fn owner_argument(&self, t: &Writer, owner: Owner) -> (String, String, &'static str) {
        let OwnerNames { ty, buffer, .. } = self.names_of(t, owner);
        match owner {
            Owner::Vertex => (format!("device const {ty}* {buffer}"), buffer, "vertices"),
            Owner::ControlPoint => (format!("device {ty}* {buffer}"), buffer, "control_points"),
            Owner::Patch => (format!("device {ty}* {buffer}"), buffer, "patches"),
            _ => {
                let ty = t.msl.tessellation.domain.factors();
                (format!("device {ty}* {buffer}"), buffer, "tessellation_factors")
            }
        }
    }

    /// The levels that a control stage outputs, if it reads them: in workgroup memory, because the buffer has halves.
    pub fn levels(&self, b: &mut Body, id: GlobalId) -> Expr {
        let Binding::BuiltIn(of) = b.t.module.globals[id].binding else { return b.t.broken("levels without a name") };
        if !b.t.msl.tessellation.reads_levels {
            return Expr::primary(self.member_name(b.t, id));
        }
        let at = b.t.ports.built_in.iter().position(|given| given.of == of && given.space == Space::Output);
        b.t.msl.used.extend(at.map(Extra::BuiltIn));
        Expr::primary(self.member_name(b.t, id))
    }

    /// Stores a tessellation level, or all of a kind. Returns false for other pointers.
    pub fn store_level(&self, b: &mut Body, pointer: Value, value: Value) -> bool {
        let Some((id, index)) = self.level_of(b, pointer) else { return false };
        let Binding::BuiltIn(of) = b.t.module.globals[id].binding else { return false };
        b.t.msl.used.insert(Extra::Own(Owner::Factors));
        let ty = b.type_of(value);
        let value = b.value(value);
        let value = if value.is_plain() { value } else { b.name("factor", ty, &value) };
        let name = self.levels(b, id).text;
        let domain = b.t.msl.tessellation.domain;
        let most = domain.levels()[usize::from(of == BuiltIn::TessLevelInner)];
        let is_shadowed = b.t.msl.tessellation.reads_levels;
        match index {
            None => {
                let count =
                    if let Type::Array { .. } = b.t.types.get(ty) { b.t.types.part_count(ty).unwrap_or(0) } else { 0 };
                for n in 0..count {
                    let part = value.part(&format!("[{n}]"));
                    if is_shadowed {
                        b.line(format!("{name}[{n}] = {}", part.text));
                    }
                    if n < most {
                        let place = self.factor(b.t, of, &n.to_string());
                        b.line(format!("{place} = half({})", part.text));
                    }
                }
            }
            Some(index) => {
                let known = b.t.module.known_u32(index);
                let at = known.map_or_else(|| b.value(index), |n| Expr::primary(n.to_string()));
                let at = if at.is_plain() { at } else { b.name("factor_index", Types::I32, &at) };
                if is_shadowed {
                    b.line(format!("{name}[{}] = {}", at.text, value.text));
                }
                let place = self.factor(b.t, of, &at.text);
                let line = format!("{place} = half({})", value.text);
                match known {
                    Some(n) if n >= most => {}
                    None if domain == Domain::Triangle => {
                        let condition = Expr::primary(format!("{} < {most}", at.text));
                        let then = b.within(|b| b.line(line));
                        b.push(Kind::If { condition, then, otherwise: Vec::new(), hint: "" });
                    }
                    _ => b.line(line),
                }
            }
        }
        true
    }

    /// A factor in the buffer.
    fn factor(&self, t: &Writer, of: BuiltIn, index: &str) -> String {
        let own = self.names_of(t, Owner::Factors).own;
        match (of, t.msl.tessellation.domain) {
            (BuiltIn::TessLevelOuter, _) => format!("{own}.edgeTessellationFactor[{index}]"),
            (_, Domain::Triangle) => format!("{own}.insideTessellationFactor"),
            (_, Domain::Quad) => format!("{own}.insideTessellationFactor[{index}]"),
        }
    }

    /// The levels that a pointer points to, and the index if it is one of them.
    fn level_of(&self, b: &Body, pointer: Value) -> Option<(GlobalId, Option<Value>)> {
        let (id, index) = match pointer {
            Value::Global(id) => (id, None),
            Value::Inst(inst) => match b.f.insts[inst].op {
                Op::Access { base: Value::Global(id), indices } => (id, b.f.values(indices).first().copied()),
                _ => return None,
            },
            _ => return None,
        };
        (self.owner_of(b.t, id) == Some(Owner::Factors)).then_some((id, index))
    }
}

/// The domain of a control stage that is compiled alone: only quads have a fourth outer and a second inner level.
fn domain_of_levels(t: &Writer) -> Domain {
    let module = t.module;
    let is_last = |of: BuiltIn, index: Option<u32>| match of {
        BuiltIn::TessLevelOuter => index.is_none_or(|n| n > 2),
        BuiltIn::TessLevelInner => index.is_none_or(|n| n > 0),
        _ => false,
    };
    let is_of_quads = module.functions.iter().any(|(_, f)| {
        f.insts.iter().any(|(_, inst)| {
            let (base, index) = match inst.op {
                Op::Access { base, indices } => (base, f.values(indices).first().and_then(|n| module.known_u32(*n))),
                Op::Store { pointer, .. } => (pointer, None),
                _ => return false,
            };
            let Value::Global(id) = base else { return false };
            matches!(module.globals[id].binding, Binding::BuiltIn(of) if is_last(of, index))
        })
    });
    if is_of_quads { Domain::Quad } else { Domain::Triangle }
}

/// Returns true if a control stage reads levels.
fn reads_levels(t: &Writer) -> bool {
    let module = t.module;
    let is_it = |id: GlobalId| matches!(module.globals[id].binding, Binding::BuiltIn(of) if is_level(of));
    module.functions.iter().any(|(_, f)| {
        f.insts.iter().any(|(_, inst)| match inst.op {
            Op::Load(Value::Global(id)) => is_it(id),
            Op::Load(Value::Inst(at)) => match f.insts[at].op {
                Op::Access { base: Value::Global(id), .. } => is_it(id),
                _ => false,
            },
            _ => false,
        })
    })
}

/// Numbers the attributes by location, then by the first free number.
fn number(t: &mut Writer, list: &mut [Fetched]) {
    let mut taken = BTreeSet::new();
    let mut others = Vec::new();
    for (at, of) in list.iter_mut().enumerate() {
        match of.part.location.filter(|location| *location < MOST_ATTRIBUTES) {
            Some(location) if taken.insert(location) => of.number = location,
            _ => others.push(at),
        }
    }
    for at in others {
        let number = (0..MOST_ATTRIBUTES).find(|n| taken.insert(*n));
        match number {
            Some(number) => list[at].number = number,
            None => return t.lacks(&format!("more than {MOST_ATTRIBUTES} attributes")),
        }
    }
}
