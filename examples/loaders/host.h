// What the loaders share: the data, its check, and reading a file.
#ifndef HOST_H
#define HOST_H

#include <stdio.h>
#include <stdlib.h>

#define GROUPS 4u
#define COUNT (GROUPS * 64u) /* reflection: workgroup_size */
#define BYTES (COUNT * sizeof(unsigned))

// Ends the program with a message unless `good`.
static inline void need(int good, const char *what) {
    if (!good) {
        fprintf(stderr, "failed: %s\n", what);
        exit(1);
    }
}

// The whole file with a zero behind it, and its size in bytes.
static inline char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    need(file != NULL, path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = (char *)calloc(*size + 4, 1);
    need(bytes != NULL && fread(bytes, 1, *size, file) == *size, path);
    fclose(file);
    return bytes;
}

static inline void fill(unsigned *x) {
    for (unsigned i = 0; i < COUNT; ++i) x[i] = i * i;
}

// Prints the sums of the first group; ends the program if one is wrong.
static inline void check(const unsigned *x, const unsigned *y) {
    for (unsigned i = 0; i < COUNT; ++i) {
        unsigned sum = 0;
        for (unsigned j = i / 8 * 8; j < i / 8 * 8 + 8; ++j) sum += x[j];
        need(y[i] == sum, "the sums");
    }
    for (unsigned i = 0; i < 64; i += 8) printf("%u ", y[i]);
    printf("\n");
}

#endif
