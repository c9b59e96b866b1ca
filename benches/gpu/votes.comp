// Steps of Collatz until all lanes of a subgroup are at one; how many the subgroup took, and a lane's own.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) writeonly buffer Out { uvec2 y[]; };

void main() {
    uint v = (x[gl_GlobalInvocationID.x] & 4095u) + 1u, own = 0u, turns = 0u;
    while (subgroupAny(v != 1u)) {
        bool isOdd = (v & 1u) != 0u, isDone = v == 1u;
        if (!isDone) {
            v = isOdd ? 3u * v + 1u : v / 2u;
            own++;
        }
        if (subgroupAll(isOdd || isDone)) turns += 256u;
        turns++;
    }
    y[gl_GlobalInvocationID.x] = uvec2(own, turns);
}
