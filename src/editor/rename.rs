//! A new name for a local or a function. The shader with the new name is read again: what no longer means the same is refused.

use super::{Analysis, Place, Source};
use crate::compile::{Input, Language};
use crate::glsl::keyword::{WordClass, classify};
use crate::source::{IncludeKind, LoadError, Loaded, Loader, Span};
use crate::symbols::{Declaration, Kind};
use std::collections::BTreeMap;
use std::fmt;

/// Why something cannot be renamed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RenameError {
    /// Nothing that has its own name is there.
    NotHere,
    /// The shader has errors, so that uses of the name may be missing.
    ShaderWrong,
    /// A macro gives the name.
    InMacro,
    /// No name is written so.
    NotAName,
    /// The name would mean something else somewhere.
    Taken,
}

impl fmt::Display for RenameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RenameError::NotHere => "locals, parameters, constants and functions can be renamed",
            RenameError::ShaderWrong => "the shader has errors: uses of the name may be missing",
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
    /// When it cannot.
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
        if !self.is_right() {
            return Err(RenameError::ShaderWrong);
        }
        let by_macro = self.hidden.iter().any(|use_| use_.declared == declaration.name);
        if by_macro || self.is_macro(self.text(declaration.name)) {
            return Err(RenameError::InMacro);
        }
        Ok(declaration)
    }

    /// The places of the name at a position, if all can have the new name.
    ///
    /// # Errors
    /// When they cannot.
    pub fn rename(&self, position: u32, name: &str, source: &Source<'_>) -> Result<Vec<Place>, RenameError> {
        let declaration = self.renamed(position)?;
        if !is_name(name, self.language) {
            return Err(RenameError::NotAName);
        }
        let spans = self.references_of(declaration);
        let mut places: Vec<Place> = spans.iter().filter_map(|span| self.place(*span)).collect();
        places.sort();
        places.dedup();
        let changed = self.with_edits(source, &places, name);
        let counts = |analysis: &Analysis| {
            let (uses, names) = (analysis.uses.len(), analysis.declarations.len());
            (analysis.is_right(), uses, names, analysis.hidden.len(), analysis.messages(source).len())
        };
        let first = places.first().ok_or(RenameError::NotHere)?;
        let again = changed.position(&first.file, first.start).map(|at| changed.references(at).len());
        let is_same = counts(&changed) == counts(self) && again == Some(spans.len());
        if is_same { Ok(places) } else { Err(RenameError::Taken) }
    }

    /// The shader with other text at some places.
    fn with_edits(&self, source: &Source<'_>, places: &[Place], text: &str) -> Analysis {
        let mut files: BTreeMap<&str, String> = BTreeMap::new();
        for place in places.iter().rev() {
            let known = self.sources.files().iter().find(|file| file.name == place.file);
            let Some(known) = known else { continue };
            let edited = files.entry(&place.file).or_insert_with(|| known.text.to_string());
            edited.replace_range(place.start..place.end, text);
        }
        let name = source.input.name;
        let bytes = files.get(name).map_or(source.input.bytes, |text| text.as_bytes());
        let input = Input { bytes, ..source.input };
        let loader = Edited { files: &files, inner: source.loader };
        let edited = Source { input, options: source.options, loader: &loader, is_header: source.is_header };
        let analysis = Analysis::new(&edited);
        // The files with other texts are there for as long as this.
        analysis.compiled(&edited);
        analysis
    }
}

/// Files with other texts.
struct Edited<'a> {
    files: &'a BTreeMap<&'a str, String>,
    inner: &'a dyn Loader,
}

impl Loader for Edited<'_> {
    fn load(&self, name: &str, kind: IncludeKind, from: &str) -> Result<Loaded, LoadError> {
        let loaded = self.inner.load(name, kind, from)?;
        let text = self.files.get(&*loaded.name).map_or(loaded.text, |text| text.as_str().into());
        Ok(Loaded { name: loaded.name, text })
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
