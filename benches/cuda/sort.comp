// Sorts each 32 values.
#version 450
#extension GL_CROSSLANE_portable : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };

void main() {
    uint v = x[gl_GlobalInvocationID.x];
    bitonicSort32(v);
    y[gl_GlobalInvocationID.x] = v;
}
