//! Reductions and scans of segments, in the portable dialect: every operator, every type.

use super::rows::{reductions, results, vector_moves};
use crate::case::{Case, Column, Wave};
use crate::fixture::{Buffer, Fixture, input, inputs, outputs};
use crate::pattern::Domain;
use crate::reference::{self as sem, Lane};
use crate::scalar::{Op, Type};

pub static FIXTURES: &[Fixture] = &[
    row("reduce_uint", UINT, |c| reductions(c, &Op::ALL, sem::reduce::<u32>)),
    row("reduce_int", INT, |c| reductions(c, &Op::ALL, sem::reduce::<i32>)),
    row("reduce_float", FLOAT, |c| reductions(c, &Op::ARITHMETIC, sem::reduce::<f32>)),
    row("reduce_bool", BOOL, |c| reductions(c, &Op::LOGICAL, sem::reduce::<bool>)),
    row("all_reduce_uint", UINT, |c| reductions(c, &Op::ALL, sem::all_reduce::<u32>)),
    row("all_reduce_int", INT, |c| reductions(c, &Op::ALL, sem::all_reduce::<i32>)),
    row("all_reduce_float", FLOAT, |c| reductions(c, &Op::ARITHMETIC, sem::all_reduce::<f32>)),
    row("all_reduce_bool", BOOL, |c| reductions(c, &Op::LOGICAL, sem::all_reduce::<bool>)),
    row("all_reduce_vec2", &[inputs(Domain::Exact(Type::F32), 2), outputs(Type::F32, 4)], |c| {
        vector_moves::<f32, 2>(c, &[|v, w| sem::all_reduce(Op::Add, v, w), |v, w| sem::all_reduce(Op::Max, v, w)])
    }),
    Fixture::new("all_reduce_whole", UINT, |c| reductions(c, &Op::ALL, sem::all_reduce::<u32>)),
    row("inclusive_uint", UINT, |c| reductions(c, &Op::ALL, sem::inclusive::<u32>)),
    row("inclusive_float", FLOAT, |c| reductions(c, &Op::ARITHMETIC, sem::inclusive::<f32>)),
    row("inclusive_bool", BOOL, |c| reductions(c, &Op::LOGICAL, sem::inclusive::<bool>)),
    row("exclusive_uint", UINT, |c| reductions(c, &Op::ALL, sem::exclusive::<u32>)),
    row("exclusive_int", INT, |c| reductions(c, &Op::ALL, sem::exclusive::<i32>)),
    row("exclusive_float", FLOAT, |c| reductions(c, &Op::ARITHMETIC, sem::exclusive::<f32>)),
    row("exclusive_bool", BOOL, |c| reductions(c, &Op::LOGICAL, sem::exclusive::<bool>)),
    Fixture::new("scan_whole", &[input(Domain::Any(Type::I32)), outputs(Type::I32, 4)], |c| {
        results::<i32>(
            c,
            &[
                |w| sem::inclusive(Op::Add, &w.get(0), w.lanes()),
                |w| sem::exclusive(Op::Add, &w.get(0), w.lanes()),
                |w| sem::inclusive(Op::Min, &w.get(0), w.lanes()),
                |w| sem::exclusive(Op::Xor, &w.get(0), w.lanes()),
            ],
        )
    }),
    row("fold_order", &[input(Domain::Rounding), outputs(Type::F32, 4)], |c| {
        results::<f32>(
            c,
            &[
                |w| sem::all_reduce(Op::Add, &w.get(0), w.width()),
                |w| sem::reduce(Op::Add, &w.get(0), w.width()),
                |w| sem::inclusive(Op::Add, &w.get(0), w.width()),
                |w| sem::exclusive(Op::Add, &w.get(0), w.width()),
            ],
        )
    })
    .in_order(),
    row("segmented", &[input(Domain::Any(Type::U32)), outputs(Type::U32, 4)], |c| {
        results::<u32>(
            c,
            &[
                |w| sem::segmented(Op::Add, &w.get(0), &heads(w), w.width()),
                |w| sem::segmented(Op::Min, &w.get(0), &heads(w), w.width()),
                |w| sem::segmented(Op::Max, &w.get(0), &heads(w), w.width()),
                |w| sem::segmented(Op::Add, &w.get(0), &heads(w), w.lanes()),
            ],
        )
    }),
    row("sort", &[input(Domain::Any(Type::U32)), outputs(Type::U32, 5), input(Domain::Exact(Type::F32))], |c| {
        results::<u32>(
            c,
            &[
                |w| keys(ranked(w)),
                |w| ranked(w).into_iter().map(|(_, value)| value).collect(),
                |w| sem::each(&keys(sem::sort(&w.get::<f32>(2), &zeros(w), w.width())), |_, level| level.to_bits()),
                |w| sem::each(&keys(sem::sort(&w.get::<i32>(0), &zeros(w), w.lanes())), |_, key| key as u32),
                |w| {
                    let flags = sem::each(&masked(w, 4), |_, x| x != 0);
                    let pairs = sem::sort(&masked(w, 3), &flags, 4);
                    pairs.into_iter().map(|(key, flag)| Some(key? | u32::from(flag?) << 8)).collect()
                },
            ],
        )
    }),
];

fn masked(w: &Wave<'_>, mask: u32) -> Vec<Lane<u32>> {
    sem::each(&w.get::<u32>(0), |_, x| x & mask)
}

fn heads(w: &Wave<'_>) -> Vec<Lane<bool>> {
    sem::each(&masked(w, 12), |_, x| x == 0)
}

fn zeros(w: &Wave<'_>) -> Vec<Lane<u32>> {
    sem::each(&w.ids(), |_, _| 0)
}

fn keys<K, V>(pairs: Vec<(Lane<K>, Lane<V>)>) -> Vec<Lane<K>> {
    pairs.into_iter().map(|(key, _)| key).collect()
}

/// Pairs with many equal keys, in order.
fn ranked(w: &Wave<'_>) -> Vec<(Lane<u32>, Lane<u32>)> {
    sem::sort(&masked(w, 7), &w.ids(), w.width())
}

const UINT: &[Buffer] = &[input(Domain::Any(Type::U32)), outputs(Type::U32, 7)];
const INT: &[Buffer] = &[input(Domain::Any(Type::I32)), outputs(Type::I32, 7)];
// Sums and products of these are exact, so that a driver's own order does not matter.
const FLOAT: &[Buffer] = &[input(Domain::Factors), outputs(Type::F32, 4)];
const BOOL: &[Buffer] = &[input(Domain::Below(2)), outputs(Type::Bool, 3)];

const fn row(name: &'static str, buffers: &'static [Buffer], expect: fn(&Case<'_>) -> Vec<Column>) -> Fixture {
    Fixture::new(name, buffers, expect).with_widths()
}
