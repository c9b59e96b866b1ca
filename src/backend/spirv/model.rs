//! The memory model (SPIR-V 1.6 section 2.18, SPV_KHR_vulkan_memory_model). Modules with cooperative matrices must use
//! Vulkan's model, where every access to shared memory is marked, and barriers explicitly make writes available and
//! visible. In the GLSL model, which all other modules use, barriers do this implicitly.

use super::Emitter;
use super::function::FEW;
use crate::ir::{InstFlags, Module, Scope, Space, Types};
use rspirv::spirv::{
    AddressingModel, Capability, Decoration, MemoryAccess, MemoryModel, MemorySemantics, Scope as SpirvScope, Word,
};
use smallvec::SmallVec;

/// The direction of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Reads,
    Writes,
}

/// Returns true if a module needs the memory model of Vulkan.
pub(super) fn needs_vulkan(module: &Module) -> bool {
    let types: &Types = &module.types;
    types.iter().any(|(id, _)| types.cooperative(id).is_some())
}

/// Memory that other invocations may see.
const fn is_shared(space: Space) -> bool {
    matches!(space, Space::Storage | Space::Physical | Space::Workgroup | Space::TaskPayload)
}

impl Emitter<'_> {
    /// `OpMemoryModel` of the module.
    pub fn memory_model(&self) -> [Word; 2] {
        let physical = self.needs.has(Capability::PhysicalStorageBufferAddresses);
        let addressing = if physical { AddressingModel::PhysicalStorageBuffer64 } else { AddressingModel::Logical };
        let memory = if self.vulkan_memory { MemoryModel::Vulkan } else { MemoryModel::GLSL450 };
        [addressing as Word, memory as Word]
    }

    /// A scope as SPIR-V's number. Only Vulkan's model distinguishes queue families from the device, which needs a
    /// capability.
    pub fn scope_number(&mut self, scope: Scope) -> Word {
        let number = match scope {
            Scope::Invocation => SpirvScope::Invocation,
            Scope::Subgroup => SpirvScope::Subgroup,
            Scope::Workgroup => SpirvScope::Workgroup,
            Scope::QueueFamily if self.vulkan_memory => SpirvScope::QueueFamily,
            Scope::Device if self.vulkan_memory => {
                self.needs.capability(Capability::VulkanMemoryModelDeviceScope);
                SpirvScope::Device
            }
            Scope::QueueFamily | Scope::Device => SpirvScope::Device,
        };
        number as Word
    }

    /// The effect of an order on writes in Vulkan's model: earlier writes become available, other invocations' writes
    /// visible.
    pub fn availability(&self, order: MemorySemantics) -> MemorySemantics {
        const TABLE: [(MemorySemantics, MemorySemantics); 3] = [
            (MemorySemantics::ACQUIRE, MemorySemantics::MAKE_VISIBLE),
            (MemorySemantics::RELEASE, MemorySemantics::MAKE_AVAILABLE),
            (MemorySemantics::ACQUIRE_RELEASE, MemorySemantics::MAKE_AVAILABLE.union(MemorySemantics::MAKE_VISIBLE)),
        ];
        let row = TABLE.into_iter().find(|(of, _)| self.vulkan_memory && *of == order);
        row.map_or(MemorySemantics::empty(), |(_, bits)| bits)
    }

    /// Returns true if a decoration has become a matter of each access.
    pub fn is_of_accesses(&self, decoration: Decoration) -> bool {
        self.vulkan_memory && matches!(decoration, Decoration::Coherent | Decoration::Volatile)
    }

    /// Adds the memory operands of an access, if there are any: the mask, and the operands of its bits in order
    /// (section 3.26).
    pub fn memory_operands(
        &mut self,
        operands: &mut SmallVec<[Word; FEW]>,
        space: Space,
        flags: InstFlags,
        alignment: Option<u32>,
        direction: Direction,
    ) {
        let mut access = MemoryAccess::empty();
        access.set(MemoryAccess::VOLATILE, flags.contains(InstFlags::VOLATILE));
        access.set(MemoryAccess::ALIGNED, alignment.is_some());
        let shared = self.vulkan_memory && is_shared(space);
        access.set(MemoryAccess::NON_PRIVATE_POINTER, shared);
        let coherent = shared && flags.contains(InstFlags::COHERENT);
        access.set(
            match direction {
                Direction::Reads => MemoryAccess::MAKE_POINTER_VISIBLE,
                Direction::Writes => MemoryAccess::MAKE_POINTER_AVAILABLE,
            },
            coherent,
        );
        if access.is_empty() {
            return;
        }
        operands.push(access.bits());
        operands.extend(alignment);
        if coherent {
            let scope = if flags.contains(InstFlags::DEVICE) { Scope::Device } else { Scope::QueueFamily };
            let number = self.scope_number(scope);
            operands.push(self.u32(number));
        }
    }

    /// Declares Vulkan's model if the module needs it.
    pub fn choose_memory_model(&mut self) {
        if self.vulkan_memory {
            self.needs.capability(Capability::VulkanMemoryModel);
        }
    }
}
