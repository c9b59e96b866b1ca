//! Names, source text and line numbers: `OpName`, `OpMemberName`, `OpString`, `OpSource`, `OpLine` (SPIR-V 1.6 section
//! 3.49.2). Scopes, variables and types are in `describe`.

use super::Emitter;
use super::function::Body;
use super::words::{Words, clip};
use crate::backend::DebugInfo;
use crate::ir::{Name, Struct};
use crate::source::{SourceLanguage, Span};
use rspirv::spirv::{self, Op, Word};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// Source files and texts named so far.
#[derive(Debug, Default)]
pub(super) struct Files {
    known: Vec<(Arc<str>, Lines, File)>,
    texts: FxHashMap<String, Word>,
}

/// The lines that places name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lines {
    /// The lines of the file's text.
    Own,
    /// The lines counted by `#line` directives, which a file of that name need not contain.
    Counted,
}

/// A source file: its name as `OpString`, and its `DebugSource` if it is described.
#[derive(Clone, Copy, Debug)]
pub(super) struct File {
    name: Word,
    pub source: Word,
}

/// A source range: a file, first and last line, first column and the one after the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    pub source: Word,
    pub lines: [u32; 2],
    pub columns: [u32; 2],
}

impl Emitter<'_> {
    pub fn name(&mut self, id: Word, name: &Name) {
        if self.options.debug >= DebugInfo::Names && !name.is_empty() {
            self.write_name(id, name);
        }
    }

    fn write_name(&mut self, id: Word, name: &str) {
        let start = self.out.names.begin(Op::Name);
        self.out.names.push(id);
        self.out.names.string(clip(name, 2));
        self.out.names.end(start);
    }

    pub fn name_struct(&mut self, id: Word, item: &Struct) {
        self.name(id, &item.name);
        if self.options.debug < DebugInfo::Names {
            return;
        }
        for (index, member) in item.members.iter().enumerate() {
            let start = self.out.names.begin(Op::MemberName);
            self.out.names.extend(&[id, index as Word]);
            self.out.names.string(clip(&member.name, 3));
            self.out.names.end(start);
        }
    }

    pub fn name_spec(&mut self, id: Word, number: u32) {
        let module = self.module;
        if let Some((_, name)) = module.spec_names.iter().find(|(of, _)| *of == number) {
            self.name(id, name);
        }
    }

    /// Declares the language, and the first file with its text.
    pub fn begin_debug(&mut self) {
        let sources = self.sources;
        match self.options.debug {
            DebugInfo::None => {}
            DebugInfo::Names => {
                let (language, version) = self.language();
                self.out.strings.op(Op::Source, &[language, version]);
            }
            DebugInfo::Lines | DebugInfo::Full => {
                let Some(file) = sources.files().first() else { return };
                self.file(&file.name, Lines::Own);
            }
        }
    }

    /// The language and its version as operands of `OpSource`.
    pub fn language(&self) -> (Word, Word) {
        let (language, version) = match self.sources.language {
            SourceLanguage::Unknown => (spirv::SourceLanguage::Unknown, 0),
            SourceLanguage::Glsl(version) => (spirv::SourceLanguage::GLSL, version),
            SourceLanguage::Essl(version) => (spirv::SourceLanguage::ESSL, version),
            SourceLanguage::Wgsl => (spirv::SourceLanguage::WGSL, 0),
        };
        (language as Word, Word::from(version))
    }

    /// The source range of a span; `None` without source.
    pub fn stretch(&mut self, span: Span) -> Option<Stretch> {
        if span.is_none() {
            return None;
        }
        let lines = self.lines_at(span.lo);
        let from = self.sources.locate(span.lo)?;
        let to = self.sources.locate(span.hi).filter(|to| {
            let follows = (to.line, to.column) >= (from.line, from.column);
            to.file == from.file && follows && self.lines_at(span.hi) == lines
        });
        let to = to.unwrap_or_else(|| from.clone());
        let file = self.file(&from.file, lines);
        let (source, first) = match self.options.debug {
            // Lines start at 1 there; `#line 0` counts from 0.
            DebugInfo::Full => (file.source, 1),
            _ => (file.name, 0),
        };
        let lines = [from.line, to.line].map(|line| line.max(first));
        Some(Stretch { source, lines, columns: [from.column, to.column] })
    }

    /// The kind of line numbers at a position. A `DebugLine` must be in the text of its source; an `OpLine` need not
    /// be.
    fn lines_at(&self, position: u32) -> Lines {
        match self.options.debug == DebugInfo::Full && self.sources.is_renumbered(position) {
            true => Lines::Counted,
            false => Lines::Own,
        }
    }

    fn file(&mut self, name: &Arc<str>, lines: Lines) -> File {
        let is_same = |(known, of, _): &&(Arc<str>, Lines, File)| known == name && *of == lines;
        if let Some((.., file)) = self.files.known.iter().find(is_same) {
            return *file;
        }
        let sources = self.sources;
        let found = sources.files().iter().find(|file| file.name == *name && lines == Lines::Own);
        let text = found.map_or(Cow::Borrowed(""), |file| shown(&file.text));
        let mut file = File { name: self.text(name), source: 0 };
        if self.options.debug == DebugInfo::Full {
            file.source = self.describe_source(file.name, &text);
        } else {
            self.write_source(file.name, &text);
        }
        self.files.known.push((name.clone(), lines, file));
        file
    }

    /// `OpSource` with the text, continued in further instructions if it is too long.
    fn write_source(&mut self, name: Word, text: &str) {
        let (language, version) = self.language();
        let mut pieces = pieces(text).into_iter();
        let start = self.out.strings.begin(Op::Source);
        self.out.strings.extend(&[language, version, name]);
        if let Some(piece) = pieces.next() {
            self.out.strings.string(piece);
        }
        self.out.strings.end(start);
        for piece in pieces {
            let start = self.out.strings.begin(Op::SourceContinued);
            self.out.strings.string(piece);
            self.out.strings.end(start);
        }
    }

    /// A text as `OpString`, shared by equal texts.
    pub fn text(&mut self, text: &str) -> Word {
        if let Some(id) = self.files.texts.get(text) {
            return *id;
        }
        let id = self.id();
        let strings: &mut Words = &mut self.out.strings;
        let start = strings.begin(Op::String);
        strings.push(id);
        strings.string(clip(text, 2));
        strings.end(start);
        self.files.texts.insert(text.to_string(), id);
        id
    }
}

/// A text without terminators in its middle: a NUL ends a literal string, and line feeds end lines
/// ([`crate::source::SourceFile::line_starts`]). Blanks replace them and keep the columns.
fn shown(text: &str) -> Cow<'_, str> {
    let ends = |pair: &[u8]| pair[0] == 0 || pair[0] == b'\r' && pair[1] != b'\n';
    if !text.as_bytes().windows(2).any(ends) && !text.ends_with(['\0', '\r']) {
        return Cow::Borrowed(text);
    }
    let next = text.chars().skip(1).chain([' ']);
    let blank = |(c, next): (char, char)| if c == '\0' || c == '\r' && next != '\n' { ' ' } else { c };
    Cow::Owned(text.chars().zip(next).map(blank).collect())
}

/// A text in pieces that fit in an instruction with a few other words.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let (mut rest, mut list) = (text, Vec::new());
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(clip(rest, 8).len());
        list.push(piece);
        rest = more;
    }
    list
}

/// The source place of the current instruction.
#[derive(Debug, Default)]
pub(super) struct Position {
    /// The last place that the current block has stated.
    said: Option<LinePlace>,
    /// The place of the last instruction with one.
    last: Option<LinePlace>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LinePlace {
    /// The `DebugFunction` or `DebugLexicalBlock`; 0 if only lines are recorded.
    scope: Word,
    stretch: Stretch,
}

impl Body<'_, '_> {
    /// Writes the source place of the next instructions, if it changed.
    pub fn place(&mut self, span: Span) {
        if let Some(stretch) = self.m.stretch(span) {
            self.position.last = Some(LinePlace { scope: self.scope_at(span.lo), stretch });
        }
        self.place_again();
    }

    /// Writes the source place again, because it does not extend into a new block.
    pub fn place_again(&mut self) {
        let Some(place) = self.position.last.filter(|_| self.position.said != self.position.last) else { return };
        let Stretch { source, lines, columns } = place.stretch;
        if place.scope == 0 {
            let line = [source, lines[0], columns[0]];
            let said =
                self.position.said.map(|said| [said.stretch.source, said.stretch.lines[0], said.stretch.columns[0]]);
            if said != Some(line) {
                self.code.op(Op::Line, &line);
            }
        } else {
            if self.position.said.is_none_or(|said| said.scope != place.scope) {
                self.m.write_scope(&mut self.code, place.scope);
            }
            self.m.write_line(&mut self.code, place.stretch);
        }
        self.position.said = Some(place);
    }

    /// Forgets the current line: lines only apply to the end of a block.
    pub fn forget_place(&mut self) {
        self.position.said = None;
    }

    /// Forgets the previous function.
    pub fn forget_places(&mut self) {
        self.position = Position::default();
    }
}
