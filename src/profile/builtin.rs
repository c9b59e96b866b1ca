//! The profiles that are part of the program, by name and alias.

use super::Profile;
use super::load;
use std::sync::LazyLock;

/// A built-in profile as text.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

/// In order of age within a vendor and family: the first that can run an operation is the oldest that can. The build script
/// lists the files of `profiles/`.
pub(super) static BUILTIN: &[Builtin] = include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

impl Profile {
    /// The built-in profile of this name or alias.
    pub fn named(name: &str) -> Option<Profile> {
        Builtin::find(name).map(Builtin::parse)
    }

    /// Names of the built-in profiles, the oldest of each vendor first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|builtin| builtin.name)
    }

    /// All built-in profiles, the oldest of each vendor first; read when they are first asked for.
    pub fn built_in() -> &'static [Profile] {
        static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| BUILTIN.iter().map(Builtin::parse).collect());
        &ALL
    }

    /// The same, each to keep.
    pub fn all() -> impl Iterator<Item = Profile> {
        Profile::built_in().iter().cloned()
    }
}

impl Builtin {
    fn parse(&self) -> Profile {
        let profile = load::built_in(self).expect("the built-in profiles are read by a test");
        Profile { is_builtin: true, ..profile }
    }

    /// The profile of this name, otherwise the one with this alias.
    pub(super) fn find(name: &str) -> Option<&'static Builtin> {
        let quoted = format!("\"{name}\"");
        let exact = BUILTIN.iter().find(|builtin| builtin.name == name);
        exact.or_else(|| BUILTIN.iter().find(|builtin| builtin.has_alias(&quoted)))
    }

    /// Returns true if the line of aliases holds the quoted name.
    fn has_alias(&self, quoted: &str) -> bool {
        self.text.lines().any(|line| line.starts_with("aliases") && line.contains(quoted))
    }
}
