//! The bits of a value that may and that must be set, and its maximum: enough to show that an address does not wrap,
//! that a remainder is redundant, or that a number is negative.

use crate::ir::{BuiltIn, Scalar, ScalarKind};
use crate::kernel::{BinOp, Def, Kernel, Op, TernOp, Ty, UnOp, Value};
use crate::lane::{Gives, LaneFact};

/// The range of a value's bits, as an unsigned number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Bits that may be set.
    pub may: u64,
    /// Bits that are set: also the smallest value.
    pub must: u64,
    /// The largest value.
    pub most: u64,
}

impl Range {
    /// Any value of this many bits.
    fn any(bits: u32) -> Range {
        Range::upto(u64::MAX >> (64 - bits))
    }

    /// Any value up to `most`.
    fn upto(most: u64) -> Range {
        Range { may: fill(most), must: 0, most }
    }

    /// Any value with these bits.
    fn bits(may: u64, must: u64) -> Range {
        Range { may, must, most: may }
    }

    fn exactly(bits: u64) -> Range {
        Range::bits(bits, bits)
    }

    /// Number of low bits that are zero.
    pub fn zeros(self) -> u32 {
        self.may.trailing_zeros()
    }

    /// This range with `zeros` low bits known to be zero.
    fn with_zeros(self, zeros: u32) -> Range {
        let may = self.may & u64::MAX.checked_shl(zeros).unwrap_or(0);
        Range { may, must: self.must & may, most: self.most.min(may) }
    }

    /// The bits of both, up to the smaller maximum.
    fn masked(self, by: Range) -> Range {
        let may = self.may & by.may;
        Range { may, must: self.must & by.must, most: self.most.min(by.most).min(may) }
    }

    /// The bits that an arithmetic right shift of `width`-bit numbers leaves.
    fn shifted(self, by: u64, width: u32) -> Range {
        let shift = |bits: u64| ((bits << (64 - width)) as i64 >> (64 - width) >> by) as u64 & low_bits(width.into());
        Range::bits(shift(self.may), shift(self.must))
    }
}

/// All bits up to the highest one that is set.
fn fill(value: u64) -> u64 {
    if value == 0 { 0 } else { u64::MAX >> value.leading_zeros() }
}

/// The range of each value, in a walk in text order so far.
pub struct Ranges {
    known: Vec<Option<Range>>,
}

impl Ranges {
    pub fn new(kernel: &Kernel) -> Ranges {
        Ranges { known: vec![None; kernel.values.len()] }
    }

    pub fn of(&self, kernel: &Kernel, value: Value) -> Range {
        match kernel.values[value].def {
            Def::Const(bits) => Range::exactly(bits),
            _ => self.known.get(value.index()).copied().flatten().unwrap_or(Range::any(kernel.ty(value).bits())),
        }
    }

    /// Learns the result of an instruction.
    pub fn learn(&mut self, kernel: &Kernel, op: &Op, args: &[Value], result: Value) {
        let Some(range) = self.made(kernel, op, args, kernel.ty(result)) else { return };
        if self.known.len() <= result.index() {
            self.known.resize(result.index() + 1, None);
        }
        self.known[result.index()] = Some(range);
    }

    /// The range that the result of an instruction of this type would have.
    pub fn would_be(&self, kernel: &Kernel, op: &Op, args: &[Value], ty: Ty) -> Range {
        self.made(kernel, op, args, ty).unwrap_or(Range::any(ty.bits()))
    }

    fn made(&self, kernel: &Kernel, op: &Op, args: &[Value], ty: Ty) -> Option<Range> {
        let all = Range::any(ty.bits());
        let Range { may, must, most } = self.result(kernel, op, args, all)?;
        let may = may & all.may;
        Some(Range { may, must: must & may, most: most.min(may) })
    }

    fn result(&self, kernel: &Kernel, op: &Op, args: &[Value], all: Range) -> Option<Range> {
        let arg = |n: usize| self.of(kernel, args[n]);
        let constant = |n: usize| args.get(n).and_then(|arg| kernel.as_constant(*arg));
        Some(match *op {
            Op::Bin(op, scalar) if !scalar.is_float() => binary(op, scalar, arg(0), arg(1), constant(1), all)?,
            Op::Un(UnOp::Not, scalar) if scalar.width != 8 => {
                Range::bits(!arg(0).must & all.may, !arg(0).may & all.may)
            }
            // The negative of a number from 1 to a maximum has ones above that maximum's bits.
            Op::Un(UnOp::Neg, scalar) if scalar.width != 8 && !scalar.is_float() => {
                let negative = all.with_zeros(arg(0).zeros());
                let must = if arg(0).must == 0 { 0 } else { !fill(arg(0).most) & negative.may };
                Range { must, ..negative }
            }
            Op::Un(UnOp::BitCount, scalar) => Range::upto(scalar.width.into()),
            Op::Tern(TernOp::BitExtract, scalar) if !scalar.is_signed() => Range::upto(low_bits(constant(2)?)),
            Op::Select => {
                let (a, b) = (arg(1), arg(2));
                Range { may: a.may | b.may, must: a.must & b.must, most: a.most.max(b.most) }
            }
            // Signed 8-bit integers are extended by their sign.
            Op::Convert(_, to) if to.is_signed() && to.width == 8 => return None,
            Op::Convert(from, to) if from.kind != ScalarKind::Sint && !from.is_float() && to.is_int() => {
                if to.width >= from.width { arg(0) } else { Range::upto(low_bits(to.width.into())) }
            }
            Op::Low => arg(0),
            Op::Load(access) if access.bytes == 1 => Range::upto(0xff),
            Op::BuiltIn(built_in, component) => Range::upto(most_of(kernel, built_in, component)?),
            Op::Fact(LaneFact::Index) => Range::upto(MOST_LANES - 1),
            Op::Fact(LaneFact::Size) => Range::upto(MOST_LANES),
            Op::Lane { op, .. } => match op.signature().gives {
                Gives::Lane => Range::upto(MOST_LANES - 1),
                Gives::Count => Range::upto(MOST_LANES),
                Gives::Data | Gives::Bool | Gives::U32 | Gives::Ballot | Gives::Sorted | Gives::Nothing => return None,
            },
            _ => return None,
        })
    }
}

/// Maximum number of lanes in a wave.
const MOST_LANES: u64 = 64;

fn low_bits(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

fn most_of(kernel: &Kernel, built_in: BuiltIn, component: u8) -> Option<u64> {
    match built_in {
        BuiltIn::LocalInvocationId => Some(u64::from(kernel.workgroup_size[usize::from(component)]).saturating_sub(1)),
        BuiltIn::LocalInvocationIndex | BuiltIn::SubgroupId => Some(u64::from(kernel.invocations()).saturating_sub(1)),
        BuiltIn::NumSubgroups => Some(kernel.invocations().into()),
        _ => None,
    }
}

fn binary(op: BinOp, scalar: Scalar, a: Range, b: Range, by: Option<u64>, all: Range) -> Option<Range> {
    if scalar.is_signed() && scalar.width == 8 && !matches!(op, BinOp::And | BinOp::Or | BinOp::Xor) {
        return None;
    }
    let unsigned = !scalar.is_signed() || (a.most | b.most) <= all.most >> 1;
    Some(match op {
        BinOp::And => a.masked(b),
        BinOp::Or => Range { may: a.may | b.may, must: a.must | b.must, most: fill(a.most | b.most) },
        BinOp::Xor => {
            let may = (a.may | b.may) & !(a.must & b.must);
            Range { may, must: (a.must & !b.may) | (b.must & !a.may), most: fill(a.most | b.most).min(may) }
        }
        // There are no carries.
        BinOp::Add if a.may & b.may == 0 => Range { may: a.may | b.may, must: a.must | b.must, most: a.most + b.most },
        BinOp::Add => within(a.most.checked_add(b.most), all).with_zeros(a.zeros().min(b.zeros())),
        BinOp::Sub => all.with_zeros(a.zeros().min(b.zeros())),
        BinOp::Mul => within(a.most.checked_mul(b.most), all).with_zeros(a.zeros().saturating_add(b.zeros())),
        BinOp::Shl => {
            let by = u32::try_from(by?).ok().filter(|by| *by < u32::from(scalar.width))?;
            let must = a.must << by & low_bits(scalar.width.into());
            let upto = within(a.most.checked_mul(1 << by), all).with_zeros(a.zeros().saturating_add(by));
            Range { must, ..upto }
        }
        BinOp::Shr => {
            let by = by.filter(|by| *by < u64::from(scalar.width))?;
            if unsigned {
                Range { may: a.may >> by, must: a.must >> by, most: a.most >> by }
            } else {
                a.shifted(by, scalar.width.into())
            }
        }
        BinOp::Rem if unsigned => Range::upto(a.most.min(b.most.saturating_sub(1))),
        BinOp::Div if unsigned => Range::upto(a.most),
        BinOp::Min if unsigned => Range::upto(a.most.min(b.most)),
        BinOp::Max if unsigned => Range::upto(a.most.max(b.most)),
        _ => return None,
    })
}

/// Up to a number that may exceed the type.
fn within(most: Option<u64>, all: Range) -> Range {
    most.filter(|most| *most <= all.most).map_or(all, Range::upto)
}
