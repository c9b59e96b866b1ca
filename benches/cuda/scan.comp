// Sums of all values up to each, in blocks of 256.
#version 450
#extension GL_CROSSLANE_shuffle : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };
shared uint totals[8];

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint scanned = inclusiveAdd(x[i]);
    if (gl_SubgroupInvocationID == 31u) totals[gl_SubgroupID] = scanned;
    barrier();
    for (uint n = 0u; n < gl_SubgroupID; n++) scanned += totals[n];
    y[i] = scanned;
}
