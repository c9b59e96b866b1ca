//! Strength reduction: quotients and remainders of integers by constants become products and shifts.
//!
//! A quotient `n / d` is the upper part of a product with a rounded reciprocal `m = ⌈2^s / d⌉`. The result is exact for
//! all `n` up to `most` if `most * (m * d - 2^s) < 2^s` (Granlund and Montgomery, "Division by Invariant Integers using
//! Multiplication", 1994), so a small range of `n` allows a short product. 8- and 16-bit values are divided in 32 bits,
//! and so are 64-bit values that fit.

use super::range::Ranges;
use crate::ir::Scalar;
use crate::kernel::tree::Tree;
use crate::kernel::{BinOp, BlockId, InstId, Kernel, Op, Ty, UnOp, Value};
use smallvec::{SmallVec, smallvec};

/// The instruction with the result of a sequence.
type Last = (Op, SmallVec<[Value; 2]>);

/// Reduces the divisions by constants. Returns true if there were some.
pub fn run(kernel: &mut Kernel) -> bool {
    let ranges = Ranges::new(kernel);
    let blocks = Tree::new(kernel).blocks;
    let mut reducing = Reducing { kernel, ranges, out: Vec::new(), like: InstId::from_index(0), changed: false };
    blocks.into_iter().for_each(|block| reducing.block(block));
    reducing.changed
}

struct Reducing<'k> {
    kernel: &'k mut Kernel,
    ranges: Ranges,
    /// The part of the block that has been rewritten.
    out: Vec<InstId>,
    /// The instruction whose flags and place the new ones inherit.
    like: InstId,
    changed: bool,
}

impl Reducing<'_> {
    fn block(&mut self, block: BlockId) {
        for inst in std::mem::take(&mut self.kernel.blocks[block].insts) {
            self.like = inst;
            let args: SmallVec<[Value; 2]> = self.kernel.args(inst).into();
            if let Some((op, args)) = self.reduced(self.kernel.insts[inst].op, &args) {
                self.kernel.insts[inst].op = op;
                self.kernel.set_args(inst, &args);
                self.changed = true;
            }
            self.put(inst);
        }
        self.kernel.blocks[block].insts = std::mem::take(&mut self.out);
    }

    fn put(&mut self, inst: InstId) {
        if let Some(result) = self.kernel.result(inst) {
            self.ranges.learn(self.kernel, &self.kernel.insts[inst].op, self.kernel.args(inst), result);
        }
        self.out.push(inst);
    }

    fn value(&mut self, op: Op, args: &[Value], ty: Ty) -> Value {
        let (flags, span) = (self.kernel.insts[self.like].flags, self.kernel.insts[self.like].span);
        let (op, args) = self.reduced(op, args).unwrap_or((op, args.into()));
        let inst = self.kernel.add_inst(op, &args, &[ty], flags, span);
        self.put(inst);
        self.kernel.results(inst).next().expect("one result was asked for")
    }

    fn bin(&mut self, op: BinOp, scalar: Scalar, a: Value, b: Value) -> Value {
        self.value(Op::Bin(op, scalar), &[a, b], Ty::of(scalar))
    }

    fn with(&mut self, op: BinOp, scalar: Scalar, a: Value, b: u32) -> Value {
        let b = self.number(b);
        self.bin(op, scalar, a, b)
    }

    fn number(&mut self, bits: u32) -> Value {
        self.kernel.constant(Ty::B32, bits.into())
    }

    /// The largest value.
    fn most(&self, value: Value) -> u64 {
        self.ranges.of(self.kernel, value).most
    }

    fn reduced(&mut self, op: Op, args: &[Value]) -> Option<Last> {
        let (Op::Bin(op @ (BinOp::Div | BinOp::Rem), scalar), &[n, d]) = (op, args) else { return None };
        match scalar.width {
            _ if scalar.is_float() => None,
            64 => self.in_half(op, n, d),
            32 => self.by_constant(op, scalar, n, self.kernel.as_constant(d)? as u32),
            _ => self.widened(op, scalar, n, self.kernel.as_constant(d)?),
        }
    }

    /// A 64-bit division whose operands fit in 32 bits.
    fn in_half(&mut self, op: BinOp, n: Value, d: Value) -> Option<Last> {
        if self.most(n).max(self.most(d)) > u32::MAX.into() {
            return None;
        }
        let [n, d] = [n, d].map(|value| match self.kernel.as_constant(value) {
            Some(bits) => self.number(bits as u32),
            None => self.value(Op::Low, &[value], Ty::B32),
        });
        let result = self.bin(op, Scalar::U32, n, d);
        Some((Op::Convert(Scalar::U32, Scalar::U64), smallvec![result]))
    }

    /// A division of 8 or 16 bits, in 32.
    fn widened(&mut self, op: BinOp, scalar: Scalar, n: Value, by: u64) -> Option<Last> {
        let wide = Scalar { width: 32, ..scalar };
        let free = 64 - u32::from(scalar.width);
        let by = if scalar.is_signed() { ((by << free) as i64 >> free) as u32 } else { (by << free >> free) as u32 };
        if by == 0 {
            return None;
        }
        let n = self.value(Op::Convert(scalar, wide), &[n], Ty::B32);
        let by = self.number(by);
        let result = self.bin(op, wide, n, by);
        Some((Op::Convert(wide, scalar), smallvec![result]))
    }

    fn by_constant(&mut self, op: BinOp, scalar: Scalar, n: Value, by: u32) -> Option<Last> {
        let most = self.most(n);
        let is_negative = scalar.is_signed() && by > i32::MAX as u32;
        let amount = if is_negative { (by as i32).unsigned_abs() } else { by };
        let has_sign = scalar.is_signed() && most > i32::MAX as u64;
        match (has_sign, amount) {
            (_, 0 | 1) => None,
            (false, _) if amount.is_power_of_two() && !is_negative => None,
            (true, _) if amount.is_power_of_two() => Some(self.by_signed_power(op, n, amount, is_negative)),
            (true, _) => Some(self.finished(op, n, amount, is_negative, Self::signed_quotient)),
            (false, _) => Some(self.finished(op, n, amount, is_negative, |s, n, by| s.quotient(n, most, by))),
        }
    }

    /// The quotient, or `n - quotient * by`, which always has the sign of `n`.
    fn finished(
        &mut self,
        op: BinOp,
        n: Value,
        by: u32,
        negated: bool,
        quotient: impl FnOnce(&mut Self, Value, u32) -> Last,
    ) -> Last {
        let last = quotient(self, n, by);
        if op == BinOp::Div && !negated {
            return last;
        }
        let quotient = self.value(last.0, &last.1, Ty::B32);
        if op == BinOp::Div {
            return (Op::Un(UnOp::Neg, Scalar::U32), smallvec![quotient]);
        }
        let product = self.with(BinOp::Mul, Scalar::U32, quotient, by.wrapping_neg());
        (Op::Bin(BinOp::Add, Scalar::U32), smallvec![n, product])
    }

    /// The quotient of a number of 0 to `most`.
    fn quotient(&mut self, n: Value, most: u64, by: u32) -> Last {
        if let Some((factor, shift)) = (0..32).find_map(|shift| reciprocal(most, by, shift))
            && most * factor <= u32::MAX.into()
        {
            let product = self.with(BinOp::Mul, Scalar::U32, n, factor as u32);
            return self.last(BinOp::Shr, product, shift);
        }
        if let Some((factor, shift)) = (32..64).find_map(|shift| reciprocal(most, by, shift))
            && let Ok(factor) = u32::try_from(factor)
        {
            return match shift {
                32 => self.last(BinOp::MulHigh, n, factor),
                _ => {
                    let high = self.with(BinOp::MulHigh, Scalar::U32, n, factor);
                    self.last(BinOp::Shr, high, shift - 32)
                }
            };
        }
        match by.trailing_zeros() {
            0 => self.quotient_by_long_reciprocal(n, by),
            zeros => {
                let half = self.with(BinOp::Shr, Scalar::U32, n, zeros);
                self.quotient(half, most >> zeros, by >> zeros)
            }
        }
    }

    fn last(&mut self, op: BinOp, a: Value, b: u32) -> Last {
        (Op::Bin(op, Scalar::U32), smallvec![a, self.number(b)])
    }

    /// With a 33-bit factor: the product with its lower 32 bits, plus half of the difference to `n`.
    fn quotient_by_long_reciprocal(&mut self, n: Value, by: u32) -> Last {
        let log = 32 - by.leading_zeros();
        let factor = (1_u128 << (32 + log)).div_ceil(by.into()) as u32;
        let high = self.with(BinOp::MulHigh, Scalar::U32, n, factor);
        let rest = self.bin(BinOp::Sub, Scalar::U32, n, high);
        let half = self.with(BinOp::Shr, Scalar::U32, rest, 1);
        let sum = self.bin(BinOp::Add, Scalar::U32, half, high);
        self.last(BinOp::Shr, sum, log - 1)
    }

    /// The quotient of a possibly negative number by a positive one: rounded down, plus one for negative numbers.
    fn signed_quotient(&mut self, n: Value, by: u32) -> Last {
        let is_right = |factor: u128, shift: u32| (factor * u128::from(by) - (1 << shift)) << 31 <= 1 << shift;
        let (factor, shift) = (32..64)
            .map(|shift| ((1_u128 << shift) / u128::from(by) + 1, shift))
            .find(|(factor, shift)| is_right(*factor, *shift))
            .expect("31 bits more than the divisor has are enough");
        let mut high = self.with(BinOp::MulHigh, Scalar::I32, n, factor as u32);
        if factor > i32::MAX as u128 {
            high = self.bin(BinOp::Add, Scalar::U32, high, n);
        }
        if shift > 32 {
            high = self.with(BinOp::Shr, Scalar::I32, high, shift - 32);
        }
        let sign = self.with(BinOp::Shr, Scalar::U32, n, 31);
        (Op::Bin(BinOp::Add, Scalar::U32), smallvec![high, sign])
    }

    /// Negative numbers are rounded up: the divisor minus one is added first.
    fn by_signed_power(&mut self, op: BinOp, n: Value, by: u32, negated: bool) -> Last {
        let log = by.trailing_zeros();
        let sign = if log == 1 { n } else { self.with(BinOp::Shr, Scalar::I32, n, 31) };
        let bias = self.with(BinOp::Shr, Scalar::U32, sign, 32 - log);
        let sum = self.bin(BinOp::Add, Scalar::U32, n, bias);
        if op == BinOp::Rem {
            let multiple = self.with(BinOp::And, Scalar::U32, sum, by.wrapping_neg());
            return (Op::Bin(BinOp::Sub, Scalar::U32), smallvec![n, multiple]);
        }
        let shift = (Op::Bin(BinOp::Shr, Scalar::I32), smallvec![sum, self.number(log)]);
        if !negated {
            return shift;
        }
        let quotient = self.value(shift.0, &shift.1, Ty::B32);
        (Op::Un(UnOp::Neg, Scalar::U32), smallvec![quotient])
    }
}

/// The factor for a shift, if the quotients of all numbers up to `most` are right.
fn reciprocal(most: u64, by: u32, shift: u32) -> Option<(u64, u32)> {
    let power = 1_u128 << shift;
    let factor = power.div_ceil(by.into());
    let error = factor * u128::from(by) - power;
    (u128::from(most) * error < power).then_some((factor as u64, shift))
}
