//! HLSL as output: registers, specialization constants, push constants, comments on operations, refusals, reflection.

use crate::folder::{Folder, refusal, status, stderr, stdout, text};

const KEPT: &str = "#version 450
#extension GL_CROSSLANE_portable : require
layout(local_size_x = 64) in;
layout(constant_id = 3) const uint COUNT = 4u;
layout(set = 1, binding = 2, std140) uniform Scene { mat4 view; vec4 light; } scene;
layout(set = 0, binding = 1, std430) readonly buffer Numbers { float numbers[]; };
layout(set = 2, binding = 3, std430) buffer Results { float results[]; };
layout(set = 1, binding = 4) uniform sampler2D image;
layout(push_constant) uniform Push { int first; float by; } push;
shared float row[COUNT * 2u];

void main() {
    float own = numbers[gl_GlobalInvocationID.x] * push.by + textureLod(image, vec2(0.5), 0.0).x;
    row[gl_LocalInvocationIndex % COUNT] = butterfly2(own);
    barrier();
    results[gl_LocalInvocationIndex] = allReduceAdd4(row[push.first]) + scene.light.x + float(gl_SubgroupID);
}
";

/// Expected lines in the text for `KEPT`.
const LINES: &[&str] = &[
    "StructuredBuffer<float> numbers : register(t1);",
    "RWStructuredBuffer<float> results : register(u3, space2);",
    "ConstantBuffer<Scene> scene : register(b2, space1);",
    "ConstantBuffer<Push> push : register(b0, space255);",
    "Texture2D<float4> image : register(t4, space1);",
    "SamplerState image_sampler : register(s4, space1);",
    "#ifndef CONSTANT_3",
    "#define CONSTANT_3 4u",
    "static const uint COUNT = CONSTANT_3;",
    "static const uint array_length = COUNT * 2u;",
    "groupshared float row[array_length];",
    "[numthreads(64, 1, 1)]",
    "    // butterfly<2>: shuffle by a mask",
    "    // all_reduce.add<4>: tree of butterflies",
    "    GroupMemoryBarrierWithGroupSync();",
];

fn source() -> String {
    KEPT.replacen("#extension", "#extension GL_KHR_shader_subgroup_basic : require\n#extension", 1)
}

#[test]
fn resources_are_at_registers_of_their_numbers() {
    let folder = Folder::new("hlsl-kept");
    folder.file("kept.comp", source());
    let once = text(&folder, "kept.comp", "hlsl-6.0");
    for line in LINES {
        assert!(once.lines().any(|known| known == *line), "{line} is not in\n{once}");
    }
}

#[test]
fn the_ending_of_the_output_says_the_language() {
    let folder = Folder::new("hlsl-ending");
    folder.file("kept.comp", source());
    let output = folder.run(&["compile", "kept.comp", "-o", "out.hlsl"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let once = std::fs::read_to_string(folder.0.join("out.hlsl")).unwrap();
    assert_eq!(once, text(&folder, "kept.comp", "hlsl-6.0"));
}

const PARTITIONS: &str = "#version 450
#extension GL_NV_shader_subgroup_partitioned : require
#extension GL_KHR_shader_subgroup_vote : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Numbers { int numbers[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    uvec4 set = subgroupPartitionNV(numbers[i]);
    numbers[i] = subgroupPartitionedExclusiveAddNV(numbers[i], set) + subgroupPartitionedAndNV(numbers[i], set);
}
";

#[test]
fn newer_models_have_functions_for_partitions() {
    let folder = Folder::new("hlsl-partitions");
    folder.file("partitions.comp", PARTITIONS);
    let newer = text(&folder, "partitions.comp", "hlsl-6.5");
    for call in ["WaveMatch(", "WaveMultiPrefixSum(", "WaveMultiPrefixBitAnd(uint("] {
        assert!(newer.contains(call), "{call} is not in\n{newer}");
    }
    assert!(!text(&folder, "partitions.comp", "hlsl-6.0").contains("WaveM"));
}

const WAVES: &str = "#version 450
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) buffer Numbers { uint numbers[]; };
void main() {
    numbers[gl_LocalInvocationIndex] = gl_SubgroupID;
    numbers[0] = gl_NumWorkGroups.x;
}
";

#[test]
fn what_the_language_lacks_is_refused_where_it_is() {
    let folder = Folder::new("hlsl-refused");
    folder.file("waves.comp", WAVES);
    let said = refusal(&folder, "waves.comp", "hlsl-6.7");
    for part in ["crosslane cannot write numbers of waves in workgroups of several dimensions", "waves.comp:6:"] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
}

#[test]
fn reflection_says_the_model_and_the_place_of_push_constants() {
    let folder = Folder::new("hlsl-reflection");
    folder.file("kept.comp", source());
    let output = folder.run(&["compile", "kept.comp", "-p", "hlsl-6.5", "--emit", "reflection", "-o", "-"]);
    let reflection: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let own = &reflection["direct3d"];
    assert_eq!((&own["shader_model"], &own["least_wave_size"]), (&"6.5".into(), &4.into()), "{reflection}");
    let push = serde_json::json!({"name": "push", "register": "b0", "space": 255});
    assert_eq!(own["push_constants"], push, "{reflection}");
    let numbers = serde_json::json!({"name": "numbers", "set": 0, "binding": 1, "register": "t1", "space": 0});
    assert_eq!(own["registers"][0], numbers, "{reflection}");
    assert_eq!(own["samplers"], serde_json::json!([{"name": "image_sampler", "group": 1, "binding": 4}]));
}

#[test]
fn options_choose_registers() {
    let folder = Folder::new("hlsl-places");
    folder.file("kept.comp", source());
    let places = ["--push-constants", "2:7", "--place", "1:2=0:0", "--place", "1:4=9", "--place", "2:3=0:0"];
    let output = folder.run(&[&["compile", "kept.comp", "-p", "hlsl-6.0", "-o", "-"], &places[..]].concat());
    let once = stdout(&output);
    for line in [
        "ConstantBuffer<Scene> scene : register(b0);",
        "ConstantBuffer<Push> push : register(b7, space2);",
        "Texture2D<float4> image : register(t9, space1);",
        "SamplerState image_sampler : register(s9, space1);",
        "RWStructuredBuffer<float> results : register(u0);",
        "StructuredBuffer<float> numbers : register(t1);",
    ] {
        assert!(once.lines().any(|known| known == line), "{line} is not in\n{once}");
    }
}

#[test]
fn places_that_mean_nothing_are_refused() {
    let folder = Folder::new("hlsl-no-places");
    folder.file("kept.comp", source());
    for (profile, place, why) in [
        ("hlsl-6.0", "1=2", "`1` has no set: write SET:BINDING"),
        ("hlsl-6.0", "1:2", "write SET:BINDING=[GROUP:]N"),
        ("spirv-1.6", "1:2=3", "SPIR-V has the resources of the source"),
    ] {
        let output = folder.run(&["compile", "kept.comp", "-p", profile, "--place", place, "-o", "-"]);
        assert_eq!(status(&output), 2, "{place}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

const QUALIFIED: &str = "#version 450
layout(location = 0) in vec4 place;
layout(std430, binding = 0) coherent buffer Flags { uint flag; };
layout(std430, binding = 1) buffer Rest { volatile uint rest; };
layout(std430, binding = 2) buffer Other { uint other; };
invariant gl_Position;
void main() { flag = rest; other = rest; gl_Position = place; }
";

#[test]
fn memory_is_coherent_and_the_position_precise() {
    let folder = Folder::new("hlsl-qualified");
    folder.file("qualified.vert", QUALIFIED);
    let text = text(&folder, "qualified.vert", "hlsl-6.5");
    for part in
        ["globallycoherent RWByteAddressBuffer Flags", "globallycoherent RWByteAddressBuffer Rest", "precise float4"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("globallycoherent RWByteAddressBuffer Other"), "{text}");
}

/// The language chooses among numbers, vectors and matrices alone.
#[test]
fn arrays_are_chosen_by_statements() {
    let folder = Folder::new("hlsl-chosen-arrays");
    let source = "#version 450\nlayout(local_size_x = 8) in;\nlayout(binding = 0) buffer Data { uint data[]; };\n\
                  void main() { uint v[2][3] = { { 1u, 2u, 3u }, { 4u, 5u, data[9] } }; bool d = data[8] > 3u;\n\
                  v[data[7] & 1u] = d ? v[1] : v[0]; data[gl_LocalInvocationID.x] = v[0][gl_LocalInvocationID.x % 3u]; }\n";
    folder.file("chosen.comp", source);
    let text = text(&folder, "chosen.comp", "hlsl-6.5");
    assert!(text.contains("if (d) {") && !text.contains("d ? "), "{text}");
}

/// Vertex inputs get the host's semantics and locations.
#[test]
fn vertex_inputs_are_where_options_say() {
    let folder = Folder::new("hlsl-vertex-inputs");
    folder.file(
        "a.vert",
        "#version 450
layout(location = 0) in vec3 place;
layout(location = 1) in vec2 uv;
layout(location = 2) in mat4 instance;
void main() { gl_Position = instance * vec4(place.xy + uv, place.z, 1.0); }
",
    );
    let made = |profile: &str, options: &[&str]| {
        let output = folder.run(&[&["compile", "a.vert", "-p", profile, "-o", "-"], options].concat());
        (status(&output), String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output))
    };
    let options = ["--vertex-input", "0=POSITION", "--vertex-input", "1=9", "--vertex-input", "2=INSTANCE"];
    let (code, text) = made("hlsl-6.0", &options);
    let lines = ["float3 place : POSITION;", "row_major float4x4 instance : INSTANCE;", "float2 uv : LOC9;"];
    assert!(code == 0 && lines.iter().all(|line| text.contains(line)), "{text}");
    let (_, text) = made("msl-3.0", &options);
    assert!(text.contains("float3 place [[attribute(0)]];") && text.contains("float2 uv [[attribute(9)]];"), "{text}");
    for (profile, option, code, said) in [
        ("hlsl-6.0", "1=0", 3, "the vertex inputs `place` and `uv` are both at location 0"),
        ("hlsl-6.0", "1=3", 3, "the vertex inputs `uv` and `instance` are both at location 3"),
        ("hlsl-6.0", "1=SV_Position", 2, "`SV_Position` is neither a location, such as `1`, nor a semantic"),
        ("hlsl-6.0", "1=loc0", 3, "the vertex inputs `place` and `uv` are both at location 0"),
        ("hlsl-6.0", "1=a b", 2, "`a b` is neither a location, such as `1`, nor a semantic"),
        ("spirv-1.3", "1=5", 2, "--vertex-input: SPIR-V has the locations of the source"),
    ] {
        let (found, text) = made(profile, &["--vertex-input", option]);
        assert!(found == code && text.contains(said), "{text}");
    }
}
