//! The dialects: the parts of the language that some versions lack, one row each, on macOS and on iOS. From version 2.3
//! on both are equal.

use super::Msl;
use crate::backend::source::writer::Writer;
use crate::profile::{Feature, Profile, Target};

/// A part of the language from a version after 2.1, at least on one system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::backend::source) enum Part {
    BarycentricCoord,
    BarycentricCoordNoPerspective,
    CoherentMemory,
    CompareAtLevel,
    CoverageAfterTests,
    Fences,
    FloatAtomics,
    HelperThreads,
    LanesInFragments,
    LeastLevels,
    LevelQueries,
    Meshes,
    OpenArrays,
    PrimitiveId,
    PulledInputs,
    RayQueries,
    TextureAtomics,
    Views,
    WideIntegers,
}

/// A version, such as 2.1.
type Version = (u8, u8);

/// The first version with equal features on both systems.
const SHARED_SINCE: Version = (2, 3);

/// The first versions that have a part.
struct Row {
    /// The part in messages.
    words: &'static str,
    mac: Version,
    ios: Version,
}

const fn since(words: &'static str, mac: Version, ios: Version) -> Row {
    Row { words, mac, ios }
}

impl Part {
    /// Availability as the specification states it, in the section or table that the comment names.
    const fn row(self) -> Row {
        match self {
            // Section 5.2.3, table of attributes for fragment function inputs.
            Part::BarycentricCoord => since("built-in value BaryCoord", (2, 2), (2, 3)),
            Part::BarycentricCoordNoPerspective => since("built-in value BaryCoordNoPerspective", (2, 2), (2, 3)),
            Part::CoverageAfterTests => since("coverage after tests", (2, 3), (2, 0)),
            Part::LanesInFragments => since("numbers of lanes in fragment functions", (2, 2), (2, 3)),
            Part::PrimitiveId => since("built-in value PrimitiveId", (2, 2), (2, 3)),
            // Section 5.2.3, attributes for vertex function inputs: `amplification_id`.
            Part::Views => since("built-in value ViewIndex", (2, 3), (2, 2)),
            // Section 5.1.7, mesh functions, and 5.1.8, object functions.
            Part::Meshes => since("mesh and object functions", (3, 0), (3, 0)),
            // Section 2.1, `long` and `ulong`, including in buffers.
            Part::WideIntegers => since("integers of 64 bits in all memory", (2, 3), (2, 3)),
            // Section 2.13, argument buffers: without their encoders, which know the length.
            Part::OpenArrays => since("arrays of resources of any length", (3, 0), (3, 0)),
            // Section 2.18, `interpolant`.
            Part::PulledInputs => since("interpolation at another place", (2, 3), (2, 3)),
            // Sections 2.17 and 6.18, `intersection_query`.
            Part::RayQueries => since("ray queries", (2, 4), (2, 4)),
            // Section 2.6, `atomic_float`.
            Part::FloatAtomics => since("atomic operations on floats", (3, 0), (3, 0)),
            // Section 4.8, memory coherency.
            Part::CoherentMemory => since("coherent memory", (3, 2), (3, 2)),
            // Section 6.9.2, `simd_is_helper_thread`.
            Part::HelperThreads => since("tests for helper threads", (2, 1), (2, 3)),
            // Section 6.12, texture functions: `sample_compare`, `min_lod_clamp`, `calculate_clamped_lod`.
            Part::CompareAtLevel => {
                since("comparisons at a level that is not the one of derivatives or 0", (2, 3), (2, 0))
            }
            Part::LeastLevels => since("lowest levels of detail", (2, 2), (2, 2)),
            Part::LevelQueries => since("queries of the level of detail", (2, 2), (2, 3)),
            // Section 6.12, `atomic_fetch_add` and others of textures.
            Part::TextureAtomics => since("atomic operations on textures", (3, 1), (3, 1)),
            // Section 6.15.3, `atomic_thread_fence`.
            Part::Fences => since("memory barriers of the whole device", (3, 2), (3, 2)),
        }
    }

    fn first(self, is_ios: bool) -> Version {
        let row = self.row();
        if is_ios { row.ios } else { row.mac }
    }

    /// Returns true if the language of a profile has it.
    pub fn is_in(self, profile: &Profile) -> bool {
        profile.version >= self.first(is_ios(profile))
    }

    /// The oldest built-in profile for the same system that has it.
    fn oldest(self, profile: &Profile) -> Option<&'static Profile> {
        let is_for = |other: &&Profile| match is_ios(profile) {
            true => is_ios(other) || other.version >= SHARED_SINCE,
            false => !is_ios(other),
        };
        let all = Profile::built_in().iter().filter(|other| other.target == Target::Msl);
        all.filter(is_for).filter(|other| self.is_in(other)).min_by_key(|other| other.version)
    }
}

fn is_ios(profile: &Profile) -> bool {
    profile.has(Feature::MslIos)
}

impl Msl {
    /// Returns true if the dialect has a part of the language.
    pub fn has(&self, t: &Writer, part: Part) -> bool {
        part.is_in(&t.options.profile)
    }

    /// Like `has`, and reports a missing part with the name of the profile that has it.
    pub fn needs(&self, t: &mut Writer, part: Part) -> bool {
        self.needs_for(t, part, part.row().words)
    }

    /// Like `needs`, with a different description of what needs the part.
    pub fn needs_for(&self, t: &mut Writer, part: Part, words: &str) -> bool {
        if self.has(t, part) {
            return true;
        }
        let profile = &t.options.profile;
        let ((major, minor), system) = (part.first(is_ios(profile)), if is_ios(profile) { " on iOS" } else { "" });
        let oldest = part.oldest(profile);
        t.lacks(&format!("{words} before version {major}.{minor}{system}"));
        if let Some(oldest) = oldest {
            t.advise(format!("this needs Metal {major}.{minor}: the profile `{}` has it", oldest.name));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn a_system_has_a_part_from_its_own_version_on() {
        let has = |name, part: Part| part.is_in(&Profile::named(name).unwrap());
        assert!(has("msl-2.2", Part::PrimitiveId) && !has("msl-ios-2.2", Part::PrimitiveId));
        assert!(has("msl-ios-2.2", Part::Views) && !has("msl-2.2", Part::Views));
        assert!(has("msl-3.2", Part::Fences) && !has("msl-3.1", Part::Fences));
    }

    #[test]
    fn the_oldest_profile_is_of_the_same_system() {
        let oldest = |name, part: Part| &*part.oldest(&Profile::named(name).unwrap()).unwrap().name;
        assert_eq!(oldest("msl-2.1", Part::PrimitiveId), "msl-2.2");
        assert_eq!(oldest("msl-ios-2.1", Part::PrimitiveId), "msl-2.3");
        assert_eq!(oldest("msl-ios-2.1", Part::Views), "msl-ios-2.2");
        assert_eq!(oldest("msl-2.4", Part::TextureAtomics), "msl-3.1");
    }
}
