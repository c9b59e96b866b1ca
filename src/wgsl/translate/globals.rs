//! Module scope: variables with their bindings, constants, overrides.
//!
//! An override becomes a specialization constant with its `@id`, or the lowest free one in declaration order. An
//! override whose default is computed from other overrides becomes that computation and has no number. An override
//! without a default gets zero and a warning, because Vulkan requires a default.

use super::function::Body;
use super::memory::PointerPath;
use super::types::Layout;
use super::{Outcome, Shader};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, Access, Binding, ConstId, ConstValue, Global, GlobalId, Space, Value};
use naga::{Handle, ImageClass, StorageAccess, TypeInner};

/// A module-scope variable in `ir`.
#[derive(Clone, Copy)]
pub(super) struct Variable {
    pub id: GlobalId,
    /// True if the memory is the only member of a block created for it.
    pub wrapped: bool,
}

impl Shader<'_> {
    fn access(&self, of: &naga::GlobalVariable) -> Access {
        match self.naga.types[of.ty].inner {
            TypeInner::Image { class: ImageClass::Storage { access, .. }, .. } => texel_access(access),
            _ => access(of.space),
        }
    }
}

fn texel_access(access: StorageAccess) -> Access {
    match (access.contains(StorageAccess::LOAD), access.contains(StorageAccess::STORE)) {
        (true, false) => Access::READONLY,
        (false, true) => Access::WRITEONLY,
        _ => Access::empty(),
    }
}

fn access(space: naga::AddressSpace) -> Access {
    match space {
        // WebGPU refuses to bind memory twice if one binding writes it ("Encoder bind groups alias a writable
        // resource").
        naga::AddressSpace::Storage { access } if !access.contains(StorageAccess::STORE) => {
            Access::READONLY | Access::RESTRICT
        }
        naga::AddressSpace::Uniform | naga::AddressSpace::Immediate => Access::READONLY,
        _ => Access::empty(),
    }
}

impl Shader<'_> {
    /// The memory of a module-scope variable, which is added when it is first met.
    pub(super) fn global(
        &mut self,
        out: &mut ir::Module,
        handle: Handle<naga::GlobalVariable>,
    ) -> Outcome<PointerPath> {
        let variable = match self.globals.get(&handle) {
            Some(known) => *known,
            None => {
                let made = self.add_global(out, handle)?;
                self.globals.insert(handle, made);
                made
            }
        };
        let indices = if variable.wrapped { vec![Value::Const(out.constants.u32(0))] } else { Vec::new() };
        Ok(PointerPath { indices, ..PointerPath::of(Value::Global(variable.id)) })
    }

    fn add_global(&mut self, out: &mut ir::Module, handle: Handle<naga::GlobalVariable>) -> Outcome<Variable> {
        let var = &self.naga.global_variables[handle];
        let at = self.naga.global_variables.get_span(handle);
        let name = var.name.as_deref().unwrap_or("");
        let space = self.space(var.space, at)?;
        let is_struct = matches!(self.naga.types[var.ty].inner, TypeInner::Struct { .. });
        let wrapped = space.is_laid_out() && !is_struct;
        let split = space == Space::Uniform;
        let ty = match (space.is_laid_out(), wrapped) {
            (false, _) if space == Space::Handle => self.logical_inner(out, &self.naga.types[var.ty].inner, at)?,
            (false, _) => self.logical(out, var.ty)?,
            (true, true) => self.wrapped(out, var.ty, name, split)?,
            (true, false) => self.laid_out(out, var.ty, Layout { block: true, split })?,
        };
        let binding = match &var.binding {
            Some(of) => Binding::Resource { set: of.group, binding: of.binding },
            None => Binding::None,
        };
        let init = self.global_init(out, var, space, ty)?;
        let global =
            Global { name: name.into(), span: self.span(at), space, ty, binding, access: self.access(var), init };
        Ok(Variable { id: out.globals.push(global), wrapped })
    }

    /// Private variables start as zero without an initialiser (WGSL 7.3); workgroup variables are zeroed by code.
    /// Values that are not constant are stored at the start of the entry point: see [`Body::start_private_memory`].
    fn global_init(
        &mut self,
        out: &mut ir::Module,
        var: &naga::GlobalVariable,
        space: Space,
        ty: ir::TypeId,
    ) -> Outcome<Option<ConstId>> {
        match (space, var.init) {
            (Space::Private, Some(init)) => match Body::constants(self, out).value(init)? {
                Value::Const(id) => Ok(Some(id)),
                _ => Ok(None),
            },
            (Space::Private, None) => Ok(Some(zero(out, ty))),
            _ => Ok(None),
        }
    }

    /// The value of a module-scope expression.
    pub(super) fn constant(&mut self, out: &mut ir::Module, of: Handle<naga::Expression>) -> Outcome<ConstId> {
        let at = self.naga.global_expressions.get_span(of);
        let value = Body::constants(self, out).value(of)?;
        match value {
            Value::Const(id) => Ok(id),
            _ => Err(self.unsupported("this computation on override values", at)),
        }
    }

    /// Gives every override without an `@id` the lowest free one.
    pub(super) fn number_overrides(&mut self) {
        let taken: Vec<u32> = self.naga.overrides.iter().filter_map(|(_, o)| o.id.map(u32::from)).collect();
        let mut free = (0..).filter(|id| !taken.contains(id));
        let numbers = self.naga.overrides.iter().map(|(_, o)| match o.id {
            Some(id) => u32::from(id),
            None => free.next().expect("there are more numbers than overrides"),
        });
        self.spec_ids = numbers.collect();
    }

    /// The default of an override without a number, if it is not a constant: floats computed from others.
    pub(super) fn computed_override(&self, handle: Handle<naga::Override>) -> Option<Handle<naga::Expression>> {
        let of = &self.naga.overrides[handle];
        of.init.filter(|init| of.id.is_none() && self.uses_override(*init))
    }

    fn uses_override(&self, of: Handle<naga::Expression>) -> bool {
        let expressions = &self.naga.global_expressions;
        let mut waiting = vec![of];
        while let Some(next) = waiting.pop() {
            if matches!(expressions[next], naga::Expression::Override(_)) {
                return true;
            }
            super::super::uses::operands(&expressions[next], &mut waiting);
        }
        false
    }

    /// The specialization constant of an override.
    pub(super) fn override_const(&mut self, out: &mut ir::Module, handle: Handle<naga::Override>) -> Outcome<ConstId> {
        if let Some(known) = self.overrides.get(&handle) {
            return Ok(*known);
        }
        let made = self.make_override(out, handle)?;
        self.overrides.insert(handle, made);
        Ok(made)
    }

    fn make_override(&mut self, out: &mut ir::Module, handle: Handle<naga::Override>) -> Outcome<ConstId> {
        let of = &self.naga.overrides[handle];
        let at = self.naga.overrides.get_span(handle);
        let ty = self.logical(out, of.ty)?;
        let default = match of.init {
            Some(init) => Some(self.constant(out, init)?),
            None => {
                self.warn_no_default(of, at);
                None
            }
        };
        let bits = match default {
            None => 0,
            Some(id) => match out.constants.bits(id) {
                Some(bits) => bits,
                None if of.id.is_none() => return Ok(id),
                None => return Err(self.computed_default(at)),
            },
        };
        let id = self.spec_ids[handle.index()];
        out.spec_names.push((id, of.name.as_deref().unwrap_or("").into()));
        Ok(out.constants.intern(ty, ConstValue::Spec { id, default: bits }))
    }

    fn warn_no_default(&mut self, of: &naga::Override, at: naga::Span) {
        let name = of.name.as_deref().unwrap_or("");
        let message = format!("the override `{name}` has no default value; 0 is used unless the pipeline sets it");
        let span = self.span(at);
        let warning = Diagnostic::warning(Code::OVERRIDE_WITHOUT_DEFAULT, message).at(span, "declared here");
        self.warnings.push(warning.help(format_args!("write the default after it: `override {name} = …;`")));
    }

    fn computed_default(&self, at: naga::Span) -> super::Failure {
        let message = "an override with an `@id` needs a default that no other override takes part in";
        self.fail(Code::OVERRIDE_DEFAULT, message, at, "its default depends on another override")
    }
}

impl Body<'_, '_, '_> {
    /// Stores the initial values of private variables that are computed from overrides.
    pub(super) fn start_private_memory(&mut self) -> Outcome<()> {
        let Some(origin) = self.origin else { return Ok(()) };
        for (handle, var) in self.shader.naga.global_variables.iter() {
            let Some(init) = var.init.filter(|_| !origin.info[handle].is_empty()) else { continue };
            if !self.shader.uses_override(init) {
                continue;
            }
            let path = self.shader.global(self.b.module, handle)?;
            if matches!(path.root, Value::Global(id) if self.b.module.globals[id].init.is_none()) {
                self.b.span = self.shader.span(self.shader.naga.global_variables.get_span(handle));
                let value = self.module_scope(init)?;
                let pointer = self.pointer(&path);
                self.b.store(pointer, value);
            }
        }
        Ok(())
    }
}

/// The zero value of a type.
pub(super) fn zero(out: &mut ir::Module, ty: ir::TypeId) -> ConstId {
    let value = match out.types.get(ty) {
        ir::Type::Scalar(_) => ConstValue::Bits(0),
        _ => ConstValue::Zero,
    };
    out.constants.intern(ty, value)
}
