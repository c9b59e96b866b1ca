// Transposes tiles of four by four numbers without memory: each lane has a row, and gets a column in two exchanges.
#version 450
#extension GL_CROSSLANE_portable : require

layout(local_size_x = 64) in;

layout(std430, binding = 0) buffer Rows { vec4 rows[]; };

void main() {
    uint slot = gl_GlobalInvocationID.x;
    uint lane = laneIndex();
    vec4 row = rows[slot];

    // Lanes that are one apart exchange every second number,
    vec2 sent = (lane & 1u) == 0u ? row.yw : row.xz;
    vec2 got = vec2(butterfly2(sent.x), butterfly2(sent.y));
    row = (lane & 1u) == 0u ? vec4(row.x, got.x, row.z, got.y) : vec4(got.x, row.y, got.y, row.w);

    // those that are two apart exchange halves.
    vec2 half_sent = (lane & 2u) == 0u ? row.zw : row.xy;
    vec2 half_got = vec2(butterfly4(half_sent.x), butterfly4(half_sent.y));
    rows[slot] = (lane & 2u) == 0u ? vec4(row.xy, half_got) : vec4(half_got, row.zw);
}
