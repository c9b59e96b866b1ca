#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require

layout(local_size_x = 256) in;

layout(std430, set = 0, binding = 0) buffer B {
    uint x[];
};
layout(std430, set = 0, binding = 1) buffer F {
    float y[];
};
shared uint segments[128];

uint broadcast_in_workgroup(uint value, uint other, uint area) {
    if (gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID == other) {
        segments[area] = value;
    }
    barrier();
    return segments[area];
}

uint all_reduce_max_128(uint value, uint area) {
    if (gl_SubgroupSize >= 32u) {
        // reduce.max<32>: native reduction of segments
        uint moved = subgroupClusteredMax(value, 32u);
        uint t = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
        uint t_1 = t >> 5u;
        if ((t & 31u) == 31u) {
            segments[area + t_1] = moved;
        }
        barrier();
        uint t_2 = (t >> 5u) & 4294967292u;
        uint t_3 = t_2 + 2u;
        uint t_4 = max(max(segments[area + t_2], segments[area + (t_2 + 1u)]), max(segments[area + t_3], segments[area + (t_3 + 1u)]));
        return t_4;
    }
    // reduce.max<4>: native reduction of segments
    uint moved_1 = subgroupClusteredMax(value, 4u);
    uint t_5 = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint t_6 = t_5 >> 2u;
    if ((t_5 & 3u) == 3u) {
        segments[area + t_6] = moved_1;
    }
    barrier();
    uint t_7 = ((t_5 >> 2u) & 4294967264u) + ((t_5 & 3u) << 3u);
    uint t_8 = t_7 + 4u;
    uint t_9 = t_7 + 2u;
    uint t_10 = max(max(segments[area + t_7], segments[area + (t_7 + 1u)]), max(segments[area + t_9], segments[area + (t_9 + 1u)]));
    uint t_11 = t_8 + 2u;
    uint t_12 = max(max(segments[area + t_8], segments[area + (t_8 + 1u)]), max(segments[area + t_11], segments[area + (t_11 + 1u)]));
    // all_reduce.max<4>: native reduction of segments
    uint moved_2 = subgroupClusteredMax(max(t_10, t_12), 4u);
    return moved_2;
}

uint all_reduce_add_256(uint value, uint area) {
    if (gl_SubgroupSize >= 32u) {
        // reduce.add<32>: native reduction of segments
        uint moved = subgroupClusteredAdd(value, 32u);
        uint t = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
        uint t_1 = t >> 5u;
        if ((t & 31u) == 31u) {
            segments[area + t_1] = moved;
        }
        barrier();
        // all_reduce.add<8>: native reduction of segments
        uint moved_1 = subgroupClusteredAdd(segments[area + (((t >> 5u) & 4294967288u) + (t & 7u))], 8u);
        return moved_1;
    }
    // reduce.add<4>: native reduction of segments
    uint moved_2 = subgroupClusteredAdd(value, 4u);
    uint t_2 = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint t_3 = t_2 >> 2u;
    if ((t_2 & 3u) == 3u) {
        segments[area + t_3] = moved_2;
    }
    barrier();
    uint t_4 = ((t_2 >> 2u) & 4294967232u) + ((t_2 & 3u) << 4u);
    uint t_5 = t_4 + 8u;
    uint t_6 = t_4 + 4u;
    uint t_7 = t_4 + 2u;
    uint t_8 = segments[area + t_4] + segments[area + (t_4 + 1u)] + (segments[area + t_7] + segments[area + (t_7 + 1u)]);
    uint t_9 = t_6 + 2u;
    uint t_10 = segments[area + t_6] + segments[area + (t_6 + 1u)] + (segments[area + t_9] + segments[area + (t_9 + 1u)]);
    uint t_11 = t_5 + 4u;
    uint t_12 = t_5 + 2u;
    uint t_13 = segments[area + t_5] + segments[area + (t_5 + 1u)] + (segments[area + t_12] + segments[area + (t_12 + 1u)]);
    uint t_14 = t_11 + 2u;
    uint t_15 = segments[area + t_11] + segments[area + (t_11 + 1u)] + (segments[area + t_14] + segments[area + (t_14 + 1u)]);
    // all_reduce.add<4>: native reduction of segments
    uint moved_3 = subgroupClusteredAdd(t_8 + t_10 + (t_13 + t_15), 4u);
    return moved_3;
}

bool vote_any_256(bool value, uint area) {
    if (gl_SubgroupSize >= 32u) {
        // vote.any<32>: logical reduction of segments
        bool moved = subgroupClusteredOr(value, 32u);
        uint t = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
        uint t_1 = t >> 5u;
        if ((t & 31u) == 31u) {
            segments[area + t_1] = uint(moved);
        }
        barrier();
        // vote.any<8>: logical reduction of segments
        bool moved_1 = subgroupClusteredOr(bool(segments[area + (((t >> 5u) & 4294967288u) + (t & 7u))]), 8u);
        return moved_1;
    }
    // vote.any<4>: logical reduction of segments
    bool moved_2 = subgroupClusteredOr(value, 4u);
    uint t_2 = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint t_3 = t_2 >> 2u;
    if ((t_2 & 3u) == 3u) {
        segments[area + t_3] = uint(moved_2);
    }
    barrier();
    uint t_4 = ((t_2 >> 2u) & 4294967232u) + ((t_2 & 3u) << 4u);
    uint t_5 = t_4 + 8u;
    uint t_6 = t_4 + 4u;
    uint t_7 = t_4 + 2u;
    bool t_8 = bool(segments[area + t_4]) || bool(segments[area + (t_4 + 1u)]) || (bool(segments[area + t_7]) || bool(segments[area + (t_7 + 1u)]));
    uint t_9 = t_6 + 2u;
    bool t_10 = bool(segments[area + t_6]) || bool(segments[area + (t_6 + 1u)]) || (bool(segments[area + t_9]) || bool(segments[area + (t_9 + 1u)]));
    uint t_11 = t_5 + 4u;
    uint t_12 = t_5 + 2u;
    bool t_13 = bool(segments[area + t_5]) || bool(segments[area + (t_5 + 1u)]) || (bool(segments[area + t_12]) || bool(segments[area + (t_12 + 1u)]));
    uint t_14 = t_11 + 2u;
    bool t_15 = bool(segments[area + t_11]) || bool(segments[area + (t_11 + 1u)]) || (bool(segments[area + t_14]) || bool(segments[area + (t_14 + 1u)]));
    // vote.any<4>: logical reduction of segments
    bool moved_3 = subgroupClusteredOr(t_8 || t_10 || (t_13 || t_15), 4u);
    return moved_3;
}

float exclusive_add_256(float value, uint area) {
    uint lane = gl_SubgroupInvocationID & 15u;
    bool test = lane >= 1u;
    bool test_1 = lane >= 2u;
    bool test_2 = lane >= 4u;
    bool test_3 = lane >= 8u;
    uint lane_1 = gl_SubgroupInvocationID & 4294967264u;
    uint lane_2 = lane_1 | 15u;
    uint lane_3 = gl_SubgroupInvocationID & 16u;
    bool test_4 = lane_3 != 0u;
    uint lane_4 = gl_SubgroupInvocationID & 31u;
    bool test_5 = lane_4 == 0u;
    uint lane_5 = gl_SubgroupInvocationID & 7u;
    bool test_6 = lane_5 >= 1u;
    bool test_7 = lane_5 >= 2u;
    bool test_8 = lane_5 >= 4u;
    uint lane_6 = gl_SubgroupInvocationID & 3u;
    bool test_9 = lane_6 >= 1u;
    bool test_10 = lane_6 >= 2u;
    bool test_11 = lane_6 == 0u;
    if (gl_SubgroupSize >= 32u) {
        // exclusive.add<32>: scan by shuffles
        float moved = subgroupShuffleUp(value, 1u);
        float moved_1 = moved + value;
        float moved_2 = test ? moved_1 : value;
        float moved_3 = subgroupShuffleUp(moved_2, 2u);
        float moved_4 = moved_3 + moved_2;
        float moved_5 = test_1 ? moved_4 : moved_2;
        float moved_6 = subgroupShuffleUp(moved_5, 4u);
        float moved_7 = moved_6 + moved_5;
        float moved_8 = test_2 ? moved_7 : moved_5;
        float moved_9 = subgroupShuffleUp(moved_8, 8u);
        float moved_10 = moved_9 + moved_8;
        float moved_11 = test_3 ? moved_10 : moved_8;
        float moved_12 = subgroupShuffle(moved_11, lane_2);
        float moved_13 = moved_12 + moved_11;
        float moved_14 = test_4 ? moved_13 : moved_11;
        float moved_15 = subgroupShuffleUp(moved_14, 1u);
        float moved_16 = test_5 ? 0.0 : moved_15;
        // inclusive.add<32>: scan by shuffles
        float moved_17 = subgroupShuffleUp(value, 1u);
        float moved_18 = moved_17 + value;
        float moved_19 = test ? moved_18 : value;
        float moved_20 = subgroupShuffleUp(moved_19, 2u);
        float moved_21 = moved_20 + moved_19;
        float moved_22 = test_1 ? moved_21 : moved_19;
        float moved_23 = subgroupShuffleUp(moved_22, 4u);
        float moved_24 = moved_23 + moved_22;
        float moved_25 = test_2 ? moved_24 : moved_22;
        float moved_26 = subgroupShuffleUp(moved_25, 8u);
        float moved_27 = moved_26 + moved_25;
        float moved_28 = test_3 ? moved_27 : moved_25;
        float moved_29 = subgroupShuffle(moved_28, lane_2);
        float moved_30 = moved_29 + moved_28;
        float moved_31 = test_4 ? moved_30 : moved_28;
        uint t = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
        uint t_1 = t >> 5u;
        if ((t & 31u) == 31u) {
            segments[area + t_1] = floatBitsToUint(moved_31);
        }
        barrier();
        uint t_2 = (t >> 5u) & 7u;
        // inclusive.add<8>: scan by shuffles
        float own = uintBitsToFloat(segments[area + (((t >> 5u) & 4294967288u) + (t & 7u))]);
        float moved_32 = subgroupShuffleUp(own, 1u);
        float moved_33 = moved_32 + own;
        float moved_34 = test_6 ? moved_33 : own;
        float moved_35 = subgroupShuffleUp(moved_34, 2u);
        float moved_36 = moved_35 + moved_34;
        float moved_37 = test_7 ? moved_36 : moved_34;
        float moved_38 = subgroupShuffleUp(moved_37, 4u);
        float moved_39 = moved_38 + moved_37;
        float moved_40 = test_8 ? moved_39 : moved_37;
        // shuffle.index: shuffle
        float moved_41 = subgroupShuffle(moved_40, (gl_SubgroupInvocationID & 4294967288u) + ((t_2 - 1u) & 7u));
        return t_2 != 0u ? ((t & 31u) != 0u ? moved_41 + moved_16 : moved_41) : moved_16;
    }
    // exclusive.add<4>: scan by shuffles
    float moved_42 = subgroupShuffleUp(value, 1u);
    float moved_43 = moved_42 + value;
    float moved_44 = test_9 ? moved_43 : value;
    float moved_45 = subgroupShuffleUp(moved_44, 2u);
    float moved_46 = moved_45 + moved_44;
    float moved_47 = test_10 ? moved_46 : moved_44;
    float moved_48 = subgroupShuffleUp(moved_47, 1u);
    float moved_49 = test_11 ? 0.0 : moved_48;
    // inclusive.add<4>: scan by shuffles
    float moved_50 = subgroupShuffleUp(value, 1u);
    float moved_51 = moved_50 + value;
    float moved_52 = test_9 ? moved_51 : value;
    float moved_53 = subgroupShuffleUp(moved_52, 2u);
    float moved_54 = moved_53 + moved_52;
    float moved_55 = test_10 ? moved_54 : moved_52;
    uint t_3 = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint t_4 = t_3 >> 2u;
    if ((t_3 & 3u) == 3u) {
        segments[area + t_4] = floatBitsToUint(moved_55);
    }
    barrier();
    bool t_5 = (t_3 & 3u) != 0u;
    uint t_6 = t_3 >> 2u;
    bool t_7 = (t_6 & 1u) != 0u;
    float t_8 = uintBitsToFloat(segments[area + (t_6 & 4294967294u)]);
    bool t_9 = t_5 || t_7;
    float t_10 = t_7 ? (t_5 ? t_8 + moved_49 : t_8) : moved_49;
    bool t_11 = (t_6 & 2u) != 0u;
    uint t_12 = t_6 & 4294967292u;
    float t_13 = uintBitsToFloat(segments[area + t_12]) + uintBitsToFloat(segments[area + (t_12 + 1u)]);
    bool t_14 = t_9 || t_11;
    float t_15 = t_11 ? (t_9 ? t_13 + t_10 : t_13) : t_10;
    bool t_16 = (t_6 & 4u) != 0u;
    uint t_17 = t_6 & 4294967288u;
    uint t_18 = t_17 + 2u;
    float t_19 = uintBitsToFloat(segments[area + t_17]) + uintBitsToFloat(segments[area + (t_17 + 1u)]) + (uintBitsToFloat(segments[area + t_18]) + uintBitsToFloat(segments[area + (t_18 + 1u)]));
    bool t_20 = t_14 || t_16;
    float t_21 = t_16 ? (t_14 ? t_19 + t_15 : t_19) : t_15;
    bool t_22 = (t_6 & 8u) != 0u;
    uint t_23 = t_6 & 4294967280u;
    uint t_24 = t_23 + 4u;
    uint t_25 = t_23 + 2u;
    float t_26 = uintBitsToFloat(segments[area + t_23]) + uintBitsToFloat(segments[area + (t_23 + 1u)]) + (uintBitsToFloat(segments[area + t_25]) + uintBitsToFloat(segments[area + (t_25 + 1u)]));
    uint t_27 = t_24 + 2u;
    float t_28 = uintBitsToFloat(segments[area + t_24]) + uintBitsToFloat(segments[area + (t_24 + 1u)]) + (uintBitsToFloat(segments[area + t_27]) + uintBitsToFloat(segments[area + (t_27 + 1u)]));
    float t_29 = t_26 + t_28;
    float t_30 = t_22 ? (t_20 ? t_29 + t_21 : t_29) : t_21;
    uint t_31 = (t_3 >> 2u >> 4u) & 3u;
    uint t_32 = ((t_3 >> 2u) & 4294967232u) + ((t_3 & 3u) << 4u);
    uint t_33 = t_32 + 8u;
    uint t_34 = t_32 + 4u;
    uint t_35 = t_32 + 2u;
    float t_36 = uintBitsToFloat(segments[area + t_32]) + uintBitsToFloat(segments[area + (t_32 + 1u)]) + (uintBitsToFloat(segments[area + t_35]) + uintBitsToFloat(segments[area + (t_35 + 1u)]));
    uint t_37 = t_34 + 2u;
    float t_38 = uintBitsToFloat(segments[area + t_34]) + uintBitsToFloat(segments[area + (t_34 + 1u)]) + (uintBitsToFloat(segments[area + t_37]) + uintBitsToFloat(segments[area + (t_37 + 1u)]));
    uint t_39 = t_33 + 4u;
    uint t_40 = t_33 + 2u;
    float t_41 = uintBitsToFloat(segments[area + t_33]) + uintBitsToFloat(segments[area + (t_33 + 1u)]) + (uintBitsToFloat(segments[area + t_40]) + uintBitsToFloat(segments[area + (t_40 + 1u)]));
    uint t_42 = t_39 + 2u;
    float t_43 = uintBitsToFloat(segments[area + t_39]) + uintBitsToFloat(segments[area + (t_39 + 1u)]) + (uintBitsToFloat(segments[area + t_42]) + uintBitsToFloat(segments[area + (t_42 + 1u)]));
    // inclusive.add<4>: scan by shuffles
    float own_1 = t_36 + t_38 + (t_41 + t_43);
    float moved_56 = subgroupShuffleUp(own_1, 1u);
    float moved_57 = moved_56 + own_1;
    float moved_58 = test_9 ? moved_57 : own_1;
    float moved_59 = subgroupShuffleUp(moved_58, 2u);
    float moved_60 = moved_59 + moved_58;
    float moved_61 = test_10 ? moved_60 : moved_58;
    // shuffle.index: shuffle
    float moved_62 = subgroupShuffle(moved_61, (gl_SubgroupInvocationID & 4294967292u) + ((t_31 - 1u) & 3u));
    return t_31 != 0u ? (t_20 || t_22 ? moved_62 + t_30 : moved_62) : t_30;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint sum = all_reduce_add_256(x[i], 0u);
    float before = exclusive_add_256(y[i], 64u);
    bool vote_any_256_result = vote_any_256(sum > 5u, 0u);
    if (vote_any_256_result) {
        uint all_reduce_add_256_result = all_reduce_add_256(uint(x[i] > 3u), 64u);
        sum += all_reduce_add_256_result;
    }
    uint i_1 = i;
    uint sum_1 = sum;
    uint t = x[i];
    barrier();
    uint all_reduce_max_128_result = all_reduce_max_128(t, 0u);
    uint broadcast_in_workgroup_result = broadcast_in_workgroup(x[i], 17u, 64u);
    x[i_1] = sum_1 + all_reduce_max_128_result + broadcast_in_workgroup_result;
    y[i] = before;
}
