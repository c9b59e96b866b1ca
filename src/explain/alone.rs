//! A module with a single cross-lane operation. Its operands come from one buffer and its results go to another.

use crate::ir::layout::{Layouts, Rule};
use crate::ir::{
    Access, ArrayLen, Binding, Builder, BuiltIn, ConstValue, EntryPoint, Global, Member, Module, Reconvergence, Scalar,
    Space, Stage, Struct, Type, TypeId, Types, Value, typing,
};
use crate::lane::{Input, Known, LaneType, Request};
use crate::profile::Profile;
use crate::source::Span;

/// The module of an operation: a compute shader, unless the target lacks that stage.
pub fn alone(request: &Request, profile: &Profile) -> Module {
    let mut module = Module::new();
    let fragment = request.fragment && profile.target.row().has_graphics;
    let inputs: Vec<TypeId> = request.inputs.iter().map(|input| type_of(&mut module, input.ty)).collect();
    let result = typing::lane(&mut module.types, request.op, &inputs);
    let operands = buffer(&mut module, "operands", 0, &inputs);
    let given = parts(&module, result);
    let results = buffer(&mut module, "results", 1, &given);
    let place = place(&mut module, fragment);
    let mut b = Builder::new(&mut module, "main", Span::NONE, Vec::new(), Types::VOID);
    let own = own(&mut b, place, fragment);
    let args: Vec<Value> =
        (0..).zip(request.inputs.iter()).map(|(n, input)| operand(&mut b, input, operands, own, n)).collect();
    let value = b.lane(request.op, result, &args);
    for n in 0..given.len() as u32 {
        let part = if given[0] == result { value } else { b.extract(value, n) };
        let pointer = element(&mut b, results, own, n);
        b.store(pointer, part);
    }
    b.ret(None);
    let function = b.finish_into(None);
    let size = if fragment { 1 } else { 2 * profile.wave_size.unwrap_or(32) };
    let workgroup_size = [size, 1, 1].map(|size| module.constants.u32(size));
    module.entry_points.push(EntryPoint {
        name: "main".into(),
        stage: if fragment { Stage::Fragment } else { Stage::Compute },
        function,
        workgroup_size,
        reconvergence: Reconvergence::Default,
        derivatives: None,
        fragment: Default::default(),
        primitives: Vec::new(),
    });
    module
}

fn type_of(module: &mut Module, ty: LaneType) -> TypeId {
    module.types.vector(Scalar { kind: ty.kind, width: ty.width }, ty.components)
}

/// The members of a pair, otherwise the type itself.
fn parts(module: &Module, ty: TypeId) -> Vec<TypeId> {
    match module.types.get(ty) {
        Type::Void => Vec::new(),
        Type::Struct(id) => module.types.structs[id].members.iter().map(|member| member.ty).collect(),
        _ => vec![ty],
    }
}

fn structure(module: &mut Module, name: &str, members: &[TypeId], block: bool) -> TypeId {
    let member = |(n, ty): (usize, &TypeId)| Member {
        name: format!("m{n}").into(),
        span: Span::NONE,
        ty: *ty,
        offset: None,
        access: Access::empty(),
        binding: Binding::None,
    };
    let members = members.iter().enumerate().map(member).collect();
    module.types.add_struct(Struct { name: name.into(), span: Span::NONE, members, block, logical: None })
}

fn global(module: &mut Module, name: &str, space: Space, ty: TypeId, binding: Binding) -> Value {
    let access = Access::empty();
    Value::Global(module.globals.push(Global {
        name: name.into(),
        span: Span::NONE,
        space,
        ty,
        binding,
        access,
        init: None,
    }))
}

/// A buffer of as many structs as there are invocations.
fn buffer(module: &mut Module, name: &str, binding: u32, members: &[TypeId]) -> Value {
    let item = structure(module, "Item", members, false);
    let items = module.types.array(item, ArrayLen::Runtime);
    let block = structure(module, "Block", &[items], true);
    let laid = Layouts::new().lay_out(module, block, Rule::Std430, false).expect("scalars and vectors have layouts");
    global(module, name, Space::Storage, laid.ty, Binding::Resource { set: 0, binding })
}

/// The input that distinguishes invocations.
fn place(module: &mut Module, fragment: bool) -> Value {
    let (ty, built_in) = match fragment {
        true => (module.types.vector(Scalar::F32, 4), BuiltIn::FragCoord),
        false => (Types::U32, BuiltIn::LocalInvocationIndex),
    };
    global(module, "place", Space::Input, ty, Binding::BuiltIn(built_in))
}

/// The number of the invocation.
fn own(b: &mut Builder, place: Value, fragment: bool) -> Value {
    let value = b.load(place);
    if !fragment {
        return value;
    }
    let x = b.extract(value, 0);
    b.convert(x, Types::U32)
}

/// An operand: loaded from the invocation's element, from the first element if all invocations share it, or a constant.
fn operand(b: &mut Builder, input: &Input, buffer: Value, own: Value, number: u32) -> Value {
    let invocation = match input.known {
        Known::Constant(bits) => {
            let ty = type_of(b.module, input.ty);
            return Value::Const(b.module.constants.intern(ty, ConstValue::Bits(bits.into())));
        }
        Known::Uniform => b.const_u32(0),
        Known::Varying => own,
    };
    let pointer = element(b, buffer, invocation, number);
    b.load(pointer)
}

/// The address of a member of an invocation's struct.
fn element(b: &mut Builder, buffer: Value, invocation: Value, member: u32) -> Value {
    let (items, member) = (b.const_u32(0), b.const_u32(member));
    b.access(buffer, &[items, invocation, member])
}
