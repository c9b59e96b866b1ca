//! Words of related languages (C, HLSL, CUDA, Metal) that people write by habit, with what GLSL has for them. Only
//! messages use it; nothing here is ever accepted.

/// The word and what to write instead.
#[rustfmt::skip]
static WORDS: &[(&str, &str)] = &[
    ("__syncthreads", "barrier"), ("syncthreads", "barrier"), ("GroupMemoryBarrierWithGroupSync", "barrier"),
    ("__ballot_sync", "ballot"), ("__shfl_sync", "subgroupShuffle"), ("__shfl_xor_sync", "subgroupShuffleXor"),
    ("__shfl_up_sync", "subgroupShuffleUp"), ("__shfl_down_sync", "subgroupShuffleDown"), ("elect", "subgroupElect"),
    ("WaveActiveSum", "subgroupAdd"), ("WaveReadLaneAt", "subgroupShuffle"), ("WaveGetLaneIndex", "laneIndex"),
    ("atan2", "atan"), ("ddx", "dFdx"), ("ddy", "dFdy"), ("fabs", "abs"), ("fmax", "max"), ("fmin", "min"),
    ("fmod", "mod"), ("frac", "fract"), ("lerp", "mix"), ("powf", "pow"), ("rsqrt", "inversesqrt"),
    ("saturate", "clamp"), ("sqrtf", "sqrt"), ("countbits", "bitCount"), ("reversebits", "bitfieldReverse"),
    ("atomicCAS", "atomicCompSwap"), ("InterlockedAdd", "atomicAdd"),
    ("float2", "vec2"), ("float3", "vec3"), ("float4", "vec4"), ("int2", "ivec2"), ("int3", "ivec3"),
    ("int4", "ivec4"), ("uint2", "uvec2"), ("uint3", "uvec3"), ("uint4", "uvec4"), ("bool2", "bvec2"),
    ("bool3", "bvec3"), ("bool4", "bvec4"), ("float2x2", "mat2"), ("float3x3", "mat3"), ("float4x4", "mat4"),
    ("f32", "float"), ("i32", "int"), ("u32", "uint"), ("f64", "double"), ("char", "int"), ("size_t", "uint"),
    ("uint8_t", "uint"), ("int32_t", "int"), ("uint32_t", "uint"), ("unsigned", "uint"), ("static", "const"),
    ("threadIdx", "gl_LocalInvocationID"), ("blockIdx", "gl_WorkGroupID"), ("blockDim", "gl_WorkGroupSize"),
    ("gridDim", "gl_NumWorkGroups"), ("warpSize", "gl_SubgroupSize"), ("groupshared", "shared"),
];

/// The GLSL counterpart of a word from another language.
pub fn counterpart(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|(foreign, _)| *foreign == word).map(|(_, ours)| *ours)
}
