//! Folds and selects: arithmetic on the values that are moved.

use super::operand::{Arg, Instruction};
use super::place::Place;
use super::{Done, Lister, Placed, Unwritten, vector_number, words};
use crate::backend::amd::mnemonic::{Operation, fold_operation};
use crate::lane::request::ScalarKind;
use crate::lane::{FoldOp, LaneType, Operand, Step};

/// The scalar unit's instruction for 32-bit integers.
const fn scalar_operation(op: FoldOp, kind: ScalarKind) -> Operation {
    match (op, kind) {
        (FoldOp::Add, _) => Operation::ScalarAdd,
        (FoldOp::Mul, _) => Operation::ScalarMul,
        (FoldOp::Min, ScalarKind::Sint) => Operation::ScalarMinI32,
        (FoldOp::Max, ScalarKind::Sint) => Operation::ScalarMaxI32,
        (FoldOp::Min, _) => Operation::ScalarMinU32,
        (FoldOp::Max, _) => Operation::ScalarMaxU32,
        (FoldOp::And, _) => Operation::ScalarAnd,
        (FoldOp::Or, _) => Operation::ScalarOr,
        (FoldOp::Xor, _) => Operation::ScalarXor,
    }
}

const fn double_operation(op: FoldOp) -> Option<Operation> {
    match op {
        FoldOp::Add => Some(Operation::AddF64),
        FoldOp::Mul => Some(Operation::MulF64),
        FoldOp::Min => Some(Operation::MinF64),
        FoldOp::Max => Some(Operation::MaxF64),
        FoldOp::And | FoldOp::Or | FoldOp::Xor => None,
    }
}

impl Lister<'_> {
    pub(super) fn fold(&mut self, step: &Step, op: FoldOp, at: usize) -> Placed {
        let ty = self.request.ty(step.ty);
        let (a, b) = (self.place(step.args[0])?, self.place(step.args[1])?);
        let integer = matches!(ty.kind, ScalarKind::Sint | ScalarKind::Uint);
        match fold_operation(op, ty) {
            _ if ty.kind == ScalarKind::Bool => self.fold_masks(step, op),
            Some(_) if a.is_scalar() && b.is_scalar() && integer && (ty.width, ty.components) == (32, 1) => {
                let result = self.fresh_scalar();
                self.writer.plain(scalar_operation(op, ty.kind), &[result], &[a.word(0)?, b.word(0)?])?;
                Ok(Place::Scalar(result.numbers()))
            }
            Some(operation) => {
                let dying = step.operands().iter().find(|operand| self.dies_at(**operand, at)).copied();
                let written = self.over(ty, dying.unwrap_or(Operand::None), at);
                self.fold_words(operation, written, &a, &b)
            }
            None => self.fold_pairs(op, ty, &a, &b),
        }
    }

    /// Whether the step is the last to read the registers of an operand.
    fn dies_at(&self, operand: Operand, at: usize) -> bool {
        matches!(self.place(operand), Ok(Place::Vector(registers)) if self.is_last_use(operand, &registers, at))
    }

    fn fold_words(&mut self, operation: Operation, written: Vec<u32>, a: &Place, b: &Place) -> Placed {
        for (n, register) in written.iter().enumerate() {
            self.commutative(operation, Arg::Vector(*register), a.word(n)?, b.word(n)?)?;
        }
        Ok(Place::Vector(written))
    }

    /// Two operands in any order. Where the second is a vector register, the first may be any scalar or constant.
    pub(super) fn commutative(&mut self, operation: Operation, written: Arg, a: Arg, b: Arg) -> Done {
        let (a, b) = if b.is_vector() { (a, b) } else { (b, a) };
        let read = if b.is_vector() { [a, b] } else { self.readable([a, b], 0)? };
        self.writer.plain(operation, &[written], &read)
    }

    /// 64-bit arithmetic, component by component.
    fn fold_pairs(&mut self, op: FoldOp, ty: LaneType, a: &Place, b: &Place) -> Placed {
        let written = self.fresh_vectors(ty);
        for n in 0..usize::from(ty.components) {
            let pair = [written[2 * n], written[2 * n + 1]].map(Arg::Vector);
            let (a, b) = (self.pair(a, n)?, self.pair(b, n)?);
            match (op, ty.kind) {
                _ if words(ty) != 2 => return Err(Unwritten(format!("{op:?} of {} bits", ty.width))),
                (_, ScalarKind::Float) => self.fold_doubles(op, pair, a, b)?,
                (FoldOp::Add, _) => self.add_pairs(pair, a, b)?,
                (FoldOp::Mul, _) => self.multiply_pairs(pair, a, b)?,
                (_, kind) => self.pick_pair(op, kind, pair, a, b)?,
            }
        }
        Ok(Place::Vector(written))
    }

    /// Component `n` in two vector registers.
    fn pair(&mut self, place: &Place, n: usize) -> Result<[Arg; 2], Unwritten> {
        let words = [place.word(2 * n)?, place.word(2 * n + 1)?];
        if words.iter().all(|word| word.is_vector()) {
            return Ok(words);
        }
        let first = self.vectors.take(2, 2);
        let copies = [Arg::Vector(first), Arg::Vector(first + 1)];
        for (copy, word) in copies.iter().zip(words) {
            self.writer.plain(Operation::Move, &[*copy], &[word])?;
        }
        Ok(copies)
    }

    fn fold_doubles(&mut self, op: FoldOp, written: [Arg; 2], a: [Arg; 2], b: [Arg; 2]) -> Done {
        let operation = double_operation(op).ok_or_else(|| Unwritten(format!("{op:?} of doubles")))?;
        let both = |pair: [Arg; 2]| Arg::Vectors(vector_number(pair[0]));
        self.writer.plain(operation, &[both(written)], &[both(a), both(b)])
    }

    fn add_pairs(&mut self, written: [Arg; 2], a: [Arg; 2], b: [Arg; 2]) -> Done {
        let carry = self.writer.carry();
        self.writer.plain(Operation::AddWithCarryOut, &[written[0]], &[a[0], b[0]])?;
        self.writer.plain(Operation::AddWithCarryIn, &[written[1]], &[a[1], b[1], carry])
    }

    /// `low * low`, and to its upper half both products across.
    fn multiply_pairs(&mut self, written: [Arg; 2], a: [Arg; 2], b: [Arg; 2]) -> Done {
        let across = self.fresh_vector();
        self.writer.plain(Operation::MulHiU32, &[written[1]], &[a[0], b[0]])?;
        for (x, y) in [(a[0], b[1]), (a[1], b[0])] {
            self.writer.plain(Operation::MulLoU32, &[across], &[x, y])?;
            self.writer.plain(Operation::AddU32, &[written[1]], &[written[1], across])?;
        }
        self.writer.plain(Operation::MulLoU32, &[written[0]], &[a[0], b[0]])?;
        self.vectors.release(vector_number(across), 1);
        Ok(())
    }

    /// The lesser or greater of two 64-bit integers; bitwise operations word by word.
    fn pick_pair(&mut self, op: FoldOp, kind: ScalarKind, written: [Arg; 2], a: [Arg; 2], b: [Arg; 2]) -> Done {
        let relation = match (op, kind) {
            (FoldOp::Min, ScalarKind::Sint) => "lt_i64",
            (FoldOp::Max, ScalarKind::Sint) => "gt_i64",
            (FoldOp::Min, _) => "lt_u64",
            _ => "gt_u64",
        };
        let mask = self.fresh_mask();
        let both = |pair: [Arg; 2]| Arg::Vectors(vector_number(pair[0]));
        self.compare_words(relation, mask, both(a), both(b))?;
        for n in 0..2 {
            self.writer.plain(Operation::Select, &[written[n]], &[b[n], a[n], mask])?;
        }
        mask.registers().for_each(|register| self.release(register));
        Ok(())
    }

    pub(super) fn select(&mut self, step: &Step, at: usize) -> Placed {
        let ty = self.request.ty(step.ty);
        let (accept, reject) = (self.place(step.args[1])?, self.place(step.args[2])?);
        let condition = self.mask(step.args[0])?;
        if ty.kind == ScalarKind::Bool {
            return self.select_masks(condition, step);
        }
        let dying = step.operands()[1..].iter().find(|operand| self.dies_at(**operand, at)).copied();
        let written = self.over(ty, dying.unwrap_or(Operand::None), at);
        for (n, register) in written.iter().enumerate() {
            let [reject, accept] = self.readable([reject.word(n)?, accept.word(n)?], 1)?;
            let mut instruction =
                Instruction::new(Operation::Select, &[Arg::Vector(*register)], &[reject, accept, condition]);
            instruction.suffix = "_e64".into();
            self.writer.put(&instruction, Default::default())?;
        }
        Ok(Place::Vector(written))
    }
}
