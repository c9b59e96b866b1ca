//! Subgroup sizes that a shader promises itself: `#pragma crosslane wave_size`, in every command.

use crate::folder::{Folder, status, stderr, stdout};
use crosslane::build::Builder;
use crosslane::compile::{Input, Language, Options};
use crosslane::editor::{Analysis, Source};
use crosslane::explain::prices::Answer;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use serde_json::Value;
use std::fs;
use support::{judge, lavapipe};

/// Segments of 8 and 16 lanes.
const SHADER: &str = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
                      layout(binding = 0) buffer B { uint x[]; };\n\
                      void main() { uint i = gl_GlobalInvocationID.x; x[i] = allReduceAdd8(x[i]) + exclusiveAdd16(x[i]); }\n";

fn promising(size: &str) -> String {
    SHADER.replacen('\n', &format!("\n#pragma crosslane wave_size({size})\n"), 1)
}

/// A folder with the shader under the name of its promise: `any.comp`, `16.comp`, `least16.comp`; `plain.comp` makes none.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("plain.comp", SHADER.replacen('\n', "\n\n", 1));
    for size in ["any", "8", "16", "32", "64", "8..", "16..", "32..", "64.."] {
        let least = size.strip_suffix("..").map(|lanes| format!("least{lanes}"));
        folder.file(&format!("{}.comp", least.as_deref().unwrap_or(size)), promising(size));
    }
    folder
}

fn compiled(folder: &Folder, file: &str, options: &[&str]) -> String {
    let output = folder.run(&[&["compile", file, "-S", "-o", "-"], options].concat());
    assert_eq!(status(&output), 0, "{file} {options:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn a_pragma_is_the_option() {
    let folder = folder("promise-same");
    for profile in
        ["spirv-1.6", "wgsl", "hlsl-6.5", "glsl-450-khr", "msl-3.0", "gfx1100", "gfx900", "nv-ampere", "ptx-sm70"]
    {
        for (file, size) in [("least16.comp", "16.."), ("least8.comp", "8..")] {
            let by_option = compiled(&folder, "plain.comp", &["-p", profile, "--wave-size", size]);
            let by_pragma = compiled(&folder, file, &["-p", profile]);
            assert_eq!(by_pragma.replace(file, "plain.comp"), by_option, "{profile} {size}");
            let told = by_option.lines().filter(|line| line.contains(" For subgroups of ")).count();
            assert_eq!(told, 1, "{profile} {size}: {by_option}");
            assert!(!compiled(&folder, "any.comp", &["-p", profile, "-w"]).contains("For subgroups of"), "{profile}");
        }
    }
    for profile in ["spirv-1.6", "wgsl", "hlsl-6.5", "glsl-450-khr"] {
        let by_option = compiled(&folder, "plain.comp", &["-p", profile, "--wave-size", "32"]);
        assert_eq!(
            compiled(&folder, "32.comp", &["-p", profile]).replace("32.comp", "plain.comp"),
            by_option,
            "{profile}"
        );
        assert!(by_option.contains("For subgroups of 32 lanes."), "{profile}: {by_option}");
    }
}

#[test]
fn both_promises_hold() {
    let folder = folder("promise-both");
    let head = |file: &str, size: &str| {
        let text = compiled(&folder, file, &["-p", "wgsl", "--wave-size", size, "-w"]);
        text.lines().find_map(|line| line.strip_prefix("// For subgroups of ")).map(str::to_owned)
    };
    assert_eq!(head("least8.comp", "16..").as_deref(), Some("16 lanes and more."));
    assert_eq!(head("least16.comp", "8..").as_deref(), Some("16 lanes and more."));
    assert_eq!(head("least16.comp", "32").as_deref(), Some("32 lanes."));
    assert_eq!(head("32.comp", "16..").as_deref(), Some("32 lanes."));
    assert_eq!(head("any.comp", "16..").as_deref(), Some("16 lanes and more."));
    assert_eq!(head("least16.comp", "any").as_deref(), Some("16 lanes and more."));
    let refused = |arguments: &[&str]| {
        let output = folder.run(&[&["compile", "-S", "-o", "-"], arguments].concat());
        assert_eq!((status(&output), stdout(&output)), (3, String::new()), "{arguments:?}");
        stderr(&output)
    };
    for (arguments, reason) in [
        (
            &["64.comp", "-p", "wgsl", "--wave-size=32"][..],
            "wave_size(64): subgroups of 32 lanes are promised for wgsl",
        ),
        (
            &["8.comp", "-p", "wgsl", "--wave-size=16.."],
            "wave_size(8): subgroups of 16 lanes and more are promised for wgsl",
        ),
        (&["16.comp", "-p", "spirv-amd"], "wave_size(16): subgroups of 32 lanes and more are promised for spirv-amd"),
        (&["least64.comp", "-p", "gfx1100"], "wave_size(64..): gfx1100-wave32 has waves of 32 lanes"),
        (&["64.comp", "-p", "nv-ampere"], "wave_size(64): there are no waves of 64 lanes on NVIDIA's hardware"),
        (&["64.comp", "-p", "msl-3.0"], "wave_size(64): there are no waves of 64 lanes on msl-3.0"),
        (&["32.comp", "-p", "gfx900"], "wave_size(32): there are no waves of 32 lanes on gfx900"),
    ] {
        let said = refused(arguments);
        assert!(said.starts_with(&format!("error[E0701]: {reason}")), "{arguments:?}: {said}");
        assert!(said.contains(&format!("{}:2:1", arguments[0])), "{said}");
    }
    // The option chooses waves that the profile does not have by itself.
    assert!(refused(&["64.comp", "-p", "gfx1100"]).contains("`--wave-size 64` chooses others"));
    compiled(&folder, "64.comp", &["-p", "gfx1100", "--wave-size", "64"]);
    compiled(&folder, "64.comp", &["-p", "gfx1100-wave64"]);
}

#[test]
fn the_macro_has_the_promised_size() {
    let folder = Folder::new("promise-macro");
    let text = "#version 450\n#ifdef CROSSLANE_SUBGROUP_SIZE\n#error known\n#endif\n#pragma crosslane wave_size(32)\n\
                layout(local_size_x = CROSSLANE_SUBGROUP_SIZE) in;\nvoid main() { }\n";
    folder.file("a.comp", text);
    assert!(compiled(&folder, "a.comp", &[]).contains("LocalSize 32 1 1"));
    folder.file("a.comp", text.replace("(32)", "(32..)"));
    assert_eq!(status(&folder.run(&["compile", "a.comp"])), 1, "a minimum is not a size");
}

#[test]
fn reflections_and_builds_state_it() {
    let folder = folder("promise-reflection");
    let sizes = |file: &str, profile: &str, part: &str, wave: &str| {
        let output = folder.run(&["compile", file, "-p", profile, "--emit", "reflection"]);
        let all: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        [format!("least_{wave}_size"), format!("required_{wave}_size")].map(|key| all[part][key].as_u64())
    };
    for (profile, part, wave) in [
        ("spirv-1.6", "vulkan", "subgroup"),
        ("wgsl", "webgpu", "subgroup"),
        ("hlsl-6.5", "direct3d", "wave"),
        ("glsl-450-khr", "glsl", "subgroup"),
    ] {
        assert_eq!(sizes("least32.comp", profile, part, wave), [Some(32), None], "{profile}");
        assert_eq!(sizes("64.comp", profile, part, wave), [Some(64), Some(64)], "{profile}");
    }
    let out = folder.0.join("built");
    let built = Builder::new().profile("spirv-1.6").out_dir(&out).cargo_metadata(false);
    built.compile([folder.0.join("least16.comp"), folder.0.join("64.comp")]).expect("they are right");
    let text = fs::read_to_string(out.join("shaders.rs")).expect("the constants");
    for facts in [
        "subgroup_size: None,\n        least_subgroup_size: 16,",
        "subgroup_size: Some(64),\n        least_subgroup_size: 64,",
    ] {
        assert!(text.contains(facts), "{facts}\n{text}");
    }
    let refused = Builder::new().profile("nv-volta").out_dir(&out).cargo_metadata(false);
    assert!(refused.compile([folder.0.join("64.comp")]).is_err());
    folder.file(
        "crosslane.toml",
        "[[build]]\nshaders = [\"least16.comp\"]\nprofiles = [\"spirv-1.6\"]\nwave-sizes = [\"any\", 8, 32]\nout-dir = \"out\"\n\
         options = { emit = \"assembly\", no-warnings = true }\n",
    );
    let output = folder.run(&["build"]);
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("error[").count(), 1, "{}", stderr(&output));
    let head = |name: &str| fs::read_to_string(folder.0.join("out").join(name)).ok()?.lines().next().map(str::to_owned);
    assert_eq!(head("least16.spirv-1.6.spvasm").as_deref(), Some("; For subgroups of 16 lanes and more."));
    assert_eq!(head("least16.wave32.spirv-1.6.spvasm").as_deref(), Some("; For subgroups of 32 lanes."));
    assert_eq!(head("least16.wave8.spirv-1.6.spvasm"), None);
}

#[test]
fn reports_ask_the_promised_sizes() {
    let folder = folder("promise-reports");
    let profiles = ["-p", "spirv-1.6", "-p", "gfx1100-wave32", "-p", "gfx1100-wave64", "-p", "nv-ampere"];
    let output = folder.run(&[&["check", "64.comp"], &profiles[..]].concat());
    let told = stdout(&output);
    assert!(told.contains("can run it: spirv-1.6 gfx1100-wave64\ncannot: gfx1100-wave32 nv-ampere"), "{told}");
    assert!(told.contains("nv-ampere: wave_size(64): there are no waves of 64 lanes on NVIDIA's hardware"), "{told}");
    let output = folder.run(&["check", "plain.comp", "-p", "spirv-1.6"]);
    assert!(stdout(&output).contains("in narrower subgroups"), "{}", stdout(&output));
    let output = folder.run(&["check", "least16.comp", "-p", "spirv-1.6"]);
    assert!(!stdout(&output).contains("in narrower subgroups"), "{}", stdout(&output));
    let report = |file: &str| -> Value {
        let output = folder.run(&["explain", file, "-p", "spirv-1.6", "--json"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).expect("JSON")
    };
    assert_eq!(report("8.comp")["profiles"][0]["wave_size"], 8);
    assert_eq!(report("8.comp")["operations"][1]["profiles"][0]["status"], "spanning");
    assert_eq!(report("least16.comp")["operations"][1]["profiles"][0]["status"], "planned");
    assert_eq!(status(&folder.run(&["explain", "64.comp", "-p", "nv-ampere"])), 3);
}

/// The notes about operations that depend on the size, which `--wave-size any` prints.
#[test]
fn a_shader_for_any_size_is_told_what_depends_on_it() {
    let folder = Folder::new("promise-any");
    folder.file("a.comp", promising("any").replace("allReduceAdd8", "allReduceAdd"));
    let notes = |more: &[&str]| {
        let output = folder.run(&[&["compile", "a.comp", "-o", "a.out", "-S"], more].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        stderr(&output).matches("note[N0500]").count()
    };
    assert_eq!(
        [notes(&[]), notes(&["-Wno-wave-size"]), notes(&["--wave-size", "32"]), notes(&["-p", "gfx1100"])],
        [1, 0, 0, 0]
    );
}

#[test]
fn editors_show_the_plans_of_the_promised_size() {
    let answer = |text: &str| {
        let input = Input { name: "a.comp", bytes: text.as_bytes(), language: Language::Glsl };
        let options = ["spirv-1.6", "nv-ampere"].map(|name| Options::new(Profile::named(name).expect("built in")));
        let source = Source { input, options: &options, loader: &NoIncludes, is_header: false };
        let analysis = Analysis::new(&source);
        let messages: Vec<String> = analysis.messages(&source).iter().map(|message| message.text()).collect();
        let priced = analysis.prices(&source);
        (priced[1].answers.clone(), messages)
    };
    let (answers, messages) = answer(&promising("8"));
    assert!(matches!(answers[0], Answer::Spanning(_)), "{answers:?}");
    assert!(
        messages.iter().any(|message| message.contains("wave_size(8)") && message.contains("nv-ampere")),
        "{messages:?}"
    );
    let (answers, messages) = answer(&promising("16.."));
    assert!(matches!(answers[0], Answer::Planned { narrower: None, .. }), "{answers:?}");
    assert_eq!(messages, [""; 0]);
}

const RUN: [&str; 4] = ["-b", "0=iota:u32:64", "--print", "0"];

#[test]
fn runs_have_waves_that_keep_both_promises() {
    let folder = Folder::new("promise-run");
    let shader = "#version 450\n#pragma crosslane wave_size(PROMISE)\n#extension GL_KHR_shader_subgroup_basic : require\n\
                  layout(local_size_x = 64) in;\nlayout(binding = 0) buffer B { uint x[]; };\n\
                  void main() { x[gl_LocalInvocationIndex] = gl_SubgroupSize; }\n";
    let lanes = |promise: &str, more: &[&str]| {
        folder.file("a.comp", shader.replace("PROMISE", promise));
        let output = folder.run(&[&["run", "a.comp"], &RUN[..], more].concat());
        match status(&output) {
            0 => Ok(stdout(&output).split_whitespace().last().unwrap_or_default().to_owned()),
            code => Err((code, stderr(&output))),
        }
    };
    for (promise, more, expected) in [
        ("any", &[][..], "32"),
        ("64..", &[], "64"),
        ("16..", &[], "32"),
        ("8", &[], "8"),
        ("16..", &["--wave-size", "64"], "64"),
        ("16..", &["--wave-size", "64.."], "64"),
        ("any", &["--wave-size", "64.."], "64"),
        ("any", &["--wave-size", "8.."], "32"),
        ("any", &["--wave-size", "any"], "32"),
        ("16..", &["-p", "gfx1100"], "32"),
        ("64", &["-p", "gfx1100-wave64"], "64"),
    ] {
        assert_eq!(lanes(promise, more).as_deref(), Ok(expected), "{promise} {more:?}");
    }
    for (promise, more, code, reason) in [
        ("16..", &["--wave-size", "8"][..], 3, "subgroups of 8 lanes are promised for spirv-1.6"),
        ("64", &["-p", "nv-ampere"], 3, "there are no waves of 64 lanes on NVIDIA's hardware"),
        ("128..", &[], 2, "spirv-1.6 has waves of 128 lanes; `run` has at most 64"),
        ("any", &["--wave-size", "64..", "-p", "nv-ampere"], 2, "nv-ampere has waves of 32 lanes"),
        ("any", &["--wave-size", "any", "-p", "nv-ampere"], 2, "hardware has waves of a fixed size"),
        ("any", &["--wave-size", "12.."], 2, "16.. is a minimum"),
        ("any", &["--wave-size", "128"], 2, "a wave has 4, 8, 16, 32 or 64 lanes"),
    ] {
        let (found, said) = lanes(promise, more).expect_err(promise);
        assert_eq!(found, code, "{promise} {more:?}: {said}");
        assert!(said.contains(reason), "{promise} {more:?}: {said}");
    }
}

#[test]
fn vulkan_devices_keep_the_promise_or_do_not_run() {
    if judge::need_or_skip("lvp.json").is_none() {
        return;
    }
    let folder = folder("promise-vulkan");
    let run = |file: &str, size: &str| {
        let mut command =
            folder.command(&[&["run", file, "--on", "sim,vulkan", "--wave-size", size], &RUN[..]].concat());
        lavapipe::choose(&mut command, 8).expect("lavapipe");
        let output = command.output().expect("the command starts");
        (status(&output), stderr(&output))
    };
    for (file, size) in
        [("plain.comp", "any"), ("plain.comp", "8.."), ("plain.comp", "8"), ("least8.comp", "any"), ("8.comp", "any")]
    {
        assert_eq!(run(file, size), (0, String::new()), "{file} {size}");
    }
    for (file, size, needs) in [
        ("plain.comp", "16..", "16 lanes and more"),
        ("plain.comp", "16", "16 lanes"),
        ("least16.comp", "any", "16 lanes and more"),
        ("least8.comp", "16..", "16 lanes and more"),
        ("32.comp", "any", "32 lanes"),
    ] {
        let (code, said) = run(file, size);
        let reason = format!(": the code is for subgroups of {needs}, and this device has at most 8\n");
        assert!(
            code == 2 && said.starts_with("error: Vulkan on ") && said.ends_with(&reason),
            "{file} {size}: {code} {said}"
        );
    }
}
