//! Storage buffers that are not written while the kernel runs, in the programs for hardware.

use crate::folder::{Folder, status, stderr, stdout};

const GLSL: &str = "#version 450\nlayout(local_size_x = 32) in;\n\
                    layout(std430, binding = 0) QUALIFIERS buffer A { uint a[]; };\n\
                    layout(std430, binding = 1) buffer B { uint b[]; };\n\
                    void main() {\n\
                    uint i = gl_LocalInvocationIndex, one = a[gl_WorkGroupID.x];\n\
                    b[i] = one;\n\
                    barrier();\n\
                    b[i + 32u] = a[gl_WorkGroupID.x] + a[i];\n\
                    }\n";

const WGSL: &str = "@group(0) @binding(0) var<storage, read> a: array<u32>;\n\
                    @group(0) @binding(1) var<storage, read_write> b: array<u32>;\n\
                    @compute @workgroup_size(32)\n\
                    fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {\n\
                    b[i] = a[group.x];\n\
                    workgroupBarrier();\n\
                    b[i + 32u] = a[group.x] + a[i];\n\
                    }\n";

/// How often each of these is in the program of a shader.
fn counts(folder: &Folder, shader: &str, profile: &str, words: [&str; 2]) -> [usize; 2] {
    let output = folder.run(&["compile", shader, "-S", "-o", "-", "-p", profile]);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{shader} {profile}");
    let text = stdout(&output);
    words.map(|word| text.lines().filter(|line| line.trim_start().starts_with(word)).count())
}

#[test]
fn constant_buffers_are_loaded_once_and_by_the_cheapest_way() {
    let folder = Folder::new("constant-buffers");
    folder.file("shared.comp", GLSL.replace("QUALIFIERS", "readonly"));
    folder.file("constant.comp", GLSL.replace("QUALIFIERS", "readonly restrict"));
    folder.file("volatile.comp", GLSL.replace("QUALIFIERS", "readonly restrict volatile"));
    folder.file("constant.wgsl", WGSL);
    let ptx = |shader| counts(&folder, shader, "ptx-sm80", ["ld.global.nc.", "ld."]);
    assert_eq!(ptx("constant.comp")[0], 2, "a uniform and a varying address, each loaded once");
    assert_eq!(ptx("constant.wgsl")[0], 2);
    assert_eq!(ptx("shared.comp")[0], 0);
    assert_eq!(ptx("volatile.comp")[0], 0);
    assert_eq!(ptx("shared.comp")[1], ptx("constant.comp")[1] + 1, "the load before the barrier serves after it");
    let amd = |shader| counts(&folder, shader, "gfx1100", ["global_load", "s_load_b32"]);
    assert_eq!(amd("constant.comp"), [1, 1]);
    assert_eq!(amd("constant.wgsl"), amd("constant.comp"));
    assert_eq!(amd("shared.comp"), [2, 1], "before anything writes, the scalar unit reads what may change later");
    let nv = |shader| counts(&folder, shader, "nv-hopper", ["LDB", "LDC"])[0];
    assert_eq!(nv("shared.comp"), nv("constant.comp") + 1);
}
