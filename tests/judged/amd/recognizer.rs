//! LLVM's hazard recognizer as a judge: each instruction that it would insert is a hazard in the listing.

use super::machine_code::{
    Gap, Inst, Item, Operand, Program, branches, finds as judge_finds, inst_at, parts, plain, results,
};
use std::collections::BTreeSet;

/// Checks that LLVM's recognizer finds nothing in the listings.
pub fn hold(program: &Program<'_>) -> Result<(), String> {
    let passes = "post-RA-hazard-rec,amdgpu-wait-sgpr-hazards";
    program.hold(
        passes,
        |inst| waited(inst).is_some(),
        |listing, gap| {
            let added = Added::of(gap)?;
            let has_reason = is_waited_for_later(listing, &added) || is_before_still_operand(listing, &added);
            (!has_reason).then_some(added.inst)
        },
    )
}

/// Code with a hazard, for a profile: the recognizer must find it.
static BROKEN: &[(&str, &str)] = &[
    ("gfx600", "v_readfirstlane_b32 s4, v0; s_load_dword s5, s[4:5], 0"),
    ("gfx701", "v_readfirstlane_b32 s4, v0; v_readlane_b32 s5, v1, s4"),
    ("gfx803", "v_mov_b32 v1, v2; v_mov_b32_dpp v3, v1 row_mirror"),
    ("gfx900", "v_cmpx_eq_u32 vcc, v0, v1; v_mov_b32_dpp v3, v2 row_mirror"),
    ("gfx900", "v_cmp_eq_u32 vcc, 0, v0; v_div_fmas_f32 v1, v0, v0, v0"),
    ("gfx900", "global_load_dword v1, v0, s[2:3]; global_load_dword v0, v2, s[2:3]"),
    ("gfx908", "v_readfirstlane_b32 s2, v0; global_load_dword v1, v0, s[2:3]"),
    ("gfx90a", "global_store_dwordx4 v0, v[4:7], s[2:3]; v_mov_b32 v4, 0"),
    ("gfx942", "v_readlane_b32 s4, v0, 63; s_cbranch_execz .L1; v_mov_b32 v1, s4; .L1:"),
    ("gfx942", "v_rcp_f32 v1, v0; v_mov_b32 v2, v1"),
    ("gfx942", "v_mad_u16 v1, v2, v3, v4 op_sel:[0,0,0,1]; v_mov_b32 v5, v1"),
    ("gfx942", "v_mov_b32 v1, v0; v_readlane_b32 s4, v1, 0"),
    ("gfx942", "v_cmpx_eq_u32 vcc, v0, v1; v_readlane_b32 s4, v2, 0"),
    ("gfx942", "v_cmpx_eq_u32 vcc, v0, v1; v_mbcnt_lo_u32_b32 v2, exec_lo, 0"),
    ("gfx942", "v_cmp_eq_u32 vcc, v0, v1; v_addc_co_u32_dpp v2, vcc, v3, v4, vcc row_mirror"),
    ("gfx942", "global_store_dwordx4 v0, v[4:7], s[2:3]; s_nop 0; v_mov_b32 v4, 0"),
    ("gfx950", "v_mov_b32 v1, v2; v_permlane32_swap_b32 v1, v3"),
    ("gfx950", "v_cmpx_eq_u32 vcc, v0, v1; v_permlane32_swap_b32 v2, v3"),
    ("gfx1010-wave32", "s_cbranch_execz .L1; .L1:; v_cmpx_eq_u32 v0, v1"),
    ("gfx1010-wave32", "global_load_dword v1, v0, s[2:3]; s_mov_b32 s2, 0"),
    ("gfx1010-wave32", "global_store_dword v0, v1, s[2:3]; s_waitcnt vmcnt(0); s_mov_b32 s2, 0"),
    ("gfx1010-wave32", "s_load_dword s4, s[2:3], 0; s_load_dwordx2 s[2:3], s[6:7], 0"),
    ("gfx1010-wave32", "v_cmpx_eq_u32 v0, v1; v_permlane16_b32 v2, v3, 0, 0"),
    ("gfx1010-wave64", "ds_swizzle_b32 v1, v2 offset:0x41f; s_mov_b64 exec, -1"),
    ("gfx1010-wave32", "s_load_dword s4, s[2:3], 0; v_readfirstlane_b32 s2, v0"),
    ("gfx1010-wave32", "ds_read_b32 v1, v2; s_cbranch_scc0 .L1; .L1:; global_load_dword v3, v4, s[2:3]"),
    ("gfx1100-wave32", "v_rcp_f32 v1, v0; v_mov_b32 v2, v1"),
    ("gfx1100-wave32", "v_rcp_f32 v1, v0; v_dual_mov_b32 v2, v0 :: v_dual_fmac_f32 v3, v5, v1"),
    ("gfx1100-wave32", "v_cmpx_eq_u32 v0, v1; v_permlane16_b32 v2, v3, 0, 0"),
    ("gfx1100-wave32", "v_cmpx_eq_u32 v0, v1; v_nop; v_permlanex16_b32 v2, v3, s0, s1"),
    ("gfx1201-wave32", "v_cmpx_eq_u32 s0, v1; v_permlane16_b32 v2, v3, 0, 0"),
    ("gfx1201-wave64", "v_cmpx_lt_f32 |v0|, v1; v_nop; v_permlanex16_b32 v2, v3, s0, s1"),
    (
        "gfx1100-wave64",
        "v_cndmask_b32 v1, 0, 1, s[4:5]; v_mov_b32 v2, s9; s_mov_b64 s[4:5], 0; s_and_b64 s[6:7], s[4:5], exec",
    ),
    ("gfx1150-wave64", "v_cndmask_b32 v1, 0, 1, s[4:5]; v_cmp_eq_u32 s[4:5], v1, v2; v_cndmask_b32 v1, 0, 1, s[4:5]"),
    ("gfx1150-wave64", "v_add_co_ci_u32 v1, vcc, v1, v2, vcc; v_cmp_eq_u32 vcc, v1, v2; v_cndmask_b32 v1, 0, 1, vcc"),
    (
        "gfx1150-wave64",
        "v_mov_b32 v1, 0; s_mov_b64 exec, -1; v_mov_b32 v2, 0; s_mov_b64 exec, -1; v_add_f32 v3, v1, v2",
    ),
    ("gfx1201-wave32", "v_mov_b32 v1, s4; s_mov_b32 s4, 0; v_mov_b32 v1, s4"),
    ("gfx1201-wave32", "v_mov_b32 v1, s4; s_mov_b32 s4, 0; v_dual_mov_b32 v1, 0 :: v_dual_mov_b32 v2, s4"),
    ("gfx1200-wave64", "v_cndmask_b32 v1, 0, 1, vcc; v_cmp_eq_u32 vcc, v1, v2; v_cndmask_b32 v1, 0, 1, vcc"),
];

/// Checks that it finds them.
pub fn finds() -> Result<(), String> {
    judge_finds(BROKEN, hold)
}

/// The bits of DEPCTR's fields `sa_sdst`, `va_vcc`, `va_sdst`, `vm_vsrc` and `va_vdst`. The first three concern scalar
/// registers.
static FIELDS: [u32; 5] = [1, 2, 0xe00, 0x1c, 0xf000];

/// The fields that an instruction waits for, if any.
fn waited(inst: &str) -> Option<Fields> {
    let number: u32 = inst.strip_prefix("S_WAITCNT_DEPCTR ")?.split(',').next()?.parse().ok()?;
    Some(FIELDS.map(|bits| number & bits == 0))
}

type Fields = [bool; FIELDS.len()];

fn and(one: Fields, other: Fields) -> Fields {
    std::array::from_fn(|n| one[n] || other[n])
}

fn but(one: Fields, other: Fields) -> Fields {
    std::array::from_fn(|n| one[n] && !other[n])
}

/// The instructions that LLVM inserts in a gap, possibly waiting for fields for which the listing does not wait.
struct Added {
    inst: String,
    fields: Fields,
    after: Option<usize>,
    before: usize,
}

impl Added {
    /// LLVM merges waits for fields, so only the set of fields waited for in the gap counts.
    fn of(gap: &Gap) -> Option<Added> {
        let all = |insts: &[String]| insts.iter().filter_map(|inst| waited(inst)).fold(Fields::default(), and);
        let fields = but(all(&gap.theirs), all(&gap.own));
        let other: Vec<&str> = gap.theirs.iter().filter(|inst| waited(inst).is_none()).map(|inst| &inst[..]).collect();
        let inst = match (other.is_empty(), fields == Fields::default()) {
            (true, true) => return None,
            (true, false) => format!("a wait for {fields:?}"),
            (false, _) => other.join(", "),
        };
        Some(Added { inst, fields, after: gap.after, before: gap.before })
    }
}

/// LLVM waits immediately where a scalar register that was a mask is written; a listing may instead wait before each
/// instruction that reads the register.
fn is_waited_for_later(listing: &[Item], added: &Added) -> bool {
    let Some((writer, start)) = added.after.and_then(|at| Some((inst_at(listing, at)?, at + 1))) else { return false };
    let written: Vec<String> = writer.scalars_written().collect();
    if written.is_empty() || added.fields == Fields::default() || added.fields[3..].contains(&true) {
        return false;
    }
    let mut seen = vec![false; listing.len() + 1];
    let mut next = vec![start];
    while let Some(at) = next.pop() {
        if at >= listing.len() || std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let Some(inst) = inst_at(listing, at) else {
            next.push(at + 1);
            continue;
        };
        if waited(&inst.machine_code(&|_| 0)).is_some_and(|fields| but(added.fields, fields) == Fields::default()) {
            continue;
        }
        let is_reader =
            inst.opcode.starts_with("V_") || inst.opcode.starts_with("S_") && !inst.opcode.starts_with("S_LOAD");
        if is_reader && inst.registers(true).any(|name| written.contains(&name)) {
            return false;
        }
        if let Some(Operand::Label(label)) = inst.operands.first() {
            next.extend(listing.iter().position(|item| matches!(item, Item::Label(name) if name == label)));
        }
        if !["S_BRANCH", "S_ENDPGM"].contains(&plain(&inst.opcode)) {
            next.push(at + 1);
        }
    }
    true
}

/// LLVM inserts wait states before DPP on gfx8 and gfx9 for each vector register that it reads, including the old
/// value. AMD's article on cross-lane operations of GCN 3 says that only the operand read from other lanes needs them
/// ("this hazard affects only the operand that DPP reads"), and ACO counts no others. Returns true if no other rule can
/// require them.
fn is_before_still_operand(listing: &[Item], added: &Added) -> bool {
    let Some(dpp) = inst_at(listing, added.before) else { return false };
    let is_slow = dpp.opcode.contains("_dpp_vi") || dpp.opcode.contains("_dpp_gfx9");
    // The result, the old value, the operand that moves.
    let moved = dpp.operands.iter().skip(results(&dpp.opcode)).filter_map(Operand::register).nth(1);
    let Some(moved) = moved.filter(|_| is_slow && added.inst.starts_with("S_NOP ")) else { return false };
    // Positions before it, with the wait states from there.
    let mut before = vec![(added.before, 0)];
    let mut seen = BTreeSet::new();
    while let Some((at, states)) = before.pop() {
        if at == 0 || states >= 5 || !seen.insert((at, states)) {
            continue;
        }
        match &listing[at - 1] {
            Item::Label(label) => {
                before.push((at - 1, states));
                before.extend(branches(listing, label).map(|branch| (branch, states + 1)));
            }
            Item::Inst(inst) if ["S_BRANCH", "S_ENDPGM"].contains(&plain(&inst.opcode)) => {}
            Item::Inst(inst) if asks_otherwise(inst, states, dpp, moved) => return false,
            Item::Inst(inst) => before.push((at - 1, states + wait_states(inst))),
        }
    }
    true
}

fn wait_states(inst: &Inst) -> usize {
    match inst.operands.first() {
        Some(Operand::Number(more)) if inst.opcode.starts_with("S_NOP") => more.parse().unwrap_or(0) + 1,
        _ => 1,
    }
}

/// Returns true if an instruction this number of wait states before DPP may require some for another reason than an
/// operand that stays in its lane.
fn asks_otherwise(inst: &Inst, states: usize, dpp: &Inst, moved: &str) -> bool {
    let is_vector = inst.opcode.starts_with("V_");
    let is_slow = TRANSCENDENTAL.iter().any(|start| inst.opcode.starts_with(start)) || inst.line.contains("op_sel");
    let is_long = inst.opcode.contains("STORE") && ["X3", "X4"].iter().any(|size| inst.opcode.contains(size));
    let reads: Vec<String> = dpp.registers(true).filter(|name| !name.starts_with("$vgpr")).collect();
    let writes: Vec<String> = dpp.registers(false).collect();
    let to_dpp = |name: String| name == *moved || is_vector && reads.contains(&name);
    let data = inst.operands.iter().filter_map(Operand::register).map(parts).filter(|parts| parts.len() > 2);
    let has_data = is_long && data.flatten().any(|name| writes.contains(&name));
    states == 0 && is_slow
        || states < 1 && has_data
        || states < 2 && inst.registers(false).any(to_dpp)
        || states < 5 && inst.opcode.starts_with("V_CMPX")
}

/// Instructions whose results CDNA 3 does not forward to the next instruction.
const TRANSCENDENTAL: [&str; 7] = ["V_RCP_", "V_RSQ_", "V_SQRT_", "V_EXP_", "V_LOG_", "V_SIN_", "V_COS_"];
