//! The pipeline state that a shader declares: workgroup size, fragment tests and the entry point.

use super::Sema;
use super::functions::Signature;
use super::qualifiers::Qualifiers;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{Attribute, Decl, LayoutId, List};
use crate::glsl::env::Env;
use crate::grammar;
use crate::ir::build::Builder;
use crate::ir::{
    ConstId, ConstValue, EntryPoint, FuncId, Inst, InstFlags, Module, Op, RayModes, Reconvergence, Space, Stage,
    TypeId, Types, Value, Values,
};
use crate::source::Span;
use std::borrow::Cow;

/// `layout(local_size_x = …, local_size_x_id = …) in;`
#[derive(Clone, Copy, Debug, Default)]
pub struct Workgroup {
    size: [Option<(u32, Span)>; 3],
    /// `constant_id` of each dimension.
    ids: [Option<u32>; 3],
    constants: Option<[ConstId; 3]>,
}

/// The dimension of a layout identifier, and true if it names a specialization constant.
fn dimension(name: &str) -> Option<(usize, bool)> {
    Some(match name {
        "local_size_x" => (0, false),
        "local_size_y" => (1, false),
        "local_size_z" => (2, false),
        "local_size_x_id" => (0, true),
        "local_size_y_id" => (1, true),
        "local_size_z_id" => (2, true),
        _ => return None,
    })
}

/// The constant with the limit of workgroup sizes (GLSL 4.60 section 7.3, GL_EXT_mesh_shader, GL_NV_mesh_shader).
fn size_limit(env: &Env<'_>) -> Cow<'static, str> {
    env.mesh_limit(match env.stage {
        Stage::Task => "gl_MaxTaskWorkGroupSizeEXT",
        Stage::Mesh => "gl_MaxMeshWorkGroupSizeEXT",
        _ => "gl_MaxComputeWorkGroupSize",
    })
}

/// The largest workgroup size in a dimension.
fn largest_size(limit: &str, dimension: usize) -> u32 {
    let limits = grammar::constant(limit).map_or(&[][..], |constant| constant.value);
    limits.get(dimension).map_or(u32::MAX, |limit| limit.cast_unsigned())
}

/// The blocks whose default layout a declaration without a name sets.
fn default_space(qualifiers: &Qualifiers) -> Option<Space> {
    let spaces = [
        (qualifiers.uniform, Space::Uniform),
        (qualifiers.buffer, Space::Storage),
        (qualifiers.shared, Space::Workgroup),
    ];
    spaces.into_iter().find_map(|(written, space)| written.map(|_| space))
}

impl Sema<'_> {
    /// `layout(…) in;`, `layout(…) uniform;`, `layout(…) buffer;`
    pub fn default_qualifiers(&mut self, b: &mut Builder<'_>, decl: &Decl) {
        let qualifiers = self.qualifiers(decl.qualifiers);
        self.execution_modes(b, decl.qualifiers);
        let ids = self.layout_ids(decl.qualifiers);
        let direction = match (qualifiers.input, qualifiers.output) {
            (Some(_), None) => Some(Space::Input),
            (None, Some(_)) => Some(Space::Output),
            _ => None,
        };
        for id in &ids {
            if direction.is_some_and(|space| self.primitive_layout(b, id, space)) {
            } else if qualifiers.input.is_some() && self.env.stage == Stage::Fragment {
                self.fragment_input_layout(id);
            } else if qualifiers.input.is_some() && self.env.stage.has_workgroups() {
                self.input_layout(b, id);
            } else if self.is_view_count(id, &qualifiers) {
                // The render pass determines the number of views.
            } else if qualifiers.output.is_some() && self.text(id.name.symbol).starts_with("xfb_") {
                self.usual_feedback(b, id);
            } else if self.env.stage == Stage::Geometry
                && direction == Some(Space::Output)
                && self.text(id.name.symbol) == "stream"
            {
                self.usual_stream(b, id);
            } else if self.is_primitive_culling(id, decl.qualifiers.len() == 1 && ids.len() == 1) {
                b.module.rays |= RayModes::PRIMITIVE_CULLING;
            } else if let Some(space) = default_space(&qualifiers) {
                self.default_block_layout(id, space);
            } else {
                self.unknown_layout_id(id);
            }
        }
    }

    /// `layout(num_views = 2) in;` of a vertex shader (GL_OVR_multiview).
    fn is_view_count(&self, id: &LayoutId, qualifiers: &Qualifiers) -> bool {
        let is_input = qualifiers.input.is_some() && self.env.stage == Stage::Vertex;
        is_input && self.text(id.name.symbol) == "num_views" && self.env.is_enabled("GL_OVR_multiview")
    }

    fn input_layout(&mut self, b: &mut Builder<'_>, id: &LayoutId) {
        if super::derivatives::group(self.text(id.name.symbol)).is_some() {
            self.derivative_layout(id);
            return;
        }
        let Some((dimension, is_id)) = dimension(self.text(id.name.symbol)) else {
            self.unknown_layout_id(id);
            return;
        };
        let Some(value) = self.layout_value(b, id) else { return };
        if self.workgroup.constants.is_some() {
            let message = "the workgroup size is declared after its first use";
            self.error(Code::BAD_LAYOUT, id.span, message, "declare it before gl_WorkGroupSize is used");
            return;
        }
        if is_id {
            self.workgroup.ids[dimension] = Some(value);
        } else {
            self.set_size(dimension, value, id.span);
        }
    }

    fn set_size(&mut self, dimension: usize, value: u32, span: Span) {
        let name = size_limit(&self.env);
        let limit = largest_size(&name, dimension);
        if value == 0 || value > limit {
            let message = format!("a workgroup cannot be {value} wide");
            let note = format!("`{name}.{}` is {limit}", ["x", "y", "z"][dimension]);
            self.report(Diagnostic::error(Code::BAD_LAYOUT, message).at(span, "out of range").note(note));
            return;
        }
        if let Some((before, first)) = self.workgroup.size[dimension]
            && before != value
        {
            let message = format!("the workgroup size is declared as {before} and as {value}");
            let diagnostic = Diagnostic::error(Code::BAD_LAYOUT, message).at(span, "the second declaration");
            self.report(diagnostic.with(first, "the first one"));
        }
        self.workgroup.size[dimension] = Some((value, span));
    }

    /// The workgroup size as three `uint` constants; asking fixes it.
    pub fn workgroup_size(&mut self, module: &mut Module) -> [ConstId; 3] {
        if let Some(constants) = self.workgroup.constants {
            return constants;
        }
        let Workgroup { size, ids, .. } = self.workgroup;
        let constants = std::array::from_fn(|dimension| {
            let default = size[dimension].map_or(1, |(value, _)| value);
            match ids[dimension] {
                Some(id) => module.constants.intern(Types::U32, ConstValue::Spec { id, default: u64::from(default) }),
                None => module.constants.u32(default),
            }
        });
        self.workgroup.constants = Some(constants);
        constants
    }

    /// `gl_WorkGroupSize`.
    pub fn workgroup_size_value(&mut self, b: &mut Builder<'_>, ty: TypeId) -> Value {
        let parts = self.workgroup_size(b.module).map(Value::Const);
        b.construct(ty, &parts)
    }

    /// Finds `main` and makes it the entry point.
    pub fn entry_point(&mut self, module: &mut Module) {
        let Some(function) = self.find_main() else {
            self.no_main();
            return;
        };
        self.initialize_globals(module, function);
        self.check_definitions(module);
        self.report_refusals(module, function);
        self.check_incoming(module, function);
        let workgroup_size = self.workgroup_size(module);
        self.check_derivative_group(module, workgroup_size);
        let reconvergence = self.reconvergence;
        self.check_passed(module);
        let primitives = self.primitive_modes(module, module.functions[function].span);
        let name = self.env.dialect.entry_name.as_deref().unwrap_or("main").into();
        let (stage, fragment, derivatives) = (self.env.stage, self.fragment, self.env.derivatives);
        module.nvidia_meshes = self.env.has_nvidia_meshes();
        module.rays.set(RayModes::NVIDIA, self.env.has_nvidia_rays());
        module.entry_points.push(EntryPoint {
            name,
            stage,
            function,
            workgroup_size,
            reconvergence,
            derivatives,
            fragment,
            primitives,
        });
    }

    /// The overloads of the user's function `main`.
    fn mains(&self) -> impl Iterator<Item = &Signature> {
        let set = self.sets.iter().find(|set| self.words.text(set.name) == "main");
        set.into_iter().flat_map(|set| &set.overloads)
    }

    pub fn find_main(&self) -> Option<FuncId> {
        let mut defined = self.mains().filter(|main| main.defined);
        defined.find(|main| main.params.is_empty() && main.ret == Types::VOID).map(|main| main.id)
    }

    fn no_main(&mut self) {
        let end = self.stream.tokens.last().map_or(Span::NONE, |token| token.span);
        let (span, label) = match self.mains().next() {
            Some(main) if main.defined => (main.span, "`main` takes and returns nothing"),
            Some(main) => (main.span, "declared and never defined"),
            None => (end, "the end of the shader"),
        };
        self.error(Code::NO_MAIN, span, "the shader has no function `void main()`", label);
    }

    /// `void main() [[maximally_reconverges]]` and `[[subgroup_uniform_control_flow]]`: promises of entry points.
    pub fn read_reconvergence(&mut self, attributes: List<Attribute>, is_main: bool) {
        for attribute in &self.ast[attributes] {
            let (promise, extension) = match self.text(attribute.name.symbol) {
                "maximally_reconverges" => (Reconvergence::Maximal, "GL_EXT_maximal_reconvergence"),
                "subgroup_uniform_control_flow" => {
                    (Reconvergence::SubgroupUniform, "GL_EXT_subgroup_uniform_control_flow")
                }
                _ => continue,
            };
            let span = attribute.name.span;
            if !self.env.is_enabled(extension) {
                self.needs_extension("this attribute needs", extension, span);
            } else if !is_main {
                self.error(Code::BAD_DECLARATION, span, "this attribute belongs to `main`", "not here");
            }
            self.reconvergence = promise;
        }
    }

    /// Calls, first of all in `main`, a function that stores the initial values that are not constant.
    fn initialize_globals(&mut self, module: &mut Module, main: FuncId) {
        if self.deferred.is_empty() {
            return;
        }
        let mut b = Builder::new(module, "initialize_globals", Span::NONE, Vec::new(), Types::VOID);
        for (global, expr) in std::mem::take(&mut self.deferred) {
            let ty = b.module.globals[global].ty;
            if let Some(value) = self.initializer(&mut b, expr, ty) {
                b.store(Value::Global(global), value);
            }
        }
        let callee = b.finish_into(None);
        let function = &mut module.functions[main];
        let (op, span) = (Op::Call(callee, Values::default()), function.span);
        let call = function.insts.push(Inst { op, ty: Types::VOID, span, flags: InstFlags::empty() });
        let body = function.body;
        function.blocks[body].insts.insert(0, call);
    }
}
