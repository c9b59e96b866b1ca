extern "C" __global__ void __launch_bounds__(256) rival(const float *x, float *y) {
    __shared__ float a[16][16], b[16][16];
    unsigned column = threadIdx.x % 16, row = threadIdx.x / 16;
    unsigned left = (blockIdx.x / 64 * 16 + row) * 1024, top = blockIdx.x % 64 * 16 + column;
    float sum = 0;
    for (unsigned tile = 0; tile < 1024; tile += 16) {
        a[row][column] = x[left + tile + column];
        b[row][column] = x[(tile + row) * 1024 + top];
        __syncthreads();
        for (unsigned n = 0; n < 16; n++) sum = fmaf(a[row][n], b[n][column], sum);
        __syncthreads();
    }
    y[left + top] = sum;
}
