//! Kernels of ggml whose listings are compared and which are not run, because there is no case for them.

use super::ggml::FLOATS;
use super::own::IGNORED;
use super::{Buffer, Origin, Row};

/// The most bindings and push constants that a kernel has.
const BUFFERS: &[Buffer] = &[IGNORED; 12];
const PUSH: &[u32] = &[0; 64];

/// Macros, by their names.
type Macros = &'static [(&'static str, &'static str)];

/// A kernel in the variant for floats of 32 bits.
const fn kernel(name: &'static str, file: &'static str, defines: Macros, constants: &'static [(u32, u32)]) -> Row {
    Row {
        name,
        origin: Origin::Ggml(file),
        defines,
        constants,
        push: PUSH,
        groups: [0; 3],
        checked: [0; 3],
        buffers: BUFFERS,
    }
}

/// The product of a matrix of quantized blocks and a vector, two rows for a wave of 32 lanes.
const fn product(name: &'static str, file: &'static str, defines: Macros) -> Row {
    kernel(name, file, defines, &[(0, 32), (1, 2), (2, 1)])
}

/// The macros of a product for blocks of a type, named as the sources do.
macro_rules! blocks {
    ($name:literal) => {
        &[
            ($name, "1"),
            ("FLOAT_TYPE", "float"),
            ("FLOAT_TYPEV2", "vec2"),
            ("B_TYPE", "float"),
            ("B_TYPEV2", "vec2"),
            ("B_TYPEV4", "vec4"),
            ("D_TYPE", "float"),
            ("USE_SUBGROUP_ADD_NO_SHMEM", "1"),
        ]
    };
}

/// Macros in addition to those for 32-bit floats.
macro_rules! floats {
    ($(($name:literal, $value:literal)),*) => {
        &[
            ("FLOAT_TYPE", "float"),
            ("FLOAT_TYPEV2", "vec2"),
            ("A_TYPE", "float"),
            ("D_TYPE", "float"),
            $(($name, $value)),*
        ]
    };
}

pub static LISTED: &[Row] = &[
    kernel("ggml group_norm", "group_norm.comp", FLOATS, &[]),
    product("ggml mul_mat_vec, q4_0", "mul_mat_vec.comp", blocks!("DATA_A_Q4_0")),
    product("ggml mul_mat_vec, q8_0", "mul_mat_vec.comp", blocks!("DATA_A_Q8_0")),
    product("ggml mul_mat_vec, q4_k", "mul_mat_vec_q4_k.comp", blocks!("DATA_A_Q4_K")),
    product("ggml mul_mat_vec, q6_k", "mul_mat_vec_q6_k.comp", blocks!("DATA_A_Q6_K")),
    kernel("ggml silu", "unary.comp", floats!(("OP", "op_silu")), &[]),
    kernel("ggml silu_back", "silu_back.comp", FLOATS, &[]),
    kernel("ggml swiglu", "swiglu.comp", FLOATS, &[]),
    kernel("ggml fwht", "fwht.comp", &[], &[(0, 32), (1, 128)]),
    kernel("ggml ssm_scan", "ssm_scan.comp", floats!(("USE_SUBGROUP_ADD", "1")), &[(0, 128), (1, 32)]),
    kernel("ggml ssm_conv", "ssm_conv.comp", FLOATS, &[(0, 32), (1, 16)]),
    kernel("ggml wkv6", "wkv6.comp", FLOATS, &[]),
    kernel("ggml wkv7", "wkv7.comp", FLOATS, &[]),
    kernel("ggml rope_norm", "rope_norm.comp", floats!(("ROPE_D_TYPE", "float")), &[]),
    kernel("ggml rope_neox", "rope_neox.comp", floats!(("ROPE_D_TYPE", "float")), &[]),
    kernel("ggml get_rows", "get_rows.comp", floats!(("TEMP_TYPE", "float"), ("B_TYPE", "int")), &[]),
    kernel("ggml cpy", "copy.comp", FLOATS, &[]),
    kernel("ggml concat", "concat.comp", FLOATS, &[]),
    kernel("ggml im2col", "im2col.comp", floats!(("D_SIZE", "4"), ("BDA", "0")), &[(0, 256)]),
    kernel("ggml pool2d", "pool2d.comp", FLOATS, &[]),
    kernel("ggml conv2d_dw", "conv2d_dw.comp", floats!(("B_TYPE", "float"), ("WHCN", "1")), &[]),
    kernel("ggml upscale", "upscale.comp", FLOATS, &[]),
    kernel("ggml diag_mask_inf", "diag_mask_inf.comp", FLOATS, &[]),
    kernel(
        "ggml count_equal",
        "count_equal.comp",
        &[("FLOAT_TYPE", "float"), ("A_TYPE", "int"), ("B_TYPE", "int"), ("D_TYPE", "int")],
        &[],
    ),
    kernel("ggml add", "add.comp", floats!(("B_TYPE", "float"), ("ADD_RMS", "0")), &[]),
    kernel("ggml mul", "mul.comp", FLOATS, &[]),
];
