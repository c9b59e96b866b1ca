//! Source text, positions in it, and where included text comes from.
//!
//! Every file that takes part in one compilation gets a stretch of one shared position space, so that a [`Span`] is
//! eight bytes and names its file by itself. This module reads no file: text arrives through a [`Loader`].

use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A half-open byte range `lo..hi` in the position space of a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    pub lo: u32,
    pub hi: u32,
}

impl Span {
    /// The span of things that no source text stands for. Position 0 belongs to no file.
    pub const NONE: Span = Span { lo: 0, hi: 0 };

    pub const fn new(lo: u32, hi: u32) -> Span {
        Span { lo, hi }
    }

    /// The smallest span that covers both. Spans of different files, or [`Span::NONE`], give `self`.
    #[must_use]
    pub fn to(self, end: Span) -> Span {
        if self == Span::NONE {
            return end;
        }
        if end == Span::NONE || end.hi < self.lo {
            return self;
        }
        Span::new(self.lo, end.hi)
    }

    pub fn is_none(self) -> bool {
        self == Span::NONE
    }
}

/// Index of a file in its [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// A `#line` directive: from `position` on, lines are counted from `line` and belong to `name`.
#[derive(Clone, Debug)]
pub struct LineMark {
    pub position: u32,
    /// Number that the line holding `position` has (1-based).
    pub line: u32,
    /// Name given by the directive; the file's own when absent.
    pub name: Option<Arc<str>>,
}

/// One file of a compilation.
#[derive(Debug)]
pub struct SourceFile {
    pub name: Arc<str>,
    pub text: Arc<str>,
    /// Position of the file's first byte.
    pub base: u32,
    line_starts: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// Offsets (from the file's start) at which lines begin; the first is 0.
    pub fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let newlines = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect()
        })
    }

    /// Zero-based physical line that holds the byte `offset` of this file.
    pub fn line_of(&self, offset: u32) -> usize {
        self.line_starts().partition_point(|start| *start <= offset) - 1
    }
}

/// A position as people write it; both numbers are 1-based, the column counts characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
}

/// The language of a compilation's files, with GLSL's version.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SourceLanguage {
    #[default]
    Unknown,
    Glsl(u16),
    Essl(u16),
    Wgsl,
}

/// All files of one compilation and the `#line` marks found in them.
#[derive(Debug, Default)]
pub struct SourceMap {
    pub language: SourceLanguage,
    files: Vec<SourceFile>,
    marks: Vec<LineMark>,
    /// Text that conditional directives leave out, in ascending order within a file.
    skipped: Vec<Span>,
    /// Bytes that the files may have together, if fewer than [`SOURCE_LIMIT`].
    limit: Option<u64>,
}

/// Bytes that all files of a compilation may have together. Positions are 32 bits wide, and so few bytes hold less than 2^28
/// different words.
pub const SOURCE_LIMIT: u64 = 1 << 30;

/// Sources together pass the limit of their [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceTooLarge;

impl SourceMap {
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// A map for files of this many bytes together, at most [`SOURCE_LIMIT`].
    pub fn limited(bytes: u64) -> SourceMap {
        SourceMap { limit: Some(bytes), ..SourceMap::default() }
    }

    /// Adds a file and gives it the next stretch of positions.
    ///
    /// # Errors
    /// When all files together pass the map's limit.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Result<FileId, SourceTooLarge> {
        let text = text.into();
        let base = self.files.last().map_or(1, |file| file.base + file.text.len() as u32 + 1);
        let end = u64::from(base) + text.len() as u64 + 1;
        // The limit counts text alone, positions a byte between files too.
        let bytes = end - 2 - self.files.len() as u64;
        if end > SOURCE_LIMIT || self.limit.is_some_and(|limit| bytes > limit) {
            return Err(SourceTooLarge);
        }
        self.files.push(SourceFile { name: name.into(), text, base, line_starts: OnceLock::new() });
        Ok(FileId(self.files.len() as u32 - 1))
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Records a `#line` directive; marks are added in ascending position within a file.
    pub fn mark_line(&mut self, mark: LineMark) {
        let at = self.marks.partition_point(|m| m.position <= mark.position);
        self.marks.insert(at, mark);
    }

    /// Records text that a conditional directive leaves out.
    pub fn skip(&mut self, span: Span) {
        self.skipped.insert(self.skipped.partition_point(|other| other.lo < span.lo), span);
    }

    /// The text that a conditional directive leaves out, where a position is in such.
    pub fn skipped_at(&self, position: u32) -> Option<Span> {
        let before = self.skipped.partition_point(|span| span.lo <= position);
        self.skipped[..before].last().copied().filter(|span| span.hi > position)
    }

    /// The file that holds a position, none for [`Span::NONE`].
    pub fn file_at(&self, position: u32) -> Option<FileId> {
        let after = self.files.partition_point(|file| file.base <= position);
        (after > 0).then(|| FileId(after as u32 - 1))
    }

    /// File and byte range inside it.
    pub fn resolve(&self, span: Span) -> Option<(FileId, Range<usize>)> {
        let id = self.file_at(span.lo)?;
        let file = self.file(id);
        let len = file.text.len();
        let lo = ((span.lo - file.base) as usize).min(len);
        let hi = (span.hi.saturating_sub(file.base) as usize).clamp(lo, len);
        Some((id, lo..hi))
    }

    /// The source text of a span; empty for [`Span::NONE`].
    pub fn text(&self, span: Span) -> &str {
        match self.resolve(span) {
            Some((id, range)) => self.file(id).text.get(range).unwrap_or(""),
            None => "",
        }
    }

    /// The text between the start of the line that holds a position, and the position.
    pub fn line_before(&self, position: u32) -> Option<&str> {
        let file = self.file(self.file_at(position)?);
        let offset = (position - file.base).min(file.text.len() as u32);
        file.text.get(file.line_starts()[file.line_of(offset)] as usize..offset as usize)
    }

    /// The part of a span that is on its first line.
    pub fn first_line(&self, span: Span) -> Span {
        let Some(line) = self.text(span).lines().next() else { return span };
        Span::new(span.lo, span.lo + line.trim_end().len() as u32)
    }

    /// The location that a message prints for a position, `#line` obeyed.
    pub fn locate(&self, position: u32) -> Option<Location> {
        let file = self.file(self.file_at(position)?);
        let offset = (position - file.base).min(file.text.len() as u32);
        let line = file.line_of(offset);
        let before = self.line_before(position).unwrap_or("");
        let column = before.chars().count() as u32 + 1;
        let (name, number) = self.named_line(file, line);
        Some(Location { file: name, line: number, column })
    }

    /// Returns true if a `#line` directive gives a position another line, or its line another file, than the text has.
    pub fn is_renumbered(&self, position: u32) -> bool {
        let Some(file) = self.file_at(position).map(|id| self.file(id)) else { return false };
        let line = file.line_of((position - file.base).min(file.text.len() as u32));
        self.named_line(file, line) != (file.name.clone(), line as u32 + 1)
    }

    /// Name and number of a physical line (zero-based) once `#line` has had its say.
    pub fn named_line(&self, file: &SourceFile, line: usize) -> (Arc<str>, u32) {
        let start = file.base + file.line_starts()[line];
        let end = file.line_starts().get(line + 1).map_or(u32::MAX, |next| file.base + next);
        let mark = self.marks[..self.marks.partition_point(|m| m.position < end)].last();
        match mark.filter(|m| m.position >= file.base) {
            Some(mark) => {
                let marked = file.line_of(mark.position - file.base);
                let number = mark.line.saturating_add((line - marked.min(line)) as u32);
                debug_assert!(mark.position <= start || marked == line);
                (mark.name.clone().unwrap_or_else(|| file.name.clone()), number)
            }
            None => (file.name.clone(), line as u32 + 1),
        }
    }
}

/// How an include was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IncludeKind {
    /// `#include "name"`: looked up next to the including file first.
    Quoted,
    /// `#include <name>`: looked up in the include directories only.
    Angled,
}

/// Text that a [`Loader`] found.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Identity of the file (a path, normalised), used in messages and to detect cycles.
    pub name: Arc<str>,
    pub text: Arc<str>,
}

/// Why an include could not be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// Not found; the places that were examined, in order.
    NotFound(Vec<String>),
    /// Found but not readable, or not UTF-8; a sentence that says so.
    Unreadable(String),
}

/// Where included text comes from. The compiler itself never opens a file.
pub trait Loader {
    /// Finds what `#include` names.
    ///
    /// `from` is the [`Loaded::name`] (or the input's name) of the file that holds the directive.
    ///
    /// # Errors
    /// When nothing is found or what was found cannot be read.
    fn load(&self, name: &str, kind: IncludeKind, from: &str) -> Result<Loaded, LoadError>;
}

/// A loader for compilations that have no includes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoIncludes;

impl Loader for NoIncludes {
    fn load(&self, _: &str, _: IncludeKind, _: &str) -> Result<Loaded, LoadError> {
        Err(LoadError::NotFound(Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_name_their_file() {
        let mut map = SourceMap::new();
        let a = map.add("a", "one\ntwo\n").unwrap();
        let b = map.add("b", "three").unwrap();
        let base = map.file(b).base;
        assert_eq!(map.file_at(map.file(a).base + 4), Some(a));
        assert_eq!(map.text(Span::new(base, base + 5)), "three");
        let at = map.locate(map.file(a).base + 5).unwrap();
        assert_eq!((at.line, at.column), (2, 2));
        assert_eq!(map.file_at(0), None);
    }

    #[test]
    fn line_directives_rename_the_lines_after_them() {
        let mut map = SourceMap::new();
        let a = map.add("a", "x\n#line 40 \"b\"\ny\nz").unwrap();
        let base = map.file(a).base;
        map.mark_line(LineMark { position: base + 16, line: 40, name: Some("b".into()) });
        let z = map.locate(base + 18).unwrap();
        assert_eq!((&*z.file, z.line), ("b", 41));
        assert_eq!(map.locate(base).unwrap().line, 1);
        assert_eq!([0, 16, 18].map(|at| map.is_renumbered(base + at)), [false, true, true]);
    }

    #[test]
    fn line_directives_may_say_what_is_so() {
        let mut map = SourceMap::new();
        let a = map.add("a", "x\n#line 3\ny\n").unwrap();
        let base = map.file(a).base;
        map.mark_line(LineMark { position: base + 10, line: 3, name: None });
        assert!(!map.is_renumbered(base + 10));
    }
}
