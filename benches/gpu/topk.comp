// The eight greatest of each 256 values and their places, a subgroup each; of equal values the first.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float x[]; };
layout(std430, binding = 1) writeonly buffer Out { uvec2 y[]; };

void main() {
    uint row = gl_WorkGroupID.x * 8u + gl_SubgroupID, lane = gl_SubgroupInvocationID;
    float values[8];
    for (uint n = 0u; n < 8u; n++) values[n] = x[row * 256u + n * 32u + lane];
    for (uint k = 0u; k < 8u; k++) {
        float best = values[0];
        uint place = lane;
        for (uint n = 1u; n < 8u; n++) {
            if (values[n] > best) {
                best = values[n];
                place = n * 32u + lane;
            }
        }
        for (uint apart = 16u; apart > 0u; apart /= 2u) {
            float other = subgroupShuffleXor(best, apart);
            uint there = subgroupShuffleXor(place, apart);
            if (other > best || (other == best && there < place)) {
                best = other;
                place = there;
            }
        }
        for (uint n = 0u; n < 8u; n++) {
            if (place == n * 32u + lane) values[n] = -1e30;
        }
        if (lane == k) y[row * 8u + k] = uvec2(floatBitsToUint(best), place);
    }
}
