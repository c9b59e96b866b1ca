//! The words of a line, and the values that they name.

use super::Read;
use crosslane::ir::{Scalar, ScalarKind};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Structs in the printed form of primitives; other names are enum variants.
const STRUCTS: [&str; 4] = ["Dpp16", "Dpp8", "Fetch", "Width"];

/// The rest of a line.
pub struct Words<'t> {
    rest: &'t str,
}

impl<'t> Words<'t> {
    pub fn new(line: &'t str) -> Words<'t> {
        Words { rest: line.trim() }
    }

    pub fn rest(&self) -> &'t str {
        self.rest
    }

    /// Consumes a text if it comes next, and only as a whole word if it is one.
    pub fn eat(&mut self, text: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(text) else { return false };
        if text.ends_with(is_name) && rest.starts_with(is_name) {
            return false;
        }
        self.rest = rest.trim_start();
        true
    }

    pub fn expect(&mut self, text: &str) -> Read<()> {
        if self.eat(text) { Ok(()) } else { Err(format!("`{text}` should come before `{}`", self.rest)) }
    }

    /// Consumes the characters that pass a test.
    fn take(&mut self, is_part: impl Fn(char) -> bool) -> Read<&'t str> {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(format!("a word should come before `{}`", self.rest));
        }
        self.rest = rest.trim_start();
        Ok(word)
    }

    /// Letters, digits and underscores.
    pub fn name(&mut self) -> Read<&'t str> {
        self.take(is_name)
    }

    /// Names with dots between them.
    pub fn word(&mut self) -> Read<&'t str> {
        self.take(|c| is_name(c) || c == '.')
    }

    /// A number with sign, point and exponent.
    pub fn literal(&mut self) -> Read<&'t str> {
        self.take(|c| is_name(c) || "+-.".contains(c))
    }

    pub fn number<T: std::str::FromStr>(&mut self) -> Read<T> {
        let word = self.name()?;
        number(word)
    }

    /// Everything before a text, which is consumed too.
    pub fn until(&mut self, end: &str) -> Read<&'t str> {
        let (before, rest) =
            self.rest.split_once(end).ok_or_else(|| format!("`{end}` should follow in `{}`", self.rest))?;
        self.rest = rest.trim_start();
        Ok(before.trim())
    }

    pub fn end(self) -> Read<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(format!("`{}` is too much", self.rest)) }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub fn number<T: std::str::FromStr>(word: &str) -> Read<T> {
    word.parse().map_err(|_| format!("`{word}` is not such a number"))
}

/// The variant with this name in lower case.
pub fn named<T: DeserializeOwned>(word: &str) -> Read<T> {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    let name: String = word.split('_').filter(|part| !part.is_empty()).map(capital).collect();
    serde_json::from_value(Value::String(name)).map_err(|_| format!("unknown word `{word}`"))
}

/// `f32`, `u16`, `bool`.
pub fn scalar(word: &str) -> Read<Scalar> {
    let kind = match word.chars().next() {
        Some('b') if word == "bool" => return Ok(Scalar::BOOL),
        Some('u') => ScalarKind::Uint,
        Some('i') => ScalarKind::Sint,
        Some('f') => ScalarKind::Float,
        _ => return Err(format!("unknown type `{word}`")),
    };
    match number(&word[1..])? {
        width @ (8 | 16 | 32 | 64) => Ok(Scalar { kind, width }),
        _ => Err(format!("unknown type `{word}`")),
    }
}

/// Reads an enum in the form of Rust's `Debug`: `Shuffle(Xor)`, `Bpermute { reach: Wave, offset: 0 }`.
pub fn debug<T: DeserializeOwned>(words: &mut Words<'_>) -> Read<T> {
    let text = words.rest;
    serde_json::from_value(debug_value(words)?).map_err(|why| format!("`{text}`: {why}"))
}

/// The value in the form that serde writes in JSON.
fn debug_value(words: &mut Words<'_>) -> Read<Value> {
    let name = words.name()?;
    if let Ok(number) = name.parse::<u64>() {
        return Ok(number.into());
    }
    let inner = if words.eat("(") {
        tuple(words)?
    } else if words.eat("{") {
        fields(words)?
    } else {
        return Ok(name.parse::<bool>().map_or_else(|_| name.into(), Value::Bool));
    };
    Ok(if STRUCTS.contains(&name) { inner } else { Value::Object(Map::from_iter([(name.to_owned(), inner)])) })
}

fn tuple(words: &mut Words<'_>) -> Read<Value> {
    let mut parts = vec![debug_value(words)?];
    while words.eat(",") {
        parts.push(debug_value(words)?);
    }
    words.expect(")")?;
    Ok(if parts.len() == 1 { parts.remove(0) } else { Value::Array(parts) })
}

fn fields(words: &mut Words<'_>) -> Read<Value> {
    let mut fields = Map::new();
    while !words.eat("}") {
        let name = words.name()?;
        words.expect(":")?;
        fields.insert(name.to_owned(), debug_value(words)?);
        words.eat(",");
    }
    Ok(Value::Object(fields))
}
