//! Each crosslane command that the book and the README show runs, in a folder with the files that it names.

use crate::book::{blocks, pages_and_readme, root};
use crate::folder::{Folder, status, stderr, stdout};
use crosslane::backend::reflection::SCHEMA;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Commands that need a device or another compiler, or that do not end by themselves. Other tests cover them.
const ELSEWHERE: [&str; 5] = ["--on ", "--emit hsaco", "--emit cubin", "--watch", "crosslane lsp"];

const KERNEL: &str = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
    layout(binding = 0) buffer A { float x[]; };\nlayout(binding = 1) buffer B { float y[]; };\n\
    void main() { uint i = gl_LocalInvocationIndex; x[i] = allReduceAdd8(x[i]); y[i] = x[i]; }\n";
const MODULE: &str = "enable crosslane;\n@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n\
    @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { x[i] = allReduceAdd8(x[i]); }\n";

const VERTEX: &str = "#version 450\nlayout(location = 0) in vec4 a;\nlayout(location = 0) out vec2 uv;\n\
    void main() { gl_Position = a; uv = a.xy; }\n";
const FRAGMENT: &str = "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 c;\n\
    void main() { c = uv.xyxy; }\n";

/// A folder with the files that the commands on a page read; the page's own shader if a command needs it.
fn prepared(page: &str) -> Folder {
    let folder = Folder::new("commands");
    for name in ["include", "shaders", "program"] {
        fs::create_dir(folder.0.join(name)).unwrap();
    }
    symlink(root().join("fixtures"), folder.0.join("fixtures")).unwrap();
    symlink(env!("CARGO_BIN_EXE_crosslane"), folder.0.join("program/crosslane")).unwrap();
    let own = blocks(page, "glsl").into_iter().find(|(_, shader)| shader.contains("void main"));
    let own = own.map_or(KERNEL.to_owned(), |(_, shader)| shader);
    let one_buffer = KERNEL.replace("layout(binding = 1) buffer B { float y[]; };\n", "").replace(" y[i] = x[i];", "");
    for (name, shader) in
        [("sum.comp", &*own), ("reduce.comp", &one_buffer), ("shader.comp", KERNEL), ("shaders/reduce.comp", KERNEL)]
    {
        folder.file(name, shader);
    }
    folder.file("mesh.vert", VERTEX);
    folder.file("mesh.frag", FRAGMENT);
    for name in ["reduce.wgsl", "in.wgsl", "shaders/other.wgsl"] {
        folder.file(name, MODULE);
    }
    folder.file("in.bin", [0; 256]);
    let manifest =
        "[[build]]\nshaders = [\"shaders/*.comp\"]\nprofiles = [\"spirv-1.5\"]\nout-dir = \"out\"\n".to_owned();
    let own = blocks(page, "toml").into_iter().find(|(_, text)| text.starts_with("[[build]]"));
    folder.file("crosslane.toml", own.map_or(manifest, |(_, text)| text));
    folder
}

/// The commands of a block, continued lines joined, with their comments.
fn commands(block: &str) -> Vec<String> {
    block.replace("\\\n", " ").lines().filter(|line| line.starts_with("crosslane ")).map(str::to_owned).collect()
}

/// Each example at the end of the subcommands' help.
#[test]
fn examples_in_the_help_run() {
    let folder = prepared("");
    folder.file("in.bin", [0; 256]);
    let help = stdout(&folder.run(&["--help"]));
    let names = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands = names.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let mut count = 0;
    for name in commands.filter_map(|line| line.split(' ').next()) {
        if matches!(name, "help" | "glslc" | "glslang") {
            continue;
        }
        let help = stdout(&folder.run(&[name, "--help"]));
        let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{name} has no examples"));
        for example in examples.lines().map(str::trim).filter(|line| line.starts_with("crosslane ")) {
            if !ELSEWHERE.iter().any(|part| example.contains(part)) {
                run(&folder, name, example);
            }
            count += 1;
        }
    }
    assert!(count > 30, "{count} examples");
}

#[test]
fn commands_of_the_book_run() {
    let mut count = 0;
    for (name, page) in pages_and_readme() {
        let listed: Vec<String> = blocks(&page, "sh").iter().flat_map(|(_, block)| commands(block)).collect();
        if listed.is_empty() {
            continue;
        }
        let folder = prepared(&page);
        for command in listed.iter().filter(|command| !ELSEWHERE.iter().any(|part| command.contains(part))) {
            run(&folder, &name, command);
            count += 1;
        }
    }
    assert!(count > 30, "{count} commands");
}

fn run(folder: &Folder, page: &str, command: &str) {
    let programs = std::env::join_paths([folder.0.join("program").as_path(), Path::new("/usr/bin"), Path::new("/bin")]);
    let output =
        Command::new("sh").args(["-c", command]).current_dir(&folder.0).env("PATH", programs.unwrap()).output();
    let output = output.expect("a shell");
    assert!(output.status.success(), "{page}: {command}\n{}", stderr(&output));
}

#[test]
fn the_command_prints_the_schema() {
    let output = Folder::new("schema").run(&["schema"]);
    assert_eq!((status(&output), stdout(&output).as_str()), (0, SCHEMA));
}
