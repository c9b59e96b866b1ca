//! Shorter encodings of fused multiply-adds, which depend on the registers: V_FMAC adds to its destination, V_FMAMK and
//! V_FMAAK contain a literal.

use super::arch::Arch;
use super::machine::{File, Function, Inst, Operand, is_inline};
use super::mnemonic::Operation;

/// Shortens the instructions of a kernel that has its registers.
pub fn shorten(function: &mut Function, arch: &Arch) {
    let insts = function.blocks.iter_mut().flat_map(|block| &mut block.insts);
    let plain = insts.filter(|inst| inst.operation() == Some(Operation::FmaF32) && !inst.keeps);
    plain.filter(|inst| inst.modifiers.is_empty()).for_each(|inst| shorten_one(inst, arch));
}

fn shorten_one(inst: &mut Inst, arch: &Arch) {
    let [a, b, c] = inst.uses[..] else { return };
    // The second factor is in a vector register in all short forms except V_FMAMK.
    let (a, b) = if is_vector(b) { (a, b) } else { (b, a) };
    let has_literals = arch.has_long_literals();
    if is_vector(b) && inst.defs[..] == [c] && arch.processor.has_fmac {
        inst.keeps = true;
        become_short(inst, Operation::FmacF32, &[a, b]);
    } else if has_literals && is_literal(c) && is_vector(b) && !is_literal(a) {
        become_short(inst, Operation::FmaakF32, &[a, b, c]);
    } else if has_literals && is_literal(a) && is_vector(c) && !is_literal(b) {
        become_short(inst, Operation::FmamkF32, &[b, a, c]);
    }
}

fn become_short(inst: &mut Inst, operation: Operation, uses: &[Operand]) {
    (inst.code, inst.uses) = (super::machine::Code::Real(operation), uses.into());
}

fn is_vector(operand: Operand) -> bool {
    matches!(operand, Operand::Hardware(place) if place.file == File::Vector)
}

fn is_literal(operand: Operand) -> bool {
    matches!(operand, Operand::Constant(bits) if !is_inline(bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::amd::machine::{Block, Label, RegisterRange};
    use crate::profile::Profile;

    const LITERAL: Operand = Operand::Constant(0x4049_0fdb);

    fn v(first: u16) -> Operand {
        Operand::Hardware(RegisterRange { file: File::Vector, first, count: 1 })
    }

    fn s(first: u16) -> Operand {
        Operand::Hardware(RegisterRange { file: File::Scalar, first, count: 1 })
    }

    fn shortened(profile: &str, uses: [Operand; 3], neg: u8) -> (Option<Operation>, Vec<Operand>) {
        let arch = Arch::of(&Profile::named(profile).expect("a profile")).expect("a processor");
        let mut inst = Inst::real(Operation::FmaF32, &[v(0)], &uses);
        inst.modifiers.neg = neg;
        let mut function = Function::default();
        function.blocks.push(Block { label: Label(0), insts: vec![inst] });
        shorten(&mut function, &arch);
        let inst = &function.blocks[0].insts[0];
        assert_eq!(inst.keeps, inst.operation() == Some(Operation::FmacF32));
        (inst.operation(), inst.uses.to_vec())
    }

    #[test]
    fn forms_follow_the_operands() {
        use Operation as O;
        let cases = [
            ("gfx1100", [v(1), v(2), v(0)], (O::FmacF32, vec![v(1), v(2)])),
            ("gfx906", [v(1), s(2), v(0)], (O::FmacF32, vec![s(2), v(1)])),
            ("gfx1030", [v(1), LITERAL, v(0)], (O::FmacF32, vec![LITERAL, v(1)])),
            ("gfx900", [v(1), v(2), v(0)], (O::FmaF32, vec![v(1), v(2), v(0)])),
            ("gfx1100", [v(1), v(2), v(3)], (O::FmaF32, vec![v(1), v(2), v(3)])),
            ("gfx1100", [s(1), s(2), v(0)], (O::FmaF32, vec![s(1), s(2), v(0)])),
            ("gfx1100", [s(1), v(2), LITERAL], (O::FmaakF32, vec![s(1), v(2), LITERAL])),
            ("gfx1100", [LITERAL, v(2), LITERAL], (O::FmaF32, vec![LITERAL, v(2), LITERAL])),
            ("gfx1100", [v(1), LITERAL, v(3)], (O::FmamkF32, vec![v(1), LITERAL, v(3)])),
            ("gfx1100", [LITERAL, v(1), v(3)], (O::FmamkF32, vec![v(1), LITERAL, v(3)])),
        ];
        for (profile, uses, (operation, expected)) in cases {
            assert_eq!(shortened(profile, uses, 0), (Some(operation), expected), "{profile} {uses:?}");
        }
    }

    #[test]
    fn modifiers_need_the_long_form() {
        assert_eq!(shortened("gfx1100", [v(1), v(2), v(0)], 1).0, Some(Operation::FmaF32));
    }
}
