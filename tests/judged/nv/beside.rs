//! Graphics fixtures in the text's interpreter, compared with glslang's modules for the same sources on lavapipe; and
//! results from the GPU, compared with the same modules on its own Vulkan driver.
//!
//! Values are compared up to the rounding of their formats; lavapipe filters with eight bits. [`NOT_COMPARED`] gives
//! the reason for each fixture whose text is only read here.

use crosslane::backend::nv::Program;

use super::PROFILE;
use super::graphics::Case;
use support::case::Column;
use support::compare::{Closeness, compare};
use support::lavapipe::{Buffers, Request, Scene};
use support::nv::{self, pictures};
use support::rival::{self, Judged};
use support::scalar::Type;

/// Tolerance for floats that interpolation has rounded.
const ROUNDED: f32 = 1e-4;

/// Tolerance where linear filters took part.
const FILTERED: f32 = 2e-2;

/// Fixtures whose results lavapipe does not determine.
pub static NOT_COMPARED: &[(&str, &str)] = &[
    ("ballots.frag", "a warp has 32 lanes, lavapipe eight"),
    ("narrow_varyings.frag", "lavapipe has no varyings of 16 bits"),
    ("texture_integers.comp", "its places lie on the borders between texels"),
    ("texture_shapes.frag", "which level of a cube, and so which texel, derivatives choose is the implementation's"),
    ("votes.frag", "lavapipe leaves helper invocations out of votes"),
    ("interpolate_at.frag", "the interpreter draws one sample per pixel"),
    ("vertex_doubles.frag", "lavapipe reads zeros from attributes of 64 bits; the text is held against formulas"),
    ("samples.frag", "the interpreter draws one sample per pixel"),
    ("sample_masks.frag", "the interpreter draws one sample per pixel"),
    ("input_attachments_sampled.frag", "the interpreter draws one sample per pixel"),
];

/// Fixtures with a larger tolerance: how precisely derivatives choose the level is up to the implementation.
static LEVELS: &[(&str, f32)] = &[("texture_query_lod.frag", 0.25), ("textures.frag", 0.1)];

/// Fixtures in which lavapipe gives NaN for inputs without perspective; those words are not compared.
static NOT_NUMBERS: &[&str] = &["interface_blocks.frag", "interpolation.frag"];

/// Runs both and compares the results.
pub fn check(case: &Case) -> Result<(), String> {
    let programs = case.programs(PROFILE)?;
    if let Some((name, why)) = NOT_COMPARED.iter().find(|(name, _)| *name == case.name) {
        eprintln!("{name} is read, and not compared: {why}");
        return programs.iter().try_for_each(|program| nv::read(&program.text));
    }
    agree(case, &interpreted(&programs, &case.request)?)
}

/// Compares the results of each run with those of glslang's modules.
pub fn agree(case: &Case, ours: &[Buffers]) -> Result<(), String> {
    agree_with(case, ours, &expected(case)?)
}

/// Compares the results of two programs after each run.
pub fn agree_with(case: &Case, ours: &[Buffers], theirs: &[Buffers]) -> Result<(), String> {
    for (run, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let formats = formats(&case.request, run);
        for (n, how) in case.judged.iter().enumerate() {
            let buffers = case.judged.len() - formats.len();
            let format = n.checked_sub(buffers).map(|at| &formats[at][..]);
            same(case, *how, format, &theirs[n], &ours[n]).map_err(|why| format!("run {run}, binding {n}: {why}"))?;
        }
    }
    Ok(())
}

/// The format of each compared image, after the buffers.
fn formats(request: &Request, run: usize) -> Vec<String> {
    let others = request.others.get(run).into_iter();
    let bound = others.flat_map(|resources| {
        let texels = resources.texels.iter().filter(|texels| texels.storage).map(|texels| texels.format.clone());
        let images = resources.images.iter().filter(|image| image.kind == support::device::ImageKind::Storage);
        texels.chain(images.map(|binding| binding.image.format.clone())).collect::<Vec<_>>()
    });
    let drawn = request.scenes.get(run).into_iter().flat_map(|scene| scene.target.images());
    bound.chain(drawn.map(|image| image.format.clone())).collect()
}

fn same(case: &Case, how: Judged, format: Option<&str>, theirs: &[u32], ours: &[u32]) -> Result<(), String> {
    let step = format.and_then(pictures::step);
    let of = |words: &[u32]| match (step, format) {
        (Some(_), Some(format)) => values(format, words),
        _ => words.to_vec(),
    };
    let kind = if step.is_some() { Type::F32 } else { how.kind };
    let closeness = match (kind, how.closeness) {
        (Type::F32, Closeness::Same) => Closeness::Within(step.unwrap_or(0.0).max(allowed(case))),
        (_, other) => other,
    };
    let skips = NOT_NUMBERS.contains(&&case.name[..]) && kind == Type::F32;
    let known = |word: u32| (!skips || !f32::from_bits(word).is_nan()).then_some(word);
    let expected: Column = of(theirs).into_iter().map(known).collect();
    compare(kind, closeness, &expected, &of(ours), 1)
}

/// The components of texels, as floats.
fn values(format: &str, words: &[u32]) -> Vec<u32> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes
        .chunks_exact(pictures::packed(format, [0; 4]).len())
        .flat_map(|texel| pictures::unpacked(format, texel))
        .collect()
}

fn allowed(case: &Case) -> f32 {
    let known = LEVELS.iter().find(|(name, _)| *name == case.name).map(|(_, share)| *share);
    known.unwrap_or(if case.is_filtered() { FILTERED } else { ROUNDED })
}

/// What the programs of a dispatch or a draw leave on the interpreter, after each run.
pub fn interpreted(programs: &[Program], request: &Request) -> Result<Vec<Buffers>, String> {
    match programs {
        [program] => nv::dispatch(&program.text, &program.reflection, request),
        [vertex, fragment] => {
            let both = [vertex.clone(), fragment.clone()];
            (0..request.runs.len()).map(|run| nv::draw::run(&both, request, run)).collect()
        }
        _ => Err("one program or two".to_owned()),
    }
}

/// The results of glslang's modules; for constructs that it does not know, the results of crosslane's modules, which
/// formulas judge.
pub fn expected(case: &Case) -> Result<Vec<Buffers>, String> {
    let modules: Vec<Vec<u32>> = case.modules()?;
    let scene = |scene: &Scene| Scene { vertex: modules[0].clone(), ..scene.clone() };
    let scenes = case.request.scenes.iter().map(scene).collect();
    rival::run(&Request { scenes, ..case.request.clone() }, &modules[modules.len() - 1])
}
