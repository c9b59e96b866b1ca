//! Entry points: interface, execution modes, workgroup size (SPIR-V 1.6 sections 3.49.5 and 3.6).

use super::globals::Variable;
use super::words::clip;
use super::{Emitter, Version};
use crate::diagnostic::Code;
use crate::ir::{
    ConstId, DepthPromise, DerivativeGroup, EntryPoint, FragmentModes, FuncId, Interlock, PixelParts, PrimitiveMode,
    Reconvergence, Scalar, Stage,
};
use rspirv::spirv::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass, Word};
use smallvec::SmallVec;

/// The parts of the pixel that are read without waiting for earlier fragments.
const NON_COHERENT: [(PixelParts, ExecutionMode); 3] = [
    (PixelParts::COLOR, ExecutionMode::NonCoherentColorAttachmentReadEXT),
    (PixelParts::DEPTH, ExecutionMode::NonCoherentDepthAttachmentReadEXT),
    (PixelParts::STENCIL, ExecutionMode::NonCoherentStencilAttachmentReadEXT),
];

impl Emitter<'_> {
    pub fn entry_point(&mut self, entry: &EntryPoint) {
        self.span = self.module.functions[entry.function].span;
        let function = self.function(entry.function);
        let interface = self.interface(entry.function);
        let start = self.out.entry_points.begin(Op::EntryPoint);
        let (model, capability) = execution_model(entry.stage, self.module.nvidia_meshes, self.of_rays());
        if let Some(capability) = capability {
            self.needs.capability(capability);
        }
        self.out.entry_points.extend(&[model as Word, function]);
        self.out.entry_points.string(clip(&entry.name, 3 + interface.len()));
        self.out.entry_points.extend(&interface);
        self.out.entry_points.end(start);
        match entry.stage {
            stage if stage.has_workgroups() => {
                self.workgroup_size(function, entry.workgroup_size);
                self.derivative_group(function, entry.derivatives);
            }
            Stage::Fragment => self.fragment_modes(function, entry.fragment, &interface),
            _ => self.feedback_mode(function),
        }
        entry.primitives.iter().for_each(|mode| self.primitive_mode(function, *mode));
        self.reconvergence(function, entry.reconvergence);
        self.foreign_modes(function);
        self.refuse_late();
    }

    fn primitive_mode(&mut self, function: Word, mode: PrimitiveMode) {
        let (mode, number) = primitive_mode(mode);
        let operands: SmallVec<[Word; 3]> = [function, mode as Word].into_iter().chain(number).collect();
        self.out.modes.op(Op::ExecutionMode, &operands);
    }

    fn derivative_group(&mut self, function: Word, group: Option<DerivativeGroup>) {
        let (mode, capability) = match group {
            None => return,
            Some(DerivativeGroup::Quads) => {
                (ExecutionMode::DerivativeGroupQuadsKHR, Capability::ComputeDerivativeGroupQuadsKHR)
            }
            Some(DerivativeGroup::Linear) => {
                (ExecutionMode::DerivativeGroupLinearKHR, Capability::ComputeDerivativeGroupLinearKHR)
            }
        };
        self.needs.capability(capability);
        self.out.modes.op(Op::ExecutionMode, &[function, mode as Word]);
    }

    /// Enables transform feedback if any output is captured.
    fn feedback_mode(&mut self, function: Word) {
        if self.needs.has(Capability::TransformFeedback) {
            self.out.modes.op(Op::ExecutionMode, &[function, ExecutionMode::Xfb as Word]);
        }
    }

    /// The origin and the test modes of the shader; `interface` shows whether it writes the depth.
    fn fragment_modes(&mut self, function: Word, modes: FragmentModes, interface: &[Word]) {
        let interlock = modes.interlock.or_else(|| self.globals.interlocked.then_some(Interlock::default()));
        let mut mode = |mode: ExecutionMode| self.out.modes.op(Op::ExecutionMode, &[function, mode as Word]);
        mode(match modes.lower_left_origin {
            true => ExecutionMode::OriginLowerLeft,
            false => ExecutionMode::OriginUpperLeft,
        });
        if modes.full_quads {
            mode(ExecutionMode::RequireFullQuadsKHR);
        }
        if modes.quad_derivatives {
            mode(ExecutionMode::QuadDerivativesKHR);
        }
        if modes.early_tests {
            mode(ExecutionMode::EarlyFragmentTests);
        }
        for (part, of_part) in NON_COHERENT {
            if modes.non_coherent.contains(part) {
                mode(of_part);
            }
        }
        if modes.post_depth_coverage {
            mode(ExecutionMode::PostDepthCoverage);
        }
        if modes.early_and_late_tests {
            mode(ExecutionMode::EarlyAndLateFragmentTestsAMD);
        }
        if let Some(interlock) = interlock {
            mode(interlock_mode(interlock));
        }
        if self.globals.stencil.iter().any(|id| interface.contains(id)) {
            mode(ExecutionMode::StencilRefReplacingEXT);
        }
        if let Some(interlock) = interlock {
            self.needs.capability(match interlock.of_sample {
                true => Capability::FragmentShaderSampleInterlockEXT,
                false => Capability::FragmentShaderPixelInterlockEXT,
            });
        }
        if modes.post_depth_coverage {
            self.needs.capability(Capability::SampleMaskPostDepthCoverage);
        }
        if modes.early_and_late_tests {
            self.needs.extension("SPV_AMD_shader_early_and_late_fragment_tests");
        }
        if modes.full_quads || modes.quad_derivatives {
            self.needs.capability(Capability::QuadControlKHR);
        }
        if self.globals.depth.iter().any(|id| interface.contains(id)) {
            mode(ExecutionMode::DepthReplacing);
            match modes.depth {
                DepthPromise::Any => {}
                DepthPromise::Greater => mode(ExecutionMode::DepthGreater),
                DepthPromise::Less => mode(ExecutionMode::DepthLess),
                DepthPromise::Unchanged => mode(ExecutionMode::DepthUnchanged),
            }
        }
    }

    /// The variables that the call tree of an entry point uses: before 1.4 stage inputs and outputs only.
    fn interface(&mut self, entry: FuncId) -> Vec<Word> {
        let mut seen = vec![false; self.uses.len()];
        let mut reach = vec![entry];
        let mut found: Vec<Variable> = Vec::new();
        seen[entry.index()] = true;
        while let Some(function) = reach.pop() {
            let uses = &self.uses[function.index()];
            found.extend(&uses.variables);
            for call in &uses.calls {
                if !std::mem::replace(&mut seen[call.index()], true) {
                    reach.push(*call);
                }
            }
        }
        let all = self.version.has_1_4();
        let listed = |class| all || matches!(class, StorageClass::Input | StorageClass::Output);
        let mut ids: Vec<Word> = found.iter().filter(|v| listed(v.class)).map(|v| v.id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// `LocalSize` with numbers. For sizes from specialization constants: `LocalSizeId` if Vulkan has it (1.3, that is
    /// SPIR-V 1.6), before that [`Self::workgroup_size_constant`], which overrides the numbers.
    fn workgroup_size(&mut self, function: Word, size: [ConstId; 3]) {
        let constants = &self.module.constants;
        let special = size.iter().any(|id| constants.is_spec(*id));
        if special && self.version >= Version::V1_6 {
            let [x, y, z] = size.map(|id| self.constant(id));
            self.out.modes.op(Op::ExecutionModeId, &[function, ExecutionMode::LocalSizeId as Word, x, y, z]);
            return;
        }
        let [x, y, z] = size.map(|id| self.default_bits(id).unwrap_or(1) as Word);
        self.out.modes.op(Op::ExecutionMode, &[function, ExecutionMode::LocalSize as Word, x, y, z]);
    }

    /// The composite decorated `WorkgroupSize`, which is the size of all entry points of the module.
    pub fn workgroup_size_constant(&mut self) {
        let module = self.module;
        let entries = module.entry_points.iter().filter(|entry| entry.stage.has_workgroups());
        let mut sizes = entries.map(|entry| (entry.workgroup_size, entry.function));
        let Some((size, _)) = sizes.next() else { return };
        let is_special = |size: [ConstId; 3]| size.iter().any(|id| module.constants.is_spec(*id));
        if self.version >= Version::V1_6 {
            return;
        }
        if let Some((_, function)) = sizes.find(|(other, _)| *other != size && (is_special(*other) || is_special(size)))
        {
            self.span = module.functions[function].span;
            let message = "workgroup sizes that specialization constants give, and that differ between entry points, need \
                           SPIR-V 1.6";
            self.fail(Code::PROFILE_LACKS, message.into());
            return;
        }
        if !is_special(size) {
            return;
        }
        let ty = self.vector_type(Scalar::U32, 3);
        let parts = size.map(|id| self.constant(id));
        let id = self.id();
        self.out.globals.typed(Op::SpecConstantComposite, ty, id, &parts);
        self.decorate(id, Decoration::BuiltIn, &[BuiltIn::WorkgroupSize as Word]);
    }

    fn reconvergence(&mut self, function: Word, promise: Reconvergence) {
        let (extension, mode) = match promise {
            Reconvergence::Default => return,
            Reconvergence::SubgroupUniform => {
                ("SPV_KHR_subgroup_uniform_control_flow", ExecutionMode::SubgroupUniformControlFlowKHR)
            }
            Reconvergence::Maximal => ("SPV_KHR_maximal_reconvergence", ExecutionMode::MaximallyReconvergesKHR),
        };
        self.needs.extension(extension);
        self.out.modes.op(Op::ExecutionMode, &[function, mode as Word]);
    }
}

const fn interlock_mode(interlock: Interlock) -> ExecutionMode {
    match (interlock.of_sample, interlock.ordered) {
        (false, true) => ExecutionMode::PixelInterlockOrderedEXT,
        (false, false) => ExecutionMode::PixelInterlockUnorderedEXT,
        (true, true) => ExecutionMode::SampleInterlockOrderedEXT,
        (true, false) => ExecutionMode::SampleInterlockUnorderedEXT,
    }
}

/// The execution model of a stage and its capability; `of_rays` is the capability of ray tracing stages.
pub(super) const fn execution_model(
    stage: Stage,
    nvidia_meshes: bool,
    of_rays: Capability,
) -> (ExecutionModel, Option<Capability>) {
    match stage {
        Stage::Task if nvidia_meshes => (ExecutionModel::TaskNV, Some(Capability::MeshShadingNV)),
        Stage::Mesh if nvidia_meshes => (ExecutionModel::MeshNV, Some(Capability::MeshShadingNV)),
        Stage::Vertex => (ExecutionModel::Vertex, None),
        Stage::Fragment => (ExecutionModel::Fragment, None),
        Stage::Compute => (ExecutionModel::GLCompute, None),
        Stage::Geometry => (ExecutionModel::Geometry, Some(Capability::Geometry)),
        Stage::TessControl => (ExecutionModel::TessellationControl, Some(Capability::Tessellation)),
        Stage::TessEvaluation => (ExecutionModel::TessellationEvaluation, Some(Capability::Tessellation)),
        Stage::Task => (ExecutionModel::TaskEXT, Some(Capability::MeshShadingEXT)),
        Stage::Mesh => (ExecutionModel::MeshEXT, Some(Capability::MeshShadingEXT)),
        Stage::RayGeneration => (ExecutionModel::RayGenerationKHR, Some(of_rays)),
        Stage::Intersection => (ExecutionModel::IntersectionKHR, Some(of_rays)),
        Stage::AnyHit => (ExecutionModel::AnyHitKHR, Some(of_rays)),
        Stage::ClosestHit => (ExecutionModel::ClosestHitKHR, Some(of_rays)),
        Stage::Miss => (ExecutionModel::MissKHR, Some(of_rays)),
        Stage::Callable => (ExecutionModel::CallableKHR, Some(of_rays)),
    }
}

pub(super) const fn primitive_mode(mode: PrimitiveMode) -> (ExecutionMode, Option<Word>) {
    let plain = match mode {
        PrimitiveMode::Invocations(count) => return (ExecutionMode::Invocations, Some(count)),
        PrimitiveMode::OutputVertices(count) => return (ExecutionMode::OutputVertices, Some(count)),
        PrimitiveMode::OutputPrimitives(count) => return (ExecutionMode::OutputPrimitivesEXT, Some(count)),
        PrimitiveMode::InputPoints => ExecutionMode::InputPoints,
        PrimitiveMode::InputLines => ExecutionMode::InputLines,
        PrimitiveMode::InputLinesAdjacency => ExecutionMode::InputLinesAdjacency,
        PrimitiveMode::Triangles => ExecutionMode::Triangles,
        PrimitiveMode::InputTrianglesAdjacency => ExecutionMode::InputTrianglesAdjacency,
        PrimitiveMode::Quads => ExecutionMode::Quads,
        PrimitiveMode::Isolines => ExecutionMode::Isolines,
        PrimitiveMode::OutputPoints => ExecutionMode::OutputPoints,
        PrimitiveMode::OutputLineStrip => ExecutionMode::OutputLineStrip,
        PrimitiveMode::OutputLines => ExecutionMode::OutputLinesEXT,
        PrimitiveMode::OutputTriangles => ExecutionMode::OutputTrianglesEXT,
        PrimitiveMode::OutputTriangleStrip => ExecutionMode::OutputTriangleStrip,
        PrimitiveMode::SpacingEqual => ExecutionMode::SpacingEqual,
        PrimitiveMode::SpacingFractionalEven => ExecutionMode::SpacingFractionalEven,
        PrimitiveMode::SpacingFractionalOdd => ExecutionMode::SpacingFractionalOdd,
        PrimitiveMode::VertexOrderCw => ExecutionMode::VertexOrderCw,
        PrimitiveMode::VertexOrderCcw => ExecutionMode::VertexOrderCcw,
        PrimitiveMode::PointMode => ExecutionMode::PointMode,
    };
    (plain, None)
}
