struct Push {
    unsigned rows, experts, used;
    float clamp_min, clamp_max;
    unsigned gating, has_bias, with_norm;
    float scale, bias;
};

// Experts of a lane, of 128.
const unsigned EACH = 4;

__device__ inline float least() { return __int_as_float(0xff800000); }

// The softmax of the first `limit` values of a warp.
__device__ inline void soft_max(float v[EACH], unsigned lane, unsigned limit) {
    float largest = least(), sum = 0;
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        if (lane + 32 * i < limit) largest = fmaxf(largest, v[i]);
    }
#pragma unroll
    for (unsigned d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        v[i] = lane + 32 * i < limit ? __expf(v[i] - largest) : 0;
        sum += v[i];
    }
#pragma unroll
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    const float by = __fdividef(1, sum);
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) v[i] *= by;
}

extern "C" __global__ void __launch_bounds__(128)
    rival(const float *logits, const float *biases, float *weights, unsigned *ids, const Push p) {
    const unsigned row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (row >= p.rows) return;
    float v[EACH], chosen_by[EACH], out[EACH] = {0, 0, 0, 0}, total = 0;
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) v[i] = logits[128 * row + lane + 32 * i];
    if (p.gating == 0) {
        soft_max(v, lane, 128);
    } else if (p.gating == 1) {
#pragma unroll
        for (unsigned i = 0; i < EACH; i++) v[i] = __fdividef(1, 1 + __expf(-v[i]));
    } else if (p.gating == 3) {
#pragma unroll
        for (unsigned i = 0; i < EACH; i++) v[i] = sqrtf(v[i] > 20 ? v[i] : __logf(1 + __expf(v[i])));
    }
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) chosen_by[i] = p.has_bias ? v[i] + biases[lane + 32 * i] : v[i];
    for (unsigned k = 0; k < p.used; k++) {
        float value = v[0], by = chosen_by[0];
        unsigned expert = lane;
#pragma unroll
        for (unsigned i = 1; i < EACH; i++) {
            if (chosen_by[i] > by) {
                value = v[i];
                by = chosen_by[i];
                expert = lane + 32 * i;
            }
        }
#pragma unroll
        for (unsigned d = 16; d > 0; d /= 2) {
            const float other = __shfl_xor_sync(~0u, value, d), other_by = __shfl_xor_sync(~0u, by, d);
            const unsigned other_expert = __shfl_xor_sync(~0u, expert, d);
            if (other_by > by || other_by == by && other_expert < expert) {
                value = other;
                by = other_by;
                expert = other_expert;
            }
        }
        if ((k & 31) == lane) {
#pragma unroll
            for (unsigned i = 0; i < EACH; i++) {
                if (k / 32 == i) out[i] = value;
            }
        }
        if ((expert & 31) == lane) {
#pragma unroll
            for (unsigned i = 0; i < EACH; i++) {
                if (expert / 32 == i) chosen_by[i] = least();
            }
            ids[128 * row + k] = expert;
            total += value;
        }
    }
    if (p.with_norm) {
#pragma unroll
        for (unsigned d = 16; d > 0; d /= 2) total += __shfl_xor_sync(~0u, total, d);
        const float by = __fdividef(1, fminf(fmaxf(total, p.clamp_min), p.clamp_max));
#pragma unroll
        for (unsigned i = 0; i < EACH; i++) out[i] *= by;
    }
    if (p.gating == 2) soft_max(out, lane, p.used);
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        const unsigned at = lane + 32 * i;
        if (at < p.used) weights[p.used * row + at] = p.scale * out[i] + p.bias;
    }
}
