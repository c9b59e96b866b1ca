//! The command's output for other programs: JSON, completions, manual pages, versions; and argument files.

use crate::folder::{Folder, status, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

fn json(folder: &Folder, args: &[&str]) -> Value {
    let output = folder.run(args);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn operations_as_data() {
    let folder = Folder::new("machine-ops");
    let data = json(&folder, &["ops", "--json", "-p", "spirv-1.5", "-p", "nv-fermi", "butterfly"]);
    assert_eq!(data["schema"], "crosslane-ops-1");
    assert_eq!(data["profiles"], serde_json::json!(["spirv-1.5", "nv-fermi"]));
    let operation = &data["operations"][0];
    assert_eq!((&operation["name"], data["operations"].as_array().unwrap().len()), (&"butterfly".into(), 1));
    assert_eq!((&operation["support"][0]["can"], &operation["support"][1]["can"]), (&true.into(), &false.into()));
    assert!(operation["support"][0]["most_instructions"].as_u64().unwrap() > 0);
    assert!(!operation["support"][1]["refusal"].as_str().unwrap().is_empty(), "{operation}");
}

#[test]
fn profiles_as_data() {
    let folder = Folder::new("machine-profiles");
    let data = json(&folder, &["profiles", "--json"]);
    let listed = stdout(&folder.run(&["profiles"])).lines().count();
    assert_eq!((&data["schema"], data["profiles"].as_array().unwrap().len()), (&"crosslane-profiles-1".into(), listed));
    let one = &json(&folder, &["profiles", "rdna3-wave64", "--json"])["profiles"][0];
    assert_eq!(
        (&one["name"], &one["wave_size"], &one["target"]),
        (&"gfx1100-wave64".into(), &64.into(), &"amd".into())
    );
    assert!(one["features"].as_array().unwrap().contains(&"amd-permlane64".into()), "{one}");
    assert_eq!(one["costs"]["amd-permlane64"]["latency"], 5);
}

#[test]
fn the_version_names_what_the_program_is_made_of() {
    let text = stdout(&Folder::new("machine-version").run(&["--version"]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], concat!("crosslane ", env!("CARGO_PKG_VERSION")));
    for (line, name) in lines[1..].iter().zip(["language tables ", "profiles ", "compiler "]) {
        let hash = line.strip_prefix(name).unwrap();
        assert!(hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
    }
    assert_eq!(lines.len(), 4);
}

#[test]
fn shells_get_completions() {
    let folder = Folder::new("machine-completions");
    let shells = [("bash", "complete -o"), ("zsh", "#compdef crosslane"), ("fish", "complete --keep-order")];
    for (shell, word) in shells.into_iter().chain([("elvish", "crosslane"), ("powershell", "crosslane")]) {
        let output = folder.run(&["completions", shell]);
        assert_eq!(status(&output), 0);
        assert!(stdout(&output).contains(word), "{shell}: {}", stdout(&output));
    }
    let script = stdout(&folder.run(&["completions", "bash"]));
    let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(bash.wait().unwrap().success(), "bash reads it");
    assert_eq!(status(&folder.run(&["completions", "cmd.exe"])), 2);
}

/// Bash's suggestions for the last of some words, from the script that the command prints.
fn offered(folder: &Folder, words: &[&str]) -> Vec<String> {
    folder.file("crosslane.bash", stdout(&folder.run(&["completions", "bash"])));
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_crosslane")).parent().unwrap();
    let ask = "source crosslane.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9; \
               $(complete -p crosslane | sed 's/.*-F \\([^ ]*\\).*/\\1/') crosslane \"${@: -1}\"; \
               printf '%s\\n' \"${COMPREPLY[@]}\"";
    let path = std::env::join_paths([program, "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-c", ask, "bash"]).args(words).current_dir(&folder.0).env("PATH", path);
    let output = bash.output().unwrap();
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
    stdout(&output).lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_profiles_and_operations() {
    let folder = Folder::new("machine-bash");
    folder.file("own.toml", "");
    let has = |words: &[&str], wanted: &str| {
        let offered = offered(&folder, words);
        assert!(offered.iter().any(|offer| offer == wanted), "{words:?}: {offered:?}");
    };
    has(&["crosslane", "compile", "a.comp", "-p", "gfx11"], "gfx1100-wave32");
    has(&["crosslane", "compile", "a.comp", "--profile", "nv-"], "nv-hopper");
    has(&["crosslane", "explain", "a.comp", "-p", "gfx900,spirv-1."], "gfx900,spirv-1.6");
    has(&["crosslane", "run", "-p", "own"], "own.toml");
    has(&["crosslane", "profiles", "msl-"], "msl-3.2");
    has(&["crosslane", "ops", "WaveGet"], "WaveGetLaneIndex");
    has(&["crosslane", "expl"], "explain");
    has(&["crosslane", "build", "--emit"], "--emit-ninja");
}

#[test]
fn manual_pages_name_every_subcommand() {
    let folder = Folder::new("machine-man");
    let page = stdout(&folder.run(&["man"]));
    assert!(page.contains(".TH crosslane 1") && page.contains("crosslane\\-build"), "{page}");
    assert_eq!(status(&folder.run(&["man", "--out-dir", "pages"])), 0);
    let pages = fs::read_dir(folder.0.join("pages")).unwrap().count();
    assert!(pages >= 9, "{pages}");
    let build = fs::read_to_string(folder.0.join("pages/crosslane-build.1")).unwrap();
    assert!(build.contains(".TH crosslane-build 1") && build.contains("emit\\-ninja"), "{build}");
}

#[test]
fn arguments_may_stand_in_files() {
    let folder = Folder::new("machine-response");
    folder.file("a b.comp", "#version 450\nlayout(binding = 0) buffer B { uint x[]; };\nvoid main() { x[0] = N; }\n");
    folder.file("inner.txt", "\"-DN=(1u + 2u)\"");
    folder.file("args.txt", "compile 'a b.comp'\n@inner.txt -o\tout.spv\n");
    let output = folder.run(&["@args.txt"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(folder.0.join("out.spv").exists());
    folder.file("loop.txt", "@loop.txt");
    folder.file("open.txt", "'compile");
    for (file, says) in
        [("loop.txt", "names itself"), ("open.txt", "not closed"), ("no.txt", "unrecognized subcommand")]
    {
        let output = folder.run(&[&format!("@{file}")]);
        assert_eq!(status(&output), 2, "{file}");
        assert!(stderr(&output).contains(says), "{file}: {}", stderr(&output));
    }
}
