//! The examples of GLSL 4.60 section 7.6.2.2 and the rules' corners.

use super::*;
use crate::ir::{Access, Binding, ConstValue, Member, Struct};
use crate::source::Span;

fn add_struct(module: &mut Module, members: &[TypeId]) -> StructId {
    let members = members.iter().map(|ty| Member {
        name: "m".into(),
        span: Span::NONE,
        ty: *ty,
        offset: None,
        access: Access::empty(),
        binding: Binding::None,
    });
    let item = Struct { name: "S".into(), span: Span::NONE, members: members.collect(), block: false, logical: None };
    module.types.structs.push(item)
}

fn vec(module: &mut Module, size: u8) -> TypeId {
    module.types.vector(Scalar::F32, size)
}

fn array(module: &mut Module, element: TypeId, len: u32) -> TypeId {
    module.types.array(element, ArrayLen::Fixed(len))
}

fn offsets(module: &Module, laid: Laid) -> Vec<u32> {
    let Type::Struct(id) = module.types.get(laid.ty) else { panic!("a struct") };
    module.types.structs[id].members.iter().map(|m| m.offset.expect("laid out")).collect()
}

fn stride(module: &Module, ty: TypeId) -> u32 {
    match module.types.get(ty) {
        Type::Array { stride, .. } => stride.expect("laid out"),
        Type::Matrix { layout, .. } => layout.expect("laid out").stride,
        _ => panic!("nothing with a stride"),
    }
}

fn lay(module: &mut Module, members: &[TypeId], rule: Rule) -> (Vec<u32>, u32, u32) {
    let id = add_struct(module, members);
    let laid = Layouts::new().lay_out_struct(module, id, rule, false, &[]).expect("a layout");
    (offsets(module, laid), laid.size, laid.align)
}

#[test]
fn the_example_of_the_specification() {
    let mut m = Module::new();
    let (vec2, vec3) = (vec(&mut m, 2), vec(&mut m, 3));
    let bvec2 = m.types.vector(Scalar::BOOL, 2);
    let f = add_struct(&mut m, &[Types::I32, bvec2]);
    let f = m.types.intern(Type::Struct(f));
    let d = array(&mut m, Types::F32, 2);
    let mat23 = m.types.matrix(Scalar::F32, 2, 3);
    let mat33 = array(&mut m, mat23, 2);
    let (uvec3, h) = (m.types.vector(Scalar::U32, 3), array(&mut m, Types::F32, 2));
    let inner = add_struct(&mut m, &[uvec3, vec2, h, vec2, mat33]);
    let inner = m.types.intern(Type::Struct(inner));
    let o = array(&mut m, inner, 2);
    let (got, size, _) = lay(&mut m, &[Types::F32, vec2, vec3, f, Types::F32, d, mat23, o], Rule::Std140);
    assert_eq!(got, [0, 8, 16, 32, 48, 64, 96, 128]);
    assert_eq!(size, 128 + 2 * (80 + 64));
}

#[test]
fn a_scalar_fills_the_hole_behind_a_vec3() {
    let mut m = Module::new();
    let vec3 = vec(&mut m, 3);
    for rule in [Rule::Std140, Rule::Std430] {
        assert_eq!(lay(&mut m, &[vec3, Types::F32, vec3], rule), (vec![0, 12, 16], 32, 16));
    }
    assert_eq!(lay(&mut m, &[Types::F32, vec3, vec3], Rule::Scalar), (vec![0, 4, 16], 28, 4));
}

#[test]
fn arrays_differ_by_rule() {
    let mut m = Module::new();
    let vec3 = vec(&mut m, 3);
    for (element, std140, std430, scalar) in [(Types::F32, 16, 4, 4), (vec3, 16, 16, 12)] {
        let ty = array(&mut m, element, 5);
        for (rule, expected) in [(Rule::Std140, std140), (Rule::Std430, std430), (Rule::Scalar, scalar)] {
            let laid = Layouts::new().lay_out(&mut m, ty, rule, false).unwrap();
            assert_eq!((stride(&m, laid.ty), laid.size), (expected, 5 * expected), "{rule:?}");
        }
    }
}

#[test]
fn nested_arrays_have_nested_strides() {
    let mut m = Module::new();
    let inner = array(&mut m, Types::F32, 3);
    let outer = array(&mut m, inner, 2);
    let laid = Layouts::new().lay_out(&mut m, outer, Rule::Std430, false).unwrap();
    assert_eq!((stride(&m, laid.ty), laid.size, laid.align), (12, 24, 4));
    let laid = Layouts::new().lay_out(&mut m, outer, Rule::Std140, false).unwrap();
    assert_eq!((stride(&m, laid.ty), laid.size, laid.align), (48, 96, 16));
    assert_eq!(m.types.logical(laid.ty), outer);
}

#[test]
fn matrices_lie_in_columns_or_rows() {
    let mut m = Module::new();
    let mat = m.types.matrix(Scalar::F32, 4, 2);
    let mut layouts = Layouts::new();
    let mut of = |rule, row_major| {
        let laid = layouts.lay_out(&mut m, mat, rule, row_major).unwrap();
        (stride(&m, laid.ty), laid.size)
    };
    assert_eq!(of(Rule::Std140, false), (16, 64));
    assert_eq!(of(Rule::Std430, false), (8, 32));
    assert_eq!(of(Rule::Std430, true), (16, 32));
}

#[test]
fn doubles_bools_and_references_have_their_sizes() {
    let mut m = Module::new();
    let (double, dvec3) = (m.types.scalar(Scalar::F64), m.types.vector(Scalar::F64, 3));
    assert_eq!(lay(&mut m, &[Types::F32, double, Types::BOOL, dvec3], Rule::Std430).0, [0, 8, 16, 32]);
    assert_eq!(lay(&mut m, &[Types::BOOL, double], Rule::Scalar), (vec![0, 8], 16, 8));
    let target = add_struct(&mut m, &[Types::U32]);
    let reference = m.types.intern(Type::BufferReference { pointee: target });
    assert_eq!(lay(&mut m, &[Types::F32, reference], Rule::Std430), (vec![0, 8], 16, 8));
}

#[test]
fn scalar_layout_packs_a_member_behind_a_struct() {
    let mut m = Module::new();
    let double = m.types.scalar(Scalar::F64);
    let inner = add_struct(&mut m, &[double, Types::F32]);
    let inner = m.types.intern(Type::Struct(inner));
    assert_eq!(lay(&mut m, &[inner, Types::F32], Rule::Scalar).0, [0, 12]);
    assert_eq!(lay(&mut m, &[inner, Types::F32], Rule::Std430).0, [0, 16]);
}

#[test]
fn twins_are_shared() {
    let mut m = Module::new();
    let id = add_struct(&mut m, &[Types::F32]);
    let mut layouts = Layouts::new();
    let first = layouts.lay_out_struct(&mut m, id, Rule::Std430, false, &[]).unwrap();
    assert_eq!(first, layouts.lay_out_struct(&mut m, id, Rule::Std430, false, &[MemberRule::default()]).unwrap());
    assert_ne!(first, layouts.lay_out_struct(&mut m, id, Rule::Std140, false, &[]).unwrap());
    let logical = m.types.intern(Type::Struct(id));
    assert_eq!(m.types.logical(first.ty), logical);
}

#[test]
fn written_offsets_and_alignments_are_obeyed_and_checked() {
    let mut m = Module::new();
    let id = add_struct(&mut m, &[Types::F32, Types::F32, Types::F32]);
    let mut lay = |rules: &[MemberRule]| {
        Layouts::new().lay_out_struct(&mut m, id, Rule::Std430, false, rules).map(|laid| offsets(&m, laid))
    };
    let at = |offset| MemberRule { offset: Some(offset), ..MemberRule::default() };
    let aligned = |align| MemberRule { align: Some(align), ..MemberRule::default() };
    let none = MemberRule::default();
    assert_eq!(lay(&[none, at(32)]), Ok(vec![0, 32, 36]));
    assert_eq!(lay(&[at(64), at(0), none]), Ok(vec![64, 0, 4]));
    assert_eq!(lay(&[none, aligned(16)]), Ok(vec![0, 16, 20]));
    let problem = |result: Result<Vec<u32>, LayoutError>| result.map_err(|error| (error.member, error.problem));
    assert_eq!(problem(lay(&[at(8), at(8)])), Err((Some(1), Problem::Overlap { other: 0 })));
    assert_eq!(problem(lay(&[at(6)])), Err((Some(0), Problem::Misaligned { offset: 6, align: 4 })));
    assert_eq!(problem(lay(&[none, aligned(12)])), Err((Some(1), Problem::BadAlign(12))));
    assert_eq!(problem(lay(&[none, aligned(0)])), Err((Some(1), Problem::BadAlign(0))));
    assert_eq!(problem(lay(&[at(u32::MAX - 3)])), Err((Some(0), Problem::TooLarge)));
}

#[test]
fn run_time_arrays_come_last() {
    let mut m = Module::new();
    let tail = m.types.array(Types::U32, ArrayLen::Runtime);
    assert_eq!(lay(&mut m, &[Types::F32, tail], Rule::Std430).0, [0, 4]);
    let id = add_struct(&mut m, &[tail, Types::F32]);
    let error = Layouts::new().lay_out_struct(&mut m, id, Rule::Std430, false, &[]).unwrap_err();
    assert_eq!((error.member, error.problem), (Some(0), Problem::RuntimeNotLast));
    let nested = array(&mut m, tail, 2);
    assert_eq!(Layouts::new().lay_out(&mut m, nested, Rule::Std430, false), Err(Problem::RuntimeNotLast));
}

#[test]
fn lengths_may_be_specialization_constants() {
    let mut m = Module::new();
    let length = m.constants.intern(Types::U32, ConstValue::Spec { id: 3, default: 6 });
    let ty = m.types.array(Types::F32, ArrayLen::Spec(length));
    let laid = Layouts::new().lay_out(&mut m, ty, Rule::Std430, false).unwrap();
    assert_eq!(laid.size, 24);
    assert_eq!(size_of(&m.types, &m.constants, laid.ty), Some(24));
}

#[test]
fn huge_types_are_refused() {
    let mut m = Module::new();
    let ty = array(&mut m, Types::F32, u32::MAX);
    assert_eq!(Layouts::new().lay_out(&mut m, ty, Rule::Std140, false), Err(Problem::TooLarge));
    let image = m.types.intern(Type::Sampler);
    assert_eq!(Layouts::new().lay_out(&mut m, image, Rule::Std140, false), Err(Problem::NotStorable(image)));
}

#[test]
fn deep_nests_are_refused() {
    let mut m = Module::new();
    let mut ty = Types::F32;
    for _ in 0..100_000 {
        let id = add_struct(&mut m, &[ty]);
        ty = m.types.intern(Type::Struct(id));
    }
    assert_eq!(Layouts::new().lay_out(&mut m, ty, Rule::Std140, false), Err(Problem::TooDeep));
}
