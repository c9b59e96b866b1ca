//! Instructions with numbers that are not in rspirv's tables: shaders may use any (GL_EXT_spirv_intrinsics). rspirv's
//! loader cannot read a module with such instructions, so they are removed first and put back as text.

use super::form;
use super::listing::in_columns;
use rspirv::spirv::{Op, Word};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Words of a module before its first instruction (SPIR-V 1.6 section 2.3).
pub(super) const HEADER: usize = 5;

/// A no-op that replaces an unknown instruction.
const NOP: Word = 1 << 16 | Op::Nop as Word;

/// Positions of the unknown instructions of a module.
pub struct Unknown(BTreeSet<usize>);

impl Unknown {
    pub fn find(words: &[Word]) -> Unknown {
        let unknown = |(_, instruction): &(usize, &[Word])| !form::is_known(instruction);
        Unknown(instructions(words).filter(unknown).map(|(at, _)| at).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The module without its unknown instructions; in functions, no-ops replace them.
    pub fn replaced(&self, words: &[Word]) -> Vec<Word> {
        let mut known = words[..HEADER].to_vec();
        let mut in_function = false;
        for (at, instruction) in instructions(words) {
            in_function |= opcode(instruction) == Op::Function as Word;
            match self.0.contains(&at) {
                false => known.extend_from_slice(instruction),
                true if in_function => known.push(NOP),
                true => {}
            }
        }
        known
    }

    /// The text of the known instructions, with the unknown instructions inserted.
    pub fn put_back(&self, words: &[Word], text: &str) -> String {
        let functions = instructions(words).find(|(_, found)| opcode(found) == Op::Function as Word);
        let functions = functions.map_or(words.len(), |(at, _)| at);
        let shown = |instruction: &[Word]| in_columns(&as_words(instruction));
        let outside = instructions(words).filter(|(at, _)| *at < functions && self.0.contains(at));
        let outside: String = outside.map(|(_, found)| shown(found)).collect();
        let mut places =
            instructions(words).filter(|(at, found)| *at > functions && (self.0.contains(at) || **found == [NOP]));
        let (mut all, mut begun) = (String::new(), false);
        for line in text.lines() {
            if !begun && !line.starts_with(';') {
                all.push_str(&outside);
                begun = true;
            }
            match line.trim() == "OpNop" {
                true => all.extend(places.next().map(|(_, found)| shown(found))),
                false => all.extend([line, "\n"]),
            }
        }
        all
    }
}

/// The instructions of a module and their positions.
pub(super) fn instructions(words: &[Word]) -> impl Iterator<Item = (usize, &[Word])> {
    let mut at = HEADER.min(words.len());
    std::iter::from_fn(move || {
        let count = (words.get(at)? >> 16).max(1) as usize;
        let start = at;
        at = (at + count).min(words.len());
        Some((start, &words[start..at]))
    })
}

const fn opcode(instruction: &[Word]) -> Word {
    instruction[0] & 0xffff
}

/// `OpCapability 6912`, or `Op7000 4 9` if the opcode has no name.
fn as_words(instruction: &[Word]) -> String {
    let number = opcode(instruction);
    let mut text = match Op::from_u32(number) {
        Some(op) => format!("Op{op:?}"),
        None => format!("Op{number}"),
    };
    for word in &instruction[1..] {
        write!(text, " {word}").expect("a String takes any text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_where_names_are_missing() {
        assert_eq!(as_words(&[2 << 16 | 17, 6912]), "OpCapability 6912");
        assert_eq!(as_words(&[3 << 16 | 7000, 4, 9]), "Op7000 4 9");
        assert_eq!(as_words(&[NOP]), "OpNop");
    }

    #[test]
    fn unknown_instructions_are_found_by_opcode_and_by_operand() {
        let module = [0, 0, 0, 0, 0, 2 << 16 | 17, 1, 2 << 16 | 17, 6912, 3 << 16 | 7000, 4, 9];
        let unknown = Unknown::find(&module);
        assert_eq!(unknown.0, BTreeSet::from([7, 9]));
        assert_eq!(unknown.replaced(&module), module[..7]);
    }
}
