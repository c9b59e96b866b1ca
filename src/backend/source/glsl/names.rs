//! Names that the language accepts.

use crate::backend::source::names;
use crate::glsl::keyword::{Language, WordClass, classify};
use crate::grammar;

/// A valid name of the language, without reserved words and prefixes (GLSL 4.60 sections 3.6 and 3.7).
pub(super) fn spelled(name: &str) -> String {
    let mut text = names::plain(name);
    if text.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with("gl_") || text.starts_with("GL_") {
        text.insert_str(0, "v_");
    }
    if is_reserved(&text) {
        let joint = if text.ends_with('_') { "x" } else { "_x" };
        text.push_str(joint);
    }
    text
}

fn is_reserved(name: &str) -> bool {
    let is_word = |language| !matches!(classify(name, language), WordClass::Identifier);
    name == "main"
        || name == "defined"
        || name == "VULKAN"
        || is_word(Language::Desktop)
        || is_word(Language::Es)
        || !grammar::functions(name).is_empty()
}
