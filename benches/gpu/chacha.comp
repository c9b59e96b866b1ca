// ChaCha20: a block of key stream per invocation.
#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uint key[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };

uint rotated(uint v, int by) { return v << by | v >> (32 - by); }

void quarter(inout uint a, inout uint b, inout uint c, inout uint d) {
    a += b;
    d = rotated(d ^ a, 16);
    c += d;
    b = rotated(b ^ c, 12);
    a += b;
    d = rotated(d ^ a, 8);
    c += d;
    b = rotated(b ^ c, 7);
}

void main() {
    uint block = gl_GlobalInvocationID.x;
    uint start[16] = uint[](0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u, key[0], key[1], key[2], key[3], key[4],
                            key[5], key[6], key[7], block, key[8], key[9], key[10]);
    uint s[16] = start;
    for (int n = 0; n < 10; n++) {
        quarter(s[0], s[4], s[8], s[12]);
        quarter(s[1], s[5], s[9], s[13]);
        quarter(s[2], s[6], s[10], s[14]);
        quarter(s[3], s[7], s[11], s[15]);
        quarter(s[0], s[5], s[10], s[15]);
        quarter(s[1], s[6], s[11], s[12]);
        quarter(s[2], s[7], s[8], s[13]);
        quarter(s[3], s[4], s[9], s[14]);
    }
    for (uint n = 0u; n < 16u; n++) y[block * 16u + n] = s[n] + start[n];
}
