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
            let shared = reading.compile(&options);
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
    let shared = options("nv-volta");
    for profile in ["nv-volta", "nv-volta", "spirv-1.3", "nv-kepler", "nv-volta"] {
        let fresh = options(profile);
        let shared = Options { profile: fresh.profile.clone(), ..shared.clone() };
        let [made, expected] = [&shared, &fresh].map(|options| compile(&input(SUM), options, &NoIncludes).verdict);
        assert_eq!(made, expected, "{profile}");
    }
}

/// Two profiles are compared by the features that extensions need.
#[test]
fn no_feature_is_asked_for_but_by_an_extension() {
    for feature in [Feature::SpirvIntrinsics, Feature::CooperativeMatrix] {
        assert!(crate::grammar::EXTENSIONS.iter().any(|extension| extension.needs.contains(&feature)), "{feature}");
    }
}

/// A shader with `[[unroll]]` before a loop.
fn unrolled(head: &str, body: &str) -> String {
    format!(
        "#version 450\n#extension GL_EXT_control_flow_attributes : require\nlayout(local_size_x = 64) in;\n\
         layout(std430, binding = 0) buffer Data {{ uint a[]; }};\n\
         void main() {{ uint i = gl_LocalInvocationIndex, sum = 0u, parts[100];\n{head} {{ {body} }}\na[i] = sum; }}\n"
    )
}

const HARDWARE: [&str; 3] = ["nv-ampere", "gfx1100-wave64", "ptx-sm80"];

#[test]
fn loops_that_are_to_be_unrolled_are_gone() {
    let text = unrolled("[[unroll]] for (uint n = 0u; n < 100u; ++n)", "parts[n] = i * n; sum += parts[n];");
    for profile in HARDWARE {
        let made = compile(&input(&text), &Options { emit: EmitKind::Kernel, ..options(profile) }, &NoIncludes);
        assert!(made.diagnostics.is_empty(), "{profile}: {:?}", made.diagnostics);
        let Verdict::Done(Artifact::Text(kernel)) = made.verdict else { panic!("{profile}") };
        assert!(!kernel.contains("loop") && !kernel.contains("private"), "{profile}: {kernel}");
    }
}

#[test]
fn a_loop_that_cannot_be_unrolled_gets_a_warning_with_the_reason() {
    let long = "sum = sum * 3u + a[sum & 63u];".repeat(20);
    let cases = [
        ("[[unroll]] for (uint n = 0u; n < a[0]; ++n)", "sum += n;", "constants do not tell"),
        ("[[unroll]] for (uint n = 0u; n < 1000u; ++n)", &long, "more than 16384 instructions"),
        ("[[unroll]] for (uint n = 0u; n < 2000u; ++n)", "sum += a[n];", "at most 1024 iterations"),
        ("for (uint n = 0u; n < a[0]; ++n)", "sum += n;", ""),
        ("[[dont_unroll]] for (uint n = 0u; n < 4u; ++n)", "sum += a[n];", ""),
    ];
    for (profile, (head, body, reason)) in HARDWARE.iter().flat_map(|profile| cases.map(|case| (*profile, case))) {
        let text = unrolled(head, body);
        let made = compile(&input(&text), &options(profile), &NoIncludes);
        let found: Vec<_> = made.diagnostics.iter().collect();
        assert_eq!(found.len(), usize::from(!reason.is_empty()), "{profile}, {head}: {found:?}");
        for warning in found {
            assert_eq!((warning.code, warning.severity), (Code::NOT_UNROLLED, Severity::Warning));
            assert!(warning.labels[0].text.contains(reason), "{profile}, {head}: {warning:?}");
            assert!(made.sources.text(warning.span()).contains("for ("), "{warning:?}");
        }
    }
}
