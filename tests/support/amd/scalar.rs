//! Instructions of the scalar unit: one row per name, with the processors that have it.
//!
//! Signatures are as in the vector tables; `!` means that SCC is written, `?` that it is read, `+` that the old result
//! is the first source.

use super::float::extreme;
use super::operand::Kind;
use super::row::{self, NOW, ever, row};

/// The result and SCC, from two sources and SCC.
pub type Function = fn([u64; 3]) -> (u64, bool);

type Row = super::row::Row<Function>;

/// A row with its signature read.
#[derive(Clone)]
pub struct Scalar {
    pub result: Option<Kind>,
    pub sources: Vec<Kind>,
    pub accumulates: bool,
    pub writes_scc: bool,
    pub reads_scc: bool,
    pub apply: Function,
}

static TABLES: [&[Row]; 4] = [BITS, ARITHMETIC, COMPARISONS, FLOATS];

/// The names of all rows.
pub fn names() -> impl Iterator<Item = &'static str> {
    row::names(&TABLES)
}

/// The instruction with this name on a processor.
pub fn find(name: &str, version: u32) -> Option<Scalar> {
    let found = row::find(&TABLES, name, version)?;
    let (result, sources) = found.signature.split_once('=')?;
    Some(Scalar {
        result: result.chars().find_map(kind),
        sources: sources.chars().filter_map(kind).collect(),
        accumulates: sources.contains('+'),
        writes_scc: sources.contains('!'),
        reads_scc: sources.contains('?'),
        apply: found.apply,
    })
}

fn kind(letter: char) -> Option<Kind> {
    Some(match letter {
        'i' => Kind::Int32,
        'f' => Kind::Float32,
        'q' => Kind::Int64,
        _ => return None,
    })
}

fn int(bits: u64) -> i32 {
    bits as i32
}

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn of(value: f32) -> (u64, bool) {
    (value.to_bits().into(), false)
}

/// A 32-bit result, with SCC set if it is not zero.
fn nonzero(value: u32) -> (u64, bool) {
    (value.into(), value != 0)
}

/// A 64-bit result, with SCC set if it is not zero.
fn wide(value: u64) -> (u64, bool) {
    (value, value != 0)
}

/// A result that leaves SCC unchanged.
fn only(value: u64) -> (u64, bool) {
    (value, false)
}

fn holds(scc: bool) -> (u64, bool) {
    (0, scc)
}

fn add(a: u64, b: u64, carry: u64) -> (u64, bool) {
    let sum = (a & 0xffff_ffff) + (b & 0xffff_ffff) + carry;
    (sum & 0xffff_ffff, sum >> 32 != 0)
}

fn sub(a: u64, b: u64, borrow: u64) -> (u64, bool) {
    let (a, b) = (a & 0xffff_ffff, (b & 0xffff_ffff) + borrow);
    (a.wrapping_sub(b) & 0xffff_ffff, b > a)
}

fn add_signed(a: u64, b: u64) -> (u64, bool) {
    let (sum, overflow) = int(a).overflowing_add(int(b));
    (sum as u32 as u64, overflow)
}

fn sub_signed(a: u64, b: u64) -> (u64, bool) {
    let (difference, overflow) = int(a).overflowing_sub(int(b));
    (difference as u32 as u64, overflow)
}

/// Whole quads: four set bits for each group of four with at least one set.
fn quads(mask: u64) -> u64 {
    let any = (mask | mask >> 1 | mask >> 2 | mask >> 3) & 0x1111_1111_1111_1111;
    any * 15
}

fn quad_mask(mask: u64) -> u64 {
    (0..16).map(|quad| u64::from(mask >> (4 * quad) & 15 != 0) << quad).sum()
}

fn first_set(bits: u64, width: u32) -> u64 {
    if bits.trailing_zeros() >= width { u64::from(u32::MAX) } else { bits.trailing_zeros().into() }
}

fn leading(bits: u64, width: u32) -> u64 {
    let zeros = bits.leading_zeros().saturating_sub(64 - width);
    if zeros >= width { u64::from(u32::MAX) } else { zeros.into() }
}

/// The number of leading bits equal to the sign; all ones if every bit is.
fn leading_sign(value: i64, width: u32) -> u64 {
    leading(if value < 0 { !value as u64 } else { value as u64 } & (u64::MAX >> (64 - width)), width)
}

/// Bits `at` up of a field that the second source describes: offset in its low bits, width from bit 16.
fn field(value: i64, control: u64, bits: u32) -> i64 {
    let (at, width) = (control as u32 & (bits - 1), (control >> 16 & 0x7f) as u32);
    if width == 0 { 0 } else { (value >> at) << (64 - width.min(64)) >> (64 - width.min(64)) }
}

fn field_unsigned(value: u64, control: u64, bits: u32) -> u64 {
    let (at, width) = (control as u32 & (bits - 1), (control >> 16 & 0x7f) as u32);
    if width == 0 { 0 } else { (value >> at) & (u64::MAX >> (64 - width.min(64))) }
}

fn replicate(bits: u64) -> u64 {
    (0..32).map(|n| ((bits >> n & 1) * 3) << (2 * n)).sum()
}

static BITS: &[Row] = &[
    ever("s_mov_b32", "i=i", |[a, ..]| only(a)),
    ever("s_mov_b64", "q=q", |[a, ..]| only(a)),
    ever("s_movk_i32", "i=i", |[a, ..]| only(a as i16 as i32 as u32 as u64)),
    ever("s_cmov_b32", "i=+ii?", |[old, a, scc]| only(if scc != 0 { a } else { old })),
    ever("s_cmov_b64", "q=+qq?", |[old, a, scc]| only(if scc != 0 { a } else { old })),
    ever("s_cselect_b32", "i=ii?", |[a, b, scc]| only(if scc != 0 { a } else { b })),
    ever("s_cselect_b64", "q=qq?", |[a, b, scc]| only(if scc != 0 { a } else { b })),
    ever("s_not_b32", "i=i!", |[a, ..]| nonzero(!a as u32)),
    ever("s_not_b64", "q=q!", |[a, ..]| wide(!a)),
    ever("s_and_b32", "i=ii!", |[a, b, _]| nonzero((a & b) as u32)),
    ever("s_and_b64", "q=qq!", |[a, b, _]| wide(a & b)),
    ever("s_or_b32", "i=ii!", |[a, b, _]| nonzero((a | b) as u32)),
    ever("s_or_b64", "q=qq!", |[a, b, _]| wide(a | b)),
    ever("s_xor_b32", "i=ii!", |[a, b, _]| nonzero((a ^ b) as u32)),
    ever("s_xor_b64", "q=qq!", |[a, b, _]| wide(a ^ b)),
    ever("s_andn2_b32", "i=ii!", |[a, b, _]| nonzero((a & !b) as u32)),
    ever("s_andn2_b64", "q=qq!", |[a, b, _]| wide(a & !b)),
    row("s_and_not1_b32", 1100, NOW, "i=ii!", |[a, b, _]| nonzero((a & !b) as u32)),
    row("s_and_not1_b64", 1100, NOW, "q=qq!", |[a, b, _]| wide(a & !b)),
    ever("s_orn2_b32", "i=ii!", |[a, b, _]| nonzero((a | !b) as u32)),
    ever("s_orn2_b64", "q=qq!", |[a, b, _]| wide(a | !b)),
    row("s_or_not1_b32", 1100, NOW, "i=ii!", |[a, b, _]| nonzero((a | !b) as u32)),
    row("s_or_not1_b64", 1100, NOW, "q=qq!", |[a, b, _]| wide(a | !b)),
    ever("s_nand_b32", "i=ii!", |[a, b, _]| nonzero(!(a & b) as u32)),
    ever("s_nand_b64", "q=qq!", |[a, b, _]| wide(!(a & b))),
    ever("s_nor_b32", "i=ii!", |[a, b, _]| nonzero(!(a | b) as u32)),
    ever("s_nor_b64", "q=qq!", |[a, b, _]| wide(!(a | b))),
    ever("s_xnor_b32", "i=ii!", |[a, b, _]| nonzero(!(a ^ b) as u32)),
    ever("s_xnor_b64", "q=qq!", |[a, b, _]| wide(!(a ^ b))),
    ever("s_lshl_b32", "i=ii!", |[a, n, _]| nonzero((a << (n & 31)) as u32)),
    ever("s_lshl_b64", "q=qi!", |[a, n, _]| wide(a << (n & 63))),
    ever("s_lshr_b32", "i=ii!", |[a, n, _]| nonzero(a as u32 >> (n & 31))),
    ever("s_lshr_b64", "q=qi!", |[a, n, _]| wide(a >> (n & 63))),
    ever("s_ashr_i32", "i=ii!", |[a, n, _]| nonzero((int(a) >> (n & 31)) as u32)),
    ever("s_ashr_i64", "q=qi!", |[a, n, _]| wide((a as i64 >> (n & 63)) as u64)),
    ever("s_bfm_b32", "i=ii", |[width, at, _]| only((((1u64 << (width & 31)) - 1) << (at & 31)) as u32 as u64)),
    ever("s_bfm_b64", "q=ii", |[width, at, _]| only(((1u64 << (width & 63)) - 1) << (at & 63))),
    ever("s_bfe_u32", "i=ii!", |[a, c, _]| nonzero(field_unsigned(a, c, 32) as u32)),
    ever("s_bfe_i32", "i=ii!", |[a, c, _]| nonzero(field(int(a).into(), c, 32) as u32)),
    ever("s_bfe_u64", "q=qi!", |[a, c, _]| wide(field_unsigned(a, c, 64))),
    ever("s_bfe_i64", "q=qi!", |[a, c, _]| wide(field(a as i64, c, 64) as u64)),
    ever("s_brev_b32", "i=i", |[a, ..]| only((a as u32).reverse_bits().into())),
    ever("s_brev_b64", "q=q", |[a, ..]| only(a.reverse_bits())),
    ever("s_wqm_b32", "i=i!", |[a, ..]| nonzero(quads(a) as u32)),
    ever("s_wqm_b64", "q=q!", |[a, ..]| wide(quads(a))),
    ever("s_quadmask_b32", "i=i!", |[a, ..]| nonzero(quad_mask(a) as u32)),
    ever("s_quadmask_b64", "q=q!", |[a, ..]| wide(quad_mask(a))),
    row("s_bitreplicate_b64_b32", 900, NOW, "q=i", |[a, ..]| only(replicate(a))),
    ever("s_bitset0_b32", "i=+ii", |[old, n, _]| only(old & !(1 << (n & 31)))),
    ever("s_bitset1_b32", "i=+ii", |[old, n, _]| only(old | 1 << (n & 31))),
    ever("s_bitset0_b64", "q=+qi", |[old, n, _]| only(old & !(1 << (n & 63)))),
    ever("s_bitset1_b64", "q=+qi", |[old, n, _]| only(old | 1 << (n & 63))),
    ever("s_bcnt0_i32_b32", "i=i!", |[a, ..]| nonzero((a as u32).count_zeros())),
    ever("s_bcnt1_i32_b32", "i=i!", |[a, ..]| nonzero((a as u32).count_ones())),
    ever("s_bcnt0_i32_b64", "i=q!", |[a, ..]| nonzero(a.count_zeros())),
    ever("s_bcnt1_i32_b64", "i=q!", |[a, ..]| nonzero(a.count_ones())),
    row("s_ff1_i32_b32", 600, 1099, "i=i", |[a, ..]| only(first_set(a, 32))),
    row("s_ff1_i32_b64", 600, 1099, "i=q", |[a, ..]| only(first_set(a, 64))),
    row("s_ctz_i32_b32", 1100, NOW, "i=i", |[a, ..]| only(first_set(a, 32))),
    row("s_ctz_i32_b64", 1100, NOW, "i=q", |[a, ..]| only(first_set(a, 64))),
    row("s_ff0_i32_b32", 600, 1099, "i=i", |[a, ..]| only(first_set(!a & 0xffff_ffff, 32))),
    row("s_ff0_i32_b64", 600, 1099, "i=q", |[a, ..]| only(first_set(!a, 64))),
    row("s_flbit_i32_b32", 600, 1099, "i=i", |[a, ..]| only(leading(a, 32))),
    row("s_flbit_i32_b64", 600, 1099, "i=q", |[a, ..]| only(leading(a, 64))),
    row("s_flbit_i32", 600, 1099, "i=i", |[a, ..]| only(leading_sign(int(a).into(), 32))),
    row("s_flbit_i32_i64", 600, 1099, "i=q", |[a, ..]| only(leading_sign(a as i64, 64))),
    row("s_clz_i32_u32", 1100, NOW, "i=i", |[a, ..]| only(leading(a, 32))),
    row("s_clz_i32_u64", 1100, NOW, "i=q", |[a, ..]| only(leading(a, 64))),
    row("s_cls_i32", 1100, NOW, "i=i", |[a, ..]| only(leading_sign(int(a).into(), 32))),
    row("s_cls_i32_i64", 1100, NOW, "i=q", |[a, ..]| only(leading_sign(a as i64, 64))),
    row("s_pack_ll_b32_b16", 900, NOW, "i=ii", |[a, b, _]| only(a & 0xffff | b << 16 & 0xffff_0000)),
    row("s_pack_lh_b32_b16", 900, NOW, "i=ii", |[a, b, _]| only(a & 0xffff | b & 0xffff_0000)),
    row("s_pack_hh_b32_b16", 900, NOW, "i=ii", |[a, b, _]| only(a >> 16 & 0xffff | b & 0xffff_0000)),
    row("s_pack_hl_b32_b16", 1100, NOW, "i=ii", |[a, b, _]| only(a >> 16 & 0xffff | b << 16 & 0xffff_0000)),
];

static ARITHMETIC: &[Row] = &[
    ever("s_add_u32", "i=ii!", |[a, b, _]| add(a, b, 0)),
    ever("s_sub_u32", "i=ii!", |[a, b, _]| sub(a, b, 0)),
    row("s_add_co_u32", 1200, NOW, "i=ii!", |[a, b, _]| add(a, b, 0)),
    row("s_sub_co_u32", 1200, NOW, "i=ii!", |[a, b, _]| sub(a, b, 0)),
    ever("s_addc_u32", "i=ii!?", |[a, b, scc]| add(a, b, scc)),
    ever("s_subb_u32", "i=ii!?", |[a, b, scc]| sub(a, b, scc)),
    row("s_add_co_ci_u32", 1200, NOW, "i=ii!?", |[a, b, scc]| add(a, b, scc)),
    row("s_sub_co_ci_u32", 1200, NOW, "i=ii!?", |[a, b, scc]| sub(a, b, scc)),
    ever("s_add_i32", "i=ii!", |[a, b, _]| add_signed(a, b)),
    ever("s_sub_i32", "i=ii!", |[a, b, _]| sub_signed(a, b)),
    row("s_add_co_i32", 1200, NOW, "i=ii!", |[a, b, _]| add_signed(a, b)),
    row("s_sub_co_i32", 1200, NOW, "i=ii!", |[a, b, _]| sub_signed(a, b)),
    row("s_add_u64", 1200, NOW, "q=qq", |[a, b, _]| only(a.wrapping_add(b))),
    row("s_add_nc_u64", 1200, NOW, "q=qq", |[a, b, _]| only(a.wrapping_add(b))),
    row("s_sub_u64", 1200, NOW, "q=qq", |[a, b, _]| only(a.wrapping_sub(b))),
    row("s_sub_nc_u64", 1200, NOW, "q=qq", |[a, b, _]| only(a.wrapping_sub(b))),
    row("s_mul_u64", 1200, NOW, "q=qq", |[a, b, _]| only(a.wrapping_mul(b))),
    ever("s_addk_i32", "i=+ii!", |[old, a, _]| add_signed(old, a as i16 as i64 as u64)),
    row("s_addk_co_i32", 1200, NOW, "i=+ii!", |[old, a, _]| add_signed(old, a as i16 as i64 as u64)),
    ever("s_mulk_i32", "i=+ii", |[old, a, _]| only(int(old).wrapping_mul(a as i16 as i32) as u32 as u64)),
    ever("s_mul_i32", "i=ii", |[a, b, _]| only(int(a).wrapping_mul(int(b)) as u32 as u64)),
    row("s_mul_hi_u32", 900, NOW, "i=ii", |[a, b, _]| only(((a & 0xffff_ffff) * (b & 0xffff_ffff)) >> 32)),
    row("s_mul_hi_i32", 900, NOW, "i=ii", |[a, b, _]| {
        only(((i64::from(int(a)) * i64::from(int(b))) >> 32) as u32 as u64)
    }),
    row("s_lshl1_add_u32", 900, NOW, "i=ii!", |[a, b, _]| add_shifted(a, b, 1)),
    row("s_lshl2_add_u32", 900, NOW, "i=ii!", |[a, b, _]| add_shifted(a, b, 2)),
    row("s_lshl3_add_u32", 900, NOW, "i=ii!", |[a, b, _]| add_shifted(a, b, 3)),
    row("s_lshl4_add_u32", 900, NOW, "i=ii!", |[a, b, _]| add_shifted(a, b, 4)),
    ever("s_abs_i32", "i=i!", |[a, ..]| nonzero(int(a).wrapping_abs() as u32)),
    ever("s_absdiff_i32", "i=ii!", |[a, b, _]| nonzero(int(a).wrapping_sub(int(b)).wrapping_abs() as u32)),
    ever("s_sext_i32_i8", "i=i", |[a, ..]| only(a as i8 as i32 as u32 as u64)),
    ever("s_sext_i32_i16", "i=i", |[a, ..]| only(a as i16 as i32 as u32 as u64)),
    ever("s_min_i32", "i=ii!", |[a, b, _]| (int(a).min(int(b)) as u32 as u64, int(a) < int(b))),
    ever("s_max_i32", "i=ii!", |[a, b, _]| (int(a).max(int(b)) as u32 as u64, int(a) >= int(b))),
    ever("s_min_u32", "i=ii!", |[a, b, _]| (u64::from((a as u32).min(b as u32)), (a as u32) < b as u32)),
    ever("s_max_u32", "i=ii!", |[a, b, _]| (u64::from((a as u32).max(b as u32)), a as u32 >= b as u32)),
];

fn add_shifted(a: u64, b: u64, by: u32) -> (u64, bool) {
    let sum = ((a & 0xffff_ffff) << by) + (b & 0xffff_ffff);
    (sum & 0xffff_ffff, sum >> 32 != 0)
}

static COMPARISONS: &[Row] = &[
    ever("s_cmp_eq_i32", "=ii!", |[a, b, _]| holds(int(a) == int(b))),
    ever("s_cmp_lg_i32", "=ii!", |[a, b, _]| holds(int(a) != int(b))),
    ever("s_cmp_gt_i32", "=ii!", |[a, b, _]| holds(int(a) > int(b))),
    ever("s_cmp_ge_i32", "=ii!", |[a, b, _]| holds(int(a) >= int(b))),
    ever("s_cmp_lt_i32", "=ii!", |[a, b, _]| holds(int(a) < int(b))),
    ever("s_cmp_le_i32", "=ii!", |[a, b, _]| holds(int(a) <= int(b))),
    ever("s_cmp_eq_u32", "=ii!", |[a, b, _]| holds(a as u32 == b as u32)),
    ever("s_cmp_lg_u32", "=ii!", |[a, b, _]| holds(a as u32 != b as u32)),
    ever("s_cmp_gt_u32", "=ii!", |[a, b, _]| holds(a as u32 > b as u32)),
    ever("s_cmp_ge_u32", "=ii!", |[a, b, _]| holds(a as u32 >= b as u32)),
    ever("s_cmp_lt_u32", "=ii!", |[a, b, _]| holds((a as u32) < b as u32)),
    ever("s_cmp_le_u32", "=ii!", |[a, b, _]| holds(a as u32 <= b as u32)),
    row("s_cmp_eq_u64", 800, NOW, "=qq!", |[a, b, _]| holds(a == b)),
    row("s_cmp_lg_u64", 800, NOW, "=qq!", |[a, b, _]| holds(a != b)),
    ever("s_bitcmp0_b32", "=ii!", |[a, n, _]| holds(a >> (n & 31) & 1 == 0)),
    ever("s_bitcmp1_b32", "=ii!", |[a, n, _]| holds(a >> (n & 31) & 1 == 1)),
    ever("s_bitcmp0_b64", "=qi!", |[a, n, _]| holds(a >> (n & 63) & 1 == 0)),
    ever("s_bitcmp1_b64", "=qi!", |[a, n, _]| holds(a >> (n & 63) & 1 == 1)),
    row("s_cmpk_eq_i32", 600, 1199, "=ii!", |[a, b, _]| holds(int(a) == signed(b))),
    row("s_cmpk_lg_i32", 600, 1199, "=ii!", |[a, b, _]| holds(int(a) != signed(b))),
    row("s_cmpk_gt_i32", 600, 1199, "=ii!", |[a, b, _]| holds(int(a) > signed(b))),
    row("s_cmpk_ge_i32", 600, 1199, "=ii!", |[a, b, _]| holds(int(a) >= signed(b))),
    row("s_cmpk_lt_i32", 600, 1199, "=ii!", |[a, b, _]| holds(int(a) < signed(b))),
    row("s_cmpk_le_i32", 600, 1199, "=ii!", |[a, b, _]| holds(int(a) <= signed(b))),
    row("s_cmpk_eq_u32", 600, 1199, "=ii!", |[a, b, _]| holds(a as u32 == b as u16 as u32)),
    row("s_cmpk_lg_u32", 600, 1199, "=ii!", |[a, b, _]| holds(a as u32 != b as u16 as u32)),
    row("s_cmpk_gt_u32", 600, 1199, "=ii!", |[a, b, _]| holds(a as u32 > b as u16 as u32)),
    row("s_cmpk_ge_u32", 600, 1199, "=ii!", |[a, b, _]| holds(a as u32 >= b as u16 as u32)),
    row("s_cmpk_lt_u32", 600, 1199, "=ii!", |[a, b, _]| holds((a as u32) < b as u16 as u32)),
    row("s_cmpk_le_u32", 600, 1199, "=ii!", |[a, b, _]| holds(a as u32 <= b as u16 as u32)),
];

fn signed(constant: u64) -> i32 {
    i32::from(constant as i16)
}

/// The scalar unit has floats from gfx1150 on.
static FLOATS: &[Row] = &[
    row("s_add_f32", 1150, NOW, "f=ff", |[a, b, _]| of(f(a) + f(b))),
    row("s_sub_f32", 1150, NOW, "f=ff", |[a, b, _]| of(f(a) - f(b))),
    row("s_mul_f32", 1150, NOW, "f=ff", |[a, b, _]| of(f(a) * f(b))),
    row("s_fmac_f32", 1150, NOW, "f=+fff", |[old, a, b]| of(f(a).mul_add(f(b), f(old)))),
    row("s_min_f32", 1150, 1199, "f=ff", |[a, b, _]| only(extreme(a, b, Kind::Float32, false, false))),
    row("s_max_f32", 1150, 1199, "f=ff", |[a, b, _]| only(extreme(a, b, Kind::Float32, true, false))),
    row("s_min_num_f32", 1200, NOW, "f=ff", |[a, b, _]| only(extreme(a, b, Kind::Float32, false, false))),
    row("s_max_num_f32", 1200, NOW, "f=ff", |[a, b, _]| only(extreme(a, b, Kind::Float32, true, false))),
    row("s_ceil_f32", 1150, NOW, "f=f", |[a, ..]| of(f(a).ceil())),
    row("s_floor_f32", 1150, NOW, "f=f", |[a, ..]| of(f(a).floor())),
    row("s_trunc_f32", 1150, NOW, "f=f", |[a, ..]| of(f(a).trunc())),
    row("s_rndne_f32", 1150, NOW, "f=f", |[a, ..]| of(f(a).round_ties_even())),
    row("s_cvt_f32_i32", 1150, NOW, "f=i", |[a, ..]| of(int(a) as f32)),
    row("s_cvt_f32_u32", 1150, NOW, "f=i", |[a, ..]| of(a as u32 as f32)),
    row("s_cvt_i32_f32", 1150, NOW, "i=f", |[a, ..]| only(f(a) as i32 as u32 as u64)),
    row("s_cvt_u32_f32", 1150, NOW, "i=f", |[a, ..]| only((f(a) as u32).into())),
    row("s_cmp_eq_f32", 1150, NOW, "=ff!", |[a, b, _]| holds(f(a) == f(b))),
    row("s_cmp_lg_f32", 1150, NOW, "=ff!", |[a, b, _]| holds(f(a) < f(b) || f(a) > f(b))),
    row("s_cmp_gt_f32", 1150, NOW, "=ff!", |[a, b, _]| holds(f(a) > f(b))),
    row("s_cmp_ge_f32", 1150, NOW, "=ff!", |[a, b, _]| holds(f(a) >= f(b))),
    row("s_cmp_lt_f32", 1150, NOW, "=ff!", |[a, b, _]| holds(f(a) < f(b))),
    row("s_cmp_le_f32", 1150, NOW, "=ff!", |[a, b, _]| holds(f(a) <= f(b))),
    row("s_cmp_neq_f32", 1150, NOW, "=ff!", |[a, b, _]| holds(f(a) != f(b))),
];
