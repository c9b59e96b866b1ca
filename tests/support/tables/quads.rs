//! Quad swizzles and quad votes, in the portable, NVIDIA and Khronos dialects.

use super::rows::{Rule, moves, over, results, side_by_side};
use crate::case::{Case, Column, Wave};
use crate::fixture::{Fixture, input, inputs, outputs};
use crate::pattern::Domain;
use crate::reference::{self as sem, Lane};
use crate::scalar::{Scalar, Type};

pub static FIXTURES: &[Fixture] = &[
    Fixture::new("quad_swizzle", &[input(Domain::Any(Type::U32)), outputs(Type::U32, 6)], |c| {
        moves(c, &swizzles::<u32>())
    }),
    Fixture::new("quad_swizzle_float", &[input(Domain::Any(Type::F32)), outputs(Type::F32, 6)], |c| {
        moves(c, &swizzles::<f32>())
    }),
    Fixture::new("quad_swizzle_vector", &[inputs(Domain::Any(Type::I32), 4), outputs(Type::I32, 12)], swizzle_vector),
    Fixture::new("quad_vote", &[input(Domain::Below(2)), outputs(Type::U32, 4)], quad_vote),
    Fixture::new("nv_quad_swizzle", &[inputs(Domain::Exact(Type::F32), 2), outputs(Type::F32, 8)], nv_swizzle),
    Fixture::new("khr_quad", &[input(Domain::Any(Type::I32)), outputs(Type::I32, 7)], khr_quad),
];

/// 0, 1, 2, 3, X, Y.
fn swizzles<T: Scalar>() -> [Rule<T>; 6] {
    [
        |v| sem::quad_broadcast(v, 0),
        |v| sem::quad_broadcast(v, 1),
        |v| sem::quad_broadcast(v, 2),
        |v| sem::quad_broadcast(v, 3),
        |v| sem::gather(v, |i| i ^ 1),
        |v| sem::gather(v, |i| i ^ 2),
    ]
}

fn swizzle_vector(c: &Case<'_>) -> Vec<Column> {
    let part =
        |n: usize, source: fn(usize) -> usize| c.each_wave(move |w| sem::gather(&w.component::<i32>(0, n, 4), source));
    let sign = |n: usize| {
        c.each_wave(move |w| {
            let negative = sem::each(&w.component::<i32>(0, n, 4), |_, x| x < 0);
            sem::quad_broadcast(&negative, 2)
        })
    };
    let x = |n| part(n, |i| i ^ 1);
    let first = |n| part(n, |i| i & !3 | 1);
    let last = |n| part(n, |i| i | 3);
    let columns =
        [x(0), x(1), x(2), x(3), first(0), first(1), first(2), part(3, |i| i ^ 2), sign(0), sign(1), last(2), last(3)];
    side_by_side(columns.into_iter())
}

fn votes(w: &Wave<'_>) -> Vec<Lane<bool>> {
    w.get::<bool>(0)
}

/// The upper half of each quad, the only lanes that run the branch.
fn upper(w: &Wave<'_>) -> Vec<Lane<bool>> {
    sem::branch(&votes(w), |i, _| i & 3 >= 2)
}

fn zeros(w: &Wave<'_>) -> Vec<Lane<bool>> {
    sem::each(&votes(w), |_, _| false)
}

fn quad_vote(c: &Case<'_>) -> Vec<Column> {
    results(
        c,
        &[
            |w| sem::all(&votes(w), 4),
            |w| sem::any(&votes(w), 4),
            |w| over(&zeros(w), &sem::all(&upper(w), 4)),
            |w| over(&zeros(w), &sem::any(&sem::each(&upper(w), |_, p| !p), 4)),
        ],
    )
}

fn nv_swizzle(c: &Case<'_>) -> Vec<Column> {
    let parts = |n: usize| move |w: &Wave<'_>| w.component::<f32>(0, n, 2);
    let sum = |a: Vec<Lane<f32>>, b: Vec<Lane<f32>>| -> Vec<Lane<f32>> {
        a.into_iter().zip(b).map(|(a, b)| Some(a? + b?)).collect()
    };
    let (x, y) = (parts(0), parts(1));
    let swap = |v: &[Lane<f32>], mask: usize| sem::gather(v, |i| i ^ mask);
    let columns = [
        c.each_wave(|w| sem::quad_broadcast(&x(&w), 0)),
        c.each_wave(|w| sem::quad_broadcast(&y(&w), 0)),
        c.each_wave(|w| sum(swap(&x(&w), 1), x(&w))),
        c.each_wave(|w| sum(swap(&y(&w), 1), y(&w))),
        c.each_wave(|w| sem::each(&swap(&x(&w), 2), |_, v| v + 1.0)),
        c.each_wave(|w| sem::each(&swap(&y(&w), 2), |_, v| v - 1.0)),
        c.each_wave(|w| sem::quad_broadcast(&x(&w), 3)),
        c.each_wave(|w| sum(sem::quad_broadcast(&y(&w), 2), x(&w))),
    ];
    side_by_side(columns.into_iter())
}

fn khr_quad(c: &Case<'_>) -> Vec<Column> {
    let mut rules = swizzles::<i32>().to_vec();
    rules.push(|v| sem::gather(v, |i| i ^ 3));
    moves(c, &rules)
}
