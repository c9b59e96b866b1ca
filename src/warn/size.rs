//! Notes on operations whose meaning changes with the subgroup size.

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::ir::calls::callees_first;
use crate::ir::{Module, Op};
use crate::lane::{Group, LaneOp, Members, Width};
use crate::profile::Profile;

/// A note for every operation whose meaning depends on the subgroup size, if the profile does not set it; in source
/// order.
pub fn sizes(module: &Module, profile: &Profile) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if profile.wave_size.is_some() {
        return found;
    }
    for entry in &module.entry_points {
        for id in callees_first(module, [entry.function]) {
            for (_, inst) in module.functions[id].insts.iter() {
                let Op::Lane(op, _) = inst.op else { continue };
                let Some(what) = changes(op) else { continue };
                let message = "the meaning of this operation changes with the size of the subgroup";
                let note = Diagnostic::new(Severity::Note, Code::WAVE_SIZE, message).at(inst.span, what);
                found.push(note.help("fix the size with `--wave-size`, or by a profile that states it"));
            }
        }
    }
    found.sort_by_key(Diagnostic::span);
    found.dedup_by(|one, other| one.span() == other.span() && one.labels == other.labels);
    found
}

/// How an operation changes with another subgroup size; `None` for operations that mean the same wherever they are
/// defined.
fn changes(op: LaneOp) -> Option<&'static str> {
    use LaneOp as O;
    Some(match op {
        O::Reduce { width: Width::SUBGROUP, members: Members::All, .. } => "over as many lanes as the subgroup has",
        O::Reduce { width: Width::SUBGROUP, .. } | O::Partitioned { .. } => "over the active lanes of the subgroup",
        O::Segmented { width: Width::SUBGROUP, .. } => "a run ends with the subgroup",
        O::Sort { width: Width::SUBGROUP } => "sorts as many values as the subgroup has lanes",
        O::Swap(swap, Width::SUBGROUP) => swap.row().sized,
        O::Rotate(Width::SUBGROUP) => "turns round at the end of the subgroup",
        O::SegmentLast(Width::SUBGROUP) => "true in the subgroup's last lane",
        O::BroadcastFirst => "the lowest active lane of each subgroup",
        O::Elect => "one lane in each subgroup",
        O::Partition => "the lanes of the subgroup",
        O::Vote { group: Group::Subgroup, .. } | O::Vote { group: Group::Segment(Width::SUBGROUP), .. } => {
            "the active lanes of the subgroup vote"
        }
        O::Ballot(Group::Subgroup) => "a bit for each lane of the subgroup",
        O::LaneIndex(Group::Subgroup) => "counts up to the size of the subgroup",
        O::LaneCount(_) => "the size of the subgroup",
        O::LaneMask(_, Group::Subgroup) => "a bit for each lane of the subgroup",
        O::Vote { group: Group::Warp, .. } | O::Ballot(Group::Warp) | O::ActiveMask => {
            "over 32 lanes, fewer where the subgroup has fewer"
        }
        O::LaneIndex(_) | O::LaneMask(..) => "counts up to 32, or to the size of the subgroup where that is less",
        O::Quad { .. } | O::QuadPermute(_) | O::QuadPermuteZero(_) | O::QuadAdd(_) | O::QuadBroadcast => return None,
        O::Segmented { .. } | O::Sort { .. } | O::Swap(..) | O::SegmentLast(_) | O::Vote { .. } => return None,
        O::ShuffleNvValid(_) | O::SwizzleMasked { .. } | O::WriteLane | O::Broadcast => return None,
        O::BroadcastInWorkgroup => return None,
        O::InverseBallot | O::BallotBit | O::BallotCount(_) | O::BallotFindLsb | O::BallotFindMsb => return None,
        O::Reduce { .. } | O::Ballot(_) | O::MaskedCount | O::Sync => return None,
        O::Shuffle(_) | O::Rotate(_) | O::Bpermute | O::Permute | O::ShuffleNv(_) => {
            let counts_to_size = op.signature().modulo == Some(Width::SUBGROUP);
            return counts_to_size.then_some("the index counts modulo the size of the subgroup");
        }
    })
}
