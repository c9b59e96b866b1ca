//! Hand-built modules with constructs that no front end emits yet.

use super::sound;
use crate::ir::{
    self, Access, ArrayLen, Binding, EntryPoint, FuncId, Global, Member, Module, Reconvergence, Space, Stage, Struct,
    Type, TypeId, Value,
};
use crate::kernel::{Kernel, Specializations, lower};
use crate::source::Span;

/// A buffer of a run-time array of `element`.
pub fn buffer(module: &mut Module, binding: u32, element: TypeId, stride: u32) -> Value {
    let member = |ty, offset| Member {
        name: "data".into(),
        span: Span::NONE,
        ty,
        offset,
        access: Access::empty(),
        binding: Binding::None,
    };
    let logical = module.types.array(element, ArrayLen::Runtime);
    let members = vec![member(logical, None)];
    let block =
        module.types.add_struct(Struct { name: "B".into(), span: Span::NONE, members, block: true, logical: None });
    let Type::Struct(block) = module.types.get(block) else { panic!("a struct") };
    let laid = module.types.intern(Type::Array { element, len: ArrayLen::Runtime, stride: Some(stride) });
    let members = vec![member(laid, Some(0))];
    let ty = module.types.add_struct(Struct {
        name: "B".into(),
        span: Span::NONE,
        members,
        block: true,
        logical: Some(block),
    });
    global(module, Space::Storage, ty, Binding::Resource { set: 0, binding })
}

pub fn global(module: &mut Module, space: Space, ty: TypeId, binding: Binding) -> Value {
    let global = Global { name: "g".into(), span: Span::NONE, space, ty, binding, access: Access::empty(), init: None };
    Value::Global(module.globals.push(global))
}

/// The kernel of a module with this function as its entry point, for workgroups of eight.
pub fn finish(mut module: Module, function: FuncId) -> Kernel {
    let workgroup_size = [8, 1, 1].map(|size| module.constants.u32(size));
    let (name, stage, reconvergence) = ("main".into(), Stage::Compute, Reconvergence::Default);
    module.entry_points.push(EntryPoint {
        name,
        stage,
        function,
        workgroup_size,
        reconvergence,
        derivatives: None,
        fragment: Default::default(),
        primitives: Vec::new(),
    });
    ir::verify::verify(&module).expect("the module is sound");
    let kernel = lower(&module, &Specializations::new()).unwrap_or_else(|errors| panic!("{errors:?}"));
    sound(&kernel);
    kernel
}
