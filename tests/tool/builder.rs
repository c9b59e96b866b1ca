//! The support for build scripts: its outputs and its messages to cargo, in a build script run by cargo and in this
//! process.

use crate::folder::Folder;
use crosslane::build::{Builder, Error, Place};
use crosslane::profile::WaveSize;
use crosslane::source::{IncludeKind, LoadError, Loaded, Loader};
use crosslane::wgsl::BoundsChecks;
use std::fs;
use std::path::Path;
use std::process::Command;

const SHADER: &str = "#version 450\nlayout(local_size_x = 8) in;\nlayout(binding = 3) buffer B { uint x[]; };\n\
                      void main() { x[gl_GlobalInvocationID.x] = N; }\n";

fn builder(folder: &Folder) -> Builder {
    Builder::new().cargo_metadata(false).define("N", "5u").out_dir(folder.0.join("out"))
}

fn generated(folder: &Folder) -> String {
    fs::read_to_string(folder.0.join("out/shaders.rs")).unwrap()
}

#[test]
fn outputs_become_constants() {
    let folder = Folder::new("builder-constants");
    fs::create_dir_all(folder.0.join("shaders/sub")).unwrap();
    folder.file("shaders/a.comp", SHADER);
    folder.file("shaders/sub/loop.wgsl", "@compute @workgroup_size(2, 3) fn go() {}\n");
    folder.file("shaders/only.glsl", "what is included is not a shader\n");
    builder(&folder).profile("spirv-1.5").profile("nv-volta").compile_dir(folder.0.join("shaders")).unwrap();
    let text = generated(&folder);
    for part in [
        "pub mod a {",
        "pub const SPIRV_1_5: &[u32] = &[\n        0x07230203, 0x00010500,",
        "pub const NV_VOLTA: &str = \"!!NVcp5.0\\n",
        "workgroup_size: [8, 1, 1],\n        subgroup_size: None,",
        "Buffer { name: \"B\", set: 0, binding: 3, kind: BufferKind::Storage, bytes: 0, writable: true },",
        "pub mod sub_loop {",
        "entry_point: \"go\",\n        workgroup_size: [2, 3, 1],",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(folder.0.join("out/a.spirv-1.5.spv").exists() && folder.0.join("out/sub_loop.nv-volta.glasm").exists());
}

#[test]
fn a_promised_subgroup_size_is_a_constant() {
    let folder = Folder::new("builder-wave-size");
    folder.file("a.comp", SHADER);
    for (size, facts) in [
        (WaveSize::Least(16), "subgroup_size: None,\n        least_subgroup_size: 16,"),
        (WaveSize::Fixed(32), "subgroup_size: Some(32),\n        least_subgroup_size: 32,"),
    ] {
        let folder = Folder::new("builder-wave-size");
        folder.file("a.comp", SHADER);
        builder(&folder).profile("spirv-1.5").wave_size(size).compile([folder.0.join("a.comp")]).unwrap();
        assert!(generated(&folder).contains(facts), "{}", generated(&folder));
    }
    let refused = builder(&folder).profile("gfx1100").wave_size(WaveSize::Least(64)).compile([folder.0.join("a.comp")]);
    assert!(refused.unwrap_err().to_string().contains("wave size 64..: gfx1100-wave32 has waves of 32 lanes"));
}

/// The module of a shader whose variable `-O` keeps in a value.
const SUMS: &str = "#version 450\nlayout(local_size_x = 8) in;\nlayout(binding = 3) buffer B { uint x[]; };\n\
                    void main() { uint sum = 0u; for (uint i = 0u; i < x[0]; ++i) sum += x[i]; x[1] = sum; }\n";

#[test]
fn modules_are_optimized_as_the_command_does() {
    use crosslane::backend::Optimize;
    let folder = Folder::new("builder-optimize");
    folder.file("a.comp", SUMS);
    for (goal, option) in [(Optimize::None, "-O0"), (Optimize::Speed, "-O"), (Optimize::Size, "-Os")] {
        let out = folder.0.join(option);
        builder(&folder).profile("spirv-1.5").optimize(goal).out_dir(&out).compile([folder.0.join("a.comp")]).unwrap();
        let made = fs::read(out.join("a.spirv-1.5.spv")).unwrap();
        let command = folder.run(&["compile", option, "-DN=5u", "-p", "spirv-1.5", "a.comp", "-o", "-"]);
        assert_eq!(made, command.stdout, "{option}");
    }
}

#[test]
fn blocks_become_structs_whose_layout_is_checked() {
    let folder = Folder::new("builder-blocks");
    let text = "#version 450\n#extension GL_EXT_shader_16bit_storage : require\nlayout(local_size_x = 8) in;\n\
                struct Light { vec3 place; float power; mat3 turn; bool on; };\n\
                layout(binding = 0) uniform Params { float type; vec3 at; Light lights[2]; float weights[3]; dvec2 wide; };\n\
                layout(binding = 1) buffer Buffer { uint count; f16vec2 halves; layout(row_major) mat2x4 rows; Light rest[]; };\n\
                layout(push_constant) uniform Push { uint n; uvec2 size; };\n\
                void main() { count = n + size.x + uint(type + weights[1] + rest[n].power + rows[1].x + lights[1].power); }\n";
    folder.file("a.comp", text);
    builder(&folder).profile("spirv-1.5").compile([folder.0.join("a.comp")]).unwrap();
    let text = generated(&folder);
    for part in [
        "pub mod blocks {",
        "pub type_: f32,\n            #[doc(hidden)]\n            pub _pad0: [u8; 12],\n            pub at: [f32; 3],",
        "assert!(core::mem::offset_of!(Push, size) == 8);",
        "pub type Buffer_rest = ",
        "pub halves: [u16; 2],",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The checks are in the compiled text.
    let program = format!(
        "{text}\nfn main() {{ let push = a::blocks::Push {{ n: 3, ..a::blocks::Push::ZERO }};\n\
         assert_eq!((push.n, push.size, std::mem::size_of::<a::blocks::Params_weights_item>()), (3, [0, 0], 16)); }}\n"
    );
    folder.file("main.rs", &program);
    let run = |command: &mut Command| command.current_dir(&folder.0).status().unwrap().success();
    assert!(
        run(Command::new("rustc").args(["--edition", "2024", "-D", "warnings", "-o", "main", "main.rs"])),
        "{program}"
    );
    assert!(run(&mut Command::new(folder.0.join("main"))));
    let derived = builder(&folder).out_dir(folder.0.join("derived")).bytemuck(true);
    derived.compile([folder.0.join("a.comp")]).unwrap();
    let text = fs::read_to_string(folder.0.join("derived/shaders.rs")).unwrap();
    assert!(text.contains("#[derive(Clone, Copy, PartialEq, Debug, bytemuck::Pod, bytemuck::Zeroable)]"));
}

#[test]
fn endings_follow_the_target_of_a_profile_of_any_name() {
    let folder = Folder::new("builder-endings");
    folder.file("a.comp", SHADER);
    folder.file("mine.toml", "name = \"mine\"\ninherit = \"nv-volta\"\n");
    let profile = folder.0.join("mine.toml").display().to_string();
    builder(&folder).profile(profile).compile([folder.0.join("a.comp")]).unwrap();
    assert!(folder.0.join("out/a.mine.glasm").exists());
}

#[test]
fn the_same_bytes_are_not_written_again() {
    let folder = Folder::new("builder-same");
    folder.file("a.comp", SHADER);
    let build = || builder(&folder).compile([folder.0.join("a.comp")]).unwrap();
    build();
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    let file = fs::File::options().write(true).open(folder.0.join("out/shaders.rs")).unwrap();
    file.set_modified(past).unwrap();
    build();
    assert_eq!(fs::metadata(folder.0.join("out/shaders.rs")).unwrap().modified().unwrap(), past);
}

/// Provides one file for every name.
struct One;

impl Loader for One {
    fn load(&self, name: &str, _: IncludeKind, _: &str) -> Result<Loaded, LoadError> {
        Ok(Loaded { name: name.into(), text: "#define M 9u\n".into() })
    }
}

#[test]
fn includes_may_come_from_anywhere() {
    let folder = Folder::new("builder-loader");
    let include = "#extension GL_GOOGLE_include_directive : require\n#include <nowhere.glsl>\nlayout(local";
    folder.file("a.comp", SHADER.replacen("layout(local", include, 1).replace("= N", "= M"));
    let shader = folder.0.join("a.comp");
    builder(&folder).loader(One).compile([&shader]).unwrap();
    assert_eq!(builder(&folder).compile([&shader]), Err(Error::Shaders(vec![shader.clone()])), "there is no such file");
}

#[test]
fn warnings_are_chosen_by_name() {
    let folder = Folder::new("builder-warnings");
    folder.file("a.comp", SHADER.replace("N;", "N / 0u;"));
    let path = folder.0.join("a.comp");
    builder(&folder).compile([&path]).expect("it is warned of");
    builder(&folder).deny_warnings(true).compile([&path]).expect_err("it is an error");
    builder(&folder).warning("error=division-by-zero").compile([&path]).expect_err("it is an error");
    let off = builder(&folder).deny_warnings(true).warning("no-division-by-zero");
    off.compile([&path]).expect("it is turned off");
}

#[test]
fn indices_are_checked_where_that_is_asked_for() {
    let folder = Folder::new("builder-bounds");
    let text = "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
                @compute @workgroup_size(1) fn go() { x[x[0]] = 1; }";
    folder.file("a.wgsl", text);
    let length = |out: &str, checks| {
        let out = folder.0.join(out);
        builder(&folder).out_dir(&out).bounds_checks(checks).compile([folder.0.join("a.wgsl")]).unwrap();
        fs::metadata(out.join("a.spirv-1.3.spv")).unwrap().len()
    };
    assert!(length("unchecked", BoundsChecks::Unchecked) < length("restrict", BoundsChecks::Restrict));
}

#[test]
fn places_of_resources_are_chosen_for_shading_languages() {
    let folder = Folder::new("builder-places");
    folder.file("a.comp", SHADER);
    let place = |text: &str| text.parse::<Place>().unwrap();
    let built = builder(&folder).profile("wgsl").profile("spirv-1.3").place("0:3".parse().unwrap(), place("2:5"));
    built.push_constants(place("3:0")).compile([folder.0.join("a.comp")]).unwrap();
    let text = fs::read_to_string(folder.0.join("out/a.wgsl.wgsl")).unwrap();
    assert!(text.contains("@group(2) @binding(5)"), "{text}");
}

#[test]
fn what_is_wrong_is_told_and_nothing_written() {
    let folder = Folder::new("builder-wrong");
    folder.file("a.comp", SHADER);
    folder.file("a.wgsl", "@compute @workgroup_size(1) fn go() {}\n");
    folder.file("bad.comp", "#version 450\nvoid main() { x = 1; }\n");
    let path = |name: &str| folder.0.join(name);
    let says = |result: Result<(), Error>| result.unwrap_err().to_string();
    let wrong =
        says(builder(&folder).profile("spirv-1.3").profile("nv-volta").compile([path("a.comp"), path("bad.comp")]));
    assert_eq!(wrong, format!("cannot compile {}", path("bad.comp").display()));
    assert!(
        says(builder(&folder).compile([path("a.comp"), path("a.wgsl")]))
            .contains("two outputs are called a::SPIRV_1_3")
    );
    assert!(
        says(builder(&folder).profile("spirv-1.55").compile([path("a.comp")])).contains("did you mean `spirv-1.5`?")
    );
    let unknown = says(builder(&folder).warning("no-extra-txt").compile([path("a.comp")]));
    assert_eq!(unknown, "unknown warning `extra-txt`; did you mean `extra-text`?");
    assert!(says(builder(&folder).compile([path("none.comp")])).contains("cannot read"));
    assert!(says(builder(&folder).compile_dir(path("none"))).contains("cannot read"));
    assert!(!folder.0.join("out/shaders.rs").exists());
}

#[test]
fn two_builders_do_not_share_a_file() {
    let folder = Folder::new("builder-twins");
    folder.file("a.comp", SHADER);
    folder.file("b.comp", SHADER.replace("= N", "= N + 1u"));
    let path = |name: &str| folder.0.join(name);
    let first = || builder(&folder).compile([path("a.comp")]);
    first().unwrap();
    let text = generated(&folder);
    let refused = builder(&folder).define("M", "2").profile("spirv-1.5").compile([path("b.comp")]).unwrap_err();
    let says = format!(
        "two builders write {}: that of {} for spirv-1.3, N=5u and that of {} for spirv-1.5, N=5u, M=2; give one",
        path("out/shaders.rs").display(),
        path("a.comp").display(),
        path("b.comp").display(),
    );
    assert!(refused.to_string().starts_with(&says), "{refused}");
    assert_eq!(generated(&folder), text);
    first().expect("the same builder may run again");
    builder(&folder).name("second").compile([path("b.comp")]).unwrap();
    assert_eq!(generated(&folder), text);
    assert!(fs::read_to_string(path("out/second.rs")).unwrap().contains("pub mod b {"));
    assert!(path("out/second/b.spirv-1.3.spv").exists() && !path("out/b.spirv-1.3.spv").exists());
    builder(&folder).out_dir(path("elsewhere")).compile([path("b.comp")]).unwrap();
    for name in ["", "../x", "a b"] {
        let refused = builder(&folder).name(name).compile([path("b.comp")]).unwrap_err();
        assert!(refused.to_string().contains("cannot be called"), "{refused}");
    }
}

#[test]
fn the_folders_of_a_builder_may_hold_links_in_circles() {
    let folder = Folder::new("builder-links");
    fs::create_dir(folder.0.join("shaders")).unwrap();
    folder.file("shaders/a.comp", SHADER);
    for link in ["x", "y"] {
        std::os::unix::fs::symlink(".", folder.0.join("shaders").join(link)).unwrap();
    }
    builder(&folder).compile_dir(folder.0.join("shaders")).unwrap();
    assert_eq!(generated(&folder).matches("\npub mod ").count(), 1);
}

/// The example is a crate of this workspace. cargo compiles the library for it without the command line.
#[test]
fn the_example_builds_and_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_BIN_EXE_crosslane")).parent().unwrap();
    // Its folder is named after the profile, with one exception.
    let folder = target.file_name().unwrap().to_str().unwrap();
    let profile = if folder == "debug" { "dev" } else { folder };
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--offline", "--quiet", "--profile", profile, "-p", "build-script"]);
    let command = command.current_dir(root);
    let output = command.env_remove("CARGO_PKG_NAME").output().unwrap();
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{complained}");
    assert!(said.contains("sums of eight: [28, 92, 156, 220, 284, 348, 412, 476]"), "{said}");
    assert!(said.contains("workgroup [64, 1, 1], buffer `Data` at binding 0"), "{said}");
    let mut told: Vec<String> = Vec::new();
    for entry in fs::read_dir(target.join("build")).unwrap().map(|entry| entry.unwrap().path()) {
        let is_ours = entry.file_name().unwrap().to_string_lossy().starts_with("build-script-");
        told.extend(is_ours.then(|| fs::read_to_string(entry.join("output")).ok()).flatten());
    }
    let told = told.join("\n");
    for line in [
        "changed=shaders\n",
        "changed=shaders/reduce.comp\n",
        "changed=shaders/tools/index.glsl\n",
        "env-changed=OUT_DIR\n",
    ] {
        assert!(told.contains(&format!("cargo::rerun-if-{line}")), "{line}: {told}");
    }
}
