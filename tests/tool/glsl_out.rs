//! GLSL as output: what is kept from a source, the comments on operations, extensions, refusals, reflection.

use crate::folder::{Folder, reflection, refusal, status, stderr, text};

const KEPT: &str = "#version 450
#extension GL_CROSSLANE_portable : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x = 64) in;
layout(constant_id = 3) const uint COUNT = 4u;
struct Light { vec3 color; float reach; };
layout(set = 1, binding = 2, std140) uniform Scene { mat4 view; layout(offset = 80) Light lights[2]; } scene;
layout(set = 0, binding = 1, std430) readonly buffer Numbers { uint size; float numbers[]; };
layout(set = 0, binding = 3, std430) restrict buffer Halves { f16vec2 halves[]; } narrow;
layout(push_constant) uniform Push { int first; } push;
shared float row[COUNT * 2u];

float scaled(float number, inout uint count) {
    count++;
    return number * scene.lights[1].reach;
}

void main() {
    uint calls = 0u;
    precise float total = numbers[gl_GlobalInvocationID.x] * 3.0 + 1.0;
    for (int turn = 0; turn < push.first; turn++) {
        total += butterfly2(scaled(total, calls));
    }
    row[gl_LocalInvocationIndex % COUNT] = total;
    barrier();
    narrow.halves[gl_LocalInvocationIndex] = f16vec2(allReduceAdd4(row[0]), float(calls));
}
";

/// Expected lines in the text for `KEPT`.
const LINES: &[&str] = &[
    "layout(local_size_x = 64) in;",
    "layout(constant_id = 3) const uint COUNT = 4u;",
    "struct Light {",
    "layout(std140, set = 1, binding = 2) uniform Scene {",
    "    layout(offset = 80) Light lights[2];",
    "} scene;",
    "layout(std430, set = 0, binding = 1) readonly buffer Numbers {",
    "    float numbers[];",
    "layout(std430, set = 0, binding = 3) restrict buffer Halves {",
    "} narrow;",
    "layout(push_constant) uniform Push {",
    "const uint array_length = COUNT * 2u;",
    "shared float row[array_length];",
    "float scaled(float number, inout uint count) {",
    "    uint calls = 0u;",
    "    for (int turn = 0; turn < push.first; turn++) {",
    "        // butterfly<2>: shuffle by a mask",
    "    // all_reduce.add<4>: native reduction of segments",
];

#[test]
fn what_the_source_says_stays() {
    let folder = Folder::new("glsl-kept");
    folder.file("kept.comp", KEPT);
    let once = text(&folder, "kept.comp", "glsl-450-khr");
    for line in LINES {
        assert!(once.lines().any(|known| known == *line), "{line} is not in\n{once}");
    }
    let used: Vec<&str> = once.lines().filter(|line| line.starts_with("#extension")).collect();
    let names = [
        "EXT_shader_explicit_arithmetic_types_float16",
        "KHR_shader_subgroup_clustered",
        "KHR_shader_subgroup_shuffle",
    ];
    assert_eq!(used, names.map(|name| format!("#extension GL_{name} : require")));
    assert!(once.starts_with("#version 450\n") && once.ends_with("}\n"), "{once}");
}

#[test]
fn the_ending_of_the_output_says_the_language() {
    let folder = Folder::new("glsl-ending");
    folder.file("kept.comp", KEPT);
    let output = folder.run(&["compile", "kept.comp", "-o", "out.comp"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(std::fs::read_to_string(folder.0.join("out.comp")).unwrap().starts_with("#version 450\n"));
    let output = folder.run(&["compile", "kept.comp", "-p", "spirv-1.3", "-o", "out.glsl"]);
    assert!(stderr(&output).contains("what would be written is a SPIR-V module, not .glsl"), "{}", stderr(&output));
}

/// GLSL has no block that runs between the iterations of a loop.
const LOOPS: &str = "@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) lane: u32) {
    var at = 0u;
    loop {
        let step = numbers[at] + 1u;
        if step == 7u { at += 2u; continue; }
        numbers[at] = step;
        continuing {
            at += step;
            break if at > numbers[lane];
        }
    }
}
";

#[test]
fn a_flag_tells_the_first_turn_where_others_begin_with_statements() {
    let folder = Folder::new("glsl-loops");
    folder.file("loops.wgsl", LOOPS);
    let text = text(&folder, "loops.wgsl", "glsl-450-khr");
    let at =
        |line: &str| text.lines().position(|known| known.trim() == line).unwrap_or_else(|| panic!("{line} in\n{text}"));
    let order =
        ["bool again = false;", "for (;;) {", "if (again) {", "at += variable;", "again = true;", "continue;"].map(at);
    assert!(order.is_sorted(), "{text}");
    folder.file("loops.comp", &text);
    assert_eq!(status(&folder.run(&["check", "loops.comp", "-p", "spirv-1.3"])), 0);
}

const EXITS: &str = "#version 450
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 64) in;
layout(binding = 0) buffer B { uint x[]; };
uint together(uint key) {
    for (;;) {
        if (subgroupBroadcastFirst(key) == key) {
            return subgroupBallotBitCount(subgroupBallot(true));
        }
    }
}
void main() {
    uint key = x[gl_GlobalInvocationID.x];
    uint found = 0u;
    for (uint turn = 0u; turn < 8u; turn++) {
        if (subgroupBroadcastFirst(key) == key) {
            found = subgroupBallot(true).x;
            break;
        }
        if (turn > key) { continue; }
        found += 1u;
    }
    x[gl_GlobalInvocationID.x] = found + together(key);
}
";

/// NVIDIA's compiler runs operations of such an arm with the wrong lanes.
#[test]
fn an_arm_with_operations_leaves_its_loop_by_a_flag_in_nvidia_s_dialect() {
    let folder = Folder::new("glsl-exits");
    folder.file("exits.comp", EXITS);
    let nvidia = text(&folder, "exits.comp", "glsl-450-nv");
    let lines: Vec<&str> = nvidia.lines().map(str::trim).collect();
    let follow = |first: &str, second: &str| lines.windows(2).any(|pair| pair == [first, second]);
    for (first, second) in [
        ("leaves = true;", "}"),
        ("if (leaves) {", "break;"),
        ("bool returns = false;", "uint given;"),
        ("returns = true;", "leaves = true;"),
        ("if (returns) {", "return given;"),
    ] {
        assert!(follow(first, second), "{first} {second}\n{nvidia}");
    }
    assert!(lines.contains(&"continue;"), "{nvidia}");
    assert!(!text(&folder, "exits.comp", "glsl-450-khr").contains("leaves"));
    folder.file("deeper.comp", EXITS.replace("break;", "if (turn > 2u) { break; }"));
    let said = refusal(&folder, "deeper.comp", "glsl-450-nv");
    let message = "cannot write cross-lane operations in an arm that leaves a loop from inside another arm as GLSL";
    assert!(said.contains(message) && said.contains("deeper.comp:16:"), "{said}");
}

const RETURNS: &str = "#version 450
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 64) in;
layout(binding = 0) buffer B { int x[]; };
int found(int key) {
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            switch (x[i * 4 + j] - key) {
            case 0: return i;
            case 1: x[j] = -key; break;
            }
        }
    }
    return min(0 - key, max(key, 3));
}
void main() { x[gl_GlobalInvocationID.x] = found(x[gl_LocalInvocationIndex]) + int(subgroupBallot(true).x); }
";

/// NVIDIA's compiler lets returning invocations continue without the others.
#[test]
fn a_return_from_a_loop_leaves_it_by_a_flag_in_nvidia_s_dialect() {
    let folder = Folder::new("glsl-returns");
    folder.file("returns.comp", RETURNS);
    let nvidia = text(&folder, "returns.comp", "glsl-450-nv");
    let lines: Vec<&str> = nvidia.lines().map(str::trim).collect();
    let count = |line: &str| lines.iter().filter(|known| **known == line).count();
    // Out of the switch and the inner loop to the outer one.
    let ifs = lines.windows(2).filter(|pair| pair == &["if (returns) {", "break;"]).count();
    assert_eq!((count("bool returns = false;"), count("returns = true;"), ifs), (1, 1, 2), "{nvidia}");
    assert_eq!((count("return given;"), count("return i;")), (1, 0), "{nvidia}");
    assert_eq!(nvidia.matches("~key + 1").count(), 2, "the sign of a negation: {nvidia}");
    assert!(!text(&folder, "returns.comp", "glsl-450-khr").contains("returns"));
}

const MOVES: &str = "#version 450
#extension GL_CROSSLANE_portable : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { uint x[]; };
void main() {
    uint own = x[gl_GlobalInvocationID.x];
    uint near = butterfly16(own) + quadSwizzleX(own);
    x[gl_GlobalInvocationID.x] = near + bpermute(own, own) + bpermute(own + 1u, near);
}
";

#[test]
fn moves_are_swizzles_or_reads_of_all_lanes_in_amd_s_dialect() {
    let folder = Folder::new("glsl-amd");
    folder.file("moves.comp", MOVES);
    let amd = text(&folder, "moves.comp", "glsl-450-amd");
    for part in [
        "#extension GL_AMD_shader_ballot : require",
        "#extension GL_ARB_shader_ballot : require",
        "swizzleInvocationsMaskedAMD(own, uvec3(31u, 0u, 8u))",
        "swizzleInvocationsAMD(own, uvec4(1u, 0u, 3u, 2u))",
        "= shuffleInvocation(own, ",
    ] {
        assert!(amd.contains(part), "{part}\n{amd}");
    }
    assert_eq!(amd.matches("uint shuffleInvocation(uint value, uint lane) {").count(), 1, "{amd}");
    assert!(!amd.contains("_KHR_"), "{amd}");
}

const FOLDS: &str = "#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { float x[]; };
void main() {
    float own = x[gl_GlobalInvocationID.x];
    if (own > 1.0) {
        own = subgroupAdd(own) + float(subgroupInclusiveMax(int(own))) + subgroupExclusiveMin(vec2(own)).y;
        own += float(subgroupAdd(uint8_t(own)));
    }
    x[gl_GlobalInvocationID.x] = own + subgroupMul(own);
}
";

/// Their functions have no 8-bit types, and no other operations than these.
#[test]
fn folds_of_the_subgroup_are_amd_s_where_those_have_the_operation() {
    let folder = Folder::new("glsl-amd-folds");
    folder.file("folds.comp", FOLDS);
    let amd = text(&folder, "folds.comp", "glsl-450-amd");
    for part in [
        "addInvocationsNonUniformAMD(own",
        "maxInvocationsInclusiveScanNonUniformAMD(",
        "minInvocationsExclusiveScanNonUniformAMD(",
    ] {
        assert_eq!(amd.matches(part).count(), 1, "{part}\n{amd}");
    }
    assert_eq!(amd.matches("InvocationsNonUniformAMD").count(), 1, "{amd}");
    assert!(!amd.contains("_KHR_"), "{amd}");
}

const GIVEN: &str = "#version 450
layout(local_size_x = 64) in;
layout(constant_id = 3) const uint COUNT = 4u;
layout(std430, binding = 0) buffer Data { uint x[]; };
void split(uint whole, out uint a, out uint b) { a = whole / 3u; b = whole % 3u; }
void twice(inout uint parts[COUNT / 2u]) { parts[0] *= 2u; }
void main() {
    uint parts[COUNT / 2u];
    for (uint i = 0u; i < 4u; i++) {
        uint a, b;
        split(x[i], a, b);
        parts[i & 1u] = a + b;
        twice(parts);
        x[i] = parts[0];
    }
}
";

#[test]
fn variables_that_functions_give_values_are_declared_before_the_call() {
    let folder = Folder::new("glsl-given");
    folder.file("given.comp", GIVEN);
    let khr = text(&folder, "given.comp", "glsl-450-khr");
    let lines: Vec<&str> = khr.lines().map(str::trim).collect();
    let at = |line: &str| lines.iter().position(|known| *known == line).unwrap_or_else(|| panic!("{line}\n{khr}"));
    assert!(
        at("uint a;") < at("split(x[i], a, b);") && at("uint a;") > at("for (uint i = 0u; i < 4u; i++) {"),
        "{khr}"
    );
    // One name for a length, because compilers would distinguish it from the same expression elsewhere.
    at("const uint array_length = COUNT / 2u;");
    at("void twice(inout uint parts[array_length]) {");
    at("uint parts[array_length];");
}

const MISSED: &str = "#version 460
#extension GL_EXT_ray_tracing : require
layout(location = 0) rayPayloadInEXT float found;
void main() { found = 0.0; }
";

/// Invariance, a layer that is relative, distances by an index, and outputs that are captured.
const LAYOUTS: &str = "#version 450
#extension GL_NV_viewport_array2 : require
layout(viewport_relative) out int gl_Layer;
invariant gl_Position;
out float gl_ClipDistance[3];
layout(location = 0, xfb_buffer = 1, xfb_stride = 32, xfb_offset = 16) out vec4 kept;
layout(location = 0) in vec4 place;
void main() {
    gl_Layer = 1;
    gl_Position = place;
    kept = place;
    for (int i = 0; i < 3; i++) gl_ClipDistance[i] = place.x;
}
";

#[test]
fn outputs_keep_all_that_their_declarations_say() {
    let folder = Folder::new("glsl-layouts");
    folder.file("layouts.vert", LAYOUTS);
    let text = text(&folder, "layouts.vert", "glsl-450-khr");
    for line in [
        "layout(viewport_relative) out int gl_Layer;",
        "invariant gl_Position;",
        "out float gl_ClipDistance[3];",
        "layout(location = 0, xfb_buffer = 1, xfb_stride = 32, xfb_offset = 16) out vec4 kept;",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn what_the_language_lacks_is_refused_where_it_is() {
    let folder = Folder::new("glsl-refused");
    folder.file("missed.rmiss", MISSED);
    folder.file("kept.comp", KEPT);
    let said = refusal(&folder, "missed.rmiss", "glsl-450-nv");
    assert!(said.contains("error[E0700]: GLSL for OpenGL has no ray tracing shaders"), "{said}");
    assert!(said.contains("missed.rmiss:4:"), "{said}");
    let said = refusal(&folder, "kept.comp", "glsl-es-320-khr");
    assert!(said.contains("the profile's GLSL has no type f16"), "{said}");
}

/// Without Vulkan, each pair of a texture and a sampler is one variable, and the reflection lists its parts.
#[test]
fn textures_join_their_samplers_without_vulkan() {
    let folder = Folder::new("glsl-pairs");
    let source = "#version 450\n\
                  layout(binding = 0) uniform texture2D image;\nlayout(binding = 1) uniform sampler smooth_one;\n\
                  layout(binding = 2) uniform samplerShadow nearer;\nlayout(binding = 3) uniform texture2D list[4];\n\
                  layout(location = 0) in vec3 at;\nlayout(location = 0) out vec4 color;\n\
                  vec4 get(texture2D of, sampler with) { return texture(sampler2D(of, with), at.xy); }\n\
                  void main() {\n\
                  color = get(image, smooth_one) + get(list[2], smooth_one) + texture(sampler2DShadow(image, nearer), at);\n}\n";
    folder.file("pairs.frag", source);
    for (profile, precision) in [("glsl-es-320-khr", "highp "), ("glsl-450-nv", "")] {
        let said = text(&folder, "pairs.frag", profile);
        for line in [
            format!("layout(binding = 0) uniform {precision}sampler2D image;\n"),
            format!("layout(binding = 3) uniform {precision}sampler2D list[4];\n"),
            // The list takes four numbers.
            format!("layout(binding = 7) uniform {precision}sampler2DShadow image_nearer;\n"),
        ] {
            assert!(said.contains(&line), "{line} is not in\n{said}");
        }
        assert!(!said.contains("smooth_one") && said.contains("texture(list[2], at.xy)"), "{said}");
    }
    let reflection = reflection(&folder, "pairs.frag", "glsl-es-320-khr");
    let pairs = reflection["glsl"]["combined"].as_array().expect("a list");
    let parts =
        |pair: &serde_json::Value| ["name", "texture", "sampler"].map(|key| pair[key].as_str().map(str::to_string));
    let expected =
        [["image", "image", "smooth_one"], ["list", "list", "smooth_one"], ["image_nearer", "image", "nearer"]];
    let found: Vec<_> = pairs.iter().map(parts).collect();
    assert_eq!(found, expected.map(|row| row.map(|word| Some(word.to_string()))), "{reflection}");
}

/// Without Vulkan, push constants are uniforms as OpenGL's functions set them.
#[test]
fn push_constants_are_uniforms_without_vulkan() {
    let folder = Folder::new("glsl-push-constants");
    let source = |name: &str, at: &str| {
        format!(
            "#version 450\nlayout(push_constant) uniform Push {{ layout(row_major) mat2 m; float c[2]; }}{name};\n\
             layout(location = 0) out vec4 color;\nvoid main() {{ color = vec4({at}m[1], {at}c[0], 0.0); }}\n"
        )
    };
    folder.file("named.frag", source(" push", "push."));
    folder.file("unnamed.frag", source("", ""));
    for profile in ["glsl-es-320-khr", "glsl-450-nv"] {
        let named = text(&folder, "named.frag", profile);
        assert!(named.contains("struct Push {\n    mat2 m;\n    float c[2];\n};\n"), "{named}");
        assert!(named.contains("\nuniform Push push;\n"), "{named}");
        let unnamed = text(&folder, "unnamed.frag", profile);
        assert!(unnamed.contains("\nuniform mat2 m;\nuniform float c[2];\n"), "{unnamed}");
    }
}

#[test]
fn reflection_lists_the_extensions() {
    let folder = Folder::new("glsl-reflection");
    folder.file("kept.comp", KEPT);
    let reflection = reflection(&folder, "kept.comp", "glsl-450-khr");
    assert_eq!(reflection["glsl"]["least_subgroup_size"], 4, "{reflection}");
    assert_eq!(reflection["glsl"]["extensions"].as_array().map(Vec::len), Some(3), "{reflection}");
}

/// Vulkan's modules and GLSL ES have no mode for pixel centres at integers.
#[test]
fn centres_at_integers_are_half_less() {
    let folder = Folder::new("glsl-centres");
    let source = "#version 450\nlayout(pixel_center_integer) in vec4 gl_FragCoord;\nlayout(location = 0) out vec4 color;\n\
                  void main() { color = gl_FragCoord; }\n";
    folder.file("centres.frag", source);
    for profile in ["glsl-450-khr", "glsl-es-320-khr"] {
        let said = text(&folder, "centres.frag", profile);
        assert!(said.contains("color = gl_FragCoord - vec4(0.5, 0.5, 0.0, 0.0);"), "{said}");
        assert!(!said.contains("pixel_center_integer"), "{said}");
    }
}

/// `textureLod` does not take rectangle textures, which have one level.
#[test]
fn rectangles_are_sampled_without_a_level() {
    let folder = Folder::new("glsl-rectangles");
    let source = "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) uniform sampler2DRect picture;\n\
                  layout(std430, binding = 1) buffer Out { vec4 found; };\n\
                  void main() { found = texture(picture, vec2(1.0)); }\n";
    folder.file("rectangles.comp", source);
    let said = text(&folder, "rectangles.comp", "glsl-450-khr");
    assert!(said.contains("texture(picture, vec2(1.0))"), "{said}");
}
