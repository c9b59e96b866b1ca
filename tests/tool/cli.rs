//! The command through its binary: exit status, streams, files, spellings. The shaders are tiny; their results are
//! judged by other tests.

use crate::folder::{Folder, status, stderr, stdout};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

const GOOD: &str = "#version 450\nlayout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint x[]; };\n\
                    void main() { x[gl_GlobalInvocationID.x] = N; }\n";

#[test]
fn compiles_to_a_file_named_after_the_input() {
    let folder = Folder::new("default-name");
    folder.file("a.comp", GOOD);
    let output = folder.run(&["compile", "a.comp", "-DN=3"]);
    assert_eq!((status(&output), stderr(&output).as_str()), (0, ""));
    assert_eq!(folder.names(), ["a.comp", "a.comp.spv"]);
    let module = fs::read(folder.0.join("a.comp.spv")).unwrap();
    assert_eq!(module[..4], [0x03, 0x02, 0x23, 0x07]);
}

#[test]
fn a_wrong_shader_is_status_1_and_leaves_no_file() {
    let folder = Folder::new("wrong");
    folder.file("a.comp", GOOD);
    let output = folder.run(&["compile", "a.comp", "-o", "out.spv"]);
    assert_eq!(status(&output), 1);
    let text = stderr(&output);
    assert!(text.contains("error[E0300]: no variable `N` is in scope"), "{text}");
    assert!(text.contains("a.comp:4:"), "{text}");
    assert_eq!(folder.names(), ["a.comp"]);
}

#[test]
fn a_wrong_command_is_status_2() {
    let folder = Folder::new("usage");
    folder.file("a.comp", GOOD);
    for args in [
        &["compile", "missing.comp"][..],
        &["compile", "a.comp", "-p", "nonsense"],
        &["compile", "a.comp", "-D", "1x"],
        &["compile", "a.comp", "--no-such-option"],
        &["compile", "a.comp", "-DN=1", "-o", "no/such/folder/x.spv"],
        &["compile", "-"],
        &["frobnicate"],
        &[],
    ] {
        let output = folder.run(args);
        assert_eq!(status(&output), 2, "{args:?}: {}", stderr(&output));
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
    assert_eq!(folder.names(), ["a.comp"]);
}

#[test]
fn nvidia_programs_come_with_a_reflection() {
    let folder = Folder::new("nvidia");
    folder.file("a.comp", GOOD);
    let run = |more: &[&str]| folder.run(&[&["compile", "a.comp", "-DN=3", "-p", "nv-ampere"], more].concat());
    assert_eq!(status(&run(&[])), 0);
    assert_eq!(folder.names(), ["a.comp", "a.comp.glasm"]);
    let text = fs::read_to_string(folder.0.join("a.comp.glasm")).unwrap();
    assert!(text.starts_with("!!NVcp5.0\n") && text.ends_with("\nEND\n"), "{text}");
    assert!(stdout(&run(&["-S", "-g"])).contains("# a.comp:4\n"));
    let reflection: serde_json::Value = serde_json::from_str(&stdout(&run(&["--emit", "reflection"]))).unwrap();
    assert_eq!(reflection["workgroup_size"], serde_json::json!([32, 1, 1]));
    assert_eq!(reflection["buffers"][0]["kind"], "storage");
    for (profile, emit) in [("nv-ampere", "spirv"), ("spirv-1.3", "nv")] {
        let output = folder.run(&["compile", "a.comp", "-DN=3", "-p", profile, "--emit", emit]);
        assert_eq!(status(&output), 2, "{profile} {emit}");
        let said = stderr(&output);
        assert!(said.contains("--emit: the profile") && said.contains("needs a profile such as"), "{said}");
    }
}

/// A constant, one computed from it, and the sizes of an array and of the workgroup.
const CONSTANTS: &str = "#version 450\nlayout(local_size_x_id = 1) in;\nlayout(constant_id = 3) const int N = 4;\n\
                         layout(constant_id = 7) const bool FAST = false;\nlayout(binding = 0) buffer B { int x[]; };\n\
                         void main() { int a[N * 2]; a[0] = N + 1; x[0] = a[0] + a.length(); if (FAST) x[1] = 77; }\n";

#[test]
fn specialization_constants_are_fixed_for_every_target() {
    let folder = Folder::new("set");
    folder.file("a.comp", CONSTANTS);
    let run = |more: &[&str]| folder.run(&[&["compile", "a.comp", "-S", "-o", "-"], more].concat());
    let text = stdout(&run(&["--set", "N=6", "--set", "7=true"]));
    assert!(!text.contains("OpSpecConstantOp") && text.contains("SpecId 1"), "{text}");
    assert!(!text.contains("SpecId 3") && !text.contains("SpecId 7"), "{text}");
    let text = stdout(&run(&["--set", "N=6", "-p", "nv-ampere"]));
    assert!(text.contains("19") && !text.contains("77"), "6 + 1 + 12 is folded: {text}");
    assert!(stdout(&run(&["--set", "FAST=true", "-p", "nv-ampere"])).contains("77"));
    let amd = |setting| stdout(&run(&["--set", "1=32", "--set", setting, "-p", "gfx1100"]));
    assert!(amd("FAST=1").contains("0x4d") && !amd("FAST=0").contains("0x4d"), "the branch is decided");
    for (setting, why) in [("M=1", "unknown specialization constant `M`"), ("N=x", "is not a value of")] {
        let output = run(&["--set", setting]);
        assert_eq!(status(&output), 1, "{setting}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
    assert_eq!(status(&run(&["--set", "N"])), 2);
    folder.file(
        "a.wgsl",
        "override n: u32 = 2;\n@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n\
                           @compute @workgroup_size(n) fn main() { x[0] = n * 100u; }\n",
    );
    let wgsl = |more: &[&str]| folder.run(&[&["compile", "a.wgsl", "-S", "-o", "-", "--set", "n=5"], more].concat());
    let text = stdout(&wgsl(&[]));
    assert!(text.contains("LocalSize 5 1 1") && text.contains(" 500"), "{text}");
    assert!(stdout(&wgsl(&["-p", "nv-ampere"])).contains("500"));
}

#[test]
fn spirv_modules_come_with_a_reflection() {
    let folder = Folder::new("reflection");
    folder.file("a.comp", LANES.replace("64(", "16("));
    let run = |more: &[&str]| -> serde_json::Value {
        let output = folder.run(&[&["compile", "a.comp", "--emit", "reflection"], more].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let any = run(&["-p", "spirv-1.5"]);
    assert_eq!(any["entry_point"], "main");
    assert_eq!(any["workgroup_size"], serde_json::json!([64, 1, 1]));
    assert_eq!((&any["buffers"][0]["binding"], &any["buffers"][0]["writable"]), (&0.into(), &true.into()));
    let vulkan = &any["vulkan"];
    assert_eq!((&vulkan["spirv"], &vulkan["least_subgroup_size"]), (&"1.5".into(), &4.into()));
    assert_eq!((&vulkan["full_subgroups"], vulkan["required_subgroup_size"].is_null()), (&true.into(), true));
    let capabilities = vulkan["capabilities"].to_string();
    assert!(capabilities.contains("GroupNonUniformClustered") && capabilities.contains("Shader"), "{capabilities}");
    assert_eq!(run(&["--wave-size", "32"])["vulkan"]["required_subgroup_size"], 32);
    for profile in ["nv-ampere", "gfx1030"] {
        assert_eq!(run(&["-p", profile])["workgroup_multiple"], 16, "{profile}");
    }
    folder.file("a.comp", GOOD.replace('N', "1u"));
    assert_eq!(run(&[])["vulkan"]["full_subgroups"], false);
    assert_eq!(run(&["-p", "nv-ampere"])["workgroup_multiple"], 1);
}

/// SPIRV-Cross, which judges the rest, does not report this.
#[test]
fn reflections_tell_of_every_stage() {
    let fixture = |name: &str| -> serde_json::Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stages").join(name);
        let output = Folder::new("stages").run(&[
            "compile",
            path.to_str().unwrap(),
            "-p",
            "spirv-1.6",
            "--emit",
            "reflection",
            "-o",
            "-",
        ]);
        assert_eq!(status(&output), 0, "{name}: {}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let kinds = |name: &str| -> Vec<String> {
        fixture(name)["payloads"].as_array().unwrap().iter().map(|it| word(&it["kind"])).collect()
    };
    assert_eq!(kinds("task.task"), ["task-payload"]);
    assert_eq!(kinds("rays_boxes.rint"), ["hit-attribute"]);
    assert!(kinds("rays_generation.rgen").contains(&"callable-data".to_owned()));
    assert!(kinds("rays_called.rcall").contains(&"incoming-callable-data".to_owned()));
    assert_eq!(kinds("rays_missed.rmiss"), ["incoming-ray-payload", "ray-payload"]);
    assert!(fixture("rays_generation.rgen")["shader_record"]["bytes"].as_u64() >= Some(28));
    let geometry = fixture("geometry.geom");
    assert_eq!(geometry["stage"], "geometry");
    assert_eq!(geometry["primitives"][3], serde_json::json!({ "mode": "output_vertices", "count": 6 }));
    assert_eq!(geometry["inputs"][0]["each"], "input_vertices");
    let of_built_in = |reflection: &serde_json::Value, ports: &str, name: &str| {
        let ports = reflection[ports].as_array().unwrap();
        ports.iter().find(|port| port["built_in"] == name).unwrap()["each"].clone()
    };
    assert_eq!(of_built_in(&geometry, "inputs", "Position"), "input_vertices");
    assert!(of_built_in(&geometry, "inputs", "PrimitiveId").is_null());
    assert!(of_built_in(&geometry, "outputs", "Position").is_null());
    assert!(of_built_in(&fixture("tess_control.tesc"), "outputs", "TessLevelOuter").is_null());
    let mesh = fixture("mesh.mesh");
    assert_eq!((&mesh["workgroup_size"], &mesh["stage"]), (&serde_json::json!([32, 1, 1]), &"mesh".into()));
    assert_eq!(mesh["outputs"][2]["interpolation"], "per_primitive");
    for port in mesh["outputs"].as_array().unwrap() {
        let each = if port["array"][0] == 64 { "mesh_vertices" } else { "output_primitives" };
        assert_eq!(port["each"], each, "{port}");
    }
    let feedback = fixture("feedback.vert");
    let taken = feedback["feedback"].as_array().unwrap();
    assert!(taken.iter().any(|it| it["member"].is_null()) && taken.iter().any(|it| it["member"] == 0), "{taken:?}");
    assert_eq!(fixture("subpasses.frag")["resources"][0]["kind"], "input_attachment");
}

#[test]
fn what_is_not_supported_is_status_3() {
    let folder = Folder::new("refused");
    folder.file("a.frag", "#version 450\nvoid main() {}\n");
    let output = folder.run(&["compile", "a.frag", "-p", "gfx900"]);
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("error[E0703]"), "{}", stderr(&output));
}

#[test]
fn streams_take_the_place_of_files() {
    let folder = Folder::new("streams");
    let mut child = folder
        .command(&["compile", "-", "--lang", "glsl", "-DN=1", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(GOOD.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(status(&output), 0);
    assert_eq!(output.stdout[..4], [0x03, 0x02, 0x23, 0x07]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::new("pipe");
    folder.file("a.comp", GOOD);
    let mut child = folder
        .command(&["compile", "a.comp", "-DN=1", "-S"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((status(&output), stderr(&output).as_str()), (0, ""));
}

#[test]
fn the_same_bytes_leave_a_file_untouched() {
    let folder = Folder::new("untouched");
    folder.file("a.comp", GOOD);
    let compile = || assert_eq!(status(&folder.run(&["compile", "a.comp", "-DN=1", "-o", "a.spv"])), 0);
    compile();
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    let file = fs::File::options().write(true).open(folder.0.join("a.spv")).unwrap();
    file.set_modified(past).unwrap();
    compile();
    assert_eq!(fs::metadata(folder.0.join("a.spv")).unwrap().modified().unwrap(), past);
    assert_eq!(status(&folder.run(&["compile", "a.comp", "-DN=2", "-o", "a.spv"])), 0);
    assert_ne!(fs::metadata(folder.0.join("a.spv")).unwrap().modified().unwrap(), past);
}

#[test]
fn an_error_keeps_the_old_output() {
    let folder = Folder::new("keep");
    folder.file("a.comp", GOOD);
    folder.file("a.spv", "old");
    assert_eq!(status(&folder.run(&["compile", "a.comp", "-o", "a.spv"])), 1);
    assert_eq!(fs::read(folder.0.join("a.spv")).unwrap(), b"old");
}

#[test]
fn glslc_spellings_are_taken() {
    let folder = Folder::new("glslc");
    folder.file("a.glsl", GOOD);
    let args =
        ["compile", "-fshader-stage=compute", "--target-env=vulkan1.3", "-O", "-Werror", "-DN=1", "a.glsl", "-o"];
    let output = folder.run(&[&args[..], &["a.spv"]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let version = fs::read(folder.0.join("a.spv")).unwrap()[4..8].to_vec();
    assert_eq!(version, [0, 6, 1, 0]);
}

#[test]
fn optimized_modules_are_smaller() {
    let folder = Folder::new("optimized");
    let twice = "#version 450\nlayout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { int x[]; };\n\
                 int twice(int v) { return v * 2; }\n\
                 void main() { int v = x[0]; if (x[1] > 3) v = twice(v); x[2] = v; }\n";
    folder.file("a.comp", twice);
    let size = |flag: &str| {
        let output = folder.run(&["compile", "a.comp", flag, "-o", "a.spv"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        fs::metadata(folder.0.join("a.spv")).unwrap().len()
    };
    let [straight, fast, small] = ["-O0", "-O", "-Os"].map(size);
    assert!(fast < straight && small < straight, "{straight} {fast} {small}");
}

#[test]
fn messages_as_json_lines() {
    let folder = Folder::new("json");
    folder.file("a.comp", GOOD);
    let output = folder.run(&["compile", "a.comp", "--message-format", "json"]);
    assert_eq!(status(&output), 1);
    for line in stderr(&output).lines() {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(message["code"], "E0300");
        assert_eq!((message["file"].as_str(), message["line"].as_u64()), (Some("a.comp"), Some(4)));
    }
}

const DIVERGENT: &str = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 32) in;\n\
                         layout(binding = 0) buffer B { float x[]; };\n\
                         void main() { if (x[laneIndex()] > 0.5) x[0] = butterfly2(x[0]); }\n";

#[test]
fn warnings_have_names() {
    let folder = Folder::new("warnings");
    folder.file("a.comp", DIVERGENT);
    let run = |more: &[&str]| folder.run(&[&["compile", "a.comp", "-o", "a.spv"], more].concat());
    let said = stderr(&run(&[]));
    assert!(said.contains("warning[W0501]") && said.contains("[-Wdivergent-lanes]"), "{said}");
    assert!(said.contains("lanes part here: this condition differs between lanes"), "{said}");
    let json = stderr(&run(&["--message-format", "json"]));
    let message: serde_json::Value = serde_json::from_str(json.trim()).unwrap();
    assert_eq!((&message["warning"], &message["severity"]), (&"divergent-lanes".into(), &"warning".into()));
    for (more, code) in [
        (&["-Wno-divergent-lanes"][..], 0),
        (&["-W", "no-divergent-lanes", "-Werror"], 0),
        (&["-w"], 0),
        (&["-Werror=divergent-lanes"], 1),
        (&["-Werror"], 1),
        (&["--deny-warnings", "-Wno-divergent-lanes"], 0),
    ] {
        let output = run(more);
        assert_eq!((status(&output), stderr(&output).is_empty()), (code, code == 0), "{more:?}: {}", stderr(&output));
    }
    for kept in [&["-Werror", "-Wno-error=divergent-lanes"], &["-Wno-unfilled-segments", "-Wdivergent-lanes"]] {
        let output = run(kept);
        assert!(status(&output) == 0 && stderr(&output).contains("warning[W0501]"), "{kept:?}");
    }
}

#[test]
fn a_name_that_no_warning_has_is_status_2() {
    let folder = Folder::new("warning-names");
    folder.file("a.comp", DIVERGENT);
    let output = folder.run(&["compile", "a.comp", "-Wno-divergent-lane"]);
    assert_eq!(status(&output), 2);
    let said = stderr(&output);
    assert!(said.contains("unknown warning `divergent-lane`; did you mean `divergent-lanes`?"), "{said}");
    assert_eq!(status(&folder.run(&["man", "--out-dir", "man"])), 0);
    let page = fs::read_to_string(folder.0.join("man/crosslane-warnings.1")).unwrap();
    for text in [stdout(&folder.run(&["warnings"])), stdout(&folder.run(&["warnings", "--help"])), page] {
        for kind in crosslane::diagnostic::warning::ALL {
            let name = kind.name.replace('-', "\\-");
            assert!(text.contains(kind.name) || text.contains(&name), "{}: {text}", kind.name);
        }
    }
    let help = stdout(&folder.run(&["compile", "--help"]));
    assert!(help.contains("`crosslane warnings`") && !help.contains("unfilled-segments"), "{help}");
}

/// Each option of a subcommand that compiles is under a heading, and `--help` ends with examples.
#[test]
fn help_has_headings_and_examples() {
    let folder = Folder::new("help");
    let sections = |command: &str| {
        let help = stdout(&folder.run(&[command, "-h"]));
        let mut sections: Vec<(String, Vec<String>)> = Vec::new();
        for line in help.lines() {
            match line.strip_suffix(':').filter(|head| !head.starts_with(' ')) {
                Some(head) => sections.push((head.to_owned(), Vec::new())),
                None => sections.last_mut().map(|(_, lines)| lines.push(line.trim().to_owned())).unwrap_or_default(),
            }
        }
        sections
    };
    let options = |sections: &[(String, Vec<String>)], head: &str| -> Vec<String> {
        let lines = &sections.iter().find(|(known, _)| known == head).unwrap_or_else(|| panic!("no {head}")).1;
        let option = |line: &String| line.split([' ', ',']).find(|word| word.starts_with('-')).map(str::to_owned);
        lines.iter().filter(|line| line.starts_with('-')).filter_map(option).collect()
    };
    for command in ["compile", "explain", "check", "run"] {
        let sections = sections(command);
        assert_eq!(options(&sections, "Options"), ["-h"], "{command}");
        assert!(options(&sections, "Source").contains(&"-I".to_owned()), "{command}");
        assert_eq!(options(&sections, "Target")[0], "-p", "{command}");
        assert!(options(&sections, "Messages").contains(&"-W".to_owned()), "{command}");
        assert_eq!(sections.last().map(|(head, _)| head.as_str()), Some("Examples"), "{command}");
    }
    assert_eq!(options(&sections("check"), "Report"), ["--json", "--width"]);
    assert_eq!(options(&sections("explain"), "Report"), ["--json", "--html", "--width"]);
    assert_eq!(options(&sections("explain"), "Resources in shading languages").len(), 4);
    assert!(options(&sections("compile"), "Output").contains(&"-o".to_owned()));
}

#[test]
fn what_hangs_on_the_wave_size_is_told_to_who_asks_for_any() {
    let folder = Folder::new("wave-size");
    folder.file("a.comp", DIVERGENT.replace("butterfly2", "allReduceAdd"));
    let notes = |more: &[&str]| {
        let output = folder.run(&[&["compile", "a.comp", "-o", "a.spv", "-Wno-divergent-lanes"], more].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        stderr(&output).matches("note[N0500]").count()
    };
    assert_eq!(notes(&[]), 0);
    assert_eq!(notes(&["-Wwave-size"]), 2);
    assert_eq!(notes(&["--wave-size", "any"]), 2);
    assert_eq!(notes(&["--wave-size", "any", "-Wno-wave-size"]), 0);
    assert_eq!(notes(&["--wave-size", "any", "-Werror"]), 2, "they are not warnings");
    assert_eq!(notes(&["--wave-size", "any", "-w"]), 0);
    assert_eq!(notes(&["--wave-size", "32", "-Wwave-size"]), 0);
}

#[test]
fn colour_only_where_it_is_wanted() {
    let folder = Folder::new("colour");
    folder.file("a.comp", GOOD);
    let escapes = |output: Output| output.stderr.contains(&0x1b);
    assert!(!escapes(folder.run(&["compile", "a.comp"])));
    assert!(escapes(folder.run(&["compile", "a.comp", "--color", "always"])));
    assert!(escapes(folder.command(&["compile", "a.comp"]).env("CLICOLOR_FORCE", "1").output().unwrap()));
    let quiet =
        folder.command(&["compile", "a.comp"]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().unwrap();
    assert!(!escapes(quiet));
}

#[test]
fn includes_are_found_beside_the_file_and_in_directories() {
    let folder = Folder::new("include");
    fs::create_dir_all(folder.0.join("lib")).unwrap();
    folder.file("near.glsl", "const uint A = 1u;\n");
    folder.file("lib/far.glsl", "const uint B = 2u;\n");
    folder.file(
        "a.comp",
        "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"near.glsl\"\n#include <far.glsl>\n\
         layout(binding = 0) buffer O { uint o; };\nvoid main() { o = A + B; }\n",
    );
    let output = folder.run(&["compile", "a.comp", "-I", "lib"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let output = folder.run(&["compile", "a.comp"]);
    assert_eq!(status(&output), 1);
    assert!(stderr(&output).contains("far.glsl"), "{}", stderr(&output));
}

#[test]
fn preprocessing_alone_gives_text() {
    let folder = Folder::new("preprocess");
    folder.file("a.comp", GOOD);
    let output = folder.run(&["compile", "a.comp", "-E", "-DN=41u"]);
    assert_eq!(status(&output), 0);
    assert!(stdout(&output).contains("41u"), "{}", stdout(&output));
    assert!(stdout(&output).starts_with("#version 450"), "{}", stdout(&output));
}

#[test]
fn two_runs_give_the_same_bytes() {
    let folder = Folder::new("same");
    folder.file("a.comp", GOOD);
    let run = || folder.run(&["compile", "a.comp", "-DN=1", "-g", "-o", "-"]).stdout;
    assert_eq!(run(), run());
}

#[test]
fn the_order_of_includes_leaves_no_trace() {
    let folder = Folder::new("order");
    folder.file("a.glsl", "struct A { uint x; }; const uint ONE = 1u; uint one(A a) { return a.x + ONE; }\n");
    folder.file("b.glsl", "struct B { float y; }; shared float tile[4]; float two(B b) { return b.y + tile[1]; }\n");
    let shader = |first: &str, second: &str| {
        format!(
            "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"{first}\"\n#include \"{second}\"\n\
             layout(binding = 0) buffer O {{ float o; }};\nvoid main() {{ o = two(B(2.0)) + float(one(A(3u))); }}\n"
        )
    };
    folder.file("x.comp", shader("a.glsl", "b.glsl"));
    folder.file("y.comp", shader("b.glsl", "a.glsl"));
    let bytes = |name: &str| {
        let output = folder.run(&["compile", name, "-o", "-"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        output.stdout
    };
    assert_eq!(bytes("x.comp"), bytes("y.comp"));
}

#[test]
fn operations_are_listed_for_every_profile() {
    let folder = Folder::new("ops");
    let all = stdout(&folder.run(&["ops"]));
    assert!(all.lines().count() > 40, "{all}");
    let few = stdout(&folder.run(&["ops", "partitioned", "-p", "spirv-1.5"]));
    assert_eq!(few.lines().count(), 2, "{few}");
    assert!(few.contains("spirv-1.5") && !few.contains("spirv-1.6"), "{few}");
}

const LANES: &str = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
                     layout(binding = 0) buffer B { float x[]; };\n\
                     void main() { x[gl_GlobalInvocationID.x] = allReduceAdd64(x[gl_GlobalInvocationID.x]); }\n";

#[test]
fn a_form_wider_than_the_wave_uses_workgroup_memory() {
    let folder = Folder::new("wave-size");
    folder.file("a.comp", LANES);
    let reflected = |size: &str| {
        let output = folder.run(&["compile", "a.comp", "--wave-size", size, "--emit", "reflection"]);
        serde_json::from_str::<serde_json::Value>(&stdout(&output)).unwrap()["shared_bytes"].as_u64()
    };
    assert_eq!(["16", "32", "64"].map(reflected), [Some(16), Some(8), Some(0)]);
    folder.file("b.comp", LANES.replace("{ x[gl", "{ if (gl_LocalInvocationID.x > 7u) x[gl"));
    let output = folder.run(&["compile", "b.comp", "--wave-size", "32"]);
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("error[E0702]"), "{}", stderr(&output));
    for size in ["64", "any"] {
        assert_eq!(status(&folder.run(&["compile", "a.comp", "--wave-size", size])), 0, "{size}");
    }
    assert_eq!(status(&folder.run(&["compile", "a.comp", "--wave-size", "48"])), 2);
}

/// A segment of 16 lanes beside one of 8.
const SEGMENTS: &str = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
                        layout(binding = 0) buffer B { float x[]; };\n\
                        void main() { uint i = gl_GlobalInvocationID.x; x[i] = allReduceAdd8(x[i]) + exclusiveAdd16(x[i]); }\n";

/// Clusters of these sizes, which Khronos leaves undefined in smaller subgroups.
const CLUSTERS: &str = "#version 450\n#extension GL_KHR_shader_subgroup_clustered : require\nlayout(local_size_x = 64) in;\n\
                        layout(binding = 0) buffer B { float x[]; };\n\
                        void main() { uint i = gl_GlobalInvocationID.x;\n\
                        x[i] = subgroupClusteredAdd(x[i], 8u) + subgroupClusteredMax(x[i], 16u); }\n";

#[test]
fn segments_wider_than_a_subgroup_may_be_are_told() {
    let folder = Folder::new("narrow");
    folder.file("a.comp", SEGMENTS);
    folder.file("b.comp", CLUSTERS);
    let made = |file: &str, profile: &str, more: &[&str]| {
        let output = folder.run(&[&["compile", file, "-o", "-", "-p", profile], more].concat());
        (stderr(&output), stdout(&output))
    };
    let least = |lanes: u32| Some(format!("// For subgroups of {lanes} lanes and more."));
    for (file, profile, more, lanes, comment) in [
        ("a.comp", "wgsl", &[][..], None, None),
        ("a.comp", "hlsl-6.5", &[], None, None),
        ("a.comp", "glsl-450-khr", &["--wave-size=8.."], None, least(8)),
        ("a.comp", "wgsl", &["--wave-size=32.."], None, least(32)),
        ("a.comp", "wgsl", &["--wave-size=32"], None, Some("// For subgroups of 32 lanes.".to_owned())),
        ("b.comp", "wgsl", &[], Some(4), least(16)),
        ("b.comp", "hlsl-6.5", &[], Some(4), least(16)),
        ("b.comp", "glsl-450-khr", &["--wave-size=8.."], Some(8), least(16)),
        ("b.comp", "wgsl", &["--wave-size=16.."], None, least(16)),
        ("b.comp", "wgsl", &["-Wno-narrow-subgroups"], None, least(16)),
        ("b.comp", "msl-3.0", &[], None, None),
        ("b.comp", "msl-3.0", &["--wave-size=16.."], None, Some("// For subgroups of 32 lanes.".to_owned())),
        ("b.comp", "gfx1100", &[], None, None),
        ("b.comp", "gfx1100", &["--wave-size=16.."], None, Some("; For subgroups of 32 lanes.".to_owned())),
    ] {
        let (said, text) = made(file, profile, more);
        let warned = lanes.map(|lanes| format!("at least 16 lanes, and a driver may choose {lanes}"));
        assert_eq!(said.contains("warning[W0506]"), warned.is_some(), "{file} {profile} {more:?}: {said}");
        assert!(warned.is_none_or(|warned| said.contains(&warned) && said.contains("b.comp:6:")), "{profile}: {said}");
        let told = text.lines().find(|line| line.contains("For subgroups")).map(str::to_owned);
        assert_eq!(told, comment, "{file} {profile} {more:?}");
    }
    let (said, _) = made("a.comp", "gfx1100", &["--wave-size=64.."]);
    assert!(said.contains("--wave-size: gfx1100-wave32 has waves of 32 lanes"), "{said}");
    let (said, _) = made("a.comp", "wgsl", &["--wave-size=12.."]);
    assert!(said.contains("12 is not a power of two from 4 to 128"), "{said}");
}

#[test]
fn a_promised_subgroup_size_is_reflected_and_checked() {
    let folder = Folder::new("promise");
    folder.file("a.comp", SEGMENTS);
    folder.file("b.comp", CLUSTERS);
    let reflected = |file: &str, profile: &str, size: &str| {
        let output = folder.run(&["compile", file, "-p", profile, size, "--emit", "reflection"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        serde_json::from_str::<serde_json::Value>(&stdout(&output)).unwrap()
    };
    for (profile, part, wave) in
        [("wgsl", "webgpu", "subgroup"), ("hlsl-6.5", "direct3d", "wave"), ("glsl-450-khr", "glsl", "subgroup")]
    {
        let sizes = |file: &str, size: &str| {
            let all = reflected(file, profile, size);
            [format!("least_{wave}_size"), format!("required_{wave}_size")].map(|key| all[part][key].as_u64())
        };
        assert_eq!(sizes("a.comp", "--wave-size=any"), [Some(4), None], "{profile}");
        assert_eq!(sizes("b.comp", "--wave-size=any"), [Some(16), None], "{profile}");
        assert_eq!(sizes("a.comp", "--wave-size=32.."), [Some(32), None], "{profile}");
        assert_eq!(sizes("a.comp", "--wave-size=32"), [Some(32), Some(32)], "{profile}");
    }
    let check = |file: &str| stdout(&folder.run(&["check", file, "-p", "wgsl", "-p", "nv-ampere"]));
    assert!(check("a.comp").ends_with("every profile can run it\n"), "{}", check("a.comp"));
    assert!(check("b.comp").ends_with("every profile can run it\nonly on subgroups of 16 lanes and more: wgsl\n"));
}

#[test]
fn the_host_sets_the_size_that_barriers_in_wgsl_depend_on() {
    let folder = Folder::new("min-size");
    folder.file("a.comp", SEGMENTS);
    let text = stdout(&folder.run(&["compile", "a.comp", "-o", "-", "-p", "wgsl"]));
    assert!(text.contains("@id(65535) override subgroup_min_size: u32 = 4u;"), "{text}");
    let promised = stdout(&folder.run(&["compile", "a.comp", "-o", "-", "-p", "wgsl", "--wave-size", "8.."]));
    assert!(promised.contains("override subgroup_min_size: u32 = 8u;"), "{promised}");
    let wide = stdout(&folder.run(&["compile", "a.comp", "-o", "-", "-p", "wgsl", "--wave-size", "16.."]));
    assert!(!wide.contains("subgroup_min_size") && !wide.contains("var<workgroup>"), "{wide}");
    let output = folder.run(&["compile", "a.comp", "-p", "wgsl", "--emit", "reflection"]);
    let all: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(all["spec_constants"][0]["name"], "subgroup_min_size", "{all}");
    assert_eq!(all["shared_bytes"], 128, "two areas of 16 slots");
}

#[test]
fn kernels_show_what_a_profile_runs() {
    let folder = Folder::new("kernel");
    folder.file("a.comp", LANES.replace("64(", "32("));
    let kernel = |profile: &str| stdout(&folder.run(&["compile", "a.comp", "--emit", "kernel", "-p", profile]));
    let (any, nv) = (kernel("spirv-1.3"), kernel("nv-maxwell"));
    assert!(any.contains("kernel main, workgroup 64 x 1 x 1") && any.contains("lane.f32 all_reduce.add<32>"), "{any}");
    assert!(nv.contains("prim.f32 nv.Shuffle(Xor)") && !nv.contains("lane."), "{nv}");
}

#[test]
fn kernels_are_shown_after_a_pass() {
    let folder = Folder::new("kernel-at");
    folder.file("a.comp", LANES.replace("64(", "32("));
    let run = |form: &str, profile: &str| folder.run(&["compile", "a.comp", "-p", profile, "--emit", form]);
    let text = |form: &str| stdout(&run(form, "gfx1100"));
    assert!(text("kernel@licm").starts_with("// after licm.1\nkernel main, workgroup 64 x 1 x 1 {\n"));
    assert!(text("kernel@gvn.2").starts_with("// after gvn.2\n"));
    assert!(text("kernel@gvn").ends_with(&text("kernel")), "the last run finds nothing");
    let all = text("kernel@all");
    let moments: Vec<&str> = all.lines().filter_map(|line| line.strip_prefix("// after ")).collect();
    assert_eq!((moments[0], moments.contains(&"lower_lanes.1")), ("lower.1", true), "{moments:?}");
    for (form, profile, exit, said) in [
        ("kernel@gvm", "gfx1100", 2, "unknown pass `gvm`; did you mean `gvn`?"),
        ("kernel@share_moves", "nv-hopper", 2, "unknown pass `share_moves`; the passes for "),
        ("ir@gvn", "gfx1100", 2, "`@` and a pass follow `kernel` only"),
        ("kernel@licm.2", "gfx1100", 3, "`licm` runs once on this shader, not 2"),
    ] {
        let output = run(form, profile);
        assert_eq!(status(&output), exit, "{form}");
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
}

#[test]
fn reproducible_folds_are_trees_of_shuffles() {
    let folder = Folder::new("reproducible");
    folder.file("a.comp", LANES);
    let listing = |more: &[&str]| stdout(&folder.run(&[&["compile", "a.comp", "-S"], more].concat()));
    assert!(listing(&[]).contains("ClusteredReduce"));
    let tree = listing(&["--reproducible"]);
    assert!(tree.contains("OpGroupNonUniformShuffleXor") && !tree.contains("ClusteredReduce"), "{tree}");
}

#[test]
fn numbers_that_nobody_knows_go_into_the_module() {
    let folder = Folder::new("numbers");
    let source = "#version 460\n\
        #extension GL_EXT_spirv_intrinsics : require\n\
        layout(local_size_x = 1) in;\n\
        layout(std430, binding = 0) buffer Data { uint data[]; };\n\
        spirv_instruction(extensions = [\"SPV_XX_later\"], capabilities = [6912], id = 7000) uint later(uint a, uint b);\n\
        spirv_execution_mode(9999, 3);\n\
        spirv_decorate(9998, 5) shared uint kept;\n\
        void main() { data[0] = later(data[1], 3u) + kept; }\n";
    folder.file("a.comp", source);
    let text = stdout(&folder.run(&["compile", "a.comp", "-S"]));
    for line in ["OpCapability 6912", "OpExtension \"SPV_XX_later\"", "Op7000 ", " 9999 3", " 9998 5"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let (load, call, sum) = (text.find("OpLoad"), text.find("Op7000"), text.find("OpIAdd"));
    assert!(load < call && call < sum, "{text}");
}

#[test]
fn debug_information_and_the_intermediate_form_show_names() {
    let folder = Folder::new("debug");
    folder.file("a.comp", GOOD);
    let run = |more: &[&str]| stdout(&folder.run(&[&["compile", "a.comp", "-DN=1"], more].concat()));
    const TOLD: [&str; 4] = ["OpName", "OpLine", "#version 450", "NonSemantic.Shader.DebugInfo.100"];
    for (option, told) in [
        ("-g0", [false, false, false, false]),
        ("--debug=names", [true, false, false, false]),
        ("-g", [true, true, true, false]),
        ("-g2", [true, false, true, true]),
        ("-gVS", [true, false, true, true]),
    ] {
        let listing = run(&["-S", option]);
        assert_eq!(TOLD.map(|text| listing.contains(text)), told, "{option}: {listing}");
    }
    assert_eq!(run(&["-S"]), run(&["-S", "-g0"]));
    assert!(run(&["--emit", "ir"]).contains("fn main()"));
}

#[test]
fn codes_are_explained() {
    let folder = Folder::new("explain-code");
    for (command, word) in
        [("explain-code", "E0501"), ("explain-code", "e0501"), ("help", "E0501"), ("help", "[E0501]")]
    {
        let text = stdout(&folder.run(&[command, word]));
        assert!(text.starts_with("E0501: The argument must be known when the shader is compiled\n\n"), "{text}");
        assert!(text.contains("bpermute") && !text.contains("E0502"), "{text}");
    }
    for (word, said) in [("E0551", "did you mean `E0"), ("what", "codes are a letter and four digits")] {
        let output = folder.run(&["explain-code", word]);
        assert_eq!((status(&output), stdout(&output).len()), (2, 0));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
}
