#version 450
#extension GL_CROSSLANE_portable : require
#extension GL_GOOGLE_include_directive : require
#include "include/workgroup.glsl"
layout(std430, binding = 0) buffer Data { float x[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    x[i] = allReduceAdd8(x[i]) * SCALE;
}
