//! The guide's Meson build, with Meson and ninja.

use crate::folder::Folder;
use std::fs;

const SHADER: &str = "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include <x.glsl>\n\
                      layout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint x[]; };\n\
                      void main() { x[gl_GlobalInvocationID.x] = X; }\n";

/// The block of the guide in Meson's language.
fn guide() -> &'static str {
    let page = include_str!("../../docs/guide/farms.md");
    let (_, rest) = page.split_once("```meson\n").expect("the guide has a block");
    rest.split_once("```").expect("which ends").0
}

#[test]
fn the_guide_builds_and_builds_again_when_an_include_changes() {
    let folder = Folder::new("meson");
    fs::create_dir(folder.0.join("include")).unwrap();
    folder.file("reduce.comp", SHADER);
    folder.file("include/x.glsl", "const uint X = 1u;\n");
    folder.file("meson.build", format!("project('test', meson_version: '>= 1.0')\n{}", guide()));
    folder.file("native.ini", format!("[binaries]\ncrosslane = '{}'\n", env!("CARGO_BIN_EXE_crosslane")));
    let Some((done, text)) = folder.say("meson", &["setup", "out", "--native-file", "native.ini"]) else { return };
    assert!(done, "{text}");
    let build = || folder.say("ninja", &["-C", "out"]);
    let Some((done, text)) = build() else { return };
    assert!(done, "{text}");
    let read = || ["reduce.spirv-1.5.spv", "reduce.gfx1100.s"].map(|name| fs::read(folder.0.join("out").join(name)));
    let old = read().map(Result::unwrap);
    let (_, text) = build().unwrap();
    assert!(text.contains("no work to do"), "{text}");
    folder.file("include/x.glsl", "const uint X = 2u;\n");
    let (done, text) = build().unwrap();
    assert!(done, "{text}");
    let new = read().map(Result::unwrap);
    assert!(old.iter().zip(&new).all(|(old, new)| old != new), "{text}");
}
