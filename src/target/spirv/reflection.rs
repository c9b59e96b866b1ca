//! What a SPIR-V module asks of the caller and the device, as JSON.

use crate::kernel::{InstId, Kernel, Op};
use crate::lane::{Group, LaneOp, Members, Width};
use crate::profile::Profile;
use crate::target::reflection::Reflection;
use rspirv::spirv::{self, Capability};
use serde::Serialize;

/// Words of a module's header (section 2.3).
const HEADER: usize = 5;
/// Lanes of a quad.
const QUAD: u32 = 4;
/// Lanes of NVIDIA's warps, and of the blocks that AMD's masked swizzle moves in.
const WARP: u32 = 32;

/// The facts of every target with those of Vulkan.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    common: Reflection,
    vulkan: Vulkan,
}

/// What a pipeline is to be made with.
#[derive(Serialize)]
struct Vulkan {
    /// Version of SPIR-V.
    spirv: String,
    /// `requiredSubgroupSize` of the stage; none where any will do.
    required_subgroup_size: Option<u32>,
    /// Fewest lanes of a subgroup with which all operations are defined: the widest segment in the shader.
    least_subgroup_size: u32,
    /// What the number of invocations of a workgroup must be a multiple of, so that no segment lacks a lane; none where that is
    /// the size of the subgroup, which the driver chooses. It matters where specialization constants give the size.
    workgroup_multiple: Option<u32>,
    /// Whether lanes are numbered as the operations assume only with `REQUIRE_FULL_SUBGROUPS`.
    full_subgroups: bool,
    capabilities: Vec<String>,
    extensions: Vec<String>,
}

/// The JSON text for the module that was written from a kernel, before its lane operations were planned.
pub fn json(words: &[u32], kernel: &Kernel, profile: &Profile) -> String {
    let needs: Vec<u32> = kernel.insts.iter().filter_map(|(id, inst)| least_lanes(kernel, id, &inst.op)).collect();
    let least = needs.iter().copied().max().unwrap_or(1);
    let takes_all = kernel.insts.iter().any(|(_, inst)| takes_whole_subgroup(&inst.op));
    let whole = Whole {
        common: Reflection::of(kernel, profile.wave_size),
        vulkan: Vulkan {
            spirv: format!("{}.{}", profile.version.0, profile.version.1),
            required_subgroup_size: profile.wave_size,
            least_subgroup_size: least,
            workgroup_multiple: if takes_all { profile.wave_size } else { Some(least) },
            full_subgroups: !needs.is_empty(),
            capabilities: capabilities(words),
            extensions: extensions(words),
        },
    };
    serde_json::to_string_pretty(&whole).expect("numbers and names always serialize") + "\n"
}

/// Fewest lanes that a subgroup must have for a cross-lane operation to be defined; none for other operations.
fn least_lanes(kernel: &Kernel, id: InstId, op: &Op) -> Option<u32> {
    let Op::Lane { op, .. } = op else { return None };
    let stated = op.width().and_then(Width::lanes);
    Some(stated.unwrap_or(match op {
        LaneOp::Quad { .. } | LaneOp::QuadAdd(_) | LaneOp::QuadPermute(_) => QUAD,
        LaneOp::QuadPermuteZero(_) | LaneOp::QuadBroadcast => QUAD,
        LaneOp::Vote { group: Group::Quad, .. } | LaneOp::Ballot(Group::Quad) => QUAD,
        LaneOp::Vote { group: Group::Segment(width), .. } | LaneOp::Ballot(Group::Segment(width)) => width.lanes_in(1),
        LaneOp::ShuffleNv(_) | LaneOp::ShuffleNvValid(_) => {
            let width = kernel.args(id).last().and_then(|width| kernel.as_constant(*width));
            width.map_or(WARP, |width| width as u32)
        }
        LaneOp::SwizzleMasked { .. } => WARP,
        _ => 1,
    }))
}

/// Whether every lane of the subgroup must run the operation.
fn takes_whole_subgroup(op: &Op) -> bool {
    let Op::Lane { op, .. } = op else { return false };
    op.width() == Some(Width::SUBGROUP)
        && !matches!(op, LaneOp::Fold { members: Members::Active, .. } | LaneOp::SegmentLast(_))
}

/// The instructions of a module: their operation and their operands.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (head, _) = rest.split_first()?;
        let length = (head >> 16).max(1) as usize;
        let (inst, after) = rest.split_at_checked(length)?;
        rest = after;
        Some((head & 0xffff, &inst[1..]))
    })
}

fn capabilities(words: &[u32]) -> Vec<String> {
    let all = instructions(words).filter(|(op, _)| *op == spirv::Op::Capability as u32);
    let mut names: Vec<String> =
        all.filter_map(|(_, operands)| Capability::from_u32(*operands.first()?)).map(|it| format!("{it:?}")).collect();
    names.sort();
    names
}

fn extensions(words: &[u32]) -> Vec<String> {
    let all = instructions(words).filter(|(op, _)| *op == spirv::Op::Extension as u32);
    let mut names: Vec<String> = all.map(|(_, operands)| text(operands)).collect();
    names.sort();
    names
}

/// A literal string: UTF-8 in little-endian words, ended by a NUL (section 2.2.1).
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
