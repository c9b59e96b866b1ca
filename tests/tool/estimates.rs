//! The planner's estimates for plans compared with the compiled code: instructions and wait states for every operation
//! in the catalog on every kind of profile. Each difference is a row in `docs/verified/estimates.md`, with its reason.

use crate::explain::shown_of_catalog;
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = "docs/verified/estimates.md";

const HEAD: &str = "# Estimates and what is compiled

The planner compares plans by estimated prices, before it emits code. This page lists the plans of the catalog whose estimate differs from the
compiled program in instructions, set-up or wait states, with the reason. All other estimates are exact. Profiles that compile alike are named
by the first of them. A difference of +1 is one more than estimated, and `×` is the number of operations, types and widths of these
profiles. The test `estimates::differences_are_listed` writes this page. It fails if a row is new, changed or obsolete.

| target | rule | counted | difference | reason | profiles |
|---|---|---|---|---|---|
";

/// The counted parts.
const PARTS: [&str; 3] = ["instructions", "set-up", "wait states"];

const IDLE: &str = "a mask of a bool that may be true in idle lanes is an AND with EXEC, which is not priced";
const HIGHEST: &str = "the number of the highest bit of 64 is chosen from those of two words, which is not priced";
const WHOLE: &str = "two writes of EXEC for the whole wave are priced and not written; before GFX9, M0 is set before the first access of LDS memory";
const COPY: &str = "the copy of what both moves write over is priced and not needed";
const M0: &str = "before GFX9, M0 is set before the first access of LDS memory, which is not priced; a step of the set-up may be part of another";
const ONES: &str = "before GFX10 a shift takes no literal: it is moved to a register, which is not priced";
const MASK: &str = "the 64 ones that are shifted are written by two instructions, which are not priced";
const FOLDED: &str = "a step of the set-up is part of another";
const OF_ZERO: &str = "a shift of 0 in the set-up is folded";
const TESTED: &str = "the result of a vote is the condition code, which logic on the mask has set already";
const NOT_OF_COMPARISON: &str = "the NOT of a comparison is the opposite comparison";
const ALL_OR_NONE: &str =
    "the NOT of a comparison is the opposite comparison; two votes become masks of lanes, which is not priced";
const UNPACKED: &str = "the words of a 64-bit mask are taken apart, which is not priced";
const LOOP: &str = "the loop around the turns, and the copies of its results, are not priced";
const BALLOT_WORD: &str = "a word of a ballot at an index that only the run knows is one instruction, priced as the two that hardware takes; a ballot's four words are one operand, priced as four";
const BOOLS_MOVE: &str = "bools move as words that are 0 or 1, of which one more line makes a bool again";
const UNSIGNED: &str = "folds of bits take unsigned numbers and bools as words, of which one more line makes what they were; a ballot's four words are one operand, priced as four";
const SELECTORS: &str = "moves with equal selectors read them from one register, and each is priced with its own";
const INFINITY: &str = "bools move as words that are 0 or 1, of which one more line makes a bool again; an infinity takes two lines, as no literal says it";
const BALLOT_CALLS: &str = "the words of a ballot are taken out by a line each, and a mask of lanes is a call, which is not priced; a ballot's four words are one operand, priced as four";
const WGSL_JUMPS: &str = "a ballot's four words are one operand, priced as four, and a mask of lanes is a call, priced as none; bools move as words, of which one more line makes a bool again; an infinity takes two lines, as no literal says it";
const OWN_LINE: &str = "an operand that several steps read is assigned to a variable first, which is not priced; a ballot's four words are one operand, priced as four";
const EARLY_MOVES: &str =
    "before SPIR-V 1.3 a vector is moved component by component, and bools move as words that are 0 or 1";
const DRIVERS: &str = "the price counts the instructions that a driver generates for it";
const COMPOSED: &str = "a ballot is made of a 64-bit mask, which costs nothing on hardware";
const PAIRED: &str = "the pair of results is composed by one more; the order of bools may be one comparison";
const NEIGHBOURS: &str = "the price knows the plan alone: the instruction before may have written the operand just now, those after may read the result at once, and others that are put between fill wait states";

const PREDICATE_ALONE: &str =
    "a predicate without its shuffle takes one, of the index, which as a constant is moved to a register";

/// Why the plans of some rules compile to another number than estimated: target, counted quantity, reason, rules.
const REASONS: &[(&str, &str, &str, &[&str])] = &[
    (
        "amd",
        PARTS[0],
        IDLE,
        &[
            "scan of runs by DPP row_shr and row_bcast",
            "scan of runs by DPP row_shr, PERMLANEX16 and READLANE",
            "scan of runs by moves",
        ],
    ),
    ("amd", PARTS[0], ALL_OR_NONE, &["all equal, as all or none"]),
    ("amd", PARTS[0], TESTED, &["comparison with the first active lane", "reduction of a mask", "vote by mask"]),
    ("amd", PARTS[0], HIGHEST, &["jumps from lane to lane of the partition"]),
    ("amd", PARTS[0], WHOLE, &["scan by DPP row_shr, PERMLANEX16 and READLANE", "scan by blocks", "scan by moves"]),
    ("amd", PARTS[0], COPY, &["two moves merged by row and bank masks"]),
    (
        "amd",
        PARTS[1],
        ONES,
        &["all equal, as all or none", "comparison with the first active lane", "reduction of a mask", "vote by mask"],
    ),
    (
        "amd",
        PARTS[1],
        M0,
        &[
            "bitonic network of butterflies",
            "bitonic network of butterflies, minimum and maximum",
            "jumps from lane to lane of the partition",
            "push by masks of the index",
            "scan by blocks",
            "scan by moves",
            "scan of runs by moves",
            "through LDS memory",
        ],
    ),
    ("amd", PARTS[1], MASK, &["mask of lanes"]),
    ("amd", PARTS[1], FOLDED, &["scan of a mask"]),
    ("nv", PARTS[1], OF_ZERO, &["SHFIDX, zero from inactive lanes"]),
    ("ptx", PARTS[1], OF_ZERO, &["shfl.idx, zero from inactive lanes"]),
    (
        "amd",
        PARTS[2],
        NEIGHBOURS,
        &[
            "DPP inside rows",
            "DPP inside rows and PERMLANE swaps between them",
            "DPP inside rows and row_bcast between them",
            "DPP inside rows, DS_SWIZZLE and READLANE between them",
            "READFIRSTLANE",
            "READLANE of a uniform lane",
            "all equal, as all or none",
            "bitonic network of butterflies",
            "bitonic network of butterflies, minimum and maximum",
            "comparison with READFIRSTLANE, in turns",
            "comparison with the first active lane",
            "reduction of a mask",
            "jumps from lane to lane of the partition",
            "mask of active lanes",
            "one DPP move",
            "one of two moves by a mask of lanes",
            "reading of a mask",
            "scan by DPP row_shr and row_bcast",
            "scan of a mask",
            "scan of runs by DPP row_shr and row_bcast",
            "two moves merged by row and bank masks",
            "vote by mask",
            "whole quads of a mask",
        ],
    ),
    (
        "amd",
        PARTS[0],
        SELECTORS,
        &["bitonic network of butterflies", "bitonic network of butterflies, minimum and maximum"],
    ),
    ("nv", PARTS[0], NOT_OF_COMPARISON, &["comparison with the first active lane"]),
    ("nv", PARTS[0], UNPACKED, &["reading of a ballot"]),
    ("ptx", PARTS[0], NOT_OF_COMPARISON, &["comparison with the first active lane"]),
    ("ptx", PARTS[0], UNPACKED, &["reading of a ballot"]),
    ("ptx", PARTS[0], PREDICATE_ALONE, &["predicate of shfl"]),
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
            "reading of a ballot",
            "scan of runs by shuffles",
        ],
    ),
    ("spirv", PARTS[0], PAIRED, &["bitonic network of butterflies"]),
    ("spirv", PARTS[0], LOOP, &["comparison with the first lane that is left, in turns"]),
    ("spirv", PARTS[0], COMPOSED, &["count of a mask"]),
    ("spirv", PARTS[0], EARLY_MOVES, &["vote of equality with the first active lane"]),
    ("spirv", PARTS[0], DRIVERS, &["native reduction of segments", "native scan"]),
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
    ("wgsl", PARTS[0], PAIRED, &["bitonic network of butterflies"]),
    ("wgsl", PARTS[0], LOOP, &["comparison with the first lane that is left, in turns"]),
    (
        "wgsl",
        PARTS[0],
        WGSL_JUMPS,
        &["jumps from active lane to active lane", "jumps from lane to lane of the partition"],
    ),
    ("wgsl", PARTS[0], BOOLS_MOVE, &["tree of butterflies", "vote of equality with the first active lane"]),
    ("wgsl", PARTS[0], BALLOT_CALLS, &["reading of a ballot", "scan of runs by shuffles"]),
    ("wgsl", PARTS[0], INFINITY, &["scan by shuffles"]),
    (
        "wgsl",
        PARTS[0],
        OWN_LINE,
        &["bitonic network of butterflies, minimum and maximum", "guarded shuffle", "range of an NV shuffle"],
    ),
    ("hlsl", PARTS[0], UNSIGNED, &["native scan of partitions"]),
    (
        "glsl",
        PARTS[0],
        OWN_LINE,
        &[
            "ballot",
            "bitonic network of butterflies, minimum and maximum",
            "comparison with the segment's first active lane",
            "guarded shuffle",
            "jumps from active lane to active lane",
            "jumps from lane to lane of the partition",
            "masked swizzle by shuffle",
            "own lanes of a ballot",
            "push by ballots of the index",
            "quad permutation, zero from inactive lanes",
            "range of an NV shuffle",
            "reading of a ballot",
            "scan by shuffles",
            "scan of runs by shuffles",
            "tree of butterflies",
            "vote of equality with the first active lane",
        ],
    ),
    ("glsl", PARTS[0], PAIRED, &["bitonic network of butterflies"]),
    ("glsl", PARTS[0], LOOP, &["comparison with the first lane that is left, in turns"]),
    ("glsl", PARTS[0], COMPOSED, &["count of a mask"]),
];

/// The plans of a rule whose estimates are not exact.
#[derive(Default)]
struct Row {
    profiles: BTreeSet<&'static str>,
    /// Number of plans by the difference from the estimate.
    plans: BTreeMap<i64, usize>,
}

type Key = (&'static str, &'static str, &'static str);

fn rows() -> BTreeMap<Key, Row> {
    let mut rows: BTreeMap<Key, Row> = BTreeMap::new();
    for shown in shown_of_catalog().iter().filter(|shown| shown.is_chosen) {
        // Targets that drivers compile further have no costs: drivers share setup code as they see fit.
        let is_priced = |part: &str| part != PARTS[1] || shown.target.is_hardware();
        let parts = PARTS.iter().zip(shown.priced).zip(shown.written).filter(|((part, _), _)| is_priced(part));
        for ((part, priced), written) in parts.filter(|((_, priced), written)| priced != written) {
            let row = rows.entry((shown.target.name(), shown.rule, part)).or_default();
            row.profiles.insert(&shown.profile);
            *row.plans.entry(i64::from(written) - i64::from(priced)).or_default() += 1;
        }
    }
    rows
}

/// Targets to whose lines another target's reasons also apply.
const ALIKE: &[(&str, &str)] = &[("glsl", "hlsl"), ("glsl", "msl")];

/// Rules whose plans do not have the difference on such a target, or do not exist there: its subgroups have one size,
/// or it has no masks.
const WITHOUT: &[(&str, &str)] =
    &[("msl", "push by ballots of the index"), ("msl", "count of a mask"), ("hlsl", "count of a mask")];

/// The targets of a row of reasons.
fn targets(of: &'static str) -> impl Iterator<Item = &'static str> {
    let like = ALIKE.iter().filter(move |(known, _)| *known == of).map(|(_, other)| *other);
    [of].into_iter().chain(like)
}

fn reason((target, rule, part): &Key) -> Option<&'static str> {
    let is_of = |of| targets(of).any(|known| known == *target);
    let found = REASONS.iter().find(|(of, p, _, rules)| is_of(of) && p == part && rules.contains(rule));
    found.map(|(_, _, reason, _)| *reason)
}

#[test]
fn differences_are_listed() {
    let rows = rows();
    let new: Vec<&Key> = rows.keys().filter(|key| reason(key).is_none()).collect();
    assert!(new.is_empty(), "differences without a reason: {new:?}");
    let of_target =
        |(target, (_, part, _, rules)): (&'static str, &'static (&str, &'static str, &str, &[&'static str]))| {
            rules.iter().map(move |rule| (target, *rule, *part))
        };
    let known = REASONS.iter().flat_map(|row| targets(row.0).map(move |target| (target, row))).flat_map(of_target);
    let is_stale = |key: &Key| !rows.contains_key(key) && !WITHOUT.contains(&(key.0, key.1));
    let stale: Vec<Key> = known.filter(is_stale).collect();
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

/// A plan that is not chosen because of its cost must not be cheaper when compiled: then the cost is wrong.
#[test]
fn the_chosen_plan_costs_least_as_compiled() {
    let mut wrong = Vec::new();
    let mut chosen = None;
    for shown in shown_of_catalog().iter().filter(|shown| shown.target.is_hardware()) {
        if shown.is_chosen {
            chosen = Some(shown);
        }
        let Some(winner) = chosen.filter(|winner| shown.weighed < winner.weighed) else { continue };
        wrong.push(format!("{}: {}: {} before {}", shown.profile, shown.operation, winner.rule, shown.rule));
    }
    assert!(wrong.is_empty(), "{} plans are chosen that others beat:\n{}", wrong.len(), wrong.join("\n"));
}
