//! How a cell is tested on a profile, derived from the tables alone; and the profiles.

use std::sync::LazyLock;

use crosslane::profile::{Profile, Target};

use super::rows::Unit;

/// The built-in profiles, and SPIR-V with reductions in the fixed order.
pub static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let mut fixed = Profile::named("spirv-1.6").expect("a built-in profile");
    fixed.reproducible = true;
    fixed.name = "spirv-1.6 --reproducible".into();
    let (spirv, others): (Vec<_>, Vec<_>) = Profile::all().partition(|profile| profile.target == Target::Spirv);
    spirv.into_iter().chain([fixed]).chain(others).collect()
});

/// The ways to test it, besides the proof and the simulator, which all cells have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stages {
    /// The interpreter runs the listing, the simulator runs the text read back, or a C++ compiler compiles it.
    pub interpreted: bool,
    /// `spirv-val` accepts it.
    pub validated: bool,
    /// lavapipe runs it.
    pub executed: bool,
    /// RADV compiles it.
    pub lowered: bool,
}

/// The most lanes that lavapipe's subgroups have.
const LAVAPIPE: usize = 16;

/// The families of a vendor's profile that lavapipe lacks.
const VENDORS: [(&str, &[&str]); 2] = [
    ("spirv-nv-partitioned", &["subgroupPartitionNV", "subgroupPartitioned{K}{Op}NV", "{F}Quad", "subgroupQuad{F}"]),
    (AMD, &["quadSwizzleAMD", "swizzleInvocationsAMD", "swizzleInvocationsMaskedAMD", "mbcntAMD"]),
];
const AMD: &str = "spirv-amd-ballot";
const GLSL_AMD: &str = "glsl-450-amd";

/// Returns true if a profile's GLSL has functions that lavapipe lacks: its texts are read back and simulated.
pub fn is_read_back(profile: &Profile) -> bool {
    ["glsl-450-nv", GLSL_AMD].contains(&&*profile.name)
}

/// How a unit's cells are tested on a profile.
pub fn of(profile: &Profile, unit: &Unit) -> Stages {
    let family = unit.row().family.as_str();
    let vendor = VENDORS.iter().find(|(name, _)| **name == *profile.name);
    let is_vendors = vendor.is_some_and(|(_, families)| families.contains(&family));
    match profile.target {
        _ if is_read_back(profile) => {
            Stages { interpreted: true, validated: true, executed: false, lowered: &*profile.name == GLSL_AMD }
        }
        Target::Spirv | Target::Wgsl | Target::Glsl | Target::Hlsl => Stages {
            interpreted: false,
            validated: true,
            executed: unit.least() <= LAVAPIPE && !is_vendors && profile.wave_size.is_none(),
            lowered: is_vendors && &*profile.name == AMD,
        },
        Target::Msl | Target::Nv | Target::Amd | Target::Ptx => Stages { interpreted: true, ..Stages::default() },
    }
}
