//! Tokens after the preprocessor, and their interned words.

use crate::grammar::key::Key;
use crate::source::Span;
use std::ops::Range;

/// An interned identifier or keyword.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(pub u32);

/// The words of one compilation, each stored once, in one string, so that a new word needs no separate allocation.
#[derive(Debug)]
pub struct Interner {
    text: String,
    words: Vec<Word>,
    /// Hash table with open addressing and a power-of-two number of slots, at least half of them free; 0 marks a free
    /// slot, other values are the symbol plus one.
    slots: Vec<u32>,
}

impl Default for Interner {
    fn default() -> Interner {
        Interner::new()
    }
}

/// A stored word. Words with equal length and key are equal, unless they are longer than the key.
#[derive(Clone, Copy, Debug)]
struct Word {
    key: Key,
    start: u32,
    end: u32,
}

impl Word {
    fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Places at first; a usual shader never grows past them.
const FIRST_SLOTS: usize = 1024;
/// Reserved bytes of text per slot.
const TEXT_PER_SLOT: usize = 4;

impl Interner {
    pub fn new() -> Interner {
        Interner {
            text: String::with_capacity(FIRST_SLOTS * TEXT_PER_SLOT),
            words: Vec::with_capacity(FIRST_SLOTS / 2),
            slots: vec![0; FIRST_SLOTS],
        }
    }

    pub fn intern(&mut self, word: &str) -> Symbol {
        self.intern_part(word, 0, word.len())
    }

    /// Interns `text[start..end]`, which is faster than slicing it first.
    #[inline(always)]
    pub fn intern_part(&mut self, text: &str, start: usize, end: usize) -> Symbol {
        let bytes = text.as_bytes();
        let key = Key::of_part(bytes, start, end);
        match self.find(key, &bytes[start..end]) {
            Ok(symbol) => symbol,
            Err(slot) => self.insert(text, start..end, key, slot),
        }
    }

    /// Separate from the search, which for a known word touches no memory except its slot.
    #[inline(never)]
    fn insert(&mut self, text: &str, part: Range<usize>, key: Key, slot: usize) -> Symbol {
        let start = self.text.len() as u32;
        self.text.push_str(&text[part]);
        self.words.push(Word { key, start, end: self.text.len() as u32 });
        self.slots[slot] = self.words.len() as u32;
        if self.words.len() * 2 > self.slots.len() {
            self.grow();
        }
        Symbol(self.words.len() as u32 - 1)
    }

    /// The word's symbol, or the free slot at which its search ended.
    #[inline(always)]
    fn find(&self, key: Key, word: &[u8]) -> Result<Symbol, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = key.slot(mask);
        while self.slots[slot] != 0 {
            let symbol = Symbol(self.slots[slot] - 1);
            let known = self.words[symbol.0 as usize];
            if known.key == key && known.len() == word.len() && (Key::is_whole(word) || self.is(known, word)) {
                return Ok(symbol);
            }
            slot = (slot + 1) & mask;
        }
        Err(slot)
    }

    #[inline(never)]
    fn is(&self, known: Word, word: &[u8]) -> bool {
        &self.text.as_bytes()[known.start as usize..known.end as usize] == word
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        self.words.reserve(size / 2 - self.words.len());
        self.text.reserve(self.slots.len() * TEXT_PER_SLOT);
        let mut slots = vec![0; size];
        for (index, word) in self.words.iter().enumerate() {
            let mut slot = word.key.slot(size - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = index as u32 + 1;
        }
        self.slots = slots;
    }

    /// The symbol of a word that has been seen.
    pub fn get(&self, word: &str) -> Option<Symbol> {
        self.find(Key::of(word.as_bytes()), word.as_bytes()).ok()
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        let word = self.words[symbol.0 as usize];
        &self.text[word.start as usize..word.end as usize]
    }

    /// The word's text as bytes, which avoids checks of character boundaries.
    pub fn bytes(&self, symbol: Symbol) -> &[u8] {
        let word = self.words[symbol.0 as usize];
        &self.text.as_bytes()[word.start as usize..word.end as usize]
    }

    /// The keys of all words, in the order of their symbols.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = (Symbol, Key)> {
        self.words.iter().enumerate().map(|(index, word)| (Symbol(index as u32), word.key))
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
    /// `width` is 4, 16, 32 or 64 (`fe2m1`, `hf`, `f` or none, `lf`); already rounded to that width.
    Float { value: f64, width: u8 },
}

/// Index into [`TokenStream::literals`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiteralId(pub u32);

macro_rules! puncts {
    ($($name:ident $text:literal)+) => {
        /// Operators and punctuation (GLSL 4.60 sections 3.1 and 5.1). As large as a [`Symbol`], so that a type with
        /// either stays in registers.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u32)]
        pub enum Punct { $($name),+ }

        impl Punct {
            /// All punctuators, grouped by first character, the longest first.
            pub const ALL: &[Punct] = &[$(Punct::$name),+];

            /// How it is written.
            pub const fn text(self) -> &'static str {
                const TEXTS: &[&str] = &[$($text),+];
                TEXTS[self as usize]
            }
        }
    };
}

puncts! {
    LeftParen "(" RightParen ")" LeftBracket "[" RightBracket "]" LeftBrace "{" RightBrace "}"
    Dot "." Comma "," Colon ":" Semicolon ";" Question "?" Tilde "~"
    PlusPlus "++" PlusEqual "+=" Plus "+"
    MinusMinus "--" MinusEqual "-=" Minus "-"
    StarEqual "*=" Star "*"
    SlashEqual "/=" Slash "/"
    PercentEqual "%=" Percent "%"
    AmpAmp "&&" AmpEqual "&=" Amp "&"
    PipePipe "||" PipeEqual "|=" Pipe "|"
    CaretCaret "^^" CaretEqual "^=" Caret "^"
    ShiftLeftEqual "<<=" ShiftLeft "<<" LessEqual "<=" Less "<"
    ShiftRightEqual ">>=" ShiftRight ">>" GreaterEqual ">=" Greater ">"
    EqualEqual "==" Equal "="
    BangEqual "!=" Bang "!"
}

/// A token in one word: its kind in the low bits, and an index or a character code above them. A single word, because
/// an enum with a word is two words, written one by one and copied together, which defeats store forwarding; that took
/// a twentieth of a compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packed(u32);

impl Packed {
    const TAG_BITS: u32 = 4;
    pub const WORD: u32 = 0;
    pub const NUMBER: u32 = 1;
    pub const STRING: u32 = 2;
    pub const PUNCT: u32 = 3;
    pub const END: u32 = 4;
    /// The first tag for private use by a reading stage.
    pub const OTHER: u32 = 5;

    /// `payload` is less than 2^28: there are fewer words than that in sources of
    /// [`SOURCE_LIMIT`](crate::source::SOURCE_LIMIT).
    #[inline(always)]
    pub const fn new(tag: u32, payload: u32) -> Packed {
        Packed(payload << Packed::TAG_BITS | tag)
    }

    #[inline(always)]
    pub const fn tag(self) -> u32 {
        self.0 & ((1 << Packed::TAG_BITS) - 1)
    }

    #[inline(always)]
    pub const fn payload(self) -> u32 {
        self.0 >> Packed::TAG_BITS
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TokenKind {
    /// An identifier or a keyword; the parser distinguishes them.
    Word(Symbol),
    Literal(LiteralId),
    /// The body of a string literal (GL_EXT_debug_printf), interned.
    String(Symbol),
    Punct(Punct),
    End,
}

/// A token. A token from a macro has the span of the macro's invocation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Token {
    packed: Packed,
    pub span: Span,
}

impl TokenKind {
    #[inline(always)]
    pub const fn packed(self) -> Packed {
        match self {
            TokenKind::Word(Symbol(index)) => Packed::new(Packed::WORD, index),
            TokenKind::Literal(LiteralId(index)) => Packed::new(Packed::NUMBER, index),
            TokenKind::String(Symbol(index)) => Packed::new(Packed::STRING, index),
            TokenKind::Punct(punct) => Packed::new(Packed::PUNCT, punct as u32),
            TokenKind::End => Packed::new(Packed::END, 0),
        }
    }
}

impl Token {
    #[inline(always)]
    pub const fn new(kind: TokenKind, span: Span) -> Token {
        Token { packed: kind.packed(), span }
    }

    /// Creates a token from a packed one of an earlier stage: words and operators are the same in all stages.
    #[inline(always)]
    pub const fn packed(packed: Packed, span: Span) -> Token {
        Token { packed, span }
    }

    #[inline(always)]
    pub const fn kind(&self) -> TokenKind {
        let payload = self.packed.payload();
        match self.packed.tag() {
            Packed::WORD => TokenKind::Word(Symbol(payload)),
            Packed::NUMBER => TokenKind::Literal(LiteralId(payload)),
            Packed::STRING => TokenKind::String(Symbol(payload)),
            Packed::PUNCT => TokenKind::Punct(Punct::ALL[payload as usize]),
            _ => TokenKind::End,
        }
    }

    #[inline(always)]
    pub fn is(&self, kind: TokenKind) -> bool {
        self.packed == kind.packed()
    }
}

/// The behavior in an `#extension` line (GLSL 4.60 section 3.3, "Preprocessor").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExtensionBehavior {
    Require,
    Enable,
    Warn,
    Disable,
}

/// An `#extension` line. It applies to the tokens from index `token` on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExtensionUse {
    pub name: Symbol,
    pub behavior: ExtensionBehavior,
    pub span: Span,
    pub token: u32,
}

/// A `#pragma` line that the preprocessor does not handle itself.
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
    /// [`Span::NONE`] if the shader has none.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stored_once_and_found_again() {
        let mut interner = Interner::new();
        assert_eq!(interner.get("a"), None);
        let symbols: Vec<Symbol> = (0..5000).map(|n| interner.intern(&format!("word{n}"))).collect();
        assert_eq!(interner.len(), 5000);
        assert!((0..5000).all(|n| interner.intern(&format!("word{n}")) == symbols[n]));
        assert_eq!(interner.text(symbols[4711]), "word4711");
        assert_eq!(interner.get("word7"), Some(symbols[7]));
    }

    #[test]
    fn operators_that_begin_alike_stand_together_longest_first() {
        let first = |punct: &Punct| punct.text().as_bytes()[0];
        for (at, pair) in Punct::ALL.windows(2).enumerate() {
            if first(&pair[0]) == first(&pair[1]) {
                assert!(pair[0].text().len() >= pair[1].text().len(), "{pair:?}");
            } else {
                assert!(Punct::ALL[at + 2..].iter().all(|later| first(later) != first(&pair[0])), "{pair:?}");
            }
        }
    }
}
