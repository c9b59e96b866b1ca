use super::print;
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::{BinOp, Buffer, Builder, CmpOp, Kernel, MemoryAccess, MemorySpace, Op, Ty};
use crate::lane::{LaneOp, Members, ReduceKind, ReduceOp, Width};

fn access(components: u8) -> MemoryAccess {
    MemoryAccess { coherent: true, ..MemoryAccess::words(MemorySpace::Buffer(0), 16, components) }
}

/// Sums four words, then over the subgroup.
fn sum() -> Kernel {
    let mut b = Builder::new(Kernel::new("main", [64, 1, 1]));
    b.kernel.buffers.push(Buffer { bytes: 16, ..Buffer::storage("data", 3) });
    b.kernel.shared_bytes = 256;
    let i = b.value(Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
    let (zero, none) = (b.u32(0), b.f32(0.0));
    let (body, continuing) = (b.kernel.add_block(&[Ty::B32, Ty::B32]), b.kernel.add_block(&[Ty::B32, Ty::B32]));
    let outer = b.inst(Op::Loop { body, continuing }, &[zero, none], &[Ty::B32]);
    let before = b.switch_to(body);
    let (n, total) = (b.kernel.blocks[body].params[0], b.kernel.blocks[body].params[1]);
    let four = b.u32(4);
    let more = b.cmp(CmpOp::Lt, Scalar::U32, n, four);
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[more], &[]);
    b.switch_to(then);
    b.effect(Op::Yield, &[]);
    b.switch_to(otherwise);
    b.effect(Op::Exit(outer), &[total]);
    b.switch_to(body);
    let value = b.load(access(1), n)[0];
    let sum = b.bin(BinOp::Add, Scalar::F32, total, value);
    let sum = {
        let half = b.f32(0.5);
        b.bin(BinOp::Mul, Scalar::F32, sum, half)
    };
    b.effect(Op::Continue(outer), &[n, sum]);
    b.switch_to(continuing);
    let (n, total) = (b.kernel.blocks[continuing].params[0], b.kernel.blocks[continuing].params[1]);
    let one = b.u32(1);
    let next = b.bin(BinOp::Add, Scalar::U32, n, one);
    let never = b.bool(false);
    b.effect(Op::Repeat, &[never, next, total, total]);
    b.switch_to(before);
    let total = b.kernel.result(outer).expect("one");
    let op = LaneOp::Reduce {
        op: ReduceOp::Add,
        kind: ReduceKind::AllReduce,
        width: Width::SUBGROUP,
        members: Members::Active,
    };
    let all = b.value(Op::Lane { op, ty: [Scalar::F32, Scalar::BOOL] }, &[total], Ty::B32);
    b.store(access(1), i, &[all]);
    b.effect(Op::Return, &[]);
    b.kernel
}

#[test]
fn everything_is_shown() {
    let text = "\
kernel main, workgroup 64 x 1 x 1 {
    buffer 0 data: storage set 0 binding 3, 16 bytes
    shared 256 bytes
    %1: b32 = local_invocation_index.0
    %2: b32 = loop @1 (%3: b32 = 0, %4: b32 = 0) {
        %5: bool = lt.u32 %3, 4
        if %5 {
        } else {
            exit @1 %4
        }
        %6: b32 = load buffer 0 [%3 + 16] (1 x 4 bytes, align 4 coherent)
        %7: b32 = add.f32 %4, %6
        %8: b32 = mul.f32 %7, 0.5
        continue @1 %3, %8
    } continuing (%9: b32, %10: b32) {
        %11: b32 = add.u32 %9, 1
        repeat unless false, %11, %10, %10
    }
    %12: b32 = lane.f32 all_reduce.add.active<subgroup> %2
    store buffer 0 [%1 + 16] %12 (1 x 4 bytes, align 4 coherent)
    return
}
";
    assert_eq!(print(&sum(), None), text);
    assert_eq!(super::super::verify::verify(&sum()), Ok(()));
}
