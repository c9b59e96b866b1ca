//! The state shared by all productions: the position in the token stream, the tree so far, limits, error reporting, and
//! recovery after an error.
//!
//! A production that fails reports once and returns [`Reported`]. The enclosing statement, member or item catches that,
//! skips to a place where parsing can continue, and leaves the broken part out of the tree.

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::glsl::ast::*;
use crate::glsl::keyword::{Classes, Keyword, Language, WordClass};
use crate::glsl::token::{GlslProfile, Interner, Punct, Symbol, Token, TokenKind, TokenStream};
use crate::source::{SourceMap, Span};
use std::fmt::Display;

/// Maximum nesting of parentheses, calls, statements and the like.
pub(super) const MAX_NESTING: u32 = 256;
/// Height of an expression's tree, which later passes recurse over: `a + b + c` is two high, `a.b.c` three.
pub(super) const MAX_HEIGHT: u16 = 1000;

/// An error was found and reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

pub(super) type Parsed<T> = Result<T, Reported>;

/// The state that the productions work on.
pub(super) struct Parser<'a> {
    /// Ends with [`TokenKind::End`], which is never passed.
    tokens: &'a [Token],
    at: usize,
    interner: &'a Interner,
    /// For messages that go by the layout of the text.
    sources: &'a SourceMap,
    classes: Classes,
    diagnostics: &'a mut Diagnostics,
    pub ast: Ast,
    /// Lists that are not complete yet, innermost last.
    open_lists: Pools,
    /// Heights of the expressions, by their index.
    heights: Vec<u16>,
    nesting: u32,
    /// Set by the error about nesting until its statement is skipped.
    overflowed: bool,
    /// The places of errors before parsing, and reserved words since; ascending within a file. Syntax errors at these
    /// places have already been reported.
    faults: Vec<Span>,
    /// Words already reported as reserved.
    reserved: Vec<Symbol>,
}

impl<'a> Parser<'a> {
    pub fn new(
        stream: &'a TokenStream,
        interner: &'a Interner,
        sources: &'a SourceMap,
        diagnostics: &'a mut Diagnostics,
    ) -> Parser<'a> {
        let language = if stream.version.profile == GlslProfile::Es { Language::Es } else { Language::Desktop };
        Parser {
            tokens: &stream.tokens,
            at: 0,
            interner,
            sources,
            classes: Classes::new(interner, language),
            ast: Ast::for_tokens(stream.tokens.len()),
            open_lists: Pools::for_tokens(64),
            heights: Vec::with_capacity(stream.tokens.len() / 2),
            nesting: 0,
            overflowed: false,
            faults: diagnostics.iter().filter(|d| d.severity == Severity::Error).map(Diagnostic::span).collect(),
            reserved: Vec::new(),
            diagnostics,
        }
    }
}

/// Looking at tokens and taking them.
impl<'a> Parser<'a> {
    /// Index of the current token.
    pub fn position(&self) -> usize {
        self.at
    }

    pub fn tokens(&self) -> &'a [Token] {
        self.tokens
    }

    pub fn current(&self) -> Token {
        self.tokens[self.at]
    }

    /// The token `ahead` of the current one; past the end, an [`TokenKind::End`].
    pub fn peek(&self, ahead: usize) -> Token {
        self.token(self.at + ahead)
    }

    pub fn token(&self, index: usize) -> Token {
        self.tokens[index.min(self.tokens.len() - 1)]
    }

    pub fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind()
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The span of the last token taken.
    pub fn last_span(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::NONE, |before| self.token(before).span)
    }

    /// From the start of `start` to the last token taken.
    pub fn span_from(&self, start: Span) -> Span {
        start.to(self.last_span())
    }

    pub fn at_end(&self) -> bool {
        self.tokens[self.at].is(TokenKind::End)
    }

    /// True if further errors would not be shown.
    pub fn is_full(&self) -> bool {
        self.diagnostics.is_full()
    }

    pub fn error_count(&self) -> usize {
        self.diagnostics.error_count()
    }

    pub fn bump(&mut self) -> Token {
        let token = self.tokens[self.at];
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Goes back to the first token after a position.
    pub fn go_back_to(&mut self, position: u32) {
        while self.at > 0 && self.tokens[self.at - 1].span.lo >= position {
            self.at -= 1;
        }
    }

    pub fn is_punct(&self, ahead: usize, punct: Punct) -> bool {
        self.peek(ahead).is(TokenKind::Punct(punct))
    }

    pub fn at(&self, punct: Punct) -> bool {
        self.tokens[self.at].is(TokenKind::Punct(punct))
    }

    pub fn eat(&mut self, punct: Punct) -> bool {
        let found = self.at(punct);
        if found {
            self.at += 1;
        }
        found
    }

    /// The class of the word at a token index, or `None` if it is not a word.
    pub fn class_at(&self, index: usize) -> Option<WordClass> {
        self.class_of(self.token(index).kind())
    }

    /// The class of the current word, or `None` if it is not a word.
    pub fn class(&self) -> Option<WordClass> {
        self.class_of(self.kind())
    }

    #[inline(always)]
    fn class_of(&self, kind: TokenKind) -> Option<WordClass> {
        match kind {
            TokenKind::Word(symbol) => Some(self.classes.of(symbol)),
            _ => None,
        }
    }

    /// The current token's keyword, except soft ones.
    pub fn keyword(&self) -> Option<Keyword> {
        match self.class() {
            Some(WordClass::Keyword(keyword)) => Some(keyword),
            _ => None,
        }
    }

    pub fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.keyword() == Some(keyword);
        if found {
            self.at += 1;
        }
        found
    }

    /// True for a word that can be a name, and for reserved words, which [`Parser::identifier`] reports.
    pub fn is_identifier(&self, index: usize) -> bool {
        self.class_at(index).is_some_and(can_be_name)
    }

    pub fn at_identifier(&self) -> bool {
        self.class().is_some_and(can_be_name)
    }

    /// True at the `void` of an empty list, as in `f(void)`.
    pub fn at_lone_void(&self) -> bool {
        let TokenKind::Word(symbol) = self.kind() else { return false };
        self.is_punct(1, Punct::RightParen) && self.text(symbol) == "void"
    }

    pub fn text(&self, symbol: Symbol) -> &'a str {
        self.interner.text(symbol)
    }

    /// Index of the token after the `<…>` that opens at `index` and contains `count` items, or `index` itself if there
    /// is none.
    pub fn after_parameters(&self, index: usize, count: usize) -> usize {
        let (mut depth, mut found, mut at) = (0usize, 1, index + 1);
        loop {
            match self.token(at).kind() {
                TokenKind::Punct(Punct::LeftParen | Punct::LeftBracket) => depth += 1,
                TokenKind::Punct(Punct::RightParen | Punct::RightBracket) if depth > 0 => depth -= 1,
                TokenKind::Punct(Punct::Comma) if depth == 0 => found += 1,
                TokenKind::Punct(Punct::Greater) if depth == 0 && found == count => return at + 1,
                // A nested `<` is examined separately, so that a chain of them is read once.
                TokenKind::Punct(Punct::Greater | Punct::Less) if depth == 0 => return index,
                TokenKind::Punct(Punct::RightParen | Punct::RightBracket | Punct::Semicolon) | TokenKind::End => {
                    return index;
                }
                TokenKind::Punct(Punct::LeftBrace | Punct::RightBrace) => return index,
                _ => {}
            }
            at += 1;
        }
    }

    /// Index of the token after the brackets that open at `index`, or `index` itself if there are none.
    pub fn after_brackets(&self, mut index: usize) -> usize {
        let mut depth = 0usize;
        loop {
            match self.token(index).kind() {
                TokenKind::Punct(Punct::LeftBracket) => depth += 1,
                _ if depth == 0 => return index,
                TokenKind::Punct(Punct::RightBracket) => depth -= 1,
                TokenKind::Punct(Punct::Semicolon | Punct::LeftBrace | Punct::RightBrace) | TokenKind::End => {
                    return index;
                }
                _ => {}
            }
            index += 1;
        }
    }
}

fn can_be_name(class: WordClass) -> bool {
    use WordClass::{CallQualifier, Identifier, Reserved, SoftKeyword, SoftQualifier};
    matches!(class, Identifier | Reserved | SoftKeyword(_) | SoftQualifier(_) | CallQualifier(_))
}

/// Tokens that must be present.
impl Parser<'_> {
    /// Parses a name; `what` describes it, as in "the name of a function".
    #[inline(always)]
    pub fn identifier(&mut self, what: &str) -> Parsed<Name> {
        let TokenKind::Word(symbol) = self.kind() else { return Err(self.expected(what)) };
        let span = self.span();
        if !matches!(self.classes.of(symbol), WordClass::Identifier) {
            self.unusual_name(symbol, span, what)?;
        }
        self.at += 1;
        Ok(Name { symbol, span })
    }

    /// Checks that a word with a special meaning can be a name here.
    #[cold]
    fn unusual_name(&mut self, symbol: Symbol, span: Span, what: &str) -> Parsed<()> {
        match self.classes.of(symbol) {
            WordClass::Reserved => self.reserved_word(symbol, span),
            class if can_be_name(class) => {}
            _ => return Err(self.expected(what)),
        }
        Ok(())
    }

    #[cold]
    fn reserved_word(&mut self, symbol: Symbol, span: Span) {
        self.faults.push(span);
        if self.reserved.contains(&symbol) {
            return;
        }
        self.reserved.push(symbol);
        let message = format!("`{}` is a reserved word", self.interner.text(symbol));
        let diagnostic = Diagnostic::error(Code::RESERVED_WORD, message).at(span, "without a meaning in GLSL");
        self.diagnostics.push(diagnostic);
    }

    pub fn expect(&mut self, punct: Punct, context: impl Display) -> Parsed<()> {
        if self.eat(punct) {
            return Ok(());
        }
        Err(self.expected(&format!("`{}` {context}", punct.text())))
    }

    /// Expects the `;` after the construct that `what` names. If it is clearly missing, reports that and continues as
    /// if it were there.
    pub fn semicolon(&mut self, what: &str) -> Parsed<()> {
        if self.eat(Punct::Semicolon) {
            return Ok(());
        }
        let expected = format!("`;` after {what}");
        let forgotten = matches!(self.kind(), TokenKind::Word(_) | TokenKind::End) || self.at(Punct::RightBrace);
        if !forgotten || self.misspelt_keyword().is_some() {
            return Err(self.expected(&expected));
        }
        let diagnostic = self.insertion(&expected, ";");
        self.report(diagnostic);
        Ok(())
    }

    /// Takes the `)` or `]` that matches the token at `open`, with the same tolerance of errors.
    pub fn close(&mut self, punct: Punct, open: Span) -> Parsed<()> {
        if self.eat(punct) {
            return Ok(());
        }
        let text = punct.text();
        let expected = format!("`{text}`");
        let to_close = format!("to close this `{}`", opening(punct));
        let forgotten = self.at_end() || self.at(Punct::Semicolon) || self.at(Punct::LeftBrace);
        if !forgotten {
            let diagnostic = self.unexpected(&expected).with(open, to_close);
            return Err(self.report(self.with_habit(diagnostic)));
        }
        let diagnostic = self.insertion(&expected, text).with(open, to_close);
        self.report(diagnostic);
        Ok(())
    }

    /// The message that `expected` is missing after the last token, with the advice to write `text` there.
    fn insertion(&mut self, expected: &str, text: &str) -> Diagnostic {
        let end = self.last_span().hi;
        let place = Span::new(end, end);
        let diagnostic = Diagnostic::error(Code::SYNTAX, format!("expected {expected}, found {}", self.found()))
            .at(place, format!("expected {expected}"))
            .suggest(place, text, format!("add `{text}` here"));
        if self.at_end() { diagnostic } else { diagnostic.with(self.span(), "found instead") }
    }
}

fn opening(close: Punct) -> &'static str {
    match close {
        Punct::RightParen => "(",
        Punct::RightBracket => "[",
        Punct::Greater => "<",
        _ => "{",
    }
}

/// Errors and limits.
impl Parser<'_> {
    #[cold]
    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if diagnostic.code != Code::SYNTAX || !self.follows_fault() {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// Returns true if one of the last tokens, or the text between them and the current one, has been reported as
    /// wrong.
    fn follows_fault(&self) -> bool {
        let first = self.token(self.at.saturating_sub(2)).span;
        let around = first.to(self.span());
        self.faults.iter().any(|fault| fault.lo <= around.hi && around.lo <= fault.hi)
    }

    /// Returns true if an error points at the current token.
    #[cold]
    pub fn is_told_here(&self) -> bool {
        let here = self.span();
        self.diagnostics.iter().any(|told| told.severity == Severity::Error && told.span() == here)
    }

    /// Takes no more syntax errors at the current token.
    pub fn mark_fault(&mut self) {
        self.faults.push(self.span());
    }

    pub fn sources(&self) -> &SourceMap {
        self.sources
    }

    /// Reports that `what` was expected at the current token, or the misspelt keyword that caused this expectation.
    #[cold]
    pub fn expected(&mut self, what: &str) -> Reported {
        let diagnostic = match self.misspelt_keyword() {
            Some(misspelt) => misspelt.with(self.span(), format!("expected {what}")),
            None => {
                let diagnostic = self.unexpected(what);
                self.with_habit(diagnostic)
            }
        };
        self.report(diagnostic)
    }

    /// The message that `what` was expected at the current token.
    #[cold]
    pub fn unexpected(&mut self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        Diagnostic::error(Code::SYNTAX, message).at(self.span(), format!("expected {what}"))
    }

    /// The current token, as a message names it.
    fn found(&mut self) -> String {
        match self.kind() {
            TokenKind::Word(symbol) => self.found_word(symbol),
            TokenKind::Literal(_) => "a number".to_owned(),
            TokenKind::String(_) => "a string".to_owned(),
            TokenKind::Punct(punct) => format!("`{}`", punct.text()),
            TokenKind::End => "the end of the file".to_owned(),
        }
    }

    fn found_word(&mut self, symbol: Symbol) -> String {
        let text = self.interner.text(symbol);
        match self.classes.of(symbol) {
            WordClass::Type => format!("the type `{text}`"),
            WordClass::Reserved => format!("the reserved word `{text}`"),
            WordClass::Qualifier(_) | WordClass::Keyword(_) | WordClass::Bool(_) => format!("the keyword `{text}`"),
            _ => format!("`{text}`"),
        }
    }

    /// True from an error about nesting until its statement is skipped.
    pub fn is_overflowed(&self) -> bool {
        self.overflowed
    }

    /// Runs a production one level deeper, or reports that it is too deep.
    pub fn nested<T>(&mut self, production: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting == MAX_NESTING {
            self.overflowed = true;
            let message = format!("nesting is deeper than {MAX_NESTING} levels");
            return Err(self.report(Diagnostic::error(Code::TOO_DEEP, message).at(self.span(), "too deep here")));
        }
        self.nesting += 1;
        let result = production(self);
        self.nesting -= 1;
        result
    }
}

/// Building the tree.
impl Parser<'_> {
    /// Adds an expression unless its tree becomes too high. Inlined, because callers know the kind.
    #[inline(always)]
    pub fn expr(&mut self, kind: ExprKind, span: Span) -> Parsed<ExprId> {
        let height = self.height(kind);
        if height > MAX_HEIGHT {
            return Err(self.too_high());
        }
        self.heights.push(height);
        Ok(self.ast.exprs.push(Expr { kind, span }))
    }

    #[cold]
    fn too_high(&mut self) -> Reported {
        let message = format!("an expression has more than {MAX_HEIGHT} operations in a chain");
        let diagnostic = Diagnostic::error(Code::TOO_DEEP, message).at(self.last_span(), "the chain is too long here");
        self.report(diagnostic.note("split it into several statements"))
    }

    /// The height of the tree. Left-leaning chains, such as `a + b + c`, are walked without recursion, so only the
    /// right operands count.
    #[inline(always)]
    fn height(&self, kind: ExprKind) -> u16 {
        let of = |id: ExprId| self.heights[id.index()];
        let highest = |list: List<ExprId>| self.ast[list].iter().map(|id| of(*id)).max().unwrap_or(0);
        match kind {
            ExprKind::Literal(_) | ExprKind::Bool(_) | ExprKind::String(_) | ExprKind::Name(_) => 1,
            ExprKind::Unary { operand, .. } | ExprKind::Step { operand, .. } => of(operand) + 1,
            ExprKind::Binary { left, right, .. } | ExprKind::Comma { left, right } => of(left).max(of(right) + 1),
            ExprKind::Assign { target, value, .. } => of(target).max(of(value)) + 1,
            ExprKind::Conditional { condition, then, otherwise } => of(condition).max(of(then)).max(of(otherwise)) + 1,
            ExprKind::Index { base, index } => of(base).max(of(index)) + 1,
            ExprKind::Field { base, .. } | ExprKind::Length { base } => of(base) + 1,
            ExprKind::Call { args, .. } | ExprKind::Construct { args, .. } | ExprKind::Aggregate(args) => {
                highest(args) + 1
            }
        }
    }

    pub fn expr_span(&self, id: ExprId) -> Span {
        self.ast[id].span
    }

    /// Widens the span of an expression to its parentheses.
    pub fn widen(&mut self, id: ExprId, span: Span) {
        self.ast.exprs[id].span = span;
    }

    /// Collects the items that `fill` pushes with [`Parser::push`] in a list; lists of the same type may nest.
    pub fn list<T: Pooled>(&mut self, fill: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<List<T>> {
        let mark = T::pool(&self.open_lists).len();
        let filled = fill(self);
        let open = T::pool_mut(&mut self.open_lists);
        let list = filled.map(|()| self.ast.pools.append(&open[mark..]));
        open.truncate(mark);
        list
    }

    /// Adds an item to the innermost open list of its type.
    pub fn push<T: Pooled>(&mut self, item: T) {
        T::pool_mut(&mut self.open_lists).push(item);
    }

    /// One or more items between commas.
    pub fn comma_list<T: Pooled>(&mut self, item: fn(&mut Self) -> Parsed<T>) -> Parsed<List<T>> {
        self.list(|p| {
            loop {
                let next = item(p)?;
                p.push(next);
                if !p.eat(Punct::Comma) {
                    return Ok(());
                }
            }
        })
    }
}

/// Skipping after an error.
impl Parser<'_> {
    /// Skips the rest of a statement, member or global declaration that starts at token `start`: past its `;` or its
    /// closing `}`, up to the enclosing `}` or to a word that starts a statement. Always advances, except before a `}`.
    pub fn skip_statement(&mut self, start: usize) {
        // Statements nested in one that is too deep are too deep as well.
        let whole = std::mem::take(&mut self.overflowed);
        let mut around = self.open_braces(start);
        let (mut inside, mut parentheses) = (0usize, 0usize);
        while !self.at_end() && (around + inside > 0 || !self.at(Punct::RightBrace)) {
            if !whole && self.at > start && self.at_statement_keyword() {
                return;
            }
            match self.bump().kind() {
                TokenKind::Punct(Punct::Semicolon) if inside + parentheses == 0 => return,
                // Only for a `for`. Elsewhere a parenthesis may be unmatched, so nothing should depend on it.
                TokenKind::Punct(Punct::LeftParen) if whole => parentheses += 1,
                TokenKind::Punct(Punct::RightParen) => parentheses = parentheses.saturating_sub(1),
                TokenKind::Punct(Punct::LeftBrace) => inside += 1,
                TokenKind::Punct(Punct::RightBrace) => {
                    let closed = if inside > 0 { &mut inside } else { &mut around };
                    *closed -= 1;
                    if around + inside == 0 && !self.continues_after_brace(start) {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Unclosed braces between `start` and the current token.
    fn open_braces(&self, start: usize) -> usize {
        (start..self.at).fold(0, |open: usize, index| match self.token(index).kind() {
            TokenKind::Punct(Punct::LeftBrace) => open + 1,
            TokenKind::Punct(Punct::RightBrace) => open.saturating_sub(1),
            _ => open,
        })
    }

    fn at_statement_keyword(&mut self) -> bool {
        self.keyword().is_some_and(|keyword| !matches!(keyword, Keyword::Struct | Keyword::Else))
    }

    /// True if the statement at `start` continues after its `}`: with the rest of a declaration, or an `else`.
    fn continues_after_brace(&mut self, start: usize) -> bool {
        let punct = [Punct::Semicolon, Punct::Comma, Punct::RightParen].iter().any(|punct| self.at(*punct));
        let of_struct = matches!(self.class_at(start), Some(WordClass::Keyword(Keyword::Struct)));
        punct || of_struct || self.keyword() == Some(Keyword::Else)
    }

    /// Skips past the parentheses that opened at token `open`, or up to an earlier brace or the end.
    pub fn skip_parentheses(&mut self, open: usize) {
        self.at = open;
        let mut depth = 0usize;
        while !self.at_end() && !self.at(Punct::LeftBrace) && !self.at(Punct::RightBrace) {
            match self.bump().kind() {
                TokenKind::Punct(Punct::LeftParen) => depth += 1,
                TokenKind::Punct(Punct::RightParen) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}
