//! Module-scope variables: resources, memory of workgroups and invocations, inputs and outputs.

use super::writer::Writer;
use crate::ir::{
    Access, ArrayLen, Binding, FuncId, Global, GlobalId, Module, Op, Stage, StructId, Type, TypeId, Value,
};
use rustc_hash::FxHashSet;

impl Writer<'_> {
    /// Assigns module-wide names before any name in a function.
    pub fn name_all(&mut self, callees: &[FuncId]) {
        for (id, global) in self.module.globals.iter() {
            self.name_global(id, global);
        }
        for id in callees.iter().rev() {
            let name = self.names.unique(&self.module.functions[*id].name, None);
            self.function_names.insert(*id, name);
        }
        for (number, name) in &self.module.spec_names {
            let name = self.names.unique(name, None);
            self.spec_names.insert(*number, name);
        }
        let referred: Vec<StructId> = self.types.iter().filter_map(|(id, _)| self.types.referred(id)).collect();
        for id in referred {
            let name = self.names.unique(&self.types.structs[id].name, None);
            self.references.insert(id, name);
        }
        // A block without a layout gets a name when a value of it is used.
        let structs = &self.module.types.structs;
        let blocks: FxHashSet<StructId> =
            structs.iter().filter(|(_, item)| item.block).filter_map(|(_, item)| item.logical).collect();
        for (id, item) in structs.iter() {
            if item.logical.is_none() && !item.block && !blocks.contains(&id) {
                let name = self.names.unique(&item.name, None);
                self.struct_names.insert(id, name);
            }
        }
        for (id, global) in self.module.globals.iter() {
            if let Some(of) = self.block_of(global.ty) {
                let name = self.names.unique(&self.types.structs[of].name, None);
                self.block_names.insert(id, name);
            }
        }
    }

    fn name_global(&mut self, id: GlobalId, global: &Global) {
        if matches!(global.binding, Binding::BuiltIn(_)) {
            return;
        }
        match self.block_of(global.ty) {
            Some(of) if global.name.is_empty() => {
                let language = self.language;
                if let Some(name) = language.block_variable(self, id, of) {
                    let name = self.names.unique(&name, None);
                    self.global_names.insert(id, name);
                    return;
                }
                let members = self.types.structs[of].members.clone();
                let names = members.iter().map(|member| match member.binding {
                    Binding::BuiltIn(_) => member.name.to_string(),
                    _ => self.names.unique(&member.name, None),
                });
                let names = names.collect();
                self.block_members.insert(id, names);
            }
            _ => {
                let name = self.names.unique(if global.name.is_empty() { "variable" } else { &global.name }, None);
                self.global_names.insert(id, name);
            }
        }
    }

    pub fn stage(&self) -> Option<Stage> {
        self.module.entry_points.first().map(|entry| entry.stage)
    }

    /// The name of a variable, which is declared on first use.
    pub fn global(&mut self, id: GlobalId) -> String {
        if let Some(known) = self.globals.get(&id) {
            return known.clone();
        }
        let module = self.module;
        let global = &module.globals[id];
        let outside = std::mem::replace(&mut self.span, global.span);
        if global.span == crate::source::Span::NONE {
            self.span = outside;
        }
        let language = self.language;
        let first = self.variables.len();
        let name = language.declare(self, id, global);
        self.remark_on(id, first);
        let lines = self.variables.split_off(first);
        self.declarations.entry(id).or_default().extend(lines);
        self.span = outside;
        self.globals.insert(id, name.clone());
        name
    }

    pub fn innermost(&self, ty: TypeId) -> TypeId {
        self.types.innermost(ty)
    }

    /// The struct of a block, or of an array of blocks.
    pub fn block_of(&self, ty: TypeId) -> Option<StructId> {
        match self.types.get(self.innermost(ty)) {
            Type::Struct(of) if self.types.structs[of].block => Some(of),
            _ => None,
        }
    }

    /// Element and stride of a runtime-sized array that is the only member of a block.
    pub fn only_array(&self, block: StructId) -> Option<(TypeId, u32)> {
        let [member] = self.types.structs[block].members.as_slice() else { return None };
        match self.types.get(member.ty) {
            Type::Array { element, len: ArrayLen::Runtime, stride: Some(stride) } if member.offset == Some(0) => {
                Some((element, stride))
            }
            _ => None,
        }
    }
}

/// Qualifiers of a block, and the common qualifiers of its members.
pub(super) fn access_of(t: &Writer, global: &Global, of: StructId) -> Access {
    let members = &t.types.structs[of].members;
    let shared = members.iter().map(|member| member.access).reduce(|a, b| a & b).unwrap_or_default();
    let any = members.iter().map(|member| member.access & Access::COHERENT.union(Access::VOLATILE));
    any.fold(global.access | shared, |all, one| all | one)
}

/// Returns true if any index of a variable is not constant.
pub(super) fn is_indexed(module: &Module, id: GlobalId) -> bool {
    module.functions.iter().any(|(_, f)| {
        f.insts.iter().any(|(_, inst)| match inst.op {
            Op::Access { base: Value::Global(base), indices } if base == id => {
                f.values(indices).first().is_some_and(|index| module.known_u32(*index).is_none())
            }
            _ => false,
        })
    })
}
