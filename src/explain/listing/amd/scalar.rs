//! Lane arithmetic: on indices in vector registers, on what is the same in all lanes in scalar ones, on bools and ballots
//! as masks.

use super::operand::Arg;
use super::place::Place;
use super::{Lister, Placed, Unwritten, vector_number};
use crate::backend::amd::mnemonic::Operation;
use crate::lane::{AluOp, Operand, Step};

impl Lister<'_> {
    pub(super) fn alu(&mut self, step: &Step, op: AluOp, at: usize) -> Placed {
        use AluOp as A;
        match op {
            A::BoolAnd | A::BallotAnd => self.on_masks(step, Operation::ScalarAnd, Operation::ScalarAnd64),
            A::BoolOr | A::BallotOr => self.on_masks(step, Operation::ScalarOr, Operation::ScalarOr64),
            A::BoolXor => self.on_masks(step, Operation::ScalarXor, Operation::ScalarXor64),
            A::BoolNot | A::BallotNot => self.not(step),
            A::BallotWord => self.ballot_word(step),
            A::BallotFromMask => self.place(step.args[0]),
            A::BallotIsEmpty | A::BallotIsSome => self.is_empty(step, op == A::BallotIsEmpty, at),
            A::BallotSize => self.ballot_size(step),
            A::Eq | A::Ne | A::Lt | A::Le | A::Gt | A::Ge => self.compare_indices(step, op, at),
            _ if self.all_scalar(step)? => self.scalar_alu(step, op),
            _ => self.vector_alu(step, op),
        }
    }

    fn all_scalar(&self, step: &Step) -> Result<bool, Unwritten> {
        step.operands().iter().try_fold(true, |all, operand| Ok(all && self.place(*operand)?.is_scalar()))
    }

    /// On masks in scalar registers, or on ballots that each lane has in vector registers.
    fn on_masks(&mut self, step: &Step, of_32: Operation, of_64: Operation) -> Placed {
        if self.all_scalar(step)? {
            return self.masks_into_mask(self.sized(of_32, of_64), step);
        }
        let operation = match of_32 {
            Operation::ScalarAnd => Operation::AndB32,
            Operation::ScalarOr => Operation::OrB32,
            _ => Operation::XorB32,
        };
        let (a, b) = (self.place(step.args[0])?, self.place(step.args[1])?);
        let written = self.ballot_registers();
        for (n, register) in written.iter().enumerate() {
            self.commutative(operation, Arg::Vector(*register), a.word(n)?, b.word(n)?)?;
        }
        Ok(Place::Vector(written))
    }

    /// A ballot that each lane has for itself.
    fn ballot_registers(&mut self) -> Vec<u32> {
        let halves = self.writer.wave.div_ceil(32);
        let first = self.vectors.take(halves, halves);
        (first..first + halves).collect()
    }

    fn not(&mut self, step: &Step) -> Placed {
        match self.place(step.args[0])? {
            Place::Condition(set) => Ok(Place::Condition(!set)),
            Place::Truth(value) => Ok(Place::Truth(!value)),
            Place::Vector(registers) => {
                let written = self.ballot_registers();
                for (register, source) in written.iter().zip(registers) {
                    self.writer.plain(Operation::NotB32, &[Arg::Vector(*register)], &[Arg::Vector(source)])?;
                }
                Ok(Place::Vector(written))
            }
            _ => self.masks_into_mask(self.sized(Operation::ScalarNot, Operation::ScalarNot64), step),
        }
    }

    /// 32 lanes of a ballot: a register of its own, or the one of two that the index names.
    fn ballot_word(&mut self, step: &Step) -> Placed {
        let ballot = self.place(step.args[0])?;
        let word = match step.args[1] {
            Operand::Const(word) => ballot.word(word as usize)?,
            index => return self.chosen_word(&ballot, index),
        };
        Ok(match word {
            Arg::Vector(n) => Place::Vector(vec![n]),
            Arg::Scalar(n) => Place::Scalar(vec![n]),
            Arg::Number(word) => Place::Words(vec![word]),
            half if self.plan.whole.is_empty() => Place::Half(half),
            // EXEC is about to change.
            half => {
                let scalar = self.fresh_scalar();
                self.writer.plain(Operation::ScalarMove, &[scalar], &[half])?;
                Place::Scalar(scalar.numbers())
            }
        })
    }

    fn chosen_word(&mut self, ballot: &Place, index: Operand) -> Placed {
        let index = self.place(index)?.word(0)?;
        let index = self.in_vector(index)?;
        let upper = self.fresh_mask();
        self.compare_words("ne_u32", upper, Arg::Number(0), index)?;
        let words = [self.in_vector(ballot.word(0)?)?, self.in_vector(ballot.word(1)?)?];
        let result = self.fresh_vector();
        self.writer.plain(Operation::Select, &[result], &[words[0], words[1], upper])?;
        Ok(Place::Vector(vec![vector_number(result)]))
    }

    /// Whether nothing behind a step overwrites the scalar condition code.
    fn is_last(&self, at: usize) -> bool {
        at + 1 == self.plan.steps.len() && self.plan.whole.is_empty()
    }

    /// Whether a ballot has no bit: in the scalar condition code, or a mask where more steps follow or each lane has its
    /// own ballot.
    fn is_empty(&mut self, step: &Step, empty: bool, at: usize) -> Placed {
        let ballot = self.place(step.args[0])?;
        if let Place::Vector(registers) = &ballot {
            let pair = if registers.len() == 2 { Arg::Vectors(registers[0]) } else { Arg::Vector(registers[0]) };
            let bits = 32 * registers.len();
            let result = self.fresh_mask();
            let relation = format!("{}_u{bits}", if empty { "eq" } else { "ne" });
            self.compare_words(&relation, result, Arg::Number(0), pair)?;
            return Ok(Place::Mask(result));
        }
        let mask = self.mask(step.args[0])?;
        if !self.is_last(at) {
            let result = self.fresh_mask();
            let relation = format!("{}_u{}", if empty { "eq" } else { "ne" }, self.writer.wave);
            self.compare_words(&relation, result, Arg::Number(0), mask)?;
            return Ok(Place::Mask(result));
        }
        let compare = self.sized(Operation::CompareDifferent, Operation::CompareDifferent64);
        if compare.spelling(self.writer.generation).is_some() {
            self.writer.plain(compare, &[], &[mask, Arg::Number(0)])?;
        } else {
            // Logic sets the condition code where its result is not zero.
            let unused = self.fresh_mask();
            self.writer.plain(self.sized(Operation::ScalarOr, Operation::ScalarOr64), &[unused], &[mask, mask])?;
            unused.registers().for_each(|register| self.release(register));
        }
        Ok(Place::Condition(!empty))
    }

    fn ballot_size(&mut self, step: &Step) -> Placed {
        let ballot = self.place(step.args[0])?;
        if let Place::Vector(registers) = &ballot {
            let result = self.fresh_vector();
            let mut count = Arg::Number(0);
            for register in registers {
                self.writer.plain(Operation::BitCount, &[result], &[Arg::Vector(*register), count])?;
                count = result;
            }
            return Ok(Place::Vector(result.numbers()));
        }
        let (mask, result) = (self.mask(step.args[0])?, self.fresh_scalar());
        self.writer.plain(self.sized(Operation::ScalarBitCount, Operation::ScalarBitCount64), &[result], &[mask])?;
        Ok(Place::Scalar(result.numbers()))
    }

    fn compare_indices(&mut self, step: &Step, op: AluOp, at: usize) -> Placed {
        let (a, b) = (self.place(step.args[0])?.word(0)?, self.place(step.args[1])?.word(0)?);
        if !a.is_vector() && !b.is_vector() && matches!(op, AluOp::Eq | AluOp::Ne) && self.is_last(at) {
            self.writer.plain(Operation::CompareEqual, &[], &[a, b])?;
            return Ok(Place::Condition(op == AluOp::Eq));
        }
        let relation = match op {
            AluOp::Eq => "eq_u32",
            AluOp::Ne => "ne_u32",
            AluOp::Lt => "lt_u32",
            AluOp::Le => "le_u32",
            AluOp::Gt => "gt_u32",
            _ => "ge_u32",
        };
        let result = self.fresh_mask();
        self.compare_words(relation, result, a, b)?;
        Ok(Place::Mask(result))
    }

    fn scalar_alu(&mut self, step: &Step, op: AluOp) -> Placed {
        if op == AluOp::FindMsb {
            return self.scalar_find_msb(step);
        }
        let operation = scalar_operation(op).ok_or_else(|| Unwritten(format!("{op:?} of scalars")))?;
        let read: Vec<Arg> =
            step.operands().iter().map(|operand| self.place(*operand)?.word(0)).collect::<Result<_, Unwritten>>()?;
        let result = self.fresh_scalar();
        self.writer.plain(operation, &[result], &read)?;
        Ok(Place::Scalar(result.numbers()))
    }

    /// Leading zeros counted from the other end.
    fn scalar_find_msb(&mut self, step: &Step) -> Placed {
        let (word, result) = (self.place(step.args[0])?.word(0)?, self.fresh_scalar());
        self.writer.plain(Operation::ScalarLeadingZeros, &[result], &[word])?;
        self.writer.plain(Operation::ScalarXor, &[result], &[result, Arg::Number(31)])?;
        Ok(Place::Scalar(result.numbers()))
    }

    fn vector_alu(&mut self, step: &Step, op: AluOp) -> Placed {
        let a = self.place(step.args[0])?.word(0)?;
        let b = match step.operands().len() {
            2 => self.place(step.args[1])?.word(0)?,
            _ => Arg::Number(0),
        };
        let result = self.fresh_vector();
        match op {
            AluOp::Shl | AluOp::Shr => {
                let read = self.readable([b, a], 0)?;
                let shift = if op == AluOp::Shl { Operation::ShlB32 } else { Operation::ShrB32 };
                self.writer.plain(shift, &[result], &read)?;
            }
            AluOp::Sub => {
                let read = self.readable([a, b], 0)?;
                self.writer.plain(Operation::SubU32, &[result], &read)?;
            }
            AluOp::Not => self.writer.plain(Operation::NotB32, &[result], &[a])?,
            AluOp::BitCount => self.writer.plain(Operation::BitCount, &[result], &[a, Arg::Number(0)])?,
            AluOp::FindLsb => self.writer.plain(Operation::FindLsb, &[result], &[a])?,
            AluOp::FindMsb => {
                self.writer.plain(Operation::LeadingZeros, &[result], &[a])?;
                self.writer.plain(Operation::XorB32, &[result], &[Arg::Number(31), result])?;
            }
            _ => {
                let operation = vector_operation(op).ok_or_else(|| Unwritten(format!("{op:?} in lanes")))?;
                self.commutative(operation, result, a, b)?;
            }
        }
        Ok(Place::Vector(vec![vector_number(result)]))
    }
}

const fn vector_operation(op: AluOp) -> Option<Operation> {
    Some(match op {
        AluOp::Add => Operation::AddU32,
        AluOp::Mul => Operation::MulLoU32,
        AluOp::And => Operation::AndB32,
        AluOp::Or => Operation::OrB32,
        AluOp::Xor => Operation::XorB32,
        AluOp::Min => Operation::MinU32,
        AluOp::Max => Operation::MaxU32,
        _ => return None,
    })
}

const fn scalar_operation(op: AluOp) -> Option<Operation> {
    Some(match op {
        AluOp::Add => Operation::ScalarAdd,
        AluOp::Sub => Operation::ScalarSub,
        AluOp::Mul => Operation::ScalarMul,
        AluOp::And => Operation::ScalarAnd,
        AluOp::Or => Operation::ScalarOr,
        AluOp::Xor => Operation::ScalarXor,
        AluOp::Shl => Operation::ScalarShl,
        AluOp::Shr => Operation::ScalarShr,
        AluOp::Min => Operation::ScalarMinU32,
        AluOp::Max => Operation::ScalarMaxU32,
        AluOp::Not => Operation::ScalarNot,
        AluOp::BitCount => Operation::ScalarBitCount,
        AluOp::FindLsb => Operation::ScalarFindLsb,
        _ => return None,
    })
}
