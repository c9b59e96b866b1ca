//! Reads the shader, and derives its language and stage from its name.

use super::CommandError;
use super::args::{Lang, SourceArgs};
use super::endings::{self, Format};
use crate::build::claims::Claims;
use crate::build::{kind, read};
use crate::compile::Language;
use crate::diagnostic::nearest::nearest;
use crate::ir::Stage;
use crate::spirv::is_module;
use std::io;
use std::path::{Path, PathBuf};

/// A shader that has been read.
pub struct Shader {
    /// Name for messages.
    pub name: String,
    pub bytes: Vec<u8>,
    pub language: Language,
    /// The stage from the option or the name.
    pub stage: Option<Stage>,
}

/// # Errors
/// Returns an error if the input cannot be read, or neither its name nor an option gives its language.
pub fn read(args: &SourceArgs, claims: &Claims) -> Result<Shader, CommandError> {
    let path = &args.input;
    let bytes = bytes(path, claims).map_err(|error| unread(path, &error))?;
    let is_module = is_module(&bytes);
    let hint = kind::of(path);
    let language = match (args.lang, hint) {
        (Some(Lang::Glsl), _) => Language::Glsl,
        (Some(Lang::Wgsl), _) => Language::Wgsl,
        (None, Some(kind)) => kind.language,
        // WGSL declares its stages itself, and a module its language.
        (None, None) if args.stage.is_some() || is_module => Language::Glsl,
        (None, None) => return Err(unknown_language(path)),
    };
    // The name of a module may keep the stage of its source, or of one of its sources.
    let stage = args.stage.or(hint.and_then(|kind| kind.stage).filter(|_| !is_module));
    let name = if is_stdin(path) { "<stdin>".to_string() } else { path.display().to_string() };
    Ok(Shader { name, bytes, language, stage })
}

/// The error about a name that does not indicate a readable language.
fn unknown_language(path: &Path) -> CommandError {
    let shown = path.display();
    match endings::unreadable(path) {
        Some(what) if what == Format::Spirv.name() => {
            CommandError(format!("{shown}: this is not {what}: it does not begin with the magic number"))
        }
        Some(what) => CommandError(format!(
            "{shown}: the ending says that this is {what}; crosslane reads GLSL, WGSL and SPIR-V modules (--lang glsl or --lang wgsl reads it as such)"
        )),
        None => CommandError(format!("{shown}: the name says no language; add --lang glsl or --lang wgsl")),
    }
}

/// The error about a file that cannot be read, with the closest name in its folder.
fn unread(path: &Path, error: &io::Error) -> CommandError {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let hint = neighbour(path).map_or(String::new(), |near| format!("; did you mean `{}`?", near.display()));
            CommandError(format!("cannot read {shown}: there is no such file{hint}"))
        }
        io::ErrorKind::IsADirectory => CommandError(format!(
            "cannot read {shown}: it is a folder; name a shader in it, or build all of them with `crosslane build` and a manifest"
        )),
        _ => CommandError(format!("cannot read {shown}: {error}")),
    }
}

/// The shader in the same folder with the most similar name.
fn neighbour(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = entries.filter(|name| kind::of(Path::new(name)).is_some()).collect();
    names.sort_unstable();
    let wanted = path.file_name()?.to_str()?;
    nearest(wanted, names.iter().map(|name| &**name)).map(|near| path.with_file_name(near))
}

/// Returns true if a path means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn bytes(path: &Path, claims: &Claims) -> io::Result<Vec<u8>> {
    if !is_stdin(path) {
        return claims.read(path, read::SHADER_LIMIT);
    }
    claims.add_stdin();
    read::stdin(read::SHADER_LIMIT)
}
