//! Text of the source in comments of assemblies, which assemblers take in ASCII only.

use std::fmt::Write;

/// A name or a line of the source as part of a comment: without line breaks, and with other characters than those of ASCII as
/// `\u{…}`, by their numbers.
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

#[cfg(test)]
mod tests {
    #[test]
    fn comments_are_one_line_of_ascii() {
        assert_eq!(super::ascii("größe\n.comp\u{85}"), "gr\\u{f6}\\u{df}e .comp ");
        assert_eq!(super::ascii("data[0]"), "data[0]");
    }
}
