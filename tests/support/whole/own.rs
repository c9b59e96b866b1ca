//! The kernels written for this project.

use super::{Buffer, Origin, Row};
use crate::compare::Closeness;
use crate::rates::Fill;
use crate::scalar::Type;

/// A buffer that a kernel only reads.
pub const fn input(fill: Fill, words: u32) -> Buffer {
    Buffer { words, fill, kind: Type::U32, closeness: Closeness::Same }
}

/// A buffer for integers, for which the results of every compiler's program must be equal.
pub const fn exact(words: u32) -> Buffer {
    input(Fill::Same(0), words)
}

/// A buffer for floats that may differ by this share.
pub const fn close(words: u32, share: f32) -> Buffer {
    Buffer { words, fill: Fill::Same(0), kind: Type::F32, closeness: Closeness::Within(share) }
}

/// A buffer that a kernel names and does not use.
pub const IGNORED: Buffer = exact(4);

/// Values of most kernels.
const MANY: u32 = 1 << 20;

const FLOATS: Buffer = input(Fill::Floats, MANY);
const WORDS: Buffer = input(Fill::Words, MANY);

/// A kernel with 4096 workgroups, and nothing besides its text.
const PLAIN: Row = Row {
    name: "",
    origin: Origin::Own(""),
    defines: &[],
    constants: &[],
    push: &[],
    groups: [4096, 1, 1],
    checked: [2, 1, 1],
    buffers: &[FLOATS, close(MANY, 1e-4)],
};

/// An operation that all lanes do 256 times.
const LOOP: Row = Row {
    origin: Origin::Operation(include_str!("../../../benches/gpu/loop.comp")),
    checked: [1, 1, 1],
    buffers: &[WORDS, exact(MANY)],
    ..PLAIN
};

/// An operation that some lanes do 256 times.
const PARTIAL: Row = Row { origin: Origin::Operation(include_str!("../../../benches/gpu/partial.comp")), ..LOOP };

/// The text of a kernel.
macro_rules! kernel {
    ($path:literal) => {
        Origin::Own(include_str!(concat!("../../../benches/", $path, ".comp")))
    };
}

pub static KERNELS: &[Row] = &[
    Row {
        name: "softmax",
        origin: kernel!("cuda/softmax"),
        buffers: &[input(Fill::Floats, 4 * MANY), close(4 * MANY, 1e-4)],
        ..PLAIN
    },
    Row {
        name: "layer_norm",
        origin: kernel!("cuda/layer_norm"),
        buffers: &[input(Fill::Floats, 4 * MANY), close(4 * MANY, 1e-3)],
        ..PLAIN
    },
    Row {
        name: "rms_norm",
        origin: kernel!("gpu/rms_norm"),
        groups: [1024, 1, 1],
        buffers: &[input(Fill::Floats, 4 * MANY), input(Fill::Floats, 4096), close(4 * MANY, 1e-4)],
        ..PLAIN
    },
    Row { name: "scan", origin: kernel!("cuda/scan"), buffers: &[WORDS, exact(MANY)], ..PLAIN },
    Row { name: "compaction", origin: kernel!("gpu/compaction"), buffers: &[WORDS, exact(MANY), exact(4096)], ..PLAIN },
    Row {
        name: "histogram",
        origin: kernel!("cuda/histogram"),
        groups: [1024, 1, 1],
        buffers: &[input(Fill::Words, 4 * MANY), exact(256)],
        ..PLAIN
    },
    Row { name: "radix_rank", origin: kernel!("gpu/radix_rank"), buffers: &[WORDS, exact(MANY)], ..PLAIN },
    Row {
        name: "argsort",
        origin: kernel!("gpu/argsort"),
        groups: [2048, 1, 1],
        buffers: &[FLOATS, exact(MANY)],
        ..PLAIN
    },
    Row { name: "sort", origin: kernel!("cuda/sort"), buffers: &[WORDS, exact(MANY)], ..PLAIN },
    Row {
        name: "sort_pairs",
        origin: kernel!("gpu/sort_pairs"),
        buffers: &[input(Fill::Words, 2 * MANY), exact(2 * MANY)],
        ..PLAIN
    },
    Row { name: "topk", origin: kernel!("gpu/topk"), groups: [512, 1, 1], buffers: &[FLOATS, exact(1 << 16)], ..PLAIN },
    Row {
        name: "matmul",
        origin: kernel!("cuda/matmul"),
        checked: [1, 1, 1],
        buffers: &[FLOATS, close(MANY, 1e-4)],
        ..PLAIN
    },
    Row {
        name: "matmul by tiles of 4 by 4",
        origin: kernel!("gpu/tiles"),
        defines: &[("SIDE", "4u")],
        groups: [256, 1, 1],
        checked: [1, 1, 1],
        ..PLAIN
    },
    Row {
        name: "matmul by tiles of 8 by 8",
        origin: kernel!("gpu/tiles"),
        defines: &[("SIDE", "8u")],
        groups: [64, 1, 1],
        checked: [1, 1, 1],
        ..PLAIN
    },
    Row {
        name: "nbody",
        origin: kernel!("gpu/nbody"),
        groups: [16, 1, 1],
        checked: [1, 1, 1],
        buffers: &[input(Fill::Floats, 4 * 4096), close(4 * 4096, 1e-3)],
        ..PLAIN
    },
    Row { name: "stencil", origin: kernel!("gpu/stencil"), groups: [1024, 1, 1], ..PLAIN },
    Row {
        name: "conv",
        origin: kernel!("gpu/conv"),
        groups: [512, 1, 1],
        buffers: &[input(Fill::Floats, MANY + 32), input(Fill::Floats, 32), close(MANY, 1e-4)],
        ..PLAIN
    },
    Row {
        name: "fft",
        origin: kernel!("gpu/fft"),
        buffers: &[input(Fill::Floats, 2 * MANY), close(2 * MANY, 1e-3)],
        ..PLAIN
    },
    Row { name: "transpose", origin: kernel!("gpu/transpose"), groups: [1024, 1, 1], ..PLAIN },
    Row {
        name: "attention",
        origin: kernel!("gpu/attention"),
        groups: [512, 1, 1],
        checked: [1, 1, 1],
        buffers: &[
            input(Fill::Floats, 1 << 18),
            input(Fill::Floats, 8192),
            input(Fill::Floats, 8192),
            close(1 << 18, 1e-3),
        ],
        ..PLAIN
    },
    Row {
        name: "raymarch",
        origin: kernel!("gpu/raymarch"),
        buffers: &[input(Fill::Same(1.5_f32.to_bits()), 1), close(4 * MANY, 1e-2)],
        ..PLAIN
    },
    Row {
        name: "mandelbrot",
        origin: kernel!("gpu/mandelbrot"),
        buffers: &[input(Fill::Same(256), 1), exact(MANY)],
        ..PLAIN
    },
    Row { name: "votes", origin: kernel!("gpu/votes"), buffers: &[WORDS, exact(2 * MANY)], ..PLAIN },
    Row { name: "life", origin: kernel!("gpu/life"), buffers: &[WORDS, exact(MANY)], ..PLAIN },
    Row {
        name: "chacha",
        origin: kernel!("gpu/chacha"),
        groups: [1024, 1, 1],
        buffers: &[input(Fill::Words, 11), exact(4 * MANY)],
        ..PLAIN
    },
];

pub static OPERATIONS: &[Row] = &[
    Row {
        name: "subgroupAdd of uint",
        defines: &[("OPERATION", "subgroupAdd(v)"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "subgroupMin of uint",
        defines: &[("OPERATION", "subgroupMin(v)"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "subgroupMax of uint",
        defines: &[("OPERATION", "subgroupMax(v)"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "subgroupAnd of uint",
        defines: &[("OPERATION", "subgroupAnd(v)"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "subgroupXor of uint",
        defines: &[("OPERATION", "subgroupXor(v)"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "ballot",
        defines: &[("OPERATION", "subgroupBallot((v & 1u) != 0u).x"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "subgroupClusteredAdd, 8, of uint",
        defines: &[("OPERATION", "subgroupClusteredAdd(v, 8)"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "allReduceAdd8 of uint",
        defines: &[("OPERATION", "allReduceAdd8(v)"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "allReduceAdd16 of uint",
        defines: &[("OPERATION", "allReduceAdd16(v)"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "allReduceAdd8 of float",
        defines: &[("OPERATION", "allReduceAdd8(v)"), ("TYPE", "float"), ("NEXT", "sum * 0.01")],
        buffers: &[FLOATS, close(MANY, 1e-4)],
        ..LOOP
    },
    Row {
        name: "allReduceAdd16 of float",
        defines: &[("OPERATION", "allReduceAdd16(v)"), ("TYPE", "float"), ("NEXT", "sum * 0.01")],
        buffers: &[FLOATS, close(MANY, 1e-4)],
        ..LOOP
    },
    Row {
        name: "exclusiveAdd of uint",
        defines: &[("OPERATION", "exclusiveAdd(v)"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "exclusiveXor of uint",
        defines: &[("OPERATION", "exclusiveXor(v)"), ("TYPE", "uint"), ("NEXT", "sum ^ v")],
        ..LOOP
    },
    Row {
        name: "subgroupAdd, three of four lanes",
        defines: &[("OPERATION", "subgroupAdd(v)"), ("ACTIVE", THREE_OF_FOUR)],
        ..PARTIAL
    },
    Row {
        name: "subgroupMax, three of four lanes",
        defines: &[("OPERATION", "subgroupMax(v)"), ("ACTIVE", THREE_OF_FOUR)],
        ..PARTIAL
    },
    Row {
        name: "subgroupAnd, three of four lanes",
        defines: &[("OPERATION", "subgroupAnd(v)"), ("ACTIVE", THREE_OF_FOUR)],
        ..PARTIAL
    },
    Row {
        name: "subgroupInclusiveAdd, three of four lanes",
        defines: &[("OPERATION", "subgroupInclusiveAdd(v)"), ("ACTIVE", THREE_OF_FOUR)],
        ..PARTIAL
    },
    Row {
        name: "subgroupClusteredAdd, 8, three of four lanes",
        defines: &[("OPERATION", "subgroupClusteredAdd(v, 8)"), ("ACTIVE", THREE_OF_FOUR)],
        ..PARTIAL
    },
    Row {
        name: "subgroupAdd, lanes that a buffer chooses, all",
        defines: &[("OPERATION", "subgroupAdd(v)"), ("ACTIVE", ALL_AT_RUN_TIME)],
        ..PARTIAL
    },
    Row {
        name: "subgroupMax, lanes that a buffer chooses, all",
        defines: &[("OPERATION", "subgroupMax(v)"), ("ACTIVE", ALL_AT_RUN_TIME)],
        ..PARTIAL
    },
    Row {
        name: "subgroupAnd, lanes that a buffer chooses, all",
        defines: &[("OPERATION", "subgroupAnd(v)"), ("ACTIVE", ALL_AT_RUN_TIME)],
        ..PARTIAL
    },
    Row {
        name: "subgroupInclusiveAdd, lanes that a buffer chooses, all",
        defines: &[("OPERATION", "subgroupInclusiveAdd(v)"), ("ACTIVE", ALL_AT_RUN_TIME)],
        ..PARTIAL
    },
    Row {
        name: "subgroupClusteredAdd, 8, lanes that a buffer chooses, all",
        defines: &[("OPERATION", "subgroupClusteredAdd(v, 8)"), ("ACTIVE", ALL_AT_RUN_TIME)],
        ..PARTIAL
    },
];

/// The lanes that do an operation.
const THREE_OF_FOUR: &str = "(gl_SubgroupInvocationID & 3u) != 0u";
const ALL_AT_RUN_TIME: &str = "v != 0xffffffffu";
