// The order of each 512 keys, sorted through shared memory with a barrier per step.
#version 450
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float x[]; };
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };
shared float keys[512];
shared uint places[512];

void main() {
    uint first = gl_WorkGroupID.x * 512u, own = gl_LocalInvocationIndex;
    for (uint n = own; n < 512u; n += 256u) {
        keys[n] = x[first + n];
        places[n] = n;
    }
    barrier();
    for (uint size = 2u; size <= 512u; size *= 2u) {
        for (uint apart = size / 2u; apart > 0u; apart /= 2u) {
            uint low = 2u * own - (own & (apart - 1u)), high = low + apart;
            float a = keys[low], b = keys[high];
            uint p = places[low], q = places[high];
            bool isGreater = a > b || (a == b && p > q);
            if (isGreater == ((low & size) == 0u)) {
                keys[low] = b;
                keys[high] = a;
                places[low] = q;
                places[high] = p;
            }
            barrier();
        }
    }
    for (uint n = own; n < 512u; n += 256u) y[first + n] = places[n];
}
