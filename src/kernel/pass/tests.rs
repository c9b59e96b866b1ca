//! Random kernels give the same before and after each pass.

mod access;
mod image;

use super::{GATHERING, OPTIMIZING, Pass, optimize};
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::print::print;
use crate::kernel::tree::Tree;
use crate::kernel::verify::verify;
use crate::kernel::{BinOp, Buffer, Builder, CmpOp, Kernel, MemoryAccess, MemorySpace, Op, Ty, random};
use crate::lane::{Group, LaneOp, ShuffleMode, VoteOp};

/// Kernels that are tried.
const KERNELS: u64 = 60;

/// All passes of a target without lanes together.
const OPTIMIZE: Pass = Pass::new("optimize", |kernel| {
    optimize(kernel);
    true
});

fn check(kernel: &Kernel, what: &str) {
    if let Err(errors) = verify(kernel) {
        panic!("{what}: {errors:#?}\n{}", print(kernel, None));
    }
}

/// Every word that was defined is the same.
fn same(before: &[Option<u32>], after: &[Option<u32>]) -> bool {
    before.iter().zip(after).all(|(before, after)| before.is_none() || before == after)
}

#[test]
fn passes_change_no_result() {
    let mut runs = 0;
    for seed in 0..KERNELS {
        let kernel = random::kernel(seed, true);
        for lanes in [8, 32] {
            let Some(before) = random::run_generated(&kernel, lanes) else { continue };
            runs += 1;
            for pass in OPTIMIZING.into_iter().chain(GATHERING).chain([OPTIMIZE]) {
                let mut changed = kernel.clone();
                (pass.run)(&mut changed);
                let what = format!("seed {seed}, {lanes} lanes, {}", pass.name);
                check(&changed, &what);
                let after = random::run(&changed, lanes);
                let is_same = after.as_ref().is_ok_and(|after| same(&before, after));
                assert!(is_same, "{what}: {:?}\n{}\n{}", after.err(), print(&kernel, None), print(&changed, None));
            }
        }
    }
    assert!(runs > KERNELS, "only {runs} runs gave something");
}

#[test]
fn optimizing_leaves_less_than_half() {
    let size = |kernel: &Kernel| Tree::new(kernel).insts(kernel).len();
    let mut sizes = (0, 0);
    for seed in 0..KERNELS {
        let mut kernel = random::kernel(seed, true);
        sizes.0 += size(&kernel);
        optimize(&mut kernel);
        sizes.1 += size(&kernel);
    }
    assert!(2 * sizes.1 < sizes.0, "{sizes:?}");
}

#[test]
fn variables_of_few_words_are_values_in_the_end() {
    for seed in 0..KERNELS {
        let mut kernel = random::kernel(seed, true);
        optimize(&mut kernel);
        assert_eq!(kernel.private_bytes, 0, "seed {seed}\n{}", print(&kernel, None));
    }
}

/// `for (k = 1; k < 16; k <<= 1) total += shuffle(total, i ^ k)`, then the total is stored.
fn butterfly() -> Kernel {
    let mut b = Builder::new(Kernel::new("main", [64, 1, 1]));
    b.kernel.buffers.push(Buffer::storage("out", 0));
    let i = b.value(Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
    let (one, sixteen, no) = (b.u32(1), b.u32(16), b.bool(false));
    let tys = [Ty::B32, Ty::B32];
    let (body, continuing) = (b.kernel.add_block(&tys), b.kernel.add_block(&tys));
    let inst = b.inst(Op::Loop { body, continuing }, &[one, i], &[Ty::B32]);
    b.switch_to(body);
    let (k, total) = (b.kernel.blocks[body].params[0], b.kernel.blocks[body].params[1]);
    let more = b.cmp(CmpOp::Lt, Scalar::U32, k, sixteen);
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[more], &[]);
    b.switch_to(then);
    b.effect(Op::Yield, &[]);
    b.switch_to(otherwise);
    b.effect(Op::Exit(inst), &[total]);
    b.switch_to(body);
    let source = b.bin(BinOp::Xor, Scalar::U32, i, k);
    let shuffle = Op::Lane { op: LaneOp::Shuffle(ShuffleMode::Index), ty: [Scalar::U32; 2] };
    let other = b.value(shuffle, &[total, source], Ty::B32);
    let total = b.bin(BinOp::Add, Scalar::U32, total, other);
    b.effect(Op::Continue(inst), &[k, total]);
    b.switch_to(continuing);
    let (k, total) = (b.kernel.blocks[continuing].params[0], b.kernel.blocks[continuing].params[1]);
    let next = b.bin(BinOp::Shl, Scalar::U32, k, one);
    b.effect(Op::Repeat, &[no, next, total, total]);
    b.switch_to(b.kernel.body);
    let total = b.kernel.result(inst).expect("one");
    let access = MemoryAccess::words(MemorySpace::Buffer(0), 0, 1);
    let two = b.u32(2);
    let address = b.bin(BinOp::Shl, Scalar::U32, i, two);
    let address = b.bin(BinOp::Add, Scalar::U32, address, sixteen);
    b.store(access, address, &[total]);
    b.effect(Op::Return, &[]);
    b.kernel
}

#[test]
fn loops_over_constants_become_constant_shuffles() {
    let mut kernel = butterfly();
    optimize(&mut kernel);
    check(&kernel, "butterfly");
    let text = "\
kernel main, workgroup 64 x 1 x 1 {
    buffer 0 out: storage set 0 binding 0, 0 bytes
    %1: b32 = local_invocation_id.0
    %2: b32 = xor.u32 %1, 1
    %3: b32 = lane.u32 shuffle.index %1, %2
    %4: b32 = add.u32 %1, %3
    %5: b32 = xor.u32 %1, 2
    %6: b32 = lane.u32 shuffle.index %4, %5
    %7: b32 = add.u32 %4, %6
    %8: b32 = xor.u32 %1, 4
    %9: b32 = lane.u32 shuffle.index %7, %8
    %10: b32 = add.u32 %7, %9
    %11: b32 = xor.u32 %1, 8
    %12: b32 = lane.u32 shuffle.index %10, %11
    %13: b32 = add.u32 %10, %12
    %14: b32 = shl.u32 %1, 2
    store buffer 0 [%14 + 16] %13 (1 x 4 bytes, align 4)
    return
}
";
    assert_eq!(print(&kernel, None), text);
}

#[test]
fn votes_on_a_constant_are_that_constant() {
    let mut b = Builder::new(Kernel::new("main", [32, 1, 1]));
    b.kernel.buffers.push(Buffer::storage("o", 0));
    for (n, (op, truth)) in [(VoteOp::All, true), (VoteOp::Any, true), (VoteOp::Any, false)].into_iter().enumerate() {
        let vote = Op::Lane { op: LaneOp::Vote { op, group: Group::Quad }, ty: [Scalar::BOOL; 2] };
        let truth = b.kernel.constant(Ty::Bool, truth.into());
        let vote = b.value(vote, &[truth], Ty::Bool);
        let (one, zero) = (b.u32(1), b.u32(0));
        let word = b.value(Op::Select, &[vote, one, zero], Ty::B32);
        let address = b.u32(4 * n as u32);
        b.store(MemoryAccess::words(MemorySpace::Buffer(0), 0, 1), address, &[word]);
    }
    b.effect(Op::Return, &[]);
    let mut kernel = b.kernel;
    optimize(&mut kernel);
    check(&kernel, "votes");
    let text = print(&kernel, None);
    assert!(!text.contains("vote"), "{text}");
}
