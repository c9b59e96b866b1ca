#version 450
#extension GL_CROSSLANE_portable : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float x[]; };
layout(std430, binding = 1) buffer Out { float sums[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < x.length()) {
        float sum = allReduceAdd32(x[i]);
        if (segmentLast32())
            sums[i / 32u] = sum;
    }
}
