//! The texts open in the editor, which take precedence over the files on disk.

use super::convert::Lines;
use crate::build::files::FileLoader;
use crate::build::read;
use crate::source::{IncludeKind, LoadError, Loaded, Loader};
use lsp_types::{TextDocumentContentChangeEvent, Uri};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// A text open in the editor.
pub struct Document {
    pub uri: Uri,
    /// The editor's name of the language.
    pub language: String,
    pub text: Arc<str>,
    pub version: i32,
}

/// The open texts by their paths.
#[derive(Default)]
pub struct Documents {
    pub open: BTreeMap<PathBuf, Document>,
}

impl Documents {
    pub fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    /// Makes the changes of an edit.
    pub fn change(&mut self, path: &Path, version: i32, changes: Vec<TextDocumentContentChangeEvent>, is_utf8: bool) {
        let Some(document) = self.open.get_mut(path) else { return };
        let mut text = document.text.to_string();
        for change in changes {
            match change.range {
                Some(range) => {
                    let lines = Lines::new(&text, is_utf8);
                    let (start, end) = (lines.offset(range.start), lines.offset(range.end));
                    text.replace_range(start..end.max(start), &change.text);
                }
                None => text = change.text,
            }
        }
        (document.text, document.version) = (text.into(), version);
    }

    /// The text of a file: the editor's version, otherwise the file on disk.
    pub fn text(&self, path: &Path) -> Option<Arc<str>> {
        match self.open.get(path) {
            Some(document) => Some(document.text.clone()),
            None => fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into()),
        }
    }

    /// The editor's name of a path.
    pub fn uri(&self, path: &Path) -> Option<Uri> {
        match self.open.get(path) {
            Some(document) => Some(document.uri.clone()),
            None => uri_of(path),
        }
    }
}

/// Finds includes among the open texts and on disk.
pub struct Overlay<'a> {
    pub documents: &'a Documents,
    pub files: FileLoader,
}

impl Loader for Overlay<'_> {
    fn load(&self, name: &str, kind: IncludeKind, from: &str) -> Result<Loaded, LoadError> {
        let mut tried = Vec::new();
        for path in self.files.candidates(name, kind, from) {
            if let Some(document) = self.documents.get(&path) {
                return Ok(Loaded { name: path.to_string_lossy().into(), text: document.text.clone() });
            }
            let is_small = |found: &fs::Metadata| found.is_file() && found.len() <= read::SHADER_LIMIT;
            if fs::metadata(&path).is_ok_and(|found| is_small(&found))
                && let Some(text) = self.documents.text(&path)
            {
                return Ok(Loaded { name: path.to_string_lossy().into(), text });
            }
            tried.push(path.display().to_string());
        }
        Err(LoadError::NotFound(tried))
    }
}

/// The path of a `file:` URI; for other URIs, the whole URI as a name.
pub fn path_of(uri: &Uri) -> PathBuf {
    let text = uri.as_str();
    let Some(rest) = text.strip_prefix("file://") else { return PathBuf::from(text) };
    let path = &rest[rest.find('/').unwrap_or(0)..];
    let decoded = String::from_utf8_lossy(&decode(path)).into_owned();
    // `/C:/a` is a path of Windows.
    let is_drive = decoded.len() > 2 && decoded.as_bytes()[2] == b':';
    PathBuf::from(if is_drive { &decoded[1..] } else { &decoded })
}

fn decode(text: &str) -> Vec<u8> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let escape = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escape.filter(|_| bytes[at] == b'%') {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

fn uri_of(path: &Path) -> Option<Uri> {
    let text = path.to_str()?.replace('\\', "/");
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(byte.into()),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    Uri::from_str(&uri).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_their_uris() {
        for path in ["/a/b c.comp", "/ä/%41.glsl", "/a#b?.wgsl"] {
            let uri = uri_of(Path::new(path)).expect("a URI");
            assert_eq!(path_of(&uri), Path::new(path), "{}", uri.as_str());
        }
        assert_eq!(path_of(&Uri::from_str("untitled:One").unwrap()), Path::new("untitled:One"));
        assert_eq!(path_of(&Uri::from_str("file:///C%3A/a").unwrap()), Path::new("C:/a"));
    }
}
