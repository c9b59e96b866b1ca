// The running sum of each workgroup's numbers: a scan of each subgroup, and the totals of the subgroups below it.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_CROSSLANE_shuffle : require

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Numbers { int x[]; };
layout(std430, binding = 1) buffer Sums { int y[]; };

shared int totals[gl_WorkGroupSize.x];

void main() {
    uint local = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint slot = gl_WorkGroupID.x * gl_WorkGroupSize.x + local;
    int scanned = inclusiveAdd(x[slot]);
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1u) {
        totals[gl_SubgroupID] = scanned;
    }
    barrier();
    int below = 0;
    for (uint i = 0u; i < gl_SubgroupID; i++) {
        below += totals[i];
    }
    y[slot] = below + scanned;
}
