//! Images, textures, the graphics stages and rays: the shaders of `fixtures/graphics` give the same pixels, images and
//! buffers as glslang's modules. Quad swizzles by their portable names, which glslang does not know, are compared with
//! formulas.

mod clip;
mod marks;
mod quads;
mod rays;
mod render;
mod text;
mod theirs;

use std::path::{Path, PathBuf};

use support::plan::Plan;
use support::trial::{Trial, judged};
use support::{dawn, fixture, metal, rival};

/// The tools needed to judge draws.
const JUDGES: [&str; 3] = ["bin/glslangValidator", "bin/spirv-val", "lvp.json"];

/// The tools needed to judge draws through other languages.
const TEXT_JUDGES: [&str; 4] = ["bin/glslangValidator", "bin/spirv-val", dawn::JUDGES[0], dawn::JUDGES[1]];

/// The shaders that lavapipe cannot run, with reasons: they are only compiled by both compilers and validated.
static NOT_RUN: &[(&str, &str)] = &[
    ("barycentric_frag", "lavapipe's process ends at gl_BaryCoordEXT, in glslang's module too"),
    ("narrow_varyings_frag", "lavapipe has no varyings of 16 bits and its process ends, in glslang's module too"),
    (
        "image_atomics_long_comp",
        "lavapipe makes no pipeline of atomics on images of 64 bits, of glslang's module neither",
    ),
];

/// Returns true if a fixture is one of [`NOT_RUN`]; prints the reason.
fn is_not_run(name: &str) -> bool {
    let Some((_, why)) = NOT_RUN.iter().find(|(known, _)| *known == name) else { return false };
    eprintln!("{name} is validated, and not run: {why}");
    true
}

pub fn trials() -> Vec<Trial> {
    let files = fixture::files("fixtures/graphics");
    let of = |end: &'static str| files.iter().filter(move |path| path.extension().is_some_and(|e| e == end)).cloned();
    let computed = of("comp").map(|path| judged(name(&path), &JUDGES, move || check(&path)));
    let drawn = of("frag").map(|path| judged(name(&path), &JUDGES, move || render::check(&path)));
    let by = |way: &'static text::Way| {
        let named = |path: &Path| format!("{}::{}", way.profile, name(path));
        let computed =
            of("comp").map(move |path| judged(named(&path), &TEXT_JUDGES, move || text::check_compute(way, &path)));
        let drawn =
            of("frag").map(move |path| judged(named(&path), &TEXT_JUDGES, move || text::check_draw(way, &path)));
        computed.chain(drawn)
    };
    let primitives = fixture::files("fixtures/graphics/primitives").into_iter();
    let primitives = primitives.filter(|path| path.extension().is_some_and(|end| end == "frag"));
    let primitives: Vec<_> = primitives.collect();
    let in_text = primitives.clone().into_iter().map(|path| {
        let named = format!("{}::{}", text::GLSL.profile, name(&path));
        judged(named, &JUDGES, move || text::check_draw(&text::GLSL, &path))
    });
    // DXC's SPIR-V has the stages of tessellation.
    let is_tessellated = |path: &PathBuf| path.with_extension("tesc").exists() && !path.with_extension("geom").exists();
    let tessellated = primitives.clone().into_iter().filter(is_tessellated).map(|path| {
        let named = format!("{}::{}", text::HLSL.profile, name(&path));
        judged(named, &TEXT_JUDGES, move || text::check_hlsl_draw(&path))
    });
    let drawn_primitives =
        primitives.clone().into_iter().map(|path| judged(name(&path), &JUDGES, move || render::check(&path)));
    let marks = judged("non_uniform_marks", &["bin/spirv-dis"], marks::check);
    let clip = judged("clip_spaces", &JUDGES, clip::check);
    let again = [&text::WGSL, &text::GLSL, &text::HLSL, &text::HLSL_6_6].into_iter().flat_map(by);
    let shaders: Vec<_> = of("comp").chain(of("frag")).chain(primitives.clone()).collect();
    let msl = text::MSL.map(|profile| {
        let shaders = shaders.clone();
        judged(profile, &[metal::JUDGE], move || text::check_msl(profile, &shaders))
    });
    computed
        .chain(drawn)
        .chain(again)
        .chain(msl)
        .chain(drawn_primitives)
        .chain(in_text)
        .chain(tessellated)
        .chain(quads::trials())
        .chain(rays::trials())
        .chain([marks, clip])
        .collect()
}

/// The file's name, because a dispatch and a draw may share a stem.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().replace('.', "_")
}

fn check(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let plan = Plan::read(&source)?;
    if is_not_run(&name(path)) {
        rival::theirs(&source)?;
        return rival::hold_profiles(
            &source,
            &[],
            &[],
            |p| Ok(vec![rival::ours("shader", &source, p)?]),
            |_| Ok(vec![]),
        );
    }
    let request = plan.request();
    let theirs = theirs::left(path, || rival::run(&request, &rival::theirs(&source)?))?;
    let make = |profile: &str| Ok(vec![rival::ours(&name(path), &source, profile)?]);
    rival::hold_profiles(&source, &plan.judged(), &theirs, make, |modules| rival::run(&request, &modules[0]))
}
