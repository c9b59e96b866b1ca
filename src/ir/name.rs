//! Names from the source. Most are short, so a name stores short text inline and allocates only for long text.

use smallvec::SmallVec;
use std::fmt;
use std::ops::Deref;

/// Bytes that a name stores inline.
const SHORT: usize = 16;

/// The name of a variable, member, parameter or function, for messages and debug information. It dereferences to a
/// `str`.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Name(SmallVec<[u8; SHORT]>);

impl Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a name is made from a string")
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, text: &str) -> bool {
        *self.0 == *text.as_bytes()
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name(SmallVec::from_slice(text.as_bytes()))
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        text.as_str().into()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
