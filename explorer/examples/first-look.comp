#version 450
#extension GL_CROSSLANE_portable : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { float x[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float sum = allReduceAdd8(x[i]);        // the sum of eight neighbours, in all eight of them
    float twin = butterfly2(x[i]);          // the neighbour's value
    float before = exclusiveAdd16(x[i]);    // the sum of the lanes before this one, among sixteen
    x[i] = sum + twin * before;
}
