//! Words, numbers and signs of the pseudo-code.

use super::value::{Sort, Value};

#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    Word(String),
    Number(Value),
    /// `64'F`: a type before a parenthesis, or in a declaration.
    Type(u32, Sort),
    /// A remark for people in quotes.
    Remark,
    Sign(&'static str),
}

/// The operators, longer ones first.
const SIGNS: [&str; 41] = [
    "<<=", ">>=", "&&", "||", "==", "!=", "<>", "<=", ">=", "<<", ">>", "**", "+=", "-=", "*=", "|=", "&=", "^=", "+:",
    "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", ":", ";", ",", ".", "(", ")", "[", "]",
];

/// Splits a text into tokens, without comments.
pub fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut rest = text;
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, behind)| behind);
            continue;
        }
        let (token, behind) = match first {
            '"' => (Token::Remark, rest[1..].split_once('"').ok_or("a remark does not end")?.1),
            '{' => (Token::Sign("{"), &rest[1..]),
            '}' => (Token::Sign("}"), &rest[1..]),
            '0'..='9' => number(rest)?,
            'a'..='z' | 'A'..='Z' | '_' => word(rest),
            _ => sign(rest)?,
        };
        tokens.push(token);
        rest = behind;
    }
}

fn word(text: &str) -> (Token, &str) {
    let (word, rest) = text.split_at(run(text, |c| c.is_ascii_alphanumeric() || c == '_'));
    (Token::Word(word.to_owned()), rest)
}

fn sign(text: &str) -> Result<(Token, &str), String> {
    let sign = SIGNS.into_iter().find(|sign| text.starts_with(sign));
    let sign = sign.ok_or_else(|| format!("no sign begins {:?}", text.chars().next()))?;
    Ok((Token::Sign(sign), &text[sign.len()..]))
}

/// How many bytes at the beginning fit.
fn run(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|c| !fits(c)).unwrap_or(text.len())
}

/// A number, with its width before an apostrophe or in letters after it as in C.
fn number(text: &str) -> Result<(Token, &str), String> {
    let (digits, rest) = text.split_at(run(text, |c| c.is_ascii_digit()));
    let Some(behind) = rest.strip_prefix('\'') else {
        let (literal, rest) = literal(text)?;
        return Ok((Token::Number(literal.plain()?), rest));
    };
    let width = digits.parse().map_err(|_| "a width is a number")?;
    if behind.starts_with(|c: char| c.is_ascii_digit()) {
        let (literal, rest) = literal(behind)?;
        return Ok((Token::Number(literal.of_width(width)?), rest));
    }
    let (letters, rest) = behind.split_at(run(behind, |c| c.is_ascii_uppercase()));
    Ok((Token::Type(width, Sort::named(letters).ok_or_else(|| format!("no type {letters}"))?), rest))
}

enum Number {
    Whole(u128),
    Float(f64),
}

/// A number without its width, and the letters after it.
struct Literal<'t> {
    number: Number,
    suffix: &'t str,
}

fn literal(text: &str) -> Result<(Literal<'_>, &str), String> {
    if let Some(hex) = text.strip_prefix("0x") {
        let (digits, rest) = hex.split_at(run(hex, |c| c.is_ascii_hexdigit()));
        let value = u128::from_str_radix(digits, 16).map_err(|why| why.to_string())?;
        let (suffix, rest) = rest.split_at(run(rest, |c| "UL".contains(c)));
        return Ok((Literal { number: Number::Whole(value), suffix }, rest));
    }
    let whole = run(text, |c| c.is_ascii_digit());
    let has_fraction = text[whole..].starts_with('.') && text[whole + 1..].starts_with(|c: char| c.is_ascii_digit());
    let len = if has_fraction { whole + 1 + run(&text[whole + 1..], |c| c.is_ascii_digit()) } else { whole };
    let (digits, rest) = text.split_at(len);
    let (suffix, rest) = rest.split_at(run(rest, |c| "ULF".contains(c)));
    let number = match has_fraction {
        true => Number::Float(digits.parse().map_err(|_| "no such number")?),
        false => Number::Whole(digits.parse().map_err(|_| "no such number")?),
    };
    Ok((Literal { number, suffix }, rest))
}

impl Literal<'_> {
    fn plain(self) -> Result<Value, String> {
        let (width, sort) = match self.suffix {
            "" => (32, Sort::Signed),
            "U" => (32, Sort::Unsigned),
            "LL" => (64, Sort::Signed),
            "ULL" => (64, Sort::Unsigned),
            "F" => (32, Sort::Float),
            other => return Err(format!("no number ends with {other}")),
        };
        Ok(match self.number {
            Number::Float(value) => Value::float(value, if sort == Sort::Float { 32 } else { 64 }),
            Number::Whole(value) => Value::new(value, width, sort),
        })
    }

    /// The number for a width that is written before it; a bit or a byte has no sign.
    fn of_width(self, width: u32) -> Result<Value, String> {
        let sort = if self.suffix == "U" || width <= 8 { Sort::Unsigned } else { Sort::Signed };
        match self.number {
            _ if width > 128 => Err(format!("{width} bits are too many")),
            Number::Float(value) => Ok(Value::float(value, width)),
            Number::Whole(value) => Ok(Value::new(value, width, sort)),
        }
    }
}
