//! The files that the command reads and writes, through its binary: inputs that must not be overwritten, names that
//! suggest another format, files that are not regular, and names with terminal control characters. Most of these
//! involve links.

use crate::folder::{Folder, status, stderr, stdout};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const SHADER: &str = "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"x.glsl\"\n\
                      layout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint x[]; };\n\
                      void main() { x[gl_GlobalInvocationID.x] = X; }\n";

const MANIFEST: &str = "[[build]]\nshaders = [\"*.comp\"]\nprofiles = [\"mine.toml\"]\nout-dir = \"out\"\n";

/// A shader, its include, a profile, a buffer, a file of arguments and a manifest.
fn project(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("a.comp", SHADER);
    folder.file("x.glsl", "const uint X = 1u;\n");
    folder.file("mine.toml", "name = \"mine\"\ninherit = \"spirv-1.5\"\n");
    folder.file("data", [0; 128]);
    folder.file("words", "-g");
    folder.file("crosslane.toml", MANIFEST);
    folder
}

/// Checks for a refusal with status 2 and a message that contains `says`.
fn refused(output: &Output, says: &str) {
    assert_eq!(status(output), 2, "{says}: {}", stderr(output));
    assert!(stderr(output).contains(says), "{says}: {}", stderr(output));
}

#[test]
fn no_input_is_overwritten() {
    let folder = project("files-inputs");
    let inputs = ["a.comp", "x.glsl", "mine.toml", "words", "data", "crosslane.toml"];
    symlink(".", folder.0.join("here")).unwrap();
    let held = || inputs.map(|name| fs::read(folder.0.join(name)).unwrap());
    let before = held();
    for input in inputs {
        fs::hard_link(folder.0.join(input), folder.0.join("hard")).unwrap();
        symlink(input, folder.0.join("soft")).unwrap();
        let run = ["run", "a.comp", "-p", "mine.toml", "--buffer", "0=data", "@words"];
        for output in ["hard", "here/./soft"] {
            let compile = ["compile", "a.comp", "-p", "mine.toml", "@words"];
            let is_compiled = !["data", "crosslane.toml"].contains(&input);
            let is_built = ["crosslane.toml", "a.comp", "mine.toml"].contains(&input);
            for (is_read, args) in [
                (is_compiled, [&compile[..], &["-o", output]].concat()),
                (is_compiled, [&compile[..], &["-E", "-o", output]].concat()),
                (is_compiled, [&compile[..], &["-o", "o.spv", "-MD", "-MF", output]].concat()),
                (is_compiled, [&compile[..], &["-M", "-o", output]].concat()),
                (is_compiled && input != "words", vec!["explain", "a.comp", "-p", "mine.toml", "--html", output]),
                (input == "data", [&run[..6], &["--out", &format!("0={output}")]].concat()),
                (is_built, vec!["build", &*format!("--emit-ninja={output}")]),
            ] {
                if is_read {
                    refused(&folder.run(&args), &format!("the same file as the input {input}"));
                }
            }
        }
        fs::remove_file(folder.0.join("hard")).unwrap();
        fs::remove_file(folder.0.join("soft")).unwrap();
        let same = folder.run(&["compile", "a.comp", "-p", "mine.toml", "@words", "-o", &format!("./{input}")]);
        assert!(status(&same) == 2 || input == "data", "{input}: {}", stderr(&same));
    }
    folder.file("data", [0; 128]);
    assert_eq!(held(), before);
}

#[test]
fn standard_input_is_an_input_too() {
    let folder = project("files-stdin");
    let mut command = folder.command(&["compile", "-", "--lang", "glsl", "-E", "-o", "a.comp"]);
    let output = command.stdin(File::open(folder.0.join("a.comp")).unwrap()).output().unwrap();
    refused(&output, "cannot write a.comp: it is the same file as the input -");
    assert_eq!(fs::read_to_string(folder.0.join("a.comp")).unwrap(), SHADER);
}

#[test]
fn two_outputs_are_two_files() {
    let folder = project("files-outputs");
    refused(
        &folder.run(&["compile", "a.comp", "-o", "one", "-MD", "-MF", "./one"]),
        "another output was written to it",
    );
    assert_eq!(fs::read(folder.0.join("one")).unwrap()[..4], [0x03, 0x02, 0x23, 0x07]);
    refused(&folder.run(&["compile", "a.comp", "-o", "one", "-MD", "-MF", "one"]), "another output was written to it");
    let run = ["run", "a.comp", "--buffer", "0=data", "--out", "0=two", "--out", "0=two"];
    refused(&folder.run(&run), "another output was written to it");
    for null in ["one", "/dev/null"] {
        let output = folder.run(&["compile", "a.comp", "-o", null, "-MD", "-MT", "x", "-MF", "/dev/null"]);
        assert_eq!((status(&output), stderr(&output).as_str()), (0, ""));
    }
}

#[test]
fn an_ending_that_promises_another_format_is_refused() {
    let folder = project("files-endings");
    for (args, ending) in [
        (&["-p", "spirv-1.3"][..], "metal"),
        (&["-p", "spirv-1.3"], "wgsl"),
        (&["-p", "spirv-1.3"], "HLSL"),
        (&[], "spvasm"),
        (&[], "glasm"),
        (&[], "json"),
        (&[], "d"),
        (&["-S"], "spv"),
        (&["-E"], "spv"),
        (&["--emit", "reflection"], "spv"),
        (&["--emit", "ir"], "spv"),
        (&["-p", "nv-volta"], "spv"),
        (&["-p", "nv-volta"], "ptx"),
        (&["-p", "gfx900"], "hsaco"),
        (&["-M"], "spv"),
        (&["-MD", "-MF", "x.comp"], "spv"),
    ] {
        let name = format!("out.{ending}");
        refused(&folder.run(&[&["compile", "a.comp", "-o", &name], args].concat()), "what would be written is ");
    }
    let page = folder.run(&["explain", "a.comp", "--html", "page.wgsl"]);
    refused(&page, "what would be written is a page in HTML, not .wgsl: that ending is for WGSL");
    refused(&folder.run(&["build", "--emit-ninja=out.spv"]), "a file for ninja");
    assert_eq!(folder.names(), ["a.comp", "crosslane.toml", "data", "mine.toml", "words", "x.glsl"]);
    for (args, name) in [
        (&[][..], "out.wgsl"),
        (&[], "out.spv"),
        (&[], "out.SPV"),
        (&[], "out"),
        (&[], "out.bin"),
        (&[], "out.comp.spirv"),
        (&["-S"], "out.s"),
        (&["-S"], "out.spvasm"),
        (&["-E"], "out.comp"),
        (&["-M"], "out.d"),
        (&["-p", "gfx900"], "out.s"),
        (&["-p", "nv-volta"], "out.glasm"),
        (&["--emit", "reflection"], "out.json"),
    ] {
        let output = folder.run(&[&["compile", "a.comp", "-o", name], args].concat());
        assert_eq!((status(&output), stderr(&output).as_str()), (0, ""), "{name}");
    }
}

/// The output of a command, which must end soon.
fn soon(mut command: Command, what: &str) -> Output {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{what} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn only_regular_files_are_read() {
    let folder = project("files-special");
    let fifo = folder.0.join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
    fs::create_dir(folder.0.join("folder")).unwrap();
    for (special, says) in [("/dev/zero", "not a regular file"), ("fifo", "not a regular file"), ("folder", "")] {
        for name in ["s.comp", "s.glsl", "s.toml", "s.bin", "s.words"] {
            let _ = fs::remove_file(folder.0.join(name));
            symlink(special, folder.0.join(name)).unwrap();
        }
        folder.file("i.comp", SHADER.replace("x.glsl", "s.glsl"));
        folder.file("good.toml", MANIFEST.replace("*.comp", "[as].comp"));
        for (args, code) in [
            (&["compile", "s.comp"][..], 2),
            (&["compile", "i.comp"], 1),
            (&["compile", "a.comp", "-p", "s.toml"], 2),
            (&["compile", "a.comp", "@s.words"], 2),
            (&["explain", "s.comp"], 2),
            (&["check", "s.comp", "-p", "spirv-1.3"], 2),
            (&["run", "a.comp", "--buffer", "0=s.bin"], 2),
            (&["run", "a.comp", "--buffer", "0=data", "--push", "s.bin"], 2),
            (&["profiles", "s.toml"], 2),
            (&["build", "--manifest", "s.toml"], 2),
            (&["snapshot", "--manifest", "s.toml"], 2),
        ] {
            let output = soon(folder.command(args), &format!("{args:?} with {special}"));
            assert_eq!(status(&output), code, "{args:?} with {special}: {}", stderr(&output));
            assert!(stderr(&output).contains(says), "{args:?} with {special}: {}", stderr(&output));
        }
        if special != "folder" {
            let output = soon(folder.command(&["build", "--manifest", "good.toml"]), "a build");
            refused(&output, "cannot read s.comp: it is not a regular file");
        }
    }
    let mut command = folder.command(&["compile", "-", "--lang", "glsl"]);
    let output = command.stdin(File::open("/dev/zero").unwrap()).output().unwrap();
    refused(&output, "cannot read -: it has more than 67108864 bytes");
}

#[test]
fn files_of_arguments_have_limits() {
    let folder = project("files-words");
    folder.file("self", "-g @self");
    refused(&folder.run(&["compile", "a.comp", "@self"]), "@self: the file names itself");
    folder.file("one", "@two");
    folder.file("two", "@./one");
    refused(&folder.run(&["compile", "a.comp", "@one"]), "the file names itself");
    for n in 0..15 {
        folder.file(&format!("n{n}"), format!("@n{0} @n{0} @n{0} @n{0}", n + 1));
    }
    folder.file("n15", "-g");
    let output = soon(folder.command(&["compile", "a.comp", "@n0"]), "nested files");
    refused(&output, "files contain more than 65536 words together");
    for n in 0..17 {
        folder.file(&format!("d{n}"), format!("@d{}", n + 1));
    }
    folder.file("d17", "-g");
    refused(&folder.run(&["compile", "a.comp", "@d0"]), "files name each other more than 16 deep");
    assert_eq!(status(&folder.run(&["compile", "a.comp", "@d2", "@n15"])), 0, "-g may be given twice");
    File::create(folder.0.join("large")).unwrap().set_len(1 << 30).unwrap();
    refused(&folder.run(&["compile", "a.comp", "@large"]), "more than 16777216 bytes");
    folder.file("bytes", b"\xff");
    refused(&folder.run(&["compile", "a.comp", "@bytes"]), "it is not UTF-8");
}

/// Checks for bytes that control a terminal: those below a blank except line feeds, DEL, C1, and bidirectional
/// overrides.
fn harmless(text: &[u8], what: &str) -> String {
    let text = String::from_utf8(text.to_vec()).unwrap();
    let is_obeyed = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(is_obeyed), "{what}: {text:?}");
    text
}

#[test]
fn a_terminal_obeys_no_source_and_no_name() {
    let folder = project("files-terminal");
    let evil = "\x1b[2J\u{9b}\u{202e}\x07";
    let name = format!("e\x1b[31m\u{202e}{}.comp", "\n");
    folder.file(&name, SHADER.replace("= X;", &format!("/*{evil}\0\r*/ = Y;")));
    let said = harmless(&folder.run(&["compile", &name]).stderr, "a snippet");
    let lines: Vec<&str> = said.lines().collect();
    let at = lines.iter().position(|line| line.contains("/*␛[2J")).expect(&said);
    let column = |line: &str, of: char| line.chars().position(|c| c == of).unwrap();
    assert_eq!(column(lines[at], 'Y'), column(lines[at + 1], '^'), "{said}");
    let output = folder.run(&["compile", &name, "--message-format", "json"]);
    for line in harmless(&output.stderr, "JSON").lines() {
        let message: serde_json::Value = serde_json::from_str(line).expect(line);
        assert!(message["file"].as_str().is_none_or(|file| file == name), "{message}");
    }
    for args in [
        &["compile", &*format!("{evil}.comp")][..],
        &["compile", &format!("--{evil}")],
        &["compile", &format!("-{evil}")],
        &["compile", &format!("@{evil}"), "a.comp"],
        &["compile", "a.comp", "-p", evil],
        &["compile", "a.comp", "-D", evil],
        &["compile", "a.comp", "-o", &format!("no/{evil}")],
        &["check", &name, "--all-profiles"],
        &["check", &name, "--all-profiles", "--json"],
        &["explain", &name],
        &["run", &name],
        &["run", "a.comp", "--buffer", &format!("0={evil}")],
        &["build"],
        &["build", "--check", "-q"],
        &["build", "--manifest", evil],
        &["snapshot"],
        &["profiles", evil],
        &[evil],
    ] {
        let output = folder.run(args);
        harmless(&output.stderr, &format!("{args:?}"));
        harmless(&output.stdout, &format!("{args:?}"));
        assert_ne!(status(&output), 0, "{args:?}");
    }
    folder.file(&name, SHADER);
    for args in [
        &["check", &name, "--all-profiles"][..],
        &["explain", &name],
        &["explain", &name, "--json"],
        &["build"],
        &["snapshot"],
    ] {
        let output = folder.run(args);
        harmless(&output.stderr, &format!("{args:?}"));
        harmless(&output.stdout, &format!("{args:?}"));
    }
}

#[test]
fn names_that_are_not_text_are_told() {
    let folder = project("files-utf8");
    let name = OsStr::from_bytes(b"b\xff.comp");
    fs::write(folder.0.join(name), SHADER).unwrap();
    for args in [&["build"][..], &["build", "--check"], &["build", "--emit-ninja"], &["snapshot"]] {
        refused(&folder.run(args), "crosslane.toml:2:12: the name \"b\\xFF.comp\" is not UTF-8");
    }
    let dependencies = folder.command(&["compile", "-M"]).arg(name).output().unwrap();
    refused(&dependencies, "is not UTF-8");
    let plain = folder.command(&["compile", "-o", "b.spv"]).arg(name).output().unwrap();
    assert_eq!((status(&plain), stderr(&plain).as_str()), (0, ""));
    fs::remove_file(folder.0.join(name)).unwrap();
    fs::write(folder.0.join(OsStr::from_bytes(b"\xff.txt")), "a file that no glob names").unwrap();
    fs::create_dir(folder.0.join(OsStr::from_bytes(b"\xfe"))).unwrap();
    folder.file("crosslane.toml", MANIFEST.replace("*.comp", "**/*.comp"));
    assert_eq!(status(&folder.run(&["build"])), 0);
    let elsewhere = OsStr::from_bytes(b"\xfe/crosslane.toml");
    fs::copy(folder.0.join("crosslane.toml"), folder.0.join(elsewhere)).unwrap();
    let output = folder.command(&["build", "--manifest"]).arg(elsewhere).output().unwrap();
    refused(&output, "is not UTF-8");
}

#[test]
fn what_cannot_be_written_is_told() {
    let folder = project("files-unwritable");
    fs::create_dir(folder.0.join("folder")).unwrap();
    refused(&folder.run(&["compile", "a.comp", "-o", "folder"]), "cannot write folder: ");
    refused(&folder.run(&["compile", "a.comp", "-o", "/dev/full"]), "cannot write /dev/full: ");
    let long = format!("{}.spv", "n".repeat(251));
    let output = folder.run(&["compile", "a.comp", "-o", &long]);
    assert_eq!((status(&output), stderr(&output).as_str()), (0, ""), "the longest name that there is");
    refused(&folder.run(&["compile", "a.comp", "-o", &format!("n{long}")]), "cannot write n");
    for args in
        [&["compile", "a.comp", "-S"][..], &["--help"], &["--version"], &["profiles"], &["man"], &["ops", "--header"]]
    {
        let output = folder.command(args).stdout(File::create("/dev/full").unwrap()).output().unwrap();
        assert_eq!(status(&output), 2, "{args:?}: {}", stderr(&output));
    }
    folder.file("crosslane.toml", MANIFEST);
    for args in [&["build"][..], &["compile", "missing.comp"], &["compile", "--no-such-option"]] {
        let output = folder.command(args).stderr(File::create("/dev/full").unwrap()).status().unwrap();
        assert_eq!(output.code(), Some(if args[0] == "build" { 0 } else { 2 }), "{args:?}");
    }
}

#[test]
fn the_head_of_a_manual_page_is_one_line() {
    let folder = project("files-man");
    let page = stdout(&folder.run(&["man"]));
    let head = format!(".TH crosslane 1  \"crosslane {}\" ", env!("CARGO_PKG_VERSION"));
    assert_eq!(page.lines().find(|line| line.starts_with(".TH")), Some(head.as_str()));
    assert_eq!(status(&folder.run(&["man", "--out-dir", "pages"])), 0);
    for entry in fs::read_dir(folder.0.join("pages")).unwrap() {
        let page = fs::read_to_string(entry.unwrap().path()).unwrap();
        let head = page.lines().find(|line| line.starts_with(".TH")).expect(&page);
        assert_eq!(head.matches('"').count(), 2, "{head}");
        assert!(head.contains(env!("CARGO_PKG_VERSION")), "{head}");
    }
}

#[test]
fn an_unknown_option_is_named_whole() {
    let folder = project("files-options");
    for (option, says) in [
        ("-fPIC", "unexpected argument '-fPIC' found"),
        ("-gQ", "unexpected argument '-gQ' found"),
        ("-mfma", "unexpected argument '-mfma' found"),
        ("-V", "unexpected argument '-V' found"),
        ("--no-such", "unexpected argument '--no-such' found"),
    ] {
        refused(&folder.run(&["compile", "a.comp", option]), says);
    }
    assert_eq!(status(&folder.run(&["-V"])), 0);
}

/// Assemblers accept only ASCII: `ptxas` fails at the first other character, even in comments.
#[test]
fn names_in_assemblies_are_ascii() {
    let folder = Folder::new("files-ascii");
    let shader = "@group(0) @binding(0) var<storage, read_write> größe: array<u32>;\n\
                  @compute @workgroup_size(32)\nfn main(@builtin(local_invocation_index) i: u32) {\n    größe[i] += 1u;\n}\n";
    folder.file("größe.wgsl", shader);
    // The file's name is a string in AMD's debug information, by which debuggers find it.
    for (profile, options) in [("nv-hopper", &["-g"][..]), ("ptx-sm80", &["-g"]), ("gfx1100", &[])] {
        let args = ["compile", "größe.wgsl", "-p", profile, "-o", "-"];
        let text = stdout(&folder.run(&[&args[..], options].concat()));
        assert!(text.is_ascii(), "{profile}: {text}");
        assert!(text.contains("gr\\u{f6}\\u{df}e.wgsl"), "{profile}: {text}");
    }
}

/// WGSL declares its own stages: an option for the stage implies GLSL.
#[test]
fn a_stage_says_the_language() {
    let folder = Folder::new("stage-language");
    folder.file("shader.tmpl", "#version 450\nlayout(location = 0) in vec4 p;\nvoid main() { gl_Position = p; }\n");
    assert_eq!(status(&folder.run(&["compile", "shader.tmpl", "--stage", "vertex", "-o", "out.spv"])), 0);
    assert_eq!(status(&folder.run(&["compile", "shader.tmpl", "-o", "other.spv"])), 2);
}

/// `include/crosslane.glsl` is for other compilers; crosslane compiles shaders that include it, with any form of the
/// extension directive.
#[test]
fn the_header_compiles_with_every_form_of_its_extension() {
    let folder = Folder::new("header");
    folder.file("crosslane.glsl", crosslane::explain::header::header());
    let body = "#extension GL_GOOGLE_include_directive : require\n#include \"crosslane.glsl\"\n\
                layout(local_size_x = 64) in;\nlayout(binding = 0) buffer B { float x[]; };\n\
                void main() { x[gl_LocalInvocationIndex] = allReduceAdd8(x[gl_LocalInvocationIndex]); }\n";
    let lines = ["", "#extension GL_CROSSLANE_portable : require\n", "#extension GL_CROSSLANE_portable : enable\n"];
    let texts = lines.map(|line| {
        folder.file("a.comp", format!("#version 450\n{line}{body}"));
        let output = folder.run(&["compile", "a.comp", "-p", "gfx1100", "-o", "-"]);
        assert_eq!((status(&output), &*stderr(&output)), (0, ""), "{line}");
        stdout(&output).lines().filter(|line| !line.contains("a.comp:")).collect::<Vec<_>>().join("\n")
    });
    assert!(texts[0].contains("v_add_f32_dpp"), "{}", texts[0]);
    assert!(texts.iter().all(|text| *text == texts[0]));
}

/// `include/crosslane_device.glsl` makes workgroups wait for others, which only some hardware allows.
#[test]
fn scans_over_the_dispatch_need_forward_progress() {
    let folder = Folder::new("device");
    folder.file("crosslane_device.glsl", include_str!("../../include/crosslane_device.glsl"));
    let text = "#version 450\n#extension GL_GOOGLE_include_directive : require\n#define CROSSLANE_DEVICE_BINDING 2\n\
                #include \"crosslane_device.glsl\"\nlayout(local_size_x = 64) in;\n\
                layout(binding = 0) buffer B { uint x[]; };\nvoid main() {\n    uint tile = deviceTile();\n    \
                x[tile * 64u + gl_LocalInvocationIndex] = deviceExclusiveAdd(1u, tile);\n}\n";
    folder.file("a.comp", text);
    folder.file("own.toml", "inherit = \"spirv-1.6\"\nname = \"own\"\nadd-features = [\"forward-progress\"]\n");
    for profile in ["gfx1030", "gfx900", "nv-volta", "ptx-sm30", "spirv-amd", "spirv-nvidia", "own.toml"] {
        let output = folder.run(&["compile", "a.comp", "-p", profile, "-o", "out"]);
        assert_eq!((status(&output), &*stderr(&output)), (0, ""), "{profile}");
    }
    for profile in ["spirv-1.6", "hlsl-6.6", "msl-3.0", "wgsl", "glsl-450-khr"] {
        let output = folder.run(&["compile", "a.comp", "-p", profile, "-o", "out"]);
        let err = stderr(&output);
        assert_eq!(status(&output), 3, "{profile}: {err}");
        assert!(err.contains(&format!("the profile {profile} lacks forward-progress")), "{err}");
    }
}
