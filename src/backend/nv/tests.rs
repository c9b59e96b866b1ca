//! Programs of kernels written by hand: their texts.

mod converge;
mod stage;

use super::{Options, Program, emit};
use crate::ir::{InstFlags, MemoryKinds, Order, Scalar, Scope};
use crate::kernel::verify::verify;
use crate::kernel::{
    BinOp, Buffer, BufferKind, Builder, CmpOp, Kernel, MemoryAccess, MemorySpace, Op, Ty, UnOp, Value,
};
use crate::lane::Primitive;
use crate::lane::op::ShuffleMode;
use crate::lane::primitive::NvOp;
use crate::profile::Profile;
use crate::source::SourceMap;

const U: Scalar = Scalar::U32;
const F: Scalar = Scalar::F32;

fn options(source: &str) -> Options {
    let profile = Profile { name: "nv-test".into(), ..Profile::named("nv-volta").expect("built in") };
    Options { source: source.into(), ..Options::new(profile) }
}

/// A builder of a kernel with one storage buffer.
fn builder() -> Builder {
    let mut kernel = Kernel::new("main", [32, 1, 1]);
    kernel.buffers.push(Buffer::storage("data", 3));
    Builder::new(kernel)
}

fn words(components: u8, align: u32) -> MemoryAccess {
    MemoryAccess { align, ..MemoryAccess::words(MemorySpace::Buffer(0), 0, components) }
}

fn load(b: &mut Builder, at: u32) -> Value {
    let address = b.u32(at);
    b.load(words(1, 4), address)[0]
}

fn store(b: &mut Builder, at: u32, value: Value) {
    let address = b.u32(at);
    b.store(words(1, 4), address, &[value]);
}

fn program(kernel: &Kernel) -> Program {
    verify(kernel).unwrap_or_else(|errors| panic!("{errors:?}"));
    let options = options("test.comp");
    emit(kernel, &options, &SourceMap::new()).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The statements after `main:`, without indentation.
fn body(mut b: Builder) -> Vec<String> {
    if !b.is_terminated() {
        b.effect(Op::Return, &[]);
    }
    let text = program(&b.kernel).text;
    let (_, body) = text.split_once("main:\n").expect("every program has a label");
    body.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn the_head_names_what_is_bound() {
    let mut b = builder();
    let value = load(&mut b, 4);
    store(&mut b, 8, value);
    b.effect(Op::Return, &[]);
    let program = program(&b.kernel);
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "!!NVcp5.0\n# crosslane {version}\n# profile nv-test\n# source test.comp\n\
         # s0: storage buffer 0, set 0 binding 3, data\nOPTION NV_shader_storage_buffer;\nGROUP_SIZE 32 1 1;\n\
         STORAGE s0[] = {{ program.storage[0] }};\nTEMP R0;\nmain:\n  LDB.U32 R0.x, s0[4];\n  \
         STB.U32 R0.x, s0[8];\nEND\n"
    );
    assert_eq!(program.text, expected);
    let json = crate::backend::reflection::text(&program.reflection);
    assert!(json.contains("\"gl_target\": 37074") && json.contains("\"binding\": 3"), "{json}");
}

#[test]
fn float_comparisons_become_masks_and_precise_sums_stay_apart() {
    let mut b = builder();
    let (x, y) = (load(&mut b, 0), load(&mut b, 4));
    let product = b.bin(BinOp::Mul, F, x, y);
    b.flags = InstFlags::PRECISE;
    let exact = b.bin(BinOp::Mul, F, product, y);
    let sum = b.bin(BinOp::Add, F, exact, y);
    let less = b.cmp(CmpOp::Lt, F, sum, x);
    let chosen = b.select(less, x, y);
    store(&mut b, 8, chosen);
    assert_eq!(
        body(b)[2..],
        [
            "MUL.F32 R0.w, R0.x, R1.x;",
            "MUL.F32.PREC R0.w, R0.w, R1.x;",
            "ADD.F32.PREC R0.w, R0.w, R1.x;",
            "SLT.F32 R0.w, R0.w, R0.x;",
            "SNE.S R0.w, R0.w, 0;",
            "CMP.S R0.w, R0.w, R0.x, R1.x;",
            "STB.U32 R0.w, s0[8];",
            "END"
        ]
    );
}

#[test]
fn floats_that_decimals_do_not_hold_are_moved_as_bits() {
    let mut b = builder();
    let x = load(&mut b, 0);
    for (at, value) in [1.5, 0.1, f32::INFINITY, -0.0].into_iter().enumerate() {
        let constant = b.f32(value);
        let sum = b.bin(BinOp::Add, F, x, constant);
        store(&mut b, 4 * at as u32, sum);
    }
    let lines = body(b);
    assert_eq!(lines[1], "ADD.F32 R0.w, R0.x, 1.5;");
    let moves: Vec<&String> = lines.iter().filter(|line| line.starts_with("MOV")).collect();
    assert_eq!(moves.len(), 3);
    assert!(
        moves[0].ends_with("0x3dcccccd;") && moves[1].ends_with("0x7f800000;") && moves[2].ends_with("0x80000000;")
    );
}

#[test]
fn remainders_of_negatives_use_no_modulus() {
    let mut b = builder();
    let (x, y) = (load(&mut b, 0), load(&mut b, 4));
    let signed = b.bin(BinOp::Rem, Scalar::I32, x, y);
    let unsigned = b.bin(BinOp::Rem, U, x, y);
    store(&mut b, 0, signed);
    store(&mut b, 4, unsigned);
    let lines = body(b);
    assert_eq!(lines[2..5], ["DIV.S R0.w, R0.x, R1.x;", "MUL.U R0.w, R0.w, R1.x;", "SUB.U R0.w, R0.x, R0.w;"]);
    assert_eq!(lines[5], "MOD.U R0.z, R0.x, R1.x;");
}

#[test]
fn three_components_are_a_pair_and_one() {
    let mut b = builder();
    let address = b.u32(0);
    let values = b.load(words(3, 16), address);
    let address = b.u32(16);
    b.store(words(3, 16), address, &values);
    assert_eq!(
        body(b),
        [
            "LDB.U32 R0.x, s0[8];",
            "LDB.U32X2 R1.xy, s0[0];",
            "STB.U32X2 R1.xyyy, s0[16];",
            "STB.U32 R0.x, s0[24];",
            "END"
        ]
    );
}

/// A loop that swaps its two parameters in each iteration, `rounds` times.
fn swapping(b: &mut Builder, rounds: u32) -> [Value; 2] {
    let (x, y) = (load(b, 0), load(b, 4));
    let zero = b.u32(0);
    let types = [Ty::B32; 3];
    let (inner, continuing) = (b.kernel.add_block(&types), b.kernel.add_block(&types));
    let whole = b.inst(Op::Loop { body: inner, continuing }, &[x, y, zero], &types);
    let outer = b.switch_to(inner);
    let params = b.kernel.blocks[inner].params.clone();
    b.effect(Op::Continue(whole), &params);
    b.switch_to(continuing);
    let [x, y, count] = [0, 1, 2].map(|n| b.kernel.blocks[continuing].params[n]);
    let (one, limit) = (b.u32(1), b.u32(rounds));
    let next = b.bin(BinOp::Add, U, count, one);
    let leave = b.cmp(CmpOp::Ge, U, next, limit);
    b.effect(Op::Repeat, &[leave, y, x, next, y, x, next]);
    b.switch_to(outer);
    let results: Vec<Value> = b.kernel.results(whole).collect();
    [results[0], results[1]]
}

#[test]
fn parameters_that_change_places_keep_a_copy() {
    let mut b = builder();
    let [x, y] = swapping(&mut b, 5);
    store(&mut b, 0, x);
    store(&mut b, 4, y);
    let lines = body(b);
    let end = lines.iter().position(|line| line == "ENDREP;").expect("it is a loop");
    // The first line of the loop saves the value that its last lines overwrite.
    assert_eq!(lines[end - 2..end], ["MOV.U R0.x, R1.x;", "MOV.U R1.x, R0.z;"]);
    assert_eq!(lines[4], "MOV.U R0.z, R0.x;");
}

#[test]
fn a_loop_left_from_an_inner_one_sets_a_flag() {
    let mut b = builder();
    let (outer_body, outer_next) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    let outer = b.inst(Op::Loop { body: outer_body, continuing: outer_next }, &[], &[]);
    let around = b.switch_to(outer_body);
    let (inner_body, inner_next) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    let inner = b.inst(Op::Loop { body: inner_body, continuing: inner_next }, &[], &[]);
    b.switch_to(inner_body);
    let value = load(&mut b, 0);
    let zero = b.u32(0);
    let is_zero = b.cmp(CmpOp::Eq, U, value, zero);
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[is_zero], &[]);
    b.effect(Op::Continue(inner), &[]);
    b.switch_to(then);
    b.effect(Op::Exit(outer), &[]);
    b.switch_to(otherwise);
    b.effect(Op::Yield, &[]);
    let no = b.bool(false);
    for (block, of) in [(inner_next, Op::Repeat), (outer_next, Op::Repeat)] {
        b.switch_to(block);
        b.effect(of, &[no]);
    }
    b.switch_to(outer_body);
    b.effect(Op::Continue(outer), &[]);
    b.switch_to(around);
    let text = body(b).join("\n");
    assert!(text.starts_with("MOV.U R0.w, 0;\nREP;\nREP;\nLDB.U32 R0.x"), "{text}");
    assert!(text.contains("MOV.U R0.w, 0xffffffff;\nBRK;\nENDIF;"), "{text}");
    assert!(text.contains("ENDREP;\nMOV.U.CC R0.w, R0.w;\nBRK (NE.w);"), "{text}");
}

#[test]
fn an_early_return_falls_through() {
    let mut b = builder();
    let value = load(&mut b, 0);
    let zero = b.u32(0);
    let is_zero = b.cmp(CmpOp::Eq, U, value, zero);
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[is_zero], &[]);
    store(&mut b, 4, value);
    b.effect(Op::Return, &[]);
    b.switch_to(then);
    b.effect(Op::Return, &[]);
    b.switch_to(otherwise);
    b.effect(Op::Yield, &[]);
    assert_eq!(body(b)[2..], ["MOV.U.CC R0.w, R0.w;", "IF EQ.w;", "STB.U32 R0.x, s0[4];", "ENDIF;", "END"]);
}

#[test]
fn a_shuffle_and_its_predicate_are_one_instruction() {
    let mut b = builder();
    let value = load(&mut b, 0);
    let (index, mask) = (b.u32(1), b.u32(0));
    let shuffle = Op::Prim { primitive: Primitive::Nv(NvOp::Shuffle(ShuffleMode::Up)), ty: U };
    let valid = Op::Prim { primitive: Primitive::Nv(NvOp::ShuffleValid(ShuffleMode::Up)), ty: U };
    let moved = b.value(shuffle, &[value, index, mask], Ty::B32);
    let valid = b.value(valid, &[index, mask], Ty::Bool);
    let chosen = b.select(valid, moved, index);
    store(&mut b, 4, chosen);
    assert_eq!(
        body(b)[1..],
        ["SHFUP.U R0.xy, R0.x, 1, 0;", "CMP.S R0.w, R0.x, R0.y, 1;", "STB.U32 R0.w, s0[4];", "END"]
    );
}

#[test]
fn results_that_nobody_reads_are_dropped() {
    let mut b = builder();
    let value = load(&mut b, 0);
    let unread = b.un(UnOp::Not, U, value);
    b.bin(BinOp::Add, U, unread, value);
    b.effect(
        Op::Barrier {
            execution: Some(Scope::Workgroup),
            memory: Scope::Workgroup,
            kinds: MemoryKinds::SHARED,
            order: Order::AcquireRelease,
        },
        &[],
    );
    assert_eq!(body(b), ["BAR;", "END"]);
}

#[test]
fn more_buffers_than_there_are_is_an_error() {
    let mut b = builder();
    let buffer = b.kernel.buffers[0].clone();
    b.kernel.buffers = (0..17).map(|binding| Buffer { binding, ..buffer.clone() }).collect();
    b.effect(Op::Return, &[]);
    let options = options("test.comp");
    let errors = emit(&b.kernel, &options, &SourceMap::new()).expect_err("there are too many");
    assert!(errors[0].message.contains("17 storage buffers"), "{errors:?}");
    assert!(errors[0].code.is_refusal());
}

/// A load stays above the stores after it; computations on it sink to their uses.
#[test]
fn values_are_computed_where_they_are_read() {
    let mut b = builder();
    let value = load(&mut b, 0);
    let one = b.u32(1);
    let (first, second) = (b.bin(BinOp::Add, U, value, one), b.bin(BinOp::Xor, U, value, one));
    store(&mut b, 4, second);
    store(&mut b, 8, first);
    assert_eq!(
        body(b),
        [
            "LDB.U32 R0.x, s0[0];",
            "XOR.U R0.w, R0.x, 1;",
            "STB.U32 R0.w, s0[4];",
            "ADD.U R0.w, R0.x, 1;",
            "STB.U32 R0.w, s0[8];",
            "END"
        ]
    );
}

#[test]
fn more_uniform_buffers_than_drivers_bind_are_an_error() {
    let mut b = builder();
    let buffer = Buffer { kind: BufferKind::Uniform, ..b.kernel.buffers[0].clone() };
    b.kernel.buffers = (0..15).map(|binding| Buffer { binding, ..buffer.clone() }).collect();
    b.effect(Op::Return, &[]);
    let options = options("test.comp");
    let errors = emit(&b.kernel, &options, &SourceMap::new()).expect_err("there are too many");
    assert!(errors[0].message.contains("15 uniform buffers; programs can use 14"), "{errors:?}");
}
