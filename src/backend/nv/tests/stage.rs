//! Textures, images, and programs of vertices and fragments.

use super::{F, body, emit, options, program};
use crate::ir::{
    AtomicOp, BuiltIn, ImageDim, ImageOp, ImageParts, ImageType, Interpolation, MathFn, Order, Sampling, Scalar, Scope,
};
use crate::kernel::{
    BindingPoint, Buffer, Builder, Choices, Image, Input, Kernel, MemoryAccess, MemorySpace, Op, Output, Site, Stage,
    Ty, Value, image,
};
use crate::lane::op::QuadMove;
use crate::lane::primitive::NvOp;
use crate::lane::{Primitive, ReduceOp};
use crate::source::{SourceMap, Span};

const PLACE: ImageParts = ImageParts::COORDINATE;

fn image_type(dim: ImageDim, arrayed: bool, format: Option<u8>) -> ImageType {
    let (storage, format) = (format.is_some(), format.unwrap_or(0));
    ImageType { sampled: F, dim, arrayed, multisampled: false, depth: false, storage, format }
}

fn bound(ty: ImageType, compares: bool) -> Image {
    Image {
        name: "picture".into(),
        place: BindingPoint { set: 0, binding: 4, element: 0 },
        choices: Choices::ONE,
        sampler: None,
        sampler_choices: Choices::ONE,
        ty,
        compares,
        writable: ty.storage,
        coherent: false,
        volatile: false,
        span: Span::NONE,
    }
}

/// A builder of a kernel of a stage with these images, an input at location 0 and an output there.
fn stage(stage: Stage, images: Vec<Image>) -> Builder {
    let mut kernel = Kernel::new("main", [1; 3]);
    (kernel.stage, kernel.images) = (stage, images);
    let (interpolation, sampling) = (Interpolation::Linear, Sampling::Centroid);
    kernel.inputs.push(Input {
        name: "place".into(),
        location: 2,
        wide: false,
        interpolation,
        sampling,
        span: Span::NONE,
    });
    for site in [Site::Location(0), Site::Location(1), Site::BuiltIn(BuiltIn::FragDepth)] {
        kernel.outputs.push(Output { name: "colour".into(), site, span: Span::NONE });
    }
    Builder::new(kernel)
}

fn input(b: &mut Builder, component: u8) -> Value {
    b.value(Op::Input { location: 2, component }, &[], Ty::B32)
}

fn output(b: &mut Builder, value: Value) {
    b.effect(Op::Output { site: Site::Location(0), component: 0 }, &[value]);
}

/// An operation on image 0; its results.
fn operate(b: &mut Builder, op: ImageOp, parts: ImageParts, args: &[Value]) -> Vec<Value> {
    let results = image::results(b.kernel.images[0].ty, op, parts);
    let inst = b.inst(Op::Image { op, image: 0, parts }, args, &results);
    b.kernel.results(inst).collect()
}

/// The lines of an operation in a fragment program whose first result is a colour; operands are components of the
/// input.
fn lines(image: Image, op: ImageOp, parts: ImageParts, constants: &[u32]) -> Vec<String> {
    let mut b = stage(Stage::Fragment, vec![image]);
    let count: usize = image::arguments(b.kernel.images[0].ty, op, parts).map(|(_, count)| count).sum();
    let mut args: Vec<Value> = (0..count - constants.len()).map(|at| input(&mut b, at as u8 & 3)).collect();
    args.extend(constants.iter().map(|bits| b.u32(*bits)));
    let found = operate(&mut b, op, parts, &args);
    found.first().into_iter().for_each(|value| output(&mut b, *value));
    body(b)
}

#[test]
fn a_texture_takes_an_attribute_as_it_is() {
    let texture = bound(image_type(ImageDim::D2, false, None), false);
    let found = lines(texture, ImageOp::Sample, PLACE, &[]);
    assert_eq!(found[..2], ["TEX.F R0.xyzw, a2.xyxx, texture[0], 2D;", "MOV.U o0.x, R0.x;"]);
}

#[test]
fn levels_and_references_stand_where_the_target_wants_them() {
    let parts = PLACE | ImageParts::REFERENCE | ImageParts::LOD;
    let of = |dim, arrayed, level| lines(bound(image_type(dim, arrayed, None), true), ImageOp::Sample, parts, &[level]);
    let plain = of(ImageDim::D2, false, 1_f32.to_bits());
    assert!(plain.contains(&"TXL.F R0.x, R0.xyzw, texture[0], SHADOW2D;".to_owned()));
    // `TXL` does not have these targets.
    for (dim, arrayed, target) in [(ImageDim::D2, true, "SHADOWARRAY2D"), (ImageDim::Cube, false, "SHADOWCUBE")] {
        let first = of(dim, arrayed, (-0_f32).to_bits());
        assert_eq!(first[0], format!("TXD.F R0.x, a2.xyzw, {{0, 0, 0, 0}}, {{0, 0, 0, 0}}, texture[0], {target};"));
    }
}

#[test]
fn what_shadow_maps_of_layers_lack_is_refused() {
    let refused = |dim, parts: ImageParts, what: &str| {
        let mut b = stage(Stage::Fragment, vec![bound(image_type(dim, true, None), true)]);
        let parts = PLACE | ImageParts::REFERENCE | parts;
        let count: usize =
            image::arguments(b.kernel.images[0].ty, ImageOp::Sample, parts).map(|(_, count)| count).sum();
        let args: Vec<Value> = (0..count).map(|at| input(&mut b, at as u8 & 3)).collect();
        let found = operate(&mut b, ImageOp::Sample, parts, &args);
        output(&mut b, found[0]);
        b.effect(Op::Return, &[]);
        let options = options("test.frag");
        let said = emit(&b.kernel, &options, &SourceMap::new()).map(|program| program.text).unwrap_err();
        assert_eq!(
            said[0].message,
            format!("crosslane cannot write {what} for a texture of this kind as NVIDIA assembly yet")
        );
    };
    refused(ImageDim::D2, ImageParts::LOD, "a level other than the first");
    refused(ImageDim::D2, ImageParts::BIAS, "a bias");
    refused(ImageDim::Cube, ImageParts::GRADIENTS, "gradients");
}

#[test]
fn a_gather_with_four_offsets_has_those_of_each_axis() {
    let texture = bound(image_type(ImageDim::D2, false, None), false);
    let offsets = [1, 2, -3, 4, 5, -6, -7, -8].map(|offset: i32| offset as u32);
    let found = lines(texture, ImageOp::Gather, PLACE | ImageParts::OFFSETS, &offsets);
    assert_eq!(found[0], "TXGO.F R0.xyzw, a2.xyxx, {1, -3, 5, -7}, {2, 4, -6, -8}, texture[0], 2D;");
}

#[test]
fn constant_offsets_are_written_out() {
    let texture = bound(image_type(ImageDim::D2, false, None), false);
    let found = lines(texture, ImageOp::Sample, PLACE | ImageParts::OFFSET, &[1, -2_i32 as u32]);
    assert_eq!(found[0], "TEX.F R0.xyzw, a2.xyxx, texture[0], 2D, offset({1, -2, 0, 0});");
}

#[test]
fn offsets_of_gradients_are_numbers_and_others_may_be_attributes() {
    let texture = || bound(image_type(ImageDim::D2, false, None), false);
    let parts = PLACE | ImageParts::GRADIENTS | ImageParts::OFFSET;
    let found = lines(texture(), ImageOp::Sample, parts, &[-1_i32 as u32, 1]);
    assert_eq!(found[0], "TXD.F R0.xyzw, a2.xyxx, a2.zwzz, a2.xyxx, texture[0], 2D, (-1, 1);");
    let found = lines(texture(), ImageOp::Sample, PLACE | ImageParts::OFFSET, &[]);
    assert_eq!(found[0], "TEX.F R0.xyzw, a2.xyxx, texture[0], 2D, offset(a2.zwzz);");
}

#[test]
fn texels_of_a_format_are_unpacked() {
    let found = lines(bound(image_type(ImageDim::D2, false, Some(4)), false), ImageOp::Read, PLACE, &[]);
    assert_eq!(found[..2], ["LOADIM.U32 R0.x, a2.xyxx, image[0], 2D;", "UP4UB.F R0.x, R0.x;"]);
    let found = lines(bound(image_type(ImageDim::D2, false, Some(8)), false), ImageOp::Read, PLACE, &[]);
    let small = ["LOADIM.U32 R0.x, a2.xyxx, image[0], 2D;", "BFE.U R0.w, {11, 0, 0, 0}, R0.x;", "SHL.U R0.w, R0.w, 4;"];
    assert_eq!(found[..3], small);
}

#[test]
fn an_image_without_a_format_asks_for_formatted_loads() {
    let mut b = stage(Stage::Fragment, vec![bound(image_type(ImageDim::D1, true, Some(0)), false)]);
    let at = [input(&mut b, 0), input(&mut b, 1)];
    let found = operate(&mut b, ImageOp::Read, PLACE, &at);
    output(&mut b, found[3]);
    b.effect(Op::Return, &[]);
    let text = program(&b.kernel).text;
    assert!(text.contains("OPTION EXT_shader_image_load_formatted;\n"), "{text}");
    // The layer of a 1D array is the third component.
    assert!(text.contains("LOADIM.F R0.xyzw, a2.xxyx, image[0], ARRAY1D;"), "{text}");
}

#[test]
fn stores_and_atomics_of_texels_stay() {
    let mut b = stage(Stage::Fragment, vec![bound(image_type(ImageDim::D2, false, Some(33)), false)]);
    b.kernel.images[0].ty.sampled = Scalar::U32;
    b.kernel.images[0].coherent = true;
    let at = [0, 1].map(|n| input(&mut b, n));
    let data = [1, 2, 3, 4].map(|n| b.u32(n));
    operate(&mut b, ImageOp::Write, PLACE | ImageParts::DATA, &[at.as_slice(), &data].concat());
    let swapped = ImageOp::Atomic(AtomicOp::CompareExchange, Scope::Device, Order::Relaxed);
    let parts = PLACE | ImageParts::COMPARED | ImageParts::DATA;
    operate(&mut b, swapped, parts, &[at.as_slice(), &data[..2]].concat());
    let found = body(b);
    assert_eq!(found[0], "STOREIM.U.COH image[0], {1, 2, 3, 4}, a2.xyxx, 2D;");
    assert_eq!(found[1], "ATOMIM.CSWAP.U32 R0.x, {1, 2, 0, 0}, a2.xyxx, image[0], 2D;");
}

#[test]
fn the_head_declares_what_flows_in_and_out() {
    let mut b = stage(Stage::Fragment, Vec::new());
    let value = input(&mut b, 1);
    b.effect(Op::Output { site: Site::Location(1), component: 2 }, &[value]);
    b.effect(Op::Output { site: Site::BuiltIn(BuiltIn::FragDepth), component: 0 }, &[value]);
    b.effect(Op::Return, &[]);
    b.kernel.fragment.early_tests = true;
    let made = program(&b.kernel);
    let (head, code) = made.text.split_once("main:\n").expect("every program has a label");
    assert!(head.starts_with("!!NVfp5.0\n"));
    let declared = "OPTION ARB_draw_buffers;\nOPTION NV_early_fragment_tests;\n\
        NOPERSPECTIVE CENTROID ATTRIB a2 = fragment.attrib[2];\nOUTPUT o0 = result.color;\nOUTPUT o1 = result.color[1];\n";
    assert!(head.ends_with(declared), "{head}");
    assert_eq!(code, "  MOV.U o1.z, a2.y;\n  MOV.U result.depth.z, a2.y;\nEND\n");
    assert_eq!(made.reflection.gl.program_target, 0x8804);
}

#[test]
fn a_second_source_is_the_other_result_of_its_colour() {
    let mut b = stage(Stage::Fragment, Vec::new());
    b.kernel.outputs.truncate(1);
    b.kernel.outputs.push(Output { name: "factor".into(), site: Site::SecondSource(0), span: Span::NONE });
    let value = input(&mut b, 1);
    b.effect(Op::Output { site: Site::SecondSource(0), component: 3 }, &[value]);
    b.effect(Op::Return, &[]);
    let text = program(&b.kernel).text;
    assert!(text.contains("OPTION ARB_blend_func_extended;\n"), "{text}");
    let declared = "OUTPUT o0 = result.color;\nOUTPUT b0 = result.color.secondary;\n";
    assert!(text.contains(declared) && text.contains("  MOV.U b0.w, a2.y;\n"), "{text}");
}

#[test]
fn buffers_and_second_sources_have_names_of_their_own() {
    let mut b = stage(Stage::Fragment, Vec::new());
    b.kernel.buffers.push(Buffer::storage("data", 3));
    b.kernel.outputs.truncate(1);
    b.kernel.outputs.push(Output { name: "factor".into(), site: Site::SecondSource(0), span: Span::NONE });
    let address = b.u32(0);
    let value = b.load(MemoryAccess::words(MemorySpace::Buffer(0), 0, 1), address)[0];
    b.effect(Op::Output { site: Site::SecondSource(0), component: 0 }, &[value]);
    b.effect(Op::Return, &[]);
    let text = program(&b.kernel).text;
    let heads = ["STORAGE ", "OUTPUT "];
    let declared = text.lines().filter_map(|line| heads.iter().find_map(|head| line.strip_prefix(head)));
    let mut names: Vec<&str> = declared.filter_map(|line| line.split([' ', '[']).next()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(count == 3 && names.len() == 3, "{text}");
}

#[test]
fn fragments_that_end_are_killed_and_helpers_go_on() {
    let mut b = stage(Stage::Fragment, Vec::new());
    let value = input(&mut b, 0);
    b.effect(Op::Kill, &[]);
    let slope = b.value(Op::Derivative(MathFn::DerivXFine), &[value], Ty::B32);
    output(&mut b, slope);
    let found = body(b);
    assert_eq!(found[..3], ["MOV.U.CC RC.x, 1;", "KIL NE.x;", "DDX.F32.FINE R0.w, a2.x;"]);
}

#[test]
fn whether_a_thread_helps_is_kept_from_before_it_is_killed() {
    let mut b = stage(Stage::Fragment, Vec::new());
    let helps = b.value(Op::BuiltIn(BuiltIn::HelperInvocation, 0), &[], Ty::Bool);
    b.effect(Op::Kill, &[]);
    let [yes, no] = [1, 0].map(|bits| b.u32(bits));
    let chosen = b.value(Op::Select, &[helps, yes, no], Ty::B32);
    output(&mut b, chosen);
    let found = body(b);
    assert_eq!(found[0], "MOV.U R0.w, fragment.helperthread.x;");
    assert_eq!(found[1..3], ["MOV.U.CC RC.x, 1;", "KIL NE.x;"]);
    assert_eq!(found[3], "CMP.S R0.w, R0.w, 1, 0;");
}

#[test]
fn the_number_of_a_sample_says_where_it_is() {
    let mut b = stage(Stage::Fragment, Vec::new());
    let down = b.value(Op::BuiltIn(BuiltIn::SamplePosition, 1), &[], Ty::B32);
    output(&mut b, down);
    b.effect(Op::Return, &[]);
    let text = program(&b.kernel).text;
    assert!(text.contains("\nPARAM sp[32] = { state.multisample.positions[0..31] };\n"), "{text}");
    assert!(text.contains("  MOV.U R0.w, fragment.sampleid.x;\n  MOV.U R0.w, sp[R0.w].y;\n"), "{text}");
}

#[test]
fn a_swizzle_of_a_quad_adds_its_operand() {
    let mut b = stage(Stage::Fragment, Vec::new());
    let (own, moved) = (input(&mut b, 0), input(&mut b, 1));
    let primitive = Primitive::Nv(NvOp::QuadSwizzle(QuadMove::X));
    let sum = b.value(Op::CombineMoved { op: ReduceOp::Add, ty: F, primitive }, &[own, moved], Ty::B32);
    let plain = b.value(Op::Prim { primitive, ty: F }, &[sum], Ty::B32);
    output(&mut b, plain);
    let found = body(b);
    assert!(found.contains(&"QSWZX.F R0.w, R0.z, R0.w;".to_owned()), "{found:?}");
    assert!(found.contains(&"QSWZX.F R0.w, R0.w, {0, 0, 0, 0};".to_owned()), "{found:?}");
}

#[test]
fn vertices_know_their_number_and_where_they_are() {
    let mut kernel = Kernel::new("main", [1; 3]);
    kernel.stage = Stage::Vertex;
    for site in [Site::Location(3), Site::BuiltIn(BuiltIn::Position)] {
        kernel.outputs.push(Output { name: "out".into(), site, span: Span::NONE });
    }
    let mut b = Builder::new(kernel);
    let number = b.value(Op::BuiltIn(BuiltIn::VertexIndex, 0), &[], Ty::B32);
    let instance = b.value(Op::BuiltIn(BuiltIn::InstanceIndex, 0), &[], Ty::B32);
    b.effect(Op::Output { site: Site::BuiltIn(BuiltIn::Position), component: 3 }, &[number]);
    b.effect(Op::Output { site: Site::Location(3), component: 1 }, &[instance]);
    b.effect(Op::Return, &[]);
    let made = program(&b.kernel);
    assert!(made.text.starts_with("!!NVvp5.0\n"));
    assert!(made.text.contains("  MOV.U result.position.w, vertex.id.x;\n"), "{}", made.text);
    assert!(made.text.contains("ADD.U R0.w, vertex.instance.x, c[0].x;"), "{}", made.text);
    assert_eq!((made.reflection.base_instance_word, made.reflection.local_parameters), (Some(0), 1));
}

/// A vertex program that writes a constant to components of built-in results.
fn writes(results: &[(BuiltIn, u8)]) -> Kernel {
    let mut kernel = Kernel::new("main", [1; 3]);
    kernel.stage = Stage::Vertex;
    for (built_in, _) in results {
        kernel.outputs.push(Output { name: "out".into(), site: Site::BuiltIn(*built_in), span: Span::NONE });
    }
    kernel.outputs.sort_by_key(|output| output.site);
    let mut b = Builder::new(kernel);
    let value = b.u32(7);
    for (built_in, component) in results {
        b.effect(Op::Output { site: Site::BuiltIn(*built_in), component: *component }, &[value]);
    }
    b.effect(Op::Return, &[]);
    b.kernel
}

#[test]
fn attributes_of_64_bits_are_long() {
    let mut b = Builder::new(Kernel::new("main", [1; 3]));
    b.kernel.stage = Stage::Vertex;
    let (interpolation, sampling) = (Interpolation::Flat, Sampling::Center);
    b.kernel.inputs.push(Input {
        name: "d".into(),
        location: 3,
        wide: true,
        interpolation,
        sampling,
        span: Span::NONE,
    });
    b.kernel.outputs.push(Output { name: "out".into(), site: Site::Location(0), span: Span::NONE });
    let long = b.value(Op::Input { location: 3, component: 2 }, &[], Ty::B64);
    let high = b.value(Op::High, &[long], Ty::B32);
    output(&mut b, high);
    b.effect(Op::Return, &[]);
    let text = program(&b.kernel).text;
    assert!(text.contains("OPTION NV_gpu_program_fp64;\nLONG ATTRIB a3 = vertex.attrib[3];\n"), "{text}");
    assert!(text.contains("  MOV.U64 D0.w, a3.z;\n  UP64.U R0.y, D0.w;\n"), "{text}");
}

#[test]
fn vertices_choose_layers_and_viewports() {
    let text = program(&writes(&[(BuiltIn::Layer, 0), (BuiltIn::ViewportIndex, 0)])).text;
    assert!(text.contains("\nOPTION NV_viewport_array2;\n"), "{text}");
    assert!(text.contains("  MOV.U result.layer.x, 7;\n  MOV.U result.viewport.x, 7;\n"), "{text}");
}

#[test]
fn planes_that_cull_are_counted_from_the_last_one_down() {
    let results = [(BuiltIn::ClipDistance, 1), (BuiltIn::CullDistance, 0), (BuiltIn::CullDistance, 1)];
    let text = program(&writes(&results)).text;
    assert!(text.contains("\nOPTION ARB_cull_distance;\n"), "{text}");
    let written = "  MOV.U result.clip[1].x, 7;\n  MOV.U result.cull[7].x, 7;\n  MOV.U result.cull[6].x, 7;\n";
    assert!(text.contains(written), "{text}");
}

#[test]
fn fragments_read_layers_and_distances_where_vertices_leave_them() {
    let mut b = stage(Stage::Fragment, Vec::new());
    for (component, (built_in, of)) in
        (0..).zip([(BuiltIn::Layer, 0), (BuiltIn::ViewportIndex, 0), (BuiltIn::CullDistance, 1)])
    {
        let value = b.value(Op::BuiltIn(built_in, of), &[], Ty::B32);
        b.effect(Op::Output { site: Site::Location(0), component }, &[value]);
    }
    b.effect(Op::Return, &[]);
    let text = program(&b.kernel).text;
    assert!(
        text.contains("\nOPTION ARB_cull_distance;\nOPTION ARB_draw_buffers;\nOPTION ARB_fragment_layer_viewport;\n")
    );
    let read = ["fragment.layer.x", "fragment.viewport.x", "fragment.cull[6].x"];
    assert!(read.iter().all(|name| text.contains(&format!(", {name};"))), "{text}");
}

#[test]
fn all_planes_together_are_eight() {
    let kernel = writes(&[(BuiltIn::ClipDistance, 6), (BuiltIn::CullDistance, 1)]);
    let options = options("test.vert");
    let said = emit(&kernel, &options, &SourceMap::new()).expect_err("they are nine");
    assert!(said[0].message.starts_with("7 clip and 2 cull distances"), "{said:?}");
}
