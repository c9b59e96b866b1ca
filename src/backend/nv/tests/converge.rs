//! Where invocations join: by random kernels, and by loops that they leave in arms with cross-lane operations.

use super::{body, builder, load, store};
use crate::backend::nv::converge::{converge, misses_join};
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::{BinOp, Builder, CmpOp, Kernel, Op, Ty, Value, lower_lanes, random, verify::verify};
use crate::lane::Primitive;
use crate::lane::primitive::NvOp;
use crate::profile::Profile;

const U: Scalar = Scalar::U32;
const LANES: u32 = 32;

/// The kernel of a seed as NVIDIA's instructions; none if the generator made one that says nothing.
fn lowered(seed: u64) -> Option<(Kernel, Vec<Option<u32>>)> {
    let mut kernel = random::kernel(seed, true);
    let before = random::run_generated(&kernel, LANES)?;
    lower_lanes(&mut kernel, &Profile::named("nv-hopper").expect("a built-in profile")).ok()?;
    Some((kernel, before))
}

#[test]
fn random_kernels_compute_the_same_and_join() {
    let (mut missed, mut checked) = (0, 0);
    for seed in 0..1000 {
        let Some((kernel, before)) = lowered(seed) else { continue };
        let joined = converge(&kernel);
        assert_eq!(verify(&joined), Ok(()), "seed {seed}");
        assert!(!misses_join(&joined), "seed {seed}");
        let after = random::run(&joined, LANES).expect("it ran before");
        let differs = |(a, b): (&Option<u32>, &Option<u32>)| a.is_some() && a != b;
        assert_eq!(before.iter().zip(&after).position(differs), None, "seed {seed}");
        missed += u32::from(misses_join(&kernel));
        checked += 1;
    }
    assert!(checked > 500 && missed > 9, "{missed} of {checked} kernels had something to join");
}

/// A loop that goes round as long as a loaded word is the invocation's index; `leave` writes the arm for other words.
fn waterfall(leave: impl FnOnce(&mut Builder)) -> Vec<String> {
    let mut b = builder();
    let (body_block, continuing) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    let inst = b.inst(Op::Loop { body: body_block, continuing }, &[], &[]);
    let around = b.switch_to(body_block);
    let lane = b.value(Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
    let value = load(&mut b, 0);
    let is_set = b.cmp(CmpOp::Ne, U, value, lane);
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[is_set], &[]);
    b.effect(Op::Continue(inst), &[]);
    b.switch_to(otherwise);
    b.effect(Op::Yield, &[]);
    b.switch_to(then);
    leave(&mut b);
    if !b.is_terminated() {
        b.effect(Op::Exit(inst), &[]);
    }
    b.switch_to(continuing);
    let no = b.bool(false);
    b.effect(Op::Repeat, &[no]);
    b.switch_to(around);
    body(b)
}

fn vote(b: &mut Builder, value: Value) -> Value {
    let primitive = Primitive::Nv(NvOp::Vote(crate::lane::VoteOp::Any));
    b.value(Op::Prim { primitive, ty: Scalar::BOOL }, &[value], Ty::Bool)
}

#[test]
fn an_arm_with_a_vote_ends_before_its_loop_is_left() {
    let lines = waterfall(|b| {
        let all = b.bool(true);
        let any = vote(b, all);
        let (one, two) = (b.u32(1), b.u32(2));
        let chosen = b.select(any, one, two);
        store(b, 4, chosen);
    });
    let place = |text: &str| lines.iter().position(|line| line.starts_with(text)).expect(text);
    assert!(place("TGANY") < place("ENDIF;") && place("ENDIF;") < place("BRK ("), "{lines:#?}");
}

#[test]
fn an_arm_without_a_vote_leaves_at_once() {
    let lines = waterfall(|b| {
        let one = b.u32(1);
        let sum = b.bin(BinOp::Add, U, one, one);
        store(b, 4, sum);
    });
    let place = |text: &str| lines.iter().position(|line| line.starts_with(text)).expect(text);
    assert!(place("BRK;") < place("ENDIF;"), "{lines:#?}");
}

#[test]
fn a_branch_on_a_vote_in_divergent_flow_depends_on_the_lane() {
    let lines = waterfall(|b| {
        let all = b.bool(true);
        let any = vote(b, all);
        let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
        b.inst(Op::If { then, otherwise }, &[any], &[]);
        let end = b.block();
        for block in [then, otherwise] {
            b.switch_to(block);
            let word = b.u32(u32::from(block == then));
            store(b, 4, word);
            b.effect(Op::Yield, &[]);
        }
        b.switch_to(end);
    });
    assert!(lines.iter().any(|line| line.starts_with("AND.U") && line.contains("threadeqmask")), "{lines:#?}");
}
