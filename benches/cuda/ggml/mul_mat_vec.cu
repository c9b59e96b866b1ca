struct Push {
    unsigned columns, stride_a, stride_b, stride_d, batch_a, batch_b, batch_d, fusion;
    unsigned first_batch, ne02, ne12, broadcast2, broadcast3;
};

// Rows of a matrix, which are multiples of 4 long, times a vector.
template <unsigned ROWS>
__device__ void multiply(const float *a, const float *b, const float *c, const float *d, float *y, unsigned first,
                         const Push &p) {
    float sums[ROWS] = {};
#pragma unroll 4
    for (unsigned i = 4 * threadIdx.x; i < p.columns; i += 128) {
        const float4 v = *(const float4 *)(b + i);
#pragma unroll
        for (unsigned n = 0; n < ROWS; n++) {
            const float *m = a + (first + n) * p.columns + i;
            sums[n] += m[0] * v.x + m[1] * v.y + m[2] * v.z + m[3] * v.w;
        }
    }
#pragma unroll
    for (unsigned n = 0; n < ROWS; n++) {
#pragma unroll
        for (unsigned s = 16; s > 0; s /= 2) sums[n] += __shfl_xor_sync(~0u, sums[n], s);
    }
    if (threadIdx.x != 0) return;
#pragma unroll
    for (unsigned n = 0; n < ROWS; n++) {
        if (p.fusion & 1) sums[n] += c[first + n];
        if (p.fusion & 2) sums[n] += d[first + n];
        y[first + n] = sums[n];
    }
}

extern "C" __global__ void __launch_bounds__(32)
    rival(const float *a, const float *b, float *y, const float *c, const float *d, const Push p) {
    const unsigned first = 2 * (blockIdx.x + gridDim.x * blockIdx.z), batch = blockIdx.y + p.first_batch;
    if (batch) a += (batch / p.ne12 / p.broadcast3 * p.ne02 + batch % p.ne12 / p.broadcast2) * p.batch_a;
    b += batch * p.batch_b;
    y += batch * p.batch_d;
    c += batch * p.batch_d;
    d += batch * p.batch_d;
    if (first + 2 <= p.stride_d) multiply<2>(a, b, c, d, y, first, p);
    else if (first < p.stride_d) multiply<1>(a, b, c, d, y, first, p);
}
