// An operation of all lanes, 256 times.
#version 450
#extension GL_CROSSLANE_portable : require
#extension GL_CROSSLANE_shuffle : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_clustered : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { TYPE x[]; };
layout(std430, binding = 1) writeonly buffer Out { TYPE y[]; };

void main() {
    TYPE v = x[gl_GlobalInvocationID.x], sum = TYPE(0);
    for (int n = 0; n < 256; n++) {
        sum += OPERATION;
        v = NEXT;
    }
    y[gl_GlobalInvocationID.x] = sum;
}
