// The dot product of two vectors, one number of each a lane: each subgroup adds its part to the total.
enable crosslane;

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> total: atomic<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let sum = allReduceAdd4(a[id.x] * b[id.x]);
    if ((id.x & 3u) == 0u) {
        atomicAdd(&total, sum);
    }
}
