extern "C" __global__ void __launch_bounds__(256) rival(const unsigned *x, unsigned *y) {
    unsigned i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31, v = x[i];
    for (unsigned size = 2; size <= 32; size *= 2) {
        for (unsigned d = size / 2; d > 0; d /= 2) {
            unsigned other = __shfl_xor_sync(~0u, v, d);
            bool keeps_less = ((lane & d) == 0) == ((lane & size) == 0 || size == 32);
            v = keeps_less ? min(v, other) : max(v, other);
        }
    }
    y[i] = v;
}
