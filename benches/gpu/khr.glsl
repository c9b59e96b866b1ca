// The operations of the kernels here in the words of Khronos, for compilers that know only those. It follows the line of the
// version; lines that ask for extensions of crosslane are left out.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_vote : require
#define allReduceAdd subgroupAdd
#define allReduceMax subgroupMax
#define allReduceMin subgroupMin
#define allReduceAdd8(v) subgroupClusteredAdd(v, 8)
#define allReduceAdd16(v) subgroupClusteredAdd(v, 16)
#define inclusiveAdd subgroupInclusiveAdd
#define exclusiveAdd subgroupExclusiveAdd
#define exclusiveXor subgroupExclusiveXor
#define butterfly2(v) subgroupShuffleXor(v, 1u)
#define butterfly4(v) subgroupShuffleXor(v, 2u)
#define butterfly8(v) subgroupShuffleXor(v, 4u)
#define butterfly16(v) subgroupShuffleXor(v, 8u)
#define butterfly32(v) subgroupShuffleXor(v, 16u)

// Sorts the 32 keys of a subgroup.
void bitonicSort32(inout uint key) {
    uint lane = gl_SubgroupInvocationID;
    for (uint size = 2u; size <= 32u; size *= 2u) {
        for (uint apart = size / 2u; apart > 0u; apart /= 2u) {
            uint other = subgroupShuffleXor(key, apart);
            bool takesLess = ((lane & apart) == 0u) == ((lane & size) == 0u);
            key = takesLess ? min(key, other) : max(key, other);
        }
    }
}

// Sorts the 32 pairs of a subgroup, by their keys and then by their values.
void bitonicSort32(inout uint key, inout uint value) {
    uint lane = gl_SubgroupInvocationID;
    for (uint size = 2u; size <= 32u; size *= 2u) {
        for (uint apart = size / 2u; apart > 0u; apart /= 2u) {
            uint otherKey = subgroupShuffleXor(key, apart);
            uint otherValue = subgroupShuffleXor(value, apart);
            bool isLess = otherKey < key || (otherKey == key && otherValue < value);
            bool takesLess = ((lane & apart) == 0u) == ((lane & size) == 0u);
            if (isLess == takesLess) {
                key = otherKey;
                value = otherValue;
            }
        }
    }
}
