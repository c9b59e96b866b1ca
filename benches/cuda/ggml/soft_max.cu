struct Push {
    unsigned columns, has_mask, ne00, ne01, ne02, ne12, ne13, nb11, nb12, nb13;
    float scale, max_bias, m0, m1;
    unsigned heads, rows, has_sinks;
};

// A row of at most N * 512 columns, or of so many rounds where N is 0. What the first 16 * 512 hold is kept.
template <unsigned N>
__device__ void soft_max(const float *x, const float *mask, const float *sinks, float *y, const Push &p,
                         unsigned rounds = N) {
    __shared__ float all[512];
    const unsigned row = row_number(), volume = p.ne01 * p.ne02;
    const unsigned i3 = row / volume, i2 = (row - i3 * volume) / p.ne01, i1 = row % p.ne01;
    if (row >= p.rows) return;
    const unsigned at = p.has_mask ? i1 * p.nb11 + i2 % p.ne12 * p.nb12 + i3 % p.ne13 * p.nb13 : 0;
    float slope = 1;
    if (p.max_bias > 0) {
        const unsigned head = row / p.ne01 % p.ne02;
        slope = head < p.heads ? __powf(p.m0, head + 1) : __powf(p.m1, 2 * (head - p.heads) + 1);
    }
    float largest = p.has_sinks ? sinks[i2] : __int_as_float(0xff800000), held[16];
#pragma unroll
    for (unsigned n = 0; n < rounds; n++) {
        const unsigned i = threadIdx.x + n * 512;
        const bool is_inside = i < p.columns;
        const float v = (is_inside ? x[row * p.columns + i] : 0) * p.scale + slope * (p.has_mask && is_inside ? mask[at + i] : 0);
        if (is_inside) largest = fmaxf(largest, v);
        if (n < 16) held[n] = v;
    }
    all[threadIdx.x] = largest;
    gather<512>(all, [](float a, float b) { return fmaxf(a, b); });
    largest = all[0];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (unsigned n = 0; n < rounds; n++) {
        const unsigned i = threadIdx.x + n * 512;
        if (i >= p.columns) break;
        const float v = __expf((n < 16 ? held[n] : x[row * p.columns + i] * p.scale + (p.has_mask ? slope * mask[at + i] : 0)) - largest);
        sum += v;
        if (n < 16) held[n] = v;
        else y[row * p.columns + i] = v;
    }
    all[threadIdx.x] = sum;
    gather<512>(all, [](float a, float b) { return a + b; });
    sum = all[0];
    if (p.has_sinks) sum += __expf(sinks[i2] - largest);
    const float scale = __fdividef(1, sum);
#pragma unroll
    for (unsigned n = 0; n < rounds; n++) {
        const unsigned i = threadIdx.x + n * 512;
        if (i < p.columns) y[row * p.columns + i] = (n < 16 ? held[n] : y[row * p.columns + i]) * scale;
    }
}

extern "C" __global__ void __launch_bounds__(512)
    rival(const float *x, const float *mask, const float *sinks, float *y, const Push p) {
    const unsigned rounds = (p.columns + 511) / 512;
    if (rounds > 32) soft_max<0>(x, mask, sinks, y, p, rounds);
    else if (rounds > 16) soft_max<32>(x, mask, sinks, y, p);
    else if (rounds > 8) soft_max<16>(x, mask, sinks, y, p);
    else if (rounds > 4) soft_max<8>(x, mask, sinks, y, p);
    else if (rounds == 4) soft_max<4>(x, mask, sinks, y, p);
    else if (rounds == 3) soft_max<3>(x, mask, sinks, y, p);
    else if (rounds == 2) soft_max<2>(x, mask, sinks, y, p);
    else if (rounds == 1) soft_max<1>(x, mask, sinks, y, p);
}
