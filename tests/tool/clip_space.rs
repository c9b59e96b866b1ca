//! `--flip-y` and `--depth-range`, and the same in manifests.

use crate::folder::{Folder, status, stderr, stdout};
use std::fs;

const VERTEX: &str = "#version 450\nlayout(location = 0) in vec4 a;\n\
    void main() { gl_Position = a; if (a.x > 0.0) return; gl_Position.w = 2.0; }\n";
const FRAGMENT: &str = "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() { c = gl_FragCoord; }\n";

#[test]
fn positions_change_at_each_end_of_a_vertex_shader() {
    let folder = Folder::new("clip-space");
    folder.file("a.vert", VERTEX);
    folder.file("a.frag", FRAGMENT);
    let compile = |shader: &str, profile: &str, options: &[&str]| {
        let output = folder.run(&[&["compile", shader, "-p", profile, "-o", "-"], options].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    for profile in ["hlsl-6.5", "msl-3.0", "wgsl", "glsl-450", "glsl-es"] {
        let text = compile("a.vert", profile, &["--flip-y"]);
        assert_eq!(text.matches("gl_Position.y = -").count(), 2, "{profile}\n{text}");
        let text = compile("a.vert", profile, &["--depth-range", "from-opengl"]);
        assert_eq!(text.matches("gl_Position.w) * 0.5").count(), 2, "{profile}\n{text}");
        let text = compile("a.vert", profile, &["--depth-range=to-opengl"]);
        let expected = text.lines().filter(|line| line.contains("gl_Position.z = ") && line.contains(" - ")).count();
        assert_eq!(expected, 2, "{profile}\n{text}");
        let plain = compile("a.vert", profile, &[]);
        assert_eq!(plain, compile("a.vert", profile, &["--depth-range", "source"]));
        assert_eq!(compile("a.frag", profile, &["--flip-y"]), compile("a.frag", profile, &[]), "{profile}");
    }
}

#[test]
fn manifests_have_the_options_too() {
    let folder = Folder::new("clip-space-manifest");
    folder.file("a.vert", VERTEX);
    let manifest = "[[build]]\nshaders = [\"a.vert\"]\nprofiles = [\"glsl-450-khr\"]\nout-dir = \"out\"\n\
        options = { flip-y = true, depth-range = \"from-opengl\" }\n";
    folder.file("crosslane.toml", manifest);
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let built = fs::read_to_string(folder.0.join("out/a.vert.glsl-450-khr.glsl")).unwrap();
    let alone =
        folder.run(&["compile", "a.vert", "-p", "glsl-450", "--flip-y", "--depth-range=from-opengl", "-o", "-"]);
    assert_eq!(built, stdout(&alone));
    folder.file("crosslane.toml", manifest.replace("from-opengl", "opengl"));
    assert_eq!(status(&folder.run(&["build"])), 2);
    folder.file("crosslane.toml", manifest);
    assert_eq!(status(&folder.run(&["build", "--emit-ninja"])), 0);
    let ninja = fs::read_to_string(folder.0.join("build.ninja")).unwrap();
    assert!(ninja.contains("--flip-y") && ninja.contains("--depth-range=from-opengl"), "{ninja}");
}
