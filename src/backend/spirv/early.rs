//! SPIR-V before 1.3: storage buffers are `BufferBlock` structs in `Uniform` memory (SPIR-V 1.2, section 3.20), votes
//! and lane reads use the instructions of SPV_KHR_subgroup_vote and SPV_KHR_shader_ballot, and Vulkan has no subgroup
//! memory scope.

use super::function::Body;
use super::interface::is_of_lanes;
use super::lane::Arg;
use super::{Emitter, Version};
use crate::ir::{Module, Scalar, Scope, Space, StructId, Type, TypeId};
use crate::lane::{GroupOp, VoteOp};
use rspirv::spirv::{BuiltIn, Capability, Op, Word};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// The structs of storage buffers, if a module can have these in `Uniform` memory. It cannot if a struct is also a
/// uniform buffer, which needs another decoration; such a module uses SPV_KHR_storage_buffer_storage_class.
pub(super) fn buffer_blocks(module: &Module, version: Version) -> Option<FxHashSet<StructId>> {
    if version.has_1_3() {
        return None;
    }
    let blocks_in = |is_meant: fn(Space) -> bool| {
        let globals = module.globals.iter().filter(move |(_, global)| is_meant(global.space));
        globals.filter_map(|(_, global)| block(module, global.ty))
    };
    let buffers: FxHashSet<StructId> = blocks_in(|space| space == Space::Storage).collect();
    let is_shared = blocks_in(|space| space != Space::Storage).any(|of| buffers.contains(&of))
        || buffers.iter().any(|of| module.types.iter().any(|(_, ty)| ty == Type::BufferReference { pointee: *of }));
    (!is_shared).then_some(buffers)
}

/// The struct of a variable, possibly in arrays.
fn block(module: &Module, ty: TypeId) -> Option<StructId> {
    match module.types.get(ty) {
        Type::Array { element, .. } => block(module, element),
        Type::Struct(of) => Some(of),
        _ => None,
    }
}

/// The capability that a built-in variable of lanes needs there.
pub(super) fn of_built_in(built_in: BuiltIn) -> Option<Capability> {
    is_of_lanes(built_in).then_some(Capability::SubgroupBallotKHR)
}

impl Emitter<'_> {
    /// A memory scope of this version that includes the requested one.
    pub fn memory_scope(&self, scope: Scope) -> Scope {
        match scope {
            Scope::Subgroup if self.version.has_1_3() => scope,
            Scope::Subgroup if self.stage.has_workgroups() => Scope::Workgroup,
            Scope::Subgroup => Scope::Device,
            _ => scope,
        }
    }
}

impl Body<'_, '_> {
    /// The extensions' own instruction, if this version of SPIR-V has no equivalent.
    pub fn early_instruction(&self, op: GroupOp) -> Option<Op> {
        let early = match op {
            GroupOp::Broadcast => Op::SubgroupReadInvocationKHR,
            GroupOp::BroadcastFirst => Op::SubgroupFirstInvocationKHR,
            GroupOp::Ballot => Op::SubgroupBallotKHR,
            GroupOp::Vote(VoteOp::All) => Op::SubgroupAllKHR,
            GroupOp::Vote(VoteOp::Any) => Op::SubgroupAnyKHR,
            GroupOp::Vote(VoteOp::Equal) => Op::SubgroupAllEqualKHR,
            _ => return None,
        };
        (!self.m.version.has_1_3()).then_some(early)
    }

    /// A move of a value, which these instructions do for scalars of 32 bits alone.
    pub fn early_move(&mut self, op: Op, args: &[Arg]) -> Word {
        let (value, (scalar, size)) = (args[0].word, args[0].shape);
        let (whole, part) = (self.m.vector_type(scalar, size), self.m.scalar_type(scalar));
        let lane: SmallVec<[Word; 1]> = args[1..].iter().map(|arg| arg.word).collect();
        if size == 1 {
            return self.early_move_of_scalar(op, scalar, value, &lane);
        }
        let moved: SmallVec<[Word; 4]> = (0..Word::from(size))
            .map(|n| {
                let component = self.emit(Op::CompositeExtract, part, &[value, n]);
                self.early_move_of_scalar(op, scalar, component, &lane)
            })
            .collect();
        self.emit(Op::CompositeConstruct, whole, &moved)
    }

    fn early_move_of_scalar(&mut self, op: Op, scalar: Scalar, value: Word, lane: &[Word]) -> Word {
        let ty = self.m.scalar_type(scalar);
        let mut operands: SmallVec<[Word; 2]> = SmallVec::from_slice(&[value]);
        operands.extend_from_slice(lane);
        if !scalar.is_bool() {
            return self.emit(op, ty, &operands);
        }
        let (word, zero, one) = (self.m.scalar_type(Scalar::U32), self.m.u32(0), self.m.u32(1));
        operands[0] = self.emit(Op::Select, word, &[value, one, zero]);
        let moved = self.emit(op, word, &operands);
        self.emit(Op::INotEqual, ty, &[moved, zero])
    }
}
