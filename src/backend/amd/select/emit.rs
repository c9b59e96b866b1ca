//! Emits instructions that can be encoded: which operands may be scalars or literals.
//!
//! A vector instruction reads one scalar operand, or two from gfx10 on, including literals. Before gfx10 a literal must
//! be first, and only the short encodings support it. Other operands are first moved to a register.

use super::{Selector, Words};
use crate::backend::amd::machine::{Code, File, Inst, Modifiers, Operand, Pseudo, Special, is_inline, is_inline_half};
use crate::backend::amd::mnemonic::{Form, Generation, Operation};
use crate::backend::amd::unit::Unit;
use crate::limits;
use smallvec::SmallVec;

pub const FALSE: Operand = Operand::Constant(0);
pub const TRUE: Operand = Operand::Constant(u32::MAX);
pub const VCC: Operand = Operand::Special(Special::Vcc);
pub const EXEC: Operand = Operand::Special(Special::Exec);

/// Part `n` of an operand of several words.
pub fn part(operand: Operand, n: u8) -> Operand {
    match (operand, n) {
        (Operand::Reg(slice), _) => Operand::Reg(slice.part(n)),
        (Operand::Special(Special::Exec), 0) => Operand::Special(Special::ExecLow),
        (Operand::Special(Special::Exec), _) => Operand::Special(Special::ExecHigh),
        (Operand::Special(Special::Vcc), 0) => Operand::Special(Special::VccLow),
        (Operand::Special(Special::Vcc), _) => Operand::Special(Special::VccHigh),
        (other, _) => other,
    }
}

/// Limit of the constants that a block keeps in scalar registers, so that others find room.
const LITERALS: usize = 8;

impl Selector<'_> {
    // Registers.

    pub fn vectors(&mut self, width: u8) -> Operand {
        Operand::Reg(self.function.register(File::Vector, width))
    }

    pub fn scalars(&mut self, width: u8) -> Operand {
        Operand::Reg(self.function.register(File::Scalar, width))
    }

    pub fn mask_register(&mut self) -> Operand {
        self.scalars(self.arch.mask_width())
    }

    pub fn is_vector(&self, operand: Operand) -> bool {
        match operand {
            Operand::Reg(slice) => self.function.registers[slice.reg.index()].file == File::Vector,
            _ => false,
        }
    }

    // Instructions.

    pub fn put(&mut self, mut inst: Inst) -> &mut Inst {
        inst.span = self.span;
        (inst.is_lane, inst.origin) = (self.is_lane, self.origin);
        limits::spend(1);
        limits::hold::<Inst>(1);
        self.block.insts.push(inst);
        let last = self.block.insts.len() - 1;
        &mut self.block.insts[last]
    }

    /// Emits an instruction with unchanged operands.
    pub fn raw(&mut self, operation: Operation, defs: &[Operand], uses: &[Operand]) -> &mut Inst {
        self.put(Inst::real(operation, defs, uses))
    }

    pub fn declare(&mut self, register: Operand) {
        self.put(Inst::new(Code::Pseudo(Pseudo::Declare), &[register], &[]));
    }

    /// A scalar instruction with a result of 32 bits.
    pub fn scalar(&mut self, operation: Operation, uses: &[Operand]) -> Operand {
        let to = self.scalars(1);
        self.scalar_to(operation, to, uses);
        to
    }

    /// A scalar instruction with a result of 64 bits.
    pub fn scalar_pair(&mut self, operation: Operation, uses: &[Operand]) -> Operand {
        let to = self.scalars(2);
        self.scalar_to(operation, to, uses);
        to
    }

    /// A scalar instruction with a mask as its result, in the form for this wave's size.
    pub fn on_masks(&mut self, of_32: Operation, of_64: Operation, uses: &[Operand]) -> Operand {
        let to = self.mask_register();
        let operation = self.sized(of_32, of_64);
        self.scalar_to(operation, to, uses);
        to
    }

    /// Scalar instructions accept one literal.
    pub fn scalar_to(&mut self, operation: Operation, to: Operand, uses: &[Operand]) -> &mut Inst {
        let mut uses: SmallVec<[Operand; 4]> = uses.into();
        let mut literal = None;
        for operand in &mut uses {
            let Operand::Constant(bits) = *operand else { continue };
            if !is_inline(bits) && literal.replace(bits).is_some_and(|other| other != bits) {
                *operand = self.in_scalar(Operand::Constant(bits));
            }
        }
        self.raw(operation, &[to], &uses)
    }

    /// The operation on masks of this wave's size.
    pub fn sized(&self, of_32: Operation, of_64: Operation) -> Operation {
        if self.arch.wave == 64 { of_64 } else { of_32 }
    }

    /// A vector instruction with a result of 32 bits.
    pub fn vector(&mut self, operation: Operation, uses: &[Operand]) -> Operand {
        let to = self.vectors(1);
        self.vector_to(operation, to, uses);
        to
    }

    /// A vector instruction with a result of 64 bits.
    pub fn vector_pair(&mut self, operation: Operation, uses: &[Operand]) -> Operand {
        let to = self.vectors(2);
        self.vector_to(operation, to, uses);
        to
    }

    /// A vector instruction; if the generation's form of it also writes a carry, that goes to VCC.
    pub fn vector_to(&mut self, operation: Operation, to: Operand, uses: &[Operand]) -> &mut Inst {
        let form = operation.spelling(self.arch.generation).map(|spelling| spelling.form);
        let uses = self.legal(operation, uses);
        match form {
            Some(Form::Carry) => self.raw(operation, &[to, VCC], &uses),
            _ => self.raw(operation, &[to], &uses),
        }
    }

    /// `v_cmp`: the active lanes for which a relation such as `lt_u32` holds.
    pub fn compare_lanes(&mut self, relation: &'static str, a: Operand, b: Operand) -> Operand {
        let to = self.mask_register();
        let uses = self.legal(Operation::Compare, &[a, b]);
        self.raw(Operation::Compare, &[to], &uses).modifiers.suffix = relation;
        to
    }

    /// `s_cmp` into the condition code: `eq_u32` and so on.
    pub fn compare_scalars(&mut self, relation: &'static str, a: Operand, b: Operand) {
        let both_literal = [a, b].iter().all(|operand| matches!(operand, Operand::Constant(bits) if !is_inline(*bits)));
        let a = if both_literal { self.in_scalar(a) } else { a };
        self.raw(Operation::ScalarCompare, &[], &[a, b]).modifiers.suffix = relation;
    }

    /// A mask with all bits of the condition code.
    pub fn mask_of_condition(&mut self) -> Operand {
        self.on_masks(Operation::ScalarSelect, Operation::ScalarSelect64, &[TRUE, FALSE])
    }

    /// `v_cndmask`: `accept` in the lanes of a mask.
    pub fn choose(&mut self, mask: Operand, accept: Operand, reject: Operand) -> Operand {
        let mask = if matches!(mask, Operand::Constant(_)) { self.mask_in_register(mask) } else { mask };
        self.vector(Operation::Select, &[reject, accept, mask])
    }

    /// A constant mask in registers.
    pub fn mask_in_register(&mut self, mask: Operand) -> Operand {
        if !matches!(mask, Operand::Constant(_)) {
            return mask;
        }
        let to = self.mask_register();
        let operation = self.sized(Operation::ScalarMove, Operation::ScalarMove64);
        self.raw(operation, &[to], &[mask]);
        to
    }

    // Operand placement.

    /// A word in a vector register.
    pub fn in_vector(&mut self, word: Operand) -> Operand {
        if self.is_vector(word) {
            return word;
        }
        let to = self.vectors(1);
        self.raw(Operation::Move, &[to], &[word]);
        to
    }

    /// A word in a scalar register. A word from a vector register must be the same in all active lanes.
    pub fn in_scalar(&mut self, word: Operand) -> Operand {
        match word {
            Operand::Constant(bits) => self.literal(bits),
            _ if self.is_vector(word) => {
                let to = self.scalars(1);
                self.raw(Operation::ReadFirstLane, &[to], &[word]);
                to
            }
            _ => word,
        }
    }

    /// A constant in a scalar register that is never written again: an existing one of the block, or a new one.
    fn literal(&mut self, bits: u32) -> Operand {
        if let Some((_, known)) = self.literals.iter().find(|(known, _)| *known == bits) {
            return *known;
        }
        let to = self.scalars(1);
        self.raw(Operation::ScalarMove, &[to], &[Operand::Constant(bits)]);
        if self.literals.len() == LITERALS {
            self.literals.remove(0);
        }
        self.literals.push((bits, to));
        to
    }

    /// A scalar register or a constant: an operand for scalar instructions.
    pub fn scalar_operand(&mut self, word: Operand) -> Operand {
        if self.is_vector(word) { self.in_scalar(word) } else { word }
    }

    /// Moves a word into a register or a part of one.
    pub fn move_to(&mut self, to: Operand, from: Operand) -> &mut Inst {
        match (self.is_vector(to), self.is_vector(from), from) {
            (false, true, _) => self.raw(Operation::ReadFirstLane, &[to], &[from]),
            (true, true, _) => self.put(Inst::new(Code::Pseudo(Pseudo::Copy), &[to], &[from])),
            (false, false, Operand::Reg(_)) => self.put(Inst::new(Code::Pseudo(Pseudo::Copy), &[to], &[from])),
            (true, ..) => self.raw(Operation::Move, &[to], &[from]),
            (false, ..) => self.raw(Operation::ScalarMove, &[to], &[from]),
        }
    }

    /// Words in consecutive registers of a file: unchanged if they already are, otherwise copied.
    pub fn whole(&mut self, words: &[Operand], file: File) -> Operand {
        if let Some(found) = self.consecutive(words, file) {
            return found;
        }
        let to = match file {
            File::Vector => self.vectors(words.len() as u8),
            File::Scalar => self.scalars(words.len() as u8),
        };
        if words.len() > 1 {
            self.declare(to);
        }
        for (n, word) in words.iter().enumerate() {
            self.move_to(part(to, n as u8), *word);
        }
        to
    }

    fn consecutive(&self, words: &[Operand], file: File) -> Option<Operand> {
        let Some(Operand::Reg(first)) = words.first().copied() else { return None };
        let info = self.function.registers[first.reg.index()];
        let follows = |(n, word): (usize, &Operand)| *word == Operand::Reg(first.part(n as u8));
        let wanted = crate::backend::amd::machine::RegInfo { width: words.len() as u8, ..info };
        let is_aligned = u16::from(first.first).is_multiple_of(wanted.alignment(&self.arch));
        let fits = info.file == file && is_aligned && words.iter().enumerate().all(follows);
        fits.then_some(Operand::Reg(crate::backend::amd::machine::Slice { count: words.len() as u8, ..first }))
    }

    /// The words of an operand of several.
    pub fn words_of(&self, operand: Operand, count: u8) -> Words {
        match count {
            1 => [operand].into_iter().collect(),
            _ => (0..count).map(|n| part(operand, n)).collect(),
        }
    }

    // Legal operands.

    /// Operands that an instruction's encoding can read.
    pub fn legal(&mut self, operation: Operation, uses: &[Operand]) -> SmallVec<[Operand; 4]> {
        let mut uses: SmallVec<[Operand; 4]> = uses.into();
        if is_commutative(operation) && !self.is_vector(uses[1]) {
            uses.swap(0, 1);
        }
        let mut read: SmallVec<[Operand; 4]> = SmallVec::new();
        let masks = if takes_mask(operation) { 2 } else { uses.len() };
        read.extend(uses[masks.min(uses.len())..].iter().copied());
        if matches!(operation, Operation::DivFmasF32 | Operation::DivFmasF64) {
            read.push(VCC);
        }
        for n in 0..masks.min(uses.len()) {
            uses[n] = self.legal_operand(operation, &uses, n, &mut read);
        }
        uses
    }

    fn legal_operand(
        &mut self,
        operation: Operation,
        uses: &[Operand],
        n: usize,
        read: &mut SmallVec<[Operand; 4]>,
    ) -> Operand {
        let operand = uses[n];
        let has_room = |read: &SmallVec<[Operand; 4]>, operand| read.contains(&operand);
        let takes_halves = operation.float_width(self.arch.generation, "") == 16;
        match operand {
            _ if self.is_vector(operand) => operand,
            Operand::Double(_) => operand,
            Operand::Constant(bits) if is_inline(bits) => operand,
            Operand::Constant(bits) if takes_halves && is_inline_half(bits) => operand,
            Operand::Constant(_) => {
                let is_other_literal = |known: &Operand| matches!(known, Operand::Constant(_)) && *known != operand;
                let can = if self.arch.has_long_literals() {
                    !chooses_halves(operation, self.arch.generation) && !read.iter().any(is_other_literal)
                } else {
                    n == 0
                        && is_short(operation, self.arch.generation)
                        && uses[1..].iter().all(|use_| self.is_vector(*use_))
                };
                let room = read.len() < self.arch.scalar_reads() || has_room(read, operand);
                match (room, can) {
                    (true, true) => {
                        read.push(operand);
                        operand
                    }
                    (true, false) => {
                        let scalar = self.in_scalar(operand);
                        read.push(scalar);
                        scalar
                    }
                    (false, _) => self.in_vector(operand),
                }
            }
            _ if has_room(read, operand) => operand,
            _ if read.len() < self.arch.scalar_reads() => {
                read.push(operand);
                operand
            }
            _ => self.wide_in_vector(operand),
        }
    }

    /// A scalar operand of one or two words in vector registers.
    fn wide_in_vector(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(slice) if slice.count > 1 => {
                let words = self.words_of(operand, slice.count);
                self.whole(&words, File::Vector)
            }
            _ => self.in_vector(operand),
        }
    }

    /// An instruction with DPP, or one that only reads vector registers.
    pub fn vectors_only(
        &mut self,
        operation: Operation,
        to: Operand,
        uses: &[Operand],
        modifiers: Modifiers,
    ) -> &mut Inst {
        let uses: SmallVec<[Operand; 4]> = uses.iter().map(|word| self.in_vector(*word)).collect();
        let form = operation.spelling(self.arch.generation).map(|spelling| spelling.form);
        let defs: &[Operand] = if form == Some(Form::Carry) { &[to, VCC] } else { &[to] };
        let inst = self.raw(operation, defs, &uses);
        inst.modifiers = modifiers;
        inst
    }
}

/// Returns true if the third operand is a mask of lanes.
const fn takes_mask(operation: Operation) -> bool {
    use Operation as O;
    matches!(operation, O::Select | O::AddWithCarryIn | O::SubWithCarryIn)
}

/// Returns true if the operands may be swapped, which makes room for a scalar in the first one.
const fn is_commutative(operation: Operation) -> bool {
    use Operation as O;
    let whole = matches!(operation, O::AddU32 | O::MulLoU32 | O::MulHiU32 | O::MulHiI32 | O::MinU32 | O::MaxU32);
    let factors = matches!(operation, O::MulU24 | O::MulI24);
    let bits = matches!(operation, O::MinI32 | O::MaxI32 | O::AndB32 | O::OrB32 | O::XorB32);
    let short = matches!(operation, O::AddU16 | O::MulLoU16 | O::MinU16 | O::MaxU16 | O::MinI16 | O::MaxI16);
    let float = matches!(operation, O::AddF32 | O::MulF32 | O::AddF16 | O::MulF16);
    whole || factors || bits || short || float || matches!(operation, O::AddWithCarryOut | O::AddWithCarryIn)
}

/// Returns true if an instruction selects halves of its operands; such an encoding has no literal here.
fn chooses_halves(operation: Operation, generation: Generation) -> bool {
    operation.spelling(generation).is_some_and(|spelling| matches!(spelling.form, Form::Packed | Form::Mixed))
}

/// Returns true if an instruction has a 32-bit encoding, which supports a literal before gfx10. Comparisons only have
/// one that writes VCC.
fn is_short(operation: Operation, generation: Generation) -> bool {
    use Operation as O;
    let always_long = matches!(
        operation,
        O::MulLoU32
            | O::MulHiU32
            | O::MulHiI32
            | O::BfeU32
            | O::BfeI32
            | O::BfiB32
            | O::AlignBits
            | O::PermuteBytes
            | O::Compare
    );
    let float = matches!(operation, O::FmaF32 | O::FmaF16 | O::DivScaleF32 | O::DivFmasF32 | O::DivFixupF32);
    let cube = matches!(operation, O::CubeFace | O::CubeS | O::CubeT | O::CubeMajor);
    let counting = matches!(operation, O::BitCount | O::CountBelowLow | O::CountBelowHigh | O::LdexpF32);
    let selects = takes_mask(operation);
    let is_vop3 = operation.spelling(generation).is_some_and(|spelling| spelling.form == Form::Vop3)
        || chooses_halves(operation, generation);
    operation.unit() != Unit::Scalar && !always_long && !float && !cube && !counting && !selects && !is_vop3
}
