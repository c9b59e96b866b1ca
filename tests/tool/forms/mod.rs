//! Every row of the language tables that is a cross-lane operation, called once for each type that it takes, in GLSL
//! and in WGSL, for one profile of each target. A call compiles, or the profile refuses it with the code of a refusal.

mod glsl;
mod walk;
mod wgsl;

use crosslane::diagnostic::Code;
use crosslane::grammar::{self, FUNCTIONS, VARIABLES, VariableSource};
use crosslane::profile::{Feature, Profile, Target};
use std::collections::BTreeSet;
use walk::{Given, Language, walk, walk_some};

/// The operations that a profile refuses, by the names of rows.
struct Refused {
    profile: &'static str,
    families: &'static [&'static str],
}

/// NVIDIA's processors have numbers that other hardware has not.
const REFUSED: [Refused; 3] = [
    Refused { profile: "spirv-1.6", families: &[] },
    Refused { profile: "nv-hopper", families: &[] },
    Refused { profile: "gfx1100-wave32", families: PROCESSORS },
];

const PROCESSORS: &[&str] = &["gl_SMCountNV", "gl_SMIDNV", "gl_WarpIDNV", "gl_WarpsPerSMNV"];

fn check(language: &Language, profile: &str) {
    let row = REFUSED.iter().find(|row| row.profile == profile).expect("the table has the profile");
    let found = walk(language, Given::Loaded, profile);
    let families: Vec<&str> = found.refused.keys().copied().collect();
    assert_eq!(families, row.families, "{profile}: {:#?}", found.refused);
    assert!(found.compiled > 1500, "{profile}: {} calls", found.compiled);
}

#[test]
fn wgsl_for_spirv() {
    check(&wgsl::LANGUAGE, "spirv-1.6");
}

#[test]
fn wgsl_for_nvidia() {
    check(&wgsl::LANGUAGE, "nv-hopper");
}

#[test]
fn wgsl_for_amd() {
    check(&wgsl::LANGUAGE, "gfx1100-wave32");
}

#[test]
fn glsl_for_spirv() {
    check(&glsl::LANGUAGE, "spirv-1.6");
}

#[test]
fn glsl_for_nvidia() {
    check(&glsl::LANGUAGE, "nv-hopper");
}

#[test]
fn glsl_for_amd() {
    check(&glsl::LANGUAGE, "gfx1100-wave32");
}

/// If every operand is constant, a profile compiles a call or reports what it lacks: none of its plans is wrong. The
/// profiles of a target that have subgroups divide the calls among them.
fn constants(language: &Language, target: Target) {
    let takes_part = |profile: &&Profile| profile.target == target && profile.has(Feature::LaneFacts);
    let profiles: Vec<_> = Profile::built_in().iter().filter(takes_part).collect();
    for (part, profile) in profiles.iter().enumerate() {
        let found = walk_some(language, Given::Constant, &profile.name, profiles.len(), part);
        let faults = found.refused.into_iter().filter(|(_, codes)| codes.contains(&Code::INTERNAL.to_string()));
        assert_eq!(faults.map(|(family, _)| family).collect::<Vec<_>>(), [""; 0], "{}", profile.name);
        assert!(found.compiled > 0, "{}", profile.name);
    }
}

#[test]
fn glsl_constants_for_spirv() {
    constants(&glsl::LANGUAGE, Target::Spirv);
}

#[test]
fn glsl_constants_for_nvidia() {
    constants(&glsl::LANGUAGE, Target::Nv);
}

#[test]
fn glsl_constants_for_amd() {
    constants(&glsl::LANGUAGE, Target::Amd);
}

#[test]
fn glsl_constants_for_wgsl() {
    constants(&glsl::LANGUAGE, Target::Wgsl);
}

#[test]
fn wgsl_constants_for_wgsl() {
    constants(&wgsl::LANGUAGE, Target::Wgsl);
}

#[test]
fn wgsl_constants_for_spirv() {
    constants(&wgsl::LANGUAGE, Target::Spirv);
}

#[test]
fn wgsl_constants_for_nvidia() {
    constants(&wgsl::LANGUAGE, Target::Nv);
}

#[test]
fn wgsl_constants_for_amd() {
    constants(&wgsl::LANGUAGE, Target::Amd);
}

/// WGSL has a name for every cross-lane operation of GLSL.
#[test]
fn wgsl_has_a_name_for_every_operation() {
    let named: BTreeSet<*const grammar::Overload> =
        grammar::wgsl_function_names().flat_map(grammar::wgsl_functions).map(std::ptr::from_ref).collect();
    let rows = FUNCTIONS.iter().flat_map(|function| function.overloads);
    let missing: Vec<&str> = rows
        .filter(|row| row.lowering.is_of_lanes() && !named.contains(&std::ptr::from_ref(*row)))
        .map(|row| row.signature)
        .collect();
    assert_eq!(missing, [""; 0]);
    let variables = VARIABLES.iter().filter(|row| matches!(row.source, VariableSource::Lane(_)) && row.wgsl.is_none());
    assert_eq!(variables.map(|row| row.name).collect::<Vec<_>>(), [""; 0]);
}
