//! The picture of an operation over several subgroups: the contents of each subgroup and of its part of the workgroup
//! memory.

use super::mark::{self, Mark, Marks};
use super::{MarkRow, example, words};
use crate::ir::print::lane_text;
use crate::lane::spanning::check::{Trace, trace};
use crate::lane::spanning::{SpanOp, SpanStep, Spanning};
use crate::lane::value::LaneValue;
use crate::lane::{Operand, Request, StepType};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The most lanes that symbols distinguish.
const LANES: u32 = 128;

/// The picture.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Parts {
    /// The lanes of each subgroup: `32-63`.
    pub subgroups: Vec<String>,
    /// True if an operand is an example because it is known only at run time.
    pub example: bool,
    pub rows: Vec<PartsRow>,
}

/// One row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PartsRow {
    pub label: String,
    /// The number of the exchange, if it shows workgroup memory.
    pub exchange: Option<u8>,
    /// One text per subgroup: of its lanes or slots, the common value, or the first and the last, as in
    /// [`super::PictureRow::cells`].
    pub cells: Vec<String>,
    /// For each subgroup, the subgroups whose values it reads from the row above; empty if it reads none.
    pub sources: Vec<Vec<u32>>,
}

/// The picture of an operation with a program; `None` if the program exchanges nothing, or has too many lanes.
pub fn parts(request: &Request, program: &Spanning) -> Option<Parts> {
    if program.width > LANES || program.exchanges.is_empty() {
        return None;
    }
    let (inputs, example) = example::inputs(request, program.width);
    let trace = trace(Marks, program, program.part, &inputs).ok()?;
    let mut painter = Painter { program, inputs: &inputs, trace: &trace, rows: Vec::new(), writers: BTreeMap::new() };
    painter.operands(request);
    painter.steps();
    painter.results();
    let first = |n: u32| n * program.part;
    let lanes = |n: u32| match program.part {
        1 => n.to_string(),
        part => format!("{}-{}", first(n), first(n) + part - 1),
    };
    let subgroups = (0..program.width / program.part).map(lanes).collect();
    Some(Parts { subgroups, example, rows: painter.rows })
}

struct Painter<'a> {
    program: &'a Spanning,
    inputs: &'a [MarkRow],
    trace: &'a Trace<Mark>,
    rows: Vec<PartsRow>,
    /// The subgroup that has written each slot of the last exchange.
    writers: BTreeMap<u32, u32>,
}

impl Painter<'_> {
    /// Subgroup `n` of a row.
    fn part<'r, T>(&self, row: &'r [T], n: u32) -> &'r [T] {
        let size = self.program.part as usize;
        &row[n as usize * size..][..size]
    }

    fn numbers(&self) -> std::ops::Range<u32> {
        0..self.program.width / self.program.part
    }

    fn row(&mut self, label: String, row: &MarkRow, sources: Vec<Vec<u32>>) {
        let cells = self.numbers().map(|n| self.cell(self.part(row, n))).collect();
        self.rows.push(PartsRow { label, exchange: None, cells, sources });
    }

    fn cell(&self, values: &[LaneValue<Mark>]) -> String {
        let texts: Vec<String> = values.iter().map(|value| mark::text(*value, self.program.width)).collect();
        match texts.as_slice() {
            [] => String::new(),
            [first, rest @ ..] if rest.iter().all(|other| other == first) => first.clone(),
            [first, .., last] => format!("{first} … {last}"),
            [first] => first.clone(),
        }
    }

    fn own(&self) -> Vec<Vec<u32>> {
        self.numbers().map(|n| vec![n]).collect()
    }

    /// Adds the rows of operands, the first one last, next to its result.
    fn operands(&mut self, request: &Request) {
        for (n, row) in self.inputs.iter().enumerate().rev() {
            self.row(words::operand(request.op, n), row, Vec::new());
        }
    }

    /// Adds a row for each operation before the first exchange, and for the memory of each exchange.
    fn steps(&mut self) {
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        let mut is_first = true;
        for (n, step) in self.program.steps.iter().enumerate() {
            match step.op {
                SpanOp::Lane(op) if is_first && matches!(step.ty, StepType::Like(_)) => {
                    self.row(lane_text(op), &self.trace.steps[n], Vec::new());
                }
                SpanOp::Put(_) => writes.push(step),
                SpanOp::Get(_) => reads.push(step),
                SpanOp::Barrier => {
                    let sources = if is_first { self.own() } else { self.read(&reads) };
                    self.memory(&writes, &sources);
                    (writes, reads, is_first) = (Vec::new(), Vec::new(), false);
                }
                _ => {}
            }
        }
    }

    fn results(&mut self) {
        let last = self.program.steps.iter().rposition(|step| step.op == SpanOp::Barrier).unwrap_or(0);
        let reads: Vec<&SpanStep> =
            self.program.steps[last..].iter().filter(|step| matches!(step.op, SpanOp::Get(_))).collect();
        let sources = self.read(&reads);
        for (row, label) in self.trace.results.iter().zip(["after", "after, values"]) {
            let is_next = label == "after";
            self.row(label.into(), row, if is_next { sources.clone() } else { Vec::new() });
        }
    }

    /// For each subgroup, those whose slots it reads.
    fn read(&self, reads: &[&SpanStep]) -> Vec<Vec<u32>> {
        let mut sources = vec![BTreeSet::new(); self.numbers().len()];
        for slots in reads.iter().map(|step| self.operand(step.args[0])) {
            for n in self.numbers() {
                let slots = self.part(&slots, n).iter().filter_map(|slot| slot.index());
                sources[n as usize].extend(slots.filter_map(|slot| self.writers.get(&slot)));
            }
        }
        sources.into_iter().map(|from| from.into_iter().collect()).collect()
    }

    /// Adds the rows of an exchange's columns.
    fn memory(&mut self, writes: &[&SpanStep], sources: &[Vec<u32>]) {
        self.writers.clear();
        for (at, step) in writes.iter().enumerate() {
            let SpanOp::Put(column) = step.op else { continue };
            let written = self.written(step);
            self.writers.extend(written.iter().map(|(slot, (by, _))| (*slot, *by)));
            let cell = |n: u32| {
                let own: Vec<LaneValue<Mark>> =
                    written.values().filter(|(by, _)| *by == n).map(|(_, value)| *value).collect();
                self.cell(&own)
            };
            let cells = self.numbers().map(cell).collect();
            let label = if writes.len() > 1 { format!("memory.{}", column.value) } else { "memory".into() };
            let sources = if at == 0 { sources.to_vec() } else { Vec::new() };
            self.rows.push(PartsRow { label, exchange: Some(column.exchange), cells, sources });
        }
    }

    /// For each slot that a step writes, the subgroup that does, and the value.
    fn written(&self, step: &SpanStep) -> BTreeMap<u32, (u32, LaneValue<Mark>)> {
        let (slots, values) = (self.operand(step.args[0]), self.operand(step.args[1]));
        let conditions = (step.operands().len() > 2).then(|| self.operand(step.args[2]));
        let is_written = |lane: usize| conditions.as_ref().is_none_or(|all| all[lane] == LaneValue::Bool(true));
        let lanes = (0..slots.len()).filter(|lane| is_written(*lane));
        let by = |lane: usize| lane as u32 / self.program.part;
        lanes.filter_map(|lane| Some((slots[lane].index()?, (by(lane), values[lane])))).collect()
    }

    fn operand(&self, operand: Operand) -> MarkRow {
        let all = |value| vec![value; self.program.width as usize];
        match operand {
            Operand::Input(n) => self.inputs[usize::from(n)].clone(),
            Operand::Step(n) => self.trace.steps[usize::from(n)].clone(),
            Operand::Const(value) => all(LaneValue::Index(value)),
            Operand::Bool(value) => all(LaneValue::Bool(value)),
            Operand::Setup(_) | Operand::None => all(LaneValue::Poison),
        }
    }
}
