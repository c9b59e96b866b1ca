//! Vector instructions that work on each lane separately: one row per name, with the processors that have it.
//!
//! A signature has the kinds of the result and of the sources: `i` and `f` for 32 bits, `s` and `h` for 16, `q` and `d`
//! for 64; `+` after them means that the old result is the last source, `&` that each result bit depends on certain
//! bits of the sources only, so that undefined bits do not spread.

use super::float::{div_fixup, flushing, fma, from_half, rough, scale, split, to_half, to_half_down, turns, value};
use super::operand::Kind;
use super::row::{self, NOW, ever, row};

pub type Function = fn([u64; 3]) -> u64;

type Row = super::row::Row<Function>;

/// A row with its signature read.
#[derive(Clone)]
pub struct Plain {
    pub result: Kind,
    pub sources: Vec<Kind>,
    /// True if the old result is the last source, which is not written again.
    pub accumulates: bool,
    pub is_bitwise: bool,
    pub apply: Function,
}

static TABLES: [&[Row]; 8] = [MOVES, INTEGERS, WIDE, SHORT, FLOATS, HALVES, DOUBLES, CONVERSIONS];

/// The names of all rows.
pub fn names() -> impl Iterator<Item = &'static str> {
    row::names(&TABLES)
}

/// The instruction with this name on a processor.
pub fn find(name: &str, version: u32) -> Option<Plain> {
    let found = row::find(&TABLES, name, version)?;
    let kinds: Vec<Kind> = found.signature.chars().filter_map(kind).collect();
    Some(Plain {
        result: kinds[0],
        sources: kinds[1..].to_vec(),
        accumulates: found.signature.contains('+'),
        is_bitwise: found.signature.contains('&'),
        apply: found.apply,
    })
}

fn kind(letter: char) -> Option<Kind> {
    Some(match letter {
        'i' => Kind::Int32,
        'f' => Kind::Float32,
        's' => Kind::Int16,
        'h' => Kind::Float16,
        'q' => Kind::Int64,
        'd' => Kind::Float64,
        _ => return None,
    })
}

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn of(value: f32) -> u64 {
    value.to_bits().into()
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn h(bits: u64) -> f64 {
    from_half(bits as u16)
}

fn oh(value: f64) -> u64 {
    to_half(value).into()
}

fn int(bits: u64) -> i32 {
    bits as i32
}

fn u(value: u32) -> u64 {
    value.into()
}

fn i(value: i32) -> u64 {
    value as u32 as u64
}

fn short(bits: u64) -> i16 {
    bits as i16
}

fn s(value: i16) -> u64 {
    value as u16 as u64
}

/// The low 24 bits, with their sign.
fn i24(bits: u64) -> i64 {
    (bits as i64) << 40 >> 40
}

fn u24(bits: u64) -> u64 {
    bits & 0xff_ffff
}

fn median<T: Ord>(mut three: [T; 3]) -> T {
    three.sort();
    let [_, middle, _] = three;
    middle
}

fn low_mask(bits: u64) -> u32 {
    (1u64 << (bits & 31)) as u32 - 1
}

/// V_PERM: for each byte of the selector, a byte of the two words, or of signs, zeros or ones.
fn permute_bytes([a, b, selector]: [u64; 3]) -> u64 {
    let words = (a as u32 as u64) << 32 | b as u32 as u64;
    let byte = |n: u64| words >> (8 * n) & 0xff;
    let pick = |n: u64| match selector >> (8 * n) & 0xff {
        at @ 0..=7 => byte(at),
        sign @ 8..=11 => 0xff * (byte(2 * (sign - 8) + 1) >> 7),
        12 => 0,
        _ => 0xff,
    };
    (0..4).map(|n| pick(n) << (8 * n)).sum()
}

fn leading(value: u32) -> u64 {
    if value == 0 { u(u32::MAX) } else { u(value.leading_zeros()) }
}

fn leading_sign(value: u32) -> u64 {
    leading(if int(value.into()) < 0 { !value } else { value })
}

/// The largest float below one keeps the fraction of a small negative number from becoming one; infinity has no
/// fraction.
fn fraction(x: f64, greatest: f64) -> f64 {
    let part = x - x.floor();
    if part > greatest { greatest } else { part }
}

fn exponent(x: f64) -> i32 {
    split(x).1
}

static MOVES: &[Row] = &[
    ever("v_mov_b32", "i=i&", |[a, ..]| a),
    row("v_mov_b64", 940, 999, "q=q&", |[a, ..]| a),
    row("v_mov_b16", 1100, NOW, "s=s&", |[a, ..]| a),
    ever("v_not_b32", "i=i&", |[a, ..]| !a),
    row("v_not_b16", 1100, NOW, "s=s&", |[a, ..]| !a),
    ever("v_and_b32", "i=ii&", |[a, b, _]| a & b),
    ever("v_or_b32", "i=ii&", |[a, b, _]| a | b),
    ever("v_xor_b32", "i=ii", |[a, b, _]| a ^ b),
    row("v_xnor_b32", 906, NOW, "i=ii", |[a, b, _]| !(a ^ b)),
    row("v_and_b16", 1100, NOW, "s=ss&", |[a, b, _]| a & b),
    row("v_or_b16", 1100, NOW, "s=ss&", |[a, b, _]| a | b),
    row("v_xor_b16", 1100, NOW, "s=ss", |[a, b, _]| a ^ b),
    row("v_and_or_b32", 900, NOW, "i=iii&", |[a, b, c]| a & b | c),
    row("v_or3_b32", 900, NOW, "i=iii&", |[a, b, c]| a | b | c),
    row("v_xor3_b32", 1000, NOW, "i=iii", |[a, b, c]| a ^ b ^ c),
    row("v_lshl_or_b32", 900, NOW, "i=iii&", |[a, b, c]| a << (b & 31) | c),
    ever("v_bfi_b32", "i=iii&", |[mask, a, b]| mask & a | !mask & b),
    ever("v_bfm_b32", "i=ii", |[width, at, _]| u(low_mask(width)) << (at & 31)),
    ever("v_bfe_u32", "i=iii&", |[a, at, width]| (a as u32 as u64) >> (at & 31) & u(low_mask(width))),
    ever("v_bfe_i32", "i=iii&", |[a, at, width]| {
        let (at, width) = (at & 31, width & 31);
        let shift = 64 - width;
        if width == 0 { 0 } else { (((int(a) >> at) as i64) << shift >> shift) as u64 }
    }),
    ever("v_bfrev_b32", "i=i&", |[a, ..]| u((a as u32).reverse_bits())),
    ever("v_alignbit_b32", "i=iii&", |[a, b, n]| (a << 32 | b & 0xffff_ffff) >> (n & 31)),
    ever("v_alignbyte_b32", "i=iii&", |[a, b, n]| (a << 32 | b & 0xffff_ffff) >> (8 * (n & 3))),
    row("v_perm_b32", 800, NOW, "i=iii&", permute_bytes),
    row("v_pack_b32_f16", 900, NOW, "i=hh&", |[a, b, _]| b << 16 | a & 0xffff),
    row("v_lshl_b32", 600, 799, "i=ii&", |[a, n, _]| a << (n & 31)),
    row("v_lshr_b32", 600, 799, "i=ii&", |[a, n, _]| u(a as u32 >> (n & 31))),
    row("v_ashr_i32", 600, 799, "i=ii&", |[a, n, _]| i(int(a) >> (n & 31))),
    ever("v_lshlrev_b32", "i=ii&", |[n, a, _]| a << (n & 31)),
    ever("v_lshrrev_b32", "i=ii&", |[n, a, _]| u(a as u32 >> (n & 31))),
    ever("v_ashrrev_i32", "i=ii&", |[n, a, _]| i(int(a) >> (n & 31))),
];

static INTEGERS: &[Row] = &[
    row("v_add_u32", 900, 999, "i=ii", |[a, b, _]| a.wrapping_add(b)),
    row("v_sub_u32", 900, 999, "i=ii", |[a, b, _]| a.wrapping_sub(b)),
    row("v_subrev_u32", 900, 999, "i=ii", |[a, b, _]| b.wrapping_sub(a)),
    row("v_add_u32", 1100, NOW, "i=ii", |[a, b, _]| a.wrapping_add(b)),
    row("v_sub_u32", 1100, NOW, "i=ii", |[a, b, _]| a.wrapping_sub(b)),
    row("v_add_nc_u32", 1000, NOW, "i=ii", |[a, b, _]| a.wrapping_add(b)),
    row("v_sub_nc_u32", 1000, NOW, "i=ii", |[a, b, _]| a.wrapping_sub(b)),
    row("v_subrev_nc_u32", 1000, NOW, "i=ii", |[a, b, _]| b.wrapping_sub(a)),
    row("v_add3_u32", 900, NOW, "i=iii", |[a, b, c]| a.wrapping_add(b).wrapping_add(c)),
    row("v_lshl_add_u32", 900, NOW, "i=iii", |[a, n, c]| (a << (n & 31)).wrapping_add(c)),
    row("v_add_lshl_u32", 900, NOW, "i=iii", |[a, b, n]| a.wrapping_add(b) << (n & 31)),
    row("v_xad_u32", 900, NOW, "i=iii", |[a, b, c]| (a ^ b).wrapping_add(c)),
    ever("v_mul_lo_u32", "i=ii", |[a, b, _]| a.wrapping_mul(b)),
    row("v_mul_lo_i32", 600, 799, "i=ii", |[a, b, _]| a.wrapping_mul(b)),
    row("v_mul_lo_i32", 1000, 1099, "i=ii", |[a, b, _]| a.wrapping_mul(b)),
    ever("v_mul_hi_u32", "i=ii", |[a, b, _]| ((a & 0xffff_ffff) * (b & 0xffff_ffff)) >> 32),
    ever("v_mul_hi_i32", "i=ii", |[a, b, _]| ((i64::from(int(a)) * i64::from(int(b))) >> 32) as u64),
    ever("v_mul_u32_u24", "i=ii", |[a, b, _]| u24(a) * u24(b)),
    ever("v_mul_i32_i24", "i=ii", |[a, b, _]| (i24(a) * i24(b)) as u64),
    ever("v_mul_hi_u32_u24", "i=ii", |[a, b, _]| (u24(a) * u24(b)) >> 32),
    ever("v_mul_hi_i32_i24", "i=ii", |[a, b, _]| ((i24(a) * i24(b)) >> 32) as u64),
    ever("v_mad_u32_u24", "i=iii", |[a, b, c]| (u24(a) * u24(b)).wrapping_add(c)),
    ever("v_mad_i32_i24", "i=iii", |[a, b, c]| (i24(a) * i24(b)).wrapping_add(c as i64) as u64),
    ever("v_min_u32", "i=ii", |[a, b, _]| u((a as u32).min(b as u32))),
    ever("v_max_u32", "i=ii", |[a, b, _]| u((a as u32).max(b as u32))),
    ever("v_min_i32", "i=ii", |[a, b, _]| i(int(a).min(int(b)))),
    ever("v_max_i32", "i=ii", |[a, b, _]| i(int(a).max(int(b)))),
    ever("v_min3_u32", "i=iii", |[a, b, c]| u((a as u32).min(b as u32).min(c as u32))),
    ever("v_max3_u32", "i=iii", |[a, b, c]| u((a as u32).max(b as u32).max(c as u32))),
    ever("v_min3_i32", "i=iii", |[a, b, c]| i(int(a).min(int(b)).min(int(c)))),
    ever("v_max3_i32", "i=iii", |[a, b, c]| i(int(a).max(int(b)).max(int(c)))),
    ever("v_med3_u32", "i=iii", |abc| u(median(abc.map(|x| x as u32)))),
    ever("v_med3_i32", "i=iii", |abc| i(median(abc.map(int)))),
    row("v_maxmin_u32", 1100, NOW, "i=iii", |[a, b, c]| u((a as u32).max(b as u32).min(c as u32))),
    row("v_minmax_u32", 1100, NOW, "i=iii", |[a, b, c]| u((a as u32).min(b as u32).max(c as u32))),
    row("v_maxmin_i32", 1100, NOW, "i=iii", |[a, b, c]| i(int(a).max(int(b)).min(int(c)))),
    row("v_minmax_i32", 1100, NOW, "i=iii", |[a, b, c]| i(int(a).min(int(b)).max(int(c)))),
    ever("v_sad_u32", "i=iii", |[a, b, c]| u((a as u32).abs_diff(b as u32)).wrapping_add(c)),
    ever("v_bcnt_u32_b32", "i=ii", |[a, b, _]| u((a as u32).count_ones()).wrapping_add(b)),
    row("v_ffbh_u32", 600, 1099, "i=i", |[a, ..]| leading(a as u32)),
    row("v_ffbl_b32", 600, 1099, "i=i", |[a, ..]| if a as u32 == 0 { u(u32::MAX) } else { u(a.trailing_zeros()) }),
    row("v_ffbh_i32", 600, 1099, "i=i", |[a, ..]| leading_sign(a as u32)),
    row("v_clz_i32_u32", 1100, NOW, "i=i", |[a, ..]| leading(a as u32)),
    row("v_ctz_i32_b32", 1100, NOW, "i=i", |[a, ..]| if a as u32 == 0 { u(u32::MAX) } else { u(a.trailing_zeros()) }),
    row("v_cls_i32", 1100, NOW, "i=i", |[a, ..]| leading_sign(a as u32)),
];

static WIDE: &[Row] = &[
    row("v_lshl_b64", 600, 799, "q=qi&", |[a, n, _]| a << (n & 63)),
    row("v_lshr_b64", 600, 799, "q=qi&", |[a, n, _]| a >> (n & 63)),
    row("v_ashr_i64", 600, 799, "q=qi&", |[a, n, _]| (a as i64 >> (n & 63)) as u64),
    row("v_lshlrev_b64", 800, NOW, "q=iq&", |[n, a, _]| a << (n & 63)),
    row("v_lshrrev_b64", 800, NOW, "q=iq&", |[n, a, _]| a >> (n & 63)),
    row("v_ashrrev_i64", 800, NOW, "q=iq&", |[n, a, _]| (a as i64 >> (n & 63)) as u64),
    row("v_lshl_add_u64", 940, 999, "q=qiq", |[a, n, c]| (a << (n & 7)).wrapping_add(c)),
];

static SHORT: &[Row] = &[
    row("v_add_u16", 800, 999, "s=ss", |[a, b, _]| a.wrapping_add(b)),
    row("v_sub_u16", 800, 999, "s=ss", |[a, b, _]| a.wrapping_sub(b)),
    row("v_subrev_u16", 800, 999, "s=ss", |[a, b, _]| b.wrapping_sub(a)),
    row("v_add_nc_u16", 1000, NOW, "s=ss", |[a, b, _]| a.wrapping_add(b)),
    row("v_sub_nc_u16", 1000, NOW, "s=ss", |[a, b, _]| a.wrapping_sub(b)),
    row("v_mul_lo_u16", 800, NOW, "s=ss", |[a, b, _]| a.wrapping_mul(b)),
    row("v_mad_u16", 800, NOW, "s=sss", |[a, b, c]| a.wrapping_mul(b).wrapping_add(c)),
    row("v_mad_legacy_u16", 900, 999, "s=sss", |[a, b, c]| a.wrapping_mul(b).wrapping_add(c)),
    row("v_mad_u32_u16", 900, NOW, "i=ssi", |[a, b, c]| (a & 0xffff).wrapping_mul(b & 0xffff).wrapping_add(c)),
    row("v_mad_i32_i16", 900, NOW, "i=ssi", |[a, b, c]| i(i32::from(short(a)) * i32::from(short(b))).wrapping_add(c)),
    row("v_min_u16", 800, NOW, "s=ss", |[a, b, _]| (a & 0xffff).min(b & 0xffff)),
    row("v_max_u16", 800, NOW, "s=ss", |[a, b, _]| (a & 0xffff).max(b & 0xffff)),
    row("v_min_i16", 800, NOW, "s=ss", |[a, b, _]| s(short(a).min(short(b)))),
    row("v_max_i16", 800, NOW, "s=ss", |[a, b, _]| s(short(a).max(short(b)))),
    row("v_lshlrev_b16", 800, NOW, "s=ss&", |[n, a, _]| a << (n & 15)),
    row("v_lshrrev_b16", 800, NOW, "s=ss&", |[n, a, _]| (a & 0xffff) >> (n & 15)),
    row("v_ashrrev_i16", 800, NOW, "s=ss&", |[n, a, _]| s(short(a) >> (n & 15))),
];

static FLOATS: &[Row] = &[
    ever("v_add_f32", "f=ff", |[a, b, _]| of(f(a) + f(b))),
    ever("v_sub_f32", "f=ff", |[a, b, _]| of(f(a) - f(b))),
    ever("v_subrev_f32", "f=ff", |[a, b, _]| of(f(b) - f(a))),
    ever("v_mul_f32", "f=ff", |[a, b, _]| of(f(a) * f(b))),
    row("v_mul_legacy_f32", 600, 1099, "f=ff", product_of_nonzero),
    row("v_mul_dx9_zero_f32", 1100, NOW, "f=ff", product_of_nonzero),
    ever("v_fma_f32", "f=fff", |[a, b, c]| fma(a, b, c, Kind::Float32)),
    row("v_fmac_f32", 906, NOW, "f=fff+", |[a, b, c]| fma(a, b, c, Kind::Float32)),
    row("v_fmaak_f32", 940, NOW, "f=fff", |[a, b, c]| fma(a, b, c, Kind::Float32)),
    row("v_fmamk_f32", 940, NOW, "f=fff", |[a, b, c]| fma(a, b, c, Kind::Float32)),
    row("v_mad_f32", 600, 939, "f=fff", unfused),
    row("v_mad_f32", 1000, 1019, "f=fff", unfused),
    row("v_mac_f32", 600, 939, "f=fff+", unfused),
    row("v_madak_f32", 600, 939, "f=fff", unfused),
    row("v_madak_f32", 1000, 1019, "f=fff", unfused),
    row("v_madmk_f32", 600, 939, "f=fff", unfused),
    row("v_madmk_f32", 1000, 1019, "f=fff", unfused),
    ever("v_floor_f32", "f=f", |[a, ..]| of(f(a).floor())),
    ever("v_ceil_f32", "f=f", |[a, ..]| of(f(a).ceil())),
    ever("v_trunc_f32", "f=f", |[a, ..]| of(f(a).trunc())),
    ever("v_rndne_f32", "f=f", |[a, ..]| of(f(a).round_ties_even())),
    ever("v_fract_f32", "f=f", |[a, ..]| of(fraction(f(a).into(), f32::from_bits(0x3f7f_ffff).into()) as f32)),
    ever("v_rcp_f32", "f=f", |[a, ..]| flushing(a, |x| 1.0 / x)),
    ever("v_rcp_iflag_f32", "f=f", |[a, ..]| flushing(a, |x| 1.0 / x)),
    ever("v_rsq_f32", "f=f", |[a, ..]| flushing(a, |x| 1.0 / x.sqrt())),
    ever("v_sqrt_f32", "f=f", |[a, ..]| flushing(a, f64::sqrt)),
    ever("v_exp_f32", "f=f", |[a, ..]| flushing(a, f64::exp2)),
    ever("v_log_f32", "f=f", |[a, ..]| flushing(a, f64::log2)),
    ever("v_sin_f32", "f=f", |[a, ..]| turns(a, f64::sin)),
    ever("v_cos_f32", "f=f", |[a, ..]| turns(a, f64::cos)),
    ever("v_ldexp_f32", "f=fi", |[a, n, _]| of(scale(f(a).into(), int(n)) as f32)),
    ever("v_frexp_mant_f32", "f=f", |[a, ..]| of(split(f(a).into()).0 as f32)),
    ever("v_frexp_exp_i32_f32", "i=f", |[a, ..]| i(exponent(f(a).into()))),
    ever("v_div_fixup_f32", "f=fff", |[q, den, num]| div_fixup(q, den, num, Kind::Float32)),
    ever("v_cubeid_f32", "f=fff", |direction| of(cube(direction)[0])),
    ever("v_cubesc_f32", "f=fff", |direction| of(cube(direction)[1])),
    ever("v_cubetc_f32", "f=fff", |direction| of(cube(direction)[2])),
    ever("v_cubema_f32", "f=fff", |direction| of(cube(direction)[3])),
];

/// The face of a cube that a direction hits, the position on it, and twice the component towards it.
fn cube(direction: [u64; 3]) -> [f32; 4] {
    let [x, y, z] = direction.map(f);
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z < 0.0 { [5.0, -x, -y, 2.0 * z] } else { [4.0, x, -y, 2.0 * z] }
    } else if y.abs() >= x.abs() {
        if y < 0.0 { [3.0, x, -z, 2.0 * y] } else { [2.0, x, z, 2.0 * y] }
    } else if x < 0.0 {
        [1.0, z, -y, 2.0 * x]
    } else {
        [0.0, -z, -y, 2.0 * x]
    }
}

/// A product that is zero if either factor is, whatever the other one is.
fn product_of_nonzero([a, b, _]: [u64; 3]) -> u64 {
    if f(a) == 0.0 || f(b) == 0.0 { 0 } else { of(f(a) * f(b)) }
}

/// A product and a sum that are rounded each; subnormal numbers become zero in any mode.
fn unfused([a, b, c]: [u64; 3]) -> u64 {
    let flush = |x: f32| if x.abs() < f32::MIN_POSITIVE { 0f32.copysign(x) } else { x };
    of(flush(flush(flush(f(a)) * flush(f(b))) + flush(f(c))))
}

static HALVES: &[Row] = &[
    row("v_add_f16", 800, NOW, "h=hh", |[a, b, _]| oh(h(a) + h(b))),
    row("v_sub_f16", 800, NOW, "h=hh", |[a, b, _]| oh(h(a) - h(b))),
    row("v_subrev_f16", 800, NOW, "h=hh", |[a, b, _]| oh(h(b) - h(a))),
    row("v_mul_f16", 800, NOW, "h=hh", |[a, b, _]| oh(h(a) * h(b))),
    row("v_fma_f16", 800, NOW, "h=hhh", |[a, b, c]| fma(a, b, c, Kind::Float16)),
    row("v_fmac_f16", 1000, NOW, "h=hhh+", |[a, b, c]| fma(a, b, c, Kind::Float16)),
    row("v_floor_f16", 800, NOW, "h=h", |[a, ..]| oh(h(a).floor())),
    row("v_ceil_f16", 800, NOW, "h=h", |[a, ..]| oh(h(a).ceil())),
    row("v_trunc_f16", 800, NOW, "h=h", |[a, ..]| oh(h(a).trunc())),
    row("v_rndne_f16", 800, NOW, "h=h", |[a, ..]| oh(h(a).round_ties_even())),
    row("v_fract_f16", 800, NOW, "h=h", |[a, ..]| oh(fraction(h(a), 1.0 - 2f64.powi(-11)))),
    row("v_rcp_f16", 800, NOW, "h=h", |[a, ..]| oh(1.0 / h(a))),
    row("v_rsq_f16", 800, NOW, "h=h", |[a, ..]| oh(1.0 / h(a).sqrt())),
    row("v_sqrt_f16", 800, NOW, "h=h", |[a, ..]| oh(h(a).sqrt())),
    row("v_exp_f16", 800, NOW, "h=h", |[a, ..]| oh(h(a).exp2())),
    row("v_log_f16", 800, NOW, "h=h", |[a, ..]| oh(h(a).log2())),
    row("v_sin_f16", 800, NOW, "h=h", |[a, ..]| oh((h(a) % 1.0 * std::f64::consts::TAU).sin())),
    row("v_cos_f16", 800, NOW, "h=h", |[a, ..]| oh((h(a) % 1.0 * std::f64::consts::TAU).cos())),
    row("v_ldexp_f16", 800, NOW, "h=hs", |[a, n, _]| oh(scale(h(a), short(n).into()))),
    row("v_frexp_mant_f16", 800, NOW, "h=h", |[a, ..]| oh(split(h(a)).0)),
    row("v_frexp_exp_i16_f16", 800, NOW, "s=h", |[a, ..]| s(exponent(h(a)) as i16)),
    row("v_div_fixup_f16", 800, NOW, "h=hhh", |[q, den, num]| div_fixup(q, den, num, Kind::Float16)),
];

static DOUBLES: &[Row] = &[
    ever("v_add_f64", "d=dd", |[a, b, _]| (d(a) + d(b)).to_bits()),
    ever("v_mul_f64", "d=dd", |[a, b, _]| (d(a) * d(b)).to_bits()),
    ever("v_fma_f64", "d=ddd", |[a, b, c]| fma(a, b, c, Kind::Float64)),
    row("v_fmac_f64", 910, 999, "d=ddd+", |[a, b, c]| fma(a, b, c, Kind::Float64)),
    row("v_floor_f64", 700, NOW, "d=d", |[a, ..]| d(a).floor().to_bits()),
    row("v_ceil_f64", 700, NOW, "d=d", |[a, ..]| d(a).ceil().to_bits()),
    row("v_trunc_f64", 700, NOW, "d=d", |[a, ..]| d(a).trunc().to_bits()),
    row("v_rndne_f64", 700, NOW, "d=d", |[a, ..]| d(a).round_ties_even().to_bits()),
    // gfx6 returns one for some small negative numbers (LLVM's FeatureFractBug); here it never may.
    ever("v_fract_f64", "d=d", |[a, ..]| fraction(d(a), f64::from_bits(0x3fef_ffff_ffff_ffff)).to_bits()),
    ever("v_rcp_f64", "d=d", |[a, ..]| rough(a, |x| 1.0 / x)),
    ever("v_rsq_f64", "d=d", |[a, ..]| rough(a, |x| 1.0 / x.sqrt())),
    ever("v_sqrt_f64", "d=d", |[a, ..]| rough(a, f64::sqrt)),
    ever("v_ldexp_f64", "d=di", |[a, n, _]| scale(d(a), int(n)).to_bits()),
    ever("v_frexp_mant_f64", "d=d", |[a, ..]| split(d(a)).0.to_bits()),
    ever("v_frexp_exp_i32_f64", "i=d", |[a, ..]| i(exponent(d(a)))),
    ever("v_div_fixup_f64", "d=ddd", |[q, den, num]| div_fixup(q, den, num, Kind::Float64)),
];

static CONVERSIONS: &[Row] = &[
    ever("v_cvt_f32_i32", "f=i", |[a, ..]| of(int(a) as f32)),
    ever("v_cvt_f32_u32", "f=i", |[a, ..]| of(a as u32 as f32)),
    ever("v_cvt_i32_f32", "i=f", |[a, ..]| i(f(a) as i32)),
    ever("v_cvt_u32_f32", "i=f", |[a, ..]| u(f(a) as u32)),
    row("v_cvt_rpi_i32_f32", 600, 1099, "i=f", |[a, ..]| i((f(a) + 0.5).floor() as i32)),
    row("v_cvt_flr_i32_f32", 600, 1099, "i=f", |[a, ..]| i(f(a).floor() as i32)),
    row("v_cvt_nearest_i32_f32", 1100, NOW, "i=f", |[a, ..]| i((f(a) + 0.5).floor() as i32)),
    row("v_cvt_floor_i32_f32", 1100, NOW, "i=f", |[a, ..]| i(f(a).floor() as i32)),
    ever("v_cvt_f32_ubyte0", "f=i", |[a, ..]| of((a & 0xff) as f32)),
    ever("v_cvt_f32_ubyte1", "f=i", |[a, ..]| of((a >> 8 & 0xff) as f32)),
    ever("v_cvt_f32_ubyte2", "f=i", |[a, ..]| of((a >> 16 & 0xff) as f32)),
    ever("v_cvt_f32_ubyte3", "f=i", |[a, ..]| of((a >> 24 & 0xff) as f32)),
    ever("v_cvt_f16_f32", "h=f", |[a, ..]| oh(f(a).into())),
    ever("v_cvt_f32_f16", "f=h", |[a, ..]| of(h(a) as f32)),
    ever("v_cvt_f64_f32", "d=f", |[a, ..]| f64::from(f(a)).to_bits()),
    ever("v_cvt_f32_f64", "f=d", |[a, ..]| of(d(a) as f32)),
    ever("v_cvt_f64_i32", "d=i", |[a, ..]| f64::from(int(a)).to_bits()),
    ever("v_cvt_f64_u32", "d=i", |[a, ..]| f64::from(a as u32).to_bits()),
    ever("v_cvt_i32_f64", "i=d", |[a, ..]| i(d(a) as i32)),
    ever("v_cvt_u32_f64", "i=d", |[a, ..]| u(d(a) as u32)),
    row("v_cvt_f16_u16", 800, NOW, "h=s", |[a, ..]| oh((a as u16).into())),
    row("v_cvt_f16_i16", 800, NOW, "h=s", |[a, ..]| oh(short(a).into())),
    row("v_cvt_u16_f16", 800, NOW, "s=h", |[a, ..]| (h(a) as u16).into()),
    row("v_cvt_i16_f16", 800, NOW, "s=h", |[a, ..]| s(h(a) as i16)),
    row("v_cvt_i32_i16", 1100, NOW, "i=s", |[a, ..]| i(short(a).into())),
    row("v_cvt_u32_u16", 1100, NOW, "i=s&", |[a, ..]| a & 0xffff),
    ever("v_cvt_pkrtz_f16_f32", "i=ff", pack_down),
    row("v_cvt_pk_rtz_f16_f32", 1100, NOW, "i=ff", pack_down),
    ever("v_cvt_pknorm_i16_f32", "i=ff", |[a, b, _]| normalized([a, b], |x| i16_of(x, 32767.0))),
    ever("v_cvt_pknorm_u16_f32", "i=ff", |[a, b, _]| {
        normalized([a, b], |x| (x.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u64)
    }),
    row("v_cvt_pk_norm_i16_f32", 1100, NOW, "i=ff", |[a, b, _]| normalized([a, b], |x| i16_of(x, 32767.0))),
    row("v_cvt_pk_norm_u16_f32", 1100, NOW, "i=ff", |[a, b, _]| {
        normalized([a, b], |x| (x.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u64)
    }),
    ever("v_cvt_pk_u16_u32", "i=ii", |[a, b, _]| u((b as u32).min(0xffff)) << 16 | u((a as u32).min(0xffff))),
    ever("v_cvt_pk_i16_i32", "i=ii", |[a, b, _]| {
        let clip = |x| s(int(x).clamp(-32768, 32767) as i16);
        clip(b) << 16 | clip(a)
    }),
    ever("v_cvt_pk_u8_f32", "i=fii", |[a, n, old]| {
        let (byte, at) = (value(a, Kind::Float32) as u8, 8 * (n & 3));
        old & !(0xff << at) | u64::from(byte) << at
    }),
];

fn pack_down([a, b, _]: [u64; 3]) -> u64 {
    u64::from(to_half_down(f(b))) << 16 | u64::from(to_half_down(f(a)))
}

fn i16_of(x: f32, scale: f32) -> u64 {
    s((x.clamp(-1.0, 1.0) * scale).round_ties_even() as i16)
}

/// Two floats as normalized integers of 16 bits; NaN is zero.
fn normalized(floats: [u64; 2], convert: impl Fn(f32) -> u64) -> u64 {
    let [low, high] = floats.map(|bits| convert(f(bits)));
    high << 16 | low
}
