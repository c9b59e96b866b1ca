//! Variables as values, calls inlined, equal and dead instructions.

use super::{Shader, assemble, check, listing, options};
use crate::backend::{DebugInfo, Optimize};
use crate::ir::{
    Access, ArrayLen, BinaryOp, Binding, Builder, BuiltIn, ControlHint, FuncId, LocalId, MemoryKinds, Module, Order,
    Param, Scalar, Scope, Space, Types, Value,
};
use crate::source::Span;

fn optimized(module: &Module, goal: Optimize) -> String {
    check(module);
    let mut options = options("spirv-1.6");
    options.manner.optimize = goal;
    listing(&assemble(module, &options))
}

fn numbers() -> Shader {
    Shader::new(|m| vec![m.types.array(Types::U32, ArrayLen::Runtime)])
}

fn element(b: &mut Builder, block: Value, at: u32) -> Value {
    let (first, at) = (b.const_u32(0), b.const_u32(at));
    b.access(block, &[first, at])
}

fn get(b: &mut Builder, block: Value, at: u32) -> Value {
    let pointer = element(b, block, at);
    b.load(pointer)
}

fn put(b: &mut Builder, block: Value, at: u32, value: Value) {
    let pointer = element(b, block, at);
    b.store(pointer, value);
}

/// Adds numbers in a loop that `continue` and `break` shorten.
fn sum(shader: Shader) -> Module {
    shader.main(|b, block| {
        let (zero, one) = (b.const_u32(0), b.const_u32(1));
        let (i, sum) = (b.local("i", Types::U32, None), b.local("sum", Types::U32, None));
        b.store(i, zero);
        b.store(sum, zero);
        let body = b.block(|b| {
            let (at, limit) = (b.load(i), get(b, block, 0));
            let done = b.binary(BinaryOp::Ge, at, limit);
            b.if_else(done, |b| b.break_(), |_| ());
            let odd = b.binary(BinaryOp::And, at, one);
            let is_odd = b.binary(BinaryOp::Eq, odd, one);
            b.if_else(is_odd, |b| b.continue_(), |_| ());
            let before = b.load(sum);
            let after = b.binary(BinaryOp::Add, before, at);
            b.store(sum, after);
        });
        let continuing = b.block(|b| {
            let at = b.load(i);
            let next = b.binary(BinaryOp::Add, at, one);
            b.store(i, next);
        });
        b.loop_(body, continuing, None, ControlHint::None);
        let all = b.load(sum);
        put(b, block, 1, all);
    })
}

#[test]
fn rounds_of_a_loop_hand_on_values() {
    let text = optimized(&sum(numbers()), Optimize::Speed);
    assert!(!text.contains("Function\n"), "a variable is left:\n{text}");
    assert_eq!(text.matches("OpPhi").count(), 3, "the number, the sum, and the sum where the body ends:\n{text}");
}

#[test]
fn variables_stay_where_debuggers_look_for_them() {
    let mut module = sum(numbers());
    let function = module.entry_points[0].function;
    module.functions[function].locals[LocalId::from_index(0)].scope = Span { lo: 1, hi: 2 };
    let mut options = options("spirv-1.6");
    options.manner.optimize = Optimize::Speed;
    options.debug = DebugInfo::Full;
    let text = listing(&assemble(&module, &options));
    assert_eq!(text.matches("OpVariable").count(), 2, "the buffer and the variable of the source:\n{text}");
}

#[test]
fn equal_computations_are_written_once() {
    let module = numbers().main(|b, block| {
        let (x, y) = (get(b, block, 0), get(b, block, 1));
        for at in 2..4 {
            let product = b.binary(BinaryOp::Mul, x, y);
            put(b, block, at, product);
        }
        let unused = b.binary(BinaryOp::Sub, x, y);
        let kept = b.local("kept", Types::U32, None);
        b.store(kept, unused);
    });
    let text = optimized(&module, Optimize::Speed);
    assert_eq!(text.matches("OpIMul").count(), 1, "{text}");
    assert_eq!(text.matches("OpISub").count(), 0, "{text}");
}

#[test]
fn arms_share_nothing_with_each_other() {
    let module = numbers().main(|b, block| {
        let (x, y) = (get(b, block, 0), get(b, block, 1));
        let less = b.binary(BinaryOp::Lt, x, y);
        let arm = |b: &mut Builder, at: u32| {
            let product = b.binary(BinaryOp::Mul, x, y);
            put(b, block, at, product);
        };
        b.if_else(less, |b| arm(b, 2), |b| arm(b, 3));
    });
    let text = optimized(&module, Optimize::Speed);
    assert_eq!(text.matches("OpIMul").count(), 2, "{text}");
}

/// `uint f(uint x) { if (x > 3) return 7; return x + 1; }`, in which a `discard` may replace the first return.
fn early(module: &mut Module) -> FuncId {
    let params = vec![Param { name: "x".into(), span: Span::NONE, ty: Types::U32, is_out: false }];
    let mut b = Builder::new(module, "f", Span::NONE, params, Types::U32);
    let (three, seven, one) = (b.const_u32(3), b.const_u32(7), b.const_u32(1));
    let more = b.binary(BinaryOp::Gt, Value::Param(0), three);
    b.if_else(more, |b| b.ret(Some(seven)), |_| ());
    let next = b.binary(BinaryOp::Add, Value::Param(0), one);
    b.ret(Some(next));
    b.finish_into(None)
}

#[test]
fn calls_are_inlined_with_their_early_returns() {
    let mut shader = numbers();
    let callee = early(&mut shader.module);
    let module = shader.main(|b, block| {
        for at in 0..2 {
            let x = get(b, block, at);
            let y = b.call(callee, &[x]);
            put(b, block, at, y);
        }
    });
    let text = optimized(&module, Optimize::Speed);
    assert_eq!(text.matches("OpFunctionCall").count(), 0, "{text}");
    assert_eq!(text.matches("OpSelect ").count(), 2, "{text}");
    let text = optimized(&module, Optimize::Size);
    assert_eq!(text.matches("OpFunctionCall").count(), 2, "{text}");
}

#[test]
fn constants_pass_through_variables_and_choose_ways() {
    let mut shader = numbers();
    let id_type = shader.module.types.vector(Scalar::U32, 3);
    let id = shader.global("id", Space::Input, id_type, Binding::BuiltIn(BuiltIn::GlobalInvocationId));
    let at = shader.global("at", Space::Private, Types::U32, Binding::None);
    let module = shader.main(|b, block| {
        let (zero, one) = (b.const_u32(0), b.const_u32(1));
        let first = b.access_const(id, 0);
        let x = b.load(first);
        b.store(at, zero);
        let start = b.load(at);
        let is_start = b.binary(BinaryOp::Eq, start, zero);
        b.if_else(is_start, |b| put(b, block, 5, x), |b| b.ret(None));
        let next = b.load(at);
        let next = b.binary(BinaryOp::Add, next, one);
        b.store(at, next);
        let last = b.load(at);
        put(b, block, 6, last);
    });
    let text = optimized(&module, Optimize::Speed);
    for gone in ["Private", "OpIAdd", "OpIEqual", "OpSelectionMerge"] {
        assert!(!text.contains(gone), "{gone}:\n{text}");
    }
}

/// `y = x; if (x > 3) y = x op 3;`
fn guarded(op: BinaryOp, hint: ControlHint) -> Module {
    numbers().main(|b, block| {
        let (x, three) = (get(b, block, 0), b.const_u32(3));
        let y = b.local("y", Types::U32, None);
        b.store(y, x);
        let more = b.binary(BinaryOp::Gt, x, three);
        let then = b.block(|b| {
            let other = b.binary(op, three, x);
            b.store(y, other);
        });
        let otherwise = b.block(|_| ());
        b.if_(more, then, otherwise, hint);
        let y = b.load(y);
        put(b, block, 1, y);
    })
}

#[test]
fn short_selections_become_choices() {
    let merges = |op, hint| optimized(&guarded(op, hint), Optimize::Speed).matches("OpSelectionMerge").count();
    assert_eq!(merges(BinaryOp::Sub, ControlHint::None), 0);
    assert_eq!(merges(BinaryOp::Sub, ControlHint::DontFlatten), 1, "the source keeps the branch");
    assert_eq!(merges(BinaryOp::Div, ControlHint::Flatten), 1, "the divisor may be zero");
}

#[test]
fn constants_in_a_row_are_one() {
    let module = numbers().main(|b, block| {
        let (mut x, zero) = (get(b, block, 0), b.const_u32(0));
        for (op, by) in [(BinaryOp::Add, 3), (BinaryOp::Sub, 5), (BinaryOp::Add, 4), (BinaryOp::Shl, 0)] {
            let by = b.const_u32(by);
            x = b.binary(op, x, by);
        }
        let x = b.binary(BinaryOp::Or, zero, x);
        put(b, block, 1, x);
    });
    let text = optimized(&module, Optimize::Speed);
    assert_eq!(text.matches("OpIAdd").count(), 1, "{text}");
    for gone in ["OpISub", "OpShiftLeftLogical", "OpBitwiseOr"] {
        assert!(!text.contains(gone), "{gone}:\n{text}");
    }
}

/// Loads from a second buffer with the given access, before and after a store and a barrier.
fn read_twice(access: Access) -> Module {
    let mut shader = numbers();
    let binding = Binding::Resource { set: 0, binding: 1 };
    let ty = shader.module.globals[shader.block].ty;
    let other = shader.global("other", Space::Storage, ty, binding);
    let Value::Global(id) = other else { unreachable!() };
    shader.module.globals[id].access = access;
    shader.main(|b, block| {
        for at in 0..2 {
            let x = get(b, other, 3);
            put(b, block, at, x);
        }
        b.barrier(Some(Scope::Workgroup), Scope::Workgroup, MemoryKinds::BUFFER, Order::AcquireRelease);
        let x = get(b, other, 3);
        put(b, block, 2, x);
    })
}

#[test]
fn memory_that_is_only_read_is_read_once_between_barriers() {
    let loads = |access| optimized(&read_twice(access), Optimize::Speed).matches("OpLoad").count();
    assert_eq!(loads(Access::READONLY), 2);
    assert_eq!(loads(Access::empty()), 3);
    assert_eq!(loads(Access::READONLY | Access::COHERENT), 3);
}
