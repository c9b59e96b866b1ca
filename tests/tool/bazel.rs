//! The Bazel rules in `bazel/`, without Bazel: the list of inputs is exact, and the rule's command needs no other file.

use crate::folder::{Folder, status, stderr};
use std::fs;
use std::path::Path;
use support::bless;

const FARM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/farm");
const SHADERS: [(&str, &[&str]); 2] =
    [("shaders/sum.comp", &["shaders/include/workgroup.glsl"]), ("shaders/sort.wgsl", &[])];

#[test]
fn the_page_shows_the_build_of_the_farm() {
    let page = include_str!("../../docs/guide/farms.md");
    let shown = crate::book::blocks(page, "python");
    assert_eq!(
        shown.iter().map(|(_, text)| &**text).collect::<Vec<_>>(),
        [include_str!("../../examples/farm/BUILD.bazel")]
    );
}

fn copy(folder: &Folder, name: &str) {
    let to = folder.0.join(name);
    fs::create_dir_all(to.parent().expect("a folder")).unwrap();
    fs::copy(Path::new(FARM).join(name), to).unwrap();
}

#[test]
fn the_list_of_inputs_is_what_the_script_writes() {
    let folder = Folder::new("bazel-inputs");
    for (shader, includes) in SHADERS {
        copy(&folder, shader);
        includes.iter().for_each(|include| copy(&folder, include));
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/bazel/inputs.py");
    let program = env!("CARGO_BIN_EXE_crosslane");
    let mut arguments = vec![script, "--crosslane", program, "--"];
    arguments.extend(SHADERS.map(|(shader, _)| shader));
    let Some((done, text)) = folder.say("python3", &arguments) else { return };
    assert!(done, "{text}");
    bless::hold("examples/farm/inputs.bzl", &text).unwrap_or_else(|why| panic!("{why}"));
    for include in SHADERS.iter().flat_map(|(_, includes)| *includes) {
        assert!(text.contains(&format!("\"{include}\"")), "{text}");
    }
}

/// Runs the rule's command as a sandbox does, in a folder with only the inputs.
#[test]
fn a_sandbox_with_the_inputs_makes_what_a_build_makes() {
    let tree = Folder::new("bazel-tree");
    copy(&tree, "crosslane.toml");
    SHADERS
        .iter()
        .flat_map(|(shader, includes)| [shader].into_iter().chain(*includes))
        .for_each(|name| copy(&tree, name));
    let built = tree.run(&["build", "-q"]);
    assert_eq!(status(&built), 0, "{}", stderr(&built));
    for (shader, includes) in SHADERS {
        for (profile, name, ending) in
            [("spirv-1.5", "spirv-1.5", "spv"), ("nv-ampere", "nv-ampere", "glasm"), ("gfx1100", "wave32.gfx1100", "s")]
        {
            let sandbox = Folder::new("bazel-sandbox");
            copy(&sandbox, shader);
            includes.iter().for_each(|include| copy(&sandbox, include));
            let output = format!("out.{ending}");
            let made = sandbox.run(&["compile", shader, "-p", profile, "--wave-size=16..", "-o", &output]);
            assert_eq!(status(&made), 0, "{}", stderr(&made));
            let stem = Path::new(shader).file_stem().unwrap().to_str().unwrap();
            let wanted = fs::read(tree.0.join(format!("out/{stem}.{name}.{ending}"))).unwrap();
            assert_eq!(fs::read(sandbox.0.join(output)).unwrap(), wanted, "{shader} for {profile}");
            if let Some(include) = includes.first() {
                fs::remove_file(sandbox.0.join(include)).unwrap();
                assert_eq!(
                    status(&sandbox.run(&["compile", shader, "-p", profile, "-o", "-"])),
                    1,
                    "without {include}"
                );
            }
        }
    }
}
