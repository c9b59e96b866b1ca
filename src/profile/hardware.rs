//! The profiles of assembly targets: NVIDIA's and AMD's.
//!
//! Tests load them. No command offers them as long as no target writes code for them.

use super::Profile;
use super::load::{Builtin, builtin, find};

/// In order of age within a vendor and family.
pub(super) static FILES: &[Builtin] = builtin![
    "nv-fermi",
    "nv-kepler",
    "nv-maxwell",
    "nv-volta",
    "nv-ampere",
    "nv-hopper",
    "gfx600",
    "gfx701",
    "gfx803",
    "gfx900",
    "gfx906",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx950",
    "gfx1010",
    "gfx1010-wave64",
    "gfx1030",
    "gfx1030-wave64",
    "gfx1100",
    "gfx1100-wave64",
    "gfx1150",
    "gfx1150-wave64",
    "gfx1200",
    "gfx1200-wave64",
    "gfx1201",
    "gfx1201-wave64",
];

/// The profile of this name or alias.
pub fn named(name: &str) -> Option<Profile> {
    find(FILES, name).map(Builtin::parse)
}

/// All of them.
pub fn all() -> impl Iterator<Item = Profile> {
    FILES.iter().map(Builtin::parse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{CostClass, Feature, Target};

    #[test]
    fn files_are_sound_and_names_unique() {
        let mut names = Vec::new();
        for (profile, file) in all().zip(FILES) {
            assert_eq!(&*profile.name, file.name);
            assert!(profile.reproducible && !profile.description.is_empty());
            names.push(profile.name.clone());
            names.extend(profile.aliases.iter().cloned());
            for alias in &profile.aliases {
                assert_eq!(named(alias).expect("alias").name, profile.name);
            }
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "two profiles share a name");
    }

    #[test]
    fn waves_have_the_size_of_their_name() {
        for profile in all() {
            let (lanes, expected) = (
                profile.wave_size.expect("a fixed size"),
                match profile.target {
                    Target::Nv => 32,
                    _ if profile.name.ends_with("-wave64") => 64,
                    _ if profile.name.starts_with("gfx1") => 32,
                    _ => 64,
                },
            );
            assert_eq!(lanes, expected, "{}", profile.name);
            let processor = profile.name.trim_end_matches("-wave64");
            assert_eq!(&*profile.processor, if profile.target == Target::Amd { processor } else { "" });
        }
    }

    #[test]
    fn names_that_people_use() {
        let cases = [
            ("gcn3", "gfx803"),
            ("vega", "gfx900"),
            ("cdna3", "gfx942"),
            ("rdna2", "gfx1030"),
            ("gfx1030-wave32", "gfx1030"),
            ("rdna2-wave64", "gfx1030-wave64"),
            ("rdna4", "gfx1201"),
            ("kepler", "nv-kepler"),
            ("sm_90", "nv-hopper"),
        ];
        for (alias, name) in cases {
            assert_eq!(&*named(alias).expect("alias").name, name);
        }
    }

    /// The matrix of which generation has what, as ranges of the list of processors below.
    #[test]
    fn features_follow_the_generations() {
        use Feature as F;
        let processors: [(&str, u8); 15] = [
            ("gfx600", 0),
            ("gfx701", 1),
            ("gfx803", 2),
            ("gfx900", 3),
            ("gfx906", 4),
            ("gfx908", 5),
            ("gfx90a", 6),
            ("gfx942", 7),
            ("gfx950", 8),
            ("gfx1010", 10),
            ("gfx1030", 11),
            ("gfx1100", 12),
            ("gfx1150", 13),
            ("gfx1200", 14),
            ("gfx1201", 15),
        ];
        let matrix = [
            (F::AmdWave, 0..=15),
            (F::AmdSwizzle, 0..=15),
            (F::AmdSwizzleRotate, 2..=15),
            (F::AmdPermute, 2..=15),
            (F::AmdPermuteFetchInactive, 14..=15),
            (F::AmdDpp16, 2..=15),
            (F::AmdDppWave, 2..=8),
            (F::AmdDppRowBcast, 2..=8),
            (F::AmdDppNewBcast, 6..=8),
            (F::AmdDpp64, 7..=8),
            (F::AmdDppRowShare, 10..=15),
            (F::AmdDpp8, 10..=15),
            (F::AmdFetchInactive, 10..=15),
            (F::AmdPermlane16, 10..=15),
            (F::AmdPermlaneVar, 14..=15),
            (F::AmdPermlane64, 12..=15),
            (F::AmdPermlaneSwap, 8..=8),
        ];
        for profile in all().filter(|profile| profile.target == Target::Amd) {
            let (_, age) = processors.iter().find(|(name, _)| *name == &*profile.processor).expect("a processor");
            for (feature, range) in &matrix {
                assert_eq!(profile.has(*feature), range.contains(age), "{} {feature}", profile.name);
            }
            let wide = matches!(age, 2..=8 | 14..=15);
            assert_eq!(profile.has(F::AmdWidePermute), wide, "{}", profile.name);
            let shared = matches!(age, 10..=11) && profile.wave_size == Some(64);
            assert_eq!(profile.has(F::AmdSharedVgpr), shared, "{}", profile.name);
        }
    }

    #[test]
    fn prices_follow_inheritance() {
        let read = |name: &str| named(name).expect("a profile").costs.of(CostClass::AmdReadLane).expect("a price");
        assert_eq!((read("gfx906").wait_before, read("gfx906").wait_after, read("gfx906").wait_index), (0, 0, 4));
        assert_eq!((read("gfx950").wait_before, read("gfx950").wait_after, read("gfx950").wait_index), (1, 2, 4));
        let dpp = |name: &str| named(name).expect("a profile").costs.of(CostClass::AmdDpp);
        assert_eq!(dpp("gfx701"), None);
        assert_eq!(dpp("gfx803").map(|cost| cost.wait_before), Some(2));
        assert_eq!(dpp("gfx1100-wave64").map(|cost| (cost.latency, cost.wait_before)), Some((5, 0)));
    }

    #[test]
    fn users_are_not_offered_them() {
        for profile in all() {
            assert_eq!(Profile::named(&profile.name), None);
        }
    }
}
