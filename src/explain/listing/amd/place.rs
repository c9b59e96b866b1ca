//! Where a value is while a plan is written down.

use super::Unwritten;
use super::operand::{Arg, Register};
use std::fmt;

/// The registers of one value, or the constant that it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// Vector registers: the words of each component.
    Vector(Vec<u32>),
    /// Scalar registers, the same way: the value is the same in all lanes.
    Scalar(Vec<u32>),
    /// A mask of lanes: a bool, or a ballot.
    Mask(Arg),
    /// A vector of bools.
    Masks(Vec<Arg>),
    /// The lanes that are active outside of the steps for all lanes: EXEC, or where it is kept.
    Active,
    /// Half of EXEC.
    Half(Arg),
    /// The scalar condition code: a bool that is the same in all lanes, set if `true` means so.
    Condition(bool),
    /// Known words.
    Words(Vec<u32>),
    /// A known bool.
    Truth(bool),
}

impl Place {
    /// Word `n`, as an operand.
    pub fn word(&self, n: usize) -> Result<Arg, Unwritten> {
        let found = match self {
            Place::Vector(registers) => registers.get(n).map(|register| Arg::Vector(*register)),
            Place::Scalar(registers) => registers.get(n).map(|register| Arg::Scalar(*register)),
            Place::Words(words) => words.get(n).map(|word| Arg::Number(*word)),
            Place::Mask(mask) => half(*mask, n),
            Place::Half(arg) if n == 0 => Some(*arg),
            _ => None,
        };
        found.ok_or_else(|| Unwritten(format!("a value has no word {n}")))
    }

    /// The words of a 64-bit component as one operand, or its only word.
    pub fn component(&self, n: usize, words: u32) -> Result<Arg, Unwritten> {
        let first = self.word(n * words as usize)?;
        match (words, first) {
            (1, _) => Ok(first),
            (_, Arg::Vector(n)) => Ok(Arg::Vectors(n)),
            (_, Arg::Scalar(n)) => Ok(Arg::Scalars(n)),
            _ => Err(Unwritten("a 64-bit constant is no operand".into())),
        }
    }

    pub fn is_scalar(&self) -> bool {
        !matches!(self, Place::Vector(_))
    }

    /// The registers that it takes.
    pub fn registers(&self) -> Vec<Register> {
        let of_mask = |mask: &Arg| mask.registers().collect::<Vec<_>>();
        match self {
            Place::Vector(registers) => registers.iter().map(|n| Register::Vector(*n)).collect(),
            Place::Scalar(registers) => registers.iter().map(|n| Register::Scalar(*n)).collect(),
            Place::Mask(mask) => of_mask(mask),
            Place::Masks(masks) => masks.iter().flat_map(of_mask).collect(),
            _ => Vec::new(),
        }
    }
}

/// 32 lanes of a mask.
fn half(mask: Arg, n: usize) -> Option<Arg> {
    Some(match (mask, n) {
        (Arg::Scalar(register), 0) => Arg::Scalar(register),
        (Arg::Scalars(register), 0 | 1) => Arg::Scalar(register + n as u32),
        (Arg::Exec | Arg::ExecLow, 0) => Arg::ExecLow,
        (Arg::Exec, 1) => Arg::ExecHigh,
        // A ballot has 128 bits; no wave has lanes for the others.
        _ => Arg::Number(0),
    })
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, words: &[String]| f.write_str(&words.join(", "));
        match self {
            Place::Vector(registers) => registers_text(f, 'v', registers),
            Place::Scalar(registers) => registers_text(f, 's', registers),
            Place::Mask(mask) => mask.fmt(f),
            Place::Masks(masks) => list(f, &masks.iter().map(ToString::to_string).collect::<Vec<_>>()),
            Place::Active => f.write_str("exec"),
            Place::Half(arg) => arg.fmt(f),
            Place::Condition(true) => f.write_str("scc"),
            Place::Condition(false) => f.write_str("not scc"),
            Place::Words(words) => {
                list(f, &words.iter().map(|word| Arg::Number(*word).to_string()).collect::<Vec<_>>())
            }
            Place::Truth(value) => value.fmt(f),
        }
    }
}

/// `v0`, or `v[0:1]` where they are adjacent, or each of them.
fn registers_text(f: &mut fmt::Formatter<'_>, file: char, registers: &[u32]) -> fmt::Result {
    let adjacent = registers.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match registers {
        [single] => write!(f, "{file}{single}"),
        [first, .., last] if adjacent => write!(f, "{file}[{first}:{last}]"),
        _ => f.write_str(&registers.iter().map(|n| format!("{file}{n}")).collect::<Vec<_>>().join(", ")),
    }
}
