//! The meaning of every row of the tables, in plain Rust: a formula for each family of names, over whole subgroups with
//! all lanes active. A row without a formula fails the tests.

use super::domain::Domain::{self, *};
use super::kind::{Kind, Type};
use support::reference::{self as sem, Lane, Shuffle};
use support::scalar::{Half, Op, Reduce, Scalar};

/// The components of a value, as bits.
pub type Value = [u64; 4];

/// The value in each lane of a subgroup; `None` where it is undefined.
pub type Row = Vec<Option<Value>>;

/// One call in one subgroup.
pub struct Call<'a> {
    /// The words that replace the placeholders in the family's name.
    pub words: &'a [(&'static str, &'static str)],
    /// Lanes of the subgroup.
    pub lanes: usize,
    /// The form's width; the subgroup's if it has none.
    pub width: usize,
    /// The type of each argument of [`Formula::arguments`], and its value in each lane.
    pub types: &'a [Type],
    pub arguments: &'a [Vec<Value>],
    /// The type of each result.
    pub results: &'a [Type],
}

/// The meaning of a family's rows.
pub struct Formula {
    /// The family's name as the tables write it.
    pub family: &'static str,
    /// The domains of its arguments, without widths.
    pub arguments: &'static [Domain],
    /// A row for each result.
    pub rule: fn(&Call<'_>) -> Vec<Row>,
}

const fn is(family: &'static str, arguments: &'static [Domain], rule: fn(&Call<'_>) -> Vec<Row>) -> Formula {
    Formula { family, arguments, rule }
}

/// The formula for a family with this number of arguments, not counting widths.
pub fn of(family: &str, arguments: usize) -> Option<&'static Formula> {
    FORMULAS.iter().find(|formula| formula.family == family && formula.arguments.len() == arguments)
}

static FORMULAS: &[Formula] = &[
    // The portable interface.
    is("quadSwizzle{mode}", &[Data], quad_move),
    is("quadSwizzleFloat{mode}", &[Data], quad_move),
    is("{F}Quad", &[Predicate], |c| c.vote(4)),
    is("ballot", &[Predicate], |c| c.ballot(c.lanes)),
    is("laneIndex", &[], |c| c.number(|i| i)),
    is("laneCount", &[], |c| c.number(|_| c.lanes)),
    is("segmentLast{W}", &[], |c| c.number(|i| usize::from(i % c.width == c.width - 1))),
    is("broadcast", &[Data, UniformLane], |c| c.read(|i| Some(c.index(1, i)))),
    is("broadcastFirst", &[Data], |c| c.read(|_| Some(0))),
    is("butterfly{W}", &[Data], |c| c.read(|i| Some(i ^ c.width >> 1))),
    is("reverse{W}", &[Data], |c| c.read(|i| Some(i - i % c.width + c.width - 1 - i % c.width))),
    is("reduce{Op}{W}", &[Summand], |c| c.fold(Reach::High)),
    is("allReduce{Op}{W}", &[Summand], |c| c.fold(Reach::All)),
    is("inclusive{Op}{W}", &[Summand], |c| c.fold(Reach::Inclusive)),
    is("exclusive{Op}{W}", &[Summand], |c| c.fold(Reach::Exclusive)),
    is("segmentedReduce{Op}{W}", &[Summand, Predicate], |c| c.fold(Reach::Segmented)),
    is("bitonicSort{W}", &[Key], sorted),
    is("bitonicSort{W}", &[Key, Key], sorted),
    is("bpermute", &[Data, AnyIndex], |c| c.read(|i| Some(c.index(1, i) % c.lanes))),
    is("permute", &[Data, AnyIndex], permuted),
    // GL_KHR_shader_subgroup_*.
    is("subgroupElect", &[], |c| c.number(|i| usize::from(i == 0))),
    is("gl_SubgroupSize", &[], |c| c.number(|_| c.lanes)),
    is("gl_SubgroupInvocationID", &[], |c| c.number(|i| i)),
    is("subgroup{F}", &[Predicate], |c| c.vote(c.lanes)),
    is("subgroupAllEqual", &[Class], |c| c.vote(c.lanes)),
    is("subgroupBroadcast", &[Data, UniformLane], |c| c.read(|i| Some(c.index(1, i)))),
    is("subgroupBroadcastFirst", &[Data], |c| c.read(|_| Some(0))),
    is("subgroupBallot", &[Predicate], |c| c.ballot(c.lanes)),
    is("subgroupInverseBallot", &[Ballot], |c| c.number(|i| (c.bits(0, i) >> i & 1) as usize)),
    is("subgroupBallotBitExtract", &[Ballot, AnyLane], |c| c.number(|i| (c.bits(0, i) >> c.index(1, i) & 1) as usize)),
    is("subgroupBallot{K}BitCount", &[Ballot], counted),
    is("subgroupBallotFind{E}", &[Ballot], found),
    is("gl_Subgroup{M}Mask", &[], |c| c.lane_masks(c.lanes)),
    is("subgroup{K}{Op}", &[Summand], scanned),
    is("subgroupShuffle", &[Data, AnyLane], |c| c.read(|i| Some(c.index(1, i)))),
    is("subgroupShuffleXor", &[Data, AnyLane], |c| c.read(|i| Some(i ^ c.index(1, i)))),
    is("subgroupShuffle{D}", &[Data, AnyLane], |c| c.relative(c.word("D"))),
    is("subgroupClustered{Op}", &[Summand], |c| c.fold(Reach::All)),
    is("subgroupQuadBroadcast", &[Data, QuadLane], |c| c.read(|i| Some(i & !3 | c.index(1, i)))),
    is("subgroupQuadSwap{D}", &[Data], quad_move),
    is("subgroupQuad{F}", &[Predicate], |c| c.vote(4)),
    is("subgroupRotate", &[Data, UniformIndex], rotated),
    is("subgroupClusteredRotate", &[Data, UniformIndex], rotated),
    // GL_NV_shader_thread_group, GL_NV_shader_thread_shuffle, GL_NV_shader_subgroup_partitioned.
    is("quadSwizzle{mode}NV", &[Data], quad_move),
    is("quadSwizzle{mode}NV", &[Summand, Summand], |c| c.sum(&quad_move(c)[0], 1)),
    is("activeThreadsNV", &[], |c| c.warp_masks(|_, _| true)),
    is("ballotThreadNV", &[Predicate], |c| c.warp_masks(|_, j| c.is(0, j))),
    is("{F}NV", &[Predicate], |c| c.vote(c.lanes.min(WARP))),
    is("gl_WarpSizeNV", &[], |c| c.number(|_| c.lanes.min(WARP))),
    is("gl_ThreadInWarpNV", &[], |c| c.number(|i| i % WARP)),
    is("gl_Thread{M}MaskNV", &[], |c| c.lane_masks(c.lanes.min(WARP))),
    is("shuffle{mode}NV", &[Data, NvIndex], |c| vec![nv_moved(c)]),
    is("shuffle{mode}NV", &[Data, NvIndex, Out], |c| vec![nv_moved(c), nv_valid(c, 1)]),
    is("shuffle{mode}NVValid", &[NvIndex], |c| vec![nv_valid(c, 0)]),
    is("subgroupPartitionNV", &[Class], partition),
    is("subgroupPartitioned{K}{Op}NV", &[Exact, Partition], partitioned),
    // GLSL 4.60 itself, GL_ARB_shader_group_vote and GL_ARB_shader_ballot.
    is("{F}", &[Predicate], |c| c.vote(c.lanes)),
    is("{F}ARB", &[Predicate], |c| c.vote(c.lanes)),
    is("readInvocationARB", &[Data, UniformLane], |c| c.read(|i| Some(c.index(1, i)))),
    is("readFirstInvocationARB", &[Data], |c| c.read(|_| Some(0))),
    is("gl_SubGroupSizeARB", &[], |c| c.number(|_| c.lanes)),
    is("gl_SubGroupInvocationARB", &[], |c| c.number(|i| i)),
    is("gl_SubGroup{M}MaskARB", &[], |c| c.lane_masks(c.lanes)),
    is("ballotARB", &[Predicate], |c| c.ballot(c.lanes)),
    // GL_AMD_shader_ballot.
    is("quadSwizzleAMD", &[Data, QuadMode], |c| c.read(|i| Some(i & !3 | c.index(1, i) >> (2 * (i & 3)) & 3))),
    is("swizzleInvocationsAMD", &[Data, QuadLanes], |c| c.read(|i| Some(i & !3 | c.arguments[1][i][i & 3] as usize))),
    is("swizzleInvocationsMaskedAMD", &[Data, SwizzleMasks], swizzled),
    is("writeInvocationAMD", &[Data, UniformData, UniformLane], |c| {
        let value = |i| c.arguments[usize::from(i == c.index(2, i))][i];
        vec![c.each(|i| Some(value(i)))]
    }),
    is("mbcntAMD", &[Mask], |c| c.number(|i| (c.arguments[0][i][0] & sem::below(i) as u64).count_ones() as usize)),
    is("{F}Invocations{K}{U}AMD", &[Summand], scanned),
    // Quadrants' names.
    is("subgroup_{F}_true", &[Predicate], |c| c.vote(c.lanes)),
    is("subgroup_{F}_true_tiled", &[Predicate], |c| c.vote(c.width)),
    is("subgroup_all_equal", &[Class], |c| c.vote(c.lanes)),
    is("subgroup_all_equal_tiled", &[Class], |c| c.vote(c.width)),
    is("subgroup_reduce_{op}", &[Summand], |c| c.fold(Reach::Low)),
    is("subgroup_reduce_{op}_tiled", &[Summand], |c| c.fold(Reach::Low)),
    is("subgroup_reduce_all_{op}", &[Summand], |c| c.fold(Reach::All)),
    is("subgroup_reduce_all_{op}_tiled", &[Summand], |c| c.fold(Reach::All)),
    is("subgroup_segmented_reduce_{op}", &[Summand, Predicate], |c| c.fold(Reach::Segmented)),
    is("subgroup_segmented_reduce_{op}_tiled", &[Summand, Predicate], |c| c.fold(Reach::Segmented)),
    is("subgroup_inclusive_{op}", &[Summand], |c| c.fold(Reach::Inclusive)),
    is("subgroup_inclusive_{op}_tiled", &[Summand], |c| c.fold(Reach::Inclusive)),
    is("subgroup_exclusive_{op}", &[Summand], |c| c.fold(Reach::Exclusive)),
    is("subgroup_exclusive_{op}_tiled", &[Summand], |c| c.fold(Reach::Exclusive)),
    is("subgroup_bitonic_sort_kv", &[Key, Key], sorted),
    is("subgroup_bitonic_sort_kv_tiled", &[Key, Key], sorted),
    is("subgroup_shuffle", &[Data, AnyLane], |c| c.read(|i| Some(c.index(1, i)))),
    is("subgroup_shuffle_{d}", &[Data, AnyLane], |c| c.relative(c.word("d"))),
    is("subgroup_broadcast", &[Data, AnyLane], |c| c.read(|i| Some(c.index(1, i)))),
    is("subgroup_broadcast_first", &[Data], |c| c.read(|_| Some(0))),
    is("subgroup_ballot", &[Predicate], |c| c.ballot(c.lanes)),
    is("subgroup_ballot_full_subgroup", &[Predicate], |c| c.ballot(c.lanes)),
    is("subgroup_ballot_first_n", &[Predicate, FirstLanes], |c| c.ballot(c.lanes.min(c.index(1, 0)))),
    is("subgroup_lanemask_{m}", &[WarpLane], |c| {
        c.number(|i| (0..WARP).filter(|&j| compares(c.word("m"), j, c.index(0, i))).map(|j| 1 << j).sum())
    }),
    is("subgroup_invocation_id", &[], |c| c.number(|i| i)),
    is("subgroup_group_size", &[], |c| c.number(|_| c.lanes)),
    is("subgroup_log2_group_size", &[], |c| c.number(|_| c.lanes.ilog2() as usize)),
    is("subgroup_elect", &[], |c| c.number(|i| usize::from(i == 0))),
];

/// Lanes that NVIDIA calls a warp.
const WARP: usize = 32;

/// The lanes that a reduction covers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The whole segment, in its highest or its lowest lane alone.
    High,
    Low,
    All,
    Inclusive,
    Exclusive,
    /// From the nearest head.
    Segmented,
}

/// `$body` with `$T` as the Rust type of a kind.
macro_rules! typed {
    ($kind:expr, $T:ident => $body:expr) => {
        match $kind {
            Kind::F32 => typed!(@ f32, $T, $body),
            Kind::I32 => typed!(@ i32, $T, $body),
            Kind::U32 => typed!(@ u32, $T, $body),
            Kind::Bool => typed!(@ bool, $T, $body),
            Kind::F64 => typed!(@ f64, $T, $body),
            Kind::F16 => typed!(@ Half, $T, $body),
            Kind::I8 => typed!(@ i8, $T, $body),
            Kind::U8 => typed!(@ u8, $T, $body),
            Kind::I16 => typed!(@ i16, $T, $body),
            Kind::U16 => typed!(@ u16, $T, $body),
            Kind::I64 => typed!(@ i64, $T, $body),
            Kind::U64 => typed!(@ u64, $T, $body),
        }
    };
    (@ $type:ty, $T:ident, $body:expr) => {{
        type $T = $type;
        $body
    }};
}

impl Call<'_> {
    /// The word that replaces a placeholder.
    fn word(&self, name: &str) -> &'static str {
        self.words.iter().find(|(known, _)| *known == name).map_or("", |(_, word)| word)
    }

    /// The operator in the name.
    pub fn op(&self) -> Op {
        operator(self.words).expect("the name of a fold says its operator")
    }

    fn each(&self, rule: impl Fn(usize) -> Option<Value>) -> Row {
        (0..self.lanes).map(rule).collect()
    }

    /// A whole number or a bool in each lane.
    fn number(&self, rule: impl Fn(usize) -> usize) -> Vec<Row> {
        vec![self.each(|i| Some([rule(i) as u64, 0, 0, 0]))]
    }

    /// Argument 0 of another lane; `None` beyond the subgroup.
    fn read(&self, source: impl Fn(usize) -> Option<usize>) -> Vec<Row> {
        vec![self.each(|i| source(i).and_then(|j| self.arguments[0].get(j).copied()))]
    }

    /// An argument that counts lanes.
    fn index(&self, argument: usize, lane: usize) -> usize {
        self.arguments[argument][lane][0] as usize
    }

    fn is(&self, argument: usize, lane: usize) -> bool {
        self.arguments[argument][lane][0] != 0
    }

    /// The bits of a ballot argument.
    fn bits(&self, argument: usize, lane: usize) -> u128 {
        let words = self.arguments[argument][lane];
        let all = words.iter().enumerate().map(|(n, word)| u128::from(*word) << (32 * n));
        all.sum::<u128>() & sem::below(self.lanes)
    }

    /// A set of lanes in the form's representation: four words, 64 bits or one word.
    fn set(&self, bits: u128) -> Value {
        match self.results[0] {
            Type { size: 4, .. } => [0, 1, 2, 3].map(|n| (bits >> (32 * n)) as u64 & 0xffff_ffff),
            Type { kind: Kind::U64, .. } => [bits as u64, 0, 0, 0],
            _ => [bits as u64 & 0xffff_ffff, 0, 0, 0],
        }
    }

    fn predicates(&self) -> Vec<Lane<bool>> {
        (0..self.lanes).map(|i| Some(self.is(0, i))).collect()
    }

    /// The ballot of the first lanes.
    fn ballot(&self, first: usize) -> Vec<Row> {
        let bits = sem::ballot_bits(&self.predicates()) & sem::below(first);
        vec![self.each(|_| Some(self.set(bits)))]
    }

    /// The bits of the lanes in the same warp for which `holds(own, lane)`.
    fn warp_masks(&self, holds: impl Fn(usize, usize) -> bool) -> Vec<Row> {
        let base = |i: usize| i & !(WARP - 1);
        let lanes = |i: usize| base(i)..self.lanes.min(base(i) + WARP);
        self.number(|i| lanes(i).filter(|&j| holds(i, j)).map(|j| 1 << (j - base(i))).sum())
    }

    /// The lanes in groups of `size` for which the comparison in the name holds.
    fn lane_masks(&self, size: usize) -> Vec<Row> {
        let bits = |i: usize| (0..size).filter(|&j| compares(self.word("M"), j, i % size)).map(|j| 1u128 << j).sum();
        vec![self.each(|i| Some(self.set(bits(i))))]
    }

    /// The vote in the name, over segments.
    fn vote(&self, width: usize) -> Vec<Row> {
        let word = if self.word("F").is_empty() { "Equal" } else { self.word("F") };
        let segment = |i: usize| &self.arguments[0][i & !(width - 1)..][..width];
        self.number(|i| {
            let mut lanes = segment(i).iter();
            usize::from(match word {
                "all" | "All" | "allThreads" | "allInvocations" => lanes.all(|value| value[0] != 0),
                "any" | "Any" | "anyThread" | "anyInvocation" => lanes.any(|value| value[0] != 0),
                _ => lanes.all(|value| *value == segment(i)[0]),
            })
        })
    }

    /// The move of a relative shuffle.
    fn relative(&self, way: &str) -> Vec<Row> {
        self.read(|i| match way {
            "Up" | "up" => i.checked_sub(self.index(1, i)),
            "Down" | "down" => Some(i + self.index(1, i)),
            _ => Some(i ^ self.index(1, i)),
        })
    }

    /// A component of an argument.
    fn component<T: Scalar>(&self, argument: usize, n: usize) -> Vec<Lane<T>> {
        self.arguments[argument].iter().map(|value| Some(T::from_bits(value[n]))).collect()
    }

    /// Component by component of argument 0.
    fn by_component(&self, rule: impl Fn(usize) -> Vec<Option<u64>>) -> Row {
        let parts: Vec<_> = (0..usize::from(self.types[0].size)).map(rule).collect();
        self.each(|i| {
            let mut value = [0; 4];
            for (n, part) in parts.iter().enumerate() {
                value[n] = part[i]?;
            }
            Some(value)
        })
    }

    /// The reduction of argument 0 in segments.
    fn fold(&self, reach: Reach) -> Vec<Row> {
        let rule = |n| typed!(self.types[0].kind, T => bits(&self.reduced::<T>(reach, &self.component(0, n))));
        vec![self.by_component(rule)]
    }

    fn reduced<T: Reduce>(&self, reach: Reach, v: &[Lane<T>]) -> Vec<Lane<T>> {
        let (op, width) = (self.op(), self.width);
        let only = |lane: usize| move |i: usize, _: T| i & (width - 1) == lane;
        match reach {
            Reach::High => sem::reduce(op, v, width),
            Reach::Low => sem::branch(&sem::all_reduce(op, v, width), only(0)),
            Reach::All => sem::all_reduce(op, v, width),
            Reach::Inclusive => sem::inclusive(op, v, width),
            Reach::Exclusive => sem::exclusive(op, v, width),
            Reach::Segmented => {
                let heads: Vec<_> = (0..self.lanes).map(|i| Some(self.is(1, i))).collect();
                sem::segmented(op, v, &heads, width)
            }
        }
    }

    /// A row plus an argument.
    fn sum(&self, row: &Row, argument: usize) -> Vec<Row> {
        let part = |n: usize| {
            typed!(self.types[0].kind, T => {
                let add = |i: usize, a: &Option<Value>| {
                    Some(T::apply(Op::Add, <T as Scalar>::from_bits((*a)?[n]), <T as Scalar>::from_bits(self.arguments[argument][i][n])))
                };
                bits(&row.iter().enumerate().map(|(i, a)| add(i, a)).collect::<Vec<Lane<T>>>())
            })
        };
        vec![self.by_component(part)]
    }
}

fn bits<T: Scalar>(lanes: &[Lane<T>]) -> Vec<Option<u64>> {
    lanes.iter().map(|lane| lane.map(Scalar::to_bits)).collect()
}

/// The operator among the words.
pub fn operator(words: &[(&str, &str)]) -> Option<Op> {
    words.iter().find_map(|(_, word)| {
        Some(match word.to_ascii_lowercase().as_str() {
            "add" => Op::Add,
            "mul" => Op::Mul,
            "min" => Op::Min,
            "max" => Op::Max,
            "and" => Op::And,
            "or" => Op::Or,
            "xor" => Op::Xor,
            _ => return None,
        })
    })
}

fn compares(word: &str, lane: usize, own: usize) -> bool {
    match word {
        "Eq" | "eq" => lane == own,
        "Ge" | "ge" => lane >= own,
        "Gt" | "gt" => lane > own,
        "Le" | "le" => lane <= own,
        _ => lane < own,
    }
}

fn quad_move(c: &Call<'_>) -> Vec<Row> {
    let word = if c.word("D").is_empty() { c.word("mode") } else { c.word("D") };
    c.read(|i| {
        Some(match word {
            "X" | "Horizontal" => i ^ 1,
            "Y" | "Vertical" => i ^ 2,
            "Diagonal" => i ^ 3,
            lane => i & !3 | lane.parse::<usize>().expect("a lane of the quad"),
        })
    })
}

fn swizzled(c: &Call<'_>) -> Vec<Row> {
    c.read(|i| {
        let [and, or, xor, _] = c.arguments[1][i].map(|mask| mask as usize);
        Some(i & !31 | ((i & 31 & and | or) ^ xor))
    })
    .into_iter()
    .map(|row| row.into_iter().map(|value| value.or(Some([0; 4]))).collect())
    .collect()
}

fn permuted(c: &Call<'_>) -> Vec<Row> {
    let index: Vec<Lane<u32>> = (0..c.lanes).map(|i| Some(c.arguments[1][i][0] as u32)).collect();
    vec![c.by_component(|n| typed!(c.types[0].kind, T => bits(&sem::permute::<T>(&c.component(0, n), &index))))]
}

fn rotated(c: &Call<'_>) -> Vec<Row> {
    c.read(|i| Some(i & !(c.width - 1) | (i + c.index(1, i)) & (c.width - 1)))
}

fn counted(c: &Call<'_>) -> Vec<Row> {
    let counted = |i: usize| match c.word("K") {
        "Inclusive" => sem::below(i + 1),
        "Exclusive" => sem::below(i),
        _ => u128::MAX,
    };
    c.number(|i| (c.bits(0, i) & counted(i)).count_ones() as usize)
}

fn found(c: &Call<'_>) -> Vec<Row> {
    c.number(|i| match c.word("E") {
        "LSB" => c.bits(0, i).trailing_zeros() as usize,
        _ => c.bits(0, i).ilog2() as usize,
    })
}

/// A reduction or scan of the whole subgroup.
fn scanned(c: &Call<'_>) -> Vec<Row> {
    c.fold(match c.word("K") {
        "Inclusive" | "InclusiveScan" => Reach::Inclusive,
        "Exclusive" | "ExclusiveScan" => Reach::Exclusive,
        _ => Reach::All,
    })
}

fn nv_mode(c: &Call<'_>) -> Shuffle {
    match c.word("mode") {
        "Up" => Shuffle::Up,
        "Down" => Shuffle::Down,
        "Xor" => Shuffle::Xor,
        _ => Shuffle::Indexed,
    }
}

fn nv_index(c: &Call<'_>, argument: usize) -> Vec<Lane<u32>> {
    (0..c.lanes).map(|i| Some(c.arguments[argument][i][0] as u32)).collect()
}

fn nv_moved(c: &Call<'_>) -> Row {
    let index = nv_index(c, 1);
    let rule = |n| {
        typed!(c.types[0].kind, T => {
            bits(&sem::nv_shuffle::<T>(nv_mode(c), &c.component(0, n), &index, c.width))
        })
    };
    c.by_component(rule)
}

fn nv_valid(c: &Call<'_>, argument: usize) -> Row {
    let valid = sem::nv_valid(nv_mode(c), &nv_index(c, argument), c.width);
    valid.into_iter().map(|is| is.map(|is| [u64::from(is), 0, 0, 0])).collect()
}

fn partition(c: &Call<'_>) -> Vec<Row> {
    let same = |i: usize, j: &usize| c.arguments[0][*j] == c.arguments[0][i];
    vec![c.each(|i| Some(c.set((0..c.lanes).filter(|j| same(i, j)).map(|j| 1u128 << j).sum())))]
}

/// Reductions over the lanes of each partition, with values that are exact in every order.
fn partitioned(c: &Call<'_>) -> Vec<Row> {
    let reached = |i: usize, j: usize| match c.word("K") {
        "Inclusive" => j <= i,
        "Exclusive" => j < i,
        _ => true,
    };
    let members = |i: usize| (0..c.lanes).filter(move |&j| c.bits(1, i) >> j & 1 != 0 && reached(i, j));
    let rule = |n: usize| {
        typed!(c.types[0].kind, T => {
            let values = c.component::<T>(0, n);
            let fold = |i| members(i).fold(T::identity(c.op()), |sum, j| T::apply(c.op(), sum, values[j].expect("active")));
            bits(&(0..c.lanes).map(|i| Some(fold(i))).collect::<Vec<Lane<T>>>())
        })
    };
    vec![c.by_component(rule)]
}

/// The pairs of each segment in ascending order.
fn sorted(c: &Call<'_>) -> Vec<Row> {
    let mut lanes: Vec<Vec<Value>> = (0..c.lanes).map(|i| c.arguments.iter().map(|row| row[i]).collect()).collect();
    let rank = |lane: &Vec<Value>| -> Vec<i128> {
        lane.iter().zip(c.types).map(|(value, ty)| rank(ty.kind, value[0])).collect()
    };
    lanes.chunks_mut(c.width).for_each(|segment| segment.sort_by_key(rank));
    (0..c.arguments.len()).map(|n| lanes.iter().map(|lane| Some(lane[n])).collect()).collect()
}

/// Numbers in the order of the values; floats must not be NaN.
fn rank(kind: Kind, bits: u64) -> i128 {
    let unused = 64 - kind.bits();
    let signed = i128::from(((bits << unused) as i64) >> unused);
    match kind {
        _ if kind.is_signed() => signed,
        _ if kind.is_float() && signed < 0 => -i128::from(bits & ((1 << (kind.bits() - 1)) - 1)),
        _ => i128::from(bits),
    }
}
