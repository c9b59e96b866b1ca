//! Words of related languages (C, HLSL, CUDA, Metal) that users write by habit, with their GLSL equivalents. Only
//! messages use this; none of these words is accepted.

/// The word and what to write instead.
#[rustfmt::skip]
static WORDS: &[(&str, &str)] = &[
    ("syncthreads", "barrier"), ("GroupMemoryBarrierWithGroupSync", "barrier"),
    ("elect", "subgroupElect"),
    ("atan2", "atan"), ("ddx", "dFdx"), ("ddy", "dFdy"), ("fabs", "abs"), ("fmax", "max"), ("fmin", "min"), ("frac", "fract"), ("lerp", "mix"), ("powf", "pow"), ("rsqrt", "inversesqrt"),
    ("sqrtf", "sqrt"), ("countbits", "bitCount"), ("reversebits", "bitfieldReverse"),
    ("atomicCAS", "atomicCompSwap"), ("InterlockedAdd", "atomicAdd"),
    ("float2", "vec2"), ("float3", "vec3"), ("float4", "vec4"), ("int2", "ivec2"), ("int3", "ivec3"),
    ("int4", "ivec4"), ("uint2", "uvec2"), ("uint3", "uvec3"), ("uint4", "uvec4"), ("bool2", "bvec2"),
    ("bool3", "bvec3"), ("bool4", "bvec4"), ("float2x2", "mat2"), ("float3x3", "mat3"), ("float4x4", "mat4"),
    ("f32", "float"), ("i32", "int"), ("u32", "uint"), ("f64", "double"), ("size_t", "uint"),
    ("int32_t", "int"), ("uint32_t", "uint"), ("unsigned", "uint"), ("threadIdx", "gl_LocalInvocationID"), ("blockIdx", "gl_WorkGroupID"), ("blockDim", "gl_WorkGroupSize"),
    ("gridDim", "gl_NumWorkGroups"), ("groupshared", "shared"),
    ("elif", "else if"), ("elsif", "else if"), ("elseif", "else if"), ("and", "&&"), ("or", "||"),
    ("texture1D", "texture"), ("texture2D", "texture"), ("texture3D", "texture"), ("textureCube", "texture"),
    ("shadow2D", "texture"), ("texture2DLod", "textureLod"), ("textureCubeLod", "textureLod"),
    ("texture2DProj", "textureProj"), ("tex2D", "texture"), ("tex2Dlod", "textureLod"),
];

/// Words whose equivalent in GLSL has another form, with that form. The sentence follows "help: ".
#[rustfmt::skip]
static ADVICE: &[(&str, &str)] = &[
    ("saturate", "write `clamp(x, 0.0, 1.0)`"),
    ("fmod", "`mod(x, y)` has the sign of `y`; `x - y * trunc(x / y)` has that of `x`, as `fmod` does"),
    ("mul", "`*` multiplies matrices and vectors"), ("mad", "write `fma(a, b, c)`"), ("rcp", "write `1.0 / x`"),
    ("printf", "`debugPrintfEXT` prints; it needs `#extension GL_EXT_debug_printf : require`"),
    ("assert", "GLSL has no assertions; write to a buffer what is to be checked"),
    ("char", "`int8_t` has 8 bits; it needs `#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require`"),
    ("uint8_t", "it needs `#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require`"),
    ("long", "`int64_t` has 64 bits; it needs `#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require`"),
    ("half", "`float16_t` has 16 bits; it needs `#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require`"),
    ("static", "global variables belong to an invocation; `const` makes constants, `shared` memory of the workgroup"),
    ("constexpr", "`const` makes constants that the compiler knows"),
    ("auto", "GLSL infers no types: name the type, as in `float x = …;`"),
    ("var", "a declaration begins with its type, as in `float x = …;`"),
    ("let", "a declaration begins with its type, as in `float x = …;`"),
    ("fn", "a function begins with the type of its result, as in `void f() { … }`"),
    ("def", "a function begins with the type of its result, as in `void f() { … }`"),
    ("function", "a function begins with the type of its result, as in `void f() { … }`"),
    ("array", "an array has its length after the name, as in `float a[4];`"),
    ("vec", "vectors have 2 to 4 components: `vec2`, `vec3` and `vec4`"),
    ("string", "GLSL has no strings"), ("String", "GLSL has no strings"),
    ("null", "GLSL has no null; compare with a number, or use a `bool`"),
    ("NULL", "GLSL has no null; compare with a number, or use a `bool`"),
    ("nullptr", "GLSL has no null; compare with a number, or use a `bool`"),
    ("this", "GLSL has no methods; pass the value as a parameter"),
    ("sizeof", "GLSL has no sizes in bytes; `a.length()` counts the elements of an array"),
    ("PI", "GLSL has no constant for it: declare `const float PI = 3.14159265;`"),
    ("M_PI", "GLSL has no constant for it: declare `const float M_PI = 3.14159265;`"),
    ("INFINITY", "GLSL has no constant for it: `uintBitsToFloat(0x7f800000u)` is infinite"),
    ("random", "GLSL has no random numbers; compute them from an index and a seed, with a hash"),
    ("rand", "GLSL has no random numbers; compute them from an index and a seed, with a hash"),
];

/// The GLSL counterpart of a word from another language.
pub fn counterpart(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|(foreign, _)| *foreign == word).map(|(_, ours)| *ours)
}

/// Advice for a word without a direct equivalent.
pub fn advice(word: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(foreign, _)| *foreign == word).map(|(_, advice)| *advice)
}
