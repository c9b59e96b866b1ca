// The parameters of kernels with one operand.

struct Push {
    unsigned count;
    Shape from, to;
    unsigned offsets;
    float param[4];
    Divisors by_from, by_to;
};
