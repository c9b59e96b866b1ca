//! The types that kernels read and write: their bits in a buffer, and the reductions over them.

use std::fmt::Debug;

/// A scalar type as stored in buffers: one word each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    F32,
    I32,
    U32,
    /// 0 or 1.
    Bool,
}

impl Type {
    /// A word of this type in readable form.
    pub fn show(self, word: u32) -> String {
        match self {
            Self::F32 => format!("{:?} (0x{word:08x})", f32::from_bits(word)),
            Self::I32 => format!("{}", word as i32),
            Self::U32 => format!("{word} (0x{word:x})"),
            Self::Bool => format!("{}{}", word != 0, if word > 1 { format!(" (word {word})") } else { String::new() }),
        }
    }
}

/// A Rust type that represents a shader's scalar type.
pub trait Scalar: Copy + PartialEq + Debug {
    /// From the low bits.
    fn from_bits(bits: u64) -> Self;
    /// The bits, zeros above.
    fn to_bits(self) -> u64;

    /// The value of a type that fits a word.
    fn from_word(word: u32) -> Self {
        <Self as Scalar>::from_bits(word.into())
    }
    fn to_word(self) -> u32 {
        Scalar::to_bits(self) as u32
    }
}

macro_rules! integer {
    ($($type:ty as $bits:ty),+) => {
        $(impl Scalar for $type {
            fn from_bits(bits: u64) -> Self {
                bits as Self
            }
            fn to_bits(self) -> u64 {
                (self as $bits).into()
            }
        })+
    };
}

integer!(i8 as u8, u8 as u8, i16 as u16, u16 as u16, i32 as u32, u32 as u32, i64 as u64, u64 as u64);

impl Scalar for f32 {
    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
    fn to_bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Scalar for f64 {
    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
    fn to_bits(self) -> u64 {
        self.to_bits()
    }
}

impl Scalar for bool {
    fn from_bits(bits: u64) -> Self {
        bits != 0
    }
    fn to_bits(self) -> u64 {
        self.into()
    }
}

/// A 16-bit float. Sums and products are those of `f32`, rounded: its 24 bits are more than twice 11 and two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Half(pub u16);

impl Half {
    /// The nearest one, ties to even; values that are too small become zero.
    pub fn nearest(value: f32) -> Self {
        let bits = value.to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        if magnitude < 0x3880_0000 {
            return Self(sign);
        }
        let rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
        let half = (rounded >> 13).saturating_sub((127 - 15) << 10);
        Self(sign | half.min(0x7c00) as u16)
    }

    /// Its value; subnormals are treated as zero.
    pub fn value(self) -> f32 {
        let (exponent, mantissa) = (u32::from(self.0 >> 10 & 31), u32::from(self.0 & 0x3ff));
        let magnitude = match exponent {
            0 => 0,
            31 => 0x7f80_0000 | mantissa << 13,
            _ => (exponent + 127 - 15) << 23 | mantissa << 13,
        };
        f32::from_bits(u32::from(self.0 >> 15) << 31 | magnitude)
    }
}

impl Scalar for Half {
    fn from_bits(bits: u64) -> Self {
        Self(bits as u16)
    }
    fn to_bits(self) -> u64 {
        self.0.into()
    }
}

/// The operators of reductions and scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl Op {
    /// The operators of numbers.
    pub const ARITHMETIC: [Self; 4] = [Self::Add, Self::Mul, Self::Min, Self::Max];
    /// The operators of bits.
    pub const LOGICAL: [Self; 3] = [Self::And, Self::Or, Self::Xor];
    /// All operators, in the order in which fixtures write their results.
    pub const ALL: [Self; 7] = [Self::Add, Self::Mul, Self::Min, Self::Max, Self::And, Self::Or, Self::Xor];
}

/// A scalar that can be reduced.
pub trait Reduce: Scalar {
    /// `a op b`; panics for an operator that the type does not have.
    fn apply(op: Op, a: Self, b: Self) -> Self;
    /// The identity element.
    fn identity(op: Op) -> Self;
}

macro_rules! float_fold {
    ($type:ty) => {
        impl Reduce for $type {
            fn apply(op: Op, a: Self, b: Self) -> Self {
                match op {
                    Op::Add => a + b,
                    Op::Mul => a * b,
                    Op::Min => a.min(b),
                    Op::Max => a.max(b),
                    _ => panic!("floats have no {op:?}"),
                }
            }
            fn identity(op: Op) -> Self {
                match op {
                    Op::Add => 0.0,
                    Op::Mul => 1.0,
                    Op::Min => Self::INFINITY,
                    Op::Max => Self::NEG_INFINITY,
                    _ => panic!("floats have no {op:?}"),
                }
            }
        }
    };
}

float_fold!(f32);
float_fold!(f64);

impl Reduce for Half {
    fn apply(op: Op, a: Self, b: Self) -> Self {
        Self::nearest(f32::apply(op, a.value(), b.value()))
    }
    fn identity(op: Op) -> Self {
        Self::nearest(f32::identity(op))
    }
}

macro_rules! integer_fold {
    ($type:ty) => {
        impl Reduce for $type {
            fn apply(op: Op, a: Self, b: Self) -> Self {
                match op {
                    Op::Add => a.wrapping_add(b),
                    Op::Mul => a.wrapping_mul(b),
                    Op::Min => a.min(b),
                    Op::Max => a.max(b),
                    Op::And => a & b,
                    Op::Or => a | b,
                    Op::Xor => a ^ b,
                }
            }
            fn identity(op: Op) -> Self {
                match op {
                    Op::Add | Op::Or | Op::Xor => 0,
                    Op::Mul => 1,
                    Op::Min => Self::MAX,
                    Op::Max => Self::MIN,
                    Op::And => !0,
                }
            }
        }
    };
}

integer_fold!(i8);
integer_fold!(u8);
integer_fold!(i16);
integer_fold!(u16);
integer_fold!(i32);
integer_fold!(u32);
integer_fold!(i64);
integer_fold!(u64);

impl Reduce for bool {
    fn apply(op: Op, a: Self, b: Self) -> Self {
        match op {
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            _ => panic!("bools have no {op:?}"),
        }
    }
    fn identity(op: Op) -> Self {
        op == Op::And
    }
}
