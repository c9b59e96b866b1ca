//! Votes, ballots and reductions over the active lanes, in the Khronos and NVIDIA dialects and in WGSL's own:
//! workgroups that do not fill their last subgroup, branches, early returns, loops that lanes leave one by one.

use super::rows::{over, results, side_by_side};
use crate::case::{Case, Column, Wave};
use crate::fixture::{Fixture, input, inputs, outputs};
use crate::pattern::Domain;
use crate::reference::{self as sem, Lane};
use crate::scalar::{Op, Reduce, Type};

const WORD: Domain = Domain::Any(Type::U32);
const FEW: Domain = Domain::Below(8);

pub static FIXTURES: &[Fixture] = &[
    Fixture::new("khr_basic", &[input(Domain::Below(2)), outputs(Type::U32, 4)], khr_basic).with_group(40),
    Fixture::new("khr_vote", &[input(Domain::Below(4)), outputs(Type::U32, 6)], khr_vote).with_group(40),
    Fixture::new("wgsl_vote", &[input(Domain::Below(4)), outputs(Type::U32, 4)], wgsl_vote).with_group(40),
    Fixture::new("khr_ballot", &[input(FEW), outputs(Type::U32, 10)], khr_ballot).with_group(40),
    Fixture::new("khr_ballot_constant", &[input(Domain::Below(4)), outputs(Type::U32, 8)], khr_ballot_constant)
        .with_group(40),
    Fixture::new("wgsl_ballot", &[input(FEW), outputs(Type::U32, 4)], wgsl_ballot).with_group(40),
    Fixture::new("khr_arithmetic_uint", &[input(WORD), outputs(Type::U32, 21)], |c| arithmetic::<u32>(c, &Op::ALL))
        .with_group(40),
    Fixture::new("khr_arithmetic_int", &[input(Domain::Any(Type::I32)), outputs(Type::I32, 21)], |c| {
        arithmetic::<i32>(c, &Op::ALL)
    })
    .with_group(40),
    Fixture::new("khr_arithmetic_float", &[input(Domain::Exact(Type::F32)), outputs(Type::F32, 9)], |c| {
        arithmetic::<f32>(c, &[Op::Add, Op::Min, Op::Max])
    })
    .with_group(40),
    Fixture::new("khr_arithmetic_bool", &[inputs(FEW, 2), outputs(Type::U32, 5)], arithmetic_bool).with_group(40),
    Fixture::new("wgsl_arithmetic", &[input(WORD), outputs(Type::U32, 11)], wgsl_arithmetic).with_group(40),
    Fixture::new("khr_clustered", &[input(WORD), outputs(Type::U32, 9)], clustered).with_widths().with_group(40),
    Fixture::new("nv_thread_group", &[input(Domain::Below(2)), outputs(Type::U32, 8)], nv_thread_group).with_group(40),
    Fixture::new("nv_partitioned", &[input(FEW), outputs(Type::U32, 8)], nv_partitioned).with_group(40),
    Fixture::new("arb_group", &[input(FEW), outputs(Type::U32, 4)], arb_group).with_group(40),
    Fixture::new("activity_early_return", &[input(FEW), outputs(Type::U32, 4)], early_return),
    Fixture::new("activity_branch", &[input(FEW), outputs(Type::U32, 4)], branch).with_group(40),
    Fixture::new("activity_folds", &[input(WORD), outputs(Type::U32, 3)], branch_folds).with_group(40),
    Fixture::new("activity_loop", &[input(Domain::Below(10)), outputs(Type::U32, 2)], lanes_leave),
    Fixture::new("activity_exits", &[input(FEW), outputs(Type::U32, 4)], exits).with_group(40),
    Fixture::new("activity_switch", &[input(WORD), outputs(Type::U32, 1)], switch),
    Fixture::new("activity_switch_values", &[input(WORD), outputs(Type::U32, 2)], switch_values),
];

fn words(w: &Wave<'_>) -> Vec<Lane<u32>> {
    w.get(0)
}

/// The predicate stored as a bit of each lane's word.
fn bit(v: &[Lane<u32>], mask: u32) -> Vec<Lane<bool>> {
    sem::each(v, |_, x| x & mask != 0)
}

/// A bool as the word that shaders write for it, shifted.
fn flag(p: &[Lane<bool>], shift: u32) -> Vec<Lane<u32>> {
    sem::each(p, |_, x| u32::from(x) << shift)
}

fn or(a: &[Lane<u32>], b: &[Lane<u32>]) -> Vec<Lane<u32>> {
    a.iter().zip(b).map(|(a, b)| Some((*a)? | (*b)?)).collect()
}

/// The first word of the ballot.
fn ballot(p: &[Lane<bool>]) -> Vec<Lane<u32>> {
    sem::ballot(p, 0)
}

/// The values of the buffer before the run, in every lane that exists.
fn fill(w: &Wave<'_>, value: u32) -> Vec<Lane<u32>> {
    sem::each(&w.ids(), |_, _| value)
}

fn khr_basic(c: &Case<'_>) -> Vec<Column> {
    results::<u32>(
        c,
        &[
            |w| flag(&sem::elect(&w.ids()), 0),
            |w| sem::each(&w.ids(), |_, i| i | (w.lanes() as u32) << 8),
            |w| {
                let first = w.start - w.group * w.case.group;
                let all = w.case.group.div_ceil(w.lanes());
                fill(w, (first / w.lanes() + (all << 8)) as u32)
            },
            |w| over(&fill(w, 0), &flag(&sem::elect(&sem::branch(&words(w), |_, x| x != 0)), 0)),
        ],
    )
}

/// The lanes whose word is odd.
fn odd(w: &Wave<'_>) -> Vec<Lane<u32>> {
    sem::branch(&words(w), |_, x| x & 1 != 0)
}

fn khr_vote(c: &Case<'_>) -> Vec<Column> {
    results::<u32>(
        c,
        &[
            |w| flag(&sem::all(&bit(&words(w), 1), w.lanes()), 0),
            |w| flag(&sem::any(&bit(&words(w), 1), w.lanes()), 0),
            |w| flag(&sem::all_equal(&bit(&words(w), 1)), 0),
            |w| flag(&sem::all_equal(&words(w)), 0),
            |w| over(&fill(w, 0), &flag(&sem::all(&bit(&odd(w), 2), w.lanes()), 0)),
            |w| {
                let second = bit(&odd(w), 2);
                over(&fill(w, 0), &or(&flag(&sem::any(&second, w.lanes()), 0), &flag(&sem::all_equal(&second), 1)))
            },
        ],
    )
}

fn wgsl_vote(c: &Case<'_>) -> Vec<Column> {
    results::<u32>(
        c,
        &[
            |w| flag(&sem::all(&bit(&words(w), 1), w.lanes()), 0),
            |w| flag(&sem::any(&bit(&words(w), 1), w.lanes()), 0),
            |w| over(&fill(w, 0), &flag(&sem::all(&bit(&odd(w), 2), w.lanes()), 0)),
            |w| over(&fill(w, 0), &flag(&sem::any(&bit(&odd(w), 2), w.lanes()), 0)),
        ],
    )
}

/// A rule over the ballot's bits and the lane's index.
fn from_ballot(w: &Wave<'_>, rule: impl Fn(u128, usize) -> u32) -> Vec<Lane<u32>> {
    let bits = sem::ballot_bits(&bit(&words(w), 1));
    sem::each(&w.ids(), |i, _| rule(bits, i))
}

/// The bit of lane `i` in the first word.
fn own(i: usize) -> u32 {
    (1u128 << i) as u32
}

/// The bits in the first word for the lanes above `i`.
fn above(w: &Wave<'_>, i: usize) -> u32 {
    (sem::below(w.lanes()) & !sem::below(i + 1)) as u32
}

fn khr_ballot(c: &Case<'_>) -> Vec<Column> {
    results::<u32>(
        c,
        &[
            |w| from_ballot(w, |bits, _| bits as u32),
            |w| from_ballot(w, |bits, i| (bits >> i & 1 | (bits >> 2 & 1) << 1) as u32),
            |w| from_ballot(w, |bits, _| bits.count_ones()),
            |w| {
                from_ballot(w, |bits, i| {
                    (bits & sem::below(i + 1)).count_ones() | (bits & sem::below(i)).count_ones() << 8
                })
            },
            |w| from_ballot(w, |bits, _| if bits == 0 { 99 } else { bits.trailing_zeros() }),
            |w| from_ballot(w, |bits, _| if bits == 0 { 99 } else { bits.ilog2() }),
            |w| from_ballot(w, |_, i| own(i) | above(w, i) << 16),
            |w| from_ballot(w, |_, i| (above(w, i) | own(i)) << 16 | sem::below(i) as u32),
            |w| from_ballot(w, |_, i| sem::below(i + 1) as u32),
            broadcasts,
        ],
    )
}

/// The mask that the shader states.
const MASK: u128 = 0x0000_0009_0000_0007_8000_0101_9000_0A05;

fn khr_ballot_constant(c: &Case<'_>) -> Vec<Column> {
    /// The bits of the mask that the subgroup's lanes are.
    fn mask(w: &Wave<'_>) -> u128 {
        MASK & sem::below(w.lanes())
    }
    fn each(w: &Wave<'_>, rule: impl Fn(u128, usize) -> u32) -> Vec<Lane<u32>> {
        sem::each(&w.ids(), |i, _| rule(mask(w), i))
    }
    results::<u32>(
        c,
        &[
            |w| each(w, |bits, i| (bits >> i & 1) as u32),
            |w| sem::each(&words(w), |_, x| (mask(w) >> x & 1 | (mask(w) >> 2 & 1) << 1) as u32),
            |w| each(w, |bits, _| bits.count_ones()),
            |w| each(w, |bits, i| (bits & sem::below(i + 1)).count_ones()),
            |w| each(w, |bits, i| (bits & sem::below(i)).count_ones()),
            |w| each(w, |bits, _| bits.trailing_zeros()),
            |w| each(w, |bits, _| bits.ilog2()),
            |w| {
                let there = w.ids().iter().flatten().count() as u32;
                sem::each(&w.ids(), |_, _| 15 | there << 8)
            },
        ],
    )
}

/// `subgroupBroadcast(v, 1) ^ subgroupBroadcastFirst(v)`.
fn broadcasts(w: &Wave<'_>) -> Vec<Lane<u32>> {
    let v = words(w);
    sem::each(&v, |_, _| v[0].expect("lane 0 exists") ^ v[1].expect("lane 1 exists"))
}

fn wgsl_ballot(c: &Case<'_>) -> Vec<Column> {
    results::<u32>(
        c,
        &[
            |w| from_ballot(w, |bits, _| bits as u32),
            |w| from_ballot(w, |bits, _| bits.count_ones()),
            broadcasts,
            |w| over(&fill(w, 0), &ballot(&bit(&odd(w), 2))),
        ],
    )
}

/// Each operator's reduction, then each one's inclusive scan, then each one's exclusive scan.
fn arithmetic<T: Reduce>(c: &Case<'_>, ops: &[Op]) -> Vec<Column> {
    let reductions = ops.iter().map(|&op| c.each_wave(|w| sem::active_reduce(op, &w.get::<T>(0), w.lanes())));
    let inclusive = ops.iter().map(|&op| c.each_wave(|w| sem::active_inclusive(op, &w.get::<T>(0))));
    let exclusive = ops.iter().map(|&op| c.each_wave(|w| sem::active_exclusive(op, &w.get::<T>(0))));
    side_by_side(reductions.chain(inclusive).chain(exclusive))
}

fn arithmetic_bool(c: &Case<'_>) -> Vec<Column> {
    let x = |w: &Wave<'_>| bit(&w.component(0, 0, 2), 1);
    let y = |w: &Wave<'_>| bit(&w.component(0, 1, 2), 2);
    let pair = |a: Vec<Lane<bool>>, b: Vec<Lane<bool>>| or(&flag(&a, 0), &flag(&b, 1));
    let columns = [
        c.each_wave(|w| {
            pair(sem::active_reduce(Op::And, &x(&w), w.lanes()), sem::active_reduce(Op::And, &y(&w), w.lanes()))
        }),
        c.each_wave(|w| pair(sem::active_inclusive(Op::Or, &x(&w)), sem::active_inclusive(Op::Or, &y(&w)))),
        c.each_wave(|w| flag(&sem::active_exclusive(Op::Xor, &x(&w)), 0)),
        c.each_wave(|w| sem::active_reduce(Op::Add, &w.component::<u32>(0, 1, 2), w.lanes())),
        c.each_wave(|w| sem::active_inclusive(Op::Max, &w.component::<u32>(0, 0, 2))),
    ];
    side_by_side(columns.into_iter())
}

fn wgsl_arithmetic(c: &Case<'_>) -> Vec<Column> {
    let reductions = Op::ALL.iter().map(|&op| c.each_wave(|w| sem::active_reduce(op, &words(&w), w.lanes())));
    let scanned = [Op::Add, Op::Mul];
    let inclusive = scanned.iter().map(|&op| c.each_wave(|w| sem::active_inclusive(op, &words(&w))));
    let exclusive = scanned.iter().map(|&op| c.each_wave(|w| sem::active_exclusive(op, &words(&w))));
    side_by_side(reductions.chain(inclusive).chain(exclusive))
}

/// The lanes whose word is even.
fn even(w: &Wave<'_>) -> Vec<Lane<u32>> {
    sem::branch(&words(w), |_, x| x & 1 == 0)
}

fn clustered(c: &Case<'_>) -> Vec<Column> {
    let whole = Op::ALL.iter().map(|&op| c.each_wave(|w| sem::active_reduce(op, &words(&w), w.width())));
    let part = |op| c.each_wave(|w| over(&fill(&w, 0), &sem::active_reduce(op, &even(&w), w.width())));
    side_by_side(whole.chain([part(Op::Add), part(Op::Min)]))
}

/// The ballot of each lane's 32.
fn warp_ballot(p: &[Lane<bool>]) -> Vec<Lane<u32>> {
    let bits = sem::ballot_bits(p);
    sem::each(p, |i, _| (bits >> (i & !31)) as u32)
}

fn nv_thread_group(c: &Case<'_>) -> Vec<Column> {
    let upper = |w: &Wave<'_>| sem::branch(&w.get::<bool>(0), |i, _| i & 1 == 1);
    let active = |p: Vec<Lane<bool>>| warp_ballot(&sem::each(&p, |_, _| true));
    let warp = |w: &Wave<'_>| w.lanes().min(32);
    let columns = [
        c.each_wave(|w| warp_ballot(&w.get(0))),
        c.each_wave(|w| active(w.get(0))),
        c.each_wave(|w| {
            let p = w.get(0);
            let (any, all) = (sem::any(&p, warp(&w)), sem::all(&p, warp(&w)));
            let equal = sem::each(&p, |i, _| all[i] == Some(true) || any[i] == Some(false));
            or(&or(&flag(&any, 0), &flag(&all, 1)), &flag(&equal, 2))
        }),
        c.each_wave(|w| sem::each(&w.ids(), |_, i| i & 31)),
        c.each_wave(|w| fill(&w, warp(&w) as u32)),
        c.each_wave(|w| sem::each(&w.ids(), |i, _| sem::below(i & 31) as u32)),
        c.each_wave(|w| over(&fill(&w, 0), &warp_ballot(&upper(&w)))),
        c.each_wave(|w| over(&fill(&w, 0), &active(upper(&w)))),
    ];
    side_by_side(columns.into_iter())
}

fn arb_group(c: &Case<'_>) -> Vec<Column> {
    results::<u32>(
        c,
        &[
            |w| {
                let p = bit(&words(w), 1);
                let quantified = or(&flag(&sem::any(&p, w.lanes()), 0), &flag(&sem::all(&p, w.lanes()), 1));
                or(&quantified, &flag(&sem::all_equal(&p), 2))
            },
            broadcasts,
            |w| sem::each(&w.ids(), |_, i| i | (w.lanes() as u32) << 8),
            |w| {
                let first = sem::each(&sem::broadcast_first(&odd(w)), |_, x| x << 1);
                over(&fill(w, 0), &or(&flag(&sem::all(&bit(&odd(w), 2), w.lanes()), 0), &first))
            },
        ],
    )
}

fn early_return(c: &Case<'_>) -> Vec<Column> {
    fn left(w: &Wave<'_>) -> Vec<Lane<u32>> {
        sem::branch(&words(w), |_, x| x & 3 != 1)
    }
    results::<u32>(
        c,
        &[
            |w| fill(w, 7),
            |w| over(&fill(w, 0), &ballot(&bit(&left(w), 4))),
            |w| {
                let odd = bit(&left(w), 1);
                let even = sem::each(&odd, |_, p| !p);
                over(&fill(w, 0), &or(&flag(&sem::all(&even, w.lanes()), 0), &flag(&sem::any(&odd, w.lanes()), 1)))
            },
            |w| {
                let last = sem::branch(&left(w), |_, x| x & 3 != 2);
                over(&fill(w, 0), &ballot(&sem::each(&last, |_, _| true)))
            },
        ],
    )
}

fn branch(c: &Case<'_>) -> Vec<Column> {
    fn both(
        w: &Wave<'_>,
        then: fn(&[Lane<u32>]) -> Vec<Lane<u32>>,
        other: fn(&[Lane<u32>]) -> Vec<Lane<u32>>,
    ) -> Vec<Lane<u32>> {
        over(&then(&odd(w)), &other(&even(w)))
    }
    results::<u32>(
        c,
        &[
            |w| both(w, |v| ballot(&bit(v, 2)), |v| ballot(&bit(v, 4))),
            |w| both(w, sem::broadcast_first, |v| sem::broadcast_first(&sem::each(v, |_, x| !x))),
            |w| both(w, |v| flag(&sem::any(&bit(v, 2), 4), 0), |v| flag(&sem::all(&bit(v, 4), 4), 0)),
            |w| ballot(&sem::each(&words(w), |_, _| true)),
        ],
    )
}

fn branch_folds(c: &Case<'_>) -> Vec<Column> {
    fn left(w: &Wave<'_>) -> Vec<Lane<u32>> {
        sem::branch(&words(w), |_, x| x & 7 != 5)
    }
    fn evens(w: &Wave<'_>) -> Vec<Lane<u32>> {
        sem::branch(&left(w), |_, x| x & 1 == 0)
    }
    fn odds(w: &Wave<'_>) -> Vec<Lane<u32>> {
        sem::branch(&left(w), |_, x| x & 1 == 1)
    }
    results::<u32>(
        c,
        &[
            |w| {
                let stayed = over(
                    &sem::active_reduce(Op::Add, &evens(w), w.lanes()),
                    &sem::active_reduce(Op::Max, &odds(w), w.lanes()),
                );
                over(&fill(w, 7), &stayed)
            },
            |w| {
                let stayed =
                    over(&sem::active_exclusive(Op::Add, &evens(w)), &sem::active_inclusive(Op::Mul, &odds(w)));
                over(&fill(w, 0), &stayed)
            },
            |w| over(&fill(w, 0), &sem::active_reduce(Op::Xor, &left(w), w.lanes())),
        ],
    )
}

fn lanes_leave(c: &Case<'_>) -> Vec<Column> {
    /// How many lanes of the subgroup run turn `i`.
    fn there(w: &Wave<'_>, i: u32) -> u32 {
        words(w).iter().flatten().filter(|&&turns| turns > i).count() as u32
    }
    results::<u32>(
        c,
        &[
            |w| {
                sem::each(&words(w), |_, turns| {
                    (0..turns.min(8)).fold(0u32, |seen, i| seen.wrapping_mul(3) + there(w, i))
                })
            },
            |w| sem::each(&words(w), |_, turns| (0..turns.min(8)).map(|i| i * there(w, i)).sum()),
        ],
    )
}

/// Each group of lanes that leaves a loop together counts itself.
fn exits(c: &Case<'_>) -> Vec<Column> {
    fn count(w: &Wave<'_>, is_in: impl Fn(u32) -> bool) -> u32 {
        words(w).iter().flatten().filter(|&&key| is_in(key)).count() as u32
    }
    fn continued(w: &Wave<'_>, key: u32) -> u32 {
        let rest = count(w, |other| other & 3 != 0);
        match key & 3 {
            0 => 300 * count(w, |other| other & 3 == 0),
            1 => 3 * (10 * count(w, |other| other & 3 == 1) + rest),
            _ => 3 * rest,
        }
    }
    results::<u32>(
        c,
        &[
            |w| sem::each(&words(w), |_, key| count(w, |other| other == key)),
            |w| sem::each(&words(w), |lane, _| (lane as u32 + 1) * 100 + 1),
            |w| sem::each(&words(w), |_, key| continued(w, key)),
            |w| sem::each(&words(w), |_, key| count(w, |other| other == key)),
        ],
    )
}

fn switch(c: &Case<'_>) -> Vec<Column> {
    fn arm(w: &Wave<'_>, cases: &[u32]) -> Vec<Lane<u32>> {
        sem::branch(&words(w), |_, x| cases.contains(&(x & 3)))
    }
    results::<u32>(
        c,
        &[|w| {
            let zero = ballot(&sem::each(&arm(w, &[0]), |_, _| true));
            let low = sem::active_reduce(Op::Min, &arm(w, &[1]), w.lanes());
            let large = sem::each(&arm(w, &[2, 3]), |_, x| x > 100);
            over(&over(&zero, &low), &flag(&sem::any(&large, w.lanes()), 0))
        }],
    )
}

fn switch_values(c: &Case<'_>) -> Vec<Column> {
    fn arm(w: &Wave<'_>, cases: &[u32]) -> Vec<Lane<u32>> {
        sem::branch(&words(w), |_, x| cases.contains(&(x & 7)))
    }
    results::<u32>(
        c,
        &[
            |w| {
                let listed = ballot(&sem::each(&arm(w, &[0, 5]), |_, _| true));
                let others = sem::active_reduce(Op::Min, &arm(w, &[1, 3, 7]), w.lanes());
                let fallen = ballot(&sem::each(&arm(w, &[2, 4, 6]), |_, _| true));
                over(&over(&listed, &others), &fallen)
            },
            |w| {
                let before = sem::active_reduce(Op::Max, &arm(w, &[2]), w.lanes());
                over(&sem::each(&arm(w, &[0, 1, 3, 4, 5, 6, 7]), |_, _| 0), &before)
            },
        ],
    )
}

/// The reduction in lane `i` over the lanes `j` of its partition for which `reaches` is true; both are indices within
/// the partition.
fn over_sets<T: Reduce>(
    op: Op,
    v: &[Lane<T>],
    sets: &[Lane<u32>],
    reaches: impl Fn(usize, usize) -> bool,
) -> Vec<Lane<T>> {
    let takes = |i: usize, j: &usize| sets[*j] == sets[i] && reaches(*j, i);
    sem::each(sets, |i, _| {
        let lanes = (0..sets.len()).filter(|j| takes(i, j));
        lanes.filter_map(|j| v[j]).fold(T::identity(op), |sum, x| T::apply(op, sum, x))
    })
}

/// The first word of the mask of lanes with the same value.
fn alike(sets: &[Lane<u32>]) -> Vec<Lane<u32>> {
    let lanes: Vec<Lane<u32>> = sem::each(sets, |i, _| own(i));
    over_sets(Op::Or, &lanes, sets, |_, _| true)
}

/// Each invocation's slot in the buffers.
fn slots(w: &Wave<'_>) -> Vec<Lane<u32>> {
    sem::each(&w.ids(), |i, _| (w.start + i) as u32)
}

fn nv_partitioned(c: &Case<'_>) -> Vec<Column> {
    results::<u32>(
        c,
        &[
            |w| alike(&words(w)),
            |w| alike(&sem::each(&words(w), |_, x| x & 5)),
            |w| alike(&sem::each(&words(w), |_, x| x & 2)),
            |w| over_sets(Op::Add, &slots(w), &words(w), |_, _| true),
            |w| over_sets(Op::Max, &sem::each(&slots(w), |_, x| x ^ 5), &words(w), |j, i| j <= i),
            |w| {
                let flags: Vec<Lane<bool>> = sem::each(&slots(w), |_, x| x & 3 == 1);
                flag(&over_sets(Op::Xor, &flags, &words(w), |j, i| j < i), 0)
            },
            |w| over(&fill(w, 0), &alike(&odd(w))),
            |w| over(&fill(w, 0), &over_sets(Op::Add, &slots(w), &odd(w), |j, i| j < i)),
        ],
    )
}
