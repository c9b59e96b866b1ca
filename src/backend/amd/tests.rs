//! Texts of hand-written kernels. Other tests run them.

mod halves;
mod images;

use super::{Options, Program, emit};
use crate::ir::{AtomicOp, BuiltIn, MemoryKinds, Order, Scalar, Scope};
use crate::kernel::verify::verify;
use crate::kernel::{
    BinOp, Buffer, Builder, CmpOp, Kernel, MemoryAccess, MemorySpace, Op, PrivateVariable, TernOp, Ty, Value,
};
use crate::profile::Profile;
use crate::source::SourceMap;

const U: Scalar = Scalar::U32;
const F: Scalar = Scalar::F32;

/// A builder of a kernel with one storage buffer.
fn builder(size: u32) -> Builder {
    let mut kernel = Kernel::new("main", [size, 1, 1]);
    kernel.buffers.push(Buffer::storage("data", 3));
    Builder::new(kernel)
}

fn words(components: u8, align: u32) -> MemoryAccess {
    MemoryAccess { align, ..MemoryAccess::words(MemorySpace::Buffer(0), 0, components) }
}

/// The invocation index, and the word of the buffer at four times that.
fn own(b: &mut Builder) -> (Value, Value) {
    let x = b.value(Op::BuiltIn(BuiltIn::LocalInvocationId, 0), &[], Ty::B32);
    let two = b.u32(2);
    let address = b.bin(BinOp::Shl, U, x, two);
    let value = b.load(words(1, 4), address)[0];
    (address, value)
}

fn program(mut b: Builder, profile: &str) -> Program {
    if !b.is_terminated() {
        b.effect(Op::Return, &[]);
    }
    verify(&b.kernel).unwrap_or_else(|errors| panic!("{errors:?}"));
    let profile = Profile::all().find(|known| *known.name == *profile).expect("it is built in");
    let options = Options { source: "test.comp".into(), ..Options::new(profile) };
    emit(&b.kernel, &options, &SourceMap::new()).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The instructions, without indentation.
fn code(text: &str) -> Vec<&str> {
    let (_, body) = text.split_once("main:\n").expect("every kernel has a label");
    let (body, _) = body.split_once(".Lmain_end").expect("every kernel has an end");
    body.lines().map(str::trim).collect()
}

/// The names of the instructions, and labels.
fn names(text: &str) -> Vec<&str> {
    code(text).into_iter().map(|line| line.split(' ').next().unwrap_or(line)).collect()
}

/// Adds a constant to the invocation's float.
fn sum_with(constant: f32, profile: &str) -> String {
    let mut b = builder(64);
    let (address, value) = own(&mut b);
    let constant = b.f32(constant);
    let sum = b.bin(BinOp::Add, F, value, constant);
    b.store(words(1, 4), address, &[sum]);
    program(b, profile).text
}

#[test]
fn the_head_and_the_metadata_name_the_arguments() {
    let mut b = builder(64);
    let (address, _) = own(&mut b);
    let bytes = b.value(Op::BufferBytes(0), &[], Ty::B32);
    b.store(words(1, 4), address, &[bytes]);
    let Program { text, reflection } = program(b, "gfx900");
    assert!(text.contains("; argument at 0: 8 bytes, address of the storage buffer of set 0 binding 3\n"), "{text}");
    assert!(text.contains("; argument at 8: 4 bytes, size of the buffer of set 0 binding 3, in bytes\n"), "{text}");
    assert!(text.contains("    - .name: bytes0\n      .offset: 8\n      .size: 4\n      .value_kind: by_value\n"));
    assert_eq!((reflection.argument_bytes, reflection.arguments.len()), (12, 2));
    assert_eq!(reflection.workgroup_size, [64, 1, 1]);
}

#[test]
fn a_sum_on_each_generation() {
    for (profile, load, add) in [
        ("gfx600", "buffer_load_dword", "v_add_f32"),
        ("gfx803", "flat_load_dword", "v_add_f32"),
        ("gfx90a", "global_load_dword", "v_add_f32"),
        ("gfx1201-wave32", "global_load_b32", "v_add_f32"),
    ] {
        let text = sum_with(1.0, profile);
        let names = names(&text);
        assert!(names.contains(&load) && names.contains(&add), "{profile}: {names:?}");
        assert_eq!(names.last(), Some(&"s_endpgm"));
    }
}

#[test]
fn literals_stand_where_the_encoding_has_room() {
    // Commutative, so that the literal may come first.
    let text = sum_with(0.1, "gfx900");
    assert!(text.contains("v_add_f32 v0, 0x3dcccccd, v") || text.contains(", 0x3dcccccd, v"), "{text}");
    // V_MUL_LO has no short encoding: before gfx10 the literal is in a scalar register.
    let product = |profile: &str| {
        let mut b = builder(64);
        let (address, value) = own(&mut b);
        let factor = b.u32(1_000_003);
        let product = b.bin(BinOp::Mul, U, value, factor);
        b.store(words(1, 4), address, &[product]);
        program(b, profile).text
    };
    assert!(product("gfx900").contains("s_mov_b32 s"), "{}", product("gfx900"));
    assert!(product("gfx1030-wave32").contains("v_mul_lo_u32 v1, 0xf4243, v1"), "{}", product("gfx1030-wave32"));
}

/// `if (condition) data[own] = 1`.
fn guarded(b: &mut Builder, condition: Value, address: Value) {
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[condition], &[]);
    let outer = b.switch_to(then);
    let one = b.u32(1);
    b.store(words(1, 4), address, &[one]);
    b.effect(Op::Yield, &[]);
    b.switch_to(otherwise);
    b.effect(Op::Yield, &[]);
    b.switch_to(outer);
}

#[test]
fn lanes_part_by_exec_and_waves_by_branches() {
    let mut b = builder(64);
    let (address, value) = own(&mut b);
    let zero = b.u32(0);
    let condition = b.cmp(CmpOp::Eq, U, value, zero);
    guarded(&mut b, condition, address);
    let text = program(b, "gfx900").text;
    assert!(names(&text).windows(2).any(|pair| pair == ["s_and_saveexec_b64", "s_cbranch_execz"]), "{text}");
    let mut b = builder(64);
    let (address, _) = own(&mut b);
    let group = b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
    let zero = b.u32(0);
    let condition = b.cmp(CmpOp::Eq, U, group, zero);
    guarded(&mut b, condition, address);
    let text = program(b, "gfx900").text;
    assert!(["s_cmp_eq_u32", "s_cbranch_scc0"].iter().all(|name| names(&text).contains(name)), "{text}");
    assert!(!text.contains("exec"), "{text}");
}

#[test]
fn a_return_of_some_lanes_leaves_the_others() {
    let mut b = builder(64);
    let (address, value) = own(&mut b);
    let zero = b.u32(0);
    let condition = b.cmp(CmpOp::Eq, U, value, zero);
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[condition], &[]);
    let outer = b.switch_to(then);
    b.effect(Op::Return, &[]);
    b.switch_to(otherwise);
    b.effect(Op::Yield, &[]);
    b.switch_to(outer);
    b.store(words(1, 4), address, &[condition].map(|_| value));
    let text = program(b, "gfx1100-wave32").text;
    assert_eq!(names(&text).iter().filter(|name| **name == "s_endpgm").count(), 1, "{text}");
    assert!(text.contains("v_cmpx_ne_u32"), "{text}");
    assert!(!text.contains("saveexec"), "{text}");
}

#[test]
fn workgroups_are_where_each_processor_leaves_them() {
    let text = |profile: &str| {
        let mut b = builder(64);
        let (address, _) = own(&mut b);
        let group = b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
        b.store(words(1, 4), address, &[group]);
        program(b, profile).text
    };
    assert!(text("gfx1030-wave32").contains("v_mov_b32 v1, s2"), "{}", text("gfx1030-wave32"));
    assert!(text("gfx1100-wave32").contains("mov_b32 v1, s15"), "{}", text("gfx1100-wave32"));
    assert!(text("gfx1100-wave32").contains(".amdhsa_user_sgpr_count 15\n"));
    assert!(text("gfx1100-wave64").contains("v_mov_b32 v1, s2"), "{}", text("gfx1100-wave64"));
    assert!(text("gfx1200-wave32").contains("ttmp9"), "{}", text("gfx1200-wave32"));
}

#[test]
fn packed_numbers_are_taken_apart_where_there_are_others() {
    let text = |asked: &[u8]| {
        let mut b = builder(1);
        b.kernel.workgroup_size = [8, 8, 1];
        let (address, value) = own(&mut b);
        let add = |b: &mut Builder, sum, n| {
            let more = b.value(Op::BuiltIn(BuiltIn::LocalInvocationId, n), &[], Ty::B32);
            b.bin(BinOp::Add, U, sum, more)
        };
        let sum = asked.iter().fold(value, |sum, n| add(&mut b, sum, *n));
        b.store(words(1, 4), address, &[sum]);
        program(b, "gfx90a").text
    };
    assert!(!text(&[]).contains("0x3ff"));
    assert!(text(&[1]).contains("0x3ff, v0"), "{}", text(&[1]));
}

#[test]
fn literals_are_moved_once_a_block() {
    let mut b = builder(64);
    let (address, value) = own(&mut b);
    let factor = b.f32(1.25);
    let fused = |b: &mut Builder, by| b.value(Op::Tern(TernOp::Fma, F), &[value, factor, by], Ty::B32);
    let once = fused(&mut b, value);
    let twice = fused(&mut b, once);
    b.store(words(1, 4), address, &[twice]);
    let text = program(b, "gfx900").text;
    assert_eq!(names(&text).iter().filter(|name| name.starts_with("v_fma")).count(), 2, "{text}");
    assert_eq!(code(&text).iter().filter(|line| line.contains("0x3fa00000")).count(), 1, "{text}");
}

#[test]
fn float_atomics_try_until_nobody_comes_between() {
    let mut b = builder(64);
    let (address, value) = own(&mut b);
    let op = Op::Atomic { op: AtomicOp::Add, ty: F, access: words(1, 4), scope: Scope::Device, order: Order::Relaxed };
    b.value(op, &[address, value], Ty::B32);
    let text = program(b, "gfx803").text;
    let names = names(&text);
    let at = |name: &str| names.iter().position(|other| *other == name);
    assert!(at("v_add_f32") < at("flat_atomic_cmpswap"), "{text}");
    assert!(at("flat_atomic_cmpswap") < at("s_cbranch_execnz"), "{text}");
}

/// In other generations atomics run where the whole device sees them.
#[test]
fn atomics_of_rdna_4_name_their_reach() {
    let atomic = |profile: &str, is_wanted: bool| {
        let mut b = builder(64);
        let (address, value) = own(&mut b);
        let (scope, order) = (Scope::Device, Order::Relaxed);
        let op = Op::Atomic { op: AtomicOp::Add, ty: U, access: words(1, 4), scope, order };
        let old = b.value(op, &[address, value], Ty::B32);
        if is_wanted {
            b.store(words(1, 4), address, &[old]);
        }
        let text = program(b, profile).text;
        let line = code(&text).into_iter().find(|line| line.contains("_atomic_")).expect("there is an atomic");
        line.split(' ').skip_while(|word| !word.ends_with(']')).skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(atomic("gfx1200-wave32", false), "scope:SCOPE_DEV");
    assert_eq!(atomic("gfx1200-wave32", true), "th:TH_ATOMIC_RETURN scope:SCOPE_DEV");
    assert_eq!(atomic("gfx1100-wave32", false), "");
    assert_eq!(atomic("gfx942", true), "sc0");
}

#[test]
fn one_wave_needs_no_barrier() {
    let barrier = |size: u32, profile: &str| {
        let mut b = builder(size);
        let (address, value) = own(&mut b);
        let (execution, memory) = (Some(Scope::Workgroup), Scope::Workgroup);
        let (kinds, order) = (MemoryKinds::SHARED, Order::AcquireRelease);
        b.effect(Op::Barrier { execution, memory, kinds, order }, &[]);
        b.store(words(1, 4), address, &[value]);
        let text = program(b, profile).text;
        names(&text).iter().filter(|name| name.starts_with("s_barrier")).count()
    };
    assert_eq!(barrier(64, "gfx900"), 0);
    assert_eq!(barrier(128, "gfx900"), 1);
    assert_eq!(barrier(64, "gfx1201-wave32"), 2);
}

/// Waits between a store to workgroup memory, a barrier, and a load by other lanes.
fn waits_between(size: u32) -> usize {
    let mut b = builder(size);
    b.kernel.shared_bytes = 1024;
    let shared = MemoryAccess { space: MemorySpace::Shared, ..words(1, 4) };
    let (address, value) = own(&mut b);
    b.store(shared, address, &[value]);
    let (execution, memory) = (Some(Scope::Workgroup), Scope::Workgroup);
    let (kinds, order) = (MemoryKinds::SHARED, Order::AcquireRelease);
    b.effect(Op::Barrier { execution, memory, kinds, order }, &[]);
    let zero = b.u32(0);
    let first = b.load(shared, zero)[0];
    b.store(words(1, 4), address, &[first]);
    let text = program(b, "gfx1100-wave32").text;
    let names = names(&text);
    let place = |name: &str| names.iter().position(|known| *known == name).expect("an access");
    names[place("ds_store_b32")..place("ds_load_b32")].iter().filter(|name| name.starts_with("s_wait")).count()
}

#[test]
fn one_wave_does_not_wait_for_its_own_stores() {
    assert_eq!((waits_between(32), waits_between(64)), (0, 1));
}

#[test]
fn scratch_memory_is_made_ready_where_arrays_ask_for_it() {
    let text = |profile: &str| {
        let mut b = builder(64);
        b.kernel.private_bytes = 64;
        b.kernel.private.push(PrivateVariable { start: 0, bytes: 64, align: 4 });
        let (address, value) = own(&mut b);
        let place = MemoryAccess { align: 4, ..MemoryAccess::words(MemorySpace::Private(0), 0, 1) };
        b.store(place, address, &[value]);
        let back = b.load(place, address)[0];
        b.store(words(1, 4), address, &[back]);
        program(b, profile).text
    };
    let old = text("gfx900");
    assert!(old.contains(".amdhsa_user_sgpr_private_segment_buffer 1\n"), "{old}");
    assert!(old.contains("offen") && old.contains("s_load_dwordx2 s[") && old.contains("s[4:5]"), "{old}");
    let new = text("gfx1100-wave32");
    assert!(new.contains("scratch_store_b32") && new.contains(".amdhsa_enable_private_segment 1\n"), "{new}");
    assert!(new.contains(".amdhsa_private_segment_fixed_size 64\n"), "{new}");
}

#[test]
fn waves_of_64_lanes_are_said_to_be_that() {
    assert!(sum_with(1.0, "gfx1030-wave64").contains(".amdhsa_wavefront_size32 0\n"));
    assert!(sum_with(1.0, "gfx1030-wave32").contains(".amdhsa_wavefront_size32 1\n"));
    assert!(!sum_with(1.0, "gfx900").contains("wavefront_size32"));
}

#[test]
fn names_are_made_fit_for_an_assembler() {
    assert_eq!(super::text::symbol("größe-1"), "gr__e_1");
    assert_eq!(super::text::symbol("1st"), "_1st");
    assert_eq!(super::text::symbol(""), "_");
}

#[test]
fn more_workgroup_memory_than_there_is_is_refused() {
    let mut b = builder(64);
    b.kernel.shared_bytes = 40_000;
    let (address, value) = own(&mut b);
    b.store(words(1, 4), address, &[value]);
    b.effect(Op::Return, &[]);
    let profile = Profile::all().find(|profile| &*profile.name == "gfx600").expect("it is built in");
    let options = Options { source: "test.comp".into(), ..Options::new(profile) };
    let errors = emit(&b.kernel, &options, &SourceMap::new()).expect_err("32768 bytes are all");
    assert!(errors[0].message.contains("40000 bytes of workgroup memory"), "{errors:?}");
}

/// A loop that each lane leaves at its head after its own trip count, with a sum as its result.
fn counted(profile: &str, result_is_kept: bool) -> String {
    let mut b = builder(64);
    let (address, limit) = own(&mut b);
    let (zero, no) = (b.u32(0), b.bool(false));
    let types = [Ty::B32; 2];
    let (body, continuing) = (b.kernel.add_block(&types), b.kernel.add_block(&types));
    let whole = b.inst(Op::Loop { body, continuing }, &[address, zero], &[Ty::B32]);
    let outer = b.switch_to(body);
    let [index, sum] = [0, 1].map(|n| b.kernel.blocks[body].params[n]);
    let done = b.cmp(CmpOp::Ge, U, index, limit);
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[done], &[]);
    b.switch_to(then);
    let result = if result_is_kept { sum } else { b.bin(BinOp::Add, U, sum, index) };
    b.effect(Op::Exit(whole), &[result]);
    b.switch_to(otherwise);
    b.effect(Op::Yield, &[]);
    b.switch_to(body);
    b.effect(Op::Continue(whole), &[index, sum]);
    b.switch_to(continuing);
    let [index, sum] = [0, 1].map(|n| b.kernel.blocks[continuing].params[n]);
    let step = b.u32(3);
    let (next, more) = (b.bin(BinOp::Add, U, index, step), b.bin(BinOp::Mul, U, index, limit));
    let sum = b.bin(BinOp::Xor, U, sum, more);
    b.effect(Op::Repeat, &[no, next, sum, zero]);
    b.switch_to(outer);
    let result = b.kernel.result(whole).expect("one");
    b.store(words(1, 4), address, &[result]);
    program(b, profile).text
}

#[test]
fn lanes_that_leave_a_loop_keep_their_results() {
    let [kept, copied] = [true, false].map(|is_kept| counted("gfx1100-wave32", is_kept));
    let branches = |text: &str| names(text).iter().filter(|name| **name == "s_cbranch_execz").count();
    assert_eq!(
        (branches(&kept), kept.matches("s_xor").count(), kept.matches("exec_lo, 0").count()),
        (1, 0, 0),
        "{kept}"
    );
    // Only leaving lanes write a value of their last iteration.
    assert!(branches(&copied) > 1 && copied.contains("exec_lo, 0"), "{copied}");
}
