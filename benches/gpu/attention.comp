// One query a subgroup against 128 keys and values of 64 numbers, two a lane, with a running maximum.
#version 450
#extension GL_CROSSLANE_shuffle : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Queries { vec2 queries[]; };
layout(std430, binding = 1) readonly buffer Keys { vec2 keys[]; };
layout(std430, binding = 2) readonly buffer Values { vec2 values[]; };
layout(std430, binding = 3) writeonly buffer Out { vec2 y[]; };

void main() {
    uint query = gl_WorkGroupID.x * 8u + gl_SubgroupID, lane = gl_SubgroupInvocationID;
    vec2 q = queries[query * 32u + lane] * 0.125, sum = vec2(0.0);
    float most = -1e30, total = 0.0;
    for (uint n = 0u; n < 128u; n++) {
        float score = allReduceAdd(dot(q, keys[n * 32u + lane]));
        float next = max(most, score), old = exp(most - next), share = exp(score - next);
        total = total * old + share;
        sum = sum * old + share * values[n * 32u + lane];
        most = next;
    }
    y[query * 32u + lane] = sum / total;
}
