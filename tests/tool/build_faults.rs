//! `crosslane build` with faults: in manifests, globs, names, folders and disks, and when killed at any moment. Each
//! gives a clear error, and nothing is ever half-written.

use crate::folder::{Folder, status, stderr};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const SHADER: &str = "#version 450\nlayout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint x[]; };\n\
                      void main() { x[gl_GlobalInvocationID.x] = 1u; }\n";

fn manifest(shaders: &str, more: &str) -> String {
    format!("[[build]]\nshaders = [{shaders}]\nprofiles = [\"spirv-1.5\"]\nout-dir = \"out\"\n{more}")
}

fn project(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("a.comp", SHADER);
    folder.file("crosslane.toml", manifest("\"*.comp\"", ""));
    folder
}

#[test]
fn wrong_manifests_are_told_with_their_place() {
    let folder = project("fault-manifest");
    folder.file("a.txt", "");
    let good = manifest("\"*.comp\"", "");
    for (text, says) in [
        ("[[build]\n".to_string(), "crosslane.toml:1:9: "),
        (
            good.replace("\"]\nout", "\" \"b\"]\nout"),
            "crosslane.toml:3:24: expected `,` between the elements of a list",
        ),
        (good.replace("\"]\nout", "]\nout"), "crosslane.toml:3:13: this string has no closing `\"`"),
        (good.replace("\"]\nout", "\"\nout"), "crosslane.toml:3:12: this list has no closing `]`"),
        (good.replace("out-dir =", "out-dir:"), "`=` is between a key and its value, not `:`"),
        (good.replace("\"out\"", "out"), "a text is written in quotes: `\"out\"`"),
        (good.clone() + "link = \"yes\"\n", "`true` or `false` is needed, not string \"yes\""),
        (good.clone() + "options = { emit = \"assembley\" }\n", "unknown value `assembley`; did you mean `assembly`?"),
        (
            good.clone() + "options = { vertex-inputs = { pos = \"POSITION\" } }\n",
            "`pos` is not a location: write the number of the vertex input, as in `0 = \"POSITION\"`",
        ),
        (
            good.clone() + "options = { vertex-inputs = { 0 = \"\" } }\n",
            "`` is neither a location, such as `1`, nor a semantic, such as `TEXCOORD1`",
        ),
        (good.clone() + "options = { vertex-inputs = { 0 = 2 } }\n", "a text is written in quotes: `\"2\"`"),
        (good.clone() + "options = { vertex-inputs = [\"A\"] }\n", "a table is needed, `{ key = value }`, not a list"),
        (good.replace("out-dir", "outdir"), "crosslane.toml:4:1: unknown key `outdir`; did you mean `out-dir`?"),
        (
            manifest("\"*.comp\"", "options = { debugg = true }\n"),
            "crosslane.toml:5:13: unknown key `debugg`; did you mean `debug`?",
        ),
        (good.replace("out-dir = \"out\"\n", ""), "the key `out-dir` is missing"),
        (
            good.replace("[[build]]", "profils = []\n[[build]]"),
            "1:1: unknown key `profils` here; `profiles` belongs to a `[[build]]`",
        ),
        (good.replace("[[build]]", "[build]"), "a build begins with `[[build]]`, in two brackets"),
        (
            good.replace("[\"spirv-1.5\"]", "\"spirv-1.5\""),
            "crosslane.toml:3:12: a list is needed, not \"spirv-1.5\": write it in brackets, `[\"…\"]`",
        ),
        (good.replace("spirv-1.5", "spirv-1.55"), "crosslane.toml:3:13: unknown profile `spirv-1.55`; did you mean"),
        (good.replace("spirv-1.5", "no.toml"), "crosslane.toml:3:13: cannot read no.toml"),
        (good.replace("[\"spirv-1.5\"]", "[]"), "crosslane.toml:3:12: `profiles` is empty"),
        (manifest("\"x/*.comp\"", ""), "crosslane.toml:2:12: `x/*.comp` matches no file"),
        (
            manifest("\"*.comp\", \"a.txt\"", ""),
            "crosslane.toml:2:22: a.txt does not have the extension of a shader (.comp, .wgsl, …)",
        ),
        (manifest("\"[\"", ""), "crosslane.toml:2:12: "),
        (
            manifest("\"*.comp\"", "wave-sizes = [32, 48]\n"),
            "crosslane.toml:5:19: 48 is not a power of two from 4 to 128",
        ),
        (
            manifest("\"*.comp\"", "wave-sizes = [\"many\"]\n"),
            "crosslane.toml:5:15: a wave size is a number such as 32, a minimum such as 16.., or any",
        ),
        (
            manifest("\"*.comp\"", "wave-sizes = [32]\n").replace("spirv-1.5", "gfx900"),
            "crosslane.toml:5:15: there are no waves of 32 lanes",
        ),
        (manifest("\"*.comp\"", "defines = { \"a-b\" = 1 }\n"), "crosslane.toml:5:21: `a-b` is not a valid macro name"),
        (manifest("\"*.comp\"", "defines = { A = [] }\n"), "crosslane.toml:5:17: `A` has no values"),
    ] {
        folder.file("crosslane.toml", &text);
        let output = folder.run(&["build"]);
        assert_eq!(status(&output), 2, "{text}\n{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{text}\n{}", stderr(&output));
        let said = stderr(&output);
        let excerpt: Vec<&str> = said.lines().skip(1).collect();
        let marked = |lines: &[&str]| lines.len() == 3 && text.contains(&lines[1][4..]) && lines[2].ends_with('^');
        assert!(excerpt.is_empty() || marked(&excerpt), "{said}");
        assert_eq!(folder.names(), ["a.comp", "a.txt", "crosslane.toml"]);
    }
}

#[test]
fn a_manifest_that_is_not_there_is_told() {
    let folder = Folder::new("fault-none");
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("cannot read crosslane.toml"), "{}", stderr(&output));
}

#[test]
fn two_outputs_of_one_name_are_refused() {
    let folder = project("fault-twins");
    folder.file("a.wgsl", "@compute @workgroup_size(1) fn main() {}\n");
    folder.file("crosslane.toml", manifest("\"a.*\"", ""));
    let output = folder.run(&["build"]);
    let said = stderr(&output);
    assert_eq!(status(&output), 2);
    assert!(said.contains(
            "two outputs are called out/a.spirv-1.5.spv: a.comp for spirv-1.5 (crosslane.toml:2) and a.wgsl for spirv-1.5"
        ),
        "{said}"
    );
    assert_eq!(folder.names(), ["a.comp", "a.wgsl", "crosslane.toml"]);
}

#[test]
fn outputs_of_one_name_are_told_with_their_defines() {
    let folder = project("fault-defines");
    let values = manifest("\"a.comp\"", "defines = { A = [\"x y\", \"x_y\"], B = 2 }\n");
    folder.file("crosslane.toml", &values);
    let output = folder.run(&["build"]);
    let says = "two outputs are called out/a.A-x_y.spirv-1.5.spv: a.comp for spirv-1.5 with A=x y, B=2 \
                (crosslane.toml:2) and a.comp for spirv-1.5 with A=x_y, B=2 (crosslane.toml:2)";
    assert!(stderr(&output).contains(says), "{}", stderr(&output));
    let twice = [manifest("\"a.comp\"", "defines = { A = 1 }\n"), manifest("\"a.comp\"", "")].concat();
    folder.file("crosslane.toml", twice);
    let output = folder.run(&["build"]);
    let says = "a.comp for spirv-1.5 with A=1 (crosslane.toml:2) and a.comp for spirv-1.5 (crosslane.toml:7)";
    assert!(stderr(&output).contains(says), "{}", stderr(&output));
}

#[test]
fn a_product_has_a_limit() {
    let folder = project("fault-product");
    let list = (0..1000).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    for command in [&["build"][..], &["build", "--check"], &["build", "--emit-ninja"], &["snapshot"]] {
        folder.file(
            "crosslane.toml",
            manifest("\"*.comp\"", &format!("defines = {{ A = [{list}], B = [{list}], C = 1 }}\n")),
        );
        let output = folder.run(command);
        assert_eq!(status(&output), 2, "{}", stderr(&output));
        let says = "error: crosslane.toml:2:11: more than 100000 outputs: the product of A (1000) and B (1000)\n";
        assert!(stderr(&output).starts_with(says), "{command:?}: {}", stderr(&output));
    }
    let tens = (0..10).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let many: String = (0..20).map(|n| format!("M{n} = [{tens}], ")).collect();
    folder
        .file("crosslane.toml", manifest("\"*.comp\"", &format!("defines = {{ {} }}\n", many.trim_end_matches(", "))));
    assert!(stderr(&folder.run(&["build"])).contains("M0 (10) and M1 (10) and "));
}

/// 2 to the 20th paths lead through these links, and infinitely many through those to `.`.
#[test]
fn links_in_circles_end() {
    let folder = project("fault-links");
    folder.file("crosslane.toml", manifest("\"**/*.comp\"", ""));
    let mut here = folder.0.join("deep");
    fs::create_dir(&here).unwrap();
    for n in 0..20 {
        let next = folder.0.join(format!("level{n}"));
        fs::create_dir(&next).unwrap();
        for link in ["x", "y"] {
            symlink(&next, here.join(link)).unwrap();
        }
        here = next;
    }
    fs::write(here.join("b.comp"), SHADER).unwrap();
    for link in ["l1", "l2"] {
        symlink(".", folder.0.join(link)).unwrap();
        symlink("..", here.join(link)).unwrap();
    }
    for command in [&["build"][..], &["build", "--check"], &["build", "--emit-ninja"]] {
        assert_eq!(status(&folder.run(command)), 0, "{command:?}");
    }
    let ninja = fs::read_to_string(folder.0.join("build.ninja")).unwrap();
    assert_eq!(ninja.matches(": shader ").count(), 2, "{ninja}");
    assert!(ninja.contains("build out/level19/b.spirv-1.5.spv"), "{ninja}");
    symlink(".", folder.0.join("snapshots")).unwrap();
    assert_eq!(status(&folder.run(&["snapshot"])), 1);
}

#[test]
fn an_include_by_a_link_out_of_the_tree_is_refused() {
    let folder = project("fault-link-out");
    fs::create_dir_all(folder.0.join("tree/inc")).unwrap();
    fs::create_dir_all(folder.0.join("secret")).unwrap();
    folder.file("secret/x.glsl", "const uint X = 1u;\n");
    let include = "#extension GL_GOOGLE_include_directive : require\n#include \"inc/x.glsl\"\nlayout(local";
    folder.file("tree/a.comp", SHADER.replace("layout(local", include));
    folder.file("tree/crosslane.toml", manifest("\"*.comp\"", ""));
    let build = || folder.run(&["build", "--manifest", "tree/crosslane.toml"]);
    symlink("../../secret/x.glsl", folder.0.join("tree/inc/x.glsl")).unwrap();
    let output = build();
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("tree/inc/x.glsl lies outside the manifest's folder"), "{}", stderr(&output));
    fs::remove_file(folder.0.join("tree/inc/x.glsl")).unwrap();
    fs::remove_dir(folder.0.join("tree/inc")).unwrap();
    symlink("../secret", folder.0.join("tree/inc")).unwrap();
    assert_eq!(status(&build()), 2, "by a link to a folder");
    folder.file("tree/crosslane.toml", manifest("\"*.comp\"", "options = { include-dirs = [\"../secret\"] }\n"));
    assert_eq!(status(&build()), 0, "where it is allowed");
    fs::remove_file(folder.0.join("tree/inc")).unwrap();
    fs::create_dir(folder.0.join("tree/inc")).unwrap();
    folder.file("tree/own.glsl", "const uint X = 2u;\n");
    symlink("../own.glsl", folder.0.join("tree/inc/x.glsl")).unwrap();
    folder.file("tree/crosslane.toml", manifest("\"*.comp\"", ""));
    assert_eq!(status(&build()), 0, "inside of the tree");
}

#[test]
fn no_output_is_a_source() {
    let folder = project("fault-sources");
    let include = "#extension GL_GOOGLE_include_directive : require\n#include \"out/a.spirv-1.5.spv\"\nlayout(local";
    fs::create_dir(folder.0.join("out")).unwrap();
    fs::hard_link(folder.0.join("a.comp"), folder.0.join("out/a.spirv-1.5.spv")).unwrap();
    for command in [&["build"][..], &["snapshot", "--accept"], &["build", "--emit-ninja"]] {
        let output = folder.run(command);
        let says = "the output out/a.spirv-1.5.spv is the same file as the shader a.comp";
        assert!(status(&output) == 2 && stderr(&output).contains(says), "{command:?}: {}", stderr(&output));
    }
    fs::remove_file(folder.0.join("out/a.spirv-1.5.spv")).unwrap();
    folder.file("out/a.spirv-1.5.spv", "const uint X = 1u;\n");
    folder.file("b.comp", SHADER.replace("layout(local", include));
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("out/a.spirv-1.5.spv is an output of this build"), "{}", stderr(&output));
}

/// A test of the cache: the clock of the file system is turned back by hand.
#[test]
fn a_change_of_equal_size_and_time_is_seen() {
    let folder = project("fault-same-time");
    let path = folder.0.join("out/a.spirv-1.5.spv");
    let build = || stderr(&folder.run(&["build"]));
    build();
    let (bytes, time) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
    let reset = || fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(build().starts_with("all 1 outputs are up to date"));
    let other: Vec<u8> = bytes.iter().map(|byte| byte ^ 1).collect();
    fs::write(&path, &other).unwrap();
    reset();
    assert!(build().starts_with("building 1 of 1 outputs"), "written in place");
    assert_eq!(fs::read(&path).unwrap(), bytes);
    folder.file("new", &other);
    fs::rename(folder.0.join("new"), &path).unwrap();
    reset();
    assert!(build().starts_with("building 1 of 1 outputs"), "replaced");
    assert_eq!(fs::read(&path).unwrap(), bytes);
    reset();
    assert!(build().starts_with("all 1 outputs are up to date"), "the time alone is not a change");
}

#[test]
fn an_out_dir_has_one_name() {
    let folder = project("fault-one-folder");
    fs::create_dir(folder.0.join("out")).unwrap();
    symlink("out", folder.0.join("link")).unwrap();
    let other = manifest("\"a.comp\"", "").replace("spirv-1.5", "spirv-1.6").replace("\"out\"", "\"link\"");
    folder.file("crosslane.toml", [manifest("\"a.comp\"", ""), other].concat());
    let mut child = folder.command(&["build"]).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..600 {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    assert!(stderr(&output).contains("the out-dirs out and link are one folder"), "{}", stderr(&output));
    assert_eq!(status(&output), 2);
}

#[test]
fn a_pipe_in_the_place_of_an_output_is_told() {
    let folder = project("fault-pipe");
    fs::create_dir(folder.0.join("out")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.0.join("out/a.spirv-1.5.spv")).status().unwrap().success());
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("not a regular file"), "{}", stderr(&output));
    assert_eq!(status(&folder.run(&["build", "--check"])), 1);
}

#[test]
fn an_include_outside_the_tree_is_refused() {
    let folder = project("fault-outside");
    fs::create_dir_all(folder.0.join("tree")).unwrap();
    folder.file("x.glsl", "const uint X = 1u;\n");
    let include = "#extension GL_GOOGLE_include_directive : require\n#include \"../x.glsl\"\nlayout(local";
    folder.file("tree/a.comp", SHADER.replace("layout(local", include));
    folder.file("tree/crosslane.toml", manifest("\"*.comp\"", ""));
    let output = folder.run(&["build", "--manifest", "tree/crosslane.toml"]);
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("x.glsl lies outside the manifest's folder"), "{}", stderr(&output));
    assert!(stderr(&output).contains("tree/a.comp:3:10"), "{}", stderr(&output));
    assert!(!folder.0.join("tree/out/a.spirv-1.5.spv").exists());
    folder.file("tree/crosslane.toml", manifest("\"*.comp\"", "options = { include-dirs = [\"..\"] }\n"));
    assert_eq!(status(&folder.run(&["build", "--manifest", "tree/crosslane.toml"])), 0, "where it is allowed");
}

#[test]
fn a_shader_that_cannot_be_read_is_told() {
    let folder = project("fault-unreadable");
    folder.file("b.comp", [0xff, 0xfe, 0x00]);
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 1, "a shader that is not UTF-8 is wrong");
    assert!(stderr(&output).contains("this part of the source is not UTF-8"), "{}", stderr(&output));
    assert!(folder.0.join("out/a.spirv-1.5.spv").exists(), "the other is built");
}

/// The capability to write where the permissions of a file forbid it (`linux/capability.h`).
const CAP_DAC_OVERRIDE: libc::c_ulong = 1;

/// Runs a build that permissions bind, even if root runs the tests. Another user might not reach the binary.
fn build_within_permissions(folder: &Folder) -> Output {
    let mut command = folder.command(&["build"]);
    // SAFETY: `prctl` may be called between fork and exec. It fails only for users who lack the capability anyway.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);
            Ok(())
        })
    };
    command.output().unwrap()
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let folder = project("fault-readonly");
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o755)).unwrap();
    let out = folder.0.join("out");
    fs::create_dir(&out).unwrap();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o555)).unwrap();
    let output = build_within_permissions(&folder);
    fs::set_permissions(&out, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("error: cannot write the folder out: Permission denied"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_written_and_need_not_be_is_no_error() {
    let folder = project("fault-current");
    assert_eq!(status(&folder.run(&["build"])), 0);
    let out = folder.0.join("out");
    for path in [&out, &out.join(".crosslane")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o555)).unwrap();
    }
    let output = build_within_permissions(&folder);
    for path in [&out, &out.join(".crosslane")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(status(&output), 0, "{}", stderr(&output));
}

#[test]
fn an_output_in_the_place_of_a_folder_is_told() {
    let folder = project("fault-file");
    folder.file("out", "a file");
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("cannot write the folder out"), "{}", stderr(&output));
}

/// A small file system in memory, in a separate mount namespace, has room for the first output and not for the second.
#[test]
fn a_full_disk_leaves_whole_files() {
    let folder = project("fault-full");
    folder.file("crosslane.toml", manifest("\"*.comp\"", "").replace("\"spirv-1.5\"", "\"spirv-1.5\", \"nv-volta\""));
    let many: String = (0..3000).map(|n| format!("x[{n}] = x[{n}] * {n}u + 1u;")).collect();
    folder.file("b.comp", SHADER.replace("x[gl_", &format!("{many} x[gl_")));
    fs::create_dir_all(folder.0.join("out")).unwrap();
    fs::create_dir_all(folder.0.join("kept")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=64k none out && {{ {} build -j1; code=$?; cp -r out/. kept; exit $code; }}",
        env!("CARGO_BIN_EXE_crosslane")
    );
    let mut command = Command::new("unshare");
    let output = command.args(["-r", "-m", "sh", "-c", &script]).current_dir(&folder.0).output().unwrap();
    let said = stderr(&output);
    if said.contains("unshare:") || said.contains("mount:") {
        assert!(!support::judge::required(), "no small disk: {said}");
        return eprintln!("skipped, since no small disk can be had: {said}");
    }
    assert_eq!(status(&output), 2, "{said}");
    assert!(said.contains("cannot write out/b.") && said.contains("No space left on device"), "{said}");
    assert_eq!(said.matches("error[").count(), 1, "{said}");
    let kept = names(&folder.0.join("kept"));
    assert!(kept.keys().all(|name| name.starts_with("a.")), "{:?}", kept.keys());
    let reference = project("fault-full-reference");
    reference.file("crosslane.toml", fs::read(folder.0.join("crosslane.toml")).unwrap());
    assert_eq!(status(&reference.run(&["build"])), 0);
    let whole = names(&reference.0.join("out"));
    assert!(kept.iter().all(|(name, bytes)| whole[name] == *bytes), "what is there is whole");
}

/// The files in a folder, except hidden ones.
fn names(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let plain = entries.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'));
    plain.map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), fs::read(&path).unwrap())).collect()
}

#[test]
fn a_kill_at_any_moment_leaves_whole_files() {
    let folder = project("fault-kill");
    for n in 0..12 {
        folder.file(&format!("s{n}.comp"), SHADER.replace("1u", &format!("{n}u")));
    }
    let text = manifest("\"*.comp\"", "").replace("\"spirv-1.5\"", "\"spirv-1.5\", \"spirv-1.6\", \"nv-volta\"");
    folder.file("crosslane.toml", text);
    assert_eq!(status(&folder.run(&["build"])), 0);
    let out = folder.0.join("out");
    let whole = names(&out);
    assert_eq!(whole.len(), 39);
    let start = std::time::Instant::now();
    fs::remove_dir_all(&out).unwrap();
    assert_eq!(status(&folder.run(&["build"])), 0);
    let longest = start.elapsed().as_micros() as u64;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..50 {
        fs::remove_dir_all(&out).unwrap();
        let mut child = folder.command(&["build", "-q"]).stderr(Stdio::null()).spawn().unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((random >> 33) % longest));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = names(&out);
        assert!(left.iter().all(|(name, bytes)| whole.get(name) == Some(bytes)), "{:?}", left.keys());
        assert_eq!(status(&folder.run(&["build"])), 0);
        assert_eq!(names(&out), whole, "the next run ends the work");
        let rests = fs::read_dir(out.join(".crosslane")).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(rests.into_iter().all(|name| !name.to_string_lossy().ends_with(".tmp")));
    }
}
