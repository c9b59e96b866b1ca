//! Splits WGSL text into words, numbers and single punctuation characters, for the pass before naga.
//!
//! Comments and blanks are dropped. The lexer accepts everything; naga reports invalid text.

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Word,
    Number,
    /// One other character; operators of several characters are several tokens.
    Punct(u8),
}

/// A token and its byte range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub lo: u32,
    pub hi: u32,
}

impl Token {
    pub(super) fn text(self, source: &str) -> &str {
        &source[self.lo as usize..self.hi as usize]
    }

    pub(super) fn is(self, punct: u8) -> bool {
        self.kind == Kind::Punct(punct)
    }
}

/// The tokens of `source`, without a byte order mark at its start.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let bytes = source.as_bytes();
    let mut list = Vec::with_capacity(bytes.len() / 3);
    let mut at = if source.starts_with('\u{FEFF}') { 3 } else { 0 };
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C => at + 1,
            b'/' if bytes.get(at + 1) == Some(&b'/') => line_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => comment_end(bytes, at),
            b'0'..=b'9' => number_end(bytes, at),
            _ if is_word(byte) => word_end(bytes, at),
            _ => at + 1,
        };
        if let Some(kind) = kind(byte, at - start) {
            list.push(Token { kind, lo: start as u32, hi: at as u32 });
        }
    }
    list
}

/// The kind of the token that starts with `first` and has `len` bytes; `None` for blanks and comments.
fn kind(first: u8, len: usize) -> Option<Kind> {
    match first {
        b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C => None,
        b'/' if len > 1 => None,
        b'0'..=b'9' => Some(Kind::Number),
        _ if is_word(first) => Some(Kind::Word),
        _ => Some(Kind::Punct(first)),
    }
}

/// Non-ASCII letters count as parts of words (WGSL 3.7, XID).
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| !is_word(*b)).map_or(bytes.len(), |n| from + n)
}

/// A number runs through digits, letters and points, and through the sign of an exponent.
fn number_end(bytes: &[u8], from: usize) -> usize {
    let hex = matches!(bytes.get(from + 1), Some(b'x' | b'X'));
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        let exponent =
            matches!(bytes[at.saturating_sub(1)] | 0x20, b'p') || !hex && bytes[at.saturating_sub(1)] | 0x20 == b'e';
        let part = byte.is_ascii_alphanumeric() || byte == b'.' || matches!(byte, b'+' | b'-') && exponent && at > from;
        if !part {
            break;
        }
        at += 1;
    }
    at
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| from + n)
}

/// Block comments nest (WGSL 3.6); an unterminated one extends to the end of the text.
fn comment_end(bytes: &[u8], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0usize);
    while at < bytes.len() {
        let step = match &bytes[at..bytes.len().min(at + 2)] {
            b"/*" => {
                depth += 1;
                2
            }
            b"*/" => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).into_iter().map(|token| token.text(source)).collect()
    }

    #[test]
    fn comments_nest_and_vanish() {
        assert_eq!(texts("a /* b /* c */ d */ e // f\ng /* h"), ["a", "e", "g"]);
        assert_eq!(texts("a / b"), ["a", "/", "b"]);
    }

    #[test]
    fn numbers_keep_their_exponents() {
        assert_eq!(texts("1e-5f+0x1p-3 0xe-3 1.5"), ["1e-5f", "+", "0x1p-3", "0xe", "-", "3", "1.5"]);
    }

    #[test]
    fn words_may_be_foreign() {
        assert_eq!(texts("réflexion(x)"), ["réflexion", "(", "x", ")"]);
    }
}
