//! From a position to a name, its declaration and its uses.

use super::Analysis;
use super::scan::Kind as Lexeme;
use crate::source::Span;
use crate::symbols::{Declaration, Kind};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Declarations and macros by their names.
#[derive(Debug, Default)]
pub(super) struct Names {
    declared: FxHashMap<Box<str>, Vec<usize>>,
    macros: FxHashMap<Box<str>, Vec<Span>>,
}

/// The entity that a word names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Named {
    /// Number of its declaration.
    Declared(usize),
    /// A macro, by the place of its name in a `#define`.
    Macro(Span),
}

impl Analysis {
    pub(super) fn text(&self, span: Span) -> &str {
        self.sources.text(span)
    }

    /// The word at a position.
    pub(super) fn word_at(&self, position: u32) -> Option<Span> {
        let (index, scanned) = self.scanned_at(position)?;
        let base = self.sources.files()[index].base;
        let word = scanned.word_at((position - base) as usize)?;
        Some(span_of(base, &scanned.tokens[word].range))
    }

    /// The meaning of a word: the resolved one, otherwise a guess from its name.
    pub(super) fn named(&self, word: Span) -> Option<Named> {
        if let Some(declared) = self.resolved(word) {
            return Some(Named::Declared(declared));
        }
        if self.is_directive_word(word) && !self.is_macro_name(word) {
            return None;
        }
        let name = self.text(word);
        if let Some(defined) = self.names().macros.get(name).and_then(|defined| defined.last()) {
            return Some(Named::Macro(*defined));
        }
        // A built-in overload of a function name that the shader overloads too.
        if self.is_right() && self.builtin(name).is_some() {
            return None;
        }
        // A file that is included twice was resolved at its first place, so its positions are from there.
        let candidates =
            self.names().declared.get(name)?.iter().map(|index| (*index, &self.known().declarations[*index]));
        let means = |declaration: &Declaration| match (declaration.kind, declaration.scope) {
            (Kind::Member, _) => declaration.is_free,
            (_, Some(scope)) => scope.lo <= word.lo && word.hi <= scope.hi,
            (_, None) => true,
        };
        if self.follows_point(word) {
            return None;
        }
        let visible = candidates.filter(|(_, declaration)| means(declaration));
        let innermost = visible.max_by_key(|(_, declaration)| declaration.scope.map_or(0, |scope| scope.lo));
        innermost.map(|(index, _)| Named::Declared(index))
    }

    /// The declaration of a word: its own, or the one that the front end resolved it to.
    fn resolved(&self, word: Span) -> Option<usize> {
        let known = self.known();
        // The definition after a prototype is a use of the prototype's name.
        let first = known.use_at(word).and_then(|use_| known.by_name.get(&use_.declared));
        first.or_else(|| known.by_name.get(&word)).copied()
    }

    fn is_directive_word(&self, word: Span) -> bool {
        self.directive_of(word).is_some()
    }

    /// The name of the directive on a word's line.
    pub(super) fn directive_of(&self, word: Span) -> Option<&str> {
        let (index, scanned) = self.scanned_at(word.lo)?;
        let file = &self.sources.files()[index];
        let at = scanned.word_at((word.lo - file.base) as usize)?;
        scanned.directive(at).map(|name| &file.text[scanned.tokens[name].range.clone()])
    }

    /// Returns true for words in directives that name macros.
    fn is_macro_name(&self, word: Span) -> bool {
        self.directive_of(word)
            .is_some_and(|name| matches!(name, "define" | "undef" | "if" | "ifdef" | "ifndef" | "elif"))
    }

    pub(super) fn follows_point(&self, word: Span) -> bool {
        let Some((index, scanned)) = self.scanned_at(word.lo) else { return false };
        let offset = (word.lo - self.sources.files()[index].base) as usize;
        scanned.before(offset).is_some_and(|before| scanned.tokens[before].kind == Lexeme::Punct(b'.'))
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut names = Names::default();
            for (index, declaration) in self.known().declarations.iter().enumerate() {
                names.declared.entry(self.text(declaration.name).into()).or_default().push(index);
            }
            self.all_macros().for_each(|span| names.macros.entry(self.text(span).into()).or_default().push(span));
            names
        })
    }

    /// Returns true if a macro has this name.
    pub(super) fn is_macro(&self, name: &str) -> bool {
        self.names().macros.contains_key(name)
    }

    /// The names in all `#define` lines, in the order of the files.
    pub(super) fn all_macros(&self) -> impl Iterator<Item = Span> {
        self.sources.files().iter().enumerate().flat_map(move |(index, file)| {
            let tokens = &self.scan(index).tokens;
            let defines = tokens.windows(3).filter(move |three| {
                three[0].kind == Lexeme::Hash
                    && &file.text[three[1].range.clone()] == "define"
                    && three[2].kind == Lexeme::Word
            });
            defines.map(move |three| span_of(file.base, &three[2].range))
        })
    }

    /// The declaration that a position names.
    pub(super) fn declaration_at(&self, position: u32) -> Option<&Declaration> {
        match self.named(self.word_at(position)?)? {
            Named::Declared(index) => Some(&self.known().declarations[index]),
            Named::Macro(_) => None,
        }
    }

    /// The definition of the name at a position: a function's body before its prototypes.
    pub fn definition(&self, position: u32) -> Vec<Span> {
        match self.word_at(position).and_then(|word| self.named(word)) {
            Some(Named::Declared(index)) => {
                let first = self.known().declarations[index].name;
                let has_body =
                    |declaration: &&Declaration| declaration.has_body && self.first_name(declaration) == first;
                let defined = self.known().declarations.iter().find(has_body);
                vec![defined.map_or(first, |declaration| declaration.name)]
            }
            Some(Named::Macro(defined)) => vec![defined],
            None => Vec::new(),
        }
    }

    /// The name at the first declaration of an entity.
    fn first_name(&self, declaration: &Declaration) -> Span {
        self.known().use_at(declaration.name).map_or(declaration.name, |use_| use_.declared)
    }

    /// All places of the name at a position, each once, including its declarations.
    pub fn references(&self, position: u32) -> Vec<Span> {
        let Some(named) = self.word_at(position).and_then(|word| self.named(word)) else { return Vec::new() };
        match named {
            Named::Declared(index) => self.references_of(&self.known().declarations[index]),
            Named::Macro(defined) => self.macro_references(defined),
        }
    }

    pub(super) fn references_of(&self, declaration: &Declaration) -> Vec<Span> {
        let of_it = self.known().uses.iter().filter(|use_| use_.declared == declaration.name).map(|use_| use_.at);
        let mut spans: Vec<Span> = std::iter::once(declaration.name).chain(of_it).collect();
        if !self.is_right() {
            spans.extend(self.unresolved(declaration));
        }
        spans.sort_unstable();
        spans.dedup();
        spans
    }

    /// In a shader with errors: unresolved words that can only mean the declaration.
    fn unresolved(&self, declaration: &Declaration) -> Vec<Span> {
        let name = self.text(declaration.name);
        let Some(own) = self.known().by_name.get(&declaration.name) else { return Vec::new() };
        let is_read = |word: &Span| self.sources.skipped_at(word.lo).is_none();
        let words = self.words().filter(|word| self.text(*word) == name).filter(is_read);
        words.filter(|word| self.named(*word) == Some(Named::Declared(*own))).collect()
    }

    fn macro_references(&self, defined: Span) -> Vec<Span> {
        let name = self.text(defined);
        let words = self.words().filter(|word| self.text(*word) == name);
        words.filter(|word| matches!(self.named(*word), Some(Named::Macro(_)))).collect()
    }

    /// The words of all files.
    pub(super) fn words(&self) -> impl Iterator<Item = Span> {
        let files = self.sources.files().iter().enumerate();
        files.flat_map(|(index, file)| self.scan(index).words().map(|range| span_of(file.base, &range)))
    }
}

pub(super) fn span_of(base: u32, range: &Range<usize>) -> Span {
    Span::new(base + range.start as u32, base + range.end as u32)
}
