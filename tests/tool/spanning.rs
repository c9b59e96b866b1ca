//! Operations whose segments are wider than the simulated subgroup.

use crate::folder::{Folder, status, stderr, stdout};

fn shader(body: &str) -> String {
    format!(
        "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
         layout(binding = 0) buffer B {{ uint x[]; }};\n\
         uint both(uint v) {{ return inclusiveAdd32(exclusiveAdd16(v)); }}\n\
         void main() {{ uint i = gl_LocalInvocationIndex; uint v = x[i]; {body} x[i] = v; }}\n"
    )
}

#[test]
fn results_do_not_depend_on_the_subgroup() {
    let folder = Folder::new("spanning-run");
    folder.file("a.comp", shader("for (uint n = 0u; n < 3u; n++) v = both(v) + butterfly32(v); bitonicSort64(v);"));
    let run = |lanes: &str| {
        let output = folder.run(&["run", "a.comp", "--wave-size", lanes, "--buffer", "0=iota:u32:64", "--print", "0"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    let expected = run("64");
    for lanes in ["4", "8", "16", "32"] {
        assert_eq!(run(lanes), expected, "{lanes} lanes");
    }
}
