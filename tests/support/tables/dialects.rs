//! Dialects of other makers: AMD_shader_ballot, the 64-bit ballots of ARB_shader_ballot, and Quadrants' names.

use super::rows::{over, results};
use crate::case::{Case, Column, Wave};
use crate::fixture::{Fixture, input, outputs};
use crate::pattern::Domain;
use crate::reference::{self as sem, Lane};
use crate::scalar::{Op, Type};

const WORD: Domain = Domain::Any(Type::U32);

/// Lanes of the quads and tiles in these shaders.
const TILE: usize = 4;

pub static FIXTURES: &[Fixture] = &[
    Fixture::new("amd_shader_ballot", &[input(WORD), outputs(Type::U32, 10)], amd_shader_ballot).with_group(40),
    Fixture::new("quadrants", &[input(WORD), outputs(Type::U32, 12)], quadrants),
];

fn words(w: &Wave<'_>) -> Vec<Lane<u32>> {
    w.get(0)
}

/// The value of a lane; zero if it is not active.
fn or_zero(v: &[Lane<u32>], source: impl Fn(usize) -> usize) -> Vec<Lane<u32>> {
    sem::each(v, |i, _| v.get(source(i)).copied().flatten().unwrap_or(0))
}

fn bit(v: &[Lane<u32>], mask: u32) -> Vec<Lane<bool>> {
    sem::each(v, |_, x| x & mask != 0)
}

fn number(p: &[Lane<bool>]) -> Vec<Lane<u32>> {
    sem::each(p, |_, x| u32::from(x))
}

fn xor(a: &[Lane<u32>], b: &[Lane<u32>]) -> Vec<Lane<u32>> {
    a.iter().zip(b).map(|(a, b)| Some((*a)? ^ (*b)?)).collect()
}

fn amd_shader_ballot(c: &Case<'_>) -> Vec<Column> {
    const MASK: u128 = 0x0F0F_0F0F_A5A5_A5A5;
    results::<u32>(
        c,
        &[
            |w| sem::gather(&words(w), |i| (i & !3) | (0x1B >> (2 * (i & 3)) & 3)),
            |w| or_zero(&words(w), |i| (i & !3) | [1, 1, 3, 0][i & 3]),
            |w| or_zero(&words(w), |i| (i & !31) | ((i & 28 | 1) ^ 2)),
            |w| sem::each(&words(w), |i, x| if i == 2 { 7 } else { x }),
            |w| sem::each(&words(w), |i, _| (MASK & sem::below(i)).count_ones()),
            |w| sem::active_reduce(Op::Add, &words(w), w.lanes()),
            |w| sem::active_inclusive(Op::Min, &words(w)),
            |w| sem::ballot(&bit(&words(w), 1), 0),
            |w| sem::each(&words(w), |i, _| sem::below(i) as u32 ^ ((1u128 << i) as u32) << 1),
            |w| {
                let odd = sem::branch(&words(w), |_, x| x & 1 != 0);
                over(&sem::each(&w.ids(), |_, _| 0), &sem::active_exclusive(Op::Max, &odd))
            },
        ],
    )
}

/// True if all lanes of a pair have the same lowest bit.
fn pairs_agree(v: &[Lane<u32>]) -> Vec<Lane<bool>> {
    sem::each(v, |i, x| v[i ^ 1].is_some_and(|other| other & 1 == x & 1))
}

fn sorted(w: &Wave<'_>) -> Vec<Lane<u32>> {
    let keys: Vec<Lane<u32>> = sem::each(&words(w), |_, x| x & 3);
    sem::sort(&keys, &w.ids(), TILE).into_iter().map(|(key, value)| Some(key? | value? << 8)).collect()
}

fn quadrants(c: &Case<'_>) -> Vec<Column> {
    results::<u32>(
        c,
        &[
            |w| number(&sem::all(&bit(&words(w), 7), w.lanes())),
            |w| number(&sem::any(&bit(&words(w), 1), TILE)),
            |w| number(&pairs_agree(&words(w))),
            |w| sem::each(&sem::all_reduce(Op::Add, &words(w), w.lanes()), |i, sum| if i == 0 { sum } else { 0 }),
            |w| sem::all_reduce(Op::Min, &words(w), TILE),
            |w| sem::segmented(Op::Max, &words(w), &bit(&words(w), 4), w.lanes()),
            |w| sem::exclusive(Op::Add, &words(w), TILE),
            |w| sem::inclusive(Op::Xor, &words(w), w.lanes()),
            |w| {
                let ballot = sem::ballot(&bit(&words(w), 1), 0);
                xor(&ballot, &sem::each(&ballot, |_, bits| bits & 31))
            },
            |w| sem::each(&words(w), |_, x| (2u32 << (x & 31)).wrapping_sub(1) ^ 1 << (x >> 27)),
            |w| sorted(w),
            |w| xor(&sem::gather(&words(w), |_| 1), &sem::gather(&words(w), |i| i ^ 2)),
        ],
    )
}
