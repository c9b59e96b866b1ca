//! Constants in addresses, neighbouring accesses and shared moves, each on a kernel written by hand.

use super::super::{fold_offsets, load_store_vectorize, share_moves};
use super::check;
use crate::ir::{AtomicOp, BuiltIn, MemoryKinds, Order, Scalar, Scope};
use crate::kernel::print::print;
use crate::kernel::{BinOp, Buffer, Builder, Kernel, MemoryAccess, MemorySpace, Op, Ty, Value};
use crate::lane::primitive::{Dpp16, DppControl};
use crate::lane::{FoldOp, Primitive};

const U: Scalar = Scalar::U32;

/// A builder of a kernel with two storage buffers, and a number of which nothing is known.
fn builder() -> (Builder, Value) {
    let mut kernel = Kernel::new("main", [64, 1, 1]);
    kernel.buffers.extend([Buffer::storage("first", 0), Buffer::storage("second", 1)]);
    let mut b = Builder::new(kernel);
    let any = b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
    (b, any)
}

fn word(buffer: u32, offset: u32) -> MemoryAccess {
    MemoryAccess::words(MemorySpace::Buffer(buffer), offset, 1)
}

/// The lines of a finished kernel that access memory or move between lanes, behind a pass.
fn lines(mut b: Builder, pass: fn(&mut Kernel) -> bool) -> Vec<String> {
    b.effect(Op::Return, &[]);
    pass(&mut b.kernel);
    check(&b.kernel, "a kernel written by hand");
    let text = print(&b.kernel, None);
    let is_shown = |line: &&str| ["load", "store", "prim", "moved"].iter().any(|word| line.contains(word));
    text.lines().filter(is_shown).map(|line| line.trim().to_owned()).collect()
}

/// Stores to `4 * (any + 1)`, perhaps behind a store to `4 * any`.
fn scaled_sum(is_proved: bool) -> Vec<String> {
    let (mut b, any) = builder();
    let (one, two) = (b.u32(1), b.u32(2));
    if is_proved {
        let address = b.bin(BinOp::Shl, U, any, two);
        b.store(word(0, 0), address, &[any]);
    }
    let next = b.bin(BinOp::Add, U, any, one);
    let address = b.bin(BinOp::Shl, U, next, two);
    b.store(word(0, 0), address, &[any]);
    lines(b, fold_offsets::run)
}

#[test]
fn an_access_proves_that_what_is_behind_it_does_not_wrap() {
    let proved = scaled_sum(true);
    assert_eq!(proved[1], "store buffer 0 [%2 + 4] %1 (1 x 4 bytes, align 4)");
    let alone = scaled_sum(false);
    assert_eq!(alone, ["store buffer 0 [%3] %1 (1 x 4 bytes, align 4)"]);
}

#[test]
fn what_some_lanes_access_proves_nothing_behind_the_branch() {
    let (mut b, any) = builder();
    let (one, two) = (b.u32(1), b.u32(2));
    let is_odd = b.cmp(crate::kernel::CmpOp::Lt, U, any, two);
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    let address = b.bin(BinOp::Shl, U, any, two);
    b.inst(Op::If { then, otherwise }, &[is_odd], &[]);
    let body = b.switch_to(then);
    b.store(word(0, 0), address, &[any]);
    b.effect(Op::Yield, &[]);
    b.switch_to(otherwise);
    b.effect(Op::Yield, &[]);
    b.switch_to(body);
    let next = b.bin(BinOp::Add, U, any, one);
    let address = b.bin(BinOp::Shl, U, next, two);
    b.store(word(0, 0), address, &[any]);
    assert_eq!(lines(b, fold_offsets::run)[1], "store buffer 0 [%5] %1 (1 x 4 bytes, align 4)");
}

#[test]
fn neighbours_become_one_access() {
    let (mut b, any) = builder();
    let loaded: Vec<Value> = [8, 0, 4].into_iter().flat_map(|offset| b.load(word(0, offset), any)).collect();
    for (n, value) in (0..).zip(&loaded) {
        b.store(word(1, 4 * n), any, &[*value]);
    }
    let expected = [
        "%2: b32, %3: b32, %4: b32 = load buffer 0 [%1] (3 x 4 bytes, align 4)",
        "store buffer 1 [%1] %4, %2, %3 (3 x 4 bytes, align 4)",
    ];
    assert_eq!(lines(b, load_store_vectorize::run), expected);
}

#[test]
fn five_words_are_four_and_one() {
    let (mut b, any) = builder();
    (0..5).for_each(|n| b.store(word(0, 4 * n), any, &[any]));
    let stores = lines(b, load_store_vectorize::run);
    assert_eq!(stores.len(), 2, "{stores:#?}");
    assert!(stores[0].contains("(4 x 4 bytes") && stores[1].contains("[%1 + 16]"), "{stores:#?}");
}

/// Two neighbouring stores with something between them.
fn stores_around(between: impl FnOnce(&mut Builder, Value)) -> usize {
    let (mut b, any) = builder();
    b.store(word(0, 0), any, &[any]);
    between(&mut b, any);
    b.store(word(0, 4), any, &[any]);
    let stores = lines(b, load_store_vectorize::run);
    stores.iter().filter(|line| line.contains("store buffer 0 [%1")).count()
}

#[test]
fn stores_pass_nothing_that_may_touch_the_same_memory() {
    assert_eq!(stores_around(|_, _| {}), 1);
    let far = |b: &mut Builder, any| drop(b.load(word(0, 64), any));
    assert_eq!(stores_around(far), 1);
    let other_buffer = |b: &mut Builder, any| drop(b.load(word(1, 0), any));
    assert_eq!(stores_around(other_buffer), 2);
    let barrier = |b: &mut Builder, _| {
        let (execution, memory) = (Some(Scope::Workgroup), Scope::Workgroup);
        let kinds = MemoryKinds::SHARED;
        b.effect(Op::Barrier { execution, memory, kinds, order: Order::AcquireRelease }, &[]);
    };
    assert_eq!(stores_around(barrier), 2);
    let release = |b: &mut Builder, any| {
        let access = MemoryAccess::words(MemorySpace::Shared, 0, 1);
        let (op, scope, order) = (AtomicOp::Add, Scope::Workgroup, Order::Release);
        b.value(Op::Atomic { op, ty: U, access, scope, order }, &[any, any], Ty::B32);
    };
    assert_eq!(stores_around(release), 2);
}

/// Folds of a number with itself as a row shift moves it.
fn folds(ops: &[FoldOp], bound_ctrl: bool) -> Vec<String> {
    let (mut b, any) = builder();
    let primitive = Primitive::Dpp16(Dpp16 { bound_ctrl, ..Dpp16::new(DppControl::RowShr(1)) });
    for (n, op) in (0..).zip(ops) {
        let folded = b.value(Op::FoldMoved { op: *op, ty: U, primitive }, &[any, any], Ty::B32);
        b.store(word(n, 0), any, &[folded]);
    }
    lines(b, share_moves::run).into_iter().filter(|line| !line.contains("store")).collect()
}

#[test]
fn folds_share_a_move() {
    assert_eq!(folds(&[FoldOp::Add, FoldOp::Min], true).len(), 1);
    assert_eq!(folds(&[FoldOp::Add], true).len(), 1);
    assert!(folds(&[FoldOp::Add], true)[0].contains("moved by"));
}

#[test]
fn lanes_without_a_source_keep_their_own_value() {
    let shared = folds(&[FoldOp::Add, FoldOp::Or], false);
    assert!(shared.len() == 1 && shared[0].contains("bound_ctrl: true"), "{shared:#?}");
    let apart = folds(&[FoldOp::And, FoldOp::Min], false);
    assert!(apart.len() == 2 && apart.iter().all(|line| line.contains("moved by")), "{apart:#?}");
}
