//! Vertex and fragment shaders, textures and images: the flow of inputs and outputs, and combined textures and
//! samplers.

use super::{codes, sound};
use crate::compile::Options;
use crate::diagnostic::{Diagnostic, Diagnostics, render};
use crate::glsl;
use crate::ir::{BuiltIn, ImageOp, ImageParts, InterpolateAt, Interpolation, MathFn, Stage};
use crate::kernel::tree::Tree;
use crate::kernel::{BinOp, Kernel, Op, Site, Specializations, Ty, lower};
use crate::profile::Profile;
use crate::source::{NoIncludes, SourceMap};

fn lowered(stage: Stage, text: &str) -> Result<Kernel, Vec<Diagnostic>> {
    let mut sources = SourceMap::new();
    let text = format!("#version 460\n{text}");
    let file = sources.add("test.glsl", &*text).expect("it is short");
    let profile = Profile::named("spirv-1.6").expect("it is built in");
    let mut diagnostics = Diagnostics::new();
    let options = Options { stage: Some(stage), ..Options::new(profile) };
    let module = glsl::compile(file, &mut sources, &NoIncludes, &options.glsl(), &mut diagnostics, None);
    let module = module.unwrap_or_else(|| panic!("{}", render::human(&sources, &diagnostics)));
    let kernel = lower(&module, &Specializations::new())?;
    sound(&kernel);
    Ok(kernel)
}

fn kernel(stage: Stage, text: &str) -> Kernel {
    lowered(stage, text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The operations of a kernel in their order.
fn operations(kernel: &Kernel) -> Vec<Op> {
    Tree::new(kernel).insts(kernel).into_iter().map(|inst| kernel.insts[inst].op).collect()
}

#[test]
fn matrices_arrays_and_blocks_have_a_location_for_each_part() {
    let text = "
layout(location = 1) in mat2x3 m;
layout(location = 3, component = 1) in vec2 pair[2];
layout(location = 0) out Block { vec3 n; layout(location = 6) flat ivec2 k; } block;
void main() { block.n = m[1] + vec3(pair[1], 0.0); block.k = ivec2(1); }";
    let kernel = kernel(Stage::Vertex, text);
    let read: Vec<(u32, u8)> = operations(&kernel)
        .into_iter()
        .filter_map(|op| match op {
            Op::Input { location, component } => Some((location, component)),
            _ => None,
        })
        .collect();
    assert_eq!(read, [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2)]);
    let sites: Vec<Site> = kernel.outputs.iter().map(|output| output.site).collect();
    assert_eq!(sites, [Site::Location(0), Site::Location(6)]);
}

#[test]
fn every_way_to_the_end_gives_the_outputs() {
    let text = "
layout(location = 0) in float x;
layout(location = 0) out float y;
void main() { y = 1.0; if (x > 0.5) return; y = x; }";
    let kernel = kernel(Stage::Fragment, text);
    let written = operations(&kernel).into_iter().filter(|op| matches!(op, Op::Output { .. })).count();
    assert_eq!(written, 2);
    assert_eq!(kernel.inputs[0].interpolation, Interpolation::Perspective);
}

#[test]
fn what_is_discarded_gives_nothing_and_a_helper_goes_on() {
    let text = "
#extension GL_EXT_demote_to_helper_invocation : require
layout(location = 0) in float x;
layout(location = 0) out float y;
void main() { if (x > 0.5) discard; if (x < 0.25) demote; y = dFdx(x); }";
    let found = operations(&kernel(Stage::Fragment, text));
    assert_eq!(found.iter().filter(|op| **op == Op::Kill).count(), 2);
    assert_eq!(found.iter().filter(|op| **op == Op::Return).count(), 2);
    assert_eq!(found.iter().filter(|op| matches!(op, Op::Output { .. })).count(), 1);
    assert!(found.contains(&Op::Derivative(MathFn::DerivX)));
}

#[test]
fn whether_it_helps_is_read_first_and_follows_demote_through_loops_and_calls() {
    let shader = |asked: &str| {
        format!(
            "
#extension GL_EXT_demote_to_helper_invocation : require
layout(location = 0) in float x;
layout(location = 0) out float y;
void leave(float from) {{ if (x > from) demote; }}
void main() {{ for (int i = 0; float(i) < x; i++) leave(float(i)); y = {asked}; }}"
        )
    };
    let (kernel, silent) = (
        kernel(Stage::Fragment, &shader("helperInvocationEXT() ? 1.0 : 0.0")),
        kernel(Stage::Fragment, &shader("0.0")),
    );
    let found = operations(&kernel);
    assert_eq!(found.first(), Some(&Op::BuiltIn(BuiltIn::HelperInvocation, 0)));
    let bools = |kernel: &Kernel| {
        let insts = Tree::new(kernel).insts(kernel);
        let inst = insts.into_iter().find(|inst| matches!(kernel.insts[*inst].op, Op::Loop { .. }));
        kernel.results(inst.expect("there is a loop")).filter(|value| kernel.ty(*value) == Ty::Bool).count()
    };
    assert_eq!((bools(&kernel), bools(&silent)), (1, 0));
    assert!(!operations(&silent).contains(&Op::BuiltIn(BuiltIn::HelperInvocation, 0)));
}

#[test]
fn each_texture_and_sampler_that_are_used_together_are_one_image() {
    let text = "
layout(set = 1, binding = 2) uniform texture2D pictures[3];
layout(set = 1, binding = 0) uniform sampler a;
layout(set = 1, binding = 1) uniform sampler b;
layout(set = 0, binding = 5, r32f) uniform image2D stored;
layout(location = 0) out vec4 colour;
vec4 of(texture2D picture, sampler how) { return textureLod(sampler2D(picture, how), vec2(0.5), 0.0); }
void main() {
    colour = of(pictures[2], b) + of(pictures[0], a) + of(pictures[2], a) + of(pictures[0], a) + imageLoad(stored, ivec2(0));
}";
    let kernel = kernel(Stage::Fragment, text);
    let pairs: Vec<(u32, Option<u32>)> =
        kernel.images.iter().map(|image| (image.place.element, image.sampler.map(|sampler| sampler.binding))).collect();
    // Textures in the order of their bindings, then images.
    assert_eq!(pairs, [(0, Some(0)), (2, Some(0)), (2, Some(1)), (0, None)]);
    assert!(kernel.images[3].ty.storage && kernel.images[3].writable);
}

#[test]
fn projected_coordinates_and_references_are_divided() {
    let text = "
layout(binding = 0) uniform sampler2DShadow depths;
layout(location = 0) in vec4 p;
layout(location = 0) out float y;
void main() { y = textureProj(depths, p); }";
    let found = operations(&kernel(Stage::Fragment, text));
    assert_eq!(found.iter().filter(|op| matches!(op, Op::Bin(BinOp::Div, _))).count(), 3);
    let parts = ImageParts::COORDINATE | ImageParts::REFERENCE;
    assert!(found.contains(&Op::Image { op: ImageOp::Sample, image: 0, parts }));
}

#[test]
fn inputs_are_looked_at_in_other_places_by_their_parts() {
    let text = "
layout(location = 2) in vec2 pair[2];
layout(location = 0) out vec4 colour;
void main() { colour = vec4(interpolateAtOffset(pair[1], vec2(0.25)), interpolateAtCentroid(pair[0].y), 0.0); }";
    let found = operations(&kernel(Stage::Fragment, text));
    let at = |at, location, component| found.contains(&Op::Interpolate { at, location, component });
    assert!(
        at(InterpolateAt::Offset, 3, 0) && at(InterpolateAt::Offset, 3, 1) && at(InterpolateAt::Centroid, 2, 1),
        "{found:?}"
    );
}

#[test]
fn built_in_values_belong_to_their_stage() {
    let text = "
layout(location = 0) out vec4 colour;
void main() { colour = gl_FragCoord + float(gl_FrontFacing) + float(gl_SampleMaskIn[0]); gl_FragDepth = 0.5; }";
    let kernel = kernel(Stage::Fragment, text);
    let found = operations(&kernel);
    assert!(
        found.contains(&Op::BuiltIn(BuiltIn::FragCoord, 3)) && found.contains(&Op::BuiltIn(BuiltIn::SampleMask, 0))
    );
    assert!(found.contains(&Op::Output { site: Site::BuiltIn(BuiltIn::FragDepth), component: 0 }));
}

#[test]
fn wide_and_narrow_numbers_cross_the_border_in_words() {
    let text = "
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
layout(location = 0) flat in dvec3 wide;
layout(location = 2) in float16_t narrow;
layout(location = 0) out vec4 colour;
void main() { colour = vec4(float(wide.z), float(wide.x), float(narrow), 0.0); }";
    let kernel = kernel(Stage::Fragment, text);
    let found = operations(&kernel);
    let reads = |location, component| found.contains(&Op::Input { location, component });
    assert!(reads(0, 0) && reads(0, 1) && reads(1, 0) && reads(1, 1) && reads(2, 0), "{found:?}");
    let flat = |at: usize| kernel.inputs[at].interpolation == Interpolation::Flat;
    assert!(flat(0) && flat(1) && !flat(2));
}

#[test]
fn a_wide_attribute_is_whole_at_its_first_location() {
    let text = "
layout(location = 0) in dvec4 four[2];
layout(location = 5, component = 2) in double late;
layout(location = 4) in vec2 narrow;
void main() { gl_Position = vec4(four[1].w, late, narrow); }";
    let kernel = kernel(Stage::Vertex, text);
    let wide: Vec<(u32, bool)> = kernel.inputs.iter().map(|input| (input.location, input.wide)).collect();
    assert_eq!(wide, [(0, true), (2, true), (4, false), (5, true)]);
    let found = operations(&kernel);
    let reads = |location, component| found.contains(&Op::Input { location, component });
    assert!(reads(0, 3) && reads(2, 3) && reads(5, 1) && reads(4, 1) && !reads(1, 0) && !reads(3, 0), "{found:?}");
}

#[test]
fn built_in_arrays_of_any_length_are_refused() {
    for last in [8, 64, 300] {
        let text = format!(
            "
#extension GL_NVX_multiview_per_view_attributes : require
void main() {{ gl_ViewportMaskPerViewNV[{last}] = 1; }}"
        );
        assert_eq!(codes(lowered(Stage::Vertex, &text)), ["E0703"], "{last}");
    }
}

#[test]
fn a_second_source_is_a_place_of_its_own() {
    let text = "
layout(location = 0, index = 0) out vec4 colour;
layout(location = 0, index = 1) out vec4 factor;
void main() { colour = vec4(1.0); factor = vec4(0.5); }";
    let sites: Vec<Site> = kernel(Stage::Fragment, text).outputs.iter().map(|output| output.site).collect();
    assert_eq!(sites, [Site::Location(0), Site::SecondSource(0)]);
}

#[test]
fn an_index_that_the_run_knows_is_an_operand() {
    let text = "
layout(binding = 0) uniform sampler2D t[3]; layout(location = 0) flat in int k; layout(location = 0) out vec4 c;
void main() { c = texture(t[k], vec2(gl_FragCoord.xy)); }";
    let kernel = kernel(Stage::Fragment, text);
    assert_eq!(kernel.images.iter().map(|image| image.choices.count).collect::<Vec<u32>>(), [3]);
    let found = operations(&kernel);
    // Levels come from gradients, which all neighbours compute, whichever elements they select.
    let parts = ImageParts::COORDINATE | ImageParts::GRADIENTS;
    assert!(found.contains(&Op::Image { op: ImageOp::Sample, image: 0, parts }), "{found:?}");
    assert!(found.contains(&Op::Derivative(MathFn::DerivX)));
}

#[test]
fn a_subpass_input_is_fetched_at_the_fragment() {
    let text = "
layout(input_attachment_index = 0, binding = 3) uniform subpassInput before; layout(location = 0) out vec4 c;
void main() { c = subpassLoad(before); }";
    let kernel = kernel(Stage::Fragment, text);
    let found = operations(&kernel);
    let parts = ImageParts::COORDINATE | ImageParts::LOD;
    assert!(found.contains(&Op::Image { op: ImageOp::Fetch, image: 0, parts }), "{found:?}");
    assert!(found.contains(&Op::BuiltIn(BuiltIn::FragCoord, 1)));
    assert_eq!(kernel.images[0].place.binding, 3);
}

#[test]
fn what_kernels_do_not_have_is_said() {
    let refused = |stage, text: &str| codes(lowered(stage, text));
    let indexed = "
layout(binding = 0) uniform sampler2D t[4]; layout(location = 0) flat in int k; layout(location = 0) out vec4 c;
void main() { c = texture(t[k], vec2(0.5), 1.0); }";
    assert_eq!(refused(Stage::Fragment, indexed), ["E0703"]);
}
