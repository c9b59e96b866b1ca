// Sorts each run of sixteen numbers by exchanges between lanes that are 8, 4, 2 and 1 apart.
#version 450
#extension GL_CROSSLANE_portable : require

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Unsorted { float x[]; };
layout(std430, binding = 1) buffer Sorted { float y[]; };

// Keeps the smaller value in the lower lane, or in the upper one where the run descends.
float exchange(float mine, float other, bool upper, bool descending) {
    return upper != descending ? max(mine, other) : min(mine, other);
}

// One step of merging runs of `size`: partners are half of `width` apart.
#define STEP(size, width) \
    v = exchange(v, butterfly##width(v), (lane & width / 2u) != 0u, size < 16 && (lane & size) != 0u);

void main() {
    uint slot = gl_GlobalInvocationID.x;
    uint lane = laneIndex();
    float v = x[slot];
    STEP(2, 2)
    STEP(4, 4) STEP(4, 2)
    STEP(8, 8) STEP(8, 4) STEP(8, 2)
    STEP(16, 16) STEP(16, 8) STEP(16, 4) STEP(16, 2)
    y[slot] = v;
}
