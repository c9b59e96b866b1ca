// How often each of 256 values occurs, 16 of them an invocation.
#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) buffer Out { uint y[]; };
shared uint bins[256];

void main() {
    bins[gl_LocalInvocationIndex] = 0u;
    barrier();
    uint first = gl_WorkGroupID.x * 4096u + gl_LocalInvocationIndex;
    for (uint n = 0u; n < 16u; n++) atomicAdd(bins[x[first + 256u * n] & 255u], 1u);
    barrier();
    atomicAdd(y[gl_LocalInvocationIndex], bins[gl_LocalInvocationIndex]);
}
