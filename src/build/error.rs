//! Why a build script's shaders could not be built.

use std::fmt;
use std::path::PathBuf;

/// A failure. The messages about the shaders themselves have been reported to cargo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// These shaders could not be compiled, because they are wrong or a profile cannot express them.
    Shaders(Vec<PathBuf>),
    /// A sentence about a wrong profile, folder or name, or about a file that cannot be read or written.
    Setup(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shaders(shaders) => {
                let names: Vec<String> = shaders.iter().map(|path| path.display().to_string()).collect();
                write!(f, "cannot compile {}", names.join(", "))
            }
            Error::Setup(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}
