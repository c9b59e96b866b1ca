// Sums of runs: neighbours with the same key are added up, wherever a run begins and ends.
#version 450
#extension GL_CROSSLANE_portable : require
#extension GL_CROSSLANE_shuffle : require
#extension GL_NV_shader_thread_shuffle : require

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Keys { uint keys[]; };
layout(std430, binding = 1) readonly buffer Values { uint values[]; };
layout(std430, binding = 2) buffer Sums { uint sums[]; };

void main() {
    uint slot = gl_GlobalInvocationID.x;
    uint key = keys[slot];
    bool inside;
    uint below = shuffleUpNV(key, 1u, 4u, inside);
    sums[slot] = segmentedReduceAdd4(values[slot], !inside || key != below);
}
