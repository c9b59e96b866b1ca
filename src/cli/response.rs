//! `@file`: the words of a file in the place of the argument, as gcc reads them. Words stand between blanks; quotes of
//! either kind hold blanks; a backslash takes the next character as it is. A file that is not there is the word itself.

use super::CommandError;
use std::ffi::OsString;
use std::fs;

/// Files may name files, so deep.
const DEPTH_LIMIT: usize = 16;

/// Puts the words of files in their places.
///
/// # Errors
/// When files name each other without end, or a quote is not closed.
pub fn expand(arguments: Vec<OsString>) -> Result<Vec<OsString>, CommandError> {
    let mut out = Vec::with_capacity(arguments.len());
    for argument in arguments {
        expand_one(argument, 0, &mut out)?;
    }
    Ok(out)
}

fn expand_one(argument: OsString, depth: usize, out: &mut Vec<OsString>) -> Result<(), CommandError> {
    let text = argument.to_str().and_then(|text| text.strip_prefix('@')).map(|file| (file, fs::read_to_string(file)));
    let Some((file, Ok(text))) = text else {
        out.push(argument);
        return Ok(());
    };
    if depth == DEPTH_LIMIT {
        return Err(CommandError(format!("@{file}: files name each other more than {DEPTH_LIMIT} deep")));
    }
    let words = words(&text).map_err(|quote| CommandError(format!("@{file}: a {quote} is not closed")))?;
    words.into_iter().try_for_each(|word| expand_one(word.into(), depth + 1, out))
}

/// The words of a text; the quote that is not closed where one is not.
fn words(text: &str) -> Result<Vec<String>, char> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => word.get_or_insert_default().extend(characters.next()),
            _ if quote == Some(character) => quote = None,
            '\'' | '"' if quote.is_none() => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            _ if quote.is_none() && character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.map_or(Ok(words), Err)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_quoted_as_in_gcc() {
        let read = words("-DA=1  'b c'\n\"d'e\" f\\ g '' x\"y z\"").unwrap();
        assert_eq!(read, ["-DA=1", "b c", "d'e", "f g", "", "xy z"]);
        assert_eq!(words("'a"), Err('\''));
    }
}
