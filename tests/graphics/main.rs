//! Images, textures and the graphics stages: the shaders of `fixtures/graphics` leave the same pixels, images and
//! buffers behind whether this compiler or glslang compiled them. What glslang does not know, quad swizzles by their
//! portable names, is held against formulas.

// Several test binaries share it and none uses all of it.
#[allow(dead_code)]
#[path = "../support/mod.rs"]
mod support;

mod quads;
mod render;

use std::path::Path;

use libtest_mimic::Trial;
use support::plan::Plan;
use support::{fixture, rival, trial};

/// Who judges what is drawn.
const JUDGES: [&str; 3] = ["bin/glslangValidator", "bin/spirv-val", "lvp.json"];

fn main() {
    trial::main(trials);
}

fn trials() -> Vec<Trial> {
    let files = fixture::files("fixtures/graphics");
    let of = |end: &'static str| files.iter().filter(move |path| path.extension().is_some_and(|e| e == end)).cloned();
    let computed = of("comp").map(|path| trial::judged(name(&path), &JUDGES, move || check(&path)));
    let drawn = of("frag").map(|path| trial::judged(name(&path), &JUDGES, move || render::check(&path)));
    computed.chain(drawn).chain(quads::trials()).collect()
}

/// The name of the file, since a dispatch and a draw may share a stem.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().replace('.', "_")
}

fn check(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let plan = Plan::read(&source)?;
    rival::agree_on_driver(&name(path), &source, &plan.request(), &plan.judged()).map(drop)
}
