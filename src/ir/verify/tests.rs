//! A module that satisfies all rules, and one module per rule that violates it.

use super::*;
use crate::ir::layout::{Layouts, Rule};
use crate::ir::{
    Access, ArrayLen, AtomicOp, BinaryOp, Binding, Builder, Case, ControlHint, CooperativeMatrix, ForeignInstruction,
    Function, Inst, InstFlags, MathFn, MatrixOp, MatrixRole, Member, Op, Order, Param, Passing, Reconvergence,
    Requirements, Scalar, Scope, Struct, Value,
};
use crate::lane::{Group, LaneOp, Members, ReduceKind, ReduceOp, Width};
use crate::source::Span;

/// Builds a function with an `i32`, an `f32` and a `bool` parameter and returns the verifier's findings.
fn found(fill: impl FnOnce(&mut Builder<'_>)) -> Vec<String> {
    found_in(&mut Module::new(), Types::VOID, fill)
}

fn found_in(module: &mut Module, ret: TypeId, fill: impl FnOnce(&mut Builder<'_>)) -> Vec<String> {
    let param = |name: &str, ty| Param { name: name.into(), span: Span::NONE, ty, is_out: false };
    let params = vec![param("i", Types::I32), param("f", Types::F32), param("b", Types::BOOL)];
    let mut b = Builder::new(module, "f", Span::NONE, params, ret);
    fill(&mut b);
    b.finish_into(None);
    messages(module)
}

fn messages(module: &Module) -> Vec<String> {
    verify(module).err().unwrap_or_default().into_iter().map(|error| error.message).collect()
}

const I: Value = Value::Param(0);
const F: Value = Value::Param(1);
const B: Value = Value::Param(2);

#[track_caller]
fn assert_finds(found: &[String], part: &str) {
    assert!(found.iter().any(|message| message.contains(part)), "no `{part}` in {found:?}");
}

fn member(name: &str, ty: TypeId) -> Member {
    Member { name: name.into(), span: Span::NONE, ty, offset: None, access: Access::empty(), binding: Binding::None }
}

fn global(space: Space, ty: TypeId) -> Global {
    Global {
        name: "g".into(),
        span: Span::NONE,
        space,
        ty,
        binding: Binding::None,
        access: Access::empty(),
        init: None,
    }
}

fn block(module: &mut Module, laid_out: bool) -> TypeId {
    let tail = module.types.array(Types::F32, ArrayLen::Runtime);
    let members = vec![member("count", Types::U32), member("data", tail)];
    let id = module.types.structs.push(Struct {
        name: "Data".into(),
        span: Span::NONE,
        members,
        block: true,
        logical: None,
    });
    match laid_out {
        true => Layouts::new().lay_out_struct(module, id, Rule::Std430, false, &[]).unwrap().ty,
        false => module.types.intern(Type::Struct(id)),
    }
}

#[test]
fn a_good_module_passes() {
    let mut module = Module::new();
    let ty = block(&mut module, true);
    let buffer = Value::Global(module.globals.push(global(Space::Storage, ty)));
    let found = found_in(&mut module, Types::I32, |b| {
        let (zero, one) = (b.const_u32(0), b.const_u32(1));
        let place = b.access(buffer, &[one, I]);
        let value = b.load(place);
        let fold = LaneOp::Reduce {
            op: ReduceOp::Add,
            kind: ReduceKind::AllReduce,
            width: Width::SUBGROUP,
            members: Members::Active,
        };
        let sum = b.lane(fold, Types::F32, &[value]);
        b.if_else(B, |b| b.store(place, sum), |b| b.ret(Some(I)));
        let count = b.access(buffer, &[zero]);
        b.atomic(AtomicOp::Add, count, &[one], Scope::Device, Order::Relaxed);
        b.array_length(buffer);
        let body = b.block(|b| b.if_else(B, |b| b.break_(), |b| b.continue_()));
        let mut end = B;
        let continuing = b.block(|b| end = b.binary(BinaryOp::Lt, F, F));
        b.loop_(body, continuing, Some(end), ControlHint::None);
        let arms = [true, false].map(|default| {
            let body = b.block(|b| b.ret(Some(I)));
            Case { values: vec![u64::from(default)], default, body, falls_through: false }
        });
        b.switch(I, arms.into(), ControlHint::None);
    });
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn operands_have_the_types_that_operations_take() {
    assert_finds(&found(|b| _ = b.binary(BinaryOp::Add, I, F)), "f32 instead of i32");
    assert_finds(&found(|b| _ = b.binary(BinaryOp::LogicalAnd, I, I)), "not for i32");
    assert_finds(&found(|b| _ = b.binary(BinaryOp::MatrixTimesVector, F, F)), "not for f32 and f32");
    assert_finds(&found(|b| _ = b.unary(crate::ir::UnaryOp::Not, F)), "not for f32");
    assert_finds(&found(|b| _ = b.math(MathFn::Sin, &[I])), "operand 0 is i32, not Float");
    assert_finds(&found(|b| _ = b.math(MathFn::Clamp, &[F, F])), "2 operands instead of 3");
    assert_finds(&found(|b| _ = b.bitcast(B, Types::I32)), "from bool to i32");
    assert_finds(&found(|b| _ = b.select(I, F, F)), "the condition is i32");
    assert_finds(&found(|b| _ = b.extract(I, 0)), "has no number of parts");
    assert_finds(&found(|b| b.if_else(I, |_| {}, |_| {})), "i32 instead of bool");
    assert_finds(&found(|b| b.ret(Some(I))), "i32 instead of void");
    let shuffled = found(|b| {
        let v = b.splat(F, 2);
        b.swizzle(v, &[0, 5]);
    });
    assert_finds(&shuffled, "reaches past");
    let built = found(|b| {
        let vec3 = b.module.types.vector(Scalar::F32, 3);
        b.construct(vec3, &[F, F]);
    });
    assert_finds(&built, "2 components of vec3<f32>");
}

#[test]
fn results_have_the_types_that_operations_give() {
    let wrong = Op::Binary(BinaryOp::Lt, I, I);
    assert_finds(&found(|b| _ = b.emit(Types::I32, wrong)), "i32 instead of bool");
    assert_finds(&found(|b| _ = b.emit(Types::VOID, Op::Load(F))), "f32 is not a pointer");
}

#[test]
fn values_are_visible_where_they_are_used() {
    let found_after = found(|b| {
        let mut inner = I;
        b.if_else(B, |b| inner = b.binary(BinaryOp::Add, I, I), |_| {});
        b.unary(crate::ir::UnaryOp::Neg, inner);
    });
    assert_finds(&found_after, "not visible");
    let continuing = found(|b| {
        let mut value = I;
        let body = b.block(|b| value = b.binary(BinaryOp::Add, I, I));
        let continuing = b.block(|b| _ = b.unary(crate::ir::UnaryOp::Neg, value));
        b.loop_(body, continuing, Some(B), ControlHint::None);
    });
    assert_finds(&continuing, "not visible");
}

/// A function whose body consists of exactly these operations.
fn raw(ops: &[Op]) -> Vec<String> {
    let mut module = Module::new();
    let mut function = Function::new("f", Span::NONE, Vec::new(), Types::VOID);
    for op in ops {
        let inst = Inst { op: *op, ty: Types::VOID, span: Span::NONE, flags: InstFlags::empty() };
        let id = function.insts.push(inst);
        function.blocks[function.body].insts.push(id);
    }
    module.functions.push(function);
    messages(&module)
}

#[test]
fn control_flow_stays_inside_its_constructs() {
    assert_finds(&raw(&[Op::Return(None), Op::Demote]), "not the last");
    assert_finds(&raw(&[Op::Break]), "nothing here to break");
    assert_finds(&raw(&[Op::Continue]), "nothing here to continue");
    let body = crate::ir::BlockId::from_index(0);
    let again = Op::Loop { body, continuing: body, break_if: None, hint: ControlHint::None };
    assert_finds(&raw(&[again]), "used twice");
    let nowhere = crate::ir::BlockId::from_index(7);
    let lost = Op::Loop { body: nowhere, continuing: nowhere, break_if: None, hint: ControlHint::None };
    assert_finds(&raw(&[lost]), "does not exist");
    let ends = found(|b| {
        let (body, continuing) = (b.block(|_| {}), b.block(|b| b.ret(None)));
        b.loop_(body, continuing, None, ControlHint::None);
    });
    assert_finds(&ends, "cannot end the function");
    let valueless = found(|b| {
        let (then, otherwise) = (b.block(|b| b.yield_(I)), b.block(|_| {}));
        b.if_value(B, then, otherwise, Types::I32);
    });
    assert_finds(&valueless, "gives no value");
    let twice = found(|b| {
        let arms = [1, 1].map(|value| {
            let body = b.block(|_| {});
            Case { values: vec![value], default: false, body, falls_through: false }
        });
        b.switch(I, arms.into(), ControlHint::None);
    });
    assert_finds(&twice, "the case 1 is there twice");
}

#[test]
fn functions_with_a_result_give_one() {
    let mut module = Module::new();
    assert_finds(&found_in(&mut module, Types::I32, |_| {}), "reaches the end");
    let endless = found_in(&mut Module::new(), Types::I32, |b| {
        let (body, continuing) = (b.block(|_| {}), b.block(|_| {}));
        b.loop_(body, continuing, None, ControlHint::None);
    });
    assert_eq!(endless, Vec::<String>::new());
}

#[test]
fn access_chains_are_flat_and_in_range() {
    let mut module = Module::new();
    let row = module.types.array(Types::F32, ArrayLen::Fixed(4));
    let grid = module.types.array(row, ArrayLen::Fixed(2));
    let nested = found_in(&mut module, Types::VOID, |b| {
        let memory = b.local("grid", grid, None);
        let first = b.access(memory, &[I]);
        let list = b.function.list(&[I]);
        let ty = b.module.types.pointer(Space::Function, Types::F32);
        b.emit(ty, Op::Access { base: first, indices: list });
        b.access_const(memory, 2);
    });
    assert_finds(&nested, "not flat");
    assert_finds(&nested, "has no part 2");
}

#[test]
fn memory_has_the_layout_of_its_space() {
    let mut module = Module::new();
    let ty = block(&mut module, false);
    module.globals.push(global(Space::Storage, ty));
    assert_finds(&messages(&module), "has no layout");
    let mut module = Module::new();
    let ty = block(&mut module, true);
    module.globals.push(global(Space::Private, ty));
    assert_finds(&messages(&module), "has a layout");
    let mut module = Module::new();
    let sampler = module.types.intern(Type::Sampler);
    module.globals.push(global(Space::Private, sampler));
    assert_finds(&messages(&module), "cannot be of type sampler");
}

#[test]
fn stores_take_logical_values_into_memory_that_can_be_written() {
    let mut module = Module::new();
    let input = Value::Global(module.globals.push(global(Space::Input, Types::F32)));
    let found = found_in(&mut module, Types::VOID, |b| {
        b.store(input, F);
        let memory = b.local("x", Types::F32, None);
        b.store(memory, I);
        b.atomic(AtomicOp::Load, memory, &[], Scope::Device, Order::Relaxed);
    });
    assert_finds(&found, "cannot be written");
    assert_finds(&found, "i32 instead of f32");
    assert_finds(&found, "no atomics in Function space");
}

#[test]
fn lane_operations_have_their_operands() {
    let add = |width| LaneOp::Reduce { op: ReduceOp::Add, kind: ReduceKind::Reduce, width, members: Members::All };
    assert_finds(&found(|b| _ = b.lane(add(Width::SUBGROUP), Types::BOOL, &[B])), "is bool, not Number");
    assert_finds(&found(|b| _ = b.lane(LaneOp::Bpermute, Types::F32, &[F])), "1 operands instead of 2");
    assert_finds(&found(|b| _ = b.lane(LaneOp::Bpermute, Types::F32, &[F, F])), "is f32, not Index");
    assert_finds(&found(|b| _ = b.lane(LaneOp::Elect, Types::U32, &[])), "u32 instead of bool");
    let ballot = LaneOp::Ballot(Group::Subgroup);
    assert_finds(&found(|b| _ = b.lane(ballot, Types::U32, &[B])), "u32 instead of vec4<u32>");
    let sorted = found(|b| {
        let pair = b.module.types.pair(Types::I32, Types::F32);
        b.lane(LaneOp::Sort { width: Width::SUBGROUP }, pair, &[I, F]);
    });
    assert_eq!(sorted, Vec::<String>::new());
}

#[test]
fn calls_form_no_cycle() {
    let mut module = Module::new();
    let id = module.functions.push(Function::new("f", Span::NONE, Vec::new(), Types::VOID));
    let mut b = Builder::new(&mut module, "f", Span::NONE, Vec::new(), Types::VOID);
    b.call(id, &[]);
    b.finish_into(Some(id));
    assert_finds(&messages(&module), "a cycle of calls");
    let wrong = found(|b| _ = b.emit(Types::VOID, Op::Call(FuncId::from_index(5), Default::default())));
    assert_finds(&wrong, "does not exist");
}

#[test]
fn entry_points_take_nothing_and_have_a_size() {
    let mut module = Module::new();
    let function = module.functions.push(Function::new("main", Span::NONE, Vec::new(), Types::I32));
    let (zero, one) = (module.constants.u32(0), module.constants.i32(1));
    let mut entry = EntryPoint {
        name: "main".into(),
        stage: crate::ir::Stage::Compute,
        function,
        workgroup_size: [zero; 3],
        reconvergence: Reconvergence::Default,
        derivatives: None,
        fragment: Default::default(),
        primitives: Vec::new(),
    };
    module.functions[function].ret = Types::VOID;
    module.entry_points.push(entry.clone());
    assert_finds(&messages(&module), "workgroup size is zero");
    entry.workgroup_size = [one; 3];
    module.entry_points.push(entry);
    assert_finds(&messages(&module), "two of this name");
    module.entry_points.remove(0);
    assert_finds(&messages(&module), "of type i32");
}

#[test]
fn defects_are_told_as_messages() {
    let errors = {
        let mut module = Module::new();
        module.functions.push(Function::new("f", Span::NONE, Vec::new(), Types::I32));
        verify(&module).unwrap_err()
    };
    let diagnostic = errors[0].diagnostic();
    assert_eq!(diagnostic.code, Code::INTERNAL);
    assert!(diagnostic.message.contains("reaches the end"));
}

#[test]
fn types_are_whole() {
    let mut module = Module::new();
    let id = module.types.structs.push(Struct {
        name: "S".into(),
        span: Span::NONE,
        members: vec![member("x", Types::F32)],
        block: false,
        logical: None,
    });
    let twin = Struct { logical: Some(id), ..module.types.structs[id].clone() };
    module.types.add_struct(twin);
    assert_finds(&messages(&module), "member 0 `x` has no offset");
    let mut module = Module::new();
    let id = module.types.structs.push(Struct {
        name: "S".into(),
        span: Span::NONE,
        members: vec![],
        block: false,
        logical: None,
    });
    let ty = module.types.intern(Type::Struct(id));
    module.types.structs[id].members.push(member("self", ty));
    assert_finds(&messages(&module), "a cycle of members");
}

/// A cooperative matrix of this many rows and columns.
fn held(b: &mut Builder<'_>, rows: u32, columns: u32, role: MatrixRole) -> TypeId {
    let [scope, rows, columns] = [3, rows, columns].map(|number| b.module.constants.u32(number));
    let matrix = CooperativeMatrix { element: Types::F32, scope, rows, columns, role };
    b.module.types.intern(Type::CooperativeMatrix(matrix))
}

#[test]
fn cooperative_matrices_keep_their_shapes() {
    let found = found(|b| {
        let (a, other) = (held(b, 16, 8, MatrixRole::A), held(b, 8, 8, MatrixRole::B));
        let sum = held(b, 16, 8, MatrixRole::Accumulator);
        let [x, y, z] = [a, other, sum].map(|ty| b.construct(ty, &[F]));
        let product = MatrixOp::MulAdd { saturating: false };
        let fine = b.cooperative(product, &[x, y, z], sum);
        let doubled = b.binary(BinaryOp::Add, fine, z);
        b.binary(BinaryOp::TimesScalar, doubled, F);
        b.cooperative(product, &[y, x, z], sum);
        b.cooperative(product, &[x, y, z], a);
        b.binary(BinaryOp::Add, x, y);
        b.binary(BinaryOp::Lt, z, z);
        b.convert(x, other);
        b.construct(a, &[I]);
        b.cooperative(MatrixOp::StoreTensor, &[F, x, I], Types::VOID);
        b.cooperative(MatrixOp::PerElement(FuncId::from_index(5)), &[x, F], a);

        b.cooperative(MatrixOp::Length(Types::F32), &[], Types::U32);
        b.cooperative(MatrixOp::Load, &[F, I, I], a);
    });
    for part in
        ["in the roles", "instead of", "not for", "not a scalar or vector", "i32 instead", "not a cooperative matrix"]
    {
        assert_finds(&found, part);
    }
    assert_finds(&found, "a function of None parameters in place of 4");
    assert_finds(&found, "f32 is not a pointer");
    assert_eq!(found.len(), 10, "{found:?}");
}

#[test]
fn cooperative_matrices_are_of_one_invocation() {
    let mut module = Module::new();
    let ty = held(&mut Builder::outside(&mut module), 16, 16, MatrixRole::A);
    module.globals.push(global(Space::Private, ty));
    assert!(messages(&module).is_empty());
    module.globals.push(global(Space::Workgroup, ty));
    assert_finds(&messages(&module), "cannot be of type cooperative<f32, scope spec, spec x spec, a>");
}

#[test]
fn foreign_instructions_take_what_they_say() {
    let found = found(|b| {
        let arguments = vec![Passing::Value, Passing::Reference, Passing::Literal];
        let requires = Requirements::default();
        b.module.foreign.instructions.push(ForeignInstruction { set: None, opcode: 62, arguments, requires });
        let (memory, number) = (b.local("x", Types::F32, None), b.const_i32(2));
        b.foreign(0, &[F, memory, number], Types::VOID);
        b.foreign(0, &[memory, memory, number], Types::VOID);
        b.foreign(0, &[F, F, number], Types::VOID);
        b.foreign(0, &[F, memory, I], Types::VOID);
        b.foreign(0, &[F], Types::VOID);
        b.foreign(1, &[], Types::VOID);
    });
    for part in ["passed as Value", "passed as Reference", "passed as Literal", "1 arguments", "no such foreign"] {
        assert_finds(&found, part);
    }
    assert_eq!(found.len(), 5, "{found:?}");
}
