//! 16-bit floats: pairs, halves of words as operands, and instructions that generations lack.

use super::{F, builder, code, own, program, words};
use crate::ir::Scalar;
use crate::kernel::{BinOp, Builder, MemoryAccess, Op, TernOp, Ty, Value};

const H: Scalar = Scalar { width: 16, ..Scalar::F32 };

/// An access to components of 16 bits at an address that is a multiple of 4.
fn shorts(components: u8) -> MemoryAccess {
    MemoryAccess { bytes: 2, ..words(components, 4) }
}

/// The code of a kernel that loads two halves for each invocation.
fn of_two(profile: &str, make: impl FnOnce(&mut Builder, Value, [Value; 2])) -> Vec<String> {
    let mut b = builder(64);
    let (address, _) = own(&mut b);
    let loaded = b.load(shorts(2), address);
    make(&mut b, address, [loaded[0], loaded[1]]);
    let program = program(b, profile);
    code(&program.text).into_iter().map(str::to_owned).collect()
}

fn has(lines: &[String], start: &str, end: &str) -> bool {
    lines.iter().any(|line| line.starts_with(start) && line.ends_with(end))
}

#[test]
fn both_halves_take_one_instruction() {
    let doubled = |profile| {
        of_two(profile, |b, address, [low, high]| {
            let two = b.kernel.constant(Ty::B16, 0x4000);
            let [low, high] = [low, high].map(|half| b.bin(BinOp::Mul, H, half, two));
            b.store(shorts(2), address, &[high, low]);
        })
    };
    let lines = doubled("gfx900");
    assert!(has(&lines, "v_pk_mul_f16", ", 2.0 op_sel:[1,0] op_sel_hi:[0,0]"), "{lines:#?}");
    assert!(has(&lines, "global_store_dword ", "") && !has(&lines, "v_perm", ""), "{lines:#?}");
    assert!(!has(&doubled("gfx803"), "v_pk", "") && has(&doubled("gfx803"), "v_mul_f16", ""));
}

#[test]
fn a_conversion_is_part_of_the_sum_that_takes_it() {
    let sum = |profile| {
        of_two(profile, |b, address, [low, high]| {
            let factor = b.load(words(1, 4), address)[0];
            let [low, high] = [low, high].map(|half| b.value(Op::Convert(H, F), &[half], Ty::B32));
            let sum = b.value(Op::Tern(TernOp::Fma, F), &[high, factor, low], Ty::B32);
            b.store(words(1, 4), address, &[sum]);
        })
    };
    for profile in ["gfx906", "gfx942", "gfx1030-wave32", "gfx1100-wave32", "gfx1201-wave64"] {
        assert!(has(&sum(profile), "v_fma_mix_f32", " op_sel:[1,0,0] op_sel_hi:[1,0,1]"), "{:#?}", sum(profile));
    }
    let rounds_twice = sum("gfx900");
    assert!(has(&rounds_twice, "v_fma_f32", "") && has(&rounds_twice, "v_cvt_f32_f16", ""), "{rounds_twice:#?}");
}

#[test]
fn a_product_keeps_the_sign_of_its_zero() {
    let lines = of_two("gfx1030-wave32", |b, address, [low, high]| {
        let [low, high] = [low, high].map(|half| b.value(Op::Convert(H, F), &[half], Ty::B32));
        let product = b.bin(BinOp::Mul, F, low, high);
        b.store(words(1, 4), address, &[product]);
    });
    assert!(has(&lines, "v_fma_mix_f32", ", neg(0) op_sel:[0,1,0] op_sel_hi:[1,1,0]"), "{lines:#?}");
}

#[test]
fn an_upper_half_is_stored_where_it_is() {
    let swapped = |profile| {
        of_two(profile, |b, address, [_, high]| b.store(MemoryAccess { align: 2, ..shorts(1) }, address, &[high]))
    };
    assert!(has(&swapped("gfx1100-wave32"), "global_store_d16_hi_b16", ""));
    assert!(has(&swapped("gfx803"), "v_lshrrev_b32", ""));
}
