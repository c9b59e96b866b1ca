//! The vertex stage before a control stage: a kernel that writes its outputs to a buffer, in the layout that the
//! control stage reads. A thread is a vertex, in x, of an instance, in y.

use super::crowds::{Owner, OwnerNames, Part, Record};
use super::host::is_from_host;
use super::locations::Leaf;
use super::{Extra, Msl};
use crate::backend::source::function::Body;
use crate::backend::source::ports::Given;
use crate::backend::source::tree::{Kind, Stmt};
use crate::backend::source::writer::Writer;
use crate::ir::{Binding, BuiltIn, EntryPoint, Module, Space, Stage, Type};

/// The names in a kernel that implements a vertex stage.
#[derive(Clone, Default, Debug)]
pub(in crate::backend::source) struct Capture {
    record: Record,
    names: OwnerNames,
    position: String,
    size: String,
    /// The buffer with the numbers of the first vertex and instance.
    start: String,
}

/// Returns true for numbers of vertices and instances, which a kernel counts by its threads.
const fn is_counted(of: BuiltIn) -> bool {
    matches!(of, BuiltIn::VertexIndex | BuiltIn::InstanceIndex | BuiltIn::BaseVertex | BuiltIn::BaseInstance)
}

/// The vertices that a control stage reads.
fn record_of(t: &Writer, control: &Module) -> Option<Record> {
    let entry = control.entry_points.first()?;
    let mut inner = Writer::new(control, t.options);
    inner.name_all(&[]);
    inner.language.stage(&mut inner, entry);
    Some(super::MSL.declare_record(&mut inner, Owner::Vertex))
}

impl Msl {
    /// Finds the outputs of a vertex stage before a control stage.
    pub fn find_capture(&self, t: &mut Writer, entry: &EntryPoint) {
        let module = t.module;
        let Some(control) = module.control.as_deref().filter(|_| entry.stage == Stage::Vertex) else { return };
        let Some(record) = record_of(t, control) else { return };
        let mut name = |name: &str| t.names.unique(name, None);
        let names = OwnerNames { ty: name("Vertex"), buffer: name("vertices"), own: name("vertex_out") };
        let (position, size, start) = (name("thread_position"), name("thread_count"), name("draw_start"));
        t.msl.capture = Some(Capture { record, names, position, size, start });
        for given in t.ports.built_in.clone() {
            if given.space == Space::Input && !is_counted(given.of) && !is_from_host(given.of) {
                let outside = std::mem::replace(&mut t.span, given.span);
                t.lacks(&format!(
                    "built-in value {:?} in kernels, which vertex shaders before tessellation are",
                    given.of
                ));
                t.span = outside;
            }
        }
    }

    /// The buffers of such a kernel: arguments, names and parts.
    pub fn capture_arguments(&self, t: &Writer, used: &[Extra]) -> Vec<(String, String, &'static str)> {
        let Some(Capture { names: OwnerNames { ty, buffer, .. }, start, .. }) = &t.msl.capture else {
            return Vec::new();
        };
        let counts = |extra: &Extra| matches!(extra, Extra::BuiltIn(at) if is_counted(t.ports.built_in[*at].of));
        let mut list = vec![(format!("device {ty}* {buffer}"), buffer.clone(), "vertices")];
        if used.iter().any(counts) {
            list.push((format!("constant uint2& {start}"), start.clone(), "draw_start"));
        }
        list
    }

    /// Declares the struct of a vertex, and the place of the thread's own one. Returns the arguments with the thread's
    /// indices.
    pub fn begin_capture(&self, b: &mut Body) -> Vec<String> {
        let Some(Capture { record, names, position, size, .. }) = b.t.msl.capture.clone() else { return Vec::new() };
        b.t.declare_struct(&names.ty, lines_of(&record));
        let OwnerNames { ty, buffer, own } = names;
        let line = format!("device {ty}& {own} = {buffer}[{position}.y * {size}.x + {position}.x];");
        b.setup.push(Stmt::new(b.origin, Kind::Line(line)));
        b.t.msl.tessellation.records = vec![Record { buffer, ..record }];
        vec![format!("uint2 {position} [[thread_position_in_grid]]"), format!("uint2 {size} [[threads_per_grid]]")]
    }

    /// The variable for the index of a vertex or instance.
    pub fn capture_argument(&self, b: &mut Body, Given { of, name, .. }: &Given) -> bool {
        let Some(Capture { position, start, .. }) = b.t.msl.capture.clone().filter(|_| is_counted(*of)) else {
            return false;
        };
        b.setup_line(match of {
            BuiltIn::VertexIndex => format!("uint {name} = {start}.x + {position}.x"),
            BuiltIn::InstanceIndex => format!("uint {name} = {start}.y + {position}.y"),
            BuiltIn::BaseVertex => format!("uint {name} = {start}.x"),
            _ => format!("uint {name} = {start}.y"),
        });
        true
    }

    /// Writes the outputs that the control stage reads; missing ones are zero.
    pub fn end_capture(&self, b: &mut Body) {
        let Some(Capture { record, names, .. }) = b.t.msl.capture.clone() else { return };
        for part in &record.parts {
            let value = match part.built_in {
                Some(of) => self.captured_built_in(b, part, of),
                None => self.captured_leaf(b, part),
            };
            let value = value.unwrap_or_else(|| format!("{}(0)", part.text));
            b.line(format!("{}.{} = {value}", names.own, part.name));
        }
    }

    fn captured_built_in(&self, b: &Body, part: &Part, of: BuiltIn) -> Option<String> {
        let given = b.t.ports.find(of, Space::Output)?;
        let index = part.path.find('[').map(|at| &part.path[at..]);
        match (index, b.t.types.get(given.ty)) {
            (Some(index), _) => {
                let number: u32 = index.trim_matches(['[', ']']).parse().ok()?;
                let is_there = b.t.types.part_count(given.ty).is_some_and(|count| number < count);
                is_there.then(|| format!("{}{index}", given.name))
            }
            (None, Type::Array { .. }) => None,
            _ => Some(format!("{}.{}", b.t.ports.output, given.name)),
        }
    }

    fn captured_leaf(&self, b: &mut Body, part: &Part) -> Option<String> {
        let size = part.text.chars().last().and_then(|c| c.to_digit(10)).filter(|n| (2..=4).contains(n)).unwrap_or(1);
        for id in b.t.ports.located[1].clone() {
            let global = &b.t.module.globals[id];
            let leaves: Vec<Leaf> = self.leaves(b.t, id, global);
            for leaf in leaves {
                let Binding::Location { location, component, .. } = leaf.binding else { continue };
                let Some((_, given)) = b.t.shape(leaf.ty) else { continue };
                if location != part.location || component != part.component {
                    continue;
                }
                let value = format!("{}.{}", b.t.ports.output, self.output_member(b.t, &leaf));
                return Some(match (size, u32::from(given)) {
                    (wanted, given) if wanted == given => value,
                    (1, _) => format!("{value}.x"),
                    (wanted, given) if wanted < given => format!("{value}.{}", &"xyzw"[..wanted as usize]),
                    (wanted, given) => {
                        let rest = vec!["0"; (wanted - given) as usize].join(", ");
                        format!("{}({value}, {rest})", part.text)
                    }
                });
            }
        }
        None
    }
}

/// The members of a struct with parts at these places.
fn lines_of(record: &Record) -> Vec<String> {
    let mut lines = Vec::new();
    let mut end = 0;
    let mut most = 1;
    for part in &record.parts {
        most = most.max(part.bytes.1);
        if u32::next_multiple_of(end, part.bytes.1) < part.offset {
            lines.push(format!("    char pad_{end}[{}];", part.offset - end));
        }
        lines.push(format!("    {} {};", part.text, part.name));
        end = part.offset + part.bytes.0;
    }
    if end.next_multiple_of(most) < record.stride {
        lines.push(format!("    char pad_{end}[{}];", record.stride - end));
    }
    lines
}

/// A member without its pipeline attribute.
pub(super) fn without_attribute(line: &str) -> String {
    match (line.find(" [["), line.find("]]")) {
        (Some(start), Some(end)) => format!("{}{}", &line[..start], &line[end + 2..]),
        _ => line.to_string(),
    }
}
