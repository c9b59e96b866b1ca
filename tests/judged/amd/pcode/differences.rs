//! Differences between the interpreter and AMD's pseudo-code, and why the interpreter behaves as it does.

use super::compare::{Case, number};
use support::amd::single::Kind;
use support::pcode::{Sort, Value};

/// Instructions that differ for some operands.
pub struct Difference {
    pub names: &'static [&'static str],
    /// Returns true if a difference is of this kind.
    pub is: fn(&Case) -> bool,
    pub why: &'static str,
}

/// Each row must occur on each architecture that has the instruction; a row without an occurrence is an error.
pub static DIFFERENCES: &[Difference] = &[
    Difference {
        names: &["v_rcp_f32", "v_rcp_iflag_f32", "v_rsq_f32", "v_sqrt_f32", "v_exp_f32", "v_log_f32"],
        is: |case| is_denormal(case.sources[0], case) || is_denormal(case.theirs, case) || is_next(case),
        why: "the hardware takes and gives zero for denormal numbers; the text rounds each step",
    },
    Difference { names: &["v_rsq_f16"], is: is_next, why: "the text rounds the root before it divides" },
    Difference {
        names: &["v_rcp_f64", "v_rsq_f64", "v_sqrt_f64"],
        is: |case| (number(case.ours, case.kind) / number(case.theirs, case.kind) - 1.0).abs() < 2f64.powi(-21),
        why: "the hardware knows about 24 bits of them, and the interpreter no more",
    },
    Difference {
        names: &["v_sin_f16", "v_sin_f32", "v_cos_f16", "v_cos_f32"],
        is: is_other_turn,
        why: "the text rounds the product with 2π; the hardware drops whole turns first, and knows 256 of them in 32 bits",
    },
    Difference {
        names: &["v_fract_f16", "v_fract_f32", "v_fract_f64"],
        is: |case| number(case.theirs, case.kind) == 1.0 && case.ours + 1 == case.theirs,
        why: "a fraction is below one; the difference in the text rounds to it for small negative numbers",
    },
    Difference {
        names: &["v_frexp_exp_i16_f16", "v_frexp_exp_i32_f32", "v_frexp_exp_i32_f64"],
        is: |case| value(case.sources[0], case.kinds[0]).exponent() == 0,
        why: "`exponent` in the text is the field; the hardware gives zero for zero and the real one for denormal numbers",
    },
    Difference {
        names: &["s_rndne_f32", "v_rndne_f16", "v_rndne_f32", "v_rndne_f64"],
        is: is_nearest_even,
        why: "the sum with a half in the text loses the sign of zero and rounds what lies just below a half",
    },
    Difference {
        names: &["v_cvt_pknorm_i16_f32"],
        is: |case| [0, 16].iter().all(|at| (case.ours >> at & 0xffff).abs_diff(case.theirs >> at & 0xffff) <= 1),
        why: "the product with 32767 is rounded to 32 bits first, as a shader's formula is; the text does not say how it rounds",
    },
    Difference {
        names: &["v_div_fixup_f16", "v_div_fixup_f32", "v_div_fixup_f64"],
        is: |case| number(case.sources[0], case.kind).is_nan() && number(case.ours, case.kind).is_infinite(),
        why: "a NaN as the estimate of a quotient of numbers comes from an overflow",
    },
    Difference {
        names: &["v_div_fmas_f32", "v_div_fmas_f64"],
        is: is_scaled_back,
        why: "the text scales by the root of the factor of V_DIV_SCALE, and one way only",
    },
    Difference {
        names: &["v_div_scale_f32", "v_div_scale_f64"],
        is: is_below,
        why: "the text takes the inverse of 32 bits in 64, where it is not denormal, and forgets what rounds to zero",
    },
    Difference {
        names: &["v_permlane16_b32", "v_permlanex16_b32", "v_permlane16_var_b32", "v_permlanex16_var_b32"],
        is: |case| case.exec.count_ones() < 64,
        why: "the text reads lanes that are not active, as only `op_sel:[1,0]` asks for",
    },
    Difference {
        names: &["v_permlane16_swap_b32", "v_permlane32_swap_b32"],
        is: |case| case.exec.count_ones() < 64,
        why: "the text swaps lanes that are not active; LLVM has them keep what they had",
    },
];

/// Instructions that are not compared with a text, and the architectures.
pub static UNCOMPARED: &[(&str, &[&str], &str)] = &[(
    "cdna",
    &["v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"],
    "the guide has the opcodes under the names of gfx900, whose products are rounded; LLVM has the fused ones from gfx906 on",
)];

/// Parts of names that differ between older and newer processors; LLVM accepts both for the same instruction.
pub static RENAMED: [(&str, &str); 26] = [
    ("andn2", "and_not1"),
    ("orn2", "or_not1"),
    ("andn1", "and_not0"),
    ("orn1", "or_not0"),
    ("v_add_u32", "v_add_nc_u32"),
    ("v_sub_u32", "v_sub_nc_u32"),
    ("pknorm", "pk_norm"),
    ("pkrtz", "pk_rtz"),
    ("s_add_u32", "s_add_co_u32"),
    ("s_sub_u32", "s_sub_co_u32"),
    ("s_add_i32", "s_add_co_i32"),
    ("s_sub_i32", "s_sub_co_i32"),
    ("s_addc_u32", "s_add_co_ci_u32"),
    ("s_subb_u32", "s_sub_co_ci_u32"),
    ("s_addk_i32", "s_addk_co_i32"),
    ("s_add_u64", "s_add_nc_u64"),
    ("s_sub_u64", "s_sub_nc_u64"),
    ("v_mad_i64_i32", "v_mad_co_i64_i32"),
    ("v_mad_u64_u32", "v_mad_co_u64_u32"),
    ("v_min_f", "v_min_num_f"),
    ("v_max_f", "v_max_num_f"),
    ("min3_f", "min3_num_f"),
    ("max3_f", "max3_num_f"),
    ("med3_f", "med3_num_f"),
    ("maxmin_f", "maxmin_num_f"),
    ("minmax_f", "minmax_num_f"),
];

fn value(bits: u64, kind: Option<Kind>) -> Value {
    let width = match kind {
        Some(Kind::Float16) => 16,
        Some(Kind::Float64) => 64,
        _ => 32,
    };
    Value::new(bits.into(), width, Sort::Float)
}

fn is_denormal(bits: u64, case: &Case) -> bool {
    value(bits, Some(case.kind)).is_denormal()
}

/// The floats are neighbours.
fn is_next(case: &Case) -> bool {
    case.ours.abs_diff(case.theirs) == 1
}

fn is_other_turn(case: &Case) -> bool {
    let x = number(case.sources[0], case.kind).abs();
    let apart = (number(case.ours, case.kind) - number(case.theirs, case.kind)).abs();
    let (step, most) = if case.kind == Kind::Float16 { (0.01, 10_000.0) } else { (1e-6, 256.0) };
    apart <= (1.0 + x) * step || x > most
}

fn is_nearest_even(case: &Case) -> bool {
    let nearest = number(case.sources[0], case.kind).round_ties_even();
    nearest.to_bits() == number(case.ours, case.kind).to_bits()
}

fn is_scaled_back(case: &Case) -> bool {
    let [a, b, c] = case.sources.map(|bits| number(bits, case.kind));
    let (shift, bias) = if case.kind == Kind::Float32 { (64, 127) } else { (128, 1023) };
    let by = if value(case.sources[2], Some(case.kind)).exponent() > bias { shift } else { -shift };
    let scaled = a.mul_add(b, c) * 2f64.powi(by);
    let rounded = if case.kind == Kind::Float32 { f64::from(scaled as f32) } else { scaled };
    rounded == number(case.ours, case.kind)
}

fn is_below(case: &Case) -> bool {
    let kind = case.kinds[0].unwrap_or(Kind::Float64);
    let [_, den, num] = case.sources.map(|bits| number(bits, kind));
    let quotient = num / den;
    let least = if kind == Kind::Float32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let rounded = if kind == Kind::Float32 { f64::from(quotient as f32) } else { quotient };
    rounded == 0.0 || (1.0 / den).abs() < least
}
