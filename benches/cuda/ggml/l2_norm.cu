extern "C" __global__ void __launch_bounds__(512) rival(const float *x, float *y, const Push p) {
    __shared__ float sums[512];
    const unsigned row = row_number(), columns = p.from.size[0];
    const unsigned from = (p.offsets >> 16) + place(row * columns, p.from, p.by_from);
    const unsigned to = (p.offsets & 0xffff) + place(row * p.to.size[0], p.to, p.by_to);
    float own = 0;
    for (unsigned i = threadIdx.x; i < columns; i += 512) {
        const float v = x[from + i * p.from.stride[0]];
        own += v * v;
    }
    sums[threadIdx.x] = own;
    gather<512>(sums, [](float a, float b) { return a + b; });
    const float scale = __frcp_rn(fmaxf(sqrtf(sums[0]), p.param[0]));
    for (unsigned i = threadIdx.x; i < columns; i += 512) y[to + i * p.to.stride[0]] = scale * x[from + i * p.from.stride[0]];
}
