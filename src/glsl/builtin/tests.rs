//! Resolution and emission: every row for every type, and the rules by example.

use super::*;
use crate::diagnostic::Code;
use crate::glsl::token::{GlslProfile, Version};
use crate::glsl::types;
use crate::grammar::{Lowering, Opaque, OpaqueClass, Rule, Shape, TypeExpr};
use crate::ir::{
    Access, ArrayLen, Binding, ConstValue, Global, ImageType, MathFn, Module, Op, Scalar, Space, Stage, Type, Types,
};
use crate::lane::{LaneOp, Members, ReduceKind, ReduceOp, ShuffleMode, Width};
use crate::profile::Profile;
use std::sync::LazyLock;

static ANY: LazyLock<Profile> = LazyLock::new(|| Profile::named("spirv-1.6").expect("it is built in"));

fn version(number: u16, profile: GlslProfile) -> Version {
    Version { number, profile, span: Span::NONE }
}

fn call(
    builder: &mut Builder<'_>,
    env: &Env<'_>,
    name: &str,
    span: Span,
    args: &[Argument],
) -> Result<Called, Diagnostic> {
    super::call(builder, env, (name, named(name)), span, args)
}

fn modes(name: &str, count: usize) -> [Mode; MOST_ARGS] {
    super::modes(named(name), count)
}

/// GLSL 4.60 with every extension.
fn env() -> Env<'static> {
    let mut env = bare();
    grammar::EXTENSIONS.iter().for_each(|extension| env.extensions.enable(extension));
    env
}

fn bare() -> Env<'static> {
    Env::new(version(460, GlslProfile::Core), Stage::Compute, &ANY)
}

fn with_builder<R>(test: impl FnOnce(&mut Builder<'_>) -> R) -> R {
    let mut module = Module::new();
    let mut builder = Builder::new(&mut module, "main", Span::NONE, Vec::new(), Types::VOID);
    test(&mut builder)
}

/// A variable's value, as `name` of type `ty`.
fn variable(builder: &mut Builder<'_>, ty: TypeId) -> Argument {
    let pointer = builder.local("x", ty, None);
    let value = builder.load(pointer);
    Argument { value, ty, is_place: true, span: Span::NONE }
}

fn rvalue(builder: &mut Builder<'_>, ty: TypeId) -> Argument {
    Argument { is_place: false, ..variable(builder, ty) }
}

fn shared(builder: &mut Builder<'_>, ty: TypeId) -> Argument {
    let global = Global {
        name: "memory".into(),
        span: Span::NONE,
        space: Space::Workgroup,
        ty,
        binding: Binding::None,
        access: Access::empty(),
        init: None,
    };
    let value = Value::Global(builder.module.globals.push(global));
    Argument { value, ty, is_place: true, span: Span::NONE }
}

fn int(builder: &mut Builder<'_>, value: i32) -> Argument {
    Argument { value: builder.const_i32(value), ty: Types::I32, is_place: false, span: Span::NONE }
}

/// Values of the types that `names` lists: variables, and the constant `4` for a word such as `#4`.
fn arguments(builder: &mut Builder<'_>, names: &str) -> Vec<Argument> {
    let argument = |name: &str, builder: &mut Builder<'_>| match name.strip_prefix('#') {
        Some(number) => int(builder, number.parse().expect(name)),
        None => {
            let ty = types::named(&mut builder.module.types, name).expect(name);
            variable(builder, ty)
        }
    };
    names.split_whitespace().map(|name| argument(name, builder)).collect()
}

/// The type's name that `name(arguments)` gives in `env`, or the error's code.
fn outcome_in(env: &Env<'_>, name: &str, names: &str) -> Result<String, Code> {
    with_builder(|builder| {
        let args = arguments(builder, names);
        let result = call(builder, env, name, Span::NONE, &args).map_err(|e| e.code)?;
        let ty = result.value.map_or(Types::VOID, |value| builder.type_of(value));
        Ok(types::display(&builder.module.types, &builder.module.constants, ty))
    })
}

fn outcome(name: &str, names: &str) -> Result<String, Code> {
    outcome_in(&env(), name, names)
}

#[track_caller]
fn gives(name: &str, names: &str, ty: &str) {
    assert_eq!(outcome(name, names).as_deref(), Ok(ty), "{name}({names})");
}

#[track_caller]
fn fails(name: &str, names: &str, code: Code) {
    assert_eq!(outcome(name, names), Err(code), "{name}({names})");
}

/// A variable with an image or sampler; the argument is its pointer, which is enough for resolution.
fn resource(builder: &mut Builder<'_>, opaque: Opaque, sampled: Scalar, format: u8) -> Argument {
    let Opaque { class, dim, arrayed, multisampled, shadow: depth } = opaque;
    let storage = matches!(class, OpaqueClass::Storage | OpaqueClass::Subpass);
    let image = ImageType { sampled, dim, arrayed, multisampled, depth, storage, format };
    let ty = if class == OpaqueClass::Sampled { Type::SampledImage(image) } else { Type::Image(image) };
    let ty = builder.module.types.intern(ty);
    shared(builder, ty)
}

/// The format with texels of such halves; `None` for other numbers.
fn format_of(data: Shape) -> u8 {
    match (data.scalar(), data.size()) {
        (Scalar::F16, 4) => 2,
        (Scalar::F16, 2) => 7,
        _ => 0,
    }
}

/// Arguments of exactly the parameters' types, with constants that satisfy their rules.
fn fitting(builder: &mut Builder<'_>, overload: &Overload, generic: Shape) -> Vec<Argument> {
    let shapes = overload.params.iter().filter_map(|param| param.ty.shape(generic));
    let format = shapes.map(format_of).max().unwrap_or(0);
    let fit = |builder: &mut Builder<'_>, param: &grammar::Param| {
        if let TypeExpr::Opaque(opaque) = param.ty {
            return resource(builder, opaque, generic.scalar(), format);
        }
        let ty = match param.ty {
            TypeExpr::Array(element, count) => {
                let element = element.intern(&mut builder.module.types);
                builder.module.types.array(element, ArrayLen::Fixed(count))
            }
            other => other.shape(generic).expect("a parameter has a type").intern(&mut builder.module.types),
        };
        match (param.mode, param.rule) {
            (Mode::Memory | Mode::Counter, _) => shared(builder, ty),
            (_, Rule::None) if param.constant => {
                Argument { value: builder.zero(ty), is_place: false, ..variable(builder, ty) }
            }
            (_, Rule::None) => variable(builder, ty),
            _ => Argument { value: builder.const_u32(2), is_place: false, ..variable(builder, ty) },
        }
    };
    overload.params.iter().map(|param| fit(builder, param)).collect()
}

fn resolves(overload: &'static Overload, generic: Shape) {
    with_builder(|builder| {
        let args = fitting(builder, overload, generic);
        let mut stages = [Stage::Compute, Stage::Fragment].into_iter().chain(Stage::ALL);
        let stage = stages.find(|stage| overload.stages.contains(*stage));
        let stage = stage.unwrap_or_else(|| panic!("no stage has {}", overload.signature));
        let result = call(builder, &Env { stage, ..env() }, overload.name, Span::NONE, &args);
        let result = result.unwrap_or_else(|e| panic!("{} with {generic:?}: {}", overload.signature, e.message));
        let returned = overload.ret.shape(generic).map(|shape| shape.intern(&mut builder.module.types));
        assert_eq!(result.value.map(|value| builder.type_of(value)), returned, "{}", overload.signature);
        let written = overload.params.iter().filter(|p| matches!(p.mode, Mode::Out | Mode::InOut)).count();
        assert_eq!(result.writes.len(), written, "{}", overload.signature);
        for (index, value) in &result.writes {
            assert_eq!(builder.type_of(*value), args[*index].ty, "{}", overload.signature);
        }
    });
}

#[test]
fn every_row_resolves_for_every_type() {
    let needs_size = |o: &&Overload| matches!(o.lowering, Lowering::Derived(of) if of.needs_size());
    let all = grammar::FUNCTIONS.iter().flat_map(|f| f.overloads).filter(|o| o.glsl);
    for overload in all.filter(|overload| !needs_size(overload)) {
        let single = overload.generic.is_empty().then_some(Shape::BOOL);
        overload.generic.iter().chain(single).for_each(|generic| resolves(overload, generic));
    }
}

#[test]
fn constants_of_the_subgroup_need_its_size() {
    fails("subgroup_group_size", "", Code::PROFILE_LACKS);
    fails("subgroup_log2_group_size", "", Code::PROFILE_LACKS);
}

#[test]
fn exact_matches_win() {
    gives("max", "int int", "int");
    gives("clamp", "vec3 float float", "vec3");
    gives("mix", "vec2 vec2 bvec2", "vec2");
    gives("atan", "vec2 vec2", "vec2");
    gives("outerProduct", "vec2 vec3", "mat3x2");
    gives("transpose", "mat3x2", "mat2x3");
}

#[test]
fn the_better_conversion_wins() {
    gives("max", "int uint", "uint");
    gives("max", "float int", "float");
    gives("sqrt", "int", "float");
    gives("pow", "float int", "float");
    gives("mod", "vec3 int", "vec3");
}

#[test]
fn wrong_arguments_are_reported() {
    fails("max", "bool bool", Code::NO_OVERLOAD);
    fails("max", "float", Code::NO_OVERLOAD);
    fails("dot", "vec2 vec3", Code::NO_OVERLOAD);
    fails("mxa", "float", Code::UNKNOWN_FUNCTION);
    fails("atomicAdd", "uint uint", Code::NOT_ATOMIC_MEMORY);
}

#[test]
fn es_converts_only_with_its_extension() {
    let mut es = Env { version: version(320, GlslProfile::Es), ..bare() };
    assert_eq!(outcome_in(&es, "max", "float int"), Err(Code::NO_OVERLOAD));
    es.extensions.enable(grammar::extension("GL_EXT_shader_implicit_conversions").expect("it has a row"));
    assert_eq!(outcome_in(&es, "max", "float int").as_deref(), Ok("float"));
    let older = Env { version: version(310, GlslProfile::Es), ..es };
    assert_eq!(outcome_in(&older, "fma", "float float float"), Err(Code::NEEDS_VERSION));
    assert_eq!(outcome_in(&older, "packDouble2x32", "uvec2"), Err(Code::NEEDS_VERSION));
}

#[test]
fn extensions_must_be_on() {
    assert_eq!(outcome_in(&bare(), "reduceAdd16", "float"), Err(Code::MISSING_EXTENSION));
    assert_eq!(outcome_in(&bare(), "shuffleUpNV", "float uint #4"), Err(Code::MISSING_EXTENSION));
    with_builder(|builder| {
        let args = arguments(builder, "float");
        let version = Version { span: Span::new(1, 13), ..bare().version };
        let line = Env { version, ..bare() };
        let error = call(builder, &line, "subgroupAdd", Span::NONE, &args).unwrap_err();
        let suggestion = error.suggestion.expect("a line to add");
        assert_eq!(suggestion.span, Span::new(13, 13));
        assert_eq!(suggestion.replacement, "\n#extension GL_KHR_shader_subgroup_arithmetic : require");
    });
}

#[test]
fn widths_are_checked() {
    gives("reduceAdd", "float #16", "float");
    fails("reduceAdd", "float #12", Code::WIDTH_INVALID);
    gives("reduceAdd", "float #128", "float");
    fails("reduceAdd", "float #2048", Code::WIDTH_INVALID);
    fails("reduceAdd", "float uint", Code::ARGUMENT_NOT_CONSTANT);
    gives("shuffleXorNV", "vec2 int uint", "vec2");
    fails("shuffleXorNV", "vec2 int #64", Code::WIDTH_INVALID);
    fails("subgroupClusteredMax", "int #3", Code::WIDTH_INVALID);
    fails("subgroupQuadBroadcast", "int #4", Code::ARGUMENT_RANGE);
}

#[test]
fn specialization_constants_are_no_widths() {
    with_builder(|builder| {
        let id = builder.module.constants.intern(Types::U32, ConstValue::Spec { id: 0, default: 8 });
        let width = Argument { value: Value::Const(id), is_place: false, ..variable(builder, Types::U32) };
        let args = [variable(builder, Types::F32), width];
        let error = call(builder, &env(), "allReduceMax", Span::NONE, &args).unwrap_err();
        assert_eq!(error.code, Code::ARGUMENT_NOT_CONSTANT);
    });
}

/// The operation of the instruction that defines a value.
fn operation(builder: &Builder<'_>, value: Value) -> Op {
    let Value::Inst(id) = value else { panic!("an instruction") };
    builder.function.insts[id].op
}

#[test]
fn a_width_argument_becomes_the_operation() {
    with_builder(|builder| {
        let args = arguments(builder, "float #16");
        let value = call(builder, &env(), "reduceMul", Span::NONE, &args).unwrap().value.unwrap();
        let Op::Lane(op, operands) = operation(builder, value) else { panic!("a lane operation") };
        let width = Width::new(16).unwrap();
        assert_eq!(op, LaneOp::Reduce { op: ReduceOp::Mul, kind: ReduceKind::Reduce, width, members: Members::All });
        assert_eq!(operands.len, 1);
    });
}

#[test]
fn the_predicate_of_a_shuffle_is_an_operation_of_its_own() {
    with_builder(|builder| {
        let args = arguments(builder, "vec2 int uint bool");
        let result = call(builder, &env(), "shuffleDownNV", Span::NONE, &args).unwrap();
        assert_eq!(modes("shuffleDownNV", 4)[..4], [Mode::In, Mode::In, Mode::In, Mode::Out]);
        let Op::Lane(op, operands) = operation(builder, result.writes[0].1) else { panic!("a lane operation") };
        assert_eq!((op, operands.len), (LaneOp::ShuffleNvValid(ShuffleMode::Down), 2));
    });
}

#[test]
fn out_arguments_come_back_as_writes() {
    with_builder(|builder| {
        let args = arguments(builder, "uint uint uint uint");
        let result = call(builder, &env(), "umulExtended", Span::NONE, &args).unwrap();
        let written: Vec<usize> = result.writes.iter().map(|write| write.0).collect();
        assert_eq!((written, result.value), (vec![3, 2], None));
        assert_eq!(modes("umulExtended", 4)[2], Mode::Out);
        let high = rvalue(builder, Types::U32);
        let constant = [args[0], args[1], high, args[3]];
        assert_eq!(call(builder, &env(), "umulExtended", Span::NONE, &constant).unwrap_err().code, Code::NO_OVERLOAD);
    });
}

#[test]
fn a_sort_takes_a_width_or_a_second_variable() {
    with_builder(|builder| {
        let pairs = arguments(builder, "float uint");
        assert_eq!(call(builder, &env(), "bitonicSort", Span::NONE, &pairs).unwrap().writes.len(), 2);
        let keys = arguments(builder, "float #8");
        assert_eq!(call(builder, &env(), "bitonicSort", Span::NONE, &keys).unwrap().writes.len(), 1);
    });
}

#[test]
fn atomics_convert_their_data_and_not_their_memory() {
    with_builder(|builder| {
        let memory = shared(builder, Types::U32);
        let (compare, data) = (int(builder, 1), int(builder, 2));
        let result = call(builder, &env(), "atomicCompSwap", Span::NONE, &[memory, compare, data]).unwrap();
        let Op::Atomic { args, .. } = operation(builder, result.value.unwrap()) else { panic!("an atomic") };
        let expected = [builder.const_u32(2), builder.const_u32(1)];
        assert_eq!(builder.function.values(args), expected);
        assert_eq!(modes("atomicCompSwap", 3)[0], Mode::Memory);
    });
}

#[test]
fn scalars_spread_over_vectors() {
    with_builder(|builder| {
        let args = arguments(builder, "vec3 #1");
        let value = call(builder, &env(), "max", Span::NONE, &args).unwrap().value.unwrap();
        let Op::Math(MathFn::Max, operands) = operation(builder, value) else { panic!("a maximum") };
        let second = builder.function.values(operands)[1];
        assert_eq!(builder.components_of(second), 3);
    });
}

#[test]
fn variables_need_their_extension_and_stage() {
    let size = grammar::variable("gl_SubgroupSize").expect("it has a row");
    assert_eq!(check_variable(&bare(), size, Span::NONE).unwrap_err().code, Code::MISSING_EXTENSION);
    let id = grammar::variable("gl_LocalInvocationID").expect("it has a row");
    let fragment = Env { stage: Stage::Fragment, ..env() };
    assert_eq!(check_variable(&fragment, id, Span::NONE).unwrap_err().code, Code::WRONG_STAGE);
}

#[test]
fn the_message_lists_the_candidates_once() {
    with_builder(|builder| {
        let args = arguments(builder, "bool bool");
        let error = call(builder, &env(), "max", Span::NONE, &args).unwrap_err();
        assert_eq!(error.message, "no overload of `max` takes (bool, bool)");
        assert_eq!(error.notes[0], "candidate: T max(T x, T y)  where T is genF genI genJ genU genV genD genH");
        assert_eq!(error.notes.len(), 2);
    });
}

#[test]
fn a_wrong_width_in_a_name_is_recognized() {
    assert_eq!(misspelt_width("reduceAdd12", Span::NONE).map(|e| e.code), Some(Code::WIDTH_INVALID));
    assert!(misspelt_width("reduceAdd", Span::NONE).is_none());
    assert!(misspelt_width("vertex12", Span::NONE).is_none());
}
