//! Names that MSL accepts.

use crate::backend::source::names;

/// The words of the language that cannot be names: keywords of C++14 and of MSL (section 1.4), and the types,
/// namespaces and macros of its standard library (sections 2, 4, 5 and 6).
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "FP_ILOGB0", "FP_ILOGBNAN", "HUGE_VAL", "HUGE_VALF", "HUGE_VALH", "INFINITY",
    "INT_MAX", "INT_MIN", "LONG_MAX", "LONG_MIN", "MAXFLOAT", "MAXHALF", "NAN", "NULL", "SCHAR_MAX", "SCHAR_MIN",
    "SHRT_MAX", "SHRT_MIN", "UCHAR_MAX", "UINT_MAX", "ULONG_MAX", "USHRT_MAX", "access", "address", "alignas",
    "alignof", "and", "and_eq", "array", "array_ref", "asm", "assert", "atomic", "atomic_bool", "atomic_flag",
    "atomic_float", "atomic_int", "atomic_uint", "atomic_ulong", "auto", "bfloat", "bias", "bitand", "bitor", "bool",
    "border_color", "break", "case", "catch", "char", "char16_t", "char32_t", "class", "coherent", "command_buffer",
    "compare_func", "compl", "component", "compute_command", "compute_pipeline_state", "conditional", "const",
    "const_cast", "constant", "constexpr", "continue", "decltype", "default", "delete", "depth2d", "depth2d_array",
    "depth2d_ms", "depth2d_ms_array", "depthcube", "depthcube_array", "device", "do", "double", "dynamic_cast",
    "else", "enable_if", "enum", "explicit", "export", "extent", "extern", "false", "false_type", "fast", "filter",
    "float", "for", "fragment", "friend", "function_table", "goto", "gradient2d", "gradient3d", "gradientcube",
    "half", "if", "imageblock", "imageblock_slice", "inline", "int", "int16_t", "int32_t", "int64_t", "int8_t",
    "integral_constant", "interpolant", "interpolation", "intersection_query", "intptr_t",
    "is_arithmetic", "is_floating_point", "is_integral", "is_matrix", "is_same", "is_scalar", "is_signed",
    "is_unsigned", "is_vector", "kernel", "level", "lod_clamp", "long", "mag_filter", "main", "make_scalar",
    "make_signed", "make_unsigned", "make_vector", "matrix", "max_anisotropy", "mem_flags", "memory_order",
    "memory_scope", "mesh", "mesh_grid_properties", "metal", "min_filter", "min_lod_clamp", "mip_filter", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "numeric_limits", "object_data", "operator",
    "or", "or_eq", "packed_vec", "patch_control_point", "precise", "private", "protected", "ptrdiff_t", "public",
    "quad_vote", "r16snorm", "r16unorm", "r8snorm", "r8unorm", "r_address", "rank", "ray_data", "raytracing",
    "register", "reinterpret_cast", "remove_const", "remove_cv", "render_command", "render_pipeline_state",
    "restrict", "return", "rg11b10f", "rg16snorm", "rg16unorm", "rg8snorm", "rg8unorm", "rgb10a2", "rgb9e5",
    "rgba16snorm", "rgba16unorm", "rgba8snorm", "rgba8unorm", "s_address", "sampler", "short", "signed", "simd",
    "simd_vote", "simdgroup_matrix", "size_t", "sizeof", "sparse_color", "srgba8unorm", "static", "static_assert",
    "static_cast", "std", "stitchable", "struct", "switch", "t_address", "template", "tensor", "texture1d",
    "texture1d_array", "texture2d", "texture2d_array", "texture2d_ms", "texture2d_ms_array", "texture3d",
    "texture_buffer", "texturecube", "texturecube_array", "this", "thread", "thread_local", "threadgroup",
    "threadgroup_imageblock", "throw", "topology", "triangle_fill_mode", "true", "true_type", "try", "tuple",
    "typedef", "typeid", "typename", "uchar", "uint", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "uintptr_t",
    "ulong", "uniform", "union", "unsigned", "ushort", "using", "vec", "vertex", "virtual", "visible",
    "visible_function_table", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
];

/// Functions of the standard library (section 6) that are not identified by their first letters.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "abs", "absdiff", "acos", "acosh", "addsat", "all", "any", "as_type", "asin", "asinh", "atan", "atan2", "atanh",
    "ceil", "clamp", "clz", "copysign", "cos", "cosh", "cospi", "cross", "ctz", "determinant", "dfdx", "dfdy",
    "discard_fragment", "distance", "distance_squared", "divide", "dot", "exp", "exp10", "exp2", "extract_bits",
    "fabs", "faceforward", "fdim", "floor", "fma", "fmax", "fmax3", "fmedian3", "fmin", "fmin3", "fmod", "fract",
    "frexp", "fwidth", "get_null_sampler", "get_num_samples", "get_sample_position", "hadd", "ilogb", "insert_bits",
    "is_function_constant_defined", "is_null_texture", "isfinite", "isinf", "isnan", "isnormal", "isordered",
    "isunordered", "ldexp", "length", "length_squared", "log", "log10", "log2", "mad24", "madhi", "madsat", "max",
    "max3", "median3", "min", "min3", "mix", "modf", "mul24", "mulhi", "nan", "nextafter", "normalize", "popcount",
    "pow", "powr", "reflect", "refract", "reverse_bits", "rhadd", "rint", "rotate", "round", "rsqrt", "saturate",
    "select", "sign", "signbit", "simdgroup_async_copy", "simdgroup_barrier", "simdgroup_load", "simdgroup_multiply",
    "simdgroup_multiply_accumulate", "simdgroup_store", "sin", "sincos", "sinh", "sinpi", "smoothstep", "sqrt",
    "step", "subsat", "tan", "tanh", "tanpi", "threadgroup_barrier", "transpose", "trunc",
];

/// Common prefixes of names in the standard library.
const STARTS: [&str; 14] = [
    "simd_",
    "quad_",
    "atomic_",
    "pack_",
    "unpack_",
    "packed_",
    "memory_",
    "mem_",
    "METAL_",
    "M_",
    "FLT_",
    "HALF_",
    "DBL_",
    "CONSTANT_",
];

/// A name that the language accepts.
pub(super) fn spelled(name: &str) -> String {
    let mut text = names::plain(name);
    if is_reserved(&text) {
        text.push_str("_x");
    }
    if begins_as_reserved(&text) {
        let joint = if text.starts_with('_') { "v" } else { "v_" };
        text.insert_str(0, joint);
    }
    text
}

fn is_reserved(name: &str) -> bool {
    WORDS.binary_search(&name).is_ok()
        || FUNCTIONS.binary_search(&name).is_ok()
        || super::helpers::is_name(name)
        || is_numbered_type(name)
}

/// Returns true for a digit, for an underscore and an upper-case letter, which C++ reserves, and for the prefixes of
/// names in the standard library.
fn begins_as_reserved(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_digit())
        || name.strip_prefix('_').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        || STARTS.iter().any(|start| name.starts_with(start))
}

/// Returns true for `float3`, `half2x3` and the like.
fn is_numbered_type(name: &str) -> bool {
    const STEMS: [&str; 13] = [
        "bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "bfloat", "double",
    ];
    let is_size = |c: &u8| (b'1'..=b'4').contains(c);
    STEMS.iter().filter_map(|stem| name.strip_prefix(stem)).any(|rest| match rest.as_bytes() {
        [n] => is_size(n) || *n == b'8',
        [b'1', b'6'] => true,
        [n, b'x', m] => is_size(n) && is_size(m),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted() {
        assert!(WORDS.is_sorted());
        assert!(FUNCTIONS.is_sorted());
    }

    #[test]
    fn names_stay_where_the_language_takes_them() {
        let names =
            ["x", "gl_Position", "float3", "float5", "std", "and", "main", "simd_thing", "_Wide", "größe", "2d", "mod"];
        let made = [
            "x",
            "gl_Position",
            "float3_x",
            "float5",
            "std_x",
            "and_x",
            "main_x",
            "v_simd_thing",
            "v_Wide",
            "gr_e",
            "v_2d",
            "mod_x",
        ];
        assert_eq!(names.map(spelled), made);
    }
}
