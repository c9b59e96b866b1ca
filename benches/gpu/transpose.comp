// A matrix of 1024 by 1024, transposed in tiles of 32 by 32 through shared memory.
#version 450
layout(local_size_x = 32, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer In { float x[]; };
layout(std430, binding = 1) writeonly buffer Out { float y[]; };
shared float tile[32][33];

void main() {
    uint left = gl_WorkGroupID.x % 32u * 32u, top = gl_WorkGroupID.x / 32u * 32u;
    uint column = gl_LocalInvocationID.x, row = gl_LocalInvocationID.y;
    for (uint n = row; n < 32u; n += 8u) tile[n][column] = x[(top + n) * 1024u + left + column];
    barrier();
    for (uint n = row; n < 32u; n += 8u) y[(left + n) * 1024u + top + column] = tile[column][n];
}
