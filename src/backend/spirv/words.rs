//! A sequence of SPIR-V words, and the functions that append instructions to it (SPIR-V 1.6 section 2.3, instruction
//! form).
//!
//! Instructions are written directly as words, without an intermediate list. Opcodes and enumerants come from rspirv,
//! whose loader also reads the words back for text. This module does not know what instructions mean.

use crate::limits;
use rspirv::spirv::{Op, Word};

/// The maximum number of words in an instruction: the count has 16 bits (section 2.3).
pub(super) const MAX_WORDS: usize = 0xffff;

/// Instructions of one section or function, in order.
#[derive(Debug, Default)]
pub(super) struct Words {
    words: Vec<Word>,
}

impl Words {
    pub fn with_capacity(words: usize) -> Words {
        Words { words: Vec::with_capacity(words) }
    }

    /// An instruction without result.
    pub fn op(&mut self, op: Op, operands: &[Word]) {
        self.put([head(op, 1 + operands.len())], operands);
    }

    /// An instruction whose first operand is its result id: labels, types, strings.
    pub fn named(&mut self, op: Op, id: Word, operands: &[Word]) {
        self.put([head(op, 2 + operands.len()), id], operands);
    }

    /// An instruction with result type and result.
    pub fn typed(&mut self, op: Op, ty: Word, id: Word, operands: &[Word]) {
        self.put([head(op, 3 + operands.len()), ty, id], operands);
    }

    /// An instruction by its opcode's number, with an optional first operand.
    pub fn raw(&mut self, opcode: Word, first: Option<Word>, operands: &[Word]) {
        let count = 1 + usize::from(first.is_some()) + operands.len();
        self.words.push((count as Word) << 16 | opcode & 0xffff);
        self.words.extend(first);
        self.extend(operands);
    }

    /// Operand by operand: most instructions have so few that the setup of a block copy would take longer.
    #[inline(always)]
    fn put<const N: usize>(&mut self, first: [Word; N], operands: &[Word]) {
        self.words.extend_from_slice(&first);
        for operand in operands {
            self.words.push(*operand);
        }
    }

    /// Starts an instruction whose length is not known yet; pass the result to [`Words::end`].
    pub fn begin(&mut self, op: Op) -> usize {
        self.words.push(op as Word);
        self.words.len() - 1
    }

    pub fn clear(&mut self) {
        self.words.clear();
    }

    pub fn push(&mut self, word: Word) {
        limits::spend(1);
        limits::hold::<Word>(1);
        self.words.push(word);
    }

    pub fn extend(&mut self, words: &[Word]) {
        limits::spend(words.len());
        limits::hold::<Word>(words.len());
        self.words.extend_from_slice(words);
    }

    /// A literal string: UTF-8 octets, little-endian, terminated by a zero (section 2.2.1).
    pub fn string(&mut self, text: &str) {
        let text = text.split('\0').next().unwrap_or_default();
        limits::write(text.len());
        let mut chunks = text.as_bytes().chunks_exact(4);
        self.words.extend(chunks.by_ref().map(|c| Word::from_le_bytes([c[0], c[1], c[2], c[3]])));
        let mut last = [0; 4];
        last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        self.words.push(Word::from_le_bytes(last));
    }

    /// Ends the instruction that [`Words::begin`] started.
    pub fn end(&mut self, start: usize) {
        let count = self.words.len() - start;
        debug_assert!(count <= MAX_WORDS, "an instruction of {count} words");
        self.words[start] |= (count as Word) << 16;
    }

    /// Overwrites a word.
    pub fn set(&mut self, at: usize, word: Word) {
        self.words[at] = word;
    }

    pub fn append(&mut self, other: &Words) {
        limits::write(size_of_val(other.words.as_slice()));
        self.words.extend_from_slice(&other.words);
    }

    pub fn into_vec(self) -> Vec<Word> {
        self.words
    }

    pub fn as_slice(&self) -> &[Word] {
        &self.words
    }
}

const fn head(op: Op, count: usize) -> Word {
    (count as Word) << 16 | op as Word
}

/// The part of a name that fits in one instruction with `taken` other words.
pub(super) fn clip(text: &str, taken: usize) -> &str {
    let room = (MAX_WORDS - taken - 1) * 4 - 1;
    if text.len() <= room {
        return text;
    }
    let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_padded_and_closed() {
        let mut words = Words::default();
        let start = words.begin(Op::Name);
        words.push(7);
        words.string("main");
        words.end(start);
        assert_eq!(words.as_slice(), [4 << 16 | 5, 7, u32::from_le_bytes(*b"main"), 0]);
    }

    #[test]
    fn clipped_names_end_at_a_character() {
        let long = "é".repeat(200_000);
        assert!(clip(&long, 2).len() <= MAX_WORDS * 4);
        assert_eq!(clip("short", 2), "short");
    }
}
