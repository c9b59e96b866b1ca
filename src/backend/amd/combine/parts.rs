//! Operands that are a byte or half of a word: the instruction that uses them reads that part directly (SDWA, from gfx8
//! to RDNA 2).
//!
//! Source: "SDWA" in AMD's GCN 3, Vega and RDNA 2 ISA guides, and LLVM's verifier: operands are vector registers, or
//! from gfx9 on also scalar ones.

use super::rows::Uses;
use super::{Walk, slices};
use crate::backend::amd::machine::{Inst, Modifiers, Operand, Part, Parts};
use crate::backend::amd::mnemonic::{Form, Operation};

/// The part of a register that an instruction extends to a word.
fn part_of(inst: &Inst) -> Option<(Operand, Part)> {
    use Operand::Constant;
    use Operation as O;
    let (operand, first, bits, is_signed) = match (inst.operation()?, &inst.uses[..]) {
        (O::AndB32, [Constant(mask @ (0xff | 0xffff)), operand] | [operand, Constant(mask @ (0xff | 0xffff))]) => {
            (*operand, 0, mask.trailing_ones(), false)
        }
        (O::ShrB32, [Constant(by), operand]) => (*operand, *by, 32_u32.checked_sub(*by)?, false),
        (O::AshrI32, [Constant(by), operand]) => (*operand, *by, 32_u32.checked_sub(*by)?, true),
        (O::BfeU32, [operand, Constant(first), Constant(bits)]) => (*operand, *first, *bits, false),
        (O::BfeI32, [operand, Constant(first), Constant(bits)]) => (*operand, *first, *bits, true),
        _ => return None,
    };
    Part::new(first, bits, is_signed).map(|part| (operand, part))
}

/// The number of leading operands that may be parts.
fn takers(inst: &Inst) -> usize {
    use Operation as O;
    match inst.operation() {
        Some(O::AddU32 | O::SubU32 | O::AndB32 | O::OrB32 | O::XorB32 | O::ShlB32 | O::ShrB32 | O::AshrI32) => 2,
        Some(O::MinU32 | O::MaxU32 | O::MinI32 | O::MaxI32 | O::MulU24 | O::MulI24) => 2,
        Some(O::AddF16 | O::SubF16 | O::MulF16 | O::MinF16 | O::MaxF16) => 2,
        Some(O::Convert) if matches!(inst.modifiers.suffix, "f32_f16" | "f32_u32" | "f32_i32") => 1,
        _ => 0,
    }
}

impl Walk<'_> {
    /// Makes an instruction read parts of registers that are extended for it alone.
    pub fn take_parts(&mut self, at: usize) {
        if !self.arch.has_parts() {
            return;
        }
        for n in 0..takers(&self.block.insts[at]) {
            if let Some((inner, inst)) = self.with_part(at, n) {
                self.replace(at, [inner], inst);
            }
        }
    }

    /// The instruction with a part of a register as operand `n`, and the instruction that extended it.
    fn with_part(&self, at: usize, n: usize) -> Option<(usize, Inst)> {
        let outer = &self.block.insts[at];
        let Modifiers { suffix, parts, .. } = outer.modifiers;
        let is_plain = outer.modifiers == Modifiers { suffix, parts, ..Modifiers::default() };
        let (operation, generation) = (outer.operation()?, self.arch.generation);
        let has_carry = operation.spelling(generation)?.form == Form::Carry;
        // Floats of 16 bits are not extended by their sign.
        let reads_halves = operation.float_width(generation, suffix) == 16;
        let inner = self.maker(at, n).filter(|_| is_plain && !has_carry)?;
        let (operand, part) = part_of(&self.block.insts[inner])?;
        if !self.block.insts[inner].modifiers.is_empty() || part.is_signed && reads_halves {
            return None;
        }
        let mut uses: Uses = outer.uses.clone();
        uses[n] = operand;
        let mut parts: Parts = parts.unwrap_or_default();
        parts[n] = part;
        let mut inst = Inst { uses, ..outer.clone() };
        inst.modifiers.parts = Some(parts);
        (self.is_vector(&operand) && self.takes_registers(&inst.uses)).then_some((inner, inst))
    }

    /// Returns true if operands are registers that this encoding reads.
    fn takes_registers(&self, uses: &[Operand]) -> bool {
        let scalars = uses.iter().filter(|operand| !self.is_vector(operand)).count();
        let are_registers =
            uses.iter().all(|operand| slices(std::slice::from_ref(operand)).any(|slice| slice.count == 1));
        are_registers && scalars <= self.arch.scalar_parts()
    }
}
