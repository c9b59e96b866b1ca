//! Turns module variables that only one entry point uses into variables of that function, which runs once per
//! invocation.

use super::plain::global_uses;
use super::{FuncId, GlobalId, InstId, Local, LocalId, Module, Op, Space, Type, Value};
use crate::source::Span;

/// The functions that use a variable.
#[derive(Clone, Copy, PartialEq)]
enum User {
    Nobody,
    One(FuncId),
    Others,
}

/// Makes private variables local if possible; functions without callers do not count.
pub fn private_to_local(module: &mut Module, reached: &[FuncId]) {
    let mut users = vec![User::Nobody; module.globals.len()];
    for id in reached {
        let is_entry = module.entry_points.iter().any(|entry| entry.function == *id);
        global_uses(&module.functions[*id], |global, is_plain| {
            let user = &mut users[global.index()];
            *user = match *user {
                User::Nobody | User::One(_) if !is_plain || !is_entry => User::Others,
                User::Nobody => User::One(*id),
                User::One(known) if known == *id => User::One(known),
                _ => User::Others,
            };
        });
    }
    let entries: Vec<FuncId> = module.entry_points.iter().map(|entry| entry.function).collect();
    for id in reached.iter().filter(|id| entries.contains(id)) {
        let owned: Vec<GlobalId> = module
            .globals
            .iter()
            .filter(|(global, item)| item.space == Space::Private && users[global.index()] == User::One(*id))
            .map(|(global, _)| global)
            .collect();
        if !owned.is_empty() {
            move_into(module, *id, &owned);
        }
    }
}

fn move_into(module: &mut Module, id: FuncId, owned: &[GlobalId]) {
    let Module { functions, globals, types, .. } = module;
    let function = &mut functions[id];
    let mut places: Vec<Option<LocalId>> = vec![None; globals.len()];
    for global in owned {
        let item = &globals[*global];
        let (name, span, ty, init) = (item.name.clone(), item.span, item.ty, item.init);
        let local = Local { name, span, scope: Span::NONE, ty, restrict: false, init };
        places[global.index()] = Some(function.locals.push(local));
    }
    let place = |value: Value| match value {
        Value::Global(global) => places[global.index()].map_or(value, Value::Local),
        other => other,
    };
    let insts: Vec<InstId> = function.insts.handles().collect();
    for inst in insts {
        let inst = &mut function.insts[inst];
        let moved = inst.op.map_operands(place);
        if let (Op::Access { .. }, Type::Pointer { pointee, .. }) = (moved, types.get(inst.ty))
            && moved != inst.op
        {
            inst.ty = types.pointer(Space::Function, pointee);
        }
        inst.op = moved;
    }
}
