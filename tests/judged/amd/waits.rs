//! LLVM's pass that inserts waits for memory as a judge: where it would wait for more than a listing does, the listing
//! uses a register with a pending access. The pass also detects branches on a stale VCCZ. It does not check fences.

use super::machine_code::{Gap, Inst, Item, Program, branches, finds as judge_finds, inst_at, plain};
use crosslane::profile::processor::Generation;
use std::collections::{BTreeMap, BTreeSet};

/// Checks that listings wait for everything that LLVM waits for.
pub fn hold(program: &Program<'_>) -> Result<(), String> {
    let fields = fields(program.processor().map(|processor| processor.generation));
    let counts = |inst: &str| counts(inst, fields);
    let least = |insts: &[String]| {
        let mut least = BTreeMap::new();
        for (counter, count) in insts.iter().filter_map(|inst| counts(inst)).flatten() {
            let old = least.entry(counter).or_insert(count);
            *old = count.min(*old);
        }
        least
    };
    program.hold(
        "si-insert-waitcnts",
        |inst| counts(inst).is_some(),
        |listing, gap| {
            // Before the end, LLVM may release the registers early.
            let is_end = inst_at(listing, gap.before).is_some_and(|inst| inst.opcode.starts_with("S_ENDPGM"));
            let added = gap.theirs.iter().find(|inst| counts(inst).is_none()).filter(|_| !is_end);
            if let Some(added) = added {
                return Some(added.clone());
            }
            if is_before_loop(listing, gap) {
                return None;
            }
            let (own, mut theirs) = (least(&gap.own), least(&gap.theirs));
            theirs.retain(|counter, count| own.get(counter).is_none_or(|own| *count < *own));
            if theirs.contains_key("expcnt") && is_known_to_be_read(listing, gap, fields) {
                // Such an instruction does not wait for counters whose field is at its maximum.
                theirs.retain(|counter, count| *counter != "expcnt" && *count < MOST_OF_GFX6);
            }
            theirs.first_key_value().map(|(counter, count)| format!("a wait for {counter}({count})"))
        },
    )
}

/// Code that lacks a wait, for a profile: LLVM must find it.
static BROKEN: &[(&str, &str)] = &[
    ("gfx600", "buffer_load_dword v1, v0, s[4:7], 0 offen; v_mov_b32 v2, v1"),
    ("gfx600", "buffer_store_dword v1, v0, s[4:7], 0 offen; s_waitcnt vmcnt(0); v_mov_b32 v1, 0"),
    ("gfx600", "s_load_dword s4, s[2:3], 0; s_mov_b64 vcc, 0; s_cbranch_vccz .L1; .L1:"),
    ("gfx701", "flat_load_dword v1, v[2:3]; s_waitcnt lgkmcnt(0); v_mov_b32 v2, v1"),
    ("gfx803", "flat_load_dword v1, v[2:3]; flat_load_dword v4, v[2:3]; s_waitcnt vmcnt(1); v_mov_b32 v2, v4"),
    ("gfx803", "s_mov_b32 vcc_lo, 0; s_cbranch_vccnz .L1; .L1:"),
    ("gfx900", "global_load_dword v1, v0, s[2:3]; s_cbranch_scc0 .L1; s_waitcnt vmcnt(0); .L1:; v_mov_b32 v2, v1"),
    ("gfx900", "global_store_dword v0, v1, s[2:3]; s_barrier"),
    ("gfx90a", "ds_read_b32 v1, v0; v_mov_b32 v1, 0"),
    ("gfx942", "s_load_dword s4, s[2:3], 0; s_load_dword s5, s[2:3], 4; s_waitcnt lgkmcnt(1); s_mov_b32 s6, s4"),
    ("gfx1030-wave32", "global_load_dword v1, v0, s[2:3]; s_waitcnt_vscnt null, 0x0; v_mov_b32 v2, v1"),
    ("gfx1100-wave64", "ds_load_b32 v1, v0; s_waitcnt vmcnt(0); v_mov_b32 v2, v1"),
    ("gfx1201-wave32", "ds_load_b32 v1, v0; s_wait_loadcnt 0x0; v_mov_b32 v2, v1"),
    ("gfx1201-wave32", "global_load_b32 v1, v0, s[2:3]; s_wait_loadcnt_dscnt 0x100; v_mov_b32 v2, v1"),
    (
        "gfx1201-wave32",
        "image_sample_lz v1, [v2, v3], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D; s_wait_loadcnt 0x0; v_mov_b32 v4, v1",
    ),
    ("gfx1200-wave64", "s_load_b32 s4, s[2:3], 0x0; s_wait_dscnt 0x0; s_mov_b32 s5, s4"),
];

/// Checks that it finds them.
pub fn finds() -> Result<(), String> {
    judge_finds(BROKEN, hold)
}

/// A counter's bits in the number of S_WAITCNT: how far they are shifted, and how many.
type Fields = [(&'static str, u32, u32); 3];

/// How far `vmcnt` and `lgkmcnt` of gfx6 count.
const MOST_OF_GFX6: u32 = 15;

/// Vega's upper two bits of `vmcnt` are elsewhere.
const VEGA_VMCNT: u32 = 14;

fn fields(generation: Option<Generation>) -> &'static Fields {
    match generation {
        Some(Generation::Rdna1) => &[("vmcnt", 0, 4), ("expcnt", 4, 3), ("lgkmcnt", 8, 6)],
        Some(Generation::Rdna3) => &[("vmcnt", 10, 6), ("expcnt", 0, 3), ("lgkmcnt", 4, 6)],
        _ => &[("vmcnt", 0, 4), ("expcnt", 4, 3), ("lgkmcnt", 8, 4)],
    }
}

/// Machine instructions that wait for one counter, or for two of six bits each.
static SINGLE: &[(&str, &[&str])] = &[
    ("S_WAITCNT_VSCNT", &["storecnt"]),
    ("S_WAIT_LOADCNT_DSCNT", &["loadcnt", "dscnt"]),
    ("S_WAIT_STORECNT_DSCNT", &["storecnt", "dscnt"]),
    ("S_WAIT_LOADCNT", &["loadcnt"]),
    ("S_WAIT_STORECNT", &["storecnt"]),
    ("S_WAIT_DSCNT", &["dscnt"]),
    ("S_WAIT_KMCNT", &["kmcnt"]),
    ("S_WAIT_EXPCNT", &["expcnt"]),
    ("S_WAIT_SAMPLECNT", &["samplecnt"]),
    ("S_WAIT_BVHCNT", &["bvhcnt"]),
];

/// The counter values that an instruction waits for, if it waits for counters.
fn counts(inst: &str, fields: &Fields) -> Option<Vec<(&'static str, u32)>> {
    let number = |text: &str| text.split(',').find_map(|word| word.trim().parse::<u32>().ok());
    if let Some(rest) = inst.strip_prefix("S_WAITCNT ") {
        let number = number(rest)?;
        let of = |&(name, at, bits): &(&'static str, u32, u32)| {
            let high = if name == "vmcnt" && bits == 4 { (number >> VEGA_VMCNT & 3) << 4 } else { 0 };
            (name, number >> at & ((1 << bits) - 1) | high)
        };
        return Some(fields.iter().map(of).collect());
    }
    let (counters, rest) =
        SINGLE.iter().find_map(|(start, counters)| Some((counters, inst.strip_prefix(start)?.strip_prefix(' ')?)))?;
    let number = number(rest)?;
    Some(match counters {
        [first, second] => vec![(first, number >> 8), (second, number & 63)],
        _ => counters.iter().map(|counter| (*counter, number)).collect(),
    })
}

/// LLVM may wait before a loop for what the loop would wait for in its iterations. Where such a wait is needed, it is
/// directly before the instruction that needs it, after the label.
fn is_before_loop(listing: &[Item], gap: &Gap) -> bool {
    matches!(
        listing.get(gap.before),
        Some(Item::Label(label)) if branches(listing, label).any(|branch| branch > gap.before)
    )
}

/// On gfx6, LLVM waits until an atomic has read its data even if its result has been waited for, which arrives later.
/// Returns true if that is the case on all paths. Accesses complete in order, so a wait for all but the last few also
/// waits for the earlier ones.
fn is_known_to_be_read(listing: &[Item], gap: &Gap, fields: &Fields) -> bool {
    let Some(next) = inst_at(listing, gap.before) else { return false };
    let written: Vec<String> = next.registers(false).collect();
    // Positions before it, and how many accesses before each may still be pending; `None` if unknown.
    let mut before = vec![(gap.before, None)];
    let mut seen = BTreeSet::new();
    let mut is_read = false;
    while let Some((at, open)) = before.pop() {
        if at == 0 || !seen.insert((at, open)) {
            continue;
        }
        match &listing[at - 1] {
            Item::Label(label) => {
                before.push((at - 1, open));
                before.extend(branches(listing, label).map(|branch| (branch, open)));
            }
            Item::Inst(inst) if ["S_BRANCH", "S_ENDPGM"].contains(&plain(&inst.opcode)) => {}
            Item::Inst(inst) if reads(inst, &written) => {
                if open != Some(0) || !inst.returns() {
                    return false;
                }
                is_read = true;
            }
            Item::Inst(inst) => {
                let waited = counts(&inst.machine_code(&|_| 0), fields).unwrap_or_default();
                if !waited.contains(&("expcnt", 0)) {
                    before.push((at - 1, still_open(open, inst, &waited)));
                }
            }
        }
    }
    is_read
}

/// How many of the accesses that may be pending after an instruction may be pending before it.
fn still_open(open: Option<u32>, inst: &Inst, waited: &[(&str, u32)]) -> Option<u32> {
    if ["BUFFER_", "IMAGE_"].iter().any(|start| inst.opcode.starts_with(start)) {
        return open.map(|open| open.saturating_sub(1));
    }
    let waits = waited.iter().filter(|(counter, count)| *counter == "vmcnt" && *count < MOST_OF_GFX6);
    waits.map(|(_, count)| *count).chain(open).min()
}

/// Returns true if a store or an atomic reads one of these registers.
fn reads(inst: &Inst, registers: &[String]) -> bool {
    let stores = ["BUFFER_STORE", "BUFFER_ATOMIC", "IMAGE_STORE", "IMAGE_ATOMIC"];
    let has_data = stores.iter().any(|start| inst.opcode.starts_with(start));
    has_data && inst.registers(true).any(|name| registers.contains(&name))
}
