//! LLVM's pass that waits for memory as a judge: where it would wait for more than a listing does, the listing reads or
//! overwrites what is under way. It also knows where branches look at a stale VCCZ. Fences are not its subject.

use super::machine_code::{Gap, Inst, Item, Program, branches, finds as judge_finds, inst_at, plain};
use crosslane::profile::processor::Generation;
use std::collections::{BTreeMap, BTreeSet};

/// Checks that listings wait for all that LLVM waits for.
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
            // Before the end it may give the registers back early.
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
                // The same instruction does not wait for counters whose field is at its maximum.
                theirs.retain(|counter, count| *counter != "expcnt" && *count < MOST_OF_GFX6);
            }
            theirs.first_key_value().map(|(counter, count)| format!("a wait for {counter}({count})"))
        },
    )
}

/// Code that does not wait, for a profile: what LLVM must find.
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

/// Instructions of machine code that wait for one counter, or for two of six bits each.
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

/// How far down an instruction lets counters come, if it waits for counters.
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

/// LLVM may wait before a loop for what the loop would wait for in its rounds. Where a wait is needed, it is directly before the
/// instruction that needs it, after the label.
fn is_before_loop(listing: &[Item], gap: &Gap) -> bool {
    matches!(
        listing.get(gap.before),
        Some(Item::Label(label)) if branches(listing, label).any(|branch| branch > gap.before)
    )
}

/// LLVM waits until an atomic of gfx6 has read its data, though its result was waited for, which comes later. True if that is so
/// on all ways there. Accesses end in order, so that a wait for all but the last few is one for those before them.
fn is_known_to_be_read(listing: &[Item], gap: &Gap, fields: &Fields) -> bool {
    let Some(next) = inst_at(listing, gap.before) else { return false };
    let written: Vec<String> = next.registers(false).collect();
    // Places that come before it, and how many accesses before each may not have ended; none where nothing is known.
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

/// How many accesses before an instruction may not have ended, of those that may not have behind it.
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
