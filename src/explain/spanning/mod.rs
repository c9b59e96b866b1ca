//! The answer for an operation that is wider than the subgroup: its program over several subgroups, which exchange
//! values in workgroup memory.

mod cost;
mod steps;

pub use steps::{Phase, SpanLine};

use super::lowering::{self, Lowering};
use super::operations::{Site, Wide};
use super::picture::{Parts, parts};
use super::{OnProfile, first_with_copies, text};
use crate::ir::spanning::{SizedProgram, Usage, programs};
use crate::lane::spanning::{Given, SpanOp};
use crate::lane::{LaneOp, Width};
use crate::profile::Profile;
use serde::Serialize;
use std::{fmt, iter};

/// The invocations of the workgroup for operations outside a shader: a usual number.
const WORKGROUP: u32 = 256;

/// The size of an operation over several subgroups, and its cost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Extent {
    /// Number of subgroups of a segment, or of the smallest ones that a driver may choose.
    pub subgroups: u32,
    /// Lanes of such a subgroup.
    pub lanes: u32,
    /// If a driver chooses the size: the program runs where its subgroups have so many lanes and more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// If a driver chooses the size: the program runs where its subgroups have fewer lanes than this.
    pub below: Option<u32>,
    /// True if every subgroup has `lanes` lanes.
    #[serde(skip)]
    pub is_exact: bool,
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
        if self.is_exact { "subgroup" } else { "part" }
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
    /// The program for narrower subgroups, if a driver chooses the size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrower: Option<Box<Spanned>>,
    /// The program, in order.
    pub steps: Vec<SpanLine>,
    pub picture: Option<Parts>,
    /// True outside a shader, whose stage must have workgroup memory.
    #[serde(skip)]
    is_alone: bool,
    /// True for an operation over the whole workgroup.
    #[serde(skip)]
    is_of_workgroup: bool,
}

impl Spanned {
    /// `through workgroup memory: 2 subgroups of 32 lanes, 1 barrier`.
    pub fn head(&self) -> String {
        let Extent { subgroups, lanes, .. } = self.extent;
        let of = format!("{} of {}", text::count(subgroups, self.extent.part()), text::count(lanes, "lane"));
        let stages = match (self.is_alone, self.is_of_workgroup) {
            (false, _) => String::new(),
            (true, false) => "; in compute, task and mesh shaders".to_owned(),
            (true, true) => format!("; in a workgroup of {WORKGROUP} invocations"),
        };
        format!("{}: {of}, {}{stages}", self.extent.means(), self.extent.waits())
    }

    /// `where subgroups have fewer than 64 lanes: through workgroup memory: 16 parts of 4 lanes, 1 barrier`, if a driver
    /// chooses.
    pub fn condition(&self) -> Option<String> {
        let lanes = match (self.extent.from, self.extent.below) {
            (None, None) => return None,
            (None, Some(below)) => format!("fewer than {below} lanes"),
            (Some(from), None) => format!("{from} lanes and more"),
            (Some(from), Some(below)) => format!("{from} lanes and more, but fewer than {below}"),
        };
        Some(format!("where subgroups have {lanes}: {}", self.head()))
    }

    /// The first line of a report: the condition or the head.
    pub fn title(&self) -> String {
        self.condition().unwrap_or_else(|| self.head())
    }

    /// This program and those for narrower subgroups.
    pub fn ways(&self) -> impl Iterator<Item = &Spanned> {
        iter::successors(Some(self), |way| way.narrower.as_deref())
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
        let narrower = match (&self.narrower, &other.narrower) {
            (Some(one), Some(other)) => one.is_like(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        narrower
            && (self.width, self.extent) == (other.width, other.extent)
            && self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(is_step)
    }
}

/// The programs of an operation that is wider than a profile's smallest subgroup, those of the widest subgroups first.
struct Found {
    ways: Vec<Way>,
    memory: Option<Usage>,
}

/// A program, and for each operation inside the subgroup its copies.
struct Way {
    sized: SizedProgram,
    inside: Vec<Vec<Site>>,
}

/// The programs of an operation, or the reason that there are none; `None` if the operation fits the subgroup.
fn found(site: &Site, profile: &Profile) -> Option<Result<Found, String>> {
    match &site.wide {
        Some(Wide::Program { exchanged, inside }) => {
            let ways = exchanged.programs.iter().cloned().zip(inside.iter().cloned());
            let ways = ways.map(|(sized, inside)| Way { sized, inside }).collect();
            Some(Ok(Found { ways, memory: exchanged.memory }))
        }
        Some(Wide::Refused(reason)) => Some(Err(reason.clone())),
        Some(Wide::Inside) => None,
        // Outside a shader.
        None if site.inst.is_none() && !site.fragment => alone(site, profile).map(Ok),
        None => None,
    }
}

fn alone(site: &Site, profile: &Profile) -> Option<Found> {
    let given = Given { invocations: Some(WORKGROUP), ..Given::of(&site.request(), profile.reproducible) };
    let way = |sized: SizedProgram| {
        let inside = site.inside(&sized.program).into_iter().map(|site| vec![site]).collect();
        Way { sized, inside }
    };
    let ways: Vec<Way> = programs(site.op, given, profile).into_iter().map(way).collect();
    (!ways.is_empty()).then_some(Found { ways, memory: None })
}

/// The size and cost of an operation that is wider than a profile's smallest subgroup, in the smallest ones, or the reason
/// that the profile refuses it. `None` if it fits the subgroup. It stays inside subgroups of [`Extent::below`] lanes and more.
pub fn extent(site: &Site, profile: &Profile) -> Option<Result<Extent, String>> {
    Some(found(site, profile)?.and_then(|found| {
        let (Some(first), Some(last)) = (found.ways.first(), found.ways.last()) else { return Err(String::new()) };
        let extent = cost::extent(site, last, found.memory, profile)?;
        Ok(Extent { below: first.sized.below, ..extent })
    }))
}

/// The program of an operation that is wider than a profile's smallest subgroup, for the widest subgroups that have one, or
/// the reason that the profile refuses it. `None` if it fits the subgroup.
pub fn of(site: &Site, profile: &Profile) -> Option<Result<Box<Spanned>, String>> {
    match found(site, profile)? {
        Ok(found) => {
            let add = |narrower, way: &Way| spanned(site, way, found.memory, profile, narrower).map(Box::new).map(Some);
            found.ways.iter().rev().try_fold(None, add).transpose()
        }
        Err(reason) => Some(Err(reason)),
    }
}

fn spanned(
    site: &Site,
    way: &Way,
    memory: Option<Usage>,
    profile: &Profile,
    narrower: Option<Box<Spanned>>,
) -> Result<Spanned, String> {
    let program = &way.sized.program;
    let inside = inside(way, profile)?;
    let extent = cost::extent(site, way, memory, profile)?;
    let waits = memory.is_some_and(|memory| memory.waits);
    Ok(Spanned {
        width: program.width,
        extent,
        waits,
        shader_bytes: memory.map(|memory| memory.of_module),
        narrower,
        steps: steps::steps(site.op, program, waits, inside),
        picture: parts(&site.request(), program),
        is_alone: site.inst.is_none(),
        is_of_workgroup: site.op.signature().span.width() == Some(Width::WORKGROUP),
    })
}

/// For each step that is an operation inside the subgroup, its code, if it has some that no earlier step has shown.
fn inside(way: &Way, profile: &Profile) -> Result<Vec<Option<Lowering>>, String> {
    let lanes = way.sized.program.steps.iter().filter_map(|step| match step.op {
        SpanOp::Lane(op) => Some(op),
        _ => None,
    });
    let mut shown: Vec<(LaneOp, &[Site])> = Vec::new();
    let mut all = Vec::new();
    for (op, copies) in lanes.zip(&way.inside) {
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
