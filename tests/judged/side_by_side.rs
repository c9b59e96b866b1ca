//! Crosslane's texts next to those that SPIRV-Cross writes for glslang's modules for the same shaders, for people to
//! read.
//!
//! `CROSSLANE_SIDE_BY_SIDE=docs/verified/text-side-by-side.md cargo test --profile ci --test judged side_by_side::` writes the page.

use std::fmt::Write as _;
use std::path::Path;

use crosslane::compile::{Input, Language, Options};
use crosslane::source::NoIncludes;
use support::trial::{Trial, trial};
use support::{by_text, judge, report};

use super::core_language::stage_of;

const PAGE: &str = "CROSSLANE_SIDE_BY_SIDE";

/// A language with its profile, and the options of SPIRV-Cross for the same.
struct Way {
    name: &'static str,
    profile: &'static str,
    /// The language of the block; GLSL's are compute shaders that the book's test compiles.
    fence: &'static str,
    rival: &'static [&'static str],
}

static WAYS: [Way; 3] = [
    Way { name: "HLSL", profile: "hlsl-6.7", fence: "hlsl", rival: &["--hlsl", "--shader-model", "67"] },
    Way { name: "MSL", profile: "msl-3.0", fence: "cpp", rival: &["--msl", "--msl-version", "30000"] },
    Way { name: "GLSL", profile: "glsl-450-khr", fence: "c", rival: &["--vulkan-semantics", "--version", "450"] },
];

/// Shaders of `fixtures`, of several stages and subjects.
static SHADERS: [&str; 20] = [
    "core/block_alignment.comp",
    "core/control_flow_attributes.comp",
    "core/dot_products_vectors.comp",
    "core/literal_operands.comp",
    "core/run_time_length.comp",
    "core/shared_loads.comp",
    "core/swizzles_of_swizzles.comp",
    "core/uniform_blocks.comp",
    "graphics/discard_in_functions.frag",
    "graphics/gathers.comp",
    "graphics/image_stores.frag",
    "graphics/input_attachments.frag",
    "graphics/interface_blocks.frag",
    "graphics/interface_blocks.vert",
    "graphics/loops.frag",
    "graphics/separate_samplers.frag",
    "graphics/shadows.frag",
    "graphics/texture_lookups.comp",
    "graphics/texture_proj.frag",
    "graphics/vertex_inputs.vert",
];

pub fn trials() -> Vec<Trial> {
    let Some(page) = std::env::var_os(PAGE) else { return Vec::new() };
    vec![trial("page", move || std::fs::write(&page, made()?).map_err(|e| e.to_string()))]
}

fn made() -> Result<String, String> {
    let mut rows = Vec::new();
    let mut sections = String::new();
    for name in SHADERS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
        let source = std::fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
        let mut row = vec![format!("[{name}](#{})", name.replace(['/', '.'], ""))];
        let _ = write!(sections, "\n## {name}\n\n```c\n{}\n```\n", source.trim_end());
        for way in &WAYS {
            let (ours, theirs) = (ours(way, &path, &source)?, theirs(way, &path, &source)?);
            row.push(format!("{} : {}", length(&ours), length(&theirs)));
            for (writer, text) in [("crosslane", ours), ("SPIRV-Cross", theirs)] {
                let _ = write!(sections, "\n{} by {writer}:\n\n", way.name);
                let _ = match text {
                    Ok(text) => write!(sections, "```{}\n{}\n```\n", way.fence, text.trim_end()),
                    Err(why) => writeln!(sections, "Refused: {why}"),
                };
            }
        }
        rows.push(row);
    }
    let head: Vec<&str> = ["shader"].into_iter().chain(WAYS.iter().map(|way| way.name)).collect();
    Ok(format!("{HEAD}\n{}{sections}", report::table(&head, &rows)))
}

const HEAD: &str = "\
# Texts side by side

Twenty shaders of `fixtures` as crosslane writes them, and as SPIRV-Cross writes glslang's modules of them, both with what they do when
nothing else is asked for. The table has the bytes of both.

```sh
CROSSLANE_SIDE_BY_SIDE=docs/verified/text-side-by-side.md cargo test --profile ci --test judged side_by_side::
```
";

fn length(text: &Result<String, String>) -> String {
    text.as_ref().map_or_else(|_| "–".to_owned(), |text| text.len().to_string())
}

/// Crosslane's text, or the first line of the message if there is none.
fn ours(way: &Way, path: &Path, source: &str) -> Result<Result<String, String>, String> {
    let input = Input { name: "shader", bytes: source.as_bytes(), language: Language::Glsl };
    let stage = stage_of(path).ok_or("the end of its name says no stage")?;
    let options = Options { stage: Some(stage), ..Options::new(by_text::named(way.profile)?) };
    Ok(by_text::text(&input, &options, &NoIncludes)?.map_err(|refusal| refusal.first))
}

fn theirs(way: &Way, path: &Path, source: &str) -> Result<Result<String, String>, String> {
    let stage = stage_of(path).ok_or("the end of its name says no stage")?;
    let module = judge::glslang_stage(source, stage.ending())?;
    let first = |said: String| said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    Ok(judge::spirv_cross_text(&module, way.rival).map_err(first))
}
