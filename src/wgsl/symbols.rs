//! The names of a WGSL text, for editors. They are read from its tokens, so that a text with errors has them too.
//!
//! Module-scope names may be used before their declaration (WGSL 3.8), so declarations are found first. naga does not
//! record the places of uses. Members are resolved by the declared type of the expression before the point.

use super::inferred::Inferred;
use super::lexer::{Kind as TokenKind, Token};
use crate::source::Span;
use crate::symbols::{Declaration, Kind, Symbols, TypeOf, Use};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The names of a text whose first byte has position `base`. `types` are the types of declarations without an explicit
/// one.
pub(super) fn symbols(source: &str, base: u32, tokens: &[Token], types: &[Inferred]) -> Symbols {
    let mut found = Found { source, base, tokens, matching: matching(tokens), list: Vec::new(), outer: Vec::new() };
    found.module();
    let mut declarations = found.list;
    declarations.sort_by_key(|declaration| declaration.name);
    declarations.dedup_by_key(|declaration| declaration.name);
    let structs = structs(source, base, &declarations);
    declarations.iter_mut().for_each(|declaration| infer(source, base, declaration, types, &structs));
    copy_types(source, base, &mut declarations);
    let uses = Uses::new(source, base, tokens, &declarations).all();
    Symbols { declarations, uses }
}

/// The structs by name.
fn structs<'a>(source: &'a str, base: u32, declarations: &[Declaration]) -> FxHashMap<&'a str, Span> {
    let all = declarations.iter().filter(|declaration| declaration.kind == Kind::Struct).map(|of| of.name);
    all.map(|name| (text(source, base, name), name)).collect()
}

/// The text of a span.
fn text(source: &str, base: u32, span: Span) -> &str {
    &source[(span.lo - base) as usize..(span.hi - base) as usize]
}

/// Sets the type of a declaration without a written type.
fn infer(source: &str, base: u32, of: &mut Declaration, types: &[Inferred], structs: &FxHashMap<&str, Span>) {
    let is_value = matches!(of.kind, Kind::Local | Kind::Global | Kind::Constant);
    if !is_value || text(source, base, of.written).contains(':') {
        return;
    }
    let inside = |found: &&Inferred| of.whole.lo <= found.at.lo && found.at.hi <= of.whole.hi && !found.at.is_none();
    let Some(Inferred { ty, .. }) = types.iter().find(inside) else { return };
    let element = ty.trim_start_matches("array<");
    let name = element.split([',', '>']).next().unwrap_or_default();
    let dimensions = (ty.len() - element.len()) / "array<".len();
    of.ty = structs.get(name).map(|name| TypeOf { name: *name, dimensions: dimensions as u32 });
    of.inferred = Some(ty.as_str().into());
}

/// Gives `let a = b;` the type of `b`. naga has one expression for both.
fn copy_types(source: &str, base: u32, declarations: &mut [Declaration]) {
    for index in 0..declarations.len() {
        let of = &declarations[index];
        if of.inferred.is_some() || of.kind != Kind::Local || of.whole.hi <= of.written.hi {
            continue;
        }
        let value = text(source, base, Span::new(of.written.hi, of.whole.hi)).trim();
        let Some(value) = value.strip_prefix('=').map(|value| value.trim_end_matches(';').trim()) else { continue };
        let is_it = |other: &&Declaration| {
            let is_visible = other.scope.is_some_and(|scope| scope.lo <= of.whole.lo && of.whole.hi <= scope.hi);
            is_visible && text(source, base, other.name) == value
        };
        let Some(from) = declarations[..index].iter().rev().find(is_it) else { continue };
        let (ty, inferred) = (from.ty, from.inferred.clone());
        (declarations[index].ty, declarations[index].inferred) = (ty, inferred);
    }
}

/// The token that closes each bracket.
fn matching(tokens: &[Token]) -> FxHashMap<usize, usize> {
    let mut open: Vec<(usize, u8)> = Vec::new();
    let mut pairs = FxHashMap::default();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(punct @ (b'(' | b'[' | b'{')) => open.push((at, closer(punct))),
            TokenKind::Punct(punct @ (b')' | b']' | b'}')) => {
                if let Some(depth) = open.iter().rposition(|(_, closer)| *closer == punct) {
                    pairs.insert(open[depth].0, at);
                    open.truncate(depth);
                }
            }
            _ => {}
        }
    }
    pairs
}

const fn closer(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

/// Words that declare a variable or a value, and its kind in the module and in a function.
const fn declared_by(word: &str) -> Option<(Kind, Kind)> {
    Some(match word.as_bytes() {
        b"var" => (Kind::Global, Kind::Local),
        b"let" => (Kind::Local, Kind::Local),
        b"const" | b"override" => (Kind::Constant, Kind::Constant),
        _ => return None,
    })
}

struct Found<'a> {
    source: &'a str,
    base: u32,
    tokens: &'a [Token],
    matching: FxHashMap<usize, usize>,
    list: Vec<Declaration>,
    /// Ends of the scopes around the current token of a function's body.
    outer: Vec<usize>,
}

impl<'a> Found<'a> {
    fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text(self.source))
    }

    fn is(&self, at: usize, punct: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(punct))
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word)
    }

    /// The span of tokens, the last one included.
    fn span(&self, from: usize, to: usize) -> Span {
        let last = self.tokens.len().saturating_sub(1);
        match self.tokens.is_empty() {
            true => Span::NONE,
            false => Span::new(self.base + self.tokens[from.min(last)].lo, self.base + self.tokens[to.min(last)].hi),
        }
    }

    /// The token that closes the bracket at `at`, or the last token.
    fn end_of(&self, at: usize) -> usize {
        self.matching.get(&at).copied().unwrap_or(self.tokens.len().saturating_sub(1))
    }

    /// The first of some characters from `at` on that is outside of brackets.
    fn find(&self, mut at: usize, wanted: &[u8]) -> Option<usize> {
        while at < self.tokens.len() {
            match self.tokens[at].kind {
                TokenKind::Punct(punct) if wanted.contains(&punct) => return Some(at),
                TokenKind::Punct(b'(' | b'[' | b'{') => at = self.end_of(at),
                TokenKind::Punct(b'}') => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn add(
        &mut self,
        name: usize,
        kind: Kind,
        words: Range<usize>,
        whole: Span,
        ty: Option<TypeOf>,
    ) -> &mut Declaration {
        let before = if words.start < name { self.span(words.start, name - 1) } else { Span::NONE };
        self.list.push(Declaration {
            name: self.span(name, name),
            kind,
            before,
            written: self.span(name, words.end.saturating_sub(1).max(name)),
            whole,
            scope: None,
            ty,
            inferred: None,
            owner: None,
            is_free: false,
            has_body: kind == Kind::Function,
        });
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    fn module(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            at = match self.text(at) {
                "fn" if self.is_word(at + 1) => self.function(at),
                "struct" if self.is_word(at + 1) => self.structure(at),
                "alias" if self.is_word(at + 1) => {
                    let end = self.find(at, b";").unwrap_or(at + 1);
                    self.add(at + 1, Kind::Alias, at..end, self.span(at, end), None);
                    end + 1
                }
                word if declared_by(word).is_some() => self.variable(at, None),
                _ => at + 1,
            };
        }
    }

    fn structure(&mut self, at: usize) -> usize {
        let open = at + 2;
        let end = if self.is(open, b'{') { self.end_of(open) } else { at + 1 };
        self.add(at + 1, Kind::Struct, at..at + 2, self.span(at, end), None);
        let owner = self.span(at + 1, at + 1);
        let mut member = open + 1;
        while member < end {
            let next = self.find(member, b",").filter(|comma| *comma < end).unwrap_or(end);
            if let Some((name, ty)) = self.typed_name(member..next) {
                let declaration = self.add(name, Kind::Member, name..next, self.span(member, next - 1), ty);
                declaration.owner = Some(owner);
            }
            member = next + 1;
        }
        end + 1
    }

    /// A name and its type in a range of tokens that may start with attributes.
    fn typed_name(&self, tokens: Range<usize>) -> Option<(usize, Option<TypeOf>)> {
        let mut at = tokens.start;
        while self.is(at, b'@') {
            at += 2;
            if self.is(at, b'(') {
                at = self.end_of(at) + 1;
            }
        }
        (at < tokens.end && self.is_word(at) && self.is(at + 1, b':')).then(|| (at, self.type_at(at + 2)))
    }

    /// The type that is written from a token on: elements of arrays count as brackets.
    fn type_at(&self, at: usize) -> Option<TypeOf> {
        let (mut at, mut dimensions) = (at, 0);
        while matches!(self.text(at), "array" | "binding_array") && self.is(at + 1, b'<') {
            (at, dimensions) = (at + 2, dimensions + 1);
        }
        while matches!(self.text(at), "ptr" | "atomic") && self.is(at + 1, b'<') {
            let comma = self.find(at + 2, b",>").filter(|comma| self.is(*comma, b','));
            at = comma.unwrap_or(at + 1) + 1;
        }
        self.is_word(at).then(|| TypeOf { name: self.span(at, at), dimensions })
    }

    fn function(&mut self, at: usize) -> usize {
        let open = at + 2;
        let close = if self.is(open, b'(') { self.end_of(open) } else { at + 1 };
        let body = self.find(close + 1, b"{;").filter(|brace| self.is(*brace, b'{'));
        let end = body.map_or(close, |body| self.end_of(body));
        let whole = self.span(at, end);
        let arrow = (close + 1..body.unwrap_or(close + 1)).find(|at| self.is(*at, b'>'));
        let ty = arrow.and_then(|arrow| self.type_at(arrow + 1));
        self.add(at + 1, Kind::Function, at..body.unwrap_or(close + 1), whole, ty);
        let mut param = open + 1;
        while param < close {
            let next = self.find(param, b",").filter(|comma| *comma < close).unwrap_or(close);
            if let Some((name, ty)) = self.typed_name(param..next) {
                self.add(name, Kind::Parameter, name..next, self.span(param, next - 1), ty).scope = Some(whole);
            }
            param = next + 1;
        }
        if let Some(body) = body {
            self.body(body, end);
        }
        end + 1
    }

    fn body(&mut self, open: usize, end: usize) {
        self.outer = vec![end];
        let mut at = open + 1;
        while at < end {
            self.outer.retain(|scope| *scope >= at);
            if self.is(at, b'{') {
                self.outer.push(self.end_of(at));
            } else if self.text(at) == "for" && self.is(at + 1, b'(') {
                // The variable is in scope in the body too.
                let head = self.end_of(at + 1);
                self.outer.push(if self.is(head + 1, b'{') { self.end_of(head + 1) } else { head });
            }
            let scope = self.outer.iter().min().copied();
            at = match declared_by(self.text(at)) {
                Some(_) => self.variable(at, scope),
                None => at + 1,
            };
        }
    }

    /// The type that a constructor at a token names. `array(…)` is an array of its first element's type.
    fn constructed(&self, at: usize) -> Option<TypeOf> {
        match (self.text(at), self.is(at + 1, b'(')) {
            (_, false) => None,
            ("array", true) => self.constructed(at + 2).map(|ty| TypeOf { dimensions: ty.dimensions + 1, ..ty }),
            _ => self.type_at(at),
        }
    }

    /// `var<…> name: T = …`, up to its `=` or end; in a function, with the end of its scope.
    fn variable(&mut self, at: usize, scope: Option<usize>) -> usize {
        let Some((global, local)) = declared_by(self.text(at)) else { return at + 1 };
        let mut name = at + 1;
        if self.is(name, b'<') {
            name = self.find(name, b">").map_or(name, |close| close + 1);
        }
        if !self.is_word(name) {
            return at + 1;
        }
        let head = self.find(name, b"=;").unwrap_or(name + 1);
        let end = self.find(name, b";").unwrap_or(head);
        let ty = match self.is(name + 1, b':') {
            true => self.type_at(name + 2),
            false => self.constructed(head + 1),
        };
        let kind = if scope.is_some() { local } else { global };
        let whole = self.span(at, end);
        let visible = scope.map(|scope| Span::new(self.span(end, end).hi, self.span(scope, scope).hi));
        self.add(name, kind, at..head, whole, ty).scope = visible;
        head + 1
    }
}

/// The resolution of all words.
struct Uses<'a> {
    source: &'a str,
    base: u32,
    tokens: &'a [Token],
    declarations: &'a [Declaration],
    by_name: FxHashMap<&'a str, Vec<usize>>,
}

impl<'a> Uses<'a> {
    fn new(source: &'a str, base: u32, tokens: &'a [Token], declarations: &'a [Declaration]) -> Uses<'a> {
        let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (index, declaration) in declarations.iter().enumerate() {
            let range = (declaration.name.lo - base) as usize..(declaration.name.hi - base) as usize;
            by_name.entry(&source[range]).or_default().push(index);
        }
        Uses { source, base, tokens, declarations, by_name }
    }

    fn all(&self) -> Vec<Use> {
        let mut uses = Vec::new();
        for (at, token) in self.tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word) {
            let span = Span::new(self.base + token.lo, self.base + token.hi);
            let declared = if self.follows_point(at) {
                self.base_type(at).and_then(|ty| self.member(ty, token.text(self.source)))
            } else if self.is_attribute(at) {
                None
            } else {
                self.named(token.text(self.source), span)
            };
            if let Some(declared) = declared.filter(|declared| self.declarations[*declared].name != span) {
                uses.push(Use { at: span, declared: self.declarations[declared].name });
            }
        }
        uses
    }

    fn follows_point(&self, at: usize) -> bool {
        at > 0 && self.tokens[at - 1].is(b'.')
    }

    /// Returns true for `name` in `@name` and in `@builtin(name)`.
    fn is_attribute(&self, at: usize) -> bool {
        let is = |back: usize, punct: u8| at >= back && self.tokens[at - back].is(punct);
        let text = |back: usize| if at >= back { self.tokens[at - back].text(self.source) } else { "" };
        is(1, b'@') || is(1, b'(') && matches!(text(2), "builtin" | "interpolate" | "diagnostic") && is(3, b'@')
    }

    /// The innermost declaration of a name at a place.
    fn named(&self, name: &str, at: Span) -> Option<usize> {
        let candidates = self.by_name.get(name)?.iter().copied();
        let means = |index: &usize| {
            let declaration = &self.declarations[*index];
            let is_visible = declaration.scope.is_none_or(|scope| scope.lo <= at.lo && at.hi <= scope.hi);
            declaration.kind != Kind::Member && (is_visible || declaration.name == at)
        };
        candidates.filter(means).max_by_key(|index| self.declarations[*index].scope.map_or(0, |scope| scope.lo))
    }

    /// The struct that the expression before the point at `at - 1` has as its type.
    fn base_type(&self, at: usize) -> Option<Span> {
        let mut end = at.checked_sub(2)?;
        let mut brackets = 0;
        while self.tokens[end].is(b']') {
            end = self.opening(end)?.checked_sub(1)?;
            brackets += 1;
        }
        let token = self.tokens[end];
        if token.kind != TokenKind::Word {
            return None;
        }
        let text = token.text(self.source);
        let span = Span::new(self.base + token.lo, self.base + token.hi);
        let declaration = match self.follows_point(end) {
            true => self.base_type(end).and_then(|ty| self.member(ty, text)),
            false => self.named(text, span),
        };
        let ty = self.declarations[declaration?].ty.filter(|ty| ty.dimensions == brackets)?;
        let name = &self.source[(ty.name.lo - self.base) as usize..(ty.name.hi - self.base) as usize];
        Some(self.declarations[self.named(name, ty.name)?].name)
    }

    fn opening(&self, close: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in (0..=close).rev() {
            match self.tokens[at].kind {
                TokenKind::Punct(b']') => depth += 1,
                TokenKind::Punct(b'[') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    fn member(&self, owner: Span, name: &str) -> Option<usize> {
        let mut candidates = self.by_name.get(name)?.iter().copied();
        candidates.find(|index| self.declarations[*index].owner == Some(owner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgsl::lexer;

    fn uses(source: &str) -> Vec<(&str, u32, u32)> {
        let tokens = lexer::tokens(source);
        let found = symbols(source, 0, &tokens, &[]);
        let text = |span: Span| &source[span.lo as usize..span.hi as usize];
        found.uses.iter().map(|use_| (text(use_.at), use_.at.lo, use_.declared.lo)).collect()
    }

    #[test]
    fn inner_names_hide_outer_ones() {
        let source = "const a = 1;\nfn f(b: i32) { let c = a; { let a = b; let d = a; } let e = a; }";
        let of_a: Vec<(u32, u32)> =
            uses(source).into_iter().filter(|(name, ..)| *name == "a").map(|(_, at, to)| (at, to)).collect();
        let outer = source.find("a = 1").unwrap() as u32;
        let inner = source.find("a = b").unwrap() as u32;
        assert_eq!(of_a.iter().map(|(_, to)| *to).collect::<Vec<_>>(), [outer, inner, outer]);
    }

    #[test]
    fn members_belong_to_the_type_of_what_is_before_the_point() {
        let source =
            "struct A { x: f32 }\nstruct B { x: array<A, 2>, y: f32 }\nfn f(b: B) -> f32 { return b.x[1].x + b.y; }";
        let found: Vec<(&str, u32)> = uses(source).into_iter().map(|(name, _, to)| (name, to)).collect();
        let (a, b) = (source.find("x: f32").unwrap() as u32, source.find("x: array").unwrap() as u32);
        assert_eq!(found.iter().filter(|(name, _)| *name == "x").map(|(_, to)| *to).collect::<Vec<_>>(), [b, a]);
        assert!(found.contains(&("y", source.find("y: f32").unwrap() as u32)));
    }
}
