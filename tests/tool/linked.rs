//! Stages that match without being compiled in one command: `--link-with`, and `link` in manifests.

use crate::folder::{Folder, status, stderr};

/// It writes an output that the fragment shader does not read, at a location below the one that it reads.
const VERTEX: &str = "#version 450
layout(location = 0) in vec4 place;
layout(location = 1) out vec2 at;
layout(location = 3) out vec4 shade;
void main() { gl_Position = place; at = place.xy; shade = place; }
";
const FRAGMENT: &str = "#version 450
layout(location = 3) in vec4 shade;
layout(location = 0) out vec4 color;
void main() { color = shade; }
";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("mesh.vert", VERTEX);
    folder.file("mesh.frag", FRAGMENT);
    folder
}

fn made(folder: &Folder, arguments: &[&str]) {
    let output = folder.run(arguments);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The outputs of a single command that compiles both stages.
fn expected(folder: &Folder) -> [String; 2] {
    made(folder, &["compile", "mesh.vert", "mesh.frag", "-p", "hlsl-6.5", "-o", "both/"]);
    ["mesh.vert.hlsl", "mesh.frag.hlsl"].map(|name| read(folder, &format!("both/{name}")))
}

#[test]
fn a_stage_agrees_with_others_that_are_not_compiled() {
    let folder = folder("linked-compile");
    let [vertex, fragment] = expected(&folder);
    made(&folder, &["compile", "mesh.vert", "--link-with", "mesh.frag", "-p", "hlsl-6.5", "-o", "v.hlsl"]);
    made(&folder, &["compile", "mesh.frag", "--link-with", "mesh.vert", "-p", "hlsl-6.5", "-o", "f.hlsl", "--deps"]);
    assert_eq!([read(&folder, "v.hlsl"), read(&folder, "f.hlsl")], [vertex, fragment.clone()]);
    made(&folder, &["compile", "mesh.frag", "-p", "hlsl-6.5", "-o", "alone.hlsl"]);
    assert_ne!(read(&folder, "alone.hlsl"), fragment);
    let deps = read(&folder, "f.hlsl.d");
    assert!(deps.contains("mesh.vert"), "{deps}");
}

#[test]
fn what_cannot_be_linked_is_refused() {
    let folder = folder("linked-refused");
    folder.file("wrong.vert", "#version 450\nvoid main() { x = 1; }\n");
    for (other, said) in [
        ("mesh.frag", "the program has two fragment shaders"),
        ("wrong.vert", "wrong.vert is wrong"),
        ("none.vert", "cannot read none.vert"),
    ] {
        let output = folder.run(&["compile", "mesh.frag", "--link-with", other, "-p", "hlsl-6.5", "-o", "out.hlsl"]);
        assert_eq!(status(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        assert!(!folder.0.join("out.hlsl").exists());
    }
}

#[test]
fn manifests_link_what_has_one_name() {
    let folder = folder("linked-build");
    let [vertex, fragment] = expected(&folder);
    let manifest = "[[build]]\nshaders = [\"*.vert\", \"*.frag\"]\nprofiles = [\"hlsl-6.5\", \"spirv-1.3\"]\nlink = true\nout-dir = \"out\"\n";
    folder.file("crosslane.toml", manifest);
    made(&folder, &["build"]);
    let built =
        |folder: &Folder| ["mesh.vert", "mesh.frag"].map(|name| read(folder, &format!("out/{name}.hlsl-6.5.hlsl")));
    assert_eq!(built(&folder), [vertex, fragment]);
    // A change in one stage causes the other to be rebuilt.
    folder.file("mesh.vert", VERTEX.replace("location = 1", "location = 2"));
    made(&folder, &["build"]);
    assert_eq!(built(&folder), expected(&folder));
}

#[test]
fn a_program_in_a_manifest_has_one_shader_of_each_stage() {
    let folder = folder("linked-twice");
    folder.file("mesh.frag.glsl", FRAGMENT);
    folder.file(
        "crosslane.toml",
        "[[build]]\nshaders = [\"mesh.*\"]\nprofiles = [\"hlsl-6.5\"]\nlink = true\nout-dir = \"out\"\n",
    );
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("are of one stage, and cannot be linked"), "{}", stderr(&output));
}
