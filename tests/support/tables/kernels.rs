//! Whole kernels, of the kind that people write.

use crate::case::{Case, Column};
use crate::compare::Closeness;
use crate::fixture::{Buffer, Count, Fixture, input, inputs, output, output_within, outputs};
use crate::pattern::Domain;
use crate::scalar::{Scalar, Type};

const WORD: Domain = Domain::Any(Type::U32);

pub static FIXTURES: &[Fixture] = &[
    Fixture::new(
        "kernel_block_reduction",
        &[input(WORD), Buffer::Out(Type::U32, Count::PerGroup(1), Closeness::Same)],
        block_reduction,
    ),
    Fixture::new("kernel_prefix_sum", &[input(Domain::Any(Type::I32)), output(Type::I32)], prefix_sum),
    Fixture::new("kernel_bitonic_sort", &[input(Domain::Exact(Type::F32)), output(Type::F32)], bitonic_sort)
        .with_widths()
        .up_to(16),
    Fixture::new(
        "kernel_histogram",
        &[input(Domain::Below(16)), Buffer::Out(Type::U32, Count::Fixed(16), Closeness::Same)],
        histogram,
    ),
    Fixture {
        widths: &[2, 4, 8],
        ..Fixture::new("kernel_transpose", &[inputs(WORD, 16), outputs(Type::U32, 16)], transpose)
    },
    Fixture::new("kernel_softmax", &[input(Domain::Factors), output_within(1e-5)], softmax).with_widths(),
    Fixture::new("kernel_compaction", &[input(Domain::Below(100)), output(Type::U32), output(Type::U32)], compaction)
        .with_group(40),
    Fixture::new("kernel_stencil", &[input(Domain::Exact(Type::F32)), output(Type::F32)], stencil)
        .with_widths()
        .up_to(32),
    Fixture::new("kernel_arg_max", &[input(Domain::Any(Type::I32)), outputs(Type::I32, 2)], arg_max)
        .with_widths()
        .up_to(32),
    Fixture::new("kernel_radix_split", &[input(Domain::Below(16)), output(Type::U32)], radix_split),
    Fixture::new(
        "kernel_dot_product",
        &[inputs(Domain::Exact(Type::F32), 4), output(Type::F32), inputs(Domain::Factors, 4)],
        dot_product,
    )
    .with_widths(),
];

/// The words of a column that is fully defined.
fn whole<T: Scalar>(values: impl IntoIterator<Item = T>) -> Vec<Column> {
    vec![values.into_iter().map(|x| Some(x.to_word())).collect()]
}

fn block_reduction(c: &Case<'_>) -> Vec<Column> {
    whole(c.input::<u32>(0).chunks(c.group).map(|group| group.iter().fold(0u32, |sum, &x| sum.wrapping_add(x))))
}

fn prefix_sum(c: &Case<'_>) -> Vec<Column> {
    let sums = |group: &[i32]| {
        let running = group.iter().scan(0i32, |sum, &x| {
            *sum = sum.wrapping_add(x);
            Some(*sum)
        });
        running.collect::<Vec<_>>()
    };
    whole(c.input::<i32>(0).chunks(c.group).flat_map(sums))
}

fn bitonic_sort(c: &Case<'_>) -> Vec<Column> {
    let mut values = c.input::<f32>(0);
    values.chunks_mut(c.width).for_each(|segment| segment.sort_by(f32::total_cmp));
    whole(values)
}

fn histogram(c: &Case<'_>) -> Vec<Column> {
    let values = c.input::<u32>(0);
    whole((0..16u32).map(|bin| values.iter().filter(|&&x| x == bin).count() as u32))
}

/// The buffers have room for rows of 16; a kernel of width W uses the first W × slots words.
fn transpose(c: &Case<'_>) -> Vec<Column> {
    let (width, x) = (c.width, c.input::<u32>(0));
    let moved = |n: usize| {
        let (row, column) = (n / width, n % width);
        x[(row - row % width + column) * width + row % width]
    };
    let used = width * c.slots();
    whole((0..x.len()).map(|n| if n < used { moved(n) } else { 0 }))
}

fn softmax(c: &Case<'_>) -> Vec<Column> {
    let row = |row: &[f32]| {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers: Vec<f32> = row.iter().map(|x| (x - largest).exp()).collect();
        let sum: f32 = powers.iter().sum();
        powers.into_iter().map(move |x| x / sum)
    };
    whole(c.input::<f32>(0).chunks(c.width).flat_map(row))
}

fn compaction(c: &Case<'_>) -> Vec<Column> {
    let values = c.input::<u32>(0);
    let mut kept = vec![Some(0); c.slots()];
    let mut counts = vec![Some(0); c.slots()];
    for wave in c.waves() {
        let odd = values[wave.start..wave.start + wave.filled].iter().filter(|&&x| x & 1 != 0);
        let first = wave.group * c.group;
        let place = first + (wave.start - first) / c.subgroup;
        counts[place] = Some(odd.clone().count() as u32);
        for (n, &x) in odd.enumerate() {
            kept[wave.start + n] = Some(x);
        }
    }
    vec![kept, counts]
}

fn stencil(c: &Case<'_>) -> Vec<Column> {
    let blur = |row: &[f32]| {
        let at = |i: usize| row[i.min(row.len() - 1)];
        (0..row.len()).map(|i| 0.25 * at(i.saturating_sub(1)) + 0.5 * at(i) + 0.25 * at(i + 1)).collect::<Vec<_>>()
    };
    whole(c.input::<f32>(0).chunks(c.width).flat_map(blur))
}

fn arg_max(c: &Case<'_>) -> Vec<Column> {
    let best = |row: &[i32]| {
        let largest = *row.iter().max().expect("a segment has lanes");
        let lane = row.iter().position(|&x| x == largest).expect("the largest is one of them");
        vec![[largest, lane as i32]; row.len()]
    };
    whole(c.input::<i32>(0).chunks(c.width).flat_map(best).flatten())
}

/// Four stable splits by one bit each sort the subgroup's numbers below 16.
fn radix_split(c: &Case<'_>) -> Vec<Column> {
    let mut values = c.input::<u32>(0);
    values.chunks_mut(c.subgroup).for_each(<[u32]>::sort_unstable);
    whole(values)
}

fn dot_product(c: &Case<'_>) -> Vec<Column> {
    let (x, weights) = (c.input::<f32>(0), c.input::<f32>(2));
    let products: Vec<f32> = x.iter().zip(&weights).map(|(a, b)| a * b).collect();
    let mut sums: Vec<f32> = products.chunks(4 * c.width).map(|row| row.iter().sum()).collect();
    sums.resize(c.slots(), 0.0);
    whole(sums)
}
