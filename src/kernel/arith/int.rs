//! Integers of 8, 16, 32 and 64 bits.
//!
//! Sums and products are right modulo the width regardless of the bits above it, so one 64-bit operation and a
//! truncation serve all types.

use super::{each_defined, map, zip};
use crate::ir::Scalar;
use crate::kernel::{BinOp, CmpOp, UnOp};

/// An integer type.
#[derive(Clone, Copy)]
struct Int {
    width: u32,
    signed: bool,
}

impl Int {
    fn of(scalar: Scalar) -> Int {
        Int { width: scalar.width.into(), signed: scalar.is_signed() }
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The form that a value of these low bits has: zeros above, but 8 signed bits are 16.
    fn fit(self, bits: u64) -> u64 {
        match (self.signed, self.width) {
            (true, 8) => (bits as i8 as u16).into(),
            _ => bits & self.mask(),
        }
    }

    /// The low bits as a signed number.
    fn signed(self, bits: u64) -> i64 {
        let unused = 64 - self.width;
        ((bits << unused) as i64) >> unused
    }

    /// The value as a mathematical integer.
    fn value(self, bits: u64) -> i128 {
        if self.signed { self.signed(bits).into() } else { (bits & self.mask()).into() }
    }

    /// The bits of a number if the type has it.
    fn checked(self, value: i128) -> Option<u64> {
        let bits = self.fit(value as u64);
        (self.value(bits) == value).then_some(bits)
    }
}

pub(super) fn un(op: UnOp, scalar: Scalar, out: &mut [u64], a: &[u64]) {
    let int = Int::of(scalar);
    let mask = int.mask();
    match op {
        UnOp::Neg => map(out, a, |x| int.fit(x.wrapping_neg())),
        UnOp::Not => map(out, a, |x| int.fit(!x)),
        UnOp::Abs if int.signed => map(out, a, |x| int.fit(int.signed(x).unsigned_abs())),
        UnOp::BitCount => map(out, a, |x| (x & mask).count_ones().into()),
        UnOp::BitReverse => map(out, a, |x| int.fit(x.reverse_bits() >> (64 - int.width))),
        UnOp::FindLsb => map(out, a, |x| if x & mask == 0 { int.fit(u64::MAX) } else { x.trailing_zeros().into() }),
        UnOp::FindMsb => map(out, a, |x| find_msb(int, x)),
        // The others are for floats.
        _ => out.copy_from_slice(a),
    }
}

fn find_msb(int: Int, bits: u64) -> u64 {
    let sought = if int.signed && int.signed(bits) < 0 { !bits } else { bits } & int.mask();
    int.fit(63_u64.wrapping_sub(sought.leading_zeros().into()))
}

pub(super) fn bin(op: BinOp, scalar: Scalar, out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    let int = Int::of(scalar);
    match op {
        BinOp::Add => zip(out, a, b, |x, y| int.fit(x.wrapping_add(y))),
        BinOp::Sub => zip(out, a, b, |x, y| int.fit(x.wrapping_sub(y))),
        BinOp::Mul => zip(out, a, b, |x, y| int.fit(x.wrapping_mul(y))),
        BinOp::MulHigh => zip(out, a, b, |x, y| int.fit(high_product(int, x, y))),
        BinOp::Min if int.signed => zip(out, a, b, |x, y| if int.signed(x) <= int.signed(y) { x } else { y }),
        BinOp::Max if int.signed => zip(out, a, b, |x, y| if int.signed(x) >= int.signed(y) { x } else { y }),
        BinOp::Min => zip(out, a, b, u64::min),
        BinOp::Max => zip(out, a, b, u64::max),
        BinOp::Div => return each_defined(out, |i| int.checked(int.value(a[i]).checked_div(int.value(b[i]))?)),
        BinOp::Rem => return each_defined(out, |i| remainder(int, a[i], b[i])),
        BinOp::Shl | BinOp::Shr => return shift(op, int, out, a, b),
        // Done without a type.
        BinOp::And | BinOp::Or | BinOp::Xor => {}
    }
    0
}

/// The high half, computed in 128 bits only if the product exceeds 64.
fn high_product(int: Int, x: u64, y: u64) -> u64 {
    match (int.signed, int.width) {
        (true, 64) => (int.value(x).wrapping_mul(int.value(y)) >> 64) as u64,
        (false, 64) => ((u128::from(x) * u128::from(y)) >> 64) as u64,
        (true, width) => (int.signed(x).wrapping_mul(int.signed(y)) >> width) as u64,
        (false, width) => x.wrapping_mul(y) >> width,
    }
}

/// Undefined for a zero divisor and if the quotient overflows.
fn remainder(int: Int, x: u64, y: u64) -> Option<u64> {
    let (x, y) = (int.value(x), int.value(y));
    int.checked(x.checked_div(y)?)?;
    int.checked(x % y)
}

fn shift(op: BinOp, int: Int, out: &mut [u64], a: &[u64], amount: &[u64]) -> u64 {
    // The result for an amount that is too large is undefined, so its low bits are used.
    match op {
        BinOp::Shl => zip(out, a, amount, |x, n| int.fit(x << (n & 63))),
        _ if int.signed => zip(out, a, amount, |x, n| int.fit((int.signed(x) >> (n & 63)) as u64)),
        _ => zip(out, a, amount, |x, n| x >> (n & 63)),
    }
    let width = u64::from(int.width);
    amount.iter().enumerate().fold(0, |undefined, (lane, n)| undefined | u64::from(*n >= width) << lane)
}

pub(super) fn cmp(op: CmpOp, scalar: Scalar, out: &mut [u64], a: &[u64], b: &[u64]) {
    let int = Int::of(scalar);
    match (op, int.signed) {
        (CmpOp::Eq, _) => zip(out, a, b, |x, y| (x == y).into()),
        (CmpOp::Ne, _) => zip(out, a, b, |x, y| (x != y).into()),
        (CmpOp::Lt, false) => zip(out, a, b, |x, y| (x < y).into()),
        (CmpOp::Le, false) => zip(out, a, b, |x, y| (x <= y).into()),
        (CmpOp::Gt, false) => zip(out, a, b, |x, y| (x > y).into()),
        (CmpOp::Ge, false) => zip(out, a, b, |x, y| (x >= y).into()),
        (CmpOp::Lt, true) => zip(out, a, b, |x, y| (int.signed(x) < int.signed(y)).into()),
        (CmpOp::Le, true) => zip(out, a, b, |x, y| (int.signed(x) <= int.signed(y)).into()),
        (CmpOp::Gt, true) => zip(out, a, b, |x, y| (int.signed(x) > int.signed(y)).into()),
        (CmpOp::Ge, true) => zip(out, a, b, |x, y| (int.signed(x) >= int.signed(y)).into()),
    }
}

/// The bits of a field; `None` if it exceeds the value.
fn field(int: Int, offset: u64, bits: u64) -> Option<u64> {
    let inside = offset + bits <= u64::from(int.width);
    inside.then(|| if bits == 0 { 0 } else { (u64::MAX >> (64 - bits)) << offset })
}

pub(super) fn bit_extract(scalar: Scalar, out: &mut [u64], [base, offset, bits]: [&[u64]; 3]) -> u64 {
    let int = Int::of(scalar);
    each_defined(out, |i| {
        let (offset, bits) = (offset[i], bits[i]);
        let field = (base[i] & field(int, offset, bits)?).checked_shr(offset as u32).unwrap_or(0);
        let part = Int { width: bits as u32, signed: true };
        Some(if int.signed && bits > 0 { int.fit(part.signed(field) as u64) } else { field })
    })
}

pub(super) fn bit_insert(scalar: Scalar, out: &mut [u64], [base, insert, offset, bits]: [&[u64]; 4]) -> u64 {
    let int = Int::of(scalar);
    each_defined(out, |i| {
        let field = field(int, offset[i], bits[i])?;
        let insert = insert[i].checked_shl(offset[i] as u32).unwrap_or(0);
        Some(int.fit(base[i] & !field | insert & field))
    })
}

/// The form of a value of a type with these low bits.
pub(super) fn fit(bits: u64, scalar: Scalar) -> u64 {
    Int::of(scalar).fit(bits)
}
