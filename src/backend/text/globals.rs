//! Module-scope variables other than a stage's inputs and outputs.

use super::memory::is_written;
use super::translator::Translator;
use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::ir::{Access, Binding, ConstId, Global, GlobalId, Space, Stage};
use naga::{AddressSpace, Expression, GlobalVariable, Handle, Literal, ResourceBinding, StorageAccess};

impl Translator<'_> {
    /// The variable of the language for one of the module.
    pub fn global(&mut self, id: GlobalId) -> Handle<GlobalVariable> {
        if let Some(known) = self.globals.get(&id) {
            return *known;
        }
        let span = self.span;
        let module = self.module;
        let is_block = matches!(module.globals[id].space, Space::Storage | Space::Uniform | Space::Handle);
        if is_block && matches!(self.types.get(module.globals[id].ty), crate::ir::Type::Array { .. }) {
            self.lacks("arrays of blocks, textures and samplers");
        }
        let global = &module.globals[id];
        self.span = global.span;
        let made = self.make_global(id, global);
        self.span = span;
        self.globals.insert(id, made);
        made
    }

    fn make_global(&mut self, id: GlobalId, global: &Global) -> Handle<GlobalVariable> {
        let space = self.space(id, global);
        let paths = self.atomics.get(&id).cloned().unwrap_or_default();
        let paths = paths.iter().map(Vec::as_slice).collect();
        let ty = match self.handle_type(id) {
            Some(ty) if global.space == Space::Handle => ty,
            _ if global.space == Space::Workgroup => self.workgroup_type(global.ty, &paths),
            _ => self.make(global.ty, global.space.is_laid_out(), &paths),
        };
        let init = global.init.filter(|_| global.space == Space::Private).and_then(|init| self.initializer(init));
        let binding = match global.binding {
            Binding::Resource { set, binding } => Some(ResourceBinding { group: set, binding }),
            _ => None,
        };
        // Those of several entry points may lie there.
        let is_alone = self.module.entry_points.len() == 1;
        let is_taken = self.out.global_variables.iter().any(|(_, other)| other.binding == binding);
        if binding.is_some() && is_alone && is_taken {
            self.lacks("two variables at one binding");
        }
        let variable = GlobalVariable {
            name: Some(self.name_of(global)),
            space,
            binding,
            ty,
            init,
            memory_decorations: naga::MemoryDecorations::empty(),
        };
        let here = self.here();
        self.out.global_variables.append(variable, here)
    }

    /// The name of a variable: that of its block where it has none.
    fn name_of(&self, global: &Global) -> String {
        let block = match self.types.get(global.ty) {
            crate::ir::Type::Struct(id) => self.types.structs[id].name.to_string(),
            _ => "variable".to_string(),
        };
        if global.name.is_empty() { block } else { global.name.to_string() }
    }

    fn space(&mut self, id: GlobalId, global: &Global) -> AddressSpace {
        match global.space {
            Space::Private => AddressSpace::Private,
            Space::Workgroup => AddressSpace::WorkGroup,
            Space::Uniform => AddressSpace::Uniform,
            Space::Storage => AddressSpace::Storage { access: self.storage_access(id, global) },
            Space::Handle => AddressSpace::Handle,
            Space::PushConstant => {
                self.lacks_push_constants();
                AddressSpace::Uniform
            }
            _ => {
                self.unsupported("variables of this kind");
                AddressSpace::Private
            }
        }
    }

    fn lacks_push_constants(&mut self) {
        let message = cannot_write("push constants", self.language());
        let advice = "`--push-constants GROUP:BINDING` puts them into a uniform buffer";
        let error = Diagnostic::error(Code::NOT_SUPPORTED, message).at(self.span, "").note(advice);
        self.diagnostics.push(error);
    }

    /// Blocks are read-only if they, or all of their members, are declared so. Vertex shaders have no others.
    fn storage_access(&mut self, id: GlobalId, global: &Global) -> StorageAccess {
        let members = match self.types.get(global.ty) {
            crate::ir::Type::Struct(id) => self.types.structs[id].members.as_slice(),
            _ => &[],
        };
        let all = !members.is_empty() && members.iter().all(|member| member.access.contains(Access::READONLY));
        if global.access.contains(Access::READONLY) || all {
            return StorageAccess::LOAD;
        }
        let of_vertices = self.module.entry_points.iter().filter(|entry| entry.stage == Stage::Vertex).count();
        if of_vertices > 0 {
            if !is_written(self.module, id) {
                return StorageAccess::LOAD;
            } else if of_vertices == self.module.entry_points.len() {
                self.lacks("buffers that vertex shaders write");
            }
        }
        StorageAccess::LOAD | StorageAccess::STORE
    }

    /// The constant that a variable starts with.
    pub fn initializer(&mut self, id: ConstId) -> Option<Handle<Expression>> {
        let init = self.global_constant(id);
        if init.is_none() {
            self.unsupported("variables that start with specialization constants, infinities or NaN");
        }
        init
    }

    /// Adds a private variable.
    pub fn private_variable(
        &mut self,
        name: String,
        ty: Handle<naga::Type>,
        init: Option<Handle<Expression>>,
    ) -> Handle<GlobalVariable> {
        let variable = GlobalVariable {
            name: Some(name),
            space: AddressSpace::Private,
            binding: None,
            ty,
            init,
            memory_decorations: naga::MemoryDecorations::empty(),
        };
        let here = self.here();
        self.out.global_variables.append(variable, here)
    }

    /// The variable that holds these bits.
    pub fn bits_variable(&mut self, bits: u32) -> Handle<GlobalVariable> {
        if let Some(known) = self.bits.get(&bits) {
            return *known;
        }
        let ty = self.vector(naga::Scalar::U32, 1);
        let init = Expression::Literal(Literal::U32(bits));
        let here = self.here();
        let init = self.out.global_expressions.append(init, here);
        let made = self.private_variable(format!("bits_{bits:08x}_"), ty, Some(init));
        self.bits.insert(bits, made);
        made
    }
}
