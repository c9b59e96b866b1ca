//! The profiles that are part of the program, by name and alias.

use super::Profile;
use super::load;
use crate::diagnostic::nearest::nearest;
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

    /// The message about a name that selects no built-in profile: several are for that hardware, or none is called so.
    pub fn unknown(name: &str) -> String {
        let candidates: Vec<Profile> = Builtin::of_family(name).into_iter().map(Builtin::parse).collect();
        if candidates.is_empty() {
            let near = nearest(name, Profile::names());
            let hint = near.map_or("`crosslane profiles` lists them".into(), |near| format!("did you mean `{near}`?"));
            return format!("unknown profile `{name}`; {hint}");
        }
        let one = |profile: &Profile| format!("`{}` ({})", profile.name, profile.target.row().language);
        let all: Vec<String> = candidates.iter().map(one).collect();
        format!("`{name}` is the hardware of several profiles: {}", all.join(" and "))
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

    /// Owned copies of all built-in profiles.
    pub fn all() -> impl Iterator<Item = Profile> {
        Profile::built_in().iter().cloned()
    }
}

impl Builtin {
    fn parse(&self) -> Profile {
        let profile = load::built_in(self).expect("the built-in profiles are read by a test");
        Profile { is_builtin: true, ..profile }
    }

    /// The profile of this name, otherwise the one with this alias, otherwise the only one for this hardware.
    pub(super) fn find(name: &str) -> Option<&'static Builtin> {
        let exact = BUILTIN.iter().find(|builtin| builtin.name == name);
        let by_alias = || BUILTIN.iter().find(|builtin| builtin.lists("aliases", name));
        exact.or_else(by_alias).or_else(|| match Builtin::of_family(name).as_slice() {
            [only] => Some(*only),
            _ => None,
        })
    }

    /// The profiles for some hardware.
    fn of_family(name: &str) -> Vec<&'static Builtin> {
        BUILTIN.iter().filter(|builtin| builtin.lists("families", name)).collect()
    }

    /// Returns true if the line of a key holds a name.
    fn lists(&self, key: &str, name: &str) -> bool {
        let quoted = format!("\"{name}\"");
        self.text.lines().any(|line| line.starts_with(key) && line.contains(&quoted))
    }
}
