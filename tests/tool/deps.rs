//! Dependency files through the binary: gcc's and glslc's spellings, the location of the files, and their formats.

use crate::folder::{Folder, status, stderr, stdout};
use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

/// A shader that includes one file next to it and one from `my lib`, which includes a third.
fn project(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::create_dir_all(folder.0.join("my lib")).unwrap();
    folder.file("near.glsl", "const uint A = 1u;\n");
    folder.file("my lib/far.glsl", "#include \"deep.glsl\"\n");
    folder.file("my lib/deep.glsl", "const uint B = 2u;\n");
    folder.file(
        "a.comp",
        "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"near.glsl\"\n#include <far.glsl>\n\
         layout(binding = 0) buffer O { uint o; };\nvoid main() { o = A + B; }\n",
    );
    folder
}

fn compile(folder: &Folder, more: &[&str]) -> Output {
    let output = folder.run(&[&["compile", "a.comp", "-I", "my lib"], more].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    output
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.0.join(name)).unwrap()
}

/// The project's rule for a target.
fn rule(target: &str) -> String {
    let inputs = ["a.comp", "near.glsl", "my\\ lib/far.glsl", "my\\ lib/deep.glsl"];
    format!("{target}: \\\n  {}\n", inputs.join(" \\\n  "))
}

#[test]
fn rules_alone_compile_nothing() {
    let folder = project("deps-only");
    for spelling in ["-M", "-MM", "--deps-only"] {
        assert_eq!(stdout(&compile(&folder, &[spelling])), rule("a.comp.spv"));
    }
    assert_eq!(stdout(&compile(&folder, &["-M", "-p", "nv-volta"])), rule("a.comp.glasm"));
    assert_eq!(folder.names(), ["a.comp", "my lib", "near.glsl"]);
    compile(&folder, &["-M", "-o", "a.d"]);
    assert_eq!(read(&folder, "a.d"), rule("a.comp.spv"));
}

#[test]
fn rules_beside_the_output() {
    let folder = project("deps-beside");
    compile(&folder, &["-MD", "-DUNUSED", "-UOTHER"]);
    assert_eq!(read(&folder, "a.comp.spv.d"), rule("a.comp.spv"));
    compile(&folder, &["-MMD", "-MF", "x.d", "-o", "my lib/a.spv"]);
    assert_eq!(read(&folder, "x.d"), rule("my\\ lib/a.spv"));
    compile(&folder, &["-MD", "-MFy.d", "-MT", "$(OUT)", "-MQ", "a$b", "-o", "a.spv"]);
    assert_eq!(read(&folder, "y.d"), rule("$(OUT) a$$b"));
}

#[test]
fn included_files_may_have_empty_rules() {
    let folder = project("deps-phony");
    let text = stdout(&compile(&folder, &["-M", "-MP"]));
    let phony = "\nnear.glsl:\n\nmy\\ lib/far.glsl:\n\nmy\\ lib/deep.glsl:\n";
    assert_eq!(text, rule("a.comp.spv") + phony);
}

#[test]
fn other_forms_hold_the_same_names() {
    let folder = project("deps-forms");
    let json = stdout(&compile(&folder, &["-M", "--deps-format", "json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["outputs"], serde_json::json!(["a.comp.spv"]));
    assert_eq!(json["inputs"], serde_json::json!(["a.comp", "near.glsl", "my lib/far.glsl", "my lib/deep.glsl"]));
    let zero = stdout(&compile(&folder, &["-M", "--deps-format=zero"]));
    assert_eq!(zero, "a.comp\0near.glsl\0my lib/far.glsl\0my lib/deep.glsl\0");
}

#[test]
fn the_files_of_a_profile_count() {
    let folder = project("deps-profile");
    folder.file("base.toml", "name = \"base\"\ninherit = \"spirv-1.5\"\n");
    folder.file("mine.toml", "name = \"mine\"\ninherit = \"base.toml\"\n");
    let text = stdout(&compile(&folder, &["-M", "-p", "mine.toml"]));
    assert!(text.ends_with("deep.glsl \\\n  mine.toml \\\n  base.toml\n"), "{text}");
}

#[test]
fn wgsl_reads_itself() {
    let folder = Folder::new("deps-wgsl");
    folder.file("a.wgsl", "@compute @workgroup_size(1) fn main() {}\n");
    let output = folder.run(&["compile", "a.wgsl", "-M"]);
    assert_eq!(stdout(&output), "a.wgsl.spv: \\\n  a.wgsl\n", "{}", stderr(&output));
}

#[test]
fn what_does_not_fit_together_is_status_2() {
    let folder = project("deps-wrong");
    for (options, says) in [
        (&["-MF", "a.d"][..], "--deps"),
        (&["-MT", "x"], "--deps"),
        (&["-MP"], "--deps"),
        (&["-M", "-MD"], "--deps-only"),
        (&["-MD", "-o", "-"], "-MF"),
        (&["-MD", "-MF", "no/such/folder.d"], "no/such/folder.d"),
    ] {
        let output = folder.run(&[&["compile", "a.comp", "-I", "my lib"], options].concat());
        assert_eq!(status(&output), 2, "{options:?}");
        assert!(stderr(&output).contains(says), "{options:?}: {}", stderr(&output));
    }
}

#[test]
fn a_shader_that_is_wrong_gets_no_rule() {
    let folder = project("deps-error");
    let output = folder.run(&["compile", "a.comp", "-MD"]);
    assert_eq!(status(&output), 1, "its include is not found");
    assert_eq!(folder.names(), ["a.comp", "my lib", "near.glsl"]);
    assert_eq!(status(&folder.run(&["compile", "a.comp", "-M"])), 1);
}

#[test]
fn standard_input_needs_a_name_for_its_output() {
    let folder = project("deps-stdin");
    let run = |more: &[&str]| {
        let args = [&["compile", "-", "--lang=glsl", "-I", ".", "-I", "my lib", "-M"], more].concat();
        let mut command = folder.command(&args);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        // A command that refuses its options does not read.
        let _ = child.stdin.take().unwrap().write_all(read(&folder, "a.comp").as_bytes());
        child.wait_with_output().unwrap()
    };
    assert_eq!(status(&run(&[])), 2);
    let output = run(&["-MT", "out"]);
    assert_eq!(stdout(&output), rule("out").replace("  a.comp \\\n", ""), "{}", stderr(&output));
}
