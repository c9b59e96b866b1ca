//! Whole modules and their listings.

use super::*;
use crate::ir::layout::{Layouts, Rule};
use crate::ir::{
    ArrayLen, AtomicOp, BinaryOp, Builder, Case, ConstValue, ControlHint, Global, InstFlags, MemoryKinds, Order, Param,
    Scalar, Scope, Stage, Types, Value,
};
use crate::lane::{Group, LaneOp, Members, ReduceKind, ReduceOp, ShuffleMode, Width};
use crate::source::{SourceMap, Span};

fn member(name: &str, ty: TypeId) -> crate::ir::Member {
    crate::ir::Member {
        name: name.into(),
        span: Span::NONE,
        ty,
        offset: None,
        access: Access::empty(),
        binding: Binding::None,
    }
}

fn storage_block(module: &mut Module) -> GlobalId {
    let tail = module.types.array(Types::F32, ArrayLen::Runtime);
    let mat = module.types.matrix(Scalar::F32, 2, 3);
    let members = vec![member("scale", mat), member("data", tail)];
    let id = module.types.structs.push(Struct {
        name: "Data".into(),
        span: Span::NONE,
        members,
        block: true,
        logical: None,
    });
    let laid = Layouts::new().lay_out_struct(module, id, Rule::Std430, true, &[]).unwrap();
    module.globals.push(Global {
        name: "data".into(),
        span: Span::NONE,
        space: Space::Storage,
        ty: laid.ty,
        binding: Binding::Resource { set: 0, binding: 2 },
        access: Access::READONLY,
        init: None,
    })
}

#[track_caller]
fn assert_text(module: &Module, expected: &str) {
    let text = print(module, None);
    assert!(text == expected, "got\n{text}\nexpected\n{expected}");
}

#[test]
fn a_module_shows_every_fact() {
    let mut module = Module::new();
    let buffer = storage_block(&mut module);
    let size = module.constants.intern(Types::U32, ConstValue::Spec { id: 0, default: 64 });
    module.spec_names.push((0, "SIZE".into()));
    let mut b = Builder::new(&mut module, "main", Span::NONE, Vec::new(), Types::VOID);
    let lane = b.lane(LaneOp::LaneIndex(Group::Subgroup), Types::U32, &[]);
    let two = b.const_u32(2);
    let double = b.binary(BinaryOp::Mul, Value::Const(size), two);
    let index = b.binary(BinaryOp::Add, lane, double);
    let member = b.const_u32(1);
    let pointer = b.access(Value::Global(buffer), &[member, index]);
    b.flags = InstFlags::PRECISE;
    let value = b.load(pointer);
    let fold = LaneOp::Reduce {
        op: ReduceOp::Add,
        kind: ReduceKind::AllReduce,
        width: Width::new(16).unwrap(),
        members: Members::All,
    };
    let sum = b.lane(fold, Types::F32, &[value]);
    b.flags = InstFlags::empty();
    b.store(pointer, sum);
    b.ret(None);
    let function = b.finish_into(None);
    let one = module.constants.u32(1);
    module.entry_points.push(EntryPoint {
        name: "main".into(),
        stage: Stage::Compute,
        function,
        workgroup_size: [size, one, one],
        reconvergence: Reconvergence::Maximal,
        derivatives: None,
        fragment: Default::default(),
        primitives: Vec::new(),
    });
    assert_text(
        &module,
        "\
struct Data block {
    scale: mat2x3<f32>
    data: [f32]
}

struct Data.1 block lays out Data {
    @0 scale: mat2x3<f32 stride 8 row-major>
    @24 data: [f32 stride 4]
}

const SIZE: u32 = spec 0 default 64u
const #2: u32 = mul(SIZE, 2u)

storage @data: Data.1 readonly set 0 binding 2

fn main() {
    %1: u32 = lane lane_index<subgroup>
    %2: u32 = add %1, #2
    %3: ptr<storage, f32> = access @data[1u, %2]
    %4: f32 = load %3 !precise
    %5: f32 = lane all_reduce.add<16> %4 !precise
    store %3, %5
    return
}

entry compute \"main\" = main, workgroup SIZE x 1u x 1u, maximal reconvergence
",
    );
}

#[test]
fn control_flow_is_indented() {
    let mut module = Module::new();
    let params = vec![
        Param { name: "x".into(), span: Span::NONE, ty: Types::I32, is_out: false },
        Param { name: "p".into(), span: Span::NONE, ty: Types::BOOL, is_out: false },
    ];
    let mut b = Builder::new(&mut module, "walk", Span::NONE, params, Types::I32);
    let (x, p) = (Value::Param(0), Value::Param(1));
    let zero = b.module.constants.i32(0);
    let count = b.local("count", Types::I32, Some(zero));
    let body = b.block(|b| {
        let arm = b.block(|b| b.store(count, x));
        let other = b.block(|b| b.break_());
        let cases = vec![
            Case { values: vec![1, 2], default: false, body: arm, falls_through: true },
            Case { values: vec![], default: true, body: other, falls_through: false },
        ];
        b.switch(x, cases, ControlHint::Flatten);
        b.if_else(p, |b| b.continue_(), |_| {});
        b.if_else(p, |_| {}, |b| b.break_());
    });
    let mut end = None;
    let continuing = b.block(|b| {
        let value = b.load(count);
        end = Some(b.binary(BinaryOp::Gt, value, x));
    });
    b.loop_(body, continuing, end, ControlHint::Unroll);
    let then = b.block(|b| b.yield_(x));
    let otherwise = b.block(|b| {
        let value = b.load(count);
        b.yield_(value);
    });
    let value = b.if_value(p, then, otherwise, Types::I32);
    b.ret(Some(value));
    b.finish_into(None);
    assert_text(
        &module,
        "\
fn walk(x: i32, p: bool) -> i32 {
    local $count: i32 = 0
    loop [unroll] {
        switch x [flatten] {
            case 1, case 2 {
                store $count, x
            } falls through
            default {
                break
            }
        }
        if p {
            continue
        }
        unless p {
            break
        }
    } continuing {
        %1: i32 = load $count
        %2: bool = gt %1, x
    } break if %2
    %3: i32 = if p {
        yield x
    } else {
        %4: i32 = load $count
        yield %4
    }
    return %3
}
",
    );
}

#[test]
fn operations_have_words() {
    let mut module = Module::new();
    let counter = module.globals.push(Global {
        name: "counter".into(),
        span: Span::NONE,
        space: Space::Workgroup,
        ty: Types::U32,
        binding: Binding::None,
        access: Access::empty(),
        init: None,
    });
    let vec2 = module.types.vector(Scalar::F32, 2);
    let params = vec![Param { name: "v".into(), span: Span::NONE, ty: vec2, is_out: false }];
    let mut b = Builder::new(&mut module, "f", Span::NONE, params, Types::VOID);
    let (v, one) = (Value::Param(0), b.const_u32(1));
    b.atomic(AtomicOp::Add, Value::Global(counter), &[one], Scope::Workgroup, Order::AcquireRelease);
    b.barrier(Some(Scope::Workgroup), Scope::Workgroup, MemoryKinds::SHARED, Order::AcquireRelease);
    let swapped = b.swizzle(v, &[1, 0]);
    b.lane(LaneOp::Shuffle(ShuffleMode::Xor), vec2, &[swapped, one]);
    let half = b.const_f32(0.5);
    let halves = b.splat(half, 2);
    b.math(crate::ir::MathFn::SmoothStep, &[halves, v, v]);
    b.insert(v, 1, half);
    b.finish_into(None);
    assert_text(
        &module,
        "\
workgroup @counter: u32

fn f(v: vec2<f32>) {
    %1: u32 = atomic.add.workgroup.acquire_release @counter, 1u
    barrier execution workgroup, memory workgroup (shared) acquire_release
    %2: vec2<f32> = swizzle v.yx
    %3: vec2<f32> = lane shuffle.xor %2, 1u
    %4: vec2<f32> = smooth_step vec2<f32>(0.5, 0.5), v, v
    %5: vec2<f32> = insert v, 1, 0.5
}
",
    );
}

#[test]
fn numbers_show_their_type() {
    let mut module = Module::new();
    let mut text = |scalar: Scalar, bits| {
        let ty = module.types.scalar(scalar);
        let id = module.constants.intern(ty, ConstValue::Bits(bits));
        constants::reference(&module, id, &|_| String::new())
    };
    let short = Scalar { kind: crate::ir::ScalarKind::Sint, width: 16 };
    assert_eq!(text(Scalar::I32, 0xffff_ffff), "-1");
    assert_eq!(text(Scalar::U32, 7), "7u");
    assert_eq!(text(short, 0xfffe), "-2i16");
    assert_eq!(text(Scalar::F32, u64::from(0.1f32.to_bits())), "0.1");
    assert_eq!(text(Scalar::F64, 1f64.to_bits()), "1.0f64");
    assert_eq!(text(Scalar::F32, 0x7fc0_0000), "nan(0x7fc00000)");
}

#[test]
fn lines_say_where_they_come_from() {
    let mut sources = SourceMap::new();
    let file = sources.add("a.comp", "one\ntwo\n").unwrap();
    let base = sources.file(file).base;
    let mut module = Module::new();
    let mut b = Builder::new(&mut module, "f", Span::NONE, Vec::new(), Types::VOID);
    b.span = Span::new(base + 4, base + 7);
    b.demote();
    b.ret(None);
    b.finish_into(None);
    let text = print(&module, Some(&sources));
    assert_eq!(text, format!("fn f() {{\n    demote{:62}  // a.comp:2\n    return\n}}\n", ""));
}
