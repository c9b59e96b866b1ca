//! `crosslane ops NAME`: operations by their names in other languages, and the book's page about them.

use crate::book::root;
use crate::folder::{Folder, status, stderr, stdout};
use serde_json::Value;
use support::bless;

/// The answer with the code for two profiles; all of them would take a while.
fn answer(folder: &Folder, name: &str) -> String {
    let output = folder.run(&["ops", name, "-p", "spirv-1.5,gfx1100"]);
    assert_eq!(status(&output), 0, "{name}: {}", stderr(&output));
    stdout(&output)
}

/// A name, its replacement, and its page.
const NAMES: [(&str, &str, &str); 48] = [
    ("allReduceAdd8", "allReduceAdd8(v)", "all-reduce"),
    ("subgroupShuffleXor", "subgroupShuffleXor(", "shuffle"),
    ("subgroupClusteredAdd", "subgroupClusteredAdd(", "active-reduce"),
    ("subgroupBallotExclusiveBitCount", "subgroupBallotExclusiveBitCount(", "ballot-bits"),
    ("gl_SubgroupLtMask", "gl_SubgroupLtMask", "lane-masks"),
    ("shuffleUpNV", "shuffleUpNV(", "shuffle-nv"),
    ("ballotARB", "ballot(p)", "ballot"),
    ("swizzleInvocationsMaskedAMD", "swizzleInvocationsMaskedAMD(", "swizzle-masked"),
    ("subgroupQuadAll", "allQuad(p)", "vote"),
    ("subgroup_reduce_all_add", "allReduceAdd(v)", "all-reduce"),
    ("qd.simt.subgroup.reduce_add", "subgroup_reduce_add(", "reduce"),
    ("ti.simt.warp.ballot", "ballot(p)", "ballot"),
    ("__shfl_up_sync", "subgroupShuffleUp(", "shuffle"),
    ("__shfl_xor", "subgroupShuffleXor(", "shuffle"),
    ("__ballot_sync", "ballot(p)", "ballot"),
    ("__reduce_max_sync", "subgroupMax(", "active-reduce"),
    ("__match_any_sync", "subgroupPartitionNV(", "partition"),
    ("__syncwarp", "subgroupBarrier()", "barrier"),
    ("cub::WarpReduce<float>", "allReduceAdd(v)", "all-reduce"),
    ("cub::WarpScan", "inclusiveAdd(v)", "inclusive"),
    ("tile.shfl", "subgroupShuffle(", "shuffle"),
    ("cg::reduce", "allReduceAdd(v)", "all-reduce"),
    ("shfl.sync.bfly", "subgroupShuffleXor(", "shuffle"),
    ("vote.sync.ballot.b32", "ballot(p)", "ballot"),
    ("redux.sync.add.s32", "subgroupAdd(", "active-reduce"),
    ("SHFL.BFLY", "subgroupShuffleXor(", "shuffle"),
    ("SHFXOR", "subgroupShuffleXor(", "shuffle"),
    ("WaveActiveSum", "subgroupAdd(", "active-reduce"),
    ("WavePrefixSum", "subgroupExclusiveAdd(", "active-scan"),
    ("WaveMultiPrefixProduct", "subgroupPartitionedExclusiveMulNV(", "partition"),
    ("gpu.shuffle", "subgroupShuffle(", "shuffle"),
    ("gpu.shuffle xor", "subgroupShuffleXor(", "shuffle"),
    ("gpu.lane_id", "laneIndex", "lane-index"),
    ("WaveMatch", "subgroupPartitionNV(", "partition"),
    ("QuadReadAcrossDiagonal", "subgroupQuadSwapDiagonal(", "quad-swizzle"),
    ("simd_prefix_exclusive_sum", "subgroupExclusiveAdd(", "active-scan"),
    ("metal::simd_sum", "subgroupAdd(", "active-reduce"),
    ("quad_sum", "allReduceAdd4(v)", "active-reduce"),
    ("quadSwapX", "quadSwizzleX(", "quad-swizzle"),
    ("OpGroupNonUniformFAdd", "subgroupAdd(", "active-reduce"),
    ("OpSubgroupShuffleINTEL", "subgroupShuffle(", "shuffle"),
    ("sub_group_scan_inclusive_add", "subgroupInclusiveAdd(", "active-scan"),
    ("DS_SWIZZLE_B32", "swizzleInvocationsMaskedAMD(", "swizzle-masked"),
    ("ds_bpermute_b32", "bpermute(", "bpermute"),
    ("v_readlane_b32", "broadcast(", "broadcast"),
    ("v_mov_b32_dpp", "quadSwizzleAMD(", "quad-permute"),
    ("quad_perm", "quadSwizzleAMD(", "quad-permute"),
    ("row_xmask", "subgroupShuffleXor(", "shuffle"),
];

#[test]
fn names_of_every_language_are_found() {
    let folder = Folder::new("dictionary");
    for (name, write, page) in NAMES {
        let said = answer(&folder, name);
        assert!(said.contains(write), "{name}: no {write} in\n{said}");
        assert!(said.contains(&format!("docs/operations/{page}.md")), "{name}: no {page} in\n{said}");
        assert!(root().join(format!("docs/operations/{page}.md")).exists(), "{page}");
        let has_code = ["code for", "\ngfx1100-wave32", "\nspirv-1.5"].iter().all(|part| said.contains(part));
        assert!(has_code, "{name}:\n{said}");
    }
}

#[test]
fn a_name_has_the_code_of_the_profiles_that_are_asked_for() {
    let folder = Folder::new("dictionary-code");
    let output = folder.run(&["ops", "WAVEACTIVESUM", "-p", "hlsl-6.6,gfx1100"]);
    let said = stdout(&output);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(
        said.contains("hlsl-6.6: ") && said.contains("WaveActiveSum(") && said.contains("gfx1100-wave32: "),
        "{said}"
    );
    assert!(!said.contains("spirv-"), "{said}");
    let all = stdout(&folder.run(&["ops", "WaveActiveSum"]));
    for target in ["spirv-1.3", "nv-hopper", "gfx", "ptx-sm80", "glsl-450-khr", "hlsl-6.0", "msl-2.1", "wgsl"] {
        assert!(all.lines().any(|line| line.contains(target)), "{target}: {all}");
    }
    let narrow = stdout(&folder.run(&["ops", "WaveActiveSum", "--width", "60"]));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&narrow), words(&all));
}

#[test]
fn what_has_no_counterpart_is_told() {
    let folder = Folder::new("dictionary-none");
    for (name, advice) in [
        ("cub::DeviceScan", "a second dispatch"),
        ("wmma::mma_sync", "GL_KHR_cooperative_matrix"),
        ("simdgroup_matrix", "GL_KHR_cooperative_matrix"),
        ("s_barrier", "barrier()"),
        ("simd_is_helper_thread", "gl_HelperInvocation"),
        ("subgroupMemoryBarrier", "orders accesses to memory"),
    ] {
        let said = answer(&folder, name);
        assert!(said.contains("has no counterpart") && said.contains(advice), "{said}");
    }
}

#[test]
fn parts_of_names_list_them_and_misspelt_ones_get_suggestions() {
    let folder = Folder::new("dictionary-parts");
    let listed = answer(&folder, "simd_prefix");
    assert!(listed.lines().count() >= 4 && listed.contains("simd_prefix_exclusive_sum (MSL): "), "{listed}");
    let extension = answer(&folder, "GL_KHR_shader_subgroup_vote");
    assert!(extension.contains("subgroupAny(") && extension.contains("docs/operations/vote.md"), "{extension}");
    for (name, near) in [
        ("WaveActveSum", "`WaveActiveSum`"),
        ("__shfl_uo_sync", "`__shfl_up_sync`"),
        ("allReduceAd8", "`allReduceAdd8`"),
    ] {
        let output = folder.run(&["ops", name]);
        assert_eq!((status(&output), stdout(&output).as_str()), (2, ""), "{name}");
        assert!(stderr(&output).contains(near), "{name}: {}", stderr(&output));
    }
    let unknown = stderr(&folder.run(&["ops", "quux_frobnicate"]));
    assert!(unknown.starts_with("error: no operation is called `quux_frobnicate`; "), "{unknown}");
}

#[test]
fn a_name_as_data() {
    let folder = Folder::new("dictionary-json");
    let output = folder.run(&["ops", "__reduce_add_sync", "--json", "-p", "ptx-sm80"]);
    let data: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(data["schema"], "crosslane-ops-1");
    let name = &data["names"][0];
    assert_eq!((&name["language"], &name["relation"]), (&"CUDA".into(), &"is".into()), "{name}");
    assert_eq!(name["page"], "docs/operations/active-reduce.md");
    assert!(name["portable"][0]["call"].as_str().unwrap().starts_with("subgroupAdd("), "{name}");
    let hlsl = name["elsewhere"].as_array().unwrap().iter().find(|other| other["language"] == "HLSL").unwrap();
    assert_eq!(hlsl["names"], serde_json::json!(["WaveActiveSum"]));
    assert_eq!(data["operations"][0]["name"], "subgroupAdd and others");
    let all: Value = serde_json::from_str(&stdout(&folder.run(&["ops", "--json", "-p", "ptx-sm80"]))).unwrap();
    assert_eq!(all["names"], serde_json::json!([]));
}

#[test]
fn the_page_is_fresh() {
    let output = Folder::new("dictionary-page").run(&["ops", "--dictionary"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    bless::hold("docs/guide/dictionary.md", &stdout(&output)).unwrap_or_else(|why| panic!("{why}"));
}
