//! WGSL as output: the text, the comments on operations, refusals, reflection.

use crate::folder::{self, Folder, status, stderr, stdout};

/// A folder with some shaders.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("reduce.wgsl", REDUCE);
    folder.file("textured.frag", TEXTURED);
    folder.file("falls.comp", FALLS);
    folder.file("wide.comp", WIDE);
    folder
}

const REDUCE: &str = "enable crosslane;
@group(0) @binding(0) var<storage, read_write> numbers: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    numbers[i] = allReduceAdd4(numbers[i]);
}
";
const TEXTURED: &str = "#version 450
layout(set = 1, binding = 3) uniform sampler2D image;
layout(set = 1, binding = 7) uniform Tint { bool dark; layout(offset = 32) vec4 tint; };
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 color;
void main() { color = texture(image, at) * (dark ? vec4(0.5) : tint); }
";
const FALLS: &str = "#version 450
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer B { uvec4 b[]; };
void main() {
    switch (gl_LocalInvocationIndex & 3u) {
    case 0u: b[0].x = 1u;
    case 1u: b[gl_LocalInvocationIndex] = subgroupBallot(true); break;
    default: b[1].x = 2u;
    }
}
";
const WIDE: &str = "#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer B { uint64_t b[]; };
void main() { b[0] = b[1] + 1ul; }
";

/// The text for a shader.
fn text(folder: &Folder, shader: &str) -> String {
    folder::text(folder, shader, "wgsl")
}

#[test]
fn operations_have_a_comment_each() {
    let text = text(&folder("wgsl-comments"), "reduce.wgsl");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert_eq!(lines[..2], ["enable subgroups;", "diagnostic(off, subgroup_uniformity);"]);
    assert!(lines.contains(&"@group(0) @binding(0) var<storage, read_write> numbers: array<f32>;"), "{text}");
    let comment = lines.iter().position(|line| *line == "// all_reduce.add<4>: tree of butterflies");
    let comment = comment.unwrap_or_else(|| panic!("no comment in {text}"));
    let shuffles = |line: &&&str| line.contains("= subgroupShuffleXor(");
    assert_eq!(lines[comment..].iter().filter(shuffles).count(), 2, "{text}");
    assert!(!text.contains("crosslane_") && text.ends_with("}\n"), "{text}");
}

#[test]
fn a_texture_and_its_sampler_are_two_variables() {
    let folder = folder("wgsl-textures");
    let text = text(&folder, "textured.frag");
    for line in [
        "@group(1) @binding(3) var image: texture_2d<f32>;",
        "@group(1) @binding(8) var image_sampler: sampler;",
        "    @size(32) dark: u32,",
        "fn main(@location(0) at: vec2f) -> @location(0) vec4f {",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("enable subgroups"), "{text}");
    let output = folder.run(&["compile", "textured.frag", "-p", "wgsl", "--emit", "reflection", "-o", "-"]);
    let reflection: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let sampler = serde_json::json!({ "name": "image_sampler", "group": 1, "binding": 8 });
    assert_eq!(reflection["webgpu"]["samplers"], serde_json::json!([sampler]), "{reflection}");
    assert_eq!(reflection["webgpu"]["features"], serde_json::json!([]));
}

/// Invocations that fall through into a case run its operations together with those that its label selects.
#[test]
fn arms_that_fall_into_operations_become_a_loop() {
    let text = text(&folder("wgsl-arms"), "falls.comp");
    assert_eq!(text.matches("subgroupBallot(true)").count(), 1, "{text}");
    assert!(text.contains("var runs = false;") && !text.contains("switch"), "{text}");
}

#[test]
fn types_that_the_language_lacks_are_refused_where_they_are() {
    let output = folder("wgsl-refused").run(&["compile", "wide.comp", "-o", "wide.wgsl"]);
    let said = stderr(&output);
    assert_eq!(status(&output), 3, "{said}");
    assert!(said.contains("error[E0700]: WGSL has no type u64") && said.contains("wide.comp:4:"), "{said}");
}

#[test]
fn without_subgroups_nothing_moves() {
    let output = folder("wgsl-plain").run(&["compile", "reduce.wgsl", "-p", "wgsl-nosubgroups", "-o", "-"]);
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("profile wgsl-nosubgroups lacks"), "{}", stderr(&output));
}

#[test]
fn overrides_say_sizes() {
    let folder = Folder::new("wgsl-sizes");
    folder.file("sized.comp", SIZED);
    let text = text(&folder, "sized.comp");
    for line in [
        "@id(3) override COUNT: u32 = 4u;",
        "var<workgroup> row: array<f32, COUNT * 2u>;",
        "@compute @workgroup_size(COUNT)",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
    folder.file("sized.wgsl", &text);
    let output = folder.run(&["check", "sized.wgsl", "-p", "spirv-1.3"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
}

const SIZED: &str = "#version 450
layout(constant_id = 3) const uint COUNT = 4u;
layout(local_size_x = 4, local_size_x_id = 3) in;
shared float row[COUNT * 2u];
layout(std430, binding = 0) buffer B { float b[]; };
void main() {
    row[gl_LocalInvocationIndex] = 1.0;
    memoryBarrierShared();
    barrier();
    b[gl_LocalInvocationIndex] = row[COUNT - 1u - gl_LocalInvocationIndex];
}
";

const FORMED: &str = "#version 450
layout(local_size_x = 64) in;
struct Pair { float a; float b; };
layout(std140, binding = 0) uniform Params { Pair pairs[4]; vec2 offsets[3]; layout(row_major) mat3 turn; } params;
layout(std430, binding = 1) buffer Counts { uint hits; uint rest[]; } counts;
layout(std430, binding = 2) buffer Data { vec4 data[]; };
shared uint tally[2];
void grow(inout vec3 v, float by) { v *= by; by = 0.0; }
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (gl_LocalInvocationIndex < 2u) tally[gl_LocalInvocationIndex] = 0u;
    vec3 v = params.turn * data[i].xyz;
    grow(v, 2.0);
    for (int n = 0; n < 3; n++) v.xy += params.offsets[n];
    if (v.x < 0.0) { atomicAdd(counts.hits, 1u); atomicAdd(tally[i & 1u], 1u); }
    data[i] = vec4(v, v.x > params.pairs[0].a ? v.y : 1.0);
}
";

/// Names, control flow and memory as people write them.
#[test]
fn the_text_has_the_form_of_the_source() {
    let folder = Folder::new("wgsl-form");
    folder.file("formed.comp", FORMED);
    let text = text(&folder, "formed.comp");
    for line in [
        "    @size(12) b: f32,",
        "    offsets: array<vec4f, 3>,",
        "    turn: array<vec3f, 3>,",
        "    hits: atomic<u32>,",
        "@group(0) @binding(2) var<storage, read_write> data: array<vec4f>;",
        "var<workgroup> tally: array<atomic<u32>, 2>;",
        "fn grow(v: ptr<function, vec3f>, by: f32) {",
        "    let i = gl_GlobalInvocationID.x;",
        "        atomicStore(&tally[gl_LocalInvocationIndex], 0u);",
        "    var v = transpose(mat3x3f(params.turn[0], params.turn[1], params.turn[2])) * data[i].xyz;",
        "    grow(&v, 2.0);",
        "    for (var n = 0; n < 3; n++) {",
        "        atomicAdd(&counts.hits, 1u);",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
}

/// The language evaluates constant expressions when it creates the shader, and refuses some values.
#[test]
fn values_that_the_language_refuses_are_computed_later() {
    let folder = Folder::new("wgsl-constants");
    let source = SIZED.replace("= 1.0;", "= uintBitsToFloat(0x7f800000u);\n    float zero = 0.0; b[1] = 1.0 / zero;");
    folder.file("constants.comp", source);
    let text = text(&folder, "constants.comp");
    for line in ["    return bitcast<f32>(bits);", "    var known = 1.0f;", "    b[1] = known / zero;"] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
}

/// All barriers in the language wait; none only orders memory.
#[test]
fn barriers_in_a_row_are_one() {
    let folder = Folder::new("wgsl-barriers");
    folder.file("sized.comp", SIZED);
    assert_eq!(text(&folder, "sized.comp").matches("workgroupBarrier();").count(), 1);
    folder.file("lone.comp", SIZED.replace("    barrier();\n", ""));
    let output = folder.run(&["compile", "lone.comp", "-p", "wgsl", "-o", "-"]);
    assert_eq!(status(&output), 3);
    assert!(stderr(&output).contains("lone.comp:8:5"), "{}", stderr(&output));
}

#[test]
fn precision_that_is_lost_is_said() {
    let folder = Folder::new("wgsl-precise");
    folder.file(
        "precise.comp",
        SIZED.replace(
            "row[gl_LocalInvocationIndex] =",
            "precise uint n = gl_LocalInvocationIndex + 1u;\n    precise float x = b[0] * b[1] + b[2]; b[n] =",
        ),
    );
    let output = folder.run(&["compile", "precise.comp", "-p", "wgsl", "-o", "-"]);
    assert_eq!(status(&output), 0);
    assert!(stderr(&output).contains("warning[W0700]"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("precise uint n"), "integers are exact: {}", stderr(&output));
}

const PUSHED: &str = "#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count; float by; } push;
layout(std430, set = 5, binding = 4) buffer Data { float data[]; };
void main() { if (gl_GlobalInvocationID.x < push.count) data[gl_GlobalInvocationID.x] *= push.by; }
";

#[test]
fn options_put_push_constants_and_resources_at_groups_and_bindings() {
    let folder = Folder::new("wgsl-places");
    folder.file("pushed.comp", PUSHED);
    let compile = |profile: &str, more: &[&str]| {
        let places = ["--push-constants", "1:2", "--place", "5:4=0:7", "-o", "-"];
        let output = folder.run(&[&["compile", "pushed.comp", "-p", profile], &places[..], more].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    let text = compile("wgsl", &[]);
    for line in [
        "@group(0) @binding(7) var<storage, read_write> data: array<f32>;",
        "@group(1) @binding(2) var<uniform> push: Push;",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
    let reflection: serde_json::Value =
        serde_json::from_str(&compile("wgsl", &["--emit", "reflection"])).expect("JSON");
    assert_eq!(reflection["push_bytes"], 0, "{reflection}");
    let places: Vec<_> = reflection["buffers"].as_array().unwrap().iter().map(|b| (&b["set"], &b["binding"])).collect();
    assert_eq!(places, [(&1.into(), &2.into()), (&0.into(), &7.into())], "{reflection}");
    let text = compile("glsl-450-khr", &[]);
    for line in
        ["layout(std430, set = 0, binding = 7) buffer Data {", "layout(std140, set = 1, binding = 2) uniform Push {"]
    {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
}

/// Without a place for push constants, the languages have no text for such a shader whose lines could be shown.
#[test]
fn explain_and_check_take_the_places_too() {
    let folder = Folder::new("wgsl-explained-places");
    let portable = "450\n#extension GL_CROSSLANE_portable : require";
    folder.file("pushed.comp", PUSHED.replace("push.by", "allReduceAdd4(push.by)").replace("450", portable));
    let places = ["--push-constants", "0:1", "--place", "5:4=0:7"];
    let run =
        |command: &str, profiles: &str| folder.run(&[&[command, "pushed.comp", "-p", profiles], &places[..]].concat());
    let output = folder.run(&["check", "pushed.comp", "-p", "wgsl,spirv-1.3"]);
    let said = stdout(&output);
    assert_eq!(status(&output), 3, "{said}");
    assert!(
        said.ends_with(
            "can run it: spirv-1.3\ncannot: wgsl\n  wgsl: crosslane cannot write push constants as WGSL yet\n"
        ),
        "{said}"
    );
    let output = run("explain", "spirv-1.3,glsl-es-320-khr");
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("subgroupClusteredAdd(push.by, 4u)"), "{}", stdout(&output));
    assert_eq!(status(&run("check", "wgsl,hlsl-6.0,msl-2.1,glsl-es-320-khr")), 0);
    for command in ["explain", "check"] {
        let output = run(command, "spirv-1.3");
        assert_eq!(status(&output), 2, "{command}");
        assert!(stderr(&output).contains("SPIR-V has the resources of the source"), "{}", stderr(&output));
    }
}

#[test]
fn derivatives_in_parted_flow_turn_their_rule_off() {
    let folder = Folder::new("wgsl-derivatives");
    let parted =
        TEXTURED.replace("color = texture(image, at)", "color = vec4(0.0); if (at.x > 0.5) color = texture(image, at)");
    folder.file("parted.frag", parted);
    folder.file("whole.frag", TEXTURED);
    let rule = "diagnostic(off, derivative_uniformity);";
    assert!(text(&folder, "parted.frag").lines().any(|line| line == rule));
    assert!(!text(&folder, "whole.frag").contains("derivative_uniformity"));
}
