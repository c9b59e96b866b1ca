// An operation that some lanes do, 256 times: those whose number is not a multiple of four, or all, which only a buffer says.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_clustered : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };

void main() {
    uint v = x[gl_GlobalInvocationID.x], sum = 0u;
    if (ACTIVE) {
        for (int n = 0; n < 256; n++) {
            sum += OPERATION;
            v = sum ^ v;
        }
    }
    y[gl_GlobalInvocationID.x] = sum;
}
