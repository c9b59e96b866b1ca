//! Images and derivatives after passes: reads stay on their side of writes, and derivatives stay in place.

use super::super::{dce, gvn, licm, optimize};
use super::check;
use crate::ir::{ImageDim, ImageOp, ImageParts, ImageType, MathFn, Scalar};
use crate::kernel::print::print;
use crate::kernel::uniform::Uniformity;
use crate::kernel::{
    BindingPoint, Buffer, Builder, Choices, Image, Kernel, MemoryAccess, MemorySpace, Op, Output, Site, Stage, Ty,
    Value, image,
};
use crate::lane::Activity;
use crate::source::Span;

const PLACE: ImageParts = ImageParts::COORDINATE;

/// A builder of a fragment shader's kernel with a writable image, a buffer and an output.
fn builder() -> Builder {
    let (sampled, dim) = (Scalar::U32, ImageDim::Buffer);
    let ty = ImageType { sampled, dim, arrayed: false, multisampled: false, depth: false, storage: true, format: 33 };
    let place = BindingPoint { set: 0, binding: 0, element: 0 };
    let image = Image {
        name: "list".into(),
        place,
        choices: Choices::ONE,
        sampler: None,
        sampler_choices: Choices::ONE,
        ty,
        compares: false,
        writable: true,
        coherent: false,
        volatile: false,
        span: Span::NONE,
    };
    let mut kernel = Kernel { stage: Stage::Fragment, images: vec![image], ..Kernel::new("main", [1; 3]) };
    kernel.buffers.push(Buffer::storage("data", 1));
    kernel.outputs.push(Output { name: "colour".into(), site: Site::Location(0), span: Span::NONE });
    Builder::new(kernel)
}

fn operate(b: &mut Builder, op: ImageOp, parts: ImageParts, args: &[Value]) -> Vec<Value> {
    let results = image::results(b.kernel.images[0].ty, op, parts);
    let inst = b.inst(Op::Image { op, image: 0, parts }, args, &results);
    b.kernel.results(inst).collect()
}

fn read(b: &mut Builder, at: Value) -> Value {
    operate(b, ImageOp::Read, PLACE, &[at])[0]
}

fn write(b: &mut Builder, at: Value, value: Value) {
    operate(b, ImageOp::Write, PLACE | ImageParts::DATA, &[at, value, value, value, value]);
}

fn output(b: &mut Builder, value: Value) {
    b.effect(Op::Output { site: Site::Location(0), component: 0 }, &[value]);
}

/// The lines of a finished kernel with this word, after a pass.
fn lines(mut b: Builder, pass: fn(&mut Kernel) -> bool, word: &str) -> Vec<String> {
    b.effect(Op::Return, &[]);
    check(&b.kernel, "a kernel written by hand");
    pass(&mut b.kernel);
    check(&b.kernel, "a kernel written by hand");
    let text = print(&b.kernel, None);
    text.lines().filter(|line| line.contains(word)).map(|line| line.trim().to_owned()).collect()
}

fn whole(kernel: &mut Kernel) -> bool {
    optimize(kernel);
    true
}

#[test]
fn a_texel_is_read_again_behind_a_write() {
    let mut b = builder();
    let zero = b.u32(0);
    let first = read(&mut b, zero);
    write(&mut b, zero, first);
    let second = read(&mut b, zero);
    output(&mut b, second);
    let found = lines(b, whole, "image 0");
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found[1].contains("read") && found[2].contains("write") && found[3].contains("read"), "{found:?}");
}

#[test]
fn texels_that_nobody_needs_are_not_read() {
    let mut b = builder();
    let zero = b.u32(0);
    read(&mut b, zero);
    write(&mut b, zero, zero);
    let found = lines(b, dce::run, "image 0 ");
    assert!(found.iter().all(|line| !line.contains("read [")), "{found:?}");
    assert!(found.iter().any(|line| line.contains("write [")), "{found:?}");
}

#[test]
fn a_buffer_is_loaded_again_behind_a_write_to_an_image_that_may_show_it() {
    let mut b = builder();
    let zero = b.u32(0);
    let access = MemoryAccess::words(MemorySpace::Buffer(0), 0, 1);
    let first = b.load(access, zero)[0];
    write(&mut b, zero, first);
    let second = b.load(access, zero)[0];
    output(&mut b, second);
    assert_eq!(lines(b, gvn::run, "load").len(), 2);
}

#[test]
fn lookups_and_derivatives_stay_in_their_loop() {
    let mut b = builder();
    let zero = b.u32(0);
    let (inner, continuing) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    let inst = b.inst(Op::Loop { body: inner, continuing }, &[], &[]);
    let outer = b.switch_to(inner);
    let texel = read(&mut b, zero);
    let slope = b.value(Op::Derivative(MathFn::DerivX), &[zero], Ty::B32);
    output(&mut b, texel);
    output(&mut b, slope);
    b.effect(Op::Continue(inst), &[]);
    b.switch_to(continuing);
    let one = b.u32(1);
    let last = read(&mut b, one);
    let leave = b.cmp(crate::kernel::CmpOp::Eq, Scalar::U32, last, zero);
    b.effect(Op::Repeat, &[leave]);
    b.switch_to(outer);
    b.effect(Op::Return, &[]);
    licm::run(&mut b.kernel);
    check(&b.kernel, "a kernel written by hand");
    let first = b.kernel.blocks[b.kernel.body].insts[0];
    assert_eq!(first, inst, "something came before the loop");
}

#[test]
fn equal_derivatives_are_one_where_the_same_fragments_ask() {
    let mut b = builder();
    let zero = b.u32(0);
    let value = read(&mut b, zero);
    let slopes = [0, 1].map(|_| b.value(Op::Derivative(MathFn::DerivY), &[value], Ty::B32));
    slopes.into_iter().for_each(|slope| output(&mut b, slope));
    assert_eq!(lines(b, gvn::run, "deriv_y").len(), 1);
}

#[test]
fn nobody_knows_which_fragments_share_a_wave() {
    let mut b = builder();
    let end = b.effect(Op::Return, &[]);
    assert_eq!(Uniformity::new(&b.kernel, 1).activity(end), Activity::Any);
}
