extern "C" __global__ void __launch_bounds__(256) rival(const float *x, float *y, const Push p) {
    __shared__ float partial[8], last;
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const uint2 at = seek(p);
    if (threadIdx.x == 0) last = 0;
    for (unsigned start = 0; start < p.columns; start += 1024) {
        const unsigned column = start + 4 * threadIdx.x;
        float v[4], sum = 0;
#pragma unroll
        for (unsigned j = 0; j < 4; j++) {
            if (column + j < p.columns) sum += x[at.x + column + j];
            v[j] = sum;
        }
        float before = sum;
#pragma unroll
        for (unsigned d = 1; d < 32; d *= 2) {
            const float other = __shfl_up_sync(~0u, before, d);
            if (lane >= d) before += other;
        }
        before = __shfl_up_sync(~0u, before, 1);
        if (lane == 0) before = 0;
#pragma unroll
        for (unsigned j = 0; j < 4; j++) v[j] += before;
        if (lane == 31) partial[warp] = v[3];
        __syncthreads();
        for (unsigned s = 0; s < warp; s++) {
#pragma unroll
            for (unsigned j = 0; j < 4; j++) v[j] += partial[s];
        }
#pragma unroll
        for (unsigned j = 0; j < 4; j++) v[j] += last;
        __syncthreads();
        if (threadIdx.x == 255) last = v[3];
#pragma unroll
        for (unsigned j = 0; j < 4; j++) {
            if (column + j < p.columns) y[at.y + column + j] = v[j];
        }
    }
}
