//! `crosslane.toml`: what to build, as it is written. Reads and checks the form; what globs match and whether profiles
//! exist is for `plan` to say. Every error names file, line and column.

use super::super::CommandError;
use super::words::{self, named_in};
use crate::backend::places::{Bound, InputPlace, Place};
use crate::backend::{Manner, Notes, Optimize};
use crate::build::claims::Claims;
use crate::build::files::not_utf8;
use crate::build::read::{self, TEXT_LIMIT};
use crate::diagnostic::warning::Choice;
use crate::ir::{ClipSpace, DepthRange, FpContract};
use crate::wgsl::BoundsChecks;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// A manifest with its text, which errors point into.
pub struct Manifest {
    pub path: PathBuf,
    text: String,
    pub builds: Vec<Build>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    build: Vec<Build>,
}

/// One `[[build]]`: the product of its lists is built.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Build {
    /// Globs, from the manifest's folder.
    pub shaders: Spanned<Vec<Spanned<String>>>,
    pub profiles: Spanned<Vec<Spanned<String>>>,
    /// Macros; one with a list of values is built with each of them.
    #[serde(default)]
    pub defines: BTreeMap<String, Spanned<Values>>,
    /// Lanes of a subgroup, in place of the profiles' own.
    #[serde(default)]
    pub wave_sizes: Vec<Spanned<Lanes>>,
    /// True if shaders whose names differ in the ending alone are the stages of a program, which agree.
    #[serde(default)]
    pub link: bool,
    #[serde(default)]
    pub options: Settings,
    /// Folder of the outputs, from the manifest's folder.
    pub out_dir: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a number of lanes or \"any\"")]
pub enum Lanes {
    Fixed(u32),
    Any(AnyWord),
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum AnyWord {
    #[serde(rename = "any")]
    Any,
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a value of a macro, or a list of them")]
pub enum Values {
    One(Scalar),
    Many(Vec<Scalar>),
}

/// The value of a macro. `true` is 1, `false` leaves it undefined.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    Bool(bool),
    Int(i64),
    Text(String),
}

impl Scalar {
    /// The replacement in `#define NAME`; none if the macro is not to be defined.
    pub fn text(&self) -> Option<String> {
        match self {
            Scalar::Bool(is_defined) => is_defined.then(|| "1".to_string()),
            Scalar::Int(value) => Some(value.to_string()),
            Scalar::Text(text) => Some(text.clone()),
        }
    }
}

/// Options as `crosslane compile` has them.
#[derive(Clone, Default, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// From the manifest's folder.
    pub include_dirs: Vec<PathBuf>,
    pub entry: Option<String>,
    /// WGSL only.
    pub bounds_checks: BoundsChecks,
    pub fp_contract: Option<FpContract>,
    pub flip_y: bool,
    pub depth_range: DepthRange,
    /// Shading languages only.
    pub push_constants: Option<Place>,
    /// Shading languages only: places of resources by `SET:BINDING`.
    pub places: BTreeMap<Bound, Place>,
    /// Shading languages only.
    pub comments: bool,
    /// Shading languages only.
    pub line_directives: bool,
    /// Shading languages only: places of vertex inputs by location.
    #[serde(deserialize_with = "by_location")]
    pub vertex_inputs: BTreeMap<u32, InputPlace>,
    /// MSL only.
    pub argument_buffers: bool,
    pub emit: Emit,
    pub debug: bool,
    /// SPIR-V only.
    pub optimize: Optimize,
    pub reproducible: bool,
    pub deny_warnings: bool,
    pub no_warnings: bool,
    /// Warning options, as after `-W`.
    pub warnings: Vec<Choice>,
}

impl Settings {
    /// The clip space of the positions that are written.
    pub fn clip_space(&self) -> ClipSpace {
        ClipSpace { flip_y: self.flip_y, depth: self.depth_range }
    }

    /// How outputs are written.
    pub fn manner(&self) -> Manner {
        let notes = Notes { comments: self.comments, lines: self.line_directives };
        Manner { optimize: self.optimize, notes, ..Manner::default() }
    }

    /// The choice of contraction for shaders that make none.
    pub fn fp_contract(&self) -> FpContract {
        FpContract::chosen(self.fp_contract, self.reproducible)
    }
}

/// The location of a vertex input as a key.
#[derive(PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct Location(u32);

impl TryFrom<String> for Location {
    type Error = String;

    fn try_from(text: String) -> Result<Location, String> {
        let wrong =
            || format!("`{text}` is not a location: write the number of the vertex input, as in `0 = \"POSITION\"`");
        text.parse().map(Location).map_err(|_| wrong())
    }
}

fn by_location<'de, D: Deserializer<'de>>(reader: D) -> Result<BTreeMap<u32, InputPlace>, D::Error> {
    let places: BTreeMap<Location, InputPlace> = Deserialize::deserialize(reader)?;
    Ok(places.into_iter().map(|(Location(location), place)| (location, place)).collect())
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Emit {
    #[default]
    Binary,
    Assembly,
    Reflection,
}

/// Bytes of the longest line that an error shows.
const LONGEST_LINE: usize = 500;

/// The error of a text that is not a manifest, with its place.
pub struct Wrong {
    /// The text without its meaning.
    pub manifest: Manifest,
    pub span: Range<usize>,
    pub message: String,
}

impl Manifest {
    /// # Errors
    /// When the file cannot be read, is not TOML, or has keys that mean nothing.
    pub fn read(path: &Path, claims: &Claims) -> Result<Manifest, CommandError> {
        if path.to_str().is_none() {
            return Err(CommandError(not_utf8(path)));
        }
        let cannot = |error: &dyn std::fmt::Display| CommandError(format!("cannot read {}: {error}", path.display()));
        let text = claims.read(path, TEXT_LIMIT).and_then(read::utf8).map_err(|error| cannot(&error))?;
        let manifest = Manifest::of(path, text);
        manifest.map_err(|wrong| wrong.manifest.error(wrong.span, &wrong.message))
    }

    /// The manifest of a text.
    ///
    /// # Errors
    /// When it is not TOML, or has keys that mean nothing.
    pub fn of(path: &Path, text: String) -> Result<Manifest, Box<Wrong>> {
        let file: Result<File, toml::de::Error> = toml::from_str(&text);
        let mut manifest = Manifest { path: path.to_path_buf(), text, builds: Vec::new() };
        let wrong = match file {
            Ok(file) => {
                manifest.builds = file.build;
                manifest.check().err()
            }
            Err(error) => Some(words::told(&manifest.text, &error)),
        };
        match wrong {
            Some((span, message)) => Err(Box::new(Wrong { manifest, span, message })),
            None => Ok(manifest),
        }
    }

    /// The keys that a `[[build]]` and its options take.
    pub fn keys() -> Vec<String> {
        let build: Result<File, _> = toml::from_str("[[build]]\n\"\" = 0");
        let options: Result<Settings, _> = toml::from_str("\"\" = 0");
        let errors = [build.err(), options.err()].into_iter().flatten();
        errors.flat_map(|error| named_in(error.message())).collect()
    }

    fn check(&self) -> Result<(), (Range<usize>, String)> {
        for build in &self.builds {
            for (list, name) in [(&build.shaders, "shaders"), (&build.profiles, "profiles")] {
                if list.get_ref().is_empty() {
                    return Err((list.span(), format!("`{name}` is empty: nothing would be built")));
                }
            }
            for (name, values) in &build.defines {
                if matches!(values.get_ref(), Values::Many(list) if list.is_empty()) {
                    return Err((values.span(), format!("`{name}` has no values: nothing would be built")));
                }
            }
        }
        Ok(())
    }

    /// The folder that its paths start from; empty for the working directory.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// An error about a place in the manifest.
    pub fn error(&self, span: Range<usize>, message: &str) -> CommandError {
        let (line, column) = self.place(span.clone());
        let excerpt = self.excerpt(span, line, column);
        CommandError(format!("{}:{line}:{column}: {}{excerpt}", self.path.display(), message.trim_end()))
    }

    /// The line of a place, and marks under what is wrong in it.
    fn excerpt(&self, span: Range<usize>, line: usize, column: usize) -> String {
        let Some(text) =
            self.text.lines().nth(line - 1).filter(|text| !text.trim().is_empty() && text.len() <= LONGEST_LINE)
        else {
            return String::new();
        };
        let rest = text.chars().count().saturating_sub(column - 1);
        let wrong = self.text.get(span).map_or(1, |wrong| wrong.chars().take_while(|c| *c != '\n').count());
        let (indent, number) = (" ".repeat(column - 1), line.to_string());
        let margin = " ".repeat(number.len());
        let marks = "^".repeat(wrong.min(rest).max(1));
        format!("\n{margin} |\n{number} | {text}\n{margin} | {indent}{marks}")
    }

    /// Line and column of a place in the manifest, which count from 1.
    pub fn place(&self, span: Range<usize>) -> (usize, usize) {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (line, column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_those_that_the_form_has() {
        let keys = Manifest::keys();
        for key in
            ["shaders", "profiles", "defines", "wave-sizes", "options", "out-dir", "include-dirs", "deny-warnings"]
        {
            assert!(keys.iter().any(|known| known == key), "{key} is not among {keys:?}");
        }
    }
}
