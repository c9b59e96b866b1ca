// The parameters of kernels that sum rows up.

struct Push {
    unsigned columns, ne01, ne02, nb01, nb02, nb03, nb11, nb12, nb13;
    float weight;
    unsigned offsets, by_volume[2], by_rows[2];
};

// The places of the block's row and of its result.
__device__ inline uint2 seek(const Push &p) {
    const unsigned row = row_number();
    const unsigned i3 = quotient(row, p.by_volume[0], p.by_volume[1]), rest = row - i3 * p.ne01 * p.ne02;
    const unsigned i2 = quotient(rest, p.by_rows[0], p.by_rows[1]), i1 = rest - i2 * p.ne01;
    const unsigned from = (p.offsets >> 16) + i1 * p.nb01 + i2 * p.nb02 + i3 * p.nb03;
    return make_uint2(from, (p.offsets & 0xffff) + i1 * p.nb11 + i2 * p.nb12 + i3 * p.nb13);
}
