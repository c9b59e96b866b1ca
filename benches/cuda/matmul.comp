// The square of a matrix of 1024 by 1024, by tiles of 16 by 16.
#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float x[]; };
layout(std430, binding = 1) writeonly buffer Out { float y[]; };
shared float a[16][16], b[16][16];

void main() {
    uint column = gl_LocalInvocationIndex % 16u, row = gl_LocalInvocationIndex / 16u;
    uint left = (gl_WorkGroupID.x / 64u * 16u + row) * 1024u, top = gl_WorkGroupID.x % 64u * 16u + column;
    float sum = 0.0;
    for (uint tile = 0u; tile < 1024u; tile += 16u) {
        a[row][column] = x[left + tile + column];
        b[row][column] = x[(tile + row) * 1024u + top];
        barrier();
        for (uint n = 0u; n < 16u; n++) sum = fma(a[row][n], b[n][column], sum);
        barrier();
    }
    y[left + top] = sum;
}
