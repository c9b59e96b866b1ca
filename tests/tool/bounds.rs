//! `--bounds-checks` on every target: one shader with indices out of range in function, private, workgroup, uniform and
//! storage memory, in atomics and in values, run by the simulator for each profile, and on lavapipe.

use crate::folder::{Folder, status, stderr, stdout};
use support::judge;

const SHADER: &str = include_str!("../../fixtures/said/wgsl_bounds_restrict.wgsl");
const PROFILES: [&str; 6] = ["spirv-1.3", "nv-fermi", "nv-hopper", "gfx600", "gfx1100-wave32", "gfx1201-wave64"];

/// The results of the shader with `zero`: half of its indices are in range.
const ZERO: &str = "\
3 `o`: 128 x u32
  0:        0        0        0        0        0        0 30313233 40414243
  8:     3301        1        0     1300        7        0        0        0
 16:        0       13       10       20       70       90  1313233  2414243
 24:     3302        1       62     1311        7        0        0        0
 32:        3       28       13       23       76       96 30313201 40414202
 40:      202        1       90     1414        7        0        0        0
 48:        4        0        0        0        0        0 30313233 40414243
 56:     3301        1        0     1300        7        0        0        0
 64:        0        0        0        0        0        0 30313233 40414243
 72:     3301        1        0     1300        0        0        0        0
 80:        0        0        0        0        0        0 30313233 40414243
 88:     3301        1        0     1300        7        0        0        0
 96:        0        0        0        0        0        0 30313233 40414243
104:     3301        1        0     1300        7        0        0        0
112:        2       23       12       22       74       94 30310133 40410243
120:     3302        1       80     1313        7        0        0        0
";

/// The arguments in the shader's first line, without the name of the policy.
fn arguments() -> Vec<&'static str> {
    let line = SHADER.lines().next().expect("the shader has lines");
    let words = line.split(' ').skip(3).filter(|word| !word.starts_with("--bounds-checks"));
    words.collect()
}

fn run(policy: &str, more: &[&str]) -> (i32, String) {
    let folder = Folder::new("bounds");
    folder.file("a.wgsl", SHADER);
    let policy = format!("--bounds-checks={policy}");
    let mut command = folder.command(&[&["run", "a.wgsl", &policy], &arguments()[..], more].concat());
    if let Some(manifest) = judge::find("lvp.json") {
        command.env("VK_ICD_FILENAMES", &manifest).env("VK_DRIVER_FILES", &manifest);
    }
    let output = command.output().expect("the command starts");
    (status(&output), stdout(&output) + &stderr(&output))
}

/// The results with `restrict`, at the end of the shader.
fn restricted() -> String {
    SHADER.lines().filter_map(|line| line.strip_prefix("//> ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn an_index_becomes_the_last_one() {
    for profile in PROFILES {
        assert_eq!(run("restrict", &["-p", profile]), (0, restricted()), "{profile}");
    }
}

#[test]
fn a_read_gives_zero_and_a_write_does_nothing() {
    for profile in PROFILES {
        let (status, out) = run("zero", &["-p", profile, "--print", "3:u32:128"]);
        assert_eq!((status, &out[out.rfind("3 `o`").unwrap_or(0)..]), (0, ZERO), "{profile}: {out}");
    }
}

#[test]
fn lavapipe_agrees_with_the_simulator() {
    if judge::need_or_skip("lvp.json").is_none() {
        return;
    }
    for policy in ["restrict", "zero"] {
        let (status, out) = run(policy, &["-p", "spirv-1.6", "--wave-size", "8", "--on", "sim,vulkan"]);
        assert_eq!(status, 0, "{out}");
    }
}

#[test]
fn nothing_is_checked_by_default() {
    let folder = Folder::new("bounds");
    folder.file("a.wgsl", SHADER);
    let output = folder.run(&[&["run", "a.wgsl"], &arguments()[..]].concat());
    assert_eq!(status(&output), 1);
    assert!(stderr(&output).starts_with("error[E0800]: a load is out of range"), "{}", stderr(&output));
}

#[test]
fn glsl_has_no_checks() {
    let folder = Folder::new("bounds");
    folder.file("a.comp", "#version 450\nvoid main() {}\n");
    let output = folder.run(&["compile", "a.comp", "--bounds-checks=zero"]);
    assert_eq!((status(&output), stderr(&output)), (2, "error: --bounds-checks: only WGSL has them\n".into()));
}
