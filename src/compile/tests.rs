use super::*;
use crate::profile::Feature;
use crate::source::NoIncludes;

const SUM: &str = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
    layout(std430, binding = 0) buffer Data { float a[]; };\n\
    void main() { a[gl_GlobalInvocationID.x] = exclusiveAdd8(allReduceAdd32(a[gl_GlobalInvocationID.x])); }\n";

fn options(profile: &str) -> Options {
    Options::new(Profile::named(profile).expect("a profile"))
}

fn input(source: &str) -> Input<'_> {
    Input { name: "a.comp", bytes: source.as_bytes(), language: Language::Glsl }
}

#[test]
fn bits_behind_the_last_lane_may_be_asked_for() {
    let text = SUM.replace("GL_CROSSLANE_portable", "GL_KHR_shader_subgroup_ballot").replace(
        "exclusiveAdd8(allReduceAdd32(a[gl_GlobalInvocationID.x]))",
        "float(subgroupBallotBitExtract(subgroupBallot(true), 4294967295u))",
    );
    for profile in ["spirv-1.6", "nv-hopper", "gfx900", "gfx1100-wave32"] {
        let made = compile(&input(&text), &options(profile), &NoIncludes);
        assert!(matches!(made.verdict, Verdict::Done(_)), "{profile}: {:?}", made.diagnostics);
    }
}

#[test]
fn one_reading_gives_every_profile_that_it_serves_its_own_output() {
    let families = [
        ["nv-kepler", "nv-maxwell", "nv-hopper"],
        ["spirv-1.5", "spirv-1.6", "spirv-1.5"],
        ["gfx600", "gfx900", "gfx1030-wave64"],
    ];
    for profiles in families {
        let reading = Reading::new(&input(SUM), &options(profiles[0]), &NoIncludes);
        for name in profiles {
            let options = options(name);
            assert!(reading.serves(&options.profile), "{name}");
            let shared = reading.compile(&options, &Plans::default());
            let own = compile(&input(SUM), &options, &NoIncludes);
            assert!(matches!(own.verdict, Verdict::Done(_)), "{name}");
            assert_eq!(shared.verdict, own.verdict, "{name}");
        }
    }
}

#[test]
fn a_reading_serves_no_profile_for_which_the_shader_means_something_else() {
    let reading = Reading::new(&input(SUM), &options("nv-kepler"), &NoIncludes);
    for other in ["nv-fermi", "spirv-1.3", "gfx1030-wave32"] {
        assert!(!reading.serves(&options(other).profile), "{other}");
    }
}

#[test]
fn messages_name_the_profile_that_they_are_for() {
    let asks = SUM.replacen("#extension", "#extension GL_EXT_spirv_intrinsics : enable\n#extension", 1);
    let reading = Reading::new(&input(&asks), &options("nv-kepler"), &NoIncludes);
    assert!(reading.serves(&options("nv-kepler").profile));
    assert!(!reading.serves(&options("nv-hopper").profile));
}

#[test]
fn plans_are_those_of_a_single_compilation() {
    let (options, plans) = (options("nv-volta"), Plans::default());
    let made = || Reading::new(&input(SUM), &options, &NoIncludes).compile(&options, &plans).verdict;
    assert_eq!(made(), compile(&input(SUM), &options, &NoIncludes).verdict);
    assert_eq!(made(), compile(&input(SUM), &options, &NoIncludes).verdict);
}

/// Two profiles are compared by what extensions ask.
#[test]
fn no_feature_is_asked_for_but_by_an_extension() {
    for feature in [Feature::SpirvIntrinsics, Feature::CooperativeMatrix] {
        assert!(crate::grammar::EXTENSIONS.iter().any(|extension| extension.needs.contains(&feature)), "{feature}");
    }
}
