//! `crosslane run --on`: the simulator compared with Vulkan, with lavapipe as its driver here, and the messages if a
//! machine is missing.

use crate::folder::{Folder, status, stderr, stdout};
use support::judge;

/// Folds of eight, a push constant and a specialization constant; `LAST` is done with each result.
const SHADER: &str = "#version 450
#extension GL_CROSSLANE_shuffle : require
layout(local_size_x = 32) in;
layout(constant_id = 3) const uint factor = 2u;
layout(binding = 0) readonly buffer In { float x[]; };
layout(binding = 1) buffer Out { float y[]; };
layout(push_constant) uniform Push { float a; float b; };
#ifndef LAST
#define LAST(v) v
#endif
void main() {
    uint i = gl_GlobalInvocationID.x;
    y[i] = LAST(allReduceAdd(x[i], 8) * a - b + float(factor));
}
";

/// The command on its usual buffers; its only driver is lavapipe.
fn run(name: &str, more: &[&str]) -> Option<(i32, String, String)> {
    let manifest = judge::need_or_skip("lvp.json")?;
    let folder = Folder::new(&format!("machines-{name}"));
    folder.file("a.comp", SHADER);
    let usual = ["run", "a.comp", "-b", "0=iota:f32:32", "-b", "1=zeros:f32:32", "--push", "f32:3,1"];
    let args: Vec<&str> = usual.iter().chain(more).copied().collect();
    let mut command = folder.command(&args);
    command.env("VK_ICD_FILENAMES", &manifest).env("VK_DRIVER_FILES", &manifest);
    // The disk cache does not know how many lanes there are.
    command.env("MESA_SHADER_CACHE_DISABLE", "true");
    let output = command.output().expect("the command starts");
    Some((status(&output), stdout(&output), stderr(&output)))
}

#[test]
fn vulkan_prints_what_the_simulator_prints() {
    let print = ["--print", "1:f32:2"];
    for more in [&["--on", "vulkan"][..], &["--on", "sim"], &["--on", "sim,vulkan"], &["--on", "vulkan,sim"]] {
        let Some(ran) = run("same", &[more, &print].concat()) else { return };
        assert_eq!(ran, (0, "1 `Out`: 32 x f32\n0: 85.0 85.0\nand 30 more\n".to_owned(), String::new()), "{more:?}");
    }
    let Some(ran) = run("set", &["--on", "sim,vulkan", "--set", "factor=5", "--print", "1:f32:1"]) else { return };
    assert_eq!((ran.0, ran.1.contains("0: 88.0")), (0, true), "{ran:?}");
}

/// Sines are approximate on lavapipe.
#[test]
fn differences_are_named_unless_they_are_allowed() {
    let sine = ["--on", "sim,vulkan", "-DLAST(v)=sin(v*0.37)"];
    let Some((code, out, err)) = run("differ", &sine) else { return };
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("error[E0806]: the simulator has "), "{err}");
    assert!(err.contains("of buffer `Out` (binding 1) and Vulkan has "), "{err}");
    let Some(ran) = run("within", &[&sine[..], &["--within", "1e-3"]].concat()) else { return };
    assert_eq!((ran.0, ran.2.as_str()), (0, ""));
}

#[test]
fn machines_that_are_not_there_are_status_2() {
    let folder = Folder::new("machines-none");
    folder.file("a.comp", "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n");
    let said = |args: &[&str]| {
        let mut command = folder.command(&[&["run", "a.comp"], args].concat());
        command.env("VK_ICD_FILENAMES", "/none").env("VK_DRIVER_FILES", "/none");
        command.env("CUDA_VISIBLE_DEVICES", "");
        let output = command.env("__EGL_VENDOR_LIBRARY_FILENAMES", "/none").output().expect("the command starts");
        assert_eq!((status(&output), stdout(&output)), (2, String::new()), "{args:?}");
        stderr(&output)
    };
    assert!(said(&["--on", "vulkan"]).starts_with("error: no Vulkan"));
    let opengl = said(&["--on", "sim,gl", "-p", "nv-volta"]);
    assert!(opengl.starts_with("error: no OpenGL") && opengl.contains("looked for"), "{opengl}");
    assert_eq!(said(&["--on", "gl"]), "error: --on gl is for nv-… profiles; name one with -p\n");
    let profiles = said(&["--on", "sim,vulkan", "-p", "nv-volta"]);
    assert_eq!(profiles, "error: --on vulkan is for spirv-… profiles; name one with -p\n");
    assert_eq!(said(&["--on", "cuda"]), "error: --on cuda is for ptx-… profiles; name one with -p\n");
    let cuda = said(&["--on", "sim,cuda", "-p", "ptx-sm70"]);
    assert!(cuda.starts_with("error: no CUDA"), "{cuda}");
    assert!(said(&["--on", "metal"]).contains("possible values: sim, cuda, gl, vulkan"));
}
