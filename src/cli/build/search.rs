//! The files that a manifest's glob matches, and the folders that it searches.

use crate::build::files::{normal, not_utf8};
use crate::build::walk::{self, Reach};
use glob::{MatchOptions, Pattern};
use std::path::{Component, Path, PathBuf};

/// `*` matches within one folder, and names that start with a dot must be written out.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// The files that a glob found.
pub struct Found {
    /// Indexed by name.
    pub files: Vec<PathBuf>,
    /// A new file in one of these may match too.
    pub folders: Vec<PathBuf>,
    /// The folders before the first that has something to match.
    pub fixed: PathBuf,
}

/// Looks for the files of a glob that starts from `folder`.
///
/// # Errors
/// Returns a sentence if the glob is malformed, a folder cannot be read, a name is not UTF-8, or nothing matches.
pub fn search(folder: &Path, glob: &str) -> Result<Found, String> {
    let fixed = fixed_part(glob);
    let rest = Path::new(glob).strip_prefix(&fixed).unwrap_or(Path::new(glob));
    let rest_text = rest.to_string_lossy();
    let pattern = Pattern::new(&rest_text).map_err(|error| error.to_string())?;
    let root = normal(&folder.join(&fixed));
    let (mut files, folders) = match rest_text.contains(WILD) {
        true => matches(&root, rest, &pattern)?,
        false => (vec![normal(&root.join(rest))], vec![root.clone()]),
    };
    files.retain(|path| path.symlink_metadata().is_ok() && !path.is_dir());
    files.sort();
    if files.is_empty() {
        return Err(format!("`{glob}` matches no file"));
    }
    Ok(Found { files, folders, fixed: root })
}

/// The files below a folder that a pattern matches, and the visited folders.
fn matches(root: &Path, rest: &Path, pattern: &Pattern) -> Result<(Vec<PathBuf>, Vec<PathBuf>), String> {
    if !walk::here(root).exists() {
        return Ok((Vec::new(), vec![root.to_path_buf()]));
    }
    let tree = walk::below(root, reach(rest));
    let tree = tree.map_err(|(folder, error)| format!("cannot read {}: {error}", folder.display()))?;
    let mut files = Vec::new();
    for path in tree.files {
        let below = path.strip_prefix(root).unwrap_or(&path);
        if !pattern.matches_with(&below.to_string_lossy(), OPTIONS) {
            continue;
        }
        if path.to_str().is_none() {
            return Err(not_utf8(&path));
        }
        files.push(path);
    }
    Ok((files, tree.folders))
}

/// How deep a pattern searches.
fn reach(rest: &Path) -> Reach {
    let parts: Vec<_> = rest.components().map(Component::as_os_str).collect();
    let is_deep = parts.iter().any(|part| *part == "**");
    let hidden = parts.iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
    Reach { depth: (!is_deep).then(|| parts.len().saturating_sub(1)), hidden, ..Reach::default() }
}

/// Wildcard characters.
const WILD: [char; 3] = ['*', '?', '['];

/// The folders of a glob before the first wildcard; all folders of a plain path.
fn fixed_part(glob: &str) -> PathBuf {
    let folder = Path::new(glob).parent().unwrap_or(Path::new(""));
    let plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(WILD);
    folder.components().take_while(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixed_part_ends_before_the_first_wildcard() {
        assert_eq!(fixed_part("shaders/**/*.comp"), Path::new("shaders"));
        assert_eq!(fixed_part("shaders/x/a.comp"), Path::new("shaders/x"));
        assert_eq!(fixed_part("*.comp"), Path::new(""));
    }

    #[test]
    fn a_walk_is_no_deeper_than_the_glob() {
        assert_eq!(reach(Path::new("*.comp")).depth, Some(0));
        assert_eq!(reach(Path::new("*/x/*.comp")).depth, Some(2));
        assert_eq!(reach(Path::new("**/*.comp")).depth, None);
        assert!(reach(Path::new("*/.x/*.comp")).hidden);
    }
}
