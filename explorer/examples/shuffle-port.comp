// NVIDIA's GL_NV_shader_thread_shuffle on every vendor's hardware: a sum by halves, and a value from the lane below.
#version 450
#extension GL_NV_shader_thread_shuffle : require

layout(local_size_x = 64) in;

layout(std430, binding = 0) buffer Data { float x[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float sum = x[i];
    sum += shuffleXorNV(sum, 2u, 4u);
    sum += shuffleXorNV(sum, 1u, 4u);
    bool inside;
    float below = shuffleUpNV(x[i], 1u, 4u, inside);
    x[i] = inside ? sum - below : sum;
}
