//! `crosslane snapshot` through the binary.

use crate::folder::{Folder, status, stderr, stdout};
use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

const SHADER: &str = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 32) in;\n\
                      layout(binding = 0) buffer B { uint x[]; };\n\
                      void main() { x[gl_GlobalInvocationID.x] = allReduceAdd8(x[gl_GlobalInvocationID.x]); }\n";

fn project(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("a.comp", SHADER);
    folder.file("b.comp", SHADER.replace("8(", "4("));
    folder.file(
        "crosslane.toml",
        "[[build]]\nshaders = [\"*.comp\"]\nprofiles = [\"spirv-1.5\", \"nv-volta\"]\nwave-sizes = [\"8..\"]\nout-dir = \"out\"\n",
    );
    folder
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.0.join("snapshots").join(name)).unwrap()
}

#[test]
fn new_listings_are_told_and_accepted() {
    let folder = project("snapshot-new");
    let output = folder.run(&["snapshot"]);
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert!(stdout(&output).starts_with("snapshots/a.spirv-1.5.snap: new\n"), "{}", stdout(&output));
    assert_eq!(folder.names(), ["a.comp", "b.comp", "crosslane.toml"], "nothing is written");
    assert_eq!(status(&folder.run(&["snapshot", "--accept"])), 0);
    let text = read(&folder, "a.nv-volta.snap");
    assert!(text.starts_with("shader: a.comp\ntarget: nv-volta\nlines: "), "{text}");
    assert!(text.contains("\ncross-lane operations: 1\ntheir instructions: 6\ntheir latency: "), "{text}");
    assert!(text.contains("---\n!!NVcp5.0\n"), "{text}");
    let output = folder.run(&["snapshot", "--check"]);
    assert_eq!((status(&output), stdout(&output).as_str()), (0, ""));
}

#[test]
fn what_differs_is_shown_with_its_cost() {
    let folder = project("snapshot-diff");
    assert_eq!(status(&folder.run(&["snapshot", "--accept"])), 0);
    folder.file("a.comp", SHADER.replace("8(", "16("));
    fs::remove_file(folder.0.join("b.comp")).unwrap();
    let output = folder.run(&["snapshot"]);
    let said = stdout(&output);
    assert_eq!(status(&output), 1);
    let line = said.lines().find(|line| line.starts_with("snapshots/a.nv-volta.snap: changed, lines ")).expect(&said);
    assert!(line.contains(", their instructions 6 to 8, their latency "), "{line}");
    assert!(
        said.contains("\n@@ ") && said.contains("\n+  SHFXOR") && said.contains("\n-their instructions: 6\n"),
        "{said}"
    );
    assert!(said.contains("snapshots/b.nv-volta.snap: nothing makes it any more\n"), "{said}");
    let output = folder.run(&["snapshot", "--check"]);
    assert_eq!((status(&output), stdout(&output).lines().count()), (1, 4), "{}", stdout(&output));
    let coloured = folder.run(&["snapshot", "--color", "always"]);
    assert!(stdout(&coloured).contains("\x1b[32m+"));
    assert_eq!(status(&folder.run(&["snapshot", "--accept"])), 0);
    assert!(!folder.0.join("snapshots/b.nv-volta.snap").exists());
    assert_eq!(status(&folder.run(&["snapshot"])), 0);
}

fn review(folder: &Folder, answers: &str) -> Output {
    let mut command = folder.command(&["snapshot", "--review"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn each_may_be_asked_about() {
    let folder = project("snapshot-review");
    let output = review(&folder, "a\nwhat\ns\naccept\nq\n");
    assert_eq!(status(&output), 1);
    assert_eq!(stderr(&output).matches("accept?").count(), 5, "{}", stderr(&output));
    let names = |folder: &Folder| fs::read_dir(folder.0.join("snapshots")).unwrap().count();
    assert_eq!(names(&folder), 2);
    assert_eq!(status(&review(&folder, "")), 1, "the end of the input is no");
    assert_eq!(status(&review(&folder, "y\ny\n")), 0);
    assert_eq!(names(&folder), 4);
    assert_eq!(status(&folder.run(&["snapshot", "--review", "--accept"])), 2);
}

#[test]
fn files_of_other_tools_stay() {
    let folder = project("snapshot-foreign");
    assert_eq!(status(&folder.run(&["snapshot", "--accept"])), 0);
    folder.file("snapshots/other.snap", "---\nsource: tests/x.rs\n---\ntext\n");
    folder.file("snapshots/bytes.snap", [0xff]);
    let output = folder.run(&["snapshot", "--accept"]);
    assert_eq!((status(&output), stdout(&output).as_str(), stderr(&output).as_str()), (0, "", ""));
    assert!(folder.0.join("snapshots/other.snap").exists() && folder.0.join("snapshots/bytes.snap").exists());
}

#[test]
fn two_listings_of_one_name_are_refused() {
    let folder = project("snapshot-twins");
    let build = |value: u32, out: &str| {
        format!(
            "[[build]]\nshaders = [\"a.comp\"]\nprofiles = [\"spirv-1.5\"]\ndefines = {{ local_size = {value} }}\nout-dir = \"{out}\"\n"
        )
    };
    folder.file("a.comp", SHADER.replace("x[gl_GlobalInvocationID.x] =", "x[local_size] ="));
    folder.file("crosslane.toml", [build(1, "one"), build(2, "two")].concat());
    let output = folder.run(&["snapshot", "--accept"]);
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    let says = "two different listings are called snapshots/a.spirv-1.5.snap: those of one/a.spirv-1.5.spv and two/";
    assert!(stderr(&output).contains(says), "{}", stderr(&output));
    folder.file("crosslane.toml", [build(1, "one"), build(1, "two")].concat());
    assert_eq!(status(&folder.run(&["snapshot", "--accept"])), 0, "the same listing twice");
}

#[test]
fn a_shader_that_is_wrong_changes_nothing() {
    let folder = project("snapshot-wrong");
    assert_eq!(status(&folder.run(&["snapshot", "--accept"])), 0);
    folder.file("a.comp", "#version 450\nvoid main() { x = 1; }\n");
    let output = folder.run(&["snapshot", "--accept"]);
    assert_eq!(status(&output), 1);
    assert_eq!(stderr(&output).matches("error[").count(), 1, "{}", stderr(&output));
    assert!(folder.0.join("snapshots/a.nv-volta.snap").exists());
}

#[test]
fn what_a_killed_run_left_is_removed() {
    let folder = project("snapshot-killed");
    fs::create_dir_all(folder.0.join("snapshots/sub")).unwrap();
    let left = ["snapshots/.crosslane-4000000000-0.tmp", "snapshots/sub/.crosslane-4000000000-12.tmp"];
    left.iter().for_each(|name| drop(folder.file(name, "shader: a")));
    let other = ["snapshots/.crosslane-4000000000.tmp", "snapshots/.crosslane-x-0.tmp", "snapshots/4000000000-0.tmp"];
    other.iter().for_each(|name| drop(folder.file(name, "")));
    let busy = folder.0.join("snapshots/.crosslane-4000000001-0.tmp");
    let held = fs::File::create(&busy).unwrap();
    held.lock().unwrap();
    assert_eq!(status(&folder.run(&["snapshot"])), 1);
    assert!(left.iter().all(|name| folder.0.join(name).exists()), "nothing is accepted and nothing removed");
    assert_eq!(status(&folder.run(&["snapshot", "--accept"])), 0);
    assert!(!left.iter().any(|name| folder.0.join(name).exists()));
    assert!(other.iter().all(|name| folder.0.join(name).exists()));
    assert!(busy.exists(), "somebody writes it");
    drop(held);
    assert_eq!(status(&folder.run(&["snapshot", "--accept"])), 0);
    assert!(!busy.exists());
}
