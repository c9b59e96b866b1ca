//! The warnings for this project's shaders: none except a few on purpose.

use crosslane::compile::{Input, Language, Options, parse};
use crosslane::diagnostic::{Code, Diagnostic};
use crosslane::glsl::preprocess::MacroOption;
use crosslane::ir::Stage;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use crosslane::warn::warnings;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 6] = ["core", "explain", "glsl", "language", "stages", "wgsl"];

/// Shaders that store the result of `reduce` in every lane, to see that it is undefined in most.
const UNDEFINED: [&str; 11] = [
    "fold_order.comp",
    "fold_order.wgsl",
    "proposal.comp",
    "reduce_bool.comp",
    "reduce_bool.wgsl",
    "reduce_float.comp",
    "reduce_float.wgsl",
    "reduce_int.comp",
    "reduce_int.wgsl",
    "reduce_uint.comp",
    "reduce_uint.wgsl",
];

/// A shader that is refused where subgroups are narrower than its segments.
const DIVERGENT: &str = "spanning_divergent.comp";

fn shaders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let files = FOLDERS.iter().flat_map(|folder| fs::read_dir(root.join(folder)).expect("a folder"));
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| stage(path).is_some() && !path.ends_with(DIVERGENT));
    paths.sort();
    paths
}

fn stage(path: &Path) -> Option<Stage> {
    match path.extension()?.to_str()? {
        "comp" | "wgsl" => Some(Stage::Compute),
        "vert" => Some(Stage::Vertex),
        "frag" => Some(Stage::Fragment),
        _ => None,
    }
}

/// The warnings about a shader's cross-lane operations, if it compiles.
fn warned(path: &Path, profile: &str, width: u32) -> Option<Vec<Diagnostic>> {
    let text = fs::read(path).expect("a shader");
    let language = if path.extension().is_some_and(|end| end == "wgsl") { Language::Wgsl } else { Language::Glsl };
    let mut options = Options::new(Profile::named(profile).expect("a profile"));
    options.stage = Some(stage(path)?);
    options.macros.push(MacroOption::define(&format!("WIDTH={width}")));
    let parsed = parse(&Input { name: &path.to_string_lossy(), bytes: &text, language }, &options, &NoIncludes);
    parsed.module.map(|module| warnings(&module, &options.profile))
}

#[test]
fn our_shaders_are_warned_of_what_they_do_on_purpose() {
    let mut names = BTreeSet::new();
    let mut compiled = 0;
    for path in shaders() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        for profile in ["spirv-1.6", "nv-hopper", "gfx1100-wave64"] {
            for width in [4, 32] {
                let Some(found) = warned(&path, profile, width) else { continue };
                compiled += 1;
                if !found.is_empty() {
                    let is_meant = |message: &Diagnostic| message.code == Code::RESULT_ELSEWHERE;
                    assert!(found.iter().all(is_meant), "{name}, {profile}, {width}: {found:?}");
                    names.insert(name.clone());
                }
            }
        }
    }
    assert!(compiled > 700, "{compiled} compiled");
    assert_eq!(names.iter().collect::<Vec<_>>(), UNDEFINED.iter().collect::<Vec<_>>());
}

#[test]
fn random_operations_where_all_lanes_are_together_are_warned_of_nowhere() {
    for seed in 0..60 {
        let text = support::generator::program::lane_kernel(seed);
        let options = Options::new(Profile::named("nv-hopper").expect("a profile"));
        let input = Input { name: "random.comp", bytes: text.as_bytes(), language: Language::Glsl };
        let parsed = parse(&input, &options, &NoIncludes);
        let module = parsed.module.expect("it is right");
        let found = warnings(&module, &options.profile);
        let shown: Vec<&str> = found.iter().map(|message| parsed.sources.text(message.span())).collect();
        assert!(found.is_empty(), "seed {seed}: {found:?}: {shown:?}\n{text}");
    }
}
