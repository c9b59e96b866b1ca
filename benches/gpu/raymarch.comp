// The light of a scene of spheres that repeat above a plane, 1024 pixels a row; rays march a fixed number of steps.
#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float time[]; };
layout(std430, binding = 1) writeonly buffer Out { vec4 y[]; };

float distanceTo(vec3 at) {
    vec3 cell = vec3(at.x - 4.0 * floor(at.x / 4.0 + 0.5), at.y - 1.0, at.z - 4.0 * floor(at.z / 4.0 + 0.5));
    float ball = length(cell) - 1.0, ring = length(vec2(length(cell.xz) - 1.4, cell.y)) - 0.2;
    return min(min(ball, ring), at.y);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec2 pixel = vec2(i % 1024u, i / 1024u) / 512.0 - 1.0;
    vec3 way = normalize(vec3(pixel, 1.5)), at = vec3(time[0], 3.0, time[0] * 0.5);
    for (int n = 0; n < 16; n++) at += way * distanceTo(at);
    vec2 aside = vec2(0.05, 0.0);
    vec3 slope = vec3(
        distanceTo(at + aside.xyy) - distanceTo(at - aside.xyy),
        distanceTo(at + aside.yxy) - distanceTo(at - aside.yxy),
        distanceTo(at + aside.yyx) - distanceTo(at - aside.yyx)
    );
    float light = 0.5 + 0.5 * dot(slope, vec3(4.0, 8.0, -4.0)) / (length(slope) + 0.05);
    y[i] = vec4(light, at * 0.01);
}
