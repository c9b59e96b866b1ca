#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require

// A function of a value and a width, for each width that can be in its name and for the whole subgroup.
#define CROSSLANE_WIDTHS(T, name) \
    T name##2(T v) { return name(v, 2u); } \
    T name##4(T v) { return name(v, 4u); } \
    T name##8(T v) { return name(v, 8u); } \
    T name##16(T v) { return name(v, 16u); } \
    T name##32(T v) { return name(v, 32u); } \
    T name##64(T v) { return name(v, 64u); }
#define CROSSLANE_WIDTHS_AND_ALL(T, name) \
    T name(T v) { return name(v, gl_SubgroupSize); } \
    CROSSLANE_WIDTHS(T, name)

// ---- moves ----
#define CROSSLANE_QUAD_LANE(T, name, lane) T name(T v) { return subgroupQuadBroadcast(v, lane); }
#define CROSSLANE_QUAD_SWAP(T, name, axis) T name(T v) { return subgroupQuadSwap##axis(v); }
#define CROSSLANE_SWAP(T, name, mask) \
    T name(T v, uint width) { return subgroupShuffleXor(v, mask); } \
    CROSSLANE_WIDTHS(T, name)
#define CROSSLANE_WHOLE(T, name) T name(T v) { return name(v, gl_SubgroupSize); }
#define CROSSLANE_BPERMUTE(T, name) \
    T name(T v, uint index) { return subgroupShuffle(v, index & (gl_SubgroupSize - 1u)); }
#define CROSSLANE_PERMUTE(T, name) \
    T name(T v, uint index) { \
        T got = T(0); \
        uvec4 running = subgroupBallot(true); \
        for (uint j = 0u; j < gl_SubgroupSize; ++j) { \
            T pushed = subgroupShuffle(v, j); \
            uint to = subgroupShuffle(index, j) & (gl_SubgroupSize - 1u); \
            if (subgroupBallotBitExtract(running, j) && to == gl_SubgroupInvocationID) got = pushed; \
        } \
        return got; \
    }
#define CROSSLANE_BROADCAST(T, name) T name(T v, uint lane) { return subgroupShuffle(v, lane); }
#define CROSSLANE_BROADCAST_FIRST(T, name) T name(T v) { return subgroupBroadcastFirst(v); }

// ---- folds: the balanced tree over ascending distances ----
#define CROSSLANE_Add(a, b) ((a) + (b))
#define CROSSLANE_Mul(a, b) ((a) * (b))
#define CROSSLANE_Min(a, b) min(a, b)
#define CROSSLANE_Max(a, b) max(a, b)
#define CROSSLANE_And(a, b) ((a) & (b))
#define CROSSLANE_Or(a, b) ((a) | (b))
#define CROSSLANE_Xor(a, b) ((a) ^ (b))
#define CROSSLANE_REDUCE(T, name, op) \
    T name(T v, uint width) { \
        for (uint d = 1u; d < width; d <<= 1) v = CROSSLANE_##op(v, subgroupShuffleXor(v, d)); \
        return v; \
    } \
    CROSSLANE_WIDTHS_AND_ALL(T, name)

// ---- scans: steps of 1 to 8 inside sixteen lanes, then the last lane of each lower half to the upper half ----
#define CROSSLANE_SCAN(T, v, op, width, head) { \
        uint i = gl_SubgroupInvocationID; \
        uint row = min(width, 16u); \
        for (uint d = 1u; d < row; d <<= 1) { \
            T below = subgroupShuffle(v, (i - d) & (gl_SubgroupSize - 1u)); \
            if ((i & (row - 1u)) >= d && i - d >= head) v = CROSSLANE_##op(below, v); \
        } \
        for (uint d = 16u; d < width; d <<= 1) { \
            uint source = (i & ~(2u * d - 1u)) + d - 1u; \
            T below = subgroupShuffle(v, source); \
            if ((i & d) != 0u && source >= head) v = CROSSLANE_##op(below, v); \
        } \
    }
#define CROSSLANE_INCLUSIVE(T, name, op) \
    T name(T v, uint width) { \
        CROSSLANE_SCAN(T, v, op, width, 0u) \
        return v; \
    } \
    CROSSLANE_WIDTHS_AND_ALL(T, name)
#define CROSSLANE_EXCLUSIVE(T, name, op, identity) \
    T name(T v, uint width) { \
        CROSSLANE_SCAN(T, v, op, width, 0u) \
        uint i = gl_SubgroupInvocationID; \
        T below = subgroupShuffle(v, (i - 1u) & (gl_SubgroupSize - 1u)); \
        return (i & (width - 1u)) == 0u ? T(identity) : below; \
    } \
    CROSSLANE_WIDTHS_AND_ALL(T, name)
// Bools as the words 0 and 1.
#define CROSSLANE_OF_BOOLS(T, U, name) \
    T name(T v, uint width) { return T(name(U(v), width)); } \
    CROSSLANE_WIDTHS_AND_ALL(T, name)

// The nearest lane at or below this one that has a head, or the segment's first.
uint crosslane_nearest(bool head, uint width) {
    uint nearest = head ? gl_SubgroupInvocationID : gl_SubgroupInvocationID & ~(width - 1u);
    CROSSLANE_SCAN(uint, nearest, Max, width, 0u)
    return nearest;
}
#define CROSSLANE_SEGMENTED_OF(T, name, width) \
    T name##width(T v, bool head) { return name(v, head, uint(width)); }
#define CROSSLANE_SEGMENTED(T, name, op) \
    T name(T v, bool head, uint width) { \
        uint nearest = crosslane_nearest(head, width); \
        CROSSLANE_SCAN(T, v, op, width, nearest) \
        return v; \
    } \
    T name(T v, bool head) { return name(v, head, gl_SubgroupSize); } \
    CROSSLANE_SEGMENTED_OF(T, name, 2) CROSSLANE_SEGMENTED_OF(T, name, 4) CROSSLANE_SEGMENTED_OF(T, name, 8) \
    CROSSLANE_SEGMENTED_OF(T, name, 16) CROSSLANE_SEGMENTED_OF(T, name, 32) CROSSLANE_SEGMENTED_OF(T, name, 64)

// ---- sorting: each lane counts the pairs of its segment that come before its own. NaN comes last ----
bool crosslane_less(float a, float b) { return a < b || !isnan(a) && isnan(b); }
bool crosslane_same(float a, float b) { return a == b || isnan(a) && isnan(b); }
bool crosslane_less(int a, int b) { return a < b; }
bool crosslane_same(int a, int b) { return a == b; }
bool crosslane_less(uint a, uint b) { return a < b; }
bool crosslane_same(uint a, uint b) { return a == b; }
bool crosslane_less(bool a, bool b) { return !a && b; }
bool crosslane_same(bool a, bool b) { return a == b; }
#ifdef CROSSLANE_DOUBLES
bool crosslane_less(double a, double b) { return a < b || !isnan(a) && isnan(b); }
bool crosslane_same(double a, double b) { return a == b || isnan(a) && isnan(b); }
#endif
#define CROSSLANE_SORT_OF(K, V, name, width) \
    void name##width(inout K key, inout V value) { name(key, value, uint(width)); }
#define CROSSLANE_SORT_PAIRS(K, V, name) \
    void name(inout K key, inout V value, uint width) { \
        uint first = gl_SubgroupInvocationID & ~(width - 1u); \
        uint rank = 0u; \
        for (uint j = first; j < first + width; ++j) { \
            K k = subgroupShuffle(key, j); \
            V v = subgroupShuffle(value, j); \
            bool earlier = crosslane_less(v, value) || crosslane_same(v, value) && j < gl_SubgroupInvocationID; \
            if (crosslane_less(k, key) || crosslane_same(k, key) && earlier) ++rank; \
        } \
        K sorted = key; \
        V beside = value; \
        for (uint j = first; j < first + width; ++j) { \
            K k = subgroupShuffle(key, j); \
            V v = subgroupShuffle(value, j); \
            if (subgroupShuffle(rank, j) + first == gl_SubgroupInvocationID) { sorted = k; beside = v; } \
        } \
        key = sorted; \
        value = beside; \
    } \
    void name(inout K key, inout V value) { name(key, value, gl_SubgroupSize); } \
    CROSSLANE_SORT_OF(K, V, name, 2) CROSSLANE_SORT_OF(K, V, name, 4) CROSSLANE_SORT_OF(K, V, name, 8) \
    CROSSLANE_SORT_OF(K, V, name, 16) CROSSLANE_SORT_OF(K, V, name, 32) CROSSLANE_SORT_OF(K, V, name, 64)
// There is no `bitonicSort(key, W)`: GLSL cannot tell it from a sort with a value beside.
#define CROSSLANE_SORT_KEYS_OF(K, name, width) \
    void name##width(inout K key) { uint value = 0u; name(key, value, uint(width)); }
#define CROSSLANE_SORT_KEYS(K, name) \
    void name(inout K key) { uint value = 0u; name(key, value, gl_SubgroupSize); } \
    CROSSLANE_SORT_KEYS_OF(K, name, 2) CROSSLANE_SORT_KEYS_OF(K, name, 4) CROSSLANE_SORT_KEYS_OF(K, name, 8) \
    CROSSLANE_SORT_KEYS_OF(K, name, 16) CROSSLANE_SORT_KEYS_OF(K, name, 32) CROSSLANE_SORT_KEYS_OF(K, name, 64)

// ---- votes, ballots and facts ----
#define CROSSLANE_QUAD_VOTE(name, op) bool name(bool p) { return subgroupClustered##op(p, 4u); }
#define CROSSLANE_BALLOT(name) uvec4 name(bool p) { return subgroupBallot(p); }
#define CROSSLANE_FACT(name, fact) uint name() { return fact; }
#define CROSSLANE_LAST(name) \
    bool name(uint width) { return (gl_SubgroupInvocationID & (width - 1u)) == width - 1u; } \
    bool name() { return name(gl_SubgroupSize); } \
    bool name##2() { return name(2u); } \
    bool name##4() { return name(4u); } \
    bool name##8() { return name(8u); } \
    bool name##16() { return name(16u); } \
    bool name##32() { return name(32u); } \
    bool name##64() { return name(64u); }

// ---- the workgroup: invocations exchange values in shared memory ----
#ifdef CROSSLANE_WORKGROUP
shared uint crosslane_cells[4][CROSSLANE_WORKGROUP];
uint crosslane_number() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }
#define CROSSLANE_CELL(T, to, from) \
    void crosslane_put(uint column, T v) { crosslane_cells[column][crosslane_number()] = to(v); } \
    void crosslane_get(uint column, uint j, out T v) { v = from(crosslane_cells[column][j]); }
#define CROSSLANE_CELLS(T, S, size) \
    void crosslane_put(uint column, T v) { for (uint n = 0u; n < size; ++n) crosslane_put(column + n, v[n]); } \
    void crosslane_get(uint column, uint j, out T v) { \
        for (uint n = 0u; n < size; ++n) { S s; crosslane_get(column + n, j, s); v[n] = s; } \
    }
// The value of invocation j.
#define CROSSLANE_AT(T) \
    T crosslane_at(T v, uint j) { \
        T got; \
        crosslane_put(0u, v); \
        barrier(); \
        crosslane_get(0u, j, got); \
        barrier(); \
        return got; \
    }
#define CROSSLANE_EXCHANGE(S, V, to, from) \
    CROSSLANE_CELL(S, to, from) CROSSLANE_CELLS(V##2, S, 2u) CROSSLANE_CELLS(V##3, S, 3u) CROSSLANE_CELLS(V##4, S, 4u) \
    CROSSLANE_AT(S) CROSSLANE_AT(V##2) CROSSLANE_AT(V##3) CROSSLANE_AT(V##4)
CROSSLANE_EXCHANGE(uint, uvec, uint, uint)
CROSSLANE_EXCHANGE(int, ivec, uint, int)
CROSSLANE_EXCHANGE(float, vec, floatBitsToUint, uintBitsToFloat)
CROSSLANE_EXCHANGE(bool, bvec, uint, bool)

#define CROSSLANE_WORKGROUP_REDUCE(T, name, op) \
    T name(T v) { \
        uint i = crosslane_number(); \
        for (uint d = 1u; d < CROSSLANE_WORKGROUP; d <<= 1) { \
            uint block = (i / d ^ 1u) * d; \
            bool exists = block < CROSSLANE_WORKGROUP; \
            T other = crosslane_at(v, exists ? block : i); \
            if (exists) v = CROSSLANE_##op(v, other); \
        } \
        return v; \
    }
CROSSLANE_WORKGROUP_REDUCE(uint, crosslane_all, And)
CROSSLANE_WORKGROUP_REDUCE(uint, crosslane_any, Or)
#define CROSSLANE_WORKGROUP_STEPS(T, v, op, head) { \
        uint i = crosslane_number(); \
        for (uint d = 1u; d < CROSSLANE_WORKGROUP; d <<= 1) { \
            bool takes = d < 16u ? (i & 15u) >= d : (i & d) != 0u; \
            uint source = d < 16u ? i - d : (i & ~(2u * d - 1u)) + d - 1u; \
            T below = crosslane_at(v, takes ? source : i); \
            if (takes && source >= head) v = CROSSLANE_##op(below, v); \
        } \
    }
#define CROSSLANE_WORKGROUP_INCLUSIVE(T, name, op) \
    T name(T v) { \
        CROSSLANE_WORKGROUP_STEPS(T, v, op, 0u) \
        return v; \
    }
#define CROSSLANE_WORKGROUP_EXCLUSIVE(T, name, op, identity) \
    T name(T v) { \
        CROSSLANE_WORKGROUP_STEPS(T, v, op, 0u) \
        uint i = crosslane_number(); \
        T below = crosslane_at(v, max(i, 1u) - 1u); \
        return i == 0u ? T(identity) : below; \
    }
#define CROSSLANE_WORKGROUP_OF_BOOLS(T, U, name) T name(T v) { return T(name(U(v))); }
uint crosslane_nearest(bool head) {
    uint nearest = head ? crosslane_number() : 0u;
    CROSSLANE_WORKGROUP_STEPS(uint, nearest, Max, 0u)
    return nearest;
}
#define CROSSLANE_WORKGROUP_SEGMENTED(T, name, op) \
    T name(T v, bool head) { \
        uint nearest = crosslane_nearest(head); \
        CROSSLANE_WORKGROUP_STEPS(T, v, op, nearest) \
        return v; \
    }
#define CROSSLANE_WORKGROUP_SORT_PAIRS(K, V, name) \
    void name(inout K key, inout V value) { \
        uint i = crosslane_number(), rank = 0u; \
        crosslane_put(0u, key); \
        crosslane_put(1u, value); \
        barrier(); \
        for (uint j = 0u; j < CROSSLANE_WORKGROUP; ++j) { \
            K k; \
            V v; \
            crosslane_get(0u, j, k); \
            crosslane_get(1u, j, v); \
            bool earlier = crosslane_less(v, value) || crosslane_same(v, value) && j < i; \
            if (crosslane_less(k, key) || crosslane_same(k, key) && earlier) ++rank; \
        } \
        crosslane_cells[2][rank] = i; \
        barrier(); \
        uint from = crosslane_cells[2][i]; \
        crosslane_get(0u, from, key); \
        crosslane_get(1u, from, value); \
        barrier(); \
    }
#define CROSSLANE_WORKGROUP_SORT_KEYS(K, name) void name(inout K key) { uint value = 0u; name(key, value); }
#define CROSSLANE_WORKGROUP_BROADCAST(T, name) T name(T v, uint index) { return crosslane_at(v, index); }
#define CROSSLANE_WORKGROUP_EQUAL(T, name) \
    bool name(T v) { \
        uint same = uint(v == crosslane_at(v, 0u)); \
        return crosslane_all(same) != 0u; \
    }
#define CROSSLANE_WORKGROUP_VOTE(name, of) bool name(bool p) { return of(uint(p)) != 0u; }
#define CROSSLANE_WORKGROUP_LAST(name) bool name() { return crosslane_number() == CROSSLANE_WORKGROUP - 1u; }
#endif
