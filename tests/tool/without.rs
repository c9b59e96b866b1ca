//! What OpenGL and WGSL lack, expressed with what they have: descriptor sets, arrays of resources, input attachments,
//! 1D textures.

use crate::folder::{Folder, hold, reflection, status, stderr, text};

const SETS: &str = "#version 450
layout(set = 0, binding = 1) uniform sampler2D first[3];
layout(set = 1, binding = 1) uniform sampler2D second;
layout(set = 1, binding = 9) uniform sampler2D third;
layout(set = 2, binding = 1) uniform Block { vec4 tint; };
layout(location = 0) out vec4 color;
void main() { color = tint * (texture(first[1], vec2(0.5)) + texture(second, vec2(0.5)) + texture(third, vec2(0.5))); }
";

/// Each kind of resource has its own numbers, and an array takes one for each element.
#[test]
fn sets_are_binding_points_in_opengl() {
    let folder = Folder::new("without-sets");
    folder.file("sets.frag", SETS);
    for (profile, precision) in [("glsl-es-320-khr", "highp "), ("glsl-450-nv", "")] {
        let text = text(&folder, "sets.frag", profile);
        hold(
            &text,
            &[
                &format!("layout(binding = 1) uniform {precision}sampler2D first[3];\n"),
                &format!("layout(binding = 4) uniform {precision}sampler2D second;\n"),
                &format!("layout(binding = 9) uniform {precision}sampler2D third;\n"),
                "layout(std140, binding = 1) uniform Block {\n",
            ],
        );
    }
    let reflection = reflection(&folder, "sets.frag", "glsl-es-320-khr");
    let moved = reflection["glsl"]["moved"].as_array().expect("a list").iter();
    let moved: Vec<_> = moved.map(|row| ["set", "binding", "point"].map(|key| row[key].as_u64())).collect();
    assert_eq!(moved, [[1, 1, 4], [1, 9, 9], [2, 1, 1]].map(|row| row.map(Some)), "{reflection}");
}

/// Stages of one program give a resource the same binding point, whichever of them declares the other resources.
#[test]
fn stages_agree_on_binding_points() {
    let folder = Folder::new("without-sets-linked");
    folder.file("drawn.frag", SETS);
    let vertex = "#version 450\nlayout(set = 1, binding = 1) uniform sampler2D second;\n\
                  void main() { gl_Position = textureLod(second, vec2(0.5), 0.0); }\n";
    folder.file("drawn.vert", vertex);
    let alone = text(&folder, "drawn.vert", "glsl-es-320-khr");
    hold(&alone, &["layout(binding = 1) uniform highp sampler2D second;"]);
    let output = folder.run(&["compile", "drawn.vert", "drawn.frag", "-p", "glsl-es-320-khr", "-o", "out/"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let written = std::fs::read_dir(folder.0.join("out")).expect("a folder");
    let texts: Vec<String> = written.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert_eq!(texts.len(), 2);
    texts.iter().for_each(|text| hold(text, &["layout(binding = 4) uniform highp sampler2D second;"]));
}

/// Elements follow all resources of the group, and their samplers follow them.
#[test]
fn elements_of_arrays_are_variables_in_wgsl() {
    let folder = Folder::new("without-arrays");
    let source = "#version 450\nlayout(binding = 0) uniform sampler2D list[3];\nlayout(binding = 4) uniform Other { int which; };\n\
                  layout(location = 0) in vec2 at;\nlayout(location = 0) out vec4 color;\n\
                  void main() { color = texture(list[2], at) + texture(list[which], at); }\n";
    folder.file("list.frag", source);
    let text = text(&folder, "list.frag", "wgsl");
    hold(
        &text,
        &[
            "@group(0) @binding(0) var list_0: texture_2d<f32>;",
            "@group(0) @binding(5) var list_1: texture_2d<f32>;",
            "@group(0) @binding(6) var list_2: texture_2d<f32>;",
            "@group(0) @binding(7) var list_0_sampler: sampler;",
            "fn sample_list(index: i32, value: vec2f) -> vec4f {\n    switch index {\n        case 0: {\n",
            "textureSample(list_2, list_2_sampler, at) + sample_list(which, at);",
        ],
    );
    let reflection = reflection(&folder, "list.frag", "wgsl");
    let elements = reflection["webgpu"]["elements"].as_array().expect("a list").iter();
    let elements: Vec<_> = elements.map(|row| ["element", "binding"].map(|key| row[key].as_u64())).collect();
    assert_eq!(elements, [[0, 0], [1, 5], [2, 6]].map(|row| row.map(Some)), "{reflection}");
}

/// The index of a member is not the index of an element.
#[test]
fn members_of_elements_stay_members() {
    let folder = Folder::new("without-arrays-of-blocks");
    let source = "#version 450\nlayout(local_size_x = 8) in;\n\
                  layout(binding = 0) uniform Block { mat4 first; vec4 list[2]; } blocks[2];\n\
                  layout(binding = 1) buffer Out { vec4 sum[]; };\n\
                  void main() { uint i = gl_LocalInvocationID.x;\n\
                  sum[i] = blocks[0].list[1] + blocks[1].first[0] + blocks[gl_WorkGroupID.x].first[1] \
                  + blocks[gl_WorkGroupID.y].list[i & 1u]; }\n";
    folder.file("blocks.comp", source);
    let text = text(&folder, "blocks.comp", "wgsl");
    hold(
        &text,
        &[
            "blocks_0.list[1] + blocks_1.first[0]",
            "return blocks_0.first[1];",
            "return blocks_1.first[1];",
            "return blocks_0.list[value];",
            "return blocks_1.list[value];",
        ],
    );
}

/// WebGPU requires every vertex shader to have a position.
#[test]
fn a_position_is_added_in_wgsl() {
    let folder = Folder::new("without-position");
    folder.file("none.vert", "#version 450\nlayout(location = 0) out float x;\nvoid main() { x = 1.0; }\n");
    hold(&text(&folder, "none.vert", "wgsl"), &["@builtin(position) gl_Position: vec4f,"]);
}

#[test]
fn attachments_are_textures_at_the_fragment() {
    let folder = Folder::new("without-attachments");
    let source = "#version 450\nlayout(input_attachment_index = 1, binding = 2) uniform subpassInput before;\n\
                  layout(location = 0) out vec4 color;\nvoid main() { color = subpassLoad(before); }\n";
    folder.file("before.frag", source);
    for (profile, line) in [
        ("wgsl", "textureLoad(before, vec2i(gl_FragCoord.xy), 0)"),
        ("glsl-es-320-khr", "texelFetch(before, ivec2(gl_FragCoord.xy), 0)"),
        ("hlsl-6.5", "before.Load(int3(int2(gl_FragCoord.xy), 0))"),
        ("msl-3.0", "before.read(uint2(int2(gl_FragCoord.xy)))"),
        ("glsl-450-khr", "subpassLoad(before)"),
    ] {
        hold(&text(&folder, "before.frag", profile), &[line]);
    }
}

/// Coordinates get the middle of the only row, sizes lose the height.
#[test]
fn lines_are_planes_with_one_row() {
    let folder = Folder::new("without-lines");
    let source = "#version 450\nlayout(binding = 0) uniform sampler1DArray lines;\nlayout(location = 0) in vec2 at;\n\
                  layout(location = 0) out vec4 color;\n\
                  void main() { color = texture(lines, vec2(at.x, 2.0)) + texelFetch(lines, ivec2(3, 1), 0) \
                  + vec4(textureSize(lines, 0), 0, 0); }\n";
    folder.file("lines.frag", source);
    let by_wgsl = text(&folder, "lines.frag", "wgsl");
    hold(
        &by_wgsl,
        &[
            "var lines: texture_2d_array<f32>;",
            "textureSample(lines, lines_sampler, vec2f(at.x, 0.5), 2)",
            "textureLoad(lines, vec2i(3, 0), 1, 0)",
            "vec4f(f32(texel.x), f32(texel.z), 0.0, 0.0)",
        ],
    );
    let by_es = text(&folder, "lines.frag", "glsl-es-320-khr");
    hold(
        &by_es,
        &["sampler2DArray lines;", "texture(lines, vec3(at.x, 0.5, 2.0))", "texelFetch(lines, ivec3(3, 0, 1), 0)"],
    );
}

/// WebGPU's fragment shaders cannot read the point size, and its vertex shaders write clip distances as an array.
#[test]
fn clip_distances_are_an_array_in_wgsl() {
    let folder = Folder::new("without-clip");
    let source = "#version 450\nlayout(location = 0) in vec4 place;\nout gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[2]; };\n\
                  void main() { gl_Position = place; gl_ClipDistance[0] = place.x; gl_ClipDistance[1] = place.y; }\n";
    folder.file("clip.vert", source);
    let text = text(&folder, "clip.vert", "wgsl");
    hold(&text, &["enable clip_distances;", "@builtin(clip_distances) gl_ClipDistance: array<f32, 2>,"]);
}
