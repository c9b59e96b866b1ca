//! Values that depend only on the lane and on constants, as one number for each lane of a wave.
//!
//! Waves begin at multiples of their size, so the low bits of the invocation's index in the workgroup are the lane's,
//! and operations that only depend on these bits are known.

use super::tree::Tree;
use super::{BinOp, InstId, Kernel, Op, Ty, Value};
use crate::ir::BuiltIn;
use crate::kernel::arith::compute;
use crate::lane::meaning::meaning;
use crate::lane::value::{Domain, LaneValue, Lanes};
use crate::lane::{Gives, LaneFact, LaneOp, ReduceOp};

/// The facts about one value.
#[derive(Clone, PartialEq, Eq, Debug)]
struct KnownLanes {
    /// The bits in each lane; zero if they are unknown.
    lanes: Vec<u64>,
    /// Mask of the known bits, the same in all lanes.
    known: u64,
}

/// The rows of a kernel's values for one wave size.
#[derive(Clone, Debug)]
pub struct LaneRows {
    size: u32,
    rows: Vec<Option<KnownLanes>>,
    types: Vec<Ty>,
}

impl LaneRows {
    /// Rows for waves of this many lanes.
    pub fn new(kernel: &Kernel, wave_size: u32) -> LaneRows {
        let types = kernel.values.iter().map(|(_, value)| value.ty).collect();
        let mut rows = LaneRows { size: wave_size, rows: vec![None; kernel.values.len()], types };
        for inst in Tree::new(kernel).insts(kernel) {
            if let Some(result) = kernel.result(inst) {
                rows.rows[result.index()] = rows.result(kernel, inst, result);
            }
        }
        rows
    }

    /// The value in each lane, if it is completely known.
    pub fn of(&self, value: Value) -> Option<&[u64]> {
        self.modulo(value, all(self.types.get(value.index())?.bits()))
    }

    /// The number of lanes in a wave.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Returns true for a value that is the lane's index.
    pub fn is_lane(&self, value: Value) -> bool {
        self.of(value).is_some_and(|row| row.iter().enumerate().all(|(lane, bits)| *bits == lane as u64))
    }

    /// The bits of `mask` of a value in each lane, if they are known; the other bits are arbitrary.
    pub fn modulo(&self, value: Value, mask: u64) -> Option<&[u64]> {
        let row = self.rows.get(value.index())?.as_ref()?;
        (row.known & mask == mask).then_some(row.lanes.as_slice())
    }

    fn result(&self, kernel: &Kernel, inst: InstId, result: Value) -> Option<KnownLanes> {
        let op = kernel.insts[inst].op;
        match op {
            Op::BuiltIn(built_in, component) => self.built_in(kernel, built_in, component),
            Op::Fact(fact) => self.fact(fact),
            Op::Lane { op, .. } => self.lane(op),
            op if op.is_pure() => {
                self.partly(kernel, inst, op, result).or_else(|| self.computed(kernel, inst, op, result))
            }
            _ => None,
        }
    }

    fn row(&self, known: u64, f: impl Fn(u64) -> u64) -> KnownLanes {
        KnownLanes { lanes: (0..u64::from(self.size)).map(|lane| f(lane) & known).collect(), known }
    }

    /// A row of 32 bits.
    fn full(&self, f: impl Fn(u64) -> u64) -> KnownLanes {
        self.row(all(32), f)
    }

    /// Coordinates in a workgroup, as far as the lane determines them.
    fn built_in(&self, kernel: &Kernel, built_in: BuiltIn, component: u8) -> Option<KnownLanes> {
        let size = u64::from(self.size);
        let [x, y, _] = kernel.workgroup_size.map(u64::from);
        let one_wave = u64::from(kernel.invocations()) <= size;
        match (built_in, component) {
            (BuiltIn::SubgroupId, _) if one_wave => Some(self.full(|_| 0)),
            (BuiltIn::LocalInvocationIndex, _) | (BuiltIn::LocalInvocationId, 0..=2) if one_wave => {
                Some(self.full(|lane| match (built_in, component) {
                    (BuiltIn::LocalInvocationIndex, _) => lane,
                    (_, 0) => lane % x,
                    (_, 1) => lane / x % y,
                    _ => lane / (x * y),
                }))
            }
            (BuiltIn::LocalInvocationIndex, _) => Some(self.row(size - 1, |lane| lane)),
            (BuiltIn::LocalInvocationId, 0) if size.is_multiple_of(x) => Some(self.full(|lane| lane % x)),
            (BuiltIn::LocalInvocationId, 0) if x.is_multiple_of(size) || kernel.workgroup_size[1..] == [1, 1] => {
                Some(self.row(size - 1, |lane| lane))
            }
            _ => None,
        }
    }

    fn fact(&self, fact: LaneFact) -> Option<KnownLanes> {
        match fact {
            LaneFact::Index => Some(self.full(|lane| lane)),
            LaneFact::Size => Some(self.full(|_| self.size.into())),
            LaneFact::InSet(set) => Some(self.row(1, |lane| set >> lane)),
            LaneFact::Mask(_) => None,
        }
    }

    /// A fact of a lane about itself.
    fn lane(&self, op: LaneOp) -> Option<KnownLanes> {
        let signature = op.signature();
        if !signature.is_known_by_lane() {
            return None;
        }
        let rows = meaning(&mut NoData, op, &[], Lanes::full(self.size))?;
        let lanes: Option<Vec<u64>> = rows.first()?.iter().map(|value| number(*value)).collect();
        let known = if signature.gives == Gives::Bool { 1 } else { all(32) };
        Some(KnownLanes { lanes: lanes?, known })
    }

    /// The row of an operand, which may be a constant.
    fn operand(&self, kernel: &Kernel, value: Value) -> Option<KnownLanes> {
        match kernel.as_constant(value) {
            Some(bits) => Some(self.row(all(kernel.ty(value).bits()), |_| bits)),
            None => self.rows[value.index()].clone(),
        }
    }

    /// Operations whose result bits depend only on the same or lower bits of their operands.
    fn partly(&self, kernel: &Kernel, inst: InstId, op: Op, result: Value) -> Option<KnownLanes> {
        let Op::Bin(op, scalar) = op else { return None };
        let [a, b] = kernel.args(inst) else { return None };
        let (a_row, b_row) = (self.operand(kernel, *a)?, self.operand(kernel, *b)?);
        let constant = kernel.as_constant(*b);
        let width = all(kernel.ty(result).bits());
        let below = |known: u64| all(known.trailing_ones());
        let known = match op {
            // A known zero decides.
            BinOp::And if constant.is_some() => a_row.known | !b_row.lanes[0],
            BinOp::And | BinOp::Or | BinOp::Xor => a_row.known & b_row.known,
            BinOp::Add | BinOp::Sub | BinOp::Mul => below(a_row.known & b_row.known),
            BinOp::Shl => {
                let by = constant.filter(|by| *by < 64)?;
                a_row.known << by | all(by as u32)
            }
            BinOp::Shr if !scalar.is_signed() => {
                let by = constant.filter(|by| *by < 64)?;
                a_row.known >> by | !(width >> by)
            }
            _ => return None,
        };
        let lanes = evaluate(Op::Bin(op, scalar), &[&a_row.lanes, &b_row.lanes], self.size)?;
        let known = known & width;
        Some(KnownLanes { lanes: lanes.into_iter().map(|bits| bits & known).collect(), known })
    }

    /// Operations whose operands are all completely known.
    fn computed(&self, kernel: &Kernel, inst: InstId, op: Op, result: Value) -> Option<KnownLanes> {
        let args = kernel.args(inst);
        let rows: Option<Vec<KnownLanes>> = args.iter().map(|arg| self.operand(kernel, *arg)).collect();
        let rows = rows?;
        let full = rows.iter().zip(args).all(|(row, arg)| row.known == all(kernel.ty(*arg).bits()));
        if !full || rows.is_empty() {
            return None;
        }
        let known = all(kernel.ty(result).bits());
        let lanes: Vec<&[u64]> = rows.iter().map(|row| row.lanes.as_slice()).collect();
        if op == Op::Select {
            let pick = |lane: usize| lanes[if lanes[0][lane] == 0 { 2 } else { 1 }][lane];
            return Some(KnownLanes { lanes: (0..self.size as usize).map(pick).collect(), known });
        }
        Some(KnownLanes { lanes: evaluate(op, &lanes, self.size)?, known })
    }
}

/// An operation in each lane; `None` if it is undefined in any.
fn evaluate(op: Op, rows: &[&[u64]], size: u32) -> Option<Vec<u64>> {
    let mut out = vec![0; size as usize];
    (compute(op, &mut out, |n| rows[n]) & all(size) == 0).then_some(out)
}

/// The lowest `count` bits.
fn all(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

fn number(value: LaneValue<()>) -> Option<u64> {
    value.index().map(u64::from).or_else(|| value.bool().map(u64::from))
}

/// Facts about lanes have no data.
struct NoData;

impl Domain for NoData {
    type Data = ();

    fn combine(&mut self, _: ReduceOp, (): (), (): ()) {}
    fn combine_unordered(&mut self, _: ReduceOp, _: &[()]) {}
    fn identity(&mut self, _: ReduceOp) {}
    fn neutral(&mut self, _: ReduceOp) {}
    fn zero(&mut self) {}

    fn equal(&self, (): (), (): ()) -> bool {
        true
    }

    fn less(&self, (): (), (): ()) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
