//! The built-in profiles, and errors in other profiles.

use super::builtin::BUILTIN;
use super::{Client, CostClass, Feature, Profile, Target};

fn named(name: &str) -> Profile {
    Profile::named(name).expect("a built-in profile")
}

fn hardware() -> impl Iterator<Item = Profile> {
    Profile::all().filter(|profile| profile.target.is_hardware())
}

#[test]
fn files_are_sound_and_names_unique() {
    let mut names = Vec::new();
    for (profile, builtin) in Profile::all().zip(BUILTIN) {
        assert_eq!(&*profile.name, builtin.name);
        assert!(profile.is_builtin && !profile.description.is_empty());
        names.push(profile.name.clone());
        names.extend(profile.aliases.iter().cloned());
        for family in &profile.families {
            assert!(Profile::named(family).is_none_or(|only| only.name == profile.name), "{family}");
        }
        for alias in &profile.aliases {
            assert_eq!(named(alias).name, profile.name);
        }
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "two profiles share a name");
    assert_eq!(Profile::named("spirv-9"), None);
}

/// Only SPIR-V has several APIs, and OpenGL guarantees only one version of it.
#[test]
fn opengl_loads_spirv_1_0_alone() {
    assert_eq!((named("opengl").client, named("opengl").version), (Client::OpenGl, (1, 0)));
    assert!(Profile::all().filter(|profile| profile.client == Client::OpenGl).all(|p| p.target == Target::Spirv));
    let refused = |base: &str| {
        let text = format!("name = \"mine\"\ninherit = \"{base}\"\nclient = \"opengl\"\n");
        Profile::from_toml(&text, "mine.toml").expect_err("it cannot be").to_string()
    };
    assert!(refused("spirv-1.3").contains("OpenGL loads SPIR-V 1.0, not 1.3"), "{}", refused("spirv-1.3"));
    assert!(refused("wgsl").contains("crosslane cannot write WGSL for OpenGL yet"), "{}", refused("wgsl"));
}

#[test]
fn hardware_is_reproducible() {
    assert!(hardware().all(|profile| profile.reproducible));
    assert!(Profile::all().all(|profile| profile.reproducible == profile.target.is_hardware()));
}

#[test]
fn inheritance_adds_features() {
    let profile = named("vulkan1.3");
    assert_eq!(profile.version, (1, 6));
    assert!(profile.has(Feature::DynamicBroadcast) && profile.has(Feature::Ballot));
    assert!(!named("spirv-1.3").has(Feature::DynamicBroadcast));
}

#[test]
fn waves_have_the_size_of_their_name() {
    for profile in hardware() {
        let expected = match profile.target {
            Target::Nv | Target::Ptx => 32,
            _ if profile.name.ends_with("-wave32") => 32,
            _ => 64,
        };
        assert_eq!(profile.wave_size, Some(expected), "{}", profile.name);
        let processor = match profile.target {
            Target::Amd => profile.name.split('-').next().unwrap_or_default().to_owned(),
            Target::Ptx => profile.name.replace("ptx-sm", "sm_"),
            _ => String::new(),
        };
        assert_eq!(*profile.processor, *processor);
    }
}

#[test]
fn names_that_people_use() {
    let cases = [
        ("gcn3", "gfx803"),
        ("vega", "gfx900"),
        ("cdna3", "gfx942"),
        ("rdna2", "gfx1030-wave32"),
        ("gfx1030", "gfx1030-wave32"),
        ("rdna2-wave64", "gfx1030-wave64"),
        ("rdna4", "gfx1201-wave32"),
        ("fermi", "nv-fermi"),
        ("sm_35", "ptx-sm30"),
        ("sm_75", "ptx-sm70"),
        ("sm_80", "ptx-sm80"),
        ("sm_89", "ptx-sm80"),
        ("nv-ada", "nv-ampere"),
        ("sm_90", "ptx-sm90"),
        ("sm_120", "ptx-sm100"),
        ("nv-blackwell", "nv-hopper"),
        ("hopper-ptx", "ptx-sm90"),
        ("ptx", "ptx-sm70"),
        ("gfx1151", "gfx1151-wave32"),
        ("rdna3.5", "gfx1150-wave32"),
    ];
    for (alias, name) in cases {
        assert_eq!(&*named(alias).name, name);
    }
}

/// NVIDIA's hardware is programmed in two languages, and its name does not select one.
#[test]
fn names_of_hardware_with_several_profiles_are_refused_with_them() {
    for (name, profiles) in [
        ("kepler", ["nv-kepler", "ptx-sm30"]),
        ("pascal", ["nv-maxwell", "ptx-sm30"]),
        ("turing", ["nv-volta", "ptx-sm70"]),
        ("ampere", ["nv-ampere", "ptx-sm80"]),
        ("hopper", ["nv-hopper", "ptx-sm90"]),
        ("blackwell", ["nv-hopper", "ptx-sm100"]),
    ] {
        assert_eq!(Profile::named(name), None, "{name}");
        let why = Profile::unknown(name);
        assert!(profiles.iter().all(|profile| why.contains(&format!("`{profile}`"))), "{why}");
    }
    assert_eq!(Profile::unknown("nv-amper"), "unknown profile `nv-amper`; did you mean `nv-ampere`?");
}

/// The features of each generation, as ranges of the numbers in processors' names; the last digit is hexadecimal.
#[test]
fn features_follow_the_generations() {
    use Feature as F;
    let matrix = [
        (F::AmdWave, 600..=1299),
        (F::AmdSwizzle, 600..=1299),
        (F::AmdSwizzleRotate, 800..=1299),
        (F::AmdPermute, 800..=1299),
        (F::AmdPermuteFetchInactive, 1200..=1299),
        (F::AmdDpp16, 800..=1299),
        (F::AmdDppWave, 800..=999),
        (F::AmdDppRowBcast, 800..=999),
        (F::AmdDppNewBcast, 910..=999),
        (F::AmdDpp64, 940..=999),
        (F::AmdDppRowShare, 1000..=1299),
        (F::AmdDpp8, 1000..=1299),
        (F::AmdFetchInactive, 1000..=1299),
        (F::AmdPermlane16, 1000..=1299),
        (F::AmdPermlaneVar, 1200..=1299),
        (F::AmdPermlane64, 1100..=1299),
        (F::AmdPermlaneSwap, 950..=950),
    ];
    for profile in Profile::all().filter(|profile| profile.target == Target::Amd) {
        let number = profile.processor.trim_start_matches("gfx").chars();
        let number = number.fold(0, |number, digit| number * 10 + digit.to_digit(16).expect("a digit"));
        for (feature, range) in &matrix {
            assert_eq!(profile.has(*feature), range.contains(&number), "{} {feature}", profile.name);
        }
        let wide = matches!(number, 800..=999 | 1200..);
        assert_eq!(profile.has(F::AmdWidePermute), wide, "{}", profile.name);
        let shared = matches!(number, 1000..=1099) && profile.wave_size == Some(64);
        assert_eq!(profile.has(F::AmdSharedVgpr), shared, "{}", profile.name);
    }
}

#[test]
fn prices_follow_inheritance() {
    let read = |name: &str| named(name).costs.of(CostClass::AmdReadLane).expect("a price");
    assert_eq!((read("gfx906").wait_before, read("gfx906").wait_after, read("gfx906").wait_index), (0, 0, 4));
    assert_eq!((read("gfx950").wait_before, read("gfx950").wait_after, read("gfx950").wait_index), (1, 2, 4));
    let dpp = |name: &str| named(name).costs.of(CostClass::AmdDpp);
    assert_eq!(dpp("gfx701"), None);
    assert_eq!(dpp("gfx803").map(|cost| cost.wait_before), Some(2));
    assert_eq!(dpp("gfx1100-wave64").map(|cost| (cost.latency, cost.wait_before)), Some((5, 0)));
}

fn error(text: &str) -> String {
    Profile::from_toml(text, "my.toml").expect_err("a wrong profile").to_string()
}

/// A profile that inherits, with more lines.
fn heir(base: &str, more: &str) -> String {
    format!("name = \"a\"\ninherit = \"{base}\"\n{more}\n")
}

#[test]
fn errors_name_file_line_and_key() {
    let cases = [
        (heir("b", ""), "my.toml:2: inherit: unknown profile `b`; `crosslane profiles` lists them"),
        (heir("b.toml", ""), "my.toml:2: inherit: there is no file b.toml"),
        ("target = \"spirv\"\n".into(), "my.toml:1: name: the key is missing"),
        ("# mine\nname = \"a\"\n".into(), "my.toml:2: target: the key is missing"),
        ("name = \"a\"\ntarget = \"spirv\"\n".into(), "my.toml:1: version: the key is missing"),
        (
            "name = \"a\"\ntarget = \"spirv\"\nversion = \"1.3\"\nwave-size = \"any\"\n".into(),
            "my.toml:1: features: the key is missing",
        ),
        (heir("spirv-1.3", "version = \"x\""), "my.toml:3: version: `x` is not a version: write it as MAJOR.MINOR"),
        (heir("spirv-1.3", "[costs]\ntea = { latency = 3 }"), "my.toml:4: tea: unknown price"),
        (
            heir("nv-kepler", "remove-features = [\"vote\"]\n[costs]\nnv-alu = { lds = 3 }"),
            "my.toml:5: nv-alu: missing field `latency`",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error(&text), message);
    }
}

#[test]
fn waves_are_of_a_size_that_the_hardware_has() {
    let cases = [
        (heir("spirv-1.3", "wave-size = 12"), "my.toml:3: wave-size: 12 is not a power of two from 4 to 128"),
        (
            heir("nv-volta", "wave-size = 64"),
            "my.toml:3: wave-size: there are no waves of 64 lanes on NVIDIA's hardware",
        ),
        (heir("gfx803", "wave-size = 32"), "my.toml:3: wave-size: there are no waves of 32 lanes on gfx803"),
        (heir("gfx1030", "wave-size = 128"), "my.toml:3: wave-size: there are no waves of 128 lanes on gfx1030"),
        (heir("gfx1030", "wave-size = \"any\""), "my.toml:3: wave-size: hardware has waves of a fixed size"),
        (
            heir("gfx1030-wave64", "wave-size = 32"),
            "my.toml:3: wave-size: amd-shared-vgpr is for waves of 64 lanes, not of 32",
        ),
        (
            heir("rdna3", "add-features = [\n  \"amd-dpp-wave\",\n]"),
            "my.toml:4: add-features: amd-dpp-wave is for waves of 64 lanes, not of 32",
        ),
        (heir("rdna3", "processor = \"gfx900\""), "my.toml:3: processor: there are no waves of 32 lanes on gfx900"),
    ];
    for (text, message) in cases {
        assert_eq!(error(&text), message);
    }
    assert!(Profile::from_toml(&heir("gfx1100", "wave-size = 64"), "my.toml").is_ok());
}

#[test]
fn features_belong_to_the_target_and_have_prices() {
    let cases = [
        (
            heir("spirv-1.3", "add-features = [\"nv-shuffle\"]"),
            "my.toml:3: add-features: the profile's target does not have the feature nv-shuffle",
        ),
        (
            heir("nv-fermi", "add-features = [\n  \"nv-shuffle\",\n]"),
            "my.toml:4: costs.nv-shuffle: the key is missing, and the feature nv-shuffle needs it",
        ),
        (
            heir("gfx1030", "processor = \"gfx1039\""),
            "my.toml:3: processor: unknown processor `gfx1039`; did you mean `gfx1030`?",
        ),
        (heir("gfx900", "processor = \"fiji\""), "my.toml:3: processor: unknown processor `fiji`"),
        (
            heir("ptx-sm70", "processor = \"volta\""),
            "my.toml:3: processor: `volta` is not a processor: write it as sm_NUMBER",
        ),
        (
            "name = \"a\"\ntarget = \"amd\"\nversion = \"5.0\"\nwave-size = 64\nfeatures = []\n".into(),
            "my.toml:1: processor: the key is missing",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error(&text), message);
    }
}

#[test]
fn unknown_names_and_wrong_types_are_errors() {
    let starts = [
        ("name = \"a\"\ncolour = 3\n", "my.toml:2: colour: unknown field"),
        ("name = \"a\"\nfeatures = [\n  \"vote\",\n  \"tea\",\n]\n", "my.toml:4: features: unknown variant"),
        ("name = \"a\"\nreproducible = 3\n", "my.toml:2: reproducible: invalid type"),
        ("name = \"a\"\nwave-size = \"many\"\n", "my.toml:2: wave-size: a wave size is a number"),
        ("name = \"a\"\n[costs]\nnv-alu = { latency = -1 }\n", "my.toml:3: nv-alu: invalid value"),
        ("name = \"a\"\n[costs.nv-alu]\nlatency = 1\nspeed = 2\n", "my.toml:4: speed: unknown field"),
    ];
    for (text, start) in starts {
        let message = error(text);
        assert!(message.starts_with(start), "{message}");
    }
}
