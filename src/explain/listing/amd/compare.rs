//! Comparisons, and masks of lanes: bools and ballots.

use super::emit::{Waits, Writer};
use super::operand::{Arg, Instruction};
use super::place::Place;
use super::{Done, Lister, Placed, Unwritten};
use crate::backend::amd::mnemonic::{Generation, Operation};
use crate::lane::request::ScalarKind;
use crate::lane::{CompareOp, FoldOp, LaneType, MaskOp, Operand, Step};

impl Lister<'_> {
    /// The operation on masks of this wave's size.
    pub(super) fn sized(&self, of_32: Operation, of_64: Operation) -> Operation {
        if self.writer.wave == 64 { of_64 } else { of_32 }
    }

    /// EXEC.
    pub(super) fn exec(&self) -> Arg {
        if self.writer.wave == 64 { Arg::Exec } else { Arg::ExecLow }
    }

    /// The lanes that are active outside of the steps for all lanes.
    pub(super) fn active(&self) -> Arg {
        self.saved_exec.unwrap_or(self.exec())
    }

    /// A bool or ballot as a mask.
    pub(super) fn mask(&mut self, operand: Operand) -> Result<Arg, Unwritten> {
        match self.place(operand)? {
            Place::Mask(mask) => Ok(mask),
            Place::Truth(true) => Ok(Arg::AllOnes),
            Place::Truth(false) => Ok(Arg::Number(0)),
            Place::Condition(set) => {
                let mask = self.fresh_mask();
                let values = [Arg::AllOnes, Arg::Number(0)];
                let read = if set { values } else { [values[1], values[0]] };
                let select = self.sized(Operation::ScalarSelect, Operation::ScalarSelect64);
                self.writer.plain(select, &[mask], &read)?;
                Ok(mask)
            }
            place => Err(Unwritten(format!("{place} is no mask"))),
        }
    }

    /// `v_cmp` into a mask: `relation` is such as `ne_u32`.
    pub(super) fn compare_words(&mut self, relation: &str, written: Arg, a: Arg, b: Arg) -> Done {
        let [a, b] = self.readable([a, b], 0)?;
        self.writer.compare(relation, written, a, b)
    }

    pub(super) fn compare(&mut self, step: &Step, op: CompareOp) -> Placed {
        let ty = self.operand_ty(step.args[0]);
        if ty.kind == ScalarKind::Bool {
            return self.compare_masks(step, op);
        }
        let (a, b) = (self.place(step.args[0])?, self.place(step.args[1])?);
        let ty = if op == CompareOp::Same { ty.bits() } else { ty };
        let relation = format!("{}_{}", if op == CompareOp::Lt { "lt" } else { "eq" }, suffix(ty));
        let words = super::words(ty);
        let result = self.fresh_mask();
        for n in 0..usize::from(ty.components) {
            let (a, b) = (a.component(n, words)?, b.component(n, words)?);
            let (a, b) = if a.is_vector() { (a, b) } else { (self.in_vector(a)?, b) };
            if n == 0 {
                self.compare_words(&relation, result, a, b)?;
                continue;
            }
            let one = self.fresh_mask();
            self.compare_words(&relation, one, a, b)?;
            self.writer.plain(self.sized(Operation::ScalarAnd, Operation::ScalarAnd64), &[result], &[result, one])?;
            one.registers().for_each(|register| self.release(register));
        }
        Ok(Place::Mask(result))
    }

    fn compare_masks(&mut self, step: &Step, op: CompareOp) -> Placed {
        let (a, b) = (self.mask(step.args[0])?, self.mask(step.args[1])?);
        let result = self.fresh_mask();
        if op == CompareOp::Lt {
            let and_not = self.sized(Operation::ScalarAndNot, Operation::ScalarAndNot64);
            self.writer.plain(and_not, &[result], &[b, a])?;
        } else {
            let (xor, not) = (Operation::ScalarXor, Operation::ScalarNot);
            self.writer.plain(self.sized(xor, Operation::ScalarXor64), &[result], &[a, b])?;
            self.writer.plain(self.sized(not, Operation::ScalarNot64), &[result], &[result])?;
        }
        Ok(Place::Mask(result))
    }

    pub(super) fn fold_masks(&mut self, step: &Step, op: FoldOp) -> Placed {
        let operation = match op {
            FoldOp::And => self.sized(Operation::ScalarAnd, Operation::ScalarAnd64),
            FoldOp::Or => self.sized(Operation::ScalarOr, Operation::ScalarOr64),
            FoldOp::Xor => self.sized(Operation::ScalarXor, Operation::ScalarXor64),
            _ => return Err(Unwritten(format!("{op:?} of bools"))),
        };
        self.masks_into_mask(operation, step)
    }

    pub(super) fn masks_into_mask(&mut self, operation: Operation, step: &Step) -> Placed {
        let read: Vec<Arg> = step.operands().iter().map(|operand| self.mask(*operand)).collect::<Result<_, _>>()?;
        let result = self.fresh_mask();
        self.writer.plain(operation, &[result], &read)?;
        Ok(Place::Mask(result))
    }

    /// `condition ? accept : reject`, bit by bit.
    pub(super) fn select_masks(&mut self, condition: Arg, step: &Step) -> Placed {
        let (accept, reject) = (self.mask(step.args[1])?, self.mask(step.args[2])?);
        let (taken, result) = (self.fresh_mask(), self.fresh_mask());
        let and_not = self.sized(Operation::ScalarAndNot, Operation::ScalarAndNot64);
        self.writer.plain(self.sized(Operation::ScalarAnd, Operation::ScalarAnd64), &[taken], &[accept, condition])?;
        self.writer.plain(and_not, &[result], &[reject, condition])?;
        self.writer.plain(self.sized(Operation::ScalarOr, Operation::ScalarOr64), &[result], &[taken, result])?;
        taken.registers().for_each(|register| self.release(register));
        Ok(Place::Mask(result))
    }

    /// The active lanes whose predicate is true, or false.
    pub(super) fn mask_of_active(&mut self, step: &Step, of_false: bool) -> Placed {
        let (predicate, active, result) = (self.mask(step.args[0])?, self.active(), self.fresh_mask());
        let (operation, read) = match of_false {
            false => (self.sized(Operation::ScalarAnd, Operation::ScalarAnd64), [predicate, active]),
            true => (self.sized(Operation::ScalarAndNot, Operation::ScalarAndNot64), [active, predicate]),
        };
        self.writer.plain(operation, &[result], &read)?;
        Ok(Place::Mask(result))
    }

    /// The lanes that compare so with the own index, in vector registers: each lane has its own.
    pub(super) fn lane_mask(&mut self, op: MaskOp) -> Placed {
        let index = self.lane_index()?;
        let first = match op {
            MaskOp::Eq => Arg::Number(1),
            MaskOp::Ge | MaskOp::Lt => Arg::AllOnes,
            MaskOp::Gt | MaskOp::Le => Arg::Number(-2_i32 as u32),
        };
        let halves = self.writer.wave.div_ceil(32);
        let written = self.vectors.take(halves, halves);
        match self.writer.wave {
            64 => self.writer.shift_64(Arg::Vectors(written), index, first)?,
            _ => self.writer.plain(Operation::ShlB32, &[Arg::Vector(written)], &[index, first])?,
        }
        let registers: Vec<u32> = (written..written + halves).collect();
        if matches!(op, MaskOp::Lt | MaskOp::Le) {
            for register in &registers {
                self.writer.plain(Operation::NotB32, &[Arg::Vector(*register)], &[Arg::Vector(*register)])?;
            }
        }
        Ok(Place::Vector(registers))
    }
}

impl Writer {
    /// `v_cmp` in its three-operand form, which writes any mask.
    fn compare(&mut self, relation: &str, written: Arg, a: Arg, b: Arg) -> Done {
        let mut instruction = Instruction::new(Operation::Compare, &[written], &[a, b]);
        instruction.suffix = format!("_{relation}_e64");
        self.put(&instruction, Waits { after: self.mask_wait, ..Waits::default() })
    }

    /// A 64-bit shift to the left; gfx6 and gfx7 name the amount last.
    fn shift_64(&mut self, written: Arg, amount: Arg, value: Arg) -> Done {
        let read = if self.generation == Generation::Gcn1 { [value, amount] } else { [amount, value] };
        self.plain(Operation::ShlB64, &[written], &read)
    }
}

/// How a comparison names the type of its operands.
fn suffix(ty: LaneType) -> String {
    let kind = match ty.kind {
        ScalarKind::Float => 'f',
        ScalarKind::Sint => 'i',
        _ => 'u',
    };
    format!("{kind}{}", ty.width.max(16))
}
