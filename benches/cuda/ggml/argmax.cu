struct Push {
    unsigned columns, rows;
    float param[4];
};

extern "C" __global__ void __launch_bounds__(32) rival(const float *x, unsigned *y, const Push p) {
    __shared__ float largest[32];
    __shared__ unsigned places[32];
    const unsigned row = row_number(), lane = threadIdx.x;
    if (row >= p.rows) return;
    float most = lane < p.columns ? x[row * p.columns + lane] : -3.402823466e+38f;
    unsigned at = lane;
    for (unsigned i = lane + 32; i < p.columns; i += 32) {
        const float v = x[row * p.columns + i];
        if (v > most) {
            most = v;
            at = i;
        }
    }
    largest[lane] = most;
    places[lane] = at;
    __syncthreads();
#pragma unroll
    for (unsigned s = 16; s > 0; s /= 2) {
        if (lane < s && lane + s < p.columns && largest[lane] < largest[lane + s]) {
            largest[lane] = largest[lane + s];
            places[lane] = places[lane + s];
        }
        __syncthreads();
    }
    if (lane == 0) y[row] = places[0];
}
