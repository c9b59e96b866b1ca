enable subgroups;
enable crosslane;

// One tile of a particle system: sorts particles into cells, sums what each cell weighs, and moves them on.

const TILE = 256u;
const CELLS = 64u;

override steps: u32 = 4u;

struct Particle {
    position: vec4f, // w: mass
    velocity: vec4f, // w: age in seconds
}

struct Field {
    transform: mat4x4f,
    attractors: array<vec4f, 4>,
    damping: f32,
    delta: f32,
    threshold: f32,
    count: u32,
}

@group(0) @binding(0) var<storage, read> source: array<Particle>;
@group(0) @binding(1) var<storage, read_write> moved_particles: array<Particle>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<uniform> field: Field;

var<workgroup> tile_mass: array<f32, CELLS>;
var<workgroup> tile_count: array<atomic<u32>, CELLS>;
var<workgroup> tile_center: array<vec4f, CELLS>;

fn cell_of(position: vec3f) -> u32 {
    let cell = vec3i(floor(position * 0.25));
    let hash = u32((cell.x * 73856093) ^ (cell.y * 19349663) ^ (cell.z * 83492791));
    return hash % CELLS;
}

fn pull(position: vec3f) -> vec3f {
    var sum = vec3f(0.0);
    for (var i = 0; i < 4; i++) {
        let way = field.attractors[i].xyz - position;
        let square = dot(way, way) + 0.01;
        if square > 1.0e6 {
            continue;
        }
        sum += way * (field.attractors[i].w * inverseSqrt(square) / square);
    }
    return sum;
}

fn advance(particle: ptr<function, Particle>, delta: f32, energy: ptr<function, f32>) -> bool {
    let speed = ((*particle).velocity.xyz + pull((*particle).position.xyz) * delta) * (1.0 - field.damping * delta);
    (*particle).velocity = vec4f(speed, (*particle).velocity.w + delta);
    (*particle).position = vec4f((*particle).position.xyz + speed * delta, (*particle).position.w);
    *energy = 0.5 * (*particle).position.w * dot(speed, speed);
    return *energy > field.threshold;
}

fn neighbour_mass(mass: f32) -> f32 {
    var sum = mass;
    for (var step = 1u; step < 8u; step <<= 1u) {
        let other = shuffleUpNV(sum, step, 8u);
        sum += select(0.0, other, shuffleUpNVValid(step, 8u));
    }
    return sum;
}

fn clear(lane: u32) {
    if lane < CELLS {
        tile_mass[lane] = 0.0;
        atomicStore(&tile_count[lane], 0u);
        tile_center[lane] = vec4f(0.0);
    }
    workgroupBarrier();
}

@compute @workgroup_size(TILE)
fn main(
    @builtin(local_invocation_index) lane: u32,
    @builtin(global_invocation_id) id: vec3u,
) {
    let index = id.x;
    clear(lane);

    let valid = index < field.count;
    var particle = source[select(0u, index, valid)];
    let moved = field.transform * vec4f(particle.position.xyz, 1.0);
    particle.position = vec4f(moved.xyz / max(abs(moved.w), 1.0e-6), particle.position.w);

    var energy = 0.0;
    var hot = false;
    for (var i = 0u; i < steps && valid; i++) {
        hot = advance(&particle, field.delta / f32(steps), &energy) || hot;
    }

    let cell = cell_of(particle.position.xyz);
    if valid {
        atomicAdd(&tile_count[cell], 1u);
    }

    // What eight neighbours weigh together, and the loudest of sixteen.
    let around = neighbour_mass(particle.position.w);
    let mass = allReduceAdd8(particle.position.w);
    let loudest = allReduceMax16(energy);
    let before = exclusiveAdd16(around);
    let mirrored = butterfly4(particle.velocity);
    let left = quadSwizzle0(particle.position);

    let votes = subgroupBallot(hot);
    let rank = subgroupExclusiveAdd(u32(hot));
    let total = subgroupAdd(select(0.0, particle.position.w, valid));
    if anyQuad(hot) && subgroupElect() {
        counts[CELLS] = countOneBits(votes.x) + countOneBits(votes.y);
    }
    workgroupBarrier();

    switch cell & 3u {
        case 0u: {
            particle.velocity += mirrored * 0.125;
        }
        case 1u: {
            particle.velocity = vec4f(particle.velocity.xy - left.yx * 0.5, particle.velocity.zw);
        }
        case 2u: {
            particle.velocity.z = mix(particle.velocity.z, mass, 0.25);
        }
        default: {
            particle.velocity *= select(1.0, energy / loudest, loudest > 0.0);
        }
    }

    if lane < CELLS {
        tile_mass[lane] += total + before + f32(rank);
        counts[lane] = atomicLoad(&tile_count[lane]);
    }
    if valid {
        moved_particles[index] = particle;
    }
}
