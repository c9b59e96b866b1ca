//! The text of a program, for `glProgramStringARB`.
//!
//! Vector constants are in braces; a comment from `#` extends to the end of the line. A bool is copied onto itself with
//! `.CC` right before the line that tests it. Unused results go to the scratch register `RC`.

use super::interface;
use super::interface::{Interface, Needs};
use super::machine::{ArrayRef, Class, Dest, Inst, Kind, Line, Operand, Reg, Registers, Test};
use super::registers::Assignment;
use super::select::memory::SHARED;
use super::select::port::LETTERS;
use super::select::private::PRIVATE;
use super::select::stage::{POSITION_COUNT, POSITIONS, attribute, colour, second_colour};
use crate::backend::Options;
use crate::backend::comment;
use crate::backend::written::Written;
use crate::ir::{Interpolation, Sampling};
use crate::kernel::{BindingPoint, BufferKind, Input, Kernel, Origin, Site, Stage};
use crate::limits;
use crate::source::{SourceMap, Span};
use smallvec::SmallVec;
use std::fmt::Write;
use std::sync::Arc;

const TAKEN: &str = "a string takes everything";

/// The parts of the text.
pub struct Program<'a> {
    pub kernel: &'a Kernel,
    pub interface: &'a Interface,
    pub options: &'a Options,
    pub sources: &'a SourceMap,
    pub lines: &'a [Line],
    pub registers: &'a Registers,
    pub assignment: &'a Assignment,
    /// Elements of the private array.
    pub private: u32,
    pub needs: &'a Needs,
}

/// The first line of a program of a stage.
pub const fn header(stage: Stage) -> &'static str {
    match stage {
        Stage::Compute => "!!NVcp5.0",
        Stage::Fragment => "!!NVfp5.0",
        Stage::Vertex => "!!NVvp5.0",
    }
}

/// The text after the name of the profile.
pub fn print(program: &Program) -> String {
    let mut printer = Printer::new(program);
    for line in program.lines {
        let before = printer.text.len();
        printer.line(line);
        limits::write(printer.text.len() - before);
    }
    let Printer { text: body, uses_scratch, .. } = printer;
    let (head, options) = (head(program), options(program));
    format!("{head}{options}{}main:\n{body}END\n", declarations(program, uses_scratch))
}

/// The lines of the code, each with its origin.
pub fn written(program: &Program) -> Vec<Written> {
    let mut printer = Printer::new(program);
    let mut flow = Origin::Code;
    let written = |line: &Line| {
        let start = printer.text.len();
        printer.line(line);
        let origin = match line {
            Line::Inst(inst) => inst.origin,
            Line::Source(_) | Line::Lane(_) => Origin::Code,
            Line::Origin(origin) => {
                flow = *origin;
                flow
            }
            _ => flow,
        };
        let mut reads = Vec::new();
        line.for_each_read(|reg| reads.push(program.name(reg)));
        let writes = line.written().iter().map(|reg| program.name(*reg)).collect();
        Written { origin, text: printer.text[start..].to_owned(), reads, writes }
    };
    program.lines.iter().map(written).filter(|written| !written.text.is_empty()).collect()
}

// The lines before the code.

/// The comment at the top: its source, and the bindings.
fn head(program: &Program) -> String {
    let mut text = format!("# source {}\n", comment::ascii(&program.options.source));
    for (buffer, slot) in program.kernel.buffers.iter().zip(&program.interface.slots) {
        let what = match buffer.kind {
            BufferKind::Storage => "storage",
            BufferKind::Uniform => "parameter",
        };
        let (set, binding, point) = (buffer.set, buffer.binding, slot.point);
        let name = if buffer.name.is_empty() { String::new() } else { format!(", {}", comment::ascii(&buffer.name)) };
        writeln!(text, "# {}: {what} buffer {point}, set {set} binding {binding}{name}", slot.name).expect(TAKEN);
        if let Some(word) = slot.size_word {
            writeln!(text, "# {}: bytes of {}", interface::parameter(word), slot.name).expect(TAKEN);
        }
    }
    for (image, unit) in program.kernel.images.iter().zip(&program.interface.units) {
        let what = if image.ty.storage { "image" } else { "texture" };
        let sampler = image.sampler.map(|sampler| format!(", sampler {}", binding(sampler))).unwrap_or_default();
        let name = comment::ascii(&image.name);
        writeln!(text, "# {what}[{unit}]: {}{sampler}, {name}", binding(image.place)).expect(TAKEN);
    }
    for input in &program.kernel.inputs {
        writeln!(text, "# {}: {}", attribute(input.location), comment::ascii(&input.name)).expect(TAKEN);
    }
    for (fact, word) in &program.interface.draw_words {
        let name = interface::DRAW_FACTS.iter().find(|(_, known, _)| known == fact).map_or("", |(.., name)| name);
        writeln!(text, "# {}: {name}", interface::parameter(*word)).expect(TAKEN);
    }
    if program.interface.push_words > 0 {
        let last = interface::parameter(program.interface.push_words - 1);
        writeln!(text, "# c[0].x to {last}: push constants").expect(TAKEN);
    }
    text
}

/// `set 0 binding 2`, with the array element.
fn binding(place: BindingPoint) -> String {
    let element = if place.element == 0 { String::new() } else { format!(" element {}", place.element) };
    format!("set {} binding {}{element}", place.set, place.binding)
}

fn options(program: &Program) -> String {
    let mut options = program.needs.options.clone();
    if program.assignment.longs > 0 {
        options.insert("NV_gpu_program_fp64");
    }
    if colours(program.kernel).any(|location| location > 0) {
        options.insert("ARB_draw_buffers");
    }
    if second_sources(program.kernel).next().is_some() {
        options.insert("ARB_blend_func_extended");
    }
    if program.kernel.fragment.early_tests {
        options.insert("NV_early_fragment_tests");
    }
    options.iter().fold(String::new(), |text, option| text + "OPTION " + option + ";\n")
}

fn declarations(program: &Program, uses_scratch: bool) -> String {
    let Program { kernel, interface, assignment: places, needs, .. } = program;
    let [x, y, z] = kernel.workgroup_size;
    let mut text = match kernel.stage {
        Stage::Compute => format!("GROUP_SIZE {x} {y} {z};\n"),
        Stage::Vertex | Stage::Fragment => ports(kernel),
    };
    if kernel.shared_bytes > 0 {
        writeln!(text, "SHARED_MEMORY {};", kernel.shared_bytes).expect(TAKEN);
        writeln!(text, "SHARED {SHARED}[] = {{ program.sharedmem }};").expect(TAKEN);
    }
    for (buffer, slot) in kernel.buffers.iter().zip(&interface.slots).filter(|(_, slot)| slot.is_used) {
        let (keyword, binding) = match buffer.kind {
            BufferKind::Storage => ("STORAGE", "storage"),
            BufferKind::Uniform => ("CBUFFER", "buffer"),
        };
        writeln!(text, "{keyword} {}[] = {{ program.{binding}[{}] }};", slot.name, slot.point).expect(TAKEN);
    }
    let parameters = interface.parameters();
    if needs.parameters && parameters > 0 {
        writeln!(text, "PARAM c[{parameters}] = {{ program.local[0..{}] }};", parameters - 1).expect(TAKEN);
    }
    if needs.sample_positions {
        let last = POSITION_COUNT - 1;
        writeln!(text, "PARAM {POSITIONS}[{POSITION_COUNT}] = {{ state.multisample.positions[0..{last}] }};")
            .expect(TAKEN);
    }
    text += &variables("TEMP", 'R', places.words);
    text += &variables("LONG TEMP", 'D', places.longs);
    if program.private > 0 {
        writeln!(text, "TEMP {PRIVATE}[{}];", program.private).expect(TAKEN);
    }
    if uses_scratch {
        text += "TEMP RC;\n";
    }
    text
}

/// The attributes read, and the colours written.
fn ports(kernel: &Kernel) -> String {
    let mut text = String::new();
    let stage = if kernel.stage == Stage::Fragment { "fragment" } else { "vertex" };
    for input in &kernel.inputs {
        let location = input.location;
        let qualifiers = match kernel.stage {
            Stage::Fragment => qualifiers(input),
            _ if input.wide => "LONG ".to_owned(),
            _ => String::new(),
        };
        writeln!(text, "{qualifiers}ATTRIB {} = {stage}.attrib[{location}];", attribute(location)).expect(TAKEN);
    }
    for location in colours(kernel) {
        writeln!(text, "OUTPUT {} = {};", colour(location), result(location)).expect(TAKEN);
    }
    for location in second_sources(kernel) {
        // ARB_blend_func_extended.
        writeln!(text, "OUTPUT {} = {}.secondary;", second_colour(location), result(location)).expect(TAKEN);
    }
    text
}

/// The result of a colour. A number in brackets needs ARB_draw_buffers, which the first colour does without.
fn result(location: u32) -> String {
    if location == 0 { "result.color".to_owned() } else { format!("result.color[{location}]") }
}

/// How an attribute is interpolated (NV_fragment_program4, NV_gpu_program5).
fn qualifiers(input: &Input) -> String {
    let interpolation = match input.interpolation {
        Interpolation::Perspective
        | Interpolation::PerVertex
        | Interpolation::Explicit
        | Interpolation::Patch
        | Interpolation::PerPrimitive { .. } => "",
        Interpolation::Linear => "NOPERSPECTIVE ",
        Interpolation::Flat => "FLAT ",
    };
    let sampling = match input.sampling {
        Sampling::Center => "",
        Sampling::Centroid => "CENTROID ",
        Sampling::Sample => "SAMPLE ",
    };
    // Flat inputs are not interpolated at all.
    if input.interpolation == Interpolation::Flat {
        interpolation.to_owned()
    } else {
        format!("{interpolation}{sampling}")
    }
}

/// Numbers of the colours that a fragment program writes.
fn colours(kernel: &Kernel) -> impl Iterator<Item = u32> {
    let is_fragment = kernel.stage == Stage::Fragment;
    kernel.outputs.iter().filter_map(move |output| match output.site {
        Site::Location(location) if is_fragment => Some(location),
        _ => None,
    })
}

/// Locations of the colours whose second source it writes.
fn second_sources(kernel: &Kernel) -> impl Iterator<Item = u32> {
    kernel.outputs.iter().filter_map(|output| match output.site {
        Site::SecondSource(location) => Some(location),
        _ => None,
    })
}

fn variables(keyword: &str, letter: char, count: u32) -> String {
    let mut text = String::new();
    for n in 0..count {
        let before = if n == 0 { keyword } else { "," };
        write!(text, "{before} {letter}{n}").expect(TAKEN);
    }
    if count > 0 { text + ";\n" } else { text }
}

// The code.

struct Printer<'p> {
    program: &'p Program<'p>,
    text: String,
    indent: usize,
    /// The file and line that the last comment named.
    last_source: Option<(Arc<str>, u32)>,
    uses_scratch: bool,
}

impl<'p> Printer<'p> {
    fn new(program: &'p Program<'p>) -> Printer<'p> {
        Printer { program, text: String::new(), indent: 1, last_source: None, uses_scratch: false }
    }

    fn margin(&mut self) {
        (0..self.indent).for_each(|_| self.text.push_str("  "));
    }

    fn statement(&mut self, text: &str) {
        self.margin();
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn line(&mut self, line: &Line) {
        match line {
            Line::Inst(inst) => self.inst(inst),
            Line::If(condition, test) => {
                self.test(*condition, ("IF ", *test, ";\n"));
                self.indent += 1;
            }
            Line::Else => {
                self.indent -= 1;
                self.statement("ELSE;");
                self.indent += 1;
            }
            Line::EndIf => self.end("ENDIF;"),
            Line::Repeat(rounds) => {
                match rounds {
                    Some(rounds) => self.statement(&format!("REP.S {rounds};")),
                    None => self.statement("REP;"),
                }
                self.indent += 1;
            }
            Line::EndRepeat => self.end("ENDREP;"),
            Line::Break => self.statement("BRK;"),
            Line::BreakIf(condition, test) => self.test(*condition, ("BRK (", *test, ");\n")),
            Line::BreakNever => {
                self.uses_scratch = true;
                self.statement("MOV.U.CC RC.x, 0;");
                self.statement("BRK (NE.x);");
            }
            Line::Return => self.statement("RET;"),
            Line::Kill => {
                self.uses_scratch = true;
                self.statement("MOV.U.CC RC.x, 1;");
                self.statement("KIL NE.x;");
            }
            Line::Source(span) => self.source(*span),
            Line::Lane(span) => self.lane(*span),
            Line::Origin(_) | Line::Empty => {}
        }
    }

    fn end(&mut self, text: &str) {
        self.indent -= 1;
        self.statement(text);
    }

    /// A statement that tests a bool: the text before the test of the condition codes, the test, and the text after it.
    fn test(&mut self, reg: Reg, (before, test, behind): (&str, Test, &str)) {
        self.set_codes(reg);
        self.margin();
        self.text.push_str(before);
        self.program.codes(&mut self.text, reg, test);
        self.text.push_str(behind);
    }

    /// Copies a bool onto itself to set the condition codes.
    fn set_codes(&mut self, reg: Reg) {
        self.margin();
        self.text.push_str("MOV.U.CC ");
        self.program.reg(&mut self.text, reg);
        self.text.push_str(", ");
        self.program.reg(&mut self.text, reg);
        self.text.push_str(";\n");
    }

    /// Writes the source line, if it changed.
    fn source(&mut self, span: Span) {
        let Some(at) = self.program.sources.locate(span.lo) else { return };
        let place = (at.file, at.line);
        if self.last_source.as_ref() != Some(&place) {
            let text = format!("# {}:{}", comment::ascii(&place.0), place.1);
            self.statement(&text);
            self.last_source = Some(place);
        }
    }

    /// Adds a comment with a cross-lane operation and its place.
    fn lane(&mut self, span: Span) {
        if let Some(place) = comment::of_source(self.program.sources, span) {
            self.statement(&format!("# {place}"));
        }
    }

    fn inst(&mut self, inst: &Inst) {
        if let Some(guard) = inst.guard {
            self.set_codes(guard);
        }
        self.margin();
        let Printer { program, text, uses_scratch, .. } = self;
        text.push_str(&inst.name);
        let mut separator = " ";
        let mut next = |text: &mut String| text.push_str(std::mem::replace(&mut separator, ", "));
        if inst.dest != Dest::None {
            next(text);
        }
        match &inst.dest {
            Dest::None => {}
            Dest::Scratch => {
                *uses_scratch = true;
                text.push_str("RC.x");
            }
            Dest::Regs(regs) => program.target(text, regs, inst.guard),
            Dest::Array(place) => program.array(text, place),
        }
        for source in &inst.sources {
            next(text);
            program.operand(text, source);
        }
        text.push_str(";\n");
    }
}

/// The operands of a program's text.
impl Program<'_> {
    /// The variable, the components that are written, in order, and the bool without which they are not.
    fn target(&self, text: &mut String, regs: &[Reg], guard: Option<Reg>) {
        let Some(first) = regs.first() else { return };
        self.variable(text, *first);
        text.push('.');
        let mut components: SmallVec<[u8; 4]> =
            regs.iter().map(|reg| self.assignment.component(*reg).component).collect();
        components.sort_unstable();
        text.extend(components.iter().map(|component| LETTERS[usize::from(*component)]));
        if let Some(guard) = guard {
            text.push('(');
            self.codes(text, guard, Test::True);
            text.push(')');
        }
    }

    /// The condition code that a bool has set.
    fn codes(&self, text: &mut String, reg: Reg, test: Test) {
        text.push_str(flag(test));
        text.push('.');
        text.push(self.component(reg));
    }

    fn variable(&self, text: &mut String, reg: Reg) {
        text.push(match self.registers.class(reg) {
            Class::Word => 'R',
            Class::Long => 'D',
        });
        decimal(text, self.assignment.component(reg).variable);
    }

    fn component(&self, reg: Reg) -> char {
        LETTERS[usize::from(self.assignment.component(reg).component)]
    }

    fn reg(&self, text: &mut String, reg: Reg) {
        self.variable(text, reg);
        text.push('.');
        text.push(self.component(reg));
    }

    /// The name of a register's variable and component.
    fn name(&self, reg: Reg) -> String {
        let mut text = String::new();
        self.reg(&mut text, reg);
        text
    }

    fn operand(&self, text: &mut String, operand: &Operand) {
        match operand {
            Operand::Reg(reg) => self.reg(text, *reg),
            Operand::Vector(regs) => self.vector(text, regs),
            Operand::Offset(regs) => {
                text.push_str("offset(");
                self.vector(text, regs);
                text.push(')');
            }
            Operand::Constant(bits, kind) => constant(text, *bits, *kind),
            Operand::Constants(four) => {
                for (n, word) in four.iter().enumerate() {
                    text.push_str(if n == 0 { "{" } else { ", " });
                    constant(text, *word, Kind::Uint);
                }
                text.push('}');
            }
            Operand::Named(name) => text.push_str(name),
            Operand::Array(place) => self.array(text, place),
        }
    }

    /// The components of a vector in order; the last one is repeated to fill the swizzle.
    fn vector(&self, text: &mut String, regs: &[Reg]) {
        let (Some(first), Some(last)) = (regs.first(), regs.last()) else { return };
        let fill = std::iter::repeat_n(last, 4_usize.saturating_sub(regs.len()));
        self.variable(text, *first);
        text.push('.');
        text.extend(regs.iter().chain(fill).map(|reg| self.component(*reg)));
    }

    fn array(&self, text: &mut String, place: &ArrayRef) {
        text.push_str(&place.array);
        text.push('[');
        if let Some(reg) = place.index {
            self.reg(text, reg);
        }
        match (place.index, place.offset) {
            (None, offset) => decimal(text, offset),
            (Some(_), 0) => {}
            (Some(_), offset) => {
                text.push_str(" + ");
                decimal(text, offset);
            }
        }
        text.push(']');
        if let Some(letter) = place.component {
            text.push('.');
            text.push(letter);
        }
    }
}

/// The condition code of a bool.
const fn flag(test: Test) -> &'static str {
    match test {
        Test::True => "NE",
        Test::False => "EQ",
    }
}

/// A constant as its instruction reads it: small numbers in decimal, bit patterns in hexadecimal.
fn constant(text: &mut String, bits: u32, kind: Kind) {
    match kind {
        Kind::Float => write!(text, "{:?}", f32::from_bits(bits)).expect(TAKEN),
        Kind::Sint => write!(text, "{}", bits as i32).expect(TAKEN),
        Kind::Uint if bits > 0xffff => write!(text, "{bits:#x}").expect(TAKEN),
        Kind::Uint => decimal(text, bits),
    }
}

/// A number in decimal. Most words of a program are names with numbers, for which formatting would be slow.
fn decimal(text: &mut String, number: u32) {
    if number >= 10 {
        decimal(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}
