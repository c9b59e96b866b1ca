//! Plans and meanings on numbers: the bitwise comparison that decides whether a mutant is equivalent.

use crate::lane::check::TermRow as Symbols;
use crate::lane::check::terms::Term;
use crate::lane::eval;
use crate::lane::meaning::meaning;
use crate::lane::op::{InvertibleOp, ReduceOp};
use crate::lane::plan::Plan;
use crate::lane::request::Request;
use crate::lane::signature::Role;
use crate::lane::value::{Domain, LaneRow, LaneValue, Lanes};

/// 32-bit integers, or floats if the order of reductions must be visible.
struct Numbers {
    float: bool,
}

/// A value that is not equal to itself.
const NAN: u32 = u32::MAX;

impl Numbers {
    fn number(&self, value: f32) -> u32 {
        value.to_bits()
    }
}

impl Domain for Numbers {
    type Data = u32;

    fn combine(&mut self, op: ReduceOp, a: u32, b: u32) -> u32 {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        match op {
            ReduceOp::Add if self.float => self.number(x + y),
            ReduceOp::Mul if self.float => self.number(x * y),
            ReduceOp::Min if self.float => self.number(x.min(y)),
            ReduceOp::Max if self.float => self.number(x.max(y)),
            ReduceOp::Add => a.wrapping_add(b),
            ReduceOp::Mul => a.wrapping_mul(b),
            ReduceOp::Min => a.min(b),
            ReduceOp::Max => a.max(b),
            ReduceOp::And => a & b,
            ReduceOp::Or => a | b,
            ReduceOp::Xor => a ^ b,
        }
    }

    fn remove(&mut self, op: InvertibleOp, total: u32, part: u32) -> Option<u32> {
        match op {
            _ if self.float => None,
            InvertibleOp::Add => Some(total.wrapping_sub(part)),
            InvertibleOp::Xor => Some(total ^ part),
        }
    }

    fn combine_unordered(&mut self, op: ReduceOp, values: &[u32]) -> u32 {
        values.iter().copied().reduce(|a, b| self.combine(op, a, b)).unwrap_or_else(|| self.identity(op))
    }

    fn identity(&mut self, op: ReduceOp) -> u32 {
        match op {
            ReduceOp::Mul if self.float => self.number(1.0),
            ReduceOp::Min if self.float => self.number(f32::INFINITY),
            ReduceOp::Max if self.float => self.number(f32::NEG_INFINITY),
            ReduceOp::Mul => 1,
            ReduceOp::Min | ReduceOp::And => u32::MAX,
            ReduceOp::Add | ReduceOp::Max | ReduceOp::Or | ReduceOp::Xor => 0,
        }
    }

    fn neutral(&mut self, op: ReduceOp) -> u32 {
        if self.float && op == ReduceOp::Add { self.number(-0.0) } else { self.identity(op) }
    }

    fn zero(&mut self) -> u32 {
        0
    }

    fn equal(&self, a: u32, b: u32) -> bool {
        a == b && a != NAN
    }

    fn less(&self, a: u32, b: u32) -> bool {
        a != NAN && b != NAN && a < b
    }
}

/// The number of a symbol. Values that are only moved and reduced get a hash of the label; others get the label itself,
/// which keeps their order.
fn number(term: Term, mixes: bool) -> u32 {
    let Term::Leaf { input, label } = term else { return 0 };
    match mixes {
        // A float from 1 to 2 with all bits of the fraction in use.
        true => 0x3F80_0000 | (label.wrapping_add(u32::from(input) << 8).wrapping_mul(0x9E37_79B1) >> 9),
        false => label,
    }
}

fn numbers(symbols: &Symbols, mixes: bool) -> LaneRow<u32> {
    let of = |value: &LaneValue<Term>| match *value {
        LaneValue::Data(term) => LaneValue::Data(number(term, mixes)),
        LaneValue::Index(index) => LaneValue::Index(index),
        LaneValue::Bool(value) => LaneValue::Bool(value),
        LaneValue::Ballot(bits) => LaneValue::Ballot(bits),
        LaneValue::Poison => LaneValue::Poison,
    };
    symbols.iter().map(of).collect()
}

/// Returns true if every lane that the meaning defines gets the same bits from the plan. The numbers are floats if the
/// order of reductions is `ordered`, otherwise integers, for which it has no effect.
pub fn agree(request: &Request, plan: &Plan, symbols: &[Symbols], lanes: Lanes, ordered: bool) -> bool {
    let mixes = !compares(request);
    let inputs: Vec<LaneRow<u32>> = symbols.iter().map(|row| numbers(row, mixes)).collect();
    let mut domain = Numbers { float: ordered };
    let Some(expected) = meaning(&mut domain, request.op, &inputs, lanes) else { return false };
    let Ok(got) = eval::run(&mut domain, plan, &inputs, lanes) else { return false };
    let same = |(expected, got): (&LaneRow<u32>, &LaneRow<u32>)| {
        lanes.iter().all(|lane| {
            let (expected, got) = (expected[lane as usize], got[lane as usize]);
            expected == LaneValue::Poison || expected == got
        })
    };
    expected.len() == got.len() && expected.iter().zip(&got).all(same)
}

/// Returns true if the operation depends on the order or equality of values.
fn compares(request: &Request) -> bool {
    request.op.signature().params.iter().any(|param| matches!(param.role, Role::Key | Role::Class))
}
