//! Instructions on two 16-bit numbers in a register, and those that mix 16-bit and 32-bit floats (VOP3P in AMD's Vega
//! and RDNA ISA guides): which halves of the sources they read, and what they compute.

use super::float;
use super::inst::Inst;
use super::operand::Kind;
use super::row::{self, NOW, Row, row};

/// The result for one half, in IEEE mode or not.
pub type Function = fn([u64; 3], bool) -> u64;

static PACKED: &[Row<Function>] = &[
    row("v_pk_add_f16", 900, NOW, "hh", |[a, b, _], _| half(value(a) + value(b))),
    row("v_pk_mul_f16", 900, NOW, "hh", |[a, b, _], _| half(value(a) * value(b))),
    row("v_pk_fma_f16", 900, NOW, "hhh", |[a, b, c], _| float::fma(a, b, c, Kind::Float16)),
    row("v_pk_min_f16", 900, 1199, "hh", |[a, b, _], ieee| float::extreme(a, b, Kind::Float16, false, ieee)),
    row("v_pk_max_f16", 900, 1199, "hh", |[a, b, _], ieee| float::extreme(a, b, Kind::Float16, true, ieee)),
    row("v_pk_min_num_f16", 1200, NOW, "hh", |[a, b, _], _| float::extreme(a, b, Kind::Float16, false, false)),
    row("v_pk_max_num_f16", 1200, NOW, "hh", |[a, b, _], _| float::extreme(a, b, Kind::Float16, true, false)),
    row("v_pk_add_u16", 900, NOW, "ss", |[a, b, _], _| a.wrapping_add(b)),
    row("v_pk_add_i16", 900, NOW, "ss", |[a, b, _], _| a.wrapping_add(b)),
    row("v_pk_sub_u16", 900, NOW, "ss", |[a, b, _], _| a.wrapping_sub(b)),
    row("v_pk_sub_i16", 900, NOW, "ss", |[a, b, _], _| a.wrapping_sub(b)),
    row("v_pk_mul_lo_u16", 900, NOW, "ss", |[a, b, _], _| a.wrapping_mul(b)),
    row("v_pk_mad_u16", 900, NOW, "sss", |[a, b, c], _| a.wrapping_mul(b).wrapping_add(c)),
    row("v_pk_mad_i16", 900, NOW, "sss", |[a, b, c], _| a.wrapping_mul(b).wrapping_add(c)),
    row("v_pk_min_u16", 900, NOW, "ss", |[a, b, _], _| a.min(b)),
    row("v_pk_max_u16", 900, NOW, "ss", |[a, b, _], _| a.max(b)),
    row("v_pk_min_i16", 900, NOW, "ss", |[a, b, _], _| signed(a).min(signed(b)) as u16 as u64),
    row("v_pk_max_i16", 900, NOW, "ss", |[a, b, _], _| signed(a).max(signed(b)) as u16 as u64),
    row("v_pk_lshlrev_b16", 900, NOW, "ss", |[n, a, _], _| a << (n & 15)),
    row("v_pk_lshrrev_b16", 900, NOW, "ss", |[n, a, _], _| a >> (n & 15)),
    row("v_pk_ashrrev_i16", 900, NOW, "ss", |[n, a, _], _| (signed(a) >> (n & 15)) as u16 as u64),
];

fn value(bits: u64) -> f64 {
    float::value(bits, Kind::Float16)
}

fn half(value: f64) -> u64 {
    float::bits(value, Kind::Float16)
}

fn signed(bits: u64) -> i16 {
    bits as i16
}

/// The names of all packed instructions and of those that mix floats.
pub fn names() -> impl Iterator<Item = &'static str> {
    row::names(&[PACKED]).chain(["v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"])
}

/// The kind and number of the sources of a packed instruction, and its function.
pub fn find(name: &str, version: u32) -> Option<(Kind, usize, Function)> {
    let row = row::find(&[PACKED], name, version)?;
    let kind = if row.signature.starts_with('h') { Kind::Float16 } else { Kind::Int16 };
    Some((kind, row.signature.len(), row.apply))
}

/// The half of the result that a mixed-float instruction writes, or all of it.
pub fn mix(name: &str, version: u32) -> Option<Option<bool>> {
    // Of gfx9 only later processors have them: gfx900 to gfx905 round the product.
    let half = match name {
        "v_fma_mix_f32" => None,
        "v_fma_mixlo_f16" => Some(false),
        "v_fma_mixhi_f16" => Some(true),
        _ => return None,
    };
    (version >= 906).then_some(half)
}

/// Bit `n` of a modifier with a bit for each source.
pub fn flag(inst: &Inst, name: &str, n: usize, usual: bool) -> bool {
    let Some(list) = inst.modifier(name) else { return usual };
    list.trim_matches(['[', ']']).split(',').nth(n).map_or(usual, |bit| bit.trim() == "1")
}
