//! Selections, loops, switches, calls, and unreachable code in them.

use super::{Shader, check};
use crate::ir::{ArrayLen, Binding, BuiltIn, Case, ControlHint, Param, Scalar, Space, Types, Value};
use crate::ir::{BinaryOp, BlockId, Builder};
use crate::source::Span;

fn numbers() -> Shader {
    Shader::new(|m| vec![m.types.array(Types::U32, ArrayLen::Runtime)])
}

fn element(b: &mut Builder, block: Value, index: Value) -> Value {
    let first = b.const_u32(0);
    b.access(block, &[first, index])
}

fn put(b: &mut Builder, block: Value, at: u32, value: u32) {
    let (at, value) = (b.const_u32(at), b.const_u32(value));
    let pointer = element(b, block, at);
    b.store(pointer, value);
}

fn get(b: &mut Builder, block: Value, at: u32) -> Value {
    let at = b.const_u32(at);
    let pointer = element(b, block, at);
    b.load(pointer)
}

#[test]
fn a_loop_over_the_buffer() {
    let mut shader = numbers();
    let id_type = shader.module.types.vector(Scalar::U32, 3);
    let id = shader.global("id", Space::Input, id_type, Binding::BuiltIn(BuiltIn::GlobalInvocationId));
    let module = shader.main(|b, block| {
        let first = b.access_const(id, 0);
        let start = b.load(first);
        let (i, len) = (b.local("i", Types::U32, None), b.array_length(block));
        b.store(i, start);
        let body = b.block(|b| {
            let at = b.load(i);
            let done = b.binary(BinaryOp::Ge, at, len);
            b.if_else(done, |b| b.break_(), |_| ());
            let pointer = element(b, block, at);
            let old = b.load(pointer);
            let new = b.binary(BinaryOp::Add, old, old);
            b.store(pointer, new);
        });
        let continuing = b.block(|b| {
            let (at, one) = (b.load(i), b.const_u32(64));
            let next = b.binary(BinaryOp::Add, at, one);
            b.store(i, next);
        });
        b.loop_(body, continuing, None, ControlHint::DontUnroll);
    });
    let [old, _, new] = check(&module);
    assert!(!old.contains("OpSelectionMerge"), "a conditional break needs no merge block:\n{old}");
    assert_eq!(old.matches("OpEntryPoint").count(), 1);
    assert!(new.matches('%').count() > old.matches('%').count(), "1.4 lists buffers too");
}

#[test]
fn a_selection_of_nothing_is_nothing() {
    let module = numbers().main(|b, block| {
        let (value, four) = (get(b, block, 1), b.const_u32(4));
        let more = b.binary(BinaryOp::Gt, value, four);
        b.if_else(more, |_| (), |_| ());
        put(b, block, 3, 7);
    });
    let [listing, ..] = check(&module);
    assert!(!listing.contains("OpBranchConditional"), "{listing}");
}

#[test]
fn a_loop_that_breaks_at_its_end_and_one_that_never_does() {
    let module = numbers().main(|b, block| {
        let body = b.block(|b| put(b, block, 0, 1));
        b.push_block();
        let (value, four) = (get(b, block, 1), b.const_u32(4));
        let done = b.binary(BinaryOp::Gt, value, four);
        let continuing = b.pop_block();
        b.loop_(body, continuing, Some(done), ControlHint::Unroll);
        let endless = b.block(|b| {
            let flag = get(b, block, 2);
            let zero = b.const_u32(0);
            let stop = b.binary(BinaryOp::Eq, flag, zero);
            b.if_else(stop, |b| b.ret(None), |b| b.continue_());
        });
        let nothing = b.block(|_| ());
        b.loop_(endless, nothing, None, ControlHint::None);
        put(b, block, 3, 7);
    });
    let [listing, ..] = check(&module);
    assert!(listing.contains("OpUnreachable"));
    assert_eq!(listing.matches("OpStore").count(), 1, "what no path reaches is not written:\n{listing}");
}

#[test]
fn a_loop_whose_continue_block_is_never_reached() {
    let module = numbers().main(|b, block| {
        let body = b.block(|b| {
            put(b, block, 0, 1);
            b.break_();
        });
        let continuing = b.block(|b| put(b, block, 1, 1));
        b.loop_(body, continuing, None, ControlHint::None);
        put(b, block, 2, 1);
    });
    assert_eq!(check(&module)[0].matches("OpStore").count(), 2);
}

#[test]
fn values_of_selections_meet_in_a_phi() {
    let module = numbers().main(|b, block| {
        let (value, zero) = (get(b, block, 0), b.const_u32(0));
        let positive = b.binary(BinaryOp::Ne, value, zero);
        let then = b.block(|b| {
            let inner_then = b.block(|b| {
                let one = b.const_u32(1);
                b.yield_(one);
            });
            let inner_else = b.block(|b| {
                let two = get(b, block, 2);
                b.yield_(two);
            });
            let inner = b.if_value(positive, inner_then, inner_else, Types::U32);
            b.yield_(inner);
        });
        let otherwise = b.block(|b| b.yield_(value));
        let chosen = b.if_value(positive, then, otherwise, Types::U32);
        let pointer = element(b, block, value);
        b.store(pointer, chosen);
    });
    assert_eq!(check(&module)[0].matches("OpPhi").count(), 2);
}

fn case(values: &[u64], default: bool, body: BlockId, falls_through: bool) -> Case {
    Case { values: values.to_vec(), default, body, falls_through }
}

#[test]
fn a_switch_falls_through_its_default() {
    let module = numbers().main(|b, block| {
        let selector = get(b, block, 0);
        let first = b.block(|b| put(b, block, 1, 1));
        let middle = b.block(|b| {
            let (value, nine) = (get(b, block, 3), b.const_u32(9));
            let leave = b.binary(BinaryOp::Eq, value, nine);
            b.if_else(leave, |b| b.break_(), |b| put(b, block, 1, 2));
        });
        let last = b.block(|b| b.ret(None));
        let cases = vec![
            case(&[1, 2], false, first, true),
            case(&[], true, middle, true),
            case(&[u64::from(u32::MAX)], false, last, false),
        ];
        b.switch(selector, cases, ControlHint::None);
        put(b, block, 4, 4);
    });
    check(&module);
}

#[test]
fn a_switch_without_default_inside_a_loop() {
    let module = numbers().main(|b, block| {
        let body = b.block(|b| {
            let selector = get(b, block, 0);
            let first = b.block(|b| b.continue_());
            let second = b.block(|b| b.break_());
            let cases = vec![case(&[1], false, first, false), case(&[2], false, second, false)];
            b.switch(selector, cases, ControlHint::Flatten);
            b.break_();
        });
        let continuing = b.block(|b| put(b, block, 1, 1));
        b.loop_(body, continuing, None, ControlHint::None);
    });
    check(&module);
}

#[test]
fn functions_with_values_and_pointers() {
    let mut shader = numbers();
    let pointer = shader.module.types.pointer(Space::Function, Types::U32);
    let params = vec![
        Param { name: "x".into(), span: Span::NONE, ty: Types::U32, is_out: false },
        Param { name: "out".into(), span: Span::NONE, ty: pointer, is_out: false },
    ];
    let mut callee = Builder::new(&mut shader.module, "twice", Span::NONE, params, Types::U32);
    let sum = callee.binary(BinaryOp::Add, Value::Param(0), Value::Param(0));
    callee.store(Value::Param(1), sum);
    callee.ret(Some(sum));
    let callee = callee.finish_into(None);
    let unused = shader.function(|b, block| put(b, block, 0, 0));
    let module = shader.main(|b, block| {
        let (argument, out) = (get(b, block, 0), b.local("out", Types::U32, None));
        let result = b.call(callee, &[argument, out]);
        let at = b.load(out);
        let pointer = element(b, block, at);
        b.store(pointer, result);
    });
    let [listing, ..] = check(&module);
    assert_eq!(listing.matches("OpFunctionEnd").count(), 2, "function {unused:?} is not reached");
}
