//! The names of the instructions and functions in the profiles' plans.

use super::{Entry, Means, general};
use crate::backend::Backend;
use crate::ir::ScalarKind;
use crate::lane::catalog::{FOLDS, Sample};
use crate::lane::op::WARP;
use crate::lane::planner::unproven;
use crate::lane::primitive::{DppControl, LdsOp, NvOp, PermlaneOp, ScalarOp};
use crate::lane::{
    Group, GroupOp, GroupReduce, LaneOp, Members, Primitive, ReduceKind, Request, ShuffleMode, StepOp, Swap, VoteOp,
    Width, catalog,
};
use crate::profile::{Profile, Target};
use std::borrow::Cow;

/// The names in the targets' languages, each with the operation that it performs alone.
pub fn of_targets() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let profiles = distinct();
    for sample in catalog::all() {
        let mut kinds = vec![ScalarKind::Uint];
        kinds.extend(sample.inputs.first().map(|input| input.ty.kind));
        for op in with_operators(&sample) {
            let request = Request { op, ..sample.request() };
            profiles.iter().for_each(|profile| gather(&request, profile, &kinds, &mut entries));
        }
    }
    // Operations of the whole subgroup first, because most names mean these.
    entries.sort_by_key(|entry| entry.means.op().is_some_and(|op| op.width().and_then(Width::lanes).is_some()));
    entries
}

/// The operation with each operator, where the catalog has one operator as an example.
fn with_operators(sample: &Sample) -> Vec<LaneOp> {
    let is_integer = sample.inputs.first().is_some_and(|input| input.ty.kind == ScalarKind::Uint);
    match sample.op {
        LaneOp::Partitioned { kind, .. } if is_integer => FOLDS.map(|op| LaneOp::Partitioned { op, kind }).to_vec(),
        op => vec![op],
    }
}

/// The built-in profiles, without those that plan like another one.
fn distinct() -> Vec<Profile> {
    let mut profiles: Vec<Profile> = Vec::new();
    for profile in Profile::all() {
        if !profiles.iter().any(|other| other.plans_like(&profile)) {
            profiles.push(profile);
        }
    }
    profiles
}

fn gather(request: &Request, profile: &Profile, kinds: &[ScalarKind], entries: &mut Vec<Entry>) {
    let Ok(plan) = unproven(request, profile) else { return };
    let primitives = plan.steps.iter().filter_map(|step| match step.op {
        StepOp::Prim(primitive) | StepOp::CombineMoved(_, primitive) => Some(primitive),
        _ => None,
    });
    for (primitive, kind) in primitives.flat_map(|primitive| kinds.iter().map(move |kind| (primitive, *kind))) {
        let Some(op) = own(primitive).map(general) else { continue };
        for name in names(primitive, kind, profile.target) {
            let entry = Entry { name, language: language(profile.target), means: Means::Is(op), note: "" };
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
    }
}

/// The names of an instruction without the text after a colon, and the name of the move that carries a DPP control.
fn names(primitive: Primitive, kind: ScalarKind, target: Target) -> Vec<Cow<'static, str>> {
    let Some(name) = (Backend::of(target).mnemonic)(primitive, kind).filter(|name| !name.contains(' ')) else {
        return Vec::new();
    };
    let name = name.split(':').next().unwrap_or_default().to_owned().into();
    match primitive {
        Primitive::Dpp16(_) => vec![name, "v_mov_b32_dpp".into(), "dpp".into()],
        Primitive::Dpp8(_) => vec![name, "v_mov_b32_dpp8".into()],
        _ => vec![name],
    }
}

/// The language of a target's instructions.
const fn language(target: Target) -> &'static str {
    match target {
        Target::Amd => "AMD assembly",
        Target::Nv => "NVIDIA assembly",
        _ => target.row().language,
    }
}

/// The lanes of an AMD row, and of half a row.
const ROW: Width = Width::new(16).expect("a power of two");
const HALF_ROW: Width = Width::new(8).expect("a power of two");
const WARPS: Width = Width::new(WARP).expect("a power of two");
const WAVE: Width = Width::new(64).expect("a power of two");

/// The operation that an instruction performs alone, or the closest one; `None` for helper instructions.
const fn own(primitive: Primitive) -> Option<LaneOp> {
    match primitive {
        Primitive::Group(op) => Some(of_group(op)),
        Primitive::Nv(op) => of_nv(op),
        Primitive::Dpp16(dpp) => Some(of_dpp(dpp.control)),
        Primitive::Dpp8(_) => Some(LaneOp::Shuffle(ShuffleMode::Index)),
        Primitive::Lds(LdsOp::Swizzle(_)) => Some(LaneOp::SwizzleMasked { and: 31, or: 0, xor: 16 }),
        Primitive::Lds(LdsOp::Bpermute { .. }) => Some(LaneOp::Bpermute),
        Primitive::Lds(LdsOp::Permute { .. }) => Some(LaneOp::Permute),
        Primitive::Lds(LdsOp::Bounce) => None,
        Primitive::Permlane(op) => of_permlane(op),
        Primitive::Scalar(op) => of_scalar(op),
    }
}

const fn of_group(op: GroupOp) -> LaneOp {
    use GroupOp as G;
    match op {
        G::Shuffle => LaneOp::Shuffle(ShuffleMode::Index),
        G::ShuffleXor => LaneOp::Shuffle(ShuffleMode::Xor),
        G::ShuffleUp => LaneOp::Shuffle(ShuffleMode::Up),
        G::ShuffleDown => LaneOp::Shuffle(ShuffleMode::Down),
        G::Rotate(width) => LaneOp::Rotate(width),
        G::Broadcast => LaneOp::Broadcast,
        G::BroadcastFirst => LaneOp::BroadcastFirst,
        G::QuadBroadcast => LaneOp::QuadBroadcast,
        G::QuadSwap(mv) => LaneOp::Quad { mv, float_only: false },
        G::Reduce(op, how) | G::ReduceAmd(op, how) => {
            let (kind, width) = reach(how);
            LaneOp::Reduce { op, kind, width, members: Members::Active }
        }
        G::PartitionedReduce(op, how) => LaneOp::Partitioned { op, kind: reach(how).0 },
        G::Partition => LaneOp::Partition,
        G::SwizzleAmd(mode) => LaneOp::QuadPermuteZero(mode),
        G::SwizzleMaskedAmd { and, or, xor } => LaneOp::SwizzleMasked { and, or, xor },
        G::WriteAmd => LaneOp::WriteLane,
        G::MaskedCountAmd => LaneOp::MaskedCount,
        G::Vote(op) => LaneOp::Vote { op, group: Group::Subgroup },
        G::QuadVote(op) => LaneOp::Vote { op, group: Group::Quad },
        G::Elect => LaneOp::Elect,
        G::Ballot => LaneOp::Ballot(Group::Subgroup),
        G::InverseBallot => LaneOp::InverseBallot,
        G::BallotBitExtract => LaneOp::BallotBit,
        G::BallotBitCount(count) => LaneOp::BallotCount(count),
        G::BallotFindLsb => LaneOp::BallotFindLsb,
        G::BallotFindMsb => LaneOp::BallotFindMsb,
        G::Sync => LaneOp::Sync,
    }
}

const fn reach(how: GroupReduce) -> (ReduceKind, Width) {
    match how {
        GroupReduce::Reduce => (ReduceKind::AllReduce, Width::SUBGROUP),
        GroupReduce::Inclusive => (ReduceKind::Inclusive, Width::SUBGROUP),
        GroupReduce::Exclusive => (ReduceKind::Exclusive, Width::SUBGROUP),
        GroupReduce::Clustered(width) => (ReduceKind::AllReduce, width),
    }
}

const fn of_nv(op: NvOp) -> Option<LaneOp> {
    Some(match op {
        NvOp::Shuffle(mode) => LaneOp::Shuffle(mode),
        NvOp::QuadSwizzle(mv) => LaneOp::Quad { mv, float_only: true },
        NvOp::Vote(op) => LaneOp::Vote { op, group: Group::Subgroup },
        NvOp::Ballot => LaneOp::Ballot(Group::Subgroup),
        NvOp::Reduce(op) => of_group(GroupOp::Reduce(op, GroupReduce::Reduce)),
        NvOp::Match => LaneOp::Partition,
        NvOp::MatchAll => LaneOp::Vote { op: VoteOp::Equal, group: Group::Subgroup },
        NvOp::Sync => LaneOp::Sync,
        NvOp::ShuffleValid(_) => return None,
    })
}

const fn of_dpp(control: DppControl) -> LaneOp {
    use DppControl as C;
    match control {
        C::QuadPerm(mode) => LaneOp::QuadPermute(mode),
        C::RowShl(_) | C::WaveShl | C::WaveRol => LaneOp::Shuffle(ShuffleMode::Down),
        C::RowShr(_) | C::WaveShr | C::WaveRor => LaneOp::Shuffle(ShuffleMode::Up),
        C::RowRor(_) => LaneOp::Rotate(ROW),
        C::RowMirror => LaneOp::Swap(Swap::Reverse, ROW),
        C::RowHalfMirror => LaneOp::Swap(Swap::Reverse, HALF_ROW),
        C::RowBcast15 | C::RowBcast31 | C::RowNewBcast(_) | C::RowShare(_) => LaneOp::Broadcast,
        C::RowXmask(_) => LaneOp::Shuffle(ShuffleMode::Xor),
    }
}

const fn of_permlane(op: PermlaneOp) -> Option<LaneOp> {
    Some(match op {
        PermlaneOp::Row { across: false, .. } | PermlaneOp::RowVar { across: false, .. } => {
            LaneOp::Shuffle(ShuffleMode::Index)
        }
        PermlaneOp::Row { .. } | PermlaneOp::RowVar { .. } => LaneOp::Swap(Swap::Butterfly, WARPS),
        PermlaneOp::SwapFirst { block: 16, .. } | PermlaneOp::SwapSecond { block: 16, .. } => {
            LaneOp::Swap(Swap::Butterfly, WARPS)
        }
        PermlaneOp::Half | PermlaneOp::SwapFirst { .. } | PermlaneOp::SwapSecond { .. } => {
            LaneOp::Swap(Swap::Butterfly, WAVE)
        }
        PermlaneOp::Shared { .. } => return None,
    })
}

const fn of_scalar(op: ScalarOp) -> Option<LaneOp> {
    Some(match op {
        ScalarOp::ReadLane => LaneOp::Broadcast,
        ScalarOp::ReadFirstLane => LaneOp::BroadcastFirst,
        ScalarOp::WriteLane => LaneOp::WriteLane,
        ScalarOp::CountBelowLow | ScalarOp::CountBelowHigh => LaneOp::MaskedCount,
        _ => return None,
    })
}
