// How many steps a point stays near, 1024 by 1024 points; coordinates are whole numbers, 1024 to the unit, so that no
// product is rounded and the result is exact.
#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uint limit[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float cx = float(int(i % 1024u) * 3 - 2048) / 1024.0, cy = float(int(i / 1024u) * 2 - 1024) / 1024.0;
    float zx = 0.0, zy = 0.0;
    uint n = 0u, most = limit[0];
    while (n < most && zx * zx + zy * zy < 4.0) {
        float next = floor((zx * zx - zy * zy + cx) * 1024.0) / 1024.0;
        zy = floor((2.0 * zx * zy + cy) * 1024.0) / 1024.0;
        zx = next;
        n++;
    }
    y[i] = n;
}
