//! The meaning of each operation in words: one formula and one sentence per [`LaneOp`], independent of the profile.
//!
//! The formulas are those in the operations' definitions ([`crate::lane::op`]): `i` is the lane's index, `v[j]` the
//! operand of lane `j`, `base` the first lane of a segment. [`crate::lane::meaning`] computes them.

use crate::lane::{
    CountOp, Group, LaneOp, MaskOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, VoteOp, Width,
};

/// The meaning of one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meaning {
    /// The result in lane `i`.
    pub formula: String,
    /// The meaning as a phrase, without a capital letter and a full stop.
    pub words: String,
}

impl Meaning {
    fn new(formula: impl Into<String>, words: impl Into<String>) -> Meaning {
        Meaning { formula: formula.into(), words: words.into() }
    }
}

/// The table.
pub fn meaning(op: LaneOp) -> Meaning {
    use LaneOp as O;
    match op {
        O::Quad { mv, .. } => Meaning::new(format!("v[{}]", quad_index(mv)), quad_words(mv)),
        O::QuadAdd(mv) => Meaning::new(
            format!("v[{}] + operand", quad_index(mv)),
            format!("{}, plus the lane's own operand", quad_words(mv)),
        ),
        O::QuadPermute(mode) => Meaning::new(quad_permute(mode), "the value of the quad's lane that the mode selects"),
        O::QuadPermuteZero(mode) => Meaning::new(
            quad_permute(mode),
            "the value of the quad's lane that the offsets select; 0 from an inactive lane",
        ),
        O::QuadBroadcast => Meaning::new("v[(i & ~3) | lane]", "the value of one lane of the lane's quad"),
        O::Swap(swap, width) => {
            let row = swap.row();
            Meaning::new((row.formula)(width.lanes()), row.words.replace("{}", &segment(width)))
        }
        O::Shuffle(mode) => shuffle(mode),
        O::Rotate(width) => Meaning::new(
            format!("v[base + (local + delta) mod {}]", lanes(width)),
            format!("the value of the lane `delta` above, rotated within {}", segment(width)),
        ),
        O::Bpermute => {
            Meaning::new(format!("v[{}]", counted("index", op)), "the value of the lane that the index selects")
        }
        O::Permute => Meaning::new(
            format!("v[j] of the highest active j with {} == i, or 0", counted("index[j]", op)),
            "the value that another lane pushed to this one",
        ),
        O::ShuffleNv(mode) => shuffle_nv(op, mode),
        O::ShuffleNvValid(mode) => {
            Meaning::new(with_k(valid_nv(mode), op), "true if the source of the shuffle is inside the lane's segment")
        }
        O::Broadcast => Meaning::new("v[lane]", "the value of one lane, in all lanes"),
        O::BroadcastFirst => Meaning::new("v[lowest active lane]", "the value of the lowest active lane, in all lanes"),
        O::BroadcastInWorkgroup => {
            Meaning::new("v[index]", "the value of one invocation of the workgroup, in all of them")
        }
        O::SwizzleMasked { and, or, xor } => Meaning::new(
            format!("v[(i & ~31) | (((i & 31 & {and}) | {or}) ^ {xor})]"),
            "the value of the lane whose index the masks compute from the lane's own; 0 from an inactive lane",
        ),
        O::WriteLane => Meaning::new("i == lane ? new : v", "the lane's own value; one lane gets the new value"),
        O::Reduce { op, kind, width, members } => reduce(op, kind, width, members),
        O::Segmented { op, width } => Meaning::new(
            format!("{}(v[head..=i])", operator_name(op)),
            format!("{} from the nearest head at or below this lane, inside {}", operator_words(op), segment(width)),
        ),
        O::Partitioned { op, kind } => partitioned(op, kind),
        O::Partition => {
            Meaning::new("ballot of the j with v[j] == v[i]", "the active lanes that passed an equal value")
        }
        O::Sort { width } => Meaning::new(
            format!("the pair of rank {} in ascending order", if width.lanes().is_none() { "i" } else { "i - base" }),
            format!("the pairs (key, value) of {} in ascending order", segment(width)),
        ),
        O::Vote { op, group } => vote(op, group),
        O::Elect => Meaning::new("i == lowest active lane", "true in one active lane, the lowest"),
        O::Ballot(group) => {
            Meaning::new("bit j is p[j] of active lane j", format!("one bit for each lane of {}", group_words(group)))
        }
        O::InverseBallot => Meaning::new("bit i of the ballot", "the lane's own bit of a ballot"),
        O::BallotBit => Meaning::new("bit `lane` of the ballot", "another lane's bit of a ballot"),
        O::BallotCount(count) => Meaning::new(
            format!("number of set bits {}", count_range(count)),
            format!("the number of lanes {} in a ballot", count_words(count)),
        ),
        O::BallotFindLsb => Meaning::new("lowest set bit below S", "the lowest lane in a ballot"),
        O::BallotFindMsb => Meaning::new("highest set bit below S", "the highest lane in a ballot"),
        O::MaskedCount => {
            Meaning::new("number of set bits below i", "the number of lanes below this one in a 64-bit mask")
        }
        O::LaneIndex(Group::Subgroup) => Meaning::new("i", "the lane's index in its subgroup"),
        O::LaneIndex(group) => Meaning::new("i - base", format!("the lane's index in {}", group_words(group))),
        O::LaneCount(Group::Subgroup) => Meaning::new("S", "the number of lanes of the subgroup"),
        O::LaneCount(group) => Meaning::new("lanes", format!("the number of lanes of {}", group_words(group))),
        O::SegmentLast(width) => {
            Meaning::new(format!("i == {}", last(width)), format!("true in the last lane of {}", segment(width)))
        }
        O::LaneMask(mask, group) => Meaning::new(
            format!("bit j is j {} i", mask_sign(mask)),
            format!("the lanes of {} whose index is {} the lane's own", group_words(group), mask_words(mask)),
        ),
        O::ActiveMask => Meaning::new("bit j is set for active lane j", "the active lanes of the lane's group of 32"),
        O::Sync => Meaning::new("nothing", "waits for the active lanes of the subgroup"),
    }
}

fn lanes(width: Width) -> String {
    width.lanes().map_or_else(|| all(width).into(), |lanes| lanes.to_string())
}

/// The number of lanes of the whole subgroup or workgroup.
const fn all(width: Width) -> &'static str {
    if matches!(width, Width::WORKGROUP) { "N" } else { "S" }
}

/// An index as it counts.
fn counted(index: &str, op: LaneOp) -> String {
    match op.signature().modulo {
        Some(width) => format!("{index} mod {}", lanes(width)),
        None => index.into(),
    }
}

/// A formula with `k` for the index as it counts.
fn with_k(formula: &str, op: LaneOp) -> String {
    format!("{formula}, k = {}", counted("index", op))
}

/// The highest lane of a segment.
fn last(width: Width) -> String {
    width.lanes().map_or_else(|| format!("{} - 1", all(width)), |lanes| format!("base + {}", lanes - 1))
}

fn segment(width: Width) -> String {
    match (width, width.lanes()) {
        (_, Some(lanes)) => format!("the lane's segment of {lanes} lanes"),
        (Width::WORKGROUP, None) => "the workgroup of `N` invocations".into(),
        (_, None) => "the subgroup".into(),
    }
}

fn group_words(group: Group) -> String {
    match group {
        Group::Subgroup => "the subgroup".into(),
        Group::Quad => "the lane's quad".into(),
        Group::Warp => "the lane's group of 32".into(),
        Group::Segment(width) => segment(width),
    }
}

fn quad_index(mv: QuadMove) -> String {
    match mv {
        QuadMove::Lane(lane) => format!("(i & ~3) | {lane}"),
        QuadMove::X => "i ^ 1".into(),
        QuadMove::Y => "i ^ 2".into(),
        QuadMove::Diagonal => "i ^ 3".into(),
    }
}

fn quad_words(mv: QuadMove) -> String {
    match mv {
        QuadMove::Lane(lane) => format!("the value of lane {lane} of the lane's quad"),
        QuadMove::X => "the value of the neighbour in x".into(),
        QuadMove::Y => "the value of the neighbour in y".into(),
        QuadMove::Diagonal => "the value of the lane across the quad".into(),
    }
}

fn quad_permute(mode: u8) -> String {
    let lane = |k: u8| mode >> (2 * k) & 3;
    format!("v[(i & ~3) | [{}, {}, {}, {}][i & 3]]", lane(0), lane(1), lane(2), lane(3))
}

fn shuffle(mode: ShuffleMode) -> Meaning {
    match mode {
        ShuffleMode::Index => Meaning::new("v[index]", "the value of the lane that the index selects"),
        ShuffleMode::Xor => {
            Meaning::new("v[i ^ mask]", "the value of the lane whose index differs in the bits of the mask")
        }
        ShuffleMode::Up => Meaning::new("v[i - delta]", "the value of the lane `delta` below"),
        ShuffleMode::Down => Meaning::new("v[i + delta]", "the value of the lane `delta` above"),
    }
}

fn shuffle_nv(op: LaneOp, mode: ShuffleMode) -> Meaning {
    let source = match mode {
        ShuffleMode::Index => "base + k",
        ShuffleMode::Xor => "i ^ k",
        ShuffleMode::Up => "i - k",
        ShuffleMode::Down => "i + k",
    };
    let words = match mode {
        ShuffleMode::Index => "the value of one lane of the lane's segment",
        ShuffleMode::Xor => "the value of the lane whose index differs in the bits of `index`",
        ShuffleMode::Up => "the value of the lane `index` below",
        ShuffleMode::Down => "the value of the lane `index` above",
    };
    Meaning::new(
        with_k(&format!("{} ? v[{source}] : v[i]", valid_nv(mode)), op),
        format!("{words}; its own value if that lane is outside the segment"),
    )
}

fn valid_nv(mode: ShuffleMode) -> &'static str {
    match mode {
        ShuffleMode::Index | ShuffleMode::Xor => "k < width",
        ShuffleMode::Up => "local >= k",
        ShuffleMode::Down => "local + k < width",
    }
}

fn reduce(op: ReduceOp, kind: ReduceKind, width: Width, members: Members) -> Meaning {
    let of = if members == Members::Active { "the active lanes of " } else { "" };
    let (range, reach) = reduction_range(kind, width);
    Meaning::new(
        format!("{}(v[{range}])", operator_name(op)),
        format!("{} over {of}{}{reach}", operator_words(op), segment(width)),
    )
}

fn partitioned(op: ReduceOp, kind: ReduceKind) -> Meaning {
    let (_, reach) = reduction_range(kind, Width::SUBGROUP);
    Meaning::new(
        format!("{}(v[j] for j in the partition)", operator_name(op)),
        format!("{} over the active lanes of the lane's partition{reach}", operator_words(op)),
    )
}

/// The lanes that a reduction reads, and the end of the sentence about it.
fn reduction_range(kind: ReduceKind, width: Width) -> (String, &'static str) {
    let first = if width.lanes().is_none() { "0" } else { "base" };
    let all = format!("{first}..={}", last(width));
    match kind {
        ReduceKind::Reduce => (all, ", in its highest lane"),
        ReduceKind::ReduceLow => (all, ", in its lowest lane"),
        ReduceKind::AllReduce => (all, ", in every lane"),
        ReduceKind::Inclusive => (format!("{first}..=i"), ", up to and including this lane"),
        ReduceKind::Exclusive => (format!("{first}..i"), ", up to the lane before this one"),
    }
}

fn operator_name(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "sum",
        ReduceOp::Mul => "product",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::And => "and",
        ReduceOp::Or => "or",
        ReduceOp::Xor => "xor",
    }
}

fn operator_words(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "the sum",
        ReduceOp::Mul => "the product",
        ReduceOp::Min => "the minimum",
        ReduceOp::Max => "the maximum",
        ReduceOp::And => "the AND",
        ReduceOp::Or => "the OR",
        ReduceOp::Xor => "the XOR",
    }
}

fn vote(op: VoteOp, group: Group) -> Meaning {
    let group = group_words(group);
    match op {
        VoteOp::All => Meaning::new("and(p[j])", format!("true if `p` is true in all active lanes of {group}")),
        VoteOp::Any => Meaning::new("or(p[j])", format!("true if `p` is true in any active lane of {group}")),
        VoteOp::Equal => {
            Meaning::new("v[j] all equal", format!("true if all active lanes of {group} passed the same value"))
        }
    }
}

fn count_range(count: CountOp) -> &'static str {
    match count {
        CountOp::All => "below S",
        CountOp::Inclusive => "up to bit i",
        CountOp::Exclusive => "below bit i",
    }
}

fn count_words(count: CountOp) -> &'static str {
    match count {
        CountOp::All => "of the subgroup",
        CountOp::Inclusive => "up to this one",
        CountOp::Exclusive => "below this one",
    }
}

fn mask_sign(mask: MaskOp) -> &'static str {
    match mask {
        MaskOp::Eq => "==",
        MaskOp::Ge => ">=",
        MaskOp::Gt => ">",
        MaskOp::Le => "<=",
        MaskOp::Lt => "<",
    }
}

fn mask_words(mask: MaskOp) -> &'static str {
    match mask {
        MaskOp::Eq => "equal to",
        MaskOp::Ge => "at least",
        MaskOp::Gt => "above",
        MaskOp::Le => "at most",
        MaskOp::Lt => "below",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::{Swap, catalog};

    #[test]
    fn every_operation_has_a_meaning() {
        for sample in catalog::all() {
            let Meaning { formula, words } = meaning(sample.op);
            assert!(!formula.is_empty() && !words.is_empty(), "{:?}", sample.op);
            assert!(!words.ends_with('.') && words.starts_with(|c: char| c.is_lowercase()), "{words}");
        }
    }

    #[test]
    fn widths_and_ends_are_named() {
        let width = Width::new(8).expect("a power of two");
        let fold = |kind| LaneOp::Reduce { op: ReduceOp::Add, kind, width, members: Members::All };
        let all = meaning(fold(ReduceKind::AllReduce));
        assert_eq!(all.formula, "sum(v[base..=base + 7])");
        assert_eq!(all.words, "the sum over the lane's segment of 8 lanes, in every lane");
        assert_eq!(meaning(fold(ReduceKind::Exclusive)).formula, "sum(v[base..i])");
        assert_eq!(meaning(LaneOp::Swap(Swap::Butterfly, Width::SUBGROUP)).formula, "v[i ^ S / 2]");
        assert_eq!(meaning(LaneOp::QuadPermute(0x1b)).formula, "v[(i & ~3) | [3, 2, 1, 0][i & 3]]");
    }
}
