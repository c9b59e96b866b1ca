extern "C" __global__ void __launch_bounds__(256) rival(const unsigned *x, unsigned *y) {
    __shared__ unsigned totals[8];
    unsigned i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    unsigned scanned = x[i];
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned below = __shfl_up_sync(~0u, scanned, d);
        if (lane >= d) scanned += below;
    }
    if (lane == 31) totals[warp] = scanned;
    __syncthreads();
    for (unsigned n = 0; n < warp; n++) scanned += totals[n];
    y[i] = scanned;
}
