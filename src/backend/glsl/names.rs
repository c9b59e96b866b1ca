//! Names of the source as ones that the language takes, each once in its scope.

use crate::glsl::keyword::{Language, WordClass, classify};
use crate::grammar;
use crate::limits;
use rustc_hash::{FxHashMap, FxHashSet};

/// The names of one scope.
#[derive(Clone, Default, Debug)]
pub(super) struct Names {
    taken: FxHashSet<String>,
    /// The last number that was tried for a base, in this scope alone and in this and the outer one.
    last: [FxHashMap<String, u32>; 2],
}

impl Names {
    /// The name as it is where the language takes it and nothing in this scope or `outer` has it, otherwise one like it.
    pub fn unique(&mut self, name: &str, outer: Option<&Names>) -> String {
        let base = spelled(name);
        let mut made = base.clone();
        let is_taken =
            |made: &String| self.taken.contains(made) || outer.is_some_and(|outer| outer.taken.contains(made));
        if is_taken(&made) {
            let joint = if base.ends_with('_') { "" } else { "_" };
            // No name is ever given back: the numbers up to the last one are taken.
            let last = &mut self.last[usize::from(outer.is_some())];
            let mut number = last.get(&base).copied().unwrap_or(0);
            while is_taken(&made) {
                limits::spend(1);
                number += 1;
                made = format!("{base}{joint}{number}");
            }
            last.insert(base, number);
        }
        limits::write(2 * made.len());
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
