//! What atomic operations write to memory.

use super::super::float::extreme;
use super::super::operand::Kind;

/// The operations, by every name that a generation has for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Swap,
    CompareSwap,
    /// Compares numbers instead of bits.
    CompareSwapFloat,
    Add,
    Sub,
    ReverseSub,
    MinSigned,
    MinUnsigned,
    MaxSigned,
    MaxUnsigned,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    AddFloat,
    MinFloat,
    MaxFloat,
    /// The minimum of gfx12, which prefers a number to a NaN and respects the sign of zero.
    MinNumber,
    MaxNumber,
}

/// An operation on 4 or 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomic {
    pub operation: Operation,
    pub bytes: usize,
}

/// Stems of names, with their meaning for signed, unsigned and float suffixes.
static STEMS: &[(&str, Operation, Operation, Operation)] = {
    use Operation as O;
    &[
        ("swap", O::Swap, O::Swap, O::Swap),
        ("wrxchg", O::Swap, O::Swap, O::Swap),
        ("storexchg", O::Swap, O::Swap, O::Swap),
        ("cmpswap", O::CompareSwap, O::CompareSwap, O::CompareSwapFloat),
        ("cmpst", O::CompareSwap, O::CompareSwap, O::CompareSwapFloat),
        ("cmpstore", O::CompareSwap, O::CompareSwap, O::CompareSwapFloat),
        ("add", O::Add, O::Add, O::AddFloat),
        ("sub", O::Sub, O::Sub, O::Sub),
        ("rsub", O::ReverseSub, O::ReverseSub, O::ReverseSub),
        ("smin", O::MinSigned, O::MinSigned, O::MinSigned),
        ("umin", O::MinUnsigned, O::MinUnsigned, O::MinUnsigned),
        ("smax", O::MaxSigned, O::MaxSigned, O::MaxSigned),
        ("umax", O::MaxUnsigned, O::MaxUnsigned, O::MaxUnsigned),
        ("min", O::MinSigned, O::MinUnsigned, O::MinFloat),
        ("max", O::MaxSigned, O::MaxUnsigned, O::MaxFloat),
        ("fmin", O::MinFloat, O::MinFloat, O::MinFloat),
        ("fmax", O::MaxFloat, O::MaxFloat, O::MaxFloat),
        ("min_num", O::MinNumber, O::MinNumber, O::MinNumber),
        ("max_num", O::MaxNumber, O::MaxNumber, O::MaxNumber),
        ("and", O::And, O::And, O::And),
        ("or", O::Or, O::Or, O::Or),
        ("xor", O::Xor, O::Xor, O::Xor),
        ("inc", O::Inc, O::Inc, O::Inc),
        ("dec", O::Dec, O::Dec, O::Dec),
    ]
};

impl Atomic {
    /// Parses the part of a name after the space: `add`, `smin_x2`, `min_i64`.
    pub fn named(name: &str) -> Option<Self> {
        let (name, doubled) = name.strip_suffix("_x2").map_or((name, false), |name| (name, true));
        let suffixes = ["_int", "_uint", "_u32", "_i32", "_b32", "_f32", "_u64", "_i64", "_b64", "_f64"];
        let suffix = suffixes.into_iter().find(|suffix| name.ends_with(suffix)).unwrap_or("_i32");
        let stem = name.strip_suffix(suffix).unwrap_or(name);
        let (_, signed, unsigned, float) = *STEMS.iter().find(|(own, ..)| *own == stem)?;
        let operation = match &suffix[1..2] {
            "u" => unsigned,
            "f" => float,
            _ => signed,
        };
        Some(Self { operation, bytes: if doubled || suffix.ends_with("64") { 8 } else { 4 } })
    }

    /// The number of operands.
    pub fn operands(self) -> usize {
        if matches!(self.operation, Operation::CompareSwap | Operation::CompareSwapFloat) { 2 } else { 1 }
    }

    /// The value and the comparand of a conditional swap, from the operands in order. In memory instructions the value
    /// comes first; in LDS instructions it was the second operand before gfx11.
    pub fn ordered<T>(self, operands: [T; 2], is_lds: bool, version: u32) -> [T; 2] {
        let [first, second] = operands;
        if self.operands() == 2 && is_lds && version < 1100 { [second, first] } else { [first, second] }
    }

    /// The new value from the old one; `compare` is the comparand of a conditional swap.
    pub fn apply(self, old: u64, value: u64, compare: u64) -> u64 {
        let result = match self.operation {
            Operation::Swap => value,
            Operation::CompareSwap => return if old == compare { value } else { old },
            Operation::CompareSwapFloat => self.pick(old, value, self.float(old) == self.float(compare)),
            Operation::Add => old.wrapping_add(value),
            Operation::Sub => old.wrapping_sub(value),
            Operation::ReverseSub => value.wrapping_sub(old),
            Operation::MinSigned => self.pick(old, value, self.signed(value) < self.signed(old)),
            Operation::MaxSigned => self.pick(old, value, self.signed(value) > self.signed(old)),
            Operation::MinUnsigned => old.min(value),
            Operation::MaxUnsigned => old.max(value),
            Operation::And => old & value,
            Operation::Or => old | value,
            Operation::Xor => old ^ value,
            Operation::Inc => {
                if old >= value {
                    0
                } else {
                    old + 1
                }
            }
            Operation::Dec => {
                if old == 0 || old > value {
                    value
                } else {
                    old - 1
                }
            }
            Operation::AddFloat => self.add(old, value),
            Operation::MinFloat => self.pick(old, value, self.float(value) < self.float(old)),
            Operation::MaxFloat => self.pick(old, value, self.float(value) > self.float(old)),
            Operation::MinNumber => extreme(old, value, self.kind(), false, false),
            Operation::MaxNumber => extreme(old, value, self.kind(), true, false),
        };
        if self.bytes == 4 { result & 0xffff_ffff } else { result }
    }

    fn pick(self, old: u64, value: u64, takes: bool) -> u64 {
        if takes { value } else { old }
    }

    fn signed(self, bits: u64) -> i64 {
        if self.bytes == 4 { i64::from(bits as i32) } else { bits as i64 }
    }

    fn float(self, bits: u64) -> f64 {
        if self.bytes == 4 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) }
    }

    fn kind(self) -> Kind {
        if self.bytes == 4 { Kind::Float32 } else { Kind::Float64 }
    }

    fn add(self, old: u64, value: u64) -> u64 {
        if self.bytes == 4 {
            (f32::from_bits(old as u32) + f32::from_bits(value as u32)).to_bits().into()
        } else {
            (f64::from_bits(old) + f64::from_bits(value)).to_bits()
        }
    }
}
