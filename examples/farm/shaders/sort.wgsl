enable crosslane;

@group(0) @binding(0) var<storage, read_write> keys: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var key = keys[id.x];
    bitonicSort16(&key);
    keys[id.x] = key;
}
