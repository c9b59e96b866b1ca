//! Names that HLSL accepts.

/// The words of the language that cannot be names: keywords and reserved words (Microsoft's reference, "Keywords" and
/// "Reserved Words"), and types without a number.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "AppendStructuredBuffer", "BlendState", "Buffer", "ByteAddressBuffer", "ComputeShader", "ConstantBuffer",
    "ConsumeStructuredBuffer", "DepthStencilState", "DepthStencilView", "DomainShader", "FeedbackTexture2D",
    "FeedbackTexture2DArray", "GeometryShader", "HullShader", "InputPatch", "LineStream", "NULL", "OutputPatch",
    "PixelShader", "PointStream", "RWBuffer", "RWByteAddressBuffer", "RWStructuredBuffer", "RWTexture1D",
    "RWTexture1DArray", "RWTexture2D", "RWTexture2DArray", "RWTexture2DMS", "RWTexture3D", "RasterizerState",
    "RayDesc", "RayQuery", "RaytracingAccelerationStructure", "RenderTargetView", "SamplerComparisonState",
    "SamplerState", "StructuredBuffer", "Texture1D", "Texture1DArray", "Texture2D", "Texture2DArray", "Texture2DMS",
    "Texture2DMSArray", "Texture3D", "TextureBuffer", "TextureCube", "TextureCubeArray", "TriangleStream",
    "VertexShader", "asm", "asm_fragment", "auto", "bool", "break", "case", "catch", "cbuffer", "centroid", "char",
    "class", "column_major", "compile", "compile_fragment", "const", "const_cast", "constexpr", "continue",
    "decltype", "default", "delete", "discard", "do", "double", "dword", "dynamic_cast", "else", "enum", "explicit",
    "export", "extern", "false", "fixed", "float", "float16_t", "float32_t", "float64_t", "for", "friend", "fxgroup",
    "globallycoherent", "goto", "groupshared", "half", "if", "in", "indices", "inline", "inout", "int", "int16_t",
    "int32_t", "int64_t", "interface", "line", "lineadj", "linear", "long", "matrix", "mesh", "min10float",
    "min12int", "min16float", "min16int", "min16uint", "mutable", "namespace", "new", "nointerpolation",
    "noperspective", "operator", "out", "packoffset", "pass", "payload", "pixelfragment", "point", "precise",
    "primitives", "private", "protected", "public", "register", "reinterpret_cast", "return", "row_major", "sample",
    "sampler", "sampler1D", "sampler2D", "sampler3D", "samplerCUBE", "sampler_state", "shared", "short", "signed",
    "sizeof", "snorm", "stateblock", "stateblock_state", "static", "static_cast", "std", "string", "struct", "switch",
    "tbuffer", "technique", "technique10", "technique11", "template", "texture", "texture1D", "texture2D",
    "texture3D", "textureCUBE", "this", "throw", "triangle", "triangleadj", "true", "try", "typedef", "typeid",
    "typename", "uint", "uint16_t", "uint32_t", "uint64_t", "uniform", "union", "unorm", "unsigned", "using",
    "vector", "vertexfragment", "vertices", "virtual", "void", "volatile", "while",
];

/// Functions of the language (Microsoft's reference, "Intrinsic Functions"; the specifications of Shader Models 6.x),
/// and those that the writer adds.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "D3DCOLORtoUBYTE4", "abort", "abs", "acos", "all", "and", "any", "asdouble", "asfloat", "asfloat16", "asin",
    "asint", "asint16", "asuint", "asuint16", "atan", "atan2", "ceil", "clamp", "clip", "cos", "cosh", "countbits",
    "cross", "ddx", "ddx_coarse", "ddx_fine", "ddy", "ddy_coarse", "ddy_fine", "degrees", "determinant", "distance",
    "dot", "dot2add", "dot4add_i8packed", "dot4add_u8packed", "dst", "errorf", "exp", "exp2", "f16tof32", "f32tof16",
    "faceforward", "firstbithigh", "firstbitlow", "floor", "fma", "fmod", "frac", "frexp", "fwidth", "isfinite",
    "isinf", "isnan", "ldexp", "length", "lerp", "lit", "log", "log10", "log2", "mad", "max", "min", "modf", "msad4",
    "mul", "noise", "normalize", "or", "pack_clamp_s8", "pack_clamp_u8", "pack_s8", "pack_u8", "pow", "printf",
    "radians", "rcp", "reflect", "refract", "reversebits", "round", "rsqrt", "saturate", "select", "sign", "sin",
    "sincos", "sinh", "smoothstep", "sqrt", "step", "tan", "tanh", "tex1D", "tex2D", "tex3D", "texCUBE", "transpose",
    "trunc", "unpack_s8s16", "unpack_s8s32", "unpack_u8u16", "unpack_u8u32",
];

/// A name that the language accepts.
pub(super) fn spelled(name: &str) -> String {
    let mut text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if text.is_empty() {
        text.push_str("unnamed");
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    if is_reserved(&text) {
        text.push_str("_x");
    }
    text
}

fn is_reserved(name: &str) -> bool {
    WORDS.binary_search(&name).is_ok()
        || FUNCTIONS.binary_search(&name).is_ok()
        || super::helpers::NAMES.contains(&name)
        || ["Interlocked", "Wave", "Quad", "SV_", "__"].iter().any(|start| name.starts_with(start))
        || is_numbered_type(name)
}

/// Returns true for `float3`, `uint64_t2x3` and the like.
fn is_numbered_type(name: &str) -> bool {
    const STEMS: [&str; 15] = [
        "bool",
        "int",
        "uint",
        "float",
        "half",
        "double",
        "dword",
        "min16float",
        "min16int",
        "min16uint",
        "float16_t",
        "int16_t",
        "uint16_t",
        "int64_t",
        "uint64_t",
    ];
    let is_size = |c: &u8| (b'1'..=b'4').contains(c);
    STEMS.iter().filter_map(|stem| name.strip_prefix(stem)).any(|rest| match rest.as_bytes() {
        [n] => is_size(n),
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
        let names = ["x", "gl_Position", "float3", "float5", "std", "sample", "WaveThing", "größe", "2d"];
        let made = ["x", "gl_Position", "float3_x", "float5", "std_x", "sample_x", "WaveThing_x", "gr__e", "_2d"];
        assert_eq!(names.map(spelled), made);
    }
}
