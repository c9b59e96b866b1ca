//! The built-in words of the languages, from their tables: signatures, types and documentation.

use super::Analysis;
use crate::compile::Language;
use crate::glsl::keyword::{self, WordClass};
use crate::glsl::types::{display, type_name};
use crate::grammar::{self, Constant, ExtensionSet, Overload, Variable};
use crate::ir::{Constants, Types};
use crate::source::SourceLanguage;
use naga::keywords::wgsl::RESERVED;

/// A built-in word.
pub(super) enum Builtin {
    Function(Vec<&'static Overload>),
    Variable(&'static Variable),
    Constant(&'static Constant),
    Type,
    Keyword,
}

impl Analysis {
    /// The built-in meaning of a word.
    pub(super) fn builtin(&self, word: &str) -> Option<Builtin> {
        match self.language {
            Language::Glsl => glsl(word, self.words_of()),
            Language::Wgsl => wgsl(word),
        }
    }

    pub(super) fn words_of(&self) -> keyword::Language {
        match self.sources.language {
            SourceLanguage::Essl(_) => keyword::Language::Es,
            _ => keyword::Language::Desktop,
        }
    }

    /// The name of the language in Markdown.
    pub(super) fn tag(&self) -> &'static str {
        match self.language {
            Language::Glsl => "glsl",
            Language::Wgsl => "wgsl",
        }
    }
}

fn glsl(word: &str, language: keyword::Language) -> Option<Builtin> {
    let functions: Vec<&Overload> = grammar::functions(word).iter().filter(|overload| overload.glsl).collect();
    if !functions.is_empty() {
        return Some(Builtin::Function(functions));
    }
    if let Some(variable) = grammar::variable(word) {
        return Some(Builtin::Variable(variable));
    }
    if let Some(constant) = grammar::constant(word) {
        return Some(Builtin::Constant(constant));
    }
    match keyword::classify(word, language) {
        WordClass::Type => Some(Builtin::Type),
        WordClass::Identifier => type_name(word).map(|_| Builtin::Type),
        WordClass::Reserved => None,
        _ => Some(Builtin::Keyword),
    }
}

fn wgsl(word: &str) -> Option<Builtin> {
    let functions: Vec<&Overload> = grammar::wgsl_functions(word).collect();
    if !functions.is_empty() {
        return Some(Builtin::Function(functions));
    }
    if let Some(variable) = grammar::wgsl_variable(word) {
        return Some(Builtin::Variable(variable));
    }
    RESERVED.contains(&word).then_some(Builtin::Keyword)
}

/// The declaration of a built-in variable.
pub(super) fn variable(of: &Variable) -> String {
    let mut types = Types::new();
    let ty = of.ty.intern(&mut types);
    let brackets = match of.array {
        None => String::new(),
        Some(0) => "[]".into(),
        Some(len) => format!("[{len}]"),
    };
    format!("{} {}{brackets}", display(&types, &Constants::default(), ty), of.name)
}

pub(super) fn constant(of: &Constant) -> String {
    let numbers: Vec<String> = of.value.iter().map(ToString::to_string).collect();
    match (of.unsigned, numbers.as_slice()) {
        (_, [x, y, z]) => format!("const ivec3 {} = ivec3({x}, {y}, {z})", of.name),
        (true, _) => format!("const uint {} = {}u", of.name, numbers.join(", ")),
        (false, _) => format!("const int {} = {}", of.name, numbers.join(", ")),
    }
}

/// `needs A or B`, if any one of these extensions is required.
pub(super) fn needs(extensions: ExtensionSet) -> Option<String> {
    let names: Vec<String> = extensions.iter().map(|extension| format!("`{}`", extension.name)).collect();
    match names.as_slice() {
        [] => None,
        [.., last] if names.len() > 3 => Some(format!("needs one of {} extensions, such as {last}", names.len())),
        _ => Some(format!("needs {}", names.join(" or "))),
    }
}
