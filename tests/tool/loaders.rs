//! The loaders under `examples/loaders` compile without a warning; those of Vulkan and WebGPU run on lavapipe.

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

/// Promises about subgroups, each with true if a device whose subgroups have 8 lanes keeps it.
const PROMISES: [(&str, bool); 4] = [("any", true), ("8", true), ("16..", false), ("16", false)];

/// The sums that the loaders print.
const SUMS: &str = "140 1100 3084 6092 10124 15180 21260 28364";

#[test]
fn vulkan() {
    let folder = Folder::new("loader-vulkan");
    if judge::need_or_skip("lvp.json").is_none() {
        return;
    }
    for (promise, ran) in PROMISES {
        compile(&folder, &["-p", "spirv-1.6", "--wave-size", promise, "-o", "sums.spv"]);
        let reflection = reflection(&folder, "spirv-1.6", &["--wave-size", promise]);
        let number = |key: &str| reflection["vulkan"][key].as_u64().unwrap_or(0);
        let (least, required) = (number("least_subgroup_size"), number("required_subgroup_size"));
        let loader = std::fs::read_to_string(source("vulkan.c")).unwrap();
        let defined = |text: String, name: &str, value: u64| {
            text.lines()
                .map(|line| match line.strip_prefix(&format!("#define {name} ")) {
                    Some(_) => format!("#define {name} {value}u\n"),
                    None => format!("{line}\n"),
                })
                .collect::<String>()
        };
        let loader = defined(defined(loader, "LEAST_SUBGROUP_SIZE", least), "REQUIRED_SUBGROUP_SIZE", required);
        folder.file("vulkan.c", loader);
        let include = format!("-I{}", Path::new(&source("vulkan.c")).parent().unwrap().display());
        if build(&folder, "vulkan/vulkan.h", "cc", &["vulkan.c", &include, "-lvulkan", "-o", "loader"]).is_none() {
            return;
        }
        let mut command = Command::new(folder.0.join("loader"));
        support::lavapipe::choose(&mut command, 8).expect("lavapipe");
        let output = command.current_dir(&folder.0).arg("sums.spv").output().unwrap();
        assert_eq!(output.status.success(), ran, "{promise}: {}", stderr(&output));
        let (out, err) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert!(
            if ran { out.trim_end() == SUMS } else { err.starts_with("failed: subgroups of ") },
            "{promise}: {out}{err}"
        );
    }
}

/// The loader of WebGPU reads the reflection: it refuses subgroups that are too small, and sets the override.
#[test]
fn webgpu() {
    let Some(package) = judge::need_or_skip("dawn/node_modules/webgpu/package.json") else { return };
    let folder = Folder::new("loader-webgpu");
    let packages = package.ancestors().nth(3).expect("the folder of the packages");
    for (promise, ran) in PROMISES {
        compile(&folder, &["-p", "wgsl", "--wave-size", promise, "-o", "sums.wgsl"]);
        std::fs::write(folder.0.join("sums.json"), reflection(&folder, "wgsl", &["--wave-size", promise]).to_string())
            .unwrap();
        let [text, json] = ["sums.wgsl", "sums.json"].map(|name| folder.0.join(name));
        let mut command = Command::new("node");
        command.arg(source("webgpu.mjs")).args([text, json]).current_dir(packages);
        support::lavapipe::choose(&mut command, 8).expect("lavapipe");
        let output = command.output().expect("node");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert_eq!(output.status.success(), ran, "{promise}: {out}{err}");
        assert!(
            if ran { out.contains(SUMS) } else { err.contains("failed: subgroups of 16 lanes") },
            "{promise}: {out}{err}"
        );
    }
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

fn reflection(folder: &Folder, profile: &str, more: &[&str]) -> serde_json::Value {
    compile(folder, &[&["-p", profile, "--emit", "reflection", "-o", "r.json"], more].concat());
    let text = std::fs::read_to_string(folder.0.join("r.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The numbers in the loaders are those in the reflection.
#[test]
fn loaders_hold_what_reflection_says() {
    let folder = Folder::new("loader-reflection");
    let reflection = |profile: &str| reflection(&folder, profile, &[]);
    let vulkan = reflection("spirv-1.6");
    assert_eq!(vulkan["workgroup_size"], serde_json::json!([64, 1, 1]));
    assert_eq!(
        (&vulkan["vulkan"]["least_subgroup_size"], &vulkan["vulkan"]["full_subgroups"]),
        (&4.into(), &true.into())
    );
    assert!(vulkan["vulkan"]["required_subgroup_size"].is_null());
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
