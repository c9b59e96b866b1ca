//! Moves across any distance: butterflies, permutes, broadcasts, shuffles, rotations, and lane indices.

use super::rows::{over, results, side_by_side, vector_moves};
use crate::case::{Case, Column, Wave};
use crate::fixture::{Buffer, Fixture, input, inputs, outputs};
use crate::pattern::Domain;
use crate::reference::{self as sem, Lane, Shuffle};
use crate::scalar::Type;

const WORD: Domain = Domain::Any(Type::U32);

pub static FIXTURES: &[Fixture] = &[
    Fixture::new("butterfly", &[input(WORD), outputs(Type::U32, 2)], butterfly).with_widths(),
    Fixture::new("butterfly_vec4", &[inputs(Domain::Any(Type::F32), 4), outputs(Type::F32, 4)], |c| {
        vector_moves::<f32, 4>(c, &[sem::butterfly])
    })
    .with_widths(),
    Fixture::new("butterfly_bool", &[input(Domain::Any(Type::I32)), outputs(Type::Bool, 4)], butterfly_bool)
        .with_widths(),
    Fixture::new("reverse", &[input(WORD), outputs(Type::U32, 5)], reverse).with_widths(),
    Fixture::new(
        "bpermute",
        &[input(Domain::Any(Type::I32)), outputs(Type::I32, 2), input(Domain::Below(1000))],
        |c| results::<i32>(c, &[|w| sem::bpermute(&w.get(0), &w.get(2)), |w| sem::gather(&w.get(0), |_| 3)]),
    ),
    Fixture::new("broadcast", &[input(Domain::Any(Type::F32)), outputs(Type::F32, 4)], broadcast),
    Fixture::new("lanes", &[input(Domain::Below(2)), outputs(Type::U32, 6)], lanes).with_widths(),
    nv("nv_shuffle_up", |c| nv_shuffle(c, Shuffle::Up)),
    nv("nv_shuffle_down", |c| nv_shuffle(c, Shuffle::Down)),
    nv("nv_shuffle_xor", |c| nv_shuffle(c, Shuffle::Xor)),
    nv("nv_shuffle_indexed", |c| nv_shuffle(c, Shuffle::Indexed)),
    Fixture::new("nv_shuffle_vector", &[inputs(Domain::Any(Type::F32), 4), outputs(Type::F32, 8)], nv_vector)
        .with_widths()
        .up_to(32),
    Fixture::new(
        "khr_shuffle",
        &[input(Domain::Any(Type::F32)), outputs(Type::F32, 4), input(Domain::Below(1000))],
        |c| {
            results::<f32>(
                c,
                &[
                    |w| sem::gather(&w.get(0), |_| 2),
                    |w| sem::bpermute(&w.get(0), &w.get(2)),
                    |w| sem::gather(&w.get(0), |i| i ^ 3),
                    |w| sem::gather(&w.get(0), |i| i ^ (w.group + 1)),
                ],
            )
        },
    ),
    Fixture::new(
        "khr_shuffle_relative",
        &[inputs(Domain::Any(Type::I32), 2), outputs(Type::I32, 4)],
        khr_shuffle_relative,
    ),
    Fixture::new("khr_rotate", &[input(WORD), outputs(Type::U32, 3)], |c| {
        results::<u32>(
            c,
            &[
                |w| sem::rotate(&w.get(0), 1, w.lanes()),
                |w| sem::rotate(&w.get(0), w.group + 2, w.lanes()),
                |w| sem::rotate(&w.get(0), 1, w.width()),
            ],
        )
    })
    .with_widths(),
    Fixture::new("permute", &[input(WORD), outputs(Type::U32, 3), input(Domain::Below(1000))], permute).with_group(40),
    Fixture::new("whole_moves", &[input(WORD), outputs(Type::U32, 12), input(Domain::Below(1000))], whole)
        .with_widths()
        .up_to(32),
];

/// A row for an NV shuffle: value and predicate with a constant index, both with an index from a buffer, and the value
/// alone with two more constants.
const fn nv(name: &'static str, expect: fn(&Case<'_>) -> Vec<Column>) -> Fixture {
    const BUFFERS: &[Buffer] = &[input(WORD), outputs(Type::U32, 6), input(Domain::Below(40))];
    Fixture::new(name, BUFFERS, expect).with_widths().up_to(32)
}

fn butterfly(c: &Case<'_>) -> Vec<Column> {
    results::<u32>(c, &[|w| sem::butterfly(&w.get(0), w.width()), |w| sem::butterfly(&w.get(0), w.width())])
}

fn butterfly_bool(c: &Case<'_>) -> Vec<Column> {
    let moved =
        |w: &Wave<'_>, test: fn(i32) -> bool| sem::butterfly(&sem::each(&w.get::<i32>(0), |_, x| test(x)), w.width());
    side_by_side(
        [|x| x < 0, |x| x < 0, |x| x == 0, |x| x & 1 != 0]
            .into_iter()
            .map(|test: fn(i32) -> bool| c.each_wave(|w| moved(&w, test))),
    )
}

fn reverse(c: &Case<'_>) -> Vec<Column> {
    let turned = |of: fn(u32) -> u32, width: fn(&Wave<'_>) -> usize| {
        c.each_wave(|w| {
            let (values, n) = (sem::each(&w.get::<u32>(0), |_, x| of(x)), width(&w));
            sem::gather(&values, |i| i - i % n + (n - 1 - i % n))
        })
    };
    let segments: [fn(u32) -> u32; 4] = [|x| x, |x| x, |x| u32::from(x > 1_000_000), |x| x & 1];
    let whole = turned(|x| x, |w| w.lanes());
    side_by_side(segments.into_iter().map(|of| turned(of, |w| w.width())).chain([whole]))
}

fn broadcast(c: &Case<'_>) -> Vec<Column> {
    results::<f32>(
        c,
        &[
            |w| sem::gather(&w.get(0), |_| 1),
            |w| sem::gather(&w.get(0), |_| w.group + 2),
            |w| sem::broadcast_first(&w.get::<f32>(0)),
            |w| {
                let v = w.get::<f32>(0);
                let late = sem::broadcast_first(&sem::branch(&v, |i, _| i >= 3));
                over(&sem::each(&v, |_, _| 0.0), &late)
            },
        ],
    )
}

fn lanes(c: &Case<'_>) -> Vec<Column> {
    let last = |w: &Wave<'_>| sem::each(&w.ids(), |i, _| u32::from(i & (w.width() - 1) == w.width() - 1));
    let ballot = |w: &Wave<'_>, n: usize| sem::ballot(&w.get(0), n);
    side_by_side(
        [
            c.each_wave(|w| w.ids()),
            c.each_wave(|w| sem::each(&w.ids(), |_, _| w.lanes() as u32)),
            c.each_wave(|w| last(&w)),
            c.each_wave(|w| last(&w)),
            c.each_wave(|w| ballot(&w, 0)),
            c.each_wave(|w| ballot(&w, 1)),
        ]
        .into_iter(),
    )
}

fn nv_shuffle(c: &Case<'_>, mode: Shuffle) -> Vec<Column> {
    let fixed = |w: &Wave<'_>, n: u32| sem::each(&w.ids(), |_, _| n);
    let moved = |w: &Wave<'_>, index: &[Lane<u32>]| sem::nv_shuffle(mode, &w.get::<u32>(0), index, w.width());
    side_by_side(
        [
            c.each_wave(|w| moved(&w, &fixed(&w, 1))),
            c.each_wave(|w| sem::nv_valid(mode, &fixed(&w, 1), w.width())),
            c.each_wave(|w| moved(&w, &w.get(2))),
            c.each_wave(|w| sem::nv_valid(mode, &w.get(2), w.width())),
            c.each_wave(|w| moved(&w, &fixed(&w, 33))),
            c.each_wave(|w| moved(&w, &fixed(&w, 8))),
        ]
        .into_iter(),
    )
}

fn nv_vector(c: &Case<'_>) -> Vec<Column> {
    let moved = |mode: Shuffle, n: usize, index: fn(usize) -> usize| {
        c.each_wave(move |w| {
            let index = sem::each(&w.ids(), |_, _| index(w.width()) as u32);
            sem::nv_shuffle(mode, &w.component::<f32>(0, n, 4), &index, w.width())
        })
    };
    let half = |n| moved(Shuffle::Xor, n, |width| width / 2);
    let valid = c.each_wave(|w| {
        let index = sem::each(&w.ids(), |_, _| 2);
        sem::each(&sem::nv_valid(Shuffle::Up, &index, w.width()), |_, p| f32::from(u8::from(p)))
    });
    let up = |n| moved(Shuffle::Up, n, |_| 2);
    let columns = [half(0), half(1), half(2), half(3), up(0), up(1), moved(Shuffle::Down, 2, |_| 1), valid];
    side_by_side(columns.into_iter())
}

fn khr_shuffle_relative(c: &Case<'_>) -> Vec<Column> {
    let up = |n| c.each_wave(move |w| sem::gather(&w.component::<i32>(0, n, 2), |i| i.wrapping_sub(1)));
    let down = |n| c.each_wave(move |w| sem::gather(&w.component::<i32>(0, n, 2), |i| i + w.group + 1));
    side_by_side([up(0), up(1), down(0), down(1)].into_iter())
}

fn permute(c: &Case<'_>) -> Vec<Column> {
    results::<u32>(
        c,
        &[
            |w| sem::permute(&w.get::<u32>(0), &w.get(2)),
            |w| sem::permute(&w.get::<u32>(0), &sem::each(&w.ids(), |i, _| i as u32 ^ 1)),
            |w| {
                let odd = sem::branch(&w.get::<u32>(0), |_, x| x & 1 != 0);
                over(&sem::each(&w.ids(), |_, _| 0), &sem::permute(&odd, &w.get(2)))
            },
        ],
    )
}

/// The shader's hash of a struct whose members are derived from `v`.
fn digest(v: u32) -> u32 {
    let small = (v & 255) as f32;
    let members = v.wrapping_mul(3).wrapping_add((v & 1) * 5).wrapping_add(((!v & 1) + 2 * (v >> 1)).wrapping_mul(7));
    let floats = small * (1.0 + 2.0 + 3.0 + 4.0) + 2.0 * small + 4.0 * (small + 0.5);
    members.wrapping_add((floats as u32).wrapping_mul(11))
}

fn digests(v: &[Lane<u32>]) -> Vec<Lane<u32>> {
    sem::each(v, |_, x| digest(x))
}

fn xor(a: &[Lane<u32>], b: &[Lane<u32>]) -> Vec<Lane<u32>> {
    a.iter().zip(b).map(|(a, b)| Some((*a)? ^ (*b)?)).collect()
}

/// The values of the lanes after a move of a subgroup's words.
type Moved = fn(&Wave<'_>, &[Lane<u32>]) -> Vec<Lane<u32>>;

fn whole(c: &Case<'_>) -> Vec<Column> {
    let one = |w: &Wave<'_>| sem::each(&w.ids(), |_, _| 1u32);
    let valid = c.each_wave(|w| sem::each(&sem::nv_valid(Shuffle::Up, &one(&w), w.width()), |_, ok| u32::from(ok)));
    let up = c.each_wave(|w| digests(&sem::nv_shuffle(Shuffle::Up, &w.get::<u32>(0), &one(&w), w.width())));
    let moved = |rule: Moved| c.each_wave(move |w| rule(&w, &w.get::<u32>(0)));
    let columns = [
        moved(|_, v| digests(&sem::gather(v, |_| 1))),
        moved(|_, v| digests(&sem::broadcast_first(v))),
        moved(|w, v| digests(&sem::butterfly(v, w.width()))),
        moved(|w, v| digests(&sem::bpermute(v, &w.get(2)))),
        moved(pushed),
        moved(|_, v| xor(&digests(&sem::gather(v, |i| i ^ 1)), &digests(&sem::quad_broadcast(v, 2)))),
        up,
        valid,
        moved(|w, v| digests(&sem::rotate(v, 1, w.width()))),
        moved(|_, v| sem::each(v, |i, x| digest(if i == 2 { 7 } else { x }))),
        moved(|_, v| {
            let quad = sem::gather(v, |i| (i & !3) | (0x1B >> (2 * (i & 3)) & 3));
            xor(&digests(&quad), &digests(&sem::gather(v, |_| 3)))
        }),
        moved(|w, v| {
            let second = sem::each(&sem::gather(v, |i| i ^ 2), |_, x| !x);
            let index: Vec<Lane<u32>> = w.get(2);
            xor(&second, &sem::gather(v, |i| index[i].map_or(usize::MAX, |at| at as usize & 3)))
        }),
    ];
    side_by_side(columns.into_iter())
}

/// A struct of zeros in the lanes that receive no push.
fn pushed(w: &Wave<'_>, v: &[Lane<u32>]) -> Vec<Lane<u32>> {
    let index: Vec<Lane<u32>> = w.get(2);
    let lanes: Vec<Lane<u32>> = sem::each(v, |i, _| i as u32 + 1);
    sem::each(&sem::permute(&lanes, &index), |_, from| match from {
        0 => 0,
        from => digest(v[from as usize - 1].expect("a lane that pushes is active")),
    })
}
