//! Layouts, conversions between memory and values, atomics, barriers, workgroup memory.

use super::{Shader, assemble, check, listing, logical_struct, options};
use crate::backend::DebugInfo;
use crate::ir::{
    Access, ArrayLen, AtomicOp, BinaryOp, Binding, ConstValue, CooperativeMatrix, EntryPoint, InstFlags, MatrixOp,
    MatrixRole, MemoryKinds, Module, Order, Reconvergence, Scalar, ScalarKind, Scope, Space, SpecOp, Stage, Type,
    TypeId, Types,
};

/// A struct with a bool, a vector, matrices and an array of structs.
fn everything(m: &mut Module) -> TypeId {
    let (bools, vector) = (m.types.vector(Scalar::BOOL, 2), m.types.vector(Scalar::F32, 3));
    let (square, tall) = (m.types.matrix(Scalar::F32, 3, 3), m.types.matrix(Scalar::F32, 2, 4));
    let inner = logical_struct(m, "Inner", &[Types::BOOL, square], false);
    let inners = m.types.array(inner, ArrayLen::Fixed(3));
    let talls = m.types.array(tall, ArrayLen::Fixed(2));
    logical_struct(m, "Outer", &[bools, vector, inners, talls], false)
}

#[test]
fn composites_with_bools_are_converted_part_by_part() {
    let module = Shader::new(|m| vec![everything(m), everything(m)]).main(|b, block| {
        let (from, to) = (b.access_const(block, 0), b.access_const(block, 0));
        let value = b.load(from);
        b.store(to, value);
        let (zero, two) = (b.const_u32(0), b.const_u32(2));
        let flag = b.access(block, &[zero, two, two, zero]);
        let loaded = b.load(flag);
        let not = b.unary(crate::ir::UnaryOp::LogicalNot, loaded);
        b.store(flag, not);
    });
    for listing in check(&module) {
        assert!(listing.contains("OpINotEqual") && listing.contains("OpSelect"));
    }
}

/// A chain is only shared within its block: one arm does not see the other's.
#[test]
fn equal_access_chains_of_a_block_are_one() {
    let module = Shader::new(|_| vec![Types::F32, Types::BOOL]).main(|b, block| {
        let flag = b.access_const(block, 1);
        let is_set = b.load(flag);
        let twice = |b: &mut crate::ir::Builder| {
            let (from, to) = (b.access_const(block, 0), b.access_const(block, 0));
            let value = b.load(from);
            b.store(to, value);
        };
        b.if_else(is_set, twice, twice);
        twice(b);
    });
    for listing in check(&module) {
        assert_eq!(listing.matches("OpAccessChain").count(), 4, "{listing}");
    }
}

#[test]
fn layouts_alone_are_copied_at_once_where_the_version_can() {
    let module = Shader::new(|m| {
        let matrix = m.types.matrix(Scalar::F32, 4, 4);
        let inner = logical_struct(m, "Plain", &[matrix, Types::F32], false);
        vec![m.types.array(inner, ArrayLen::Fixed(2)), m.types.array(inner, ArrayLen::Fixed(2))]
    })
    .main(|b, block| {
        let (from, to) = (b.access_const(block, 0), b.access_const(block, 1));
        let value = b.load(from);
        let (zero, ty) = (b.const_u32(1), b.type_of(value));
        let local = b.local("copy", ty, None);
        b.store(local, value);
        let scalar = b.access(local, &[zero, zero]);
        let loaded = b.load(scalar);
        b.store(scalar, loaded);
        let value = b.load(local);
        b.store(to, value);
    });
    let [old, new, newest] = check(&module);
    assert!(!old.contains("OpCopyLogical"));
    assert!([new, newest].iter().all(|text| text.matches("OpCopyLogical").count() == 2));
}

#[test]
fn indices_are_computed_with_whatever_their_width() {
    let narrow = Scalar { kind: ScalarKind::Uint, width: 8 };
    let module = Shader::new(|m| {
        let byte = m.types.scalar(narrow);
        vec![byte, m.types.array(Types::F32, ArrayLen::Fixed(4))]
    })
    .main(|b, block| {
        let byte = b.access_const(block, 0);
        let (index, one) = (b.load(byte), b.const_u32(1));
        let element = b.access(block, &[one, index]);
        let loaded = b.load(element);
        b.store(element, loaded);
    });
    for listing in check(&module) {
        assert!(listing.contains("OpCapability Int8"));
    }
}

#[test]
fn workgroup_memory_atomics_and_barriers() {
    let mut shader = Shader::new(|m| vec![m.types.array(Types::U32, ArrayLen::Runtime)]);
    let flags = shader.module.types.vector(Scalar::BOOL, 3);
    let flags = shader.module.types.array(flags, ArrayLen::Fixed(4));
    let flags = shader.global("flags", Space::Workgroup, flags, Binding::None);
    let count = shader.global("count", Space::Workgroup, Types::I32, Binding::None);
    let module = shader.main(|b, block| {
        let (two, three) = (b.const_u32(2), b.const_u32(3));
        let flag = b.access(flags, &[three, two]);
        let _ = b.load(flags);
        let yes = b.const_bool(true);
        let component = b.access(flags, &[three, two]);
        b.store(component, yes);
        let one = b.const_i32(1);
        for op in [AtomicOp::Add, AtomicOp::Min, AtomicOp::Max, AtomicOp::And, AtomicOp::Exchange, AtomicOp::Store] {
            b.atomic(op, count, &[one], Scope::Workgroup, Order::Relaxed);
        }
        let all = MemoryKinds::SHARED | MemoryKinds::BUFFER;
        b.barrier(Some(Scope::Workgroup), Scope::Workgroup, all, Order::AcquireRelease);
        b.barrier(None, Scope::Device, MemoryKinds::all(), Order::AcquireRelease);
        b.barrier(None, Scope::Device, MemoryKinds::empty(), Order::AcquireRelease);
        let zero = b.const_u32(0);
        let word = b.access(block, &[zero, three]);
        b.atomic(AtomicOp::CompareExchange, word, &[three, zero], Scope::Device, Order::AcquireRelease);
        b.atomic(AtomicOp::Max, word, &[three], Scope::Device, Order::Relaxed);
        let _ = (flag, b.atomic(AtomicOp::Load, word, &[], Scope::Device, Order::Acquire));
    });
    let [listing, ..] = check(&module);
    assert_eq!(listing.matches("OpMemoryBarrier").count(), 1);
    assert!(listing.contains("OpAtomicSMin") && listing.contains("OpAtomicUMax"));
}

#[test]
fn specialization_constants_give_sizes() {
    let mut shader = Shader::new(|m| vec![m.types.array(Types::U32, ArrayLen::Runtime)]);
    let m = &mut shader.module;
    let size = m.constants.intern(Types::U32, ConstValue::Spec { id: 3, default: 32 });
    let two = m.constants.u32(2);
    let op = SpecOp::Binary(BinaryOp::Mul);
    let twice = m.constants.intern(Types::U32, ConstValue::SpecOp { op, args: [size, two].into() });
    let flag = m.constants.intern(Types::BOOL, ConstValue::Spec { id: 4, default: 1 });
    let number = m.constants.intern(Types::I32, ConstValue::SpecOp { op: SpecOp::Convert, args: [flag].into() });
    let array = m.types.array(Types::I32, ArrayLen::Spec(twice));
    let wide = m.types.scalar(Scalar { kind: ScalarKind::Sint, width: 64 });
    let number = [(Types::F32, flag), (wide, number), (Types::U32, number), (Types::I32, twice), (Types::BOOL, size)]
        .map(|(ty, from)| m.constants.intern(ty, ConstValue::SpecOp { op: SpecOp::Convert, args: [from].into() }));
    let shared = shader.global("scratch", Space::Workgroup, array, Binding::None);
    let function = shader.function(|b, _| {
        for constant in number {
            let value = crate::ir::Value::Const(constant);
            let ty = b.type_of(value);
            let local = b.local("x", ty, None);
            b.store(local, value);
        }
        let (at, three) = (b.access_const(shared, 3), b.const_i32(3));
        b.store(at, three);
    });
    let module = &mut shader.module;
    let one = module.constants.u32(1);
    let reconvergence = Reconvergence::SubgroupUniform;
    let workgroup_size = [size, one, one];
    module.spec_names.push((3, "SIZE".into()));
    let name = "main".into();
    module.entry_points.push(EntryPoint {
        name,
        stage: Stage::Compute,
        function,
        workgroup_size,
        reconvergence,
        derivatives: None,
        fragment: Default::default(),
        primitives: Vec::new(),
    });
    let [old, _, new] = check(module);
    assert!(old.contains("BuiltIn WorkgroupSize") && new.contains("LocalSizeId"));
}

#[test]
fn names_come_with_debug_information_only() {
    let module = Shader::new(|m| vec![Types::U32, m.types.array(Types::F32, ArrayLen::Runtime)]).main(|b, block| {
        let pointer = b.access_const(block, 0);
        let length = b.array_length(block);
        b.store(pointer, length);
    });
    let mut options = options("spirv-1.5");
    assert!(!listing(&assemble(&module, &options)).contains("OpName"));
    options.debug = DebugInfo::Lines;
    let named = listing(&assemble(&module, &options));
    assert!(named.contains("\"data\"") && named.contains("\"m1\"") && named.contains("OpMemberName"));
}

#[test]
fn cooperative_matrices_want_the_memory_model_of_vulkan() {
    let mut shader = Shader::new(|m| vec![m.types.array(Types::F32, ArrayLen::Runtime)]);
    shader.module.globals[shader.block].access = Access::COHERENT | Access::VOLATILE;
    let row = shader.module.types.array(Types::F32, ArrayLen::Fixed(256));
    let row = shader.global("row", Space::Workgroup, row, Binding::None);
    let module = shader.main(|b, block| {
        let [scope, size] = [3, 16].map(|number| b.module.constants.u32(number));
        let role = MatrixRole::Accumulator;
        let matrix = CooperativeMatrix { element: Types::F32, scope, rows: size, columns: size, role };
        let ty = b.module.types.intern(Type::CooperativeMatrix(matrix));
        let [zero, stride] = [0, 16].map(|number| b.const_u32(number));
        let first = b.access(row, &[zero]);
        let loaded = b.cooperative(MatrixOp::Load, &[first, zero, stride], ty);
        b.flags = InstFlags::COHERENT;
        let first = b.access(block, &[zero, stride]);
        b.cooperative(MatrixOp::Store, &[first, loaded, zero, stride], Types::VOID);
        b.flags = InstFlags::COHERENT | InstFlags::DEVICE | InstFlags::VOLATILE;
        let number = b.load(first);
        b.store(first, number);
        b.barrier(Some(Scope::Workgroup), Scope::Workgroup, MemoryKinds::SHARED, Order::AcquireRelease);
        b.barrier(None, Scope::QueueFamily, MemoryKinds::BUFFER, Order::Release);
    });
    for listing in check(&module) {
        // Release and all of both orders, of buffers and shared memory, with availability and visibility.
        for part in ["OpMemoryModel Logical Vulkan", "NonPrivatePointer", " 8260\n", " 24840\n"] {
            assert!(listing.contains(part), "no `{part}` in {listing}");
        }
        assert!(!listing.contains(" Coherent\n") && !listing.contains("Decorate %7 Volatile"), "{listing}");
        assert_eq!(listing.contains("SPV_KHR_vulkan_memory_model"), listing.contains("Version: 1.3"));
    }
}
