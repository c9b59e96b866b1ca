//! Random kernels check the analysis at run time: with a vote at each value that should be uniform, and a ballot where
//! lanes should be together.

use super::{Extent, Uniformity};
use crate::ir::{AtomicOp, BuiltIn, Order, Scalar, ScalarKind, Scope};
use crate::kernel::print::print;
use crate::kernel::tree::Tree;
use crate::kernel::verify::verify;
use crate::kernel::{
    BinOp, BlockId, Buffer, Builder, CmpOp, InstId, Kernel, MemoryAccess, MemorySpace, Op, Ty, UnOp, Value, random,
};
use crate::lane::{Activity, AluOp, CountOp, Group, LaneOp, Members, ReduceKind, ReduceOp, VoteOp, Width};

/// Lanes of a wave.
const LANES: u32 = 32;

/// Writes watching code after instructions.
struct Watcher {
    b: Builder,
    scratch: BlockId,
}

impl Watcher {
    fn new(mut kernel: Kernel) -> Watcher {
        kernel.buffers.push(Buffer::storage("watched", 2));
        let scratch = kernel.add_block(&[]);
        let mut b = Builder::new(kernel);
        b.switch_to(scratch);
        Watcher { b, scratch }
    }

    fn atomic(&mut self, op: AtomicOp, word: u32, value: Value) {
        let access = MemoryAccess::words(MemorySpace::Buffer(2), 4 * word, 1);
        let op = Op::Atomic { op, ty: Scalar::U32, access, scope: Scope::Device, order: Order::Relaxed };
        let zero = self.b.u32(0);
        self.b.value(op, &[zero, value], Ty::B32);
    }

    fn lane(&mut self, op: LaneOp, ty: Scalar, args: &[Value], result: Ty) -> Value {
        self.b.value(Op::Lane { op, ty: [ty, Scalar::BOOL] }, args, result)
    }

    /// Word 0 loses its lowest bit if this is false anywhere.
    fn expect(&mut self, truth: Value) {
        let bit = self.b.convert(Scalar::BOOL, Scalar::U32, truth);
        self.atomic(AtomicOp::And, 0, bit);
    }

    fn value(&mut self, value: Value) {
        let scalar = match self.b.kernel.ty(value) {
            Ty::Bool => Scalar::BOOL,
            Ty::B32 => Scalar::U32,
            Ty::B64 => Scalar { kind: ScalarKind::Uint, width: 64 },
            Ty::B16 | Ty::Mask => return,
        };
        let op = LaneOp::Vote { op: VoteOp::Equal, group: Group::Subgroup };
        let same = self.lane(op, scalar, &[value], Ty::Bool);
        self.expect(same);
    }

    fn activity(&mut self, activity: Activity) {
        let yes = self.b.bool(true);
        let mask = self.lane(LaneOp::Ballot(Group::Subgroup), Scalar::BOOL, &[yes], Ty::Mask);
        match activity {
            Activity::Any => {}
            Activity::Full => {
                let count = self.lane(LaneOp::BallotCount(CountOp::All), Scalar::BOOL, &[mask], Ty::B32);
                self.atomic(AtomicOp::Min, 1, count);
            }
            Activity::FirstLanes => {
                let (zero, one) = (self.b.u32(0), self.b.u32(1));
                let word = self.b.value(Op::MaskAlu(AluOp::BallotWord), &[mask, zero], Ty::B32);
                let next = self.b.bin(BinOp::Add, Scalar::U32, word, one);
                let both = self.b.bin(BinOp::And, Scalar::U32, word, next);
                let first = self.b.cmp(CmpOp::Eq, Scalar::U32, both, zero);
                self.expect(first);
            }
        }
    }

    /// The watching code so far.
    fn take(&mut self) -> Vec<InstId> {
        std::mem::take(&mut self.b.kernel.blocks[self.scratch].insts)
    }
}

/// Adds checks of all claims about a kernel; of claims about values only if none is undefined.
fn watched(kernel: &Kernel, said: &Uniformity, values: bool) -> Kernel {
    let mut watcher = Watcher::new(kernel.clone());
    for block in Tree::new(kernel).blocks {
        let mut out = Vec::new();
        let params = kernel.blocks[block].params.clone();
        params.into_iter().filter(|param| values && said.is_uniform(*param)).for_each(|param| watcher.value(param));
        for inst in &kernel.blocks[block].insts {
            watcher.activity(said.activity(*inst));
            out.append(&mut watcher.take());
            out.push(*inst);
            kernel.results(*inst).filter(|value| values && said.is_uniform(*value)).for_each(|v| watcher.value(v));
        }
        watcher.b.kernel.blocks[block].insts = out;
    }
    watcher.b.kernel
}

#[test]
fn what_is_said_to_be_uniform_is() {
    let (mut uniform, mut full) = (0, 0);
    for seed in 0..60 {
        for lanes in [false, true] {
            let kernel = random::kernel(seed, lanes);
            let said = Uniformity::new(&kernel, LANES);
            let insts = Tree::new(&kernel).insts(&kernel);
            uniform +=
                insts.iter().flat_map(|inst| kernel.results(*inst)).filter(|value| said.is_uniform(*value)).count();
            full += insts.iter().filter(|inst| said.activity(**inst) != Activity::Any).count();
            let watched = watched(&kernel, &said, !lanes);
            assert_eq!(verify(&watched), Ok(()), "seed {seed}");
            let [_, words] = random::run_watched(&watched, LANES).expect("it runs");
            let together = words[1].is_some_and(|count| count >= LANES);
            assert!(words[0].is_some_and(|word| word & 1 == 1) && together, "seed {seed}\n{}", print(&watched, None));
        }
    }
    assert!(uniform > 500 && full > 500, "{uniform} values, {full} places");
}

fn start() -> (Builder, Value) {
    let mut b = Builder::new(Kernel::new("main", [64, 1, 1]));
    let local = b.value(Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
    (b, local)
}

/// An `If` around a `Return`.
fn leave_if(b: &mut Builder, condition: Value) {
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[condition], &[]);
    let outer = b.switch_to(then);
    b.effect(Op::Return, &[]);
    b.switch_to(otherwise);
    b.effect(Op::Yield, &[]);
    b.switch_to(outer);
}

#[test]
fn lanes_are_apart_from_a_divergent_return_on() {
    let (mut b, local) = start();
    let group = b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
    let three = b.u32(3);
    let uniform = b.cmp(CmpOp::Eq, Scalar::U32, group, three);
    leave_if(&mut b, uniform);
    let before = b.effect(Op::Lane { op: LaneOp::Sync, ty: [Scalar::BOOL; 2] }, &[]);
    let varying = b.cmp(CmpOp::Eq, Scalar::U32, local, three);
    leave_if(&mut b, varying);
    let after = b.effect(Op::Lane { op: LaneOp::Sync, ty: [Scalar::BOOL; 2] }, &[]);
    b.effect(Op::Return, &[]);
    let said = Uniformity::new(&b.kernel, 64);
    assert_eq!((said.activity(before), said.activity(after)), (Activity::Full, Activity::Any));
    assert_eq!(said.flow(before), Extent::Workgroup);
    assert_eq!(Uniformity::new(&b.kernel, 32).activity(before), Activity::Full);
    b.kernel.workgroup_size = [40, 1, 1];
    assert_eq!(Uniformity::new(&b.kernel, 32).activity(before), Activity::FirstLanes);
}

#[test]
fn a_value_of_the_round_in_which_a_lane_leaves_varies() {
    let (mut b, local) = start();
    let (zero, one, no) = (b.u32(0), b.u32(1), b.bool(false));
    let (body, continuing) = (b.kernel.add_block(&[Ty::B32]), b.kernel.add_block(&[Ty::B32]));
    let inst = b.inst(Op::Loop { body, continuing }, &[zero], &[Ty::B32]);
    let outer = b.switch_to(body);
    let round = b.kernel.blocks[body].params[0];
    let done = b.cmp(CmpOp::Ge, Scalar::U32, round, local);
    let (then, otherwise) = (b.kernel.add_block(&[]), b.kernel.add_block(&[]));
    b.inst(Op::If { then, otherwise }, &[done], &[]);
    b.switch_to(then);
    b.effect(Op::Exit(inst), &[round]);
    b.switch_to(otherwise);
    b.effect(Op::Yield, &[]);
    b.switch_to(body);
    b.effect(Op::Continue(inst), &[round]);
    b.switch_to(continuing);
    let param = b.kernel.blocks[continuing].params[0];
    let next = b.bin(BinOp::Add, Scalar::U32, param, one);
    b.effect(Op::Repeat, &[no, next, zero]);
    b.switch_to(outer);
    let after = b.effect(Op::Return, &[]);
    let said = Uniformity::new(&b.kernel, 32);
    let result = b.kernel.result(inst).expect("one");
    assert!(said.is_uniform(round) && !said.is_uniform(result));
    assert_eq!(said.activity(after), Activity::Full);
}

#[test]
fn numbers_of_waves_and_whole_folds_are_uniform() {
    let (mut b, local) = start();
    let (five, mask) = (b.u32(5), b.u32(!31));
    let wave = b.bin(BinOp::Shr, Scalar::U32, local, five);
    let first = b.bin(BinOp::And, Scalar::U32, local, mask);
    let fold = |width| {
        let (kind, members) = (ReduceKind::AllReduce, Members::Active);
        Op::Lane { op: LaneOp::Reduce { op: ReduceOp::Add, kind, width, members }, ty: [Scalar::U32, Scalar::BOOL] }
    };
    let whole = b.value(fold(Width::SUBGROUP), &[local], Ty::B32);
    let part = b.value(fold(Width::new(16).expect("a width")), &[local], Ty::B32);
    let not = b.un(UnOp::Not, Scalar::U32, whole);
    b.effect(Op::Return, &[]);
    let said = Uniformity::new(&b.kernel, 32);
    for value in [wave, first, whole, not] {
        assert_eq!(said.of(value), Extent::Wave);
    }
    assert_eq!(said.of(part), Extent::Lane);
    assert_eq!(Uniformity::new(&b.kernel, 64).of(wave), Extent::Lane);
}
