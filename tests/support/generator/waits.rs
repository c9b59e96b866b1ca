//! Workgroups that wait for each other: tickets order them, and each waits for the previous one in a loop, with all the
//! ways to write such loops. The results depend only on that order.

use super::rng::Rng;

/// Workgroups, and invocations of each.
pub const GROUPS: u32 = 5;
pub const INVOCATIONS: usize = 32;

/// Words of the memory that they share.
pub const WORDS: usize = 64;

/// The bits of a sum that shares a word with the flag.
const MOST: &str = "0x3ffffffu";

/// What follows the wait if the sum is in another word.
const BEFORE: &str = "memoryBarrierBuffer(); before = data[t - 1u];";

/// The source for a seed.
pub fn kernel(seed: u64) -> String {
    let rng = &mut Rng::new(seed ^ 0x3a17);
    let qualifier = *rng.pick(&["coherent ", "coherent volatile ", "volatile coherent ", ""]);
    // Without a qualifier the loops must use atomics.
    let atomics = ["atomicOr(flag[t - 1u], 0u)", "atomicAdd(flag[t - 1u], 0u)"];
    let poll = if qualifier.is_empty() { *rng.pick(&atomics) } else { "flag[t - 1u]" };
    let data = if qualifier.is_empty() { "coherent " } else { qualifier };
    let wait = wait(rng, poll);
    let who = *rng.pick(&["i == 0u", "subgroupElect()", "true"]);
    let sums = work(rng);
    // Both are in one word, so that the loaded word is used after the loop.
    let is_packed = rng.once_in(3);
    let before = if is_packed { format!("before = {poll} & {MOST};") } else { BEFORE.to_owned() };
    let value = if is_packed { format!("0x80000000u | (sum & {MOST})") } else { "0x80000000u".to_owned() };
    let data_first = if is_packed { "" } else { "data[t] = sum; memoryBarrierBuffer(); " };
    let publish = match poll.starts_with("atomic") {
        true => format!("{data_first}atomicExchange(flag[t], {value});"),
        false => format!("{data_first}flag[t] = {value};"),
    };
    format!(
        "#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = {INVOCATIONS}) in;
layout(std430, binding = 0) readonly buffer In {{ uint given[]; }};
layout(std430, binding = 1) buffer Out {{ uint o[]; }};
layout(std430, binding = 2) {qualifier}buffer Flags {{ uint ticket; uint flag[15]; }};
layout(std430, binding = 3) {data}buffer Data {{ uint data[]; }};
shared uint tile, carry, part[{INVOCATIONS}];
void main() {{
    uint i = gl_LocalInvocationIndex;
    if (i == 0u) tile = atomicAdd(ticket, 1u);
    barrier();
    uint t = tile, v = given[i] ^ (t * 2654435761u), before = 0u;
{sums}    part[i] = v;
    barrier();
    if ({who}) {{
        if (t > 0u) {{
{wait}            {before}
        }}
        uint sum = before * 5u;
        for (uint k = 0u; k < {INVOCATIONS}u; k++) sum += part[k];
        if (i == 0u) {{
            {publish}
            carry = before;
        }}
    }}
    barrier();
    o[t * {INVOCATIONS}u + i] = v * 3u + carry;
}}
"
    )
}

/// A loop that ends when the word is not zero.
fn wait(rng: &mut Rng, poll: &str) -> String {
    let text = match rng.below(7) {
        0 => format!("while ({poll} == 0u) {{ }}"),
        1 => format!("while ({poll} == 0u);"),
        2 => format!("do {{ }} while ({poll} == 0u);"),
        3 => format!("for (;;) {{ if ({poll} != 0u) break; }}"),
        4 => format!("uint seen; do {{ seen = {poll}; }} while (seen == 0u);"),
        5 => format!("for (bool done = false; !done;) {{ done = {poll} != 0u; }}"),
        _ => format!("uint turns = 0u; for (;;) {{ turns++; uint seen = {poll}; if ((seen >> 31) == 1u) break; }}"),
    };
    format!("            {text}\n")
}

/// Work before the wait.
fn work(rng: &mut Rng) -> String {
    let lines = [
        "v += subgroupAdd(v & 15u);",
        "if ((v & 1u) == 0u) v ^= subgroupBallot(true).x; else v += subgroupMax(v & 255u);",
        "for (uint k = 0u; k < (v & 3u); k++) v = v * 7u + k;",
        "v = v * 31u + i;",
    ];
    (0..1 + rng.below(3)).map(|_| format!("    {}\n", rng.pick(&lines))).collect()
}
