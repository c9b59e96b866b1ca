//! The same shaders through other shading languages: the results match those of glslang's modules, or the shader is
//! refused for a listed reason.

use std::path::{Path, PathBuf};

use crosslane::ir::Stage;

use super::render::Sources;
use super::theirs;
use support::by_text::{self, Made, Outcome};
use support::plan::Plan;
use support::{metal, rival};

/// A language that shaders are compiled through.
pub struct Way {
    pub profile: &'static str,
    /// Fixtures that it cannot express, with a part of the message.
    refused: &'static [&'static [(&'static str, &'static str)]],
    /// True if its modules run; otherwise making them is enough.
    runs: bool,
}

pub static WGSL: Way = Way { profile: "wgsl", refused: &[NO_LANGUAGE, NO_WGSL], runs: true };
pub static GLSL: Way = Way { profile: "glsl-450-khr", refused: &[], runs: true };
/// DXC assigns locations to inputs and outputs in its own way.
pub static HLSL: Way = Way { profile: "hlsl-6.7", refused: &[NO_HLSL], runs: false };
pub static HLSL_6_6: Way = Way { profile: "hlsl-6.6", ..HLSL };

/// No Metal compiler is available here: a C++ compiler takes the texts with declarations from a header.
pub const MSL: [&str; 3] = ["msl-3.0", "msl-3.1", "msl-3.2"];

/// What the language lacks, or the writer so far, with a part of the message.
static NO_LANGUAGE: &[(&str, &str)] = &[
    ("barycentric_frag", "GL_EXT_fragment_shader_barycentric"),
    ("clip_and_cull_frag", "built-in value ClipDistance"),
    ("clipping_frag", "built-in value ClipDistance"),
    ("components_frag", "crosslane cannot write inputs and outputs at parts of locations as"),
    ("culling_frag", "built-in value CullDistance"),
    ("debug_printf_comp", "GL_EXT_debug_printf"),
    ("demote_frag", "such built-in function"),
    ("demoted_neighbours_frag", "such built-in function"),
    ("draw_parameters_frag", "built-in value BaseVertex"),
    ("early_tests_frag", "early tests of fragments"),
    ("flat_doubles_frag", "such built-in function"),
    ("flat_longs_frag", "WGSL has no type u64"),
    ("gathers_four_offsets_comp", "such operations on images"),
    ("gathers_offsets_comp", "offsets of samples that are not constants"),
    ("helper_invocation_frag", "built-in value HelperInvocation"),
    ("image_array_parameters_comp", "GL_EXT_shader_image_load_formatted"),
    ("image_arrays_comp", "WGSL has no texel buffers"),
    ("image_arrays_indexed_comp", "atomic operations on textures"),
    ("image_atomics_comp", "atomic operations on textures"),
    ("image_atomics_float_comp", "atomic operations on textures"),
    ("image_atomics_float_order_comp", "GL_EXT_shader_atomic_float2"),
    ("image_atomics_frag", "atomic operations on textures"),
    ("image_atomics_long_comp", "GL_EXT_shader_image_int64"),
    ("image_atomics_shared_comp", "atomic operations on textures"),
    ("image_helpers_comp", "atomic operations on textures"),
    ("image_load_formatted_comp", "GL_EXT_shader_image_load_formatted"),
    ("image_parameters_comp", "GL_EXT_shader_image_load_formatted"),
    ("image_samples_comp", "storage textures of several samples"),
    ("image_shapes_comp", "storage textures of cubes"),
    ("image_without_format_comp", "storage textures without a format"),
    ("interpolate_at_frag", "interpolation at another place"),
    ("layers_frag", "built-in value Layer"),
    ("multiview_frag", "GL_EXT_multiview"),
    ("narrow_varyings_frag", "type i16"),
    ("non_uniform_forms_comp", "atomic operations on textures"),
    ("non_uniform_frag", "arrays of resources with more than 16 elements, or without a length"),
    ("outputs_frag", "crosslane cannot write inputs and outputs at parts of locations as"),
    ("points_frag", "built-in value PointCoord"),
    ("samples_frag", "built-in value SamplePosition"),
    ("shadow_first_levels_frag", "GL_EXT_texture_shadow_lod"),
    ("shadow_lookups_comp", "comparisons at a level that is not the one of derivatives or 0"),
    ("shadows_frag", "comparisons at a level that is not the one of derivatives or 0"),
    ("single_sample_frag", "built-in value SamplePosition"),
    ("spec_constants_frag", "arrays with a specialization constant as their length, except in workgroup memory"),
    ("texel_buffers_comp", "texel buffers"),
    ("texture_integers_comp", "samples of textures of integers"),
    ("texture_query_lod_frag", "GL_ARB_texture_query_lod"),
    ("textures_with_samples_comp", "arrays of multisampled textures"),
    ("vertex_doubles_frag", "such built-in function"),
    ("vertex_inputs_frag", "crosslane cannot write inputs and outputs at parts of locations as"),
    ("vertex_textures_frag", "texel buffers"),
];

static NO_HLSL: &[(&str, &str)] = &[
    ("debug_printf_comp", "crosslane cannot write printing as HLSL yet"),
    ("flat_doubles_frag", "HLSL has no inputs and outputs of 64 bits"),
    ("flat_longs_frag", "HLSL has no inputs and outputs of 64 bits"),
    ("image_atomics_float_comp", "HLSL has no atomic operations on floats"),
    ("image_atomics_float_order_comp", "HLSL has no atomic operations on floats"),
    ("image_samples_comp", "crosslane cannot write storage textures of several samples as HLSL yet"),
    ("outputs_frag", "crosslane cannot write outputs of fragments at parts of locations as HLSL"),
    ("references_frag", "HLSL has no buffer references"),
    ("shadow_first_levels_frag", "HLSL has no comparisons at such levels of detail"),
    ("shadow_lookups_comp", "HLSL has no comparisons at such levels of detail"),
    ("shadows_frag", "HLSL has no comparisons at such levels of detail"),
    ("texture_integers_comp", "HLSL has no samples of textures of integers"),
    ("vertex_doubles_frag", "HLSL has no inputs and outputs of 64 bits"),
];

static NO_MSL: &[(&str, &str)] = &[
    ("barycentric_frag", "MSL has no inputs of each vertex in fragment shaders"),
    ("clip_and_cull_frag", "MSL has no built-in value CullDistance"),
    ("culling_frag", "MSL has no built-in value CullDistance"),
    ("debug_printf_comp", "crosslane cannot write printing as MSL yet"),
    ("flat_doubles_frag", "MSL has no numbers of 64 bits with a fraction"),
    ("flat_longs_frag", "MSL has no inputs and outputs of 64 bits"),
    ("geometry_adjacency_frag", GEOMETRY),
    ("geometry_blocks_frag", GEOMETRY),
    ("geometry_layers_frag", GEOMETRY),
    ("geometry_lines_frag", GEOMETRY),
    ("geometry_passes_frag", GEOMETRY),
    ("geometry_points_frag", GEOMETRY),
    ("geometry_triangles_frag", GEOMETRY),
    ("gathers_offsets_comp", "MSL has no offsets of samples that are not constants"),
    ("image_arrays_indexed_comp", ATOMICS),
    ("image_atomics_comp", ATOMICS),
    ("image_atomics_float_comp", ATOMICS),
    ("image_atomics_float_order_comp", ATOMICS),
    ("image_atomics_frag", ATOMICS),
    ("image_atomics_long_comp", ATOMICS),
    ("image_atomics_shared_comp", ATOMICS),
    ("image_helpers_comp", ATOMICS),
    ("image_samples_comp", "MSL has no writes to textures of several samples"),
    ("non_uniform_forms_comp", ATOMICS),
    ("tessellated_geometry_frag", GEOMETRY),
    ("tessellated_lines_frag", "MSL has no isolines"),
    ("vertex_doubles_frag", "MSL has no numbers of 64 bits with a fraction"),
];

const GEOMETRY: &str = "MSL has no geometry shaders";

const ATOMICS: &str = "MSL has no atomic operations on textures before version 3.1";

/// Those of [`ATOMICS`] that later versions cannot express either.
static NO_ATOMICS: &[(&str, &str)] = &[
    ("image_atomics_float_comp", "MSL has no atomic operations on such textures"),
    ("image_atomics_float_order_comp", "MSL has no atomic operations on such textures"),
    ("image_atomics_long_comp", "MSL has no atomic operations on such textures"),
];

/// Why a version of Metal's language does not express a fixture.
fn no_msl(profile: &str, name: &str) -> Option<&'static str> {
    let of = |list: &'static [(&str, &str)]| list.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason);
    match of(NO_MSL) {
        Some(ATOMICS) if profile != MSL[0] => of(NO_ATOMICS),
        reason => reason,
    }
}

static NO_WGSL: &[(&str, &str)] = &[("references_frag", "crosslane cannot write buffer references as WGSL yet")];

/// A dispatch.
pub fn check_compute(way: &Way, path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let plan = Plan::read(&source)?;
    let Some(made) = all_made(way, path, [(Stage::Compute, source.as_str())].into_iter())? else { return Ok(()) };
    if !way.runs || super::is_not_run(&super::name(path)) {
        return Ok(());
    }
    let request = plan.request();
    let theirs = theirs::left(path, || rival::run(&request, &rival::theirs(&source)?))?;
    let ours = rival::run(&by_text::split(&request, &made), &made[0].module)?;
    hold(&plan, &theirs, &ours)
}

/// Checks the texts of all dispatches and draws in Metal's language.
pub fn check_msl(profile: &str, files: &[PathBuf]) -> Result<(), String> {
    let mut texts = Vec::new();
    for path in files {
        let of = |why: String| format!("{}: {why}", super::name(path));
        let sources: Vec<(Stage, String)> = if path.extension().is_some_and(|end| end == "comp") {
            vec![(Stage::Compute, std::fs::read_to_string(path).map_err(|e| e.to_string())?)]
        } else {
            Sources::read(path)?.all().map(|(stage, text)| (stage, text.to_owned())).collect()
        };
        texts.extend(msl_of(profile, path, &sources).map_err(of)?);
    }
    metal::takes(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The texts for all stages of a program; `None` if one is refused, as the lists expect.
fn msl_of(profile: &str, path: &Path, sources: &[(Stage, String)]) -> Result<Vec<String>, String> {
    let name = super::name(path);
    let known = no_msl(profile, &name);
    let mut texts = Vec::new();
    let stages: Vec<(Stage, &str)> = sources.iter().map(|(stage, source)| (*stage, source.as_str())).collect();
    for made in by_text::linked(profile, &name, &stages)? {
        match (made, known) {
            (Ok(text), _) => texts.push(text),
            (Err(refusal), Some(reason)) if refusal.said.contains(reason) => return Ok(Vec::new()),
            (Err(refusal), _) => return Err(refusal.said),
        }
    }
    match known {
        None => Ok(texts),
        Some(reason) => Err(format!("it is expressed, and the list says {reason:?}")),
    }
}

/// Checks a draw.
pub fn check_draw(way: &Way, path: &Path) -> Result<(), String> {
    let sources = Sources::read(path)?;
    let Some(made) = all_made(way, path, sources.all())? else { return Ok(()) };
    if !way.runs || super::is_not_run(&super::name(path)) {
        return Ok(());
    }
    let request = sources.plan.request();
    let theirs = theirs::left(path, || sources.run(&request, &sources.theirs()?))?;
    let modules: Vec<Vec<u32>> = made.iter().map(|made| made.module.clone()).collect();
    let ours = sources.run(&by_text::split(&request, &made), &modules)?;
    hold(&sources.plan, &theirs, &ours)
}

/// Checks a draw with DXC's modules for the HLSL of all stages.
pub fn check_hlsl_draw(path: &Path) -> Result<(), String> {
    let sources = Sources::read(path)?;
    let stages: Vec<(Stage, &str)> = sources.all().collect();
    by_text::make_all(HLSL.profile, &super::name(path), &stages)?;
    let modules = by_text::hlsl_modules(HLSL.profile, &super::name(path), &stages)?;
    let request = sources.plan.request();
    let theirs = theirs::left(path, || sources.run(&request, &sources.theirs()?))?;
    hold(&sources.plan, &theirs, &sources.run(&request, &modules)?)
}

type Runs = [support::lavapipe::Buffers];

fn hold(plan: &Plan, theirs: &Runs, ours: &Runs) -> Result<(), String> {
    let runs = theirs.iter().zip(ours);
    runs.into_iter().try_for_each(|(theirs, ours)| rival::differences(&plan.judged(), theirs, ours))
}

/// The modules for all stages, which are compiled together; `None` if one is refused, as the list expects.
fn all_made<'s>(
    way: &Way,
    path: &Path,
    sources: impl Iterator<Item = (Stage, &'s str)>,
) -> Result<Option<Vec<Made>>, String> {
    let name = super::name(path);
    let reason = way.refused.iter().copied().flatten().find(|(known, _)| *known == name).map(|(_, reason)| *reason);
    let mut all = Vec::new();
    for outcome in by_text::make_all(way.profile, &name, &sources.collect::<Vec<_>>())? {
        match (outcome, reason) {
            (Outcome::Made(made), _) => all.push(made),
            (Outcome::Refused(said), Some(reason)) if said.contains(reason) => return Ok(None),
            (Outcome::Refused(said), _) => return Err(said),
        }
    }
    match reason {
        None => Ok(Some(all)),
        Some(reason) => Err(format!("it is expressed, and the list says {reason:?}")),
    }
}
