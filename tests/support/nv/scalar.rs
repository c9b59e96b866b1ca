//! Instructions within one lane, on the bits of registers.

use super::machine::JUNK;
use super::parse::Inst;

/// How an instruction reads its operands and writes its result.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    pub source: Kind,
    pub result: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Uint,
    Sint,
    Float,
    Ulong,
    Slong,
    Double,
}

impl Kind {
    fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "U" | "U32" | "U16" | "U8" => Kind::Uint,
            "S" | "S32" | "S16" | "S8" => Kind::Sint,
            "F" | "F32" => Kind::Float,
            "U64" => Kind::Ulong,
            "S64" => Kind::Slong,
            "F64" => Kind::Double,
            _ => return None,
        })
    }

    /// The kinds given by an instruction's modifiers and name.
    pub fn of(inst: &Inst) -> Result<Kinds, String> {
        let mut named = inst.modifiers.iter().filter_map(|modifier| Kind::named(modifier));
        let first = named.next().ok_or("it has no type")?;
        let is_int = matches!(first, Kind::Uint | Kind::Sint);
        Ok(match &inst.op[..] {
            "CVT" => Kinds { result: first, source: named.next().ok_or("CVT has two types")? },
            "I2F" => Kinds { source: first, result: Kind::Float },
            "TRUNC" if is_int => Kinds { source: Kind::Float, result: first },
            "PK2H" | "UP2H" | "UP4UB" | "UP2US" => Kinds { source: Kind::Uint, result: first },
            _ => Kinds { source: first, result: first },
        })
    }

    /// The bits of a number in the text. Integers have no point, floats may.
    pub fn literal(self, text: &str) -> Result<u64, String> {
        let bad = || format!("{text} is not a constant of this instruction");
        match self {
            Kind::Float => text.parse::<f32>().map(|value| value.to_bits().into()).map_err(|_| bad()),
            Kind::Uint => match text.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).map(u64::from).map_err(|_| bad()),
                None => text.parse::<u32>().map(u64::from).map_err(|_| bad()),
            },
            Kind::Sint => text.parse::<i32>().map(|value| u64::from(value as u32)).map_err(|_| bad()),
            // The amount of a shift.
            Kind::Ulong | Kind::Slong => text.parse::<u32>().map(u64::from).map_err(|_| bad()),
            Kind::Double => Err(bad()),
        }
    }
}

/// Instructions that read several components of an operand.
pub fn takes_vector(op: &str) -> bool {
    matches!(op, "PK64" | "UP64" | "BFE" | "BFI" | "UP2H" | "PK2H" | "UP4UB" | "UP2US")
}

/// Components of the result of such an instruction.
pub fn on_vector(inst: &Inst, vector: &[u64], rest: &[u64]) -> Result<Vec<u64>, String> {
    let low = |value: u64| value & 0xffff_ffff;
    Ok(match (&inst.op[..], vector, rest) {
        ("PK64", [x, y, z, w], []) => {
            let (first, second) = (low(*x) | y << 32, low(*z) | w << 32);
            vec![first, second, first, second]
        }
        ("UP64", [x, rest @ ..], []) => {
            let y = rest.first().unwrap_or(x);
            vec![low(*x), x >> 32, low(*y), y >> 32]
        }
        ("UP2H", [x, ..], []) => {
            let half = |bits: u64| u64::from(half_to_float(bits as u16).to_bits());
            vec![half(*x), half(x >> 16), half(*x), half(x >> 16)]
        }
        ("UP4UB", [x, ..], []) => (0..4).map(|n| u64::from(((x >> (8 * n) & 0xff) as f32 / 255.0).to_bits())).collect(),
        ("UP2US", [x, ..], []) => {
            let half = |bits: u64| u64::from(((bits & 0xffff) as f32 / 65535.0).to_bits());
            vec![half(*x), half(x >> 16), half(*x), half(x >> 16)]
        }
        ("PK2H", [x, rest @ ..], []) => {
            let half = |bits: u64| u64::from(float_to_half(f32::from_bits(bits as u32)));
            let y = rest.first().unwrap_or(x);
            vec![half(*x) | half(*y) << 16]
        }
        ("BFE", [count, offset, ..], [value]) => {
            let Some((count, offset)) = field(*count, *offset) else { return Ok(vec![JUNK & 0xffff_ffff]) };
            let value = (*value as u32).checked_shr(offset).unwrap_or(0);
            let kept = if count == 32 { value } else { value & ((1 << count) - 1) };
            let signed = inst.modifiers[0] == "S" && count > 0;
            let extended = if signed { ((kept << (32 - count)) as i32 >> (32 - count)) as u32 } else { kept };
            vec![extended.into()]
        }
        ("BFI", [count, offset, ..], [insert, base]) => {
            let Some((count, offset)) = field(*count, *offset) else { return Ok(vec![JUNK & 0xffff_ffff]) };
            let ones = if count == 32 { u32::MAX } else { (1_u32 << count) - 1 };
            let mask = ones.checked_shl(offset).unwrap_or(0);
            let moved = (*insert as u32).checked_shl(offset).unwrap_or(0);
            vec![((*base as u32 & !mask) | (moved & mask)).into()]
        }
        _ => return Err("wrong operands".to_owned()),
    })
}

/// The number of bits of a field and their offset; `None` if the field ends beyond the word, where the result is
/// undefined.
fn field(count: u64, offset: u64) -> Option<(u32, u32)> {
    // Both are 32 bits wide, so that the sum does not overflow.
    (low32(count) + low32(offset) <= 32).then_some((count as u32, offset as u32))
}

fn low32(value: u64) -> u64 {
    value & 0xffff_ffff
}

/// The result of an instruction on scalars.
pub fn apply(inst: &Inst, kinds: Kinds, values: &[u64]) -> Result<u64, String> {
    let words: Vec<u32> = values.iter().map(|value| *value as u32).collect();
    match (kinds.source, &inst.op[..]) {
        (_, "CVT") => Ok(convert(kinds, values[0])),
        (_, "CMP") if inst.modifiers[0] == "S" => {
            Ok(u64::from(if (words[0] as i32) < 0 { words[1] } else { words[2] }))
        }
        (Kind::Double, "TRUNC") if kinds.result == Kind::Double => Ok(f64::from_bits(values[0]).trunc().to_bits()),
        (Kind::Float, _) => on_floats(inst, kinds, &words).map(u64::from),
        (Kind::Double, _) => on_doubles(&inst.op, values),
        (Kind::Ulong | Kind::Slong, _) => on_longs(&inst.op, kinds.source == Kind::Slong, values),
        (kind, _) => on_words(inst, kind == Kind::Sint, &words).map(u64::from),
    }
}

fn truth(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}

fn compared(op: &str, order: Option<std::cmp::Ordering>) -> Option<bool> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    Some(match op {
        "SEQ" => order == Some(Equal),
        "SNE" => order != Some(Equal),
        "SLT" => order == Some(Less),
        "SLE" => matches!(order, Some(Less | Equal)),
        "SGT" => order == Some(Greater),
        "SGE" => matches!(order, Some(Greater | Equal)),
        _ => return None,
    })
}

fn on_words(inst: &Inst, signed: bool, v: &[u32]) -> Result<u32, String> {
    let (a, b) = (v[0], v.get(1).copied().unwrap_or(0));
    let high = inst.modifiers.iter().any(|modifier| modifier == "HI");
    let order = if signed { (a as i32).cmp(&(b as i32)) } else { a.cmp(&b) };
    if let Some(holds) = compared(&inst.op, Some(order)) {
        return Ok(truth(holds));
    }
    let undefined = |what: &str| Err(format!("{what} is undefined"));
    Ok(match (&inst.op[..], signed) {
        ("MOV", _) => a,
        ("NOT", _) => !a,
        ("ABS", true) => (a as i32).unsigned_abs(),
        ("ADD", _) => a.wrapping_add(b),
        ("SUB", _) => a.wrapping_sub(b),
        ("MUL", false) if high => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        ("MUL", true) if high => ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32,
        ("MUL", _) => a.wrapping_mul(b),
        // Division by zero and overflow give an arbitrary value: a kernel may compute it and select another value.
        ("DIV", false) => a.checked_div(b).unwrap_or(0xd1f0),
        ("DIV", true) => (a as i32).checked_div(b as i32).unwrap_or(0xd1f0) as u32,
        ("MOD", false) => a.checked_rem(b).unwrap_or(0xd1f0),
        ("MIN", false) => a.min(b),
        ("MIN", true) => (a as i32).min(b as i32) as u32,
        ("MAX", false) => a.max(b),
        ("MAX", true) => (a as i32).max(b as i32) as u32,
        ("AND", _) => a & b,
        ("OR", _) => a | b,
        ("XOR", _) => a ^ b,
        ("SHL", _) => a.checked_shl(b).unwrap_or(0x5f1f),
        ("SHR", false) => a.checked_shr(b).unwrap_or(0x5f1f),
        ("SHR", true) => (a as i32).checked_shr(b).unwrap_or(0x5f1f) as u32,
        ("BTC", _) => a.count_ones(),
        ("BFR", _) => a.reverse_bits(),
        ("BTFL", _) => {
            if a == 0 {
                u32::MAX
            } else {
                a.trailing_zeros()
            }
        }
        ("BTFM", false) => 31_u32.wrapping_sub(a.leading_zeros()),
        ("BTFM", true) => 31_u32.wrapping_sub(if (a as i32) < 0 { !a } else { a }.leading_zeros()),
        ("I2F", false) => (a as f32).to_bits(),
        ("I2F", true) => (a as i32 as f32).to_bits(),
        ("MOD", true) => return undefined("MOD.S"),
        _ => return Err("no such operation on integers".to_owned()),
    })
}

fn on_floats(inst: &Inst, kinds: Kinds, v: &[u32]) -> Result<u32, String> {
    let f: Vec<f32> = v.iter().map(|bits| f32::from_bits(*bits)).collect();
    let (a, b) = (f[0], f.get(1).copied().unwrap_or(0.0));
    if let Some(holds) = compared(&inst.op, a.partial_cmp(&b)) {
        return Ok(if holds { 1.0_f32 } else { 0.0 }.to_bits());
    }
    let result = match &inst.op[..] {
        "TRUNC" if kinds.result == Kind::Uint => return Ok(a as u32),
        "TRUNC" if kinds.result == Kind::Sint => return Ok(a as i32 as u32),
        "ADD" => a + b,
        "SUB" => a - b,
        "MUL" => a * b,
        "DIV" => a / b,
        "MIN" => a.min(b),
        "MAX" => a.max(b),
        "MAD" => a.mul_add(b, f[2]),
        "FLR" => a.floor(),
        "CEIL" => a.ceil(),
        "TRUNC" => a.trunc(),
        "ROUND" => a.round_ties_even(),
        "RSQ" => (1.0 / f64::from(a).sqrt()) as f32,
        "RCP" => 1.0 / a,
        "EX2" => f64::from(a).exp2() as f32,
        "LG2" => f64::from(a).log2() as f32,
        "SIN" => f64::from(a).sin() as f32,
        "COS" => f64::from(a).cos() as f32,
        _ => return Err("no such operation on floats".to_owned()),
    };
    Ok(result.to_bits())
}

fn on_doubles(op: &str, v: &[u64]) -> Result<u64, String> {
    let f: Vec<f64> = v.iter().map(|bits| f64::from_bits(*bits)).collect();
    let (a, b) = (f[0], f.get(1).copied().unwrap_or(0.0));
    if let Some(holds) = compared(op, a.partial_cmp(&b)) {
        return Ok(if holds { 1.0_f64 } else { 0.0 }.to_bits());
    }
    let result = match op {
        "ADD" => a + b,
        "SUB" => a - b,
        "MUL" => a * b,
        "DIV" => a / b,
        "MIN" => a.min(b),
        "MAX" => a.max(b),
        "MAD" => a.mul_add(b, f[2]),
        "FLR" => a.floor(),
        "CEIL" => a.ceil(),
        "TRUNC" => a.trunc(),
        "ROUND" => a.round_ties_even(),
        "RSQ" => 1.0 / a.sqrt(),
        _ => return Err("no such operation on doubles".to_owned()),
    };
    Ok(result.to_bits())
}

fn on_longs(op: &str, signed: bool, v: &[u64]) -> Result<u64, String> {
    let (a, b) = (v[0], v.get(1).copied().unwrap_or(0));
    let order = if signed { (a as i64).cmp(&(b as i64)) } else { a.cmp(&b) };
    if let Some(holds) = compared(op, Some(order)) {
        return Ok(if holds { u64::MAX } else { 0 });
    }
    Ok(match (op, signed) {
        ("MOV", _) => a,
        ("NOT", _) => !a,
        ("ABS", true) => (a as i64).unsigned_abs(),
        ("ADD", _) => a.wrapping_add(b),
        ("SUB", _) => a.wrapping_sub(b),
        ("MUL", _) => a.wrapping_mul(b),
        ("DIV", false) => a.checked_div(b).unwrap_or(0xd1f0),
        ("DIV", true) => (a as i64).checked_div(b as i64).unwrap_or(0xd1f0) as u64,
        ("MOD", false) => a.checked_rem(b).unwrap_or(0xd1f0),
        ("MIN", false) => a.min(b),
        ("MIN", true) => (a as i64).min(b as i64) as u64,
        ("MAX", false) => a.max(b),
        ("MAX", true) => (a as i64).max(b as i64) as u64,
        ("AND", _) => a & b,
        ("OR", _) => a | b,
        ("XOR", _) => a ^ b,
        ("SHL", _) => a.checked_shl(b as u32).unwrap_or(0x5f1f),
        ("SHR", false) => a.checked_shr(b as u32).unwrap_or(0x5f1f),
        ("SHR", true) => (a as i64).checked_shr(b as u32).unwrap_or(0x5f1f) as u64,
        _ => return Err("no such operation on 64-bit integers".to_owned()),
    })
}

/// `CVT`, which truncates floats here.
fn convert(kinds: Kinds, value: u64) -> u64 {
    let from_float = |value: f64| match kinds.result {
        Kind::Uint => u64::from(value as u32),
        Kind::Sint => u64::from(value as i32 as u32),
        Kind::Ulong => value as u64,
        Kind::Slong => value as i64 as u64,
        Kind::Float => (value as f32).to_bits().into(),
        Kind::Double => value.to_bits(),
    };
    let from_int = |value: i128| match kinds.result {
        Kind::Uint | Kind::Sint => u64::from(value as u32),
        Kind::Ulong | Kind::Slong => value as u64,
        Kind::Float => (value as f32).to_bits().into(),
        Kind::Double => (value as f64).to_bits(),
    };
    match kinds.source {
        Kind::Uint => from_int((value as u32).into()),
        Kind::Sint => from_int((value as u32 as i32).into()),
        Kind::Ulong => from_int(value.into()),
        Kind::Slong => from_int((value as i64).into()),
        Kind::Float => from_float(f32::from_bits(value as u32).into()),
        Kind::Double => from_float(f64::from_bits(value)),
    }
}

// Memory.

/// Bytes per component and number of components, from the storage modifier.
pub fn storage(inst: &Inst) -> Result<(usize, usize), String> {
    let is_storage = |modifier: &&String| modifier.len() > 1 && modifier[1..].starts_with(|c: char| c.is_ascii_digit());
    let modifier = inst.modifiers.iter().find(is_storage).ok_or("it has no storage modifier")?;
    let (bits, count) = modifier[1..].split_once('X').unwrap_or((&modifier[1..], "1"));
    let bits: usize = bits.parse().map_err(|_| "a strange size".to_owned())?;
    match count {
        "1" => Ok((bits / 8, 1)),
        "2" if bits >= 32 => Ok((bits / 8, 2)),
        "4" if bits >= 32 => Ok((bits / 8, 4)),
        _ => Err(format!("there is no {modifier}")),
    }
}

pub fn get(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

pub fn put(bytes: &mut [u8], value: u64) {
    bytes.iter_mut().zip(value.to_le_bytes()).for_each(|(byte, new)| *byte = new);
}

/// The value that an atomic writes to memory.
pub fn updated(inst: &Inst, old: u64, x: u64, y: u64) -> Result<u64, String> {
    let is_float = inst.modifiers[1].starts_with('F');
    let signed = inst.modifiers[1] == "S32";
    Ok(match &inst.modifiers[0][..] {
        "ADD" if is_float => (f32::from_bits(old as u32) + f32::from_bits(x as u32)).to_bits().into(),
        "ADD" => old.wrapping_add(x),
        "MIN" if signed => u64::from((old as i32).min(x as i32) as u32),
        "MAX" if signed => u64::from((old as i32).max(x as i32) as u32),
        "MIN" if inst.modifiers[1] == "S64" => (old as i64).min(x as i64) as u64,
        "MAX" if inst.modifiers[1] == "S64" => (old as i64).max(x as i64) as u64,
        "MIN" => old.min(x),
        "MAX" => old.max(x),
        "AND" => old & x,
        "OR" => old | x,
        "XOR" => old ^ x,
        "EXCH" => x,
        "CSWAP" => {
            if old == x {
                y
            } else {
                old
            }
        }
        other => return Err(format!("there is no atomic {other}")),
    })
}

// Halves.

pub fn half_to_float(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The nearest half, ties to even.
pub fn float_to_half(value: f32) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = f64::from(value.abs());
    if value.is_nan() {
        return sign | 0x7e00;
    }
    let exponent = if magnitude < 2.0_f64.powi(-14) { -14 } else { magnitude.log2().floor() as i32 };
    let steps = (magnitude / 2.0_f64.powi(exponent - 10)).round_ties_even();
    if exponent > 15 || steps * 2.0_f64.powi(exponent - 10) >= 65520.0 {
        return sign | 0x7c00;
    }
    // A fraction that rounds up to the next power of two carries into the exponent.
    let biased = if steps < 1024.0 { 0 } else { (exponent + 14) as u16 };
    sign | (biased << 10).wrapping_add(steps as u16)
}
