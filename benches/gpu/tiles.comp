// The square of a matrix of 1024 by 1024; an invocation has SIDE by SIDE sums in registers.
#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float x[]; };
layout(std430, binding = 1) writeonly buffer Out { float y[]; };
const uint BLOCK = 16u * SIDE;
shared float a[8][BLOCK], b[8][BLOCK];

void main() {
    uint own = gl_LocalInvocationIndex, across = 1024u / BLOCK;
    uint row = gl_WorkGroupID.x / across * BLOCK, column = gl_WorkGroupID.x % across * BLOCK;
    uint above = own / 16u * SIDE, left = own % 16u * SIDE;
    float sums[SIDE][SIDE];
    for (uint r = 0u; r < SIDE; r++) {
        for (uint c = 0u; c < SIDE; c++) sums[r][c] = 0.0;
    }
    for (uint tile = 0u; tile < 1024u; tile += 8u) {
        for (uint n = own; n < 8u * BLOCK; n += 256u) {
            a[n % 8u][n / 8u] = x[(row + n / 8u) * 1024u + tile + n % 8u];
            b[n / BLOCK][n % BLOCK] = x[(tile + n / BLOCK) * 1024u + column + n % BLOCK];
        }
        barrier();
        for (uint k = 0u; k < 8u; k++) {
            float p[SIDE], q[SIDE];
            for (uint n = 0u; n < SIDE; n++) {
                p[n] = a[k][above + n];
                q[n] = b[k][left + n];
            }
            for (uint r = 0u; r < SIDE; r++) {
                for (uint c = 0u; c < SIDE; c++) sums[r][c] += p[r] * q[c];
            }
        }
        barrier();
    }
    for (uint r = 0u; r < SIDE; r++) {
        for (uint c = 0u; c < SIDE; c++) y[(row + above + r) * 1024u + column + left + c] = sums[r][c];
    }
}
