//! The barriers and the errors of shaders with operations that are wider than the subgroup.

use super::spanned;
use crate::compile::{Input, Language, Options, parse};
use crate::diagnostic::Code;
use crate::ir::{Module, Stage, print, verify};
use crate::profile::Profile;
use crate::source::NoIncludes;

fn profile(lanes: u32) -> Profile {
    Profile::named("spirv-1.6").expect("it is built in").with_wave_size(Some(lanes))
}

fn module(text: &str, stage: Stage) -> Module {
    let options = Options { stage: Some(stage), ..Options::new(profile(8)) };
    let input = Input { name: "spanning", bytes: text.as_bytes(), language: Language::Glsl };
    let parsed = parse(&input, &options, &NoIncludes);
    parsed.module.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn compute(layout: &str, body: &str) -> Module {
    let text = format!(
        "#version 450\n#extension GL_CROSSLANE_portable : require\n#extension GL_KHR_shader_subgroup_clustered : require\n\
         layout({layout}) in;\nlayout(binding = 0) buffer B {{ uint x[]; }};\n\
         layout(binding = 1) readonly buffer C {{ uint turns; }};\n\
         uint both(uint v) {{ return inclusiveAdd32(exclusiveAdd16(v)); }}\n\
         void main() {{ uint i = gl_LocalInvocationIndex; uint v = x[i]; {body} x[i] = v; }}\n"
    );
    module(&text, Stage::Compute)
}

/// Counts the barriers of a shader and its functions for subgroups of 8 lanes.
fn barriers(body: &str) -> usize {
    let module = compute("local_size_x = 64", body);
    let spanned = spanned(&module, &profile(8)).unwrap_or_else(|errors| panic!("{body}: {errors:?}"));
    verify::verify(&spanned).unwrap_or_else(|errors| panic!("{body}: {errors:?}"));
    print::print(&spanned, None).matches("barrier").count()
}

#[test]
fn exchanges_alternate_between_two_areas() {
    let one = "v = allReduceAdd16(v);";
    assert_eq!(barriers(one), 1);
    assert_eq!(barriers("v += segmentLast64() ? 1u : 0u;"), 0, "nothing is exchanged");
    assert_eq!(barriers("v = allReduceAdd16(v); v = allReduceMax16(v); v = butterfly64(v);"), 3);
    assert_eq!(barriers("if (turns > 3u) v = allReduceAdd16(v); v = allReduceMax16(v);"), 2);
    assert_eq!(barriers("if (turns > 3u) v = allReduceAdd16(v); else v = reverse16(v); v = allReduceMax16(v);"), 3);
}

#[test]
fn operations_over_the_workgroup_have_one_barrier() {
    for body in [
        "v = workgroupAllReduceAdd(v);",
        "v = workgroupExclusiveMul(v);",
        "v = uint(floatBitsToUint(workgroupSegmentedReduceAdd(float(v), v > 3u)));",
        "v = workgroupBroadcast(v, 5u);",
        "v = workgroupBallotCount(v > 3u);",
        "v = uint(workgroupAllEqual(v));",
    ] {
        assert_eq!(barriers(body), 1, "{body}");
    }
    assert_eq!(barriers("v = uint(workgroupLast());"), 0, "nothing is exchanged");
    assert_eq!(barriers("if (workgroupAny(v > 3u)) v = workgroupReduceXor(v);"), 2, "the vote is the same everywhere");
}

#[test]
fn a_barrier_for_reuse_is_unconditional_where_wide_subgroups_exchange_too() {
    let profile = Profile::named("spirv-1.6").expect("it is built in");
    let waits_by_size = |body: &str| {
        let module = compute("local_size_x = 64", body);
        let spanned = spanned(&module, &profile).unwrap_or_else(|errors| panic!("{body}: {errors:?}"));
        verify::verify(&spanned).unwrap_or_else(|errors| panic!("{body}: {errors:?}"));
        print::print(&spanned, None).contains("wait_for_segments")
    };
    assert!(waits_by_size("for (uint n = 0u; n < turns; n++) v = allReduceAdd64(v);"));
    assert!(!waits_by_size("for (uint n = 0u; n < turns; n++) v = workgroupBroadcast(v + n, 3u);"));
}

#[test]
fn loops_wait_only_if_a_turn_ends_in_the_area_of_the_next() {
    let odd = "for (uint n = 0u; n < turns; n++) v = allReduceAdd16(v);";
    assert_eq!(barriers(odd), 2, "each turn uses the same area");
    let even = "for (uint n = 0u; n < turns; n++) { v = allReduceAdd16(v); v = allReduceMin16(v); }";
    assert_eq!(barriers(even), 2, "the turns alternate");
    let left =
        "for (uint n = 0u; n < turns; n++) { v = allReduceAdd16(v); if (n == 3u) break; v = allReduceMin16(v); }";
    assert_eq!(barriers(&format!("{left} v = reverse16(v);")), 4, "the loop may end in either area");
    let own = "for (uint n = 0u; n < turns; n++) { barrier(); v = allReduceAdd16(v); }";
    assert_eq!(barriers(own), 2, "the shader's own barrier orders the turns");
    assert_eq!(barriers("v = both(v); v = both(v);"), 3, "the function waits for what its caller reads");
}

fn errors(module: &Module) -> Vec<String> {
    let errors = spanned(module, &profile(8)).err().unwrap_or_default();
    assert!(errors.iter().all(|error| error.code == Code::TOO_WIDE), "{errors:?}");
    errors.iter().map(|error| error.labels[0].text.clone()).collect()
}

#[test]
fn every_invocation_must_reach_an_exchange() {
    const MAY_NOT: &str = "some invocations of the workgroup may not reach it";
    for body in [
        "if (v > 3u) v = allReduceAdd16(v);",
        "if (x[0] > 3u) v = both(v);",
        "for (uint n = 0u; n < v; n++) v = butterfly32(v);",
        "if (i > 40u) return; v = inclusiveMax64(v);",
        "if (allReduceAdd16(v) > 3u) v = reverse64(v);",
        "if (v > 3u) v = workgroupAllReduceAdd(v);",
        "if (workgroupInclusiveAdd(v) > 3u) v = workgroupBroadcast(v, 0u);",
    ] {
        let errors = errors(&compute("local_size_x = 64", body));
        assert!(!errors.is_empty() && errors.iter().all(|error| error == MAY_NOT), "{body}: {errors:?}");
    }
    for body in [
        "if (turns > 3u) v = allReduceAdd16(v);",
        "if (gl_WorkGroupID.x > 3u) v = both(v);",
        "if (v > 3u) v += segmentLast64() ? 1u : 0u;",
        "if (v > 3u) v = allReduceAdd8(v);",
    ] {
        assert_eq!(errors(&compute("local_size_x = 64", body)), Vec::<String>::new(), "{body}");
    }
}

#[test]
fn the_workgroup_has_memory_and_a_known_size() {
    let of_constant = compute("local_size_x_id = 0", "v = allReduceAdd16(v);");
    assert_eq!(errors(&of_constant), ["the size of the workgroup is a specialization constant"]);
    let clustered = "v = subgroupClusteredAdd(v, 32);";
    let partial = compute("local_size_x = 48", clustered);
    assert_eq!(errors(&partial), ["the workgroup of 48 does not fill the last segment of 32"]);
    assert!(errors(&compute("local_size_x = 96", clustered)).is_empty());
    let of_constant = compute("local_size_x_id = 0", "v = workgroupAllReduceAdd(v);");
    assert_eq!(errors(&of_constant), ["the size of the workgroup is a specialization constant"]);
    let large = compute("local_size_x = 1024, local_size_y = 2", "v = workgroupAllReduceAdd(v);");
    assert_eq!(errors(&large), ["the workgroup has 2048 invocations, more than 1024"]);
    let uneven = compute("local_size_x = 999", "v = workgroupAllReduceAdd(v);");
    assert_eq!(errors(&uneven), ["a workgroup of 999 has too many parts of equal size"]);
    let fragment = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(location = 0) out vec4 c;\n\
                    void main() { c = allReduceMax16(gl_FragCoord); }\n";
    assert_eq!(errors(&module(fragment, Stage::Fragment)), ["fragment shaders have no workgroup memory"]);
}
