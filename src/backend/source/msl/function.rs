//! Functions and composites.

use super::Msl;
use crate::backend::source::expr::Expr;
use crate::backend::source::function::{Body, Made};
use crate::backend::source::image::Root;
use crate::ir::{ConstId, EntryPoint, FuncId, Function, GlobalId, Op, Param, Space, Type, TypeId, Value};
use std::collections::BTreeSet;

impl Msl {
    /// Names the entry point's own variables.
    pub fn begin(&self, b: &mut Body) {
        b.t.msl.used.clear();
        self.note_changes(b);
        if b.entry.is_some() {
            b.t.ports.input = b.named("input");
            b.t.ports.output = b.named("output");
        }
    }

    /// Finds the private variables that the function or one of its callees changes.
    fn note_changes(&self, b: &mut Body) {
        let mut changed = BTreeSet::new();
        for (_, inst) in b.f.insts.iter() {
            match inst.op {
                Op::Store { pointer, .. } | Op::Atomic { pointer, .. } => changed.extend(root_of(b.f, pointer)),
                Op::Ray { on, .. } => changed.extend(root_of(b.f, on)),
                Op::Call(callee, args) => {
                    changed.extend(b.t.msl.changed.get(&callee).into_iter().flatten());
                    changed.extend(b.f.values(args).iter().filter_map(|arg| root_of(b.f, *arg)));
                }
                _ => {}
            }
        }
        b.t.msl.changed.insert(b.id, changed);
    }

    pub fn signature(&self, b: &mut Body, name: &str, params: &[String], entry: Option<&EntryPoint>) -> String {
        if let Some(entry) = entry {
            return self.entry_signature(b, entry);
        }
        let used: Vec<_> = b.t.msl.used.iter().copied().collect();
        let mut params = params.to_vec();
        for extra in &used {
            params.extend(self.params_of(b, *extra));
        }
        b.t.msl.extras.insert(b.id, used.into());
        let ret = b.t.type_name(b.f.ret);
        format!("{ret} {name}({}) {{", params.join(", "))
    }

    pub fn parameter(&self, b: &mut Body, index: u32, param: &Param, name: &str) -> String {
        let of = b.t.image_use(Root::Param(b.id, index));
        let ty = b.t.types.pointee(param.ty).map_or(param.ty, |(_, pointee)| pointee);
        match (b.t.types.get(b.t.innermost(ty)), b.t.types.pointee(param.ty)) {
            (Type::SampledImage(image), _) => {
                let texture = self.texture_name(b.t, image, of);
                let texture = self.handle_param(b, ty, &texture, name);
                let sampler = self.handle_param(b, ty, "sampler", &format!("{name}_sampler"));
                format!("{texture}, {sampler}")
            }
            (Type::Image(image), _) => {
                let texture = self.texture_name(b.t, image, of);
                self.handle_param(b, ty, &texture, name)
            }
            (Type::Sampler, _) => self.handle_param(b, ty, "sampler", name),
            (structure @ Type::AccelerationStructure, _) => {
                let of = b.t.handle_name(structure);
                self.handle_param(b, ty, &of, name)
            }
            (_, Some((Space::Function | Space::Private, pointee))) => self.referred(b.t, "thread ", pointee, name),
            (_, Some(_)) => {
                b.t.unsupported("parameters that point to memory");
                String::new()
            }
            (_, None) => {
                let (ty, dims) = b.t.declared(ty);
                format!("{ty} {name}{dims}")
            }
        }
    }

    /// A texture or sampler, or an array of them, as a parameter.
    fn handle_param(&self, b: &mut Body, ty: TypeId, of: &str, name: &str) -> String {
        match b.t.types.get(ty) {
            Type::Array { len, .. } => {
                let (words, len) = (Self::array_words(b.t), b.t.length(len));
                format!("{words} array<{of}, {len}>& {name}")
            }
            _ => format!("{of} {name}"),
        }
    }

    /// A parameter at its use: a texture with its sampler is two.
    pub fn param(&self, b: &mut Body, index: u32) -> Made {
        let name = b.params[index as usize].clone();
        let ty = b.f.params[index as usize].ty;
        let pointee = b.t.types.pointee(ty);
        let of = b.t.innermost(pointee.map_or(ty, |(_, pointee)| pointee));
        match b.t.types.get(of) {
            Type::SampledImage(_) => {
                Made::Pair([Expr::primary(name.clone()), Expr::primary(format!("{name}_sampler"))])
            }
            _ => Made::One(Expr::primary(name).reading_memory(pointee.is_some())),
        }
    }

    pub fn call(&self, b: &mut Body, callee: FuncId, name: &str, args: Vec<Made>) -> Expr {
        let mut list = Vec::new();
        for arg in args {
            match arg {
                Made::One(value) => list.push(value),
                Made::Pair(parts) => list.extend(parts),
                Made::Bytes(_) | Made::Laid(_) => list.push(b.t.stand_in("parameters that point to memory")),
            }
        }
        list.extend(self.extra_arguments(b, callee));
        Expr::call(name, &list)
    }

    /// The initial value of a variable: arrays are initialised from lists, not from other arrays.
    pub fn first_value(&self, b: &mut Body, value: Value, ty: TypeId) -> String {
        match value {
            Value::Const(id) if self.is_plain_array(b, ty) => b.t.initial(id),
            _ => b.value(value).text,
        }
    }

    /// Returns true for an array that the language does not assign.
    pub fn is_plain_array(&self, b: &mut Body, ty: TypeId) -> bool {
        let logical = b.t.types.logical(ty);
        matches!(b.t.types.get(ty), Type::Array { .. }) && !b.t.is_array_value(logical)
    }

    /// A composite of its parts.
    pub fn construct(&self, b: &mut Body, ty: TypeId, parts: Vec<Expr>) -> Expr {
        let name = b.t.type_name(ty);
        let list: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        let list = list.join(", ");
        let made = match b.t.types.get(ty) {
            Type::Scalar(_) | Type::Vector { .. } | Type::Matrix { .. } => format!("{name}({list})"),
            Type::Array { .. } => format!("{name} {{ {{ {list} }} }}"),
            _ => format!("{name} {{ {list} }}"),
        };
        let all = Expr::call("", &parts);
        Expr::primary(made).reading(&all.reads)
    }

    /// The initial value of a variable.
    pub fn initial(&self, b: &mut crate::backend::source::writer::Writer, id: ConstId) -> String {
        let constant = b.module.constants.get(id).clone();
        match constant.value {
            crate::ir::ConstValue::Zero | crate::ir::ConstValue::Undef => match b.types.get(constant.ty) {
                Type::Scalar(_) | Type::Vector { .. } => b.zero(constant.ty).text,
                _ => "{}".to_string(),
            },
            _ => b.spelled(id).text,
        }
    }

    /// Ends a fragment's invocation. The language lets it continue as a helper, so it also returns.
    pub fn discard(&self, b: &mut Body) {
        b.line("discard_fragment()".to_string());
        b.leave();
    }

    /// Stores to a path; arrays that the language does not assign go element by element.
    pub fn store(&self, b: &mut Body, pointer: Value, value: Value) {
        if self.store_level(b, pointer, value) || self.store_corners(b, pointer, value) {
            return;
        }
        let ty = b.type_of(value);
        if !self.is_plain_array(b, ty) {
            return b.store_place(pointer, value);
        }
        let from = b.value(value);
        match b.made(pointer) {
            Made::One(place) => self.copy(b, ty, &place, &from),
            _ => b.store_place(pointer, value),
        }
    }

    fn copy(&self, b: &mut Body, ty: TypeId, place: &Expr, from: &Expr) {
        match b.t.types.get(ty) {
            Type::Array { element, .. } if self.is_plain_array(b, ty) => b.each_index(ty, |b, index| {
                let part = format!("[{}]", index.text);
                self.copy(b, element, &place.part(&part), &from.part(&part));
            }),
            _ => b.line(format!("{} = {}", place.text, from.text)),
        }
    }
}

/// The variable that a pointer points into.
fn root_of(f: &Function, pointer: Value) -> Option<GlobalId> {
    match pointer {
        Value::Global(id) => Some(id),
        Value::Inst(id) => match f.insts[id].op {
            Op::Access { base, .. } => root_of(f, base),
            _ => None,
        },
        _ => None,
    }
}
