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
    "// language: metal2.1",
    "#ifndef CONSTANT_3",
    "#define CONSTANT_3 4u",
    "    float inner[(CONSTANT_3 * 2u)];",
    "[[max_total_threads_per_threadgroup(64)]] kernel void main_(",
    "    uint COUNT = CONSTANT_3;",
    "    // butterfly<2>: shuffle by a mask",
    "    // all_reduce.add<8>: tree of butterflies",
    "    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);",
];

#[test]
fn operations_and_constants_are_in_the_text() {
    let folder = Folder::new("msl-kept");
    folder.file("kept.comp", KEPT);
    let once = text(&folder, "kept.comp", "msl-2.1");
    for line in LINES {
        let is_it = |known: &str| known == *line || known.replace("(8) * (8) * (1)", "64") == *line;
        assert!(once.lines().any(is_it), "{line} is not in\n{once}");
    }
    assert!(!once.contains("crosslane_"), "{once}");
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
    assert_eq!((&own["function"], &own["language"]), (&"main_".into(), &"2.1".into()), "{own}");
    assert_eq!(own["sizes"].as_array().map(Vec::len), Some(2), "{own}");
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
        ("Numbers", 1),
        ("scene", 3),
        ("image", 6),
        ("image_sampler", 0),
        ("Results", 2),
        ("push", 0),
        ("_buffer_sizes", 4),
    ];
    assert_eq!(numbers, expected, "{reflection}");
    let output = folder.run(&[&["compile", "kept.comp", "-p", "msl-2.1", "-o", "-"], &places[..]].concat());
    let text = stdout(&output);
    for part in ["Numbers_1 [[buffer(1)]]", "push [[buffer(0)]]", "image [[texture(6)]]", "_buffer_sizes [[buffer(4)]]"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}
