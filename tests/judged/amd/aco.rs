//! Cross-lane operations compared with ACO, Mesa's compiler for the same hardware (Mesa 25.0.7).
//!
//! Its numbers come from RADV without a device: what an operation adds to a shader that only copies, without waits and
//! without the cost of its whole-wave mode (S_OR_SAVEEXEC, V_CNDMASK, the move back to EXEC; a V_MOV in clusters up to
//! 16). An instruction of the LDS pipe counts three times.

use crosslane::compile::{Input, Language};
use crosslane::kernel::Specializations;
use support::compiler;
use support::shader;

/// The weight of an instruction of the LDS pipe.
const LDS: u32 = 3;

/// Groups of hardware that ACO treats alike, and crosslane's profiles for them.
static FAMILIES: [(&str, &[&str]); 7] = [
    ("gfx8 and gfx9", &["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"]),
    ("gfx10, wave32", &["gfx1010-wave32", "gfx1030-wave32"]),
    ("gfx10, wave64", &["gfx1010-wave64", "gfx1030-wave64"]),
    ("gfx11, wave32", &["gfx1100-wave32", "gfx1150-wave32"]),
    ("gfx11, wave64", &["gfx1100-wave64", "gfx1150-wave64"]),
    ("gfx12, wave32", &["gfx1200-wave32", "gfx1201-wave32"]),
    ("gfx12, wave64", &["gfx1200-wave64", "gfx1201-wave64"]),
];

/// Number of instructions, and how many of them use LDS.
#[derive(Clone, Copy)]
struct Count(u32, u32);

impl Count {
    fn weight(self) -> u32 {
        self.0 - self.1 + LDS * self.1
    }
}

/// An operation, the weight of the code around it, and ACO's numbers for each family; `None` if the wave has too few
/// lanes.
struct Row {
    operation: &'static str,
    frame: u32,
    counts: [Option<Count>; 7],
    /// Families where crosslane must need less.
    fewer: &'static [usize],
}

const fn n(count: u32) -> Option<Count> {
    Some(Count(count, 0))
}

const fn lds(count: u32, of_lds: u32) -> Option<Count> {
    Some(Count(count, of_lds))
}

const fn row(operation: &'static str, frame: u32, counts: [Option<Count>; 7]) -> Row {
    Row { operation, frame, counts, fewer: &[] }
}

const fn fewer(fewer: &'static [usize], row: Row) -> Row {
    Row { fewer, ..row }
}

/// An exchange that ACO does without the DPP of gfx8 to gfx10; it uses ROW_XMASK only from gfx11 on, and before that
/// PERMLANE16 with two selectors.
const fn in_rows(operation: &'static str) -> Row {
    fewer(&[1, 2], row(operation, 0, [lds(1, 1), n(2), n(2), n(1), n(1), n(1), n(1)]))
}

static ROWS: &[Row] = &[
    fewer(&[2, 4, 6], row("subgroupAdd(f)", 3, [n(11), n(11), n(13), n(11), n(13), n(11), n(13)])),
    fewer(&[2, 4, 6], row("subgroupMin(x)", 3, [n(11), n(11), n(13), n(11), n(13), n(11), n(13)])),
    row("subgroupClusteredAdd(x, 2)", 4, [n(5); 7]),
    row("subgroupClusteredAdd(x, 4)", 4, [n(6); 7]),
    row("subgroupClusteredAdd(x, 8)", 4, [n(7); 7]),
    row("subgroupClusteredAdd(x, 16)", 4, [n(8); 7]),
    fewer(&[1, 3, 5], row("subgroupClusteredAdd(x, 32)", 3, [lds(9, 1), n(11), n(9), n(11), n(9), n(11), n(9)])),
    row("subgroupShuffleXor(x, 1)", 0, [n(1); 7]),
    row("subgroupShuffleXor(x, 2)", 0, [n(1); 7]),
    row("subgroupShuffleXor(x, 3)", 0, [n(1); 7]),
    row("subgroupShuffleXor(x, 7)", 0, [n(1); 7]),
    row("subgroupShuffleXor(x, 8)", 0, [n(1); 7]),
    row("subgroupShuffleXor(x, 15)", 0, [n(1); 7]),
    row("subgroupShuffleXor(x, 4)", 0, [lds(1, 1), n(1), n(1), n(1), n(1), n(1), n(1)]),
    row("subgroupShuffleXor(x, 5)", 0, [lds(1, 1), n(1), n(1), n(1), n(1), n(1), n(1)]),
    in_rows("subgroupShuffleXor(x, 9)"),
    in_rows("subgroupShuffleXor(x, 10)"),
    in_rows("subgroupShuffleXor(x, 11)"),
    in_rows("subgroupShuffleXor(x, 12)"),
    in_rows("subgroupShuffleXor(x, 13)"),
    in_rows("subgroupShuffleXor(x, 14)"),
    row("subgroupShuffleXor(x, 16)", 0, [lds(1, 1), n(2), n(2), n(2), n(2), n(2), n(2)]),
    row("subgroupShuffleXor(x, 17)", 0, [lds(1, 1), n(2), n(2), n(2), n(2), n(2), n(2)]),
    row("subgroupShuffleXor(x, 31)", 0, [lds(1, 1), n(2), n(2), n(2), n(2), n(2), n(2)]),
    fewer(&[2], row("subgroupShuffleXor(x, 32)", 0, [lds(6, 1), None, lds(19, 3), None, n(1), None, n(1)])),
    row("subgroupInclusiveAdd(x)", 3, [n(10), n(11), n(14), n(11), n(14), n(11), n(14)]),
    row("subgroupExclusiveAdd(x)", 3, [n(11), n(15), n(21), n(15), n(21), n(15), n(21)]),
    row("subgroupShuffle(x, y)", 0, [lds(2, 1), lds(2, 1), lds(15, 3), lds(2, 1), lds(9, 2), lds(2, 1), lds(2, 1)]),
    fewer(
        &[2, 4, 6],
        row(
            "subgroupShuffleUp(x, 2)",
            0,
            [lds(6, 1), lds(1, 1), lds(19, 3), lds(1, 1), lds(13, 2), lds(1, 1), lds(6, 1)],
        ),
    ),
    fewer(
        &[2, 4, 6],
        row(
            "subgroupShuffleDown(x, 2)",
            0,
            [lds(6, 1), lds(1, 1), lds(19, 3), lds(1, 1), lds(13, 2), lds(1, 1), lds(6, 1)],
        ),
    ),
];

/// Every operation on every profile.
pub fn hold() -> Result<(), String> {
    let mut wrong = Vec::new();
    for row in ROWS {
        for (family, (name, profiles)) in FAMILIES.iter().enumerate() {
            let Some(count) = row.counts[family] else { continue };
            let most = count.weight() - row.frame - u32::from(row.fewer.contains(&family));
            for profile in *profiles {
                let ours = weight(row.operation, profile)?;
                if !(1..=most).contains(&ours) {
                    wrong.push(format!("{} on {profile} ({name}): weighs {ours}, at most {most}", row.operation));
                }
            }
        }
    }
    wrong.extend(exchanges_in_rows()?);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Cases where ACO uses LDS without need: exchanges within 16 lanes on gfx8 and gfx9.
fn exchanges_in_rows() -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for (profile, mask) in FAMILIES[0].1.iter().flat_map(|profile| (4..16).map(move |mask| (profile, mask))) {
        let text = compile(&format!("subgroupShuffleXor(x, {mask})"), profile)?;
        if instructions(&text).any(|name| name.starts_with("ds_")) {
            wrong.push(format!("xor {mask} on {profile} goes through LDS"));
        }
    }
    Ok(wrong)
}

/// The weight of an operation: its instructions that move values between lanes or compute and use masks.
fn weight(operation: &str, profile: &str) -> Result<u32, String> {
    let text = compile(operation, profile)?;
    Ok(text.lines().filter_map(|line| weight_of(line.trim())).sum())
}

fn compile(operation: &str, profile: &str) -> Result<String, String> {
    let source = format!(
        "#version 450\n\
         #extension GL_KHR_shader_subgroup_arithmetic : require\n#extension GL_KHR_shader_subgroup_clustered : require\n\
         #extension GL_KHR_shader_subgroup_shuffle : require\n#extension GL_KHR_shader_subgroup_shuffle_relative : require\n\
         layout(local_size_x = 64) in;\nlayout(std430, binding = 0) readonly buffer In {{ uint given[]; }};\n\
         layout(std430, binding = 1) buffer Out {{ uint result[]; }};\n\
         void main() {{\n    uint at = gl_GlobalInvocationID.x;\n    uint x = given[2u * at], y = given[2u * at + 1u];\n    \
         float f = uintBitsToFloat(x);\n    result[at] = {};\n}}\n",
        if operation.ends_with("(f)") { format!("floatBitsToUint({operation})") } else { operation.to_owned() }
    );
    let input = Input { name: "operation.comp", bytes: source.as_bytes(), language: Language::Glsl };
    compiler::amd_program(&input, &shader::options(profile)?, &Specializations::new()).map(|program| program.text)
}

/// The mnemonics in a text.
fn instructions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with('\t')).filter_map(|line| line.split_whitespace().next())
}

/// Parts of a line that show that it moves between lanes or is about a mask.
const LANES: [&str; 15] = [
    "_dpp",
    "dpp8:",
    "quad_perm:",
    "row_",
    "v_readlane",
    "v_readfirstlane",
    "v_writelane",
    "v_permlane",
    "v_mbcnt",
    "saveexec",
    "v_cndmask",
    "v_cmp",
    "exec",
    "s_wqm",
    "v_swap",
];

/// The weight of a line, if it counts.
fn weight_of(line: &str) -> Option<u32> {
    let code = line.split(';').next().unwrap_or_default();
    if !["v_", "s_", "ds_"].iter().any(|unit| code.starts_with(unit)) || code.starts_with("s_cbranch") {
        return None;
    }
    if code.starts_with("ds_") {
        return Some(LDS);
    }
    LANES.iter().any(|part| code.contains(part)).then_some(1)
}
