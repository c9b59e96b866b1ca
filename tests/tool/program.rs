//! `crosslane compile` with several shaders and several profiles.

use crate::folder::{Folder, status, stderr};
use std::fs;

const VERTEX: &str = "#version 450\nlayout(location = 0) in vec4 a;\nlayout(location = 0) out vec2 uv;\n\
    void main() { gl_Position = a; uv = a.xy; }\n";
const FRAGMENT: &str = "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 c;\n\
    void main() { c = uv.xyxy; }\n";
/// Correct, but HLSL has no such type.
const LACKS: &str = "#version 450\n#extension GL_EXT_shader_tile_image : require\n\
    layout(location = 0) tileImageEXT highp attachmentEXT t;\nlayout(location = 0) out vec4 c;\n\
    void main() { c = colorAttachmentReadEXT(t); }\n";

fn folder() -> Folder {
    let folder = Folder::new("program");
    folder.file("a.vert", VERTEX);
    folder.file("a.frag", FRAGMENT);
    folder
}

fn names(folder: &Folder, below: &str) -> Vec<String> {
    let entries =
        fs::read_dir(folder.0.join(below)).map(|entries| entries.flatten().collect()).unwrap_or_else(|_| vec![]);
    let mut names: Vec<String> = entries.iter().map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_shader_is_compiled_for_every_profile() {
    let folder = folder();
    let output = folder.run(&["compile", "a.vert", "a.frag", "-p", "hlsl-6.5", "-p", "msl-3.0,wgsl", "-o", "out/b"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let expected = [
        "a.frag.hlsl-6.5.hlsl",
        "a.frag.msl-3.0.metal",
        "a.frag.wgsl.wgsl",
        "a.vert.hlsl-6.5.hlsl",
        "a.vert.msl-3.0.metal",
        "a.vert.wgsl.wgsl",
    ];
    assert_eq!(names(&folder, "out/b"), expected);
    let alone = folder.run(&["compile", "a.vert", "-p", "msl-3.0", "-o", "-"]);
    assert_eq!(alone.stdout, fs::read(folder.0.join("out/b/a.vert.msl-3.0.metal")).unwrap());
}

#[test]
fn one_profile_is_not_part_of_the_names() {
    let folder = folder();
    let compile = |words: &[&str]| {
        let output = folder.run(&[&["compile"], words].concat());
        assert_eq!(status(&output), 0, "{words:?}: {}", stderr(&output));
    };
    compile(&["a.vert", "a.frag", "-p", "hlsl-6.5", "-p", "hlsl-6.5", "-o", "out"]);
    assert_eq!(names(&folder, "out"), ["a.frag.hlsl", "a.vert.hlsl"]);
    compile(&["a.vert", "-p", "glsl-450", "-o", "one/"]);
    assert_eq!(names(&folder, "one"), ["a.vert.glsl"]);
    compile(&["a.vert", "a.frag", "-p", "glsl-450", "--emit", "reflection", "--deps", "-o", "json"]);
    assert_eq!(names(&folder, "json"), ["a.frag.json", "a.frag.json.d", "a.vert.json", "a.vert.json.d"]);
    compile(&["a.vert", "a.frag", "-S"]);
    assert!(folder.0.join("a.vert.spvasm").exists() && folder.0.join("a.frag.spvasm").exists());
    compile(&["a.vert", "a.frag", "--check-only", "-o", "checked"]);
    assert!(!folder.0.join("checked").exists());
}

#[test]
fn an_output_that_fails_leaves_the_others() {
    let folder = folder();
    folder.file("wrong.frag", FRAGMENT.replace("uv.xyxy", "vu"));
    folder.file("wrong.vert", VERTEX.replace("a.xy", "b"));
    let output = folder.run(&["compile", "wrong.vert", "a.vert", "wrong.frag", "-p", "hlsl-6.5,msl-3.0", "-o", "out"]);
    assert_eq!(status(&output), 1);
    assert_eq!(names(&folder, "out"), ["a.vert.hlsl-6.5.hlsl", "a.vert.msl-3.0.metal"]);
    let said = stderr(&output);
    assert_eq!(said.matches("wrong.vert:4").count(), 1, "each message once\n{said}");
    assert_eq!(said.matches("wrong.frag:4").count(), 1, "each message once\n{said}");
    assert!(!said.contains("= in"), "they hold for both profiles\n{said}");
}

#[test]
fn a_message_of_one_profile_names_its_output() {
    let folder = folder();
    folder.file("t.frag", LACKS);
    let output = folder.run(&["compile", "t.frag", "-p", "hlsl-6.5,spirv-1.5", "-o", "out"]);
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("= in out/t.frag.hlsl-6.5.hlsl"), "{}", stderr(&output));
    assert_eq!(names(&folder, "out"), ["t.frag.spirv-1.5.spv"]);
    let output = folder.run(&["compile", "t.frag", "gone.vert", "a.vert", "-p", "hlsl-6.5", "-o", "more"]);
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot read gone.vert"), "{}", stderr(&output));
    assert_eq!(names(&folder, "more"), ["a.vert.hlsl"]);
}

#[test]
fn options_of_one_output_are_refused_for_several() {
    let folder = folder();
    fs::create_dir(folder.0.join("sub")).unwrap();
    folder.file("sub/a.vert", VERTEX);
    folder.file("file", "");
    let cases: [(&[&str], &str); 6] = [
        (&["a.vert", "a.frag", "-o", "-"], "-o -"),
        (&["a.vert", "a.frag", "-M"], "--deps-only (-M)"),
        (&["a.vert", "a.frag", "-MD", "-MF", "x.d"], "--deps-file (-MF)"),
        (&["a.vert", "-", "--lang", "glsl"], "standard input"),
        (&["a.vert", "sub/a.vert", "-o", "out"], "two outputs are called out/a.vert.spv: a.vert and sub/a.vert"),
        (&["a.vert", "a.frag", "-o", "file"], "cannot make file"),
    ];
    for (words, why) in cases {
        let output = folder.run(&[&["compile"], words].concat());
        assert_eq!(status(&output), 2, "{words:?}");
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
    assert!(!folder.0.join("out").exists());
    assert!(!folder.0.join("a.vert.spv").exists());
}

/// The text of an output.
fn made(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.0.join(name)).unwrap()
}

#[test]
fn stages_agree_on_the_places_of_samplers() {
    let folder = Folder::new("program-samplers");
    folder.file(
        "c.vert",
        "#version 450\nlayout(location = 0) in vec2 pos;\nlayout(binding = 3) uniform sampler2D height;\n\
         void main() { gl_Position = vec4(pos, textureLod(height, pos, 0.0).x, 1.0); }\n",
    );
    folder.file(
        "c.frag",
        "#version 450\nlayout(binding = 3) uniform sampler2D height;\nlayout(binding = 1) uniform sampler2D skin;\n\
         layout(binding = 5) uniform U { vec4 tint; };\nlayout(location = 0) out vec4 col;\n\
         void main() { col = tint * texture(height, gl_FragCoord.xy) * texture(skin, gl_FragCoord.yx); }\n",
    );
    let output = folder.run(&["compile", "c.vert", "c.frag", "-p", "wgsl", "-o", "out"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let of_height = "@group(0) @binding(7) var height_sampler: sampler;";
    assert!(made(&folder, "out/c.vert.wgsl").contains(of_height), "{}", made(&folder, "out/c.vert.wgsl"));
    let fragments = made(&folder, "out/c.frag.wgsl");
    assert!(fragments.contains(of_height), "{fragments}");
    assert!(fragments.contains("@group(0) @binding(6) var skin_sampler: sampler;"), "{fragments}");
}

#[test]
fn inputs_of_fragments_agree_with_what_vertices_write() {
    let folder = Folder::new("program-inputs");
    folder.file(
        "d.vert",
        "#version 450\nlayout(location = 0) in vec4 pos;\nlayout(location = 0) out vec2 narrow;\n\
         layout(location = 1) out vec3 unread;\nlayout(location = 2) out vec4 whole;\nlayout(location = 3) out float last;\n\
         void main() { gl_Position = pos; narrow = pos.xy; unread = pos.xyz; whole = pos; last = pos.x; }\n",
    );
    folder.file(
        "d.frag",
        "#version 450\nlayout(location = 0) flat in vec3 narrow;\nlayout(location = 2) in vec2 whole;\n\
         layout(location = 5) in vec2 unwritten;\nlayout(location = 0) out vec4 col;\n\
         void main() { col = vec4(narrow.xy, whole) + unwritten.xyxy; }\n",
    );
    let output = folder.run(&["compile", "d.vert", "d.frag", "-p", "hlsl-6.5", "-p", "wgsl", "-o", "out"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let members = |name: &str, of: &str| -> Vec<String> {
        let text = made(&folder, name);
        let lines = text.lines().skip_while(|line| *line != format!("struct {of} {{")).take_while(|line| *line != "};");
        let member =
            |line: &str| line.split_once(" : LOC").map(|(member, place)| (member.to_owned(), place.to_owned()));
        let located = lines.filter_map(member);
        located.map(|(member, place)| format!("{place} {}", member.trim().rsplit_once(' ').unwrap().0)).collect()
    };
    let expected = ["0; nointerpolation float3", "1; float3", "2; float4", "3; float", "5; float2"];
    assert_eq!(members("out/d.vert.hlsl-6.5.hlsl", "Output"), expected);
    assert_eq!(members("out/d.frag.hlsl-6.5.hlsl", "Input"), expected);
    let (vertices, fragments) = (made(&folder, "out/d.vert.wgsl.wgsl"), made(&folder, "out/d.frag.wgsl.wgsl"));
    for port in ["@location(0) @interpolate(flat) ", "@location(2) whole", "@location(5) unwritten"] {
        assert!(vertices.contains(port), "{port}\n{vertices}");
        assert!(fragments.contains(port), "{port}\n{fragments}");
    }
    assert!(!fragments.contains("@location(1)"), "WebGPU needs no inputs that are not read\n{fragments}");
}

#[test]
fn programs_are_told_by_the_names_of_their_shaders() {
    let folder = Folder::new("program-names");
    for name in ["one", "two"] {
        folder.file(
            &format!("{name}.vert"),
            VERTEX.replace("vec2 uv", &format!("vec2 {name}")).replace("uv =", &format!("{name} =")),
        );
        folder.file(
            &format!("{name}.frag"),
            "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() { c = gl_FragCoord; }\n",
        );
    }
    let output =
        folder.run(&["compile", "one.vert", "two.vert", "two.frag", "one.frag", "-p", "hlsl-6.5", "-o", "out"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    for name in ["one", "two"] {
        let text = made(&folder, &format!("out/{name}.frag.hlsl"));
        assert!(text.contains(&format!("float2 {name} : LOC0;")), "{text}");
    }
}
