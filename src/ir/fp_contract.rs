//! The choice between contraction and exact arithmetic of floats: `--fp-contract`.
//!
//! Contraction computes `a * b + c` with one rounding instead of two. GLSL (4.60, section 4.7.1), WGSL (15.7.4) and
//! SPIR-V (NoContraction) allow it unless a result is `precise`. If it is off, all arithmetic is marked `precise`, so
//! that the rest of the compiler need not know the setting.

use super::{Inst, InstFlags, Module, Op, Types};
use serde::Deserialize;

/// The setting for a whole shader. Results that the shader declares `precise` are exact in either case.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FpContract {
    /// Products and the sums that use them may be computed with one rounding.
    #[default]
    Fast,
    /// Each operation rounds its result.
    Off,
}

impl FpContract {
    pub const ALL: [FpContract; 2] = [FpContract::Fast, FpContract::Off];

    /// The name in command lines, manifests and pragmas.
    pub const fn word(self) -> &'static str {
        match self {
            FpContract::Fast => "fast",
            FpContract::Off => "off",
        }
    }

    /// The choice of that name.
    pub fn named(word: &str) -> Option<FpContract> {
        FpContract::ALL.into_iter().find(|choice| choice.word() == word)
    }

    /// The setting from the options: the explicit one, otherwise exact arithmetic if the options request the same bits
    /// on every target.
    pub fn chosen(named: Option<FpContract>, reproducible: bool) -> FpContract {
        named.unwrap_or(if reproducible { FpContract::Off } else { FpContract::Fast })
    }

    /// Makes the arithmetic of a module `precise` if contraction is off.
    pub fn apply(self, module: &mut Module) {
        if self == FpContract::Fast {
            return;
        }
        let Module { functions, types, .. } = module;
        for (_, inst) in functions.iter_mut().flat_map(|(_, function)| function.insts.iter_mut()) {
            inst.flags.set(InstFlags::PRECISE, inst.flags.contains(InstFlags::PRECISE) || can_contract(inst, types));
        }
    }
}

/// Returns true for arithmetic with results that are floats, or structs with floats.
pub fn can_contract(inst: &Inst, types: &Types) -> bool {
    let is_arithmetic = matches!(inst.op, Op::Unary(..) | Op::Binary(..) | Op::Math(..) | Op::Lane(..));
    is_arithmetic && types.scalar_of(inst.ty).is_none_or(|scalar| !scalar.is_int() && !scalar.is_bool())
}
