//! Source text in assembly comments and strings, where assemblers only accept ASCII.

use crate::source::{SourceMap, Span};
use std::fmt::Write;

/// Characters of the source that a comment shows.
const SHOWN: usize = 100;

/// The place of an operation in the source and its code, truncated if it is long: `file:line: code`.
pub fn of_source(sources: &SourceMap, span: Span) -> Option<String> {
    let at = sources.locate(span.lo)?;
    let code: String = sources.text(span).chars().take(SHOWN).collect();
    Some(format!("{}:{}: {}", ascii(&at.file), at.line, ascii(&code).trim()))
}

/// A name or a source line in a comment. Control characters become blanks, and non-ASCII characters become `\u{…}` with
/// their hexadecimal code points.
pub fn ascii(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if c.is_control() => made.push(' '),
            _ if c.is_ascii() => made.push(c),
            _ => write!(made, "\\u{{{:x}}}", u32::from(c)).expect("a string takes everything"),
        }
    }
    made
}

/// A name between the quotation marks of LLVM's assembler. Control characters become blanks, and non-ASCII bytes are
/// escaped, so that the program contains the name in UTF-8.
pub fn string(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if c.is_control() => made.push(' '),
            '\\' | '"' => made.extend(['\\', c]),
            _ if c.is_ascii() => made.push(c),
            _ => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    write!(made, "\\{byte:03o}").expect("a string takes everything");
                }
            }
        }
    }
    made
}

#[cfg(test)]
mod tests {
    #[test]
    fn comments_are_one_line_of_ascii() {
        assert_eq!(super::ascii("größe\n.comp\u{85}"), "gr\\u{f6}\\u{df}e .comp ");
        assert_eq!(super::ascii("data[0]"), "data[0]");
    }

    #[test]
    fn strings_escape_bytes() {
        assert_eq!(super::string("größe\n\"\\.comp"), "gr\\303\\266\\303\\237e \\\"\\\\.comp");
    }
}
