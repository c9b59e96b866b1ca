//! The entry point: inputs become parameters, outputs its result. Inputs and outputs that other functions also use are
//! static variables, which the entry point fills at its start and returns at its end.

use super::Hlsl;
use super::corners::is_per_vertex;
use super::globals::{is_assigned_at_entry, matrix_order};
use super::primitives;
use super::stage::{component_of, location_semantic, system_value};
use crate::backend::source::constants::component;
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::ports::{self, Given, zeroed};
use crate::backend::source::tree::{Kind, Stmt};
use crate::backend::source::writer::Writer;
use crate::ir::{
    ArrayLen, Binding, BuiltIn, ConstValue, DepthPromise, EntryPoint, GlobalId, Scalar, Space, Stage, Type, TypeId,
    Value,
};

impl Hlsl {
    /// Members of blocks without an instance name have the names of the struct that represents the block.
    pub fn signature(&self, b: &mut Body, name: &str, params: &[String], entry: Option<&EntryPoint>) -> String {
        let Some(entry) = entry else {
            let (ret, dims) = b.t.declared(b.f.ret);
            if dims.is_empty() {
                return format!("{ret} {name}({}) {{", params.join(", "));
            }
            let alias = format!("{name}_result");
            b.t.structs.push(format!("typedef {ret} {alias}{dims};"));
            return format!("{alias} {name}({}) {{", params.join(", "));
        };
        let inputs = self.entry_inputs(b);
        match entry.stage {
            Stage::TessControl => return self.hull_signature(b, entry, inputs),
            Stage::TessEvaluation => return self.domain_signature(b, entry, inputs),
            Stage::Geometry => return self.geometry_signature(b, entry, inputs),
            Stage::Mesh => return self.mesh_signature(b, entry, inputs),
            Stage::Task => return self.task_signature(b, entry, &inputs),
            stage if stage.is_of_rays() => return self.ray_signature(b, entry),
            _ => {}
        }
        let result = if b.t.ports.has_outputs() { b.t.ports.types[1].clone() } else { "void".to_string() };
        if b.t.ports.has_outputs() {
            self.declare_outputs(b);
        }
        let attributes = match entry.stage {
            Stage::Compute => format!("{}\n", self.workgroup_size(b.t, entry)),
            Stage::Fragment if entry.fragment.early_tests => "[earlydepthstencil]\n".to_string(),
            _ => String::new(),
        };
        format!("{attributes}{result} {}({}) {{", b.t.ports.entry.clone(), inputs.join(", "))
    }

    pub fn workgroup_size(&self, t: &mut Writer, entry: &EntryPoint) -> String {
        let sizes = entry.workgroup_size.map(|id| {
            let constant = t.module.constants.get(id).clone();
            match constant.value {
                ConstValue::Bits(size) => size.to_string(),
                ConstValue::Spec { id: number, .. } => {
                    t.constant(id);
                    format!("CONSTANT_{number}")
                }
                _ => {
                    t.unsupported("sizes of workgroups that are expressions of specialization constants");
                    String::new()
                }
            }
        });
        format!("[numthreads({})]", sizes.join(", "))
    }

    /// Declares the inputs, fills the static variables, and returns the parameters of the entry point.
    fn entry_inputs(&self, b: &mut Body) -> Vec<String> {
        self.assign_initial(b);
        let mut params = Vec::new();
        let mut located = b.t.ports.located[0].clone();
        located.retain(|id| self.crowd_of(b.t, *id).is_none());
        if let Some(entry) = b.entry.filter(|entry| entry.stage == Stage::TessEvaluation) {
            params.push(self.patch_param(b, entry, &located));
            for id in std::mem::take(&mut located) {
                if b.t.globals.contains_key(&id) && b.t.ports.shared.contains(&id) {
                    let (name, patch) = (self.port_name(b.t, id), b.t.hlsl.tessellation.patch.clone());
                    b.setup_line(format!("{name} = {patch}.{name}"));
                }
            }
        }
        if !located.is_empty() {
            let lines = self.port_lines(b.t, &located);
            let ty = b.t.ports.types[0].clone();
            let input = b.t.ports.input.clone();
            b.t.declare_struct(&ty, lines);
            params.push(format!("{ty} {input}"));
            for id in located {
                let is_used = b.t.globals.contains_key(&id);
                if is_used && is_per_vertex(&b.t.module.globals[id]) {
                    self.fill_corners(b, id);
                } else if is_used && b.t.ports.shared.contains(&id) {
                    let name = self.port_name(b.t, id);
                    b.setup_line(format!("{name} = {input}.{name}"));
                }
            }
        }
        let mut built_in: Vec<Given> = b.t.ports.built_in_of(Space::Input).into_iter().collect();
        built_in.sort_by_key(|given| match given.of {
            // Indices are counted from these values.
            BuiltIn::BaseVertex | BuiltIn::BaseInstance | BuiltIn::SampleId => 0,
            // These are computed from the invocation's index.
            BuiltIn::SubgroupId | BuiltIn::NumSubgroups => 2,
            _ => 1,
        });
        for given in built_in {
            // Ray tracing stages are functions.
            if b.entry.is_some_and(|entry| entry.stage.is_of_rays()) {
                break;
            }
            let is_position = matches!(given.of, BuiltIn::Position | BuiltIn::ClipDistance | BuiltIn::CullDistance);
            if is_position && b.entry.is_some_and(|entry| primitives::has_crowds(entry.stage)) {
                continue;
            }
            params.extend(self.built_in_param(b, &given));
        }
        self.zero_shared(b);
        params
    }

    /// Assigns the initial values that declarations omit.
    fn assign_initial(&self, b: &mut Body) {
        for (id, global) in b.t.module.globals.iter() {
            let init = global.init.filter(|init| global.space == Space::Private && is_assigned_at_entry(b.t, *init));
            if let (Some(init), true) = (init, b.t.globals.contains_key(&id)) {
                let value = b.value(Value::Const(init)).text;
                let name = b.t.global(id);
                b.setup_line(format!("{name} = {value}"));
            }
        }
    }

    /// The parameter for a built-in value, and the variable with the value that the source expects.
    fn built_in_param(&self, b: &mut Body, given: &Given) -> Option<String> {
        if let Some(param) = self.tessellation_param(b, given) {
            return param;
        }
        let Given { of, name, ty, is_shared, .. } = given;
        let (own, dims) = b.t.declared(*ty);
        let declared = if *is_shared { String::new() } else { format!("{own} ") };
        match of {
            BuiltIn::SubgroupId | BuiltIn::NumSubgroups => {
                let value = self.wave_number(b, *of);
                b.setup_line(format!("{declared}{name} = {value}"));
                return None;
            }
            BuiltIn::HelperInvocation => {
                b.setup_line(format!("{declared}{name} = IsHelperLane()"));
                return None;
            }
            BuiltIn::SamplePosition => {
                let sample = b.t.ports.find(BuiltIn::SampleId, Space::Input).map(|given| given.name.clone());
                let value = format!("GetRenderTargetSamplePosition({}) + 0.5", sample.unwrap_or_default());
                b.setup_line(format!("{declared}{name} = {value}"));
                return None;
            }
            BuiltIn::PointCoord => {
                b.setup_line(format!("{declared}{name} = {own}(0.5, 0.5)"));
                return None;
            }
            _ if self.is_from_host(b.t, *of) => return None,
            _ => {}
        }
        if matches!(of, BuiltIn::ClipDistance | BuiltIn::CullDistance) {
            return Some(self.distances_in(b, given));
        }
        let system = system_value(*of, b.t.ports.depth)?;
        if *of == BuiltIn::SampleMask {
            let param = b.named("coverage");
            match is_shared {
                true => b.setup_line(format!("{name}[0] = {own}({param})")),
                false => b.setup_line(format!("{own} {name}{dims} = {{ {own}({param}) }}")),
            }
            return Some(format!("uint {param} : {}", system.semantic));
        }
        let size = b.t.types.components(*ty).unwrap_or(1);
        let passed = b.t.vector_name(system.scalar, size);
        let is_promised = matches!(b.t.ports.depth, DepthPromise::Greater | DepthPromise::Less);
        let before = match of {
            BuiltIn::BaryCoordNoPerspective => "noperspective ",
            // The language requires this if the shader declares a depth mode.
            BuiltIn::FragCoord if is_promised => "noperspective centroid ",
            _ => "",
        };
        let param = if *is_shared { b.named(&format!("{name}_in")) } else { name.clone() };
        if *of == BuiltIn::FragCoord && b.t.hlsl.reads_w {
            b.setup_line(format!("{param}.w = 1.0 / {param}.w"));
        }
        // The language counts from the first one of the draw.
        let base = match of {
            BuiltIn::VertexIndex => b.t.ports.find(BuiltIn::BaseVertex, Space::Input),
            BuiltIn::InstanceIndex => b.t.ports.find(BuiltIn::BaseInstance, Space::Input),
            _ => None,
        };
        if let Some(base) = base.map(|base| base.name.clone()) {
            b.setup_line(format!("{param} += uint({base})"));
        }
        if *is_shared {
            let text = if own == passed { param.clone() } else { format!("{own}({param})") };
            b.setup_line(format!("{name} = {text}"));
        }
        Some(format!("{before}{passed} {param} : {}", system.semantic))
    }

    /// The parameters of clip or cull distances, which fill the array of the source.
    fn distances_in(&self, b: &mut Body, Given { of, name, ty, is_shared, .. }: &Given) -> String {
        let semantic = system_value(*of, b.t.ports.depth).map_or("", |system| system.semantic);
        let count = distances(b.t, *ty);
        if !is_shared {
            let (own, dims) = b.t.declared(*ty);
            b.setup_line(format!("{own} {name}{dims}"));
        }
        let rows = (0..count).step_by(4).enumerate().map(|(row, first)| {
            let size = (count - first).min(4);
            let param = b.named(&format!("{name}_{row}"));
            for n in 0..size {
                let part = if size == 1 { String::new() } else { component(n) };
                b.setup_line(format!("{name}[{}] = {param}{part}", first + n));
            }
            format!("{} {param} : {semantic}{row}", b.t.vector_name(Scalar::F32, size as u8))
        });
        rows.collect::<Vec<_>>().join(", ")
    }

    /// The index of the lane's wave, or the number of waves, in a one-dimensional workgroup, whose lanes are in order.
    fn wave_number(&self, b: &mut Body, of: BuiltIn) -> String {
        let index = b.t.ports.find(BuiltIn::LocalInvocationIndex, Space::Input).map(|given| given.name.clone());
        let size = b.entry.and_then(|entry| b.t.module.constants.bits(entry.workgroup_size[0])).unwrap_or(1);
        match of {
            BuiltIn::SubgroupId => format!("{} / WaveGetLaneCount()", index.unwrap_or_default()),
            _ => format!("({}u + WaveGetLaneCount()) / WaveGetLaneCount()", size.saturating_sub(1)),
        }
    }

    /// Zero-initialised workgroup memory: one invocation writes the zeros, and all wait.
    fn zero_shared(&self, b: &mut Body) {
        let ids: Vec<GlobalId> = zeroed(b.t.module).filter(|id| b.t.globals.contains_key(id)).collect();
        let Some(first) = b.t.ports.find(BuiltIn::LocalInvocationIndex, Space::Input) else { return };
        let condition = Expr::primary(format!("{} == 0", first.name));
        if ids.is_empty() {
            return;
        }
        let origin = b.origin;
        let then = ids.into_iter().map(|id| {
            let name = b.t.global(id);
            let zero = b.t.zero(b.t.module.globals[id].ty);
            Stmt::new(origin, Kind::Line(format!("{name} = {};", zero.text)))
        });
        let then = then.collect();
        let wait = Kind::Line("GroupMemoryBarrierWithGroupSync();".to_string());
        let lines = [Kind::If { condition, then, otherwise: Vec::new(), hint: "" }, wait];
        b.setup.splice(0..0, lines.into_iter().map(|kind| Stmt::new(origin, kind)));
    }

    /// The members of a struct of inputs or outputs.
    pub fn port_lines(&self, t: &mut Writer, ids: &[GlobalId]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut ids = ids.to_vec();
        ids.sort_by_key(|id| {
            let global = &t.module.globals[*id];
            (ports::location_of(t, global), component_of(global.binding))
        });
        for id in &ids {
            let global = &t.module.globals[*id];
            t.span = global.span;
            let name = self.port_name(t, *id);
            if t.types.holds_scalar(global.ty, |scalar| scalar.width == 64) {
                t.lacks("inputs and outputs of 64 bits");
            }
            let (ty, dims) = self.port_type(t, *id, global);
            let dims = match dims.split_once(']') {
                Some((_, rest)) if is_per_vertex(global) || self.crowd_of(t, *id).is_some() => rest.to_string(),
                _ => dims,
            };
            if !self.has_long && !dims.is_empty() && t.block_of(global.ty).is_some() {
                t.unsupported("arrays of blocks of inputs and outputs before Shader Model 6.0");
            }
            let how = self.interpolation_words(t, global.binding, global.ty, global.space);
            let is_vertex_input = t.stage() == Some(Stage::Vertex) && global.space == Space::Input;
            let semantic = match (t.block_of(global.ty), global.binding) {
                (Some(_), _) => String::new(),
                (None, Binding::Location { location: Some(location), component, index, .. }) => {
                    let is_target = t.stage() == Some(Stage::Fragment) && global.space == Space::Output;
                    if is_target && component > 0 {
                        t.unsupported("outputs of fragments at parts of locations");
                    }
                    match is_target {
                        true => format!(" : SV_Target{}", location + index),
                        false => match t.options.places.semantic(location).filter(|_| is_vertex_input) {
                            Some(semantic) => format!(" : {semantic}"),
                            None => format!(" : {}", location_semantic(location, component)),
                        },
                    }
                }
                _ => {
                    t.unsupported("inputs and outputs without locations");
                    String::new()
                }
            };
            let how = if semantic.is_empty() { String::new() } else { how };
            let order = matrix_order(t, global.ty);
            lines.push(format!("    {how}{order}{ty} {name}{dims}{semantic};"));
            t.remark_on_port(*id, lines.last_mut());
        }
        lines
    }

    /// Returns the outputs, after copying static and other variables to them.
    pub fn leave_entry(&self, b: &mut Body) {
        let is_primitive = b.entry.is_some_and(|entry| primitives::is_primitive(entry.stage));
        if !self.gives(b) || is_primitive {
            return b.line("return".to_string());
        }
        self.fill_outputs(b);
        b.line(format!("return {}", b.t.ports.output.clone()));
    }

    /// Copies static and other variables to the struct of the outputs.
    pub fn fill_outputs(&self, b: &mut Body) {
        let output = b.t.ports.output.clone();
        for id in self.located_outputs(b) {
            if b.t.ports.shared.contains(&id) {
                let name = self.port_name(b.t, id);
                b.line(format!("{output}.{name} = {name}"));
            }
        }
        for given in self.built_in_outputs(b) {
            if !self.is_member(b.t, given.of) && !self.give_back_levels(b, &given) {
                self.give_back(b, &given);
            }
        }
    }

    fn give_back(&self, b: &mut Body, Given { of, name, ty, .. }: &Given) {
        let output = b.t.ports.output.clone();
        match of {
            BuiltIn::SampleMask => b.line(format!("{output}.{name} = uint({name}[0])")),
            BuiltIn::ClipDistance | BuiltIn::CullDistance => {
                let count = distances(b.t, *ty);
                for (row, first) in (0..count).step_by(4).enumerate() {
                    let parts: Vec<String> = (first..count.min(first + 4)).map(|n| format!("{name}[{n}]")).collect();
                    let size = parts.len();
                    let value = if size == 1 { parts[0].clone() } else { format!("float{size}({})", parts.join(", ")) };
                    b.line(format!("{output}.{name}{row} = {value}"));
                }
            }
            _ => {
                let own = b.t.type_name(*ty);
                let is_signed = own == "int"
                    && system_value(*of, b.t.ports.depth).is_some_and(|system| system.scalar == Scalar::U32);
                let value = if is_signed { format!("uint({name})") } else { name.to_string() };
                b.line(format!("{output}.{name} = {value}"));
            }
        }
    }

    /// The struct of the outputs, and the entry point's variables for them.
    pub fn declare_outputs(&self, b: &mut Body) {
        let located = self.located_outputs(b);
        let mut lines = self.port_lines(b.t, &located);
        let (ty, output) = (self.output_type(b), b.t.ports.output.clone());
        b.setup_line(format!("{ty} {output} = ({ty})0"));
        for Given { of, name, ty, is_shared, .. } in self.built_in_outputs(b) {
            let levels = self.level_line(b, of);
            let is_member = self.is_member(b.t, of) || levels.is_some() && self.level_holder(b, of).is_some();
            let Some(system) = system_value(of, b.t.ports.depth) else { continue };
            let (own, dims) = b.t.declared(ty);
            let word = if of == BuiltIn::Position && ports::is_invariant(b.t) { "precise " } else { "" };
            match of {
                _ if levels.is_some() => lines.extend(levels.into_iter().flatten()),
                BuiltIn::ClipDistance | BuiltIn::CullDistance => {
                    let count = distances(b.t, ty);
                    for (row, first) in (0..count).step_by(4).enumerate() {
                        let ty = b.t.vector_name(Scalar::F32, (count - first).min(4) as u8);
                        lines.push(format!("    {ty} {name}{row} : {}{row};", system.semantic));
                    }
                }
                _ => {
                    let ty = b.t.vector_name(system.scalar, if of == BuiltIn::Position { 4 } else { 1 });
                    lines.push(format!("    {word}{ty} {name} : {};", system.semantic));
                }
            }
            if !is_shared && !is_member {
                let zero = b.t.zero(ty).text;
                b.setup_line(format!("{word}{own} {name}{dims} = {zero}"));
            }
        }
        b.t.declare_struct(&ty, lines);
    }
}

/// Number of clip or cull distances written.
fn distances(t: &Writer, ty: TypeId) -> u32 {
    if let Type::Array { len: ArrayLen::Fixed(len), .. } = t.types.get(ty) { len } else { 1 }
}
