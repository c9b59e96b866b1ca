// Stream compaction: the odd numbers of each subgroup, without gaps. A ballot tells each lane how many are kept below it.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Numbers { uint x[]; };
layout(std430, binding = 1) buffer Kept { uint kept[]; };

void main() {
    uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_SubgroupID * gl_SubgroupSize;
    uint v = x[first + gl_SubgroupInvocationID];
    bool keep = (v & 1u) != 0u;
    uvec4 ballot = subgroupBallot(keep);
    if (keep) {
        kept[first + subgroupBallotExclusiveBitCount(ballot)] = v;
    }
}
