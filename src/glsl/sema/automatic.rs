//! Bindings and locations that the compiler assigns (`-fauto-bind-uniforms`, `-fauto-map-locations`), and the binding
//! bases of kinds of resources.

use super::Sema;
use super::default_block::uniform_locations;
use crate::glsl::ast::Name;
use crate::glsl::dialect::ResourceKind;
use crate::ir::build::Builder;
use crate::ir::{Binding, GlobalId, Module, Space, TypeId, Value};
use rustc_hash::FxHashSet;

/// The bindings to assign.
#[derive(Default)]
pub(super) struct Automatic {
    /// The next location of an input and of an output.
    locations: [u32; 2],
    /// The next location of a uniform.
    uniform: Option<u32>,
    /// Variables without a binding, with true if they name a set.
    unbound: Vec<(GlobalId, bool)>,
}

impl Sema<'_> {
    /// A location for an input or output without one, if the command line requests it. As in glslang they count from 0,
    /// regardless of other variables.
    pub(super) fn automatic_location(&mut self, space: Space, taken: u32) -> Option<u32> {
        let next = &mut self.automatic.locations[usize::from(space == Space::Output)];
        let location = *next;
        self.env.dialect.auto_locations.then(|| {
            *next = next.saturating_add(taken);
            location
        })
    }

    /// A location for a uniform without one, if the command line requests it.
    pub(super) fn automatic_uniform(&mut self, b: &Builder<'_>, name: Name, ty: TypeId) -> Option<u32> {
        let dialect = self.env.dialect;
        if !dialect.auto_locations || !self.has_default_block() {
            return None;
        }
        let name = self.text(name.symbol);
        if let Some((_, location)) = dialect.uniform_locations.iter().rev().find(|(of, _)| of == name) {
            return Some(*location);
        }
        let location = self.automatic.uniform.unwrap_or(dialect.uniform_base);
        self.automatic.uniform = Some(location.saturating_add(uniform_locations(&b.module.types, ty)));
        Some(location)
    }

    /// Records that the next variable gets a binding at the end.
    pub(super) fn automatic_binding(&mut self, module: &Module, names_set: bool) -> Option<u32> {
        self.env.dialect.auto_bindings.then(|| {
            self.automatic.unbound.push((GlobalId::from_index(module.globals.len()), names_set));
            0
        })
    }

    /// Adds the bases of their kinds to bindings, then assigns the free ones: first to variables that name their set,
    /// last to variables that the shader does not use.
    pub(super) fn bind_rest(&mut self, module: &mut Module) {
        let dialect = self.env.dialect;
        if !dialect.auto_bindings && dialect.bases.is_empty() {
            return;
        }
        let mut unbound = std::mem::take(&mut self.automatic.unbound);
        let open: FxHashSet<GlobalId> = unbound.iter().map(|(id, _)| *id).collect();
        let mut taken: FxHashSet<(u32, u32)> = FxHashSet::default();
        for id in ids(module) {
            let base = self.binding_base(module, id);
            if let Some((set, binding)) = place(&mut module.globals[id].binding).filter(|_| !open.contains(&id)) {
                *binding = binding.saturating_add(base);
                taken.insert((set, *binding));
            }
        }
        let used = used(module);
        unbound.sort_by_key(|(id, names_set)| (!used.contains(id), !names_set));
        for (id, _) in unbound {
            let base = self.binding_base(module, id);
            let Some((set, binding)) = place(&mut module.globals[id].binding) else { continue };
            *binding = (base..).find(|free| !taken.contains(&(set, *free))).unwrap_or(u32::MAX);
            taken.insert((set, *binding));
        }
    }

    fn binding_base(&self, module: &Module, id: GlobalId) -> u32 {
        let global = &module.globals[id];
        let set = match global.binding {
            Binding::Resource { set, .. } | Binding::Attachment { set, .. } => set,
            _ => 0,
        };
        let kind = ResourceKind::of(module, global.space, global.ty);
        self.env.dialect.base(kind, self.env.stage, set)
    }
}

fn ids(module: &Module) -> impl Iterator<Item = GlobalId> + use<> {
    (0..module.globals.len()).map(GlobalId::from_index)
}

fn place(binding: &mut Binding) -> Option<(u32, &mut u32)> {
    match binding {
        Binding::Resource { set, binding } | Binding::Attachment { set, binding, .. } => Some((*set, binding)),
        Binding::Uniform { binding, .. } => Some((0, binding.as_mut()?)),
        _ => None,
    }
}

/// The variables that some function names.
fn used(module: &Module) -> FxHashSet<GlobalId> {
    let mut used = FxHashSet::default();
    for (_, function) in module.functions.iter() {
        for (_, inst) in function.insts.iter() {
            inst.op.each_operand(function, |value| {
                if let Value::Global(id) = value {
                    used.insert(id);
                }
            });
        }
    }
    used
}
