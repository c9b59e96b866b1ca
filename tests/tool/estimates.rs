//! The planner's estimate of a plan beside the compiled one: instructions and wait states of every operation of the
//! catalog on every kind of profile. Each difference is a row of `docs/verified/estimates.md`, with its reason.

use crate::explain::shown_of_catalog;
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = "docs/verified/estimates.md";

const HEAD: &str = "# Estimates and what is compiled

The planner chooses among plans by prices, before anything is emitted. Here are the plans of the catalog of operations
whose instructions or wait states are not as many in the program that is compiled for them as they are priced, with the
reason; all others are priced as they are compiled. Several profiles that compile alike are named by the first of them. A
difference of +1 is one more than priced, and `×` says for how many operations, types and widths of these profiles. The test
`estimates::differences_are_listed` makes this page, and fails where a row is new, has changed or is no longer there.

| target | rule | counted | difference | reason | profiles |
|---|---|---|---|---|---|
";

/// The parts that are counted.
const PARTS: [&str; 2] = ["instructions", "wait states"];

const LITERAL: &str = "before GFX10 a select takes no literal: the value of idle lanes is moved to a register";
const COPY: &str = "the copy of an operand that a DPP instruction overwrites is priced and not needed, as nothing reads the operand later; where idle lanes take part, before GFX10, their value is moved to a register";
const SELECTORS: &str = "one selector of PERMLANE16 is moved to a scalar register at the operation and is priced as set-up; a copy of an overwritten operand is priced and not needed where nothing reads it later";
const SCAN: &str = "the copy of an overwritten operand is priced and not needed; one selector of PERMLANE16 is moved to a scalar register at the operation and is priced as set-up; set-up that follows the lane's number stands among the instructions";
const BALLOT: &str = "a ballot of a bool that is false in idle lanes already takes no instruction but is priced as one; a test for no lanes is two instructions, and is priced as one";
const OWN_WORD: &str = "each way through workgroup memory cuts the address to the wave's part and adds where that begins, which is not priced; set-up that follows the lane's number stands among the instructions";
const HIGHEST: &str = "the number of the highest bit is four instructions, as the hardware counts zeros and says -1 for none, and is priced as two; a way through workgroup memory adds where the wave's part begins";
const LOOP: &str = "the loop around the turns, and the copies of its results, are not priced";
const OR_OF_ZERO: &str = "an OR with the constant 0 is priced and folded away";
const BOOLS: &str =
    "an order of bools is two instructions and priced as one; selectors of PERMLANE16 are priced as set-up";
const SET_UP_AMONG: &str = "set-up that only one instruction reads is placed right before it, among the instructions";
const NOT_OF_COMPARISON: &str = "the NOT of a comparison is the opposite comparison";
const UNPACKED: &str = "the words of a 64-bit mask are taken apart, which is not priced";
const BALLOT_WORD: &str = "a word of a ballot at an index that only the run knows is one instruction, priced as the two that hardware takes; a ballot's four words are one operand, priced as four";
const BOOLS_MOVE: &str = "bools move as words that are 0 or 1, of which one more line makes a bool again";
const INFINITY: &str = "bools move as words that are 0 or 1, of which one more line makes a bool again; an infinity takes two lines, as no literal says it";
const BALLOT_CALLS: &str = "the words of a ballot are taken out by a line each, and a mask of lanes is a call, which is not priced; a ballot's four words are one operand, priced as four";
const WGSL_JUMPS: &str = "a ballot's four words are one operand, priced as four, and a mask of lanes is a call, priced as none; bools move as words, of which one more line makes a bool again; an infinity takes two lines, as no literal says it";
const COMPOSED: &str = "a ballot is made of a 64-bit mask, which costs nothing on hardware";
const PAIRED: &str =
    "an order of bools is two instructions and priced as one; the pair of results is composed by one more";
const NEIGHBOURS: &str = "the price knows the plan alone: the instruction before may have written the operand just now, those after may read the result at once, and others that are put between fill wait states";

const MOVED_AS_WORDS: &str = "values of 8 and 16 bits are made words to be moved and cut after, and extended again where arithmetic needs it; 64 bits are taken apart and joined, and bools are words that are 0 or 1: registers of PTX have sizes, and most of this is gone in the machine's code";
const LOWEST: &str = "the number of the lowest set bit is two instructions, and is priced as one";
const PREDICATE_ALONE: &str =
    "a predicate without its shuffle takes one, of the index, which as a constant is moved to a register";
const SELECTED_BOOLS: &str = "predicates are selected by four instructions on them, as no `selp` takes them";

/// Why the plans of some rules are compiled to another number than they are priced: target, what is counted, reason, rules.
const REASONS: &[(&str, &str, &str, &[&str])] = &[
    (
        "amd",
        PARTS[0],
        LITERAL,
        &[
            "DPP inside rows",
            "DPP inside rows and PERMLANE swaps between them",
            "DPP inside rows and row_bcast between them",
            "DPP inside rows, DS_SWIZZLE and READLANE between them",
            "DS_SWIZZLE",
        ],
    ),
    ("amd", PARTS[0], COPY, &["scan by DPP row_shr and row_bcast"]),
    (
        "amd",
        PARTS[0],
        SELECTORS,
        &[
            "one PERMLANE16",
            "one of two moves by a mask of lanes",
            "three moves",
            "two moves merged by row and bank masks",
        ],
    ),
    ("amd", PARTS[0], SCAN, &["scan by DPP row_shr, PERMLANEX16 and READLANE"]),
    (
        "amd",
        PARTS[0],
        BALLOT,
        &[
            "all equal, as all or none",
            "comparison with the first active lane",
            "fold of a mask",
            "mask of active lanes",
            "scan of a mask",
            "vote by mask",
            "whole quads of a mask",
        ],
    ),
    ("amd", PARTS[0], OWN_WORD, &["scan by blocks", "scan by moves", "through LDS memory"]),
    (
        "amd",
        PARTS[0],
        HIGHEST,
        &[
            "jumps from lane to lane of the partition",
            "reading of a mask",
            "scan of runs by DPP row_shr and row_bcast",
            "scan of runs by DPP row_shr, PERMLANEX16 and READLANE",
            "scan of runs by moves",
        ],
    ),
    ("amd", PARTS[0], LOOP, &["comparison with READFIRSTLANE, in turns"]),
    ("amd", PARTS[0], OR_OF_ZERO, &["DS_BPERMUTE"]),
    ("amd", PARTS[0], BOOLS, &["bitonic network of butterflies"]),
    (
        "amd",
        PARTS[1],
        NEIGHBOURS,
        &[
            "DPP inside rows",
            "DPP inside rows and PERMLANE swaps between them",
            "DPP inside rows and row_bcast between them",
            "DPP inside rows, DS_SWIZZLE and READLANE between them",
            "DS_BPERMUTE",
            "READFIRSTLANE",
            "READLANE of a uniform lane",
            "all equal, as all or none",
            "bitonic network of butterflies",
            "comparison with READFIRSTLANE, in turns",
            "comparison with the first active lane",
            "fold of a mask",
            "jumps from lane to lane of the partition",
            "mask of active lanes",
            "one DPP move",
            "one of two moves by a mask of lanes",
            "reading of a mask",
            "scan by DPP row_shr and row_bcast",
            "scan of a mask",
            "scan of runs by DPP row_shr and row_bcast",
            "select of one lane",
            "two moves merged by row and bank masks",
            "vote by mask",
            "whole quads of a mask",
        ],
    ),
    (
        "nv",
        PARTS[0],
        SET_UP_AMONG,
        &[
            "SHFIDX, zero from inactive lanes",
            "bitonic network of SHFXOR",
            "jumps from active lane to active lane",
            "jumps from lane to lane of the partition",
            "steps of SHFUP",
            "steps of SHFUP from the run's head on",
            "tree of SHFIDX over the active lanes",
        ],
    ),
    ("nv", PARTS[0], NOT_OF_COMPARISON, &["comparison with the first active lane"]),
    ("nv", PARTS[0], LOOP, &["comparison with the first lane that is left, in turns"]),
    ("nv", PARTS[0], UNPACKED, &["reading of a ballot"]),
    (
        "ptx",
        PARTS[0],
        MOVED_AS_WORDS,
        &[
            "bitonic network of shfl.bfly",
            "jumps from lane to lane of the partition",
            "steps of shfl.up",
            "tree of shfl.bfly",
        ],
    ),
    (
        "ptx",
        PARTS[0],
        LOWEST,
        &[
            "comparison with the first active lane",
            "reading of a ballot",
            "shfl.idx from the lowest active lane",
            "tree of shfl.idx over the active lanes",
        ],
    ),
    ("ptx", PARTS[0], PREDICATE_ALONE, &["predicate of shfl"]),
    ("ptx", PARTS[0], SELECTED_BOOLS, &["select of one lane"]),
    ("ptx", PARTS[0], LOOP, &["comparison with the first lane that is left, in turns"]),
    (
        "spirv",
        PARTS[0],
        BALLOT_WORD,
        &[
            "ballot",
            "comparison with the segment's first active lane",
            "jumps from lane to lane of the partition",
            "masked swizzle by shuffle",
            "own lanes of a ballot",
            "push by ballots of the index",
            "quad permutation, zero from inactive lanes",
            "scan of runs by shuffles",
        ],
    ),
    ("spirv", PARTS[0], PAIRED, &["bitonic network of butterflies"]),
    ("spirv", PARTS[0], LOOP, &["comparison with the first lane that is left, in turns"]),
    ("spirv", PARTS[0], COMPOSED, &["count of a mask"]),
    (
        "wgsl",
        PARTS[0],
        BALLOT_WORD,
        &[
            "ballot",
            "comparison with the segment's first active lane",
            "masked swizzle by shuffle",
            "own lanes of a ballot",
            "push by ballots of the index",
            "quad permutation, zero from inactive lanes",
        ],
    ),
    (
        "wgsl",
        PARTS[0],
        BOOLS_MOVE,
        &["native reduction", "tree of butterflies", "vote of equality with the first active lane"],
    ),
    ("wgsl", PARTS[0], INFINITY, &["scan by shuffles"]),
    ("wgsl", PARTS[0], BALLOT_CALLS, &["reading of a ballot", "scan of runs by shuffles"]),
    (
        "wgsl",
        PARTS[0],
        WGSL_JUMPS,
        &["jumps from active lane to active lane", "jumps from lane to lane of the partition"],
    ),
    ("wgsl", PARTS[0], PAIRED, &["bitonic network of butterflies"]),
    ("wgsl", PARTS[0], LOOP, &["comparison with the first lane that is left, in turns"]),
];

/// The plans of a rule that are not as they are priced.
#[derive(Default)]
struct Row {
    profiles: BTreeSet<&'static str>,
    /// How many plans there are by how much more they take.
    plans: BTreeMap<i64, usize>,
}

type Key = (&'static str, &'static str, &'static str);

fn rows() -> BTreeMap<Key, Row> {
    let mut rows: BTreeMap<Key, Row> = BTreeMap::new();
    for shown in shown_of_catalog() {
        for ((part, priced), written) in PARTS.iter().zip(shown.priced).zip(shown.written).filter(|((_, p), w)| p != w)
        {
            let row = rows.entry((shown.target.name(), shown.rule, part)).or_default();
            row.profiles.insert(&shown.profile);
            *row.plans.entry(i64::from(written) - i64::from(priced)).or_default() += 1;
        }
    }
    rows
}

fn reason((target, rule, part): &Key) -> Option<&'static str> {
    let found = REASONS.iter().find(|(t, p, _, rules)| t == target && p == part && rules.contains(rule));
    found.map(|(_, _, reason, _)| *reason)
}

#[test]
fn differences_are_listed() {
    let rows = rows();
    let new: Vec<&Key> = rows.keys().filter(|key| reason(key).is_none()).collect();
    assert!(new.is_empty(), "differences without a reason: {new:?}");
    let known =
        REASONS.iter().flat_map(|(target, part, _, rules)| rules.iter().map(move |rule| (*target, *rule, *part)));
    let stale: Vec<Key> = known.filter(|key| !rows.contains_key(key)).collect();
    assert!(stale.is_empty(), "reasons of differences that are no longer there: {stale:?}");
    let line = |(key, row): (&Key, &Row)| {
        let plans: Vec<String> = row.plans.iter().map(|(more, count)| format!("{more:+} × {count}")).collect();
        let profiles: Vec<&str> = row.profiles.iter().copied().collect();
        let (target, rule, part) = key;
        let (reason, plans, profiles) = (reason(key).unwrap_or_default(), plans.join(", "), profiles.join(", "));
        format!("| {target} | {rule} | {part} | {plans} | {reason} | {profiles} |\n")
    };
    let text: String = rows.iter().map(line).collect();
    support::bless::hold(PAGE, &format!("{HEAD}{text}")).unwrap();
}
