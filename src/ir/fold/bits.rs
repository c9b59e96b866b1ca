//! Built-in functions on integers: GLSL 4.60 sections 8.3 and 8.8, and WGSL's bit counts.

use super::number::{Num, mask};
use crate::ir::{MathFn, Scalar};

/// One component of an integer function on type `scalar`.
pub fn on_ints(function: MathFn, scalar: Scalar, args: &[Num]) -> Option<Num> {
    let mut ints = [0; 4];
    for (int, arg) in ints.iter_mut().zip(args) {
        *int = arg.int()?;
    }
    match ints[..args.len().min(4)] {
        [x] => one(function, scalar, x),
        [x, y] => two(function, x, y),
        [x, y, z] if function == MathFn::Clamp => Some(Num::Int(x.max(y).min(z))),
        [base, offset, bits] if function == MathFn::BitfieldExtract => extract(scalar, base, offset, bits),
        [base, insert, offset, bits] if function == MathFn::BitfieldInsert => {
            let field = field_mask(scalar, offset, bits)?;
            Some(Num::Int(base & !field | (insert << offset) & field))
        }
        _ => None,
    }
}

fn one(function: MathFn, scalar: Scalar, x: i128) -> Option<Num> {
    let width = u32::from(scalar.width);
    let bits = x as u64 & mask(scalar.width);
    let leading = bits.leading_zeros() - (64 - width);
    Some(Num::Int(match function {
        MathFn::Abs => x.abs(),
        MathFn::Sign => x.signum(),
        MathFn::BitfieldReverse => i128::from(bits.reverse_bits() >> (64 - width)),
        MathFn::BitCount => i128::from(bits.count_ones()),
        MathFn::FindLsb if bits == 0 => -1,
        MathFn::FindLsb => i128::from(bits.trailing_zeros()),
        // Of a negative number the highest zero bit counts.
        MathFn::FindMsb if x < 0 => i128::from(127 - (!x).leading_zeros() as i32),
        MathFn::FindMsb => i128::from(127 - x.leading_zeros() as i32),
        MathFn::CountLeadingZeros => i128::from(leading),
        MathFn::CountTrailingZeros => i128::from(bits.trailing_zeros().min(width)),
        _ => return None,
    }))
}

fn two(function: MathFn, x: i128, y: i128) -> Option<Num> {
    match function {
        MathFn::Min => Some(Num::Int(x.min(y))),
        MathFn::Max => Some(Num::Int(x.max(y))),
        MathFn::Mod => x.checked_rem(y).map(|rest| Num::Int(if rest * y < 0 { rest + y } else { rest })),
        _ => None,
    }
}

/// A mask of `bits` bits from `offset` on; `None` if the field exceeds the type.
fn field_mask(scalar: Scalar, offset: i128, bits: i128) -> Option<i128> {
    let fits = offset >= 0 && bits >= 0 && offset + bits <= i128::from(scalar.width);
    fits.then(|| ((1i128 << bits) - 1) << offset)
}

fn extract(scalar: Scalar, base: i128, offset: i128, bits: i128) -> Option<Num> {
    let field = (base & field_mask(scalar, offset, bits)?) >> offset;
    let negative = scalar.is_signed() && bits > 0 && field >> (bits - 1) & 1 == 1;
    Some(Num::Int(if negative { field - (1 << bits) } else { field }))
}

/// Sum and carry, difference and borrow, low and high half of a product.
pub fn two_results(function: MathFn, scalar: Scalar, x: i128, y: i128) -> Option<(Num, Num)> {
    let most = i128::from(mask(scalar.width));
    match function {
        MathFn::AddCarry => Some((Num::Int(x + y), Num::Int(i128::from(x + y > most)))),
        MathFn::SubBorrow => Some((Num::Int(x - y), Num::Int(i128::from(x < y)))),
        MathFn::MulExtended => {
            let product = x.wrapping_mul(y);
            Some((Num::Int(product), Num::Int((product as u128 >> scalar.width) as i128)))
        }
        _ => None,
    }
}
