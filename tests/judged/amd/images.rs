//! Fixtures with images and texel buffers: the interpreter of AMD's text must give the same results as NVIDIA's.

use super::machine_code::Listing;
use super::{judge_listings, judging};
use crate::nv::graphics::{self, Case};
use crate::nv::{JUDGES, beside};
use crosslane::backend::amd::Program;
use crosslane::profile::Profile;
use std::sync::Arc;
use support::interpret::{Order, interpret};
use support::trial::{Trial, judged};

/// The compute shaders of `fixtures/graphics` that AMD's back end supports.
static TAKEN: &[&str] = &[
    "gathers.comp",
    "gathers_four_offsets.comp",
    "gathers_offsets.comp",
    "image_atomics.comp",
    "image_atomics_float.comp",
    "image_atomics_float_order.comp",
    "image_atomics_shared.comp",
    "non_uniform_forms.comp",
    "sampler_arrays.comp",
    "separate_samplers.comp",
    "shadow_lookups.comp",
    "texel_fetches.comp",
    "texture_cubes.comp",
    "texture_integers.comp",
    "texture_lookups.comp",
    "texture_offsets.comp",
    "texture_proj.comp",
    "texture_shapes.comp",
    "textures_with_samples.comp",
    "image_arrays.comp",
    "image_arrays_divergent.comp",
    "image_arrays_indexed.comp",
    "image_array_parameters.comp",
    "image_barriers.comp",
    "image_formats_float.comp",
    "image_formats_int.comp",
    "image_formats_one_int.comp",
    "image_formats_two.comp",
    "image_helpers.comp",
    "image_load_formatted.comp",
    "image_parameters.comp",
    "image_samples.comp",
    "image_shapes.comp",
    "image_without_format.comp",
    "storage_arrays.comp",
    "texel_buffers.comp",
];

/// The profile whose text gives the expected results.
const BESIDE: &str = "nv-hopper";

/// The fixtures that [`BESIDE`] cannot express: glslang's module gives the expected results.
const NOT_BESIDE: [&str; 1] = ["image_atomics_float_order.comp"];

/// The fixtures.
pub fn cases() -> Vec<Case> {
    let cases = graphics::cases().expect("the fixtures are part of the repository").into_iter();
    cases.filter(|case| TAKEN.contains(&&*case.name)).collect()
}

pub fn trials() -> Vec<Trial> {
    let taken = cases().into_iter().map(Arc::new);
    taken
        .map(|case| judged(format!("images::{}", case.name.replace('.', "_")), judges(&case), move || on_all(&case)))
        .collect()
}

fn judges(case: &Case) -> &'static [&'static str] {
    if NOT_BESIDE.contains(&&*case.name) { &JUDGES } else { &[] }
}

fn on_all(case: &Case) -> Result<(), String> {
    let theirs = if NOT_BESIDE.contains(&&*case.name) {
        beside::expected(case)
    } else {
        case.programs(BESIDE).and_then(|programs| beside::interpreted(&programs, &case.request))
    }?;
    let mut wrong = Vec::new();
    for profile in judging() {
        wrong.extend(on_one(case, &profile, &theirs).err().map(|why| format!("{}: {why}", profile.name)));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn on_one(case: &Case, profile: &Profile, theirs: &[Vec<Vec<u32>>]) -> Result<(), String> {
    let Some(program) = program(case, profile)? else { return Ok(()) };
    let ours = interpret(&program, &profile.processor, &case.request, Order::Ascending)?;
    if ours.len() != theirs.len() {
        return Err(format!("{} runs instead of {}", ours.len(), theirs.len()));
    }
    beside::agree_with(case, &ours, theirs)?;
    let listings = [Listing { name: case.name.clone(), text: program.text }];
    judge_listings(profile, &listings)
}

/// The kernel of a fixture; `None` if the processor lacks what it needs.
pub fn program(case: &Case, profile: &Profile) -> Result<Option<Program>, String> {
    let refusals = [
        " has no complete set of instructions for images",
        " gathers the wrong texels",
        "image's samples cannot be written",
    ];
    match case.amd_program(profile) {
        Err(why) if refusals.iter().any(|known| why.contains(known)) => Ok(None),
        program => program.map(Some),
    }
}
