// Sorts each 32 keys with their values.
#version 450
#extension GL_CROSSLANE_portable : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uvec2 x[]; };
layout(std430, binding = 1) writeonly buffer Out { uvec2 y[]; };

void main() {
    uvec2 pair = x[gl_GlobalInvocationID.x];
    uint key = pair.x & 63u, value = pair.y;
    bitonicSort32(key, value);
    y[gl_GlobalInvocationID.x] = uvec2(key, value);
}
