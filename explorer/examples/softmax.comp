// Softmax of rows of four numbers, one a lane: the largest and the sum are reductions that every lane gets.
#version 450
#extension GL_CROSSLANE_portable : require

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Rows { float x[]; };
layout(std430, binding = 1) buffer Weights { float y[]; };

void main() {
    uint slot = gl_GlobalInvocationID.x;
    float largest = allReduceMax4(x[slot]);
    float power = exp(x[slot] - largest);
    y[slot] = power / allReduceAdd4(power);
}
