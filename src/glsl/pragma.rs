//! `#pragma crosslane …`: requests to this compiler, and `#pragma shader_stage`. Other pragmas are for other compilers.

use super::token::{Interner, Pragma, TokenStream};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::FpContract;
use crate::source::Span;

/// The choice of `#pragma crosslane fp_contract(fast|off)` for the whole shader. Contradictory lines are errors, as are
/// unknown `crosslane` pragmas.
pub fn fp_contract(stream: &TokenStream, words: &Interner, diagnostics: &mut Diagnostics) -> Option<FpContract> {
    let mut chosen: Option<(FpContract, Span)> = None;
    for (text, span) in stream.pragmas.iter().filter_map(|pragma| own(pragma, words)) {
        match (choice(text), chosen) {
            (None, _) => diagnostics.push(unknown(text, span)),
            (Some(choice), Some((first, at))) if choice != first => diagnostics.push(contradiction(at, span)),
            (Some(choice), _) => chosen = Some((choice, span)),
        }
    }
    chosen.map(|(choice, _)| choice)
}

/// The word of `#pragma shader_stage(WORD)`.
pub fn shader_stage(text: &str) -> Option<&str> {
    Some(text.strip_prefix("shader_stage")?.trim().strip_prefix('(')?.strip_suffix(')')?.trim())
}

/// The text after `crosslane`.
fn own<'w>(pragma: &Pragma, words: &'w Interner) -> Option<(&'w str, Span)> {
    let (name, text) = words.text(pragma.text).split_once(char::is_whitespace)?;
    (name == "crosslane").then_some((text.trim(), pragma.span))
}

fn choice(text: &str) -> Option<FpContract> {
    let word = text.strip_prefix("fp_contract")?.trim().strip_prefix('(')?.strip_suffix(')')?;
    FpContract::named(word.trim())
}

fn unknown(text: &str, span: Span) -> Diagnostic {
    let message = format!("`#pragma crosslane` does not have `{text}`");
    let known = FpContract::ALL.map(|choice| format!("`fp_contract({})`", choice.word())).join(" and ");
    Diagnostic::error(Code::BAD_DIRECTIVE, message)
        .at(span, "not a pragma of crosslane")
        .note(format!("it has {known}"))
}

fn contradiction(first: Span, second: Span) -> Diagnostic {
    let message = "`fp_contract` holds for the whole shader, and this line contradicts another one";
    Diagnostic::error(Code::BAD_DIRECTIVE, message).at(second, "the second choice").with(first, "the first choice")
}
