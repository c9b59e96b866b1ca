//! Makes text from files and names safe to print. A terminal obeys control characters, and overrides of the writing
//! direction (Unicode Standard Annex #9) show text in an order that differs from the compiler's.

use std::borrow::Cow;

/// Marks and overrides of the writing direction, and separators that end a line on some terminals.
const INVISIBLE: &[char] = &[
    '\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}',
    '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];

/// Returns true if a character has an effect other than its glyph.
pub fn is_hidden(character: char) -> bool {
    character.is_control() || INVISIBLE.contains(&character)
}

/// A visible character for a hidden one: its picture (Unicode block "Control Pictures"), or U+FFFD.
pub fn picture(character: char) -> char {
    match character {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// The text with pictures for hidden characters, so that columns stay the same. Tabs and line feeds stay too.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |c| is_hidden(c) && !matches!(c, '\t' | '\n'))
}

/// A name with pictures for hidden characters, including tabs and line feeds.
pub fn visible_name(name: &str) -> Cow<'_, str> {
    replaced(name, is_hidden)
}

/// JSON with escapes for hidden characters. Outside strings the only such characters are line feeds; inside them,
/// control characters are already escaped (RFC 8259, section 7).
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    let is_wrong = |c| is_hidden(c) && c != '\n';
    if !text.contains(is_wrong) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_wrong(c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn replaced(text: &str, is_wrong: impl Fn(char) -> bool) -> Cow<'_, str> {
    match text.contains(&is_wrong) {
        true => Cow::Owned(text.chars().map(|c| if is_wrong(c) { picture(c) } else { c }).collect()),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(visible("a\x1b[31m\0\x7f\u{9b}\u{202e}\tb\n"), "a␛[31m␀␡\u{fffd}\u{fffd}\tb\n");
        assert_eq!(visible_name("a\tb\n"), "a␉b␊");
        assert!(matches!(visible("grün\tλ\n"), Cow::Borrowed(_)));
    }
}
