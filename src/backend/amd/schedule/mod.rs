//! Orders the instructions of each block so that they wait less: a list scheduler on virtual registers.
//!
//! A block is cut where it waits for others or for memory (branches, barriers, fences). Nothing moves across a cut, and
//! loads stay after stores that may write the same memory. Between the cuts, loads start as soon as their addresses are
//! known, grouped by kind, and other instructions run until the results have arrived ([`list`]). A new order is used
//! only if it saves cycles by the table of [`latency`] and preserves the occupancy of the source order.

mod graph;
mod latency;
mod list;
mod pressure;

use super::arch::Arch;
use super::hazards;
use super::live::Live;
use super::machine::{Code, File, Function, Inst, Operand, Pseudo, RegInfo};
use super::mnemonic::Operation;
use super::registers::{Limits, occupancy};
use super::unit::Unit;
use graph::{Builder, Cells};
use latency::Latencies;
use list::Stretch;
use pressure::{Counts, Lives};
use std::ops::Range;

/// A function in a better order.
#[derive(Debug)]
pub struct Scheduled {
    pub function: Function,
    /// Waves per SIMD that the registers should allow: as many as in source order.
    pub waves: u16,
}

/// Kinds of loads, which are grouped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Load {
    Scalar = 0,
    Memory = 1,
    Shared = 2,
}

/// The facts about an instruction that determine its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    pub load: Option<Load>,
    /// Cycles until the next instruction; 0 if it has no code.
    pub issue: u32,
    /// Cycles until its result can be read.
    pub latency: u32,
    /// Cycles until other lanes can read its result.
    pub moved_latency: u32,
    /// Cycles that it may wait for an operand before others are preferred, if it is a load or leads to one.
    pub patience: u32,
}

/// Search windows in instructions; if one takes too many registers, the next one is tried.
const WINDOWS: [u32; 3] = [256, 48, 12];

/// Orders the instructions of all blocks; `None` if the source order stays. `shared_vectors` are registers that the
/// function needs in addition to its own, `slack` the number of registers to keep free.
pub fn schedule(
    function: &Function,
    arch: &Arch,
    limits: &Limits,
    shared_vectors: u16,
    slack: u16,
) -> Option<Scheduled> {
    let (stretches, peak) = stretches(function, arch);
    let (most, waves) = room(arch, limits, [shared_vectors, slack], peak);
    let mut blocks: Vec<Option<Vec<Inst>>> = vec![None; function.blocks.len()];
    for (block, range, stretch) in &stretches {
        let Some(order) = better(stretch, most) else { continue };
        let source = &function.blocks[*block].insts;
        let insts = blocks[*block].get_or_insert_with(|| source.clone());
        for (to, from) in range.clone().zip(order) {
            insts[to] = source[range.start + from as usize].clone();
        }
    }
    if blocks.iter().all(Option::is_none) {
        return None;
    }
    let mut function = function.clone();
    for (block, insts) in function.blocks.iter_mut().zip(blocks) {
        block.insts = insts.unwrap_or_else(|| std::mem::take(&mut block.insts));
    }
    Some(Scheduled { function, waves })
}

/// An order that saves cycles and needs no more registers than are available, or than the source order.
fn better(stretch: &Stretch, most: Counts) -> Option<Vec<u32>> {
    let before = stretch.cycles(stretch.source());
    let fits = |order: &[u32]| {
        let peak = stretch.lives.peak(order.iter().copied());
        (0..2).all(|file| peak[file] <= most[file])
    };
    let idle = stretch.nodes.iter().map(|node| node.issue).sum::<u32>() < before.0;
    let mut orders = WINDOWS.iter().filter(|_| idle).map(|window| stretch.ordered(most, *window));
    orders.find(|order| fits(order)).filter(|order| stretch.cycles(order.iter().copied()) < before)
}

/// The regions of a function that can be ordered: block, instructions, dependences; and the maximum number of live
/// registers.
fn stretches(function: &Function, arch: &Arch) -> (Vec<(usize, Range<usize>, Stretch)>, Counts) {
    let live = Live::new(function, |_| false);
    let bases = bases(function, &live);
    let mut cells = Cells::new(function);
    let (mut stretches, mut peak) = (Vec::new(), [0; 2]);
    let mut number = 0;
    for (at, block) in function.blocks.iter().enumerate() {
        number += 1;
        for range in cuts(&block.insts) {
            let insts = &block.insts[range.clone()];
            let start = number + range.start as u32;
            let nodes: Vec<Node> = insts.iter().map(|inst| node(inst, &function.registers, arch)).collect();
            let mut lives = Lives::new(start, bases[start as usize]);
            let graph = Builder::new(function, &mut cells, &nodes, &mut lives).graph(insts);
            lives.complete(&live);
            let own = lives.peak(0..insts.len() as u32);
            (0..2).for_each(|file| peak[file] = own[file].max(peak[file]));
            stretches.push((at, range, Stretch { nodes, graph, lives }));
        }
        number += block.insts.len() as u32;
    }
    (stretches, peak)
}

/// The regions between instructions that others must not be moved across.
fn cuts(insts: &[Inst]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for (at, _) in insts.iter().enumerate().filter(|(_, inst)| is_cut(inst)) {
        ranges.push(start..at);
        start = at + 1;
    }
    ranges.push(start..insts.len());
    ranges.retain(|range| !range.is_empty());
    ranges
}

/// Returns true if nothing moves across an instruction.
fn is_cut(inst: &Inst) -> bool {
    match inst.code {
        Code::Pseudo(pseudo) => matches!(pseudo, Pseudo::Fence(_)),
        Code::Real(operation) => operation.unit() == Unit::Control,
    }
}

/// The registers that are live before each instruction.
fn bases(function: &Function, live: &Live) -> Vec<Counts> {
    let count: usize = function.blocks.iter().map(|block| block.insts.len() + 1).sum();
    let mut changes = vec![[0; 2]; count + 2];
    for (reg, info) in (0..).map(super::machine::Reg).zip(&function.registers) {
        let file = usize::from(info.file == File::Scalar);
        let whole = super::machine::Slice { reg, first: 0, count: info.width };
        for range in live.parts(whole).iter().flatten() {
            // Before instruction `n` means: existing before `2 n`, where it reads, and still live.
            let (from, to) = (range.from / 2 + 1, range.to / 2 + 1);
            if from < to {
                changes[from as usize][file] += 1;
                changes[to as usize][file] -= 1;
            }
        }
    }
    let mut sum: Counts = [0; 2];
    changes
        .iter()
        .map(|change| {
            (0..2).for_each(|file| sum[file] += change[file]);
            sum
        })
        .collect()
}

/// The maximum number of registers of each file that keep the occupancy of a peak, and that occupancy.
fn room(arch: &Arch, limits: &Limits, [shared_vectors, slack]: [u16; 2], peak: Counts) -> (Counts, u16) {
    let [vectors, scalars] = peak.map(|count| count as u16);
    let waves_of = |vectors: u16, scalars: u16| occupancy(arch, vectors + shared_vectors, scalars);
    let waves = waves_of(vectors, scalars);
    let most_vectors = (vectors..=limits.vectors).take_while(|count| waves_of(*count, scalars) == waves).last();
    let most_scalars = (scalars..=limits.scalars).take_while(|count| waves_of(vectors, *count) == waves).last();
    let less = |most: Option<u16>, own: u16| i32::from(most.unwrap_or(own).saturating_sub(slack).max(own));
    ([less(most_vectors, vectors), less(most_scalars, scalars)], waves)
}

fn node(inst: &Inst, registers: &[RegInfo], arch: &Arch) -> Node {
    let table = Latencies::of(arch.generation);
    let issue = table.vector_issue(arch);
    let moved_latency = issue * (u32::from(hazards::states_before_dpp(arch)) + 1);
    let (load, issue, latency) = match inst.code {
        Code::Pseudo(Pseudo::Copy) => (None, issue, table.vector),
        Code::Pseudo(_) => (None, 0, 0),
        Code::Real(operation) => timing(operation, inst, registers, table, issue),
    };
    Node { load, issue, latency, moved_latency, patience: table.vector }
}

/// The kind of a load, the cycles until the next instruction, and the cycles until the result.
fn timing(
    operation: Operation,
    inst: &Inst,
    registers: &[RegInfo],
    table: &Latencies,
    issue: u32,
) -> (Option<Load>, u32, u32) {
    let is_vector =
        |operand: &Operand| matches!(operand, Operand::Reg(slice) if registers[slice.reg.index()].file == File::Vector);
    let writes_scalar = !inst.defs.first().is_some_and(is_vector);
    match operation.unit() {
        Unit::Transcendental => (None, issue, table.transcendental),
        Unit::Vector if writes_scalar => (None, issue, table.vector_to_scalar),
        Unit::Vector => (None, issue, table.vector),
        Unit::Scalar => (None, table.scalar_issue, table.scalar),
        Unit::ScalarMemory => (Some(Load::Scalar), table.scalar_issue, table.scalar_load),
        Unit::Lds if inst.defs.is_empty() => (None, issue, 0),
        Unit::Lds => (Some(Load::Shared), issue, table.shared),
        Unit::Memory if operation.is_load() => (Some(Load::Memory), issue, table.memory),
        Unit::Memory => (None, issue, if inst.defs.is_empty() { 0 } else { table.memory }),
        Unit::Control => (None, table.scalar_issue, 0),
    }
}

#[cfg(test)]
mod tests;
