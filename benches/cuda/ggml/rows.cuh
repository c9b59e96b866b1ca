// Parts that kernels over the rows of a tensor of four dimensions share.

__device__ inline unsigned row_number() { return blockIdx.z * 262144 + blockIdx.y * 512 + blockIdx.x; }

// n / d, where d is given as its magic factor and shift.
__device__ inline unsigned quotient(unsigned n, unsigned factor, unsigned shift) {
    return (__umulhi(n, factor) + n) >> shift;
}

// Sizes and strides, the innermost dimension first.
struct Shape {
    unsigned size[4], stride[4];
};

// The divisors by the three inner volumes, outermost first; the shifts are bytes of one word.
struct Divisors {
    unsigned factor[3], shifts;
};

// The place in memory of element `n` of a tensor.
__device__ inline unsigned place(unsigned n, const Shape &shape, const Divisors &by) {
    const unsigned area = shape.size[1] * shape.size[0], volumes[3] = {shape.size[2] * area, area, shape.size[0]};
    unsigned at = 0;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        const unsigned q = quotient(n, by.factor[d], by.shifts >> 8 * d & 63);
        at += q * shape.stride[3 - d];
        n -= q * volumes[d];
    }
    return at + n * shape.stride[0];
}

// Combines what all threads of a block left in shared memory; the result is in the first place.
template <unsigned THREADS, typename T, typename F> __device__ inline void gather(T *all, F combine) {
    __syncthreads();
#pragma unroll
    for (unsigned s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) all[threadIdx.x] = combine(all[threadIdx.x], all[threadIdx.x + s]);
        __syncthreads();
    }
}
