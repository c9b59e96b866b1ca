//! Registers and constants as the assembler writes them.

/// The first scalar register of each special name; ordinary ones have lower numbers.
pub const VCC: usize = 106;
pub const TTMP: usize = 108;
pub const M0: usize = 124;
pub const NULL: usize = 125;
pub const EXEC: usize = 126;
pub const FLAT_SCRATCH: usize = 128;
pub const XNACK: usize = 130;
/// Represents SCC in lists of what is read and written.
pub const SCC: usize = 132;
/// Number of scalar registers, including special ones.
pub const SCALARS: usize = 133;
/// How many vector registers an instruction can name.
pub const VECTORS: usize = 256;

/// Names of scalar registers, and the number of registers for each; 0 for the number in a wave's mask.
static SPECIAL: &[(&str, usize, usize)] = &[
    ("vcc", VCC, 2),
    ("vcc_lo", VCC, 1),
    ("vcc_hi", VCC + 1, 1),
    ("m0", M0, 1),
    ("null", NULL, 1),
    ("exec", EXEC, 2),
    ("exec_lo", EXEC, 1),
    ("exec_hi", EXEC + 1, 1),
    ("flat_scratch", FLAT_SCRATCH, 2),
    ("flat_scratch_lo", FLAT_SCRATCH, 1),
    ("flat_scratch_hi", FLAT_SCRATCH + 1, 1),
    ("xnack_mask", XNACK, 2),
    ("xnack_mask_lo", XNACK, 1),
    ("xnack_mask_hi", XNACK + 1, 1),
    ("scc", SCC, 1),
    ("src_scc", SCC, 1),
];

/// A 32-bit register in each lane, or one for the wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reg {
    Vector(usize),
    Scalar(usize),
}

/// How an operand's bits are interpreted: their width, and whether `neg` and `abs` apply to the sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Int16,
    Float16,
    Int32,
    Float32,
    Int64,
    Float64,
    /// 96 and 128 bits: of memory instructions.
    Wide(u8),
}

impl Kind {
    /// Number of registers that it takes.
    pub fn registers(self) -> usize {
        match self {
            Kind::Int64 | Kind::Float64 => 2,
            Kind::Wide(count) => count.into(),
            _ => 1,
        }
    }

    pub fn is_short(self) -> bool {
        matches!(self, Kind::Int16 | Kind::Float16)
    }

    /// The sign bit of a float.
    pub fn sign(self) -> Option<u64> {
        match self {
            Kind::Float16 => Some(1 << 15),
            Kind::Float32 => Some(1 << 31),
            Kind::Float64 => Some(1 << 63),
            _ => None,
        }
    }
}

/// The operand that is read or written.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Vector {
        first: usize,
        count: usize,
    },
    Scalar {
        first: usize,
        count: usize,
    },
    /// Vector registers in a list: an address of an image instruction.
    List(Vec<usize>),
    Int(i64),
    Float(f64),
    /// `off`, a label, `hwreg(...)`.
    Word(String),
}

/// An operand with its modifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    pub operand: Operand,
    pub neg: bool,
    pub abs: bool,
    pub sext: bool,
    /// `.l` or `.h` after a register: which half of it.
    pub half: Option<bool>,
}

impl Arg {
    /// Parses the text between two commas.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut arg = Arg { operand: Operand::Int(0), neg: false, abs: false, sext: false, half: None };
        let mut rest = text;
        loop {
            if let Some(inner) = wrapped(rest, "neg(", ")") {
                (arg.neg, rest) = (true, inner);
            } else if let Some(inner) = wrapped(rest, "abs(", ")").or(wrapped(rest, "|", "|")) {
                (arg.abs, rest) = (true, inner);
            } else if let Some(inner) = wrapped(rest, "sext(", ")") {
                (arg.sext, rest) = (true, inner);
            } else if let Some(inner) = rest.strip_prefix('-').filter(|inner| !inner.starts_with(char::is_numeric)) {
                (arg.neg, rest) = (true, inner);
            } else {
                break;
            }
        }
        if let Some(register) = rest.strip_suffix(".l").or(rest.strip_suffix(".h")) {
            (arg.half, rest) = (Some(rest.ends_with(".h")), register);
        }
        arg.operand = operand(rest)?;
        Ok(arg)
    }

    /// The registers that it names.
    pub fn registers(&self) -> Vec<Reg> {
        match self.operand {
            Operand::Vector { first, count } => (first..first + count).map(Reg::Vector).collect(),
            Operand::Scalar { first, count } => (first..first + count).map(Reg::Scalar).collect(),
            Operand::List(ref list) => list.iter().copied().map(Reg::Vector).collect(),
            _ => Vec::new(),
        }
    }

    /// The first vector register.
    pub fn vector(&self) -> Result<usize, String> {
        match self.operand {
            Operand::Vector { first, .. } => Ok(first),
            _ => Err("a vector register is expected here".to_owned()),
        }
    }

    /// The first scalar register.
    pub fn scalar(&self) -> Result<usize, String> {
        match self.operand {
            Operand::Scalar { first, .. } => Ok(first),
            _ => Err("a scalar register is expected here".to_owned()),
        }
    }

    pub fn int(&self) -> Result<i64, String> {
        match self.operand {
            Operand::Int(value) => Ok(value),
            _ => Err("a number is expected here".to_owned()),
        }
    }

    pub fn is_vector(&self) -> bool {
        matches!(self.operand, Operand::Vector { .. })
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(&self.operand, Operand::Word(own) if own == word)
    }

    /// Returns true for a constant that takes its own word after the instruction.
    pub fn is_literal(&self, kind: Kind) -> bool {
        match self.operand {
            Operand::Int(value) => !(-16..=64).contains(&value) && !is_inline_bits(value, kind),
            Operand::Float(value) => !is_inline_float(value),
            _ => false,
        }
    }
}

fn wrapped<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

fn operand(text: &str) -> Result<Operand, String> {
    if let Some((_, first, count)) = SPECIAL.iter().find(|(name, ..)| *name == text) {
        return Ok(Operand::Scalar { first: *first, count: *count });
    }
    if let Some((first, count)) = range(text, "ttmp") {
        return Ok(Operand::Scalar { first: TTMP + first, count });
    }
    if let Some((first, count)) = range(text, "v") {
        return if first + count <= VECTORS {
            Ok(Operand::Vector { first, count })
        } else {
            Err("no such register".to_owned())
        };
    }
    if let Some((first, count)) = range(text, "s") {
        return if first + count <= VCC {
            Ok(Operand::Scalar { first, count })
        } else {
            Err("no such register".to_owned())
        };
    }
    if let Some(inner) = wrapped(text, "[", "]") {
        let registers = |text: &str| range(text.trim(), "v").filter(|(first, count)| first + count <= VECTORS);
        let ranges: Option<Vec<(usize, usize)>> = inner.split(',').map(registers).collect();
        let ranges = ranges.ok_or("a list has vector registers")?;
        return Ok(Operand::List(ranges.into_iter().flat_map(|(first, count)| first..first + count).collect()));
    }
    if let Some(value) = integer(text) {
        return Ok(Operand::Int(value));
    }
    match text.parse() {
        Ok(value) if text.starts_with(|c: char| c.is_numeric() || c == '-' || c == '.') => Ok(Operand::Float(value)),
        _ if text.is_empty() => Err("an operand is missing".to_owned()),
        _ => Ok(Operand::Word(text.to_owned())),
    }
}

/// `v5`, `v[5:6]` or `v[5]`: the first register and how many.
fn range(text: &str, prefix: &str) -> Option<(usize, usize)> {
    let rest = text.strip_prefix(prefix)?;
    if let Ok(first) = rest.parse() {
        return Some((first, 1));
    }
    let inner = wrapped(rest, "[", "]")?;
    let (first, last) = inner.split_once(':').unwrap_or((inner, inner));
    let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
    (first <= last).then(|| (first, last - first + 1))
}

/// A whole number as the assembler writes it.
pub fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()? as i64,
        None => digits.parse().ok()?,
    };
    Some(sign * value)
}

/// 1/(2π), an inline constant from gfx8 on.
const INVERSE_TWO_PI: f64 = 0.15915494309189532;

/// Zero is inline only without a sign.
fn is_inline_float(value: f64) -> bool {
    let near = (value - INVERSE_TWO_PI).abs() < 1e-7;
    value.to_bits() == 0 || [0.5, 1.0, 2.0, 4.0].contains(&value.abs()) || near
}

/// Returns true if a whole number is written that has the bits of an inline float.
fn is_inline_bits(value: i64, kind: Kind) -> bool {
    match kind {
        Kind::Int32 | Kind::Float32 => is_inline_float(f32::from_bits(value as u32).into()),
        Kind::Float64 | Kind::Int64 => is_inline_float(f64::from_bits(value as u64)),
        _ => false,
    }
}

/// The bits of a constant when read as an operand of this kind.
pub fn constant(operand: &Operand, kind: Kind) -> Result<u64, String> {
    match (operand, kind) {
        (Operand::Int(value), Kind::Int16 | Kind::Float16) => Ok(*value as u16 as u64),
        (Operand::Int(value), Kind::Int32 | Kind::Float32) => Ok(*value as u32 as u64),
        (Operand::Int(value), _) if (-16..=64).contains(value) || is_inline_bits(*value, kind) => Ok(*value as u64),
        // A literal has 32 bits: the high ones of a 64-bit float, the low ones of an integer.
        (Operand::Int(value), Kind::Float64) => Ok((*value as u32 as u64) << 32),
        (Operand::Int(value), Kind::Int64) => match i32::try_from(*value) {
            Ok(_) => Ok(*value as u64),
            Err(_) => Err(format!("{value:#x} does not fit into a signed literal of 32 bits")),
        },
        (Operand::Float(value), Kind::Float16) => Ok(super::float::to_half(*value).into()),
        (Operand::Float(value), Kind::Int32 | Kind::Float32) => Ok((*value as f32).to_bits().into()),
        (Operand::Float(value), Kind::Float64 | Kind::Int64) if is_inline_float(*value) => Ok(value.to_bits()),
        (Operand::Float(value), Kind::Float64) => Ok(value.to_bits() >> 32 << 32),
        _ => Err(format!("{operand:?} cannot be here")),
    }
}
