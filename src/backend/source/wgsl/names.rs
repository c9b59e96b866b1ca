//! Names that WGSL accepts.

use crate::backend::source::names;

/// Keywords and reserved words (WGSL 15.1 and 15.2).
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "NULL", "Self", "abstract", "active", "alias", "alignas", "alignof", "as", "asm", "asm_fragment", "async",
    "attribute", "auto", "await", "become", "break", "case", "cast", "catch", "class", "co_await", "co_return",
    "co_yield", "coherent", "column_major", "common", "compile", "compile_fragment", "concept", "const", "const_assert",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "continuing", "crate", "debugger", "decltype",
    "default", "delete", "demote", "demote_to_helper", "diagnostic", "discard", "do", "dynamic_cast", "else", "enable",
    "enum", "explicit", "export", "extends", "extern", "external", "fallthrough", "false", "filter", "final", "finally",
    "fn", "for", "friend", "from", "fxgroup", "get", "goto", "groupshared", "highp", "if", "impl", "implements",
    "import", "inline", "instanceof", "interface", "layout", "let", "loop", "lowp", "macro", "macro_rules", "match",
    "mediump", "meta", "mod", "module", "move", "mut", "mutable", "namespace", "new", "nil", "noexcept", "noinline",
    "nointerpolation", "non_coherent", "noncoherent", "noperspective", "null", "nullptr", "of", "operator", "override",
    "package", "packoffset", "partition", "pass", "patch", "pixelfragment", "precise", "precision", "premerge", "priv",
    "protected", "pub", "public", "readonly", "ref", "regardless", "register", "reinterpret_cast", "require",
    "requires", "resource", "restrict", "return", "self", "set", "shared", "sizeof", "smooth", "snorm", "static",
    "static_assert", "static_cast", "std", "struct", "subroutine", "super", "switch", "target", "template", "this",
    "thread_local", "throw", "trait", "true", "try", "type", "typedef", "typeid", "typename", "typeof", "union",
    "unless", "unorm", "unsafe", "unsized", "use", "using", "var", "varying", "virtual", "volatile", "wgsl", "where",
    "while", "with", "writeonly", "yield",
];

/// Types, enumerants and functions that the language predeclares (WGSL 6.9, 16 and 17), which a declaration would hide.
#[rustfmt::skip]
const DECLARED: &[&str] = &[
    "abs", "acos", "acosh", "all", "any", "array", "arrayLength", "asin", "asinh", "atan", "atan2", "atanh", "atomic",
    "bgra8unorm", "binding_array", "bitcast", "bool", "ceil", "clamp", "cos", "cosh", "countLeadingZeros",
    "countOneBits", "countTrailingZeros", "cross", "degrees", "determinant", "distance", "dot", "dot4I8Packed",
    "dot4U8Packed", "exp", "exp2", "extractBits", "f16", "f32", "f64", "faceForward", "firstLeadingBit",
    "firstTrailingBit", "floor", "fma", "fract", "frexp", "function", "i32", "i64", "insertBits", "inverseSqrt",
    "ldexp", "length", "log", "log2", "max", "min", "mix", "modf", "normalize", "pow", "private", "ptr",
    "push_constant", "quantizeToF16", "r16float", "r16sint", "r16snorm", "r16uint", "r16unorm", "r32float", "r32sint",
    "r32uint", "r64uint", "r8sint", "r8snorm", "r8uint", "r8unorm", "radians", "read", "read_write", "reflect",
    "refract", "reverseBits", "rg11b10ufloat", "rg16float", "rg16sint", "rg16snorm", "rg16uint", "rg16unorm",
    "rg32float", "rg32sint", "rg32uint", "rg8sint", "rg8snorm", "rg8uint", "rg8unorm", "rgb10a2uint", "rgb10a2unorm",
    "rgba16float", "rgba16sint", "rgba16snorm", "rgba16uint", "rgba16unorm", "rgba32float", "rgba32sint", "rgba32uint",
    "rgba8sint", "rgba8snorm", "rgba8uint", "rgba8unorm", "round", "sampler", "saturate", "select", "sign", "sin",
    "sinh", "smoothstep", "sqrt", "step", "storage", "storageBarrier", "tan", "tanh", "textureBarrier", "transpose",
    "trunc", "u32", "u64", "uniform", "workgroup", "workgroupBarrier", "workgroupUniformLoad", "write",
];

/// Common prefixes of predeclared names.
const STARTS: [&str; 6] = ["atomic", "texture", "subgroup", "quad", "pack", "unpack"];

/// A name that the language accepts.
pub(super) fn spelled(name: &str) -> String {
    let mut text = names::plain(name);
    if is_reserved(&text) {
        text.push_str("_x");
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) || text == "_" {
        text.insert(0, 'v');
    }
    text
}

fn is_reserved(name: &str) -> bool {
    WORDS.binary_search(&name).is_ok()
        || DECLARED.binary_search(&name).is_ok()
        || is_numbered_type(name)
        || is_function(name)
}

/// Returns true for the functions of a family: `textureLoad`, `subgroupAdd`, `dpdxFine`.
fn is_function(name: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit());
    STARTS.iter().any(|start| name.strip_prefix(start).is_some_and(goes_on))
        || ["texture_", "sampler_", "dpd", "fwidth"].iter().any(|start| name.starts_with(start))
}

/// Returns true for `vec3`, `vec3f`, `mat2x3h` and the like.
fn is_numbered_type(name: &str) -> bool {
    let is_size = |c: u8| (b'2'..=b'4').contains(&c);
    let ends = |rest: &[u8], letters: &[u8]| rest.is_empty() || matches!(rest, [letter] if letters.contains(letter));
    match name.as_bytes() {
        [b'v', b'e', b'c', n, rest @ ..] => is_size(*n) && ends(rest, b"fhiu"),
        [b'm', b'a', b't', n, b'x', m, rest @ ..] => is_size(*n) && is_size(*m) && ends(rest, b"fh"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted() {
        assert!(WORDS.is_sorted());
        assert!(DECLARED.is_sorted());
    }

    #[test]
    fn names_stay_where_the_language_takes_them() {
        let names =
            ["x", "gl_Position", "vec3f", "vec5", "let", "min", "textureLoad", "texture", "größe", "2d", "mod", "_"];
        let made = [
            "x",
            "gl_Position",
            "vec3f_x",
            "vec5",
            "let_x",
            "min_x",
            "textureLoad_x",
            "texture",
            "gr_e",
            "v2d",
            "mod_x",
            "v_",
        ];
        assert_eq!(names.map(spelled), made);
    }
}
