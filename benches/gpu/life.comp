// Sixteen generations of Conway's game on boards of 32 by 32, a row per lane; rows reach their neighbours by shuffles.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };

uint west(uint row) { return row << 1 | row >> 31; }
uint east(uint row) { return row >> 1 | row << 31; }

void add(inout uint ones, inout uint twos, inout uint fours, uint bits) {
    uint carry = ones & bits;
    ones ^= bits;
    fours |= twos & carry;
    twos ^= carry;
}

void main() {
    uint row = x[gl_GlobalInvocationID.x], lane = gl_SubgroupInvocationID;
    for (uint turn = 0u; turn < 16u; turn++) {
        uint above = subgroupShuffle(row, (lane + 31u) & 31u), below = subgroupShuffle(row, (lane + 1u) & 31u);
        uint ones = 0u, twos = 0u, fours = 0u;
        add(ones, twos, fours, west(above));
        add(ones, twos, fours, above);
        add(ones, twos, fours, east(above));
        add(ones, twos, fours, west(row));
        add(ones, twos, fours, east(row));
        add(ones, twos, fours, west(below));
        add(ones, twos, fours, below);
        add(ones, twos, fours, east(below));
        row = twos & ~fours & (ones | row);
    }
    y[gl_GlobalInvocationID.x] = row;
}
