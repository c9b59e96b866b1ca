//! The proof of programs over several subgroups: every invocation of a workgroup runs the program on symbols, in
//! subgroups of every size, and gets what the operation means in a subgroup as wide as the workgroup.
//!
//! Barriers divide the run into phases. A read must find a slot that a single invocation wrote in an earlier phase of
//! the same exchange, and a write must not reach memory that is read in its own phase.

use super::{Column, SpanOp, SpanStep, Spanning};
use crate::lane::check::operands::{patterns, rows};
use crate::lane::check::terms::{Term, Terms, Traits};
use crate::lane::check::{Effort, sorts_bits};
use crate::lane::eval;
use crate::lane::meaning::meaning;
use crate::lane::op::{LaneOp, Members, Width};
use crate::lane::plan::{Operand, Step, StepOp};
use crate::lane::request::Request;
use crate::lane::value::{Domain, LaneRow, LaneValue, Lanes};
use rustc_hash::FxHashMap;
use std::{fmt, iter};

/// The most invocations that the symbols distinguish quickly.
const INVOCATIONS: u32 = 128;

/// Lanes of the widest subgroups (Vulkan allows 128).
const SUBGROUP: u32 = 128;

/// A program that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A step has operands of the wrong kind, or the operation does not take these operands.
    Malformed,
    /// A slot is read that no invocation has written, or whose write no barrier orders before the read.
    Unordered { column: Column, slot: u32 },
    /// Two invocations write one slot, or a write may overtake a read.
    Overwritten { column: Column, slot: u32 },
    /// An invocation gets another value than the operation means.
    Invocation { size: u32, invocation: u32, expected: String, got: String },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Malformed => f.write_str("a step has operands of the wrong kind"),
            Fault::Unordered { column, slot } => {
                write!(f, "slot {slot} of exchange {} is read before a barrier orders its write", column.exchange)
            }
            Fault::Overwritten { column, slot } => {
                write!(f, "slot {slot} of exchange {} is written twice, or while it is read", column.exchange)
            }
            Fault::Invocation { size, invocation, expected, got } => {
                write!(f, "in subgroups of {size} lanes, invocation {invocation} gives {got} where {expected} is meant")
            }
        }
    }
}

/// Checks a program in subgroups of every size from [`Spanning::part`] on. Returns the number of runs.
///
/// # Errors
/// Returns the first fault.
pub fn check(request: &Request, ordered: bool, spanning: &Spanning, effort: Effort) -> Result<u32, Fault> {
    let is_workgroup = request.op.signature().span.width() == Some(Width::WORKGROUP);
    let segments = if is_workgroup { 1 } else { 2 };
    let invocations = (segments * spanning.width).min(INVOCATIONS).max(spanning.width);
    let float = request.inputs.first().is_some_and(|input| input.ty.is_float());
    let total = matches!(request.op, LaneOp::Sort { .. }) && sorts_bits(request);
    let has_order = !matches!(request.op, LaneOp::Reduce { members: Members::Active, .. });
    let traits = Traits { ordered: ordered && float && has_order, float, total };
    let mut runs = 0;
    let sizes = (0..).map(|level| spanning.part << level).take_while(|size| *size <= SUBGROUP.min(invocations));
    for size in sizes {
        for pattern in patterns(request, effort) {
            let inputs = rows(request, invocations, &pattern);
            let (all, domain) = (vec![true; invocations as usize], Terms::new(traits));
            let run = Run { spanning, size, invocations, inputs: &inputs, runs: all, domain };
            run.compare(request)?;
            runs += 1;
        }
    }
    Ok(runs)
}

type TermRow = LaneRow<Term>;

/// The values that every step of a program computes in a workgroup.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace<T> {
    /// For each step the values of the invocations; empty if it has no result.
    pub steps: Vec<LaneRow<T>>,
    /// The result, and the second one if the program has two.
    pub results: Vec<LaneRow<T>>,
}

/// Runs a program in a workgroup of as many invocations as its inputs have, in subgroups of `size` lanes.
///
/// # Errors
/// Returns the first fault.
pub fn trace<D: Domain>(
    domain: D,
    spanning: &Spanning,
    size: u32,
    inputs: &[LaneRow<D::Data>],
) -> Result<Trace<D::Data>, Fault> {
    let invocations = inputs.first().map_or(spanning.width, |row| row.len() as u32);
    let runs = vec![true; invocations as usize];
    Run { spanning, size, invocations, inputs, runs, domain }.trace()
}

/// A run of a workgroup.
struct Run<'a, D: Domain> {
    spanning: &'a Spanning,
    /// Lanes of a subgroup.
    size: u32,
    invocations: u32,
    inputs: &'a [LaneRow<D::Data>],
    /// Whether each invocation runs the steps at this point.
    runs: Vec<bool>,
    domain: D,
}

impl Run<'_, Terms> {
    fn compare(mut self, request: &Request) -> Result<(), Fault> {
        let lanes = Lanes::full(self.invocations);
        let expected = meaning(&mut self.domain, request.op, self.inputs, lanes).ok_or(Fault::Malformed)?;
        if expected.iter().flatten().all(|value| *value == LaneValue::Poison) {
            return Ok(());
        }
        let got = self.trace()?.results;
        if expected.len() != got.len() {
            return Err(Fault::Malformed);
        }
        for (expected, got) in expected.iter().zip(&got) {
            let differs = |(expected, got): (&LaneValue<Term>, &LaneValue<Term>)| {
                *expected != LaneValue::Poison && expected != got
            };
            if let Some(at) = expected.iter().zip(got).position(differs) {
                let show = |row: &TermRow| self.domain.show(row[at]);
                let (size, invocation) = (self.size, at as u32);
                return Err(Fault::Invocation { size, invocation, expected: show(expected), got: show(got) });
            }
        }
        Ok(())
    }
}

impl<D: Domain> Run<'_, D> {
    fn trace(&mut self) -> Result<Trace<D::Data>, Fault> {
        let mut memory = Memory::default();
        let mut steps: Vec<LaneRow<D::Data>> = Vec::new();
        let mut riders: FxHashMap<usize, LaneRow<D::Data>> = FxHashMap::default();
        for (at, step) in self.spanning.steps.iter().enumerate() {
            if let Some(tail) = self.spanning.tail.filter(|tail| usize::from(tail.start) == at) {
                let runs = self.row(tail.condition, &steps).ok_or(Fault::Malformed)?;
                self.runs = runs.iter().map(|value| value.bool()).collect::<Option<_>>().ok_or(Fault::Malformed)?;
            }
            let args: Vec<LaneRow<D::Data>> = step
                .operands()
                .iter()
                .map(|arg| self.row(*arg, &steps))
                .collect::<Option<_>>()
                .ok_or(Fault::Malformed)?;
            let mut row = match step.op {
                SpanOp::Lane(op) => {
                    let mut made = self.in_subgroups(op, &args).ok_or(Fault::Malformed)?;
                    if made.len() > 1 {
                        riders.extend(made.pop().map(|second| (at, second)));
                    }
                    made.pop().ok_or(Fault::Malformed)?
                }
                SpanOp::Riders => match step.args[0] {
                    Operand::Step(sort) => riders.get(&usize::from(sort)).cloned().ok_or(Fault::Malformed)?,
                    _ => return Err(Fault::Malformed),
                },
                SpanOp::Number => (0..self.invocations).map(LaneValue::Index).collect(),
                SpanOp::Plain(op) => self.plain(step, op, &args).ok_or(Fault::Malformed)?,
                SpanOp::Put(column) => self.put(&mut memory, column, &args)?,
                SpanOp::Get(column) => self.get(&mut memory, column, &args)?,
                SpanOp::Barrier => {
                    memory.phase += 1;
                    Vec::new()
                }
            };
            row.iter_mut()
                .zip(&self.runs)
                .filter(|(_, runs)| !**runs)
                .for_each(|(value, _)| *value = LaneValue::Poison);
            steps.push(row);
        }
        let results = [Some(self.spanning.result), self.spanning.second].into_iter().flatten();
        let results =
            results.map(|operand| self.row(operand, &steps).ok_or(Fault::Malformed)).collect::<Result<_, _>>()?;
        Ok(Trace { steps, results })
    }

    fn row(&self, operand: Operand, steps: &[LaneRow<D::Data>]) -> Option<LaneRow<D::Data>> {
        let all = |value| Some(vec![value; self.invocations as usize]);
        match operand {
            Operand::Input(n) => self.inputs.get(usize::from(n)).cloned(),
            Operand::Step(n) => steps.get(usize::from(n)).cloned(),
            Operand::Const(value) => all(LaneValue::Index(value)),
            Operand::Bool(value) => all(LaneValue::Bool(value)),
            Operand::Setup(_) | Operand::None => None,
        }
    }

    /// The meaning of an operation in each subgroup.
    fn in_subgroups(&mut self, op: LaneOp, args: &[LaneRow<D::Data>]) -> Option<Vec<LaneRow<D::Data>>> {
        let size = self.size as usize;
        let mut results: Vec<LaneRow<D::Data>> = Vec::new();
        for start in (0..self.invocations as usize).step_by(size) {
            let count = size.min(self.invocations as usize - start);
            let of_subgroup = |row: &LaneRow<D::Data>| {
                let lanes = row[start..start + count].iter().copied();
                lanes.chain(iter::repeat_n(LaneValue::Poison, size - count)).collect()
            };
            let inputs: Vec<LaneRow<D::Data>> = args.iter().map(of_subgroup).collect();
            let runs = self.runs[start..start + count].iter().enumerate().filter(|(_, runs)| **runs);
            let active = runs.fold(0, |active, (lane, _)| active | 1 << lane);
            let lanes = Lanes { size: self.size, active };
            let made = meaning(&mut self.domain, op, &inputs, lanes)?;
            results.resize(made.len(), Vec::new());
            results.iter_mut().zip(made).for_each(|(all, part)| all.extend_from_slice(&part[..count]));
        }
        Some(results)
    }

    fn plain(&mut self, step: &SpanStep, op: StepOp, args: &[LaneRow<D::Data>]) -> Option<LaneRow<D::Data>> {
        let step = Step { op, args: step.args, ty: step.ty };
        eval::arithmetic(&mut self.domain, &step, args, self.inputs, Lanes::full(self.invocations))
    }

    fn put(
        &self,
        memory: &mut Memory<D::Data>,
        column: Column,
        args: &[LaneRow<D::Data>],
    ) -> Result<LaneRow<D::Data>, Fault> {
        for at in 0..self.invocations as usize {
            match args.get(2).map_or(LaneValue::Bool(true), |condition| condition[at]) {
                LaneValue::Bool(true) => {
                    memory.put(column, args[0][at].index().ok_or(Fault::Malformed)?, args[1][at])?
                }
                LaneValue::Bool(false) => {}
                _ => return Err(Fault::Malformed),
            }
        }
        Ok(Vec::new())
    }

    fn get(
        &self,
        memory: &mut Memory<D::Data>,
        column: Column,
        args: &[LaneRow<D::Data>],
    ) -> Result<LaneRow<D::Data>, Fault> {
        let read = |(slot, runs): (&LaneValue<D::Data>, &bool)| match runs {
            true => memory.get(column, slot.index().ok_or(Fault::Malformed)?),
            false => Ok(LaneValue::Poison),
        };
        args[0].iter().zip(&self.runs).map(read).collect()
    }
}

/// Workgroup memory: two areas, which exchanges use in turn.
struct Memory<T> {
    /// The barriers so far.
    phase: u32,
    /// The value of a slot, and the phase of its write.
    slots: FxHashMap<(Column, u32), (LaneValue<T>, u32)>,
    areas: [Area; 2],
}

#[derive(Default)]
struct Area {
    /// The exchange that wrote last.
    exchange: Option<u8>,
    /// The phase of the last read.
    read: Option<u32>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Memory { phase: 0, slots: FxHashMap::default(), areas: Default::default() }
    }
}

impl<T: Copy> Memory<T> {
    fn put(&mut self, column: Column, slot: u32, value: LaneValue<T>) -> Result<(), Fault> {
        let area = &mut self.areas[usize::from(column.exchange) % 2];
        area.exchange = Some(column.exchange);
        let is_read = area.read == Some(self.phase);
        let before = self.slots.insert((column, slot), (value, self.phase));
        if is_read || before.is_some() { Err(Fault::Overwritten { column, slot }) } else { Ok(()) }
    }

    fn get(&mut self, column: Column, slot: u32) -> Result<LaneValue<T>, Fault> {
        let area = &mut self.areas[usize::from(column.exchange) % 2];
        area.read = Some(self.phase);
        match self.slots.get(&(column, slot)) {
            Some((value, phase)) if *phase < self.phase && area.exchange == Some(column.exchange) => Ok(*value),
            _ => Err(Fault::Unordered { column, slot }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::catalog;
    use crate::lane::op::{Group, VoteOp};
    use crate::lane::request::ScalarKind;
    use crate::lane::spanning::plan::{Given, plan};
    use rustc_hash::FxHashSet;

    /// Segments wider than any subgroup, and workgroups of even and uneven sizes, with the parts of their programs.
    const SEGMENTS: [(u32, &[u32]); 2] = [(256, &[4, 64]), (1024, &[32])];
    const WORKGROUPS: [(u32, &[u32]); 5] = [(1, &[4]), (24, &[4, 32]), (62, &[4]), (100, &[4]), (768, &[32])];

    /// All programs for the operations of the catalog, with their requests and orders.
    fn programs() -> impl Iterator<Item = (catalog::Sample, bool, Spanning)> {
        programs_of(catalog::all(), &[1, 4, 16, 32], None)
    }

    /// The programs for segments that are wider than any subgroup, and for workgroups.
    fn wide_programs(
        segments: &'static [(u32, &[u32])],
        workgroups: &'static [(u32, &[u32])],
    ) -> impl Iterator<Item = (catalog::Sample, bool, Spanning)> {
        let widest = |sample: &catalog::Sample| sample.op.width().and_then(Width::lanes) == Some(128);
        let over = move |width: Width| {
            let samples = catalog::all().into_iter().filter(widest);
            samples.map(move |sample| catalog::Sample { op: sample.op.with_width(width), ..sample }).collect::<Vec<_>>()
        };
        let of_segments = segments.iter().flat_map(move |(lanes, parts)| {
            let width = Width::new(*lanes).expect("a power of two");
            programs_of(over(width), parts, None)
        });
        let of_workgroup = workgroups.iter().flat_map(move |(invocations, parts)| {
            let moves = |sample: &catalog::Sample| matches!(sample.op, LaneOp::Swap(..) | LaneOp::Rotate(_));
            let mut samples = over(Width::WORKGROUP);
            samples.retain(|sample| !moves(sample));
            let broadcast = catalog::all().into_iter().find(|sample| sample.op == LaneOp::Broadcast);
            samples.extend(broadcast.map(|sample| catalog::Sample { op: LaneOp::BroadcastInWorkgroup, ..sample }));
            for op in [VoteOp::All, VoteOp::Any, VoteOp::Equal] {
                let vote = |group| LaneOp::Vote { op, group };
                let known = catalog::all().into_iter().find(|sample| sample.op == vote(Group::Subgroup));
                let op = vote(Group::Segment(Width::WORKGROUP));
                samples.extend(known.map(|sample| catalog::Sample { op, ..sample }));
            }
            programs_of(samples, parts, Some(*invocations))
        });
        of_segments.chain(of_workgroup)
    }

    fn programs_of(
        samples: Vec<catalog::Sample>,
        parts: &'static [u32],
        invocations: Option<u32>,
    ) -> impl Iterator<Item = (catalog::Sample, bool, Spanning)> {
        let ways = move || parts.iter().flat_map(|part| [(*part, false), (*part, true)]);
        let mut seen = FxHashSet::default();
        let kind = |sample: &catalog::Sample| -> Vec<_> {
            // A proof depends on the kinds of the operands, not on their sizes.
            sample.inputs.iter().map(|input| (input.ty.is_float(), input.ty.kind == ScalarKind::Bool)).collect()
        };
        let samples = samples.into_iter().filter(move |sample| seen.insert((sample.op, kind(sample))));
        samples.flat_map(move |sample| {
            ways().filter_map(move |(part, ordered)| {
                let float = sample.inputs.first().is_some_and(|input| input.ty.is_float());
                if ordered && !float {
                    return None;
                }
                let given = Given { inputs: sample.inputs.len(), float, ordered, invocations };
                plan(sample.op, given, part).map(|spanning| (sample.clone(), ordered, spanning))
            })
        })
    }

    #[test]
    fn programs_are_right_in_subgroups_of_every_size() {
        let mut count = 0;
        for (sample, ordered, spanning) in programs() {
            let found = check(&sample.request(), ordered, &spanning, Effort::Glance);
            assert!(found.is_ok(), "{:?} in parts of {}, ordered: {ordered}: {found:?}", sample.op, spanning.part);
            count += 1;
        }
        assert!(count > 200, "{count}");
    }

    #[test]
    fn programs_wider_than_any_subgroup_are_right() {
        let mut count = 0;
        for (sample, ordered, spanning) in wide_programs(&SEGMENTS, &WORKGROUPS) {
            let found = check(&sample.request(), ordered, &spanning, Effort::Glance);
            let Spanning { width, part, .. } = spanning;
            assert!(found.is_ok(), "{:?} of {width} in parts of {part}, ordered: {ordered}: {found:?}", sample.op);
            count += 1;
        }
        assert!(count > 200, "{count}");
    }

    #[test]
    fn every_barrier_is_needed() {
        for (sample, ordered, spanning) in programs().chain(wide_programs(&SEGMENTS[..1], &WORKGROUPS[1..2])) {
            let barriers = (0..spanning.steps.len()).filter(|at| spanning.steps[*at].op == SpanOp::Barrier);
            for at in barriers {
                let mut without = spanning.clone();
                // A step that does nothing keeps the numbers of the others.
                without.steps[at].op = SpanOp::Number;
                let found = check(&sample.request(), ordered, &without, Effort::Glance);
                assert!(
                    matches!(found, Err(Fault::Unordered { .. } | Fault::Overwritten { .. })),
                    "{:?} in parts of {}: {found:?}",
                    sample.op,
                    spanning.part
                );
            }
        }
    }

    #[test]
    fn a_wrong_slot_is_noticed() {
        for (sample, ordered, spanning) in programs().chain(wide_programs(&SEGMENTS[..1], &WORKGROUPS[1..2])) {
            let is_read = |op| matches!(op, SpanOp::Get(Column { value: 0, .. }));
            let mut reads = (0..spanning.steps.len()).filter(|at| is_read(spanning.steps[*at].op));
            // Bools and the values of votes may agree by chance.
            let is_bool = sample.inputs.first().is_some_and(|input| input.ty.kind == ScalarKind::Bool);
            let agrees = is_bool || matches!(sample.op, LaneOp::Vote { .. });
            let Some(at) = reads.next_back().filter(|_| !agrees) else { continue };
            let mut wrong = spanning.clone();
            if wrong.steps[at].args[0] == Operand::Const(0) {
                continue;
            }
            wrong.steps[at].args[0] = Operand::Const(0);
            let found = check(&sample.request(), ordered, &wrong, Effort::Glance);
            assert!(found.is_err(), "{:?} in parts of {}", sample.op, spanning.part);
        }
    }
}
