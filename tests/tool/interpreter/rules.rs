//! Short programs that break a rule, with corrected versions.

use support::amd::memory::Memory;
use support::amd::target::Target;
use support::amd::{Dispatch, Program, run};

/// A kernel around some lines: it starts with the address of 1024 bytes in its first two argument registers.
fn kernel(target: &Target, lines: &str) -> String {
    let own = match target.version {
        910..1000 => ".amdhsa_accum_offset 32\n",
        1000.. if target.wave == 64 => ".amdhsa_wavefront_size32 0\n",
        _ => "",
    };
    let user = if target.version == 1100 && target.wave == 32 { ".amdhsa_user_sgpr_count 15\n" } else { "" };
    let body: String = lines.split(';').map(|line| line.trim().to_owned() + "\n").collect();
    format!(
        "k:\n{body}s_endpgm\n.amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 8\n\
         .amdhsa_next_free_vgpr 32\n.amdhsa_next_free_sgpr 32\n.amdhsa_group_segment_fixed_size 256\n\
         .amdhsa_float_denorm_mode_32 3\n{own}{user}.end_amdhsa_kernel\n"
    )
}

/// Runs lines in two waves of a workgroup; returns the first words of their memory, with `None` for undefined ones.
fn execute(processor: &str, wave: usize, lines: &str) -> Result<Vec<Option<u32>>, String> {
    let target = Target::new(processor, wave)?;
    let program = Program::read(&kernel(&target, lines), target)?;
    let mut memory = Memory::default();
    let given = memory.add((0..256u32).flat_map(u32::to_le_bytes).collect(), true);
    let arguments = given.to_le_bytes();
    let group_size = [2 * wave as u32, 1, 1];
    run(
        &program,
        &mut memory,
        &Dispatch { groups: [1; 3], group_size, arguments: &arguments, backwards: false, together: false },
    )?;
    let block = memory.block(given).ok_or("no such block")?;
    let words = block.bytes().chunks_exact(4).zip(block.undefined_bits().chunks_exact(4));
    let word = |(bytes, undefined): (&[u8], &[u8])| {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        undefined.iter().all(|bits| *bits == 0).then_some(word)
    };
    Ok(words.map(word).collect())
}

/// A processor, its wave size, lines that break a rule, the message, and lines that follow the rule.
type Rule = (&'static str, usize, &'static str, &'static str, &'static str);

#[track_caller]
fn check(rules: &[Rule]) {
    for (processor, wave, broken, said, kept) in rules {
        let error = execute(processor, *wave, broken).expect_err(&format!("{processor}: {broken}"));
        assert!(error.contains(said), "{processor}: {broken}: {error}");
        if !kept.is_empty() {
            execute(processor, *wave, kept).unwrap_or_else(|why| panic!("{processor}: {kept}: {why}"));
        }
    }
}

#[test]
fn wait_states_of_gfx6_to_gfx9() {
    let dpp = "v_mov_b32 v1, 1; v_mov_b32 v2, v1; {}v_mov_b32_dpp v3, v2 quad_perm:[1,0,3,2]";
    let dpp = |nops: &str| &*dpp.replace("{}", nops).leak();
    check(&[
        ("gfx803", 64, dpp(""), "0 wait states", dpp("s_nop 1;")),
        ("gfx900", 64, dpp("s_nop 0;"), "1 wait states", dpp("s_nop 0; s_nop 0;")),
    ]);
    check(&[
        (
            "gfx701",
            64,
            "v_mov_b32 v1, 3; v_readfirstlane_b32 s4, v1; s_nop 2; v_readlane_b32 s5, v1, s4",
            "LaneSelect",
            "v_mov_b32 v1, 3; v_readfirstlane_b32 s4, v1; s_nop 3; v_readlane_b32 s5, v1, s4",
        ),
        (
            "gfx906",
            64,
            "v_cmp_eq_u32 vcc, 0, v0; s_nop 2; v_div_fmas_f32 v1, v0, v0, v0",
            "Fmas",
            "v_cmp_eq_u32 vcc, 0, v0; s_nop 3; v_div_fmas_f32 v1, v0, v0, v0",
        ),
        (
            "gfx942",
            64,
            "v_cmp_eq_u32 vcc, 0, v0; v_cndmask_b32 v1, 0, 1, vcc",
            "LaneMask",
            "v_cmp_eq_u32 vcc, 0, v0; s_nop 1; v_cndmask_b32 v1, 0, 1, vcc",
        ),
        (
            "gfx942",
            64,
            "v_mov_b32 v1, 1.0; v_rcp_f32 v1, v1; v_add_f32 v1, v1, v1",
            "Transcendental",
            "v_mov_b32 v1, 1.0; v_rcp_f32 v1, v1; s_nop 0; v_add_f32 v1, v1, v1",
        ),
        (
            "gfx950",
            64,
            "v_mov_b32 v1, 1; v_mov_b32 v2, 2; s_nop 0; v_permlane32_swap_b32 v1, v2",
            "Swap",
            "v_mov_b32 v1, 1; v_mov_b32 v2, 2; s_nop 1; v_permlane32_swap_b32 v1, v2",
        ),
    ]);
}

#[test]
fn faults_of_rdna() {
    check(&[
        (
            "gfx1010",
            32,
            "v_mov_b32 v1, 1; ds_swizzle_b32 v1, v1 offset:0x41f; s_mov_b32 exec_lo, -1; s_waitcnt lgkmcnt(0)",
            "VMEMtoScalarWrite",
            "v_mov_b32 v1, 1; ds_swizzle_b32 v1, v1 offset:0x41f; s_waitcnt lgkmcnt(0); s_mov_b32 exec_lo, -1",
        ),
        (
            "gfx1100",
            64,
            "v_mov_b32 v1, 1.0; v_rcp_f32 v1, v1; v_add_f32 v1, v1, v1",
            "VALUTransUse",
            "v_mov_b32 v1, 1.0; v_rcp_f32 v1, v1; s_waitcnt_depctr 0x0fff; v_add_f32 v1, v1, v1",
        ),
        (
            "gfx1100",
            64,
            "v_mov_b32 v1, 1; s_mov_b64 exec, -1; v_mov_b32 v2, 1; v_add_nc_u32 v1, v1, v2",
            "VALUPartialForwarding",
            "v_mov_b32 v1, 1; s_mov_b64 exec, -1; v_mov_b32 v2, 1; s_waitcnt_depctr 0x0fff; v_add_nc_u32 v1, v1, v2",
        ),
        (
            "gfx1100",
            64,
            "s_mov_b64 s[4:5], 1; v_cndmask_b32 v1, 0, 1, s[4:5]; s_mov_b64 s[4:5], 2; v_cndmask_b32 v1, 0, 1, s[4:5]",
            "VALUMaskWrite",
            "s_mov_b64 s[4:5], 1; v_cndmask_b32 v1, 0, 1, s[4:5]; s_mov_b64 s[4:5], 2; s_waitcnt_depctr 0xfffe; \
             v_cndmask_b32 v1, 0, 1, s[4:5]",
        ),
        (
            "gfx1201",
            32,
            "s_mov_b32 s4, 1; v_mov_b32 v1, s4; v_readfirstlane_b32 s4, v1; v_mov_b32 v1, s4",
            "VALUReadSGPR",
            "s_mov_b32 s4, 1; v_mov_b32 v1, s4; v_readfirstlane_b32 s4, v1; s_wait_alu depctr_va_sdst(0); v_mov_b32 v1, s4",
        ),
        (
            "gfx1201",
            32,
            "v_mov_b32 v1, 1; v_cmpx_eq_u32 v1, v1; v_permlane16_b32 v1, v1, 0, 0",
            "VcmpxPermlane",
            "v_mov_b32 v1, 1; v_cmpx_eq_u32 v1, v1; v_mov_b32 v2, v1; v_permlane16_b32 v1, v1, 0, 0",
        ),
    ]);
}

/// Rules over more than two instructions, and over branches.
#[test]
fn hazards_at_a_distance() {
    let masks = "s_mov_b64 s[4:5], 1; s_mov_b32 s9, 0; v_cndmask_b32 v1, 0, 1, s[4:5]; v_mov_b32 v2, s9; \
                 {before}s_mov_b64 s[4:5], 2; {after}v_cndmask_b32 v1, 0, 1, s[4:5]";
    let masks = |before, after| &*masks.replace("{before}", before).replace("{after}", after).leak();
    let forwarding =
        "v_mov_b32 v1, 1; s_mov_b64 exec, -1; v_mov_b32 v2, 1; s_mov_b64 exec, -1; {}v_add_nc_u32 v1, v1, v2";
    let forwarding = |wait| &*forwarding.replace("{}", wait).leak();
    check(&[
        (
            "gfx942",
            64,
            "v_mov_b32 v1, 1; s_nop 0; v_readlane_b32 s4, v1, 3; s_cbranch_execz .L1; v_mov_b32 v2, s4; .L1:",
            "Constant",
            "v_mov_b32 v1, 1; s_nop 0; v_readlane_b32 s4, v1, 3; s_nop 0; s_cbranch_execz .L1; v_mov_b32 v2, s4; .L1:",
        ),
        ("gfx1100", 64, forwarding(""), "VALUPartialForwarding", forwarding("s_waitcnt_depctr 0x0fff; ")),
        ("gfx1150", 64, masks("", ""), "VALUMaskWrite", masks("", "s_waitcnt_depctr 0xfffe; ")),
        ("gfx1150", 64, masks("s_waitcnt_depctr 0xfffe; ", ""), "VALUMaskWrite", ""),
    ]);
}

const LOADS: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0; v_mov_b32 v1, 0; s_waitcnt lgkmcnt(0); ";

#[test]
fn accesses_that_run_again() {
    let loads = |lines: &str| &*format!("{LOADS}{lines}").leak();
    check(&[
        (
            "gfx900",
            64,
            loads("global_load_dword v2, v1, s[4:5]; global_load_dword v1, v1, s[4:5] offset:4"),
            "XNACK",
            loads("global_load_dword v2, v1, s[4:5]; s_nop 0; global_load_dword v1, v1, s[4:5] offset:4"),
        ),
        (
            "gfx942",
            64,
            loads("global_load_dword v2, v1, s[4:5]; global_store_dword v1, v1, s[4:5] offset:8"),
            "XNACK",
            loads("global_store_dword v1, v1, s[4:5] offset:8; global_load_dword v2, v1, s[4:5]"),
        ),
    ]);
}

#[test]
fn invalidations_come_in_time() {
    let load = |lines: &str| &*format!("{LOADS}{lines}; global_load_dword v2, v1, s[4:5]").leak();
    check(&[
        (
            "gfx1030",
            64,
            load("buffer_gl0_inv; buffer_gl1_inv"),
            "BUFFER_GL1_INV",
            load("buffer_gl1_inv; buffer_gl0_inv"),
        ),
        ("gfx1100", 64, load("buffer_gl0_inv; s_barrier"), "before the barrier", load("s_barrier; buffer_gl0_inv")),
    ]);
}

#[test]
fn registers_are_waited_for() {
    check(&[
        (
            "gfx900",
            64,
            "s_load_dword s4, s[0:1], 0x0; v_mov_b32 v1, s4",
            "waited for",
            "s_load_dword s4, s[0:1], 0x0; s_waitcnt lgkmcnt(0); v_mov_b32 v1, s4",
        ),
        (
            "gfx900",
            64,
            "v_mov_b32 v1, 1; ds_swizzle_b32 v2, v1 offset:0x41f; ds_swizzle_b32 v3, v1 offset:0x81f; \
             s_waitcnt lgkmcnt(1); v_mov_b32 v4, v3",
            "waited for",
            "v_mov_b32 v1, 1; ds_swizzle_b32 v2, v1 offset:0x41f; ds_swizzle_b32 v3, v1 offset:0x81f; \
             s_waitcnt lgkmcnt(1); v_mov_b32 v4, v2",
        ),
        // A scalar load may return first, so the wait is certain to cover only one LDS access.
        (
            "gfx900",
            64,
            "v_mov_b32 v1, 1; ds_swizzle_b32 v2, v1 offset:0x41f; ds_swizzle_b32 v3, v1 offset:0x81f; \
             s_load_dword s4, s[0:1], 0x0; s_waitcnt lgkmcnt(1); v_mov_b32 v4, v3",
            "waited for",
            "v_mov_b32 v1, 1; ds_swizzle_b32 v2, v1 offset:0x41f; ds_swizzle_b32 v3, v1 offset:0x81f; \
             s_load_dword s4, s[0:1], 0x0; s_waitcnt lgkmcnt(1); v_mov_b32 v4, v2",
        ),
        // Scalar loads return in any order.
        (
            "gfx900",
            64,
            "s_load_dword s4, s[0:1], 0x0; s_load_dword s5, s[0:1], 0x4; s_waitcnt lgkmcnt(1); v_mov_b32 v1, s4",
            "waited for",
            "",
        ),
        (
            "gfx900",
            64,
            "v_mov_b32 v1, 1; ds_swizzle_b32 v2, v1 offset:0x41f; v_mov_b32 v2, 3",
            "overwritten",
            "v_mov_b32 v1, 1; ds_swizzle_b32 v2, v1 offset:0x41f; v_mov_b32 v1, 3",
        ),
        (
            "gfx1201",
            32,
            "v_mov_b32 v1, 1; ds_swizzle_b32 v2, v1 offset:0x41f; s_wait_kmcnt 0x0; v_mov_b32 v3, v2",
            "waited for",
            "v_mov_b32 v1, 1; ds_swizzle_b32 v2, v1 offset:0x41f; s_wait_dscnt 0x0; v_mov_b32 v3, v2",
        ),
    ]);
}

#[test]
fn nothing_undefined_decides() {
    check(&[
        ("gfx900", 64, "s_cmp_eq_u32 s20, 0; s_cbranch_scc1 k", "undefined", ""),
        ("gfx900", 64, "v_cmpx_eq_u32 vcc, v9, v9", "undefined", ""),
        ("gfx900", 64, "ds_read_b32 v1, v9", "undefined", ""),
        ("gfx900", 64, "s_load_dword s4, s[20:21], 0x0", "undefined", ""),
        ("gfx803", 64, "v_mov_b32 v1, 0; ds_read_b32 v1, v1", "M0", ""),
    ]);
}

#[test]
fn what_a_processor_lacks() {
    check(&[
        ("gfx701", 64, "v_mov_b32_dpp v1, v0 row_mirror", "has no row_mirror", ""),
        ("gfx1030", 32, "v_mov_b32_dpp v1, v0 row_bcast:15", "has no row_bcast", ""),
        ("gfx900", 64, "v_add_nc_u32 v1, v0, v0", "no such instruction", ""),
        ("gfx900", 64, "v_add_u32 v1, s4, s5", "too many scalar", "s_mov_b32 s4, 0; v_add_u32 v1, s4, s4"),
        ("gfx90a", 64, "v_lshlrev_b64 v[1:2], 1, v[2:3]", "even", "v_lshlrev_b64 v[2:3], 1, v[4:5]"),
        ("gfx1201", 32, "s_barrier", "no such instruction", "s_barrier_signal -1; s_barrier_wait -1"),
        ("gfx900", 64, "v_mov_b32 v40, 0", "vector registers", ""),
        ("gfx900", 64, "s_branch nowhere", "no label", ""),
        ("gfx900", 64, "s_branch k", "does not end", ""),
    ]);
}

/// Each lane writes a word; the other wave reads it after a barrier.
#[test]
fn stores_are_seen_after_a_wait() {
    let lines = "v_lshlrev_b32 v1, 2, v0; v_and_b32 v2, 0xfc, v1; ds_write_b32 v2, v0; {}s_barrier; ds_read_b32 v3, v2";
    let error = execute("gfx900", 64, &lines.replace("{}", "")).expect_err("no wait");
    assert!(error.contains("another wave"), "{error}");
    execute("gfx900", 64, &lines.replace("{}", "s_waitcnt lgkmcnt(0); ")).expect("the store is waited for");
}

/// Both halves of a dual instruction read before either writes.
#[test]
fn pairs_read_before_they_write() {
    let lines = "s_load_b64 s[4:5], s[0:1], 0x0; v_dual_mov_b32 v2, 5 :: v_dual_mov_b32 v3, 7; \
                 v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2; v_mov_b32 v1, 0; s_waitcnt lgkmcnt(0); \
                 global_store_b64 v1, v[2:3], s[4:5]";
    let words = execute("gfx1100", 32, lines).expect("a right program");
    assert_eq!(words[..2], [Some(7), Some(5)]);
    check(&[
        ("gfx1030", 32, "v_dual_mov_b32 v2, 5 :: v_dual_mov_b32 v3, 7", "no two instructions", ""),
        (
            "gfx1100",
            32,
            "v_dual_mov_b32 v2, 5 :: v_dual_mov_b32 v4, 7",
            "an even and an odd",
            "v_dual_mov_b32 v2, 5 :: v_dual_mov_b32 v5, 7",
        ),
        (
            "gfx1100",
            32,
            "v_dual_mov_b32 v2, v4 :: v_dual_mov_b32 v5, v6",
            "the same bank",
            "v_dual_mov_b32 v2, v0 :: v_dual_mov_b32 v5, 7",
        ),
        (
            "gfx1100",
            32,
            "v_dual_add_f32 v2, 1.0, v0 :: v_dual_and_b32 v5, 7, v2",
            "the same bank",
            "v_dual_add_f32 v2, 1.0, v0 :: v_dual_mov_b32 v5, 0x123",
        ),
        (
            "gfx1100",
            32,
            "v_dual_add_nc_u32 v2, 7, v0 :: v_dual_mov_b32 v5, 7",
            "not to be had",
            "v_dual_mov_b32 v5, 7 :: v_dual_add_nc_u32 v2, 7, v0",
        ),
        (
            "gfx1201",
            32,
            "v_dual_mov_b32 v5, v0 :: v_dual_add_nc_u32 v0, 7, v0",
            "the other one reads",
            "v_dual_mov_b32 v5, v0 :: v_dual_add_nc_u32 v2, 7, v0",
        ),
        (
            "gfx1201",
            32,
            "v_dual_mov_b32 v2, 0x123 :: v_dual_mov_b32 v5, 0x124",
            "one literal",
            "v_dual_mov_b32 v2, 0x123 :: v_dual_mov_b32 v5, 0x123",
        ),
        (
            "gfx1100",
            32,
            "v_dual_mov_b32 v2, s0 :: v_dual_add_f32 v5, 0x123, s1",
            "not the first operand",
            "v_dual_mov_b32 v2, s0 :: v_dual_mov_b32 v5, s1",
        ),
    ]);
}

/// The product of DirectX 9: zero times infinity is zero.
#[test]
fn a_legacy_product_of_zero_is_zero() {
    let lines = "s_load_dwordx2 s[4:5], s[0:1], 0x0; v_mov_b32 v2, 0x7f800000; v_mul_legacy_f32 v2, 0, v2; v_mov_b32 v1, 0; \
                 s_waitcnt lgkmcnt(0); global_store_dword v1, v2, s[4:5]";
    assert_eq!(execute("gfx900", 64, lines).expect("a right program")[0], Some(0));
}

/// Undefined bits stay in place in bitwise instructions and are stored as undefined.
#[test]
fn undefined_bits_reach_memory() {
    let lines = "s_load_dwordx2 s[4:5], s[0:1], 0x0; v_mov_b32 v1, 0; v_and_b32 v2, 0, v9; v_or_b32 v3, 0xff, v9; \
                 v_add_u32 v4, 1, v9; s_waitcnt lgkmcnt(0); global_store_dword v1, v2, s[4:5]; \
                 global_store_dword v1, v3, s[4:5] offset:4; global_store_byte v1, v3, s[4:5] offset:8; \
                 global_store_dword v1, v4, s[4:5] offset:12";
    let words = execute("gfx900", 64, lines).expect("a right program");
    assert_eq!(words[..4], [Some(0), None, Some(0xff), None]);
}

/// A lane without a source keeps the old value, or gets zero with `bound_ctrl:1`; masks disable rows and banks.
#[test]
fn dpp_keeps_what_it_does_not_write() {
    let store = "s_load_dwordx2 s[4:5], s[0:1], 0x0; v_mov_b32 v1, v0; v_mov_b32 v2, 77; v_lshlrev_b32 v3, 2, v0; s_nop 1; \
                 {}; v_cmp_gt_u32 vcc, 64, v0; s_and_b64 exec, exec, vcc; s_waitcnt lgkmcnt(0); \
                 global_store_dword v3, v2, s[4:5]";
    let moved = |dpp: &str, rule: fn(usize) -> u32| {
        let words = execute("gfx900", 64, &store.replace("{}", dpp)).expect("a right program");
        let expected: Vec<Option<u32>> = (0..64).map(|lane| Some(rule(lane))).collect();
        assert_eq!(words[..64], expected, "{dpp}");
    };
    moved("v_mov_b32_dpp v2, v1 row_shr:3", |lane| if lane % 16 >= 3 { lane as u32 - 3 } else { 77 });
    moved("v_mov_b32_dpp v2, v1 row_shr:3 bound_ctrl:1", |lane| if lane % 16 >= 3 { lane as u32 - 3 } else { 0 });
    moved(
        "v_mov_b32_dpp v2, v1 row_mirror row_mask:0x5",
        |lane| if lane / 16 % 2 == 0 { lane as u32 ^ 15 } else { 77 },
    );
    moved("v_mov_b32_dpp v2, v1 row_ror:4 bank_mask:0x1", |lane| if lane % 16 < 4 { lane as u32 + 12 } else { 77 });
    moved("v_mov_b32_dpp v2, v1 row_bcast:15 row_mask:0xa", |lane| {
        if lane & 16 != 0 { lane as u32 / 16 * 16 - 1 } else { 77 }
    });
    moved("v_add_u32_dpp v2, v1, v2 quad_perm:[1,0,3,2]", |lane| (lane as u32 ^ 1) + 77);
}
