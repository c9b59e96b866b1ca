// Eight steps of heat in tiles of 64 by 16, whose rims stay as they are; four values a column and invocation.
#version 450
layout(local_size_x = 64, local_size_y = 4) in;
layout(std430, binding = 0) readonly buffer In { float x[]; };
layout(std430, binding = 1) writeonly buffer Out { float y[]; };
shared float heat[16][64];

void main() {
    uint first = gl_WorkGroupID.x * 1024u, column = gl_LocalInvocationID.x, top = gl_LocalInvocationID.y * 4u;
    for (uint n = 0u; n < 4u; n++) heat[top + n][column] = x[first + (top + n) * 64u + column];
    barrier();
    for (uint turn = 0u; turn < 8u; turn++) {
        float next[4];
        for (uint n = 0u; n < 4u; n++) {
            uint row = top + n;
            next[n] = heat[row][column];
            if (row > 0u && row < 15u && column > 0u && column < 63u) {
                float around = heat[row - 1u][column] + heat[row + 1u][column];
                around += heat[row][column - 1u] + heat[row][column + 1u];
                next[n] += 0.2 * (around - 4.0 * next[n]);
            }
        }
        barrier();
        for (uint n = 0u; n < 4u; n++) heat[top + n][column] = next[n];
        barrier();
    }
    for (uint n = 0u; n < 4u; n++) y[first + (top + n) * 64u + column] = heat[top + n][column];
}
