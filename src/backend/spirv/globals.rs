//! Module-scope variables: storage classes, resource bindings, built-ins, memory qualifiers (SPIR-V 1.6 section 3.20,
//! Vulkan 1.3 section 15, shader interfaces). A variable is declared at its first use; `interface` handles stage inputs
//! and outputs.

use super::Emitter;
use crate::ir::{self, Access, ArrayLen, Binding, Global, GlobalId, Space, Stage, Type, TypeId};
use crate::source::Span;
use rspirv::spirv::{BuiltIn, Capability, Decoration, Op, StorageClass, Word};
use rustc_hash::FxHashSet;

/// Variables declared so far; 0 marks an unused one.
#[derive(Debug, Default)]
pub(super) struct GlobalMap {
    known: Vec<Word>,
    built_ins: Vec<((Stage, BuiltIn), Word)>,
    /// The depth and stencil reference outputs of all entry points.
    pub depth: Vec<Word>,
    pub stencil: Vec<Word>,
    /// True if there is a critical section.
    pub interlocked: bool,
    /// Decorations of images and samplers for image processing.
    pub processed: FxHashSet<(Word, Word)>,
    /// Variables in workgroup memory, and whether they are blocks.
    shared: Vec<(Word, bool)>,
}

impl GlobalMap {
    pub fn new(count: usize) -> GlobalMap {
        GlobalMap { known: vec![0; count], ..GlobalMap::default() }
    }
}

/// A variable and its storage class, for an entry point's interface.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Variable {
    pub id: Word,
    pub class: StorageClass,
}

impl Emitter<'_> {
    pub fn global(&mut self, id: GlobalId) -> Variable {
        let module = self.module;
        let global = &module.globals[id];
        let class = self.class_of(global.space, global.ty);
        if self.globals.known[id.index()] == 0 {
            // Built-in variables are declared nowhere.
            let span = if global.span == Span::NONE { self.span } else { global.span };
            let before = std::mem::replace(&mut self.span, span);
            self.globals.known[id.index()] = self.declare_global(global);
            self.describe_global(self.globals.known[id.index()], global);
            self.feed_back(id, self.globals.known[id.index()]);
            self.decorate_foreign(id, self.globals.known[id.index()]);
            match global.binding {
                Binding::BuiltIn(_) if !global.name.is_empty() => self.refuse_late_of(&format!("`{}`", global.name)),
                _ => self.refuse_late(),
            }
            self.span = before;
        }
        Variable { id: self.globals.known[id.index()], class }
    }

    /// Declares unused variables, if requested: resources, and inputs and outputs at locations; and inputs that pass
    /// through. They belong to the interface of the only entry point.
    pub fn declare_unused(&mut self) {
        let module = self.module;
        let [entry] = &module.entry_points[..] else { return };
        let kept = self.options.manner.keep_unused;
        for (id, global) in
            module.globals.iter().filter(|(id, global)| kept.keeps(global) || module.passed.contains(id))
        {
            if self.globals.known[id.index()] == 0 && self.refused(global).is_none() {
                let variable = self.global(id);
                self.uses[entry.function.index()].variables.insert(variable);
            }
        }
    }

    /// The input variable of a built-in in this stage, shared by all uses.
    pub fn built_in(&mut self, built_in: BuiltIn, ty: Word) -> Variable {
        let (class, key) = (StorageClass::Input, (self.stage, built_in));
        if let Some((_, id)) = self.globals.built_ins.iter().find(|(known, _)| *known == key) {
            return Variable { id: *id, class };
        }
        let id = self.variable(class, ty, None);
        self.decorate(id, Decoration::BuiltIn, &[built_in as Word]);
        self.flatten_lane_built_in(id, built_in);
        self.decorate_changing(id, built_in);
        self.needs.built_in(built_in);
        self.globals.built_ins.push((key, id));
        Variable { id, class }
    }

    fn declare_global(&mut self, global: &Global) -> Word {
        if self.refuse_for_client(global) {
            return 0;
        }
        if let Binding::BuiltIn(built_in) = global.binding {
            return self.declare_built_in(global, built_in);
        }
        if let Some(what) = self.refused(global) {
            return self.unsupported(what);
        }
        let laid_out = self.is_laid_out(global);
        let ty = if laid_out { self.memory_type(global.ty) } else { self.value_type(global.ty) };
        let init = global.init.filter(|init| !self.is_undef(*init));
        let init = init.map(|init| if global.space == Space::Workgroup { self.null(ty) } else { self.constant(init) });
        let id = self.variable(self.class_of(global.space, global.ty), ty, init);
        if let Binding::Resource { set, binding } = global.binding {
            self.decorate_place(id, set, binding);
        }
        if let Binding::Uniform { location, binding } = global.binding {
            self.decorate(id, Decoration::Location, &[location]);
            binding.into_iter().for_each(|binding| self.decorate_place(id, 0, binding));
        }
        if let Binding::Counter { binding, offset } = global.binding {
            self.decorate(id, Decoration::Binding, &[binding]);
            self.decorate(id, Decoration::Offset, &[offset]);
        }
        if let Binding::Tile { location } = global.binding {
            self.decorate(id, Decoration::Location, &[location]);
        }
        if let Binding::Attachment { set, binding, index } = global.binding {
            self.decorate_place(id, set, binding);
            self.decorate(id, Decoration::InputAttachmentIndex, &[index]);
        }
        match global.space {
            Space::Input | Space::Output => self.decorate_interface(id, global),
            Space::Handle => {
                self.decorate_access(id, global);
                self.need_descriptor_array(global.ty);
            }
            _ => {}
        }
        if global.space.is_laid_out() {
            self.decorate_access(id, global);
            self.need_storage_of(global.space, global.ty);
            self.need_descriptor_array(global.ty);
        }
        if global.space == Space::Workgroup {
            self.share(id, global, laid_out);
        }
        if global.space == Space::TaskPayload && laid_out {
            self.decorate_task_memory(global);
            self.need_storage_of(Space::Output, global.ty);
        }
        if !laid_out && !matches!(global.space, Space::Input | Space::Output | Space::Handle) {
            self.need_narrow_type(global.ty);
        }
        if matches!(global.space, Space::Private | Space::Workgroup) {
            self.decorate_references(id, global.ty, false);
        }
        self.name(id, &global.name);
        id
    }

    fn decorate_place(&mut self, id: Word, set: u32, binding: u32) {
        self.decorate(id, Decoration::DescriptorSet, &[set]);
        self.decorate(id, Decoration::Binding, &[binding]);
    }

    /// Returns true if the memory of a variable has a layout.
    pub fn is_laid_out(&self, global: &Global) -> bool {
        let may_be = matches!(global.space, Space::Workgroup | Space::TaskPayload);
        global.space.is_laid_out() || may_be && self.is_block(global.ty)
    }

    /// Workgroup memory consists either of blocks, which alias each other, or of other variables
    /// (SPV_KHR_workgroup_memory_explicit_layout).
    fn share(&mut self, id: Word, global: &Global, is_block: bool) {
        let known = self.globals.shared.first().map(|(_, is_block)| *is_block);
        if known.is_some_and(|known| known != is_block) {
            self.unsupported("`shared` blocks beside other `shared` variables");
        }
        self.globals.shared.push((id, is_block));
        if is_block {
            self.needs.capability(Capability::WorkgroupMemoryExplicitLayoutKHR);
            self.need_storage_of(Space::Workgroup, global.ty);
        }
    }

    /// Declares that the blocks of workgroup memory alias, if there are several.
    pub fn alias_shared_blocks(&mut self) {
        let blocks = std::mem::take(&mut self.globals.shared);
        for (id, _) in blocks.iter().filter(|(_, is_block)| *is_block && blocks.len() > 1) {
            self.decorate(*id, Decoration::Aliased, &[]);
        }
    }

    fn refused(&self, global: &Global) -> Option<&'static str> {
        let block = self.is_block(global.ty);
        match (global.space, global.binding) {
            (Space::Uniform | Space::Storage | Space::PushConstant, _) if !block => Some("buffers that are not blocks"),
            (Space::Input | Space::Output, Binding::None) if !block => {
                Some("stage inputs and outputs without locations")
            }
            (Space::Physical | Space::Function, _) => Some("this kind of module-scope variable"),
            _ => None,
        }
    }

    /// Returns true if a type is a block or an array of blocks.
    pub fn is_block(&self, ty: TypeId) -> bool {
        match self.module.types.get(ty) {
            Type::Struct(of) => self.module.types.structs[of].block,
            Type::Array { element, .. } => self.is_block(element),
            _ => false,
        }
    }

    /// Arrays of resources whose length the pipeline sets (SPV_EXT_descriptor_indexing, in 1.5).
    fn need_descriptor_array(&mut self, ty: TypeId) {
        if let Type::Array { len: ArrayLen::Runtime, .. } = self.module.types.get(ty) {
            self.needs.capability(Capability::RuntimeDescriptorArray);
        }
    }

    fn declare_built_in(&mut self, global: &Global, built_in: ir::BuiltIn) -> Word {
        let built_in = spirv_built_in(built_in);
        let ty = self.value_type(global.ty);
        let id = match global.space {
            Space::Input => self.built_in(built_in, ty).id,
            _ => self.built_in_output(built_in, ty),
        };
        self.need_stage_of(built_in, global.space);
        self.decorate_built_in(id, built_in, global);
        self.name(id, &global.name);
        id
    }

    fn built_in_output(&mut self, built_in: BuiltIn, ty: Word) -> Word {
        let id = self.variable(StorageClass::Output, ty, None);
        match built_in {
            BuiltIn::FragDepth => self.globals.depth.push(id),
            BuiltIn::FragStencilRefEXT => self.globals.stencil.push(id),
            _ => {}
        }
        self.decorate(id, Decoration::BuiltIn, &[built_in as Word]);
        self.needs.built_in(built_in);
        id
    }

    fn variable(&mut self, class: StorageClass, ty: Word, init: Option<Word>) -> Word {
        let pointer = self.pointer_to(class, ty);
        let id = self.id();
        match init {
            Some(init) => self.out.globals.typed(Op::Variable, pointer, id, &[class as Word, init]),
            None => self.out.globals.typed(Op::Variable, pointer, id, &[class as Word]),
        }
        id
    }

    /// Qualifiers of the whole variable. Only storage buffers have them: the other spaces with layouts are read-only
    /// anyway.
    fn decorate_access(&mut self, id: Word, global: &Global) {
        if !matches!(global.space, Space::Storage | Space::Handle) {
            return;
        }
        for decoration in access_decorations(global.access) {
            if !self.is_of_accesses(decoration) {
                self.decorate(id, decoration, &[]);
            } else if global.space == Space::Handle {
                self.unsupported("coherent images beside cooperative matrices");
            }
        }
        if global.access.contains(Access::RESTRICT) {
            self.decorate(id, Decoration::Restrict, &[]);
        }
    }
}

/// Decorations of memory qualifiers that variables and members share. `Restrict` is for variables only.
pub(super) fn access_decorations(access: Access) -> impl Iterator<Item = Decoration> {
    const TABLE: [(Access, Decoration); 4] = [
        (Access::READONLY, Decoration::NonWritable),
        (Access::WRITEONLY, Decoration::NonReadable),
        (Access::COHERENT, Decoration::Coherent),
        (Access::VOLATILE, Decoration::Volatile),
    ];
    TABLE.into_iter().filter(move |(flag, _)| access.contains(*flag)).map(|(_, decoration)| decoration)
}

/// The number of each built-in variable, in the order of [`ir::BuiltIn`].
const BUILT_INS: [(ir::BuiltIn, BuiltIn); 92] = [
    (ir::BuiltIn::NumWorkgroups, BuiltIn::NumWorkgroups),
    (ir::BuiltIn::WorkgroupId, BuiltIn::WorkgroupId),
    (ir::BuiltIn::LocalInvocationId, BuiltIn::LocalInvocationId),
    (ir::BuiltIn::GlobalInvocationId, BuiltIn::GlobalInvocationId),
    (ir::BuiltIn::LocalInvocationIndex, BuiltIn::LocalInvocationIndex),
    (ir::BuiltIn::NumSubgroups, BuiltIn::NumSubgroups),
    (ir::BuiltIn::SubgroupId, BuiltIn::SubgroupId),
    (ir::BuiltIn::DeviceIndex, BuiltIn::DeviceIndex),
    (ir::BuiltIn::Position, BuiltIn::Position),
    (ir::BuiltIn::PointSize, BuiltIn::PointSize),
    (ir::BuiltIn::ClipDistance, BuiltIn::ClipDistance),
    (ir::BuiltIn::CullDistance, BuiltIn::CullDistance),
    (ir::BuiltIn::VertexIndex, BuiltIn::VertexIndex),
    (ir::BuiltIn::InstanceIndex, BuiltIn::InstanceIndex),
    (ir::BuiltIn::VertexId, BuiltIn::VertexId),
    (ir::BuiltIn::BaseVertex, BuiltIn::BaseVertex),
    (ir::BuiltIn::BaseInstance, BuiltIn::BaseInstance),
    (ir::BuiltIn::DrawIndex, BuiltIn::DrawIndex),
    (ir::BuiltIn::ViewIndex, BuiltIn::ViewIndex),
    (ir::BuiltIn::Layer, BuiltIn::Layer),
    (ir::BuiltIn::ViewportIndex, BuiltIn::ViewportIndex),
    (ir::BuiltIn::FragCoord, BuiltIn::FragCoord),
    (ir::BuiltIn::PointCoord, BuiltIn::PointCoord),
    (ir::BuiltIn::FrontFacing, BuiltIn::FrontFacing),
    (ir::BuiltIn::SampleId, BuiltIn::SampleId),
    (ir::BuiltIn::SamplePosition, BuiltIn::SamplePosition),
    (ir::BuiltIn::SampleMask, BuiltIn::SampleMask),
    (ir::BuiltIn::FragDepth, BuiltIn::FragDepth),
    (ir::BuiltIn::HelperInvocation, BuiltIn::HelperInvocation),
    (ir::BuiltIn::ShadingRate, BuiltIn::ShadingRateKHR),
    (ir::BuiltIn::PrimitiveShadingRate, BuiltIn::PrimitiveShadingRateKHR),
    (ir::BuiltIn::BaryCoord, BuiltIn::BaryCoordKHR),
    (ir::BuiltIn::BaryCoordNoPerspective, BuiltIn::BaryCoordNoPerspKHR),
    (ir::BuiltIn::PrimitiveId, BuiltIn::PrimitiveId),
    (ir::BuiltIn::InvocationId, BuiltIn::InvocationId),
    (ir::BuiltIn::TessLevelOuter, BuiltIn::TessLevelOuter),
    (ir::BuiltIn::TessLevelInner, BuiltIn::TessLevelInner),
    (ir::BuiltIn::TessCoord, BuiltIn::TessCoord),
    (ir::BuiltIn::PatchVertices, BuiltIn::PatchVertices),
    (ir::BuiltIn::FragSize, BuiltIn::FragSizeEXT),
    (ir::BuiltIn::FragInvocationCount, BuiltIn::FragInvocationCountEXT),
    (ir::BuiltIn::FragStencilRef, BuiltIn::FragStencilRefEXT),
    (ir::BuiltIn::PrimitivePointIndices, BuiltIn::PrimitivePointIndicesEXT),
    (ir::BuiltIn::PrimitiveLineIndices, BuiltIn::PrimitiveLineIndicesEXT),
    (ir::BuiltIn::PrimitiveTriangleIndices, BuiltIn::PrimitiveTriangleIndicesEXT),
    (ir::BuiltIn::CullPrimitive, BuiltIn::CullPrimitiveEXT),
    (ir::BuiltIn::PrimitiveIndicesNv, BuiltIn::PrimitiveIndicesNV),
    (ir::BuiltIn::PrimitiveCountNv, BuiltIn::PrimitiveCountNV),
    (ir::BuiltIn::TaskCountNv, BuiltIn::TaskCountNV),
    (ir::BuiltIn::MeshViewCountNv, BuiltIn::MeshViewCountNV),
    (ir::BuiltIn::MeshViewIndicesNv, BuiltIn::MeshViewIndicesNV),
    (ir::BuiltIn::LaunchId, BuiltIn::LaunchIdKHR),
    (ir::BuiltIn::LaunchSize, BuiltIn::LaunchSizeKHR),
    (ir::BuiltIn::InstanceId, BuiltIn::InstanceId),
    (ir::BuiltIn::InstanceCustomIndex, BuiltIn::InstanceCustomIndexKHR),
    (ir::BuiltIn::RayGeometryIndex, BuiltIn::RayGeometryIndexKHR),
    (ir::BuiltIn::WorldRayOrigin, BuiltIn::WorldRayOriginKHR),
    (ir::BuiltIn::WorldRayDirection, BuiltIn::WorldRayDirectionKHR),
    (ir::BuiltIn::ObjectRayOrigin, BuiltIn::ObjectRayOriginKHR),
    (ir::BuiltIn::ObjectRayDirection, BuiltIn::ObjectRayDirectionKHR),
    (ir::BuiltIn::RayTmin, BuiltIn::RayTminKHR),
    (ir::BuiltIn::RayTmax, BuiltIn::RayTmaxKHR),
    (ir::BuiltIn::IncomingRayFlags, BuiltIn::IncomingRayFlagsKHR),
    (ir::BuiltIn::HitKind, BuiltIn::HitKindKHR),
    (ir::BuiltIn::ObjectToWorld, BuiltIn::ObjectToWorldKHR),
    (ir::BuiltIn::WorldToObject, BuiltIn::WorldToObjectKHR),
    (ir::BuiltIn::HitTriangleVertexPositions, BuiltIn::HitTriangleVertexPositionsKHR),
    (ir::BuiltIn::CullMask, BuiltIn::CullMaskKHR),
    (ir::BuiltIn::ClusterId, BuiltIn::ClusterIDNV),
    (ir::BuiltIn::CurrentRayTime, BuiltIn::CurrentRayTimeNV),
    (ir::BuiltIn::ViewportMask, BuiltIn::ViewportMaskNV),
    (ir::BuiltIn::SecondaryPosition, BuiltIn::SecondaryPositionNV),
    (ir::BuiltIn::SecondaryViewportMask, BuiltIn::SecondaryViewportMaskNV),
    (ir::BuiltIn::PositionPerView, BuiltIn::PositionPerViewNV),
    (ir::BuiltIn::ViewportMaskPerView, BuiltIn::ViewportMaskPerViewNV),
    (ir::BuiltIn::BaryCoordNoPerspAmd, BuiltIn::BaryCoordNoPerspAMD),
    (ir::BuiltIn::BaryCoordNoPerspCentroidAmd, BuiltIn::BaryCoordNoPerspCentroidAMD),
    (ir::BuiltIn::BaryCoordNoPerspSampleAmd, BuiltIn::BaryCoordNoPerspSampleAMD),
    (ir::BuiltIn::BaryCoordSmoothAmd, BuiltIn::BaryCoordSmoothAMD),
    (ir::BuiltIn::BaryCoordSmoothCentroidAmd, BuiltIn::BaryCoordSmoothCentroidAMD),
    (ir::BuiltIn::BaryCoordSmoothSampleAmd, BuiltIn::BaryCoordSmoothSampleAMD),
    (ir::BuiltIn::BaryCoordPullModelAmd, BuiltIn::BaryCoordPullModelAMD),
    (ir::BuiltIn::FullyCovered, BuiltIn::FullyCoveredEXT),
    (ir::BuiltIn::CoreIdArm, BuiltIn::CoreIDARM),
    (ir::BuiltIn::CoreCountArm, BuiltIn::CoreCountARM),
    (ir::BuiltIn::CoreMaxIdArm, BuiltIn::CoreMaxIDARM),
    (ir::BuiltIn::WarpIdArm, BuiltIn::WarpIDARM),
    (ir::BuiltIn::WarpMaxIdArm, BuiltIn::WarpMaxIDARM),
    (ir::BuiltIn::WarpIdNv, BuiltIn::WarpIDNV),
    (ir::BuiltIn::SmIdNv, BuiltIn::SMIDNV),
    (ir::BuiltIn::WarpsPerSmNv, BuiltIn::WarpsPerSMNV),
    (ir::BuiltIn::SmCountNv, BuiltIn::SMCountNV),
];

pub(super) const fn spirv_built_in(built_in: ir::BuiltIn) -> BuiltIn {
    BUILT_INS[built_in as usize].1
}

/// The built-in variable of a number. Lane indices and masks are not among them.
pub fn built_in_of(number: BuiltIn) -> Option<ir::BuiltIn> {
    BUILT_INS.iter().find(|(_, of)| *of == number).map(|(built_in, _)| *built_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_built_ins() {
        for (index, (built_in, _)) in BUILT_INS.iter().enumerate() {
            assert_eq!(*built_in as usize, index, "{built_in:?}");
        }
        assert_eq!(BUILT_INS.len(), ir::BuiltIn::SmCountNv as usize + 1);
    }
}
