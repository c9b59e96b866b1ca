//! Inputs and outputs of a stage, and the functions that use them.

use super::writer::Writer;
use crate::ir::{
    Access, Binding, BuiltIn, DepthPromise, EntryPoint, Function, Global, GlobalId, Member, Module, Op, Space, Type,
    TypeId, Value,
};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// A built-in value that the shader uses.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub of: BuiltIn,
    pub space: Space,
    /// The variable of the source.
    pub name: String,
    /// Its type in the source.
    pub ty: TypeId,
    /// True if functions other than the entry point use it too.
    pub is_shared: bool,
    /// The first use.
    pub span: Span,
}

/// The inputs and outputs of the stage.
#[derive(Debug, Default)]
pub(super) struct Ports {
    /// Inputs and outputs that functions other than the entry point use.
    pub shared: FxHashSet<GlobalId>,
    /// Inputs and outputs that any function uses.
    pub named: FxHashSet<GlobalId>,
    /// Inputs and outputs with locations, in location order.
    pub located: [Vec<GlobalId>; 2],
    /// In the order of their use.
    pub built_in: Vec<Given>,
    pub entry: String,
    /// Names of the parameter with the inputs and of the variable with the outputs, and of their types.
    pub input: String,
    pub output: String,
    pub types: [String; 2],
    pub depth: DepthPromise,
}

impl Ports {
    pub fn find(&self, of: BuiltIn, space: Space) -> Option<&Given> {
        self.built_in.iter().find(|given| given.of == of && given.space == space)
    }

    pub fn built_in_of(&self, space: Space) -> Vec<Given> {
        let is_it = |given: &&Given| given.space == space && given.of != BuiltIn::PointSize;
        self.built_in.iter().filter(is_it).cloned().collect()
    }

    pub fn has_outputs(&self) -> bool {
        !self.located[1].is_empty() || !self.built_in_of(Space::Output).is_empty()
    }
}

/// The built-in values of a variable that an instruction accesses, with their names and types; for a block, the
/// accessed member.
pub(super) fn named(module: &Module, f: &Function, op: Op, id: GlobalId) -> Vec<(BuiltIn, String, TypeId)> {
    let global = &module.globals[id];
    if let Binding::BuiltIn(of) = global.binding {
        return vec![(of, global.name.to_string(), global.ty)];
    }
    let Type::Struct(block) = module.types.get(global.ty) else { return Vec::new() };
    let members = &module.types.structs[block].members;
    let built_in = |member: &Member| match member.binding {
        Binding::BuiltIn(of) => Some((of, member.name.to_string(), member.ty)),
        _ => None,
    };
    let first = match op {
        Op::Access { base: Value::Global(base), indices } if base == id => f.values(indices).first().copied(),
        _ => None,
    };
    match first.and_then(|index| module.known_u32(index)) {
        Some(index) => members.get(index as usize).and_then(built_in).into_iter().collect(),
        None => members.iter().filter_map(built_in).collect(),
    }
}

/// Workgroup memory that starts as zeros.
pub(super) fn zeroed(module: &Module) -> impl Iterator<Item = GlobalId> + '_ {
    let is_it = |global: &Global| global.space == Space::Workgroup && global.init.is_some();
    module.globals.iter().filter(move |(_, global)| is_it(global)).map(|(id, _)| id)
}

/// Adds a built-in value, with a unique name.
fn note(t: &mut Writer, ports: &mut Ports, given: Given) {
    match ports.built_in.iter_mut().find(|known| known.of == given.of && known.space == given.space) {
        Some(known) => known.is_shared |= given.is_shared,
        None => {
            let name = t.names.unique(&given.name, None);
            ports.built_in.push(Given { name, ..given });
        }
    }
}

impl Writer<'_> {
    /// Finds the inputs and outputs, each with a unique name.
    pub fn find_ports(&mut self, entry: &EntryPoint) {
        let module = self.module;
        let mut ports = Ports { entry: entry.name.to_string(), depth: entry.fragment.depth, ..Ports::default() };
        for (function, f) in module.functions.iter() {
            let is_shared = !module.entry_points.iter().any(|entry| entry.function == function);
            for (_, inst) in f.insts.iter() {
                inst.op.each_operand(f, |value| {
                    let Value::Global(id) = value else { return };
                    let space = module.globals[id].space;
                    if !matches!(space, Space::Input | Space::Output) {
                        return;
                    }
                    ports.named.insert(id);
                    if is_shared {
                        ports.shared.insert(id);
                    }
                    for (of, name, ty) in named(module, f, inst.op, id) {
                        note(self, &mut ports, Given { of, space, name, ty, is_shared, span: inst.span });
                    }
                });
            }
        }
        for (id, global) in module.globals.iter() {
            if matches!(global.space, Space::Input | Space::Output) && location_of(self, global).is_some() {
                ports.located[usize::from(global.space == Space::Output)].push(id);
            }
        }
        for list in &mut ports.located {
            list.sort_by_key(|id| (location_of(self, &module.globals[*id]), id.index()));
        }
        ports.types = ["Input", "Output"].map(|name| self.names.unique(name, None));
        self.ports = ports;
    }

    /// Adds an input that the entry point needs additionally.
    pub fn note_built_in(&mut self, of: BuiltIn, name: &str, ty: TypeId) {
        self.note_port(of, Space::Input, name, ty);
    }

    /// Adds an input or output that the stage needs additionally.
    pub fn note_port(&mut self, of: BuiltIn, space: Space, name: &str, ty: TypeId) {
        let (name, span) = (name.to_string(), self.span);
        let mut ports = std::mem::take(&mut self.ports);
        note(self, &mut ports, Given { of, space, name, ty, is_shared: false, span });
        self.ports = ports;
    }
}

/// The built-in value of a variable, its own or that of the only member of a block.
pub(super) fn built_in_of(t: &Writer, global: &Global) -> Option<BuiltIn> {
    let binding = match (global.binding, t.types.get(t.innermost(global.ty))) {
        (Binding::None, Type::Struct(of)) => match t.types.structs[of].members.as_slice() {
            [member] => member.binding,
            _ => Binding::None,
        },
        (own, _) => own,
    };
    if let Binding::BuiltIn(of) = binding { Some(of) } else { None }
}

/// The location of an input or output, or the first one of its members.
pub(super) fn location_of(t: &Writer, global: &Global) -> Option<u32> {
    if let Binding::Location { location: Some(location), .. } = global.binding {
        return Some(location);
    }
    let of = t.block_of(global.ty)?;
    let members = t.types.structs[of].members.iter();
    members
        .filter_map(|member| if let Binding::Location { location, .. } = member.binding { location } else { None })
        .min()
}

/// Returns true if all programs must compute the same position.
pub(super) fn is_invariant(t: &Writer) -> bool {
    let is_position = |binding| binding == Binding::BuiltIn(BuiltIn::Position);
    t.module.globals.iter().filter(|(_, global)| global.space == Space::Output).any(|(_, global)| {
        let own = is_position(global.binding).then_some(global.access);
        let members = t.block_of(global.ty).map_or(&[][..], |of| &t.types.structs[of].members);
        let of_members =
            members.iter().filter(|member| is_position(member.binding)).map(|member| member.access | global.access);
        own.into_iter().chain(of_members).any(|access| access.contains(Access::INVARIANT))
    })
}
