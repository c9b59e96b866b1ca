//! The writer's tables read backwards, for the front end that reads SPIR-V: what an opcode or a number means in `ir`.

use super::entry::{execution_model, primitive_mode};
use super::lane::{count_operation, mask_built_in, reduction_amd, reduction_op, swap_direction};
use super::memory::{MEMORY_KINDS, atomic_table};
use super::{globals, image, math};
use crate::ir::{AtomicOp, ImageDim, MemoryKinds, PrimitiveMode, ScalarKind, Stage};
use crate::lane::{CountOp, GroupReduce, MaskOp, QuadMove, ReduceOp};
pub use globals::built_in_of;
pub use math::{functions_of, functions_of_set, operators_of};
use rspirv::spirv::{
    BuiltIn, Capability, Dim, ExecutionMode, ExecutionModel, GroupOperation, MemorySemantics, Op, Word,
};

/// The stage of an execution model.
pub fn stage_of(model: ExecutionModel) -> Option<Stage> {
    Stage::ALL.into_iter().find(|stage| {
        [false, true].iter().any(|nvidia| execution_model(*stage, *nvidia, Capability::RayTracingKHR).0 == model)
    })
}

/// The mode of primitives that an execution mode is, with its number if it has one.
pub fn primitive_of(mode: ExecutionMode, number: Word) -> Option<PrimitiveMode> {
    use PrimitiveMode as P;
    let all = [
        P::InputPoints,
        P::InputLines,
        P::InputLinesAdjacency,
        P::Triangles,
        P::InputTrianglesAdjacency,
        P::Quads,
        P::Isolines,
        P::Invocations(number),
        P::OutputPoints,
        P::OutputLineStrip,
        P::OutputTriangleStrip,
        P::OutputLines,
        P::OutputTriangles,
        P::OutputVertices(number),
        P::OutputPrimitives(number),
        P::SpacingEqual,
        P::SpacingFractionalEven,
        P::SpacingFractionalOdd,
        P::VertexOrderCw,
        P::VertexOrderCcw,
        P::PointMode,
    ];
    all.into_iter().find(|of| primitive_mode(*of).0 == mode)
}

/// The dimension of an image.
pub fn dim_of(number: Dim) -> Option<ImageDim> {
    use ImageDim::{Buffer, Cube, D1, D2, D3, Rect, SubpassInput, Tile};
    [D1, D2, D3, Cube, Rect, Buffer, SubpassInput, Tile].into_iter().find(|dim| image::dim(*dim) == number)
}

/// The instruction of which `op` is the form that also returns the residency code.
pub fn without_residency(op: Op) -> Option<Op> {
    const BASES: [Op; 8] = [
        Op::ImageSampleImplicitLod,
        Op::ImageSampleExplicitLod,
        Op::ImageSampleDrefImplicitLod,
        Op::ImageSampleDrefExplicitLod,
        Op::ImageFetch,
        Op::ImageGather,
        Op::ImageDrefGather,
        Op::ImageRead,
    ];
    BASES.into_iter().find(|base| image::with_residency(*base) == op)
}

/// The operator of a reduction or scan, and whether it is an instruction of SPV_AMD_shader_ballot.
pub fn reduction_of(op: Op) -> Option<(ReduceOp, ScalarKind, bool)> {
    use ReduceOp::{Add, And, Max, Min, Mul, Or, Xor};
    // The writer treats bools as unsigned numbers where an operation has no form for them.
    let kinds = [ScalarKind::Sint, ScalarKind::Uint, ScalarKind::Float, ScalarKind::Bool];
    let mut all = [Add, Mul, Min, Max, And, Or, Xor].into_iter().flat_map(|of| kinds.map(|kind| (of, kind)));
    let is_amd = |of, kind| matches!(of, Add | Min | Max) && reduction_amd(of, kind, GroupReduce::Reduce).op == op;
    all.find_map(|(of, kind)| match (reduction_op(of, kind) == op, is_amd(of, kind)) {
        (false, false) => None,
        (_, is_amd) => Some((of, kind, is_amd)),
    })
}

/// The move of `OpGroupNonUniformQuadSwap` in a direction.
pub fn swap_of(direction: Word) -> Option<QuadMove> {
    [QuadMove::X, QuadMove::Y, QuadMove::Diagonal].into_iter().find(|mv| swap_direction(*mv) == direction)
}

/// The part of a ballot that a group operation counts.
pub fn count_of(operation: GroupOperation) -> Option<CountOp> {
    [CountOp::All, CountOp::Inclusive, CountOp::Exclusive].into_iter().find(|of| count_operation(*of) == operation)
}

/// The lanes of a mask among the built-in variables.
pub fn mask_of(built_in: BuiltIn) -> Option<MaskOp> {
    use MaskOp::{Eq, Ge, Gt, Le, Lt};
    [Eq, Ge, Gt, Le, Lt].into_iter().find(|op| mask_built_in(*op) == built_in)
}

/// The kinds of memory that semantics name.
pub fn memory_of(semantics: MemorySemantics) -> MemoryKinds {
    let named = MEMORY_KINDS.into_iter().filter(|(_, bit)| semantics.contains(*bit));
    named.fold(MemoryKinds::empty(), |all, (kind, _)| all | kind)
}

/// The operation of an atomic instruction, and whether its operands are signed.
pub fn atomic_of(op: Op) -> Option<(AtomicOp, bool)> {
    use AtomicOp as A;
    let all =
        [A::Load, A::Store, A::Add, A::Sub, A::Min, A::Max, A::And, A::Or, A::Xor, A::Exchange, A::CompareExchange];
    let mut forms = all.into_iter().flat_map(|of| [false, true].map(|signed| (of, signed)));
    forms.find(|(of, signed)| atomic_table(*of, *signed) == op)
}
