// The place of each value in its block of 256, sorted by one digit of four bits; equal digits keep their order.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };
shared uint counts[16][8];
shared uint starts[16];

void main() {
    uint i = gl_GlobalInvocationID.x, own = gl_LocalInvocationIndex;
    uint digit = x[i] & 15u;
    uint alike = 0xffffffffu;
    for (uint bit = 0u; bit < 4u; bit++) {
        uint set = subgroupBallot((digit >> bit & 1u) != 0u).x;
        alike &= (digit >> bit & 1u) != 0u ? set : ~set;
    }
    if (own < 128u) counts[own / 8u][own % 8u] = 0u;
    barrier();
    uint before = bitCount(alike & gl_SubgroupLtMask.x);
    if (before == 0u) counts[digit][gl_SubgroupID] = bitCount(alike);
    barrier();
    if (own < 16u) {
        uint sum = 0u;
        for (uint n = 0u; n < 8u; n++) {
            uint count = counts[own][n];
            counts[own][n] = sum;
            sum += count;
        }
        starts[own] = sum;
    }
    barrier();
    uint rank = counts[digit][gl_SubgroupID] + before;
    for (uint n = 0u; n < digit; n++) rank += starts[n];
    y[i] = rank;
}
