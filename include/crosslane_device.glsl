// Scans over all invocations of a dispatch in one pass (Merrill and Garland's decoupled look-back), written for crosslane.
//
// Include the file after the `#version` line, and say at which binding (and set, if not 0) you bind a buffer for it:
//
//     #define CROSSLANE_DEVICE_BINDING 2
//     #include "crosslane_device.glsl"
//
//     void main() {
//         uint tile = deviceTile();
//         uint at = tile * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
//         sums[at] = deviceInclusiveAdd(values[at], tile);
//     }
//
// The workgroups scan the data in the order in which they start, so take the place of a workgroup's data from `deviceTile`, once, and
// not from `gl_WorkGroupID`. For S scans in a dispatch of W workgroups the buffer has 1 + 3 * S * W words of 32 bits; fill it with zeros
// before each dispatch. Number further scans of the dispatch: `deviceInclusiveMax(v, tile, 1u)`. Every invocation must reach each scan.
//
// `Add` can be `Mul`, `Min`, `Max`, and for integers `And`, `Or` and `Xor`; `Inclusive` can be `Exclusive`. Values are `uint`, `int` or
// `float`. Sums of floats differ in their last bits between runs.
//
// A workgroup waits for those that started before it. Profiles whose hardware does not promise that these go on running refuse
// GL_CROSSLANE_forward_progress.
#ifndef CROSSLANE_DEVICE_GLSL
#define CROSSLANE_DEVICE_GLSL
#extension GL_CROSSLANE_portable : require
#extension GL_CROSSLANE_forward_progress : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require

#ifndef CROSSLANE_DEVICE_SET
#define CROSSLANE_DEVICE_SET 0
#endif
layout(std430, set = CROSSLANE_DEVICE_SET, binding = CROSSLANE_DEVICE_BINDING) buffer crosslane_DeviceState {
    uint crosslane_state[];
};

// What a workgroup has published: its own reduction, or that of all workgroups up to it.
#define CROSSLANE_DEVICE_OWN 1u
#define CROSSLANE_DEVICE_ALL 2u

// The part of the data that the workgroup scans, numbered from 0.
uint deviceTile() {
    uint ticket = 0u;
    if (gl_LocalInvocationIndex == 0u) ticket = atomicAdd(crosslane_state[0], 1u);
    return workgroupBroadcast(ticket, 0u);
}

// The three words of a workgroup: what it has published, its own reduction, and the reduction up to it.
uint crosslane_place(uint tile, uint scan) {
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_NumWorkGroups.z;
    return 1u + 3u * (scan * groups + tile);
}

uint crosslane_read(uint at) { return atomicOr(crosslane_state[at], 0u); }

void crosslane_publish(uint place, uint status, uint bits) {
    atomicExchange(crosslane_state[place + status], bits);
    memoryBarrierBuffer();
    atomicExchange(crosslane_state[place], status);
}

// The reduction of all workgroups before this one, of which the last invocation knows the own reduction. Each lane of the last
// subgroup reads what one workgroup has published, and waits until there is something.
#define CROSSLANE_DEVICE_BEFORE(T, Op, all, combine, pack, unpack, identity) \
    T crosslane_before##Op(T own, uint tile, uint scan) { \
        T before = identity; \
        if (gl_SubgroupID == gl_NumSubgroups - 1u) { \
            uint lanes = subgroupBallotBitCount(subgroupBallot(true)); \
            bool is_last = gl_SubgroupInvocationID == lanes - 1u; \
            if (is_last) crosslane_publish(crosslane_place(tile, scan), CROSSLANE_DEVICE_OWN, pack(own)); \
            uint end = tile; \
            bool more = end > 0u; \
            while (more) { \
                bool exists = gl_SubgroupInvocationID < end; \
                uint place = crosslane_place(exists ? end - 1u - gl_SubgroupInvocationID : 0u, scan); \
                uint status = CROSSLANE_DEVICE_ALL; \
                do { \
                    if (exists) status = crosslane_read(place); \
                } while (subgroupAny(status == 0u)); \
                memoryBarrierBuffer(); \
                uvec4 ends = subgroupBallot(status == CROSSLANE_DEVICE_ALL); \
                more = ends == uvec4(0u); \
                uint stop = more ? lanes : subgroupBallotFindLSB(ends); \
                T value = identity; \
                if (exists && gl_SubgroupInvocationID <= stop) value = unpack(crosslane_read(place + status)); \
                before = combine(all(value), before); \
                end -= min(end, lanes); \
            } \
            if (is_last) crosslane_publish(crosslane_place(tile, scan), CROSSLANE_DEVICE_ALL, pack(combine(before, own))); \
        } \
        return workgroupBroadcast(before, (gl_NumSubgroups - 1u) * gl_SubgroupSize); \
    }

#define CROSSLANE_DEVICE_SCANS(T, Op, all, combine, pack, unpack, identity) \
    CROSSLANE_DEVICE_BEFORE(T, Op, all, combine, pack, unpack, identity) \
    T deviceInclusive##Op(T v, uint tile, uint scan) { \
        T inclusive = workgroupInclusive##Op(v); \
        return combine(crosslane_before##Op(inclusive, tile, scan), inclusive); \
    } \
    T deviceInclusive##Op(T v, uint tile) { return deviceInclusive##Op(v, tile, 0u); } \
    T deviceExclusive##Op(T v, uint tile, uint scan) { \
        T exclusive = workgroupExclusive##Op(v); \
        return combine(crosslane_before##Op(combine(exclusive, v), tile, scan), exclusive); \
    } \
    T deviceExclusive##Op(T v, uint tile) { return deviceExclusive##Op(v, tile, 0u); }

#define CROSSLANE_DEVICE_Add(a, b) ((a) + (b))
#define CROSSLANE_DEVICE_Mul(a, b) ((a) * (b))
#define CROSSLANE_DEVICE_And(a, b) ((a) & (b))
#define CROSSLANE_DEVICE_Or(a, b) ((a) | (b))
#define CROSSLANE_DEVICE_Xor(a, b) ((a) ^ (b))

CROSSLANE_DEVICE_SCANS(uint, Add, subgroupAdd, CROSSLANE_DEVICE_Add, uint, uint, 0u)
CROSSLANE_DEVICE_SCANS(uint, Mul, subgroupMul, CROSSLANE_DEVICE_Mul, uint, uint, 1u)
CROSSLANE_DEVICE_SCANS(uint, Min, subgroupMin, min, uint, uint, 0xffffffffu)
CROSSLANE_DEVICE_SCANS(uint, Max, subgroupMax, max, uint, uint, 0u)
CROSSLANE_DEVICE_SCANS(uint, And, subgroupAnd, CROSSLANE_DEVICE_And, uint, uint, 0xffffffffu)
CROSSLANE_DEVICE_SCANS(uint, Or, subgroupOr, CROSSLANE_DEVICE_Or, uint, uint, 0u)
CROSSLANE_DEVICE_SCANS(uint, Xor, subgroupXor, CROSSLANE_DEVICE_Xor, uint, uint, 0u)
CROSSLANE_DEVICE_SCANS(int, Add, subgroupAdd, CROSSLANE_DEVICE_Add, uint, int, 0)
CROSSLANE_DEVICE_SCANS(int, Mul, subgroupMul, CROSSLANE_DEVICE_Mul, uint, int, 1)
CROSSLANE_DEVICE_SCANS(int, Min, subgroupMin, min, uint, int, 0x7fffffff)
CROSSLANE_DEVICE_SCANS(int, Max, subgroupMax, max, uint, int, int(0x80000000u))
CROSSLANE_DEVICE_SCANS(int, And, subgroupAnd, CROSSLANE_DEVICE_And, uint, int, -1)
CROSSLANE_DEVICE_SCANS(int, Or, subgroupOr, CROSSLANE_DEVICE_Or, uint, int, 0)
CROSSLANE_DEVICE_SCANS(int, Xor, subgroupXor, CROSSLANE_DEVICE_Xor, uint, int, 0)
CROSSLANE_DEVICE_SCANS(float, Add, subgroupAdd, CROSSLANE_DEVICE_Add, floatBitsToUint, uintBitsToFloat, 0.0)
CROSSLANE_DEVICE_SCANS(float, Mul, subgroupMul, CROSSLANE_DEVICE_Mul, floatBitsToUint, uintBitsToFloat, 1.0)
CROSSLANE_DEVICE_SCANS(float, Min, subgroupMin, min, floatBitsToUint, uintBitsToFloat, uintBitsToFloat(0x7f800000u))
CROSSLANE_DEVICE_SCANS(float, Max, subgroupMax, max, floatBitsToUint, uintBitsToFloat, uintBitsToFloat(0xff800000u))
#endif
