//! A lowered kernel computes the meaning of the operations, for every operation and profile: in full waves, in a
//! partial last wave, and in divergent control flow.

use super::lower_lanes;
use crate::diagnostic::Code;
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::print::print;
use crate::kernel::tree::Tree;
use crate::kernel::verify::verify;
use crate::kernel::{
    BinOp, Buffer, BufferWrites, Builder, CmpOp, Kernel, MemoryAccess, MemorySpace, Op, Ty, Value, random,
};
use crate::lane::catalog::{self, Sample};
use crate::lane::{AluOp, Known, LaneOp, LaneType, Members, ReduceKind, ReduceOp, Refusal, Swap, Width, plan};
use crate::profile::Profile;

/// The lanes that run the operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Full,
    /// The last wave is not full.
    First,
    /// Some lanes take the other branch.
    Divergent,
    /// Some lanes may take the other branch, but none does.
    Together,
}

const SHAPES: [Shape; 3] = [Shape::Full, Shape::First, Shape::Divergent];

/// Parts into which the operations are split.
const PARTS: usize = 12;

/// Words of each invocation, as [`random::run`] has them.
const STRIDE: u32 = 32;

fn words(components: u8) -> MemoryAccess {
    MemoryAccess::words(MemorySpace::Buffer(0), 0, components)
}

fn number(b: &mut Builder, value: Value, mask: u32) -> Value {
    let mask = b.u32(mask);
    b.bin(BinOp::And, Scalar::U32, value, mask)
}

fn scalar_of(ty: LaneType) -> Scalar {
    Scalar { kind: ty.kind, width: ty.width }
}

/// A value of a type from two words.
fn value_from(b: &mut Builder, ty: LaneType, words: [Value; 2]) -> Value {
    if ty == LaneType::BALLOT {
        let zero = b.u32(0);
        return b.value(Op::MaskFromWords, &[words[0], words[1], zero, zero], Ty::Mask);
    }
    match (ty.kind, ty.width) {
        (ScalarKind::Bool, _) => {
            let (bit, zero) = (number(b, words[0], 16), b.u32(0));
            b.cmp(CmpOp::Ne, Scalar::U32, bit, zero)
        }
        // One or two, so that reductions are exact in every order.
        (ScalarKind::Float, _) => {
            let (bit, one) = (number(b, words[0], 1), b.u32(1));
            let small = b.bin(BinOp::Add, Scalar::U32, bit, one);
            b.convert(Scalar::U32, scalar_of(ty), small)
        }
        (_, 64) => b.value(Op::Join, &words, Ty::B64),
        _ => b.convert(Scalar::U32, scalar_of(ty), words[0]),
    }
}

/// Operands of a sample. Lanes and distances are within the wave, and uniform where required.
fn operands(b: &mut Builder, sample: &Sample, own: Value, size: u32) -> Vec<Value> {
    let zero = b.u32(0);
    let mut all = Vec::new();
    for (n, input) in sample.inputs.iter().enumerate() {
        if let Known::Constant(bits) = input.known {
            all.push(b.u32(bits));
            continue;
        }
        let agrees = matches!(sample.op, LaneOp::Rotate(_) | LaneOp::Broadcast | LaneOp::QuadBroadcast);
        let names_lane = agrees || matches!(sample.op, LaneOp::Shuffle(_) | LaneOp::BallotBit);
        let is_index = if sample.op == LaneOp::WriteLane { n == 2 } else { names_lane && n > 0 };
        let uniform = agrees || sample.op == LaneOp::WriteLane;
        let address = if uniform && n > 0 { zero } else { own };
        let mut access = words(2);
        access.offset = 8 * n as u32;
        let loaded = b.load(access, address);
        let value = value_from(b, input.ty, [loaded[0], loaded[1]]);
        let most = if sample.op == LaneOp::QuadBroadcast { 3 } else { size - 1 };
        let is_width = matches!(sample.op, LaneOp::ShuffleNv(_)) && n == 2
            || matches!(sample.op, LaneOp::ShuffleNvValid(_)) && n == 1;
        all.push(match () {
            () if is_width => b.u32(8),
            () if is_index => number(b, value, most),
            () => value,
        });
    }
    all
}

/// The words of a result.
fn words_of(b: &mut Builder, value: Value, scalar: Scalar) -> Vec<Value> {
    match b.kernel.ty(value) {
        Ty::Bool => vec![b.convert(Scalar::BOOL, Scalar::U32, value)],
        Ty::B16 if scalar.is_float() => {
            let bits = b.convert(scalar, Scalar::F32, value);
            vec![bits]
        }
        Ty::B16 => vec![b.convert(scalar, Scalar::U32, value)],
        Ty::B32 => vec![value],
        Ty::B64 => [Op::Low, Op::High].map(|op| b.value(op, &[value], Ty::B32)).to_vec(),
        Ty::Mask => [0, 1]
            .map(|word| {
                let word = b.u32(word);
                b.value(Op::MaskAlu(AluOp::BallotWord), &[value, word], Ty::B32)
            })
            .to_vec(),
    }
}

/// Results of an operation, by its operand types.
fn results(sample: &Sample, ty: [Scalar; 2]) -> Vec<(Ty, Scalar)> {
    let build = |types: &[Ty]| {
        let mut b = Builder::new(Kernel::new("main", [1, 1, 1]));
        let args: Vec<Value> = sample
            .inputs
            .iter()
            .map(|input| {
                let ty = if input.ty == LaneType::BALLOT { Ty::Mask } else { Ty::of(scalar_of(input.ty)) };
                b.kernel.undefined(ty)
            })
            .collect();
        b.inst(Op::Lane { op: sample.op, ty }, &args, types);
        b.effect(Op::Return, &[]);
        verify(&b.kernel).is_ok()
    };
    let first = (Ty::of(ty[0]), ty[0]);
    let candidates = [
        vec![first],
        vec![first, (Ty::of(ty[1]), ty[1])],
        vec![(Ty::B32, Scalar::U32)],
        vec![(Ty::Bool, Scalar::BOOL)],
        vec![(Ty::Mask, Scalar::BOOL)],
        vec![],
    ];
    let fits = |types: &&Vec<(Ty, Scalar)>| build(&types.iter().map(|(ty, _)| *ty).collect::<Vec<_>>());
    candidates.iter().find(fits).cloned().expect("the verifier knows the operation")
}

/// A bool that each lane reads from memory, and that is true.
fn always(b: &mut Builder, own: Value) -> Value {
    let (one, zero) = (b.u32(1), b.u32(0));
    let word = b.load(words(1), own)[0];
    let odd = b.bin(BinOp::Or, Scalar::U32, word, one);
    b.cmp(CmpOp::Ne, Scalar::U32, odd, zero)
}

fn kernel_of(sample: &Sample, shape: Shape, size: u32) -> Kernel {
    let invocations = if shape == Shape::First { size + 8 } else { 2 * size };
    let mut b = Builder::new(Kernel::new("main", [invocations, 1, 1]));
    for (binding, writes) in [(0, BufferWrites::Elsewhere), (1, BufferWrites::Here)] {
        b.kernel.buffers.push(Buffer { writes, ..Buffer::storage("words", binding) });
    }
    let local = b.value(Op::BuiltIn(crate::ir::BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
    let stride = b.u32(STRIDE);
    let own = b.bin(BinOp::Mul, Scalar::U32, local, stride);
    let args = operands(&mut b, sample, own, size);
    let scalar = |n: usize| match sample.inputs.get(n) {
        Some(input) if input.ty != LaneType::BALLOT => scalar_of(input.ty),
        _ => Scalar::BOOL,
    };
    let ty = [scalar(0), scalar(1)];
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    let condition = match shape {
        Shape::Full | Shape::First => None,
        Shape::Divergent => {
            let (bits, two) = (number(&mut b, local, 7), b.u32(2));
            Some(b.cmp(CmpOp::Gt, Scalar::U32, bits, two))
        }
        Shape::Together => Some(always(&mut b, own)),
    };
    if let Some(condition) = condition {
        b.inst(Op::If { then, otherwise }, &[condition], &[]);
        b.switch_to(otherwise);
        b.effect(Op::Yield, &[]);
        b.switch_to(then);
    }
    let kinds = results(sample, ty);
    let types: Vec<Ty> = kinds.iter().map(|(ty, _)| *ty).collect();
    let inst = b.inst(Op::Lane { op: sample.op, ty }, &args, &types);
    let mut offset = 0;
    for (result, (_, scalar)) in b.kernel.results(inst).zip(kinds) {
        for word in words_of(&mut b, result, scalar) {
            let access = MemoryAccess { space: MemorySpace::Buffer(1), offset, ..words(1) };
            b.store(access, own, &[word]);
            offset += 4;
        }
    }
    if condition.is_some() {
        b.effect(Op::Yield, &[]);
        b.switch_to(b.kernel.body);
    }
    b.effect(Op::Return, &[]);
    b.kernel
}

fn check(kernel: &Kernel, what: &str) {
    if let Err(errors) = verify(kernel) {
        panic!("{what}: {errors:#?}\n{}", print(kernel, None));
    }
    let is_lane = |op: &Op| matches!(op, Op::Lane { .. });
    let left = Tree::new(kernel).insts(kernel).into_iter().any(|inst| is_lane(&kernel.insts[inst].op));
    assert!(!left, "{what}: an operation is left\n{}", print(kernel, None));
}

/// Lowers a kernel and compares its results; false if the profile refuses it.
fn lowers(kernel: &Kernel, profile: &Profile, what: &str) -> bool {
    let size = profile.wave_size.expect("hardware has one");
    check_unlowered(kernel, what);
    let mut lowered = kernel.clone();
    if let Err(errors) = lower_lanes(&mut lowered, profile) {
        let refusals = errors.iter().all(|error| error.code.is_refusal() || error.code == Code::BAD_LANE_OPERAND);
        assert!(refusals, "{what}: {errors:#?}");
        return false;
    }
    check(&lowered, what);
    let Some(before) = random::run_generated(kernel, size) else { return false };
    let after = random::run(&lowered, size);
    let differs = |(a, b): (&Option<u32>, &Option<u32>)| a.is_some() && a != b;
    let place = after.map(|after| before.iter().zip(&after).position(differs));
    assert_eq!(place, Ok(None), "{what}\n{}\n{}", print(kernel, None), print(&lowered, None));
    true
}

fn check_unlowered(kernel: &Kernel, what: &str) {
    assert_eq!(verify(kernel), Ok(()), "{what}");
}

fn hardware() -> impl Iterator<Item = Profile> {
    Profile::all().filter(|profile| profile.target.is_hardware())
}

#[test]
fn every_operation_computes_what_it_means() {
    let samples = catalog::all();
    let mut lowered = 0;
    for (p, profile) in hardware().enumerate() {
        let size = profile.wave_size.expect("hardware has one");
        for (n, sample) in samples.iter().filter(|sample| !sample.fragment).enumerate() {
            // Each operation is tried on some profiles, with another shape on each.
            if n % PARTS != p % PARTS {
                continue;
            }
            let shape = SHAPES[(n / PARTS + p / PARTS) % SHAPES.len()];
            let what = format!("{} {:?} {:?} on {}, {shape:?}", sample.family, sample.op, sample.inputs, profile.name);
            lowered += u32::from(lowers(&kernel_of(sample, shape, size), &profile, &what));
        }
    }
    assert!(lowered > 200, "only {lowered} were lowered");
}

/// Both sides of a fork, each for all lanes.
#[test]
fn both_ways_of_a_fork_compute_what_the_operation_means() {
    let profile = Profile::named("nv-hopper").expect("a profile");
    let forks = |sample: &Sample| plan(&sample.request(), &profile).is_ok_and(|plan| plan.fork.is_some());
    let samples: Vec<Sample> = catalog::all().into_iter().filter(forks).collect();
    assert!(samples.len() > 50, "only {} plans have two ways", samples.len());
    for sample in &samples {
        for shape in [Shape::Divergent, Shape::Together] {
            let what = format!("{:?} {:?}, {shape:?}", sample.op, sample.inputs);
            assert!(lowers(&kernel_of(sample, shape, 32), &profile, &what), "{what} is refused");
        }
    }
}

/// A branch at this nesting depth would put an operation past the profile's limit.
#[test]
fn a_fork_is_no_branch_where_branches_are_nested_deeply() {
    let profile = Profile::named("nv-hopper").expect("a profile");
    let branches = |depth: usize| {
        let mut b = Builder::new(Kernel::new("main", [64, 1, 1]));
        b.kernel.buffers.push(Buffer::storage("words", 0));
        let local = b.value(Op::BuiltIn(crate::ir::BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
        let stride = b.u32(STRIDE);
        let own = b.bin(BinOp::Mul, Scalar::U32, local, stride);
        let mut around = vec![b.kernel.body];
        for n in 0..depth as u32 {
            let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
            let (word, other) = (b.load(words(1), own)[0], b.u32(n));
            let condition = b.cmp(CmpOp::Ne, Scalar::U32, word, other);
            b.inst(Op::If { then, otherwise }, &[condition], &[]);
            b.switch_to(otherwise);
            b.effect(Op::Yield, &[]);
            b.switch_to(then);
            around.push(then);
        }
        let value = b.load(words(1), own)[0];
        let (kind, members) = (ReduceKind::AllReduce, Members::Active);
        let op = LaneOp::Reduce { op: ReduceOp::Add, kind, width: Width::SUBGROUP, members };
        let sum = b.value(Op::Lane { op, ty: [Scalar::U32, Scalar::BOOL] }, &[value], Ty::B32);
        b.store(words(1), own, &[sum]);
        for block in around.into_iter().skip(1).rev() {
            b.switch_to(block);
            b.effect(Op::Yield, &[]);
        }
        b.switch_to(b.kernel.body);
        b.effect(Op::Return, &[]);
        let what = format!("{depth} branches");
        assert!(lowers(&b.kernel, &profile, &what), "{what}");
        let mut lowered = b.kernel;
        lower_lanes(&mut lowered, &profile).expect("it lowers");
        let insts = Tree::new(&lowered).insts(&lowered);
        insts.into_iter().filter(|inst| matches!(lowered.insts[*inst].op, Op::If { .. })).count()
    };
    assert_eq!([1, 4, 5, 10].map(branches), [2, 5, 5, 10]);
}

#[test]
fn random_kernels_compute_the_same_when_lowered() {
    let mut lowered = 0;
    for seed in 0..50 {
        let kernel = random::kernel(seed, true);
        for name in ["nv-maxwell", "gfx900", "gfx1030", "gfx1100-wave64"] {
            let profile = Profile::named(name).expect("a profile");
            lowered += u32::from(lowers(&kernel, &profile, &format!("seed {seed} on {name}")));
        }
    }
    assert!(lowered > 10, "only {lowered} were lowered");
}

#[test]
fn refusals_name_the_place() {
    let sample = Sample { family: "", op: LaneOp::Bpermute, inputs: bpermute(), fragment: false };
    let mut kernel = kernel_of(&sample, Shape::Full, 32);
    let errors = lower_lanes(&mut kernel, &Profile::named("nv-fermi").expect("a profile")).expect_err("it has none");
    assert_eq!(errors.len(), 1);
    assert!(errors[0].message.starts_with("this cross-lane operation cannot be compiled: profile nv-fermi lacks"));
    assert_eq!(Refusal::NotYet.code(), Code::NOT_SUPPORTED);
}

fn bpermute() -> Vec<crate::lane::Input> {
    vec![crate::lane::Input::varying(LaneType::U32), crate::lane::Input::varying(LaneType::U32)]
}

#[test]
fn arithmetic_on_a_moved_value_is_one_instruction_where_the_hardware_has_it() {
    let moves = |profile: &str, op: BinOp, ty: Scalar, twice: bool| {
        let mut b = Builder::new(Kernel::new("main", [64, 1, 1]));
        b.kernel.buffers.push(Buffer::storage("words", 0));
        let own = b.value(Op::BuiltIn(crate::ir::BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
        let four = b.u32(4);
        let address = b.bin(BinOp::Mul, Scalar::U32, own, four);
        let value = b.load(words(1), address)[0];
        let butterfly = LaneOp::Swap(Swap::Butterfly, Width::new(2).expect("a width"));
        let moved = b.value(Op::Lane { op: butterfly, ty: [ty, Scalar::BOOL] }, &[value], Ty::B32);
        let sum = b.bin(op, ty, moved, value);
        let result = if twice { b.bin(BinOp::Sub, ty, sum, moved) } else { sum };
        b.store(words(1), address, &[result]);
        b.effect(Op::Return, &[]);
        let mut lowered = b.kernel;
        lower_lanes(&mut lowered, &Profile::named(profile).expect("a profile")).expect("it lowers");
        check(&lowered, profile);
        let insts = Tree::new(&lowered).insts(&lowered);
        insts.into_iter().any(|inst| matches!(lowered.insts[inst].op, Op::Prim { .. }))
    };
    assert!(!moves("gfx900", BinOp::Add, Scalar::F32, false));
    assert!(!moves("gfx1030", BinOp::Max, Scalar::I32, false));
    assert!(moves("gfx900", BinOp::Add, Scalar::F32, true), "somebody else needs what was moved");
    assert!(moves("gfx900", BinOp::Mul, Scalar::U32, false), "integer products have no such form");
    assert!(moves("gfx900", BinOp::Sub, Scalar::F32, false), "it is not a fold");
    assert!(moves("gfx600", BinOp::Add, Scalar::F32, false), "there is no DPP");
    assert!(moves("nv-ampere", BinOp::Add, Scalar::F32, false));
}
