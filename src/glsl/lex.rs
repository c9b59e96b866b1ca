//! Bytes to preprocessing tokens, on demand and in one pass.
//!
//! Joins continued lines, accepts LF, CRLF and CR, and skips a byte order mark. Invalid text (a NUL byte, a non-ASCII
//! character, an unterminated comment) becomes [`PpKind::Invalid`], so that it causes no error in excluded groups. The
//! lexer does not interpret directives, macros or numbers.

use super::chunk;
use super::token::{Interner, Packed, Punct, Symbol};
use crate::source::{IncludeKind, Span};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The kind of a preprocessing token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PpKind {
    Word(Symbol),
    /// The spelling of a number, not yet checked.
    Number(Symbol),
    /// The body of a string literal.
    String(Symbol),
    Punct(Punct),
    /// `#`
    Hash,
    /// `##`
    Paste,
    /// In a macro body only: the parameter of that index.
    Parameter(u32),
    Invalid(Invalid),
    End,
}

/// Why no token could be formed. As large as the other contents of a [`PpKind`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Invalid {
    Nul,
    NonAscii,
    Character,
    Comment,
    String,
    /// A string with bytes that are not UTF-8.
    NotUtf8,
}

impl Invalid {
    /// In their order.
    const ALL: [Invalid; 6] =
        [Invalid::Nul, Invalid::NonAscii, Invalid::Character, Invalid::Comment, Invalid::String, Invalid::NotUtf8];
}

/// A preprocessing token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PpToken {
    /// See [`Self::kind`].
    pub packed: Packed,
    pub span: Span,
    /// White space or a comment precedes it.
    pub spaced: bool,
    /// True for the first token of a line.
    pub first: bool,
    /// It names a macro within that macro's own expansion and is never expanded again.
    pub painted: bool,
}

/// In a [`PpToken`] only.
const HASH: u32 = Packed::OTHER;
const PASTE: u32 = Packed::OTHER + 1;
const PARAMETER: u32 = Packed::OTHER + 2;
const INVALID: u32 = Packed::OTHER + 3;

impl PpKind {
    #[inline(always)]
    const fn packed(self) -> Packed {
        match self {
            PpKind::Word(Symbol(index)) => Packed::new(Packed::WORD, index),
            PpKind::Number(Symbol(index)) => Packed::new(Packed::NUMBER, index),
            PpKind::String(Symbol(index)) => Packed::new(Packed::STRING, index),
            PpKind::Punct(punct) => Packed::new(Packed::PUNCT, punct as u32),
            PpKind::Hash => Packed::new(HASH, 0),
            PpKind::Paste => Packed::new(PASTE, 0),
            PpKind::Parameter(index) => Packed::new(PARAMETER, index),
            PpKind::Invalid(reason) => Packed::new(INVALID, reason as u32),
            PpKind::End => Packed::new(Packed::END, 0),
        }
    }

    /// How it is written.
    pub fn spelling(self, interner: &Interner) -> Cow<'_, str> {
        match self {
            PpKind::Word(symbol) | PpKind::Number(symbol) => interner.text(symbol).into(),
            PpKind::String(body) => format!("\"{}\"", interner.text(body)).into(),
            PpKind::Punct(punct) => punct.text().into(),
            PpKind::Hash => "#".into(),
            PpKind::Paste => "##".into(),
            PpKind::Parameter(_) | PpKind::Invalid(_) | PpKind::End => "".into(),
        }
    }
}

impl PpToken {
    /// The token at the end of a list.
    pub const END: PpToken =
        PpToken { packed: PpKind::End.packed(), span: Span::NONE, spaced: false, first: true, painted: false };

    #[inline(always)]
    pub const fn kind(&self) -> PpKind {
        let payload = self.packed.payload();
        match self.packed.tag() {
            Packed::WORD => PpKind::Word(Symbol(payload)),
            Packed::NUMBER => PpKind::Number(Symbol(payload)),
            Packed::STRING => PpKind::String(Symbol(payload)),
            Packed::PUNCT => PpKind::Punct(Punct::ALL[payload as usize]),
            HASH => PpKind::Hash,
            PASTE => PpKind::Paste,
            PARAMETER => PpKind::Parameter(payload),
            INVALID => PpKind::Invalid(Invalid::ALL[payload as usize]),
            _ => PpKind::End,
        }
    }

    /// The token with another kind.
    pub const fn with(self, kind: PpKind) -> PpToken {
        PpToken { packed: kind.packed(), ..self }
    }

    pub fn is(&self, punct: Punct) -> bool {
        self.packed == PpKind::Punct(punct).packed()
    }

    /// The word, if it is one.
    #[inline(always)]
    pub fn word(&self) -> Option<Symbol> {
        (self.packed.tag() == Packed::WORD).then_some(Symbol(self.packed.payload()))
    }
}

/// A place where a backslash and a newline were removed.
#[derive(Clone, Copy, Debug)]
struct Splice {
    /// Offset in the joined text.
    at: u32,
    /// Bytes removed up to here.
    removed: u32,
}

/// A position that a [`Lexer`] can return to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    at: usize,
    first: bool,
}

/// Reads the tokens of one file.
#[derive(Debug)]
pub struct Lexer {
    /// The text with continued lines joined.
    text: Arc<str>,
    base: u32,
    splices: Vec<Splice>,
    place: Mark,
}

/// The state of a [`Lexer`] at work, on the stack, so that it stays in registers from token to token.
#[derive(Clone, Copy)]
struct Cursor<'t> {
    text: &'t str,
    base: u32,
    splices: &'t [Splice],
    at: usize,
    first: bool,
}

/// The class of a byte, by the token that it can start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Newline,
    Word,
    Digit,
    Quote,
    Hash,
    /// `/`: an operator or a comment.
    Slash,
    /// `.`: an operator or a number.
    Dot,
    /// An operator that may be longer than this byte.
    Punct,
    /// An operator of one byte.
    Single,
    Bad,
}

/// An unterminated comment that starts at this offset.
struct Endless(usize);

static CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut table = [Class::Bad; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match (byte as u8, OPERATORS[byte]) {
            (b' ' | b'\t' | 0x0b | 0x0c, _) => Class::Space,
            (b'\n' | b'\r', _) => Class::Newline,
            (b'a'..=b'z' | b'A'..=b'Z' | b'_', _) => Class::Word,
            (b'0'..=b'9', _) => Class::Digit,
            (b'"', _) => Class::Quote,
            (b'#', _) => Class::Hash,
            (b'/', _) => Class::Slash,
            (b'.', _) => Class::Dot,
            (_, (from, to)) if to > from + 1 => Class::Punct,
            (_, (from, to)) if to > from => Class::Single,
            _ => Class::Bad,
        };
        byte += 1;
    }
    table
}

/// For each byte, the range in [`Punct::ALL`] of the operators that start with it.
static OPERATORS: [(u8, u8); 256] = operators();

const fn operators() -> [(u8, u8); 256] {
    let mut table = [(0, 0); 256];
    let mut index = 0;
    while index < Punct::ALL.len() {
        let byte = Punct::ALL[index].text().as_bytes()[0] as usize;
        if table[byte].1 == 0 {
            table[byte].0 = index as u8;
        }
        table[byte].1 = index as u8 + 1;
        index += 1;
    }
    table
}

/// The bytes that may follow the first one of a word.
static IN_WORD: [bool; 256] = in_word();

const fn in_word() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = matches!(CLASSES[byte], Class::Word | Class::Digit);
        byte += 1;
    }
    table
}

fn is_word(byte: u8) -> bool {
    IN_WORD[byte as usize]
}

impl Lexer {
    /// A lexer for a file whose first byte has the position `base`.
    pub fn new(text: Arc<str>, base: u32) -> Lexer {
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let (text, splices) = join_lines(text);
        Lexer { text, base, splices, place: Mark { at, first: true } }
    }

    /// The next token, across lines.
    pub fn next(&mut self, interner: &mut Interner) -> PpToken {
        self.pass(interner, |_, _| false)
    }

    /// Passes tokens to `take` while it accepts them, and returns the first one that it does not.
    pub fn pass(&mut self, interner: &mut Interner, mut take: impl FnMut(PpToken, &Interner) -> bool) -> PpToken {
        let mut cursor = self.cursor();
        let token = loop {
            let token = cursor.next(interner);
            if !take(token, interner) {
                break token;
            }
        };
        self.place = cursor.mark();
        token
    }

    /// The next token of the current line, or `None` at its end.
    pub fn next_in_line(&mut self, interner: &mut Interner) -> Option<PpToken> {
        let mut cursor = self.cursor();
        let token = cursor.next_in_line(interner);
        self.place = cursor.mark();
        token
    }

    /// The rest of the line, trimmed and without a comment to its end.
    pub fn rest_of_line(&mut self) -> (&str, Span) {
        let mut cursor = self.cursor();
        let part = cursor.rest_of_line();
        let span = cursor.span(part.start, part.end);
        self.place = cursor.mark();
        (&self.text[part], span)
    }

    /// The `"name"` or `<name>` of an `#include`, as written between its quotes.
    pub fn header_name(&mut self) -> Option<(IncludeKind, &str, Span)> {
        let mut cursor = self.cursor();
        let name = cursor.header_name();
        let span = name.as_ref().map(|(_, part)| cursor.span(part.start - 1, part.end + 1));
        self.place = cursor.mark();
        let ((kind, part), span) = name.zip(span)?;
        Some((kind, &self.text[part], span))
    }

    /// Skips lines up to the next one that begins with `#`, and returns that token; [`PpKind::End`] at the end of the
    /// file.
    pub fn skip_group(&mut self, interner: &mut Interner) -> PpToken {
        let mut cursor = self.cursor();
        let token = cursor.skip_group(interner);
        self.place = cursor.mark();
        token
    }

    /// Position of the first byte after the current line.
    pub fn next_line(&self) -> u32 {
        let at = self.place.at;
        let rest = &self.text.as_bytes()[at..];
        let length = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
        self.cursor().position(at + length)
    }

    pub fn mark(&self) -> Mark {
        self.place
    }

    pub fn reset(&mut self, mark: Mark) {
        self.place = mark;
    }

    fn cursor(&self) -> Cursor<'_> {
        let Mark { at, first } = self.place;
        Cursor { text: &self.text, base: self.base, splices: &self.splices, at, first }
    }
}

impl Cursor<'_> {
    fn mark(&self) -> Mark {
        Mark { at: self.at, first: self.first }
    }

    /// Inlined with its callees, so that in [`Lexer::pass`] most tokens never leave the registers.
    #[inline(always)]
    fn next(&mut self, interner: &mut Interner) -> PpToken {
        let before = self.at;
        match self.skip_space(true) {
            Ok(()) => self.token(before, interner),
            Err(comment) => self.endless(comment),
        }
    }

    fn next_in_line(&mut self, interner: &mut Interner) -> Option<PpToken> {
        let before = self.at;
        match self.skip_space(false) {
            Ok(()) if self.at_line_end() => None,
            Ok(()) => Some(self.token(before, interner)),
            Err(comment) => Some(self.endless(comment)),
        }
    }

    fn rest_of_line(&mut self) -> Range<usize> {
        let from = self.at;
        let mut end = from;
        while let Some(byte) = self.byte(self.at) {
            match byte {
                b'\n' | b'\r' => break,
                b'/' if self.byte(self.at + 1) == Some(b'/') => self.skip_to_newline(),
                b'/' if self.byte(self.at + 1) == Some(b'*') => {
                    if self.skip_comment().is_err() {
                        break;
                    }
                }
                _ => {
                    self.at += 1;
                    end = self.at;
                }
            }
        }
        let text = self.text[from..end].trim_start();
        let start = if text.is_empty() { from } else { end - text.len() };
        start..start + text.trim_end().len()
    }

    fn header_name(&mut self) -> Option<(IncludeKind, Range<usize>)> {
        self.skip_space(false).ok()?;
        let start = self.at + 1;
        let (kind, close) = match self.byte(self.at)? {
            b'"' => (IncludeKind::Quoted, b'"'),
            b'<' => (IncludeKind::Angled, b'>'),
            _ => return None,
        };
        let rest = &self.text.as_bytes()[start..];
        let length = rest.iter().position(|byte| [close, b'\n', b'\r'].contains(byte))?;
        if rest[length] != close {
            return None;
        }
        self.at = start + length + 1;
        Some((kind, start..start + length))
    }

    fn skip_group(&mut self, interner: &mut Interner) -> PpToken {
        loop {
            if let Err(comment) = self.skip_line() {
                return self.endless(comment);
            }
            let before = self.at;
            if let Err(comment) = self.skip_space(true) {
                return self.endless(comment);
            }
            if matches!(self.byte(self.at), None | Some(b'#')) {
                return self.token(before, interner);
            }
        }
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn at_line_end(&self) -> bool {
        matches!(self.byte(self.at), None | Some(b'\n' | b'\r'))
    }

    /// Position in the source map of an offset in the joined text.
    fn position(&self, offset: usize) -> u32 {
        let offset = offset as u32;
        let before = self.splices.partition_point(|splice| splice.at <= offset);
        let removed = before.checked_sub(1).map_or(0, |last| self.splices[last].removed);
        self.base + offset + removed
    }

    #[inline(always)]
    fn span(&self, from: usize, to: usize) -> Span {
        if self.splices.is_empty() {
            return Span::new(self.base + from as u32, self.base + to as u32);
        }
        let last = to.max(from + 1) - 1;
        Span::new(self.position(from), self.position(last) + (to - from).min(1) as u32)
    }

    #[inline(always)]
    fn class(&self, at: usize) -> Class {
        self.byte(at).map_or(Class::Bad, |byte| CLASSES[byte as usize])
    }

    /// Skips white space and comments, over newlines if `lines`.
    #[inline(always)]
    fn skip_space(&mut self, lines: bool) -> Result<(), Endless> {
        loop {
            match self.class(self.at) {
                Class::Space => self.at += 1,
                Class::Newline if lines => {
                    self.first = true;
                    // The indentation of the next line.
                    let rest = &self.text.as_bytes()[self.at + 1..];
                    self.at += 1 + rest.first_chunk().map_or(0, |bytes| chunk::spaces(u64::from_le_bytes(*bytes)));
                }
                Class::Slash => match self.byte(self.at + 1) {
                    Some(b'/') => self.skip_to_newline(),
                    Some(b'*') => self.skip_comment()?,
                    _ => return Ok(()),
                },
                _ => return Ok(()),
            }
        }
    }

    fn skip_to_newline(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    }

    fn skip_comment(&mut self) -> Result<(), Endless> {
        let start = self.at;
        match self.text[start + 2..].find("*/") {
            Some(length) => {
                self.at = start + length + 4;
                Ok(())
            }
            None => {
                self.at = self.text.len();
                Err(Endless(start))
            }
        }
    }

    /// Skips to the end of the line, including a comment that spans several lines.
    fn skip_line(&mut self) -> Result<(), Endless> {
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            self.at += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b'/')).unwrap_or(rest.len());
            match (self.byte(self.at), self.byte(self.at + 1)) {
                (Some(b'/'), Some(b'*')) => self.skip_comment()?,
                (Some(b'/'), Some(b'/')) => self.skip_to_newline(),
                (Some(b'/'), _) => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    #[cold]
    fn endless(&mut self, comment: Endless) -> PpToken {
        let Endless(start) = comment;
        self.make(PpKind::Invalid(Invalid::Comment).packed(), start, start + 2, true)
    }

    #[inline(always)]
    fn make(&mut self, packed: Packed, start: usize, end: usize, spaced: bool) -> PpToken {
        let first = std::mem::replace(&mut self.first, false);
        PpToken { packed, span: self.span(start, end), spaced, first, painted: false }
    }

    /// The token at the current position; `before` is the start of the white space before it.
    #[inline(always)]
    fn token(&mut self, before: usize, interner: &mut Interner) -> PpToken {
        let start = self.at;
        let (packed, end) = match self.byte(start) {
            None => {
                self.first = true;
                (PpKind::End.packed(), start)
            }
            Some(byte) => scan(self.text, byte, start, interner),
        };
        self.at = end;
        self.make(packed, start, end, start != before)
    }
}

/// Scans the token that starts with `byte` at `start`; returns it and its end.
#[inline(always)]
fn scan(text: &str, byte: u8, start: usize, interner: &mut Interner) -> (Packed, usize) {
    let next = text.as_bytes().get(start + 1);
    match CLASSES[byte as usize] {
        Class::Word => {
            let end = word_end(text.as_bytes(), start);
            (PpKind::Word(interner.intern_part(text, start, end)).packed(), end)
        }
        Class::Single => (Packed::new(Packed::PUNCT, OPERATORS[byte as usize].0.into()), start + 1),
        Class::Dot if !next.is_some_and(u8::is_ascii_digit) => (PpKind::Punct(Punct::Dot).packed(), start + 1),
        Class::Dot | Class::Digit => number(text, start, interner),
        Class::Punct | Class::Slash => operator(text.as_bytes(), byte, start),
        Class::Quote => string(text, start, interner),
        Class::Hash if next == Some(&b'#') => (PpKind::Paste.packed(), start + 2),
        Class::Hash => (PpKind::Hash.packed(), start + 1),
        Class::Space | Class::Newline | Class::Bad => bad(text.as_bytes(), byte, start),
    }
}

/// The end of the word that starts at `start`.
#[inline(always)]
fn word_end(bytes: &[u8], start: usize) -> usize {
    let first = bytes[start..].first_chunk().map_or(0, |bytes| chunk::word_bytes(u64::from_le_bytes(*bytes)));
    if first > 0 && first < chunk::LEN { start + first } else { long_word_end(bytes, start + first) }
}

/// The end of a word that is longer than a chunk, or near the end of the text.
fn long_word_end(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|byte| is_word(**byte)).count()
}

/// A number with all adjacent letters and digits: at most one point, and a sign after a decimal exponent. A point after
/// a suffix starts a swizzle, as in `0u.xx`.
fn number(text: &str, start: usize, interner: &mut Interner) -> (Packed, usize) {
    let bytes = text.as_bytes();
    let hex = bytes[start] == b'0' && matches!(bytes.get(start + 1), Some(b'x' | b'X'));
    let mut end = start;
    let mut point = hex;
    while let Some(&byte) = bytes.get(end) {
        if !is_word(byte) {
            let signed = !hex && matches!(byte, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E');
            let first_point = byte == b'.' && !point && !ends_in_suffix(&bytes[start..end]);
            point |= first_point;
            if !(signed || first_point) {
                break;
            }
        }
        end += 1;
    }
    (PpKind::Number(interner.intern_part(text, start, end)).packed(), end)
}

/// Returns true for digits that an integer's suffix or an exponent follows.
fn ends_in_suffix(number: &[u8]) -> bool {
    number.iter().any(u8::is_ascii_alphabetic)
}

/// The longest operator at the current position.
#[inline(always)]
fn operator(bytes: &[u8], byte: u8, start: usize) -> (Packed, usize) {
    let (from, to) = OPERATORS[byte as usize];
    // The last candidate is the byte itself.
    let [longer @ .., single] = &Punct::ALL[from as usize..to as usize] else { return bad(bytes, byte, start) };
    match bytes.get(start + 1) {
        Some(next) if CLASSES[*next as usize] == Class::Punct => longest(&bytes[start..], longer, *single, start),
        _ => (PpKind::Punct(*single).packed(), start + 1),
    }
}

fn longest(rest: &[u8], longer: &[Punct], single: Punct, start: usize) -> (Packed, usize) {
    let fits = |punct: &&Punct| rest.starts_with(punct.text().as_bytes());
    let punct = *longer.iter().find(fits).unwrap_or(&single);
    (PpKind::Punct(punct).packed(), start + punct.text().len())
}

fn string(text: &str, start: usize, interner: &mut Interner) -> (Packed, usize) {
    let bytes = text.as_bytes();
    let mut end = start + 1;
    loop {
        match bytes.get(end) {
            Some(b'"') if text[start..end].contains(char::REPLACEMENT_CHARACTER) => {
                return (PpKind::Invalid(Invalid::NotUtf8).packed(), end + 1);
            }
            Some(b'"') => {
                return (PpKind::String(interner.intern_part(text, start + 1, end)).packed(), end + 1);
            }
            Some(b'\\') if bytes.get(end + 1).is_some_and(|next| !matches!(next, b'\n' | b'\r')) => end += 2,
            None | Some(b'\n' | b'\r') => return (PpKind::Invalid(Invalid::String).packed(), end),
            Some(_) => end += 1,
        }
    }
}

/// A run of characters with the same error.
#[cold]
fn bad(bytes: &[u8], byte: u8, start: usize) -> (Packed, usize) {
    let alike = |other: &u8| CLASSES[*other as usize] == Class::Bad && reason(*other) == reason(byte);
    let length = bytes[start..].iter().take_while(|other| alike(other)).count();
    (PpKind::Invalid(reason(byte)).packed(), start + length)
}

fn reason(byte: u8) -> Invalid {
    match byte {
        0 => Invalid::Nul,
        0x80.. => Invalid::NonAscii,
        _ => Invalid::Character,
    }
}

/// Removes every backslash at the end of a line, with its newline (GLSL 4.60 section 3.2).
fn join_lines(text: Arc<str>) -> (Arc<str>, Vec<Splice>) {
    let mut splices = Vec::new();
    // Every byte is examined, which is faster than stopping at the first one, because it needs no branches.
    if !text.bytes().fold(false, |found, byte| found | (byte == b'\\')) {
        return (text, splices);
    }
    let mut joined = String::with_capacity(text.len());
    let (mut from, mut removed) = (0, 0);
    for (at, _) in text.match_indices('\\') {
        let length = newline_length(&text.as_bytes()[at + 1..]);
        if length > 0 {
            joined.push_str(&text[from..at]);
            from = at + 1 + length;
            removed += length as u32 + 1;
            splices.push(Splice { at: joined.len() as u32, removed });
        }
    }
    joined.push_str(&text[from..]);
    (joined.into(), splices)
}

fn newline_length(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// The token of a text, or `None` unless it is exactly one.
pub fn single_token(text: &str, interner: &mut Interner) -> Option<PpKind> {
    let mut lexer = Lexer::new(text.into(), 0);
    let kind = lexer.next(interner).kind();
    let whole = lexer.place.at == text.len() && !matches!(kind, PpKind::Invalid(_) | PpKind::End);
    whole.then_some(kind)
}

#[cfg(test)]
#[path = "lex_tests.rs"]
mod tests;
