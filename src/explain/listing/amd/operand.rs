//! Operands of AMD's instructions, and how they are written.

use crate::backend::amd::mnemonic::Operation;
use std::fmt;

/// A register, or several adjacent ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    Vector(u32),
    /// Two vector registers, the lower number.
    Vectors(u32),
    Scalar(u32),
    /// Two scalar registers, the lower number: a mask of 64 lanes.
    Scalars(u32),
    /// EXEC in waves of 64 or of 32 lanes, or one half of it.
    Exec,
    ExecLow,
    ExecHigh,
    /// The carry: VCC or its lower half.
    Carry64,
    Carry32,
    M0,
    Number(u32),
    /// All bits of a 64-bit operand.
    AllOnes,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub operation: Operation,
    /// Behind the name: `_dpp`, `_e64`, the relation of a comparison.
    pub suffix: String,
    /// What it writes comes first.
    pub written: Vec<Arg>,
    pub read: Vec<Arg>,
    /// Behind the operands: DPP controls, offsets.
    pub modifiers: String,
}

impl Instruction {
    pub fn new(operation: Operation, written: &[Arg], read: &[Arg]) -> Instruction {
        let (written, read) = (written.to_vec(), read.to_vec());
        Instruction { operation, suffix: String::new(), written, read, modifiers: String::new() }
    }
}

/// Whether an integer is part of the instruction word: -16 to 64, and some floats' bits.
pub fn is_inline(word: u32) -> bool {
    (-16..=64).contains(&(word as i32)) || float_name(word).is_some()
}

/// The floats that have an encoding of their own, in the spelling of the assembler.
fn float_name(word: u32) -> Option<&'static str> {
    const NAMES: &[(f32, &str)] = &[
        (0.5, "0.5"),
        (-0.5, "-0.5"),
        (1.0, "1.0"),
        (-1.0, "-1.0"),
        (2.0, "2.0"),
        (-2.0, "-2.0"),
        (4.0, "4.0"),
        (-4.0, "-4.0"),
    ];
    NAMES.iter().find(|(value, _)| value.to_bits() == word).map(|(_, name)| *name)
}

impl Arg {
    /// The registers that it stands for, vector ones and scalar ones apart by number.
    pub fn registers(self) -> impl Iterator<Item = Register> {
        let (first, count): (fn(u32) -> Register, _) = match self {
            Arg::Vector(_) => (Register::Vector, 1),
            Arg::Vectors(_) => (Register::Vector, 2),
            Arg::Scalar(_) => (Register::Scalar, 1),
            Arg::Scalars(_) => (Register::Scalar, 2),
            Arg::Carry64 | Arg::Carry32 => (|_| Register::Carry, 1),
            _ => (Register::Scalar, 0),
        };
        let number = match self {
            Arg::Vector(n) | Arg::Vectors(n) | Arg::Scalar(n) | Arg::Scalars(n) => n,
            _ => 0,
        };
        (number..number + count).map(first)
    }

    /// The numbers of the registers.
    pub fn numbers(self) -> Vec<u32> {
        let number = |register| match register {
            Register::Vector(n) | Register::Scalar(n) => n,
            Register::Carry => 0,
        };
        self.registers().map(number).collect()
    }

    /// Whether it needs a word behind the instruction.
    pub fn is_literal(self) -> bool {
        matches!(self, Arg::Number(word) if !is_inline(word))
    }

    /// Whether a vector register, which every operand may be.
    pub fn is_vector(self) -> bool {
        matches!(self, Arg::Vector(_) | Arg::Vectors(_))
    }
}

/// One 32-bit register, or the carry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Register {
    Vector(u32),
    Scalar(u32),
    Carry,
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Arg::Vector(n) => write!(f, "v{n}"),
            Arg::Vectors(n) => write!(f, "v[{n}:{}]", n + 1),
            Arg::Scalar(n) => write!(f, "s{n}"),
            Arg::Scalars(n) => write!(f, "s[{n}:{}]", n + 1),
            Arg::Exec => f.write_str("exec"),
            Arg::ExecLow => f.write_str("exec_lo"),
            Arg::ExecHigh => f.write_str("exec_hi"),
            Arg::Carry64 => f.write_str("vcc"),
            Arg::Carry32 => f.write_str("vcc_lo"),
            Arg::M0 => f.write_str("m0"),
            Arg::AllOnes => f.write_str("-1"),
            Arg::Number(word) => match (float_name(word), word as i32) {
                (Some(name), _) => f.write_str(name),
                (None, small @ -16..=64) => write!(f, "{small}"),
                (None, _) => write!(f, "{word:#x}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_written_as_the_assembler_reads_them() {
        let cases = [
            (Arg::Vectors(2), "v[2:3]"),
            (Arg::Scalar(4), "s4"),
            (Arg::Number(64), "64"),
            (Arg::Number(u32::MAX), "-1"),
            (Arg::Number(1f32.to_bits()), "1.0"),
            (Arg::Number(0x7654_3210), "0x76543210"),
        ];
        for (arg, text) in cases {
            assert_eq!(arg.to_string(), text);
        }
        assert!(Arg::Number(65).is_literal() && !Arg::Number(2f32.to_bits()).is_literal());
    }
}
