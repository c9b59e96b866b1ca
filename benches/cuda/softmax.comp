// The softmax of rows of 1024, four values an invocation.
#version 450
#extension GL_CROSSLANE_shuffle : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { vec4 x[]; };
layout(std430, binding = 1) writeonly buffer Out { vec4 y[]; };
shared float partial[8];

float most(vec4 v) { return max(max(v.x, v.y), max(v.z, v.w)); }

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec4 v = x[i];
    float largest = allReduceMax(most(v));
    if (subgroupElect()) partial[gl_SubgroupID] = largest;
    barrier();
    for (uint n = 0u; n < 8u; n++) largest = max(largest, partial[n]);
    barrier();
    v = exp(v - largest);
    float sum = allReduceAdd(v.x + v.y + v.z + v.w);
    if (subgroupElect()) partial[gl_SubgroupID] = sum;
    barrier();
    sum = 0.0;
    for (uint n = 0u; n < 8u; n++) sum += partial[n];
    y[i] = v / sum;
}
