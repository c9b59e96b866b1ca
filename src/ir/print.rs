//! A module as text for people: `--emit ir`.
//!
//! The text shows everything in a module. Numbers count from the top, so the same module always gives the same text.
//! Struct, variable and function names are made unique by a suffix (`.1`). The text is for reading; nothing parses it.

mod body;
mod constants;
mod foreign;
mod lane;
mod types;
mod words;

use super::{
    Access, Binding, ConstId, EntryPoint, GlobalId, Interpolation, Module, Reconvergence, Sampling, Space, Struct,
    StructId, TypeId,
};
use crate::source::SourceMap;
use constants::Used;
pub(crate) use lane::lane_text;
use rustc_hash::FxHashMap;
use std::fmt::Write;
pub(crate) use types::scalar_name;
pub use types::type_name;
pub(crate) use words::{barrier_text, flags_text, snake};

/// The text of a module. With `sources`, each instruction that starts a new source line shows its place.
pub fn print(module: &Module, sources: Option<&SourceMap>) -> String {
    let mut printer = Printer { module, sources, names: Names::new(module), out: String::new() };
    printer.module();
    printer.out
}

/// Unique names of a module's declarations.
struct Names {
    structs: Vec<String>,
    globals: Vec<String>,
    functions: Vec<String>,
}

impl Names {
    fn new(module: &Module) -> Names {
        Names {
            structs: unique(module.types.structs.iter().map(|(_, item)| &*item.name)),
            globals: unique(module.globals.iter().map(|(_, item)| &*item.name)),
            functions: unique(module.functions.iter().map(|(_, item)| &*item.name)),
        }
    }
}

/// The names, numbered if they occurred before.
fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen: FxHashMap<&str, u32> = FxHashMap::default();
    let number = |name: &'a str| {
        let count = seen.entry(name).or_insert(0);
        *count += 1;
        let shown = if name.is_empty() { "_" } else { name };
        if *count == 1 { shown.to_owned() } else { format!("{shown}.{}", *count - 1) }
    };
    names.map(number).collect()
}

struct Printer<'m> {
    module: &'m Module,
    sources: Option<&'m SourceMap>,
    names: Names,
    out: String,
}

impl Printer<'_> {
    fn module(&mut self) {
        for (id, item) in self.module.types.structs.iter() {
            self.structure(id, item);
        }
        self.constants(&Used::of(self.module));
        for id in self.module.globals.handles() {
            self.global(id);
        }
        self.end_paragraph();
        for id in self.module.functions.handles() {
            self.function(id);
            self.end_paragraph();
        }
        for entry in &self.module.entry_points {
            self.entry_point(entry);
        }
        self.foreign();
        self.out.truncate(self.out.trim_end().len());
        self.out.push('\n');
    }

    /// Appends formatted text. Writing to a string cannot fail.
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.out.write_fmt(text).expect("a string takes everything");
    }

    /// An empty line, unless there is one.
    fn end_paragraph(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn type_text(&self, ty: TypeId) -> String {
        let mut text = String::new();
        types::write_type(&mut text, &self.module.types, ty, &|id| self.struct_name(id), &|id| self.constant(id));
        text
    }

    fn struct_name(&self, id: StructId) -> String {
        self.names.structs[id.index()].clone()
    }

    fn structure(&mut self, id: StructId, item: &Struct) {
        let name = self.struct_name(id);
        let block = if item.block { " block" } else { "" };
        let twin = item.logical.map(|id| format!(" lays out {}", self.struct_name(id))).unwrap_or_default();
        self.put(format_args!("struct {name}{block}{twin} {{\n"));
        for (index, member) in item.members.iter().enumerate() {
            let offset = member.offset.map(|offset| format!("@{offset} ")).unwrap_or_default();
            let name = if member.name.is_empty() { index.to_string() } else { member.name.to_string() };
            let ty = self.type_text(member.ty);
            let rest = qualifiers(member.access, member.binding);
            self.put(format_args!("    {offset}{name}: {ty}{rest}\n"));
        }
        self.out.push_str("}\n\n");
    }

    fn global(&mut self, id: GlobalId) {
        let global = &self.module.globals[id];
        let (space, ty) = (space_name(global.space), self.type_text(global.ty));
        let name = self.names.globals[id.index()].clone();
        let rest = qualifiers(global.access, global.binding);
        let init = global.init.map(|init| format!(" = {}", self.constant(init))).unwrap_or_default();
        self.put(format_args!("{space} @{name}: {ty}{rest}{init}\n"));
    }

    fn entry_point(&mut self, entry: &EntryPoint) {
        let stage = entry.stage.word();
        let function = self.names.functions[entry.function.index()].clone();
        self.put(format_args!("entry {stage} {:?} = {function}", entry.name));
        if entry.stage.has_workgroups() {
            let size: Vec<String> = entry.workgroup_size.iter().map(|id| self.constant(*id)).collect();
            self.put(format_args!(", workgroup {}", size.join(" x ")));
        }
        match entry.reconvergence {
            Reconvergence::Default => {}
            Reconvergence::SubgroupUniform => self.out.push_str(", subgroup-uniform control flow"),
            Reconvergence::Maximal => self.out.push_str(", maximal reconvergence"),
        }
        for mode in &entry.primitives {
            self.put(format_args!(", {mode:?}"));
        }
        self.out.push('\n');
    }

    /// The spelling of a constant at its uses.
    fn constant(&self, id: ConstId) -> String {
        constants::reference(self.module, id, &|id| self.struct_name(id))
    }
}

/// The keyword of an address space.
pub(crate) fn space_name(space: Space) -> &'static str {
    match space {
        Space::Function => "function",
        Space::Private => "private",
        Space::Workgroup => "workgroup",
        Space::Uniform => "uniform",
        Space::Storage => "storage",
        Space::PushConstant => "push-constant",
        Space::TaskPayload => "task-payload",
        Space::RayPayload => "ray-payload",
        Space::IncomingRayPayload => "incoming-ray-payload",
        Space::HitAttribute => "hit-attribute",
        Space::HitObjectAttributeNv => "hit-object-attribute-nv",
        Space::HitObjectAttribute => "hit-object-attribute",
        Space::CallableData => "callable-data",
        Space::IncomingCallableData => "incoming-callable-data",
        Space::ShaderRecord => "shader-record",
        Space::Input => "input",
        Space::Output => "output",
        Space::Handle => "handle",
        Space::Loose => "loose",
        Space::Physical => "physical",
    }
}

/// Memory qualifiers and the binding, each after a space.
fn qualifiers(access: Access, binding: Binding) -> String {
    let mut text: String = access.iter_names().map(|(name, _)| format!(" {}", name.to_lowercase())).collect();
    match binding {
        Binding::None => {}
        Binding::Resource { set, binding } => text += &format!(" set {set} binding {binding}"),
        Binding::Attachment { set, binding, index } => {
            text += &format!(" set {set} binding {binding} attachment {index}");
        }
        Binding::Uniform { location, binding } => {
            text += &binding.map_or(String::new(), |binding| format!(" binding {binding}"));
            text += &format!(" location {location}");
        }
        Binding::Counter { binding, offset } => text += &format!(" binding {binding} offset {offset}"),
        Binding::Tile { location } => text += &format!(" attachment {location}"),
        Binding::BuiltIn(name) => text += &format!(" builtin {name:?}"),
        Binding::Location { location, component, index, interpolation, sampling } => {
            text += &location.map_or(String::new(), |location| format!(" location {location}"));
            for (word, number) in [("component", component), ("index", index)].iter().filter(|(_, n)| *n != 0) {
                text += &format!(" {word} {number}");
            }
            text += match interpolation {
                Interpolation::Perspective => "",
                Interpolation::Linear => " linear",
                Interpolation::Flat => " flat",
                Interpolation::PerVertex => " per-vertex",
                Interpolation::Explicit => " explicit",
                Interpolation::PerPrimitive { .. } => " per-primitive",
                Interpolation::Patch => " patch",
            };
            text += match sampling {
                Sampling::Center => "",
                Sampling::Centroid => " centroid",
                Sampling::Sample => " sample",
            };
        }
    }
    text
}

#[cfg(test)]
mod tests;
