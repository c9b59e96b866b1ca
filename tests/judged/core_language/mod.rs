//! The core language without lane operations: every shader in `fixtures/core` gives the same buffers whether compiled
//! by crosslane or by glslang, and is valid for every profile.

mod debugger;
mod dialects;
mod entries;
mod lines;
mod numbers;
mod products;
mod stages;
mod texts;

use crosslane::ir::Stage;
use std::path::Path;

use support::plan::Plan;
use support::trial::{Trial, judged};
use support::{fixture, lavapipe, rival};

pub fn trials() -> Vec<Trial> {
    let judges = ["bin/glslangValidator", "bin/spirv-val", "lvp.json"];
    let core = fixture::files("fixtures/core").into_iter();
    let core = core.map(|path| judged(stem(&path), &judges, move || check(&path)));
    let compared = ["bin/glslangValidator", "bin/spirv-val", "bin/spirv-dis"];
    let stages = fixture::files("fixtures/stages").into_iter();
    let numbered = fixture::files("fixtures/spirv").into_iter();
    let numbered = numbered.map(|path| judged(stem(&path), &compared, move || numbers::check(&path)));
    let stages = stages.map(|path| judged(stem(&path), &compared, move || stages::check(&path)));
    let opengl = fixture::files("fixtures/opengl").into_iter();
    let opengl =
        opengl.map(|path| judged(format!("opengl {}", stem(&path)), &compared, move || stages::check_opengl(&path)));
    let own = lavapipe::own_driver().into_iter();
    let products = own.map(|lanes| judged("products", &[], move || products::check(lanes)));
    let entries = std::iter::once(judged("entries", &["bin/spirv-val"], entries::check));
    let lines = std::iter::once(judged("lines", &["bin/spirv-val"], lines::check));
    let told = debugger::FIXTURES.into_iter();
    let told = told.map(|name| judged(format!("debugger {name}"), &compared, move || debugger::check(name)));
    core.chain(told)
        .chain(stages)
        .chain(numbered)
        .chain(opengl)
        .chain(products)
        .chain(entries)
        .chain(lines)
        .chain(texts::trials())
        .chain(dialects::trials())
        .collect()
}

/// The stage of a shader by its file.
pub fn stage_of(path: &Path) -> Option<Stage> {
    stages::stage(path)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn check(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let plan = Plan::read(&source)?;
    rival::agree(&stem(path), &source, &plan.request(), &plan.judged())
}
