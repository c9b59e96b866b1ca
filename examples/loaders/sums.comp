// The sum of each eight neighbours, in all of them.
#version 450
#extension GL_CROSSLANE_shuffle : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    y[i] = allReduceAdd8(x[i]);
}
