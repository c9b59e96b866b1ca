//! Hover text for the word at a position.

use super::lookup::Named;
use super::words::{self, Builtin};
use super::{Analysis, Source};
use crate::compile::Language;
use crate::explain::prices::{Answer, Priced};
use crate::grammar::{self, Overload};
use crate::source::Span;
use crate::symbols::Declaration;

/// Limit of the signatures shown per function.
const MOST_SIGNATURES: usize = 6;

/// The hover text of a source range, in Markdown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    pub at: Span,
    pub text: String,
}

impl Analysis {
    /// The hover text of the word at a position, with costs for the source's profiles.
    pub fn hover(&self, position: u32, source: &Source<'_>) -> Option<Hover> {
        let word = self.word_at(position)?;
        let mut parts: Vec<String> = Vec::new();
        match self.named(word) {
            Some(Named::Declared(index)) => parts.extend(self.about_declared(&self.known().declarations[index])),
            Some(Named::Macro(defined)) => parts.push(self.code(self.line_of(defined))),
            None if self.directive_of(word).is_some() => parts.extend(about_extension(self.text(word))),
            None if self.follows_point(word) => {}
            None => parts.extend(self.about_builtin(self.text(word))),
        }
        if let Some(priced) = self.priced_at(word, source) {
            parts.push(operation(priced, &self.profiles));
        }
        (!parts.is_empty()).then(|| Hover { at: word, text: parts.join("\n\n") })
    }

    fn code(&self, text: &str) -> String {
        format!("```{}\n{text}\n```", self.tag())
    }

    fn about_declared(&self, declaration: &Declaration) -> Vec<String> {
        let mut parts = vec![self.code(&self.head(declaration))];
        parts.extend(self.comment_above(declaration.whole).filter(|text| !text.is_empty()));
        parts
    }

    /// A declaration without its value or body, on one line.
    pub(super) fn head(&self, declaration: &Declaration) -> String {
        let (before, written) = (self.text(declaration.before), self.text(declaration.written));
        let words = before.split_whitespace().chain(written.split_whitespace());
        let mut text = words.collect::<Vec<_>>().join(" ");
        declaration.inferred.iter().for_each(|ty| text += &format!(": {ty}"));
        if let Some(owner) = declaration.owner.filter(|owner| self.known().by_name.contains_key(owner)) {
            text = format!("{text}; // in {}", self.text(owner));
        }
        text
    }

    /// The line of a place without its line ending.
    fn line_of(&self, at: Span) -> &str {
        let Some((file, range)) = self.sources.resolve(at) else { return "" };
        let text = &self.sources.file(file).text;
        let start = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
        text[start..].lines().next().unwrap_or_default()
    }

    /// The comment lines directly above a declaration.
    fn comment_above(&self, at: Span) -> Option<String> {
        let (file, range) = self.sources.resolve(at)?;
        let text = &self.sources.file(file).text;
        let start = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
        let above: Vec<&str> = text[..start].lines().rev().map_while(|line| line.trim().strip_prefix("//")).collect();
        let lines: Vec<&str> = above.iter().rev().map(|line| line.trim_start_matches('/').trim()).collect();
        Some(lines.join("\n"))
    }

    fn about_builtin(&self, word: &str) -> Vec<String> {
        match self.builtin(word) {
            Some(Builtin::Function(overloads)) => self.about_function(&overloads),
            Some(Builtin::Variable(variable)) => {
                let code = self.code(&words::variable(variable));
                [code, variable.doc.into()].into_iter().chain(words::needs(variable.extensions)).collect()
            }
            Some(Builtin::Constant(constant)) => vec![self.code(&words::constant(constant)), constant.doc.into()],
            Some(Builtin::Type | Builtin::Keyword) | None => Vec::new(),
        }
    }

    fn about_function(&self, overloads: &[&Overload]) -> Vec<String> {
        let mut signatures: Vec<&str> = overloads.iter().map(|overload| overload.signature).collect();
        signatures.dedup();
        let more = signatures.len().saturating_sub(MOST_SIGNATURES);
        signatures.truncate(MOST_SIGNATURES);
        let mut text = signatures.join("\n");
        if more > 0 {
            text += &format!("\n// and {more} more");
        }
        let first = overloads[0];
        let mut parts = vec![self.code(&text), first.doc.to_string()];
        // In WGSL one directive enables all of them.
        if self.language() == Language::Glsl {
            parts.extend(words::needs(first.extensions));
        }
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// The operation that a word calls.
    fn priced_at<'a>(&'a self, word: Span, source: &Source<'_>) -> Option<&'a Priced> {
        let place = self.place(word)?;
        let here = |priced: &&Priced| *priced.file == *place.file && priced.range.contains(&place.start);
        let is_call = matches!(self.builtin(self.text(word)), Some(Builtin::Function(_) | Builtin::Variable(_)));
        if !is_call || self.known().by_name.contains_key(&word) {
            return None;
        }
        // The shortest of nested operations is the call itself.
        self.prices(source).iter().filter(here).min_by_key(|priced| priced.range.len())
    }
}

fn about_extension(name: &str) -> Option<String> {
    let extension = grammar::extension(name)?;
    Some(format!("`{}`: {}", extension.name, extension.doc))
}

/// The meaning of an operation, and a table of its code on the profiles.
fn operation(priced: &Priced, profiles: &[String]) -> String {
    let mut text = format!("{}: `{}`\n\n", crate::explain::text::capital(&priced.meaning), priced.formula);
    text += "| profile | plan | instructions | cycles | registers |\n|---|---|---:|---:|---:|\n";
    for (name, answer) in profiles.iter().zip(&priced.answers) {
        let row = match answer {
            Answer::Planned { rule, cost, narrower } => {
                let registers = match (cost.vectors, cost.scalars) {
                    (vectors, 0) => vectors.to_string(),
                    (vectors, scalars) => format!("{vectors} + {scalars} scalar"),
                };
                let cycles = if cost.latency > 0 { cost.latency.to_string() } else { String::new() };
                let narrower = narrower.map(|extent| format!("; in narrower subgroups {}: {extent}", extent.means()));
                let narrower = narrower.unwrap_or_default();
                format!("{rule}{narrower} | {} | {cycles} | {registers}", cost.instructions)
            }
            Answer::Spanning(extent) => {
                let cycles = if extent.latency > 0 { extent.latency.to_string() } else { String::new() };
                format!("{}: {extent} | {} | {cycles} |", extent.means(), extent.instructions)
            }
            Answer::Refused(reason) => format!("no: {reason} | | |"),
            Answer::Gone => "nothing is left of it | 0 | |".into(),
            Answer::Absent => "not in the source for it | | |".into(),
        };
        text += &format!("| {name} | {row} |\n");
    }
    text
}

/// A cost in a few words, or `None` if the profile has no costs.
pub fn price(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Planned { cost, .. } if cost.latency > 0 => {
            Some(format!("{} instr, {} cycles", cost.instructions, cost.latency))
        }
        Answer::Planned { cost, .. } => Some(format!("{} instr", cost.instructions)),
        Answer::Spanning(extent) => Some(extent.to_string()),
        Answer::Refused(_) => Some("not possible".into()),
        Answer::Gone => Some("free".into()),
        Answer::Absent => None,
    }
}
