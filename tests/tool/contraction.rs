//! `--fp-contract` and `#pragma crosslane fp_contract` on every target, in manifests and in build scripts.

use crate::folder::{Folder, status, stderr, stdout};
use crosslane::build::{Builder, FpContract};
use std::fs;

const SHADER: &str = "#version 450\nlayout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { float x[]; };\n\
                      void main() { uint i = gl_LocalInvocationIndex; x[i] = x[i + 32u] * x[i + 64u] + x[i + 96u]; }\n";

const PRECISE: &str = "#version 450\nlayout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { float x[]; };\n\
                       void main() { uint i = gl_LocalInvocationIndex; \
                       precise float y = x[i + 32u] * x[i + 64u] + x[i + 96u]; x[i] = y; }\n";

/// Profiles, with a word that their text contains with exact arithmetic, or does not.
const MARKS: [(&str, &str, bool); 6] = [
    ("spirv-1.3", "NoContraction", true),
    ("nv-hopper", "MUL.F32.PREC", true),
    ("glsl-450-khr", "precise", true),
    ("ptx-sm70", "fma.rn.f32", false),
    ("gfx900", "v_fma", false),
    ("gfx1100-wave64", "v_fma", false),
];

/// Returns true if the arithmetic of a shader is exact on a profile.
fn is_exact(folder: &Folder, shader: &str, mark: (&str, &str, bool), options: &[&str]) -> bool {
    let (profile, word, means_exact) = mark;
    let output = folder.run(&[&["compile", shader, "-S", "-o", "-", "-p", profile], options].concat());
    assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{profile} {options:?}");
    stdout(&output).contains(word) == means_exact
}

#[test]
fn options_choose_and_precise_is_exact() {
    let folder = Folder::new("contraction");
    folder.file("a.comp", SHADER);
    folder.file("precise.comp", PRECISE);
    let choices: [(&[&str], bool); 5] = [
        (&[], false),
        (&["--fp-contract=fast"], false),
        (&["--fp-contract=off"], true),
        (&["--reproducible"], true),
        (&["--reproducible", "--fp-contract=fast"], false),
    ];
    for mark in MARKS {
        for (options, expected) in choices {
            assert_eq!(is_exact(&folder, "a.comp", mark, options), expected, "{mark:?} {options:?}");
            assert!(is_exact(&folder, "precise.comp", mark, options), "{mark:?} {options:?}");
        }
    }
}

#[test]
fn the_shader_has_the_last_word() {
    let folder = Folder::new("contraction-pragma");
    let with = |choice: &str| SHADER.replacen('\n', &format!("\n#pragma crosslane fp_contract({choice})\n"), 1);
    folder.file("off.comp", with("off"));
    folder.file("fast.comp", with("fast"));
    for mark in MARKS {
        for options in [&[][..], &["--fp-contract=fast"], &["--fp-contract=off"], &["--reproducible"]] {
            assert!(is_exact(&folder, "off.comp", mark, options), "{mark:?} {options:?}");
            assert!(!is_exact(&folder, "fast.comp", mark, options), "{mark:?} {options:?}");
        }
    }
}

#[test]
fn languages_without_precise_say_so() {
    let folder = Folder::new("contraction-lost");
    folder.file("a.comp", SHADER);
    for profile in ["wgsl", "msl-2.1"] {
        let run = |more: &[&str]| folder.run(&[&["compile", "a.comp", "-S", "-o", "-", "-p", profile], more].concat());
        assert_eq!(stderr(&run(&[])), "", "{profile}");
        let output = run(&["--fp-contract=off"]);
        assert!(status(&output) == 0 && stderr(&output).contains("warning[W0700]"), "{}", stderr(&output));
        assert_eq!(status(&run(&["--fp-contract=off", "-Werror=precise-lost"])), 1);
    }
}

#[test]
fn wgsl_takes_the_option() {
    let folder = Folder::new("contraction-wgsl");
    let text = "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n\
                @compute @workgroup_size(1) fn go() { x[0] = x[1] * x[2] + x[3]; }\n";
    folder.file("a.wgsl", text);
    for mark in MARKS {
        assert!(!is_exact(&folder, "a.wgsl", mark, &[]), "{mark:?}");
        assert!(is_exact(&folder, "a.wgsl", mark, &["--fp-contract=off"]), "{mark:?}");
    }
}

#[test]
fn manifests_choose_too() {
    let folder = Folder::new("contraction-manifest");
    folder.file("a.comp", SHADER);
    let built = |options: &str| {
        folder.file(
            "crosslane.toml",
            format!(
                "[[build]]\nshaders = [\"a.comp\"]\nprofiles = [\"ptx-sm70\", \"gfx900\"]\nout-dir = \"out\"\n\
                 options = {{ {options} }}\n"
            ),
        );
        let output = folder.run(&["build"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        let fused = |name: &str| fs::read_to_string(folder.0.join(name)).unwrap().contains("fma");
        (fused("out/a.ptx-sm70.ptx"), fused("out/a.gfx900.s"))
    };
    assert_eq!(built(""), (true, true));
    assert_eq!(built("reproducible = true"), (false, false));
    assert_eq!(built("reproducible = true, fp-contract = \"fast\""), (true, true));
    assert_eq!(built("fp-contract = \"off\""), (false, false));
    let ninja = stdout(&folder.run(&["build", "--emit-ninja=-"]));
    assert!(ninja.contains("options = -p ptx-sm70 --fp-contract=off\n"), "{ninja}");
    folder.file(
        "crosslane.toml",
        "[[build]]\nshaders = [\"a.comp\"]\nprofiles = [\"wgsl\"]\noptions = { fp-contract = \"on\" }\n",
    );
    let output = folder.run(&["build"]);
    assert!(
        status(&output) == 2 && stderr(&output).contains("the values here are `fast`, `off`"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn build_scripts_choose_too() {
    let folder = Folder::new("contraction-builder");
    folder.file("a.comp", SHADER);
    let is_fused = |name: &str, choice: Option<FpContract>| {
        let out = folder.0.join(name);
        let builder = Builder::new().profile("ptx-sm70").out_dir(&out).cargo_metadata(false);
        let builder = choice.into_iter().fold(builder, Builder::fp_contract);
        builder.compile([folder.0.join("a.comp")]).unwrap();
        fs::read_to_string(out.join("a.ptx-sm70.ptx")).unwrap().contains("fma.rn.f32")
    };
    assert!(is_fused("default", None) && is_fused("fast", Some(FpContract::Fast)));
    assert!(!is_fused("off", Some(FpContract::Off)));
}
