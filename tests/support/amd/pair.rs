//! The rules for dual instructions, from the VOPD chapters of AMD's RDNA 3 and RDNA 4 manuals. On gfx11 the sources are
//! checked more strictly: LLVM's pull request 220348 found that only an even and an odd register are safe. Listings by
//! other compilers are exempt.

use super::inst::Inst;
use super::operand::Operand;
use super::target::Target;

/// The first half's name without `v_` and the type, before gfx12 and since.
static FIRST: [&str; 13] = [
    "fmac_f32",
    "fmaak_f32",
    "fmamk_f32",
    "mul_f32",
    "mul_dx9_zero_f32",
    "add_f32",
    "sub_f32",
    "subrev_f32",
    "mov_b32",
    "cndmask_b32",
    "max_f32",
    "min_f32",
    "dot2acc_f32_f16",
];
static RENAMED: [(&str, &str); 2] = [("max_f32", "max_num_f32"), ("min_f32", "min_num_f32")];
static SECOND_ALONE: [&str; 3] = ["add_nc_u32", "lshlrev_b32", "and_b32"];

/// Checks the two against each other.
pub fn check(first: &Inst, second: &Inst, target: &Target) -> Result<(), String> {
    if !is_first(first, target) || !is_first(second, target) && !SECOND_ALONE.contains(&after_v(second)) {
        return Err("these two are not to be had in one".to_owned());
    }
    let has_modifiers = |inst: &Inst| {
        let signs = inst.args.iter().any(|arg| arg.neg || arg.abs || arg.sext || arg.half.is_some());
        signs || !inst.modifiers.is_empty() || inst.dpp.is_some()
    };
    if has_modifiers(first) || has_modifiers(second) {
        return Err("neither of two in one has modifiers".to_owned());
    }
    let results = [first.args[0].vector()?, second.args[0].vector()?];
    if results[0] % 2 == results[1] % 2 {
        return Err("the results of a pair are an even and an odd register".to_owned());
    }
    let sources = [sources(first)?, sources(second)?];
    check_banks(first, second, &sources, target)?;
    let reads = |half: usize, register| sources[half].contains(&Some(register));
    if target.version >= 1200 && (reads(1, results[0]) || reads(0, results[1])) {
        return Err("one of two in one writes what the other one reads".to_owned());
    }
    check_scalars(first, second)
}

fn after_v(inst: &Inst) -> &str {
    inst.name.strip_prefix("v_").unwrap_or(&inst.name)
}

fn is_first(inst: &Inst, target: &Target) -> bool {
    let name = after_v(inst);
    let old = RENAMED.iter().find(|(_, new)| *new == name).map(|(old, _)| *old);
    let was_renamed = RENAMED.iter().any(|(old, _)| *old == name);
    match target.version >= 1200 {
        true => !was_renamed && FIRST.contains(&old.unwrap_or(name)),
        false => FIRST.contains(&name),
    }
}

/// The vector registers of the three source operands of the encoding.
fn sources(inst: &Inst) -> Result<[Option<usize>; 3], String> {
    let mut sources = [None; 3];
    let names = match after_v(inst) {
        "fmamk_f32" => [0, 1, 2],
        _ => [0, 1, 1],
    };
    for (arg, at) in inst.args[1..].iter().zip(names) {
        match (&arg.operand, at) {
            (Operand::Vector { first, count: 1 }, _) if sources[at].is_none() => sources[at] = Some(*first),
            (Operand::Vector { .. }, _) => return Err("a vector register is in a third place".to_owned()),
            (Operand::Scalar { .. }, 1) if arg_is_vcc(&arg.operand) && after_v(inst) == "cndmask_b32" => {}
            (Operand::Scalar { .. }, 1..) => return Err("a scalar register is not the first operand".to_owned()),
            (Operand::Int(_) | Operand::Float(_), 1) if sources[1].is_none() && after_v(inst) != "fmamk_f32" => {
                return Err("a constant is the second operand".to_owned());
            }
            _ => {}
        }
    }
    if ["fmac_f32", "dot2acc_f32_f16"].contains(&after_v(inst)) {
        sources[2] = Some(inst.args[0].vector()?);
    }
    Ok(sources)
}

fn arg_is_vcc(operand: &Operand) -> bool {
    matches!(operand, Operand::Scalar { first: super::operand::VCC, .. })
}

fn check_banks(first: &Inst, second: &Inst, sources: &[[Option<usize>; 3]; 2], target: &Target) -> Result<(), String> {
    // In a pair of moves, gfx12 reads the second one's source elsewhere.
    if target.version >= 1200 && [first, second].iter().all(|inst| after_v(inst) == "mov_b32") {
        return Ok(());
    }
    let banks = if target.version < 1200 { [2, 2, 2] } else { [4, 4, 2] };
    for (at, banks) in banks.into_iter().enumerate() {
        if let (Some(a), Some(b)) = (sources[0][at], sources[1][at])
            && a % banks == b % banks
        {
            return Err(format!("v{a} and v{b} are operand {at} of two in one, and in the same bank"));
        }
    }
    Ok(())
}

/// At most two scalar registers or literals, and equal literals.
fn check_scalars(first: &Inst, second: &Inst) -> Result<(), String> {
    let (mut scalars, mut literals): (Vec<&Operand>, Vec<&Operand>) = (Vec::new(), Vec::new());
    for inst in [first, second] {
        for (n, arg) in inst.args.iter().enumerate().skip(1) {
            let of = match &arg.operand {
                Operand::Scalar { .. } => &mut scalars,
                _ if arg.is_literal(inst.kinds[n - 1]) => &mut literals,
                _ => continue,
            };
            if !of.contains(&&arg.operand) {
                of.push(&arg.operand);
            }
        }
    }
    match (scalars.len() + literals.len(), literals.len()) {
        (_, 2..) => Err("two in one have one literal at most".to_owned()),
        (3.., _) => Err("two in one read too many scalar registers and literals".to_owned()),
        _ => Ok(()),
    }
}
