// Rows of 4096 divided by the root of their mean square, times a weight, 16 values an invocation.
#version 450
#extension GL_CROSSLANE_shuffle : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { vec4 x[]; };
layout(std430, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, binding = 2) writeonly buffer Out { vec4 y[]; };
shared float squares[8];

void main() {
    uint first = gl_WorkGroupID.x * 1024u, lane = gl_LocalInvocationIndex;
    vec4 v[4];
    float square = 0.0;
    for (uint n = 0u; n < 4u; n++) {
        v[n] = x[first + 256u * n + lane];
        square += dot(v[n], v[n]);
    }
    square = allReduceAdd(square);
    if (subgroupElect()) squares[gl_SubgroupID] = square;
    barrier();
    square = 0.0;
    for (uint n = 0u; n < 8u; n++) square += squares[n];
    float scale = inversesqrt(square / 4096.0 + 1e-6);
    for (uint n = 0u; n < 4u; n++) y[first + 256u * n + lane] = v[n] * scale * weights[256u * n + lane];
}
