//! A kernel as one file of text: header comment, code, descriptor, metadata.

use super::arch::Arch;
use super::descriptor::{self, Usage};
use super::interface::Interface;
use super::machine::{Block, Inst, Label, Operand, RegisterRange, Special};
use super::mnemonic::Generation;
use super::print::{Printer, label};
use super::reflection::{Argument, ArgumentKind, Reflection};
use super::select::Selected;
use crate::backend::written::Written;
use crate::backend::{self, Options, comment};
use crate::kernel::Origin;
use crate::limits;
use crate::source::{SourceMap, Span};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::sync::Arc;

const TAKEN: &str = "a string takes everything";

/// The parts of the text.
pub struct Parts<'a> {
    pub arch: Arch,
    pub options: &'a Options,
    pub sources: &'a SourceMap,
    pub interface: &'a Interface,
    pub selected: &'a Selected,
    pub usage: &'a Usage,
    pub reflection: &'a Reflection,
}

/// A name that an assembler accepts without quotes.
pub fn symbol(name: &str) -> String {
    let taken: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if taken.starts_with(|c: char| c.is_ascii_digit()) || taken.is_empty() { format!("_{taken}") } else { taken }
}

/// The whole text.
pub fn write(parts: &Parts) -> String {
    let Parts { arch, interface, selected, usage, reflection, .. } = parts;
    let name = &reflection.symbol;
    let mut text = head(parts);
    writeln!(text, "\t.amdgcn_target \"{}\"\n\t.amdhsa_code_object_version 5", descriptor::target(arch)).expect(TAKEN);
    writeln!(text, "\t.text\n\t.globl {name}\n\t.p2align 8\n\t.type {name},@function").expect(TAKEN);
    text += &code(parts, name);
    writeln!(text, ".L{name}_end:\n\t.size {name}, .L{name}_end-{name}").expect(TAKEN);
    text += &descriptor::padding(arch);
    text += &descriptor::descriptor(name, arch, interface, &selected.needs, usage);
    text += &descriptor::metadata(arch, reflection);
    text
}

/// The comment at the top: version, profile, source, arguments and resource usage.
fn head(parts: &Parts) -> String {
    let Parts { options, reflection, .. } = parts;
    let mut text = backend::head(";", &options.profile);
    writeln!(text, "; source {}", comment::ascii(&options.source)).expect(TAKEN);
    for argument in &reflection.arguments {
        writeln!(text, "; argument at {}: {}", argument.offset, meaning(argument)).expect(TAKEN);
    }
    let [vectors, scalars] = [reflection.vector_registers, reflection.scalar_registers];
    let [lost, kept] = reflection.spilled;
    writeln!(text, "; {vectors} vector registers, {scalars} scalar registers, {lost} and {kept} values spilled")
        .expect(TAKEN);
    let (shared, scratch) = (reflection.shared_bytes, reflection.scratch_bytes);
    writeln!(text, "; {shared} bytes of workgroup memory, {scratch} bytes of scratch memory").expect(TAKEN);
    writeln!(text, "; {} waves at once on a SIMD", reflection.occupancy).expect(TAKEN);
    text
}

/// An argument in words.
fn meaning(argument: &Argument) -> String {
    let place = match (argument.set, argument.binding) {
        (Some(set), Some(binding)) => format!("set {set} binding {binding}"),
        _ => String::new(),
    };
    let described = |what: &str| {
        let element = argument.element.unwrap_or(0);
        format!("{} bytes, descriptor of the {what} of {place}, element {element}", argument.size)
    };
    match argument.kind {
        ArgumentKind::Storage => format!("8 bytes, address of the storage buffer of {place}"),
        ArgumentKind::Uniform => format!("8 bytes, address of the uniform buffer of {place}"),
        ArgumentKind::Bytes => format!("4 bytes, size of the buffer of {place}, in bytes"),
        ArgumentKind::PushConstants => format!("{} bytes of push constants", argument.size),
        ArgumentKind::WorkgroupCount => {
            let axis = ["x", "y", "z"][usize::from(argument.axis.unwrap_or(0).min(2))];
            format!("4 bytes, number of workgroups in {axis}")
        }
        ArgumentKind::Image => described("image"),
        ArgumentKind::TexelBuffer => described("texel buffer"),
        ArgumentKind::Sampler => described("sampler"),
    }
}

/// The instructions.
fn code(parts: &Parts, name: &str) -> String {
    let printer = Printer { arch: parts.arch, shared_vector: shared_vector(parts) };
    let mut writer = Writer { parts, printer, text: String::new(), lane: None, files: Vec::new(), line: None };
    writeln!(writer.text, "{name}:").expect(TAKEN);
    for (at, block) in parts.selected.function.blocks.iter().enumerate() {
        writer.block(block, at == 0);
    }
    writer.text
}

/// The lines of the code, each with its origin. A label belongs to the first that branches to it.
pub fn written(parts: &Parts) -> Vec<Written> {
    let printer = Printer { arch: parts.arch, shared_vector: shared_vector(parts) };
    let blocks = &parts.selected.function.blocks;
    let mut branches: FxHashMap<Label, Origin> = FxHashMap::default();
    for inst in blocks.iter().flat_map(|block| &block.insts) {
        let labels =
            inst.uses.iter().filter_map(|operand| if let Operand::Label(to) = operand { Some(*to) } else { None });
        labels.for_each(|to| _ = branches.entry(to).or_insert(inst.origin));
    }
    let mut lines = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            let origin = branches.get(&block.label).copied().unwrap_or_default();
            let text = format!("{}:\n", label(block.label));
            lines.push(Written { origin, text, reads: Vec::new(), writes: Vec::new() });
        }
        lines.extend(block.insts.iter().filter_map(|inst| line_of(&printer, inst)));
    }
    lines
}

fn line_of(printer: &Printer, inst: &Inst) -> Option<Written> {
    let text = format!("\t{}\n", printer.inst(inst)?);
    let kept = |inst: &Inst| if inst.keeps { inst.defs.to_vec() } else { Vec::new() };
    let read = inst.halves().flat_map(|half| half.uses.iter().copied().chain(kept(half)));
    let reads = read.flat_map(|operand| names(printer, operand)).collect();
    let written = inst.halves().flat_map(|half| half.defs.iter().copied());
    let writes = written.flat_map(|operand| names(printer, operand)).collect();
    Some(Written { origin: inst.origin, text, reads, writes })
}

/// The names of the 32-bit registers of an operand with values.
fn names(printer: &Printer, operand: Operand) -> Vec<String> {
    let one = |first| printer.operand(Operand::Hardware(first), 32);
    match operand {
        Operand::Hardware(place) => place.each().map(|first| one(RegisterRange { first, count: 1, ..place })).collect(),
        Operand::Special(Special::Vcc | Special::VccLow | Special::VccHigh) => {
            vec![printer.operand(Operand::Special(Special::Vcc), 32)]
        }
        _ => Vec::new(),
    }
}

/// Shared registers follow the others.
fn shared_vector(parts: &Parts) -> u16 {
    debug_assert!(parts.usage.shared_vectors == 0 || parts.arch.generation == Generation::Rdna1);
    parts.usage.vectors
}

struct Writer<'p> {
    parts: &'p Parts<'p>,
    printer: Printer,
    text: String,
    /// The cross-lane operation that the last comment named.
    lane: Option<Span>,
    /// Files that debug directives have named, by their number minus one.
    files: Vec<Arc<str>>,
    /// The last place in a debug directive.
    line: Option<(usize, u32, u32)>,
}

impl Writer<'_> {
    fn block(&mut self, block: &Block, is_entry: bool) {
        if !is_entry {
            writeln!(self.text, "{}:", label(block.label)).expect(TAKEN);
            self.lane = None;
        }
        for inst in &block.insts {
            let Some(text) = self.printer.inst(inst) else { continue };
            let before = self.text.len();
            self.place(inst);
            writeln!(self.text, "\t{text}").expect(TAKEN);
            limits::spend(1);
            limits::write(self.text.len() - before);
        }
    }

    /// Writes the source of an instruction, if it changed.
    fn place(&mut self, inst: &Inst) {
        if inst.span.is_none() {
            return;
        }
        if self.parts.options.debug.has_lines() {
            self.line_of(inst.span);
        }
        if inst.is_lane && self.lane != Some(inst.span) {
            self.lane = Some(inst.span);
            self.name_lane(inst.span);
        }
    }

    fn name_lane(&mut self, span: Span) {
        if let Some(place) = comment::of_source(self.parts.sources, span) {
            writeln!(self.text, "\t; {place}").expect(TAKEN);
        }
    }

    /// `.loc`, and `.file` for the first place in its file.
    fn line_of(&mut self, span: Span) {
        let Some(at) = self.parts.sources.locate(span.lo) else { return };
        let file = match self.files.iter().position(|file| *file == at.file) {
            Some(file) => file,
            None => {
                writeln!(self.text, "\t.file {} \"{}\"", self.files.len() + 1, comment::string(&at.file)).expect(TAKEN);
                self.files.push(at.file.clone());
                self.files.len() - 1
            }
        };
        let place = (file, at.line, at.column);
        if self.line.replace(place) != Some(place) {
            writeln!(self.text, "\t.loc {} {} {}", file + 1, at.line, at.column).expect(TAKEN);
        }
    }
}
