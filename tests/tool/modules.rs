//! SPIR-V modules as input of the commands.

use crate::folder::{Folder, status, stderr, stdout};
use std::fs;

const SHADER: &str = "#version 450
#extension GL_CROSSLANE_portable : require
layout(local_size_x = 64) in;
layout(constant_id = 3) const uint FACTOR = 5u;
layout(binding = 0) buffer Data { uint x[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    x[i] = allReduceAdd8(x[i]) * FACTOR;
}
";

/// A folder with a shader and its module.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("a.comp", SHADER);
    let output = folder.run(&["compile", "a.comp", "-p", "spirv-1.6", "--wave-size", "32", "-g", "-o", "a.spv"]);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    folder
}

#[test]
fn a_module_runs_as_its_source_does() {
    let folder = folder("modules-run");
    let run = |input: &str, more: &[&str]| {
        let output = folder.run(&[&["run", input, "-b", "0=iota:u32:64", "--print", "0:u32:64"], more].concat());
        assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{input}");
        stdout(&output).lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    for more in [&[][..], &["--set", "3=7"], &["-p", "gfx1100"], &["-p", "nv-ampere"]] {
        assert_eq!(run("a.spv", more), run("a.comp", more), "{more:?}");
    }
}

#[test]
fn commands_take_modules_by_their_content() {
    let folder = folder("modules-commands");
    for profile in ["gfx1100", "ptx-sm80", "msl-3.0", "hlsl-6.6", "wgsl", "glsl-450-khr"] {
        let output = folder.run(&["compile", "a.spv", "-p", profile, "--wave-size", "32", "-o", "out"]);
        assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{profile}");
    }
    let output = folder.run(&["compile", "a.spv", "-p", "glsl-450-khr", "-o", "-"]);
    assert!(stdout(&output).contains("buffer Data {"), "{}", stdout(&output));
    for command in ["explain", "check"] {
        let output = folder.run(&[command, "a.spv", "-p", "gfx1100"]);
        assert_eq!(status(&output), 0, "{command}: {}", stderr(&output));
        assert!(stdout(&output).contains("a.spv:"), "{command}: {}", stdout(&output));
    }
}

/// The words in the other byte order are the same module.
#[test]
fn both_byte_orders_are_read() {
    let folder = folder("modules-order");
    let mut bytes = fs::read(folder.0.join("a.spv")).expect("a module");
    bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    folder.file("b.spv", bytes);
    let compiled = |input: &str| {
        let output = folder.run(&["compile", input, "-p", "msl-3.0", "-o", "-"]);
        assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{input}");
        stdout(&output)
    };
    assert_eq!(compiled("a.spv"), compiled("b.spv"));
}

#[test]
fn what_is_not_read_is_named() {
    let folder = folder("modules-wrong");
    let bytes = fs::read(folder.0.join("a.spv")).expect("a module");
    folder.file("cut.spv", &bytes[..bytes.len() - 8]);
    folder.file("odd.spv", &bytes[..bytes.len() - 1]);
    folder.file("rays.rgen", "#version 460\n#extension GL_EXT_ray_tracing : require\nlayout(location = 0) rayPayloadEXT vec4 p;\nvoid main() { p = vec4(1.0); }\n");
    let output = folder.run(&["compile", "rays.rgen", "-p", "spirv-1.6", "-o", "rays.spv"]);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    for (input, code, parts) in [
        ("cut.spv", 1, &["error[E0009]"][..]),
        ("odd.spv", 1, &["error[E0009]", "the words of SPIR-V have 4 each"]),
        ("rays.spv", 3, &["error[E0704]: `OpVariable` at word ", "rays.spv:", "`RayPayloadKHR` is not read"]),
    ] {
        let output = folder.run(&["compile", input, "-p", "msl-3.0", "-o", "out.metal"]);
        let err = stderr(&output);
        assert_eq!(status(&output), code, "{input}: {err}");
        assert!(parts.iter().all(|part| err.contains(part)), "{input}: {err}");
        assert!(!folder.0.join("out.metal").exists(), "{input}");
    }
}
