// Rows of 1024 with the mean 0 and the variance 1, four values an invocation.
#version 450
#extension GL_CROSSLANE_shuffle : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { vec4 x[]; };
layout(std430, binding = 1) writeonly buffer Out { vec4 y[]; };
shared float sums[8], squares[8];

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec4 v = x[i];
    float sum = allReduceAdd(v.x + v.y + v.z + v.w);
    float square = allReduceAdd(dot(v, v));
    if (subgroupElect()) {
        sums[gl_SubgroupID] = sum;
        squares[gl_SubgroupID] = square;
    }
    barrier();
    sum = square = 0.0;
    for (uint n = 0u; n < 8u; n++) {
        sum += sums[n];
        square += squares[n];
    }
    float mean = sum / 1024.0;
    y[i] = (v - mean) * inversesqrt(square / 1024.0 - mean * mean + 1e-5);
}
