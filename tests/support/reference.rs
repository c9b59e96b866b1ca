//! The meaning of every cross-lane operation, in plain Rust over one subgroup.
//!
//! A subgroup is a slice of lanes. `None` is an inactive lane or an undefined value: an operation that reads it gives
//! `None` in turn, which no test compares. Votes, ballots and the reductions of the Khronos dialect work over the lanes
//! that are `Some`. Nothing here is optimised for speed, and nothing here shares code with the compiler.

use super::scalar::{Op, Reduce, Scalar};

/// The value of a lane, or `None` if it must not be compared.
pub type Lane<T> = Option<T>;

/// The values without the lanes that `keep` rejects: the lanes of a branch.
pub fn branch<T: Scalar>(v: &[Lane<T>], keep: impl Fn(usize, T) -> bool) -> Vec<Lane<T>> {
    v.iter().enumerate().map(|(i, lane)| lane.filter(|&x| keep(i, x))).collect()
}

/// One value per lane from a rule, in the lanes where `v` is active.
pub fn each<T: Scalar, R>(v: &[Lane<T>], rule: impl Fn(usize, T) -> R) -> Vec<Lane<R>> {
    v.iter().enumerate().map(|(i, lane)| lane.map(|x| rule(i, x))).collect()
}

/// `other[source(i)]` in each active lane: every move is one of these. A source past the end is undefined.
pub fn gather<T: Scalar>(v: &[Lane<T>], source: impl Fn(usize) -> usize) -> Vec<Lane<T>> {
    (0..v.len()).map(|i| v[i].and_then(|_| v.get(source(i)).copied().flatten())).collect()
}

/// The lanes of the segment of `width` that contains lane `i`.
fn segment(i: usize, width: usize) -> std::ops::Range<usize> {
    let base = i & !(width - 1);
    base..base + width
}

// Moves

/// `quadSwizzle0` to `3` and the quad broadcasts.
pub fn quad_broadcast<T: Scalar>(v: &[Lane<T>], n: usize) -> Vec<Lane<T>> {
    gather(v, |i| i & !3 | n)
}

/// `butterfly{W}`: the partner half a segment away.
pub fn butterfly<T: Scalar>(v: &[Lane<T>], width: usize) -> Vec<Lane<T>> {
    gather(v, |i| i ^ (width >> 1))
}

/// `bpermute`: each lane pulls from the lane it names.
pub fn bpermute<T: Scalar>(v: &[Lane<T>], index: &[Lane<u32>]) -> Vec<Lane<T>> {
    gather(v, |i| index[i].map_or(usize::MAX, |n| n as usize % v.len()))
}

/// `permute`: each lane pushes to the lane it names; the highest one wins, and lanes without a push get 0.
pub fn permute<T: Scalar>(v: &[Lane<T>], index: &[Lane<u32>]) -> Vec<Lane<T>> {
    let mut out = v.iter().map(|lane| lane.map(|_| T::from_word(0))).collect::<Vec<_>>();
    for (value, index) in v.iter().zip(index) {
        let (Some(value), Some(index)) = (value, index) else { continue };
        let target = &mut out[*index as usize % v.len()];
        *target = target.map(|_| *value);
    }
    out
}

/// `subgroupRotate`, and its clustered form.
pub fn rotate<T: Scalar>(v: &[Lane<T>], delta: usize, cluster: usize) -> Vec<Lane<T>> {
    gather(v, |i| i & !(cluster - 1) | (i + delta) & (cluster - 1))
}

/// The four modes of NV_shader_thread_shuffle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    Up,
    Down,
    Xor,
    Indexed,
}

/// The lane that a shuffle of lane `i` reads; `None` if it is not valid.
fn nv_source(mode: Shuffle, i: usize, index: usize, width: usize) -> Option<usize> {
    let local = i & (width - 1);
    match mode {
        Shuffle::Up => (local >= index).then(|| i - index),
        Shuffle::Down => (local + index < width).then(|| i + index),
        Shuffle::Xor => (index < width).then_some(i ^ index),
        Shuffle::Indexed => (index < width).then(|| (i & !(width - 1)) + index),
    }
}

/// `shuffle{Up,Down,Xor,}NV`: the moved value, or the lane's own if the index is not valid.
pub fn nv_shuffle<T: Scalar>(mode: Shuffle, v: &[Lane<T>], index: &[Lane<u32>], width: usize) -> Vec<Lane<T>> {
    gather(v, |i| {
        let index = index[i].map_or(0, |n| n as usize & 31);
        nv_source(mode, i, index, width).unwrap_or(i)
    })
}

/// The `threadIdValid` of `shuffle{Up,Down,Xor,}NV`.
pub fn nv_valid(mode: Shuffle, index: &[Lane<u32>], width: usize) -> Vec<Lane<bool>> {
    each(index, |i, n| nv_source(mode, i, n as usize & 31, width).is_some())
}

// Reductions and scans of whole segments

fn apply<T: Reduce>(op: Op, a: Lane<T>, b: Lane<T>) -> Lane<T> {
    Some(T::apply(op, a?, b?))
}

/// The balanced tree over ascending distance: ((0·1)·(2·3))·((4·5)·(6·7)) …
fn tree<T: Reduce>(op: Op, v: &[Lane<T>]) -> Lane<T> {
    match v {
        [one] => *one,
        _ => {
            let (low, high) = v.split_at(v.len() / 2);
            apply(op, tree(op, low), tree(op, high))
        }
    }
}

/// `allReduce{Op}{W}`.
pub fn all_reduce<T: Reduce>(op: Op, v: &[Lane<T>], width: usize) -> Vec<Lane<T>> {
    (0..v.len()).map(|i| tree(op, &v[segment(i, width)])).collect()
}

/// `reduce{Op}{W}`: only the segment's highest lane has the result.
pub fn reduce<T: Reduce>(op: Op, v: &[Lane<T>], width: usize) -> Vec<Lane<T>> {
    let all = all_reduce(op, v, width);
    (0..v.len()).map(|i| all[i].filter(|_| i & (width - 1) == width - 1)).collect()
}

/// The lane that step `d` of a scan reads for lane `i`, if any: Hillis-Steele inside 16 lanes, then whole blocks take
/// the last lane of the block below.
fn scan_source(i: usize, d: usize) -> Option<usize> {
    if d < 16 { (i % 16 >= d).then(|| i - d) } else { (i & d != 0).then(|| (i & !(2 * d - 1)) + d - 1) }
}

fn scan<T: Reduce>(op: Op, v: &[Lane<T>], width: usize, reaches: impl Fn(usize, usize) -> bool) -> Vec<Lane<T>> {
    let mut x = v.to_vec();
    let mut d = 1;
    while d < width {
        let old = x.clone();
        for i in 0..v.len() {
            if let Some(source) = scan_source(i, d).filter(|&s| segment(i, width).contains(&s) && reaches(i, s)) {
                x[i] = apply(op, old[source], old[i]);
            }
        }
        d *= 2;
    }
    x
}

/// `inclusive{Op}{W}`.
pub fn inclusive<T: Reduce>(op: Op, v: &[Lane<T>], width: usize) -> Vec<Lane<T>> {
    scan(op, v, width, |_, _| true)
}

/// `exclusive{Op}{W}`.
pub fn exclusive<T: Reduce>(op: Op, v: &[Lane<T>], width: usize) -> Vec<Lane<T>> {
    let sums = inclusive(op, v, width);
    each(v, |i, _| if i & (width - 1) == 0 { Some(T::identity(op)) } else { sums[i - 1] })
        .into_iter()
        .map(Option::flatten)
        .collect()
}

/// `segmentedReduce{Op}{W}`: an inclusive scan that starts again at each head.
pub fn segmented<T: Reduce>(op: Op, v: &[Lane<T>], heads: &[Lane<bool>], width: usize) -> Vec<Lane<T>> {
    let head = |i: usize| (segment(i, width).start..=i).rev().find(|&j| heads[j] == Some(true)).unwrap_or(0);
    scan(op, v, width, |i, source| source >= head(i))
}

/// `bitonicSort{W}`: the pairs of each segment in ascending order of (key, value).
pub fn sort<K: Scalar + PartialOrd, V: Scalar + PartialOrd>(
    keys: &[Lane<K>],
    values: &[Lane<V>],
    width: usize,
) -> Vec<(Lane<K>, Lane<V>)> {
    let mut pairs: Vec<_> = keys.iter().copied().zip(values.iter().copied()).collect();
    for segment in pairs.chunks_mut(width) {
        segment.sort_by(|a, b| a.partial_cmp(b).expect("the patterns of sorts hold no NaN"));
    }
    pairs
}

// Votes, ballots and reductions over the active lanes

fn active<T: Scalar>(v: &[Lane<T>]) -> impl Iterator<Item = (usize, T)> + '_ {
    v.iter().enumerate().filter_map(|(i, lane)| lane.map(|x| (i, x)))
}

/// `subgroupAll` over each segment of `width`; a whole subgroup or a quad.
pub fn all(p: &[Lane<bool>], width: usize) -> Vec<Lane<bool>> {
    each(p, |i, _| p[segment(i, width)].iter().all(|lane| *lane != Some(false)))
}

/// `subgroupAny` over each segment of `width`.
pub fn any(p: &[Lane<bool>], width: usize) -> Vec<Lane<bool>> {
    each(p, |i, _| p[segment(i, width)].contains(&Some(true)))
}

/// `subgroupAllEqual`.
pub fn all_equal<T: Scalar>(v: &[Lane<T>]) -> Vec<Lane<bool>> {
    let first = active(v).next().map(|(_, x)| x);
    let equal = active(v).all(|(_, x)| Some(x) == first);
    each(v, |_, _| equal)
}

/// The bits of `subgroupBallot`.
pub fn ballot_bits(p: &[Lane<bool>]) -> u128 {
    active(p).filter(|(_, x)| *x).fold(0, |bits, (i, _)| bits | 1 << i)
}

/// Word `n` of `subgroupBallot`, in every active lane.
pub fn ballot(p: &[Lane<bool>], n: usize) -> Vec<Lane<u32>> {
    let word = (ballot_bits(p) >> (32 * n)) as u32;
    each(p, |_, _| word)
}

/// The bits of the lanes below `i`.
pub fn below(i: usize) -> u128 {
    (1 << i) - 1
}

/// `subgroupElect`: the lowest active lane.
pub fn elect<T: Scalar>(v: &[Lane<T>]) -> Vec<Lane<bool>> {
    let first = active(v).next().map(|(i, _)| i);
    each(v, |i, _| Some(i) == first)
}

/// `broadcastFirst`: the value of the lowest active lane.
pub fn broadcast_first<T: Scalar>(v: &[Lane<T>]) -> Vec<Lane<T>> {
    let first = active(v).next().map(|(_, x)| x);
    each(v, |_, _| first.expect("an active lane exists where a lane asks"))
}

/// `subgroup{Op}` and `subgroupClustered{Op}`: the reduction over the active lanes of each cluster.
pub fn active_reduce<T: Reduce>(op: Op, v: &[Lane<T>], cluster: usize) -> Vec<Lane<T>> {
    each(v, |i, _| v[segment(i, cluster)].iter().flatten().fold(T::identity(op), |sum, &x| T::apply(op, sum, x)))
}

/// `subgroupExclusive{Op}`: the reduction over the active lanes below.
pub fn active_exclusive<T: Reduce>(op: Op, v: &[Lane<T>]) -> Vec<Lane<T>> {
    each(v, |i, _| v[..i].iter().flatten().fold(T::identity(op), |sum, &x| T::apply(op, sum, x)))
}

/// `subgroupInclusive{Op}`: the exclusive scan combined with the lane's own value.
pub fn active_inclusive<T: Reduce>(op: Op, v: &[Lane<T>]) -> Vec<Lane<T>> {
    let below = active_exclusive(op, v);
    each(v, |i, x| T::apply(op, below[i].expect("the lane is active"), x))
}
