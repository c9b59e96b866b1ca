// Each pixel with a part of its neighbours' colours. Structs move between lanes as a whole.
enable crosslane;

struct Pixel {
    color: vec3<f32>,
    weight: f32,
}

@group(0) @binding(0) var<storage, read_write> pixels: array<Pixel>;

const AMOUNT: f32 = 0.25;

fn blurred(own: Pixel) -> Pixel {
    let beside = butterfly2(own);
    let across = butterfly4(own);
    var pixel = own;
    pixel.color = mix(own.color, 0.5 * (beside.color + across.color), AMOUNT);
    return pixel;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    pixels[id.x] = blurred(pixels[id.x]);
}
