struct Push {
    unsigned count;
    Shape from, weights, to;
    unsigned offsets;
    float epsilon, param2;
    int param3;
};

// A row of at most N * 512 columns, or of so many rounds where N is 0; the weights repeat where there are fewer of them.
template <unsigned N>
__device__ void normalize(const float *x, const float *w, float *y, const Push &p, unsigned rounds = N) {
    __shared__ float sums[512];
    const unsigned columns = p.from.size[0], row = blockIdx.x, channel = blockIdx.y, sample = blockIdx.z;
    const unsigned from =
        sample * p.from.stride[3] + channel * p.from.stride[2] + row * p.from.stride[1] + (p.offsets >> 16);
    const unsigned at = sample % p.weights.size[3] * p.weights.stride[3] +
                        channel % p.weights.size[2] * p.weights.stride[2] +
                        row % p.weights.size[1] * p.weights.stride[1] + (p.offsets >> 8 & 0xff);
    const unsigned to = ((sample * gridDim.y + channel) * gridDim.x + row) * columns + (p.offsets & 0xff);
    float own = 0;
#pragma unroll
    for (unsigned n = 0; n < rounds; n++) {
        const unsigned i = threadIdx.x + n * 512;
        const float v = i < columns ? x[from + i] : 0;
        own += v * v;
    }
    sums[threadIdx.x] = own;
    gather<512>(sums, [](float a, float b) { return a + b; });
    const float scale = rsqrtf(__fdividef(sums[0], columns) + p.epsilon);
    const bool repeats = columns > p.weights.size[0];
#pragma unroll
    for (unsigned n = 0; n < rounds; n++) {
        const unsigned i = threadIdx.x + n * 512;
        if (i < columns) y[to + i] = scale * x[from + i] * w[at + (repeats ? i % p.weights.size[0] : i)];
    }
}

extern "C" __global__ void __launch_bounds__(512) rival(const float *x, const float *w, float *y, const Push p) {
    const unsigned rounds = (p.from.size[0] + 511) / 512;
    if (rounds > 32) normalize<0>(x, w, y, p, rounds);
    else if (rounds > 16) normalize<32>(x, w, y, p);
    else if (rounds > 12) normalize<16>(x, w, y, p);
    else if (rounds > 10) normalize<12>(x, w, y, p);
    else if (rounds > 8) normalize<10>(x, w, y, p);
    else if (rounds > 4) normalize<8>(x, w, y, p);
    else if (rounds == 4) normalize<4>(x, w, y, p);
    else if (rounds == 3) normalize<3>(x, w, y, p);
    else if (rounds == 2) normalize<2>(x, w, y, p);
    else if (rounds == 1) normalize<1>(x, w, y, p);
}
