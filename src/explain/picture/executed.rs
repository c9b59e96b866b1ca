//! The lane picture of an operation as a run executed it: the values of every lane, beside the lanes that they came from.

use super::mark::{self, Mark};
use super::{Origin, Painter};
use crate::ir::{Scalar, ScalarKind};
use crate::lane::check::role;
use crate::lane::eval::{self, Trace};
use crate::lane::value::{Domain, LaneRow, LaneValue, Lanes};
use crate::lane::{Gives, Plan, Role};
use crate::profile::Target;
use crate::sim::{Bits, Datum, Execution, Row};
use crate::simulate::numbers;
use serde::Serialize;

/// An execution of an operation, step by step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Executed {
    /// For each lane of the wave, true if it runs the operation.
    pub active: Vec<bool>,
    /// The operands, the steps of the plan, and the results.
    pub rows: Vec<ExecutedRow>,
}

/// The contents of the lanes at one step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ExecutedRow {
    pub label: String,
    /// The value of each lane; empty where it is undefined or the lane is inactive.
    pub values: Vec<String>,
    /// The lanes that each value came from, as in [`super::PictureRow::cells`].
    pub origins: Vec<String>,
    /// See [`super::PictureRow::sources`].
    pub sources: Vec<Option<u32>>,
}

/// An execution, with the steps of a plan for a target if there is one; none if the plan cannot take its operands.
pub fn executed(run: &Execution, plan: Option<(&Plan, Target)>) -> Option<Executed> {
    let lanes = Lanes { size: run.size, active: run.active.into() };
    let symbols: Vec<LaneRow<Mark>> = rows(run, |n, lane, _, rank| Mark::of(n, lane, rank));
    let painter = Painter::painted(run.op, (&symbols, lanes, run.size), plan)?;
    let data: Vec<LaneRow<Datum>> = rows(run, |n, _, bits, _| Datum { bits, input: n as u8 });
    let trace = plan.map(|(plan, _)| eval::trace(&mut Bits::new(run.types), plan, &data, lanes).ok());
    let values = Values { run, inputs: &data, trace: trace.map_or(Some(None), |trace| trace.map(Some))? };
    let rows = painter.rows.into_iter().zip(painter.origins).map(|(row, origin)| ExecutedRow {
        label: row.label,
        values: values.of(origin),
        origins: row.cells,
        sources: row.sources,
    });
    Some(Executed { active: (0..run.size).map(|lane| lanes.is_active(lane)).collect(), rows: rows.collect() })
}

/// The operands: what says lanes and masks as it is, and what is moved as `datum` makes it of the operand's number, the lane, the
/// bits, and the rank of the bits among those of all lanes.
fn rows<D>(run: &Execution, datum: impl Fn(usize, u32, u64, u32) -> D) -> Vec<LaneRow<D>> {
    let row = |(n, row): (usize, &Row)| {
        let (role, ranks) = (role(run.op, n, scalar(run, n).kind), ranks(run, n, row));
        let value = |(lane, bits): (usize, &Option<u64>)| match (bits, role) {
            _ if run.active >> lane & 1 == 0 => LaneValue::Poison,
            (None, _) => LaneValue::Poison,
            (Some(bits), Role::Bool) => LaneValue::Bool(*bits != 0),
            (Some(bits), Role::Index | Role::NvWidth) => LaneValue::Index(*bits as u32),
            (Some(bits), Role::Ballot | Role::Mask | Role::Partition) => LaneValue::Ballot((*bits).into()),
            (Some(bits), _) => LaneValue::Data(datum(n, lane as u32, *bits, ranks[lane])),
        };
        row.iter().enumerate().map(value).collect()
    };
    run.operands.iter().enumerate().map(row).collect()
}

/// The type of an operand.
fn scalar(run: &Execution, n: usize) -> Scalar {
    run.types.get(n).copied().unwrap_or(Scalar::U32)
}

/// For each lane the number of lanes with smaller values: symbols are compared by it.
fn ranks(run: &Execution, n: usize, row: &Row) -> Vec<u32> {
    let domain = Bits::new(run.types);
    let datum = |bits: u64| Datum { bits, input: n as u8 };
    let is_less = |a: &u64, b: u64| domain.less(datum(*a), datum(b));
    let rank = |bits: &Option<u64>| match bits {
        Some(own) => row.iter().flatten().filter(|other| is_less(other, *own)).count() as u32,
        None => 0,
    };
    row.iter().map(rank).collect()
}

/// The values of rows.
struct Values<'a> {
    run: &'a Execution,
    inputs: &'a [LaneRow<Datum>],
    trace: Option<Trace<Datum>>,
}

impl Values<'_> {
    fn of(&self, origin: Origin) -> Vec<String> {
        let steps = self.trace.as_ref().map(|trace| trace.steps.as_slice()).unwrap_or_default();
        match origin {
            Origin::Operand(n) => self.row(&self.inputs[n]),
            Origin::Step(n) => steps.get(n).map(|row| self.row(row)).unwrap_or_default(),
            Origin::Result(n) => self.result(n),
        }
    }

    fn row(&self, row: &LaneRow<Datum>) -> Vec<String> {
        row.iter().map(|value| self.text(*value)).collect()
    }

    /// A result, as the run left it.
    fn result(&self, n: usize) -> Vec<String> {
        let gives = self.run.op.signature().gives;
        let text = |bits: u64| match gives {
            Gives::Data | Gives::Sorted => number(scalar(self.run, n), bits),
            Gives::Ballot => mark::mask(bits.into(), self.run.size),
            Gives::Bool => mark::truth(bits != 0).into(),
            Gives::Lane | Gives::Count | Gives::U32 | Gives::Nothing => bits.to_string(),
        };
        let is_active = |lane: usize| self.run.active >> lane & 1 != 0;
        let value =
            |(lane, bits): (usize, &Option<u64>)| bits.filter(|_| is_active(lane)).map(text).unwrap_or_default();
        self.run.results[n].iter().enumerate().map(value).collect()
    }

    fn text(&self, value: LaneValue<Datum>) -> String {
        match value {
            LaneValue::Poison => String::new(),
            LaneValue::Data(datum) => number(scalar(self.run, usize::from(datum.input).min(1)), datum.bits),
            LaneValue::Ballot(bits) => mark::mask(bits, self.run.size),
            LaneValue::Index(index) => index.to_string(),
            LaneValue::Bool(value) => mark::truth(value).into(),
        }
    }
}

/// A number as people read it.
fn number(ty: Scalar, bits: u64) -> String {
    if ty.kind == ScalarKind::Bool {
        return mark::truth(bits != 0).into();
    }
    let element = numbers::element(ty);
    element.show(&bits.to_le_bytes()[..element.bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::{Input, LaneOp, LaneType, Request, Swap, Width, plan};
    use crate::profile::Profile;

    #[test]
    fn an_execution_has_the_values_of_each_step() {
        let width = Width::new(4).expect("a power of two");
        let op = LaneOp::Swap(Swap::Butterfly, width);
        let row = |lanes: [u32; 4]| lanes.map(|n| Some((n as f32).to_bits().into())).to_vec();
        let (operands, results) = (vec![row([0, 1, 2, 3])], vec![row([2, 3, 0, 1])]);
        let (size, active, types) = (4, 0b1111, [Scalar::F32; 2]);
        let run = Execution { op, types, workgroup: [0; 3], wave: 0, inst: 0, size, active, operands, results };
        let inputs = [Input::varying(LaneType::F32)];
        let request =
            Request { op, inputs: (&inputs[..]).into(), activity: Default::default(), index: None, fragment: false };
        let profile = Profile::named("wgsl").expect("a built-in profile");
        let plan = plan(&request, &profile).expect("a plan");
        for plan in [None, Some((&plan, profile.target))] {
            let executed = executed(&run, plan).expect("a picture");
            let last = executed.rows.last().expect("a row");
            assert_eq!(executed.rows[0].values, ["0.0", "1.0", "2.0", "3.0"]);
            assert_eq!(
                (&last.values[..2], &last.origins[..2]),
                (&["2.0".into(), "3.0".into()][..], &["2".into(), "3".into()][..])
            );
            assert_eq!(last.sources[..2], [Some(2), Some(3)]);
        }
        let some = Execution { active: 0b0101, ..run };
        let executed = executed(&some, None).expect("a picture");
        assert_eq!(executed.active, [true, false, true, false]);
        assert_eq!(executed.rows[1].values, ["2.0", "", "0.0", ""]);
    }
}
