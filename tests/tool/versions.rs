//! Texts for early versions of GLSL, GLSL ES and Shader Models: what they have, what an extension adds, and what is
//! refused.

use crate::folder::{Folder, hold, reflection, refusal, text};

const SHADER: &str = "#version 450
layout(set = 0, binding = 1) uniform sampler2D albedo;
layout(set = 1, binding = 1) uniform Material { vec4 color; } material;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 result;
void main() { result = texture(albedo, uv) * material.color; }
";

#[test]
fn extensions_bring_what_came_later() {
    let folder = Folder::new("versions-glsl");
    folder.file("a.frag", SHADER);
    let early = text(&folder, "a.frag", "glsl-330");
    hold(
        &early,
        &[
            "#version 330\n",
            "#extension GL_ARB_separate_shader_objects : require\n",
            "#extension GL_ARB_shading_language_420pack : require\n",
            "layout(binding = 1) uniform sampler2D albedo;\n",
            "layout(location = 2) in vec2 uv;\n",
        ],
    );
    let later = text(&folder, "a.frag", "glsl-420");
    assert!(later.starts_with("#version 420\n\nlayout"), "{later}");
}

/// WebGL 2 binds by name, and its stages find each other by the location in the names.
#[test]
fn es_300_has_names_in_the_place_of_points_and_locations() {
    let folder = Folder::new("versions-es");
    folder.file("a.frag", SHADER);
    let text = text(&folder, "a.frag", "webgl2");
    hold(
        &text,
        &[
            "#version 300 es\n",
            "layout(std140) uniform Material {\n",
            "\nuniform highp sampler2D albedo;\n",
            "\nin vec2 varying_2;\n",
            "layout(location = 0) out vec4 result;\n",
        ],
    );
    let reflection = reflection(&folder, "a.frag", "glsl-es-300");
    let rows = reflection["glsl"]["by_name"].as_array().expect("a list");
    let mut rows: Vec<_> = rows.iter().map(|row| (row["name"].as_str(), row["point"].as_u64())).collect();
    rows.sort_unstable();
    assert_eq!(rows, [(Some("Material"), Some(1)), (Some("albedo"), Some(1))]);
}

/// A block of outputs is a variable for each member, at the member's location.
#[test]
fn es_300_has_variables_in_the_place_of_blocks_between_stages() {
    let folder = Folder::new("versions-blocks");
    folder.file(
        "a.vert",
        "#version 450
layout(location = 0) in vec4 place;
layout(location = 3) out Surface { vec2 at; mat3 frame; float shade; } surface;
void main() {
    gl_Position = place;
    surface.at = place.xy;
    surface.frame = mat3(1.0);
    surface.frame[1].y = place.z;
    surface.shade = surface.at.x;
}
",
    );
    let early = text(&folder, "a.vert", "glsl-es-300");
    hold(
        &early,
        &[
            "layout(location = 0) in vec4 place;\n",
            "\nout vec2 varying_3;\nout mat3 varying_4;\nout float varying_7;\n",
            "    varying_3 = place.xy;\n",
            "    varying_4[1].y = place.z;\n",
            "    varying_7 = varying_3.x;\n",
        ],
    );
    hold(&text(&folder, "a.vert", "glsl-es-320-khr"), &["\nout Surface {\n    layout(location = 3) vec2 at;\n"]);
}

#[test]
fn a_refusal_names_the_version_that_has_it() {
    let folder = Folder::new("versions-refused");
    folder.file("a.comp", "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n");
    for (profile, said) in [
        ("glsl-es-300", "GLSL ES has no compute shaders before version 310"),
        ("glsl-410", "GLSL for OpenGL has no compute shaders before version 430"),
    ] {
        let found = refusal(&folder, "a.comp", profile);
        assert!(found.contains(said), "{found}");
    }
    folder.file("long.frag", "#version 450\n#extension GL_ARB_gpu_shader_int64 : require\nlayout(location = 0) out float r;\nlayout(location = 0) flat in uvec2 a;\nvoid main() { r = float(packUint2x32(a)); }\n");
    let found = refusal(&folder, "long.frag", "hlsl-5.1");
    assert!(found.contains("HLSL has no type u64 before Shader Model 6.0"), "{found}");
}

/// Direct3D 11 has one register space, in which a fragment shader's views follow the render targets.
#[test]
fn shader_model_5_0_has_one_space() {
    let folder = Folder::new("versions-hlsl");
    folder.file("a.frag", SHADER);
    let model_5 = text(&folder, "a.frag", "hlsl-5.0");
    hold(
        &model_5,
        &[
            "Texture2D<float4> albedo : register(t1);\n",
            "SamplerState albedo_sampler : register(s1);\n",
            "cbuffer Material_buffer : register(b1) {\n    Material material;\n};\n",
        ],
    );
    let found = reflection(&folder, "a.frag", "hlsl-5.0");
    let rows = found["direct3d"]["registers"].as_array().expect("a list").iter();
    let rows: Vec<_> =
        rows.map(|row| (row["register"].as_str(), row["set"].as_u64(), row["binding"].as_u64())).collect();
    assert!(rows.contains(&(Some("b1"), Some(1), Some(1))), "{found}");
    folder.file(
        "views.frag",
        "#version 450\nlayout(set = 0, binding = 0, rgba8) uniform writeonly image2D image;\nlayout(location = 1) out vec4 a;\nvoid main() { a = vec4(1); imageStore(image, ivec2(0), a); }\n",
    );
    hold(&text(&folder, "views.frag", "hlsl-5.0"), &["image : register(u2);\n"]);
    hold(&text(&folder, "views.frag", "hlsl-5.1"), &["image : register(u0);\n"]);
}

/// FXC does not accept `continue` in a switch, nor cases that fall through.
#[test]
fn switches_before_shader_model_6_neither_fall_through_nor_continue() {
    let folder = Folder::new("versions-switches");
    folder.file(
        "a.comp",
        "#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Data { int data[]; };
void main() {
    for (int i = 0; i < 8; i++) {
        switch (data[i]) {
        case 0: data[i] = 7;
        case 1: data[i] += 2; break;
        case 2: continue;
        default: data[i] = 9;
        }
        data[i]++;
    }
}
",
    );
    let model_6 = text(&folder, "a.comp", "hlsl-6.0");
    assert!(model_6.contains("switch (") && model_6.contains("continue;"), "{model_6}");
    let model_5 = text(&folder, "a.comp", "hlsl-5.1");
    let after = model_5.split("continues = true;").nth(1).expect("a flag");
    assert!(!model_5.contains("switch (") && after.contains("if (continues) {\n            continue;"), "{model_5}");
}
