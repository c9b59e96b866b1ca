//! Inputs and outputs between stages, for languages without locations or without interface blocks (GLSL ES 3.00
//! sections 4.3.7 and 4.3.8).

use crate::ir::{Binding, FuncId, Global, GlobalId, InstId, Module, Op, Space, Type, Value, Values};
use rustc_hash::FxHashMap;

/// Names every input and output between stages after its location, because the stages of a program may use different
/// names in the source.
pub(super) fn name_by_location(module: &mut Module) {
    let Some(stage) = module.entry_points.first().map(|entry| entry.stage) else { return };
    let mut named: FxHashMap<String, GlobalId> = FxHashMap::default();
    for id in module.globals.handles() {
        let global = &mut module.globals[id];
        let is_port = matches!(global.space, Space::Input | Space::Output) && stage.passes(global.space);
        if let Binding::Location { location, component: 0, .. } = &mut global.binding
            && is_port
            && let Some(at) = location.take()
        {
            let name = format!("varying_{at}");
            global.name = name.as_str().into();
            named.insert(name, id);
        }
    }
    for (id, global) in module.globals.iter_mut() {
        if named.get(&*global.name).is_some_and(|other| *other != id) {
            global.name = format!("{}_x", global.name).as_str().into();
        }
    }
}

/// Splits a block of inputs or outputs into one variable per member.
pub(super) fn open_blocks(module: &mut Module) {
    let blocks: Vec<GlobalId> = module.globals.handles().filter(|id| is_open(module, *id)).collect();
    let members: FxHashMap<GlobalId, Vec<GlobalId>> =
        blocks.into_iter().map(|id| (id, members_of(module, id))).collect();
    for function in module.functions.handles() {
        reach_members(module, function, &members);
    }
    for id in members.into_keys() {
        // Nothing names it.
        module.globals[id].space = Space::Private;
    }
}

/// The variables that replace the members of a block.
fn members_of(module: &mut Module, id: GlobalId) -> Vec<GlobalId> {
    let block = module.globals[id].clone();
    let Type::Struct(of) = module.types.get(block.ty) else { return Vec::new() };
    let mut made = Vec::new();
    let mut next = location_in(block.binding);
    for member in module.types.structs[of].members.clone() {
        let own = location_in(member.binding);
        let at = own.or(next);
        next = at.map(|at| at + module.types.locations(member.ty));
        let mut binding = if own.is_some() { member.binding } else { block.binding };
        if let Binding::Location { location, .. } = &mut binding {
            *location = at;
        }
        let Global { space, access, .. } = block;
        let (name, span, ty) = (member.name, member.span, member.ty);
        made.push(module.globals.push(Global {
            name,
            span,
            space,
            ty,
            binding,
            access: access | member.access,
            init: None,
        }));
    }
    made
}

fn location_in(binding: Binding) -> Option<u32> {
    if let Binding::Location { location, .. } = binding { location } else { None }
}

/// Replaces parts of blocks by the variables of members.
fn reach_members(module: &mut Module, function: FuncId, members: &FxHashMap<GlobalId, Vec<GlobalId>>) {
    let mut whole: FxHashMap<InstId, GlobalId> = FxHashMap::default();
    for id in module.functions[function].insts.handles() {
        let f = &module.functions[function];
        let Op::Access { base: Value::Global(block), indices } = f.insts[id].op else { continue };
        let Some(of) = members.get(&block) else { continue };
        let member = f.values(indices).first().and_then(|first| module.known_u32(*first)).unwrap_or_default();
        let variable = of[member as usize];
        if indices.len == 1 {
            whole.insert(id, variable);
        } else {
            let rest = Values { start: indices.start + 1, len: indices.len - 1 };
            module.functions[function].insts[id].op = Op::Access { base: Value::Global(variable), indices: rest };
        }
    }
    let f = &mut module.functions[function];
    let new = |value| match value {
        Value::Inst(id) => whole.get(&id).map_or(value, |variable| Value::Global(*variable)),
        other => other,
    };
    f.operands.iter_mut().for_each(|value| *value = new(*value));
    f.insts.iter_mut().for_each(|(_, inst)| inst.op = inst.op.map_operands(new));
    f.blocks.iter_mut().for_each(|(_, block)| block.insts.retain(|id| !whole.contains_key(id)));
}

/// Returns true for a block of inputs or outputs at locations that is only accessed by member.
fn is_open(module: &Module, id: GlobalId) -> bool {
    let global = &module.globals[id];
    let Type::Struct(of) = module.types.get(global.ty) else { return false };
    let is_block = module.types.structs[of].block && matches!(global.space, Space::Input | Space::Output);
    is_block && matches!(global.binding, Binding::Location { .. }) && names_members(module, id)
}

fn names_members(module: &Module, id: GlobalId) -> bool {
    module.functions.iter().all(|(_, f)| {
        crate::limits::spend(f.insts.len());
        f.insts.iter().all(|(_, inst)| {
            let mut is_member = true;
            let path = match inst.op {
                Op::Access { base: Value::Global(of), indices } if of == id => Some(indices),
                _ => None,
            };
            inst.op.each_operand(f, |value| is_member &= value != Value::Global(id) || path.is_some());
            is_member && path.is_none_or(|path| module.known_u32(f.values(path)[0]).is_some())
        })
    })
}
