//! Each rule on the smallest shaders that satisfy and violate it, and the order of the messages.

use super::slice::Slice;
use super::{Work, walk};
use crate::compile::{Input, Language, Options, Verdict, compile, parse};
use crate::diagnostic::Code;
use crate::diagnostic::warning::{Choice, of};
use crate::glsl::preprocess::MacroOption;
use crate::ir::Stage;
use crate::ir::calls::callees_first;
use crate::profile::{Profile, WaveSize};
use crate::source::NoIncludes;
use std::fs;
use std::path::Path;

const HEAD: &str = "#version 460\n\
    #extension GL_CROSSLANE_portable : require\n\
    #extension GL_KHR_shader_subgroup_basic : require\n\
    #extension GL_KHR_shader_subgroup_shuffle : require\n\
    #extension GL_KHR_shader_subgroup_ballot : require\n\
    #extension GL_KHR_shader_subgroup_arithmetic : require\n\
    #extension GL_KHR_shader_subgroup_clustered : require\n\
    #extension GL_KHR_shader_subgroup_quad : require\n\
    #extension GL_KHR_shader_subgroup_vote : require\n\
    #extension GL_CROSSLANE_quadrants : require\n\
    #extension GL_NV_shader_thread_shuffle : require\n\
    layout(std430, binding = 0) buffer Data { float x[]; };\n\
    layout(std430, binding = 1) buffer Settings { uint n; uint table[]; };\n\
    shared float s[64];\n";

/// Codes of the messages about a shader and the text of each span.
fn said(text: &str, profile: &str, stage: Stage) -> Vec<(Code, String)> {
    let input = Input { name: "a.comp", bytes: text.as_bytes(), language: Language::Glsl };
    let profile = Profile::named(profile).expect("a profile");
    let choices = [of(Code::WAVE_SIZE).map(Choice::on), of(Code::NARROW_SUBGROUPS).map(Choice::off)];
    let warnings = choices.into_iter().flatten().collect();
    let options = Options { stage: Some(stage), warnings, ..Options::new(profile) };
    assert_eq!(is_alike_in_slices(&input, &options), Some(true), "{text}");
    let made = compile(&input, &options, &NoIncludes);
    let messages: Vec<_> = made.diagnostics.iter().collect();
    assert!(matches!(made.verdict, Verdict::Done(_)), "{messages:?}");
    messages.iter().map(|message| (message.code, made.sources.text(message.span()).to_string())).collect()
}

/// Returns true if the walk over a slice of a shader finds the same as the walk over all of it; `None` if the profile
/// cannot express the shader.
fn is_alike_in_slices(input: &Input<'_>, options: &Options) -> Option<bool> {
    let module = parse(input, options, &NoIncludes).module?;
    let is_alike = module.entry_points.iter().all(|entry| {
        let work = Work::new(&module, entry, &options.profile);
        let order = callees_first(&module, [entry.function]);
        let slice = Slice::new(&module, &order, work.size);
        let whole = walk::run(&work, &order, &Slice::whole(&module));
        walk::run(&work, &order, &slice) == whole
    });
    Some(is_alike)
}

#[test]
fn a_slice_tells_what_the_whole_tells() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for (folder, language) in [("glsl", Language::Glsl), ("wgsl", Language::Wgsl), ("core", Language::Glsl)] {
        for entry in fs::read_dir(root.join(folder)).expect("the fixtures are there") {
            let path = entry.expect("an entry can be read").path();
            let bytes = fs::read(&path).expect("a fixture can be read");
            let input = Input { name: "a", bytes: &bytes, language };
            let width = MacroOption::Define { name: "WIDTH".to_owned(), value: "8".to_owned() };
            // SPIR-V expresses everything, and has no fixed subgroup size.
            let is_alike = ["nv-hopper", "spirv-1.6"].into_iter().find_map(|profile| {
                let profile = Profile::named(profile).expect("a profile");
                is_alike_in_slices(&input, &Options { macros: vec![width.clone()], ..Options::new(profile) })
            });
            assert_eq!(is_alike, Some(true), "{}", path.display());
        }
    }
}

/// The warnings about a main function of 64 invocations, for a profile with 32 lanes.
fn warned(body: &str) -> Vec<(Code, String)> {
    warned_in("layout(local_size_x = 64) in;", body, "nv-hopper")
}

fn warned_in(layout: &str, body: &str, profile: &str) -> Vec<(Code, String)> {
    let body = if body.contains("void main()") { body.to_string() } else { format!("void main() {{ {body} }}") };
    let text = format!("{HEAD}{layout}\n{body}\n");
    said(&text, profile, Stage::Compute).into_iter().filter(|(code, _)| *code != Code::WAVE_SIZE).collect()
}

const I: &str =
    "uint i = gl_GlobalInvocationID.x; uint l = gl_LocalInvocationIndex; uint lane = laneIndex(); float v = x[i];";

fn assert_silent(body: &str) {
    assert_eq!(warned(&format!("{I} {body}")), [], "{body}");
}

fn assert_warned(body: &str, code: Code, about: &str) {
    assert_eq!(warned(&format!("{I} {body}")), [(code, about.to_string())], "{body}");
}

#[test]
fn branches_part_lanes_where_their_condition_differs() {
    assert_warned("if (v > 0.0) x[i] = butterfly8(v);", Code::LANES_APART, "butterfly8(v)");
    assert_warned("if (v > 0.0) { if (n > 1u) x[i] = butterfly8(v); }", Code::LANES_APART, "butterfly8(v)");
    assert_warned("x[i] = v > 0.0 ? allReduceAdd(v) : 0.0;", Code::LANES_APART, "allReduceAdd(v)");
    assert_warned("switch (table[i]) { case 1u: x[i] = quadSwizzle0(v); }", Code::LANES_APART, "quadSwizzle0(v)");
    for uniform in
        ["n > 1u", "gl_WorkGroupID.x > 2u", "gl_SubgroupID == 0u", "table[gl_WorkGroupID.y] > 3u", "x[n] > 0.5"]
    {
        assert_silent(&format!("if ({uniform}) x[i] = allReduceAdd(v);"));
    }
    for vote in ["subgroupAny(v > 0.0)", "allReduceAdd(v) > 1.0", "broadcastFirst(v) > 0.0", "ballot(v > 0.0).x > 1u"] {
        assert_silent(&format!("if ({vote}) x[i] = allReduceAdd(v);"));
    }
}

#[test]
fn equal_values_of_both_branches_are_alike() {
    for value in ["3u", "m"] {
        let choice = "uint m = n * 2u; uint k; if (v > 0.0) { x[i] = 1.0; k = VALUE; } else { k = VALUE; }";
        let choice = choice.replace("VALUE", value);
        assert_silent(&format!("{choice} if (k > 1u) x[i] = allReduceAdd(v);"));
    }
    assert_silent("vec2 k; if (v > 0.0) k = vec2(1, 2); else k = vec2(1, 2); if (k.x > 0.5) x[i] = allReduceAdd(v);");
    assert_silent("uint m = n; uint k = v > 0.0 ? m : m; if (k > 1u) x[i] = allReduceAdd(v);");
    assert_silent("uint k = n; if (v > 0.0) k = n * 2u; k = n; if (k > 1u) x[i] = allReduceAdd(v);");
    let apart = ["uint m = n; uint k; if (v > 0.0) k = m; else k = m + 1u;", "uint k = n; if (v > 0.0) k = table[1];"];
    for choice in apart {
        assert_warned(&format!("{choice} if (k > 1u) x[i] = allReduceAdd(v);"), Code::LANES_APART, "allReduceAdd(v)");
    }
    // A single instruction computes a different value for each lane that leaves the loop in another iteration.
    let rounds = "uint k = 0u; for (uint j = 0u; j < 8u; j++) { uint m = table[j]; k = m; if (x[i + j] > 0.0) break; }";
    assert_warned(&format!("{rounds} if (k > 1u) x[i] = allReduceAdd(v);"), Code::LANES_APART, "allReduceAdd(v)");
}

#[test]
fn parts_of_a_composite_value_are_told_apart() {
    let parts = "float a[4]; a[0] = v; a[1] = float(n); struct { uint flag; float value; } s; s.value = v; s.flag = n; \
                 vec4 c = vec4(v, float(n), v, 1.0); vec2 d; d.x = v; d.y = float(n); uint k = n;";
    let global = "struct S { float value; uint flag; }; S make(float a, uint b) { S s; s.value = a; s.flag = b; return s; }\n\
                  void fill(inout S s, float a) { s.value = a; }\nS kept;\nvoid main() { MAIN }";
    for uniform in ["a[1] > 0.0", "s.flag > 0u", "c.y > 0.0", "d.y > 0.0"] {
        assert_silent(&format!("{parts} if ({uniform}) x[i] = allReduceAdd(v);"));
        assert_silent(&format!(
            "{parts} if (v > 0.0) {{ a[0] = 1.0; s.value = 2.0; c.x = 1.0; d.x = 3.0; }} if ({uniform}) x[i] = allReduceAdd(v);"
        ));
    }
    for varying in ["a[0] > 0.0", "a[k] > 0.0", "s.value > 0.0", "c.x > 0.0", "d.x > 0.0", "c.z > 0.0"] {
        assert_warned(&format!("{parts} if ({varying}) x[i] = allReduceAdd(v);"), Code::LANES_APART, "allReduceAdd(v)");
    }
    for changed in
        ["a[k] = v; if (a[1] > 0.0)", "if (v > 0.0) a[1] = 2.0; if (a[1] > 0.0)", "s.flag = uint(v); if (s.flag > 0u)"]
    {
        assert_warned(&format!("{parts} {changed} x[i] = allReduceAdd(v);"), Code::LANES_APART, "allReduceAdd(v)");
    }
    for (main, silent) in [
        ("S s = make(v, n); if (s.flag > 0u) x[i] = allReduceAdd(v);", true),
        ("S s = make(v, n); if (s.value > 0.0) x[i] = allReduceAdd(v);", false),
        ("S s = S(1.0, n); fill(s, v); if (s.flag > 0u) x[i] = allReduceAdd(v);", true),
        ("S s = S(1.0, n); fill(s, v); if (s.value > 0.0) x[i] = allReduceAdd(v);", false),
        ("kept.value = v; kept.flag = n; if (kept.flag > 0u) x[i] = allReduceAdd(v);", true),
        ("kept.value = v; kept.flag = n; if (kept.value > 0.0) x[i] = allReduceAdd(v);", false),
    ] {
        let found = warned(&global.replace("MAIN", &format!("{I} {main}")));
        assert_eq!(found.is_empty(), silent, "{main}: {found:?}");
    }
}

#[test]
fn constant_conditions_part_no_lanes() {
    for condition in
        ["false && v > 0.0", "v > 0.0 && false", "!(true || v > 0.0)", "DEBUG && v > 0.0", "v > 0.0 && DEBUG"]
    {
        assert_silent(&format!("const bool DEBUG = false; if ({condition}) return; x[i] = allReduceAdd(v);"));
        assert_silent(&format!(
            "const bool DEBUG = false; for (uint j = 0u; j < n; j++) {{ if ({condition}) break; v += allReduceAdd(v); }} x[i] = v;"
        ));
        assert_silent(&format!("const bool DEBUG = false; if (!({condition})) x[i] = allReduceAdd(v);"));
    }
    assert_silent(
        "const uint MODE = 1u; switch (MODE) { case 0u: if (v > 0.0) return; break; default: break; } x[i] = allReduceAdd(v);",
    );
    assert_silent(
        "uint mode = 1u; uint k = n; switch (mode) { case 0u: k = uint(v); break; case 1u: k = 2u; } if (k > 1u) x[i] = allReduceAdd(v);",
    );
}

#[test]
fn conditions_on_the_lanes_number_part_larger_segments_only() {
    for (condition, lanes) in [
        ("lane < 16u", 16),
        ("16u > lane", 16),
        ("lane >= 24u", 8),
        ("lane > 7u", 8),
        ("lane <= 7u", 8),
        ("(lane & 8u) != 0u", 8),
        ("(l & 7u) < 4u", 4),
        ("lane / 8u == 1u", 8),
        ("l >> 3u == 5u", 8),
        ("lane % 16u >= 8u", 8),
        ("gl_LocalInvocationID.x < 8u", 8),
        ("i < 8u", 8),
        ("i < 8u * n", 8),
        ("i + 16u * n < 48u", 16),
        ("(lane ^ 16u) < 16u", 16),
    ] {
        for width in [2, 4, 8, 16, 32] {
            let body = format!("{I} if ({condition}) x[i] = allReduceAdd(v, {width});");
            let expected = if width > lanes { 1 } else { 0 };
            assert_eq!(warned(&body).len(), expected, "{condition}, {width}");
        }
    }
    assert_silent("if (l < 32u) x[i] = allReduceAdd(v);");
    assert_silent("uvec3 id = gl_LocalInvocationID; if (id.x / 32u == 1u) x[i] = allReduceAdd(v);");
    assert_warned("if (l < 33u) x[i] = allReduceAdd(v);", Code::LANES_APART, "allReduceAdd(v)");
}

#[test]
fn the_size_of_the_subgroup_parts_no_subgroup() {
    for profile in ["nv-hopper", "spirv-1.5"] {
        for (condition, count) in [
            ("l < laneCount()", 0),
            ("l / laneCount() == 1u", 0),
            ("l >= 2u * laneCount()", 0),
            ("gl_SubgroupID * laneCount() + lane < laneCount()", 0),
            ("l % laneCount() == 0u", 1),
            ("l < laneCount() / 2u", 1),
            ("l < laneCount() - 1u", 1),
        ] {
            let body = format!("{I} if ({condition}) x[i] = allReduceAdd(v);");
            assert_eq!(
                warned_in("layout(local_size_x = 64) in;", &body, profile).len(),
                count,
                "{condition}, {profile}"
            );
        }
    }
}

#[test]
fn lanes_that_left_early_are_missing() {
    for leave in [
        "if (v > 0.0) return;",
        "for (uint k = 0u; k < n; k++) { if (x[i + k] > 0.0) return; }",
        "if (n > 2u) { if (v > 1.0) return; }",
    ] {
        assert_warned(&format!("{leave} x[i] = butterfly2(v);"), Code::LANES_APART, "butterfly2(v)");
    }
    assert_silent("if (n > 2u) return; x[i] = butterfly2(v);");
    assert_silent("for (uint k = 0u; k < n; k++) { if (x[i + k] > 0.0) break; } x[i] = butterfly2(v);");
    assert_silent("for (uint k = 0u; k < n; k++) { if (x[i + k] > 0.0) continue; v += 1.0; } x[i] = butterfly2(v);");
}

#[test]
fn loops_part_lanes_where_they_leave_in_different_rounds() {
    assert_warned("for (uint k = l; k < n; k += 64u) v += butterfly2(v);", Code::LANES_APART, "butterfly2(v)");
    assert_warned("do { v += butterfly2(v); } while (v < 3.0);", Code::LANES_APART, "butterfly2(v)");
    assert_warned(
        "for (uint k = 0u; k < n; k++) { if (v > 0.0) continue; v += butterfly2(v); }",
        Code::LANES_APART,
        "butterfly2(v)",
    );
    assert_warned(
        "for (uint k = 0u; k < n; k++) { v += butterfly2(v); if (v > 0.0) break; }",
        Code::LANES_APART,
        "butterfly2(v)",
    );
    assert_silent("for (uint k = 0u; k < n; k++) v += butterfly2(v);");
    assert_silent("for (uint k = n; k > 0u; k >>= 1u) { s[l] = v; barrier(); v += butterfly2(s[l ^ k]); }");
    assert_silent("for (uint k = 0u; k < 8u; k++) { if (v > 0.0) v -= 1.0; v += butterfly2(v); }");
}

#[test]
fn a_variable_that_is_used_again_is_another() {
    assert_silent("uint k; for (k = l; k < n; k += 64u) v += x[k]; for (k = 0u; k < 4u; k++) v += butterfly2(v);");
    assert_silent(
        "uint k; for (k = 0u; k < 4u; k++) v += butterfly2(v); for (k = l; k < n; k += 64u) v += x[k]; x[i] = v;",
    );
    assert_silent("uint k = 3u; if (v > 0.0) { k = l; v += float(k); k = 5u; } if (n > 1u) x[i] = butterfly2(v);");
    assert_warned(
        "uint k = 3u; if (v > 0.0) k = 5u; if (k > 3u) x[i] = butterfly2(v);",
        Code::LANES_APART,
        "butterfly2(v)",
    );
    assert_warned(
        "uint k = 0u; for (uint j = 0u; j < 4u; j++) { if (k > 2u) v += butterfly2(v); k = table[i]; }",
        Code::LANES_APART,
        "butterfly2(v)",
    );
}

#[test]
fn functions_are_looked_at_where_they_are_called() {
    let main = |call: &str| format!("void main() {{ {I} {call} }}");
    let fold = "float fold(float v, bool p) { return p ? allReduceAdd8(v) : 0.0; }\n";
    assert_eq!(warned(&format!("{fold}{}", main("x[i] = fold(v, n > 1u);"))), []);
    assert_eq!(warned(&format!("{fold}{}", main("x[i] = fold(v, v > 1.0);"))).len(), 1);
    assert_eq!(warned(&format!("{fold}{}", main("if (v > 1.0) x[i] = fold(v, true);"))).len(), 1);
    let twice = "uint twice(uint k) { return 2u * k; }\n";
    let call = "x[twice(i)] = v; if (twice(n) > 4u) x[i] = butterfly2(v);";
    assert_eq!(warned(&format!("{twice}{}", main(call))), []);
    let set = "void set(inout uint k, uint to) { k = to; }\n";
    assert_eq!(warned(&format!("{set}{}", main("uint k = 0u; set(k, n); if (k > 1u) x[i] = butterfly2(v);"))), []);
    assert_eq!(warned(&format!("{set}{}", main("uint k = 0u; set(k, i); if (k > 1u) x[i] = butterfly2(v);"))).len(), 1);
    let global = "uint k = 0u; void set(uint to) { k = to; }\n";
    assert_eq!(warned(&format!("{global}{}", main("set(n); if (k > 1u) x[i] = butterfly2(v);"))), []);
    assert_eq!(warned(&format!("{global}{}", main("set(i); if (k > 1u) x[i] = butterfly2(v);"))).len(), 1);
    let early = "uint early(float v) { if (v > 0.0) return 1u; return 2u; }\n";
    assert_eq!(warned(&format!("{early}{}", main("if (early(v) > 1u) x[i] = butterfly2(v);"))).len(), 1);
    assert_eq!(warned(&format!("{early}{}", main("uint k = early(v); x[i] = float(k) + butterfly2(v);"))), []);
}

#[test]
fn operations_on_active_lanes_may_stand_anywhere() {
    for call in
        ["broadcastFirst(v)", "float(anyQuad(v > 1.0))", "float(ballot(v > 1.0).x)", "subgroupAdd(v)", "permute(v, 1u)"]
    {
        assert_silent(&format!("if (v > 0.0) x[i] = {call};"));
    }
}

#[test]
fn moves_from_one_lane_need_that_lane() {
    assert_warned("if (v > 0.0) x[i] = bpermute(v, 3u);", Code::LANES_APART, "bpermute(v, 3u)");
    assert_warned("if (v > 0.0) x[i] = subgroupShuffle(v, lane);", Code::LANES_APART, "subgroupShuffle(v, lane)");
    assert_silent("if (lane < 16u) x[i] = subgroupShuffleXor(v, 5u);");
    assert_warned("if (lane < 4u) x[i] = subgroupShuffleXor(v, 5u);", Code::LANES_APART, "subgroupShuffleXor(v, 5u)");
    assert_silent("bool ok; if (lane < 8u) x[i] = shuffleUpNV(v, 1u, 8u, ok);");
    assert_warned("if (lane < 8u) x[i] = shuffleUpNV(v, 1u, 16u);", Code::LANES_APART, "shuffleUpNV(v, 1u, 16u)");
    assert_silent("if (lane < 4u) x[i] = subgroupQuadBroadcast(v, 1u);");
}

#[test]
fn workgroups_fill_the_segments_that_are_read() {
    let last = |size: &str, call: &str, profile: &str| {
        let layout = format!("layout({size}) in;");
        warned_in(&layout, &format!("{I} x[i] = {call};"), profile)
    };
    for profile in ["nv-hopper", "gfx1100", "spirv-1.5"] {
        assert_eq!(last("local_size_x = 40", "allReduceAdd8(v)", profile), []);
        let found = [(Code::SEGMENT_NOT_FULL, "allReduceAdd16(v)".to_string())];
        assert_eq!(last("local_size_x = 40", "allReduceAdd16(v)", profile), found);
        assert_eq!(last("local_size_x = 20, local_size_y = 2", "allReduceAdd16(v)", profile), found);
        assert_eq!(last("local_size_x = 20, local_size_y = 4", "allReduceAdd16(v)", profile), []);
        assert_eq!(last("local_size_x = 40", "subgroupAdd(v)", profile), []);
    }
    assert_eq!(last("local_size_x = 40", "allReduceAdd(v)", "nv-hopper").len(), 1);
    assert_eq!(last("local_size_x = 40", "allReduceAdd(v)", "spirv-1.5"), [], "who knows the size");
    assert_eq!(last("local_size_x_id = 3", "allReduceAdd16(v)", "spirv-nvidia"), [], "who knows the workgroup");
}

#[test]
fn the_result_of_a_reduce_is_used_where_it_is() {
    for (use_, about) in [
        ("x[i] = r;", "x[i] = r"),
        ("x[i] = r * 2.0 + v;", "x[i] = r * 2.0 + v"),
        ("s[l] = r;", "s[l] = r"),
        ("if (r > 0.5) x[i] = 1.0;", "r > 0.5"),
        ("if (n > 1u) { float t = -r; x[i] = t; }", "x[i] = t"),
        ("x[i] = allReduceAdd8(r);", "allReduceAdd8(r)"),
        ("if (lane == 0u) x[i] = r;", "x[i] = r"),
        ("if (l == 8u) x[i] = r;", "x[i] = r"),
        ("if (subgroupElect()) x[i] = r;", "x[i] = r"),
        ("if ((lane & 7u) == 6u && v > 0.0) x[i] = r;", "x[i] = r"),
        ("table[int(r)] = 1u;", "table[int(r)] = 1u"),
        ("atomicAdd(table[0], uint(r));", "atomicAdd(table[0], uint(r))"),
    ] {
        assert_warned(&format!("float r = reduceAdd8(v); {use_}"), Code::RESULT_ELSEWHERE, about);
    }
    for use_ in [
        "if (segmentLast8()) x[i] = r;",
        "if (segmentLast8() && r > 0.5) x[i] = r;",
        "if (lane == 7u) x[i] = r;",
        "if ((lane & 7u) == 7u) { float t = r; if (n > 2u) x[i] = t; }",
        "if (lane % 8u == 7u) x[i] = r;",
        "if (v > 0.0) x[i] = r;",
        "x[i] = segmentLast8() ? r : 0.0;",
        "float t = r; if (!segmentLast8()) t = 0.0; x[i] = t;",
        "x[i] = bpermute(r, lane | 7u);",
        "r = subgroupShuffle(r, lane | 7u); x[i] = r;",
        "bool big = r > 2.0; if (segmentLast8()) x[i] = float(big);",
        "if (!segmentLast8()) return; x[i] = r;",
        "float a[2]; a[0] = r; a[1] = v; x[i] = a[1];",
    ] {
        assert_silent(&format!("float r = reduceAdd8(v); {use_}"));
    }
}

#[test]
fn quadrants_leaves_its_results_in_the_lowest_lane() {
    let found = |use_: &str| warned(&format!("{I} float r = subgroup_reduce_add(v); {use_}")).len();
    assert_eq!(found("if (lane == 0u) x[i] = r;"), 0);
    assert_eq!(found("if (subgroup_elect() != 0) x[i] = r;"), 0);
    assert_eq!(found("if (lane == 31u) x[i] = r;"), 1);
    assert_eq!(found("x[i] = r;"), 1);
}

#[test]
fn an_index_for_all_lanes_is_the_same_in_all() {
    let two = |index: &str| format!("broadcast(v, {index})");
    for index in ["lane", "lane ^ 1u", "l + n", "(lane & 7u)", "i % 16u", "lane / 2u", "31u - lane", "2u * lane"] {
        assert_warned(&format!("x[i] = {};", two(index)), Code::INDEX_VARIES, &two(index));
    }
    for index in ["n", "3u", "gl_SubgroupID", "l / 32u", "l & 32u", "table[i]", "uint(v)", "min(lane, 0u)"] {
        assert_silent(&format!("x[i] = {};", two(index)));
    }
    assert_silent("uint k = lane; k = 3u; x[i] = broadcast(v, k);");
}

#[test]
fn discarded_lanes_are_missing() {
    let shader = |body: &str| {
        let head = HEAD.replace("shared float s[64];\n", "");
        let text = format!(
            "{head}layout(location = 0) in vec2 uv; layout(location = 1) flat in uint kind;\n\
             layout(location = 0) out float color;\nvoid main() {{ float v = uv.x; {body} }}\n"
        );
        let found = said(&text, "spirv-1.5", Stage::Fragment);
        found.into_iter().filter(|(code, _)| *code != Code::WAVE_SIZE).collect::<Vec<_>>()
    };
    let missing = [(Code::LANES_APART, "quadSwizzleX(v)".to_string())];
    assert_eq!(shader("if (v < 0.0) discard; color = quadSwizzleX(v);"), missing);
    assert_eq!(shader("color = quadSwizzleX(v); if (v < 0.0) discard;"), []);
    assert_eq!(shader("if (kind == 1u) color = quadSwizzleX(v);"), [], "a quad is of one triangle");
}

#[test]
fn where_lanes_part_is_shown() {
    let labels = |body: &str| {
        let text = format!("{HEAD}layout(local_size_x = 64) in;\nvoid main() {{ {I} {body} }}\n");
        let input = Input { name: "a.comp", bytes: text.as_bytes(), language: Language::Glsl };
        let profile = Profile::named("spirv-1.5").expect("a profile").with_wave_size(WaveSize::Least(8));
        let made = compile(&input, &Options::new(profile), &NoIncludes);
        let labels = made.diagnostics.iter().flat_map(|message| &message.labels).filter(|label| !label.primary);
        labels.map(|label| made.sources.text(label.span).to_string()).collect::<Vec<_>>()
    };
    assert_eq!(labels("if (n > 1u) { if (v > 0.0) x[i] = butterfly2(v); }"), ["v > 0.0"]);
    assert_eq!(labels("if (v > 0.0) { if (n > 1u) x[i] = butterfly2(v); }"), ["v > 0.0"]);
    assert_eq!(labels("if (v > 0.0) { if (n > 1u) return; } x[i] = butterfly2(v);"), ["v > 0.0", "return;"]);
    assert_eq!(labels("if (n > 1u) { if (v > 0.0) return; } x[i] = butterfly2(v);"), ["v > 0.0", "return;"]);
    assert_eq!(labels("while (v < 1.0) { v += butterfly2(v); }"), ["v < 1.0"]);
    assert_eq!(labels("do { v += butterfly2(v); } while (v < 1.0);"), ["v < 1.0"]);
    let parted = "if (lane < 8u) { if (lane < 4u) x[i] = allReduceAdd8(v); }";
    assert_eq!(labels(parted), ["lane < 4u"], "the outer one keeps eight lanes together");
}

#[test]
fn the_widest_segment_is_told_where_subgroups_may_be_narrower() {
    let text = format!(
        "{HEAD}layout(local_size_x = 64) in;\nvoid main() {{ {I} x[i] = allReduceAdd32(v) + subgroupClusteredAdd(v, 8u) + \
         subgroupClusteredMin(v, 16u) + subgroupClusteredMax(v, 16u); }}\n"
    );
    let told = |name: &str, promise: WaveSize| {
        let input = Input { name: "a.comp", bytes: text.as_bytes(), language: Language::Glsl };
        let options = Options::new(Profile::named(name).expect("a profile").with_wave_size(promise));
        let made = compile(&input, &options, &NoIncludes);
        let told = made.diagnostics.iter().filter(|message| message.code == Code::NARROW_SUBGROUPS);
        told.map(|message| made.sources.text(message.span()).to_string()).collect::<Vec<_>>()
    };
    assert_eq!(told("spirv-1.5", WaveSize::Any), ["subgroupClusteredMin(v, 16u)"]);
    assert_eq!(told("wgsl", WaveSize::Least(8)), ["subgroupClusteredMin(v, 16u)"]);
    assert_eq!(told("wgsl", WaveSize::Least(16)), [""; 0]);
    assert_eq!(told("wgsl", WaveSize::Fixed(32)), [""; 0]);
    assert_eq!(told("gfx1100", WaveSize::Least(16)), [""; 0]);
}

#[test]
fn what_hangs_on_the_size_is_noted_where_it_is_not_known() {
    let text = format!(
        "{HEAD}layout(local_size_x = 64) in;\nvoid main() {{ {I} x[i] = allReduceAdd(v) + allReduceAdd8(v); \
         x[lane] += subgroupAdd(v) + float(laneCount()); }}\n"
    );
    let notes = said(&text, "spirv-1.5", Stage::Compute);
    let about: Vec<&str> = notes.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(about, ["laneIndex()", "allReduceAdd(v)", "subgroupAdd(v)", "laneCount()"]);
    assert!(notes.iter().all(|(code, _)| *code == Code::WAVE_SIZE));
    assert_eq!(said(&text, "nv-hopper", Stage::Compute), []);
}
