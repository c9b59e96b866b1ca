//! The qualifiers of one declaration, collected from the list in the source.

use super::Sema;
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, List, Memory, QualifierKind, RayStorage, SpirvWord, Storage};
use crate::ir::build::Builder;
use crate::ir::{Access, Interpolation, Sampling, Scalar, Space, Stage, Type, TypeId};
use crate::source::Span;
use smallvec::SmallVec;

/// Storage qualifiers that matter to declarations in all supported stages, with their spans.
#[derive(Clone, Copy, Default, Debug)]
pub struct Qualifiers {
    pub constant: Option<Span>,
    pub input: Option<Span>,
    pub output: Option<Span>,
    pub inout: Option<Span>,
    pub uniform: Option<Span>,
    pub buffer: Option<Span>,
    pub shared: Option<Span>,
    /// `tileImageEXT`.
    pub tile: Option<Span>,
    /// `taskPayloadSharedEXT`.
    pub payload: Option<Span>,
    /// `taskNV`, together with `in` or `out`.
    pub task: Option<Span>,
    /// The ray storage of the variable.
    pub ray: Option<Span>,
    pub of_ray: Option<RayStorage>,
    pub centroid: Option<Span>,
    pub sample: Option<Span>,
    pub patch: Option<Span>,
    /// A qualifier of stages that are not supported, or of old versions.
    pub other: Option<Span>,
    pub interpolation: Interpolation,
    /// Span of the interpolation qualifier.
    pub interpolated: Option<Span>,
    pub precise: bool,
    /// `spirv_by_reference` and `spirv_literal` of parameters.
    pub by_reference: bool,
    pub literal: bool,
    pub invariant: bool,
    pub access: Access,
    /// The last memory qualifier but `nonprivate`, which all memory is.
    pub memory: Option<Span>,
}

impl Qualifiers {
    /// The space of an input or output.
    pub const fn port_space(&self) -> Space {
        if self.input.is_some() { Space::Input } else { Space::Output }
    }

    /// The storage qualifier that is not `const`.
    pub fn storage(&self) -> Option<Span> {
        let passed = self.input.or(self.output).or(self.inout);
        passed.or(self.uniform).or(self.buffer).or(self.shared).or(self.tile).or(self.payload).or(self.ray)
    }

    /// The sampling position of an input.
    pub const fn sampling(&self) -> Sampling {
        match (self.sample, self.centroid) {
            (Some(_), _) => Sampling::Sample,
            (None, Some(_)) => Sampling::Centroid,
            (None, None) => Sampling::Center,
        }
    }

    fn slot(&mut self, storage: Storage) -> &mut Option<Span> {
        match storage {
            Storage::Const => &mut self.constant,
            Storage::In => &mut self.input,
            Storage::Out => &mut self.output,
            Storage::InOut => &mut self.inout,
            Storage::Uniform => &mut self.uniform,
            Storage::Buffer => &mut self.buffer,
            Storage::Shared => &mut self.shared,
            Storage::TileImage => &mut self.tile,
            Storage::TaskPayload => &mut self.payload,
            Storage::TaskMemory => &mut self.task,
            Storage::Ray(_) => &mut self.ray,
            Storage::Centroid => &mut self.centroid,
            Storage::Sample => &mut self.sample,
            Storage::Patch => &mut self.patch,
            _ => &mut self.other,
        }
    }
}

/// Returns true if a storage qualifier is used together with another one.
const fn is_auxiliary(storage: Storage) -> bool {
    matches!(
        storage,
        Storage::Const | Storage::Centroid | Storage::Sample | Storage::Patch | Storage::TaskMemory | Storage::PerView
    )
}

const fn interpolation(kind: ast::Interpolation) -> Interpolation {
    match kind {
        ast::Interpolation::Smooth => Interpolation::Perspective,
        ast::Interpolation::NoPerspective => Interpolation::Linear,
        ast::Interpolation::Flat => Interpolation::Flat,
        ast::Interpolation::PerVertex => Interpolation::PerVertex,
        ast::Interpolation::Explicit => Interpolation::Explicit,
        ast::Interpolation::PerPrimitive { nvidia } => Interpolation::PerPrimitive { nvidia },
    }
}

fn access(memory: Memory) -> Access {
    match memory {
        Memory::Volatile => Access::VOLATILE | Access::COHERENT,
        Memory::Restrict => Access::RESTRICT,
        Memory::ReadOnly => Access::READONLY,
        Memory::WriteOnly => Access::WRITEONLY,
        // The second only hints that the memory will not be used again soon.
        Memory::NonPrivate | Memory::NonTemporal => Access::empty(),
        Memory::DeviceCoherent => Access::COHERENT | Access::DEVICE,
        _ => Access::COHERENT,
    }
}

/// The identifiers of layouts that shaders have most. Only suggestions use it.
#[rustfmt::skip]
const LAYOUT_WORDS: &[&str] = &[
    "local_size_x", "local_size_y", "local_size_z", "binding", "set", "location", "component", "index", "offset", "align",
    "constant_id", "push_constant", "std140", "std430", "scalar", "row_major", "column_major", "early_fragment_tests",
    "depth_greater", "depth_less", "depth_unchanged", "triangles", "points", "lines", "max_vertices", "vertices",
    "input_attachment_index", "buffer_reference", "xfb_offset", "xfb_buffer", "xfb_stride", "stream", "rgba8", "rgba16f", "rgba32f", "r32f", "r32ui", "r32i",
];

impl Sema<'_> {
    /// Collects qualifiers; a repeated one is an error (GLSL 4.60 section 4.11, order and repetition).
    pub fn qualifiers(&mut self, list: List<ast::Qualifier>) -> Qualifiers {
        let mut gathered = Qualifiers::default();
        for qualifier in &self.ast[list] {
            match qualifier.kind {
                QualifierKind::Storage(storage) => {
                    if let Storage::Ray(of) = storage {
                        gathered.of_ray = Some(of);
                    }
                    let slot = gathered.slot(storage);
                    if slot.replace(qualifier.span).is_some() {
                        self.error(Code::BAD_QUALIFIER, qualifier.span, "this qualifier is repeated", "again here");
                    }
                }
                QualifierKind::Memory(memory) => {
                    gathered.access |= access(memory);
                    if memory != Memory::NonPrivate {
                        gathered.memory = Some(qualifier.span);
                    }
                    self.need_nontemporal(memory, qualifier.span);
                }
                QualifierKind::Precise => gathered.precise = true,
                QualifierKind::Invariant => gathered.invariant = true,
                QualifierKind::Interpolation(kind) => {
                    self.interpolate_as(&mut gathered, interpolation(kind), qualifier.span);
                    self.need_whole_primitives(kind, qualifier.span);
                }
                QualifierKind::Spirv(word, _) => {
                    self.check_spirv_qualifier(word, qualifier.span);
                    gathered.by_reference |= word == SpirvWord::ByReference;
                    gathered.literal |= word == SpirvWord::Literal;
                }
                QualifierKind::NonUniform => drop(self.need_non_uniform(qualifier.span)),
                QualifierKind::Subroutine(_) => self.unsupported(qualifier.span, "subroutines are"),
                _ => {}
            }
        }
        self.check_storage(&gathered, list);
        if gathered.patch.is_some() {
            gathered.interpolation = Interpolation::Patch;
        }
        if let (Some(first), Some(second)) = (gathered.input, gathered.output) {
            // `in out` is `inout` in two words.
            gathered.inout = Some(first.to(second));
            (gathered.input, gathered.output) = (None, None);
        }
        gathered
    }

    /// Checks that memory qualifiers apply to memory that others see (GLSL 4.60 section 4.10). Qualifiers of `shared`
    /// variables need GL_KHR_memory_scope_semantics.
    pub fn check_memory(&mut self, b: &Builder<'_>, qualifiers: &Qualifiers, base: TypeId) {
        let Some(span) = qualifiers.memory else { return };
        let is_memory = match b.module.types.get(base) {
            Type::Image(image) => image.storage,
            Type::SampledImage(_) | Type::Sampler | Type::AccelerationStructure => false,
            _ => qualifiers.uniform.or(qualifiers.buffer).or(qualifiers.shared).is_some(),
        };
        if !is_memory {
            let message = "memory qualifiers belong to images and buffers";
            self.error(Code::BAD_QUALIFIER, span, message, "this variable is neither");
        }
    }

    /// Records an interpolation. A per-primitive one may be combined with another, in either order, which then has no
    /// effect.
    fn interpolate_as(&mut self, gathered: &mut Qualifiers, interpolation: Interpolation, span: Span) {
        let of_primitive = |of| matches!(of, Interpolation::PerPrimitive { .. } | Interpolation::PerVertex);
        let (before, first) = (gathered.interpolation, gathered.interpolated.replace(span));
        if first.is_some() && of_primitive(before) == of_primitive(interpolation) {
            let message = "a declaration has one interpolation qualifier";
            self.error(Code::BAD_QUALIFIER, span, message, "a second one");
        }
        if first.is_none() || of_primitive(interpolation) {
            gathered.interpolation = interpolation;
        }
    }

    fn need_nontemporal(&mut self, memory: Memory, span: Span) {
        let name = "GL_EXT_nontemporal_keyword";
        if memory == Memory::NonTemporal && !self.env.is_enabled(name) {
            self.needs_extension("this qualifier needs", name, span);
        }
    }

    /// Per-primitive inputs, which are not interpolated, need an extension.
    fn need_whole_primitives(&mut self, kind: ast::Interpolation, span: Span) {
        let (what, names): (&str, &[&str]) = match kind {
            ast::Interpolation::PerVertex => (
                "inputs of each vertex need",
                &["GL_EXT_fragment_shader_barycentric", "GL_NV_fragment_shader_barycentric"],
            ),
            ast::Interpolation::Explicit => ("this qualifier needs", &["GL_AMD_shader_explicit_vertex_parameter"]),
            ast::Interpolation::PerPrimitive { nvidia: false } => ("this qualifier needs", &["GL_EXT_mesh_shader"]),
            ast::Interpolation::PerPrimitive { nvidia: true } => ("this qualifier needs", &["GL_NV_mesh_shader"]),
            _ => return,
        };
        if !names.iter().any(|name| self.env.is_enabled(name)) {
            self.needs_extension(what, names[0], span);
        }
    }

    fn check_storage(&mut self, gathered: &Qualifiers, list: List<ast::Qualifier>) {
        let mut written =
            self.ast[list].iter().filter(|q| matches!(q.kind, QualifierKind::Storage(s) if !is_auxiliary(s)));
        let in_two_words = gathered.input.is_some() && gathered.output.is_some();
        if let (Some(second), None) = (written.nth(1 + usize::from(in_two_words)), gathered.other) {
            self.error(Code::BAD_QUALIFIER, second.span, "a declaration has one storage qualifier", "a second one");
        }
        if let Some(span) = gathered.other {
            self.refuse_storage(list, span);
        }
        if let Some(span) = gathered.task {
            self.check_task_memory(gathered, span);
        }
    }

    /// Refuses an obsolete qualifier, with its replacement, or an unsupported one.
    fn refuse_storage(&mut self, list: List<ast::Qualifier>, span: Span) {
        let kind = self.ast[list].iter().find(|qualifier| qualifier.span == span).map(|qualifier| qualifier.kind);
        let (old, now) = match kind {
            Some(QualifierKind::Storage(Storage::Attribute)) => ("attribute", "in"),
            Some(QualifierKind::Storage(Storage::Varying)) if self.env.stage == Stage::Fragment => ("varying", "in"),
            Some(QualifierKind::Storage(Storage::Varying)) => ("varying", "out"),
            _ => return self.unsupported(span, "this storage qualifier is"),
        };
        let message = format!("`{old}` is not supported: `in` and `out` took its place in GLSL 1.30");
        let diagnostic = Diagnostic::error(Code::NOT_SUPPORTED, message).at(span, "removed");
        let advice = format!("write `{now}`; a shader for Vulkan needs `layout(location = N)` in front of it too");
        self.report(diagnostic.suggest(span, now, advice));
    }

    /// Checks that only values between stages are interpolated: neither the inputs of the vertex stage nor the outputs
    /// of the fragment stage (GLSL 4.60 section 4.5; VUID-StandaloneSpirv-Flat-06202).
    pub fn check_interpolation(&mut self, qualifiers: &Qualifiers) {
        let space = match (qualifiers.input, qualifiers.output) {
            (Some(_), _) => Some(Space::Input),
            (None, Some(_)) => Some(Space::Output),
            (None, None) => None,
        };
        self.check_patch(qualifiers, space);
        let written = qualifiers.interpolated.or(qualifiers.centroid).or(qualifiers.sample);
        let Some(span) = written else { return };
        let of_primitive = matches!(qualifiers.interpolation, Interpolation::PerPrimitive { .. });
        let given = (self.env.stage, space) == (Stage::Mesh, Some(Space::Output));
        if of_primitive && space.is_some() && self.env.stage != Stage::Fragment && !given {
            let message =
                "only outputs of mesh shaders and inputs of fragment shaders have one value for the whole primitive";
            return self.error(Code::BAD_QUALIFIER, span, message, "not here");
        }
        if !space.is_some_and(|space| self.env.stage.passes(space)) {
            let message = "only variables that pass from the vertex to the fragment stage are interpolated";
            self.error(Code::BAD_QUALIFIER, span, message, "not here");
        }
    }

    /// A patch has values between the two stages of tessellation (GLSL 4.60 sections 4.3.4 and 4.3.6).
    fn check_patch(&mut self, qualifiers: &Qualifiers, space: Option<Space>) {
        let Some(span) = qualifiers.patch else { return };
        let fits = matches!(
            (self.env.stage, space),
            (Stage::TessControl, Some(Space::Output)) | (Stage::TessEvaluation, Some(Space::Input))
        );
        if !fits {
            let message =
                "`patch` is for outputs of tessellation control and inputs of tessellation evaluation shaders";
            self.error(Code::BAD_QUALIFIER, span, message, "not here");
        }
    }

    /// `precision highp float;` is about floats, integers, images and samplers (GLSL 4.60 section 4.7.4).
    pub fn check_precision(&mut self, b: &mut Builder<'_>, ty: ast::TypeId) {
        let Some(of) = self.type_spec(b, ty) else { return };
        let plain = [Scalar::F32, Scalar::I32].map(|scalar| b.module.types.scalar(scalar));
        let single = !matches!(b.module.types.get(of), Type::Array { .. });
        if plain.contains(&of) || single && self.is_opaque(b, of) {
            return;
        }
        let span = self.ast[ty].span;
        let message = "only `float`, `int`, images and samplers have a default precision";
        self.error(Code::BAD_TYPE, span, message, "another type");
    }

    /// All layout identifiers of the declaration, in order; later ones override earlier ones.
    pub fn layout_ids(&self, list: List<ast::Qualifier>) -> SmallVec<[ast::LayoutId; 4]> {
        let mut ids = SmallVec::new();
        for qualifier in &self.ast[list] {
            if let QualifierKind::Layout(layout) = qualifier.kind {
                ids.extend_from_slice(&self.ast[layout]);
            }
        }
        ids
    }

    pub fn unknown_layout_id(&mut self, id: &ast::LayoutId) {
        let name = self.text(id.name.symbol);
        let message = format!("the layout qualifier `{name}` has no meaning here");
        let error = Diagnostic::error(Code::BAD_LAYOUT, message).at(id.span, "not known here");
        let near = nearest(name, LAYOUT_WORDS.iter().copied()).filter(|near| *near != name);
        self.report(match near {
            Some(near) => error.suggest(id.name.span, near, format!("did you mean `{near}`?")),
            None => error,
        });
    }
}
