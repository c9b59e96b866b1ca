// The pull of 4096 bodies on each of them, in tiles of 256 through shared memory.
#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { vec4 bodies[]; };
layout(std430, binding = 1) writeonly buffer Out { vec4 pulls[]; };
shared vec4 tile[256];

void main() {
    vec3 here = bodies[gl_GlobalInvocationID.x].xyz, pull = vec3(0.0);
    for (uint first = 0u; first < 4096u; first += 256u) {
        tile[gl_LocalInvocationIndex] = bodies[first + gl_LocalInvocationIndex];
        barrier();
        for (uint n = 0u; n < 256u; n++) {
            vec3 way = tile[n].xyz - here;
            float near = inversesqrt(dot(way, way) + 0.01);
            pull += way * (tile[n].w * near * near * near);
        }
        barrier();
    }
    pulls[gl_GlobalInvocationID.x] = vec4(pull, 0.0);
}
