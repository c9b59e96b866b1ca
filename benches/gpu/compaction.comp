// Moves the odd values of each block of 256 to its front and counts them.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };
layout(std430, binding = 2) writeonly buffer Counts { uint counts[]; };
shared uint kept[8];

void main() {
    uint v = x[gl_GlobalInvocationID.x];
    bool isKept = (v & 1u) != 0u;
    uvec4 those = subgroupBallot(isKept);
    uint place = subgroupBallotExclusiveBitCount(those);
    if (subgroupElect()) kept[gl_SubgroupID] = subgroupBallotBitCount(those);
    barrier();
    uint total = 0u;
    for (uint n = 0u; n < 8u; n++) {
        place += n < gl_SubgroupID ? kept[n] : 0u;
        total += kept[n];
    }
    if (isKept) y[gl_WorkGroupID.x * 256u + place] = v;
    if (gl_LocalInvocationIndex == 0u) counts[gl_WorkGroupID.x] = total;
}
