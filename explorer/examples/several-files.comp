// A shader in two files. The options define macros: with WIDTH=16 the mean is that of 16 lanes.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_CROSSLANE_portable : require
#include "mean.glsl"

layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { float x[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    x[i] = mean(x[i]);
}
