//! The shader for some cells: it reads every argument from one buffer, makes the calls, and writes every result to
//! another buffer.

use crosslane::grammar::{Extension, Mode, Param, TypeExpr};

use super::domain::{Domain, PATTERNS, Place};
use super::formula::{Call, Value};
use super::kind::{Kind, Type};
use super::rows::{Callee, Unit};
use support::case::Column;
use support::fixture::Language;
use support::lavapipe::Buffers;

/// Invocations of the workgroup: they fill subgroups of every size.
pub const GROUP: usize = 64;

/// A call with the words of its arguments and results in the buffers.
struct Cell {
    ty: Option<Type>,
    /// Distinguishes its arguments from those of other cells.
    salt: u64,
    arguments: Vec<Argument>,
    results: Vec<Type>,
    /// The first word of its results.
    to: usize,
}

/// An argument of a call.
struct Argument {
    domain: Domain,
    ty: Type,
    /// Its first word among those of an invocation; `None` for constants.
    at: Option<usize>,
    constant: Option<Value>,
    mode: Mode,
}

/// A shader.
pub struct Shader {
    unit: Unit,
    cells: Vec<Cell>,
    /// Words that an invocation reads and writes.
    input: usize,
    output: usize,
}

impl Shader {
    pub fn new(unit: &Unit, types: &[Option<Type>]) -> Self {
        let mut shader = Self { unit: unit.clone(), cells: Vec::new(), input: 0, output: 0 };
        for ty in types {
            let cell = shader.cell(*ty);
            shader.output += cell.results.iter().map(|ty| ty.words(unit.language)).sum::<usize>();
            shader.cells.push(cell);
        }
        // The buffer needs a word even if nothing is read.
        shader.input = shader.input.max(1);
        shader
    }

    fn cell(&mut self, ty: Option<Type>) -> Cell {
        let (row, language) = (self.unit.row(), self.unit.language);
        let salt = self.unit.turn() ^ ty.map_or(0, |ty| ty.kind as u64 * 8 + u64::from(ty.size));
        let argument = |(n, domain): (usize, &Domain)| {
            let ty = row.parameter(n, ty);
            // WGSL's own broadcasts only take constants.
            let is_fixed = language == Language::Wgsl && row.is_wgsls_own() && *domain == Domain::UniformLane;
            let domain = if is_fixed { &Domain::QuadLane } else { domain };
            let constant = domain.constant(self.unit.width.unwrap_or(1), salt);
            let read = constant.is_none() && *domain != Domain::Out;
            let at = read.then_some(self.input);
            self.input += if read { ty.words(language) } else { 0 };
            Argument { domain: *domain, ty, at, constant, mode: row.params()[n].mode }
        };
        let arguments = row.arguments.iter().enumerate().map(argument).collect();
        Cell { ty, salt, arguments, results: row.results(ty), to: self.output }
    }

    /// The source; `available` selects the extensions that the profile has.
    pub fn source(&self, available: impl Fn(&Extension) -> bool) -> String {
        let calls: String = self.cells.iter().map(|cell| self.call(cell)).collect();
        match self.unit.language {
            Language::Glsl => glsl(&self.extensions(available), &calls),
            Language::Wgsl => wgsl(self.has(Kind::F16), &calls),
        }
    }

    fn has(&self, kind: Kind) -> bool {
        let all =
            self.cells.iter().flat_map(|cell| cell.arguments.iter().map(|a| a.ty).chain(cell.results.iter().copied()));
        all.into_iter().any(|ty| ty.kind == kind)
    }

    fn extensions(&self, available: impl Fn(&Extension) -> bool) -> Vec<&'static str> {
        let types = [
            ("GL_EXT_shader_subgroup_extended_types_int8", [Kind::I8, Kind::U8]),
            ("GL_EXT_shader_subgroup_extended_types_int16", [Kind::I16, Kind::U16]),
            ("GL_EXT_shader_subgroup_extended_types_int64", [Kind::I64, Kind::U64]),
            ("GL_EXT_shader_subgroup_extended_types_float16", [Kind::F16, Kind::F16]),
        ];
        let used =
            types.into_iter().filter(|(_, kinds)| kinds.iter().any(|kind| self.has(*kind))).map(|(name, _)| name);
        let own = self.unit.row().extension(available).map(|extension| extension.name);
        let common = ["GL_KHR_shader_subgroup_basic", "GL_EXT_shader_explicit_arithmetic_types"];
        common.into_iter().chain(own).chain(used).collect()
    }

    fn call(&self, cell: &Cell) -> String {
        let (row, language) = (self.unit.row(), self.unit.language);
        let name = row.name(language).expect("units are made for languages that have the row");
        let mut text = String::from("    {\n");
        for (n, argument) in cell.arguments.iter().enumerate() {
            text += &declaration(language, n, argument);
        }
        let list: Vec<String> = cell.arguments.iter().enumerate().map(|(n, a)| spelled(language, n, a)).collect();
        let call = match (row.call, language) {
            (Callee::Variable(_), Language::Glsl) => name.to_owned(),
            _ => format!("{name}({})", list.join(", ")),
        };
        let written =
            cell.arguments.iter().enumerate().filter(|(n, _)| row.is_written(*n)).map(|(n, _)| format!("v{n}"));
        let returned = cell.results.len() > written.clone().count();
        text += &match (returned, language) {
            (true, Language::Glsl) => format!("        {} r = {call};\n", cell.results[0].name(language)),
            (true, Language::Wgsl) => format!("        let r = {call};\n"),
            (false, _) => format!("        {call};\n"),
        };
        let variables = returned.then(|| "r".to_owned()).into_iter().chain(written);
        let mut to = cell.to;
        for (variable, ty) in variables.zip(&cell.results) {
            for word in ty.store(language, &variable) {
                text += &format!("        y[{}u * slot + {to}u] = {word};\n", self.output);
                to += 1;
            }
        }
        text.replace("$IN", &self.input.to_string()) + "    }\n"
    }

    /// The contents of the buffers before each run.
    pub fn before(&self, lanes: usize, ordered: bool) -> Vec<Buffers> {
        let fill = |pattern| {
            let words = (0..GROUP).flat_map(|slot| self.words(self.place(pattern, slot, lanes, ordered)));
            vec![words.collect(), vec![0; GROUP * self.output]]
        };
        (0..PATTERNS).map(fill).collect()
    }

    fn place(&self, pattern: usize, slot: usize, lanes: usize, ordered: bool) -> Place {
        let (op, language) = (self.unit.row().op(), self.unit.language);
        Place { pattern, salt: 0, slot, lanes, op, ordered, language }
    }

    /// The words that an invocation reads.
    fn words(&self, place: Place) -> Vec<u32> {
        let mut words = vec![0; self.input];
        for cell in &self.cells {
            for (n, argument) in cell.arguments.iter().enumerate() {
                let Some(at) = argument.at else { continue };
                let value = argument.value(n, cell, place);
                let parts = value.iter().take(argument.ty.size.into());
                let encoded = parts.flat_map(|part| argument.ty.kind.encode(place.language, *part));
                words[at..].iter_mut().zip(encoded).for_each(|(word, part)| *word = part);
            }
        }
        words
    }

    /// The contents of the output buffer after each run.
    pub fn after(&self, lanes: usize, ordered: bool) -> Vec<Column> {
        (0..PATTERNS).map(|pattern| self.column(pattern, lanes, ordered)).collect()
    }

    fn column(&self, pattern: usize, lanes: usize, ordered: bool) -> Column {
        let mut column = vec![None; GROUP * self.output];
        for first in (0..GROUP).step_by(lanes) {
            for cell in &self.cells {
                let places = (first..first + lanes).map(|slot| self.place(pattern, slot, lanes, ordered));
                self.expect(cell, &places.collect::<Vec<_>>(), &mut column);
            }
        }
        column
    }

    /// Adds the values that a subgroup must write for a cell.
    fn expect(&self, cell: &Cell, places: &[Place], column: &mut Column) {
        let row = self.unit.row();
        let is_width = |argument: &&Argument| matches!(argument.domain, Domain::Width | Domain::Log2);
        let said = || cell.arguments.iter().enumerate().filter(|(_, argument)| !is_width(argument));
        let arguments: Vec<Vec<Value>> =
            said().map(|(n, argument)| places.iter().map(|place| argument.value(n, cell, *place)).collect()).collect();
        let types: Vec<Type> = said().map(|(_, argument)| argument.ty).collect();
        let call = Call {
            words: &row.words,
            lanes: places.len(),
            width: self.unit.width.unwrap_or(places.len()),
            types: &types,
            arguments: &arguments,
            results: &cell.results,
        };
        let mut to = cell.to;
        for (result, ty) in (row.formula.rule)(&call).iter().zip(&cell.results) {
            for (value, place) in result.iter().zip(places) {
                let at = place.slot * self.output + to;
                let Some(value) = value else { continue };
                let words = value.iter().take(ty.size.into()).flat_map(|part| ty.kind.encode(place.language, *part));
                column[at..].iter_mut().zip(words).for_each(|(slot, word)| *slot = Some(word));
            }
            to += ty.words(self.unit.language);
        }
    }

    /// The cell that a word of the output buffer belongs to.
    pub fn cell_of(&self, word: usize) -> String {
        let at = word % self.output;
        let cell = self.cells.iter().rev().find(|cell| cell.to <= at);
        cell.and_then(|cell| cell.ty).map_or_else(String::new, |ty| ty.name(Language::Glsl))
    }

    /// The types of a cell's arguments, and the values of its constants.
    pub fn types_of(unit: &Unit, ty: Option<Type>) -> Vec<(Domain, Type, Option<Value>)> {
        let shader = Self::new(unit, &[ty]);
        shader.cells[0].arguments.iter().map(|argument| (argument.domain, argument.ty, argument.constant)).collect()
    }

    /// The types of the arguments and results of a cell.
    pub fn value_types(unit: &Unit, ty: Option<Type>) -> Vec<Type> {
        let shader = Self::new(unit, &[ty]);
        let cell = &shader.cells[0];
        cell.arguments.iter().map(|argument| argument.ty).chain(cell.results.iter().copied()).collect()
    }

    /// The types of arguments that the operation takes unchanged; it compares others with zero.
    pub fn taken_types(unit: &Unit, ty: Option<Type>) -> Vec<Type> {
        let shader = Self::new(unit, &[ty]);
        let arguments = shader.cells[0].arguments.iter().zip(unit.row().params());
        let is_taken = |param: &Param| !matches!(param.ty, TypeExpr::Test(_));
        arguments.filter(|(_, param)| is_taken(param)).map(|(argument, _)| argument.ty).collect()
    }
}

impl Argument {
    fn value(&self, n: usize, cell: &Cell, place: Place) -> Value {
        let place = Place { salt: cell.salt.wrapping_mul(8).wrapping_add(n as u64), ..place };
        self.constant.unwrap_or_else(|| self.domain.value(self.ty, place))
    }
}

/// The declaration of the variable for an argument.
fn declaration(language: Language, n: usize, argument: &Argument) -> String {
    let ty = argument.ty.name(language);
    let load = |at| argument.ty.load(language, at, |word| format!("x[$INu * slot + {word}u]"));
    match (argument.at, argument.constant, language) {
        (_, Some(_), _) => String::new(),
        (Some(at), None, Language::Glsl) => format!("        {ty} v{n} = {};\n", load(at)),
        (Some(at), None, Language::Wgsl) if argument.mode == Mode::In => format!("        let v{n} = {};\n", load(at)),
        (Some(at), None, Language::Wgsl) => format!("        var v{n} = {};\n", load(at)),
        (None, None, Language::Glsl) => format!("        {ty} v{n};\n"),
        (None, None, Language::Wgsl) => format!("        var v{n}: {ty};\n"),
    }
}

/// An argument in the call.
fn spelled(language: Language, n: usize, argument: &Argument) -> String {
    let number = |value: &u64| format!("{value}u");
    match (argument.constant, language, argument.mode) {
        (Some(value), _, _) if argument.ty.size == 1 => number(&value[0]),
        (Some(value), _, _) => {
            let parts: Vec<String> = value.iter().take(argument.ty.size.into()).map(number).collect();
            format!("{}({})", argument.ty.name(language), parts.join(", "))
        }
        (None, Language::Wgsl, Mode::Out | Mode::InOut) => format!("&v{n}"),
        _ => format!("v{n}"),
    }
}

fn glsl(extensions: &[&str], calls: &str) -> String {
    let lines: String = extensions.iter().map(|name| format!("#extension {name} : require\n")).collect();
    format!(
        "#version 460\n{lines}layout(local_size_x = {GROUP}) in;\n\
         layout(std430, binding = 0) readonly buffer Input {{ uint x[]; }};\n\
         layout(std430, binding = 1) buffer Output {{ uint y[]; }};\n\
         void main() {{\n    uint slot = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;\n{calls}}}\n"
    )
}

fn wgsl(half: bool, calls: &str) -> String {
    let half = if half { "enable f16;\n" } else { "" };
    format!(
        "enable subgroups;\nenable crosslane;\n{half}\
         @group(0) @binding(0) var<storage, read> x: array<u32>;\n\
         @group(0) @binding(1) var<storage, read_write> y: array<u32>;\n\
         @compute @workgroup_size({GROUP})\nfn main(@builtin(subgroup_id) subgroup: u32, \
         @builtin(subgroup_size) lanes: u32, @builtin(subgroup_invocation_id) lane: u32) {{\n    \
         let slot = subgroup * lanes + lane;\n{calls}}}\n"
    )
}
