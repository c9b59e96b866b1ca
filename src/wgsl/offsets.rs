//! Maps positions of the rewritten text to the user's text.

use crate::source::Span;

/// One replaced stretch, in bytes of the old and of the new text.
#[derive(Clone, Copy, Debug)]
struct Replaced {
    old: (u32, u32),
    new: (u32, u32),
}

/// Maps positions of naga's text back to the user's file.
#[derive(Debug, Default)]
pub(super) struct Offsets {
    /// Position of the file's first byte.
    base: u32,
    /// In ascending order.
    replaced: Vec<Replaced>,
    /// End of the user's text in the new text, before the appended declarations.
    end: u32,
}

/// A replacement of `lo..hi` by `text`. Insertions are empty ranges, or share a neighbouring token's range.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub lo: u32,
    pub hi: u32,
    pub text: String,
}

/// Applies edits, which must not overlap, and returns the mapping.
pub(super) fn apply(source: &str, base: u32, mut edits: Vec<Edit>) -> (String, Offsets) {
    edits.sort_by_key(|edit| edit.lo);
    let mut text = String::with_capacity(source.len() + 32 * edits.len());
    let mut replaced = Vec::with_capacity(edits.len());
    let mut done = 0;
    for edit in &edits {
        text.push_str(&source[done as usize..edit.lo as usize]);
        let start = text.len() as u32;
        text.push_str(&edit.text);
        replaced.push(Replaced { old: (edit.lo, edit.hi), new: (start, text.len() as u32) });
        done = edit.hi;
    }
    text.push_str(&source[done as usize..]);
    let end = text.len() as u32;
    (text, Offsets { base, replaced, end })
}

impl Offsets {
    /// The user's text for a span of the new text; [`Span::NONE`] for text that was added at the end.
    pub(super) fn span(&self, of: naga::Span) -> Span {
        let Some(range) = of.to_range() else { return Span::NONE };
        let (lo, hi) = (range.start as u32, range.end as u32);
        if lo >= self.end && !(lo == self.end && hi == self.end) {
            return Span::NONE;
        }
        let (lo, hi) = (self.old(lo, true), self.old(hi.min(self.end), false));
        Span::new(self.base + lo, self.base + hi.max(lo))
    }

    /// The old offset of a new one; inside a replacement, its start (`low`) or its end.
    fn old(&self, new: u32, low: bool) -> u32 {
        let after = self.replaced.partition_point(|r| if low { r.new.0 <= new } else { r.new.0 < new });
        let Some(near) = after.checked_sub(1).map(|at| self.replaced[at]) else { return new };
        match (new < near.new.1, low) {
            (true, true) => near.old.0,
            (true, false) => near.old.1,
            (false, _) => near.old.1 + (new - near.new.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_come_back() {
        let edit = |lo, hi, text: &str| Edit { lo, hi, text: text.into() };
        let (text, offsets) = apply("ab cd ef", 1, vec![edit(6, 8, "E"), edit(3, 5, "longer")]);
        assert_eq!(text, "ab longer E");
        let span = |lo, hi| offsets.span(naga::Span::new(lo, hi));
        assert_eq!(span(0, 2), Span::new(1, 3));
        assert_eq!(span(3, 9), Span::new(4, 6));
        assert_eq!(span(5, 7), Span::new(4, 6));
        assert_eq!(span(10, 11), Span::new(7, 9));
        assert_eq!(span(11, 14), Span::NONE);
        assert_eq!(offsets.span(naga::Span::UNDEFINED), Span::NONE);
    }
}
