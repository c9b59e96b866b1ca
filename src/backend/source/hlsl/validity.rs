//! Requirements of DXIL's validator that the source may not meet: an exit of each loop, and a value for each part of an
//! output.

use super::Hlsl;
use crate::backend::source::constants::component;
use crate::backend::source::expr::Expr;
use crate::backend::source::function::{Body, Made};
use crate::backend::source::ports::built_in_of;
use crate::backend::source::tree::{Kind, Stmt};
use crate::ir::{
    ArrayLen, BuiltIn, Function, GlobalId, LocalId, Module, Op, Space, Stage, Type, TypeId, Value, Values,
};
use crate::warn::unset_variables;
use rustc_hash::FxHashSet;

/// A condition that never holds, because this lane is active, and that no compiler moves out of a loop.
const NEVER: &str = "!WaveActiveAnyTrue(true)";

/// Adds an exit that is never taken to each loop without one, and removes code that crashes DXC 1.7: an unreachable
/// `break`, and a loop with an unroll hint from which an arm of a switch returns.
pub(super) fn mend_loops(code: &mut Vec<Stmt>) {
    for stmt in code.iter_mut() {
        let (origin, is_kept) = (stmt.origin, stmt.inner().any(returns_from_switch));
        match &mut stmt.kind {
            Kind::If { then, otherwise, .. } => {
                mend_loops(then);
                mend_loops(otherwise);
            }
            Kind::Switch { arms, .. } => arms.iter_mut().for_each(|arm| mend_loops(&mut arm.body)),
            Kind::Loop { body, .. } => mend_loops(body),
            Kind::Do { body, hint, .. } => {
                mend_loops(body);
                keep(is_kept, hint);
            }
            Kind::For { condition, body, hint, .. } => {
                mend_loops(body);
                keep(is_kept, hint);
                let is_endless = condition.as_deref().is_none_or(|text| text == "true");
                if is_endless && !body.iter().any(|stmt| stmt.breaks() || returns(stmt)) {
                    let then = vec![Stmt::new(origin, Kind::Line("break;".to_string()))];
                    let kind =
                        Kind::If { condition: Expr::primary(NEVER.to_string()), then, otherwise: Vec::new(), hint: "" };
                    body.insert(0, Stmt::new(origin, kind));
                }
            }
            _ => {}
        }
    }
    if let Some(last) = code.iter().position(Stmt::jumps) {
        code.truncate(last + 1);
    }
}

/// Adds a hint not to unroll a loop.
fn keep(is_kept: bool, hint: &mut &'static str) {
    if is_kept {
        *hint = Hlsl::LOOP;
    }
}

/// Returns true if a statement may leave the function.
fn returns(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, Kind::Line(text) if text.starts_with("return")) || stmt.inner().any(returns)
}

/// Returns true if a statement is or contains a switch with a case that may return.
fn returns_from_switch(stmt: &Stmt) -> bool {
    matches!(stmt.kind, Kind::Switch { .. }) && returns(stmt) || stmt.inner().any(returns_from_switch)
}

/// The distances of one vertex, which are an array in the source and a vector in HLSL.
#[derive(Clone, Copy)]
struct Distances {
    global: GlobalId,
    count: u32,
}

impl Hlsl {
    /// The distance array that a value points to or into.
    fn distances_of(&self, b: &Body, pointer: Value) -> Option<(Distances, Option<Value>)> {
        let Value::Inst(id) = pointer else { return None };
        let Op::Access { base: Value::Global(global), indices } = b.f.insts[id].op else { return None };
        let crowd = self.crowd_of(b.t, global).is_some();
        let of = built_in_of(b.t, &b.t.module.globals[global]).filter(|_| crowd)?;
        if !matches!(of, BuiltIn::ClipDistance | BuiltIn::CullDistance) {
            return None;
        }
        let Type::Array { element, .. } = b.t.types.get(b.t.module.globals[global].ty) else { return None };
        let Type::Array { len: ArrayLen::Fixed(count), .. } = b.t.types.get(element) else { return None };
        let distances = Distances { global, count };
        match b.f.values(indices) {
            [_] => Some((distances, None)),
            [_, index] => Some((distances, Some(*index))),
            _ => None,
        }
    }

    /// All distances of a vertex as an array.
    pub fn load_distances(&self, b: &mut Body, pointer: Value, ty: TypeId) -> Option<Made> {
        let (Distances { count, .. }, None) = self.distances_of(b, pointer)? else { return None };
        let path = b.value(pointer);
        let parts: Vec<String> = (0..count).map(|n| format!("{}{}", path.text, component(n))).collect();
        let list = Expr::primary(format!("{{ {} }}", parts.join(", ")));
        Some(Made::One(b.name("distances", ty, &list)))
    }

    /// Stores all distances of a vertex, or one of them together with the unassigned ones. Returns false for other
    /// places.
    pub fn store_distances(&self, b: &mut Body, pointer: Value, value: Value) -> bool {
        let Some((Distances { global, count }, index)) = self.distances_of(b, pointer) else { return false };
        let Some(index) = index else {
            let path = b.value(pointer).text;
            let ty = b.type_of(value);
            let made = b.value(value);
            let array = if made.is_plain() { made } else { b.name("distances", ty, &made) };
            let parts: Vec<String> = (0..count).map(|n| format!("{}[{n}]", array.text)).collect();
            match parts.as_slice() {
                [part] => b.line(format!("{path} = {part}")),
                parts => b.line(format!("{path} = float{count}({})", parts.join(", "))),
            }
            return true;
        };
        if b.t.stage() != Some(Stage::Mesh) {
            return false;
        }
        let (own, given) = (b.t.module.known_u32(index), given(b.t.module, b.f, global));
        b.store_place(pointer, value);
        // The first assigned distance also stores the missing ones.
        if let (Some(own), Some(given), Some(whole)) = (own, given, self.around(b, pointer))
            && given.first() == Some(&own)
        {
            for other in (0..count).filter(|other| !given.contains(other)) {
                b.line(format!("{} = 0.0", whole.part(&format!("[{other}]")).text));
            }
        }
        true
    }

    /// The path to the composite around a path.
    fn around(&self, b: &mut Body, pointer: Value) -> Option<Expr> {
        let Value::Inst(id) = pointer else { return None };
        let Op::Access { base, indices } = b.f.insts[id].op else { return None };
        let outer = Values { len: indices.len.checked_sub(1)?, ..indices };
        let made = b.place_of(id, base, outer, b.f.insts[id].flags);
        Some(b.single(made))
    }
}

impl Hlsl {
    /// Returns true for a part of a matrix output of a mesh shader: DXC 1.7 crashes on a store to one.
    pub fn is_part_of_given_matrix(&self, b: &Body, pointer: Value) -> bool {
        let Value::Inst(id) = pointer else { return false };
        let Op::Access { base: Value::Global(global), indices } = b.f.insts[id].op else { return false };
        let global = &b.t.module.globals[global];
        let mut ty = global.ty;
        for index in b.f.values(indices) {
            ty = match b.t.types.get(ty) {
                Type::Matrix { .. } => return b.t.stage() == Some(Stage::Mesh) && global.space == Space::Output,
                Type::Array { element, .. } => element,
                Type::Struct(of) => {
                    let member = b.t.module.known_u32(*index).unwrap_or(0);
                    b.t.types.structs[of].members[member as usize].ty
                }
                _ => return false,
            };
        }
        false
    }
}

/// The distances assigned anywhere, in order; `None` if any may be.
fn given(module: &Module, f: &Function, global: GlobalId) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    for (_, inst) in f.insts.iter() {
        let Op::Access { base: Value::Global(base), indices } = inst.op else { continue };
        if base == global {
            found.push(f.values(indices).get(1).and_then(|index| module.known_u32(*index))?);
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// The variables of a function that are read before they have a value, and arrays in which specialization constants
/// select the assigned elements.
pub(super) fn unset(module: &Module, f: &Function) -> FxHashSet<LocalId> {
    let is_special = |value: &Value| matches!(value, Value::Const(id) if module.known_u32(*value).is_none() && module.constants.bits(*id).is_none());
    let by_constants = f.insts.iter().filter_map(|(_, inst)| match inst.op {
        Op::Access { base: Value::Local(local), indices } => f.values(indices).iter().any(is_special).then_some(local),
        _ => None,
    });
    unset_variables(module, f).into_iter().chain(by_constants).collect()
}
