extern "C" __global__ void __launch_bounds__(256) rival(const float4 *x, float4 *y) {
    __shared__ float sums[8], squares[8];
    unsigned i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    float4 v = x[i];
    float sum = v.x + v.y + v.z + v.w;
    float square = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (unsigned d = 16; d > 0; d /= 2) square += __shfl_xor_sync(~0u, square, d);
    if (lane == 0) {
        sums[warp] = sum;
        squares[warp] = square;
    }
    __syncthreads();
    sum = square = 0;
    for (unsigned n = 0; n < 8; n++) {
        sum += sums[n];
        square += squares[n];
    }
    float mean = sum / 1024;
    float scale = rsqrtf(square / 1024 - mean * mean + 1e-5f);
    y[i] = make_float4((v.x - mean) * scale, (v.y - mean) * scale, (v.z - mean) * scale, (v.w - mean) * scale);
}
