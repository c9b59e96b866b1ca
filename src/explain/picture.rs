//! The lane picture of an operation: the contents of every lane before it, after each step of a plan, and at the end.
//!
//! Values are symbols that remember the lanes they came from. The rows are computed by the functions that prove plans
//! ([`crate::lane::meaning`], [`crate::lane::eval`]), with all lanes active. Operands that are known only at run time
//! get an example.

mod example;
mod executed;
mod mark;
mod parts;
mod words;

pub use executed::{Executed, ExecutedRow, executed};
pub use parts::{Parts, PartsRow, parts};

use crate::lane::eval::{self, Trace};
use crate::lane::meaning::meaning;
use crate::lane::primitive::Index;
use crate::lane::value::{LaneRow, LaneValue, Lanes};
use crate::lane::{Fork, LaneOp, Operand, Plan, Primitive, Request, Source, Step, StepOp, StepType};
use crate::profile::Target;
use mark::{Mark, Marks};
use serde::Serialize;

/// Minimum number of lanes shown, if the subgroup has as many.
const LEAST: u32 = 8;

/// The assumed subgroup size if only the driver knows it.
const USUAL_SIZE: u32 = 32;

type MarkRow = LaneRow<Mark>;

/// The contents of the lanes in one row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PictureRow {
    pub label: String,
    /// One text per lane: a lane's number for its value, `0-7` for a reduction over these lanes, `.` for anything.
    pub cells: Vec<String>,
    /// For each lane, the lane of the row above that it reads; `None` if it is not a move from there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Option<u32>>,
}

/// The picture.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Picture {
    /// Lanes of the subgroup.
    pub subgroup: u32,
    /// Number of lanes shown, from lane 0.
    pub lanes: u32,
    /// True if an operand is an example because it is known only at run time.
    pub example: bool,
    pub rows: Vec<PictureRow>,
}

/// The picture of an operation and, if there is a plan, of the plan on a target; `None` for an operation without a
/// result.
pub fn picture(request: &Request, size: Option<u32>, plan: Option<(&Plan, Target)>) -> Option<Picture> {
    let least = plan.map_or(1, |(plan, _)| plan.least_size);
    let subgroup = size.unwrap_or(USUAL_SIZE.max(least));
    let lanes = Lanes::full(subgroup);
    let (inputs, example) = example::inputs(request, subgroup);
    let results = meaning(&mut Marks, request.op, &inputs, lanes)?;
    let least = request.op.width().map_or(LEAST, |width| width.lanes_in(subgroup).max(LEAST));
    let shown = shown(subgroup, least, &results);
    let painter = Painter::painted(request.op, (&inputs, lanes, shown), plan)?;
    Some(Picture { subgroup, lanes: shown, example, rows: painter.rows })
}

/// The smallest aligned block of at least this many lanes, from lane 0, whose results come only from its own lanes.
fn shown(subgroup: u32, least: u32, results: &[MarkRow]) -> u32 {
    let closed = |block: u32| {
        let own = |value: &LaneValue<Mark>| match value {
            LaneValue::Data(mark) => mark.highest().is_none_or(|lane| lane < block),
            LaneValue::Poison => true,
            _ => block >= 16,
        };
        results.iter().all(|row| row.iter().take(block as usize).all(own))
    };
    let blocks = (0..8).map(|log2| 1 << log2).filter(|block| *block >= least && *block < subgroup);
    blocks.into_iter().find(|block| closed(*block)).unwrap_or(subgroup)
}

/// The values that a row shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    Operand(usize),
    Step(usize),
    Result(usize),
}

struct Painter<'a> {
    shown: u32,
    lanes: Lanes,
    inputs: &'a [MarkRow],
    rows: Vec<PictureRow>,
    /// One for each row.
    origins: Vec<Origin>,
    /// The values that the last row shows.
    above: Option<Operand>,
}

impl<'a> Painter<'a> {
    /// The rows of an operation on operands, with the first `shown` lanes of each; none if the operation has no result, or the
    /// plan cannot take the operands.
    fn painted(
        op: LaneOp,
        (inputs, lanes, shown): (&'a [MarkRow], Lanes, u32),
        plan: Option<(&Plan, Target)>,
    ) -> Option<Painter<'a>> {
        let results = meaning(&mut Marks, op, inputs, lanes)?;
        let mut painter = Painter { shown, lanes, inputs, rows: Vec::new(), origins: Vec::new(), above: None };
        painter.operands(op);
        if let Some((plan, target)) = plan {
            let trace = eval::trace(&mut Marks, plan, inputs, lanes).ok()?;
            painter.steps(plan, target, &trace);
        }
        painter.results(&results);
        Some(painter)
    }

    fn row(&mut self, origin: Origin, label: String, row: &MarkRow, sources: Vec<Option<u32>>) {
        self.origins.push(origin);
        let cells = row.iter().take(self.shown as usize).map(|value| mark::text(*value, self.shown)).collect();
        self.rows.push(PictureRow { label, cells, sources });
    }

    /// Adds the rows of operands, the moved value last, next to its result.
    fn operands(&mut self, op: LaneOp) {
        for (n, row) in self.inputs.iter().enumerate().skip(1) {
            self.row(Origin::Operand(n), words::operand(op, n), row, Vec::new());
        }
        if let Some(first) = self.inputs.first() {
            self.row(Origin::Operand(0), words::operand(op, 0), first, Vec::new());
            self.above = Some(Operand::Input(0));
        }
    }

    /// The steps with a value of the operation's type. Of two branches, the one taken when all lanes are active.
    fn steps(&mut self, plan: &Plan, target: Target, trace: &Trace<Mark>) {
        let results = [Some(plan.result), plan.second];
        for (n, (step, row)) in plan.steps.iter().zip(&trace.steps).enumerate() {
            let operand = Operand::Step(n as u16);
            if plan.fork.as_ref().is_some_and(|fork| is_beside(fork, n as u16, row))
                || !is_shown(step)
                || results.contains(&Some(operand)) && plan.steps.len() == 1
            {
                continue;
            }
            let sources = self.sources(step, trace);
            self.row(Origin::Step(n), words::step(step, target), row, sources);
            self.above = Some(operand);
        }
    }

    /// Adds the rows of results, unless the last step shows them.
    fn results(&mut self, results: &[MarkRow]) {
        let below_operand = self.above == Some(Operand::Input(0)) && results.len() == 1;
        for (n, row) in results.iter().enumerate() {
            let sources = if below_operand { only_sources(&row[..self.shown as usize]) } else { Vec::new() };
            let label = if n == 0 { "after" } else { "after, values" };
            self.row(Origin::Result(n), label.into(), row, sources);
            let [.., last, result] = self.rows.as_slice() else { continue };
            if last.cells == result.cells && matches!(self.above, Some(Operand::Step(_))) {
                self.rows.pop();
                self.origins.pop();
            }
        }
    }

    /// The lanes of the row above that a step reads; empty if it reads another row or moves nothing.
    fn sources(&self, step: &Step, trace: &Trace<Mark>) -> Vec<Option<u32>> {
        let (primitive, values) = match step.op {
            StepOp::Prim(primitive) => (primitive, step.operands()),
            StepOp::CombineMoved(_, primitive) => (primitive, &step.operands()[1..]),
            _ => return Vec::new(),
        };
        if !primitive.moves_values() || values.first().copied() != self.above {
            return Vec::new();
        }
        self.lane_map(primitive, values, trace).unwrap_or_default()
    }

    fn lane_map(&self, primitive: Primitive, values: &[Operand], trace: &Trace<Mark>) -> Option<Vec<Option<u32>>> {
        let instruction = primitive.instruction();
        let first = values.len().checked_sub(instruction.index_operands())?;
        let rows: Vec<Vec<u32>> =
            values[first..].iter().map(|operand| self.indices(*operand, trace)).collect::<Option<_>>()?;
        let index: Vec<Index> = rows.iter().map(|row| Index::Row(row)).collect();
        let source = |lane| match instruction.source(lane, &index, self.lanes) {
            Some(Source::Lane(from)) => Some(from),
            Some(Source::Own) => Some(lane),
            _ => None,
        };
        Some((0..self.shown).map(source).collect())
    }

    fn indices(&self, operand: Operand, trace: &Trace<Mark>) -> Option<Vec<u32>> {
        let row = match operand {
            Operand::Const(value) => return Some(vec![value; self.lanes.size as usize]),
            Operand::Input(n) => self.inputs.get(usize::from(n))?,
            Operand::Setup(n) => trace.setup.get(usize::from(n))?,
            Operand::Step(n) => trace.steps.get(usize::from(n))?,
            Operand::Bool(_) | Operand::None => return None,
        };
        row.iter().map(|value| value.index()).collect()
    }
}

/// For each lane, the single lane whose value it has; empty if some lane has a reduction, or no lane has another lane's
/// value.
fn only_sources(row: &[LaneValue<Mark>]) -> Vec<Option<u32>> {
    let only = |value: &LaneValue<Mark>| match value {
        LaneValue::Data(mark) => mark.only(),
        _ => None,
    };
    let is_reduction = |value: &LaneValue<Mark>| matches!(value, LaneValue::Data(mark) if mark.count() > 1);
    if row.iter().any(is_reduction) || row.iter().all(|value| only(value).is_none()) {
        return Vec::new();
    }
    row.iter().map(only).collect()
}

/// Returns true if a step joins the two ways of a fork, or is on the way that is not taken.
fn is_beside(fork: &Fork, step: u16, row: &MarkRow) -> bool {
    let is_on_way = fork.accept.contains(&step) || fork.reject.contains(&step);
    step == fork.select() || is_on_way && row.iter().all(|value| *value == LaneValue::Poison)
}

/// Returns true if a step has a value of the operation's type that is new.
fn is_shown(step: &Step) -> bool {
    let moves = matches!(
        step.op,
        StepOp::Prim(_) | StepOp::CombineMoved(..) | StepOp::Combine(_) | StepOp::Remove(_) | StepOp::Select
    );
    moves && matches!(step.ty, StepType::Like(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::{Activity, Input, LaneType, Members, ReduceKind, ReduceOp, Swap, Width};

    fn of(op: LaneOp, inputs: &[Input]) -> Picture {
        let request = Request { op, inputs: inputs.into(), activity: Activity::Any, index: None, fragment: false };
        picture(&request, Some(32), None).expect("a picture")
    }

    #[test]
    fn a_move_shows_the_lane_that_each_reads() {
        let width = Width::new(4).expect("a power of two");
        let picture = of(LaneOp::Swap(Swap::Butterfly, width), &[Input::varying(LaneType::F32)]);
        assert_eq!((picture.lanes, picture.example), (8, false));
        assert_eq!(picture.rows[1].cells, ["2", "3", "0", "1", "6", "7", "4", "5"]);
        assert_eq!(picture.rows[1].sources[..3], [Some(2), Some(3), Some(0)]);
    }

    #[test]
    fn a_fold_shows_the_lanes_that_it_took() {
        let (kind, width, members) = (ReduceKind::Reduce, Width::new(4).expect("a power of two"), Members::All);
        let op = LaneOp::Reduce { op: ReduceOp::Add, kind, width, members };
        let picture = of(op, &[Input::varying(LaneType::F32)]);
        assert_eq!(picture.rows[1].cells, [".", ".", ".", "0-3", ".", ".", ".", "4-7"]);
        assert!(picture.rows[1].sources.is_empty());
    }

    #[test]
    fn operands_that_nobody_knows_are_examples() {
        let inputs = [Input::varying(LaneType::U32), Input::varying(LaneType::U32)];
        let picture = of(LaneOp::Bpermute, &inputs);
        assert!(picture.example);
        assert_eq!(picture.rows[0].label, "index");
    }
}
