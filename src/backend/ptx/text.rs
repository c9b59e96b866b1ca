//! A kernel as one file of text.

use super::interface::{Interface, PRIVATE, PUSH, SHARED};
use super::isa::Isa;
use super::select::{Class, Line, Selected};
use crate::backend::written::Written;
use crate::backend::{self, Options, comment};
use crate::kernel::Kernel;
use crate::source::{SourceMap, Span};
use std::fmt::Write;

const TAKEN: &str = "a string takes everything";

/// The parts of the text.
pub struct Parts<'a> {
    pub kernel: &'a Kernel,
    pub interface: &'a Interface,
    pub isa: Isa,
    pub options: &'a Options,
    pub sources: &'a SourceMap,
    pub selected: &'a Selected,
    /// Workgroups that a multiprocessor should run at once.
    pub workgroups: Option<u32>,
}

/// The whole text.
pub fn write(parts: &Parts) -> String {
    let mut text = head(parts);
    let (major, minor) = parts.isa.version;
    writeln!(text, ".version {major}.{minor}\n.target sm_{}\n.address_size 64\n", parts.isa.sm).expect(TAKEN);
    let shared = parts.kernel.shared_bytes;
    if shared > 0 {
        writeln!(text, ".shared .align 16 .b8 {SHARED}[{shared}];\n").expect(TAKEN);
    }
    text += &entry(parts);
    text += "{\n";
    for class in Class::ALL {
        let count = parts.selected.counts[class as usize];
        if count > 0 {
            writeln!(text, "\t.reg .{} {}<{count}>;", class.ty(), class.prefix()).expect(TAKEN);
        }
    }
    if parts.selected.uses_private {
        writeln!(text, "\t.local .align 16 .b8 {PRIVATE}[{}];", parts.kernel.private_bytes).expect(TAKEN);
    }
    for line in &parts.selected.lines {
        text += &printed(line, parts.sources);
    }
    text + "}\n"
}

/// The comment at the top.
fn head(parts: &Parts) -> String {
    let Parts { kernel, interface, options, .. } = parts;
    let mut text = backend::head("//", &options.profile);
    writeln!(text, "// source {}", comment::ascii(&options.source)).expect(TAKEN);
    for (buffer, slot) in kernel.buffers.iter().zip(&interface.slots) {
        let name = if buffer.name.is_empty() { String::new() } else { format!(", {}", comment::ascii(&buffer.name)) };
        writeln!(text, "// {}: address of set {} binding {}{name}", slot.address, buffer.set, buffer.binding)
            .expect(TAKEN);
        if let Some(size) = &slot.size {
            writeln!(text, "// {size}: its bytes").expect(TAKEN);
        }
    }
    text
}

fn entry(parts: &Parts) -> String {
    let Parts { kernel, interface, .. } = parts;
    let addresses = interface.slots.iter().map(|slot| slot.address.as_str());
    let longs = addresses.chain(interface.sizes()).map(|name| format!("\t.param .u64 {name}"));
    let bytes = interface.push_bytes;
    let push = (bytes > 0).then(|| format!("\t.param .align 16 .b8 {PUSH}[{bytes}]"));
    let parameters: Vec<String> = longs.chain(push).collect();
    let [x, y, z] = kernel.workgroup_size;
    let mut text =
        format!(".visible .entry {}(\n{}\n)\n.reqntid {x}, {y}, {z}\n", interface.symbol, parameters.join(",\n"));
    if let Some(workgroups) = parts.workgroups {
        writeln!(text, ".minnctapersm {workgroups}").expect(TAKEN);
    }
    text
}

fn printed(line: &Line, sources: &SourceMap) -> String {
    match line {
        Line::Inst(text, _) => format!("\t{text}\n"),
        Line::Label(label, _) => format!("{label}:\n"),
        Line::Source(span) => source_line(*span, sources),
    }
}

/// The line of the source, as a comment.
fn source_line(span: Span, sources: &SourceMap) -> String {
    let Some(place) = sources.locate(span.lo) else { return String::new() };
    format!("\t// {}:{}\n", comment::ascii(&place.file), place.line)
}

/// The lines of the code, each with its origin.
pub fn written(selected: &Selected, sources: &SourceMap) -> Vec<Written> {
    let written = |line: &Line| {
        let text = printed(line, sources);
        let (reads, writes) = match line {
            Line::Inst(text, _) => registers(text),
            _ => (Vec::new(), Vec::new()),
        };
        Written { origin: line.origin(), text, reads, writes }
    };
    selected.lines.iter().map(written).filter(|written| !written.text.is_empty()).collect()
}

/// The registers that an instruction reads and writes: it writes the first operand, unless it is used for its effect.
fn registers(text: &str) -> (Vec<String>, Vec<String>) {
    let code = text.split_once(' ').filter(|(first, _)| first.starts_with('@')).map_or(text, |(_, rest)| rest);
    let is_effect = ["st.", "red.", "bar", "bra", "ret", "membar"].iter().any(|name| code.starts_with(name));
    let start = text.len() - code.len();
    let end_of_first = match code.find('{') {
        Some(open) if code[..open].trim_end().find(',').is_none() => code.find('}').map(|close| start + close),
        _ => code.find(',').map(|comma| start + comma),
    };
    let first = start..if is_effect { start } else { end_of_first.unwrap_or(start) };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(found) = text[at..].find('%') {
        let begin = at + found;
        let len = text[begin + 1..].find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len() - begin - 1);
        let name = text[begin..begin + 1 + len].to_owned();
        at = begin + 1 + len;
        if name.ends_with(|c: char| c.is_ascii_digit()) {
            if first.contains(&begin) { writes.push(name) } else { reads.push(name) }
        }
    }
    (reads, writes)
}
