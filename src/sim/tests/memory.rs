//! Memory of every kind, and undefined values in it.

use super::{Dispatch, Memory, Program, Shader, U32, access, word};
use crate::ir::{AtomicOp, Order, Scalar, Scope};
use crate::kernel::{BinOp, MemorySpace, Op, Ty, Value};
use crate::sim::{FaultKind, Undefined, Use};

fn add(s: &mut Shader, space: MemorySpace, address: Value, value: Value) -> Value {
    let (access, scope, order) = (access(space, 4), Scope::Device, Order::Relaxed);
    s.b.value(Op::Atomic { op: AtomicOp::Add, ty: U32, access, scope, order }, &[address, value], Ty::B32)
}

/// Each lane gets the value before its own operation; lanes run in ascending order.
#[test]
fn atomic_operations_give_the_old_value() {
    let mut s = Shader::new(8);
    let (x, zero) = (s.input(), s.b.u32(0));
    let old = add(&mut s, MemorySpace::Buffer(0), zero, x);
    s.output(old);
    assert_eq!(s.run(4, 1, &[100, 1, 2, 3, 4, 5, 6, 7]).expect("it runs"), [100, 200, 201, 203, 206, 210, 215, 221]);
}

/// Narrow components, several at a time, leave the other bytes untouched.
#[test]
fn components_have_their_size() {
    let mut s = Shader::new(4);
    let from = s.address(s.global);
    let mut bytes = access(MemorySpace::Buffer(0), 1);
    bytes.components = 4;
    let parts = s.b.load(bytes, from);
    let mut halves = access(MemorySpace::Buffer(1), 2);
    halves.components = 2;
    s.b.store(halves, from, &[parts[3], parts[0]]);
    assert_eq!(
        s.run(4, 1, &[0x0403_0201, 0xfffe_fdfc, 0x8000_007f, 0]).expect("it runs"),
        [0x0001_0004, 0x00fc_00ff, 0x007f_0080, 0]
    );
}

/// Every invocation has its own private memory, undefined until it is written.
#[test]
fn private_memory_is_each_invocations_own() {
    let mut s = Shader::new(8);
    s.b.kernel.private_bytes = 8;
    let (x, four) = (s.input(), s.b.u32(4));
    s.b.store(access(MemorySpace::Private(0), 4), four, &[x]);
    let back = s.b.load(access(MemorySpace::Private(0), 4), four)[0];
    let sum = s.b.bin(BinOp::Add, U32, back, back);
    s.output(sum);
    assert_eq!(s.run(4, 1, &[1, 2, 3, 4, 5, 6, 7, 8]).expect("it runs"), [2, 4, 6, 8, 10, 12, 14, 16]);

    let mut s = Shader::new(8);
    s.b.kernel.private_bytes = 8;
    let zero = s.b.u32(0);
    let nothing = s.b.load(access(MemorySpace::Private(0), 4), zero)[0];
    s.output(nothing);
    assert_eq!(s.run(4, 1, &[]).expect_err("it is undefined").kind, FaultKind::Undefined(Use::Memory));
}

/// Undefined values are kept if requested, and are defined again after a store.
#[test]
fn undefined_bytes_are_marked() {
    let mut s = Shader::new(4);
    let nothing = s.b.kernel.undefined(Ty::B32);
    s.output(nothing);
    let few = s.less(s.local, 2);
    s.when(few, |s| s.output(s.local));
    let kernel = s.finish();
    let mut buffers = [Memory::from(Vec::new()), Memory::from(vec![0; 16])];
    let dispatch = Dispatch { undefined: Undefined::Keep, ..Dispatch::new([1, 1, 1]) };
    Program::new(&kernel, 4).expect("it can run").run(&dispatch, &mut buffers).expect("it runs");
    let undefined: Vec<bool> = (0..4).map(|n| buffers[1].is_undefined(4 * n, 4)).collect();
    assert_eq!(undefined, [false, false, true, true]);
}

/// `false && undefined` is false, and so is `0 & undefined`; nothing else hides an undefined value.
#[test]
fn what_decides_alone_hides_what_is_undefined() {
    let cases = [(BinOp::And, 0, true), (BinOp::And, 6, false), (BinOp::Or, u32::MAX, true), (BinOp::Add, 0, false)];
    for (op, known, runs) in cases {
        let mut s = Shader::new(4);
        let (nothing, known) = (s.b.kernel.undefined(Ty::B32), s.b.u32(known));
        let both = s.b.bin(op, U32, nothing, known);
        s.output(both);
        assert_eq!(s.run(4, 1, &[]).is_ok(), runs, "{op:?}");
    }
}

/// A selected value is undefined only if the chosen operand is.
#[test]
fn a_selection_is_what_it_selects() {
    let mut s = Shader::new(4);
    let (nothing, x) = (s.b.kernel.undefined(Ty::B32), s.input());
    let yes = s.b.convert(U32, Scalar::BOOL, x);
    let chosen = s.b.select(yes, x, nothing);
    s.output(chosen);
    let kernel = s.finish();
    let run = |input: &[u32]| super::run(&kernel, 4, &Dispatch::new([1, 1, 1]), input);
    assert_eq!(run(&[1, 2, 3, 4]).expect("all are defined"), [1, 2, 3, 4]);
    let fault = run(&[1, 0, 3, 4]).expect_err("one is not");
    assert_eq!((fault.kind, fault.at.lane), (FaultKind::Undefined(Use::Memory), 1));
}

/// Push constants are read like memory.
#[test]
fn push_constants_are_read() {
    let mut s = Shader::new(4);
    s.b.kernel.push_bytes = 8;
    let four = s.b.u32(4);
    let pushed = s.b.load(access(MemorySpace::Push, 4), four)[0];
    s.output(pushed);
    let dispatch = Dispatch { push: &[1, 0, 0, 0, 9, 0, 0, 0], ..Dispatch::new([1, 1, 1]) };
    assert_eq!(super::run(&s.finish(), 4, &dispatch, &[]).expect("it runs"), [9; 4]);
}

/// A negative offset that wraps is inside again.
#[test]
fn addresses_wrap_at_32_bits() {
    let mut s = Shader::new(4);
    let from = s.address(s.local);
    let mut before = word(0);
    before.offset = 4_u32.wrapping_neg();
    let some = s.b.u32(1);
    let inside = s.b.cmp(crate::kernel::CmpOp::Ge, U32, s.local, some);
    s.when(inside, |s| {
        let x = s.b.load(before, from)[0];
        s.output(x);
    });
    assert_eq!(s.run(4, 1, &[5, 6, 7, 8]).expect("it runs"), [0, 5, 6, 7]);
}
