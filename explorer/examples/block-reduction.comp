// The sum of each workgroup's numbers: a reduction of each subgroup, then one of their sums in shared memory.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_CROSSLANE_shuffle : require

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Numbers { uint x[]; };
layout(std430, binding = 1) buffer Sums { uint sums[]; };

shared uint partial[gl_WorkGroupSize.x];

void main() {
    uint sum = allReduceAdd(x[gl_GlobalInvocationID.x]);
    if (subgroupElect()) {
        partial[gl_SubgroupID] = sum;
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        uint total = 0u;
        for (uint i = 0u; i < gl_NumSubgroups; i++) {
            total += partial[i];
        }
        sums[gl_WorkGroupID.x] = total;
    }
}
