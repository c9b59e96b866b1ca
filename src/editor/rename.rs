//! Renames a local or a function. The renamed shader is parsed again, and the change is refused if any name changes its
//! meaning.

use super::texts::Texts;
use super::{Analysis, Place, Resolved, Source};
use crate::compile::Language;
use crate::glsl::keyword::{WordClass, classify};
use crate::source::Span;
use crate::symbols::{Declaration, Kind};
use std::fmt;

/// Why something cannot be renamed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RenameError {
    /// No name that can be changed is at this position.
    NotHere,
    /// The name comes from a macro.
    InMacro,
    /// The new name is not an identifier.
    NotAName,
    /// The new name would change the meaning of some code.
    Taken,
}

impl fmt::Display for RenameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RenameError::NotHere => "locals, parameters, constants and functions can be renamed",
            RenameError::InMacro => "a macro uses the name",
            RenameError::NotAName => "not a name",
            RenameError::Taken => "the name is taken: the shader would change",
        })
    }
}

impl Analysis {
    /// The name at a position, if it can be renamed.
    ///
    /// # Errors
    /// Returns an error if the name cannot be renamed.
    pub fn can_rename(&self, position: u32) -> Result<Span, RenameError> {
        self.renamed(position)?;
        self.word_at(position).ok_or(RenameError::NotHere)
    }

    fn renamed(&self, position: u32) -> Result<&Declaration, RenameError> {
        let declaration = self.declaration_at(position).ok_or(RenameError::NotHere)?;
        let is_meant =
            matches!(declaration.kind, Kind::Function | Kind::Parameter | Kind::Local | Kind::Constant | Kind::Global);
        if !is_meant || self.text(declaration.name) == "main" {
            return Err(RenameError::NotHere);
        }
        let by_macro = self.known().hidden.iter().any(|use_| use_.declared == declaration.name);
        if by_macro || self.is_macro(self.text(declaration.name)) {
            return Err(RenameError::InMacro);
        }
        Ok(declaration)
    }

    /// The places of the name at a position, if all can have the new name.
    ///
    /// # Errors
    /// Returns an error if a place cannot have the new name.
    pub fn rename(&self, position: u32, name: &str, source: &Source<'_>) -> Result<Vec<Place>, RenameError> {
        let declaration = self.renamed(position)?;
        if !is_name(name, self.language) {
            return Err(RenameError::NotAName);
        }
        let spans = self.references_of(declaration);
        let mut places: Vec<Place> = spans.iter().filter_map(|span| self.place(*span)).collect();
        places.sort();
        places.dedup();
        let is_free = if self.is_right() { self.stays_right(source, &places, name) } else { !self.is_word(name) };
        if is_free { Ok(places) } else { Err(RenameError::Taken) }
    }

    /// Returns true if the renamed shader means the same.
    fn stays_right(&self, source: &Source<'_>, places: &[Place], name: &str) -> bool {
        let changed = self.with_edits(source, places, name);
        let counts = |analysis: &Analysis| {
            let Resolved { declarations, uses, hidden, .. } = &analysis.own;
            let messages = analysis.messages(source).len();
            (analysis.is_right(), uses.len(), declarations.len(), hidden.len(), messages)
        };
        let count = |analysis: &Analysis, at: Option<u32>| at.map(|at| analysis.references(at).len());
        let Some(first) = places.first() else { return false };
        let at = |analysis: &Analysis| analysis.position(&first.file, first.start);
        counts(&changed) == counts(self) && count(&changed, at(&changed)) == count(self, at(self))
    }

    /// Returns true if the shader contains a word. In a shader with errors its meaning is unknown.
    fn is_word(&self, text: &str) -> bool {
        self.words().any(|word| self.text(word) == text)
    }

    /// Applies edits to the shader, from the last to the first.
    fn with_edits(&self, source: &Source<'_>, places: &[Place], text: &str) -> Analysis {
        let mut texts = Texts::of(&self.sources, source.loader);
        for place in places.iter().rev() {
            if let Some(known) = texts.files.get_mut(&place.file) {
                *known = [&known[..place.start], text, &known[place.end..]].concat().into();
            }
        }
        let edited = texts.source(source);
        let analysis = Analysis::new(&edited);
        // The files with other texts are there for as long as this.
        analysis.compiled(&edited);
        analysis
    }
}

fn is_name(name: &str, language: Language) -> bool {
    let mut letters = name.chars();
    let starts = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    let is_word = starts && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_free = match language {
        Language::Glsl => {
            let class = classify(name, crate::glsl::keyword::Language::Desktop);
            matches!(class, WordClass::Identifier) && !name.starts_with("gl_")
        }
        Language::Wgsl => !naga::keywords::wgsl::RESERVED.contains(&name) && name != "_" && !name.starts_with("__"),
    };
    is_word && is_free
}
