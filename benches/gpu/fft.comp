// The Fourier transform of each 32 complex numbers, a subgroup each, in the order that the butterflies leave.
#version 450
#extension GL_CROSSLANE_shuffle : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { vec2 x[]; };
layout(std430, binding = 1) writeonly buffer Out { vec2 y[]; };

vec2 times(vec2 a, vec2 b) { return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

vec2 turned(vec2 v, vec2 other, uint apart) {
    bool isHigh = (gl_SubgroupInvocationID & apart) != 0u;
    float angle = -3.14159265 * float(gl_SubgroupInvocationID & (apart - 1u)) / float(apart);
    return isHigh ? times(other - v, vec2(cos(angle), sin(angle))) : v + other;
}

void main() {
    vec2 v = x[gl_GlobalInvocationID.x];
    v = turned(v, butterfly32(v), 16u);
    v = turned(v, butterfly16(v), 8u);
    v = turned(v, butterfly8(v), 4u);
    v = turned(v, butterfly4(v), 2u);
    v = turned(v, butterfly2(v), 1u);
    y[gl_GlobalInvocationID.x] = v;
}
