//! The loaders under `examples/loaders` compile without a warning; Vulkan's runs on lavapipe.

use crate::folder::{Folder, status, stderr};
use std::path::Path;
use std::process::Command;
use support::judge;

const WARNINGS: [&str; 3] = ["-Wall", "-Wextra", "-Werror"];

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/loaders").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// Builds a loader as a program in the folder; returns `None` if a compiler or header is missing and not required.
fn build(folder: &Folder, header: &str, compiler: &str, arguments: &[&str]) -> Option<()> {
    if !Path::new("/usr/include").join(header).exists() && !header.is_empty() {
        assert!(!judge::required(), "no {header}");
        eprintln!("skipped, since there is no {header}");
        return None;
    }
    let (done, text) = folder.say(compiler, &[&WARNINGS, arguments].concat())?;
    assert!(done, "{text}");
    Some(())
}

fn compile(folder: &Folder, arguments: &[&str]) {
    let output = folder.run(&[&["compile", &*source("sums.comp")], arguments].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
}

#[test]
fn vulkan() {
    let folder = Folder::new("loader-vulkan");
    compile(&folder, &["-p", "spirv-1.6", "-o", "sums.spv"]);
    let arguments = [&*source("vulkan.c"), "-lvulkan", "-o", "loader"];
    let Some(((), manifest)) = build(&folder, "vulkan/vulkan.h", "cc", &arguments).zip(judge::need_or_skip("lvp.json"))
    else {
        return;
    };
    let mut command = Command::new(folder.0.join("loader"));
    let output = command.current_dir(&folder.0).arg("sums.spv").env("VK_ICD_FILENAMES", &manifest).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "140 1100 3084 6092 10124 15180 21260 28364 \n");
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn opengl() {
    let folder = Folder::new("loader-opengl");
    compile(&folder, &["-p", "nv-ampere", "-o", "sums.glasm"]);
    build(&folder, "EGL/egl.h", "cc", &[&source("opengl.c"), "-lEGL", "-lGL", "-o", "loader"]);
}

/// With declarations only: the libraries for CUDA are not installed everywhere.
#[test]
fn cuda() {
    let folder = Folder::new("loader-cuda");
    let include = format!("-I{}", source("stub"));
    build(&folder, "", "cc", &[&include, "-c", &source("cuda.c"), "-o", "loader.o"]);
}

/// With declarations only: the libraries for HIP are not installed everywhere.
#[test]
fn hip() {
    let folder = Folder::new("loader-hip");
    let include = format!("-I{}", source("stub"));
    build(&folder, "", "c++", &["-std=c++17", &include, "-c", &source("hip.cpp"), "-o", "loader.o"]);
}

/// The numbers in the loaders are those in the reflection.
#[test]
fn loaders_hold_what_reflection_says() {
    let folder = Folder::new("loader-reflection");
    let reflection = |profile: &str| {
        compile(&folder, &["-p", profile, "--emit", "reflection", "-o", "r.json"]);
        let text = std::fs::read_to_string(folder.0.join("r.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let vulkan = reflection("spirv-1.6");
    assert_eq!(vulkan["workgroup_size"], serde_json::json!([64, 1, 1]));
    assert_eq!(
        (&vulkan["vulkan"]["least_subgroup_size"], &vulkan["vulkan"]["full_subgroups"]),
        (&4.into(), &true.into())
    );
    let gl = reflection("nv-ampere");
    assert_eq!((&gl["gl"]["program_target"], &gl["gl"]["program_format"]), (&37115.into(), &34933.into()));
    assert_eq!((&gl["local_parameters"], &gl["buffers"][1]["gl_index"]), (&0.into(), &1.into()));
    let cuda = reflection("ptx-sm70");
    assert_eq!((&cuda["symbol"], &cuda["workgroup_size"]), (&"main".into(), &serde_json::json!([64, 1, 1])));
    let bindings: Vec<_> = cuda["parameters"].as_array().unwrap().iter().map(|it| &it["buffer"]["binding"]).collect();
    assert_eq!((bindings, &cuda["parameters"][0]["kind"]), (vec![&0.into(), &1.into()], &"address".into()));
    let hip = reflection("gfx1100");
    assert_eq!((&hip["argument_bytes"], &hip["symbol"]), (&16.into(), &"main".into()));
    assert_eq!((&hip["arguments"][0]["offset"], &hip["arguments"][1]["offset"]), (&0.into(), &8.into()));
}
