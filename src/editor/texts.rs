//! A shader with replaced texts.

use super::Source;
use crate::compile::Input;
use crate::source::{IncludeKind, LoadError, Loaded, Loader, SourceMap};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Texts by file name. They take precedence over those of a loader.
pub(super) struct Texts<'a> {
    pub files: BTreeMap<Arc<str>, Arc<str>>,
    inner: &'a dyn Loader,
}

impl<'a> Texts<'a> {
    /// The texts as they were read.
    pub fn of(sources: &SourceMap, inner: &'a dyn Loader) -> Texts<'a> {
        let files = sources.files().iter().map(|file| (file.name.clone(), file.text.clone()));
        Texts { files: files.collect(), inner }
    }

    /// The shader with these texts.
    pub fn source<'s>(&'s self, of: &Source<'s>) -> Source<'s> {
        let own = self.files.get(of.input.name);
        let bytes = own.map_or(of.input.bytes, |text| text.as_bytes());
        let input = Input { bytes, ..of.input };
        Source { input, options: of.options, loader: self, is_header: of.is_header }
    }
}

impl Loader for Texts<'_> {
    fn load(&self, name: &str, kind: IncludeKind, from: &str) -> Result<Loaded, LoadError> {
        let loaded = self.inner.load(name, kind, from)?;
        let text = self.files.get(&*loaded.name).cloned().unwrap_or(loaded.text);
        Ok(Loaded { name: loaded.name, text })
    }
}
