#version 450
#extension GL_CROSSLANE_portable : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_NV_shader_thread_shuffle : require

// One tile of a particle system: sorts particles into cells, sums what each cell weighs, and moves them on.

#ifndef TILE
#define TILE 256
#endif
#define CELLS (TILE / 4)

layout(local_size_x = TILE) in;
layout(constant_id = 1) const uint STEPS = 4u;

struct Particle {
    vec4 position;   // w: mass
    vec4 velocity;   // w: age in seconds
};

layout(std430, set = 0, binding = 0) readonly buffer Source { Particle particles[]; } source;
layout(std430, set = 0, binding = 1) writeonly buffer Target { Particle particles[]; } target;
layout(std430, set = 0, binding = 2) buffer Histogram { uint counts[]; };
layout(std140, set = 0, binding = 3) uniform Field {
    mat4 transform;
    vec4 attractors[4];
    float damping;
    float delta;
} field;

layout(push_constant) uniform Push {
    uint count;
    uint first;
    float threshold;
} push;

shared float tileMass[CELLS];
shared uint tileCount[CELLS];
shared vec4 tileCenter[CELLS];

uint cellOf(vec3 position) {
    ivec3 cell = ivec3(floor(position * 0.25));
    uint hash = uint(cell.x * 73856093 ^ cell.y * 19349663 ^ cell.z * 83492791);
    return hash % CELLS;
}

vec3 pull(vec3 position) {
    vec3 sum = vec3(0.0);
    for (int i = 0; i < 4; ++i) {
        vec3 way = field.attractors[i].xyz - position;
        float square = dot(way, way) + 0.01;
        if (square > 1.0e6)
            continue;
        sum += way * (field.attractors[i].w * inversesqrt(square) / square);
    }
    return sum;
}

bool advance(inout Particle particle, float delta, out float energy) {
    particle.velocity.xyz += pull(particle.position.xyz) * delta;
    particle.velocity.xyz *= 1.0 - field.damping * delta;
    particle.position.xyz += particle.velocity.xyz * delta;
    particle.velocity.w += delta;
    energy = 0.5 * particle.position.w * dot(particle.velocity.xyz, particle.velocity.xyz);
    return energy > push.threshold;
}

float neighbourMass(float mass) {
    float sum = mass;
    for (uint step = 1u; step < 8u; step <<= 1) {
        bool inside;
        float other = shuffleUpNV(sum, step, 8u, inside);
        sum += inside ? other : 0.0;
    }
    return sum;
}

void clear(uint lane) {
    if (lane < CELLS) {
        tileMass[lane] = 0.0;
        tileCount[lane] = 0u;
        tileCenter[lane] = vec4(0.0);
    }
    barrier();
}

void main() {
    uint lane = gl_LocalInvocationIndex;
    uint index = gl_GlobalInvocationID.x + push.first;
    clear(lane);

    bool valid = index < push.count;
    Particle particle = source.particles[valid ? index : 0u];
    vec4 moved = field.transform * vec4(particle.position.xyz, 1.0);
    particle.position.xyz = moved.xyz / max(abs(moved.w), 1.0e-6);

    float energy = 0.0;
    bool hot = false;
    for (uint i = 0u; i < STEPS && valid; ++i)
        hot = advance(particle, field.delta / float(STEPS), energy) || hot;

    uint cell = cellOf(particle.position.xyz);
    if (valid)
        atomicAdd(tileCount[cell], 1u);

    // What eight neighbours weigh together, and the loudest of sixteen.
    float around = neighbourMass(particle.position.w);
    float mass = allReduceAdd8(particle.position.w);
    float loudest = allReduceMax16(energy);
    float before = exclusiveAdd16(around);
    vec4 mirrored = butterfly4(particle.velocity);
    vec4 left = quadSwizzle0(particle.position);

    uvec4 votes = subgroupBallot(hot);
    uint rank = subgroupBallotExclusiveBitCount(votes);
    float total = subgroupAdd(valid ? particle.position.w : 0.0);
    if (anyQuad(hot) && subgroupElect())
        atomicAdd(counts[CELLS], subgroupBallotBitCount(votes));
    barrier();

    switch (cell & 3u) {
    case 0u:
        particle.velocity += mirrored * 0.125;
        break;
    case 1u:
        particle.velocity.xy -= left.yx * 0.5;
        // as case 2
    case 2u:
        particle.velocity.z = mix(particle.velocity.z, mass, 0.25);
        break;
    default:
        particle.velocity *= loudest > 0.0 ? energy / loudest : 1.0;
    }

    if (lane < CELLS) {
        tileMass[lane] += total + before + float(rank);
        counts[lane] = tileCount[lane];
    }
    if (valid)
        target.particles[index] = particle;
}
