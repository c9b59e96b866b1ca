//! Turns names of the source into valid names of the language, unique in their scope.

use super::language::Language;
use crate::limits;
use rustc_hash::{FxHashMap, FxHashSet};

/// The names of one scope.
#[derive(Clone, Debug)]
pub(super) struct Names {
    language: &'static dyn Language,
    taken: FxHashSet<String>,
    /// The last number that was tried for a base: in this scope alone, and in this and the outer one.
    last: [FxHashMap<String, u32>; 2],
}

impl Names {
    pub fn new(language: &'static dyn Language) -> Names {
        Names { language, taken: FxHashSet::default(), last: Default::default() }
    }

    /// The name itself if the language accepts it and it is unused in this scope and `outer`, otherwise a similar one.
    pub fn unique(&mut self, name: &str, outer: Option<&Names>) -> String {
        let base = self.language.spelled(name);
        let mut made = base.clone();
        let is_taken =
            |made: &String| self.taken.contains(made) || outer.is_some_and(|outer| outer.taken.contains(made));
        if is_taken(&made) {
            let joint = if base.ends_with('_') { "" } else { "_" };
            // The numbers up to the last one are in use.
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

/// A name of letters that all languages accept, without two consecutive underscores.
pub(super) fn plain(name: &str) -> String {
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
    text
}

impl Names {
    /// Releases a name whose scope has ended.
    pub fn release(&mut self, name: &str) {
        self.taken.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_where_the_language_takes_them() {
        let profile = crate::profile::Profile::named("glsl-450-khr").unwrap();
        let mut names = Names::new(crate::backend::source::language_of(&profile));
        assert_eq!(names.unique("x", None), "x");
        assert_eq!(names.unique("x", None), "x_1");
        assert_eq!(names.unique("texture", None), "texture_x");
        assert_eq!(names.unique("int", None), "int_x");
        assert_eq!(names.unique("a__b", None), "a_b");
        assert_eq!(names.unique("gl_own", None), "v_gl_own");
        assert_eq!(names.unique("größe", None), "gr_e");
        names.release("x");
        assert_eq!(names.unique("x", None), "x");
        assert_eq!(names.unique("x", None), "x_2");
    }
}
