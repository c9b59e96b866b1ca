//! Names of the source as ones that the language takes, each once in its scope.

use crate::glsl::keyword::{Language, WordClass, classify};
use crate::grammar;
use rustc_hash::FxHashSet;

/// The names of one scope.
#[derive(Clone, Default, Debug)]
pub(super) struct Names {
    taken: FxHashSet<String>,
}

impl Names {
    /// The name as it is where the language takes it and nothing in this scope or `outer` has it, otherwise one like it.
    pub fn unique(&mut self, name: &str, outer: Option<&Names>) -> String {
        let base = spelled(name);
        let mut made = base.clone();
        let mut number = 0;
        while self.taken.contains(&made) || outer.is_some_and(|outer| outer.taken.contains(&made)) {
            number += 1;
            let joint = if base.ends_with('_') { "" } else { "_" };
            made = format!("{base}{joint}{number}");
        }
        self.taken.insert(made.clone());
        made
    }
}

/// A name that the language takes: without what it reserves (GLSL 4.60 sections 3.6 and 3.7).
pub(super) fn spelled(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if !(c == '_' && text.ends_with('_')) {
            text.push(c);
        }
    }
    if text.is_empty() {
        text.push_str("unnamed");
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_where_the_language_takes_them() {
        let mut names = Names::default();
        assert_eq!(names.unique("x", None), "x");
        assert_eq!(names.unique("x", None), "x_1");
        assert_eq!(names.unique("texture", None), "texture_x");
        assert_eq!(names.unique("int", None), "int_x");
        assert_eq!(names.unique("a__b", None), "a_b");
        assert_eq!(names.unique("gl_own", None), "v_gl_own");
        assert_eq!(names.unique("größe", None), "gr_e");
    }
}
