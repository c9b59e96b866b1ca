//! Why a build script's shaders could not be built.

use std::fmt;

/// What went wrong; the messages of the shaders themselves went to cargo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// So many outputs could not be made, since their shaders are wrong or their profiles cannot express them.
    Shaders(usize),
    /// A profile, a folder or a name is wrong, or a file cannot be read or written: a sentence.
    Setup(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shaders(1) => f.write_str("one output could not be made"),
            Error::Shaders(count) => write!(f, "{count} outputs could not be made"),
            Error::Setup(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}
