//! Values of one lane during an operation or a plan: the checker uses symbols, the simulator bits.

use super::op::{InvertibleOp, ReduceOp};
use std::ops::Range;

/// The value of an operand or result in one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneValue<D> {
    /// Undefined: any bits, which nothing may depend on.
    Poison,
    /// A value of one of the operation's operand types.
    Data(D),
    Index(u32),
    Bool(bool),
    /// Bit `j` for lane `j`; 64-bit masks too.
    Ballot(u128),
}

/// One value for each lane; inactive lanes' values are never read.
pub type LaneRow<T> = Vec<LaneValue<T>>;

/// The lanes that run an operation. A workgroup counts as a subgroup of as many lanes, all of them active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// `S`, 1 to 128; of workgroups 1 to 1024.
    pub size: u32,
    /// Bit `i` for active lane `i`; no bits from `size` up. Lanes from 128 up are active.
    pub active: u128,
}

impl Lanes {
    /// All lanes of a subgroup of `size`.
    pub fn full(size: u32) -> Lanes {
        Lanes { size, active: low_bits(size) }
    }

    pub fn is_active(self, lane: u32) -> bool {
        lane < self.size && (lane >= LANES || self.active >> lane & 1 != 0)
    }

    pub fn is_full(self) -> bool {
        self.active == low_bits(self.size)
    }

    /// Active lanes in ascending order.
    pub fn iter(self) -> Bits {
        Bits { low: self.active, high: LANES..self.size }
    }

    /// Active lanes of the aligned segment of `width` lanes that contains `lane`.
    pub fn segment(self, lane: u32, width: u32) -> Bits {
        let base = lane - lane % width;
        let low = if base < LANES { self.active & (low_bits(width) << base) } else { 0 };
        Bits { low, high: base.max(LANES)..(base + width).min(self.size) }
    }

    /// The lowest active lane.
    pub fn first(self) -> Option<u32> {
        self.iter().next()
    }
}

/// Lanes whose activity has a bit.
const LANES: u32 = u128::BITS;

/// The set bits of a word in ascending order, and lanes above them.
#[derive(Clone, Debug)]
pub struct Bits {
    pub low: u128,
    high: Range<u32>,
}

impl Bits {
    pub fn of(low: u128) -> Bits {
        Bits { low, high: 0..0 }
    }
}

impl Iterator for Bits {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.low == 0 {
            return self.high.next();
        }
        let lowest = self.low.trailing_zeros();
        self.low &= self.low - 1;
        Some(lowest)
    }

    fn count(self) -> usize {
        self.low.count_ones() as usize + self.high.len()
    }
}

impl DoubleEndedIterator for Bits {
    fn next_back(&mut self) -> Option<u32> {
        if let Some(highest) = self.high.next_back() {
            return Some(highest);
        }
        let highest = self.low.checked_ilog2()?;
        self.low &= !(1 << highest);
        Some(highest)
    }
}

/// The lowest `count` bits set.
pub fn low_bits(count: u32) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

/// How data values are combined and compared: by symbols, or by bits.
pub trait Domain {
    type Data: Copy + PartialEq;

    /// `a op b`, in this order.
    fn combine(&mut self, op: ReduceOp, a: Self::Data, b: Self::Data) -> Self::Data;

    /// `total` without `part`, which was combined into it; `None` if this cannot be derived from the values.
    fn remove(&mut self, _op: InvertibleOp, _total: Self::Data, _part: Self::Data) -> Option<Self::Data> {
        None
    }

    /// The reduction of values in an unspecified order; the identity if there are none.
    fn combine_unordered(&mut self, op: ReduceOp, values: &[Self::Data]) -> Self::Data;

    fn identity(&mut self, op: ReduceOp) -> Self::Data;

    /// The neutral value of a reduction: the identity, but -0 for `Add` of floats.
    fn neutral(&mut self, op: ReduceOp) -> Self::Data;

    fn zero(&mut self) -> Self::Data;

    /// Floats by IEEE `==`.
    fn equal(&self, a: Self::Data, b: Self::Data) -> bool;

    /// Bit by bit.
    fn same(&self, a: Self::Data, b: Self::Data) -> bool {
        a == b
    }

    /// Floats by IEEE `<`.
    fn less(&self, a: Self::Data, b: Self::Data) -> bool;
}

/// `a op b`; poison if either is; `None` if the operands are of different kinds.
pub fn combine<D: Domain>(
    domain: &mut D,
    op: ReduceOp,
    a: LaneValue<D::Data>,
    b: LaneValue<D::Data>,
) -> Option<LaneValue<D::Data>> {
    use LaneValue::{Bool, Data, Index, Poison};
    Some(match (a, b) {
        (Poison, _) | (_, Poison) => Poison,
        (Data(a), Data(b)) => Data(domain.combine(op, a, b)),
        (Bool(a), Bool(b)) => Bool(combine_bools(op, a, b)?),
        // A known key is the same number in all lanes.
        (Index(a), Index(b)) if op == ReduceOp::Min => Index(a.min(b)),
        (Index(a), Index(b)) if op == ReduceOp::Max => Index(a.max(b)),
        _ => return None,
    })
}

/// `total` without `part`; poison if either is; `None` if the operands are of different kinds or `part` cannot be
/// removed.
pub fn remove<D: Domain>(
    domain: &mut D,
    op: InvertibleOp,
    total: LaneValue<D::Data>,
    part: LaneValue<D::Data>,
) -> Option<LaneValue<D::Data>> {
    use LaneValue::{Bool, Data, Poison};
    match (total, part) {
        (Poison, _) | (_, Poison) => Some(Poison),
        (Data(total), Data(part)) => domain.remove(op, total, part).map(Data),
        (Bool(total), Bool(part)) if op == InvertibleOp::Xor => Some(Bool(total ^ part)),
        _ => None,
    }
}

fn combine_bools(op: ReduceOp, a: bool, b: bool) -> Option<bool> {
    match op {
        ReduceOp::And => Some(a & b),
        ReduceOp::Or => Some(a | b),
        ReduceOp::Xor => Some(a ^ b),
        ReduceOp::Add | ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max => None,
    }
}

/// The identity element for a reduction of values like these.
pub fn identity<D: Domain>(domain: &mut D, op: ReduceOp, like: &[LaneValue<D::Data>]) -> LaneValue<D::Data> {
    if is_bool(like) { LaneValue::Bool(op == ReduceOp::And) } else { LaneValue::Data(domain.identity(op)) }
}

/// The neutral value of a reduction over values like these.
pub fn neutral<D: Domain>(domain: &mut D, op: ReduceOp, like: &[LaneValue<D::Data>]) -> LaneValue<D::Data> {
    if is_bool(like) { LaneValue::Bool(op == ReduceOp::And) } else { LaneValue::Data(domain.neutral(op)) }
}

/// Zero or false, for values of this kind.
pub fn zero<D: Domain>(domain: &mut D, like: &[LaneValue<D::Data>]) -> LaneValue<D::Data> {
    match like.iter().find(|value| !matches!(value, LaneValue::Poison)) {
        Some(LaneValue::Index(_)) => LaneValue::Index(0),
        Some(LaneValue::Bool(_)) => LaneValue::Bool(false),
        Some(LaneValue::Ballot(_)) => LaneValue::Ballot(0),
        _ => LaneValue::Data(domain.zero()),
    }
}

/// Returns true if values are bools, as far as they are defined.
pub fn is_bool<T>(values: &[LaneValue<T>]) -> bool {
    values.iter().any(|value| matches!(value, LaneValue::Bool(_)))
}

/// The reduction of several lanes' values in no guaranteed order; poison if one is; `None` if they are of different
/// kinds. If there are no values, the identity for values of that kind.
pub fn combine_unordered<D: Domain>(
    domain: &mut D,
    op: ReduceOp,
    values: &[LaneValue<D::Data>],
    like: &[LaneValue<D::Data>],
) -> Option<LaneValue<D::Data>> {
    if values.is_empty() {
        return Some(identity(domain, op, like));
    }
    if values.contains(&LaneValue::Poison) {
        return Some(LaneValue::Poison);
    }
    if let Some(LaneValue::Bool(_)) = values.first() {
        let bools: Option<Vec<bool>> = values.iter().map(|value| value.bool()).collect();
        return bools?.into_iter().try_fold(op == ReduceOp::And, |a, b| combine_bools(op, a, b)).map(LaneValue::Bool);
    }
    let data: Option<Vec<D::Data>> = values.iter().map(|value| value.data()).collect();
    Some(LaneValue::Data(domain.combine_unordered(op, &data?)))
}

/// Returns true if two values are equal; `None` if they are of different kinds or undefined.
pub fn equal<D: Domain>(domain: &D, a: LaneValue<D::Data>, b: LaneValue<D::Data>) -> Option<bool> {
    match (a, b) {
        (LaneValue::Data(a), LaneValue::Data(b)) => Some(domain.equal(a, b)),
        (LaneValue::Bool(a), LaneValue::Bool(b)) => Some(a == b),
        (LaneValue::Index(a), LaneValue::Index(b)) => Some(a == b),
        _ => None,
    }
}

/// Returns true if two values have the same bits; `None` if one is undefined.
pub fn same<D: Domain>(domain: &D, a: LaneValue<D::Data>, b: LaneValue<D::Data>) -> Option<bool> {
    match (a, b) {
        (LaneValue::Poison, _) | (_, LaneValue::Poison) => None,
        (LaneValue::Data(a), LaneValue::Data(b)) => Some(domain.same(a, b)),
        _ => Some(a == b),
    }
}

/// The active lanes with the bits of lane `i`; poison if one of them has an undefined value.
pub fn alike<D: Domain>(domain: &D, row: &[LaneValue<D::Data>], lanes: Lanes, i: u32) -> LaneValue<D::Data> {
    let bit = |j: u32| same(domain, row[i as usize], row[j as usize]).map(|same| u128::from(same) << j);
    let bits = lanes.iter().try_fold(0, |bits, j| Some(bits | bit(j)?));
    bits.map_or(LaneValue::Poison, LaneValue::Ballot)
}

/// Returns true if `a` is less than `b`; `None` if they are of different kinds or undefined.
pub fn less<D: Domain>(domain: &D, a: LaneValue<D::Data>, b: LaneValue<D::Data>) -> Option<bool> {
    match (a, b) {
        (LaneValue::Data(a), LaneValue::Data(b)) => Some(domain.less(a, b)),
        (LaneValue::Bool(a), LaneValue::Bool(b)) => Some(!a & b),
        // Known data is the same number in all lanes.
        (LaneValue::Index(a), LaneValue::Index(b)) => Some(a < b),
        _ => None,
    }
}

impl<D: Copy> LaneValue<D> {
    pub fn data(self) -> Option<D> {
        match self {
            LaneValue::Data(data) => Some(data),
            _ => None,
        }
    }

    pub fn index(self) -> Option<u32> {
        match self {
            LaneValue::Index(index) => Some(index),
            _ => None,
        }
    }

    pub fn bool(self) -> Option<bool> {
        match self {
            LaneValue::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub fn ballot(self) -> Option<u128> {
        match self {
            LaneValue::Ballot(ballot) => Some(ballot),
            _ => None,
        }
    }
}
