//! MSL as output: numbers of resources, specialization constants, comments on operations, reflection.

use crate::folder::{Folder, status, stderr, stdout, text};
use support::{judge, metal};

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

/// Expected lines in the text for `KEPT`.
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

/// A compiler of C++ takes the texts, if there is one.
fn takes(texts: &[&str]) {
    if judge::need_or_skip(metal::JUDGE).is_some() {
        metal::takes(texts).unwrap();
    }
}

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

/// The text for a shader with the given `main` and declarations.
fn made(name: &str, declarations: &str, body: &str) -> String {
    made_for("msl-3.0", name, declarations, body)
}

fn made_for(profile: &str, name: &str, declarations: &str, body: &str) -> String {
    let folder = Folder::new(name);
    let source = format!("#version 450\n{declarations}\nlayout(local_size_x = 8) in;\nvoid main() {{\n{body}\n}}\n");
    folder.file("made.comp", source);
    text(&folder, "made.comp", profile)
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
            // A step of two may exceed the greatest number.
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
            // Metal reads sixteen bytes for a `float3`, which the next member may be in.
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

const SHARED: &str = "layout(binding = 0) coherent buffer Data { uint o[]; }; shared uint row[8];";

#[test]
fn barriers_stand_for_fences_of_the_workgroup() {
    let body = "row[gl_LocalInvocationIndex] = 1; memoryBarrierShared();
         if (gl_WorkGroupID.x == 3) { groupMemoryBarrier(); }
         o[gl_LocalInvocationIndex] = row[0]; memoryBarrierBuffer(); barrier();
         o[8 + gl_LocalInvocationIndex] = o[0];";
    let before = made("msl-barriers", SHARED, body);
    let all = "mem_flags::mem_device | mem_flags::mem_threadgroup | mem_flags::mem_texture";
    let both = "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);";
    holds(
        &before,
        &["threadgroup_barrier(mem_flags::mem_threadgroup);", both, &format!("threadgroup_barrier({all});")],
    );
    let after = made_for("msl-3.2", "msl-fences", SHARED, body);
    let fence = |flags: &str, scope: &str| format!("atomic_thread_fence({flags}, memory_order_seq_cst, {scope});");
    holds(
        &after,
        &[
            &fence("mem_flags::mem_threadgroup", "thread_scope_threadgroup"),
            &fence(all, "thread_scope_threadgroup"),
            &fence("mem_flags::mem_device", "thread_scope_device"),
            both,
        ],
    );
    takes(&[&before, &after]);
}

#[test]
fn atomics_that_order_memory_are_between_fences() {
    let text = made_for(
        "msl-3.2",
        "msl-ordered",
        "#extension GL_KHR_memory_scope_semantics : require
         layout(binding = 0) buffer Data { uint o[]; };",
        "o[1] = atomicAdd(o[0], 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease) + 1;
         atomicStore(o[2], 1, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
         o[3] = atomicLoad(o[2], gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);",
    );
    let fences: Vec<&str> = text.lines().map(str::trim).filter(|line| line.contains("atomic_")).collect();
    let fence = |scope: &str| {
        let flags = "mem_flags::mem_device | mem_flags::mem_threadgroup | mem_flags::mem_texture";
        format!("atomic_thread_fence({flags}, memory_order_seq_cst, {scope});")
    };
    let [device, group] = ["thread_scope_device", "thread_scope_threadgroup"].map(fence);
    let expected = [
        &device,
        "found = atomic_fetch_add_explicit((device atomic_uint*)&o[0], 1u, memory_order_relaxed);",
        &device,
        &group,
        "atomic_store_explicit((device atomic_uint*)&o[2], 1u, memory_order_relaxed);",
        "found_1 = atomic_load_explicit((device atomic_uint*)&o[2], memory_order_relaxed);",
        &group,
    ];
    assert_eq!(fences, expected, "{text}");
    takes(&[&text]);
}

#[test]
fn memory_that_others_see_at_once_is_coherent() {
    let text = made_for(
        "msl-3.2",
        "msl-coherent",
        "#extension GL_EXT_shader_image_load_formatted : require
         layout(binding = 0) coherent buffer Data { uint o[]; };
         layout(binding = 1) coherent uniform uimage2D image; layout(binding = 2, r32ui) uniform uimage2D plain;
         uint read(coherent uimage2D from) { return imageLoad(from, ivec2(0)).x; }",
        "imageStore(image, ivec2(1), uvec4(o[0])); o[1] = read(image) + imageLoad(plain, ivec2(0)).x;",
    );
    holds(
        &text,
        &[
            "coherent device uint* o [[buffer(0)]],",
            "texture2d<uint, access::read_write, memory_coherence_device> image [[texture(0)]],",
            "texture2d<uint, access::read> plain [[texture(1)]]) {",
        ],
    );
    assert!(text.contains("uint read(texture2d<uint, access::read_write, memory_coherence_device> from)"), "{text}");
    takes(&[&text]);
}

#[test]
fn the_dialects_of_ios_have_parts_later() {
    let folder = Folder::new("msl-ios");
    let source = "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() { c = vec4(gl_PrimitiveID); }\n";
    folder.file("made.frag", source);
    for profile in ["msl-2.2", "msl-ios-2.3"] {
        assert!(text(&folder, "made.frag", profile).contains("[[primitive_id]]"), "{profile}");
    }
    for (profile, advice) in [
        ("msl-2.1", "MSL has no built-in value PrimitiveId before version 2.2"),
        ("msl-2.1", "this needs Metal 2.2: the profile `msl-2.2` has it"),
        ("msl-ios-2.2", "MSL has no built-in value PrimitiveId before version 2.3 on iOS"),
        ("msl-ios-2.2", "this needs Metal 2.3: the profile `msl-2.3` has it"),
    ] {
        let output = folder.run(&["compile", "made.frag", "-p", profile, "-o", "-"]);
        assert!(status(&output) == 3 && stderr(&output).contains(advice), "{}", stderr(&output));
    }
}

#[test]
fn the_number_of_a_draw_is_in_a_buffer_of_the_hosts() {
    let folder = Folder::new("msl-draw");
    let source = "#version 460\nlayout(location = 0) out int number;\nlayout(push_constant) uniform Push { vec4 at; };
        int draw() { return gl_DrawID + 1; }
        void main() { number = draw() + gl_DrawID + gl_BaseInstance; gl_Position = at; }\n";
    folder.file("made.vert", source);
    let text = text(&folder, "made.vert", "msl-2.1");
    holds(
        &text,
        &[
            "struct DrawParameters {",
            "int draw_index;",
            "constant DrawParameters& draw_parameters [[buffer(1)]],",
            "int gl_DrawID = draw_parameters.draw_index;",
            "int draw(int gl_DrawID) {",
        ],
    );
    takes(&[&text]);
    let output = folder.run(&["compile", "made.vert", "-p", "msl-2.1", "--emit", "reflection", "-o", "-"]);
    let reflection: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let slots = reflection["metal"]["slots"].as_array().expect("slots");
    let of_host = slots.iter().find(|slot| slot["role"] == "draw_parameters").expect("a buffer");
    assert_eq!((&of_host["kind"], &of_host["index"]), (&"buffer".into(), &1.into()), "{reflection}");
}

const SETS: &str = "layout(set = 0, binding = 0) uniform Scene { vec4 light; } scene;
    layout(set = 0, binding = 1) uniform sampler2D unused;
    layout(set = 0, binding = 2) uniform sampler2D images[3];
    layout(set = 2, binding = 0) buffer Data { float o[]; };
    layout(set = 2, binding = 1) readonly buffer Part { float by; } parts[2];
    layout(set = 2, binding = 4) uniform texture2D plain; layout(set = 2, binding = 7) uniform sampler joint;
    layout(push_constant) uniform Push { uint n; };
    float read(uint i) { return textureLod(images[i], vec2(0.5), 0.0).x + parts[i % 2u].by; }
    float whole(sampler2D all[3]) { return textureLod(all[1], vec2(0.5), 0.0).x; }";

#[test]
fn sets_are_argument_buffers() {
    let folder = Folder::new("msl-sets");
    let body = "o[n % o.length()] = read(n) + whole(images) + scene.light.x + textureLod(sampler2D(plain, joint), vec2(0.0), 0.0).x;";
    folder.file("made.comp", format!("#version 450\n{SETS}\nlayout(local_size_x = 8) in;\nvoid main() {{ {body} }}\n"));
    let with = |more: &[&str]| {
        let output =
            folder.run(&[&["compile", "made.comp", "-p", "msl-2.1", "--argument-buffers", "-o", "-"], more].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    let text = with(&[]);
    holds(
        &text,
        &[
            "constant Scene* scene [[id(0)]];",
            // Two ids belong to the unused texture.
            "array<texture2d<float>, 3> images [[id(3)]];",
            "array<sampler, 3> images_sampler [[id(6)]];",
            "device float* o [[id(0)]];",
            "device const Part* parts_0 [[id(1)]];",
            "device const Part* parts_1 [[id(2)]];",
            "texture2d<float> plain [[id(3)]];",
            "sampler joint [[id(4)]];",
            "constant Set0& set0 [[buffer(0)]],",
            "constant Set2& set2 [[buffer(1)]],",
            "constant Push& push [[buffer(2)]],",
            "constant uint* buffer_sizes [[buffer(3)]]) {",
            "constant Scene& scene = *set0.scene;",
            "constant array<texture2d<float>, 3>& images = set0.images;",
            "device float* o = set2.o;",
        ],
    );
    takes(&[&text, &with(&["--place", "0:2=0:10"])]);
    let reflection: serde_json::Value = serde_json::from_str(&with(&["--emit", "reflection"])).expect("JSON");
    let sets = reflection["metal"]["argument_buffers"].as_array().expect("argument buffers");
    let of = |set: &serde_json::Value| {
        let members = set["members"].as_array().expect("members").iter();
        let members = members.map(|member| format!("{} {} {}", member["name"], member["kind"], member["id"]));
        format!("{} at {}: {}", set["name"], set["index"], members.collect::<Vec<_>>().join(", ")).replace('"', "")
    };
    let expected = [
        "set0 at 0: scene buffer 0, images texture 3, images_sampler sampler 6",
        "set2 at 1: o buffer 0, parts_0 buffer 1, parts_1 buffer 2, plain texture 3, joint sampler 4",
    ];
    assert_eq!(sets.iter().map(of).collect::<Vec<_>>(), expected, "{reflection}");
    let moved = with(&["--place", "0:2=2:10", "--place", "2:0=9"]);
    holds(&moved, &["array<texture2d<float>, 3> images [[id(10)]];", "device float* o [[id(9)]];"]);
    let other = folder.run(&["compile", "made.comp", "-p", "hlsl-6.5", "--argument-buffers", "-o", "-"]);
    assert!(stderr(&other).contains("--argument-buffers: only MSL has them"), "{}", stderr(&other));
    let taken = folder.run(&[
        "compile",
        "made.comp",
        "-p",
        "msl-2.1",
        "--argument-buffers",
        "--place",
        "2:0=3",
        "--place",
        "2:4=3",
        "-o",
        "-",
    ]);
    assert!(stderr(&taken).contains("is at id 3 of space 2 too"), "{}", stderr(&taken));
}

#[test]
fn manifests_have_argument_buffers_too() {
    let folder = Folder::new("msl-sets-manifest");
    let source = "#version 450\nlayout(binding = 0) buffer Data { uint o[]; };\nvoid main() { o[0] = 1u; }\n";
    folder.file("a.comp", source);
    let manifest = "[[build]]\nshaders = [\"a.comp\"]\nprofiles = [\"msl-3.0\", \"wgsl\"]\nout-dir = \"out\"\n\
        options = { argument-buffers = true }\n";
    folder.file("crosslane.toml", manifest);
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let built = std::fs::read_to_string(folder.0.join("out/a.msl-3.0.metal")).unwrap();
    let alone = folder.run(&["compile", "a.comp", "-p", "msl-3.0", "--argument-buffers", "-o", "-"]);
    assert!(built == stdout(&alone) && built.contains("device uint* o [[id(0)]];"), "{built}");
    assert_eq!(status(&folder.run(&["build", "--emit-ninja"])), 0);
    let ninja = std::fs::read_to_string(folder.0.join("build.ninja")).unwrap();
    assert_eq!(ninja.matches("--argument-buffers").count(), 1, "{ninja}");
}
