//! The structure of a text: folding ranges and selection ranges.

use super::lookup::span_of;
use super::pieces::Pieces;
use super::scan::{Kind, Scanned, Token};
use super::{Analysis, Place};
use std::ops::Range;

/// A range that an editor can fold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fold {
    pub range: Range<usize>,
    pub is_comment: bool,
}

impl Analysis {
    /// The blocks, comments and conditional parts of a file.
    pub fn folds(&self, file: &str) -> Vec<Fold> {
        let Some(index) = self.sources.files().iter().position(|known| *known.name == *file) else { return Vec::new() };
        let (text, scanned) = (&*self.sources.files()[index].text, self.scan(index));
        let blocks = Pieces::of(text, scanned).list.into_iter().filter_map(|piece| piece.inside);
        let parts = conditionals(text, scanned).into_iter().chain(blocks);
        let mut folds: Vec<Fold> = parts.map(|range| Fold { range, is_comment: false }).collect();
        folds.extend(comments(text, scanned).into_iter().map(|range| Fold { range, is_comment: true }));
        folds.sort_by_key(|fold| fold.range.start);
        folds
    }

    /// The selection ranges around a position, from the word to the whole file.
    pub fn selections(&self, position: u32) -> Vec<Place> {
        let Some((index, scanned)) = self.scanned_at(position) else { return Vec::new() };
        let file = &self.sources.files()[index];
        let offset = (position - file.base) as usize;
        let mut ranges: Vec<Range<usize>> =
            scanned.at(offset).map(|at| scanned.tokens[at].range.clone()).into_iter().collect();
        ranges.extend(brackets(scanned, offset));
        for piece in Pieces::of(&file.text, scanned).around(offset) {
            ranges.extend(piece.inside.clone().filter(|inside| inside.start <= offset && offset <= inside.end));
            ranges.push(piece.range.clone());
        }
        ranges.push(0..file.text.len());
        let mut grown: Vec<Range<usize>> = Vec::new();
        ranges.sort_by_key(Range::len);
        for range in ranges {
            if grown.last().is_none_or(|last| range.start <= last.start && last.end <= range.end && range != *last) {
                grown.push(range);
            }
        }
        grown.iter().filter_map(|range| self.place(span_of(file.base, range))).collect()
    }
}

/// The ranges inside the parentheses and square brackets around an offset.
fn brackets(scanned: &Scanned, offset: usize) -> Vec<Range<usize>> {
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for Token { kind, range, .. } in &scanned.tokens {
        match kind {
            Kind::Punct(b'(' | b'[') => open.push(range.end),
            Kind::Punct(b')' | b']') => {
                let inside = open.pop().map(|start| start..range.start);
                found.extend(inside.filter(|inside| inside.start <= offset && offset <= inside.end));
            }
            Kind::Punct(b';' | b'{' | b'}') if range.end <= offset => open.clear(),
            _ => {}
        }
    }
    found
}

/// From each conditional directive to the next one of the same level.
fn conditionals(text: &str, scanned: &Scanned) -> Vec<Range<usize>> {
    let (mut open, mut found): (Vec<usize>, _) = (Vec::new(), Vec::new());
    for pair in scanned.tokens.windows(2).filter(|pair| pair[0].kind == Kind::Hash) {
        let (hash, name) = (pair[0].range.start, &text[pair[1].range.clone()]);
        if matches!(name, "elif" | "else" | "endif") {
            found.extend(open.pop().map(|start| start..hash));
        }
        if matches!(name, "if" | "ifdef" | "ifndef" | "elif" | "else") {
            open.push(pair[1].range.end);
        }
    }
    found
}

/// The comments; comments on consecutive lines are one range.
fn comments(text: &str, scanned: &Scanned) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for comment in scanned.tokens.iter().filter(|token| token.kind == Kind::Comment).map(|token| &token.range) {
        match found.last_mut() {
            Some(last) if text[last.end..comment.start].trim().is_empty() => last.end = comment.end,
            _ => found.push(comment.clone()),
        }
    }
    found
}
