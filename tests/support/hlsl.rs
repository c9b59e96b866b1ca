//! HLSL for a judge whose modules lavapipe runs.

/// Functions for which lavapipe has no instructions, expressed with those that it has. Lanes outside the mask and
/// inactive lanes do not count.
const PRELUDE: &str = "\
bool judge_bit(uint4 mask, uint lane) { return ((mask[lane >> 5u] >> (lane & 31u)) & 1u) != 0u; }
#define JUDGE_MATCH(T) uint4 judge_match(T v) { \\
    uint4 own = uint4(0u, 0u, 0u, 0u); \\
    bool left = true; \\
    while (left) { \\
        T first = WaveReadLaneFirst(v); \\
        bool same = all(v == first); \\
        uint4 ballot = WaveActiveBallot(same); \\
        if (same) { own = ballot; left = false; } \\
    } \\
    return own; \\
}
#define JUDGE_SCAN(NAME, T, START, OP) T NAME(T v, uint4 mask) { \\
    uint4 members = WaveActiveBallot(true) & mask; \\
    T folded = (T)START; \\
    for (uint lane = 0u; lane < WaveGetLaneCount(); lane++) { \\
        T other = WaveReadLaneAt(v, lane); \\
        if (lane < WaveGetLaneIndex() && judge_bit(members, lane)) { folded = folded OP other; } \\
    } \\
    return folded; \\
}
#define JUDGE_TYPE(T) \\
    JUDGE_MATCH(T) \\
    JUDGE_SCAN(judge_sum, T, 0, +) JUDGE_SCAN(judge_product, T, 1, *) \\
    JUDGE_SCAN(judge_and, T, -1, &) JUDGE_SCAN(judge_or, T, 0, |) JUDGE_SCAN(judge_xor, T, 0, ^)
JUDGE_TYPE(uint) JUDGE_TYPE(uint2) JUDGE_TYPE(uint3) JUDGE_TYPE(uint4)
JUDGE_TYPE(int) JUDGE_TYPE(int2) JUDGE_TYPE(int3) JUDGE_TYPE(int4)
uint judge_quad(bool p) {
    uint lane = WaveGetLaneIndex();
    return (WaveActiveBallot(p)[lane >> 5u] >> (lane & 28u)) & 15u;
}
bool judge_any(bool p) { return judge_quad(p) != 0u; }
bool judge_all(bool p) { return judge_quad(!p) == 0u; }
#define WaveMatch judge_match
#define WaveMultiPrefixSum judge_sum
#define WaveMultiPrefixProduct judge_product
#define WaveMultiPrefixBitAnd judge_and
#define WaveMultiPrefixBitOr judge_or
#define WaveMultiPrefixBitXor judge_xor
#define QuadAny judge_any
#define QuadAll judge_all
";

const REPLACED: [&str; 4] = ["WaveMatch(", "WaveMultiPrefix", "QuadAny(", "QuadAll("];

/// A text with push constants where Vulkan has them, preceded by the replacement functions.
pub fn known(text: &str) -> String {
    let prelude = if REPLACED.iter().any(|name| text.contains(name)) { PRELUDE } else { "" };
    let mut known = prelude.to_owned();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.ends_with(COUNTED) {
            let member = lines.by_ref().take_while(|line| *line != "};").last().unwrap_or_default().trim();
            known.push_str(&format!("static {member}\n"));
            continue;
        }
        match line.split_once(PUSHED) {
            Some(_) if line.starts_with("cbuffer ") => {
                known.push_str("struct JudgePushed {\n");
                let members: Vec<&str> = lines.by_ref().take_while(|line| *line != "};").collect();
                members.iter().for_each(|member| known.push_str(&format!("{member}\n")));
                known.push_str("};\n[[vk::push_constant]] ConstantBuffer<JudgePushed> judge_pushed;\n");
                members.iter().for_each(|member| known.push_str(&defined(member)));
            }
            Some((declared, end)) => known.push_str(&format!("[[vk::push_constant]] {declared}{end}\n")),
            None => {
                known.push_str(line);
                known.push('\n');
            }
        }
    }
    known
}

/// The register for the number of workgroups. No test binds a buffer there: modules with it are validated, but not run.
const COUNTED: &str = " : register(b0, space254) {";

/// The register of push constants.
const PUSHED: &str = " : register(b0, space255)";

/// The name of a member that is in a block without a name.
fn defined(member: &str) -> String {
    let name = member.trim_end_matches(';').rsplit(' ').next().unwrap_or_default();
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    format!("#define {name} judge_pushed.{name}\n")
}

/// The name of the entry point: of compute shaders that after the size of the workgroup.
pub fn entry(text: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("[numthreads("));
    let named = lines.nth(1).and_then(|line| line.strip_prefix("void ")?.split_once('('));
    named.map_or("main", |(name, _)| name).to_owned()
}
