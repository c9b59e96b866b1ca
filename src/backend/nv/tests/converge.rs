//! Reconvergence of invocations: random kernels, and loops that invocations leave in arms with cross-lane operations.

use super::{body, builder, load, store};
use crate::backend::nv::converge::{converge, misses_join};
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::{
    BinOp, BlockId, Builder, CmpOp, InstId, Kernel, Op, Ty, Value, lower_lanes, random, verify::verify,
};
use crate::lane::Primitive;
use crate::lane::primitive::NvOp;
use crate::profile::Profile;

const U: Scalar = Scalar::U32;
const LANES: u32 = 32;

/// The kernel of a seed as NVIDIA instructions; `None` if the generated kernel is not a valid test.
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

/// A loop that repeats while a loaded word is the invocation's index; `leave` writes the arm for other words.
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

/// A loop, its continuing block, and the enclosing block.
type OpenLoop = (InstId, BlockId, BlockId);

/// Starts a loop that invocations leave when a loaded word is zero.
fn open_loop(b: &mut Builder, at: u32) -> OpenLoop {
    let (body, continuing) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    let inst = b.inst(Op::Loop { body, continuing }, &[], &[]);
    let around = b.switch_to(body);
    let (word, zero) = (load(b, at), b.u32(0));
    let is_zero = b.cmp(CmpOp::Eq, U, word, zero);
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[is_zero], &[]);
    let rest = b.switch_to(then);
    b.effect(Op::Exit(inst), &[]);
    b.switch_to(otherwise);
    b.effect(Op::Yield, &[]);
    b.switch_to(rest);
    (inst, continuing, around)
}

fn close_loop(b: &mut Builder, (inst, continuing, around): OpenLoop) {
    b.effect(Op::Continue(inst), &[]);
    b.switch_to(continuing);
    let no = b.bool(false);
    b.effect(Op::Repeat, &[no]);
    b.switch_to(around);
}

/// A nested loop; `first` and `last` start and end the outer one's body.
fn nested_loops(first: impl FnOnce(&mut Builder), last: impl FnOnce(&mut Builder)) -> String {
    let mut b = builder();
    let outer = open_loop(&mut b, 0);
    first(&mut b);
    let inner = open_loop(&mut b, 4);
    let word = load(&mut b, 8);
    store(&mut b, 12, word);
    close_loop(&mut b, inner);
    last(&mut b);
    close_loop(&mut b, outer);
    body(b).join("\n")
}

fn store_vote(b: &mut Builder) {
    let word = load(b, 16);
    let zero = b.u32(0);
    let is_set = b.cmp(CmpOp::Ne, U, word, zero);
    let any = vote(b, is_set);
    let (one, two) = (b.u32(1), b.u32(2));
    let chosen = b.select(any, one, two);
    store(b, 20, chosen);
}

#[test]
fn invocations_join_after_a_loop_that_ends_another_with_a_vote() {
    const JOINED: &str = "ENDREP;\nENDIF;\nENDREP;";
    let ends = nested_loops(store_vote, |_| {});
    assert!(ends.contains("threadeqmask") && ends.contains(JOINED), "{ends}");
    let goes_on = nested_loops(|_| {}, store_vote);
    assert!(!goes_on.contains(JOINED), "{goes_on}");
    let without_votes = nested_loops(|_| {}, |_| {});
    assert!(!without_votes.contains(JOINED), "{without_votes}");
}

/// A variable that arms set to constants.
fn set_in_arms(constants: [u32; 2]) -> String {
    let mut b = builder();
    let (word, zero) = (load(&mut b, 0), b.u32(0));
    let is_zero = b.cmp(CmpOp::Eq, U, word, zero);
    let arms = [b.kernel.add_block(&[]), b.kernel.add_block(&[])];
    let inst = b.inst(Op::If { then: arms[0], otherwise: arms[1] }, &[is_zero], &[Ty::B32]);
    let around = b.block();
    for (arm, constant) in arms.into_iter().zip(constants) {
        b.switch_to(arm);
        store(&mut b, 8, word);
        let constant = b.u32(constant);
        b.effect(Op::Yield, &[constant]);
    }
    b.switch_to(around);
    let result = b.kernel.result(inst).expect("one result");
    store(&mut b, 4, result);
    body(b).join("\n")
}

#[test]
fn minus_one_and_the_bits_of_one_are_kept_apart() {
    let mixed = set_in_arms([u32::MAX, 0x3f80_0000]);
    assert!(mixed.contains("OR.U"), "{mixed}");
    for constants in [[u32::MAX, 1], [0, 0x3f80_0000]] {
        let text = set_in_arms(constants);
        assert!(!text.contains("OR.U"), "{text}");
    }
}
