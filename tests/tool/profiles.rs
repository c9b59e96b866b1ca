//! Profiles through the binary: the list, the description of one, the user's own files, and the messages about wrong
//! ones.

use crate::folder::{Folder, status, stderr, stdout};
use crosslane::profile::Profile;
use support::judge;

const SHADER: &str = "#version 450\nlayout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint x[]; };\n\
                      void main() { x[gl_GlobalInvocationID.x] = 1u; }\n";

const LANE_OPERATIONS: &str = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 64) in;\n\
                               layout(binding = 0) buffer B { uint x[]; };\nvoid main() { uint i = gl_LocalInvocationIndex;\n\
                               x[i] = allReduceAdd8(x[i]) + inclusiveAdd32(x[i]) + exclusiveAdd16(x[i]) + butterfly16(x[i])\n\
                               + bpermute(x[i], i ^ 5u) + broadcast(x[i], 3u) + quadSwizzleX(x[i]) + reduceMin32(x[i])\n\
                               + uint(anyQuad(x[i] > 3u)) + allReduceMax(x[i]); }\n";

/// The command's message about a profile file that it refuses.
fn complaint(name: &str, text: &str) -> String {
    let folder = Folder::new(name);
    folder.file("a.comp", SHADER);
    folder.file("my.toml", text);
    let outputs = [folder.run(&["profiles", "my.toml"]), folder.run(&["compile", "a.comp", "-p", "my.toml"])];
    for output in &outputs {
        assert_eq!(status(output), 2, "{}", stderr(output));
        assert!(stdout(output).is_empty());
    }
    assert_eq!(stderr(&outputs[0]), stderr(&outputs[1]), "both commands read it alike");
    assert_eq!(folder.names(), ["a.comp", "my.toml"]);
    stderr(&outputs[0])
}

#[test]
fn all_are_listed_in_order() {
    let list = stdout(&Folder::new("profile-list").run(&["profiles"]));
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles")).unwrap();
    assert_eq!(names.len(), files.count());
    let spirv = [
        "spirv-1.0",
        "spirv-1.0-opengl",
        "spirv-1.1",
        "spirv-1.2",
        "spirv-1.3",
        "spirv-1.4",
        "spirv-1.5",
        "spirv-1.6",
        "spirv-amd",
        "spirv-amd-ballot",
        "spirv-nv-partitioned",
        "spirv-nvidia",
    ];
    assert_eq!((&names[..12], names[12]), (&spirv[..], "nv-fermi"));
    for name in ["nv-hopper", "gfx600", "gfx950", "gfx1030-wave32", "gfx1030-wave64", "gfx1201-wave64"] {
        assert!(names.contains(&name), "{list}");
    }
}

#[test]
fn one_is_described_by_name_alias_or_file() {
    let folder = Folder::new("profile-one");
    let one = |name: &str| stdout(&folder.run(&["profiles", name]));
    assert!(one("spirv-1.6").contains("wave size     any"), "{}", one("spirv-1.6"));
    let wave64 = one("rdna2-wave64");
    for part in ["gfx1030-wave64: AMD RDNA 2", "wave size     64", "processor     gfx1030", "amd-shared-vgpr"] {
        assert!(wave64.contains(part), "{wave64}");
    }
    assert!(one("gfx1030").starts_with("gfx1030-wave32:"));
    assert!(one("cdna3").contains("instructions 1, latency 4, wait-before 1, wait-index 4, wait-after 2"));
    folder.file("mine.toml", "name = \"mine\"\ninherit = \"nv-kepler\"\ndescription = \"my card\"\n");
    assert!(one("mine.toml").starts_with("mine: my card\n"));
}

/// If a profile has a cost for segmented reductions, the cheaper form is chosen; no other operation changes.
#[test]
fn a_price_of_reductions_chooses_between_them_and_trees() {
    let folder = Folder::new("profile-reductions");
    folder.file(
        "dear.toml",
        "name = \"dear\"\ninherit = \"spirv-1.6\"\n[costs]\nclustered = { instructions = 99, latency = 0 }\n",
    );
    let reduced = |width: u32, profile: &str| {
        let sum = format!("allReduceAdd{width}(x[gl_GlobalInvocationID.x])");
        let shader = SHADER.replace("450\n", "450\n#extension GL_CROSSLANE_portable : require\n");
        folder.file("a.comp", shader.replace("1u;", &format!("{sum};")));
        let output =
            folder.run(&["compile", "a.comp", "-p", profile, "--wave-size=32..", "--emit", "spirv-text", "-o", "-"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        (stdout(&output).matches("ClusteredReduce").count(), stdout(&output).matches("ShuffleXor").count())
    };
    for (profile, eight, thirty_two) in [
        ("spirv-1.6", (1, 0), (1, 0)),
        ("spirv-nvidia", (0, 3), (1, 0)),
        ("spirv-amd", (0, 3), (1, 0)),
        ("dear.toml", (0, 3), (0, 5)),
    ] {
        assert_eq!((reduced(8, profile), reduced(32, profile)), (eight, thirty_two), "{profile}");
    }
}

#[test]
fn misspelt_names_get_a_suggestion() {
    let output = Folder::new("profile-near").run(&["profiles", "gfx1039-wave32"]);
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("did you mean `gfx1030-wave32`?"), "{}", stderr(&output));
}

#[test]
fn a_profile_of_hardware_gives_its_assembly() {
    let folder = Folder::new("profile-assembly");
    folder.file("a.comp", SHADER);
    for (name, line) in [("gfx1030", "amdgcn-amd-amdhsa--gfx1030"), ("gfx942", "amdgcn-amd-amdhsa--gfx942")] {
        let output = folder.run(&["compile", "a.comp", "-p", name, "-S"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains(line));
    }
    let output = folder.run(&["compile", "a.comp", "-p", "gfx1030", "--emit", "nv"]);
    assert_eq!(status(&output), 2, "{}", stderr(&output));
}

#[test]
fn a_code_object_needs_tools_of_llvm() {
    let folder = Folder::new("profile-tools");
    folder.file("a.comp", SHADER);
    let output = folder.run(&["compile", "a.comp", "-p", "gfx1030", "--emit", "hsaco", "--llvm-dir", "nowhere"]);
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("install llvm and lld"), "{}", stderr(&output));
}

#[test]
fn a_cubin_needs_ptxas() {
    let folder = Folder::new("profile-cubin");
    folder.file("a.comp", SHADER);
    let arguments = ["compile", "a.comp", "-p", "ptx-sm70", "--emit", "cubin"];
    let output = folder.command(&arguments).env("CROSSLANE_PTXAS", "nowhere").output().unwrap();
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("install CUDA's ptxas"), "{}", stderr(&output));
    let Some(ptxas) = judge::need_or_skip("bin/ptxas") else { return };
    let output = folder.command(&arguments).env("CROSSLANE_PTXAS", ptxas).output().unwrap();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(std::fs::read(folder.0.join("a.comp.cubin")).unwrap().starts_with(b"\x7fELF"));
}

#[test]
fn wave_sizes_are_those_of_the_hardware() {
    let folder = Folder::new("profile-waves");
    folder.file("a.comp", SHADER);
    let run =
        |name: &str, lanes: &str| folder.run(&["compile", "a.comp", "-p", name, "--emit", "ir", "--wave-size", lanes]);
    for (name, lanes) in [("nv-volta", "64"), ("gfx900", "32"), ("gfx1100", "any")] {
        let output = run(name, lanes);
        assert_eq!(status(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains("--wave-size: "), "{}", stderr(&output));
    }
    for (name, lanes) in [("nv-volta", "32"), ("gfx1100", "64"), ("spirv-1.3", "32")] {
        assert_eq!(status(&run(name, lanes)), 0, "{name} {lanes}");
    }
}

#[test]
fn a_file_compiles_as_what_it_inherits_from() {
    let folder = Folder::new("profile-own");
    folder.file("a.comp", SHADER);
    folder.file("mine.toml", "name = \"mine\"\ninherit = \"spirv-1.5\"\nwave-size = 32\n");
    let output = folder.run(&["compile", "a.comp", "-p", "mine.toml", "-o", "-"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(output.stdout, folder.run(&["compile", "a.comp", "-p", "spirv-1.5", "-o", "-"]).stdout);
}

#[test]
fn files_inherit_from_files_beside_them() {
    let folder = Folder::new("profile-files");
    std::fs::create_dir(folder.0.join("shared")).unwrap();
    folder.file("mine.toml", "name = \"mine\"\ninherit = \"shared/base.toml\"\n");
    folder.file("shared/base.toml", "name = \"base\"\ninherit = \"more.toml\"\nwave-size = 64\n");
    folder.file("shared/more.toml", "name = \"more\"\ninherit = \"gfx1100\"\nremove-features = [\"amd-dpp8\"]\n");
    let text = stdout(&folder.run(&["profiles", "mine.toml"]));
    assert!(text.contains("wave size     64") && text.contains("amd-dpp16"), "{text}");
    assert!(!text.contains("amd-dpp8"), "{text}");
    folder.file("shared/more.toml", "name = \"more\"\ninherit = \"gfx1100\"\nremove-features = [\"tea\"]\n");
    let output = folder.run(&["profiles", "mine.toml"]);
    assert!(stderr(&output).contains("shared/more.toml:3: remove-features: unknown variant"), "{}", stderr(&output));
}

#[test]
fn the_nesting_of_lane_operations_is_the_profiles() {
    let folder = Folder::new("profile-nesting");
    let shader = "#version 450\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 32) in;\n\
                  layout(binding = 0) buffer B { uint x[]; };\nvoid main() { uint i = gl_LocalInvocationIndex;\n\
                  for (uint n = 0u; n < x[0]; n++) { if (x[i] > n) { x[i] = allReduceAdd8(x[i]); } } }\n";
    folder.file("a.comp", shader);
    for (most, expected) in [(2, 0), (1, 3)] {
        folder.file("my.toml", format!("name = \"my\"\ninherit = \"nv-hopper\"\nlane-nesting = {most}\n"));
        let output = folder.run(&["compile", "a.comp", "-p", "my.toml", "-w", "-o", "a.glasm"]);
        assert_eq!(status(&output), expected, "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("inside 2 branches and loops"), expected != 0, "{}", stderr(&output));
    }
}

#[test]
fn cycles_are_told() {
    let folder = Folder::new("profile-cycle");
    folder.file("a.toml", "name = \"a\"\n\ninherit = \"./b.toml\"\n");
    folder.file("b.toml", "name = \"b\"\ninherit = \"a.toml\"\n");
    let output = folder.run(&["profiles", "./a.toml"]);
    assert_eq!(status(&output), 2);
    let cycle = "b.toml:2: inherit: a.toml inherits from b.toml inherits from a.toml";
    assert!(stderr(&output).contains(cycle), "{}", stderr(&output));
    folder.file("b.toml", "name = \"b\"\ninherit = \"b.toml\"\n");
    let output = folder.run(&["profiles", "b.toml"]);
    assert!(stderr(&output).contains("b.toml:2: inherit: b.toml inherits from b.toml"), "{}", stderr(&output));
}

#[test]
fn files_that_are_not_there_are_named() {
    let folder = Folder::new("profile-missing");
    let output = folder.run(&["profiles", "none.toml"]);
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("cannot read none.toml"), "{}", stderr(&output));
    let text = complaint("profile-base", "name = \"a\"\ninherit = \"none.toml\"\n");
    assert!(text.contains("my.toml:2: inherit: there is no file none.toml"), "{text}");
    let text = complaint("profile-builtin", "name = \"a\"\ninherit = \"gfx1\"\n");
    assert!(
        text.contains("my.toml:2: inherit: `gfx1` is not the name of one profile; write one of `gfx1010-wave32`"),
        "{text}"
    );
}

#[test]
fn unknown_features_are_errors() {
    let text = complaint("profile-feature", "name = \"a\"\ninherit = \"vega\"\nadd-features = [\n  \"tea\",\n]\n");
    assert!(text.contains("my.toml:4: add-features: unknown variant `tea`"), "{text}");
    let text = complaint("profile-foreign", "name = \"a\"\ninherit = \"vega\"\nadd-features = [\"vote\"]\n");
    assert!(text.contains("my.toml:3: add-features: the profile's target does not have the feature vote"), "{text}");
    let line = "features = [\"amd-wave\", \"amd-swizzle\", \"amd-dpp-row-bcast\"]";
    let text = complaint("profile-mode", &format!("name = \"a\"\ninherit = \"vega\"\n{line}\n"));
    let needs = "my.toml:3: features: amd-dpp-row-bcast needs amd-dpp16, which the profile does not have";
    assert!(text.contains(needs), "{text}");
}

/// SPIR-V has subgroups of 128 lanes, the simulator has not.
#[test]
fn waves_that_run_does_not_have_are_errors() {
    let folder = Folder::new("profile-wide");
    folder.file("a.comp", SHADER);
    folder.file("my.toml", "name = \"wide\"\ninherit = \"spirv-1.5\"\nwave-size = 128\n");
    let run = ["run", "a.comp", "-p", "my.toml", "--buffer", "0=zeros:u32:32"];
    let output = folder.run(&run);
    assert_eq!(
        (status(&output), &*stderr(&output)),
        (2, "error: wide has waves of 128 lanes; `run` has at most 64 (--wave-size)\n")
    );
    let output = folder.run(&[&run[..], &["--wave-size", "64"]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
}

#[test]
fn contradictory_wave_sizes_are_errors() {
    let cases = [
        ("nv-ampere", "wave-size = 64", "wave-size: there are no waves of 64 lanes on NVIDIA's hardware"),
        ("gfx90a", "wave-size = 32", "wave-size: there are no waves of 32 lanes on gfx90a"),
        ("gfx1030-wave64", "wave-size = 32", "wave-size: amd-shared-vgpr is for waves of 64 lanes, not of 32"),
        (
            "rdna3",
            "add-features = [\"amd-dpp-wave\"]",
            "add-features: amd-dpp-wave is for waves of 64 lanes, not of 32",
        ),
        ("spirv-1.6", "wave-size = 48", "wave-size: 48 is not a power of two from 4 to 128"),
    ];
    for (base, line, message) in cases {
        let text = complaint("profile-contradiction", &format!("name = \"a\"\ninherit = \"{base}\"\n{line}\n"));
        assert!(text.contains(&format!("my.toml:3: {message}")), "{text}");
    }
}

#[test]
fn missing_costs_are_errors() {
    let text = complaint("profile-cost", "name = \"a\"\ninherit = \"nv-fermi\"\nadd-features = [\"nv-shuffle\"]\n");
    assert!(text.contains("my.toml:3: costs.nv-shuffle: the key is missing"), "{text}");
    let text = complaint("profile-latency", "name = \"a\"\ninherit = \"nv-fermi\"\n[costs]\nnv-vote = { lds = 1 }\n");
    assert!(text.contains("my.toml:4: nv-vote: missing field `latency`"), "{text}");
}

#[test]
fn unknown_keys_and_wrong_types_are_errors() {
    let cases = [
        ("colour = 3", "colour: unknown field `colour`"),
        ("reproducible = \"yes\"", "reproducible: invalid type"),
        ("wave-size = true", "wave-size: invalid type: boolean `true`, expected a number of lanes, a minimum such as"),
        ("wave-size = \"12..\"", "wave-size: 12 is not a power of two from 4 to 128"),
        ("target = \"metal\"", "target: unknown variant `metal`"),
        ("version = \"five\"", "version: `five` is not a version: write it as MAJOR.MINOR"),
        ("costs = { tea = { latency = 1 } }", "tea: unknown price"),
    ];
    for (line, message) in cases {
        let text = complaint("profile-key", &format!("name = \"a\"\ninherit = \"nv-fermi\"\n{line}\n"));
        assert!(text.contains(&format!("my.toml:3: {message}")), "{text}");
    }
    let text = complaint("profile-name", "inherit = \"nv-fermi\"\n");
    assert!(text.contains("my.toml:1: name: the key is missing"), "{text}");
    let text = complaint("profile-syntax", "name = \"a\"\ninherit = nv-fermi\n");
    assert!(text.contains("my.toml:2: inherit: "), "{text}");
}

/// A profile that lacks one feature of another one is refused because a feature needs it, or plans every operation
/// without it, or refuses operations one by one; it never causes an internal error.
#[test]
fn every_feature_may_be_missing() {
    let folder = Folder::new("profile-each-feature");
    folder.file("a.comp", LANE_OPERATIONS);
    for base in ["nv-hopper", "gfx950", "gfx1100-wave64"] {
        let features: Vec<&str> = Profile::named(base).unwrap().features.iter().map(|feature| feature.name()).collect();
        for missing in &features {
            let rest: Vec<String> =
                features.iter().filter(|name| *name != missing).map(|name| format!("\"{name}\"")).collect();
            folder.file("my.toml", format!("inherit = \"{base}\"\nname = \"my\"\nfeatures = [{}]\n", rest.join(", ")));
            let output = folder.run(&["compile", "a.comp", "-p", "my.toml", "-o", "out"]);
            let message = stderr(&output);
            assert!(!message.contains("E0900") && !message.contains("panicked"), "{base} without {missing}: {message}");
            assert!(
                matches!(status(&output), 0 | 3) || message.contains("needs"),
                "{base} without {missing}: {message}"
            );
        }
    }
}
