//! The profiles that are part of the program, by name and alias.

use super::Profile;
use super::load;
use crate::diagnostic::nearest::nearest_of_family;
use std::sync::LazyLock;

/// A built-in profile as text.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

/// By age within a vendor and family, so that the first profile that can run an operation is the oldest. The build
/// script lists the files of `profiles/`.
pub(super) static BUILTIN: &[Builtin] = include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// Words for vendors, interfaces and languages, with the prefix of their profiles' names. A number may follow them.
#[rustfmt::skip]
static KINDS: &[(&str, &str)] = &[
    ("nvidia", "nv-"), ("geforce", "nv-"), ("rtx", "nv-"), ("gtx", "nv-"), ("cuda", "ptx-"), ("nvptx", "ptx-"),
    ("amd", "gfx"), ("amdgpu", "gfx"), ("radeon", "gfx"), ("rx", "gfx"), ("hip", "gfx"), ("rocm", "gfx"), ("gcn", "gfx"),
    ("dx", "hlsl-"), ("directx", "hlsl-"), ("d3d", "hlsl-"), ("dxil", "hlsl-"),
    ("gl", "glsl-"), ("opengl", "glsl-"), ("gles", "glsl-es"), ("apple", "msl-"), ("ios", "msl-"), ("macos", "msl-"),
];

/// Maximum number of names in a message.
const MOST_KIN: usize = 6;

/// Returns true if this can follow a word of [`KINDS`]: a version or a model.
fn is_version(rest: &str) -> bool {
    rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b' ' | b'_'))
}

impl Profile {
    /// The built-in profile of this name or alias.
    pub fn named(name: &str) -> Option<Profile> {
        Builtin::find(name).map(Builtin::parse)
    }

    /// The message about a name that selects no built-in profile: it is unknown, or several profiles match.
    pub fn unknown(name: &str) -> String {
        let candidates: Vec<Profile> = Builtin::of_family(name).into_iter().map(Builtin::parse).collect();
        if candidates.is_empty() {
            let kin = Builtin::kin(name);
            if !kin.is_empty() {
                return format!("`{name}` is not the name of one profile; write one of {}", kin.join(", "));
            }
            let near = nearest_of_family(name, Profile::names().chain(Builtin::aliases()));
            let hint = near.map_or("`crosslane profiles` lists them".into(), |near| format!("did you mean `{near}`?"));
            return format!("unknown profile `{name}`; {hint}");
        }
        let one = |profile: &Profile| format!("`{}` ({})", profile.name, profile.target.row().language);
        let all: Vec<String> = candidates.iter().map(one).collect();
        format!("`{name}` is the hardware of several profiles: {}", all.join(" and "))
    }

    /// Names of the built-in profiles, the oldest of each vendor first.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        BUILTIN.iter().map(|builtin| builtin.name)
    }

    /// All built-in profiles, the oldest of each vendor first, parsed on first use.
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

    /// The names, in backquotes, of the profiles that a word for a vendor, an interface or a language means, and of
    /// profiles whose name continues it with a digit or a `-`: `vulkan` is the start of `vulkan1.1`.
    fn kin(word: &str) -> Vec<String> {
        let word = word.to_ascii_lowercase();
        let meant = KINDS.iter().find(|(kind, _)| word.strip_prefix(kind).is_some_and(is_version));
        let start = meant.map_or(&*word, |(_, start)| start);
        let is_kin = |name: &&str| {
            let rest = name.strip_prefix(start);
            rest.is_some_and(|rest| meant.is_some() || rest.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
        };
        let mut kin: Vec<&str> = Profile::names().filter(is_kin).collect();
        if kin.is_empty() {
            kin.extend(Builtin::aliases().filter(is_kin));
        }
        let is_long = kin.len() > MOST_KIN;
        let shown = kin.iter().take(MOST_KIN).map(|name| format!("`{name}`"));
        shown.chain(is_long.then(|| "or another that `crosslane profiles` lists".into())).collect()
    }

    /// Other names of all profiles.
    fn aliases() -> impl Iterator<Item = &'static str> + Clone {
        let lines = BUILTIN.iter().flat_map(|builtin| builtin.text.lines());
        lines.filter(|line| line.starts_with("aliases")).flat_map(|line| line.split('"').skip(1).step_by(2))
    }

    /// The profiles for some hardware.
    fn of_family(name: &str) -> Vec<&'static Builtin> {
        BUILTIN.iter().filter(|builtin| builtin.lists("families", name)).collect()
    }

    /// Returns true if the line of a key contains a name.
    fn lists(&self, key: &str, name: &str) -> bool {
        let quoted = format!("\"{name}\"");
        self.text.lines().any(|line| line.starts_with(key) && line.contains(&quoted))
    }
}
