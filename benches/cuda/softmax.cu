extern "C" __global__ void __launch_bounds__(256) rival(const float4 *x, float4 *y) {
    __shared__ float partial[8];
    unsigned i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    float4 v = x[i];
    float largest = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
    for (unsigned d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));
    if (lane == 0) partial[warp] = largest;
    __syncthreads();
    for (unsigned n = 0; n < 8; n++) largest = fmaxf(largest, partial[n]);
    __syncthreads();
    v = make_float4(__expf(v.x - largest), __expf(v.y - largest), __expf(v.z - largest), __expf(v.w - largest));
    float sum = v.x + v.y + v.z + v.w;
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned n = 0; n < 8; n++) sum += partial[n];
    y[i] = make_float4(__fdividef(v.x, sum), __fdividef(v.y, sum), __fdividef(v.z, sum), __fdividef(v.w, sum));
}
