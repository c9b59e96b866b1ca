//! TextMate grammars: syntax highlighting without a server. The words come from the language tables.

use crate::compile::Language;
use crate::glsl::keyword::{self, WordClass};
use crate::grammar;
use naga::keywords::wgsl::{BUILTIN_IDENTIFIERS, RESERVED};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The grammar of a language, as JSON.
pub fn grammar(language: Language) -> Value {
    let (name, scope, patterns) = match language {
        Language::Glsl => ("GLSL", "source.glsl", glsl()),
        Language::Wgsl => ("WGSL", "source.wgsl", wgsl()),
    };
    json!({
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": name,
        "scopeName": scope,
        "patterns": patterns,
        "repository": { "block-comment": block_comment(language) },
    })
}

fn glsl() -> Vec<Value> {
    let directives = "^\\s*(#)\\s*(\\w*)";
    let directive = json!({
        "begin": directives,
        "end": "$",
        "name": "meta.preprocessor.glsl",
        "beginCaptures": { "1": scope("keyword.control.directive.glsl"), "2": scope("keyword.control.directive.glsl") },
        "patterns": [
            rule("constant.character.escape.line-continuation.glsl", "\\\\$\\n?"),
            line_comment("glsl"),
            { "include": "#block-comment" },
            rule("string.quoted.double.glsl", "\"[^\"\\n]*\"|(?<=include)\\s*<[^>\\n]*>"),
            rule("support.constant.extension.glsl", "\\bGL_\\w+"),
            numbers("glsl"),
        ],
    });
    let words = keyword::words(keyword::Language::Desktop);
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    words.for_each(|(word, class)| groups.entry(scope_of(class)).or_default().push(word));
    let mut patterns = vec![line_comment("glsl"), json!({ "include": "#block-comment" }), directive];
    patterns.push(rule("string.quoted.double.glsl", "\"[^\"\\n]*\""));
    patterns.push(numbers("glsl"));
    patterns.extend(groups.into_iter().map(|(name, words)| rule(&format!("{name}.glsl"), &any(words))));
    let functions =
        grammar::FUNCTIONS.iter().filter(|function| function.overloads.iter().any(|overload| overload.glsl));
    patterns.push(rule("support.function.glsl", &any(functions.map(|function| function.name))));
    patterns.push(rule("support.variable.glsl", &any(grammar::VARIABLES.iter().map(|variable| variable.name))));
    patterns.push(rule("support.constant.glsl", &any(grammar::CONSTANTS.iter().map(|constant| constant.name))));
    patterns.push(rule("entity.name.function.glsl", "\\b[A-Za-z_]\\w*(?=\\s*\\()"));
    patterns
}

/// The scope of a class of words.
const fn scope_of(class: WordClass) -> &'static str {
    match class {
        WordClass::Type => "storage.type",
        WordClass::Qualifier(_) | WordClass::SoftQualifier(_) | WordClass::CallQualifier(_) => "storage.modifier",
        WordClass::Bool(_) => "constant.language",
        WordClass::Reserved => "invalid.illegal.reserved",
        WordClass::Keyword(_) | WordClass::SoftKeyword(_) | WordClass::Identifier => "keyword.control",
    }
}

fn wgsl() -> Vec<Value> {
    let words = RESERVED.iter().copied().filter(|word| !matches!(*word, "true" | "false"));
    let functions = any(grammar::wgsl_function_names().chain(BUILTIN_IDENTIFIERS.iter().copied()));
    vec![
        line_comment("wgsl"),
        json!({ "include": "#block-comment" }),
        json!({
            "match": "^\\s*(enable|requires)\\s+([^;]*)",
            "captures": { "1": scope("keyword.control.wgsl"), "2": scope("support.constant.extension.wgsl") },
        }),
        rule("storage.modifier.attribute.wgsl", "@\\s*[a-z_]+"),
        numbers("wgsl"),
        rule("constant.language.wgsl", "\\b(?:true|false)\\b"),
        rule("keyword.control.wgsl", &any(words)),
        rule("support.function.wgsl", &format!("{functions}(?=\\s*\\()")),
        rule(
            "support.type.wgsl",
            &format!("{}|\\b(?:vec[234][fhiu]|mat[234]x[234][fh])\\b", any(BUILTIN_IDENTIFIERS.iter().copied())),
        ),
        rule("entity.name.function.wgsl", "\\b[A-Za-z_]\\w*(?=\\s*\\()"),
    ]
}

fn scope(name: &str) -> Value {
    json!({ "name": name })
}

fn rule(name: &str, pattern: &str) -> Value {
    json!({ "name": name, "match": pattern })
}

fn line_comment(ending: &str) -> Value {
    rule(&format!("comment.line.double-slash.{ending}"), "//.*$")
}

/// Comments nest in WGSL alone.
fn block_comment(language: Language) -> Value {
    let inner = match language {
        Language::Glsl => json!([]),
        Language::Wgsl => json!([{ "include": "#block-comment" }]),
    };
    json!({ "name": "comment.block", "begin": "/\\*", "end": "\\*/", "patterns": inner })
}

/// Numbers of both languages: hexadecimal, or decimal with fraction, exponent and suffix.
fn numbers(ending: &str) -> Value {
    let decimal = "(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?";
    let pattern = format!("(?<![\\w.])(?:0[xX][0-9a-fA-F]+|{decimal})(?:[uUiIfFhHlLsS]{{1,2}})?\\b");
    rule(&format!("constant.numeric.{ending}"), &pattern)
}

/// A pattern that matches any of these words. Words that differ only in a trailing number share an alternative.
fn any<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut stems: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for word in words {
        let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
        stems.entry(stem).or_default().insert(&word[stem.len()..]);
    }
    let alternative = |(stem, numbers): (&str, BTreeSet<&str>)| match Vec::from_iter(numbers).as_slice() {
        [only] => format!("{stem}{only}"),
        ["", numbers @ ..] => format!("{stem}(?:{})?", numbers.join("|")),
        numbers => format!("{stem}(?:{})", numbers.join("|")),
    };
    format!("\\b(?:{})\\b", stems.into_iter().map(alternative).collect::<Vec<_>>().join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_numbers_are_one() {
        assert_eq!(any(["a", "b8", "b16", "c", "c2"]), "\\b(?:a|b(?:16|8)|c(?:2)?)\\b");
    }
}
