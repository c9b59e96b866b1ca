//! `crosslane build` through the binary: which outputs are made, their names, what is skipped, and the messages.

use crate::folder::{Folder, status, stderr, stdout};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

const SHADER: &str = "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include <x.glsl>\n\
                      layout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint x[]; };\n\
                      void main() { x[gl_GlobalInvocationID.x] = X; }\n";

const MANIFEST: &str = "[[build]]\nshaders = [\"shaders/**/*.comp\"]\nprofiles = [\"spirv-1.5\", \"nv-volta\"]\n\
                        options = { include-dirs = [\"inc\"] }\nout-dir = \"out\"\n";

/// Two shaders that include one file.
fn project(name: &str) -> Folder {
    let folder = Folder::new(name);
    for path in ["shaders/sub", "inc"] {
        fs::create_dir_all(folder.0.join(path)).unwrap();
    }
    folder.file("shaders/a.comp", SHADER);
    folder.file("shaders/sub/b.comp", SHADER);
    folder.file("inc/x.glsl", "const uint X = 1u;\n");
    folder.file("crosslane.toml", MANIFEST);
    folder
}

#[test]
fn options_choose_the_places_of_resources() {
    let folder = Folder::new("build-places");
    folder.file("a.comp", SHADER.replace("#include <x.glsl>", "const uint X = 1u;"));
    folder.file(
        "crosslane.toml",
        "[[build]]\nshaders = [\"a.comp\"]\nprofiles = [\"wgsl\", \"spirv-1.5\"]\nout-dir = \"out\"\n\
         options = { push-constants = \"3:0\", places = { \"0:0\" = \"1:2\" } }\n",
    );
    build(&folder, &[]);
    let text = fs::read_to_string(folder.0.join("out/a.wgsl.wgsl")).unwrap();
    assert!(text.contains("@group(1) @binding(2)"), "{text}");
    let ninja = stdout(&build(&folder, &["--emit-ninja=-"]));
    let with = ninja.lines().filter(|line| line.contains("--push-constants=3:0 --place=0:0=1:2")).count();
    assert_eq!(with, 1, "the shading language alone: {ninja}");
}

fn build(folder: &Folder, more: &[&str]) -> Output {
    let output = folder.run(&[&["build"], more].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    output
}

/// The files below a folder, except hidden ones, with their times.
fn files(root: &Path) -> BTreeMap<String, SystemTime> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            match path.strip_prefix(root).unwrap().to_str().unwrap() {
                hidden if hidden.starts_with('.') => {}
                _ if meta.is_dir() => folders.push(path),
                name => drop(found.insert(name.to_string(), meta.modified().unwrap())),
            }
        }
    }
    found
}

fn outputs(folder: &Folder) -> BTreeMap<String, SystemTime> {
    files(&folder.0.join("out"))
}

#[test]
fn the_product_of_the_lists_is_built() {
    let folder = project("build-product");
    folder.file(
        "crosslane.toml",
        "[[build]]\nshaders = [\"shaders/**/*.comp\"]\nprofiles = [\"spirv-1.5\"]\nwave-sizes = [32, \"any\"]\n\
         defines = { X = [1, \"2u\"], DEBUG = [true, false], ONE = 7 }\nout-dir = \"out\"\n\
         options = { include-dirs = [\"inc\"], emit = \"assembly\" }\n\n\
         [[build]]\nshaders = [\"shaders/*.comp\"]\nprofiles = [\"spirv-1.3\"]\nout-dir = \"out\"\ndefines = { X = 3 }\noptions = { include-dirs = [\"inc\"] }\n",
    );
    folder.file("inc/x.glsl", "\n");
    build(&folder, &[]);
    let made = outputs(&folder);
    let names: Vec<&str> = made.keys().map(String::as_str).collect();
    assert_eq!(
        names[..9],
        [
            "a.DEBUG.X-1.spirv-1.5.spvasm",
            "a.DEBUG.X-1.wave32.spirv-1.5.spvasm",
            "a.DEBUG.X-2u.spirv-1.5.spvasm",
            "a.DEBUG.X-2u.wave32.spirv-1.5.spvasm",
            "a.X-1.spirv-1.5.spvasm",
            "a.X-1.wave32.spirv-1.5.spvasm",
            "a.X-2u.spirv-1.5.spvasm",
            "a.X-2u.wave32.spirv-1.5.spvasm",
            "a.spirv-1.3.spv",
        ]
    );
    assert_eq!((names.len(), names[9]), (17, "sub/b.DEBUG.X-1.spirv-1.5.spvasm"));
}

#[test]
fn waves_of_another_size_are_the_profiles_sibling() {
    let folder = project("build-waves");
    let manifest = MANIFEST.replace("\"spirv-1.5\", \"nv-volta\"", "\"rdna3\"");
    folder.file("crosslane.toml", format!("{manifest}wave-sizes = [64]\n"));
    let ninja = stdout(&build(&folder, &["--emit-ninja=-"]));
    assert!(ninja.contains("build out/a.wave64.gfx1100.s: shader"), "{ninja}");
    assert!(ninja.contains("options = -p gfx1100-wave64 -Iinc\n"), "{ninja}");
    folder.file("crosslane.toml", format!("{MANIFEST}wave-sizes = [\"16..\"]\n").replace("\"nv-volta\"", "\"wgsl\""));
    let ninja = stdout(&build(&folder, &["--emit-ninja=-"]));
    assert!(ninja.contains("build out/a.wgsl.wgsl: shader") && ninja.contains("-p wgsl --wave-size=16.. "), "{ninja}");
}

#[test]
fn what_is_built_equals_what_compile_makes() {
    let folder = project("build-equal");
    build(&folder, &[]);
    for (profile, output) in [("spirv-1.5", "out/a.spirv-1.5.spv"), ("nv-volta", "out/a.nv-volta.glasm")] {
        let args = ["compile", "shaders/a.comp", "-Iinc", "-p", profile, "-o", "-"];
        assert_eq!(folder.run(&args).stdout, fs::read(folder.0.join(output)).unwrap());
    }
}

#[test]
fn what_is_current_is_skipped() {
    let folder = project("build-skip");
    let first = stderr(&build(&folder, &[]));
    assert!(first.starts_with("building 4 of 4 outputs\nshaders/a.comp: 2 outputs\n"), "{first}");
    let table = "profile    written   same  skipped  failed\nspirv-1.5        2      0        0       0\n";
    assert!(first.contains(table), "{first}");
    let old = outputs(&folder);
    assert_eq!(stderr(&build(&folder, &[])), "all 4 outputs are up to date\n");
    folder.file("shaders/a.comp", format!("{SHADER}// a remark\n"));
    let second = stderr(&build(&folder, &[]));
    assert!(second.contains("building 2 of 4 outputs\n") && second.contains("0      2        2       0"), "{second}");
    assert_eq!(outputs(&folder), old, "the same bytes leave a file untouched");
    folder.file("inc/x.glsl", "const uint X = 2u;\n");
    assert!(stderr(&build(&folder, &[])).contains("building 4 of 4 outputs\n"));
    assert_ne!(outputs(&folder), old);
}

#[test]
fn every_input_counts() {
    let folder = project("build-inputs");
    folder.file("mine.toml", "name = \"mine\"\ninherit = \"spirv-1.5\"\n");
    let manifest = MANIFEST.replace("\"nv-volta\"", "\"mine.toml\"").replace("[\"inc\"]", "[\"near\", \"inc\"]");
    folder.file("crosslane.toml", &manifest);
    build(&folder, &[]);
    assert!(outputs(&folder).contains_key("a.mine.spv"));
    let rebuilt = |why: &str, count: usize| {
        let said = stderr(&build(&folder, &[]));
        assert!(said.starts_with(&format!("building {count} of 4 outputs\n")), "{why}: {said}");
        assert!(stderr(&build(&folder, &[])).starts_with("all 4"), "{why}");
    };
    folder.file("mine.toml", "name = \"mine\"\ninherit = \"spirv-1.6\"\n");
    rebuilt("the profile changed", 2);
    folder.file("crosslane.toml", format!("{manifest}defines = {{ A = 1 }}\n"));
    rebuilt("a macro came", 4);
    fs::create_dir(folder.0.join("near")).unwrap();
    folder.file("near/x.glsl", "const uint X = 5u;\n");
    rebuilt("a file came before another in the include directories", 4);
    folder.file("out/a.spirv-1.5.spv", "other");
    rebuilt("an output was changed", 1);
    fs::remove_file(folder.0.join("out/a.spirv-1.5.spv")).unwrap();
    rebuilt("an output went", 1);
    folder.file("out/.crosslane/state.json", "no JSON");
    rebuilt("the memory went", 4);
}

#[test]
fn all_errors_of_all_shaders_come_in_one_run() {
    let folder = project("build-errors");
    folder.file("shaders/sub/b.comp", "#version 450\nvoid main() { x = 1; }\n");
    folder.file("shaders/c.comp", "#version 450\nvoid main() { y = 1; }\n");
    let output = folder.run(&["build"]);
    let said = stderr(&output);
    assert_eq!(status(&output), 1);
    assert_eq!(said.matches("error[").count(), 2, "one message for both profiles: {said}");
    assert!(said.contains("shaders/sub/b.comp:2:15") && said.contains("shaders/c.comp:2:15"), "{said}");
    assert_eq!(outputs(&folder).len(), 2, "the right shader is built");
    assert!(said.contains("all              2      0        0       4"), "{said}");
}

#[test]
fn a_profile_that_cannot_is_status_3() {
    let folder = project("build-refused");
    let wide = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
                layout(binding = 0) buffer B { float x[]; };\nvoid main() { if (x[0] > 0.0) x[0] = allReduceAdd64(x[0]); }\n";
    folder.file("shaders/a.comp", wide);
    folder.file("crosslane.toml", format!("{MANIFEST}wave-sizes = [32]\n").replace("\"nv-volta\"", "\"spirv-1.6\""));
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("error[E0702]").count(), 1, "{}", stderr(&output));
    folder.file("crosslane.toml", format!("{MANIFEST}wave-sizes = [32]\n").replace("\"nv-volta\"", "\"gfx900\""));
    assert_eq!(status(&folder.run(&["build"])), 2, "no such waves");
    folder.file(
        "shaders/a.comp",
        wide.replace("void", "#ifdef CROSSLANE_TARGET_NV\nvoid") + "#else\nvoid main() {}\n#endif\n",
    );
    folder.file("crosslane.toml", MANIFEST);
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("  = in out/a.nv-volta.glasm\n"), "{}", stderr(&output));
    assert!(outputs(&folder).contains_key("a.spirv-1.5.spv"));
}

#[test]
fn warnings_come_again() {
    let folder = project("build-warnings");
    let shader = SHADER.replace("#extension GL_GOOGLE_include_directive : require\n", "");
    folder.file("shaders/a.comp", &shader);
    for _ in 0..2 {
        let said = stderr(&build(&folder, &["-Winclude-implied"]));
        assert_eq!(said.matches("warning[").count(), 1, "{said}");
    }
    assert_eq!(stderr(&build(&folder, &["-q", "-w"])), "");
    assert_eq!(status(&folder.run(&["build", "--deny-warnings", "-Winclude-implied"])), 1);
    folder.file("crosslane.toml", MANIFEST.replace("{ ", "{ no-warnings = true, "));
    assert_eq!(stderr(&build(&folder, &["-q"])), "");
}

#[test]
fn a_manifest_chooses_warnings() {
    let folder = project("build-warning-names");
    let shader = SHADER.replace("#extension GL_GOOGLE_include_directive : require\n", "");
    folder.file("shaders/a.comp", &shader);
    let with = |list: &str| {
        folder.file("crosslane.toml", MANIFEST.replace("{ ", &format!("{{ warnings = [{list}], ")));
        folder.run(&["build", "-q"])
    };
    let output = with("\"no-include-implied\"");
    assert_eq!((status(&output), stderr(&output).as_str()), (0, ""));
    assert_eq!(status(&with("\"error=include-implied\"")), 1);
    assert!(stderr(&with("\"include-implied\", \"no-division-by-zero\"")).contains("[-Winclude-implied]"));
    let output = folder.run(&["build", "-q", "-Wno-include-implied"]);
    assert_eq!((status(&output), stderr(&output).as_str()), (0, ""));
    let output = with("\"no-include-implicit\"");
    let said = stderr(&output);
    assert_eq!(status(&output), 2, "{said}");
    assert!(said.contains("crosslane.toml:") && said.contains("did you mean `include-implied`?"), "{said}");
    with("\"no-wave-size\", \"error=divergent-lanes\"");
    let output = folder.run(&["build", "--emit-ninja"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let ninja = fs::read_to_string(folder.0.join("build.ninja")).unwrap();
    assert!(ninja.contains("-Wno-wave-size -Werror=divergent-lanes"), "{ninja}");
}

#[test]
fn check_compares_and_writes_nothing() {
    let folder = project("build-check");
    let output = folder.run(&["build", "--check"]);
    assert_eq!(status(&output), 1);
    assert!(stderr(&output).contains("error[E0007]: out/a.spirv-1.5.spv is missing\n"), "{}", stderr(&output));
    assert!(!folder.0.join("out").exists());
    build(&folder, &[]);
    assert_eq!(stderr(&build(&folder, &["--check", "-q"])), "");
    folder.file("inc/x.glsl", "const uint X = 3u;\n");
    let output = folder.run(&["build", "--check"]);
    assert_eq!(status(&output), 1);
    assert_eq!(stderr(&output).matches("is not what would be made").count(), 4, "{}", stderr(&output));
}

#[test]
fn paths_start_from_the_manifest() {
    let folder = project("build-elsewhere");
    let work = folder.0.join("work");
    fs::create_dir(&work).unwrap();
    let output = folder.command(&["build", "--manifest", "../crosslane.toml"]).current_dir(&work).output().unwrap();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(outputs(&folder).len(), 4);
}

#[test]
fn messages_as_json_lines() {
    let folder = project("build-json");
    folder.file("shaders/a.comp", "#version 450\nvoid main() { x = 1; }\n");
    let codes = |output: &Output| -> Vec<String> {
        let said = stderr(output);
        let lines = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect(line));
        lines.map(|message| message["code"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(codes(&folder.run(&["build", "--message-format=json"])), ["E0300"]);
    fs::remove_file(folder.0.join("shaders/a.comp")).unwrap();
    assert_eq!(codes(&folder.run(&["build", "--message-format=json"])), [""; 0]);
    assert_eq!(codes(&folder.run(&["build", "--message-format=json", "--manifest=no.toml"])), ["E0008"]);
}

/// make provides no job slot beyond the one that every process has, so that nothing may run in parallel.
#[test]
fn a_jobserver_is_obeyed_and_gets_everything_back() {
    let folder = project("build-jobserver");
    let client = jobserver::Client::new(0).unwrap();
    let mut command = folder.command(&["build"]);
    client.configure(&mut command);
    assert_eq!(status(&command.output().unwrap()), 0);
    let client = jobserver::Client::new(2).unwrap();
    let mut command = folder.command(&["build"]);
    client.configure(&mut command);
    folder.file("inc/x.glsl", "const uint X = 3u;\n");
    assert_eq!(status(&command.output().unwrap()), 0);
    assert_eq!(client.available().unwrap(), 2);
    for jobs in ["1", "3"] {
        folder.file("inc/x.glsl", format!("const uint X = 1{jobs}u;\n"));
        build(&folder, &["-j", jobs]);
    }
    assert_eq!(status(&folder.run(&["build", "-j", "0"])), 2);
}

#[test]
fn watching_builds_what_changes() {
    let folder = project("build-watch");
    let mut child = folder.command(&["build", "--watch", "-q"]).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    let wait = |what: &str, is_done: &dyn Fn() -> bool| {
        while !is_done() {
            assert!(start.elapsed() < Duration::from_secs(60), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let built = |name: &str| folder.0.join("out").join(name);
    wait("the first build", &|| built("sub/b.nv-volta.glasm").exists());
    folder.file("shaders/sub/new.comp", SHADER);
    wait("a new shader", &|| built("sub/new.nv-volta.glasm").exists());
    folder.file("crosslane.toml", "wrong");
    std::thread::sleep(Duration::from_millis(400));
    folder.file("crosslane.toml", MANIFEST.replace("\"spirv-1.5\"", "\"spirv-1.6\""));
    wait("a manifest that was wrong for a while", &|| built("sub/new.spirv-1.6.spv").exists());
    folder.file("inc/x.glsl", "const uint X = 77u;\n");
    wait("an include", &|| fs::read_to_string(built("a.nv-volta.glasm")).unwrap().contains("77"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_manifest_optimizes_as_the_command_does() {
    let folder = Folder::new("build-optimize");
    let shader = "#version 450\nlayout(local_size_x = 8) in;\nlayout(binding = 3) buffer B { uint x[]; };\n\
                  void main() { uint sum = 0u; for (uint i = 0u; i < x[0]; ++i) sum += x[i]; x[1] = sum; }\n";
    folder.file("a.comp", shader);
    let mut sizes = Vec::new();
    for (goal, option) in [("none", "-O0"), ("speed", "-O"), ("size", "-Os")] {
        let head = "[[build]]\nshaders = [\"*.comp\"]\nprofiles = [\"spirv-1.5\"]\nout-dir = \"out\"\n";
        folder.file("crosslane.toml", format!("{head}options = {{ optimize = \"{goal}\" }}\n"));
        assert_eq!(status(&folder.run(&["build"])), 0);
        let made = fs::read(folder.0.join("out/a.spirv-1.5.spv")).unwrap();
        assert_eq!(made, folder.run(&["compile", option, "-p", "spirv-1.5", "a.comp", "-o", "-"]).stdout, "{goal}");
        sizes.push(made.len());
        let ninja = folder.run(&["build", "--emit-ninja=-"]);
        let says = String::from_utf8(ninja.stdout).unwrap().contains(&format!("--optimize={goal}"));
        assert_eq!(says, goal != "none");
    }
    assert!(sizes[1] < sizes[0], "{sizes:?}");
}
