// A filter of 32 taps over rows, eight results an invocation; the taps ask to be unrolled.
#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float x[]; };
layout(std430, binding = 1) readonly buffer Taps { float taps[32]; };
layout(std430, binding = 2) writeonly buffer Out { float y[]; };
shared float tile[2080];

void main() {
    uint first = gl_WorkGroupID.x * 2048u, own = gl_LocalInvocationIndex;
    for (uint n = own; n < 2080u; n += 256u) tile[n] = x[first + n];
    barrier();
    float sums[8], window[32];
    [[unroll]] for (uint n = 0u; n < 8u; n++) sums[n] = 0.0;
    [[unroll]] for (uint tap = 0u; tap < 32u; tap++) window[tap] = taps[tap];
    [[unroll]] for (uint n = 0u; n < 8u; n++) {
        [[unroll]] for (uint tap = 0u; tap < 32u; tap++) sums[n] += window[tap] * tile[own + 256u * n + tap];
    }
    [[unroll]] for (uint n = 0u; n < 8u; n++) y[first + own + 256u * n] = sums[n];
}
