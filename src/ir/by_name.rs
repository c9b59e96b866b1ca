//! Parameters that represent variables: arrays of images and samplers, and ray queries, which cannot be values. A
//! function with such parameters is copied for each combination of variables in its calls, and the copy accesses them
//! directly. SPIR-V requires this for all pointers except pointers to whole variables (SPIR-V 1.6 section 2.16.1).

use super::{
    ConstId, FuncId, Function, GlobalId, Inst, InstFlags, Module, Op, Param, Space, TypeId, Types, Value, Values,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Returns true if parameters of this type represent variables.
pub fn is_by_name(types: &Types, ty: TypeId) -> bool {
    match types.pointee(ty) {
        Some((Space::Handle, _)) => true,
        Some((Space::Private, pointee)) => types.is_valueless(pointee),
        _ => false,
    }
}

/// One index on the path from a variable to a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Known(ConstId),
    /// The call passes it, in this type.
    Given(TypeId),
}

/// The variable, or the part of one, that a parameter represents.
#[derive(Clone, PartialEq, Eq, Hash)]
struct BoundVariable {
    root: GlobalId,
    path: SmallVec<[Step; 2]>,
    non_uniform: bool,
}

/// Replaces such parameters of functions by the variables. There is no recursion.
pub fn bind(module: &mut Module) {
    let has = |function: &Function| function.params.iter().any(|param| is_by_name(&module.types, param.ty));
    let originals: Vec<FuncId> = module.functions.iter().filter(|(_, f)| has(f)).map(|(id, _)| id).collect();
    if originals.is_empty() {
        return;
    }
    let mut copies = FxHashMap::default();
    let mut queue: Vec<FuncId> = module.functions.handles().filter(|id| !originals.contains(id)).collect();
    while let Some(caller) = queue.pop() {
        queue.extend(bind_calls(module, caller, &mut copies));
    }
    for id in originals {
        let Function { name, span, ret, .. } = &module.functions[id];
        let left = Function::new(name, *span, Vec::new(), *ret);
        module.functions[id] = unreachable(left);
    }
}

/// The stub of a function whose copies replaced it.
fn unreachable(mut function: Function) -> Function {
    let inst = Inst { op: Op::Unreachable, ty: Types::VOID, span: function.span, flags: InstFlags::empty() };
    let inst = function.insts.push(inst);
    function.blocks[function.body].insts.push(inst);
    function
}

/// Redirects the calls of one function; returns the new copies.
fn bind_calls(
    module: &mut Module,
    caller: FuncId,
    copies: &mut FxHashMap<(FuncId, Vec<BoundVariable>), FuncId>,
) -> Vec<FuncId> {
    let mut fresh = Vec::new();
    for id in module.functions[caller].insts.handles().collect::<Vec<_>>() {
        let Op::Call(callee, args) = module.functions[caller].insts[id].op else { continue };
        let args: SmallVec<[Value; 4]> = SmallVec::from_slice(module.functions[caller].values(args));
        let (mut targets, mut kept, mut given) = (Vec::new(), SmallVec::<[Value; 4]>::new(), Vec::new());
        for (at, arg) in args.iter().enumerate() {
            if !is_by_name(&module.types, module.functions[callee].params[at].ty) {
                kept.push(*arg);
            } else if let Some(target) = target_of(module, caller, *arg, &mut given) {
                targets.push(target);
            }
        }
        if targets.is_empty() {
            continue;
        }
        let copy = *copies.entry((callee, targets)).or_insert_with_key(|(_, targets)| {
            let copy = copy(module, callee, targets);
            let copy = module.functions.push(copy);
            fresh.push(copy);
            copy
        });
        kept.extend(given);
        let function = &mut module.functions[caller];
        let list = function.list(&kept);
        function.insts[id].op = Op::Call(copy, list);
    }
    fresh
}

/// The target of an argument; run-time indices are added to the call's arguments.
fn target_of(module: &mut Module, caller: FuncId, arg: Value, given: &mut Vec<Value>) -> Option<BoundVariable> {
    let function = &module.functions[caller];
    let (root, indices, flags) = match arg {
        Value::Global(root) => (root, &[][..], InstFlags::empty()),
        Value::Inst(id) => match function.insts[id] {
            Inst { op: Op::Access { base: Value::Global(root), indices }, flags, .. } => {
                (root, function.values(indices), flags)
            }
            _ => return None,
        },
        _ => return None,
    };
    let mut path = SmallVec::new();
    for index in indices.iter().copied().collect::<SmallVec<[Value; 2]>>() {
        path.push(match index {
            Value::Const(id) => Step::Known(id),
            _ => {
                given.push(index);
                Step::Given(type_of(module, caller, index))
            }
        });
    }
    Some(BoundVariable { root, path, non_uniform: flags.contains(InstFlags::NON_UNIFORM) })
}

/// Type of an index, which is a value and not a variable.
fn type_of(module: &Module, function: FuncId, value: Value) -> TypeId {
    match value {
        Value::Inst(id) => module.functions[function].insts[id].ty,
        Value::Param(index) => module.functions[function].params[index as usize].ty,
        _ => Types::U32,
    }
}

/// The replacement of a parameter in a copy.
enum Bound {
    /// A parameter of the copy.
    Param(u32),
    Variable {
        root: GlobalId,
        indices: SmallVec<[Value; 2]>,
        /// A pointer to the part.
        whole: Value,
        non_uniform: bool,
    },
}

/// A copy of a function that accesses `targets` instead of its parameters.
fn copy(module: &Module, callee: FuncId, targets: &[BoundVariable]) -> Function {
    let mut function = module.functions[callee].clone();
    let bound = bind_parameters(&module.types, &mut function, targets);
    let replaced = |value: Value| match value {
        Value::Param(index) => match &bound[index as usize] {
            Bound::Param(index) => Value::Param(*index),
            Bound::Variable { whole, .. } => *whole,
        },
        other => other,
    };
    let flags_of = |value: Value| match value {
        Value::Param(index) => match bound[index as usize] {
            Bound::Variable { non_uniform: true, .. } => InstFlags::NON_UNIFORM,
            _ => InstFlags::empty(),
        },
        _ => InstFlags::empty(),
    };
    function.operands.iter_mut().for_each(|operand| *operand = replaced(*operand));
    for id in function.insts.handles().collect::<Vec<_>>() {
        let Inst { op, .. } = function.insts[id];
        if let Op::Access { base, .. } | Op::Load(base) = op {
            function.insts[id].flags |= flags_of(base);
        }
        function.insts[id].op = match op {
            Op::Access { base: Value::Param(index), indices } => match &bound[index as usize] {
                Bound::Variable { root, indices: first, .. } => {
                    let mut all = first.clone();
                    all.extend_from_slice(function.values(indices));
                    Op::Access { base: Value::Global(*root), indices: function.list(&all) }
                }
                Bound::Param(index) => Op::Access { base: Value::Param(*index), indices },
            },
            op => op.map_operands(replaced),
        };
    }
    point_to_parts(&mut function, &bound);
    function
}

/// Fills in the indices of the pointers to parts, which count parameters as the copy does.
fn point_to_parts(function: &mut Function, bound: &[Bound]) {
    for known in bound {
        if let Bound::Variable { root, indices, whole: Value::Inst(id), .. } = known {
            let indices = function.list(indices);
            function.insts[*id].op = Op::Access { base: Value::Global(*root), indices };
        }
    }
}

/// Replaces parameters for variables by parameters for run-time indices.
fn bind_parameters(types: &Types, function: &mut Function, targets: &[BoundVariable]) -> Vec<Bound> {
    let old = std::mem::take(&mut function.params);
    let types_of: Vec<TypeId> = old.iter().map(|param| param.ty).collect();
    let kept = types_of.iter().filter(|ty| !is_by_name(types, **ty)).count() as u32;
    let mut given: Vec<Param> = Vec::new();
    let mut targets = targets.iter();
    let mut bound = Vec::with_capacity(old.len());
    for param in old {
        let Some(target) = is_by_name(types, param.ty).then(|| targets.next()).flatten() else {
            bound.push(Bound::Param(function.params.len() as u32));
            function.params.push(param);
            continue;
        };
        let mut indices = SmallVec::new();
        for step in &target.path {
            indices.push(match *step {
                Step::Known(id) => Value::Const(id),
                Step::Given(ty) => {
                    given.push(Param { ty, ..param.clone() });
                    Value::Param(kept + given.len() as u32 - 1)
                }
            });
        }
        let (root, non_uniform) = (target.root, target.non_uniform);
        let whole = match indices.is_empty() {
            true => Value::Global(root),
            false => part(function, root, param.ty, non_uniform),
        };
        bound.push(Bound::Variable { root, indices, whole, non_uniform });
    }
    function.params.extend(given);
    bound
}

/// A pointer to a part of a variable, created at the start of the function. [`point_to_parts`] fills in the indices.
fn part(function: &mut Function, root: GlobalId, ty: TypeId, non_uniform: bool) -> Value {
    let mut flags = InstFlags::empty();
    flags.set(InstFlags::NON_UNIFORM, non_uniform);
    let op = Op::Access { base: Value::Global(root), indices: Values::default() };
    let access = function.insts.push(Inst { op, ty, span: function.span, flags });
    let body = function.body;
    function.blocks[body].insts.insert(0, access);
    Value::Inst(access)
}
