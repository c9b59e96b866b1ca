//! The entry point: its arguments, and the structs of inputs and outputs.

use super::capture::without_attribute;
use super::stage::attribute;
use super::{Extra, Msl};
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::ports::{self, Given, zeroed};
use crate::backend::source::tree::{Kind, Stmt};
use crate::backend::source::writer::Writer;
use crate::ir::{ArrayLen, BuiltIn, ConstValue, EntryPoint, Global, GlobalId, Space, Stage, Type, TypeId};

impl Msl {
    pub fn entry_signature(&self, b: &mut Body, entry: &EntryPoint) -> String {
        for id in b.t.msl.sized.clone() {
            b.t.msl.used.insert(Extra::Global(id));
        }
        if entry.stage == Stage::TessControl {
            return self.control_signature(b);
        }
        if matches!(entry.stage, Stage::Mesh | Stage::Task) {
            return self.mesh_signature(b, entry);
        }
        let mut params = Vec::new();
        params.extend(match entry.stage {
            Stage::TessEvaluation => self.evaluation_inputs(b),
            _ => self.stage_inputs(b),
        });
        self.declare_private(b);
        let starts_zeroed = zeroed(b.t.module).any(|id| b.t.msl.used.contains(&Extra::Global(id)));
        if starts_zeroed {
            let _ = self.built_in(b, BuiltIn::LocalInvocationIndex, Space::Input);
        }
        if self.used_built_in(b.t, BuiltIn::SamplePosition, Space::Input).is_some() {
            let _ = self.built_in(b, BuiltIn::SampleId, Space::Input);
        }
        let used: Vec<Extra> = b.t.msl.used.iter().copied().collect();
        params.extend(self.resource_arguments(b, &used));
        for extra in &used {
            params.extend(self.value_argument(b, *extra));
        }
        params.extend(self.begin_capture(b));
        self.zero_shared(b);
        let mut result = self.stage_outputs(b).unwrap_or_else(|| "void".to_string());
        let head = match entry.stage {
            Stage::Vertex if b.t.msl.capture.is_some() => {
                result = "void".to_string();
                "kernel".to_string()
            }
            Stage::Vertex => "vertex".to_string(),
            Stage::Fragment if entry.fragment.early_tests || entry.fragment.post_depth_coverage => {
                "[[early_fragment_tests]]\nfragment".to_string()
            }
            Stage::Fragment => "fragment".to_string(),
            Stage::TessEvaluation => self.evaluation_head(b.t),
            _ => format!("[[max_total_threads_per_threadgroup({})]]\nkernel", self.workgroup_size(b.t, entry)),
        };
        let name = b.t.ports.entry.clone();
        match params.as_slice() {
            [] => format!("{head} {result} {name}() {{"),
            [only] => format!("{head} {result} {name}({only}) {{"),
            several => format!("{head} {result} {name}(\n    {}) {{", several.join(",\n    ")),
        }
    }

    /// The argument for a value from the pipeline.
    pub fn value_argument(&self, b: &mut Body, extra: Extra) -> Option<String> {
        match extra {
            Extra::BuiltIn(at) if b.t.ports.built_in[at].space == Space::Input => {
                let given = b.t.ports.built_in[at].clone();
                self.built_in_argument(b, &given)
            }
            Extra::Lane => Some(format!("uint {} [[thread_index_in_simdgroup]]", b.t.msl.names.lane)),
            Extra::Lanes => Some(format!("uint {} [[threads_per_simdgroup]]", b.t.msl.names.lanes)),
            _ => None,
        }
    }

    /// The number of threads in a workgroup.
    pub fn workgroup_size(&self, t: &mut Writer, entry: &EntryPoint) -> String {
        let mut known: u64 = 1;
        let mut macros = Vec::new();
        for id in entry.workgroup_size {
            match t.module.constants.get(id).value.clone() {
                ConstValue::Bits(size) => known = known.saturating_mul(size),
                ConstValue::Spec { id: number, .. } => {
                    t.constant(id);
                    macros.push(format!("CONSTANT_{number}"));
                }
                _ => t.unsupported("sizes of workgroups that are expressions of specialization constants"),
            }
        }
        if known > 1 || macros.is_empty() {
            macros.push(known.to_string());
        }
        macros.join(" * ")
    }

    /// Declares the struct of all inputs at locations, and fills the variables of inputs that are not its members.
    fn stage_inputs(&self, b: &mut Body) -> Option<String> {
        let located = b.t.ports.located[0].clone();
        let mut lines = Vec::new();
        let input = b.t.ports.input.clone();
        for id in located {
            let global = &b.t.module.globals[id];
            b.t.span = global.span;
            let is_own = !self.is_member(b.t, global);
            let is_used = b.t.ports.named.contains(&id);
            let is_whole = b.t.shape(global.ty).is_some();
            if is_own && is_used && !is_whole {
                self.declare_variable(b, id, global);
            }
            let first = lines.len();
            for leaf in self.leaves(b.t, id, global) {
                self.add_line(b.t, &leaf, Space::Input, &mut lines);
                if is_own && is_used {
                    let value = self.input_value(b, &leaf, &input);
                    let ty = if is_whole { b.t.type_name(leaf.ty) + " " } else { String::new() };
                    b.setup_line(format!("{ty}{} = {value}", leaf.path));
                }
            }
            b.t.remark_on_port(id, lines.get_mut(first));
        }
        if let Some(given) = self.used_built_in(b.t, BuiltIn::ClipDistance, Space::Input) {
            self.clip_inputs(b, &given, &mut lines);
        }
        if lines.is_empty() {
            return None;
        }
        let ty = b.t.ports.types[0].clone();
        b.t.declare_struct(&ty, lines);
        Some(format!("{ty} {input} [[stage_in]]"))
    }

    pub fn used_built_in(&self, t: &Writer, of: BuiltIn, space: Space) -> Option<Given> {
        let at = t.ports.built_in.iter().position(|given| given.of == of && given.space == space)?;
        t.msl.used.contains(&Extra::BuiltIn(at)).then(|| t.ports.built_in[at].clone())
    }

    /// Clip distances reach fragments as user-defined values.
    fn clip_inputs(&self, b: &mut Body, given: &Given, lines: &mut Vec<String>) {
        let (ty, dims) = b.t.declared(given.ty);
        b.setup_line(format!("{ty} {}{dims}", given.name));
        let input = b.t.ports.input.clone();
        for n in 0..length_of(b.t, given.ty) {
            let name = format!("{}_{n}", given.name);
            lines.push(format!("    float {name} [[user(clip{n})]];"));
            b.setup_line(format!("{}[{n}] = {input}.{name}", given.name));
        }
    }

    /// The variable of an input or output that is not a member of the common struct.
    pub fn declare_variable(&self, b: &mut Body, id: GlobalId, global: &Global) {
        let (ty, dims) = b.t.declared(global.ty);
        let name = self.port_name(b.t, id);
        b.setup_line(format!("{ty} {name}{dims}"));
    }

    /// The argument of a built-in value, and the variables that the source has instead of it.
    fn built_in_argument(&self, b: &mut Body, given: &Given) -> Option<String> {
        let Given { of, name, ty, .. } = given;
        if self.capture_argument(b, given) {
            return None;
        }
        match of {
            BuiltIn::HelperInvocation => {
                b.setup_line(format!("bool {name} = simd_is_helper_thread()"));
                return None;
            }
            BuiltIn::SamplePosition => {
                let sample = b.t.ports.find(BuiltIn::SampleId, Space::Input).map_or("", |given| &given.name);
                let line = format!("float2 {name} = get_sample_position({sample})");
                b.setup_line(line);
                return None;
            }
            _ if b.t.stage() == Some(Stage::TessEvaluation) => {
                if let Some(argument) = self.evaluation_argument(b, given) {
                    return argument;
                }
            }
            BuiltIn::ClipDistance => return None,
            _ => {}
        }
        let attribute = attribute(b.t.stage(), *of, b.t.ports.depth)?;
        let (own, dims) = b.t.declared(*ty);
        if *of == BuiltIn::SampleMask {
            let coverage = b.named("coverage");
            b.setup_line(format!("{own} {name}{dims} = {{ {own}({coverage}) }}"));
            let is_after = b.entry.is_some_and(|entry| entry.fragment.post_depth_coverage);
            let after = if is_after { ", post_depth_coverage" } else { "" };
            return Some(format!("uint {coverage} [[sample_mask{after}]]"));
        }
        let size = b.t.types.components(*ty).unwrap_or(1);
        let passed = b.t.vector_name(attribute.scalar, size);
        Some(format!("{passed} {name} [[{}]]", attribute.text))
    }

    /// Private variables and workgroup memory are variables of the entry point.
    pub fn declare_private(&self, b: &mut Body) {
        let used: Vec<Extra> = b.t.msl.used.iter().copied().collect();
        let mut lines = Vec::new();
        for extra in used {
            let Extra::Global(id) = extra else { continue };
            let global = &b.t.module.globals[id];
            let word = match global.space {
                Space::Private => "",
                Space::Workgroup => "threadgroup ",
                _ => continue,
            };
            b.t.span = global.span;
            let name = b.t.global(id);
            let (ty, dims) = b.t.declared(global.ty);
            let init = global.init.filter(|_| global.space == Space::Private);
            let init = init.map_or_else(String::new, |init| format!(" = {}", b.t.initial(init)));
            lines.push(Stmt::new(b.origin, Kind::Line(format!("{word}{ty} {name}{dims}{init};"))));
        }
        b.setup.splice(0..0, lines);
    }

    /// Zero-initialised workgroup memory: one thread writes the zeros, and all wait.
    pub fn zero_shared(&self, b: &mut Body) {
        let ids: Vec<GlobalId> = zeroed(b.t.module).filter(|id| b.t.msl.used.contains(&Extra::Global(*id))).collect();
        if ids.is_empty() {
            return;
        }
        let Some(first) = b.t.ports.find(BuiltIn::LocalInvocationIndex, Space::Input) else { return };
        let condition = Expr::primary(format!("{} == 0", first.name));
        let then = b.within(|b| {
            for id in ids {
                let ty = b.t.module.globals[id].ty;
                let place = Expr::primary(b.t.global(id));
                self.clear(b, &place, ty);
            }
        });
        b.setup.push(Stmt::new(b.origin, Kind::If { condition, then, otherwise: Vec::new(), hint: "" }));
        b.setup_line("threadgroup_barrier(mem_flags::mem_threadgroup)".to_string());
    }

    /// Stores zeros to a variable of a type.
    fn clear(&self, b: &mut Body, place: &Expr, ty: TypeId) {
        match b.t.types.get(ty) {
            Type::Array { element, .. } => {
                b.each_index(ty, |b, index| self.clear(b, &place.part(&format!("[{}]", index.text)), element));
            }
            _ => {
                let zero = b.t.zero(ty);
                b.line(format!("{} = {}", place.text, zero.text));
            }
        }
    }

    /// Declares the struct of all outputs and its variable; returns its type.
    fn stage_outputs(&self, b: &mut Body) -> Option<String> {
        if !self.has_outputs(b.t) {
            return None;
        }
        let (ty, output) = (b.t.ports.types[1].clone(), b.t.ports.output.clone());
        let mut lines = Vec::new();
        for id in b.t.ports.located[1].clone() {
            let global = &b.t.module.globals[id];
            b.t.span = global.span;
            if !self.is_member(b.t, global) && b.t.ports.named.contains(&id) {
                self.declare_variable(b, id, global);
            }
            let first = lines.len();
            for leaf in self.leaves(b.t, id, global) {
                self.add_line(b.t, &leaf, Space::Output, &mut lines);
            }
            b.t.remark_on_port(id, lines.get_mut(first));
        }
        for given in self.built_in_outputs(b.t) {
            self.output_lines(b, &given, &mut lines);
        }
        if b.t.msl.capture.is_some() {
            lines = lines.iter().map(|line| without_attribute(line)).collect();
        }
        b.t.declare_struct(&ty, lines);
        let line = Kind::Line(format!("{ty} {output} = {{}};"));
        b.setup.insert(0, Stmt::new(b.origin, line));
        Some(ty)
    }

    fn output_lines(&self, b: &mut Body, Given { of, name, ty, .. }: &Given, lines: &mut Vec<String>) {
        let Some(attribute) = attribute(b.t.stage(), *of, b.t.ports.depth) else { return };
        let (own, dims) = b.t.declared(*ty);
        match of {
            BuiltIn::SampleMask => {
                lines.push(format!("    uint {name} [[sample_mask]];"));
                b.setup_line(format!("{own} {name}{dims} = {{}}"));
            }
            BuiltIn::ClipDistance => {
                let count = length_of(b.t, *ty);
                lines.push(format!("    float {name} [[clip_distance]] [{count}];"));
                lines.extend((0..count).map(|n| format!("    float {name}_{n} [[user(clip{n})]];")));
                b.setup_line(format!("{own} {name}{dims} = {{}}"));
            }
            _ => {
                let size = b.t.types.components(*ty).unwrap_or(1);
                let passed = b.t.vector_name(attribute.scalar, size);
                let invariant = if *of == BuiltIn::Position && ports::is_invariant(b.t) { ", invariant" } else { "" };
                lines.push(format!("    {passed} {name} [[{}{invariant}]];", attribute.text));
            }
        }
    }

    /// The built-in values that the shader outputs.
    fn built_in_outputs(&self, t: &Writer) -> Vec<Given> {
        t.ports.built_in.iter().filter(|given| given.space == Space::Output).cloned().collect()
    }

    fn has_outputs(&self, t: &Writer) -> bool {
        if matches!(t.stage(), Some(Stage::TessControl | Stage::Mesh | Stage::Task)) {
            return false;
        }
        !t.ports.located[1].is_empty() || t.ports.built_in.iter().any(|given| given.space == Space::Output)
    }

    /// Returns the outputs, after copying the variables to them.
    pub fn leave_entry(&self, b: &mut Body) {
        if b.t.stage() == Some(Stage::Mesh) {
            self.end_mesh(b);
        }
        if !self.has_outputs(b.t) {
            return b.line("return".to_string());
        }
        let output = b.t.ports.output.clone();
        for id in b.t.ports.located[1].clone() {
            let global = &b.t.module.globals[id];
            if self.is_member(b.t, global) || !b.t.ports.named.contains(&id) {
                continue;
            }
            for leaf in self.leaves(b.t, id, global) {
                let (place, value) = self.output_place(b.t, &leaf);
                b.line(format!("{output}.{place} = {value}"));
            }
        }
        for Given { of, name, ty, .. } in self.built_in_outputs(b.t) {
            match of {
                BuiltIn::SampleMask => b.line(format!("{output}.{name} = uint({name}[0])")),
                BuiltIn::ClipDistance => {
                    for n in 0..length_of(b.t, ty) {
                        b.line(format!("{output}.{name}[{n}] = {name}[{n}]"));
                        b.line(format!("{output}.{name}_{n} = {name}[{n}]"));
                    }
                }
                _ => {}
            }
        }
        if b.t.msl.capture.is_some() {
            self.end_capture(b);
            return b.line("return".to_string());
        }
        b.line(format!("return {output}"));
    }
}

/// Elements of an array.
fn length_of(t: &Writer, ty: TypeId) -> u32 {
    if let Type::Array { len: ArrayLen::Fixed(len), .. } = t.types.get(ty) { len } else { 1 }
}
