//! Lane masks: ballots, arithmetic on them, and facts about a lane.

use super::arithmetic::{ScalarTest, number, one};
use super::emit::{EXEC, FALSE};
use super::{Selector, Words};
use crate::backend::amd::machine::{File, Operand};
use crate::backend::amd::mnemonic::Operation;
use crate::kernel::{InstId, Op, Value};
use crate::lane::LaneFact;
use crate::lane::op::MaskOp;
use crate::lane::plan::AluOp;
use smallvec::smallvec;

/// Distance in instructions within which the uses of a read of EXEC are searched for.
const NEAR: usize = 64;

impl Selector<'_> {
    fn mask_words(&self, mask: Operand) -> Words {
        self.words_of(mask, self.arch.mask_width())
    }

    // Ballots.

    /// The active lanes with a true predicate. A comparison only sets active lanes.
    pub fn ballot(&mut self, predicate: Value) -> Words {
        let mask = self.mask(predicate);
        if self.is_clean(mask) {
            return self.mask_words(mask);
        }
        let ballot = self.on_masks(Operation::ScalarAnd, Operation::ScalarAnd64, &[mask, EXEC]);
        self.mask_words(ballot)
    }

    pub fn ballot_false(&mut self, predicate: Value) -> Words {
        let mask = self.mask(predicate);
        let ballot = self.on_masks(Operation::ScalarAndNot, Operation::ScalarAndNot64, &[EXEC, mask]);
        self.mask_words(ballot)
    }

    /// Returns true if a mask was made by a comparison of the currently active lanes.
    fn is_clean(&self, mask: Operand) -> bool {
        let is_it = |inst: &crate::backend::amd::machine::Inst| inst.defs.first() == Some(&mask);
        let last =
            self.block.insts[self.clean_from.min(self.block.insts.len())..].iter().rev().find(|inst| is_it(inst));
        last.is_some_and(|inst| inst.operation() == Some(Operation::Compare))
    }

    /// The active lanes: EXEC itself if it does not change before the last use.
    pub fn active(&mut self, inst: InstId) -> Words {
        if self.stays(inst) {
            return self.mask_words(EXEC);
        }
        let copy = self.mask_register();
        let operation = self.sized(Operation::ScalarMove, Operation::ScalarMove64);
        self.raw(operation, &[copy], &[EXEC]);
        self.mask_words(copy)
    }

    /// Returns true if all uses of a result precede any control flow, in the block or in whole-wave code.
    fn stays(&self, inst: InstId) -> bool {
        let kernel = self.kernel;
        let (Some(value), Some(block)) = (kernel.result(inst), self.subject.tree.block_of(inst)) else { return false };
        let insts = &kernel.blocks[block].insts;
        let Some(at) = insts.iter().position(|other| *other == inst) else { return false };
        let count = |inst: &InstId| kernel.args(*inst).iter().filter(|arg| **arg == value).count() as u32;
        let mut found = 0;
        for next in insts[at + 1..].iter().take(NEAR) {
            match kernel.insts[*next].op {
                Op::Whole { body } => found += kernel.blocks[body].insts.iter().map(count).sum::<u32>(),
                op if op.is_structured() || op.is_terminator() => break,
                _ => found += count(next),
            }
        }
        found == self.uses[value.index()]
    }

    // Arithmetic.

    pub fn mask_arithmetic(&mut self, op: AluOp, args: &[Value]) -> Words {
        let words = self.words(args[0]);
        match op {
            AluOp::BallotAnd | AluOp::BallotOr => self.combine_masks(op, &words, args[1]),
            AluOp::BallotNot => self.not_mask(&words),
            AluOp::BallotSize => one(self.mask_size(&words)),
            AluOp::BallotWord => one(self.mask_word(&words, args[1])),
            AluOp::BallotFromMask => words[..usize::from(self.arch.mask_width())].into(),
            _ => self.refused("this operation on masks of lanes"),
        }
    }

    fn is_scalar_mask(&self, words: &[Operand]) -> bool {
        words.iter().all(|word| !self.is_vector(*word))
    }

    fn combine_masks(&mut self, op: AluOp, a: &[Operand], b: Value) -> Words {
        let b = self.words(b);
        let is_and = op == AluOp::BallotAnd;
        if self.is_scalar_mask(a) && self.is_scalar_mask(&b) {
            let (a, b) = (self.mask_of_words(a), self.mask_of_words(&b));
            let operations = match is_and {
                true => (Operation::ScalarAnd, Operation::ScalarAnd64),
                false => (Operation::ScalarOr, Operation::ScalarOr64),
            };
            let mask = self.on_masks(operations.0, operations.1, &[a, b]);
            return self.mask_words(mask);
        }
        let operation = if is_and { Operation::AndB32 } else { Operation::OrB32 };
        a.iter().zip(&b).map(|(a, b)| self.vector(operation, &[*a, *b])).collect()
    }

    fn not_mask(&mut self, words: &[Operand]) -> Words {
        if self.is_scalar_mask(words) {
            let mask = self.mask_of_words(words);
            let not = self.on_masks(Operation::ScalarNot, Operation::ScalarNot64, &[mask]);
            return self.mask_words(not);
        }
        words.iter().map(|word| self.vector(Operation::NotB32, &[*word])).collect()
    }

    /// Tests whether a mask is empty.
    pub fn is_empty(&mut self, inst: InstId, mask: Value, empty: bool) {
        let words = self.words(mask);
        if self.is_scalar_mask(&words) {
            let relation = match (words.len(), empty) {
                (1, true) => "eq_u32",
                (1, false) => "lg_u32",
                (_, true) => "eq_u64",
                (_, false) => "lg_u64",
            };
            let mask = self.mask_of_words(&words);
            let test = ScalarTest { relation, operands: [mask, FALSE], origin: self.origin };
            if matches!(mask, Operand::Reg(_)) {
                return self.compare_later(inst, test);
            }
            // EXEC may have changed when the result is used.
            let mask = self.tested_mask(test);
            let words = self.mask_words(mask);
            return self.result(inst, words);
        }
        let any = match words[..] {
            [low, high] => self.vector(Operation::OrB32, &[low, high]),
            _ => words[0],
        };
        let lanes = self.compare_lanes(if empty { "eq_u32" } else { "ne_u32" }, FALSE, any);
        let words = self.mask_words(lanes);
        self.result(inst, words);
    }

    fn mask_size(&mut self, words: &[Operand]) -> Operand {
        if self.is_scalar_mask(words) {
            let mask = self.mask_of_words(words);
            let operation = self.sized(Operation::ScalarBitCount, Operation::ScalarBitCount64);
            return self.scalar(operation, &[mask]);
        }
        let count = |selector: &mut Self, sum, word: &Operand| selector.vector(Operation::BitCount, &[*word, sum]);
        words.iter().fold(FALSE, |sum, word| count(self, sum, word))
    }

    /// Reads a number of a mask that is the same in all lanes.
    pub fn number_of_mask(&mut self, of_32: Operation, of_64: Operation, mask: Value) -> Operand {
        let words: Words = self.words(mask).iter().map(|word| self.scalar_operand(*word)).collect();
        let mask = self.mask_of_words(&words);
        let operation = self.sized(of_32, of_64);
        self.scalar(operation, &[mask])
    }

    /// 32 lanes of a mask; words beyond the wave are zero.
    fn mask_word(&mut self, words: &[Operand], which: Value) -> Operand {
        let which = match self.word(which) {
            Operand::Constant(n) => return words.get(n as usize).copied().unwrap_or(FALSE),
            which => self.in_vector(which),
        };
        let mut chosen = FALSE;
        for (n, word) in words.iter().enumerate() {
            let is_it = self.compare_lanes("eq_u32", number(n as u32), which);
            chosen = self.choose(is_it, *word, chosen);
        }
        chosen
    }

    pub fn mask_from_words(&mut self, args: &[Value]) -> Words {
        args.iter().take(usize::from(self.arch.mask_width())).map(|word| self.word(*word)).collect()
    }

    // Facts.

    /// The lanes in which a bool that only depends on the lane is true.
    pub fn known_set(&self, value: Value) -> Option<u64> {
        let rows = self.subject.rows.of(value)?;
        Some(rows.iter().enumerate().fold(0, |set, (lane, bit)| set | (bit & 1) << lane))
    }

    pub fn fact(&mut self, fact: LaneFact) -> Words {
        let lane = self.start.lane.unwrap_or(FALSE);
        match fact {
            LaneFact::Index => one(lane),
            LaneFact::Size => one(number(self.arch.wave)),
            LaneFact::InSet(set) => {
                let words: Words = (0..self.arch.mask_width()).map(|n| number((set >> (32 * n)) as u32)).collect();
                let mask = self.whole(&words, File::Scalar);
                self.mask_words(mask)
            }
            LaneFact::Mask(op) => self.lane_mask(op, lane),
        }
    }

    /// The lanes with a relation to this lane, different in each lane: a bit shifted to the lane, or all below or
    /// above.
    fn lane_mask(&mut self, op: MaskOp, lane: Operand) -> Words {
        let all = number(u32::MAX);
        let (first, not) = match op {
            MaskOp::Eq => ([number(1), FALSE], false),
            MaskOp::Ge => ([all, all], false),
            MaskOp::Lt => ([all, all], true),
            MaskOp::Gt => ([number(u32::MAX - 1), all], false),
            MaskOp::Le => ([number(u32::MAX - 1), all], true),
        };
        let shifted: Words = if self.arch.wave == 64 {
            let pair = self.whole(&first, File::Vector);
            let shifted = self.long_shift(crate::kernel::BinOp::Shl, false, pair, lane);
            self.words_of(shifted, 2)
        } else {
            smallvec![self.vector(Operation::ShlB32, &[lane, first[0]])]
        };
        if not { self.not_mask(&shifted) } else { shifted }
    }
}
