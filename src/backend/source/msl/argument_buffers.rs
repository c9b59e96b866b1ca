//! Descriptor sets as argument buffers (section 2.13): a struct for each set, with the resources as members with ids.
//!
//! The entry point has a variable, a reference or a pointer for each of them, so that the rest of the text does not
//! change.

use super::Msl;
use super::globals::{Argument, BUFFER};
use crate::backend::source::function::Body;
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::tree::{Kind, Stmt};
use crate::backend::source::writer::Writer;
use crate::ir::{ArrayLen, Global, ImageDim, Type};
use crate::source::Span;
use std::collections::BTreeMap;

/// The kind of numbers in argument buffers, shared by all resources of one.
pub(super) const ID: &str = "id";

/// The declaration of a resource in an argument buffer, and the code with which the entry point gets it.
pub(in crate::backend::source) struct Member {
    /// Its declaration, such as `constant Scene* scene`.
    pub declared: String,
    /// The beginning of the line that declares it in the entry point, up to the path: `constant Scene& scene = *`.
    pub taken: String,
}

/// An argument buffer, for the host.
#[derive(Debug)]
pub(in crate::backend::source) struct ArgumentBuffer {
    pub set: u32,
    /// Its resources, with their kinds.
    pub members: Vec<(Slot, &'static str)>,
}

impl Member {
    /// A resource that is a value of its type.
    pub fn value(ty: &str, name: &str) -> Member {
        Member { declared: format!("{ty} {name}"), taken: format!("{ty} {name} = ") }
    }

    /// A resource that is used in place.
    pub fn array(ty: &str, name: &str) -> Member {
        Member { declared: format!("{ty} {name}"), taken: format!("constant {ty}& {name} = ") }
    }

    /// A buffer member: a pointer (`*`) or a reference (`&`).
    pub fn buffer(ty: &str, sign: &str, name: &str) -> Member {
        let follows = if sign == "&" { "*" } else { "" };
        Member { declared: format!("{ty}* {name}"), taken: format!("{ty}{sign} {name} = {follows}") }
    }
}

impl Msl {
    /// Returns true if a resource is in an argument buffer.
    pub fn is_in_set(t: &Writer, role: Role) -> bool {
        t.options.places.argument_buffers && role.binding().is_some()
    }

    /// The address space of arrays of textures and samplers.
    pub fn array_words(t: &Writer) -> &'static str {
        if t.options.places.argument_buffers { "constant" } else { "thread const" }
    }

    /// The place of a resource that this shader does not use but another may, so that both number the rest in the same
    /// way.
    pub fn left_out(&self, t: &Writer, global: &Global, role: Role, list: &mut Vec<Argument>) {
        let count = if let Type::Array { len: ArrayLen::Fixed(len), .. } = t.types.get(global.ty) { len } else { 1 };
        let handles = match t.types.get(t.types.innermost(global.ty)) {
            Type::SampledImage(image) if image.dim != ImageDim::Buffer => 2,
            _ => 1,
        };
        let chosen = self.chosen(t, global);
        for handle in 0..handles {
            let chosen = chosen.filter(|_| handle == 0);
            list.push(Argument { count, chosen, ..Argument::new(String::new(), String::new(), role, ID, Span::NONE) });
        }
    }

    /// Declares the argument buffers of resources, and the entry point's variables for the resources. Returns their
    /// arguments.
    pub fn argument_buffers(&self, b: &mut Body, members: Vec<Argument>) -> Vec<Argument> {
        let mut sets: BTreeMap<u32, Vec<(Argument, Slot)>> = BTreeMap::new();
        for (argument, slot) in self.placed(b.t, members) {
            if argument.member.is_some() {
                sets.entry(slot.space).or_default().push((argument, slot));
            }
        }
        sets.into_iter().map(|(set, members)| self.argument_buffer(b, set, members)).collect()
    }

    fn argument_buffer(&self, b: &mut Body, set: u32, members: Vec<(Argument, Slot)>) -> Argument {
        let (ty, name) = (b.t.names.unique(&format!("Set{set}"), None), b.named(&format!("set{set}")));
        let span = members.first().map_or(Span::NONE, |(argument, _)| argument.span);
        let (mut lines, mut taken, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for (argument, slot) in members {
            let Some(member) = &argument.member else { continue };
            let attribute = self.ordered_attribute(b.t, argument.id, format!("{ID}({})", slot.index));
            lines.push(format!("    {} [[{attribute}]];", member.declared));
            let line = format!("{}{name}.{};", member.taken, argument.name);
            taken.push(Stmt::new(b.origin, Kind::Line(line)));
            slots.push((slot, argument.kind));
        }
        b.t.declare_struct(&ty, lines);
        // Before the lines that use them.
        b.setup.splice(0..0, taken);
        b.t.slots.extend(slots.iter().map(|(slot, _)| slot.clone()));
        b.t.msl.argument_buffers.push(ArgumentBuffer { set, members: slots });
        Argument::new(format!("constant {ty}& {name}"), name, Role::ArgumentBuffer(set), BUFFER, span)
    }
}
