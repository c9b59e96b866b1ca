//! Comments of the source and line directives among the statements of functions.

use super::function::Definition;
use super::language::Language;
use super::remarks::Comment;
use super::tree::{Kind, Stmt, else_if};
use crate::kernel::Origin;
use crate::source::{SourceFile, SourceMap, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Limit of the statements on one source line that are searched for the first one in the text.
const MOST_PARTS: usize = 16;

/// Limit of the statements before a comment that are searched for the last one of its block.
const MOST_LOOKS: usize = 256;

/// Puts comments next to the statements that they precede or follow in the source.
pub(super) fn comment(functions: &mut [Definition], comments: &[Comment], sources: &SourceMap) {
    let mut places = Vec::new();
    for function in functions.iter() {
        collect(&function.body, 0, &mut places);
    }
    let places = Places::of(&places);
    let mut found: FxHashMap<usize, Around> = FxHashMap::default();
    for comment in comments {
        places.put(comment, sources, &mut found);
    }
    let mut number = 0;
    for function in functions {
        insert(&mut function.body, &mut number, &mut found);
    }
}

/// The comments around a statement.
#[derive(Default)]
struct Around {
    before: Vec<String>,
    /// At the end of its line.
    beside: Option<String>,
    after: Vec<String>,
}

/// The statements of all functions, numbered in text order, by their positions in the source.
struct Places {
    sorted: Vec<(u32, usize)>,
    /// The nesting depth of each statement.
    depths: Vec<u32>,
}

impl Places {
    fn of(spans: &[(Span, u32)]) -> Places {
        let placed = spans.iter().enumerate().filter(|(_, (span, _))| !span.is_none());
        let mut sorted: Vec<(u32, usize)> = placed.map(|(number, (span, _))| (span.lo, number)).collect();
        sorted.sort_unstable();
        Places { sorted, depths: spans.iter().map(|(_, depth)| *depth).collect() }
    }

    /// The statements that start in a range of positions.
    fn within(&self, from: u32, to: u32) -> &[(u32, usize)] {
        let [from, to] = [from, to].map(|bound| self.sorted.partition_point(|(at, _)| *at < bound));
        &self.sorted[from.min(to)..to]
    }

    /// The last statement of the block that contains a comment, among those before the comment.
    fn last_of_block(&self, comment: &Comment) -> Option<&(u32, usize)> {
        let inside = self.within(comment.block, comment.span.lo).iter().rev().take(MOST_LOOKS);
        inside.fold(None, |found: Option<&(u32, usize)>, place| match found {
            Some(known) if self.depths[known.1] <= self.depths[place.1] => found,
            _ => Some(place),
        })
    }

    fn put(&self, comment: &Comment, sources: &SourceMap, found: &mut FxHashMap<usize, Around>) {
        let Some(body) = comment.body else { return };
        let (lo, lines) = (comment.span.lo, comment.lines.iter().cloned());
        let preceding = self.last_of_block(comment);
        let on_line = comment.trails.and_then(|line| self.within(line, lo).first());
        let is_last = sources.text(Span::new(comment.next, comment.next + 1)) == "}";
        let following = self.within(lo, body.hi).first().filter(|_| !is_last || preceding.is_none());
        match (on_line, following, preceding) {
            (Some((_, number)), ..) => {
                let around = found.entry(*number).or_default();
                match comment.lines.len() == 1 && around.beside.is_none() {
                    true => around.beside = comment.lines.first().cloned(),
                    false => around.before.extend(lines),
                }
            }
            (None, Some((at, _)), _) => {
                // The statements that compute a condition precede its `if` or loop.
                let line = self.within(*at, end_of_line(sources, *at).min(body.hi)).iter().take(MOST_PARTS);
                let number = line.map(|(_, number)| *number).min().unwrap_or_default();
                found.entry(number).or_default().before.extend(lines);
            }
            (None, None, Some((_, number))) => found.entry(*number).or_default().after.extend(lines),
            (None, None, None) => {}
        }
    }
}

/// The position of the line after the one at a position.
fn end_of_line(sources: &SourceMap, at: u32) -> u32 {
    let Some((file, line)) = line_of(sources, at) else { return at };
    file.line_starts().get(line + 1).map_or(u32::MAX, |next| file.base + next)
}

/// The file at a position, and its zero-based line there.
fn line_of(sources: &SourceMap, at: u32) -> Option<(&SourceFile, usize)> {
    let file = sources.file(sources.file_at(at)?);
    Some((file, file.line_of((at - file.base).min(file.text.len() as u32))))
}

/// Adds the spans of statements and their nesting depths, in text order.
fn collect(body: &[Stmt], depth: u32, places: &mut Vec<(Span, u32)>) {
    for stmt in body {
        places.push((stmt.span, depth));
        stmt.kind.blocks().for_each(|block| collect(block, depth + 1, places));
    }
}

fn insert(body: &mut Vec<Stmt>, number: &mut usize, found: &mut FxHashMap<usize, Around>) {
    for mut stmt in std::mem::take(body) {
        let around = found.remove(number).unwrap_or_default();
        *number += 1;
        let is_chained = |block: &[Stmt]| else_if(block).is_some();
        for block in stmt.kind.blocks_mut() {
            // Nothing can be put between `else` and `if`.
            let above = if is_chained(block) { found.remove(number) } else { None };
            insert(block, number, found);
            if let (Some(above), Some(Stmt { kind: Kind::If { then, .. }, .. })) = (above, block.first_mut()) {
                then.splice(0..0, above.before.into_iter().chain(above.beside).chain(above.after).map(comment_line));
            }
        }
        body.extend(around.before.into_iter().map(comment_line));
        match stmt.is_line() {
            true => stmt.remark = around.beside.map(String::into_boxed_str),
            false => body.extend(around.beside.map(comment_line)),
        }
        body.push(stmt);
        body.extend(around.after.into_iter().map(comment_line));
    }
}

fn comment_line(text: String) -> Stmt {
    Stmt::new(Origin::Code, Kind::Comment(text))
}

/// Adds a directive before each statement whose source line does not follow that of the text line above.
pub(super) fn direct(functions: &mut [Definition], sources: &SourceMap, language: &dyn Language) {
    for function in functions {
        let mut lines = Directives { sources, language, next: None };
        function.before.extend(lines.at(function.span));
        lines.block(&mut function.body);
    }
}

struct Directives<'a> {
    sources: &'a SourceMap,
    language: &'a dyn Language,
    /// The line that the next line of text would have without a directive.
    next: Option<(Arc<str>, u32)>,
}

impl Directives<'_> {
    /// The directive for a place in the source, if one is needed.
    fn at(&mut self, span: Span) -> Option<String> {
        let (of, at) = line_of(self.sources, span.lo)?;
        let (file, line) = self.sources.named_line(of, at);
        let is_so = self.next.as_ref() == Some(&(file.clone(), line));
        let index = self.sources.files().iter().position(|known| known.name == file).unwrap_or(0);
        let said = if is_so { None } else { self.language.line_directive(line, (index, &file)) };
        self.next = Some((file, line));
        said
    }

    /// Counts a line of text.
    fn count(&mut self) {
        self.next.iter_mut().for_each(|(_, line)| *line += 1);
    }

    fn block(&mut self, body: &mut Vec<Stmt>) {
        self.count();
        for mut stmt in std::mem::take(body) {
            if let Some(text) = self.at(stmt.span) {
                body.push(Stmt::new(Origin::Code, Kind::Directive(text)));
            }
            self.nested(&mut stmt);
            body.push(stmt);
        }
    }

    fn nested(&mut self, stmt: &mut Stmt) {
        let mut has_blocks = false;
        for block in stmt.kind.blocks_mut() {
            match else_if(block).is_some() {
                true => block.iter_mut().for_each(|stmt| self.nested(stmt)),
                false => self.block(block),
            }
            (self.next, has_blocks) = (None, true);
        }
        if !has_blocks {
            self.count();
        }
    }
}
