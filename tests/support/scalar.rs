//! The 32-bit types that kernels read and write: their bits in a buffer, and the folds over them.

use std::fmt::Debug;

/// A scalar type as buffers hold it: one word each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    F32,
    I32,
    U32,
    /// 0 or 1.
    Bool,
}

impl Type {
    /// A word of this type as a person writes it.
    pub fn show(self, word: u32) -> String {
        match self {
            Self::F32 => format!("{:?} (0x{word:08x})", f32::from_bits(word)),
            Self::I32 => format!("{}", word as i32),
            Self::U32 => format!("{word} (0x{word:x})"),
            Self::Bool => format!("{}{}", word != 0, if word > 1 { format!(" (word {word})") } else { String::new() }),
        }
    }
}

/// A Rust type that stands for a shader's scalar type.
pub trait Scalar: Copy + PartialEq + Debug {
    fn from_word(word: u32) -> Self;
    fn to_word(self) -> u32;
}

impl Scalar for f32 {
    fn from_word(word: u32) -> Self {
        Self::from_bits(word)
    }
    fn to_word(self) -> u32 {
        self.to_bits()
    }
}

impl Scalar for i32 {
    fn from_word(word: u32) -> Self {
        word as Self
    }
    fn to_word(self) -> u32 {
        self as u32
    }
}

impl Scalar for u32 {
    fn from_word(word: u32) -> Self {
        word
    }
    fn to_word(self) -> u32 {
        self
    }
}

impl Scalar for bool {
    fn from_word(word: u32) -> Self {
        word != 0
    }
    fn to_word(self) -> u32 {
        u32::from(self)
    }
}

/// The operators of folds and scans.
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
    /// All of them, in the order that fixtures write their results.
    pub const ALL: [Self; 7] = [Self::Add, Self::Mul, Self::Min, Self::Max, Self::And, Self::Or, Self::Xor];
}

/// A scalar that can be folded.
pub trait Fold: Scalar {
    /// `a op b`; panics for an operator that the type does not have.
    fn apply(op: Op, a: Self, b: Self) -> Self;
    /// The value that changes nothing.
    fn identity(op: Op) -> Self;
}

impl Fold for f32 {
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

macro_rules! integer_fold {
    ($type:ty) => {
        impl Fold for $type {
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

integer_fold!(i32);
integer_fold!(u32);

impl Fold for bool {
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
