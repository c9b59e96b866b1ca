//! Kernels of ggml (`src/ggml-vulkan/vulkan-shaders` in ggml-org/ggml), in the 32-bit float variants, with the
//! constants that its Vulkan back end sets for NVIDIA's GPUs.

use super::own::{IGNORED, close, exact, input};
use super::{Buffer, Origin, Row, text};
use crate::rates::Fill;
use crosslane::build::files::FileLoader;
use crosslane::compile::{Artifact, EmitKind, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::render;
use crosslane::glsl::preprocess::MacroOption;
use std::path::PathBuf;

/// Names the folder of the shaders.
const FOLDER: &str = "CROSSLANE_GGML";

/// The folder of the shaders, if one is named.
pub fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// The preprocessed text of a file, without what the kernel does not use.
pub fn text(file: &str, defines: &[(&str, &str)]) -> Result<String, String> {
    let path = folder().ok_or_else(|| format!("{FOLDER} is not set"))?.join(file);
    let source = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let define =
        |(name, value): &(&str, &str)| MacroOption::Define { name: (*name).to_owned(), value: (*value).to_owned() };
    let macros = defines.iter().map(define).collect();
    let options = Options { macros, emit: EmitKind::Preprocessed, ..super::options("spirv-1.6")? };
    let name = path.display().to_string();
    let input = Input { name: &name, bytes: &source, language: Language::Glsl };
    let done = compile(&input, &options, &FileLoader::default());
    match done.verdict {
        Verdict::Done(Artifact::Text(made)) => Ok(text::trimmed(&made)),
        _ => Err(render::human(&done.sources, &done.diagnostics)),
    }
}

/// Columns of a row, and rows.
const COLUMNS: u32 = 4096;
const ROWS: u32 = 1024;
const ALL: u32 = COLUMNS * ROWS;
/// Workgroups for kernels with one workgroup per row, which ggml arranges in steps of 512.
const EACH: [u32; 3] = [512, 2, 1];

pub const FLOATS: &[(&str, &str)] =
    &[("FLOAT_TYPE", "float"), ("A_TYPE", "float"), ("B_TYPE", "float"), ("D_TYPE", "float")];
const INPUT: Buffer = input(Fill::Floats, ALL);
const OUTPUT: Buffer = close(ALL, 1e-3);

/// Divisors are powers of two, whose reciprocals are 1 and a shift.
const UNARY: [u32; 30] = {
    let mut push = [0; 30];
    push[0] = ALL;
    let sizes = [COLUMNS, ROWS, 1, 1, 1, COLUMNS, ALL, ALL];
    let mut n = 0;
    while n < 8 {
        push[1 + n] = sizes[n];
        push[9 + n] = sizes[n];
        n += 1;
    }
    push[18] = 1e-5_f32.to_bits();
    let reciprocals = [1, 1, 1, 22 | 22 << 8 | 12 << 16];
    n = 0;
    while n < 4 {
        push[22 + n] = reciprocals[n];
        push[26 + n] = reciprocals[n];
        n += 1;
    }
    push
};

const BINARY: [u32; 29] = {
    let mut push = [0; 29];
    push[0] = ALL;
    let sizes = [COLUMNS, ROWS, 1, 1, 1, COLUMNS, ALL, ALL];
    let weights = [COLUMNS, 1, 1, 1, 1, COLUMNS, COLUMNS, COLUMNS];
    let mut n = 0;
    while n < 8 {
        push[1 + n] = sizes[n];
        push[9 + n] = weights[n];
        push[17 + n] = sizes[n];
        n += 1;
    }
    push[26] = 1e-6_f32.to_bits();
    push
};

/// Sums of rows whose results have this stride.
const fn sums(stride: u32) -> [u32; 15] {
    [COLUMNS, ROWS, 1, COLUMNS, ALL, ALL, stride, ROWS * stride, ROWS * stride, ONE, 0, 1, 10, 1, 10]
}

const SUM_ROWS: [u32; 15] = sums(1);
const CUMSUM: [u32; 15] = sums(COLUMNS);
const ONE: u32 = 1.0_f32.to_bits();

const PLAIN: Row = Row {
    name: "",
    origin: Origin::Ggml(""),
    defines: FLOATS,
    constants: &[],
    push: &[],
    groups: EACH,
    checked: [2, 1, 1],
    buffers: &[INPUT, OUTPUT],
};

pub static KERNELS: &[Row] = &[
    Row {
        name: "ggml soft_max",
        origin: Origin::Ggml("soft_max.comp"),
        constants: &[(0, 512)],
        push: &[COLUMNS, 0, COLUMNS, ROWS, 1, 1, 1, 0, 0, 0, ONE, 0, ONE, ONE, 1, ROWS, 0],
        buffers: &[INPUT, IGNORED, IGNORED, OUTPUT],
        ..PLAIN
    },
    Row {
        name: "ggml rms_norm, with a product",
        origin: Origin::Ggml("rms_norm.comp"),
        constants: &[(0, 0), (1, 1)],
        push: &BINARY,
        groups: [ROWS, 1, 1],
        buffers: &[INPUT, input(Fill::Floats, COLUMNS), OUTPUT],
        ..PLAIN
    },
    Row { name: "ggml norm", origin: Origin::Ggml("norm.comp"), push: &UNARY, ..PLAIN },
    Row { name: "ggml l2_norm", origin: Origin::Ggml("l2_norm.comp"), push: &UNARY, ..PLAIN },
    Row {
        // A workgroup takes all rows that are left.
        name: "ggml argsort",
        origin: Origin::Ggml("argsort.comp"),
        constants: &[(0, 1024), (1, 10)],
        push: &[1024, 1024, 10, 256, 0, 0, 0, 0, 0],
        groups: [1, 256, 1],
        checked: [1, 1, 1],
        buffers: &[input(Fill::Floats, 1 << 18), IGNORED, exact(1 << 18)],
        ..PLAIN
    },
    Row {
        name: "ggml topk_moe",
        origin: Origin::Ggml("topk_moe.comp"),
        constants: &[(0, 32), (1, 128), (2, 0)],
        push: &[16384, 128, 8, 6e-5_f32.to_bits(), 3e38_f32.to_bits(), 0, 0, 1, ONE, 0],
        groups: [4096, 1, 1],
        buffers: &[input(Fill::Floats, 1 << 21), IGNORED, close(1 << 17, 1e-4), exact(1 << 21)],
        ..PLAIN
    },
    Row {
        name: "ggml cumsum",
        origin: Origin::Ggml("cumsum.comp"),
        constants: &[(0, 256), (1, 32), (2, 4)],
        push: &CUMSUM,
        ..PLAIN
    },
    Row {
        name: "ggml argmax",
        origin: Origin::Ggml("argmax.comp"),
        defines: &[("FLOAT_TYPE", "float"), ("A_TYPE", "float"), ("D_TYPE", "uint")],
        constants: &[(0, 32)],
        push: &[COLUMNS, ROWS, 0, 0, 0, 0],
        buffers: &[INPUT, exact(ROWS)],
        ..PLAIN
    },
    Row {
        name: "ggml sum_rows",
        origin: Origin::Ggml("sum_rows.comp"),
        constants: &[(0, 32)],
        push: &SUM_ROWS,
        buffers: &[INPUT, close(ROWS, 1e-3)],
        ..PLAIN
    },
    Row {
        name: "ggml mul_mm",
        origin: Origin::Ggml("mul_mm.comp"),
        defines: &[
            ("ACC_TYPE", "float"),
            ("ACC_TYPEV2", "vec2"),
            ("FLOAT_TYPE", "float"),
            ("FLOAT_TYPEV2", "vec2"),
            ("FLOAT_TYPEV4", "vec4"),
            ("DATA_A_F32", "1"),
            ("LOAD_VEC_A", "4"),
            ("LOAD_VEC_B", "4"),
            ("B_TYPE", "vec4"),
            ("B_TYPE_SCALAR", "float"),
            ("B_TYPEV4", "vec4"),
            ("D_TYPE", "float"),
        ],
        constants: &[(0, 128), (1, 128), (2, 128), (4, 64), (5, 64), (6, 2), (7, 4), (8, 4), (9, 1), (10, 32), (11, 1)],
        push: &[2048, 2048, 256, 256, 256, 2048, 1 << 19, 1 << 19, 1 << 22, 0, 1, 256, 1, 1, 1, 1],
        groups: [16, 16, 1],
        checked: [1, 1, 1],
        buffers: &[input(Fill::Floats, 1 << 19), input(Fill::Floats, 1 << 19), close(1 << 22, 1e-3)],
    },
    Row {
        name: "ggml mul_mat_vec",
        origin: Origin::Ggml("mul_mat_vec.comp"),
        defines: &[
            ("FLOAT_TYPE", "float"),
            ("FLOAT_TYPEV2", "vec2"),
            ("DATA_A_F32", "1"),
            ("B_TYPE", "float"),
            ("B_TYPEV2", "vec2"),
            ("B_TYPEV4", "vec4"),
            ("D_TYPE", "float"),
            ("USE_SUBGROUP_ADD_NO_SHMEM", "1"),
        ],
        constants: &[(0, 32), (1, 2), (2, 1)],
        push: &[COLUMNS, COLUMNS, COLUMNS, ROWS, ALL, COLUMNS, ROWS, 0, 0, 1, 1, 1, 1],
        groups: [ROWS / 2, 1, 1],
        buffers: &[INPUT, input(Fill::Floats, COLUMNS), close(ROWS, 1e-3), IGNORED, IGNORED],
        ..PLAIN
    },
];
