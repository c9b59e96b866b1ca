//! The answer for an operation that is wider than the subgroup: its program over several subgroups, which exchange
//! values in workgroup memory.

mod cost;
mod steps;

pub use steps::{Phase, SpanLine};

use super::lowering::{self, Lowering};
use super::operations::{Site, Wide};
use super::picture::{Parts, parts};
use super::{OnProfile, first_with_copies, text};
use crate::ir::spanning::{Exchanged, program};
use crate::lane::LaneOp;
use crate::lane::spanning::{Given, SpanOp, Spanning};
use crate::profile::Profile;
use serde::Serialize;
use std::fmt;

/// The size of an operation over several subgroups, and its cost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Extent {
    /// Number of subgroups of a segment, or of the smallest ones that a driver may choose.
    pub subgroups: u32,
    /// Lanes of such a subgroup.
    pub lanes: u32,
    /// If a driver chooses the size: where its subgroups have fewer lanes than this, the program runs.
    pub below: Option<u32>,
    /// Barriers that each invocation waits at.
    pub barriers: u32,
    /// Bytes of workgroup memory that it uses; `None` outside a shader, where the size of the workgroup is not known.
    pub bytes: Option<u32>,
    /// Instructions: of the operations inside the subgroup, of the arithmetic, of writes, reads and barriers.
    pub instructions: u32,
    /// Cycles of operations and arithmetic, without memory and barriers.
    pub latency: u32,
    /// Words that an invocation writes and reads.
    pub writes: u32,
    pub reads: u32,
}

impl Extent {
    /// `2 subgroups, 1 barrier`.
    pub fn exchange(&self) -> String {
        format!("{}, {}", text::count(self.subgroups, self.part()), self.waits())
    }

    /// The name of a part of the segment.
    const fn part(&self) -> &'static str {
        if self.below.is_some() { "part" } else { "subgroup" }
    }

    fn waits(&self) -> String {
        if self.exchanges() { text::count(self.barriers, "barrier") } else { "no exchange".into() }
    }

    fn exchanges(&self) -> bool {
        self.writes > 0
    }

    /// The means by which the subgroups work together, as the beginning of a phrase.
    pub fn means(&self) -> &'static str {
        if self.exchanges() { "through workgroup memory" } else { "by the number in the workgroup" }
    }
}

/// `2 subgroups, 1 barrier, 256 B`.
impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.exchange())?;
        self.bytes.filter(|bytes| *bytes > 0).map_or(Ok(()), |bytes| write!(f, ", {bytes} B"))
    }
}

/// An operation over several subgroups.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Spanned {
    /// Invocations of a segment.
    pub width: u32,
    #[serde(flatten)]
    pub extent: Extent,
    /// True if one of the barriers comes first, because invocations may still read the memory.
    pub waits: bool,
    /// Bytes of workgroup memory for all such operations of the shader, which share them.
    pub shader_bytes: Option<u32>,
    /// The program, in order.
    pub steps: Vec<SpanLine>,
    pub picture: Option<Parts>,
    /// True outside a shader, whose stage must have workgroup memory.
    #[serde(skip)]
    is_alone: bool,
}

impl Spanned {
    /// `through workgroup memory: 2 subgroups of 32 lanes, 1 barrier`.
    pub fn head(&self) -> String {
        let Extent { subgroups, lanes, .. } = self.extent;
        let of = format!("{} of {}", text::count(subgroups, self.extent.part()), text::count(lanes, "lane"));
        let stages = if self.is_alone { "; in compute, task and mesh shaders" } else { "" };
        format!("{}: {of}, {}{stages}", self.extent.means(), self.extent.waits())
    }

    /// `where subgroups have fewer than 64 lanes: through workgroup memory: 16 parts of 4 lanes, 1 barrier`, if a driver
    /// chooses.
    pub fn condition(&self) -> Option<String> {
        Some(format!("where subgroups have fewer than {} lanes: {}", self.extent.below?, self.head()))
    }

    /// The notation of the steps.
    pub fn notation(&self) -> String {
        let memory = if self.extent.exchanges() { ", `memory` an array in workgroup memory" } else { "" };
        format!("`number` is the number of the invocation in the workgroup{memory}")
    }

    /// The cost and the memory, as a phrase.
    pub fn summary(&self) -> String {
        let Extent { instructions, latency, writes, reads, bytes, .. } = self.extent;
        let accesses = match (writes, reads) {
            (0, 0) => String::new(),
            _ => format!(" ({}, {})", text::count(writes, "write"), text::count(reads, "read")),
        };
        let mut parts = vec![format!("{}{accesses}", text::count(instructions, "instruction"))];
        if latency > 0 {
            parts.push(format!("{} without memory and barriers", text::count(latency, "cycle")));
        }
        if let Some((own, all)) = bytes.zip(self.shader_bytes).filter(|(own, _)| *own > 0) {
            let all = if own == all { String::new() } else { format!(" of {all} in the shader") };
            parts.push(format!("{} of workgroup memory{all}", text::count(own, "byte")));
        }
        parts.join(", ")
    }

    /// Returns true if the other answer shows the same.
    pub fn is_like(&self, other: &Spanned) -> bool {
        let is_step = |(one, other): (&SpanLine, &SpanLine)| one.is_like(other);
        (self.width, self.extent) == (other.width, other.extent)
            && self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(is_step)
    }
}

/// The program of an operation that is wider than a profile's smallest subgroup.
struct Found {
    exchanged: Exchanged,
    inside: Vec<Vec<Site>>,
}

/// The program of an operation, or the reason that there is none; `None` if the operation fits the subgroup.
fn found(site: &Site, profile: &Profile) -> Option<Result<Found, String>> {
    match &site.wide {
        Some(Wide::Program { exchanged, inside }) => {
            Some(Ok(Found { exchanged: (**exchanged).clone(), inside: inside.clone() }))
        }
        Some(Wide::Refused(reason)) => Some(Err(reason.clone())),
        // Outside a shader.
        None if site.inst.is_none() && !site.fragment => alone(site, profile).map(Ok),
        None => None,
    }
}

fn alone(site: &Site, profile: &Profile) -> Option<Found> {
    let program = program(site.op, Given::of(&site.request(), profile.reproducible), profile)?;
    let inside = site.inside(&program).into_iter().map(|site| vec![site]).collect();
    Some(Found { exchanged: Exchanged { program, memory: None }, inside })
}

/// The size and cost of an operation that is wider than a profile's smallest subgroup, or the reason that the profile
/// refuses it. `None` if it fits the subgroup.
pub fn extent(site: &Site, profile: &Profile) -> Option<Result<Extent, String>> {
    Some(found(site, profile)?.and_then(|found| cost::extent(site, &found, profile)))
}

/// The program of an operation that is wider than a profile's smallest subgroup, or the reason that the profile refuses
/// it. `None` if it fits the subgroup.
pub fn of(site: &Site, profile: &Profile) -> Option<Result<Box<Spanned>, String>> {
    Some(found(site, profile)?.and_then(|found| spanned(site, &found, profile)).map(Box::new))
}

fn spanned(site: &Site, found: &Found, profile: &Profile) -> Result<Spanned, String> {
    let Exchanged { program, memory } = &found.exchanged;
    let inside = inside(program, found, profile)?;
    let extent = cost::extent(site, found, profile)?;
    let waits = memory.is_some_and(|memory| memory.waits);
    Ok(Spanned {
        width: program.width,
        extent,
        waits,
        shader_bytes: memory.map(|memory| memory.of_module),
        steps: steps::steps(site.op, program, waits, inside),
        picture: parts(&site.request(), program),
        is_alone: site.inst.is_none(),
    })
}

/// For each step that is an operation inside the subgroup, its code, if it has some that no earlier step has shown.
fn inside(program: &Spanning, found: &Found, profile: &Profile) -> Result<Vec<Option<Lowering>>, String> {
    let lanes = program.steps.iter().filter_map(|step| match step.op {
        SpanOp::Lane(op) => Some(op),
        _ => None,
    });
    let mut shown: Vec<(LaneOp, &[Site])> = Vec::new();
    let mut all = Vec::new();
    for (op, copies) in lanes.zip(&found.inside) {
        let inputs = |copies: &[Site]| copies.first().map(|site| site.inputs.clone());
        let is_known = shown.iter().any(|(known, other)| *known == op && inputs(other) == inputs(copies));
        shown.push((op, copies));
        let answers = copies.iter().map(|copy| lowering::of(copy, profile)).collect();
        all.push(match first_with_copies(answers) {
            OnProfile::Planned(lowering) if !is_known => Some(*lowering),
            OnProfile::Refused { reason } => return Err(reason),
            _ => None,
        });
    }
    Ok(all)
}
