//! Tokens as they leave the preprocessor, and the interned words in them.

use crate::source::Span;
use rustc_hash::FxHashMap;

/// An interned identifier or keyword.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(pub u32);

/// The words of one compilation, each stored once.
#[derive(Debug, Default)]
pub struct Interner {
    index: FxHashMap<Box<str>, Symbol>,
    words: Vec<Box<str>>,
}

impl Interner {
    pub fn new() -> Interner {
        Interner::default()
    }

    pub fn intern(&mut self, word: &str) -> Symbol {
        if let Some(symbol) = self.index.get(word) {
            return *symbol;
        }
        let symbol = Symbol(self.words.len() as u32);
        self.words.push(word.into());
        self.index.insert(word.into(), symbol);
        symbol
    }

    /// The symbol of a word that has been seen.
    pub fn get(&self, word: &str) -> Option<Symbol> {
        self.index.get(word).copied()
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        &self.words[symbol.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// A numeric literal (GLSL 4.60 section 4.1.3 and 4.1.4, and the suffixes of the explicit-arithmetic extensions).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Literal {
    /// `width` is 16, 32 or 64; `signed` is false with a `u` suffix. `value` are the bits, zero-extended.
    Int { value: u64, width: u8, signed: bool },
    /// `width` is 16, 32 or 64 (`hf`, `f` or none, `lf`); already rounded to that width.
    Float { value: f64, width: u8 },
}

/// Index into [`TokenStream::literals`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiteralId(pub u32);

/// Operators and punctuation.
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Punct {
    LeftParen, RightParen, LeftBracket, RightBracket, LeftBrace, RightBrace,
    Dot, Comma, Colon, Semicolon, Question,
    Plus, Minus, Star, Slash, Percent, PlusPlus, MinusMinus,
    Bang, Tilde, Amp, Pipe, Caret, ShiftLeft, ShiftRight, AmpAmp, PipePipe, CaretCaret,
    Less, Greater, LessEqual, GreaterEqual, EqualEqual, BangEqual,
    Equal, PlusEqual, MinusEqual, StarEqual, SlashEqual, PercentEqual,
    ShiftLeftEqual, ShiftRightEqual, AmpEqual, PipeEqual, CaretEqual,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TokenKind {
    /// An identifier or a keyword; the parser tells them apart.
    Word(Symbol),
    Literal(LiteralId),
    /// The body of a string literal (GL_EXT_debug_printf), interned.
    String(Symbol),
    Punct(Punct),
    End,
}

/// A token. One that a macro produced has the span of the macro's invocation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// How strongly an extension was asked for (GLSL 4.60 section 3.3, "Preprocessor").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExtensionBehavior {
    Require,
    Enable,
    Warn,
    Disable,
}

/// An `#extension` line. It governs the tokens from index `token` on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExtensionUse {
    pub name: Symbol,
    pub behavior: ExtensionBehavior,
    pub span: Span,
    pub token: u32,
}

/// A `#pragma` line that the preprocessor does not itself obey.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pragma {
    /// The text after `#pragma`, trimmed.
    pub text: Symbol,
    pub span: Span,
    pub token: u32,
}

/// Profile named on the `#version` line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GlslProfile {
    Core,
    Compatibility,
    Es,
}

/// The `#version` line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    /// Such as 450 or 310.
    pub number: u16,
    pub profile: GlslProfile,
    /// [`Span::NONE`] when the shader has none.
    pub span: Span,
}

/// A whole shader after preprocessing.
#[derive(Debug)]
pub struct TokenStream {
    /// Ends with [`TokenKind::End`].
    pub tokens: Vec<Token>,
    pub literals: Vec<Literal>,
    pub version: Version,
    /// In order; `#extension all : …` has the name `all`.
    pub extensions: Vec<ExtensionUse>,
    pub pragmas: Vec<Pragma>,
}
