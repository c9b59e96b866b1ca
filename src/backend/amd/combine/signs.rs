//! Signs of floats: negations and absolute values become operand modifiers.
//!
//! A modifier only changes the sign bit, even of NaNs, like the logic that it replaces.

use super::Walk;
use super::rows::{Encoding, Uses};
use crate::backend::amd::machine::{Inst, Modifiers, Operand};
use crate::backend::amd::mnemonic::Operation;

const SIGN: u32 = 0x8000_0000;

/// A change of a float's sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    Negated,
    Absolute,
}

/// The change that an instruction makes, and its operand.
fn changed(inst: &Inst) -> Option<(Sign, Operand)> {
    use Operation as O;
    let (bits, operand) = match inst.uses[..] {
        [Operand::Constant(bits), operand] | [operand, Operand::Constant(bits)] => (bits, operand),
        _ => return None,
    };
    let sign = match (inst.operation()?, bits) {
        (O::XorB32 | O::ScalarXor, SIGN) => Sign::Negated,
        (O::AndB32 | O::ScalarAnd, bits) if bits == !SIGN => Sign::Absolute,
        _ => return None,
    };
    matches!(operand, Operand::Reg(_)).then_some((sign, operand))
}

/// The 32-bit float operands that accept modifiers, bit `n` for operand `n`.
fn float_operands(inst: &Inst) -> u8 {
    use Operation as O;
    let is_of_floats = inst.modifiers.suffix.ends_with("_f32");
    match inst.operation() {
        Some(O::FmaMixF32) => !inst.modifiers.halves.map_or(0, |halves| halves.upper) & 0b111,
        Some(O::AddF32 | O::SubF32 | O::MulF32 | O::MinF32 | O::MaxF32 | O::Select) => 0b11,
        Some(operation) if is_of_cube(operation) => 0b111,
        Some(O::FmaF32 | O::Min3F32 | O::Max3F32 | O::Median3F32 | O::MaxMinF32 | O::MinMaxF32) => 0b111,
        Some(O::FloorF32 | O::CeilF32 | O::TruncF32 | O::RoundF32 | O::FractF32 | O::LdexpF32) => 0b1,
        Some(O::RcpF32 | O::RsqF32 | O::SqrtF32 | O::ExpF32 | O::LogF32 | O::SinF32 | O::CosF32) => 0b1,
        Some(O::Compare) if is_of_floats && !inst.modifiers.suffix.starts_with("class") => 0b11,
        Some(O::Convert) if is_of_floats => 0b1,
        _ => 0,
    }
}

/// Returns true for operations on cubes. Cube operations always have the long encoding, so that a modifier costs
/// nothing.
fn is_of_cube(operation: Operation) -> bool {
    use Operation as O;
    matches!(operation, O::CubeS | O::CubeT | O::CubeMajor | O::CubeFace)
}

/// The modifiers with a change applied before operand `n`'s. Before an absolute value a sign does not matter.
fn with(modifiers: Modifiers, sign: Sign, n: usize) -> Modifiers {
    let bit = 1 << n;
    let Modifiers { mut neg, mut abs, .. } = modifiers;
    match sign {
        Sign::Absolute => abs |= bit,
        Sign::Negated if abs & bit == 0 => neg ^= bit,
        Sign::Negated => {}
    }
    Modifiers { neg, abs, ..modifiers }
}

impl Walk<'_> {
    /// Takes the signs of an instruction's operands into its modifiers.
    pub fn take_signs(&mut self, at: usize) {
        let operands = float_operands(&self.block.insts[at]);
        for n in (0..3).filter(|n| operands >> n & 1 != 0) {
            while let Some((inner, inst)) = self.signed(at, n) {
                self.replace(at, [inner], inst);
            }
        }
    }

    /// The instruction with the sign of operand `n` as a modifier, and the instruction that changed it before.
    fn signed(&self, at: usize, n: usize) -> Option<(usize, Inst)> {
        let inst = &self.block.insts[at];
        let inner = if inst.operation().is_some_and(is_of_cube) { self.repeatable(at, n) } else { self.maker(at, n) }?;
        let (sign, operand) = changed(&self.block.insts[inner])?;
        let mut uses: Uses = inst.uses.clone();
        uses[n] = operand;
        let is_plain = inst.modifiers.dpp.is_none() && self.block.insts[inner].modifiers.is_empty();
        let modifiers = with(inst.modifiers, sign, n);
        (is_plain && self.fits(Encoding::Long, &uses)).then(|| (inner, Inst { uses, modifiers, ..inst.clone() }))
    }
}
