//! SPIR-V 1.0: storage buffers, and the cross-lane operations of the two extensions.

use super::{Shader, assemble, judge, listing, options};
use crate::backend::spirv::emit;
use crate::diagnostic::Code;
use crate::ir::{ArrayLen, Binding, BuiltIn, MemoryKinds, Module, Order, Scalar, Scope, Space, Types};
use crate::lane::{Group, LaneOp, MaskOp, ShuffleMode, VoteOp};
use crate::source::SourceMap;

fn shader() -> Shader {
    Shader::new(|m| vec![m.types.array(Types::U32, ArrayLen::Runtime)])
}

/// The listing of the valid module.
fn early(module: &Module) -> String {
    let words = assemble(module, &options("spirv-1.0"));
    judge(&words, "vulkan1.0");
    listing(&words)
}

#[test]
fn storage_buffers_are_blocks_in_uniform_memory() {
    let module = shader().main(|b, block| {
        b.array_length(block);
    });
    let text = early(&module);
    assert!(text.contains(" BufferBlock\n") && text.contains("; Version: 1.0\n"), "{text}");
    assert!(!text.contains("StorageBuffer") && !text.contains("OpExtension"), "{text}");
}

#[test]
fn a_struct_that_is_a_uniform_buffer_too_needs_the_extension() {
    let mut shader = Shader::new(|_| vec![Types::U32]);
    let ty = shader.module.globals[shader.block].ty;
    let uniform = shader.global("also", Space::Uniform, ty, Binding::Resource { set: 0, binding: 1 });
    let module = shader.main(|b, block| {
        let zero = b.const_u32(0);
        let from = b.access(uniform, &[zero]);
        let value = b.load(from);
        let to = b.access(block, &[zero]);
        b.store(to, value);
    });
    let text = early(&module);
    assert!(text.contains("OpExtension \"SPV_KHR_storage_buffer_storage_class\"\n"), "{text}");
    assert!(text.contains(" StorageBuffer\n") && !text.contains("BufferBlock"), "{text}");
}

#[test]
fn lanes_speak_by_two_extensions() {
    let module = shader().main(|b, _| {
        for scalar in [Scalar::BOOL, Scalar::I32, Scalar::F32] {
            for size in [1, 3] {
                let ty = b.module.types.vector(scalar, size);
                let local = b.local("v", ty, None);
                let value = b.load(local);
                let three = b.const_u32(3);
                b.lane(LaneOp::Broadcast, ty, &[value, three]);
                b.lane(LaneOp::BroadcastFirst, ty, &[value]);
                b.lane(LaneOp::Vote { op: VoteOp::Equal, group: Group::Subgroup }, Types::BOOL, &[value]);
            }
        }
        let mask = b.module.types.vector(Scalar::U32, 4);
        b.lane(LaneOp::LaneMask(MaskOp::Lt, Group::Subgroup), mask, &[]);
        b.lane(LaneOp::LaneCount(Group::Subgroup), Types::U32, &[]);
        b.lane(LaneOp::Elect, Types::BOOL, &[]);
    });
    let text = early(&module);
    for needed in ["SubgroupBallotKHR", "SubgroupVoteKHR"] {
        assert!(text.contains(&format!("OpCapability {needed}\n")), "{text}");
    }
    assert!(!text.contains("GroupNonUniform"), "{text}");
    let vectors = text.lines().filter(|line| line.contains("InvocationKHR")).count();
    // A scalar and three components, by lane, first lane, and first lane of the vote; the election compares an index.
    assert_eq!(vectors, 3 * 4 * 3 + 1, "{text}");
}

fn refusal(module: &Module) -> String {
    let messages = emit(module, &options("spirv-1.0"), &SourceMap::new()).unwrap_err();
    assert_eq!(messages[0].code, Code::PROFILE_LACKS);
    messages[0].message.clone()
}

#[test]
fn the_rest_is_refused_by_name() {
    let mut shader = shader();
    let number = shader.global("gl_SubgroupID", Space::Input, Types::U32, Binding::BuiltIn(BuiltIn::SubgroupId));
    let module = shader.main(|b, _| {
        b.load(number);
    });
    assert_eq!(refusal(&module), "`gl_SubgroupID` needs GroupNonUniform, which needs SPIR-V 1.3");
    let module = self::shader().main(|b, _| {
        let zero = b.const_u32(0);
        b.lane(LaneOp::Shuffle(ShuffleMode::Xor), Types::U32, &[zero, zero]);
    });
    assert!(refusal(&module).contains("lacks shuffle"), "{}", refusal(&module));
}

#[test]
fn memory_scopes_of_subgroups_become_wider() {
    let fence = |scope| shader().main(|b, _| b.barrier(None, scope, MemoryKinds::BUFFER, Order::AcquireRelease));
    assert_eq!(early(&fence(Scope::Subgroup)), early(&fence(Scope::Workgroup)));
}
