#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_CROSSLANE_portable : require
#include "tools/index.glsl"
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { uint sums[]; };

void main() {
    sums[INDEX] = allReduceAdd(sums[INDEX], WIDTH);
}
