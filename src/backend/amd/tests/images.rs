//! Images, textures and samplers: descriptors among the arguments, and the address of each generation.

use super::{builder, own, program, words};
use crate::backend::amd::Program;
use crate::backend::amd::reflection::ArgumentKind;
use crate::ir::{BuiltIn, ImageDim, ImageOp, ImageParts, ImageType, Scalar};
use crate::kernel::{BindingPoint, Builder, Choices, Image, Op, Ty, Value, image};
use crate::source::Span;

const PLAIN: ImageType = ImageType {
    sampled: Scalar::F32,
    dim: ImageDim::D2,
    arrayed: false,
    multisampled: false,
    depth: false,
    storage: false,
    format: 0,
};

fn bound(binding: u32, ty: ImageType) -> Image {
    Image {
        name: "image".into(),
        place: BindingPoint { set: 0, binding, element: 0 },
        choices: Choices::ONE,
        sampler: None,
        sampler_choices: Choices::ONE,
        ty,
        compares: false,
        writable: false,
        coherent: false,
        volatile: false,
        span: Span::NONE,
    }
}

/// An operation on an image of the kernel with single-word operands.
fn on(b: &mut Builder, number: u32, op: ImageOp, parts: ImageParts, word: Value) -> Vec<Value> {
    let ty = b.kernel.images[number as usize].ty;
    let count = image::arguments(ty, op, parts).map(|(_, count)| count).sum();
    let inst = b.inst(Op::Image { op, image: number, parts }, &vec![word; count], &image::results(ty, op, parts));
    b.kernel.results(inst).collect()
}

/// A kernel that stores the first result of an operation on an image of a type.
fn first_of(profile: &str, ty: ImageType, op: ImageOp, parts: ImageParts) -> Program {
    let mut b = builder(64);
    b.kernel.images.push(bound(4, ty));
    let (address, word) = own(&mut b);
    let found = on(&mut b, 0, op, parts, word);
    b.store(words(1, 4), address, &found[..1]);
    program(b, profile)
}

/// The line of an instruction.
fn line<'t>(text: &'t str, name: &str) -> &'t str {
    text.lines().map(str::trim).find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"))
}

/// The address of an image instruction.
fn address(line: &str) -> &str {
    let (_, rest) = line.split_once(", ").expect("a result");
    rest.split_once(", s[").expect("a descriptor").0
}

#[test]
fn descriptors_follow_the_other_arguments() {
    let mut b = builder(64);
    let texels = ImageType { dim: ImageDim::Buffer, ..PLAIN };
    b.kernel.images.extend([bound(9, texels), bound(7, PLAIN), bound(5, PLAIN)]);
    let (address, word) = own(&mut b);
    let mut sum = on(&mut b, 0, ImageOp::Fetch, ImageParts::COORDINATE, word)[0];
    for (number, op, parts) in [
        (1, ImageOp::Sample, ImageParts::COORDINATE | ImageParts::LOD),
        (2, ImageOp::Sample, ImageParts::COORDINATE | ImageParts::LOD),
    ] {
        let texel = on(&mut b, number, op, parts, word)[0];
        sum = b.bin(crate::kernel::BinOp::Add, Scalar::F32, sum, texel);
    }
    b.store(words(1, 4), address, &[sum]);
    let Program { reflection, .. } = program(b, "gfx1100-wave32");
    let found: Vec<(ArgumentKind, u32, Option<u32>)> =
        reflection.arguments.iter().map(|argument| (argument.kind, argument.offset, argument.binding)).collect();
    let expected = [
        (ArgumentKind::Storage, 0, Some(3)),
        (ArgumentKind::TexelBuffer, 16, Some(9)),
        (ArgumentKind::Image, 32, Some(7)),
        (ArgumentKind::Image, 64, Some(5)),
        (ArgumentKind::Sampler, 96, Some(5)),
        (ArgumentKind::Sampler, 112, Some(7)),
    ];
    assert_eq!(found, expected);
    assert_eq!(reflection.argument_bytes, 128);
}

#[test]
fn addresses_of_each_generation() {
    let parts = ImageParts::COORDINATE | ImageParts::GRADIENTS;
    let sampled = |profile| first_of(profile, PLAIN, ImageOp::Sample, parts).text;
    for (profile, start, operands) in [
        ("gfx900", "v[", 1),
        // More separate registers than an address list can have there.
        ("gfx1010-wave32", "v[", 1),
        ("gfx1030-wave32", "[v", 6),
        ("gfx1100-wave32", "[v", 5),
        ("gfx1201-wave32", "[v", 4),
    ] {
        let text = sampled(profile);
        let line = line(&text, "image_sample_d ");
        let address = address(line);
        assert!(address.starts_with(start) && address.split(", ").count() == operands, "{profile}: {line}");
        assert_eq!(line.contains(" dim:SQ_RSRC_IMG_2D"), profile != "gfx900", "{line}");
    }
}

#[test]
fn lines_are_planes_on_gfx9() {
    let line_of = |profile| {
        let text =
            first_of(profile, ImageType { dim: ImageDim::D1, ..PLAIN }, ImageOp::Sample, ImageParts::COORDINATE).text;
        line(&text, "image_sample_lz ").to_owned()
    };
    let [before, widened] = ["gfx803", "gfx900"].map(line_of);
    assert!(!address(&before).contains('['), "{before}");
    assert!(address(&widened).starts_with("v["), "{widened}");
    assert!(line_of("gfx1030-wave32").contains(" dim:SQ_RSRC_IMG_1D"), "{}", line_of("gfx1030-wave32"));
}

#[test]
fn sizes_of_texel_buffers() {
    let texels = ImageType { dim: ImageDim::Buffer, ..PLAIN };
    let size = |profile| first_of(profile, texels, ImageOp::Size, ImageParts::empty()).text;
    assert!(size("gfx803").contains("s_mul_i32") && !size("gfx900").contains("s_mul_i32"));
}

/// A kernel that loads from every second one of five images, by the lane index or the workgroup index.
fn indexed(profile: &str, differs: bool) -> String {
    let mut b = builder(64);
    let choices = Choices { count: 3, step: 2 };
    b.kernel.images.push(Image { choices, ..bound(4, ImageType { storage: true, ..PLAIN }) });
    let (address, own) = own(&mut b);
    let group = b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
    let index = if differs { own } else { group };
    let parts = ImageParts::COORDINATE;
    let ty = b.kernel.images[0].ty;
    let results = image::results(ty, ImageOp::Read, parts);
    let inst = b.inst(Op::Image { op: ImageOp::Read, image: 0, parts }, &[own, own, index], &results);
    let texel: Vec<Value> = b.kernel.results(inst).collect();
    b.store(words(1, 4), address, &texel[..1]);
    program(b, profile).text
}

#[test]
fn an_index_that_lanes_share_is_part_of_the_address_of_the_descriptor() {
    for profile in ["gfx900", "gfx1030-wave32", "gfx1100-wave64", "gfx1201-wave32"] {
        let text = indexed(profile, false);
        let index = line(&text, "s_lshl_b32");
        assert!(
            index.ends_with(", 6") && text.contains(" offset:32") && text.contains("s_min_u32"),
            "{profile}: {text}"
        );
        assert!(!text.contains("readfirstlane") && !text.contains("cbranch"), "{profile}: {text}");
    }
    // No register together with a constant.
    assert!(!indexed("gfx803", false).contains(" offset:"));
}

#[test]
fn indices_that_differ_are_taken_one_after_the_other() {
    for (profile, count) in [("gfx900", 1), ("gfx1100-wave32", 1), ("gfx1201-wave64", 2)] {
        let text = indexed(profile, true);
        let (_, round) = text.split_once("v_readfirstlane_b32").expect("the first index");
        let (round, _) = round.split_once("s_cbranch_execnz").expect("the next round");
        assert!(round.contains("image_load "), "{profile}: {text}");
        // If results come in order, an iteration does not wait for the previous one.
        let waits = round.lines().filter(|line| line.contains("s_wait") && line.contains("cnt")).count();
        assert_eq!(waits, count, "{profile}: {text}");
    }
}
