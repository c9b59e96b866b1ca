//! MSL as output: numbers of resources, specialization constants, comments on operations, reflection.

use crate::folder::{Folder, status, stderr, stdout, text};

const KEPT: &str = "#version 450
#extension GL_CROSSLANE_portable : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 3) const uint COUNT = 4u;
layout(set = 1, binding = 2, std140) uniform Scene { mat4 view; vec4 light; } scene;
layout(set = 0, binding = 7, std430) readonly buffer Numbers { float numbers[]; };
layout(set = 2, binding = 0, std430) buffer Results { float results[]; };
layout(set = 1, binding = 4) uniform sampler2D image;
layout(push_constant) uniform Push { int first; float by; } push;
shared float row[COUNT * 2u];

void main() {
    float own = numbers[gl_GlobalInvocationID.x] * push.by + textureLod(image, vec2(0.5), 0.0).x;
    row[gl_LocalInvocationIndex % COUNT] = butterfly2(own);
    barrier();
    results[gl_LocalInvocationIndex % results.length()] = allReduceAdd8(row[push.first]) + scene.light.x;
}
";

/// Lines that the text of `KEPT` has.
const LINES: &[&str] = &[
    "#include <metal_stdlib>",
    "using namespace metal;",
    "#ifndef CONSTANT_3",
    "#define CONSTANT_3 4u",
    "constant uint COUNT = CONSTANT_3;",
    "[[max_total_threads_per_threadgroup(64)]]",
    "kernel void main0(",
    "    threadgroup float row[array_length];",
    "    // butterfly<2>: shuffle by a mask",
    "    // all_reduce.add<8>: tree of butterflies",
    "    threadgroup_barrier(mem_flags::mem_threadgroup);",
];

#[test]
fn operations_and_constants_are_in_the_text() {
    let folder = Folder::new("msl-kept");
    folder.file("kept.comp", KEPT);
    let once = text(&folder, "kept.comp", "msl-2.1");
    for line in LINES {
        assert!(once.lines().any(|known| known == *line), "{line} is not in\n{once}");
    }
    let output = folder.run(&["compile", "kept.comp", "-o", "out.metal"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(once, std::fs::read_to_string(folder.0.join("out.metal")).unwrap());
}

#[test]
fn each_kind_of_resource_is_numbered_in_the_order_of_sets_and_bindings() {
    let folder = Folder::new("msl-numbers");
    folder.file("kept.comp", KEPT);
    let once = text(&folder, "kept.comp", "msl-2.1");
    for number in ["[[buffer(0)]]", "[[buffer(1)]]", "[[buffer(2)]]", "[[buffer(3)]]", "[[buffer(4)]]"] {
        assert!(once.contains(number), "{number} is not in\n{once}");
    }
    let output = folder.run(&["compile", "kept.comp", "-p", "msl-2.1", "--emit", "reflection", "-o", "-"]);
    let reflection: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let own = &reflection["metal"];
    let slot =
        |slot: &serde_json::Value| (slot["kind"].to_string(), slot["index"].to_string(), slot["set"].to_string());
    let slots: Vec<_> = own["slots"].as_array().expect("slots").iter().map(slot).collect();
    let expected = [
        ("buffer", 0, "0"),
        ("buffer", 1, "1"),
        ("texture", 0, "1"),
        ("sampler", 0, "1"),
        ("buffer", 2, "2"),
        ("buffer", 3, "null"),
        ("buffer", 4, "null"),
    ];
    let expected = expected.map(|(kind, index, set)| (format!("{kind:?}"), index.to_string(), set.to_string()));
    assert_eq!(slots, expected, "{own}");
    assert_eq!((&own["function"], &own["language"]), (&"main0".into(), &"2.1".into()), "{own}");
    assert_eq!(own["sizes"].as_array().map(Vec::len), Some(1), "{own}");
}

#[test]
fn options_choose_numbers_and_the_others_go_around_them() {
    let folder = Folder::new("msl-places");
    folder.file("kept.comp", KEPT);
    let places = ["--push-constants", "0", "--place", "1:4=6", "--place", "2:0=2"];
    let output = folder
        .run(&[&["compile", "kept.comp", "-p", "msl-2.1", "--emit", "reflection", "-o", "-"], &places[..]].concat());
    let reflection: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let slots = reflection["metal"]["slots"].as_array().expect("slots");
    let numbers: Vec<(&str, u64)> =
        slots.iter().map(|slot| (slot["name"].as_str().unwrap(), slot["index"].as_u64().unwrap())).collect();
    let expected = [
        ("numbers", 1),
        ("scene", 3),
        ("image", 6),
        ("image_sampler", 0),
        ("results", 2),
        ("push", 0),
        ("buffer_sizes", 4),
    ];
    assert_eq!(numbers, expected, "{reflection}");
    let output = folder.run(&[&["compile", "kept.comp", "-p", "msl-2.1", "-o", "-"], &places[..]].concat());
    let text = stdout(&output);
    for part in ["numbers [[buffer(1)]]", "push [[buffer(0)]]", "image [[texture(6)]]", "buffer_sizes [[buffer(4)]]"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// The text of a shader whose `main` and declarations are given.
fn made(name: &str, declarations: &str, body: &str) -> String {
    let folder = Folder::new(name);
    let source = format!("#version 450\nlayout(local_size_x = 8) in;\n{declarations}\nvoid main() {{\n{body}\n}}\n");
    folder.file("made.comp", source);
    text(&folder, "made.comp", "msl-3.0")
}

fn holds(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|known| known.trim() == *line), "{line} is not in\n{text}");
    }
}

#[test]
fn signed_numbers_wrap_where_they_may_overflow() {
    let text = made(
        "msl-overflow",
        "layout(binding = 0) buffer Data { int n; int o[]; };",
        "for (int i = 0; i < n; i++) { o[i] = i + 1; }
         for (int i = n; i >= 2; i -= 2) { o[i] = -i; }
         for (int i = 0; i < n; i += 2) { o[i] = (o[i] & 255) * 3 + (o[i] >> 8); }
         o[0] = o[1] + o[2]; o[3] = -o[4]; o[5] = int(gl_LocalInvocationIndex) * 4;",
    );
    holds(
        &text,
        &[
            "for (int i = 0; i < data.n; i++) {",
            "data.o[i] = i + 1;",
            "for (int i = data.n; i >= 2; i -= 2) {",
            "data.o[i] = -i;",
            // A step of two may pass the greatest number.
            "for (int i = 0; i < data.n; i = int(uint(i) + 2u)) {",
            "data.o[i] = (data.o[i] & 255) * 3 + (data.o[i] >> 8);",
            "data.o[0] = int(uint(data.o[1]) + uint(data.o[2]));",
            "data.o[3] = int(-uint(data.o[4]));",
            "data.o[5] = int(gl_LocalInvocationIndex * 4u);",
        ],
    );
}

#[test]
fn members_lie_where_the_source_puts_them() {
    let text = made(
        "msl-layouts",
        "struct Light { vec3 at; float radius; bool on; };
         layout(std430, binding = 0) buffer Lights { uint count; vec2 size; vec3 center; vec3 last; Light lights[]; };
         layout(std140, binding = 1) uniform Scene { float weights[4]; mat4 view; mat2 turn; } scene;
         layout(std140, binding = 2) uniform More { float by[3]; vec3 end; } more;",
        "Light light = lights[count]; light.radius += scene.turn[1].y + more.by[2] + more.end.z; lights[0] = light;",
    );
    holds(
        &text,
        &[
            "float3 center;",
            // Metal reads sixteen bytes of a `float3`, which the next member may be in.
            "packed_float3 at;",
            "uint on;",
            "float4 by[3];",
            "packed_float3 end;",
            "constant char* scene [[buffer(1)]],",
        ],
    );
    assert!(text.contains("more.by[2].x"), "{text}");
    assert!(text.contains("Light { float3("), "{text}");
}

#[test]
fn functions_get_what_they_use_as_parameters() {
    let text = made(
        "msl-parameters",
        "layout(binding = 0) buffer Data { float o[]; }; layout(binding = 1) uniform sampler2D image; float sum; float by; shared float row[8];
         void add(float x) { sum += x * by; }
         float read(vec2 at) { add(textureLod(image, at, 0.0).x); return row[0] + o[1]; }",
        "by = 2.0; row[gl_LocalInvocationIndex] = 1.0; o[0] = read(vec2(0.5)) + sum;",
    );
    holds(
        &text,
        &[
            "void add(float x, thread float& sum, float by) {",
            "threadgroup float row[8];",
            "texture2d<float> image [[texture(0)]],",
        ],
    );
    let head = text.lines().find(|line| line.starts_with("float read(")).expect("a function");
    for part in ["device float* o", "sampler image_sampler", "thread float& sum", "threadgroup float (&row)[8]"] {
        assert!(head.contains(part), "{part} is not in {head}");
    }
}
