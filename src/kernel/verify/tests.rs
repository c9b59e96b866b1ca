use super::verify;
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::{BinOp, Buffer, BufferWrites, Builder, Kernel, MemoryAccess, MemorySpace, Op, Ty, UnOp};
use crate::lane::{LaneOp, Primitive, ReduceOp, Width};

const WORD: MemoryAccess = MemoryAccess::words(MemorySpace::Buffer(0), 0, 1);

/// The errors of a kernel that `build` writes; the read-only buffer 0 exists.
fn errors(build: impl FnOnce(&mut Builder)) -> Vec<String> {
    let mut b = Builder::new(Kernel::new("main", [32, 1, 1]));
    b.kernel.buffers.push(Buffer { writes: BufferWrites::Elsewhere, ..Buffer::storage("data", 0) });
    build(&mut b);
    if !b.is_terminated() {
        b.effect(Op::Return, &[]);
    }
    verify(&b.kernel).err().unwrap_or_default().into_iter().map(|error| error.message).collect()
}

/// The only complaint about a kernel.
fn error(build: impl FnOnce(&mut Builder)) -> String {
    let errors = errors(build);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors[0].clone()
}

#[test]
fn operands_have_the_types_of_the_operation() {
    let text = error(|b| {
        let (a, c) = (b.u32(1), b.bool(true));
        b.bin(BinOp::Add, Scalar::U32, a, c);
    });
    assert!(text.ends_with("its operands are [B32, Bool] and should be [B32, B32]"), "{text}");
    let text = error(|b| {
        let a = b.u32(1);
        b.value(Op::Un(UnOp::Not, Scalar::U32), &[a], Ty::B64);
    });
    assert!(text.ends_with("its results are [B64] and should be [B32]"), "{text}");
    let text = error(|b| {
        let a = b.f32(1.0);
        b.bin(BinOp::Xor, Scalar::F32, a, a);
    });
    assert!(text.ends_with("it is not on f32"), "{text}");
    let text = error(|b| {
        let (amount, a) = (b.constant(Ty::B64, 3), b.constant(Ty::B64, 1));
        b.bin(BinOp::Shl, Scalar { kind: crate::ir::ScalarKind::Uint, width: 64 }, a, amount);
    });
    assert!(text.ends_with("should be [B64, B32]"), "{text}");
}

#[test]
fn values_are_used_where_they_are_visible() {
    let text = error(|b| {
        let yes = b.bool(true);
        let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
        b.inst(Op::If { then, otherwise }, &[yes], &[]);
        let body = b.switch_to(then);
        let inside = b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
        b.effect(Op::Yield, &[]);
        b.switch_to(otherwise);
        b.effect(Op::Yield, &[]);
        b.switch_to(body);
        b.un(UnOp::Not, Scalar::U32, inside);
    });
    assert!(text.contains("is not defined here"), "{text}");
}

#[test]
fn terminators_end_blocks_and_lead_outward() {
    let text = error(|b| {
        let body = b.kernel.add_block(&[]);
        let scope = b.inst(Op::Scope { body }, &[], &[]);
        b.effect(Op::Exit(scope), &[]);
        b.switch_to(body);
        b.effect(Op::Yield, &[]);
    });
    assert!(text.contains("is not a loop or scope around it"), "{text}");
    let text = error(|b| {
        let body = b.kernel.add_block(&[]);
        let scope = b.inst(Op::Scope { body }, &[], &[Ty::B32]);
        let outside = b.switch_to(body);
        b.effect(Op::Exit(scope), &[]);
        b.switch_to(outside);
    });
    assert!(text.ends_with("its values given are [] and should be [B32]"), "{text}");
    let texts = errors(|b| {
        let body = b.block();
        b.effect(Op::Return, &[]);
        let again = b.kernel.blocks[body].insts[0];
        b.kernel.blocks[body].insts.push(again);
    });
    assert!(texts[0].ends_with("terminators are at the end of a block and nowhere else"), "{texts:?}");
    assert!(texts[1].ends_with("it is in two places"), "{texts:?}");
    let text = error(|b| {
        let body = b.kernel.add_block(&[]);
        b.inst(Op::Scope { body }, &[], &[]);
    });
    assert!(text.ends_with("it is empty"), "{text}");
}

#[test]
fn loops_pass_what_their_blocks_take() {
    let build = |params: &[Ty], repeat: usize| {
        let params = params.to_vec();
        move |b: &mut Builder| {
            let (body, continuing) = (b.kernel.add_block(&params), b.kernel.add_block(&[]));
            let (zero, no) = (b.u32(0), b.bool(false));
            let inst = b.inst(Op::Loop { body, continuing }, &[zero], &[]);
            let outside = b.switch_to(body);
            b.effect(Op::Continue(inst), &[]);
            b.switch_to(continuing);
            let args = [no, zero, zero];
            b.effect(Op::Repeat, &args[..repeat]);
            b.switch_to(outside);
        }
    };
    assert_eq!(errors(build(&[Ty::B32], 2)), [""; 0]);
    assert!(error(build(&[Ty::B32], 1)).ends_with("its values passed are [Bool] and should be [Bool, B32]"));
    assert!(errors(build(&[Ty::B64], 2))[0].ends_with("its parameters are [B64] and should be [B32]"));
}

#[test]
fn accesses_touch_memory_that_exists() {
    let with = |access: MemoryAccess| {
        error(move |b| {
            let zero = b.u32(0);
            b.store(access, zero, &[zero]);
        })
    };
    assert!(with(WORD).ends_with("it writes to memory that is read-only"));
    assert!(with(MemoryAccess { space: MemorySpace::Buffer(3), ..WORD }).ends_with("there is no buffer 3"));
    assert!(with(MemoryAccess { space: MemorySpace::Shared, align: 3, ..WORD }).ends_with("an alignment of 3"));
    let shared = MemoryAccess { space: MemorySpace::Shared, align: 16, ..WORD };
    assert!(with(MemoryAccess { offset: 4, ..shared }).ends_with("byte 4 is not a multiple of 16, as it claims"));
    let physical = MemoryAccess { space: MemorySpace::Physical, ..WORD };
    assert!(with(physical).ends_with("its operands are [B32, B32] and should be [B64, B32]"));
}

#[test]
fn lane_operations_and_primitives_have_their_operands() {
    let ty = [Scalar::F32, Scalar::U32];
    let text = error(|b| {
        let a = b.f32(1.0);
        b.value(Op::Lane { op: LaneOp::Bpermute, ty }, &[a], Ty::B32);
    });
    assert!(text.ends_with("it takes 2 to 2 operands"), "{text}");
    let text = error(|b| {
        let a = b.f32(1.0);
        let width = Width::new(4).expect("a width");
        b.inst(Op::Lane { op: LaneOp::Sort { width }, ty }, &[a, a], &[Ty::B32]);
    });
    assert!(text.ends_with("its results are [B32] and should be [B32, B32]"), "{text}");
    let text = error(|b| {
        let a = b.f32(1.0);
        let primitive = Primitive::Scalar(crate::lane::primitive::ScalarOp::Ballot);
        b.value(Op::Prim { primitive, ty: Scalar::BOOL }, &[a], Ty::Mask);
    });
    assert!(text.ends_with("its operands are [B32] and should be [Bool]"), "{text}");
    let text = error(|b| {
        let a = b.f32(1.0);
        let control = crate::lane::primitive::DppControl::RowMirror;
        let dpp = crate::lane::primitive::Dpp16 {
            control,
            row_mask: 15,
            bank_mask: 15,
            bound_ctrl: true,
            fetch_inactive: false,
        };
        b.value(Op::CombineMoved { op: ReduceOp::Add, ty: Scalar::F32, primitive: dpp.into() }, &[a], Ty::B32);
    });
    assert!(text.ends_with("it has no operand that is moved"), "{text}");
}
