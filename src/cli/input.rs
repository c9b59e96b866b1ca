//! Reading the shader, and what its name says about it.

use super::CommandError;
use super::args::{Lang, SourceArgs};
use crate::build::claims::Claims;
use crate::build::{kind, read};
use crate::compile::Language;
use crate::ir::Stage;
use std::io;
use std::path::Path;

/// A shader that has been read.
pub struct Shader {
    /// Name for messages.
    pub name: String,
    pub bytes: Vec<u8>,
    pub language: Language,
    /// The stage that an option or the name gives.
    pub stage: Option<Stage>,
}

/// # Errors
/// When the input cannot be read, or neither its name nor an option says what language it is.
pub fn read(args: &SourceArgs, claims: &Claims) -> Result<Shader, CommandError> {
    let path = &args.input;
    let hint = kind::of(path);
    let language = match (args.lang, hint) {
        (Some(Lang::Glsl), _) => Language::Glsl,
        (Some(Lang::Wgsl), _) => Language::Wgsl,
        (None, Some(kind)) => kind.language,
        // WGSL says its stages itself.
        (None, None) if args.stage.is_some() => Language::Glsl,
        (None, None) => {
            return Err(CommandError(format!("{}: which language? Say --lang glsl or --lang wgsl", path.display())));
        }
    };
    let stage = args.stage.or(hint.and_then(|kind| kind.stage));
    let bytes =
        bytes(path, claims).map_err(|error| CommandError(format!("cannot read {}: {error}", path.display())))?;
    let name = if is_stdin(path) { "<stdin>".to_string() } else { path.display().to_string() };
    Ok(Shader { name, bytes, language, stage })
}

/// The stage of a name.
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
