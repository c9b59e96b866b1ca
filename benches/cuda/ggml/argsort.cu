struct Push {
    unsigned columns, padded, padded_log2, rows, descends, ranges[4];
};

// Sorts a row of at most 1024 values by the places in it.
template <bool IS_PARTIAL> __device__ void sort(const float *x, int *y, unsigned row, const Push &p) {
    __shared__ int2 pairs[1024];
    const unsigned column = threadIdx.x;
    pairs[column] = make_int2(column, __float_as_int(x[row * p.columns + column]));
    __syncthreads();
#pragma unroll
    for (unsigned k = 2; k <= 1024; k *= 2) {
#pragma unroll
        for (unsigned j = k / 2; j > 0; j /= 2) {
            const unsigned other = column ^ j;
            const bool ascends = (column & k) == 0;
            const unsigned low = ascends ? column : other, high = ascends ? other : column;
            const int2 a = pairs[low], b = pairs[high];
            const bool is_a_outside = IS_PARTIAL && a.x >= p.columns, is_b_outside = IS_PARTIAL && b.x >= p.columns;
            const bool is_more = !is_b_outside && __int_as_float(a.y) > __int_as_float(b.y);
            if ((is_a_outside || is_more) && other > column) {
                pairs[low] = b;
                pairs[high] = a;
            }
            __syncthreads();
        }
    }
    if (column < p.columns) y[row * p.columns + (p.descends ? p.columns - column - 1 : column)] = pairs[column].x;
}

extern "C" __global__ void __launch_bounds__(1024) rival(const float *x, int *y, const Push p) {
    for (unsigned row = blockIdx.y; row < p.rows; row += gridDim.y) {
        if (p.columns == 1024) sort<false>(x, y, row, p);
        else sort<true>(x, y, row, p);
    }
}
