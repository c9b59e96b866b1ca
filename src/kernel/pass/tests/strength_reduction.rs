//! Quotients and remainders by constants equal the replaced operations.

use super::super::fold::evaluate;
use super::super::strength_reduction;
use super::check;
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::{BinOp, Builder, Kernel, MemoryAccess, MemorySpace, Op, Ty, Value};
use rustc_hash::FxHashMap;

/// A division of a number that an `and` bounds.
struct Division {
    op: BinOp,
    scalar: Scalar,
    by: u64,
    most: u64,
}

impl Division {
    /// A kernel that divides a number that it loads, and the values of that number and of the result.
    fn kernel(&self) -> (Kernel, Value, Value) {
        let mut b = Builder::new(Kernel::new("main", [1; 3]));
        let ty = Ty::of(self.scalar);
        b.kernel.shared_bytes = 16;
        let bytes = self.scalar.width / 8;
        let access = MemoryAccess { bytes, align: bytes.into(), ..MemoryAccess::words(MemorySpace::Shared, 0, 1) };
        let zero = b.u32(0);
        let loaded = b.load(access, zero)[0];
        let mask = b.constant(ty, self.most);
        let n = b.bin(BinOp::And, self.scalar, loaded, mask);
        let by = b.constant(ty, self.by);
        let result = b.bin(self.op, self.scalar, n, by);
        b.store(access, zero, &[result]);
        b.effect(Op::Return, &[]);
        (b.kernel, loaded, result)
    }
}

/// The result of a kernel without branches for a number that it loads.
fn run(kernel: &Kernel, loaded: Value, result: Value, n: u64) -> u64 {
    let mut known: FxHashMap<Value, u64> = [(loaded, n)].into_iter().collect();
    for inst in &kernel.blocks[kernel.body].insts {
        let (Some(value), false) = (kernel.result(*inst), kernel.result(*inst) == Some(loaded)) else { continue };
        let word = |arg: &Value| kernel.as_constant(*arg).unwrap_or_else(|| known[arg]);
        let args: Vec<u64> = kernel.args(*inst).iter().map(word).collect();
        known.insert(value, evaluate(kernel.insts[*inst].op, &args).expect("arithmetic"));
    }
    known[&result]
}

/// Numbers at the edges of quotients and of the type.
fn samples(by: u64, most: u64) -> impl Iterator<Item = u64> {
    let multiples = [0, 1, 2, 3, most / by.max(1) / 2, most / by.max(1)].map(|times| times.wrapping_mul(by));
    let edges = [0, most / 2, most / 2 + 1, most, most / 3, 0x1234_5678_9abc_def0];
    let near = |n: u64| [n.wrapping_sub(1), n, n.wrapping_add(1)];
    multiples.into_iter().chain(edges).flat_map(near).flat_map(|n| [n, n.wrapping_neg()]).map(move |n| n & most)
}

fn assert_right(division: &Division) {
    let (mut kernel, loaded, result) = division.kernel();
    let Division { op, scalar, by, most } = *division;
    strength_reduction::run(&mut kernel);
    check(&kernel, "a reduced division");
    for n in samples(by, most) {
        let Some(expected) = evaluate(Op::Bin(op, scalar), &[n, by]) else { continue };
        assert_eq!(run(&kernel, loaded, result, n), expected, "{n} {op:?} {by} of {scalar:?} up to {most}");
    }
}

/// Divisors with and without a reciprocal of 32 bits, even ones, powers of two and their neighbours.
const DIVISORS: [u64; 24] = [
    2,
    3,
    4,
    5,
    6,
    7,
    9,
    10,
    11,
    13,
    14,
    25,
    28,
    60,
    100,
    125,
    127,
    128,
    641,
    1_000,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fff9,
];

#[test]
fn divisions_by_constants_stay_right() {
    for width in [8, 16, 32, 64] {
        for kind in [ScalarKind::Uint, ScalarKind::Sint] {
            let scalar = Scalar { kind, width };
            let ones = u64::MAX >> (64 - width);
            let divisors = DIVISORS.into_iter().filter(|by| *by <= ones).flat_map(|by| [by, by.wrapping_neg() & ones]);
            for by in divisors {
                for most in [63, 255, 0xffff, 0xff_ffff, u32::MAX.into(), u64::MAX].map(|most| most & ones) {
                    [BinOp::Div, BinOp::Rem]
                        .into_iter()
                        .for_each(|op| assert_right(&Division { op, scalar, by, most }));
                }
            }
        }
    }
}

/// Instructions between the mask and the store.
fn length(op: BinOp, scalar: Scalar, by: u64, most: u64) -> usize {
    let (mut kernel, ..) = Division { op, scalar, by, most }.kernel();
    assert!(strength_reduction::run(&mut kernel), "{by} up to {most}");
    kernel.blocks[kernel.body].insts.len() - 4
}

#[test]
fn small_ranges_make_short_sequences() {
    let length = |by, most| length(BinOp::Div, Scalar::U32, by, most);
    // A product and a shift; the upper half of a product; both; both after a separate shift; with a 33-bit factor.
    assert_eq!([length(7, 63), length(641, u32::MAX.into()), length(10, u32::MAX.into())], [2, 1, 2]);
    assert_eq!([length(14, u32::MAX.into()), length(7, u32::MAX.into())], [3, 5]);
}

#[test]
fn divisions_that_have_no_constant_stay() {
    let (mut kernel, ..) = Division { op: BinOp::Div, scalar: Scalar::U64, by: 7, most: u64::MAX }.kernel();
    assert!(!strength_reduction::run(&mut kernel));
}
