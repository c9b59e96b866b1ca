//! The resources and features that a SPIR-V module needs from the caller and the device, as JSON.

use super::capability;
use crate::backend::Kept;
use crate::backend::reflection::{self, Reflection};
use crate::ir::{EntryPoint, Module};
use crate::kernel::LaneContract;
use crate::profile::Profile;
use rspirv::spirv;
use serde::Serialize;

/// Words of a module's header (section 2.3).
const HEADER: usize = 5;

/// The facts common to all targets, and Vulkan's.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    common: Reflection,
    vulkan: Vulkan,
}

/// The parameters of a pipeline.
#[derive(Serialize)]
struct Vulkan {
    /// Version of SPIR-V.
    spirv: String,
    /// `requiredSubgroupSize` of the stage; `None` for any.
    required_subgroup_size: Option<u32>,
    /// Smallest subgroup for which all operations are defined: the widest segment in the shader, or more if promised.
    least_subgroup_size: u32,
    /// The workgroup's number of invocations must be a multiple of this, so that all segments are full; `None` if it is
    /// the subgroup size, which the driver chooses. It matters if specialization constants set the workgroup size.
    workgroup_multiple: Option<u32>,
    /// True if lanes are numbered as the operations assume only with `REQUIRE_FULL_SUBGROUPS`.
    full_subgroups: bool,
    capabilities: Vec<String>,
    extensions: Vec<String>,
}

/// The JSON text for the module written from one with a single entry point.
pub fn json(words: &[u32], module: &Module, entry: &EntryPoint, kept: Kept, profile: &Profile) -> String {
    let lanes = LaneContract::of_entry(&reflection::settled(module), entry);
    reflection::text(&Whole {
        common: Reflection::of(module, entry, kept, profile.wave_size),
        vulkan: Vulkan {
            spirv: format!("{}.{}", profile.version.0, profile.version.1),
            required_subgroup_size: profile.wave_size,
            least_subgroup_size: lanes.least_of(profile),
            workgroup_multiple: lanes.workgroup_multiple(profile.wave_size),
            full_subgroups: lanes.widest.is_some(),
            capabilities: capabilities(words),
            extensions: extensions(words),
        },
    })
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
    let mut names: Vec<String> = all.filter_map(|(_, operands)| Some(capability::name(*operands.first()?))).collect();
    names.sort();
    names
}

fn extensions(words: &[u32]) -> Vec<String> {
    let all = instructions(words).filter(|(op, _)| *op == spirv::Op::Extension as u32);
    let mut names: Vec<String> = all.map(|(_, operands)| text(operands)).collect();
    names.sort();
    names
}

/// A literal string: UTF-8 in little-endian words, NUL-terminated (section 2.2.1).
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
