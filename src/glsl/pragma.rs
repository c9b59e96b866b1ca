//! `#pragma crosslane …`: requests to this compiler, and `#pragma shader_stage`. Other pragmas are for other compilers.

use super::token::{Interner, Pragma, TokenStream};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::FpContract;
use crate::profile::WaveSize;
use crate::source::Span;

/// The choices of a shader's `#pragma crosslane` lines, with their places.
#[derive(Clone, Copy, Default)]
pub struct Choices {
    /// `fp_contract(fast|off)`.
    pub fp_contract: Option<(FpContract, Span)>,
    /// `wave_size(32|16..|any)`: all lines hold.
    pub wave_size: Option<(WaveSize, Span)>,
}

impl Choices {
    /// The choices for the whole shader. Contradictory lines are errors, as are unknown `crosslane` pragmas.
    pub fn of(stream: &TokenStream, words: &Interner, diagnostics: &mut Diagnostics) -> Choices {
        let mut choices = Choices::default();
        for (text, span) in stream.pragmas.iter().filter_map(|pragma| own(pragma, words)) {
            diagnostics.take(choices.add(text, span).map_err(|error| vec![error]));
        }
        choices
    }

    fn add(&mut self, text: &str, span: Span) -> Result<(), Diagnostic> {
        if let Some(word) = argument(text, "fp_contract") {
            let choice = FpContract::named(word).ok_or_else(|| unknown(text, span))?;
            let same = |a, b| (a == b).then_some(a);
            return join(&mut self.fp_contract, (choice, span), "fp_contract", same);
        }
        let word = argument(text, "wave_size").ok_or_else(|| unknown(text, span))?;
        let size = word.parse().map_err(|why| not_a_size(word, why, part(text, word, span)))?;
        join(&mut self.wave_size, (size, span), "wave_size", WaveSize::and)
    }
}

/// The size of `#pragma crosslane wave_size(32)`, from the text after `#pragma`.
pub fn fixed_size(text: &str) -> Option<u32> {
    argument(after_name(text)?, "wave_size")?.parse::<WaveSize>().ok()?.lanes()
}

/// The word of `#pragma shader_stage(WORD)`.
pub fn shader_stage(text: &str) -> Option<&str> {
    argument(text, "shader_stage")
}

/// The text after `crosslane`.
fn own<'w>(pragma: &Pragma, words: &'w Interner) -> Option<(&'w str, Span)> {
    Some((after_name(words.text(pragma.text))?, pragma.span))
}

fn after_name(text: &str) -> Option<&str> {
    let (name, text) = text.split_once(char::is_whitespace)?;
    (name == "crosslane").then_some(text.trim())
}

/// The word in `NAME(WORD)`.
fn argument<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    Some(text.strip_prefix(name)?.trim().strip_prefix('(')?.strip_suffix(')')?.trim())
}

/// The place of a part of the text that ends a line.
fn part(text: &str, part: &str, line: Span) -> Span {
    let after = text.len() - (part.as_ptr().addr() - text.as_ptr().addr());
    let start = line.hi - after as u32;
    Span::new(start, start + part.len() as u32)
}

/// Adds a choice to an earlier one. The place is that of the first line that makes the whole choice.
fn join<T: Copy + PartialEq>(
    known: &mut Option<(T, Span)>,
    (new, span): (T, Span),
    name: &str,
    both: impl Fn(T, T) -> Option<T>,
) -> Result<(), Diagnostic> {
    let Some((first, at)) = *known else {
        *known = Some((new, span));
        return Ok(());
    };
    let both = both(first, new).ok_or_else(|| contradiction(name, at, span))?;
    *known = Some((both, if both == first { at } else { span }));
    Ok(())
}

fn unknown(text: &str, span: Span) -> Diagnostic {
    let message = format!("`#pragma crosslane` does not have `{text}`");
    Diagnostic::error(Code::BAD_DIRECTIVE, message)
        .at(span, "not a pragma of crosslane")
        .note("it has `fp_contract(fast|off)` and `wave_size(32|16..|any)`")
}

fn not_a_size(word: &str, why: String, span: Span) -> Diagnostic {
    Diagnostic::error(Code::BAD_DIRECTIVE, format!("`wave_size` does not take `{word}`")).at(span, why)
}

fn contradiction(name: &str, first: Span, second: Span) -> Diagnostic {
    let message = format!("`{name}` holds for the whole shader, and this line contradicts another one");
    Diagnostic::error(Code::BAD_DIRECTIVE, message).at(second, "the second choice").with(first, "the first choice")
}
