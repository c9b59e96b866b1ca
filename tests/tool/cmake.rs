//! `cmake/Crosslane.cmake` with CMake and ninja.

use crate::folder::Folder;
use std::fs;

const SHADER: &str = "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include <x.glsl>\n\
                      layout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint x[]; };\n\
                      void main() { x[gl_GlobalInvocationID.x] = X + D; }\n";

fn project(name: &str, call: &str) -> Folder {
    let folder = Folder::new(name);
    fs::create_dir_all(folder.0.join("my inc")).unwrap();
    folder.file("a.comp", SHADER);
    folder.file("b.comp", SHADER.replace("#include <x.glsl>", "const uint X = 7u;"));
    folder.file("my inc/x.glsl", "const uint X = 1u;\n");
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/cmake/Crosslane.cmake");
    folder.file(
        "CMakeLists.txt",
        format!("cmake_minimum_required(VERSION 3.20)\nproject(test NONE)\ninclude(\"{module}\")\n{call}\n"),
    );
    folder
}

fn configure(folder: &Folder) -> Option<(bool, String)> {
    let program = format!("-DCROSSLANE_EXECUTABLE={}", env!("CARGO_BIN_EXE_crosslane"));
    folder.say("cmake", &["-G", "Ninja", "-S", ".", "-B", "out", &program])
}

#[test]
fn shaders_are_built_and_built_again_when_they_must() {
    let call = "crosslane_add_shaders(kernels SHADERS a.comp b.comp PROFILES spirv-1.5 nv-volta\n\
                DEFINES \"D=(1u + 1u)\" INCLUDE_DIRS \"my inc\" OPTIONS -g)\n\
                get_property(made TARGET kernels PROPERTY CROSSLANE_OUTPUTS)\nmessage(STATUS \"made: ${made}\")";
    let folder = project("cmake", call);
    let Some((done, text)) = configure(&folder) else { return };
    assert!(done && text.contains("out/shaders/a.nv-volta.glasm;"), "{text}");
    let Some((done, text)) = folder.say("ninja", &["-C", "out"]) else { return };
    assert!(done, "{text}");
    let read = |name: &str| fs::read(folder.0.join("out/shaders").join(name)).unwrap();
    let (shader, inc) = (folder.0.join("a.comp"), folder.0.join("my inc"));
    let (shader, inc) = (shader.to_str().unwrap(), inc.to_str().unwrap());
    let args = ["compile", shader, "-g", "-I", inc, "-DD=(1u + 1u)", "-p", "nv-volta", "-o", "-"];
    assert_eq!(folder.run(&args).stdout, read("a.nv-volta.glasm"));
    let old = read("a.spirv-1.5.spv");
    assert!(folder.say("ninja", &["-C", "out"]).unwrap().1.contains("no work to do"));
    folder.file("my inc/x.glsl", "const uint X = 2u;\n");
    let (done, text) = folder.say("ninja", &["-C", "out"]).unwrap();
    assert!(done && text.contains("[2/2]"), "the shader that includes it alone: {text}");
    assert_ne!(read("a.spirv-1.5.spv"), old);
}

#[test]
fn every_target_has_its_ending() {
    let endings = [
        ("spirv-1.3", "spv"),
        ("nv-fermi", "glasm"),
        ("ptx-sm80", "ptx"),
        ("gfx900", "s"),
        ("wgsl", "wgsl"),
        ("glsl-450-khr", "glsl"),
        ("hlsl-6.0", "hlsl"),
        ("msl-2.1", "metal"),
        // Other names of profiles.
        ("vulkan1.2", "spv"),
        ("sm_89", "ptx"),
        ("hopper-ptx", "ptx"),
        ("nv-turing", "glasm"),
        ("rdna3", "s"),
        ("webgpu", "wgsl"),
        ("essl-320", "glsl"),
        ("metal", "metal"),
    ];
    let profiles = endings.map(|(profile, _)| profile).join(" ");
    let call = format!("crosslane_add_shaders(kernels SHADERS b.comp PROFILES {profiles} DEFINES D=1u)");
    let folder = project("cmake-endings", &call);
    let Some((done, text)) = configure(&folder) else { return };
    assert!(done, "{text}");
    let Some((done, text)) = folder.say("ninja", &["-C", "out"]) else { return };
    assert!(done, "{text}");
    for (profile, ending) in endings {
        assert!(folder.0.join(format!("out/shaders/b.{profile}.{ending}")).is_file(), "{profile}");
    }
}

#[test]
fn wrong_calls_are_told() {
    for (call, says) in [
        ("crosslane_add_shaders(kernels PROFILES spirv-1.5)", "SHADERS names no file"),
        ("crosslane_add_shaders(kernels SHADER a.comp)", "what is SHADER;a.comp?"),
        ("crosslane_add_shaders(kernels SHADERS a.comp a.wgsl)", "two outputs are called"),
        ("crosslane_add_shaders(kernels SHADERS b.comp PROFILES nonsense)", "unknown profile `nonsense`"),
        ("crosslane_add_shaders(kernels SHADERS b.comp PROFILES hopper)", "`nv-hopper`"),
    ] {
        let folder = project("cmake-wrong", call);
        let Some((done, text)) = configure(&folder) else { return };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!done && text.contains(says), "{call}: {text}");
    }
}

#[test]
fn a_shader_that_is_wrong_stops_the_build() {
    let folder = project("cmake-error", "crosslane_add_shaders(kernels SHADERS a.comp)");
    let Some((done, text)) = configure(&folder) else { return };
    assert!(done, "{text}");
    let Some((done, text)) = folder.say("ninja", &["-C", "out"]) else { return };
    assert!(!done && text.contains("a.comp:3:10"), "{text}");
}
