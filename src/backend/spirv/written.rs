//! The lines of a module, each with its origin.
//!
//! The emitter marks words; the lines come from [`disassemble`](super::disassemble). Constants count as setup, because
//! operations share them, and nothing computes them where they are used.

use super::unknown::instructions;
use super::{Emitter, text};
use crate::backend::written::{Code, Unit, Written};
use crate::backend::{Made, Manner, Optimize, Options};
use crate::ir::{FuncId, InstId, Module};
use crate::kernel::Origin;
use crate::source::SourceMap;
use rspirv::spirv::Word;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Words of the functions' section that belong to cross-lane operations.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub set_up: Vec<Range<usize>>,
    /// In text order.
    pub operations: Vec<Mark>,
}

/// The words of an operation.
#[derive(Debug)]
pub(super) struct Mark {
    pub operation: (FuncId, InstId),
    pub words: Range<usize>,
    /// The id of its result; 0 if it has none.
    pub result: Word,
}

impl Mark {
    fn name(&self) -> Option<String> {
        (self.result != 0).then(|| name(self.result))
    }
}

impl Marks {
    /// The origin of the words at a position; a setup is identified by its result.
    fn origin(&self, at: usize, result: Option<Word>) -> Origin {
        let operation = self.operations.partition_point(|mark| mark.words.end <= at);
        match (self.operations.get(operation), result) {
            (Some(mark), _) if mark.words.contains(&at) => Origin::Operation(operation as u32),
            (_, Some(result)) if self.set_up.iter().any(|words| words.contains(&at)) => Origin::SetUp(result),
            _ => Origin::Code,
        }
    }
}

/// The constants and functions of the module that [`emit`](super::emit) writes, as lines of its text. A setup is
/// identified by its result.
///
/// # Errors
/// Like [`emit`](super::emit).
pub fn written(module: &Module, options: &Options, sources: &SourceMap) -> Made<Code> {
    let straight = Options { manner: Manner { optimize: Optimize::None, ..options.manner }, ..options.clone() };
    let changed = super::changed(module, &straight);
    let mut emitter = Emitter::new(changed.as_ref().unwrap_or(module), &straight, sources)?;
    emitter.run();
    if !emitter.diagnostics.is_empty() {
        return Err(emitter.diagnostics);
    }
    let marks = std::mem::take(&mut emitter.out.marks);
    let functions = emitter.out.functions.as_slice().len();
    let words = emitter.finish();
    let text = text(&words)?;
    Ok(Reader::new(&words, words.len() - functions, &text, &marks).code(&marks))
}

/// The unit that runs a line. Extended instructions with a number in the text belong to SPV_AMD_shader_ballot; those of
/// GLSL.std.450 have names.
pub(super) fn unit(line: &str) -> Unit {
    let mut words = line.split_once(" = ").map_or(line, |(_, rest)| rest).split_whitespace();
    match words.next().unwrap_or_default() {
        "OpLabel" => Unit::Label,
        "OpLoopMerge" | "OpBranch" | "OpBranchConditional" => Unit::Control,
        "OpControlBarrier" => Unit::Subgroup,
        "OpExtInst" if words.nth(2).is_some_and(|number| number.parse::<u32>().is_ok()) => Unit::Subgroup,
        opcode if opcode.starts_with("OpGroup") => Unit::Subgroup,
        _ => Unit::Arithmetic,
    }
}

/// A line with the numbers of the ids in it.
struct Line<'t> {
    text: &'t str,
    opcode: &'t str,
    result: Option<Word>,
    operands: Vec<Word>,
}

impl<'t> Line<'t> {
    fn new(text: &'t str) -> Line<'t> {
        let number = |word: &str| word.strip_prefix('%')?.parse().ok();
        let (result, rest) = text.split_once(" = ").unwrap_or(("", text));
        let mut rest = rest.split_whitespace();
        let opcode = rest.next().unwrap_or_default();
        Line { text, opcode, result: number(result.trim()), operands: rest.filter_map(number).collect() }
    }

    /// Returns true if it declares a constant.
    fn is_constant(&self) -> bool {
        ["OpConstant", "OpSpecConstant", "OpUndef"].iter().any(|name| self.opcode.starts_with(name))
    }

    /// Returns true if its result is a value that the code computes.
    fn is_value(&self) -> bool {
        !self.is_constant() && !matches!(self.opcode, "OpLabel" | "OpFunction")
    }

    fn written(&self, origin: Origin, values: &FxHashSet<Word>) -> Written {
        let names = |ids: &[Word]| ids.iter().filter(|id| values.contains(id)).map(|id| name(*id)).collect();
        Written {
            origin,
            text: format!("{}\n", self.text),
            reads: names(&self.operands),
            writes: names(self.result.as_slice()),
        }
    }
}

fn name(id: Word) -> String {
    format!("%{id}")
}

/// The lines of a module, each with its origin: constants first, then the functions.
struct Reader<'t> {
    lines: Vec<(Origin, Line<'t>)>,
}

impl<'t> Reader<'t> {
    /// Every instruction of a function is one line, and the functions come last.
    fn new(words: &[Word], functions: usize, text: &'t str, marks: &Marks) -> Reader<'t> {
        let places: Vec<usize> = instructions(words).filter_map(|(at, _)| at.checked_sub(functions)).collect();
        let lines: Vec<&str> = text.lines().collect();
        let (head, body) = lines.split_at(lines.len().saturating_sub(places.len()));
        let constants = head.iter().map(|text| Line::new(text)).filter(Line::is_constant);
        let constants = constants.map(|line| (line.result.map_or(Origin::Code, Origin::SetUp), line));
        let body = places.into_iter().zip(body).map(|(at, text)| {
            let line = Line::new(text);
            (marks.origin(at, line.result), line)
        });
        Reader { lines: constants.chain(body).collect() }
    }

    fn code(&self, marks: &Marks) -> Code {
        let values =
            self.lines.iter().filter(|(_, line)| line.is_value()).filter_map(|(_, line)| line.result).collect();
        Code {
            lines: self.lines.iter().map(|(origin, line)| line.written(*origin, &values)).collect(),
            set_ups: (0..).zip(&marks.operations).map(|(n, mark)| self.set_ups(n, mark)).collect(),
            operations: marks.operations.iter().map(|mark| (mark.operation, mark.name())).collect(),
        }
    }

    /// The setups that the lines of an operation name, directly or indirectly.
    fn set_ups(&self, number: u32, mark: &Mark) -> Vec<u32> {
        let own = self.lines.iter().filter(|(origin, _)| *origin == Origin::Operation(number));
        let mut named: FxHashSet<Word> =
            own.flat_map(|(_, line)| &line.operands).chain([&mark.result]).copied().collect();
        let mut found = Vec::new();
        for (origin, line) in self.lines.iter().rev() {
            if let Origin::SetUp(set_up) = origin
                && named.contains(set_up)
            {
                named.extend(&line.operands);
                found.push(*set_up);
            }
        }
        found.reverse();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_by_their_ids() {
        let line = Line::new("       %12 = OpIAdd %3 %11 %7");
        assert_eq!((line.opcode, line.result, line.operands), ("OpIAdd", Some(12), vec![3, 11, 7]));
        let line = Line::new("             OpStore %40 %39");
        assert_eq!((line.opcode, line.result, line.operands), ("OpStore", None, vec![40, 39]));
    }
}
