//! Names and costs of a shader with errors, taken from a good version. They hold where the two texts are equal.

use super::texts::Texts;
use super::{Analysis, Resolved, Source};
use crate::explain::prices::Priced;
use crate::source::Span;
use crate::symbols::{Declaration, TypeOf, Use};
use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::ops::Range;

/// A stretch of text that two versions share.
#[derive(Clone, Copy, Debug)]
struct Kept {
    old: usize,
    new: usize,
    len: usize,
}

/// The stretches that two versions share, in order: equal lines, and the common start and end of lines that differ.
#[derive(Debug, Default)]
struct Shared(Vec<Kept>);

impl Shared {
    fn of(old: &str, new: &str) -> Shared {
        let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
        let (old_lines, new_lines) = (lines(old), lines(new));
        let (old_starts, new_starts) = (starts(&old_lines), starts(&new_lines));
        let mut shared = Shared::default();
        for op in capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines) {
            let bytes = |starts: &[usize], lines: Range<usize>| starts[lines.start]..starts[lines.end];
            let of_lines = |from, to| (bytes(&old_starts, from), bytes(&new_starts, to));
            let (from, to) = of_lines(op.old_range(), op.new_range());
            let pairs = || op.old_range().zip(op.new_range()).map(|(a, b)| of_lines(a..a + 1, b..b + 1));
            match op.tag() {
                DiffTag::Equal => shared.keep(from.start, to.start, from.len()),
                _ if op.old_range().len() == op.new_range().len() => {
                    pairs().for_each(|(from, to)| shared.ends(old, new, from, to));
                }
                _ => shared.ends(old, new, from, to),
            }
        }
        shared
    }

    fn keep(&mut self, old: usize, new: usize, len: usize) {
        self.0.extend((len > 0).then_some(Kept { old, new, len }));
    }

    /// Keeps the common start and end of two different stretches.
    fn ends(&mut self, old: &str, new: &str, from: Range<usize>, to: Range<usize>) {
        let (before, after) = (&old[from.clone()], &new[to.clone()]);
        let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b);
        let head: usize = same.map(|(c, _)| c.len_utf8()).sum();
        let rest = before[head..].chars().rev().zip(after[head..].chars().rev()).take_while(|(a, b)| a == b);
        let tail: usize = rest.map(|(c, _)| c.len_utf8()).sum();
        self.keep(from.start, to.start, head);
        self.keep(from.end - tail, to.end - tail, tail);
    }

    /// The new offset of the start of a range.
    fn start(&self, old: usize) -> Option<usize> {
        let kept = self.0[..self.0.partition_point(|kept| kept.old <= old)].last()?;
        (old < kept.old + kept.len).then(|| kept.new + (old - kept.old))
    }

    /// The new offset of the end of a range.
    fn end(&self, old: usize) -> Option<usize> {
        let kept = self.0[..self.0.partition_point(|kept| kept.old < old)].last()?;
        (old <= kept.old + kept.len).then(|| kept.new + (old - kept.old))
    }

    /// The new offset of an end that may be gone: the offset of the next shared stretch.
    fn about(&self, old: usize) -> Option<usize> {
        let next = || self.0.get(self.0.partition_point(|kept| kept.old < old)).map(|kept| kept.new);
        self.end(old).or_else(next)
    }
}

/// The offset of each line, and the end of the last one.
fn starts(lines: &[&str]) -> Vec<usize> {
    let ends = lines.iter().scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// A good version of a shader, and the text that it shares with the version with errors.
pub(super) struct Near<'a> {
    good: &'a Analysis,
    now: &'a Analysis,
    /// For each file of the good version, the number of the same file now and the text that they share.
    files: Vec<Option<(usize, Shared)>>,
}

impl<'a> Near<'a> {
    pub fn new(good: &'a Analysis, now: &'a Analysis) -> Near<'a> {
        let same = |file: &crate::source::SourceFile| {
            let files = now.sources.files();
            let index = files.iter().position(|known| known.name == file.name)?;
            Some((index, Shared::of(&file.text, &files[index].text)))
        };
        Near { good, now, files: good.sources.files().iter().map(same).collect() }
    }

    /// The span in the new text, from its start and its end.
    fn span(&self, of: Span, end: impl Fn(&Shared, usize) -> Option<usize>) -> Option<Span> {
        let (file, range) = self.good.sources.resolve(of).filter(|_| !of.is_none())?;
        let (index, shared) = self.files[file.0 as usize].as_ref()?;
        let base = self.now.sources.files()[*index].base;
        let (start, end) = (shared.start(range.start)?, end(shared, range.end)?);
        (start <= end).then(|| Span::new(base + start as u32, base + end as u32))
    }

    fn exact(&self, of: Span) -> Option<Span> {
        self.span(of, Shared::end)
    }

    /// The span of a word, if it is still a word.
    fn word(&self, of: Span) -> Option<Span> {
        self.exact(of).filter(|span| self.now.word_at(span.lo) == Some(*span))
    }

    /// Adds the names that the front end did not resolve.
    pub fn add_names(&self, to: &mut Resolved) {
        let Resolved { declarations, uses, .. } = &self.good.own;
        for declaration in declarations {
            let Some(name) = self.word(declaration.name) else { continue };
            match to.by_name.get(&name) {
                Some(known) => self.add_type(declaration, &mut to.declarations[*known]),
                None => to.add(self.declaration(declaration, name)),
            }
        }
        let use_ = |of: &Use| {
            let (at, declared) = (self.word(of.at)?, self.word(of.declared)?);
            let is_new = !to.by_name.contains_key(&at) && to.use_at(at).is_none() && to.by_name.contains_key(&declared);
            is_new.then_some(Use { at, declared })
        };
        let more: Vec<Use> = uses.iter().filter_map(use_).collect();
        to.uses.extend(more);
        to.uses.sort_unstable();
    }

    fn add_type(&self, from: &Declaration, to: &mut Declaration) {
        if to.ty.is_none() {
            to.ty = from.ty.and_then(|ty| self.type_of(ty));
            to.inferred = to.inferred.take().or_else(|| from.inferred.clone());
        }
    }

    fn type_of(&self, of: TypeOf) -> Option<TypeOf> {
        Some(TypeOf { name: self.word(of.name)?, ..of })
    }

    fn declaration(&self, of: &Declaration, name: Span) -> Option<Declaration> {
        let span = |of: Span| self.span(of, Shared::about).unwrap_or(Span::NONE);
        let scope = match of.scope {
            Some(scope) => Some(self.span(scope, Shared::about).or_else(|| self.rest_of(scope, name))?),
            None => None,
        };
        let (before, written, whole) = (span(of.before), span(of.written), span(of.whole));
        let (ty, owner) = (of.ty.and_then(|ty| self.type_of(ty)), of.owner.and_then(|owner| self.word(owner)));
        // The struct or block of a member is gone.
        let is_lost = of.owner.is_some() && owner.is_none();
        (!is_lost).then(|| Declaration { name, before, written, whole, scope, ty, owner, ..of.clone() })
    }

    /// The rest of a scope whose start is gone, from the name on.
    fn rest_of(&self, scope: Span, name: Span) -> Option<Span> {
        let last = Span::new(scope.hi.checked_sub(1)?, scope.hi);
        Some(Span::new(name.hi, self.exact(last)?.hi.max(name.hi)))
    }

    /// The costs of the good version's operations that are still in the text.
    pub fn prices(&self, source: &Source<'_>) -> Vec<Priced> {
        let texts = Texts::of(&self.good.sources, source.loader);
        let all = self.good.prices(&texts.source(source));
        all.iter().filter_map(|priced| self.priced(priced)).collect()
    }

    fn priced(&self, of: &Priced) -> Option<Priced> {
        let base = self.good.position(&of.file, 0)?;
        let span = self.exact(Span::new(base + of.range.start as u32, base + of.range.end as u32))?;
        self.now.word_at(span.lo).filter(|word| word.lo == span.lo)?;
        let place = self.now.place(span)?;
        Some(Priced { range: place.start..place.end, ..of.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_move_with_their_text() {
        let (old, new) = ("a\nint b = 1;\nc\n", "new\na\nint bb = 1;\nc d\n");
        let shared = Shared::of(old, new);
        let moved = |text: &str| {
            let at = old.find(text).unwrap();
            Some(&new[shared.start(at)?..shared.end(at + text.len())?])
        };
        assert_eq!(
            (moved("a"), moved("int"), moved("= 1;"), moved("c")),
            (Some("a"), Some("int"), Some("= 1;"), Some("c"))
        );
        assert_eq!(shared.start(old.len()), None);
        assert_eq!(Shared::of("x", "é").0.len(), 0);
    }
}
