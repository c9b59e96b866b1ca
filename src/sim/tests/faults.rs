//! The report of a run: the kind, the place and the invocation.

use super::{Dispatch, Shader, U32, access, run, word};
use crate::diagnostic::Code;
use crate::ir::{AtomicOp, MemoryKinds, Order, Scope};
use crate::kernel::{BinOp, MemorySpace, Op, Ty, Value};
use crate::sim::{Access, AccessKind, Fault, FaultKind, Program, Use};
use crate::source::Span;

pub fn barrier(s: &mut Shader) {
    let (memory, kinds, order) = (Scope::Workgroup, MemoryKinds::SHARED, Order::AcquireRelease);
    s.b.effect(Op::Barrier { execution: Some(Scope::Workgroup), memory, kinds, order }, &[]);
}

#[test]
fn accesses_out_of_range_are_named() {
    let mut s = Shader::new(64);
    s.b.span = Span::new(7, 9);
    let x = s.input();
    s.output(x);
    let fault = s.run(32, 2, &[1; 100]).expect_err("the input is too short");
    let access = Access { kind: AccessKind::Load, memory: "buffer `input`".into(), offset: 400, bytes: 4, size: 400 };
    assert_eq!(fault.kind, FaultKind::OutOfRange(access));
    assert_eq!((fault.span, fault.at.workgroup, fault.at.local), (Span::new(7, 9), [1, 0, 0], [36, 0, 0]));
    assert_eq!((fault.at.wave, fault.at.lane), (1, 4));
    let message = fault.diagnostic();
    assert_eq!(message.code, Code::OUT_OF_RANGE);
    assert_eq!(message.labels[0].text, "4 bytes at byte 400 of buffer `input`, which has 400");
    assert_eq!(message.notes, ["in invocation (36, 0, 0) of workgroup (1, 0, 0): lane 4 of wave 1"]);
}

#[test]
fn a_broken_promise_of_alignment_is_seen() {
    let mut s = Shader::new(4);
    let two = s.b.u32(2);
    s.b.load(word(0), two);
    let fault = s.run(4, 1, &[1; 8]).expect_err("2 is not a multiple of 4");
    assert!(matches!(fault.kind, FaultKind::Misaligned(_, 4)), "{fault:?}");
}

#[test]
fn undefined_conditions_and_addresses_are_refused() {
    let mut s = Shader::new(4);
    let nothing = s.b.kernel.undefined(Ty::Bool);
    s.when(nothing, |_| {});
    assert_eq!(s.run(4, 1, &[]).expect_err("undefined").kind, FaultKind::Undefined(Use::Condition));

    let mut s = Shader::new(4);
    let (one, zero) = (s.b.u32(1), s.b.u32(0));
    let nothing = s.b.bin(BinOp::Div, U32, one, zero);
    s.b.load(word(0), nothing);
    assert_eq!(s.run(4, 1, &[1]).expect_err("undefined").kind, FaultKind::Undefined(Use::Address));
}

/// A branch that some lanes of a wave take, and a branch that whole waves take.
#[test]
fn barriers_that_some_do_not_reach_are_reported() {
    for (limit, waiting, of, lane) in [(5, 5, 8, 5), (8, 8, 32, 0)] {
        let mut s = Shader::new(32);
        let few = s.less(s.local, limit);
        s.when(few, barrier);
        let fault = s.run(8, 1, &[]).expect_err("a barrier is missed");
        assert_eq!((&fault.kind, fault.at.lane), (&FaultKind::Barrier { waiting, of }, lane));
        assert_eq!(fault.diagnostic().code, Code::BARRIER_NOT_REACHED);
    }
}

#[test]
fn different_barriers_do_not_meet() {
    let mut s = Shader::new(32);
    let few = s.less(s.local, 16);
    s.select(
        few,
        &[],
        |s| {
            barrier(s);
            Vec::new()
        },
        |s| {
            barrier(s);
            Vec::new()
        },
    );
    let fault = s.run(16, 1, &[]).expect_err("they wait at two places");
    assert!(matches!(fault.kind, FaultKind::Barriers { .. }), "{fault:?}");
}

#[test]
fn returned_invocations_reach_no_barrier() {
    let mut s = Shader::new(8);
    let few = s.less(s.local, 3);
    s.when(few, |s| {
        s.b.effect(Op::Return, &[]);
    });
    barrier(&mut s);
    assert_eq!(s.run(8, 1, &[]).expect_err("3 have returned").kind, FaultKind::Barrier { waiting: 5, of: 8 });
}

const SHARED: MemorySpace = MemorySpace::Shared;

fn loads(s: &mut Shader, address: Value) {
    s.b.load(access(SHARED, 4), address);
}

fn stores(s: &mut Shader, address: Value) {
    let local = s.local;
    s.b.store(access(SHARED, 4), address, &[local]);
}

fn stores_again(s: &mut Shader, address: Value) {
    let old = s.b.load(access(SHARED, 4), address)[0];
    s.b.store(access(SHARED, 4), address, &[old]);
}

fn adds(s: &mut Shader, address: Value) {
    let (access, local) = (access(SHARED, 4), s.local);
    let op = Op::Atomic { op: AtomicOp::Add, ty: U32, access, scope: Scope::Workgroup, order: Order::Relaxed };
    s.b.value(op, &[address, local], Ty::B32);
}

/// An access to the word at an address.
type Act = fn(&mut Shader, Value);

/// Accesses the own word, then that of the mirrored invocation, in workgroups of 8.
fn in_turn(lanes: u32, orders: bool, [first, second]: [Act; 2]) -> Result<Vec<u32>, Box<Fault>> {
    let mut s = Shader::new(8);
    s.b.kernel.shared_bytes = 32;
    let (own, last) = (s.address(s.local), s.b.u32(7));
    let mirrored = s.b.bin(BinOp::Sub, U32, last, s.local);
    let mirrored = s.address(mirrored);
    s.b.span = Span::new(3, 5);
    first(&mut s, own);
    if orders {
        barrier(&mut s);
    }
    s.b.span = Span::new(7, 9);
    second(&mut s, mirrored);
    s.run(lanes, 2, &[])
}

#[test]
fn waves_that_race_in_workgroup_memory_are_named() {
    let racing: [[Act; 2]; 6] =
        [[stores, loads], [loads, stores], [stores, stores], [adds, loads], [adds, stores], [stores, adds]];
    for pair in racing {
        let fault = in_turn(4, false, pair).expect_err("a race");
        let FaultKind::Race { other } = fault.kind else { panic!("{fault:?}") };
        let (earlier, later) = (Span::new(3, 5), Span::new(7, 9));
        assert!([(earlier, later), (later, earlier)].contains(&(fault.span, other)), "{fault:?}");
        assert_eq!((fault.diagnostic().code, fault.at.wave), (Code::DATA_RACE, 1));
        assert!(in_turn(4, true, pair).is_ok() && in_turn(8, false, pair).is_ok());
    }
    let harmless: [[Act; 2]; 3] = [[loads, loads], [adds, adds], [loads, stores_again]];
    for pair in harmless {
        assert!(in_turn(4, false, pair).is_ok());
    }
}

#[test]
fn a_loop_that_does_not_end_is_named() {
    let mut s = Shader::new(4);
    let (body, continuing) = (s.b.kernel.add_block(&[]), s.b.kernel.add_block(&[]));
    s.b.span = Span::new(3, 5);
    let inst = s.b.inst(Op::Loop { body, continuing }, &[], &[]);
    s.b.span = Span::NONE;
    let outer = s.b.switch_to(body);
    s.b.effect(Op::Continue(inst), &[]);
    s.b.switch_to(continuing);
    let never = s.b.bool(false);
    s.b.effect(Op::Repeat, &[never]);
    s.b.switch_to(outer);
    let dispatch = Dispatch { max_steps: 1000, ..Dispatch::new([1, 1, 1]) };
    let fault = run(&s.finish(), 4, &dispatch, &[]).expect_err("it never ends");
    assert_eq!((&fault.kind, fault.span), (&FaultKind::Steps { limit: 1000 }, Span::new(3, 5)));
    assert_eq!(fault.diagnostic().code, Code::STEP_LIMIT);
}

#[test]
fn unreachable_places_are_not_reached() {
    let mut s = Shader::new(4);
    s.b.effect(Op::Unreachable, &[]);
    assert_eq!(s.run(4, 1, &[]).expect_err("it is reached").kind, FaultKind::Unreachable);
}

/// Only buffers have addresses.
#[test]
fn addresses_outside_of_buffers_are_faults() {
    for address in [0, 16, super::super::address_of(7)] {
        let mut s = Shader::new(4);
        let address = s.b.constant(Ty::B64, address);
        s.b.load(access(MemorySpace::Physical, 4), address);
        let fault = s.run(4, 1, &[]).expect_err("nothing is there");
        assert!(matches!(fault.kind, FaultKind::OutOfRange(_)), "{:?}", fault.kind);
    }
}

/// Kernels that cannot run are refused before the start.
#[test]
fn impossible_kernels_are_refused() {
    let mut s = Shader::new(1 << 9);
    s.b.kernel.workgroup_size = [u32::MAX; 3];
    assert_eq!(Program::new(&s.finish(), 4).expect_err("too large").code, Code::NOT_SUPPORTED);

    let s = Shader::new(4);
    assert_eq!(Program::new(&s.finish(), 24).expect_err("no such wave").code, Code::INTERNAL);
}
