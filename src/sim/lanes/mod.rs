//! Cross-lane operations: the reference meaning before lowering, the primitives' maps after it.
//!
//! Both run the functions that prove plans ([`crate::lane::meaning`], [`crate::lane::eval`]), on bits. The data flow of
//! most operations depends only on the active lanes and on constants, so it is recorded once ([`trace`]) and replayed.
//! Operations that depend on the values are computed each time.

mod bits;
mod trace;

#[cfg(test)]
mod tests;

use super::program::{Inst, InstIndex, Program, RowIndex};
use super::wave::{Wave, low_lanes};
use crate::ir::Scalar;
use crate::kernel::{Op, Ty};
use crate::lane::eval;
use crate::lane::meaning::meaning;
use crate::lane::primitive::{GroupOp, NvOp, ScalarOp};
use crate::lane::value::{self, Domain, LaneRow, LaneValue};
use crate::lane::{LaneOp, Primitive, Role, StepOp};
use rustc_hash::FxHashMap;
use trace::Trace;

pub use bits::{Bits, Datum};

/// Maximum number of traces; there is one for each place and mask of active lanes.
const KEPT: usize = 4096;

/// Runs the cross-lane operations of one program.
pub(super) struct Lanes {
    size: u32,
    /// `None` if the values decide.
    traces: FxHashMap<(InstIndex, u64), Option<Trace>>,
    nodes: Vec<u64>,
}

/// The role of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Data,
    Index,
    Bool,
    Ballot,
}

impl Kind {
    /// The bits as a lane value of their type.
    fn value<D>(self, bits: u64, data: impl FnOnce(u64) -> D) -> LaneValue<D> {
        match self {
            Kind::Data => LaneValue::Data(data(bits)),
            Kind::Index => LaneValue::Index(bits as u32),
            Kind::Bool => LaneValue::Bool(bits != 0),
            Kind::Ballot => LaneValue::Ballot(bits.into()),
        }
    }
}

impl Lanes {
    pub fn new(program: &Program) -> Lanes {
        Lanes { size: program.wave_size, traces: FxHashMap::default(), nodes: Vec::new() }
    }

    /// Runs one operation on the active lanes. Returns false if it cannot take its operands.
    pub fn run(&mut self, program: &Program, wave: &mut Wave, inst: &Inst, op: Op) -> bool {
        let args = program.args(inst);
        let defined = args.iter().all(|row| wave.undefined_in(*row) == 0);
        if defined && self.replay(program, wave, inst, op) {
            return true;
        }
        self.compute(program, wave, inst, op)
    }

    /// Replays the trace of the operation, if it has one.
    fn replay(&mut self, program: &Program, wave: &mut Wave, inst: &Inst, op: Op) -> bool {
        if self.traces.len() > KEPT {
            self.traces.clear();
        }
        let key = (wave.place, wave.active);
        let size = self.size;
        let trace = self.traces.entry(key).or_insert_with(|| record(program, inst, op, size, wave.active));
        let Some(trace) = trace else { return false };
        let rows = program.args(inst).iter().map(|row| wave.row(*row));
        trace.compute(types(op)[0], rows, &mut self.nodes);
        for (n, outputs) in trace.results.iter().enumerate() {
            self::write(wave, inst.out + n as u32, outputs.iter().map(|output| output.value(&self.nodes)));
        }
        true
    }

    /// Computes the operation from the values.
    fn compute(&mut self, program: &Program, wave: &mut Wave, inst: &Inst, op: Op) -> bool {
        let kinds = kinds(program, inst, op);
        let undefined = undefined_controls(program, wave, inst, op, &kinds);
        let alone = matches!(op, Op::Lane { op, .. } if op.signature().decides_alone);
        let lanes = value::Lanes { size: self.size, active: wave.active.into() };
        let inputs = inputs(program, wave, inst, &kinds, alone);
        let results = match undefined != 0 && !alone {
            true => None,
            false => evaluate(&mut Bits::new(types(op)), op, &inputs, lanes),
        };
        let Some(rows) = results else { return give_up(program, wave, inst) };
        for (n, row) in rows.iter().enumerate() {
            let of =
                |(lane, value): (usize, &LaneValue<Datum>)| bits::of(*value).filter(|_| undefined >> lane & 1 == 0);
            write(wave, inst.out + n as u32, row.iter().enumerate().map(of));
        }
        true
    }
}

/// Leaves all results undefined, which is right if an operand is; otherwise false.
fn give_up(program: &Program, wave: &mut Wave, inst: &Inst) -> bool {
    for n in 0..inst.results {
        wave.undefined[(inst.out + n) as usize] = u64::MAX;
    }
    program.args(inst).iter().any(|row| wave.undefined_in(*row) != 0)
}

/// Active lanes in which an index, a mask or a predicate of a reference operation is undefined. Primitives check this
/// themselves.
fn undefined_controls(program: &Program, wave: &Wave, inst: &Inst, op: Op, kinds: &[Kind]) -> u64 {
    if !matches!(op, Op::Lane { .. }) {
        return 0;
    }
    let controls = program.args(inst).iter().zip(kinds).filter(|(_, kind)| **kind != Kind::Data);
    controls.fold(0, |lanes, (row, _)| lanes | wave.undefined_in(*row))
}

/// The operands' rows. An undefined index gets an arbitrary value if `alone` shows that its lane's result does not
/// count.
fn inputs(program: &Program, wave: &Wave, inst: &Inst, kinds: &[Kind], alone: bool) -> Vec<LaneRow<Datum>> {
    let row = |(n, (kind, row)): (usize, (&Kind, &RowIndex))| {
        let undefined = wave.undefined[*row as usize];
        let datum = |bits| Datum { bits, input: n as u8 };
        let value = |(lane, bits): (usize, &u64)| match undefined >> lane & 1 {
            0 => kind.value(*bits, datum),
            _ if alone && *kind != Kind::Data => kind.value(0, datum),
            _ => LaneValue::Poison,
        };
        wave.row(*row).iter().enumerate().map(value).collect()
    };
    kinds.iter().zip(program.args(inst)).enumerate().map(row).collect()
}

/// Writes a result; inactive lanes have none.
fn write(wave: &mut Wave, row: RowIndex, values: impl Iterator<Item = Option<u64>>) {
    let at = row as usize * wave.size;
    let mut undefined = !low_lanes(wave.size as u32);
    for (lane, value) in values.enumerate() {
        wave.rows[at + lane] = value.unwrap_or(0);
        undefined |= u64::from(value.is_none()) << lane;
    }
    wave.undefined[row as usize] = undefined;
}

/// The operation on one row per operand, with one row per result; `None` if the operands are of the wrong kind.
fn evaluate<D: Domain>(
    domain: &mut D,
    op: Op,
    inputs: &[LaneRow<D::Data>],
    lanes: value::Lanes,
) -> Option<Vec<LaneRow<D::Data>>> {
    let step = match op {
        Op::Lane { op, .. } => return meaning(domain, op, inputs, lanes),
        Op::Prim { primitive, .. } => StepOp::Prim(primitive),
        Op::CombineMoved { op, primitive, .. } => StepOp::CombineMoved(op, primitive),
        _ => return None,
    };
    eval::instruction(domain, step, inputs, lanes).map(|row| vec![row])
}

/// Records the data flow of an operation for these active lanes; `None` if the values decide.
fn record(program: &Program, inst: &Inst, op: Op, size: u32, active: u64) -> Option<Trace> {
    let kinds = kinds(program, inst, op);
    let lanes = value::Lanes { size, active: active.into() };
    let mut recorder = trace::Recorder::new(size, kinds.len());
    let operands = kinds.iter().zip(program.args(inst)).enumerate();
    let inputs: Option<Vec<_>> = operands
        .map(|(n, (kind, row))| match kind {
            Kind::Data => Some(recorder.input(n)),
            // A uniform value must be compared.
            _ => program.constant(*row).map(|bits| vec![kind.value(bits, |_| 0); size as usize]),
        })
        .collect();
    let compares = matches!(op, Op::Prim { primitive, .. } if primitive.instruction().value_is_uniform());
    let results = evaluate(&mut recorder, op, &inputs.filter(|_| !compares)?, lanes)?;
    recorder.finish(&results)
}

/// Types of the first and the second operand.
fn types(op: Op) -> [Scalar; 2] {
    match op {
        Op::Lane { ty, .. } => ty,
        Op::Prim { ty, .. } | Op::CombineMoved { ty, .. } => [ty; 2],
        _ => [Scalar::U32; 2],
    }
}

fn kinds(program: &Program, inst: &Inst, op: Op) -> Vec<Kind> {
    let args = program.args(inst);
    let tys = program.tys(inst);
    let kind = |(n, ty): (usize, Ty)| match (op, ty) {
        (_, Ty::Mask) => Kind::Ballot,
        (Op::Lane { op, .. }, _) => lane_kind(op, n),
        (Op::Prim { primitive, .. }, _) => primitive_kind(primitive, n, args.len(), ty),
        (Op::CombineMoved { primitive, .. }, _) if n > 0 => primitive_kind(primitive, n - 1, args.len() - 1, ty),
        _ => Kind::Data,
    };
    tys.enumerate().map(kind).collect()
}

/// The kind of operand `n`, which is not a mask.
fn lane_kind(op: LaneOp, n: usize) -> Kind {
    match op.signature().role(n) {
        Some(Role::Mask | Role::Ballot | Role::Partition) => Kind::Ballot,
        Some(Role::Bool) => Kind::Bool,
        Some(Role::Index | Role::NvWidth) => Kind::Index,
        Some(role) if role.is_value() => Kind::Data,
        _ => Kind::Index,
    }
}

/// The kind of operand `n` of an instruction with `count` operands.
fn primitive_kind(primitive: Primitive, n: usize, count: usize, ty: Ty) -> Kind {
    let values = count.saturating_sub(primitive.instruction().index_operands());
    match primitive {
        Primitive::Nv(NvOp::ShuffleValid(_)) => Kind::Index,
        Primitive::Scalar(ScalarOp::CountBelowLow | ScalarOp::CountBelowHigh) if n == 1 => Kind::Index,
        Primitive::Group(GroupOp::MaskedCountAmd) => Kind::Ballot,
        Primitive::Group(GroupOp::WriteAmd) => [Kind::Data, Kind::Data, Kind::Index][n.min(2)],
        Primitive::Group(_) if n == 1 => Kind::Index,
        _ if n >= values => Kind::Index,
        Primitive::Nv(NvOp::Vote(_) | NvOp::Ballot) | Primitive::Scalar(ScalarOp::Ballot | ScalarOp::BallotFalse) => {
            Kind::Bool
        }
        Primitive::Group(GroupOp::Vote(_) | GroupOp::QuadVote(_) | GroupOp::Ballot) if ty == Ty::Bool => Kind::Bool,
        _ => Kind::Data,
    }
}
