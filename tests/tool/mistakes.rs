//! Mistakes on the command line, and the command's messages about them.

use crate::folder::{Folder, status, stderr};

const GOOD: &str = "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0) buffer B { float x[]; };\n\
                    void main() { x[0] = 1.0; }\n";

fn project(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("shader.comp", GOOD);
    folder.file("a.hlsl", "float4 main() : SV_Target { return 1; }");
    folder.file("a.cu", "__global__ void f() {}");
    folder.file("a.txt", GOOD);
    folder.file("b.spv", "");
    std::fs::create_dir(folder.0.join("sub")).expect("a folder");
    folder.file("sub/c.comp", GOOD);
    folder.file("my.toml", "[[build]]\nshaders = [\"*.comp\"]\nprofiles = [\"spirv-1.5\"]\nout-dir = \"out\"\n");
    folder
}

#[test]
fn mistakes_are_told_with_what_was_meant() {
    let folder = project("mistakes");
    for (words, says) in [
        ("shader.comp", "to compile a shader, write 'crosslane compile shader.comp'"),
        ("compil shader.comp", "a command for that is 'compile'"),
        ("help complie", "a command for that is 'compile'"),
        ("version", "a command for that is '--version'"),
        ("compile shader.comp -O3", "the levels of optimization are -O0, -O, -Os"),
        ("compile shader.comp --target gfx1100", "an option for that is '--profile'"),
        ("compile shader.comp --output a.spv", "an option for that is '-o'"),
        ("compile shader.comp --optimise=speed", "an option for that is '--optimize'"),
        ("check shader.comp --all", "an option for that is '--all-profiles'"),
        ("build my.toml", "a manifest is named by an option: '--manifest my.toml'"),
        ("compile shader.comp --emit spirv-asm", "a value for that is 'spirv-text'"),
        ("compile shader.comp -p gfx1101x", "unknown profile `gfx1101x`; did you mean `gfx1101`?"),
        ("compile shader.comp -p gfx1199", "unknown profile `gfx1199`; did you mean `gfx1153`?"),
        ("compile shader.comp -p vulkan", "`vulkan` is not the name of one profile; write one of `vulkan1."),
        ("compile shader.comp -p rtx3090", "write one of `nv-"),
        ("compile shader.comp -p cuda", "write one of `ptx-sm"),
        ("compile shader.comp -p wgsl --emit hlsl", "the profile wgsl makes WGSL; HLSL needs a profile such as hlsl-"),
        ("compile shadr.comp", "cannot read shadr.comp: there is no such file; did you mean `shader.comp`?"),
        ("compile sub/cc.comp", "there is no such file; did you mean `sub/c.comp`?"),
        ("compile shader.com", "there is no such file; did you mean `shader.comp`?"),
        ("compile a.hlsl", "a.hlsl: the ending says that this is HLSL; crosslane reads GLSL, WGSL and SPIR-V modules"),
        (
            "compile a.cu",
            "a.cu: the ending says that this is a .cu file; crosslane reads GLSL, WGSL and SPIR-V modules",
        ),
        ("compile b.spv", "b.spv: this is not a SPIR-V module: it does not begin with the magic number"),
        ("compile a.txt", "a.txt: the name says no language; add --lang glsl or --lang wgsl"),
        ("compile sub", "cannot read sub: it is a folder"),
        ("run shader.comp -p gfx1100 --buffer 0=ones:4", "contents without a file are zeros:TYPE:COUNT"),
        ("explain-code 501", "did you mean `E0501`?"),
    ] {
        let output = folder.run(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(status(&output), 2, "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{words}: {}", stderr(&output));
    }
}

#[test]
fn two_profiles_make_two_outputs() {
    let folder = project("mistakes-profiles");
    let output = folder.run(&["compile", "shader.comp", "-p", "gfx1100", "-p", "gfx1101"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(folder.names().iter().filter(|name| name.ends_with(".s")).count(), 2);
}
