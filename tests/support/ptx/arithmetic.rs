//! Instructions within one lane.

use super::super::amd::float::{from_half, to_half};
use super::parse::Inst;

/// The kind of a type, and its bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Type {
    pub kind: char,
    pub bits: u32,
}

impl Type {
    pub fn read(text: &str) -> Result<Type, String> {
        let kind = text.chars().next().filter(|kind| "busf".contains(*kind));
        let bits = text.get(1..).and_then(|bits| bits.parse().ok()).filter(|bits| [8, 16, 32, 64].contains(bits));
        kind.zip(bits).map(|(kind, bits)| Type { kind, bits }).ok_or_else(|| format!("no type: {text}"))
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// The value as a number, by the sign of the type.
    fn int(self, value: u64) -> i128 {
        let unused = 64 - self.bits;
        match self.kind {
            's' => (((value << unused) as i64) >> unused).into(),
            _ => (value & self.mask()).into(),
        }
    }

    fn float(self, value: u64) -> f64 {
        match self.bits {
            16 => from_half(value as u16),
            32 => f32::from_bits(value as u32).into(),
            _ => f64::from_bits(value),
        }
    }

    fn of_float(self, value: f64) -> u64 {
        match self.bits {
            16 => to_half(value).into(),
            32 => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        }
    }
}

/// The result of an instruction on these operands.
pub fn apply(inst: &Inst, args: &[u64]) -> Result<u64, String> {
    let name = inst.name[0].as_str();
    if inst.ty() == "pred" {
        return logical(name, args);
    }
    let ty = Type::read(inst.ty())?;
    match name {
        "mov" => Ok(args[0] & ty.mask()),
        "cvt" => convert(inst, args[0]),
        "cvta" => Ok(args[0]),
        "setp" => compare(&inst.name[1], ty, args).map(u64::from),
        "selp" => Ok(if args[2] & 1 != 0 { args[0] } else { args[1] } & ty.mask()),
        _ if ty.kind == 'f' => float(inst, name, ty, args),
        _ => int(inst, name, ty, args).map(|value| value & ty.mask()),
    }
}

fn logical(name: &str, args: &[u64]) -> Result<u64, String> {
    Ok(match (name, args) {
        ("mov", [a]) => *a & 1,
        ("and", [a, b]) => a & b,
        ("or", [a, b]) => a | b,
        ("xor", [a, b]) => a ^ b,
        ("not", [a]) => a ^ 1,
        _ => return Err("not known of predicates".to_owned()),
    })
}

fn compare(name: &str, ty: Type, args: &[u64]) -> Result<bool, String> {
    let [a, b] = [args[0], args[1]];
    let order = match ty.kind {
        'f' => ty.float(a).partial_cmp(&ty.float(b)),
        _ => Some(ty.int(a).cmp(&ty.int(b))),
    };
    Ok(match name {
        "eq" => order.is_some_and(|order| order.is_eq()),
        "ne" => order.is_some_and(|order| order.is_ne()),
        "neu" => order.is_none_or(|order| order.is_ne()),
        "lt" => order.is_some_and(|order| order.is_lt()),
        "le" => order.is_some_and(|order| order.is_le()),
        "gt" => order.is_some_and(|order| order.is_gt()),
        "ge" => order.is_some_and(|order| order.is_ge()),
        _ => return Err("not known of comparisons".to_owned()),
    })
}

fn float(inst: &Inst, name: &str, ty: Type, args: &[u64]) -> Result<u64, String> {
    if inst.has("ftz") {
        let args: Vec<u64> = args.iter().copied().map(flushed).collect();
        return computed(inst, name, ty, &args).map(flushed);
    }
    computed(inst, name, ty, args)
}

/// A 32-bit float, with subnormals flushed to a zero of the same sign.
fn flushed(bits: u64) -> u64 {
    if f32::from_bits(bits as u32).is_subnormal() { bits & 0x8000_0000 } else { bits }
}

fn computed(inst: &Inst, name: &str, ty: Type, args: &[u64]) -> Result<u64, String> {
    let value = |n: usize| ty.float(args[n]);
    if matches!(name, "add" | "sub" | "mul" | "fma") && !inst.has("rn") {
        return Err("without a rounding mode it may be contracted".to_owned());
    }
    Ok(match name {
        "fma" if ty.bits == 32 => {
            let [a, b, c] = [0, 1, 2].map(|n| f32::from_bits(args[n] as u32));
            a.mul_add(b, c).to_bits().into()
        }
        "fma" => ty.of_float(value(0).mul_add(value(1), value(2))),
        "neg" => args[0] ^ (ty.mask() ^ ty.mask() >> 1),
        "add" => ty.of_float(value(0) + value(1)),
        "sub" => ty.of_float(value(0) - value(1)),
        "mul" => ty.of_float(value(0) * value(1)),
        "div" => ty.of_float(value(0) / value(1)),
        "min" => ty.of_float(value(0).min(value(1))),
        "max" => ty.of_float(value(0).max(value(1))),
        "sqrt" => ty.of_float(value(0).sqrt()),
        "rsqrt" => ty.of_float(1.0 / value(0).sqrt()),
        "rcp" => ty.of_float(1.0 / value(0)),
        "ex2" => ty.of_float(value(0).exp2()),
        "lg2" => ty.of_float(value(0).log2()),
        "sin" => ty.of_float(value(0).sin()),
        "cos" => ty.of_float(value(0).cos()),
        _ => return Err("not known of floats".to_owned()),
    })
}

fn int(inst: &Inst, name: &str, ty: Type, args: &[u64]) -> Result<u64, String> {
    let value = |n: usize| ty.int(args[n]);
    let bits = ty.bits;
    let unsigned = |n: usize| args[n] & ty.mask();
    let amount = || (args[1] as u32).min(127);
    Ok(match name {
        "add" => args[0].wrapping_add(args[1]),
        "sub" => args[0].wrapping_sub(args[1]),
        "mul" if inst.has("lo") => args[0].wrapping_mul(args[1]),
        "mul" if inst.has("hi") && ty.kind == 's' => ((value(0) * value(1)) >> bits) as u64,
        "mul" if inst.has("hi") => ((u128::from(unsigned(0)) * u128::from(unsigned(1))) >> bits) as u64,
        "mad" if inst.has("lo") => args[0].wrapping_mul(args[1]).wrapping_add(args[2]),
        // Division by zero gives an arbitrary value.
        "div" => value(0).checked_div(value(1)).unwrap_or(-1) as u64,
        "rem" => value(0).checked_rem(value(1)).unwrap_or(-1) as u64,
        "min" => value(0).min(value(1)) as u64,
        "max" => value(0).max(value(1)) as u64,
        "and" => args[0] & args[1],
        "or" => args[0] | args[1],
        "xor" => args[0] ^ args[1],
        "not" => !args[0],
        "neg" => args[0].wrapping_neg(),
        "abs" => value(0).unsigned_abs() as u64,
        "shl" => unsigned(0).checked_shl(amount()).unwrap_or(0),
        "shr" if ty.kind == 's' => (value(0) >> amount()) as u64,
        "shr" => unsigned(0).checked_shr(amount()).unwrap_or(0),
        "popc" => unsigned(0).count_ones().into(),
        "brev" => unsigned(0).reverse_bits() >> (64 - bits),
        "bfind" => return Ok(find(inst, ty, args[0])),
        "bfe" => extract(ty, args),
        "bfi" => {
            let (offset, count) = (args[2] as u32 & 255, args[3] as u32 & 255);
            let field = field(offset, count);
            args[1] & !field | args[0].checked_shl(offset).unwrap_or(0) & field
        }
        _ => return Err("not known of integers".to_owned()),
    })
}

fn field(offset: u32, count: u32) -> u64 {
    let ones = if count == 0 { 0 } else { u64::MAX >> (64 - count.min(64)) };
    ones.checked_shl(offset).unwrap_or(0)
}

fn find(inst: &Inst, ty: Type, value: u64) -> u64 {
    let sought = if ty.kind == 's' && ty.int(value) < 0 { !value } else { value } & ty.mask();
    match sought.checked_ilog2() {
        None => 0xffff_ffff,
        Some(at) if inst.has("shiftamt") => (ty.bits - 1 - at).into(),
        Some(at) => at.into(),
    }
}

fn extract(ty: Type, args: &[u64]) -> u64 {
    let (offset, count) = (args[1] as u32 & 255, args[2] as u32 & 255);
    let part = (args[0] & ty.mask()).checked_shr(offset).unwrap_or(0) & field(0, count);
    match ty.kind {
        's' if count > 0 && count < 64 => (((part << (64 - count)) as i64) >> (64 - count)) as u64,
        _ => part,
    }
}

/// `cvt.mode.to.from`.
fn convert(inst: &Inst, value: u64) -> Result<u64, String> {
    let [.., to, from] = &inst.name[..] else { return Err("a conversion without types".to_owned()) };
    let (to, from, modes) = (Type::read(to)?, Type::read(from)?, &inst.name[1..inst.name.len() - 2]);
    let rounded = |value: f64, mode: Option<&String>| {
        Ok(match mode.map(String::as_str) {
            Some("rni") => value.round_ties_even(),
            Some("rmi") => value.floor(),
            Some("rpi") => value.ceil(),
            Some("rzi") => value.trunc(),
            None | Some("rn") => value,
            Some(mode) => return Err(format!("a rounding mode: {mode}")),
        })
    };
    Ok(match (from.kind, to.kind) {
        ('f', 'f') if to.bits < from.bits && modes.is_empty() => return Err("a conversion must round".to_owned()),
        ('f', 'f') => to.of_float(rounded(from.float(value), modes.first())?),
        ('f', _) => {
            let whole = rounded(from.float(value), modes.first())?;
            let least = if to.kind == 's' { -2_f64.powi(to.bits as i32 - 1) } else { 0.0 };
            let most = 2_f64.powi(to.bits as i32 - i32::from(to.kind == 's'));
            // Saturated; of a NaN 0.
            let clamped = if whole.is_nan() {
                0
            } else if whole >= most {
                most as i128 - 1
            } else {
                whole.max(least) as i128
            };
            clamped as u64 & to.mask()
        }
        (_, 'f') if modes.first().is_none_or(|mode| mode != "rn") => return Err("a conversion must round".to_owned()),
        (_, 'f') => {
            let number = from.int(value);
            match to.bits {
                32 => (number as f32).to_bits().into(),
                _ => to.of_float(number as f64),
            }
        }
        // `cvt.s16.s8`: the low bits of the operand, extended.
        _ => from.int(value) as u64 & to.mask(),
    })
}
