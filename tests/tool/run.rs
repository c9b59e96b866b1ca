//! `crosslane run` through its binary: what it prints and writes, and its messages about wrong shaders and commands.
//! Other tests judge the results of operations.

use crate::folder::{Folder, status, stderr, stdout};
use std::fs;

/// Doubles what it reads; `SHIFT` moves the place that it writes.
const DOUBLE: &str = "#version 450
layout(local_size_x = 8) in;
layout(constant_id = 3) const uint factor = 2u;
layout(binding = 0) readonly buffer In { uint x[]; };
layout(binding = 1) buffer Out { uint y[]; };
#ifndef SHIFT
#define SHIFT 0u
#endif
void main() {
    uint i = gl_GlobalInvocationID.x;
    y[i + SHIFT] = x[i] * factor;
}
";

/// The sum of each workgroup, by a reduction over the subgroup.
const SUM: &str = "#version 450
#extension GL_CROSSLANE_shuffle : require
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer In { float x[]; };
layout(binding = 1) buffer Out { float y[]; };
void main() {
    float sum = reduceAdd(x[gl_GlobalInvocationID.x], 8);
    if (segmentLast(8) || KEEP) { y[gl_GlobalInvocationID.x / (KEEP ? 1 : 8)] = sum; }
}
";

fn folder(name: &str, shader: &str) -> Folder {
    let folder = Folder::new(&format!("run-{name}"));
    folder.file("a.comp", shader);
    folder
}

/// The usual command line with more arguments.
fn run(folder: &Folder, more: &[&str]) -> (i32, String, String) {
    let usual = ["run", "a.comp", "--buffer", "0=iota:u32:16"];
    let output = folder.run(&usual.iter().chain(more).copied().collect::<Vec<_>>());
    (status(&output), stdout(&output), stderr(&output))
}

const OUT: &[&str] = &["--buffer", "1=zeros:u32:16"];

#[test]
fn written_buffers_are_printed() {
    let folder = folder("print", DOUBLE);
    let (status, out, err) = run(&folder, &[OUT, &["--groups", "2"]].concat());
    assert_eq!((status, err.as_str()), (0, ""));
    assert_eq!(out, "1 `Out`: 16 x u32\n 0:  0  2  4  6  8 10 12 14\n 8: 16 18 20 22 24 26 28 30\n");
    let (_, out, _) = run(&folder, &[OUT, &["--print", "1:i32:3", "--print", "0:u8:2"]].concat());
    assert_eq!(out, "1 `Out`: 16 x i32\n0: 0 2 4\nand 13 more\n0 `In`: 64 x u8\n0: 0 0\nand 62 more\n");
}

/// Numbers are printed as the shader declares them; padding is left out.
#[test]
fn buffers_are_printed_as_they_are_declared() {
    let shader = "#version 450\nlayout(local_size_x = 2) in;\n\
        struct Part { int id; vec3 at; };\n\
        layout(std430, binding = 0) buffer Parts { uint count; mat2 turn; Part parts[]; };\n\
        layout(std430, binding = 1) buffer Halves { float halves[]; };\n\
        void main() {\n\
            uint i = gl_LocalInvocationIndex;\n\
            count = 2u; turn = mat2(1.0, 2.0, 3.0, 4.0);\n\
            parts[i] = Part(-1 - int(i), vec3(i) + vec3(0.5, 0.25, 0.0));\n\
            halves[i] = 0.5 * float(i);\n\
        }\n";
    let folder = folder("declared", shader);
    let run = |more: &[&str]| {
        let usual = ["run", "a.comp", "-b", "0=zeros:u8:96", "-b", "1=zeros:f32:2"];
        let output = folder.run(&usual.iter().chain(more).copied().collect::<Vec<_>>());
        (status(&output), stdout(&output), stderr(&output))
    };
    let (code, out, err) = run(&[]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        out.contains("1 `Halves`: 2 x f32\n0: 0.0 0.5\n") && out.starts_with("0 `Parts`: 1 x u32, 10 x f32, 2 x i32\n"),
        "{out}"
    );
    let numbers: Vec<&str> =
        out.lines().take(3).skip(1).flat_map(|row| row.split_once(':').unwrap().1.split(' ')).collect();
    let numbers: Vec<&str> = numbers.into_iter().filter(|number| !number.is_empty()).collect();
    assert_eq!(numbers, ["2", "1.0", "2.0", "3.0", "4.0", "-1", "0.5", "0.25", "0.0", "-2", "1.5", "1.25", "1.0"]);
    assert_eq!(run(&["--print", "1"]).1, "1 `Halves`: 2 x f32\n0: 0.0 0.5\n");
    assert_eq!(run(&["--print", "1:1"]).1, "1 `Halves`: 2 x f32\n0: 0.0\nand 1 more\n");
    assert_eq!(run(&["--print", "1:u32"]).1, "1 `Halves`: 2 x u32\n0:          0 1056964608\n");
    let (code, _, err) = run(&["--print", "1:float"]);
    assert!(code == 2 && err.contains("no type `float`; there are u32,"), "{err}");
}

#[test]
fn buffers_are_read_from_and_written_to_files() {
    let folder = folder("files", DOUBLE);
    folder.file("in.bin", [7_u8, 0, 0, 0].repeat(8));
    let args = ["run", "a.comp", "--buffer", "0=in.bin", "--buffer", "1=zeros:u32:8", "--out", "1=out.bin"];
    let output = folder.run(&args);
    assert_eq!((status(&output), stdout(&output), stderr(&output)), (0, String::new(), String::new()));
    assert_eq!(fs::read(folder.0.join("out.bin")).unwrap(), [14_u8, 0, 0, 0].repeat(8));
}

#[test]
fn specialization_constants_and_macros_are_set() {
    let folder = folder("settings", DOUBLE);
    let line = |more: &[&str]| run(&folder, &[OUT, &["--print", "1:u32:4"], more].concat()).1;
    assert!(line(&["--set", "factor=5"]).contains("0:  0  5 10 15"));
    assert!(line(&["--set", "3=1"]).contains("0: 0 1 2 3"));
    assert!(line(&["-DSHIFT=1u"]).contains("0: 0 0 2 4"));
    let (code, _, err) = run(&folder, &[OUT, &["--set", "facto=5"]].concat());
    assert_eq!(code, 1);
    assert!(err.contains("unknown specialization constant `facto`") && err.contains("`factor`"), "{err}");
}

/// A store past the end: the place in the source, the buffer and the invocation.
#[test]
fn accesses_out_of_range_are_shown_in_the_source() {
    let folder = folder("range", DOUBLE);
    let (code, out, err) = run(&folder, &[OUT, &["-DSHIFT=12u"]].concat());
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("error[E0800]: a store is out of range"), "{err}");
    assert!(err.contains("a.comp:11:5"), "{err}");
    assert!(err.contains("4 bytes at byte 64 of buffer `Out`, which has 64"), "{err}");
    assert!(err.contains("in invocation (4, 0, 0) of workgroup (0, 0, 0): lane 4 of wave 0"), "{err}");
    let (code, _, json) = run(&folder, &[OUT, &["-DSHIFT=12u", "--message-format", "json"]].concat());
    assert!(code == 1 && json.contains("\"E0800\""), "{json}");
}

/// A reduction that only the last lane of a segment has is undefined in the others.
#[test]
fn undefined_values_are_refused_or_kept() {
    let folder = folder("undefined", SUM);
    let run = |more: &[&str]| {
        let usual = ["run", "a.comp", "-b", "0=iota:f32:32", "-b", "1=zeros:f32:32", "--print", "1:f32:8"];
        let output = folder.run(&usual.iter().chain(more).copied().collect::<Vec<_>>());
        (status(&output), stdout(&output), stderr(&output))
    };
    let (code, out, err) = run(&["-DKEEP=false"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("0:  28.0  92.0 156.0 220.0   0.0"), "{out}");
    let (code, _, err) = run(&["-DKEEP=true"]);
    assert_eq!(code, 1);
    assert!(err.contains("error[E0801]: an undefined value reaches memory") && err.contains("lane 0"), "{err}");
    let (code, out, _) = run(&["-DKEEP=true", "--keep-undefined"]);
    assert_eq!(code, 0);
    assert!(out.contains("0:    ?    ?    ?    ?    ?    ?    ? 28.0"), "{out}");
}

#[test]
fn waves_have_the_size_that_is_asked_for() {
    let shader = "#version 450\n#extension GL_KHR_shader_subgroup_basic : require\nlayout(local_size_x = 16) in;\n\
                  layout(binding = 1) buffer Out { uint y[]; };\n\
                  void main() { y[gl_LocalInvocationIndex] = gl_SubgroupSize * 100u + gl_SubgroupID; }\n";
    let folder = folder("waves", shader);
    let last = |more: &[&str]| {
        let output = folder.run(&[&["run", "a.comp", "-b", "1=zeros:u32:16"], more].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        stdout(&output).split_whitespace().last().unwrap().to_string()
    };
    assert_eq!([last(&[]), last(&["--wave-size", "4"]), last(&["--wave-size", "64"])], ["3200", "403", "6400"]);
}

/// A profile's own instructions give the same sums; its hardware has no other wave sizes, unless only the meaning is
/// requested.
#[test]
fn profiles_of_hardware_run_their_own_instructions() {
    let folder = folder("hardware", SUM);
    let run = |more: &[&str]| {
        let usual = ["run", "a.comp", "-DKEEP=false", "-b", "0=iota:f32:32", "-b", "1=zeros:f32:4", "--print", "1:f32"];
        let output = folder.run(&usual.iter().chain(more).copied().collect::<Vec<_>>());
        (status(&output), stdout(&output), stderr(&output))
    };
    let sums = "1 `Out`: 4 x f32\n0:  28.0  92.0 156.0 220.0\n".to_string();
    for more in [&["-p", "nv-ampere"][..], &["-p", "spirv-1.6"], &["-p", "nv-volta", "--reference", "--wave-size", "8"]]
    {
        assert_eq!(run(more), (0, sums.clone(), String::new()), "{more:?}");
    }
    let (code, _, err) = run(&["-p", "nv-volta", "--wave-size", "8"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("waves of 8"), "{err}");
}

/// A barrier that some invocations do not reach, and a loop that does not end.
#[test]
fn runs_that_would_hang_end_with_a_message() {
    let shader = |body: &str| format!("#version 450\nlayout(local_size_x = 64) in;\nvoid main() {{\n{body}\n}}\n");
    let barrier = folder("barrier", &shader("if (gl_LocalInvocationIndex < 40u) {\n  barrier();\n}"));
    let output = barrier.run(&["run", "a.comp"]);
    assert_eq!(status(&output), 1);
    let err = stderr(&output);
    assert!(err.contains("error[E0802]: not all invocations of the workgroup reach this barrier"), "{err}");
    assert!(err.contains("a.comp:5:3"), "{err}");

    let endless = folder(
        "endless",
        &shader("uint n = gl_LocalInvocationIndex;\nwhile (n < 100u) {\n  n = n / 2u;\n}\ny[0] = n;")
            .replace("void", "layout(binding = 0) buffer Out { uint y[]; };\nvoid"),
    );
    let output = endless.run(&["run", "a.comp", "-b", "0=zeros:u32:1", "--max-steps", "5000"]);
    assert_eq!(status(&output), 1);
    let err = stderr(&output);
    assert!(err.contains("error[E0803]: the loop does not end within 5000 steps") && err.contains("a.comp:6"), "{err}");
}

/// Two waves race where a barrier is missing.
#[test]
fn races_in_workgroup_memory_are_shown() {
    let text = "#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Out { uint o[]; };
shared uint sums[64];
void main() {
    uint i = gl_LocalInvocationIndex;
    sums[i] = i;
    barrier();
    sums[i] = 2u * i + 1u;
    o[i] = sums[63u - i];
}
";
    let race = folder("race", text);
    let run = |more: &[&str]| {
        let output = race.run(&[&["run", "a.comp", "-b", "0=zeros:u32:64", "--print", "0:u32:2"], more].concat());
        (status(&output), stdout(&output), stderr(&output))
    };
    let (code, _, err) = run(&[]);
    assert_eq!(code, 1);
    for part in
        ["error[E0807]: two waves race in workgroup memory", "a.comp:9:5", "put `barrier();` between them", "wave 1"]
    {
        assert!(err.contains(part), "{err}");
    }
    assert_eq!(run(&["--wave-size", "64"]).0, 0);
    assert_eq!(run(&["--allow-races"]).0, 0);
}

#[test]
fn missing_and_odd_buffers_are_named() {
    let folder = folder("buffers", DOUBLE);
    let (code, _, err) = run(&folder, &[]);
    assert_eq!(code, 2);
    assert!(err.contains("no data for binding 1 (storage buffer `Out`, at least 0 bytes)"), "{err}");
    let (code, _, err) = run(&folder, &[OUT, &["--buffer", "7=zeros:u32:1"]].concat());
    assert_eq!(code, 0);
    assert!(err.contains("warning[W0800]: the shader uses no buffer at binding 7"), "{err}");
    let (code, _, err) = run(&folder, &[OUT, &["--print", "2"]].concat());
    assert_eq!(code, 2);
    assert!(err.contains("no buffer at binding 2; it has 0 (`In`), 1 (`Out`)"), "{err}");
}

#[test]
fn push_constants_are_given_like_buffers() {
    let shader = "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 1) buffer Out { float y[]; };\n\
                  layout(push_constant) uniform Push { float a; float b; };\nvoid main() { y[0] = a - b; }\n";
    let folder = folder("push", shader);
    let args = ["run", "a.comp", "-b", "1=zeros:f32:1", "--print", "1:f32", "--push"];
    let output = folder.run(&[&args[..], &["f32:2.5,1"]].concat());
    assert_eq!((status(&output), stdout(&output).as_str()), (0, "1 `Out`: 1 x f32\n0: 1.5\n"));
    let output = folder.run(&[&args[..], &["f32:2.5"]].concat());
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("8 bytes of push constants and 4 are given"), "{}", stderr(&output));
}

#[test]
fn wrong_commands_are_status_2() {
    let folder = folder("commands", DOUBLE);
    for more in [
        &["--buffer", "1"][..],
        &["--buffer", "x=zeros:u32:4"],
        &["--buffer", "1=zeros:u33:4"],
        &["--buffer", "1=no/such/file"],
        &["--groups", "1,2,3,4"],
        &["--groups", "many"],
        &["--print", "1:f33"],
        &["--wave-size", "5"],
        &["--set", "factor"],
        &["-p", "nonsense"],
    ] {
        let (code, out, err) = run(&folder, more);
        assert_eq!((code, out.as_str()), (2, ""), "{more:?}");
        assert!(err.starts_with("error: "), "{more:?}: {err}");
    }
    let (code, _, err) = run(&folder, &["-DSHIFT=;"]);
    assert_eq!((code, err.contains("error[E0")), (1, true), "{err}");
}
