//! Stage inputs and outputs: locations, interpolation, interface blocks, the requirements of built-ins by stage, and
//! the marking of non-uniform resource indices (SPIR-V 1.6 section 3.20; Vulkan 1.3 sections 15.1 and 15.6).

use super::function::Body;
use super::globals::spirv_built_in;
use super::print::EXPLICIT_VERTICES;
use super::{Emitter, Version};
use crate::ir::{
    self, Access, Binding, Global, GlobalId, ImageDim, Inst, InstFlags, Interpolation, Sampling, Scalar, Space, Stage,
    Type, TypeId, Types, Value,
};
use rspirv::spirv::{BuiltIn, Capability, Decoration, Word};

/// The target of a decoration: a variable, or a member of a block.
#[derive(Clone, Copy)]
enum Decorated {
    Variable(Word),
    Member(Word, Word),
}

/// The element type of an array, through arrays of arrays.
fn innermost(types: &Types, ty: TypeId) -> (TypeId, Type) {
    match types.get(ty) {
        Type::Array { element, .. } => innermost(types, element),
        other => (ty, other),
    }
}

/// Built-in variables that mesh shaders write per primitive.
const fn is_of_primitive(built_in: BuiltIn) -> bool {
    matches!(
        built_in,
        BuiltIn::PrimitiveId
            | BuiltIn::Layer
            | BuiltIn::ViewportIndex
            | BuiltIn::ViewportMaskNV
            | BuiltIn::CullPrimitiveEXT
            | BuiltIn::PrimitiveShadingRateKHR
    )
}

impl Emitter<'_> {
    pub fn decorate_interface(&mut self, id: Word, global: &Global) {
        let of_members = global.binding.interpolation() == Interpolation::Patch && self.is_block(global.ty);
        let binding = if of_members { global.binding.interpolated(Interpolation::Perspective) } else { global.binding };
        self.decorate_binding(Decorated::Variable(id), binding, global.access);
        self.need_storage_of(global.space, global.ty);
        self.decorate_integers(id, global);
        let module = self.module;
        let (block, of) = match innermost(&module.types, global.ty) {
            (block, Type::Struct(of)) => (block, of),
            _ => return,
        };
        let item = &module.types.structs[of];
        let ty = self.value_type(block);
        if item.block && !self.types.blocks.contains(&ty) {
            self.types.blocks.push(ty);
            self.decorate(ty, Decoration::Block, &[]);
            for (index, member) in item.members.iter().enumerate() {
                self.decorate_binding(Decorated::Member(ty, index as Word), member.binding, member.access);
            }
        }
    }

    /// The decorations of an output for transform feedback, for the whole variable or members of its block, and its
    /// vertex stream; for an input, that it passes through.
    pub fn feed_back(&mut self, global: GlobalId, id: Word) {
        let module = self.module;
        for feedback in module.feedback.iter().filter(|feedback| feedback.global == global) {
            let target = match feedback.member {
                Some(index) => Decorated::Member(self.value_type(module.globals[global].ty), index),
                None => Decorated::Variable(id),
            };
            self.needs.capability(Capability::TransformFeedback);
            self.decorate_target(target, Decoration::XfbBuffer, &[feedback.buffer]);
            self.decorate_target(target, Decoration::XfbStride, &[feedback.stride]);
            self.decorate_target(target, Decoration::Offset, &[feedback.offset]);
        }
        for (_, stream) in module.streams.iter().filter(|(known, _)| *known == global) {
            self.needs.capability(Capability::GeometryStreams);
            self.decorate(id, Decoration::Stream, &[*stream]);
        }
        if module.passed.contains(&global) {
            self.needs.capability(Capability::GeometryShaderPassthroughNV);
            self.decorate(id, Decoration::PassthroughNV, &[]);
        }
    }

    /// Inputs of fragment shaders that cannot be interpolated are flat, with or without the qualifier.
    fn decorate_integers(&mut self, id: Word, global: &Global) {
        let fragment = self.stage == Stage::Fragment;
        let stays =
            self.module.types.scalar_of(global.ty).is_some_and(|scalar| scalar.is_int() || scalar == Scalar::F64);
        let flat = matches!(
            global.binding,
            Binding::Location { interpolation: Interpolation::Flat | Interpolation::PerVertex, .. }
        );
        if fragment && global.space == Space::Input && stays && !flat {
            self.decorate(id, Decoration::Flat, &[]);
        }
    }

    /// Marks the members of a block in task memory (SPV_NV_mesh_shader).
    pub fn decorate_task_memory(&mut self, global: &Global) {
        let Type::Struct(of) = self.module.types.get(global.ty) else { return };
        let ty = self.memory_type(global.ty);
        for index in 0..self.module.types.structs[of].members.len() {
            self.decorate_member(ty, index as Word, Decoration::PerTaskNV, &[]);
        }
    }

    fn decorate_target(&mut self, target: Decorated, decoration: Decoration, operands: &[Word]) {
        match target {
            Decorated::Variable(id) => self.decorate(id, decoration, operands),
            Decorated::Member(id, index) => self.decorate_member(id, index, decoration, operands),
        }
    }

    fn decorate_binding(&mut self, target: Decorated, binding: Binding, access: Access) {
        if access.contains(Access::INVARIANT) {
            self.decorate_target(target, Decoration::Invariant, &[]);
        }
        if let Binding::BuiltIn(built_in) = binding {
            self.decorate_built_in_member(target, spirv_built_in(built_in));
        }
        let Binding::Location { location, component, index, interpolation, sampling } = binding else { return };
        if let Some(location) = location {
            self.decorate_target(target, Decoration::Location, &[location]);
        }
        if component != 0 {
            self.decorate_target(target, Decoration::Component, &[component]);
        }
        if index != 0 {
            self.decorate_target(target, Decoration::Index, &[index]);
        }
        match interpolation {
            Interpolation::Perspective => {}
            Interpolation::Linear => self.decorate_target(target, Decoration::NoPerspective, &[]),
            Interpolation::Flat => self.decorate_target(target, Decoration::Flat, &[]),
            Interpolation::PerVertex => {
                self.needs.capability(Capability::FragmentBarycentricKHR);
                self.decorate_target(target, Decoration::PerVertexKHR, &[]);
            }
            Interpolation::Patch => self.decorate_target(target, Decoration::Patch, &[]),
            Interpolation::Explicit => {
                self.needs.extension(EXPLICIT_VERTICES);
                self.decorate_target(target, Decoration::ExplicitInterpAMD, &[]);
            }
            Interpolation::PerPrimitive { nvidia } => {
                match nvidia {
                    true => self.needs.capability(Capability::MeshShadingNV),
                    false => self.needs.capability(Capability::MeshShadingEXT),
                }
                self.decorate_target(target, Decoration::PerPrimitiveEXT, &[]);
            }
        }
        match sampling {
            Sampling::Center => {}
            Sampling::Centroid => self.decorate_target(target, Decoration::Centroid, &[]),
            Sampling::Sample => {
                self.needs.capability(Capability::SampleRateShading);
                self.decorate_target(target, Decoration::Sample, &[]);
            }
        }
    }

    /// A built-in variable that is a member of a block.
    fn decorate_built_in_member(&mut self, target: Decorated, built_in: BuiltIn) {
        self.decorate_target(target, Decoration::BuiltIn, &[built_in as Word]);
        self.needs.built_in(built_in);
        if is_of_primitive(built_in) {
            self.decorate_target(target, Decoration::PerPrimitiveEXT, &[]);
        }
    }

    /// Adds the capabilities that a built-in variable needs in some stages only.
    pub fn need_stage_of(&mut self, built_in: BuiltIn, space: Space) {
        let output = space == Space::Output;
        let capability = match (self.stage, built_in) {
            (Stage::Geometry, BuiltIn::PointSize) => Capability::GeometryPointSize,
            (Stage::TessControl | Stage::TessEvaluation, BuiltIn::PointSize) => Capability::TessellationPointSize,
            (Stage::Geometry, BuiltIn::ViewportIndex) => Capability::MultiViewport,
            (Stage::Geometry, BuiltIn::Layer) => Capability::Geometry,
            (Stage::Mesh, BuiltIn::Layer | BuiltIn::ViewportIndex) if self.module.nvidia_meshes => {
                Capability::MeshShadingNV
            }
            (Stage::Mesh, BuiltIn::Layer | BuiltIn::ViewportIndex) => Capability::MeshShadingEXT,
            // Vertex and tessellation shaders write them through extensions; fragment shaders read the values of
            // geometry shaders.
            (_, BuiltIn::Layer | BuiltIn::ViewportIndex) if output && self.version < Version::V1_5 => {
                Capability::ShaderViewportIndexLayerEXT
            }
            (_, BuiltIn::Layer) if output => Capability::ShaderLayer,
            (_, BuiltIn::ViewportIndex) if output => Capability::ShaderViewportIndex,
            (_, BuiltIn::Layer) => Capability::Geometry,
            (_, BuiltIn::ViewportIndex) => Capability::MultiViewport,
            (Stage::Fragment, BuiltIn::PrimitiveId) => Capability::Geometry,
            _ => return,
        };
        self.needs.capability(capability);
    }

    /// Returns true if a built-in input changes while the invocation runs: a `discard` turns it into a helper
    /// invocation, a reported intersection shortens the ray, and after a call of another shader it may be in another
    /// subgroup. The variable is volatile, or each load with Vulkan's memory model
    /// (VUID-StandaloneSpirv-VulkanMemoryModel-04678, 04679).
    fn changes(&self, built_in: BuiltIn) -> bool {
        match built_in {
            BuiltIn::HelperInvocation => self.vulkan_memory || self.version >= Version::V1_6,
            BuiltIn::RayTmaxKHR => self.stage == Stage::Intersection,
            BuiltIn::SMIDNV | BuiltIn::WarpIDNV => self.stage.changes_lanes(),
            _ => is_of_lanes(built_in) && self.stage.changes_lanes(),
        }
    }

    /// Decorates a built-in input that changes, unless its loads are marked.
    pub fn decorate_changing(&mut self, id: Word, built_in: BuiltIn) {
        if self.changes(built_in) && !self.is_of_accesses(Decoration::Volatile) {
            self.decorate(id, Decoration::Volatile, &[]);
        }
    }

    /// The flags of a load from a built-in input.
    pub fn flags_of_built_in(&self, built_in: BuiltIn) -> InstFlags {
        match self.changes(built_in) && self.is_of_accesses(Decoration::Volatile) {
            true => InstFlags::VOLATILE,
            false => InstFlags::empty(),
        }
    }

    /// Integer inputs of fragment shaders are flat, including built-in ones (VUID-StandaloneSpirv-Flat-04744).
    pub fn decorate_built_in(&mut self, id: Word, built_in: BuiltIn, global: &Global) {
        if global.access.contains(Access::INVARIANT) && global.space == Space::Output {
            self.decorate(id, Decoration::Invariant, &[]);
        }
        if matches!(built_in, BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner) {
            self.decorate(id, Decoration::Patch, &[]);
        }
        if self.stage == Stage::Mesh && global.space == Space::Output && is_of_primitive(built_in) {
            self.decorate(id, Decoration::PerPrimitiveEXT, &[]);
        }
        if built_in == BuiltIn::Layer && global.space == Space::Output {
            self.decorate_layer(id);
        }
        if built_in == BuiltIn::SampleMask && global.space == Space::Output {
            self.decorate_coverage(id);
        }
        let fragment = self.stage == Stage::Fragment;
        let integer = self.element_scalar(global.ty).is_some_and(Scalar::is_int);
        if fragment && integer && global.space == Space::Input && built_in != BuiltIn::SampleMask {
            self.decorate(id, Decoration::Flat, &[]);
        }
    }

    fn decorate_coverage(&mut self, id: Word) {
        if self.module.entry_points.iter().any(|entry| entry.fragment.override_coverage) {
            self.needs.capability(Capability::SampleMaskOverrideCoverageNV);
            self.decorate(id, Decoration::OverrideCoverageNV, &[]);
        }
    }

    fn decorate_layer(&mut self, id: Word) {
        let modes = self.module.layer;
        if modes.viewport_relative {
            self.needs.capability(Capability::ShaderViewportMaskNV);
            self.decorate(id, Decoration::ViewportRelativeNV, &[]);
        }
        if let Some(offset) = modes.secondary_offset {
            self.needs.capability(Capability::ShaderStereoViewNV);
            self.decorate(id, Decoration::SecondaryViewportRelativeNV, &[offset]);
        }
    }

    /// Flattens built-in inputs that cross-lane operations read.
    pub fn flatten_lane_built_in(&mut self, id: Word, built_in: BuiltIn) {
        if self.stage == Stage::Fragment && is_of_lanes(built_in) {
            self.decorate(id, Decoration::Flat, &[]);
        }
    }

    fn element_scalar(&self, ty: TypeId) -> Option<Scalar> {
        match self.module.types.get(ty) {
            Type::Array { element, .. } => self.element_scalar(element),
            _ => self.module.types.scalar_of(ty),
        }
    }
}

/// Returns true for the built-in inputs that cross-lane operations read.
pub(super) const fn is_of_lanes(built_in: BuiltIn) -> bool {
    matches!(
        built_in,
        BuiltIn::SubgroupSize
            | BuiltIn::SubgroupLocalInvocationId
            | BuiltIn::SubgroupEqMask
            | BuiltIn::SubgroupGeMask
            | BuiltIn::SubgroupGtMask
            | BuiltIn::SubgroupLeMask
            | BuiltIn::SubgroupLtMask
    )
}

impl Body<'_, '_> {
    /// Marks a pointer into an array of resources with a non-uniform index, or the image read through it
    /// (SPV_EXT_descriptor_indexing).
    pub fn mark_non_uniform(&mut self, inst: &Inst, word: Word) {
        if word == 0 {
            return;
        }
        self.m.decorate(word, Decoration::NonUniform, &[]);
        self.m.needs.capability(Capability::ShaderNonUniform);
        let root = match inst.op {
            ir::Op::Access { base, .. } => self.pointee_of(base),
            _ => None,
        };
        if let Some(capability) = root.and_then(|(space, ty)| self.non_uniform_indexing(space, ty)) {
            self.m.needs.capability(capability);
        }
    }

    /// Marks the result of an instruction between such an image and the operation, because the operation's direct
    /// operand must be marked.
    pub fn pass_non_uniform(&mut self, from: Value, word: Word) {
        let marked = matches!(from, Value::Inst(id) if self.f.insts[id].flags.contains(InstFlags::NON_UNIFORM));
        if marked && word != 0 {
            self.m.decorate(word, Decoration::NonUniform, &[]);
        }
    }

    fn non_uniform_indexing(&self, space: Space, ty: TypeId) -> Option<Capability> {
        Some(match (space, self.m.module.types.get(ty)) {
            (_, Type::Array { element, .. }) => return self.non_uniform_indexing(space, element),
            (Space::Uniform, _) => Capability::UniformBufferArrayNonUniformIndexing,
            (Space::Storage, _) => Capability::StorageBufferArrayNonUniformIndexing,
            (_, Type::Image(image)) => match (image.dim, image.storage) {
                (ImageDim::SubpassInput, _) => Capability::InputAttachmentArrayNonUniformIndexing,
                (ImageDim::Buffer, true) => Capability::StorageTexelBufferArrayNonUniformIndexing,
                (ImageDim::Buffer, false) => Capability::UniformTexelBufferArrayNonUniformIndexing,
                (_, true) => Capability::StorageImageArrayNonUniformIndexing,
                (_, false) => Capability::SampledImageArrayNonUniformIndexing,
            },
            (_, Type::SampledImage(_) | Type::Sampler) => Capability::SampledImageArrayNonUniformIndexing,
            _ => return None,
        })
    }
}
