//! The pairs of instructions that can be fused: one row per outer instruction, inner instruction and shared operand.
//!
//! Source: the instruction descriptions in AMD's GCN 3, Vega, RDNA 2 and RDNA 3 ISA guides. The table of names has the
//! generations of the fused instruction.

use crate::backend::amd::machine::Operand;
use crate::backend::amd::mnemonic::Operation;
use smallvec::{SmallVec, smallvec};

/// The operands of a fused instruction, in text order.
pub type Uses = SmallVec<[Operand; 4]>;

/// The encodings of fused instructions, which differ in the scalars and literals that they read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// 32 bits: the first operand may be a scalar or a literal.
    Short,
    /// Three operands, and 64 bits.
    Long,
    /// The scalar unit's instructions.
    Scalar,
}

/// Operands of the outer instruction that may be the inner one's result, bit `n` for operand `n`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slots(pub u8);

impl Slots {
    /// Their numbers.
    pub fn each(self) -> impl Iterator<Item = usize> {
        (0..3).filter(move |n| self.0 >> n & 1 != 0)
    }
}

const FIRST: Slots = Slots(1);
const SECOND: Slots = Slots(2);
const THIRD: Slots = Slots(4);
const EITHER: Slots = Slots(3);

/// The operands of two instructions; the outer one uses the result of the inner one.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'i> {
    pub inner: &'i [Operand],
    pub outer: &'i [Operand],
    /// The operand of the outer one that is the result.
    pub slot: usize,
}

impl Pair<'_> {
    /// The first operand of the outer instruction that is not the inner one's result.
    fn other(&self) -> Operand {
        self.outer[usize::from(self.slot == 0)]
    }

    /// The constant among the first two operands of the inner instruction, and the other operand.
    fn inner_constant(&self) -> Option<(u32, Operand)> {
        match *self.inner {
            [Operand::Constant(bits), operand] | [operand, Operand::Constant(bits)] => Some((bits, operand)),
            _ => None,
        }
    }

    fn other_constant(&self) -> Option<u32> {
        constant(self.other())
    }
}

fn constant(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Constant(bits) => Some(bits),
        _ => None,
    }
}

/// A pair of instructions and the instruction that replaces both.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub outer: Operation,
    pub slots: Slots,
    pub inner: Operation,
    pub fused: Operation,
    pub encoding: Encoding,
    /// True if the fused instruction has the outer one's condition code.
    pub keeps_condition: bool,
    /// The operands of the fused instruction; `None` if the constants do not allow it.
    pub uses: fn(&Pair<'_>) -> Option<Uses>,
}

const fn row(
    outer: Operation,
    slots: Slots,
    inner: Operation,
    fused: Operation,
    uses: fn(&Pair<'_>) -> Option<Uses>,
) -> Row {
    Row { outer, slots, inner, fused, encoding: Encoding::Long, keeps_condition: false, uses }
}

const fn scalar(
    outer: Operation,
    slots: Slots,
    inner: Operation,
    fused: Operation,
    uses: fn(&Pair<'_>) -> Option<Uses>,
) -> Row {
    Row { encoding: Encoding::Scalar, ..row(outer, slots, inner, fused, uses) }
}

/// Scalar logic, whose condition code shows that the result is not zero.
const fn logic(outer: Operation, inner: Operation, fused: Operation) -> Row {
    Row { keeps_condition: true, ..scalar(outer, EITHER, inner, fused, |p| Some(smallvec![p.other(), p.inner[0]])) }
}

/// Both operands of the inner instruction, then the outer one's.
fn in_order(pair: &Pair<'_>) -> Option<Uses> {
    Some(smallvec![pair.inner[0], pair.inner[1], pair.other()])
}

/// The operands in order after a vector shift, whose first operand is the amount.
fn shifted(pair: &Pair<'_>) -> Option<Uses> {
    Some(smallvec![pair.inner[1], pair.inner[0], pair.other()])
}

/// A scalar shift by this amount.
fn shifted_by(pair: &Pair<'_>, amount: u32) -> Option<Uses> {
    (pair.inner[1] == Operand::Constant(amount)).then(|| smallvec![pair.inner[0], pair.other()])
}

/// A count that starts with the other summand.
fn counted(pair: &Pair<'_>) -> Option<Uses> {
    (pair.inner[1] == Operand::Constant(0)).then(|| smallvec![pair.inner[0], pair.other()])
}

/// A value between two constants, the first not above the second (`is_ordered`).
fn between(pair: &Pair<'_>, inner_is_low: bool, is_ordered: fn(u32, u32) -> bool) -> Option<Uses> {
    let ((inner, value), outer) = (pair.inner_constant()?, pair.other_constant()?);
    let (low, high) = if inner_is_low { (inner, outer) } else { (outer, inner) };
    is_ordered(low, high).then(|| smallvec![value, Operand::Constant(low), Operand::Constant(high)])
}

fn unsigned(low: u32, high: u32) -> bool {
    low <= high
}

fn signed(low: u32, high: u32) -> bool {
    low as i32 <= high as i32
}

/// An upper bound of zero is excluded, because the sign of a zero may differ. The median of a NaN is the lower bound,
/// as in the two steps.
fn floats(low: u32, high: u32) -> bool {
    let (low, high) = (f32::from_bits(low), f32::from_bits(high));
    low < high && high != 0.0
}

/// The number of ones of a mask of the lowest bits.
fn low_ones(mask: u32) -> Option<u32> {
    (mask != 0 && mask != u32::MAX && mask & (mask + 1) == 0).then(|| mask.trailing_ones())
}

/// The lowest bits of a right shift.
fn low_field(pair: &Pair<'_>) -> Option<Uses> {
    let bits = low_ones(pair.other_constant()?)?;
    Some(smallvec![pair.inner[1], pair.inner[0], Operand::Constant(bits)])
}

/// Masked bits, shifted down to bit 0.
fn masked_field(pair: &Pair<'_>) -> Option<Uses> {
    let ((mask, value), amount) = (pair.inner_constant()?, pair.other_constant()? & 31);
    let bits = low_ones(mask >> amount)?;
    Some(smallvec![value, Operand::Constant(amount), Operand::Constant(bits)])
}

/// A bit field that a mask selects.
fn unmasked(pair: &Pair<'_>) -> Option<Uses> {
    let (mask, value) = pair.inner_constant()?;
    let (first, count) = (constant(pair.outer[1])?, constant(pair.outer[2])?);
    let field = 1_u32.checked_shl(count)?.wrapping_sub(1).checked_shl(first)?;
    (mask & field == field).then(|| smallvec![value, pair.outer[1], pair.outer[2]])
}

/// The sign of a field that is in the lowest bits with its sign.
fn signed_field(pair: &Pair<'_>) -> Option<Uses> {
    let (first, count, inner) = (constant(pair.outer[1])?, constant(pair.outer[2])?, constant(pair.inner[2])?);
    (first == 0 && inner <= count).then(|| pair.inner.into())
}

/// Bits shifted to the top, and then down by at least as much.
fn shifted_field(pair: &Pair<'_>) -> Option<Uses> {
    let (up, down) = (constant(pair.inner[0])? & 31, pair.other_constant()? & 31);
    (0 < up && up <= down).then(|| smallvec![pair.inner[1], Operand::Constant(down - up), Operand::Constant(32 - down)])
}

/// Bits shifted down and up again: clears the bits below.
fn cleared(pair: &Pair<'_>) -> Option<Uses> {
    let (down, up) = (constant(pair.inner[0])? & 31, pair.other_constant()? & 31);
    (down == up).then(|| smallvec![Operand::Constant(u32::MAX << up), pair.inner[1]])
}

/// `(a & mask) | (b & !mask)`, whose first part is already fused.
fn chosen_bits(pair: &Pair<'_>) -> Option<Uses> {
    let (not_mask, b) = pair.inner_constant()?;
    let (mask, a) = match *pair.outer {
        [Operand::Constant(bits), a, _] | [a, Operand::Constant(bits), _] => (bits, a),
        _ => return None,
    };
    (mask == !not_mask).then(|| smallvec![Operand::Constant(mask), a, b])
}

/// Two adjacent words, shifted: the combination of `a << n` and `b >> (32 - n)`. The first part of the sum is already
/// fused.
fn funnel(pair: &Pair<'_>) -> Option<Uses> {
    let (down, up) = (constant(pair.inner[0])?, constant(pair.outer[1])?);
    let are_beside = (1..32).contains(&down) && down + up == 32;
    are_beside.then(|| smallvec![pair.outer[0], pair.inner[1], Operand::Constant(down)])
}

/// Instructions of the vector unit after instructions of the vector unit.
pub const VECTOR: &[Row] = {
    use Operation as O;
    &[
        // Fields of bits.
        row(O::AndB32, EITHER, O::ShrB32, O::BfeU32, low_field),
        row(O::ShrB32, SECOND, O::AndB32, O::BfeU32, masked_field),
        row(O::ShrB32, SECOND, O::ShlB32, O::BfeU32, shifted_field),
        row(O::AshrI32, SECOND, O::ShlB32, O::BfeI32, shifted_field),
        row(O::BfeI32, FIRST, O::AndB32, O::BfeI32, unmasked),
        row(O::BfeU32, FIRST, O::AndB32, O::BfeU32, unmasked),
        row(O::BfeI32, FIRST, O::BfeI32, O::BfeI32, signed_field),
        Row { encoding: Encoding::Short, ..row(O::ShlB32, SECOND, O::ShrB32, O::AndB32, cleared) },
        Row { encoding: Encoding::Short, ..row(O::ShlB32, SECOND, O::AshrI32, O::AndB32, cleared) },
        row(O::AndOrB32, THIRD, O::AndB32, O::BfiB32, chosen_bits),
        row(O::ShlOrB32, THIRD, O::ShrB32, O::AlignBits, funnel),
        row(O::ShlAddU32, THIRD, O::ShrB32, O::AlignBits, funnel),
        row(O::AndB32, EITHER, O::NotB32, O::BfiB32, |p| Some(smallvec![p.inner[0], Operand::Constant(0), p.other()])),
        row(O::OrB32, EITHER, O::NotB32, O::BfiB32, |p| {
            Some(smallvec![p.inner[0], p.other(), Operand::Constant(u32::MAX)])
        }),
        // Sums.
        row(O::AddU32, EITHER, O::MulU24, O::MadU24, in_order),
        row(O::AddU32, EITHER, O::MulI24, O::MadI24, in_order),
        row(O::AddU32, EITHER, O::CountBelowLow, O::CountBelowLow, counted),
        row(O::AddU32, EITHER, O::BitCount, O::BitCount, counted),
        row(O::AddU32, EITHER, O::ShlB32, O::ShlAddU32, shifted),
        row(O::AddU32, EITHER, O::XorB32, O::XorAddU32, in_order),
        row(O::AddU32, EITHER, O::AddU32, O::Add3U32, in_order),
        row(O::ShlB32, SECOND, O::AddU32, O::AddShlU32, in_order),
        // Logic.
        row(O::OrB32, EITHER, O::ShlB32, O::ShlOrB32, shifted),
        row(O::OrB32, EITHER, O::AndB32, O::AndOrB32, in_order),
        row(O::OrB32, EITHER, O::OrB32, O::Or3B32, in_order),
        row(O::XorB32, EITHER, O::XorB32, O::Xor3B32, in_order),
        // Minima and maxima.
        row(O::MinU32, EITHER, O::MinU32, O::Min3U32, in_order),
        row(O::MaxU32, EITHER, O::MaxU32, O::Max3U32, in_order),
        row(O::MinI32, EITHER, O::MinI32, O::Min3I32, in_order),
        row(O::MaxI32, EITHER, O::MaxI32, O::Max3I32, in_order),
        row(O::MinF32, EITHER, O::MinF32, O::Min3F32, in_order),
        row(O::MaxF32, EITHER, O::MaxF32, O::Max3F32, in_order),
        row(O::MinU32, EITHER, O::MaxU32, O::Median3U32, |p| between(p, true, unsigned)),
        row(O::MaxU32, EITHER, O::MinU32, O::Median3U32, |p| between(p, false, unsigned)),
        row(O::MinI32, EITHER, O::MaxI32, O::Median3I32, |p| between(p, true, signed)),
        row(O::MaxI32, EITHER, O::MinI32, O::Median3I32, |p| between(p, false, signed)),
        row(O::MinF32, EITHER, O::MaxF32, O::Median3F32, |p| between(p, true, floats)),
        row(O::MinU32, EITHER, O::MaxU32, O::MaxMinU32, in_order),
        row(O::MaxU32, EITHER, O::MinU32, O::MinMaxU32, in_order),
        row(O::MinI32, EITHER, O::MaxI32, O::MaxMinI32, in_order),
        row(O::MaxI32, EITHER, O::MinI32, O::MinMaxI32, in_order),
        row(O::MinF32, EITHER, O::MaxF32, O::MaxMinF32, in_order),
        row(O::MaxF32, EITHER, O::MinF32, O::MinMaxF32, in_order),
    ]
};

/// Instructions after instructions of the scalar unit.
pub const SCALAR: &[Row] = {
    use Operation as O;
    &[
        row(O::AddU32, EITHER, O::ScalarShl, O::ShlAddU32, in_order),
        row(O::OrB32, EITHER, O::ScalarShl, O::ShlOrB32, in_order),
        row(O::AddU32, EITHER, O::ScalarAdd, O::Add3U32, in_order),
        row(O::OrB32, EITHER, O::ScalarAnd, O::AndOrB32, in_order),
        row(O::OrB32, EITHER, O::ScalarOr, O::Or3B32, in_order),
        row(O::XorB32, EITHER, O::ScalarXor, O::Xor3B32, in_order),
        scalar(O::ScalarAdd, EITHER, O::ScalarShl, O::ScalarShl1Add, |p| shifted_by(p, 1)),
        scalar(O::ScalarAdd, EITHER, O::ScalarShl, O::ScalarShl2Add, |p| shifted_by(p, 2)),
        scalar(O::ScalarAdd, EITHER, O::ScalarShl, O::ScalarShl3Add, |p| shifted_by(p, 3)),
        scalar(O::ScalarAdd, EITHER, O::ScalarShl, O::ScalarShl4Add, |p| shifted_by(p, 4)),
        logic(O::ScalarAnd, O::ScalarNot, O::ScalarAndNot),
        logic(O::ScalarAnd64, O::ScalarNot64, O::ScalarAndNot64),
        logic(O::ScalarOr, O::ScalarNot, O::ScalarOrNot),
        logic(O::ScalarOr64, O::ScalarNot64, O::ScalarOrNot64),
    ]
};
